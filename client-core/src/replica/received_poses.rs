//! The received poses of one object, with interpolation between them and extrapolation beyond.
//!
//! Poses go in with number and stamp of their datagram, in any order; a pose at any room time comes
//! out. The same entries serve as baselines for later poses, so there is one list and no copy.
//!
//! A pose takes effect at its stamp plus the local lag. What is shown (times here are stamps):
//! - Between two poses: interpolated linearly, or on the curve with their velocities, also over
//!   gaps. But an object at rest stays there until it must have started to move.
//! - Before the first pose: the first one.
//! - Beyond the newest: extrapolated ([`pose::extrapolate`]) up to the newest datagram of the host.
//!   The host omits poses that the client extrapolates correctly, so its silence about an object
//!   confirms the extrapolation. When the host falls silent, the object moves on for
//!   [`MAX_EXTRAPOLATION`] and then stops.
//! - Objects whose poses have velocities move on for [`MAX_EXTRAPOLATION`], unless they are at
//!   rest: the host omits poses of objects at rest, and no others for that long.
//! - Other objects that turn freely or not at all are extrapolated only while poses of them arrive:
//!   the host omits unchanged poses. If it has been silent about one for longer than the time
//!   between its last two poses, the newest pose holds.
//!
//! Units: room time. Cost: a binary search over about ten entries to read. Source: "Optimisation
//! des echanges de donnees", an article on data exchange in action games.

use std::time::Duration;

use ambit_proto::pose::{self, AckedSet, BaselineHistory, Pose, PoseFormat, ReceivedPose, Turning};
use ambit_proto::time::GameTime;

use crate::client::event::Facing;

/// How long an object is extrapolated when nothing arrives any more. Jitter causes shorter
/// silences; in this time a walker of 4 m/s moves 1 m beyond its known position.
pub const MAX_EXTRAPOLATION: Duration = Duration::from_millis(250);

/// Below this speed, the start of a motion cannot be computed from the speed.
const STILL_M_PER_S: f32 = 0.02;
/// Maximum time since an object at rest has started to move, in seconds.
const MAX_ACCELERATION_S: f32 = 0.2;

/// The poses of one object.
#[derive(Clone, Debug)]
pub struct ReceivedPoses {
    format: PoseFormat,
    history: BaselineHistory,
}

/// The position of a time among the entries.
#[derive(Clone, Copy)]
enum TimePosition<'t> {
    /// Before the first entry.
    Before(&'t ReceivedPose),
    Between(&'t ReceivedPose, &'t ReceivedPose),
    /// At or beyond the newest entry; the second is the one before it.
    Beyond(&'t ReceivedPose, Option<&'t ReceivedPose>),
}

impl ReceivedPoses {
    /// For an object that datagram `number` has announced.
    pub fn new(format: PoseFormat, number: u64) -> Self {
        ReceivedPoses { format, history: BaselineHistory::new(number) }
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
            TimePosition::Between(from, to) => self.interpolate(from, to, stamp),
            TimePosition::Beyond(newest, before) => {
                match self.extrapolation_end(newest, before, host_stamp) {
                    Some(end) => pose::extrapolate(
                        &self.format,
                        stamped_pose(newest),
                        before.map(stamped_pose),
                        stamp.min(end),
                    ),
                    None => newest.pose,
                }
            }
        })
    }

    /// Whether the object moves then.
    pub fn moves(&self, stamp: GameTime, host_stamp: GameTime) -> bool {
        match self.locate(stamp) {
            None | Some(TimePosition::Before(_)) => false,
            Some(TimePosition::Between(from, to)) => {
                from.pose.at != to.pose.at || from.pose.turn != to.pose.turn
            }
            Some(TimePosition::Beyond(newest, before)) => {
                self.extrapolation_end(newest, before, host_stamp).is_some_and(|end| stamp < end)
            }
        }
    }

    /// Interpolates between two poses. An object at rest did not start to move at its last pose,
    /// but as late as possible: with constant acceleration, twice its distance divided by its speed
    /// before the next pose.
    fn interpolate(&self, from: &ReceivedPose, to: &ReceivedPose, stamp: GameTime) -> Pose {
        let mut start = from.stamp;
        if self.format.motion.is_some() && from.pose.flag && !to.pose.flag {
            let (linear, _) = self.format.velocities(&to.pose);
            let speed = linear.map(|part| part * part).iter().sum::<f32>().sqrt();
            let distance =
                self.format.position(&from.pose).distance(self.format.position(&to.pose));
            let seconds = if speed > STILL_M_PER_S {
                (2.0 * distance / speed).min(MAX_ACCELERATION_S)
            } else {
                MAX_ACCELERATION_S
            };
            start = start.max(to.stamp.saturating_sub(Duration::from_secs_f32(seconds)));
        }
        if stamp <= start {
            from.pose
        } else {
            pose::interpolate(&self.format, (start, &from.pose), stamped_pose(to), stamp)
        }
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
            return (!newest.pose.flag).then(|| newest.stamp + MAX_EXTRAPOLATION);
        }
        let before = before.filter(|before| before.pose != newest.pose)?;
        let silent = host_stamp.since(newest.stamp);
        (silent <= newest.stamp.since(before.stamp))
            .then(|| host_stamp + MAX_EXTRAPOLATION.saturating_sub(silent))
    }

    fn locate(&self, stamp: GameTime) -> Option<TimePosition<'_>> {
        let entries = self.history.poses();
        let after = entries.partition_point(|entry| entry.stamp <= stamp);
        let Some(index) = after.checked_sub(1) else {
            return entries.first().map(TimePosition::Before);
        };
        let from = &entries[index];
        Some(match entries.get(after) {
            Some(to) => TimePosition::Between(from, to),
            None => TimePosition::Beyond(from, index.checked_sub(1).map(|before| &entries[before])),
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
    const FIXED: PoseFormat = PoseFormat { per_metre: 100, turn: Turning::Fixed, motion: None };

    #[test]
    fn poses_are_interpolated_across_gaps() {
        let track = yaw(&[(0, 0.0, 0.0, 0.0), (50, 1.0, 0.0, 0.0), (850, 9.0, 0.0, 0.0)]);
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
        let mut track = ReceivedPoses::new(format, 0);
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
        let mut track = ReceivedPoses::new(YAW, 0);
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
        let mut track = ReceivedPoses::new(FIXED, 0);
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
