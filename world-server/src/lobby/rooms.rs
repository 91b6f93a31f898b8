//! Rooms as the lobby knows them: members, seats, phases, listings, and the way into a game.

mod limits;
pub(super) mod listing;
pub(super) mod membership;
pub(super) mod room;
pub(super) mod running;
pub(super) mod seats;
pub(super) mod seed;
pub(super) mod unplayed;
