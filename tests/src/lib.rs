//! What the project's tests stand on: the simulator ([`sim`]), the oracle of interest ([`oracle`]) and real processes ([`real`]).

pub mod oracle;
pub mod real;
pub mod sim;
