//! Obstacles, missiles, and what hits what.
//!
//! A missile is a straight path that is known when it is fired; what it hits is found out tick by
//! tick, in the order of time. Cost: ships, missiles, and what is near them.
//!
//! Invariant: on each map that [`check_map`] accepts there is a place where a ship can fly
//! [`MOVES_M`] in each direction, and each ship begins at such a place. Asteroids keep off some of
//! these places, and leave a gap for a ship around themselves.

use std::f32::consts::TAU;

use ambit::contact::first_contact;
use ambit::prelude::*;
use ambit::statics::Obstacle;

use crate::{ASTEROID, Bang, Boom, Fired, Hit, Missile, Ship, ShooterTimer, TABLES, WALL};
use crate::{Craft, Shooter, ShooterWorld, Shot, ShotTiming};

/// The height of walls and asteroids: nothing flies over them.
const HEIGHT_M: f32 = 4.0;
/// Attempts to find a free place by chance.
const TRIES: u32 = 64;
/// Then this number of places along each side of the map is tried in turn.
const GRID: u16 = 48;
/// How far a ship can fly in each direction from where it begins.
const MOVES_M: f32 = 3.0;
/// Room around what stands, by which it is not touched at once.
const SKIN_M: f32 = 0.5;
/// The least side of a map: on a smaller one the walls leave no room.
pub(crate) const LEAST_SIDE_M: f32 = 40.0;
/// The least area for each asteroid.
const M2_PER_ASTEROID: f64 = 400.0;
/// Asteroids keep off this number of places, over the whole map, where ships can begin.
const CLEARINGS: usize = 4;
/// A ship comes back at the best of this number of free places.
const PLACES: usize = 12;

/// The direction of a heading, of length 1.
pub(crate) fn direction(yaw: f32) -> Position {
    let (sin, cos) = yaw.sin_cos();
    Position::on_ground(cos, sin)
}

/// The point at a distance from a place, along a heading.
pub(crate) fn along(from: Position, yaw: f32, metres: f32) -> Position {
    let way = direction(yaw);
    Position { x: from.x + way.x * metres, y: from.y + way.y * metres, ..from }
}

/// An angle from minus pi to pi.
pub(crate) fn wrapped(angle: f32) -> f32 {
    (angle + TAU / 2.0).rem_euclid(TAU) - TAU / 2.0
}

pub(crate) fn add_walls(world: &mut ShooterWorld) {
    let width = world.width();
    let height = world.height();
    for wall in &TABLES.walls {
        let (x, y) = (wall.x * width, wall.y * height);
        let half_x = wall.half_x * width;
        let half_y = wall.half_y * height;
        let block = Obstacle::on_ground(x, y, half_x, half_y, HEIGHT_M);
        world.statics_mut().add(block.turned(wall.turn_rad).with_look(WALL));
    }
}

/// The largest number of asteroids between which ships can fly.
pub(crate) fn most_asteroids((width, height): (f32, f32)) -> u32 {
    (f64::from(width) * f64::from(height) / M2_PER_ASTEROID) as u32
}

/// Adds asteroids; one for which there is no place is left out.
pub(crate) fn add_asteroids(world: &mut ShooterWorld, count: u32) {
    let table = &TABLES.asteroid;
    let free: Vec<Position> = grid_places(world, start_radius_m()).collect();
    let step = free.len().div_ceil(CLEARINGS).max(1);
    let clearings: Vec<Position> = free.into_iter().skip(step / 2).step_by(step).collect();
    let gap_m = 2.0 * TABLES.ship.radius_m + SKIN_M;
    for _ in 0..count {
        let wider_m = table.greatest_radius_m - table.least_radius_m;
        let radius_m = table.least_radius_m + world.rng().f32() * wider_m;
        for _ in 0..TRIES {
            let at = random_place(world, radius_m);
            let keeps_off = radius_m + start_radius_m();
            if clearings.iter().all(|clearing| clearing.ground_distance(at) >= keeps_off)
                && !world.statics().is_blocked(at, radius_m + gap_m)
            {
                let asteroid = Obstacle::round(at.x, at.y, radius_m, HEIGHT_M);
                world.statics_mut().add(asteroid.with_look(ASTEROID));
                break;
            }
        }
    }
}

/// A place where a ship can begin: it can fly away from there.
pub(crate) fn start_place(world: &mut ShooterWorld) -> Position {
    let radius_m = start_radius_m();
    for _ in 0..TRIES {
        let place = random_place(world, radius_m);
        if !world.statics().is_blocked(place, radius_m) {
            return place;
        }
    }
    let free: Vec<Position> = grid_places(world, radius_m).collect();
    let chosen = world.rng().usize(..free.len().max(1));
    free.get(chosen).copied().unwrap_or_else(|| world.centre())
}

/// The radius around the place where a ship begins in which there is nothing.
fn start_radius_m() -> f32 {
    TABLES.ship.radius_m + MOVES_M + SKIN_M
}

/// Any place that is at least `radius_m` from the borders.
fn random_place(world: &mut ShooterWorld, radius_m: f32) -> Position {
    let width = world.width() - 2.0 * radius_m;
    let height = world.height() - 2.0 * radius_m;
    let (x, y) = (world.rng().f32() * width, world.rng().f32() * height);
    Position::on_ground(x + radius_m, y + radius_m)
}

/// The places of a grid over the map around which there is nothing within this radius.
fn grid_places(world: &ShooterWorld, radius_m: f32) -> impl Iterator<Item = Position> {
    let along = move |extent: f32, number: u16| {
        radius_m + (extent - 2.0 * radius_m) * f32::from(number) / f32::from(GRID - 1)
    };
    let places = (0..GRID).flat_map(move |y| (0..GRID).map(move |x| (x, y)));
    let places = places
        .map(move |(x, y)| Position::on_ground(along(world.width(), x), along(world.height(), y)));
    places.filter(move |place| !world.statics().is_blocked(*place, radius_m))
}

/// The heading from one place to another.
pub(crate) fn bearing(from: Position, to: Position) -> f32 {
    (to.y - from.y).atan2(to.x - from.x)
}

/// The heading of a ship that begins there: what there is to see lies towards the middle.
pub(crate) fn towards_middle(world: &ShooterWorld, at: Position) -> f32 {
    bearing(at, world.centre())
}

impl Shooter {
    /// Fires a missile if the ship is ready.
    pub(crate) fn fire(&mut self, world: &mut ShooterWorld, ship: Id<Ship>, craft: &mut Craft) {
        let now = world.now();
        if now < craft.ready_at || !self.is_playing() {
            return;
        }
        let Some(rule) = Ship::shots() else { return };
        craft.ready_at = now + rule.reload;
        craft.shots += 1;
        let Some((nose, end)) = rule.way(&craft.movement, world.terrain()) else { return };
        let missile = world.spawn(Missile { path: Path::at(nose) });
        let arrival = world
            .edit(missile)
            .map_or(now, |mut missile| missile.path().walk_to(end, rule.speed_m_per_s));
        world.at(arrival, ShooterTimer::Vanish(missile));
        let player = craft.player.filter(|_| self.shot_timing == ShotTiming::Rewound);
        let behind = player.map_or(Duration::ZERO, |player| now.since(world.shown_to(player)));
        self.missiles.insert(missile, Shot { by: ship, player, behind });
        if now >= craft.keeps_shield_until
            && let Some(mut ship) = world.edit(ship)
            && ship.shielded().is_on()
        {
            ship.shielded().set(false);
        }
        world.emit(Fired { ship }).heard::<Bang>(TABLES.missile.heard_m);
    }

    /// Finds the ships that missiles have hit since the last tick. Obstacles end a missile's path.
    pub(crate) fn find_hits(&mut self, world: &mut ShooterWorld) {
        let span = (world.previous_now(), world.now());
        let mut hits = Vec::new();
        let mut near: Vec<Id<Ship>> = Vec::new();
        for (&missile, shot) in &self.missiles {
            let by = shot.by;
            let Some(at) = world.position(missile) else { continue };
            let seconds = span.1.since(span.0).as_secs_f32();
            let reach = TABLES.ship.radius_m;
            let radius_m = TABLES.missile.speed_m_per_s * seconds + reach;
            // It hits what was hit on the screen of the player who fired it.
            let seen = shot
                .player
                .map(|player| world.as_seen_by(player, span.1.saturating_sub(shot.behind)));
            match &seen {
                Some(seen) => seen.find_within(at, radius_m, &mut near),
                None => world.find_within(at, radius_m, &mut near),
            }
            let targets = near.iter().filter(|&&target| self.may_hit(world, by, target));
            let contacts = targets.filter_map(|&target| {
                let other = match &seen {
                    Some(seen) => seen.motion(target)?,
                    None => world.motion(target)?,
                };
                let one = world.motion(missile)?;
                Some((first_contact(one, other, span, reach)?, target))
            });
            let first = contacts.min_by_key(|&(time, _)| time);
            hits.extend(first.map(|(time, target)| (time, missile, by, target)));
        }
        hits.sort_unstable_by_key(|&(time, missile, ..)| (time, missile));
        for (time, missile, by, target) in hits {
            self.hit(world, time, (missile, by), target);
        }
    }

    fn may_hit(&self, world: &ShooterWorld, by: Id<Ship>, target: Id<Ship>) -> bool {
        let Some(craft) = self.crafts.get(&target) else { return false };
        // A missile may fly on after the player who fired it has left.
        let is_friend = self.crafts.get(&by).is_some_and(|by| self.are_friends(by, craft));
        by != target && !is_friend && !Self::is_shielded(world, target)
    }

    /// A ship that was hit is elsewhere, at rest: as far as possible from who may fire at it, and
    /// from where it was.
    pub(crate) fn come_back(&mut self, world: &mut ShooterWorld, ship: Id<Ship>) {
        let Some(craft) = self.crafts.get(&ship) else { return };
        let others = self.crafts.iter().filter(|&(other, it)| {
            *other != ship && !self.are_friends(it, craft) && world.contains(*other)
        });
        let others = others.map(|(_, it)| it.movement.at);
        let avoided: Vec<Position> = others.chain([craft.movement.at]).collect();
        let distance = |place: &Position| {
            avoided.iter().map(|at| at.ground_distance(*place)).fold(f32::INFINITY, f32::min)
        };
        let places: [Position; PLACES] = std::array::from_fn(|_| start_place(world));
        let farthest = places.into_iter().max_by(|a, b| distance(a).total_cmp(&distance(b)));
        let (Some(at), now) = (farthest, world.now()) else { return };
        let table = &TABLES.ship;
        let shield = Duration::from_secs_f32(table.shield_s);
        if let Some(craft) = self.crafts.get_mut(&ship) {
            craft.movement = Movement::at_rest(at, towards_middle(world, at));
            craft.shielded_until = now + shield;
            craft.keeps_shield_until = now + Duration::from_secs_f32(table.keeps_shield_s);
        }
        if let Some(mut ship) = world.edit(ship) {
            ship.wrecked().set(false);
            ship.pose().put_at(at);
        }
        world.after(shield, ShooterTimer::Unshield(ship));
    }

    fn hit(
        &mut self,
        world: &mut ShooterWorld,
        time: GameTime,
        (missile, by): (Id<Missile>, Id<Ship>),
        target: Id<Ship>,
    ) {
        let at = world.get(missile).map_or_else(Position::default, |it| it.position_at(time));
        self.missiles.remove(&missile);
        world.despawn_at(missile, time);
        // Two missiles may have hit in one tick: the first one counts.
        if !self.may_hit(world, by, target) {
            return;
        }
        if let Some(mut ship) = world.edit(target) {
            ship.shielded().set(true);
            ship.wrecked().set(true);
        }
        // The hit is seen where it was; then the ship is elsewhere. Until then its shield holds.
        let back_after = Duration::from_secs_f32(TABLES.ship.back_after_s);
        if let Some(craft) = self.crafts.get_mut(&target) {
            craft.shielded_until = GameTime::MAX;
            craft.keeps_shield_until = GameTime::MAX;
        }
        world.after(back_after, ShooterTimer::ComeBack(target));
        let by_ship = Some(by).filter(|&by| world.contains(by));
        let seed = world.rng().u16(..);
        let hit = Hit { target, by: by_ship, at, seed };
        world.emit(hit).heard::<Boom>(TABLES.missile.heard_m).at(time);
        self.score_hit(world, by, target);
    }
}
