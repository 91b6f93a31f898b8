//! Creatures that heroes call: they strike the nearest monster, else they follow their hero.
//!
//! A hero has `at_once` of a spell at most, each for a time. One decides every 600 ms. It does not
//! follow a hidden hero, whose place that would tell.

use ambit::prelude::*;
use ambit_ways::GoalWalk;

use crate::map::BODY_RADIUS_M;
use crate::map::routes::places_around;
use crate::schema::{Companion, DeusTimer, Hero, Monster};
use crate::spells::CastSpell;
use crate::{Deus, DeusWorld};

/// How often one decides.
const ASSIST: Duration = Duration::from_millis(900);
/// It comes, and stays, within this distance of its hero.
const NEAR_M: f32 = 1.8;
/// It follows a hero who is farther away.
const FOLLOW_M: f32 = 3.5;

/// A companion, as the game has it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CompanionState {
    owner: Id<Hero>,
    /// Which has called it.
    spell: u8,
    /// Of a blow, before resistance.
    points: f32,
    ends: GameTime,
    strikes_at: GameTime,
    walk: GoalWalk,
}

impl Deus {
    /// Calls companions for the caster of a spell, up to the limit of the spell.
    pub(crate) fn call_companions(&mut self, world: &mut DeusWorld, spell: CastSpell<'_>) {
        let CastSpell { caster: owner, index: spell, table, from, power, duration, .. } = spell;
        let Some(calls) = &table.summons else { return };
        let of_spell = |it: &&CompanionState| it.owner == owner && it.spell == spell;
        let here = self.companions.values().filter(of_spell).count();
        let free = (calls.at_once as usize).saturating_sub(here).min(calls.count as usize);
        let now = world.now();
        let for_s = calls.for_s * duration;
        let places = places_around(world, from, NEAR_M).skip(here).take(free);
        for place in places.collect::<Vec<_>>() {
            let time_left = Gauge::full().changing(-100.0 / for_s);
            let id = world.spawn(Companion { path: Path::at(place), time_left });
            let points = calls.damage * power;
            let ends = now + for_s.secs();
            let strikes_at = now;
            let walk = GoalWalk::default();
            let state = CompanionState { owner, spell, points, ends, strikes_at, walk };
            self.companions.insert(id, state);
            world.after(ASSIST, DeusTimer::Assist(id));
        }
    }

    /// A companion decides what to do next.
    pub(crate) fn assist(&mut self, world: &mut DeusWorld, id: Id<Companion>) {
        let now = world.now();
        let content = self.content.clone();
        let Some(at) = world.position(id) else { return };
        let Some(state) = self.companions.get_mut(&id) else { return };
        let owner = self.heroes.get(&state.owner).filter(|hero| hero.is_alive);
        let table = content.spell(state.spell);
        let (Some(owner), Some(calls), true) = (owner, table.summons, now < state.ends) else {
            self.companions.remove(&id);
            world.despawn(id);
            return;
        };
        world.at(state.ends.min(now + ASSIST), DeusTimer::Assist(id));
        let distance = |place: Position| place.ground_distance(at);
        let notice_m = calls.notice_m + BODY_RADIUS_M;
        if let Some(monster) = world.nearest_within::<Monster>(at, notice_m) {
            let Some(place) = world.position(monster) else { return };
            if distance(place) > calls.reach_m {
                let goal = place.lerp(at, calls.reach_m / 2.0 / distance(place));
                self.lead(world, id, goal, calls.speed_m_per_s);
            } else if now >= state.strikes_at {
                state.strikes_at = now + calls.every_s.secs();
                let by = state.owner;
                let points = state.points;
                let points = points * self.weakness(monster, table.damage_kind);
                self.hurt_monster(world, monster, by, points);
            }
            return;
        }
        let place = world.position(state.owner).filter(|_| !owner.is_hidden());
        if let Some(place) = place.filter(|place| distance(*place) > FOLLOW_M) {
            let goal = place.lerp(at, NEAR_M / distance(place));
            self.lead(world, id, goal, calls.speed_m_per_s);
        }
    }

    /// Lets a companion walk, unless it is on its way there.
    fn lead(&mut self, world: &mut DeusWorld, id: Id<Companion>, goal: Position, speed: f32) {
        let Some(at) = world.position(id) else { return };
        let Some(state) = self.companions.get_mut(&id) else { return };
        if state.walk.leads_to(world.now(), at, goal) {
            return;
        }
        let way = self.layout.way(world, at, goal);
        if let Some(mut object) = world.edit(id) {
            state.walk.begin(object.path(), goal, way, speed);
        }
    }
}
