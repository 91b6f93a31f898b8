//! One object as a client knows it.
//!
//! Components go in with the stamp of the datagram that brought them; values at any room time come
//! out. Invariant: of each component the newest datagram's word stands, in whatever order datagrams
//! arrive. Their stamps tell which is newer. A pose is not one of these values: it has a [`Track`]
//! of its own.

use ambit_proto::ids::Alias;
use ambit_proto::pose::{Entry, Pose};
use ambit_proto::schema::{Component, ObjectKind};
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;

use super::component_history::{ComponentHistory, Novelty, TOLERANCE_M};
use super::drawing::{DrawnFrames, DrawnObject, DrawnPose};
use super::error_smoothing::ErrorSmoother;
use super::received_poses::ReceivedPoses;
use super::schema_names::PartNames as Names;
use super::{ReceivedDatagram, RenderTimes};
use crate::client::event::{ComponentValue, Facing, NamedValue};

/// An object: announced, in sight, or about to leave.
#[derive(Debug)]
pub struct ReplicaObject<V> {
    /// The client's name for it.
    pub id: u32,
    /// The server's name for it.
    pub alias: Alias,
    /// Index of its kind.
    pub kind: u8,
    /// Whether it is the player's avatar.
    pub own: bool,
    /// When it comes into sight.
    pub enters: GameTime,
    /// When it goes out of sight, once that is known.
    pub leaves: Option<GameTime>,
    /// What the view keeps; there is one as long as the object is in sight.
    pub view: Option<V>,
    /// Its poses, if its kind has them: then component 0 is what they say.
    pub poses: Option<ReceivedPoses>,
    /// What is drawn of it, if it is simulated.
    pub drawn_frames: Option<DrawnFrames>,
    /// What is left of the last wrong guess, if it is not simulated.
    smoother: Option<ErrorSmoother>,
    /// By index; `Unchanged` for what the client was not told.
    components: Vec<Option<KnownComponent>>,
}

#[derive(Debug)]
struct KnownComponent {
    history: ComponentHistory,
    /// Of the datagram that was last heard of it.
    stamp: GameTime,
}

/// A record's datagram, and from when on the record holds.
#[derive(Clone, Copy, Debug)]
pub struct RecordContext {
    /// The datagram's.
    pub datagram: ReceivedDatagram,
    /// The record's.
    pub at: GameTime,
}

/// What a pose was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoseOutcome {
    /// Whether no newer one is known.
    pub newest: bool,
    /// Whether its time had come, and something else was being shown.
    pub late: bool,
}

impl<V> ReplicaObject<V> {
    /// An object of which only the head is known.
    pub fn new(
        id: u32,
        alias: Alias,
        kind: u8,
        own: bool,
        moment: RecordContext,
        declared: &ObjectKind,
    ) -> Self {
        let components = std::iter::repeat_with(|| None)
            .take(declared.components.len())
            .collect();
        let track = declared
            .pose_format()
            .map(|format| ReceivedPoses::new(*format, moment.datagram.number));
        let (view, drawing, glide) = Default::default();
        ReplicaObject {
            id,
            alias,
            kind,
            own,
            enters: moment.at,
            leaves: None,
            view,
            poses: track,
            drawn_frames: drawing,
            smoother: glide,
            components,
        }
    }

    /// Takes over what a record says. Returns the greatest news.
    pub fn merge(
        &mut self,
        moment: RecordContext,
        components: &[(u8, Component)],
        times: RenderTimes,
    ) -> Novelty {
        let each = components.iter().map(|(index, component)| match component {
            Component::Pose(pose) => self.merge_pose(moment.datagram, *pose, times),
            _ => self.merge_component(moment, usize::from(*index), component),
        });
        each.max().unwrap_or(Novelty::Unchanged)
    }

    /// Takes over a pose.
    pub fn add_pose(
        &mut self,
        arrival: ReceivedDatagram,
        pose: Pose,
        times: RenderTimes,
    ) -> PoseOutcome {
        let ReceivedDatagram { number, stamp, now } = arrival;
        let shown = if stamp <= times.stamp_at(now) {
            self.received_position(now, times)
        } else {
            None
        };
        let guessed = self.extrapolated_picture(now, times);
        let Some(track) = &mut self.poses else {
            return PoseOutcome::default();
        };
        let newest = track.newest_stamp().is_none_or(|newest| stamp >= newest);
        track.insert(Entry {
            number,
            stamp,
            pose,
        });
        let late = shown.is_some_and(|shown| {
            let heard = RenderTimes {
                newest_stamp: times.newest_stamp.max(stamp),
                ..times
            };
            self.received_position(now, heard)
                .is_some_and(|position| position.distance(shown) > TOLERANCE_M)
        });
        if let Some(guessed) = guessed {
            let heard = RenderTimes {
                newest_stamp: times.newest_stamp.max(stamp),
                ..times
            };
            self.smoother = self.received_pose(now, heard).and_then(|(track, pose)| {
                ErrorSmoother::start(now, guessed, drawn_pose(track, &pose))
            });
        }
        PoseOutcome { newest, late }
    }

    /// Where it is at `t`.
    pub fn position(&self, t: GameTime, times: RenderTimes) -> Option<Position> {
        if let Some(drawn) = self.simulated(t, times) {
            return Some(drawn.position);
        }
        match &self.poses {
            Some(_) => self.received_position(t, times),
            None => Some(self.component_history(0)?.path()?.value_at(t)?.position),
        }
    }

    /// What is drawn at `t`, if it has poses.
    pub fn drawn(&self, t: GameTime, times: RenderTimes) -> Option<DrawnObject> {
        self.simulated(t, times).or_else(|| {
            let (track, pose) = self.received_pose(t, times)?;
            let (linear, angular) = track.format().velocities(&pose);
            let known = drawn_pose(track, &pose);
            let DrawnPose {
                position,
                quaternion,
            } = self
                .smoother
                .map_or(known, |glide| glide.apply_to(t, known));
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

    /// What the poses that came say of `t`, whenever that is shown, on the grid of its kind, if it
    /// has poses.
    pub fn pose(&self, t: GameTime, times: RenderTimes) -> Option<Pose> {
        self.poses
            .as_ref()?
            .at(t.saturating_sub(times.delay), times.newest_stamp)
    }

    /// How it is turned at `t`, if it has poses.
    pub fn facing(&self, t: GameTime, times: RenderTimes) -> Option<Facing> {
        match self.simulated(t, times) {
            Some(drawn) => Some(Facing::Free(drawn.quaternion)),
            None => self
                .received_pose(t, times)
                .map(|(track, pose)| track.facing(&pose)),
        }
    }

    /// Whether a flag is set at `t`, as far as is known.
    pub fn is_set(&self, index: usize, t: GameTime) -> bool {
        self.component_history(index)
            .is_some_and(|kept| kept.is_set(t))
    }

    /// What the client's own physics says of `t`, if it has a say.
    fn simulated(&self, t: GameTime, times: RenderTimes) -> Option<DrawnObject> {
        self.drawn_frames?.at(times.lag.shown_time(t))
    }

    /// What is drawn, where no newer word is known and so it may be wrong: that is glided from.
    fn extrapolated_picture(&self, t: GameTime, times: RenderTimes) -> Option<DrawnPose> {
        let newest = self.poses.as_ref()?.newest_stamp()?;
        if self.view.is_none() || self.drawn_frames.is_some() || newest >= times.stamp_at(t) {
            return None;
        }
        let DrawnObject {
            position,
            quaternion,
            ..
        } = self.drawn(t, times)?;
        Some(DrawnPose {
            position,
            quaternion,
        })
    }

    fn received_position(&self, t: GameTime, times: RenderTimes) -> Option<Position> {
        let (track, pose) = self.received_pose(t, times)?;
        Some(track.format().position(&pose))
    }

    /// What the poses that came say of `t`, as a component.
    pub fn received_value(&self, t: GameTime, times: RenderTimes) -> Option<ComponentValue> {
        let (track, pose) = self.received_pose(t, times)?;
        let (position, facing) = (track.format().position(&pose), track.facing(&pose));
        Some(ComponentValue::Pose {
            position,
            facing,
            moves: self.moves_as_received(t, times),
        })
    }

    /// What the poses that came say of `t`: what lies between them, and a little beyond.
    fn received_pose(&self, t: GameTime, times: RenderTimes) -> Option<(&ReceivedPoses, Pose)> {
        let track = self.poses.as_ref()?;
        Some((track, track.at(times.stamp_at(t), times.newest_stamp)?))
    }

    /// Whether it is on its way somewhere at `t`.
    pub fn moves(&self, t: GameTime, times: RenderTimes) -> bool {
        self.simulated(t, times)
            .map_or_else(|| self.moves_as_received(t, times), |drawn| !drawn.at_rest)
    }

    fn moves_as_received(&self, t: GameTime, times: RenderTimes) -> bool {
        match &self.poses {
            Some(track) => track.moves(times.stamp_at(t), times.newest_stamp),
            None => self
                .component_history(0)
                .and_then(ComponentHistory::path)
                .is_some_and(|path| path.next_after(t).is_some()),
        }
    }

    /// The value of a component at `t`.
    pub fn value(&self, index: usize, t: GameTime, times: RenderTimes) -> Option<ComponentValue> {
        if index == 0
            && let Some((position, facing)) = self
                .facing(t, times)
                .and_then(|facing| Some((self.position(t, times)?, facing)))
        {
            return Some(ComponentValue::Pose {
                position,
                facing,
                moves: self.moves(t, times),
            });
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
            let value = self.value(index, t, times)?;
            Some(NamedValue {
                name: names.parts[index].clone(),
                value,
            })
        };
        indices.filter_map(named).collect()
    }

    fn component_history(&self, index: usize) -> Option<&ComponentHistory> {
        self.components
            .get(index)?
            .as_ref()
            .map(|known| &known.history)
    }

    /// A pose in a record may be one that is known already: an `ObjectEntered` can come again.
    fn merge_pose(&mut self, arrival: ReceivedDatagram, pose: Pose, times: RenderTimes) -> Novelty {
        let known = self.poses.as_ref().and_then(ReceivedPoses::newest_pose) == Some(pose);
        match self.add_pose(arrival, pose, times) {
            PoseOutcome { late: true, .. } => Novelty::LazyTimer,
            PoseOutcome { newest: true, .. } if !known => Novelty::PredictionTarget,
            PoseOutcome { .. } => Novelty::Unchanged,
        }
    }

    fn merge_component(
        &mut self,
        moment: RecordContext,
        index: usize,
        component: &Component,
    ) -> Novelty {
        let RecordContext {
            datagram: ReceivedDatagram { stamp, now, .. },
            at,
        } = moment;
        match &mut self.components[index] {
            Some(known) if stamp < known.stamp => Novelty::Unchanged,
            Some(known) => {
                known.stamp = stamp;
                known.history.merge(at, component, now)
            }
            unknown => {
                *unknown = Some(KnownComponent {
                    history: ComponentHistory::new(at, component),
                    stamp,
                });
                Novelty::PredictionTarget
            }
        }
    }
}

fn drawn_pose(track: &ReceivedPoses, pose: &Pose) -> DrawnPose {
    DrawnPose {
        position: track.format().position(pose),
        quaternion: track.format().quaternion(pose),
    }
}
