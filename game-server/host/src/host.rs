//! The shell of a host: where rooms run.
//!
//! Messages of the WorldServer and game connections come in, messages and datagrams go out. What
//! decides is in [`ambit_host_core`]; the threads and tasks here carry. One task owns the host core
//! (`owner`), each room has a thread of its own, and one clock thread ticks them all. How the
//! messages travel is the business of `host_link`: the same host runs within the WorldServer, as
//! its child, or on another machine.

mod connection;
pub(crate) mod control_stream;
pub(crate) mod counters;
mod cpu;
mod host_config;
mod inbox;
mod inlet;
mod late_rooms;
mod measured_game;
pub(crate) mod outlet;
mod owner;
mod parted_clients;
mod recent;
mod reports;
mod room_mailbox;
mod room_messages;
mod room_shell;
mod room_start;
mod room_thread;
mod shared;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Acquire};
use std::time::Duration;

use ambit_endpoint::accept::EndpointCounters;
use ambit_endpoint::player_connection::PlayerConnection;
use ambit_room::logic::registry::Registry;
use ambit_transport::acceptance_limits::AcceptanceLimits;
use anyhow::Context as _;
use dashmap::DashMap;
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

pub use self::host_config::HostConfig;
use self::owner::{HostOwner, OwnerCommand, OwnerQueues, ROOMS_WITHIN};
use self::parted_clients::PartedClients;
use self::room_messages::RoomMessages;
use self::shared::{Published, Shared, time_since_1970};
use crate::agones::HostLoad;
use crate::clock_thread::{ClockThread, HostClock};
use crate::host_link::HostEnd;
use crate::processor_time::HostThreads;
use crate::room_files::{OpenFiles, check_directory};
pub use ambit_host_core::host::HostEnding;
use ambit_host_core::host::{HostCore, HostProfile};

/// `Join`s that may wait for the owner. It answers them without pause; the task of each further
/// connection waits for a place.
const ADMISSIONS: usize = 256;

/// Commands that may wait for the owner: there is one control side, which waits for each answer.
const COMMANDS: usize = 1;

/// Connections that have not joined yet. More at a time than a burst of players after a restart;
/// each is given five seconds. Beyond it new ones are closed with `too_many_connections`.
const GREETINGS: usize = 2_048;

/// Those of one address: as many as bots on one machine, or players behind one router, begin at a
/// time.
const GREETINGS_PER_ADDRESS: usize = 512;

/// A host's handle for the endpoint that takes its connections.
#[derive(Clone)]
pub struct GameHost {
    shared: Arc<Shared>,
}

/// A host's control side; there is one, and it serves one WorldServer at a time. The owner of the
/// host core ends with it.
pub struct HostControl {
    shared: Arc<Shared>,
    commands: mpsc::Sender<OwnerCommand>,
}

impl GameHost {
    /// A host without rooms. Has to be called within the network's runtime.
    pub fn new(config: HostConfig, registry: Registry) -> anyhow::Result<(Self, HostControl)> {
        let record = config.record.as_ref().map(|folder| &folder.directory);
        for directory in config.trace.iter().chain(record) {
            check_directory(directory)?;
        }
        let part = config.part;
        let core = HostCore::new(HostProfile {
            address: config.address.clone(),
            fingerprint: config.fingerprint,
            capacity: config.capacity,
            label: config.label.clone(),
            build: config.build.clone(),
            cores: part.cores(),
            instance: part.instance,
            process: (!part.is_whole()).then_some(part.process),
        });
        let (to_owner, messages) = RoomMessages::new();
        let (asking, admissions) = mpsc::channel(ADMISSIONS);
        let (commands, commanded) = mpsc::channel(COMMANDS);
        let clock = HostClock::start();
        let threads = HostThreads::of(&part);
        threads.add_this_thread();
        let shared = Arc::new(Shared {
            config,
            registry,
            clock,
            started_unix: time_since_1970(),
            rooms: DashMap::new(),
            counters: Arc::default(),
            open_files: OpenFiles::default(),
            game_counts: Mutex::default(),
            kind_bits: Mutex::default(),
            parted_clients: PartedClients::default(),
            greetings: AcceptanceLimits::new(GREETINGS, GREETINGS_PER_ADDRESS),
            clock_thread: ClockThread::start(clock, threads.clone())
                .context("cannot start the clock thread")?,
            threads,
            messages: to_owner,
            admissions: asking,
            published: Published {
                permit: Arc::clone(core.permit()),
                lease_until: watch::Sender::new(None),
                journal_acknowledged: watch::Sender::new(u64::MAX),
                is_in_service: AtomicBool::new(false),
            },
        });
        let queues = OwnerQueues { commands: commanded, messages, admissions };
        tokio::spawn(HostOwner::new(Arc::clone(&shared), core).run(queues));
        let control = HostControl { shared: Arc::clone(&shared), commands };
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
            in_service: shared.published.is_in_service.load(Acquire),
            capacity: shared.config.capacity,
            ..HostLoad::default()
        };
        for inlet in &shared.rooms {
            load.rooms += 1;
            load.players += inlet.figures.lock().players;
            load.seats += inlet.way_in.seats;
        }
        load
    }

    /// The threads of this host.
    pub(crate) fn threads(&self) -> &HostThreads {
        &self.shared.threads
    }

    /// The acceptance counters of an endpoint of this host's own.
    pub fn acceptance_counters(&self) -> Arc<EndpointCounters> {
        Arc::clone(&self.shared.counters.acceptance)
    }
}

impl HostControl {
    /// Serves a WorldServer until the link ends or either side ends it. The rooms end with the
    /// link, unless the host has a lease: then they go on. After `stop` the rooms are handed over,
    /// if the WorldServer saves them.
    pub async fn run(&mut self, link: HostEnd, stop: &CancellationToken) -> HostEnding {
        let stop = stop.clone();
        let (ending, rooms) = self.ask(|ended| OwnerCommand::Serve { link, stop, ended }).await;
        if ending != HostEnding::Stalled {
            let had_rooms = !rooms.is_empty();
            let have_ended = rooms.wait().await;
            match ending {
                HostEnding::HandedOver if had_rooms && have_ended => {
                    tracing::info!("all rooms are handed over");
                }
                HostEnding::HandedOver if had_rooms => tracing::warn!(
                    "not all rooms are handed over after {} s",
                    ROOMS_WITHIN.as_secs()
                ),
                _ => {}
            }
        }
        self.ask(OwnerCommand::CloseLink).await;
        ending
    }

    /// For a link over bytes: where the number of each journal entry goes once the WorldServer
    /// can't miss it any more.
    pub fn journal_written(&self) -> watch::Sender<u64> {
        let acknowledged = &self.shared.published.journal_acknowledged;
        acknowledged.send_replace(0);
        acknowledged.clone()
    }

    /// Lets time pass between two links. `false` when there are no rooms.
    pub async fn wait(&mut self, pause: Duration) -> bool {
        tokio::time::sleep(pause).await;
        self.has_rooms().await
    }

    /// Waits until the files of all rooms that have ended are complete, if the disk takes them in
    /// time. For the end of the process: a recording that its process cuts off has no end.
    pub async fn wait_for_files(&self) {
        self.shared.open_files.wait().await;
    }

    /// Whether rooms run here.
    pub async fn has_rooms(&self) -> bool {
        self.ask(OwnerCommand::HasRooms).await
    }

    /// Closes all rooms: no WorldServer will ask for them.
    pub async fn close_rooms(&mut self) {
        let rooms = self.ask(OwnerCommand::CloseRooms).await;
        let _ = rooms.wait().await;
    }

    async fn ask<T>(&self, command: impl FnOnce(oneshot::Sender<T>) -> OwnerCommand) -> T {
        let (answer, answered) = oneshot::channel();
        let _ = self.commands.send(command(answer)).await;
        answered.await.expect("the owner of the host core ends after its control side")
    }
}

#[cfg(test)]
mod tests;
