//! The list of rooms, and the events that keep it up to date.
//!
//! Changes are collected: the first one is published at once, further ones together when the
//! interval is over. Only differences from the last published state are sent, so a room that was
//! full only between two events causes no message.
//!
//! Bounds: a list of rooms has at most [`MAX_LISTED_ROOMS`] and [`MAX_LIST_BYTES`], the newest
//! ones, since these wait for players. A change costs a message for each subscriber. The interval
//! grows with both, so the number of messages a second is bounded.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use ambit_proto::control::world::{self, room_change::Change, world_to_client::Body};
use ambit_proto::frame::MAX_FROM_WORLD;
use ambit_proto::ids::RoomId;
use ambit_proto::time::LocalTime;
use prost::Message;

use crate::effects::LobbyEffects;
use crate::output::ConnId;
use crate::rooms::room::{LobbyRoom, LobbyRooms};
use crate::timers::{LobbyTimers, Timer};

/// Interval between two events for the list of rooms, at least.
const LISTING_INTERVAL: Duration = Duration::from_millis(100);
/// Additional interval for each change and each subscriber: 20,000 messages a second at most.
const LISTING_INTERVAL_PER_DELIVERY: Duration = Duration::from_micros(50);
const MAX_LISTED_ROOMS: usize = 1_000;
/// Leaves space in a frame for the rest of the message.
const MAX_LIST_BYTES: usize = MAX_FROM_WORLD - 1_024;

/// The subscribers of the list of rooms, and the state that they know.
#[derive(Debug, Default)]
pub(super) struct ListingFeed {
    subscribers: BTreeSet<ConnId>,
    changed: BTreeSet<RoomId>,
    /// Every room as it was last published, also without subscribers.
    published: BTreeMap<RoomId, world::Room>,
    /// When the next event may be sent.
    next_publish_at: LocalTime,
}

impl ListingFeed {
    pub(super) fn is_subscribed(&self, conn: ConnId) -> bool {
        self.subscribers.contains(&conn)
    }

    pub(super) fn subscribe(&mut self, conn: ConnId) {
        self.subscribers.insert(conn);
    }

    pub(super) fn unsubscribe(&mut self, conn: ConnId) {
        self.subscribers.remove(&conn);
    }

    /// Marks a room whose entry may have changed, or which is removed.
    pub(super) fn mark_changed(&mut self, now: LocalTime, room: RoomId, timers: &mut LobbyTimers) {
        self.changed.insert(room);
        timers.set_if_unset(Timer::Listing, self.next_publish_at.max(now));
    }

    /// Publishes changes of rooms to the subscribers.
    pub(super) fn publish(
        &mut self,
        now: LocalTime,
        rooms: &LobbyRooms,
        effects: &mut LobbyEffects,
    ) {
        effects.timers.cancel(Timer::Listing);
        if self.changed.is_empty() {
            return;
        }
        let deliveries = self.changed.len() * self.subscribers.len();
        let interval = LISTING_INTERVAL_PER_DELIVERY.saturating_mul(deliveries as u32);
        self.next_publish_at = now + LISTING_INTERVAL.max(interval);
        for id in std::mem::take(&mut self.changed) {
            let room = rooms.get(id).map(LobbyRoom::listing);
            let published = match &room {
                Some(room) => self.published.insert(id, room.clone()),
                None => self.published.remove(&id),
            };
            if room != published {
                let change = room.map_or(Change::Gone(id.0), Change::Room);
                let watching = self.subscribers.iter().copied().collect();
                let body = Body::RoomChange(world::RoomChange { change: Some(change) });
                effects.outbox.broadcast(watching, body);
            }
        }
    }
}

impl LobbyRooms {
    /// The newest rooms as a list shows them, in order of their ids.
    pub(crate) fn newest(&self) -> world::RoomList {
        let mut bytes = 0;
        let worlds = self.iter().rev().filter(|room| room.map_identity.is_none());
        let newest = worlds.take(MAX_LISTED_ROOMS).map(LobbyRoom::listing);
        let mut rooms: Vec<_> = newest
            .take_while(|room| {
                // Tag and length take up to 6 bytes more.
                bytes += room.encoded_len() + 6;
                bytes <= MAX_LIST_BYTES
            })
            .collect();
        rooms.reverse();
        world::RoomList { rooms }
    }
}
