//! Seats of members who are away, when a room is full.
//!
//! A member who is away keeps the seat for the grace period. A client that joins, breaks its
//! connection and comes again as another player would fill a room with such members, whom no player
//! can put out. So when a player asks for a seat of a full room, and several members of one address
//! are away, the one of them who has been away for the longest time gives the seat up.
//!
//! Invariant: a member who is connected keeps its seat, and so does one who is the only one of its
//! address to be away. Addresses that the operator trusts are exempt, since many share them.
//!
//! Cost: proportional to the seats.

use std::collections::BTreeMap;

use ambit_proto::codes::ErrorCode;
use ambit_proto::ids::{PlayerId, RoomId};
use ambit_proto::time::LocalTime;
use ambit_transport::address::SourceNetwork;

use crate::lobby::Lobby;
use crate::lobby::refusal::LobbyRefusal;

impl Lobby {
    /// Frees a seat of a room that is full, or whose first map is, for a player who is about to
    /// join it; see the module. The member receives the reason when it comes back.
    pub(in crate::lobby) fn free_waiting_seat(&mut self, now: LocalTime, id: RoomId) {
        let Some(member) = self.member_who_gives_way(id) else {
            return;
        };
        let message =
            format!("you were away, and room {id} was full: another player has your seat");
        let why = LobbyRefusal::new(ErrorCode::Idle, message);
        self.vacate_seat(now, member, why.code);
        self.sessions.player_mut(member).lost_room = Some((id, why));
    }

    fn member_who_gives_way(&self, id: RoomId) -> Option<PlayerId> {
        let room = self.rooms.at(id);
        let is_map_full = room.player_count() >= room.map_seats();
        if !is_map_full && room.seats.free_count() > 0 {
            return None;
        }
        let mut waiting: BTreeMap<SourceNetwork, Vec<PlayerId>> = BTreeMap::new();
        for member in room.seats.waiting() {
            if let Some(network) = self.sessions.player(member).counted_at()
                && (!is_map_full || room.is_on_first_map(member))
            {
                waiting.entry(network).or_default().push(member);
            }
        }
        let several = waiting.into_values().filter(|members| members.len() > 1);
        self.effects.timers.longest_away_of(several.max_by_key(Vec::len)?)
    }
}
