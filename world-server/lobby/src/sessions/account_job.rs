//! What the lobby asks about accounts, and what comes of it.

use ambit_proto::ids::AccountId;

/// A text that no log shows.
#[derive(Clone, PartialEq, Eq, derive_more::Debug)]
#[debug("Secret(..)")]
pub struct Secret(pub String);

/// Something to do with accounts that waits for the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccountJob {
    /// Find the account with this login and check its password.
    CheckPassword {
        login: String,
        password: Secret,
    },
    /// Make an account with a login that begins with this name.
    Register {
        name: String,
        password: Secret,
    },
    /// Check a token of the operator's service.
    CheckToken {
        token: Secret,
    },
    SetPassword {
        account: AccountId,
        password: Secret,
        new_password: Secret,
    },
    /// Read all that is stored of an account.
    Read {
        account: AccountId,
    },
    /// Delete it.
    Erase {
        account: AccountId,
    },
}

/// What came of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccountOutcome {
    /// The player has proved that it has this account.
    SignedIn {
        account: AccountId,
        /// With a password: what the player signs in with.
        login: Option<String>,
    },
    /// The name, the password or the token is wrong. The text says no more than the player may
    /// know.
    Refused(String),
    /// All that is stored, as JSON.
    Data(String),
    Done,
    /// The store does not work now, or there is too much to do.
    Unavailable,
}

/// How a player may prove who it is, or need not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccountWays {
    /// Without an account.
    pub guest: bool,
    /// With a key pair that the client has made.
    pub device: bool,
    pub password: bool,
    /// With a token of the operator's service.
    pub token: bool,
}

impl Default for AccountWays {
    fn default() -> Self {
        Self { guest: true, device: true, password: false, token: false }
    }
}

/// A way that a client takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, derive_more::Display)]
pub(crate) enum AccountWay {
    #[display("guest")]
    Guest,
    #[display("device")]
    Device,
    #[display("password")]
    Password,
    #[display("token")]
    Token,
}

impl AccountWays {
    pub(crate) fn all(self) -> impl Iterator<Item = AccountWay> {
        let ways = [
            (AccountWay::Guest, self.guest),
            (AccountWay::Device, self.device),
            (AccountWay::Password, self.password),
            (AccountWay::Token, self.token),
        ];
        ways.into_iter().filter(|(_, is_allowed)| *is_allowed).map(|(way, _)| way)
    }

    /// As an operator names them, and a page reads them.
    pub fn names(self) -> impl Iterator<Item = String> {
        self.all().map(|way| way.to_string())
    }

    pub(crate) fn allow(self, way: AccountWay) -> bool {
        self.all().any(|allowed| allowed == way)
    }
}
