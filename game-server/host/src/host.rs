//! A host: where rooms run.
//!
//! `WorldToHost` messages and game connections go in, `HostToWorld` messages and datagrams come
//! out. The rooms are spread over as many arbiter threads as there are cores; one clock thread
//! ticks them all. How the messages travel is the carrier's business (`carrier`): the same host
//! runs within the WorldServer, as its child, or on another machine.
//!
//! What always holds: a room is in `rooms` exactly while its actor takes messages; without a link
//! to the WorldServer rooms go on for as long as the lease says that they are this host's
//! (`lease`), and without a lease they end with it, since nobody could be let in or told any more.

mod connection;
mod control;
pub(crate) mod control_stream;
pub(crate) mod counters;
mod cpu;
pub(crate) mod inlet;
mod lease;
pub(crate) mod outlet;
mod recent;

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::protocol::messages::{HostToWorld, RoomTick, host_to_world};
use actix::{Arbiter, ArbiterHandle};
use ambit_proto::codes::{self, ErrorCode};
use ambit_proto::control::world::Error;
use ambit_proto::ids::{PlayerId, RoomId};
use ambit_proto::time::LocalTime;
use ambit_transport::quic::Fingerprint;
use anyhow::Context as _;
use dashmap::DashMap;
use quinn::Connection;
use ring::rand::{SecureRandom as _, SystemRandom};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

pub use self::control::Ended;
use self::counters::{Counters, Drop as Dropped};
use self::inlet::RoomInlet;
use self::lease::Lease;
use self::outlet::Gate;
use crate::accept::DoorCounters;
use crate::agones::HostLoad;
use crate::carrier::HostEnd;
use crate::clock_thread::{ClockThread, RoomClock};
use crate::fence::Fence;
use crate::places::Places;
use ambit_room::logic::registry::Registry;
use ambit_transport::ticket::{Ticket, TicketVerifier};

/// News of rooms that may wait for the control task. It reads them without pause, so that this is
/// reached only when the WorldServer has not read for long; then the link ends
/// (`carrier::HOST_QUEUE`).
const NEWS: usize = 4_096;

/// Connections that have not joined yet. More at a time than a burst of players after a restart;
/// each is given five seconds. Beyond it new ones are closed with `too_many_connections`.
const GREETINGS: usize = 2_048;

/// Those of one address: as many as bots on one machine, or players behind one router, begin at a
/// time.
const GREETINGS_PER_ADDRESS: usize = 512;

/// What a host is told at its start.
#[derive(Clone, Debug)]
pub struct HostConfig {
    /// Where players connect, as they are told.
    pub address: String,
    /// The certificate that players are shown.
    pub fingerprint: Fingerprint,
    /// Rooms at most.
    pub capacity: u32,
    /// For people.
    pub label: String,
    /// What its rooms are made of.
    pub build: String,
    /// What the WorldServer's `--host-key` names; empty for a host that it started itself.
    pub key: Vec<u8>,
    /// Directory of ground truth, a file a room.
    pub trace: Option<PathBuf>,
    /// Directory of recordings, a file a room.
    pub record: Option<PathBuf>,
}

/// What rooms, connections and the control task of one host share.
pub(crate) struct Shared {
    pub(crate) config: HostConfig,
    pub(crate) registry: Registry,
    pub(crate) rooms: DashMap<RoomId, Arc<RoomInlet>>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) greetings: Places,
    pub(crate) clock_thread: ClockThread,
    /// `Unchanged` until the WorldServer has said what tickets are checked against.
    pub(crate) tickets: Mutex<Option<TicketVerifier>>,
    news: mpsc::Sender<HostToWorld>,
    /// The serial of the newest `RoomTick`. Held while one is queued, so that they are queued in
    /// the order of their serials.
    ticks: Mutex<u64>,
    /// The serial of the newest `RoomTick` that is known to have left this process. Within one
    /// process nothing has to leave.
    written: watch::Sender<u64>,
    lease: Mutex<Lease>,
    /// Until when players may be served, by the lease; `Unchanged` for ever.
    served_until: watch::Sender<Option<Instant>>,
    /// Of this process.
    instance: [u8; 16],
    pub(crate) stalls: Arc<StallGuard>,
    arbiters: Vec<Workplace>,
}

/// The process's [`Fence`], with a clock.
pub(crate) struct StallGuard {
    clock: RoomClock,
    fence: Mutex<Fence>,
}

impl StallGuard {
    /// For a host that is given up after so much silence.
    pub(crate) fn guard(&self, silence: Duration) {
        self.fence().guard(silence);
    }

    /// Whether what is said now still counts.
    pub(crate) fn pass(&self) -> bool {
        self.fence()
            .pass(LocalTime::from_micros(self.clock.now().micros()))
    }

    fn fence(&self) -> std::sync::MutexGuard<'_, Fence> {
        self.fence.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An arbiter thread, and the rooms that were given to it.
struct Workplace {
    arbiter: ArbiterHandle,
    rooms: Arc<AtomicUsize>,
}

/// Counts a room at its arbiter for as long as it is kept.
pub(crate) struct Place {
    pub(crate) arbiter: ArbiterHandle,
    rooms: Arc<AtomicUsize>,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.rooms.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Shared {
    /// Tells the WorldServer something that it has to know.
    pub(crate) fn tell(&self, news: HostToWorld) {
        // Full only when the link is about to be given up anyway: then its rooms go on elsewhere,
        // or end.
        if self.news.try_send(news).is_err() {
            self.counters.dropped(Dropped::NewsFull);
            tracing::error!("the WorldServer does not take this host's news");
        }
    }

    /// Tells the WorldServer what a room's tick has taken. The number under which that leaves;
    /// never, if it does not count any more.
    pub(crate) fn tell_tick(&self, tick: RoomTick) -> u64 {
        if !self.stalls.pass() {
            return u64::MAX;
        }
        let mut serial = self.ticks.lock().unwrap_or_else(PoisonError::into_inner);
        *serial += 1;
        self.tell(HostToWorld {
            body: Some(host_to_world::Body::RoomTick(RoomTick {
                serial: *serial,
                ..tick
            })),
        });
        *serial
    }

    /// The number under which the last of them leaves.
    pub(crate) fn last_serial(&self) -> u64 {
        *self.ticks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What datagrams wait for before they leave.
    pub(crate) fn gate(&self) -> Gate {
        Gate {
            written: self.written.subscribe(),
            served_until: self.served_until.subscribe(),
            silent: false,
        }
    }

    /// Something has happened to the lease.
    fn lease<T>(&self, happens: impl FnOnce(&mut Lease) -> T) -> T {
        let mut lease = self.lease.lock().unwrap_or_else(PoisonError::into_inner);
        let result = happens(&mut lease);
        self.served_until.send_replace(lease.until());
        result
    }

    /// Uses a ticket up.
    pub(crate) fn check_ticket(&self, token: &[u8]) -> Result<Ticket, Error> {
        let mut tickets = self.tickets.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(verifier) = tickets.as_mut() else {
            return Err(codes::error(
                ErrorCode::RoomNotRunning,
                "this host is not in service yet",
            ));
        };
        let runs = |room| self.rooms.contains_key(&room);
        verifier
            .verify(unix_now_s(), token, &self.config.address, runs)
            .map_err(|refused| codes::error(refused.code(), refused.to_string()))
    }

    /// Whether a ticket that was good when it was shown has become void since.
    pub(crate) fn is_void(&self, room: RoomId, player: PlayerId, serial: u64) -> bool {
        let tickets = self.tickets.lock().unwrap_or_else(PoisonError::into_inner);
        tickets
            .as_ref()
            .is_some_and(|verifier| verifier.is_revoked(room, player, serial))
    }

    /// The arbiter with the fewest rooms.
    pub(crate) fn place_room(&self) -> Place {
        let least = self
            .arbiters
            .iter()
            .min_by_key(|place| place.rooms.load(Ordering::Relaxed));
        let Workplace { arbiter, rooms } = least.expect("a host has at least one arbiter");
        rooms.fetch_add(1, Ordering::Relaxed);
        Place {
            arbiter: arbiter.clone(),
            rooms: Arc::clone(rooms),
        }
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
    news: mpsc::Receiver<HostToWorld>,
}

impl GameHost {
    /// A host without rooms. Has to be called on a thread of an actix system: that one's arbiters
    /// will run the rooms.
    pub fn new(config: HostConfig, registry: Registry) -> anyhow::Result<(Self, HostControl)> {
        for directory in [&config.trace, &config.record].into_iter().flatten() {
            std::fs::create_dir_all(directory)
                .with_context(|| format!("cannot make the directory {}", directory.display()))?;
        }
        let (news_in, news) = mpsc::channel(NEWS);
        let shared = Arc::new(Shared {
            config,
            registry,
            rooms: DashMap::new(),
            counters: Arc::default(),
            greetings: Places::new(GREETINGS, GREETINGS_PER_ADDRESS),
            clock_thread: ClockThread::start().context("cannot start the clock thread")?,
            tickets: Mutex::new(None),
            news: news_in,
            ticks: Mutex::default(),
            written: watch::Sender::new(u64::MAX),
            lease: Mutex::default(),
            served_until: watch::Sender::new(None),
            instance: random_bytes()?,
            stalls: Arc::new(StallGuard {
                clock: RoomClock::start(),
                fence: Mutex::default(),
            }),
            arbiters: start_arbiters()?,
        });
        Ok((
            Self {
                shared: Arc::clone(&shared),
            },
            HostControl { shared, news },
        ))
    }

    /// Serves one game connection (ALPN `ambit-game/1`) to its end.
    pub async fn serve(&self, connection: Connection) {
        let _counted = self.shared.counters.client();
        connection::serve(Arc::clone(&self.shared), connection).await;
    }

    /// What it carries now.
    pub(crate) fn load(&self) -> HostLoad {
        let Shared {
            config,
            rooms,
            tickets,
            ..
        } = &*self.shared;
        let mut load = HostLoad {
            in_service: tickets
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .is_some(),
            capacity: config.capacity,
            ..HostLoad::default()
        };
        for inlet in rooms {
            load.rooms += 1;
            load.players += inlet.players();
            load.seats += inlet.seats;
        }
        load
    }

    /// What an endpoint of this host's own counts at its door.
    pub fn door(&self) -> Arc<DoorCounters> {
        Arc::clone(&self.shared.counters.door)
    }
}

impl HostControl {
    /// Serves a WorldServer until the link ends or it says `Drain`; all rooms are closed then,
    /// unless there is a lease: then they go on without a link, and the caller is to [`Self::wait`]
    /// between two links. Or until `stop`: then rooms are handed over, if the WorldServer keeps
    /// them.
    pub async fn run(&mut self, link: HostEnd, stop: &CancellationToken) -> Ended {
        control::run(&self.shared, &mut self.news, link, stop).await
    }

    /// For a link over bytes: where the serial of each `RoomTick` goes once the WorldServer can't
    /// miss it any more.
    pub fn written(&self) -> watch::Sender<u64> {
        self.shared.written.send_replace(0);
        self.shared.written.clone()
    }

    /// Lets time pass between two links: what rooms say that another link will tell anew is
    /// dropped. `false` when there are no rooms.
    pub async fn wait(&mut self, pause: Duration) -> bool {
        let _ = tokio::time::timeout(pause, control::drop_news(&mut self.news)).await;
        !self.shared.rooms.is_empty()
    }

    /// Whether any rooms run.
    pub fn has_rooms(&self) -> bool {
        !self.shared.rooms.is_empty()
    }

    /// Closes the rooms that nobody has asked for.
    pub async fn close_rooms(&mut self) {
        control::close_all(&self.shared, ErrorCode::HostDied).await;
    }
}

fn random_bytes() -> anyhow::Result<[u8; 16]> {
    let mut bytes = [0; 16];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| anyhow::anyhow!("the system gives no random bytes"))?;
    Ok(bytes)
}

fn start_arbiters() -> anyhow::Result<Vec<Workplace>> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    (0..cores)
        .map(|_| {
            let arbiter = Arbiter::try_new()
                .context("cannot start a thread for rooms")?
                .handle();
            Ok(Workplace {
                arbiter,
                rooms: Arc::default(),
            })
        })
        .collect()
}

#[expect(
    clippy::disallowed_methods,
    reason = "a shell's clock; tickets expire by the wall clock of two machines"
)]
fn unix_now_s() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs()
}
