//! Records that arrive in any order.

use ambit_proto::space::Position;
use ambit_proto::timeline::{Timeline, Waypoint};

use super::*;
use crate::client::event::{ComponentValue, NamedValue};

const AVATAR: u8 = 0;
const STONE: u8 = 1;
const NOTHING: [&str; 0] = [];
const LOCAL_LAG: Duration = Duration::from_millis(150);
const TICK: Duration = Duration::from_millis(50);

#[test]
fn an_object_becomes_visible_at_its_enter_time() {
    let mut harness = ReplicaHarness::new();
    harness.at(100).enter(alias(1, 0), 250, 5.0);
    assert_eq!(harness.at(249).emitted(), NOTHING);
    assert_eq!(harness.replica.next_due(), Some(ms(250)));
    assert_eq!(harness.at(250).emitted(), ["enter 1 at 5"]);
    assert_eq!(harness.replica.next_due(), None);
}

#[test]
fn a_late_enter_takes_effect_at_once() {
    let mut harness = ReplicaHarness::new();
    harness.at(400).enter(alias(1, 0), 250, 5.0);
    assert_eq!(harness.emitted(), ["enter 1 at 5"]);
}

#[test]
fn an_object_leaves_at_its_time_or_at_once_if_that_is_past() {
    let mut harness = ReplicaHarness::new();
    harness.at(100).enter(alias(1, 0), 100, 5.0);
    harness.enter(alias(2, 0), 100, 6.0);
    assert_eq!(harness.emitted().len(), 2);
    harness.leave(alias(1, 0), 250);
    harness.leave(alias(2, 0), 50);
    assert_eq!(harness.emitted(), ["leave 2"]);
    assert_eq!(harness.at(250).emitted(), ["leave 1"]);
}

#[test]
fn an_object_that_leaves_before_its_enter_is_never_visible() {
    let mut harness = ReplicaHarness::new();
    harness.at(100).enter(alias(1, 0), 250, 5.0);
    harness.leave(alias(1, 0), 200);
    harness.enter(alias(2, 0), 110, 5.0);
    harness.leave(alias(2, 0), 120);
    assert_eq!(harness.at(300).emitted(), NOTHING);
    assert_eq!(harness.replica.next_due(), None);
    assert_eq!(harness.replica.objects.len(), 0);
}

#[test]
fn a_brief_visibility_gives_an_enter_and_a_leave() {
    let mut harness = ReplicaHarness::new();
    harness.at(100).enter(alias(1, 0), 200, 5.0);
    harness.leave(alias(1, 0), 250);
    assert_eq!(harness.at(210).emitted(), ["enter 1 at 5"]);
    assert_eq!(harness.at(260).emitted(), ["leave 1"]);
}

#[test]
fn a_leave_before_its_enter_keeps_the_object_out() {
    let mut harness = ReplicaHarness::new();
    harness.at(100).leave(alias(1, 0), 250);
    harness.enter(alias(1, 0), 100, 5.0);
    assert_eq!(harness.at(300).emitted(), NOTHING);
}

#[test]
fn a_late_record_of_an_earlier_epoch_revives_nothing() {
    let mut harness = ReplicaHarness::new();
    harness.at(100).enter(alias(1, 0), 100, 5.0);
    harness.leave(alias(1, 0), 100);
    harness.enter(alias(1, 1), 100, 6.0);
    assert_eq!(harness.emitted(), ["enter 1 at 5", "leave 1", "enter 2 at 6"]);
    harness.enter(alias(1, 0), 100, 5.0);
    harness.walk(alias(1, 0), 100, 7.0);
    harness.leave(alias(1, 0), 100);
    assert_eq!(harness.emitted(), NOTHING);
    assert_eq!(harness.positions(100), [(2, 6.0)]);
}

#[test]
fn a_new_epoch_ends_the_old_one_whose_leave_is_still_in_flight() {
    let mut harness = ReplicaHarness::new();
    harness.at(100).enter(alias(1, 255), 100, 5.0);
    assert_eq!(harness.emitted(), ["enter 1 at 5"]);
    harness.enter(alias(1, 0), 200, 6.0);
    assert_eq!(harness.emitted(), NOTHING);
    assert_eq!(harness.at(200).emitted(), ["leave 1", "enter 2 at 6"]);
    harness.leave(alias(1, 255), 100);
    assert_eq!(harness.emitted(), NOTHING);
}

#[test]
fn an_update_of_an_object_that_is_not_known_is_skipped() {
    let mut harness = ReplicaHarness::new();
    harness.at(100).walk(alias(1, 0), 100, 7.0);
    assert_eq!(harness.emitted(), NOTHING);
    harness.enter(alias(1, 0), 100, 5.0);
    harness.walk(alias(1, 1), 100, 9.0);
    assert_eq!(harness.emitted(), ["enter 1 at 5"]);
}

#[test]
fn an_older_datagram_never_overwrites_newer_state() {
    let mut harness = ReplicaHarness::new();
    harness.at(100).enter(alias(1, 0), 100, 5.0);
    harness.at(100).stamped(90).walk(alias(1, 0), 100, 7.0);
    harness.at(100).stamped(80).walk(alias(1, 0), 100, 6.0);
    assert_eq!(harness.emitted(), ["enter 1 at 5", "update 1 at 7"]);
    // A repetition that was sent before the newest update is older.
    harness.at(100).stamped(85).enter(alias(1, 0), 100, 5.0);
    assert_eq!(harness.positions(100), [(1, 7.0)]);
}

#[test]
fn a_repeated_enter_is_an_update_and_no_second_object() {
    let mut harness = ReplicaHarness::new();
    harness.at(100).enter(alias(1, 0), 100, 5.0);
    assert_eq!(harness.emitted(), ["enter 1 at 5"]);
    assert_eq!(harness.at(110).stamped(110).enter(alias(1, 0), 100, 5.0), RecordOutcome::Nothing);
    assert_eq!(
        harness.at(120).stamped(120).enter(alias(1, 0), 100, 8.0),
        RecordOutcome::Update { late: true }
    );
    assert_eq!(harness.emitted(), ["update 1 at 8"]);
}

/// An avatar that walks east at 10 m/s, and is at 5 m half a second later.
fn walking_avatar() -> ReplicaHarness {
    let mut harness = ReplicaHarness::new();
    let components = vec![(0, walk(&[(0, 0.0), (2_000, 20.0)]))];
    let alias = alias(1, 0);
    let at = ms(100);
    let enter = Record::Enter { alias, kind: AVATAR, at, own: false, components };
    harness.at(100).apply(&enter);
    harness
}

#[test]
fn a_late_path_is_the_state_at_once_and_is_drawn_little_by_little() {
    for (drawn_until, repeats_enter) in [(500, false), (512, false), (500, true)] {
        let mut harness = walking_avatar();
        harness.replica.note_drawn(ms(drawn_until));
        let before = harness.drawn(drawn_until);
        // Since 460 ms it has been walking back.
        let components = vec![(0, walk(&[(460, 4.6), (2_000, -10.8)]))];
        let alias = alias(1, 0);
        let at = ms(460);
        let update = if repeats_enter {
            Record::Enter { alias, kind: AVATAR, at, own: false, components }
        } else {
            Record::Update { alias, kind: AVATAR, at, components }
        };
        harness.at(500).stamped(470).apply(&update);
        assert!((harness.positions(500)[0].1 - 4.2).abs() < 1e-4, "the state is the new path");
        assert!((harness.drawn(drawn_until) - before).abs() < 1e-4, "the picture stays");
        for t in drawn_until..drawn_until + 400 {
            let step_m = (harness.drawn(t + 1) - harness.drawn(t)).abs();
            // 10 m/s of its own, and 6 m/s of blending: 10 cm a frame.
            assert!(step_m < 0.016, "{step_m} m at {t}");
        }
        let blended = drawn_until + 200;
        assert_eq!(harness.drawn(blended), harness.positions(blended)[0].1);
    }
}

#[test]
fn the_same_late_path_again_does_not_prolong_its_blend() {
    let mut harness = walking_avatar();
    for now in (500..700).step_by(10) {
        let components = vec![(0, walk(&[(460, 4.6), (2_000, 4.6)]))];
        let alias = alias(1, 0);
        let at = ms(460);
        let update = Record::Update { alias, kind: AVATAR, at, components };
        harness.at(now).stamped(now - 30).apply(&update);
    }
    assert_eq!(harness.drawn(650), 4.6);
}

#[test]
fn a_late_path_that_jumps_is_drawn_at_no_place_between() {
    for (time, later) in [(460, false), (560, true)] {
        let mut harness = walking_avatar();
        let stop = vec![(0, walk(&[(400, 4.0)]))];
        let alias = alias(1, 0);
        let at = ms(400);
        let update = Record::Update { alias, kind: AVATAR, at, components: stop };
        harness.at(500).stamped(450).apply(&update);
        assert_eq!(harness.drawn(500), 5.0);
        let mut path = Timeline::starting_with(16, ms(time - 1), Waypoint::AS_KNOWN);
        path.insert(ms(time), Waypoint::jump(Position::on_ground(3.0, 0.0)));
        let components = vec![(0, Component::Path(path))];
        let update = Record::Update { alias, kind: AVATAR, at: ms(time), components };
        harness.at(500).stamped(480).apply(&update);
        if later {
            assert!((4.0..5.0).contains(&harness.drawn(time - 1)), "{}", harness.drawn(time - 1));
        }
        assert_eq!(harness.drawn(time.max(500)), 3.0);
    }
}

#[test]
fn an_update_before_the_enter_is_part_of_the_enter() {
    let mut harness = ReplicaHarness::new();
    harness.at(100).enter(alias(1, 0), 250, 5.0);
    assert_eq!(harness.at(110).stamped(110).walk(alias(1, 0), 250, 8.0), RecordOutcome::Nothing);
    assert_eq!(harness.at(250).emitted(), ["enter 1 at 8"]);
}

#[test]
fn components_that_an_enter_lacks_follow_in_updates() {
    let mut harness = ReplicaHarness::new();
    harness.at(100).enter(alias(1, 0), 100, 5.0);
    assert_eq!(harness.emitted().len(), 1);
    assert_eq!(harness.seen(1).value("level", ms(100)), None);
    let level = vec![(4, Component::Number(7))];
    harness.apply(&Record::Update {
        alias: alias(1, 0),
        kind: AVATAR,
        at: ms(100),
        components: level,
    });
    assert_eq!(harness.seen(1).value("level", ms(100)), Some(ComponentValue::Number(7)));
}

#[test]
fn a_record_of_another_kind_than_the_object_s_is_refused() {
    let mut harness = ReplicaHarness::new();
    harness.at(100).enter(alias(1, 0), 100, 5.0);
    let components = vec![(0, walk(&[(100, 9.0)]))];
    let update = Record::Update { alias: alias(1, 0), kind: STONE, at: ms(100), components };
    assert_eq!(harness.apply(&update), RecordOutcome::Refused);
    assert_eq!(harness.positions(100), [(1, 5.0)]);
}

#[test]
fn all_objects_leave_with_the_connection_and_ids_continue() {
    let mut harness = ReplicaHarness::new();
    harness.at(100).enter(alias(1, 0), 100, 5.0);
    harness.enter(alias(2, 0), 100, 6.0);
    harness.enter(alias(3, 0), 900, 7.0);
    assert_eq!(harness.emitted().len(), 2);
    harness.replica.clear(ms(150));
    assert_eq!(harness.emitted(), ["leave 1", "leave 2"]);
    let mut next = Replica::<()>::new(
        harness.replica.schema().clone(),
        LOCAL_LAG,
        TICK,
        harness.replica.last_id(),
        PoseDecoding::Full,
    );
    let record = Record::Enter {
        alias: alias(1, 0),
        kind: AVATAR,
        at: ms(0),
        own: true,
        components: Vec::new(),
    };
    next.apply(ReceivedDatagram { number: 0, stamp: ms(0), now: ms(0) }, &record);
    assert_eq!(next.last_id(), ClientObjectId(4));
}

#[test]
fn an_alias_resolves_until_its_object_is_no_longer_visible() {
    let mut harness = ReplicaHarness::new();
    harness.at(100).enter(alias(1, 0), 100, 5.0);
    harness.leave(alias(1, 0), 200);
    harness.enter(alias(1, 1), 200, 6.0);
    assert_eq!(harness.emitted(), ["enter 1 at 5"]);
    assert_eq!(
        (harness.replica.resolve(alias(1, 0)), harness.replica.resolve(alias(1, 1))),
        (Some(ClientObjectId(1)), Some(ClientObjectId(2)))
    );
    assert_eq!(harness.at(200).emitted(), ["leave 1", "enter 2 at 6"]);
    assert_eq!(harness.replica.resolve(alias(1, 0)), None);
}

#[test]
fn a_view_keeps_what_its_factory_made() {
    let mut replica = Replica::new(
        Arc::new(Schema::example()),
        LOCAL_LAG,
        TICK,
        ClientObjectId::default(),
        PoseDecoding::Full,
    );
    let mut factory =
        factory::FactoryByKind::new(|enter: &ObjectEntered| format!("{}!", enter.kind));
    let components = vec![(0, walk(&[(0, 1.0)]))];
    let enter =
        Record::Enter { alias: alias(1, 0), kind: STONE, at: ms(0), own: false, components };
    replica.apply(ReceivedDatagram { number: 0, stamp: ms(0), now: ms(0) }, &enter);
    replica.advance(ms(0), &mut factory);
    let id = ClientObjectId(1);
    assert_eq!(replica.get(id).expect("in sight").view, "stone!");
    replica.view_mut(id).expect("in sight").push('?');
    assert_eq!(
        replica.visible_objects().map(|seen| seen.view.clone()).collect::<Vec<_>>(),
        ["stone!?"]
    );
}

/// Random records for a few slots, late, duplicated and out of order. They violate the protocol, so
/// objects may be inconsistent, but events stay in order and nothing panics.
#[test]
fn random_records_do_not_panic() {
    for seed in 0..200 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut harness = ReplicaHarness::new();
        for _ in 0..200 {
            let now = rng.u64(0..1_000);
            let at = rng.u64(0..1_000);
            harness.at(harness.now.millis().max(now)).stamped(rng.u64(0..1_000));
            let alias = alias(rng.u16(0..3), rng.u8(0..4));
            let kind = rng.u8(0..4);
            let components = vec![(0, walk(&[(0, 1.0)]))];
            harness.apply(&match rng.u8(0..3) {
                0 => Record::Enter { alias, kind, at: ms(at), own: rng.bool(), components },
                1 => Record::Update { alias, kind, at: ms(at), components },
                _ => Record::Leave { alias, at: ms(at) },
            });
            harness.check_order(seed);
        }
    }
}

#[test]
fn records_in_any_order_lead_to_the_same_state() {
    for seed in 0..300 {
        Server::play(seed);
    }
}

/// A server that obeys the protocol: it reuses a slot, with the next epoch, once a `Leave` has
/// arrived, and sends an `Update` only after an `Enter` has arrived.
struct Server {
    rng: fastrand::Rng,
    now: u64,
    slots: Vec<ServerSlot>,
    /// By time of arrival.
    in_flight: Vec<(u64, u64, Record)>,
}

#[derive(Clone, Copy, Default)]
struct ServerSlot {
    epoch: u8,
    phase: Phase,
    x: f32,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Phase {
    #[default]
    Free,
    Entering,
    Live,
    Leaving,
}

impl Server {
    fn play(seed: u64) {
        let rng = fastrand::Rng::with_seed(seed);
        let mut server =
            Server { rng, now: 0, slots: vec![ServerSlot::default(); 4], in_flight: Vec::new() };
        let mut harness = ReplicaHarness::new();
        for _ in 0..400 {
            server.now += 10;
            server.send_random_record();
            server.deliver(&mut harness);
            harness.check_order(seed);
        }
        while !server.in_flight.is_empty() {
            server.now += 10;
            server.deliver(&mut harness);
        }
        harness.at(server.now + 1_000).emitted();
        let live =
            server.slots.iter().filter(|slot| matches!(slot.phase, Phase::Entering | Phase::Live));
        let mut expected = live.map(|slot| slot.x).collect::<Vec<_>>();
        let mut shown =
            harness.positions(server.now + 1_000).into_iter().map(|(_, x)| x).collect::<Vec<_>>();
        expected.sort_by(f32::total_cmp);
        shown.sort_by(f32::total_cmp);
        assert_eq!(shown, expected, "seed {seed}");
    }

    fn send_random_record(&mut self) {
        let slot = self.rng.usize(0..self.slots.len());
        let x = self.rng.u32(0..1_000) as f32;
        let at = ms(self.now + 150);
        let state = &mut self.slots[slot];
        let (alias, components) =
            (alias(slot as u16, state.epoch), vec![(0, walk(&[(self.now, x)]))]);
        let chance = self.rng.u8(0..4);
        let record = match (state.phase, chance) {
            (Phase::Free | Phase::Entering, _) => {
                (state.phase, state.x) = (Phase::Entering, x);
                Record::Enter { alias, kind: AVATAR, at, own: false, components }
            }
            (Phase::Live, 0) | (Phase::Leaving, _) => {
                state.phase = Phase::Leaving;
                Record::Leave { alias, at }
            }
            (Phase::Live, _) => {
                state.x = x;
                Record::Update { alias, kind: AVATAR, at, components }
            }
        };
        for _ in 0..self.rng.u32(1..3) {
            self.in_flight.push((self.now + self.rng.u64(20..500), self.now, record.clone()));
        }
    }

    fn deliver(&mut self, harness: &mut ReplicaHarness) {
        let now = self.now;
        let mut arrived =
            self.in_flight.extract_if(.., |(arrives, ..)| *arrives <= now).collect::<Vec<_>>();
        arrived.sort_by_key(|(arrives, ..)| *arrives);
        for (_, stamp, record) in arrived {
            harness.at(now).stamped(stamp).apply(&record);
            let alias = record.alias().expect("the record is about an object");
            let slot = &mut self.slots[usize::from(alias.slot)];
            match record {
                Record::Enter { .. }
                    if slot.epoch == alias.epoch && slot.phase == Phase::Entering =>
                {
                    slot.phase = Phase::Live;
                }
                Record::Leave { .. }
                    if slot.epoch == alias.epoch && slot.phase == Phase::Leaving =>
                {
                    *slot =
                        ServerSlot { epoch: slot.epoch.wrapping_add(1), ..ServerSlot::default() };
                }
                _ => {}
            }
        }
    }
}

struct ReplicaHarness {
    replica: Replica<()>,
    now: GameTime,
    stamp: GameTime,
    in_sight: BTreeSet<ClientObjectId>,
    last_enter: ClientObjectId,
}

impl ReplicaHarness {
    fn new() -> Self {
        let replica = Replica::new(
            Arc::new(Schema::example()),
            LOCAL_LAG,
            TICK,
            ClientObjectId::default(),
            PoseDecoding::Full,
        );
        ReplicaHarness {
            replica,
            now: ms(0),
            stamp: ms(0),
            in_sight: BTreeSet::new(),
            last_enter: ClientObjectId::default(),
        }
    }

    fn at(&mut self, now: u64) -> &mut Self {
        self.now = ms(now);
        self
    }

    fn stamped(&mut self, stamp: u64) -> &mut Self {
        self.stamp = ms(stamp);
        self
    }

    fn apply(&mut self, record: &Record) -> RecordOutcome {
        let datagram =
            ReceivedDatagram { number: self.stamp.millis(), stamp: self.stamp, now: self.now };
        let applied = self.replica.apply(datagram, record);
        self.replica.advance(self.now, &mut ());
        applied
    }

    fn enter(&mut self, alias: Alias, at: u64, x: f32) -> RecordOutcome {
        let components = vec![(0, walk(&[(0, x)]))];
        self.apply(&Record::Enter { alias, kind: AVATAR, at: ms(at), own: false, components })
    }

    fn walk(&mut self, alias: Alias, at: u64, x: f32) -> RecordOutcome {
        self.apply(&Record::Update {
            alias,
            kind: AVATAR,
            at: ms(at),
            components: vec![(0, walk(&[(0, x)]))],
        })
    }

    fn leave(&mut self, alias: Alias, at: u64) -> RecordOutcome {
        self.apply(&Record::Leave { alias, at: ms(at) })
    }

    fn seen(&self, id: u32) -> VisibleObject<'_, ()> {
        self.replica.get(ClientObjectId(id)).expect("in sight")
    }

    fn positions(&self, t: u64) -> Vec<(u32, f32)> {
        self.replica
            .visible_objects()
            .map(|seen| (seen.id.0, seen.position(ms(t)).expect("a path").x))
            .collect()
    }

    /// Where the first object is drawn.
    fn drawn(&self, t: u64) -> f32 {
        self.seen(1).drawn_position(ms(t)).expect("a path").x
    }

    fn emitted(&mut self) -> Vec<String> {
        self.replica.advance(self.now, &mut ());
        let emitted = std::iter::from_fn(|| self.replica.poll_event());
        emitted
            .map(|event| match event {
                GameEvent::Enter(enter) => {
                    format!("enter {} at {}", enter.id, enter.position.expect("it has a place").x)
                }
                GameEvent::Update(update) => {
                    let [NamedValue { value: ComponentValue::Path { position, .. }, .. }] =
                        &update.components[..]
                    else {
                        panic!("expected only a path: {update:?}")
                    };
                    format!("update {} at {}", update.id, position.x)
                }
                GameEvent::Leave { id, .. } => format!("leave {id}"),
                other => panic!("{other:?}"),
            })
            .collect()
    }

    /// Invariants 1 and 5.
    fn check_order(&mut self, seed: u64) {
        self.replica.advance(self.now, &mut ());
        while let Some(event) = self.replica.poll_event() {
            let is_consistent = match event {
                GameEvent::Enter(enter) => {
                    let is_new = enter.id > self.last_enter || !self.in_sight.contains(&enter.id);
                    self.last_enter = self.last_enter.max(enter.id);
                    is_new && self.in_sight.insert(enter.id)
                }
                GameEvent::Update(update) => self.in_sight.contains(&update.id),
                GameEvent::Leave { id, .. } => self.in_sight.remove(&id),
                _ => false,
            };
            assert!(is_consistent, "seed {seed}");
        }
        let in_sight = self.replica.visible_objects().map(|seen| seen.id).collect::<BTreeSet<_>>();
        assert_eq!(in_sight, self.in_sight, "seed {seed}");
    }
}

fn alias(slot: u16, epoch: u8) -> Alias {
    Alias { slot, epoch }
}

fn ms(ms: u64) -> GameTime {
    GameTime::from_millis(ms)
}

fn walk(points: &[(u64, f32)]) -> Component {
    let mut path = Timeline::new(16);
    for &(time, x) in points {
        path.insert(ms(time), Waypoint::walk(Position::on_ground(x, 0.0)));
    }
    Component::Path(path)
}
