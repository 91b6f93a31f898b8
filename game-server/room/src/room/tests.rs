//! A room with a minimal game and clients that are bare links. The tests run each tick.

use std::collections::BTreeSet;
use std::time::Duration;

use ambit_proto::codes::ErrorCode;
use ambit_proto::ids::Alias;
use ambit_proto::keymap::{KeySample, Keymap};
use ambit_proto::link::{Link, LinkConfig, LinkEvent};
use ambit_proto::message::{Command, FieldValue, Notice, RefusalReason};
use ambit_proto::pose::PoseCoding;
use ambit_proto::schema::{
    AxisKind, Codec, CommandKind, Component, ComponentSpec, ControlSpec, EventKind, FieldSpec,
    FieldType, ObjectKind, Schema,
};
use ambit_proto::space::Position;
use ambit_proto::wire;

use super::*;
use crate::logic::controls::{SAMPLE_BURST, SAMPLES_PER_TICK};
use crate::logic::game::Left;
use crate::logic::sight::SightChecks;
use crate::logic::world::EventAudience;

mod above;
mod axes;
mod budgets;
mod delivery;
mod moving_avatars;
mod poses;
mod profiles;
mod room_wide;
mod sight;
mod simulation;
mod why;
mod world_wide;

const ANN: PlayerId = PlayerId(1);
const BOB: PlayerId = PlayerId(2);
const TICK: Duration = Duration::from_millis(50);

/// The inputs with which players with these numbers join.
fn joins(numbers: impl Iterator<Item = u32>) -> Vec<RoomInput> {
    let join = |number: u32| RoomInput::Join {
        client: ClientId(number),
        player: PlayerId(number.into()),
        account: None,
        name: format!("player {number}"),
        coding: PoseCoding::Auto,
    };
    numbers.map(join).collect()
}

#[test]
fn a_game_without_saving_returns_no_saved_state() {
    let mut scene = Scene::new();
    scene.ticks(1);
    assert_eq!(scene.room.save(), None);
}

#[test]
fn events_before_an_object_became_visible_are_not_sent() {
    let mut scene = Scene::new();
    let ann = scene.join(ANN, "ann");
    // At its tenth tick the game reveals the ghost and emits two events about it, one of an earlier
    // time and one of the present. Only the second one is sent.
    scene.ticks(12);
    assert_eq!(scene.room.stats().events, 1);
    let effects: Vec<_> = scene
        .notices(ann)
        .into_iter()
        .filter_map(
            |notice| {
                if let Notice::Event { effect, .. } = notice { Some(effect) } else { None }
            },
        )
        .collect();
    assert_eq!(effects, [scene.revealed_at()]);
}

#[test]
fn positions_off_the_map_are_refused() {
    let mut scene = Scene::new();
    let ann = scene.join(ANN, "ann");
    let edge = scene.room.world().grid().width();
    for (number, (x, y)) in
        [(edge, 0.0), (edge + 0.01, 0.0), (0.0, 16_000.0)].into_iter().enumerate()
    {
        scene.send_command(ann, number as u32, walk_to(x, y));
        scene.ticks(1);
    }
    scene.ticks(1);
    let bad = ErrorCode::BadPosition;
    assert_eq!(scene.refusals(ann), [(1, bad), (2, bad)]);
    let stats = scene.room.stats();
    assert_eq!((stats.commands, stats.commands_refused), (1, 2));
}

#[test]
fn under_a_limit_a_room_confirms_and_refuses_only_what_came_before() {
    let mut scene = Scene::new();
    let ann = scene.join(ANN, "ann");
    scene.send_command(ann, 0, walk_to(5.0, 5.0));
    scene.ticks(1);
    let limit = scene.now;
    scene.send_command(ann, 1, walk_to(0.0, 16_000.0));
    scene.inputs.push(RoomInput::ConfirmUntil(Some(limit)));
    let outputs = scene.ticks(4);
    assert_eq!((scene.confirmed, scene.refusals(ann)), (1, vec![]));
    let stats = scene.room.stats();
    assert_eq!((stats.commands, stats.commands_refused), (1, 1));
    let is_datagram = |output: &&RoomOutput| matches!(output, RoomOutput::Datagram { .. });
    assert!(outputs.iter().any(|output| is_datagram(&output)), "state goes on");

    let limit = scene.now;
    scene.inputs.push(RoomInput::ConfirmUntil(Some(limit)));
    scene.send_command(ann, 2, walk_to(6.0, 6.0));
    scene.ticks(4);
    let refused = vec![(1, ErrorCode::BadPosition)];
    assert_eq!((scene.confirmed, scene.refusals(ann)), (2, refused));
    scene.inputs.push(RoomInput::ConfirmUntil(None));
    // An acknowledgement waits for 25 ms, as always.
    scene.ticks(2);
    assert_eq!(scene.confirmed, 3);
}

#[test]
fn only_objects_that_the_client_follows_can_be_named() {
    let mut scene = Scene::new();
    let ann = scene.join(ANN, "ann");
    scene.ticks(2);
    // The own avatar has the first slot; the ghost is hidden, and no object has the others.
    let known = scene.room.network().viewer(ann).expect("it has joined");
    let own = known.slots.alias(known.avatar).expect("it is followed");
    let slot = own.slot;
    let epoch = own.epoch;
    let commands = [
        poke(slot, epoch),
        poke(slot, epoch.wrapping_add(1)),
        poke(slot + 1, epoch),
        poke(slot + 1, 0),
        poke(u16::MAX, 0),
    ];
    for (number, command) in (0..).zip(commands) {
        scene.send_command(ann, number, command);
    }
    scene.ticks(2);
    let refusals = scene.refusals(ann);
    let unknown = [1, 2, 3, 4].map(|number| (number, ErrorCode::NoSuchObject));
    assert!(unknown.iter().all(|refusal| refusals.contains(refusal)) && refusals.len() == 4);
    assert_eq!(scene.room.stats().commands, 1);
    // Once it is revealed, the ghost can be named.
    scene.ticks(10);
    let known = scene.room.network().viewer(ann).expect("it has joined");
    let ghost = known.slots.objects().find(|&object| object != known.avatar);
    let ghost = ghost.and_then(|ghost| known.slots.alias(ghost));
    let Alias { slot, epoch } = ghost.expect("the ghost is followed");
    scene.send_command(ann, 9, poke(slot, epoch));
    scene.ticks(1);
    assert_eq!(scene.room.stats().commands, 2);
    // It is removed: not from the next tick on, but at once. Its `Leave` is under way then.
    scene.send_command(ann, 10, (3, Vec::new()));
    scene.send_command(ann, 11, poke(slot, epoch));
    scene.ticks(1);
    scene.send_command(ann, 12, poke(slot, epoch));
    scene.ticks(10);
    // Another object takes its slot.
    scene.join(PlayerId(2), "bob");
    scene.ticks(2);
    let known = scene.room.network().viewer(ann).expect("it has joined");
    let other = known.slots.objects().find(|&object| object != known.avatar);
    let other = other.and_then(|other| known.slots.alias(other));
    let other = other.expect("the other avatar is followed");
    assert_eq!(other.slot, slot);
    assert_ne!(other.epoch, epoch);
    scene.send_command(ann, 13, poke(slot, epoch));
    scene.ticks(2);
    let unknown = [11, 12, 13].map(|number| (number, ErrorCode::NoSuchObject));
    let refusals = scene.refusals(ann);
    assert!(unknown.iter().all(|refusal| refusals.contains(refusal)), "{refusals:?}");
    assert_eq!(scene.room.stats().commands, 3);
}

#[test]
fn a_kind_that_the_schema_lacks_is_an_unknown_command() {
    let mut scene = Scene::new();
    let ann = scene.join(ANN, "ann");
    scene.send_command(ann, 7, (4, Vec::new()));
    scene.ticks(2);
    assert_eq!(scene.refusals(ann), [(7, ErrorCode::UnknownCommand)]);
    assert_eq!(scene.room.stats().commands_malformed, 1);
}

#[test]
fn commands_of_a_client_count_from_the_tick_of_its_join() {
    let mut scene = Scene::new();
    let ann = scene.join(ANN, "ann");
    scene.send_command(ann, 1, walk());
    scene.ticks(1);
    assert_eq!(scene.room.stats().commands, 1);
}

#[test]
fn a_move_that_comes_after_a_newer_one_is_ignored() {
    let mut scene = Scene::new();
    let ann = scene.join(ANN, "ann");
    scene.send_command(ann, 2, walk());
    scene.ticks(1);
    scene.send_command(ann, 1, walk());
    scene.ticks(1);
    assert_eq!((scene.room.stats().commands, scene.room.stats().commands_outdated), (1, 1));
    scene.send_command(ann, 1, walk());
    scene.ticks(2);
    assert_eq!(scene.room.stats().commands_outdated, 2);
    // Once a second.
    assert_eq!(scene.refusals(ann), [(1, ErrorCode::Outdated)]);
}

#[test]
fn malformed_commands_are_refused_counted_and_reported_once() {
    let mut scene = Scene::new();
    let ann = scene.join(ANN, "ann");
    let mut outputs = scene.ticks(1);
    for number in 0..6 {
        // The fields are missing.
        scene.send_message(ann, vec![number, 0, 0, 0, 15]);
        outputs.extend(scene.ticks(1));
    }
    scene.send_message(ann, vec![1]);
    outputs.extend(scene.ticks(5));
    assert_eq!(scene.room.stats().commands_malformed, 7);
    assert_eq!(scene.refusals(ann), [(0, ErrorCode::Malformed)]);
    assert_eq!(reports(&outputs), [(ann, ErrorCode::Malformed)]);
}

#[test]
fn datagrams_that_cannot_be_decoded_are_counted_and_reported_once() {
    let mut scene = Scene::new();
    let ann = scene.join(ANN, "ann");
    let mut outputs = scene.ticks(1);
    for _ in 0..20 {
        scene.push_datagram(ann, vec![0xff; 20]);
        scene.send_datagram(ann);
        outputs.extend(scene.ticks(1));
    }
    assert_eq!(scene.room.stats().malformed, 20);
    assert_eq!(reports(&outputs), [(ann, ErrorCode::Malformed)]);
    // The game goes on.
    scene.send_command(ann, 1, walk());
    scene.ticks(1);
    assert_eq!(scene.room.stats().commands, 1);
    assert_eq!(scene.room.stats().clients, 1);
}

#[test]
fn a_client_that_repeats_a_datagram_for_long_is_told_so() {
    let mut scene = Scene::new();
    let ann = scene.join(ANN, "ann");
    scene.send_datagram(ann);
    let Some(RoomInput::Datagram { bytes, .. }) = scene.inputs.last().cloned() else {
        panic!("a datagram was sent")
    };
    let mut outputs = Vec::new();
    for _ in 0..100 {
        outputs.extend(scene.ticks_without_delivery(1));
        scene.push_datagram(ann, bytes.to_vec());
    }
    assert_eq!(scene.room.stats().datagrams_stale, 99);
    assert_eq!(reports(&outputs), [(ann, ErrorCode::Outdated)]);
}

#[test]
fn commands_above_the_rate_are_refused_with_one_notice_a_second() {
    let mut scene = Scene::new();
    let ann = scene.join(ANN, "ann");
    for number in 0..200 {
        scene.send_command(ann, number, rest());
    }
    scene.ticks(10);
    let stats = scene.room.stats();
    assert!(stats.commands_over_rate >= 100, "{stats:?}");
    let refusals =
        scene.notices(ann).iter().filter(|notice| matches!(notice, Notice::Refused { .. })).count();
    assert!((1..=2).contains(&refusals), "{refusals} refusals");
}

/// A journal has what was taken: repeats and floods are not in it, and a room that is restored from
/// it is the same.
#[test]
fn a_flood_of_samples_makes_no_long_journal() {
    const PLAYERS: u64 = 12;
    const TICKS: usize = 60;
    const SAMPLES: usize = 8 * 31;
    let mut scene = Scene::new();
    for player in 0..PLAYERS {
        scene.join(PlayerId(player), "ann");
    }
    scene.ticks(1);
    let mut kept = 0;
    let mut bytes = 0;
    for tick in 0..TICKS {
        for player in 0..PLAYERS {
            for step in 0..SAMPLES {
                let at = GameTime::from_millis((tick * SAMPLES + step) as u64);
                let sample = KeySample::new(at, Keymap((step % 2) as u32));
                scene.inputs.push(RoomInput::Sample {
                    player: PlayerId(player),
                    at: GameTime::from_millis(1_000_000),
                    sample,
                });
            }
        }
        scene.ticks_without_delivery(1);
        kept += scene.room.journal().len();
        bytes += saved::section(scene.room.journal()).len();
    }
    let most = PLAYERS as usize
        * (usize::from(SAMPLE_BURST) + (TICKS - 1) * usize::from(SAMPLES_PER_TICK));
    assert_eq!(kept, most);
    assert!(bytes < 24 * most, "{bytes} bytes");
    let sent = TICKS * PLAYERS as usize * SAMPLES;
    let over_rate = scene.room.stats().samples_over_rate;
    assert_eq!(over_rate, (sent - kept) as u64);
}

#[test]
fn a_client_that_acknowledges_nothing_is_removed_after_ten_seconds() {
    let mut scene = Scene::new();
    let ann = scene.join(ANN, "ann");
    scene.ticks_without_delivery(195);
    assert_eq!(scene.room.stats().clients, 1);
    let outputs = scene.ticks_without_delivery(15);
    assert!(outputs.contains(&RoomOutput::Unresponsive { client: ann }), "{outputs:?}");
    assert_eq!(
        (scene.room.stats().clients, scene.room.stats().players),
        (0, 1),
        "the avatar must stay"
    );
}

#[test]
fn a_rename_before_the_join_overrides_the_ticket_s_name() {
    let mut scene = Scene::new();
    scene.inputs.push(RoomInput::Rename { player: ANN, name: "anna".into() });
    scene.join(ANN, "ann");
    scene.ticks(1);
    assert_eq!(scene.room.seats[&ANN].name, "anna");
}

#[test]
fn a_second_connection_takes_the_avatar_over() {
    let mut scene = Scene::new();
    let first = scene.join(ANN, "ann");
    scene.ticks(1);
    let avatar = scene.room.avatar(ANN);
    scene.join(ANN, "ann");
    let outputs = scene.ticks(1);
    assert!(outputs.contains(&RoomOutput::Superseded { client: first }));
    assert_eq!(scene.room.avatar(ANN), avatar);
    assert_eq!((scene.room.stats().clients, scene.room.stats().players), (1, 1));
}

#[test]
fn a_handover_sends_a_datagram_to_clients_without_one_in_the_last_tick() {
    let mut scene = Scene::new();
    let ann = scene.join(ANN, "ann");
    scene.ticks(30);
    let bob = scene.join(PlayerId(2), "bob");
    let receivers = |outputs: &[RoomOutput]| -> BTreeSet<ClientId> {
        let client = |output: &RoomOutput| {
            if let RoomOutput::Datagram { client, .. } = output { Some(*client) } else { None }
        };
        outputs.iter().filter_map(client).collect()
    };
    let mut final_count = 0;
    let mut tick_count = 0;
    for round in 0..200 {
        scene.ticks(round % 70);
        let in_last_tick = receivers(&scene.ticks(1));
        let mut last = Vec::new();
        scene.room.send_final_updates(&mut last);
        let in_handover = receivers(&last);
        for output in last.drain(..) {
            let RoomOutput::Datagram { client, bytes } = output else { panic!("{output:?}") };
            scene.receive(client, &bytes);
        }
        assert_eq!(
            &in_last_tick | &in_handover,
            [ann, bob].into(),
            "each client gets a datagram of the last tick"
        );
        assert!(in_last_tick.is_disjoint(&in_handover), "{in_last_tick:?}, {in_handover:?}");
        final_count += in_handover.len();
        tick_count += in_last_tick.len();
        scene.room.send_final_updates(&mut last);
        assert_eq!(last, []);
    }
    assert!(final_count > 100 && tick_count > 5, "{final_count}, {tick_count}");
}

/// Commands of [`HiddenGhostGame`]: kind and fields.
type GhostCommand = (u8, Vec<FieldValue<Alias>>);

fn walk() -> GhostCommand {
    walk_to(1.0, 1.0)
}

fn walk_to(x: f32, y: f32) -> GhostCommand {
    (0, vec![FieldValue::Position(Position::on_ground(x, y))])
}

fn rest() -> GhostCommand {
    (1, Vec::new())
}

fn poke(slot: u16, epoch: u8) -> GhostCommand {
    (2, vec![FieldValue::Object(Alias { slot, epoch })])
}

/// A game of avatars at rest, with a ghost beside them that is hidden until the tenth tick. Its
/// controls are an axis, a key and an angle.
#[derive(Default)]
struct HiddenGhostGame {
    ghost: Option<ObjectId>,
    ticks: u32,
    revealed: bool,
}

impl Game for HiddenGhostGame {
    fn schema(&self) -> Schema {
        let components = vec![ComponentSpec::public("path", Codec::Path)];
        let kinds = vec![ObjectKind { name: "body".into(), components, ..ObjectKind::default() }];
        let events = vec![EventKind { name: "boo".into(), ..EventKind::default() }];
        let command = |name: &str, newest_only, fields: &[FieldType]| CommandKind {
            name: name.into(),
            newest_only,
            fields: fields.iter().map(|ty| FieldSpec::new("field", ty.clone())).collect(),
        };
        let control =
            |name: &str, axis| ControlSpec { name: name.into(), axis, ..ControlSpec::default() };
        Schema {
            game: "ghost".into(),
            kinds,
            events,
            commands: vec![
                command("walk", true, &[FieldType::Position]),
                command("rest", false, &[]),
                command("poke", false, &[FieldType::Object]),
                command("bust", false, &[]),
            ],
            controls: vec![
                control("throttle", Some(AxisKind::Linear)),
                control("fire", None),
                control("aim", Some(AxisKind::Angle)),
            ],
            ..Schema::default()
        }
    }

    fn start(&mut self, world: &mut World) {
        self.ghost = Some(body(world));
    }

    fn join(&mut self, world: &mut World, _: PlayerId, _: &str) -> ObjectId {
        body(world)
    }

    fn leave(&mut self, _: &mut World, _: PlayerId, _: Left) {}

    fn command(
        &mut self,
        world: &mut World,
        _: PlayerId,
        command: &GameCommand,
    ) -> Result<(), Refusal> {
        if command.kind == 3 {
            world.despawn(self.ghost.expect("the ghost exists from the start"));
        }
        Ok(())
    }

    fn step(&mut self, world: &mut World, _: Duration) {
        self.ticks += 1;
        if self.ticks == 10 {
            let ghost = self.ghost.expect("the ghost exists from the start");
            self.revealed = true;
            world.ask_who_sees(ghost);
            let now = world.now();
            let audience = EventAudience::Followers(ghost);
            world.emit(0, audience, now.saturating_sub(Duration::from_millis(30)), Vec::new());
            world.emit(0, audience, now, Vec::new());
        }
    }

    fn sees(&self, _: &World, _: ObjectId, object: ObjectId, _: Sight) -> bool {
        self.revealed || self.ghost != Some(object)
    }
}

/// The clients that get a report of their faults, with the codes.
fn reports(outputs: &[RoomOutput]) -> Vec<(ClientId, ErrorCode)> {
    let report = |output: &RoomOutput| match output {
        RoomOutput::Report { client, error } => Some((*client, error.code())),
        _ => None,
    };
    outputs.iter().filter_map(report).collect()
}

fn body(world: &mut World) -> ObjectId {
    world.spawn(0, vec![Component::at_rest(world.now(), Position::on_ground(50.0, 50.0))])
}

/// A room and the links of its clients.
struct Scene {
    room: Room,
    now: GameTime,
    inputs: Vec<RoomInput>,
    links: BTreeMap<ClientId, Link>,
    notices: Vec<(ClientId, Notice)>,
    /// Commands that were confirmed to their clients.
    confirmed: u32,
}

impl Scene {
    fn new() -> Self {
        let room = Room::new(RoomConfig::default(), Box::new(HiddenGhostGame::default()));
        Scene {
            room,
            now: GameTime::ZERO,
            inputs: Vec::new(),
            links: BTreeMap::new(),
            notices: Vec::new(),
            confirmed: 0,
        }
    }

    fn join(&mut self, player: PlayerId, name: &str) -> ClientId {
        let client = ClientId(self.links.len() as u32);
        self.links.insert(client, Link::new(LinkConfig::client()));
        self.inputs.push(RoomInput::Join {
            client,
            player,
            account: None,
            name: name.into(),
            coding: PoseCoding::Auto,
        });
        client
    }

    /// Sends a command, which arrives before the next tick.
    fn send_command(&mut self, client: ClientId, number: u32, (kind, fields): GhostCommand) {
        let mut command = Command { number, kind, fields };
        self.send_message(client, wire::encode(&mut command));
    }

    /// Sends a reliable message, which arrives before the next tick.
    fn send_message(&mut self, client: ClientId, bytes: Vec<u8>) {
        let link = self.links.get_mut(&client).expect("a client of the scene");
        link.send_reliable(self.now.into(), bytes.into(), None).expect("the queue has room");
        self.send_datagram(client);
    }

    fn send_datagram(&mut self, client: ClientId) {
        let mut bytes = Vec::new();
        let link = self.links.get_mut(&client).expect("a client of the scene");
        link.write_datagram(self.now.into(), &mut bytes, |_, _| {});
        self.push_datagram(client, bytes);
    }

    fn push_datagram(&mut self, client: ClientId, bytes: Vec<u8>) {
        self.inputs.push(RoomInput::Datagram { client, at: self.now, bytes: bytes.into() });
    }

    /// The commands of a client that were refused, with the reason.
    fn refusals(&self, client: ClientId) -> Vec<(u32, ErrorCode)> {
        let refusal = |notice| match notice {
            Notice::Refused { command, reason: RefusalReason::Code(code) } => {
                let code = ErrorCode::try_from(i32::from(code)).expect("a known code");
                Some((command, code))
            }
            Notice::Refused { .. } | Notice::Event { .. } => None,
        };
        let notices = self.notices(client);
        notices.into_iter().filter_map(refusal).collect()
    }

    /// Runs ticks and delivers all datagrams to the clients at once.
    fn ticks(&mut self, count: usize) -> Vec<RoomOutput> {
        let mut all = Vec::new();
        for _ in 0..count {
            let outputs = self.ticks_without_delivery(1);
            for output in &outputs {
                let RoomOutput::Datagram { client, bytes } = output else {
                    continue;
                };
                self.receive(*client, bytes);
            }
            all.extend(outputs);
        }
        all
    }

    /// Runs ticks without delivering any datagram to the clients.
    fn ticks_without_delivery(&mut self, count: usize) -> Vec<RoomOutput> {
        let mut outputs = Vec::new();
        for _ in 0..count {
            self.now += TICK;
            self.room.tick(self.now, &mut self.inputs, &mut outputs);
        }
        outputs
    }

    fn receive(&mut self, client: ClientId, bytes: &[u8]) {
        let link = self.links.get_mut(&client).expect("a client of the scene");
        link.handle_datagram(self.now.into(), bytes).expect("the room's own datagram");
        while let Some(event) = link.poll_event() {
            match event {
                LinkEvent::Message(message) => {
                    let schema = self.room.world.schema();
                    let notice = Notice::decode(&message, schema, self.now);
                    self.notices.push((client, notice.expect("the room's own message")));
                }
                LinkEvent::MessageAcked(_) => self.confirmed += 1,
                _ => {}
            }
        }
        self.send_datagram(client);
    }

    fn notices(&self, client: ClientId) -> Vec<Notice> {
        self.notices
            .iter()
            .filter(|(receiver, _)| *receiver == client)
            .map(|(_, notice)| notice.clone())
            .collect()
    }

    /// The horizon of the game's tenth tick.
    fn revealed_at(&self) -> GameTime {
        GameTime::ZERO + 10 * TICK + self.room.config.delay
    }
}
