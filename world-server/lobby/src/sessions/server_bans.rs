//! Bans of the whole server, as the store has them: who may not play, and who may not chat.
//!
//! Values only; `ban_checks` asks them.
//!
//! Cost of a look: the number of bans by address.

use std::collections::BTreeMap;
use std::net::IpAddr;

use ambit_proto::ids::AccountId;
use ambit_store::{BanScope, BanTarget, BanTerm, ServerBan};
use cidr::IpCidr;

use crate::text::{NameKey, NameSkeleton, PlayerName};

const MINUTE_S: i64 = 60;
const HOUR_S: i64 = 60 * MINUTE_S;
const DAY_S: i64 = 24 * HOUR_S;

/// All bans.
#[derive(Debug, Default)]
pub(super) struct ServerBans {
    pub(super) from_play: BansByTarget,
    pub(super) from_chat: BansByTarget,
}

/// The bans of one scope.
#[derive(Debug, Default)]
pub(super) struct BansByTarget {
    accounts: BTreeMap<AccountId, BanTerm>,
    names: BTreeMap<NameKey, BanTerm>,
    skeletons: BTreeMap<NameSkeleton, BanTerm>,
    networks: Vec<(IpCidr, BanTerm)>,
}

/// Who wants to play, or to chat, as far as it is known.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BanSubject<'a> {
    pub(super) account: Option<AccountId>,
    pub(super) name: Option<&'a PlayerName>,
    pub(super) address: Option<IpAddr>,
}

impl ServerBans {
    pub(super) fn new(bans: Vec<ServerBan>) -> Self {
        let mut all = Self::default();
        for ServerBan { target, scope, term, .. } in bans {
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
    pub(super) fn find(
        &self,
        now: i64,
        who: BanSubject<'_>,
        is_moderator: bool,
    ) -> Option<BarredFor<'_>> {
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
pub(super) type BarredFor<'a> = (&'static str, &'a BanTerm);

/// ` for 3 hours: cheating`.
pub(super) fn until_and_why(now: i64, term: &BanTerm) -> String {
    let until =
        term.ends_at.map_or_else(String::new, |end| format!(" for {}", in_words(end - now)));
    let reason = if term.reason.is_empty() { "" } else { ": " };
    format!("{until}{reason}{}", term.reason)
}

/// `3 hours`: the largest unit of which there are two or more.
pub(crate) fn in_words(seconds: i64) -> String {
    let units = [(DAY_S, "days"), (HOUR_S, "hours"), (MINUTE_S, "minutes")];
    let found = units.into_iter().find(|(unit, _)| seconds >= 2 * unit);
    let (unit, name) = found.unwrap_or((1, "seconds"));
    format!("{} {name}", ((seconds + unit / 2) / unit).max(1))
}
