//! Ships that the server steers where players are missing.
//!
//! A pilot knows what a player in its ship would know, and does what a player can do: it holds the
//! same controls. It flies at the nearest opponent in sight, aims where that will be, and not too
//! well; without one it flies from place to place, and it turns away from walls.

use ambit::prelude::*;

use crate::Ship;
use crate::flight::{Helm, along, direction, free_place, wrapped};
use crate::tables::TABLES;
use crate::{Craft, Shooter, ShooterWorld};

/// What a pilot has in mind.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Course {
    to: Position,
    /// Then it chooses another place.
    until: GameTime,
}

impl Shooter {
    /// What the pilot of a ship holds during the next tick.
    pub(crate) fn pilot(
        &self,
        world: &mut ShooterWorld,
        ship: Id<Ship>,
        craft: &Craft,
        course: &mut Course,
    ) -> Helm {
        let table = &TABLES.pilot;
        if let Some(clear_yaw) = way_out(world, craft) {
            let turn = wrapped(clear_yaw - craft.yaw);
            return Helm { left: turn > 0.0, right: turn <= 0.0, brakes: true, ..Helm::default() };
        }
        let target = self.nearest_opponent(world, ship, craft);
        let aim = if let Some(target) = target {
            let error = (world.rng().f32() - 0.5) * 2.0 * table.aim_error_rad;
            bearing(craft.at, lead(craft.at, target)) + error
        } else {
            if world.now() >= course.until || craft.at.ground_distance(course.to) < 10.0 {
                course.to = free_place(world, TABLES.ship.radius_m);
                course.until = world.now() + Duration::from_secs_f32(table.roams_for_s);
            }
            bearing(craft.at, course.to)
        };
        let turn = wrapped(aim - craft.yaw);
        let dead = TABLES.ship.turn_rad_per_s * 0.03;
        let fires = target.is_some_and(|target| {
            turn.abs() < table.fires_within_rad
                && craft.at.ground_distance(target.at) < table.fires_within_m
        });
        // Near a target it keeps a distance.
        let is_close = target.is_some_and(|target| craft.at.ground_distance(target.at) < 25.0);
        Helm {
            left: turn > dead,
            right: turn < -dead,
            accelerates: !is_close && turn.abs() < 1.0,
            brakes: is_close && craft.speed > 8.0,
            fires,
        }
    }

    fn nearest_opponent(
        &self,
        world: &ShooterWorld,
        ship: Id<Ship>,
        craft: &Craft,
    ) -> Option<&Craft> {
        let is_opponent = |other: &Craft| self.teams == 0 || other.team != craft.team;
        let seen = self.crafts.iter().filter(|&(&other, it)| {
            other != ship && is_opponent(it) && self.sees(world, ship, other.object(), Sight::New)
        });
        let distance = |it: &Craft| craft.at.ground_distance(it.at);
        seen.map(|(_, it)| it).min_by(|a, b| distance(a).total_cmp(&distance(b)))
    }
}

/// The heading from one place to another.
fn bearing(from: Position, to: Position) -> f32 {
    (to.y - from.y).atan2(to.x - from.x)
}

/// Where a missile that is fired now would meet the target, if that flies straight on.
fn lead(from: Position, target: &Craft) -> Position {
    let seconds = from.ground_distance(target.at) / TABLES.missile.speed_m_per_s;
    along(target.at, target.yaw, target.speed * seconds)
}

/// The heading of the freer side, if there is a wall or the border ahead.
fn way_out(world: &ShooterWorld, craft: &Craft) -> Option<f32> {
    let ahead = TABLES.pilot.looks_ahead_m;
    let free = |yaw: f32| {
        let end = along(craft.at, yaw, ahead);
        let wall = world.statics().cast_ray(craft.at, direction(yaw), ahead).unwrap_or(ahead);
        wall.min(craft.at.ground_distance(world.nearest_on_map(end)))
    };
    if free(craft.yaw) >= ahead * 0.9 {
        return None;
    }
    let (left, right) = (craft.yaw + 1.2, craft.yaw - 1.2);
    Some(if free(left) >= free(right) { left } else { right })
}
