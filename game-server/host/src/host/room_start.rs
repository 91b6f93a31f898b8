//! A room on its way to its thread: made, and then started.
//!
//! Rooms are made on a thread of their own, so that a large map holds up nothing else: neither the
//! other rooms' ticks nor the owner's next message.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use ambit_proto::codes::{self, ErrorCode};
use ambit_proto::control::world::Error;
use ambit_proto::ids::RoomId;
use ambit_proto::time::GameTime;
use ambit_room::logic::game::Game;
use ambit_room::tick_schedule::TickSchedule;
use tokio::sync::oneshot;

use super::counters::DropReason;
use super::inbox::Inbox;
use super::inlet::{RoomInlet, WayIn};
use super::measured_game::{CallbackTimes, MeasuredGame};
use super::outlet::Outlet;
use super::room_shell::{RoomSetup, RoomShell, log_panic};
use super::room_thread::RoomThread;
use super::shared::Shared;
use crate::clock_thread::{Progress, TickState, TickingRoom};
use crate::room_files::RoomFiles;
use ambit_host_core::clock::RoomClock;
use ambit_host_core::making::{MadeRoom, RoomPlan};

/// A room that can start.
pub(super) struct RoomParts {
    pub(super) new: MadeRoom,
    files: RoomFiles,
    thread: RoomThread,
    callbacks: Arc<CallbackTimes>,
}

/// Everything about a new room that takes time. The game's code may panic here too.
pub(super) fn make_room(shared: &Shared, plan: RoomPlan) -> Result<Box<RoomParts>, Error> {
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

/// Gives a room to its thread, admits players, and ticks it from now on. Returns what ends with the
/// room, however it ends.
pub(super) fn start_room(
    shared: &Arc<Shared>,
    id: RoomId,
    incarnation: u32,
    clock: RoomClock,
    parts: RoomParts,
) -> oneshot::Receiver<()> {
    let RoomParts { new, files, thread, callbacks } = parts;
    let room = new.host;
    let capacity = room.capacity();
    let last = room.room().last_tick().unwrap_or_default();
    let schedule = TickSchedule::after(room.room().config().tick_hz, last);
    let inbox = Arc::new(Inbox::default());
    let ticks = Arc::new(TickState::default());
    ticks.set_asleep(room.is_asleep());
    let saved_from = Arc::<AtomicU64>::default();
    let (life, end) = oneshot::channel();
    let setup = RoomSetup {
        id,
        incarnation,
        room,
        files,
        clock,
        ticks: Arc::clone(&ticks),
        inbox: Arc::clone(&inbox),
        outlet: Outlet::new(Arc::clone(shared), Arc::clone(&saved_from)),
        saved_from: Arc::clone(&saved_from),
        callbacks: Arc::clone(&callbacks),
        shared: Arc::clone(shared),
        _life: life,
    };
    let mailbox = thread.run(RoomShell::new(setup));
    let way_in = WayIn { mailbox: mailbox.clone(), clock, inbox, incarnation, seats: capacity };
    let inlet = RoomInlet::new(way_in, saved_from, Arc::clone(&shared.counters), callbacks);
    shared.rooms.insert(id, Arc::new(inlet));
    let host = Arc::clone(shared);
    let give_up = Box::new(move || host.give_up_room(id, incarnation));
    shared.clock_thread.add(TickingRoom {
        id,
        clock,
        schedule,
        state: ticks,
        send: Box::new(move |due| mailbox.try_tick(due)),
        give_up,
        progress: Progress::default(),
    });
    end
}
