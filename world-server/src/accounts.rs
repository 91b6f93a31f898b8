//! Accounts: what the lobby needs the store, or time, for.
//!
//! [`AccountDesk::carry_out`] does a job of the lobby. Passwords
//! are hashed one at a time, on a thread for blocking work: a hash takes some 20 MB and some 20 ms.
//! Reserved names and bans are read again when the store says that they have changed, by this
//! program or another.

pub(crate) mod command;
mod passwords;
mod ring_verifier;
mod tokens;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ambit_lobby::{AccountJob, AccountOutcome, Secret, StoreJob, StoreOutcome};
use ambit_proto::ids::{AccountId, RoomId};
use ambit_store::{
    BanScope, BanTarget, ClaimOutcome, GameResult, LINEAGE_LASTS_S, Names, PasswordAccount, Period,
    RoomRequest, SaveOutcome, ServerBan, Store, StoreError, StorePlace, StoreTables, TopResult,
};
use ambit_transport::random::system_random;
use anyhow::Context as _;
use parking_lot::Mutex;
use tokio::sync::{Semaphore, watch};

use crate::accounts::passwords::{hash, is_right};
use crate::accounts::tokens::{TokenKeys, TokenRules};
use crate::config::Config;

/// How often the store is asked whether names and bans have changed.
const NAMES_INTERVAL: Duration = Duration::from_secs(1);
/// Passwords that may wait to be hashed; more are refused.
const MAX_WAITING_HASHES: usize = 256;
/// Numbers that are tried for a new login, before longer ones are.
const SHORT_TRIES: usize = 8;
const TRIES: usize = 12;
/// How often, and how long apart, the last requests of a closed room are tried.
const LAST_TRIES: u32 = 60;
const LAST_PAUSE: Duration = Duration::from_secs(1);
const WRONG_PASSWORD: &str = "the name and the password do not belong together; a name to sign in \
    with has a number at its end, as in ann#48213";

/// Does what the lobby asks; clones share everything.
#[derive(Clone, Debug)]
pub(crate) struct AccountDesk {
    store: Store,
    /// Reserved names and bans, as they were read last.
    names: Arc<watch::Sender<Names>>,
    tokens: Option<Arc<TokenKeyFile>>,
    /// Permits to wait for a hash, and the one to compute it.
    hashes: Arc<(Semaphore, Semaphore)>,
    /// Of the lobby, once a room has asked for something.
    lineage: watch::Sender<Option<[u8; 16]>>,
    /// What closed rooms have asked last: each has a receiver until it is done.
    last_jobs: watch::Sender<()>,
}

impl AccountDesk {
    /// Opens the store, and keeps names and bans current as long as the desk lives.
    pub(crate) async fn open(config: &Config) -> anyhow::Result<Self> {
        let place = config.store_place();
        let opening = place.clone();
        let store = tokio::task::spawn_blocking(move || Store::open(&opening)).await?;
        let store = store.with_context(|| format!("cannot open the store {place} (`--store`)"))?;
        let first = store.names().await?;
        tracing::info!(
            %place,
            names = first.reserved.len(),
            bans = first.bans.len(),
            "accounts are stored here"
        );
        let names = Arc::new(watch::Sender::new(first));
        tokio::spawn(keep_current(store.clone(), Arc::downgrade(&names)));
        let tokens = config.token_keys.as_deref().map(|path| TokenKeyFile::open(path, config));
        let tokens = tokens.transpose().context("`--token-keys`")?.map(Arc::new);
        let hashes = (Semaphore::new(MAX_WAITING_HASHES), Semaphore::new(1));
        let lineage = watch::Sender::new(None);
        if matches!(place, StorePlace::Postgres(_)) {
            tokio::spawn(keep_lineage(store.clone(), lineage.subscribe()));
        }
        let last_jobs = watch::Sender::new(());
        Ok(Self { store, names, tokens, hashes: Arc::new(hashes), lineage, last_jobs })
    }

    /// One for tests, in which nothing lasts.
    #[cfg(test)]
    pub(crate) fn in_memory() -> Self {
        let store = Store::open(&StorePlace::Memory).expect("memory");
        let names = Arc::default();
        let hashes = Arc::new((Semaphore::new(MAX_WAITING_HASHES), Semaphore::new(1)));
        let (lineage, last_jobs) = (watch::Sender::new(None), watch::Sender::new(()));
        Self { store, names, tokens: None, hashes, lineage, last_jobs }
    }

    /// Reserved names and bans, and their changes.
    pub(crate) fn names(&self) -> watch::Receiver<Names> {
        self.names.subscribe()
    }

    /// Bans, or changes bans: all of them, or none. Those who follow [`Self::names`] know it.
    pub(crate) async fn ban(&self, bans: Vec<ServerBan>) -> Result<(), StoreError> {
        let store = move |tables: &mut StoreTables<'_>| {
            bans.iter().try_for_each(|ban| tables.ban(ban, unix_time()))
        };
        self.store.run(store).await?;
        self.read_names().await
    }

    /// Ends the bans of these targets from these. Returns those that were banned.
    pub(crate) async fn unban(
        &self,
        targets: Vec<BanTarget>,
        scopes: &'static [BanScope],
    ) -> Result<Vec<BanTarget>, StoreError> {
        let unban = move |tables: &mut StoreTables<'_>| {
            let mut ended = Vec::new();
            for target in targets {
                let mut is_any = false;
                for scope in scopes {
                    is_any |= tables.unban(&target, *scope)?;
                }
                ended.extend(is_any.then_some(target));
            }
            Ok(ended)
        };
        let ended = self.store.run(unban).await?;
        self.read_names().await?;
        Ok(ended)
    }

    /// Reads reserved names, bans and roles again.
    pub(crate) async fn read_names(&self) -> Result<(), StoreError> {
        publish(&self.names, self.store.names().await?);
        Ok(())
    }

    /// Does a job of the lobby.
    pub(crate) async fn carry_out(self, job: AccountJob) -> AccountOutcome {
        self.try_to_carry_out(job).await.unwrap_or_else(|error| {
            tracing::debug!(%error, "a job with an account was not done");
            AccountOutcome::Unavailable
        })
    }

    async fn try_to_carry_out(&self, job: AccountJob) -> Result<AccountOutcome, StoreError> {
        match job {
            AccountJob::CheckPassword { login, password } => {
                let found = self.store.run(move |tables| tables.find_password(&login)).await?;
                let known = found.as_ref().map(|found| found.hash.clone());
                let is_right = self.is_password(known, password).await?;
                Ok(match found {
                    Some(PasswordAccount { account, login, .. }) if is_right => {
                        AccountOutcome::SignedIn { account, login: Some(login) }
                    }
                    _ => AccountOutcome::Refused(WRONG_PASSWORD.to_owned()),
                })
            }
            AccountJob::Register { name, password } => self.register(name, password).await,
            AccountJob::CheckToken { token } => Ok(self.check_token(&token)),
            AccountJob::SetPassword { account, password, new_password } => {
                let known = self.store.run(move |tables| tables.password_of(account)).await?;
                if !self.is_password(known, password).await? {
                    return Ok(AccountOutcome::Refused("the password is wrong".to_owned()));
                }
                let hash = self.hash(new_password).await?;
                self.store.run(move |tables| tables.set_password(account, &hash)).await?;
                Ok(AccountOutcome::Done)
            }
            AccountJob::Read { account } => {
                let data = self.store.run(move |tables| tables.export(account)).await?;
                Ok(AccountOutcome::Data(data.to_string()))
            }
            AccountJob::Erase { account } => {
                self.store.run(move |tables| tables.erase(account)).await?;
                Ok(AccountOutcome::Done)
            }
        }
    }

    /// Does a room's job.
    pub(crate) async fn store_for_room(self, request: RoomRequest, job: StoreJob) -> StoreOutcome {
        let now = unix_time();
        let lineage = Some(request.lineage);
        self.lineage.send_if_modified(|known| {
            let is_new = *known != lineage;
            *known = lineage;
            is_new
        });
        match self.store.run(move |tables| carry_out_for_room(tables, &request, job, now)).await {
            Ok(outcome) => outcome,
            Err(error @ StoreError::Refused(_)) => {
                tracing::error!(%error, "a room's request is refused");
                StoreOutcome::Refused
            }
            Err(error) => {
                tracing::debug!(%error, "a room's request waits");
                StoreOutcome::Unavailable
            }
        }
    }

    /// The boards of a game.
    pub(crate) async fn boards(&self, game: String) -> Result<Vec<String>, StoreError> {
        self.store.run(move |tables| tables.boards(&game)).await
    }

    /// The first rows of a board.
    pub(crate) async fn top_list(
        &self,
        game: String,
        board: String,
        period: Period,
        count: u32,
    ) -> Result<Vec<TopResult>, StoreError> {
        let now = unix_time();
        self.store.run(move |tables| tables.top_list((&game, &board), period, now, count)).await
    }

    /// Does what a closed room has asked last, as soon as the store works.
    pub(crate) fn begin_last(&self, request: RoomRequest, job: StoreJob) {
        let is_running = self.last_jobs.subscribe();
        let doing = self.clone().store_last(request, job);
        tokio::spawn(async move {
            doing.await;
            drop(is_running);
        });
    }

    /// Waits for what closed rooms have asked last.
    pub(crate) async fn finish(&self) {
        self.last_jobs.closed().await;
    }

    async fn store_last(self, request: RoomRequest, job: StoreJob) {
        let (lineage, room) = (request.lineage, RoomId(request.room));
        for _ in 0..LAST_TRIES {
            let outcome = self.clone().store_for_room(request.clone(), job.clone()).await;
            if outcome != StoreOutcome::Unavailable {
                return self.forget_room(lineage, room).await;
            }
            tokio::time::sleep(LAST_PAUSE).await;
        }
        tracing::error!(
            room = room.0,
            "what a closed room had left to write is lost: the store did not work for {} s",
            (LAST_PAUSE * LAST_TRIES).as_secs()
        );
    }

    /// A room is gone, so none of its requests comes again.
    pub(crate) async fn forget_room(self, lineage: [u8; 16], room: RoomId) {
        // What stays is small, and harms nothing.
        let _ = self.store.run(move |tables| tables.forget_room(lineage, room.0)).await;
    }

    /// Makes an account with the first login that is free.
    async fn register(&self, name: String, password: Secret) -> Result<AccountOutcome, StoreError> {
        let hash = self.hash(password).await?;
        let now = unix_time();
        for attempt in 0..TRIES {
            let account = AccountId(random()?);
            let number = u64::from_be_bytes(random()?);
            let login = if attempt < SHORT_TRIES {
                format!("{name}#{:05}", number % 100_000)
            } else {
                format!("{name}#{:09}", number % 1_000_000_000)
            };
            let new = PasswordAccount { account, login: login.clone(), hash: hash.clone() };
            if self.store.run(move |tables| tables.add_password(&new, now)).await? {
                return Ok(AccountOutcome::SignedIn { account, login: Some(login) });
            }
        }
        Err(StoreError::Unavailable(format!("no number is free for {name}")))
    }

    fn check_token(&self, token: &Secret) -> AccountOutcome {
        let Some(tokens) = &self.tokens else {
            return AccountOutcome::Refused("this server takes no tokens".to_owned());
        };
        match tokens.newest().check(&token.0, unix_time()) {
            Ok(account) => AccountOutcome::SignedIn { account, login: None },
            Err(problem) => AccountOutcome::Refused(format!(
                "the token is not accepted: {problem}; get a new one from where you got it"
            )),
        }
    }

    /// Whether this is the password with that hash. If there is none, it takes the same time.
    async fn is_password(
        &self,
        known: Option<String>,
        password: Secret,
    ) -> Result<bool, StoreError> {
        self.blocking(move || is_right(known.as_deref(), &password.0)).await
    }

    async fn hash(&self, password: Secret) -> Result<String, StoreError> {
        let salt = random()?;
        self.blocking(move || hash(&password.0, salt)).await
    }

    /// Computes something on a thread for that, one at a time.
    async fn blocking<T: Send + 'static>(
        &self,
        compute: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, StoreError> {
        let unavailable = |problem: &str| StoreError::Unavailable(problem.to_owned());
        let (waiting, computing) = &*self.hashes;
        let _waits = waiting.try_acquire().map_err(|_| unavailable("too many passwords wait"))?;
        let _computes = computing.acquire().await.map_err(|_| unavailable("closed"))?;
        tokio::task::spawn_blocking(compute).await.map_err(|error| unavailable(&error.to_string()))
    }
}

/// Carries out what a room asks of the store, within a transaction; `now` is in seconds since 1970.
pub fn carry_out_for_room(
    tables: &mut StoreTables<'_>,
    request: &RoomRequest,
    job: StoreJob,
    now: i64,
) -> Result<StoreOutcome, StoreError> {
    Ok(match job {
        StoreJob::Load(key) => StoreOutcome::Done(tables.load_value(&key)?),
        StoreJob::Save(key, value) => {
            tables.save_value(request, &key, &value, now)?;
            StoreOutcome::Done(None)
        }
        StoreJob::AddResult { game, board, account, player, score } => {
            let row = GameResult { game, board, account, player, score, added_at: now };
            tables.add_result(request, &row)?;
            StoreOutcome::Done(None)
        }
        StoreJob::ClaimProfile { game, account, instead_of } => {
            if let Some(gone) = instead_of {
                tables.free_profile(&game, account, gone)?;
            }
            match tables.claim_profile(request, &game, account, now)? {
                ClaimOutcome::Claimed { claim, value } => StoreOutcome::Claimed { claim, value },
                ClaimOutcome::Held { claim } => StoreOutcome::Held { account, claim },
            }
        }
        StoreJob::SaveProfiles { game, profiles } => {
            match tables.save_profiles(request, &game, &profiles, now)? {
                SaveOutcome::Saved(lost) => StoreOutcome::Saved(lost),
                SaveOutcome::GoneBack => {
                    tracing::warn!(
                        room = request.room,
                        "a room has gone back behind what it had stored: its players get their \
                         profiles as they are stored, when they come again"
                    );
                    StoreOutcome::Refused
                }
            }
        }
    })
}

/// Notes in a store that others share that the server with this lineage is there.
async fn keep_lineage(store: Store, mut known: watch::Receiver<Option<[u8; 16]>>) {
    let interval = Duration::from_secs(LINEAGE_LASTS_S as u64 / 4);
    loop {
        let lineage = *known.borrow_and_update();
        if let Some(lineage) = lineage {
            // A store that does not work says so itself.
            let _ = store.run(move |tables| tables.note_lineage(lineage, unix_time())).await;
        }
        tokio::select! {
            changed = known.changed() => if changed.is_err() { return },
            () = tokio::time::sleep(interval) => {}
        }
    }
}

/// Ends with the desk.
async fn keep_current(store: Store, known: Weak<watch::Sender<Names>>) {
    loop {
        tokio::time::sleep(NAMES_INTERVAL).await;
        let Some(names) = known.upgrade() else { return };
        let known = names.borrow().number;
        let read = store.run(move |tables| {
            Ok(if tables.names_number()? == known { None } else { Some(tables.names()?) })
        });
        // A store that does not work says so itself.
        if let Ok(Some(newest)) = read.await {
            publish(&names, newest);
        }
    }
}

/// What was read earlier may come later.
fn publish(names: &watch::Sender<Names>, read: Names) {
    names.send_if_modified(|known| {
        let is_newer = read.number > known.number;
        if is_newer {
            *known = read;
        }
        is_newer
    });
}

/// The file of the keys of tokens. It is read again when it has changed.
#[derive(Debug)]
struct TokenKeyFile {
    path: PathBuf,
    rules: TokenRules,
    loaded: Mutex<(Option<SystemTime>, Arc<TokenKeys>)>,
}

impl TokenKeyFile {
    fn open(path: &Path, config: &Config) -> anyhow::Result<Self> {
        ring_verifier::install();
        let rules = TokenRules {
            audience: config.token_audience.clone().unwrap_or_default(),
            issuer: config.token_issuer.clone(),
        };
        let keys = read_keys(path, &rules)?;
        let loaded = Mutex::new((changed_at(path), Arc::new(keys)));
        Ok(Self { path: path.to_owned(), rules, loaded })
    }

    /// The keys that the file has now; those before, if it has none that can be read.
    fn newest(&self) -> Arc<TokenKeys> {
        let mut loaded = self.loaded.lock();
        let changed = changed_at(&self.path);
        if changed != loaded.0 {
            loaded.0 = changed;
            match read_keys(&self.path, &self.rules) {
                Ok(keys) => {
                    tracing::info!(path = %self.path.display(), "new keys for tokens were read");
                    loaded.1 = Arc::new(keys);
                }
                Err(error) => tracing::error!(
                    path = %self.path.display(),
                    "the file of keys for tokens cannot be read; the keys before are used: \
                     {error:#}"
                ),
            }
        }
        Arc::clone(&loaded.1)
    }
}

fn changed_at(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).and_then(|found| found.modified()).ok()
}

fn read_keys(path: &Path, rules: &TokenRules) -> anyhow::Result<TokenKeys> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    TokenKeys::parse(&text, rules.clone()).with_context(|| path.display().to_string())
}

fn random<const N: usize>() -> Result<[u8; N], StoreError> {
    system_random().map_err(|error| StoreError::Unavailable(error.to_string()))
}

/// Seconds since 1970.
#[expect(clippy::disallowed_methods, reason = "a shell's clock")]
pub(crate) fn unix_time() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() as i64
}
