//! What heroes offer each other, until it is accepted.

use ambit::prelude::*;

/// What one hero gives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TradePart {
    /// The index of an item.
    pub(crate) item: Option<u8>,
    pub(crate) gold: i64,
}

/// An offer; a player has one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Trade {
    pub(crate) number: u32,
    pub(crate) to: PlayerId,
    pub(crate) give: TradePart,
    pub(crate) take: TradePart,
    pub(crate) until: GameTime,
}

impl TradePart {
    pub(crate) fn is_nothing(self) -> bool {
        self.item.is_none() && self.gold == 0
    }
}
