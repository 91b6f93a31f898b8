//! Who may not join a room again: the players that its host has put out.
//!
//! A player who was put out can open a session with another id. So a ban bars more than the
//! session: its account, players with the same name or one that looks like it, and sessions from
//! the player's network that were opened later. Earlier sessions belong to other people, and later
//! ones may do so if people share the network: the lobby makes exceptions for such networks. But if
//! [`KICKS_THAT_BAR`] players of a network are put out within [`KICK_PERIOD`], all its sessions are
//! barred, since one player may pretend to be many.
//!
//! Bans live as long as the room.

use std::collections::VecDeque;
use std::time::Duration;

use ambit_proto::ids::{AccountId, PlayerId};
use ambit_proto::time::LocalTime;
use ambit_transport::address::SourceNetwork;

use crate::text::{NameKeys, PlayerName};

/// Maximum number of bans of a room; beyond it the oldest one ends. A room's host has to kick that
/// many players to reach it, and each has to join first.
const MAX_BANS: usize = 1_024;
/// One player of a household may misbehave, and another may be taken for the first one who is back.
/// The third one within the time is no mistake.
const KICKS_THAT_BAR: usize = 3;
/// Time in which the room's host can put out [`KICKS_THAT_BAR`] players, also by hand.
const KICK_PERIOD: Duration = Duration::from_mins(1);

/// A player as it was when it was put out.
#[derive(Clone, Debug)]
pub(crate) struct Ban {
    pub(crate) player: PlayerId,
    pub(crate) name: PlayerName,
    pub(crate) account: Option<AccountId>,
    /// `None` if it is not known.
    pub(crate) network: Option<SourceNetwork>,
    /// The newest session at that time.
    pub(crate) newest_session: PlayerId,
    /// Whether it bars all sessions of the network, and members who come from there do not matter.
    pub(crate) bars_network: bool,
}

/// What a ban bars a player by, from the narrowest to the widest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BarredBy {
    Session,
    Account,
    Name,
    /// It was opened later than the ban of a player from its network.
    Network,
    WholeNetwork,
}

#[derive(Debug, Default)]
pub(crate) struct Bans(VecDeque<KnownBan>);

#[derive(Debug)]
struct KnownBan {
    ban: Ban,
    keys: NameKeys,
    /// `None` if another lobby has recorded it.
    kicked_at: Option<LocalTime>,
}

impl Bans {
    /// Adds the ban of a player who is put out now. Returns whether it bars the whole network.
    pub(crate) fn add(&mut self, now: LocalTime, mut ban: Ban) -> bool {
        let is_recent = |known: &&KnownBan| {
            known.kicked_at.is_some_and(|at| at + KICK_PERIOD > now)
                && known.ban.network == ban.network
        };
        let kicks = 1 + self.0.iter().filter(is_recent).count();
        let bars_network = ban.network.is_some() && kicks >= KICKS_THAT_BAR;
        ban.bars_network = bars_network;
        self.insert(ban, Some(now));
        bars_network
    }

    /// Adds a ban that another lobby has recorded.
    pub(crate) fn restore(&mut self, ban: Ban) {
        self.insert(ban, None);
    }

    fn insert(&mut self, ban: Ban, kicked_at: Option<LocalTime>) {
        if self.0.len() >= MAX_BANS {
            self.0.pop_front();
        }
        let keys = ban.name.keys();
        self.0.push_back(KnownBan { ban, keys, kicked_at });
    }

    /// What bars this player, if anything does.
    pub(crate) fn check(
        &self,
        player: PlayerId,
        (name, account): (&PlayerName, Option<AccountId>),
        network: Option<SourceNetwork>,
    ) -> Option<BarredBy> {
        let keys = name.keys();
        let has_session = |known: &KnownBan| known.ban.player == player;
        let has_account = |known: &KnownBan| account.is_some() && known.ban.account == account;
        let has_name = |known: &KnownBan| known.keys.are_confusable_with(&keys);
        let is_from_there = |known: &&KnownBan| network.is_some() && known.ban.network == network;
        let mut from_there = self.0.iter().filter(is_from_there);
        if self.0.iter().any(has_session) {
            Some(BarredBy::Session)
        } else if self.0.iter().any(has_account) {
            Some(BarredBy::Account)
        } else if self.0.iter().any(has_name) {
            Some(BarredBy::Name)
        } else if from_there.clone().any(|known| known.ban.bars_network) {
            Some(BarredBy::WholeNetwork)
        } else if from_there.any(|known| player > known.ban.newest_session) {
            Some(BarredBy::Network)
        } else {
            None
        }
    }

    /// From the oldest to the newest.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Ban> {
        self.0.iter().map(|known| &known.ban)
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn a_ban_bars_a_session_a_name_and_later_sessions_of_a_network() {
        let mut bans = Bans::default();
        bans.add(at(0), Ban { newest_session: PlayerId(5), ..ban(3, "bob", Some(network(7))) });
        let check = |player, text, from| bans.check(PlayerId(player), (&name(text), None), from);
        assert_eq!(check(3, "cid", None), Some(BarredBy::Session));
        assert_eq!(check(4, "B0B", Some(network(8))), Some(BarredBy::Name));
        assert_eq!(check(6, "cid", Some(network(7))), Some(BarredBy::Network));
        assert_eq!(check(5, "cid", Some(network(7))), None, "was there before");
        assert_eq!(check(6, "cid", Some(network(8))), None);
        assert_eq!(check(6, "cid", None), None);
    }

    #[test]
    fn a_ban_bars_an_account_in_any_session_under_any_name_from_anywhere() {
        let mut bans = Bans::default();
        let account = |byte| Some(AccountId([byte; 16]));
        bans.add(at(0), Ban { account: account(1), ..ban(3, "bob", None) });
        bans.add(at(0), ban(4, "without", None));
        let check = |account| bans.check(PlayerId(9), (&name("cid"), account), Some(network(8)));
        assert_eq!(check(account(1)), Some(BarredBy::Account));
        assert_eq!(check(account(2)), None);
        assert_eq!(check(None), None);
    }

    #[test]
    fn of_too_many_bans_the_oldest_ends() {
        let mut bans = Bans::default();
        for number in 1..=MAX_BANS as u64 + 1 {
            bans.add(at(0), ban(number, PlayerName::guest(number).as_str(), None));
        }
        assert_eq!(bans.iter().count(), MAX_BANS);
        assert_eq!(bans.check(PlayerId(1), (&name("ann"), None), None), None);
        assert!(bans.check(PlayerId(2), (&name("ann"), None), None).is_some());
    }

    #[test]
    fn three_kicks_within_a_minute_bar_a_network() {
        let barred = |seconds: [u64; 3], last: [u8; 3]| {
            let mut bans = Bans::default();
            for (number, (second, last)) in seconds.into_iter().zip(last).enumerate() {
                let player = 10 + number as u64;
                let ban = ban(player, PlayerName::guest(player).as_str(), Some(network(last)));
                bans.add(at(second), ban);
            }
            // The session was there before.
            bans.check(PlayerId(5), (&name("eve"), None), Some(network(7)))
        };
        assert_eq!(barred([0, 30, 59], [7, 7, 7]), Some(BarredBy::WholeNetwork));
        assert_eq!(barred([0, 30, 60], [7, 7, 7]), None, "over more than a minute");
        assert_eq!(barred([0, 1, 2], [7, 8, 7]), None, "two of one network");
    }

    #[test]
    fn a_restored_ban_bars_as_before_and_counts_as_no_kick() {
        let mut bans = Bans::default();
        for number in 10..12 {
            bans.restore(ban(number, PlayerName::guest(number).as_str(), Some(network(7))));
        }
        bans.restore(Ban { bars_network: true, ..ban(12, "cid", Some(network(8))) });
        bans.add(at(0), ban(13, "dan", Some(network(7))));
        let check = |last| bans.check(PlayerId(5), (&name("eve"), None), Some(network(last)));
        assert_eq!((check(7), check(8)), (None, Some(BarredBy::WholeNetwork)));
    }

    fn ban(player: u64, text: &str, network: Option<SourceNetwork>) -> Ban {
        Ban {
            player: PlayerId(player),
            name: name(text),
            account: None,
            network,
            newest_session: PlayerId(player),
            bars_network: false,
        }
    }

    fn at(seconds: u64) -> LocalTime {
        LocalTime::from_millis(1_000 * seconds)
    }

    fn name(text: &str) -> PlayerName {
        PlayerName::parse(text).expect("a name")
    }

    fn network(last: u8) -> SourceNetwork {
        SourceNetwork::of(Ipv4Addr::new(192, 0, 2, last).into())
    }
}
