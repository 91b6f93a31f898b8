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
use ambit_world_server::lobby::{ConnId, GameInfo, HostId, Lobby, LobbyConfig, Origin, Output};

use super::{Purses, nomads};

const TICK: Duration = Duration::from_millis(50);
const HOSTS: usize = 3;

/// See the module.
pub(super) struct Universe {
    pub(super) lobby: Lobby,
    registry: Registry,
    now: LocalTime,
    rng: fastrand::Rng,
    hosts: BTreeMap<HostId, Host>,
    started: u64,
    kept: BTreeMap<RoomId, Kept>,
    players: u64,
    context: String,
}

#[derive(Default)]
struct Host {
    rooms: BTreeMap<RoomId, Running>,
    orders: VecDeque<WorldToHost>,
    words: VecDeque<Word>,
}

struct Running {
    room: Room,
    now: GameTime,
    inputs: Vec<RoomInput>,
}

/// What is under way to the lobby, and to what keeps rooms beside it.
enum Word {
    Lobby(Box<host_to_world::Body>),
    Tick(RoomId, GameTime, Vec<RoomInput>),
    Saved(RoomId, Vec<u8>),
}

struct Kept {
    host: HostId,
    state: Option<Vec<u8>>,
    ticks: Vec<(GameTime, Vec<RoomInput>)>,
    heard: LocalTime,
}

impl Universe {
    /// A world with so many players in it that runs.
    pub(super) fn new(seed: u64, players: u64) -> Self {
        let registry = nomads::registry();
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
        let mut universe = Universe {
            lobby,
            registry,
            now: LocalTime::from_millis(1_000),
            rng: fastrand::Rng::with_seed(seed + 1_000),
            hosts: BTreeMap::new(),
            started: 0,
            kept: BTreeMap::new(),
            players,
            context: format!("seed {seed}"),
        };
        (0..HOSTS).for_each(|_| universe.start_host());
        for player in 1..=players {
            universe.arrive(player);
        }
        universe.ask(1, ask::Body::StartRoom(world::StartRoom {}));
        universe.run_for(Duration::from_secs(1));
        universe.let_in();
        universe
    }

    /// Lets time pass, with a look at everything after each tick.
    pub(super) fn run_for(&mut self, how_long: Duration) {
        let end = self.now + how_long;
        while self.now < end {
            self.now += TICK;
            self.lobby.handle_timeout(self.now);
            self.carry();
            for id in self.hosts.keys().copied().collect::<Vec<_>>() {
                self.hear_orders(id);
                let host = self.hosts.get_mut(&id).expect("it lives");
                host.rooms
                    .iter_mut()
                    .for_each(|(id, room)| tick(*id, room, &mut host.words));
                self.deliver(id, 3);
            }
            self.check();
        }
    }

    /// One of the hosts dies: of what is under way some comes in, and the rest is lost. Another one
    /// takes its place.
    pub(super) fn kill_a_host(&mut self) {
        let hosts: Vec<HostId> = self.hosts.keys().copied().collect();
        let id = self.rng.choice(hosts).expect("there are hosts");
        self.deliver(id, 2);
        self.hosts.remove(&id);
        self.lobby.handle_host_gone(self.now, id, "killed");
        self.carry();
        self.start_host();
    }

    /// Who is where, with what.
    pub(super) fn places(&self) -> Purses {
        let rooms = || self.hosts.values().flat_map(|host| host.rooms.values());
        let purse = |player| rooms().find_map(|running| nomads::purse(running.room.game(), player));
        (1..=self.players)
            .map(PlayerId)
            .filter_map(|player| Some((player, purse(player)?)))
            .collect()
    }

    /// Seats that are taken in the one world.
    pub(super) fn seats(&self) -> u32 {
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
        self.started += 1;
        let id = HostId(self.started);
        self.hosts.insert(id, Host::default());
        self.lobby.handle_host_start(self.now, id, Origin::Remote);
        self.carry();
        let ready = HostReady {
            version: ambit_proto::host::VERSION,
            address: format!("127.0.0.1:{}", 7_000 + id.0),
            certificate_sha256: vec![1; 32],
            capacity: 8,
            cores: 1,
            ..HostReady::default()
        };
        self.says(id, host_to_world::Body::Ready(ready));
    }

    fn arrive(&mut self, player: u64) {
        self.lobby
            .handle_connect(self.now, ConnId(player), Ipv4Addr::LOCALHOST.into());
        let name = format!("player{player}");
        let hello = world::Hello {
            version: WORLD_VERSION,
            name,
            ..world::Hello::default()
        };
        self.ask(player, ask::Body::Hello(hello));
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
        self.ask(
            player,
            if player == 1 {
                ask::Body::CreateRoom(create)
            } else {
                ask::Body::JoinRoom(join)
            },
        );
    }

    fn ask(&mut self, player: u64, body: ask::Body) {
        let request = ClientToWorld {
            request: self.now.micros(),
            body: Some(body),
        };
        self.lobby.handle_request(self.now, ConnId(player), request);
        self.carry();
    }

    /// All players show their tickets, once.
    fn let_in(&mut self) {
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

    fn says(&mut self, host: HostId, body: host_to_world::Body) {
        self.lobby
            .handle_host(self.now, host, HostToWorld { body: Some(body) });
        self.carry();
    }

    /// Some of what a host has said comes in.
    fn deliver(&mut self, id: HostId, at_most_ticks_behind: usize) {
        let waiting = self.hosts[&id].words.len();
        let behind = self.rng.usize(0..=4 * at_most_ticks_behind);
        for _ in 0..waiting.saturating_sub(behind) {
            let word = self
                .hosts
                .get_mut(&id)
                .and_then(|host| host.words.pop_front());
            let body = match word.expect("it was counted") {
                Word::Lobby(body) => Some(*body),
                Word::Tick(room, at, accepted) => self
                    .keep(id, room, |kept| kept.ticks.push((at, accepted)))
                    .and(None),
                Word::Saved(room, state) => {
                    let first = self.keep(id, room, |kept| {
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
                self.says(id, body);
            }
        }
        self.says(
            id,
            host_to_world::Body::Beat(ambit_proto::control::host::Beat { number: 1 }),
        );
    }

    fn keep<T>(
        &mut self,
        host: HostId,
        room: RoomId,
        then: impl FnOnce(&mut Kept) -> T,
    ) -> Option<T> {
        let now = self.now;
        let kept = self.kept.get_mut(&room).filter(|kept| kept.host == host)?;
        kept.heard = now;
        Some(then(kept))
    }

    fn hear_orders(&mut self, id: HostId) {
        let waiting = self.hosts[&id].orders.len();
        for _ in 0..self.rng.usize(0..=waiting) {
            let host = self.hosts.get_mut(&id).expect("it lives");
            let Some(WorldToHost { body: Some(body) }) = host.orders.pop_front() else {
                continue;
            };
            if let world_to_host::Body::OpenRoom(order) = body {
                let room = RoomId(order.room);
                let running = open(&self.registry, &order, self.kept.get(&room), self.now);
                host.rooms.insert(room, running);
                let opened = RoomOpened {
                    room: room.0,
                    error: None,
                };
                host.words
                    .push_back(Word::Lobby(Box::new(host_to_world::Body::RoomOpened(
                        opened,
                    ))));
            } else if let Some((room, input)) = input_of(body)
                && let Some(running) = host.rooms.get_mut(&room)
            {
                running.inputs.push(input);
            }
        }
    }

    fn carry(&mut self) {
        while let Some(output) = self.lobby.poll_output() {
            match output {
                Output::Host { host, message } => {
                    if let Some(world_to_host::Body::OpenRoom(order)) = &message.body {
                        let heard = self.now;
                        let new = || Kept {
                            host,
                            state: None,
                            ticks: Vec::new(),
                            heard,
                        };
                        self.kept.entry(RoomId(order.room)).or_insert_with(new).host = host;
                    }
                    if let Some(host) = self.hosts.get_mut(&host) {
                        host.orders.push_back(message);
                    }
                }
                Output::Send { message, .. } => {
                    let bad = matches!(
                        message.body,
                        Some(
                            world::world_to_client::Body::RoomLeft(_)
                                | world::world_to_client::Body::Error(_)
                        )
                    );
                    assert!(!bad, "{} at {:?}: {message:?}", self.context, self.now);
                }
                Output::Forsake { host } => {
                    panic!("{}: {host:?} is given up, and lives", self.context)
                }
                _ => {}
            }
        }
    }
}

/// One tick of a room, and what its host says of it: what was taken first, then what players at
/// gates have come to.
fn tick(id: RoomId, running: &mut Running, words: &mut VecDeque<Word>) {
    running.now += TICK;
    let mut outputs = Vec::new();
    running
        .room
        .tick(running.now, &mut running.inputs, &mut outputs);
    words.push_back(Word::Tick(id, running.now, running.room.journal().to_vec()));
    if (running.now.millis() / 50).is_multiple_of(20) || running.now == GameTime::from_millis(50) {
        words.push_back(Word::Saved(
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
        words.push_back(Word::Lobby(Box::new(body)));
    }
}

/// A new room, or one that goes on where it was.
fn open(registry: &Registry, order: &OpenRoom, kept: Option<&Kept>, now: LocalTime) -> Running {
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
        return Running {
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
    let mut running = Running {
        room,
        now: last,
        inputs: Vec::new(),
    };
    // What nobody has ticked since.
    for _ in 0..now.since(kept.heard).as_millis() / TICK.as_millis() {
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
