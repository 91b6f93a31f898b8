//! Items: how those of a chest are shared out, and the merchant.
//!
//! Invariants: an item is created when a chest is shared out, belongs to one hero, and ends when
//! the merchant buys it or its hero leaves; what the merchant sells is created then. Gold is never
//! negative: it changes by what monsters leave and what the merchant takes and gives. What a hero's
//! items give is in its `bonus`.

use ambit::prelude::*;

use crate::content::ItemTable;
use crate::course::Phase;
use crate::schema::{DeusRefusal, Hero, HeroRow, IsReady, Item, Loot, LootRule, place_of};
use crate::{Deus, DeusAnswer, DeusWorld};

/// What a hero needs of a chest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
enum ItemWish {
    #[default]
    Unsaid,
    Nothing,
    Item(u8),
}

/// What a hero has, and what it has said in this phase.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct HeroBag {
    /// Indices of tables, in the order in which they came.
    pub(crate) items: Vec<u8>,
    wish: ItemWish,
    pub(crate) is_ready: bool,
}

/// How many there are of each of some items.
pub(crate) fn counted<const MAX: u32>(items: &[u8]) -> Counts<Item, MAX> {
    Counts::of(items.iter().map(|item| (Listed::new((*item).into()), 1)))
}

impl Deus {
    /// The items of a chest: one for each hero who takes part. What is cheap only the merchant has.
    pub(crate) fn draw_items(&mut self, world: &mut DeusWorld) {
        let items = &self.content.items;
        let least = self.content.waves.found_from;
        let indices = (0..).zip(items.values());
        let mut kinds: Vec<u8> =
            indices.filter(|(_, item)| item.price >= least).map(|(index, _)| index).collect();
        if kinds.is_empty() {
            kinds.extend(0..items.len() as u8);
        }
        let mut draw = || kinds[usize::from(world.rng().u8(..kinds.len() as u8))];
        self.offer = self.living().map(|_| draw()).collect();
        self.show_course(world);
        self.heroes.values_mut().for_each(|hero| hero.bag.wish = ItemWish::Unsaid);
    }

    /// Gives the items of the chest away. A wanted item goes to one of the heroes who want it; the
    /// other items go to heroes who have received none.
    pub(crate) fn share_out(&mut self, world: &mut DeusWorld) {
        let heroes: Vec<Id<Hero>> = self.living().map(|(id, _)| id).collect();
        if heroes.is_empty() {
            self.offer.clear();
        }
        let mut without = heroes.clone();
        let wants = |game: &Self, id: &Id<Hero>, item: u8| {
            game.heroes.get(id).is_some_and(|hero| hero.bag.wish == ItemWish::Item(item))
        };
        let mut offer = std::mem::take(&mut self.offer);
        offer.sort_by_key(|item| !heroes.iter().any(|id| wants(self, id, *item)));
        for item in offer {
            if without.is_empty() {
                without.clone_from(&heroes);
            }
            let next = match self.loot {
                LootRule::Turns => heroes.iter().find(|id| Some(**id) > self.last_turn).copied(),
                LootRule::Greed => Some(heroes[world.rng().usize(..heroes.len())]),
                LootRule::Need => {
                    let mut takers = without.clone();
                    takers.retain(|id| wants(self, id, item));
                    let takers = if takers.is_empty() { &without } else { &takers };
                    Some(takers[world.rng().usize(..takers.len())])
                }
            };
            let taker = next.unwrap_or(heroes[0]);
            self.last_turn = Some(taker);
            without.retain(|id| *id != taker);
            self.add_item(world, taker, item);
            let name = world.get(taker).map_or_else(String::new, |hero| hero.name().to_owned());
            world.announce(Loot { hero_name: name.into(), item: Listed::new(item.into()) });
        }
        self.show_course(world);
    }

    /// A hero says what it needs of the chest.
    pub(crate) fn want(
        &mut self,
        world: &mut DeusWorld,
        id: Id<Hero>,
        item: Option<Listed<Item>>,
    ) -> DeusAnswer {
        if self.phase != Phase::Share {
            return Err(DeusRefusal::NoChest);
        }
        if item.is_some_and(|item| !self.offer.contains(&place_of(item))) {
            return Err(DeusRefusal::NotInChest);
        }
        self.playing(id)?.bag.wish =
            item.map_or(ItemWish::Nothing, |item| ItemWish::Item(place_of(item)));
        self.check_all_said(world);
        Ok(())
    }

    /// A hero has nothing more to do at the merchant's, or it has after all.
    pub(crate) fn say_ready(
        &mut self,
        world: &mut DeusWorld,
        id: Id<Hero>,
        is_ready: bool,
    ) -> DeusAnswer {
        self.require_merchant()?;
        let was = std::mem::replace(&mut self.playing(id)?.bag.is_ready, is_ready);
        if is_ready && !was {
            world.emit(IsReady { hero: id });
        }
        self.show(world, id);
        self.check_all_said(world);
        Ok(())
    }

    pub(crate) fn buy(&mut self, world: &mut DeusWorld, id: Id<Hero>, item: u8) -> DeusAnswer {
        self.require_merchant()?;
        let (_, table) = self.content.item(item).ok_or(DeusRefusal::NotYours)?;
        let price = table.price;
        let carries = self.content.waves.carries;
        let hero = self.playing(id)?;
        if hero.bag.items.len() >= carries {
            return Err(DeusRefusal::BagFull);
        }
        if world.row::<HeroRow>(hero.player).is_none_or(|row| row.gold() < price) {
            return Err(DeusRefusal::NotEnoughGold);
        }
        self.pay(world, id, -price);
        self.add_item(world, id, item);
        Ok(())
    }

    pub(crate) fn sell(&mut self, world: &mut DeusWorld, id: Id<Hero>, item: u8) -> DeusAnswer {
        self.require_merchant()?;
        let content = self.content.clone();
        let (_, table) = content.item(item).ok_or(DeusRefusal::NotYours)?;
        if !self.playing(id)?.bag.items.contains(&item) {
            return Err(DeusRefusal::NotYours);
        }
        self.remove_item(world, id, item);
        self.pay(world, id, (content.waves.sells_back * table.price as f32) as i64);
        Ok(())
    }

    /// Takes one of these items from a hero who has it.
    pub(crate) fn remove_item(&mut self, world: &mut DeusWorld, id: Id<Hero>, item: u8) {
        let content = self.content.clone();
        let Some((_, table)) = content.item(item) else { return };
        let Some(hero) = self.heroes.get_mut(&id) else { return };
        let Some(place) = hero.bag.items.iter().position(|held| *held == item) else { return };
        hero.bag.items.remove(place);
        self.items_changed(world, id, table, -1.0);
    }

    /// Gives gold to a hero, or takes it.
    pub(crate) fn pay(&self, world: &mut DeusWorld, id: Id<Hero>, gold: i64) {
        let player = self.heroes.get(&id).map(|hero| hero.player);
        if let Some(mut row) = player.and_then(|player| world.edit_row::<HeroRow>(player)) {
            row.gold().add(gold);
        }
        self.keep(world, id);
    }

    fn require_merchant(&self) -> DeusAnswer {
        if self.phase == Phase::Merchant { Ok(()) } else { Err(DeusRefusal::NoMerchant) }
    }

    pub(crate) fn add_item(&mut self, world: &mut DeusWorld, id: Id<Hero>, item: u8) {
        let content = self.content.clone();
        let Some((_, table)) = content.item(item) else { return };
        let Some(hero) = self.heroes.get_mut(&id) else { return };
        hero.bag.items.push(item);
        self.items_changed(world, id, table, 1.0);
    }

    fn items_changed(&mut self, world: &mut DeusWorld, id: Id<Hero>, table: &ItemTable, sign: f32) {
        let Some(hero) = self.heroes.get_mut(&id) else { return };
        hero.bonus.add(table, sign);
        self.show(world, id);
        // Recovery depends on what there is to fill.
        self.heal(world, id);
        self.keep(world, id);
    }

    /// Ends the phase if all living heroes have given the answer it waits for.
    pub(crate) fn check_all_said(&mut self, world: &mut DeusWorld) {
        let all_said = match self.phase {
            Phase::Share => self.living().all(|(_, hero)| hero.bag.wish != ItemWish::Unsaid),
            Phase::Merchant if self.gathers(world.now()) => false,
            Phase::Merchant => self.living().all(|(_, hero)| hero.bag.is_ready),
            _ => false,
        };
        if all_said {
            self.phase_ends(world);
        }
    }
}
