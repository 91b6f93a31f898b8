//! Test harness: a client, with the messages of a lobby and of a game host.

use ambit_proto::control::game as game_pb;
use ambit_proto::control::world as pb;
use ambit_proto::control::world::client_to_world::Body as LobbyRequestBody;
use ambit_proto::control::world::world_to_client::Body as LobbyMessageBody;
use ambit_proto::ids::Alias;
use ambit_proto::link::{Link, LinkConfig, LinkEvent};
use ambit_proto::message::{
    BodyContext, Command, FieldValue, Notice, Record, Uplink, end_records, read_uplink,
    write_poses, write_record, write_stamp,
};
use ambit_proto::schema::{Component, EventKind, FieldSpec, FieldType};
use ambit_proto::timeline::{Timeline, Waypoint};
use ambit_proto::wire;

use super::super::*;
use crate::client::event::GameEvent;

pub(super) const ROOM: u64 = 7;
pub(super) const PLAYER: u64 = 3;
/// Room time when the client's clock shows zero.
pub(super) const ROOM_CLOCK_OFFSET: Duration = Duration::from_secs(100);
/// Local lag of the room.
pub(super) const LOCAL_LAG: Duration = Duration::from_millis(150);
/// One-way delay between client and host.
pub(super) const ONE_WAY_DELAY: Duration = Duration::from_millis(40);

pub(super) struct ClientHarness {
    pub(super) client: Client,
    pub(super) now: LocalTime,
    /// Outputs of the client that no test has read yet.
    pub(super) outputs: Vec<ClientOutput>,
    pub(super) host: Host,
    /// The number of the coding that the client has asked for at the last join.
    pub(super) asked_coding: i32,
    confirmed: Vec<u32>,
    /// Events that no test has read yet.
    other_events: Vec<ViewEvent>,
}

/// A game host: one end of the link, and the clock of the room.
pub(super) struct Host {
    pub(super) link: Link,
    pub(super) commands: Vec<Command>,
    /// The uplinks that the client sent, with datagram number and send time.
    pub(super) sent: Vec<(LocalTime, u64, Uplink)>,
    /// Datagrams received.
    pub(super) datagrams: u64,
    /// How many axes its game has.
    axes: usize,
    /// Datagrams in flight, by send time.
    in_flight: Vec<(LocalTime, Bytes)>,
}

impl ClientHarness {
    pub(super) fn new() -> Self {
        Self::with(&ClientConfig {
            name: "ann".to_owned(),
            seed: 1,
            confirmations: true,
            ..ClientConfig::default()
        })
    }

    pub(super) fn with(config: &ClientConfig) -> Self {
        let mut client = Client::new(config);
        let now = LocalTime::ZERO;
        client.connect(now);
        let mut harness = ClientHarness {
            client,
            now,
            outputs: Vec::new(),
            host: Host::new(),
            asked_coding: -1,
            confirmed: Vec::new(),
            other_events: Vec::new(),
        };
        harness.collect();
        harness
    }

    /// Returns a client that has been welcomed.
    pub(super) fn welcomed() -> Self {
        let mut harness = Self::new();
        harness.connect_lobby();
        harness.welcome(false, None);
        harness.discard_outputs();
        harness
    }

    /// Returns a client that is in the game; the clocks agree, and no object is visible.
    pub(super) fn playing() -> Self {
        Self::welcomed().play()
    }

    /// Returns a client in the game, with this configuration.
    pub(super) fn playing_with(config: &ClientConfig) -> Self {
        let mut harness = Self::with(config);
        harness.connect_lobby();
        harness.welcome(false, None);
        harness.discard_outputs();
        harness.play()
    }

    fn play(mut self) -> Self {
        let harness = &mut self;
        harness.join_room();
        harness.send_lobby_message(0, LobbyMessageBody::Ticket(ticket(ROOM)));
        harness.join_game();
        harness.discard_outputs();
        self
    }

    pub(super) fn advance(&mut self, duration: Duration) {
        let until = self.now + duration;
        while let Some(deadline) = self.client.next_deadline().filter(|deadline| *deadline <= until)
        {
            assert!(
                deadline > self.now || self.now == LocalTime::ZERO,
                "the deadline is in the past: {deadline:?}"
            );
            self.now = self.now.max(deadline);
            self.client.handle_timeout(self.now);
            self.collect();
        }
        self.now = until;
    }

    pub(super) fn connect_lobby(&mut self) -> pb::Hello {
        assert_eq!(self.next_output(), Some(ClientOutput::ConnectWorld));
        self.client.handle_world_connected(self.now);
        self.collect();
        match self.next_request() {
            Some((_, LobbyRequestBody::Hello(hello))) => hello,
            other => panic!("expected a hello: {other:?}"),
        }
    }

    pub(super) fn welcome(&mut self, resumed: bool, room: Option<u64>) {
        let welcome = pb::Welcome {
            version: ambit_proto::control::WORLD_VERSION,
            player: PLAYER,
            name: "ann".to_owned(),
            resume_token: vec![9; 16],
            resumed,
            grace_ms: 30_000,
            room,
            games: Vec::new(),
            servers: None,
            account: Vec::new(),
            login: String::new(),
        };
        self.send_lobby_message(1, LobbyMessageBody::Welcome(welcome));
    }

    pub(super) fn join_room(&mut self) {
        let room = Some(pb::Room { id: ROOM, ..pb::Room::default() });
        self.send_lobby_message(
            0,
            LobbyMessageBody::RoomJoined(pb::RoomJoined { room, players: Vec::new() }),
        );
    }

    /// Answers `ConnectGame` so that the client joins the game, with a one-way delay of 40 ms.
    pub(super) fn join_game(&mut self) {
        self.join_game_of(&schema());
    }

    /// Lets the client into a game with this schema.
    pub(super) fn join_game_of(&mut self, schema: &Schema) {
        self.outputs.retain(|output| !matches!(output, ClientOutput::CloseGame));
        assert!(matches!(self.next_output(), Some(ClientOutput::ConnectGame { .. })));
        self.client.handle_game_connected(self.now);
        self.collect();
        let Some(ClientOutput::Game(join)) = self.next_output() else { panic!("expected a join") };
        let Some(game_pb::client_to_game::Body::Join(join)) = join.body else {
            panic!("expected a join: {join:?}")
        };
        self.asked_coding = join.coding;
        self.host = Host { axes: schema.axes().count(), ..Host::new() };
        self.now += ONE_WAY_DELAY;
        let now_us = self.room_time().micros();
        self.now += ONE_WAY_DELAY;
        let joined = game_pb::Joined {
            room: ROOM,
            now_us,
            delay_ms: LOCAL_LAG.as_millis() as u32,
            tick_hz: 20,
            width: 200.0,
            height: 200.0,
            cell: 10.0,
            inner: 1,
            outer: 2,
            schema: Some(schema.into()),
            coding: join.coding,
            presentation: schema.presentation.to_block(),
        };
        let body = Some(game_pb::game_to_client::Body::Joined(joined));
        self.client.handle_game_message(self.now, GameToClient { body });
        self.collect();
    }

    /// Room time, which the client must estimate.
    pub(super) fn room_time(&self) -> GameTime {
        GameTime::ZERO + ROOM_CLOCK_OFFSET + self.now.since(LocalTime::ZERO)
    }

    /// Delivers a datagram of the host with these records, which was sent one one-way delay ago.
    pub(super) fn send(&mut self, records: &[Record]) {
        let bytes = self.write(records);
        self.deliver(&bytes);
    }

    pub(super) fn write(&mut self, records: &[Record]) -> Vec<u8> {
        self.write_with(records, |_, _| Vec::new())
    }

    /// Like `write`, with the pose section that `poses` returns for the number and stamp of the
    /// datagram.
    pub(super) fn write_with(
        &mut self,
        records: &[Record],
        poses: impl FnOnce(u64, GameTime) -> Vec<u8>,
    ) -> Vec<u8> {
        let stamp = self.room_time().saturating_sub(ONE_WAY_DELAY);
        self.host.receive(self.now.saturating_sub(ONE_WAY_DELAY));
        let schema = schema();
        let number = self.host.link.next_number();
        let context = BodyContext { schema: &schema, delay: LOCAL_LAG, approximate_now: stamp };
        let mut bytes = Vec::new();
        self.host.link.write_datagram(stamp.into(), &mut bytes, |writer, _| {
            let body_base = write_stamp(stamp, writer);
            for record in records {
                write_record(&mut record.clone(), &context, body_base, writer);
            }
            end_records(writer);
            write_poses(&poses(number, body_base), writer);
        });
        bytes
    }

    pub(super) fn deliver(&mut self, bytes: &[u8]) {
        self.client.handle_datagram(self.now, bytes);
        self.collect();
    }

    pub(super) fn send_notice(&mut self, mut notice: Notice) {
        let now = self.room_time().saturating_sub(ONE_WAY_DELAY);
        let (now, bytes) = (now.into(), notice.encode(&schema(), now));
        self.host.link.send_reliable(now, bytes.into(), None).expect("the queue is not full");
    }

    pub(super) fn break_lobby_connection(&mut self) {
        self.client.handle_world_closed(self.now, CloseReason::Broken("cut".to_owned()));
        self.collect();
    }

    pub(super) fn break_game_connection(&mut self) {
        self.client.handle_game_closed(self.now, CloseReason::Broken("cut".to_owned()));
        self.collect();
    }

    pub(super) fn send_lobby_message(&mut self, request: u64, body: LobbyMessageBody) {
        self.client.handle_world_message(self.now, WorldToClient { request, body: Some(body) });
        self.collect();
    }

    pub(super) fn send_game_message(&mut self, body: game_pb::game_to_client::Body) {
        let body = Some(body);
        self.client.handle_game_message(self.now, GameToClient { body });
        self.collect();
    }

    pub(super) fn send_lobby_error(&mut self, request: u64, code: pb::ErrorCode) {
        self.send_lobby_message(
            request,
            LobbyMessageBody::Error(ambit_proto::codes::error(code, "no")),
        );
    }

    /// The client's next output; datagrams are delivered to the host meanwhile.
    pub(super) fn next_output(&mut self) -> Option<ClientOutput> {
        (!self.outputs.is_empty()).then(|| self.outputs.remove(0))
    }

    /// The next request on the lobby's stream.
    pub(super) fn next_request(&mut self) -> Option<(u64, LobbyRequestBody)> {
        match self.next_output()? {
            ClientOutput::World(message) => Some((message.request, message.body.expect("a body"))),
            other => panic!("expected a request: {other:?}"),
        }
    }

    pub(super) fn events(&mut self) -> Vec<ViewEvent> {
        self.poll_events();
        std::mem::take(&mut self.other_events)
    }

    /// The numbers of the commands that were confirmed since the last call.
    pub(super) fn take_confirmed(&mut self) -> Vec<u32> {
        self.poll_events();
        std::mem::take(&mut self.confirmed)
    }

    fn poll_events(&mut self) {
        while let Some(event) = self.client.poll_event() {
            match event {
                ViewEvent::Game(GameEvent::Confirmed { command, .. }) => {
                    self.confirmed.push(command);
                }
                event => self.other_events.push(event),
            }
        }
    }

    /// Drops all outputs and events so far.
    pub(super) fn discard_outputs(&mut self) {
        self.events();
        self.outputs.clear();
    }

    pub(super) fn collect(&mut self) {
        while let Some(output) = self.client.poll_output() {
            match output {
                ClientOutput::Datagram(bytes) => self.host.in_flight.push((self.now, bytes)),
                output => self.outputs.push(output),
            }
        }
    }
}

impl Host {
    fn new() -> Self {
        let link = Link::new(LinkConfig::default());
        Host {
            link,
            commands: Vec::new(),
            sent: Vec::new(),
            datagrams: 0,
            axes: 0,
            in_flight: Vec::new(),
        }
    }

    /// Handles the datagrams that have arrived by `now`, on the client's clock.
    pub(super) fn receive(&mut self, now: LocalTime) {
        for (sent_at, bytes) in
            self.in_flight.extract_if(.., |(sent_at, _)| *sent_at + ONE_WAY_DELAY <= now)
        {
            let arrived = sent_at + ONE_WAY_DELAY + ROOM_CLOCK_OFFSET;
            let body = self
                .link
                .handle_datagram(arrived, &bytes)
                .expect("a datagram of the client")
                .expect("no duplicate");
            self.datagrams += 1;
            if let Some(uplink) = read_uplink(body, self.axes).expect("a body of the client") {
                self.sent.push((
                    sent_at,
                    self.link.last_received_number().expect("a datagram was received"),
                    uplink,
                ));
            }
            while let Some(event) = self.link.poll_event() {
                if let LinkEvent::Message(message) = event {
                    self.commands.push(wire::decode(&message).expect("a command"));
                }
            }
        }
    }
}

/// A command of [`schema`] of which only the newest counts.
pub(super) fn walk_to(x: f32, y: f32) -> GameCommand<ClientObjectId> {
    walk_to_point(Position::on_ground(x, y))
}

/// The same, at any height.
pub(super) fn walk_to_point(to: Position) -> GameCommand<ClientObjectId> {
    GameCommand { kind: 0, fields: vec![FieldValue::Position(to)] }
}

/// A command without fields.
pub(super) fn rest() -> GameCommand<ClientObjectId> {
    GameCommand { kind: 1, fields: Vec::new() }
}

/// A command that may name an object.
pub(super) fn cast(target: Option<ClientObjectId>) -> GameCommand<ClientObjectId> {
    let target = target.map_or(FieldValue::None, FieldValue::Object);
    GameCommand { kind: 2, fields: vec![FieldValue::Choice(0), FieldValue::None, target] }
}

/// The schema of the host's game; it has an event with two objects.
pub(super) fn schema() -> Schema {
    let mut schema = Schema::example_with_poses();
    let field = |name: &str| FieldSpec::new(name, FieldType::Object);
    schema
        .events
        .push(EventKind { name: "strike".into(), fields: vec![field("by"), field("whom")] });
    schema
}

pub(super) fn ticket(room: u64) -> pb::Ticket {
    let address = "0.0.0.0:7777".to_owned();
    pb::Ticket {
        room,
        address,
        certificate_sha256: vec![5; 32],
        ticket: b"let me in".to_vec(),
        incarnation: 1,
        map: 0,
        web_certificates_sha256: vec![vec![6; 32]],
    }
}

pub(super) fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

pub(super) fn alias(slot: u16) -> Alias {
    Alias { slot, epoch: 0 }
}

/// An avatar that stands at `x` from `at` on.
pub(super) fn enter(slot: u16, at: GameTime, x: f32) -> Record {
    let components = vec![(0, path(&[(at, x)])), (1, Component::gauge(at, 50.0, 2.0, 100.0))];
    Record::Enter { alias: alias(slot), kind: 0, at, own: slot == 0, components }
}

pub(super) fn path(points: &[(GameTime, f32)]) -> Component {
    let mut path = Timeline::new(16);
    for &(time, x) in points {
        path.insert(time.whole_millis(), Waypoint::walk(Position::on_ground(x, 1.0)));
    }
    Component::Path(path)
}
