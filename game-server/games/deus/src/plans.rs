//! What lasts on monsters and heroes: poison, fire, slowness, regeneration.
//!
//! The effect of one spell replaces that of the same spell, also of another caster. It is a rate of
//! the health's gauge, and its end a later rate: so clients know both before.

use ambit::prelude::*;

use crate::schema::{DeusTimer, Hero, Monster};
use crate::{Deus, DeusWorld};

/// No effect is planned for longer.
const MAX_PLAN_S: f32 = 600.0;

/// An effect that lasts on a hero or a monster.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Lasting {
    pub(crate) spell: u8,
    pub(crate) by: Id<Hero>,
    /// Points of health a second; below 0 it takes them.
    pub(crate) per_s: f32,
    /// Reduction of speed, in per cent.
    pub(crate) slow: f32,
    pub(crate) ends: GameTime,
}

/// All effects that last on a hero or a monster.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Effects {
    pub(crate) list: Vec<Lasting>,
    /// When the next one ends, or the monster dies of them; a timer for another time is obsolete.
    lapses_at: Option<GameTime>,
}

impl Effects {
    pub(crate) fn add(&mut self, new: Lasting) {
        self.list.retain(|old| old.spell != new.spell);
        self.list.push(new);
    }

    pub(crate) fn rate_at(&self, time: GameTime) -> f32 {
        self.list.iter().filter(|it| it.ends > time).map(|it| it.per_s).sum()
    }

    /// Forgets what has ended; returns when the next one ends.
    fn next_end(&mut self, now: GameTime) -> Option<GameTime> {
        self.list.retain(|it| it.ends > now);
        self.lapses_at = self.list.iter().map(|it| it.ends).min();
        self.lapses_at
    }

    /// The factor of the speed: the slowest effect holds.
    pub(crate) fn pace(&self) -> f32 {
        1.0 - self.list.iter().map(|it| it.slow).fold(0.0, f32::max) / 100.0
    }

    /// Who has poisoned it.
    fn killer(&self) -> Option<Id<Hero>> {
        self.list.iter().find(|it| it.per_s < 0.0).map(|it| it.by)
    }
}

impl Deus {
    /// Shows a monster's health as it is and will be. It is settled.
    pub(crate) fn plan_monster(&mut self, world: &mut DeusWorld, id: Id<Monster>) {
        let now = world.now();
        let Some(monster) = self.monsters.get_mut(&id) else { return };
        let per_cent = 100.0 / monster.health;
        let rate = monster.effects.rate_at(now);
        let Some(mut object) = world.edit(id) else { return };
        object.health().set_both((per_cent * monster.left).max(0.0), per_cent * rate);
        let Some(mut lapses_at) = monster.effects.next_end(now) else { return };
        let next = monster.effects.rate_at(lapses_at);
        object.health().effective(lapses_at).set_rate(per_cent * next);
        if rate < 0.0 {
            let seconds = (monster.left / -rate).clamp(0.0, MAX_PLAN_S);
            // A timer for now would come at another time.
            let left = Duration::from_secs_f32(seconds).max(Duration::from_millis(1));
            lapses_at = lapses_at.min(now + left);
        }
        monster.effects.lapses_at = Some(lapses_at);
        world.at(lapses_at, DeusTimer::Lapse(id.object()));
    }

    /// Shows how the mana of a hero changes, whose class or talents have changed.
    pub(crate) fn plan_mana(&self, world: &mut DeusWorld, id: Id<Hero>) {
        let Some(hero) = self.heroes.get(&id) else { return };
        let per_s = hero.class.map_or(0.0, |class| self.content.class(class).mana_per_s);
        if let Some(mut avatar) = world.edit(id) {
            avatar.mana().set_rate(100.0 * per_s / hero.mana(&self.content));
        }
    }

    /// Shows how the health of a living hero changes.
    pub(crate) fn plan_hero(&mut self, world: &mut DeusWorld, id: Id<Hero>) {
        let now = world.now();
        let Some(hero) = self.heroes.get_mut(&id).filter(|hero| hero.is_alive) else { return };
        let end = hero.effects.next_end(now);
        let per_cent = 100.0 / hero.health(&self.content);
        let Some(mut avatar) = world.edit(id) else { return };
        avatar.health().set_rate(per_cent * hero.health_per_s(&self.content, now));
        let Some(end) = end else { return };
        let next = hero.health_per_s(&self.content, end);
        avatar.health().effective(end).set_rate(per_cent * next);
        world.at(end, DeusTimer::Lapse(id.object()));
    }

    /// An effect on a monster or a hero ends, or a monster dies of it.
    pub(crate) fn lapse(&mut self, world: &mut DeusWorld, object: ObjectId, due: GameTime) {
        if let Some(hero) = world.cast::<Hero>(object) {
            let lapses_at = self.heroes.get(&hero).and_then(|hero| hero.effects.lapses_at);
            if lapses_at == Some(due) {
                self.plan_hero(world, hero);
            }
            return;
        }
        let Some(id) = world.cast::<Monster>(object) else { return };
        let Some(monster) = self.monsters.get_mut(&id) else { return };
        if monster.effects.lapses_at != Some(due) {
            return;
        }
        let pace = monster.effects.pace();
        monster.hurt_by = monster.effects.killer();
        monster.settle(world.now());
        let changes_pace = pace < monster.effects.pace();
        self.monster_lost(world, id);
        if changes_pace {
            self.decide_anew(world, id);
        }
    }
}
