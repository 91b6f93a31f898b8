//! One object of the replica.
//!
//! Components go in with the stamp of their datagram; values at any room time come out. Invariant:
//! each component has the value of the newest datagram that contained it, in any order of arrival;
//! stamps decide which is newer. A pose is stored apart, in [`ReceivedPoses`].

use std::time::Duration;

use ambit_proto::ids::{Alias, ClientObjectId};
use ambit_proto::pose::{Extrapolation, Pose, ReceivedPose};
use ambit_proto::schema::{Component, Convergence, ObjectKind};
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use ambit_proto::timeline::{Timeline, Waypoint};

use super::component_history::{ComponentHistory, Novelty, TOLERANCE_M, velocity_on};
use super::drawing::{DrawnFrames, DrawnObject, DrawnPose, EarlierFrames, velocities_of};
use super::error_smoothing::{ErrorSmoother, SNAP_M};
use super::path_blending;
use super::received_poses::ReceivedPoses;
use super::schema_names::PartNames as Names;
use super::{ReceivedDatagram, RenderTimes};
use crate::client::event::{BorrowedValue, ComponentValue, Facing, NamedValue};

const MICROSECOND: Duration = Duration::from_micros(1);

/// An object: announced, in sight, or about to leave.
#[derive(Debug)]
pub struct ReplicaObject<V> {
    /// The client's id of it.
    pub id: ClientObjectId,
    /// The server's name for it on the wire.
    pub alias: Alias,
    /// Index of its kind.
    pub kind: u8,
    /// Whether it is the player's avatar.
    pub own: bool,
    /// When it comes into sight.
    pub enters: GameTime,
    /// When it goes out of sight, once known.
    pub leaves: Option<GameTime>,
    /// The view's data; present as long as the object is in sight.
    pub view: Option<V>,
    /// Its poses, if its kind has them: then component 0 comes from them.
    pub poses: Option<ReceivedPoses>,
    /// What to draw of it, if it is simulated.
    drawn_frames: Option<DrawnFrames>,
    earlier_frames: EarlierFrames,
    /// Smooths the last wrong extrapolation, or the last late path, if it is not simulated.
    smoother: Option<ErrorSmoother>,
    convergence: Convergence,
    is_projectile: bool,
    /// By index; `None` for components that were not received.
    components: Vec<Option<KnownComponent>>,
}

#[derive(Debug)]
struct KnownComponent {
    history: ComponentHistory,
    /// Of the newest datagram that contained it.
    stamp: GameTime,
}

/// The datagram of a record, and when the record takes effect.
#[derive(Clone, Copy, Debug)]
pub struct RecordContext {
    /// The datagram that contained the record.
    pub datagram: ReceivedDatagram,
    /// Room time from which on the record holds.
    pub at: GameTime,
}

/// What a pose changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoseOutcome {
    /// Whether it is the newest one.
    pub newest: bool,
    /// Whether its time had passed, and something else was being shown.
    pub late: bool,
}

impl<V> ReplicaObject<V> {
    /// An object of which only the header is known.
    pub fn new(
        id: ClientObjectId,
        alias: Alias,
        kind: u8,
        own: bool,
        context: RecordContext,
        declared: &ObjectKind,
        tick: Duration,
    ) -> Self {
        let components = std::iter::repeat_with(|| None).take(declared.components.len()).collect();
        let poses = declared
            .pose_format()
            .map(|format| ReceivedPoses::new(*format, tick, context.datagram.number));
        ReplicaObject {
            id,
            alias,
            kind,
            own,
            enters: context.at,
            leaves: None,
            view: None,
            poses,
            drawn_frames: None,
            earlier_frames: EarlierFrames::default(),
            smoother: None,
            convergence: declared.reckoning.unwrap_or_default().convergence,
            is_projectile: declared.is_projectile,
            components,
        }
    }

    /// Sets what to draw of it, if it is simulated.
    pub fn draw(&mut self, frames: Option<DrawnFrames>) {
        self.earlier_frames = frames.map_or_else(EarlierFrames::default, |frames| {
            let mut earlier = std::mem::take(&mut self.earlier_frames);
            earlier.note(&frames);
            earlier
        });
        self.drawn_frames = frames;
    }

    /// Sets how its poses are extrapolated, if its kind says so.
    pub fn reckon(&mut self, rule: Option<Extrapolation>) {
        if let Some(poses) = &mut self.poses {
            poses.reckon(rule);
        }
    }

    /// The object jumps at the tick of this stamp. Returns whether that is news.
    pub fn note_jump(&mut self, stamp: GameTime) -> bool {
        self.poses.as_mut().is_some_and(|poses| poses.note_jump(stamp))
    }

    /// Applies a record. Returns the greatest novelty of its components.
    pub fn merge(
        &mut self,
        context: RecordContext,
        components: &[(u8, Component)],
        times: RenderTimes,
    ) -> Novelty {
        let each = components.iter().map(|(index, component)| match component {
            Component::Pose(pose) => self.merge_pose(context.datagram, *pose, times),
            Component::Path(update) if *index == 0 => {
                self.merge_path(context, component, update, times)
            }
            _ => self.merge_component(context, usize::from(*index), component),
        });
        each.max().unwrap_or(Novelty::Unchanged)
    }

    /// Adds a pose, the newest or an earlier one.
    pub fn add_pose(
        &mut self,
        datagram: ReceivedDatagram,
        pose: Pose,
        times: RenderTimes,
    ) -> PoseOutcome {
        let ReceivedDatagram { number, stamp, now } = datagram;
        let shown =
            if stamp <= times.stamp_at(now) { self.received_position(now, times) } else { None };
        let extrapolated = self.extrapolated_picture(now, times);
        let Some(poses) = &mut self.poses else {
            return PoseOutcome::default();
        };
        let newest = poses.newest_stamp().is_none_or(|newest| stamp >= newest);
        // What is seen of a jump is no error of an extrapolation.
        let known_until = poses.newest_stamp().unwrap_or_default();
        let jumps = poses.jumps_between(known_until, stamp.min(times.stamp_at(now)));
        poses.insert(ReceivedPose { number, stamp, pose });
        let late = shown.is_some_and(|shown| {
            let updated_times =
                RenderTimes { newest_stamp: times.newest_stamp.max(stamp), ..times };
            self.received_position(now, updated_times)
                .is_some_and(|position| position.distance(shown) > TOLERANCE_M)
        });
        if jumps {
            self.smoother = None;
        } else if let Some(extrapolated) = extrapolated {
            let updated_times =
                RenderTimes { newest_stamp: times.newest_stamp.max(stamp), ..times };
            self.smoother = self.received_pose(now, updated_times).and_then(|(poses, pose)| {
                let (velocity, _) = velocities_of(poses.format(), &pose);
                let known = (drawn_pose(poses, &pose), velocity);
                ErrorSmoother::start(now, extrapolated, known, self.convergence)
            });
        }
        PoseOutcome { newest, late }
    }

    /// Where to draw the object at `t`; `None` if that is not known.
    pub fn position(&self, t: GameTime, times: RenderTimes) -> Option<Position> {
        if let Some(drawn) = self.simulated(t, times) {
            return Some(drawn.position);
        }
        match &self.poses {
            Some(_) => self.received_position(t, times),
            None => Some(self.path()?.value_at(t)?.position),
        }
    }

    /// Where to draw the object at `t`: as [`Self::drawn`], or on its path.
    pub fn drawn_position(&self, t: GameTime, times: RenderTimes) -> Option<Position> {
        if self.poses.is_some() || self.drawn_frames.is_some() {
            return self.drawn(t, times).map(|drawn| drawn.position);
        }
        let on_path = self.position(t, times)?;
        let smoother = self.smoother_at(t, times);
        Some(smoother.map_or(on_path, |smoother| path_blending::apply(smoother, t, on_path)))
    }

    /// What is drawn at `t`, if it has poses.
    pub fn drawn(&self, t: GameTime, times: RenderTimes) -> Option<DrawnObject> {
        self.simulated(t, times).or_else(|| {
            let (poses, pose) = self.received_pose(t, times)?;
            let (linear, angular) = velocities_of(poses.format(), &pose);
            let known = drawn_pose(poses, &pose);
            let DrawnPose { position, quaternion } =
                self.smoother_at(t, times).map_or(known, |smoother| smoother.apply_to(t, known));
            let at_rest = !self.moves(t, times) && position == known.position;
            Some(DrawnObject {
                room_time: times.lag.shown_time(t),
                position,
                quaternion,
                linear,
                angular,
                at_rest,
            })
        })
    }

    /// The received pose at `t`, whenever that is shown, on the grid of its kind; `None` without
    /// poses.
    pub fn pose(&self, t: GameTime, times: RenderTimes) -> Option<Pose> {
        self.poses.as_ref()?.at(t.saturating_sub(times.delay), times.newest_stamp)
    }

    /// The orientation at `t`, if it has poses.
    pub fn facing(&self, t: GameTime, times: RenderTimes) -> Option<Facing> {
        match self.simulated(t, times) {
            Some(drawn) => Some(self.poses.as_ref()?.facing_of(drawn.quaternion)),
            None => self.received_pose(t, times).map(|(poses, pose)| poses.facing(&pose)),
        }
    }

    /// Whether a flag is set at `t`, as far as known.
    pub fn is_set(&self, index: usize, t: GameTime) -> bool {
        self.component_history(index).is_some_and(|history| history.is_set(t))
    }

    /// The pose at `t` from the client's own physics, if it simulates the object.
    fn simulated(&self, t: GameTime, times: RenderTimes) -> Option<DrawnObject> {
        let frames = self.drawn_frames?;
        let shown = times.lag.shown_time(t);
        frames.at(shown).or_else(|| self.earlier_frames.at(&frames, shown))
    }

    /// The drawn pose and its velocity, if it is extrapolated and so may be wrong: smoothing starts
    /// from it.
    fn extrapolated_picture(
        &self,
        t: GameTime,
        times: RenderTimes,
    ) -> Option<(DrawnPose, [f32; 3])> {
        let newest = self.poses.as_ref()?.newest_stamp()?;
        if self.view.is_none() || self.drawn_frames.is_some() || newest >= times.stamp_at(t) {
            return None;
        }
        let DrawnObject { position, quaternion, linear, .. } = self.drawn(t, times)?;
        let drift = self.smoother_at(t, times).map_or([0.0; 3], |smoother| smoother.drift(t));
        let velocity = std::array::from_fn(|axis| linear[axis] + drift[axis]);
        Some((DrawnPose { position, quaternion }, velocity))
    }

    /// The smoother at `t`: an error from before a jump is none after it.
    fn smoother_at(&self, t: GameTime, times: RenderTimes) -> Option<&ErrorSmoother> {
        let smoother = self.smoother.as_ref()?;
        if let Some(path) = self.path() {
            let jumps = path_blending::jumps_within(path, smoother.since(), t);
            return (!jumps).then_some(smoother);
        }
        let since = times.stamp_at(smoother.since());
        let until = times.stamp_at(t);
        let before = since.saturating_sub(MICROSECOND);
        let jumps = self.poses.as_ref().is_some_and(|poses| poses.jumps_between(before, until));
        (!jumps).then_some(smoother)
    }

    fn received_position(&self, t: GameTime, times: RenderTimes) -> Option<Position> {
        let (poses, pose) = self.received_pose(t, times)?;
        Some(poses.format().position(&pose))
    }

    /// The received pose at `t`, as a component.
    pub fn received_value(&self, t: GameTime, times: RenderTimes) -> Option<ComponentValue> {
        let (poses, pose) = self.received_pose(t, times)?;
        let position = poses.format().position(&pose);
        let facing = poses.facing(&pose);
        Some(ComponentValue::Pose { position, facing, moves: self.moves_as_received(t, times) })
    }

    /// The received pose at `t`: interpolated, or extrapolated for a short time.
    fn received_pose(&self, t: GameTime, times: RenderTimes) -> Option<(&ReceivedPoses, Pose)> {
        let poses = self.poses.as_ref()?;
        Some((poses, poses.at(times.stamp_at(t), times.newest_stamp)?))
    }

    /// Whether it moves at `t`.
    pub fn moves(&self, t: GameTime, times: RenderTimes) -> bool {
        self.simulated(t, times)
            .map_or_else(|| self.moves_as_received(t, times), |drawn| !drawn.at_rest)
    }

    fn moves_as_received(&self, t: GameTime, times: RenderTimes) -> bool {
        match &self.poses {
            Some(poses) => poses.moves(times.stamp_at(t), times.newest_stamp),
            None => self.path().is_some_and(|path| path.next_after(t).is_some()),
        }
    }

    /// Its path, if its kind has one.
    pub fn path(&self) -> Option<&Timeline<Waypoint>> {
        self.component_history(0)?.path()
    }

    /// The velocity on its path at `t`, in metres a second.
    pub fn path_velocity(&self, t: GameTime) -> Option<[f32; 3]> {
        velocity_on(self.path()?, t)
    }

    /// The value of a component at `t`; `None` if that is not known.
    pub fn value(
        &self,
        index: usize,
        t: GameTime,
        times: RenderTimes,
    ) -> Option<BorrowedValue<'_>> {
        if index == 0
            && let Some((position, facing)) =
                self.facing(t, times).and_then(|facing| Some((self.position(t, times)?, facing)))
        {
            return Some(ComponentValue::Pose { position, facing, moves: self.moves(t, times) });
        }
        self.component_history(index)?.value(t)
    }

    /// All components at `t`.
    pub fn values(
        &self,
        t: GameTime,
        times: RenderTimes,
        names: &Names,
    ) -> Vec<NamedValue<ComponentValue>> {
        self.named_values(0..self.components.len(), t, times, names)
    }

    /// Some components at `t`.
    pub fn named_values(
        &self,
        indices: impl Iterator<Item = usize>,
        t: GameTime,
        times: RenderTimes,
        names: &Names,
    ) -> Vec<NamedValue<ComponentValue>> {
        let named = |index: usize| {
            let value = self.value(index, t, times)?.to_owned(&names.meanings[index]);
            Some(NamedValue { name: names.parts[index].clone(), value })
        };
        indices.filter_map(named).collect()
    }

    fn component_history(&self, index: usize) -> Option<&ComponentHistory> {
        self.components.get(index)?.as_ref().map(|known| &known.history)
    }

    /// An `Enter` that is repeated says where the object is, and not how it came there: it has
    /// jumped since the poses before if those lead to somewhere else.
    fn note_other_place(&mut self, stamp: GameTime, pose: &Pose) {
        let Some(poses) = &mut self.poses else { return };
        let is_later = poses.newest_stamp().is_some_and(|before| before < stamp);
        let place = |pose: &Pose| poses.format().position(pose);
        let known = poses.at(stamp, stamp).filter(|_| is_later);
        if known.is_some_and(|known| place(&known).distance(place(pose)) > SNAP_M) {
            poses.note_jump(stamp);
        }
    }

    /// A record may contain a known pose: an `Enter` can be repeated.
    fn merge_pose(
        &mut self,
        datagram: ReceivedDatagram,
        pose: Pose,
        times: RenderTimes,
    ) -> Novelty {
        let known = self.poses.as_ref().and_then(ReceivedPoses::newest_pose) == Some(pose);
        self.note_other_place(datagram.stamp, &pose);
        match self.add_pose(datagram, pose, times) {
            PoseOutcome { late: true, .. } => Novelty::Late,
            PoseOutcome { newest: true, .. } if !known => Novelty::Ahead,
            PoseOutcome { .. } => Novelty::Unchanged,
        }
    }

    /// Merges a path. If it is another one than was drawn, what is drawn goes over to it.
    fn merge_path(
        &mut self,
        context: RecordContext,
        component: &Component,
        update: &Timeline<Waypoint>,
        times: RenderTimes,
    ) -> Novelty {
        let t = times.drawn_until.max(context.datagram.now);
        // What is not in sight was not drawn, and a projectile is drawn at another time.
        let is_drawn = self.view.is_some() && !self.is_projectile;
        let before = self.position(t, times).filter(|_| is_drawn);
        let drawn = before.and_then(|_| self.drawn_position(t, times));
        let jumps = self.path().is_some_and(|path| path_blending::jumps_elsewhere(path, update, t));
        let novelty = self.merge_component(context, 0, component);
        let after = self.position(t, times);
        if let Some(((before, drawn), after)) = before.zip(drawn).zip(after)
            && path_blending::is_visible(before, after)
        {
            let start = || path_blending::start(t, drawn, after);
            self.smoother = if jumps { None } else { start() };
        }
        novelty
    }

    fn merge_component(
        &mut self,
        context: RecordContext,
        index: usize,
        component: &Component,
    ) -> Novelty {
        let RecordContext { datagram: ReceivedDatagram { stamp, now, .. }, at } = context;
        match &mut self.components[index] {
            Some(known) if stamp < known.stamp => Novelty::Unchanged,
            Some(known) => {
                known.stamp = stamp;
                known.history.merge(at, component, now)
            }
            // A host says so only of what the client has.
            None if component.begins_as_known() => Novelty::Unchanged,
            unknown => {
                *unknown =
                    Some(KnownComponent { history: ComponentHistory::new(at, component), stamp });
                Novelty::Ahead
            }
        }
    }
}

fn drawn_pose(poses: &ReceivedPoses, pose: &Pose) -> DrawnPose {
    DrawnPose {
        position: poses.format().position(pose),
        quaternion: poses.format().quaternion(pose),
    }
}
