//! Creatures that the game itself steers: wanderers and pilots. (Wolves have a file of their own.)
//!
//! They walk from one free position to another and rest in between. Wanderers get around on the
//! whole map. Pilots are avatars without a player: they stay near the middle, where new players
//! arrive, and need no seat, no session and no connection. They shoot at creatures that have hurt
//! or hunt them.
//!
//! Each has its own random generator, and sees nothing of the others. Cost: only when a leg ends.

use std::ops::Range;

use ambit::Rng;
use ambit::prelude::*;

use super::creatures::CreatureRole;
use super::rules::{BODY_RADIUS_M, BOLT_M_PER_S, BOLT_RANGE_M, STROLL_M_PER_S, WALK_M_PER_S};
use super::schema::{self, FieldTimer, Spell, SpellCast};
use super::{FieldGame, FieldWorld, RngDomain, bolts, map};

/// The longest leg of a wanderer along x and y, and the shortest length of a leg.
const LEG_M: f32 = 20.0;
const SHORTEST_LEG_M: f32 = 1.0;
/// Attempts to find a leg before the creature rests once more.
const TRIES: u32 = 4;
const NPC_REST_MS: Range<u64> = 500..4_000;
const PILOT_REST_MS: Range<u64> = 100..1_000;
const WOLF_REST_MS: Range<u64> = 0..700;
/// The time between two shots of a pilot. (A player can shoot twice as often.)
const RELOAD: Duration = Duration::from_secs(3);
/// A pilot shoots first this time after it was hurt.
const REACTION: Duration = Duration::from_millis(600);
/// The most by which a pilot misses its foe, along x and y.
const MISS_M: f32 = 1.2;
const PILOT_NAMES: [&str; 12] = [
    "Ada", "Bruno", "Chloe", "Diego", "Esra", "Farid", "Greta", "Hugo", "Imani", "Jun", "Kaya",
    "Leo",
];

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
            let avatar = schema::spawn_avatar(world, place, &pilot_name(index)).object();
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
            CreatureRole::Player(_) | CreatureRole::Wolf(_) => return,
            CreatureRole::Pilot { walks_at, .. } => (walks_at, WALK_M_PER_S, true),
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
        let walks = FieldTimer::Walk(creature);
        let (wakes_at, rest_ms, timer) = match &mut body.role {
            CreatureRole::Player(_) => return,
            CreatureRole::Pilot { walks_at, .. } => (walks_at, PILOT_REST_MS, walks),
            CreatureRole::Npc { walks_at } => (walks_at, NPC_REST_MS, walks),
            CreatureRole::Wolf(wolf) => {
                wolf.prey = None;
                (&mut wolf.decides_at, WOLF_REST_MS, FieldTimer::Hunt(creature))
            }
        };
        *wakes_at = from + Duration::from_millis(body.rng.u64(rest_ms));
        world.at(*wakes_at, timer);
    }

    /// A pilot that is hurt or hunted shoots back, a wolf hunts the creature that has hurt it.
    /// Pilots do not fight each other if their bolts go astray.
    pub(super) fn turn_on(&mut self, world: &mut FieldWorld, creature: ObjectId, by: ObjectId) {
        let now = world.now();
        if self.creatures.is_pilot(creature) && self.creatures.is_pilot(by) {
            return;
        }
        let is_avatar = world.is::<schema::Avatar>(by);
        match self.creatures.get_mut(creature).map(|body| &mut body.role) {
            Some(CreatureRole::Pilot { foe: Some(foe), .. }) => *foe = by,
            Some(CreatureRole::Pilot { foe, shoots_at, .. }) => {
                *foe = Some(by);
                *shoots_at = (now + REACTION).max(*shoots_at);
                world.at(*shoots_at, FieldTimer::Shoot(creature));
            }
            Some(CreatureRole::Wolf(wolf)) if is_avatar => wolf.prey = Some(by),
            _ => {}
        }
    }

    /// A pilot shoots at its foe, as long as it knows where that one is.
    pub(super) fn shoot(&mut self, world: &mut FieldWorld, pilot: ObjectId) {
        let now = world.now();
        let Some(from) = world.position(pilot) else {
            return;
        };
        let Some(body) = self.creatures.get(pilot) else {
            return;
        };
        let CreatureRole::Pilot { foe: Some(foe), shoots_at, .. } = body.role else {
            return;
        };
        if shoots_at > now {
            return;
        }
        let place = world.position(foe).filter(|_| !body.dead && self.is_target(world, foe));
        let place = place.filter(|place| place.ground_distance(from) <= BOLT_RANGE_M);
        let ahead = place.map(|place| {
            let hits_at = now + Duration::from_secs_f32(place.distance(from) / BOLT_M_PER_S);
            let waypoint = world.motion(foe).and_then(|motion| motion.waypoint_at(hits_at));
            waypoint.map_or(place, |waypoint| waypoint.position)
        });
        let Some(body) = self.creatures.get_mut(pilot) else {
            return;
        };
        let rng = &mut body.rng;
        let beside = ahead.map(|at| Position {
            x: at.x + MISS_M * (rng.f32() * 2.0 - 1.0),
            y: at.y + MISS_M * (rng.f32() * 2.0 - 1.0),
            ..at
        });
        if let CreatureRole::Pilot { foe, shoots_at, .. } = &mut body.role {
            (*foe, *shoots_at) = (foe.filter(|_| beside.is_some()), now + RELOAD);
        }
        let (Some(at), Some(caster)) = (beside, world.cast(pilot)) else {
            return;
        };
        world.at(now + RELOAD, FieldTimer::Shoot(pilot));
        if let Some(end) = bolts::end_of_flight(world, from, at) {
            self.launch(world, pilot, from, end);
            world.emit(SpellCast { caster, spell: Spell::Bolt, at });
        }
    }
}

/// Each name once; then with a number.
fn pilot_name(index: u32) -> String {
    let at = index as usize % PILOT_NAMES.len();
    let round = index as usize / PILOT_NAMES.len();
    let name = PILOT_NAMES[at];
    if round == 0 { name.to_owned() } else { format!("{name} {}", round + 1) }
}

/// The end of the next leg: a free position in a straight line, or the first obstacle on it.
pub(super) fn leg(
    world: &FieldWorld,
    from: Position,
    is_pilot: bool,
    rng: &mut Rng,
) -> Option<Position> {
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
