//! Objects that are simulated, or should be.

use ambit_cubes_physics::{CUBE, GAME, PHYSICS, PLAYER, POSE_FORMAT, component, control};
use ambit_proto::ids::Alias;
use ambit_proto::message::Record;
use ambit_proto::physics::GamePhysics;
use ambit_proto::pose::{Pose, PoseCoding};
use ambit_proto::schema::{Codec, Component, ComponentSpec, Schema};
use ambit_proto::space::Position;
use ambit_proto::timeline::{StepValue, Timeline};

use super::*;
use crate::client::event::MapExtent;
use crate::client::own_inputs::OwnInput;
use crate::replica::{PoseDecoding, ReceivedDatagram};

const DELAY: Duration = Duration::from_millis(150);
const RIGHT: Keymap = Keymap(1 << control::RIGHT);

#[test]
fn a_falling_cube_is_drawn_falling_without_new_poses() {
    let mut harness = SimulatedHarness::new(PosePresentation::Simulated, false);
    harness.enter(CUBE, &falling());
    harness.run_for(300);
    let seen = harness.replica.get(OBJECT).expect("in sight");
    let t = ms(harness.now);
    let drawn = seen.drawn(ms(harness.now)).expect("it has a pose");
    let seconds = (harness.now - 1_000 - 150) as f32 / 1_000.0;
    let fallen = 9.81 * seconds * seconds / 2.0;
    assert!((drawn.position.z - (8.0 - fallen)).abs() < 0.1, "{drawn:?} after {seconds} s");
    assert_eq!((seen.position(t), drawn.room_time, seen.moves(t)), (Some(drawn.position), t, true));
    assert_eq!(seen.orientation(t), Some(drawn.quaternion));
    assert!(harness.simulated.next_due().is_some());
}

#[test]
fn a_kind_that_is_not_simulated_is_drawn_as_received() {
    let mut harness = SimulatedHarness::new(PosePresentation::Interpolated, false);
    harness.enter(CUBE, &falling());
    harness.run_for(300);
    assert_eq!(
        harness
            .replica
            .get(OBJECT)
            .and_then(|seen| seen.position(ms(harness.now)))
            .map(|position| position.z),
        Some(8.0)
    );
    assert_eq!((harness.simulated.next_due(), harness.simulated.stats().steps), (None, 0));
}

#[test]
fn other_players_cubes_are_steered_by_received_flags() {
    let mut harness = SimulatedHarness::new(PosePresentation::Simulated, false);
    harness.enter(PLAYER, &standing());
    harness.run_for(300);
    let before = harness.shown_x();
    let held = Component::Flag(Timeline::starting_with(4, ms(harness.now + 150), StepValue(true)));
    let (index, _) = component::HELD_CONTROLS[1];
    let update = Record::Update {
        alias: ALIAS,
        kind: PLAYER,
        at: ms(harness.now + 150),
        components: vec![(index, held)],
    };
    harness.apply_record(&update);
    harness.run_for(150);
    assert_eq!(harness.shown_x(), before);
    harness.run_for(500);
    assert!(harness.shown_x() > before + 0.5, "{}", harness.shown_x() - before);
}

#[test]
fn with_prediction_the_own_cube_responds_at_once() {
    for predict in [false, true] {
        let mut harness = SimulatedHarness::new(PosePresentation::Simulated, predict);
        harness.enter(PLAYER, &standing());
        harness.run_for(300);
        let before = harness.shown_x();
        harness.inputs = vec![harness.pressed(RIGHT)];
        harness.run_for(200);
        assert_eq!(harness.shown_x() > before + 0.05, predict, "{}", harness.shown_x() - before);
        let drawn = harness
            .replica
            .get(OBJECT)
            .and_then(|seen| seen.drawn(ms(harness.now)))
            .expect("it has a pose");
        assert_eq!(drawn.room_time, ms(harness.now + if predict { 190 } else { 0 }));
    }
}

#[test]
fn kinds_without_physics_are_named_and_drawn_as_received() {
    let other_grid = GamePhysics {
        kinds: &[SimulatedKind {
            kind: CUBE,
            format: ambit_cubes_physics::SNAPSHOT_POSE_FORMAT,
            held_controls: &[],
        }],
        ..PHYSICS
    };
    let cubes_only = GamePhysics {
        kinds: &[SimulatedKind { kind: CUBE, format: POSE_FORMAT, held_controls: &[] }],
        ..PHYSICS
    };
    for (physics, sync, missing) in [
        (None, PosePresentation::Simulated, &["cube", "player"][..]),
        (None, PosePresentation::Interpolated, &[]),
        (Some(PHYSICS), PosePresentation::Simulated, &[]),
        (Some(other_grid), PosePresentation::Simulated, &["cube", "player"]),
        (Some(cubes_only), PosePresentation::Simulated, &["player"]),
    ] {
        let mut harness = SimulatedHarness::with_physics(physics, sync);
        assert_eq!(harness.simulated.kinds_without_physics(), missing);
        harness.enter(PLAYER, &falling());
        harness.run_for(300);
        let is_simulated = sync == PosePresentation::Simulated && missing.is_empty();
        assert_eq!(harness.simulated.bodies(), usize::from(is_simulated));
        let z = harness.replica.get(OBJECT).and_then(|seen| seen.position(ms(harness.now)));
        assert_eq!(z.expect("in sight").z < 8.0, is_simulated);
    }
}

#[test]
fn physics_that_come_and_go_take_over_the_known_objects() {
    let mut harness = SimulatedHarness::with_physics(None, PosePresentation::Simulated);
    harness.enter(CUBE, &falling());
    harness.run_for(300);
    assert_eq!(harness.shown_z(), 8.0);
    harness.set_motion(Some(PHYSICS));
    let since = harness.now;
    harness.run_for(500);
    let seconds = (harness.now - since) as f32 / 1_000.0;
    let fallen = 8.0 - 9.81 * seconds * seconds / 2.0;
    let shown = harness.shown_z();
    assert!((shown - fallen).abs() < 0.1, "{shown} instead of {fallen}");
    let missing = harness.simulated.kinds_without_physics();
    assert_eq!((harness.simulated.bodies(), missing), (1, &[][..]));
    harness.set_motion(None);
    harness.run_for(100);
    let missing = harness.simulated.kinds_without_physics();
    assert_eq!((harness.simulated.bodies(), missing.len()), (0, 2));
    assert_eq!(harness.shown_z(), 8.0);
}

#[test]
fn physics_that_come_later_know_where_an_object_rests() {
    let mut harness = SimulatedHarness::with_physics(None, PosePresentation::Simulated);
    harness.enter(PLAYER, &standing());
    harness.run_for(3_000);
    harness.set_motion(Some(PHYSICS));
    harness.run_for(500);
    assert_eq!(harness.simulated.bodies(), 1);
    assert_eq!((harness.shown_x(), harness.shown_z()), (5.0, 0.5));
}

#[test]
fn an_invalid_map_is_not_simulated() {
    for width_m in [0.0, -1.0, 20_000.0, f32::NAN, f32::INFINITY] {
        let mut harness =
            SimulatedHarness::with_map_width(width_m, PosePresentation::Simulated, true);
        harness.enter(CUBE, &falling());
        harness.run_for(300);
        assert_eq!(
            (harness.simulated.bodies(), harness.simulated.stats().steps),
            (0, 0),
            "{width_m}"
        );
    }
}

/// The only object.
const ALIAS: Alias = Alias { slot: 3, epoch: 0 };
const OBJECT: ClientObjectId = ClientObjectId(1);

struct SimulatedHarness {
    rules: Rules,
    simulated: SimulatedObjects,
    replica: Replica<()>,
    now: u64,
    stamp: GameTime,
    received_until: u64,
    inputs: Vec<OwnInput>,
}

impl SimulatedHarness {
    fn new(sync: PosePresentation, predict: bool) -> Self {
        Self::with_map_width(32.0, sync, predict)
    }

    fn with_map_width(width_m: f32, sync: PosePresentation, predict: bool) -> Self {
        Self::with(Some(PHYSICS), width_m, sync, predict)
    }

    fn with_physics(physics: Option<GamePhysics>, sync: PosePresentation) -> Self {
        Self::with(physics, 32.0, sync, false)
    }

    fn with(
        physics: Option<GamePhysics>,
        width_m: f32,
        sync: PosePresentation,
        predict: bool,
    ) -> Self {
        let rules = Rules {
            now: GameTime::ZERO,
            delay: DELAY,
            tick_hz: 20,
            map: MapExtent { width_m, height_m: 32.0, cell_m: 10.0, ..MapExtent::default() },
            schema: Arc::new(schema(sync)),
            coding: PoseCoding::Auto,
        };
        let mut replica = Replica::new(
            rules.schema.clone(),
            DELAY,
            rules.tick(),
            ClientObjectId::default(),
            PoseDecoding::Full,
        );
        let simulated = SimulatedObjects::new(
            &rules,
            physics.map(SharedMotion::from),
            Some(predict),
            &mut replica,
        );
        SimulatedHarness {
            rules,
            simulated,
            replica,
            now: 1_000,
            stamp: GameTime::ZERO,
            received_until: 0,
            inputs: Vec::new(),
        }
    }

    fn enter(&mut self, kind: u8, pose: &Pose) {
        let mut components = vec![(0, Component::Pose(*pose))];
        if kind == PLAYER {
            components.extend(
                component::HELD_CONTROLS.map(|(index, _)| (index, Component::flag(ms(0), false))),
            );
        }
        self.apply_record(&Record::Enter {
            alias: ALIAS,
            kind,
            at: ms(self.now + 150),
            own: kind == PLAYER,
            components,
        });
    }

    fn apply_record(&mut self, record: &Record) {
        self.stamp = ms(self.now);
        self.received_until += 1;
        let datagram =
            ReceivedDatagram { number: self.received_until, stamp: self.stamp, now: self.stamp };
        self.replica.apply(datagram, record);
        self.replica.finish_datagram(datagram);
    }

    fn run_for(&mut self, for_ms: u64) {
        for now in self.now..=self.now + for_ms {
            self.replica.advance(ms(now), &mut ());
            let one_way = Duration::from_millis(40);
            let rtt = Duration::from_millis(80);
            let presses =
                PressedKeys::from_inputs(self.inputs.iter().copied(), Duration::from_millis(50));
            let presses = self.simulated.predicts().then_some(&presses);
            let clocks = SimulationClocks { now: ms(now), one_way, rtt, newest_stamp: self.stamp };
            self.simulated.advance(clocks, presses, &mut self.replica);
        }
        self.now += for_ms;
    }

    /// The player holds these keys from now on; the host applies them at their arrival.
    fn pressed(&self, keys: Keymap) -> OwnInput {
        OwnInput { at: ms(self.now), keys, effect: ms(self.now + 40 + 150), is_confirmed: false }
    }

    fn set_motion(&mut self, physics: Option<GamePhysics>) {
        self.simulated.set_motion(&self.rules, physics.map(SharedMotion::from), &mut self.replica);
    }

    fn shown_x(&self) -> f32 {
        self.shown().x
    }

    fn shown_z(&self) -> f32 {
        self.shown().z
    }

    fn shown(&self) -> Position {
        let seen = self.replica.get(OBJECT).expect("in sight");
        seen.position(ms(self.now)).expect("it has a pose")
    }
}

fn schema(sync: PosePresentation) -> Schema {
    let pose = ComponentSpec::public("pose", Codec::Pose(POSE_FORMAT));
    let flags = ["left", "right", "up", "down", "attract", "repel"]
        .map(|name| ComponentSpec::public(name, Codec::Flag));
    let player = [pose.clone()].into_iter().chain(flags).collect();
    let kind = |name: &str, components| ObjectKind {
        name: name.into(),
        components,
        presentation: sync,
        ..ObjectKind::default()
    };
    Schema {
        game: GAME.into(),
        kinds: vec![kind("cube", vec![pose]), kind("player", player)],
        ..Schema::default()
    }
}

fn falling() -> Pose {
    POSE_FORMAT.moving(
        Position::new(5.0, 5.0, 8.0),
        [0.0, 0.0, 0.0, 1.0],
        Some(([0.0; 3], [0.0; 3])),
    )
}

fn standing() -> Pose {
    POSE_FORMAT.moving(Position::new(5.0, 5.0, 0.5), [0.0, 0.0, 0.0, 1.0], None)
}

fn ms(ms: u64) -> GameTime {
    GameTime::from_millis(ms)
}
