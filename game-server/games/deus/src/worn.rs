//! What a hero wears, and what it uses up.
//!
//! Items stay in the bag while they are worn: so they are counted, kept and carried once. An item
//! that comes is put on if nothing else is in its slot; the last one of its kind that goes (sold or
//! traded away) is taken off by that.
//!
//! Invariants:
//! 1. A hero wears one item in a slot at most, which is of that slot and in its bag.
//! 2. The `bonus` of a hero is the sum of what it wears, and of the items in its bag that have no
//!    slot.

use ambit::prelude::*;

use crate::content::{Content, ItemBonus, ItemSlot, ItemTable};
use crate::goods::{HeroBag, counted};
use crate::heroes::HeroState;
use crate::schema::{DeusRefusal, Hero, Item};
use crate::{Deus, DeusAnswer, DeusWorld};

impl HeroBag {
    pub(crate) fn counted_worn(&self) -> Counts<Item, 1> {
        counted(&self.worn.values().copied().collect::<Vec<_>>())
    }

    /// Those of its items that are of some kind.
    pub(crate) fn counted_of(
        &self,
        content: &Content,
        is: fn(&ItemTable) -> bool,
    ) -> Counts<Item, 999> {
        let items = self.items.iter().copied();
        let of_kind = items.filter(|item| content.item(*item).is_some_and(is));
        counted(&of_kind.collect::<Vec<_>>())
    }
}

impl HeroState {
    /// Puts an item on, in place of the one that is in its slot.
    fn put_on(&mut self, content: &Content, slot: ItemSlot, item: u8) {
        self.take_off(content, slot);
        if let Some(table) = content.item(item) {
            self.bonus.add(table, 1.0);
            self.bag.worn.insert(slot, item);
        }
    }

    fn take_off(&mut self, content: &Content, slot: ItemSlot) {
        let worn = self.bag.worn.remove(&slot);
        if let Some(table) = worn.and_then(|item| content.item(item)) {
            self.bonus.add(table, -1.0);
        }
    }

    /// Takes an item up, and puts it on if nothing else is in its slot.
    pub(crate) fn take_up(&mut self, content: &Content, item: u8) {
        let Some(table) = content.item(item) else { return };
        self.bag.items.push(item);
        match table.slot {
            None => self.bonus.add(table, 1.0),
            Some(ItemSlot::Consumable) => {}
            Some(slot) if self.bag.worn.contains_key(&slot) => {}
            Some(slot) => self.put_on(content, slot, item),
        }
    }

    /// Puts one of these items down; false if it has none.
    pub(crate) fn put_down(&mut self, content: &Content, item: u8) -> bool {
        let Some(place) = self.bag.items.iter().position(|held| *held == item) else {
            return false;
        };
        self.bag.items.remove(place);
        let table = content.item(item);
        if let Some(table) = table.filter(|table| table.slot.is_none()) {
            self.bonus.add(table, -1.0);
        }
        let slot = table.and_then(|table| table.slot);
        let is_worn = slot.is_some_and(|slot| self.bag.worn.get(&slot) == Some(&item));
        if let Some(slot) = slot.filter(|_| is_worn && !self.bag.items.contains(&item)) {
            self.take_off(content, slot);
        }
        true
    }

    pub(crate) fn put_down_all(&mut self) {
        self.bag.items.clear();
        self.bag.worn.clear();
        self.bonus = ItemBonus::default();
    }

    /// Takes up all that it had, and puts on what it wore; what it can, if that is not known.
    pub(crate) fn take_up_all(&mut self, content: &Content, items: Vec<u8>, worn: Option<&[u8]>) {
        for item in items {
            self.take_up(content, item);
        }
        let Some(worn) = worn else { return };
        let slots: Vec<ItemSlot> = self.bag.worn.keys().copied().collect();
        for slot in slots {
            self.take_off(content, slot);
        }
        for item in worn.iter().filter(|item| self.bag.items.contains(item)).collect::<Vec<_>>() {
            if let Some(slot) = content.item(*item).and_then(ItemTable::worn_slot) {
                self.put_on(content, slot, *item);
            }
        }
    }

    /// The same items have other numbers in this release.
    pub(crate) fn renumber(&mut self, content: &Content, renumbered: impl Fn(u8) -> Option<u8>) {
        let items = std::mem::take(&mut self.bag.items);
        self.put_down_all();
        self.take_up_all(content, items.into_iter().filter_map(&renumbered).collect(), None);
        self.bag.renumber_wish(renumbered);
    }
}

impl Deus {
    /// A hero puts an item on.
    pub(crate) fn equip(&mut self, world: &mut DeusWorld, id: Id<Hero>, item: u8) -> DeusAnswer {
        let content = self.content.clone();
        let hero = self.playing(id)?;
        let table = content.item(item).filter(|_| hero.bag.items.contains(&item));
        let slot = table.ok_or(DeusRefusal::NotYours)?.worn_slot();
        hero.put_on(&content, slot.ok_or(DeusRefusal::NotWorn)?, item);
        self.items_changed(world, id);
        Ok(())
    }

    /// A hero takes an item off.
    pub(crate) fn unequip(&mut self, world: &mut DeusWorld, id: Id<Hero>, item: u8) -> DeusAnswer {
        let content = self.content.clone();
        let hero = self.playing(id)?;
        let slot = hero.bag.worn.iter().find(|(_, worn)| **worn == item).map(|(slot, _)| *slot);
        hero.take_off(&content, slot.ok_or(DeusRefusal::NotWorn)?);
        self.items_changed(world, id);
        Ok(())
    }

    /// A hero uses an item up.
    pub(crate) fn use_up(&mut self, world: &mut DeusWorld, id: Id<Hero>, item: u8) -> DeusAnswer {
        let now = world.now();
        let content = self.content.clone();
        let hero = self.playing(id)?;
        let table = content.item(item).filter(|_| hero.bag.items.contains(&item));
        let table = table.ok_or(DeusRefusal::NotYours)?;
        if !table.is_consumable() {
            return Err(DeusRefusal::NotUsable);
        }
        if hero.bag.usable_at.get(&item).is_some_and(|at| now < *at) {
            return Err(DeusRefusal::OnCooldown);
        }
        hero.bag.usable_at.insert(item, now + table.cooldown_s.secs());
        let health = hero.health(&content) * table.health / 100.0;
        self.remove_item(world, id, item);
        if let Some(mut avatar) = world.edit(id).filter(|_| table.mana > 0.0) {
            avatar.mana().add(table.mana);
            self.plan_mana(world, id);
        }
        if health > 0.0 {
            self.relieve(world, id, health);
        }
        Ok(())
    }

    /// What was saved before items had slots: they were in the order of their names, of which the
    /// shipped content had eight.
    pub(crate) fn renumber_items(&mut self) {
        const SHIPPED: [&str; 8] = [
            "blue-stone",
            "iron-ring",
            "light-boots",
            "red-stone",
            "whetstone",
            "wine-skin",
            "wooden-charm",
            "wrist-wrap",
        ];
        let content = self.content.clone();
        let mut names: Vec<&str> = content.items.iter().map(|item| &*item.name).collect();
        names.sort_unstable();
        if content.is_shipped() {
            names = SHIPPED.to_vec();
        }
        let numbers: Vec<_> = names.iter().map(|name| content.item_named(name)).collect();
        let renumbered = |item: u8| numbers.get(usize::from(item)).copied().flatten();
        for hero in self.heroes.values_mut() {
            hero.renumber(&content, renumbered);
        }
        self.offer = self.offer.iter().filter_map(|item| renumbered(*item)).collect();
        // An offer lasts a minute: heroes make it again.
        self.trades.clear();
    }
}
