//! A lobby with arbitrary clients and hosts.
//!
//! Frames come from the streams of some connections, messages from a host. A correct host is
//! connected as well, so that sequences reach rooms and tickets. Checks: the lobby sends only to
//! open connections, and its outputs and deadlines terminate.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use ambit_host_protocol::generated::HostToWorld;
use ambit_host_protocol::messages::{HostMessage, HostReady, WorldOrder};
use ambit_host_protocol::protobuf::host_message_of;
use ambit_lobby::{ConnId, HostId, Lobby, LobbyAction, LobbyConfig, LobbyGame, Origin};
use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world::{self as pb, ClientToWorld, client_to_world};
use ambit_proto::ids::RoomId;
use ambit_proto::time::LocalTime;
use ambit_transport::ticket::TicketSigner;
use ambit_world_server::room_checkpoints::RoomCheckpoints;
use prost::Message;

use super::Reached;
use super::choices::{Choices, put_bytes};

const STEPS: u8 = 8;
const WAIT: usize = 0;
const CONNECT: usize = 1;
const FRAME: usize = 2;
const HOST: usize = 3;
const QUIT: usize = 4;
const BREAK: usize = 5;
const DRAIN: usize = 6;

const CORRECT_HOST: HostId = HostId(1);
const CONNECTIONS: u8 = 5;

/// Runs a lobby with arbitrary clients and hosts.
pub fn lobby(data: &[u8]) -> Reached {
    let fuzzed = run(data);
    let stats = fuzzed.lobby.stats();
    let goals = [
        ("a room starts", stats.rooms_started > 0),
        ("a room ends", stats.rooms_made > stats.rooms as u64),
        ("a ticket", stats.tickets > 0),
        ("a chat line", stats.chats > 0),
        ("a refusal", !stats.refused.is_empty()),
        ("the host is lost", fuzzed.lobby.hosts().count() == 0),
    ];
    let reached = goals.into_iter().filter(|(_, is_reached)| *is_reached);
    reached.map(|(goal, _)| goal).collect()
}

fn run(data: &[u8]) -> FuzzedLobby {
    let mut choices = Choices::new(data);
    let mut fuzzed = FuzzedLobby::new();
    while !choices.is_over() {
        let step = choices.below(STEPS);
        match step {
            WAIT => fuzzed.wait(Duration::from_millis(4 * u64::from(choices.word()))),
            CONNECT => fuzzed.connect(),
            FRAME => {
                let conn = fuzzed.pick_connection(choices.byte());
                let frame = choices.bytes();
                fuzzed.lobby.handle_frame(fuzzed.now, conn, frame);
            }
            HOST => {
                let host = HostId(u64::from(choices.byte() % 3));
                if let Ok(message) = HostToWorld::decode(choices.bytes()) {
                    fuzzed.report(host, message);
                }
            }
            QUIT | BREAK => {
                let conn = fuzzed.pick_connection(choices.byte());
                if fuzzed.open.remove(&conn) {
                    let end =
                        if step == QUIT { Lobby::handle_quit } else { Lobby::handle_disconnect };
                    end(&mut fuzzed.lobby, fuzzed.now, conn);
                }
            }
            DRAIN if choices.byte() == 0 => fuzzed.lobby.drain(fuzzed.now),
            _ => fuzzed.lobby.handle_host_lost(
                fuzzed.now,
                HostId(u64::from(choices.byte() % 3)),
                "the host died",
            ),
        }
        fuzzed.handle_outputs();
    }
    fuzzed
}

struct FuzzedLobby {
    lobby: Lobby,
    checkpoints: RoomCheckpoints,
    now: LocalTime,
    last_connection: u64,
    open: BTreeSet<ConnId>,
}

impl FuzzedLobby {
    fn new() -> Self {
        let mut entropy = fastrand::Rng::with_seed(1);
        let entropy = Box::new(move || entropy.u128(..).to_le_bytes());
        let game = LobbyGame {
            name: "field".into(),
            description: String::new(),
            min_players: 1,
            join_running: true,
            is_lasting: false,
            quick_start: BTreeMap::new(),
            parameters: Vec::new(),
            max_capacity: 100,
            presentation: String::new(),
            schema: Vec::new(),
        };
        let config =
            LobbyConfig { requests_per_s: 1_000, request_burst: 1_000, ..LobbyConfig::default() };
        let signer = TicketSigner::from_seed(&[7; 32]);
        let lobby = Lobby::new(config, vec![game], Box::new(|_, _, _| Ok(())), entropy, signer);
        let mut fuzzed = FuzzedLobby {
            lobby,
            checkpoints: RoomCheckpoints::default(),
            now: LocalTime::from_millis(1_000),
            last_connection: 0,
            open: BTreeSet::new(),
        };
        fuzzed.lobby.handle_host_start(fuzzed.now, CORRECT_HOST, Origin::Remote);
        fuzzed.handle_outputs();
        let ready = HostReady {
            version: ambit_host_protocol::VERSION,
            address: "127.0.0.1:7777".into(),
            certificate_sha256: vec![1; 32],
            capacity: 10,
            ..HostReady::default()
        };
        fuzzed.send_to_lobby(HostMessage::Ready(ready));
        assert_eq!(fuzzed.lobby.hosts().count(), 1, "the correct host is ready");
        fuzzed
    }

    fn wait(&mut self, duration: Duration) {
        let until = self.now + duration;
        while let Some(deadline) = self.lobby.next_deadline().filter(|&deadline| deadline <= until)
        {
            self.now = self.now.max(deadline);
            self.lobby.handle_timeout(self.now);
            assert!(
                self.lobby.next_deadline().is_none_or(|next| next > deadline),
                "a deadline remains after its timeout was handled"
            );
            self.handle_outputs();
        }
        self.now = until;
    }

    fn connect(&mut self) {
        if self.open.len() < usize::from(CONNECTIONS) {
            self.last_connection += 1;
            let conn = ConnId(self.last_connection);
            self.open.insert(conn);
            self.lobby.handle_connect(self.now, conn, IpAddr::V4(Ipv4Addr::LOCALHOST));
        }
    }

    /// One of the connections, possibly a closed one.
    fn pick_connection(&self, choice: u8) -> ConnId {
        ConnId(self.last_connection.saturating_sub(u64::from(choice % CONNECTIONS)))
    }

    fn handle_outputs(&mut self) {
        while let Some(output) = self.lobby.poll_output() {
            match output {
                LobbyAction::Send { conn, .. } => {
                    assert!(self.open.contains(&conn), "{conn:?} is closed");
                }
                LobbyAction::Broadcast { conns, .. } => {
                    assert!(conns.iter().all(|conn| self.open.contains(conn)));
                }
                LobbyAction::Close { conn, .. } => {
                    if self.open.remove(&conn) {
                        self.lobby.handle_disconnect(self.now, conn);
                    }
                }
                LobbyAction::Host { host, order } => {
                    let order = self.checkpoints.complete_order(self.now, host, order);
                    if let (CORRECT_HOST, WorldOrder::OpenRoom(opened, _)) = (host, order) {
                        let room = opened.room;
                        self.send_to_lobby(HostMessage::RoomOpened { room, error: None });
                    }
                }
                LobbyAction::DisconnectHost { host } => {
                    self.lobby.handle_host_lost(self.now, host, "disconnected");
                }
                LobbyAction::ForgetRoom { room } => self.checkpoints.remove(room),
                LobbyAction::SaveCondemned { .. }
                | LobbyAction::SetAsideRoom { .. }
                | LobbyAction::NoteTrial { .. }
                | LobbyAction::RestoreDone
                | LobbyAction::AdoptRoom { .. }
                | LobbyAction::Record { .. }
                // There is no store, so neither has an answer.
                | LobbyAction::Account { .. }
                | LobbyAction::Store { .. }
                | LobbyAction::StoreLast { .. }
                | LobbyAction::ForgetStoreJobs { .. }
                | LobbyAction::Report(_)
                | LobbyAction::SetChildCount(_) => {}
            }
        }
    }

    fn send_to_lobby(&mut self, message: HostMessage) {
        self.report(CORRECT_HOST, HostToWorld::from(message));
    }

    fn report(&mut self, host: HostId, message: HostToWorld) {
        if let Some(message) = host_message_of(message)
            && let Some(report) = self.checkpoints.receive(self.now, host, message)
        {
            self.lobby.handle_host(self.now, host, report);
        }
    }
}

/// Two players in a room with all requests, and a host that fails.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    use client_to_world::Body;
    let ask = |input: &mut Vec<u8>, conn: u8, request: u64, body: Body| {
        input.extend([FRAME as u8, conn]);
        put_bytes(input, &ClientToWorld { request, body: Some(body) }.encode_to_vec());
    };
    let hello = |name: &str| {
        Body::Hello(pb::Hello {
            version: ambit_proto::control::WORLD_VERSION,
            name: name.into(),
            ..pb::Hello::default()
        })
    };
    let create = pb::CreateRoom {
        name: "hall".into(),
        game: "field".into(),
        capacity: 4,
        ..pb::CreateRoom::default()
    };
    let mut room = vec![CONNECT as u8];
    ask(&mut room, 0, 1, hello("ann"));
    ask(&mut room, 0, 2, Body::CreateRoom(create));
    room.push(CONNECT as u8);
    ask(&mut room, 0, 1, hello("bob"));
    let nowhere = pb::JoinRoom { room: 99, ..pb::JoinRoom::default() };
    ask(&mut room, 0, 8, Body::JoinRoom(nowhere));
    ask(&mut room, 0, 2, Body::ListRooms(pb::ListRooms::default()));
    ask(&mut room, 0, 3, Body::JoinRoom(pb::JoinRoom { room: 1, ..pb::JoinRoom::default() }));
    ask(&mut room, 0, 4, Body::SetReady(pb::SetReady { ready: true }));
    ask(&mut room, 1, 3, Body::StartRoom(pb::StartRoom {}));
    ask(&mut room, 1, 4, Body::Say(pb::Say { text: "hello".into(), ..pb::Say::default() }));
    ask(&mut room, 1, 5, Body::SetName(pb::SetName { name: "Zoë".into() }));
    ask(&mut room, 1, 8, Body::Invite(pb::Invite { player: "bob".into() }));
    ask(&mut room, 0, 5, Body::JoinParty(pb::JoinParty { party: 1 }));
    let wishes = [("class".to_owned(), "mage".to_owned())].into();
    ask(&mut room, 0, 6, Body::SetWishes(pb::SetWishes { wishes }));
    let quick = pb::QuickJoin { game: "field".into(), ..pb::QuickJoin::default() };
    ask(&mut room, 0, 7, Body::QuickJoin(quick));
    ask(&mut room, 0, 9, Body::LeaveParty(pb::LeaveParty::default()));
    ask(&mut room, 1, 6, Body::Kick(pb::Kick { player: 2 }));
    room.extend([WAIT as u8, 0, 1, BREAK as u8, 0]);
    ask(&mut room, 1, 7, Body::LeaveRoom(pb::LeaveRoom {}));
    let mut host = room.clone();
    host.extend([HOST as u8, 1]);
    let (room_id, reason) = (RoomId(1), ErrorCode::ErrorUnspecified);
    let closed = HostMessage::RoomClosed { room: room_id, reason, message: String::new() };
    put_bytes(&mut host, &HostToWorld::from(closed).encode_to_vec());
    host.extend([7, 1, WAIT as u8, 255, 255, QUIT as u8, 1, DRAIN as u8, 0]);
    vec![room, host]
}
