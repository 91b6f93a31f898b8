//! Computes the walker tables from a simulated walk.
//!
//! A walker of 4 m/s turns by a random angle of at most 10 degrees, evenly distributed, then walks
//! for 50 ms; its poses have 100 units a metre and a yaw of 8 bits. The result is the same on every
//! machine: sines are a series, and the random numbers are seeded.

use ambit_proto::pose::trained::WalkerTables;
use ambit_proto::pose::trained::internals::{
    COLUMNS, ROWS, STEP_MS, WALKER_TABLES, WalkerPrediction, lateral_column, yaw_difference,
    yaw_rounding,
};
use ambit_proto::pose::{Pose, PoseFormat, Turning};
use ambit_proto::space::Position;

use super::{Trained, source};

const FORMAT: PoseFormat =
    PoseFormat { per_metre: 100, turn: Turning::Yaw { bits: 8 }, motion: None };
const BITS: u32 = 8;
const WALKS: u64 = 400;
const STEPS: usize = 400;

impl Trained for WalkerTables {
    type Examples = ();

    const FILE: &'static str = "walker.rs";

    fn in_use() -> &'static Self {
        &WALKER_TABLES
    }

    fn train((): &(), progress: &mut dyn FnMut(&str)) -> Self {
        progress("simulated walkers; takes some seconds");
        let mut tables = EMPTY;
        fit_turns(&mut tables);
        fit_variances(&mut tables);
        fit_distributions(&mut tables);
        tables
    }

    fn to_source(&self) -> String {
        source::generated(
            "WALKER_TABLES",
            "WalkerTables",
            "walker",
            &[
                ("turn", &self.turn),
                ("turn_beyond", &self.turn_beyond),
                ("lateral", &self.lateral),
                ("along", &self.along),
                ("first", &self.first),
                ("second", &self.second),
            ],
        )
    }
}

const EMPTY: WalkerTables = WalkerTables {
    turn: [[0; 65]; ROWS],
    turn_beyond: [0; ROWS],
    lateral: [[0; COLUMNS]; ROWS],
    along: [0; ROWS],
    first: [[0; 49]; ROWS],
    second: [[0; 49]; ROWS],
};

/// A walker that is steered at random.
struct SteeredWalk {
    rng: fastrand::Rng,
    /// Metres.
    position: [f64; 2],
    /// Turns.
    heading: f64,
}

impl SteeredWalk {
    fn new(seed: u64) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed);
        Self {
            position: [rng.f64() * 200.0 + 100.0, rng.f64() * 200.0 + 100.0],
            heading: rng.f64(),
            rng,
        }
    }

    /// The next step: the pose, and the position in grid units before it was rounded.
    fn step(&mut self) -> (Pose, [f64; 2]) {
        self.heading = (self.heading + (self.rng.f64() - 0.5) / 18.0).rem_euclid(1.0);
        let step_m = 4.0 * STEP_MS as f64 / 1_000.0;
        self.position[0] += step_m * sine(self.heading + 0.25);
        self.position[1] += step_m * sine(self.heading);
        let position = Position::on_ground(self.position[0] as f32, self.position[1] as f32);
        let radians = self.heading * std::f64::consts::TAU;
        (FORMAT.pose(position, radians as f32, 4.0), self.position.map(|metres| metres * 100.0))
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
    let mut term = x;
    let mut sum = x;
    for n in 1..12 {
        term *= -x * x / f64::from(2 * n * (2 * n + 1));
        sum += term;
    }
    sum
}

/// All pairs of poses that many steps apart: baseline, pose, and the exact position in grid units.
fn pairs(steps: usize) -> impl Iterator<Item = (Pose, Pose, [f64; 2])> {
    (0..WALKS).flat_map(move |seed| {
        let mut walk = SteeredWalk::new(seed);
        let all: Vec<_> = (0..STEPS + steps).map(|_| walk.step()).collect();
        (0..STEPS).map(move |index| (all[index].0, all[index + steps].0, all[index + steps].1))
    })
}

/// The cumulative distribution of magnitudes on a grid of `N` points: 2^14 is all of them.
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

fn fit_turns(tables: &mut WalkerTables) {
    for steps in 1..=ROWS {
        // Rounding spreads a yaw evenly over a step of the format; the table's unit is half a step.
        let mut spread = fastrand::Rng::with_seed(steps as u64);
        let turns = pairs(steps).map(|(baseline, pose, _)| {
            f64::from(yaw_difference(BITS, baseline.turn[0], pose.turn[0]))
        });
        let mut magnitudes: Vec<f64> =
            turns.map(|turn| (turn + spread.f64() - 0.5).abs() * 2.0).collect();
        let beyond = magnitudes.iter().filter(|magnitude| **magnitude > 65.0).count();
        tables.turn_beyond[steps - 1] = ((beyond << 15) / magnitudes.len()).max(16) as u32;
        magnitudes.retain(|magnitude| *magnitude <= 65.0);
        tables.turn[steps - 1] = distribution(&mut magnitudes);
    }
}

/// Variances across and along the direction of movement, in units of a step's length.
fn fit_variances(tables: &mut WalkerTables) {
    tables.lateral = [[0; COLUMNS]; ROWS];
    tables.along = [0; ROWS];
    for steps in 1..=ROWS {
        let mut across = [0.0; COLUMNS];
        let mut count = [0.0; COLUMNS];
        let mut along = 0.0;
        for (baseline, pose, exact) in pairs(steps) {
            let age_ms = steps as u64 * STEP_MS;
            let predicted = WalkerPrediction::new(tables, BITS, &baseline, &pose, age_ms);
            let mean = predicted.mean.map(|mean| mean as f64 / 256.0);
            let error = [0, 1].map(|axis| exact[axis] - mean[axis]);
            let ahead = [0, 1].map(|axis| mean[axis] - f64::from(baseline.at[axis]));
            let length = ahead[0].hypot(ahead[1]);
            let turn = yaw_difference(BITS, baseline.turn[0], pose.turn[0]);
            let column = lateral_column(BITS, steps as u64, turn);
            across[column] += ((error[1] * ahead[0] - error[0] * ahead[1]) / length).powi(2);
            along += ((error[0] * ahead[0] + error[1] * ahead[1]) / length).powi(2);
            count[column] += 1.0;
        }
        let net = |variance: f64| (variance - 1.0 / 12.0) / 400.0 * f64::from(1 << 24);
        let rounding = yaw_rounding(BITS) * (steps * steps + 1) as u64 / 2;
        tables.along[steps - 1] = net(along / count.iter().sum::<f64>()).max(0.0) as u32;
        for column in 0..COLUMNS {
            let variance =
                if count[column] > 0.0 { net(across[column] / count[column]) } else { 0.0 };
            tables.lateral[steps - 1][column] = (variance - rounding as f64).max(0.0) as u32;
        }
        // Columns with few examples get the value of the last column that has enough.
        let seen = count.iter().take_while(|count| **count >= 100.0).count().max(1);
        let last = tables.lateral[steps - 1][seen - 1];
        tables.lateral[steps - 1][seen..].fill(last);
    }
}

/// The shapes of the distributions around the predicted coordinates.
fn fit_distributions(tables: &mut WalkerTables) {
    for steps in 1..=ROWS {
        let mut first = Vec::new();
        let mut second = Vec::new();
        for (baseline, pose, exact) in pairs(steps) {
            let age_ms = steps as u64 * STEP_MS;
            let predicted = WalkerPrediction::new(tables, BITS, &baseline, &pose, age_ms);
            let axis = predicted.first;
            let error = exact[axis] * 256.0 - predicted.mean[axis] as f64;
            first.push((error / f64::from(predicted.deviation) * 8.0).abs());
            let mean = predicted.second_mean(pose.at[axis]);
            let error = exact[1 - axis] * 256.0 - mean as f64;
            second.push((error / f64::from(predicted.second_deviation) * 8.0).abs());
        }
        tables.first[steps - 1] = distribution(&mut first);
        tables.second[steps - 1] = distribution(&mut second);
    }
}

#[cfg(test)]
mod tests {
    use ambit_proto::pose::{
        AckedSet, BaselineHistory, BaselineMode, BaselineSource, Level, ReceivedPose,
        SectionHeader, SectionPose, SectionWriter, code, read_section,
    };
    use ambit_proto::time::GameTime;

    use super::*;

    #[test]
    fn the_walker_tables_are_what_the_trainer_computes() {
        assert_eq!(
            WalkerTables::train(&(), &mut |_| {}),
            WALKER_TABLES,
            "`cargo run --release -p ambit-pose-training -- walker` writes what they should be; \
             a change of them is a new version of the protocol"
        );
    }

    #[test]
    fn a_steered_walker_takes_less_than_nine_bits() {
        let bits = |steps: usize| {
            let mut sum = 0;
            let mut count = 0;
            for seed in 1_000..1_200 {
                let mut walk = SteeredWalk::new(seed);
                let all: Vec<Pose> = (0..200).map(|_| walk.step().0).collect();
                for (baseline, pose) in all.iter().zip(&all[steps..]) {
                    let sent = GameTime::from_millis(10_000);
                    let stamp = GameTime::from_millis(10_000 + steps as u64 * STEP_MS);
                    let coded = code(&FORMAT, Some((sent, baseline)), stamp, pose);
                    sum += u64::from(coded.bits_x256());
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

    /// What a client knows of the walkers, by slot.
    struct Walkers(Vec<BaselineHistory>);

    impl BaselineSource for Walkers {
        fn object(&self, slot: u16) -> Option<(&PoseFormat, &BaselineHistory)> {
            self.0.get(usize::from(slot)).map(|history| (&FORMAT, history))
        }
    }

    #[test]
    fn thirty_steered_walkers_take_less_than_seven_and_a_half_bits_each() {
        let mut walks: Vec<SteeredWalk> = (0..30).map(SteeredWalk::new).collect();
        let mut receiver = Walkers(walks.iter().map(|_| BaselineHistory::new(0)).collect());
        let mut bits = 0;
        let mut count = 0;
        for number in 1..200_u64 {
            let stamp = GameTime::from_millis(number * STEP_MS);
            // An acknowledgement takes one tick, or two.
            let lag = 1 + number % 2;
            let acked = (number > 40).then(|| AckedSet { newest: number - lag, mask: u32::MAX });
            let mut bytes = Vec::new();
            let mut writer =
                SectionWriter::new(&mut bytes, &SectionHeader::new(Level::Shared, number, acked));
            let poses: Vec<Pose> = walks.iter_mut().map(|walk| walk.step().0).collect();
            for ((slot, pose), history) in (0..).zip(&poses).zip(&receiver.0) {
                let baseline = acked.and_then(|acked| history.baseline(&acked));
                let mode =
                    if baseline.is_some() { BaselineMode::Window } else { BaselineMode::Absolute };
                let baseline = baseline.map(|baseline| (baseline.stamp, &baseline.pose));
                writer.write_shared(slot, mode, &code(&FORMAT, baseline, stamp, pose));
            }
            writer.finish();
            let mut read = Vec::new();
            assert_eq!(read_section(&bytes, number, stamp, &receiver, &mut read), Ok(acked));
            assert!(read.iter().map(|read| &read.pose).eq(&poses));
            for SectionPose { slot, pose, .. } in read {
                receiver.0[usize::from(slot)].insert(ReceivedPose { number, stamp, pose });
            }
            if number > 50 {
                bits += 8 * bytes.len();
                count += poses.len();
            }
        }
        let each = bits as f64 / f64::from(count as u32);
        println!("{each:.2} bits a walker and update, section and all");
        assert!(each < 7.5, "{each}");
    }
}
