//! One object as a client knows it.
//!
//! Components go in with the stamp of the datagram that brought them; values at any room time come
//! out. Invariant: of each component the newest datagram's word stands, in whatever order datagrams
//! arrive. Their stamps tell which is newer. A pose is not one of these values: it has a [`Track`]
//! of its own.

use ambit_proto::ids::Alias;
use ambit_proto::pose::{Pose, ReceivedPose};
use ambit_proto::schema::{Component, Kind};
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;

use super::drawing::{Drawing, Drawn, Picture};
use super::glide::Glide;
use super::kept::{Kept, NEAR_M, News};
use super::names::Named as Names;
use super::track::Track;
use super::{Arrival, Times};
use crate::client::event::{Facing, Named, Value};

/// An object: announced, in sight, or about to leave.
#[derive(Debug)]
pub struct Object<V> {
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
    pub track: Option<Track>,
    /// What is drawn of it, if it is simulated.
    pub drawing: Option<Drawing>,
    /// What is left of the last wrong guess, if it is not simulated.
    glide: Option<Glide>,
    /// By index; `None` for what the client was not told.
    components: Vec<Option<Known>>,
}

#[derive(Debug)]
struct Known {
    kept: Kept,
    /// Of the datagram that was last heard of it.
    stamp: GameTime,
}

/// A record's datagram, and from when on the record holds.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// The datagram's.
    pub arrival: Arrival,
    /// The record's.
    pub at: GameTime,
}

/// What a pose was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Noted {
    /// Whether no newer one is known.
    pub newest: bool,
    /// Whether its time had come, and something else was being shown.
    pub late: bool,
}

impl<V> Object<V> {
    /// An object of which only the head is known.
    pub fn new(
        id: u32,
        alias: Alias,
        kind: u8,
        own: bool,
        moment: Moment,
        declared: &Kind,
    ) -> Self {
        let components = std::iter::repeat_with(|| None)
            .take(declared.components.len())
            .collect();
        let track = declared
            .pose_format()
            .map(|format| Track::new(*format, moment.arrival.number));
        let (view, drawing, glide) = Default::default();
        Object {
            id,
            alias,
            kind,
            own,
            enters: moment.at,
            leaves: None,
            view,
            track,
            drawing,
            glide,
            components,
        }
    }

    /// Takes over what a record says. Returns the greatest news.
    pub fn merge(&mut self, moment: Moment, components: &[(u8, Component)], times: Times) -> News {
        let each = components.iter().map(|(index, component)| match component {
            Component::Pose(pose) => self.merge_pose(moment.arrival, *pose, times),
            _ => self.merge_one(moment, usize::from(*index), component),
        });
        each.max().unwrap_or(News::None)
    }

    /// Takes over a pose.
    pub fn note(&mut self, arrival: Arrival, pose: Pose, times: Times) -> Noted {
        let Arrival { number, stamp, now } = arrival;
        let shown = if stamp <= times.stamp_at(now) {
            self.told_position(now, times)
        } else {
            None
        };
        let guessed = self.guessed(now, times);
        let Some(track) = &mut self.track else {
            return Noted::default();
        };
        let newest = track.newest().is_none_or(|newest| stamp >= newest);
        track.note(ReceivedPose {
            number,
            stamp,
            pose,
        });
        let late = shown.is_some_and(|shown| {
            let heard = Times {
                heard: times.heard.max(stamp),
                ..times
            };
            self.told_position(now, heard)
                .is_some_and(|position| position.distance(shown) > NEAR_M)
        });
        if let Some(guessed) = guessed {
            let heard = Times {
                heard: times.heard.max(stamp),
                ..times
            };
            self.glide = self
                .told(now, heard)
                .and_then(|(track, pose)| Glide::from(now, guessed, picture(track, &pose)));
        }
        Noted { newest, late }
    }

    /// Where it is at `t`.
    pub fn position(&self, t: GameTime, times: Times) -> Option<Position> {
        if let Some(drawn) = self.simulated(t, times) {
            return Some(drawn.position);
        }
        match &self.track {
            Some(_) => self.told_position(t, times),
            None => Some(self.kept(0)?.path()?.at(t)?.position),
        }
    }

    /// What is drawn at `t`, if it has poses.
    pub fn drawn(&self, t: GameTime, times: Times) -> Option<Drawn> {
        self.simulated(t, times).or_else(|| {
            let (track, pose) = self.told(t, times)?;
            let (linear, angular) = track.format().velocities(&pose);
            let known = picture(track, &pose);
            let Picture {
                position,
                quaternion,
            } = self.glide.map_or(known, |glide| glide.over(t, known));
            let at_rest = !self.moves(t, times) && position == known.position;
            Some(Drawn {
                shows: times.lag.shown(t),
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
    pub fn pose(&self, t: GameTime, times: Times) -> Option<Pose> {
        self.track
            .as_ref()?
            .at(t.saturating_sub(times.delay), times.heard)
    }

    /// How it is turned at `t`, if it has poses.
    pub fn facing(&self, t: GameTime, times: Times) -> Option<Facing> {
        match self.simulated(t, times) {
            Some(drawn) => Some(Facing::Free(drawn.quaternion)),
            None => self.told(t, times).map(|(track, pose)| track.facing(&pose)),
        }
    }

    /// Whether a flag is set at `t`, as far as is known.
    pub fn is_set(&self, index: usize, t: GameTime) -> bool {
        self.kept(index).is_some_and(|kept| kept.is_set(t))
    }

    /// What the client's own physics says of `t`, if it has a say.
    fn simulated(&self, t: GameTime, times: Times) -> Option<Drawn> {
        self.drawing?.at(times.lag.shown(t))
    }

    /// What is drawn, where no newer word is known and so it may be wrong: that is glided from.
    fn guessed(&self, t: GameTime, times: Times) -> Option<Picture> {
        let newest = self.track.as_ref()?.newest()?;
        if self.view.is_none() || self.drawing.is_some() || newest >= times.stamp_at(t) {
            return None;
        }
        let Drawn {
            position,
            quaternion,
            ..
        } = self.drawn(t, times)?;
        Some(Picture {
            position,
            quaternion,
        })
    }

    fn told_position(&self, t: GameTime, times: Times) -> Option<Position> {
        let (track, pose) = self.told(t, times)?;
        Some(track.format().position(&pose))
    }

    /// What the poses that came say of `t`, as a component.
    pub fn told_value(&self, t: GameTime, times: Times) -> Option<Value> {
        let (track, pose) = self.told(t, times)?;
        let (position, facing) = (track.format().position(&pose), track.facing(&pose));
        Some(Value::Pose {
            position,
            facing,
            moves: self.moves_as_told(t, times),
        })
    }

    /// What the poses that came say of `t`: what lies between them, and a little beyond.
    fn told(&self, t: GameTime, times: Times) -> Option<(&Track, Pose)> {
        let track = self.track.as_ref()?;
        Some((track, track.at(times.stamp_at(t), times.heard)?))
    }

    /// Whether it is on its way somewhere at `t`.
    pub fn moves(&self, t: GameTime, times: Times) -> bool {
        self.simulated(t, times)
            .map_or_else(|| self.moves_as_told(t, times), |drawn| !drawn.at_rest)
    }

    fn moves_as_told(&self, t: GameTime, times: Times) -> bool {
        match &self.track {
            Some(track) => track.moves(times.stamp_at(t), times.heard),
            None => self
                .kept(0)
                .and_then(Kept::path)
                .is_some_and(|path| path.next_after(t).is_some()),
        }
    }

    /// The value of a component at `t`.
    pub fn value(&self, index: usize, t: GameTime, times: Times) -> Option<Value> {
        if index == 0
            && let Some((position, facing)) = self
                .facing(t, times)
                .and_then(|facing| Some((self.position(t, times)?, facing)))
        {
            return Some(Value::Pose {
                position,
                facing,
                moves: self.moves(t, times),
            });
        }
        self.kept(index)?.value(t)
    }

    /// All components at `t`.
    pub fn values(&self, t: GameTime, times: Times, names: &Names) -> Vec<Named<Value>> {
        self.named(0..self.components.len(), t, times, names)
    }

    /// Some components at `t`.
    pub fn named(
        &self,
        indices: impl Iterator<Item = usize>,
        t: GameTime,
        times: Times,
        names: &Names,
    ) -> Vec<Named<Value>> {
        let named = |index: usize| {
            let value = self.value(index, t, times)?;
            Some(Named {
                name: names.parts[index].clone(),
                value,
            })
        };
        indices.filter_map(named).collect()
    }

    fn kept(&self, index: usize) -> Option<&Kept> {
        self.components
            .get(index)?
            .as_ref()
            .map(|known| &known.kept)
    }

    /// A pose in a record may be one that is known already: an `Enter` can come again.
    fn merge_pose(&mut self, arrival: Arrival, pose: Pose, times: Times) -> News {
        let known = self.track.as_ref().and_then(Track::newest_pose) == Some(pose);
        match self.note(arrival, pose, times) {
            Noted { late: true, .. } => News::Late,
            Noted { newest: true, .. } if !known => News::Ahead,
            Noted { .. } => News::None,
        }
    }

    fn merge_one(&mut self, moment: Moment, index: usize, component: &Component) -> News {
        let Moment {
            arrival: Arrival { stamp, now, .. },
            at,
        } = moment;
        match &mut self.components[index] {
            Some(known) if stamp < known.stamp => News::None,
            Some(known) => {
                known.stamp = stamp;
                known.kept.merge(at, component, now)
            }
            unknown => {
                *unknown = Some(Known {
                    kept: Kept::new(at, component),
                    stamp,
                });
                News::Ahead
            }
        }
    }
}

fn picture(track: &Track, pose: &Pose) -> Picture {
    Picture {
        position: track.format().position(pose),
        quaternion: track.format().quaternion(pose),
    }
}
