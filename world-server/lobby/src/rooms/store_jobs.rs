//! The requests of rooms that the shell passes on to the store.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use ambit_proto::ids::RoomId;

use crate::output::HostId;
use crate::store_job::StoreOutcome;

/// Rooms whose last requests may be under way.
const MAX_CLOSED: usize = 1_024;
/// Claims of a room that wait for another one.
const MAX_HELD: usize = 1_024;

/// The requests that the shell has, and what is known of those that come again.
#[derive(Debug, Default)]
pub(super) struct StoreJobs {
    pub(super) by_room: BTreeMap<RoomId, RoomJobs>,
    /// Rooms whose players know that the store does not work.
    pub(super) told: BTreeSet<RoomId>,
    /// Rooms that were closed lately, the oldest first.
    closed: VecDeque<ClosedRoom>,
}

/// Of one room.
#[derive(Debug, Default)]
pub(super) struct RoomJobs {
    pub(super) running: BTreeSet<(u32, u64)>,
    /// Claims of profiles that other rooms have.
    pub(super) held: BTreeMap<(u32, u64), HeldClaim>,
}

/// A claim of a profile that another room has.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HeldClaim {
    /// The number of the claim that it waits for.
    pub(super) holder: u64,
    /// How often that was the answer.
    pub(super) times: u32,
    /// How often in a row, while each room of the game could write what it has.
    pub(super) in_peace: u32,
}

/// A room that was closed: its host may have what it wanted written last.
#[derive(Debug)]
struct ClosedRoom {
    room: RoomId,
    host: HostId,
    game: String,
}

impl RoomJobs {
    /// Another room has the profile; `can_write` says whether each room of the game has a host now.
    /// Returns how often that was the answer.
    pub(super) fn note_held(&mut self, number: (u32, u64), holder: u64, can_write: bool) -> u32 {
        if self.held.len() >= MAX_HELD && !self.held.contains_key(&number) {
            self.held.pop_first();
        }
        let held = self.held.entry(number).or_default();
        if held.holder != holder {
            *held = HeldClaim { holder, ..HeldClaim::default() };
        }
        held.times += 1;
        held.in_peace = if can_write { held.in_peace + 1 } else { 0 };
        held.times
    }

    /// The store does not work, so no room could write anything.
    pub(super) fn note_unavailable(&mut self, number: (u32, u64)) {
        if let Some(held) = self.held.get_mut(&number) {
            held.in_peace = 0;
        }
    }
}

impl StoreJobs {
    /// The shell has done a job, or could not.
    pub(super) fn end(&mut self, id: RoomId, number: (u32, u64), outcome: &StoreOutcome) {
        let has_failed = matches!(outcome, StoreOutcome::Unavailable);
        if let Some(jobs) = self.by_room.get_mut(&id) {
            jobs.running.remove(&number);
            if has_failed {
                jobs.note_unavailable(number);
            }
            if !has_failed && !matches!(outcome, StoreOutcome::Held { .. }) {
                jobs.held.remove(&number);
            }
            if jobs.running.is_empty() && jobs.held.is_empty() {
                self.by_room.remove(&id);
            }
        }
        let works = matches!(
            outcome,
            StoreOutcome::Done(_) | StoreOutcome::Claimed { .. } | StoreOutcome::Saved(_)
        );
        if works {
            self.told.remove(&id);
        }
    }

    /// Nothing of the room comes again.
    pub(super) fn forget(&mut self, id: RoomId) {
        self.told.remove(&id);
        self.by_room.remove(&id);
    }

    /// A host is told to close a room.
    pub(super) fn note_closed(&mut self, room: RoomId, host: HostId, game: String) {
        if self.closed.len() >= MAX_CLOSED {
            self.closed.pop_front();
        }
        self.closed.push_back(ClosedRoom { room, host, game });
    }

    /// The game of a room that this host was told to close.
    pub(super) fn closed_game(&self, room: RoomId, host: HostId) -> Option<String> {
        let is_it = |closed: &&ClosedRoom| (closed.room, closed.host) == (room, host);
        self.closed.iter().find(is_it).map(|closed| closed.game.clone())
    }
}
