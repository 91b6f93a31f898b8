//! Rooms and sessions that survive the end of this process (`--keep`).
//!
//! What the lobby writes for the next leader of a cluster, and the checkpoints of rooms, go into
//! one log. `log` is its format and what it restores to, `planner` decides what is written when,
//! and `waiting` has what waits for that. `starts` finds rooms that end the process. These are
//! pure. `keeper` is the shell of a server without a cluster: threads that write and sync
//! files. A cluster has the lobby's records in its directory, and each room's part of the log as an
//! object in JetStream (`cluster/kept_rooms.rs`).
//!
//! Nothing waits for the log: not the lobby, not a room, and no confirmation. (Only a start after
//! one that did not finish waits until the disk has which room is tried.) If the log is late or
//! fails, players notice nothing; what is written again once it works begins with a snapshot.

pub(crate) mod keeper;
pub mod log;
pub(crate) mod planner;
pub(crate) mod starts;
mod waiting;
