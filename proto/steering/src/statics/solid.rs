//! The geometry of one obstacle: how far away it is, where a line meets it, when a ball does.
//!
//! Exact but for rounding: nothing iterates without a bound, and nothing is missed. Units: metres.

use ambit_proto::map::ObstacleShape;
use parry3d::bounding_volume::Aabb;
use parry3d::math::Vector;

use super::{Obstacle, vector};

/// The bounds of an obstacle are wider by this, so that rounding loses none. They only select.
const BOUNDS_MARGIN_M: f32 = 1e-3;
/// A ball within this distance touches: well below the steps of positions on the wire.
const TOUCH_M: f32 = 1e-4;
/// A ball whose way is so nearly parallel to a surface moves along it: 1 mm nearer on 1 km.
const PARALLEL: f32 = 1e-6;
/// Newton's method needs 5 steps mostly, and 20 for a ball that all but passes by.
const MAX_STEPS: u32 = 40;

/// An obstacle for queries.
#[derive(Clone, Copy, Debug)]
pub(super) struct Solid {
    centre: Vector,
    /// The direction of its own x axis on (x, y).
    axis: [f32; 2],
    shape: ObstacleShape,
}

/// The nearest part of the surface, as seen from a point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Surface {
    /// Negative inside.
    pub(super) distance_m: f32,
    /// Away from the obstacle, of length 1: the direction in which the distance grows.
    normal: Vector,
}

/// Where a ball touches first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contact {
    pub(super) way_m: f32,
    /// Metres that it comes nearer on a metre of its way; above 0.
    pub(super) approach: f32,
}

impl Solid {
    pub(super) fn new(obstacle: &Obstacle) -> Self {
        let centre = vector(obstacle.centre);
        let shape = obstacle.shape;
        Self { centre, axis: shape.axis(), shape }
    }

    pub(super) fn bounds(&self) -> Aabb {
        let ([x, y, z], [cos, sin]) = (self.shape.half(), self.axis.map(f32::abs));
        let half = match self.shape {
            ObstacleShape::Box { .. } => Vector::new(cos * x + sin * y, sin * x + cos * y, z),
            ObstacleShape::Cylinder { .. } => Vector::new(x, y, z),
        };
        Aabb::from_half_extents(self.centre, half + Vector::splat(BOUNDS_MARGIN_M))
    }

    pub(super) fn surface(&self, point: Vector) -> Surface {
        let at = self.turned_back(point - self.centre);
        match self.shape {
            ObstacleShape::Box { half, .. } => {
                let beyond = at.abs() - Vector::from(half);
                let (distance_m, normal) = nearest_face(beyond);
                let sides = Vector::new(side(at.x), side(at.y), side(at.z));
                Surface { distance_m, normal: self.turned(normal * sides) }
            }
            ObstacleShape::Cylinder { radius, half_height } => {
                let from_axis = (at.x * at.x + at.y * at.y).sqrt();
                let outwards =
                    if from_axis > 0.0 { [at.x / from_axis, at.y / from_axis] } else { [1.0, 0.0] };
                let beyond = Vector::new(from_axis - radius, f32::MIN, at.z.abs() - half_height);
                let (distance_m, normal) = nearest_face(beyond);
                let [x, y] = outwards.map(|part| part * normal.x);
                Surface { distance_m, normal: Vector::new(x, y, normal.z * side(at.z)) }
            }
        }
    }

    /// Where the line through `from` enters and leaves, as multiples of `way`; `None` beside it.
    pub(super) fn line(&self, from: Vector, way: Vector) -> Option<(f32, f32)> {
        let from = self.turned_back(from - self.centre);
        let way = self.turned_back(way);
        let [x, y, z] = self.shape.half();
        let upright = between(from.z, way.z, z);
        let (enter, exit) = match self.shape {
            ObstacleShape::Box { .. } => {
                common(between(from.x, way.x, x), between(from.y, way.y, y))
            }
            ObstacleShape::Cylinder { radius, .. } => in_circle(from, way, radius)?,
        };
        let (enter, exit) = common((enter, exit), upright);
        (enter <= exit).then_some((enter, exit))
    }

    /// Where a ball of radius `width_m` whose centre moves from `start` along `direction` (of
    /// length 1) touches first, within `distance_m`. `None` too if it touches at the start and
    /// comes no nearer.
    ///
    /// The distance to a convex shape is a convex function of the way. So its tangent lies below
    /// it, and each of Newton's steps ends before the contact or at it.
    pub(super) fn first_contact(
        &self,
        start: Vector,
        direction: Vector,
        distance_m: f32,
        width_m: f32,
    ) -> Option<Contact> {
        let mut way_m = 0.0;
        for _ in 0..MAX_STEPS {
            let surface = self.surface(start + direction * way_m);
            let approach = -surface.normal.dot(direction);
            let gap_m = surface.distance_m - width_m;
            if approach <= PARALLEL {
                return None;
            }
            if gap_m <= TOUCH_M {
                return Some(Contact { way_m, approach });
            }
            way_m += gap_m / approach;
            if way_m > distance_m {
                return None;
            }
        }
        None
    }

    /// From the map's axes to its own.
    fn turned_back(&self, Vector { x, y, z }: Vector) -> Vector {
        let [cos, sin] = self.axis;
        Vector::new(cos * x + sin * y, cos * y - sin * x, z)
    }

    fn turned(&self, Vector { x, y, z }: Vector) -> Vector {
        let [cos, sin] = self.axis;
        Vector::new(cos * x - sin * y, sin * x + cos * y, z)
    }
}

/// The distance from a box and its direction, by how far a point is beyond the faces.
fn nearest_face(beyond: Vector) -> (f32, Vector) {
    let outside = beyond.max(Vector::ZERO);
    let distance_m = outside.length();
    if distance_m > 0.0 {
        return (distance_m, outside / distance_m);
    }
    if beyond.x >= beyond.y && beyond.x >= beyond.z {
        (beyond.x, Vector::X)
    } else if beyond.y >= beyond.z {
        (beyond.y, Vector::Y)
    } else {
        (beyond.z, Vector::Z)
    }
}

fn side(metres: f32) -> f32 {
    if metres < 0.0 { -1.0 } else { 1.0 }
}

/// Where a coordinate is at most `half` from 0.
fn between(from: f32, way: f32, half: f32) -> (f32, f32) {
    // Never infinite, so that a line within a face has no undefined part.
    let per_way = 1.0 / if way.abs() < 1e-9 { 1e-9 } else { way };
    let one = (-half - from) * per_way;
    let other = (half - from) * per_way;
    (one.min(other), one.max(other))
}

/// Where a line is in a circle around the vertical axis.
fn in_circle(from: Vector, way: Vector, radius: f32) -> Option<(f32, f32)> {
    let square = way.x * way.x + way.y * way.y;
    if square < 1e-18 {
        let is_inside = from.x * from.x + from.y * from.y <= radius * radius;
        return is_inside.then_some((f32::MIN, f32::MAX));
    }
    // From the nearest point to the axis, so that long lines lose no digits.
    let middle = -(from.x * way.x + from.y * way.y) / square;
    let cross = from.x * way.y - from.y * way.x;
    let chord = radius * radius - cross * cross / square;
    let half = (chord.max(0.0) / square).sqrt();
    (chord >= 0.0).then_some((middle - half, middle + half))
}

fn common(one: (f32, f32), other: (f32, f32)) -> (f32, f32) {
    (one.0.max(other.0), one.1.min(other.1))
}
