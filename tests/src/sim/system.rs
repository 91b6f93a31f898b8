//! The loop of the simulation.

pub mod fleet;

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use ambit_client_core::client::config::ClientConfig;
use ambit_client_core::client::event::ViewEvent;
use ambit_client_core::client::lobby::CloseReason;
use ambit_client_core::client::request::{LobbyRequest, NewRoom};
use ambit_client_core::client::{Client, ClientOutput};
use ambit_proto::control::game::{ClientToGame, GameToClient};
use ambit_proto::control::world::{ClientToWorld, WorldToClient};
use ambit_proto::ids::{ClientId, RoomId};
use ambit_proto::keymap::Keymap;
use ambit_proto::message::Action;
use ambit_proto::time::LocalTime;
use ambit_room::logic::registry::Registry;
use ambit_room::room::Room;
use ambit_transport::impair::Impairment;
use ambit_transport::ticket::TicketSigner;
use ambit_world_server::lobby::{
    ConnId, HostId, Lobby, LobbyAction, LobbyConfig, LobbyGame, Origin,
};
use ambit_world_server::room_checkpoints::RoomCheckpoints;
use bytes::Bytes;
use prost::Message;

use super::host::{GameConn, SimHost, SimHostOutput, SimRoom};
use super::net::{Agenda, Path};
use crate::oracle::InterestOracle;
use crate::oracle::poses::PoseOracle;
use fleet::{Fleet, HostEvent, NO_ANSWER, Node, ToHost};

const HOST: HostId = HostId(1);
/// The first id of a process of its own.
const FIRST_APART: u64 = 2;

/// See the module.
pub struct System {
    now: LocalTime,
    seed: u64,
    agenda: Agenda<Parcel>,
    lobby: Lobby,
    hosts: BTreeMap<HostId, Node>,
    /// What hosts have sent of their rooms.
    checkpoints: RoomCheckpoints,
    fleet: Fleet,
    guests: Vec<Guest>,
    /// The guest behind each lobby connection.
    worlds: BTreeMap<ConnId, usize>,
    /// The guest behind each game connection, and the host.
    games: BTreeMap<GameConn, (usize, HostId)>,
    next_conn: u64,
    traffic: DefaultHasher,
    oracles: BTreeMap<(HostId, RoomId), InterestOracle>,
    poses: BTreeMap<(HostId, RoomId), PoseOracle>,
}

/// A client and its path.
pub struct Guest {
    /// The client itself.
    pub client: Client,
    /// The events of its views, oldest first.
    pub events: Vec<ViewEvent>,
    /// Every datagram that a host sent to it, with its time; kept only on demand.
    pub sent_to: Option<Vec<(LocalTime, Bytes)>>,
    /// Whether the oracle of poses looks at all that it knows, after each tick.
    pub is_watched: bool,
    /// Bytes of datagrams towards it, and from it.
    pub bytes: (u64, u64),
    up: Path,
    down: Path,
    /// What its clock is ahead of the simulation's.
    offset: Duration,
    world: Option<ConnId>,
    game: Option<GameConn>,
    wake: Option<LocalTime>,
}

/// Something that arrives later.
enum Parcel {
    WorldOpen { conn: ConnId },
    WorldOpened { guest: usize, conn: ConnId },
    ToLobby { conn: ConnId, frame: Vec<u8> },
    FromLobby { conn: ConnId, frame: Vec<u8> },
    WorldGone { conn: ConnId, quit: bool },
    WorldClosed { conn: ConnId, message: String },
    GameOpened { guest: usize, conn: GameConn },
    ToHost { conn: GameConn, frame: Vec<u8> },
    FromHost { conn: GameConn, frame: Vec<u8> },
    GameGone { conn: GameConn },
    GameClosed { conn: GameConn },
    Up { conn: GameConn, bytes: Bytes },
    Down { conn: GameConn, bytes: Bytes },
    Wake { guest: usize },
    AtHost { host: HostId, what: HostEvent },
}

impl System {
    /// A lobby and a host with these games, without clients.
    pub fn new(seed: u64, registry: &Registry) -> Self {
        let mut system = Self::without_hosts(seed, registry, &LobbyConfig::default());
        let mut host = SimHost::new(registry.clone());
        host.connect(system.now);
        system.hosts.insert(HOST, Node::embedded(host));
        system
            .lobby
            .handle_host_start(system.now, HOST, Origin::Embedded);
        system.pump();
        system
    }

    /// A lobby with these games and this configuration, but for the limits of requests, without
    /// clients; it starts the children that it wants.
    pub fn with_children(seed: u64, registry: &Registry, config: &LobbyConfig) -> Self {
        let mut system = Self::without_hosts(seed, registry, config);
        system.start_children();
        system
    }

    fn without_hosts(seed: u64, registry: &Registry, config: &LobbyConfig) -> Self {
        let mut entropy = fastrand::Rng::with_seed(seed ^ 0x5eed);
        let entropy = Box::new(move || entropy.u128(..).to_le_bytes());
        let games = registry.games().map(|game| LobbyGame {
            name: game.name.to_owned(),
            description: game.description.to_owned(),
            min_players: game.min_players,
            join_running: game.join_running,
        });
        let check = {
            let registry = registry.clone();
            Box::new(move |game: &str, given: &BTreeMap<String, String>| {
                registry
                    .check(game, given)
                    .map_err(|error| error.to_string())
            })
        };
        let config = LobbyConfig {
            requests_per_s: 1_000,
            request_burst: 1_000,
            rooms_per_minute: 1_000,
            ..config.clone()
        };
        let children = config.children.min;
        let lobby = Lobby::new(
            config,
            games.collect(),
            check,
            entropy,
            TicketSigner::from_seed(&[7; 32]),
        );
        System {
            now: LocalTime::ZERO,
            seed,
            agenda: Agenda::new(),
            lobby,
            hosts: BTreeMap::new(),
            checkpoints: RoomCheckpoints::default(),
            fleet: Fleet::new(seed, registry.clone(), children),
            guests: Vec::new(),
            worlds: BTreeMap::new(),
            games: BTreeMap::new(),
            next_conn: 0,
            traffic: DefaultHasher::new(),
            oracles: BTreeMap::new(),
            poses: BTreeMap::new(),
        }
    }

    /// A client with this name and path connects to the lobby. Returns its number.
    pub fn arrive(&mut self, name: &str, impairment: &Impairment) -> usize {
        self.arrive_with(
            ClientConfig {
                name: name.to_owned(),
                ..ClientConfig::default()
            },
            impairment,
        )
    }

    /// The same with settings.
    pub fn arrive_with(&mut self, config: ClientConfig, impairment: &Impairment) -> usize {
        let number = self.guests.len();
        let seed = self
            .seed
            .wrapping_mul(1_000_003)
            .wrapping_add(2 * number as u64);
        let line = |seed: u64| {
            Path::new(&Impairment {
                seed,
                ..*impairment
            })
        };
        self.guests.push(Guest {
            client: Client::new(&ClientConfig { seed, ..config }),
            events: Vec::new(),
            is_watched: !config.light,
            sent_to: None,
            bytes: (0, 0),
            up: line(seed),
            down: line(seed + 1),
            offset: Duration::from_micros(seed % 7_000_000_000),
            world: None,
            game: None,
            wake: None,
        });
        self.with(number, Client::connect);
        number
    }

    /// Makes a room of a game, starts it and lets everybody in. Returns once all are playing.
    pub fn gather(&mut self, guests: &[usize], game: &str, parameters: &[(&str, &str)]) -> RoomId {
        let (&first, others) = guests.split_first().expect("somebody makes the room");
        self.run_until("the lobby", |system| {
            guests
                .iter()
                .all(|&guest| system.guests[guest].client.is_connected())
        });
        let parameters = parameters
            .iter()
            .map(|&(key, value)| (key.to_owned(), value.to_owned()))
            .collect();
        let create = NewRoom {
            name: "room".into(),
            game: game.to_owned(),
            capacity: 4_000,
            parameters,
            ..NewRoom::default()
        };
        self.request(first, LobbyRequest::CreateRoom(create));
        self.run_until("a room", |system| {
            system.guests[first].client.room().is_some()
        });
        let room = self.guests[first]
            .client
            .room()
            .expect("it has just been made");
        self.request(first, LobbyRequest::StartRoom);
        for &guest in others {
            self.request(
                guest,
                LobbyRequest::JoinRoom {
                    room,
                    password: String::new(),
                },
            );
        }
        self.run_until("the game", |system| {
            guests
                .iter()
                .all(|&guest| system.guests[guest].client.avatar().is_some())
        });
        room
    }

    /// The time of the simulation.
    pub fn now(&self) -> LocalTime {
        self.now
    }

    /// A client.
    pub fn guest(&self, guest: usize) -> &Guest {
        &self.guests[guest]
    }

    /// A client, to be changed.
    pub fn guest_mut(&mut self, guest: usize) -> &mut Guest {
        &mut self.guests[guest]
    }

    /// The time of a client's own clock.
    pub fn local(&self, guest: usize) -> LocalTime {
        self.now + self.guests[guest].offset
    }

    /// The lobby.
    pub fn lobby(&self) -> &Lobby {
        &self.lobby
    }

    /// A running room.
    pub fn room(&self, room: RoomId) -> Option<&Room> {
        self.running(room).map(|(_, room)| room.room())
    }

    /// Where a room runs: at the host that the WorldServer has given it to last.
    pub fn running(&self, room: RoomId) -> Option<(HostId, &SimRoom)> {
        let there = |(&host, node): (&HostId, &'_ Node)| {
            (node.is_linked() && node.host.has(room)).then_some(host)
        };
        let host = self.hosts.iter().find_map(there)?;
        self.hosts[&host]
            .host
            .rooms()
            .find(|&(id, _)| id == room)
            .map(|(_, room)| (host, room))
    }

    /// The room's time now.
    pub fn room_time(&self, room: RoomId) -> Option<ambit_proto::time::GameTime> {
        self.running(room).map(|(_, room)| room.time(self.now))
    }

    /// Everything that went into a room so far, and a hash of what came out.
    pub fn recording(&self, room: RoomId) -> Option<(&[u8], u64)> {
        let (_, room) = self.running(room)?;
        Some((room.recording(), room.outputs.finish()))
    }

    /// Forgets a room's recording and the events of all guests, which nothing else bounds: for long
    /// runs.
    pub fn forget_what_was_said(&mut self, room: RoomId) {
        self.hosts
            .values_mut()
            .for_each(|node| node.host.forget_recording(room));
        self.guests
            .iter_mut()
            .for_each(|guest| guest.events.clear());
    }

    /// The guest behind a client of a room.
    pub fn guest_of(&self, room: RoomId, client: ClientId) -> Option<usize> {
        let (_, room) = self.running(room)?;
        self.games
            .get(&room.connection(client)?)
            .map(|&(guest, _)| guest)
    }

    /// A hash over everything that was delivered so far, and when.
    pub fn traffic(&self) -> u64 {
        self.traffic.finish()
    }

    /// How much the oracles have looked at: pairs, and those that were followed.
    pub fn looked_at(&self) -> (u64, u64) {
        self.oracles.values().fold((0, 0), |sum, oracle| {
            (sum.0 + oracle.checked, sum.1 + oracle.followed)
        })
    }

    /// What clients of a room know of poses, and the truth.
    pub fn poses(&self, room: RoomId) -> Option<&PoseOracle> {
        let (host, _) = self.running(room)?;
        self.poses.get(&(host, room))
    }

    /// A request to the lobby.
    pub fn request(&mut self, guest: usize, request: LobbyRequest) {
        self.with(guest, |client, now| {
            client
                .request(now, request)
                .expect("the lobby takes requests");
        });
    }

    /// A command to the game.
    pub fn act(&mut self, guest: usize, action: Action) {
        self.with(guest, |client, now| {
            // Outside a game there is nothing to command: bots go on clicking.
            let _ = client.act(now, action);
        });
    }

    /// From now on a client's player holds these keys.
    pub fn input(&mut self, guest: usize, keys: Keymap) {
        self.with(guest, |client, now| client.input(now, keys));
    }

    /// Other faults on a client's path from now on.
    pub fn impair(&mut self, guest: usize, impairment: &Impairment) {
        let guest = &mut self.guests[guest];
        guest.up.impair(impairment);
        guest.down.impair(&Impairment {
            seed: impairment.seed ^ 1,
            ..*impairment
        });
    }

    /// Nothing gets through a client's path for so long; QUIC does not give up in that time.
    pub fn cut(&mut self, guest: usize, how_long: Duration) {
        let until = self.now + how_long;
        self.guests[guest].up.cut_until(until);
        self.guests[guest].down.cut_until(until);
    }

    /// Both connections of a client break, and both ends notice.
    pub fn drop_connections(&mut self, guest: usize) {
        if let Some(conn) = self.guests[guest].world.take() {
            self.agenda
                .add(self.now, Parcel::WorldGone { conn, quit: false });
            self.with(guest, |client, now| {
                client.handle_world_closed(now, CloseReason::Broken("cut".into()));
            });
        }
        self.drop_game(guest);
    }

    /// The game's connection of a client breaks, and both ends notice.
    pub fn drop_game(&mut self, guest: usize) {
        if let Some(conn) = self.guests[guest].game.take() {
            self.agenda.add(self.now, Parcel::GameGone { conn });
            self.with(guest, |client, now| {
                client.handle_game_closed(now, CloseReason::Broken("cut".into()));
            });
        }
    }

    /// The process of a client dies: its connections go with it, and it does nothing any more.
    pub fn kill(&mut self, guest: usize) {
        for parcel in [
            self.guests[guest]
                .world
                .take()
                .map(|conn| Parcel::WorldGone { conn, quit: false }),
            self.guests[guest]
                .game
                .take()
                .map(|conn| Parcel::GameGone { conn }),
        ]
        .into_iter()
        .flatten()
        {
            self.agenda.add(self.now, parcel);
        }
        self.guests[guest].client = Client::new(&ClientConfig::default());
    }

    /// Lets so much time pass.
    pub fn run_for(&mut self, how_long: Duration) {
        let until = self.now + how_long;
        while self.step(until) {}
        self.now = until;
    }

    /// Lets time pass until something is so; a minute at most.
    pub fn run_until(&mut self, what: &str, mut is_so: impl FnMut(&System) -> bool) {
        let until = self.now + Duration::from_mins(1);
        while !is_so(self) {
            assert!(
                self.step(until),
                "seed {}: no {what} within a minute of {:?}",
                self.seed,
                self.now
            );
        }
    }

    /// Does the next thing that is due by `until`; false if there is none.
    fn step(&mut self, until: LocalTime) -> bool {
        let hosts = self.next_of_hosts();
        let due = [self.agenda.next(), self.lobby.next_deadline(), hosts]
            .into_iter()
            .flatten()
            .min();
        let Some(due) = due.filter(|&due| due <= until) else {
            return false;
        };
        self.now = self.now.max(due);
        if let Some((_, parcel)) = self.agenda.take(self.now) {
            self.deliver(parcel);
        } else if hosts.is_some_and(|due| due <= self.now) {
            self.run_hosts();
        } else {
            self.lobby.handle_timeout(self.now);
        }
        self.pump();
        true
    }

    fn next_of_hosts(&self) -> Option<LocalTime> {
        self.hosts
            .values()
            .filter(|node| node.is_awake())
            .filter_map(|node| node.host.next_deadline())
            .min()
    }

    fn run_hosts(&mut self) {
        let now = self.now;
        for id in self.hosts.keys().copied().collect::<Vec<_>>() {
            let node = self.hosts.get_mut(&id).expect("none goes meanwhile");
            let is_due = |due: LocalTime| due <= now;
            if node.is_awake() && node.host.next_deadline().is_some_and(is_due) {
                let ticked = node.host.run(now);
                self.check(id, &ticked);
            }
        }
    }

    fn check(&mut self, host: HostId, ticked: &[RoomId]) {
        // What is watched is what clients show; where nobody does, nobody looks.
        let is_watched = self.guests.iter().any(|guest| guest.is_watched);
        for (id, room) in self.hosts[&host]
            .host
            .rooms()
            .filter(|(id, _)| is_watched && ticked.contains(id))
        {
            let oracle = self.oracles.entry((host, id)).or_default();
            let interest = oracle.check(room.room());
            let poses = self.poses.entry((host, id)).or_default();
            poses.record_tick(room.room());
            let guests = room.room().network().viewers().filter_map(|viewer| {
                let (guest, _) = self.games.get(&room.connection(viewer.client)?)?;
                Some((viewer, &self.guests[*guest]))
            });
            let problem =
                guests
                    .filter(|(_, guest)| guest.is_watched)
                    .find_map(|(viewer, guest)| {
                        poses.record_sent(room.room(), viewer);
                        poses.check(viewer.client, &guest.client).err()
                    });
            if let Some(problem) = interest.err().or(problem) {
                panic!("seed {}, {id:?}, at {:?}: {problem}", self.seed, self.now);
            }
        }
    }

    fn deliver(&mut self, parcel: Parcel) {
        self.hash(&parcel);
        let now = self.now;
        match parcel {
            Parcel::WorldOpen { conn } => {
                let guest = self.worlds[&conn];
                self.lobby
                    .handle_connect(now, conn, IpAddr::V4(Ipv4Addr::LOCALHOST));
                let at = self.guests[guest].down.stream(now);
                self.agenda.add(at, Parcel::WorldOpened { guest, conn });
            }
            Parcel::WorldOpened { guest, conn } => {
                if self.guests[guest].world == Some(conn) {
                    self.with(guest, Client::handle_world_connected);
                }
            }
            Parcel::ToLobby { conn, frame } => self.lobby.handle_frame(now, conn, &frame),
            Parcel::FromLobby { conn, frame } => {
                if let Some(guest) = self.listening(conn) {
                    let message =
                        WorldToClient::decode(&frame[..]).expect("the lobby's own message");
                    self.with(guest, |client, now| {
                        client.handle_world_message(now, message);
                    });
                }
            }
            Parcel::WorldGone { conn, quit: true } => self.lobby.handle_quit(now, conn),
            Parcel::WorldGone { conn, quit: false } => self.lobby.handle_disconnect(now, conn),
            Parcel::WorldClosed { conn, message } => {
                if let Some(guest) = self.listening(conn) {
                    self.guests[guest].world = None;
                    self.with(guest, |client, now| {
                        client.handle_world_closed(now, CloseReason::Broken(message));
                    });
                }
            }
            Parcel::GameOpened { guest, conn } => {
                if self.guests[guest].game == Some(conn) {
                    self.with(guest, Client::handle_game_connected);
                }
            }
            Parcel::ToHost { conn, frame } => self.send_to_host(conn, ToHost::Control(frame)),
            Parcel::FromHost { conn, frame } => {
                if let Some(guest) = self.playing(conn) {
                    let message = GameToClient::decode(&frame[..]).expect("the host's own message");
                    self.check_owner(conn, guest, message.body.as_ref());
                    self.with(guest, |client, now| {
                        client.handle_game_message(now, message);
                    });
                }
            }
            Parcel::GameGone { conn } => self.send_to_host(conn, ToHost::Gone),
            Parcel::GameClosed { conn } => {
                if let Some(guest) = self.playing(conn) {
                    self.guests[guest].game = None;
                    self.with(guest, |client, now| {
                        client.handle_game_closed(
                            now,
                            CloseReason::Broken("closed by the host".into()),
                        );
                    });
                }
            }
            Parcel::Up { conn, bytes } => self.send_to_host(conn, ToHost::Datagram(bytes)),
            Parcel::Down { conn, bytes } => {
                if let Some(guest) = self.playing(conn) {
                    self.check_owner(conn, guest, None);
                    self.with(guest, |client, now| client.handle_datagram(now, &bytes));
                }
            }
            Parcel::Wake { guest } => {
                if self.guests[guest].wake.is_some_and(|wake| wake <= now) {
                    self.guests[guest].wake = None;
                    self.with(guest, Client::handle_timeout);
                }
            }
            Parcel::AtHost { host, what } => self.handle_host_event(host, what),
        }
    }

    /// Lets a client do something, then carries out what it wants.
    pub fn with(&mut self, guest: usize, what: impl FnOnce(&mut Client, LocalTime)) {
        let local = self.local(guest);
        what(&mut self.guests[guest].client, local);
        while let Some(output) = self.guests[guest].client.poll_output() {
            self.carry_out(guest, output);
        }
        let guest_ref = &mut self.guests[guest];
        while let Some(event) = guest_ref.client.poll_event() {
            guest_ref.events.push(event);
        }
        let wake = guest_ref
            .client
            .next_deadline()
            .map(|deadline| self.now + deadline.since(local));
        if let Some(wake) = wake.filter(|&wake| guest_ref.wake.is_none_or(|earlier| wake < earlier))
        {
            guest_ref.wake = Some(wake);
            // What is overdue is done a little later, so that time goes on.
            self.agenda.add(
                wake.max(self.now + Duration::from_micros(100)),
                Parcel::Wake { guest },
            );
        }
    }

    fn carry_out(&mut self, number: usize, output: ClientOutput) {
        let now = self.now;
        let guest = &mut self.guests[number];
        match output {
            ClientOutput::ConnectWorld => {
                self.next_conn += 1;
                let conn = ConnId(self.next_conn);
                guest.world = Some(conn);
                self.worlds.insert(conn, number);
                self.agenda
                    .add(guest.up.stream(now), Parcel::WorldOpen { conn });
            }
            ClientOutput::World(message) => {
                if let Some(conn) = guest.world {
                    let frame = ClientToWorld::encode_to_vec(&message);
                    self.agenda
                        .add(guest.up.stream(now), Parcel::ToLobby { conn, frame });
                }
            }
            ClientOutput::CloseWorld => {
                if let Some(conn) = guest.world.take() {
                    self.agenda
                        .add(guest.up.stream(now), Parcel::WorldGone { conn, quit: true });
                }
            }
            ClientOutput::ConnectGame { address, .. } => {
                self.next_conn += 1;
                let conn = self.next_conn;
                guest.game = Some(conn);
                let there = guest.up.stream(now);
                let called = self
                    .hosts
                    .iter()
                    .find(|(_, node)| node.host.address() == address);
                match called {
                    Some((&host, node)) => {
                        self.games.insert(conn, (number, host));
                        if node.is_embedded() {
                            self.agenda.add(
                                guest.down.stream(there),
                                Parcel::GameOpened {
                                    guest: number,
                                    conn,
                                },
                            );
                        } else {
                            self.agenda.add(
                                there,
                                Parcel::AtHost {
                                    host,
                                    what: HostEvent::Connecting {
                                        guest: number,
                                        conn,
                                    },
                                },
                            );
                        }
                    }
                    // No host has this address any more.
                    None => _ = self.games.insert(conn, (number, HostId(0))),
                }
                if called.is_none_or(|(_, node)| !node.is_embedded()) {
                    self.agenda.add(
                        now + NO_ANSWER,
                        Parcel::AtHost {
                            host: HostId(0),
                            what: HostEvent::NoAnswer { conn },
                        },
                    );
                }
            }
            ClientOutput::Game(message) => {
                if let Some(conn) = guest.game {
                    let frame = ClientToGame::encode_to_vec(&message);
                    self.agenda
                        .add(guest.up.stream(now), Parcel::ToHost { conn, frame });
                }
            }
            ClientOutput::CloseGame => {
                if let Some(conn) = guest.game.take() {
                    self.agenda
                        .add(guest.up.stream(now), Parcel::GameGone { conn });
                }
            }
            ClientOutput::Datagram(bytes) => {
                guest.bytes.1 += bytes.len() as u64;
                let Some(conn) = guest.game else { return };
                for at in guest.up.datagram(now, bytes.len()) {
                    self.agenda.add(
                        at,
                        Parcel::Up {
                            conn,
                            bytes: bytes.clone(),
                        },
                    );
                }
            }
        }
    }

    /// Carries the outputs of lobby and hosts until there are none.
    fn pump(&mut self) {
        loop {
            if let Some(output) = self.lobby.poll_output() {
                self.carry_lobby(output);
            } else if let Some((host, output)) = self.poll_hosts() {
                self.carry_host(host, output);
            } else {
                return;
            }
        }
    }

    fn carry_lobby(&mut self, output: LobbyAction) {
        match output {
            LobbyAction::Send { conn, message } => self.send_world(conn, message.encode_to_vec()),
            LobbyAction::Broadcast { conns, message } => {
                let frame = message.encode_to_vec();
                for conn in conns {
                    self.send_world(conn, frame.clone());
                }
            }
            LobbyAction::Close { conn, message, .. } => {
                let at = self.guests[self.worlds[&conn]].down.stream(self.now);
                self.agenda.add(at, Parcel::WorldClosed { conn, message });
                self.agenda
                    .add(self.now, Parcel::WorldGone { conn, quit: false });
            }
            LobbyAction::Host { host, order } => self.order_host(host, order),
            LobbyAction::DisconnectHost { host } => self.cut_link(host),
            LobbyAction::SaveCondemned { header } => self.fleet.note_condemned(RoomId(header.room)),
            LobbyAction::ForgetRoom { room } => self.checkpoints.remove(room),
            LobbyAction::SetChildCount(wanted) => {
                self.fleet.wanted = wanted;
                self.start_children();
            }
            LobbyAction::AdoptRoom { .. } | LobbyAction::Record { .. } => {}
        }
    }

    fn send_world(&mut self, conn: ConnId, frame: Vec<u8>) {
        let at = self.guests[self.worlds[&conn]].down.stream(self.now);
        self.agenda.add(at, Parcel::FromLobby { conn, frame });
    }

    fn poll_hosts(&mut self) -> Option<(HostId, SimHostOutput)> {
        self.hosts
            .iter_mut()
            .find_map(|(&host, node)| node.host.poll().map(|output| (host, output)))
    }

    fn carry_host(&mut self, host: HostId, output: SimHostOutput) {
        if self.hosts[&host].is_embedded() {
            return self.carry_output(host, output);
        }
        match output {
            SimHostOutput::World(message) => self.queue_message(host, message),
            SimHostOutput::Ended(ending) => self.host_ended(host, &ending),
            SimHostOutput::Making(room) => {
                let at = self.now + self.fleet.time_of_making();
                self.agenda.add(
                    at,
                    Parcel::AtHost {
                        host,
                        what: HostEvent::Made { room },
                    },
                );
            }
            SimHostOutput::Control(..) | SimHostOutput::Datagram(..) | SimHostOutput::Closed(_) => {
                self.carry_output(host, output);
            }
        }
    }

    fn carry_output(&mut self, host: HostId, output: SimHostOutput) {
        let now = self.now;
        match output {
            SimHostOutput::Making(_) | SimHostOutput::Ended(_) => {}
            SimHostOutput::World(message) => self.report(host, message),
            SimHostOutput::Control(conn, message) => {
                let at = self.guests[self.games[&conn].0].down.stream(now);
                self.agenda.add(
                    at,
                    Parcel::FromHost {
                        conn,
                        frame: message.encode_to_vec(),
                    },
                );
            }
            SimHostOutput::Datagram(conn, bytes) => {
                let guest = &mut self.guests[self.games[&conn].0];
                guest.bytes.0 += bytes.len() as u64;
                if let Some(sent_to) = &mut guest.sent_to {
                    sent_to.push((now, bytes.clone()));
                }
                for at in guest.down.datagram(now, bytes.len()) {
                    self.agenda.add(
                        at,
                        Parcel::Down {
                            conn,
                            bytes: bytes.clone(),
                        },
                    );
                }
            }
            SimHostOutput::Closed(conn) => {
                let at = self.guests[self.games[&conn].0].down.stream(now);
                self.agenda.add(at, Parcel::GameClosed { conn });
            }
        }
    }

    /// The client that still has this lobby connection.
    fn listening(&self, conn: ConnId) -> Option<usize> {
        self.worlds
            .get(&conn)
            .copied()
            .filter(|&guest| self.guests[guest].world == Some(conn))
    }

    /// The client that still has this game connection.
    fn playing(&self, conn: GameConn) -> Option<usize> {
        self.games
            .get(&conn)
            .map(|&(guest, _)| guest)
            .filter(|&guest| self.guests[guest].game == Some(conn))
    }

    fn hash(&mut self, parcel: &Parcel) {
        let (kind, whose, bytes): (u8, u64, &[u8]) = match parcel {
            Parcel::ToLobby { conn, frame } => (1, conn.0, frame),
            Parcel::FromLobby { conn, frame } => (2, conn.0, frame),
            Parcel::ToHost { conn, frame } => (3, *conn, frame),
            Parcel::FromHost { conn, frame } => (4, *conn, frame),
            Parcel::Up { conn, bytes } => (5, *conn, bytes),
            Parcel::Down { conn, bytes } => (6, *conn, bytes),
            _ => return,
        };
        (self.now, kind, whose, bytes).hash(&mut self.traffic);
    }
}
