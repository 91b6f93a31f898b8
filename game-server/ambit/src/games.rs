//! The games that a server offers.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use ambit_proto::codes;
use ambit_proto::ids::RoomId;
use ambit_proto::presentation::{Condition, WalkSpec, WalkSpeed};
use ambit_proto::schema::{
    Codec, ComponentSpec, CountedChoice, DecimalFormat, FieldType, ObjectKind, Schema,
};
use ambit_room::config::{
    Allowed, BadParameter, Parameter, Parameters as CheckedParameters, ROOM_PARAMETERS, RoomConfig,
    override_default,
};
use ambit_room::logic::game::Game as RoomGame;
use ambit_room::logic::registry::Registry;
use ambit_steering::{SharedMotion, Steering};

use crate::adapter::Typed;
use crate::game::Game;
use crate::parameters::Parameters as _;
use crate::refusal::Refusal as _;

/// The games that a server offers, by name: `Games::new().with::<Stroll>().with::<Chess>()`.
#[derive(Clone, Debug, Default)]
pub struct Games {
    registry: Registry,
    /// What clients share with the games.
    motions: Vec<SharedMotion>,
    /// Those that were added by type, as an author does.
    named: Vec<&'static str>,
}

impl Games {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a game.
    ///
    /// # Panics
    /// At the start of the program, if the game cannot be offered: another game has its name, a
    /// parameter is that of every room, its defaults make no room, a kind's zones are smaller than
    /// the reach of the game, its declaration is too large for the wire, two events or sounds have
    /// one name, its shots are of no kind or control of it, a command is for or lists what does
    /// not exist, a `Listed` has no names or is listed in the counts of another list, no text says
    /// the outcome of a choice, a refusal has the name of a general code, or it cannot be read from
    /// what it saves. The message says which.
    #[must_use]
    pub fn with<G: Game>(self) -> Self {
        let game = Typed(G::default());
        let schema = schema_by_default::<G>();
        check_event_names(&schema);
        if let Err(error) = schema.check() {
            panic!("the game {:?} cannot be offered: {error}", G::INFO.name);
        }
        let schema = schema.for_clients();
        let table = table_with_words::<G>();
        let zones = default_zones::<G>(table, &schema).unwrap_or_else(|error| {
            panic!(
                "the game {:?} cannot be offered: its defaults of rooms, `#[room(...)]`, make no \
                 room: {error}",
                G::INFO.name
            )
        });
        check_shots::<G>(&schema);
        check_hints::<G>(&schema);
        check_counted::<G>(&schema);
        check_outcomes(&schema);
        let refusals = G::Refusal::declarations();
        let is_general = |name: &str| codes::from_name(name).is_some();
        if let Some((refusal, _)) = refusals.iter().find(|(it, _)| is_general(&it.name)) {
            panic!(
                "the game {:?} cannot be offered: its refusal {:?} has the name of a general \
                 code, which means something else to clients; choose another name",
                G::INFO.name,
                refusal.name
            );
        }
        if let Some(saved) = game.0.save_fields()
            && let Err(error) = G::read_fields(&saved)
        {
            panic!("the game {:?} cannot be read from what it saves: {error}", G::INFO.name);
        }
        let info = G::INFO.parameters(with_zones(table, &zones)).version(version_of::<G>());
        let motions = self.motions.into_iter().chain(motions_of::<G>()).collect();
        let named = self.named.into_iter().chain([G::INFO.name]).collect();
        Self { registry: self.registry.with(info, Typed::<G>::make), motions, named }
    }

    /// Checks that no game of an author's has one of these names, which belong to games of Ambit:
    /// bots and consoles would take it for that one.
    ///
    /// # Panics
    /// If one has.
    #[cfg(feature = "serve")]
    pub(crate) fn check_names(&self, shipped: &[&str]) {
        if let Some(name) = self.named.iter().find(|name| shipped.contains(name)) {
            panic!(
                "the game {name:?} cannot be offered: a game that comes with Ambit has this name, \
                 and bots would play it by that one's rules; the names that are taken: {}",
                shipped.join(", ")
            );
        }
    }

    /// What the clients of these programs share with the games.
    #[cfg(feature = "serve")]
    pub(crate) fn motions(&self) -> &[SharedMotion] {
        &self.motions
    }
}

/// The parameters of a game, with the words that it adds to them.
fn table_with_words<G: Game>() -> &'static [Parameter] {
    let with_words = |parameter: &Parameter| {
        let Allowed::Word(declared) = parameter.allowed else { return *parameter };
        let added: Vec<_> = G::words(parameter.key);
        if added.is_empty() {
            return *parameter;
        }
        // Tables live as long as the program, which makes them once.
        let added = added.into_iter().map(|word| &*word.leak());
        let words: Vec<&'static str> = declared.iter().copied().chain(added).collect();
        Parameter { allowed: Allowed::Word(words.leak()), ..*parameter }
    };
    G::Parameters::TABLE.iter().map(with_words).collect::<Vec<_>>().leak()
}

/// The game's version, and a hash of the declared one and of what a new game saves: a field that is
/// added to the game's struct changes it, also where the author forgets the version. A game that
/// saves another state at each start has the version alone.
fn version_of<G: Game>() -> &'static str {
    let version = if G::INFO.version.is_empty() { G::VERSION } else { G::INFO.version };
    let saved = G::default().save_fields();
    match saved.filter(|saved| G::default().save_fields().as_ref() == Some(saved)) {
        // It lives as long as the program, which makes it once.
        Some(mut saved) => {
            saved.extend(G::SAVED_VERSION.to_be_bytes());
            format!("{version}+{:016x}", fnv_1a(&saved)).leak()
        }
        None => version,
    }
}

/// FNV-1a: the same on all machines and in all versions of Rust.
fn fnv_1a(bytes: &[u8]) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325;
    bytes.iter().fold(start, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

/// The radii of the room that is created without parameters, as defaults for the game's table:
/// those that follow from its surroundings.
fn default_zones<G: Game>(
    table: &'static [Parameter],
    schema: &Schema,
) -> Result<Vec<Parameter>, BadParameter> {
    let parameters = CheckedParameters::parse(&BTreeMap::new(), &[ROOM_PARAMETERS, table])?;
    let config = RoomConfig::new(RoomId(0), 0, 1, Duration::ZERO, &parameters)?;
    let mut game = G::default();
    if game.configure(G::Parameters::read(&parameters)).is_err() {
        // Its rooms need a parameter, and have no usual zones.
        return Ok(Vec::new());
    }
    let surroundings = game.surroundings();
    let config = config.containing(surroundings, &parameters)?;
    config.check_kinds(surroundings, schema)?;
    let radii = [("inner", config.inner), ("outer", config.outer)];
    let grown = radii.iter().filter(|(key, radius)| parameters.whole(key) != u64::from(*radius));
    Ok(grown.map(|(key, radius)| override_default(key, radius.to_string().leak())).collect())
}

/// The table with these defaults after its others of parameters of every room.
fn with_zones(table: &'static [Parameter], zones: &[Parameter]) -> &'static [Parameter] {
    if zones.is_empty() {
        return table;
    }
    let is_of_room = |it: &&Parameter| ROOM_PARAMETERS.iter().any(|room| room.key == it.key);
    let is_kept = |it: &&Parameter| zones.iter().all(|zone| zone.key != it.key);
    let of_room = table.iter().filter(is_of_room).filter(is_kept);
    let own = table.iter().filter(|it| !is_of_room(it));
    // It lives as long as the program, which makes it once.
    of_room.chain(zones).chain(own).copied().collect::<Vec<_>>().leak()
}

/// Events and sounds are one list for clients, which no single derive sees.
fn check_event_names(schema: &Schema) {
    let names = schema.events.iter().map(|event| &event.name);
    let twice = names
        .enumerate()
        .find(|(index, name)| schema.events[..*index].iter().any(|before| before.name == **name));
    if let Some((_, name)) = twice {
        panic!(
            "the game {:?} cannot be offered: two of its events and sounds, which are one list \
             for clients, have the name {name:?}; give one another name with \
             `#[event(name = \"...\")]` or `#[sound(name = \"...\")]`",
            schema.game
        );
    }
}

/// Without a kind or a control of the game, clients would draw no shots.
fn check_shots<G: Game>(schema: &Schema) {
    let quoted = |names: &[&String]| {
        names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ")
    };
    for declared in G::kinds() {
        let Some((kind, functions)) = declared.steering else { continue };
        let Some(rule) = (functions.shots)() else { continue };
        let fails = |problem: String| -> ! {
            panic!(
                "the game {:?} cannot be offered: `Steer::shots` of the kind {kind:?} {problem}",
                G::INFO.name
            )
        };
        let has_path = |kind: &&ObjectKind| {
            kind.components.first().is_some_and(|first| first.codec == Codec::Path)
        };
        let shots: Vec<_> = schema.kinds.iter().filter(has_path).map(|kind| &kind.name).collect();
        if !shots.iter().any(|known| **known == rule.kind) {
            fails(format!(
                "names the kind {:?}, and shots are of a kind with a `Path`, which are here: {}; \
                 write `kind: <Missile as TypedKind>::NAME`",
                rule.kind,
                quoted(&shots)
            ));
        }
        let is_length = |metres: f32| metres.is_finite() && metres >= 0.0;
        if !(is_length(rule.nose_m) && is_length(rule.range_m) && is_length(rule.speed_m_per_s)) {
            fails(format!(
                "has a speed of {} m/s, a nose of {} m and a range of {} m: none may be negative \
                 or without end",
                rule.speed_m_per_s, rule.nose_m, rule.range_m
            ));
        }
        let controls = schema.controls.get(usize::from(rule.by));
        let Some(by) = controls.filter(|control| control.axis.is_some()) else { continue };
        let buttons = schema.controls.iter().filter(|control| control.axis.is_none());
        fails(format!(
            "fires by {:?}, which is an axis: it takes a control that is held or pressed: {}",
            by.name,
            quoted(&buttons.map(|control| &control.name).collect::<Vec<_>>())
        ));
    }
}

/// Of a room without parameters: the game is configured first, as in any room.
fn schema_by_default<G: Game>() -> Schema {
    let parameters =
        CheckedParameters::parse(&BTreeMap::new(), &[ROOM_PARAMETERS, G::Parameters::TABLE]);
    let made = parameters.ok().and_then(|it| Typed::<G>::make(&it).ok());
    made.map_or_else(|| Typed(G::default()).schema(), |game| game.schema())
}

/// Words in commands by which clients decide what to offer: one that is misspelt would never be
/// offered, or always.
fn check_hints<G: Game>(schema: &Schema) {
    let fails = |problem: String| -> ! {
        panic!("the game {:?} cannot be offered: {problem}", G::INFO.name)
    };
    let named = |is_wanted: fn(&Codec) -> bool| {
        let components = schema.kinds.iter().flat_map(|kind| &kind.components);
        components.filter(move |it| is_wanted(&it.codec)).map(|it| it.name.as_str())
    };
    let numbers: Vec<&str> =
        named(|codec| matches!(codec, Codec::Number { .. } | Codec::Gauge { .. })).collect();
    let flags: Vec<&str> = named(|codec| matches!(codec, Codec::Flag)).collect();
    let texts: Vec<&str> = named(|codec| matches!(codec, Codec::Text { .. })).collect();
    let counts: Vec<&str> = named(|codec| matches!(codec, Codec::Counts(_))).collect();
    let walkers = schema.kinds.iter().filter(|kind| kind.has_path());
    let half = Codec::Decimal(DecimalFormat::Half);
    let speeds = walkers.flat_map(|kind| &kind.components).filter(|it| it.codec == half);
    let speeds: Vec<&str> = speeds.map(|it| it.name.as_str()).collect();
    for (command, shown) in schema.commands.iter().zip(&schema.presentation.commands) {
        let of_choices = shown.fields.iter().flat_map(|field| &field.choices);
        let conditions = of_choices.clone().map(|about| &about.only_for).chain([&shown.only_for]);
        for Condition { of, is } in conditions.flatten() {
            let (what, known) = if is.is_empty() { ("flag", &flags) } else { ("text", &texts) };
            if !known.contains(&of.as_str()) {
                fails(format!(
                    "its command {:?} is only for {of:?}, and no {what} has this name; they are: \
                     {}",
                    command.name,
                    list(known)
                ));
            }
            let words = words_of(schema, of);
            if !is.is_empty() && !words.contains(&is.as_str()) {
                fails(format!(
                    "its command {:?} is only for {of:?} when it is {is:?}, which is none of its \
                     words and no choice that sets it; name what the text may be: \
                     `#[component(words(\"...\"))]`. Known are: {}",
                    command.name,
                    list(&words)
                ));
            }
        }
        for cost in of_choices.filter_map(|about| about.cost.as_ref()) {
            if !numbers.contains(&cost.of.as_str()) {
                fails(format!(
                    "a choice of its command {:?} costs {:?}, and no gauge or number has this \
                     name; they are: {}",
                    command.name,
                    cost.of,
                    list(&numbers)
                ));
            }
        }
        if let Some(WalkSpec { speed: WalkSpeed::Component(name), .. }) = &shown.walk
            && !speeds.contains(&name.as_str())
        {
            fails(format!(
                "its command {:?} walks with the speed in {name:?}, and no `Half` of an object \
                 with a path has this name; there are: {}",
                command.name,
                list(&speeds)
            ));
        }
        for (field, shown) in command.fields.iter().zip(&shown.fields) {
            let named = [
                ("listed in", &shown.listed_in, "component of `Counts`", &counts),
                ("marked in", &shown.marked_in, "component of `Counts`", &counts),
                ("chosen for", &shown.sets, "text component", &texts),
            ];
            for (how, name, what, known) in named {
                if !name.is_empty() && !known.contains(&name.as_str()) {
                    fails(format!(
                        "the choices of the field {:?} of its command {:?} are {how} {name:?}, and \
                         no {what} has this name; they are: {}",
                        field.name,
                        command.name,
                        list(known)
                    ));
                }
            }
        }
    }
}

/// A choice that is listed in counts is one of those that they count. As declared, both say of
/// which list they are.
fn check_counted<G: Game>(schema: &Schema) {
    let declared = Typed::<G>::declared_schema();
    let counts = |component: &ComponentSpec, name: &str, choice: &FieldType| {
        let Codec::Counts(CountedChoice { list: Some(list), .. }) = component.codec else {
            return false;
        };
        component.name == name && choice.is_of_list(list)
    };
    for (command, shown) in declared.commands.iter().zip(&schema.presentation.commands) {
        for (field, shown) in command.fields.iter().zip(&shown.fields) {
            for (how, name) in [("listed", &shown.listed_in), ("marked", &shown.marked_in)] {
                let mut components = declared.kinds.iter().flat_map(|kind| &kind.components);
                assert!(
                    name.is_empty() || components.any(|it| counts(it, name, &field.ty)),
                    "the game {:?} cannot be offered: the field {:?} of its command {:?} is {how} \
                     in {name:?}, which counts another list; a field of type `Listed<LIST>` is \
                     {how} in a `Counts<LIST, MAX>`",
                    schema.game,
                    field.name,
                    command.name
                );
            }
        }
    }
}

/// An outcome is what a text says: viewers look for it nowhere else.
fn check_outcomes(schema: &Schema) {
    let shown = &schema.presentation;
    let components = shown.kinds.iter().flat_map(|kind| &kind.components);
    let mut words = components.flat_map(|component| &component.words);
    let fields = shown.commands.iter().flat_map(|command| &command.fields);
    let fields = fields.chain(shown.events.iter().flat_map(|event| &event.fields));
    let mut choices = fields.flat_map(|field| &field.choices);
    let is_said = words.any(|word| word.outcome.is_some());
    assert!(
        is_said || choices.all(|choice| choice.outcome.is_none()),
        "the game {:?} cannot be offered: a choice of it has an outcome, and none of its texts \
         says one; declare a text with `#[component(words = CHOICE)]`",
        schema.game
    );
}

/// What a text of this name may be: its words, and the names of the choices that set it.
fn words_of<'s>(schema: &'s Schema, text: &str) -> Vec<&'s str> {
    let shown = &schema.presentation;
    let mut words = Vec::new();
    for (kind, shown) in schema.kinds.iter().zip(&shown.kinds) {
        let named = kind.components.iter().zip(&shown.components);
        for (_, shown) in named.filter(|(component, _)| component.name == text) {
            words.extend(shown.words.iter().map(|word| word.is.as_str()));
        }
    }
    for (command, shown) in schema.commands.iter().zip(&shown.commands) {
        let fields = command.fields.iter().zip(&shown.fields);
        for (field, _) in fields.filter(|(_, shown)| shown.sets == text) {
            if let FieldType::Choice(names) = &field.ty {
                words.extend(names.iter().map(String::as_str));
            }
        }
    }
    words
}

/// For a message: each once, in order.
fn list(names: &[&str]) -> String {
    let names: BTreeSet<&str> = names.iter().copied().collect();
    names.into_iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ")
}

/// What clients share with a game, as its kinds declare it.
pub(crate) fn motions_of<G: Game>() -> impl Iterator<Item = SharedMotion> {
    let steering = |(kind, functions)| Steering { game: G::INFO.name, kind, functions };
    let kinds = G::kinds().into_iter().filter_map(|declared| declared.steering);
    kinds.map(steering).map(SharedMotion::from)
}

/// For tools with games that are written against the room.
#[doc(hidden)]
impl From<Registry> for Games {
    fn from(registry: Registry) -> Self {
        Self { registry, motions: Vec::new(), named: Vec::new() }
    }
}

impl From<Games> for Registry {
    fn from(games: Games) -> Self {
        games.registry
    }
}

#[cfg(test)]
#[cfg(feature = "serve")]
mod tests {
    use super::*;

    #[test]
    #[should_panic(
        expected = "the game \"shooter\" cannot be offered: a game that comes with Ambit has this \
                    name"
    )]
    fn a_game_called_like_one_of_ambit_s_is_not_offered() {
        let games = Games { named: vec!["gather", "shooter"], ..Games::default() };
        games.check_names(&ambit_bots_lib::GAMES);
    }

    #[test]
    fn a_game_with_a_name_of_its_own_is_offered() {
        let games = Games { named: vec!["gather"], ..Games::default() };
        games.check_names(&ambit_bots_lib::GAMES);
    }
}
