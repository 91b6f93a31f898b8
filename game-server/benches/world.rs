//! The cost of a tick of the world for each moving object.
//!
//! Workload: 2,000 walkers at 4 m/s on a square map with one walker on 25 square metres, cells of
//! 10 m, 20 ticks a second. Three scenes: paths (waypoints all over the map, a new leg whenever one
//! ends), poses that are set at every tick, and the game `walking_crowd`, which steers its walkers
//! at random (random numbers, sine and step included). The measured time is from `begin_tick` to
//! `finish_tick`, with the changes drained; for paths, the walk to the next waypoint is part of it.
//! Unit: nanoseconds per object and tick. Machine: any.
//!
//! Run with `cargo bench -p ambit-game-server --bench world`. It prints one line for each scene,
//! the median over ticks, with `begin_tick` alone beside it; then the results of criterion for a
//! tick.

// The tests of the whole system use the same game.
#[path = "../../tests/src/walking_crowd/mod.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "this bench uses a part of what the tests' library makes public"
)]
mod walking_crowd;

use std::hint::black_box;
use std::time::{Duration, Instant};

use ambit_proto::ids::{ObjectId, PlayerId};
use ambit_proto::pose::{PoseFormat, Turning};
use ambit_proto::schema::{Codec, Component, ComponentSpec, ObjectKind, Schema};
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use ambit_room::config::RoomConfig;
use ambit_room::logic::game::{Game, Left};
use ambit_room::logic::world::{World, WorldChange};
use criterion::{Criterion, Throughput};

use self::walking_crowd::{WalkMode, WalkingCrowd};

const OBJECTS: u64 = 2_000;
const EDGE_M: f32 = 223.6;
const SPEED_M_PER_S: f32 = 4.0;
const TICK: Duration = Duration::from_millis(50);
const TICKS: usize = 2_000;
const FORMAT: PoseFormat =
    PoseFormat { per_metre: 100, turn: Turning::Yaw { bits: 8 }, motion: None };

fn main() {
    if !std::env::args().any(|argument| argument == "--test") {
        for scene in &mut scenes() {
            scene.print();
        }
    }
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("world");
    group.throughput(Throughput::Elements(OBJECTS));
    for scene in &mut scenes() {
        group.bench_function(scene.name, |bencher| bencher.iter(|| scene.tick()));
    }
    group.finish();
    criterion.final_summary();
}

fn scenes() -> [WorldScene; 3] {
    [
        WorldScene::new("paths", Box::new(PathWalkers::default())),
        WorldScene::new("poses", Box::new(PoseWalkers::default())),
        WorldScene::steered(),
    ]
}

/// A game and its world.
struct WorldScene {
    name: &'static str,
    world: World,
    game: Box<dyn Game>,
    now: GameTime,
    changes: Vec<WorldChange>,
}

impl WorldScene {
    fn new(name: &'static str, game: Box<dyn Game>) -> Self {
        let config = RoomConfig { width: EDGE_M, height: EDGE_M, ..RoomConfig::default() };
        let world = World::new(&config, game.schema());
        let mut scene = Self { name, world, game, now: GameTime::ZERO, changes: Vec::new() };
        scene.game.start(&mut scene.world);
        for player in 0..OBJECTS {
            scene.game.join(&mut scene.world, PlayerId(player), "");
        }
        (0..200).for_each(|_| _ = scene.tick());
        scene
    }

    fn steered() -> Self {
        Self::new("steered", Box::new(WalkingCrowd::new(WalkMode::Steered)))
    }

    /// Runs a tick; returns the time of `begin_tick` and of the whole tick.
    fn tick(&mut self) -> (Duration, Duration) {
        self.now += TICK;
        let start = now();
        self.world.begin_tick(self.now);
        let begun = start.elapsed();
        self.game.step(&mut self.world, TICK);
        self.world.finish_tick();
        self.changes.clear();
        self.world.drain_changes(&mut self.changes);
        black_box(&self.changes);
        (begun, start.elapsed())
    }

    fn print(&mut self) {
        let (mut begun, mut whole): (Vec<_>, Vec<_>) = (0..TICKS).map(|_| self.tick()).unzip();
        let median = |times: &mut Vec<Duration>| {
            times.sort_unstable();
            times[times.len() / 2].as_nanos() as f64 / OBJECTS as f64
        };
        let begun = median(&mut begun);
        let whole = median(&mut whole);
        println!(
            "{:8} {begun:6.1} ns an object in begin_tick, {whole:6.1} ns in the whole tick",
            self.name
        );
    }
}

#[expect(clippy::disallowed_methods, reason = "a bench measures time")]
fn now() -> Instant {
    Instant::now()
}

#[derive(Default)]
struct PathWalkers {
    walkers: Vec<(ObjectId, GameTime)>,
}

impl Game for PathWalkers {
    fn schema(&self) -> Schema {
        schema(Codec::Path)
    }

    fn start(&mut self, _: &mut World) {}

    fn join(&mut self, world: &mut World, _: PlayerId, _: &str) -> ObjectId {
        let place = random_position(world);
        let walker = world.spawn(0, vec![Component::at_rest(world.now(), place)]);
        self.walkers.push((walker, world.now()));
        walker
    }

    fn leave(&mut self, _: &mut World, _: PlayerId, _: Left) {}

    fn step(&mut self, world: &mut World, _: Duration) {
        for (walker, arrival) in &mut self.walkers {
            if *arrival <= world.now() {
                let target = random_position(world);
                *arrival = world.walk_to(*walker, target, SPEED_M_PER_S);
            }
        }
    }
}

/// Walkers with poses, which turn at the edges of the map.
#[derive(Default)]
struct PoseWalkers {
    walkers: Vec<(ObjectId, Position, [f32; 2])>,
}

impl Game for PoseWalkers {
    fn schema(&self) -> Schema {
        schema(Codec::Pose(FORMAT))
    }

    fn start(&mut self, _: &mut World) {}

    fn join(&mut self, world: &mut World, _: PlayerId, _: &str) -> ObjectId {
        let place = random_position(world);
        let walker = world.spawn(0, vec![Component::Pose(FORMAT.pose(place, 0.0, SPEED_M_PER_S))]);
        let step = SPEED_M_PER_S * TICK.as_secs_f32();
        self.walkers.push((
            walker,
            place,
            if world.rng().bool() { [step, 0.0] } else { [0.0, step] },
        ));
        walker
    }

    fn leave(&mut self, _: &mut World, _: PlayerId, _: Left) {}

    fn step(&mut self, world: &mut World, _: Duration) {
        for (walker, place, step) in &mut self.walkers {
            let next = Position::on_ground(place.x + step[0], place.y + step[1]);
            if world.grid().contains(next) {
                *place = next;
            } else {
                *step = [-step[0], -step[1]];
            }
            world.set_pose(*walker, *place, step[0], SPEED_M_PER_S);
        }
    }
}

fn schema(codec: Codec) -> Schema {
    let kind = ObjectKind {
        name: "walker".into(),
        components: vec![ComponentSpec::public("place", codec)],
        ..ObjectKind::default()
    };
    Schema { game: "bench".into(), kinds: vec![kind], ..Schema::default() }
}

fn random_position(world: &mut World) -> Position {
    Position::on_ground(world.rng().f32() * EDGE_M, world.rng().f32() * EDGE_M)
}
