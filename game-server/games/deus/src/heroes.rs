//! Heroes: their class, what items and talents give them, damage, healing, hiding and death.

use std::collections::{BTreeMap, BTreeSet};

use ambit::prelude::*;
use ambit_ways::PlacesAround;

use crate::content::{Content, ItemBonus, ItemTable};
use crate::goods::HeroBag;
use crate::goods::counted;
use crate::plans::Effects;
use crate::schema::{DeusRefusal, DeusTimer, Fallen, Hero, HeroRow, Monster, Phase, Relief};
use crate::{Deus, DeusAnswer, DeusWorld, MOST_FALLEN};

/// A dead hero fades a tick after the event of its death.
const FADE: Duration = Duration::from_millis(100);
/// How long a dead hero sees the place where it has fallen.
const MOURN: Duration = Duration::from_secs(3);
/// How often watching heroes are moved to the others, unless others are within
/// `WATCHES_WITHIN_M`.
const FOLLOW: Duration = Duration::from_secs(1);
const WATCHES_WITHIN_M: f32 = 10.0;
/// A hero with a monster within this distance fights.
const FIGHTS_M: f32 = 15.0;

/// A hero, as the game has it.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct HeroState {
    pub(crate) player: PlayerId,
    /// The index of its table.
    pub(crate) class: Option<u8>,
    pub(crate) is_alive: bool,
    /// For the next wave: it has come in the middle of this one, and watches.
    pub(crate) waits: bool,
    /// It has chosen where its party is not. It comes to life where the party is, which knows
    /// whether it has fallen.
    pub(crate) follows: bool,
    pub(crate) fell_at: Option<GameTime>,
    /// When each spell can be cast again.
    pub(crate) ready_at: BTreeMap<u8, GameTime>,
    pub(crate) experience: u32,
    /// The indices of its talents.
    pub(crate) learned: BTreeSet<u8>,
    pub(crate) effects: Effects,
    /// Other players do not see it until then.
    pub(crate) hidden_until: Option<GameTime>,
    /// What its items that work give together.
    pub(crate) bonus: ItemBonus,
    pub(crate) bag: HeroBag,
    /// Who has each of the places around this hero, as long as the hero is its target.
    pub(crate) around: PlacesAround,
}

impl HeroState {
    /// Shows its experience, which each kill of the party changes.
    pub(crate) fn show_experience(&self, world: &mut DeusWorld, id: Id<Hero>) {
        if let Some(mut avatar) = world.edit(id) {
            avatar.experience().set(self.experience.into());
        }
    }

    pub(crate) fn takes_part(&self) -> bool {
        self.is_alive && !self.waits
    }

    pub(crate) fn is_hidden(&self) -> bool {
        self.hidden_until.is_some()
    }

    /// Points of health at 100 %.
    pub(crate) fn health(&self, content: &Content) -> f32 {
        let by_class = self.class.map_or(1.0, |class| content.class(class).health);
        by_class * raised(self.bonus.health + self.talents(content, None, |it| it.health))
    }

    /// Points of mana at 100 %.
    pub(crate) fn mana(&self, content: &Content) -> f32 {
        let by_class = self.class.map_or(1.0, |class| content.class(class).mana);
        by_class * raised(self.bonus.mana + self.talents(content, None, |it| it.mana))
    }

    /// Points of health a second, by class and by effects.
    pub(crate) fn health_per_s(&self, content: &Content, time: GameTime) -> f32 {
        let by_class = self.class.map_or(0.0, |class| content.class(class).health_per_s);
        by_class + self.effects.rate_at(time)
    }

    pub(crate) fn speed_m_per_s(&self, content: &Content) -> f32 {
        let by_class = self.class.map_or(4.0, |class| content.class(class).speed_m_per_s);
        by_class * raised(self.bonus.speed + self.talents(content, None, |it| it.speed))
    }
}

pub(crate) fn raised(per_cent: f32) -> f32 {
    1.0 + per_cent / 100.0
}

impl Deus {
    /// A living hero.
    pub(crate) fn playing(&mut self, id: Id<Hero>) -> Result<&mut HeroState, DeusRefusal> {
        let hero = self.heroes.get_mut(&id).filter(|hero| hero.class.is_some());
        let hero = hero.ok_or(DeusRefusal::NoClass)?;
        if hero.follows {
            return Err(DeusRefusal::Follows);
        }
        if hero.is_alive { Ok(hero) } else { Err(DeusRefusal::Dead) }
    }

    /// A player chooses a class, and so comes to life, unless its party is on another map.
    pub(crate) fn choose(&mut self, world: &mut DeusWorld, id: Id<Hero>, class: u8) -> DeusAnswer {
        let follows = self.follows_party();
        let hero = self.heroes.get_mut(&id).ok_or(DeusRefusal::NoClass)?;
        if usize::from(class) >= self.content.classes.len() {
            return Err(DeusRefusal::NoClass);
        }
        let may_change = self.phase.is_choosing() && (hero.is_alive || hero.follows);
        if hero.class.is_some() && !may_change {
            return Err(DeusRefusal::ClassChosen);
        }
        let is_other = hero.class != Some(class);
        if is_other {
            self.keep(world, id);
        }
        let hero = self.heroes.get_mut(&id).ok_or(DeusRefusal::NoClass)?;
        (hero.class, hero.is_alive, hero.follows) = (Some(class), !follows, follows);
        if is_other {
            self.recall(world, id);
        }
        self.enter(world, id);
        if self.phase == Phase::Fight {
            self.join_fight(world, id);
        }
        self.choice_made(world);
        Ok(())
    }

    /// A hero who comes into a fight takes part at once, from the door next to those who fight; the
    /// wave gets stronger by the share of a hero.
    fn join_fight(&mut self, world: &mut DeusWorld, id: Id<Hero>) {
        let fights = self.living().find_map(|(other, _)| world.position(other));
        let Some(hero) = self.heroes.get_mut(&id).filter(|hero| hero.is_alive && hero.waits) else {
            return;
        };
        hero.waits = false;
        let mut rng = world.rng_for(3, hero.player.0 | u64::from(self.phase_number) << 32);
        let rooms = &self.layout.slot(self.slot).rooms;
        let at = fights
            .and_then(|at| self.open_door_near(at))
            .unwrap_or_else(|| rooms[0].place_to_begin(world.statics(), &mut rng));
        if let Some(mut avatar) = world.edit(id) {
            avatar.path().teleport(at);
        }
        self.show(world, id);
        self.reinforce(world);
    }

    /// A hero of a class begins, with full health if it is alive.
    pub(crate) fn enter(&mut self, world: &mut DeusWorld, id: Id<Hero>) {
        let Some(hero) = self.heroes.get_mut(&id) else { return };
        if self.phase.is_end() || self.fallen.contains(&hero.player) {
            (hero.is_alive, hero.waits, hero.follows) = (false, false, false);
        }
        hero.show_experience(world, id);
        self.show(world, id);
        self.heal(world, id);
        world.ask_who_sees(id);
    }

    /// Shows what a hero is and has, but for health and mana. What has not changed is not sent.
    pub(crate) fn show(&self, world: &mut DeusWorld, id: Id<Hero>) {
        let content = &self.content;
        let hero = self.heroes.get(&id);
        let Some((hero, class)) = hero.and_then(|hero| Some((hero, hero.class?))) else { return };
        let class = &content.class(class).name;
        if let Some(mut avatar) = world.edit(id) {
            avatar.class().set(class);
            avatar.alive().set(hero.is_alive);
            avatar.hidden().set(hero.is_hidden());
            avatar.waits().set(hero.waits || hero.follows);
            avatar.fights().set(hero.takes_part());
            avatar.ready().set(hero.bag.is_ready && self.phase == Phase::Merchant);
            avatar.level().set(hero.level(content));
            avatar.points().set(hero.points(content) as i64);
            avatar.speed().set(hero.speed_m_per_s(content));
        }
        if let Some(mut row) = world.edit_row::<HeroRow>(hero.player) {
            row.class().set(class);
            row.alive().set(hero.is_alive);
            row.learnable().set(&hero.learnable(content));
            row.learned().set(&hero.known_talents());
            row.items().set(hero.bag.items.len() as i64);
            row.bag().set(&counted(&hero.bag.items));
            row.worn().set(&hero.bag.counted_worn());
            row.wearable().set(&hero.bag.counted_of(content, |item| item.worn_slot().is_some()));
            row.usable().set(&hero.bag.counted_of(content, ItemTable::is_consumable));
        }
    }

    /// Fills health and mana of a living hero.
    pub(crate) fn heal(&mut self, world: &mut DeusWorld, id: Id<Hero>) {
        let is_alive = self.heroes.get(&id).is_some_and(|hero| hero.is_alive);
        let Some(mut avatar) = world.edit(id).filter(|_| is_alive) else { return };
        avatar.health().set(100.0);
        avatar.mana().set(100.0);
        self.plan_mana(world, id);
        self.plan_hero(world, id);
    }

    /// Gives points of health to a living hero.
    pub(crate) fn relieve(&mut self, world: &mut DeusWorld, target: Id<Hero>, points: f32) {
        let Some(hero) = self.heroes.get(&target).filter(|hero| hero.is_alive) else { return };
        let Some(mut avatar) = world.edit(target) else { return };
        let before = avatar.health().value();
        avatar.health().add(100.0 * points / hero.health(&self.content));
        let amount = (avatar.health().value() - before).ceil() as i64;
        world.emit(Relief { target, amount });
        self.plan_hero(world, target);
    }

    /// Hides a hero from other players; monsters forget it.
    pub(crate) fn hide(&mut self, world: &mut DeusWorld, id: Id<Hero>, seconds: f32) {
        let until = world.now() + seconds.secs();
        let Some(hero) = self.heroes.get_mut(&id) else { return };
        hero.hidden_until = Some(until);
        for monster in self.monsters.values_mut().filter(|it| it.target == Some(id)) {
            monster.target = None;
        }
        self.show(world, id);
        world.ask_who_sees(id);
        world.at(until, DeusTimer::Appear(id));
    }

    /// All see a hero again, if it is hidden; with a time: if it is hidden until then.
    pub(crate) fn appear(&mut self, world: &mut DeusWorld, id: Id<Hero>, due: Option<GameTime>) {
        let Some(hero) = self.heroes.get_mut(&id).filter(|hero| hero.is_hidden()) else { return };
        if due.is_some() && due != hero.hidden_until {
            return;
        }
        hero.hidden_until = None;
        self.show(world, id);
        world.ask_who_sees(id);
    }

    /// Whom monsters can see.
    pub(crate) fn visible(&self) -> impl Iterator<Item = (Id<Hero>, &HeroState)> {
        self.living().filter(|(_, hero)| !hero.is_hidden())
    }

    /// Those who take part in this wave.
    pub(crate) fn living(&self) -> impl Iterator<Item = (Id<Hero>, &HeroState)> {
        self.heroes.iter().filter(|(_, hero)| hero.takes_part()).map(|(id, hero)| (*id, hero))
    }

    /// Those of them who are near a place.
    pub(crate) fn living_near(&self, world: &DeusWorld, at: Position, reach: f32) -> Vec<Id<Hero>> {
        let is_near = |id: &Id<Hero>| {
            world.position(*id).is_some_and(|place| place.ground_distance(at) <= reach)
        };
        // Nothing happens any more to those who leave.
        let here = self.living().filter(|_| self.phase != Phase::Onward);
        here.map(|(id, _)| id).filter(is_near).collect()
    }

    /// Moves watching heroes to where others fight. Others do not see a watching hero, and it is
    /// not moved to heroes that are hidden from it.
    pub(crate) fn take_along(&self, world: &mut DeusWorld) {
        let positions = self.visible().filter_map(|(id, _)| world.position(id));
        let fights = |at: &Position| world.nearest_within::<Monster>(*at, FIGHTS_M).is_some();
        let (mut places, others): (Vec<_>, Vec<_>) = positions.partition(fights);
        if places.is_empty() {
            places = others;
        }
        for (id, hero) in self.heroes.iter().filter(|(_, hero)| !hero.takes_part()) {
            let Some(from) = world.position(*id) else { continue };
            let away = |at: &&Position| at.ground_distance(from);
            let nearest = places.iter().min_by(|one, other| away(one).total_cmp(&away(other)));
            let has_seen = hero.fell_at.is_none_or(|at| world.now().since(at) > MOURN);
            let to = nearest.filter(|at| has_seen && away(at) > WATCHES_WITHIN_M);
            if let Some((to, mut avatar)) = to.zip(world.edit(*id)) {
                avatar.path().teleport(*to);
            }
        }
        world.after(FOLLOW, DeusTimer::Follow(self.phase_number));
    }

    /// Takes points of health from a hero.
    pub(crate) fn hurt_hero(&mut self, world: &mut DeusWorld, id: Id<Hero>, points: f32) {
        let Some(hero) = self.heroes.get_mut(&id).filter(|hero| hero.is_alive) else { return };
        let armour = hero.bonus.armour + hero.talents(&self.content, None, |it| it.armour);
        let taken = 100.0 * points / raised(armour) / hero.health(&self.content);
        let Some(mut avatar) = world.edit(id) else { return };
        let left = avatar.health().value() - taken;
        if left > 0.0 {
            avatar.health().set(left);
            return self.plan_hero(world, id);
        }
        avatar.health().set_both(0.0, 0.0);
        avatar.path().stop();
        // What has fallen until now is also its gold.
        self.tally(world);
        let fell_at = Some(world.now());
        if let Some(hero) = self.heroes.get_mut(&id) {
            (hero.is_alive, hero.fell_at) = (false, fell_at);
            if self.fallen.len() < MOST_FALLEN {
                self.fallen.insert(hero.player);
            }
        }
        self.show(world, id);
        self.appear(world, id, None);
        world.emit(Fallen { target: id.object() });
        world.after(FADE, DeusTimer::Fade(id));
        self.check_end_of_fight(world);
    }
}
