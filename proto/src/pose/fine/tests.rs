//! Cubes that fall, bounce, roll and spin, sent over a path that loses packets.

use super::*;
use crate::pose::{MAX_AT, Turning};

const FREE: PoseFormat = PoseFormat {
    per_metre: 512,
    turn: Turning::Free { bits: 9 },
    motion: None,
};
const FINEST: PoseFormat = PoseFormat {
    per_metre: 4_096,
    turn: Turning::Free { bits: 15 },
    motion: None,
};
const COARSE: PoseFormat = PoseFormat {
    per_metre: 20,
    turn: Turning::Free { bits: 5 },
    motion: None,
};
const WALKER: PoseFormat = PoseFormat {
    per_metre: 100,
    turn: Turning::Yaw { bits: 8 },
    motion: None,
};
const SLIDER: PoseFormat = PoseFormat {
    per_metre: 256,
    turn: Turning::Fixed,
    motion: None,
};

/// The world's step.
const TICK_US: u32 = 16_667;
/// What is sent is known to have arrived after that many ticks.
const LAG: usize = 6;

/// A body in metres and radians, moved by additions and multiplications only so that its bytes are
/// the same everywhere.
#[derive(Clone)]
struct Body {
    at: [f32; 3],
    velocity: [f32; 3],
    turn: [f32; 4],
    spin: [f32; 3],
    rests: bool,
}

impl Body {
    fn random(rng: &mut fastrand::Rng) -> Self {
        let mut any = |size: f32| (rng.f32() - 0.5) * 2.0 * size;
        let at = [any(8.0), any(8.0), any(2.0).abs() + 0.2];
        let (velocity, spin) = (
            [any(3.0), any(3.0), any(4.0)],
            [any(5.0), any(5.0), any(5.0)],
        );
        Self {
            at,
            velocity,
            turn: [0.0, 0.0, 0.0, 1.0],
            spin,
            rests: false,
        }
    }

    fn step(&mut self, rng: &mut fastrand::Rng) {
        const DT: f32 = 1.0 / 60.0;
        if self.rests {
            if rng.u32(0..200) == 0 {
                *self = Self {
                    at: self.at,
                    turn: self.turn,
                    ..Self::random(rng)
                };
            }
            return;
        }
        self.velocity[2] -= 20.0 * DT;
        for axis in 0..3 {
            self.at[axis] += self.velocity[axis] * DT;
        }
        let [x, y, z] = self.spin.map(|spin| spin * DT * 0.5);
        let step = space::compose([x, y, z, 0.0], self.turn);
        self.turn = space::unit(std::array::from_fn(|part| self.turn[part] + step[part]));
        if self.at[2] < 0.2 {
            self.at[2] = 0.2;
            self.velocity = [
                self.velocity[0] * 0.8,
                self.velocity[1] * 0.8,
                -self.velocity[2] * 0.5,
            ];
            self.spin = self.spin.map(|spin| spin * 0.8 + (rng.f32() - 0.5));
            self.rests = self.velocity[2] < 0.3;
        }
    }

    fn pose(&self, format: PoseFormat) -> Pose {
        let at = self
            .at
            .map(|metres| (metres * f32::from(format.per_metre)).round() as i32);
        let speed = |way: [f32; 3]| space::length(way) * f32::from(format.per_metre);
        let (turn, speed) = match format.turn {
            Turning::Fixed => ([0; 4], 0),
            Turning::Yaw { bits } => {
                let mask = (1 << bits) - 1;
                (
                    [(self.spin[2] * 40.0) as i32 as u16 & mask, 0, 0, 0],
                    speed(self.velocity) as i16,
                )
            }
            Turning::Free { bits } => {
                let (largest, steps) = crate::wire::smallest_three(self.turn, bits.into());
                (
                    [
                        largest as u16,
                        steps[0] as u16,
                        steps[1] as u16,
                        steps[2] as u16,
                    ],
                    0,
                )
            }
        };
        Pose {
            at,
            turn,
            speed,
            flag: self.rests,
            ..Pose::default()
        }
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
                bodies
                    .iter()
                    .zip(&formats)
                    .map(|(body, format)| body.pose(*format))
                    .collect(),
            );
        }
        let arrived = (0..ticks)
            .map(|_| rng.u32(0..100) >= loss_percent)
            .collect();
        Self {
            formats,
            frames,
            arrived,
        }
    }

    /// What is known of a body at a tick: its poses in the last 32 packets that arrived.
    fn history(&self, tick: usize, body: usize) -> Vec<Seen> {
        (LAG..33.min(tick + 1))
            .filter(|back| self.arrived[tick - back])
            .map(|back| Seen {
                age_us: back as u32 * TICK_US,
                pose: self.frames[tick - back][body],
            })
            .collect()
    }

    /// Who is in: what differs from its newest known pose.
    fn news(&self, tick: usize, body: usize, history: &[Seen]) -> Option<&Pose> {
        let pose = &self.frames[tick][body];
        history
            .first()
            .is_none_or(|newest| newest.pose != *pose)
            .then_some(pose)
    }

    fn known<'h>(&self, body: usize, history: &'h [Seen]) -> Known<'h> {
        Known {
            format: self.formats[body],
            half_edge_m: 0.2,
            history,
        }
    }

    fn encode(&self, tick: usize, scene: &mut Scene) -> (Vec<u8>, Spent) {
        let mut out = Vec::new();
        let mut encoder = Encoder::new(entropy::Encoder::new(&mut out), scene);
        let mut newcomers = Vec::new();
        for body in 0..self.formats.len() {
            let history = self.history(tick, body);
            let news = self.news(tick, body, &history);
            let known = self.known(body, &history);
            if history.is_empty() {
                newcomers.extend(news.map(|pose| (body as u16 * 3, known.format, *pose)));
            } else if body == 0 {
                encoder.reference(&known, news);
            } else {
                encoder.object(&known, news);
            }
        }
        for (slot, format, pose) in newcomers {
            encoder.newcomer(
                slot,
                &Known {
                    format,
                    half_edge_m: 0.2,
                    history: &[],
                },
                &pose,
            );
        }
        let spent = encoder.finish();
        (out, spent)
    }

    /// The poses of those that are in, by body.
    fn decode(
        &self,
        tick: usize,
        bytes: &[u8],
        scene: &mut Scene,
    ) -> Result<Vec<Option<Pose>>, WireError> {
        let mut decoder = Decoder::new(entropy::Decoder::new(bytes), scene);
        let mut poses = vec![None; self.formats.len()];
        for (body, pose) in poses.iter_mut().enumerate() {
            let history = self.history(tick, body);
            let known = self.known(body, &history);
            *pose = if history.is_empty() {
                None
            } else if body == 0 {
                decoder.reference(&known)?
            } else {
                decoder.object(&known)?
            };
        }
        while let Some(slot) = decoder.newcomer()? {
            let body = usize::from(slot) / 3;
            let format = *self.formats.get(body).ok_or(WireError::Unknown {
                what: "slot",
                value: slot.into(),
            })?;
            poses[body] = Some(decoder.newcomer_pose(&Known {
                format,
                half_edge_m: 0.2,
                history: &[],
            })?);
        }
        decoder.finish()?;
        Ok(poses)
    }

    fn sent(&self, tick: usize) -> Vec<Option<Pose>> {
        (0..self.formats.len())
            .map(|body| self.news(tick, body, &self.history(tick, body)).copied())
            .collect()
    }
}

fn all_formats() -> Vec<PoseFormat> {
    (0..40)
        .map(|body| [FREE, FREE, FINEST, COARSE, WALKER, SLIDER][body % 6])
        .collect()
}

#[test]
fn what_was_written_is_read_whatever_was_lost() {
    for (seed, loss_percent) in [(1, 0), (2, 10), (3, 40), (4, 90)] {
        let world = World::new(seed, all_formats(), 120, loss_percent);
        let (mut ours, mut theirs) = (Scene::default(), Scene::default());
        for tick in 0..120 {
            let (bytes, _) = world.encode(tick, &mut ours);
            let read = world.decode(tick, &bytes, &mut theirs);
            assert_eq!(read, Ok(world.sent(tick)), "seed {seed}, tick {tick}");
        }
    }
}

#[test]
fn a_reference_that_was_not_in_a_datagram_is_taken_to_have_moved_straight() {
    let world = World::new(5, vec![FREE; 12], 60, 0);
    let (mut out, mut read) = (Vec::new(), Vec::new());
    let histories: Vec<Vec<Seen>> = (0..12).map(|body| world.history(50, body)).collect();
    let sparse: Vec<Seen> = histories[0].iter().step_by(3).copied().collect();
    let known = |body: usize| world.known(body, if body == 0 { &sparse } else { &histories[body] });
    let mut scene = Scene::default();
    let mut encoder = Encoder::new(entropy::Encoder::new(&mut out), &mut scene);
    encoder.reference(&known(0), Some(&world.frames[50][0]));
    (1..12).for_each(|body| encoder.object(&known(body), Some(&world.frames[50][body])));
    encoder.finish();
    let mut decoder = Decoder::new(entropy::Decoder::new(&out), &mut scene);
    read.push(decoder.reference(&known(0)).expect("what we wrote"));
    (1..12).for_each(|body| read.push(decoder.object(&known(body)).expect("what we wrote")));
    assert!(
        read.iter()
            .zip(&world.frames[50])
            .all(|(read, sent)| read.as_ref() == Some(sent))
    );
}

#[test]
fn an_old_base_is_better_than_none() {
    let world = World::new(6, vec![FREE; 2], 60, 0);
    let pose = world.frames[50][1];
    let old = [Seen {
        age_us: 900_000,
        pose: Pose {
            flag: !pose.flag,
            ..pose
        },
    }];
    let bytes = |history: &[Seen]| {
        let (mut out, mut scene) = (Vec::new(), Scene::default());
        let mut encoder = Encoder::new(entropy::Encoder::new(&mut out), &mut scene);
        encoder.newcomer(700, &world.known(1, history), &pose);
        encoder.finish();
        let mut decoder = Decoder::new(entropy::Decoder::new(&out), &mut scene);
        assert_eq!(decoder.newcomer(), Ok(Some(700)));
        assert_eq!(decoder.newcomer_pose(&world.known(1, history)), Ok(pose));
        assert_eq!(decoder.newcomer(), Ok(None));
        assert_eq!(decoder.finish(), Ok(()));
        out.len()
    };
    assert!(
        bytes(&old) + 4 < bytes(&[]),
        "{} and {}",
        bytes(&old),
        bytes(&[])
    );
}

#[test]
fn a_base_that_is_not_there_is_refused() {
    let world = World::new(6, vec![FREE; 2], 60, 0);
    let (mut out, mut scene) = (Vec::new(), Scene::default());
    let old = [Seen {
        age_us: 900_000,
        pose: world.frames[0][1],
    }];
    let mut encoder = Encoder::new(entropy::Encoder::new(&mut out), &mut scene);
    encoder.newcomer(1, &world.known(1, &old), &world.frames[50][1]);
    encoder.finish();
    let mut decoder = Decoder::new(entropy::Decoder::new(&out), &mut scene);
    assert_eq!(decoder.newcomer(), Ok(Some(1)));
    let refused = decoder.newcomer_pose(&world.known(1, &[]));
    assert_eq!(
        refused,
        Err(WireError::OutOfRange {
            what: "base of a pose"
        })
    );
}

#[test]
fn bits_by_category_add_up() {
    let world = World::new(7, all_formats(), 60, 20);
    for tick in 0..60 {
        let (bytes, spent) = world.encode(tick, &mut Scene::default());
        assert!(
            (spent.total() - bytes.len() as f32 * 8.0).abs() < 0.1,
            "{spent:?} of {} bytes",
            bytes.len()
        );
        assert!((-8.0..18.0).contains(&spent.end), "{spent:?}");
        let parts = [
            spent.membership,
            spent.place,
            spent.turn,
            spent.flags,
            spent.newcomers,
        ];
        assert!(parts.iter().all(|part| *part >= -0.1), "{spent:?}");
    }
}

#[test]
fn the_length_is_known_before_the_end() {
    let world = World::new(8, vec![FREE; 30], 60, 0);
    let (mut out, mut scene) = (Vec::new(), Scene::default());
    let mut encoder = Encoder::new(entropy::Encoder::new(&mut out), &mut scene);
    for body in 0..30 {
        let history = world.history(50, body);
        encoder.object(&world.known(body, &history), Some(&world.frames[50][body]));
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
fn a_byte_budget_ends_the_candidates_for_two_bytes() {
    let world = World::new(14, vec![FREE; 60], 20, 0);
    let history: Vec<Vec<Seen>> = (0..60).map(|body| world.history(15, body)).collect();
    let (mut out, mut scene) = (Vec::new(), Scene::default());
    let mut encoder = Encoder::new(entropy::Encoder::new(&mut out), &mut scene);
    let mut sent = 0;
    for (body, history) in history.iter().enumerate() {
        let is_in = encoder.bytes_so_far() < 100;
        if !is_in {
            encoder.close();
        }
        encoder.object(
            &world.known(body, history),
            is_in.then_some(&world.frames[15][body]),
        );
        sent += usize::from(is_in);
    }
    encoder.finish();
    assert!(
        sent < 60 && out.len() < 100 + 20,
        "{sent} in {} bytes",
        out.len()
    );
    let mut decoder = Decoder::new(entropy::Decoder::new(&out), &mut scene);
    for (body, history) in history.iter().enumerate() {
        let expected = (body < sent).then_some(world.frames[15][body]);
        assert_eq!(
            decoder.object(&world.known(body, history)),
            Ok(expected),
            "{body}"
        );
    }
    assert_eq!(decoder.newcomer(), Ok(None));
    assert_eq!(decoder.finish(), Ok(()));
}

#[test]
fn a_section_that_was_cut_is_never_read_as_the_whole() {
    let world = World::new(9, all_formats(), 60, 20);
    let mut scene = Scene::default();
    for tick in [0, 10, 30, 59] {
        let (bytes, _) = world.encode(tick, &mut scene);
        let sent = world.sent(tick);
        for length in 0..bytes.len() {
            let read = world.decode(tick, &bytes[..length], &mut scene);
            assert_ne!(
                read.as_ref(),
                Ok(&sent),
                "tick {tick}, {length} bytes of {}",
                bytes.len()
            );
        }
        let mut longer = bytes.clone();
        longer.extend([0; 3]);
        assert_eq!(
            world.decode(tick, &longer, &mut scene),
            Err(WireError::TrailingBits),
            "tick {tick}"
        );
    }
}

#[test]
fn arbitrary_bytes_are_refused_or_poses_that_fit() {
    let world = World::new(10, all_formats(), 60, 20);
    let (mut rng, mut scene) = (fastrand::Rng::with_seed(11), Scene::default());
    let mut refused = 0;
    for round in 0..2_000 {
        let tick = rng.usize(0..60);
        let mut bytes: Vec<u8> = if rng.bool() {
            (0..rng.usize(0..300)).map(|_| rng.u8(..)).collect()
        } else {
            world.encode(tick, &mut scene).0
        };
        for _ in 0..rng.usize(0..4).min(bytes.len()) {
            let index = rng.usize(0..bytes.len());
            bytes[index] ^= 1 << rng.u32(0..8);
        }
        match world.decode(tick, &bytes, &mut scene) {
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
fn poses_at_the_ends_of_the_map_come_back() {
    let most = MAX_AT;
    let corner = |at: i32, largest: u16| Pose {
        at: [at, -at, at],
        turn: [largest, 511, 0, 511],
        ..Pose::default()
    };
    let history = [
        Seen {
            age_us: 1,
            pose: corner(most, 0),
        },
        Seen {
            age_us: 2,
            pose: corner(-most, 3),
        },
        Seen {
            age_us: u32::MAX,
            pose: corner(0, 1),
        },
    ];
    let known = Known {
        format: FREE,
        half_edge_m: 1e6,
        history: &history,
    };
    for pose in [corner(-most, 2), corner(most, 3), corner(0, 0)] {
        let (mut out, mut scene) = (Vec::new(), Scene::default());
        let mut encoder = Encoder::new(entropy::Encoder::new(&mut out), &mut scene);
        encoder.reference(&known, Some(&pose));
        encoder.object(&known, Some(&pose));
        encoder.object(&known, None);
        encoder.finish();
        let mut decoder = Decoder::new(entropy::Decoder::new(&out), &mut scene);
        assert_eq!(decoder.reference(&known), Ok(Some(pose)));
        assert_eq!(decoder.object(&known), Ok(Some(pose)));
        assert_eq!(decoder.object(&known), Ok(None));
        assert_eq!(decoder.finish(), Ok(()));
    }
}

#[test]
fn candidates_are_sorted_by_their_distance_from_the_reference() {
    let at = |x: i32| Pose {
        at: [x, 0, 0],
        ..Pose::default()
    };
    let bases = [at(50), at(-3), at(2), at(3), at(MAX_AT)];
    let mut order = Order::default();
    order.sort(Some(&at(1)), bases.iter());
    assert_eq!(order.indices().collect::<Vec<_>>(), [2, 3, 1, 0, 4]);
    order.sort(None, bases.iter());
    assert_eq!(order.indices().collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
}

/// By hand: a bit for each body that is or isn't in, and for what is in x and y in 14 bits (32 m),
/// z in 12 (8 m), the turn in 29, the flag in 1.
#[test]
fn tumbling_cubes_take_less_than_two_thirds_of_what_they_take_packed_by_hand() {
    let world = World::new(12, vec![FREE; 100], 90, 5);
    let (mut ours, mut by_hand, mut scene) = (0, 0, Scene::default());
    for tick in 40..90 {
        ours += world.encode(tick, &mut scene).0.len() * 8;
        by_hand += 100 + world.sent(tick).iter().flatten().count() * (14 + 14 + 12 + 29 + 1);
    }
    assert!(ours * 3 < by_hand * 2, "{ours} bits and {by_hand}");
}

#[test]
fn what_does_not_move_costs_next_to_nothing() {
    let mut world = World::new(13, vec![FREE; 900], 40, 0);
    let still = world.frames[0].clone();
    world
        .frames
        .iter_mut()
        .for_each(|frame| frame.clone_from(&still));
    let (bytes, spent) = world.encode(39, &mut Scene::default());
    assert!(
        bytes.len() <= 8,
        "{} bytes for 900 that rest: {spent:?}",
        bytes.len()
    );
}
