//! What rooms, connections and the owner of one host share.
//!
//! The owner alone has the host core ([`super::owner`]). The others send it messages, and read what
//! it publishes here: a permit to serve players, the rooms, which journal entries are kept. So no
//! room waits for the owner.
//!
//! What always holds: a room is in `rooms` exactly while its shell takes clients.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Acquire};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ambit_host_protocol::messages::HostMessage;
use ambit_proto::codes::{self, ErrorCode};
use ambit_proto::control::game::Join;
use ambit_proto::control::world::Error;
use ambit_proto::ids::RoomId;
use ambit_proto::time::LocalTime;
use ambit_room::journal::JournalEntry;
use ambit_room::logic::registry::Registry;
use ambit_transport::acceptance_limits::AcceptanceLimits;
use dashmap::DashMap;
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot, watch};

use super::counters::{Counters, DropReason};
use super::host_config::HostConfig;
use super::inlet::RoomInlet;
use super::parted_clients::PartedClients;
use super::room_messages::RoomMessages;
use crate::clock_thread::{ClockThread, HostClock};
use crate::processor_time::HostThreads;
use crate::room_files::OpenFiles;
use ambit_host_core::host::HostTime;
use ambit_host_core::lease::ServingPermit;
use ambit_host_core::room_host::AdmittedClient;

/// Why a room that never returns is closed.
pub(crate) const ROOM_GIVEN_UP: &str =
    "the room's game did not return from a tick; this is a fault of the game's code";

/// A client's `Join`, and where the owner's answer goes.
pub(crate) struct JoinRequest {
    pub(crate) join: Join,
    pub(crate) answer: oneshot::Sender<Result<AdmittedClient, Error>>,
}

/// See the module.
pub(crate) struct Shared {
    pub(crate) config: HostConfig,
    pub(crate) registry: Registry,
    pub(crate) clock: HostClock,
    /// The time since 1970 when `clock` began: the system's clock is read once, since it may step.
    pub(crate) started_unix: Duration,
    pub(crate) rooms: DashMap<RoomId, Arc<RoomInlet>>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) open_files: OpenFiles,
    /// What games have counted themselves, by "game/name".
    pub(crate) game_counts: Mutex<BTreeMap<String, u64>>,
    /// Bits of objects that were sent, by "game/kind/part".
    pub(crate) kind_bits: Mutex<BTreeMap<String, u64>>,
    pub(crate) parted_clients: PartedClients,
    pub(crate) greetings: AcceptanceLimits,
    pub(crate) clock_thread: ClockThread,
    pub(crate) threads: HostThreads,
    /// To the owner.
    pub(crate) messages: RoomMessages,
    /// To the owner; connections wait for their turn.
    pub(crate) admissions: mpsc::Sender<JoinRequest>,
    pub(crate) published: Published,
}

/// What the owner publishes.
pub(crate) struct Published {
    /// Whether players may be served.
    pub(crate) permit: Arc<ServingPermit>,
    /// Changes with the end of the lease.
    pub(crate) lease_until: watch::Sender<Option<LocalTime>>,
    /// The number of the newest journal entry that can't be lost with this process any more. Within
    /// the WorldServer's process no entry can.
    pub(crate) journal_acknowledged: watch::Sender<u64>,
    /// Whether a WorldServer has asked for this host.
    pub(crate) is_in_service: AtomicBool,
}

impl Shared {
    pub(crate) fn time(&self) -> HostTime {
        let local = self.clock.now();
        let ticket_time = self.started_unix + local.since(LocalTime::ZERO);
        HostTime { local, ticket_unix_s: ticket_time.as_secs() }
    }

    /// Sleeps until then; for ever if there is no deadline.
    pub(crate) async fn sleep_until(&self, deadline: Option<LocalTime>) {
        match deadline {
            Some(deadline) => {
                tokio::time::sleep_until(self.clock.instant_of(deadline).into()).await;
            }
            None => std::future::pending().await,
        }
    }

    /// A client's first message: the owner checks it, and uses its ticket up.
    pub(crate) async fn admit(&self, join: Join) -> Result<AdmittedClient, Error> {
        let (answer, answered) = oneshot::channel();
        // Refused only once there is no owner any more, and then nothing answers either.
        let _ = self.admissions.send(JoinRequest { join, answer }).await;
        let ended = || codes::error(ErrorCode::RoomNotRunning, "this host is about to end");
        answered.await.unwrap_or_else(|_| Err(ended()))
    }

    /// A room's message for the WorldServer.
    pub(crate) fn send(&self, message: HostMessage) {
        if !self.messages.send(message) {
            self.counters.dropped(DropReason::MessagesFull);
        }
    }

    /// A room's journal entry. Returns its number; one that is never reached if the host does not
    /// serve any more.
    pub(crate) fn send_journal(&self, room: RoomId, entry: JournalEntry) -> u64 {
        if !self.published.permit.check(self.clock.now()) {
            return u64::MAX;
        }
        let (number, is_sent) = self.messages.send_journal(room, entry);
        if !is_sent {
            self.counters.dropped(DropReason::MessagesFull);
        }
        number
    }

    /// The newest journal entry that can't be lost with this process any more, of a room that is
    /// saved from entry `saved_from` on.
    pub(crate) fn journal_acknowledged(&self, saved_from: &AtomicU64) -> u64 {
        let kept = *self.published.journal_acknowledged.borrow();
        if kept >= saved_from.load(Acquire) { kept } else { 0 }
    }

    /// A room takes no clients any more.
    pub(crate) fn remove_room(&self, room: RoomId, incarnation: u32) {
        self.take_room(room, incarnation);
    }

    /// A room does not return from a tick: it is closed without it.
    pub(crate) fn give_up_room(&self, room: RoomId, incarnation: u32) {
        if let Some(inlet) = self.take_room(room, incarnation) {
            let (reason, message) = (ErrorCode::RoomCrashed, ROOM_GIVEN_UP.to_owned());
            self.send(HostMessage::RoomClosed { room, reason, message });
            inlet.given_up.cancel();
        }
    }

    fn take_room(&self, room: RoomId, incarnation: u32) -> Option<Arc<RoomInlet>> {
        let is_this = |inlet: &Arc<RoomInlet>| inlet.way_in.incarnation == incarnation;
        self.rooms.remove_if(&room, |_, inlet| is_this(inlet)).map(|(_, inlet)| inlet)
    }
}

#[expect(clippy::disallowed_methods, reason = "a shell's clock")]
pub(crate) fn time_since_1970() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}
