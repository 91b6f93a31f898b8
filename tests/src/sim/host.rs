//! A game host on virtual time: the cores of the real host ([`HostCore`], a [`RoomHost`] for each
//! room, [`check_release`]), and code in place of the real shell.
//!
//! Input: messages of the WorldServer, and messages and datagrams of clients. Output:
//! [`SimHostOutput`], from [`SimHost::poll`]. The cores make all decisions. A host in its own
//! process ([`SimHost::in_own_process`]) needs time to create a room and to send its journal.

use std::collections::{BTreeMap, VecDeque};
use std::hash::{DefaultHasher, Hash};

use ambit_host_core::clock::RoomClock;
use ambit_host_core::host::{HostCore, HostEnding, HostOutput, HostProfile, HostTime};
use ambit_host_core::making::{MadeRoom, RoomPlan};
use ambit_host_core::release::{Release, check_release};
use ambit_host_core::room_host::{RoomHost, RoomHostOutput};
use ambit_host_core::room_task::RoomTask;
use ambit_host_protocol::generated::{HostToWorld, WorldToHost};
use ambit_host_protocol::messages::HostMessage;
use ambit_host_protocol::protobuf::{messages_of, order_of};
use ambit_proto::codes::ErrorCode;
use ambit_proto::control::game::{
    ClientToGame, GameToClient, Join, client_to_game, game_to_client,
};
use ambit_proto::ids::{ClientId, RoomId};
use ambit_proto::time::{GameTime, LocalTime};
use ambit_room::digest::{Digester, TickDigest};
use ambit_room::journal::JournalEntry;
use ambit_room::logic::registry::Registry;
use ambit_room::recording::Recorder;
use ambit_room::room::{Room, RoomOutput};
use ambit_room::tick_schedule::TickSchedule;
use ambit_transport::quic::Fingerprint;
use bytes::Bytes;

/// The address of an embedded host, as tickets contain it.
pub const ADDRESS: &str = "127.0.0.1:7777";

/// Number of a game connection in the simulated network.
pub type GameConn = u64;

#[derive(Debug)]
pub enum SimHostOutput {
    World(Box<HostToWorld>),
    /// On a game connection's control stream.
    Control(GameConn, GameToClient),
    /// On a game connection, as a datagram.
    Datagram(GameConn, Bytes),
    /// The host closes a game connection.
    Closed(GameConn),
    /// A room is to be created; the simulator calls [`SimHost::finish_making`] some time later.
    MakeRoom(RoomId),
    /// The host no longer serves its WorldServer.
    Ended(HostEnding),
}

/// A simulated host. See the module.
pub struct SimHost {
    registry: Registry,
    core: HostCore,
    rooms: BTreeMap<RoomId, SimRoom>,
    /// Datagrams that were not sent yet, by room and incarnation.
    held: BTreeMap<(RoomId, u32), HeldDatagrams>,
    /// Room and client of each connection that has joined.
    connections: BTreeMap<GameConn, (RoomId, ClientId)>,
    /// Rooms that are being created.
    plans: BTreeMap<RoomId, RoomPlan>,
    /// A room that was created, until the core starts or discards it.
    made: Option<(MadeRoom, Option<SimRecording>)>,
    /// Number of the newest journal entry that survives the loss of the process.
    journal_saved: u64,
    /// Number of the newest journal entry.
    last_journal: u64,
    next_client: u32,
    outputs: VecDeque<SimHostOutput>,
    /// Whether the host is a process of its own.
    is_separate: bool,
    /// What its calendar's clock showed when virtual time began, in milliseconds since 1970; rooms
    /// have no calendar before it is set.
    pub calendar_ms: Option<u64>,
}

/// A recording that goes on.
#[derive(Clone)]
struct SimRecording {
    bytes: Vec<u8>,
    recorder: Recorder,
}

/// A room and its connections.
pub struct SimRoom {
    host: RoomHost,
    incarnation: u32,
    clock: RoomClock,
    schedule: TickSchedule,
    conns: BTreeMap<ClientId, GameConn>,
    /// The room's recording. Rooms of hosts in their own processes are not recorded, because their
    /// runs are long.
    recording: Option<SimRecording>,
    digester: Digester,
    /// The second of the room's time of the last digest.
    digested_s: u64,
    /// Of the state that the last tick has led to, if there is one.
    before: Option<TickDigest>,
    /// Hash over all datagrams that the room has sent (see [`hash_datagrams`]).
    pub outputs: DefaultHasher,
}

/// Datagrams of a room that wait for the journal or the lease.
#[derive(Default)]
struct HeldDatagrams {
    batches: VecDeque<Batch>,
    /// From which journal entry on the WorldServer can restore the room.
    saved_from: u64,
    check_at: Option<LocalTime>,
}

impl HeldDatagrams {
    /// The newest journal entry that survives the loss of the process, if the room is saved by
    /// entry `saved`; zero otherwise.
    fn kept(&self, saved: u64) -> u64 {
        if saved >= self.saved_from { saved } else { 0 }
    }
}

struct Batch {
    after: u64,
    written: LocalTime,
    datagrams: Vec<(GameConn, Bytes)>,
}

impl SimHost {
    /// Creates a host in the WorldServer's process, with these games.
    pub fn new(registry: Registry) -> Self {
        Self::with_profile(registry, ADDRESS, 100, 0, String::new())
    }

    /// Creates a host in its own process, which can die alone. `capacity` is its number of rooms;
    /// `instance` identifies the process, `build` names the build of its games.
    pub fn in_own_process(
        registry: Registry,
        address: &str,
        capacity: u32,
        instance: u64,
        build: String,
    ) -> Self {
        let mut host = Self::with_profile(registry, address, capacity, instance, build);
        (host.is_separate, host.journal_saved) = (true, 0);
        host
    }

    fn with_profile(
        registry: Registry,
        address: &str,
        capacity: u32,
        instance: u64,
        build: String,
    ) -> Self {
        let profile = HostProfile {
            address: address.to_owned(),
            fingerprint: Fingerprint([1; 32]),
            capacity,
            label: String::new(),
            build,
            cores: 1,
            instance: u128::from(instance).to_le_bytes(),
            process: None,
        };
        SimHost {
            registry,
            core: HostCore::new(profile),
            rooms: BTreeMap::new(),
            held: BTreeMap::new(),
            connections: BTreeMap::new(),
            plans: BTreeMap::new(),
            made: None,
            journal_saved: u64::MAX,
            last_journal: 0,
            next_client: 0,
            outputs: VecDeque::new(),
            is_separate: false,
            calendar_ms: None,
        }
    }

    pub fn address(&self) -> &str {
        self.core.address()
    }

    /// Whether this room runs here or is being created.
    pub fn has_room(&self, room: RoomId) -> bool {
        self.core.has_room(room)
    }

    /// The same, but of a room that is handed over and waits for another host.
    pub fn runs_room(&self, room: RoomId) -> bool {
        let is_over = self.rooms.get(&room).is_some_and(|room| room.host.is_over());
        self.has_room(room) && !is_over
    }

    /// Number of rooms that run or are being created.
    pub fn room_count(&self) -> usize {
        self.core.room_count()
    }

    pub fn rooms(&self) -> impl Iterator<Item = (RoomId, &SimRoom)> {
        self.rooms.iter().map(|(&id, room)| (id, room))
    }

    /// Empties a room's recording.
    pub fn clear_recording(&mut self, room: RoomId) {
        let room = self.rooms.get_mut(&room);
        if let Some(recording) = room.and_then(|room| room.recording.as_mut()) {
            recording.bytes.clear();
        }
    }

    pub fn poll(&mut self) -> Option<SimHostOutput> {
        self.outputs.pop_front()
    }

    /// The time at which [`SimHost::run`] must be called.
    pub fn next_deadline(&self) -> Option<LocalTime> {
        let ticks = self.rooms.values().map(SimRoom::next_tick);
        let held = self.held.values().filter_map(|queue| queue.check_at);
        ticks.chain(held).chain(self.core.next_deadline()).min()
    }

    /// The link to the WorldServer is established.
    pub fn connect(&mut self, now: LocalTime) {
        self.core.connect(time(now));
        self.handle_core_outputs(now);
    }

    /// The link is lost. The host closes its rooms, and reconnects without rooms.
    pub fn lose_link(&mut self, now: LocalTime) {
        self.core.handle_link_lost(time(now));
        self.close_all(now);
    }

    pub fn close_all(&mut self, now: LocalTime) {
        self.core.close_all(ErrorCode::HostDied);
        self.handle_core_outputs(now);
    }

    /// The process receives SIGTERM.
    pub fn stop(&mut self, now: LocalTime) {
        self.core.handle_stop(time(now));
        self.handle_core_outputs(now);
    }

    /// The journal entries up to this number have left the process; their reader lives as long as
    /// the WorldServer.
    pub fn note_journal_written(&mut self, now: LocalTime, number: u64) {
        self.journal_saved = self.journal_saved.max(number);
        self.release(now);
    }

    /// Handles a message of the WorldServer.
    pub fn handle_world(&mut self, now: LocalTime, message: WorldToHost) {
        let order = order_of(message).expect("the lobby sends no empty message");
        self.core.handle_order(time(now), order);
        self.handle_core_outputs(now);
    }

    /// Handles a control message of a client.
    pub fn handle_control(&mut self, now: LocalTime, conn: GameConn, message: ClientToGame) {
        match message.body {
            Some(client_to_game::Body::Join(join)) => self.join(now, conn, &join),
            Some(client_to_game::Body::Leave(_)) => {
                self.handle_leave(now, conn);
            }
            None => {}
        }
    }

    /// Handles a datagram of a client.
    pub fn handle_datagram(&mut self, now: LocalTime, conn: GameConn, bytes: Bytes) {
        if let Some((client, room)) = self.room_of(conn) {
            let at = room.clock.room_time(now);
            room.host.handle_datagram(client, at, bytes);
        }
    }

    /// A game connection has ended.
    pub fn handle_closed(&mut self, now: LocalTime, conn: GameConn) {
        if let Some((client, room)) = self.room_of(conn) {
            room.conns.remove(&client);
            room.host.handle_closed(client);
        }
        if let Some((id, _)) = self.connections.remove(&conn) {
            self.handle_room_outputs(now, id);
        }
    }

    /// Runs all that is due; returns the rooms that ticked.
    pub fn run(&mut self, now: LocalTime) -> Vec<RoomId> {
        if self.core.next_deadline().is_some_and(|due| due <= now) {
            self.core.handle_timeout(time(now));
            self.handle_core_outputs(now);
        }
        let is_due = |(&id, room): (&RoomId, &SimRoom)| (room.next_tick() <= now).then_some(id);
        let due: Vec<RoomId> = self.rooms.iter().filter_map(is_due).collect();
        for &id in &due {
            let room = self.rooms.get_mut(&id).expect("a due room exists");
            let ticks = room.schedule.take_due(room.clock.room_time(now), 0).ticks;
            for at in ticks {
                let Some(room) = self.rooms.get_mut(&id) else {
                    break;
                };
                let held = self.held.get(&(id, room.incarnation));
                let kept = held.map_or(0, |held| held.kept(self.journal_saved));
                room.host.note_kept(now, kept, self.core.permit().has_lease());
                let is_over = room.host.is_over();
                if let Some(began) = self.calendar_ms.filter(|_| !is_over) {
                    room.host.note_calendar(at, began + now.micros() / 1_000);
                }
                if let Some(recording) = room.recording.as_mut().filter(|_| !is_over) {
                    let SimRecording { bytes, recorder } = recording;
                    let entry = JournalEntry::new(at, room.host.inputs());
                    recorder.append(&entry, room.before.take().as_ref(), bytes);
                }
                at.hash(&mut room.outputs);
                room.host.tick(at);
                room.record_state();
                self.handle_room_outputs(now, id);
            }
        }
        self.release(now);
        due
    }

    /// A room has been created.
    pub fn finish_making(&mut self, now: LocalTime, id: RoomId) {
        let Some(plan) = self.plans.remove(&id) else {
            return;
        };
        let incarnation = plan.incarnation;
        let result = plan.prepare(&self.registry, false, |game| game, || now).map(|prepared| {
            let mut recording = (!self.is_separate).then(|| {
                let mut bytes = Vec::new();
                let snapshot = prepared.snapshot();
                let recorder = Recorder::begin(prepared.header(), snapshot.as_ref(), &mut bytes);
                SimRecording { bytes, recorder }
            });
            let mut new = prepared.finish(|at| {
                if let Some(SimRecording { bytes, recorder }) = &mut recording {
                    recorder.append(&JournalEntry::new(at, &[]), None, bytes);
                }
            });
            let snapshot = new.snapshot.take();
            self.made = Some((new, recording));
            snapshot
        });
        self.core.handle_made(time(now), id, incarnation, result);
        self.handle_core_outputs(now);
    }

    fn join(&mut self, now: LocalTime, conn: GameConn, join: &Join) {
        let admitted = match self.core.admit(time(now), join) {
            Ok(admitted) => admitted,
            Err(error) => {
                let error = game_to_client::Body::Error(error);
                self.outputs.push_back(SimHostOutput::Control(conn, message(error)));
                self.outputs.push_back(SimHostOutput::Closed(conn));
                return;
            }
        };
        let id = admitted.ticket.room;
        let room = self.rooms.get_mut(&id).expect("the ticket's room runs");
        self.next_client += 1;
        let client = ClientId(self.next_client);
        room.conns.insert(client, conn);
        self.connections.insert(conn, (id, client));
        let at = room.clock.room_time(now);
        room.host.handle_join(at, client, admitted);
        self.handle_room_outputs(now, id);
    }

    fn handle_leave(&mut self, now: LocalTime, conn: GameConn) {
        if let Some((client, room)) = self.room_of(conn) {
            room.host.handle_leave(client);
            let (id, _) = self.connections[&conn];
            self.handle_room_outputs(now, id);
        }
    }

    fn room_of(&mut self, conn: GameConn) -> Option<(ClientId, &mut SimRoom)> {
        let &(id, client) = self.connections.get(&conn)?;
        Some((client, self.rooms.get_mut(&id)?))
    }

    /// Handles all outputs of the core.
    fn handle_core_outputs(&mut self, now: LocalTime) {
        while let Some(output) = self.core.poll() {
            match output {
                HostOutput::World(message) => {
                    let messages = messages_of(message).into_iter();
                    self.outputs
                        .extend(messages.map(|message| SimHostOutput::World(Box::new(message))));
                }
                // The simulation sends no statistics.
                HostOutput::SendStats => {}
                HostOutput::MakeRoom(plan) => {
                    let id = RoomId(plan.header.room);
                    self.plans.insert(id, *plan);
                    if self.is_separate {
                        self.outputs.push_back(SimHostOutput::MakeRoom(id));
                    } else {
                        self.finish_making(now, id);
                    }
                }
                HostOutput::StartRoom { room, incarnation, clock } => {
                    let (new, recording) =
                        self.made.take().expect("the room was created before it starts");
                    let started = SimRoom::new(new.host, incarnation, clock, recording);
                    self.rooms.insert(room, started);
                }
                HostOutput::DiscardRoom(_) => self.made = None,
                HostOutput::Room(id, task) => self.handle_room_task(now, id, task),
                HostOutput::JournalAcknowledged(number) => {
                    self.journal_saved = self.journal_saved.max(number);
                }
                HostOutput::SavedFrom(id, number) => {
                    if let Some(room) = self.rooms.get(&id) {
                        let held = self.held.entry((id, room.incarnation)).or_default();
                        held.saved_from = number;
                    }
                }
                HostOutput::End(ending) => self.outputs.push_back(SimHostOutput::Ended(ending)),
            }
        }
        self.release(now);
    }

    fn handle_room_task(&mut self, now: LocalTime, id: RoomId, task: RoomTask) {
        if let Some(room) = self.rooms.get_mut(&id) {
            let at = room.clock.room_time(now);
            room.host.handle_task(at, task);
            self.handle_room_outputs(now, id);
        }
    }

    /// Handles all outputs of a room.
    fn handle_room_outputs(&mut self, now: LocalTime, id: RoomId) {
        let mut datagrams = Vec::new();
        let Some(SimRoom { incarnation, .. }) = self.rooms.get(&id) else {
            return;
        };
        let queue = (id, *incarnation);
        let mut after = self.rooms[&id].host.release_after();
        while let Some(room) = self.rooms.get_mut(&id)
            && let Some(output) = room.host.poll()
        {
            match output {
                RoomHostOutput::Journal(entry) => {
                    let serves = self.core.permit().check(now);
                    self.last_journal += u64::from(serves);
                    let number = if serves { self.last_journal } else { u64::MAX };
                    room.host.note_entry(now, number);
                    after = room.host.release_after();
                    if serves {
                        self.core.handle_room_message(HostMessage::Journal {
                            room: id,
                            entry,
                            number,
                        });
                    }
                }
                RoomHostOutput::Datagram { client, bytes } => {
                    (client, &bytes).hash(&mut room.outputs);
                    let conn = room.conns.get(&client);
                    datagrams.extend(conn.map(|&conn| (conn, bytes)));
                }
                RoomHostOutput::Message { client, body } => {
                    if let Some(&conn) = room.conns.get(&client) {
                        self.outputs.push_back(SimHostOutput::Control(conn, message(body)));
                    }
                }
                RoomHostOutput::LastMessage { client, body, .. } => {
                    if let Some(conn) = room.conns.remove(&client) {
                        self.connections.remove(&conn);
                        self.outputs.push_back(SimHostOutput::Control(conn, message(body)));
                        self.outputs.push_back(SimHostOutput::Closed(conn));
                    }
                }
                RoomHostOutput::Disconnect { client, .. } => {
                    if let Some(conn) = room.conns.remove(&client) {
                        self.connections.remove(&conn);
                        self.outputs.push_back(SimHostOutput::Closed(conn));
                    }
                }
                // No tick of the simulator takes time.
                RoomHostOutput::LoadLevel(_)
                | RoomHostOutput::TickLoss { .. }
                | RoomHostOutput::Sleep(true) => {}
                RoomHostOutput::World(message) => self.core.handle_room_message(message),
                RoomHostOutput::Sleep(false) => {
                    let tick_hz = room.room().config().tick_hz;
                    room.schedule = TickSchedule::after(tick_hz, room.clock.room_time(now));
                }
                RoomHostOutput::Ended | RoomHostOutput::HandedOver => {
                    let incarnation = room.incarnation;
                    self.rooms.remove(&id);
                    self.core.handle_room_ended(id, incarnation);
                }
            }
        }
        if !datagrams.is_empty() {
            let batch = Batch { after, written: now, datagrams };
            self.held.entry(queue).or_default().batches.push_back(batch);
        }
        self.handle_core_outputs(now);
    }

    /// Sends the datagrams that the release gate permits.
    fn release(&mut self, now: LocalTime) {
        let Self { core, held, outputs: sent, journal_saved, .. } = self;
        for queue in held.values_mut() {
            queue.check_at = None;
            let kept = queue.kept(*journal_saved);
            while let Some(batch) = queue.batches.front() {
                match check_release(now, batch.written, batch.after, kept, core.permit()) {
                    Release::Now => {
                        let batch = queue.batches.pop_front().expect("the queue has a front");
                        let datagrams = batch.datagrams.into_iter();
                        sent.extend(
                            datagrams.map(|(conn, bytes)| SimHostOutput::Datagram(conn, bytes)),
                        );
                    }
                    Release::Never => drop(queue.batches.pop_front()),
                    Release::Wait(check_at) => {
                        queue.check_at = check_at;
                        break;
                    }
                }
            }
        }
        let rooms = &self.rooms;
        let runs = |id: &RoomId, incarnation| {
            rooms.get(id).is_some_and(|room| room.incarnation == incarnation)
        };
        self.held
            .retain(|(id, incarnation), queue| !queue.batches.is_empty() || runs(id, *incarnation));
    }
}

impl SimRoom {
    fn new(
        host: RoomHost,
        incarnation: u32,
        clock: RoomClock,
        recording: Option<SimRecording>,
    ) -> Self {
        let room = host.room();
        let last = room.last_tick().unwrap_or_default();
        // The first tick has no clients.
        let mut outputs = DefaultHasher::new();
        hash_datagrams(GameTime::ZERO, &[], &mut outputs);
        SimRoom {
            schedule: TickSchedule::after(room.config().tick_hz, last),
            host,
            incarnation,
            clock,
            conns: BTreeMap::new(),
            recording,
            digester: Digester::default(),
            digested_s: 0,
            before: None,
            outputs,
        }
    }

    pub fn room(&self) -> &Room {
        self.host.room()
    }

    /// The room time at a time of the simulation.
    pub fn room_time(&self, now: LocalTime) -> GameTime {
        self.clock.room_time(now)
    }

    /// Seats that are taken, those of players who joined since the last tick included.
    pub fn seats_taken(&self) -> u32 {
        self.host.seats_taken()
    }

    pub fn capacity(&self) -> u32 {
        self.host.capacity()
    }

    /// The room's recording since the start, or since it was emptied, with an end here.
    pub fn recording(&self) -> Vec<u8> {
        let Some(SimRecording { mut bytes, recorder }) = self.recording.clone() else {
            return Vec::new();
        };
        recorder.end(&mut bytes);
        bytes
    }

    pub fn connection(&self, client: ClientId) -> Option<GameConn> {
        self.conns.get(&client).copied()
    }

    /// Once a second: a host does so after each tick, but here each room is recorded.
    fn record_state(&mut self) {
        let second = self.room().last_tick().unwrap_or_default().millis() / 1_000;
        if self.recording.is_some() && second != self.digested_s && !self.host.is_over() {
            self.digested_s = second;
            self.before = Some(self.digester.digest(self.host.room()));
        }
    }

    fn next_tick(&self) -> LocalTime {
        if self.host.is_asleep() {
            return LocalTime::MAX;
        }
        self.clock.local_time(self.schedule.next_deadline())
    }
}

/// The clocks of hosts are an hour ahead of the lobby's.
fn time(now: LocalTime) -> HostTime {
    HostTime { local: now, ticket_unix_s: 3_600 + now.micros() / 1_000_000 }
}

fn message(body: game_to_client::Body) -> GameToClient {
    GameToClient { body: Some(body) }
}

/// Adds the datagrams of a tick to a hash.
pub fn hash_datagrams(now: GameTime, outputs: &[RoomOutput], hash: &mut DefaultHasher) {
    now.hash(hash);
    for output in outputs {
        if let RoomOutput::Datagram { client, bytes } = output {
            (client, bytes).hash(hash);
        }
    }
}
