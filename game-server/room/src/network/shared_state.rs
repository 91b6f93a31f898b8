//! What all clients of a room share: what is computed once for all of them, and the buffers of the
//! client that is being written to.
//!
//! Nothing here depends on a single client. So a client can learn nothing about what another one
//! gets, except for what both get anyway.

use std::time::Duration;

use ambit_proto::pose::{Extrapolation, Level, PoseCoding, PoseFormat, Turning};
use ambit_proto::schema::{Predictors, Schema};
use ambit_proto::time::GameTime;
use bytes::{Bytes, BytesMut};

use super::load_level::LoadLevel;
use super::replication::coded_poses::CodedPoseCache;
use super::replication::freshness::FreshnessRates;
use super::replication::object_slots::{DueRecord, SentRecord};
use super::replication::pose_section::SectionBuffers;
use super::replication::pose_source::PoseSource;
use super::replication::pose_table::PoseTable;
use super::replication::records::RecordCache;
use super::replication::viewer_poses::{PoseCandidate, PoseContext};
use super::sent_meter::SentMeter;
use crate::config::{Quorum, RoomConfig};
use crate::logic::world::World;
use crate::stats::RoomStats;

/// How many poses a second may be coded at the fine level for the clients that leave the choice to
/// the host: at some 2.5 us each, this is a tenth of a core. Clients that ask for it get it beyond
/// that, as far as their budgets allow.
const FINE_POSES_PER_S: u64 = 40_000;
/// Datagrams are cut from blocks of this size: one allocation for about a hundred datagrams. A
/// block lives until the last of them is sent.
const BLOCK_BYTES: usize = 64 * 1_024;

/// What all clients of a room share; see the module.
pub struct SharedTickState {
    /// The kinds of objects and events of the game.
    pub schema: Schema,
    /// The recent poses of all objects.
    pub pose_table: PoseTable,
    /// The poses of this tick, coded once per baseline.
    pub coded_poses: CodedPoseCache,
    /// The components of this tick, encoded once per audience.
    pub records: RecordCache,
    /// The local lag.
    pub delay: Duration,
    /// When poses leave.
    pub quorum: Quorum,
    tick_hz: u64,
    /// By kind; a placeholder for a kind without poses.
    formats: Vec<PoseFormat>,
    /// By kind: how poses are extrapolated, if the kind says so.
    reckoned: Vec<Option<Extrapolation>>,
    /// By kind.
    rates: Vec<FreshnessRates>,
    /// Whether any kind turns freely: such poses gain most from the fine level.
    has_free_turning: bool,
    block: BytesMut,
}

/// Buffers that each client reuses in turn.
#[derive(Default)]
pub struct SendBuffers {
    /// Records that are due, the most urgent last.
    pub due_records: Vec<DueRecord>,
    /// Records that did not fit.
    pub skipped_records: Vec<DueRecord>,
    /// Records that the present datagram carries.
    pub sent_records: Vec<SentRecord>,
    /// Poses that are due, in ascending order of slots.
    pub due_poses: Vec<PoseCandidate>,
    /// For the choice of the poses that fit.
    pub section_buffers: SectionBuffers,
    /// The pose section that is being written.
    pub section_bytes: Vec<u8>,
    /// The datagram that is being written.
    pub datagram_bytes: Vec<u8>,
    /// Only while an operator looks.
    pub meter: Option<SentMeter>,
}

/// What a client needs to write its datagrams at a tick.
pub struct TickContext<'t> {
    /// The room's time at this tick.
    pub now: GameTime,
    /// When the next tick begins.
    pub next_tick_at: GameTime,
    pub world: &'t World,
    /// State that all clients share.
    pub shared_state: &'t mut SharedTickState,
    /// Buffers that all clients reuse.
    pub buffers: &'t mut SendBuffers,
    pub stats: &'t mut RoomStats,
    /// Number of clients in the room.
    pub client_count: usize,
    /// How much less is sent, because the room is late.
    pub load_level: LoadLevel,
    /// Clients are confirmed only what these ticks received; `None` for everything.
    pub confirm_until: Option<GameTime>,
    /// Whether this is the second pass of the room's last tick, for clients that got nothing in the
    /// first. No tick follows at this host.
    pub is_final: bool,
}

impl SharedTickState {
    /// The state of a room without clients.
    pub fn new(config: &RoomConfig, schema: Schema, predictors: &Predictors) -> Self {
        const NONE: PoseFormat = PoseFormat { per_metre: 1, turn: Turning::Fixed, motion: None };
        let formats: Vec<_> =
            schema.kinds.iter().map(|kind| kind.pose_format().copied().unwrap_or(NONE)).collect();
        SharedTickState {
            pose_table: PoseTable::default(),
            coded_poses: CodedPoseCache::default(),
            records: RecordCache::default(),
            delay: config.delay,
            quorum: config.quorum,
            tick_hz: config.tick_hz.into(),
            has_free_turning: formats
                .iter()
                .any(|format| matches!(format.turn, Turning::Free { .. })),
            reckoned: schema.kinds.iter().map(|kind| kind.extrapolation(predictors)).collect(),
            rates: FreshnessRates::of_schema(&schema),
            formats,
            schema,
            block: BytesMut::new(),
        }
    }

    /// The level at which a client with this coding and this number of active objects gets its
    /// poses; `None` for whole poses. What other clients get, and the number of objects in the
    /// room, must not affect this: it would reveal hidden objects.
    pub fn level(
        &self,
        coding: PoseCoding,
        client_count: usize,
        active_count: usize,
    ) -> Option<Level> {
        coding.level(|| {
            let poses_per_s = client_count as u64 * active_count as u64 * self.tick_hz;
            if self.has_free_turning && poses_per_s <= FINE_POSES_PER_S {
                Level::Fine
            } else {
                Level::Shared
            }
        })
    }

    /// What the choice of poses depends on, and the cache of the coded poses.
    pub fn pose_context(
        &mut self,
        stamp: GameTime,
        level: Option<Level>,
    ) -> (PoseContext<'_>, &mut CodedPoseCache) {
        let source = PoseSource {
            table: &self.pose_table,
            formats: &self.formats,
            reckoned: &self.reckoned,
            stamp,
            tick_hz: self.tick_hz,
        };
        (PoseContext { source, rates: &self.rates, level }, &mut self.coded_poses)
    }

    /// The same for one who only reads.
    pub fn reading_context(&self, stamp: GameTime) -> PoseContext<'_> {
        let SharedTickState { pose_table: table, formats, reckoned, rates, tick_hz, .. } = self;
        let source = PoseSource { table, formats, reckoned, stamp, tick_hz: *tick_hz };
        PoseContext { source, rates, level: None }
    }

    /// Copies the written bytes into a datagram that shares its allocation with others.
    pub fn allocate_datagram(&mut self, bytes: &[u8]) -> Bytes {
        if self.block.capacity() < bytes.len() {
            self.block.reserve(BLOCK_BYTES.max(bytes.len()));
        }
        self.block.extend_from_slice(bytes);
        self.block.split().freeze()
    }
}
