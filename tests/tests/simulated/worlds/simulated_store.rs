//! The server's store on virtual time: the real tables, in memory. Answers take some time, and
//! while it is away there are none.

use std::time::Duration;

use ambit_proto::ids::AccountId;
use ambit_proto::time::LocalTime;
use ambit_store::{ClaimOutcome, RoomRequest, Store, StoreError, StorePlace, StoreTables};
use ambit_world_server::lobby::{AccountJob, StoreJob, StoreOutcome};
use serde_json::Value as Json;
use tokio::runtime::Runtime;

/// The longest that an answer takes.
const MAX_DELAY_MS: u64 = 400;
/// The time of the tables, which do not mind that it stands still.
const NOW: i64 = 1_000;

pub(super) struct SimulatedStore {
    store: Store,
    runtime: Runtime,
    rng: fastrand::Rng,
    answers: Vec<(LocalTime, RoomRequest, StoreOutcome)>,
    pub(super) is_away: bool,
}

/// Whose token it is: the number of the player.
pub(super) fn account_of(job: &AccountJob) -> AccountId {
    let AccountJob::CheckToken { token } = job else { panic!("players have tokens: {job:?}") };
    account(token.0.parse().expect("the number of a player"))
}

pub(super) fn account(player: u64) -> AccountId {
    AccountId(u128::from(player).to_be_bytes())
}

impl SimulatedStore {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            store: Store::open(&StorePlace::Memory).expect("memory"),
            runtime: tokio::runtime::Builder::new_current_thread().build().expect("a runtime"),
            rng: fastrand::Rng::with_seed(seed),
            answers: Vec::new(),
            is_away: false,
        }
    }

    /// Carries out a job, now; its answer follows.
    pub(super) fn begin(&mut self, now: LocalTime, request: RoomRequest, job: StoreJob) {
        let outcome =
            if self.is_away { StoreOutcome::Unavailable } else { self.carry_out(&request, job) };
        let due = now + Duration::from_millis(self.rng.u64(0..=MAX_DELAY_MS));
        self.answers.push((due, request, outcome));
    }

    pub(super) fn take_due(&mut self, now: LocalTime) -> Vec<(RoomRequest, StoreOutcome)> {
        let due = self.answers.extract_if(.., |(due, ..)| *due <= now);
        due.map(|(_, request, outcome)| (request, outcome)).collect()
    }

    pub(super) fn carry_out(&self, request: &RoomRequest, job: StoreJob) -> StoreOutcome {
        let request = request.clone();
        let done = self.store.run(move |tables| run(tables, &request, job));
        self.runtime.block_on(done).expect("memory does not fail")
    }

    /// The profile of a player, as JSON.
    pub(super) fn profile(&self, player: u64) -> Json {
        let exported = self.store.run(move |tables| tables.export(account(player)));
        let exported = self.runtime.block_on(exported).expect("memory does not fail");
        exported["profiles"][0]["value"].clone()
    }
}

fn run(
    tables: &mut StoreTables<'_>,
    request: &RoomRequest,
    job: StoreJob,
) -> Result<StoreOutcome, StoreError> {
    Ok(match job {
        StoreJob::ClaimProfile { game, account, instead_of } => {
            if let Some(gone) = instead_of {
                tables.free_profile(&game, account, gone)?;
            }
            match tables.claim_profile(request, &game, account, NOW)? {
                ClaimOutcome::Claimed { claim, value } => StoreOutcome::Claimed { claim, value },
                ClaimOutcome::Held { claim } => StoreOutcome::Held { account, claim },
            }
        }
        StoreJob::SaveProfiles { game, profiles } => {
            StoreOutcome::Saved(tables.save_profiles(&game, &profiles, NOW)?)
        }
        other => panic!("the game stores profiles alone: {other:?}"),
    })
}
