//! Wanderers: they walk from one free position to another and rest in between.
//!
//! Each has its own random generator. Cost: only when a leg ends.

use std::time::Duration;

use ambit_proto::ids::ObjectId;
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use fastrand::Rng;

use super::creatures::CreatureRole;
use super::rules::{BODY_RADIUS_M, STROLL_M_PER_S};
use super::timers::WakeReason;
use super::{FieldGame, RngDomain, map, schema};
use ambit_room::logic::world::World;

/// The longest leg along x and y, and the shortest length of a leg.
const LEG_M: f32 = 20.0;
const SHORTEST_LEG_M: f32 = 1.0;
/// Attempts to find a leg before the wanderer rests once more.
const TRIES: u32 = 4;
const REST_MS: std::ops::Range<u64> = 500..4_000;

impl FieldGame {
    pub(super) fn spawn_npcs(&mut self, world: &mut World, count: u32) {
        for index in 0..count {
            let mut rng = world.rng_for(RngDomain::Npc as u64, index.into());
            let place = map::free_place(world, &mut rng);
            let npc = schema::spawn_npc(world, place);
            self.creatures.add_npc(npc, rng);
            self.pause(world, npc);
        }
    }

    /// Lets a wanderer rest from now on. Does nothing for an avatar.
    pub(super) fn pause(&mut self, world: &World, npc: ObjectId) {
        self.rest_from(npc, world.now());
    }

    /// Starts the next leg of a wanderer, unless it is dead or a later wake-up is planned.
    pub(super) fn wander(&mut self, world: &mut World, npc: ObjectId) {
        let now = world.now();
        let Some(body) = self.creatures.get_mut(npc) else {
            return;
        };
        let due = matches!(body.role, CreatureRole::Npc { wanders_at } if wanders_at <= now);
        if !due || body.dead {
            return;
        }
        let arrival = match leg(world, world.position(npc), &mut body.rng) {
            Some(target) => world.walk_to(npc, target, STROLL_M_PER_S),
            None => now,
        };
        self.rest_from(npc, arrival);
    }

    fn rest_from(&mut self, npc: ObjectId, from: GameTime) {
        let Some(body) = self.creatures.get_mut(npc) else {
            return;
        };
        if let CreatureRole::Npc { wanders_at } = &mut body.role {
            *wanders_at = from + Duration::from_millis(body.rng.u64(REST_MS));
            self.timers.add(*wanders_at, npc, WakeReason::Wander);
        }
    }
}

/// The end of the next leg: a free position in a straight line, or the first obstacle on it.
fn leg(world: &World, from: Position, rng: &mut Rng) -> Option<Position> {
    (0..TRIES).find_map(|_| {
        let target = Position {
            x: from.x + LEG_M * (rng.f32() * 2.0 - 1.0),
            y: from.y + LEG_M * (rng.f32() * 2.0 - 1.0),
            ..from
        };
        if !map::is_free(world, target) {
            return None;
        }
        let free = world.statics().sweep(from, target, BODY_RADIUS_M);
        (free >= SHORTEST_LEG_M).then(|| from.lerp(target, free / from.distance(target)))
    })
}
