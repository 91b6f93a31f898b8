//! Wanderers: they walk from one free position to another and rest in between.
//!
//! Each has its own random generator. Cost: only when a leg ends.

use ambit::Rng;
use ambit::prelude::*;

use super::creatures::CreatureRole;
use super::rules::{BODY_RADIUS_M, STROLL_M_PER_S};
use super::schema::{self, FieldTimer};
use super::{FieldGame, FieldWorld, RngDomain, map};

/// The longest leg along x and y, and the shortest length of a leg.
const LEG_M: f32 = 20.0;
const SHORTEST_LEG_M: f32 = 1.0;
/// Attempts to find a leg before the wanderer rests once more.
const TRIES: u32 = 4;
const REST_MS: std::ops::Range<u64> = 500..4_000;

impl FieldGame {
    pub(super) fn spawn_npcs(&mut self, world: &mut FieldWorld, count: u32) {
        for index in 0..count {
            let mut rng = world.rng_for(RngDomain::Npc as u64, index.into());
            let place = map::free_place(world, &mut rng);
            let npc = schema::spawn_npc(world, place).object();
            self.creatures.add_npc(npc, rng);
            self.pause(world, npc);
        }
    }

    /// Lets a wanderer rest from now on. Does nothing for an avatar.
    pub(super) fn pause(&mut self, world: &mut FieldWorld, npc: ObjectId) {
        let now = world.now();
        self.rest_from(world, npc, now);
    }

    /// Starts the next leg of a wanderer, unless it is dead or a later wake-up is planned.
    pub(super) fn wander(&mut self, world: &mut FieldWorld, npc: ObjectId) {
        let now = world.now();
        let Some(body) = self.creatures.get_mut(npc) else {
            return;
        };
        let due = matches!(body.role, CreatureRole::Npc { wanders_at } if wanders_at <= now);
        if !due || body.dead {
            return;
        }
        let mut arrival = now;
        let here = world.position(npc);
        if let Some(target) = here.and_then(|here| leg(world, here, &mut body.rng)) {
            schema::edit_path(world, npc, |mut path| {
                arrival = path.walk_to(target, STROLL_M_PER_S);
            });
        }
        self.rest_from(world, npc, arrival);
    }

    fn rest_from(&mut self, world: &mut FieldWorld, npc: ObjectId, from: GameTime) {
        let Some(body) = self.creatures.get_mut(npc) else {
            return;
        };
        if let CreatureRole::Npc { wanders_at } = &mut body.role {
            *wanders_at = from + Duration::from_millis(body.rng.u64(REST_MS));
            world.at(*wanders_at, FieldTimer::Wander(npc));
        }
    }
}

/// The end of the next leg: a free position in a straight line, or the first obstacle on it.
fn leg(world: &FieldWorld, from: Position, rng: &mut Rng) -> Option<Position> {
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
