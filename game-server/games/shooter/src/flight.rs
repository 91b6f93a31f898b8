//! How ships, missiles and asteroids move, and what hits what.
//!
//! A ship turns, and flies where its nose points. Walls, asteroids and the map's border stop it. A
//! missile is a straight path that is known when it is fired; what it hits is found out tick by
//! tick, in the order of time. Cost: ships, missiles, and what is near them.

use std::f32::consts::TAU;

use ambit::contact::first_contact;
use ambit::prelude::*;
use ambit::statics::Obstacle;

use crate::tables::TABLES;
use crate::{Asteroid, Bang, Boom, Fired, Hit, Missile, Ship, ShipControl, ShooterTimer};
use crate::{Craft, Shooter, ShooterWorld};

/// The height of a wall: nothing flies over it.
const WALL_HEIGHT_M: f32 = 4.0;
/// Attempts to find a free place.
const TRIES: u32 = 64;

/// What a craft's player or pilot holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Helm {
    pub(crate) left: bool,
    pub(crate) right: bool,
    pub(crate) accelerates: bool,
    pub(crate) brakes: bool,
    pub(crate) fires: bool,
}

impl Helm {
    pub(crate) fn of_player(world: &ShooterWorld, player: PlayerId) -> Self {
        let holds = |control| world.pressed(player, control);
        Self {
            left: holds(ShipControl::TurnLeft),
            right: holds(ShipControl::TurnRight),
            accelerates: holds(ShipControl::Accelerate),
            brakes: holds(ShipControl::Brake),
            fires: holds(ShipControl::Fire),
        }
    }
}

/// The direction of a heading, of length 1.
pub(crate) fn direction(yaw: f32) -> Position {
    let (sin, cos) = yaw.sin_cos();
    Position::on_ground(cos, sin)
}

/// So far along a direction from a place.
pub(crate) fn along(from: Position, yaw: f32, metres: f32) -> Position {
    let way = direction(yaw);
    Position { x: from.x + way.x * metres, y: from.y + way.y * metres, ..from }
}

/// An angle from minus pi to pi.
pub(crate) fn wrapped(angle: f32) -> f32 {
    (angle + TAU / 2.0).rem_euclid(TAU) - TAU / 2.0
}

pub(crate) fn add_walls(world: &mut ShooterWorld) {
    let (width, height) = (world.width(), world.height());
    for wall in &TABLES.walls {
        let (x, y) = (wall.x * width, wall.y * height);
        let (half_x, half_y) = (wall.half_x * width, wall.half_y * height);
        let block = Obstacle::on_ground(x, y, half_x, half_y, WALL_HEIGHT_M);
        world.statics_mut().add_box(block);
    }
}

/// A place without walls around it; by chance another one after many attempts.
pub(crate) fn free_place(world: &mut ShooterWorld, radius_m: f32) -> Position {
    let (width, height) = (world.width() - 2.0 * radius_m, world.height() - 2.0 * radius_m);
    let mut place = world.centre();
    for _ in 0..TRIES {
        let (x, y) = (world.rng().f32() * width, world.rng().f32() * height);
        place = Position::on_ground(x + radius_m, y + radius_m);
        if !world.statics().is_blocked(place, radius_m) {
            break;
        }
    }
    place
}

/// Moves a ship by what its helm says.
pub(crate) fn fly(world: &mut ShooterWorld, ship: Id<Ship>, craft: &mut Craft, dt: f32) {
    let table = &TABLES.ship;
    let helm = craft.helm;
    let turn = f32::from(i8::from(helm.left) - i8::from(helm.right));
    craft.yaw = wrapped(craft.yaw + turn * table.turn_rad_per_s * dt);
    let change = if helm.accelerates { table.acceleration_m_per_s2 } else { 0.0 }
        - if helm.brakes { table.braking_m_per_s2 } else { 0.0 }
        - table.drag_m_per_s2;
    craft.speed = (craft.speed + change * dt).clamp(0.0, table.top_speed_m_per_s);
    if craft.speed > 0.0 {
        let wanted = world.nearest_on_map(along(craft.at, craft.yaw, craft.speed * dt));
        let way = craft.at.ground_distance(wanted);
        let free = world.statics().sweep(craft.at, wanted, table.radius_m);
        let next = along(craft.at, craft.yaw, free.min(way));
        let is_stopped = free < way || way < craft.speed * dt * 0.5;
        if is_stopped || meets_asteroid(world, craft.at, next) {
            craft.speed *= table.bump_keeps;
        } else {
            craft.at = next;
        }
    }
    if let Some(mut editor) = world.edit(ship) {
        editor.pose().set(craft.at, craft.yaw, craft.speed);
    }
}

/// Whether a ship on this way comes nearer to an asteroid that it touches.
fn meets_asteroid(world: &ShooterWorld, from: Position, to: Position) -> bool {
    let reach = TABLES.ship.radius_m + TABLES.asteroid.radius_m;
    let mut near: Vec<Id<Asteroid>> = Vec::new();
    world.find_within(to, reach, &mut near);
    let places = near.iter().filter_map(|&asteroid| world.position(asteroid));
    let mut nearer = places.map(|at| to.ground_distance(at) < from.ground_distance(at));
    nearer.any(|is_nearer| is_nearer)
}

pub(crate) fn spawn_asteroids(world: &mut ShooterWorld, count: u32) {
    for _ in 0..count {
        let place = free_place(world, TABLES.asteroid.radius_m);
        let asteroid = world.spawn(Asteroid { path: Path::at(place) });
        drift(world, asteroid);
    }
}

/// The next leg of an asteroid.
pub(crate) fn drift(world: &mut ShooterWorld, asteroid: Id<Asteroid>) {
    let table = &TABLES.asteroid;
    let yaw = world.rng().f32() * TAU;
    let Some(here) = world.position(asteroid) else { return };
    let end = world.end_on_map(here, along(here, yaw, table.leg_m));
    let free = world.statics().sweep(here, end, table.radius_m);
    let end = along(here, yaw, free.min(here.ground_distance(end)));
    let now = world.now();
    let arrival =
        world.edit(asteroid).map_or(now, |mut it| it.path().walk_to(end, table.speed_m_per_s));
    world.at(arrival.max(now + 1.secs()), ShooterTimer::Drift(asteroid));
}

impl Shooter {
    /// Fires a missile if the ship is ready.
    pub(crate) fn fire(&mut self, world: &mut ShooterWorld, ship: Id<Ship>, craft: &mut Craft) {
        let now = world.now();
        if !craft.helm.fires || now < craft.ready_at || !self.is_playing() {
            return;
        }
        let table = &TABLES.missile;
        craft.ready_at = now + Duration::from_secs_f32(table.reload_s);
        craft.shots += 1;
        let free = |from, metres: f32| {
            world.statics().cast_ray(from, direction(craft.yaw), metres).unwrap_or(metres)
        };
        if free(craft.at, table.nose_m) < table.nose_m {
            // Into the wall before its nose.
            return;
        }
        let nose = world.end_on_map(craft.at, along(craft.at, craft.yaw, table.nose_m));
        let end = world.end_on_map(nose, along(nose, craft.yaw, free(nose, table.range_m)));
        let missile = world.spawn(Missile { path: Path::at(nose) });
        let arrival = world
            .edit(missile)
            .map_or(now, |mut missile| missile.path().walk_to(end, table.speed_m_per_s));
        world.at(arrival, ShooterTimer::Vanish(missile));
        self.missiles.insert(missile, ship);
        world.emit(Fired { ship }).heard::<Bang>(TABLES.missile.heard_m);
    }

    /// Finds what missiles have hit since the last tick.
    pub(crate) fn find_hits(&mut self, world: &mut ShooterWorld) {
        let span = (world.previous_now(), world.now());
        let mut hits = Vec::new();
        for (&missile, &by) in &self.missiles {
            let Some(at) = world.position(missile) else { continue };
            let seconds = span.1.since(span.0).as_secs_f32();
            let around = TABLES.missile.speed_m_per_s * seconds + TABLES.asteroid.radius_m;
            let mut first: Option<(GameTime, Option<Id<Ship>>)> = None;
            let mut note = |object: ObjectId, reach: f32, target: Option<Id<Ship>>| {
                let motions = world.motion(missile).zip(world.motion(object));
                let contact =
                    motions.and_then(|(one, other)| first_contact(one, other, span, reach));
                if let Some(time) = contact
                    && first.is_none_or(|(earliest, _)| time < earliest)
                {
                    first = Some((time, target));
                }
            };
            let mut near: Vec<ObjectId> = Vec::new();
            world.find_any_within(at, around, &mut near);
            for object in near {
                if let Some(target) = world.cast::<Ship>(object) {
                    if self.may_hit(world, by, target) {
                        note(object, TABLES.ship.radius_m, Some(target));
                    }
                } else if world.is::<Asteroid>(object) {
                    note(object, TABLES.asteroid.radius_m, None);
                }
            }
            hits.extend(first.map(|(time, target)| (time, missile, by, target)));
        }
        hits.sort_unstable_by_key(|&(time, missile, ..)| (time, missile));
        for (time, missile, by, target) in hits {
            self.hit(world, time, (missile, by), target);
        }
    }

    fn may_hit(&self, world: &ShooterWorld, by: Id<Ship>, target: Id<Ship>) -> bool {
        let teams = (self.crafts.get(&by).map(|craft| craft.team), self.crafts.get(&target));
        let (by_team, Some(craft)) = teams else { return false };
        let is_friend = self.teams > 0 && by_team == Some(craft.team);
        let is_shielded = world.get(target).is_none_or(|ship| ship.shielded().is_on());
        by != target && !is_friend && !is_shielded
    }

    fn hit(
        &mut self,
        world: &mut ShooterWorld,
        time: GameTime,
        (missile, by): (Id<Missile>, Id<Ship>),
        target: Option<Id<Ship>>,
    ) {
        let at = world.get(missile).map_or_else(Position::default, |it| it.position_at(time));
        self.missiles.remove(&missile);
        // Two missiles may have hit in one tick: the first one counts.
        let target = target.filter(|&target| self.may_hit(world, by, target));
        world.despawn_at(missile, time);
        let Some(target) = target else { return };
        if let Some(mut ship) = world.edit(target) {
            ship.shielded().set(true);
        }
        world.after(Duration::from_secs_f32(TABLES.ship.shield_s), ShooterTimer::Unshield(target));
        let by_ship = Some(by).filter(|&by| world.contains(by));
        world.emit(Hit { target, by: by_ship, at }).heard::<Boom>(TABLES.missile.heard_m).at(time);
        self.score_hit(world, by, target);
    }
}
