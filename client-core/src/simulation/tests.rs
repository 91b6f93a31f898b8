//! A host that simulates and sends, a path with loss and delay, and a client that draws frame by
//! frame.

use ambit_cubes_physics::{CUBE, CUBE_EDGE_M, PLAYER_EDGE_M, RandomDriver, control};
use ambit_proto::space::Position;
use fastrand::Rng;

use super::*;
use crate::client::own_inputs::{EffectEstimator, OwnInput, PressedKeys};
use crate::replica::drawing::DrawnObject;

const ARENA: Arena = Arena {
    width_m: 20.0,
    height_m: 20.0,
};
const DELAY: Duration = Duration::from_millis(150);
/// One-way delay: three frames.
const ONE_WAY_DELAY: Duration = Duration::from_millis(50);
const PLAYER_ID: u32 = 1;
const RIGHT: Keymap = Keymap(1 << control::RIGHT);

#[test]
fn the_player_may_get_a_second_cube_and_lose_the_first() {
    let mut client = Simulation::new(
        Arena {
            width_m: 32.0,
            height_m: 32.0,
        },
        3,
    );
    let pose = |x: f32| POSE_FORMAT.moving(Position::new(x, 16.0, 0.5), rotation::IDENTITY, None);
    let presses = PressedKeys::from_inputs(std::iter::empty(), Duration::from_millis(50));
    let draw = |client: &mut Simulation, ms: u64| {
        let shown = GameTime::from_millis(ms);
        let ahead = PredictionTarget {
            horizon: shown + ONE_WAY_DELAY + DELAY,
            presses: &presses,
        };
        client.advance(
            SimulationTime {
                shown,
                received_until: shown,
                rtt: 2 * ONE_WAY_DELAY,
            },
            Some(&ahead),
            &|_, _| Keymap::default(),
        );
    };
    for (id, ms) in [(1, 1_000), (2, 1_100)] {
        client.enter(id, PLAYER, true);
        client.handle_pose(id, GameTime::from_millis(ms), &pose(4.0 * id as f32));
        draw(&mut client, ms + 50);
    }
    client.leave(1);
    draw(&mut client, 1_250);
    let drawn = client
        .drawing(2)
        .and_then(|drawing| drawing.at(GameTime::from_millis(1_250)))
        .expect("it exists");
    assert!((drawn.position.x - 8.0).abs() < 0.01, "{drawn:?}");
}

#[test]
fn without_loss_every_frame_is_drawn_as_the_host_has_it() {
    let mut harness = SimulationHarness::new(PathConditions {
        tick_frames: 1,
        ..PathConditions::default()
    });
    harness.run(10);
    harness.drive(600);
    let max_error = harness.errors.quantile(1.0);
    assert!(max_error <= 1e-5, "{max_error} m");
    let stats = harness.client.stats();
    assert_eq!(
        (stats.corrections.count(), stats.late_poses, stats.restored),
        (0, 0, 0)
    );
}

#[test]
fn at_20_hz_physics_fills_the_frames_without_poses() {
    let mut harness = SimulationHarness::new(PathConditions {
        tick_frames: 3,
        ..PathConditions::default()
    });
    harness.drive(600);
    let (p50, p99) = (harness.errors.quantile(0.5), harness.errors.quantile(0.99));
    assert!(p50 <= 0.002 && p99 <= 0.03, "{p50} and {p99} m");
}

#[test]
fn with_37_percent_loss_at_60_hz_errors_stay_small_and_converge() {
    for seed in 1..=3 {
        let mut harness = SimulationHarness::new(PathConditions {
            tick_frames: 1,
            loss: 0.37,
            jitter_ms: 30,
            seed,
        });
        harness.drive(600);
        let (p50, p99) = (harness.errors.quantile(0.5), harness.errors.quantile(0.99));
        assert!(
            p50 <= 0.005 && p99 <= 0.05,
            "seed {seed}: {p50} and {p99} m"
        );
        harness.come_to_rest();
        harness.assert_drawn_at_host_poses();
    }
}

#[test]
fn with_13_percent_loss_at_20_hz_errors_stay_small_and_converge() {
    for seed in 1..=3 {
        let mut harness = SimulationHarness::new(PathConditions {
            tick_frames: 3,
            loss: 0.13,
            jitter_ms: 30,
            seed,
        });
        harness.drive(600);
        let (p50, p99) = (harness.errors.quantile(0.5), harness.errors.quantile(0.99));
        assert!(p50 <= 0.01 && p99 <= 0.10, "seed {seed}: {p50} and {p99} m");
        harness.come_to_rest();
        harness.assert_drawn_at_host_poses();
    }
}

#[test]
fn no_drawn_object_jumps() {
    let mut harness = SimulationHarness::new(PathConditions {
        tick_frames: 3,
        loss: 0.37,
        jitter_ms: 300,
        seed: 5,
    });
    harness.driver = Some(RandomDriver::new(5, 3));
    let mut before: BTreeMap<u32, Position> = BTreeMap::new();
    for _ in 0..600 {
        harness.frame();
        for id in harness.ids() {
            let Some(drawn) = harness.drawn(id) else {
                continue;
            };
            if let Some(before) = before.insert(id, drawn.position) {
                // No object is faster than 15 m/s, and a large offset decays by 15 % a
                // frame.
                let moved = before.distance(drawn.position);
                assert!(
                    moved < 0.25 + 0.15 * crate::replica::error_smoothing::SNAP_M,
                    "{id} jumped by {moved} m"
                );
            }
        }
    }
    assert!(
        harness.client.stats().late_poses > 100,
        "{}",
        harness.client.stats().late_poses
    );
}

#[test]
fn a_resting_cube_pushed_only_on_the_client_is_restored() {
    let mut harness = SimulationHarness::at_rest();
    let (id, body) = harness.pick_cube();
    let sent_poses = harness.server.pose(body);
    // The cube is pushed in the client's simulation only.
    let body_on_client = harness.client.cubes[&id].body.expect("it exists");
    let position = POSE_FORMAT.position(&sent_poses);
    let pushed = POSE_FORMAT.moving(
        position,
        POSE_FORMAT.quaternion(&sent_poses),
        Some(([2.0, 0.0, 0.0], [0.0; 3])),
    );
    harness.client.physics.set_pose(body_on_client, &pushed);
    harness.run(6);
    assert!(
        harness
            .drawn(id)
            .expect("drawn")
            .position
            .distance(position)
            > 0.02
    );
    harness.run(60);
    assert_eq!(
        (harness.client.pose(id), harness.client.stats().restored),
        (Some(sent_poses), 1)
    );
    harness.run(120);
    assert_eq!(harness.drawn(id).expect("drawn").position, position);
}

#[test]
fn nothing_is_restored_while_the_host_is_silent() {
    let mut harness = SimulationHarness::at_rest();
    let (id, body) = harness.pick_cube();
    let sent_poses = harness.server.pose(body);
    let body_on_client = harness.client.cubes[&id].body.expect("it exists");
    let pushed = POSE_FORMAT.moving(
        POSE_FORMAT.position(&sent_poses),
        POSE_FORMAT.quaternion(&sent_poses),
        Some(([2.0, 0.0, 0.0], [0.0; 3])),
    );
    harness.client.physics.set_pose(body_on_client, &pushed);
    harness.path.loss = 1.0;
    harness.run(90);
    assert_ne!(harness.client.pose(id), Some(sent_poses));
    harness.path.loss = 0.0;
    harness.run(60);
    assert_eq!(harness.client.pose(id), Some(sent_poses));
}

#[test]
fn a_late_pose_is_extrapolated_unless_the_simulation_was_right() {
    let mut client = Simulation::new(ARENA, 1);
    client.enter(7, CUBE, false);
    let pose = |x, speed| {
        POSE_FORMAT.moving(
            Position::new(x, 5.0, 5.0),
            rotation::IDENTITY,
            Some(([speed, 0.0, 0.0], [0.0; 3])),
        )
    };
    client.handle_pose(7, frame_time(100), &pose(5.0, 1.0));
    client.advance(at(100), None, &no_keys);
    client.advance(at(106), None, &no_keys);
    let body_on_client = client.pose(7).expect("it exists");
    // The host's pose of frame 103 equals the client's: nothing changes.
    let was = client.cubes[&7]
        .past
        .iter()
        .find(|(frame, _)| *frame == 103)
        .expect("the frame is in the history")
        .1;
    client.handle_pose(7, frame_time(103), &was);
    assert_eq!(
        (client.pose(7), client.stats().corrections.count()),
        (Some(body_on_client), 0)
    );
    // The host's pose of frame 104 differs.
    client.handle_pose(7, frame_time(104), &pose(6.0, 3.0));
    let moved = POSE_FORMAT.position(&client.pose(7).expect("it exists"));
    assert!((moved.x - 6.1).abs() < 1e-3, "{moved:?}");
    // The host's pose of frame 102 is too old to have an effect.
    client.handle_pose(7, frame_time(102), &pose(9.0, 3.0));
    assert_eq!(
        POSE_FORMAT.position(&client.pose(7).expect("it exists")),
        moved
    );
    assert_eq!(client.stats().late_poses, 2);
}

#[test]
fn a_client_that_joins_late_sees_all_objects() {
    let mut harness = SimulationHarness::new(PathConditions::default());
    harness.drive(200);
    harness.client = Simulation::new(ARENA, 1);
    harness.enter_all();
    harness.errors = Errors::default();
    harness.run(30);
    harness.errors = Errors::default();
    harness.drive(100);
    assert!(
        harness.errors.quantile(0.99) < 0.05,
        "{} m",
        harness.errors.quantile(0.99)
    );
    harness.come_to_rest();
    harness.assert_drawn_at_host_poses();
}

#[test]
fn poses_of_an_object_that_left_change_nothing() {
    let mut harness = SimulationHarness::new(PathConditions::default());
    harness.drive(100);
    let (id, body) = harness.pick_cube();
    let all = harness.client.bodies();
    harness.client.leave(id);
    let pose = harness.server.pose(body);
    harness
        .client
        .handle_pose(id, frame_time(harness.frame + 5), &pose);
    harness.run(20);
    assert_eq!(
        (
            harness.client.bodies(),
            harness.client.pose(id),
            harness.client.drawing(id)
        ),
        (all - 1, None, None)
    );
}

#[test]
fn the_same_calls_give_the_same_bits() {
    let run = || {
        let mut harness = SimulationHarness::new(PathConditions {
            tick_frames: 3,
            loss: 0.2,
            jitter_ms: 60,
            seed: 9,
        });
        harness.drive(300);
        harness
            .ids()
            .map(|id| {
                (
                    harness.client.pose(id),
                    harness.drawn(id).map(|drawn| drawn.quaternion),
                )
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(run(), run());
}

#[test]
fn after_a_long_pause_objects_are_at_their_last_received_poses() {
    let mut harness = SimulationHarness::new(PathConditions::default());
    harness.drive(60);
    harness.is_paused = true;
    harness.drive(300);
    harness.is_paused = false;
    let steps = harness.client.stats().steps;
    harness.frame();
    assert_eq!(harness.client.stats().steps, steps);
    harness.drive(60);
    harness.come_to_rest();
    harness.assert_drawn_at_host_poses();
}

#[test]
fn the_own_cube_responds_at_once_and_converges_to_the_host() {
    for (loss, jitter_ms) in [(0.0, 0), (0.1, 30)] {
        let mut harness = SimulationHarness::new(PathConditions {
            tick_frames: 3,
            loss,
            jitter_ms,
            seed: 4,
        });
        harness.predict = true;
        harness.run(60);
        let x = |harness: &SimulationHarness| harness.drawn(PLAYER_ID).expect("drawn").position.x;
        let start = x(&harness);
        harness.press(RIGHT);
        // The client draws the effect of the next tick: after at most three frames, and one more to
        // move.
        harness.run(6);
        assert!(x(&harness) > start + 0.002, "{}", x(&harness) - start);
        harness.run(54);
        assert!(x(&harness) > start + 1.5);
        harness.press(Keymap::default());
        harness.come_to_rest();
        harness.assert_drawn_at_host_poses();
        let drawn = harness.drawn(PLAYER_ID).expect("drawn");
        let truth = harness.server.pose(harness.bodies[&PLAYER_ID]);
        assert_eq!(
            (drawn.position, drawn.at_rest),
            (POSE_FORMAT.position(&truth), true),
            "{loss}"
        );
    }
}

#[test]
fn predictions_of_the_own_cube_match_the_host() {
    let mut harness = SimulationHarness::new(PathConditions {
        tick_frames: 3,
        ..PathConditions::default()
    });
    harness.predict = true;
    harness.run(60);
    let mut predicted: BTreeMap<u64, Position> = BTreeMap::new();
    let mut errors = Errors::default();
    // A collision at 6 m/s may end differently: an edge that hits a frame later changes the
    // direction.
    for frame in 0..400 {
        match frame {
            0 | 150 => harness.press(RIGHT),
            60 | 300 => harness.press(Keymap(1 << control::LEFT)),
            _ => {}
        }
        harness.frame();
        let drawn = harness.drawn(PLAYER_ID).expect("drawn");
        predicted.insert(frame_at(drawn.room_time), drawn.position);
        if let Some(predicted) = predicted.get(&harness.frame) {
            errors.add(
                predicted.distance(
                    POSE_FORMAT.position(&harness.server.pose(harness.bodies[&PLAYER_ID])),
                ),
            );
        }
    }
    assert!(
        errors.quantile(0.5) < 0.03 && errors.quantile(0.99) < 0.2,
        "{} and {}",
        errors.quantile(0.5),
        errors.quantile(0.99)
    );
}

#[test]
fn a_tap_shorter_than_a_datagram_is_predicted_as_the_host_applies_it() {
    let mut harness = SimulationHarness::alone(PathConditions {
        tick_frames: 3,
        ..PathConditions::default()
    });
    harness.predict = true;
    harness.come_to_rest();
    let (mut predicted, mut highest) = (BTreeMap::new(), 0.0_f32);
    let mut errors = Errors::default();
    for frame in 0..400 {
        let held = if (20..200).contains(&frame) {
            RIGHT
        } else {
            Keymap::default()
        };
        match frame {
            20 | 200 => harness.press(held),
            50 | 90 | 260 => {
                harness.press(held.with(control::JUMP, true));
                harness.press(held);
            }
            140 | 330 => {
                harness.press(Keymap(1 << control::UP));
                harness.press(held);
            }
            _ => {}
        }
        harness.frame();
        let drawn = harness.drawn(PLAYER_ID).expect("drawn");
        predicted.insert(frame_at(drawn.room_time), drawn.position);
        if let Some(predicted) = predicted.get(&harness.frame) {
            let truth = POSE_FORMAT.position(&harness.server.pose(harness.bodies[&PLAYER_ID]));
            errors.add(predicted.distance(truth));
            highest = highest.max(truth.z);
        }
    }
    assert!(highest > 1.2, "the highest position is {highest} m");
    // A difference of less than half a centimetre from the host's pose causes no reconciliation.
    assert!(
        errors.quantile(0.5) < 0.001 && errors.quantile(1.0) < 0.005,
        "{} m",
        errors.quantile(1.0)
    );
}

fn no_keys(_: u32, _: GameTime) -> Keymap {
    Keymap::default()
}

fn at(frame: u64) -> SimulationTime {
    SimulationTime {
        shown: frame_time(frame),
        received_until: frame_time(frame),
        rtt: 2 * ONE_WAY_DELAY,
    }
}

/// How the host sends, and the conditions of the path.
#[derive(Clone, Copy)]
struct PathConditions {
    tick_frames: u64,
    loss: f64,
    jitter_ms: u64,
    seed: u64,
}

impl Default for PathConditions {
    fn default() -> Self {
        PathConditions {
            tick_frames: 1,
            loss: 0.0,
            jitter_ms: 0,
            seed: 1,
        }
    }
}

/// The contents of a datagram.
struct Datagram {
    arrives: GameTime,
    stamp_frame: u64,
    poses: Vec<(u32, Pose)>,
}

struct SimulationHarness {
    path: PathConditions,
    rng: Rng,
    server: Physics,
    bodies: BTreeMap<u32, BodyId>,
    /// The host's frame: that of its horizon.
    frame: u64,
    driver: Option<RandomDriver>,
    keys: Keymap,
    /// The player's flags, with the times from which they are valid.
    flags: Vec<(GameTime, Keymap)>,
    /// The last pose sent of each object, and whether it has arrived.
    sent_poses: BTreeMap<u32, (Pose, bool)>,
    in_flight: Vec<Datagram>,
    truth: VecDeque<(u64, BTreeMap<u32, Pose>)>,
    client: Simulation,
    received_until: GameTime,
    errors: Errors,
    /// Whether the client draws nothing.
    is_paused: bool,
    predict: bool,
    inputs: Vec<OwnInput>,
}

impl SimulationHarness {
    /// 64 cubes in a square, and a player's cube in their middle.
    fn new(path: PathConditions) -> Self {
        Self::with(path, 64)
    }

    /// A player's cube without other cubes.
    fn alone(path: PathConditions) -> Self {
        Self::with(path, 0)
    }

    fn with(path: PathConditions, cubes: u8) -> Self {
        let mut server = Physics::new(ARENA);
        let at_rest =
            |x, y, z| POSE_FORMAT.moving(Position::new(x, y, z), rotation::IDENTITY, None);
        let player = server.add(PLAYER, &at_rest(10.0, 10.0, PLAYER_EDGE_M / 2.0));
        let mut bodies = BTreeMap::from([(PLAYER_ID, player)]);
        for n in 0..cubes {
            let (x, y) = (f32::from(n % 8), f32::from(n / 8));
            let pose = at_rest(6.3 + x, 6.3 + y, CUBE_EDGE_M / 2.0);
            bodies.insert(10 + u32::from(n), server.add(CUBE, &pose));
        }
        let (flags, sent_poses, in_flight, truth, errors, inputs) = Default::default();
        let mut harness = SimulationHarness {
            path,
            rng: Rng::with_seed(path.seed),
            server,
            bodies,
            frame: 60,
            driver: None,
            keys: Keymap::default(),
            flags,
            sent_poses,
            in_flight,
            truth,
            client: Simulation::new(ARENA, 1),
            received_until: GameTime::ZERO,
            errors,
            is_paused: false,
            predict: false,
            inputs,
        };
        harness.enter_all();
        harness
    }

    /// 64 cubes and a player's cube, all at rest and known to the client.
    fn at_rest() -> Self {
        let mut harness = SimulationHarness::new(PathConditions::default());
        harness.come_to_rest();
        harness.assert_drawn_at_host_poses();
        harness
    }

    fn enter_all(&mut self) {
        for &id in self.bodies.keys() {
            self.client.enter(
                id,
                if id == PLAYER_ID { PLAYER } else { CUBE },
                id == PLAYER_ID,
            );
        }
        self.sent_poses.clear();
    }

    fn ids(&self) -> impl Iterator<Item = u32> + use<> {
        self.bodies.keys().copied().collect::<Vec<_>>().into_iter()
    }

    fn pick_cube(&self) -> (u32, BodyId) {
        (30, self.bodies[&30])
    }

    fn room_now(&self) -> GameTime {
        frame_time(self.frame).saturating_sub(DELAY)
    }

    fn drawn(&self, id: u32) -> Option<DrawnObject> {
        self.client.drawing(id)?.at(self.room_now())
    }

    /// Drives the player's cube at random for this many frames.
    fn drive(&mut self, frames: u64) {
        self.driver = Some(RandomDriver::new(self.path.seed, 3));
        self.run(frames);
        self.driver = None;
        self.keys = Keymap::default();
    }

    /// Runs until all objects are at rest, and some frames longer.
    fn come_to_rest(&mut self) {
        for _ in 0..10 {
            self.run(300);
            if self
                .bodies
                .values()
                .all(|&body| self.server.pose(body).flag)
            {
                return self.run(300);
            }
        }
    }

    fn run(&mut self, frames: u64) {
        (0..frames).for_each(|_| self.frame());
    }

    /// The player holds these keys from now on; the host reads them one one-way delay later.
    fn press(&mut self, keys: Keymap) {
        let at = self.room_now();
        let estimator = EffectEstimator {
            one_way_delay: ONE_WAY_DELAY,
            newest_tick: self.newest_tick(),
            tick: self.tick(),
            delay: DELAY,
        };
        self.inputs.push(OwnInput {
            at,
            keys,
            effect: estimator.estimate_effect(at),
            is_confirmed: false,
        });
    }

    /// The newest tick that the client has received.
    fn newest_tick(&self) -> GameTime {
        self.received_until.saturating_sub(DELAY)
    }

    fn tick(&self) -> Duration {
        Duration::from_micros(self.path.tick_frames * 1_000_000 / FRAMES_PER_S)
    }

    fn frame(&mut self) {
        let player = self.bodies[&PLAYER_ID];
        let previous = self.server.keys(player).previous;
        self.server.set_keys(
            player,
            Keys {
                previous,
                current: self.keys,
            },
        );
        self.server.step();
        self.frame += 1;
        let poses = self
            .bodies
            .iter()
            .map(|(&id, &body)| (id, self.server.pose(body)))
            .collect();
        self.truth.push_back((self.frame, poses));
        if self.truth.len() > 60 {
            self.truth.pop_front();
        }
        if self.frame.is_multiple_of(self.path.tick_frames) {
            self.read_keys();
            self.send();
        }
        self.receive();
        if !self.is_paused {
            self.draw();
        }
    }

    /// Reads the player's keys in a tick, when the world is at its horizon. They act in the next
    /// steps.
    fn read_keys(&mut self) {
        let now = self.room_now();
        if let Some(driver) = &mut self.driver {
            let place = POSE_FORMAT.position(&self.server.pose(self.bodies[&PLAYER_ID]));
            self.keys = driver
                .keys(self.frame, [place.x, place.y], ARENA)
                .with(control::JUMP, false);
        } else {
            self.keys =
                PressedKeys::from_inputs(self.inputs.iter().copied(), self.tick()).at(now + DELAY);
        }
        // Jumps are not sent, as in the game.
        let flags = self.keys.with(control::JUMP, false);
        if self.flags.last().is_none_or(|(_, keys)| *keys != flags) {
            self.flags.push((now + DELAY, flags));
        }
    }

    /// Sends everything that moves, and poses at rest until they have arrived.
    fn send(&mut self) {
        let mut poses = Vec::new();
        for (&id, &body) in &self.bodies {
            let pose = self.server.pose(body);
            let is_known = self
                .sent_poses
                .get(&id)
                .is_some_and(|(sent_poses, arrived)| *sent_poses == pose && *arrived);
            if !pose.flag || !is_known {
                poses.push((id, pose));
                self.sent_poses.insert(id, (pose, false));
            }
        }
        if self.rng.f64() >= self.path.loss {
            let delay =
                ONE_WAY_DELAY + Duration::from_millis(self.rng.u64(0..=self.path.jitter_ms));
            self.in_flight.push(Datagram {
                arrives: self.room_now() + delay,
                stamp_frame: self.frame,
                poses,
            });
        }
    }

    fn receive(&mut self) {
        let now = self.room_now();
        for datagram in self
            .in_flight
            .extract_if(.., |datagram| datagram.arrives <= now)
        {
            for (id, pose) in datagram.poses {
                self.client
                    .handle_pose(id, frame_time(datagram.stamp_frame), &pose);
                if let Some(sent_poses) = self
                    .sent_poses
                    .get_mut(&id)
                    .filter(|(sent_poses, _)| *sent_poses == pose)
                {
                    sent_poses.1 = true;
                }
            }
            self.received_until = self.received_until.max(frame_time(datagram.stamp_frame));
        }
    }

    fn draw(&mut self) {
        let shown = self.room_now();
        let flags = &self.flags;
        let keys = |id: u32, t: GameTime| {
            let held = flags
                .iter()
                .rev()
                .find(|(from, _)| id == PLAYER_ID && *from <= t);
            held.map_or_else(Keymap::default, |(_, keys)| *keys)
        };
        let presses = PressedKeys::from_inputs(self.inputs.iter().copied(), self.tick());
        let ahead = PredictionTarget {
            horizon: shown + ONE_WAY_DELAY + DELAY,
            presses: &presses,
        };
        let times = SimulationTime {
            shown,
            received_until: self.received_until,
            rtt: 2 * ONE_WAY_DELAY,
        };
        self.client
            .advance(times, self.predict.then_some(&ahead), &keys);
        let Some((_, truth)) = self
            .truth
            .iter()
            .find(|(frame, _)| frame_time(*frame) == shown)
        else {
            return;
        };
        for (&id, truth) in truth {
            if let Some(drawn) = self
                .client
                .drawing(id)
                .and_then(|drawing| drawing.at(shown))
                && !truth.flag
            {
                self.errors
                    .add(drawn.position.distance(POSE_FORMAT.position(truth)));
            }
        }
    }

    /// Asserts that every cube is simulated and drawn where the host has it.
    fn assert_drawn_at_host_poses(&self) {
        for (&id, &body) in &self.bodies {
            let truth = self.server.pose(body);
            assert!(truth.flag, "{id} has not come to rest");
            assert_eq!(self.client.pose(id), Some(truth), "{id}");
            assert_eq!(
                self.drawn(id).map(|drawn| drawn.position),
                Some(POSE_FORMAT.position(&truth)),
                "{id}"
            );
        }
    }
}

#[derive(Default)]
struct Errors {
    metres: Vec<f32>,
}

impl Errors {
    fn add(&mut self, metres: f32) {
        self.metres.push(metres);
    }

    fn quantile(&self, share: f64) -> f32 {
        let mut sorted = self.metres.clone();
        sorted.sort_by(f32::total_cmp);
        assert!(!sorted.is_empty(), "no errors were recorded");
        sorted[((sorted.len() - 1) as f64 * share) as usize]
    }
}
