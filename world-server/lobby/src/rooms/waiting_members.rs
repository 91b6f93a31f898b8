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

use ambit_proto::ids::{PlayerId, RoomId};
use ambit_transport::address::SourceNetwork;

use crate::rooms::Rooms;
use crate::sessions::Sessions;
use crate::timers::LobbyTimers;

impl Rooms {
    /// The member who gives up its seat of a room that is full, or whose first map is, for a player
    /// who is about to join it; see the module.
    pub(crate) fn member_who_gives_way(
        &self,
        id: RoomId,
        sessions: &Sessions,
        timers: &LobbyTimers,
    ) -> Option<PlayerId> {
        let room = self.at(id);
        let is_map_full = room.player_count() >= room.map_seats();
        if !is_map_full && room.seats.free_count() > 0 {
            return None;
        }
        let mut waiting: BTreeMap<SourceNetwork, Vec<PlayerId>> = BTreeMap::new();
        for member in room.seats.waiting() {
            if let Some(network) = sessions.player(member).counted_at()
                && (!is_map_full || room.is_on_first_map(member))
            {
                waiting.entry(network).or_default().push(member);
            }
        }
        let several = waiting.into_values().filter(|members| members.len() > 1);
        timers.longest_away_of(several.max_by_key(Vec::len)?)
    }
}
