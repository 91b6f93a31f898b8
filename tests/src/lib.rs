//! What the project's tests stand on: the simulator ([`sim`]), the oracles of interest and of poses
//! ([`oracle`]), games with much motion ([`tumble`], [`throng`]), `cubes` played by hand
//! ([`hands`]), the ruler for synchronised physics ([`ruler`]), what fuzzing runs ([`fuzz`]) and
//! real processes ([`real`]).

pub mod counting_game;
pub mod crowd_game;
pub mod cube_players;
pub mod fuzz;
pub mod measured_room;
pub mod oracle;
pub mod physics_sync;
pub mod real;
pub mod rolling_cubes;
pub mod sim;
