//! Simulated hosts: what they report, and the orders that they get.

use ambit_host_protocol::generated::{self as messages, HostToWorld, host_to_world, world_to_host};
use ambit_host_protocol::protobuf::host_message_of;
use ambit_proto::control::world;
use ambit_proto::ids::RoomId;

use super::{LobbyHarness, seconds};
use crate::{HostId, HostReport, Origin};

impl LobbyHarness {
    pub(in crate::tests) fn host(&mut self, number: u64, capacity: u32) -> HostId {
        self.host_with_build("", number, capacity)
    }

    /// Adds a host that judges tickets by this time.
    pub(in crate::tests) fn host_with_clock(&mut self, number: u64, unix_s: u64) -> HostId {
        let host = HostId(number);
        self.lobby.handle_host_start(self.now, host, Origin::Embedded);
        let ready = messages::HostReady {
            version: ambit_host_protocol::VERSION,
            address: format!("127.0.0.1:{}", 8_000 + number),
            certificate_sha256: vec![number as u8; 32],
            capacity: 8,
            ticket_time_unix_s: unix_s,
            ..messages::HostReady::default()
        };
        self.send_from_host(host, host_to_world::Body::Ready(ready));
        host
    }

    pub(in crate::tests) fn report_ticket_time(&mut self, host: HostId, unix_s: u64) {
        let stats =
            messages::HostStats { ticket_time_unix_s: unix_s, ..messages::HostStats::default() };
        self.send_from_host(host, host_to_world::Body::Stats(stats));
    }

    /// Adds a host of this build.
    pub(in crate::tests) fn host_with_build(
        &mut self,
        build: &str,
        number: u64,
        capacity: u32,
    ) -> HostId {
        let host = HostId(number);
        let ready = messages::HostReady {
            version: ambit_host_protocol::VERSION,
            address: format!("127.0.0.1:{}", 8_000 + number),
            certificate_sha256: vec![number as u8; 32],
            capacity,
            cores: 1,
            label: format!("host {number}"),
            build: build.to_owned(),
            ..messages::HostReady::default()
        };
        self.send_from_host(host, host_to_world::Body::Ready(ready));
        host
    }

    /// Adds a host that can reconnect to another lobby, and reports these rooms: id and
    /// incarnation.
    pub(in crate::tests) fn reconnecting_host(
        &mut self,
        number: u64,
        instance: u8,
        rooms: &[(u64, u32)],
    ) -> HostId {
        let rooms = rooms
            .iter()
            .map(|&(room, incarnation)| messages::RoomHere { room, incarnation })
            .collect();
        self.remote_host(number, messages::HostReady { rooms, ..ready_with(instance) })
    }

    /// Adds a host that is one of several in the process whose first host is `process`.
    pub(in crate::tests) fn host_of_process(
        &mut self,
        number: u64,
        instance: u8,
        process: u8,
    ) -> HostId {
        let process = vec![process; 16];
        self.remote_host(number, messages::HostReady { process, ..ready_with(instance) })
    }

    fn remote_host(&mut self, number: u64, ready: messages::HostReady) -> HostId {
        let host = HostId(number);
        self.lobby.handle_host_start(self.now, host, Origin::Remote);
        self.send_from_host(host, host_to_world::Body::Ready(ready));
        host
    }

    pub(in crate::tests) fn opened(
        &mut self,
        host: HostId,
        room: u64,
        error: Option<world::Error>,
    ) {
        self.send_from_host(
            host,
            host_to_world::Body::RoomOpened(messages::RoomOpened { room, error }),
        );
    }

    pub(in crate::tests) fn send_from_host(&mut self, host: HostId, body: host_to_world::Body) {
        let message = host_message_of(HostToWorld { body: Some(body) });
        self.report(host, HostReport::Message(message.expect("a message of this build")));
    }

    pub(in crate::tests) fn report(&mut self, host: HostId, report: HostReport) {
        self.lobby.handle_host(self.now, host, report);
        self.handle_outputs();
    }

    /// The host reports once a second that no client is connected to these rooms.
    pub(in crate::tests) fn report_unplayed(&mut self, host: HostId, rooms: &[u64], times: u32) {
        for _ in 0..times {
            let stats = messages::HostStats {
                unplayed_rooms: rooms.to_vec(),
                ..messages::HostStats::default()
            };
            self.send_from_host(host, host_to_world::Body::Stats(stats));
            self.advance(seconds(1));
        }
    }

    /// The host has stored the room's first checkpoint with the WorldServer.
    pub(in crate::tests) fn save_checkpoint(&mut self, host: HostId, room: u64) {
        self.report(host, HostReport::Checkpointed(RoomId(room)));
    }

    pub(in crate::tests) fn lose_host(&mut self, host: HostId, reason: &str) {
        self.lobby.handle_host_lost(self.now, host, reason);
        self.handle_outputs();
    }

    /// The watcher of a host reports that the host's process has ended.
    pub(in crate::tests) fn end_process(&mut self, instance: &[u8]) {
        self.lobby.handle_process_ended(self.now, instance);
        self.handle_outputs();
    }

    /// Adds a child that is ready, with this capacity.
    pub(in crate::tests) fn child(&mut self, number: u64, capacity: u32) -> HostId {
        self.lobby.handle_host_start(self.now, HostId(number), Origin::Child);
        self.host(number, capacity)
    }

    /// Takes the hosts that were disconnected since the last call.
    pub(in crate::tests) fn take_disconnected_hosts(&mut self) -> Vec<HostId> {
        std::mem::take(&mut self.disconnected_hosts)
    }

    /// Takes the orders to hosts since the last call.
    pub(in crate::tests) fn take_orders(&mut self) -> Vec<(HostId, world_to_host::Body)> {
        std::mem::take(&mut self.orders)
    }

    pub(in crate::tests) fn put_back(&mut self, orders: Vec<(HostId, world_to_host::Body)>) {
        self.orders.splice(..0, orders);
    }

    /// Takes the orders since the last call; returns the rooms that hosts must close.
    pub(in crate::tests) fn take_closed_rooms(&mut self) -> Vec<u64> {
        let orders = self.take_orders().into_iter();
        orders
            .filter_map(|(_, body)| match body {
                world_to_host::Body::CloseRoom(close) => Some(close.room),
                _ => None,
            })
            .collect()
    }

    /// Takes the orders since the last call; returns those to open rooms.
    pub(in crate::tests) fn take_open_orders(&mut self) -> Vec<(HostId, messages::OpenRoom)> {
        let orders = self.take_orders().into_iter();
        orders
            .filter_map(|(host, body)| match body {
                world_to_host::Body::OpenRoom(open) => Some((host, open)),
                _ => None,
            })
            .collect()
    }
}

fn ready_with(instance: u8) -> messages::HostReady {
    messages::HostReady {
        version: ambit_host_protocol::VERSION,
        address: format!("127.0.0.1:{}", 8_000 + u64::from(instance)),
        certificate_sha256: vec![instance; 32],
        capacity: 8,
        instance: vec![instance; 16],
        ..messages::HostReady::default()
    }
}
