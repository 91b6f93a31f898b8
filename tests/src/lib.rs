//! What the project's tests stand on: the simulator ([`sim`]), the oracles of interest and of poses
//! ([`oracle`]), games with much motion ([`tumble`], [`throng`]), `cubes` played by hand
//! ([`hands`]), the ruler for synchronised physics ([`ruler`]), what fuzzing runs ([`fuzz`]) and
//! real processes ([`real`]).

pub mod cubes;
pub mod fuzz;
pub mod hands;
pub mod oracle;
pub mod real;
pub mod ruler;
pub mod sim;
pub mod tally;
pub mod throng;
pub mod tumble;
