//! What outlives rooms, sessions and releases: passwords of accounts, reserved names, bans; values
//! of games, profiles of players, and results.
//!
//! [`Store::open`] opens a SQLite file or connects to PostgreSQL ([`StorePlace`]), and starts a
//! thread. [`Store::run`] gives that thread a job: a function on [`StoreTables`]. The jobs that
//! wait are run in one transaction, and each has an answer once the disk has what it wrote; a job
//! that fails changes nothing, and no other job. So a job costs a part of a sync, and its caller
//! waits on no thread.
//!
//! `tables` is all that is asked and written, in SQL that both databases understand (`bans`,
//! `games`, `profiles` and `top_lists` have parts of it); `database` is the trait between it and
//! them, `sqlite` and `postgres` implement it, `migrations` has what each version of the tables
//! adds, `opened` runs them. `copies` makes backups and restores them.
//!
//! A store that cannot be read or written now is [`StoreError::Unavailable`]: try again. After a
//! commit whose answer was lost it is unknown whether the job was done, so jobs are written so that
//! a second run does no harm.

#![warn(missing_docs, reason = "other crates rely on it")]

mod bans;
mod copies;
mod database;
mod games;
mod migrations;
mod opened;
mod place;
mod postgres;
mod profiles;
mod server_ban;
mod sqlite;
mod tables;
mod top_lists;
mod worker;

pub use copies::{Backup, RestoreError};
pub use database::StoreError;
pub use games::{GameResult, RoomRequest, ValueKey};
pub use place::{InvalidPlace, StorePlace};
pub use profiles::{ClaimOutcome, LINEAGE_LASTS_S, SaveOutcome, StoredProfile};
pub use server_ban::{BanNote, BanScope, BanTarget, BanTerm, InvalidBanTarget, ServerBan};
pub use tables::{NameOwner, Names, PasswordAccount, StoreTables};
pub use top_lists::{Period, TopResult};
pub use worker::{Store, StoreStats};
