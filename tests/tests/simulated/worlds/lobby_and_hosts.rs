//! A lobby and hosts that die, on virtual time, with what is under way between them: each message
//! takes its time, in order, and what a host has not got out when it dies is lost. Players are
//! there once and then let their avatars wander.

use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;
use std::time::Duration;

use ambit_game_server::logic::registry::Registry;
use ambit_game_server::record::Header;
use ambit_game_server::room::{Room, RoomInput, RoomOutput as Said, TransferArrival, TransferId};
use ambit_game_server::ticket::TicketSigner;
use ambit_proto::control::WORLD_VERSION;
use ambit_proto::control::host::{
    Arrived, AtGate, Departed, HostReady, HostToWorld, OpenRoom, RoomOpened, RoomSaved,
    WorldToHost, host_to_world, world_to_host,
};
use ambit_proto::control::world::{self, ClientToWorld, client_to_world as ask};
use ambit_proto::ids::{ClientId, PlayerId, RoomId};
use ambit_proto::space::Position;
use ambit_proto::time::{GameTime, LocalTime};
use ambit_world_server::lobby::{
    ConnId, GameInfo, HostId, Lobby, LobbyAction, LobbyConfig, Origin,
};

use super::{BelongingsByPlayer, wandering_game};

const TICK: Duration = Duration::from_millis(50);
const HOSTS: usize = 3;

/// See the module.
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

/// What is under way to the lobby, and to what keeps rooms beside it.
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
    /// A world with so many players in it that runs.
    pub(super) fn new(seed: u64, players: u64) -> Self {
        let registry = wandering_game::registry();
        let mut entropy = fastrand::Rng::with_seed(seed);
        let game = GameInfo {
            name: "nomads".into(),
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
        let mut universe = LobbyAndHosts {
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
        (0..HOSTS).for_each(|_| universe.start_host());
        for player in 1..=players {
            universe.add_player(player);
        }
        universe.send_request(1, ask::Body::StartRoom(world::StartRoom {}));
        universe.run_for(Duration::from_secs(1));
        universe.join_all();
        universe
    }

    /// Lets time pass, with a look at everything after each tick.
    pub(super) fn run_for(&mut self, how_long: Duration) {
        let end = self.now + how_long;
        while self.now < end {
            self.now += TICK;
            self.lobby.handle_timeout(self.now);
            self.handle_outputs();
            for id in self.hosts.keys().copied().collect::<Vec<_>>() {
                self.deliver_orders(id);
                let host = self.hosts.get_mut(&id).expect("it lives");
                host.rooms
                    .iter_mut()
                    .for_each(|(id, room)| tick_room(*id, room, &mut host.to_lobby));
                self.deliver_to_lobby(id, 3);
            }
            self.check();
        }
    }

    /// One of the hosts dies: of what is under way some comes in, and the rest is lost. Another one
    /// takes its place.
    pub(super) fn kill_random_host(&mut self) {
        let hosts: Vec<HostId> = self.hosts.keys().copied().collect();
        let id = self.rng.choice(hosts).expect("there are hosts");
        self.deliver_to_lobby(id, 2);
        self.hosts.remove(&id);
        self.lobby.handle_host_lost(self.now, id, "killed");
        self.handle_outputs();
        self.start_host();
    }

    /// Who is where, with what.
    pub(super) fn belongings_by_player(&self) -> BelongingsByPlayer {
        let rooms = || self.hosts.values().flat_map(|host| host.rooms.values());
        let purse = |player| {
            rooms().find_map(|running| wandering_game::belongings_of(running.room.game(), player))
        };
        (1..=self.players)
            .map(PlayerId)
            .filter_map(|player| Some((player, purse(player)?)))
            .collect()
    }

    /// Seats that are taken in the one world.
    pub(super) fn seats_taken(&self) -> u32 {
        let listed = self.lobby.rooms();
        assert_eq!(listed.len(), 1, "{}: one world", self.context);
        listed[0].players
    }

    /// Nobody is in two rooms, and nobody out of the world.
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
            version: ambit_proto::host::VERSION,
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
            game: "nomads".into(),
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

    /// All players show their tickets, once.
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

    /// Some of what a host has said comes in.
    fn deliver_to_lobby(&mut self, id: HostId, at_most_ticks_behind: usize) {
        let waiting = self.hosts[&id].to_lobby.len();
        let behind = self.rng.usize(0..=4 * at_most_ticks_behind);
        for _ in 0..waiting.saturating_sub(behind) {
            let word = self
                .hosts
                .get_mut(&id)
                .and_then(|host| host.to_lobby.pop_front());
            let body = match word.expect("it was counted") {
                HostMessage::Lobby(body) => Some(*body),
                HostMessage::Tick(room, at, accepted) => self
                    .update_saved_room(id, room, |kept| kept.ticks.push((at, accepted)))
                    .and(None),
                HostMessage::Saved(room, state) => {
                    let first = self.update_saved_room(id, room, |kept| {
                        kept.ticks.clear();
                        kept.state.replace(state).is_none()
                    });
                    let news = RoomSaved {
                        room: room.0,
                        ..RoomSaved::default()
                    };
                    (first == Some(true)).then_some(host_to_world::Body::RoomSaved(news))
                }
            };
            if let Some(body) = body {
                // Who hears nothing of a host for too long gives it up; here that is a matter of
                // kills alone.
                self.send_to_lobby(id, body);
            }
        }
        self.send_to_lobby(
            id,
            host_to_world::Body::Beat(ambit_proto::control::host::Beat { number: 1 }),
        );
    }

    fn update_saved_room<T>(
        &mut self,
        host: HostId,
        room: RoomId,
        then: impl FnOnce(&mut SavedRoom) -> T,
    ) -> Option<T> {
        let now = self.now;
        let kept = self
            .saved_rooms
            .get_mut(&room)
            .filter(|kept| kept.host == host)?;
        kept.last_message_at = now;
        Some(then(kept))
    }

    fn deliver_orders(&mut self, id: HostId) {
        let waiting = self.hosts[&id].orders.len();
        for _ in 0..self.rng.usize(0..=waiting) {
            let host = self.hosts.get_mut(&id).expect("it lives");
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
                        let heard = self.now;
                        let new = || SavedRoom {
                            host,
                            state: None,
                            ticks: Vec::new(),
                            last_message_at: heard,
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
                    panic!("{}: {host:?} is given up, and lives", self.context)
                }
                _ => {}
            }
        }
    }
}

/// One tick of a room, and what its host says of it: what was taken first, then what players at
/// gates have come to.
fn tick_room(id: RoomId, running: &mut RunningRoom, words: &mut VecDeque<HostMessage>) {
    running.now += TICK;
    let mut outputs = Vec::new();
    running
        .room
        .tick(running.now, &mut running.inputs, &mut outputs);
    words.push_back(HostMessage::Tick(
        id,
        running.now,
        running.room.journal().to_vec(),
    ));
    if (running.now.millis() / 50).is_multiple_of(20) || running.now == GameTime::from_millis(50) {
        words.push_back(HostMessage::Saved(
            id,
            running.room.save().expect("nomads can be saved"),
        ));
    }
    let room = id.0;
    for output in outputs {
        let body = match output {
            Said::AtGate {
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
            Said::Departed {
                player,
                transfer,
                carried,
            } => host_to_world::Body::Departed(Departed {
                room,
                player: player.0,
                number: transfer.0,
                carried,
            }),
            Said::Arrived { player, transfer } => host_to_world::Body::Arrived(Arrived {
                room,
                player: player.0,
                number: transfer.0,
            }),
            Said::PlayerOut { player, .. } => panic!("{player} is out of {id}"),
            _ => continue,
        };
        words.push_back(HostMessage::Lobby(Box::new(body)));
    }
}

/// A new room, or one that goes on where it was.
fn open_room(
    registry: &Registry,
    order: &OpenRoom,
    kept: Option<&SavedRoom>,
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
    let (config, game) = registry.prepare(&header).expect("a room that can be made");
    let Some((kept, _)) = kept.zip(order.resume.as_ref()) else {
        let mut room = Room::new(config, game);
        room.tick(GameTime::ZERO, &mut Vec::new(), &mut Vec::new());
        return RunningRoom {
            room,
            now: GameTime::ZERO,
            inputs: Vec::new(),
        };
    };
    let mut room = Room::restore(config, game, kept.state.as_ref().expect("a kept room"))
        .expect("a state that is good");
    for (at, accepted) in &kept.ticks {
        room.replay(*at, accepted);
    }
    let last = room.last_tick().expect("it has ticked");
    room.finish_replay(last);
    let mut running = RunningRoom {
        room,
        now: last,
        inputs: Vec::new(),
    };
    // What nobody has ticked since.
    for _ in 0..now.since(kept.last_message_at).as_millis() / TICK.as_millis() {
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
