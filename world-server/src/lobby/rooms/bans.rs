//! Who may not join a room again: the players that its host has put out.
//!
//! A player who was put out can open a session with another id, so a ban bars more than the
//! session: whoever has the player's name or one that looks like it, and sessions from the player's
//! network that were opened later. Sessions that were there before are other people, as may be all
//! later ones from a network that people share: the lobby makes exceptions for such networks.
//!
//! Bans live as long as the room.

use std::collections::VecDeque;

use ambit_proto::ids::PlayerId;
use ambit_transport::address::SourceNetwork;

use crate::lobby::text::{NameKeys, PlayerName};

/// Maximum number of bans of a room; beyond it the oldest one ends. A room's host has to kick that
/// many players to reach it, and each has to join first.
const MAX_BANS: usize = 1_024;

/// A player as it was when it was put out.
#[derive(Clone, Debug)]
pub(in crate::lobby) struct Ban {
    pub(in crate::lobby) player: PlayerId,
    pub(in crate::lobby) name: PlayerName,
    /// `None` if it is not known.
    pub(in crate::lobby) network: Option<SourceNetwork>,
    /// The newest session at that time.
    pub(in crate::lobby) newest_session: PlayerId,
}

/// What a ban bars a player by, from the narrowest to the widest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lobby) enum BarredBy {
    Session,
    Name,
    Network,
}

#[derive(Debug, Default)]
pub(in crate::lobby) struct Bans(VecDeque<(Ban, NameKeys)>);

impl Bans {
    pub(in crate::lobby) fn add(&mut self, ban: Ban) {
        if self.0.len() >= MAX_BANS {
            self.0.pop_front();
        }
        let keys = ban.name.keys();
        self.0.push_back((ban, keys));
    }

    /// What bars this player, if anything does.
    pub(in crate::lobby) fn check(
        &self,
        player: PlayerId,
        name: &PlayerName,
        network: Option<SourceNetwork>,
    ) -> Option<BarredBy> {
        let keys = name.keys();
        let has_session = |(ban, _): &(Ban, NameKeys)| ban.player == player;
        let has_name = |(_, banned): &(Ban, NameKeys)| banned.are_confusable_with(&keys);
        let has_network = |(ban, _): &(Ban, NameKeys)| {
            network.is_some() && ban.network == network && player > ban.newest_session
        };
        if self.0.iter().any(has_session) {
            Some(BarredBy::Session)
        } else if self.0.iter().any(has_name) {
            Some(BarredBy::Name)
        } else if self.0.iter().any(has_network) {
            Some(BarredBy::Network)
        } else {
            None
        }
    }

    /// From the oldest to the newest.
    pub(in crate::lobby) fn iter(&self) -> impl Iterator<Item = &Ban> {
        self.0.iter().map(|(ban, _)| ban)
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn a_ban_bars_a_session_a_name_and_later_sessions_of_a_network() {
        let mut bans = Bans::default();
        bans.add(Ban {
            player: PlayerId(3),
            name: name("bob"),
            network: Some(network(7)),
            newest_session: PlayerId(5),
        });
        let check = |player, text, from| bans.check(PlayerId(player), &name(text), from);
        assert_eq!(check(3, "cid", None), Some(BarredBy::Session));
        assert_eq!(check(4, "B0B", Some(network(8))), Some(BarredBy::Name));
        assert_eq!(check(6, "cid", Some(network(7))), Some(BarredBy::Network));
        assert_eq!(check(5, "cid", Some(network(7))), None, "was there before");
        assert_eq!(check(6, "cid", Some(network(8))), None);
        assert_eq!(check(6, "cid", None), None);
    }

    #[test]
    fn of_too_many_bans_the_oldest_ends() {
        let mut bans = Bans::default();
        for number in 1..=MAX_BANS as u64 + 1 {
            bans.add(Ban {
                player: PlayerId(number),
                name: PlayerName::guest(number),
                network: None,
                newest_session: PlayerId(number),
            });
        }
        assert_eq!(bans.iter().count(), MAX_BANS);
        assert_eq!(bans.check(PlayerId(1), &name("ann"), None), None);
        assert!(bans.check(PlayerId(2), &name("ann"), None).is_some());
    }

    fn name(text: &str) -> PlayerName {
        PlayerName::parse(text).expect("a name")
    }

    fn network(last: u8) -> SourceNetwork {
        SourceNetwork::of(Ipv4Addr::new(192, 0, 2, last).into())
    }
}
