//! What players do with their parties: invite, join, leave, and go into rooms together.
//!
//! Where the leader goes, the other members come as well who are there and in no room. All of them
//! get seats, or the leader gets none.

use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world::{self, world_to_client::Body};
use ambit_proto::ids::{PartyId, PlayerId, RoomId};
use ambit_proto::time::LocalTime;

use crate::lobby::refusal::LobbyRefusal;
use crate::lobby::rooms::listing::player_entry;
use crate::lobby::sessions::parties::{MAX_PARTY, NotAdmitted};
use crate::lobby::{DONE, Lobby, RequestOutcome};

impl Lobby {
    /// Invites a player to the party of this one, who leads it, or who begins one.
    pub(in crate::lobby) fn invite(
        &mut self,
        now: LocalTime,
        player: PlayerId,
        name: &str,
    ) -> Result<RequestOutcome, LobbyRefusal> {
        if let Some(party) = self.players.at(player).party {
            self.check_leads(player, party)?;
        }
        let target = self.players.find_by_name(name).filter(|target| *target != player);
        let conn = target.and_then(|target| Some((target, self.players.at(target).conn?)));
        let (target, conn) = conn.ok_or_else(|| {
            let message = "no other player of that name is there".to_owned();
            LobbyRefusal::new(ErrorCode::NoSuchPlayer, message)
        })?;
        if !self.players.at_mut(player).chat.take(now) {
            let message = format!(
                "at most {} invitations and chat messages a second; wait a little",
                self.config.chat_per_s
            );
            return Err(LobbyRefusal::new(ErrorCode::RateLimited, message));
        }
        let party = self.players.at(player).party.unwrap_or_else(|| self.parties.found(player));
        self.players.at_mut(player).party = Some(party);
        self.parties.invite(party, target);
        let from = self.players.at(player);
        let invitation = world::Invitation {
            party: party.0,
            from: player.0,
            from_name: from.name().as_str().to_owned(),
        };
        self.outbox.notify(conn, Body::Invitation(invitation));
        Ok(DONE)
    }

    /// Accepts an invitation. The player leaves the party that it is in, and comes into the room of
    /// the leader, if it is in none.
    pub(in crate::lobby) fn join_party(
        &mut self,
        now: LocalTime,
        player: PlayerId,
        party: PartyId,
    ) -> Result<RequestOutcome, LobbyRefusal> {
        if self.players.at(player).party == Some(party) {
            return Ok(DONE);
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
        self.quit_party(player);
        self.players.at_mut(player).party = Some(party);
        self.publish_party(party);
        let leader = self.parties.members(party)[0];
        if let Some(room) = self.players.at(leader).room {
            self.bring_party(now, leader, room);
        }
        Ok(DONE)
    }

    /// The player leaves its party, or the leader puts another one out.
    pub(in crate::lobby) fn leave_party(
        &mut self,
        player: PlayerId,
        member: Option<PlayerId>,
    ) -> Result<RequestOutcome, LobbyRefusal> {
        let party = self.players.at(player).party.ok_or_else(in_no_party)?;
        let member = member.unwrap_or(player);
        if member != player {
            self.check_leads(player, party)?;
            if !self.parties.members(party).contains(&member) {
                let message = format!("no member of your party has the id {member}");
                return Err(LobbyRefusal::new(ErrorCode::NoSuchPlayer, message));
            }
        }
        self.quit_party(member);
        Ok(DONE)
    }

    /// The player is in no party from now on, and all who were with it are told.
    pub(in crate::lobby) fn quit_party(&mut self, player: PlayerId) {
        let Some(party) = self.players.at_mut(player).party.take() else {
            return;
        };
        let last = self.parties.remove(party, player);
        for player in last.into_iter().chain([player]) {
            self.players.at_mut(player).party = None;
            self.notify(player, Body::PartyChange(world::PartyChange::default()));
        }
        self.publish_party(party);
    }

    /// Tells all members of a party who is in it.
    pub(in crate::lobby) fn publish_party(&mut self, party: PartyId) {
        if let Some(change) = self.party_change(party) {
            let members = self.parties.members(party).into_iter();
            let conns = members.filter_map(|member| self.players.at(member).conn).collect();
            self.outbox.broadcast(conns, Body::PartyChange(change));
        }
    }

    /// Something about a player has changed that the party is shown.
    pub(in crate::lobby) fn mark_party_changed(&mut self, player: PlayerId) {
        if let Some(party) = self.players.at(player).party {
            self.publish_party(party);
        }
    }

    /// `None` of a party that has no member but its leader.
    fn party_change(&self, party: PartyId) -> Option<world::PartyChange> {
        let members = self.parties.members(party);
        let leader = *members.first().filter(|_| members.len() > 1)?;
        let players = members.iter().map(|member| player_entry(self.players.at(*member)));
        Some(world::PartyChange { party: party.0, leader: leader.0, players: players.collect() })
    }

    /// The player, and those of its party who come with it into a room: none unless it leads.
    pub(in crate::lobby) fn who_joins(&self, player: PlayerId) -> Vec<PlayerId> {
        let party = self.players.at(player).party;
        let mut all = party.map(|party| self.parties.members(party)).unwrap_or_default();
        let may_come = |member: PlayerId| {
            let member = self.players.at(member);
            member.room.is_none() && member.conn.is_some()
        };
        all.retain(|member| *member == player || may_come(*member));
        if all.first() == Some(&player) { all } else { vec![player] }
    }

    /// Checks that the player's party has seats in the room, too.
    pub(in crate::lobby) fn check_party_seats(
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

    /// Gives seats in the leader's room to those of its party who are in no room. Who was put out
    /// of the room does not get one, and none does if the room is locked.
    pub(in crate::lobby) fn bring_party(&mut self, now: LocalTime, leader: PlayerId, id: RoomId) {
        for member in self.who_joins(leader).into_iter().skip(1) {
            let room = self.rooms.at(id);
            if room.free_places() == 0 || room.is_locked || self.check_bans(member, room).is_err() {
                continue;
            }
            if self.take_seat(now, member, id).is_err() {
                continue;
            }
            let joined = self.room_joined(id);
            self.notify(member, Body::RoomJoined(joined));
            self.send_ticket(now, member);
        }
    }

    fn check_leads(&self, player: PlayerId, party: PartyId) -> Result<(), LobbyRefusal> {
        if self.parties.members(party).first() == Some(&player) {
            return Ok(());
        }
        let message = "only the leader of your party may do that";
        Err(LobbyRefusal::new(ErrorCode::NotHost, message))
    }
}

pub(in crate::lobby) fn in_no_party() -> LobbyRefusal {
    LobbyRefusal::new(ErrorCode::NotInParty, "you are in no party; invite a player to begin one")
}
