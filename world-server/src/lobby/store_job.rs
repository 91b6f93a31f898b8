//! What the store is to do for a room.

use ambit_proto::ids::AccountId;
use ambit_store::ValueKey;

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreOutcome {
    /// The disk has it. For a load: the value, if there is one.
    Done(Option<Vec<u8>>),
    /// It can never be done.
    Refused,
    /// The store does not work now: the room asks again.
    Unavailable,
}

/// Something that a room asks of the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreJob {
    Load(ValueKey),
    /// An empty value stands for none.
    Save(ValueKey, Vec<u8>),
    AddResult {
        game: String,
        board: String,
        account: Option<AccountId>,
        player: String,
        score: i64,
    },
}
