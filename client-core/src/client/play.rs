//! A running game: link, clock and replica of one game connection.
//!
//! Datagrams, commands and the time go in; datagrams and view events come out in [`Out`]. No socket, no clock.
//!
//! The order of a datagram is pongs, records, messages: what is late is judged by the newest clock, and an event finds the
//! objects that came along with it. A datagram leaves every 16 ms at most.

use std::sync::Arc;
use std::time::Duration;

use ambit_proto::clock::ClockEstimate;
use ambit_proto::codes as protocol;
use ambit_proto::control::game as pb;
use ambit_proto::link::{Link, LinkConfig, LinkEvent, QueueFull};
use ambit_proto::message::{Action, Command, Notice, Report, read_body};
use ambit_proto::schema::{Schema, SchemaError};
use ambit_proto::time::{GameTime, LocalTime};
use ambit_proto::wire::{self, Reader, Wire, WireError};
use bytes::Bytes;

use super::event::{About, Failure, Map, ViewEvent};
use super::game::{CommandError, GameOutput, Out};
use super::happenings::{Happened, Happenings};
use crate::replica::factory::Factory;
use crate::replica::{Applied, Replica};

/// Datagrams leave no closer together than this: a held click steers at 60 Hz at most.
const PACE: Duration = Duration::from_millis(16);
/// No deadline is nearer than this: a clock that is being slewed may reach a room time a little later than expected.
const NAP: Duration = Duration::from_millis(1);
/// A click or a cast that has not arrived by then is not what the player wants any more.
const COMMAND_USEFUL: Duration = Duration::from_secs(1);
/// How often the host is told how much of the news came late.
const REPORT: Duration = Duration::from_secs(1);

/// What `Joined` says.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    /// Room time when it was sent.
    pub now: GameTime,
    /// The local lag: what is commanded at `t` takes effect at `t + delay`.
    pub delay: Duration,
    /// Ticks a second.
    pub tick_hz: u32,
    /// The map.
    pub map: Map,
    /// What the game's objects and events are made of.
    pub schema: Arc<Schema>,
}

impl TryFrom<pb::Joined> for Rules {
    type Error = SchemaError;

    fn try_from(joined: pb::Joined) -> Result<Self, SchemaError> {
        let pb::Joined { now_us, delay_ms, tick_hz, width, height, cell, inner, outer, schema, .. } = joined;
        Ok(Rules {
            now: GameTime::from_micros(now_us),
            delay: Duration::from_millis(delay_ms.into()),
            tick_hz,
            map: Map { width_m: width, height_m: height, cell_m: cell, inner, outer },
            schema: Arc::new(schema.unwrap_or_default().try_into()?),
        })
    }
}

/// One game connection's life.
#[derive(Debug)]
pub struct Play<V> {
    rules: Rules,
    link: Link,
    clock: ClockEstimate,
    replica: Replica<V>,
    happenings: Happenings,
    since: LocalTime,
    last_heard: LocalTime,
    last_sent: Option<LocalTime>,
    /// Of the newest datagram: what happened up to then in the room is known here.
    newest_stamp: Option<GameTime>,
    /// The last call's time, on both clocks; deadlines in room time are reckoned from it.
    seen: (LocalTime, GameTime),
    /// Messages of the datagram in hand; empty between calls.
    messages: Vec<Bytes>,
    report: Report,
    /// The last one that was sent, and when.
    reported: (Report, LocalTime),
}

impl<V> Play<V> {
    /// A game that was joined at `now`, by a `Join` that left at `asked`. Object ids begin after `last_id`.
    pub fn new(now: LocalTime, asked: LocalTime, rules: Rules, last_id: u32) -> Self {
        let mut clock = ClockEstimate::new();
        // The join was a ping, too: the host's clock showed `rules.now` at some time in between.
        clock.handle_pong(asked, rules.now.micros(), rules.now.micros(), now);
        Play {
            link: Link::new(LinkConfig::client()),
            replica: Replica::new(rules.schema.clone(), last_id),
            happenings: Happenings::default(),
            since: now,
            last_heard: now,
            last_sent: None,
            newest_stamp: None,
            seen: (now, clock.room_time(now)),
            messages: Vec::new(),
            report: Report::default(),
            reported: (Report::default(), now),
            clock,
            rules,
        }
    }

    /// Puts a command on its way.
    pub fn command(&mut self, now: LocalTime, mut command: Command, out: &mut Out) -> Result<(), CommandError> {
        let useful_until = match command.action {
            Action::Move { .. } | Action::Cast { .. } => Some(now + COMMAND_USEFUL),
            Action::Keys(_) | Action::Custom(_) => None,
        };
        let message = Bytes::from(wire::encode(&mut command));
        self.link.send_reliable(now, message, useful_until).map_err(|QueueFull| CommandError::TooMany)?;
        out.stats.commands += 1;
        self.flush(now, out);
        Ok(())
    }

    /// A datagram of the host.
    pub fn handle_datagram(
        &mut self,
        now: LocalTime,
        datagram: &[u8],
        factory: &mut impl Factory<View = V>,
        out: &mut Out,
    ) {
        self.last_heard = now;
        out.stats.datagrams_down += 1;
        out.stats.bytes_down += datagram.len() as u64;
        let body = self.link.handle_datagram(now, datagram);
        self.poll_link();
        let room_now = self.clock.room_time(now);
        match body.map(|body| body.map_or(Ok(()), |body| self.handle_body(now, room_now, body, out))) {
            Ok(Ok(())) => {}
            Ok(Err(_)) | Err(_) => out.stats.malformed += 1,
        }
        self.advance(now, factory, out);
        for message in std::mem::take(&mut self.messages) {
            if self.handle_message(room_now, &message, out).is_err() {
                out.stats.malformed += 1;
            }
        }
        self.release(room_now, out);
        self.flush(now, out);
    }

    /// Some deadline has passed.
    pub fn handle_timeout(&mut self, now: LocalTime, factory: &mut impl Factory<View = V>, out: &mut Out) {
        self.link.handle_timeout(now);
        self.poll_link();
        self.advance(now, factory, out);
        self.release(self.clock.room_time(now), out);
        self.flush(now, out);
    }

    /// When `handle_timeout` is to be called.
    pub fn next_deadline(&self) -> Option<LocalTime> {
        let (now, room_now) = self.seen;
        let paced = self.last_sent.map_or(LocalTime::ZERO, |sent| sent + PACE);
        let link = self.link.next_deadline().map(|deadline| deadline.max(paced));
        let effects = self.happenings.next_due().into_iter().chain(self.replica.next_due()).min();
        let effects = effects.map(|effect| now + effect.since(room_now));
        link.into_iter().chain(effects).min().map(|deadline| deadline.max(now + NAP))
    }

    /// Takes everything out of sight.
    pub fn clear(&mut self, now: LocalTime, out: &mut Out) {
        self.happenings.clear();
        self.replica.clear(self.clock.room_time(now));
        self.tell_replica(out);
    }

    /// The estimated room time.
    pub fn room_time(&self, now: LocalTime) -> GameTime {
        self.clock.room_time(now)
    }

    /// Age of the newest that is known of the room, if anything in sight moves.
    pub fn age(&self, now: LocalTime) -> Option<Duration> {
        let room_now = self.room_time(now);
        let stamp = self.newest_stamp?;
        self.replica.seen().any(|object| object.moves(room_now)).then(|| room_now.since(stamp))
    }

    /// Round trip to the host without its tick; `None` before the first answer.
    pub fn rtt(&self) -> Option<Duration> {
        let ping_ms = self.link.stats().ping_ms;
        (ping_ms > 0.0).then(|| Duration::from_secs_f32(ping_ms / 1_000.0))
    }

    /// How far the estimated room time may be off, if the ways to the host and back take different times.
    pub fn clock_uncertainty(&self) -> Duration {
        self.clock.uncertainty()
    }

    /// What `Joined` said.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The objects.
    pub fn replica(&self) -> &Replica<V> {
        &self.replica
    }

    /// The objects.
    pub fn replica_mut(&mut self) -> &mut Replica<V> {
        &mut self.replica
    }

    /// The link, for its figures.
    pub fn link(&self) -> &Link {
        &self.link
    }

    /// When it was joined.
    pub fn since(&self) -> LocalTime {
        self.since
    }

    /// When the host was last heard.
    pub fn last_heard(&self) -> LocalTime {
        self.last_heard
    }

    /// The last object id that was given away.
    pub fn last_id(&self) -> u32 {
        self.replica.last_id()
    }

    fn poll_link(&mut self) {
        while let Some(event) = self.link.poll_event() {
            match event {
                LinkEvent::Pong { sent, received_by_peer, sent_by_peer, arrived } => {
                    self.clock.handle_pong(sent, received_by_peer, sent_by_peer, arrived);
                }
                LinkEvent::Message(message) => self.messages.push(message),
                // Bodies in this direction are empty, and messages are the link's own business.
                LinkEvent::Acked(_) | LinkEvent::Lost(_) => {}
            }
        }
    }

    fn handle_body(
        &mut self,
        now: LocalTime,
        room_now: GameTime,
        body: Reader<'_>,
        out: &mut Out,
    ) -> Result<(), WireError> {
        let Some(body) = read_body(body, &self.rules.schema)? else { return Ok(()) };
        if self.newest_stamp.is_none_or(|newest| body.stamp > newest) {
            self.newest_stamp = Some(body.stamp);
            if let Some(before) = out.last_news.replace(now) {
                out.stats.gaps.add(now.since(before));
            }
        }
        for record in &body.records {
            match self.replica.apply(body.stamp, record, room_now) {
                Applied::Nothing | Applied::Object => {}
                Applied::Update { late } => {
                    out.stats.updates += 1;
                    out.stats.late_updates += u64::from(late);
                    self.count(late);
                }
                Applied::Refused => out.stats.malformed += 1,
            }
        }
        Ok(())
    }

    fn handle_message(&mut self, room_now: GameTime, message: &[u8], out: &mut Out) -> Result<(), WireError> {
        let notice = wire::decode::<Notice>(message)?;
        if !notice.fits(&self.rules.schema) {
            return Err(WireError::OutOfRange { what: "event" });
        }
        match notice {
            Notice::Event { kind, effect, fields } => {
                let late = effect < room_now;
                out.stats.events += 1;
                out.stats.late_events += u64::from(late);
                self.count(late);
                let happened = Happened { kind, effect, fields };
                self.happenings.handle(room_now, happened, &self.replica, |event| view(out, event));
            }
            Notice::Refused { command, code } => {
                out.stats.refused += 1;
                let code = protocol::name_of_number(code.into());
                let message = format!("the game refused command {command}: {}", code.replace('_', " "));
                view(out, ViewEvent::Error(Failure { about: About::Command(command), code, message }));
            }
        }
        Ok(())
    }

    fn count(&mut self, late: bool) {
        self.report.news += 1;
        self.report.late += u64::from(late);
    }

    /// What the host is to be told of late news, if there is something new.
    fn take_report(&mut self, now: LocalTime) -> Option<Report> {
        let due = now.since(self.reported.1) >= REPORT && self.report != self.reported.0;
        due.then(|| {
            self.reported = (self.report, now);
            self.report
        })
    }

    fn release(&mut self, room_now: GameTime, out: &mut Out) {
        self.happenings.release(room_now, &self.replica, |event| view(out, event));
    }

    fn advance(&mut self, now: LocalTime, factory: &mut impl Factory<View = V>, out: &mut Out) {
        let room_now = self.clock.room_time(now);
        self.seen = (now, room_now);
        self.replica.advance(room_now, factory);
        self.tell_replica(out);
    }

    fn tell_replica(&mut self, out: &mut Out) {
        while let Some(event) = self.replica.poll_event() {
            out.stats.enters += u64::from(matches!(event, ViewEvent::Enter(_)));
            out.stats.leaves += u64::from(matches!(event, ViewEvent::Leave { .. }));
            view(out, event);
        }
    }

    fn flush(&mut self, now: LocalTime, out: &mut Out) {
        self.seen = (now, self.clock.room_time(now));
        let paced = self.last_sent.is_none_or(|sent| now >= sent + PACE);
        if !paced || !self.link.wants_to_send(now) {
            return;
        }
        let mut datagram = Vec::new();
        let report = self.take_report(now);
        self.link.write_datagram(now, &mut datagram, |writer, _| {
            if let Some(mut report) = report {
                report.wire(writer).expect("a writer refuses nothing");
            }
        });
        self.last_sent = Some(now);
        out.stats.datagrams_up += 1;
        out.stats.bytes_up += datagram.len() as u64;
        out.outputs.push_back(GameOutput::Datagram(datagram.into()));
    }
}

fn view(out: &mut Out, event: ViewEvent) {
    out.outputs.push_back(GameOutput::View(event));
}
