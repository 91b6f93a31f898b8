//! Rooms of the shipped games: gates between maps, saved and restored rooms, loads of cells.

mod gates;
mod loads;
mod recorded;
mod restored;

use std::time::Duration;

use ambit_proto::ids::PlayerId;

const ANN: PlayerId = PlayerId(1);
const TICK: Duration = Duration::from_millis(50);
