//! What outlives an evening: of each class, the hero that a player had last.
//!
//! It is the player's profile, by names, so that the next release and another folder of content
//! find it again. What this content does not know stays in it as it is.
//!
//! Invariant: of the class that a player plays, the profile has what the hero has. Only experience
//! comes into it later: with the next level, or the next phase of the course.

use ambit::prelude::*;

use crate::content::Content;
use crate::instances::{MOST_EXPERIENCE, MOST_GOLD};
use crate::schema::{Hero, HeroRow};
use crate::{Deus, DeusWorld};

impl Deus {
    /// What a hero has is in its player's profile from now on.
    pub(crate) fn keep(&self, world: &mut DeusWorld, id: Id<Hero>) {
        let content = &self.content;
        let hero = self.heroes.get(&id);
        let Some((hero, class)) = hero.and_then(|hero| Some((hero, hero.class?))) else { return };
        let gold = world.row::<HeroRow>(hero.player).map_or(0, |row| row.gold());
        let Some(heroes) = world.edit_profile(hero.player) else { return };
        let kept = heroes.by_class.entry(content.class(class).name.clone()).or_default();
        (kept.experience, kept.gold) = (hero.experience, gold as u32);
        kept.talents.retain(|name| talent_named(content, name).is_none());
        kept.talents.extend(hero.learned.iter().map(|it| content.talent(*it).name.clone()));
        let named = |item: &u8| content.item(*item).map(|table| table.name.clone());
        kept.items.retain(|name| content.item_named(name).is_none());
        kept.items.extend(hero.bag.items.iter().filter_map(named));
        let worn = kept.worn.get_or_insert_default();
        worn.retain(|name| content.item_named(name).is_none());
        worn.extend(hero.bag.worn.values().filter_map(named));
    }

    /// The same of all.
    pub(crate) fn keep_all(&self, world: &mut DeusWorld) {
        for id in self.heroes.keys() {
            self.keep(world, *id);
        }
    }

    /// A hero has just got another class: it has what that one had last.
    pub(crate) fn recall(&mut self, world: &mut DeusWorld, id: Id<Hero>) {
        let content = self.content.clone();
        let Some(hero) = self.heroes.get_mut(&id) else { return };
        let Some(class) = hero.class.map(|class| content.class(class)) else { return };
        let heroes = world.profile(hero.player);
        let kept = heroes.and_then(|heroes| heroes.by_class.get(&class.name)).cloned();
        let kept = kept.unwrap_or_default();
        hero.experience = kept.experience.min(MOST_EXPERIENCE);
        let talents = kept.talents.iter().filter_map(|name| talent_named(&content, name));
        let own = talents.filter(|talent| content.talent(*talent).class == class.name);
        hero.learned = own.take(hero.levels(&content)).collect();
        hero.put_down_all();
        let named = |name: &String| content.item_named(name);
        let worn = kept.worn.map(|worn| worn.iter().filter_map(named).collect::<Vec<_>>());
        let items = kept.items.iter().filter_map(named).collect();
        hero.take_up_all(&content, items, worn.as_deref());
        if let Some(mut row) = world.edit_row::<HeroRow>(hero.player) {
            row.gold().set(kept.gold.min(MOST_GOLD).into());
        }
    }
}

fn talent_named(content: &Content, name: &str) -> Option<u8> {
    let index = content.talents.iter().position(|talent| talent.name == name)?;
    u8::try_from(index).ok()
}
