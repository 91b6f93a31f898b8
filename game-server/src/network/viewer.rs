//! One client of a room: its link, and what it knows.
//!
//! Datagrams of the client go in, what it wants comes out ([`Viewer::handle_datagram`]), and once a
//! tick the datagrams that it gets ([`Viewer::send`]); nothing here decides what a client may see.
//! OffsetBounds: see [`hearing`](super::hearing) for what it may say, [`DATAGRAMS_PER_TICK`] and
//! the budget for what it is told; what is left waits for the next tick.

mod effects;
mod outgoing;

use std::time::Duration;

use ambit_proto::cell::Cell;
use ambit_proto::ids::{ClientId, ObjectId, PlayerId};
use ambit_proto::link::{BudgetConfig, Link, LinkConfig, LinkEvent, PacketLog};
use ambit_proto::message::{self, EffectTime, LatenessReport, Notice, Uplink};
use ambit_proto::time::GameTime;
use ambit_proto::wire::{self, WireError};

use self::effects::EffectReports;
use super::command_filter::{CommandFilter, UplinkEvent};
use super::pacer::Pacer;
use super::pulse_schedule::PulseSchedule;
use super::replication::object_slots::{ObjectSlots, SentRecord, TRAVEL_TIME};
use super::replication::sent_datagrams::SentDatagrams;

pub use self::outgoing::DATAGRAMS_PER_TICK;

/// As long as QUIC waits before it gives a connection up.
const UNRESPONSIVE_AFTER: Duration = Duration::from_secs(10);
/// Objects that are gone and not confirmed to be: more than ever are in sight.
const MAX_LEAVING: usize = 16_384;
/// More news than that don't fit into the datagrams of a second.
const MAX_UPDATES_PER_S: u64 = 10_000;
/// The initial world goes out at once and is no sign of anything.
const WARM_UP: Duration = Duration::from_secs(10);
/// An event is resent until so long after its effect; then nobody wants to know.
const NOTICE_LIFETIME: Duration = Duration::from_secs(2);
/// What a pose is taken to need at the fine level before any was written, in 1/256 bits.
const INITIAL_POSE_BITS_X256: u32 = 40 * 256;

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
    pub slots: ObjectSlots,
    /// How much of what it was told came late, as it says itself.
    pub lateness: LateUpdateCounter,
    /// Bytes of datagrams from the client so far, and towards it.
    pub bytes_in_out: (u64, u64),
    joined_at: GameTime,
    link: Link,
    packet_log: PacketLog<SentRecord>,
    sent_datagrams: SentDatagrams,
    command_filter: CommandFilter,
    effect_reports: EffectReports,
    pulse_schedule: PulseSchedule,
    pacer: Pacer,
    /// When it last confirmed something.
    last_ack_at: GameTime,
    /// What a pose takes at the fine level, lately, in 1/256 bits.
    typical_pose_bits_x256: u32,
    /// Whether the static world is on its way.
    is_map_sent: bool,
}

/// What a client reports of late news. Its word: it goes into a figure, and never down.
#[derive(Clone, Copy, Debug, Default)]
pub struct LateUpdateCounter {
    reported: u64,
    drained: u64,
}

impl LateUpdateCounter {
    /// A report may claim that everything was late, but not more than a client can be told since it
    /// came.
    fn note(&mut self, report: LatenessReport, here_for: Duration) {
        let most = (here_for.as_secs() + 1) * MAX_UPDATES_PER_S;
        self.reported = report
            .late
            .min(report.received)
            .min(most)
            .max(self.reported);
    }

    /// How many came late since the last call.
    pub fn take(&mut self) -> u64 {
        let new = self.reported - self.drained;
        self.drained = self.reported;
        new
    }
}

impl Viewer {
    /// A client that has just come in.
    pub fn new(
        client: ClientId,
        player: PlayerId,
        avatar: ObjectId,
        home: Cell,
        now: GameTime,
        budget_bytes_per_s: u32,
    ) -> Self {
        let budget = Some(BudgetConfig {
            bytes_per_s: budget_bytes_per_s,
            ..BudgetConfig::default()
        });
        Viewer {
            client,
            player,
            avatar,
            home,
            slots: ObjectSlots::default(),
            lateness: LateUpdateCounter::default(),
            bytes_in_out: (0, 0),
            joined_at: now,
            link: Link::new(LinkConfig {
                budget,
                ..LinkConfig::server()
            }),
            packet_log: PacketLog::new(),
            sent_datagrams: SentDatagrams::default(),
            command_filter: CommandFilter::new(now),
            effect_reports: EffectReports::default(),
            pulse_schedule: PulseSchedule::new(now),
            pacer: Pacer::default(),
            last_ack_at: now,
            typical_pose_bits_x256: INITIAL_POSE_BITS_X256,
            is_map_sent: false,
        }
    }

    /// A datagram from the client, which arrived at `at`; appends what it said to `heard`.
    pub fn handle_datagram(
        &mut self,
        at: GameTime,
        datagram: &[u8],
        heard: &mut Vec<UplinkEvent>,
    ) -> Result<(), WireError> {
        self.bytes_in_out.0 += datagram.len() as u64;
        let body = self.link.handle_datagram(at.into(), datagram)?;
        let uplink = body.map_or(Ok(None), message::read_uplink);
        self.handle_link_events(at, heard);
        if let Some(uplink) = uplink? {
            self.handle_uplink(at, uplink, heard);
        }
        Ok(())
    }

    /// Puts an event or a refusal on its way. False when the queue of unconfirmed messages is full:
    /// the notice is dropped, since a client that confirms nothing can't be told anything, and
    /// state finds its own way.
    pub fn send_notice(&mut self, now: GameTime, notice: &mut Notice) -> bool {
        let (expires_at, leave_by) = match notice {
            Notice::Event { effect, .. } => (
                *effect + NOTICE_LIFETIME,
                effect.saturating_sub(TRAVEL_TIME),
            ),
            Notice::Refused { .. } => (now + NOTICE_LIFETIME, now),
        };
        let bytes = wire::encode(notice).into();
        self.link
            .send_reliable_with_deadline(
                now.into(),
                bytes,
                Some(expires_at.into()),
                Some(leave_by.into()),
            )
            .is_ok()
    }

    /// InputSender of the client take effect: it is told so.
    pub fn queue_effect(&mut self, effect: EffectTime) {
        self.effect_reports.push(effect);
    }

    /// Whether the client has confirmed nothing for so long that nobody can be there who listens:
    /// it asks for the clock every few seconds, and whoever holds a connection open and confirms
    /// nothing would be told the same for ever.
    ///
    /// Likewise a client that confirms everything but that objects are gone: what is kept of those
    /// for it grows.
    pub fn is_unresponsive(&self, now: GameTime) -> bool {
        now.since(self.last_ack_at) >= UNRESPONSIVE_AFTER
            || self.slots.leaving_count() >= MAX_LEAVING
    }

    /// Bytes towards the client over bytes from it, once it has been here for long enough to tell.
    /// Nobody should make the server shout for a whisper.
    pub fn amplification(&self, now: GameTime) -> Option<f64> {
        (now.since(self.joined_at) >= WARM_UP)
            .then(|| self.bytes_in_out.1 as f64 / self.bytes_in_out.0.max(1) as f64)
    }

    /// Sets what the client is sent at most.
    pub fn set_budget(&mut self, now: GameTime, bytes_per_s: u32) {
        self.link.set_budget(now.into(), bytes_per_s);
    }

    /// How the link is doing.
    pub fn link(&self) -> &Link {
        &self.link
    }

    /// What the link has found out: messages that arrived, packets confirmed or lost.
    fn handle_link_events(&mut self, at: GameTime, heard: &mut Vec<UplinkEvent>) {
        while let Some(event) = self.link.poll_event() {
            match event {
                LinkEvent::Acked(seq) => {
                    self.last_ack_at = self.last_ack_at.max(at);
                    self.sent_datagrams.note_acked(self.link.number_of(seq));
                    self.effect_reports.handle_acked(seq);
                    for carried in self.packet_log.take(seq) {
                        self.slots.handle_acked(carried);
                    }
                }
                LinkEvent::LostLeader(seq) => {
                    self.sent_datagrams.note_lost(self.link.number_of(seq));
                    self.effect_reports.handle_lost(seq);
                    for carried in self.packet_log.take(seq) {
                        self.slots.handle_lost(carried, seq);
                    }
                }
                LinkEvent::Message(bytes) => {
                    heard.push(self.command_filter.handle_message(at, &bytes))
                }
                // Clients send no blocks (the link takes none), and it is they who ask for the
                // time.
                LinkEvent::Block(_) | LinkEvent::BlockSent | LinkEvent::Pong { .. } => {}
            }
        }
    }

    fn handle_uplink(&mut self, at: GameTime, uplink: Uplink, heard: &mut Vec<UplinkEvent>) {
        if let Some(report) = uplink.report {
            self.lateness.note(report, at.since(self.joined_at));
        }
        heard.extend(uplink.input.map(UplinkEvent::Input));
        // It is said again and again; what failed before the bases were forgotten is over.
        let failed = uplink
            .missing_baseline
            .map(|low| message::nearest_datagram_number(low, self.sent_datagrams.next()));
        if failed.is_some_and(|failed| failed >= self.sent_datagrams.baseline_floor()) {
            self.sent_datagrams.revoke_baselines();
            // What rests may have been read against a wrong one: it is told again.
            self.slots.activate_poses();
            heard.push(UplinkEvent::MissingBaseline);
        }
    }
}
