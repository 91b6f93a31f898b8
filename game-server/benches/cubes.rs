//! The cost of a step of the physics of `cubes`.
//!
//! Workload: 100 and 901 small cubes on 32 x 32 m, one metre apart, and a randomly driven player
//! who rolls among them with attract held (katamari); and 9,025 sleeping cubes on 320 x 320 m. A
//! measured step is 1/60 s of physics, including the rounding to the grid. Units: microseconds a
//! step, median and 99th percentile; bodies awake at once. Machine: any.
//!
//! Run with `cargo bench -p ambit-game-server --bench cubes`. It prints one line for each scene,
//! then the results of criterion.

use std::time::{Duration, Instant};

use ambit_cubes_physics::{
    Arena, BodyId, CUBE, CUBE_EDGE_M, PLAYER, POSE_FORMAT, Physics, RandomDriver, control,
};
use ambit_proto::keymap::{Keymap, Keys};
use ambit_proto::physics::SharedPhysics;
use ambit_proto::space::Position;
use criterion::Criterion;

const STEPS: u64 = 60 * 60;

fn main() {
    let mut scenes = vec![
        PhysicsScene::new("katamari-100", 10, 32.0),
        PhysicsScene::new("katamari-901", 30, 32.0),
        PhysicsScene::asleep(),
    ];
    if !std::env::args().any(|argument| argument == "--test") {
        for scene in &mut scenes {
            scene.print();
        }
    }
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("cubes");
    for scene in &mut scenes {
        group.bench_function(scene.name, |bencher| bencher.iter(|| scene.step()));
    }
    group.finish();
    criterion.final_summary();
}

struct PhysicsScene {
    name: &'static str,
    arena: Arena,
    physics: Physics,
    player: Option<(BodyId, RandomDriver)>,
    frame: u64,
}

impl PhysicsScene {
    fn new(name: &'static str, columns: u16, edge_m: f32) -> Self {
        let mut scene = Self::with_cubes(name, columns, edge_m);
        let pose =
            POSE_FORMAT.moving(Position::new(edge_m / 2.0, 1.0, 0.5), [0.0, 0.0, 0.0, 1.0], None);
        scene.player = Some((scene.physics.add(PLAYER, &pose), RandomDriver::new(1, 0)));
        if columns == 30 {
            // With the player's own cube, as many as in G. Fiedler's articles on networked physics.
            let pose = POSE_FORMAT.moving(
                Position::new(1.0, 1.0, CUBE_EDGE_M / 2.0),
                [0.0, 0.0, 0.0, 1.0],
                None,
            );
            scene.physics.add(CUBE, &pose);
        }
        scene
    }

    fn asleep() -> Self {
        Self::with_cubes("asleep-9025", 95, 320.0)
    }

    fn with_cubes(name: &'static str, columns: u16, edge_m: f32) -> Self {
        let arena = Arena { width_m: edge_m, height_m: edge_m };
        let mut physics = Physics::new(arena);
        let first = (edge_m - f32::from(columns - 1)) / 2.0;
        for number in 0..columns * columns {
            let (x, y) = (first + f32::from(number % columns), first + f32::from(number / columns));
            physics.add(
                CUBE,
                &POSE_FORMAT.moving(
                    Position::new(x, y, CUBE_EDGE_M / 2.0),
                    [0.0, 0.0, 0.0, 1.0],
                    None,
                ),
            );
        }
        Self { name, arena, physics, player: None, frame: 0 }
    }

    fn step(&mut self) {
        if let Some((player, driver)) = &mut self.player {
            let at = POSE_FORMAT.position(&self.physics.pose(*player));
            let wandering = driver.keys(self.frame, [at.x, at.y], self.arena);
            let keys = Keymap(wandering.0 & 0b1111).with(control::ATTRACT, true);
            self.physics.set_keys(*player, Keys { previous: keys, current: keys });
        }
        self.frame += 1;
        self.physics.step();
    }

    #[expect(clippy::disallowed_methods, reason = "a bench measures")]
    fn print(&mut self) {
        let mut times = Vec::new();
        let mut awake = Vec::new();
        for _ in 0..STEPS {
            let begun = Instant::now();
            self.step();
            times.push(begun.elapsed());
            awake.push(self.physics.changed_bodies().len());
        }
        let us = |time: Duration| time.as_secs_f64() * 1e6;
        let p50 = us(percentile(&mut times, 50));
        let p99 = us(percentile(&mut times, 99));
        let some = percentile(&mut awake, 50);
        let many = percentile(&mut awake, 99);
        println!("{}: {p50:.0} us a step, p99 {p99:.0} us; awake {some}, p99 {many}", self.name);
    }
}

fn percentile<T: Ord + Copy>(values: &mut [T], percent: usize) -> T {
    values.sort_unstable();
    values[(values.len() - 1) * percent / 100]
}
