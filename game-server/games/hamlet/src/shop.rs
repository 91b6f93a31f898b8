//! The shop: it trades for the coins that it has, at prices that change each market day.

use ambit::Rng;
use ambit::prelude::*;

use crate::goods::{Goods, WARES, Ware};
use crate::kinds::HamletRefusal;

/// What the cart leaves: coins, and of each ware.
const COINS: u32 = 200;
const STOCK: u32 = 10;

#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Shop {
    pub goods: Goods,
    pays: [u32; WARES.len()],
}

impl Shop {
    pub fn pays(&self, ware: Ware) -> u32 {
        self.pays[ware as usize]
    }

    /// It asks for more than it pays.
    pub fn price(&self, ware: Ware) -> u32 {
        self.pays(ware) + self.pays(ware).div_ceil(2)
    }

    /// A player with this purse gives something and gets something; returns the purse afterwards.
    /// If it is refused, nothing has changed.
    pub fn trade(&mut self, purse: Goods, deal: (Goods, Goods)) -> Result<Goods, HamletRefusal> {
        let (gives, gets) = deal;
        let purse = purse.without(gives).ok_or(HamletRefusal::NotEnough)?;
        self.goods = self.goods.without(gets).ok_or(HamletRefusal::SoldOut)?.with(gives);
        Ok(purse.with(gets))
    }

    /// The cart from town. Returns what it brings and what it takes.
    pub fn trade_with_town(&mut self, rng: &mut Rng) -> (Goods, Goods) {
        self.pays = [2, 3, 6, 18].map(|least| least + rng.u32(0..=least / 2));
        let brought = Goods::coins(COINS.saturating_sub(self.goods.coins));
        let beyond = |ware| Goods::of(ware, self.goods.number_of(ware).saturating_sub(STOCK));
        let taken = WARES.map(beyond).into_iter().fold(Goods::NONE, Goods::with);
        self.goods = self.goods.without(taken).unwrap_or_default().with(brought);
        (brought, taken)
    }
}
