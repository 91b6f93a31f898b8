//! What players do with their parties: invite, join, leave.
//!
//! Where the leader goes, the other members come as well who are there and in no room. All of them
//! get seats, or the leader gets none.

use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world::{self, world_to_client::Body};
use ambit_proto::ids::{PartyId, PlayerId, RoomId};
use ambit_proto::time::LocalTime;

use crate::config::LobbyConfig;
use crate::output::OutputQueue;
use crate::refusal::LobbyRefusal;
use crate::sessions::Sessions;
use crate::sessions::parties::{MAX_PARTY, NotAdmitted};

impl Sessions {
    /// Invites a player to the party of this one, who leads it, or who begins one.
    pub(crate) fn invite(
        &mut self,
        now: LocalTime,
        player: PlayerId,
        name: &str,
        config: &LobbyConfig,
        outbox: &mut OutputQueue,
    ) -> Result<(), LobbyRefusal> {
        if let Some(party) = self.player(player).party {
            self.check_leads(player, party)?;
        }
        let target = self.players.find_by_name(name).filter(|target| *target != player);
        let conn = target.and_then(|target| Some((target, self.player(target).conn?)));
        let (target, conn) = conn.ok_or_else(|| {
            let message = "no other player of that name is there".to_owned();
            LobbyRefusal::new(ErrorCode::NoSuchPlayer, message)
        })?;
        if !self.player_mut(player).allowances.chat.take(now) {
            let message = format!(
                "at most {} invitations and chat messages a second; wait a little",
                config.chat_per_s
            );
            return Err(LobbyRefusal::new(ErrorCode::RateLimited, message));
        }
        let party = self.player(player).party.unwrap_or_else(|| self.parties.found(player));
        self.player_mut(player).party = Some(party);
        self.parties.invite(party, target);
        let from_name = self.name_of(player);
        let invitation = world::Invitation { party: party.0, from: player.0, from_name };
        outbox.notify(conn, Body::Invitation(invitation));
        Ok(())
    }

    /// Accepts an invitation. The player leaves the party that it is in. Returns the leader of the
    /// new one, and its room, into which the player comes; `None` if it is not new.
    pub(crate) fn join_party(
        &mut self,
        player: PlayerId,
        party: PartyId,
        outbox: &mut OutputQueue,
    ) -> Result<Option<(PlayerId, RoomId)>, LobbyRefusal> {
        if self.player(player).party == Some(party) {
            return Ok(None);
        }
        self.parties.admit(party, player).map_err(|why| match why {
            NotAdmitted::NotInvited => LobbyRefusal::new(
                ErrorCode::NotInvited,
                format!("there is no invitation to party {party}: its leader has to invite you"),
            ),
            NotAdmitted::Full => LobbyRefusal::new(
                ErrorCode::PartyFull,
                format!("party {party} has its {MAX_PARTY} members"),
            ),
        })?;
        self.quit_party(player, outbox);
        self.player_mut(player).party = Some(party);
        self.publish_party(party, outbox);
        let leader = self.parties.members(party)[0];
        Ok(self.player(leader).room.map(|room| (leader, room)))
    }

    /// The player leaves its party, or the leader puts another one out.
    pub(crate) fn leave_party(
        &mut self,
        player: PlayerId,
        member: Option<PlayerId>,
        outbox: &mut OutputQueue,
    ) -> Result<(), LobbyRefusal> {
        let party = self.player(player).party.ok_or_else(in_no_party)?;
        let member = member.unwrap_or(player);
        if member != player {
            self.check_leads(player, party)?;
            if !self.parties.members(party).contains(&member) {
                let message = format!("no member of your party has the id {member}");
                return Err(LobbyRefusal::new(ErrorCode::NoSuchPlayer, message));
            }
        }
        self.quit_party(member, outbox);
        Ok(())
    }

    /// The player is in no party from now on, and all who were with it are told.
    pub(super) fn quit_party(&mut self, player: PlayerId, outbox: &mut OutputQueue) {
        let Some(party) = self.player_mut(player).party.take() else {
            return;
        };
        let last = self.parties.remove(party, player);
        for player in last.into_iter().chain([player]) {
            self.player_mut(player).party = None;
            self.notify(player, Body::PartyChange(world::PartyChange::default()), outbox);
        }
        self.publish_party(party, outbox);
    }

    /// Something about a player has changed that the party is shown.
    pub(super) fn mark_party_changed(&self, player: PlayerId, outbox: &mut OutputQueue) {
        if let Some(party) = self.player(player).party {
            self.publish_party(party, outbox);
        }
    }

    /// Tells all members of a party who is in it; nothing if it has no member but its leader.
    fn publish_party(&self, party: PartyId, outbox: &mut OutputQueue) {
        let members = self.parties.members(party);
        let Some(leader) = members.first().filter(|_| members.len() > 1) else {
            return;
        };
        let players = members.iter().map(|member| self.player(*member).entry());
        let players = players.collect();
        let change = world::PartyChange { party: party.0, leader: leader.0, players };
        outbox.broadcast(self.conns_of(members.into_iter()), Body::PartyChange(change));
    }

    /// The player, and those of its party who come with it into a room: none unless it leads.
    pub(crate) fn who_joins(&self, player: PlayerId) -> Vec<PlayerId> {
        let party = self.player(player).party;
        let mut all = party.map(|party| self.parties.members(party)).unwrap_or_default();
        let may_come = |member: PlayerId| {
            let member = self.player(member);
            member.room.is_none() && member.conn.is_some()
        };
        all.retain(|member| *member == player || may_come(*member));
        if all.first() == Some(&player) { all } else { vec![player] }
    }

    /// Checks that the player's party has seats in the room, too.
    pub(crate) fn check_party_seats(
        &self,
        player: PlayerId,
        free: u32,
    ) -> Result<(), LobbyRefusal> {
        let needed = self.who_joins(player).len();
        if needed < 2 || needed <= free as usize {
            return Ok(());
        }
        let message = format!("your party needs {needed} seats, the room has {free}");
        Err(LobbyRefusal::new(ErrorCode::RoomFull, message))
    }

    fn check_leads(&self, player: PlayerId, party: PartyId) -> Result<(), LobbyRefusal> {
        if self.parties.members(party).first() == Some(&player) {
            return Ok(());
        }
        let message = "only the leader of your party may do that";
        Err(LobbyRefusal::new(ErrorCode::NotHost, message))
    }
}

pub(crate) fn in_no_party() -> LobbyRefusal {
    LobbyRefusal::new(ErrorCode::NotInParty, "you are in no party; invite a player to begin one")
}
