//! The server's store on virtual time: the real tables, in memory. Answers take some time, and
//! while it is away there are none.
//!
//! A job is carried out when it begins. What a closed room asks last is tried until the store is
//! back, as long as its WorldServer lives.

use std::time::Duration;

use ambit_lobby::{AccountJob, StoreJob, StoreOutcome};
use ambit_proto::ids::AccountId;
use ambit_proto::time::LocalTime;
use ambit_store::{RoomRequest, Store, StorePlace, StoredProfile};
use ambit_world_server::carry_out_for_room;
use serde_json::Value as Json;
use tokio::runtime::Runtime;

/// The longest that an answer takes.
const MAX_DELAY_MS: u64 = 400;
/// The time of the tables, which do not mind that it stands still.
const NOW: i64 = 1_000;

/// See the module.
pub struct SimulatedStore {
    store: Store,
    runtime: Runtime,
    rng: fastrand::Rng,
    answers: Vec<(LocalTime, RoomRequest, StoreOutcome)>,
    /// Last jobs of closed rooms that wait for the store.
    last: Vec<(RoomRequest, StoreJob)>,
    /// Whether it carries out nothing.
    pub is_away: bool,
}

/// Whose token it is: the number of the player.
///
/// # Panics
/// If the player signs in by anything but such a token.
pub fn account_of(job: &AccountJob) -> AccountId {
    let AccountJob::CheckToken { token } = job else { panic!("players have tokens: {job:?}") };
    account(token.0.parse().expect("the number of a player"))
}

/// The account of the player with this number.
pub fn account(player: u64) -> AccountId {
    AccountId(u128::from(player).to_be_bytes())
}

impl SimulatedStore {
    /// An empty one.
    pub fn new(seed: u64) -> Self {
        Self {
            store: Store::open(&StorePlace::Memory).expect("memory"),
            runtime: tokio::runtime::Builder::new_current_thread().build().expect("a runtime"),
            rng: fastrand::Rng::with_seed(seed),
            answers: Vec::new(),
            last: Vec::new(),
            is_away: false,
        }
    }

    /// Carries out a job, now; its answer follows.
    pub fn begin(&mut self, now: LocalTime, request: RoomRequest, job: StoreJob) {
        let outcome =
            if self.is_away { StoreOutcome::Unavailable } else { self.carry_out(&request, job) };
        let due = now + Duration::from_millis(self.rng.u64(0..=MAX_DELAY_MS));
        self.answers.push((due, request, outcome));
    }

    /// Carries out the last job of a closed room, as soon as the store works.
    pub fn begin_last(&mut self, request: RoomRequest, job: StoreJob) {
        self.last.push((request, job));
        self.try_last();
    }

    /// When the next answer is due.
    pub fn next_deadline(&self) -> Option<LocalTime> {
        self.answers.iter().map(|(due, ..)| *due).min()
    }

    /// The answers that are due.
    pub fn take_due(&mut self, now: LocalTime) -> Vec<(RoomRequest, StoreOutcome)> {
        self.try_last();
        let due = self.answers.extract_if(.., |(due, ..)| *due <= now);
        due.map(|(_, request, outcome)| (request, outcome)).collect()
    }

    /// The process that has asked is gone: no answer reaches it, and nothing is tried again.
    pub fn forget_asker(&mut self) {
        self.answers.clear();
        self.last.clear();
    }

    /// No request of this room comes again.
    pub fn forget_room(&self, lineage: [u8; 16], room: u64) {
        let done = self.store.run(move |tables| tables.forget_room(lineage, room));
        self.runtime.block_on(done).expect("memory does not fail");
    }

    fn try_last(&mut self) {
        if !self.is_away {
            for (request, job) in std::mem::take(&mut self.last) {
                self.carry_out(&request, job);
            }
        }
    }

    fn carry_out(&self, request: &RoomRequest, job: StoreJob) -> StoreOutcome {
        let request = request.clone();
        let done = self.store.run(move |tables| carry_out_for_room(tables, &request, job, NOW));
        self.runtime.block_on(done).expect("memory does not fail")
    }

    /// Gives a player a profile, which no room has.
    pub fn set_profile(&self, game: &str, player: u64, value: &Json) {
        let request = RoomRequest { lineage: [9; 16], room: 1, number: (0, 1), oldest: (0, 1) };
        let (game, account) = (game.to_owned(), account(player));
        let claim = StoreJob::ClaimProfile { game: game.clone(), account, instead_of: None };
        let StoreOutcome::Claimed { claim, .. } = self.carry_out(&request, claim) else {
            panic!("the profile of player {player} is a room's");
        };
        let value = Some(value.to_string().into_bytes());
        let save = StoredProfile { account, claim, version: 1, value, is_last: true };
        self.carry_out(&request, StoreJob::SaveProfiles { game, profiles: vec![save] });
    }

    /// The profile of a player who has played one game, as JSON.
    pub fn profile(&self, player: u64) -> Json {
        self.exported(player)["profiles"][0]["value"].clone()
    }

    /// All that is stored of a player.
    pub fn exported(&self, player: u64) -> Json {
        let exported = self.store.run(move |tables| tables.export(account(player)));
        self.runtime.block_on(exported).expect("memory does not fail")
    }
}
