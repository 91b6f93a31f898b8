//! A game host on virtual time: rooms, tickets and game connections, as the real host's shell carries them.
//!
//! The WorldServer's messages and the clients' bytes go in, their answers come out of `poll`; the rooms tick when
//! [`SimHost::tick`] is called. Nothing here decides anything about a game.

use std::collections::{BTreeMap, VecDeque};
use std::hash::{DefaultHasher, Hash};
use std::time::Duration;

use ambit_game_server::logic::registry::Registry;
use ambit_game_server::record::{self, Header, Recorder};
use ambit_game_server::room::{Input, Output, Room};
use ambit_game_server::ticket::TicketVerifier;
use ambit_proto::codes::{self, ErrorCode};
use ambit_proto::control::game::{ClientToGame, GameToClient, Joined, Out, client_to_game, game_to_client};
use ambit_proto::control::host::{
    HostReady, HostToWorld, PlayerOut, RoomClosed, RoomOpened, WorldToHost, host_to_world, world_to_host,
};
use ambit_proto::ids::{ClientId, PlayerId, RoomId};
use ambit_proto::time::{GameTime, LocalTime};
use bytes::Bytes;

/// The address that tickets name.
pub const ADDRESS: &str = "127.0.0.1:7777";

/// A game connection, as the network numbers it.
pub type GameConn = u64;

/// What a host says.
#[derive(Debug)]
pub enum Said {
    /// To the WorldServer.
    World(HostToWorld),
    /// On a game connection's control stream.
    Control(GameConn, GameToClient),
    /// On a game connection, as a datagram.
    Datagram(GameConn, Bytes),
    /// A game connection is closed.
    Closed(GameConn),
}

/// See the module.
pub struct SimHost {
    registry: Registry,
    verifier: Option<TicketVerifier>,
    grace: Duration,
    rooms: BTreeMap<RoomId, SimRoom>,
    /// The room and client of each connection that is in.
    connections: BTreeMap<GameConn, (RoomId, ClientId)>,
    said: VecDeque<Said>,
    next_client: u32,
}

/// A room, and when it began.
pub struct SimRoom {
    /// The room itself.
    pub room: Room,
    origin: LocalTime,
    ticks: u64,
    inputs: Vec<Input>,
    clients: BTreeMap<ClientId, (GameConn, PlayerId)>,
    recorder: Recorder,
    /// Everything that went in so far.
    pub recording: Vec<u8>,
    /// A hash of everything that came out so far (see [`digest`]).
    pub outputs: DefaultHasher,
}

impl SimHost {
    /// A host with these games.
    pub fn new(registry: Registry) -> Self {
        SimHost {
            registry,
            verifier: None,
            grace: Duration::from_secs(30),
            rooms: BTreeMap::new(),
            connections: BTreeMap::new(),
            said: VecDeque::new(),
            next_client: 0,
        }
    }

    /// The rooms that run.
    pub fn rooms(&self) -> impl Iterator<Item = (RoomId, &SimRoom)> {
        self.rooms.iter().map(|(&id, room)| (id, room))
    }

    /// Forgets what went into a room so far.
    pub fn forget_recording(&mut self, room: RoomId) {
        if let Some(room) = self.rooms.get_mut(&room) {
            room.recording.clear();
        }
    }

    /// When the next room ticks.
    pub fn next_tick(&self) -> Option<LocalTime> {
        self.rooms.values().map(SimRoom::next_tick).min()
    }

    /// What it has to say.
    pub fn poll(&mut self) -> Option<Said> {
        self.said.pop_front()
    }

    /// A message of the WorldServer's.
    pub fn handle_world(&mut self, now: LocalTime, message: WorldToHost) {
        match message.body.expect("the lobby sends no empty message") {
            world_to_host::Body::Configure(configure) => {
                self.verifier = TicketVerifier::new(&configure.ticket_key);
                self.grace = Duration::from_millis(configure.grace_ms.into());
                let ready = HostReady {
                    version: ambit_proto::host::VERSION,
                    address: ADDRESS.into(),
                    certificate_sha256: vec![1; 32],
                    capacity: 100,
                    ..HostReady::default()
                };
                self.tell(host_to_world::Body::Ready(ready));
            }
            world_to_host::Body::OpenRoom(order) => {
                let header = Header {
                    game: order.game,
                    room: order.room,
                    seed: order.seed,
                    capacity: order.capacity,
                    grace_ms: self.grace.as_millis() as u32,
                    parameters: order.parameters.into_iter().collect(),
                };
                let made = self.make_room(now, &header);
                let error = made.err().map(|message| codes::error(ErrorCode::BadParameter, message));
                self.tell(host_to_world::Body::RoomOpened(RoomOpened { room: header.room, error }));
            }
            world_to_host::Body::CloseRoom(order) => self.close_room(RoomId(order.room), order.reason()),
            world_to_host::Body::RemovePlayer(order) => {
                let (room, player) = (RoomId(order.room), PlayerId(order.player));
                let verifier = self.verifier.as_mut().expect("a host is configured before it has rooms");
                verifier.void(now.micros() / 1_000_000, room, player, order.void_tickets_until);
                self.remove(room, player, order.reason());
            }
            world_to_host::Body::RenamePlayer(order) => {
                if let Some(room) = self.rooms.get_mut(&RoomId(order.room)) {
                    room.inputs.push(Input::Rename { player: PlayerId(order.player), name: order.name });
                }
            }
            world_to_host::Body::Heard(_) | world_to_host::Body::Kept(_) => {}
            world_to_host::Body::Drain(_) => {
                for id in self.rooms.keys().copied().collect::<Vec<_>>() {
                    self.close_room(id, ErrorCode::Draining);
                }
            }
        }
    }

    /// A control message of a client's.
    pub fn handle_control(&mut self, now: LocalTime, conn: GameConn, message: ClientToGame) {
        match message.body {
            Some(client_to_game::Body::Join(join)) => self.join(now, conn, &join.ticket),
            Some(client_to_game::Body::Leave(_)) => {
                let Some((room, player)) = self.player_behind(conn) else { return };
                self.remove(room, player, ErrorCode::ErrorUnspecified);
                self.tell(host_to_world::Body::PlayerOut(PlayerOut { room: room.0, player: player.0, reason: 0 }));
            }
            None => {}
        }
    }

    /// A datagram of a client's.
    pub fn handle_datagram(&mut self, now: LocalTime, conn: GameConn, bytes: Bytes) {
        let Some(&(id, client)) = self.connections.get(&conn) else { return };
        let Some(room) = self.rooms.get_mut(&id) else { return };
        let at = room.time(now);
        room.inputs.push(Input::Datagram { client, at, bytes });
    }

    /// A game connection is gone.
    pub fn handle_closed(&mut self, conn: GameConn) {
        let Some((id, client)) = self.connections.remove(&conn) else { return };
        if let Some(room) = self.rooms.get_mut(&id)
            && room.clients.remove(&client).is_some()
        {
            room.inputs.push(Input::Lost { client });
        }
    }

    /// Ticks every room that is due; returns those that did.
    pub fn tick(&mut self, now: LocalTime) -> Vec<RoomId> {
        let due: Vec<RoomId> =
            self.rooms.iter().filter(|(_, room)| room.next_tick() <= now).map(|(&id, _)| id).collect();
        for &id in &due {
            let room = self.rooms.get_mut(&id).expect("it is due");
            let mut outputs = Vec::new();
            let at = room.time(now);
            room.recorder.tick(at, &room.inputs, &mut room.recording);
            room.room.tick(at, &mut room.inputs, &mut outputs);
            digest(at, &outputs, &mut room.outputs);
            room.ticks += 1;
            for output in outputs {
                self.carry_out(id, output);
            }
        }
        due
    }

    fn carry_out(&mut self, id: RoomId, output: Output) {
        let room = self.rooms.get_mut(&id).expect("it has just ticked");
        match output {
            Output::Datagram { client, bytes } => {
                if let Some(&(conn, _)) = room.clients.get(&client) {
                    self.said.push_back(Said::Datagram(conn, bytes));
                }
            }
            Output::Superseded { client } => {
                if let Some((conn, _)) = room.clients.remove(&client) {
                    self.put_out(conn, ErrorCode::TakenOver);
                }
            }
            Output::Deaf { client } => {
                if let Some((conn, _)) = room.clients.remove(&client) {
                    self.put_out(conn, ErrorCode::SlowReader);
                }
            }
            Output::PlayerOut { player, reason } => {
                self.tell(host_to_world::Body::PlayerOut(PlayerOut {
                    room: id.0,
                    player: player.0,
                    reason: reason.into(),
                }));
            }
            Output::Finished => {
                let reason = ErrorCode::RoomClosed.into();
                self.tell(host_to_world::Body::RoomClosed(RoomClosed {
                    room: id.0,
                    reason,
                    message: "the game is over".into(),
                }));
                self.close_room(id, ErrorCode::RoomClosed);
            }
        }
    }

    fn make_room(&mut self, now: LocalTime, header: &Header) -> Result<(), String> {
        let room = record::room(header, &self.registry).map_err(|error| error.to_string())?;
        let (mut recorder, mut recording) = (Recorder::default(), Vec::new());
        recorder.start(header, &mut recording);
        let made = SimRoom {
            room,
            origin: now,
            ticks: 0,
            inputs: Vec::new(),
            clients: BTreeMap::new(),
            recorder,
            recording,
            outputs: DefaultHasher::new(),
        };
        self.rooms.insert(RoomId(header.room), made);
        Ok(())
    }

    fn join(&mut self, now: LocalTime, conn: GameConn, token: &[u8]) {
        let rooms = &self.rooms;
        let verifier = self.verifier.as_mut().expect("a host is configured before it has rooms");
        let ticket = match verifier.verify(now.micros() / 1_000_000, token, ADDRESS, |room| rooms.contains_key(&room)) {
            Ok(ticket) => ticket,
            Err(refusal) => {
                let error = codes::error(refusal.code(), refusal.to_string());
                self.said
                    .push_back(Said::Control(conn, GameToClient { body: Some(game_to_client::Body::Error(error)) }));
                self.said.push_back(Said::Closed(conn));
                return;
            }
        };
        self.next_client += 1;
        let client = ClientId(self.next_client);
        let room = self.rooms.get_mut(&ticket.room).expect("the ticket's room runs");
        room.inputs.push(Input::Join { client, player: ticket.player, name: ticket.name });
        room.clients.insert(client, (conn, ticket.player));
        let joined = room.joined(ticket.room, now);
        self.connections.insert(conn, (ticket.room, client));
        self.said.push_back(Said::Control(conn, GameToClient { body: Some(game_to_client::Body::Joined(joined)) }));
    }

    fn remove(&mut self, id: RoomId, player: PlayerId, reason: ErrorCode) {
        let Some(room) = self.rooms.get_mut(&id) else { return };
        room.inputs.push(Input::Remove { player });
        let gone: Vec<(ClientId, GameConn)> = room
            .clients
            .iter()
            .filter(|(_, (_, whose))| *whose == player)
            .map(|(&client, &(conn, _))| (client, conn))
            .collect();
        for (client, conn) in gone {
            room.clients.remove(&client);
            self.said.push_back(Said::Control(conn, out(reason)));
            self.connections.remove(&conn);
            self.said.push_back(Said::Closed(conn));
        }
    }

    fn close_room(&mut self, id: RoomId, reason: ErrorCode) {
        let Some(room) = self.rooms.remove(&id) else { return };
        for (conn, _) in room.clients.into_values() {
            self.put_out(conn, reason);
        }
    }

    fn put_out(&mut self, conn: GameConn, reason: ErrorCode) {
        self.said.push_back(Said::Control(conn, out(reason)));
        self.connections.remove(&conn);
        self.said.push_back(Said::Closed(conn));
    }

    fn player_behind(&self, conn: GameConn) -> Option<(RoomId, PlayerId)> {
        let &(id, client) = self.connections.get(&conn)?;
        let &(_, player) = self.rooms.get(&id)?.clients.get(&client)?;
        Some((id, player))
    }

    fn tell(&mut self, body: host_to_world::Body) {
        self.said.push_back(Said::World(HostToWorld { body: Some(body) }));
    }
}

impl SimRoom {
    /// The room's time at a moment of the simulation.
    pub fn time(&self, now: LocalTime) -> GameTime {
        GameTime::ZERO + now.since(self.origin)
    }

    /// The connection of a client.
    pub fn connection(&self, client: ClientId) -> Option<GameConn> {
        self.clients.get(&client).map(|&(conn, _)| conn)
    }

    fn next_tick(&self) -> LocalTime {
        let hz = u64::from(self.room.config().tick_hz);
        self.origin + Duration::from_micros((self.ticks + 1) * 1_000_000 / hz)
    }

    fn joined(&self, id: RoomId, now: LocalTime) -> Joined {
        let config = self.room.config();
        Joined {
            room: id.0,
            now_us: self.time(now).micros(),
            delay_ms: config.delay.as_millis() as u32,
            tick_hz: config.tick_hz,
            width: config.width,
            height: config.height,
            cell: config.cell,
            inner: config.inner.into(),
            outer: config.outer.into(),
            schema: Some((&self.room.game().schema()).into()),
        }
    }
}

fn out(reason: ErrorCode) -> GameToClient {
    GameToClient { body: Some(game_to_client::Body::Out(Out { reason: reason.into(), message: codes::name(reason) })) }
}

/// Adds what a tick gave to a hash.
pub fn digest(now: GameTime, outputs: &[Output], hash: &mut DefaultHasher) {
    now.hash(hash);
    for output in outputs {
        match output {
            Output::Datagram { client, bytes } => (client, bytes).hash(hash),
            Output::Superseded { client } | Output::Deaf { client } => client.hash(hash),
            Output::PlayerOut { player, .. } => player.hash(hash),
            Output::Finished => {}
        }
    }
}
