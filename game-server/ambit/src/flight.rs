//! What flies in a straight line, and whom it meets.

use std::time::Duration;

use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use ambit_room::logic::contact::{ObjectMotion, first_contact};
use serde::{Deserialize, Serialize};

use crate::id::Id;
use crate::kind::KindOf;
use crate::world::World;

/// A straight way at a constant speed, from one place and time to another: a bolt that clients know
/// from an event, for example, and that is no object.
///
/// ```
/// # use ambit::prelude::*;
/// # use ambit::flight::StraightFlight;
/// let (from, to) = (Position::on_ground(10.0, 10.0), Position::on_ground(30.0, 10.0));
/// let bolt = StraightFlight::new(GameTime::ZERO, from, to, 40.0);
/// assert_eq!(bolt.ends_at(), GameTime::from_millis(500));
/// assert_eq!(bolt.position_at(GameTime::from_millis(250)), Position::on_ground(20.0, 10.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StraightFlight {
    from: (GameTime, Position),
    to: (GameTime, Position),
}

impl StraightFlight {
    /// A flight that begins at a time, in metres a second. If the speed does not lead to its end,
    /// it arrives at once.
    pub fn new(starts_at: GameTime, from: Position, to: Position, speed_m_per_s: f32) -> Self {
        let lasts = Duration::try_from_secs_f32(from.distance(to) / speed_m_per_s);
        let ends_at = starts_at + lasts.unwrap_or_default();
        Self { from: (starts_at, from), to: (ends_at, to) }
    }

    /// When it is at its end.
    pub fn ends_at(&self) -> GameTime {
        self.to.0
    }

    /// Where it is at a time: at rest before its beginning and after its end.
    pub fn position_at(&self, time: GameTime) -> Position {
        self.motion().waypoint_at(time).map_or(self.to.1, |waypoint| waypoint.position)
    }

    /// For queries of contact.
    pub fn motion(&self) -> ObjectMotion<'static> {
        ObjectMotion::Straight { from: self.from, to: self.to }
    }

    /// The object of a kind that it meets first within a span of time, as far as it flies then, and
    /// when: of several at once the oldest. Objects go on as they are known to now. The result is
    /// exact, whatever the tick rate.
    ///
    /// It meets an object when the two are `reach_m` apart. No object of the kind is faster than
    /// `fastest_m_per_s`, or it may be missed. `may_meet` says which ones count, such as those that
    /// it has not met yet. Cost: the cells around its way.
    pub fn first_met<G, K: KindOf<G>>(
        &self,
        world: &World<G>,
        (from, to): (GameTime, GameTime),
        (reach_m, fastest_m_per_s): (f32, f32),
        mut may_meet: impl FnMut(Id<K>) -> bool,
    ) -> Option<(GameTime, Id<K>)> {
        let from = from.max(self.from.0);
        let to = to.min(self.to.0);
        if to < from {
            return None;
        }
        let start = self.position_at(from);
        let end = self.position_at(to);
        // Objects are found at their places of now.
        let now = world.now();
        let moved_m = fastest_m_per_s * to.max(now).since(from.min(now)).as_secs_f32();
        let mut near = Vec::new();
        let around_m = start.distance(end) / 2.0 + reach_m + moved_m;
        world.find_within(start.lerp(end, 0.5), around_m, &mut near);
        let met = near.into_iter().filter(|id| may_meet(*id)).filter_map(|id| {
            Some((first_contact(self.motion(), world.motion(id)?, (from, to), reach_m)?, id))
        });
        met.min()
    }
}
