//! The fleet: the hosts and what runs on them. Which host gets a room, which one is given up, which
//! rooms have to move, and how many child processes there are.
//!
//! [`Fleet`] decides and remembers. It gets the rooms as an argument, and returns what is to be
//! done, or puts it into the lobby's outputs; it knows no players, connections or records. The
//! files `failover`, `handovers` and `trials` carry out what concerns rooms with their players, as
//! parts of the lobby; none of them touches a field of the fleet.

pub(super) mod failover;
pub(super) mod handovers;
pub(super) mod heartbeats;
mod host_ticket_time;
pub(super) mod hosts;
pub(super) mod placement;
pub(super) mod policy;
pub(super) mod pool;
pub(super) mod releases;
mod restored;
mod room_placement;
pub(super) mod silence;
mod suspicion;
pub(super) mod trials;

use std::collections::BTreeSet;
use std::time::Duration;

use ambit_host_protocol::messages::WorldOrder;
use ambit_proto::ids::RoomId;
use ambit_proto::time::LocalTime;
use ambit_transport::quic::Fingerprint;

use crate::config::LobbyConfig;
use crate::fleet::hosts::{Host, Hosts, Origin};
use crate::fleet::placement::Placement;
use crate::fleet::pool::{ChildDemand, ChildPool};
use crate::fleet::restored::RestoredRooms;
use crate::fleet::silence::HostSilence;
use crate::output::{HostId, LobbyAction, OutputQueue};
use crate::rooms::room::LobbyRooms;

/// See the module.
pub(super) struct Fleet {
    hosts: Hosts,
    placement: Box<dyn Placement>,
    children: ChildPool,
    restored: RestoredRooms,
    /// How long a host may be silent at most.
    host_silence: Duration,
    /// Whether rooms or hosts have changed since [`Self::take_change`].
    has_changed: bool,
}

impl Fleet {
    /// A fleet without hosts.
    pub(super) fn new(config: &LobbyConfig) -> Self {
        Self {
            hosts: Hosts::default(),
            placement: config.placement.to_placement(config.children),
            children: ChildPool::new(config.children),
            restored: RestoredRooms::default(),
            host_silence: config.host_silence,
            has_changed: false,
        }
    }

    /// Rooms or hosts have changed: rooms may have to move, and children may be missing or surplus.
    pub(super) fn note_change(&mut self) {
        self.has_changed = true;
    }

    pub(super) fn has_changed(&self) -> bool {
        self.has_changed
    }

    /// Whether rooms or hosts have changed since the last call.
    pub(super) fn take_change(&mut self) -> bool {
        std::mem::take(&mut self.has_changed)
    }
}

/// The hosts.
impl Fleet {
    /// A host was started or has connected: it gets rooms once it is ready.
    pub(super) fn expect_host(&mut self, now: LocalTime, id: HostId, origin: Origin) {
        self.hosts.expect(id, origin, self.new_silence(now, origin, &[]));
    }

    /// A host is ready, or says again what it is. `unix_s` is the time by which it judges tickets,
    /// 0 if it has not said it; `own` is this server's time since 1970.
    pub(super) fn add_host(
        &mut self,
        now: LocalTime,
        id: HostId,
        mut host: Host,
        unix_s: u64,
        own: Duration,
    ) {
        host.note_ticket_time(now, unix_s);
        host.is_drained = self.hosts.was_drained(&host.instance);
        let since = self.hosts.build_since(&host);
        self.hosts.note_build(&host.build, if since > 0 { since } else { id.0 });
        self.hosts.add(id, host);
        self.check_clock(now, id, own);
        self.has_changed = true;
    }

    /// Registers a host of another lobby, which has `reconnect_time` to connect to this one.
    /// `build_since` is the id of the first host of its build.
    pub(super) fn expect_back(
        &mut self,
        now: LocalTime,
        id: HostId,
        host: Host,
        build_since: u64,
        reconnect_time: Duration,
    ) {
        self.hosts.note_build(&host.build, build_since);
        self.hosts.expect_back(id, host, HostSilence::fixed(now, reconnect_time));
    }

    /// A host is lost. Returns its build; empty if there was no such host.
    pub(super) fn lose_host(&mut self, id: HostId) -> String {
        let build = self.hosts.build_of(id);
        self.hosts.remove(id);
        self.has_changed = true;
        build
    }

    /// Removes a host whose rooms have gone elsewhere, or that has another id now.
    pub(super) fn forget_host(&mut self, id: HostId) {
        self.hosts.remove(id);
    }

    /// The host gets no more rooms.
    pub(super) fn retire(&mut self, id: HostId) {
        self.hosts.retire(id);
    }

    /// Sets whether an operator wants the host empty. Returns whether there is such a host.
    pub(super) fn set_drained(&mut self, id: HostId, is_drained: bool) -> bool {
        let is_known = self.hosts.set_drained(id, is_drained);
        self.has_changed |= is_known;
        is_known
    }

    /// Sets the certificate of the host that is a part of this process.
    pub(super) fn set_embedded_certificate(&mut self, certificate: Fingerprint) {
        self.hosts.set_embedded_certificate(&certificate.0);
    }

    /// A host that is ready, or that has to reconnect.
    pub(super) fn host(&self, id: HostId) -> Option<&Host> {
        self.hosts.get(id)
    }

    /// In the order in which they were started.
    pub(super) fn hosts(&self) -> impl Iterator<Item = (HostId, &Host)> {
        self.hosts.iter()
    }

    /// The number of hosts that are connected and ready.
    pub(super) fn connected_count(&self) -> usize {
        self.connected().count()
    }

    /// The hosts that are connected and ready.
    pub(super) fn connected(&self) -> impl Iterator<Item = HostId> {
        self.hosts.iter().map(|(id, _)| id).filter(|id| !self.hosts.is_absent(*id))
    }

    /// Whether the host was connected to another lobby, and has not reconnected to this one yet.
    pub(super) fn is_absent(&self, id: HostId) -> bool {
        self.hosts.is_absent(id)
    }

    /// Whether orders reach the host: it was not lost, and is connected.
    pub(super) fn is_reachable(&self, id: HostId) -> bool {
        self.hosts.get(id).is_some() && !self.hosts.is_absent(id)
    }

    /// The hosts that end with this server.
    pub(super) fn own_hosts(&self) -> impl Iterator<Item = HostId> {
        let ids = self.hosts.iter().map(|(id, _)| id);
        ids.filter(|id| self.hosts.origin(*id) != Origin::Remote)
    }

    /// The ids under which a host is known.
    pub(super) fn ids_of_host(&self, instance: &[u8]) -> Vec<HostId> {
        self.hosts.with_instance(instance).collect()
    }

    /// The hosts that a process is, which has ended. They get no more rooms.
    pub(super) fn retire_process(&mut self, process: &[u8]) -> Vec<HostId> {
        let hosts: Vec<HostId> = self.hosts.of_process(process).collect();
        for host in &hosts {
            self.hosts.retire(*host);
        }
        hosts
    }

    /// The build of a host; empty if there is no such host.
    pub(super) fn build_of(&self, id: HostId) -> String {
        self.hosts.build_of(id)
    }

    /// The highest id that a host may have had.
    pub(super) fn last_id(&self) -> u64 {
        self.hosts.last_id()
    }

    /// Hosts up to this id may have existed.
    pub(super) fn skip_to(&mut self, last_id: u64) {
        self.hosts.skip_to(last_id);
    }

    /// The hosts that may have changed since the last call, removed ones included.
    pub(super) fn take_changed_hosts(&mut self) -> BTreeSet<HostId> {
        self.hosts.take_changed()
    }

    /// A host that could reconnect to another lobby with its rooms, and the id of the first host of
    /// its build.
    pub(super) fn host_that_can_come_back(&self, id: HostId) -> Option<(&Host, u64)> {
        let host = self.hosts.get(id).filter(|_| self.hosts.can_come_back(id))?;
        Some((host, self.hosts.build_since(host)))
    }
}

/// Child processes; see `pool`.
impl Fleet {
    /// Adjusts the number of children to what the rooms need.
    pub(super) fn adjust_children(&mut self, rooms: &LobbyRooms) -> ChildDemand {
        if self.children.is_fixed() {
            return ChildDemand::Met;
        }
        let in_use = self.children_that(rooms, |count| count > 0).len();
        self.children.adjust(in_use as u32)
    }

    /// Ends surplus children that are idle.
    pub(super) fn end_idle_children(&mut self, rooms: &LobbyRooms, outbox: &mut OutputQueue) {
        let in_use = self.children_that(rooms, |count| count > 0).len();
        let idle = self.children_that(rooms, |count| count == 0);
        let (kept, ending) = self.children.shrink(in_use as u32, &idle);
        outbox.push(LobbyAction::SetChildCount(kept));
        for host in ending {
            self.hosts.retire(host);
            outbox.send_to_host(host, WorldOrder::Drain);
        }
    }

    /// The children that may get rooms, and whose number of rooms fits, the oldest first.
    fn children_that(&self, rooms: &LobbyRooms, fits: impl Fn(u32) -> bool) -> Vec<HostId> {
        let hosts = self.hosts.candidates(rooms).into_iter();
        let fitting =
            hosts.filter(|host| self.hosts.origin(host.host) == Origin::Child && fits(host.rooms));
        fitting.map(|host| host.host).collect()
    }
}

/// Rooms that an earlier process has kept; see `restored`.
impl Fleet {
    /// An earlier start did not finish: restored rooms are tried one at a time.
    pub(super) fn restore_one_at_a_time(&mut self) {
        self.restored.set_one_at_a_time();
    }

    /// These rooms were restored. Returns whether there are any.
    pub(super) fn watch_restored(&mut self, rooms: impl Iterator<Item = RoomId>) -> bool {
        self.restored.watch(rooms)
    }

    /// Whether the room was restored, and has not run here for a moment: it waits for a host as
    /// long as it has members.
    pub(super) fn waits_for_members(&self, room: RoomId) -> bool {
        self.restored.is_unproven(room)
    }

    /// Whether the room may get a host now.
    pub(super) fn may_run(&self, room: RoomId) -> bool {
        self.restored.may_run(room)
    }

    /// The tried room has no host, so another one can be tried meanwhile.
    pub(super) fn pause_trial(&mut self, room: RoomId) {
        self.restored.pause_trial(room);
    }

    /// The room is no danger any more: it has run, or has ended. Returns whether it was the last
    /// restored one.
    pub(super) fn clear_restored(&mut self, room: RoomId) -> bool {
        if !self.restored.clear(room) {
            return false;
        }
        // The next one may be tried.
        self.has_changed = true;
        self.restored.are_all_proven()
    }
}
