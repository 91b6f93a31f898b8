//! What clients show of objects that a game moves at each tick, at each moment.

use ambit::prelude::*;
use ambit::test::{Line, TestClient, TestRoom};
use ambit::{MotionFormat, PoseFormat, Turning};

const DELAY_MS: f64 = 150.0;
/// How far everything moves at a tick, in metres.
const STEP_M: f32 = 0.25;
const UPRIGHT: [f32; 4] = [0.0, 0.0, 0.0, 1.0];
const WITH_VELOCITIES: PoseFormat = PoseFormat {
    per_metre: 512,
    turn: Turning::Free { bits: 9 },
    motion: Some(MotionFormat { linear: 64, angular: 64 }),
};

#[derive(Kind)]
struct Walker {
    path: Path,
}

#[derive(Kind)]
struct Cart {
    pose: YawPose,
}

#[derive(Kind)]
struct Crate {
    pose: FreePose,
}

#[derive(Kind)]
struct Ball {
    #[pose(format = WITH_VELOCITIES)]
    pose: FreePose,
}

#[derive(Command)]
enum Command {
    /// Everything moves from now on, each time the other way.
    Push,
    /// Everything rests from now on.
    Halt,
}

/// A cart, a crate and a ball that move side by side, without saying how fast.
#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Walker, Cart, Crate, Ball))]
struct Porters {
    things: Option<(Id<Cart>, Id<Crate>, Id<Ball>)>,
    is_pushing: bool,
    backwards: bool,
}

impl Game for Porters {
    const INFO: GameInfo = GameInfo::new("porters", "Things that are pushed.");
    type Avatar = Walker;
    type Command = Command;
    type Refusal = NoRefusal;

    fn start(&mut self, world: &mut World<Self>) {
        let here = world.centre();
        let cart = world.spawn(Cart { pose: YawPose::at(here) });
        let a_crate = world.spawn(Crate { pose: FreePose::at(here) });
        let ball = world.spawn(Ball { pose: FreePose::at(here) });
        self.things = Some((cart, a_crate, ball));
    }

    fn join(&mut self, world: &mut World<Self>, _: Newcomer<'_>) -> Id<Walker> {
        world.spawn(Walker { path: Path::at(world.centre()) })
    }

    fn command(
        &mut self,
        _: &mut World<Self>,
        _: Player<'_, Self>,
        command: Command,
    ) -> Result<(), NoRefusal> {
        self.is_pushing = matches!(command, Command::Push);
        self.backwards ^= self.is_pushing;
        Ok(())
    }

    fn step(&mut self, world: &mut World<Self>, _: Duration) {
        if let Some((cart, a_crate, ball)) = self.things.filter(|_| self.is_pushing) {
            let here = world.position(cart).expect("it exists");
            let step = if self.backwards { -STEP_M } else { STEP_M };
            let there = Position::new(here.x + step, here.y, here.z);
            world.edit(cart).expect("it exists").pose().set(there, 0.0, 0.0);
            world.edit(a_crate).expect("it exists").pose().set(there, UPRIGHT);
            world.edit(ball).expect("it exists").pose().set(there, UPRIGHT);
        }
    }
}

/// A room with one client, and where everything was at each of the last ticks.
struct Watched {
    room: TestRoom<Porters>,
    ann: TestClient,
    now_ms: f64,
    /// Time of a tick in milliseconds, and x after it.
    ticks: Vec<(f64, f32)>,
}

impl Watched {
    fn new(tick_hz: u32, line: Line) -> Self {
        let mut room = TestRoom::with(&[("tick", &tick_hz.to_string())]);
        let ann = room.join("ann", line);
        let mut watched = Self { room, ann, now_ms: 0.0, ticks: Vec::new() };
        watched.run(3_000, |_, _| ());
        watched
    }

    /// Calls `see` each millisecond with where everything should be shown, and where each thing is.
    fn run(&mut self, for_ms: u32, mut see: impl FnMut(f32, [f32; 3])) {
        for _ in 0..for_ms {
            self.room.run(1.millis());
            self.now_ms += 1.0;
            self.note_tick();
            let seen = self.room.sees(self.ann);
            let x = |kind: &str| {
                seen.iter().find(|seen| seen.kind == kind).map_or(f32::NAN, |seen| seen.position.x)
            };
            see(self.x_at(self.now_ms - DELAY_MS), [x("cart"), x("crate"), x("ball")]);
        }
    }

    fn note_tick(&mut self) {
        let world = self.room.world();
        let at_ms = world.now().micros() as f64 / 1e3 - DELAY_MS;
        if self.ticks.last().is_none_or(|last| last.0 < at_ms) {
            let mut carts: Vec<Id<Cart>> = Vec::new();
            world.find_all(&mut carts);
            let x = world.position(carts[0]).expect("it exists").x;
            self.ticks.push((at_ms, x));
            self.now_ms = at_ms.ceil();
        }
    }

    /// Where everything is at this time, if it moves evenly from tick to tick.
    fn x_at(&self, t_ms: f64) -> f32 {
        let after = self.ticks.partition_point(|tick| tick.0 <= t_ms);
        match (after.checked_sub(1).map(|before| self.ticks[before]), self.ticks.get(after)) {
            (Some((from_ms, from)), Some((to_ms, to))) => {
                from + (to - from) * ((t_ms - from_ms) / (to_ms - from_ms)) as f32
            }
            (Some((_, x)), None) => x,
            (None, _) => self.ticks[0].1,
        }
    }
}

#[test]
fn an_object_that_has_rested_starts_to_move_at_its_time() {
    for tick_hz in [20, 30, 60] {
        let mut watched = Watched::new(tick_hz, Line::default().delay(30.millis()));
        for _ in 0..3 {
            watched.room.command(watched.ann, "push");
            let mut moved = 0.0;
            let start = watched.x_at(watched.now_ms);
            watched.run(600, |expected, seen| {
                moved = (expected - start).abs();
                for x in seen {
                    // The ball speeds up and slows down within each tick.
                    let error = (x - expected).abs();
                    assert!(error < 0.04, "{tick_hz} Hz, {moved} m: {seen:?}");
                }
            });
            assert!(moved > 4.0 * STEP_M);
            watched.room.command(watched.ann, "halt");
            watched.run(2_000, |_, _| ());
        }
    }
}

#[test]
fn despite_loss_no_object_that_has_rested_starts_a_tick_too_early() {
    let line = Line::default().delay(30.millis()).loss(20.0);
    let mut watched = Watched::new(20, line);
    for start in 0..40 {
        watched.room.command(watched.ann, "push");
        watched.run(400, |expected, seen| {
            for x in seen {
                let ahead = if start % 2 == 0 { expected - x } else { x - expected };
                assert!(ahead < 1.05 * STEP_M, "start {start}: {seen:?}, not {expected}");
            }
        });
        watched.room.command(watched.ann, "halt");
        watched.run(3_000, |_, _| ());
    }
}

mod drifting {
    use ambit::prelude::*;
    use ambit::test::{Line, TestRoom};
    use ambit::{MotionFormat, PoseFormat, Turning};

    const FORMAT: PoseFormat = PoseFormat {
        per_metre: 256,
        turn: Turning::Free { bits: 9 },
        motion: Some(MotionFormat { linear: 64, angular: 64 }),
    };

    #[derive(Kind)]
    struct Ship {
        #[pose(format = FORMAT)]
        pose: FreePose,
    }

    /// Ships look to the north and drift to the east.
    #[derive(Default, Serialize, Deserialize, Declare)]
    #[declare(kinds(Ship))]
    struct Drift;

    impl Game for Drift {
        const INFO: GameInfo = GameInfo::new("drift", "Drift.");
        type Avatar = Ship;
        no_commands!();
        type Refusal = NoRefusal;

        fn join(&mut self, world: &mut World<Self>, _: Newcomer<'_>) -> Id<Ship> {
            let at = Position::on_ground(20.0, 50.0);
            let north = std::f32::consts::FRAC_PI_2;
            world.spawn(Ship { pose: FreePose::upright(at, north, [4.0, 0.0, 0.0]) })
        }

        fn step(&mut self, world: &mut World<Self>, dt: Duration) {
            let ships: Vec<Id<Ship>> = world.players().map(Player::avatar).collect();
            for ship in ships {
                let Some(pose) = world.get(ship).map(|ship| ship.pose()) else { continue };
                let (Position { x, y, .. }, yaw) = (pose.position(), pose.yaw());
                let to = Position::on_ground(x + 4.0 * dt.as_secs_f32(), y);
                if let Some(mut ship) = world.edit(ship) {
                    ship.pose().set_upright(to, yaw, [4.0, 0.0, 0.0]);
                }
            }
        }
    }

    #[test]
    fn a_ship_may_drift_where_its_nose_does_not_point() {
        let mut room = TestRoom::<Drift>::new();
        let ann = room.join("ann", Line::default());
        room.run(2.secs());
        let ship = room.avatar(ann).expect("the ship is in sight");
        let world = room.world();
        let player = world.player(room.player(ann)).expect("she is there");
        let truth = world.get(player.avatar()).expect("her ship").pose();
        assert!((truth.yaw() - std::f32::consts::FRAC_PI_2).abs() < 0.02, "{}", truth.yaw());
        assert!(truth.position().x > 26.0 && (truth.position().y - 50.0).abs() < 0.1);
        let behind = truth.position().x - ship.position.x;
        assert!((0.0..2.0).contains(&behind), "what is shown follows the truth: {behind}");
    }
}
