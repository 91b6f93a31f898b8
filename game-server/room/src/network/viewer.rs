//! One client of a room: its link, and what it knows of the world.
//!
//! Datagrams from the client go in ([`Viewer::handle_datagram`]), its inputs come out; once a tick
//! the datagrams for the client come out ([`Viewer::send`]). Nothing here decides what a client may
//! see.
//!
//! Bounds: [`command_filter`](super::command_filter) limits the client's commands;
//! [`DATAGRAMS_PER_TICK`] and the budget limit what it is sent. What does not fit waits for the
//! next tick.

mod aggregation;
mod confirmations;
mod effects;
mod outgoing;
mod sent_records;

pub use outgoing::MAX_BYTES_PER_TICK;

use std::time::Duration;

use ambit_proto::cell::Cell;
use ambit_proto::codes::{Error, ErrorCode};
use ambit_proto::ids::{ClientId, ObjectId, PlayerId};
use ambit_proto::link::{Link, LinkConfig, LinkEvent};
use ambit_proto::message::{self, Command, EffectTime, KeyInput, LatenessReport, Notice, Uplink};
use ambit_proto::pose::PoseCoding;
use ambit_proto::schema::Schema;
use ambit_proto::time::GameTime;
use ambit_proto::wire::WireError;

use self::aggregation::HeldContents;
use self::confirmations::Confirmations;
use self::effects::EffectReports;
use self::sent_records::SentRecordLists;
use super::command_filter::{CommandFault, CommandFilter, FilteredCommand};
use super::pacer::Pacer;
use super::pulse_schedule::PulseSchedule;
use super::replication::object_slots::{ObjectSlots, TRAVEL_TIME};
use super::replication::sent_datagrams::SentContents;
use super::uplink_faults::UplinkFaults;

pub use self::outgoing::DATAGRAMS_PER_TICK;

/// A client that acknowledges nothing for this time is disconnected. The same time as QUIC's idle
/// timeout.
const UNRESPONSIVE_AFTER: Duration = Duration::from_secs(10);
/// Objects that have left and whose `Leave` is not acknowledged: more than a client ever has in
/// sight.
const MAX_LEAVING: usize = 16_384;
/// More events and updates than that do not fit into the datagrams of a second.
const MAX_UPDATES_PER_S: u64 = 10_000;
/// For this time after a join, the ratio of sent to received bytes is not measured: the initial
/// world goes out at once.
const WARM_UP: Duration = Duration::from_secs(10);
/// An event is resent until this time after its effect; later it is of no use.
const NOTICE_LIFETIME: Duration = Duration::from_secs(2);
/// The assumed size of a pose at the fine level before any was written, in 1/256 bits.
const INITIAL_POSE_BITS_X256: u32 = 40 * 256;

/// What a datagram of a client contained, or why it was dropped.
#[derive(Debug, PartialEq)]
pub enum UplinkEvent {
    /// A command within the client's allowance.
    Command(Command),
    /// A command above the client's allowance. Holds its number if the client is to be notified.
    OverRate(Option<u32>),
    /// A command that cannot be decoded, or that the schema does not declare. Holds its number if
    /// the client is to be notified, and with which code.
    MalformedCommand(ErrorCode, Option<u32>),
    /// The player's controls; they may be older than those already received.
    Input(KeyInput),
    /// The client could not read poses: it lacked a baseline, or they were invalid.
    LostTrack,
    /// The datagram, or the part after its messages, cannot be decoded.
    Malformed,
    /// The datagram was received before, or is too old to be known.
    Stale,
    /// The client is to receive an error: the server cannot use what it sends.
    Report(Error),
}

/// One client of a room.
pub struct Viewer {
    pub client: ClientId,
    /// The player behind the connection.
    pub player: PlayerId,
    /// The object through which the client sees the world.
    pub avatar: ObjectId,
    /// The cell around which its area of interest lies; it follows the avatar with hysteresis (see
    /// `interest`).
    pub home: Cell,
    /// Where the avatar faced when the room last asked by itself what it sees.
    pub asked_facing: Option<[f32; 2]>,
    /// What the client knows of each object that it follows.
    pub slots: ObjectSlots,
    /// How many events and updates arrived late, as the client reports.
    pub lateness: LateUpdateCounter,
    /// Bytes of datagrams from the client, and to the client, since it joined.
    pub bytes_in_out: (u64, u64),
    /// How its poses are coded.
    coding: PoseCoding,
    joined_at: GameTime,
    link: Link<SentContents>,
    record_lists: SentRecordLists,
    /// Datagrams before this number are no baselines: the client missed one.
    baseline_floor: u64,
    command_filter: CommandFilter,
    uplink_faults: UplinkFaults,
    effect_reports: EffectReports,
    confirmations: Confirmations,
    pulse_schedule: PulseSchedule,
    held: HeldContents,
    pacer: Pacer,
    /// When the client last acknowledged a datagram.
    last_ack_at: GameTime,
    /// Average size of a pose at the fine level, lately, in 1/256 bits.
    typical_pose_bits_x256: u32,
    /// Whether the static world was handed to the link.
    is_map_sent: bool,
}

/// Counts late events and updates by the client's reports. Reports are not trusted: they only reach
/// a metric, and the count never decreases.
#[derive(Clone, Copy, Debug, Default)]
pub struct LateUpdateCounter {
    reported: u64,
    drained: u64,
}

impl LateUpdateCounter {
    /// Accepts a report. The count is limited to what a client can receive in the time since it
    /// joined.
    fn note(&mut self, report: LatenessReport, present_for: Duration) {
        let max = (present_for.as_secs() + 1) * MAX_UPDATES_PER_S;
        self.reported = report.late.min(report.received).min(max).max(self.reported);
    }

    /// How many were late since the last call.
    pub fn take(&mut self) -> u64 {
        let new = self.reported - self.drained;
        self.drained = self.reported;
        new
    }
}

impl Viewer {
    /// A client that joins at `now`, over a link with this configuration.
    pub fn new(
        client: ClientId,
        player: PlayerId,
        avatar: ObjectId,
        home: Cell,
        now: GameTime,
        coding: PoseCoding,
        link: LinkConfig,
    ) -> Self {
        Viewer {
            client,
            player,
            avatar,
            home,
            asked_facing: None,
            slots: ObjectSlots::default(),
            lateness: LateUpdateCounter::default(),
            bytes_in_out: (0, 0),
            coding,
            joined_at: now,
            link: Link::with_payload(link),
            record_lists: SentRecordLists::default(),
            baseline_floor: 0,
            command_filter: CommandFilter::default(),
            uplink_faults: UplinkFaults::default(),
            effect_reports: EffectReports::default(),
            confirmations: Confirmations::default(),
            pulse_schedule: PulseSchedule::new(now),
            held: HeldContents::default(),
            pacer: Pacer::default(),
            last_ack_at: now,
            typical_pose_bits_x256: INITIAL_POSE_BITS_X256,
            is_map_sent: false,
        }
    }

    /// Processes a datagram from the client that arrived at `at`, and appends what it contains to
    /// `events`, or why it is dropped.
    pub fn handle_datagram(
        &mut self,
        at: GameTime,
        datagram: &[u8],
        schema: &Schema,
        events: &mut Vec<UplinkEvent>,
    ) {
        self.bytes_in_out.0 += datagram.len() as u64;
        let received = self.link.handle_datagram(at.into(), datagram);
        self.handle_link_events(at, schema, events);
        let axes = schema.axes().count();
        let read = |body| message::read_uplink(body, axes);
        match received.and_then(|body| body.map(read).transpose()) {
            Ok(None) => {
                events.push(UplinkEvent::Stale);
                let report = self.uplink_faults.note_stale(at);
                events.extend(report.map(UplinkEvent::Report));
            }
            Ok(Some(uplink)) => {
                self.uplink_faults.note_fresh();
                if let Some(uplink) = uplink {
                    self.handle_uplink(at, uplink, events);
                }
            }
            Err(error) => {
                events.push(UplinkEvent::Malformed);
                self.note_unreadable(&error, events);
            }
        }
    }

    /// See [`CommandFilter::may_report`].
    pub fn may_report(&mut self, now: GameTime, fault: CommandFault) -> bool {
        self.command_filter.may_report(now, fault)
    }

    /// Queues an event or a refusal. Returns false when the queue of unacknowledged messages is
    /// full, and drops the notice: a client that acknowledges nothing cannot be notified, and state
    /// is sent in another way.
    pub fn send_notice(&mut self, now: GameTime, schema: &Schema, notice: &mut Notice) -> bool {
        let (expires_at, send_by) = match notice {
            Notice::Event { effect, .. } => {
                (*effect + NOTICE_LIFETIME, Some(effect.saturating_sub(TRAVEL_TIME)))
            }
            Notice::Refused { .. } => (now + NOTICE_LIFETIME, None),
        };
        let bytes = notice.encode(schema, now).into();
        self.link
            .send_reliable_with_deadline(
                now.into(),
                bytes,
                Some(expires_at.into()),
                send_by.map(Into::into),
            )
            .is_ok()
    }

    /// Queues a report to the client: when its inputs take effect.
    pub fn queue_effect(&mut self, effect: EffectTime) {
        self.effect_reports.push(effect);
    }

    /// Whether the client has acknowledged nothing for `UNRESPONSIVE_AFTER`: it must have stopped.
    /// A live client asks for the clock every few seconds. A client that keeps its connection open
    /// but acknowledges nothing would be sent the same state for ever.
    ///
    /// Also true for a client that acknowledges everything except `Leave`s: the slots that are kept
    /// for it would grow without bound.
    pub fn is_unresponsive(&self, now: GameTime) -> bool {
        now.since(self.last_ack_at) >= UNRESPONSIVE_AFTER
            || self.slots.leaving_count() >= MAX_LEAVING
    }

    /// Bytes sent to the client over bytes received from it, once it has been in the room for long
    /// enough. The ratio shows whether the server could be abused for amplification.
    pub fn amplification(&self, now: GameTime) -> Option<f64> {
        (now.since(self.joined_at) >= WARM_UP)
            .then(|| self.bytes_in_out.1 as f64 / self.bytes_in_out.0.max(1) as f64)
    }

    pub fn set_budget(&mut self, now: GameTime, bytes_per_s: u32) {
        self.link.set_budget(now.into(), bytes_per_s);
    }

    /// The link to the client, for its statistics.
    pub fn link(&self) -> &Link<SentContents> {
        &self.link
    }

    /// The round trip to the client and back, in milliseconds, with what the client waits before it
    /// acknowledges; `None` before the first acknowledgement.
    pub(crate) fn ping_ms(&self) -> Option<u16> {
        (self.last_ack_at > self.joined_at).then(|| self.link.stats().rtt_ms.round() as u16)
    }

    /// Processes the events of the link: messages that arrived, packets acknowledged or lost.
    fn handle_link_events(&mut self, at: GameTime, schema: &Schema, events: &mut Vec<UplinkEvent>) {
        while let Some(event) = self.link.poll_event() {
            match event {
                LinkEvent::Acked(seq, contents) => {
                    self.last_ack_at = self.last_ack_at.max(at);
                    if contents.has_effects {
                        self.effect_reports.handle_acked(seq);
                    }
                    for record in self.record_lists.take(contents.record_list) {
                        self.slots.handle_acked(record, seq);
                    }
                }
                LinkEvent::Lost(seq, contents) => {
                    if contents.has_effects {
                        self.effect_reports.handle_lost(seq);
                    }
                    for record in self.record_lists.take(contents.record_list) {
                        self.slots.handle_lost(record, seq);
                    }
                }
                LinkEvent::Message(bytes) => self.handle_message(at, &bytes, schema, events),
                // Nothing depends on whether a notice has arrived. Clients send no blocks (the link
                // refuses them), and the server sends no pings.
                LinkEvent::MessageAcked(_)
                | LinkEvent::Block(_)
                | LinkEvent::BlockSent
                | LinkEvent::Pong { .. } => {}
            }
        }
    }

    fn handle_message(
        &mut self,
        at: GameTime,
        bytes: &[u8],
        schema: &Schema,
        events: &mut Vec<UplinkEvent>,
    ) {
        match self.command_filter.handle_message(at, bytes, schema) {
            FilteredCommand::Accepted(command) => events.push(UplinkEvent::Command(command)),
            FilteredCommand::OverRate { report } => events.push(UplinkEvent::OverRate(report)),
            FilteredCommand::Malformed { error, code, report } => {
                events.push(UplinkEvent::MalformedCommand(code, report));
                self.note_unreadable(&error, events);
            }
        }
    }

    fn note_unreadable(&mut self, error: &WireError, events: &mut Vec<UplinkEvent>) {
        let report = self.uplink_faults.note_unreadable(error);
        events.extend(report.map(UplinkEvent::Report));
    }

    fn handle_uplink(&mut self, at: GameTime, uplink: Uplink, events: &mut Vec<UplinkEvent>) {
        if let Some(report) = uplink.report {
            self.lateness.note(report, at.since(self.joined_at));
        }
        events.extend(uplink.input.map(UplinkEvent::Input));
        // A client repeats this report; a failure from before the baselines were revoked is already
        // handled.
        let failed = uplink
            .lost_track
            .map(|low| message::nearest_datagram_number(low, self.link.next_number()));
        if failed.is_some_and(|failed| failed >= self.baseline_floor) {
            self.baseline_floor = self.link.next_number();
            // An object at rest may have been decoded against a wrong baseline: send its pose
            // again.
            self.slots.activate_poses();
            events.push(UplinkEvent::LostTrack);
        }
    }
}
