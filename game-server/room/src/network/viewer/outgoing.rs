//! The datagrams for one client at one tick.
//!
//! First it is decided what is due: records from the slots, poses of active objects. If anything of
//! that cannot wait, or a datagram is sent anyway, then all that is due is sent: as late as
//! possible, from the newest state, until the budget or the number of datagrams is used up. Records
//! come first, by urgency; then poses, by priority. Records leave some room for poses, so that the
//! poses of close objects do not stop while many objects come into sight.

use ambit_proto::ids::{ClientId, ObjectId};
use ambit_proto::link::{MAX_DATAGRAM, SentPackets, WrittenDatagram};
use ambit_proto::message::{self, BODY_OVERHEAD_BITS, BodyContext, Record, RecordWriter};
use ambit_proto::pose::Level;
use ambit_proto::time::GameTime;
use ambit_proto::wire::Writer;
use bytes::Bytes;

use super::Viewer;
use crate::network::replication::compose::{self, END_BITS, RecordComposer};
use crate::network::replication::freshness::FreshnessClass;
use crate::network::replication::object_slots::RecordContent;
use crate::network::replication::pose_section::{SectionFiller, SectionStats};
use crate::network::replication::sent_datagrams::{SentContents, SentDatagrams};
use crate::network::replication::viewer_poses::CollectOptions;
use crate::network::shared_state::{SendBuffers, TickContext};
use crate::stats::KindBits;

/// Datagrams with a body to one client in one tick. What is due beyond that is sent at the next
/// ticks, the nearest first.
pub const DATAGRAMS_PER_TICK: usize = 4;
/// Datagrams without a body that may follow those. All together fit into QUIC's send buffer
/// ([`DATAGRAM_SEND_BUFFER_BYTES`](ambit_transport::quic::DATAGRAM_SEND_BUFFER_BYTES)), so that
/// none pushes out another, and baselines stay known for four ticks. At 20 ticks a second this
/// allows 2 Mbit/s for blocks.
const SLICES_PER_TICK: usize = 12;
/// A second body that is shorter than this is not worth its headers.
const MIN_EXTRA_BODY_BITS: usize = 8 * 64;
/// The shortest body: a stamp, the shortest records or an empty section, and the end marks.
const MIN_BODY_BITS: usize = BODY_OVERHEAD_BITS + 2 * END_BITS;
/// Records leave this share of a body to poses, as a divisor.
const POSE_SHARE_DIVISOR: usize = 4;
/// Smoothing of the average size of a pose: the weight of each datagram, as a divisor.
const TYPICAL_SMOOTHING: u32 = 8;

/// The size of one datagram's parts.
#[derive(Clone, Copy, Debug, Default)]
struct DatagramBits {
    stamp_bits: usize,
    effect_bits: usize,
    record_bits: usize,
    section: SectionStats,
}

impl Viewer {
    /// Passes the datagrams for this client at this tick to `out`.
    pub fn send(&mut self, tick: &mut TickContext<'_>, mut out: impl FnMut(Bytes)) {
        if tick.is_final && !self.pulse_schedule.is_behind(tick.now) {
            return;
        }
        self.link.handle_timeout(tick.now.into());
        self.handle_link_events(tick.now, &tick.shared_state.schema, &mut Vec::new());
        self.slots.set_copies(self.link.makes_copies());
        self.limit_confirmations(tick);
        self.send_static_map(tick);
        let (level, deferred) = self.collect_poses(tick);
        if !self.is_anything_due(tick) {
            if let Some(meter) = &mut tick.buffers.meter {
                meter.note_waiting(self.client, std::iter::empty(), 0);
            }
            self.pacer.end_tick(None, None);
            return;
        }
        self.pacer
            .begin_tick(|| self.link.stats().budget_bytes_per_s, tick.next_tick_at.since(tick.now));
        self.held.note_sent();
        self.slots.take_due(&mut tick.buffers.due_records);
        // Of an object that is gone nothing is known but that it is gone.
        tick.buffers.due_records.retain(|due| {
            due.content != RecordContent::LastPath || tick.world.contains(due.object)
        });
        compose::sort_by_urgency(
            &mut tick.buffers.due_records,
            tick.world,
            tick.world.position(self.avatar),
        );
        let sent_before = tick.stats.poses.sent;
        let records_due = tick.buffers.due_records.len();
        for turn in 0..DATAGRAMS_PER_TICK {
            let has_contents =
                !tick.buffers.due_records.is_empty() || !tick.buffers.due_poses.is_empty();
            let available_bits =
                self.link.body_budget_bits(tick.now.into()).min(self.pacer.available_bits());
            // The first body may be short; a further one follows a full one and must be worth it.
            let body = if turn > 0 {
                has_contents && available_bits >= MIN_EXTRA_BODY_BITS
            } else {
                available_bits >= MIN_BODY_BITS
            };
            if !body && !self.link.wants_to_send(tick.now.into()) {
                break;
            }
            out(self.write_datagram(
                tick,
                level,
                has_contents,
                if body { available_bits } else { 0 },
            ));
        }
        // Slices of blocks (the static world) follow, as far as their share of the budget allows.
        for _ in 0..SLICES_PER_TICK {
            if !self.link.wants_to_send(tick.now.into()) {
                break;
            }
            out(self.write_datagram(tick, level, false, 0));
        }
        let SendBuffers { due_poses, due_records, meter, .. } = &mut *tick.buffers;
        if let Some(meter) = meter {
            let poses = due_poses.iter().filter_map(|due| Some(self.slots.at(due.slot)?.0));
            let waiting = poses.chain(due_records.iter().map(|due| due.object));
            meter.note_waiting(self.client, waiting, deferred);
        }
        let deferred = deferred + tick.buffers.due_poses.len();
        let is_behind = deferred > 0 || !tick.buffers.due_records.is_empty();
        tick.stats.poses.deferred += deferred as u64;
        let poses = (tick.stats.poses.sent - sent_before) as usize;
        let left = tick.buffers.due_records.len();
        self.pacer.end_tick(
            is_behind.then_some(poses),
            (left > 0).then(|| records_due.saturating_sub(left)),
        );
        for due in tick.buffers.due_records.drain(..) {
            self.slots.defer(&due);
        }
    }

    fn limit_confirmations(&mut self, tick: &TickContext<'_>) {
        let mark = self.link.confirmation_mark();
        let limit = self.confirmations.end_tick(tick.now, mark, tick.confirm_until);
        self.link.limit_confirmations(tick.now.into(), limit);
    }

    /// Hands the static world to the link as a block, once the client knows its avatar. The block
    /// uses its own share of the budget.
    fn send_static_map(&mut self, tick: &TickContext<'_>) {
        if self.is_map_sent || !self.slots.is_known(self.avatar) {
            return;
        }
        self.is_map_sent = true;
        let map = tick.world.static_map();
        if !map.is_empty() && self.link.send_block(tick.now.into(), map).is_err() {
            tracing::warn!(
                client = %self.client,
                "static world not sent: it is longer than a link accepts"
            );
        }
    }

    /// Collects the poses that are due. Returns how they are coded, and how many were left out
    /// because there are too many.
    fn collect_poses(&mut self, tick: &mut TickContext<'_>) -> (Option<Level>, usize) {
        let poses = self.slots.poses_mut();
        let mut deferred = 0;
        tick.buffers.due_poses.clear();
        let active = poses.active_count();
        let level =
            tick.shared_state.level(self.coding, tick.client_count, active).map(
                |level| match level {
                    Level::Fine if tick.load_level.is_coding_shared() => Level::Shared,
                    level => level,
                },
            );
        if active > 0 {
            let viewer_position_m = tick.world.position(self.avatar).on_the_ground();
            let (context, coded_poses) =
                tick.shared_state.pose_context(tick.now.whole_millis(), level);
            let options = CollectOptions {
                viewer_position_m,
                max_poses: self.pacer.max_poses(),
                typical_bits_x256: self.typical_pose_bits_x256,
                farthest: if tick.is_final {
                    FreshnessClass::Far
                } else {
                    tick.load_level.farthest_class(tick.stats.ticks, self.client)
                },
            };
            let left = poses.collect(
                context,
                coded_poses,
                SentDatagrams::new(self.link.sent_packets(), self.baseline_floor),
                options,
                &mut tick.buffers.due_poses,
            );
            tick.stats.poses.extrapolated += left.extrapolated as u64;
            deferred = left.deferred;
        }
        (level, deferred)
    }

    fn is_anything_due(&mut self, tick: &TickContext<'_>) -> bool {
        let bits_x256: u64 =
            tick.buffers.due_poses.iter().map(|due| u64::from(due.bits_x256)).sum();
        let bytes = bits_x256.div_ceil(8 * 256) as u32;
        let now = tick.now;
        let next_tick_at = tick.next_tick_at;
        let is_soon = |deadline: Option<GameTime>| deadline.is_some_and(|at| at < next_tick_at);
        let may_wait =
            bytes > 0 || self.effect_reports.is_due() || is_soon(self.slots.posed_deadline());
        let quorum = tick.shared_state.quorum;
        let held_leaves = self.held.leave(quorum, may_wait.then_some(bytes), now, next_tick_at);
        let cannot_wait = is_soon(self.slots.send_deadline());
        let sees_motion = || {
            self.slots.poses().active_count() > 0
                || self.slots.any_followed(|object| tick.world.is_moving(object))
        };
        cannot_wait
            || tick.is_final
            || held_leaves
            || self.link.wants_to_send(tick.now.into())
            || self.pulse_schedule.is_due(tick.now, sees_motion)
    }

    /// Writes a datagram with the stamp and as much of what is due as fits.
    fn write_datagram(
        &mut self,
        tick: &mut TickContext<'_>,
        level: Option<Level>,
        has_contents: bool,
        available_bits: usize,
    ) -> Bytes {
        let mut bytes = std::mem::take(&mut tick.buffers.datagram_bytes);
        bytes.clear();
        bytes.reserve(MAX_DATAGRAM);
        let now = tick.now.into();
        let Viewer {
            link,
            slots,
            record_lists,
            baseline_floor,
            effect_reports: effects,
            client,
            avatar,
            ..
        } = self;
        let has_contents = has_contents || available_bits > 0 && !effects.is_empty();
        let mut body = BodyWriter {
            tick: &mut *tick,
            slots,
            record_lists,
            baseline_floor: *baseline_floor,
            effect_reports: effects,
            client: *client,
            avatar: *avatar,
            level,
            available_bits,
        };
        let mut written = DatagramBits::default();
        let write = |writer: &mut Writer<'_>, sent: &SentPackets<SentContents>| {
            written = body.write(writer, sent);
            body.take_contents(written)
        };
        let datagram = if has_contents {
            link.write_datagram(now, &mut bytes, write)
        } else {
            link.write_datagram_without_ack_request(now, &mut bytes, write)
        };
        if written.stamp_bits > 0 {
            self.pulse_schedule.note_stamp(tick.now);
        }
        self.update_typical_bits(written.section);
        self.pacer.note_sent(bytes.len());
        self.bytes_in_out.1 += bytes.len() as u64;
        count_datagram(tick, written, datagram, bytes.len());
        let allocated = tick.shared_state.allocate_datagram(&bytes);
        tick.buffers.datagram_bytes = bytes;
        allocated
    }

    fn update_typical_bits(&mut self, section: SectionStats) {
        if let Some(average) = ((section.bytes * 8 * 256) as u32).checked_div(section.poses) {
            self.typical_pose_bits_x256 = self.typical_pose_bits_x256
                - self.typical_pose_bits_x256 / TYPICAL_SMOOTHING
                + average / TYPICAL_SMOOTHING;
        }
    }
}

/// Writes the body of one datagram.
struct BodyWriter<'b, 't> {
    tick: &'b mut TickContext<'t>,
    slots: &'b mut super::ObjectSlots,
    record_lists: &'b mut super::SentRecordLists,
    baseline_floor: u64,
    effect_reports: &'b mut super::EffectReports,
    client: ClientId,
    avatar: ObjectId,
    level: Option<Level>,
    available_bits: usize,
}

impl BodyWriter<'_, '_> {
    fn write(&mut self, writer: &mut Writer<'_>, sent: &SentPackets<SentContents>) -> DatagramBits {
        if self.available_bits == 0 {
            return DatagramBits::default();
        }
        let start = writer.bits_written();
        let max_bits = start + self.available_bits;
        let stamp = message::write_stamp(self.tick.now, writer);
        let stamp_bits = writer.bits_written() - start + 1;
        let effect_bits = self.write_effects(writer, sent, stamp, max_bits);
        let record_bits = self.write_records(writer, sent, stamp, max_bits);
        message::end_records(writer);
        let section = self.write_poses(writer, sent, stamp, max_bits);
        DatagramBits { stamp_bits, effect_bits, record_bits, section }
    }

    /// What was written, for the link to return with the datagram's outcome.
    fn take_contents(&mut self, written: DatagramBits) -> SentContents {
        let record_list = self.record_lists.store(&mut self.tick.buffers.sent_records);
        SentContents {
            may_be_baseline: written.section.poses > 0 || record_list.is_some(),
            has_effects: written.effect_bits > 0,
            record_list,
        }
    }

    /// Writes the effect times if they fit. Returns the bits used.
    fn write_effects(
        &mut self,
        writer: &mut Writer<'_>,
        sent: &SentPackets<SentContents>,
        stamp: GameTime,
        max_bits: usize,
    ) -> usize {
        if self.effect_reports.is_empty() {
            return 0;
        }
        let shared_state = &*self.tick.shared_state;
        let context = BodyContext {
            schema: &shared_state.schema,
            delay: shared_state.delay,
            approximate_now: stamp,
        };
        let mut record = Record::InputEffects(self.effect_reports.newest_first());
        let bits = record.bits(&context, stamp);
        if writer.bits_written() + bits + END_BITS > max_bits {
            return 0;
        }
        message::write_record(&mut record, &context, stamp, writer);
        self.effect_reports.note_sent(sent.next_seq());
        bits
    }

    /// Writes the records that fit. Returns the bits used.
    fn write_records(
        &mut self,
        writer: &mut Writer<'_>,
        sent: &SentPackets<SentContents>,
        stamp: GameTime,
        max_bits: usize,
    ) -> usize {
        let TickContext { world, shared_state, buffers, stats, .. } = &mut *self.tick;
        let SendBuffers {
            due_records: due,
            skipped_records: skipped,
            sent_records,
            due_poses: poses,
            meter,
            ..
        } = &mut **buffers;
        if due.is_empty() {
            return 0;
        }
        let wanted: usize = poses.iter().map(|pose| pose.bits_x256 as usize / 256 + 8).sum();
        let reserved = wanted.min(self.available_bits / POSE_SHARE_DIVISOR);
        let context = BodyContext {
            schema: &shared_state.schema,
            delay: shared_state.delay,
            approximate_now: stamp,
        };
        let records = RecordWriter { context, stamp };
        let composer = RecordComposer {
            world,
            record_writer: records,
            max_bits: max_bits - END_BITS - reserved,
        };
        let before = writer.bits_written();
        composer.write(&mut shared_state.records, due, skipped, writer, |record, bits| {
            KindBits::of_kind(&mut stats.kind_bits, record.kind).records += bits as u64;
            if let Some(meter) = meter {
                meter.note(self.client, record.object, bits as u64);
            }
            sent_records.push(self.slots.note_sent(record, sent.next_seq(), sent.next(), stamp));
        });
        writer.bits_written() - before
    }

    fn write_poses(
        &mut self,
        writer: &mut Writer<'_>,
        sent: &SentPackets<SentContents>,
        stamp: GameTime,
        max_bits: usize,
    ) -> SectionStats {
        if self.tick.buffers.due_poses.is_empty() {
            return SectionStats::default();
        }
        let viewer = self.tick.world.position(self.avatar).on_the_ground();
        let own_slot = self.slots.slot_of(self.avatar);
        let TickContext { shared_state, buffers, .. } = &mut *self.tick;
        let SendBuffers {
            due_poses: poses,
            section_buffers: buffers,
            section_bytes: bytes,
            meter,
            ..
        } = &mut **buffers;
        let max_bytes = (max_bits / 8).saturating_sub(writer.bits_written().div_ceil(8));
        let (context, coded_poses) = shared_state.pose_context(stamp, self.level);
        let section = SectionFiller {
            context,
            cache: coded_poses,
            sent_datagrams: SentDatagrams::new(sent, self.baseline_floor),
            own_slot,
            viewer_position_m: viewer,
            max_bytes,
        };
        let is_metered = meter.as_ref().is_some_and(|meter| meter.is_at(self.client));
        buffers.metered = is_metered.then(|| buffers.metered.take().unwrap_or_default());
        let stats = section.fill(self.slots.poses_mut(), poses, buffers, bytes);
        message::write_poses(bytes, writer);
        if let (Some(meter), Some(metered)) = (meter, &mut buffers.metered) {
            for (slot, bits_x256) in metered.drain(..) {
                if let Some((object, _)) = self.slots.at(slot) {
                    meter.note(self.client, object, u64::from(bits_x256.div_ceil(256)));
                }
            }
        }
        stats
    }
}

/// The most that one client is sent in a tick; the shell's send buffer holds it.
pub const MAX_BYTES_PER_TICK: usize = (DATAGRAMS_PER_TICK + SLICES_PER_TICK) * MAX_DATAGRAM;

fn count_datagram(
    tick: &mut TickContext<'_>,
    written: DatagramBits,
    parts: WrittenDatagram,
    bytes: usize,
) {
    let records = written.effect_bits + written.record_bits;
    let stamp = written.stamp_bits;
    let section = written.section;
    let TickContext { stats, buffers, .. } = tick;
    stats.datagrams_out += 1;
    stats.bytes_out += bytes as u64;
    stats.poses.sent += u64::from(section.poses);
    let bits = &mut stats.bits;
    let section_bits = section.bytes as u64 * 8;
    let content_bits = section.content_bits_x256 / 256;
    bits.stamps += stamp as u64;
    bits.records += records as u64;
    let pose_bits = section_bits.saturating_sub(section.header_bits as u64);
    bits.pose_contents += content_bits;
    bits.pose_headers += section.header_bits as u64;
    bits.pose_indices += pose_bits.saturating_sub(content_bits);
    buffers.section_buffers.shares.take(pose_bits, &mut stats.kind_bits);
    bits.link_headers += parts.header as u64;
    bits.messages += parts.messages as u64;
    bits.messages_repeated += parts.repeated_messages as u64;
    bits.slices += parts.slice as u64;
    bits.slices_repeated += parts.repeated_slice as u64;
    // A body ends with a flag, and its pose section begins at a byte.
    let of_body = (stamp + records) as u64 + section_bits;
    bits.padding += (parts.body + parts.padding) as u64 - of_body;
}

#[cfg(test)]
mod tests {
    use ambit_proto::cell::Cell;
    use ambit_proto::ids::{ClientId, ObjectId, PlayerId};
    use ambit_proto::link::{Link, LinkConfig};
    use ambit_proto::message::EffectTime;
    use ambit_proto::pose::PoseCoding;
    use ambit_proto::schema::Schema;

    use super::*;
    use crate::config::RoomConfig;
    use crate::logic::world::World;
    use crate::network::load_level::LoadLevel;
    use crate::network::shared_state::SharedTickState;
    use crate::stats::RoomStats;

    /// Room for all that is due.
    const BODY_BITS: usize = 8 * 1_000;

    #[test]
    fn an_ack_of_a_datagram_without_effects_confirms_nothing() {
        let config = RoomConfig::default();
        let schema = Schema { game: "test".to_owned(), ..Schema::default() };
        let world = World::new(&config, schema.clone());
        let now = GameTime::from_millis(100);
        let later = GameTime::from_millis(150);
        let mut tick = TickContext {
            now,
            next_tick_at: later,
            world: &world,
            shared_state: &mut SharedTickState::new(&config, schema, &Vec::new()),
            buffers: &mut SendBuffers::default(),
            stats: &mut RoomStats::default(),
            client_count: 1,
            load_level: LoadLevel::NONE,
            confirm_until: None,
            is_final: false,
        };
        let mut viewer = Viewer::new(
            ClientId(1),
            PlayerId(1),
            ObjectId(1),
            Cell::new(0, 0),
            now,
            PoseCoding::Auto,
            LinkConfig::server(),
        );
        let mut client = Link::new(LinkConfig::client());
        let effect = EffectTime { sampled_until: now, takes_effect_at: now + config.delay };
        viewer.queue_effect(effect);
        let lost = viewer.write_datagram(&mut tick, None, true, BODY_BITS);
        let mut other_client = Link::new(LinkConfig::client());
        assert_eq!(read_effects(&mut other_client, &lost, &tick), [effect]);

        let without_body = viewer.write_datagram(&mut tick, None, false, 0);
        assert_eq!(read_effects(&mut client, &without_body, &tick), []);
        let mut ack = Vec::new();
        client.write_datagram_without_ack_request(later.into(), &mut ack, |_, _| ());
        let mut events = Vec::new();
        viewer.handle_datagram(later, &ack, &tick.shared_state.schema, &mut events);
        assert_eq!(events, []);
        let acked = viewer.link.sent_packets().newest_acked();
        assert_eq!(acked, Some(1), "the datagram without a body");

        let next = viewer.write_datagram(&mut tick, None, true, BODY_BITS);
        assert_eq!(read_effects(&mut client, &next, &tick), [effect]);
    }

    /// The effects that a client reads in a datagram.
    fn read_effects(
        client: &mut Link<()>,
        bytes: &[u8],
        tick: &TickContext<'_>,
    ) -> Vec<EffectTime> {
        let context = BodyContext {
            schema: &tick.shared_state.schema,
            delay: tick.shared_state.delay,
            approximate_now: tick.now,
        };
        let body =
            client.handle_datagram(tick.now.into(), bytes).expect("the viewer's own datagram");
        let body = body
            .and_then(|body| message::read_body(body, &context).expect("the viewer's own body"));
        let records = body.map(|body| body.records).unwrap_or_default();
        let effects = records.into_iter().flat_map(|record| match record {
            Record::InputEffects(effects) => effects,
            other => panic!("{other:?}"),
        });
        effects.collect()
    }
}
