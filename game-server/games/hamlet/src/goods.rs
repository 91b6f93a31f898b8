//! Sums of goods, which are taken and added as a whole: what a player or the shop has.

use ambit::prelude::*;

/// What is traded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum Ware {
    Wood,
    Stone,
    Planks,
    /// Who has one gathers two at a time.
    Axes,
}

pub const WARES: [Ware; 4] = [Ware::Wood, Ware::Stone, Ware::Planks, Ware::Axes];

/// The profile of a player, and all else that has goods.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Goods {
    pub coins: u32,
    pub wood: u32,
    pub stone: u32,
    pub planks: u32,
    /// Profiles that were stored before the game had axes have none.
    #[serde(default)]
    pub axes: u32,
}

impl Goods {
    pub const NONE: Self = Self { coins: 0, wood: 0, stone: 0, planks: 0, axes: 0 };

    pub fn coins(coins: u32) -> Self {
        Self { coins, ..Self::NONE }
    }

    pub fn of(ware: Ware, number: u32) -> Self {
        let mut goods = Self::NONE;
        *goods.place_of(ware) = number;
        goods
    }

    pub fn number_of(mut self, ware: Ware) -> u32 {
        *self.place_of(ware)
    }

    fn place_of(&mut self, ware: Ware) -> &mut u32 {
        match ware {
            Ware::Wood => &mut self.wood,
            Ware::Stone => &mut self.stone,
            Ware::Planks => &mut self.planks,
            Ware::Axes => &mut self.axes,
        }
    }

    pub fn with(self, more: Self) -> Self {
        self.each(more, |have, more| Some(have.saturating_add(more))).unwrap_or(self)
    }

    /// What is left; `None` if not all of `less` is in it.
    pub fn without(self, less: Self) -> Option<Self> {
        self.each(less, u32::checked_sub)
    }

    fn each(self, other: Self, result: impl Fn(u32, u32) -> Option<u32>) -> Option<Self> {
        Some(Self {
            coins: result(self.coins, other.coins)?,
            wood: result(self.wood, other.wood)?,
            stone: result(self.stone, other.stone)?,
            planks: result(self.planks, other.planks)?,
            axes: result(self.axes, other.axes)?,
        })
    }
}
