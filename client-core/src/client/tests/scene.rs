//! The other side: the messages of a lobby and of a game host.

use ambit_proto::control::game as game_pb;
use ambit_proto::control::world as pb;
use ambit_proto::control::world::client_to_world::Body as Ask;
use ambit_proto::control::world::world_to_client::Body as Told;
use ambit_proto::ids::Alias;
use ambit_proto::link::{Link, LinkConfig, LinkEvent};
use ambit_proto::message::{
    BodyContext, Command, Notice, Record, Uplink, end_records, read_uplink, write_poses,
    write_record, write_stamp,
};
use ambit_proto::schema::{Component, EventKind, FieldSpec, FieldType};
use ambit_proto::timeline::{Timeline, Waypoint};
use ambit_proto::wire;

use super::super::*;

pub(super) const ROOM: u64 = 7;
pub(super) const PLAYER: u64 = 3;
/// What the room's clock shows when the client's shows zero.
pub(super) const ROOM_BEGAN_EARLIER: Duration = Duration::from_secs(100);
/// The local lag.
pub(super) const LAG: Duration = Duration::from_millis(150);
/// One way to the host.
pub(super) const WAY: Duration = Duration::from_millis(40);

pub(super) struct Scene {
    pub(super) client: Client,
    pub(super) now: LocalTime,
    /// Outputs of the client that no test has read yet.
    pub(super) outputs: Vec<ClientOutput>,
    pub(super) host: Host,
}

/// A game host: one end of the link, and the clock of the room.
pub(super) struct Host {
    pub(super) link: Link,
    pub(super) commands: Vec<Command>,
    /// The uplinks that the client sent, with datagram number and send time.
    pub(super) sent: Vec<(LocalTime, u64, Uplink)>,
    /// Datagrams received.
    pub(super) datagrams: u64,
    /// Datagrams under way, by send time.
    flying: Vec<(LocalTime, Bytes)>,
}

impl Scene {
    pub(super) fn new() -> Self {
        Self::with(&ClientConfig {
            name: "ann".to_owned(),
            seed: 1,
            ..ClientConfig::default()
        })
    }

    pub(super) fn with(config: &ClientConfig) -> Self {
        let mut client = Client::new(config);
        let now = LocalTime::ZERO;
        client.connect(now);
        let mut scene = Scene {
            client,
            now,
            outputs: Vec::new(),
            host: Host::new(),
        };
        scene.collect();
        scene
    }

    /// A client that has been welcomed.
    pub(super) fn welcomed() -> Self {
        let mut scene = Self::new();
        scene.connect_world();
        scene.welcome(false, None);
        scene.forget();
        scene
    }

    /// A client that is in the game; the clocks agree, and nothing is in sight.
    pub(super) fn playing() -> Self {
        Self::welcomed().play()
    }

    /// The same, with this configuration.
    pub(super) fn playing_with(config: &ClientConfig) -> Self {
        let mut scene = Self::with(config);
        scene.connect_world();
        scene.welcome(false, None);
        scene.forget();
        scene.play()
    }

    fn play(mut self) -> Self {
        let scene = &mut self;
        scene.join_room();
        scene.tell(0, Told::Ticket(ticket(ROOM)));
        scene.join_game();
        scene.forget();
        self
    }

    pub(super) fn pass(&mut self, duration: Duration) {
        let until = self.now + duration;
        while let Some(deadline) = self
            .client
            .next_deadline()
            .filter(|deadline| *deadline <= until)
        {
            assert!(
                deadline > self.now || self.now == LocalTime::ZERO,
                "a deadline of the past: {deadline:?}"
            );
            self.now = self.now.max(deadline);
            self.client.handle_timeout(self.now);
            self.collect();
        }
        self.now = until;
    }

    pub(super) fn connect_world(&mut self) -> pb::Hello {
        assert_eq!(self.take(), Some(ClientOutput::ConnectWorld));
        self.client.handle_world_connected(self.now);
        self.collect();
        match self.ask() {
            Some((_, Ask::Hello(hello))) => hello,
            other => panic!("no hello but {other:?}"),
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
        };
        self.tell(1, Told::Welcome(welcome));
    }

    pub(super) fn join_room(&mut self) {
        let room = Some(pb::Room {
            id: ROOM,
            ..pb::Room::default()
        });
        self.tell(
            0,
            Told::RoomJoined(pb::RoomJoined {
                room,
                players: Vec::new(),
            }),
        );
    }

    /// Takes the client from `ConnectGame` into the game, with a one-way delay of 40 ms.
    pub(super) fn join_game(&mut self) {
        self.outputs
            .retain(|output| !matches!(output, ClientOutput::CloseGame));
        assert!(matches!(
            self.take(),
            Some(ClientOutput::ConnectGame { .. })
        ));
        self.client.handle_game_connected(self.now);
        self.collect();
        let Some(ClientOutput::Game(join)) = self.take() else {
            panic!("no join")
        };
        assert!(matches!(
            join.body,
            Some(game_pb::client_to_game::Body::Join(_))
        ));
        self.host = Host::new();
        self.now += WAY;
        let now_us = self.room_time().micros();
        self.now += WAY;
        let joined = game_pb::Joined {
            room: ROOM,
            now_us,
            delay_ms: LAG.as_millis() as u32,
            tick_hz: 20,
            width: 200.0,
            height: 200.0,
            cell: 10.0,
            inner: 1,
            outer: 2,
            schema: Some((&schema()).into()),
        };
        let body = Some(game_pb::game_to_client::Body::Joined(joined));
        self.client
            .handle_game_message(self.now, GameToClient { body });
        self.collect();
    }

    /// The room's clock, which the client must estimate.
    pub(super) fn room_time(&self) -> GameTime {
        GameTime::ZERO + ROOM_BEGAN_EARLIER + self.now.since(LocalTime::ZERO)
    }

    /// Delivers a datagram of the host with these records, sent one one-way delay ago.
    pub(super) fn send(&mut self, records: &[Record]) {
        let bytes = self.write(records);
        self.deliver(&bytes);
    }

    pub(super) fn write(&mut self, records: &[Record]) -> Vec<u8> {
        self.write_with(records, |_, _| Vec::new())
    }

    /// As `write`, with the pose section that `poses` makes for the number and stamp of the
    /// datagram.
    pub(super) fn write_with(
        &mut self,
        records: &[Record],
        poses: impl FnOnce(u64, GameTime) -> Vec<u8>,
    ) -> Vec<u8> {
        let stamp = self.room_time().saturating_sub(WAY);
        self.host.receive(self.now.saturating_sub(WAY));
        let (schema, number) = (schema(), self.host.link.next_number());
        let context = BodyContext {
            schema: &schema,
            delay: LAG,
            near: stamp,
        };
        let mut bytes = Vec::new();
        self.host
            .link
            .write_datagram(stamp.into(), &mut bytes, |writer, _| {
                let base = write_stamp(stamp, writer);
                for record in records {
                    write_record(&mut record.clone(), &context, base, writer);
                }
                end_records(writer);
                write_poses(&poses(number, base), writer);
            });
        bytes
    }

    pub(super) fn deliver(&mut self, bytes: &[u8]) {
        self.client.handle_datagram(self.now, bytes);
        self.collect();
    }

    pub(super) fn notice(&mut self, mut notice: Notice) {
        let now = self.room_time().saturating_sub(WAY).into();
        self.host
            .link
            .send_reliable(now, wire::encode(&mut notice).into(), None)
            .expect("room");
    }

    pub(super) fn lose_world(&mut self) {
        self.client
            .handle_world_closed(self.now, CloseReason::Broken("cut".to_owned()));
        self.collect();
    }

    pub(super) fn lose_game(&mut self) {
        self.client
            .handle_game_closed(self.now, CloseReason::Broken("cut".to_owned()));
        self.collect();
    }

    pub(super) fn tell(&mut self, request: u64, body: Told) {
        self.client.handle_world_message(
            self.now,
            WorldToClient {
                request,
                body: Some(body),
            },
        );
        self.collect();
    }

    pub(super) fn tell_error(&mut self, request: u64, code: pb::ErrorCode) {
        self.tell(request, Told::Error(ambit_proto::codes::error(code, "no")));
    }

    /// The client's next output; datagrams are delivered to the host meanwhile.
    pub(super) fn take(&mut self) -> Option<ClientOutput> {
        (!self.outputs.is_empty()).then(|| self.outputs.remove(0))
    }

    /// The next request on the lobby's stream.
    pub(super) fn ask(&mut self) -> Option<(u64, Ask)> {
        match self.take()? {
            ClientOutput::World(message) => Some((message.request, message.body.expect("a body"))),
            other => panic!("no request but {other:?}"),
        }
    }

    pub(super) fn events(&mut self) -> Vec<ViewEvent> {
        std::iter::from_fn(|| self.client.poll_event()).collect()
    }

    /// Drops everything so far.
    pub(super) fn forget(&mut self) {
        self.events();
        self.outputs.clear();
    }

    fn collect(&mut self) {
        while let Some(output) = self.client.poll_output() {
            match output {
                ClientOutput::Datagram(bytes) => self.host.flying.push((self.now, bytes)),
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
            flying: Vec::new(),
        }
    }

    /// Handles the datagrams that have arrived by `now`, on the client's clock.
    pub(super) fn receive(&mut self, now: LocalTime) {
        for (left, bytes) in self.flying.extract_if(.., |(left, _)| *left + WAY <= now) {
            let arrived = left + WAY + ROOM_BEGAN_EARLIER;
            let body = self
                .link
                .handle_datagram(arrived, &bytes)
                .expect("a datagram of the client")
                .expect("each once");
            self.datagrams += 1;
            if let Some(uplink) = read_uplink(body).expect("a body of the client") {
                self.sent.push((
                    left,
                    self.link.last_received_number().expect("one came"),
                    uplink,
                ));
            }
            while let Some(event) = self.link.poll_event() {
                if let LinkEvent::Message(message) = event {
                    self.commands
                        .push(wire::decode(&message).expect("a command"));
                }
            }
        }
    }
}

/// The schema of the host's game; it has an event with two objects.
pub(super) fn schema() -> Schema {
    let mut schema = Schema::example_with_poses();
    let field = |name: &str| FieldSpec {
        name: name.into(),
        ty: FieldType::Object,
    };
    schema.events.push(EventKind {
        name: "strike".into(),
        fields: vec![field("by"), field("whom")],
    });
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
    let components = vec![
        (0, path(&[(at, x)])),
        (1, Component::gauge(at, 50.0, 2.0, 100.0)),
    ];
    Record::Enter {
        alias: alias(slot),
        kind: 0,
        at,
        own: slot == 0,
        components,
    }
}

pub(super) fn path(points: &[(GameTime, f32)]) -> Component {
    let mut path = Timeline::new(16);
    for &(time, x) in points {
        path.insert(
            time.whole_millis(),
            Waypoint::walk(Position::on_ground(x, 1.0)),
        );
    }
    Component::Path(path)
}
