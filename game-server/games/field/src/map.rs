//! The map: random obstacles, and free positions between them.
//!
//! Invariants: a small circle around the middle of the map is always free, so there is a free
//! position on any map; obstacles are entirely on the map and cover at most a quarter of it. Units:
//! metres.

use ambit::statics::{Obstacle, SKIN_M};
use ambit::{Position, Rng};

use super::FieldWorld;
use super::rules::BODY_RADIUS_M;

/// The least area for each obstacle: a denser map would leave no way through.
const M2_PER_OBSTACLE: f64 = 8.0;

/// The spawn radius around the middle for few players. Two players are never more than a cell of 10
/// m apart, and so see each other.
const MIN_SPAWN_RADIUS_M: f32 = 4.9;
/// Up to this number of players the radius stays the same; then the circle's area grows with their
/// number.
const FEW_PLAYERS: usize = 8;
const MAX_SPAWN_RADIUS_M: f32 = 20.0;
/// Radius of the circle around the middle that is always free.
const CLEARING_M: f32 = 3.0;
/// Radius of the free circle around the arrival point of a gate; it includes the gate.
const ARRIVAL_CLEARING_M: f32 = 8.0;
/// Avatars arrive within this radius, so that they do not stand at one point.
const ARRIVAL_RADIUS_M: f32 = 1.5;
const OBSTACLE_HEIGHT_M: f32 = 3.0;
/// One obstacle in this many is a wall, the others are boxes.
const ONE_WALL_IN: u8 = 4;
/// Average area of an obstacle of full size.
const MEAN_OBSTACLE_M2: f32 = 11.0;
/// Obstacles cover at most this share of the map; if they would cover more, all are scaled down.
const MAX_COVER: f32 = 0.25;
/// Attempts to find a random free position before the middle is used.
const MAX_TRIES: u32 = 64;

/// The largest number of obstacles on a map.
pub(super) fn max_obstacles(width: f32, height: f32) -> u32 {
    (f64::from(width) * f64::from(height) / M2_PER_OBSTACLE) as u32
}

/// Adds `count` obstacles outside of the circles around the middle and `clearings`.
pub(super) fn add_obstacles(
    world: &mut FieldWorld,
    count: u32,
    clearings: &[Position],
    rng: &mut Rng,
) {
    let width = world.width();
    let height = world.height();
    let cover = count as f32 * MEAN_OBSTACLE_M2 / (width * height);
    let scale = (MAX_COVER / cover.max(MAX_COVER)).sqrt();
    for _ in 0..count {
        let block = random_obstacle(width, height, scale, clearings, rng);
        world.statics_mut().add(block);
    }
}

/// A random obstacle, smaller with each attempt that does not fit.
fn random_obstacle(
    width: f32,
    height: f32,
    scale: f32,
    clearings: &[Position],
    rng: &mut Rng,
) -> Obstacle {
    let (mut half_x, mut half_y) = half_extent(rng);
    let middle = Position::on_ground(width / 2.0, height / 2.0);
    half_x *= scale;
    half_y *= scale;
    for _ in 0..MAX_TRIES {
        let room_x = width - 2.0 * half_x;
        let room_y = height - 2.0 * half_y;
        let (x, y) = (half_x + rng.f32() * room_x, half_y + rng.f32() * room_y);
        let block = Obstacle::on_ground(x, y, half_x, half_y, OBSTACLE_HEIGHT_M);
        let is_clear = |place: &Position| block.ground_distance(*place) >= ARRIVAL_CLEARING_M;
        let keeps_off =
            block.ground_distance(middle) >= CLEARING_M && clearings.iter().all(is_clear);
        if room_x >= 0.0 && room_y >= 0.0 && keeps_off {
            return block;
        }
        half_x *= 0.9;
        half_y *= 0.9;
    }
    Obstacle::on_ground(half_x, half_y, half_x, half_y, OBSTACLE_HEIGHT_M) // In the corner.
}

fn half_extent(rng: &mut Rng) -> (f32, f32) {
    if rng.u8(..ONE_WALL_IN) > 0 {
        return (0.5 + rng.f32() * 2.5, 0.5 + rng.f32() * 2.5);
    }
    let length = 4.0 + rng.f32() * 6.0;
    let thickness = 0.25;
    if rng.bool() { (length, thickness) } else { (thickness, length) }
}

/// A random free position of the map.
pub(super) fn free_place(world: &FieldWorld, rng: &mut Rng) -> Position {
    let width = world.width();
    let height = world.height();
    let place = |rng: &mut Rng| Position::on_ground(rng.f32() * width, rng.f32() * height);
    first_free(world, rng, place)
}

/// A free position near the middle, where new players meet, for one of `crowd` players.
pub(super) fn spawn_place(world: &FieldWorld, crowd: usize, rng: &mut Rng) -> Position {
    free_place_around(world, world.centre(), spawn_radius(crowd), rng)
}

/// A free position where new players come by, however many there are.
pub(super) fn place_near_arrivals(world: &FieldWorld, rng: &mut Rng) -> Position {
    free_place_around(world, world.centre(), MAX_SPAWN_RADIUS_M, rng)
}

/// A free position near `at`, outside of the gates that lead away from there.
pub(super) fn place_near(world: &FieldWorld, at: Position, rng: &mut Rng) -> Position {
    let near = free_place_around(world, at, ARRIVAL_RADIUS_M, rng);
    if near.ground_distance(at) <= 2.0 * ARRIVAL_RADIUS_M { near } else { at }
}

fn spawn_radius(crowd: usize) -> f32 {
    (MIN_SPAWN_RADIUS_M * (crowd.max(FEW_PLAYERS) as f32 / FEW_PLAYERS as f32).sqrt())
        .min(MAX_SPAWN_RADIUS_M)
}

/// Whether a body can stand there, with a gap to all obstacles.
pub(super) fn is_free(world: &FieldWorld, position: Position) -> bool {
    world.is_on_map(position) && !world.statics().is_blocked(position, BODY_RADIUS_M + SKIN_M)
}

fn free_place_around(world: &FieldWorld, at: Position, radius: f32, rng: &mut Rng) -> Position {
    first_free(world, rng, |rng| {
        let (x, y) = in_unit_circle(rng);
        Position::on_ground(at.x + x * radius, at.y + y * radius)
    })
}

fn first_free(
    world: &FieldWorld,
    rng: &mut Rng,
    mut place: impl FnMut(&mut Rng) -> Position,
) -> Position {
    let mut places = (0..MAX_TRIES).map(|_| place(rng).quantised());
    places.find(|&position| is_free(world, position)).unwrap_or_else(|| world.centre())
}

/// Without trigonometry, whose last bits differ between platforms.
fn in_unit_circle(rng: &mut Rng) -> (f32, f32) {
    loop {
        let (x, y) = (rng.f32() * 2.0 - 1.0, rng.f32() * 2.0 - 1.0);
        if x * x + y * y <= 1.0 {
            return (x, y);
        }
    }
}

#[cfg(test)]
mod tests {
    use ambit::Typed;
    use ambit_room::config::RoomConfig;
    use ambit_room::logic::world::World as RoomWorld;

    use super::*;
    use crate::FieldGame;

    /// The most by which an obstacle is rounded: its centre by 3 mm, its half extents by 8 mm.
    const ROUNDING_M: f32 = 0.011;

    #[test]
    fn obstacles_lie_on_the_map_and_leave_its_middle_free() {
        for (width, height, count) in [
            (10.0, 10.0, 12),
            (200.0, 200.0, 5_000),
            (300.0, 10.0, 100),
            (10_000.0, 50.0, 5_000),
            (400.0, 400.0, 20_000),
        ] {
            let world = map(width, height, count, 1);
            assert_eq!(world.statics().obstacles().len(), count as usize);
            for block in world.statics().obstacles() {
                let [x, y, _] = block.shape.half();
                let inside = |centre: f32, half: f32, end: f32| {
                    centre - half >= -ROUNDING_M && centre + half <= end + ROUNDING_M
                };
                assert!(
                    inside(block.centre.x, x, width) && inside(block.centre.y, y, height),
                    "{block:?}"
                );
            }
            assert!(is_free(of(&world), world.middle()), "{width} x {height}");
        }
    }

    #[test]
    fn equal_seeds_give_equal_maps_and_other_seeds_do_not() {
        let boxes = |seed| map(200.0, 200.0, 40, seed).statics().obstacles().to_vec();
        assert_eq!(boxes(3), boxes(3));
        assert_ne!(boxes(3), boxes(4));
    }

    #[test]
    fn most_of_the_densest_map_is_free() {
        let world = map(200.0, 200.0, 5_000, 2);
        let mut rng = Rng::with_seed(1);
        let random_position =
            |rng: &mut Rng| Position::on_ground(rng.f32() * 200.0, rng.f32() * 200.0);
        let free = (0..2_000).filter(|_| is_free(of(&world), random_position(&mut rng))).count();
        assert!(free > 700, "{free} of 2000");
    }

    #[test]
    fn free_places_avoid_obstacles_and_cover_the_whole_map() {
        let world = map(200.0, 100.0, 800, 5);
        let mut rng = Rng::with_seed(1);
        let places: Vec<_> = (0..500).map(|_| free_place(of(&world), &mut rng)).collect();
        assert!(
            places.iter().all(|&place| is_free(of(&world), place) && place == place.quantised())
        );
        let quarter = |place: &Position| (place.x > 100.0, place.y > 50.0);
        for wanted in [(false, false), (false, true), (true, false), (true, true)] {
            assert!(places.iter().filter(|place| quarter(place) == wanted).count() > 80);
        }
    }

    #[test]
    fn the_first_players_spawn_close_together_and_off_obstacles() {
        let world = map(200.0, 200.0, 600, 6);
        let places: Vec<_> = (0..400)
            .map(|player| spawn_place(of(&world), 8, &mut world.rng_for(1, player)))
            .collect();
        let cell = |place: &Position| world.grid().cell_at(*place);
        for place in &places {
            assert!(is_free(of(&world), *place));
            assert!(places.iter().all(|other| cell(other).distance(cell(place)) <= 1));
        }
        assert!(places.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn many_new_players_spread_out_within_a_bound() {
        let world = map(200.0, 200.0, 600, 6);
        let far = |crowd| {
            let places = (0..400)
                .map(|player| spawn_place(of(&world), crowd, &mut world.rng_for(1, player)));
            places.map(|place| place.distance(world.middle())).fold(0.0, f32::max)
        };
        assert!(far(8) < far(32) && far(32) < far(100));
        assert!(far(10_000) <= MAX_SPAWN_RADIUS_M + 0.01);
    }

    #[test]
    fn on_a_tiny_map_new_players_spawn_on_the_map() {
        let world = map(10.0, 10.0, 12, 7);
        let mut rng = Rng::with_seed(1);
        assert!((0..200).all(|_| is_free(of(&world), spawn_place(of(&world), 8, &mut rng))));
    }

    fn map(width: f32, height: f32, count: u32, seed: u64) -> RoomWorld {
        let config = RoomConfig { width, height, ..RoomConfig::default() };
        let mut world = RoomWorld::new(&config, Typed::<FieldGame>::declared_schema());
        let field = FieldWorld::of_room_mut(&mut world);
        add_obstacles(field, count, &[], &mut Rng::with_seed(seed));
        world
    }

    fn of(world: &RoomWorld) -> &FieldWorld {
        FieldWorld::of_room(world)
    }
}
