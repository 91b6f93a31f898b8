//! A room with clients that read all that they receive, checked against the true state.
//!
//! Every pose that a client decodes must equal, bit for bit, the one that the world had at the tick
//! of the datagram. Datagrams are delayed, lost and reordered as the [`PathQuality`] says, all from
//! one seed. Each client has random numbers of its own, so that datagrams to one client do not
//! change what happens to those of another.

use std::collections::BTreeSet;
use std::time::Duration;

use ambit_proto::ids::Alias;
use ambit_proto::keymap::Keymap;
use ambit_proto::link::{Link, LinkConfig, LinkEvent};
use ambit_proto::message::{self, BodyContext, PlainPose, Record, Uplink, read_body};
use ambit_proto::pose::{
    BaselineHistory, BaselineSource, MAX_JUMP_AGE_MS, Pose, PoseCoding, PoseFormat, ReceivedPose,
    SectionError, SectionPose, read_section,
};
use ambit_proto::schema::{Component, Schema};
use ambit_proto::wire::Wire;
use bytes::Bytes;

use super::super::*;
use super::TICK;
use super::moving_avatars::MovingAvatars;

/// What happens to datagrams between the room and its clients, in both directions. All fields are
/// in per cent.
#[derive(Clone, Copy)]
pub(super) struct PathQuality {
    pub loss: u32,
    /// These datagrams arrive one to three ticks late.
    pub late: u32,
    /// These datagrams arrive twice.
    pub duplicate: u32,
}

/// Every datagram arrives once and in time.
pub(super) const PERFECT_PATH: PathQuality = PathQuality { loss: 0, late: 0, duplicate: 0 };

/// A client: its link and what it has received.
pub(super) struct TestClient {
    link: Link,
    schema: Schema,
    /// How the room codes the client's poses.
    coding: PoseCoding,
    slots: BTreeMap<u16, ReceivedObject>,
    lost_track: Option<u64>,
    /// The number of pose sections of each coding: plain, shared, fine.
    pub sections: [u32; 3],
    /// The number of pose sections that could not be read.
    pub unreadable_sections: u32,
    /// The static world, once it is complete.
    pub map: Option<Bytes>,
    /// All components that were received, by object and index.
    pub received_components: BTreeSet<(ObjectId, u8)>,
    /// Clears the pose history of all objects once, as a restart would.
    pub clears_history: bool,
}

/// The poses of each tick, and whether the object has jumped in it.
type TruePoses = BTreeMap<GameTime, BTreeMap<ObjectId, (Pose, bool)>>;

/// The state of one slot at a client.
struct ReceivedObject {
    alias: Alias,
    object: Option<ObjectId>,
    format: Option<PoseFormat>,
    history: BaselineHistory,
    /// The newest pose and its stamp.
    newest: Option<(GameTime, Pose)>,
    /// The stamps of the jumps that the room has sent.
    jumps: BTreeSet<GameTime>,
    /// Whether the Leave of the object was received.
    has_left: bool,
}

struct ReceivedSlots<'m>(&'m BTreeMap<u16, ReceivedObject>);

impl BaselineSource for ReceivedSlots<'_> {
    fn object(&self, slot: u16) -> Option<(&PoseFormat, &BaselineHistory)> {
        let known = self.0.get(&slot)?;
        Some((known.format.as_ref()?, &known.history))
    }
}

/// A room, its clients, the paths between them, and the true state at each tick.
pub(super) struct RoomSimulation {
    pub room: Room,
    pub now: GameTime,
    pub inputs: Vec<RoomInput>,
    pub test_clients: BTreeMap<ClientId, TestClient>,
    path: PathQuality,
    seed: u64,
    rngs: BTreeMap<ClientId, fastrand::Rng>,
    /// Datagrams in flight, by the time of their arrival.
    downlink: BTreeMap<GameTime, Vec<(ClientId, Bytes)>>,
    uplink: BTreeMap<GameTime, Vec<(ClientId, Bytes)>>,
    /// The true poses of each tick.
    poses: TruePoses,
    /// All aliases that the room has given, by client.
    objects_by_alias: BTreeMap<(ClientId, Alias), ObjectId>,
    /// Datagrams that the room has sent to observed clients, if `records_sent`.
    pub sent: Vec<(GameTime, ClientId, Bytes)>,
    /// Whether datagrams are recorded in `sent`.
    pub records_sent: bool,
    /// Whether all datagrams are lost, in both directions.
    pub is_cut: bool,
    /// One client of this many is observed; the others only acknowledge datagrams.
    pub observed_every: u32,
}

impl RoomSimulation {
    pub(super) fn new(
        config: RoomConfig,
        game: Box<dyn Game>,
        path: PathQuality,
        seed: u64,
    ) -> Self {
        RoomSimulation {
            room: Room::new(config, game),
            now: GameTime::ZERO,
            inputs: Vec::new(),
            test_clients: BTreeMap::new(),
            path,
            seed,
            rngs: BTreeMap::new(),
            downlink: BTreeMap::new(),
            uplink: BTreeMap::new(),
            poses: BTreeMap::new(),
            objects_by_alias: BTreeMap::new(),
            sent: Vec::new(),
            records_sent: false,
            is_cut: false,
            observed_every: 1,
        }
    }

    pub(super) fn join(&mut self, count: u32) {
        self.join_with(count, |_| PoseCoding::Auto);
    }

    /// As [`RoomSimulation::join`]; each client asks for a coding.
    pub(super) fn join_with(&mut self, count: u32, coding: impl Fn(ClientId) -> PoseCoding) {
        let preference = self.room.config().coding;
        let schema = self.room.world().schema().clone();
        for client in (0..count).map(ClientId) {
            self.test_clients
                .insert(client, TestClient::new(schema.clone(), coding(client).or(preference)));
            self.rngs
                .insert(client, fastrand::Rng::with_seed(self.seed << 32 | u64::from(client.0)));
            let player = PlayerId(client.0.into());
            self.inputs.push(RoomInput::Join {
                client,
                player,
                account: None,
                name: client.to_string(),
                coding: coding(client),
            });
        }
    }

    pub(super) fn ticks(&mut self, count: u32) {
        for _ in 0..count {
            self.tick();
        }
    }

    /// Delivers what has arrived since the last tick, runs a tick and transmits its datagrams.
    pub(super) fn tick(&mut self) {
        self.now += TICK;
        self.deliver_to_clients();
        self.deliver_to_room();
        let mut outputs = Vec::new();
        self.room.tick(self.now, &mut self.inputs, &mut outputs);
        self.record_true_state();
        for output in outputs {
            let RoomOutput::Datagram { client, bytes } = output else {
                continue;
            };
            if self.records_sent && client.0.is_multiple_of(self.observed_every) {
                self.sent.push((self.now, client, bytes.clone()));
            }
            self.transmit(client, &bytes, true);
        }
    }

    pub(super) fn avatar(&self, client: u32) -> ObjectId {
        self.room.avatar(PlayerId(client.into())).expect("the player is in the room")
    }

    /// The newest pose that a client has received of an object, and its stamp.
    pub(super) fn newest_pose(&self, client: u32, object: ObjectId) -> Option<(GameTime, Pose)> {
        let test_client = &self.test_clients[&ClientId(client)];
        test_client
            .slots
            .values()
            .find(|known| known.object == Some(object) && !known.has_left)?
            .newest
    }

    fn deliver_to_clients(&mut self) {
        for (client, bytes) in self.downlink.remove(&self.now).unwrap_or_default() {
            let test_client =
                self.test_clients.get_mut(&client).expect("a client of the simulation");
            if !client.0.is_multiple_of(self.observed_every) {
                test_client.acknowledge(self.now, &bytes);
                continue;
            }
            let delay = self.room.config().delay;
            test_client.receive(
                self.now,
                &bytes,
                delay,
                |alias| self.objects_by_alias.get(&(client, alias)).copied(),
                &self.poses,
            );
        }
        for (client, mut test_client) in std::mem::take(&mut self.test_clients) {
            let bytes = test_client.write_uplink(self.now);
            self.test_clients.insert(client, test_client);
            self.transmit(client, &bytes, false);
        }
    }

    fn deliver_to_room(&mut self) {
        for (client, bytes) in self.uplink.remove(&self.now).unwrap_or_default() {
            self.inputs.push(RoomInput::Datagram { client, at: self.now, bytes });
        }
    }

    fn transmit(&mut self, client: ClientId, bytes: &Bytes, to_client: bool) {
        let PathQuality { loss, late, duplicate } = self.path;
        let rng = self.rngs.get_mut(&client).expect("a client of the simulation");
        let copies = 1 + u32::from(rng.u32(..100) < duplicate);
        for _ in 0..copies {
            if self.is_cut || rng.u32(..100) < loss {
                continue;
            }
            let extra = if rng.u32(..100) < late { rng.u32(1..4) } else { 0 };
            // A datagram takes half a tick each way: one that a client sends at a tick arrives
            // before the next tick of the room.
            let ticks = u32::from(to_client) + extra;
            let queue = if to_client { &mut self.downlink } else { &mut self.uplink };
            queue.entry(self.now + ticks * TICK).or_default().push((client, bytes.clone()));
        }
    }

    fn record_true_state(&mut self) {
        let world = self.room.world();
        let with_pose = world.objects().filter(|&object| world.has_pose(object));
        self.poses.insert(
            self.now.whole_millis(),
            with_pose
                .map(|object| (object, (world.pose(object), world.has_jumped(object))))
                .collect(),
        );
        while self.poses.len() > 400 {
            self.poses.pop_first();
        }
        let observed_every = self.observed_every;
        for viewer in self
            .room
            .network()
            .viewers()
            .filter(|viewer| viewer.client.0.is_multiple_of(observed_every))
        {
            for object in viewer.slots.objects() {
                let alias = viewer.slots.alias(object).expect("a followed object has an alias");
                self.objects_by_alias.insert((viewer.client, alias), object);
            }
        }
    }
}

impl TestClient {
    fn new(schema: Schema, coding: PoseCoding) -> Self {
        TestClient {
            link: Link::new(LinkConfig::client()),
            schema,
            coding,
            slots: BTreeMap::new(),
            lost_track: None,
            sections: [0; 3],
            unreadable_sections: 0,
            map: None,
            received_components: BTreeSet::new(),
            clears_history: false,
        }
    }

    /// How many jumps the room has sent, of the objects that the client follows now.
    pub(super) fn told_jumps(&self) -> usize {
        self.slots.values().map(|known| known.jumps.len()).sum()
    }

    /// Receives a datagram for acknowledgement only; its contents are not read.
    fn acknowledge(&mut self, now: GameTime, bytes: &[u8]) {
        self.link.handle_datagram(now.into(), bytes).expect("the room's own datagram");
        while self.link.poll_event().is_some() {}
    }

    fn receive(
        &mut self,
        now: GameTime,
        bytes: &[u8],
        delay: Duration,
        object_of: impl Fn(Alias) -> Option<ObjectId>,
        true_poses: &TruePoses,
    ) {
        let body = self.link.handle_datagram(now.into(), bytes).expect("the room's own datagram");
        let number = self.link.last_received_number().unwrap_or_default();
        let context = BodyContext { schema: &self.schema, delay, approximate_now: now };
        let body = body.map(|body| read_body(body, &context).expect("the room's own body"));
        while let Some(event) = self.link.poll_event() {
            if let LinkEvent::Block(block) = event {
                self.map = Some(block);
            }
        }
        let Some(Some(body)) = body else { return };
        if std::mem::take(&mut self.clears_history) {
            self.slots.values_mut().for_each(|known| known.history.clear());
        }
        for record in &body.records {
            self.apply(number, body.stamp, record, &object_of, true_poses);
        }
        if body.poses.is_empty() {
            return;
        }
        if self.coding == PoseCoding::Plain {
            self.read_plain_poses(number, body.stamp, &body.poses, true_poses);
        } else {
            self.read_poses(number, body.stamp, &body.poses, true_poses);
        }
    }

    fn apply(
        &mut self,
        number: u64,
        stamp: GameTime,
        record: &Record,
        object_of: &impl Fn(Alias) -> Option<ObjectId>,
        true_poses: &TruePoses,
    ) {
        let Some(alias) = record.alias() else { return };
        let object = object_of(alias);
        match record {
            Record::Enter { kind, components, .. } => {
                let format = self.schema.kind(*kind).and_then(|kind| kind.pose_format().copied());
                let known = self
                    .slots
                    .entry(alias.slot)
                    .or_insert_with(|| ReceivedObject::new(alias, object, format, number));
                if known.alias != alias {
                    if !Alias::newer_than(alias.epoch, known.alias.epoch) {
                        return;
                    }
                    *known = ReceivedObject {
                        history: std::mem::take(&mut known.history),
                        ..ReceivedObject::new(alias, object, format, number)
                    };
                    known.history.start_tenant(number);
                }
                if let Some((_, Component::Pose(pose))) = components.first() {
                    known.store_pose(number, stamp, *pose, true_poses);
                }
            }
            Record::Update { .. } | Record::InputEffects(_) => {}
            Record::Leave { .. } => {
                let known = self
                    .slots
                    .entry(alias.slot)
                    .or_insert_with(|| ReceivedObject::new(alias, object, None, number));
                if known.alias == alias || Alias::newer_than(alias.epoch, known.alias.epoch) {
                    known.alias = alias;
                    known.has_left = true;
                }
            }
        }
        for (index, _) in record.components() {
            self.received_components.extend(object.map(|object| (object, *index)));
        }
    }

    fn read_plain_poses(
        &mut self,
        number: u64,
        stamp: GameTime,
        section: &[u8],
        true_poses: &TruePoses,
    ) {
        self.sections[0] += 1;
        let mut poses = Vec::new();
        message::read_plain_poses(section, &self.schema, &mut poses)
            .expect("the room's own section");
        for PlainPose { alias, pose, jumped_ms, .. } in poses {
            let age = jumped_ms.map(|ms| Duration::from_millis(ms.into()));
            let jumped = age.map(|age| stamp.saturating_sub(age));
            let known = self.slots.get_mut(&alias.slot);
            // A late datagram may be about the slot's object before.
            if let Some(known) = known.filter(|known| known.alias == alias && !known.has_left) {
                known.check_jumps(stamp, jumped, true_poses);
                known.store_pose(number, stamp, pose, true_poses);
            }
        }
    }

    fn read_poses(&mut self, number: u64, stamp: GameTime, section: &[u8], true_poses: &TruePoses) {
        let is_fine = section[0] & 1 == 1;
        self.sections[if is_fine { 2 } else { 1 }] += 1;
        let mut poses = Vec::new();
        match read_section(section, number, stamp, &ReceivedSlots(&self.slots), &mut poses) {
            Ok(acked) => {
                let is_later =
                    |failed| number > failed && acked.is_none_or(|acked| acked.newest > failed);
                if self.lost_track.is_some_and(is_later) {
                    self.lost_track = None;
                }
            }
            Err(SectionError::MissingBaseline { .. }) => {
                self.unreadable_sections += 1;
                self.lost_track = self.lost_track.max(Some(number));
            }
            Err(error) => panic!("the room's own section: {error}"),
        }
        for SectionPose { slot, pose, jumped } in poses {
            let known = self.slots.get_mut(&slot).expect("a section has poses of known slots only");
            known.check_jumps(stamp, jumped, true_poses);
            known.store_pose(number, stamp, pose, true_poses);
        }
    }

    /// Writes a datagram with acknowledgements, an input and, if the client has lost track, the
    /// number of that datagram.
    fn write_uplink(&mut self, now: GameTime) -> Bytes {
        let mut bytes = Vec::new();
        let input = Some(message::KeyInput::new(Keymap(1), now));
        let mut uplink = Uplink {
            input,
            lost_track: self.lost_track.map(|number| number as u16),
            ..Uplink::default()
        };
        self.link.write_datagram_without_ack_request(now.into(), &mut bytes, |writer, _| {
            uplink.wire(writer).expect("writing cannot fail");
        });
        bytes.into()
    }
}

impl ReceivedObject {
    fn new(
        alias: Alias,
        object: Option<ObjectId>,
        format: Option<PoseFormat>,
        number: u64,
    ) -> Self {
        ReceivedObject {
            alias,
            object,
            format,
            history: BaselineHistory::new(number),
            newest: None,
            jumps: BTreeSet::new(),
            has_left: false,
        }
    }

    /// Checks the jumps that are sent: a client draws no way over one, so it must know of each jump
    /// between the pose of this stamp and the one before.
    fn check_jumps(&mut self, stamp: GameTime, jumped: Option<GameTime>, true_poses: &TruePoses) {
        let object = self.object.expect("an alias that the room has given");
        self.jumps.extend(jumped);
        let is_jump = |at: &GameTime| {
            true_poses.get(at).is_none_or(|poses| poses.get(&object).is_some_and(|pose| pose.1))
        };
        let is_old = |at: &GameTime| stamp.since(*at).as_millis() >= MAX_JUMP_AGE_MS.into();
        assert!(jumped.is_none_or(|at| is_jump(&at) || is_old(&at)), "{object} at {jumped:?}");
        let known = self.history.poses().iter().map(|known| known.stamp);
        if let Some(before) = known.filter(|known| *known < stamp).max() {
            let between = true_poses.keys().filter(|at| before < **at && **at <= stamp);
            let newest = between.filter(|at| is_jump(at)).max();
            let is_known = newest.is_none_or(|at| self.jumps.contains(at) || is_old(at));
            assert!(is_known, "object {object} jumped at {newest:?}, before {stamp:?}");
        }
    }

    /// Checks a decoded pose against the true one and stores it.
    fn store_pose(&mut self, number: u64, stamp: GameTime, pose: Pose, true_poses: &TruePoses) {
        let object = self.object.expect("an alias that the room has given");
        if let Some(poses) = true_poses.get(&stamp) {
            assert_eq!(
                Some(&pose),
                poses.get(&object).map(|(pose, _)| pose),
                "object {object} at {stamp:?}, in datagram {number}"
            );
        }
        self.history.insert(ReceivedPose { number, stamp, pose });
        if self.newest.is_none_or(|(newest, _)| newest <= stamp) {
            self.newest = Some((stamp, pose));
        }
    }
}

/// A simulation of this game with `count` avatars, each with a client.
pub(super) fn simulation_of(
    count: u32,
    path: PathQuality,
    seed: u64,
    config: RoomConfig,
    game: MovingAvatars,
) -> RoomSimulation {
    let mut simulation = RoomSimulation::new(config, Box::new(game), path, seed);
    simulation.join(count);
    simulation
}

/// Areas of interest so large that every avatar is in sight of every other one.
pub(super) fn all_in_sight() -> RoomConfig {
    RoomConfig { inner: 3, outer: 4, ..RoomConfig::default() }
}
