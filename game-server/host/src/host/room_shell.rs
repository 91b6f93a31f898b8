//! The shell of one room: what its thread runs.
//!
//! Ticks, clients and orders come in through a bounded mailbox, datagrams through the room's inbox.
//! They go to the room's core ([`RoomHost`]), and what that puts out goes to the connections and to
//! the WorldServer.
//!
//! What always holds: a panic of the room ends this room and nothing else. The room owns no lock,
//! thread or handle that anything waits for, so it is dropped, its players get the reason, and the
//! WorldServer gets `RoomClosed`.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use ambit_proto::codes::ErrorCode;
use ambit_proto::control::game::{GameToClient, game_to_client};
use ambit_proto::ids::{ClientId, RoomId};
use ambit_proto::time::GameTime;
use tokio::sync::{mpsc, oneshot};

use super::control_stream::{self, Control, GameConnection, UNREAD};
use super::counters::DropReason;
use super::inbox::{Arrived, Inbox};
use super::measured_game::CallbackTimes;
use super::outlet::Outlet;
use super::room_mailbox::{NewClient, RoomCall, WaitingCall};
use super::shared::{Shared, time_since_1970};
use crate::clock_thread::TickState;
use crate::room_files::RoomFiles;
use ambit_host_core::clock::RoomClock;
use ambit_host_core::room_host::{RoomHost, RoomHostOutput};
use ambit_host_core::room_task::RoomTask;
use ambit_host_core::tick_loss::TickCount;
use ambit_room::network::load_level::LoadLevel;
use ambit_room::stats::RoomStats;

/// A room logs that its confirmations are late at most once in this time.
const LOG_INTERVAL: Duration = Duration::from_secs(10);

/// What a room's shell begins with.
pub(crate) struct RoomSetup {
    pub(crate) id: RoomId,
    pub(crate) incarnation: u32,
    pub(crate) room: RoomHost,
    pub(crate) files: RoomFiles,
    pub(crate) clock: RoomClock,
    pub(crate) ticks: Arc<TickState>,
    pub(crate) inbox: Arc<Inbox>,
    pub(crate) outlet: Outlet,
    /// From which journal entry on the WorldServer can restore the room.
    pub(crate) saved_from: Arc<AtomicU64>,
    /// Which call of the game has panicked.
    pub(crate) callbacks: Arc<CallbackTimes>,
    pub(crate) shared: Arc<Shared>,
    /// Dropped with the shell, which tells the owner that the room has ended.
    pub(crate) _life: oneshot::Sender<()>,
}

pub(crate) struct RoomShell {
    setup: RoomSetup,
    connections: BTreeMap<ClientId, GameConnection>,
    /// When the log last said that confirmations are late.
    logged_late: Option<GameTime>,
    /// Empty between ticks; kept for its memory.
    arrived: Vec<Arrived>,
    reported: RoomStats,
    /// What the game has counted, as far as it is reported.
    reported_counts: BTreeMap<&'static str, u64>,
    load_level: LoadLevel,
    has_ended: bool,
}

impl RoomShell {
    pub(crate) fn new(setup: RoomSetup) -> Self {
        Self {
            setup,
            connections: BTreeMap::new(),
            logged_late: None,
            arrived: Vec::new(),
            reported: RoomStats::default(),
            reported_counts: BTreeMap::new(),
            load_level: LoadLevel::NONE,
            has_ended: false,
        }
    }

    /// Carries out what comes, until the room ends.
    pub(super) fn run(mut self, mut calls: mpsc::Receiver<WaitingCall>) {
        self.setup.ticks.begin_on_this_thread();
        self.setup.shared.threads.add_this_thread();
        while let Some(WaitingCall { call, caller }) = calls.blocking_recv() {
            self.handle(call);
            caller.note_done();
            if self.has_ended {
                return;
            }
        }
    }

    fn handle(&mut self, call: RoomCall) {
        match call {
            RoomCall::Tick(due) => {
                self.setup.ticks.took_one();
                self.tick(due);
                if self.setup.ticks.has_stopped() {
                    // It was given up meanwhile, and nothing of this tick counts.
                    self.has_ended = true;
                    return;
                }
                self.carry_out();
                self.report();
                return;
            }
            RoomCall::Attach(new) => {
                let NewClient { client, admitted, connection } = *new;
                let now = self.now();
                self.connections.insert(client, connection);
                self.setup.room.handle_join(now, client, admitted);
            }
            RoomCall::Detach(client) => {
                self.connections.remove(&client);
                // What arrived before the end still counts.
                self.gather();
                self.setup.room.handle_closed(client);
            }
            RoomCall::Left(client) => self.setup.room.handle_leave(client),
            RoomCall::Order(task) => self.order(task),
        }
        self.carry_out();
    }

    fn now(&self) -> GameTime {
        self.setup.clock.room_time(self.setup.shared.clock.now())
    }

    #[expect(clippy::disallowed_methods, reason = "the duration of a tick is measured here")]
    fn tick(&mut self, due: GameTime) {
        let late = self.now().since(due);
        self.gather();
        self.note_kept(due);
        let RoomSetup { id, room, files, ticks, shared, .. } = &mut self.setup;
        if room.is_over() {
            return room.tick(due);
        }
        room.note_calendar(due, time_since_1970().as_millis() as u64);
        files.record(due, room.inputs());
        // What the game and the room log belongs to this room.
        let _room = tracing::error_span!("room", id = id.0).entered();
        let started = Instant::now();
        let ticked = catch_unwind(AssertUnwindSafe(|| room.tick(due)));
        let work = started.elapsed();
        shared.counters.ticked(work, late);
        let skipped = ticks.take_skipped();
        if skipped > 0 {
            shared.counters.skipped(skipped);
            if let Some(inlet) = shared.rooms.get(id) {
                inlet.figures.lock().ticks_skipped += skipped;
            }
        }
        match ticked {
            Ok(()) => {
                files.trace(room.room().trace());
                files.record_state(room.room());
                room.handle_work(due, work, skipped);
            }
            Err(panic) => {
                self.log_panic(due, &*panic, "the room is closed");
                self.setup.room.handle_panic();
            }
        }
    }

    /// Passes on what has arrived since the last time.
    fn gather(&mut self) {
        self.setup.inbox.swap(&mut self.arrived);
        for (client, at, bytes) in self.arrived.drain(..) {
            self.setup.room.handle_datagram(client, at, bytes);
        }
    }

    fn order(&mut self, task: RoomTask) {
        let now = self.now();
        let room = &mut self.setup.room;
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| room.handle_task(now, task))) {
            let last = self.setup.room.room().last_tick().unwrap_or_default();
            let consequence = "the room is handed over without a last snapshot";
            self.log_panic(last, &*panic, consequence);
            self.setup.room.handle_panic_in_hand_over();
        }
    }

    fn log_panic(&self, at: GameTime, panic: &(dyn Any + Send), consequence: &str) {
        let RoomSetup { id, room, callbacks, .. } = &self.setup;
        log_panic(*id, &room.room().world().schema().game, at, callbacks, panic, consequence);
    }

    /// Carries out what the room has put out.
    fn carry_out(&mut self) {
        while let Some(output) = self.setup.room.poll() {
            let shared = &self.setup.shared;
            match output {
                RoomHostOutput::Journal(entry) => {
                    let number = shared.send_journal(self.setup.id, entry);
                    let now = shared.clock.now();
                    self.setup.room.note_entry(now, number);
                }
                RoomHostOutput::Datagram { client, bytes } => {
                    if let Some(to) = self.connections.get(&client) {
                        self.setup.outlet.put(&to.connection, bytes);
                    }
                }
                RoomHostOutput::Message { client, body } => {
                    if let Some(to) = self.connections.get(&client) {
                        self.send(to, Control::Message(message(body)));
                    }
                }
                RoomHostOutput::LastMessage { client, body, code } => {
                    if let Some(to) = self.connections.remove(&client) {
                        self.send(&to, Control::Last(message(body), code));
                    }
                }
                RoomHostOutput::Disconnect { client, code, reason } => {
                    if let Some(to) = self.connections.remove(&client) {
                        control_stream::close(&to.connection, code, reason);
                    }
                }
                RoomHostOutput::World(message) => shared.send(message),
                RoomHostOutput::LoadLevel(level) => self.note_load_level(level),
                RoomHostOutput::TickLoss { is_losing, ticks } => {
                    self.log_tick_loss(is_losing, ticks);
                }
                RoomHostOutput::Sleep(sleeps) => {
                    self.setup.ticks.set_asleep(sleeps);
                    if !sleeps {
                        shared.clock_thread.poke();
                    }
                }
                RoomHostOutput::Ended => self.end(),
                RoomHostOutput::HandedOver => {
                    self.setup.inbox.close();
                    let connections = std::mem::take(&mut self.connections);
                    shared.parted_clients.add(shared.clock.now(), connections.into_values());
                    self.end();
                }
            }
        }
        let RoomSetup { room, outlet, shared, .. } = &mut self.setup;
        let now = shared.clock.now();
        let after = room.release_after();
        outlet.flush(now, after, &shared.counters);
    }

    /// Tells the room what it may confirm at the coming tick.
    fn note_kept(&mut self, due: GameTime) {
        let RoomSetup { id, room, saved_from, shared, .. } = &mut self.setup;
        let was_late = room.is_confirming_late();
        let has_lease = shared.published.permit.has_lease();
        room.note_kept(shared.clock.now(), shared.journal_acknowledged(saved_from), has_lease);
        let may_log = |at| due.since(at) >= LOG_INTERVAL;
        if room.is_confirming_late() && !was_late && self.logged_late.is_none_or(may_log) {
            self.logged_late = Some(due);
            tracing::warn!(
                room = id.0,
                "the WorldServer's receipts for this room's journal are late: the room goes on, \
                 and players' commands are confirmed when the receipts are there"
            );
        }
    }

    fn note_load_level(&mut self, level: LoadLevel) {
        let before = std::mem::replace(&mut self.load_level, level);
        let RoomSetup { id, shared, .. } = &self.setup;
        if let Some(inlet) = shared.rooms.get(id) {
            inlet.figures.lock().load_level = level;
        }
        let room = id.0;
        match (before, level) {
            (LoadLevel::NONE, _) => tracing::warn!(
                room,
                "the room's ticks take longer than they may: it sends far objects less often, and \
                 loses ticks if that is not enough"
            ),
            (_, LoadLevel::NONE) => tracing::info!(room, "the room is in time again"),
            (_, level) => tracing::debug!(room, level = level.number(), "the room's load level"),
        }
    }

    fn log_tick_loss(&self, is_losing: bool, TickCount { run, due }: TickCount) {
        let room = self.setup.id.0;
        if is_losing {
            tracing::warn!(
                room,
                "the room is overloaded: it ran {run} of the last {due} ticks, and sends \
                 less; its players are told, and other rooms have threads of their own"
            );
        } else {
            tracing::info!(room, "the room loses no ticks any more");
        }
    }

    fn send(&self, to: &GameConnection, control: Control) {
        if to.control.try_send(control).is_err() {
            // Full: the client has not read a handful of messages. Closed: it is disconnected.
            self.setup.shared.counters.dropped(DropReason::ControlFull);
            control_stream::close(&to.connection, ErrorCode::SlowReader, UNREAD);
        }
    }

    fn end(&mut self) {
        let RoomSetup { id, incarnation, ticks, shared, .. } = &self.setup;
        ticks.stop();
        shared.remove_room(*id, *incarnation);
        self.has_ended = true;
    }

    fn report(&mut self) {
        let RoomSetup { id, room, shared, .. } = &mut self.setup;
        let room = room.room();
        let stats = room.stats();
        shared.counters.advance(&self.reported, stats);
        if let Some(inlet) = shared.rooms.get(id) {
            let mut figures = inlet.figures.lock();
            (figures.players, figures.clients) = (stats.players, stats.clients);
            if stats.ticks.is_multiple_of(u64::from(room.config().tick_hz)) {
                figures.load = room.loads().regions();
            }
        }
        for (name, count) in room.world().operator_counts() {
            let reported = self.reported_counts.entry(name).or_default();
            if count > reported {
                let key = format!("{}/{name}", room.world().schema().game);
                *shared.game_counts.lock().entry(key).or_default() += count - *reported;
                *reported = *count;
            }
        }
        let schema = room.world().schema();
        let mut reported = self.reported.kind_bits.iter();
        for (kind, bits) in schema.kinds.iter().zip(&stats.kind_bits) {
            let reported = reported.next().copied().unwrap_or_default();
            for ((part, bits), (_, before)) in bits.parts().into_iter().zip(reported.parts()) {
                if bits > before {
                    let key = format!("{}/{}/{part}", schema.game, kind.name);
                    *shared.kind_bits.lock().entry(key).or_default() += bits - before;
                }
            }
        }
        self.reported.clone_from(stats);
    }
}

fn message(body: game_to_client::Body) -> Box<GameToClient> {
    Box::new(GameToClient { body: Some(body) })
}

/// Logs which call of the game has panicked, in which tick, if it was one: what an author needs.
pub(crate) fn log_panic(
    room: RoomId,
    game: &str,
    at: GameTime,
    callbacks: &CallbackTimes,
    panic: &(dyn Any + Send),
    consequence: &str,
) {
    let message = panic_message(panic);
    let called = callbacks.panicked();
    tracing::error!(
        room = room.0,
        game,
        tick_ms = at.micros() / 1_000,
        callback = called.map(|call| call.callback),
        player = called.and_then(|call| call.player).map(|player| player.0),
        command = called.and_then(|call| call.command.as_deref()),
        "the room's code panicked, {consequence}: {message}"
    );
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("a panic without a text")
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Mutex;

    use ambit_proto::ids::PlayerId;

    use super::*;
    use crate::host::measured_game::PanickedCall;

    #[test]
    fn the_line_about_a_panic_names_game_tick_function_player_and_command() {
        let written = WrittenLog::default();
        let log = written.clone();
        let subscriber =
            tracing_subscriber::fmt().with_ansi(false).with_writer(move || log.clone());
        let callbacks = CallbackTimes::default();
        callbacks.note_panic(PanickedCall {
            callback: "command",
            player: Some(PlayerId(3)),
            command: Some("jump [Number(7)]".to_owned()),
        });
        tracing::subscriber::with_default(subscriber.finish(), || {
            let at = GameTime::from_millis(12_350);
            log_panic(RoomId(7), "walk", at, &callbacks, &"a mistake", "the room is closed");
        });
        let bytes = written.0.lock().expect("no test panics with it");
        let line = String::from_utf8_lossy(&bytes);
        for part in [
            "the room is closed: a mistake",
            "room=7",
            "game=\"walk\"",
            "tick_ms=12350",
            "callback=\"command\"",
            "player=3",
            "command=\"jump [Number(7)]\"",
        ] {
            assert!(line.contains(part), "{part}: {line}");
        }
    }

    #[derive(Clone, Default)]
    struct WrittenLog(Arc<Mutex<Vec<u8>>>);

    impl io::Write for WrittenLog {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("no test panics with it").extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
}
