//! What players see and can do, and why the game refuses it.

#![expect(clippy::duplicated_attributes, reason = "each variant has a size")]

use ambit::prelude::*;

use crate::goods::{Goods, Ware};

/// A player. What it has is for its own player alone.
#[derive(Kind, Default)]
#[look(glyph = '@', shape = arrow, figure = trader, colour = 0x30_80ff, size = 0.9, label = name)]
pub struct Villager {
    pub path: Path,
    #[component(role = player)]
    pub name: Text<96>,
    #[audience(owner)]
    pub coins: Number<0, 99_999>,
    #[audience(owner)]
    pub wood: Number<0, 99_999>,
    #[audience(owner)]
    pub stone: Number<0, 99_999>,
    #[audience(owner)]
    pub planks: Number<0, 99_999>,
    #[audience(owner)]
    pub axes: Number<0, 99_999>,
}

#[derive(Kind)]
#[look(glyph = 'T', shape = box, colour = 0x2f_7d3a, size = 1.6, bar = wood)]
pub struct Tree {
    pub path: Path,
    pub wood: Gauge<6>,
}

#[derive(Kind)]
#[look(glyph = 'o', shape = box, colour = 0x8a_8f98, size = 1.2, bar = stone)]
pub struct Rock {
    pub path: Path,
    pub stone: Gauge<6>,
}

#[derive(Kind)]
#[look(glyph = '$', figure = trader, shape = arrow, colour = 0xd0_a030, size = 1.3)]
pub struct Stall {
    pub path: Path,
}

/// It stays when its owner leaves.
#[derive(Kind)]
#[look(glyph = 'H', shape = box, colour = 0xa0_6a3c, size = 2.0, label = name, by = stage)]
#[variant("plot", size = 1.0)]
#[variant("walls", size = 2.0)]
#[variant("hut", size = 3.0)]
pub struct Hut {
    pub path: Path,
    #[component(role = player)]
    pub name: Text<96>,
    #[component(words("plot", "walls", "hut"))]
    pub stage: Text<8>,
}

/// What a hut is, and what it takes beyond the stage before.
pub const STAGES: [(&str, Goods); 3] = [
    ("plot", Goods { wood: 2, ..Goods::NONE }),
    ("walls", Goods { planks: 3, stone: 3, ..Goods::NONE }),
    ("hut", Goods { planks: 4, stone: 1, ..Goods::NONE }),
];

/// The time of day, for all players.
#[derive(Kind, Default)]
#[kind(room_wide)]
pub struct Sky {
    pub night: Flag,
    #[component(unit = "s")]
    pub changes_in: Gauge<900>,
}

/// A row of the shop's table, which all maps have: in the forest one sees what pays.
#[derive(Kind, Default)]
#[kind(world_wide, label = "Shop")]
pub struct Offer {
    #[component(words = Ware)]
    pub ware: Text<8>,
    pub stock: Number<0, 99_999>,
    #[component(label = "You pay")]
    pub price: Number<0, 999>,
    #[component(label = "You get")]
    pub pays: Number<0, 999>,
}

#[derive(Event)]
#[event(text = "You gather {wood} wood, {stone} stone")]
#[effect(hit, colour = 0xd0_b080, size = 0.8)]
pub struct Gathered {
    pub at: Position,
    pub wood: i64,
    pub stone: i64,
}

#[derive(Event)]
#[event(text = "{giver} gives you {what}")]
pub struct Gift {
    pub giver: Text<96>,
    pub what: Text<24>,
}

#[derive(Event)]
#[event(text = "The cart from town brings {coins} coins, and new prices")]
pub struct MarketDay {
    pub coins: i64,
}

#[derive(Debug, Command)]
pub enum HamletCommand {
    /// Walk to a point.
    #[command(newest_only, key = "click", label = "Walk there", walk(speed = 5.0, radius = 0.4))]
    WalkTo { to: Position },
    /// Take wood of the tree and stone of the rock beside you.
    #[command(key = "g")]
    Gather,
    /// Make a plank of 2 wood.
    Saw,
    /// Make an axe of 1 plank and 2 stone: with it you gather two at a time.
    Forge,
    /// Mark a plot where you stand, for 2 wood. Beside it: walls of 3 planks and 3 stone, then a
    /// roof of 4 planks and 1 stone.
    #[command(key = "b")]
    Build,
    /// Buy at the stall, by day.
    Buy { what: Ware, number: Option<Number<1, 99>> },
    /// Sell at the stall, by day.
    Sell { what: Ware, number: Option<Number<1, 99>> },
    /// Give goods to a villager beside you.
    Give { to: Id<Villager>, what: Ware, number: Option<Number<1, 99>> },
    /// Give coins to a villager beside you.
    Pay { to: Id<Villager>, coins: Number<1, 9_999> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Refusal)]
pub enum HamletRefusal {
    #[text("no tree with wood and no rock with stone is beside you: it grows again")]
    NothingNear,
    #[text("you do not have enough")]
    NotEnough,
    #[text("go nearer")]
    TooFar,
    #[text("huts are built in the hamlet, 5 m from the stall and from other huts")]
    NoGround,
    #[text("a hut belongs to an account, and you play without one")]
    NoAccount,
    #[text("your hut is ready")]
    HutIsReady,
    #[text("the shop is closed at night")]
    Closed,
    #[text("the shop does not have that many, or that many coins: wait for the cart")]
    SoldOut,
}
