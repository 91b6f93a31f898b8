//! Connects the replica with the client's own physics: received poses go to the simulation, and
//! drawn poses come back.
//!
//! Only kinds that the game's schema declares as simulated are simulated, and only by the physics
//! that the program has registered for the game. Other objects are drawn between their poses.
//!
//! Units: room time.

use std::sync::Arc;
use std::time::Duration;

use ambit_proto::cell::Grid;
use ambit_proto::keymap::Keymap;
use ambit_proto::map::StaticMap;
use ambit_proto::physics::{Arena, FRAMES_PER_S, GamePhysics, SimulatedKind, frame_time};
use ambit_proto::schema::{ObjectKind, PosePresentation};
use ambit_proto::time::GameTime;

use super::own_inputs::PressedKeys;
use super::rules::Rules;
use super::simulation_clocks::SimulationClocks;
use super::stats::SimulationStats;
use crate::replica::Replica;
use crate::replica::jitter_buffer::RenderLag;
use crate::replica::simulation_events::{KindSet, SimulationEvent};
use crate::simulation::{PredictionTarget, Simulation, SimulationTime};

/// Maximum number of frames that wait for a caller while anything moves: fewer than the simulation
/// steps in one call.
const MAX_PENDING_FRAMES: u64 = 6;

/// The simulated objects; see the module.
#[derive(Debug)]
pub(crate) struct SimulatedObjects {
    simulation: Option<Simulation>,
    kinds_without_physics: Vec<String>,
    predict: bool,
    delay: Duration,
    /// How far ahead of room time the player's own avatar is drawn.
    lead: Option<RenderLag>,
}

impl SimulatedObjects {
    /// Sets up the simulation of a game and tells the replica which kinds to report. `physics` is
    /// the one that the program has registered for this game. `predict` enables the prediction of
    /// the player's own avatar.
    pub(crate) fn new<V>(
        rules: &Rules,
        physics: Option<GamePhysics>,
        predict: bool,
        replica: &mut Replica<V>,
    ) -> Self {
        let (map, kinds) = (rules.map, &rules.schema.kinds);
        // Don't trust the host: a map of invalid size has no floor.
        let is_floor = Grid::try_new(map.width_m, map.height_m, map.cell_m).is_some();
        let physics = physics.filter(|_| is_floor);
        let should_be = |kind: &ObjectKind| kind.presentation == PosePresentation::Simulated;
        let is_simulated = |(index, kind): (usize, &ObjectKind)| {
            let format = kind.pose_format().filter(|_| should_be(kind));
            let simulator = physics.zip(format);
            simulator.is_some_and(|(physics, format)| physics.simulates(index as u8, format))
        };
        let is_missing =
            |&(index, kind): &(usize, &ObjectKind)| should_be(kind) && !is_simulated((index, kind));
        let missing = kinds.iter().enumerate().filter(is_missing);
        let kinds_without_physics = missing.map(|(_, kind)| kind.name.clone()).collect();
        let simulated: KindSet = kinds.iter().enumerate().map(is_simulated).collect();
        let arena = Arena {
            width_m: map.width_m,
            height_m: map.height_m,
        };
        let tick_frames = (FRAMES_PER_S / u64::from(rules.tick_hz.max(1))).max(1);
        let simulation = physics
            .filter(|_| replica.enable_simulation(simulated))
            .map(|physics| Simulation::new(physics, arena, tick_frames));
        SimulatedObjects {
            simulation,
            kinds_without_physics,
            predict,
            delay: rules.delay,
            lead: None,
        }
    }

    /// The kinds that should be simulated, but for which there is no physics, by name.
    pub(crate) fn kinds_without_physics(&self) -> &[String] {
        &self.kinds_without_physics
    }

    /// The static map has arrived.
    pub(crate) fn set_map(&mut self, map: Arc<StaticMap>) {
        if let Some(simulation) = &mut self.simulation {
            simulation.set_map(map);
        }
    }

    /// Whether the player's own avatar is predicted from the pressed keys.
    pub(crate) fn predicts(&self) -> bool {
        self.predict && self.simulation.is_some()
    }

    /// Simulates up to the shown time and writes the drawn poses to the replica; predicts the
    /// player's own avatar if `presses` are given.
    pub(crate) fn advance<V>(
        &mut self,
        clocks: SimulationClocks,
        presses: Option<&PressedKeys>,
        replica: &mut Replica<V>,
    ) {
        let Some(simulation) = &mut self.simulation else {
            return;
        };
        while let Some(event) = replica.poll_simulation_event() {
            match event {
                SimulationEvent::Enter { id, kind, own } => simulation.enter(id, kind, own),
                SimulationEvent::Pose { id, stamp, pose } => {
                    simulation.handle_pose(id, stamp + self.delay, &pose);
                }
                SimulationEvent::Leave { id } => simulation.leave(id),
            }
        }
        let now = clocks.now;
        let times = SimulationTime {
            shown: replica.lag().shown_time(now),
            received_until: clocks.newest_stamp + self.delay,
            rtt: clocks.rtt,
        };
        let lead = prediction_lead(&mut self.lead, now, clocks.one_way + self.delay);
        let ahead = presses.map(|presses| PredictionTarget {
            horizon: now + lead,
            presses,
        });
        let keys = |id: u32, kind: &SimulatedKind, t: GameTime| {
            let held = kind
                .held_controls
                .iter()
                .filter(|(index, _)| replica.is_set(id, usize::from(*index), t));
            held.fold(Keymap::default(), |keys, (_, control)| {
                keys.with(*control, true)
            })
        };
        simulation.advance(times, ahead.as_ref(), &keys);
        for (id, drawing) in simulation.changed() {
            replica.draw(id, drawing);
        }
    }

    /// When the next simulation step is due if the view does not draw before; in shown time.
    pub(crate) fn next_due(&self) -> Option<GameTime> {
        let simulation = self
            .simulation
            .as_ref()
            .filter(|simulation| simulation.is_busy())?;
        Some(frame_time(simulation.frame()? + MAX_PENDING_FRAMES))
    }

    /// Number of bodies.
    pub(crate) fn bodies(&self) -> usize {
        self.simulation.as_ref().map_or(0, Simulation::bodies)
    }

    /// What was counted so far.
    pub(crate) fn stats(&self) -> SimulationStats {
        self.simulation
            .as_ref()
            .map(|simulation| simulation.stats().clone())
            .unwrap_or_default()
    }
}

/// How far ahead the player's own avatar is drawn at `now`; changes slowly towards `wanted`.
fn prediction_lead(lead: &mut Option<RenderLag>, now: GameTime, wanted: Duration) -> Duration {
    let lead = lead.get_or_insert(RenderLag::constant(wanted));
    lead.slew_to(now, wanted);
    lead.at(now)
}

#[cfg(test)]
mod tests {
    use ambit_cubes_physics::{CUBE, GAME, PHYSICS, PLAYER, POSE_FORMAT, component, control};
    use ambit_proto::ids::Alias;
    use ambit_proto::message::Record;
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
        let seen = harness.replica.get(1).expect("in sight");
        let (t, drawn) = (
            ms(harness.now),
            seen.drawn(ms(harness.now)).expect("it has a pose"),
        );
        let seconds = (harness.now - 1_000 - 150) as f32 / 1_000.0;
        let fallen = 9.81 * seconds * seconds / 2.0;
        assert!(
            (drawn.position.z - (8.0 - fallen)).abs() < 0.1,
            "{drawn:?} after {seconds} s"
        );
        assert_eq!(
            (seen.position(t), drawn.room_time, seen.moves(t)),
            (Some(drawn.position), t, true)
        );
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
                .get(1)
                .and_then(|seen| seen.position(ms(harness.now)))
                .map(|position| position.z),
            Some(8.0)
        );
        assert_eq!(
            (
                harness.simulated.next_due(),
                harness.simulated.stats().steps
            ),
            (None, 0)
        );
    }

    #[test]
    fn other_players_cubes_are_steered_by_received_flags() {
        let mut harness = SimulatedHarness::new(PosePresentation::Simulated, false);
        harness.enter(PLAYER, &standing());
        harness.run_for(300);
        let before = harness.shown_x();
        let held = Component::Flag(Timeline::starting_with(
            4,
            ms(harness.now + 150),
            StepValue(true),
        ));
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
        assert!(
            harness.shown_x() > before + 0.5,
            "{}",
            harness.shown_x() - before
        );
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
            assert_eq!(
                harness.shown_x() > before + 0.05,
                predict,
                "{}",
                harness.shown_x() - before
            );
            let drawn = harness
                .replica
                .get(1)
                .and_then(|seen| seen.drawn(ms(harness.now)))
                .expect("it has a pose");
            assert_eq!(
                drawn.room_time,
                ms(harness.now + if predict { 190 } else { 0 })
            );
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
            kinds: &[SimulatedKind {
                kind: CUBE,
                format: POSE_FORMAT,
                held_controls: &[],
            }],
            ..PHYSICS
        };
        for (physics, sync, missing) in [
            (None, PosePresentation::Simulated, &["cube", "player"][..]),
            (None, PosePresentation::Interpolated, &[]),
            (Some(PHYSICS), PosePresentation::Simulated, &[]),
            (
                Some(other_grid),
                PosePresentation::Simulated,
                &["cube", "player"],
            ),
            (Some(cubes_only), PosePresentation::Simulated, &["player"]),
        ] {
            let mut harness = SimulatedHarness::with_physics(physics, sync);
            assert_eq!(harness.simulated.kinds_without_physics(), missing);
            harness.enter(PLAYER, &falling());
            harness.run_for(300);
            let is_simulated = sync == PosePresentation::Simulated && missing.is_empty();
            assert_eq!(harness.simulated.bodies(), usize::from(is_simulated));
            let z = harness
                .replica
                .get(1)
                .and_then(|seen| seen.position(ms(harness.now)));
            assert_eq!(z.expect("in sight").z < 8.0, is_simulated);
        }
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

    const ALIAS: Alias = Alias { slot: 3, epoch: 0 };

    struct SimulatedHarness {
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
                map: MapExtent {
                    width_m,
                    height_m: 32.0,
                    cell_m: 10.0,
                    ..MapExtent::default()
                },
                schema: Arc::new(schema(sync)),
                coding: PoseCoding::Auto,
            };
            let mut replica = Replica::new(rules.schema.clone(), DELAY, 0, PoseDecoding::Full);
            let simulated = SimulatedObjects::new(&rules, physics, predict, &mut replica);
            SimulatedHarness {
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
                    component::HELD_CONTROLS
                        .map(|(index, _)| (index, Component::flag(ms(0), false))),
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
            let datagram = ReceivedDatagram {
                number: self.received_until,
                stamp: self.stamp,
                now: self.stamp,
            };
            self.replica.apply(datagram, record);
            self.replica.finish_datagram(datagram);
        }

        fn run_for(&mut self, for_ms: u64) {
            for now in self.now..=self.now + for_ms {
                self.replica.advance(ms(now), &mut ());
                let (one_way, rtt) = (Duration::from_millis(40), Duration::from_millis(80));
                let presses = PressedKeys::from_inputs(
                    self.inputs.iter().copied(),
                    Duration::from_millis(50),
                );
                let presses = self.simulated.predicts().then_some(&presses);
                let clocks = SimulationClocks {
                    now: ms(now),
                    one_way,
                    rtt,
                    newest_stamp: self.stamp,
                };
                self.simulated.advance(clocks, presses, &mut self.replica);
            }
            self.now += for_ms;
        }

        /// The player holds these keys from now on; the host applies them at their arrival.
        fn pressed(&self, keys: Keymap) -> OwnInput {
            OwnInput {
                at: ms(self.now),
                keys,
                effect: ms(self.now + 40 + 150),
                is_confirmed: false,
            }
        }

        fn shown_x(&self) -> f32 {
            self.replica
                .get(1)
                .and_then(|seen| seen.position(ms(self.now)))
                .expect("in sight")
                .x
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
}
