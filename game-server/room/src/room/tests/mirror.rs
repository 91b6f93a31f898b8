//! A client that reads all it gets, and a scene that compares it with the truth: after each
//! datagram, every pose that was decoded is the one that the world had at the datagram's tick, bit
//! for bit.
//!
//! Datagrams take their time, get lost and overtake each other as the scene's [`Line`] says, all
//! from one seed; each client has dice of its own, so that what one is sent does not change what
//! happens to another.

use std::collections::BTreeSet;

use ambit_proto::ids::Alias;
use ambit_proto::keymap::Keymap;
use ambit_proto::link::{Link, LinkConfig, LinkEvent};
use ambit_proto::message::{self, BodyContext, Record, Uplink, read_body};
use ambit_proto::pose::{
    BaselineHistory, BaselineSource, Pose, PoseFormat, ReceivedPose, SectionError, read_section,
};
use ambit_proto::schema::{Component, Schema};
use ambit_proto::wire::Wire;
use bytes::Bytes;

use super::super::*;
use super::herd::Herd;

/// Between two ticks.
pub(super) const TICK: Duration = Duration::from_millis(50);

/// What the way between room and clients does, both ways alike.
#[derive(Clone, Copy)]
pub(super) struct Line {
    /// In hundredths.
    pub loss: u32,
    /// In hundredths: comes one to three ticks late.
    pub late: u32,
    /// In hundredths: comes twice.
    pub twice: u32,
}

/// Nothing happens to what is sent.
pub(super) const CLEAR: Line = Line {
    loss: 0,
    late: 0,
    twice: 0,
};

/// A client's picture.
pub(super) struct Mirror {
    link: Link,
    schema: Schema,
    pub slots: BTreeMap<u16, Known>,
    missing_baseline: Option<u64>,
    /// Poses that it could not read.
    pub lost_tracks: u32,
    /// The static world, once it is whole.
    pub map: Option<Bytes>,
    /// Of the newest datagram.
    pub stamp: GameTime,
    /// Names of all components that it was told, by kind.
    pub told: BTreeSet<(ObjectId, u8)>,
    /// Makes it forget all poses once, as if it had been restarted.
    pub forget: bool,
}

/// What it knows of one slot.
pub(super) struct Known {
    pub alias: Alias,
    pub object: Option<ObjectId>,
    format: Option<PoseFormat>,
    kept: BaselineHistory,
    /// The newest pose and its stamp.
    pub newest: Option<(GameTime, Pose)>,
    /// Whether it was told that the object is gone.
    gone: bool,
}

struct Slots<'m>(&'m BTreeMap<u16, Known>);

impl BaselineSource for Slots<'_> {
    fn object(&self, slot: u16) -> Option<(&PoseFormat, &BaselineHistory)> {
        let known = self.0.get(&slot)?;
        Some((known.format.as_ref()?, &known.kept))
    }
}

/// A room, its clients, and what was true.
pub(super) struct Scene {
    pub room: Room,
    pub now: GameTime,
    pub inputs: Vec<RoomInput>,
    pub mirrors: BTreeMap<ClientId, Mirror>,
    line: Line,
    seed: u64,
    dice: BTreeMap<ClientId, fastrand::Rng>,
    /// By the tick of arrival.
    down: BTreeMap<GameTime, Vec<(ClientId, Bytes)>>,
    up: BTreeMap<GameTime, Vec<(ClientId, Bytes)>>,
    /// The poses of each tick, and who called what by which name then.
    poses: BTreeMap<GameTime, BTreeMap<ObjectId, Pose>>,
    names: BTreeMap<(ClientId, Alias), ObjectId>,
    /// Datagrams that left, with their times.
    pub sent: Vec<(GameTime, ClientId, Bytes)>,
    /// Whether datagrams are kept in `sent`.
    pub keeps: bool,
    /// Nothing passes in either direction.
    pub cut: bool,
    /// One client in so many is looked at; the others only confirm what they get.
    pub every: u32,
}

impl Scene {
    pub(super) fn new(config: RoomConfig, game: Box<dyn Game>, line: Line, seed: u64) -> Self {
        Scene {
            room: Room::new(config, game),
            now: GameTime::ZERO,
            inputs: Vec::new(),
            mirrors: BTreeMap::new(),
            line,
            seed,
            dice: BTreeMap::new(),
            down: BTreeMap::new(),
            up: BTreeMap::new(),
            poses: BTreeMap::new(),
            names: BTreeMap::new(),
            sent: Vec::new(),
            keeps: false,
            cut: false,
            every: 1,
        }
    }

    pub(super) fn join(&mut self, count: u32) {
        let schema = self.room.world().schema().clone();
        for client in (0..count).map(ClientId) {
            self.mirrors.insert(client, Mirror::new(schema.clone()));
            self.dice.insert(
                client,
                fastrand::Rng::with_seed(self.seed << 32 | u64::from(client.0)),
            );
            let player = PlayerId(client.0.into());
            self.inputs.push(RoomInput::Join {
                client,
                player,
                name: client.to_string(),
            });
        }
    }

    pub(super) fn ticks(&mut self, count: u32) {
        for _ in 0..count {
            self.tick();
        }
    }

    /// What arrived since the last tick is heard, the room ticks, and what it sends is on its way.
    pub(super) fn tick(&mut self) {
        self.now += TICK;
        self.arrive_down();
        self.arrive_up();
        let mut outputs = Vec::new();
        self.room.tick(self.now, &mut self.inputs, &mut outputs);
        self.note_truth();
        for output in outputs {
            let RoomOutput::Datagram { client, bytes } = output else {
                continue;
            };
            if self.keeps && client.0.is_multiple_of(self.every) {
                self.sent.push((self.now, client, bytes.clone()));
            }
            self.post(client, &bytes, true);
        }
    }

    /// The avatar of a client.
    pub(super) fn avatar(&self, client: u32) -> ObjectId {
        self.room.avatar(PlayerId(client.into())).expect("it plays")
    }

    /// The newest pose that a client knows of an object, and its stamp.
    pub(super) fn known(&self, client: u32, object: ObjectId) -> Option<(GameTime, Pose)> {
        let mirror = &self.mirrors[&ClientId(client)];
        mirror
            .slots
            .values()
            .find(|known| known.object == Some(object) && !known.gone)?
            .newest
    }

    fn arrive_down(&mut self) {
        for (client, bytes) in self.down.remove(&self.now).unwrap_or_default() {
            let mirror = self
                .mirrors
                .get_mut(&client)
                .expect("a client of the scene");
            if !client.0.is_multiple_of(self.every) {
                mirror.confirm(self.now, &bytes);
                continue;
            }
            let delay = self.room.config().delay;
            mirror.hear(
                self.now,
                &bytes,
                delay,
                |alias| self.names.get(&(client, alias)).copied(),
                &self.poses,
            );
        }
        for (client, mut mirror) in std::mem::take(&mut self.mirrors) {
            let bytes = mirror.speak(self.now);
            self.mirrors.insert(client, mirror);
            self.post(client, &bytes, false);
        }
    }

    fn arrive_up(&mut self) {
        for (client, bytes) in self.up.remove(&self.now).unwrap_or_default() {
            self.inputs.push(RoomInput::Datagram {
                client,
                at: self.now,
                bytes,
            });
        }
    }

    fn post(&mut self, client: ClientId, bytes: &Bytes, down: bool) {
        let Line { loss, late, twice } = self.line;
        let dice = self.dice.get_mut(&client).expect("a client of the scene");
        let copies = 1 + u32::from(dice.u32(..100) < twice);
        for _ in 0..copies {
            if self.cut || dice.u32(..100) < loss {
                continue;
            }
            let extra = if dice.u32(..100) < late {
                dice.u32(1..4)
            } else {
                0
            };
            // What a client says at a tick arrives before the room's next one begins: half a tick
            // each way.
            let way = u32::from(down) + extra;
            let queue = if down { &mut self.down } else { &mut self.up };
            queue
                .entry(self.now + way * TICK)
                .or_default()
                .push((client, bytes.clone()));
        }
    }

    fn note_truth(&mut self) {
        let world = self.room.world();
        let posed = world.objects().filter(|&object| world.has_pose(object));
        self.poses.insert(
            self.now.whole_millis(),
            posed.map(|object| (object, world.pose(object))).collect(),
        );
        while self.poses.len() > 400 {
            self.poses.pop_first();
        }
        let every = self.every;
        for viewer in self
            .room
            .network()
            .viewers()
            .filter(|viewer| viewer.client.0.is_multiple_of(every))
        {
            for object in viewer.slots.objects() {
                let alias = viewer.slots.alias(object).expect("told of");
                self.names.insert((viewer.client, alias), object);
            }
        }
    }
}

impl Mirror {
    fn new(schema: Schema) -> Self {
        Mirror {
            link: Link::new(LinkConfig::client()),
            schema,
            slots: BTreeMap::new(),
            missing_baseline: None,
            lost_tracks: 0,
            map: None,
            stamp: GameTime::ZERO,
            told: BTreeSet::new(),
            forget: false,
        }
    }

    /// Hears, and reads nothing.
    fn confirm(&mut self, now: GameTime, bytes: &[u8]) {
        self.link
            .handle_datagram(now.into(), bytes)
            .expect("the room's own datagram");
        while self.link.poll_event().is_some() {}
    }

    fn hear(
        &mut self,
        now: GameTime,
        bytes: &[u8],
        delay: Duration,
        object_of: impl Fn(Alias) -> Option<ObjectId>,
        truth: &BTreeMap<GameTime, BTreeMap<ObjectId, Pose>>,
    ) {
        let body = self
            .link
            .handle_datagram(now.into(), bytes)
            .expect("the room's own datagram");
        let number = self.link.last_received_number().unwrap_or_default();
        let context = BodyContext {
            schema: &self.schema,
            delay,
            near: now,
        };
        let body = body.map(|body| read_body(body, &context).expect("the room's own body"));
        while let Some(event) = self.link.poll_event() {
            if let LinkEvent::Block(block) = event {
                self.map = Some(block);
            }
        }
        let Some(Some(body)) = body else { return };
        self.stamp = self.stamp.max(body.stamp);
        if std::mem::take(&mut self.forget) {
            self.slots.values_mut().for_each(|known| known.kept.clear());
        }
        for record in &body.records {
            self.apply(number, body.stamp, record, &object_of, truth);
        }
        if !body.poses.is_empty() {
            self.read_poses(number, body.stamp, &body.poses, truth);
        }
    }

    fn apply(
        &mut self,
        number: u64,
        stamp: GameTime,
        record: &Record,
        object_of: &impl Fn(Alias) -> Option<ObjectId>,
        truth: &BTreeMap<GameTime, BTreeMap<ObjectId, Pose>>,
    ) {
        let Some(alias) = record.alias() else { return };
        let object = object_of(alias);
        match record {
            Record::Enter {
                kind, components, ..
            } => {
                let format = self
                    .schema
                    .kind(*kind)
                    .and_then(|kind| kind.pose_format().copied());
                let known = self
                    .slots
                    .entry(alias.slot)
                    .or_insert_with(|| Known::new(alias, object, format, number));
                if known.alias != alias {
                    if !Alias::newer_than(alias.epoch, known.alias.epoch) {
                        return;
                    }
                    *known = Known {
                        kept: std::mem::take(&mut known.kept),
                        ..Known::new(alias, object, format, number)
                    };
                    known.kept.start_tenant(number);
                }
                if let Some((_, Component::Pose(pose))) = components.first() {
                    known.note(number, stamp, *pose, truth);
                }
            }
            Record::Update { .. } | Record::Effects(_) => {}
            Record::Leave { .. } => {
                let known = self
                    .slots
                    .entry(alias.slot)
                    .or_insert_with(|| Known::new(alias, object, None, number));
                if known.alias == alias || Alias::newer_than(alias.epoch, known.alias.epoch) {
                    known.alias = alias;
                    known.gone = true;
                }
            }
        }
        for (index, _) in record.components() {
            self.told.extend(object.map(|object| (object, *index)));
        }
    }

    fn read_poses(
        &mut self,
        number: u64,
        stamp: GameTime,
        section: &[u8],
        truth: &BTreeMap<GameTime, BTreeMap<ObjectId, Pose>>,
    ) {
        let mut poses = Vec::new();
        match read_section(section, number, stamp, &Slots(&self.slots), &mut poses) {
            Ok(acked) => {
                let heard =
                    |failed| number > failed && acked.is_none_or(|acked| acked.newest > failed);
                if self.missing_baseline.is_some_and(heard) {
                    self.missing_baseline = None;
                }
            }
            Err(SectionError::MissingBaseline { .. }) => {
                self.lost_tracks += 1;
                self.missing_baseline = self.missing_baseline.max(Some(number));
            }
            Err(error) => panic!("the room's own section: {error}"),
        }
        for (slot, pose) in poses {
            self.slots
                .get_mut(&slot)
                .expect("it was found")
                .note(number, stamp, pose, truth);
        }
    }

    /// What it confirms and wants.
    fn speak(&mut self, now: GameTime) -> Bytes {
        let mut bytes = Vec::new();
        let input = Some(message::KeyInput::new(Keymap(1), now));
        let mut uplink = Uplink {
            input,
            missing_baseline: self.missing_baseline.map(|number| number as u16),
            ..Uplink::default()
        };
        self.link
            .write_datagram_without_ack_request(now.into(), &mut bytes, |writer, _| {
                uplink.wire(writer).expect("a writer refuses nothing");
            });
        bytes.into()
    }
}

impl Known {
    fn new(
        alias: Alias,
        object: Option<ObjectId>,
        format: Option<PoseFormat>,
        number: u64,
    ) -> Self {
        Known {
            alias,
            object,
            format,
            kept: BaselineHistory::new(number),
            newest: None,
            gone: false,
        }
    }

    /// Takes over a pose, which must be the true one.
    fn note(
        &mut self,
        number: u64,
        stamp: GameTime,
        pose: Pose,
        truth: &BTreeMap<GameTime, BTreeMap<ObjectId, Pose>>,
    ) {
        let object = self.object.expect("a name that the room has given");
        if let Some(then) = truth.get(&stamp) {
            assert_eq!(
                Some(&pose),
                then.get(&object),
                "object {object} at {stamp:?}, in datagram {number}"
            );
        }
        self.kept.insert(ReceivedPose {
            number,
            stamp,
            pose,
        });
        if self.newest.is_none_or(|(newest, _)| newest <= stamp) {
            self.newest = Some((stamp, pose));
        }
    }
}

/// A scene with so many sheep, each with a client.
pub(super) fn herd_of(count: u32, line: Line, seed: u64, config: RoomConfig, herd: Herd) -> Scene {
    let mut scene = Scene::new(config, Box::new(herd), line, seed);
    scene.join(count);
    scene
}

/// Everybody near everybody.
pub(super) fn near() -> RoomConfig {
    RoomConfig {
        inner: 3,
        outer: 4,
        ..RoomConfig::default()
    }
}
