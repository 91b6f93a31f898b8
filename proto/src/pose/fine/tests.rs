//! Cubes that fall, bounce, roll and spin, sent over a path that loses packets.

use super::*;
use crate::pose::{MAX_AT, Turning, quaternion};

const FREE: PoseFormat =
    PoseFormat { per_metre: 512, turn: Turning::Free { bits: 9 }, motion: None };
const FINEST: PoseFormat =
    PoseFormat { per_metre: 4_096, turn: Turning::Free { bits: 15 }, motion: None };
const COARSE: PoseFormat =
    PoseFormat { per_metre: 20, turn: Turning::Free { bits: 5 }, motion: None };
const WALKER: PoseFormat =
    PoseFormat { per_metre: 100, turn: Turning::Yaw { bits: 8 }, motion: None };
const SLIDER: PoseFormat = PoseFormat { per_metre: 256, turn: Turning::Fixed, motion: None };

/// An even probability.
const EVEN: u16 = 1 << 15;
/// The simulation's step.
const TICK_US: u32 = 16_667;
/// The number of ticks after which a packet is acknowledged.
const LAG: usize = 6;

/// A body in metres and radians, moved by additions and multiplications only so that its bytes are
/// the same on every machine.
#[derive(Clone)]
struct Body {
    at: [f32; 3],
    velocity: [f32; 3],
    turn: [f32; 4],
    spin: [f32; 3],
    at_rest: bool,
}

impl Body {
    fn random(rng: &mut fastrand::Rng) -> Self {
        let mut any = |size: f32| (rng.f32() - 0.5) * 2.0 * size;
        let at = [any(8.0), any(8.0), any(2.0).abs() + 0.2];
        let velocity = [any(3.0), any(3.0), any(4.0)];
        let spin = [any(5.0), any(5.0), any(5.0)];
        Self { at, velocity, turn: [0.0, 0.0, 0.0, 1.0], spin, at_rest: false }
    }

    fn step(&mut self, rng: &mut fastrand::Rng) {
        const DT: f32 = 1.0 / 60.0;
        if self.at_rest {
            if rng.u32(0..200) == 0 {
                *self = Self { at: self.at, turn: self.turn, ..Self::random(rng) };
            }
            return;
        }
        self.velocity[2] -= 20.0 * DT;
        for axis in 0..3 {
            self.at[axis] += self.velocity[axis] * DT;
        }
        let [x, y, z] = self.spin.map(|spin| spin * DT * 0.5);
        let step = quaternion::compose([x, y, z, 0.0], self.turn);
        self.turn = quaternion::unit(std::array::from_fn(|part| self.turn[part] + step[part]));
        if self.at[2] < 0.2 {
            self.at[2] = 0.2;
            self.velocity =
                [self.velocity[0] * 0.8, self.velocity[1] * 0.8, -self.velocity[2] * 0.5];
            self.spin = self.spin.map(|spin| spin * 0.8 + (rng.f32() - 0.5));
            self.at_rest = self.velocity[2] < 0.3;
        }
    }

    fn pose(&self, format: PoseFormat) -> Pose {
        let at = self.at.map(|metres| (metres * f32::from(format.per_metre)).round() as i32);
        let speed =
            |displacement: [f32; 3]| vector::length(displacement) * f32::from(format.per_metre);
        let (turn, speed) = match format.turn {
            Turning::Fixed => ([0; 4], 0),
            Turning::Yaw { bits } => {
                let mask = (1 << bits) - 1;
                ([(self.spin[2] * 40.0) as i32 as u16 & mask, 0, 0, 0], speed(self.velocity) as i16)
            }
            Turning::Free { bits } => {
                let (largest, steps) = crate::wire::smallest_three(self.turn, bits.into());
                ([largest as u16, steps[0] as u16, steps[1] as u16, steps[2] as u16], 0)
            }
        };
        Pose { at, turn, speed, flag: self.at_rest, ..Pose::default() }
    }
}

/// Bodies over time, and which packets arrived.
struct World {
    formats: Vec<PoseFormat>,
    frames: Vec<Vec<Pose>>,
    arrived: Vec<bool>,
}

impl World {
    fn new(seed: u64, formats: Vec<PoseFormat>, ticks: usize, loss_percent: u32) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut bodies: Vec<Body> = formats.iter().map(|_| Body::random(&mut rng)).collect();
        let mut frames = Vec::new();
        for _ in 0..ticks {
            for body in &mut bodies {
                body.step(&mut rng);
            }
            frames.push(
                bodies.iter().zip(&formats).map(|(body, format)| body.pose(*format)).collect(),
            );
        }
        let arrived = (0..ticks).map(|_| rng.u32(0..100) >= loss_percent).collect();
        Self { formats, frames, arrived }
    }

    /// The acknowledged poses of a body at a tick: those in the last 32 packets that arrived.
    fn history(&self, tick: usize, body: usize) -> Vec<AgedPose> {
        (LAG..33.min(tick + 1))
            .filter(|back| self.arrived[tick - back])
            .map(|back| AgedPose {
                age_us: back as u32 * TICK_US,
                pose: self.frames[tick - back][body],
            })
            .collect()
    }

    /// The pose, if it differs from the newest known one.
    fn changed(&self, tick: usize, body: usize, history: &[AgedPose]) -> Option<&Pose> {
        let pose = &self.frames[tick][body];
        history.first().is_none_or(|newest| newest.pose != *pose).then_some(pose)
    }

    fn known<'h>(&self, body: usize, history: &'h [AgedPose]) -> KnownObject<'h> {
        KnownObject { format: self.formats[body], half_edge_m: 0.2, history }
    }

    fn encode(&self, tick: usize, state: &mut FineState) -> Vec<u8> {
        let mut out = Vec::new();
        let mut encoder = FineEncoder::new(entropy::RangeEncoder::new(&mut out), state);
        for body in 0..self.formats.len() {
            let history = self.history(tick, body);
            let pose = self.changed(tick, body, &history);
            let known = self.known(body, &history);
            if history.is_empty() {
                encoder.stream().bit(pose.is_some(), EVEN);
                if let Some(pose) = pose {
                    encoder.write_unacknowledged(&known, pose);
                }
            } else if body == 0 {
                encoder.write_reference(&known, pose);
            } else {
                encoder.write_object(&known, pose);
            }
        }
        encoder.finish();
        out
    }

    /// The decoded poses by body; `None` for a body that is not in the section.
    fn decode(
        &self,
        tick: usize,
        bytes: &[u8],
        state: &mut FineState,
    ) -> Result<Vec<Option<Pose>>, WireError> {
        let mut decoder = FineDecoder::new(entropy::RangeDecoder::new(bytes), state);
        let mut poses = vec![None; self.formats.len()];
        for (body, pose) in poses.iter_mut().enumerate() {
            let history = self.history(tick, body);
            let known = self.known(body, &history);
            *pose = if history.is_empty() {
                let is_in = decoder.stream().bit(EVEN);
                is_in.then(|| decoder.read_unacknowledged(&known)).transpose()?
            } else if body == 0 {
                decoder.read_reference(&known)?
            } else {
                decoder.read_object(&known)?
            };
        }
        decoder.finish()?;
        Ok(poses)
    }

    fn sent(&self, tick: usize) -> Vec<Option<Pose>> {
        (0..self.formats.len())
            .map(|body| self.changed(tick, body, &self.history(tick, body)).copied())
            .collect()
    }
}

fn all_formats() -> Vec<PoseFormat> {
    (0..40).map(|body| [FREE, FREE, FINEST, COARSE, WALKER, SLIDER][body % 6]).collect()
}

#[test]
fn a_section_is_read_as_it_was_written_whatever_was_lost() {
    for (seed, loss_percent) in [(1, 0), (2, 10), (3, 40), (4, 90)] {
        let world = World::new(seed, all_formats(), 120, loss_percent);
        let mut sender = FineState::default();
        let mut receiver = FineState::default();
        for tick in 0..120 {
            let bytes = world.encode(tick, &mut sender);
            let read = world.decode(tick, &bytes, &mut receiver);
            assert_eq!(read, Ok(world.sent(tick)), "seed {seed}, tick {tick}");
        }
    }
}

#[test]
fn a_reference_is_interpolated_where_a_datagram_lacks_it() {
    let world = World::new(5, vec![FREE; 12], 60, 0);
    let mut out = Vec::new();
    let mut read = Vec::new();
    let histories: Vec<Vec<AgedPose>> = (0..12).map(|body| world.history(50, body)).collect();
    let sparse: Vec<AgedPose> = histories[0].iter().step_by(3).copied().collect();
    let known = |body: usize| world.known(body, if body == 0 { &sparse } else { &histories[body] });
    let mut state = FineState::default();
    let mut encoder = FineEncoder::new(entropy::RangeEncoder::new(&mut out), &mut state);
    encoder.write_reference(&known(0), Some(&world.frames[50][0]));
    (1..12).for_each(|body| encoder.write_object(&known(body), Some(&world.frames[50][body])));
    encoder.finish();
    let mut decoder = FineDecoder::new(entropy::RangeDecoder::new(&out), &mut state);
    let valid = "the encoding is valid";
    read.push(decoder.read_reference(&known(0)).expect(valid));
    (1..12).for_each(|body| read.push(decoder.read_object(&known(body)).expect(valid)));
    assert!(read.iter().zip(&world.frames[50]).all(|(read, sent)| read.as_ref() == Some(sent)));
}

#[test]
fn an_old_baseline_saves_bytes() {
    let world = World::new(6, vec![FREE; 2], 60, 0);
    let pose = world.frames[50][1];
    let old = [AgedPose { age_us: 900_000, pose: Pose { flag: !pose.flag, ..pose } }];
    let bytes = |history: &[AgedPose]| {
        let mut out = Vec::new();
        let mut state = FineState::default();
        let mut encoder = FineEncoder::new(entropy::RangeEncoder::new(&mut out), &mut state);
        encoder.write_unacknowledged(&world.known(1, history), &pose);
        encoder.finish();
        let mut decoder = FineDecoder::new(entropy::RangeDecoder::new(&out), &mut state);
        assert_eq!(decoder.read_unacknowledged(&world.known(1, history)), Ok(pose));
        assert_eq!(decoder.finish(), Ok(()));
        out.len()
    };
    assert!(bytes(&old) + 4 < bytes(&[]), "{} and {}", bytes(&old), bytes(&[]));
}

#[test]
fn a_missing_baseline_is_refused() {
    let world = World::new(6, vec![FREE; 2], 60, 0);
    let mut out = Vec::new();
    let mut state = FineState::default();
    let old = [AgedPose { age_us: 900_000, pose: world.frames[0][1] }];
    let mut encoder = FineEncoder::new(entropy::RangeEncoder::new(&mut out), &mut state);
    encoder.write_unacknowledged(&world.known(1, &old), &world.frames[50][1]);
    encoder.finish();
    let mut decoder = FineDecoder::new(entropy::RangeDecoder::new(&out), &mut state);
    let refused = decoder.read_unacknowledged(&world.known(1, &[]));
    assert_eq!(refused, Err(WireError::OutOfRange { what: "baseline of a pose" }));
}

#[test]
fn the_length_is_known_before_the_end() {
    let world = World::new(8, vec![FREE; 30], 60, 0);
    let mut out = Vec::new();
    let mut state = FineState::default();
    let mut encoder = FineEncoder::new(entropy::RangeEncoder::new(&mut out), &mut state);
    for body in 0..30 {
        let history = world.history(50, body);
        encoder.write_object(&world.known(body, &history), Some(&world.frames[50][body]));
    }
    let so_far = encoder.bytes_so_far();
    encoder.finish();
    assert!(
        (so_far - 1..=so_far + 1).contains(&out.len()),
        "{so_far} promised, {} written",
        out.len()
    );
}

#[test]
fn a_truncated_section_is_never_read_as_the_whole() {
    let world = World::new(9, all_formats(), 60, 20);
    let mut state = FineState::default();
    for tick in [0, 10, 30, 59] {
        let bytes = world.encode(tick, &mut state);
        let sent = world.sent(tick);
        for length in 0..bytes.len() {
            let read = world.decode(tick, &bytes[..length], &mut state);
            assert_ne!(read.as_ref(), Ok(&sent), "tick {tick}, {length} bytes of {}", bytes.len());
        }
        let mut longer = bytes.clone();
        longer.extend([0; 3]);
        assert_eq!(
            world.decode(tick, &longer, &mut state),
            Err(WireError::TrailingBits),
            "tick {tick}"
        );
    }
}

#[test]
fn arbitrary_bytes_are_refused_or_poses_that_fit() {
    let world = World::new(10, all_formats(), 60, 20);
    let mut rng = fastrand::Rng::with_seed(11);
    let mut state = FineState::default();
    let mut refused = 0;
    for round in 0..2_000 {
        let tick = rng.usize(0..60);
        let mut bytes: Vec<u8> = if rng.bool() {
            (0..rng.usize(0..300)).map(|_| rng.u8(..)).collect()
        } else {
            world.encode(tick, &mut state)
        };
        for _ in 0..rng.usize(0..4).min(bytes.len()) {
            let index = rng.usize(0..bytes.len());
            bytes[index] ^= 1 << rng.u32(0..8);
        }
        match world.decode(tick, &bytes, &mut state) {
            Ok(poses) => {
                let fit = poses
                    .iter()
                    .zip(&world.formats)
                    .all(|(pose, format)| pose.is_none_or(|pose| format.fits(&pose)));
                assert!(fit, "round {round}: {poses:?}");
            }
            Err(_) => refused += 1,
        }
    }
    assert!(refused > 1_000, "{refused} refused");
}

#[test]
fn poses_at_the_edge_of_the_grid_are_read_back_exactly() {
    let max = MAX_AT;
    let corner = |at: i32, largest: u16| Pose {
        at: [at, -at, at],
        turn: [largest, 511, 0, 511],
        ..Pose::default()
    };
    let history = [
        AgedPose { age_us: 1, pose: corner(max, 0) },
        AgedPose { age_us: 2, pose: corner(-max, 3) },
        AgedPose { age_us: u32::MAX, pose: corner(0, 1) },
    ];
    let known = KnownObject { format: FREE, half_edge_m: 1e6, history: &history };
    for pose in [corner(-max, 2), corner(max, 3), corner(0, 0)] {
        let mut out = Vec::new();
        let mut state = FineState::default();
        let mut encoder = FineEncoder::new(entropy::RangeEncoder::new(&mut out), &mut state);
        encoder.write_reference(&known, Some(&pose));
        encoder.write_object(&known, Some(&pose));
        encoder.write_object(&known, None);
        encoder.finish();
        let mut decoder = FineDecoder::new(entropy::RangeDecoder::new(&out), &mut state);
        assert_eq!(decoder.read_reference(&known), Ok(Some(pose)));
        assert_eq!(decoder.read_object(&known), Ok(Some(pose)));
        assert_eq!(decoder.read_object(&known), Ok(None));
        assert_eq!(decoder.finish(), Ok(()));
    }
}

/// Packing by hand takes a bit for each body. A body in the section takes 14 bits each for x and y
/// (32 m), 12 for z (8 m), 29 for the turn and 1 for the flag.
#[test]
fn tumbling_cubes_take_less_than_two_thirds_of_packing_by_hand() {
    let world = World::new(12, vec![FREE; 100], 90, 5);
    let mut coded = 0;
    let mut by_hand = 0;
    let mut state = FineState::default();
    for tick in 40..90 {
        coded += world.encode(tick, &mut state).len() * 8;
        by_hand += 100 + world.sent(tick).iter().flatten().count() * (14 + 14 + 12 + 29 + 1);
    }
    assert!(coded * 3 < by_hand * 2, "{coded} bits and {by_hand}");
}

#[test]
fn objects_at_rest_cost_almost_nothing() {
    let mut world = World::new(13, vec![FREE; 900], 40, 0);
    let still = world.frames[0].clone();
    world.frames.iter_mut().for_each(|frame| frame.clone_from(&still));
    let bytes = world.encode(39, &mut FineState::default()).len();
    assert!(bytes <= 8, "{bytes} bytes for 900 at rest");
}
