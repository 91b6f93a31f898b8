//! Rooms whose host is gone: they go on at another one.
//!
//! Of a room that is kept (`Room::kept`) the shell holds all that the next host has to know, and adds it to the order. Members keep their seats
//! and get a ticket to the new place. Without a host that takes it, a room waits for one until the time for an opening is over.
//!
//! A room that loses its host again so soon after it was taken up may be what kills them: it is closed, so that it does not take all
//! the others along for ever. (What kills a host by the room's own doing does so again at the same place, and that is where the next
//! host begins.)

use std::time::Duration;

use ambit_proto::codes::ErrorCode;
use ambit_proto::control::host::{Resume, RoomOpened};
use ambit_proto::ids::RoomId;
use ambit_proto::time::LocalTime;

use super::Lobby;
use super::output::HostId;
use super::refusal::Refusal;
use super::room::Phase;
use super::running::shown;
use super::timers::Timer;

/// Who loses a second host within that time after it was taken up is not given to a third one.
const TOO_SOON: Duration = Duration::from_secs(3);

impl Lobby {
    /// A host has said enough of a room for it to go on elsewhere.
    pub(super) fn room_kept(&mut self, from: HostId, id: RoomId) {
        if let Some(room) = self.rooms.get_mut(id).filter(|room| room.hosted_by() == Some(from)) {
            room.kept = true;
        }
    }

    /// A host is gone: its rooms go on elsewhere, or their players are in the lobby, with the reason.
    pub(super) fn lose_rooms_of(&mut self, now: LocalTime, host: HostId, reason: &str) {
        let lost = self.rooms.iter().filter(|room| room.hosted_by() == Some(host));
        for id in lost.map(|room| room.id).collect::<Vec<_>>() {
            // A world that ends takes its other maps along, and the last player on a map its world.
            let Some(room) = self.rooms.get_mut(id) else { continue };
            let again = room.taken_up_at.is_some_and(|at| now.since(at) < TOO_SOON);
            let end = if again {
                format!(". It is the second one within {} s, so the room is closed", TOO_SOON.as_secs())
            } else {
                String::new()
            };
            let message = format!("the game server that ran room {id} is gone: {}{end}", shown(reason));
            if again || !room.kept || !room.is_running() || self.draining {
                self.dissolve_by_host(now, id, Refusal::new(ErrorCode::HostDied, message));
            } else {
                room.phase = Phase::Moving { host: None };
                self.timers.set(Timer::Opening(id), now + self.config.open_within);
                self.counters.rooms_moved += 1;
            }
        }
        self.place_homeless(now);
    }

    /// Gives the rooms that have lost their host to others, as far as these take them.
    pub(super) fn place_homeless(&mut self, now: LocalTime) {
        let homeless = self.rooms.iter().filter(|room| room.phase == Phase::Moving { host: None });
        for id in homeless.map(|room| room.id).collect::<Vec<_>>() {
            let room = self.rooms.at(id);
            let Some(host) = self.placement.place(room.wish(), &self.hosts.candidates(&self.rooms)) else { return };
            self.rooms.at_mut(id).phase = Phase::Moving { host: Some(host) };
            self.order_open(now, id, host, Some(Resume::default()));
        }
    }

    /// A host goes on with a room, or can't.
    pub(super) fn taken_up(&mut self, now: LocalTime, from: HostId, opened: RoomOpened) {
        let id = RoomId(opened.room);
        let Some(room) = self.rooms.get_mut(id) else { return };
        if room.phase != (Phase::Moving { host: Some(from) }) {
            return;
        }
        self.timers.cancel(Timer::Opening(id));
        if let Some(error) = opened.error {
            let message = format!("no other game server could go on with room {id}: {}", shown(&error.message));
            return self.dissolve_by_host(now, id, Refusal::new(ErrorCode::HostDied, message));
        }
        (room.phase, room.taken_up_at) = (Phase::Running { host: from }, Some(now));
        for player in self.who_is_on(id) {
            self.send_ticket(now, player);
        }
        self.go_on_with_transfers(id);
    }
}
