//! What a room is created with: `key=value` parameters, each declared once.
//!
//! A table of [`Parameter`]s (the room's own, [`ROOM`], and the game's) and what a player wrote go in, typed values come out,
//! or a [`BadParameter`] that says what is allowed. Nothing else looks up strings: the room gets a [`RoomConfig`], the
//! game its [`Parameters`].
//!
//! Invariant: a value that came out lies in the range of its declaration; a key that no table declares is refused with
//! the list of those that are known. Units stand in each parameter's text.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use ambit_proto::cell::Grid;
use ambit_proto::ids::RoomId;

/// Cells of a map at most: what the index of a room's objects takes for an empty map (4 bytes each) stays small.
pub const MAX_CELLS: usize = 1_000_000;

/// What every room understands, whatever its game.
pub const ROOM: &[Parameter] = &[
    Parameter {
        key: "size",
        default: "200x200",
        allowed: Allowed::Size { min: 10, max: 10_000 },
        about: "extent of the map, in metres; large maps take memory",
    },
    Parameter {
        key: "seed",
        default: "",
        allowed: Allowed::Whole { min: 0, max: u64::MAX },
        about: "where all chance comes from: the same seed, the same map; chosen by the server if not given",
    },
    Parameter {
        key: "tick",
        default: "20",
        allowed: Allowed::Whole { min: 10, max: 60 },
        about: "ticks a second; more take more processor time and bytes",
    },
    Parameter {
        key: "delay",
        default: "150",
        allowed: Allowed::Whole { min: 100, max: 200 },
        about: "local lag in milliseconds: commands take effect so much later, for everybody at once; less makes more of them late",
    },
    Parameter {
        key: "cell",
        default: "10",
        allowed: Allowed::Decimal { min: 1.0, max: 1_000.0 },
        about: "edge of a cell of the interest management, in metres; larger ones are seen farther and cost more bytes",
    },
    Parameter {
        key: "inner",
        default: "1",
        allowed: Allowed::Whole { min: 1, max: 20 },
        about: "radius of the zone in which objects are announced, in cells; more are seen farther and cost more bytes",
    },
    Parameter {
        key: "outer",
        default: "2",
        allowed: Allowed::Whole { min: 1, max: 40 },
        about: "radius of the zone in which they go on being followed, in cells; at least inner. If both are the same, whoever \
                paces along a border costs messages at every step",
    },
    Parameter {
        key: "margin",
        default: "1",
        allowed: Allowed::Decimal { min: 0.0, max: 500.0 },
        about: "how far an avatar must be beyond its cell's border before its zones move, in metres; at most half a cell",
    },
    Parameter {
        key: "grace",
        default: "",
        allowed: Allowed::Whole { min: 0, max: 600 },
        about: "how long an avatar waits for a player whose connection broke, in seconds; the server's own if not given",
    },
];

/// A knob: its name, what it is if nobody turns it, how far it may be turned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// As in `key=value`.
    pub key: &'static str,
    /// As a player would write it; empty for a value that somebody else chooses.
    pub default: &'static str,
    /// What may be given.
    pub allowed: Allowed,
    /// What it is, its unit, and what raising it costs.
    pub about: &'static str,
}

/// The values that a parameter may take; all bounds are included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Allowed {
    /// A whole number.
    Whole {
        /// The lowest.
        min: u64,
        /// The highest.
        max: u64,
    },
    /// A number.
    Decimal {
        /// The lowest.
        min: f32,
        /// The highest.
        max: f32,
    },
    /// Two whole numbers, `WIDTHxHEIGHT`.
    Size {
        /// The lowest of each.
        min: u32,
        /// The highest of each.
        max: u32,
    },
}

/// Why a room can't be made with these parameters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadParameter {
    /// Nobody knows the key.
    #[error("there is no parameter {key:?}; the known ones are {known}")]
    Unknown {
        /// As given, shortened.
        key: String,
        /// All keys.
        known: String,
    },
    /// The value is out of range, or of another type.
    #[error("{key}={value} is not possible: it must be {allowed}")]
    Value {
        /// The key.
        key: &'static str,
        /// As given, shortened.
        value: String,
        /// What is possible.
        allowed: String,
    },
    /// The value does not go with another one.
    #[error("{key} does not fit: {problem}")]
    Conflict {
        /// The key to change.
        key: &'static str,
        /// What is wrong, and what would be right.
        problem: String,
    },
}

/// Checked parameters, read by name and type.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parameters {
    /// One entry for each declared key; `None` where the default is empty and nothing was given.
    values: BTreeMap<&'static str, Entry>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Entry {
    value: Option<Value>,
    given: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Value {
    Whole(u64),
    Decimal(f32),
    Size(u32, u32),
}

impl Parameters {
    /// Checks what was given against the tables.
    pub fn parse(given: &BTreeMap<String, String>, tables: &[&'static [Parameter]]) -> Result<Self, BadParameter> {
        let declared = || tables.iter().copied().flatten();
        if let Some(key) = given.keys().find(|key| declared().all(|parameter| parameter.key != key.as_str())) {
            let mut known: Vec<_> = declared().map(|parameter| parameter.key).collect();
            known.sort_unstable();
            return Err(BadParameter::Unknown { key: shown(key), known: known.join(", ") });
        }
        let mut values = BTreeMap::new();
        for parameter in declared() {
            let text = given.get(parameter.key).map(String::as_str);
            values.insert(parameter.key, Entry { value: parameter.read(text)?, given: text.is_some() });
        }
        Ok(Self { values })
    }

    /// A declared whole number.
    ///
    /// # Panics
    /// When `key` is not declared as one with a default, as for the other readers: a mistake of the game's.
    pub fn whole(&self, key: &str) -> u64 {
        self.whole_if_given(key).unwrap_or_else(|| panic!("the parameter {key} has no default"))
    }

    /// A declared whole number that has no default.
    pub fn whole_if_given(&self, key: &str) -> Option<u64> {
        self.value(key).map(|value| match value {
            Value::Whole(number) => number,
            other => panic!("the parameter {key} is not a whole number: {other:?}"),
        })
    }

    /// A declared number.
    pub fn decimal(&self, key: &str) -> f32 {
        match self.value(key) {
            Some(Value::Decimal(number)) => number,
            other => panic!("the parameter {key} is not a number with a default: {other:?}"),
        }
    }

    /// A declared width and height.
    pub fn size(&self, key: &str) -> (u32, u32) {
        match self.value(key) {
            Some(Value::Size(width, height)) => (width, height),
            other => panic!("the parameter {key} is not a size with a default: {other:?}"),
        }
    }

    /// Whether a player has set this.
    pub fn is_given(&self, key: &str) -> bool {
        self.entry(key).given
    }

    fn value(&self, key: &str) -> Option<Value> {
        self.entry(key).value
    }

    fn entry(&self, key: &str) -> &Entry {
        self.values.get(key).unwrap_or_else(|| panic!("no table declares the parameter {key}"))
    }
}

impl Parameter {
    fn read(&self, given: Option<&str>) -> Result<Option<Value>, BadParameter> {
        let text = given.unwrap_or(self.default);
        if given.is_none() && text.is_empty() {
            return Ok(None);
        }
        let bad = || BadParameter::Value { key: self.key, value: shown(text), allowed: self.allowed.to_string() };
        self.allowed.read(text.trim()).map(Some).ok_or_else(bad)
    }
}

impl Allowed {
    fn read(self, text: &str) -> Option<Value> {
        match self {
            Self::Whole { min, max } => {
                let number = text.parse().ok()?;
                (min..=max).contains(&number).then_some(Value::Whole(number))
            }
            Self::Decimal { min, max } => {
                let number = text.parse().ok()?;
                (min..=max).contains(&number).then_some(Value::Decimal(number))
            }
            Self::Size { min, max } => {
                let (width, height) = text.split_once(['x', 'X'])?;
                let (width, height) = (width.parse().ok()?, height.parse().ok()?);
                let fits = (min..=max).contains(&width) && (min..=max).contains(&height);
                fits.then_some(Value::Size(width, height))
            }
        }
    }
}

impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole { min, max: u64::MAX } => write!(f, "a whole number from {min} up"),
            Self::Whole { min, max } => write!(f, "a whole number from {min} to {max}"),
            Self::Decimal { min, max } => write!(f, "a number from {min} to {max}"),
            Self::Size { min, max } => write!(f, "WIDTHxHEIGHT, each a whole number from {min} to {max}"),
        }
    }
}

/// What a room is, apart from its game.
#[derive(Clone, Debug, PartialEq)]
pub struct RoomConfig {
    /// Its id in the lobby.
    pub room: RoomId,
    /// Where all its chance comes from.
    pub seed: u64,
    /// Ticks a second.
    pub tick_hz: u32,
    /// The local lag.
    pub delay: Duration,
    /// Extent of the map along x, in metres.
    pub width: f32,
    /// Extent of the map along y, in metres.
    pub height: f32,
    /// Edge of a cell, in metres.
    pub cell: f32,
    /// Radius of the inner zone, in cells.
    pub inner: u16,
    /// Radius of the outer zone, in cells; at least `inner`.
    pub outer: u16,
    /// How far beyond its home cell's border an avatar must be for its zones to move, in metres.
    pub margin_m: f32,
    /// How long an avatar waits for a player whose connection broke.
    pub grace: Duration,
    /// Seats.
    pub capacity: u32,
    /// Whether the room says what really happened (see `World::drain_trace`).
    pub trace: bool,
}

impl RoomConfig {
    /// The room that checked parameters describe; `seed` and `grace` are the server's choice for where they don't say.
    pub fn new(
        room: RoomId,
        seed: u64,
        capacity: u32,
        grace: Duration,
        parameters: &Parameters,
    ) -> Result<Self, BadParameter> {
        let (width, height) = parameters.size("size");
        let config = Self {
            room,
            seed: parameters.whole_if_given("seed").unwrap_or(seed),
            tick_hz: parameters.whole("tick") as u32,
            delay: Duration::from_millis(parameters.whole("delay")),
            width: width as f32,
            height: height as f32,
            cell: parameters.decimal("cell"),
            inner: parameters.whole("inner") as u16,
            outer: parameters.whole("outer") as u16,
            margin_m: parameters.decimal("margin"),
            grace: parameters.whole_if_given("grace").map_or(grace, Duration::from_secs),
            capacity,
            trace: false,
        };
        config.check(parameters)
    }

    /// The map and its cells.
    pub fn grid(&self) -> Grid {
        Grid::new(self.width, self.height, self.cell)
    }

    /// Whether the values go together; where the player has not chosen the margin, it shrinks with the cell.
    fn check(mut self, parameters: &Parameters) -> Result<Self, BadParameter> {
        let Self { inner, outer, cell, .. } = self;
        if outer < inner {
            let problem = format!("outer={outer} must be at least inner={inner}");
            return Err(BadParameter::Conflict { key: "outer", problem });
        }
        if !parameters.is_given("margin") {
            self.margin_m = self.margin_m.min(cell / 2.0);
        }
        if self.margin_m > cell / 2.0 {
            let problem = format!("margin={} must be at most half of cell={cell}", self.margin_m);
            return Err(BadParameter::Conflict { key: "margin", problem });
        }
        let cells = Grid::try_new(self.width, self.height, cell).map_or(usize::MAX, Grid::cells);
        if cells > MAX_CELLS {
            let problem =
                format!("cells of {cell} m are too small for this map: at most {MAX_CELLS} of them are possible");
            return Err(BadParameter::Conflict { key: "cell", problem });
        }
        Ok(self)
    }
}

/// The room that nobody has turned a knob of: seed 0, 64 seats, 30 s of grace.
impl Default for RoomConfig {
    fn default() -> Self {
        let parameters = Parameters::parse(&BTreeMap::new(), &[ROOM]).expect("the defaults are in range");
        Self::new(RoomId(0), 0, 64, Duration::from_secs(30), &parameters).expect("the defaults go together")
    }
}

/// What somebody else wrote, short enough for a message.
fn shown(text: &str) -> String {
    const MAX_CHARS: usize = 40;
    let mut shown: String = text.chars().take(MAX_CHARS).collect();
    if shown.len() < text.len() {
        shown.push_str("...");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_room_without_parameters_is_that_of_the_reference() {
        let config = RoomConfig::default();
        assert_eq!((config.width, config.height, config.cell), (200.0, 200.0, 10.0));
        assert_eq!((config.inner, config.outer, config.margin_m), (1, 2, 1.0));
        assert_eq!((config.tick_hz, config.delay), (20, Duration::from_millis(150)));
    }

    #[test]
    fn what_a_player_writes_is_what_the_room_gets() {
        let config =
            configure(&[("size", "40x30"), ("delay", "200"), ("tick", "60"), ("cell", "2.5"), ("grace", "7")]).unwrap();
        assert_eq!((config.width, config.height, config.cell), (40.0, 30.0, 2.5));
        assert_eq!((config.delay, config.tick_hz), (Duration::from_millis(200), 60));
        assert_eq!(config.grace, Duration::from_secs(7));
    }

    #[test]
    fn the_server_chooses_the_seed_and_the_grace_period_where_the_player_does_not() {
        assert_eq!(configure(&[]).unwrap().seed, 5);
        assert_eq!(configure(&[]).unwrap().grace, Duration::from_secs(30));
        assert_eq!(configure(&[("seed", "18446744073709551615")]).unwrap().seed, u64::MAX);
    }

    #[test]
    fn an_unknown_key_is_answered_with_the_known_ones() {
        let error = configure(&[("hieght", "3")]).unwrap_err().to_string();
        assert_eq!(
            error,
            "there is no parameter \"hieght\"; the known ones are cell, delay, grace, inner, margin, outer, seed, size, tick"
        );
    }

    #[test]
    fn a_value_out_of_range_is_answered_with_what_is_allowed() {
        check("delay", "99", "delay=99 is not possible: it must be a whole number from 100 to 200");
        check("delay", "201", "delay=201 is not possible: it must be a whole number from 100 to 200");
        check("tick", "ten", "tick=ten is not possible: it must be a whole number from 10 to 60");
        check("cell", "NaN", "cell=NaN is not possible: it must be a number from 1 to 1000");
        check("cell", "inf", "cell=inf is not possible: it must be a number from 1 to 1000");
        check("seed", "-1", "seed=-1 is not possible: it must be a whole number from 0 up");
        check("grace", "", "grace= is not possible: it must be a whole number from 0 to 600");
        for size in ["9x10", "10x10001", "10", "x", "10x", "axb", "10x10x10", "1e3x10"] {
            let expected =
                format!("size={size} is not possible: it must be WIDTHxHEIGHT, each a whole number from 10 to 10000");
            check("size", size, &expected);
        }
    }

    #[test]
    fn a_message_repeats_only_the_beginning_of_what_is_long() {
        let error = configure(&[("tick", "9".repeat(5_000).as_str())]).unwrap_err().to_string();
        assert!(error.len() < 150, "{error}");
    }

    #[test]
    fn values_that_do_not_go_together_are_refused() {
        assert!(configure(&[("inner", "3")]).unwrap_err().to_string().contains("outer=2 must be at least inner=3"));
        assert!(configure(&[("margin", "6")]).unwrap_err().to_string().contains("at most half of cell=10"));
        assert!(
            configure(&[("size", "10000x10000"), ("cell", "9")]).unwrap_err().to_string().contains("at most 1000000")
        );
        assert!(configure(&[("size", "10000x10000"), ("cell", "10")]).is_ok());
    }

    #[test]
    fn a_margin_that_nobody_chose_shrinks_with_the_cell() {
        assert_eq!(configure(&[("cell", "1")]).unwrap().margin_m, 0.5);
    }

    fn configure(given: &[(&str, &str)]) -> Result<RoomConfig, BadParameter> {
        let given = given.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
        let parameters = Parameters::parse(&given, &[ROOM])?;
        RoomConfig::new(RoomId(1), 5, 64, Duration::from_secs(30), &parameters)
    }

    fn check(key: &str, value: &str, expected: &str) {
        assert_eq!(configure(&[(key, value)]).unwrap_err().to_string(), expected);
    }
}
