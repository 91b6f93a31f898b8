//! The thread that says when rooms tick.
//!
//! Rooms with their tick rate go in, a `Tick` for each due moment comes out, into the room's
//! bounded mailbox. One thread a host, on an absolute schedule with the operating system's own
//! sleep: a timer behind a busy mailbox or in an async runtime comes up to tens of milliseconds
//! late under load, this one well below one.
//!
//! What always holds: tick `n` of a room is due at room time `n * period`, so the spacing is exact
//! and drifts never; at most `MOST_WAITING` ticks of a room wait at a time. A room that is farther
//! behind skips the oldest ones, which is counted. Cost: a pass over the host's rooms at each
//! wake-up.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use ambit_proto::time::GameTime;

/// Ticks of one room that may wait for it. A room that was held up for longer has nothing to gain
/// from working through everything that it missed: that would hold up its neighbours too.
pub const MOST_WAITING: u32 = 3;

/// How long the thread sleeps when there is no room.
const IDLE_SLEEP: Duration = Duration::from_secs(1);

/// New rooms that may wait for the thread to wake up; it wakes for each, so that the queue is empty
/// but for moments.
const QUEUE: usize = 64;

/// One room's clock: room time is the time since `began`.
#[derive(Clone, Copy, Debug)]
pub struct RoomClock {
    began: Instant,
}

impl RoomClock {
    /// A clock that begins now.
    pub fn start() -> Self {
        Self::showing(GameTime::ZERO)
    }

    /// A clock that shows this time now.
    #[expect(clippy::disallowed_methods, reason = "a shell's clock")]
    pub fn showing(time: GameTime) -> Self {
        let now = Instant::now();
        // A machine that has been up for less than a room: the room's time begins anew, later than
        // it was.
        Self {
            began: now
                .checked_sub(Duration::from_micros(time.micros()))
                .unwrap_or(now),
        }
    }

    /// The room's time.
    pub fn now(&self) -> GameTime {
        GameTime::from_micros(self.began.elapsed().as_micros() as u64)
    }

    fn instant_of(&self, time: GameTime) -> Instant {
        self.began + Duration::from_micros(time.micros())
    }
}

/// What the clock thread and a room share.
#[derive(Debug, Default)]
pub struct Pulse {
    waiting: AtomicU32,
    stopped: AtomicBool,
    skipped: AtomicU64,
}

impl Pulse {
    /// The room has taken a tick out of its mailbox.
    pub fn took_one(&self) {
        self.waiting.fetch_sub(1, Ordering::AcqRel);
    }

    /// No more ticks for this room.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
    }

    /// Takes the number of ticks that were skipped since the last call.
    pub fn take_skipped(&self) -> u64 {
        self.skipped.swap(0, Ordering::AcqRel)
    }
}

/// Puts one tick into a room's mailbox; `false` when it is full or gone.
pub type SendTick = Box<dyn FnMut(GameTime) -> bool + Send>;

/// When a room's ticks are due. Pure: the time is an argument.
#[derive(Debug)]
pub struct TickSchedule {
    period_us: u64,
    next: u64,
}

/// What is due at one moment.
#[derive(Debug, PartialEq, Eq)]
pub struct Due {
    /// Ticks to skip, the oldest.
    pub skipped: u64,
    /// Room times of the ticks to run, in order.
    pub ticks: Vec<GameTime>,
}

impl TickSchedule {
    /// Begins with the first tick after `last`: with tick 1, one period after the room's time zero,
    /// in a new room.
    pub fn after(tick_hz: u32, last: GameTime) -> Self {
        let period_us = 1_000_000 / u64::from(tick_hz.max(1));
        Self {
            period_us,
            next: last.micros() / period_us + 1,
        }
    }

    /// When the next tick is due.
    pub fn next_deadline(&self) -> GameTime {
        GameTime::from_micros(self.next * self.period_us)
    }

    /// The next tick is not to be taken: it has been made good otherwise.
    pub fn skip(&mut self) {
        self.next += 1;
    }

    /// Takes what is due at `now`, given how many ticks the room has not taken yet.
    pub fn take_due(&mut self, now: GameTime, waiting: u32) -> Due {
        let last = now.micros() / self.period_us;
        if last < self.next {
            return Due {
                skipped: 0,
                ticks: Vec::new(),
            };
        }
        let due = last - self.next + 1;
        let run = due.min(u64::from(MOST_WAITING.saturating_sub(waiting)));
        let first_run = last - run + 1;
        self.next = last + 1;
        Due {
            skipped: due - run,
            ticks: (first_run..=last)
                .map(|tick| GameTime::from_micros(tick * self.period_us))
                .collect(),
        }
    }
}

struct Entry {
    clock: RoomClock,
    schedule: TickSchedule,
    pulse: Arc<Pulse>,
    send: SendTick,
}

/// The handle of the clock thread; the thread ends once all handles and rooms are gone.
#[derive(Clone)]
pub struct ClockThread {
    rooms: SyncSender<Entry>,
}

impl ClockThread {
    /// Starts the thread.
    pub fn start() -> std::io::Result<Self> {
        let (rooms, arrivals) = sync_channel(QUEUE);
        std::thread::Builder::new()
            .name("ambit-clock".into())
            .spawn(move || run(&arrivals))?;
        Ok(Self { rooms })
    }

    /// Ticks a room from now on, until its pulse is stopped; the tick of `last` was its last one.
    pub fn add(
        &self,
        clock: RoomClock,
        tick_hz: u32,
        last: GameTime,
        pulse: Arc<Pulse>,
        send: SendTick,
    ) {
        let entry = Entry {
            clock,
            schedule: TickSchedule::after(tick_hz, last),
            pulse,
            send,
        };
        // Blocks for moments at most: the thread wakes up for each arrival. It is gone only when it
        // panicked.
        if self.rooms.send(entry).is_err() {
            tracing::error!("the clock thread is gone: a new room will not tick");
        }
    }
}

fn run(arrivals: &Receiver<Entry>) {
    let mut entries: Vec<Entry> = Vec::new();
    loop {
        match arrivals.recv_timeout(sleep_for(&entries)) {
            Ok(entry) => entries.push(entry),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        entries.retain(|entry| !entry.pulse.stopped.load(Ordering::Acquire));
        for entry in &mut entries {
            send_due(entry);
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a shell's clock")]
fn sleep_for(entries: &[Entry]) -> Duration {
    let now = Instant::now();
    entries
        .iter()
        .map(|entry| {
            entry
                .clock
                .instant_of(entry.schedule.next_deadline())
                .saturating_duration_since(now)
        })
        .min()
        .unwrap_or(IDLE_SLEEP)
}

fn send_due(entry: &mut Entry) {
    let waiting = entry.pulse.waiting.load(Ordering::Acquire);
    let due = entry.schedule.take_due(entry.clock.now(), waiting);
    let mut skipped = due.skipped;
    for tick in due.ticks {
        entry.pulse.waiting.fetch_add(1, Ordering::AcqRel);
        if !(entry.send)(tick) {
            entry.pulse.waiting.fetch_sub(1, Ordering::AcqRel);
            skipped += 1;
        }
    }
    entry.pulse.skipped.fetch_add(skipped, Ordering::AcqRel);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_due_at_multiples_of_the_period() {
        let mut schedule = TickSchedule::after(20, GameTime::ZERO);
        assert_eq!(schedule.take_due(ms(49), 0), due(0, &[]));
        assert_eq!(schedule.take_due(ms(50), 0), due(0, &[50]));
        assert_eq!(schedule.take_due(ms(50), 0), due(0, &[]));
        assert_eq!(schedule.next_deadline(), ms(100));
        assert_eq!(schedule.take_due(ms(163), 0), due(0, &[100, 150]));
    }

    #[test]
    fn a_room_far_behind_skips_the_oldest_ticks() {
        let mut schedule = TickSchedule::after(20, GameTime::ZERO);
        assert_eq!(schedule.take_due(ms(500), 0), due(7, &[400, 450, 500]));
        assert_eq!(schedule.next_deadline(), ms(550));
    }

    #[test]
    fn ticks_that_still_wait_count_against_the_bound() {
        let mut schedule = TickSchedule::after(20, GameTime::ZERO);
        assert_eq!(schedule.take_due(ms(100), 2), due(1, &[100]));
        assert_eq!(schedule.take_due(ms(150), 3), due(1, &[]));
        assert_eq!(schedule.take_due(ms(200), 0), due(0, &[200]));
    }

    fn due(skipped: u64, ticks_ms: &[u64]) -> Due {
        Due {
            skipped,
            ticks: ticks_ms.iter().map(|&tick| ms(tick)).collect(),
        }
    }

    fn ms(millis: u64) -> GameTime {
        GameTime::from_millis(millis)
    }
}
