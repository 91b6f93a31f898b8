//! The way round obstacles, for the shipped games.
//!
//! Two points go in; out come the corners of a walk between them that a body can take: the shortest
//! way over a grid of 1 m, pulled tight. A search looks at no more than 600 points of the grid, so
//! that a command costs a bounded time; a walk whose end it does not find goes as near to it as it
//! has come. [`GoalWalk`] knows when a moving goal needs another walk, and [`PlacesAround`] who
//! stands at which place around a creature.
//!
//! Units: metres. Deterministic.

mod goal;
mod places;

use std::cell::RefCell;
use std::collections::BTreeMap;

use ambit::Position;
use ambit::statics::Statics;
use ambit::steering::Terrain;
use pathfinding::directed::astar::astar;

pub use self::goal::GoalWalk;
pub use self::places::{DIRECTIONS, PlacesAround};

/// Finer than a body and the thinnest wall together, so that no step leads through one.
const STEP_M: f32 = 1.0;
/// Enough for a detour of some 20 m.
const MAX_LOOKS: usize = 600;
/// Corners of a walk.
const MAX_CORNERS: usize = 16;
/// Costs of a step along an axis and of one across.
const COSTS: [u32; 2] = [10, 14];

/// A point of the grid, counted from where the walk begins.
type GridPoint = (i16, i16);

/// The corners of a walk of a body of this radius, without its beginning; `None` if it comes no
/// nearer than in a straight line.
pub fn round_obstacles(
    terrain: Terrain<'_>,
    radius_m: f32,
    from: Position,
    target: Position,
) -> Option<Vec<Position>> {
    let statics = terrain.statics;
    if statics.is_blocked(target, radius_m) {
        return None;
    }
    let search = Search { terrain, radius_m, from, known: RefCell::default() };
    let (points, is_whole) = search.points_to(target);
    let end = if is_whole { target } else { *points.last()? };
    let direct = first_stop(statics, radius_m, from, target);
    let is_nearer = is_whole || end.distance(target) < direct.distance(target);
    is_nearer.then(|| pulled_tight(statics, radius_m, from, &points, end))
}

/// The target, or where a body of this radius stops before it.
#[must_use]
pub fn first_stop(statics: &Statics, radius_m: f32, from: Position, target: Position) -> Position {
    statics.first_stop(from, target, radius_m)
}

/// Whether a body of this radius gets straight from one place to another.
#[must_use]
pub fn is_free(statics: &Statics, radius_m: f32, from: Position, to: Position) -> bool {
    first_stop(statics, radius_m, from, to) == to
}

/// The share of a straight way from one place to another at which it leads through a gap, such as a
/// door, around `middle`; `None` if it does not. `half` is half the width of the gap, along x or
/// along y; the other one is 0.
#[must_use]
pub fn share_at_gap(
    middle: Position,
    half: (f32, f32),
    from: Position,
    to: Position,
) -> Option<f32> {
    let turned = |at: Position| {
        let (x, y) = (at.x - middle.x, at.y - middle.y);
        if half.0 > 0.0 { (y, x) } else { (x, y) }
    };
    let ((before, along_before), (behind, along_behind)) = (turned(from), turned(to));
    if (before < 0.0) == (behind < 0.0) {
        return None;
    }
    let share = before / (before - behind);
    let along = along_before + share * (along_behind - along_before);
    (along.abs() <= half.0.max(half.1)).then_some(share)
}

/// The same way with as few corners as can be seen from one another.
fn pulled_tight(
    statics: &Statics,
    radius_m: f32,
    from: Position,
    points: &[Position],
    end: Position,
) -> Vec<Position> {
    let mut corners = Vec::new();
    let mut here = from;
    let mut last = from;
    for &next in points.iter().chain([&end]) {
        if !is_free(statics, radius_m, here, next) && last != here {
            corners.push(last);
            here = last;
        }
        last = next;
    }
    corners.push(last);
    corners.truncate(MAX_CORNERS);
    corners
}

struct Search<'w> {
    terrain: Terrain<'w>,
    radius_m: f32,
    from: Position,
    /// Whether the points are free that were asked about.
    known: RefCell<BTreeMap<GridPoint, bool>>,
}

impl Search<'_> {
    /// The points of the grid on the way, and whether it leads to the target.
    fn points_to(&self, target: Position) -> (Vec<Position>, bool) {
        let is_near = |point: &GridPoint| {
            let here = self.place(*point);
            here.distance(target) <= 2.0 * STEP_M
                && is_free(self.terrain.statics, self.radius_m, here, target)
        };
        let mut nearest = (f32::MAX, (0, 0));
        let whole = self.way(target, is_near, |point, to_go_m| {
            if to_go_m < nearest.0 {
                nearest = (to_go_m, point);
            }
        });
        if let Some(way) = whole {
            return (way, true);
        }
        let (_, reached) = nearest;
        let end = self.place(reached);
        let part = self.way(end, |point| *point == reached, |_, _| ());
        (part.unwrap_or_default(), false)
    }

    /// The cheapest way to a place, without its beginning. `look` gets each point that is looked
    /// at, and how far it is from there.
    fn way(
        &self,
        end: Position,
        is_end: impl Fn(&GridPoint) -> bool,
        mut look: impl FnMut(GridPoint, f32),
    ) -> Option<Vec<Position>> {
        let mut looks = 0;
        let steps = |point: &GridPoint| {
            look(*point, self.place(*point).distance(end));
            looks += 1;
            if looks > MAX_LOOKS { Vec::new() } else { self.steps_from(*point) }
        };
        let to_go = |point: &GridPoint| {
            let here = self.place(*point);
            octile((end.x - here.x).abs(), (end.y - here.y).abs())
        };
        let (way, _) = astar(&(0, 0), steps, to_go, is_end)?;
        Some(way.into_iter().skip(1).map(|point| self.place(point)).collect())
    }

    fn place(&self, (x, y): GridPoint) -> Position {
        let at = |from: f32, steps: i16| from + f32::from(steps) * STEP_M;
        Position { x: at(self.from.x, x), y: at(self.from.y, y), ..self.from }
    }

    fn is_free(&self, point: GridPoint) -> bool {
        *self.known.borrow_mut().entry(point).or_insert_with(|| {
            let place = self.place(point);
            self.terrain.nearest_on_map(place) == place
                && !self.terrain.statics.is_blocked(place, self.radius_m)
        })
    }

    /// The free points beside one, and what a step there costs. A step across needs both points
    /// beside it: so it cuts no corner.
    fn steps_from(&self, (x, y): GridPoint) -> Vec<(GridPoint, u32)> {
        let sides = [(1, 0), (0, 1), (-1, 0), (0, -1)];
        let are_free = sides.map(|(dx, dy)| self.is_free((x + dx, y + dy)));
        let mut steps = Vec::with_capacity(8);
        for (side, &(dx, dy)) in sides.iter().enumerate() {
            if !are_free[side] {
                continue;
            }
            steps.push(((x + dx, y + dy), COSTS[0]));
            let next = (side + 1) % sides.len();
            let across = (x + dx + sides[next].0, y + dy + sides[next].1);
            if are_free[next] && self.is_free(across) {
                steps.push((across, COSTS[1]));
            }
        }
        steps
    }
}

/// What a way over a free grid costs at least.
fn octile(x_m: f32, y_m: f32) -> u32 {
    let long = x_m.max(y_m) / STEP_M;
    let short = x_m.min(y_m) / STEP_M;
    let [along, across] = COSTS.map(|cost| cost as f32);
    // Rounded down, and the end may be two steps before the target.
    ((long - short) * along + short * across - 2.0 * across).max(0.0) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_leads_through_a_gap_or_past_it() {
        let place = Position::on_ground;
        let along_x = |from, to| share_at_gap(place(10.0, 20.0), (2.0, 0.0), from, to);
        assert_eq!(along_x(place(11.0, 19.0), place(11.0, 23.0)), Some(0.25));
        assert_eq!(along_x(place(11.0, 23.0), place(11.0, 19.0)), Some(0.75));
        assert_eq!(along_x(place(13.0, 19.0), place(13.0, 23.0)), None, "beside it");
        assert_eq!(along_x(place(11.0, 15.0), place(11.0, 19.0)), None, "before it");
        let along_y =
            share_at_gap(place(10.0, 20.0), (0.0, 2.0), place(8.0, 19.0), place(12.0, 21.0));
        assert_eq!(along_y, Some(0.5));
    }
}
