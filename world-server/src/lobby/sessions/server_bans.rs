//! Bans of the whole server, as the store has them: who may not play, and who may not chat.
//!
//! A ban by address or by name may bar others than it is meant for. So these two do not bar an
//! account that the operator trusts with a role that may end bans. Before its account is proved, a
//! player is let through as far as its proof; who signs in with a password or a token is not known
//! yet, and is barred.
//!
//! Cost of a look: the number of bans by address.

use std::collections::BTreeMap;
use std::net::IpAddr;

use ambit_proto::codes::ErrorCode;
use ambit_proto::ids::{AccountId, PlayerId};
use ambit_proto::standing::OperatorRole;
use ambit_proto::time::LocalTime;
use ambit_store::{BanScope, BanTarget, BanTerm, ServerBan};
use ambit_transport::address::SourceNetwork;
use cidr::IpCidr;

use crate::lobby::Lobby;
use crate::lobby::output::ConnId;
use crate::lobby::refusal::LobbyRefusal;
use crate::lobby::text::{NameKey, NameSkeleton, PlayerName};

const MINUTE_S: i64 = 60;
const HOUR_S: i64 = 60 * MINUTE_S;
const DAY_S: i64 = 24 * HOUR_S;

/// All bans.
#[derive(Debug, Default)]
pub(in crate::lobby) struct ServerBans {
    from_play: BansByTarget,
    from_chat: BansByTarget,
}

/// The bans of one scope.
#[derive(Debug, Default)]
struct BansByTarget {
    accounts: BTreeMap<AccountId, BanTerm>,
    names: BTreeMap<NameKey, BanTerm>,
    skeletons: BTreeMap<NameSkeleton, BanTerm>,
    networks: Vec<(IpCidr, BanTerm)>,
}

/// Who wants to play, or to chat, as far as it is known.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::lobby) struct BanSubject<'a> {
    pub(in crate::lobby) account: Option<AccountId>,
    pub(in crate::lobby) name: Option<&'a PlayerName>,
    pub(in crate::lobby) address: Option<IpAddr>,
}

impl ServerBans {
    pub(in crate::lobby) fn new(bans: Vec<ServerBan>) -> Self {
        let mut all = Self::default();
        for ServerBan { target, scope, term } in bans {
            let of_scope = match scope {
                BanScope::Play => &mut all.from_play,
                BanScope::Chat => &mut all.from_chat,
            };
            of_scope.add(target, term);
        }
        all
    }
}

impl BansByTarget {
    fn add(&mut self, target: BanTarget, term: BanTerm) {
        match target {
            BanTarget::Account(account) => drop(self.accounts.insert(account, term)),
            BanTarget::Name(name) => {
                // Another build may have allowed other names.
                if let Ok(name) = PlayerName::parse(&name) {
                    let keys = name.keys();
                    self.names.insert(keys.folded, term.clone());
                    self.skeletons.insert(keys.skeleton, term);
                }
            }
            BanTarget::Network(network) => self.networks.push((network, term)),
        }
    }

    /// The first ban that holds now, and what it bars by.
    fn find(&self, now: i64, who: BanSubject<'_>, is_moderator: bool) -> Option<BarredFor<'_>> {
        let holds = |term: &&BanTerm| !term.is_over(now);
        let account = who.account.and_then(|account| self.accounts.get(&account)).filter(holds);
        if let Some(term) = account {
            return Some(("this account", term));
        }
        if is_moderator {
            return None;
        }
        if let Some(name) = who.name.filter(|_| !self.names.is_empty()) {
            let keys = name.keys();
            let of_name = self.names.get(&keys.folded).filter(holds);
            let of_name = of_name.or_else(|| self.skeletons.get(&keys.skeleton).filter(holds));
            if let Some(term) = of_name {
                return Some(("a player of this name", term));
            }
        }
        let address = who.address?.to_canonical();
        let mut from_there = self.networks.iter().filter(|(it, _)| it.contains(&address));
        let (_, term) = from_there.find(|(_, term)| !term.is_over(now))?;
        Some(("who comes from this address", term))
    }
}

/// By what a ban bars, for people, and the ban.
type BarredFor<'a> = (&'static str, &'a BanTerm);

impl Lobby {
    fn unix_seconds(&self, now: LocalTime) -> i64 {
        self.unix_time(now).as_secs() as i64
    }

    /// Refuses who may not play.
    pub(in crate::lobby) fn check_server_bans(
        &self,
        now: LocalTime,
        who: BanSubject<'_>,
    ) -> Result<(), LobbyRefusal> {
        let now = self.unix_seconds(now);
        match self.sign_ins.bans.from_play.find(now, who, self.is_moderator(who.account)) {
            None => Ok(()),
            Some((what, term)) => {
                let message = format!("{what} may not play here{}", until_and_why(now, term));
                Err(LobbyRefusal::new(ErrorCode::Banned, message))
            }
        }
    }

    /// Refuses to say something for a player who is muted.
    pub(in crate::lobby) fn check_mute(
        &self,
        now: LocalTime,
        player: PlayerId,
    ) -> Result<(), LobbyRefusal> {
        match self.mute_of(now, player) {
            None => Ok(()),
            Some(term) => {
                let until = until_and_why(self.unix_seconds(now), term);
                let message = format!("an operator has muted you{until}");
                Err(LobbyRefusal::new(ErrorCode::Muted, message))
            }
        }
    }

    /// Why the player may not chat now, and until when.
    pub(in crate::lobby) fn mute_of(&self, now: LocalTime, player: PlayerId) -> Option<&BanTerm> {
        let now = self.unix_seconds(now);
        let known = self.players.get(player)?;
        if let Some(term) = known.mute.as_ref().filter(|term| !term.is_over(now)) {
            return Some(term);
        }
        let who = self.ban_subject(player);
        let muted = self.sign_ins.bans.from_chat.find(now, who, self.is_moderator(who.account));
        muted.map(|(_, term)| term)
    }

    /// The players who may not play any more, with their connections and the reasons.
    pub(in crate::lobby) fn barred_players(
        &self,
        now: LocalTime,
    ) -> Vec<(PlayerId, Option<ConnId>, LobbyRefusal)> {
        let barred = self.players.iter().filter_map(|player| {
            let refusal = self.check_server_bans(now, self.ban_subject(player.id)).err()?;
            Some((player.id, player.conn, refusal))
        });
        barred.collect()
    }

    fn ban_subject(&self, player: PlayerId) -> BanSubject<'_> {
        let known = self.players.at(player);
        let address = self.network_of_player(player).map(SourceNetwork::first_address);
        BanSubject { account: known.account, name: Some(known.name()), address }
    }

    fn is_moderator(&self, account: Option<AccountId>) -> bool {
        let role = account.and_then(|account| self.sign_ins.roles.get(&account));
        role.is_some_and(|role| *role >= OperatorRole::Moderate)
    }
}

/// ` for 3 hours: cheating`.
fn until_and_why(now: i64, term: &BanTerm) -> String {
    let until =
        term.ends_at.map_or_else(String::new, |end| format!(" for {}", in_words(end - now)));
    let reason = if term.reason.is_empty() { "" } else { ": " };
    format!("{until}{reason}{}", term.reason)
}

/// `3 hours`: the largest unit of which there are two or more.
pub(in crate::lobby) fn in_words(seconds: i64) -> String {
    let units = [(DAY_S, "days"), (HOUR_S, "hours"), (MINUTE_S, "minutes")];
    let found = units.into_iter().find(|(unit, _)| seconds >= 2 * unit);
    let (unit, name) = found.unwrap_or((1, "seconds"));
    format!("{} {name}", ((seconds + unit / 2) / unit).max(1))
}
