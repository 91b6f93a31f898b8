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
use std::time::Duration;

use ambit_proto::ids::RoomId;
use ambit_proto::time::LocalTime;

use crate::config::LobbyConfig;
use crate::output::HostId;
use crate::rooms::room::{LobbyRoom, LobbyRooms, RoomLife, RoomPhase};

/// The rooms that were in the newest reports of their hosts, and since when.
#[derive(Debug, Default)]
pub(super) struct UnplayedRooms(BTreeMap<RoomId, UnplayedSince>);

#[derive(Clone, Copy, Debug)]
struct UnplayedSince {
    host: HostId,
    at: LocalTime,
}

impl UnplayedRooms {
    /// A player has joined the room: its time begins again.
    pub(super) fn forget(&mut self, room: RoomId) {
        self.0.remove(&room);
    }

    /// Handles a host's report of its rooms without a client. Returns the worlds that are
    /// abandoned, and for how long each may be.
    pub(super) fn note_report(
        &mut self,
        now: LocalTime,
        host: HostId,
        reported: &[RoomId],
        rooms: &LobbyRooms,
        config: &LobbyConfig,
    ) -> Vec<(RoomId, Duration)> {
        let runs_there = |id: &RoomId| {
            rooms.get(*id).is_some_and(|room| room.run.phase == RoomPhase::Running { host })
        };
        let reported: BTreeSet<RoomId> = reported.iter().copied().filter(runs_there).collect();
        self.0.retain(|id, since| {
            if since.host == host {
                reported.contains(id)
            } else {
                rooms.get(*id).and_then(LobbyRoom::game_host) == Some(since.host)
            }
        });
        for &id in &reported {
            self.0.entry(id).or_insert(UnplayedSince { host, at: now });
        }
        let worlds: BTreeSet<RoomId> = reported.iter().map(|id| rooms.at(*id).world_id()).collect();
        let abandoned = worlds.into_iter().filter_map(|world| {
            let limit = limit_of(rooms.at(world), config)?;
            self.is_abandoned(now, rooms.at(world), limit).then_some((world, limit))
        });
        abandoned.collect()
    }

    fn is_abandoned(&self, now: LocalTime, world: &LobbyRoom, limit: Duration) -> bool {
        let is_overdue = |id: RoomId| {
            let since = self.0.get(&id);
            since.is_some_and(|since| since.at + limit <= now)
        };
        !world.has_transfers() && world.all_maps().all(is_overdue)
    }
}

/// How long the world may be without players; `None` for good.
fn limit_of(world: &LobbyRoom, config: &LobbyConfig) -> Option<Duration> {
    let abandoned = match world.settings.life {
        RoomLife::WhilePlayed => config.abandoned,
        RoomLife::Lasting => config.unplayed,
        RoomLife::Operated => None,
    };
    Some(abandoned?.max(config.grace))
}
