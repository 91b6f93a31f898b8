//! The cost of interest management: a tick, a change of cell, and whether it depends on the size of
//! the world.
//!
//! Workload: walkers at 5 m/s who turn now and then, 31 to a block of 3 x 3 cells of 10 m, 20 ticks
//! a second, zones of 1 and 2 cells, a margin of 1 m, one walker in ten a viewer's avatar. Three
//! scenes: 10,000 walkers with 1,000 viewers; 100,000 walkers on ten times the area with 10,000
//! viewers, the same density; and with 1,000 viewers, the same number (then no viewer sees most
//! cell crossings). A tick is the part of it in the network half of a room: pass the objects that
//! changed cell and the viewers whose home cell moved to `Interest`, and drain its changes. Walking
//! is not measured. The cost of a crossing is the tick's over the number of walkers that changed
//! cells, so it includes its share of home cell moves and of all enters and leaves. Machine:
//! any; the ratio matters.
//!
//! Run with `cargo bench -p ambit-game-server --bench interest`. It prints a table of medians,
//! measured side by side in two ways. "In turns" runs one tick of each scene after the other, so
//! that each begins with cold caches, as in a server that runs physics and sends packets between
//! two ticks. "In a row" runs ten ticks of one scene at a time: then the small scene's data stay in
//! the nearest caches and the large one's do not fit. The results of criterion for a tick follow.

use std::hint::black_box;
use std::time::{Duration, Instant};

use ambit_proto::cell::{Cell, Grid};
use ambit_proto::ids::{ClientId, ObjectId};
use ambit_proto::space::Position;
use ambit_room::network::interest::{AreaOfInterest, Interest, InterestChange};
use criterion::{Criterion, Throughput};

const CELL_M: f32 = 10.0;
const WALKERS_PER_BLOCK: f32 = 31.0;
const MARGIN_M: f32 = 1.0;
/// 5 m/s at 20 ticks a second.
const STRIDE_M: f32 = 0.25;
/// A walker turns on average once in this many ticks.
const TICKS_PER_TURN: u32 = 100;

fn main() {
    if !std::env::args().any(|argument| argument == "--test") {
        compare();
    }
    let mut criterion = Criterion::default().configure_from_args();
    criterion_ticks(&mut criterion);
    criterion.final_summary();
}

/// A map with walkers; the first of them are the viewers' avatars.
struct InterestScene {
    grid: Grid,
    size_m: f32,
    rng: fastrand::Rng,
    walkers: Vec<BenchWalker>,
    interest: Interest,
    viewers: u32,
    /// The inputs of the next tick, and the changes of the last one.
    crossings: Vec<(ObjectId, Cell)>,
    homes: Vec<(ClientId, Cell)>,
    changes: Vec<InterestChange>,
}

struct BenchWalker {
    position: Position,
    stride: (f32, f32),
    cell: Cell,
}

/// The changes in one tick and its duration.
#[derive(Clone, Copy)]
struct TickMeasurement {
    crossings: usize,
    changes: usize,
    took: Duration,
}

impl InterestScene {
    fn new(walkers: u32, viewers: u32) -> Self {
        let size_m = (walkers as f32 / WALKERS_PER_BLOCK).sqrt() * CELL_M * 3.0;
        let grid = Grid::new(size_m, size_m, CELL_M);
        let mut town = Self {
            grid,
            size_m,
            rng: fastrand::Rng::with_seed(u64::from(walkers)),
            walkers: Vec::new(),
            interest: Interest::new(&grid, &[AreaOfInterest { inner: 1, outer: 2 }]),
            viewers,
            crossings: Vec::new(),
            homes: Vec::new(),
            changes: Vec::new(),
        };
        for id in 0..walkers {
            town.add(id);
        }
        for _ in 0..400 {
            town.walk();
            town.tick();
        }
        town
    }

    fn add(&mut self, id: u32) {
        let position =
            Position::on_ground(self.rng.f32() * self.size_m, self.rng.f32() * self.size_m);
        let cell = self.grid.cell_at(position);
        self.walkers.push(BenchWalker { position, stride: stride(&mut self.rng), cell });
        self.interest.add_object(ObjectId(u64::from(id)), 0, cell);
        if id < self.viewers {
            self.interest.add_viewer(ClientId(id), ObjectId(u64::from(id)), cell);
        }
    }

    /// Moves all walkers and collects the inputs of the next tick.
    fn walk(&mut self) {
        self.crossings.clear();
        self.homes.clear();
        for (id, walker) in self.walkers.iter_mut().enumerate() {
            if self.rng.u32(..TICKS_PER_TURN) == 0 {
                walker.stride = stride(&mut self.rng);
            }
            walker.step(self.size_m);
            let cell = self.grid.cell_at(walker.position);
            if cell != walker.cell {
                walker.cell = cell;
                self.crossings.push((ObjectId(id as u64), cell));
            }
        }
        for id in 0..self.viewers {
            let home = self.interest.home(ClientId(id)).expect("the viewer is there");
            let now = self.grid.home_cell(home, self.walkers[id as usize].position, MARGIN_M);
            if now != home {
                self.homes.push((ClientId(id), now));
            }
        }
    }

    #[expect(clippy::disallowed_methods, reason = "a bench reads the clock")]
    fn tick(&mut self) -> TickMeasurement {
        self.changes.clear();
        let start = Instant::now();
        for &(object, cell) in &self.crossings {
            self.interest.change_cell(object, cell);
        }
        for &(viewer, home) in &self.homes {
            self.interest.move_home(viewer, home);
        }
        self.interest.settle(&|_, _, _| true, black_box(&mut self.changes));
        TickMeasurement {
            took: start.elapsed(),
            crossings: self.crossings.len(),
            changes: self.changes.len(),
        }
    }
}

impl BenchWalker {
    /// One step, mirrored at the edges of the map.
    fn step(&mut self, size_m: f32) {
        let on = |from: f32, stride: &mut f32| {
            if !(0.0..size_m).contains(&(from + *stride)) {
                *stride = -*stride;
            }
            from + *stride
        };
        self.position.x = on(self.position.x, &mut self.stride.0);
        self.position.y = on(self.position.y, &mut self.stride.1);
    }
}

fn stride(rng: &mut fastrand::Rng) -> (f32, f32) {
    let (sin, cos) = (rng.f32() * std::f32::consts::TAU).sin_cos();
    (STRIDE_M * cos, STRIDE_M * sin)
}

/// Prints the table.
fn compare() {
    let mut towns = [
        InterestScene::new(10_000, 1_000),
        InterestScene::new(100_000, 10_000),
        InterestScene::new(100_000, 1_000),
    ];
    let measured = measure(&mut towns, 400, 1);
    report("in turns", &towns, &measured);
    let measured = measure(&mut towns, 40, 10);
    report("in a row", &towns, &measured);
}

/// Runs `rounds` rounds; in each, every scene in turn runs `ticks` ticks. Returns the measurements
/// by scene.
fn measure(
    towns: &mut [InterestScene; 3],
    rounds: usize,
    ticks: usize,
) -> [Vec<TickMeasurement>; 3] {
    let mut measured = [const { Vec::new() }; 3];
    for _ in 0..rounds {
        for (town, measured) in towns.iter_mut().zip(&mut measured) {
            for _ in 0..ticks {
                town.walk();
                measured.push(town.tick());
            }
        }
    }
    measured
}

fn report(how: &str, towns: &[InterestScene; 3], measured: &[Vec<TickMeasurement>; 3]) {
    println!("\ninterest, ticks {how} (medians)");
    println!(
        "{:>8} {:>8} {:>15} {:>13} {:>9} {:>14} {:>12}",
        "objects",
        "viewers",
        "crossings/tick",
        "changes/tick",
        "us/tick",
        "ns/crossing",
        "ns/change"
    );
    let mut a_crossing = Vec::new();
    for (town, ticks) in towns.iter().zip(measured) {
        let [crossings, changes] = [
            median(ticks, |tick| tick.crossings as f64),
            median(ticks, |tick| tick.changes as f64),
        ];
        let took_us = median(ticks, |tick| nanoseconds(tick) / 1e3);
        let per_crossing = median(ticks, |tick| nanoseconds(tick) / tick.crossings.max(1) as f64);
        let per_change = median(ticks, |tick| nanoseconds(tick) / tick.changes.max(1) as f64);
        println!(
            "{:>8} {:>8} {crossings:>15} {changes:>13} {took_us:>9.1} {per_crossing:>14.0} \
             {per_change:>12.0}",
            town.walkers.len(),
            town.viewers
        );
        a_crossing.push(per_crossing);
    }
    println!(
        "in the world ten times larger, a crossing costs {:.2} x as much with the same density of \
         viewers,",
        a_crossing[1] / a_crossing[0]
    );
    println!("{:.2} x as much with the same number of viewers", a_crossing[2] / a_crossing[0]);
}

fn nanoseconds(tick: &TickMeasurement) -> f64 {
    tick.took.as_secs_f64() * 1e9
}

fn median(ticks: &[TickMeasurement], value: impl Fn(&TickMeasurement) -> f64) -> f64 {
    let mut values: Vec<f64> = ticks.iter().map(value).collect();
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

fn criterion_ticks(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("interest tick");
    group
        .sample_size(20)
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(3));
    for (walkers, viewers) in [(10_000, 1_000), (100_000, 10_000), (100_000, 1_000)] {
        let mut town = InterestScene::new(walkers, viewers);
        // The mean of |cos| is 2 / pi.
        let crossings = walkers as f32 * STRIDE_M * 4.0 / std::f32::consts::PI / CELL_M;
        group.throughput(Throughput::Elements(crossings as u64));
        group.bench_function(format!("{walkers} objects, {viewers} viewers"), |bencher| {
            bencher.iter_custom(|ticks| {
                let one = |_| {
                    town.walk();
                    town.tick().took
                };
                (0..ticks).map(one).sum()
            });
        });
    }
    group.finish();
}
