//! Host and clients move an avatar alike.

use ambit_proto::axes::{Axes, AxisKind};
use ambit_proto::keymap::{Keymap, Keys};
use ambit_proto::physics::{Arena, SharedPhysics as _, frame_time};
use ambit_proto::pose::{MotionFormat, PoseFormat, Turning};
use ambit_proto::presentation::ControlPresentation;
use ambit_proto::schema::{ControlSpec, Controls};
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;

use crate::statics::{Obstacle, Statics};
use crate::{
    ControlState, Held, Movement, Steer, SteeredKind, SteeredPhysics, Terrain, functions_of,
    run_frames,
};

const ARENA: Arena = Arena { width_m: 100.0, height_m: 100.0 };
const YAW: PoseFormat =
    PoseFormat { per_metre: 256, turn: Turning::Yaw { bits: 12 }, motion: None };

/// A cart that rolls along its heading and stops at walls.
struct Cart;

#[derive(Clone, Copy)]
enum CartControl {
    Left,
    Go,
    /// From -1 to 1.
    Slope,
}

impl Controls for CartControl {
    const NAMES: &'static [&'static str] = &["left", "go", "slope"];
    const AXES: &'static [Option<AxisKind>] = &[None, None, Some(AxisKind::Linear)];

    fn declarations() -> Vec<(ControlSpec, ControlPresentation)> {
        unreachable!("no client asks")
    }

    fn index(self) -> u8 {
        self as u8
    }
}

impl SteeredKind for Cart {}

impl Steer for Cart {
    type SteeredBy = CartControl;

    fn steer(cart: &mut Movement, held: Held<CartControl>, terrain: Terrain<'_>, dt: f32) {
        let push = if held.is_down(CartControl::Go) { 6.0 } else { -2.0 };
        let speed = (cart.speed() + (push + held.axis(CartControl::Slope)) * dt).clamp(0.0, 20.0);
        if held.is_down(CartControl::Left) {
            cart.yaw += 2.0 * dt;
        }
        let ahead = cart.direction();
        let (x, y) = (cart.at.x + ahead.x * speed * dt, cart.at.y + ahead.y * speed * dt);
        let wanted = terrain.end_on_map(cart.at, Position { x, y, ..cart.at });
        let free = terrain.statics.sweep(cart.at, wanted, 0.5);
        cart.at.x += ahead.x * free;
        cart.at.y += ahead.y * free;
        cart.set_speed(speed);
    }
}

/// What gives no number.
struct Lost;

impl SteeredKind for Lost {}

impl Steer for Lost {
    type SteeredBy = CartControl;

    fn steer(lost: &mut Movement, _: Held<CartControl>, _: Terrain<'_>, _: f32) {
        lost.at.x = f32::NAN;
    }
}

fn start() -> Movement {
    Movement::at_rest(Position::on_ground(50.0, 50.0), 0.3)
}

#[test]
fn the_tick_rate_does_not_change_a_movement() {
    let statics = Statics::default();
    let terrain = Terrain { statics: &statics, arena: ARENA };
    let after = |tick_ms: u64| {
        let mut cart = start();
        for tick in 0..3_000 / tick_ms {
            let span = [tick, tick + 1].map(|tick| GameTime::from_millis(tick * tick_ms));
            let held = Held::keys([CartControl::Go, CartControl::Left]);
            run_frames::<Cart>(&mut cart, held, terrain, (span[0], span[1]));
        }
        cart
    };
    assert_eq!(after(50), after(100));
    assert_ne!(after(50), start());
    // A span that no tick has moves no further than a quarter of a second.
    let mut late = start();
    let span = (GameTime::ZERO, GameTime::from_millis(60_000));
    run_frames::<Cart>(&mut late, Held::keys([CartControl::Go]), terrain, span);
    assert!(late.at.distance(start().at) < 1.0, "{late:?}");
}

#[test]
fn a_client_moves_an_avatar_as_the_host_does() {
    let mut statics = Statics::default();
    statics.add(Obstacle::on_ground(70.0, 60.0, 1.0, 20.0, 3.0));
    let map = ambit_proto::map::StaticMap::decode(&statics.encode()).expect("a valid map");
    let terrain = Terrain { statics: &statics, arena: ARENA };
    let mut host = start();
    let first = host.to_pose(&YAW).expect("finite");
    let mut client = SteeredPhysics::new(YAW, functions_of::<Cart>().steer, ARENA);
    client.set_map(&map);
    let body = client.add(0, &first);
    // The client begins at the rounded pose: as far apart as that, the two stay.
    let mut rng = fastrand::Rng::with_seed(3);
    let mut held = ControlState::default();
    for frame in 0..600 {
        if frame % 25 == 0 {
            let slope = AxisKind::Linear.step_of(rng.f32() * 2.0 - 1.0);
            held = ControlState { keys: Keymap(rng.u32(..4)), axes: Axes([slope, 0, 0, 0]) };
        }
        let span = (frame_time(frame), frame_time(frame + 1));
        run_frames::<Cart>(&mut host, Held::new(held), terrain, span);
        client.set_keys(body, Keys { previous: Keymap(0), current: held.keys });
        client.set_axes(body, held.axes);
        client.step();
        let at = YAW.position(&client.pose(body));
        let pose = host.to_pose(&YAW).expect("finite");
        assert!(at.distance(YAW.position(&pose)) < 0.05, "frame {frame}");
        assert!(!statics.is_blocked(host.at, 0.4));
    }
    assert!(host.at.distance(start().at) > 5.0, "{host:?}");
    client.set_pose(body, &first);
    assert_eq!(client.pose(body), first);
    client.remove(body);
    assert!(client.changed_bodies().is_empty());
}

#[test]
fn what_is_not_finite_moves_nothing() {
    let mut client = SteeredPhysics::new(YAW, functions_of::<Lost>().steer, ARENA);
    let pose = start().to_pose(&YAW).expect("finite");
    let body = client.add(0, &pose);
    client.step();
    assert_eq!((client.pose(body), client.changed_bodies().len()), (pose, 0));
}

#[test]
fn a_pose_stands_for_a_movement_on_its_grid() {
    let drifting = PoseFormat {
        per_metre: 256,
        turn: Turning::Free { bits: 12 },
        motion: Some(MotionFormat { linear: 64, angular: 16 }),
    };
    let mut moving = start();
    moving.set_speed(7.0);
    for format in [YAW, drifting] {
        let pose = moving.to_pose(&format).expect("finite");
        let read = Movement::of_pose(&format, &pose);
        assert!(read.at.distance(moving.at) < 0.01, "{read:?}");
        assert!((read.yaw - moving.yaw).abs() < 0.01, "{read:?}");
        assert!((read.speed() - 7.0).abs() < 0.05, "{read:?}");
        assert_eq!(read.to_pose(&format), Some(pose));
    }
    let still = start().to_pose(&drifting).expect("finite");
    assert!(still.flag, "at rest");
}

#[test]
fn a_speed_beyond_all_numbers_is_no_pose() {
    let at = Position::on_ground(1.0, 1.0);
    let movement = Movement { at, yaw: 0.8, velocity: [3e38, 3e38, 0.0] };
    assert_eq!(movement.to_pose(&YAW), None);
}
