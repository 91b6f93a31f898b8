//! The hosts and what runs on them: which host gets a room, what happens when one is lost, and how
//! many child processes there are.

pub(super) mod failover;
pub(super) mod heartbeats;
mod host_ticket_time;
pub(super) mod hosts;
pub(super) mod placement;
pub(super) mod policy;
pub(super) mod pool;
pub(super) mod releases;
pub(super) mod restored;
mod room_placement;
pub(super) mod silence;
