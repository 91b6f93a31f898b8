//! What the lobby remembers of sign-ins.

use std::collections::BTreeMap;

use ambit_proto::ids::AccountId;
use ambit_proto::standing::OperatorRole;
use ambit_transport::address::SourceNetwork;

use crate::output::ConnId;
use crate::rooms::password_guesses::GuessesByNetwork;
use crate::sessions::login_guesses::{LoginCheck, LoginGuesses};
use crate::sessions::server_bans::ServerBans;

/// What the lobby remembers of sign-ins, who is banned, and which accounts have a role.
#[derive(Debug, Default)]
pub(super) struct SignIns {
    pub(super) wrong: GuessesByNetwork,
    pub(super) logins: LoginGuesses,
    /// Checks of passwords that the shell has.
    pub(super) checks: BTreeMap<ConnId, LoginCheck>,
    pub(super) registrations: GuessesByNetwork,
    /// Jobs of each network that the shell has.
    pub(super) jobs: BTreeMap<SourceNetwork, u32>,
    pub(super) bans: ServerBans,
    pub(super) roles: BTreeMap<AccountId, OperatorRole>,
    /// The number of the newest [`ambit_store::Names`].
    pub(super) names_number: i64,
}
