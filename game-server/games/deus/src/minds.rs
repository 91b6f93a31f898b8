//! What monsters decide: whom they notice, where they walk, when they strike and call.
//!
//! A monster notices heroes that it sees or hears, turns to the hero who hurt it last, and goes
//! home when that has led it too far away. What it decides takes effect at the horizon, so clients
//! know its path and its blow before.
//!
//! Cost: a monster decides every 300 ms while it has a target, otherwise every 1.2 s. A search for
//! a way round walls costs most: one monster a tick, each once a second, the others go straight.

use ambit::prelude::*;

use crate::content::{Behaviour, MonsterTable};
use crate::doors::{ClosedDoor, end_at_doors};
use crate::heroes::HeroState;
use crate::map::BODY_RADIUS_M;
use crate::map::routes::{free_way, free_way_from};
use crate::monsters::MonsterState;
use crate::schema::{DeusTimer, Hero, Monster, Tell};
use crate::{Deus, DeusWorld};

/// How often a monster decides with a target, and without one.
const THINK: Duration = Duration::from_millis(300);
const IDLE_THINK: Duration = Duration::from_millis(1_200);
/// A monster searches a way no more often than that.
const SEARCH_PAUSE: Duration = Duration::from_secs(1);
/// How long after its decision a monster is of interest to the hero that it follows.
const ENGAGED: Duration = Duration::from_secs(2);
/// Nearer to a hero, a monster takes a place around it, at this share of its reach.
const SURROUND_M: f32 = 6.0;
const SURROUND_REACH: f32 = 0.7;
/// How far outside the circle a monster waits that finds no place.
const SECOND_ROW_M: f32 = 1.4;
/// A monster that steps back goes this share of its reach away.
const BACK_REACH: f32 = 0.8;
/// What is nearer than this has been reached; less room than this is none to step back.
const ARRIVED_M: f32 = 0.7;
/// The speed of monsters that are pushed away; no other is faster.
pub(crate) const THROWN_M_PER_S: f32 = 14.0;
/// At the next tick.
const AT_ONCE: Duration = Duration::from_millis(1);
/// Shots are thinner than bodies.
const SHOT_RADIUS_M: f32 = 0.1;

/// Whom a monster fights, and where that hero is.
type Foe = (Id<Hero>, Position);

/// A monster that decides.
#[derive(Clone, Copy)]
struct Mind<'c> {
    id: Id<Monster>,
    at: Position,
    table: &'c MonsterTable,
}

impl Deus {
    pub(crate) fn think_after(&mut self, world: &mut DeusWorld, id: Id<Monster>, wait: Duration) {
        let Some(monster) = self.monsters.get_mut(&id) else { return };
        monster.thinks_at = world.now() + wait;
        world.at(monster.thinks_at, DeusTimer::Think(id));
    }

    /// A monster decides what to do next.
    pub(crate) fn think(&mut self, world: &mut DeusWorld, id: Id<Monster>, due: GameTime) {
        let now = world.now();
        let content = self.content.clone();
        let Some(at) = world.position(id) else { return };
        let Some(monster) = self.monsters.get(&id) else { return };
        if monster.thinks_at != due {
            return;
        }
        if now < monster.busy_until {
            return self.think_after(world, id, monster.busy_until.since(now));
        }
        let mind = Mind { id, at, table: content.monster(monster.kind) };
        let Some(target) = self.target(world, mind) else {
            self.idle(world, mind);
            return self.think_after(world, id, IDLE_THINK);
        };
        world.engage(target.0, id, now + ENGAGED);
        match mind.table.behaviour {
            Behaviour::Melee => self.fight_near(world, mind, target),
            Behaviour::Ranged | Behaviour::Caster => self.fight_from_afar(world, mind, target.1),
        }
        self.think_after(world, id, THINK);
    }

    /// A hero has hurt a monster, or was heard.
    pub(crate) fn notice(&mut self, world: &mut DeusWorld, id: Id<Monster>, hero: Id<Hero>) {
        let now = world.now();
        if self.heroes.get(&hero).is_some_and(HeroState::is_hidden) {
            return;
        }
        let Some(at) = world.position(id) else { return };
        let Some(monster) = self.monsters.get_mut(&id) else { return };
        if monster.target.is_none() {
            monster.home = at;
        }
        (monster.target, monster.goes_home) = (Some(hero), false);
        if monster.thinks_at > now + THINK && monster.busy_until <= now {
            let wait = Duration::from_millis(monster.rng.u64(1..THINK.as_millis() as u64));
            self.think_after(world, id, wait);
        }
    }

    /// Monsters that have nothing to do come to see what was heard.
    pub(crate) fn make_noise(&mut self, world: &mut DeusWorld, hero: Id<Hero>, radius_m: f32) {
        let Some(at) = world.position(hero) else { return };
        let is_idle = |monster: &MonsterState| monster.target.is_none() && !monster.goes_home;
        let hears = |place| end_at_doors(&self.closed_doors, at, place) == place;
        let mut near = world.all_within(at, radius_m);
        near.retain(|id| {
            self.monsters.get(id).is_some_and(is_idle) && world.position(*id).is_some_and(hears)
        });
        for id in near {
            self.notice(world, id, hero);
        }
    }

    /// Whom a monster fights: as before, or the nearest hero that it sees. After a while it finds
    /// heroes anywhere.
    fn target(&mut self, world: &DeusWorld, mind: Mind<'_>) -> Option<Foe> {
        let Mind { id, at, table } = mind;
        let hunts = self.hunts(world.now());
        let monster = self.monsters.get_mut(&id)?;
        let from_home = at.ground_distance(monster.home);
        if monster.target.is_some() && from_home > table.leash_m && !hunts {
            (monster.target, monster.goes_home) = (None, true);
        }
        monster.goes_home &= from_home > ARRIVED_M && !hunts;
        let old = monster.target;
        let goes_home = monster.goes_home;
        let places = |(hero, _)| Some((hero, world.position(hero)?));
        let kept = self.visible().filter(|(hero, _)| Some(*hero) == old).find_map(places);
        if kept.is_some() || goes_home {
            return kept;
        }
        let distance = |place: Position| place.ground_distance(at);
        let sees = |place| {
            distance(place) <= table.notice_m && is_clear(world, &self.closed_doors, at, place)
        };
        let seen = self.visible().filter_map(places).filter(|(_, place)| hunts || sees(*place));
        let found = seen.min_by(|(_, one), (_, other)| distance(*one).total_cmp(&distance(*other)));
        let monster = self.monsters.get_mut(&id)?;
        (monster.target, monster.home) = (found.map(|(hero, _)| hero), at);
        found
    }

    /// Goes home, or strolls.
    fn idle(&mut self, world: &mut DeusWorld, mind: Mind<'_>) {
        let Some(monster) = self.monsters.get_mut(&mind.id) else { return };
        if monster.goes_home {
            let home = monster.home;
            self.go(world, mind, home);
        } else if monster.rng.u8(..3) == 0 {
            let mut around = |from: f32| from + (monster.rng.f32() - 0.5) * 12.0;
            let goal = Position::on_ground(around(mind.at.x), around(mind.at.y));
            let goal = free_way(world, mind.at, goal);
            let speed = mind.table.speed_m_per_s / 2.0 * monster.effects.pace();
            if let Some(mut object) = world.edit(mind.id) {
                monster.walk.begin(object.path(), goal, [goal], speed);
            }
        }
    }

    fn fight_near(&mut self, world: &mut DeusWorld, mind: Mind<'_>, foe: Foe) {
        let goal = self.place_around(world, mind, foe);
        let Some(monster) = self.monsters.get_mut(&mind.id) else { return };
        // Most come to their places first; some strike at once, to hit a running hero, too.
        let is_there = mind.at.ground_distance(goal) <= ARRIVED_M || monster.rng.u8(..3) == 0;
        if is_there && mind.at.ground_distance(foe.1) <= mind.table.reach_m {
            self.strike(world, mind, mind.at);
        } else {
            self.go(world, mind, goal);
        }
    }

    /// Shoots, steps back or comes nearer; a caster calls as often as it may.
    fn fight_from_afar(&mut self, world: &mut DeusWorld, mind: Mind<'_>, place: Position) {
        let Mind { id, at, table } = mind;
        let now = world.now();
        let Some(monster) = self.monsters.get_mut(&id) else { return };
        if let Some(calls) = table.calls.as_ref().filter(|_| now >= monster.call_at) {
            monster.call_at = now + calls.every_s.secs();
            let windup = table.windup_s.secs();
            if self.call(world, id, calls, windup) {
                return self.stand(world, mind, now + windup);
            }
        }
        let distance = at.ground_distance(place);
        if distance < table.keep_m {
            let metres = BACK_REACH * table.reach_m - distance;
            let back = free_way_from(world, at, place, metres);
            if back.ground_distance(at) > ARRIVED_M {
                return self.go(world, mind, back);
            }
        }
        if distance <= table.reach_m && is_clear(world, &self.closed_doors, at, place) {
            self.strike(world, mind, place);
        } else {
            self.go(world, mind, place);
        }
    }

    /// The place of a monster around a hero: the free one nearest to it, for as long as the hero
    /// is its target.
    fn place_around(&mut self, world: &DeusWorld, mind: Mind<'_>, (hero, place): Foe) -> Position {
        let Some(state) = self.heroes.get_mut(&hero) else { return place };
        state.around.retain(|holder| {
            let monster = world.cast(holder).and_then(|holder| self.monsters.get(&holder));
            monster.is_some_and(|monster| monster.target == Some(hero))
        });
        let distance = mind.at.ground_distance(place);
        let stand_m = SURROUND_REACH * mind.table.reach_m;
        let own = state.around.place_of(mind.id, (place, mind.at), distance < SURROUND_M);
        let Some((x, y)) = own else {
            let stop = stand_m + SECOND_ROW_M;
            return place.lerp(mind.at, stop / distance.max(stop));
        };
        let goal = Position::on_ground(place.x + x * stand_m, place.y + y * stand_m);
        free_way(world, place, goal)
    }

    /// Announces a blow at a place.
    fn strike(&mut self, world: &mut DeusWorld, mind: Mind<'_>, at: Position) {
        let Mind { id, table, .. } = mind;
        let Some(monster) = self.monsters.get(&id) else { return };
        let radius_m = table.blow_m * monster.phase(table).map_or(1.0, |phase| phase.blow);
        let windup = table.windup_s.secs();
        let radius = (10.0 * radius_m) as i64;
        let due = windup.as_millis() as i64;
        world.emit(Tell { monster: id, at, radius, due });
        world.after(windup, DeusTimer::Blow(id, at, radius_m));
        self.stand(world, mind, world.now() + windup + table.rest_s.secs());
    }

    fn stand(&mut self, world: &mut DeusWorld, mind: Mind<'_>, until: GameTime) {
        let Some(monster) = self.monsters.get_mut(&mind.id) else { return };
        monster.busy_until = until;
        monster.walk.end();
        if let Some(mut monster) = world.edit(mind.id) {
            monster.path().stop();
        }
    }

    /// Walks to a goal: straight if that is free, otherwise round walls if it may search a way now.
    fn go(&mut self, world: &mut DeusWorld, mind: Mind<'_>, mut goal: Position) {
        let Mind { id, at, table } = mind;
        let now = world.now();
        let Some(monster) = self.monsters.get_mut(&id) else { return };
        if monster.walk.leads_to(now, at, goal) || at.ground_distance(goal) <= ARRIVED_M {
            return;
        }
        let mut straight = free_way(world, at, goal);
        if straight != goal {
            // Through doors, one after the other.
            goal = self.layout.slot(self.slot).stop_towards(world.statics(), at, goal);
            straight = free_way(world, at, goal);
        }
        let mut way = vec![straight];
        if straight != goal {
            if now >= monster.search_at && self.searched_at < now {
                (monster.search_at, self.searched_at) = (now + SEARCH_PAUSE, now);
                let terrain = world.terrain();
                let found = ambit_ways::round_obstacles(terrain, BODY_RADIUS_M, at, goal);
                way = found.unwrap_or(way);
            } else if monster.walk.is_under_way(now) {
                // An older way leads nearer than a straight one into a wall.
                return;
            }
        }
        let speed = table.speed_m_per_s * monster.phase(table).map_or(1.0, |phase| phase.speed);
        if let Some(mut object) = world.edit(id) {
            monster.walk.begin(object.path(), goal, way, speed * monster.effects.pace());
        }
    }

    /// A monster's speed has changed: it decides at once and chooses its way again.
    pub(crate) fn decide_anew(&mut self, world: &mut DeusWorld, id: Id<Monster>) {
        let now = world.now();
        let Some(monster) = self.monsters.get_mut(&id) else { return };
        if monster.busy_until <= now {
            monster.walk.end();
            self.think_after(world, id, AT_ONCE);
        }
    }

    /// Throws a monster away from a place; it decides when it has come to rest.
    pub(crate) fn push(&mut self, world: &mut DeusWorld, id: Id<Monster>, from: Position, by: f32) {
        let Some(at) = world.position(id) else { return };
        let Some(monster) = self.monsters.get_mut(&id) else { return };
        let goal = free_way_from(world, at, from, by);
        let Some(mut object) = world.edit(id) else { return };
        let arrives_at = monster.walk.begin(object.path(), goal, [goal], THROWN_M_PER_S);
        monster.busy_until = monster.busy_until.max(arrives_at);
        let wait = monster.busy_until.since(world.now()) + AT_ONCE;
        self.think_after(world, id, wait);
    }
}

/// Whether nothing is between two places.
fn is_clear(world: &DeusWorld, doors: &[ClosedDoor], from: Position, to: Position) -> bool {
    ambit_ways::is_free(world.statics(), SHOT_RADIUS_M, from, to)
        && end_at_doors(doors, from, to) == to
}
