//! Messages of the control streams, as frames: one of each.

use std::fmt::Debug;

use ambit_host::protocol::messages as host;
use ambit_proto::control::{game, world};
use ambit_proto::frame::{FrameDecoder, MAX_HOST, encode_frame};
use ambit_proto::message;
use ambit_proto::schema::Schema;
use prost::Message;

pub(super) fn samples() -> Vec<(String, Vec<u8>)> {
    let mut out = Vec::new();
    for (request, body) in (1..).zip(to_world()) {
        push(&mut out, "client-to-world", &world::ClientToWorld { request, body: Some(body) });
    }
    for (request, body) in (1..).zip(from_world()) {
        push(&mut out, "world-to-client", &world::WorldToClient { request, body: Some(body) });
    }
    for body in to_game() {
        push(&mut out, "client-to-game", &game::ClientToGame { body: Some(body) });
    }
    for body in from_game() {
        push(&mut out, "game-to-client", &game::GameToClient { body: Some(body) });
    }
    for body in to_host() {
        push(&mut out, "world-to-host", &host::WorldToHost { body: Some(body) });
    }
    for body in from_host() {
        push(&mut out, "host-to-world", &host::HostToWorld { body: Some(body) });
    }
    out
}

pub(super) fn reencode(name: &str, bytes: &[u8]) -> Vec<u8> {
    let (message, _) = name.split_once('/').expect("message/number");
    match message {
        "client-to-world" => round_trip::<world::ClientToWorld>(bytes),
        "world-to-client" => round_trip::<world::WorldToClient>(bytes),
        "client-to-game" => round_trip::<game::ClientToGame>(bytes),
        "game-to-client" => round_trip::<game::GameToClient>(bytes),
        "world-to-host" => round_trip::<host::WorldToHost>(bytes),
        "host-to-world" => round_trip::<host::HostToWorld>(bytes),
        other => panic!("no message {other}"),
    }
}

fn push(out: &mut Vec<(String, Vec<u8>)>, name: &str, message: &impl Message) {
    let number = out.iter().filter(|(other, _)| other.starts_with(name)).count() + 1;
    out.push((format!("{name}/{number:02}"), encode_frame(message).to_vec()));
}

fn round_trip<M: Message + Default + Debug>(bytes: &[u8]) -> Vec<u8> {
    let mut decoder = FrameDecoder::new(MAX_HOST);
    decoder.push(bytes);
    let frame = decoder.poll_frame().expect("a short frame").expect("a whole frame");
    encode_frame(&M::decode(frame).expect("a message")).to_vec()
}

fn to_world() -> Vec<world::client_to_world::Body> {
    use world::client_to_world::Body;
    let parameters = [("npcs".to_owned(), "30".to_owned())].into();
    vec![
        Body::Hello(world::Hello {
            version: ambit_proto::control::WORLD_VERSION,
            name: "ann".into(),
            resume_token: vec![1, 2],
            agent: "test".into(),
        }),
        Body::ListRooms(world::ListRooms { subscribe: true }),
        Body::CreateRoom(world::CreateRoom {
            name: "den".into(),
            game: "field".into(),
            capacity: 8,
            parameters,
            password: "pw".into(),
            key: vec![7; 16],
        }),
        Body::JoinRoom(world::JoinRoom { room: 5, password: "pw".into() }),
        Body::LeaveRoom(world::LeaveRoom {}),
        Body::StartRoom(world::StartRoom {}),
        Body::SetReady(world::SetReady { ready: true }),
        Body::ListPlayers(world::ListPlayers { everybody: true }),
        Body::SetName(world::SetName { name: "bob".into() }),
        Body::Say(world::Say {
            channel: 2,
            text: "grüß dich".into(),
            to: 9,
            to_name: "eve".into(),
        }),
        Body::Kick(world::Kick { player: 9 }),
        Body::RequestTicket(world::RequestTicket {}),
        Body::DescribeGame(world::DescribeGame { game: "field".into() }),
    ]
}

/// One of each kind.
fn parameters() -> Vec<world::Parameter> {
    use world::parameter::Allowed;
    let word = world::Words { words: vec!["auto".into(), "plain".into()] };
    let range = world::DecimalRange { min: 0.5, max: 10_000.0 };
    [
        Allowed::Whole(world::WholeRange { min: 10, max: 60 }),
        Allowed::Decimal(range),
        Allowed::Size(range),
        Allowed::Word(word),
    ]
    .map(|allowed| world::Parameter {
        key: "key".into(),
        default_value: "20".into(),
        about: "what it is".into(),
        allowed: Some(allowed),
    })
    .into()
}

fn from_world() -> Vec<world::world_to_client::Body> {
    use world::world_to_client::Body;
    let game = world::GameInfo {
        name: "field".into(),
        description: "a field".into(),
        min_players: 2,
        join_running: true,
    };
    let server = world::Server {
        address: "127.0.0.1:7777".into(),
        certificate_sha256: vec![9; 32],
        web_certificates_sha256: vec![vec![6; 32]],
    };
    let servers = world::Servers { servers: vec![server], probe_ms: 400 };
    let welcome = world::Welcome {
        version: ambit_proto::control::WORLD_VERSION,
        player: 3,
        name: "ann".into(),
        resume_token: vec![3; 16],
        resumed: true,
        grace_ms: 30_000,
        room: Some(0),
        games: vec![game],
        servers: Some(servers.clone()),
    };
    vec![
        Body::Welcome(welcome),
        Body::Error(error()),
        Body::RoomList(world::RoomList { rooms: vec![room()] }),
        Body::RoomChange(world::RoomChange { change: Some(world::room_change::Change::Gone(4)) }),
        Body::RoomChange(world::RoomChange {
            change: Some(world::room_change::Change::Room(room())),
        }),
        Body::RoomCreated(world::RoomCreated { room: Some(room()) }),
        Body::RoomJoined(world::RoomJoined { room: Some(room()), players: vec![player()] }),
        Body::RoomLeft(world::RoomLeft { room: 5, reason: 29, message: "out".into() }),
        Body::PlayerList(world::PlayerList {
            room: 5,
            players: vec![player(), world::Player::default()],
        }),
        Body::Renamed(world::Renamed { player: 3, name: "bob".into() }),
        Body::Chat(world::Chat {
            channel: 1,
            from: 3,
            from_name: "ann".into(),
            text: "hi".into(),
            to: 9,
        }),
        Body::Done(world::Done {}),
        Body::Ticket(world::Ticket {
            room: 5,
            address: "127.0.0.1:7000".into(),
            certificate_sha256: vec![8; 32],
            ticket: vec![1, 2, 3],
            incarnation: 2,
            map: 1,
            web_certificates_sha256: vec![vec![6; 32], vec![7; 32]],
        }),
        Body::Goodbye(world::Goodbye { code: 26, message: "draining".into() }),
        Body::PlayerChange(world::PlayerChange {
            room: 5,
            players: vec![player()],
            gone: vec![4, 300],
        }),
        Body::Servers(servers),
        Body::MissedNews(world::MissedNews { chats: 300 }),
        Body::GameDescription(world::GameDescription {
            game: "field".into(),
            parameters: parameters(),
            default_capacity: 64,
            max_capacity: 4_096,
        }),
    ]
}

fn to_game() -> Vec<game::client_to_game::Body> {
    use game::client_to_game::Body;
    vec![
        Body::Join(game::Join { version: message::VERSION, ticket: vec![1, 2, 3], coding: 0 }),
        Body::Leave(game::Leave {}),
    ]
}

fn from_game() -> Vec<game::game_to_client::Body> {
    use game::game_to_client::Body;
    let joined = game::Joined {
        room: 5,
        now_us: 123_456_789,
        delay_ms: 150,
        tick_hz: 20,
        width: 200.0,
        height: 100.5,
        cell: 10.0,
        inner: 1,
        outer: 2,
        schema: Some((&Schema::example_with_poses()).into()),
        coding: 0,
    };
    vec![
        Body::Joined(joined),
        Body::Error(error()),
        Body::Out(game::Out { reason: 29, message: "kicked".into() }),
        Body::Late(game::RoomLate {
            is_late: true,
            loses_ticks: true,
            load_level: 3,
            ticks_run: 15,
            ticks_due: 20,
        }),
    ]
}

fn tick() -> host::RoomTick {
    host::RoomTick { room: 5, at_us: 100_000, inputs: vec![0], serial: 9 }
}

fn to_host() -> Vec<host::world_to_host::Body> {
    use host::world_to_host::Body;
    let members = host::Members { members: vec![host::Member { player: 3, name: "bob".into() }] };
    let parameters = [("walk".to_owned(), "steered".to_owned())].into();
    let resume = host::Resume {
        state: vec![7, 8],
        ticks: vec![tick()],
        now_us: 150_000,
        members: Some(members.clone()),
    };
    vec![
        Body::Configure(host::Configure {
            version: 1,
            ticket_key: vec![4; 32],
            grace_ms: 30_000,
            saves_rooms: true,
            lease_ms: 1_500,
            silence_ms: 0,
        }),
        Body::OpenRoom(host::OpenRoom {
            room: 5,
            game: "field".into(),
            parameters,
            seed: 42,
            capacity: 64,
            resume: Some(resume),
            incarnation: 2,
        }),
        Body::CloseRoom(host::CloseRoom { room: 5, reason: 35 }),
        Body::RemovePlayer(host::RemovePlayer {
            room: 5,
            player: 3,
            reason: 29,
            void_tickets_until: 9_999,
        }),
        Body::Drain(host::Drain {}),
        Body::RenamePlayer(host::RenamePlayer { room: 5, player: 3, name: "bob".into() }),
        Body::AcknowledgeHeartbeat(host::AcknowledgeHeartbeat { number: 7, lease_ms: 750 }),
        Body::JournalKept(host::JournalKept { serial: 300 }),
        Body::ReleaseForTransfer(host::ReleaseForTransfer { room: 5, player: 3, number: 7 }),
        Body::RefuseTransfer(host::RefuseTransfer { room: 5, player: 3 }),
        Body::Admit(host::Admit {
            room: 6,
            player: 3,
            number: 7,
            name: "bob".into(),
            x: 5.0,
            y: 100.0,
            carried: vec![1],
        }),
        Body::SyncMembers(host::SyncMembers {
            room: 5,
            members: Some(members.clone()),
            void_tickets_until: 9_999,
        }),
        Body::RoomPiece(host::RoomPiece {
            room: 5,
            incarnation: 3,
            state: vec![1, 2, 3],
            ticks: vec![tick()],
        }),
    ]
}

#[expect(clippy::too_many_lines, reason = "one message of each kind")]
fn from_host() -> Vec<host::host_to_world::Body> {
    use host::host_to_world::Body;
    let ready = host::HostReady {
        version: 1,
        address: "127.0.0.1:7001".into(),
        certificate_sha256: vec![9; 32],
        capacity: 100,
        label: "left".into(),
        cores: 2,
        instance: vec![4; 16],
        rooms: vec![host::RoomHere { room: 5, incarnation: 2 }],
        build: "blue".into(),
        ticket_time_unix_s: 1_800_000_000,
    };
    let figures = |p50_us| Some(host::TickFigures { p50_us, p99_us: 900, max_us: 5_000 });
    let load = host::RoomLoad {
        room: 5,
        columns: 2,
        rows: 1,
        edge_cells: 3,
        objects: vec![7, 300],
        players: vec![1, 0],
        changes: vec![20, 0],
    };
    let late_room =
        host::LateRoom { room: 5, ticks_skipped: 300, load_level: 2, recent_ticks_skipped: 30 };
    let stats = host::HostStats {
        rooms: 1,
        players: 2,
        datagrams_in: 3,
        datagrams_out: 4,
        bytes_in: 5,
        bytes_out: 6,
        enters: 7,
        leaves: 8,
        events: 9,
        commands: 10,
        commands_refused: 11,
        tick_buckets: vec![1, 0, 300],
        tick_seconds_sum: 1.5,
        drops: [("inbox/full".to_owned(), 12)].into(),
        tickets_refused: [("bad_ticket".to_owned(), 13)].into(),
        late_events: 14,
        ticks_skipped: 15,
        cpu_permille: 16,
        amplification_permille: 17,
        clients: 18,
        recent_work: figures(100),
        recent_lateness: figures(200),
        bits: [("records".to_owned(), 19)].into(),
        encodings: [("poses/made".to_owned(), 20)].into(),
        poses: [("sent".to_owned(), 21)].into(),
        room_loads: vec![load],
        rooms_late: 22,
        unplayed_rooms: vec![5, 300],
        ticket_time_unix_s: 1_800_000_001,
        web_certificates_sha256: vec![vec![8; 32]],
        late_rooms: vec![late_room],
    };
    vec![
        Body::Ready(ready),
        Body::RoomOpened(host::RoomOpened { room: 5, error: Some(error()) }),
        Body::RoomClosed(host::RoomClosed { room: 5, reason: 31, message: "crashed".into() }),
        Body::PlayerOut(host::PlayerOut { room: 5, player: 3, reason: 29 }),
        Body::Stats(stats),
        Body::Heartbeat(host::Heartbeat { number: 7 }),
        Body::RoomSaved(host::RoomSaved {
            room: 5,
            at_us: 50_000,
            state: vec![1, 2, 3],
            has_more: true,
        }),
        Body::RoomTick(tick()),
        Body::AtGate(host::AtGate {
            room: 5,
            player: 3,
            map: 1,
            x: 5.0,
            y: 100.0,
            from_x: 199.0,
            from_y: 98.5,
        }),
        Body::Departed(host::Departed { room: 5, player: 3, number: 7, carried: Some(vec![1]) }),
        Body::Arrived(host::Arrived { room: 6, player: 3, number: 7 }),
    ]
}

fn error() -> world::Error {
    world::Error { code: 16, name: "room_full".into(), message: "the room has 4 seats".into() }
}

fn room() -> world::Room {
    world::Room {
        id: 5,
        name: "den".into(),
        game: "field".into(),
        players: 3,
        capacity: 8,
        running: true,
        has_password: true,
        host: 3,
        ..world::Room::default()
    }
}

fn player() -> world::Player {
    world::Player { id: 3, name: "ann".into(), ready: true, host: true, connected: true }
}
