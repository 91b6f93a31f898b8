//! Experience, levels, and the talents that heroes learn for them.

use std::collections::BTreeMap;

use ambit::prelude::*;

use crate::content::{Content, Raises};
use crate::heroes::HeroState;
use crate::schema::{DeusRefusal, Hero, HeroesRise, LevelUp, Talent};
use crate::{Deus, DeusAnswer, DeusWorld};

impl HeroState {
    /// By how many per cent its talents raise something: in general, or of one spell.
    pub(crate) fn talents(
        &self,
        content: &Content,
        spell: Option<u8>,
        of: impl Fn(&Raises) -> f32,
    ) -> f32 {
        let spell = spell.map(|spell| &content.spell(spell).name);
        let learned = self.learned.iter().map(|talent| content.talent(*talent));
        let raising = learned.filter(|it| it.spell.is_none() || it.spell.as_ref() == spell);
        raising.map(|talent| of(&talent.raises)).sum()
    }

    pub(crate) fn level(&self, content: &Content) -> i64 {
        1 + self.levels(content) as i64
    }

    /// Levels after the first one: each gives a point for a talent.
    pub(crate) fn levels(&self, content: &Content) -> usize {
        content.levels.iter().filter(|needed| **needed <= self.experience).count()
    }

    pub(crate) fn points(&self, content: &Content) -> usize {
        self.levels(content).saturating_sub(self.learned.len())
    }

    fn may_learn(&self, content: &Content, talent: u8) -> Result<(), DeusRefusal> {
        let class = self.class.ok_or(DeusRefusal::NoClass)?;
        let class = &content.class(class).name;
        let table = content.talents.get(usize::from(talent)).filter(|it| it.class == *class);
        let table = table.ok_or(DeusRefusal::OtherClass)?;
        if self.learned.contains(&talent) {
            return Err(DeusRefusal::LearnedAlready);
        }
        let has = |name: &String| self.learned.iter().any(|it| content.talent(*it).name == *name);
        if !table.needs.iter().all(has) {
            return Err(DeusRefusal::NotYet);
        }
        if self.points(content) == 0 { Err(DeusRefusal::NoPoints) } else { Ok(()) }
    }

    /// The talents that it can learn now.
    pub(crate) fn learnable(&self, content: &Content) -> Counts<Talent, 1> {
        let talents = 0..content.talents.len() as u8;
        let open = talents.filter(|talent| self.may_learn(content, *talent).is_ok());
        Counts::of(open.map(|talent| (Listed::new(talent.into()), 1)))
    }

    pub(crate) fn known_talents(&self) -> Counts<Talent, 1> {
        Counts::of(self.learned.iter().map(|talent| (Listed::new((*talent).into()), 1)))
    }
}

impl Deus {
    /// A monster has died: the heroes near it get experience.
    pub(crate) fn share_experience(&mut self, world: &mut DeusWorld, at: Position, points: u32) {
        let (content, mut risen) = (self.content.clone(), BTreeMap::<i64, Vec<_>>::new());
        for id in self.living_near(world, at, content.share_m) {
            let Some(hero) = self.heroes.get_mut(&id) else { continue };
            let before = hero.level(&content);
            hero.experience = hero.experience.saturating_add(points);
            let level = hero.level(&content);
            if level > before {
                hero.show_experience(world, id);
                self.show(world, id);
                self.keep(world, id);
                risen.entry(level).or_default().push(id);
            }
        }
        for (level, heroes) in risen {
            // Most of a party rise at once: one event tells it of all.
            if let [hero] = *heroes {
                world.emit(LevelUp { hero, level });
            } else {
                world.announce(HeroesRise { heroes: heroes.len() as i64, level });
            }
        }
    }

    /// A player learns a talent, for a point.
    pub(crate) fn learn(&mut self, world: &mut DeusWorld, id: Id<Hero>, talent: u8) -> DeusAnswer {
        let hero = self.heroes.get_mut(&id).ok_or(DeusRefusal::NoClass)?;
        hero.may_learn(&self.content, talent)?;
        hero.learned.insert(talent);
        self.keep(world, id);
        self.show(world, id);
        self.plan_mana(world, id);
        self.plan_hero(world, id);
        Ok(())
    }
}
