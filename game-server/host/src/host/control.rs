//! The shell around [`HostCore`]: one task that carries between the
//! core, the link to the WorldServer, and the rooms.
//!
//! Rooms are made on a thread of their own, so that a large map holds up nothing else: neither the
//! other rooms' ticks nor the next message.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use ambit_host_protocol::generated::HostToWorld;
use ambit_proto::codes::{self, ErrorCode};
use ambit_proto::control::world::Error;
use ambit_proto::ids::RoomId;
use ambit_proto::time::GameTime;
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use super::Shared;
use super::actor::{Order, RoomActor, RoomSetup, log_panic, tick_sender};
use super::counters::DropReason;
use super::cpu::CpuMeter;
use super::inbox::Inbox;
use super::inlet::{RoomFigures, RoomInlet};
use super::late_rooms::{LateRooms, TickLosses};
use super::measured_game::{CallbackTimes, MeasuredGame};
use super::outlet::Outlet;
use super::room_thread::RoomThread;
use crate::clock_thread::{Progress, TickState, TickingRoom};
use crate::host_core::clock::RoomClock;
use crate::host_core::making::{MadeRoom, RoomPlan};
use crate::host_core::room_task::RoomTask;
use crate::host_core::{HostCore, HostEnding, HostOutput};
use crate::host_link::HostEnd;
use crate::room_files::RoomFiles;
use ambit_host_protocol::messages::HostMessage;
use ambit_host_protocol::protobuf::{messages_of, order_of};
use ambit_host_protocol::stats::{HostStats, RoomCallbacks, RoomLoad};
use ambit_room::logic::game::Game;
use ambit_room::network::load_level::LoadLevel;
use ambit_room::network::loads::{CellLoad, RegionLoads};
use ambit_room::tick_schedule::TickSchedule;

/// Rooms of which a report has the cost of their regions: those that a cut would be for.
const MOST_LOADS: usize = 16;

/// Rooms of which a report has the times of their games.
const MOST_CALLBACKS: usize = 16;

/// How long a host that ends its rooms waits until their clients have the message.
const ROOMS_WITHIN: Duration = Duration::from_secs(2);

/// The result of making a room.
struct Made {
    room: RoomId,
    incarnation: u32,
    result: Result<Box<RoomParts>, Error>,
}

/// A room that can start.
struct RoomParts {
    new: MadeRoom,
    files: RoomFiles,
    thread: RoomThread,
    callbacks: Arc<CallbackTimes>,
}

pub(super) struct ControlShell<'a> {
    shared: &'a Arc<Shared>,
    /// `None` between two links.
    link: Option<mpsc::Sender<HostToWorld>>,
    making: JoinSet<Made>,
    /// Rooms that were made, until the core says what becomes of them.
    made: BTreeMap<RoomId, Box<RoomParts>>,
    /// Orders to rooms to end.
    ending_rooms: Vec<JoinHandle<()>>,
    /// Whether a room did not take its order to end.
    has_stuck_room: bool,
    ending: Option<HostEnding>,
    cpu: CpuMeter,
    late_rooms: LateRooms,
}

impl<'a> ControlShell<'a> {
    pub(super) fn new(shared: &'a Arc<Shared>) -> Self {
        Self {
            shared,
            link: None,
            making: JoinSet::new(),
            made: BTreeMap::new(),
            ending_rooms: Vec::new(),
            has_stuck_room: false,
            ending: None,
            cpu: CpuMeter::start(),
            late_rooms: LateRooms::default(),
        }
    }

    pub(super) async fn serve(
        mut self,
        messages: &mut mpsc::Receiver<HostMessage>,
        link: HostEnd,
        stop: &CancellationToken,
    ) -> HostEnding {
        // These were sent without a link.
        self.forward_all(messages);
        let mut orders = link.orders;
        self.link = Some(link.messages);
        self.shared.with_lease(HostCore::connect);
        let mut is_stopping = false;
        let shared = self.shared;
        let ending = loop {
            self.carry_out();
            if let Some(ending) = self.ending.take() {
                break ending;
            }
            let deadline = self.shared.core().next_deadline();
            tokio::select! {
                order = orders.recv() => match order.map(order_of) {
                    Some(Some(order)) => self.shared.with_lease(|core, now, lease| {
                        core.handle_order(now, lease, order);
                    }),
                    Some(None) => tracing::warn!(
                        "the WorldServer has sent an order that this build does not know"
                    ),
                    None => self.lose_link(),
                },
                Some(message) = messages.recv() => {
                    self.shared.core().handle_room_message(message);
                }
                Some(made) = self.making.join_next() => {
                    self.take_made(made.expect("making a room does not panic"));
                }
                () = stop.cancelled(), if !is_stopping => {
                    is_stopping = true;
                    self.shared.with_lease(HostCore::handle_stop);
                }
                () = shared.sleep_until(deadline) => self.shared.with_lease(|core, now, lease| {
                    core.handle_timeout(now, lease);
                }),
            }
        };
        if ending != HostEnding::Stalled {
            let had_rooms = self.has_stuck_room || !self.ending_rooms.is_empty();
            let have_ended = self.wait_for_rooms().await;
            self.forward_all(messages);
            if ending == HostEnding::HandedOver && had_rooms {
                if have_ended {
                    tracing::info!("all rooms are handed over");
                } else {
                    tracing::warn!(
                        "not all rooms are handed over after {} s",
                        ROOMS_WITHIN.as_secs()
                    );
                }
            }
        }
        self.shared.core().disconnect();
        ending
    }

    /// Lets time pass without a link.
    pub(super) async fn wait(
        &mut self,
        messages: &mut mpsc::Receiver<HostMessage>,
        pause: Duration,
    ) {
        let shared = self.shared;
        let pause = tokio::time::sleep(pause);
        tokio::pin!(pause);
        loop {
            self.carry_out();
            let deadline = self.shared.core().next_deadline();
            tokio::select! {
                () = &mut pause => return,
                Some(message) = messages.recv() => {
                    self.shared.core().handle_room_message(message);
                }
                () = shared.sleep_until(deadline) => self.shared.with_lease(|core, now, lease| {
                    core.handle_timeout(now, lease);
                }),
            }
        }
    }

    /// Waits until the rooms have carried out their orders to end. Returns whether all have done so
    /// in time.
    pub(super) async fn wait_for_rooms(&mut self) -> bool {
        let ending = futures_util::future::join_all(self.ending_rooms.drain(..));
        let in_time = tokio::time::timeout(ROOMS_WITHIN, ending).await.is_ok();
        in_time && !self.has_stuck_room
    }

    fn forward_all(&mut self, messages: &mut mpsc::Receiver<HostMessage>) {
        while let Ok(message) = messages.try_recv() {
            self.shared.core().handle_room_message(message);
        }
        self.carry_out();
    }

    /// Carries out what the core has put out.
    pub(super) fn carry_out(&mut self) {
        loop {
            let output = self.shared.core().poll();
            match output {
                None => return,
                Some(HostOutput::World(message)) => self.send(message),
                Some(HostOutput::SendStats) => {
                    self.shared.parted_clients.close_late(self.shared.clock.now());
                    let stats = Box::new(self.stats());
                    self.send(HostMessage::Stats(stats));
                }
                Some(HostOutput::MakeRoom(plan)) => self.make(*plan),
                Some(HostOutput::StartRoom { room, incarnation, clock }) => {
                    if let Some(parts) = self.made.remove(&room) {
                        start_room(self.shared, room, incarnation, clock, *parts);
                    }
                }
                Some(HostOutput::DiscardRoom(room)) => drop(self.made.remove(&room)),
                Some(HostOutput::Room(room, task)) => self.pass_on(room, task),
                Some(HostOutput::JournalAcknowledged(number)) => {
                    self.shared.journal_acknowledged.send_if_modified(|kept| {
                        let is_newer = *kept < number;
                        *kept = number.max(*kept);
                        is_newer
                    });
                }
                Some(HostOutput::End(ending)) => self.ending = Some(ending),
            }
        }
    }

    fn send(&mut self, message: HostMessage) {
        let Some(link) = &self.link else { return };
        let is_expendable = message.is_expendable();
        let mut messages = messages_of(message).into_iter();
        if messages.all(|message| link.try_send(message).is_ok()) {
            return;
        }
        if is_expendable {
            self.shared.counters.dropped(DropReason::StatsFull);
        } else {
            // The WorldServer has not read for a long time: the link counts as lost.
            self.lose_link();
        }
    }

    fn lose_link(&self) {
        self.shared.with_lease(|core, now, lease| core.handle_link_lost(now, lease));
    }

    fn pass_on(&mut self, room: RoomId, task: RoomTask) {
        if !matches!(task, RoomTask::Close(_) | RoomTask::HandOver) {
            if let Some(inlet) = self.shared.rooms.get(&room) {
                let _ = inlet.post(Order(task));
            }
        } else if let Some((_, inlet)) = self.shared.rooms.remove(&room) {
            self.ending_rooms.retain(|ending| !ending.is_finished());
            match inlet.post(Order(task)) {
                Some(ending) => self.ending_rooms.push(ending),
                None => self.has_stuck_room = true,
            }
        }
    }

    fn make(&mut self, plan: RoomPlan) {
        let shared = Arc::clone(self.shared);
        self.making.spawn_blocking(move || Made {
            room: RoomId(plan.header.room),
            incarnation: plan.incarnation,
            result: make_room(&shared, plan),
        });
    }

    fn take_made(&mut self, made: Made) {
        let Made { room, incarnation, result } = made;
        let now = self.shared.time();
        let result = result.map(|mut parts| {
            let snapshot = parts.new.snapshot.take();
            self.made.insert(room, parts);
            snapshot
        });
        self.shared.core().handle_made(now, room, incarnation, result);
    }

    fn stats(&mut self) -> HostStats {
        let rooms = &self.shared.rooms;
        let tickets_refused = self
            .shared
            .core()
            .refused_tickets()
            .map(|(reason, count)| (reason.name().to_owned(), count))
            .collect();
        let lateness = rooms.iter().map(|inlet| {
            let RoomFigures { ticks_skipped, load_level, .. } = *inlet.figures.lock();
            TickLosses { room: *inlet.key(), ticks_skipped, load_level: load_level.number() }
        });
        let now = self.shared.clock.now();
        let late_rooms = self.late_rooms.list(now, lateness);
        HostStats {
            rooms: rooms.len() as u32,
            players: rooms.iter().map(|inlet| inlet.figures.lock().players).sum(),
            tickets_refused,
            rooms_late: rooms.iter().filter(|inlet| is_late(inlet)).count() as u32,
            late_rooms,
            cpu_permille: self.cpu.permille(),
            room_loads: self.room_loads(),
            room_callbacks: self.room_callbacks(),
            unplayed_rooms: self.unplayed_rooms(),
            ticket_time_unix_s: self.shared.time().ticket_unix_s,
            web_certificates_sha256: self.shared.config.web_certificates.to_message(),
            game_counts: self.shared.game_counts.lock().clone(),
            kind_bits: self.shared.kind_bits.lock().clone(),
            ..self.shared.counters.read()
        }
    }

    /// The rooms whose games have taken the most time.
    fn room_callbacks(&self) -> Vec<RoomCallbacks> {
        let rooms = self.shared.rooms.iter();
        let mut rooms: Vec<_> = rooms
            .map(|inlet| RoomCallbacks { room: *inlet.key(), callbacks: inlet.callbacks.read() })
            .collect();
        rooms.sort_by_cached_key(|room| {
            Reverse(room.callbacks.iter().map(|time| time.nanos).sum::<u64>())
        });
        rooms.truncate(MOST_CALLBACKS);
        rooms
    }

    /// The rooms to which no client is connected.
    fn unplayed_rooms(&self) -> Vec<RoomId> {
        let rooms = self.shared.rooms.iter();
        let unplayed = rooms.filter(|inlet| inlet.figures.lock().clients == 0);
        unplayed.map(|inlet| *inlet.key()).collect()
    }

    /// The loads of the rooms with the most changes.
    fn room_loads(&self) -> Vec<RoomLoad> {
        let loads =
            self.shared.rooms.iter().map(|inlet| (*inlet.key(), inlet.figures.lock().load.clone()));
        let mut loads: Vec<_> = loads.filter(|(_, regions)| !regions.loads.is_empty()).collect();
        loads.sort_by_key(|(room, regions)| {
            let total = regions.total();
            (Reverse((total.changes, total.objects)), *room)
        });
        loads.truncate(MOST_LOADS);
        let figures = |regions: &RegionLoads, of: fn(&CellLoad) -> u32| {
            regions.loads.iter().map(of).collect()
        };
        let reported = loads.iter().map(|(room, regions)| RoomLoad {
            room: *room,
            columns: regions.columns.into(),
            rows: regions.rows.into(),
            edge_cells: regions.edge_cells.into(),
            objects: figures(regions, |load| load.objects),
            players: figures(regions, |load| load.players),
            changes: figures(regions, |load| load.changes),
        });
        reported.collect()
    }
}

fn is_late(inlet: &RoomInlet) -> bool {
    inlet.figures.lock().load_level > LoadLevel::NONE
}

/// Everything about a new room that takes time. The game's code may panic here too.
fn make_room(shared: &Shared, plan: RoomPlan) -> Result<Box<RoomParts>, Error> {
    let id = RoomId(plan.header.room);
    let callbacks = Arc::new(CallbackTimes::default());
    let game = plan.header.game.clone();
    let made = catch_unwind(AssertUnwindSafe(|| {
        let trace = &shared.config.trace;
        let record = &shared.config.record;
        let callbacks = Arc::clone(&callbacks);
        let times = Arc::clone(&callbacks);
        let measured = |game| -> Box<dyn Game> { Box::new(MeasuredGame::new(game, times)) };
        let prepared =
            plan.prepare(&shared.registry, trace.is_some(), measured, || shared.clock.now())?;
        let files = RoomFiles::open(
            trace.as_deref(),
            record.as_ref(),
            &prepared,
            Arc::clone(&shared.counters),
            &shared.open_files,
        );
        // A full disk ends no game.
        let mut files = files.unwrap_or_else(|error| {
            tracing::error!(
                room = id.0,
                "the room runs without a trace and a recording: its files can't be made: {error}"
            );
            shared.counters.dropped(DropReason::FilesNotMade);
            RoomFiles::default()
        });
        let new = prepared.finish(|now| files.record(now, &[]));
        files.trace(new.host.room().trace());
        let thread = RoomThread::start(id).map_err(|error| {
            codes::error(
                ErrorCode::ServerError,
                format!("the room's thread can't be started: {error}"),
            )
        })?;
        Ok(Box::new(RoomParts { new, files, thread, callbacks }))
    }));
    made.unwrap_or_else(|panic| {
        let consequence = "the room was not made";
        log_panic(id, &game, GameTime::ZERO, &callbacks, &*panic, consequence);
        Err(codes::error(
            ErrorCode::ServerError,
            "the game's code panicked while the room was made",
        ))
    })
}

/// Gives a room its actor, admits players, and ticks it from now on.
fn start_room(
    shared: &Arc<Shared>,
    id: RoomId,
    incarnation: u32,
    clock: RoomClock,
    parts: RoomParts,
) {
    let RoomParts { new, files, thread, callbacks } = parts;
    let room = new.host;
    let capacity = room.capacity();
    let last = room.room().last_tick().unwrap_or_default();
    let schedule = TickSchedule::after(room.room().config().tick_hz, last);
    let inbox = Arc::new(Inbox::default());
    let ticks = Arc::new(TickState::default());
    ticks.set_asleep(room.is_asleep());
    let setup = RoomSetup {
        id,
        incarnation,
        room,
        files,
        clock,
        ticks: Arc::clone(&ticks),
        inbox: Arc::clone(&inbox),
        outlet: Outlet::new(Arc::clone(shared), id),
        callbacks: Arc::clone(&callbacks),
        shared: Arc::clone(shared),
    };
    let actor = thread.run(RoomActor::new(setup));
    let counters = Arc::clone(&shared.counters);
    let inlet =
        RoomInlet::new(actor.clone(), clock, inbox, incarnation, capacity, counters, callbacks);
    shared.rooms.insert(id, Arc::new(inlet));
    shared.clock_thread.add(TickingRoom {
        id,
        clock,
        schedule,
        state: ticks,
        send: tick_sender(actor),
        progress: Progress::default(),
    });
}
