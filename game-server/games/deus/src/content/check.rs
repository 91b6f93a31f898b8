//! Mistakes in content: what is no TOML, of another type, out of range, or names what is not there.
//!
//! The rule for a number follows from the name of its field, wherever it is: so a table that is
//! added later is checked, too.

use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};

use toml::Spanned;
use toml::de::{DeTable, DeValue, Error as TomlError};

use super::rooms::MapsTable;
use super::{ClassTable, FILE_COUNT, MonsterTable, TALENTS, is_typeable};
use crate::REACH_M;
use crate::map;
use crate::schema::NEWCOMER;

/// The allowed values of a field. Whatever is not named here is a factor, a count or a number of
/// points; what divides, lasts or moves must not be zero.
fn allowed(field: &str) -> RangeInclusive<f64> {
    match field {
        "most" | "first" | "then_per_s" => 1.0..=500.0,
        "last" | "from" => 1.0..=99.0,
        "more" | "speed" | "blow" | "size" => 0.1..=10.0,
        "tint" => 0.0..=16_777_215.0,
        "beyond_most" => 0.0..=2.0,
        "below" => 0.01..=1.0,
        "price" => 1.0..=10_000.0,
        "common" | "uncommon" | "rare" | "epic" | "legendary" => 0.0..=1_000.0,
        "found_from" => 0.0..=10_000.0,
        "sells_back" | "closed" => 0.0..=1.0,
        "carries" | "boss_heroes" => 1.0..=100.0,
        "size_m" => 16.0..=90.0,
        "door_m" => 2.0..=10.0,
        "walls" | "pillars" | "chest" | "spawns" | "traps" => -45.0..=45.0,
        "count" | "at_once" => 1.0..=50.0,
        "slow" => 1.0..=95.0,
        "physical" | "fire" | "cold" | "poison" | "holy" => -100.0..=100.0,
        "mana" | "damage" | "gold" | "experience" | "armour" | "base" | "per_hero" | "stronger" => {
            0.0..=10_000.0
        }
        "noise_m" | "keep_m" => 0.0..=100.0,
        "cooldown_s" | "rest_s" | "hunt_after_s" | "delay_s" => 0.0..=600.0,
        // Later than the longest local lag: so a blow is seen before it falls.
        "windup_s" => 0.3..=10.0,
        _ if field.ends_with("_m_per_s") => 0.1..=50.0,
        _ if field.ends_with("_per_s") => 0.0..=1_000.0,
        _ if field.ends_with("_m") => 0.1..=100.0,
        _ if field.ends_with("_s") => 0.1..=600.0,
        _ => 1.0..=100_000.0,
    }
}

/// The file and the entry whose names a field refers to.
fn refers_to(field: &str) -> Option<usize> {
    match field {
        "class" => Some(0),
        "kind" | "boss" => Some(2),
        "spell" => Some(3),
        _ => None,
    }
}

#[derive(Debug)]
pub(crate) struct ContentMistakes<'t> {
    names: [&'static str; FILE_COUNT],
    texts: [&'t str; FILE_COUNT],
    /// By file and line.
    pub(crate) found: Vec<(usize, usize, String)>,
}

impl<'t> ContentMistakes<'t> {
    pub(crate) fn new(names: [&'static str; FILE_COUNT], texts: [&'t str; FILE_COUNT]) -> Self {
        Self { names, texts, found: Vec::new() }
    }

    /// One for each line, in the order of files and lines.
    pub(crate) fn sorted(mut self) -> Vec<String> {
        self.found.sort();
        self.found.dedup_by_key(|(file, line, _)| (*file, *line));
        self.found.into_iter().map(|(_, _, text)| text).collect()
    }

    /// A file as a table of this type; `None` with a mistake.
    pub(crate) fn read<T: serde::de::DeserializeOwned>(&mut self, file: usize) -> Option<T> {
        let read = toml::from_str(self.texts[file]);
        let note = |error: &TomlError| {
            self.note(file, &error.span().unwrap_or_default(), error.message());
        };
        read.inspect_err(note).ok()
    }

    fn note(&mut self, file: usize, span: &Range<usize>, what: &str) {
        let name = self.names[file];
        let text = self.texts[file];
        let line = text.get(..span.start).unwrap_or(text).matches('\n').count();
        let quoted = text.lines().nth(line).unwrap_or_default().trim();
        let what = what.trim().replace('\n', " ");
        let message = format!("{name}, line {}: `{quoted}`: {what}", line + 1);
        self.found.push((file, line, message));
    }

    /// Ranges of numbers, and names that must be elsewhere.
    pub(crate) fn check(&mut self) {
        let tables = self.texts.map(|text| DeTable::parse(text).ok().map(Spanned::into_inner));
        // What a file that is no TOML contains is not known.
        let [Some(a), Some(b), Some(c), Some(d), Some(e), Some(f), Some(g)] = &tables else {
            return;
        };
        let tables = [a, b, c, d, e, f, g];
        for (file, table) in tables.iter().enumerate() {
            for (key, value) in *table {
                self.check_value(&tables, file, key.get_ref(), value);
            }
        }
        for item in tables[1].values() {
            if let Some(fields) = item.get_ref().as_table() {
                self.check_item(fields, &item.span());
            }
        }
        let row = |value: &Spanned<DeValue<'_>>| {
            let from = value.get_ref().get("from").and_then(|it| it.get_ref().as_integer());
            from.is_some_and(|from| from.as_str() == "1")
        };
        let rows = tables[4].get("wave").and_then(|it| it.get_ref().as_array());
        let has_first = rows.is_some_and(|rows| rows.iter().any(row));
        let none = DeTable::new();
        let talents = tables[TALENTS].get("talent").and_then(|it| it.get_ref().as_table());
        let talents = talents.unwrap_or(&none);
        self.check_talents(&tables, talents);
        let is_cast =
            |class: &str| tables[3].values().any(|spell| text_of(spell, "class") == class);
        let has_names = |table: &DeTable<'_>, bytes: usize| {
            table.keys().all(|name| is_typeable(name.get_ref(), bytes))
        };
        let words = "names of `a-z`, `0-9`, `_` and `-`, of 24 bytes at most";
        for (file, what, is_there) in [
            (0, "from 1 to 16 classes", (1..=16).contains(&tables[0].len())),
            (
                0,
                "names of `a-z`, `0-9`, `_` and `-`, of 12 bytes at most",
                has_names(tables[0], 12),
            ),
            (
                0,
                "no class `newcomer`: so are called who have none",
                !tables[0].contains_key(NEWCOMER),
            ),
            (1, "from 1 to 64 items", (1..=64).contains(&tables[1].len())),
            (1, words, has_names(tables[1], 24)),
            (2, "from 1 to 100 kinds", (1..=100).contains(&tables[2].len())),
            (2, "names of 24 bytes at most", tables[2].keys().all(|it| it.get_ref().len() <= 24)),
            (3, "24 spells at most", tables[3].len() <= 24),
            (3, words, has_names(tables[3], 24)),
            (3, "a spell of each class", tables[0].keys().all(|class| is_cast(class.get_ref()))),
            (4, "a `[[wave]]` with `from = 1`", has_first),
            (TALENTS, "from 1 to 64 talents", (1..=64).contains(&talents.len())),
            (TALENTS, words, has_names(talents, 24)),
        ] {
            if !is_there {
                self.note_need(file, what);
            }
        }
    }

    fn note_need(&mut self, file: usize, what: &str) {
        let message = format!("{} needs {what}", self.names[file]);
        self.found.push((file, usize::MAX - self.found.len(), message));
    }

    /// In each room, heroes walk from the middle to all that is in it, whatever its doors.
    pub(crate) fn check_rooms(&mut self, maps: Option<&MapsTable>) {
        let Some(maps) = maps.filter(|_| self.found.is_empty()) else { return };
        if maps.room.is_empty() {
            self.note_need(5, "a `[[room]]`");
        }
        if let Some(index) = maps.room.iter().position(|room| room.spawns.is_empty()) {
            self.note_need(5, &format!("`spawns` in room {}", index + 1));
        }
        let numbered =
            maps.room.iter().zip(1..).map(|(room, index)| (room, format!("room {index}")));
        for (room, name) in numbered.chain([(&maps.merchant, "the merchant's room".to_owned())]) {
            if let Some(what) = room.lacks(&name) {
                self.note_need(5, &what);
            } else if let Some((x, y)) = map::unreached(room) {
                self.note_need(5, &format!("a way from the middle of {name} to ({x}, {y})"));
            }
        }
    }

    /// A hero who is hurt was in sight when the blow was announced, also one who walks into it.
    pub(crate) fn check_reach(
        &mut self,
        classes: &[ClassTable],
        monsters: &[MonsterTable],
        maps: &MapsTable,
    ) {
        let fastest = classes.iter().map(|class| class.speed_m_per_s).fold(0.0, f32::max);
        let blows = monsters.iter().map(|monster| {
            let name = format!("blows of `{}`", monster.name);
            (2, name, monster.hurts_from_m(), monster.windup_s)
        });
        let trap = &maps.trap;
        let traps = (5, "traps".to_owned(), trap.radius_m, trap.windup_s);
        for (file, what, metres, windup_s) in blows.chain([traps]) {
            let reach_m = metres + fastest * windup_s;
            if reach_m > REACH_M {
                let what = format!(
                    "{what} that reach {REACH_M} m at most, so that players see what hurts them; \
                     they reach {metres:.1} m, and a hero walks {:.1} m until they fall",
                    fastest * windup_s
                );
                self.note_need(file, &what);
            }
        }
    }

    /// Consumables give health or mana, and items of other slots are not used up.
    fn check_item(&mut self, item: &DeTable<'_>, span: &Range<usize>) {
        let raises = |field: &str| item.contains_key(field);
        let is_consumable = text(item, "slot") == "consumable";
        let problem = if !item.contains_key("price") || !RAISED.iter().any(|it| raises(it)) {
            "an item needs a `price`, and something that it raises"
        } else if is_consumable && ["damage", "armour", "speed"].iter().any(|it| raises(it)) {
            "a consumable gives `health` or `mana`, and nothing else"
        } else if !is_consumable && raises("cooldown_s") {
            "`cooldown_s` is of what is `consumable`"
        } else {
            return;
        };
        self.note(1, span, problem);
    }

    /// What talents need, whose spells they raise, and that levels rise.
    fn check_talents(&mut self, tables: &[&DeTable<'_>; FILE_COUNT], talents: &DeTable<'_>) {
        let class_of = |table: &DeTable<'_>, name: &str| {
            table.get(name).map(|entry| text_of(entry, "class").to_owned())
        };
        let mut open: BTreeMap<&str, (Vec<&str>, Range<usize>)> = BTreeMap::new();
        let mut problems = Vec::new();
        for (name, talent) in talents {
            let class = text_of(talent, "class");
            let needs = talent.get_ref().get("needs").and_then(|it| it.get_ref().as_array());
            let needs = needs.into_iter().flatten().filter_map(|it| it.get_ref().as_str());
            let needs: Vec<&str> = needs.collect();
            for other in &needs {
                let of = class_of(talents, other);
                if of.is_none() {
                    problems.push((name.span(), format!("`needs`: there is no '{other}'")));
                } else if of.is_some_and(|of| of != class) {
                    problems.push((name.span(), format!("`needs`: '{other}' is of another class")));
                }
            }
            let spell = text_of(talent, "spell");
            if class_of(tables[3], spell).is_some_and(|of| of != class) {
                problems.push((name.span(), format!("`spell`: '{spell}' is of another class")));
            }
            open.insert(name.get_ref(), (needs, name.span()));
        }
        // Whatever can be learned is taken out; what stays waits for itself.
        loop {
            let before = open.len();
            let names: Vec<&str> = open.keys().copied().collect();
            open.retain(|_, (needs, _)| needs.iter().any(|other| names.contains(other)));
            if open.len() == before {
                break;
            }
        }
        for (name, (_, span)) in open {
            problems.push((span, format!("'{name}' can never be learned")));
        }
        if let Some(levels) = tables[TALENTS].get("levels") {
            let numbers = levels.get_ref().as_array().into_iter().flatten();
            let numbers = numbers.filter_map(|it| it.get_ref().as_integer()?.as_str().parse().ok());
            let numbers: Vec<i64> = numbers.collect();
            if !numbers.is_sorted_by(|one, next| one < next) || numbers.len() > 98 {
                problems.push((levels.span(), "`levels` must rise, up to 98 of them".to_owned()));
            }
        }
        for (span, problem) in problems {
            self.note(TALENTS, &span, &problem);
        }
    }

    fn check_value(
        &mut self,
        tables: &[&DeTable<'_>; FILE_COUNT],
        file: usize,
        field: &str,
        value: &Spanned<DeValue<'_>>,
    ) {
        let missing = |other: usize, name: &str| {
            let is_missing = !tables[other].contains_key(name);
            is_missing.then(|| format!("`{field}`: {} has no '{name}'", self.names[other]))
        };
        let problem = match value.get_ref() {
            DeValue::Integer(number) => {
                // A colour has hexadecimal digits.
                let value = i64::from_str_radix(number.as_str(), number.radix());
                let text = value.map_or_else(|_| number.to_string(), |value| value.to_string());
                out_of_range(file, field, &text)
            }
            DeValue::Float(number) => out_of_range(file, field, number.as_str()),
            DeValue::String(name) => refers_to(field).and_then(|other| missing(other, name)),
            DeValue::Table(table) if field == "kinds" => {
                let missing = table.keys().find_map(|key| missing(2, key.get_ref()));
                missing.or(table.is_empty().then(|| "`kinds` names nobody".to_owned()))
            }
            DeValue::Table(table) if is_caster(table) && !table.contains_key("calls") => {
                Some("a caster needs `calls`".to_owned())
            }
            _ => None,
        };
        if let Some(problem) = problem {
            self.note(file, &value.span(), &problem);
        }
        match value.get_ref() {
            DeValue::Array(values) => {
                values.iter().for_each(|it| self.check_value(tables, file, field, it));
            }
            DeValue::Table(table) => {
                table
                    .iter()
                    .for_each(|(key, it)| self.check_value(tables, file, key.get_ref(), it));
            }
            _ => {}
        }
    }
}

/// What items raise.
const RAISED: [&str; 5] = ["damage", "armour", "health", "speed", "mana"];

/// A text of a table; empty without one.
fn text_of<'v>(table: &'v Spanned<DeValue<'_>>, field: &str) -> &'v str {
    table.get_ref().as_table().map_or("", |table| text(table, field))
}

fn text<'v>(table: &'v DeTable<'_>, field: &str) -> &'v str {
    table.get(field).and_then(|it| it.get_ref().as_str()).unwrap_or_default()
}

fn is_caster(monster: &DeTable<'_>) -> bool {
    let behaviour = monster.get("behaviour").and_then(|it| it.get_ref().as_str());
    behaviour == Some("caster")
}

fn out_of_range(file: usize, field: &str, number: &str) -> Option<String> {
    // Items and talents raise by per cent, and need not raise everything.
    let is_raised = match file {
        1 => RAISED.contains(&field),
        TALENTS => !["share_m", "levels"].contains(&field),
        _ => false,
    };
    let range = if is_raised { 0.0..=1_000.0 } else { allowed(field) };
    let is_in = number.parse().is_ok_and(|number: f64| range.contains(&number));
    let least = range.start();
    let most = range.end();
    (!is_in).then(|| format!("`{field}` must be from {least} to {most}"))
}
