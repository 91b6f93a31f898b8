//! Hosts in their own processes: they start, hang, wake up and die, and messages to and from them
//! take time.
//!
//! The rules are those of the real shells:
//! - A host's messages leave the process one after the other. A message that has left the process
//!   arrives, even if the process dies.
//! - Messages to a hung host wait until it wakes up.
//! - Clients of a dead host notice nothing until their connections time out.
//! - While the line between lobby and host is dark, messages wait at its ends. Those that wait at a
//!   process that dies are lost, and the lobby does not notice the death.
//! - A child that the lobby disconnects is killed. A host on another machine that the lobby
//!   disconnects wakes up at some time, continues its rooms, and is notified a little later that
//!   its link is cut.
//!
//! Invariants, checked during the whole run:
//! 1. Two hosts with a link never have the same room.
//! 2. A client receives nothing of a room from a host after it has received something from a later
//!    host of that room.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use ambit_client_core::client::Client;
use ambit_client_core::client::lobby::CloseReason;
use ambit_host_core::host::HostEnding;
use ambit_host_protocol::generated::{HostToWorld, WorldToHost, host_to_world, world_to_host};
use ambit_host_protocol::messages::WorldOrder;
use ambit_host_protocol::protobuf::{host_message_of, messages_of_order};
use ambit_lobby::{HostId, Origin};
use ambit_proto::control::game::{ClientToGame, game_to_client};
use ambit_proto::ids::RoomId;
use ambit_proto::time::LocalTime;
use ambit_room::logic::registry::Registry;
use bytes::Bytes;
use fastrand::Rng;
use prost::Message;

use super::{SimEvent, System};
use crate::sim::host::{GameConn, SimHost};

/// A client's connection times out after this time without a packet from the host.
pub(super) const CONNECTION_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum number of rooms of a host.
const CAPACITY: u32 = 8;

/// An event at a host, or about a host.
pub(super) enum HostEvent {
    /// A process runs, some time after it was ordered.
    Started { origin: Origin, address: String },
    /// A client's connection attempt arrives and is accepted.
    Connecting { user: usize, conn: GameConn },
    /// A client's connection attempt may time out.
    ConnectTimeout { conn: GameConn },
    /// A client's connection may time out.
    IdleTimeout { conn: GameConn },
    /// A client's data has arrived on a game connection.
    FromClient { conn: GameConn, message: ClientData },
    /// A room has been created.
    RoomMade { room: RoomId },
    /// The next queued message leaves the process.
    MessageWritten,
    /// A message of the lobby has arrived at the host.
    FromLobby(Box<WorldToHost>),
    /// A message of the host has arrived at the lobby.
    ToLobby(Box<HostToWorld>),
    /// The lobby is notified that the link has ended.
    LinkEnded,
    /// The host is notified that the lobby has cut the link.
    LinkCut,
    /// The process has ended by itself.
    Exited,
}

/// Data that a client sends on a game connection.
pub(super) enum ClientData {
    Control(Vec<u8>),
    Datagram(Bytes),
    Disconnected,
}

pub(super) struct HostProcess {
    pub(super) host: SimHost,
    origin: Origin,
    state: ProcessState,
    is_linked: bool,
    /// Whether the process has received SIGTERM.
    is_stopping: bool,
    /// Events that wait until the process wakes up.
    inbox: Vec<HostEvent>,
    /// Messages that have not left the process yet.
    queue: VecDeque<HostToWorld>,
    /// Whether an event for the next message of `queue` is scheduled.
    is_writing: bool,
    /// Arrival times of the newest message to the lobby, and from the lobby.
    up_at: LocalTime,
    down_at: LocalTime,
    /// Until when the line to the lobby is dark.
    dark_until: LocalTime,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessState {
    Awake,
    Hung,
    /// The process sends its queued messages, then it ends.
    Ending,
    /// The process has ended and is about to be removed.
    Ended,
}

/// State that all host processes share.
pub(super) struct Fleet {
    registry: Registry,
    /// Of the hosts that are started from now on.
    build: String,
    /// As [`SimHost::calendar_ms`].
    calendar_ms: Option<u64>,
    rng: Rng,
    /// Number of children that the lobby wants.
    pub(super) wanted_children: u32,
    starting_children: u32,
    last_host: u64,
    /// Connections that a host has accepted.
    accepted: BTreeSet<GameConn>,
    /// The room that each game connection has joined.
    joined: BTreeMap<GameConn, RoomId>,
    /// Incarnation of each room at each host: how often the room had been placed by then.
    incarnations: BTreeMap<(HostId, RoomId), u32>,
    placements: BTreeMap<RoomId, u32>,
    /// Rooms that were closed because they seem to crash hosts.
    condemned: Vec<RoomId>,
    /// Hosts that died while their lines were dark, or with their server.
    lost_in_the_dark: BTreeSet<HostId>,
    /// Bytes of what hosts have sent but their heartbeats.
    host_bytes: u64,
    /// What the line of each host carries to the lobby; `None` for no limit.
    line_bytes_per_s: Option<u64>,
    /// By user and room: the newest incarnation from which the user has received something.
    newest_incarnations: BTreeMap<(usize, RoomId), u32>,
}

impl HostProcess {
    pub(super) fn embedded(host: SimHost) -> Self {
        HostProcess::new(host, Origin::Embedded)
    }

    fn new(host: SimHost, origin: Origin) -> Self {
        HostProcess {
            host,
            origin,
            state: ProcessState::Awake,
            is_linked: true,
            is_stopping: false,
            inbox: Vec::new(),
            queue: VecDeque::new(),
            is_writing: false,
            up_at: LocalTime::ZERO,
            down_at: LocalTime::ZERO,
            dark_until: LocalTime::ZERO,
        }
    }

    pub(super) fn is_embedded(&self) -> bool {
        self.origin == Origin::Embedded
    }

    pub(super) fn is_awake(&self) -> bool {
        self.state == ProcessState::Awake
    }

    /// Whether the host has a link to the lobby.
    pub(super) fn is_linked(&self) -> bool {
        self.is_linked
    }
}

impl Fleet {
    pub(super) fn new(seed: u64, registry: Registry, wanted_children: u32) -> Self {
        Fleet {
            registry,
            build: String::new(),
            calendar_ms: None,
            rng: Rng::with_seed(seed ^ 0xf1ee7),
            wanted_children,
            starting_children: 0,
            last_host: super::FIRST_SEPARATE_HOST - 1,
            accepted: BTreeSet::new(),
            joined: BTreeMap::new(),
            incarnations: BTreeMap::new(),
            placements: BTreeMap::new(),
            condemned: Vec::new(),
            lost_in_the_dark: BTreeSet::new(),
            host_bytes: 0,
            line_bytes_per_s: None,
            newest_incarnations: BTreeMap::new(),
        }
    }

    pub(super) fn registry(&self) -> &Registry {
        &self.registry
    }

    pub(super) fn set_registry(&mut self, registry: Registry) {
        self.registry = registry;
    }

    pub(super) fn note_condemned(&mut self, room: RoomId) {
        self.condemned.push(room);
    }

    pub(super) fn room_creation_time(&mut self) -> Duration {
        let max_ms = if self.rng.u8(..8) == 0 { 400 } else { 30 };
        self.random_delay(max_ms)
    }

    pub(super) fn random_delay(&mut self, max_ms: u64) -> Duration {
        Duration::from_micros(self.rng.u64(100..=1_000 * max_ms))
    }
}

/// Actions of tests on hosts.
impl System {
    /// Starts a host on another machine, with this address.
    pub fn add_remote(&mut self, address: &str) {
        let event = HostEvent::Started { origin: Origin::Remote, address: address.to_owned() };
        self.schedule_at_host(self.now, HostId(0), event);
    }

    /// Names the build of the games of the hosts that start from now on.
    pub fn set_build(&mut self, build: &str) {
        build.clone_into(&mut self.fleet.build);
    }

    /// Sets the calendars of all hosts, in seconds since 1970.
    ///
    /// # Panics
    /// If that is before virtual time began.
    pub fn set_calendar(&mut self, unix_seconds: u64) {
        let passed = self.now.micros() / 1_000;
        let began = (unix_seconds * 1_000).checked_sub(passed);
        self.fleet.calendar_ms = Some(began.expect("virtual time begins after 1970"));
        for process in self.hosts.values_mut() {
            process.host.calendar_ms = began;
        }
    }

    /// The hosts in their own processes, with their states.
    pub fn hosts(&self) -> Vec<(HostId, Origin, ProcessState)> {
        let separate = self.hosts.iter().filter(|(_, process)| !process.is_embedded());
        separate.map(|(&id, process)| (id, process.origin, process.state)).collect()
    }

    /// How often rooms were placed on hosts.
    pub fn placements(&self) -> u64 {
        self.fleet.placements.values().map(|&count| u64::from(count)).sum()
    }

    /// Rooms that were closed because they seem to crash hosts.
    pub fn condemned(&self) -> &[RoomId] {
        &self.fleet.condemned
    }

    /// How often this room was placed on a host.
    pub fn placements_of(&self, room: RoomId) -> u32 {
        self.fleet.placements.get(&room).copied().unwrap_or_default()
    }

    /// Number of rooms with a checkpoint at the WorldServer, and number of rooms at hosts.
    pub fn rooms_left(&self) -> (usize, usize) {
        (self.checkpoints.len(), self.hosts.values().map(|process| process.host.room_count()).sum())
    }

    /// Bytes of all that hosts have sent to the WorldServer but their heartbeats.
    pub fn host_bytes(&self) -> u64 {
        self.fleet.host_bytes
    }

    /// Sets what the lines from hosts to the lobby carry from now on.
    pub fn limit_lines(&mut self, bytes_per_s: u64) {
        self.fleet.line_bytes_per_s = Some(bytes_per_s);
    }

    /// The line between the lobby and a host carries nothing for some time.
    pub fn darken_line(&mut self, id: HostId, how_long: Duration) {
        if let Some(process) = self.hosts.get_mut(&id) {
            process.dark_until = self.now + how_long;
        }
    }

    /// Kills a process; its queued messages are lost.
    pub fn kill_host(&mut self, id: HostId) {
        let Some(process) = self.hosts.remove(&id) else {
            return;
        };
        if process.dark_until > self.now {
            self.fleet.lost_in_the_dark.insert(id);
        } else if process.is_linked {
            self.schedule_link_end(id, process.up_at);
        }
        self.time_out_clients(id);
        self.start_children();
        self.drain_outputs();
    }

    /// Suspends a process.
    pub fn hang_host(&mut self, id: HostId) {
        if let Some(process) = self.hosts.get_mut(&id).filter(|process| process.is_awake()) {
            process.state = ProcessState::Hung;
            self.time_out_clients(id);
        }
    }

    /// Continues a suspended process.
    pub fn wake_host(&mut self, id: HostId) {
        let Some(process) =
            self.hosts.get_mut(&id).filter(|process| process.state == ProcessState::Hung)
        else {
            return;
        };
        process.state = ProcessState::Awake;
        for event in std::mem::take(&mut process.inbox) {
            self.schedule_at_host(self.now, id, event);
        }
    }

    /// Sends SIGTERM to a process, which then hands its rooms over.
    pub fn end_host(&mut self, id: HostId) {
        let Some(process) = self.hosts.get_mut(&id).filter(|process| process.is_awake()) else {
            return;
        };
        let now = self.now;
        process.is_stopping = true;
        process.host.stop(now);
        self.drain_outputs();
    }
}

impl System {
    /// A child dies with its WorldServer: no message of it arrives any more.
    pub(super) fn lose_child(&mut self, id: HostId) {
        let process = self.hosts.remove(&id).expect("the process runs");
        assert_eq!(process.origin, Origin::Child, "only children die with their server");
        self.fleet.lost_in_the_dark.insert(id);
        self.time_out_clients(id);
    }

    pub(super) fn start_children(&mut self) {
        let children =
            self.hosts.values().filter(|process| process.origin == Origin::Child).count() as u32;
        while children + self.fleet.starting_children < self.fleet.wanted_children {
            self.fleet.starting_children += 1;
            let at = self.now + Duration::from_millis(50) + self.fleet.random_delay(200);
            let address = format!(
                "127.0.0.1:{}",
                9_000 + self.fleet.last_host + u64::from(self.fleet.starting_children)
            );
            let event = HostEvent::Started { origin: Origin::Child, address };
            self.schedule_at_host(at, HostId(0), event);
        }
    }

    /// Schedules an event at a host, or about a host.
    pub(super) fn schedule_at_host(&mut self, at: LocalTime, host: HostId, event: HostEvent) {
        self.events.push(at, SimEvent::Host { host, event });
    }

    pub(super) fn order_host(&mut self, host: HostId, order: WorldOrder) {
        let order = self.checkpoints.complete_order(self.now, host, order);
        for message in messages_of_order(order) {
            self.send_order(host, message);
        }
    }

    fn send_order(&mut self, host: HostId, message: WorldToHost) {
        assert_fits_link(&message);
        if self.hosts.get(&host).is_some_and(HostProcess::is_embedded) {
            let now = self.now;
            return self
                .hosts
                .get_mut(&host)
                .expect("the embedded host exists")
                .host
                .handle_world(now, message);
        }
        if let Some(world_to_host::Body::OpenRoom(open)) = &message.body {
            let room = RoomId(open.room);
            let number = self.fleet.placements.entry(room).or_default();
            *number += 1;
            self.fleet.incarnations.insert((host, room), *number);
            let mut others =
                self.hosts.iter().filter(|(id, process)| **id != host && process.is_linked);
            let other = others.find(|(_, process)| process.host.runs_room(room));
            assert!(
                other.is_none(),
                "seed {}: {room:?} would have two hosts at {:?}",
                self.seed,
                self.now
            );
        }
        let at = self.now + self.fleet.random_delay(6);
        let Some(process) = self.hosts.get_mut(&host).filter(|process| process.is_linked) else {
            return;
        };
        process.down_at = process.down_at.max(at).max(process.dark_until);
        let at = process.down_at;
        self.schedule_at_host(at, host, HostEvent::FromLobby(Box::new(message)));
    }

    /// A host's message has arrived at the WorldServer.
    pub(super) fn report(&mut self, host: HostId, message: HostToWorld) {
        assert_fits_link(&message);
        if !matches!(message.body, Some(host_to_world::Body::Heartbeat(_))) {
            self.fleet.host_bytes += message.encoded_len() as u64;
        }
        let message = host_message_of(message).expect("a message of this build");
        if let Some(report) = self.checkpoints.receive(self.now, host, message) {
            self.lobby.handle_host(self.now, host, report);
        }
    }

    /// The lobby disconnects a host.
    pub(super) fn cut_link(&mut self, host: HostId) {
        let Some(process) = self.hosts.get_mut(&host) else {
            return;
        };
        if process.origin == Origin::Child {
            return self.kill_host(host);
        }
        let up_at = process.up_at;
        process.is_linked = false;
        self.schedule_link_end(host, up_at);
        let at = self.now + self.fleet.random_delay(20);
        self.schedule_at_host(at, host, HostEvent::LinkCut);
    }

    pub(super) fn send_to_host(&mut self, conn: GameConn, message: ClientData) {
        let Some(&(_, host)) = self.game_conns.get(&conn) else {
            return;
        };
        self.handle_host_event(host, HostEvent::FromClient { conn, message });
    }

    pub(super) fn queue_message(&mut self, host: HostId, message: HostToWorld) {
        self.hosts.get_mut(&host).expect("the process runs").queue.push_back(message);
        self.schedule_write(host);
    }

    /// A host no longer serves the lobby. It ends when all its queued messages have left the
    /// process; a host that has lost its link, or was suspended for too long, ends at once.
    pub(super) fn host_ended(&mut self, id: HostId, ending: &HostEnding) {
        let now = self.now;
        let process = self.hosts.get_mut(&id).expect("the process exists until it exits");
        match ending {
            HostEnding::Drained | HostEnding::HandedOver => {
                process.state = ProcessState::Ending;
                self.schedule_write(id);
            }
            HostEnding::LinkLost | HostEnding::Unserved | HostEnding::Stalled => {
                if *ending != HostEnding::Stalled {
                    process.host.close_all(now);
                }
                process.state = ProcessState::Ended;
                self.schedule_at_host(now, id, HostEvent::Exited);
            }
            HostEnding::Refused(why) => panic!("{id:?} refuses the lobby: {why}"),
        }
    }

    pub(super) fn handle_host_event(&mut self, host: HostId, event: HostEvent) {
        let now = self.now;
        match event {
            HostEvent::Started { origin, address } => return self.start_process(origin, &address),
            HostEvent::ToLobby(_) | HostEvent::LinkEnded
                if self.fleet.lost_in_the_dark.contains(&host) =>
            {
                return;
            }
            HostEvent::ToLobby(message) => {
                self.acknowledge_journal(host, &message);
                return self.report(host, *message);
            }
            HostEvent::LinkEnded => {
                return self.lobby.handle_host_lost(now, host, "its link has ended");
            }
            HostEvent::ConnectTimeout { conn } if self.fleet.accepted.contains(&conn) => return,
            HostEvent::ConnectTimeout { conn } => return self.time_out_connection(conn),
            HostEvent::IdleTimeout { conn } => {
                let target = self.game_conns.get(&conn).and_then(|(_, host)| self.hosts.get(host));
                if target.is_none_or(|process| process.state == ProcessState::Hung) {
                    self.time_out_connection(conn);
                }
                return;
            }
            _ => {}
        }
        let Some(process) = self.hosts.get_mut(&host) else {
            return;
        };
        if process.state == ProcessState::Hung {
            return process.inbox.push(event);
        }
        match event {
            HostEvent::Exited => self.exited(host),
            HostEvent::Connecting { user, conn } => {
                self.fleet.accepted.insert(conn);
                let at = self.users[user].down.send_on_stream(now);
                self.events.push(at, SimEvent::GameConnected { user, conn });
            }
            HostEvent::FromClient { conn, message: ClientData::Control(frame) } => {
                let message = ClientToGame::decode(&frame[..]).expect("the client's own message");
                process.host.handle_control(now, conn, message);
            }
            HostEvent::FromClient { conn, message: ClientData::Datagram(bytes) } => {
                process.host.handle_datagram(now, conn, bytes);
            }
            HostEvent::FromClient { conn, message: ClientData::Disconnected } => {
                process.host.handle_closed(now, conn);
            }
            HostEvent::RoomMade { room } => process.host.finish_making(now, room),
            HostEvent::MessageWritten => self.write_next(host),
            HostEvent::FromLobby(_) if process.state != ProcessState::Awake => {}
            HostEvent::FromLobby(message) => process.host.handle_world(now, *message),
            HostEvent::LinkCut => process.host.lose_link(now),
            _ => unreachable!("handled above"),
        }
    }

    /// Checks invariant 2 for a message or datagram that a client receives.
    pub(super) fn check_incarnation(
        &mut self,
        conn: GameConn,
        user: usize,
        message: Option<&game_to_client::Body>,
    ) {
        if let Some(game_to_client::Body::Joined(joined)) = message {
            self.fleet.joined.insert(conn, RoomId(joined.room));
        }
        let (Some(&room), Some(&(_, host))) =
            (self.fleet.joined.get(&conn), self.game_conns.get(&conn))
        else {
            return;
        };
        let Some(&incarnation) = self.fleet.incarnations.get(&(host, room)) else {
            return;
        };
        let newest = self.fleet.newest_incarnations.entry((user, room)).or_default();
        assert!(
            incarnation >= *newest,
            "seed {}, at {:?}: user {user} receives something of {room:?} from {host:?}, number \
             {incarnation}, after number {newest}",
            self.seed,
            self.now
        );
        *newest = incarnation;
    }

    fn start_process(&mut self, origin: Origin, address: &str) {
        if origin == Origin::Child {
            self.fleet.starting_children -= 1;
        }
        self.fleet.last_host += 1;
        let id = HostId(self.fleet.last_host);
        let mut host = SimHost::in_own_process(
            self.fleet.registry.clone(),
            address,
            CAPACITY,
            id.0,
            self.fleet.build.clone(),
        );
        host.calendar_ms = self.fleet.calendar_ms;
        host.connect(self.now);
        self.hosts.insert(id, HostProcess::new(host, origin));
        self.lobby.handle_host_start(self.now, id, origin);
        self.start_children();
    }

    /// The WorldServer's link acknowledges the journal of a host on another machine.
    fn acknowledge_journal(&mut self, host: HostId, message: &HostToWorld) {
        let Some(process) = self.hosts.get(&host) else {
            return;
        };
        if let (Origin::Remote, Some(host_to_world::Body::RoomTick(tick))) =
            (process.origin, &message.body)
        {
            self.order_host(host, WorldOrder::AcknowledgeJournal(tick.serial));
        }
    }

    /// Removes a process that has ended by itself. A host on another machine starts again.
    fn exited(&mut self, host: HostId) {
        let process = &self.hosts[&host];
        let origin = process.origin;
        let address = process.host.address().to_owned();
        let restarts = origin == Origin::Remote && !process.is_stopping;
        self.kill_host(host);
        if restarts {
            let event = HostEvent::Started { origin, address };
            self.schedule_at_host(self.now + Duration::from_millis(500), HostId(0), event);
        }
    }

    fn schedule_write(&mut self, host: HostId) {
        let at = self.now + self.fleet.random_delay(2);
        let process = self.hosts.get_mut(&host).expect("the process runs");
        if !std::mem::replace(&mut process.is_writing, true) {
            self.schedule_at_host(at, host, HostEvent::MessageWritten);
        }
    }

    /// The next message leaves the process. A child's journal is then safe, because the pipe
    /// outlives the process.
    fn write_next(&mut self, host: HostId) {
        let (now, at) = (self.now, self.now + self.fleet.random_delay(8));
        let process = self.hosts.get_mut(&host).expect("the process runs");
        process.is_writing = false;
        let message = process.queue.pop_front();
        if let (Origin::Child, Some(host_to_world::Body::RoomTick(tick))) =
            (process.origin, message.as_ref().and_then(|message| message.body.as_ref()))
        {
            process.host.note_journal_written(now, tick.serial);
        }
        let (is_drained, is_ending) =
            (process.queue.is_empty(), process.state == ProcessState::Ending);
        if let Some(message) = message.filter(|_| process.is_linked) {
            let rate = self.fleet.line_bytes_per_s;
            let takes = rate.map(|rate| message.encoded_len() as u64 * 1_000_000 / rate);
            process.up_at = process.up_at.max(at).max(process.dark_until)
                + Duration::from_micros(takes.unwrap_or_default());
            let at = process.up_at;
            self.schedule_at_host(at, host, HostEvent::ToLobby(Box::new(message)));
        }
        // Sends the datagrams that have waited for the journal.
        self.drain_outputs();
        if !self.hosts.contains_key(&host) {
            // The lobby has disconnected the host.
        } else if !is_drained {
            self.schedule_write(host);
        } else if is_ending {
            self.kill_host(host);
        }
    }

    /// Notifies the lobby, after all messages of the host, that the link has ended.
    fn schedule_link_end(&mut self, host: HostId, up_at: LocalTime) {
        let at = up_at.max(self.now + self.fleet.random_delay(10));
        self.schedule_at_host(at, host, HostEvent::LinkEnded);
    }

    /// Schedules the timeouts of the connections of a host's clients.
    fn time_out_clients(&mut self, host: HostId) {
        let is_here =
            |conn: &GameConn| self.game_conns.get(conn).is_some_and(|(_, at)| *at == host);
        let conns = self.users.iter().filter_map(|user| user.game);
        for conn in conns.filter(is_here).collect::<Vec<_>>() {
            self.schedule_at_host(
                self.now + CONNECTION_TIMEOUT,
                host,
                HostEvent::IdleTimeout { conn },
            );
        }
    }

    fn time_out_connection(&mut self, conn: GameConn) {
        if let Some(user) = self.game_user(conn) {
            self.users[user].game = None;
            self.with_client(user, |client: &mut Client, now| {
                client.handle_game_closed(now, CloseReason::Broken("timed out".into()));
            });
        }
    }
}

/// The shells would leave a longer message out.
fn assert_fits_link(message: &impl Message) {
    let bytes = message.encoded_len();
    assert!(bytes <= ambit_proto::frame::MAX_HOST, "{bytes} bytes");
}
