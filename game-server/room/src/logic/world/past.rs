//! Where objects were a short while ago: for games that answer what a player saw.
//!
//! A pose that changes at a tick leaves an entry, the way from the tick before; what rests leaves
//! none. What jumps leaves one without a way: it was at the earlier place until then. Paths know
//! their past themselves. Bound: [`MAX_REACH`], so at most some 130 entries an object; nothing is
//! kept for games that do not ask. It is saved with the room, since what a game decides by it must
//! be the same after a failover.

use std::collections::VecDeque;
use std::time::Duration;

use ambit_proto::axes::AxisKind;
use ambit_proto::ids::{ObjectId, PlayerId};
use ambit_proto::pose::{self, Extrapolation, Pose, PoseFormat};
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use serde::{Deserialize, Serialize};

use super::{World, component_access};
use crate::logic::contact::ObjectMotion;

/// The past never reaches farther.
const MAX_REACH: Duration = Duration::from_secs(2);
/// Of a room with 10 ticks a second. What was seen at the bound came from a tick before.
const LONGEST_TICK: Duration = Duration::from_millis(100);

/// How a pose came about: on the way from one tick to the next.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct PastPose {
    since: GameTime,
    at: GameTime,
    pose: Pose,
}

impl PastPose {
    /// Whether the object came there without a way.
    fn is_jump(&self) -> bool {
        self.since == self.at
    }
}

/// The recent poses of all objects.
#[derive(Debug, Default)]
pub(super) struct PastPoses {
    /// How far back; zero to keep nothing.
    reach: Duration,
    /// By the slot of the pose, the oldest first.
    tracks: Vec<VecDeque<PastPose>>,
}

/// What [`PastPoses::to_saved`] gives, as it is decoded.
pub(super) type SavedPast = Vec<Vec<(GameTime, GameTime, Pose)>>;

impl PastPoses {
    /// Keeps the past as far back as this from now on.
    pub(super) fn set_reach(&mut self, reach: Duration) {
        self.reach = reach.min(MAX_REACH);
    }

    pub(super) fn reach(&self) -> Duration {
        self.reach
    }

    /// A slot has another object now.
    pub(super) fn forget(&mut self, slot: u32) {
        if let Some(track) = self.tracks.get_mut(slot as usize) {
            track.clear();
        }
    }

    /// The pose in a slot has changed between two ticks.
    pub(super) fn note(&mut self, slot: u32, (since, at): (GameTime, GameTime), pose: Pose) {
        if self.reach == Duration::ZERO {
            return;
        }
        let slot = slot as usize;
        if slot >= self.tracks.len() {
            self.tracks.resize_with(slot + 1, VecDeque::new);
        }
        let track = &mut self.tracks[slot];
        track.push_back(PastPose { since, at, pose });
        // The newest entry before the reach, and a tick more, says where the object was then.
        let kept = self.reach + LONGEST_TICK;
        while track.get(1).is_some_and(|second| at.since(second.at) >= kept) {
            track.pop_front();
        }
    }

    /// The pose at a time; `None` if it has not changed as long as this knows.
    fn pose_at(&self, slot: u32, format: &PoseFormat, t: GameTime) -> Option<Pose> {
        let track = self.tracks.get(slot as usize)?;
        let after = track.partition_point(|entry| entry.at < t);
        let before = after.checked_sub(1).and_then(|index| track.get(index));
        match (before, track.get(after)) {
            (None, None) => None,
            (Some(only), None) | (None, Some(only)) => Some(only.pose),
            (Some(from), Some(to)) if to.is_jump() => {
                Some(if t < to.at { from.pose } else { to.pose })
            }
            (Some(from), Some(to)) => {
                let from = (to.since.max(from.at), &from.pose);
                let to = (to.at, &to.pose);
                Some(pose::interpolate(format, Extrapolation::First, from, to, t))
            }
        }
    }

    /// Whether the object jumped after one time and until another.
    fn has_jump(&self, slot: u32, after: GameTime, until: GameTime) -> bool {
        let Some(track) = self.tracks.get(slot as usize) else { return false };
        let first = track.partition_point(|entry| entry.at <= after);
        track.range(first..).take_while(|entry| entry.at <= until).any(PastPose::is_jump)
    }

    /// The data to save.
    pub(super) fn to_saved(&self) -> SavedPast {
        let entry = |entry: &PastPose| (entry.since, entry.at, entry.pose);
        self.tracks.iter().map(|track| track.iter().map(entry).collect()).collect()
    }

    /// Restores what was saved; the poses fit their formats only if `fits` says so.
    pub(super) fn restore(
        &mut self,
        saved: SavedPast,
        fits: impl Fn(usize, &Pose) -> bool,
    ) -> bool {
        self.tracks = saved
            .into_iter()
            .map(|track| {
                let entry = |(since, at, pose)| PastPose { since, at, pose };
                track.into_iter().map(entry).collect()
            })
            .collect();
        let all = self.tracks.iter().enumerate();
        all.flat_map(|(slot, track)| track.iter().map(move |entry| (slot, entry)))
            .all(|(slot, entry)| fits(slot, &entry.pose) && entry.since <= entry.at)
    }
}

/// The past.
impl World {
    /// Keeps where objects were, as far back as this before the present of the players, from now
    /// on.
    pub fn keep_past(&mut self, reach: Duration) {
        self.past.set_reach(if reach == Duration::ZERO { reach } else { reach + self.delay });
    }

    /// Where an object was at a time, as far back as the past is kept; later, where it is now.
    pub fn past_position(&self, object: ObjectId, t: GameTime) -> Position {
        self.kept_position(object, t.max(self.now.saturating_sub(self.past.reach())))
    }

    fn kept_position(&self, object: ObjectId, t: GameTime) -> Position {
        let t = t.min(self.now);
        let Some(slot) = self.pose_slot_of(object) else {
            return component_access::position_on(self.path(object), t);
        };
        let format = self.pose_format(object);
        let past = self.past.pose_at(slot, &format, t);
        past.map_or_else(|| self.position(object), |pose| format.position(&pose))
    }

    /// Whether an object jumped after one time and until another, as far back as the past is kept.
    fn jumped_between(&self, object: ObjectId, after: GameTime, until: GameTime) -> bool {
        if let Some(slot) = self.pose_slot_of(object) {
            return self.past.has_jump(slot, after, until);
        }
        let mut points = self.path(object).points();
        points.any(|(time, point)| point.jump && (after < time && time <= until))
    }

    /// How an object moved until `t` from as long before as the last tick took, with the times of
    /// the last tick: for contacts of something now with what it was seen to be.
    pub fn past_motion(&self, object: ObjectId, t: GameTime) -> ObjectMotion<'static> {
        let t = t.max(self.now.saturating_sub(self.past.reach()));
        let before = t.saturating_sub(self.now.since(self.previous_horizon).min(LONGEST_TICK));
        let to = self.kept_position(object, t);
        let from = if self.jumped_between(object, before, t) {
            to
        } else {
            self.kept_position(object, before)
        };
        ObjectMotion::Straight { from: (self.previous_horizon, from), to: (self.now, to) }
    }

    /// The time that a player's screen showed when the player held or pressed what acts at this
    /// tick: as the client says, but not after the players' clock, and not farther back than the
    /// past is kept.
    pub fn shown_to(&self, player: PlayerId) -> GameTime {
        let present = self.now.saturating_sub(self.delay);
        let axis = self.schema.shown_behind();
        let Some((axis, controls)) = axis.zip(self.controls.get(&player)) else {
            return present;
        };
        let behind_s = AxisKind::ShownBehind.value_of(controls.axes().0[axis]);
        let behind = Duration::from_secs_f32(behind_s);
        let shown = controls.sampled_before(present).saturating_sub(behind);
        shown.max(self.now.saturating_sub(self.past.reach())).min(present)
    }

    /// Notes the poses that this tick has changed.
    pub(super) fn note_past(&mut self) {
        if self.past.reach() == Duration::ZERO {
            return;
        }
        let span = (self.previous_horizon, self.now);
        for index in 0..self.active_objects().len() {
            let object = self.active_objects()[index];
            let slot = self.pose_slot(object);
            let pose = self.pose(object);
            let span = if self.has_jumped(object) { (self.now, self.now) } else { span };
            self.past.note(slot, span, pose);
        }
    }
}
