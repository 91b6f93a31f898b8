//! One client of a room: its link, and what it knows.
//!
//! Datagrams of the client go in, what it wants comes out ([`Viewer::handle_datagram`]), and once a
//! tick the datagrams that it gets ([`Viewer::send`]); nothing here decides what a client may see.
//! Bounds: see [`hearing`](super::hearing) for what it may say, [`DATAGRAMS_PER_TICK`] and the
//! budget for what it is told; what is left waits for the next tick.

mod effects;
mod outgoing;

use std::time::Duration;

use ambit_proto::cell::Cell;
use ambit_proto::ids::{ClientId, ObjectId, PlayerId};
use ambit_proto::link::{BudgetConfig, Link, LinkConfig, LinkEvent, PacketLog};
use ambit_proto::message::{self, Effect, Notice, Report, Uplink};
use ambit_proto::time::GameTime;
use ambit_proto::wire::{self, WireError};

use self::effects::Effects;
use super::hearing::{Heard, Hearing};
use super::pace::Pace;
use super::replication::numbers::Numbers;
use super::replication::slots::{Carried, Slots, TRAVEL};
use super::rhythm::Rhythm;

pub use self::outgoing::DATAGRAMS_PER_TICK;

/// As long as QUIC waits before it gives a connection up.
const DEAF: Duration = Duration::from_secs(10);
/// Objects that are gone and not confirmed to be: more than ever are in sight.
const MOST_LEAVING: usize = 16_384;
/// More news than that don't fit into the datagrams of a second.
const MAX_NEWS_PER_S: u64 = 10_000;
/// The initial world goes out at once and is no sign of anything.
const SETTLED: Duration = Duration::from_secs(10);
/// An event is resent until so long after its effect; then nobody wants to know.
const NOTICE_USEFUL: Duration = Duration::from_secs(2);
/// What a pose is taken to need at the fine level before any was written, in 1/256 bits.
const FIRST_POSE_X256: u32 = 40 * 256;

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
    numbers: Numbers,
    hearing: Hearing,
    effects: Effects,
    rhythm: Rhythm,
    pace: Pace,
    /// When it last confirmed something.
    answered_at: GameTime,
    /// What a pose takes at the fine level, lately, in 1/256 bits.
    typical_x256: u32,
    /// Whether the static world is on its way.
    has_map: bool,
}

/// What a client reports of late news. Its word: it goes into a figure, and never down.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lateness {
    reported: u64,
    taken: u64,
}

impl Lateness {
    /// A report may claim that everything was late, but not more than a client can be told since it
    /// came.
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
            slots: Slots::default(),
            late: Lateness::default(),
            bytes: (0, 0),
            since: now,
            link: Link::new(LinkConfig {
                budget,
                ..LinkConfig::server()
            }),
            log: PacketLog::new(),
            numbers: Numbers::default(),
            hearing: Hearing::new(now),
            effects: Effects::default(),
            rhythm: Rhythm::new(now),
            pace: Pace::default(),
            answered_at: now,
            typical_x256: FIRST_POSE_X256,
            has_map: false,
        }
    }

    /// A datagram from the client, which arrived at `at`; appends what it said to `heard`.
    pub fn handle_datagram(
        &mut self,
        at: GameTime,
        datagram: &[u8],
        heard: &mut Vec<Heard>,
    ) -> Result<(), WireError> {
        self.bytes.0 += datagram.len() as u64;
        let body = self.link.handle_datagram(at.into(), datagram)?;
        let uplink = body.map_or(Ok(None), message::read_uplink);
        self.follow_up(at, heard);
        if let Some(uplink) = uplink? {
            self.handle_uplink(at, uplink, heard);
        }
        Ok(())
    }

    /// Puts an event or a refusal on its way. False when the queue of unconfirmed messages is full:
    /// the notice is dropped, since a client that confirms nothing can't be told anything, and
    /// state finds its own way.
    pub fn notify(&mut self, now: GameTime, notice: &mut Notice) -> bool {
        let (useful_until, leave_by) = match notice {
            Notice::Event { effect, .. } => {
                (*effect + NOTICE_USEFUL, effect.saturating_sub(TRAVEL))
            }
            Notice::Refused { .. } => (now + NOTICE_USEFUL, now),
        };
        let bytes = wire::encode(notice).into();
        self.link
            .send_reliable_by(
                now.into(),
                bytes,
                Some(useful_until.into()),
                Some(leave_by.into()),
            )
            .is_ok()
    }

    /// Inputs of the client take effect: it is told so.
    pub fn note_effect(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    /// Whether the client has confirmed nothing for so long that nobody can be there who listens:
    /// it asks for the clock every few seconds, and whoever holds a connection open and confirms
    /// nothing would be told the same for ever.
    ///
    /// Likewise a client that confirms everything but that objects are gone: what is kept of those
    /// for it grows.
    pub fn is_deaf(&self, now: GameTime) -> bool {
        now.since(self.answered_at) >= DEAF || self.slots.leaving() >= MOST_LEAVING
    }

    /// Bytes towards the client over bytes from it, once it has been here for long enough to tell.
    /// Nobody should make the server shout for a whisper.
    pub fn amplification(&self, now: GameTime) -> Option<f64> {
        (now.since(self.since) >= SETTLED).then(|| self.bytes.1 as f64 / self.bytes.0.max(1) as f64)
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
    fn follow_up(&mut self, at: GameTime, heard: &mut Vec<Heard>) {
        while let Some(event) = self.link.poll_event() {
            match event {
                LinkEvent::Acked(seq) => {
                    self.answered_at = self.answered_at.max(at);
                    self.numbers.acked(self.link.number_of(seq));
                    self.effects.handle_acked(seq);
                    for carried in self.log.take(seq) {
                        self.slots.acked(carried);
                    }
                }
                LinkEvent::Lost(seq) => {
                    self.numbers.lost(self.link.number_of(seq));
                    self.effects.handle_lost(seq);
                    for carried in self.log.take(seq) {
                        self.slots.lost(carried, seq);
                    }
                }
                LinkEvent::Message(bytes) => heard.push(self.hearing.hear(at, &bytes)),
                // Clients send no blocks (the link takes none), and it is they who ask for the
                // time.
                LinkEvent::Block(_) | LinkEvent::BlockSent | LinkEvent::Pong { .. } => {}
            }
        }
    }

    fn handle_uplink(&mut self, at: GameTime, uplink: Uplink, heard: &mut Vec<Heard>) {
        if let Some(report) = uplink.report {
            self.late.note(report, at.since(self.since));
        }
        heard.extend(uplink.input.map(Heard::Input));
        // It is said again and again; what failed before the bases were forgotten is over.
        let failed = uplink
            .lost_track
            .map(|low| message::nearest_number(low, self.numbers.next()));
        if failed.is_some_and(|failed| failed >= self.numbers.floor()) {
            self.numbers.forget_bases();
            // What rests may have been read against a wrong one: it is told again.
            self.slots.activate_poses();
            heard.push(Heard::LostTrack);
        }
    }
}
