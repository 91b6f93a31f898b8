//! Accounts with passwords and tokens, and what players ask about their accounts.
//!
//! Such a request needs the store, or takes some time to compute. So the lobby puts it out as an
//! [`AccountJob`], and answers it when the shell reports an [`AccountOutcome`]. A connection has
//! one job at a time.
//!
//! Wrong passwords and tokens are counted by network, as are new accounts: after some of them each
//! further one is followed by a pause, within which nothing is tried. Wrong passwords are counted
//! by login, too ([`login_guesses`](super::login_guesses)). A wrong name and a wrong password have
//! the same answer.

use std::time::Duration;

use ambit_proto::codes::ErrorCode;
use ambit_proto::ids::{AccountId, PlayerId};
use ambit_proto::standing::Standing;
use ambit_proto::time::LocalTime;
use ambit_transport::address::SourceNetwork;

use crate::effects::LobbyEffects;
use crate::output::{JobSource, LobbyAction, OutputQueue, RequestSource};
use crate::refusal::LobbyRefusal;
use crate::sessions::Sessions;
use crate::sessions::account_job::{AccountJob, AccountOutcome, Secret};
use crate::sessions::connections::{Asked, Stage};
use crate::sessions::login_guesses::CheckResult;
use crate::sessions::players::LobbyPlayer;
use crate::sessions::server_bans::ServerBans;
use crate::text::PlayerName;
use crate::timers::Timer;

/// Jobs of one network that the shell may have at a time.
const MAX_JOBS_OF_NETWORK: u32 = 8;
/// How long a client that signs in may wait for the job. The store has an answer sooner.
const JOB_TIMEOUT: Duration = Duration::from_secs(15);

impl Sessions {
    /// Whether these names are older than those that are known. Two tell of each change, and one of
    /// them may be late.
    pub(super) fn are_late(&self, names: &ambit_store::Names) -> bool {
        names.number < self.sign_ins.names_number
    }

    /// Sets which names are reserved, who is banned, and which accounts have a role.
    pub(super) fn set_names(&mut self, names: ambit_store::Names) {
        self.sign_ins.names_number = names.number;
        let reserved = names.reserved.into_iter();
        // Another build may have allowed other names.
        let reserved =
            reserved.filter_map(|(name, account)| Some((PlayerName::parse(&name).ok()?, account)));
        self.players.set_reserved(reserved);
        self.sign_ins.bans = ServerBans::new(names.bans);
        self.sign_ins.roles = names.roles;
    }

    /// What a player is in a room, or in the world that begins with it. A ticket says it, so that a
    /// role that is given or taken counts from the next one on.
    pub(crate) fn standing_of(&self, player: PlayerId, is_maker: bool) -> Standing {
        let known = self.players.get(player);
        let party = known.and_then(|player| player.party);
        Standing {
            is_maker,
            role: self.role_of(known.and_then(|player| player.account)),
            // One alone is with no other player.
            party: party.filter(|party| self.parties.members(*party).len() > 1),
        }
    }

    /// Has a password or a token checked, or an account made.
    pub(super) fn ask_for_sign_in(
        &mut self,
        now: LocalTime,
        from: RequestSource,
        name: Option<PlayerName>,
        job: AccountJob,
        effects: &mut LobbyEffects,
    ) -> Result<(), LobbyRefusal> {
        self.begin_job(now, from, Asked::SignIn { name }, job, &mut effects.outbox)?;
        effects.timers.set(Timer::Hello(from.conn), now + JOB_TIMEOUT);
        Ok(())
    }

    pub(crate) fn read_account(
        &mut self,
        now: LocalTime,
        from: RequestSource,
        player: PlayerId,
        outbox: &mut OutputQueue,
    ) -> Result<(), LobbyRefusal> {
        let account = self.account_of_player(player)?;
        self.begin_job(now, from, Asked::OwnAccount, AccountJob::Read { account }, outbox)
    }

    pub(crate) fn erase_account(
        &mut self,
        now: LocalTime,
        from: RequestSource,
        player: PlayerId,
        outbox: &mut OutputQueue,
    ) -> Result<(), LobbyRefusal> {
        let account = self.account_of_player(player)?;
        let plays =
            |player: &&LobbyPlayer| player.account == Some(account) && player.room.is_some();
        if let Some(playing) = self.players.iter().find(plays) {
            let message = if playing.id == player {
                "an account is deleted in no room: leave the room first"
            } else {
                "an account is deleted in no room, and another session of it is in one: leave the \
                 room there first"
            };
            return Err(LobbyRefusal::new(ErrorCode::AlreadyInRoom, message));
        }
        self.begin_job(now, from, Asked::Erasure, AccountJob::Erase { account }, outbox)
    }

    pub(crate) fn set_password(
        &mut self,
        now: LocalTime,
        from: RequestSource,
        player: PlayerId,
        (password, new_password): (Secret, Secret),
        outbox: &mut OutputQueue,
    ) -> Result<(), LobbyRefusal> {
        let account = self.account_of_player(player)?;
        let job = AccountJob::SetPassword { account, password, new_password };
        self.begin_job(now, from, Asked::OwnAccount, job, outbox)
    }

    fn account_of_player(&self, player: PlayerId) -> Result<AccountId, LobbyRefusal> {
        self.players.at(player).account.ok_or_else(|| {
            let message = "this session has no account; connect with one";
            LobbyRefusal::new(ErrorCode::OutOfState, message)
        })
    }

    fn begin_job(
        &mut self,
        now: LocalTime,
        from: RequestSource,
        asked: Asked,
        job: AccountJob,
        outbox: &mut OutputQueue,
    ) -> Result<(), LobbyRefusal> {
        let connection = self.connections.open_mut(from.conn).expect("a request came on it");
        if connection.asked.is_some() {
            let message = "another request about an account is not answered yet; wait for that";
            return Err(LobbyRefusal::new(ErrorCode::OutOfState, message));
        }
        let network = SourceNetwork::of(connection.address);
        if !connection.is_trusted {
            let pause = match &job {
                AccountJob::Register { .. } => {
                    self.sign_ins.registrations.pause_left(now, &network)
                }
                AccountJob::Read { .. } | AccountJob::Erase { .. } => None,
                _ => self.sign_ins.wrong.pause_left(now, &network),
            };
            if let Some(pause) = pause {
                return Err(too_many_attempts("from this address", pause));
            }
            if self.sign_ins.jobs.get(&network).is_some_and(|jobs| *jobs >= MAX_JOBS_OF_NETWORK) {
                return Err(unavailable_refusal());
            }
            if matches!(job, AccountJob::Register { .. }) {
                self.sign_ins.registrations.note_wrong(now, network);
            }
            if let AccountJob::CheckPassword { login, .. } = &job {
                let check = self.sign_ins.logins.begin(now, login, network);
                let check = check.map_err(|pause| too_many_attempts("with this login", pause))?;
                self.sign_ins.checks.insert(from.conn, check);
            }
        }
        connection.asked = Some(asked);
        *self.sign_ins.jobs.entry(network).or_default() += 1;
        let source = JobSource { conn: from.conn, request: from.request, network };
        outbox.push(LobbyAction::Account { source, job });
        Ok(())
    }

    /// The shell has done a job. Returns what the connection waits for with it, if it is still
    /// there, and its stage.
    pub(super) fn end_job(
        &mut self,
        now: LocalTime,
        source: JobSource,
        outcome: &AccountOutcome,
    ) -> Option<(Stage, Asked)> {
        let JobSource { conn, network, .. } = source;
        if let Some(jobs) = self.sign_ins.jobs.get_mut(&network) {
            *jobs -= 1;
            if *jobs == 0 {
                self.sign_ins.jobs.remove(&network);
            }
        }
        if let Some(check) = self.sign_ins.checks.remove(&conn) {
            let result = match outcome {
                AccountOutcome::SignedIn { .. } => CheckResult::Right,
                AccountOutcome::Refused(_) => CheckResult::Wrong,
                _ => CheckResult::None,
            };
            self.sign_ins.logins.end(now, check, result);
        }
        if matches!(outcome, AccountOutcome::Refused(_)) {
            self.sign_ins.wrong.note_wrong(now, network);
        }
        let connection = self.connections.open_mut(conn)?;
        Some((connection.stage, connection.asked.take()?))
    }
}

fn too_many_attempts(what: &str, pause: Duration) -> LobbyRefusal {
    let seconds = pause.as_secs() + 1;
    let message = format!("too many attempts {what}; try again in {seconds} s");
    LobbyRefusal::new(ErrorCode::RateLimited, message)
}

pub(super) fn unavailable_refusal() -> LobbyRefusal {
    let message = "accounts cannot be read now, or too many players sign in; try again";
    LobbyRefusal::new(ErrorCode::TryAgain, message)
}
