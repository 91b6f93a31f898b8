//! The event loop of the simulation.

pub mod fleet;
mod server;
mod users;

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use ambit_client_core::client::Client;
use ambit_client_core::client::lobby::CloseReason;
use ambit_client_core::client::request::{LobbyRequest, NewRoom};
use ambit_lobby::{ConnId, HostId, Lobby, LobbyAction, LobbyConfig, LobbyGame, Origin};
use ambit_proto::control::game::GameToClient;
use ambit_proto::control::world::WorldToClient;
use ambit_proto::ids::{ClientId, RoomId};
use ambit_proto::time::LocalTime;
use ambit_room::logic::registry::Registry;
use ambit_room::room::Room;
use ambit_transport::ticket::TicketSigner;
use ambit_world_server::room_checkpoints::RoomCheckpoints;
use bytes::Bytes;
use prost::Message;

pub use self::users::SimUser;
use super::host::{GameConn, SimHost, SimHostOutput, SimRoom};
use super::net::EventQueue;
use crate::oracle::InterestOracle;
use crate::oracle::poses::PoseOracle;
use fleet::{ClientData, Fleet, HostEvent, HostProcess};
use server::ServerProcess;

const HOST: HostId = HostId(1);
/// Id of the first host in its own process.
const FIRST_SEPARATE_HOST: u64 = 2;

/// The simulated system. See [`crate::sim`].
pub struct System {
    now: LocalTime,
    seed: u64,
    events: EventQueue<SimEvent>,
    lobby: Lobby,
    server: ServerProcess,
    hosts: BTreeMap<HostId, HostProcess>,
    /// Checkpoints of rooms, which the WorldServer's shell keeps.
    checkpoints: RoomCheckpoints,
    fleet: Fleet,
    users: Vec<SimUser>,
    /// The user of each lobby connection.
    lobby_conns: BTreeMap<ConnId, usize>,
    /// User and host of each game connection.
    game_conns: BTreeMap<GameConn, (usize, HostId)>,
    next_conn: u64,
    traffic: DefaultHasher,
    interest_oracles: BTreeMap<(HostId, RoomId), InterestOracle>,
    pose_oracles: BTreeMap<(HostId, RoomId), PoseOracle>,
}

/// An event of the simulation.
enum SimEvent {
    LobbyConnecting { conn: ConnId },
    LobbyConnected { user: usize, conn: ConnId },
    ToLobby { conn: ConnId, frame: Vec<u8> },
    FromLobby { conn: ConnId, frame: Vec<u8> },
    LobbyDisconnected { conn: ConnId, quit: bool },
    ClosedByLobby { conn: ConnId, message: String },
    GameConnected { user: usize, conn: GameConn },
    ToHost { conn: GameConn, frame: Vec<u8> },
    FromHost { conn: GameConn, frame: Vec<u8> },
    GameDisconnected { conn: GameConn },
    ClosedByHost { conn: GameConn },
    DatagramUp { conn: GameConn, bytes: Bytes },
    DatagramDown { conn: GameConn, bytes: Bytes },
    Wake { user: usize },
    Host { host: HostId, event: HostEvent },
}

impl System {
    /// Creates a lobby and an embedded host with these games, without clients.
    pub fn new(seed: u64, registry: &Registry) -> Self {
        let mut system = Self::without_hosts(seed, registry, &LobbyConfig::default());
        let mut host = SimHost::new(registry.clone());
        host.connect(system.now);
        system.hosts.insert(HOST, HostProcess::embedded(host));
        system.lobby.handle_host_start(system.now, HOST, Origin::Embedded);
        system.drain_outputs();
        system
    }

    /// Creates a lobby with these games and this configuration, without clients. Request limits are
    /// raised. The lobby's children are started.
    pub fn with_children(seed: u64, registry: &Registry, config: &LobbyConfig) -> Self {
        let mut system = Self::without_hosts(seed, registry, config);
        system.start_children();
        system
    }

    fn without_hosts(seed: u64, registry: &Registry, config: &LobbyConfig) -> Self {
        let config = LobbyConfig {
            requests_per_s: 1_000,
            request_burst: 1_000,
            rooms_per_minute: 1_000,
            ..config.clone()
        };
        let children = config.children.min;
        let lobby = Self::new_lobby(seed, registry, &config);
        System {
            now: LocalTime::ZERO,
            seed,
            events: EventQueue::new(),
            lobby,
            server: ServerProcess::new(config),
            hosts: BTreeMap::new(),
            checkpoints: RoomCheckpoints::default(),
            fleet: Fleet::new(seed, registry.clone(), children),
            users: Vec::new(),
            lobby_conns: BTreeMap::new(),
            game_conns: BTreeMap::new(),
            next_conn: 0,
            traffic: DefaultHasher::new(),
            interest_oracles: BTreeMap::new(),
            pose_oracles: BTreeMap::new(),
        }
    }

    fn new_lobby(seed: u64, registry: &Registry, config: &LobbyConfig) -> Lobby {
        let mut entropy = fastrand::Rng::with_seed(seed ^ 0x5eed);
        let entropy = Box::new(move || entropy.u128(..).to_le_bytes());
        let games = registry.games().map(|game| LobbyGame {
            name: game.name.to_owned(),
            description: game.description.to_owned(),
            min_players: game.min_players,
            join_running: game.join_running,
            is_lasting: game.is_lasting,
            quick_start: BTreeMap::new(),
            parameters: Vec::new(),
            max_capacity: u32::MAX,
            presentation: String::new(),
            schema: Vec::new(),
        });
        let check = {
            let registry = registry.clone();
            Box::new(move |game: &str, _, given: &BTreeMap<String, String>| {
                registry.check(game, given).map_err(|error| error.to_string())
            })
        };
        let signer = TicketSigner::from_seed(&[7; 32]);
        Lobby::new(config.clone(), games.collect(), check, entropy, signer)
    }

    /// Creates and starts a room of a game, and lets these users join. Returns once all are in the
    /// game.
    pub fn start_room(
        &mut self,
        users: &[usize],
        game: &str,
        parameters: &[(&str, &str)],
    ) -> RoomId {
        let (&first, others) = users.split_first().expect("at least one user");
        self.run_until("the lobby", |system| {
            users.iter().all(|&user| system.users[user].client.is_connected())
        });
        let parameters =
            parameters.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
        let create = NewRoom {
            name: "room".into(),
            game: game.to_owned(),
            capacity: 4_000,
            parameters,
            ..NewRoom::default()
        };
        self.request(first, LobbyRequest::CreateRoom(create));
        self.run_until("a room", |system| system.users[first].client.room().is_some());
        let room = self.users[first].client.room().expect("the user has created a room");
        self.request(first, LobbyRequest::StartRoom);
        for &user in others {
            self.request(user, LobbyRequest::JoinRoom { room, password: String::new() });
        }
        self.run_until("the game", |system| {
            users.iter().all(|&user| system.users[user].client.avatar().is_some())
        });
        room
    }

    /// Virtual time.
    pub fn now(&self) -> LocalTime {
        self.now
    }

    pub fn lobby(&self) -> &Lobby {
        &self.lobby
    }

    pub fn room(&self, room: RoomId) -> Option<&Room> {
        self.running(room).map(|(_, room)| room.room())
    }

    /// A running room, with the host that the lobby placed it on last.
    pub fn running(&self, room: RoomId) -> Option<(HostId, &SimRoom)> {
        let has_room = |(&host, process): (&HostId, &'_ HostProcess)| {
            (process.is_linked() && process.host.runs_room(room)).then_some(host)
        };
        let host = self.hosts.iter().find_map(has_room)?;
        self.hosts[&host].host.rooms().find(|&(id, _)| id == room).map(|(_, room)| (host, room))
    }

    /// The rooms that run at hosts with a link to the lobby.
    pub fn rooms(&self) -> impl Iterator<Item = (RoomId, &Room)> {
        let linked = self.hosts.values().filter(|process| process.is_linked());
        linked.flat_map(|process| process.host.rooms().map(|(id, room)| (id, room.room())))
    }

    pub fn room_time(&self, room: RoomId) -> Option<ambit_proto::time::GameTime> {
        self.running(room).map(|(_, room)| room.room_time(self.now))
    }

    /// A room's recording, and a hash of all datagrams that it sent.
    pub fn recording(&self, room: RoomId) -> Option<(Vec<u8>, u64)> {
        let (_, room) = self.running(room)?;
        Some((room.recording(), room.outputs.finish()))
    }

    /// Deletes a room's recording and the events of all users. Long runs need this, since both are
    /// unbounded.
    pub fn clear_history(&mut self, room: RoomId) {
        self.hosts.values_mut().for_each(|process| process.host.clear_recording(room));
        self.users.iter_mut().for_each(|user| user.events.clear());
    }

    pub fn user_of(&self, room: RoomId, client: ClientId) -> Option<usize> {
        let (_, room) = self.running(room)?;
        self.game_conns.get(&room.connection(client)?).map(|&(user, _)| user)
    }

    /// Hash over everything that was delivered, with the times.
    pub fn traffic(&self) -> u64 {
        self.traffic.finish()
    }

    /// Pairs of viewer and object that the interest oracles have checked, and how many of them were
    /// followed.
    pub fn checked_pairs(&self) -> (u64, u64) {
        self.interest_oracles
            .values()
            .fold((0, 0), |sum, oracle| (sum.0 + oracle.checked, sum.1 + oracle.followed))
    }

    pub fn pose_oracle(&self, room: RoomId) -> Option<&PoseOracle> {
        let (host, _) = self.running(room)?;
        self.pose_oracles.get(&(host, room))
    }

    /// Runs the simulation for some time.
    pub fn run_for(&mut self, how_long: Duration) {
        let until = self.now + how_long;
        while self.step(until) {}
        self.now = until;
    }

    /// Runs the simulation until a condition holds, for at most a minute.
    pub fn run_until(&mut self, awaited: &str, mut is_done: impl FnMut(&System) -> bool) {
        let until = self.now + Duration::from_mins(1);
        while !is_done(self) {
            assert!(
                self.step(until),
                "seed {}: no {awaited} within a minute of {:?}",
                self.seed,
                self.now
            );
        }
    }

    /// Runs the next event that is due by `until`; returns false if there is none.
    fn step(&mut self, until: LocalTime) -> bool {
        let hosts = self.next_host_deadline();
        let server = self.next_server_deadline();
        let due = [self.events.next_time(), self.lobby.next_deadline(), hosts, server]
            .into_iter()
            .flatten()
            .min();
        let Some(due) = due.filter(|&due| due <= until) else {
            return false;
        };
        self.now = self.now.max(due);
        if let Some((_, event)) = self.events.pop_due(self.now) {
            self.handle_event(event);
        } else if hosts.is_some_and(|due| due <= self.now) {
            self.run_hosts();
        } else if server.is_some_and(|due| due <= self.now) {
            self.run_server();
        } else {
            self.lobby.handle_timeout(self.now);
        }
        self.drain_outputs();
        true
    }

    fn next_host_deadline(&self) -> Option<LocalTime> {
        self.hosts
            .values()
            .filter(|process| process.is_awake())
            .filter_map(|process| process.host.next_deadline())
            .min()
    }

    fn run_hosts(&mut self) {
        let now = self.now;
        for id in self.hosts.keys().copied().collect::<Vec<_>>() {
            let process = self.hosts.get_mut(&id).expect("no host is removed in this loop");
            let is_due = |due: LocalTime| due <= now;
            if process.is_awake() && process.host.next_deadline().is_some_and(is_due) {
                let ticked = process.host.run(now);
                self.check_rooms(id, &ticked);
            }
        }
    }

    fn check_rooms(&mut self, host: HostId, ticked: &[RoomId]) {
        // Checks are slow, so they are skipped if no user is checked.
        let is_checked = self.users.iter().any(|user| user.is_checked);
        for (id, room) in
            self.hosts[&host].host.rooms().filter(|(id, _)| is_checked && ticked.contains(id))
        {
            let oracle = self.interest_oracles.entry((host, id)).or_default();
            let interest = oracle.check(room.room());
            let poses = self.pose_oracles.entry((host, id)).or_default();
            poses.record_tick(room.room());
            let users = room.room().network().viewers().filter_map(|viewer| {
                let (user, _) = self.game_conns.get(&room.connection(viewer.client)?)?;
                Some((viewer, &self.users[*user]))
            });
            let problem = users.filter(|(_, user)| user.is_checked).find_map(|(viewer, user)| {
                poses.record_sent(viewer);
                poses.check(viewer.client, &user.client).err()
            });
            if let Some(problem) = interest.err().or(problem) {
                panic!("seed {}, {id:?}, at {:?}: {problem}", self.seed, self.now);
            }
        }
    }

    fn handle_event(&mut self, event: SimEvent) {
        self.hash_event(&event);
        let now = self.now;
        match event {
            SimEvent::LobbyConnecting { conn } => {
                let user = self.lobby_conns[&conn];
                self.lobby.handle_connect(now, conn, IpAddr::V4(Ipv4Addr::LOCALHOST));
                let at = self.users[user].down.send_on_stream(now);
                self.events.push(at, SimEvent::LobbyConnected { user, conn });
            }
            SimEvent::LobbyConnected { user, conn } => {
                if self.users[user].world == Some(conn) {
                    self.with_client(user, Client::handle_world_connected);
                }
            }
            SimEvent::ToLobby { conn, frame } => self.lobby.handle_frame(now, conn, &frame),
            SimEvent::FromLobby { conn, frame } => {
                if let Some(user) = self.lobby_user(conn) {
                    let message = WorldToClient::decode(&frame[..])
                        .expect("the lobby encodes valid messages");
                    self.with_client(user, |client, now| {
                        client.handle_world_message(now, message);
                    });
                }
            }
            SimEvent::LobbyDisconnected { conn, quit: true } => self.lobby.handle_quit(now, conn),
            SimEvent::LobbyDisconnected { conn, quit: false } => {
                self.lobby.handle_disconnect(now, conn);
            }
            SimEvent::ClosedByLobby { conn, message } => {
                if let Some(user) = self.lobby_user(conn) {
                    self.users[user].world = None;
                    self.with_client(user, |client, now| {
                        client.handle_world_closed(now, CloseReason::Broken(message));
                    });
                }
            }
            SimEvent::GameConnected { user, conn } => {
                if self.users[user].game == Some(conn) {
                    self.with_client(user, Client::handle_game_connected);
                }
            }
            SimEvent::ToHost { conn, frame } => self.send_to_host(conn, ClientData::Control(frame)),
            SimEvent::FromHost { conn, frame } => {
                if let Some(user) = self.game_user(conn) {
                    let message =
                        GameToClient::decode(&frame[..]).expect("hosts encode valid messages");
                    self.check_incarnation(conn, user, message.body.as_ref());
                    self.with_client(user, |client, now| {
                        client.handle_game_message(now, message);
                    });
                }
            }
            SimEvent::GameDisconnected { conn } => {
                self.send_to_host(conn, ClientData::Disconnected);
            }
            SimEvent::ClosedByHost { conn } => {
                if let Some(user) = self.game_user(conn) {
                    self.users[user].game = None;
                    self.with_client(user, |client, now| {
                        client.handle_game_closed(
                            now,
                            CloseReason::Broken("closed by the host".into()),
                        );
                    });
                }
            }
            SimEvent::DatagramUp { conn, bytes } => {
                self.send_to_host(conn, ClientData::Datagram(bytes));
            }
            SimEvent::DatagramDown { conn, bytes } => {
                if let Some(user) = self.game_user(conn) {
                    self.check_incarnation(conn, user, None);
                    self.with_client(user, |client, now| client.handle_datagram(now, &bytes));
                }
            }
            SimEvent::Wake { user } => {
                if self.users[user].wake.is_some_and(|wake| wake <= now) {
                    self.users[user].wake = None;
                    self.with_client(user, Client::handle_timeout);
                }
            }
            SimEvent::Host { host, event } => self.handle_host_event(host, event),
        }
    }

    /// Handles the outputs of lobby and hosts until there are none.
    fn drain_outputs(&mut self) {
        loop {
            if let Some(output) = self.lobby.poll_output() {
                self.handle_lobby_output(output);
            } else if let Some((host, output)) = self.poll_hosts() {
                self.handle_host_output(host, output);
            } else {
                return;
            }
        }
    }

    fn handle_lobby_output(&mut self, output: LobbyAction) {
        match output {
            LobbyAction::Send { conn, message } => self.send_world(conn, message.encode_to_vec()),
            LobbyAction::Broadcast { conns, message } => {
                let frame = message.encode_to_vec();
                for conn in conns {
                    self.send_world(conn, frame.clone());
                }
            }
            LobbyAction::Close { conn, message, .. } => {
                let at = self.users[self.lobby_conns[&conn]].down.send_on_stream(self.now);
                self.events.push(at, SimEvent::ClosedByLobby { conn, message });
                self.events.push(self.now, SimEvent::LobbyDisconnected { conn, quit: false });
            }
            // The next server gives the rooms to hosts.
            LobbyAction::Host { .. } | LobbyAction::SetChildCount(_)
                if self.server.holds_orders => {}
            LobbyAction::Host { host, order } => self.order_host(host, order),
            LobbyAction::DisconnectHost { host } => self.cut_link(host),
            LobbyAction::SaveCondemned { header } => self.fleet.note_condemned(RoomId(header.room)),
            LobbyAction::ForgetRoom { room } => self.checkpoints.remove(room),
            LobbyAction::SetChildCount(wanted) => {
                self.fleet.wanted_children = wanted;
                self.start_children();
            }
            LobbyAction::Account { source, job } => self.begin_account_job(source, &job),
            LobbyAction::Store { request, job } => self.begin_store_job(request, job, false),
            LobbyAction::StoreLast { request, job } => self.begin_store_job(request, job, true),
            LobbyAction::ForgetStoreJobs { lineage, room } => {
                if let Some(store) = &self.server.store {
                    store.forget_room(lineage, room.0);
                }
            }
            LobbyAction::Record { key, value } => self.server.record(key, value),
            LobbyAction::AdoptRoom { .. }
            | LobbyAction::SetAsideRoom { .. }
            | LobbyAction::NoteTrial { .. }
            | LobbyAction::Report(_)
            | LobbyAction::RestoreDone => {}
        }
    }

    fn send_world(&mut self, conn: ConnId, frame: Vec<u8>) {
        let at = self.users[self.lobby_conns[&conn]].down.send_on_stream(self.now);
        self.events.push(at, SimEvent::FromLobby { conn, frame });
    }

    fn poll_hosts(&mut self) -> Option<(HostId, SimHostOutput)> {
        self.hosts
            .iter_mut()
            .find_map(|(&host, process)| process.host.poll().map(|output| (host, output)))
    }

    fn handle_host_output(&mut self, host: HostId, output: SimHostOutput) {
        if self.hosts[&host].is_embedded() {
            return self.forward_host_output(host, output);
        }
        match output {
            SimHostOutput::World(message) => self.queue_message(host, *message),
            SimHostOutput::Ended(ending) => self.host_ended(host, &ending),
            SimHostOutput::MakeRoom(room) => {
                let at = self.now + self.fleet.room_creation_time();
                self.schedule_at_host(at, host, HostEvent::RoomMade { room });
            }
            SimHostOutput::Control(..) | SimHostOutput::Datagram(..) | SimHostOutput::Closed(_) => {
                self.forward_host_output(host, output);
            }
        }
    }

    fn forward_host_output(&mut self, host: HostId, output: SimHostOutput) {
        let now = self.now;
        match output {
            SimHostOutput::MakeRoom(_) | SimHostOutput::Ended(_) => {}
            SimHostOutput::World(message) => self.report(host, *message),
            SimHostOutput::Control(conn, message) => {
                let at = self.users[self.game_conns[&conn].0].down.send_on_stream(now);
                self.events.push(at, SimEvent::FromHost { conn, frame: message.encode_to_vec() });
            }
            SimHostOutput::Datagram(conn, bytes) => {
                let user = &mut self.users[self.game_conns[&conn].0];
                user.bytes.0 += bytes.len() as u64;
                if let Some(sent_datagrams) = &mut user.sent_datagrams {
                    sent_datagrams.push((now, bytes.clone()));
                }
                for at in user.down.send_datagram(now, bytes.len()) {
                    self.events.push(at, SimEvent::DatagramDown { conn, bytes: bytes.clone() });
                }
            }
            SimHostOutput::Closed(conn) => {
                let at = self.users[self.game_conns[&conn].0].down.send_on_stream(now);
                self.events.push(at, SimEvent::ClosedByHost { conn });
            }
        }
    }

    fn hash_event(&mut self, event: &SimEvent) {
        let (kind, conn, bytes): (u8, u64, &[u8]) = match event {
            SimEvent::ToLobby { conn, frame } => (1, conn.0, frame),
            SimEvent::FromLobby { conn, frame } => (2, conn.0, frame),
            SimEvent::ToHost { conn, frame } => (3, *conn, frame),
            SimEvent::FromHost { conn, frame } => (4, *conn, frame),
            SimEvent::DatagramUp { conn, bytes } => (5, *conn, bytes),
            SimEvent::DatagramDown { conn, bytes } => (6, *conn, bytes),
            _ => return,
        };
        (self.now, kind, conn, bytes).hash(&mut self.traffic);
    }
}
