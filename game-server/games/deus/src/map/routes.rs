//! Ways through rooms and corridors, from door to door, and short straight ones.
//!
//! Units: metres. Cost: the rooms of a slot, at most 16, for each leg, and a search for a way round
//! what stands in a room.

use ambit::prelude::*;
use ambit::statics::Statics;
use ambit_ways::DIRECTIONS;

use super::{BODY_RADIUS_M, GroundPlan, MOST_ACROSS, MapSlot};
use crate::DeusWorld;

/// Corners of a way.
const MAX_CORNERS: usize = 12;
/// A body nearer than this to a place stands in it.
const SAME_PLACE_M: f32 = 0.1;

impl GroundPlan {
    /// The corners of a walk of a hero, which ends in the same slot, as near as it comes.
    pub(crate) fn way(&self, world: &DeusWorld, from: Position, to: Position) -> Vec<Position> {
        let slot = self.slot(self.slot_at(from));
        let target = slot.nearest(to);
        let mut here = from;
        let mut way = Vec::new();
        while here != target && way.len() < MAX_CORNERS {
            let stop = slot.stop_towards(world.statics(), here, target);
            let straight = ambit_ways::first_stop(world.statics(), BODY_RADIUS_M, here, stop);
            let round = || ambit_ways::round_obstacles(world.terrain(), BODY_RADIUS_M, here, stop);
            let legs = if straight == stop { None } else { round() };
            way.extend(legs.unwrap_or_else(|| vec![straight]));
            if way.last() != Some(&stop) {
                break;
            }
            here = stop;
        }
        way
    }
}

impl MapSlot {
    /// The nearest place that is in a room or a corridor of this slot.
    fn nearest(&self, at: Position) -> Position {
        let rows = self.rooms.len() / self.columns;
        let x = at.x.clamp(self.low.0, self.low.0 + self.site.0 * self.columns as f32);
        let y = at.y.clamp(self.low.1, self.low.1 + self.site.1 * rows as f32);
        let at = Position::on_ground(x, y);
        let Some(room) = self.site_at(at).map(|site| &self.rooms[site]) else { return at };
        match room.side_of(at) {
            Some(side) if !room.doors[side] => room.clamped(at),
            _ => at,
        }
    }

    /// How far each room is from one, in rooms.
    fn distances_to(&self, room: usize) -> [u8; MOST_ACROSS * MOST_ACROSS] {
        let mut distances = [u8::MAX; MOST_ACROSS * MOST_ACROSS];
        distances[room] = 0;
        for steps in 0..self.rooms.len() as u8 {
            for (index, room) in self.rooms.iter().enumerate() {
                if distances[index] != steps {
                    continue;
                }
                for side in (0..4).filter(|side| room.doors[*side]) {
                    let Some(other) = self.neighbour(index, side) else { continue };
                    distances[other] = distances[other].min(steps + 1);
                }
            }
        }
        distances
    }

    /// The target, if it is in the same room or corridor; else the next place on the way there,
    /// before or behind a door.
    pub(crate) fn stop_towards(&self, statics: &Statics, from: Position, to: Position) -> Position {
        let (Some(here), Some(there)) = (self.site_at(from), self.site_at(to)) else { return to };
        let (room, in_door, to_door) =
            (&self.rooms[here], self.rooms[here].side_of(from), self.rooms[there].side_of(to));
        if here == there && in_door == to_door {
            return to;
        }
        let distances = self.distances_to(there);
        let nearer = |side: &usize| {
            let other = self.neighbour(here, *side).filter(|_| room.doors[*side]);
            other.is_some_and(|other| distances[other] < distances[here])
        };
        // Through which door, and what is behind it.
        let next = if here == there { to_door } else { (0..4).find(nearer) };
        let Some(side) = next else {
            return in_door.map_or(to, |side| room.before_door(side));
        };
        let other = self.neighbour(here, side);
        let behind = match other.map(|other| &self.rooms[other]) {
            _ if here == there => to,
            Some(_) if other == Some(there) && to_door == Some((side + 2) % 4) => to,
            Some(other) => other.before_door((side + 2) % 4),
            None => to,
        };
        let door = room.before_door(in_door.unwrap_or(side));
        let is_straight = in_door.is_none_or(|it| it == side)
            && ambit_ways::is_free(statics, BODY_RADIUS_M, from, behind);
        if is_straight || in_door == Some(side) { behind } else { door }
    }
}

/// How far a body comes on a straight way.
pub(crate) fn free_way(world: &DeusWorld, from: Position, to: Position) -> Position {
    ambit_ways::first_stop(world.statics(), BODY_RADIUS_M, from, world.nearest_on_map(to))
}

/// Where a body stops that goes at most `metres` straight away from `place`. A body in that place
/// goes away from the world's centre.
pub(crate) fn free_way_from(
    world: &DeusWorld,
    at: Position,
    place: Position,
    metres: f32,
) -> Position {
    let from = if place.ground_distance(at) > SAME_PLACE_M { place } else { world.centre() };
    let length = from.ground_distance(at).max(SAME_PLACE_M);
    free_way(world, at, world.end_on_map(at, from.lerp(at, 1.0 + metres / length)))
}

/// The places around another one, as near as a body comes to them.
pub(crate) fn places_around(
    world: &DeusWorld,
    at: Position,
    metres: f32,
) -> impl Iterator<Item = Position> {
    DIRECTIONS.into_iter().cycle().map(move |(x, y)| {
        free_way(world, at, Position::on_ground(at.x + x * metres, at.y + y * metres))
    })
}
