//! Wolves: they run at avatars that they see, and bite.
//!
//! A wolf notices the nearest living avatar that it can see, growls at it, and runs at it, a little
//! slower than avatars walk. It gives up an avatar that gets away, dies or veils itself. Otherwise
//! it roams.
//!
//! Each has its own random generator, and a veiled avatar changes nothing of what it does. Cost: it
//! decides every 300 ms while it hunts, otherwise every 700 ms, and searches a way round obstacles
//! at most once a second.

use std::ops::Range;

use ambit::prelude::*;

use super::creatures::{CreatureRole, WolfState};
use super::rules::{BODY_RADIUS_M, WOLF_BITE, WOLF_M_PER_S, WOLF_ROAMS_M_PER_S};
use super::schema::{self, Avatar, FieldTimer, Growl, Wolf};
use super::{FieldGame, FieldWorld, RngDomain, map, steered};

const NOTICE_M: f32 = 14.0;
/// Within this distance it also hunts an avatar that has hurt it.
const GIVE_UP_M: f32 = 24.0;
const BITE_M: f32 = 1.6;
const BITE_PAUSE: Duration = Duration::from_millis(900);
const HUNTS: Duration = Duration::from_millis(300);
const LOOKS_ABOUT: Duration = Duration::from_millis(700);
const SEARCH_PAUSE: Duration = Duration::from_secs(1);
const ROAM_REST_MS: Range<u64> = 500..3_000;
/// None is near the middle at the start: new players arrive there.
const KEEP_OFF_M: f32 = 20.0;
const TRIES: u32 = 16;

impl FieldGame {
    pub(super) fn spawn_wolves(&mut self, world: &mut FieldWorld, count: u32) {
        for index in 0..count {
            let mut rng = world.rng_for(RngDomain::Wolf as u64, index.into());
            let is_apart = |at: &Position| at.ground_distance(world.centre()) > KEEP_OFF_M;
            let mut places = (0..TRIES).map(|_| map::free_place(world, &mut rng));
            let place = places.find(is_apart).unwrap_or_else(|| map::free_place(world, &mut rng));
            let path = Path::at(place);
            let wolf = world.spawn(Wolf { path, health: schema::growing() }).object();
            self.creatures.add(wolf, rng, CreatureRole::Wolf(WolfState::default()));
            self.pause(world, wolf);
        }
    }

    /// A wolf decides what to do next.
    pub(super) fn hunt(&mut self, world: &mut FieldWorld, id: ObjectId) {
        let now = world.now();
        let (Some(at), Some(wolf)) = (world.position(id), self.creatures.wolf(id)) else {
            return;
        };
        if wolf.decides_at > now {
            return;
        }
        let prey = wolf.prey.filter(|prey| self.is_prey(world, *prey, at, GIVE_UP_M));
        let prey = prey.or_else(|| self.notices(world, at));
        match prey {
            Some(prey) => self.run_at(world, id, at, prey),
            None => self.roam(world, id, at),
        }
        let again = now + if prey.is_some() { HUNTS } else { LOOKS_ABOUT };
        if let Some(state) = self.creatures.wolf_mut(id) {
            (state.prey, state.decides_at) = (prey, again);
        }
        if let (Some(prey), true) = (prey, prey != wolf.prey) {
            self.turn_on(world, prey, id);
            if let (Some(wolf), Some(prey)) = (world.cast(id), world.cast(prey)) {
                world.emit(Growl { wolf, prey });
            }
        }
        world.at(again, FieldTimer::Hunt(id));
    }

    fn is_prey(&self, world: &FieldWorld, prey: ObjectId, at: Position, within_m: f32) -> bool {
        let is_near = |place: Position| place.ground_distance(at) <= within_m;
        self.is_target(world, prey) && world.position(prey).is_some_and(is_near)
    }

    /// Whether this is a living creature that others can know of, and hurt.
    pub(super) fn is_target(&self, world: &FieldWorld, creature: ObjectId) -> bool {
        let creatures = &self.creatures;
        let now = world.now();
        let is_out_of_reach =
            creatures.is_veiled(creature, now) || creatures.is_safe(creature, now);
        creatures.is_alive(creature) && !is_out_of_reach
    }

    fn notices(&self, world: &FieldWorld, at: Position) -> Option<ObjectId> {
        let near = world.all_within::<Avatar>(at, NOTICE_M);
        let seen = near.into_iter().filter_map(|avatar| {
            let place = world.position(avatar)?;
            let is_seen = world.statics().sweep(at, place, 0.1) >= at.distance(place);
            let is_prey = is_seen
                && self.is_target(world, avatar.object())
                && !self.creatures.reads(avatar.object(), world.now());
            is_prey.then_some((place.distance(at), avatar.object()))
        });
        seen.min_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, avatar)| avatar)
    }

    /// Bites the prey if it is near enough, otherwise runs at it.
    fn run_at(&mut self, world: &mut FieldWorld, id: ObjectId, at: Position, prey: ObjectId) {
        let now = world.now();
        let (Some(there), Some(wolf)) = (world.position(prey), self.creatures.wolf_mut(id)) else {
            return;
        };
        let distance_m = at.distance(there);
        if distance_m <= BITE_M {
            if wolf.bites_at <= now {
                wolf.bites_at = now + BITE_PAUSE;
                self.damage(world, prey, WOLF_BITE, now, Some(id));
            }
            return;
        }
        let goal = there.lerp(at, BITE_M / 2.0 / distance_m);
        let first = ambit_ways::first_stop(world.statics(), BODY_RADIUS_M, at, goal);
        let mut corners = vec![first];
        if first != goal {
            if wolf.searches_at > now {
                return;
            }
            wolf.searches_at = now + SEARCH_PAUSE;
            let way = ambit_ways::round_obstacles(world.terrain(), BODY_RADIUS_M, at, goal);
            corners = way.unwrap_or(corners);
        }
        schema::edit_path(world, id, |mut path| {
            path.walk_along(corners, WOLF_M_PER_S);
        });
    }

    fn roam(&mut self, world: &mut FieldWorld, id: ObjectId, at: Position) {
        let now = world.now();
        let Some(body) = self.creatures.get_mut(id) else {
            return;
        };
        let CreatureRole::Wolf(wolf) = &mut body.role else {
            return;
        };
        if wolf.roams_at > now {
            return;
        }
        let mut arrival = now;
        if let Some(target) = steered::leg(world, at, false, &mut body.rng) {
            schema::edit_path(world, id, |mut path| {
                arrival = path.walk_to(target, WOLF_ROAMS_M_PER_S);
            });
        }
        wolf.roams_at = arrival + Duration::from_millis(body.rng.u64(ROAM_REST_MS));
    }
}
