//! What a player sees of a running game, as values to draw: what lies around, the own bars, the
//! state of the game and its tables.
//!
//! A client and the present time go in, a [`GameScene`] comes out. Texts are those of players and
//! games: they become printable where they are drawn. Bounds: [`MAX_MARKS`], [`MAX_ROWS`] of a
//! table. Cost: the objects in sight.

use std::sync::Arc;

use ambit_client_core::client::Client;
use ambit_client_core::client::event::{BorrowedValue, MapExtent};
use ambit_client_core::replica::VisibleObject;
use ambit_client_text::completion::{MAX_KNOWN, ObjectName};
use ambit_proto::decimal::DecimalFormat;
use ambit_proto::map::StaticMap;
use ambit_proto::presentation::{ComponentPresentation, ObstacleLook};
use ambit_proto::schema::{Codec, ObjectKind, Schema};
use ambit_proto::space::Position;
use ambit_proto::time::{GameTime, LocalTime};

use crate::event_words::{as_words, label, name_of, own_name};

/// The most objects on the map.
const MAX_MARKS: usize = 1_024;
/// The most rows of a table: more than a screen has lines.
const MAX_ROWS: usize = 64;
/// The map shows at least and at most that to each side, until the player comes closer.
const REACH_M: std::ops::RangeInclusive<f32> = 15.0..=60.0;

/// What there is to draw of a game.
#[derive(Clone, Debug, Default)]
pub(crate) struct GameScene {
    /// The own avatar; `None` while it is not in sight.
    pub(crate) own: Option<OwnMark>,
    pub(crate) marks: Vec<MapMark>,
    /// Of the map, in metres.
    pub(crate) size_m: (f32, f32),
    /// How far the player sees, in metres.
    pub(crate) reach_m: f32,
    pub(crate) map: Option<Arc<StaticMap>>,
    pub(crate) wall_looks: Vec<ObstacleLook>,
    pub(crate) bars: Vec<ValueBar>,
    /// Flags and numbers of the own avatar that say something.
    pub(crate) signs: Vec<String>,
    /// The state of the game: labels and values.
    pub(crate) state: Vec<(String, String)>,
    pub(crate) tables: Vec<SideTable>,
    /// What completion offers for an object.
    pub(crate) objects: Vec<ObjectName>,
}

/// The own avatar on the map.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OwnMark {
    pub(crate) at: Position,
    /// In radians from the east, counter-clockwise.
    pub(crate) heading: Option<f32>,
}

/// An object on the map.
#[derive(Clone, Debug)]
pub(crate) struct MapMark {
    pub(crate) at: Position,
    pub(crate) glyph: char,
    /// 0xRRGGBB.
    pub(crate) colour: u32,
    /// Of a player: the name.
    pub(crate) name: Option<String>,
}

/// A gauge of the own avatar.
#[derive(Clone, Debug)]
pub(crate) struct ValueBar {
    pub(crate) label: String,
    pub(crate) value: f32,
    pub(crate) max: f32,
    pub(crate) unit: String,
}

/// The room-wide objects of a kind, the best one on top.
#[derive(Clone, Debug)]
pub(crate) struct SideTable {
    pub(crate) title: String,
    pub(crate) columns: Vec<String>,
    /// The cells, and whether it is the player's own row.
    pub(crate) rows: Vec<(Vec<String>, bool)>,
}

/// What there is at the present room time; `None` without a game.
pub(crate) fn scene(client: &mut Client, now: LocalTime) -> Option<GameScene> {
    // Advances simulated objects to the present.
    client.handle_timeout(now);
    let t = client.room_time(now)?;
    let rules = client.rules()?;
    let own = client.avatar();
    let mut scene = GameScene {
        own: own.as_ref().and_then(|own| own_mark(own, t)),
        size_m: (rules.map.width_m, rules.map.height_m),
        reach_m: reach_m(&rules.map),
        map: client.map().cloned(),
        wall_looks: rules.schema.presentation.scenery.obstacles.clone(),
        ..GameScene::default()
    };
    if let Some(own) = &own {
        add_own_values(&mut scene, &rules.schema, own, t);
    }
    for seen in client.objects().filter(|seen| !seen.is_room_wide()).take(MAX_MARKS) {
        let name = own_name(&rules.schema, &seen, t);
        if scene.objects.len() < MAX_KNOWN {
            let name = name_of(&rules.schema, &seen, t).unwrap_or_default();
            let you = if seen.is_own() { " (you)" } else { "" };
            scene.objects.push(ObjectName { id: seen.id, label: format!("{name}{you}") });
        }
        if seen.is_own() {
            continue;
        }
        let Some(at) = seen.drawn_position(t) else { continue };
        let look = rules.schema.presentation.kind(seen.kind_index().into()).look;
        scene.marks.push(MapMark { at, glyph: look.glyph, colour: look.colour, name });
    }
    for (index, kind) in rules.schema.kinds.iter().enumerate().filter(|it| it.1.is_room_wide()) {
        let rows: Vec<_> = client
            .objects()
            .filter(|seen| usize::from(seen.kind_index()) == index)
            .take(MAX_ROWS)
            .collect();
        add_table(&mut scene, &rules.schema, (index, kind), &rows, t);
    }
    Some(scene)
}

fn own_mark(own: &VisibleObject<'_, ()>, t: GameTime) -> Option<OwnMark> {
    let [x, y, _] = own.path_velocity(t);
    let walks = (x != 0.0 || y != 0.0).then(|| y.atan2(x));
    Some(OwnMark { at: own.drawn_position(t)?, heading: own.yaw(t).or(walks) })
}

/// The inner zone of interest: what is farther may be missing.
fn reach_m(map: &MapExtent) -> f32 {
    let reach = (map.inner as f32 + 0.5) * map.cell_m;
    reach.clamp(*REACH_M.start(), *REACH_M.end())
}

fn add_own_values(
    scene: &mut GameScene,
    schema: &Schema,
    own: &VisibleObject<'_, ()>,
    t: GameTime,
) {
    let index = usize::from(own.kind_index());
    let Some(kind) = schema.kinds.get(index) else { return };
    let shown = schema.presentation.kind(index);
    for (place, component) in kind.components.iter().enumerate() {
        let about = shown.component(place);
        let name = label(&about.label, &component.name);
        match own.component(place, t) {
            // A time that does not run says nothing.
            Some(BorrowedValue::Gauge(gauge)) if about.unit == "s" && gauge.value > 0.0 => {
                scene.signs.push(format!("{name} {}", minutes(gauge.value)));
            }
            Some(BorrowedValue::Gauge(gauge)) if about.unit != "s" => scene.bars.push(ValueBar {
                label: name,
                value: gauge.value,
                max: gauge.max,
                unit: about.unit.clone(),
            }),
            Some(BorrowedValue::Flag(true)) if !about.label.is_empty() => scene.signs.push(name),
            Some(BorrowedValue::Number(number)) if about.unit != "ms" && number != 0 => {
                scene.signs.push(format!("{name} {}", with_unit(&number.to_string(), &about.unit)));
            }
            Some(BorrowedValue::Text(text))
                if Some(place) != shown.look.label.map(usize::from) && !text.is_empty() =>
            {
                scene.signs.push(format!("{name}: {}", word(about, text)));
            }
            _ => {}
        }
    }
}

/// The objects of a room-wide kind: a single one without an owner is the state of the game.
fn add_table(
    scene: &mut GameScene,
    schema: &Schema,
    (index, kind): (usize, &ObjectKind),
    rows: &[VisibleObject<'_, ()>],
    t: GameTime,
) {
    if rows.is_empty() {
        return;
    }
    let shown = schema.presentation.kind(index);
    let cell = |row: &VisibleObject<'_, ()>, place: usize| {
        cell_text(
            &kind.components[place].codec,
            shown.component(place),
            row.component(place, t).as_ref(),
        )
    };
    // What is empty for all says nothing: a winner before the end.
    let mut places: Vec<usize> = (0..kind.components.len())
        .filter(|&place| rows.iter().any(|row| !cell(row, place).is_empty()))
        .collect();
    let title = |place: usize| label(&shown.component(place).label, &kind.components[place].name);
    if let [state] = rows
        && !state.is_own()
    {
        scene.state.extend(places.iter().map(|&place| (title(place), cell(state, place))));
        return;
    }
    let is_text = |place: &usize| matches!(kind.components[*place].codec, Codec::Text { .. });
    let is_number = |place: &usize| matches!(kind.components[*place].codec, Codec::Number { .. });
    let (name, ranked) =
        (places.iter().copied().find(is_text), places.iter().copied().find(is_number));
    places.sort_by_key(|&place| match () {
        () if Some(place) == name => 0,
        () if Some(place) == ranked => 1,
        () => 2,
    });
    let points = |row: &VisibleObject<'_, ()>| match ranked.and_then(|at| row.component(at, t)) {
        Some(BorrowedValue::Number(number)) => number,
        _ => 0,
    };
    let mut best: Vec<&VisibleObject<'_, ()>> = rows.iter().collect();
    best.sort_by_key(|row| std::cmp::Reverse(points(row)));
    scene.tables.push(SideTable {
        title: label(&shown.label, &kind.name),
        columns: places.iter().map(|&place| title(place)).collect(),
        rows: best
            .iter()
            .map(|row| (places.iter().map(|&place| cell(row, place)).collect(), row.is_own()))
            .collect(),
    });
}

/// A value as players read it; empty if it says nothing.
fn cell_text(
    codec: &Codec,
    about: &ComponentPresentation,
    value: Option<&BorrowedValue<'_>>,
) -> String {
    match value {
        Some(BorrowedValue::Gauge(gauge)) if about.unit == "s" => {
            if gauge.value > 0.0 {
                minutes(gauge.value)
            } else {
                String::new()
            }
        }
        Some(BorrowedValue::Gauge(gauge)) => with_unit(&format!("{:.0}", gauge.value), &about.unit),
        Some(BorrowedValue::Flag(flag)) => if *flag { "✓" } else { "–" }.to_owned(),
        Some(&BorrowedValue::Number(number)) if about.unit == "s" => {
            if number > 0 {
                minutes(number as f32)
            } else {
                String::new()
            }
        }
        Some(BorrowedValue::Number(number)) => with_unit(&number.to_string(), &about.unit),
        Some(BorrowedValue::Decimal(decimal)) if *codec == Codec::Decimal(DecimalFormat::Angle) => {
            format!("{:.0}°", decimal.rounded().to_degrees())
        }
        Some(BorrowedValue::Decimal(decimal)) => {
            with_unit(&decimal.rounded().to_string(), &about.unit)
        }
        Some(BorrowedValue::Text(text)) => word(about, text),
        _ => String::new(),
    }
}

/// A text of the game is one of its words; what players write stays as it is.
fn word(about: &ComponentPresentation, text: &str) -> String {
    match about.words.iter().find(|word| word.is == text) {
        Some(word) => label(&word.label, text),
        None if about.words.is_empty() => text.to_owned(),
        None => as_words(text),
    }
}

/// Such as 9:52. The last second is over when it is over.
fn minutes(seconds: f32) -> String {
    let seconds = seconds.ceil() as u32;
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

fn with_unit(figure: &str, unit: &str) -> String {
    if unit.is_empty() { figure.to_owned() } else { format!("{figure} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_minutes_and_seconds() {
        assert_eq!(minutes(591.2), "9:52");
        assert_eq!(minutes(0.1), "0:01");
        assert_eq!(with_unit("80", "%"), "80 %");
    }
}
