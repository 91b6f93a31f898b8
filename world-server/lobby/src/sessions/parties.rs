//! Parties: players who join rooms together, and stay together when a game is over.
//!
//! The first member leads: who the leader invites may join, and into which room the leader goes,
//! there the others come as well (`party`). A party ends when one member is left.
//!
//! Invariants:
//! 1. A player is in at most one party, and that party has it as a member
//!    (`LobbyPlayer::party`).
//! 2. A party has at most [`MAX_PARTY`] members, and remembers as many invitations; beyond that
//!    the oldest one is void.
//!
//! Directory records have the party with each player, and the place in it; invitations are lost
//! with their server.

use std::collections::{BTreeMap, VecDeque};

use ambit_proto::ids::{PartyId, PlayerId};

/// The most members of a party, and the most invitations that it remembers.
pub(crate) const MAX_PARTY: usize = 16;

#[derive(Debug, Default)]
pub(crate) struct Parties {
    by_id: BTreeMap<PartyId, Party>,
    last_id: u64,
}

#[derive(Debug, Default)]
struct Party {
    /// By their places; the first one leads.
    members: BTreeMap<u32, PlayerId>,
    /// Those who may join, the newest last.
    invited: VecDeque<PlayerId>,
}

/// Why a player did not become a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotAdmitted {
    NotInvited,
    Full,
}

impl Parties {
    /// A party of one.
    pub(super) fn found(&mut self, leader: PlayerId) -> PartyId {
        self.last_id += 1;
        let id = PartyId(self.last_id);
        let party = self.by_id.entry(id).or_default();
        party.add(leader);
        id
    }

    /// The members, the leader first; none of a party that is over.
    pub(crate) fn members(&self, party: PartyId) -> Vec<PlayerId> {
        let party = self.by_id.get(&party);
        party.map(|party| party.members.values().copied().collect()).unwrap_or_default()
    }

    /// For the player's record.
    pub(super) fn place(&self, party: PartyId, member: PlayerId) -> u32 {
        let members = self.by_id.get(&party).map(|party| party.members.iter());
        let place = members.and_then(|mut members| members.find(|(_, known)| **known == member));
        place.map_or(0, |(place, _)| *place)
    }

    pub(super) fn invite(&mut self, party: PartyId, player: PlayerId) {
        if let Some(party) = self.by_id.get_mut(&party) {
            party.invited.retain(|invited| *invited != player);
            if party.invited.len() >= MAX_PARTY {
                party.invited.pop_front();
            }
            party.invited.push_back(player);
        }
    }

    pub(super) fn admit(&mut self, party: PartyId, player: PlayerId) -> Result<(), NotAdmitted> {
        let party = self.by_id.get_mut(&party).filter(|party| party.invited.contains(&player));
        let party = party.ok_or(NotAdmitted::NotInvited)?;
        if party.members.len() >= MAX_PARTY {
            return Err(NotAdmitted::Full);
        }
        party.invited.retain(|invited| *invited != player);
        party.add(player);
        Ok(())
    }

    /// Removes a member. Returns who else leaves the party, since it ends.
    pub(super) fn remove(&mut self, id: PartyId, player: PlayerId) -> Option<PlayerId> {
        let party = self.by_id.get_mut(&id)?;
        party.members.retain(|_, member| *member != player);
        if party.members.len() > 1 {
            return None;
        }
        self.by_id.remove(&id).and_then(|party| party.members.into_values().next())
    }

    /// A member of another lobby's record. `None` if the party is full, or the place taken, which
    /// never happens with valid records.
    pub(super) fn restore(&mut self, id: PartyId, place: u32, member: PlayerId) -> Option<PartyId> {
        self.last_id = self.last_id.max(id.0);
        let members = &mut self.by_id.entry(id).or_default().members;
        let is_free = members.len() < MAX_PARTY && !members.contains_key(&place);
        is_free.then(|| members.insert(place, member))?;
        Some(id)
    }
}

impl Party {
    fn add(&mut self, player: PlayerId) {
        let last = self.members.last_key_value().map_or(0, |(place, _)| *place);
        self.members.insert(last.saturating_add(1), player);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_party_admits_whom_it_has_invited_once_and_ends_with_its_last_two() {
        let mut parties = Parties::default();
        let [ann, bob, eve] = [1, 2, 3].map(PlayerId);
        let party = parties.found(ann);
        assert_eq!(parties.admit(party, bob), Err(NotAdmitted::NotInvited));
        for guest in [bob, eve] {
            parties.invite(party, guest);
            assert_eq!(parties.admit(party, guest), Ok(()));
            assert_eq!(parties.admit(party, guest), Err(NotAdmitted::NotInvited));
        }
        assert_eq!(parties.remove(party, ann), None);
        assert_eq!(parties.members(party), [bob, eve], "bob leads");
        assert_eq!(parties.remove(party, eve), Some(bob));
        assert_eq!(parties.members(party), []);
        assert_eq!(parties.admit(party, ann), Err(NotAdmitted::NotInvited));
        assert_ne!(parties.found(ann), party);
    }

    #[test]
    fn members_and_invitations_are_bounded() {
        let mut parties = Parties::default();
        let party = parties.found(PlayerId(0));
        for guest in 1..100 {
            parties.invite(party, PlayerId(guest));
        }
        assert_eq!(parties.by_id[&party].invited.len(), MAX_PARTY);
        assert_eq!(parties.admit(party, PlayerId(83)), Err(NotAdmitted::NotInvited));
        let admitted = (84..99).filter(|guest| parties.admit(party, PlayerId(*guest)).is_ok());
        assert_eq!(admitted.count() + 1, MAX_PARTY);
        assert_eq!(parties.admit(party, PlayerId(99)), Err(NotAdmitted::Full));
    }
}
