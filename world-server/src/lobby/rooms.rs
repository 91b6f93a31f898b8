//! Rooms as the lobby knows them: members, seats, phases, listings, and the way into a game.

pub(super) mod bans;
mod limits;
pub(super) mod listing;
pub(super) mod membership;
mod operated;
pub(super) mod parameters;
pub(super) mod password_guesses;
pub(super) mod quick_join;
pub(super) mod release;
pub(super) mod room;
pub(super) mod running;
pub(super) mod seats;
pub(super) mod seed;
pub(super) mod store_jobs;
pub(super) mod stored;
pub(super) mod stored_password;
pub(super) mod unplayed;
mod waiting_members;
