//! Items: how those of a chest are shared out, and the merchant.
//!
//! Invariants: an item is created when a chest is shared out, belongs to one hero, and ends when
//! the merchant buys it, its hero uses it up or leaves; what the merchant sells is created then.
//! Gold is never negative: it changes by what monsters leave and what the merchant takes and gives.

use std::collections::BTreeMap;

use ambit::prelude::*;
use ambit::presentation::Rarity;

use crate::content::ItemSlot;
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
    /// One in each slot; they are among the items.
    #[serde(default)]
    pub(crate) worn: BTreeMap<ItemSlot, u8>,
    /// When the next one of each consumable can be used.
    #[serde(default)]
    pub(crate) usable_at: BTreeMap<u8, GameTime>,
}

impl HeroBag {
    pub(crate) fn renumber_wish(&mut self, renumbered: impl Fn(u8) -> Option<u8>) {
        if let ItemWish::Item(item) = self.wish {
            self.wish = renumbered(item).map_or(ItemWish::Unsaid, ItemWish::Item);
        }
    }
}

/// How many there are of each of some items.
pub(crate) fn counted<const MAX: u32>(items: &[u8]) -> Counts<Item, MAX> {
    Counts::of(items.iter().map(|item| (Listed::new((*item).into()), 1)))
}

impl Deus {
    /// The items of a chest: one for each hero who takes part, of a rarity by its share. What is
    /// cheap only the merchant has.
    pub(crate) fn draw_items(&mut self, world: &mut DeusWorld) {
        let waves = &self.content.waves;
        let all: Vec<(u8, Rarity, i64)> = (0..)
            .zip(&self.content.items)
            .map(|(index, item)| (index, item.rarity, item.price))
            .collect();
        let found: Vec<_> = all.iter().filter(|(.., price)| *price >= waves.found_from).collect();
        let found = if found.is_empty() { all.iter().collect() } else { found };
        let mut kinds: BTreeMap<Rarity, Vec<u8>> = BTreeMap::new();
        for (index, rarity, _) in found {
            kinds.entry(*rarity).or_default().push(*index);
        }
        let rng = world.rng();
        let mut draw = || {
            // A rarity of which there is nothing, or whose share is 0, leaves its share to others.
            let total: u32 = kinds.keys().map(|rarity| waves.share_of(*rarity)).sum();
            let mut share = rng.u32(..total.max(1));
            let drawn = kinds.iter().find(|(rarity, _)| {
                let part = waves.share_of(**rarity);
                let is_drawn = share < part;
                share = share.saturating_sub(part);
                is_drawn
            });
            let items = drawn.or_else(|| kinds.iter().next()).map(|(_, items)| items);
            items.map(|items| items[rng.usize(..items.len())])
        };
        self.offer = self.living().filter_map(|_| draw()).collect();
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
        let table = self.content.item(item).ok_or(DeusRefusal::NotYours)?;
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
        let table = content.item(item).ok_or(DeusRefusal::NotYours)?;
        if !self.playing(id)?.bag.items.contains(&item) {
            return Err(DeusRefusal::NotYours);
        }
        self.remove_item(world, id, item);
        self.pay(world, id, (content.waves.sells_back * table.price as f32) as i64);
        Ok(())
    }

    /// Takes one of these items from a hero who has it.
    pub(crate) fn remove_item(&mut self, world: &mut DeusWorld, id: Id<Hero>, item: u8) {
        let Some(hero) = self.heroes.get_mut(&id) else { return };
        if hero.put_down(&self.content, item) {
            self.items_changed(world, id);
        }
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
        let Some(hero) = self.heroes.get_mut(&id) else { return };
        hero.take_up(&self.content, item);
        self.items_changed(world, id);
    }

    /// A hero has or wears other items.
    pub(crate) fn items_changed(&mut self, world: &mut DeusWorld, id: Id<Hero>) {
        self.show(world, id);
        if self.heroes.get(&id).is_some_and(|hero| hero.is_alive) {
            // Recovery depends on what there is to fill.
            self.plan_mana(world, id);
            self.plan_hero(world, id);
        }
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
