//! A game host on virtual time: the cores of the real one ([`HostCore`], a [`RoomHost`] for each
//! room, [`ServingLease`], [`ReleaseGate`]), and what carries for them.
//!
//! The WorldServer's messages and the clients' bytes go in, [`SimHostOutput`] comes out of `poll`.
//! Nothing here decides anything. A host that may die alone ([`SimHost::of_its_own`]) takes its
//! time to make rooms, and its journal takes its time to get out.

use std::collections::{BTreeMap, VecDeque};
use std::hash::{DefaultHasher, Hash};

use ambit_host::host_core::clock::{RoomClock, TickSchedule};
use ambit_host::host_core::lease::ServingLease;
use ambit_host::host_core::making::{MadeRoom, RoomPlan};
use ambit_host::host_core::messages::{HostMessage, RoomOrder};
use ambit_host::host_core::protobuf::order_of;
use ambit_host::host_core::release::{Release, ReleaseGate};
use ambit_host::host_core::room_host::{ClientMessage, RoomHost, RoomHostOutput};
use ambit_host::host_core::{HostCore, HostEnding, HostOutput, HostProfile, HostTime};
use ambit_host::protocol::messages::{HostToWorld, WorldToHost};
use ambit_proto::codes::ErrorCode;
use ambit_proto::control::game::{
    ClientToGame, GameToClient, Join, client_to_game, game_to_client,
};
use ambit_proto::ids::{ClientId, RoomId};
use ambit_proto::time::{GameTime, LocalTime};
use ambit_room::journal::JournalEntry;
use ambit_room::logic::registry::Registry;
use ambit_room::recording;
use ambit_room::room::{Room, RoomOutput};
use ambit_transport::quic::Fingerprint;
use bytes::Bytes;

/// The address that tickets name.
pub const ADDRESS: &str = "127.0.0.1:7777";

/// A game connection, as the network numbers it.
pub type GameConn = u64;

/// What leaves a host.
#[derive(Debug)]
pub enum SimHostOutput {
    /// To the WorldServer.
    World(HostToWorld),
    /// On a game connection's control stream.
    Control(GameConn, GameToClient),
    /// On a game connection, as a datagram.
    Datagram(GameConn, Bytes),
    /// A game connection is closed.
    Closed(GameConn),
    /// To itself: a room is being made; [`SimHost::finish`] is due.
    Making(RoomId),
    /// The host does not serve its WorldServer any more.
    Ended(HostEnding),
}

/// See the module.
pub struct SimHost {
    registry: Registry,
    core: HostCore,
    lease: ServingLease,
    rooms: BTreeMap<RoomId, SimRoom>,
    /// What has not left the host, by room and incarnation.
    outlets: BTreeMap<(RoomId, u32), Outlet>,
    /// The room and client of each connection that is in.
    connections: BTreeMap<GameConn, (RoomId, ClientId)>,
    /// Rooms that are being made.
    plans: BTreeMap<RoomId, RoomPlan>,
    /// A room that was made, until the core says what becomes of it.
    made: Option<(MadeRoom, Option<Vec<u8>>)>,
    /// The number of the newest journal entry that can't be lost with the process.
    journal_kept: u64,
    next_client: u32,
    outputs: VecDeque<SimHostOutput>,
    /// Whether it is a process of its own.
    is_apart: bool,
}

/// A room and its connections.
pub struct SimRoom {
    host: RoomHost,
    incarnation: u32,
    clock: RoomClock,
    schedule: TickSchedule,
    conns: BTreeMap<ClientId, GameConn>,
    /// The number of the room's newest journal entry.
    journal: u64,
    /// Everything that went in so far. Rooms of hosts that may die are not recorded: their runs are
    /// long.
    recording: Option<Vec<u8>>,
    /// A hash of every datagram that came out so far (see [`digest`]).
    pub outputs: DefaultHasher,
}

/// A room's datagrams that wait for the journal or the lease.
#[derive(Default)]
struct Outlet {
    gate: ReleaseGate,
    batches: VecDeque<Batch>,
    ask_at: Option<LocalTime>,
}

struct Batch {
    after: u64,
    datagrams: Vec<(GameConn, Bytes)>,
}

impl SimHost {
    /// A host with these games, within the WorldServer's process.
    pub fn new(registry: Registry) -> Self {
        Self::with_profile(registry, ADDRESS, 100, 0)
    }

    /// A host that may die alone, at an address of its own, for so many rooms. `instance` tells its
    /// process from all others.
    pub fn of_its_own(registry: Registry, address: &str, capacity: u32, instance: u64) -> Self {
        let mut host = Self::with_profile(registry, address, capacity, instance);
        (host.is_apart, host.journal_kept) = (true, 0);
        host
    }

    fn with_profile(registry: Registry, address: &str, capacity: u32, instance: u64) -> Self {
        let profile = HostProfile {
            address: address.to_owned(),
            fingerprint: Fingerprint([1; 32]),
            capacity,
            label: String::new(),
            build: String::new(),
            key: Vec::new(),
            cores: 1,
            instance: u128::from(instance).to_le_bytes(),
        };
        SimHost {
            registry,
            core: HostCore::new(profile),
            lease: ServingLease::default(),
            rooms: BTreeMap::new(),
            outlets: BTreeMap::new(),
            connections: BTreeMap::new(),
            plans: BTreeMap::new(),
            made: None,
            journal_kept: u64::MAX,
            next_client: 0,
            outputs: VecDeque::new(),
            is_apart: false,
        }
    }

    /// Where clients connect.
    pub fn address(&self) -> &str {
        self.core.address()
    }

    /// Whether this room runs here, or is being made.
    pub fn has(&self, room: RoomId) -> bool {
        self.core.has_room(room)
    }

    /// The number of rooms that run or are being made.
    pub fn room_count(&self) -> usize {
        self.core.room_count()
    }

    /// The rooms that run.
    pub fn rooms(&self) -> impl Iterator<Item = (RoomId, &SimRoom)> {
        self.rooms.iter().map(|(&id, room)| (id, room))
    }

    /// Forgets what went into a room so far.
    pub fn forget_recording(&mut self, room: RoomId) {
        let room = self.rooms.get_mut(&room);
        if let Some(recording) = room.and_then(|room| room.recording.as_mut()) {
            recording.clear();
        }
    }

    /// What leaves next.
    pub fn poll(&mut self) -> Option<SimHostOutput> {
        self.outputs.pop_front()
    }

    /// When [`SimHost::run`] has something to do.
    pub fn next_deadline(&self) -> Option<LocalTime> {
        let ticks = self.rooms.values().map(SimRoom::next_tick);
        let outlets = self.outlets.values().filter_map(|outlet| outlet.ask_at);
        ticks.chain(outlets).chain(self.core.next_deadline()).min()
    }

    /// There is a link to the WorldServer.
    pub fn connect(&mut self, now: LocalTime) {
        self.core.connect(time(now), &mut self.lease);
        self.carry_out(now);
    }

    /// The link is lost. Its rooms are closed: it is a host without rooms that dials again.
    pub fn lose_link(&mut self, now: LocalTime) {
        self.core.handle_link_lost(time(now), &self.lease);
        self.close_all(now);
    }

    /// Closes all rooms.
    pub fn close_all(&mut self, now: LocalTime) {
        self.core.close_all(ErrorCode::HostDied);
        self.carry_out(now);
    }

    /// The process is asked to end.
    pub fn stop(&mut self, now: LocalTime) {
        self.core.handle_stop(time(now), &mut self.lease);
        self.carry_out(now);
    }

    /// The journal entries up to this number have left the process, and what reads them lives as
    /// long as the WorldServer.
    pub fn note_journal_written(&mut self, now: LocalTime, number: u64) {
        self.journal_kept = self.journal_kept.max(number);
        self.release(now);
    }

    /// A message of the WorldServer's.
    pub fn handle_world(&mut self, now: LocalTime, message: WorldToHost) {
        let order = order_of(message).expect("the lobby sends no empty message");
        self.core.handle_order(time(now), &mut self.lease, order);
        self.carry_out(now);
    }

    /// A control message of a client's.
    pub fn handle_control(&mut self, now: LocalTime, conn: GameConn, message: ClientToGame) {
        match message.body {
            Some(client_to_game::Body::Join(join)) => self.join(now, conn, &join),
            Some(client_to_game::Body::Leave(_)) => {
                self.client_message(now, conn, ClientMessage::Leave);
            }
            None => {}
        }
    }

    /// A datagram of a client's.
    pub fn handle_datagram(&mut self, now: LocalTime, conn: GameConn, bytes: Bytes) {
        if let Some((client, room)) = self.room_of(conn) {
            let at = room.clock.room_time(now);
            room.host.handle_datagram(client, at, bytes);
        }
    }

    /// A game connection is gone.
    pub fn handle_closed(&mut self, now: LocalTime, conn: GameConn) {
        if let Some((client, room)) = self.room_of(conn) {
            room.conns.remove(&client);
            room.host.handle_closed(client);
        }
        if let Some((id, _)) = self.connections.remove(&conn) {
            self.carry_out_room(now, id);
        }
    }

    /// Does what is due; returns the rooms that ticked.
    pub fn run(&mut self, now: LocalTime) -> Vec<RoomId> {
        if self.core.next_deadline().is_some_and(|due| due <= now) {
            self.core.handle_timeout(time(now), &mut self.lease);
            self.carry_out(now);
        }
        let is_due = |(&id, room): (&RoomId, &SimRoom)| (room.next_tick() <= now).then_some(id);
        let due: Vec<RoomId> = self.rooms.iter().filter_map(is_due).collect();
        for &id in &due {
            let room = self.rooms.get_mut(&id).expect("it is due");
            let ticks = room.schedule.take_due(room.clock.room_time(now), 0).ticks;
            for at in ticks {
                let Some(room) = self.rooms.get_mut(&id) else {
                    break;
                };
                if let Some(recording) = &mut room.recording {
                    recording::append(&JournalEntry::new(at, room.host.inputs()), recording);
                }
                at.hash(&mut room.outputs);
                room.host.tick(at);
                self.carry_out_room(now, id);
            }
        }
        self.release(now);
        due
    }

    /// A room has been made.
    pub fn finish(&mut self, now: LocalTime, id: RoomId) {
        let Some(plan) = self.plans.remove(&id) else {
            return;
        };
        let incarnation = plan.incarnation;
        let result = plan.prepare(&self.registry, false, || now).map(|prepared| {
            let mut recording = (!self.is_apart).then(Vec::new);
            if let Some(recording) = &mut recording {
                recording::begin(prepared.header(), prepared.snapshot().as_ref(), recording);
            }
            let mut new = prepared.finish(|at| {
                if let Some(recording) = &mut recording {
                    recording::append(&JournalEntry::new(at, &[]), recording);
                }
            });
            let snapshot = new.snapshot.take();
            self.made = Some((new, recording));
            snapshot
        });
        self.core.handle_made(time(now), id, incarnation, result);
        self.carry_out(now);
    }

    fn join(&mut self, now: LocalTime, conn: GameConn, join: &Join) {
        let ticket = match self.core.admit(time(now), join) {
            Ok(ticket) => ticket,
            Err(error) => {
                let error = game_to_client::Body::Error(error);
                self.outputs
                    .push_back(SimHostOutput::Control(conn, message(error)));
                self.outputs.push_back(SimHostOutput::Closed(conn));
                return;
            }
        };
        let id = ticket.room;
        let room = self.rooms.get_mut(&id).expect("the ticket's room runs");
        self.next_client += 1;
        let client = ClientId(self.next_client);
        room.conns.insert(client, conn);
        self.connections.insert(conn, (id, client));
        let at = room.clock.room_time(now);
        room.host.handle_join(at, client, ticket);
        self.carry_out_room(now, id);
    }

    fn client_message(&mut self, now: LocalTime, conn: GameConn, message: ClientMessage) {
        if let Some((client, room)) = self.room_of(conn) {
            room.host.handle_message(client, message);
            let (id, _) = self.connections[&conn];
            self.carry_out_room(now, id);
        }
    }

    fn room_of(&mut self, conn: GameConn) -> Option<(ClientId, &mut SimRoom)> {
        let &(id, client) = self.connections.get(&conn)?;
        Some((client, self.rooms.get_mut(&id)?))
    }

    /// Carries out what the core has put out.
    fn carry_out(&mut self, now: LocalTime) {
        while let Some(output) = self.core.poll() {
            match output {
                HostOutput::World(message) => {
                    self.outputs.push_back(SimHostOutput::World(message.into()));
                }
                // The lobby does without figures here.
                HostOutput::SendStats => {}
                HostOutput::MakeRoom(plan) => {
                    let id = RoomId(plan.header.room);
                    self.plans.insert(id, *plan);
                    if self.is_apart {
                        self.outputs.push_back(SimHostOutput::Making(id));
                    } else {
                        self.finish(now, id);
                    }
                }
                HostOutput::StartRoom {
                    room,
                    incarnation,
                    clock,
                } => {
                    let (new, recording) = self.made.take().expect("it has just been made");
                    let started = SimRoom::new(new.host, incarnation, clock, recording);
                    self.rooms.insert(room, started);
                }
                HostOutput::DiscardRoom(_) => self.made = None,
                HostOutput::Room(id, order) => self.order(now, id, order),
                HostOutput::JournalKept(number) => {
                    self.journal_kept = self.journal_kept.max(number);
                }
                HostOutput::End(ending) => self.outputs.push_back(SimHostOutput::Ended(ending)),
            }
        }
        self.release(now);
    }

    fn order(&mut self, now: LocalTime, id: RoomId, order: RoomOrder) {
        if let Some(room) = self.rooms.get_mut(&id) {
            let at = room.clock.room_time(now);
            room.host.handle_order(at, order);
            self.carry_out_room(now, id);
        }
    }

    /// Carries out what a room has put out.
    fn carry_out_room(&mut self, now: LocalTime, id: RoomId) {
        let mut datagrams = Vec::new();
        let Some(SimRoom { incarnation, .. }) = self.rooms.get(&id) else {
            return;
        };
        let outlet = (id, *incarnation);
        let mut after = self.rooms[&id].journal;
        while let Some(room) = self.rooms.get_mut(&id)
            && let Some(output) = room.host.poll()
        {
            match output {
                RoomHostOutput::Journal(entry) => {
                    after = u64::MAX;
                    if let Some(number) = self.lease.next_journal(now) {
                        after = number;
                        self.core.handle_room_message(HostMessage::Journal {
                            room: id,
                            entry,
                            number,
                        });
                    }
                    room.journal = after;
                }
                RoomHostOutput::Datagram { client, bytes } => {
                    (client, &bytes).hash(&mut room.outputs);
                    let conn = room.conns.get(&client);
                    datagrams.extend(conn.map(|&conn| (conn, bytes)));
                }
                RoomHostOutput::Message { client, body } => {
                    if let Some(&conn) = room.conns.get(&client) {
                        self.outputs
                            .push_back(SimHostOutput::Control(conn, message(body)));
                    }
                }
                RoomHostOutput::LastMessage { client, body, .. } => {
                    if let Some(conn) = room.conns.remove(&client) {
                        self.connections.remove(&conn);
                        self.outputs
                            .push_back(SimHostOutput::Control(conn, message(body)));
                        self.outputs.push_back(SimHostOutput::Closed(conn));
                    }
                }
                RoomHostOutput::Disconnect { client, .. } => {
                    if let Some(conn) = room.conns.remove(&client) {
                        self.connections.remove(&conn);
                        self.outputs.push_back(SimHostOutput::Closed(conn));
                    }
                }
                RoomHostOutput::World(message) => self.core.handle_room_message(message),
                RoomHostOutput::Ended | RoomHostOutput::HandedOver => {
                    let incarnation = room.incarnation;
                    self.rooms.remove(&id);
                    self.core.handle_room_ended(id, incarnation);
                }
            }
        }
        if !datagrams.is_empty() {
            let batch = Batch { after, datagrams };
            self.outlets
                .entry(outlet)
                .or_default()
                .batches
                .push_back(batch);
        }
        self.carry_out(now);
    }

    /// Sends the datagrams that may leave.
    fn release(&mut self, now: LocalTime) {
        let Self {
            outlets,
            lease,
            outputs: sent,
            journal_kept,
            ..
        } = self;
        for outlet in outlets.values_mut() {
            outlet.ask_at = None;
            while let Some(batch) = outlet.batches.front() {
                match outlet.gate.check(now, batch.after, *journal_kept, lease) {
                    Release::Now => {
                        let batch = outlet.batches.pop_front().expect("just looked");
                        let datagrams = batch.datagrams.into_iter();
                        sent.extend(
                            datagrams.map(|(conn, bytes)| SimHostOutput::Datagram(conn, bytes)),
                        );
                    }
                    Release::Never => drop(outlet.batches.pop_front()),
                    Release::Wait(ask_at) => {
                        outlet.ask_at = ask_at;
                        break;
                    }
                }
            }
        }
        let rooms = &self.rooms;
        let runs = |id: &RoomId, incarnation| {
            rooms
                .get(id)
                .is_some_and(|room| room.incarnation == incarnation)
        };
        self.outlets.retain(|(id, incarnation), outlet| {
            !outlet.batches.is_empty() || runs(id, *incarnation)
        });
    }
}

impl SimRoom {
    fn new(host: RoomHost, incarnation: u32, clock: RoomClock, recording: Option<Vec<u8>>) -> Self {
        let room = host.room();
        let last = room.last_tick().unwrap_or_default();
        // The first tick, without clients.
        let mut outputs = DefaultHasher::new();
        digest(GameTime::ZERO, &[], &mut outputs);
        SimRoom {
            schedule: TickSchedule::after(room.config().tick_hz, last),
            host,
            incarnation,
            clock,
            conns: BTreeMap::new(),
            journal: 0,
            recording,
            outputs,
        }
    }

    /// The room itself.
    pub fn room(&self) -> &Room {
        self.host.room()
    }

    /// The room's time at a moment of the simulation.
    pub fn time(&self, now: LocalTime) -> GameTime {
        self.clock.room_time(now)
    }

    /// Seats that are taken, and those of players who came since the last tick.
    pub fn seats_taken(&self) -> u32 {
        self.host.seats_taken()
    }

    /// Seats at most.
    pub fn capacity(&self) -> u32 {
        self.host.capacity()
    }

    /// Everything that went in so far.
    pub fn recording(&self) -> &[u8] {
        self.recording.as_deref().unwrap_or_default()
    }

    /// The connection of a client.
    pub fn connection(&self, client: ClientId) -> Option<GameConn> {
        self.conns.get(&client).copied()
    }

    fn next_tick(&self) -> LocalTime {
        self.clock.local_time(self.schedule.next_deadline())
    }
}

fn time(now: LocalTime) -> HostTime {
    HostTime {
        local: now,
        unix_s: now.micros() / 1_000_000,
    }
}

fn message(body: game_to_client::Body) -> GameToClient {
    GameToClient { body: Some(body) }
}

/// Adds the datagrams of a tick to a hash.
pub fn digest(now: GameTime, outputs: &[RoomOutput], hash: &mut DefaultHasher) {
    now.hash(hash);
    for output in outputs {
        if let RoomOutput::Datagram { client, bytes } = output {
            (client, bytes).hash(hash);
        }
    }
}
