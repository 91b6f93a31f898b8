//! Creatures that the game itself steers: wanderers and pilots.
//!
//! They walk from one free position to another and rest in between. Wanderers get around on the
//! whole map. Pilots are avatars without a player: they stay near the middle, where new players
//! arrive, and need no seat, no session and no connection. They only walk.
//!
//! Each has its own random generator, and sees nothing of the others. Cost: only when a leg ends.

use std::ops::Range;

use ambit::Rng;
use ambit::prelude::*;

use super::creatures::CreatureRole;
use super::rules::{BODY_RADIUS_M, STROLL_M_PER_S, WALK_M_PER_S};
use super::schema::{self, FieldTimer};
use super::{FieldGame, FieldWorld, RngDomain, map};

/// The longest leg of a wanderer along x and y, and the shortest length of a leg.
const LEG_M: f32 = 20.0;
const SHORTEST_LEG_M: f32 = 1.0;
/// Attempts to find a leg before the creature rests once more.
const TRIES: u32 = 4;
const NPC_REST_MS: Range<u64> = 500..4_000;
const PILOT_REST_MS: Range<u64> = 100..1_000;

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

    pub(super) fn spawn_pilots(&mut self, world: &mut FieldWorld, count: u32) {
        for index in 0..count {
            let mut rng = world.rng_for(RngDomain::Pilot as u64, index.into());
            let place = map::place_near_arrivals(world, &mut rng);
            let name = format!("Pilot {}", index + 1);
            let avatar = schema::spawn_avatar(world, place, &name).object();
            self.creatures.add_pilot(avatar, rng);
            self.pause(world, avatar);
        }
    }

    /// Lets a creature rest from now on. Does nothing for one that a player steers.
    pub(super) fn pause(&mut self, world: &mut FieldWorld, creature: ObjectId) {
        let now = world.now();
        self.rest_from(world, creature, now);
    }

    /// Starts the next leg, unless the creature is dead or a later wake-up is planned.
    pub(super) fn walk_on(&mut self, world: &mut FieldWorld, creature: ObjectId) {
        let now = world.now();
        let Some(body) = self.creatures.get_mut(creature).filter(|body| !body.dead) else {
            return;
        };
        let (walks_at, m_per_s, is_pilot) = match body.role {
            CreatureRole::Player(_) => return,
            CreatureRole::Pilot { walks_at } => (walks_at, WALK_M_PER_S, true),
            CreatureRole::Npc { walks_at } => (walks_at, STROLL_M_PER_S, false),
        };
        if walks_at > now {
            return;
        }
        let mut arrival = now;
        let here = world.position(creature);
        if let Some(target) = here.and_then(|here| leg(world, here, is_pilot, &mut body.rng)) {
            schema::edit_path(world, creature, |mut path| {
                arrival = path.walk_to(target, m_per_s);
            });
        }
        self.rest_from(world, creature, arrival);
    }

    fn rest_from(&mut self, world: &mut FieldWorld, creature: ObjectId, from: GameTime) {
        let Some(body) = self.creatures.get_mut(creature) else {
            return;
        };
        let (walks_at, rest_ms) = match &mut body.role {
            CreatureRole::Player(_) => return,
            CreatureRole::Pilot { walks_at } => (walks_at, PILOT_REST_MS),
            CreatureRole::Npc { walks_at } => (walks_at, NPC_REST_MS),
        };
        *walks_at = from + Duration::from_millis(body.rng.u64(rest_ms));
        world.at(*walks_at, FieldTimer::Walk(creature));
    }
}

/// The end of the next leg: a free position in a straight line, or the first obstacle on it.
fn leg(world: &FieldWorld, from: Position, is_pilot: bool, rng: &mut Rng) -> Option<Position> {
    (0..TRIES).find_map(|_| {
        let target =
            if is_pilot { map::place_near_arrivals(world, rng) } else { around(from, rng) };
        if !map::is_free(world, target) {
            return None;
        }
        let free = world.statics().sweep(from, target, BODY_RADIUS_M);
        (free >= SHORTEST_LEG_M).then(|| from.lerp(target, free / from.distance(target)))
    })
}

fn around(from: Position, rng: &mut Rng) -> Position {
    Position {
        x: from.x + LEG_M * (rng.f32() * 2.0 - 1.0),
        y: from.y + LEG_M * (rng.f32() * 2.0 - 1.0),
        ..from
    }
}
