//! Which hosts may get a room, and the choice among them: by build, by quarantine, then by the
//! policy ([`placement`](super::placement)).

use std::collections::BTreeSet;

use ambit_proto::ids::RoomId;

use crate::fleet::Fleet;
use crate::output::{HostId, LobbyAction, OutputQueue};
use crate::rooms::room::{LobbyRoom, LobbyRooms, RoomPhase};

impl Fleet {
    /// Chooses a host for a new room. If no other has capacity, a quarantined one is used, so that
    /// players do not wait for long.
    pub(crate) fn place_new_room(&self, rooms: &LobbyRooms, id: RoomId) -> Option<HostId> {
        self.place_room(rooms, id, &quarantined_hosts(rooms))
            .or_else(|| self.place_room(rooms, id, &BTreeSet::new()))
    }

    /// Chooses a host for a room, of a build that may run it ([`Self::retain_builds`]). Hosts in
    /// `excluded` are not used, and a suspect room gets an idle host, if there is one.
    pub(super) fn place_room(
        &self,
        rooms: &LobbyRooms,
        id: RoomId,
        excluded: &BTreeSet<HostId>,
    ) -> Option<HostId> {
        let room = rooms.at(id);
        let mut hosts = self.hosts.candidates(rooms);
        hosts.retain(|host| !excluded.contains(&host.host));
        self.retain_builds(room, &mut hosts);
        if room.run.suspect && hosts.iter().any(|host| host.rooms == 0 && host.has_capacity()) {
            hosts.retain(|host| host.rooms == 0);
        }
        self.placement.place(room.placement_request(), &hosts)
    }

    /// Chooses the restored room that is tried next, if none is, and tells the shell. Returns
    /// whether a room is to be placed.
    pub(super) fn choose_trial(&mut self, rooms: &LobbyRooms, outbox: &mut OutputQueue) -> bool {
        if !self.restored.is_trial_due() {
            return false;
        }
        let excluded = quarantined_hosts(rooms);
        let unproven = self.restored.unproven();
        let next = unproven
            .filter(|id| rooms.at(*id).run.phase == RoomPhase::Moving { host: None })
            .find(|id| self.place_room(rooms, *id, &excluded).is_some());
        if self.restored.begin_trial(next) {
            // Before the order to open it.
            outbox.push(LobbyAction::NoteTrial { room: next });
        }
        next.is_some()
    }
}

/// The hosts of suspect rooms.
pub(super) fn quarantined_hosts(rooms: &LobbyRooms) -> BTreeSet<HostId> {
    rooms.iter().filter(|room| room.run.suspect).filter_map(LobbyRoom::game_host).collect()
}
