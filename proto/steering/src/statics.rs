//! Static obstacles: fixed boxes and cylinders, queried by ray cast and sweep. Those of the map
//! stay; those that objects have come and go with them.
//!
//! The obstacles have a tree of their bounds. Bodies are balls that rest on the ground;
//! a [`Position`] is the point where the ball touches the ground.
//!
//! Invariants: obstacles are what clients read, rounded as on the wire; the same obstacles in the
//! same order give the same answers; a body that stops where a sweep ends is not blocked there, and
//! can leave in any free direction ([`SKIN_M`]). Units: metres. Cost of a query: logarithmic in the
//! number of obstacles, and those whose bounds the line or the ball meets.

mod bounds_tree;
mod placed;
mod solid;

use std::fmt;

use ambit_proto::map::{MAX_OBSTACLES, turn_of};
use ambit_proto::presentation::ObstacleLook;
use ambit_proto::space::Position;
use bytes::Bytes;
use parry3d::bounding_volume::{Aabb, BoundingVolume as _};
use parry3d::math::Vector;

pub use ambit_proto::map::{ObstacleShape, StaticMap, StaticObstacle};

use self::bounds_tree::{BoundsTree, Line, Node};
use self::placed::PlacedObstacles;
use self::solid::Solid;

/// The gap that a sweep leaves before an obstacle. It is wider than the rounding of positions on
/// the wire (up to 3 mm), so that rounding never puts a body inside a wall. A position that keeps
/// this gap is as good as the end of a sweep.
pub const SKIN_M: f32 = 0.02;

/// No ray on the largest map is longer.
const FARTHEST_M: f32 = 100_000.0;

/// The static obstacles of a map. See the module.
#[derive(Default)]
pub struct Statics {
    /// The looks that the game declares.
    looks: Vec<ObstacleLook>,
    obstacles: Vec<Obstacle>,
    /// The same obstacles for queries, by the index that the tree has for each.
    solids: Vec<Solid>,
    tree: BoundsTree,
    placed: PlacedObstacles<Solid>,
}

/// An upright box or cylinder that never moves, made by [`Obstacle::on_ground`] or
/// [`Obstacle::round`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Obstacle {
    /// The middle.
    pub centre: Position,
    /// A box, which may be turned, or a cylinder. Extents are at most 255.98 m from the centre.
    pub shape: ObstacleShape,
    /// One of the looks that the game declares; `None` for the viewer's own.
    pub look: Option<ObstacleLook>,
}

impl Obstacle {
    /// A box that stands on the ground at (x, y), with its sides along the axes.
    pub fn on_ground(x: f32, y: f32, half_x: f32, half_y: f32, height: f32) -> Self {
        let half = [half_x, half_y, height / 2.0];
        Self::standing(x, y, ObstacleShape::Box { half, turn: 0 })
    }

    /// An upright cylinder that stands on the ground at (x, y).
    pub fn round(x: f32, y: f32, radius: f32, height: f32) -> Self {
        Self::standing(x, y, ObstacleShape::Cylinder { radius, half_height: height / 2.0 })
    }

    fn standing(x: f32, y: f32, shape: ObstacleShape) -> Self {
        let [_, _, half_height] = shape.half();
        Self { centre: Position::new(x, y, half_height), shape, look: None }
    }

    /// The same, turned about its middle by an angle in radians, from x towards y, instead of by
    /// the one that it has: rounded to 0.7 degrees. A round obstacle is the same afterwards.
    #[must_use]
    pub fn turned(self, yaw: f32) -> Self {
        let shape = match self.shape {
            ObstacleShape::Box { half, .. } => ObstacleShape::Box { half, turn: turn_of(yaw) },
            round @ ObstacleShape::Cylinder { .. } => round,
        };
        Self { shape, ..self }
    }

    /// The same, drawn in a look that the game declares.
    #[must_use]
    pub fn with_look(self, look: ObstacleLook) -> Self {
        Self { look: Some(look), ..self }
    }

    /// The obstacle as clients read it.
    ///
    /// # Panics
    /// If it is not finite.
    #[must_use]
    pub fn quantised(self) -> Self {
        Self { centre: self.centre.quantised(), shape: self.shape.quantised(), ..self }
    }

    /// Metres along the ground from `position` to the nearest point of the obstacle; 0 inside.
    pub fn ground_distance(&self, position: Position) -> f32 {
        self.on_wire(None).ground_distance(position)
    }

    /// The same as an obstacle that an object has; its look is one of `looks`, which are those of
    /// `Game::SCENERY`.
    ///
    /// # Panics
    /// If it has another look: a bug of the game.
    #[track_caller]
    pub fn placed(&self, looks: &[ObstacleLook]) -> StaticObstacle {
        let look = self.look.map(|look| {
            let index = looks.iter().position(|declared| *declared == look);
            index
                .unwrap_or_else(|| panic!("the look of an obstacle, {look:?}, is not in {looks:?}"))
        });
        self.quantised().on_wire(look.map(|index| index as u8))
    }

    fn on_wire(&self, look: Option<u8>) -> StaticObstacle {
        StaticObstacle { centre: self.centre, shape: self.shape, look }
    }
}

impl Statics {
    /// Without obstacles; these may have the looks that a game declares.
    pub fn new(looks: Vec<ObstacleLook>) -> Self {
        Self { looks, ..Self::default() }
    }

    /// Those of a map that a client has received, without their looks.
    pub fn of_map(map: &StaticMap) -> Self {
        let mut statics = Self::default();
        for &StaticObstacle { centre, shape, .. } in &map.obstacles {
            statics.add(Obstacle { centre, shape, look: None });
        }
        statics.finish();
        statics
    }

    /// Adds an obstacle, rounded to what clients read.
    ///
    /// # Panics
    /// If there are more obstacles than clients can receive ([`MAX_OBSTACLES`]), if it is not
    /// finite, or if the game does not declare its look: a bug of the game.
    #[track_caller]
    pub fn add(&mut self, obstacle: Obstacle) {
        assert!(
            self.obstacles.len() < MAX_OBSTACLES,
            "a map has at most {MAX_OBSTACLES} obstacles"
        );
        let obstacle = obstacle.quantised();
        if let Some(look) = obstacle.look {
            assert!(
                self.looks.contains(&look),
                "the game does not declare {look:?} of an obstacle, but {:?}: add it to the looks \
                 of obstacles in `Game::SCENERY`",
                self.looks
            );
        }
        let solid = Solid::new(&obstacle);
        self.tree.push(solid.bounds());
        self.solids.push(solid);
        self.obstacles.push(obstacle);
    }

    /// Makes queries faster, when all or most obstacles are there. Queries give the same answers
    /// before.
    pub fn finish(&mut self) {
        self.tree.build();
    }

    /// Replaces the obstacles that an object has, by a number that the caller chooses; none takes
    /// them away. They are rounded to what clients read. Cost: what the object has, and now and
    /// then all that objects have.
    pub fn place(&mut self, object: u64, obstacles: &[StaticObstacle]) {
        let solids = obstacles.iter().map(|&StaticObstacle { centre, shape, .. }| {
            let solid = Solid::new(&Obstacle { centre, shape, look: None }.quantised());
            (solid.bounds(), solid)
        });
        self.placed.set(object, solids);
    }

    /// Takes away all that objects have.
    pub fn clear_placed(&mut self) {
        self.placed = PlacedObstacles::default();
    }

    /// All obstacles of the map, in the order in which they were added.
    pub fn obstacles(&self) -> &[Obstacle] {
        &self.obstacles
    }

    /// The encoded [`StaticMap`] for clients, without what objects have. Empty without obstacles.
    pub fn encode(&self) -> Bytes {
        if self.obstacles.is_empty() {
            return Bytes::new();
        }
        let index_of = |look| self.looks.iter().position(|declared| *declared == look);
        let obstacles = self.obstacles.iter().map(|obstacle| {
            // At most 15 looks.
            obstacle.on_wire(obstacle.look.and_then(index_of).map(|index| index as u8))
        });
        StaticMap { obstacles: obstacles.collect() }.encode().into()
    }

    /// Metres from `from` along `direction` (of any length above zero) to the first obstacle, if
    /// there is one within `max_m`.
    pub fn cast_ray(&self, from: Position, direction: Position, max_m: f32) -> Option<f32> {
        let from = vector(from);
        let direction = vector(direction).try_normalize()?;
        let mut first = None::<f32>;
        self.for_each_near_line(from, direction * max_m.min(FARTHEST_M), 0.0, |solid| {
            let Some((enter, exit)) = solid.line(from, direction) else {
                return;
            };
            let enter = enter.max(0.0);
            if enter <= exit.min(max_m) && first.is_none_or(|first| enter < first) {
                first = Some(enter);
            }
        });
        first
    }

    /// Whether an obstacle is between two points, or contains one of them. Faster than
    /// [`Statics::cast_ray`], since any obstacle will do.
    pub fn is_between(&self, from: Position, to: Position) -> bool {
        let from = vector(from);
        let to = vector(to);
        let meets = |(enter, exit): (f32, f32)| enter.max(0.0) <= exit.min(1.0);
        let line = Line::new(from, to - from, 0.0);
        self.any(
            |node| node.near_line(&line),
            |solid| solid.line(from, to - from).is_some_and(meets),
        )
    }

    /// How many metres a ball of `radius_m` that rests on `from` can roll towards `to`: at most the
    /// whole distance.
    ///
    /// The ball is treated as wider by the gap that it keeps. A ball that is closer to an obstacle
    /// already, because it stopped there before, keeps its real size for that one. An obstacle that
    /// it moves away from, or along, does not stop it.
    pub fn sweep(&self, from: Position, to: Position, radius_m: f32) -> f32 {
        let distance_m = from.distance(to);
        let Some(direction) = (vector(to) - vector(from)).try_normalize() else {
            return 0.0;
        };
        let start = centre(from, radius_m);
        let mut free_m = distance_m;
        self.for_each_near_line(start, direction * distance_m, radius_m + SKIN_M, |solid| {
            if let Some(way_m) = free_way(solid, start, direction, distance_m, radius_m) {
                free_m = free_m.min(way_m);
            }
        });
        free_m
    }

    /// The target, or where a ball of `radius_m` that rolls straight towards it stops before.
    #[must_use]
    pub fn first_stop(&self, from: Position, target: Position, radius_m: f32) -> Position {
        let distance_m = from.distance(target);
        let free_m = self.sweep(from, target, radius_m);
        if free_m < distance_m { from.lerp(target, free_m / distance_m) } else { target }
    }

    /// Whether a ball of `radius_m` that rests on `position` touches an obstacle.
    pub fn is_blocked(&self, position: Position, radius_m: f32) -> bool {
        let centre = centre(position, radius_m);
        let bounds = Aabb::new(centre, centre).loosened(radius_m.max(0.0));
        self.any(
            |node| node.overlapping(&bounds),
            |solid| solid.surface(centre).distance_m <= radius_m,
        )
    }

    /// The obstacles whose bounds are within `width` of a line, and some more.
    fn for_each_near_line(
        &self,
        from: Vector,
        way: Vector,
        width: f32,
        mut visit: impl FnMut(&Solid),
    ) {
        let line = Line::new(from, way, width);
        let visit_each = |solid: &Solid| {
            visit(solid);
            false
        };
        self.any(|node| node.near_line(&line), visit_each);
    }

    /// Whether one of those that `meets` selects is as `is_wanted` says, in any order.
    #[inline]
    fn any(&self, meets: impl Fn(&Node) -> u32, mut is_wanted: impl FnMut(&Solid) -> bool) -> bool {
        self.tree.any(&meets, |index| is_wanted(&self.solids[index as usize]))
            || self.placed.any(&meets, is_wanted)
    }
}

impl fmt::Debug for Statics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (count, placed) = (self.obstacles.len(), self.placed.len());
        f.debug_struct("Statics")
            .field("obstacles", &count)
            .field("placed", &placed)
            .finish_non_exhaustive()
    }
}

/// Metres after which a ball has to stop before an obstacle; `None` if it need not.
fn free_way(
    solid: &Solid,
    start: Vector,
    direction: Vector,
    distance_m: f32,
    radius_m: f32,
) -> Option<f32> {
    let kept = radius_m + SKIN_M;
    if solid.surface(start).distance_m >= kept {
        let contact = solid.first_contact(start, direction, distance_m, kept)?;
        return Some(contact.way_m);
    }
    let contact = solid.first_contact(start, direction, distance_m, radius_m)?;
    Some((contact.way_m - SKIN_M / contact.approach).max(0.0))
}

/// The centre of a ball that rests on `position`.
fn centre(position: Position, radius_m: f32) -> Vector {
    vector(position) + Vector::new(0.0, 0.0, radius_m)
}

fn vector(position: Position) -> Vector {
    Vector::new(position.x, position.y, position.z)
}

#[cfg(test)]
mod tests;
