//! The static world, as one block that each client receives when it joins.
//!
//! Input: obstacles. Output: bytes, and back. A block travels once, in slices beside the game
//! ([`crate::link`]).
//!
//! Format: the number of obstacles, `0..=65536` (17 bits); then each:
//!
//! | what | bits |
//! | --- | --- |
//! | centre: x, 22; y, 22; z, 16: x and y in 1/256 m from 0, z in 1/256 m from -64 m | 60 |
//! | 0 for a box that is not turned; 1, and then 0 for a turned box or 1 for a cylinder | 1 or 2 |
//! | of a box: half extents on its own x, y and z, as 1/64 m | 14 each |
//! | of a turned box: its turn in 256ths of a half turn, less 1; 255 is invalid | 8 |
//! | of a cylinder: radius and half height, as 1/64 m | 14 each |
//! | whether its look is another one than that of the obstacle before | 1 |
//! | if so, its look: 0 for none, n for number n - 1 of the schema's; another one than before | 4 |
//!
//! The first obstacle is compared with one without a look. A box that is not turned takes 104 bits,
//! a cylinder 91. Types as in [`crate::message`]; zeros up to a whole byte. A map has one encoding.
//!
//! Units: metres. Limit: [`MAX_OBSTACLES`]; a reader allocates for the obstacles that are present,
//! not for the announced number.

#![warn(missing_docs, reason = "authors of games and clients import it")]

use std::f32::consts::PI;

use crate::presentation::MAX_OBSTACLE_LOOKS;
use crate::rows::RowValue;
use crate::space::Position;
use crate::wire::{self, Coder, Wire, WireError};

/// The highest number of obstacles in a map.
pub const MAX_OBSTACLES: usize = 65_536;
/// Steps of a half extent per metre.
pub const HALF_PER_METRE: f32 = 64.0;
/// The largest half extent: the last step that 14 bits hold.
pub const MAX_HALF: f32 = 256.0 - 1.0 / HALF_PER_METRE;
/// Steps of a box's turn in half a turn: after that it covers the same place.
pub const TURNS: u16 = 256;

/// All objects that never move.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StaticMap {
    /// At most [`MAX_OBSTACLES`].
    pub obstacles: Vec<StaticObstacle>,
}

/// An object that never moves.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StaticObstacle {
    /// The middle, in metres.
    pub centre: Position,
    /// Its form around the centre.
    pub shape: ObstacleShape,
    /// The index of its look in `ScenerySpec::obstacles`, below [`MAX_OBSTACLE_LOOKS`]. `None`, or
    /// an index that the schema does not have: as a viewer draws obstacles.
    pub look: Option<u8>,
}

/// The form of an obstacle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ObstacleShape {
    /// A box that stands upright.
    Box {
        /// Half of its extents along its own x, y and z, in metres: 0 to [`MAX_HALF`].
        half: [f32; 3],
        /// How far it is turned about the vertical, from x towards y: in [`TURNS`] of a half turn.
        turn: u8,
    },
    /// A cylinder that stands upright.
    Cylinder {
        /// In metres: 0 to [`MAX_HALF`].
        radius: f32,
        /// Half of its height, in metres: 0 to [`MAX_HALF`].
        half_height: f32,
    },
}

impl Default for ObstacleShape {
    fn default() -> Self {
        Self::Box { half: [0.0; 3], turn: 0 }
    }
}

impl ObstacleShape {
    /// The shape as the other end will read it: in steps, extents within their range.
    ///
    /// # Panics
    /// If it is not finite.
    #[must_use]
    pub fn quantised(self) -> Self {
        let rounded = |metres: f32| wire::quantise(metres, 0.0, MAX_HALF, HALF_PER_METRE);
        match self {
            Self::Box { half, turn } => Self::Box { half: half.map(rounded), turn },
            Self::Cylinder { radius, half_height } => {
                Self::Cylinder { radius: rounded(radius), half_height: rounded(half_height) }
            }
        }
    }

    /// The direction of its own x axis on (x, y), of length 1: the same bits on every machine.
    pub fn axis(&self) -> [f32; 2] {
        match self {
            Self::Box { turn, .. } => AXES[usize::from(*turn)],
            Self::Cylinder { .. } => AXES[0],
        }
    }

    /// How far it is turned, from x towards y, in radians: 0 to pi.
    pub fn yaw(&self) -> f32 {
        match self {
            Self::Box { turn, .. } => f32::from(*turn) * (PI / f32::from(TURNS)),
            Self::Cylinder { .. } => 0.0,
        }
    }

    /// Half of its extents along its own axes, in metres; the radius counts on x and y.
    pub fn half(&self) -> [f32; 3] {
        match *self {
            Self::Box { half, .. } => half,
            Self::Cylinder { radius, half_height } => [radius, radius, half_height],
        }
    }
}

/// The step of a turn that is nearest to an angle in radians, from x towards y; 0 if it is not
/// finite.
pub fn turn_of(yaw: f32) -> u8 {
    (yaw / PI * f32::from(TURNS)).round().rem_euclid(f32::from(TURNS)) as u8
}

/// The direction for each step of a turn.
static AXES: [[f32; 2]; TURNS as usize] = axes();

/// Computed from the series at compile time, with IEEE arithmetic and no library.
const fn axes() -> [[f32; 2]; TURNS as usize] {
    let mut axes = [[1.0, 0.0]; TURNS as usize];
    let mut turn = 1;
    while turn < TURNS as usize {
        let angle = turn as f64 * (std::f64::consts::PI / TURNS as f64);
        let mut term = 1.0;
        let mut cos = 1.0;
        let mut sin = 0.0;
        let mut power = 0.0;
        while power < 40.0 {
            term *= angle / (power + 1.0);
            sin += term;
            term *= -angle / (power + 2.0);
            cos += term;
            power += 2.0;
        }
        axes[turn] = [cos as f32, sin as f32];
        turn += 1;
    }
    axes
}

impl StaticObstacle {
    /// A box, turned by an angle in radians from x towards y, without a look.
    pub fn new_box(centre: Position, half: [f32; 3], yaw: f32) -> Self {
        let shape = ObstacleShape::Box { half, turn: turn_of(yaw) };
        Self { centre, shape, look: None }
    }

    /// The obstacle as the other end will read it.
    ///
    /// # Panics
    /// If it is not finite.
    #[must_use]
    pub fn quantised(self) -> Self {
        Self { centre: self.centre.quantised(), shape: self.shape.quantised(), ..self }
    }

    /// Metres along the ground from a position to the nearest point of the obstacle; 0 inside.
    pub fn ground_distance(&self, position: Position) -> f32 {
        let (x, y) = (position.x - self.centre.x, position.y - self.centre.y);
        match self.shape {
            ObstacleShape::Box { half, .. } => {
                let [cos, sin] = self.shape.axis();
                let along = ((cos * x + sin * y).abs() - half[0]).max(0.0);
                let across = ((cos * y - sin * x).abs() - half[1]).max(0.0);
                (along * along + across * across).sqrt()
            }
            ObstacleShape::Cylinder { radius, .. } => ((x * x + y * y).sqrt() - radius).max(0.0),
        }
    }

    /// As a row of a component: see
    /// [`RowFormat::of_obstacles`](crate::schema::RowFormat::of_obstacles).
    ///
    /// # Panics
    /// If it is not finite.
    pub fn to_row(&self) -> Vec<RowValue> {
        let it = self.quantised();
        let (turn, is_round) = match it.shape {
            ObstacleShape::Box { turn, .. } => (turn, false),
            ObstacleShape::Cylinder { .. } => (0, true),
        };
        let [x, y, z] = it.shape.half().map(|half| (half * HALF_PER_METRE) as i64);
        let look = it.look.map_or(0, |look| i64::from(look) + 1);
        let numbers = [x, y, z, turn.into(), is_round.into(), look];
        let centre = RowValue::Position(it.centre);
        [centre].into_iter().chain(numbers.map(RowValue::Number)).collect()
    }

    /// Reads such a row; `None` if it is another one.
    pub fn of_row(row: &[RowValue]) -> Option<Self> {
        let [RowValue::Position(centre), numbers @ ..] = row else { return None };
        let numbers: Vec<i64> = numbers.iter().map_while(|it| it.as_number().copied()).collect();
        let [x, y, z, turn, is_round, look] = numbers[..] else { return None };
        let metres = |steps: i64| (steps as f32 / HALF_PER_METRE).clamp(0.0, MAX_HALF);
        let shape = if is_round == 0 {
            let turn = u8::try_from(turn).ok()?;
            ObstacleShape::Box { half: [x, y, z].map(metres), turn }
        } else {
            ObstacleShape::Cylinder { radius: metres(x), half_height: metres(z) }
        };
        Some(Self { centre: *centre, shape, look: u8::try_from(look - 1).ok() })
    }

    /// Codes it after an obstacle with the look `before`.
    fn wire_after(&mut self, before: Option<u8>, coder: &mut impl Coder) -> Result<(), WireError> {
        self.centre.wire_whole(coder)?;
        self.shape.wire(coder)?;
        let mut has_another = self.look != before;
        coder.flag(&mut has_another)?;
        if !has_another {
            self.look = before;
            return Ok(());
        }
        let mut number = self.look.map_or(0, |look| i64::from(look) + 1);
        coder.bounded(&mut number, 0, MAX_OBSTACLE_LOOKS as i64)?;
        self.look = u8::try_from(number - 1).ok();
        if self.look == before {
            return Err(WireError::OutOfRange { what: "look of an obstacle" });
        }
        Ok(())
    }
}

impl Wire for ObstacleShape {
    fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        let (mut is_special, mut is_round) = match self {
            Self::Box { turn, .. } => (*turn != 0, false),
            Self::Cylinder { .. } => (true, true),
        };
        coder.flag(&mut is_special)?;
        if is_special {
            coder.flag(&mut is_round)?;
        }
        if is_round {
            let [mut radius, _, mut half_height] = self.half();
            wire_half(&mut radius, coder)?;
            wire_half(&mut half_height, coder)?;
            *self = Self::Cylinder { radius, half_height };
            return Ok(());
        }
        let mut half = self.half();
        half.iter_mut().try_for_each(|half| wire_half(half, coder))?;
        let mut turn = match self {
            Self::Box { turn, .. } => i64::from(*turn),
            Self::Cylinder { .. } => 0,
        };
        if is_special {
            coder.bounded(&mut turn, 1, i64::from(TURNS) - 1)?;
        }
        *self = Self::Box { half, turn: turn as u8 };
        Ok(())
    }
}

fn wire_half(half: &mut f32, coder: &mut impl Coder) -> Result<(), WireError> {
    coder.quantised(half, 0.0, MAX_HALF, HALF_PER_METRE)
}

impl Wire for StaticMap {
    fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        let mut before = None;
        coder.list_with(&mut self.obstacles, MAX_OBSTACLES, |coder, obstacle| {
            obstacle.wire_after(before, coder)?;
            before = obstacle.look;
            Ok(())
        })
    }
}

impl StaticMap {
    /// The block; values between two steps are rounded to the nearest one.
    ///
    /// # Panics
    /// If there are more than [`MAX_OBSTACLES`], or one is not finite or has a look beyond
    /// [`MAX_OBSTACLE_LOOKS`].
    pub fn encode(&self) -> Vec<u8> {
        let obstacles = self.obstacles.iter().map(|each| each.quantised()).collect();
        wire::encode(&mut Self { obstacles })
    }

    /// The map in a block.
    pub fn decode(block: &[u8]) -> Result<Self, WireError> {
        wire::decode(block)
    }
}

#[cfg(test)]
mod tests;
