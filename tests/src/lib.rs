//! What the project's tests share: the simulator ([`sim`]), oracles for interest and poses
//! ([`oracle`]), test games ([`aborting_game`], [`bouncing_balls`], [`counting_game`],
//! [`crowd_game`], [`greeting_game`], [`hoarding_game`], [`levers_game`], [`looping_game`],
//! [`rolling_cubes`], [`slow_game`], [`walking_crowd`]), a room with measurements of its clients
//! ([`measured_room`]), `cubes` with scripted players ([`cube_players`]), the comparison of schemes
//! that synchronise physics ([`physics_sync`]), players who shoot at each other ([`shooting`]), the
//! figures of benches ([`data_file`]), fuzz targets ([`fuzz`]) and real processes ([`real`]).

pub mod aborting_game;
pub mod bouncing_balls;
pub mod counting_game;
pub mod crowd_game;
pub mod cube_players;
pub mod data_file;
pub mod fuzz;
pub mod greeting_game;
pub mod hoarding_game;
pub mod levers_game;
pub mod looping_game;
pub mod measured_room;
pub mod oracle;
pub mod others_ships;
pub mod physics_sync;
pub mod real;
pub mod rolling_cubes;
pub mod shooting;
pub mod sim;
pub mod slow_game;
pub mod walking_crowd;
pub mod wallet_game;

/// How much a test does: with `AMBIT_LONG_TESTS` its long form, which finds what is rare.
pub fn short_or_long<T>(short: T, long: T) -> T {
    if std::env::var_os("AMBIT_LONG_TESTS").is_some() { long } else { short }
}
