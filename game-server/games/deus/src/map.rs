//! The map: pillars and walls of a hall, and free places in it.

use ambit::Rng;
use ambit::prelude::*;
use ambit::statics::Obstacle;

use crate::DeusWorld;

/// Half the width of a hero or a monster.
pub(crate) const BODY_RADIUS_M: f32 = 0.45;
/// Nothing stands so near to the middle, where heroes begin.
const CLEARING_M: f32 = 6.0;
const WALL_HEIGHT_M: f32 = 3.0;
/// A pillar for so many square metres.
const M2_PER_PILLAR: f32 = 130.0;
const MAX_TRIES: u32 = 64;

/// Adds the walls around the map, and pillars.
pub(crate) fn add_walls(world: &mut DeusWorld, rng: &mut Rng) {
    let (width, height) = (world.width(), world.height());
    let middle = world.centre();
    let pillars = (width * height / M2_PER_PILLAR) as u32;
    for _ in 0..pillars {
        let (x, y) = (rng.f32() * width, rng.f32() * height);
        let (half_x, half_y) = match rng.u8(..3) {
            0 => (0.5 + rng.f32() * 2.5, 0.4),
            1 => (0.4, 0.5 + rng.f32() * 2.5),
            _ => (0.8, 0.8),
        };
        let is_inside = x > half_x && x < width - half_x && y > half_y && y < height - half_y;
        let pillar = Obstacle::on_ground(x, y, half_x, half_y, WALL_HEIGHT_M);
        if is_inside && pillar.ground_distance(middle) > CLEARING_M {
            world.statics_mut().add(pillar);
        }
    }
}

/// A free place near the middle.
pub(crate) fn place_to_begin(world: &DeusWorld, rng: &mut Rng) -> Position {
    let middle = world.centre();
    let (angle, radius) = (rng.f32() * std::f32::consts::TAU, rng.f32().sqrt() * 4.0);
    let place =
        Position::on_ground(middle.x + radius * angle.cos(), middle.y + radius * angle.sin());
    free_or(world, place, middle)
}

/// A free place at least so far from all of these, if there is one.
pub(crate) fn place_away_from(
    world: &DeusWorld,
    others: &[Position],
    least_m: f32,
    rng: &mut Rng,
) -> Position {
    let mut best = (0.0, world.centre());
    for _ in 0..MAX_TRIES {
        let (x, y) = (rng.f32() * world.width(), rng.f32() * world.height());
        let place = Position::on_ground(x, y);
        if world.statics().is_blocked(place, BODY_RADIUS_M) {
            continue;
        }
        let distance = |other: &Position| other.ground_distance(place);
        let nearest = others.iter().map(distance).fold(f32::MAX, f32::min);
        if nearest >= least_m {
            return place;
        }
        if nearest > best.0 {
            best = (nearest, place);
        }
    }
    best.1
}

fn free_or(world: &DeusWorld, place: Position, instead: Position) -> Position {
    let is_free = world.is_on_map(place) && !world.statics().is_blocked(place, BODY_RADIUS_M);
    if is_free { place } else { instead }
}
