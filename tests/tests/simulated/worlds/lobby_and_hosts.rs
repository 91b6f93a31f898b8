//! A lobby and hosts that die, on virtual time, with the messages in flight between them: each
//! message takes time and arrives in order, and what a host has not sent when it dies is lost.
//! Players use each ticket that they get, some time later, and their avatars wander.

use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;
use std::time::Duration;

use ambit_host_protocol::generated::{HostToWorld, WorldToHost, host_to_world};
use ambit_host_protocol::messages::{HostMessage, WorldOrder};
use ambit_host_protocol::protobuf::{host_message_of, messages_of_order};
use ambit_lobby::{
    AccountOutcome, AccountWays, ConnId, HostId, Lobby, LobbyAction, LobbyConfig, LobbyGame, Origin,
};
use ambit_proto::codes::ErrorCode;
use ambit_proto::control::WORLD_VERSION;
use ambit_proto::control::game::{ClientToGame, Join, client_to_game};
use ambit_proto::control::world::{self, ClientToWorld, client_to_world as ask};
use ambit_proto::ids::PlayerId;
use ambit_proto::message;
use ambit_proto::time::LocalTime;
use ambit_room::logic::registry::Registry;
use ambit_room::room::Room;
use ambit_tests::sim::host::{GameConn, SimHost, SimHostOutput, SimRoom};
use ambit_tests::sim::store::{self, SimulatedStore};
use ambit_transport::ticket::TicketSigner;
use ambit_world_server::room_checkpoints::RoomCheckpoints;

use super::{BelongingsByPlayer, wandering_game};

const TICK: Duration = Duration::from_millis(50);
const HOSTS: usize = 3;
/// Longest time that a message takes. With more, hosts and lobby give each other up.
const MAX_DELAY: Duration = Duration::from_millis(300);

pub(super) struct LobbyAndHosts {
    pub(super) lobby: Lobby,
    registry: Registry,
    now: LocalTime,
    rng: fastrand::Rng,
    hosts: BTreeMap<HostId, LinkedHost>,
    hosts_started: u64,
    checkpoints: RoomCheckpoints,
    players: u64,
    /// The newest ticket of each player that it has not used.
    tickets: BTreeMap<PlayerId, world::Ticket>,
    last_conn: GameConn,
    context: String,
    /// If the game stores anything: each player has an account then.
    pub(super) store: Option<SimulatedStore>,
}

/// A host and the messages that are under way between it and the lobby, with the times when they
/// were sent.
struct LinkedHost {
    host: SimHost,
    orders: VecDeque<(LocalTime, WorldToHost)>,
    to_lobby: VecDeque<(LocalTime, HostToWorld)>,
}

impl LobbyAndHosts {
    /// Starts a world with this many players in it.
    pub(super) fn new(seed: u64, players: u64) -> Self {
        let mut servers = Self::of_game(seed, wandering_game::registry(), "wandering", None);
        servers.players = players;
        for player in 1..=players {
            servers.add_player(player);
            if player == 1 {
                servers.create_room(player, "wandering");
            } else {
                servers.join_room(player, 1);
            }
        }
        servers.start_room(1);
        while servers.belongings_by_player().len() < players as usize {
            servers.run_for(TICK);
            assert!(servers.now < LocalTime::from_millis(10_000), "seed {seed}: all can join");
        }
        servers
    }

    /// Hosts that run this game, without players.
    pub(super) fn of_game(
        seed: u64,
        registry: Registry,
        game: &str,
        store: Option<SimulatedStore>,
    ) -> Self {
        let mut entropy = fastrand::Rng::with_seed(seed);
        let game = LobbyGame {
            name: game.into(),
            description: String::new(),
            min_players: 1,
            join_running: true,
            is_lasting: false,
            quick_start: BTreeMap::new(),
            parameters: Vec::new(),
            max_capacity: u32::MAX,
            presentation: String::new(),
            schema: Vec::new(),
        };
        let ways = AccountWays { token: store.is_some(), ..AccountWays::default() };
        let config = LobbyConfig {
            requests_per_s: 1_000,
            request_burst: 1_000,
            ways,
            ..LobbyConfig::default()
        };
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
            players: 0,
            tickets: BTreeMap::new(),
            last_conn: 0,
            context: format!("seed {seed}"),
            store,
        };
        (0..HOSTS).for_each(|_| servers.start_host());
        servers.run_for(Duration::from_secs(1));
        servers
    }

    /// Lets time pass, and checks everything after each tick.
    pub(super) fn run_for(&mut self, how_long: Duration) {
        let end = self.now + how_long;
        while self.now < end {
            self.now += TICK;
            self.lobby.handle_timeout(self.now);
            self.handle_outputs();
            self.use_tickets();
            for id in self.hosts.keys().copied().collect::<Vec<_>>() {
                self.deliver_orders(id);
                let now = self.now;
                self.host(id).run(now);
                self.handle_host_outputs(id);
                self.deliver_to_lobby(id, 3);
            }
            self.deliver_answers_of_store();
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
        let belongings = |player| {
            self.rooms().find_map(|room| wandering_game::belongings_of(room.game(), player))
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

    /// The rooms of all hosts that are alive.
    fn rooms(&self) -> impl Iterator<Item = &Room> {
        let rooms = self.hosts.values().flat_map(|linked| linked.host.rooms());
        rooms.map(|(_, room)| SimRoom::room(room))
    }

    /// No player is in two rooms.
    fn check(&self) {
        for player in (1..=self.players).map(PlayerId) {
            let places = self.rooms().filter(|room| room.avatar(player).is_some()).count();
            assert!(
                places <= 1,
                "{} at {:?}: {player} is in {places} rooms",
                self.context,
                self.now
            );
        }
    }

    fn host(&mut self, id: HostId) -> &mut SimHost {
        &mut self.hosts.get_mut(&id).expect("the host is alive").host
    }

    fn start_host(&mut self) {
        self.hosts_started += 1;
        let id = HostId(self.hosts_started);
        let address = format!("127.0.0.1:{}", 7_000 + id.0);
        let mut host =
            SimHost::in_own_process(self.registry.clone(), &address, 8, id.0, String::new());
        host.connect(self.now);
        let linked = LinkedHost { host, orders: VecDeque::new(), to_lobby: VecDeque::new() };
        self.hosts.insert(id, linked);
        self.lobby.handle_host_start(self.now, id, Origin::Remote);
        self.handle_outputs();
        self.handle_host_outputs(id);
    }

    /// A player connects, with an account if there is a store.
    pub(super) fn add_player(&mut self, player: u64) {
        self.players = self.players.max(player);
        self.lobby.handle_connect(self.now, ConnId(player), Ipv4Addr::LOCALHOST.into());
        let name = format!("player{player}");
        let account_token = if self.store.is_some() { player.to_string() } else { String::new() };
        let hello =
            world::Hello { version: WORLD_VERSION, name, account_token, ..world::Hello::default() };
        self.send_request(player, ask::Body::Hello(hello));
    }

    pub(super) fn create_room(&mut self, player: u64, game: &str) {
        let parameters = [("size", "20x20"), ("grace", "600")];
        let create = world::CreateRoom {
            name: "steppe".into(),
            game: game.into(),
            parameters: parameters.map(|(key, value)| (key.to_owned(), value.to_owned())).into(),
            ..world::CreateRoom::default()
        };
        self.send_request(player, ask::Body::CreateRoom(create));
    }

    pub(super) fn start_room(&mut self, player: u64) {
        self.send_request(player, ask::Body::StartRoom(world::StartRoom {}));
    }

    pub(super) fn join_room(&mut self, player: u64, room: u64) {
        let join = world::JoinRoom { room, ..world::JoinRoom::default() };
        self.send_request(player, ask::Body::JoinRoom(join));
    }

    pub(super) fn leave_room(&mut self, player: u64) {
        self.tickets.remove(&PlayerId(player));
        self.send_request(player, ask::Body::LeaveRoom(world::LeaveRoom {}));
    }

    fn deliver_answers_of_store(&mut self) {
        let now = self.now;
        let answers = self.store.as_mut().map(|store| store.take_due(now)).unwrap_or_default();
        for (request, outcome) in answers {
            self.lobby.handle_stored(now, &request, outcome);
            self.handle_outputs();
        }
    }

    fn send_request(&mut self, player: u64, body: ask::Body) {
        let request = ClientToWorld { request: self.now.micros(), body: Some(body) };
        self.lobby.handle_request(self.now, ConnId(player), request);
        self.handle_outputs();
    }

    /// Some of the players go to the hosts that their tickets name. A host that is dead by then
    /// hears nothing of it.
    fn use_tickets(&mut self) {
        for (player, ticket) in std::mem::take(&mut self.tickets) {
            if self.rng.bool() {
                self.tickets.insert(player, ticket);
                continue;
            }
            self.last_conn += 1;
            let mut hosts = self.hosts.values_mut().map(|linked| &mut linked.host);
            if let Some(host) = hosts.find(|host| host.address() == ticket.address) {
                let join =
                    Join { version: message::VERSION, ticket: ticket.ticket, ..Join::default() };
                let join = ClientToGame { body: Some(client_to_game::Body::Join(join)) };
                host.handle_control(self.now, self.last_conn, join);
            }
        }
    }

    /// Delivers some of a host's messages.
    fn deliver_to_lobby(&mut self, id: HostId, at_most_ticks_behind: usize) {
        let waiting = &self.hosts[&id].to_lobby;
        let late = count_late(self.now, waiting);
        let behind = self.rng.usize(0..=4 * at_most_ticks_behind);
        for _ in 0..waiting.len().saturating_sub(behind).max(late) {
            let message = self.hosts.get_mut(&id).and_then(|linked| linked.to_lobby.pop_front());
            let (_, message) = message.expect("it was counted");
            let message = host_message_of(message).expect("a message of this build");
            let journal = match &message {
                HostMessage::Journal { number, .. } => Some(*number),
                _ => None,
            };
            if let Some(report) = self.checkpoints.receive(self.now, id, message) {
                self.lobby.handle_host(self.now, id, report);
            }
            if let Some(number) = journal {
                self.send_order(id, WorldOrder::AcknowledgeJournal(number));
            }
            self.handle_outputs();
        }
    }

    fn deliver_orders(&mut self, id: HostId) {
        let waiting = &self.hosts[&id].orders;
        let late = count_late(self.now, waiting);
        for _ in 0..self.rng.usize(late..=waiting.len()) {
            let order = self.hosts.get_mut(&id).and_then(|linked| linked.orders.pop_front());
            let (_, order) = order.expect("it was counted");
            let now = self.now;
            self.host(id).handle_world(now, order);
        }
    }

    fn send_order(&mut self, id: HostId, order: WorldOrder) {
        let messages = messages_of_order(self.checkpoints.complete_order(self.now, id, order));
        if let Some(linked) = self.hosts.get_mut(&id) {
            linked.orders.extend(messages.into_iter().map(|message| (self.now, message)));
        }
    }

    fn handle_host_outputs(&mut self, id: HostId) {
        let now = self.now;
        let linked = self.hosts.get_mut(&id).expect("the host is alive");
        while let Some(output) = linked.host.poll() {
            match output {
                SimHostOutput::World(message) => {
                    let is_out = matches!(message.body, Some(host_to_world::Body::PlayerOut(_)));
                    assert!(!is_out, "{} at {now:?}: {message:?}", self.context);
                    linked.to_lobby.push_back((now, *message));
                }
                SimHostOutput::MakeRoom(room) => linked.host.finish_making(now, room),
                SimHostOutput::Ended(ending) => {
                    panic!("{} at {now:?}: {id:?} ends: {ending:?}", self.context)
                }
                // The players only watch.
                SimHostOutput::Control(..)
                | SimHostOutput::Datagram(..)
                | SimHostOutput::Closed(_) => {}
            }
        }
    }

    fn handle_outputs(&mut self) {
        while let Some(output) = self.lobby.poll_output() {
            match output {
                LobbyAction::Host { host, order } => self.send_order(host, order),
                LobbyAction::Send { conn, message } => match message.body {
                    Some(world::world_to_client::Body::Ticket(ticket)) => {
                        self.tickets.insert(PlayerId(conn.0), ticket);
                    }
                    // That the store is away.
                    Some(world::world_to_client::Body::Error(error))
                        if error.code() == ErrorCode::TryAgain => {}
                    Some(world::world_to_client::Body::RoomLeft(_)) if message.request != 0 => {}
                    Some(
                        world::world_to_client::Body::RoomLeft(_)
                        | world::world_to_client::Body::Error(_),
                    ) => panic!("{} at {:?}: {message:?}", self.context, self.now),
                    _ => {}
                },
                LobbyAction::Account { source, job } => {
                    let account = store::account_of(&job);
                    let outcome = AccountOutcome::SignedIn { account, login: None };
                    self.lobby.handle_account(self.now, source, outcome);
                }
                LobbyAction::Store { request, job } => {
                    let store = self.store.as_mut().expect("the game stores something");
                    store.begin(self.now, request, job);
                }
                LobbyAction::StoreLast { request, job } => {
                    let store = self.store.as_mut().expect("the game stores something");
                    store.begin_last(request, job);
                }
                LobbyAction::DisconnectHost { host } => {
                    panic!("{}: the lobby disconnected {host:?}, which is alive", self.context)
                }
                _ => {}
            }
        }
    }
}

/// How many of the messages that wait in this order must arrive now.
fn count_late<T>(now: LocalTime, waiting: &VecDeque<(LocalTime, T)>) -> usize {
    waiting.iter().take_while(|(sent, _)| now.since(*sent) >= MAX_DELAY).count()
}
