//! The games that a host offers, by name.
//!
//! A name and `key=value` parameters go in; a room's configuration and its game come out, or an
//! [`OpenRoomError`] that explains to the player what is wrong. One call registers a game
//! ([`Registry::with`]); lobby and hosts know nothing else of games.
//!
//! Invariant: [`Registry::prepare`] succeeds for everything that [`Registry::check`] accepts.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use ambit_proto::codes::{self, ErrorCode};
use ambit_proto::ids::RoomId;
use ambit_proto::schema::Schema;
use serde::{Deserialize, Serialize};

use super::game::Game;
use crate::config::{
    Allowed, BadParameter, Parameter, Parameters, ROOM_PARAMETERS, RoomConfig, Surroundings,
    override_default,
};
use crate::room::Room;
use crate::room_limits::{self, Excess, RoomLimits};

pub use super::game::GameInfo;

/// Creates a game from parameters that were checked against its table and the room's.
pub type MakeGame = fn(&Parameters) -> Result<Box<dyn Game>, BadParameter>;

/// The registered games. See the module.
#[derive(Clone, Default)]
pub struct Registry {
    games: Vec<(GameInfo, MakeGame)>,
}

/// How the room was made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Name of the game.
    pub game: String,
    /// The room's id.
    pub room: u64,
    /// The room's seed.
    pub seed: u64,
    /// The number of seats.
    pub capacity: u32,
    /// Grace period, in milliseconds.
    pub grace_ms: u32,
    /// The parameters that it was created with.
    pub parameters: BTreeMap<String, String>,
}

/// Why a room cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenRoomError {
    /// No game has this name.
    #[error("there is no game {game:?}; the known ones are {known}")]
    UnknownGame {
        /// The requested name, shortened.
        game: String,
        /// All names.
        known: String,
    },
    /// A parameter is invalid.
    #[error(transparent)]
    BadParameter(#[from] BadParameter),
}

impl Registry {
    /// Adds a game.
    ///
    /// # Panics
    /// If the name is not 1 to 32 of a-z, 0-9, `_` and `-`, if a game of that name is registered
    /// already, or if the game redeclares a parameter that every room has and changes more than its
    /// default, or allows other values. All are bugs of the game.
    #[must_use]
    pub fn with(mut self, info: GameInfo, make: MakeGame) -> Self {
        let is_typeable = |c: char| matches!(c, 'a'..='z' | '0'..='9' | '_' | '-');
        assert!(
            (1..=32).contains(&info.name.len()) && info.name.chars().all(is_typeable),
            "the name of the game {:?} must consist of 1 to 32 of a-z, 0-9, `_` and `-`, so that \
             players can type it",
            info.name
        );
        assert!(self.info(info.name).is_none(), "a game {:?} is registered already", info.name);
        for parameter in info.parameters {
            let common = ROOM_PARAMETERS.iter().find(|common| common.key == parameter.key);
            let fits = common.is_none_or(|common| {
                let own = override_default(common.key, parameter.default);
                parameter.allowed.is_within(own.allowed)
                    && *parameter == Parameter { allowed: parameter.allowed, ..own }
            });
            assert!(
                fits,
                "{:?} is a parameter of every room; a game may only override its default, and \
                 allow less of it",
                parameter.key
            );
        }
        self.games.push((info, make));
        self
    }

    /// The registered games, in the order of their registration.
    pub fn games(&self) -> impl Iterator<Item = &GameInfo> {
        self.games.iter().map(|(info, _)| info)
    }

    /// One registered game.
    pub fn info(&self, game: &str) -> Option<&GameInfo> {
        self.games().find(|info| info.name == game)
    }

    /// The schema of a room without parameters; `None` for a game that has no such room.
    pub fn schema(&self, game: &str) -> Option<Schema> {
        let header = Header { game: game.to_owned(), capacity: 1, ..Header::default() };
        Some(self.prepare(&header).ok()?.1.schema())
    }

    /// The parameters that players may give for a room of a game: those of every room, with the
    /// game's own defaults, and then the game's.
    pub fn parameters(&self, game: &str) -> Option<Vec<Parameter>> {
        let own = self.info(game)?.parameters;
        let find = |key: &str| own.iter().find(|parameter| parameter.key == key);
        let common = ROOM_PARAMETERS.iter();
        let common = common.map(|parameter| *find(parameter.key).unwrap_or(parameter));
        let is_common = |key: &str| ROOM_PARAMETERS.iter().any(|parameter| parameter.key == key);
        let own = own.iter().filter(|parameter| !is_common(parameter.key));
        let all = common.chain(own.copied());
        Some(all.filter(Parameter::is_for_players).collect())
    }

    /// Whether a room of this game can be created with these parameters.
    pub fn check(
        &self,
        game: &str,
        parameters: &BTreeMap<String, String>,
    ) -> Result<(), OpenRoomError> {
        let header =
            Header { game: game.to_owned(), parameters: parameters.clone(), ..Header::default() };
        self.prepare(&header).map(|_| ())
    }

    /// A parameter with the values that some room of the game may have within these limits.
    pub fn offered(&self, limits: &RoomLimits, game: &str, parameter: &Parameter) -> Parameter {
        let by_limit = limits.largest(game, parameter.key).unwrap_or(f64::INFINITY);
        let by_objects = self.largest_within(limits, game, parameter);
        let by_objects = by_objects.map_or(f64::INFINITY, |largest| largest as f64);
        Parameter { allowed: parameter.allowed.up_to(by_limit.min(by_objects)), ..*parameter }
    }

    /// Checks whether a room of this game with `capacity` seats can be created within these limits.
    /// A refusal names what is offered ([`Registry::offered`]), and the parameters that count, each
    /// with the largest value that would do.
    pub fn check_within(
        &self,
        limits: &RoomLimits,
        game: &str,
        capacity: u32,
        parameters: &BTreeMap<String, String>,
    ) -> Result<(), OpenRoomError> {
        let exceeded = self
            .exceeded(limits, game, capacity, parameters)
            .map_err(|error| self.with_offer(error, limits, game))?;
        let Some((excess, parsed)) = exceeded else { return Ok(()) };
        let remedies = if excess.is_derived() {
            self.remedies(limits, game, capacity, parameters, &parsed)
        } else {
            Vec::new()
        };
        Err(excess.refusal(&parsed, &remedies).into())
    }

    /// The first limit that a room exceeds, with its parameters.
    fn exceeded<'l>(
        &self,
        limits: &'l RoomLimits,
        game: &str,
        capacity: u32,
        parameters: &BTreeMap<String, String>,
    ) -> Result<Option<(Excess<'l>, Parameters)>, OpenRoomError> {
        let header = Header {
            game: game.to_owned(),
            capacity,
            parameters: parameters.clone(),
            ..Header::default()
        };
        let (config, made) = self.prepare(&header)?;
        let (info, _) = self.find(game)?;
        let parsed = Parameters::parse(parameters, &[ROOM_PARAMETERS, info.parameters])?;
        let excess = limits.exceeded(game, &parsed, &config, made.planned_objects());
        Ok(excess.map(|excess| (excess, parsed)))
    }

    /// The error with the values that are offered, where it names those that are possible at all.
    fn with_offer(&self, error: OpenRoomError, limits: &RoomLimits, game: &str) -> OpenRoomError {
        let OpenRoomError::BadParameter(BadParameter::Value { key, value, .. }) = &error else {
            return error;
        };
        let declared = self.parameters(game).unwrap_or_default();
        let Some(declared) = declared.iter().find(|declared| declared.key == *key) else {
            return error;
        };
        let allowed = self.offered(limits, game, declared).allowed.to_string();
        BadParameter::Value { key, value: value.clone(), allowed }.into()
    }

    /// What makes a room possible that has too many objects, or pairs: for the seats and each whole
    /// number of the game the largest value that does, with all others as they are.
    fn remedies(
        &self,
        limits: &RoomLimits,
        game: &str,
        capacity: u32,
        given: &BTreeMap<String, String>,
        parsed: &Parameters,
    ) -> Vec<String> {
        let is_possible = |capacity: u32, given: &BTreeMap<String, String>| {
            self.exceeded(limits, game, capacity, given).is_ok_and(|excess| excess.is_none())
        };
        let mut remedies = Vec::new();
        let own = self.info(game).map_or(&[][..], |info| info.parameters);
        for parameter in own.iter().filter(|parameter| parameter.is_for_players()) {
            let Allowed::Whole { min, .. } = parameter.allowed else { continue };
            let Some(value) = parsed.whole_if_given(parameter.key) else { continue };
            let largest = largest_possible(min, value, |value| {
                let mut given = given.clone();
                given.insert(parameter.key.to_owned(), value.to_string());
                is_possible(capacity, &given)
            });
            remedies.extend(largest.map(|most| format!("{} up to {most}", parameter.key)));
        }
        let seats = largest_possible(1, capacity.into(), |seats| is_possible(seats as u32, given));
        remedies.extend(seats.map(|most| format!("capacity up to {most}")));
        remedies
    }

    /// The largest value of a whole number that a room of the game can have within the limit on
    /// objects, if its other parameters ask for the fewest; `None` if the limit refuses no value.
    /// More of a parameter makes no fewer objects.
    pub fn largest_within(
        &self,
        limits: &RoomLimits,
        game: &str,
        parameter: &Parameter,
    ) -> Option<u64> {
        let Allowed::Whole { min, max } = parameter.allowed else { return None };
        let fewest = self.fewest_objects(game)?;
        let is_possible = |value: u64| {
            let mut parameters = fewest.clone();
            parameters.insert(parameter.key.to_owned(), value.to_string());
            let planned = self.planned_objects(game, &parameters);
            planned.is_none_or(|objects| limits.allows_objects(game, objects))
        };
        if is_possible(max) {
            return None;
        }
        Some(largest_possible(min, max, is_possible).unwrap_or(min))
    }

    /// The parameters of the game that make the fewest objects, each as small as it can be.
    fn fewest_objects(&self, game: &str) -> Option<BTreeMap<String, String>> {
        let own = self.info(game)?.parameters.iter();
        let mut fewest = BTreeMap::new();
        for parameter in own.filter(|parameter| parameter.is_for_players()) {
            let Allowed::Whole { min, .. } = parameter.allowed else { continue };
            let before = self.planned_objects(game, &fewest);
            fewest.insert(parameter.key.to_owned(), min.to_string());
            if self.planned_objects(game, &fewest).is_none_or(|now| Some(now) > before) {
                // It makes more objects, or does not go with the others.
                fewest.remove(parameter.key);
            }
        }
        Some(fewest)
    }

    /// The objects that a game creates by its parameters on all maps; `None` if it refuses these.
    fn planned_objects(&self, game: &str, given: &BTreeMap<String, String>) -> Option<u64> {
        let header =
            Header { game: game.to_owned(), parameters: given.clone(), ..Header::default() };
        let (_, made) = self.prepare(&header).ok()?;
        let (info, _) = self.find(game).ok()?;
        let parameters = Parameters::parse(given, &[ROOM_PARAMETERS, info.parameters]).ok()?;
        Some(room_limits::objects_of_world(&parameters, made.planned_objects()))
    }

    /// Checks that each limit is for a parameter that a game has.
    pub fn check_limit_names(&self, limits: &RoomLimits) -> Result<(), String> {
        let games = self.games.iter();
        limits.check_names(games.map(|(info, _)| (info.name, info.parameters)))
    }

    /// The configuration and the game of the room that a header describes.
    pub fn prepare(&self, header: &Header) -> Result<(RoomConfig, Box<dyn Game>), OpenRoomError> {
        let (info, make) = self.find(&header.game)?;
        let parameters =
            Parameters::parse(&header.parameters, &[ROOM_PARAMETERS, info.parameters])?;
        let grace = Duration::from_millis(header.grace_ms.into());
        let config =
            RoomConfig::new(RoomId(header.room), header.seed, header.capacity, grace, &parameters)?;
        let game = make(&parameters)?;
        let surroundings = game.surroundings();
        let config = config.containing(surroundings, &parameters)?;
        if surroundings != Surroundings::NONE {
            config.check_kinds(surroundings, &game.schema())?;
        }
        Ok((config, game))
    }

    /// The room that a header describes, before its first tick.
    pub fn create_room(&self, header: &Header) -> Result<Room, OpenRoomError> {
        self.prepare(header).map(|(config, game)| Room::new(config, game))
    }

    fn find(&self, game: &str) -> Result<&(GameInfo, MakeGame), OpenRoomError> {
        self.games.iter().find(|(info, _)| info.name == game).ok_or_else(|| {
            OpenRoomError::UnknownGame {
                game: game.chars().take(40).collect(),
                known: self.games().map(|info| info.name).collect::<Vec<_>>().join(", "),
            }
        })
    }
}

/// The largest possible value from `min` on, below one that is not. More is not possible again.
fn largest_possible(min: u64, mut refused: u64, is_possible: impl Fn(u64) -> bool) -> Option<u64> {
    if refused <= min || !is_possible(min) {
        return None;
    }
    let mut possible = min;
    while refused - possible > 1 {
        let middle = possible + (refused - possible) / 2;
        if is_possible(middle) {
            possible = middle;
        } else {
            refused = middle;
        }
    }
    Some(possible)
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.games().map(|info| info.name)).finish()
    }
}

impl OpenRoomError {
    /// The stable error code.
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::UnknownGame { .. } => ErrorCode::UnknownGame,
            Self::BadParameter(_) => ErrorCode::BadParameter,
        }
    }
}

/// The error that the player receives.
impl From<OpenRoomError> for codes::Error {
    fn from(error: OpenRoomError) -> Self {
        codes::error(error.code(), error.to_string())
    }
}
