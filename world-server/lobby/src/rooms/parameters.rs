//! The parameters of rooms that the lobby reads itself, beside those of their games.

use std::collections::BTreeMap;

use ambit_proto::control::world;
use ambit_room::config::MAX_CAPACITY;

/// Whether a start requires that all players are ready. Games do not know it.
pub(crate) const READY: &str = "ready";
const READY_VALUES: [&str; 2] = ["optional", "required"];
/// The maximum number of players on one map. By default the capacity of the world.
pub(crate) const MAP_SEATS: &str = "map-seats";
/// The number of the map in its world. Only the lobby sets it.
pub(crate) const MAP: &str = "map";
/// Whether the room stays without players. Only the lobby sets it.
pub(crate) const LASTING: &str = "lasting";

/// Checks the lobby's own parameters of a new room.
pub(crate) fn check_parameters(parameters: &BTreeMap<String, String>) -> Result<(), String> {
    if parameters.get(READY).is_some_and(|value| !READY_VALUES.contains(&value.as_str())) {
        return Err(format!("{READY}= takes one of: {}", READY_VALUES.join(", ")));
    }
    if parameters.contains_key(MAP) {
        return Err(format!("{MAP}= is the server's own: a world begins with its first map"));
    }
    if parameters.contains_key(LASTING) {
        return Err(format!("{LASTING}= is the server's own: it follows from the game"));
    }
    match parameters.get(MAP_SEATS) {
        Some(value) if !is_seats(value) => Err(format!(
            "{MAP_SEATS}= takes a whole number from 1 to {MAX_CAPACITY}, not {:?}",
            value.chars().take(20).collect::<String>()
        )),
        _ => Ok(()),
    }
}

fn is_seats(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_digit())
        && value.parse().is_ok_and(|seats| (1..=MAX_CAPACITY).contains(&seats))
}

/// Whether a start requires that all players are ready.
pub(crate) fn requires_ready(parameters: &BTreeMap<String, String>) -> bool {
    parameters.get(READY).is_some_and(|value| value == READY_VALUES[1])
}

/// The parameters that the game gets.
pub(crate) fn parameters_of_game(
    parameters: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    parameters
        .iter()
        .filter(|(name, _)| *name != READY && *name != MAP_SEATS)
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// The description of `ready`, for players.
pub(crate) fn ready_parameter() -> world::Parameter {
    let words = READY_VALUES.map(str::to_owned).into();
    world::Parameter {
        key: READY.to_owned(),
        label: "Players must be ready".to_owned(),
        default_value: READY_VALUES[0].to_owned(),
        about: "whether a start needs all players to be ready".to_owned(),
        allowed: Some(world::parameter::Allowed::Word(world::Words { words })),
    }
}
