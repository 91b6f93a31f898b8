//! `hamlet`: gather, craft, trade and build in a village that stays.
//!
//! Map 0 is the hamlet, with the stall and the huts; map 1 the forest. Goods are in the players'
//! profiles, in the shop and in huts. They come from trees and rocks, and coins by the cart from
//! town: the game's `ledger` counts that, so all goods can be accounted for.

mod clock;
mod goods;
mod kinds;
mod shop;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use ambit::prelude::*;

pub use self::goods::{Goods, WARES, Ware};
pub use self::kinds::*;
pub use self::shop::Shop;

type Town = World<Hamlet>;
type Deed = Result<(), HamletRefusal>;

const REACH_M: f32 = 3.0;
/// Free ground around the stall and each hut.
const GROUND_M: f32 = 5.0;
/// Of wood and stone: one in 32 s.
const GROWTH_PER_S: f32 = 1.0 / 32.0;
/// The cart comes daily at this time, in UTC.
const MARKET: Duration = Duration::from_hours(8);

#[derive(Debug, Parameters)]
#[room(size = "60x60")]
pub struct HamletSettings {
    /// the hamlet alone, or with a forest to the east
    #[parameter(default = 2, range = 1..=2)]
    maps: u32,
}

#[derive(Debug, Serialize, Deserialize)]
pub enum HamletTimer {
    Night,
    Market,
}

#[derive(Debug, Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Villager, Tree, Rock, Stall, Hut, Sky, Offer), parameters = HamletSettings)]
#[declare(events(Gathered, Gift, MarketDay), timer = HamletTimer, profile = Goods)]
pub struct Hamlet {
    maps: u32,
    shop: Shop,
    /// With the index of its stage in [`STAGES`].
    huts: BTreeMap<AccountId, (Id<Hut>, usize)>,
    /// What has come into this map, and what has gone for good.
    ledger: (Goods, Goods),
}

impl Game for Hamlet {
    const INFO: GameInfo =
        GameInfo::new("hamlet", "Gather, craft, trade and build, where it stays.").lasting();
    const SCENERY: Scenery = Scenery::new().camera(Camera::Above);
    type Avatar = Villager;
    type Command = HamletCommand;
    type Refusal = HamletRefusal;

    fn configure(&mut self, settings: HamletSettings) -> Result<(), BadParameter> {
        self.maps = settings.maps;
        Ok(())
    }

    fn surroundings(&self) -> Surroundings {
        Surroundings::new().view_m(19.0)
    }

    fn start(&mut self, world: &mut Town) {
        let is_hamlet = world.map() == 0;
        let mut rng = world.rng_for(1, 0);
        let (trees, rocks) = if is_hamlet { (8, 4) } else { (40, 16) };
        for number in 0..trees + rocks {
            let (x, y) = (rng.f32() * world.width(), rng.f32() * world.height());
            let path = Path::at(Position::on_ground(x, y));
            if number < trees {
                world.spawn(Tree { path, wood: Gauge::full().changing(GROWTH_PER_S) });
            } else {
                world.spawn(Rock { path, stone: Gauge::full().changing(GROWTH_PER_S) });
            }
        }
        world.spawn(Sky::default());
        self.timer(world, HamletTimer::Night, world.now());
        if is_hamlet {
            world.spawn(Stall { path: Path::at(world.centre()) });
            for ware in WARES {
                world.spawn(Offer { ware: ware.name().into(), ..Offer::default() });
            }
            self.timer(world, HamletTimer::Market, world.now());
        }
    }

    fn join(&mut self, world: &mut Town, newcomer: Newcomer) -> Id<Villager> {
        let hut = newcomer.account.and_then(|account| self.huts.get(&account));
        let home = hut.and_then(|(hut, _)| world.position(*hut));
        let path = Path::at(home.unwrap_or(world.centre()));
        let villager =
            world.spawn(Villager { path, name: newcomer.name.into(), ..Villager::default() });
        let goods = world.profile(newcomer).copied().unwrap_or_default();
        show_goods(world, villager, goods);
        villager
    }

    /// What a player without an account has is kept nowhere: the shop gets it.
    fn leave(&mut self, world: &mut Town, player: Player<Self>, why: Left) {
        if why != Left::ToMap && world.account(player).is_none() {
            let goods = world.edit_profile(player).map(std::mem::take);
            self.shop.goods = self.shop.goods.with(goods.unwrap_or_default());
        }
    }

    fn command(&mut self, world: &mut Town, player: Player<Self>, it: HamletCommand) -> Deed {
        let id = player.id();
        let count = |number: Option<Number<1, 99>>| number.map_or(1, |number| number.get() as u32);
        match it {
            HamletCommand::WalkTo { to } => {
                world.avatar(player).path().walk_to(to, 5.0);
                Ok(())
            }
            HamletCommand::Gather => self.gather(world, id, player.avatar()),
            HamletCommand::Saw => make(world, id, Goods::of(Ware::Wood, 2), Ware::Planks),
            HamletCommand::Forge => {
                make(world, id, Goods { planks: 1, stone: 2, ..Goods::NONE }, Ware::Axes)
            }
            HamletCommand::Build => self.build(world, id, player.avatar()),
            HamletCommand::Buy { what, number } => {
                let coins = Goods::coins(self.shop.price(what) * count(number));
                self.trade(world, id, (coins, Goods::of(what, count(number))))
            }
            HamletCommand::Sell { what, number } => {
                let coins = Goods::coins(self.shop.pays(what) * count(number));
                self.trade(world, id, (Goods::of(what, count(number)), coins))
            }
            HamletCommand::Give { to, what, number } => {
                let gift = format!("{} {}", count(number), what.name());
                give(world, player, to, Goods::of(what, count(number)), &gift)
            }
            HamletCommand::Pay { to, coins } => {
                let coins = coins.get() as u32;
                give(world, player, to, Goods::coins(coins), &format!("{coins} coins"))
            }
        }
    }

    fn timer(&mut self, world: &mut Town, timer: HamletTimer, _: GameTime) {
        match timer {
            HamletTimer::Night => {
                let lasts = show_night(world);
                world.after(lasts, timer);
            }
            HamletTimer::Market => {
                let (brought, taken) = self.shop.trade_with_town(world.rng());
                self.ledger = (self.ledger.0.with(brought), self.ledger.1.with(taken));
                self.show_shop(world);
                world.announce_world_wide(MarketDay { coins: brought.coins.into() });
                world.after(world.calendar().until(MARKET), timer);
            }
        }
    }

    /// Wood and stone have grown, as gauges do. The timers follow, each once.
    fn wake(&mut self, world: &mut Town, _: Duration) {
        show_night(world);
    }

    /// Profiles go through a gate by themselves.
    fn gates(&self, world: &Town) -> Vec<Gate> {
        let (width, middle) = (world.width(), world.height() / 2.0);
        let gate = |x: f32, map, to_x| Gate {
            low: Position::on_ground(x, middle - 4.0),
            high: Position::on_ground(x + 2.0, middle + 4.0),
            map,
            at: Position::on_ground(to_x, middle),
        };
        match (world.map(), self.maps) {
            (0, 2) => vec![gate(width - 2.0, 1, 5.0)],
            (1, 2) => vec![gate(0.0, 0, width - 5.0)],
            _ => Vec::new(),
        }
    }
}

impl Hamlet {
    fn gather(&mut self, world: &mut Town, player: PlayerId, by: Id<Villager>) -> Deed {
        let here = world.position(by).unwrap_or_default();
        let mine = goods_of(world, player);
        let most = if mine.axes > 0 { 2 } else { 1 };
        let mut found = Goods::NONE;
        let tree = world.nearest_within::<Tree>(here, REACH_M);
        if let Some(mut tree) = tree.and_then(|tree| world.edit(tree)) {
            found.wood = most.min(tree.wood().value() as u32);
            tree.wood().add(-(found.wood as f32));
        }
        let rock = world.nearest_within::<Rock>(here, REACH_M);
        if let Some(mut rock) = rock.and_then(|rock| world.edit(rock)) {
            found.stone = most.min(rock.stone().value() as u32);
            rock.stone().add(-(found.stone as f32));
        }
        if found == Goods::NONE {
            return Err(HamletRefusal::NothingNear);
        }
        self.ledger.0 = self.ledger.0.with(found);
        set_goods(world, player, mine.with(found));
        let (wood, stone) = (found.wood.into(), found.stone.into());
        world.tell(player, Gathered { at: here, wood, stone });
        world.count("gathered", (found.wood + found.stone).into());
        Ok(())
    }

    fn build(&mut self, world: &mut Town, player: PlayerId, by: Id<Villager>) -> Deed {
        let owner = world.account(player).ok_or(HamletRefusal::NoAccount)?;
        let here = world.position(by).unwrap_or_default();
        let known = self.huts.get(&owner).copied();
        let stage = known.map_or(0, |(_, stage)| stage + 1);
        let &(word, cost) = STAGES.get(stage).ok_or(HamletRefusal::HutIsReady)?;
        let left = goods_of(world, player).without(cost).ok_or(HamletRefusal::NotEnough)?;
        let hut = match known {
            Some((hut, _)) if is_near(world, hut, here) => hut,
            Some(_) => return Err(HamletRefusal::TooFar),
            None if !is_free(world, here) => return Err(HamletRefusal::NoGround),
            None => {
                let name = world.get(by).map_or("", |villager| villager.name()).into();
                world.spawn(Hut { path: Path::at(here), name, stage: "".into() })
            }
        };
        if let Some(mut hut) = world.edit(hut) {
            hut.stage().set(word);
        }
        self.huts.insert(owner, (hut, stage));
        set_goods(world, player, left);
        Ok(())
    }

    /// Gives the shop the first goods for the second ones.
    fn trade(&mut self, world: &mut Town, player: PlayerId, deal: (Goods, Goods)) -> Deed {
        let here = world.player(player).and_then(|player| world.position(player.avatar()));
        let stall = world.nearest_within::<Stall>(here.unwrap_or_default(), REACH_M);
        stall.ok_or(HamletRefusal::TooFar)?;
        if clock::night(world.calendar()).0 {
            return Err(HamletRefusal::Closed);
        }
        let purse = self.shop.trade(goods_of(world, player), deal)?;
        set_goods(world, player, purse);
        self.show_shop(world);
        world.count("trades", 1);
        Ok(())
    }

    fn show_shop(&self, world: &mut Town) {
        let mut offers = Vec::new();
        world.find_all::<Offer>(&mut offers);
        for (offer, ware) in offers.into_iter().zip(WARES) {
            if let Some(mut offer) = world.edit(offer) {
                offer.stock().set(self.shop.goods.number_of(ware).into());
                offer.price().set(self.shop.price(ware).into());
                offer.pays().set(self.shop.pays(ware).into());
            }
        }
    }
}

/// Both profiles change in one tick, so both are stored, or neither.
fn give(world: &mut Town, by: Player<Hamlet>, to: Id<Villager>, goods: Goods, what: &str) -> Deed {
    let here = world.position(by.avatar()).unwrap_or_default();
    let is_other = to != by.avatar() && is_near(world, to, here);
    let to = world.player_of(to).filter(|_| is_other).ok_or(HamletRefusal::TooFar)?.id();
    let left = goods_of(world, by.id()).without(goods).ok_or(HamletRefusal::NotEnough)?;
    set_goods(world, by.id(), left);
    set_goods(world, to, goods_of(world, to).with(goods));
    world.tell(to, Gift { giver: by.name().into(), what: what.into() });
    Ok(())
}

fn make(world: &mut Town, player: PlayerId, cost: Goods, what: Ware) -> Deed {
    let left = goods_of(world, player).without(cost).ok_or(HamletRefusal::NotEnough)?;
    set_goods(world, player, left.with(Goods::of(what, 1)));
    Ok(())
}

fn is_free(world: &Town, here: Position) -> bool {
    world.map() == 0
        && world.all_within::<Stall>(here, GROUND_M).is_empty()
        && world.all_within::<Hut>(here, GROUND_M).is_empty()
}

fn is_near(world: &Town, object: impl Into<ObjectId>, here: Position) -> bool {
    world.position(object).is_some_and(|there| there.ground_distance(here) <= REACH_M)
}

fn goods_of(world: &Town, player: PlayerId) -> Goods {
    world.profile(player).copied().unwrap_or_default()
}

fn set_goods(world: &mut Town, player: PlayerId, goods: Goods) {
    if let Some(profile) = world.edit_profile(player) {
        *profile = goods;
    }
    if let Some(villager) = world.player(player).map(Player::avatar) {
        show_goods(world, villager, goods);
    }
}

fn show_goods(world: &mut Town, villager: Id<Villager>, goods: Goods) {
    if let Some(mut villager) = world.edit(villager) {
        villager.coins().set(goods.coins.into());
        villager.wood().set(goods.wood.into());
        villager.stone().set(goods.stone.into());
        villager.planks().set(goods.planks.into());
        villager.axes().set(goods.axes.into());
    }
}

/// Returns how long it stays so.
fn show_night(world: &mut Town) -> Duration {
    let (is_night, lasts) = clock::night(world.calendar());
    if let Some(mut sky) = world.edit_state::<Sky>() {
        sky.night().set(is_night);
        sky.changes_in().set_both(lasts.as_secs_f32(), -1.0);
    }
    lasts
}
