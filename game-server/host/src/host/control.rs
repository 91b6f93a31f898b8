//! The host's half of the host protocol.
//!
//! Rooms are made on a thread of their own, so that a large map holds nobody up: neither the other
//! rooms' ticks nor the next message. A `CloseRoom` that comes before the room is ready is kept
//! until then.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use crate::protocol::messages::{
    Admit, Beat, Configure, HostReady, HostStats, HostToWorld, LetGo, OpenRoom, RemovePlayer,
    RenamePlayer, Resume, RoomHere, RoomLoad, RoomOpened, RoomSaved, Roster, Stay, WorldToHost,
    host_to_world, world_to_host,
};
use crate::protocol::{HEARTBEAT_INTERVAL, STATS_INTERVAL, VERSION};
use actix::Actor as _;
use ambit_proto::codes::{self, ErrorCode};
use ambit_proto::control::world::Error;
use ambit_proto::ids::{PlayerId, RoomId};
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use super::counters::Drop;
use super::cpu::CpuMeter;
use super::inlet::{Inbox, RoomInlet};
use super::outlet::Outlet;
use super::{HostConfig, Shared, unix_now_s};
use crate::actor::{
    Close, Crossing, GameServer, HandOver, Muster, Remove, Rename, Retell, Setup, ticker,
};
use crate::carrier::HostEnd;
use crate::clock_thread::{Pulse, RoomClock};
use crate::keeper::{Keeper, take_up};
use crate::room_files::RoomFiles;
use ambit_room::config::RoomConfig;
use ambit_room::network::loads::{CellLoad, RegionLoads};
use ambit_room::record::Header;
use ambit_room::room::{Input, Room};
use ambit_transport::ticket::TicketVerifier;

/// Rooms of which a report says what their regions cost: those that a cut would be for.
const MOST_LOADS: usize = 16;

/// How long a host that closes its rooms waits for the last clients to be told.
const DRAIN_WITHIN: Duration = Duration::from_secs(2);

/// A WorldServer that answers signs of life, and has not for so long, is gone.
const DEAF_AFTER: Duration = Duration::from_secs(1);

/// Why a host does not serve its WorldServer any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The WorldServer wished it.
    Drained,
    /// This process was asked to end: the WorldServer has been told all that the rooms are, and
    /// goes on with them elsewhere.
    HandedOver,
    /// This process was stopped for so long that its rooms are somebody else's: nobody is to hear
    /// of them from here.
    Stalled,
    /// The link broke, or the WorldServer is gone.
    LinkLost,
    /// The same, before it had asked for anything.
    Unserved,
    /// The two don't understand each other; trying again is of no use.
    Refused(String),
}

/// What came of making a room.
struct Made {
    room: RoomId,
    incarnation: u32,
    result: Result<Box<Parts>, Error>,
}

/// A room that is ready to be placed.
struct Parts {
    room: Room,
    files: RoomFiles,
    capacity: u32,
    /// Of a room that goes on from elsewhere; else it begins when the room is placed.
    clock: Option<RoomClock>,
    keeper: Option<Keeper>,
    /// What is to be told of it before it ticks.
    first: Option<RoomSaved>,
}

/// What was said meanwhile of a room that is being made.
#[derive(Default)]
struct Pending {
    /// It is to be closed at once.
    unwanted: bool,
    /// Of its players: they have an avatar there, if it goes on from elsewhere.
    late: Vec<world_to_host::Body>,
}

struct Control<'a> {
    shared: &'a Arc<Shared>,
    news: mpsc::Sender<HostToWorld>,
    /// How long a player whose connection broke keeps the avatar, in milliseconds.
    grace_ms: u32,
    /// Whether the WorldServer has said what it wants of a host.
    is_configured: bool,
    /// Whether the WorldServer is told all along what rooms are.
    keep_rooms: bool,
    /// The sign of life after which the rooms are handed over, once it was heard.
    leaving: Option<u64>,
    making: JoinSet<Made>,
    /// Rooms that are being made.
    pending: BTreeMap<RoomId, Pending>,
    cpu: CpuMeter,
}

pub(super) async fn run(
    shared: &Arc<Shared>,
    news: &mut mpsc::Receiver<HostToWorld>,
    link: HostEnd,
    stop: &CancellationToken,
) -> Ended {
    let HostEnd {
        mut commands,
        news: to_world,
    } = link;
    let mut control = Control {
        shared,
        news: to_world,
        grace_ms: 0,
        is_configured: false,
        keep_rooms: false,
        leaving: None,
        making: JoinSet::new(),
        pending: BTreeMap::new(),
        cpu: CpuMeter::start(),
    };
    shared.lease(|lease| lease.connect(now()));
    // What rooms have said to nobody is in what they say next. (And this is the first thing that is
    // said.)
    while news.try_recv().is_ok() {}
    control.forward(HostToWorld {
        body: Some(host_to_world::Body::Ready(control.ready())),
    });
    let ended = control.serve(news, &mut commands, stop).await;
    match ended {
        Ended::HandedOver => control.hand_over_all().await,
        Ended::Stalled => return ended,
        Ended::Drained => control.close_all(ErrorCode::Draining).await,
        // They are this host's for a while yet, and another WorldServer may go on with them.
        Ended::LinkLost | Ended::Unserved if shared.lease(|lease| lease.is_given()) => {
            control.making.abort_all()
        }
        Ended::LinkLost | Ended::Unserved | Ended::Refused(_) => {
            control.close_all(ErrorCode::HostDied).await
        }
    }
    // What rooms said last has a meaning only as long as the link holds.
    while let Ok(message) = news.try_recv() {
        control.forward(message);
    }
    ended
}

impl Control<'_> {
    async fn serve(
        &mut self,
        news: &mut mpsc::Receiver<HostToWorld>,
        commands: &mut mpsc::Receiver<WorldToHost>,
        stop: &CancellationToken,
    ) -> Ended {
        let mut stats = tokio::time::interval(STATS_INTERVAL);
        stats.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let mut beats = tokio::time::interval(HEARTBEAT_INTERVAL);
        beats.set_missed_tick_behavior(MissedTickBehavior::Skip);
        loop {
            tokio::select! {
                command = commands.recv() => match command.map(|command| command.body) {
                    None => return self.lost(),
                    Some(None) => tracing::warn!("the WorldServer said something that this host does not know"),
                    Some(Some(world_to_host::Body::Drain(_))) => return Ended::Drained,
                    Some(Some(body)) => {
                        let lives = matches!(&body, world_to_host::Body::Heard(heard)
                            if self.leaving.is_some_and(|number| heard.number >= number));
                        if let Err(refusal) = self.handle(body) {
                            return Ended::Refused(refusal);
                        }
                        if lives {
                            return Ended::HandedOver;
                        }
                    }
                },
                Some(message) = news.recv() => if !self.forward(message) {
                    return self.lost();
                },
                Some(made) = self.making.join_next() => self.open(made.expect("making a room does not panic")),
                // A WorldServer that has just been found is to know first that these rooms are its
                // own.
                () = stop.cancelled(), if self.leaving.is_none() && (self.is_configured || self.shared.rooms.is_empty()) => {
                    if !self.keep_rooms {
                        return self.lost();
                    }
                    if !self.shared.lease(|lease| lease.is_given()) {
                        return Ended::HandedOver;
                    }
                    // One on another machine that has just died takes nothing over: it is to show
                    // first that it lives.
                    let number = self.shared.lease(|lease| lease.send(now()));
                    self.send_if_there_is_room(host_to_world::Body::Beat(Beat { number }));
                    self.leaving = Some(number);
                }
                _ = stats.tick() => self.send_stats(),
                _ = beats.tick() => {
                    if !self.shared.stalls.pass() {
                        return Ended::Stalled;
                    }
                    let (number, silence) = self.shared.lease(|lease| (lease.send(now()), lease.silence(now())));
                    if silence > DEAF_AFTER {
                        tracing::warn!("the WorldServer gave no sign of life for {} ms", silence.as_millis());
                        return self.lost();
                    }
                    self.send_if_there_is_room(host_to_world::Body::Beat(Beat { number }));
                }
            }
        }
    }

    fn lost(&self) -> Ended {
        if self.is_configured {
            Ended::LinkLost
        } else {
            Ended::Unserved
        }
    }

    fn handle(&mut self, body: world_to_host::Body) -> Result<(), String> {
        match body {
            world_to_host::Body::Configure(configure) => self.configure(&configure)?,
            world_to_host::Body::OpenRoom(order) => self.make(order),
            world_to_host::Body::CloseRoom(order) => {
                self.close(RoomId(order.room), order.reason());
            }
            body @ (world_to_host::Body::RemovePlayer(_)
            | world_to_host::Body::RenamePlayer(_)
            | world_to_host::Body::Roster(_)) => {
                self.of_player(body);
            }
            world_to_host::Body::LetGo(LetGo {
                room,
                player,
                number,
            }) => {
                self.cross(
                    room,
                    Input::LetGo {
                        player: PlayerId(player),
                        number,
                    },
                );
            }
            world_to_host::Body::Stay(Stay { room, player }) => {
                self.cross(
                    room,
                    Input::Stay {
                        player: PlayerId(player),
                    },
                );
            }
            world_to_host::Body::Admit(Admit {
                room,
                player,
                number,
                name,
                x,
                y,
                carried,
            }) => {
                let at = Position::on_ground(x, y);
                self.cross(
                    room,
                    Input::Admit {
                        player: PlayerId(player),
                        number,
                        name,
                        at,
                        carried,
                    },
                );
            }
            world_to_host::Body::Heard(heard) => {
                self.shared.lease(|lease| lease.hear(now(), heard.number))
            }
            world_to_host::Body::Kept(kept) => self.note_kept(kept.serial),
            world_to_host::Body::Drain(_) => {}
        }
        Ok(())
    }

    /// Word of a player of a room; the room's actor hears it once there is one.
    fn of_player(&mut self, body: world_to_host::Body) {
        let room = match &body {
            world_to_host::Body::RemovePlayer(order) => {
                self.void_tickets(order);
                order.room
            }
            world_to_host::Body::RenamePlayer(order) => order.room,
            world_to_host::Body::Roster(order) => order.room,
            _ => return,
        };
        match self.pending.get_mut(&RoomId(room)) {
            Some(pending) => pending.late.push(body),
            None => self.post(body),
        }
    }

    fn configure(&mut self, configure: &Configure) -> Result<(), String> {
        if configure.version != VERSION {
            return Err(format!(
                "the WorldServer speaks version {} of the host protocol, this host version {VERSION}: build both from \
                 the same source",
                configure.version
            ));
        }
        let verifier = TicketVerifier::new(&configure.ticket_key).ok_or_else(|| {
            "the WorldServer's ticket key is not an Ed25519 public key".to_owned()
        })?;
        let mut tickets = self
            .shared
            .tickets
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        // One of the same key knows which tickets were used and which are void.
        if tickets
            .as_ref()
            .is_none_or(|before| !before.has_same_key(&verifier))
        {
            *tickets = Some(verifier);
        }
        drop(tickets);
        self.is_configured = true;
        self.shared
            .stalls
            .guard(Duration::from_millis(configure.silence_ms.into()));
        (self.grace_ms, self.keep_rooms) = (configure.grace_ms, configure.keep_rooms);
        self.shared
            .lease(|lease| lease.begin(now(), Duration::from_millis(configure.lease_ms.into())));
        for inlet in &self.shared.rooms {
            inlet.post(Retell);
        }
        Ok(())
    }

    /// The WorldServer has all that was said of ticks up to this serial.
    fn note_kept(&self, serial: u64) {
        self.shared.written.send_if_modified(|written| {
            let is_newer = *written < serial;
            *written = serial.max(*written);
            is_newer
        });
    }

    /// Begins to make a room.
    fn make(&mut self, order: OpenRoom) {
        let room = RoomId(order.room);
        if let Err(error) = self.may_make(room) {
            return self.opened(room, Some(error));
        }
        self.pending.insert(room, Pending::default());
        let incarnation = order.incarnation;
        let header = Header {
            game: order.game,
            room: order.room,
            seed: order.seed,
            capacity: order.capacity,
            grace_ms: self.grace_ms,
            parameters: order.parameters.into_iter().collect(),
        };
        let resume = order.resume.map(|resume| {
            (
                RoomClock::showing(GameTime::from_micros(resume.now_us)),
                resume,
            )
        });
        let (shared, keep) = (Arc::clone(self.shared), self.keep_rooms);
        self.making.spawn_blocking(move || Made {
            room,
            incarnation,
            result: make_room(&shared, &header, resume, keep),
        });
    }

    fn may_make(&self, room: RoomId) -> Result<(), Error> {
        let rooms = self.shared.rooms.len() + self.pending.len();
        let capacity = self.shared.config.capacity;
        if self.shared.rooms.contains_key(&room) || self.pending.contains_key(&room) {
            return Err(codes::error(
                ErrorCode::AlreadyRunning,
                "the room runs already",
            ));
        }
        if rooms >= capacity as usize {
            return Err(codes::error(
                ErrorCode::NoHostAvailable,
                format!("this host holds {capacity} rooms at most"),
            ));
        }
        Ok(())
    }

    /// A room is made, or could not be.
    fn open(&mut self, made: Made) {
        let Made {
            room,
            incarnation,
            result,
        } = made;
        let Pending { unwanted, late } = self.pending.remove(&room).unwrap_or_default();
        match result {
            Err(error) => self.opened(room, Some(error)),
            Ok(_) if unwanted => {}
            Ok(mut parts) => {
                let first = parts.first.take();
                let begin = place(self.shared, room, incarnation, *parts);
                // Told before the first tick, which may be the last one.
                self.opened(room, None);
                if let Some(first) = first {
                    self.tell(host_to_world::Body::RoomSaved(first));
                }
                begin();
                for order in late {
                    self.post(order);
                }
            }
        }
    }

    fn opened(&self, room: RoomId, error: Option<Error>) {
        match &error {
            None => tracing::info!(room = room.0, "room opened"),
            Some(error) => tracing::warn!(
                room = room.0,
                code = error.name,
                "room not opened: {}",
                error.message
            ),
        }
        self.tell(host_to_world::Body::RoomOpened(RoomOpened {
            room: room.0,
            error,
        }));
    }

    fn close(&mut self, room: RoomId, reason: ErrorCode) {
        if let Some(pending) = self.pending.get_mut(&room) {
            pending.unwanted = true;
        }
        if let Some((_, inlet)) = self.shared.rooms.remove(&room) {
            tracing::info!(room = room.0, reason = codes::name(reason), "room closed");
            inlet.post(Close(reason));
        }
    }

    fn void_tickets(&self, order: &RemovePlayer) {
        let (room, player) = (RoomId(order.room), PlayerId(order.player));
        if let Some(verifier) = self
            .shared
            .tickets
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .as_mut()
        {
            verifier.revoke(unix_now_s(), room, player, order.void_tickets_until);
        }
    }

    fn post(&self, body: world_to_host::Body) {
        match body {
            world_to_host::Body::RemovePlayer(order) => {
                if let Some(inlet) = self.shared.rooms.get(&RoomId(order.room)) {
                    let (player, reason) = (PlayerId(order.player), order.reason());
                    inlet.post(Remove {
                        player,
                        reason,
                        void_tickets_until: order.void_tickets_until,
                    });
                }
            }
            world_to_host::Body::RenamePlayer(RenamePlayer { room, player, name }) => {
                if let Some(inlet) = self.shared.rooms.get(&RoomId(room)) {
                    inlet.post(Rename {
                        player: PlayerId(player),
                        name,
                    });
                }
            }
            world_to_host::Body::Roster(Roster {
                room,
                members,
                void_tickets_until,
            }) => {
                let members = members.unwrap_or_default();
                if let Some(tickets) = self
                    .shared
                    .tickets
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .as_mut()
                {
                    let sit = members.members.iter().map(|member| PlayerId(member.player));
                    tickets.revoke_all_but(
                        unix_now_s(),
                        RoomId(room),
                        sit.collect(),
                        void_tickets_until,
                    );
                }
                if let Some(inlet) = self.shared.rooms.get(&RoomId(room)) {
                    inlet.post(Muster {
                        members,
                        void_tickets_until,
                    });
                }
            }
            _ => {}
        }
    }

    fn cross(&self, room: u64, input: Input) {
        if let Some(inlet) = self.shared.rooms.get(&RoomId(room)) {
            inlet.post(Crossing(input));
        }
    }

    /// Stops all rooms between two ticks, and says what they are. Their players are told nothing:
    /// they go on elsewhere.
    async fn hand_over_all(&mut self) {
        self.making.abort_all();
        let rooms: Vec<RoomId> = self.shared.rooms.iter().map(|entry| *entry.key()).collect();
        let actors: Vec<_> = rooms
            .iter()
            .filter_map(|room| self.shared.rooms.remove(room))
            .collect();
        let told = actors.iter().map(|(_, inlet)| inlet.actor.send(HandOver));
        let _ = tokio::time::timeout(DRAIN_WITHIN, futures_util::future::join_all(told)).await;
        tracing::info!(rooms = actors.len(), "all rooms are handed over");
    }

    async fn close_all(&mut self, reason: ErrorCode) {
        self.making.abort_all();
        close_all(self.shared, reason).await;
    }

    fn send_stats(&mut self) {
        let stats = self.stats();
        self.send_if_there_is_room(host_to_world::Body::Stats(stats));
    }

    /// What newer ones make up for: figures, signs of life.
    fn send_if_there_is_room(&self, body: host_to_world::Body) {
        if self
            .news
            .try_send(HostToWorld { body: Some(body) })
            .is_err()
        {
            self.shared.counters.dropped(Drop::StatsFull);
        }
    }

    fn stats(&mut self) -> HostStats {
        let rooms = &self.shared.rooms;
        let tickets = self
            .shared
            .tickets
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        HostStats {
            rooms: rooms.len() as u32,
            players: rooms.iter().map(|inlet| inlet.players()).sum(),
            tickets_refused: tickets
                .as_ref()
                .map(|verifier| {
                    verifier
                        .refusals()
                        .map(|(reason, count)| (reason.name().to_owned(), count))
                        .collect()
                })
                .unwrap_or_default(),
            cpu_permille: self.cpu.permille(),
            room_loads: self.room_loads(),
            ..self.shared.counters.read()
        }
    }

    /// Of the rooms that have most to bear.
    fn room_loads(&self) -> Vec<RoomLoad> {
        let loads = self
            .shared
            .rooms
            .iter()
            .map(|inlet| (*inlet.key(), inlet.load()));
        let mut loads: Vec<_> = loads
            .filter(|(_, regions)| !regions.loads.is_empty())
            .collect();
        loads.sort_by_key(|(room, regions)| {
            let total = regions.total();
            (std::cmp::Reverse((total.changes, total.objects)), *room)
        });
        loads.truncate(MOST_LOADS);
        let figures = |regions: &RegionLoads, of: fn(&CellLoad) -> u32| {
            regions.loads.iter().map(of).collect()
        };
        let said = loads.iter().map(|(room, regions)| RoomLoad {
            room: room.0,
            columns: regions.columns.into(),
            rows: regions.rows.into(),
            edge_cells: regions.edge_cells.into(),
            objects: figures(regions, |load| load.objects),
            players: figures(regions, |load| load.players),
            changes: figures(regions, |load| load.changes),
        });
        said.collect()
    }

    fn ready(&self) -> HostReady {
        let config = &self.shared.config;
        HostReady {
            version: VERSION,
            address: config.address.clone(),
            certificate_sha256: config.fingerprint.0.to_vec(),
            capacity: config.capacity,
            label: config.label.clone(),
            key: config.key.clone(),
            cores: self.shared.arbiters.len() as u32,
            instance: self.shared.instance.to_vec(),
            rooms: self
                .shared
                .rooms
                .iter()
                .map(|entry| room_here(*entry.key(), entry.value()))
                .collect(),
            build: config.build.clone(),
        }
    }

    fn tell(&self, body: host_to_world::Body) {
        self.shared.tell(HostToWorld { body: Some(body) });
    }

    /// `false` when the WorldServer has not read for so long that the link is as good as gone.
    fn forward(&self, message: HostToWorld) -> bool {
        self.news.try_send(message).is_ok()
    }
}

fn room_here(room: RoomId, inlet: &RoomInlet) -> RoomHere {
    RoomHere {
        room: room.0,
        incarnation: inlet.incarnation,
    }
}

pub(super) async fn close_all(shared: &Shared, reason: ErrorCode) {
    let rooms: Vec<RoomId> = shared.rooms.iter().map(|entry| *entry.key()).collect();
    let actors: Vec<_> = rooms
        .iter()
        .filter_map(|room| shared.rooms.remove(room))
        .collect();
    let told = actors
        .iter()
        .map(|(_, inlet)| inlet.actor.send(Close(reason)));
    let _ = tokio::time::timeout(DRAIN_WITHIN, futures_util::future::join_all(told)).await;
}

/// Drops what rooms say while there is no link: the next one begins with all that they are. (A
/// player who leaves meanwhile is in the lobby's room until the grace period is over.)
pub(super) async fn drop_news(news: &mut mpsc::Receiver<HostToWorld>) {
    while news.recv().await.is_some() {}
}

#[expect(clippy::disallowed_methods, reason = "a shell's clock")]
fn now() -> Instant {
    Instant::now()
}

/// Everything about a new room that takes time: its first tick, at room time zero, puts up the
/// world; or it goes on where it was elsewhere. The game's code may panic here too.
fn make_room(
    shared: &Shared,
    header: &Header,
    resume: Option<(RoomClock, Resume)>,
    keep: bool,
) -> Result<Box<Parts>, Error> {
    catch_unwind(AssertUnwindSafe(|| {
        let (config, game) = shared.registry.prepare(header)?;
        let HostConfig { trace, record, .. } = &shared.config;
        let config = RoomConfig {
            trace: trace.is_some(),
            ..config
        };
        // A recording begins with the beginning.
        let record = record.as_deref().filter(|_| resume.is_none());
        let (mut room, clock) = match resume {
            None => (Room::new(config, game), None),
            Some((clock, resume)) => {
                let room = take_up(config, game, || clock.now(), &resume).map_err(|bad| {
                    codes::error(
                        ErrorCode::ServerError,
                        format!("the room can't go on here: {bad}"),
                    )
                })?;
                (room, Some(clock))
            }
        };
        let lost = Arc::clone(&shared.counters);
        let mut files =
            RoomFiles::open(trace.as_deref(), record, header, &room, lost).map_err(|error| {
                codes::error(
                    ErrorCode::ServerError,
                    format!("the room's files can't be made: {error}"),
                )
            })?;
        if clock.is_none() {
            files.record(GameTime::ZERO, &[]);
            room.tick(GameTime::ZERO, &mut Vec::new(), &mut Vec::new());
        }
        files.trace(room.trace());
        let (keeper, first) = keep
            .then(|| Keeper::of(RoomId(header.room), &room))
            .flatten()
            .unzip();
        Ok(Box::new(Parts {
            room,
            files,
            capacity: header.capacity,
            clock,
            keeper,
            first: first.flatten(),
        }))
    }))
    .unwrap_or_else(|_| {
        Err(codes::error(
            ErrorCode::ServerError,
            "the game's code panicked while the room was made",
        ))
    })
}

/// Gives a room its actor and lets players in. It ticks from the moment at which the returned call
/// is made.
fn place(shared: &Arc<Shared>, id: RoomId, incarnation: u32, parts: Parts) -> impl FnOnce() {
    let Parts {
        room,
        files,
        capacity,
        clock,
        keeper,
        ..
    } = parts;
    let (clock, pulse) = (
        clock.unwrap_or_else(RoomClock::start),
        Arc::new(Pulse::default()),
    );
    let (tick_hz, last) = (room.config().tick_hz, room.last_tick().unwrap_or_default());
    let place = shared.place_room();
    let arbiter = place.arbiter.clone();
    let (inbox, outlet) = (
        Arc::new(Inbox::default()),
        Outlet::new(
            Arc::clone(&shared.counters),
            shared.gate(),
            Arc::clone(&shared.stalls),
        ),
    );
    let actor = GameServer::start_in_arbiter(&arbiter, {
        let (shared, pulse, inbox) = (Arc::clone(shared), Arc::clone(&pulse), Arc::clone(&inbox));
        move |_| {
            GameServer::new(Setup {
                id,
                capacity,
                room,
                files,
                keeper,
                clock,
                pulse,
                place,
                inbox,
                outlet,
                shared,
            })
        }
    });
    let inlet = RoomInlet::new(
        actor.clone(),
        clock,
        inbox,
        incarnation,
        capacity,
        Arc::clone(&shared.counters),
    );
    shared.rooms.insert(id, Arc::new(inlet));
    let clock_thread = shared.clock_thread.clone();
    move || clock_thread.add(clock, tick_hz, last, pulse, ticker(actor))
}
