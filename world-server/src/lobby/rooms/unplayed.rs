//! Running rooms without connected players: they are closed after a while, so that their hosts have
//! capacity for others.
//!
//! Hosts report once a second to which rooms no client is connected (`HostStats.unplayed_rooms`). A
//! world is abandoned when each of its rooms has been in all reports of its host for the configured
//! time, and no player is in transfer between them. Only such a report closes a room, so a host
//! that is silent, or not connected yet, closes none. The time begins again when a room changes
//! hosts, when another lobby has taken over, and when a player joins. It is never shorter than the
//! grace period, in which a player comes back. Rooms that last have a far longer time, and those of
//! the operator's list none.
//!
//! Cost of a report: proportional to the rooms in it, and to all unplayed rooms.

use std::collections::{BTreeMap, BTreeSet};

use ambit_proto::codes::ErrorCode;
use ambit_proto::ids::RoomId;
use ambit_proto::time::LocalTime;

use crate::lobby::Lobby;
use crate::lobby::output::HostId;
use crate::lobby::refusal::LobbyRefusal;
use crate::lobby::rooms::room::{LobbyRoom, RoomLife, RoomPhase};

/// The rooms that were in the newest reports of their hosts, and since when.
#[derive(Debug, Default)]
pub(in crate::lobby) struct UnplayedRooms(BTreeMap<RoomId, UnplayedSince>);

#[derive(Clone, Copy, Debug)]
struct UnplayedSince {
    host: HostId,
    at: LocalTime,
}

impl UnplayedRooms {
    /// A player has joined the room: its time begins again.
    pub(in crate::lobby) fn forget(&mut self, room: RoomId) {
        self.0.remove(&room);
    }
}

impl Lobby {
    /// Handles a host's report of its rooms without a client: closes those that are abandoned.
    pub(in crate::lobby) fn handle_unplayed_rooms(
        &mut self,
        now: LocalTime,
        host: HostId,
        reported: &[RoomId],
    ) {
        let runs_there = |id: &RoomId| {
            let room = self.rooms.get(*id);
            room.is_some_and(|room| room.phase == RoomPhase::Running { host })
        };
        let reported: BTreeSet<RoomId> = reported.iter().copied().filter(runs_there).collect();
        self.unplayed.0.retain(|id, since| {
            if since.host == host {
                reported.contains(id)
            } else {
                self.rooms.get(*id).and_then(LobbyRoom::game_host) == Some(since.host)
            }
        });
        for &id in &reported {
            let since = UnplayedSince { host, at: now };
            self.unplayed.0.entry(id).or_insert(since);
        }
        let worlds: BTreeSet<RoomId> =
            reported.iter().map(|id| self.rooms.at(*id).world_id()).collect();
        for world in worlds {
            self.close_if_abandoned(now, world);
        }
    }

    fn close_if_abandoned(&mut self, now: LocalTime, world: RoomId) {
        let abandoned = match self.rooms.at(world).life {
            RoomLife::WhilePlayed => self.config.abandoned,
            RoomLife::Lasting => self.config.unplayed,
            RoomLife::Operated => None,
        };
        let Some(abandoned) = abandoned else {
            return;
        };
        let limit = abandoned.max(self.config.grace);
        let is_overdue = |id: RoomId| {
            let since = self.unplayed.0.get(&id);
            since.is_some_and(|since| since.at + limit <= now)
        };
        let room = self.rooms.at(world);
        if room.has_transfers() || !room.all_maps().all(is_overdue) {
            return;
        }
        tracing::info!(
            room = world.0,
            "room closed: nobody has played it for {} s",
            limit.as_secs()
        );
        self.effects.counters.rooms_abandoned += 1;
        let message = format!("nobody has been connected to the game for {} s", limit.as_secs());
        self.close_room(now, world, LobbyRefusal::new(ErrorCode::RoomClosed, message));
    }
}
