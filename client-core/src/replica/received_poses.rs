//! The received poses of one object, with interpolation between them and extrapolation beyond.
//!
//! Poses go in with number and stamp of their datagram, in any order; a pose at any room time comes
//! out. The same entries serve as baselines for later poses, so there is one list and no copy.
//!
//! A pose takes effect at its stamp plus the local lag. What is shown (times here are stamps):
//! - Between two poses: interpolated linearly, or on the curve with their velocities, also over
//!   gaps. But an object at rest stays there until it must have started to move: its pose is not
//!   repeated, so the time of that pose does not say when the rest ended.
//! - Before the first pose: the first one.
//! - Beyond the newest: extrapolated ([`pose::extrapolate`]) up to the newest datagram of the host.
//!   The host omits poses that the client extrapolates correctly, so its silence about an object
//!   confirms the extrapolation. When the host falls silent, the object moves on for
//!   [`MAX_EXTRAPOLATION`] and then stops.
//! - Objects whose poses have velocities move on for [`MAX_EXTRAPOLATION`], unless they are at
//!   rest: the host omits poses of objects at rest, and no others for that long.
//! - An object that jumps is shown by the poses before the jump until then, and by those since from
//!   then on.
//! - Other objects that turn freely or not at all are extrapolated only while poses of them arrive:
//!   the host omits unchanged poses. If it has been silent about one for longer than the time
//!   between its last two poses, the newest pose holds.
//!
//! An object *rested* at a pose if the host was silent about it for longer than twice the time
//! between that pose and the one before, or if both are the same. A pose with a speed, or with
//! velocities and not at rest, is never one of rest. Nothing tells whether a pose after a silence
//! is that of the first tick of a motion: earlier ones may be lost, or the budget did not suffice
//! for them. So the object moves to it within one tick, or for longer if it would otherwise be
//! faster than in its last steps before the rest.
//!
//! Units: room time. Cost: a binary search over about ten entries to read. Source: "Optimisation
//! des echanges de donnees", an article on data exchange in action games.

use std::collections::VecDeque;
use std::f32::consts::TAU;
use std::time::Duration;

use ambit_proto::pose::quaternion::heading;
use ambit_proto::pose::{
    self, AckedSet, BaselineHistory, EARLIER_POSES, Extrapolation, Pose, PoseFormat, ReceivedPose,
    StampedPose, Turning,
};
use ambit_proto::time::GameTime;

use crate::client::event::Facing;

/// How long an object is extrapolated when nothing arrives any more. Jitter causes shorter
/// silences; in this time a walker of 4 m/s moves 1 m beyond its known position.
pub const MAX_EXTRAPOLATION: Duration = Duration::from_millis(250);

/// Of an object that comes and jumps at once, its repeated `Enter`s may count as jumps, too.
const MAX_JUMPS: usize = 4;
/// Below this speed, the start of a motion cannot be computed from the speed.
const STILL_M_PER_S: f32 = 0.02;
/// Maximum time since an object at rest has started to move, in seconds.
const MAX_ACCELERATION_S: f32 = 0.2;
/// A silence of this multiple of the time between the last two poses is a rest. Of the poses that a
/// tight budget delays, few wait for twice as long as the ones before.
const REST_FACTOR: u32 = 2;
/// The assumed distance of an object's only pose to an earlier one: the second follows the
/// acknowledgement of its `Enter`.
const ENTER_INTERVAL: Duration = MAX_EXTRAPOLATION;
/// Longer distances of two poses say nothing about a speed: they may contain a rest.
const MAX_SPEED_INTERVAL: Duration = Duration::from_secs(1);
/// The speed before a rest is the greatest of this number of steps: the last ones are often short.
const SPEED_STEPS: usize = 32;

/// The poses of one object.
#[derive(Clone, Debug)]
pub struct ReceivedPoses {
    format: PoseFormat,
    /// How they are extrapolated, if the kind says so.
    reckoned: Option<Extrapolation>,
    /// The time between two ticks of the host.
    tick: Duration,
    /// Stamps of the ticks of the newest known jumps, the newest last.
    jumps: VecDeque<GameTime>,
    history: BaselineHistory,
}

/// The position of a time among the entries.
#[derive(Clone, Copy)]
enum TimePosition<'t> {
    /// Before the first entry.
    Before(&'t ReceivedPose),
    /// Between the last of these and the other one.
    Between(&'t [ReceivedPose], &'t ReceivedPose),
    /// At or beyond the newest entry; the others are those before it, the newest last.
    Beyond(&'t ReceivedPose, &'t [ReceivedPose]),
}

impl ReceivedPoses {
    /// For an object that datagram `number` of a host with this time between two ticks has
    /// announced.
    pub fn new(format: PoseFormat, tick: Duration, number: u64) -> Self {
        ReceivedPoses {
            format,
            reckoned: None,
            tick,
            jumps: VecDeque::new(),
            history: BaselineHistory::new(number),
        }
    }

    /// Sets how they are extrapolated, if the kind says so.
    pub fn reckon(&mut self, rule: Option<Extrapolation>) {
        self.reckoned = rule;
    }

    /// The grid of the poses, and how objects of the kind turn.
    pub fn format(&self) -> &PoseFormat {
        &self.format
    }

    /// The entries, as baselines.
    pub fn history(&self) -> &BaselineHistory {
        &self.history
    }

    /// Whether a pose in datagram `number` belongs to this object, and not to the one that used its
    /// slot before.
    pub fn admits(&self, number: u64) -> bool {
        self.history.is_of_present_tenant(number)
    }

    /// The object jumps at the tick of this stamp: nothing lies between its poses before and since.
    /// Returns whether that is news. Of many jumps the newest count.
    pub fn note_jump(&mut self, stamp: GameTime) -> bool {
        let place = self.jumps.partition_point(|known| *known < stamp);
        if self.jumps.get(place) == Some(&stamp) {
            return false;
        }
        self.jumps.insert(place, stamp);
        if self.jumps.len() > MAX_JUMPS {
            self.jumps.pop_front();
        }
        true
    }

    /// Stamp of the tick of the newest known jump.
    pub fn jumped_at(&self) -> Option<GameTime> {
        self.jumps.back().copied()
    }

    /// Whether the object jumps after one stamp and until another.
    pub fn jumps_between(&self, after: GameTime, until: GameTime) -> bool {
        self.jumps.iter().any(|jump| after < *jump && *jump <= until)
    }

    /// Adds a pose.
    pub fn insert(&mut self, entry: ReceivedPose) {
        self.history.insert(entry);
    }

    /// Drops entries that a host with this acked set no longer uses as baselines.
    pub fn prune(&mut self, acked: &AckedSet) {
        self.history.prune(acked);
    }

    /// The orientation of an object with this pose.
    pub fn facing(&self, pose: &Pose) -> Facing {
        match self.format.turn {
            Turning::Fixed => Facing::Fixed,
            Turning::Yaw { .. } => Facing::Yaw(self.format.yaw(pose)),
            Turning::Free { .. } => Facing::Free(self.format.quaternion(pose)),
        }
    }

    /// The orientation of an object that is drawn with this quaternion.
    pub fn facing_of(&self, quaternion: [f32; 4]) -> Facing {
        match self.format.turn {
            Turning::Fixed => Facing::Fixed,
            Turning::Yaw { .. } => Facing::Yaw(heading(quaternion).rem_euclid(TAU)),
            Turning::Free { .. } => Facing::Free(quaternion),
        }
    }

    /// Stamp of the newest pose.
    pub fn newest_stamp(&self) -> Option<GameTime> {
        Some(self.history.newest()?.stamp)
    }

    /// The pose in the newest datagram; `None` before the first.
    pub fn newest_pose(&self) -> Option<Pose> {
        Some(self.history.newest()?.pose)
    }

    /// Whether the newest pose is at rest, for kinds whose poses contain that.
    pub fn is_at_rest(&self) -> bool {
        self.format.motion.is_some() && self.newest_pose().is_some_and(|pose| pose.flag)
    }

    /// The pose shown at `stamp`, when the newest datagram of the host has the stamp `host_stamp`.
    pub fn at(&self, stamp: GameTime, host_stamp: GameTime) -> Option<Pose> {
        Some(match self.locate(stamp)? {
            TimePosition::Before(first) => first.pose,
            TimePosition::Between(known, to) => {
                let (start, from) = self.motion_start(known, to);
                let rule = self.reckoned.unwrap_or_default();
                let from = (start, from);
                pose::interpolate(&self.format, rule, from, stamped_pose(to), stamp)
            }
            TimePosition::Beyond(newest, before) => {
                match self.extrapolation_end(newest, before.last(), host_stamp) {
                    Some(end) => self.extrapolate(newest, before, stamp.min(end)),
                    None => newest.pose,
                }
            }
        })
    }

    fn extrapolate(&self, newest: &ReceivedPose, before: &[ReceivedPose], t: GameTime) -> Pose {
        let mut earlier: [StampedPose<'_>; EARLIER_POSES] = [stamped_pose(newest); EARLIER_POSES];
        let recent = before.iter().rev().map(stamped_pose);
        let known = earlier.iter_mut().zip(recent).map(|(entry, pose)| *entry = pose).count();
        let rule = self.reckoned.unwrap_or_default();
        pose::extrapolate(&self.format, rule, stamped_pose(newest), &earlier[..known], t)
    }

    /// Whether the object moves then.
    pub fn moves(&self, stamp: GameTime, host_stamp: GameTime) -> bool {
        match self.locate(stamp) {
            None | Some(TimePosition::Before(_)) => false,
            Some(TimePosition::Between(known, to)) => {
                let (start, from) = self.motion_start(known, to);
                stamp >= start && (from.at != to.pose.at || from.turn != to.pose.turn)
            }
            Some(TimePosition::Beyond(newest, before)) => {
                let end = self.extrapolation_end(newest, before.last(), host_stamp);
                end.is_some_and(|end| stamp < end)
            }
        }
    }

    /// The last of the poses in `known`, and from when on the object moves from it to `to`. An
    /// object at rest did not start to move at its last pose, but as late as possible.
    fn motion_start<'t>(
        &self,
        known: &'t [ReceivedPose],
        to: &ReceivedPose,
    ) -> (GameTime, &'t Pose) {
        let from = known.last().expect("a time between two poses is after the first");
        let moving_for = if self.format.motion.is_some() && from.pose.flag && !to.pose.flag {
            self.acceleration_time(&from.pose, &to.pose)
        } else if self.rested(known, to.stamp) {
            self.tick.max(self.time_at_known_speed(known, &to.pose))
        } else {
            return (from.stamp, &from.pose);
        };
        (from.stamp.max(to.stamp.saturating_sub(moving_for)), &from.pose)
    }

    /// With constant acceleration: twice the distance divided by the speed at its end.
    fn acceleration_time(&self, from: &Pose, to: &Pose) -> Duration {
        let (linear, _) = self.format.velocities(to);
        let speed = linear.map(|part| part * part).iter().sum::<f32>().sqrt();
        let [distance, _] = self.change(from, to);
        Duration::from_secs_f32(if speed > STILL_M_PER_S {
            (2.0 * distance / speed).min(MAX_ACCELERATION_S)
        } else {
            MAX_ACCELERATION_S
        })
    }

    /// Whether the object rested at the last of these poses before the next one, of time `next`.
    fn rested(&self, known: &[ReceivedPose], next: GameTime) -> bool {
        let Some((from, earlier)) = known.split_last() else {
            return false;
        };
        let says_it_moves = from.pose.speed != 0 || self.format.motion.is_some() && !from.pose.flag;
        let interval = match earlier.last() {
            Some(before) if before.pose == from.pose => Duration::ZERO,
            Some(before) => from.stamp.since(before.stamp),
            None => ENTER_INTERVAL,
        };
        !says_it_moves && next.since(from.stamp) > REST_FACTOR * interval
    }

    /// How long the object takes from the last of these poses to `to` if it is as fast as it was in
    /// its last steps; zero if that is not known.
    fn time_at_known_speed(&self, known: &[ReceivedPose], to: &Pose) -> Duration {
        let recent = &known[known.len().saturating_sub(SPEED_STEPS + 1)..];
        let mut speeds = [0.0_f32; 2];
        for step in recent.windows(2) {
            let interval = step[1].stamp.since(step[0].stamp);
            if (self.tick / 2..=MAX_SPEED_INTERVAL).contains(&interval) {
                for (speed, part) in
                    speeds.iter_mut().zip(self.change(&step[0].pose, &step[1].pose))
                {
                    *speed = speed.max(part / interval.as_secs_f32());
                }
            }
        }
        let whole = recent.last().map_or([0.0; 2], |from| self.change(&from.pose, to));
        let seconds = whole.into_iter().zip(speeds).filter(|(_, speed)| *speed > STILL_M_PER_S);
        let seconds = seconds.map(|(part, speed)| part / speed).fold(0.0, f32::max);
        Duration::try_from_secs_f32(seconds).unwrap_or(Duration::MAX)
    }

    /// How far two poses are from each other, in metres and in radians.
    fn change(&self, a: &Pose, b: &Pose) -> [f32; 2] {
        let distance = self.format.position(a).distance(self.format.position(b));
        if a.turn == b.turn {
            return [distance, 0.0];
        }
        let (p, q) = (self.format.quaternion(a), self.format.quaternion(b));
        let cosine = p.iter().zip(q).map(|(p, q)| p * q).sum::<f32>().abs();
        [distance, 2.0 * cosine.min(1.0).acos()]
    }

    /// Until when the newest pose is extrapolated; `None` if not at all.
    fn extrapolation_end(
        &self,
        newest: &ReceivedPose,
        before: Option<&ReceivedPose>,
        host_stamp: GameTime,
    ) -> Option<GameTime> {
        let host_stamp = host_stamp.max(newest.stamp);
        if let Turning::Yaw { .. } = self.format.turn {
            return (newest.pose.speed != 0).then(|| host_stamp + MAX_EXTRAPOLATION);
        }
        if self.format.motion.is_some() {
            // What is reckoned well enough is omitted, too.
            let from = if self.reckoned.is_some() { host_stamp } else { newest.stamp };
            return (!newest.pose.flag).then(|| from + MAX_EXTRAPOLATION);
        }
        let before = before.filter(|before| before.pose != newest.pose)?;
        let silent = host_stamp.since(newest.stamp);
        (silent <= newest.stamp.since(before.stamp))
            .then(|| host_stamp + MAX_EXTRAPOLATION.saturating_sub(silent))
    }

    /// The poses that say where the object is at a time: those on the same side of a jump.
    fn poses_around(&self, stamp: GameTime) -> &[ReceivedPose] {
        let entries = self.history.poses();
        let is_before = |entry: &ReceivedPose| entry.stamp <= stamp;
        let Some(anchor) = entries.iter().rfind(|entry| is_before(entry)).or(entries.first())
        else {
            return entries;
        };
        let until = self.jumps.iter().find(|jump| **jump > anchor.stamp);
        // Since a jump that is over, it is where the next pose has it.
        if let Some(jump) = until.filter(|jump| **jump <= stamp)
            && let Some(later) = entries.iter().find(|entry| entry.stamp >= *jump)
        {
            return self.poses_since(later.stamp);
        }
        let since = self.jumps.iter().rfind(|jump| **jump <= anchor.stamp);
        let from = since.map_or(0, |jump| entries.partition_point(|entry| entry.stamp < *jump));
        let to = until
            .map_or(entries.len(), |jump| entries.partition_point(|entry| entry.stamp < *jump));
        &entries[from..to]
    }

    /// The poses from a stamp on, up to the next jump after it.
    fn poses_since(&self, stamp: GameTime) -> &[ReceivedPose] {
        let entries = self.history.poses();
        let until = self.jumps.iter().find(|jump| **jump > stamp);
        let index = |at: GameTime| entries.partition_point(|entry| entry.stamp < at);
        &entries[index(stamp)..until.map_or(entries.len(), |jump| index(*jump))]
    }

    fn locate(&self, stamp: GameTime) -> Option<TimePosition<'_>> {
        let entries = self.poses_around(stamp);
        let after = entries.partition_point(|entry| entry.stamp <= stamp);
        let Some(index) = after.checked_sub(1) else {
            return entries.first().map(TimePosition::Before);
        };
        Some(match entries.get(after) {
            Some(to) => TimePosition::Between(&entries[..after], to),
            None => TimePosition::Beyond(&entries[index], &entries[..index]),
        })
    }
}

fn stamped_pose(entry: &ReceivedPose) -> (GameTime, &Pose) {
    (entry.stamp, &entry.pose)
}

#[cfg(test)]
mod tests {
    use ambit_proto::pose::MotionFormat;
    use ambit_proto::space::Position;

    use super::*;

    const YAW: PoseFormat =
        PoseFormat { per_metre: 100, turn: Turning::Yaw { bits: 8 }, motion: None };
    const TICK: Duration = Duration::from_millis(50);
    const FIXED: PoseFormat = PoseFormat { per_metre: 100, turn: Turning::Fixed, motion: None };

    #[test]
    fn poses_are_interpolated_across_gaps() {
        let track = yaw(&[(0, 0.0, 0.0, 10.0), (50, 1.0, 0.0, 10.0), (850, 9.0, 0.0, 0.0)]);
        for (t, x) in [(0, 0.0), (25, 0.5), (50, 1.0), (250, 3.0), (849, 8.99), (850, 9.0)] {
            assert_eq!(shown(&track, t, 850), x, "at {t}");
            assert!(t == 850 || track.moves(ms(t), ms(850)), "at {t}");
        }
    }

    #[test]
    fn a_yaw_is_interpolated_the_shorter_way() {
        let track = yaw(&[(0, 0.0, 0.1, 0.0), (100, 0.0, 6.2, 0.0)]);
        let half_way = track.at(ms(50), ms(100)).expect("known");
        let yaw = YAW.yaw(&half_way);
        assert!(!(0.1..=6.1).contains(&yaw), "{yaw}");
    }

    #[test]
    fn before_the_first_pose_an_object_is_shown_at_that_pose() {
        let track = yaw(&[(100, 5.0, 0.0, 4.0)]);
        assert_eq!(shown(&track, 0, 100), 5.0);
        assert!(!track.moves(ms(50), ms(100)));
    }

    #[test]
    fn a_walker_is_extrapolated_while_the_host_sends_and_briefly_after() {
        let track = yaw(&[(0, 0.0, 0.0, 4.0)]);
        for (t, host_stamp, x) in [
            (100, 0, 0.4),
            (250, 0, 1.0),
            (251, 0, 1.0),
            (9_999, 0, 1.0),
            (1_000, 1_000, 4.0),
            (9_999, 1_000, 5.0),
        ] {
            assert_eq!(shown(&track, t, host_stamp), x, "at {t}, host stamp {host_stamp}");
        }
        assert!(track.moves(ms(249), ms(0)) && !track.moves(ms(250), ms(0)));
    }

    #[test]
    fn an_object_at_rest_is_shown_at_its_last_pose() {
        let track = yaw(&[(0, 0.0, 0.0, 4.0), (50, 0.2, 0.0, 0.0)]);
        assert_eq!((shown(&track, 50, 50), shown(&track, 9_999, 9_999)), (0.2, 0.2));
        assert!(!track.moves(ms(60), ms(60)));
        let cube = fixed(&[(0, 0.0), (50, 0.2), (100, 0.2)]);
        assert_eq!((shown(&cube, 150, 100), shown(&cube, 9_999, 9_999)), (0.2, 0.2));
        assert!(!cube.moves(ms(110), ms(100)));
    }

    #[test]
    fn an_object_at_rest_stays_until_it_must_have_started_to_move() {
        let format = PoseFormat {
            motion: Some(MotionFormat { linear: 64, angular: 16 }),
            ..PoseFormat { per_metre: 500, ..FIXED }
        };
        let moving = |x: f32, speed: Option<f32>| {
            let velocities = speed.map(|speed| ([speed, 0.0, 0.0], [0.0; 3]));
            format.moving(Position::on_ground(x, 0.0), [0.0, 0.0, 0.0, 1.0], velocities)
        };
        let mut track = ReceivedPoses::new(format, TICK, 0);
        track.insert(entry(format, 0, 0, moving(1.0, None)));
        track.insert(entry(format, 1, 5_000, moving(1.05, Some(1.0))));
        let x = |t| format.position(&track.at(ms(t), ms(5_000)).expect("known")).x;
        // 5 cm at 1 m/s: a tenth of a second of constant acceleration.
        assert_eq!((x(0), x(4_000), x(4_900), x(5_000)), (1.0, 1.0, 1.0, 1.05));
        assert!((1.005..1.04).contains(&x(4_950)), "{}", x(4_950));
        // Then it is extrapolated for a limited time.
        assert!((x(5_100) - 1.15).abs() < 0.003 && x(9_000) < 1.31, "{} {}", x(5_100), x(9_000));
    }

    #[test]
    fn an_object_at_rest_stays_until_the_tick_before_its_next_pose() {
        // It stops, with a short last step; it is sent again while it rests; it is moved once;
        // nothing but its `Enter` is known.
        for before in [
            &[(0, -9.0), (50, 0.9), (100, 1.0)][..],
            &[(0, -9.0), (50, 1.0), (200, 1.0)],
            &[(0, 1.0), (2_000, 0.0), (2_500, 0.0), (4_000, 1.0)],
            &[(0, 1.0)],
        ] {
            let poses = [before, &[(9_000, 2.0), (9_050, 3.0)]].concat();
            let walker: Vec<_> = poses.iter().map(|&(t, x)| (t, x, 0.0, 0.0)).collect();
            for mut track in [fixed(&poses), yaw(&walker)] {
                for (hz, half) in [(20, 8_975), (30, 8_983), (60, 8_991)] {
                    track.tick = Duration::from_secs(1) / hz;
                    let (x, moves) =
                        (|t| shown(&track, t, 9_050), |t| track.moves(ms(t), ms(9_050)));
                    let start = 8_999 - u64::from(1_000 / hz);
                    assert_eq!((x(4_000), x(8_900), x(start)), (1.0, 1.0, 1.0), "{hz} Hz");
                    assert!((1.4..1.6).contains(&x(half)), "{hz} Hz: {}", x(half));
                    assert_eq!((x(9_000), x(9_025), x(9_050)), (2.0, 2.5, 3.0), "{hz} Hz");
                    assert!(!moves(8_000) && !moves(start) && moves(half), "{hz} Hz");
                }
            }
        }
    }

    #[test]
    fn what_jumps_is_shown_before_and_after_and_never_between() {
        for before in [&[(0, 0.0, 0.0, 4.0), (50, 0.2, 0.0, 4.0)][..], &[(50, 0.2, 0.0, 4.0)]] {
            // The pose of the tick of the jump, at 100 ms, is lost.
            let mut track =
                yaw(&[before, &[(150, 50.0, 0.0, 4.0), (200, 50.2, 0.0, 4.0)]].concat());
            assert!(track.note_jump(ms(100)) && !track.note_jump(ms(100)));
            for (t, x) in [(75, 0.3), (99, 0.4), (100, 50.0), (150, 50.0), (175, 50.1)] {
                let drawn = shown(&track, t, 200);
                assert!((drawn - x).abs() < 0.011, "{drawn} at {t}");
            }
        }
        // Until a pose from after the jump is here, nothing is known of it.
        let mut track = yaw(&[(0, 0.0, 0.0, 4.0)]);
        track.note_jump(ms(50));
        assert_eq!(shown(&track, 100, 100), 0.4);
    }

    #[test]
    fn of_two_jumps_neither_is_shown_as_a_way() {
        for noted in [[100, 200], [200, 100]] {
            let mut track =
                yaw(&[(50, 0.2, 0.0, 4.0), (100, 50.0, 0.0, 4.0), (150, 50.2, 0.0, 4.0)]);
            for stamp in noted {
                assert!(track.note_jump(ms(stamp)));
            }
            let last = YAW.pose(Position::on_ground(90.0, 0.0), 0.0, 4.0);
            track.insert(entry(YAW, 3, 200, last));
            for (t, x) in [(50, 0.2), (75, 0.3), (99, 0.4), (100, 50.0), (125, 50.1), (199, 50.4)] {
                let drawn = shown(&track, t, 200);
                assert!((drawn - x).abs() < 0.011, "{drawn} at {t}");
            }
            assert_eq!(shown(&track, 200, 200), 90.0);
        }
    }

    #[test]
    fn an_object_leaves_its_rest_no_faster_than_it_came() {
        // The first two poses of its motion are lost: 20 m/s as before.
        let track = fixed(&[(0, 0.0), (50, 1.0), (5_000, 4.0)]);
        for (t, x) in [(4_850, 1.0), (4_900, 2.0), (4_950, 3.0)] {
            assert_eq!(shown(&track, t, 5_000), x, "at {t}");
        }
        // It turns by a tenth of a radian in 50 ms, and after its rest by two.
        let mut track = yaw(&[(0, 0.0, 0.0, 0.0), (50, 0.0, 0.1, 0.0), (5_000, 0.0, 0.3, 0.0)]);
        track.tick = Duration::from_millis(20);
        assert!(!track.moves(ms(4_890), ms(5_000)) && track.moves(ms(4_910), ms(5_000)));
    }

    #[test]
    fn a_motion_with_lost_or_delayed_poses_is_no_rest() {
        // Five poses are lost.
        let track = fixed(&[(0, 0.0), (50, 1.0), (350, 7.0)]);
        assert_eq!([100, 200, 300].map(|t| shown(&track, t, 350)), [2.0, 4.0, 6.0]);
        // A tight budget sends it now and then: it moves a metre in 100 ms.
        let track = fixed(&[(0, 0.0), (300, 3.0), (700, 7.0), (1_000, 10.0), (1_600, 16.0)]);
        for t in (0..=1_600).step_by(10) {
            assert_eq!(shown(&track, t, 1_600), t as f32 / 100.0, "at {t}");
        }
        // The second pose follows the acknowledgement of the `Enter`.
        assert_eq!(shown(&fixed(&[(0, 0.0), (400, 4.0)]), 100, 400), 1.0);
    }

    #[test]
    fn a_cube_without_new_poses_returns_to_its_last_pose() {
        let cube = fixed(&[(0, 0.0), (50, 1.0)]);
        for (t, host_stamp, x) in
            [(50, 50, 1.0), (75, 50, 1.5), (100, 100, 2.0), (150, 150, 1.0), (9_999, 9_999, 1.0)]
        {
            assert_eq!(shown(&cube, t, host_stamp), x, "at {t}, host stamp {host_stamp}");
        }
        // No datagram arrives any more: extrapolation stops nearby.
        assert_eq!((shown(&cube, 300, 50), shown(&cube, 9_999, 50)), (6.0, 6.0));
    }

    #[test]
    fn a_cube_is_extrapolated_for_as_long_as_its_last_interval() {
        let cube = fixed(&[(0, 0.0), (200, 2.0)]);
        assert_eq!((shown(&cube, 390, 390), shown(&cube, 401, 401)), (3.9, 2.0));
    }

    #[test]
    fn the_order_of_arrival_does_not_matter() {
        let poses = [(0, 0.0), (50, 1.0), (100, 3.0), (150, 4.0)];
        let in_order = fixed(&poses);
        let mut shuffled = fixed(&[]);
        for index in [2, 0, 3, 1, 1] {
            let (stamp, x) = poses[index];
            shuffled.insert(entry(
                FIXED,
                index as u64,
                stamp,
                FIXED.pose(Position::on_ground(x, 0.0), 0.0, 0.0),
            ));
        }
        for t in 0..300 {
            assert_eq!(shuffled.at(ms(t), ms(150)), in_order.at(ms(t), ms(150)), "at {t}");
        }
    }

    fn yaw(poses: &[(u64, f32, f32, f32)]) -> ReceivedPoses {
        let mut track = ReceivedPoses::new(YAW, TICK, 0);
        for (number, &(stamp, x, yaw, speed)) in poses.iter().enumerate() {
            track.insert(entry(
                YAW,
                number as u64,
                stamp,
                YAW.pose(Position::on_ground(x, 0.0), yaw, speed),
            ));
        }
        track
    }

    fn fixed(poses: &[(u64, f32)]) -> ReceivedPoses {
        let mut track = ReceivedPoses::new(FIXED, TICK, 0);
        for (number, &(stamp, x)) in poses.iter().enumerate() {
            track.insert(entry(
                FIXED,
                number as u64,
                stamp,
                FIXED.pose(Position::on_ground(x, 0.0), 0.0, 0.0),
            ));
        }
        track
    }

    fn entry(format: PoseFormat, number: u64, stamp: u64, pose: Pose) -> ReceivedPose {
        assert!(format.fits(&pose));
        ReceivedPose { number, stamp: ms(stamp), pose }
    }

    fn shown(track: &ReceivedPoses, t: u64, host_stamp: u64) -> f32 {
        track.format.position(&track.at(ms(t), ms(host_stamp)).expect("known")).x
    }

    fn ms(ms: u64) -> GameTime {
        GameTime::from_millis(ms)
    }
}
