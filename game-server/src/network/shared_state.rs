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

use super::replication::coded_poses::{CodedPoseCache, PoseSource};
use super::replication::freshness::FreshnessRates;
use super::replication::object_slots::{DueRecord, SentRecord};
use super::replication::pose_section::SectionBuffers;
use super::replication::pose_table::PoseTable;
use super::replication::records::RecordCache;
use super::replication::viewer_poses::{PoseCandidate, PoseContext};
use crate::config::{PoseCoding, RoomConfig};
use crate::logic::world::World;
use crate::stats::RoomStats;

/// Poses a second, over all clients, that the fine level may code: at some 2.5 us each, a tenth of
/// a core.
const FINE_POSES_PER_S: u64 = 40_000;
/// Datagrams are cut from blocks of this size, in bytes: one allocation for a hundred of them. A
/// block lives until the last of them is sent.
const BLOCK_BYTES: usize = 64 * 1_024;

/// See the module.
pub struct SharedTickState {
    /// What the game's objects are made of.
    pub schema: Schema,
    /// What every pose was lately.
    pub pose_table: PoseTable,
    /// Poses, coded.
    pub coded_poses: CodedPoseCache,
    /// Components, encoded.
    pub records: RecordCache,
    /// The local lag.
    pub delay: Duration,
    coding: PoseCoding,
    tick_hz: u64,
    /// By kind; any for a kind without poses.
    formats: Vec<PoseFormat>,
    /// By kind.
    rates: Vec<FreshnessRates>,
    /// Whether a kind turns freely: those gain most by the fine level.
    has_free_turning: bool,
    block: BytesMut,
}

/// What one client after the other writes into.
#[derive(Default)]
pub struct SendBuffers {
    /// WrittenRecords that are due, the most urgent last.
    pub due_records: Vec<DueRecord>,
    /// WrittenRecords that did not fit.
    pub skipped_records: Vec<DueRecord>,
    /// WrittenRecords that the datagram in hand carries.
    pub sent_records: Vec<SentRecord>,
    /// Poses that are due, by slots.
    pub due_poses: Vec<PoseCandidate>,
    /// For the choice among them.
    pub section_buffers: SectionBuffers,
    /// The pose section in hand.
    pub section_bytes: Vec<u8>,
    /// The datagram in hand.
    pub datagram_bytes: Vec<u8>,
}

/// A tick, as a client's datagrams are written in it.
pub struct TickContext<'t> {
    /// The room's clock.
    pub now: GameTime,
    /// When the next tick is.
    pub next_tick_at: GameTime,
    /// The logic's side.
    pub world: &'t World,
    /// What all share.
    pub shared_state: &'t mut SharedTickState,
    /// The buffers.
    pub buffers: &'t mut SendBuffers,
    /// The room's counters.
    pub stats: &'t mut RoomStats,
    /// How many clients there are.
    pub client_count: usize,
    /// Whether it is a tick's second turn, for those whom it told nothing: no other follows here.
    pub is_final: bool,
}

impl SharedTickState {
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
        SharedTickState {
            pose_table: PoseTable::default(),
            coded_poses: CodedPoseCache::default(),
            records: RecordCache::default(),
            delay: config.delay,
            coding: config.coding,
            tick_hz: config.tick_hz.into(),
            has_free_turning: formats
                .iter()
                .any(|format| matches!(format.turn, Turning::Free { .. })),
            rates: FreshnessRates::of_schema(&schema),
            formats,
            schema,
            block: BytesMut::new(),
        }
    }

    /// Whether the poses of a client to whom `active` objects stir are coded with the shared level.
    /// What others are told, and how many objects there are, has no say in this: it would tell of
    /// what is hidden.
    pub fn uses_shared_level(&self, clients: usize, active: usize) -> bool {
        match self.coding {
            PoseCoding::Shared => true,
            PoseCoding::Fine => false,
            PoseCoding::Auto => {
                !self.has_free_turning
                    || clients as u64 * active as u64 * self.tick_hz > FINE_POSES_PER_S
            }
        }
    }

    /// What poses are judged by, and the cache to look them up in.
    pub fn pose_context(
        &mut self,
        stamp: GameTime,
        shared: bool,
    ) -> (PoseContext<'_>, &mut CodedPoseCache) {
        let source = PoseSource {
            table: &self.pose_table,
            formats: &self.formats,
            stamp,
            tick_hz: self.tick_hz,
        };
        (
            PoseContext {
                source,
                rates: &self.rates,
                is_shared_level: shared,
            },
            &mut self.coded_poses,
        )
    }

    /// The written bytes as a datagram, without an allocation of its own.
    pub fn allocate_datagram(&mut self, bytes: &[u8]) -> Bytes {
        if self.block.capacity() < bytes.len() {
            self.block.reserve(BLOCK_BYTES.max(bytes.len()));
        }
        self.block.extend_from_slice(bytes);
        self.block.split().freeze()
    }
}
