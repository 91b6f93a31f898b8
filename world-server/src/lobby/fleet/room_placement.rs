//! Which hosts may get a room, and the choice among them: by build, by quarantine, then by the
//! policy ([`placement`](super::placement)).

use std::collections::BTreeSet;

use ambit_proto::ids::RoomId;

use crate::lobby::Lobby;
use crate::lobby::output::HostId;
use crate::lobby::rooms::room::LobbyRoom;

impl Lobby {
    /// Chooses a host for a room, of a build that may run it ([`Lobby::retain_builds`]). Hosts in
    /// `excluded` are not used, and a suspect room gets an idle host, if there is one.
    pub(in crate::lobby) fn place_room(
        &self,
        id: RoomId,
        excluded: &BTreeSet<HostId>,
    ) -> Option<HostId> {
        let room = self.rooms.at(id);
        let mut hosts = self.hosts.candidates(&self.rooms);
        hosts.retain(|host| !excluded.contains(&host.host));
        self.retain_builds(room, &mut hosts);
        if room.suspect && hosts.iter().any(|host| host.rooms == 0 && host.has_capacity()) {
            hosts.retain(|host| host.rooms == 0);
        }
        self.placement.place(room.placement_request(), &hosts)
    }

    /// Chooses a host for a new room. If no other has capacity, a quarantined one is used, so that
    /// players do not wait for long.
    pub(in crate::lobby) fn place_new_room(&self, id: RoomId) -> Option<HostId> {
        self.place_room(id, &self.quarantined_hosts())
            .or_else(|| self.place_room(id, &BTreeSet::new()))
    }

    /// The hosts of suspect rooms.
    pub(in crate::lobby) fn quarantined_hosts(&self) -> BTreeSet<HostId> {
        self.rooms.iter().filter(|room| room.suspect).filter_map(LobbyRoom::game_host).collect()
    }
}
