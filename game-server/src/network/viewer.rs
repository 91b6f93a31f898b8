//! One client of a room: its link, what it knows, and how much it may say.
//!
//! Datagrams and commands in, datagrams out; nothing here decides what a client may see. Bounds: commands a second
//! ([`COMMANDS_PER_S`], the rest is refused), datagrams a tick ([`DATAGRAMS_PER_TICK`], what is left waits for the next tick).

use std::time::Duration;

use ambit_proto::cell::Cell;
use ambit_proto::ids::{ClientId, ObjectId, PlayerId};
use ambit_proto::link::{Link, LinkConfig, LinkEvent, MAX_DATAGRAM, PacketLog};
use ambit_proto::message::{self, Action, Command, Notice, Report};
use ambit_proto::schema::Schema;
use ambit_proto::time::GameTime;
use ambit_proto::wire::{self, Reader, Wire, WireError, Writer};
use bytes::Bytes;

use super::replication::compose;
use super::replication::slots::{Carried, Due, Slots};
use crate::logic::world::World;

/// Commands that a client may send in a second, and at once: a held click that steers at the highest tick rate.
pub const COMMANDS_PER_S: f64 = 64.0;
/// Datagrams to one client in one tick. What is due beyond that goes out in the ticks after: the nearest first.
pub const DATAGRAMS_PER_TICK: usize = 4;
/// A client that was told something lately, or that watches something move, hears the room's clock this often, so that it
/// knows that nothing else changed.
const PULSE: Duration = Duration::from_millis(100);
/// Any other hears it this often.
const SLOW_PULSE: Duration = Duration::from_secs(1);
const RECENTLY: Duration = Duration::from_secs(1);
/// As long as QUIC waits before it gives a connection up.
const DEAF: Duration = Duration::from_secs(10);
/// More news than that don't fit into the datagrams of a second.
const MAX_NEWS_PER_S: u64 = 10_000;
/// The initial world goes out at once and is no sign of anything.
const SETTLED: Duration = Duration::from_secs(10);
/// An event is resent until so long after its effect; then nobody wants to know.
const NOTICE_USEFUL: Duration = Duration::from_secs(2);

/// One client of a room.
pub struct Viewer {
    /// The connection.
    pub client: ClientId,
    /// Who plays.
    pub player: PlayerId,
    /// The object through which the client sees.
    pub avatar: ObjectId,
    /// The cell that its zones lie around; it lags behind the avatar by a margin (see `interest`).
    pub home: Cell,
    /// What it knows.
    pub slots: Slots,
    /// How much of what it was told came late, as it says itself.
    pub late: Lateness,
    /// Bytes of datagrams from the client so far, and towards it.
    pub bytes: (u64, u64),
    since: GameTime,
    link: Link,
    log: PacketLog<Carried>,
    /// Number of the newest command to go or to hold keys.
    last_steer: Option<u32>,
    allowance: f64,
    allowance_at: GameTime,
    /// When it was told last that it speaks too often.
    told_at: Option<GameTime>,
    /// When it last confirmed something.
    answered_at: GameTime,
    sent_at: GameTime,
    said_at: GameTime,
}

/// What a client reports of late news. Its word: it goes into a figure, and never down.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lateness {
    reported: u64,
    taken: u64,
}

impl Lateness {
    /// A report may claim that everything was late, but not more than a client can be told since it came.
    fn note(&mut self, report: Report, here_for: Duration) {
        let most = (here_for.as_secs() + 1) * MAX_NEWS_PER_S;
        self.reported = report.late.min(report.news).min(most).max(self.reported);
    }

    /// How many came late since the last call.
    pub fn take(&mut self) -> u64 {
        let new = self.reported - self.taken;
        self.taken = self.reported;
        new
    }
}

/// What came out of a client's datagram.
#[derive(Debug, PartialEq)]
pub enum Heard {
    /// A command within the allowance.
    Command(Command),
    /// A command to go or to hold keys that was sent before one that has been heard already: what it wanted is out of date.
    Outdated,
    /// A command over the allowance: its number, if the client is to be told; it is told once a second.
    OverRate(Option<u32>),
    /// A message that makes no sense.
    Malformed(WireError),
}

/// The buffers that all viewers of a room share for a while.
#[derive(Default)]
pub struct Scratch {
    due: Vec<Due>,
    carried: Vec<Carried>,
}

impl Viewer {
    /// A client that has just come in.
    pub fn new(client: ClientId, player: PlayerId, avatar: ObjectId, home: Cell, now: GameTime) -> Self {
        Viewer {
            client,
            player,
            avatar,
            home,
            slots: Slots::default(),
            late: Lateness::default(),
            bytes: (0, 0),
            since: now,
            link: Link::new(LinkConfig::default()),
            log: PacketLog::new(),
            last_steer: None,
            allowance: COMMANDS_PER_S,
            allowance_at: now,
            told_at: None,
            answered_at: now,
            sent_at: now,
            said_at: now,
        }
    }

    /// A datagram from the client, which arrived at `at`; appends what it said to `heard`.
    pub fn handle_datagram(&mut self, at: GameTime, datagram: &[u8], heard: &mut Vec<Heard>) -> Result<(), WireError> {
        self.bytes.0 += datagram.len() as u64;
        let body = self.link.handle_datagram(at.into(), datagram)?;
        let report = body.map_or(Ok(None), read_report);
        self.follow_up(at, heard);
        if let Some(report) = report? {
            self.late.note(report, at.since(self.since));
        }
        Ok(())
    }

    /// Puts an event or a refusal on its way. False when the queue of unconfirmed messages is full: the notice is dropped,
    /// since a client that confirms nothing can't be told anything, and state finds its own way.
    pub fn notify(&mut self, now: GameTime, notice: &mut Notice) -> bool {
        let useful_until = match notice {
            Notice::Event { effect, .. } => *effect + NOTICE_USEFUL,
            Notice::Refused { .. } => now + NOTICE_USEFUL,
        };
        let bytes = wire::encode(notice).into();
        self.link.send_reliable(now.into(), bytes, Some(useful_until.into())).is_ok()
    }

    /// Appends the datagrams that this client gets at this tick.
    pub fn send(&mut self, now: GameTime, world: &World, schema: &Schema, scratch: &mut Scratch, out: &mut Vec<Bytes>) {
        self.link.handle_timeout(now.into());
        self.follow_up(now, &mut Vec::new());
        self.slots.take_due(&mut scratch.due);
        compose::order(&mut scratch.due, world, world.position(self.avatar));
        for _ in 0..DATAGRAMS_PER_TICK {
            let body = !scratch.due.is_empty() || self.is_pulse_due(now, world);
            if !body && !self.link.wants_to_send(now.into()) {
                break;
            }
            out.push(self.datagram(now, body.then_some((world, schema)), scratch));
        }
        for due in scratch.due.drain(..) {
            self.slots.defer(&due);
        }
    }

    /// Whether the client has confirmed nothing for so long that nobody can be there who listens: it hears at least a pulse a
    /// second, and whoever holds a connection open and confirms nothing would be told the same for ever.
    pub fn is_deaf(&self, now: GameTime) -> bool {
        now.since(self.answered_at) >= DEAF
    }

    /// Bytes towards the client over bytes from it, once it has been here for long enough to tell. Nobody should make the server
    /// shout for a whisper.
    pub fn amplification(&self, now: GameTime) -> Option<f64> {
        (now.since(self.since) >= SETTLED).then(|| self.bytes.1 as f64 / self.bytes.0.max(1) as f64)
    }

    /// How the link is doing.
    pub fn link(&self) -> &Link {
        &self.link
    }

    /// What the client follows decides, and nothing else: the rhythm must not tell of what is hidden.
    fn is_pulse_due(&self, now: GameTime, world: &World) -> bool {
        let silence = now.since(self.sent_at);
        let is_lively =
            || now.since(self.said_at) < RECENTLY || self.slots.any_followed(|object| world.is_moving(object));
        silence >= SLOW_PULSE || silence >= PULSE && is_lively()
    }

    /// A datagram with as much of what is due as it holds; without a body it only confirms what arrived.
    fn datagram(&mut self, now: GameTime, body: Option<(&World, &Schema)>, scratch: &mut Scratch) -> Bytes {
        let mut bytes = Vec::with_capacity(MAX_DATAGRAM);
        let budget_bits = self.link.body_budget_bits(now.into());
        let Viewer { link, slots, .. } = self;
        let Scratch { due, carried } = scratch;
        let said = !due.is_empty();
        let seq = link.write_datagram(now.into(), &mut bytes, |writer, seq| {
            if let Some((world, schema)) = body {
                write_body(now, world, schema, budget_bits, writer, due, |sent| carried.push(slots.sent(sent, seq)));
            }
        });
        self.log.record(seq).append(carried);
        self.bytes.1 += bytes.len() as u64;
        if body.is_some() {
            self.sent_at = now;
        }
        if said {
            self.said_at = now;
        }
        bytes.into()
    }

    /// What the link has found out: messages that arrived, packets confirmed or lost.
    fn follow_up(&mut self, at: GameTime, heard: &mut Vec<Heard>) {
        while let Some(event) = self.link.poll_event() {
            match event {
                LinkEvent::Acked(seq) => {
                    self.answered_at = self.answered_at.max(at);
                    for carried in self.log.take(seq) {
                        self.slots.acked(carried);
                    }
                }
                LinkEvent::Lost(seq) => {
                    for carried in self.log.take(seq) {
                        self.slots.lost(carried, seq);
                    }
                }
                LinkEvent::Message(bytes) => heard.push(self.hear(at, &bytes)),
                LinkEvent::Pong { .. } => {}
            }
        }
    }

    fn hear(&mut self, at: GameTime, bytes: &[u8]) -> Heard {
        match wire::decode::<Command>(bytes) {
            Err(error) => Heard::Malformed(error),
            Ok(command) if !self.may_speak(at) => Heard::OverRate(self.may_be_told(at).then_some(command.number)),
            Ok(command) if self.is_outdated(&command) => Heard::Outdated,
            Ok(command) => Heard::Command(command),
        }
    }

    /// Commands come in any order. For those where the last word counts, a late one must not undo a newer one.
    fn is_outdated(&mut self, command: &Command) -> bool {
        if !matches!(command.action, Action::Move { .. } | Action::Keys(_)) {
            return false;
        }
        let is_newer = |last: u32| command.number.wrapping_sub(last).cast_signed() > 0;
        let outdated = self.last_steer.is_some_and(|last| !is_newer(last));
        if !outdated {
            self.last_steer = Some(command.number);
        }
        outdated
    }

    /// An answer for each command of a flood would cost more than the flood.
    fn may_be_told(&mut self, at: GameTime) -> bool {
        let may = self.told_at.is_none_or(|told| at.since(told) >= Duration::from_secs(1));
        if may {
            self.told_at = Some(at);
        }
        may
    }

    /// A token bucket over the client's commands.
    fn may_speak(&mut self, at: GameTime) -> bool {
        let earned = at.since(self.allowance_at).as_secs_f64() * COMMANDS_PER_S;
        self.allowance = (self.allowance + earned).min(COMMANDS_PER_S);
        self.allowance_at = self.allowance_at.max(at);
        let may = self.allowance >= 1.0;
        if may {
            self.allowance -= 1.0;
        }
        may
    }
}

/// The body of a client's datagram; most have none.
fn read_report(mut body: Reader<'_>) -> Result<Option<Report>, WireError> {
    if body.remaining_bits() < 8 {
        return Ok(None); // Padding.
    }
    let mut report = Report::default();
    report.wire(&mut body)?;
    Ok(Some(report))
}

/// Writes the stamp and the last ones of `due`, as far as they fit; those are taken off the list and told to `sent`.
fn write_body(
    now: GameTime,
    world: &World,
    schema: &Schema,
    budget_bits: usize,
    writer: &mut Writer<'_>,
    due: &mut Vec<Due>,
    mut sent: impl FnMut(&Due),
) {
    let capacity_bits = writer.bits_written() + budget_bits;
    let stamp = message::write_stamp(now, writer);
    while let Some(next) = due.last() {
        let mut record = compose::record(next, world, stamp);
        if !compose::write_if_fits(&mut record, schema, stamp, capacity_bits, writer) {
            break;
        }
        sent(next);
        due.pop();
    }
    message::end_records(writer);
}
