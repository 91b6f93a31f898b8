//! Where an object is that may move in any way: the poses that were told of it, and what lies
//! between and beyond them.
//!
//! Poses go in with number and stamp of the datagram that brought them, in whatever order; a pose
//! at any room time comes out. The same entries are the bases of poses to come
//! ([`ambit_proto::pose::Kept`]), so there is one list and no copy.
//!
//! A pose takes effect at its stamp and the local lag. What is shown at a time (here in terms of
//! stamps):
//! - between two poses, what lies straight between them, or on the curve that has their velocities,
//!   over gaps as well; but what was at rest stays so until it must have set out;
//! - before the first, the first;
//! - beyond the newest, what it foretells ([`pose::estimate`]), as far as the host is heard: it
//!   keeps back what we foretell ourselves, so its silence about an object says that we are right.
//!   When it falls silent altogether, for [`MAX_EXTRAPOLATION`] more; then the object stands.
//! - Objects that tell their velocity go on with it for [`MAX_EXTRAPOLATION`], unless they are at
//!   rest: their host keeps back what rests, and nothing else for so long.
//! - Other objects that turn freely or not at all foretell something only while poses of them come
//!   in: the host keeps back what has not changed. Once it has been silent about one for longer
//!   than it was before its newest pose, that pose stands.
//!
//! Units: room time. Cost: a binary search over some ten entries to read. PoseSource: design,
//! section 6; reference 004.

use std::time::Duration;

use ambit_proto::pose::{self, AckedSet, Entry, Kept, Pose, PoseFormat, Turning};
use ambit_proto::time::GameTime;

use crate::client::event::Facing;

/// For how long an object goes on when nothing at all is heard any more. A line that jitters is
/// silent for less; in this time a walker of 4 m/s gets 1 m beyond what is known.
pub const MAX_EXTRAPOLATION: Duration = Duration::from_millis(250);

/// What moves no faster has no way of its own to tell how long ago it set out.
const STILL_M_PER_S: f32 = 0.02;
/// What was at rest and is under way has set out no longer ago than that, in seconds.
const MAX_ACCELERATION_S: f32 = 0.2;

/// The poses of one object.
#[derive(Clone, Debug)]
pub struct ReceivedPoses {
    format: PoseFormat,
    history: Kept,
}

/// Where a time lies among the entries.
#[derive(Clone, Copy)]
enum TimePosition<'t> {
    /// PriorEstimate the first.
    PriorEstimate(&'t Entry),
    Between(&'t Entry, &'t Entry),
    /// At or beyond the newest; the one before it.
    Beyond(&'t Entry, Option<&'t Entry>),
}

impl ReceivedPoses {
    /// Of an object that datagram `number` has announced.
    pub fn new(format: PoseFormat, number: u64) -> Self {
        ReceivedPoses {
            format,
            history: Kept::new(number),
        }
    }

    /// The grid.
    pub fn format(&self) -> &PoseFormat {
        &self.format
    }

    /// The entries, as bases.
    pub fn history(&self) -> &Kept {
        &self.history
    }

    /// Whether a pose in datagram `number` is one of this object, and not of the one that had its
    /// slot before.
    pub fn admits(&self, number: u64) -> bool {
        self.history.admits(number)
    }

    /// Takes over a pose.
    pub fn insert(&mut self, entry: Entry) {
        self.history.note(entry);
    }

    /// Drops what is no base any more for a host that knows this to have arrived here.
    pub fn prune(&mut self, acked: &AckedSet) {
        self.history.prune(acked);
    }

    /// How an object with this pose is turned.
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

    /// The newest pose.
    pub fn newest_pose(&self) -> Option<Pose> {
        Some(self.history.newest()?.pose)
    }

    /// Whether the newest pose is one at rest, of a kind that tells so.
    pub fn is_at_rest(&self) -> bool {
        self.format.motion.is_some() && self.newest_pose().is_some_and(|pose| pose.flag)
    }

    /// What is shown of the poses up to `stamp`, when the host was last heard with a datagram of
    /// `heard`.
    pub fn at(&self, stamp: GameTime, heard: GameTime) -> Option<Pose> {
        Some(match self.locate(stamp)? {
            TimePosition::PriorEstimate(first) => first.pose,
            TimePosition::Between(from, to) => self.interpolate(from, to, stamp),
            TimePosition::Beyond(newest, before) => {
                match self.extrapolation_end(newest, before, heard) {
                    Some(end) => pose::estimate(
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

    /// Whether it is under way then.
    pub fn moves(&self, stamp: GameTime, heard: GameTime) -> bool {
        match self.locate(stamp) {
            None | Some(TimePosition::PriorEstimate(_)) => false,
            Some(TimePosition::Between(from, to)) => {
                from.pose.at != to.pose.at || from.pose.turn != to.pose.turn
            }
            Some(TimePosition::Beyond(newest, before)) => self
                .extrapolation_end(newest, before, heard)
                .is_some_and(|end| stamp < end),
        }
    }

    /// What lies between two poses. What was at rest did not set out when that was told, but when
    /// it must have to be under way as it is: with a steady push, twice its way at its speed ago.
    fn interpolate(&self, from: &Entry, to: &Entry, stamp: GameTime) -> Pose {
        let mut start = from.stamp;
        if self.format.motion.is_some() && from.pose.flag && !to.pose.flag {
            let (linear, _) = self.format.velocities(&to.pose);
            let speed = linear.map(|part| part * part).iter().sum::<f32>().sqrt();
            let way = self
                .format
                .position(&from.pose)
                .distance(self.format.position(&to.pose));
            let seconds = if speed > STILL_M_PER_S {
                (2.0 * way / speed).min(MAX_ACCELERATION_S)
            } else {
                MAX_ACCELERATION_S
            };
            start = start.max(to.stamp.saturating_sub(Duration::from_secs_f32(seconds)));
        }
        if stamp <= start {
            from.pose
        } else {
            pose::between(&self.format, (start, &from.pose), stamped_pose(to), stamp)
        }
    }

    /// Until when the newest pose's motion goes on; `Unchanged` if it foretells none.
    fn extrapolation_end(
        &self,
        newest: &Entry,
        before: Option<&Entry>,
        heard: GameTime,
    ) -> Option<GameTime> {
        let heard = heard.max(newest.stamp);
        if let Turning::Yaw { .. } = self.format.turn {
            return (newest.pose.speed != 0).then(|| heard + MAX_EXTRAPOLATION);
        }
        if self.format.motion.is_some() {
            return (!newest.pose.flag).then(|| newest.stamp + MAX_EXTRAPOLATION);
        }
        let before = before.filter(|before| before.pose != newest.pose)?;
        let silent = heard.since(newest.stamp);
        (silent <= newest.stamp.since(before.stamp))
            .then(|| heard + MAX_EXTRAPOLATION.saturating_sub(silent))
    }

    fn locate(&self, stamp: GameTime) -> Option<TimePosition<'_>> {
        let entries = self.history.entries();
        let after = entries.partition_point(|entry| entry.stamp <= stamp);
        let Some(index) = after.checked_sub(1) else {
            return entries.first().map(TimePosition::PriorEstimate);
        };
        let from = &entries[index];
        Some(match entries.get(after) {
            Some(to) => TimePosition::Between(from, to),
            None => TimePosition::Beyond(from, index.checked_sub(1).map(|before| &entries[before])),
        })
    }
}

fn stamped_pose(entry: &Entry) -> (GameTime, &Pose) {
    (entry.stamp, &entry.pose)
}

#[cfg(test)]
mod tests {
    use ambit_proto::pose::MotionFormat;
    use ambit_proto::space::Position;

    use super::*;

    const YAW: PoseFormat = PoseFormat {
        per_metre: 100,
        turn: Turning::Yaw { bits: 8 },
        motion: None,
    };
    const FIXED: PoseFormat = PoseFormat {
        per_metre: 100,
        turn: Turning::Fixed,
        motion: None,
    };

    #[test]
    fn poses_are_interpolated_across_gaps() {
        let track = yaw(&[
            (0, 0.0, 0.0, 0.0),
            (50, 1.0, 0.0, 0.0),
            (850, 9.0, 0.0, 0.0),
        ]);
        for (t, x) in [
            (0, 0.0),
            (25, 0.5),
            (50, 1.0),
            (250, 3.0),
            (849, 8.99),
            (850, 9.0),
        ] {
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
    fn before_the_first_pose_the_first_one_holds() {
        let track = yaw(&[(100, 5.0, 0.0, 4.0)]);
        assert_eq!(shown(&track, 0, 100), 5.0);
        assert!(!track.moves(ms(50), ms(100)));
    }

    #[test]
    fn a_walker_is_extrapolated_while_the_host_sends_and_briefly_after() {
        let track = yaw(&[(0, 0.0, 0.0, 4.0)]);
        for (t, heard, x) in [
            (100, 0, 0.4),
            (250, 0, 1.0),
            (251, 0, 1.0),
            (9_999, 0, 1.0),
            (1_000, 1_000, 4.0),
            (9_999, 1_000, 5.0),
        ] {
            assert_eq!(shown(&track, t, heard), x, "at {t}, heard at {heard}");
        }
        assert!(track.moves(ms(249), ms(0)) && !track.moves(ms(250), ms(0)));
    }

    #[test]
    fn an_object_at_rest_is_shown_where_it_rests() {
        let track = yaw(&[(0, 0.0, 0.0, 4.0), (50, 0.2, 0.0, 0.0)]);
        assert_eq!(
            (shown(&track, 50, 50), shown(&track, 9_999, 9_999)),
            (0.2, 0.2)
        );
        assert!(!track.moves(ms(60), ms(60)));
        let cube = fixed(&[(0, 0.0), (50, 0.2), (100, 0.2)]);
        assert_eq!(
            (shown(&cube, 150, 100), shown(&cube, 9_999, 9_999)),
            (0.2, 0.2)
        );
        assert!(!cube.moves(ms(110), ms(100)));
    }

    #[test]
    fn an_object_at_rest_stays_until_it_must_have_started_to_move() {
        let format = PoseFormat {
            motion: Some(MotionFormat {
                linear: 64,
                angular: 16,
            }),
            ..PoseFormat {
                per_metre: 500,
                ..FIXED
            }
        };
        let moving = |x: f32, speed: Option<f32>| {
            let velocities = speed.map(|speed| ([speed, 0.0, 0.0], [0.0; 3]));
            format.moving(
                Position::on_ground(x, 0.0),
                [0.0, 0.0, 0.0, 1.0],
                velocities,
            )
        };
        let mut track = ReceivedPoses::new(format, 0);
        track.insert(entry(format, 0, 0, moving(1.0, None)));
        track.insert(entry(format, 1, 5_000, moving(1.05, Some(1.0))));
        let x = |t| {
            format
                .position(&track.at(ms(t), ms(5_000)).expect("known"))
                .x
        };
        // 5 cm at 1 m/s: a tenth of a second of steady push.
        assert_eq!((x(0), x(4_000), x(4_900), x(5_000)), (1.0, 1.0, 1.0, 1.05));
        assert!((1.005..1.04).contains(&x(4_950)), "{}", x(4_950));
        // And then it goes on, but not for ever.
        assert!(
            (x(5_100) - 1.15).abs() < 0.003 && x(9_000) < 1.31,
            "{} {}",
            x(5_100),
            x(9_000)
        );
    }

    #[test]
    fn a_cube_without_new_poses_returns_to_its_last_pose() {
        let cube = fixed(&[(0, 0.0), (50, 1.0)]);
        for (t, heard, x) in [
            (50, 50, 1.0),
            (75, 50, 1.5),
            (100, 100, 2.0),
            (150, 150, 1.0),
            (9_999, 9_999, 1.0),
        ] {
            assert_eq!(shown(&cube, t, heard), x, "at {t}, heard at {heard}");
        }
        // The line is dead: it stands, and not far away.
        assert_eq!((shown(&cube, 300, 50), shown(&cube, 9_999, 50)), (6.0, 6.0));
    }

    #[test]
    fn a_cube_is_extrapolated_for_as_long_as_its_last_interval() {
        let cube = fixed(&[(0, 0.0), (200, 2.0)]);
        assert_eq!((shown(&cube, 390, 390), shown(&cube, 401, 401)), (3.9, 2.0));
    }

    #[test]
    fn the_order_of_arrival_does_not_matter() {
        let told = [(0, 0.0), (50, 1.0), (100, 3.0), (150, 4.0)];
        let in_order = fixed(&told);
        let mut shuffled = fixed(&[]);
        for index in [2, 0, 3, 1, 1] {
            let (stamp, x) = told[index];
            shuffled.insert(entry(
                FIXED,
                index as u64,
                stamp,
                FIXED.pose(Position::on_ground(x, 0.0), 0.0, 0.0),
            ));
        }
        for t in 0..300 {
            assert_eq!(
                shuffled.at(ms(t), ms(150)),
                in_order.at(ms(t), ms(150)),
                "at {t}"
            );
        }
    }

    fn yaw(told: &[(u64, f32, f32, f32)]) -> ReceivedPoses {
        let mut track = ReceivedPoses::new(YAW, 0);
        for (number, &(stamp, x, yaw, speed)) in told.iter().enumerate() {
            track.insert(entry(
                YAW,
                number as u64,
                stamp,
                YAW.pose(Position::on_ground(x, 0.0), yaw, speed),
            ));
        }
        track
    }

    fn fixed(told: &[(u64, f32)]) -> ReceivedPoses {
        let mut track = ReceivedPoses::new(FIXED, 0);
        for (number, &(stamp, x)) in told.iter().enumerate() {
            track.insert(entry(
                FIXED,
                number as u64,
                stamp,
                FIXED.pose(Position::on_ground(x, 0.0), 0.0, 0.0),
            ));
        }
        track
    }

    fn entry(format: PoseFormat, number: u64, stamp: u64, pose: Pose) -> Entry {
        assert!(format.fits(&pose));
        Entry {
            number,
            stamp: ms(stamp),
            pose,
        }
    }

    fn shown(track: &ReceivedPoses, t: u64, heard: u64) -> f32 {
        track
            .format
            .position(&track.at(ms(t), ms(heard)).expect("known"))
            .x
    }

    fn ms(ms: u64) -> GameTime {
        GameTime::from_millis(ms)
    }
}
