//! The host's clock, and the thread that ticks rooms by it.
//!
//! Rooms with their tick rate go in; a `Tick` for each due moment comes out, into the room's
//! bounded mailbox. One thread a host, on an absolute schedule ([`TickSchedule`]) with the
//! operating system's own sleep: a timer behind a busy mailbox or in an async runtime comes up to
//! tens of milliseconds late under load, this one well below one. Cost: a pass over the host's
//! rooms at each wake-up.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use ambit_proto::ids::RoomId;
use ambit_proto::time::{GameTime, LocalTime};
use ambit_room::tick_schedule::TickSchedule;

use crate::hindrance::{Hindrance, ProcessorUse};
use crate::processor_time::{HostThreads, ThreadMeter};
use ambit_host_core::clock::RoomClock;

/// How long the thread sleeps when there is no room.
const IDLE_SLEEP: Duration = Duration::from_secs(1);

/// New rooms that may wait for the thread to wake up; it wakes up for each, so the queue is empty
/// but for moments.
const QUEUE: usize = 64;

/// A room that takes none of its waiting ticks for this time is reported: its game may never
/// return.
const STUCK_AFTER: Duration = Duration::from_secs(2);
/// From this time on the processor time of its thread is watched, to know why, and for how long at
/// least.
const WATCHED_AFTER: Duration = Duration::from_secs(1);
const WATCHED_FOR: Duration = Duration::from_millis(900);
/// A tick that has used this much processor time since then counts as endless. It is processor
/// time, so that a machine that was stopped or has other work ends no room.
const ENDLESS: Duration = Duration::from_secs(10);
/// How often that is looked at.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// The clock of this process: the time since it was started.
#[derive(Clone, Copy, Debug)]
pub struct HostClock {
    origin: Instant,
}

impl HostClock {
    #[expect(clippy::disallowed_methods, reason = "a shell's clock")]
    pub fn start() -> Self {
        Self { origin: Instant::now() }
    }

    pub fn now(&self) -> LocalTime {
        LocalTime::from_micros(self.origin.elapsed().as_micros() as u64)
    }

    /// What the clock shows at `moment`.
    pub fn time_of(&self, moment: Instant) -> LocalTime {
        let since = moment.saturating_duration_since(self.origin);
        LocalTime::from_micros(since.as_micros() as u64)
    }

    /// The moment at which the clock shows `time`.
    pub fn instant_of(&self, time: LocalTime) -> Instant {
        self.origin + Duration::from_micros(time.micros())
    }
}

/// What the clock thread and a room share.
#[derive(Debug, Default)]
pub struct TickState {
    waiting: AtomicU32,
    taken: AtomicU64,
    has_stopped: AtomicBool,
    is_asleep: AtomicBool,
    skipped: AtomicU64,
    /// Of the room's thread, once that runs; `None` where the system does not tell.
    thread: OnceLock<Option<ThreadMeter>>,
}

impl TickState {
    /// The room runs on the thread that calls this.
    pub(crate) fn begin_on_this_thread(&self) {
        self.thread.get_or_init(ThreadMeter::of_this_thread);
    }

    fn processor_use(&self) -> Option<ProcessorUse> {
        self.thread.get()?.as_ref()?.read()
    }

    /// The room's thread gets what the others leave of the processors, and counts no more.
    fn give_up_thread(&self, threads: &HostThreads) {
        if let Some(Some(thread)) = self.thread.get() {
            thread.lower_priority();
            threads.give_up(thread);
        }
    }

    /// The room has taken a tick out of its mailbox.
    pub fn took_one(&self) {
        self.waiting.fetch_sub(1, Ordering::AcqRel);
        self.taken.fetch_add(1, Ordering::AcqRel);
    }

    /// The room needs no ticks, or needs them again.
    pub fn set_asleep(&self, is_asleep: bool) {
        self.is_asleep.store(is_asleep, Ordering::Release);
    }

    fn is_asleep(&self) -> bool {
        self.is_asleep.load(Ordering::Acquire)
    }

    /// Ends the room's ticks.
    pub fn stop(&self) {
        self.has_stopped.store(true, Ordering::Release);
    }

    /// Whether the room gets no more ticks: it has ended, or was given up.
    pub(crate) fn has_stopped(&self) -> bool {
        self.has_stopped.load(Ordering::Acquire)
    }

    /// Takes the number of ticks that were skipped since the last call.
    pub fn take_skipped(&self) -> u64 {
        self.skipped.swap(0, Ordering::AcqRel)
    }
}

/// Puts one tick into a room's mailbox; `false` when it is full or closed.
pub type SendTick = Box<dyn FnMut(GameTime) -> bool + Send>;

/// Closes a room whose thread never returns.
pub type GiveUp = Box<dyn FnMut() + Send>;

pub struct TickingRoom {
    pub id: RoomId,
    pub clock: RoomClock,
    /// When the ticks are due.
    pub schedule: TickSchedule,
    /// Shared with the room.
    pub state: Arc<TickState>,
    /// The way to the room.
    pub send: SendTick,
    /// Called once if the room does not return from a tick: it is to be closed without it.
    pub give_up: GiveUp,
    pub progress: Progress,
}

/// Whether a room takes its ticks.
#[derive(Debug, Default)]
pub struct Progress {
    /// How many it had taken at the last change, and when that was.
    last: Option<(u64, LocalTime)>,
    /// What its thread had used when that was first looked at since then.
    looked: Option<(LocalTime, Option<ProcessorUse>)>,
    /// When that is looked at next, once the room is reported.
    next_look: Option<LocalTime>,
}

/// What is found of a room that takes no tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StuckRoom {
    /// For how long it has taken none, and why.
    Late(Duration, Hindrance),
    /// It has used this much processor time in one tick: it loops for ever.
    Endless(Duration),
}

impl Progress {
    /// Returns what is found, once when a room becomes late, and once when it counts as endless.
    /// `look` tells what its thread has used; it is called once a second at most.
    fn note(
        &mut self,
        now: LocalTime,
        taken: u64,
        look: impl FnOnce() -> Option<ProcessorUse>,
    ) -> Option<StuckRoom> {
        let (before, since) = *self.last.get_or_insert((taken, now));
        if taken != before {
            *self = Self { last: Some((taken, now)), ..Self::default() };
            return None;
        }
        let stuck = now.since(since);
        if stuck < WATCHED_AFTER {
            return None;
        }
        let Some((at, begin)) = self.looked else {
            self.looked = Some((now, look()));
            return None;
        };
        let watched = now.since(at);
        match self.next_look {
            None if stuck >= STUCK_AFTER && watched >= WATCHED_FOR => {
                self.next_look = Some(now + LOOK_INTERVAL);
                Some(StuckRoom::Late(stuck, Hindrance::of(watched, begin, look())))
            }
            Some(next) if now >= next => {
                self.next_look = Some(now + LOOK_INTERVAL);
                let used = look()?.used.saturating_sub(begin?.used);
                (used >= ENDLESS).then_some(StuckRoom::Endless(used))
            }
            None | Some(_) => None,
        }
    }
}

/// The handle of the clock thread; the thread ends once all handles are dropped.
#[derive(Clone)]
pub struct ClockThread {
    /// `None` only wakes the thread.
    rooms: SyncSender<Option<TickingRoom>>,
}

impl ClockThread {
    pub(crate) fn start(clock: HostClock, threads: HostThreads) -> std::io::Result<Self> {
        let (rooms, arrivals) = sync_channel(QUEUE);
        std::thread::Builder::new().name("ambit-clock".into()).spawn(move || {
            threads.add_this_thread();
            run(clock, &threads, &arrivals);
        })?;
        Ok(Self { rooms })
    }

    /// Ticks a room from now on, until its state is stopped.
    pub fn add(&self, room: TickingRoom) {
        // Blocks for moments at most: the thread wakes up for each arrival. It ends only by a
        // panic.
        if self.rooms.send(Some(room)).is_err() {
            tracing::error!("the clock thread has ended: a new room will not tick");
        }
    }

    /// A room needs ticks again. If the queue is full, the thread is about to look in any case.
    pub fn poke(&self) {
        let _ = self.rooms.try_send(None);
    }
}

fn run(clock: HostClock, threads: &HostThreads, arrivals: &Receiver<Option<TickingRoom>>) {
    let mut rooms: Vec<TickingRoom> = Vec::new();
    loop {
        match arrivals.recv_timeout(sleep_for(clock, &rooms)) {
            Ok(room) => rooms.extend(room),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        rooms.retain(|room| !room.state.has_stopped());
        for room in &mut rooms {
            send_due(clock.now(), threads, room);
        }
    }
}

fn sleep_for(clock: HostClock, rooms: &[TickingRoom]) -> Duration {
    let now = clock.now();
    let due = |room: &TickingRoom| room.clock.local_time(room.schedule.next_deadline());
    let next = rooms.iter().filter(|room| !room.state.is_asleep()).map(due).min();
    next.map_or(IDLE_SLEEP, |next| next.since(now))
}

fn send_due(now: LocalTime, threads: &HostThreads, room: &mut TickingRoom) {
    let waiting = room.state.waiting.load(Ordering::Acquire);
    let due = room.schedule.take_due(room.clock.room_time(now), waiting);
    if room.state.is_asleep() {
        room.progress = Progress::default();
        return;
    }
    let mut skipped = due.skipped;
    for tick in due.ticks {
        room.state.waiting.fetch_add(1, Ordering::AcqRel);
        if !(room.send)(tick) {
            room.state.waiting.fetch_sub(1, Ordering::AcqRel);
            skipped += 1;
        }
    }
    room.state.skipped.fetch_add(skipped, Ordering::AcqRel);
    let taken = room.state.taken.load(Ordering::Acquire);
    let look = || room.state.processor_use();
    match room.progress.note(now, taken, look) {
        None => {}
        Some(StuckRoom::Late(stuck, why)) => tracing::error!(
            room = room.id.0,
            "the room has not returned from a tick for {} s: its thread {why}",
            stuck.as_secs()
        ),
        Some(StuckRoom::Endless(used)) => {
            tracing::error!(
                room = room.id.0,
                "the room is closed: its game has used {} s of processor time in one tick, so it \
                 loops for ever. Its thread goes on at the lowest priority; only the end of this \
                 process ({}) ends it: start it again when its other rooms allow that",
                used.as_secs(),
                std::process::id()
            );
            room.state.stop();
            room.state.give_up_thread(threads);
            (room.give_up)();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(ms: u64) -> ProcessorUse {
        ProcessorUse { used: Duration::from_millis(ms), is_runnable: true }
    }

    #[test]
    fn a_room_that_takes_no_tick_is_reported_once() {
        let mut progress = Progress::default();
        let mut note = |ms, taken| {
            let noted = progress.note(LocalTime::from_millis(ms), taken, || None);
            noted.is_some_and(|found| matches!(found, StuckRoom::Late(_, Hindrance::Unknown)))
        };
        assert_eq!([note(0, 0), note(1_900, 1), note(2_900, 1), note(3_800, 1)], [false; 4]);
        assert_eq!([note(3_900, 1), note(9_000, 1)], [true, false]);
        assert_eq!([note(9_100, 2), note(10_100, 2), note(11_000, 2)], [false; 3]);
        assert!(note(11_100, 2));
    }

    #[test]
    fn the_report_says_whether_the_room_loops_or_has_no_processor() {
        for (used_at_end, expected) in [(1_950, "may loop for ever"), (1_050, "short of")] {
            let mut progress = Progress::default();
            let mut note = |ms, used_ms: Option<u64>| {
                progress.note(LocalTime::from_millis(ms), 7, || used_ms.map(used))
            };
            assert_eq!(note(0, None), None);
            // The clock's own thread may be late, too: then the watch begins later.
            assert_eq!(note(2_500, Some(1_000)), None);
            assert_eq!(note(3_300, Some(1_500)), None);
            let Some(StuckRoom::Late(stuck, why)) = note(3_500, Some(used_at_end)) else {
                panic!("no report");
            };
            assert_eq!(stuck, Duration::from_millis(3_500));
            assert!(why.to_string().contains(expected), "{why}");
        }
    }

    #[test]
    fn a_tick_is_endless_by_the_processor_time_that_it_has_used() {
        let mut progress = Progress::default();
        let mut note =
            |ms, used_ms| progress.note(LocalTime::from_millis(ms), 7, || Some(used(used_ms)));
        assert_eq!([note(0, 0), note(1_000, 500)], [None; 2]);
        assert!(matches!(note(2_000, 1_000), Some(StuckRoom::Late(..))));
        // Not looked at before the next second.
        assert_eq!(note(2_500, 99_000), None);
        // The machine was stopped for a minute.
        assert_eq!([note(62_000, 1_500), note(63_000, 10_499)], [None; 2]);
        let endless = StuckRoom::Endless(Duration::from_secs(10));
        assert_eq!(note(64_000, 10_500), Some(endless));
    }
}
