//! Simulations that get poses by hand, and a client that draws what a simulated host sends.

mod harness;

use ambit_cubes_physics::{CUBE, PHYSICS, PLAYER, POSE_FORMAT, RandomDriver, control};
use ambit_proto::space::Position;
use ambit_steering::{Movement, Terrain};

use super::*;
use crate::client::own_inputs::PressedKeys;
use harness::{ARENA, DELAY, Errors, ONE_WAY_DELAY, PLAYER_ID, PathConditions, SimulationHarness};

const RIGHT: Keymap = Keymap(1 << control::RIGHT);

#[test]
fn the_player_may_get_a_second_cube_and_lose_the_first() {
    let mut client = Simulation::new(PHYSICS, Arena { width_m: 32.0, height_m: 32.0 }, 3);
    let pose = |x: f32| POSE_FORMAT.moving(Position::new(x, 16.0, 0.5), rotation::IDENTITY, None);
    let presses = PressedKeys::from_inputs(std::iter::empty(), Duration::from_millis(50));
    let draw = |client: &mut Simulation, ms: u64| {
        let shown = GameTime::from_millis(ms);
        let ahead = PredictionTarget {
            horizon: shown + ONE_WAY_DELAY + DELAY,
            presses: &presses,
            drawn_ahead: Duration::ZERO,
            acts_before: Duration::ZERO,
        };
        client.advance(
            SimulationTime { shown, received_until: shown, rtt: 2 * ONE_WAY_DELAY },
            Some(&ahead),
            &no_keys,
        );
    };
    let [first, second] = [1, 2].map(ClientObjectId);
    for (id, ms) in [(first, 1_000), (second, 1_100)] {
        client.enter(id, PLAYER, true);
        client.handle_pose(id, GameTime::from_millis(ms), &pose(4.0 * id.0 as f32));
        draw(&mut client, ms + 50);
    }
    client.leave(first);
    draw(&mut client, 1_250);
    let drawn = client
        .drawing(second)
        .and_then(|drawing| drawing.at(GameTime::from_millis(1_250)))
        .expect("it exists");
    assert!((drawn.position.x - 8.0).abs() < 0.01, "{drawn:?}");
}

#[test]
fn without_loss_every_frame_is_drawn_as_the_host_has_it() {
    let mut harness =
        SimulationHarness::new(PathConditions { tick_frames: 1, ..PathConditions::default() });
    harness.run(10);
    harness.drive(600);
    let max_error = harness.errors.quantile(1.0);
    assert!(max_error <= 1e-5, "{max_error} m");
    let stats = harness.client.stats();
    assert_eq!((stats.corrections.count(), stats.late_poses, stats.restored), (0, 0, 0));
}

#[test]
fn at_20_hz_physics_fills_the_frames_without_poses() {
    let mut harness =
        SimulationHarness::new(PathConditions { tick_frames: 3, ..PathConditions::default() });
    harness.drive(600);
    let p50 = harness.errors.quantile(0.5);
    let p99 = harness.errors.quantile(0.99);
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
        let p50 = harness.errors.quantile(0.5);
        let p99 = harness.errors.quantile(0.99);
        assert!(p50 <= 0.005 && p99 <= 0.05, "seed {seed}: {p50} and {p99} m");
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
        let p50 = harness.errors.quantile(0.5);
        let p99 = harness.errors.quantile(0.99);
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
    let mut before: BTreeMap<ClientObjectId, Position> = BTreeMap::new();
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
    assert!(harness.client.stats().late_poses > 100, "{}", harness.client.stats().late_poses);
}

#[test]
fn a_resting_cube_pushed_only_on_the_client_is_restored() {
    let mut harness = SimulationHarness::at_rest();
    let (id, body) = harness.pick_cube();
    let host_pose = harness.server.pose(body);
    // The cube is pushed in the client's simulation only.
    let body_on_client = harness.client.objects[&id].body.expect("it exists");
    let position = POSE_FORMAT.position(&host_pose);
    let pushed = POSE_FORMAT.moving(
        position,
        POSE_FORMAT.quaternion(&host_pose),
        Some(([2.0, 0.0, 0.0], [0.0; 3])),
    );
    harness.client.physics.set_pose(body_on_client, &pushed);
    harness.run(6);
    assert!(harness.drawn(id).expect("drawn").position.distance(position) > 0.02);
    harness.run(60);
    assert_eq!((harness.client.pose(id), harness.client.stats().restored), (Some(host_pose), 1));
    harness.run(120);
    assert_eq!(harness.drawn(id).expect("drawn").position, position);
}

#[test]
fn nothing_is_restored_while_the_host_is_silent() {
    let mut harness = SimulationHarness::at_rest();
    let (id, body) = harness.pick_cube();
    let host_pose = harness.server.pose(body);
    let body_on_client = harness.client.objects[&id].body.expect("it exists");
    let pushed = POSE_FORMAT.moving(
        POSE_FORMAT.position(&host_pose),
        POSE_FORMAT.quaternion(&host_pose),
        Some(([2.0, 0.0, 0.0], [0.0; 3])),
    );
    harness.client.physics.set_pose(body_on_client, &pushed);
    harness.path.loss = 1.0;
    harness.run(90);
    assert_ne!(harness.client.pose(id), Some(host_pose));
    harness.path.loss = 0.0;
    harness.run(60);
    assert_eq!(harness.client.pose(id), Some(host_pose));
}

#[test]
fn a_late_pose_is_extrapolated_unless_the_simulation_was_right() {
    let mut client = Simulation::new(PHYSICS, ARENA, 1);
    let cube = ClientObjectId(7);
    client.enter(cube, CUBE, false);
    let pose = |x, speed| {
        POSE_FORMAT.moving(
            Position::new(x, 5.0, 5.0),
            rotation::IDENTITY,
            Some(([speed, 0.0, 0.0], [0.0; 3])),
        )
    };
    client.handle_pose(cube, frame_time(100), &pose(5.0, 1.0));
    client.advance(at(100), None, &no_keys);
    client.advance(at(106), None, &no_keys);
    let pose_before = client.pose(cube).expect("it exists");
    // The host's pose of frame 103 equals the client's: nothing changes.
    let was = client.objects[&cube]
        .past
        .iter()
        .find(|(frame, _)| *frame == 103)
        .expect("the frame is in the history")
        .1;
    client.handle_pose(cube, frame_time(103), &was);
    assert_eq!((client.pose(cube), client.stats().corrections.count()), (Some(pose_before), 0));
    // The host's pose of frame 104 differs.
    client.handle_pose(cube, frame_time(104), &pose(6.0, 3.0));
    let moved = POSE_FORMAT.position(&client.pose(cube).expect("it exists"));
    assert!((moved.x - 6.1).abs() < 1e-3, "{moved:?}");
    // The host's pose of frame 102 is too old to have an effect.
    client.handle_pose(cube, frame_time(102), &pose(9.0, 3.0));
    assert_eq!(POSE_FORMAT.position(&client.pose(cube).expect("it exists")), moved);
    assert_eq!(client.stats().late_poses, 2);
}

#[test]
fn a_jump_is_drawn_in_one_frame_predicted_or_not() {
    let presses = PressedKeys::from_inputs(std::iter::empty(), Duration::from_millis(50));
    for (own, ahead_frames, to_x) in
        [(false, 0, 25.0), (false, 0, 7.0), (true, 12, 25.0), (true, 12, 7.0)]
    {
        let mut client = Simulation::new(PHYSICS, ARENA, 3);
        let id = ClientObjectId(1);
        client.enter(id, PLAYER, own);
        let pose =
            |x: f32| POSE_FORMAT.moving(Position::new(x, 16.0, 0.5), rotation::IDENTITY, None);
        let mut seen = Vec::new();
        for frame in 100..160 {
            // What the host says of a frame arrives before that is shown.
            let told = frame + 6;
            if told % 3 == 0 && told <= 150 {
                if told >= 123 {
                    client.handle_jump(id, frame_time(123));
                }
                let x = if told < 123 { 5.0 } else { to_x };
                client.handle_pose(id, frame_time(told), &pose(x));
            }
            let shown = frame_time(frame);
            let ahead = PredictionTarget {
                horizon: frame_time(frame + ahead_frames),
                presses: &presses,
                drawn_ahead: Duration::ZERO,
                acts_before: Duration::ZERO,
            };
            let times = SimulationTime { shown, received_until: shown, rtt: Duration::ZERO };
            client.advance(times, own.then_some(&ahead), &no_keys);
            for part in [11, 5, 0] {
                let t = shown.saturating_sub(Duration::from_millis(part));
                let drawn = client.drawing(id).and_then(|drawing| drawing.at(t));
                seen.extend(drawn.map(|drawn| drawn.position.x));
            }
        }
        let is_between = |x: &&f32| (**x - 5.0).abs() > 0.01 && (**x - to_x).abs() > 0.01;
        assert_eq!(seen.iter().find(is_between), None, "own {own}, to {to_x}: {seen:?}");
        let last = seen.last().expect("it is drawn");
        assert!(seen.contains(&5.0) && (last - to_x).abs() < 0.01, "own {own}: {seen:?}");
    }
}

/// At the host something that rounding hides from the client stops it.
#[test]
fn an_avatar_of_which_the_host_is_silent_does_not_fly_away() {
    const YAW: PoseFormat =
        PoseFormat { per_metre: 256, turn: Turning::Yaw { bits: 12 }, motion: None };
    fn fly(avatar: &mut Movement, _: ControlState, _: Terrain<'_>, dt: f32) {
        let speed = avatar.speed() + 10.0 * dt;
        avatar.set_speed(speed);
        avatar.at.x += speed * dt;
    }
    let presses = PressedKeys::from_inputs(std::iter::empty(), Duration::from_millis(50));
    let mut client = Simulation::new(MotionModel::steered(PLAYER, YAW, fly), ARENA, 3);
    let id = ClientObjectId(1);
    client.enter(id, PLAYER, true);
    client.handle_pose(id, frame_time(100), &YAW.pose(Position::on_ground(5.0, 5.0), 0.0, 0.1));
    let mut farthest = 0.0_f32;
    let mut last = 0.0;
    for frame in 100..220 {
        let ahead = PredictionTarget {
            horizon: frame_time(frame + 12),
            presses: &presses,
            drawn_ahead: Duration::ZERO,
            acts_before: Duration::ZERO,
        };
        let shown = frame_time(frame);
        let rtt = 2 * ONE_WAY_DELAY;
        client.advance(
            SimulationTime { shown, received_until: shown, rtt },
            Some(&ahead),
            &no_keys,
        );
        let drawn = client.drawing(id).and_then(|drawing| drawing.at(shown)).expect("drawn");
        last = drawn.position.x - 5.0;
        farthest = farthest.max(last);
    }
    // It is drawn 12 frames ahead; without the word of the silence, 24 m away at the end.
    assert!(farthest < 1.5 && last < 0.8, "{farthest} m, {last} m");
}

#[test]
fn a_client_that_joins_late_sees_all_objects() {
    let mut harness = SimulationHarness::new(PathConditions::default());
    harness.drive(200);
    harness.client = Simulation::new(PHYSICS, ARENA, 1);
    harness.enter_all();
    harness.errors = Errors::default();
    harness.run(30);
    harness.errors = Errors::default();
    harness.drive(100);
    assert!(harness.errors.quantile(0.99) < 0.05, "{} m", harness.errors.quantile(0.99));
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
    harness.client.handle_pose(id, frame_time(harness.frame + 5), &pose);
    harness.run(20);
    assert_eq!(
        (harness.client.bodies(), harness.client.pose(id), harness.client.drawing(id)),
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
            .map(|id| (harness.client.pose(id), harness.drawn(id).map(|drawn| drawn.quaternion)))
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
        let mut harness =
            SimulationHarness::new(PathConditions { tick_frames: 3, loss, jitter_ms, seed: 4 });
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
        assert_eq!((drawn.position, drawn.at_rest), (POSE_FORMAT.position(&truth), true), "{loss}");
    }
}

#[test]
fn predictions_of_the_own_cube_match_the_host() {
    let mut harness =
        SimulationHarness::new(PathConditions { tick_frames: 3, ..PathConditions::default() });
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
    let mut harness =
        SimulationHarness::alone(PathConditions { tick_frames: 3, ..PathConditions::default() });
    harness.predict = true;
    harness.come_to_rest();
    let mut predicted = BTreeMap::new();
    let mut highest = 0.0_f32;
    let mut errors = Errors::default();
    for frame in 0..400 {
        let held = if (20..200).contains(&frame) { RIGHT } else { Keymap::default() };
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

fn no_keys(_: ClientObjectId, _: &SimulatedKind, _: GameTime) -> ControlState {
    ControlState::default()
}

fn at(frame: u64) -> SimulationTime {
    SimulationTime {
        shown: frame_time(frame),
        received_until: frame_time(frame),
        rtt: 2 * ONE_WAY_DELAY,
    }
}
