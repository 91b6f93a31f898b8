//! The shell of a host: where rooms run.
//!
//! Messages of the WorldServer and game connections come in, messages and datagrams go out. What
//! decides is in [`crate::host_core`]; the actors and tasks here carry. Each room has a thread of
//! its own; one clock thread ticks them all. How the messages travel is the business of
//! `host_link`: the same host runs within the WorldServer, as its child, or on another machine.
//!
//! What always holds: a room is in `rooms` exactly while its actor takes clients.

mod actor;
mod connection;
mod control;
pub(crate) mod control_stream;
pub(crate) mod counters;
mod cpu;
mod inbox;
mod inlet;
mod late_rooms;
mod measured_game;
pub(crate) mod outlet;
mod parted_clients;
mod recent;
mod room_thread;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ambit_endpoint::accept::EndpointCounters;
use ambit_endpoint::player_connection::PlayerConnection;
use ambit_proto::codes::ErrorCode;
use ambit_proto::ids::RoomId;
use ambit_proto::time::LocalTime;
use ambit_transport::acceptance_limits::AcceptanceLimits;
use ambit_transport::quic::Fingerprint;
use anyhow::Context as _;
use dashmap::DashMap;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use self::control::ControlShell;
use self::counters::{Counters, DropReason};
use self::inlet::RoomInlet;
use self::parted_clients::PartedClients;
use crate::agones::HostLoad;
use crate::clock_thread::{ClockThread, HostClock};
pub use crate::host_core::HostEnding;
use crate::host_core::lease::ServingLease;
use crate::host_core::{HostCore, HostProfile, HostTime};
use crate::host_link::HostEnd;
use crate::record_folder::RecordFolder;
use crate::room_files::{OpenFiles, check_directory};
use crate::web_certificates::WebCertificates;
use ambit_host_protocol::messages::HostMessage;
use ambit_room::journal::JournalEntry;
use ambit_room::logic::registry::Registry;
use ambit_transport::random::system_random;

/// Messages of rooms that may wait for the control task. It reads them without pause, so this is
/// reached only when the WorldServer has not read for long; then the link ends
/// (`host_link::HOST_QUEUE`).
const ROOM_MESSAGES: usize = 4_096;

/// Connections that have not joined yet. More at a time than a burst of players after a restart;
/// each is given five seconds. Beyond it new ones are closed with `too_many_connections`.
const GREETINGS: usize = 2_048;

/// Those of one address: as many as bots on one machine, or players behind one router, begin at a
/// time.
const GREETINGS_PER_ADDRESS: usize = 512;

/// The settings of a host.
#[derive(Clone, Debug)]
pub struct HostConfig {
    /// Where players connect.
    pub address: String,
    /// The certificate that players are shown.
    pub fingerprint: Fingerprint,
    /// Those that browsers are shown.
    pub web_certificates: Arc<WebCertificates>,
    /// Rooms at most.
    pub capacity: u32,
    /// A name for people.
    pub label: String,
    /// What its rooms are made of.
    pub build: String,
    /// Directory of ground truth, a file a room.
    pub trace: Option<PathBuf>,
    /// Where recordings are made, a file a room.
    pub record: Option<RecordFolder>,
}

/// What rooms, connections and the control task of one host share.
pub(crate) struct Shared {
    pub(crate) config: HostConfig,
    pub(crate) registry: Registry,
    pub(crate) clock: HostClock,
    /// The time since 1970 when `clock` began: the system's clock is read once, since it may step.
    started_unix: Duration,
    core: Mutex<HostCore>,
    /// Locked after `core`, if both are.
    lease: Mutex<ServingLease>,
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
    messages: mpsc::Sender<HostMessage>,
    /// The number of the newest journal entry that can't be lost with this process any more. Within
    /// the WorldServer's process no entry can.
    journal_acknowledged: watch::Sender<u64>,
    /// Changes with the end of the lease.
    lease_until: watch::Sender<Option<LocalTime>>,
}

impl Shared {
    pub(crate) fn core(&self) -> MutexGuard<'_, HostCore> {
        self.core.lock()
    }

    /// Calls the core with something that concerns the lease.
    fn with_lease<T>(
        &self,
        call: impl FnOnce(&mut HostCore, HostTime, &mut ServingLease) -> T,
    ) -> T {
        let mut core = self.core();
        let mut lease = self.lease();
        let result = call(&mut core, self.time(), &mut lease);
        let until = lease.until();
        self.lease_until.send_if_modified(|known| {
            let is_new = *known != until;
            *known = until;
            is_new
        });
        result
    }

    pub(crate) fn lease(&self) -> MutexGuard<'_, ServingLease> {
        self.lease.lock()
    }

    pub(crate) fn time(&self) -> HostTime {
        let local = self.clock.now();
        let ticket_time = self.started_unix + local.since(LocalTime::ZERO);
        HostTime { local, ticket_unix_s: ticket_time.as_secs() }
    }

    /// Sleeps until then; for ever if there is no deadline.
    async fn sleep_until(&self, deadline: Option<LocalTime>) {
        match deadline {
            Some(deadline) => {
                tokio::time::sleep_until(self.clock.instant_of(deadline).into()).await;
            }
            None => std::future::pending().await,
        }
    }

    /// A room's message for the WorldServer.
    pub(crate) fn send(&self, message: HostMessage) {
        // Full only when the link is about to be given up anyway: then the rooms go on at another
        // host, or end.
        if self.messages.try_send(message).is_err() {
            self.counters.dropped(DropReason::MessagesFull);
            tracing::error!("the WorldServer does not read this host's messages");
        }
    }

    /// A room's journal entry. Returns its number; one that is never reached if the host does not
    /// serve any more.
    pub(crate) fn send_journal(&self, room: RoomId, entry: JournalEntry) -> u64 {
        // Held while the entry is queued, so that entries leave in the order of their numbers.
        let mut lease = self.lease();
        let Some(number) = lease.next_journal(self.clock.now()) else {
            return u64::MAX;
        };
        self.send(HostMessage::Journal { room, entry, number });
        number
    }

    /// The newest journal entry of this room that can't be lost with this process any more.
    pub(crate) fn journal_acknowledged(&self, room: RoomId) -> u64 {
        let kept = *self.journal_acknowledged.borrow();
        if kept >= self.core().saved_from(room) { kept } else { 0 }
    }

    /// A room takes no clients any more.
    pub(crate) fn remove_room(&self, room: RoomId, incarnation: u32) {
        self.rooms.remove_if(&room, |_, inlet| inlet.incarnation == incarnation);
        self.core().handle_room_ended(room, incarnation);
    }
}

/// A host's handle for the endpoint that takes its connections.
#[derive(Clone)]
pub struct GameHost {
    shared: Arc<Shared>,
}

/// A host's control side; there is one, and it serves one WorldServer at a time.
pub struct HostControl {
    shared: Arc<Shared>,
    messages: mpsc::Receiver<HostMessage>,
}

impl GameHost {
    /// A host without rooms.
    pub fn new(config: HostConfig, registry: Registry) -> anyhow::Result<(Self, HostControl)> {
        let record = config.record.as_ref().map(|folder| &folder.directory);
        for directory in config.trace.iter().chain(record) {
            check_directory(directory)?;
        }
        let profile = HostProfile {
            address: config.address.clone(),
            fingerprint: config.fingerprint,
            capacity: config.capacity,
            label: config.label.clone(),
            build: config.build.clone(),
            cores: std::thread::available_parallelism().map_or(1, usize::from) as u32,
            instance: system_random()?,
        };
        let (sender, messages) = mpsc::channel(ROOM_MESSAGES);
        let clock = HostClock::start();
        let shared = Arc::new(Shared {
            config,
            registry,
            clock,
            started_unix: time_since_1970(),
            core: Mutex::new(HostCore::new(profile)),
            lease: Mutex::default(),
            rooms: DashMap::new(),
            counters: Arc::default(),
            open_files: OpenFiles::default(),
            game_counts: Mutex::default(),
            kind_bits: Mutex::default(),
            parted_clients: PartedClients::default(),
            greetings: AcceptanceLimits::new(GREETINGS, GREETINGS_PER_ADDRESS),
            clock_thread: ClockThread::start(clock).context("cannot start the clock thread")?,
            messages: sender,
            journal_acknowledged: watch::Sender::new(u64::MAX),
            lease_until: watch::Sender::new(None),
        });
        let control = HostControl { shared: Arc::clone(&shared), messages };
        Ok((Self { shared }, control))
    }

    /// Serves one game connection (ALPN `ambit-game/1`) to its end.
    pub async fn serve(&self, connection: PlayerConnection) {
        let _counted = self.shared.counters.client();
        connection::serve(Arc::clone(&self.shared), connection).await;
    }

    pub(crate) fn load(&self) -> HostLoad {
        let shared = &self.shared;
        let mut load = HostLoad {
            in_service: shared.core().is_in_service(),
            capacity: shared.config.capacity,
            ..HostLoad::default()
        };
        for inlet in &shared.rooms {
            load.rooms += 1;
            load.players += inlet.figures.lock().players;
            load.seats += inlet.seats;
        }
        load
    }

    /// The acceptance counters of an endpoint of this host's own.
    pub fn acceptance_counters(&self) -> Arc<EndpointCounters> {
        Arc::clone(&self.shared.counters.acceptance)
    }
}

impl HostControl {
    /// Serves a WorldServer until the link ends or either side ends it. The rooms end with the
    /// link, unless the host has a lease: then they go on, and the caller has to [`Self::wait`]
    /// between two links. After `stop` the rooms are handed over, if the WorldServer saves them.
    pub async fn run(&mut self, link: HostEnd, stop: &CancellationToken) -> HostEnding {
        ControlShell::new(&self.shared).serve(&mut self.messages, link, stop).await
    }

    /// For a link over bytes: where the number of each journal entry goes once the WorldServer
    /// can't miss it any more.
    pub fn journal_written(&self) -> watch::Sender<u64> {
        self.shared.journal_acknowledged.send_replace(0);
        self.shared.journal_acknowledged.clone()
    }

    /// Lets time pass between two links. `false` when there are no rooms.
    pub async fn wait(&mut self, pause: Duration) -> bool {
        ControlShell::new(&self.shared).wait(&mut self.messages, pause).await;
        self.has_rooms()
    }

    /// What the watcher reports to the WorldServer when this process has ended.
    pub(crate) fn process_ended(&self) -> HostMessage {
        HostMessage::ProcessEnded(self.shared.core().profile().instance.to_vec())
    }

    /// Waits until the files of all rooms that have ended are complete, if the disk takes them in
    /// time. For the end of the process: a recording that its process cuts off has no end.
    pub async fn wait_for_files(&self) {
        self.shared.open_files.wait().await;
    }

    pub fn has_rooms(&self) -> bool {
        self.shared.core().has_rooms()
    }

    /// Closes all rooms: no WorldServer will ask for them.
    pub async fn close_rooms(&mut self) {
        self.shared.core().close_all(ErrorCode::HostDied);
        let mut shell = ControlShell::new(&self.shared);
        shell.carry_out();
        let _ = shell.wait_for_rooms().await;
    }
}

#[expect(clippy::disallowed_methods, reason = "a shell's clock")]
pub(crate) fn time_since_1970() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}
