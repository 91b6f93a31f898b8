//! Static obstacles: fixed boxes and walls, queried by ray cast and sweep.
//!
//! The boxes form one composite shape of parry3d with a tree of their bounds. Bodies are balls that
//! rest on the ground; a [`Position`] is the point where the ball touches the ground.
//!
//! Invariants: the same boxes in the same order give the same answers; a body that stops where a
//! sweep ends is not blocked there, and can leave in any free direction ([`SKIN_M`]). Units:
//! metres. Cost of a query: logarithmic in the number of boxes.

use std::fmt;

use ambit_proto::map::{MAX_BOXES, StaticBox, StaticMap};
use ambit_proto::space::Position;
use bytes::Bytes;
use parry3d::bounding_volume::BoundingVolume as _;
use parry3d::math::{Pose, Vector};
use parry3d::partitioning::Bvh;
use parry3d::query::details::NormalConstraints;
use parry3d::query::{
    DefaultQueryDispatcher, QueryDispatcher as _, Ray, ShapeCastHit, ShapeCastOptions,
};
use parry3d::shape::{Ball, CompositeShape, CompositeShapeRef, Cuboid, Shape, TypedCompositeShape};

/// The gap that a sweep leaves before an obstacle. It is wider than the rounding of positions on
/// the wire (up to 3 mm), so that rounding never puts a body inside a wall. A position that keeps
/// this gap is as good as the end of a sweep.
pub const SKIN_M: f32 = 0.02;

/// Bisection steps to find where a wall begins: precise to a millimetre on 60 m.
const BISECTION_STEPS: u32 = 16;

/// The static obstacles of a map. See the module.
#[derive(Default)]
pub struct Statics {
    boxes: Vec<Obstacle>,
    /// The same boxes for parry3d, by the index that the tree has for each.
    cuboids: Vec<(Pose, Cuboid)>,
    tree: Bvh,
}

impl CompositeShape for Statics {
    fn map_part_at(
        &self,
        index: u32,
        f: &mut dyn FnMut(Option<&Pose>, &dyn Shape, Option<&dyn NormalConstraints>),
    ) {
        self.map_untyped_part_at(index, f);
    }

    fn bvh(&self) -> &Bvh {
        &self.tree
    }
}

impl TypedCompositeShape for Statics {
    type PartShape = Cuboid;
    type PartNormalConstraints = ();

    fn map_typed_part_at<T>(
        &self,
        index: u32,
        mut f: impl FnMut(Option<&Pose>, &Cuboid, Option<&()>) -> T,
    ) -> Option<T> {
        let (pose, cuboid) = self.cuboids.get(index as usize)?;
        Some(f(Some(pose), cuboid, None))
    }

    fn map_untyped_part_at<T>(
        &self,
        index: u32,
        mut f: impl FnMut(Option<&Pose>, &dyn Shape, Option<&dyn NormalConstraints>) -> T,
    ) -> Option<T> {
        let (pose, cuboid) = self.cuboids.get(index as usize)?;
        Some(f(Some(pose), cuboid, None))
    }
}

/// An axis-aligned box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Obstacle {
    /// The centre of the box.
    pub centre: Position,
    /// Half its extent along x, y and z.
    pub half: [f32; 3],
}

impl Obstacle {
    /// A box that stands on the ground.
    pub fn on_ground(x: f32, y: f32, half_x: f32, half_y: f32, height: f32) -> Self {
        let half = [half_x, half_y, height / 2.0];
        Self { centre: Position::new(x, y, half[2]), half }
    }

    /// Metres along the ground from `position` to the nearest point of the box; 0 inside.
    pub fn ground_distance(&self, position: Position) -> f32 {
        let x = ((position.x - self.centre.x).abs() - self.half[0]).max(0.0);
        let y = ((position.y - self.centre.y).abs() - self.half[1]).max(0.0);
        (x * x + y * y).sqrt()
    }
}

impl Statics {
    /// Adds a box.
    ///
    /// # Panics
    /// If there are more boxes than clients can receive ([`MAX_BOXES`]): a bug of the game.
    pub fn add_box(&mut self, block: Obstacle) {
        assert!(self.boxes.len() < MAX_BOXES, "a map has at most {MAX_BOXES} boxes");
        let [x, y, z] = block.half;
        let (pose, cuboid) =
            (Pose::from_translation(vector(block.centre)), Cuboid::new(Vector::new(x, y, z)));
        self.tree.insert(cuboid.compute_aabb(&pose), self.cuboids.len() as u32);
        self.cuboids.push((pose, cuboid));
        self.boxes.push(block);
    }

    /// All boxes, in the order in which they were added.
    pub fn boxes(&self) -> &[Obstacle] {
        &self.boxes
    }

    /// The encoded [`StaticMap`] for clients. Empty without obstacles.
    pub fn encode(&self) -> Bytes {
        if self.boxes.is_empty() {
            return Bytes::new();
        }
        let boxes = self.boxes.iter().map(|&Obstacle { centre, half }| StaticBox { centre, half });
        StaticMap { boxes: boxes.collect() }.encode().into()
    }

    /// Metres from `from` along `direction` (of any length above zero) to the first obstacle, if
    /// there is one within `max_m`.
    pub fn cast_ray(&self, from: Position, direction: Position, max_m: f32) -> Option<f32> {
        let direction = vector(direction).try_normalize()?;
        CompositeShapeRef(self)
            .cast_local_ray(&Ray::new(vector(from), direction), max_m, true)
            .map(|(_, metres)| metres)
    }

    /// Whether an obstacle is between two points, or contains one of them. Faster than
    /// [`Statics::cast_ray`], since any obstacle will do.
    pub fn is_between(&self, from: Position, to: Position) -> bool {
        let (from, to) = (vector(from), vector(to));
        // Never infinite, so that a line within a face has no undefined part.
        let inverse = |metres: f32| 1.0 / if metres.abs() < 1e-9 { 1e-9 } else { metres };
        let way = to - from;
        let per_way = Vector::new(inverse(way.x), inverse(way.y), inverse(way.z));
        let meets = |low: Vector, high: Vector| {
            let (one, other) = ((low - from) * per_way, (high - from) * per_way);
            let (near, far) = (one.min(other), one.max(other));
            near.max_element().max(0.0) <= far.min_element().min(1.0)
        };
        // The leaves are the boxes themselves.
        self.tree.leaves(|node| meets(node.mins(), node.maxs())).next().is_some()
    }

    /// How many metres a ball of `radius_m` that rests on `from` can roll towards `to`: at most the
    /// whole distance.
    ///
    /// The ball is treated as wider by the gap that it keeps. A ball that is closer to an obstacle
    /// already, because it stopped there before, keeps its real size, and the gap to the next
    /// obstacle.
    pub fn sweep(&self, from: Position, to: Position, radius_m: f32) -> f32 {
        let distance_m = from.distance(to);
        let Some(direction) = (vector(to) - vector(from)).try_normalize() else {
            return 0.0;
        };
        let cast = |width: f32| self.cast(from, direction, distance_m, radius_m, width);
        let free = match cast(radius_m + SKIN_M) {
            None => distance_m,
            Some(hit) if hit.time_of_impact > 0.0 => hit.time_of_impact,
            Some(_) => cast(radius_m).map_or(distance_m, |hit| {
                (hit.time_of_impact - gap_distance(&hit, direction)).max(0.0)
            }),
        };
        self.clip_to_free(from, to, free / distance_m, radius_m) * distance_m
    }

    /// Whether a ball of `radius_m` that rests on `position` touches an obstacle.
    pub fn is_blocked(&self, position: Position, radius_m: f32) -> bool {
        let pose = Pose::from_translation(centre(position, radius_m));
        let ball = Ball::new(radius_m);
        let bounds = ball.compute_aabb(&pose);
        self.tree
            .leaves(|node| node.aabb().intersects(&bounds))
            .filter_map(|index| self.cuboids.get(index as usize))
            .any(|(at, cuboid)| {
                DefaultQueryDispatcher
                    .intersection_test(&pose.inv_mul(at), &ball, cuboid)
                    .is_ok_and(|hit| hit.intersecting)
            })
    }

    /// The first contact within `distance` of a ball of radius `width` whose centre is that of a
    /// ball of `radius_m`. Obstacles that it touches already and moves away from do not count.
    fn cast(
        &self,
        from: Position,
        direction: Vector,
        distance_m: f32,
        radius_m: f32,
        width: f32,
    ) -> Option<ShapeCastHit> {
        let start = Pose::from_translation(centre(from, radius_m));
        let options = ShapeCastOptions {
            max_time_of_impact: distance_m,
            stop_at_penetration: false,
            ..ShapeCastOptions::default()
        };
        let ball = Ball::new(width);
        CompositeShapeRef(self)
            .cast_shape(&DefaultQueryDispatcher, &start, direction, &ball, options)
            .map(|(_, hit)| hit)
    }

    /// The share of the distance where the ball is really free: `share`, unless the ball is blocked
    /// there. The shape cast is iterative and may miss a long wall at a grazing angle. The blocked
    /// part is then one interval up to `share`, and bisection finds its beginning.
    fn clip_to_free(&self, from: Position, to: Position, share: f32, radius_m: f32) -> f32 {
        let blocked = |share: f32| self.is_blocked(from.lerp(to, share), radius_m);
        if !blocked(share) || blocked(0.0) {
            return share;
        }
        let (mut free, mut taken) = (0.0, share);
        for _ in 0..BISECTION_STEPS {
            let middle = f32::midpoint(free, taken);
            if blocked(middle) {
                taken = middle;
            } else {
                free = middle;
            }
        }
        free
    }
}

impl fmt::Debug for Statics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Statics").field("boxes", &self.boxes.len()).finish_non_exhaustive()
    }
}

/// The distance before the contact at which the gap to the obstacle is [`SKIN_M`].
fn gap_distance(hit: &ShapeCastHit, direction: Vector) -> f32 {
    SKIN_M / hit.normal1.dot(direction).abs().max(f32::EPSILON)
}

/// The centre of a ball that rests on `position`.
fn centre(position: Position, radius_m: f32) -> Vector {
    vector(position) + Vector::new(0.0, 0.0, radius_m)
}

fn vector(position: Position) -> Vector {
    Vector::new(position.x, position.y, position.z)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RADIUS: f32 = 0.4;

    #[test]
    fn a_sweep_ends_one_gap_width_before_the_wall() {
        let free = one_box().sweep(at(0.0, 50.0), at(100.0, 50.0), RADIUS);
        assert!((free - (45.0 - RADIUS - SKIN_M)).abs() < 1e-3, "{free}");
    }

    #[test]
    fn a_sweep_without_obstacles_reaches_its_end() {
        assert_eq!(one_box().sweep(at(0.0, 40.0), at(30.0, 0.0), RADIUS), 50.0);
        assert_eq!(Statics::default().sweep(at(1.0, 1.0), at(9.0, 1.0), RADIUS), 8.0);
        assert_eq!(one_box().sweep(at(3.0, 3.0), at(3.0, 3.0), RADIUS), 0.0);
    }

    #[test]
    fn a_sweep_that_ends_within_the_gap_of_a_wall_is_shortened() {
        let free = one_box().sweep(at(0.0, 50.0), at(45.0 - RADIUS - 0.001, 50.0), RADIUS);
        assert!((free - (45.0 - RADIUS - SKIN_M)).abs() < 1e-3, "{free}");
    }

    #[test]
    fn a_body_stopped_at_a_wall_can_move_along_it_or_away_but_not_through() {
        let statics = one_box();
        let mut rng = fastrand::Rng::with_seed(5);
        for _ in 0..500 {
            let from = at(rng.f32() * 40.0, rng.f32() * 100.0);
            let aim = at(46.0 + rng.f32() * 8.0, 46.0 + rng.f32() * 8.0);
            let free = statics.sweep(from, aim, RADIUS);
            let stop = from.lerp(aim, free / from.distance(aim)).quantised();
            assert!(!statics.is_blocked(stop, RADIUS), "{from:?} {aim:?} {stop:?}");
            assert!(statics.sweep(stop, aim, RADIUS) < 0.05, "{stop:?} {aim:?}");
            assert!(statics.sweep(stop, from, RADIUS) > free - 0.1, "{stop:?} {from:?}");
            if stop.x < 45.0 - RADIUS - 0.75 * SKIN_M {
                let along = Position { y: 1.0, ..stop };
                assert_eq!(statics.sweep(stop, along, RADIUS), stop.distance(along), "{stop:?}");
            }
        }
    }

    #[test]
    fn a_body_that_grazes_a_wall_ends_beside_it() {
        for length in [40.0, 500.0] {
            let mut statics = Statics::default();
            // The face of the box is the line y = 50.
            statics.add_box(Obstacle::on_ground(50.0, 49.0, length, 1.0, 3.0));
            let mut rng = fastrand::Rng::with_seed(7);
            for _ in 0..500 {
                let from = at(20.0 + rng.f32() * 10.0, 50.0 + RADIUS + SKIN_M + rng.f32() * 0.05)
                    .quantised();
                let to =
                    at(45.0 + rng.f32() * 10.0, 50.0 + RADIUS + SKIN_M + (rng.f32() - 0.5) * 0.2);
                let free = statics.sweep(from, to, RADIUS);
                let stop = from.lerp(to, free / from.distance(to)).quantised();
                assert!(stop.y >= 50.0 + RADIUS - 0.004, "{from:?} {to:?} {stop:?}");
                let away = Position { y: 90.0, ..stop };
                assert_eq!(statics.sweep(stop, away, RADIUS), stop.distance(away), "{stop:?}");
            }
        }
    }

    #[test]
    fn a_body_inside_the_gap_of_a_wall_can_leave() {
        let statics = one_box();
        for gap in [0.015, 0.01, 0.001, 0.0, -0.003] {
            let stuck = at(45.0 - RADIUS - gap, 50.0);
            for away in [at(0.0, 50.0), at(10.0, 90.0), at(40.0, 2.0)] {
                assert_eq!(
                    statics.sweep(stuck, away, RADIUS),
                    stuck.distance(away),
                    "{gap} {away:?}"
                );
            }
            assert!(statics.sweep(stuck, at(60.0, 50.0), RADIUS) < 0.01, "{gap}");
        }
    }

    #[test]
    fn a_sweep_agrees_with_small_steps() {
        let mut rng = fastrand::Rng::with_seed(6);
        let mut statics = Statics::default();
        for _ in 0..40 {
            statics.add_box(Obstacle::on_ground(
                rng.f32() * 40.0,
                rng.f32() * 40.0,
                0.3 + rng.f32(),
                0.3 + rng.f32(),
                3.0,
            ));
        }
        for case in 0..300 {
            let from = at(rng.f32() * 40.0, rng.f32() * 40.0);
            let to = at(rng.f32() * 40.0, rng.f32() * 40.0);
            if statics.is_blocked(from, RADIUS + SKIN_M) {
                continue;
            }
            let free = statics.sweep(from, to, RADIUS);
            let distance_m = from.distance(to);
            let gap = |metres: f32| {
                let position = from.lerp(to, metres / distance_m);
                statics
                    .boxes()
                    .iter()
                    .map(|block| block.ground_distance(position))
                    .fold(f32::INFINITY, f32::min)
            };
            let steps = (free / 0.01) as u32;
            let slack = RADIUS + SKIN_M - 1e-3;
            assert!(
                (0..=steps).all(|step| gap(step as f32 * 0.01) > slack),
                "case {case}: {from:?} {to:?} {free}"
            );
            assert!(
                free == distance_m || gap(free + 0.01) < RADIUS + SKIN_M + 1e-3,
                "case {case}: nothing stops at {free} m"
            );
        }
    }

    #[test]
    fn a_ray_hits_the_first_obstacle() {
        let mut statics = one_box();
        statics.add_box(Obstacle::on_ground(30.0, 50.0, 0.5, 10.0, 1.0));
        let eye = Position::new(0.0, 50.0, 0.5);
        assert_eq!(statics.cast_ray(eye, at(2.0, 0.0), 100.0), Some(29.5));
        // Over the wall.
        assert_eq!(statics.cast_ray(Position { z: 1.5, ..eye }, at(2.0, 0.0), 100.0), Some(45.0));
        assert_eq!(statics.cast_ray(eye, at(2.0, 0.0), 29.0), None);
        assert_eq!(statics.cast_ray(eye, at(-1.0, 0.0), 100.0), None);
        assert_eq!(statics.cast_ray(eye, at(0.0, 0.0), 100.0), None);
    }

    #[test]
    fn an_obstacle_is_between_two_points_if_the_line_meets_it() {
        let statics = one_box(); // 10 x 10 m around (50, 50).
        let between = |from: Position, to| statics.is_between(from, to);
        assert!(between(at(40.0, 50.0), at(60.0, 50.0)) && between(at(60.0, 50.0), at(40.0, 50.0)));
        assert!(
            between(at(40.0, 41.0), at(60.0, 59.0)) && !between(at(40.0, 41.0), at(44.0, 60.0))
        );
        assert!(
            !between(at(40.0, 50.0), at(44.9, 50.0)) && !between(at(55.1, 50.0), at(60.0, 50.0))
        );
        // Inside, along a face, and nowhere.
        assert!(between(at(50.0, 50.0), at(90.0, 90.0)) && between(at(50.0, 50.0), at(50.0, 50.0)));
        assert!(
            between(at(40.0, 45.0), at(60.0, 45.0)) && !between(at(40.0, 44.9), at(60.0, 44.9))
        );
        assert!(!between(at(40.0, 50.0), at(40.0, 50.0)));
        assert!(!Statics::default().is_between(at(0.0, 0.0), at(99.0, 99.0)));
    }

    #[test]
    fn what_is_between_two_points_is_what_a_ray_hits() {
        let mut rng = fastrand::Rng::with_seed(8);
        let mut statics = Statics::default();
        for _ in 0..60 {
            let (x, y) = (rng.f32() * 100.0, rng.f32() * 100.0);
            statics.add_box(Obstacle::on_ground(x, y, 0.5 + rng.f32(), 0.5 + 4.0 * rng.f32(), 3.0));
        }
        let mut hits = 0;
        for _ in 0..2_000 {
            let mut eye = || Position::new(rng.f32() * 100.0, rng.f32() * 100.0, rng.f32() * 4.0);
            let (from, to) = (eye(), eye());
            let way = Position::new(to.x - from.x, to.y - from.y, to.z - from.z);
            let hit = statics.cast_ray(from, way, from.distance(to)).is_some();
            assert_eq!(statics.is_between(from, to), hit, "{from:?} {to:?}");
            hits += u32::from(hit);
        }
        assert!((400..1_600).contains(&hits), "{hits}");
    }

    #[test]
    fn a_position_in_or_at_a_box_is_blocked_and_one_beside_it_is_not() {
        let statics = one_box();
        assert!(statics.is_blocked(at(50.0, 50.0), RADIUS));
        assert!(statics.is_blocked(at(44.7, 50.0), RADIUS));
        assert!(!statics.is_blocked(at(44.5, 50.0), RADIUS));
        assert!(!statics.is_blocked(at(44.7, 44.7), RADIUS)); // Beside the corner.
    }

    #[test]
    fn five_thousand_boxes_are_all_found() {
        let mut statics = Statics::default();
        let boxes: Vec<_> =
            (0..5_000).map(|n| ((n % 100) as f32 * 100.0, (n / 100) as f32 * 100.0)).collect();
        for &(x, y) in &boxes {
            statics.add_box(Obstacle::on_ground(x, y, 1.0, 1.0, 3.0));
        }
        assert!(boxes.iter().all(|&(x, y)| statics.is_blocked(at(x + 1.2, y), RADIUS)));
        assert!(boxes.iter().all(|&(x, y)| !statics.is_blocked(at(x + 50.0, y), RADIUS)));
    }

    /// A box of 10 x 10 m around (50, 50).
    fn one_box() -> Statics {
        let mut statics = Statics::default();
        statics.add_box(Obstacle::on_ground(50.0, 50.0, 5.0, 5.0, 3.0));
        statics
    }

    fn at(x: f32, y: f32) -> Position {
        Position::on_ground(x, y)
    }
}
