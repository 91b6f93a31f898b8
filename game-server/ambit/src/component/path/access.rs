//! Reading and editing a path in a room.

use std::time::Duration;

use ambit_proto::schema::Component;
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use ambit_proto::timeline::{Timeline, Waypoint};

use super::Path;
use crate::component::access::finite_position;
use crate::object::{ObjectMut, ObjectRef, Spawn};

/// Two walks whose ends and lengths differ by less than this are the same.
const SAME_GOAL_M: f32 = 0.3;
const SAME_WAY_M: f32 = 0.4;

/// Reads a [`Path`].
#[derive(Clone, Copy)]
pub struct PathRef<'w>(ObjectRef<'w>);

impl<'w> PathRef<'w> {
    /// The position now.
    pub fn position(&self) -> Position {
        self.0.world.position(self.0.id)
    }

    /// The position at another time, as far as known.
    pub fn at(&self, time: GameTime) -> Position {
        self.0.world.position_at(self.0.id, time)
    }

    /// The points of the path: planned ones, and those of the last second.
    pub fn points(&self) -> &'w Timeline<Waypoint> {
        self.0.world.path(self.0.id)
    }
}

/// Edits a [`Path`].
pub struct PathMut<'w>(ObjectMut<'w>);

impl PathMut<'_> {
    /// The position now.
    pub fn position(&self) -> Position {
        self.0.world.position(self.0.id)
    }

    /// The position at another time, as far as known.
    pub fn at(&self, time: GameTime) -> Position {
        self.0.world.position_at(self.0.id, time)
    }

    /// Walks in a straight line from here to `target`, through obstacles too: ask
    /// [`World::statics`](crate::World::statics). Returns the time of arrival.
    ///
    /// The target may be off the map; [`World::nearest_on_map`](crate::World::nearest_on_map)
    /// prevents that. If it is not finite, nothing changes (with an error in the log), and the
    /// result is now. A speed that is not above zero, or not finite, stops the object.
    pub fn walk_to(&mut self, target: Position, speed_m_per_s: f32) -> GameTime {
        let target = finite_position(&self.0, target);
        let ObjectMut { world, id } = &mut self.0;
        if !(speed_m_per_s.is_finite() && speed_m_per_s > 0.0) {
            world.stop(*id, world.now());
            return world.now();
        }
        match target {
            Some(target) => world.walk_to(*id, target, speed_m_per_s),
            None => world.now(),
        }
    }

    /// Walks from here to one point after the other, in straight lines. Returns the time of
    /// arrival. As for [`PathMut::walk_to`]; without points it stops.
    pub fn walk_along(
        &mut self,
        points: impl IntoIterator<Item = Position>,
        speed_m_per_s: f32,
    ) -> GameTime {
        let now = self.0.world.now();
        let mut at = now;
        let mut here = self.position();
        let seconds = |metres: f32| Duration::try_from_secs_f32(metres / speed_m_per_s).ok();
        let mut timed = vec![(now, here)];
        for point in points {
            let Some(way) = seconds(here.distance(point)).filter(|_| speed_m_per_s > 0.0) else {
                break;
            };
            (at, here) = (at + way, point);
            timed.push((at, here));
        }
        self.replace_from(now, timed);
        at
    }

    /// As [`PathMut::walk_along`], but nothing changes if it comes to the end of this way anyway,
    /// and as soon, give or take 0.4 m. For the commands of players, who click again and again: a
    /// new way is sent to all who see the object.
    pub fn walk_along_if_new(&mut self, points: &[Position], speed_m_per_s: f32) {
        if !self.ends_as(points, speed_m_per_s) {
            self.walk_along(points.iter().copied(), speed_m_per_s);
        }
    }

    /// Whether it comes to the end of a way anyway, and as soon.
    fn ends_as(&self, way: &[Position], speed_m_per_s: f32) -> bool {
        let ObjectMut { world, id } = &self.0;
        let Some(goal) = way.last() else { return false };
        let Some((arrives_at, end)) = world.path(*id).last() else { return false };
        let starts = std::iter::once(self.position()).chain(way.iter().copied());
        let way_m: f32 = starts.zip(way).map(|(from, to)| from.distance(*to)).sum();
        let left_m = speed_m_per_s * arrives_at.since(world.now().min(arrives_at)).as_secs_f32();
        end.position.distance(*goal) <= SAME_GOAL_M && (way_m - left_m).abs() <= SAME_WAY_M
    }

    /// Stops where it is now.
    pub fn stop(&mut self) {
        self.stop_at(self.0.world.now());
    }

    /// Stops where it is at that time: now, later, or since the last tick.
    pub fn stop_at(&mut self, time: GameTime) {
        let time = self.0.earliest(time);
        self.0.world.stop(self.0.id, time);
    }

    /// Moves to another position at once; it is at rest there. If the position is not finite,
    /// nothing changes, with an error in the log.
    pub fn teleport(&mut self, to: Position) {
        if let Some(to) = finite_position(&self.0, to) {
            self.0.world.teleport(self.0.id, to);
        }
    }

    /// Follows other points from a time on: straight from the last point before `from` to the first
    /// new one, and at rest at the last. Without points it stops. Positions that are not finite are
    /// left out, with an error in the log.
    pub fn replace_from(
        &mut self,
        from: GameTime,
        points: impl IntoIterator<Item = (GameTime, Position)>,
    ) {
        let from = self.0.earliest(from);
        let points = points.into_iter().filter_map(|(time, position)| {
            Some((time.max(from), Waypoint::walk(finite_position(&self.0, position)?)))
        });
        let points: Vec<_> = points.collect();
        if points.is_empty() {
            return self.stop_at(from);
        }
        self.0.world.replace_path(self.0.id, from, points);
    }
}

pub(in crate::component) type Ref<'w> = PathRef<'w>;
pub(in crate::component) type Mut<'w> = PathMut<'w>;

pub(in crate::component) fn initial(path: Path, spawn: &Spawn<'_>, _: u8) -> Component {
    let start = finite_position(spawn, path.start).unwrap_or_default();
    Component::at_rest(spawn.now(), start)
}

pub(in crate::component) fn reader(object: ObjectRef<'_>, _: u8) -> PathRef<'_> {
    PathRef(object)
}

pub(in crate::component) fn editor(object: ObjectMut<'_>, _: u8) -> PathMut<'_> {
    PathMut(object)
}
