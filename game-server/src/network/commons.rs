//! What all clients of a room share: what is computed once for them, and the buffers of whoever
//! writes just now.
//!
//! Nothing here is about one client; so nothing that one is told can reach another but through what
//! both are told in any case.

use std::time::Duration;

use ambit_proto::pose::{PoseFormat, Turning};
use ambit_proto::schema::Schema;
use ambit_proto::time::GameTime;
use bytes::{Bytes, BytesMut};

use super::replication::book::PoseBook;
use super::replication::cache::{CodeCache, Source};
use super::replication::fill::Buffers;
use super::replication::freshness::Rates;
use super::replication::poses::{Candidate, Scene};
use super::replication::records::RecordCache;
use super::replication::slots::{Carried, Due};
use crate::config::{Coding, RoomConfig};
use crate::logic::world::World;
use crate::stats::RoomStats;

/// Poses a second, over all clients, that the fine level may code: at some 2.5 us each, a tenth of
/// a core.
const FINE_POSES_PER_S: u64 = 40_000;
/// Datagrams are cut from blocks of this size, in bytes: one allocation for a hundred of them. A
/// block lives until the last of them is sent.
const BLOCK: usize = 64 * 1_024;

/// See the module.
pub struct Commons {
    /// What the game's objects are made of.
    pub schema: Schema,
    /// What every pose was lately.
    pub book: PoseBook,
    /// Poses, coded.
    pub codes: CodeCache,
    /// Components, encoded.
    pub records: RecordCache,
    /// The local lag.
    pub delay: Duration,
    coding: Coding,
    tick_hz: u64,
    /// By kind; any for a kind without poses.
    formats: Vec<PoseFormat>,
    /// By kind.
    rates: Vec<Rates>,
    /// Whether a kind turns freely: those gain most by the fine level.
    turns_freely: bool,
    block: BytesMut,
}

/// What one client after the other writes into.
#[derive(Default)]
pub struct Scratch {
    /// Records that are due, the most urgent last.
    pub due: Vec<Due>,
    /// Records that did not fit.
    pub skipped: Vec<Due>,
    /// Records that the datagram in hand carries.
    pub carried: Vec<Carried>,
    /// Poses that are due, by slots.
    pub poses: Vec<Candidate>,
    /// For the choice among them.
    pub buffers: Buffers,
    /// The pose section in hand.
    pub section: Vec<u8>,
    /// The datagram in hand.
    pub datagram: Vec<u8>,
}

/// A tick, as a client's datagrams are written in it.
pub struct Tick<'t> {
    /// The room's clock.
    pub now: GameTime,
    /// When the next tick is.
    pub next: GameTime,
    /// The logic's side.
    pub world: &'t World,
    /// What all share.
    pub commons: &'t mut Commons,
    /// The buffers.
    pub scratch: &'t mut Scratch,
    /// The room's counters.
    pub stats: &'t mut RoomStats,
    /// How many clients there are.
    pub clients: usize,
    /// Whether it is a tick's second turn, for those whom it told nothing: no other follows here.
    pub parting: bool,
}

impl Commons {
    /// Of a room with nobody in it.
    pub fn new(config: &RoomConfig, schema: Schema) -> Self {
        const NONE: PoseFormat = PoseFormat {
            per_metre: 1,
            turn: Turning::Fixed,
            motion: None,
        };
        let formats: Vec<_> = schema
            .kinds
            .iter()
            .map(|kind| kind.pose_format().copied().unwrap_or(NONE))
            .collect();
        Commons {
            book: PoseBook::default(),
            codes: CodeCache::default(),
            records: RecordCache::default(),
            delay: config.delay,
            coding: config.coding,
            tick_hz: config.tick_hz.into(),
            turns_freely: formats
                .iter()
                .any(|format| matches!(format.turn, Turning::Free { .. })),
            rates: Rates::of_schema(&schema),
            formats,
            schema,
            block: BytesMut::new(),
        }
    }

    /// Whether the poses of a client to whom `active` objects stir are coded with the shared level.
    /// What others are told, and how many objects there are, has no say in this: it would tell of
    /// what is hidden.
    pub fn codes_shared(&self, clients: usize, active: usize) -> bool {
        match self.coding {
            Coding::Shared => true,
            Coding::Fine => false,
            Coding::Auto => {
                !self.turns_freely
                    || clients as u64 * active as u64 * self.tick_hz > FINE_POSES_PER_S
            }
        }
    }

    /// What poses are judged by, and the cache to look them up in.
    pub fn scene(&mut self, stamp: GameTime, shared: bool) -> (Scene<'_>, &mut CodeCache) {
        let source = Source {
            book: &self.book,
            formats: &self.formats,
            stamp,
            tick_hz: self.tick_hz,
        };
        (
            Scene {
                source,
                rates: &self.rates,
                shared,
            },
            &mut self.codes,
        )
    }

    /// The written bytes as a datagram, without an allocation of its own.
    pub fn datagram(&mut self, bytes: &[u8]) -> Bytes {
        if self.block.capacity() < bytes.len() {
            self.block.reserve(BLOCK.max(bytes.len()));
        }
        self.block.extend_from_slice(bytes);
        self.block.split().freeze()
    }
}
