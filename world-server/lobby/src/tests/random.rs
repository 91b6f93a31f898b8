//! Random operations from a seed; the invariants are checked after each of them.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use ambit_host_protocol::generated::{self as messages, HostToWorld, host_to_world, world_to_host};
use ambit_host_protocol::protobuf::{host_message_of, messages_of_order};
use ambit_proto::codes::{self, ErrorCode};
use ambit_proto::control::world::{self, client_to_world as ask, world_to_client::Body};
use ambit_proto::ids::RoomId;
use ambit_proto::time::LocalTime;
use ambit_transport::ticket::TicketSigner;

use super::harness::{
    create, hello, join_with, kick, leave, list_all_players, ready, request_ticket, set_name, start,
};
use crate::rooms::room::LobbyRoom;
use crate::{ConnId, HostId, HostReport, Lobby, LobbyAction, LobbyConfig, LobbyGame};

mod invariants;
mod leaders;
mod source;

use leaders::{DirectoryLog, HostRooms};
pub(super) use source::RandomSource;

#[test]
fn the_invariants_hold_in_random_runs() {
    let mut refused = BTreeSet::new();
    let mut closed = BTreeSet::new();
    let mut starts = 0;
    let mut resumes = 0;
    let mut transfers = 0;
    let mut most_sessions = 0;
    for seed in 0..60 {
        let mut run = RandomRun::new(seed);
        for step in 0..1_500 {
            run.step();
            run.check(&format!("seed {seed}, step {step}"));
            most_sessions = most_sessions.max(run.most_sessions_of_an_address());
        }
        let stats = run.lobby.stats();
        refused.extend(stats.refused.into_keys());
        closed.extend(stats.closed.into_keys());
        starts += stats.rooms_started;
        resumes += stats.resumed;
        transfers += stats.transfers_completed;
        run.settle(&format!("seed {seed}"));
    }
    // The runs have reached these cases.
    assert!(starts > 500 && resumes > 500, "{starts} starts, {resumes} resumes");
    assert!(transfers > 50, "{transfers} transfers");
    assert_eq!(most_sessions, 2 * MAX_PER_ADDRESS, "sessions of one address");
    for code in [
        ErrorCode::RoomFull,
        ErrorCode::Kicked,
        ErrorCode::WrongPassword,
        ErrorCode::AlreadyInRoom,
        ErrorCode::AlreadyRunning,
        ErrorCode::HostDied,
        ErrorCode::NoHostAvailable,
        ErrorCode::TooManyRooms,
        ErrorCode::TooManyConnections,
        ErrorCode::TooManyFromAddress,
        ErrorCode::RateLimited,
    ] {
        assert!(refused.contains(&code), "{code:?} never occurred: {refused:?}");
    }
    for code in [ErrorCode::TakenOver, ErrorCode::Idle, ErrorCode::Malformed] {
        assert!(closed.contains(&code), "{code:?} never occurred: {closed:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_outputs() {
    let run = |seed| {
        let mut run = RandomRun::new(seed);
        (0..1_000).for_each(|_| run.step());
        run.trace
    };
    assert_eq!(run(7), run(7));
    assert_ne!(run(7), run(8));
}

#[test]
fn random_bytes_at_most_close_their_connection() {
    let mut run = RandomRun::new(1);
    for step in 0..2_000 {
        let conn = run.connect();
        if run.random.chance(50) {
            run.request(conn, hello("", &[]));
        }
        let length = run.random.below(40);
        let noise: Vec<u8> = (0..length).map(|_| run.random.next() as u8).collect();
        run.lobby.handle_frame(run.now, conn, &noise);
        // Other tests check the answers; here the lobby only has to survive.
        while run.lobby.poll_output().is_some() {}
        run.lobby.handle_disconnect(run.now, conn);
        run.open.remove(&conn);
        run.waiting.clear();
        run.check(&format!("step {step}"));
    }
}

const MAX_PER_ADDRESS: usize = 5;
const MAX_ROOMS_PER_ADDRESS: usize = 4;
const MAX_RUNNING_PER_ADDRESS: usize = 3;

/// A lobby with clients and hosts that act at random.
struct RandomRun {
    lobby: Lobby,
    now: LocalTime,
    random: RandomSource,
    /// Connections that the lobby has not closed, with their clients' state.
    open: BTreeMap<ConnId, ClientModel>,
    /// Tokens that were handed out, valid or not.
    tokens: Vec<Vec<u8>>,
    /// Requests without an answer.
    waiting: BTreeSet<(ConnId, u64)>,
    /// Messages about gates that hosts are about to send.
    gates: Vec<(HostId, host_to_world::Body)>,
    /// Orders to open rooms that hosts have not answered.
    opening: Vec<(HostId, messages::RoomHere)>,
    /// The hosts with their rooms.
    hosts: BTreeMap<HostId, HostRooms>,
    /// The records, if there is a directory.
    directory: Option<DirectoryLog>,
    conns: u64,
    host_count: u64,
    requests: u64,
    trace: Vec<String>,
}

#[derive(Clone, Debug, Default)]
struct ClientModel {
    player: Option<u64>,
    token: Vec<u8>,
    /// The player's room, according to the events and answers on this connection.
    room: Option<u64>,
}

impl RandomRun {
    fn new(seed: u64) -> Self {
        let lobby = Self::lobby(seed, false);
        Self {
            lobby,
            now: LocalTime::from_millis(1),
            random: RandomSource::new(seed),
            open: BTreeMap::new(),
            tokens: Vec::new(),
            waiting: BTreeSet::new(),
            opening: Vec::new(),
            gates: Vec::new(),
            hosts: BTreeMap::new(),
            directory: None,
            conns: 0,
            host_count: 0,
            requests: 0,
            trace: Vec::new(),
        }
    }

    fn lobby(seed: u64, directory: bool) -> Lobby {
        let config = LobbyConfig {
            directory,
            max_connections: 12,
            max_per_address: MAX_PER_ADDRESS,
            max_rooms: 5,
            max_rooms_per_player: 2,
            max_rooms_per_address: MAX_ROOMS_PER_ADDRESS,
            max_running_rooms_per_address: MAX_RUNNING_PER_ADDRESS,
            abandoned: Some(Duration::from_secs(1)),
            rooms_per_minute: 1_000,
            requests_per_s: 50,
            request_burst: 50,
            refused_in_a_row: 10,
            grace: Duration::from_secs(3),
            idle: Some(Duration::from_secs(20)),
            ..LobbyConfig::default()
        };
        let game = |name: &str, min_players, join_running| LobbyGame {
            name: name.to_owned(),
            description: String::new(),
            min_players,
            join_running,
            is_lasting: name.starts_with("lasting"),
            quick_start: BTreeMap::new(),
            parameters: Vec::new(),
            max_capacity: 100,
            presentation: String::new(),
            schema: Vec::new(),
        };
        let games = vec![game("field", 1, true), game("duel", 2, false)];
        let mut entropy = RandomSource::new(seed ^ 0xabcd);
        let entropy =
            move || (u128::from(entropy.next()) << 64 | u128::from(entropy.next())).to_be_bytes();
        let signer = TicketSigner::from_seed(&[7; 32]);
        Lobby::new(config, games, Box::new(|_, _, _| Ok(())), Box::new(entropy), signer)
    }

    fn step(&mut self) {
        match self.random.below(100) {
            0..10 => {
                let conn = self.connect();
                let hello = self.hello();
                self.request(conn, hello);
            }
            10..14 => self.with_random_connection(|run, conn| {
                run.open.remove(&conn);
                run.lobby.handle_disconnect(run.now, conn);
            }),
            14..15 => self.with_random_connection(|run, conn| {
                run.open.remove(&conn);
                run.lobby.handle_quit(run.now, conn);
            }),
            15..16 => {
                self.with_random_connection(|run, conn| {
                    run.lobby.handle_malformed(run.now, conn, ErrorCode::Malformed);
                });
            }
            16..20 => self.add_or_remove_host(),
            20..34 => self.send_host_message(),
            34..44 => self.advance_randomly(),
            44..50 => self.act_as_room_host(),
            51..52 if self.directory.is_some() => self.replace_leader(),
            50..51 => self.with_random_connection(|run, conn| {
                for _ in 0..run.random.below(100) {
                    run.request(conn, leave());
                    run.handle_outputs();
                }
            }),
            _ => self.with_random_connection(|run, conn| {
                let request = run.any_request();
                run.request(conn, request);
            }),
        }
        self.handle_outputs();
    }

    /// Clients send nothing more and hosts answer; then no request waits for an answer.
    fn settle(&mut self, context: &str) {
        self.now += Duration::from_secs(15);
        self.lobby.handle_timeout(self.now);
        self.handle_outputs();
        assert_eq!(self.waiting, BTreeSet::new(), "{context}: requests without an answer");
        self.lobby.drain(self.now);
        self.handle_outputs();
        assert!(self.lobby.is_drained(), "{context}");
        for host in std::mem::take(&mut self.hosts).into_keys() {
            self.lobby.handle_host_lost(self.now, host, "ended");
        }
        for _ in 0..20 {
            self.now += Duration::from_secs(1);
            self.lobby.handle_timeout(self.now);
        }
        let stats = self.lobby.stats();
        assert_eq!((stats.connections, stats.players, stats.rooms), (0, 0, 0), "{context}");
        assert_eq!(self.lobby.next_deadline(), None, "{context}");
    }

    fn connect(&mut self) -> ConnId {
        self.conns += 1;
        let conn = ConnId(self.conns);
        self.open.insert(conn, ClientModel::default());
        let address = IpAddr::from(Ipv4Addr::new(10, 0, 0, self.random.below(3) as u8));
        self.lobby.handle_connect(self.now, conn, address);
        self.handle_outputs();
        conn
    }

    fn hello(&mut self) -> ask::Body {
        let token =
            if self.random.chance(60) { self.random.pick(&self.tokens).cloned() } else { None };
        let name = self.any_name();
        hello(&name, &token.unwrap_or_default())
    }

    fn any_request(&mut self) -> ask::Body {
        let room = self.any_room();
        let player = self.any_player();
        let password = ["", "sesame"][self.random.below(2) as usize];
        match self.random.below(24) {
            0..4 => create(world::CreateRoom {
                name: "den".into(),
                game: ["field", "duel", "chess"][self.random.below(3) as usize].into(),
                capacity: 1 + self.random.below(4) as u32,
                password: password.into(),
                key: if self.random.chance(50) {
                    vec![self.random.below(3) as u8; 16]
                } else {
                    vec![]
                },
                parameters: super::harness::parameters(&[(
                    "map-seats",
                    ["1", "2", "9"][self.random.below(3) as usize],
                )]),
            }),
            4..10 => join_with(room, password),
            10 => leave(),
            11..14 => start(),
            14 => ready(self.random.chance(50)),
            15 => kick(player),
            16 => set_name(&self.any_name()),
            17 => request_ticket(),
            19 => ask::Body::QuickJoin(world::QuickJoin {
                game: ["field", "duel", "chess"][self.random.below(3) as usize].into(),
                ..world::QuickJoin::default()
            }),
            20 => ask::Body::Invite(world::Invite { player: self.any_name() }),
            21 => ask::Body::JoinParty(world::JoinParty { party: self.random.below(9) }),
            22 => ask::Body::LeaveParty(world::LeaveParty {
                player: [0, player][self.random.below(2) as usize],
            }),
            18 => ask::Body::ListRooms(world::ListRooms { subscribe: self.random.chance(70) }),
            _ => [list_all_players(), self.hello(), self.chat()][self.random.below(3) as usize]
                .clone(),
        }
    }

    fn chat(&mut self) -> ask::Body {
        let channel = self.random.below(5) as i32;
        ask::Body::Say(world::Say {
            channel,
            text: "hello".into(),
            to: self.random.below(9),
            to_name: self.any_name(),
        })
    }

    fn any_name(&mut self) -> String {
        ["ann", "ANN", "bob", "", "a\u{202e}", "x"][self.random.below(6) as usize].into()
    }

    fn request(&mut self, conn: ConnId, body: ask::Body) {
        if !self.open.contains_key(&conn) {
            return;
        }
        self.requests += 1;
        self.waiting.insert((conn, self.requests));
        let message = world::ClientToWorld { request: self.requests, body: Some(body) };
        self.lobby.handle_request(self.now, conn, message);
    }

    fn add_or_remove_host(&mut self) {
        if self.hosts.len() < 3 && self.random.chance(70) {
            self.connect_host(None);
        } else if let Some(host) = self.any_host() {
            self.hosts.remove(&host);
            self.opening.retain(|(at, _)| *at != host);
            self.gates.retain(|(at, _)| *at != host);
            self.lobby.handle_host_lost(self.now, host, "killed");
        }
    }

    fn send_host_message(&mut self) {
        let room = self.any_room();
        let player = self.any_player();
        let reason = self.random.below(40) as i32;
        let Some(any) = self.any_host() else { return };
        match self.random.below(24) {
            10..24 => {
                // A transfer takes several messages, usually in sequence.
                for _ in 0..3 {
                    self.send_gate_message(any, room, player);
                    self.handle_outputs();
                }
            }
            0 => self.send_from_host(
                any,
                host_to_world::Body::RoomClosed(messages::RoomClosed {
                    room,
                    reason,
                    ..Default::default()
                }),
            ),
            1..3 => {
                self.send_from_host(
                    any,
                    host_to_world::Body::PlayerOut(messages::PlayerOut {
                        room,
                        player,
                        reason,
                        ..Default::default()
                    }),
                );
            }
            3 => self.send_from_host(
                any,
                host_to_world::Body::RoomOpened(messages::RoomOpened { room, error: None }),
            ),
            4..6 => {
                let unplayed_rooms = (0..3).map(|_| self.any_room()).collect();
                self.send_from_host(
                    any,
                    host_to_world::Body::Stats(messages::HostStats {
                        unplayed_rooms,
                        ..Default::default()
                    }),
                );
            }
            _ => {
                if let Some((host, here)) = self.opening.last().copied() {
                    let error =
                        self.random.chance(20).then(|| codes::error(ErrorCode::ServerError, "no"));
                    let opened = messages::RoomOpened { room: here.room, error };
                    self.send_from_host(host, host_to_world::Body::RoomOpened(opened));
                }
            }
        }
    }

    /// Sends a message about gates, mostly a valid one.
    fn send_gate_message(&mut self, any: HostId, room: u64, player: u64) {
        let map = self.random.below(4) as u32;
        // Mostly about a player in the room and an order that exists.
        let places: Vec<_> = self
            .lobby
            .sessions
            .players()
            .iter()
            .filter_map(|known| {
                let (place, _) = self.lobby.rooms.avatar_place(known.room?, known.id)?;
                Some((place.0, known.id.0))
            })
            .collect();
        let (room, player) = self
            .random
            .pick(&places)
            .copied()
            .filter(|_| self.random.chance(90))
            .unwrap_or((room, player));
        let body = match self.random.below(10) {
            0 => host_to_world::Body::Departed(messages::Departed {
                room,
                player,
                number: self.random.below(9),
                carried: None,
            }),
            1 => host_to_world::Body::Arrived(messages::Arrived {
                room,
                player,
                number: self.random.below(9),
            }),
            2..6 => host_to_world::Body::AtGate(messages::AtGate {
                room,
                player,
                map,
                ..messages::AtGate::default()
            }),
            _ => {
                if self.gates.is_empty() {
                    if let Some((host, here)) = self.opening.last().copied() {
                        let opened = messages::RoomOpened { room: here.room, error: None };
                        self.send_from_host(host, host_to_world::Body::RoomOpened(opened));
                    }
                    return;
                }
                let index = self.random.below(self.gates.len() as u64) as usize;
                let (host, body) = self.gates.swap_remove(index);
                return self.send_from_host(host, body);
            }
        };
        // The room's host, if it has one.
        let on = self.lobby.rooms.get(RoomId(room)).and_then(LobbyRoom::game_host);
        self.send_from_host(on.unwrap_or(any), body);
    }

    /// Queues a host's answer to an order about a gate.
    fn queue_gate_answer(&mut self, host: HostId, order: &world_to_host::Body) {
        match *order {
            world_to_host::Body::ReleaseForTransfer(messages::ReleaseForTransfer {
                room,
                player,
                number,
            }) => {
                let carried = self.random.chance(85).then(|| vec![1, 2]);
                let departed = messages::Departed { room, player, number, carried };
                self.gates.push((host, host_to_world::Body::Departed(departed)));
            }
            world_to_host::Body::Admit(messages::Admit { room, player, number, .. }) => {
                self.gates.push((
                    host,
                    host_to_world::Body::Arrived(messages::Arrived { room, player, number }),
                ));
            }
            world_to_host::Body::MoveRoom(messages::MoveRoom { room }) => {
                let handed_over = messages::RoomHandedOver { room };
                self.gates.push((host, host_to_world::Body::RoomHandedOver(handed_over)));
            }
            _ => {}
        }
    }

    fn send_from_host(&mut self, host: HostId, body: host_to_world::Body) {
        self.note_host_message(host, &body);
        let message = host_message_of(HostToWorld { body: Some(body) });
        let report = HostReport::Message(message.expect("a message of this build"));
        self.lobby.handle_host(self.now, host, report);
    }

    /// The host of a room starts it or kicks a member.
    fn act_as_room_host(&mut self) {
        let worlds = self.lobby.rooms.iter().filter(|room| room.map_identity.is_none());
        let hosts: Vec<_> = worlds.map(|room| room.host).collect();
        let Some(player) = self.random.pick(&hosts).copied() else {
            return;
        };
        if let Some(conn) = self.lobby.sessions.player(player).conn {
            let act = if self.random.chance(60) { start() } else { kick(self.any_player()) };
            self.request(conn, act);
        }
    }

    /// A room id, mostly of an existing room.
    fn any_room(&mut self) -> u64 {
        let rooms: Vec<_> = self.lobby.rooms.iter().map(|room| room.id.0).collect();
        let any = self.random.below(100);
        if any < 10 { any } else { self.random.pick(&rooms).copied().unwrap_or_default() }
    }

    /// A player id, mostly of an existing player.
    fn any_player(&mut self) -> u64 {
        let players: Vec<_> =
            self.lobby.sessions.players().iter().map(|player| player.id.0).collect();
        let any = self.random.below(100);
        if any < 10 { any } else { self.random.pick(&players).copied().unwrap_or_default() }
    }

    fn any_host(&mut self) -> Option<HostId> {
        let hosts: Vec<_> = self.hosts.keys().copied().collect();
        self.random.pick(&hosts).copied()
    }

    fn advance_randomly(&mut self) {
        let longest_ms = [10, 500, 4_000][self.random.below(3) as usize];
        self.send_heartbeats();
        self.now += Duration::from_millis(self.random.below(longest_ms));
        self.lobby.handle_timeout(self.now);
    }

    fn with_random_connection(&mut self, then: impl FnOnce(&mut Self, ConnId)) {
        let open: Vec<_> = self.open.keys().copied().collect();
        if let Some(conn) = self.random.pick(&open).copied() {
            then(self, conn);
        }
    }

    fn handle_outputs(&mut self) {
        let mut closed = Vec::new();
        let mut cut = Vec::new();
        while let Some(output) = self.lobby.poll_output() {
            self.trace.push(format!("{output:?}"));
            match output {
                LobbyAction::Send { conn, message } => self.deliver(conn, message),
                LobbyAction::Broadcast { conns, message } => {
                    for conn in conns {
                        self.deliver(conn, message.clone());
                    }
                }
                LobbyAction::Close { conn, .. } => {
                    self.open.remove(&conn).expect("closed once");
                    closed.push(conn);
                }
                LobbyAction::Host { host, order } => {
                    // The shell ignores messages of a host without a link.
                    let is_lost = cut.contains(&host);
                    assert!(
                        self.hosts.contains_key(&host) || is_lost,
                        "a lost host gets the order {order:?}"
                    );
                    for message in messages_of_order(order) {
                        let order = message.body.as_ref().expect("a body");
                        self.queue_gate_answer(host, order);
                        self.note_order(host, order);
                    }
                }
                LobbyAction::DisconnectHost { host } => {
                    cut.push(host);
                    self.cut_link(host);
                }
                LobbyAction::Record { key, value } => {
                    self.directory.as_mut().expect("a directory").put(key, value);
                }
                LobbyAction::AdoptRoom { .. } => {
                    assert!(self.directory.is_some(), "hosts keep rooms for the next leader");
                }
                LobbyAction::SaveCondemned { .. }
                | LobbyAction::SetAsideRoom { .. }
                | LobbyAction::ForgetRoom { .. }
                | LobbyAction::ForgetStoreJobs { .. }
                | LobbyAction::NoteTrial { .. }
                | LobbyAction::Report(_)
                | LobbyAction::RestoreDone => {}
                LobbyAction::Store { job, .. } | LobbyAction::StoreLast { job, .. } => {
                    panic!("no room stores anything: {job:?}")
                }
                LobbyAction::Account { job, .. } => panic!("no player signs in: {job:?}"),
                LobbyAction::SetChildCount(count) => {
                    panic!("no children are kept, and {count} are wanted")
                }
            }
        }
        // Only the shell knows when a connection is really closed.
        for conn in closed {
            self.lobby.handle_disconnect(self.now, conn);
        }
        if !cut.is_empty() {
            for host in cut {
                self.lobby.handle_host_lost(self.now, host, "its link is cut");
            }
            self.handle_outputs();
        }
        let open = &self.open;
        self.waiting.retain(|(conn, _)| open.contains_key(conn));
    }

    /// Updates a client's state by a message.
    fn deliver(&mut self, conn: ConnId, message: world::WorldToClient) {
        let known =
            self.open.get_mut(&conn).expect("nothing is sent to a connection that is closed");
        if message.request != 0 {
            assert!(self.waiting.remove(&(conn, message.request)), "one answer to {message:?}");
        }
        match message.body.expect("a body") {
            Body::Welcome(welcome) => {
                known.player = Some(welcome.player);
                known.token.clone_from(&welcome.resume_token);
                known.room = welcome.room;
                self.tokens.push(welcome.resume_token);
            }
            Body::RoomCreated(created) => {
                // The answer to a repeated request can come while the player is not in the room.
                assert!(created.room.is_some());
            }
            Body::RoomJoined(joined) => known.room = joined.room.map(|room| room.id),
            Body::RoomLeft(left) => {
                assert_eq!(known.room.take(), Some(left.room), "only a member leaves a room");
            }
            Body::Ticket(ticket) => {
                assert_eq!(known.room, Some(ticket.room), "a ticket follows the room");
            }
            _ => {}
        }
    }
}
