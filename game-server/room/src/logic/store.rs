//! What a room asks of the server's store, and what is still open.
//!
//! Nothing waits within a tick: a game asks, and the answer is an input of a later tick, so a room
//! that goes on at another host has had the same answers. A request that is open is part of the
//! room's state; it is put out once a second until it is answered, also by the next host.
//!
//! A request has a number that no other one of the room has, whatever dies: the incarnation in
//! which the game asked, and a count. The store carries out each number once. A room that has lost
//! its last ticks together with their journal is of another incarnation, and so are its new
//! requests.

use std::collections::BTreeMap;
use std::time::Duration;

use ambit_proto::ids::AccountId;
use ambit_proto::time::GameTime;
use serde::{Deserialize, Serialize};

/// Requests of a game that may be open.
pub const MAX_OPEN_REQUESTS: usize = 1_024;
/// Bytes of a game's open requests together.
pub const MAX_OPEN_BYTES: usize = 1 << 20;
/// Bytes of one value.
pub const MAX_VALUE_BYTES: usize = 65_536;
/// Bytes of the name of a value or of a board.
pub const MAX_STORE_NAME_BYTES: usize = 64;
/// Bytes of a player's profile.
pub const MAX_PROFILE_BYTES: usize = 16_384;
/// Bytes of the profiles that are written together: a player's trade and the other's are in one
/// transaction if they fit.
pub const MAX_PROFILES_BYTES: usize = 1 << 20;
/// Bytes of a player's name, of which 24 characters may have four each.
const MAX_PLAYER_BYTES: usize = 96;
/// An open request is put out again after this time.
const REPEAT_AFTER: Duration = Duration::from_secs(1);
/// Bytes of requests that are put out at one tick.
const MAX_BYTES_AT_ONCE: usize = 262_144;
/// What a request costs beside its texts.
const REQUEST_BYTES: usize = 64;

/// The number of a request in its room.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct StoreNumber {
    /// How often the room had been given to a host when the game asked.
    pub incarnation: u32,
    /// Counted from 1 since the room began.
    pub count: u64,
}

/// What a room asks: for its game, and for the profiles of its players.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StoreRequest {
    /// The value with this key.
    Load(StoreKey),
    /// The value has this key from now on; none if it is empty.
    Save(StoreKey, Vec<u8>),
    /// Add a row to a table of results.
    AddResult(ResultRow),
    /// The profile of this account is this room's from now on, until it is released. There is no
    /// answer while it is another room's.
    ClaimProfile(AccountId),
    /// Write these profiles in one transaction.
    SaveProfiles(Vec<ProfileSave>),
}

/// A profile that is written, or released, or both.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileSave {
    /// Whose it is.
    pub account: AccountId,
    /// What the store has answered to the claim. Once it is another room's, nothing is written.
    pub claim: ProfileClaim,
    /// Counted from 1 since the claim: an older one does not replace a newer one.
    pub version: u64,
    /// `None` if it has not changed.
    pub value: Option<Vec<u8>>,
    /// Whether the next room may claim it.
    pub is_last: bool,
}

/// Identifies a claim to the profile of an account in a game: higher than all earlier ones.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct ProfileClaim(pub u64);

/// The key of a value among those of a game.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StoreKey {
    /// Whose value it is; `None` for one of the game as a whole.
    pub account: Option<AccountId>,
    /// 1 to [`MAX_STORE_NAME_BYTES`] bytes.
    pub name: String,
}

/// What a player has achieved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultRow {
    /// The table, 1 to [`MAX_STORE_NAME_BYTES`] bytes.
    pub board: String,
    /// `None` for a player without one.
    pub account: Option<AccountId>,
    /// What the player was called.
    pub player: String,
    /// More is better.
    pub score: i64,
}

/// A request that is put out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedOfStore {
    /// The answer comes with it.
    pub number: StoreNumber,
    /// The oldest request of the room that is not answered: none before it comes again.
    pub oldest: StoreNumber,
    /// What is asked.
    pub request: StoreRequest,
}

/// What the store has answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StoreAnswer {
    /// It is done, and the disk has it. For a load: the value; `None` if none has this key.
    Done(Option<Vec<u8>>),
    /// It can never be done, such as with a value that is too long.
    Refused,
    /// The profile is the room's; its value, if there is one.
    Claimed(ProfileClaim, Option<Vec<u8>>),
    /// The profiles are written, but those of these accounts: they are other rooms' now.
    Saved(Vec<AccountId>),
}

/// Why a request was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreRefusal {
    /// A name or a value is too long, or a name is empty.
    #[error(
        "a name has 1 to {MAX_STORE_NAME_BYTES} bytes, and a value up to {MAX_VALUE_BYTES}: this \
         one is out of bounds"
    )]
    OutOfBounds,
    /// The store has been away for so long that all places are taken.
    #[error("the store does not answer, and {MAX_OPEN_REQUESTS} requests wait already")]
    Full,
}

/// The open requests of a room.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StoreDesk {
    incarnation: u32,
    count: u64,
    open: BTreeMap<StoreNumber, OpenRequest>,
    /// Number and bytes of those that the game has asked.
    of_game: usize,
    bytes: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct OpenRequest {
    request: StoreRequest,
    /// The room's horizon when the game asked.
    since: GameTime,
    /// When it was put out last. The next host puts it out at once.
    #[serde(skip)]
    put_out_at: Option<GameTime>,
}

impl StoreKey {
    /// The key of a value of this account.
    pub fn of_account(account: AccountId, name: impl Into<String>) -> Self {
        Self { account: Some(account), name: name.into() }
    }

    /// The key of a value of the game as a whole: all its rooms share it.
    pub fn of_game(name: impl Into<String>) -> Self {
        Self { account: None, name: name.into() }
    }
}

impl StoreRequest {
    fn is_within_bounds(&self) -> bool {
        let is_name = |name: &str| (1..=MAX_STORE_NAME_BYTES).contains(&name.len());
        match self {
            Self::Load(key) => is_name(&key.name),
            Self::Save(key, value) => is_name(&key.name) && value.len() <= MAX_VALUE_BYTES,
            Self::AddResult(row) => is_name(&row.board) && row.player.len() <= MAX_PLAYER_BYTES,
            Self::ClaimProfile(_) | Self::SaveProfiles(_) => true,
        }
    }

    /// Whether the room asks it, and not its game: the players of the room bound these.
    pub(crate) fn is_of_room(&self) -> bool {
        matches!(self, Self::ClaimProfile(_) | Self::SaveProfiles(_))
    }

    fn bytes(&self) -> usize {
        REQUEST_BYTES
            + match self {
                Self::Load(key) => key.name.len(),
                Self::Save(key, value) => key.name.len() + value.len(),
                Self::AddResult(row) => row.board.len() + row.player.len(),
                Self::ClaimProfile(_) => 0,
                Self::SaveProfiles(profiles) => profiles.iter().map(ProfileSave::bytes).sum(),
            }
    }
}

impl ProfileSave {
    /// What it costs.
    pub(crate) fn bytes(&self) -> usize {
        REQUEST_BYTES + self.value.as_ref().map_or(0, Vec::len)
    }
}

impl StoreDesk {
    /// Takes a request. The answer comes with this number.
    pub(crate) fn ask(
        &mut self,
        now: GameTime,
        request: StoreRequest,
    ) -> Result<StoreNumber, StoreRefusal> {
        if !request.is_within_bounds() {
            return Err(StoreRefusal::OutOfBounds);
        }
        let bytes = self.bytes + request.bytes();
        if self.of_game >= MAX_OPEN_REQUESTS || bytes > MAX_OPEN_BYTES {
            return Err(StoreRefusal::Full);
        }
        (self.bytes, self.of_game) = (bytes, self.of_game + 1);
        Ok(self.open(now, request))
    }

    /// Takes a request of the room itself ([`StoreRequest::is_of_room`]).
    pub(crate) fn ask_for_room(&mut self, now: GameTime, request: StoreRequest) -> StoreNumber {
        debug_assert!(request.is_of_room(), "{request:?} is a game's");
        self.open(now, request)
    }

    fn open(&mut self, now: GameTime, request: StoreRequest) -> StoreNumber {
        self.count += 1;
        let number = StoreNumber { incarnation: self.incarnation, count: self.count };
        self.open.insert(number, OpenRequest { request, since: now, put_out_at: None });
        number
    }

    /// Since when the oldest request is open.
    pub(crate) fn waits_since(&self) -> Option<GameTime> {
        self.open.values().next().map(|open| open.since)
    }

    /// The room runs at another host from now on.
    pub(crate) fn begin_incarnation(&mut self, incarnation: u32) {
        self.incarnation = self.incarnation.max(incarnation);
    }

    /// A request is answered. Returns it; `None` if it was not open any more.
    pub(crate) fn close(&mut self, number: StoreNumber) -> Option<StoreRequest> {
        let request = self.open.remove(&number)?.request;
        if !request.is_of_room() {
            (self.bytes, self.of_game) = (self.bytes - request.bytes(), self.of_game - 1);
        }
        Some(request)
    }

    /// The room ends: puts out all that is open, in the order of asking.
    pub(crate) fn put_out_all(&mut self, each: impl FnMut(AskedOfStore)) {
        let oldest = self.open.keys().next().copied();
        let asked = |(&number, open): (&StoreNumber, &OpenRequest)| AskedOfStore {
            number,
            oldest: oldest.unwrap_or_default(),
            request: open.request.clone(),
        };
        self.open.iter().map(asked).for_each(each);
    }

    /// Puts out what is due at this time of the room, in the order of asking.
    pub(crate) fn put_out(&mut self, now: GameTime, mut each: impl FnMut(AskedOfStore)) {
        let mut bytes = 0;
        let Some(oldest) = self.open.keys().next().copied() else {
            return;
        };
        for (&number, open) in &mut self.open {
            if open.put_out_at.is_some_and(|at| now < at + REPEAT_AFTER) {
                continue;
            }
            if bytes > 0 && bytes + open.request.bytes() > MAX_BYTES_AT_ONCE {
                return;
            }
            bytes += open.request.bytes();
            open.put_out_at = Some(now);
            each(AskedOfStore { number, oldest, request: open.request.clone() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_put_out_once_a_second_until_it_is_answered() {
        let mut desk = StoreDesk::default();
        let first = desk.ask(at(0), load("a")).unwrap();
        let second = desk.ask(at(0), load("b")).unwrap();
        assert!(first < second);
        assert_eq!(put_out(&mut desk, 0), [(first, load("a")), (second, load("b"))]);
        assert_eq!(put_out(&mut desk, 999), []);
        assert_eq!(desk.close(first), Some(load("a")));
        assert_eq!(desk.close(first), None, "answered twice");
        desk.put_out(at(1_000), |asked| assert_eq!((asked.number, asked.oldest), (second, second)));
        assert_eq!(put_out(&mut desk, 2_000), [(second, load("b"))]);
        desk.close(second);
        assert_eq!(put_out(&mut desk, 9_000), []);
        assert_eq!(desk.bytes, 0);
    }

    #[test]
    fn the_next_host_puts_out_what_is_open_with_the_same_numbers() {
        let mut desk = StoreDesk::default();
        desk.begin_incarnation(1);
        let number = desk.ask(at(0), load("a")).unwrap();
        assert_eq!(number, StoreNumber { incarnation: 1, count: 1 });
        put_out(&mut desk, 0);
        let mut next: StoreDesk =
            crate::saved::only_section(&crate::saved::section(&desk)).expect("what was saved");
        next.begin_incarnation(2);
        assert_eq!(put_out(&mut next, 50), [(number, load("a"))]);
        let newer = next.ask(at(50), load("b")).unwrap();
        assert_eq!(newer, StoreNumber { incarnation: 2, count: 2 });
        next.begin_incarnation(1);
        assert_eq!(next.ask(at(50), load("c")).unwrap().incarnation, 2, "it never goes back");
    }

    #[test]
    fn what_waits_is_bounded_and_so_is_what_leaves_at_once() {
        let mut desk = StoreDesk::default();
        let save = |bytes| StoreRequest::Save(key("k"), vec![0; bytes]);
        assert_eq!(desk.ask(at(0), save(65_537)), Err(StoreRefusal::OutOfBounds));
        assert_eq!(desk.ask(at(0), load("")), Err(StoreRefusal::OutOfBounds));
        assert_eq!(desk.ask(at(0), load(&"n".repeat(65))), Err(StoreRefusal::OutOfBounds));
        let result = |player: String| {
            StoreRequest::AddResult(ResultRow {
                board: "b".into(),
                account: None,
                player,
                score: 1,
            })
        };
        assert!(result("\u{20000}".repeat(24)).is_within_bounds(), "the longest name");
        assert!(!result("n".repeat(97)).is_within_bounds());
        let taken = (0..100).filter(|_| desk.ask(at(0), save(65_536)).is_ok()).count();
        assert_eq!(taken, 15, "a MiB together");
        assert_eq!(put_out(&mut desk, 0).len(), 3, "a quarter of one at a tick");
        assert_eq!(put_out(&mut desk, 50).len(), 3);
        let mut desk = StoreDesk::default();
        let taken = (0..2_000).filter(|_| desk.ask(at(0), load("a")).is_ok()).count();
        assert_eq!(taken, MAX_OPEN_REQUESTS);
        assert_eq!(desk.waits_since(), Some(at(0)));
    }

    fn put_out(desk: &mut StoreDesk, ms: u64) -> Vec<(StoreNumber, StoreRequest)> {
        let mut out = Vec::new();
        desk.put_out(at(ms), |asked| out.push((asked.number, asked.request)));
        out
    }

    fn load(name: &str) -> StoreRequest {
        StoreRequest::Load(key(name))
    }

    fn key(name: &str) -> StoreKey {
        StoreKey { account: None, name: name.to_owned() }
    }

    fn at(ms: u64) -> GameTime {
        GameTime::from_millis(ms)
    }
}
