//! Heroes: their class, what items give them, damage and death.

use ambit::prelude::*;

use crate::content::{Content, ItemTable};
use crate::goods::HeroBag;
use crate::schema::{
    Class, DeusRefusal, DeusTimer, Fallen, Hero, HeroRow, HeroSpell, Monster, Wound,
};
use crate::{Deus, DeusWorld};

/// A dead hero fades a tick after its death was told.
const FADE: Duration = Duration::from_millis(100);

/// A hero, as the game has it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct HeroState {
    pub(crate) player: PlayerId,
    pub(crate) class: Option<Class>,
    pub(crate) is_alive: bool,
    /// For the next wave, with the merchant: it has come in the middle of this one.
    pub(crate) waits: bool,
    /// When each spell can be cast again.
    pub(crate) ready_at: Vec<(HeroSpell, GameTime)>,
    /// What its items give together.
    pub(crate) bonus: ItemTable,
    pub(crate) bag: HeroBag,
    /// Who has each of the places around this hero, as long as the hero is its target.
    pub(crate) around: [Option<Id<Monster>>; 8],
}

impl HeroState {
    pub(crate) fn new(player: PlayerId) -> Self {
        let (ready_at, bonus, around) = (Vec::new(), ItemTable::default(), [None; 8]);
        let (is_alive, waits, bag) = (false, false, HeroBag::default());
        Self { player, class: None, is_alive, waits, ready_at, bonus, bag, around }
    }

    pub(crate) fn takes_part(&self) -> bool {
        self.is_alive && !self.waits
    }

    /// Points of health at 100 %.
    fn health(&self, content: &Content) -> f32 {
        self.class.map_or(1.0, |class| content.class(class).health) * raised(self.bonus.health)
    }

    /// Points of mana at 100 %.
    pub(crate) fn mana(&self, content: &Content) -> f32 {
        self.class.map_or(1.0, |class| content.class(class).mana) * raised(self.bonus.mana)
    }

    pub(crate) fn speed_m_per_s(&self, content: &Content) -> f32 {
        let by_class = self.class.map_or(4.0, |class| content.class(class).speed_m_per_s);
        by_class * raised(self.bonus.speed)
    }

    pub(crate) fn power(&self) -> f32 {
        raised(self.bonus.damage)
    }
}

fn raised(per_cent: f32) -> f32 {
    1.0 + per_cent / 100.0
}

impl Deus {
    /// A player chooses a class, and so comes to life.
    pub(crate) fn choose(
        &mut self,
        world: &mut DeusWorld,
        player: Player<'_, Self>,
        class: Class,
    ) -> Result<(), DeusRefusal> {
        let id = player.avatar();
        let waits = world.position(id).is_some_and(|at| self.is_away(at));
        let hero = self.heroes.get_mut(&id).ok_or(DeusRefusal::NoClass)?;
        if hero.class.is_some() && !self.phase.is_choosing() {
            return Err(DeusRefusal::ClassChosen);
        }
        hero.class = Some(class);
        (hero.is_alive, hero.waits) = (true, waits);
        self.heal(world, id);
        let mut avatar = world.avatar(player);
        avatar.class().set(class.name());
        avatar.alive().set(true);
        if let Some(mut score) = world.edit_row::<HeroRow>(player) {
            score.class().set(class.name());
            score.alive().set(true);
        }
        world.ask_who_sees(id);
        self.choice_made(world);
        Ok(())
    }

    /// Fills health and mana of a living hero.
    pub(crate) fn heal(&self, world: &mut DeusWorld, id: Id<Hero>) {
        let Some(hero) = self.heroes.get(&id).filter(|hero| hero.is_alive) else { return };
        let Some(class) = hero.class.map(|class| self.content.class(class)) else { return };
        let health = class.health_per_s / hero.health(&self.content);
        let mana = class.mana_per_s / hero.mana(&self.content);
        if let Some(mut avatar) = world.edit(id) {
            avatar.health().set_both(100.0, 100.0 * health);
            avatar.mana().set_both(100.0, 100.0 * mana);
        }
    }

    /// Those who take part in this wave.
    pub(crate) fn living(&self) -> impl Iterator<Item = (Id<Hero>, &HeroState)> {
        self.heroes.iter().filter(|(_, hero)| hero.takes_part()).map(|(id, hero)| (*id, hero))
    }

    /// Takes points of health from all heroes near a place.
    pub(crate) fn hurt_heroes_near(
        &mut self,
        world: &mut DeusWorld,
        at: Position,
        radius_m: f32,
        points: f32,
    ) {
        let is_hit = |place: Position| place.ground_distance(at) <= radius_m;
        let places = self.living().filter_map(|(hero, _)| Some((hero, world.position(hero)?)));
        let hit: Vec<_> = places.filter(|(_, place)| is_hit(*place)).map(|(id, _)| id).collect();
        for hero in hit {
            self.hurt_hero(world, hero, points);
        }
    }

    /// Takes points of health from a hero.
    pub(crate) fn hurt_hero(&mut self, world: &mut DeusWorld, id: Id<Hero>, points: f32) {
        let Some(hero) = self.heroes.get_mut(&id).filter(|hero| hero.is_alive) else { return };
        let taken = 100.0 * points / raised(hero.bonus.armour) / hero.health(&self.content);
        let Some(mut avatar) = world.edit(id) else { return };
        let left = avatar.health().value() - taken;
        if left > 0.0 {
            avatar.health().set(left);
        } else {
            hero.is_alive = false;
            avatar.health().set_both(0.0, 0.0);
            avatar.alive().set(false);
            avatar.path().stop();
        }
        let (player, target, amount) = (hero.player, id.object(), taken.ceil() as i64);
        world.emit(Wound { target, amount });
        if left > 0.0 {
            return;
        }
        world.emit(Fallen { target });
        if let Some(mut score) = world.edit_row::<HeroRow>(player) {
            score.alive().set(false);
        }
        world.after(FADE, DeusTimer::Fade(id));
        self.check_end_of_fight(world);
    }
}
