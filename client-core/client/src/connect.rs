//! Connecting to a server.

use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ambit_client_core::account_file;
use ambit_client_core::client::config::{ClientConfig, SignIn};
use ambit_client_core::shell::{ClientOptions, ServerTrust};
use ambit_client_core::trust::KnownHosts;
use ambit_proto::pose::PoseCoding;
use ambit_steering::SharedMotion;
pub use ambit_transport::impair::Impairment;
pub use ambit_transport::quic::Fingerprint;
use ambit_transport::random::system_random;

use crate::client::Client;
use crate::error::ConnectError;
use crate::session::Session;

/// Connects to the server at `address`: `"127.0.0.1:7777"`, `"example.org:7777"`; of a cluster
/// several, with commas between them.
///
/// ```no_run
/// # async fn example() -> Result<(), ambit_client::ConnectError> {
/// let client = ambit_client::connect("127.0.0.1:7777").name("ann").await?;
/// # Ok(())
/// # }
/// ```
///
/// The address is dialled when the builder is awaited, within a tokio runtime. A server that was
/// never reached is not dialled again: the error says why. Later the client restores a broken
/// connection by itself.
pub fn connect(address: impl Into<String>) -> Connect {
    Connect {
        options: ClientOptions {
            server: address.into(),
            trust: ServerTrust::Pinned(Fingerprint([0; 32])),
            impairment: None,
            number: next_number(),
            account: None,
            client: ClientConfig {
                agent: concat!("ambit-client ", env!("CARGO_PKG_VERSION")).to_owned(),
                seed: u64::from_le_bytes(system_random().expect("the system has random numbers")),
                ..ClientConfig::default()
            },
        },
        trust: Trust::Default,
        account: AccountChoice::None,
    }
}

/// A connection that is about to be made: awaiting it returns the [`Client`].
#[derive(Clone, Debug)]
#[must_use = "nothing is dialled before this is awaited"]
pub struct Connect {
    options: ClientOptions,
    trust: Trust,
    account: AccountChoice,
}

/// The account that the session is to have.
#[derive(Clone, Debug)]
enum AccountChoice {
    None,
    Device,
    File(PathBuf),
}

/// How the server proves who it is.
#[derive(Clone, Debug)]
enum Trust {
    /// By the known-hosts file of the user.
    Default,
    KnownHosts(PathBuf),
    Pinned(Fingerprint),
}

impl Connect {
    /// The wanted name, 1 to 24 characters; without one, the server chooses.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.options.client.name = name.into();
        self
    }

    /// Trusts on first use, as ssh does, with this file. Without a choice, it is the one that the
    /// console uses: `AMBIT_KNOWN_HOSTS`, or `ambit/known_hosts` in the user's configuration.
    pub fn known_hosts(mut self, file: impl Into<PathBuf>) -> Self {
        self.trust = Trust::KnownHosts(file.into());
        self
    }

    /// Trusts only a server with this certificate: the SHA-256 that it prints as `certificate=`
    /// when it is ready.
    pub fn pinned(mut self, certificate: Fingerprint) -> Self {
        self.trust = Trust::Pinned(certificate);
        self
    }

    /// Plays with the account of this device, the same that the console has: a secret in the file
    /// that `AMBIT_ACCOUNT` names (`off` for none), or `ambit/account` in the user's configuration.
    /// It is made if it is missing. Without a choice the session has no account.
    pub fn device_account(mut self) -> Self {
        self.account = AccountChoice::Device;
        self
    }

    /// Plays with an account that has a password: `login` as [`Client::login`] gave it when the
    /// account was made (`ann#48213`).
    pub fn password(self, login: impl Into<String>, password: impl Into<String>) -> Self {
        let (login, password) = (login.into(), password.into());
        self.sign_in(SignIn::Password { login, password, is_new: false })
    }

    /// Makes an account with a password, and plays with it. [`Client::login`] is what the player
    /// signs in with from then on: `name` with a number.
    pub fn new_account(self, name: impl Into<String>, password: impl Into<String>) -> Self {
        let (login, password) = (name.into(), password.into());
        self.sign_in(SignIn::Password { login, password, is_new: true })
    }

    /// Plays with the account that a token of the operator's service names.
    pub fn account_token(self, token: impl Into<String>) -> Self {
        self.sign_in(SignIn::Token(token.into()))
    }

    fn sign_in(mut self, sign_in: SignIn) -> Self {
        self.account = AccountChoice::None;
        self.options.client.sign_in = sign_in;
        self
    }

    /// Plays with the account in this file, which is made if it is missing. A copy of the file is
    /// the same account: keep it secret.
    pub fn account_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.account = AccountChoice::File(file.into());
        self
    }

    /// Resumes an earlier session, perhaps of a process that has crashed:
    /// [`Client::resume_token`].
    pub fn resume_token(mut self, token: impl Into<Vec<u8>>) -> Self {
        self.options.client.resume_token = token.into();
        self
    }

    /// How long a broken connection to the lobby is tried to be restored; zero for not at all. One
    /// minute without a choice; servers keep a seat for half a minute.
    pub fn reconnect_for(mut self, time: Duration) -> Self {
        self.options.client.reconnect_for = time;
        self
    }

    /// Simulates a bad network in both directions, below QUIC.
    pub fn impairment(mut self, impairment: Impairment) -> Self {
        self.options.impairment = Some(impairment);
        self
    }

    /// Predicts the player's own avatar from its inputs, in a game whose motion this client shares
    /// ([`Connect::motion`]); without a choice, only avatars that are steered.
    pub fn predict(mut self, predict: bool) -> Self {
        self.options.client.predict = Some(predict);
        self
    }

    /// Runs what the shared crate of a game has: its physics, or the function that steers avatars.
    /// May be called for several games.
    pub fn motion(mut self, motion: impl Into<SharedMotion>) -> Self {
        self.options.client.motions.push(motion.into());
        self
    }

    /// Asks the host for a coding of poses, for all games.
    pub fn coding(mut self, coding: PoseCoding) -> Self {
        self.options.client.coding = coding;
        self
    }

    /// Changes settings that have no method here: when poses are shown, how often held keys are
    /// sent.
    pub fn configure(mut self, change: impl FnOnce(&mut ClientConfig)) -> Self {
        change(&mut self.options.client);
        self
    }

    async fn dial(self) -> Result<Client, ConnectError> {
        let mut options = self.options;
        options.trust = match self.trust {
            Trust::Default => KnownHosts::for_user(|name| std::env::var_os(name))
                .map(ServerTrust::FirstUse)
                .map_err(|error| ConnectError::KnownHosts(error.to_string()))?,
            Trust::KnownHosts(file) => ServerTrust::FirstUse(KnownHosts::from_path(file)),
            Trust::Pinned(certificate) => ServerTrust::Pinned(certificate),
        };
        let account = match self.account {
            AccountChoice::None => Ok(None),
            AccountChoice::Device => account_file::for_user(None, |name| std::env::var_os(name)),
            AccountChoice::File(file) => account_file::open(&file).map(Some),
        };
        options.account =
            account.map_err(|error| ConnectError::Account(error.to_string()))?.map(Arc::new);
        let (session, welcome) = Session::start(options).await?;
        Ok(Client::new(session, welcome))
    }
}

impl IntoFuture for Connect {
    type Output = Result<Client, ConnectError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.dial())
    }
}

/// Numbers the clients of the process, so that their impairments differ.
fn next_number() -> u64 {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    NUMBER.fetch_add(1, Ordering::Relaxed)
}
