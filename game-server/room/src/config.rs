//! The configuration of a room: `key=value` parameters, each declared once.
//!
//! Tables of [`Parameter`]s (the room's own, [`ROOM_PARAMETERS`], and the game's) and the player's
//! parameters go in; typed values come out, or a [`BadParameter`] that states what is allowed. No
//! other code looks up strings: the room gets a [`RoomConfig`], the game its [`Parameters`].
//!
//! A game may override the default of a room parameter ([`override_default`]): if two tables
//! declare a key, the later one counts. Its [`Surroundings`] say how far its zones reach at least
//! ([`RoomConfig::containing`]).
//!
//! Invariant: a value that came out is in the range of its declaration; a key that no table
//! declares is refused with the list of known keys. Each parameter's text states its unit.

#![warn(missing_docs, reason = "authors of games import this module")]

mod parameter;
mod surroundings;

use std::collections::BTreeMap;
use std::time::Duration;

use ambit_proto::cell::Grid;
use ambit_proto::ids::RoomId;
use ambit_proto::pose::PoseCoding;

pub use self::parameter::{Allowed, BadParameter, Parameter, Parameters};
pub use self::surroundings::Surroundings;

/// The largest number of cells of a map. The index of a room's objects takes 4 bytes for each cell.
pub const MAX_CELLS: usize = 1_000_000;

/// The largest number of seats of a room.
pub const MAX_CAPACITY: u32 = 4_096;

/// 2^64 over the golden ratio: an odd number with well mixed bits.
const MAP_SEED: u64 = 0x9e37_79b9_7f4a_7c15;

const BYTES_PER_KBIT: u32 = 125;

const LOCAL_LAG: &str = "delay";
/// In milliseconds, in games that choose their own.
const ANY_LOCAL_LAG: Allowed = Allowed::Whole { min: 0, max: 200 };

/// The parameters that every room has, whatever its game.
pub const ROOM_PARAMETERS: &[Parameter] = &[
    Parameter {
        key: "size",
        label: "Size of the map",
        default: "200x200",
        allowed: Allowed::Size { min: 10.0, max: 10_000.0 },
        about: "extent of the map, in metres; large maps take memory",
    },
    Parameter {
        key: "seed",
        label: "Random seed",
        default: "",
        allowed: Allowed::Whole { min: 0, max: u64::MAX },
        about: "seed of all random numbers: on one server, the same seed gives the same map; other \
                players are not shown it, but may guess a small one; by default the server \
                chooses it",
    },
    Parameter {
        key: "tick",
        label: "Ticks a second",
        default: "20",
        allowed: Allowed::Whole { min: 10, max: 60 },
        about: "ticks a second; more take more processor time and bytes",
    },
    Parameter {
        key: LOCAL_LAG,
        label: "Local lag",
        default: "150",
        allowed: Allowed::Whole { min: 100, max: 200 },
        about: "local lag in milliseconds: commands take effect this much later, for all players \
                at once; with less, more of them arrive late",
    },
    Parameter {
        key: "cell",
        label: "Size of a cell",
        default: "10",
        allowed: Allowed::Decimal { min: 1.0, max: 1_000.0 },
        about: "edge of a cell of the interest management, in metres; with larger cells, players \
                see farther and get more bytes",
    },
    Parameter {
        key: "inner",
        label: "Things come into sight (cells)",
        default: "1",
        allowed: Allowed::Whole { min: 1, max: 20 },
        about: "radius of the zone in which objects become visible, in cells; with a larger one, \
                players see farther and get more bytes",
    },
    Parameter {
        key: "outer",
        label: "Things stay in sight (cells)",
        default: "2",
        allowed: Allowed::Whole { min: 1, max: 40 },
        about: "radius of the zone in which visible objects stay visible (hysteresis), in cells; \
                at least inner. If both are equal, an avatar that moves to and fro across a \
                border costs messages at every step",
    },
    Parameter {
        key: "margin",
        label: "Slack at borders of cells",
        default: "1",
        allowed: Allowed::Decimal { min: 0.0, max: 500.0 },
        about: "how far an avatar must be beyond its cell's border before its zones move \
                (hysteresis), in metres; at most half a cell",
    },
    Parameter {
        key: "grace",
        label: "Wait for lost players",
        default: "",
        allowed: Allowed::Whole { min: 0, max: 600 },
        about: "how long an avatar waits for a player whose connection was lost, in seconds; by \
                default the server's value",
    },
    Parameter {
        key: "budget",
        label: "Bandwidth of a player",
        default: "256",
        allowed: Allowed::Whole { min: 32, max: 100_000 },
        about: "bandwidth limit of a client, in kbit/s; with less, distant objects get stale first",
    },
    Parameter {
        key: "quorum",
        label: "Smallest packet",
        default: "0",
        allowed: Allowed::Whole { min: 0, max: 1_000 },
        about: "bytes of poses that are worth a datagram: with less of them it waits for more, and \
                so does what comes into sight or leaves it with a pose; 0 sends at each tick",
    },
    Parameter {
        key: "hold",
        label: "Longest wait of a packet",
        default: "50",
        allowed: Allowed::Whole { min: 0, max: 100 },
        about: "how long that waits for the quorum at most, in milliseconds",
    },
    Parameter {
        key: "copies",
        label: "Copies on bad lines",
        default: "lossy",
        allowed: Allowed::Word(&["lossy", "never"]),
        about: "lossy sends twice what has a time of effect, events and what changes, on lines \
                that lose packets: it is late much more rarely, for more bytes on these lines",
    },
    Parameter {
        key: "map",
        label: "",
        default: "0",
        allowed: Allowed::Whole { min: 0, max: 63 },
        about: "index of the room's map in its world; only the server sets it",
    },
    Parameter {
        key: "lasting",
        label: "",
        default: "no",
        allowed: Allowed::Word(&["no", "yes"]),
        about: "whether the room stays without players, and sleeps meanwhile; only the server \
                sets it",
    },
    Parameter {
        key: "map-seats",
        label: "Players on one map",
        default: "",
        allowed: Allowed::Whole { min: 1, max: MAX_CAPACITY as u64 },
        about: "maximum number of players on one map, in a world of several maps; by default the \
                capacity of the room",
    },
    Parameter {
        key: "coding",
        label: "How movement is coded",
        default: "auto",
        allowed: Allowed::Word(&["auto", "plain", "shared", "fine"]),
        about: "how poses are coded for clients that do not choose: shared codes once for all \
                clients; fine codes for each client, with fewer bytes and more processor time; \
                auto chooses by the number of clients; plain is for simple clients, with many \
                bytes",
    },
];

/// A parameter of every room with the game's own default, for the game's table. A game that chooses
/// the local lag may have any, from 0 on: it predicts what players steer, and compensates for what
/// arrives late.
///
/// # Panics
/// If no room has such a parameter: a bug of the game.
pub const fn override_default(key: &str, default: &'static str) -> Parameter {
    let mut index = 0;
    while index < ROOM_PARAMETERS.len() {
        if bytes_equal(ROOM_PARAMETERS[index].key.as_bytes(), key.as_bytes()) {
            let parameter = ROOM_PARAMETERS[index];
            let is_lag = bytes_equal(key.as_bytes(), LOCAL_LAG.as_bytes());
            let allowed = if is_lag { ANY_LOCAL_LAG } else { parameter.allowed };
            return Parameter { default, allowed, ..parameter };
        }
        index += 1;
    }
    panic!("no room has such a parameter")
}

/// Like `==`, which is not available in a const function.
pub const fn bytes_equal(a: &[u8], b: &[u8]) -> bool {
    let mut index = 0;
    while index < a.len() && index < b.len() && a[index] == b[index] {
        index += 1;
    }
    index == a.len() && index == b.len()
}

/// The configuration of a room, without its game.
#[derive(Clone, Debug, PartialEq)]
pub struct RoomConfig {
    /// The room's id in the lobby.
    pub room: RoomId,
    /// Seed of all its random numbers.
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
    /// How far beyond its home cell's border an avatar must be before its zones move, in metres
    /// (hysteresis).
    pub margin_m: f32,
    /// How long an avatar waits for a player whose connection was lost.
    pub grace: Duration,
    /// The bandwidth limit of a client, in bytes a second. A game may set another one for a player
    /// (`World::set_budget`).
    pub budget_bytes_per_s: u32,
    /// When poses leave.
    pub quorum: Quorum,
    /// Whether what has a time of effect is sent twice on lines that lose packets.
    pub copies: bool,
    /// How poses are coded for clients that do not choose.
    pub coding: PoseCoding,
    /// Index of this map in its world.
    pub map: u32,
    /// Whether the room stays without players. It then sleeps: it does not tick.
    pub lasting: bool,
    /// The largest number of players.
    pub capacity: u32,
    /// Whether the room writes the ground truth (see `World::drain_trace`).
    pub trace: bool,
}

/// When poses, and the coming and going of objects with poses, leave for a client: as soon as the
/// poses have `bytes` bytes, or the oldest content has waited for `hold`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quorum {
    /// 0 for at once.
    pub bytes: u32,
    /// The longest wait.
    pub hold: Duration,
}

impl RoomConfig {
    /// The room that checked parameters describe. `seed` and `grace` are the server's choice for
    /// parameters that are not given.
    pub fn new(
        room: RoomId,
        seed: u64,
        capacity: u32,
        grace: Duration,
        parameters: &Parameters,
    ) -> Result<Self, BadParameter> {
        let (width, height) = parameters.size("size");
        let map = parameters.whole("map");
        let config = Self {
            room,
            // Each map of a world has its own random numbers.
            seed: parameters.whole_if_given("seed").unwrap_or(seed) ^ map.wrapping_mul(MAP_SEED),
            tick_hz: parameters.whole("tick") as u32,
            delay: Duration::from_millis(parameters.whole("delay")),
            width,
            height,
            cell: parameters.decimal("cell"),
            inner: parameters.whole("inner") as u16,
            outer: parameters.whole("outer") as u16,
            margin_m: parameters.decimal("margin"),
            grace: parameters.whole_if_given("grace").map_or(grace, Duration::from_secs),
            budget_bytes_per_s: parameters.whole("budget") as u32 * BYTES_PER_KBIT,
            quorum: Quorum {
                bytes: parameters.whole("quorum") as u32,
                hold: Duration::from_millis(parameters.whole("hold")),
            },
            copies: parameters.word("copies") == "lossy",
            coding: parameters.word("coding").parse().unwrap_or_default(),
            map: map as u32,
            lasting: parameters.word("lasting") == "yes",
            capacity,
            trace: false,
        };
        config.check(parameters)
    }

    /// The map and its cells.
    pub fn grid(&self) -> Grid {
        Grid::new(self.width, self.height, self.cell)
    }

    /// Checks that the values fit together. A margin that the player has not set shrinks with the
    /// cell.
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
        if parameters.is_given("map-seats") && parameters.is_declared("maps") {
            let maps = parameters.whole("maps");
            if maps < 2 {
                let problem = format!(
                    "it is for worlds of several maps, and maps={maps}: give maps=2 or more, or \
                     capacity= for the seats of the room"
                );
                return Err(BadParameter::Conflict { key: "map-seats", problem });
            }
        }
        let cells = Grid::try_new(self.width, self.height, cell).map_or(usize::MAX, Grid::cells);
        if cells > MAX_CELLS {
            let problem = format!(
                "cells of {cell} m are too small for this map: at most {MAX_CELLS} of them are \
                 possible"
            );
            return Err(BadParameter::Conflict { key: "cell", problem });
        }
        Ok(self)
    }
}

/// A room with default parameters: seed 0, 64 seats, 30 s of grace.
impl Default for RoomConfig {
    fn default() -> Self {
        let parameters = Parameters::parse(&BTreeMap::new(), &[ROOM_PARAMETERS])
            .expect("the defaults are in range");
        Self::new(RoomId(0), 0, 64, Duration::from_secs(30), &parameters)
            .expect("the defaults fit together")
    }
}

#[cfg(test)]
mod tests {
    use ambit_proto::schema::MAX_LABEL_BYTES;

    use super::*;

    #[test]
    fn players_read_a_short_label_of_what_they_may_give() {
        for parameter in ROOM_PARAMETERS.iter().filter(|parameter| parameter.is_for_players()) {
            let Parameter { key, label, .. } = parameter;
            assert!((1..=MAX_LABEL_BYTES).contains(&label.len()), "{key}: {label:?}");
        }
    }

    #[test]
    fn a_room_without_parameters_has_the_documented_defaults() {
        let config = RoomConfig::default();
        assert_eq!((config.width, config.height, config.cell), (200.0, 200.0, 10.0));
        assert_eq!((config.inner, config.outer, config.margin_m), (1, 2, 1.0));
        assert_eq!((config.tick_hz, config.delay), (20, Duration::from_millis(150)));
    }

    #[test]
    fn given_parameters_are_applied_to_the_config() {
        let config = configure(&[
            ("size", "40x30"),
            ("delay", "200"),
            ("tick", "60"),
            ("cell", "2.5"),
            ("grace", "7"),
        ])
        .unwrap();
        assert_eq!((config.width, config.height, config.cell), (40.0, 30.0, 2.5));
        assert_eq!((config.delay, config.tick_hz), (Duration::from_millis(200), 60));
        assert_eq!(config.grace, Duration::from_secs(7));
    }

    #[test]
    fn a_map_size_may_have_decimals() {
        let config =
            configure(&[("size", "57.5x140.8"), ("inner", "1"), ("outer", "1"), ("margin", "0")])
                .unwrap();
        assert_eq!((config.width, config.height), (57.5, 140.8));
        assert_eq!((config.grid().columns(), config.grid().rows()), (6, 15));
        assert_eq!((config.inner, config.outer, config.margin_m), (1, 1, 0.0));
    }

    #[test]
    fn a_budget_is_given_in_kbit_and_stored_in_bytes() {
        assert_eq!(RoomConfig::default().budget_bytes_per_s, 32_000);
        assert_eq!(configure(&[("budget", "100000")]).unwrap().budget_bytes_per_s, 12_500_000);
    }

    #[test]
    fn a_coding_is_chosen_by_its_name() {
        let coding = |word| configure(&[("coding", word)]).unwrap().coding;
        assert_eq!(RoomConfig::default().coding, PoseCoding::Auto);
        assert_eq!(["auto", "plain", "shared", "fine"].map(coding), PoseCoding::ALL);
    }

    #[test]
    fn seed_and_grace_default_to_the_server_s_values() {
        assert_eq!(configure(&[]).unwrap().seed, 5);
        assert_eq!(configure(&[]).unwrap().grace, Duration::from_secs(30));
        assert_eq!(configure(&[("seed", "18446744073709551615")]).unwrap().seed, u64::MAX);
    }

    #[test]
    fn the_error_for_an_unknown_key_lists_the_known_ones() {
        let error = configure(&[("hieght", "3")]).unwrap_err().to_string();
        assert_eq!(
            error,
            "there is no parameter \"hieght\"; the known ones are budget, cell, coding, copies, \
             delay, grace, hold, inner, map-seats, margin, outer, quorum, seed, size, tick"
        );
    }

    #[test]
    fn the_error_for_a_value_out_of_range_states_the_range() {
        let own = [override_default("delay", "50")];
        let own: &'static [Parameter] = Box::leak(Box::new(own));
        let given = [("delay".to_owned(), "0".to_owned())].into();
        let parameters = Parameters::parse(&given, &[ROOM_PARAMETERS, own]).expect("in range");
        assert_eq!(parameters.whole("delay"), 0, "a game that chooses its local lag may have none");
        check("delay", "99", "delay=99 is not possible: it must be a whole number from 100 to 200");
        check(
            "delay",
            "201",
            "delay=201 is not possible: it must be a whole number from 100 to 200",
        );
        check("tick", "ten", "tick=ten is not possible: it must be a whole number from 10 to 60");
        check("cell", "NaN", "cell=NaN is not possible: it must be a number from 1 to 1000");
        check("cell", "inf", "cell=inf is not possible: it must be a number from 1 to 1000");
        check("seed", "-1", "seed=-1 is not possible: it must be a whole number from 0 up");
        check("grace", "", "grace= is not possible: it must be a whole number from 0 to 600");
        for size in [
            "9x10", "9.99x10", "10x10001", "10", "x", "10x", "axb", "10x10x10", "1e3x10", "NaNx10",
            "10x1.1.1",
        ] {
            let expected = format!(
                "size={size} is not possible: it must be WIDTHxHEIGHT, each a number from 10 to \
                 10000"
            );
            check("size", size, &expected);
        }
        check(
            "coding",
            "Fine",
            "coding=Fine is not possible: it must be auto, plain, shared or fine",
        );
        check(
            "budget",
            "31",
            "budget=31 is not possible: it must be a whole number from 32 to 100000",
        );
    }

    #[test]
    fn an_error_message_shortens_a_long_value() {
        let error = configure(&[("tick", "9".repeat(5_000).as_str())]).unwrap_err().to_string();
        assert!(error.len() < 150, "{error}");
    }

    #[test]
    fn inconsistent_values_are_refused() {
        assert!(
            configure(&[("inner", "3")])
                .unwrap_err()
                .to_string()
                .contains("outer=2 must be at least inner=3")
        );
        assert!(
            configure(&[("margin", "6")])
                .unwrap_err()
                .to_string()
                .contains("at most half of cell=10")
        );
        assert!(
            configure(&[("size", "10000x10000"), ("cell", "9")])
                .unwrap_err()
                .to_string()
                .contains("at most 1000000")
        );
        assert!(configure(&[("size", "10000x10000"), ("cell", "10")]).is_ok());
    }

    #[test]
    fn the_default_margin_shrinks_with_the_cell() {
        assert_eq!(configure(&[("cell", "1")]).unwrap().margin_m, 0.5);
    }

    #[test]
    fn a_game_may_override_the_default_of_a_room_parameter() {
        const OWN: &[Parameter] =
            &[override_default("size", "32x20"), override_default("inner", "2")];
        let configure = |given: &[(&str, &str)]| {
            let given =
                given.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
            let parameters = Parameters::parse(&given, &[ROOM_PARAMETERS, OWN]).unwrap();
            assert_eq!(parameters.is_given("size"), !given.is_empty());
            RoomConfig::new(RoomId(1), 5, 64, Duration::from_secs(30), &parameters).unwrap()
        };
        let config = configure(&[]);
        assert_eq!((config.width, config.height, config.inner, config.outer), (32.0, 20.0, 2, 2));
        assert_eq!(configure(&[("size", "50x60")]).height, 60.0);
        let unknown =
            Parameters::parse(&[("x".to_owned(), String::new())].into(), &[ROOM_PARAMETERS, OWN])
                .unwrap_err();
        assert!(
            unknown.to_string().ends_with("margin, outer, quorum, seed, size, tick"),
            "{unknown}"
        );
    }

    fn configure(given: &[(&str, &str)]) -> Result<RoomConfig, BadParameter> {
        let given = given.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
        let parameters = Parameters::parse(&given, &[ROOM_PARAMETERS])?;
        RoomConfig::new(RoomId(1), 5, 64, Duration::from_secs(30), &parameters)
    }

    fn check(key: &str, value: &str, expected: &str) {
        assert_eq!(configure(&[(key, value)]).unwrap_err().to_string(), expected);
    }
}
