//! What the store is to do for a room.

use ambit_proto::ids::AccountId;
use ambit_store::{StoredProfile, ValueKey};

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreOutcome {
    /// The disk has it. For a load: the value, if there is one.
    Done(Option<Vec<u8>>),
    /// The profile is the room's.
    Claimed {
        /// The number of its claim.
        claim: u64,
        /// `None` for a new one.
        value: Option<Vec<u8>>,
    },
    /// Another room has the profile of this account: the room asks again.
    Held {
        account: AccountId,
        /// The number of the other room's claim.
        claim: u64,
    },
    /// The profiles are written, but those of these accounts: other rooms have them.
    Saved(Vec<AccountId>),
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
    ClaimProfile {
        game: String,
        account: AccountId,
        /// The claim of a room that is gone: it holds no longer.
        instead_of: Option<u64>,
    },
    SaveProfiles {
        game: String,
        profiles: Vec<StoredProfile>,
    },
}
