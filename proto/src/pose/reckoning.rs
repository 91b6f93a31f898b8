//! Dead reckoning: the pose to show at a time for which none has been received.
//!
//! Poses with their stamps go in; the pose between two of them, or after the newest one, comes out.
//! A server computes the same to know what a client shows, and sends nothing as long as that is
//! near enough.
//!
//! - First order: on at the newest velocity.
//! - Second order: the velocity changes on as it did between the two newest poses; a heading turns
//!   on, so a ship flies a curve. At most [`CURVE`] long, and straight on from there. A speed that
//!   falls to zero stays there.
//! - Automatic: second order while the accelerations of the last two steps differ by at most half
//!   of the greater one, first order else.
//!
//! Invariants: the results are the same on every machine; they fit the format. Source: S. Singhal
//! and D. Cheriton, "Using a Position History-Based Protocol for Distributed Object Visualization".

use std::time::Duration;

use super::{MAX_AT, MotionFormat, Pose, PoseFormat, Turning, sine};
use crate::time::GameTime;

/// A pose and its stamp.
pub type StampedPose<'p> = (GameTime, &'p Pose);

/// Computes the pose at a time from the newest one and the ones before it, the newest first.
pub type PosePredictor = fn(&PoseFormat, StampedPose<'_>, &[StampedPose<'_>], GameTime) -> Pose;

/// For how long a change of the velocity goes on.
pub const CURVE: Duration = Duration::from_millis(500);
/// How many poses before the newest one are used, at most.
pub const EARLIER_POSES: usize = 2;

/// Steps of the integral along a curve.
const CURVE_STEPS: u32 = 4;
/// A minute: longer than any gap between poses of a moving object; no sum overflows.
const MAX_LINEAR_MS: i64 = 60_000;
/// 24 days: longer than any room lives; no sum overflows.
const MAX_EXTRAPOLATION_MS: u128 = 1 << 31;

/// How an object goes on after its newest pose.
#[derive(Clone, Copy, Debug, Default)]
pub enum Extrapolation {
    /// At its velocity.
    #[default]
    First,
    /// Its velocity changes on.
    Second,
    /// Second order while the acceleration is steady.
    Automatic,
    /// By a function of the kind's own.
    Own(PosePredictor),
}

/// How the velocity changed between two poses: grid units a second, in a second. For a yaw along
/// and across the heading.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Acceleration {
    linear: [f64; 3],
    /// For a yaw: angles of [`sine`] a second.
    turn: f64,
}

impl Extrapolation {
    /// How many poses before the newest one matter.
    pub const fn earlier_poses(self) -> usize {
        match self {
            Self::First => 0,
            Self::Second => 1,
            Self::Automatic | Self::Own(_) => EARLIER_POSES,
        }
    }

    /// Whether objects move on curves.
    const fn is_curved(self) -> bool {
        !matches!(self, Self::First)
    }

    fn acceleration(
        self,
        format: &PoseFormat,
        newest: StampedPose<'_>,
        earlier: &[StampedPose<'_>],
    ) -> Option<Acceleration> {
        let before = *earlier.first()?;
        let last = Acceleration::between(format, before, newest)?;
        match self {
            Self::First | Self::Own(_) => None,
            Self::Second => Some(last),
            Self::Automatic => {
                let first = Acceleration::between(format, *earlier.get(1)?, before)?;
                last.is_steady_after(first).then_some(last)
            }
        }
    }
}

impl Acceleration {
    /// `None` if the poses say no velocity, or are too far apart.
    fn between(format: &PoseFormat, from: StampedPose<'_>, to: StampedPose<'_>) -> Option<Self> {
        let span = to.0.since(from.0);
        if span.is_zero() || span > CURVE {
            return None;
        }
        let per_s = 1.0 / span.as_secs_f64();
        if let Turning::Yaw { .. } = format.turn {
            let half = sine::ANGLES / 2;
            let turned = format.turn.angle(to.1.turn) - format.turn.angle(from.1.turn);
            let turned = (turned + half).rem_euclid(sine::ANGLES) - half;
            let turn = f64::from(turned) * per_s;
            let along = f64::from(i32::from(to.1.speed) - i32::from(from.1.speed)) * per_s;
            let across = f64::from(to.1.speed) * turn * RADIANS_PER_ANGLE;
            return Some(Self { linear: [along, across, 0.0], turn });
        }
        let grid = format.motion?;
        let units = f64::from(format.per_metre) / f64::from(grid.linear) * per_s;
        let change = |axis: usize| {
            let from = from.1.motion.linear[axis];
            let to = to.1.motion.linear[axis];
            f64::from(i32::from(to) - i32::from(from)) * units
        };
        Some(Self { linear: std::array::from_fn(change), turn: 0.0 })
    }

    fn is_steady_after(self, before: Self) -> bool {
        let square = |linear: [f64; 3]| linear.iter().map(|part| part * part).sum::<f64>();
        let change = std::array::from_fn(|axis| self.linear[axis] - before.linear[axis]);
        square(change) * 4.0 <= square(self.linear).max(square(before.linear))
    }
}

const RADIANS_PER_ANGLE: f64 = std::f64::consts::TAU / sine::ANGLES as f64;

/// The pose to show at `t`, after the newest of some poses; those before it come newest first. By
/// the first order a yaw goes on along its heading at its speed, an object with velocities at its
/// velocity, and others as from the older pose to the newer one.
pub fn extrapolate(
    format: &PoseFormat,
    rule: Extrapolation,
    newest: StampedPose<'_>,
    earlier: &[StampedPose<'_>],
    t: GameTime,
) -> Pose {
    let (time, pose) = newest;
    let ahead_ms = t.since(time).as_millis().min(MAX_EXTRAPOLATION_MS) as i64;
    if ahead_ms == 0 {
        // Exactly: rounding a turn to steps again may choose another of two equal components.
        return *pose;
    }
    if let Extrapolation::Own(predict) = rule {
        let own = predict(format, newest, earlier, t);
        return if format.fits(&own) { own } else { *pose };
    }
    let acceleration = rule.acceleration(format, newest, earlier);
    if let Turning::Yaw { .. } = format.turn {
        return match acceleration {
            Some(acceleration) => extrapolate_curve(*format, pose, acceleration, ahead_ms),
            None => extrapolate_heading(*format, pose, ahead_ms),
        };
    }
    let before = earlier.first().copied().filter(|(earlier, _)| *earlier < time);
    if let Some(grid) = format.motion {
        let before = before.map(|(earlier, before)| (time.since(earlier), before));
        let pose = extrapolate_velocity(*format, grid, pose, before, ahead_ms);
        return match acceleration.filter(|_| !pose.flag) {
            Some(acceleration) => accelerated(pose, acceleration, ahead_ms),
            None => pose,
        };
    }
    let Some((earlier, before)) = before else {
        return *pose;
    };
    let span_ms = time.since(earlier).as_millis().clamp(1, MAX_EXTRAPOLATION_MS) as i64;
    let at = std::array::from_fn(|axis| {
        let step = i64::from(pose.at[axis]) - i64::from(before.at[axis]);
        clamp_to_grid(i64::from(pose.at[axis]) + rounded_div(step * ahead_ms, span_ms))
    });
    let turn = format.turn.interpolate(before.turn, pose.turn, span_ms + ahead_ms, span_ms);
    Pose { at, turn, ..*pose }
}

/// In a straight line at its velocity, turning as it did since `before`, which is older by the
/// given time.
fn extrapolate_velocity(
    format: PoseFormat,
    grid: MotionFormat,
    pose: &Pose,
    before: Option<(Duration, &Pose)>,
    ahead_ms: i64,
) -> Pose {
    if pose.flag {
        return *pose;
    }
    let per_unit = 1_000 * i64::from(grid.linear);
    let at = std::array::from_fn(|axis| {
        let units = i64::from(pose.motion.linear[axis]) * i64::from(format.per_metre);
        clamp_to_grid(
            i64::from(pose.at[axis]) + rounded_div(units * ahead_ms.min(MAX_LINEAR_MS), per_unit),
        )
    });
    let turn = before.map_or(pose.turn, |(span, before)| {
        let span_ms = span.as_millis().clamp(1, MAX_EXTRAPOLATION_MS) as i64;
        format.turn.interpolate(before.turn, pose.turn, span_ms + ahead_ms, span_ms)
    });
    Pose { at, turn, ..*pose }
}

/// A pose on the straight line, with what an acceleration adds.
fn accelerated(straight: Pose, acceleration: Acceleration, ahead_ms: i64) -> Pose {
    let curve_ms = ahead_ms.min(CURVE.as_millis() as i64);
    let curve = curve_ms as f64 / 1e3;
    let rest = (ahead_ms - curve_ms) as f64 / 1e3;
    let at = std::array::from_fn(|axis| {
        let more = acceleration.linear[axis] * curve * (curve / 2.0 + rest);
        clamp_to_grid((f64::from(straight.at[axis]) + more).round() as i64)
    });
    Pose { at, ..straight }
}

fn extrapolate_heading(format: PoseFormat, pose: &Pose, ahead_ms: i64) -> Pose {
    let (cos, sin) = sine::direction(format.turn.angle(pose.turn));
    let units = |part: i32| {
        rounded_div(i64::from(pose.speed) * ahead_ms * i64::from(part), 1_000 << sine::BITS)
    };
    let [x, y, z] = pose.at.map(i64::from);
    Pose {
        at: [clamp_to_grid(x + units(cos)), clamp_to_grid(y + units(sin)), clamp_to_grid(z)],
        ..*pose
    }
}

/// On along a heading that turns, at a speed that changes; then straight on.
fn extrapolate_curve(
    format: PoseFormat,
    pose: &Pose,
    acceleration: Acceleration,
    ahead_ms: i64,
) -> Pose {
    let curve_ms = ahead_ms.min(CURVE.as_millis() as i64);
    let start = format.turn.angle(pose.turn);
    let seconds = curve_ms as f64 / 1e3;
    let speed = |after: f64| {
        let now = f64::from(pose.speed);
        let then = now + acceleration.linear[0] * after;
        if then * now < 0.0 { 0.0 } else { then }
    };
    let angle = |after: f64| start + (acceleration.turn * after).round() as i32;
    let (mut x, mut y) = (f64::from(pose.at[0]), f64::from(pose.at[1]));
    let step = seconds / f64::from(CURVE_STEPS);
    for index in 0..CURVE_STEPS {
        let middle = step * (f64::from(index) + 0.5);
        let (cos, sin) = sine::direction(angle(middle));
        let way = speed(middle) * step / f64::from(1 << sine::BITS);
        x += way * f64::from(cos);
        y += way * f64::from(sin);
    }
    let end = Pose {
        at: [clamp_to_grid(x.round() as i64), clamp_to_grid(y.round() as i64), pose.at[2]],
        turn: format.turn.of_angle(angle(seconds)),
        // The cast saturates.
        speed: speed(seconds).round() as i16,
        ..*pose
    };
    if ahead_ms == curve_ms { end } else { extrapolate_heading(format, &end, ahead_ms - curve_ms) }
}

/// The pose at `t` between two poses: on the straight line, or if the format has velocities or
/// objects move on curves, on the cubic curve with the velocities at its ends (Hermite); turned the
/// shorter way. Before and after, the first and the last pose. Flag, speed and motion are those of
/// the earlier pose until the later one is reached.
pub fn interpolate(
    format: &PoseFormat,
    rule: Extrapolation,
    from: StampedPose<'_>,
    to: StampedPose<'_>,
    t: GameTime,
) -> Pose {
    if t >= to.0 {
        return *to.1;
    }
    if t <= from.0 {
        return *from.1;
    }
    let part = t.since(from.0).as_micros() as i64;
    let whole = to.0.since(from.0).as_micros() as i64;
    let turn = format.turn.interpolate(from.1.turn, to.1.turn, part, whole);
    let units_per_span = match format.motion {
        Some(grid) => f64::from(format.per_metre) / f64::from(grid.linear) * whole as f64 * 1e-6,
        None => whole as f64 * 1e-6,
    };
    let is_yaw = matches!(format.turn, Turning::Yaw { .. });
    let at = if format.motion.is_some() || is_yaw && rule.is_curved() {
        let velocity = |pose| velocity(format, pose).map(|part| part * units_per_span);
        let ways = (velocity(from.1), velocity(to.1));
        hermite(from.1.at, to.1.at, ways, part as f64 / whole as f64)
    } else {
        std::array::from_fn(|axis| {
            let (a, b) = (i128::from(from.1.at[axis]), i128::from(to.1.at[axis]));
            clamp_to_grid((a + (b - a) * i128::from(part) / i128::from(whole)) as i64)
        })
    };
    Pose { at, turn, ..*from.1 }
}

/// On the grid of the format: for a yaw grid units a second along its heading.
fn velocity(format: &PoseFormat, pose: &Pose) -> [f64; 3] {
    if let Turning::Yaw { .. } = format.turn {
        let (cos, sin) = sine::direction(format.turn.angle(pose.turn));
        let part = |part: i32| f64::from(pose.speed) * f64::from(part) / f64::from(1 << sine::BITS);
        return [part(cos), part(sin), 0.0];
    }
    pose.motion.linear.map(f64::from)
}

/// The position on the cubic curve from one place to another, when `fraction` of the time has
/// passed; the ways are what the velocities at its ends cover in all of the time.
fn hermite(
    from: [i32; 3],
    to: [i32; 3],
    (first, last): ([f64; 3], [f64; 3]),
    fraction: f64,
) -> [i32; 3] {
    let (f, g) = (fraction, 1.0 - fraction);
    std::array::from_fn(|axis| {
        let (a, b) = (f64::from(from[axis]), f64::from(to[axis]));
        let (u, v) = (first[axis], last[axis]);
        let offset = (b - a) * (f * f * (3.0 - 2.0 * f)) + u * (f * g * g) - v * (f * f * g);
        clamp_to_grid((a + offset).round() as i64)
    })
}

fn clamp_to_grid(units: i64) -> i32 {
    units.clamp(-i64::from(MAX_AT), i64::from(MAX_AT)) as i32
}

/// The nearest whole number to `a / b`, halves away from zero; `b` is above zero.
fn rounded_div(a: i64, b: i64) -> i64 {
    (a + a.signum() * (b / 2)) / b
}
