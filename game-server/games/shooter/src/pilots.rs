//! Ships that the server steers where players are missing.
//!
//! A pilot knows what a player in its ship would know, and does what a player can do: it holds the
//! same controls. It flies at the nearest opponent in sight that can be hit, aims where that will
//! be, and not too well; without one it flies from place to place, and it turns away from walls.

use std::f32::consts::TAU;

use ambit::prelude::*;

use crate::Ship;
use crate::flight::{along, bearing, direction, start_place, wrapped};
use crate::{Craft, ShipControl, Shooter, ShooterWorld, TABLES};

/// Number of headings that a pilot before a wall looks at.
const HEADINGS: u8 = 24;

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
    ) -> Held<ShipControl> {
        let table = &TABLES.pilot;
        let Movement { at, yaw, .. } = craft.movement;
        if let Some(clear_yaw) = way_out(world, craft) {
            let turn = wrapped(clear_yaw - yaw);
            let side = if turn > 0.0 { ShipControl::TurnLeft } else { ShipControl::TurnRight };
            return Held::keys([side, ShipControl::Brake]);
        }
        let target = self.nearest_opponent(world, ship, craft);
        let aim = if let Some(target) = target {
            let error = (world.rng().f32() - 0.5) * 2.0 * table.aim_error_rad;
            bearing(at, lead(at, target)) + error
        } else {
            if world.now() >= course.until || at.ground_distance(course.to) < 10.0 {
                course.to = start_place(world);
                course.until = world.now() + Duration::from_secs_f32(table.roams_for_s);
            }
            bearing(at, course.to)
        };
        let turn = wrapped(aim - yaw);
        let dead = TABLES.ship.turn_rad_per_s * 0.03;
        let fires = target.is_some_and(|target| {
            turn.abs() < table.fires_within_rad
                && at.ground_distance(target.movement.at) < table.fires_within_m
        });
        // Near a target it keeps a distance.
        let is_close = target.is_some_and(|target| at.ground_distance(target.movement.at) < 25.0);
        let holds = [
            (ShipControl::TurnLeft, turn > dead),
            (ShipControl::TurnRight, turn < -dead),
            (ShipControl::Accelerate, !is_close && turn.abs() < 1.0),
            (ShipControl::Brake, is_close && craft.movement.speed() > 8.0),
            (ShipControl::Fire, fires),
        ];
        Held::keys(holds.into_iter().filter_map(|(control, holds)| holds.then_some(control)))
    }

    fn nearest_opponent(
        &self,
        world: &ShooterWorld,
        ship: Id<Ship>,
        craft: &Craft,
    ) -> Option<&Craft> {
        let is_target = |other: Id<Ship>, it: &Craft| {
            other != ship && !self.are_friends(it, craft) && !Self::is_shielded(world, other)
        };
        let seen = self.crafts.iter().filter(|&(&other, it)| {
            is_target(other, it) && self.sees(world, ship, other.object(), Sight::New)
        });
        let distance = |it: &Craft| craft.movement.at.ground_distance(it.movement.at);
        seen.map(|(_, it)| it).min_by(|a, b| distance(a).total_cmp(&distance(b)))
    }
}

/// Where a missile that is fired now would meet the target, if that flies straight on.
fn lead(from: Position, target: &Craft) -> Position {
    let Movement { at, yaw, .. } = target.movement;
    let seconds = from.ground_distance(at) / TABLES.missile.speed_m_per_s;
    along(at, yaw, target.movement.speed() * seconds)
}

/// The nearest heading that leads past a wall or the border ahead, if there is one; without any the
/// freest. While the ship turns there, that one stays the nearest: it never turns to and fro.
fn way_out(world: &ShooterWorld, craft: &Craft) -> Option<f32> {
    let ahead = TABLES.pilot.looks_ahead_m;
    let Movement { at, yaw, .. } = craft.movement;
    let free = |yaw: f32| {
        let end = along(at, yaw, ahead);
        let wall = world.statics().cast_ray(at, direction(yaw), ahead).unwrap_or(ahead);
        wall.min(at.ground_distance(world.nearest_on_map(end)))
    };
    let is_free = |yaw: &f32| free(*yaw) >= ahead * 0.9;
    if is_free(&yaw) {
        return None;
    }
    let headings = (1..=HEADINGS / 2).flat_map(|step| {
        let turn = TAU / f32::from(HEADINGS) * f32::from(step);
        [yaw + turn, yaw - turn]
    });
    let freest = headings.clone().max_by(|a, b| free(*a).total_cmp(&free(*b)));
    headings.into_iter().find(is_free).or(freest)
}
