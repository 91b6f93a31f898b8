//! A bot with the profile `deus`: it chooses a class, fights what comes near, learns talents, and
//! goes to chests. Which classes, spells and talents there are is in the game's schema.
//!
//! What the client shows goes in, a command comes out now and then. So a bot knows what a player
//! knows. No clock and no I/O; random decisions follow from the seed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use ambit_client_core::client::Client;
use ambit_client_core::client::event::ComponentValue;
use ambit_client_core::command_words;
use ambit_client_core::replica::VisibleObject;
use ambit_proto::ids::ClientObjectId;
use ambit_proto::message::GameCommand;
use ambit_proto::presentation::{ChoicePresentation, Condition};
use ambit_proto::schema::{FieldType, Schema};
use ambit_proto::space::Position;
use ambit_proto::time::{GameTime, LocalTime};

/// The game.
pub(crate) const GAME: &str = "deus";

/// When a spell is worth its mana.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Tactic {
    /// A monster is so near.
    Near(f32),
    /// Several monsters are so near.
    CrowdHere(f32),
    /// A monster is so near, and others are with it.
    CrowdThere(f32),
    /// A hero so near, perhaps the own one, is hurt.
    HurtAlly(f32),
    /// The own hero is hurt.
    Hurt,
}

/// The spells that it knows, the first of use first. Others it casts at whatever is near.
const TACTICS: [(&str, Tactic); 18] = [
    ("sanctuary", Tactic::HurtAlly(11.5)),
    ("mend", Tactic::HurtAlly(13.5)),
    ("renewal", Tactic::HurtAlly(13.5)),
    ("rally", Tactic::Hurt),
    ("vanish", Tactic::Hurt),
    ("banish", Tactic::CrowdHere(4.0)),
    ("repel", Tactic::CrowdHere(3.5)),
    ("whirl", Tactic::CrowdHere(3.0)),
    ("frost", Tactic::CrowdHere(4.5)),
    ("ember", Tactic::Near(12.0)),
    ("blast", Tactic::CrowdThere(14.5)),
    ("snare", Tactic::CrowdThere(13.5)),
    ("pierce", Tactic::CrowdThere(16.0)),
    ("venom", Tactic::Near(15.0)),
    ("strike", Tactic::Near(2.1)),
    ("shot", Tactic::Near(15.0)),
    ("firebolt", Tactic::Near(15.0)),
    ("smite", Tactic::Near(12.5)),
];
const UNKNOWN: Tactic = Tactic::Near(8.0);

/// Pauses between two casts, two walks, two choices and two talents.
const CAST: Duration = Duration::from_millis(750);
const WALK: Duration = Duration::from_millis(750);
/// How long and how far a bot goes away from a monster before it decides again.
const RETREAT: Duration = Duration::from_millis(900);
const RETREAT_M: f32 = 5.0;
const CHOOSE: Duration = Duration::from_secs(3);
/// How long it walks to one place while it sees nothing to fight.
const ROAM: Duration = Duration::from_secs(6);
/// It stands so near to monsters if it strikes them, otherwise between these distances.
const STRIKE_M: f32 = 1.2;
const KEEP_AWAY_M: f32 = 4.5;
const SHOOT_M: f32 = 11.0;
/// A bot that shoots comes to this distance, nearer than it has to.
const SHOOT_FROM_M: f32 = 10.0;
/// A bot on its way walks on, unless its goal has moved by more: metres, and a share of the way.
/// After `WALK_AGAIN` it repeats the command.
const GOAL_M: f32 = 0.7;
const GOAL_SHARE: f32 = 0.25;
const WALK_AGAIN: Duration = Duration::from_secs(3);
/// It cannot aim at a nearer target.
const LEAST_AIM_M: f32 = 0.2;
/// The number of monsters that are worth a spell that costs more, and its cost in percent of the
/// mana.
const CROWD: usize = 3;
const CROWD_MANA: f32 = 45.0;
const CROWD_M: f32 = 3.0;
/// Less health is worth a spell that heals, in percent.
const HURT: f32 = 60.0;
/// It keeps this distance from the map's edge.
const EDGE_M: f32 = 4.0;

/// The decisions of one bot.
#[derive(Debug)]
pub(crate) struct DeusBot {
    rng: fastrand::Rng,
    cast_at: LocalTime,
    walk_at: LocalTime,
    /// Where it walks to, and until when that need not be said again.
    goal: Option<(Position, LocalTime)>,
    learn_at: LocalTime,
    /// When each spell can be cast again.
    ready_at: BTreeMap<String, LocalTime>,
}

/// What a client shows of the game.
#[derive(Clone, Debug)]
pub(crate) struct DeusView {
    own: Position,
    class: String,
    /// Of the course.
    phase: String,
    is_alive: bool,
    /// Whether it takes part in the wave.
    fights: bool,
    mana: f32,
    health: f32,
    points: i64,
    /// Other heroes, with their health.
    allies: Vec<(Position, f32)>,
    monsters: Vec<Position>,
    chest: Option<Position>,
    map: (f32, f32),
    /// What is in the chest, what it has, what it can learn: by the names of these components.
    lists: BTreeMap<&'static str, Vec<String>>,
    schema: Arc<Schema>,
}

/// Of the game's state and of the own row.
const LISTS: [(&str, &str); 6] = [
    ("course", "offer"),
    ("score", "bag"),
    ("score", "wearable"),
    ("score", "worn"),
    ("score", "usable"),
    ("score", "learnable"),
];

impl DeusView {
    /// `None` without an own hero, or in another game.
    pub(crate) fn of(client: &Client, now: LocalTime) -> Option<Self> {
        let t = client.room_time(now)?;
        let game = client.running_game()?;
        let hero = client.avatar().filter(|own| &**own.kind() == "hero")?;
        let places = |kind: &'static str| {
            let of_kind = client.objects().filter(move |object| &**object.kind() == kind);
            of_kind.filter_map(move |object| object.position(t))
        };
        let map = &game.rules().map;
        Some(Self {
            own: hero.position(t)?,
            class: text(&hero, "class", t),
            phase: client
                .objects()
                .find(|object| &**object.kind() == "course")
                .map_or_else(String::new, |course| text(&course, "phase", t)),
            is_alive: hero.value("alive", t) == Some(ComponentValue::Flag(true)),
            fights: hero.value("fights", t) == Some(ComponentValue::Flag(true)),
            mana: gauge(&hero, "mana", t),
            health: gauge(&hero, "health", t),
            points: hero
                .value("points", t)
                .and_then(|value| value.as_number().copied())
                .unwrap_or_default(),
            allies: client
                .objects()
                .filter(|other| &**other.kind() == "hero" && other.id != hero.id)
                .filter_map(|other| Some((other.position(t)?, gauge(&other, "health", t))))
                .filter(|(_, health)| *health > 0.0)
                .collect(),
            monsters: places("monster").collect(),
            chest: places("chest").next(),
            map: (map.width_m, map.height_m),
            lists: LISTS
                .into_iter()
                .map(|(kind, component)| {
                    let of_kind = client.objects().filter(|object| &**object.kind() == kind);
                    let known =
                        of_kind.filter_map(|object| object.value(component, t)?.into_counts().ok());
                    let mut names = Vec::new();
                    for counts in known {
                        names.extend(counts.iter().map(|(name, _)| name.to_owned()));
                    }
                    (component, names)
                })
                .collect(),
            schema: Arc::clone(&game.rules().schema),
        })
    }

    /// The choices of a command that there are now for the own class, with their cool-downs.
    fn choices<'v>(&'v self, command: &str) -> impl Iterator<Item = (&'v str, Duration)> {
        let shown = self.shown(command);
        shown.map(|(name, about)| (name, Duration::from_millis(about.cooldown_ms.into())))
    }

    /// The same, with all that is declared about them.
    fn shown<'v>(
        &'v self,
        command: &str,
    ) -> impl Iterator<Item = (&'v str, &'v ChoicePresentation)> {
        let is_now = |wanted: &Option<Condition>| {
            let Some(Condition { of, is }) = wanted else { return true };
            match of.as_str() {
                "alive" => self.is_alive,
                "fights" => self.fights,
                "class" => self.class == *is,
                "phase" => self.phase == *is,
                _ => false,
            }
        };
        let mut commands = command_words::with_presentations(&self.schema);
        let declared = commands.find(|(it, shown)| it.name == command && is_now(&shown.only_for));
        let named = declared.and_then(|(declared, shown)| match &declared.fields.first()?.ty {
            FieldType::Choice(names) => {
                let shown = shown.field(0);
                Some((self.lists.get(&*shown.listed_in), names, shown))
            }
            _ => None,
        });
        let named = named.into_iter().flat_map(|(list, names, shown)| {
            let is_there =
                move |name: &str| list.is_none_or(|list| list.iter().any(|listed| listed == name));
            names.iter().zip(&shown.choices).filter(move |(name, _)| is_there(name))
        });
        let own = named.filter(move |(_, about)| is_now(&about.only_for));
        own.map(|(name, about)| (&**name, about))
    }

    /// The rarest item that it could wear and does not.
    fn better_item(&self) -> Option<&str> {
        let worn = self.lists.get("worn");
        let is_worn = |name: &str| worn.is_some_and(|worn| worn.iter().any(|it| it == name));
        let others = self.shown("equip").filter(|(name, _)| !is_worn(name));
        others.max_by_key(|(_, about)| about.rarity).map(|(name, _)| name)
    }

    fn is_melee(&self) -> bool {
        self.choices("cast").any(|(name, _)| name == "strike")
    }
}

fn gauge(object: &VisibleObject<'_, ()>, component: &str, t: GameTime) -> f32 {
    let gauge = object.value(component, t).and_then(|value| value.as_gauge().copied());
    gauge.map_or(0.0, |gauge| gauge.value)
}

fn text(object: &VisibleObject<'_, ()>, component: &str, t: GameTime) -> String {
    object.value(component, t).and_then(|value| value.into_text().ok()).unwrap_or_default()
}

impl DeusBot {
    pub(crate) fn new(seed: u64) -> Self {
        let rng = fastrand::Rng::with_seed(seed);
        let zero = LocalTime::ZERO;
        let goal = None;
        let ready_at = BTreeMap::new();
        Self { rng, cast_at: zero, walk_at: zero, goal, learn_at: zero, ready_at }
    }

    /// The words of a command to give now.
    pub(crate) fn decide(&mut self, now: LocalTime, view: &DeusView) -> Option<String> {
        let is_choosing = view.choices("choose").next().is_some();
        if is_choosing || view.points > 0 {
            if now >= self.learn_at {
                self.learn_at = now + CHOOSE;
                let command = if is_choosing { "choose" } else { "learn" };
                let (chosen, _) = self.rng.choice(view.choices(command).collect::<Vec<_>>())?;
                return Some(format!("{command} {chosen}"));
            }
            if is_choosing {
                return None;
            }
        }
        if !view.is_alive {
            return None;
        }
        if now >= self.learn_at
            && let Some(words) = self.trade(view)
        {
            self.learn_at = now + CHOOSE;
            return Some(words);
        }
        let near = view.monsters.iter().min_by(|one, other| {
            view.own.ground_distance(**one).total_cmp(&view.own.ground_distance(**other))
        });
        if now >= self.cast_at
            && let Some((item, cooldown)) = self.potion(now, view)
        {
            self.cast_at = now + CAST;
            let words = format!("use {item}");
            self.ready_at.insert(item, now + cooldown);
            return Some(words);
        }
        if now >= self.cast_at
            && let Some((spell, at, cooldown)) = self.spell(now, view, near.copied())
        {
            self.cast_at = now + CAST;
            let words = format!("cast {spell} {:.1} {:.1}", at.x, at.y);
            self.ready_at.insert(spell, now + cooldown);
            return Some(words);
        }
        if now < self.walk_at {
            return None;
        }
        let (goal, pause) = match near.copied().or(view.chest) {
            Some(place) => Self::stand(view, place)?,
            None => (self.somewhere(view), ROAM),
        };
        self.walk_at = now + pause;
        let slack = GOAL_M.max(GOAL_SHARE * view.own.ground_distance(goal));
        if self.goal.is_some_and(|(old, until)| now < until && old.ground_distance(goal) <= slack) {
            return None;
        }
        self.goal = Some((goal, now + WALK_AGAIN));
        let (width, height) = view.map;
        let (x, y) = (goal.x.clamp(1.0, width - 1.0), goal.y.clamp(1.0, height - 1.0));
        Some(format!("move {x:.1} {y:.1}"))
    }

    /// What it needs of the chest, what it buys or sells; then it is ready. It may ask for what it
    /// has not, or cannot pay: players do so, too.
    fn trade(&mut self, view: &DeusView) -> Option<String> {
        let command = match view.phase.as_str() {
            "share" => "want",
            "merchant" => ["buy", "buy", "sell", "equip", "ready"][self.rng.usize(..5)],
            _ => return None,
        };
        if command == "equip" {
            return view.better_item().map(|item| format!("equip {item}"));
        }
        let (item, _) = self.rng.choice(view.choices(command).collect::<Vec<_>>()).unzip();
        Some(format!("{command} {}", item.unwrap_or_default()).trim_end().to_owned())
    }

    /// What it drinks as long as it is hurt and something is near.
    fn potion(&self, now: LocalTime, view: &DeusView) -> Option<(String, Duration)> {
        let is_time = view.fights && view.health < HURT && !view.monsters.is_empty();
        let is_ready = |name: &str| self.ready_at.get(name).is_none_or(|ready| now >= *ready);
        let mut all = view.choices("use").filter(|(name, _)| is_time && is_ready(name));
        all.next().map(|(name, cooldown)| (name.to_owned(), cooldown))
    }

    /// The first spell that is worth it now, and where; who needs no place does not mind one.
    fn spell(
        &self,
        now: LocalTime,
        view: &DeusView,
        near: Option<Position>,
    ) -> Option<(String, Position, Duration)> {
        let rank = |name: &str| TACTICS.iter().position(|(known, _)| *known == name);
        let is_ready = |name: &str| self.ready_at.get(name).is_none_or(|ready| now >= *ready);
        let ready = view.choices("cast").filter(|(name, _)| is_ready(name));
        let worth = ready.filter_map(|(name, cooldown)| {
            let tactic = rank(name).map_or(UNKNOWN, |index| TACTICS[index].1);
            let at = Self::place(view, near, tactic)?;
            Some((rank(name), name.to_owned(), at, cooldown))
        });
        let first = worth.min_by_key(|(rank, ..)| rank.unwrap_or(TACTICS.len()));
        first.map(|(_, name, at, cooldown)| (name, at, cooldown))
    }

    /// Where to cast by a tactic, if it is worth it.
    fn place(view: &DeusView, near: Option<Position>, tactic: Tactic) -> Option<Position> {
        let is_crowd = |centre: Position, radius_m: f32| {
            let is_in = |at: &&Position| at.ground_distance(centre) <= radius_m;
            view.mana >= CROWD_MANA && view.monsters.iter().filter(is_in).count() >= CROWD
        };
        // What stands in the same place is in no direction.
        let near = near.map(|near| {
            let is_here = view.own.ground_distance(near) < LEAST_AIM_M;
            if is_here { Position::on_ground(near.x + 2.0 * LEAST_AIM_M, near.y) } else { near }
        });
        let within = |range_m: f32| near.filter(|at| view.own.ground_distance(*at) <= range_m);
        match tactic {
            Tactic::Near(range_m) => within(range_m),
            Tactic::CrowdHere(radius_m) => is_crowd(view.own, radius_m).then_some(near).flatten(),
            Tactic::CrowdThere(range_m) => within(range_m).filter(|at| is_crowd(*at, CROWD_M)),
            Tactic::Hurt => (view.health < HURT).then_some(near).flatten(),
            Tactic::HurtAlly(range_m) => {
                let own = [(view.own, view.health)];
                let heroes = view.allies.iter().chain(&own).filter(|(at, health)| {
                    *health < HURT && at.ground_distance(view.own) <= range_m
                });
                let most = heroes.min_by(|(_, one), (_, other)| one.total_cmp(other));
                most.map(|(at, _)| *at)
            }
        }
    }

    /// Where to stand because of a monster or a chest, and for how long at least; `None` to stay.
    fn stand(view: &DeusView, place: Position) -> Option<(Position, Duration)> {
        let distance = view.own.ground_distance(place);
        let is_monster = !view.monsters.is_empty();
        if is_monster && !view.is_melee() {
            if distance < KEEP_AWAY_M {
                // Away from it, and a little towards the middle, so that no corner is the end.
                let away = view.own.lerp(place, -RETREAT_M / distance.max(LEAST_AIM_M));
                let middle = Position::on_ground(view.map.0 / 2.0, view.map.1 / 2.0);
                return Some((away.lerp(middle, 0.2), RETREAT));
            }
            let from = place.lerp(view.own, SHOOT_FROM_M / distance.max(SHOOT_FROM_M));
            return (distance > SHOOT_M).then_some((from, WALK));
        }
        (distance > STRIKE_M).then_some((place, WALK))
    }

    fn somewhere(&mut self, view: &DeusView) -> Position {
        let mut within = |size: f32| EDGE_M + self.rng.f32() * (size - 2.0 * EDGE_M).max(0.0);
        let (x, y) = (within(view.map.0), within(view.map.1));
        Position::on_ground(x, y)
    }
}

/// The command of these words.
pub(crate) fn command(client: &Client, words: &str) -> Option<GameCommand<ClientObjectId>> {
    let words: Vec<&str> = words.split(' ').collect();
    command_words::parse(client.schema()?, &words).ok()
}

#[cfg(test)]
mod tests {
    use ambit_proto::presentation::{CommandPresentation, FieldPresentation, Presentation, Rarity};
    use ambit_proto::schema::{CommandKind, FieldSpec};

    use super::*;

    /// The commands of a game with these choices, each with whom it is for.
    fn schema() -> Schema {
        let command = |name: &str, choices: &[(&str, &str)]| {
            let names = FieldType::choice(choices.iter().map(|(name, _)| *name));
            let shown = choices.iter().map(|(_, only_for)| ChoicePresentation {
                only_for: Some(match *only_for {
                    "share" | "merchant" => Condition::text("phase", *only_for),
                    class => Condition::text("class", class),
                }),
                cooldown_ms: 5_000,
                ..ChoicePresentation::default()
            });
            let choices = shown.collect();
            let field = FieldPresentation { choices, ..FieldPresentation::default() };
            let fields = vec![FieldSpec::new("which", names)];
            (
                CommandKind { name: name.to_owned(), fields, ..CommandKind::default() },
                CommandPresentation { fields: vec![field], ..CommandPresentation::default() },
            )
        };
        let spells = [
            ("strike", "warrior"),
            ("whirl", "warrior"),
            ("firebolt", "mage"),
            ("blast", "mage"),
            ("mend", "healer"),
            ("riddle", "healer"),
        ];
        let commands = [
            command("choose", &[("mage", "newcomer"), ("healer", "newcomer")]),
            command("cast", &spells),
            command("learn", &[("inferno", "mage"), ("saint", "healer")]),
            command("want", &[("ring", "share")]),
            command("buy", &[("ring", "merchant")]),
            command("sell", &[("ring", "merchant")]),
            command("equip", &[("ring", "mage"), ("crown", "mage"), ("belt", "mage")]),
            command("use", &[("wine", "mage"), ("water", "mage")]),
        ];
        let (commands, shown) = commands.into_iter().unzip();
        let presentation = Presentation { commands: shown, ..Presentation::default() };
        Schema { commands, presentation, ..Schema::default() }
    }

    fn view(class: &str, monsters: &[(f32, f32)]) -> DeusView {
        DeusView {
            own: Position::on_ground(30.0, 30.0),
            class: class.to_owned(),
            phase: "fight".to_owned(),
            is_alive: true,
            fights: true,
            mana: 100.0,
            health: 100.0,
            points: 0,
            allies: Vec::new(),
            monsters: monsters.iter().map(|(x, y)| Position::on_ground(*x, *y)).collect(),
            chest: None,
            map: (60.0, 60.0),
            lists: BTreeMap::new(),
            schema: Arc::new(schema()),
        }
    }

    #[test]
    fn all_that_is_counted_can_be_chosen() {
        let names: Vec<String> = (0..64).map(|item| format!("{item:02}-item")).collect();
        let mut view = view("mage", &[]);
        view.phase = "merchant".to_owned();
        let mut schema = schema();
        let sell = usize::from(schema.command_index("sell").expect("sell"));
        schema.commands[sell].fields[0].ty = FieldType::choice(&names);
        let shown = &mut schema.presentation.commands[sell].fields[0];
        shown.choices = vec![ChoicePresentation::default(); 64];
        "bag".clone_into(&mut shown.listed_in);
        view.schema = Arc::new(schema);
        let sold =
            |view: &DeusView| view.choices("sell").map(|(name, _)| name.to_owned()).collect();
        let none: Vec<String> = sold(&view);
        assert_eq!(none.len(), 64, "not counted: all");
        view.lists.insert("bag", names[1..].to_vec());
        let all: Vec<String> = sold(&view);
        assert_eq!(all, names[1..]);
    }

    #[test]
    fn a_bot_chooses_and_then_fights_as_its_class_does() {
        let now = LocalTime::from_millis(10_000);
        let mut bot = DeusBot::new(7);
        let chosen = bot.decide(now, &view("newcomer", &[])).expect("a choice");
        assert!(["choose mage", "choose healer"].contains(&&*chosen), "{chosen}");
        assert_eq!(bot.decide(now + WALK, &view("newcomer", &[])), None, "it waits");
        let later = now + CHOOSE;
        let says = |class: &str, monsters: &[(f32, f32)]| {
            DeusBot::new(7).decide(later, &view(class, monsters)).unwrap_or_default()
        };
        let crowd = [(31.0, 30.0), (30.0, 31.0), (29.0, 30.0)];
        assert_eq!(says("warrior", &[(31.0, 30.0)]), "cast strike 31.0 30.0");
        assert!(says("warrior", &crowd).starts_with("cast whirl"));
        assert_eq!(says("warrior", &[(40.0, 30.0)]), "move 40.0 30.0");
        assert_eq!(says("mage", &[(40.0, 30.0)]), "cast firebolt 40.0 30.0");
        assert_eq!(says("mage", &[(30.0, 30.0)]), "cast firebolt 30.4 30.0");
        let there = [(40.0, 30.0), (41.0, 30.0), (40.0, 31.0)];
        assert!(says("mage", &there).starts_with("cast blast"));
        assert!(says("mage", &[]).starts_with("move "));
        assert_eq!(says("healer", &[(36.0, 30.0)]), "cast riddle 36.0 30.0");
        let mut bot = DeusBot::new(7);
        assert!(bot.decide(later, &view("mage", &there)).is_some());
        let share = DeusView { phase: "share".to_owned(), ..view("mage", &[]) };
        assert_eq!(DeusBot::new(7).decide(later, &share).as_deref(), Some("want ring"));
        let market = DeusView { phase: "merchant".to_owned(), ..view("mage", &[]) };
        let words = DeusBot::new(7).decide(later, &market).expect("a trade");
        let all = ["buy ring", "sell ring", "equip belt", "ready"];
        assert!(all.contains(&&*words), "{words}");
        let next = bot.decide(later + CAST, &view("mage", &there)).expect("another cast");
        assert!(next.starts_with("cast firebolt"), "a blast is not ready: {next}");
        bot.cast_at = later + CHOOSE;
        bot.walk_at = later;
        let away = bot.decide(later + CAST, &view("mage", &[(31.0, 30.0)])).expect("a walk");
        assert!(away.starts_with("move 2"), "away from it: {away}");
        let dead = DeusView { is_alive: false, ..view("mage", &[(31.0, 30.0)]) };
        assert_eq!(bot.decide(later + CHOOSE, &dead), None);
    }

    #[test]
    fn a_bot_wears_the_rarest_and_drinks_when_it_is_hurt() {
        let now = LocalTime::from_millis(10_000);
        let mut view = view("mage", &[(33.0, 30.0)]);
        view.lists = BTreeMap::from([("worn", vec!["crown".to_owned()])]);
        let mut schema = schema();
        let equip = usize::from(schema.command_index("equip").expect("equip"));
        let choices = &mut schema.presentation.commands[equip].fields[0].choices;
        let rarities = [Rarity::Rare, Rarity::Epic, Rarity::Common].map(Some);
        choices.iter_mut().zip(rarities).for_each(|(it, rarity)| it.rarity = rarity);
        view.schema = Arc::new(schema);
        assert_eq!(view.better_item(), Some("ring"));
        view.health = 20.0;
        let mut bot = DeusBot::new(7);
        let mut says = |after| bot.decide(now + after, &view).unwrap_or_default();
        assert_eq!(says(Duration::ZERO), "use wine");
        assert_eq!(says(CAST), "use water");
        assert!(says(2 * CAST).starts_with("cast "));
        assert_eq!(says(Duration::from_secs(6)), "use wine");
    }

    #[test]
    fn a_bot_on_its_way_says_so_again_only_if_its_goal_has_moved() {
        let now = LocalTime::from_millis(10_000);
        let mut bot = DeusBot::new(7);
        let mut says = |after: Duration, x: f32| {
            bot.decide(now + after, &view("warrior", &[(x, 30.0)])).unwrap_or_default()
        };
        assert_eq!(says(Duration::ZERO, 40.0), "move 40.0 30.0");
        assert_eq!(says(WALK, 41.0), "");
        assert_eq!(says(2 * WALK, 44.0), "move 44.0 30.0");
        assert_eq!(says(2 * WALK + WALK_AGAIN, 44.0), "move 44.0 30.0");
    }

    #[test]
    fn a_bot_heals_who_is_hurt_and_learns() {
        let now = LocalTime::from_millis(10_000);
        let allies = vec![(Position::on_ground(33.0, 30.0), 40.0), (Position::default(), 5.0)];
        let mut view = DeusView { allies, ..view("healer", &[]) };
        let said = DeusBot::new(7).decide(now, &view);
        assert_eq!(said.as_deref(), Some("cast mend 33.0 30.0"));
        view.points = 1;
        let mut bot = DeusBot::new(7);
        assert_eq!(bot.decide(now, &view).as_deref(), Some("learn saint"));
        assert!(bot.decide(now + WALK, &view).is_some_and(|said| said.starts_with("cast")));
    }
}
