//! The format of orders and of their results, in words of 32 bits.
//!
//! An order is its number and its fields; a body is its slot and its generation; an obstacle has
//! no look. Results:
//! - of [`PhysicsOrder::Add`]: the body;
//! - of [`PhysicsOrder::Step`]: the number of bodies that have changed, and each with its pose;
//! - of [`PhysicsOrder::Extrapolate`]: the pose;
//! - of all others: none.

use ambit_proto::keymap::{Keymap, Keys};
use ambit_proto::map::{ObstacleShape, StaticMap, StaticObstacle};
use ambit_proto::physics::BodyId;
use ambit_proto::pose::{Motion, Pose};
use ambit_proto::space::Position;

pub(crate) const POSE_WORDS: usize = 9;
pub(crate) const BODY_WORDS: usize = 2;
/// The longest order of fixed length.
pub(crate) const ORDER_WORDS: usize = 3 + POSE_WORDS;

const ADD: u32 = 0;
const REMOVE: u32 = 1;
const SET_POSE: u32 = 2;
const SET_KEYS: u32 = 3;
const STEP: u32 = 4;
const SET_MAP: u32 = 5;
const EXTRAPOLATE: u32 = 6;

/// The form of a cylinder; that of a box is its turn.
const ROUND: u32 = 256;

/// A call of a function of `SharedPhysics`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PhysicsOrder {
    Add { kind: u8, pose: Pose },
    Remove(BodyId),
    SetPose(BodyId, Pose),
    SetKeys(BodyId, Keys),
    Step,
    SetMap(StaticMap),
    Extrapolate { kind: u8, frames: u32, pose: Pose },
}

impl PhysicsOrder {
    pub(crate) fn write(&self, words: &mut impl Extend<u32>) {
        match self {
            PhysicsOrder::Add { kind, pose } => {
                words.extend([ADD, (*kind).into()]);
                words.extend(pose_words(pose));
            }
            PhysicsOrder::Remove(body) => {
                words.extend([REMOVE]);
                words.extend(body_words(*body));
            }
            PhysicsOrder::SetPose(body, pose) => {
                words.extend([SET_POSE]);
                words.extend(body_words(*body));
                words.extend(pose_words(pose));
            }
            PhysicsOrder::SetKeys(body, keys) => {
                words.extend([SET_KEYS]);
                words.extend(body_words(*body));
                words.extend([keys.previous.0, keys.current.0]);
            }
            PhysicsOrder::Step => words.extend([STEP]),
            PhysicsOrder::SetMap(map) => {
                words.extend([SET_MAP, map.obstacles.len() as u32]);
                words.extend(map.obstacles.iter().flat_map(obstacle_words));
            }
            PhysicsOrder::Extrapolate { kind, frames, pose } => {
                words.extend([EXTRAPOLATE, (*kind).into(), *frames]);
                words.extend(pose_words(pose));
            }
        }
    }
}

/// Reads words; `None` if there are too few, or other ones than expected.
#[derive(Debug)]
pub(crate) struct WordReader<'w>(&'w [u32]);

impl<'w> WordReader<'w> {
    pub(crate) fn new(words: &'w [u32]) -> Self {
        Self(words)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn word(&mut self) -> Option<u32> {
        let [word] = self.words()?;
        Some(word)
    }

    pub(crate) fn byte(&mut self) -> Option<u8> {
        self.word()?.try_into().ok()
    }

    pub(crate) fn body(&mut self) -> Option<BodyId> {
        let [slot, generation] = self.words()?;
        Some(BodyId::new(slot, generation))
    }

    pub(crate) fn pose(&mut self) -> Option<Pose> {
        let [x, y, z, turn @ .., speed, a, b, c] = self.words::<POSE_WORDS>()?;
        let [(linear_x, linear_y), (linear_z, angular_x), (angular_y, angular_z)] =
            [a, b, c].map(halves);
        let [(t0, t1), (t2, t3)] = turn.map(halves);
        let (speed, flag) = halves(speed);
        Some(Pose {
            at: [x, y, z].map(|word| word as i32),
            turn: [t0, t1, t2, t3],
            speed: speed as i16,
            flag: flag != 0,
            motion: Motion {
                linear: [linear_x, linear_y, linear_z].map(|half| half as i16),
                angular: [angular_x, angular_y, angular_z].map(|half| half as i16),
            },
        })
    }

    pub(crate) fn order(&mut self) -> Option<PhysicsOrder> {
        Some(match self.word()? {
            ADD => PhysicsOrder::Add { kind: self.byte()?, pose: self.pose()? },
            REMOVE => PhysicsOrder::Remove(self.body()?),
            SET_POSE => PhysicsOrder::SetPose(self.body()?, self.pose()?),
            SET_KEYS => {
                let body = self.body()?;
                let [previous, current] = self.words()?.map(Keymap);
                PhysicsOrder::SetKeys(body, Keys { previous, current })
            }
            STEP => PhysicsOrder::Step,
            SET_MAP => {
                let count = self.word()?;
                let obstacles = (0..count).map(|_| self.obstacle());
                PhysicsOrder::SetMap(StaticMap { obstacles: obstacles.collect::<Option<_>>()? })
            }
            EXTRAPOLATE => PhysicsOrder::Extrapolate {
                kind: self.byte()?,
                frames: self.word()?,
                pose: self.pose()?,
            },
            _ => return None,
        })
    }

    fn obstacle(&mut self) -> Option<StaticObstacle> {
        let form = self.word()?;
        let [x, y, z, half @ ..] = self.words::<6>()?.map(f32::from_bits);
        let shape = match u8::try_from(form) {
            Ok(turn) => ObstacleShape::Box { half, turn },
            Err(_) if form == ROUND => {
                ObstacleShape::Cylinder { radius: half[0], half_height: half[2] }
            }
            Err(_) => return None,
        };
        Some(StaticObstacle { centre: Position::new(x, y, z), shape, look: None })
    }

    pub(crate) fn words<const N: usize>(&mut self) -> Option<[u32; N]> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*first)
    }
}

pub(crate) fn body_words(body: BodyId) -> [u32; BODY_WORDS] {
    [body.slot() as u32, body.generation()]
}

/// Position, turn, speed and flag, velocities; two numbers of 16 bits a word.
pub(crate) fn pose_words(pose: &Pose) -> [u32; POSE_WORDS] {
    let [x, y, z] = pose.at.map(|part| part as u32);
    let [t0, t1, t2, t3] = pose.turn;
    let [lx, ly, lz] = pose.motion.linear.map(|part| part as u16);
    let [ax, ay, az] = pose.motion.angular.map(|part| part as u16);
    [
        x,
        y,
        z,
        joined(t0, t1),
        joined(t2, t3),
        joined(pose.speed as u16, pose.flag.into()),
        joined(lx, ly),
        joined(lz, ax),
        joined(ay, az),
    ]
}

/// The turn of a box, or [`ROUND`]; the centre and half of the extents in metres.
fn obstacle_words(obstacle: &StaticObstacle) -> [u32; 7] {
    let form = match obstacle.shape {
        ObstacleShape::Box { turn, .. } => turn.into(),
        ObstacleShape::Cylinder { .. } => ROUND,
    };
    let (Position { x, y, z }, [half_x, half_y, half_z]) = (obstacle.centre, obstacle.shape.half());
    let [x, y, z, half_x, half_y, half_z] = [x, y, z, half_x, half_y, half_z].map(f32::to_bits);
    [form, x, y, z, half_x, half_y, half_z]
}

fn joined(low: u16, high: u16) -> u32 {
    u32::from(low) | u32::from(high) << 16
}

fn halves(word: u32) -> (u16, u16) {
    (word as u16, (word >> 16) as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_read_as_they_were_written() {
        let pose = Pose {
            at: [-1, i32::MAX, i32::MIN],
            turn: [1, 0x7fff, 0xffff, 3],
            speed: -5,
            flag: true,
            motion: Motion { linear: [-1, 2, i16::MIN], angular: [i16::MAX, -4, 5] },
        };
        let body = BodyId::new(7, u32::MAX);
        let keys = Keys { previous: Keymap(3), current: Keymap(u32::MAX) };
        let centre = Position::new(1.5, -2.0, 0.25);
        let wall = StaticObstacle::new_box(centre, [0.5, 8.0, 3.0], 3.1);
        let shape = ObstacleShape::Cylinder { radius: 0.5, half_height: 8.0 };
        let rock = StaticObstacle { centre, shape, look: None };
        let obstacles = vec![wall, StaticObstacle::default(), rock];
        let orders = [
            PhysicsOrder::Add { kind: 255, pose },
            PhysicsOrder::Remove(body),
            PhysicsOrder::SetPose(body, pose),
            PhysicsOrder::SetKeys(body, keys),
            PhysicsOrder::Step,
            PhysicsOrder::SetMap(StaticMap { obstacles }),
            PhysicsOrder::Extrapolate { kind: 1, frames: 9, pose },
        ];
        let mut words = Vec::new();
        for order in &orders {
            order.write(&mut words);
        }
        let mut reader = WordReader::new(&words);
        let read = std::iter::from_fn(|| reader.order());
        assert!(read.eq(orders));
        assert!(reader.is_empty());
        for end in 0..words.len() {
            let mut cut = WordReader::new(&words[..end]);
            assert!(std::iter::from_fn(|| cut.order()).count() < 7);
        }
    }
}
