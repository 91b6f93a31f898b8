//! Who may not play or chat because of a ban of the whole server, and what the player reads.
//!
//! A ban by address or by name may bar others than it is meant for. So these two do not bar an
//! account that the operator trusts with a role that may end bans. Before its account is proved, a
//! player is let through as far as its proof; who signs in with a password or a token is not known
//! yet, and is barred.

use ambit_proto::codes::ErrorCode;
use ambit_proto::ids::{AccountId, PlayerId};
use ambit_proto::standing::OperatorRole;
use ambit_proto::time::LocalTime;
use ambit_store::{BanTerm, ServerBan};
use ambit_transport::address::SourceNetwork;

use crate::config::LobbyConfig;
use crate::output::ConnId;
use crate::refusal::LobbyRefusal;
use crate::sessions::Sessions;
use crate::sessions::players::LobbyPlayer;
use crate::sessions::server_bans::{BanSubject, ServerBans, until_and_why};

impl Sessions {
    /// Refuses who may not play.
    pub(super) fn check_server_bans(
        &self,
        now: LocalTime,
        who: BanSubject<'_>,
        config: &LobbyConfig,
    ) -> Result<(), LobbyRefusal> {
        let now = config.unix_seconds(now);
        match self.sign_ins.bans.from_play.find(now, who, self.is_moderator(who.account)) {
            None => Ok(()),
            Some((what, term)) => {
                let message = format!("{what} may not play here{}", until_and_why(now, term));
                Err(LobbyRefusal::new(ErrorCode::Banned, message))
            }
        }
    }

    /// Refuses to say something for a player who is muted.
    pub(crate) fn check_mute(
        &self,
        now: LocalTime,
        player: PlayerId,
        config: &LobbyConfig,
    ) -> Result<(), LobbyRefusal> {
        match self.mute_of(now, player, config) {
            None => Ok(()),
            Some(term) => {
                let until = until_and_why(config.unix_seconds(now), term);
                let message = format!("an operator has muted you{until}");
                Err(LobbyRefusal::new(ErrorCode::Muted, message))
            }
        }
    }

    /// Why the player may not chat now, and until when.
    pub(crate) fn mute_of(
        &self,
        now: LocalTime,
        player: PlayerId,
        config: &LobbyConfig,
    ) -> Option<&BanTerm> {
        let now = config.unix_seconds(now);
        let known = self.players.get(player)?;
        if let Some(term) = known.mute.as_ref().filter(|term| !term.is_over(now)) {
            return Some(term);
        }
        let who = self.ban_subject(player);
        let muted = self.sign_ins.bans.from_chat.find(now, who, self.is_moderator(who.account));
        muted.map(|(_, term)| term)
    }

    /// The players who may not play any more, with their connections and the reasons.
    pub(super) fn barred_players(
        &self,
        now: LocalTime,
        config: &LobbyConfig,
    ) -> Vec<(PlayerId, Option<ConnId>, LobbyRefusal)> {
        let barred = self.players.iter().filter_map(|player| {
            let refusal = self.check_server_bans(now, self.ban_subject(player.id), config).err()?;
            Some((player.id, player.conn, refusal))
        });
        barred.collect()
    }

    /// How many players these bans concern now.
    pub(crate) fn reached_by(
        &self,
        now: LocalTime,
        bans: Vec<ServerBan>,
        config: &LobbyConfig,
    ) -> usize {
        let ServerBans { from_play, from_chat } = ServerBans::new(bans);
        let now = config.unix_seconds(now);
        let is_barred = |player: &&LobbyPlayer| {
            let who = self.ban_subject(player.id);
            let is_moderator = self.is_moderator(who.account);
            [&from_play, &from_chat].iter().any(|of| of.find(now, who, is_moderator).is_some())
        };
        self.players.iter().filter(is_barred).count()
    }

    /// What the operator trusts the account with.
    pub(crate) fn role_of(&self, account: Option<AccountId>) -> Option<OperatorRole> {
        account.and_then(|account| self.sign_ins.roles.get(&account).copied())
    }

    fn ban_subject(&self, player: PlayerId) -> BanSubject<'_> {
        let known = self.players.at(player);
        let address = self.network_of(player).map(SourceNetwork::first_address);
        BanSubject { account: known.account, name: Some(known.name()), address }
    }

    fn is_moderator(&self, account: Option<AccountId>) -> bool {
        self.role_of(account).is_some_and(|role| role >= OperatorRole::Moderate)
    }
}
