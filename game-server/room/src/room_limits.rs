//! Ceilings of an operator: how much one room may ask for on these machines.
//!
//! The tables of [`Parameter`]s say what is possible at all. An operator who lets strangers make
//! rooms allows less: each limit names a parameter, of all games or of one, and the largest value.
//! Three names are no parameters:
//!
//! - `capacity`: the seats of a room.
//! - `objects`: the objects that the game creates by its parameters
//!   (`Game::planned_objects`), on all maps of a world together.
//! - `pairs`: pairs of a player and an object that the player follows, if the seats are taken and
//!   everything is spread evenly. What a room costs grows with it: each pair may be data in each
//!   tick. A crowd in one place exceeds it, and then loses freshness by itself.
//!
//! All of it is known before a room exists, so a room that asks for too much is refused, and no
//! running room changes.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use crate::config::{BadParameter, Parameter, Parameters, ROOM_PARAMETERS, RoomConfig};

/// The names of limits that are no parameters.
const DERIVED: [&str; 3] = [CAPACITY, OBJECTS, PAIRS];
const CAPACITY: &str = "capacity";
const OBJECTS: &str = "objects";
const PAIRS: &str = "pairs";

/// The limits of a server that says nothing else. 10 Mbit/s and 5,000 objects are far more than a
/// game needs. Two million pairs keep a core more than busy; a room with all seats that are
/// possible has half as many on a map of the default size.
const DEFAULTS: [(&str, f64); 3] = [("budget", 10_000.0), (OBJECTS, 5_000.0), (PAIRS, 2_000_000.0)];

/// One limit: `tick=30`, `field.npcs=500`; `tick=off` lifts one.
#[derive(Clone, Debug, PartialEq)]
pub struct RoomLimit {
    /// The game, if it is for one alone.
    game: Option<String>,
    key: String,
    /// `None` for no limit.
    max: Option<f64>,
}

/// A limit that a room would exceed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Excess<'l> {
    key: &'l str,
    value: f64,
    max: f64,
}

/// The limits of a server.
#[derive(Clone, Debug, PartialEq)]
pub struct RoomLimits(Vec<RoomLimit>);

impl Default for RoomLimits {
    fn default() -> Self {
        let limit =
            |(key, max): (&str, f64)| RoomLimit { game: None, key: key.to_owned(), max: Some(max) };
        Self(DEFAULTS.map(limit).into())
    }
}

impl RoomLimits {
    /// The default limits with these in addition, or in their place. The later one of two for the
    /// same counts.
    pub fn with(given: &[RoomLimit]) -> Self {
        let mut all = Self::default().0;
        for limit in given {
            all.retain(|other| (&other.game, &other.key) != (&limit.game, &limit.key));
            all.push(limit.clone());
        }
        Self(all)
    }

    /// No limits.
    pub fn none() -> Self {
        Self(Vec::new())
    }

    /// Checks that each limit is for something that exists. `games` are the names of the games with
    /// their tables.
    pub fn check_names<'g>(
        &self,
        games: impl Iterator<Item = (&'g str, &'static [Parameter])> + Clone,
    ) -> Result<(), String> {
        for limit in &self.0 {
            let is_key =
                |parameter: &Parameter| parameter.key == limit.key && parameter.allowed.is_number();
            let mut tables = games
                .clone()
                .filter(|(name, _)| limit.game.as_deref().is_none_or(|game| game == *name))
                .map(|(_, table)| table)
                .peekable();
            if let (Some(game), None) = (&limit.game, tables.peek()) {
                let known: Vec<_> = games.map(|(name, _)| name).collect();
                let known = known.join(", ");
                return Err(format!(
                    "there is no game {game:?} for the limit `{limit}`; the known ones are {known}"
                ));
            }
            let is_known = DERIVED.contains(&&limit.key[..])
                || ROOM_PARAMETERS.iter().any(is_key)
                || tables.flatten().any(is_key);
            if !is_known {
                return Err(format!(
                    "the limit `{limit}` is for no parameter that is a number; it may be for one, \
                     or for {}",
                    DERIVED.join(", ")
                ));
            }
        }
        Ok(())
    }

    /// Checks a room that would have `objects` objects in addition to its players.
    pub fn check(
        &self,
        game: &str,
        parameters: &Parameters,
        config: &RoomConfig,
        objects: u64,
    ) -> Result<(), BadParameter> {
        self.exceeded(game, parameters, config, objects)
            .map_or(Ok(()), |excess| Err(excess.refusal(parameters, &[])))
    }

    /// The first limit that such a room exceeds.
    pub(crate) fn exceeded<'l>(
        &'l self,
        game: &str,
        parameters: &Parameters,
        config: &RoomConfig,
        objects: u64,
    ) -> Option<Excess<'l>> {
        let pairs = pairs(config, objects);
        for (key, max) in self.of_game(game) {
            let value = match key {
                CAPACITY => f64::from(config.capacity),
                OBJECTS => objects_of_world(parameters, objects) as f64,
                PAIRS => pairs,
                parameter => match parameters.largest(parameter) {
                    Some(value) => value,
                    None => continue,
                },
            };
            if value > max {
                return Some(Excess { key, value, max });
            }
        }
        None
    }

    /// Whether a game may create this number of objects by its parameters, on all maps together.
    pub fn allows_objects(&self, game: &str, objects: u64) -> bool {
        self.largest(game, OBJECTS).is_none_or(|max| objects as f64 <= max)
    }

    /// The largest value of a parameter of a game, or of its seats (`capacity`), if it is limited.
    pub fn largest(&self, game: &str, key: &str) -> Option<f64> {
        self.of_game(game).get(key).copied()
    }

    /// The limits that hold for a game: its own ones, and those of all games beside them.
    fn of_game(&self, game: &str) -> BTreeMap<&str, f64> {
        let is_own = |limit: &&RoomLimit| limit.game.as_deref() == Some(game);
        let common = self.0.iter().filter(|limit| limit.game.is_none());
        let mut all: BTreeMap<&str, Option<f64>> = BTreeMap::new();
        for limit in common.chain(self.0.iter().filter(is_own)) {
            all.insert(&limit.key, limit.max);
        }
        all.into_iter().filter_map(|(key, max)| Some((key, max?))).collect()
    }
}

/// The objects on all maps of a world, with this number on each.
pub(crate) fn objects_of_world(parameters: &Parameters, objects: u64) -> u64 {
    let maps = if parameters.is_declared("maps") { parameters.whole("maps") } else { 1 };
    objects.saturating_mul(maps)
}

/// Pairs of a player and an object that it follows, if they are spread evenly.
fn pairs(config: &RoomConfig, objects: u64) -> f64 {
    let seats = f64::from(config.capacity);
    let in_sight = (2.0 * f64::from(config.outer) + 1.0) * f64::from(config.cell);
    let share = (in_sight / f64::from(config.width)).min(1.0)
        * (in_sight / f64::from(config.height)).min(1.0);
    (objects as f64 + seats) * seats * share
}

impl Excess<'_> {
    /// Whether it follows from several parameters.
    pub(crate) fn is_derived(&self) -> bool {
        matches!(self.key, OBJECTS | PAIRS)
    }

    /// Why the room is refused. For what is derived, each of the remedies is enough.
    pub(crate) fn refusal(&self, parameters: &Parameters, remedies: &[String]) -> BadParameter {
        let Self { key, value, max } = *self;
        let (what, hint) = match key {
            OBJECTS => (format!("a room with {value} objects"), "ask for fewer of them".to_owned()),
            PAIRS => (
                format!("a room with {value:.0} pairs of players and objects in their sight"),
                "ask for fewer seats or objects, smaller cells, or a larger map".to_owned(),
            ),
            _ => {
                let is_default = key != CAPACITY && !parameters.is_given(key);
                let default = if is_default { " (the default)" } else { "" };
                (format!("{key}={value}{default}"), format!("ask for {key} up to {max}"))
            }
        };
        let hint = match remedies {
            [] => hint,
            _ => format!("ask for {}", remedies.join(", or ")),
        };
        BadParameter::OverLimit { what, max: max.to_string(), hint }
    }
}

impl FromStr for RoomLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "{text:?} is no limit; expected KEY=NUMBER, GAME.KEY=NUMBER or KEY=off, such as \
                 tick=30"
            )
        };
        let (name, max) = text.trim().split_once('=').ok_or_else(wrong)?;
        let (game, key) = match name.split_once('.') {
            Some((game, key)) => (Some(game.to_owned()), key),
            None => (None, name),
        };
        let max = match max {
            "off" => None,
            number => {
                let number: f64 = number.parse().map_err(|_| wrong())?;
                Some(number)
                    .filter(|max| max.is_finite() && *max >= 0.0)
                    .ok_or_else(wrong)
                    .map(Some)?
            }
        };
        if key.is_empty() || game.as_deref() == Some("") {
            return Err(wrong());
        }
        let key = key.to_owned();
        Ok(Self { game, key, max })
    }
}

impl fmt::Display for RoomLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(game) = &self.game {
            write!(f, "{game}.")?;
        }
        match self.max {
            Some(max) => write!(f, "{}={max}", self.key),
            None => write!(f, "{}=off", self.key),
        }
    }
}

impl fmt::Display for RoomLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<String> = self.0.iter().map(RoomLimit::to_string).collect();
        f.write_str(&all.join(","))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use ambit_proto::ids::RoomId;

    use super::*;
    use crate::config::Allowed;

    const FOREST: &[Parameter] = &[
        Parameter {
            key: "wolves",
            label: "",
            default: "20",
            allowed: Allowed::Whole { min: 0, max: 20_000 },
            about: "",
        },
        Parameter {
            key: "season",
            label: "",
            default: "spring",
            allowed: Allowed::Word(&["spring", "autumn"]),
            about: "",
        },
    ];

    #[test]
    fn a_limit_is_for_a_parameter_of_all_games_or_of_one() {
        let limits = limits("tick=30,wolves=100,forest.wolves=200,size=500");
        assert_eq!(check(&limits, 64, &[("tick", "30"), ("wolves", "200")]), "");
        assert_eq!(
            check(&limits, 64, &[("tick", "31")]),
            "tick=31 is too much for this server, which allows 30: ask for tick up to 30"
        );
        assert!(check(&limits, 64, &[("wolves", "201")]).contains("allows 200"));
        assert!(check(&limits, 64, &[("size", "100x501")]).contains("size=501"));
    }

    #[test]
    fn a_default_over_the_limit_is_named_as_such() {
        let message = check(&limits("tick=15"), 64, &[]);
        assert!(message.starts_with("tick=20 (the default)"), "{message}");
        assert_eq!(check(&limits("tick=15"), 64, &[("tick", "15")]), "");
    }

    #[test]
    fn budget_objects_and_pairs_are_limited_by_default() {
        let limits = RoomLimits::default();
        assert_eq!(check(&limits, 4_096, &[]), "");
        assert!(check(&limits, 64, &[("wolves", "5001")]).contains("5001 objects"));
        assert!(check(&limits, 64, &[("budget", "10001")]).contains("budget"));
        // All players see all objects: 5,064 objects for 64 players are few enough, 4,600 for
        // 600 players are not.
        let near = [("size", "100x100"), ("cell", "50")];
        let with = |wolves| [&near[..], &[("wolves", wolves)]].concat();
        assert_eq!(check(&limits, 64, &with("5000")), "");
        let message = check(&limits, 600, &with("4000"));
        assert!(message.contains("2760000 pairs"), "{message}");
        // On a large map each player sees a part of them.
        assert_eq!(check(&limits, 600, &[("wolves", "4000")]), "");
    }

    #[test]
    fn a_limit_can_be_lifted_and_replaced() {
        let lifted = limits("capacity=off,objects=off,pairs=off,budget=20000");
        let room = [("wolves", "20000"), ("budget", "20000")];
        assert_eq!(check(&lifted, 4_096, &room), "");
        assert_eq!(check(&RoomLimits::none(), 4_096, &room), "");
        assert_eq!(
            limits("capacity=5,capacity=7").to_string(),
            "budget=10000,objects=5000,pairs=2000000,capacity=7"
        );
    }

    #[test]
    fn a_limit_for_nothing_is_refused() {
        let games = || [("forest", FOREST)].into_iter();
        for good in ["tick=30", "wolves=1", "forest.wolves=1", "forest.tick=9", "pairs=5"] {
            assert_eq!(limits(good).check_names(games()), Ok(()), "{good}");
        }
        for bad in ["tik=30", "season=1", "forest.cubes=1", "desert.wolves=1"] {
            let problem = limits(bad).check_names(games()).expect_err(bad);
            assert!(problem.contains(bad), "{problem}");
        }
        for bad in ["", "tick", "tick=", "tick=-1", "tick=fast", "=3", ".a=3", "tick=inf"] {
            assert!(bad.parse::<RoomLimit>().is_err(), "{bad:?}");
        }
    }

    fn limits(text: &str) -> RoomLimits {
        let given: Result<Vec<RoomLimit>, _> = text.split(',').map(str::parse).collect();
        RoomLimits::with(&given.expect("limits"))
    }

    /// Why the game `forest` is refused; nothing if it is not.
    fn check(limits: &RoomLimits, capacity: u32, given: &[(&str, &str)]) -> String {
        let given =
            given.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let parameters = Parameters::parse(&given, &[ROOM_PARAMETERS, FOREST]).expect("in range");
        let grace = Duration::from_secs(30);
        let config = RoomConfig::new(RoomId(1), 0, capacity, grace, &parameters).expect("fits");
        let objects = parameters.whole("wolves");
        limits
            .check("forest", &parameters, &config, objects)
            .map_or_else(|error| error.to_string(), |()| String::new())
    }
}
