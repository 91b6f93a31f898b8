//! What rooms ask of the store, and its answers.

use ambit_proto::ids::AccountId;
use ambit_room::logic::store::{
    AskedOfStore, ProfileClaim, ProfileSave, ResultRow, StoreAnswer, StoreKey, StoreNumber,
    StoreRequest,
};

use crate::generated::{self as pb, store_request::What};

/// The answer of the store; which of them it is follows from what it has.
pub(super) fn answer_of(stored: pb::Stored) -> StoreAnswer {
    if stored.refused {
        StoreAnswer::Refused
    } else if stored.claim > 0 {
        StoreAnswer::Claimed(ProfileClaim(stored.claim), stored.value)
    } else if stored.wrote_profiles {
        let accounts = stored.lost.iter().filter_map(|account| AccountId::from_bytes(account));
        StoreAnswer::Saved(accounts.collect())
    } else {
        StoreAnswer::Done(stored.value)
    }
}

/// The message with an answer.
pub(super) fn stored(room: u64, number: StoreNumber, answer: StoreAnswer) -> pb::Stored {
    let StoreNumber { incarnation, count } = number;
    let stored = pb::Stored { room, incarnation, count, ..pb::Stored::default() };
    match answer {
        StoreAnswer::Done(value) => pb::Stored { value, ..stored },
        StoreAnswer::Refused => pb::Stored { refused: true, ..stored },
        StoreAnswer::Claimed(ProfileClaim(claim), value) => pb::Stored { claim, value, ..stored },
        StoreAnswer::Saved(lost) => {
            let lost = lost.into_iter().map(|account| account.0.to_vec()).collect();
            pb::Stored { wrote_profiles: true, lost, ..stored }
        }
    }
}

/// What a room asks; `None` for what no store can do.
pub(super) fn asked_of(message: pb::StoreRequest) -> Option<AskedOfStore> {
    let request = match message.what? {
        What::Load(key) => StoreRequest::Load(key_of(key)),
        What::Save(saved) => StoreRequest::Save(key_of(saved.key?), saved.value),
        What::Result(row) => StoreRequest::AddResult(ResultRow {
            board: row.board,
            account: AccountId::from_bytes(&row.account),
            player: row.player,
            score: row.score,
        }),
        What::Claim(account) => StoreRequest::ClaimProfile(AccountId::from_bytes(&account)?),
        What::Profiles(saves) => {
            let profiles = saves.profiles.into_iter().map(profile_of);
            StoreRequest::SaveProfiles(profiles.collect::<Option<_>>()?)
        }
    };
    let number = StoreNumber { incarnation: message.incarnation, count: message.count };
    let oldest =
        StoreNumber { incarnation: message.oldest_incarnation, count: message.oldest_count };
    Some(AskedOfStore { number, oldest, request })
}

/// The message with what a room asks.
pub(super) fn store_message(room: u64, asked: AskedOfStore) -> pb::StoreRequest {
    let AskedOfStore { number, oldest, request } = asked;
    let what = match request {
        StoreRequest::Load(of) => What::Load(key_message(of)),
        StoreRequest::Save(of, value) => {
            What::Save(pb::StoredValue { key: Some(key_message(of)), value })
        }
        StoreRequest::AddResult(row) => What::Result(pb::ResultRow {
            board: row.board,
            account: AccountId::to_bytes(row.account),
            player: row.player,
            score: row.score,
        }),
        StoreRequest::ClaimProfile(account) => What::Claim(account.0.to_vec()),
        StoreRequest::SaveProfiles(profiles) => {
            let profiles = profiles.into_iter().map(profile_message).collect();
            What::Profiles(pb::ProfileSaves { profiles })
        }
    };
    pb::StoreRequest {
        room,
        incarnation: number.incarnation,
        count: number.count,
        oldest_incarnation: oldest.incarnation,
        oldest_count: oldest.count,
        what: Some(what),
    }
}

fn key_of(key: pb::StoreKey) -> StoreKey {
    StoreKey { account: AccountId::from_bytes(&key.account), name: key.name }
}

fn key_message(key: StoreKey) -> pb::StoreKey {
    pb::StoreKey { account: AccountId::to_bytes(key.account), name: key.name }
}

fn profile_of(save: pb::ProfileSave) -> Option<ProfileSave> {
    let pb::ProfileSave { account, claim, version, value, is_last } = save;
    let account = AccountId::from_bytes(&account)?;
    Some(ProfileSave { account, claim: ProfileClaim(claim), version, value, is_last })
}

fn profile_message(save: ProfileSave) -> pb::ProfileSave {
    let ProfileSave { account, claim, version, value, is_last } = save;
    pb::ProfileSave { account: account.0.to_vec(), claim: claim.0, version, value, is_last }
}
