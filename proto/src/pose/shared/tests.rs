//! Round trips through the range coder, for walkers and other objects.

use super::*;
use crate::entropy::RangeEncoder;
use crate::examples::poses::any_pose;
use crate::space::Position;

#[test]
fn any_pose_is_read_as_it_was_coded_whatever_its_baseline() {
    for seed in 0..40_000 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let format = any_format(&mut rng);
        let baseline = any_pose(&mut rng, format);
        let pose = any_pose(&mut rng, format);
        let near = nearby(&mut rng, format, &baseline);
        let pose = [pose, baseline, near, near][rng.usize(..4)];
        let time = GameTime::from_millis(1_000_000);
        let age = std::time::Duration::from_millis(rng.u64(..1 << 32) >> rng.u8(..32));
        let baseline = rng.u8(..4).gt(&0).then_some((time, &baseline));
        check(format, baseline, time + age, &pose, seed);
    }
}

#[test]
fn the_computed_cost_matches_the_written_bits() {
    let mut rng = fastrand::Rng::with_seed(1);
    let mut bytes = Vec::new();
    let mut cost = 0;
    let mut encoder = RangeEncoder::new(&mut bytes);
    for _ in 0..2_000 {
        let format = any_format(&mut rng);
        let baseline = any_pose(&mut rng, format);
        let pose = nearby(&mut rng, format, &baseline);
        let coded =
            code(&format, Some((GameTime::ZERO, &baseline)), GameTime::from_millis(50), &pose);
        cost += coded.bits_x256();
        coded.write(&mut encoder);
    }
    encoder.finish();
    let written = 8.0 * bytes.len() as f64;
    let computed = f64::from(cost) / 256.0;
    assert!(
        (written / computed - 1.0).abs() < 0.005,
        "{written} bits written, {computed} computed"
    );
}

#[test]
fn an_object_at_rest_costs_at_most_two_bits() {
    for format in
        [walker(8), PoseFormat { per_metre: 512, turn: Turning::Free { bits: 9 }, motion: None }]
    {
        let pose = format.pose(Position::on_ground(50.0, 60.0), 1.0, 0.0);
        let bits =
            code(&format, Some((GameTime::ZERO, &pose)), GameTime::from_millis(5_000), &pose)
                .bits();
        assert!(bits <= 2, "{bits} bits, {format:?}");
    }
}

#[test]
fn without_a_baseline_a_walker_takes_about_fifty_bits() {
    let mut rng = fastrand::Rng::with_seed(1);
    let mut sum = 0;
    for _ in 0..1_000 {
        let position = Position::on_ground(rng.f32() * 200.0, rng.f32() * 200.0);
        let pose = walker(8).pose(position, rng.f32() * 6.0, 4.0);
        sum += code(&walker(8), None, GameTime::ZERO, &pose).bits_x256();
    }
    let bits = f64::from(sum) / 256_000.0;
    assert!((45.0..60.0).contains(&bits), "{bits}");
}

#[test]
fn a_walker_that_starts_stops_or_jumps_costs_bounded_bits() {
    let stamp = GameTime::from_millis(50);
    let at = |x, yaw, speed| walker(8).pose(Position::on_ground(x, 50.0), yaw, speed);
    for (baseline, pose, most) in [
        (at(50.0, 0.0, 0.0), at(50.2, 0.1, 4.0), 40),
        (at(50.0, 0.0, 4.0), at(50.0, 0.1, 0.0), 40),
        (at(50.0, 0.0, 4.0), at(150.0, 3.0, 4.0), 75),
    ] {
        let bits = code(&walker(8), Some((GameTime::ZERO, &baseline)), stamp, &pose).bits();
        assert!(bits <= most, "{bits} bits: {baseline:?}, {pose:?}");
    }
}

#[test]
fn any_bytes_give_a_pose_that_fits_or_an_error() {
    for seed in 0..20_000 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let format = any_format(&mut rng);
        let baseline = any_pose(&mut rng, format);
        let baseline = rng.bool().then_some((GameTime::ZERO, &baseline));
        let bytes: Vec<u8> =
            (0..rng.usize(..60)).map(|_| if rng.bool() { rng.u8(..) } else { 0xff }).collect();
        let stamp = GameTime::from_millis(rng.u64(..1 << 40) >> rng.u8(..40));
        if let Ok(pose) = read(format, baseline, stamp, &mut RangeDecoder::new(&bytes)) {
            assert!(format.fits(&pose), "seed {seed}: {pose:?}");
            check(format, baseline, stamp, &pose, seed);
        }
    }
}

fn check(
    format: PoseFormat,
    baseline: Option<(GameTime, &Pose)>,
    stamp: GameTime,
    pose: &Pose,
    seed: u64,
) {
    let coded = code(&format, baseline, stamp, pose);
    let mut bytes = Vec::new();
    let mut encoder = RangeEncoder::new(&mut bytes);
    coded.write(&mut encoder);
    encoder.finish();
    let mut decoder = RangeDecoder::new(&bytes);
    let read = read(format, baseline, stamp, &mut decoder);
    assert_eq!(read.as_ref(), Ok(pose), "seed {seed}: {format:?}, baseline {baseline:?}");
    assert_eq!(decoder.finish(), Ok(()), "seed {seed}");
}

fn nearby(rng: &mut fastrand::Rng, format: PoseFormat, baseline: &Pose) -> Pose {
    let mut pose = *baseline;
    pose.at = pose.at.map(|at| (at + rng.i32(-60..60)).clamp(-MAX_AT, MAX_AT));
    if rng.bool() {
        pose.turn = any_pose(rng, format).turn;
    }
    pose.flag ^= rng.bool();
    pose
}

fn any_format(rng: &mut fastrand::Rng) -> PoseFormat {
    let turn = match rng.u8(..4) {
        0 => Turning::Fixed,
        1 => Turning::Free { bits: rng.u8(5..=15) },
        _ => Turning::Yaw { bits: rng.u8(4..=12) },
    };
    PoseFormat { per_metre: rng.u16(1..=4_096), turn, motion: None }
}

fn walker(bits: u8) -> PoseFormat {
    PoseFormat { per_metre: 100, turn: Turning::Yaw { bits }, motion: None }
}
