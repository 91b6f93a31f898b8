//! Monsters of a wave: who comes, what hurts them and what they do to heroes. What each decides is
//! in `minds`.

use std::ops::Range;

use ambit::prelude::*;
use ambit::{Dice, Rng};
use ambit_ways::GoalWalk;

use crate::content::{CallTable, DamageKind, GRACE_M, MonsterTable, PhaseTable};
use crate::map::routes::places_around;
use crate::plans::Effects;
use crate::schema::{self, DeusTimer, Fallen, Hero, HeroRow, Monster, Summons};
use crate::{Deus, DeusWorld};

/// Monsters of a wave come no nearer to heroes than that.
const FIRST_DISTANCE_M: f32 = 16.0;
/// The first thought comes within this, so that not all think at the same tick.
const FIRST_THOUGHT: Duration = Duration::from_millis(300);
/// How often the results of kills are sent: each concerns all heroes.
const TALLY: Duration = Duration::from_secs(1);
/// How often some more monsters of a large wave come.
const ARRIVAL: Duration = Duration::from_secs(1);
/// A called monster appears at this distance from its caller.
const CALLED_M: f32 = 1.8;
/// Less health than this counts as 0: sums of rates are rounded.
const NO_HEALTH: f32 = 0.01;

/// A monster, as the game has it.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct MonsterState {
    pub(crate) rng: Dice,
    /// The index of its table.
    pub(crate) kind: u8,
    /// Points of health at 100 %, and of a blow.
    pub(crate) health: f32,
    damage: f32,
    /// Points that were left at a time; since then it has lost what its effects take.
    pub(crate) left: f32,
    pub(crate) settled_at: GameTime,
    pub(crate) effects: Effects,
    /// Phases that have begun.
    phases: u8,
    /// Who has called it.
    caller: Option<Id<Monster>>,
    pub(crate) target: Option<Id<Hero>>,
    /// Whose kill it is, if it dies now.
    pub(crate) hurt_by: Option<Id<Hero>>,
    /// Where it noticed its target, and whether it is on its way back.
    pub(crate) home: Position,
    pub(crate) goes_home: bool,
    pub(crate) walk: GoalWalk,
    /// A timer for another time is obsolete.
    pub(crate) thinks_at: GameTime,
    /// Until then it strikes or rests: it searches no way and calls no monsters.
    pub(crate) busy_until: GameTime,
    pub(crate) search_at: GameTime,
    pub(crate) call_at: GameTime,
}

impl MonsterState {
    /// Takes what has lasted until now, and forgets what has ended.
    pub(crate) fn settle(&mut self, now: GameTime) {
        for lasting in &self.effects.list {
            let seconds = lasting.ends.min(now).since(self.settled_at).as_secs_f32();
            self.left += lasting.per_s * seconds;
        }
        if self.left < NO_HEALTH {
            self.left = 0.0;
        }
        self.effects.list.retain(|it| it.ends > now);
        self.settled_at = now;
    }

    /// The phase that it is in, if one has begun.
    pub(crate) fn phase<'c>(&self, table: &'c MonsterTable) -> Option<&'c PhaseTable> {
        table.phases.get(usize::from(self.phases).checked_sub(1)?)
    }
}

impl Deus {
    /// Creates the monsters of a wave for a number of heroes, the first of a large wave now.
    pub(crate) fn spawn_wave(&mut self, world: &mut DeusWorld, heroes: usize) {
        let content = self.content.clone();
        let waves = &content.waves;
        let (count, strength) = waves.monsters_of(self.wave, heroes);
        self.strength = strength;
        let first = count.min(waves.first);
        self.coming = first..count;
        self.spawn_part(world, 0..first);
        self.await_more(world);
        self.show_course(world);
    }

    /// One hero more fights: as many more monsters come as a wave for it has more.
    pub(crate) fn reinforce(&mut self, world: &mut DeusWorld) {
        let heroes = self.living().count();
        let count = |heroes| self.content.waves.monsters_of(self.wave, heroes).0;
        let more = count(heroes).saturating_sub(count(heroes - 1));
        let is_idle = self.coming.is_empty();
        self.coming.end += more;
        if is_idle {
            self.await_more(world);
        }
        self.show_course(world);
    }

    fn await_more(&self, world: &mut DeusWorld) {
        if !self.coming.is_empty() {
            world.after(ARRIVAL, DeusTimer::Arrive(self.phase_number));
        }
    }

    /// Some more monsters of a large wave come.
    pub(crate) fn arrive(&mut self, world: &mut DeusWorld) {
        let Range { start, end } = self.coming.clone();
        // Those who were called have their places in the room, too.
        let free = (self.content.waves.most as usize).saturating_sub(self.monsters.len()) as u32;
        let next = end.min(start + self.content.waves.then_per_s.min(free));
        self.coming.start = next;
        self.spawn_part(world, start..next);
        self.await_more(world);
    }

    /// Creates monsters of a wave, by their numbers in it.
    fn spawn_part(&mut self, world: &mut DeusWorld, indices: Range<u32>) {
        let content = self.content.clone();
        let waves = &content.waves;
        let rows = waves.wave.iter().filter(|row| row.from <= self.wave);
        let Some(row) = rows.max_by_key(|row| row.from) else { return };
        let boss = row.boss.as_ref().filter(|_| row.from == self.wave);
        let places: Vec<_> = self.visible().filter_map(|(id, _)| world.position(id)).collect();
        for index in indices {
            let mut rng = world.rng_for(2, u64::from(index) | (self.wave as u64) << 32);
            let slot = self.layout.slot(self.slot);
            let at = slot.place_away_from(world.statics(), &places, FIRST_DISTANCE_M, &mut rng);
            let kind = row.draw(&mut rng);
            let boss = boss.filter(|_| index == 0);
            let Some(kind) = boss.or(kind) else { continue };
            let strength = match boss {
                Some(_) => waves.strength_of_boss(self.wave, self.living().count()),
                None => self.strength,
            };
            self.spawn_monster(world, content.kind_of(kind), at, None, strength, rng);
        }
    }

    pub(crate) fn spawn_monster(
        &mut self,
        world: &mut DeusWorld,
        kind: u8,
        at: Position,
        caller: Option<Id<Monster>>,
        strength: f32,
        mut rng: Rng,
    ) {
        let table = self.content.monster(kind);
        let health = table.health * strength;
        let id = schema::spawn_monster(world, at, &table.name);
        let wait = Duration::from_millis(rng.u64(1..FIRST_THOUGHT.as_millis() as u64));
        let state = MonsterState {
            rng: rng.into(),
            kind,
            health,
            damage: table.damage * strength,
            left: health,
            caller,
            target: caller.and_then(|caller| self.monsters.get(&caller)?.target),
            home: at,
            ..MonsterState::default()
        };
        self.monsters.insert(id, state);
        self.think_after(world, id, wait);
    }

    /// Removes all monsters, and the chest.
    pub(crate) fn clear_fight(&mut self, world: &mut DeusWorld) {
        self.coming = 0..0;
        world.despawn_all(std::mem::take(&mut self.monsters).into_keys());
        world.despawn_all(self.chest.take());
        self.show_course(world);
    }

    /// A blow falls on all heroes who are still there.
    pub(crate) fn blow(
        &mut self,
        world: &mut DeusWorld,
        id: Id<Monster>,
        at: Position,
        radius_m: f32,
    ) {
        let Some(damage) = self.monsters.get(&id).map(|monster| monster.damage) else { return };
        for hero in self.living_near(world, at, radius_m + GRACE_M) {
            self.hurt_hero(world, hero, damage);
        }
    }

    /// A monster calls others, if there are not enough of them; they come `after` this.
    pub(crate) fn call(
        &mut self,
        world: &mut DeusWorld,
        caller: Id<Monster>,
        calls: &CallTable,
        after: Duration,
    ) -> bool {
        let is_called = |monster: &&MonsterState| monster.caller == Some(caller);
        let called = self.monsters.values().filter(is_called).count() as u32;
        let count = calls.count.min(calls.at_once.saturating_sub(called));
        if count > 0 {
            let kind = self.content.kind_of(&calls.kind);
            world.emit(Summons { monster: caller, due: after.as_millis() as i64 });
            world.after(after, DeusTimer::Rise(caller, kind, count));
        }
        count > 0
    }

    /// Who was called comes, if the caller is still alive, and there are not too many monsters.
    pub(crate) fn rise(&mut self, world: &mut DeusWorld, by: Id<Monster>, kind: u8, count: u32) {
        let Some(at) = world.position(by) else { return };
        let free = (self.content.waves.most as usize).saturating_sub(self.monsters.len());
        let places = places_around(world, at, CALLED_M).take(free.min(count as usize));
        for place in places.collect::<Vec<_>>() {
            let seed = world.rng().u64(..);
            self.spawn_monster(world, kind, place, Some(by), self.strength, Rng::with_seed(seed));
        }
        self.show_course(world);
    }

    /// The factor of this kind of damage to a monster.
    pub(crate) fn weakness(&self, id: Id<Monster>, kind: DamageKind) -> f32 {
        let Some(monster) = self.monsters.get(&id) else { return 1.0 };
        let resisted = self.content.monster(monster.kind).resists.get(&kind);
        1.0 - resisted.unwrap_or(&0.0) / 100.0
    }

    /// Takes points of health from a monster, which turns to the hero who did it.
    pub(crate) fn hurt_monster(
        &mut self,
        world: &mut DeusWorld,
        id: Id<Monster>,
        by: Id<Hero>,
        points: f32,
    ) {
        let Some(monster) = self.monsters.get_mut(&id) else { return };
        monster.settle(world.now());
        monster.left -= points;
        monster.hurt_by = Some(by);
        self.monster_lost(world, id);
        self.notice(world, id, by);
    }

    /// A monster has less health: it dies, or comes to another phase.
    pub(crate) fn monster_lost(&mut self, world: &mut DeusWorld, id: Id<Monster>) {
        let content = self.content.clone();
        self.plan_monster(world, id);
        let Some(monster) = self.monsters.get_mut(&id) else { return };
        if monster.left <= 0.0 {
            return self.monster_dies(world, id);
        }
        let table = content.monster(monster.kind);
        let share = monster.left / monster.health;
        let begun = table.phases.iter().filter(|phase| share < phase.below).count() as u8;
        let begins = begun > monster.phases;
        monster.phases = begun.max(monster.phases);
        let phase = monster.phase(table).filter(|_| begins);
        if let Some(calls) = phase.and_then(|phase| phase.calls.as_ref()) {
            self.call(world, id, calls, table.windup_s.secs());
        }
    }

    fn monster_dies(&mut self, world: &mut DeusWorld, id: Id<Monster>) {
        world.emit(Fallen { target: id.object() });
        self.last_fallen = world.position(id).unwrap_or(world.centre());
        world.despawn(id);
        let Some(monster) = self.monsters.remove(&id) else { return };
        let content = self.content.clone();
        let table = content.monster(monster.kind);
        self.share_experience(world, self.last_fallen, table.experience);
        let hero = monster.hurt_by.and_then(|by| self.heroes.get(&by));
        if let Some(mut score) = hero.and_then(|it| world.edit_row::<HeroRow>(it.player)) {
            score.kills().add(1);
        }
        self.spoils += table.gold;
        self.tally_at.get_or_insert(world.now() + TALLY);
        if self.is_wave_beaten() {
            self.tally(world);
        }
        self.check_end_of_fight(world);
    }

    /// Whether no monster lives, and none comes.
    pub(crate) fn is_wave_beaten(&self) -> bool {
        self.monsters.is_empty() && self.coming.is_empty()
    }

    /// Pays the gold of the monsters that have fallen, and tells experience and monsters.
    pub(crate) fn tally(&mut self, world: &mut DeusWorld) {
        self.tally_at = None;
        let gold = std::mem::take(&mut self.spoils);
        for (&id, hero) in &self.heroes {
            if hero.takes_part() {
                self.pay(world, id, gold);
            }
            hero.show_experience(world, id);
        }
        self.show_course(world);
    }
}
