//! A game host on virtual time: rooms, tickets and game connections, as the real host's shell
//! carries them.
//!
//! The WorldServer's messages and the clients' bytes go in, their answers come out of `poll`; the
//! rooms tick when [`SimHost::tick`] is called. Nothing here decides anything about a game. A host
//! that may die alone ([`SimHost::of_its_own`]) takes its time to make rooms, and says all along
//! what they are.

use std::collections::{BTreeMap, VecDeque};
use std::hash::{DefaultHasher, Hash};
use std::time::Duration;

use ambit_game_server::clock_thread::MOST_WAITING;
use ambit_game_server::fence::Fence;
use ambit_game_server::keeper::{self, Keeper, take_up};
use ambit_game_server::logic::registry::Registry;
use ambit_game_server::record::{self, Header, Recorder};
use ambit_game_server::room::{Accepted, Input, Output, Room};
use ambit_game_server::ticket::TicketVerifier;
use ambit_proto::codes::{self, ErrorCode};
use ambit_proto::control::game::{
    ClientToGame, GameToClient, Joined, Out, client_to_game, game_to_client,
};
use ambit_proto::control::host::{
    Arrived, AtGate, Beat, Departed, HostReady, HostToWorld, OpenRoom, PlayerOut, RoomClosed,
    RoomOpened, RoomTick, WorldToHost, host_to_world, world_to_host,
};
use ambit_proto::ids::{ClientId, PlayerId, RoomId};
use ambit_proto::space::Position;
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
    /// To itself: a room is being made; [`SimHost::finish`] is due.
    Making(RoomId),
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
    address: String,
    capacity: u32,
    /// Whether it takes its time.
    is_apart: bool,
    /// Whether it says all along what its rooms are.
    keeps: bool,
    /// Rooms that are being made.
    pending: BTreeMap<RoomId, Pending>,
    /// Of the newest `RoomTick`.
    serial: u64,
    fence: Fence,
}

/// A room that is being made.
struct Pending {
    order: OpenRoom,
    /// When its clock began.
    origin: LocalTime,
    unwanted: bool,
    /// What was said meanwhile of its players.
    late: Vec<world_to_host::Body>,
}

/// A room, and when it began.
pub struct SimRoom {
    /// The room itself.
    pub room: Room,
    origin: LocalTime,
    ticks: u64,
    inputs: Vec<Input>,
    clients: BTreeMap<ClientId, Seated>,
    capacity: u32,
    /// If the room is to go on elsewhere.
    keeper: Option<Keeper>,
    /// Rooms of hosts that may die are not recorded: their runs are long.
    recorder: Option<Recorder>,
    /// Everything that went in so far.
    pub recording: Vec<u8>,
    /// A hash of everything that came out so far (see [`digest`]).
    pub outputs: DefaultHasher,
}

/// Behind which connection a client is, whose it is, and the serial of the ticket that it came
/// with.
type Seated = (GameConn, PlayerId, u64);

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
            address: ADDRESS.into(),
            capacity: 100,
            is_apart: false,
            keeps: false,
            pending: BTreeMap::new(),
            serial: 0,
            fence: Fence::default(),
        }
    }

    /// A host that may die alone, at an address of its own, for so many rooms.
    pub fn of_its_own(registry: Registry, address: &str, capacity: u32) -> Self {
        SimHost {
            address: address.to_owned(),
            capacity,
            is_apart: true,
            ..SimHost::new(registry)
        }
    }

    /// Where clients call it.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Whether it has, or is about to have, this room.
    pub fn has(&self, room: RoomId) -> bool {
        self.rooms.contains_key(&room) || self.pending.contains_key(&room)
    }

    /// How many rooms it has, or is about to have.
    pub fn room_count(&self) -> usize {
        self.rooms.len() + self.pending.len()
    }

    /// Whether what it says now still counts, as [`Fence::pass`] does.
    pub fn passes(&mut self, now: LocalTime) -> bool {
        self.fence.pass(now)
    }

    /// It lives.
    pub fn beat(&mut self) {
        self.tell(host_to_world::Body::Beat(Beat::default()));
    }

    /// The process is asked to end: it says a last time what its rooms are, and ticks no more.
    pub fn hand_over(&mut self) {
        self.pending.clear();
        for (id, mut room) in std::mem::take(&mut self.rooms) {
            let mut last = Vec::new();
            room.room.part(&mut last);
            for output in last {
                if let Output::Datagram { client, bytes } = output
                    && let Some(&(conn, ..)) = room.clients.get(&client)
                {
                    self.said.push_back(Said::Datagram(conn, bytes));
                }
            }
            let (Some(mut keeper), Some(last)) = (room.keeper, room.room.last_tick()) else {
                continue;
            };
            keeper.hurry();
            if let Some(saved) = keeper.save(id, &room.room, last) {
                self.tell(host_to_world::Body::RoomSaved(saved));
            }
        }
    }

    /// The link to the WorldServer has broken: all rooms are closed.
    pub fn lose_link(&mut self) {
        self.pending.clear();
        for id in self.rooms.keys().copied().collect::<Vec<_>>() {
            self.close_room(id, ErrorCode::HostDied);
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
                self.keeps = configure.keep_rooms;
                // A host on another machine has a lease instead, three quarters of the silence;
                // here both end a host that was stopped too long.
                let silence_ms = configure.silence_ms.max(configure.lease_ms / 3 * 4);
                self.fence.guard(Duration::from_millis(silence_ms.into()));
                let ready = HostReady {
                    version: ambit_proto::host::VERSION,
                    address: self.address.clone(),
                    certificate_sha256: vec![1; 32],
                    capacity: self.capacity,
                    ..HostReady::default()
                };
                self.tell(host_to_world::Body::Ready(ready));
            }
            world_to_host::Body::OpenRoom(order) if self.is_apart => self.begin_making(now, order),
            world_to_host::Body::OpenRoom(order) => {
                let header = self.header(&order);
                let made = self.make_room(now, &header);
                let error = made
                    .err()
                    .map(|message| codes::error(ErrorCode::BadParameter, message));
                self.tell(host_to_world::Body::RoomOpened(RoomOpened {
                    room: header.room,
                    error,
                }));
            }
            world_to_host::Body::CloseRoom(order) => {
                self.close_room(RoomId(order.room), order.reason())
            }
            world_to_host::Body::RemovePlayer(order) => {
                let (room, player) = (RoomId(order.room), PlayerId(order.player));
                let verifier = self
                    .verifier
                    .as_mut()
                    .expect("a host is configured before it has rooms");
                verifier.revoke(
                    now.micros() / 1_000_000,
                    room,
                    player,
                    order.void_tickets_until,
                );
                if let Some(pending) = self.pending.get_mut(&room) {
                    pending.late.push(world_to_host::Body::RemovePlayer(order));
                    return;
                }
                // Who came with a newer one has come back since, and stays.
                let is_back = |&(_, whose, serial): &Seated| {
                    whose == player && serial > order.void_tickets_until
                };
                if !self
                    .rooms
                    .get(&room)
                    .is_some_and(|room| room.clients.values().any(is_back))
                {
                    self.remove(room, player, order.reason());
                }
            }
            world_to_host::Body::RenamePlayer(order)
                if self.pending.contains_key(&RoomId(order.room)) =>
            {
                let pending = self
                    .pending
                    .get_mut(&RoomId(order.room))
                    .expect("just looked");
                pending.late.push(world_to_host::Body::RenamePlayer(order));
            }
            world_to_host::Body::RenamePlayer(order) => {
                if let Some(room) = self.rooms.get_mut(&RoomId(order.room)) {
                    room.inputs.push(Input::Rename {
                        player: PlayerId(order.player),
                        name: order.name,
                    });
                }
            }
            world_to_host::Body::Roster(order) => {
                let Some(room) = self.rooms.get_mut(&RoomId(order.room)) else {
                    return;
                };
                let members = order.members.unwrap_or_default();
                for change in keeper::changes(&room.room, Some(&members)) {
                    match change {
                        Accepted::Remove { player } => room.inputs.push(Input::Remove { player }),
                        Accepted::Rename { player, name } => {
                            room.inputs.push(Input::Rename { player, name })
                        }
                        _ => {}
                    }
                }
            }
            world_to_host::Body::LetGo(order) => {
                let input = Input::LetGo {
                    player: PlayerId(order.player),
                    number: order.number,
                };
                self.cross(order.room, input);
            }
            world_to_host::Body::Stay(order) => self.cross(
                order.room,
                Input::Stay {
                    player: PlayerId(order.player),
                },
            ),
            world_to_host::Body::Admit(order) => {
                let (player, at) = (
                    PlayerId(order.player),
                    Position::on_ground(order.x, order.y),
                );
                let (number, name, carried) = (order.number, order.name, order.carried);
                self.cross(
                    order.room,
                    Input::Admit {
                        player,
                        number,
                        name,
                        at,
                        carried,
                    },
                );
            }
            world_to_host::Body::Heard(_) | world_to_host::Body::Kept(_) => {}
            world_to_host::Body::Drain(_) => {
                for id in self.rooms.keys().copied().collect::<Vec<_>>() {
                    self.close_room(id, ErrorCode::Draining);
                }
            }
        }
    }

    fn cross(&mut self, room: u64, input: Input) {
        if let Some(room) = self.rooms.get_mut(&RoomId(room)) {
            room.inputs.push(input);
        }
    }

    /// A control message of a client's.
    pub fn handle_control(&mut self, now: LocalTime, conn: GameConn, message: ClientToGame) {
        match message.body {
            Some(client_to_game::Body::Join(join)) => self.join(now, conn, &join.ticket),
            Some(client_to_game::Body::Leave(_)) => {
                let Some((room, player)) = self.player_behind(conn) else {
                    return;
                };
                self.remove(room, player, ErrorCode::ErrorUnspecified);
                self.tell(host_to_world::Body::PlayerOut(PlayerOut {
                    room: room.0,
                    player: player.0,
                    reason: 0,
                }));
            }
            None => {}
        }
    }

    /// A datagram of a client's.
    pub fn handle_datagram(&mut self, now: LocalTime, conn: GameConn, bytes: Bytes) {
        let Some(&(id, client)) = self.connections.get(&conn) else {
            return;
        };
        let Some(room) = self.rooms.get_mut(&id) else {
            return;
        };
        let at = room.time(now);
        room.inputs.push(Input::Datagram { client, at, bytes });
    }

    /// A game connection is gone.
    pub fn handle_closed(&mut self, conn: GameConn) {
        let Some((id, client)) = self.connections.remove(&conn) else {
            return;
        };
        if let Some(room) = self.rooms.get_mut(&id)
            && room.clients.remove(&client).is_some()
        {
            room.inputs.push(Input::Lost { client });
        }
    }

    /// Ticks every room that is due; returns those that did.
    pub fn tick(&mut self, now: LocalTime) -> Vec<RoomId> {
        let due: Vec<RoomId> = self
            .rooms
            .iter()
            .filter(|(_, room)| room.next_tick() <= now)
            .map(|(&id, _)| id)
            .collect();
        for &id in &due {
            let room = self.rooms.get_mut(&id).expect("it is due");
            let mut outputs = Vec::new();
            room.skip_what_is_long_past(now);
            let at = if self.is_apart {
                room.time(room.next_tick())
            } else {
                room.time(now)
            };
            if let Some(recorder) = &mut room.recorder {
                recorder.tick(at, &room.inputs, &mut room.recording);
            }
            room.room.tick(at, &mut room.inputs, &mut outputs);
            digest(at, &outputs, &mut room.outputs);
            room.ticks += 1;
            let room = &self.rooms[&id];
            let told = room
                .keeper
                .as_ref()
                .and_then(|keeper| keeper.tick(id, &room.room, at));
            // PriorEstimate the datagrams that confirm it.
            if let Some(told) = told {
                self.serial += 1;
                self.tell(host_to_world::Body::RoomTick(RoomTick {
                    serial: self.serial,
                    ..told
                }));
            }
            for output in outputs {
                self.carry_out(id, output);
            }
            let Some(room) = self.rooms.get_mut(&id) else {
                continue;
            };
            if let Some(saved) = room
                .keeper
                .as_mut()
                .and_then(|keeper| keeper.save(id, &room.room, at))
            {
                self.tell(host_to_world::Body::RoomSaved(saved));
            }
        }
        due
    }

    fn carry_out(&mut self, id: RoomId, output: Output) {
        let room = self.rooms.get_mut(&id).expect("it has just ticked");
        match output {
            Output::Datagram { client, bytes } => {
                if let Some(&(conn, ..)) = room.clients.get(&client) {
                    self.said.push_back(Said::Datagram(conn, bytes));
                }
            }
            Output::Superseded { client } => {
                if let Some((conn, ..)) = room.clients.remove(&client) {
                    self.put_out(conn, ErrorCode::TakenOver);
                }
            }
            Output::Deaf { client } => {
                if let Some((conn, ..)) = room.clients.remove(&client) {
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
            Output::AtGate {
                player,
                map,
                at,
                from,
            } => {
                let (room, player) = (id.0, player.0);
                let wish = AtGate {
                    room,
                    player,
                    map,
                    x: at.x,
                    y: at.y,
                    from_x: from.x,
                    from_y: from.y,
                };
                self.tell(host_to_world::Body::AtGate(wish));
            }
            Output::Departed {
                player,
                number,
                carried,
            } => {
                let departed = Departed {
                    room: id.0,
                    player: player.0,
                    number,
                    carried,
                };
                self.tell(host_to_world::Body::Departed(departed));
            }
            Output::Arrived { player, number } => {
                self.tell(host_to_world::Body::Arrived(Arrived {
                    room: id.0,
                    player: player.0,
                    number,
                }));
            }
            // The client closes the connection itself.
            Output::Elsewhere { client } => {
                room.clients.remove(&client);
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

    fn header(&self, order: &OpenRoom) -> Header {
        Header {
            game: order.game.clone(),
            room: order.room,
            seed: order.seed,
            capacity: order.capacity,
            grace_ms: self.grace.as_millis() as u32,
            parameters: order.parameters.clone().into_iter().collect(),
        }
    }

    /// As the real one: not twice, and not more than it holds.
    fn begin_making(&mut self, now: LocalTime, order: OpenRoom) {
        let room = RoomId(order.room);
        let error = if self.has(room) {
            Some(codes::error(
                ErrorCode::AlreadyRunning,
                "the room runs already",
            ))
        } else if self.room_count() >= self.capacity as usize {
            Some(codes::error(
                ErrorCode::NoHostAvailable,
                "this host holds no more rooms",
            ))
        } else {
            None
        };
        if error.is_some() {
            return self.tell(host_to_world::Body::RoomOpened(RoomOpened {
                room: room.0,
                error,
            }));
        }
        let began = now
            .micros()
            .saturating_sub(order.resume.as_ref().map_or(0, |resume| resume.now_us));
        let origin = LocalTime::from_micros(began);
        self.pending.insert(
            room,
            Pending {
                order,
                origin,
                unwanted: false,
                late: Vec::new(),
            },
        );
        self.said.push_back(Said::Making(room));
    }

    /// A room has been made.
    pub fn finish(&mut self, now: LocalTime, id: RoomId) {
        let Some(Pending {
            order,
            origin,
            unwanted,
            late,
        }) = self.pending.remove(&id)
        else {
            return;
        };
        match self.made(now, &order, origin) {
            Err(message) => {
                let error = Some(codes::error(ErrorCode::ServerError, message));
                self.tell(host_to_world::Body::RoomOpened(RoomOpened {
                    room: id.0,
                    error,
                }));
            }
            Ok(_) if unwanted => {}
            Ok(mut made) => {
                self.tell(host_to_world::Body::RoomOpened(RoomOpened {
                    room: id.0,
                    error: None,
                }));
                if let Some((keeper, first)) = Keeper::of(id, &made.room).filter(|_| self.keeps) {
                    made.keeper = Some(keeper);
                    if let Some(first) = first {
                        self.tell(host_to_world::Body::RoomSaved(first));
                    }
                }
                self.rooms.insert(id, made);
                for body in late {
                    self.handle_world(now, WorldToHost { body: Some(body) });
                }
            }
        }
    }

    fn made(&self, now: LocalTime, order: &OpenRoom, origin: LocalTime) -> Result<SimRoom, String> {
        let (config, game) = self
            .registry
            .prepare(&self.header(order))
            .map_err(|error| error.to_string())?;
        let hz = u64::from(config.tick_hz);
        let (room, origin) = match &order.resume {
            None => {
                let mut room = Room::new(config, game);
                room.tick(GameTime::ZERO, &mut Vec::new(), &mut Vec::new());
                (room, now)
            }
            Some(resume) => {
                let clock = || GameTime::ZERO + now.since(origin);
                (
                    take_up(config, game, clock, resume).map_err(|bad| bad.to_string())?,
                    origin,
                )
            }
        };
        let ticks = room.last_tick().unwrap_or_default().micros() * hz / 1_000_000;
        Ok(SimRoom {
            room,
            origin,
            ticks,
            inputs: Vec::new(),
            clients: BTreeMap::new(),
            capacity: order.capacity,
            keeper: None,
            recorder: None,
            recording: Vec::new(),
            outputs: DefaultHasher::new(),
        })
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
            capacity: header.capacity,
            keeper: None,
            recorder: Some(recorder),
            recording,
            outputs: DefaultHasher::new(),
        };
        self.rooms.insert(RoomId(header.room), made);
        Ok(())
    }

    fn join(&mut self, now: LocalTime, conn: GameConn, token: &[u8]) {
        let rooms = &self.rooms;
        let verifier = self
            .verifier
            .as_mut()
            .expect("a host is configured before it has rooms");
        let ticket = match verifier.verify(now.micros() / 1_000_000, token, &self.address, |room| {
            rooms.contains_key(&room)
        }) {
            Ok(ticket) => ticket,
            Err(refusal) => {
                let error = codes::error(refusal.code(), refusal.to_string());
                self.said.push_back(Said::Control(
                    conn,
                    GameToClient {
                        body: Some(game_to_client::Body::Error(error)),
                    },
                ));
                self.said.push_back(Said::Closed(conn));
                return;
            }
        };
        let room = self
            .rooms
            .get_mut(&ticket.room)
            .expect("the ticket's room runs");
        if room.room.avatar(ticket.player).is_none() && room.seats_taken() >= room.capacity {
            return self.put_out(conn, ErrorCode::RoomFull);
        }
        self.next_client += 1;
        let client = ClientId(self.next_client);
        room.inputs.push(Input::Join {
            client,
            player: ticket.player,
            name: ticket.name,
        });
        room.clients
            .insert(client, (conn, ticket.player, ticket.serial));
        let joined = room.joined(ticket.room, now);
        self.connections.insert(conn, (ticket.room, client));
        self.said.push_back(Said::Control(
            conn,
            GameToClient {
                body: Some(game_to_client::Body::Joined(joined)),
            },
        ));
    }

    fn remove(&mut self, id: RoomId, player: PlayerId, reason: ErrorCode) {
        let Some(room) = self.rooms.get_mut(&id) else {
            return;
        };
        room.inputs.push(Input::Remove { player });
        let gone: Vec<(ClientId, GameConn)> = room
            .clients
            .iter()
            .filter(|(_, (_, whose, _))| *whose == player)
            .map(|(&client, &(conn, ..))| (client, conn))
            .collect();
        for (client, conn) in gone {
            room.clients.remove(&client);
            self.said.push_back(Said::Control(conn, out(reason)));
            self.connections.remove(&conn);
            self.said.push_back(Said::Closed(conn));
        }
    }

    fn close_room(&mut self, id: RoomId, reason: ErrorCode) {
        if let Some(pending) = self.pending.get_mut(&id) {
            pending.unwanted = true;
        }
        let Some(room) = self.rooms.remove(&id) else {
            return;
        };
        for (conn, ..) in room.clients.into_values() {
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
        let &(_, player, _) = self.rooms.get(&id)?.clients.get(&client)?;
        Some((id, player))
    }

    fn tell(&mut self, body: host_to_world::Body) {
        self.said
            .push_back(Said::World(HostToWorld { body: Some(body) }));
    }
}

impl SimRoom {
    /// The room's time at a moment of the simulation.
    pub fn time(&self, now: LocalTime) -> GameTime {
        GameTime::ZERO + now.since(self.origin)
    }

    /// Seats that are taken, and those of players who came since the last tick.
    pub fn seats_taken(&self) -> u32 {
        let is_new = |input: &&Input| matches!(input, Input::Join { player, .. } if self.room.avatar(*player).is_none());
        self.room.stats().players + self.inputs.iter().filter(is_new).count() as u32
    }

    /// Seats at most.
    pub fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Of what it missed, a room makes good the newest few ticks, as with the real clock thread.
    fn skip_what_is_long_past(&mut self, now: LocalTime) {
        let hz = u64::from(self.room.config().tick_hz);
        let last_due = now.since(self.origin).as_micros() as u64 * hz / 1_000_000;
        self.ticks = self
            .ticks
            .max(last_due.saturating_sub(u64::from(MOST_WAITING)));
    }

    /// The connection of a client.
    pub fn connection(&self, client: ClientId) -> Option<GameConn> {
        self.clients.get(&client).map(|&(conn, ..)| conn)
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
    GameToClient {
        body: Some(game_to_client::Body::Out(Out {
            reason: reason.into(),
            message: codes::name(reason),
        })),
    }
}

/// Adds what a tick gave to a hash.
pub fn digest(now: GameTime, outputs: &[Output], hash: &mut DefaultHasher) {
    now.hash(hash);
    for output in outputs {
        match output {
            Output::Datagram { client, bytes } => (client, bytes).hash(hash),
            Output::Superseded { client }
            | Output::Deaf { client }
            | Output::Elsewhere { client } => client.hash(hash),
            Output::AtGate { player, map, .. } => (player, map).hash(hash),
            Output::Departed {
                player,
                number,
                carried,
            } => (player, number, carried).hash(hash),
            Output::Arrived { player, number } => (player, number).hash(hash),
            Output::PlayerOut { player, .. } => player.hash(hash),
            Output::Finished => {}
        }
    }
}
