//! How a ship flies: the same at the host and in its player's client.

use std::f32::consts::TAU;

use ambit::message::TypedKind;
use ambit::prelude::*;

use crate::tables::TABLES;
use crate::{Missile, Ship, ShipControl};

/// A ship turns, and flies where its nose points. Walls, asteroids and the map's border stop it.
impl Steer for Ship {
    type SteeredBy = ShipControl;

    fn steer(ship: &mut Movement, held: Held<ShipControl>, terrain: Terrain<'_>, dt: f32) {
        let table = &TABLES.ship;
        let mut speed = ship.speed();
        let turn = held.between(ShipControl::TurnLeft, ShipControl::TurnRight);
        ship.yaw = wrapped(ship.yaw + turn * table.turn_rad_per_s * dt);
        let on = |control, change: f32| if held.is_down(control) { change } else { 0.0 };
        let change = on(ShipControl::Accelerate, table.acceleration_m_per_s2)
            - on(ShipControl::Brake, table.braking_m_per_s2)
            - table.drag_m_per_s2;
        speed = (speed + change * dt).clamp(0.0, table.top_speed_m_per_s);
        if speed > 0.0 {
            let ahead = ship.direction();
            let along = |metres: f32| Position {
                x: ship.at.x + ahead.x * metres,
                y: ship.at.y + ahead.y * metres,
                ..ship.at
            };
            let wanted = terrain.end_on_map(ship.at, along(speed * dt));
            let way = ship.at.ground_distance(wanted);
            let free = terrain.statics.sweep(ship.at, wanted, table.radius_m);
            let is_stopped = free < way || way < speed * dt * 0.5;
            if is_stopped {
                speed *= table.bump_keeps;
            } else {
                ship.at = along(free.min(way));
            }
        }
        ship.set_speed(speed);
    }

    fn shots() -> Option<Shots<ShipControl>> {
        let table = &TABLES.missile;
        Some(Shots {
            kind: <Missile as TypedKind>::NAME,
            by: ShipControl::Fire,
            reload: Duration::from_secs_f32(table.reload_s),
            speed_m_per_s: table.speed_m_per_s,
            nose_m: table.nose_m,
            range_m: table.range_m,
        })
    }
}

/// An angle from minus pi to pi.
fn wrapped(angle: f32) -> f32 {
    (angle + TAU / 2.0).rem_euclid(TAU) - TAU / 2.0
}
