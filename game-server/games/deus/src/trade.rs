//! Trade between two heroes, in two steps: one offers something of its own for something of the
//! other, the other accepts this very offer by its number. Then both change hands at once.
//!
//! Nothing is set apart for an offer: it is checked again when it is accepted, and is void if one
//! of the two is dead, gone or too far away, or has not got its part any more. So there is no
//! moment between the steps in which goods could be lost or doubled. All of it happens within one
//! command, and both profiles are written together. What the giver wears is taken off by that, if
//! it is the last one.

use ambit::prelude::*;

use crate::offers::{Trade, TradePart};
use crate::schema::{
    DeusRefusal, Hero, HeroRow, Item, NAME_BYTES, TradeDone, TradeOffered, place_of,
};
use crate::{Deus, DeusAnswer, DeusWorld};

/// Heroes trade within this distance.
const TRADE_WITHIN_M: f32 = 10.0;
/// An offer is good for this time.
const LASTS: Duration = Duration::from_mins(1);

impl Deus {
    /// A hero offers another one a trade. It replaces the one that it has offered before.
    pub(crate) fn offer_trade(
        &mut self,
        world: &mut DeusWorld,
        (id, to): (Id<Hero>, Id<Hero>),
        (give, gold): (Option<Listed<Item>>, Option<Number<0, 99_999>>),
        (want, price): (Option<Text<NAME_BYTES>>, Option<Number<0, 99_999>>),
    ) -> DeusAnswer {
        let player = self.playing(id)?.player;
        let buyer = self.heroes.get(&to).filter(|other| to != id && other.takes_part());
        let buyer = buyer.ok_or(DeusRefusal::NoTrade)?.player;
        let named = |name: Text<NAME_BYTES>| self.content.item_named(name.as_str());
        let want = want.map(|name| named(name).ok_or(DeusRefusal::NoSuchItem));
        let give = TradePart { item: give.map(place_of), gold: gold.map_or(0, Number::get) };
        let take = TradePart { item: want.transpose()?, gold: price.map_or(0, Number::get) };
        if give.is_nothing() && take.is_nothing() {
            return Err(DeusRefusal::NothingOffered);
        }
        check_near(world, id, to)?;
        self.check_has(world, id, give)?;
        self.last_trade += 1;
        let number = self.last_trade;
        let until = world.now() + LASTS;
        self.trades.insert(player, Trade { number, to: buyer, give, take, until });
        let (give, take) = (self.in_words(give), self.in_words(take));
        let offer = i64::from(number);
        world.tell(buyer, TradeOffered { hero: id, give, take, offer });
        Ok(())
    }

    /// A hero accepts the offer of this number: both parts change hands.
    pub(crate) fn accept_trade(
        &mut self,
        world: &mut DeusWorld,
        id: Id<Hero>,
        number: i64,
    ) -> DeusAnswer {
        let buyer = self.playing(id)?.player;
        let now = world.now();
        let is_it = |trade: &&Trade| {
            i64::from(trade.number) == number && trade.to == buyer && trade.until >= now
        };
        let found = self.trades.iter().find(|(_, trade)| is_it(trade));
        let (seller, trade) =
            found.map(|(seller, trade)| (*seller, *trade)).ok_or(DeusRefusal::NoTrade)?;
        let Trade { give, take, .. } = trade;
        let from = self.heroes.iter().find(|(_, hero)| hero.player == seller);
        let from = *from.ok_or(DeusRefusal::NoTrade)?.0;
        self.playing(from).map_err(|_| DeusRefusal::NoTrade)?;
        check_near(world, from, id)?;
        self.check_has(world, from, give).map_err(|_| DeusRefusal::NoTrade)?;
        self.check_has(world, id, take)?;
        self.check_room(id, take, give)?;
        self.check_room(from, give, take).map_err(|_| DeusRefusal::NoTrade)?;

        self.trades.remove(&seller);
        self.hand_over(world, from, id, give);
        self.hand_over(world, id, from, take);
        let (give, take) = (self.in_words(give), self.in_words(take));
        let done = [(id, from, give.clone(), take.clone()), (from, id, take, give)];
        for (hero, other, got, gave) in done {
            if let Some(player) = self.heroes.get(&hero).map(|hero| hero.player) {
                world.tell(player, TradeDone { hero: other, got, gave });
            }
        }
        Ok(())
    }

    fn hand_over(&mut self, world: &mut DeusWorld, from: Id<Hero>, to: Id<Hero>, part: TradePart) {
        if let Some(item) = part.item {
            self.remove_item(world, from, item);
            self.add_item(world, to, item);
        }
        if part.gold > 0 {
            self.pay(world, from, -part.gold);
            self.pay(world, to, part.gold);
        }
    }

    fn check_has(&self, world: &DeusWorld, id: Id<Hero>, part: TradePart) -> DeusAnswer {
        let hero = self.heroes.get(&id).ok_or(DeusRefusal::NoTrade)?;
        if part.item.is_some_and(|item| !hero.bag.items.contains(&item)) {
            return Err(DeusRefusal::NotYours);
        }
        let gold = world.row::<HeroRow>(hero.player).map_or(0, |row| row.gold());
        if gold < part.gold { Err(DeusRefusal::NotEnoughGold) } else { Ok(()) }
    }

    /// Whether a hero's bag has room for what comes, after what goes.
    fn check_room(&self, id: Id<Hero>, goes: TradePart, comes: TradePart) -> DeusAnswer {
        let held = self.heroes.get(&id).map_or(0, |hero| hero.bag.items.len());
        let after = held + usize::from(comes.item.is_some()) - usize::from(goes.item.is_some());
        let is_free = comes.item.is_none() || after <= self.content.waves.carries;
        if is_free { Ok(()) } else { Err(DeusRefusal::BagFull) }
    }

    fn in_words(&self, part: TradePart) -> Text<48> {
        let item = part.item.and_then(|item| self.content.item(item));
        let item = item.map(|item| item.name.replace('-', " "));
        let gold = (part.gold > 0).then(|| format!("{} gold", part.gold));
        let parts: Vec<String> = item.into_iter().chain(gold).collect();
        if parts.is_empty() { "nothing".into() } else { parts.join(" and ").as_str().into() }
    }
}

fn check_near(world: &DeusWorld, one: Id<Hero>, other: Id<Hero>) -> DeusAnswer {
    let places = world.position(one).zip(world.position(other));
    let is_near = places.is_some_and(|(one, other)| one.ground_distance(other) <= TRADE_WITHIN_M);
    if is_near { Ok(()) } else { Err(DeusRefusal::OutOfRange) }
}
