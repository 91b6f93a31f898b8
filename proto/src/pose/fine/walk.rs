//! The order of a section: who is in, what of it has changed, and the parts of a pose.
//!
//! One description for both directions: what reads and what writes differ in their [`Coder`] only.

mod newcomers;

use super::coder::{Category, Coder, Note};
use super::forecast::Forecast;
use super::lattice;
use super::neighbours::Neighbour;
use super::number::number;
use super::past::{Past, picks};
use super::scene::Scene;
use super::space::{Vector, dot, length, sub};
use super::{Known, MAX_STEP};
use crate::pose::{MAX_AT, Motion, Pose, Turning, motion};
use crate::wire::WireError;

/// How fast probabilities by context adapt: by 1/64 of what is missing.
const RATE: u32 = 5;
/// One half, of a chance.
const HALF: u16 = 1 << 15;

/// That the rest of the candidates is out.
const CLOSED: u16 = 1 << 8;

/// A walk through a section.
pub struct Walk<'s, C> {
    pub(super) coder: C,
    scene: &'s mut Scene,
    /// Of the last newcomer.
    slot: Option<u16>,
    /// Whether the rest of the candidates shall be out, and whether that has been told.
    closes: bool,
    is_closed: bool,
}

impl<'s, C: Coder> Walk<'s, C> {
    /// A walk that starts with a clear scene.
    pub fn new(coder: C, scene: &'s mut Scene) -> Self {
        scene.clear();
        Self {
            coder,
            scene,
            slot: None,
            closes: false,
            is_closed: false,
        }
    }

    /// The object that others move with: it comes first.
    pub fn reference(
        &mut self,
        known: &Known<'_>,
        pose: Option<&Pose>,
    ) -> Result<Option<Pose>, WireError> {
        let Some(newest) = known.history.first() else {
            return Ok(None);
        };
        self.scene.origin = newest.pose.at;
        let pose = self.one(known, pose, true)?;
        let (format, origin) = (known.format, self.scene.origin);
        let now = lattice::frame(format, origin, &pose.unwrap_or(newest.pose));
        self.scene.reference.set(now, known.history, |seen| {
            lattice::frame(format, origin, &seen.pose)
        });
        Ok(pose)
    }

    /// Whether a reference follows whose slot is told, and which.
    pub(super) fn reference_slot(&mut self, slot: Option<u16>) -> Result<Option<u16>, WireError> {
        self.coder.category(Category::Membership);
        if !self.coder.bit(slot.is_some(), HALF) {
            return Ok(None);
        }
        let curve = self.scene.trained.curves.of(0, PLAIN);
        let told = number(&mut self.coder, slot.map_or(0, i32::from), 0.0, 8.0, curve);
        u16::try_from(told)
            .map(Some)
            .map_err(|_| WireError::OutOfRange {
                what: "slot of a pose",
            })
    }

    /// An object with a shared past: whether it is in, and then its pose.
    pub fn object(
        &mut self,
        known: &Known<'_>,
        pose: Option<&Pose>,
    ) -> Result<Option<Pose>, WireError> {
        self.one(known, pose, false)
    }

    /// No candidate is in from here on.
    pub(super) fn close(&mut self) {
        self.closes = true;
    }

    fn one(
        &mut self,
        known: &Known<'_>,
        pose: Option<&Pose>,
        is_reference: bool,
    ) -> Result<Option<Pose>, WireError> {
        let Some(newest) = known.history.first().filter(|_| !self.is_closed) else {
            assert!(
                pose.is_none(),
                "candidates have a past, and none is in after the close"
            );
            return Ok(None);
        };
        self.coder.category(Category::Membership);
        let base = lattice::place(known.format, self.scene.origin, &newest.pose);
        let zone = self.zone(base);
        let near = self.scene.neighbours.count_near(base).min(2);
        let activity = activity(known);
        let flag = usize::from(newest.pose.flag);
        let context = ((activity * 5 + zone) * 3 + usize::from(near)) * 2 + flag;
        if !adaptive(
            &mut self.coder,
            pose.is_some(),
            &mut self.scene.member,
            (0, context),
        ) {
            // One that moves and is out is a surprise: the first one may end the candidates.
            self.is_closed = activity > 0 && self.coder.bit(self.closes, CLOSED);
            return Ok(None);
        }
        let context = flag * 16
            + zone.min(3) * 4
            + usize::from(self.scene.last_flag) * 2
            + usize::from(near > 0);
        let mut pose = pose.copied().unwrap_or_default();
        self.coder.category(Category::Flags);
        pose.flag = adaptive(
            &mut self.coder,
            pose.flag,
            &mut self.scene.flag,
            (1, context),
        );
        self.scene.last_flag = pose.flag;
        let past = Past::new(known, self.scene.origin, &self.scene.reference);
        let past = if is_reference {
            past.of_reference()
        } else {
            past
        };
        self.motion(known, &past, &mut pose)?;
        self.velocities(known, &mut pose)?;
        self.whole(pose).map(Some)
    }

    /// The pose, if it was all there.
    fn whole(&self, pose: Pose) -> Result<Pose, WireError> {
        if self.coder.is_overrun() {
            Err(WireError::Truncated)
        } else {
            Ok(pose)
        }
    }

    /// How near to the reference, 0 to 4.
    fn zone(&self, base: Vector) -> usize {
        let Some(now) = self.scene.reference.now() else {
            return 4;
        };
        let way = sub(base, now.at);
        let edges: [f32; 4] = [512.0, 700.0, 1_000.0, 1_500.0];
        edges
            .iter()
            .filter(|edge| dot(way, way) >= *edge * *edge)
            .count()
    }

    /// How it goes on, by its base and what is known of the pose by now.
    fn velocities(&mut self, known: &Known<'_>, pose: &mut Pose) -> Result<(), WireError> {
        let Some(grid) = known.format.motion.filter(|_| !pose.flag) else {
            pose.motion = Motion::default();
            return Ok(());
        };
        let base = &known.history[0];
        self.told_motion(
            motion::foretell(known.format, grid, &base.pose, base.age_us, pose),
            pose,
        )
    }

    fn told_motion(
        &mut self,
        forecasts: [motion::Forecast; 6],
        pose: &mut Pose,
    ) -> Result<(), WireError> {
        self.coder.category(Category::Motion);
        let curve = self.scene.trained.curves.of(0, PLAIN);
        let mut parts = pose.motion.parts();
        for (part, forecast) in parts.iter_mut().zip(forecasts) {
            let told = number(
                &mut self.coder,
                (*part).into(),
                forecast.middle,
                forecast.spread,
                curve,
            );
            *part = motion::narrow(told.into())?;
        }
        pose.motion = Motion::of_parts(parts);
        Ok(())
    }

    /// Place and turn. What stands on something turns first: that tells how it has rolled and how
    /// high it is.
    fn motion(&mut self, known: &Known<'_>, past: &Past, pose: &mut Pose) -> Result<(), WireError> {
        let around = self.scene.neighbours.around(past.base.at);
        let mut forecast = Forecast::new(self.scene, past, &around, pose.flag);
        if past.is_supported {
            self.turn(known, &mut forecast, pose)?;
            self.place(known, &mut forecast, pose)?;
        } else {
            self.place(known, &mut forecast, pose)?;
            self.turn(known, &mut forecast, pose)?;
        }
        for (excess, new) in self.scene.excess.iter_mut().zip(forecast.excess) {
            *excess += (new - *excess) * 0.1;
        }
        self.scene.neighbours.push(Neighbour {
            at: past.base.at,
            ..forecast.neighbour()
        });
        Ok(())
    }

    fn place(
        &mut self,
        known: &Known<'_>,
        forecast: &mut Forecast<'_>,
        pose: &mut Pose,
    ) -> Result<(), WireError> {
        self.coder.category(Category::Flags);
        let base = &known.history[0].pose;
        let context = forecast.same_place_context();
        if self.has_stayed(pose.at == base.at, 0, context) {
            pose.at = base.at;
            forecast.place_stays();
            return Ok(());
        }
        self.coder.category(Category::Place);
        let units = lattice::units_a_step(known.format);
        for axis in 0..3 {
            let (middle, spread, curve) = forecast.coordinate(axis);
            let step = pose.at[axis].wrapping_sub(base.at[axis]);
            let spread = (spread / units).max(0.2);
            let step = number(&mut self.coder, step, middle / units, spread, curve);
            pose.at[axis] = coordinate(base.at[axis], step)?;
            forecast.coordinate_is(axis, step as f32 * units, &mut self.coder, units);
        }
        forecast.place_is_known();
        Ok(())
    }

    fn turn(
        &mut self,
        known: &Known<'_>,
        forecast: &mut Forecast<'_>,
        pose: &mut Pose,
    ) -> Result<(), WireError> {
        let base = &known.history[0].pose;
        match known.format.turn {
            Turning::Fixed => Ok(()),
            Turning::Yaw { bits } => {
                self.coder.category(Category::Turn);
                self.yaw(bits, known, pose)
            }
            Turning::Free { bits } => {
                self.coder.category(Category::Flags);
                let context = forecast.same_turn_context();
                if self.has_stayed(pose.turn == base.turn, 1, context) {
                    pose.turn = base.turn;
                } else {
                    self.coder.category(Category::Turn);
                    forecast.foretell_turn();
                    forecast.free_turn(bits, &mut pose.turn, &mut self.coder)?;
                }
                forecast.turn_is(lattice::quaternion(known.format, pose), &mut self.coder);
                Ok(())
            }
        }
    }

    /// A heading goes on turning as it did; a speed stays.
    fn yaw(&mut self, bits: u8, known: &Known<'_>, pose: &mut Pose) -> Result<(), WireError> {
        let newest = &known.history[0];
        let before = known.history.get(1).unwrap_or(newest);
        let (half, mask) = (1 << (bits - 1), (1 << bits) - 1);
        let way = |from: u16, to: u16| ((i32::from(to) - i32::from(from) + half) & mask) - half;
        let span = (before.age_us - newest.age_us).max(1) as f32;
        let rate = way(before.pose.turn[0], newest.pose.turn[0]) as f32 / span;
        let middle = 0.7 * rate * newest.age_us as f32;
        let curve = self.scene.trained.curves.of(0, PLAIN);
        let step = number(
            &mut self.coder,
            way(newest.pose.turn[0], pose.turn[0]),
            middle,
            1.0 + 0.5 * middle.abs(),
            curve,
        );
        pose.turn[0] = ((i32::from(newest.pose.turn[0]) + step) & mask) as u16;
        let change = i32::from(newest.pose.speed) - i32::from(before.pose.speed);
        let faster = i32::from(pose.speed) - i32::from(newest.pose.speed);
        let faster = number(
            &mut self.coder,
            faster,
            0.0,
            1.0 + 0.5 * change.abs() as f32,
            curve,
        );
        pose.speed = speed(i32::from(newest.pose.speed) + faster)?;
        Ok(())
    }

    fn has_stayed(&mut self, stays: bool, table: usize, context: usize) -> bool {
        let model = &self.scene.trained.model;
        let chances = if table == 0 {
            &model.same_place
        } else {
            &model.same_turn
        };
        let stays = self.coder.bit(stays, chances[context]);
        if C::TAKES_NOTES {
            self.coder.note(&Note::Context {
                table: 2 + table,
                context,
                outcome: stays,
            });
        }
        stays
    }
}

/// The logarithm of a spread whose curve is close to Student's.
const PLAIN: f32 = 4.0;

fn coordinate(base: i32, step: i32) -> Result<i32, WireError> {
    let at = base
        .checked_add(step)
        .filter(|at| step.abs() <= MAX_STEP && at.abs() <= MAX_AT);
    at.ok_or(WireError::OutOfRange {
        what: "coordinate of a pose",
    })
}

fn speed(speed: i32) -> Result<i16, WireError> {
    i16::try_from(speed).map_err(|_| WireError::OutOfRange {
        what: "speed of a pose",
    })
}

/// How it has moved lately: 0 not at all, 1 to 6 by how many of the spans show it.
fn activity(known: &Known<'_>) -> usize {
    let newest = &known.history[0].pose;
    let differs = |index: usize| {
        let before = &known.history[index].pose;
        before.at != newest.at || before.turn != newest.turn
    };
    if !(1..known.history.len()).any(differs) {
        return 0;
    }
    let [shortest, _, half, longest] = picks(known.history).map(|pick| usize::from(differs(pick)));
    1 + shortest * 3 + half + longest
}

/// Codes a decision by a probability that follows what comes.
fn adaptive<C: Coder>(
    coder: &mut C,
    bit: bool,
    chances: &mut [u16],
    (table, context): (usize, usize),
) -> bool {
    let chance = &mut chances[context];
    let bit = coder.bit(bit, (*chance).clamp(24, 65_512));
    if C::TAKES_NOTES {
        coder.note(&Note::Context {
            table,
            context,
            outcome: bit,
        });
    }
    if bit {
        *chance += (u16::MAX - *chance) >> RATE;
    } else {
        *chance -= *chance >> RATE;
    }
    bit
}

/// Coarse steps of a movement and of what else is known: a context for "has it stayed?".
pub(super) fn same_context(
    shortest: Vector,
    half: Vector,
    other_has_stayed: Option<bool>,
) -> usize {
    let size = |way: Vector| {
        let length = length(way);
        usize::from(length > 0.0) + usize::from(length > 6.1) + usize::from(length > 20.0)
    };
    (size(half) * 4 + size(shortest)) * 3
        + other_has_stayed.map_or(0, |stayed| 1 + usize::from(stayed))
}
