//! The walk that the tables are made from, and the tables that it gives.
//!
//! A walker of 4 m/s turns by a random angle of at most 10 degrees, evenly, then goes for 50 ms;
//! its poses have 100 units a metre and a yaw of 8 bits. What is computed here is the same on every
//! machine: the sines are a series, and the dice are seeded.

use super::steered::{COLUMNS, ROWS, STEP_MS, Way, turned};
use super::tables::{TABLES, Tables};
use super::{Pose, PoseFormat, Turning, code};
use crate::space::Position;
use crate::time::GameTime;

pub(crate) const FORMAT: PoseFormat = PoseFormat {
    per_metre: 100,
    turn: Turning::Yaw { bits: 8 },
    motion: None,
};
const BITS: u32 = 8;
const WALKS: u64 = 400;
const STEPS: usize = 400;

/// One walker's way.
pub(crate) struct Walk {
    rng: fastrand::Rng,
    /// Metres.
    place: [f64; 2],
    /// Turns.
    heading: f64,
}

impl Walk {
    pub(crate) fn new(seed: u64) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed);
        Self {
            place: [rng.f64() * 200.0 + 100.0, rng.f64() * 200.0 + 100.0],
            heading: rng.f64(),
            rng,
        }
    }

    /// The next step: the pose, and the place in grid units before it was rounded.
    pub(crate) fn step(&mut self) -> (Pose, [f64; 2]) {
        self.heading = (self.heading + (self.rng.f64() - 0.5) / 18.0).rem_euclid(1.0);
        let step_m = 4.0 * STEP_MS as f64 / 1_000.0;
        self.place[0] += step_m * sine(self.heading + 0.25);
        self.place[1] += step_m * sine(self.heading);
        let position = Position::on_ground(self.place[0] as f32, self.place[1] as f32);
        let radians = self.heading * std::f64::consts::TAU;
        (
            FORMAT.pose(position, radians as f32, 4.0),
            self.place.map(|metres| metres * 100.0),
        )
    }
}

/// By its series, of an angle in turns.
fn sine(turns: f64) -> f64 {
    let turns = turns - turns.floor();
    let x = (if turns > 0.75 {
        turns - 1.0
    } else if turns > 0.25 {
        0.5 - turns
    } else {
        turns
    }) * std::f64::consts::TAU;
    let (mut term, mut sum) = (x, x);
    for n in 1..12 {
        term *= -x * x / f64::from(2 * n * (2 * n + 1));
        sum += term;
    }
    sum
}

/// All pairs of poses that many steps apart: base, pose, and where it truly is in grid units.
fn pairs(steps: usize) -> impl Iterator<Item = (Pose, Pose, [f64; 2])> {
    (0..WALKS).flat_map(move |seed| {
        let mut walk = Walk::new(seed);
        let all: Vec<_> = (0..STEPS + steps).map(|_| walk.step()).collect();
        (0..STEPS).map(move |index| (all[index].0, all[index + steps].0, all[index + steps].1))
    })
}

/// The distribution of magnitudes on a grid of `N` points: the share of those at or below each,
/// half of 2^15 for all.
fn distribution<const N: usize>(magnitudes: &mut [f64]) -> [u16; N] {
    magnitudes.sort_unstable_by(f64::total_cmp);
    std::array::from_fn(|point| {
        let below = magnitudes.partition_point(|magnitude| *magnitude < point as f64);
        if point == 0 {
            0
        } else if point == N - 1 {
            1 << 14
        } else {
            (below * (1 << 14) / magnitudes.len()) as u16
        }
    })
}

fn turns(tables: &mut Tables) {
    for steps in 1..=ROWS {
        // What a yaw's rounding hides is spread evenly; units are half steps of a turn, as in the
        // table.
        let mut spread = fastrand::Rng::with_seed(steps as u64);
        let turns =
            pairs(steps).map(|(base, pose, _)| f64::from(turned(BITS, base.turn[0], pose.turn[0])));
        let mut magnitudes: Vec<f64> = turns
            .map(|turn| (turn + spread.f64() - 0.5).abs() * 2.0)
            .collect();
        let beyond = magnitudes
            .iter()
            .filter(|magnitude| **magnitude > 65.0)
            .count();
        tables.turn_beyond[steps - 1] = ((beyond << 15) / magnitudes.len()).max(16) as u32;
        magnitudes.retain(|magnitude| *magnitude <= 65.0);
        tables.turn[steps - 1] = distribution(&mut magnitudes);
    }
}

/// How far off across the way, and along it, in units of a step's length.
fn spreads(tables: &mut Tables) {
    tables.lateral = [[0; COLUMNS]; ROWS];
    tables.along = [0; ROWS];
    for steps in 1..=ROWS {
        let (mut across, mut count, mut along) = ([0.0; COLUMNS], [0.0; COLUMNS], 0.0);
        for (base, pose, place) in pairs(steps) {
            let way = Way::new(tables, BITS, &base, &pose, steps as u64 * STEP_MS);
            let off = [0, 1].map(|axis| place[axis] - way.mean[axis] as f64 / 256.0);
            let ahead = [0, 1].map(|axis| way.mean[axis] as f64 / 256.0 - f64::from(base.at[axis]));
            let length = ahead[0].hypot(ahead[1]);
            let column =
                Tables::column(BITS, steps as u64, turned(BITS, base.turn[0], pose.turn[0]));
            across[column] += ((off[1] * ahead[0] - off[0] * ahead[1]) / length).powi(2);
            along += ((off[0] * ahead[0] + off[1] * ahead[1]) / length).powi(2);
            count[column] += 1.0;
        }
        let net = |variance: f64| (variance - 1.0 / 12.0) / 400.0 * f64::from(1 << 24);
        let rounding = super::steered::yaw_rounding(BITS) * (steps * steps + 1) as u64 / 2;
        tables.along[steps - 1] = net(along / count.iter().sum::<f64>()).max(0.0) as u32;
        for column in 0..COLUMNS {
            let variance = if count[column] > 0.0 {
                net(across[column] / count[column])
            } else {
                0.0
            };
            tables.lateral[steps - 1][column] = (variance - rounding as f64).max(0.0) as u32;
        }
        // What was hardly ever seen is as what was seen last.
        let seen = count
            .iter()
            .take_while(|count| **count >= 100.0)
            .count()
            .max(1);
        let last = tables.lateral[steps - 1][seen - 1];
        tables.lateral[steps - 1][seen..].fill(last);
    }
}

fn shapes(tables: &mut Tables) {
    for steps in 1..=ROWS {
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for (base, pose, place) in pairs(steps) {
            let way = Way::new(tables, BITS, &base, &pose, steps as u64 * STEP_MS);
            let off = place[way.first] * 256.0 - way.mean[way.first] as f64;
            first.push((off / f64::from(way.deviation) * 8.0).abs());
            let mean = way.second_mean(pose.at[way.first]);
            let off = place[1 - way.first] * 256.0 - mean as f64;
            second.push((off / f64::from(way.second_deviation) * 8.0).abs());
        }
        tables.first[steps - 1] = distribution(&mut first);
        tables.second[steps - 1] = distribution(&mut second);
    }
}

/// The tables, from nothing but the walk.
fn trained() -> Tables {
    let mut tables = Tables::EMPTY;
    turns(&mut tables);
    spreads(&mut tables);
    shapes(&mut tables);
    tables
}

#[test]
fn the_tables_are_what_the_walk_gives() {
    let trained = trained();
    if std::env::var_os("AMBIT_PRINT_TABLES").is_some() {
        println!("{}", trained.source());
    }
    assert_eq!(
        trained, TABLES,
        "`AMBIT_PRINT_TABLES=1 cargo test -p ambit-proto --lib the_tables_are -- --nocapture` prints what they should be; \
         a change of them is a new version of the protocol"
    );
}

#[test]
fn a_steered_walker_takes_less_than_nine_bits() {
    let bits = |steps: usize| {
        let (mut sum, mut count) = (0, 0);
        for seed in 1_000..1_200 {
            let mut walk = Walk::new(seed);
            let all: Vec<Pose> = (0..200).map(|_| walk.step().0).collect();
            for (base, pose) in all.iter().zip(&all[steps..]) {
                let stamp = GameTime::from_millis(10_000 + steps as u64 * STEP_MS);
                sum += u64::from(
                    code(
                        &FORMAT,
                        Some((GameTime::from_millis(10_000), base)),
                        stamp,
                        pose,
                    )
                    .bits_x256(),
                );
                count += 1;
            }
        }
        sum as f64 / 256.0 / f64::from(count)
    };
    let by_age: Vec<f64> = (1..=8).map(bits).collect();
    let mixed = f64::midpoint(by_age[0], by_age[1]);
    println!("bits by age in steps: {by_age:.2?}; half of age 1 and half of age 2: {mixed:.2}");
    assert!(mixed < 9.0, "{by_age:?}");
}

impl Tables {
    const EMPTY: Self = Self {
        turn: [[0; 65]; ROWS],
        turn_beyond: [0; ROWS],
        lateral: [[0; COLUMNS]; ROWS],
        along: [0; ROWS],
        first: [[0; 49]; ROWS],
        second: [[0; 49]; ROWS],
    };

    /// As it stands in `tables.rs`, before rustfmt.
    fn source(&self) -> String {
        let rows = |name: &str, rows: String| {
            format!("    {name}: {},\n", rows.replace("], [", "],\n        ["))
        };
        [
            rows("turn", format!("{:?}", self.turn)),
            rows("turn_beyond", format!("{:?}", self.turn_beyond)),
            rows("lateral", format!("{:?}", self.lateral)),
            rows("along", format!("{:?}", self.along)),
            rows("first", format!("{:?}", self.first)),
            rows("second", format!("{:?}", self.second)),
        ]
        .concat()
    }
}
