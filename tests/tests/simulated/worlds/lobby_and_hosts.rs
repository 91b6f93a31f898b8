//! A lobby and hosts that die, on virtual time, with the messages in flight between them: each
//! message takes time and arrives in order, and what a host has not sent when it dies is lost.
//! Players join once, and then their avatars wander.

use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;
use std::time::Duration;

use ambit_host::host_core::checkpoints::restore_room;
use ambit_host::host_core::messages::{
    HostMessage, RoomAssignment, RoomOrder, RoomResume, WorldOrder,
};
use ambit_host::host_core::protobuf::order_of;
use ambit_host::protocol::messages::{HostReady, HostToWorld, WorldToHost};
use ambit_proto::control::WORLD_VERSION;
use ambit_proto::control::world::{self, ClientToWorld, client_to_world as ask};
use ambit_proto::ids::{ClientId, PlayerId, RoomId};
use ambit_proto::pose::PoseCoding;
use ambit_proto::time::{GameTime, LocalTime};
use ambit_room::journal::{JournalEntry, RoomSnapshot};
use ambit_room::logic::registry::Registry;
use ambit_room::room::{Room, RoomInput, RoomOutput};
use ambit_transport::ticket::TicketSigner;
use ambit_world_server::lobby::{
    ConnId, HostId, Lobby, LobbyAction, LobbyConfig, LobbyGame, Origin,
};
use ambit_world_server::room_checkpoints::RoomCheckpoints;

use super::{BelongingsByPlayer, wandering_game};

const TICK: Duration = Duration::from_millis(50);
const HOSTS: usize = 3;

pub(super) struct LobbyAndHosts {
    pub(super) lobby: Lobby,
    registry: Registry,
    now: LocalTime,
    rng: fastrand::Rng,
    hosts: BTreeMap<HostId, Host>,
    hosts_started: u64,
    checkpoints: RoomCheckpoints,
    players: u64,
    context: String,
}

#[derive(Default)]
struct Host {
    rooms: BTreeMap<RoomId, RunningRoom>,
    orders: VecDeque<WorldToHost>,
    to_lobby: VecDeque<HostToWorld>,
}

struct RunningRoom {
    room: Room,
    now: GameTime,
    inputs: Vec<RoomInput>,
}

impl LobbyAndHosts {
    /// Starts a world with this many players in it.
    pub(super) fn new(seed: u64, players: u64) -> Self {
        let registry = wandering_game::registry();
        let mut entropy = fastrand::Rng::with_seed(seed);
        let game = LobbyGame {
            name: "wandering".into(),
            description: String::new(),
            min_players: 1,
            join_running: true,
            parameters: Vec::new(),
            max_capacity: u32::MAX,
        };
        let config =
            LobbyConfig { requests_per_s: 1_000, request_burst: 1_000, ..LobbyConfig::default() };
        let lobby = Lobby::new(
            config,
            vec![game],
            Box::new(|_, _, _| Ok(())),
            Box::new(move || entropy.u128(..).to_le_bytes()),
            TicketSigner::from_seed(&[7; 32]),
        );
        let mut servers = LobbyAndHosts {
            lobby,
            registry,
            now: LocalTime::from_millis(1_000),
            rng: fastrand::Rng::with_seed(seed + 1_000),
            hosts: BTreeMap::new(),
            hosts_started: 0,
            checkpoints: RoomCheckpoints::default(),
            players,
            context: format!("seed {seed}"),
        };
        (0..HOSTS).for_each(|_| servers.start_host());
        for player in 1..=players {
            servers.add_player(player);
        }
        servers.send_request(1, ask::Body::StartRoom(world::StartRoom {}));
        servers.run_for(Duration::from_secs(1));
        servers.join_all();
        servers
    }

    /// Lets time pass, and checks everything after each tick.
    pub(super) fn run_for(&mut self, how_long: Duration) {
        let end = self.now + how_long;
        while self.now < end {
            self.now += TICK;
            self.lobby.handle_timeout(self.now);
            self.handle_outputs();
            for id in self.hosts.keys().copied().collect::<Vec<_>>() {
                self.deliver_orders(id);
                let host = self.hosts.get_mut(&id).expect("the host is alive");
                host.rooms
                    .iter_mut()
                    .for_each(|(id, room)| tick_room(*id, room, &mut host.to_lobby));
                self.deliver_to_lobby(id, 3);
            }
            self.check();
        }
    }

    /// Kills one of the hosts: some of the messages in flight arrive, the rest is lost. Another
    /// host takes its place.
    pub(super) fn kill_random_host(&mut self) {
        let hosts: Vec<HostId> = self.hosts.keys().copied().collect();
        let id = self.rng.choice(hosts).expect("there are hosts");
        self.deliver_to_lobby(id, 2);
        self.hosts.remove(&id);
        self.lobby.handle_host_lost(self.now, id, "killed");
        self.handle_outputs();
        self.start_host();
    }

    pub(super) fn belongings_by_player(&self) -> BelongingsByPlayer {
        let rooms = || self.hosts.values().flat_map(|host| host.rooms.values());
        let belongings = |player| {
            rooms().find_map(|running| wandering_game::belongings_of(running.room.game(), player))
        };
        (1..=self.players)
            .map(PlayerId)
            .filter_map(|player| Some((player, belongings(player)?)))
            .collect()
    }

    /// Seats that are taken in the one world.
    pub(super) fn seats_taken(&self) -> u32 {
        let listed = self.lobby.rooms();
        assert_eq!(listed.len(), 1, "{}: one world", self.context);
        listed[0].players
    }

    /// No player is in two rooms.
    fn check(&self) {
        for player in (1..=self.players).map(PlayerId) {
            let rooms = self.hosts.values().flat_map(|host| host.rooms.values());
            let places = rooms.filter(|running| running.room.avatar(player).is_some()).count();
            assert!(
                places <= 1,
                "{} at {:?}: {player} is in {places} rooms",
                self.context,
                self.now
            );
        }
    }

    fn start_host(&mut self) {
        self.hosts_started += 1;
        let id = HostId(self.hosts_started);
        self.hosts.insert(id, Host::default());
        self.lobby.handle_host_start(self.now, id, Origin::Remote);
        self.handle_outputs();
        let ready = HostReady {
            version: ambit_host::protocol::VERSION,
            address: format!("127.0.0.1:{}", 7_000 + id.0),
            certificate_sha256: vec![1; 32],
            capacity: 8,
            cores: 1,
            ..HostReady::default()
        };
        self.send_to_lobby(id, HostMessage::Ready(ready).into());
    }

    fn add_player(&mut self, player: u64) {
        self.lobby.handle_connect(self.now, ConnId(player), Ipv4Addr::LOCALHOST.into());
        let name = format!("player{player}");
        let hello = world::Hello { version: WORLD_VERSION, name, ..world::Hello::default() };
        self.send_request(player, ask::Body::Hello(hello));
        let parameters = [("size", "20x20"), ("grace", "600")];
        let create = world::CreateRoom {
            name: "steppe".into(),
            game: "wandering".into(),
            parameters: parameters.map(|(key, value)| (key.to_owned(), value.to_owned())).into(),
            ..world::CreateRoom::default()
        };
        let join = world::JoinRoom { room: 1, ..world::JoinRoom::default() };
        self.send_request(
            player,
            if player == 1 { ask::Body::CreateRoom(create) } else { ask::Body::JoinRoom(join) },
        );
    }

    fn send_request(&mut self, player: u64, body: ask::Body) {
        let request = ClientToWorld { request: self.now.micros(), body: Some(body) };
        self.lobby.handle_request(self.now, ConnId(player), request);
        self.handle_outputs();
    }

    /// All players join the first room with their tickets.
    fn join_all(&mut self) {
        let rooms = self.hosts.values_mut().flat_map(|host| host.rooms.values_mut());
        let first = rooms.into_iter().next().expect("the world runs");
        for player in 1..=self.players {
            let (client, name) = (ClientId(player as u32), format!("player{player}"));
            first.inputs.push(RoomInput::Join {
                client,
                player: PlayerId(player),
                name,
                coding: PoseCoding::Auto,
            });
        }
    }

    fn send_to_lobby(&mut self, host: HostId, message: HostToWorld) {
        if let Some(report) = self.checkpoints.receive(self.now, host, message) {
            self.lobby.handle_host(self.now, host, report);
            self.handle_outputs();
        }
    }

    /// Delivers some of a host's messages.
    fn deliver_to_lobby(&mut self, id: HostId, at_most_ticks_behind: usize) {
        let waiting = self.hosts[&id].to_lobby.len();
        let behind = self.rng.usize(0..=4 * at_most_ticks_behind);
        for _ in 0..waiting.saturating_sub(behind) {
            let message = self.hosts.get_mut(&id).and_then(|host| host.to_lobby.pop_front());
            self.send_to_lobby(id, message.expect("it was counted"));
        }
        // A heartbeat, so that only kills make the lobby disconnect a host.
        self.send_to_lobby(id, HostMessage::Heartbeat(1).into());
    }

    fn deliver_orders(&mut self, id: HostId) {
        let waiting = self.hosts[&id].orders.len();
        for _ in 0..self.rng.usize(0..=waiting) {
            let host = self.hosts.get_mut(&id).expect("the host is alive");
            match host.orders.pop_front().and_then(order_of) {
                Some(WorldOrder::OpenRoom(order, resume)) => {
                    let room = order.room;
                    host.rooms.insert(room, open_room(&self.registry, order, resume));
                    let opened = HostMessage::RoomOpened { room, error: None };
                    host.to_lobby.push_back(opened.into());
                }
                Some(WorldOrder::Room(room, order)) => {
                    let input = match order {
                        RoomOrder::Input(input) => input,
                        RoomOrder::RemovePlayer { player, .. } => RoomInput::Remove { player },
                        _ => continue,
                    };
                    if let Some(running) = host.rooms.get_mut(&room) {
                        running.inputs.push(input);
                    }
                }
                _ => {}
            }
        }
    }

    fn handle_outputs(&mut self) {
        while let Some(output) = self.lobby.poll_output() {
            match output {
                LobbyAction::Host { host, order } => {
                    let messages = self.checkpoints.prepare_messages(self.now, host, order);
                    if let Some(host) = self.hosts.get_mut(&host) {
                        host.orders.extend(messages);
                    }
                }
                LobbyAction::Send { message, .. } => {
                    let bad = matches!(
                        message.body,
                        Some(
                            world::world_to_client::Body::RoomLeft(_)
                                | world::world_to_client::Body::Error(_)
                        )
                    );
                    assert!(!bad, "{} at {:?}: {message:?}", self.context, self.now);
                }
                LobbyAction::DisconnectHost { host } => {
                    panic!("{}: the lobby disconnected {host:?}, which is alive", self.context)
                }
                _ => {}
            }
        }
    }
}

/// Runs one tick of a room and queues its host's messages: first the room's inputs, then the
/// players at gates.
fn tick_room(room: RoomId, running: &mut RunningRoom, to_lobby: &mut VecDeque<HostToWorld>) {
    running.now += TICK;
    let now = running.now;
    let mut outputs = Vec::new();
    running.room.tick(now, &mut running.inputs, &mut outputs);
    let journal = HostMessage::Journal {
        room,
        entry: JournalEntry::new(now, running.room.journal()),
        number: 0,
    };
    to_lobby.push_back(journal.into());
    if (now.millis() / 50).is_multiple_of(20) || now == GameTime::from_millis(50) {
        let state = running.room.save().expect("the game can be saved");
        let snapshot = RoomSnapshot { at: now, state };
        to_lobby.push_back(HostMessage::Snapshot(room, snapshot).into());
    }
    for output in outputs {
        let message = match output {
            RoomOutput::AtGate { player, map, at, from } => {
                HostMessage::AtGate { room, player, map, at, from }
            }
            RoomOutput::Departed { player, transfer, carried } => {
                HostMessage::Departed { room, player, transfer, carried }
            }
            RoomOutput::Arrived { player, transfer } => {
                HostMessage::Arrived { room, player, transfer }
            }
            RoomOutput::PlayerOut { player, .. } => panic!("{player} is out of {room}"),
            _ => continue,
        };
        to_lobby.push_back(message.into());
    }
}

/// Opens a new room, or resumes one from its checkpoint.
fn open_room(
    registry: &Registry,
    order: RoomAssignment,
    resume: Option<RoomResume>,
) -> RunningRoom {
    let header = order.into_header(600_000);
    let (config, game) = registry.prepare(&header).expect("valid room parameters");
    let room = match resume {
        None => {
            let mut room = Room::new(config, game);
            room.tick(GameTime::ZERO, &mut Vec::new(), &mut Vec::new());
            room
        }
        Some(resume) => restore_room(config, game, || resume.now, &resume)
            .expect("a checkpoint can be restored"),
    };
    RunningRoom { now: room.last_tick().expect("the room has ticked"), room, inputs: Vec::new() }
}
