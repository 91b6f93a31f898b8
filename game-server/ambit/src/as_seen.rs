//! The world as a player saw it: lag compensation.

use std::marker::PhantomData;

use ambit_proto::ids::ObjectId;
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use ambit_room::logic::contact::ObjectMotion;
use ambit_room::logic::world::World as RoomWorld;

use crate::id::Id;
use crate::kind::{KindOf, find_within};

/// Objects at most this far from their place at that time may be found: a second at 50 m/s.
const SLACK_M: f32 = 50.0;

/// The world as a player's screen showed it at a time
/// ([`World::as_seen_by`](crate::World::as_seen_by)).
///
/// Where other objects were then is the room's own past: what a client interpolates between. The
/// player's own avatar, which clients draw ahead, is where it is now, and obstacles are as they are
/// now. Objects that have gone since then are not found.
#[derive(Debug)]
pub struct AsSeen<'w, G> {
    room: &'w RoomWorld,
    game: PhantomData<fn() -> G>,
    own: Option<ObjectId>,
    at: GameTime,
}

impl<'w, G> AsSeen<'w, G> {
    pub(crate) fn new(room: &'w RoomWorld, own: Option<ObjectId>, at: GameTime) -> Self {
        Self { room, game: PhantomData, own, at }
    }

    /// Where an object is now.
    fn here(&self, object: ObjectId) -> Option<Position> {
        let has_place = self.room.contains(object) && !self.room.is_room_wide(object);
        has_place.then(|| self.room.position(object))
    }

    /// The time that the screen showed.
    pub fn time(&self) -> GameTime {
        self.at
    }

    /// Where an object was; `None` if it is gone or room-wide.
    pub fn position<K: KindOf<G>>(&self, id: Id<K>) -> Option<Position> {
        let here = self.here(id.object())?;
        let is_own = self.own == Some(id.object());
        Some(if is_own { here } else { self.room.past_position(id.object(), self.at) })
    }

    /// How an object moved until then, as long as the last tick took, with the times of the last
    /// tick: for [`first_contact`](crate::contact::first_contact) with what moves now. `None` if it
    /// is gone or room-wide.
    pub fn motion<K: KindOf<G>>(&self, id: Id<K>) -> Option<ObjectMotion<'w>> {
        self.here(id.object())?;
        Some(if self.own == Some(id.object()) {
            self.room.motion(id.object())
        } else {
            self.room.past_motion(id.object(), self.at)
        })
    }

    /// Replaces `found` by the objects of a kind that were within `radius_m` of `centre`, oldest
    /// first. Cost: the cells around, and 50 m more.
    pub fn find_within<K: KindOf<G>>(
        &self,
        centre: Position,
        radius_m: f32,
        found: &mut Vec<Id<K>>,
    ) {
        find_within(self.room, (centre, radius_m + SLACK_M), found);
        found.retain(|&id| self.position(id).is_some_and(|at| at.distance(centre) <= radius_m));
    }

    /// The first object of a kind that a ball meets on its straight way, and after how many metres;
    /// `None` if it meets none, or an obstacle before. A ray is a ball without a radius.
    ///
    /// Objects count as balls of `object_radius_m` around their positions. `meets` says which ones
    /// count, for example those that the player sees.
    pub fn sweep<K: KindOf<G>>(
        &self,
        (from, to): (Position, Position),
        radius_m: f32,
        object_radius_m: f32,
        mut meets: impl FnMut(Id<K>) -> bool,
    ) -> Option<(Id<K>, f32)> {
        let whole_m = from.distance(to);
        let free_m = if radius_m > 0.0 {
            self.room.statics().sweep(from, to, radius_m)
        } else {
            let way = Position { x: to.x - from.x, y: to.y - from.y, z: to.z - from.z };
            self.room.statics().cast_ray(from, way, whole_m).unwrap_or(whole_m)
        };
        let reach_m = radius_m + object_radius_m;
        let mut near = Vec::new();
        self.find_within(from.lerp(to, 0.5), whole_m / 2.0 + reach_m, &mut near);
        let hits = near.into_iter().filter(|&id| Some(id.object()) != self.own && meets(id));
        let hits = hits.filter_map(|id| {
            let metres = first_touch((from, to), self.position(id)?, reach_m)?;
            (metres <= free_m).then_some((id, metres))
        });
        hits.min_by(|a, b| a.1.total_cmp(&b.1))
    }
}

/// After how many metres of a way a point is as near as `reach_m` to `centre`.
fn first_touch((from, to): (Position, Position), centre: Position, reach_m: f32) -> Option<f32> {
    let way = [to.x - from.x, to.y - from.y, to.z - from.z];
    let offset = [centre.x - from.x, centre.y - from.y, centre.z - from.z];
    let dot = |a: [f32; 3], b: [f32; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let length = dot(way, way).sqrt();
    let distance = dot(offset, offset).sqrt();
    if distance <= reach_m {
        return Some(0.0);
    }
    if length == 0.0 {
        return None;
    }
    let along = dot(way, offset) / length;
    let aside2 = distance * distance - along * along;
    let half_chord2 = reach_m * reach_m - aside2;
    let metres = along - half_chord2.max(0.0).sqrt();
    (half_chord2 >= 0.0 && (0.0..=length).contains(&metres)).then_some(metres)
}
