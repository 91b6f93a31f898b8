//! Profiles of players: one room has each at a time.
//!
//! A room claims a profile, and gets its value with a number. While it has it, it writes with that
//! number; what another room writes with an older one is not taken. After the last write the next
//! room may claim it. A room whose server is gone has it no longer.

use ambit_proto::ids::AccountId;

use crate::database::{Row, StoreError, Value};
use crate::games::RoomRequest;
use crate::tables::{StoreTables, bytes_of};

/// A server that shares the store and was not seen for this time, in seconds, is gone.
pub const LINEAGE_LASTS_S: i64 = 60;

/// Claims of a profile in one second.
const CLAIM_BITS: u32 = 20;

/// What came of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimOutcome {
    /// The profile is the room's.
    Claimed {
        /// Higher than all earlier numbers of the profile.
        claim: u64,
        /// `None` for a new one.
        value: Option<Vec<u8>>,
    },
    /// Another room has it.
    Held {
        /// The number of its claim.
        claim: u64,
    },
}

/// What came of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SaveOutcome {
    /// The profiles are written, but those of these accounts: they are other rooms' now.
    Saved(Vec<AccountId>),
    /// The room is as it was before its last write, so nothing is written, and the profiles of this
    /// write are free.
    GoneBack,
}

/// A profile that is written, or given back, or both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredProfile {
    /// Whose it is.
    pub account: AccountId,
    /// The number of the room's claim.
    pub claim: u64,
    /// Counted from 1 since the claim: an older one does not replace a newer one.
    pub version: u64,
    /// `None` if it has not changed.
    pub value: Option<Vec<u8>>,
    /// Whether the next room may claim it.
    pub is_last: bool,
}

impl StoreTables<'_> {
    /// A room claims the profile of an account. The same request has the same outcome again.
    pub fn claim_profile(
        &mut self,
        request: &RoomRequest,
        game: &str,
        account: AccountId,
        now: i64,
    ) -> Result<ClaimOutcome, StoreError> {
        let sql = "SELECT value, claim, lineage, room, incarnation, number FROM profiles \
                   WHERE game = $1 AND account = $2";
        let found = self.database.query(sql, &[game.into(), bytes_of(account)])?;
        let (incarnation, number) = request.number;
        let own = [i64::from(incarnation), number as i64];
        // After a deletion numbers go on, too.
        let mut next = now << CLAIM_BITS;
        let mut value = Vec::new();
        if let Some(row) = found.first() {
            let claim = row.integer(1)?;
            row.bytes(0)?.clone_into(&mut value);
            let holder = [row.integer(4)?, row.integer(5)?];
            let is_of_room =
                row.bytes(2)? == request.lineage && row.integer(3)? == request.room as i64;
            if is_of_room && holder == own {
                return Ok(ClaimOutcome::Claimed { claim: claim as u64, value: some(value) });
            }
            let is_held = !row.bytes(2)?.is_empty();
            if is_held && self.is_there(request, row.bytes(2)?, now)? {
                return Ok(ClaimOutcome::Held { claim: claim as u64 });
            }
            next = next.max(claim + 1);
        }
        let sql = "INSERT INTO profiles (game, account, value, stored_at, claim, version, lineage, \
                   room, incarnation, number) VALUES ($1, $2, $3, $4, $5, 0, $6, $7, $8, $9) \
                   ON CONFLICT (game, account) DO UPDATE SET claim = excluded.claim, version = 0, \
                   lineage = excluded.lineage, room = excluded.room, \
                   incarnation = excluded.incarnation, number = excluded.number";
        let values = [
            game.into(),
            bytes_of(account),
            value[..].into(),
            now.into(),
            next.into(),
            request.lineage[..].into(),
            (request.room as i64).into(),
            own[0].into(),
            own[1].into(),
        ];
        self.database.execute(sql, &values)?;
        Ok(ClaimOutcome::Claimed { claim: next as u64, value: some(value) })
    }

    /// Writes profiles for a request of a room.
    pub fn save_profiles(
        &mut self,
        request: &RoomRequest,
        game: &str,
        profiles: &[StoredProfile],
        now: i64,
    ) -> Result<SaveOutcome, StoreError> {
        let mut lost = Vec::new();
        let mut held = Vec::new();
        let mut has_gone_back = false;
        for profile in profiles {
            let StoredProfile { account, claim, .. } = profile;
            let key = [game.into(), bytes_of(*account), (*claim as i64).into()];
            let sql = "SELECT lineage, version, saved_room, saved_incarnation FROM profiles \
                       WHERE game = $1 AND account = $2 AND claim = $3";
            let found = self.database.query(sql, &key)?;
            let is_held = |row: &&Row| Ok::<_, StoreError>(!row.bytes(0)?.is_empty());
            match found.first() {
                Some(row) if is_held(&row)? => {
                    has_gone_back |= has_written_later(row, request, profile)?;
                    held.push((key, profile));
                }
                // What was given back may come again.
                _ if !profile.is_last => lost.push(*account),
                _ => {}
            }
        }
        if has_gone_back {
            held.iter().try_for_each(|(key, _)| self.free(key))?;
            return Ok(SaveOutcome::GoneBack);
        }
        for (key, profile) in held {
            self.save_profile(request, &key, profile, now)?;
        }
        Ok(SaveOutcome::Saved(lost))
    }

    fn save_profile(
        &mut self,
        request: &RoomRequest,
        key: &[Value; 3],
        profile: &StoredProfile,
        now: i64,
    ) -> Result<(), StoreError> {
        if let Some(value) = &profile.value {
            let sql = "UPDATE profiles SET value = $1, stored_at = $2, version = $3, \
                       saved_room = $4, saved_incarnation = $5 \
                       WHERE game = $6 AND account = $7 AND claim = $8 AND version < $9";
            let [game, account, claim] = key.clone();
            let version = profile.version as i64;
            let values = [
                value[..].into(),
                now.into(),
                version.into(),
                (request.room as i64).into(),
                i64::from(request.number.0).into(),
                game,
                account,
                claim,
                version.into(),
            ];
            self.database.execute(sql, &values)?;
        }
        if profile.is_last { self.free(key) } else { Ok(()) }
    }

    /// Takes a profile away from the room that has claimed it with this number: it is gone.
    pub fn free_profile(
        &mut self,
        game: &str,
        account: AccountId,
        claim: u64,
    ) -> Result<(), StoreError> {
        self.free(&[game.into(), bytes_of(account), (claim as i64).into()])
    }

    /// A server with this lineage uses the store. Others that share it have to know that: without
    /// it, what its rooms have is as free as what rooms of earlier runs had.
    pub fn note_lineage(&mut self, lineage: [u8; 16], now: i64) -> Result<(), StoreError> {
        let sql = "INSERT INTO lineages (lineage, seen_at) VALUES ($1, $2) \
                   ON CONFLICT (lineage) DO UPDATE SET seen_at = excluded.seen_at";
        self.database.execute(sql, &[lineage[..].into(), now.into()])?;
        let sql = "DELETE FROM lineages WHERE seen_at < $1";
        self.database.execute(sql, &[(now - 10 * LINEAGE_LASTS_S).into()]).map(drop)
    }

    /// Whether the server that has a profile uses the store still.
    fn is_there(
        &mut self,
        request: &RoomRequest,
        lineage: &[u8],
        now: i64,
    ) -> Result<bool, StoreError> {
        if lineage == request.lineage {
            return Ok(true);
        }
        let sql = "SELECT seen_at FROM lineages WHERE lineage = $1";
        let found = self.database.query(sql, &[lineage.into()])?;
        let seen_at = found.first().map(|row| row.integer(0)).transpose()?;
        Ok(seen_at.is_some_and(|seen_at| now - seen_at < LINEAGE_LASTS_S))
    }

    fn free(&mut self, key: &[Value; 3]) -> Result<(), StoreError> {
        let sql = "UPDATE profiles SET lineage = $1 WHERE game = $2 AND account = $3 \
                   AND claim = $4";
        let [game, account, claim] = key.clone();
        let none = Value::Bytes(Vec::new());
        self.database.execute(sql, &[none, game, account, claim]).map(drop)
    }
}

/// Whether the room had written as new a value of the profile before it was given to its host.
fn has_written_later(
    row: &Row,
    request: &RoomRequest,
    profile: &StoredProfile,
) -> Result<bool, StoreError> {
    Ok(profile.value.is_some()
        && row.integer(1)? >= profile.version as i64
        && row.integer(2)? == request.room as i64
        && row.integer(3)? < i64::from(request.number.0))
}

fn some(value: Vec<u8>) -> Option<Vec<u8>> {
    Some(value).filter(|value| !value.is_empty())
}
