//! A lobby and hosts that die, on virtual time, with the messages in flight between them: each
//! message takes time and arrives in order, and what a host has not sent when it dies is lost.
//! Players join once, and then their avatars wander.

use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;
use std::time::Duration;

use ambit_host::protocol::messages::{
    Arrived, AtGate, Departed, HostReady, HostToWorld, OpenRoom, RoomOpened, RoomSaved,
    WorldToHost, host_to_world, world_to_host,
};
use ambit_proto::control::WORLD_VERSION;
use ambit_proto::control::world::{self, ClientToWorld, client_to_world as ask};
use ambit_proto::ids::{ClientId, PlayerId, RoomId};
use ambit_proto::space::Position;
use ambit_proto::time::{GameTime, LocalTime};
use ambit_room::logic::registry::Registry;
use ambit_room::recording::Header;
use ambit_room::room::{Room, RoomInput, RoomOutput, TransferArrival, TransferId};
use ambit_transport::ticket::TicketSigner;
use ambit_world_server::lobby::{
    ConnId, HostId, Lobby, LobbyAction, LobbyConfig, LobbyGame, Origin,
};

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
    saved_rooms: BTreeMap<RoomId, SavedRoom>,
    players: u64,
    context: String,
}

#[derive(Default)]
struct Host {
    rooms: BTreeMap<RoomId, RunningRoom>,
    orders: VecDeque<WorldToHost>,
    to_lobby: VecDeque<HostMessage>,
}

struct RunningRoom {
    room: Room,
    now: GameTime,
    inputs: Vec<RoomInput>,
}

/// A message in flight to the lobby, or to the saved rooms beside it.
enum HostMessage {
    Lobby(Box<host_to_world::Body>),
    Tick(RoomId, GameTime, Vec<RoomInput>),
    Saved(RoomId, Vec<u8>),
}

struct SavedRoom {
    host: HostId,
    state: Option<Vec<u8>>,
    ticks: Vec<(GameTime, Vec<RoomInput>)>,
    last_message_at: LocalTime,
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
        };
        let config = LobbyConfig {
            requests_per_s: 1_000,
            request_burst: 1_000,
            ..LobbyConfig::default()
        };
        let lobby = Lobby::new(
            config,
            vec![game],
            Box::new(|_, _| Ok(())),
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
            saved_rooms: BTreeMap::new(),
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

    /// What each player has.
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
            let places = rooms
                .filter(|running| running.room.avatar(player).is_some())
                .count();
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
        self.send_to_lobby(id, host_to_world::Body::Ready(ready));
    }

    fn add_player(&mut self, player: u64) {
        self.lobby
            .handle_connect(self.now, ConnId(player), Ipv4Addr::LOCALHOST.into());
        let name = format!("player{player}");
        let hello = world::Hello {
            version: WORLD_VERSION,
            name,
            ..world::Hello::default()
        };
        self.send_request(player, ask::Body::Hello(hello));
        let parameters = [("size", "20x20"), ("grace", "600")];
        let create = world::CreateRoom {
            name: "steppe".into(),
            game: "wandering".into(),
            parameters: parameters
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .into(),
            ..world::CreateRoom::default()
        };
        let join = world::JoinRoom {
            room: 1,
            ..world::JoinRoom::default()
        };
        self.send_request(
            player,
            if player == 1 {
                ask::Body::CreateRoom(create)
            } else {
                ask::Body::JoinRoom(join)
            },
        );
    }

    fn send_request(&mut self, player: u64, body: ask::Body) {
        let request = ClientToWorld {
            request: self.now.micros(),
            body: Some(body),
        };
        self.lobby.handle_request(self.now, ConnId(player), request);
        self.handle_outputs();
    }

    /// All players join the first room with their tickets.
    fn join_all(&mut self) {
        let rooms = self
            .hosts
            .values_mut()
            .flat_map(|host| host.rooms.values_mut());
        let first = rooms.into_iter().next().expect("the world runs");
        for player in 1..=self.players {
            let (client, name) = (ClientId(player as u32), format!("player{player}"));
            first.inputs.push(RoomInput::Join {
                client,
                player: PlayerId(player),
                name,
            });
        }
    }

    fn send_to_lobby(&mut self, host: HostId, body: host_to_world::Body) {
        self.lobby
            .handle_host(self.now, host, HostToWorld { body: Some(body) });
        self.handle_outputs();
    }

    /// Delivers some of a host's messages.
    fn deliver_to_lobby(&mut self, id: HostId, at_most_ticks_behind: usize) {
        let waiting = self.hosts[&id].to_lobby.len();
        let behind = self.rng.usize(0..=4 * at_most_ticks_behind);
        for _ in 0..waiting.saturating_sub(behind) {
            let message = self
                .hosts
                .get_mut(&id)
                .and_then(|host| host.to_lobby.pop_front());
            let body = match message.expect("it was counted") {
                HostMessage::Lobby(body) => Some(*body),
                HostMessage::Tick(room, at, accepted) => self
                    .update_saved_room(id, room, |saved| saved.ticks.push((at, accepted)))
                    .and(None),
                HostMessage::Saved(room, state) => {
                    let first = self.update_saved_room(id, room, |saved| {
                        saved.ticks.clear();
                        saved.state.replace(state).is_none()
                    });
                    let notice = RoomSaved {
                        room: room.0,
                        ..RoomSaved::default()
                    };
                    (first == Some(true)).then_some(host_to_world::Body::RoomSaved(notice))
                }
            };
            if let Some(body) = body {
                // A heartbeat, so that only kills make the lobby give up a host.
                self.send_to_lobby(id, body);
            }
        }
        self.send_to_lobby(
            id,
            host_to_world::Body::Beat(ambit_host::protocol::messages::Beat { number: 1 }),
        );
    }

    fn update_saved_room<T>(
        &mut self,
        host: HostId,
        room: RoomId,
        then: impl FnOnce(&mut SavedRoom) -> T,
    ) -> Option<T> {
        let now = self.now;
        let saved = self
            .saved_rooms
            .get_mut(&room)
            .filter(|saved| saved.host == host)?;
        saved.last_message_at = now;
        Some(then(saved))
    }

    fn deliver_orders(&mut self, id: HostId) {
        let waiting = self.hosts[&id].orders.len();
        for _ in 0..self.rng.usize(0..=waiting) {
            let host = self.hosts.get_mut(&id).expect("the host is alive");
            let Some(WorldToHost { body: Some(body) }) = host.orders.pop_front() else {
                continue;
            };
            if let world_to_host::Body::OpenRoom(order) = body {
                let room = RoomId(order.room);
                let running = open_room(
                    &self.registry,
                    &order,
                    self.saved_rooms.get(&room),
                    self.now,
                );
                host.rooms.insert(room, running);
                let opened = RoomOpened {
                    room: room.0,
                    error: None,
                };
                host.to_lobby.push_back(HostMessage::Lobby(Box::new(
                    host_to_world::Body::RoomOpened(opened),
                )));
            } else if let Some((room, input)) = input_of(body)
                && let Some(running) = host.rooms.get_mut(&room)
            {
                running.inputs.push(input);
            }
        }
    }

    fn handle_outputs(&mut self) {
        while let Some(output) = self.lobby.poll_output() {
            match output {
                LobbyAction::Host { host, message } => {
                    if let Some(world_to_host::Body::OpenRoom(order)) = &message.body {
                        let last_message_at = self.now;
                        let new = || SavedRoom {
                            host,
                            state: None,
                            ticks: Vec::new(),
                            last_message_at,
                        };
                        self.saved_rooms
                            .entry(RoomId(order.room))
                            .or_insert_with(new)
                            .host = host;
                    }
                    if let Some(host) = self.hosts.get_mut(&host) {
                        host.orders.push_back(message);
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
                    panic!(
                        "{}: the lobby disconnected {host:?}, which is alive",
                        self.context
                    )
                }
                _ => {}
            }
        }
    }
}

/// Runs one tick of a room and queues its host's messages: first the room's inputs, then the
/// players at gates.
fn tick_room(id: RoomId, running: &mut RunningRoom, to_lobby: &mut VecDeque<HostMessage>) {
    running.now += TICK;
    let mut outputs = Vec::new();
    running
        .room
        .tick(running.now, &mut running.inputs, &mut outputs);
    to_lobby.push_back(HostMessage::Tick(
        id,
        running.now,
        running.room.journal().to_vec(),
    ));
    if (running.now.millis() / 50).is_multiple_of(20) || running.now == GameTime::from_millis(50) {
        to_lobby.push_back(HostMessage::Saved(
            id,
            running.room.save().expect("the game can be saved"),
        ));
    }
    let room = id.0;
    for output in outputs {
        let body = match output {
            RoomOutput::AtGate {
                player,
                map,
                at,
                from,
            } => {
                let (x, y, from_x, from_y) = (at.x, at.y, from.x, from.y);
                host_to_world::Body::AtGate(AtGate {
                    room,
                    player: player.0,
                    map,
                    x,
                    y,
                    from_x,
                    from_y,
                })
            }
            RoomOutput::Departed {
                player,
                transfer,
                carried,
            } => host_to_world::Body::Departed(Departed {
                room,
                player: player.0,
                number: transfer.0,
                carried,
            }),
            RoomOutput::Arrived { player, transfer } => host_to_world::Body::Arrived(Arrived {
                room,
                player: player.0,
                number: transfer.0,
            }),
            RoomOutput::PlayerOut { player, .. } => panic!("{player} is out of {id}"),
            _ => continue,
        };
        to_lobby.push_back(HostMessage::Lobby(Box::new(body)));
    }
}

/// Opens a new room, or resumes one from its saved state.
fn open_room(
    registry: &Registry,
    order: &OpenRoom,
    saved: Option<&SavedRoom>,
    now: LocalTime,
) -> RunningRoom {
    let header = Header {
        game: order.game.clone(),
        room: order.room,
        seed: order.seed,
        capacity: order.capacity,
        grace_ms: 600_000,
        parameters: order.parameters.clone().into_iter().collect(),
    };
    let (config, game) = registry.prepare(&header).expect("valid room parameters");
    let Some((saved, _)) = saved.zip(order.resume.as_ref()) else {
        let mut room = Room::new(config, game);
        room.tick(GameTime::ZERO, &mut Vec::new(), &mut Vec::new());
        return RunningRoom {
            room,
            now: GameTime::ZERO,
            inputs: Vec::new(),
        };
    };
    let mut room = Room::restore(
        config,
        game,
        saved.state.as_ref().expect("a saved room has a state"),
    )
    .expect("a saved state can be restored");
    for (at, accepted) in &saved.ticks {
        room.replay(*at, accepted);
    }
    let last = room.last_tick().expect("the room has ticked");
    room.finish_replay(last);
    let mut running = RunningRoom {
        room,
        now: last,
        inputs: Vec::new(),
    };
    // Ticks that no host has run since.
    for _ in 0..now.since(saved.last_message_at).as_millis() / TICK.as_millis() {
        running.now += TICK;
        running.room.replay(running.now, &[]);
    }
    running
}

fn input_of(body: world_to_host::Body) -> Option<(RoomId, RoomInput)> {
    Some(match body {
        world_to_host::Body::LetGo(order) => (
            RoomId(order.room),
            RoomInput::ReleaseForTransfer {
                player: PlayerId(order.player),
                transfer: TransferId(order.number),
            },
        ),
        world_to_host::Body::Stay(order) => (
            RoomId(order.room),
            RoomInput::RefuseTransfer {
                player: PlayerId(order.player),
            },
        ),
        world_to_host::Body::RemovePlayer(order) => (
            RoomId(order.room),
            RoomInput::Remove {
                player: PlayerId(order.player),
            },
        ),
        world_to_host::Body::Admit(order) => {
            let (player, at) = (
                PlayerId(order.player),
                Position::on_ground(order.x, order.y),
            );
            (
                RoomId(order.room),
                RoomInput::AdmitTransfer(TransferArrival {
                    player,
                    transfer: TransferId(order.number),
                    name: order.name,
                    at,
                    carried: order.carried,
                }),
            )
        }
        _ => return None,
    })
}
