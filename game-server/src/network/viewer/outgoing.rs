//! What one client is sent at one tick.
//!
//! First it is found out what is due: records from its slots, poses that stir. If there is anything
//! that cannot wait, or a datagram leaves anyway, all that is due goes out, as late as possible and
//! from the newest state, until the budget or the number of datagrams is used up: records by
//! urgency, then poses by their priorities. Records leave room for some poses, so that a crowd that
//! comes into sight does not make what the player fights stand still.

use ambit_proto::ids::Seq;
use ambit_proto::link::MAX_DATAGRAM;
use ambit_proto::message::{self, BODY_OVERHEAD_BITS, BodyContext, Record, RecordWriter};
use ambit_proto::time::GameTime;
use ambit_proto::wire::Writer;
use bytes::Bytes;

use super::Viewer;
use crate::network::commons::{Scratch, Tick};
use crate::network::replication::compose::{self, Composer, END_BITS};
use crate::network::replication::fill::{Filled, Section};
use crate::network::replication::poses::Look;

/// Datagrams to one client in one tick. What is due beyond that goes out in the ticks after: the
/// nearest first.
pub const DATAGRAMS_PER_TICK: usize = 4;
/// Datagrams without a body that may follow those: all together fit into what QUIC lets wait
/// ([`DATAGRAM_SEND_BUFFER_BYTES`](ambit_proto::quic::DATAGRAM_SEND_BUFFER_BYTES)), so that none
/// pushes out another; and bases stay known for four ticks. At 20 ticks a second that is 2 Mbit/s
/// for blocks.
const SLICES_PER_TICK: usize = 12;
/// A further datagram for less than that is not worth its headers.
const LEAST_BODY_BITS: usize = 8 * 64;
/// No body is shorter: a stamp, the shortest records or an empty section, and the ends.
const LEAST_BITS: usize = BODY_OVERHEAD_BITS + 2 * END_BITS;
/// Of a body, what records leave to poses: one part in so many.
const POSES_SHARE: usize = 4;
/// How fast the typical cost of a pose follows: one part in so many a datagram.
const TYPICAL_PART: u32 = 8;

/// What one datagram came to, in bits.
#[derive(Clone, Copy, Debug, Default)]
struct Written {
    stamp: usize,
    records: usize,
    section: Filled,
}

impl Viewer {
    /// Hands the datagrams that this client gets at this tick to `out`.
    pub fn send(&mut self, tick: &mut Tick<'_>, mut out: impl FnMut(Bytes)) {
        if tick.parting && !self.rhythm.is_behind(tick.now) {
            return;
        }
        self.link.handle_timeout(tick.now.into());
        self.follow_up(tick.now, &mut Vec::new());
        self.hand_out_map(tick);
        let (shared, deferred) = self.collect(tick);
        if !self.is_anything_due(tick) {
            self.pace.end_tick(None, None);
            return;
        }
        self.pace.begin_tick(
            || self.link.stats().budget_bytes_per_s,
            tick.next.since(tick.now),
        );
        self.slots.take_due(&mut tick.scratch.due);
        compose::order(
            &mut tick.scratch.due,
            tick.world,
            tick.world.position(self.avatar),
        );
        let (sent_before, records_due) = (tick.stats.poses.sent, tick.scratch.due.len());
        for turn in 0..DATAGRAMS_PER_TICK {
            let said = !tick.scratch.due.is_empty() || !tick.scratch.poses.is_empty();
            let room_bits = self
                .link
                .body_budget_bits(tick.now.into())
                .min(self.pace.room_bits());
            // A body that follows one that is full, or a first one.
            let body = if turn > 0 {
                said && room_bits >= LEAST_BODY_BITS
            } else {
                room_bits >= LEAST_BITS
            };
            if !body && !self.link.wants_to_send(tick.now.into()) {
                break;
            }
            out(self.datagram(tick, shared, said, if body { room_bits } else { 0 }));
        }
        // Slices of the static world go beside all that, as far as their share of the budget goes.
        for _ in 0..SLICES_PER_TICK {
            if !self.link.wants_to_send(tick.now.into()) {
                break;
            }
            out(self.datagram(tick, shared, false, 0));
        }
        let deferred = deferred + tick.scratch.poses.len();
        let is_behind = deferred > 0 || !tick.scratch.due.is_empty();
        tick.stats.poses.deferred += deferred as u64;
        let poses = (tick.stats.poses.sent - sent_before) as usize;
        let left = tick.scratch.due.len();
        self.pace.end_tick(
            is_behind.then_some(poses),
            (left > 0).then(|| records_due.saturating_sub(left)),
        );
        for due in tick.scratch.due.drain(..) {
            self.slots.defer(&due);
        }
    }

    /// The static world goes out beside all else, once the client has its avatar: with the budget's
    /// share for blocks.
    fn hand_out_map(&mut self, tick: &Tick<'_>) {
        if self.has_map || !self.slots.knows_own() {
            return;
        }
        self.has_map = true;
        let map = tick.world.static_map();
        if !map.is_empty() && self.link.send_block(tick.now.into(), map).is_err() {
            tracing::warn!(client = %self.client, "the static world is longer than a link takes");
        }
    }

    /// Finds out which poses are due. Whether they are coded with the shared level, and how many
    /// are left out for want of room.
    fn collect(&mut self, tick: &mut Tick<'_>) -> (bool, usize) {
        let (poses, mut deferred) = (self.slots.poses_mut(), 0);
        tick.scratch.poses.clear();
        let active = poses.active_count();
        let shared = tick.commons.codes_shared(tick.clients, active);
        if active > 0 {
            let place = place(tick, self.avatar);
            let (scene, codes) = tick.commons.scene(tick.now.whole_millis(), shared);
            let look = Look {
                viewer: place,
                most: self.pace.most_poses(),
                typical_x256: self.typical_x256,
            };
            let left = poses.collect(scene, codes, &self.numbers, look, &mut tick.scratch.poses);
            tick.stats.poses.foretold += left.foretold as u64;
            deferred = left.deferred;
        }
        (shared, deferred)
    }

    fn is_anything_due(&self, tick: &Tick<'_>) -> bool {
        let cannot_wait = self
            .slots
            .leave_by()
            .is_some_and(|leave_by| leave_by < tick.next);
        let sees_motion = || {
            self.slots.poses().active_count() > 0
                || self
                    .slots
                    .any_followed(|object| tick.world.is_moving(object))
        };
        cannot_wait
            || tick.parting
            || !tick.scratch.poses.is_empty()
            || self.effects.is_due()
            || self.link.wants_to_send(tick.now.into())
            || self.rhythm.is_due(tick.now, sees_motion)
    }

    /// A datagram with as much of what is due as it holds, and the stamp.
    fn datagram(
        &mut self,
        tick: &mut Tick<'_>,
        shared: bool,
        said: bool,
        room_bits: usize,
    ) -> Bytes {
        let mut bytes = std::mem::take(&mut tick.scratch.datagram);
        bytes.clear();
        bytes.reserve(MAX_DATAGRAM);
        let now = tick.now.into();
        let Viewer {
            link,
            slots,
            numbers,
            effects,
            avatar,
            ..
        } = self;
        let said = said || room_bits > 0 && !effects.is_empty();
        let mut body = Body {
            tick: &mut *tick,
            slots,
            numbers,
            effects,
            avatar: *avatar,
            shared,
            room_bits,
        };
        let mut written = Written::default();
        let write = |writer: &mut Writer<'_>, seq: Seq| written = body.write(writer, seq);
        let seq = if said {
            link.write_datagram(now, &mut bytes, write)
        } else {
            link.write_datagram_quietly(now, &mut bytes, write)
        };
        let stamp = tick.now.whole_millis();
        let Scratch { carried, .. } = &mut *tick.scratch;
        self.numbers
            .sent(stamp, written.section.poses > 0 || !carried.is_empty());
        self.log.record(seq).append(carried);
        if written.stamp > 0 {
            self.rhythm.note_stamp(tick.now);
        }
        self.note_typical(written.section);
        self.pace.note_sent(bytes.len());
        self.bytes.1 += bytes.len() as u64;
        count(tick, written, bytes.len());
        let datagram = tick.commons.datagram(&bytes);
        tick.scratch.datagram = bytes;
        datagram
    }

    /// Looks at how old what this client was sent is, for the figures.
    pub fn sample_ages(&self, tick: &mut Tick<'_>) {
        let place = place(tick, self.avatar);
        let (scene, _) = tick.commons.scene(tick.now.whole_millis(), true);
        let poses = self.slots.poses();
        for (class, age_ms) in poses.active().map(|slot| poses.age(slot, scene, place)) {
            tick.stats.poses.ages[class as usize].add(age_ms);
        }
    }

    fn note_typical(&mut self, section: Filled) {
        if let Some(average) = ((section.bytes * 8 * 256) as u32).checked_div(section.poses) {
            self.typical_x256 =
                self.typical_x256 - self.typical_x256 / TYPICAL_PART + average / TYPICAL_PART;
        }
    }
}

/// The body of a datagram in the making.
struct Body<'b, 't> {
    tick: &'b mut Tick<'t>,
    slots: &'b mut super::Slots,
    numbers: &'b super::Numbers,
    effects: &'b mut super::Effects,
    avatar: ambit_proto::ids::ObjectId,
    shared: bool,
    room_bits: usize,
}

impl Body<'_, '_> {
    fn write(&mut self, writer: &mut Writer<'_>, seq: Seq) -> Written {
        if self.room_bits == 0 {
            return Written::default();
        }
        let start = writer.bits_written();
        let most_bits = start + self.room_bits;
        let stamp = message::write_stamp(self.tick.now, writer);
        let stamp_bits = writer.bits_written() - start + 1;
        let effects = self.write_effects(writer, seq, stamp, most_bits);
        let records = effects + self.write_records(writer, seq, stamp, most_bits);
        message::end_records(writer);
        let section = self.write_poses(writer, stamp, most_bits);
        Written {
            stamp: stamp_bits,
            records,
            section,
        }
    }

    /// How many bits they took.
    fn write_effects(
        &mut self,
        writer: &mut Writer<'_>,
        seq: Seq,
        stamp: GameTime,
        most_bits: usize,
    ) -> usize {
        if self.effects.is_empty() {
            return 0;
        }
        let commons = &*self.tick.commons;
        let context = BodyContext {
            schema: &commons.schema,
            delay: commons.delay,
            near: stamp,
        };
        let mut record = Record::Effects(self.effects.told());
        let bits = record.bits(&context, stamp);
        if writer.bits_written() + bits + END_BITS > most_bits {
            return 0;
        }
        message::write_record(&mut record, &context, stamp, writer);
        self.effects.note_sent(seq);
        bits
    }

    /// How many bits they took.
    fn write_records(
        &mut self,
        writer: &mut Writer<'_>,
        seq: Seq,
        stamp: GameTime,
        most_bits: usize,
    ) -> usize {
        let Tick {
            world,
            commons,
            scratch,
            ..
        } = &mut *self.tick;
        let Scratch {
            due,
            skipped,
            carried,
            poses,
            ..
        } = &mut **scratch;
        if due.is_empty() {
            return 0;
        }
        let wanted: usize = poses
            .iter()
            .map(|pose| pose.bits_x256 as usize / 256 + 8)
            .sum();
        let reserved = wanted.min(self.room_bits / POSES_SHARE);
        let context = BodyContext {
            schema: &commons.schema,
            delay: commons.delay,
            near: stamp,
        };
        let records = RecordWriter { context, stamp };
        let composer = Composer {
            world,
            records,
            most_bits: most_bits - END_BITS - reserved,
        };
        let before = writer.bits_written();
        composer.write(&mut commons.records, due, skipped, writer, |sent| {
            carried.push(self.slots.sent(sent, seq, self.numbers.next(), stamp));
        });
        writer.bits_written() - before
    }

    fn write_poses(
        &mut self,
        writer: &mut Writer<'_>,
        stamp: GameTime,
        most_bits: usize,
    ) -> Filled {
        if self.tick.scratch.poses.is_empty() {
            return Filled::default();
        }
        let viewer = place(self.tick, self.avatar);
        let own = self.slots.slot_of(self.avatar);
        let Tick {
            commons, scratch, ..
        } = &mut *self.tick;
        let Scratch {
            poses,
            buffers,
            section: bytes,
            ..
        } = &mut **scratch;
        let most_bytes = (most_bits / 8).saturating_sub(writer.bits_written().div_ceil(8));
        let (scene, codes) = commons.scene(stamp, self.shared);
        let section = Section {
            scene,
            cache: codes,
            numbers: self.numbers,
            own,
            viewer,
            most_bytes,
        };
        let filled = section.fill(self.slots.poses_mut(), poses, buffers, bytes);
        message::write_poses(bytes, writer);
        filled
    }
}

const _: () = assert!(
    (DATAGRAMS_PER_TICK + SLICES_PER_TICK) * MAX_DATAGRAM
        <= ambit_proto::quic::DATAGRAM_SEND_BUFFER_BYTES
);

/// Where an avatar is on the ground.
fn place(tick: &Tick<'_>, avatar: ambit_proto::ids::ObjectId) -> [f32; 2] {
    let position = tick.world.position(avatar);
    [position.x, position.y]
}

fn count(tick: &mut Tick<'_>, written: Written, bytes: usize) {
    let Written {
        stamp,
        records,
        section,
    } = written;
    let stats = &mut *tick.stats;
    stats.datagrams_out += 1;
    stats.bytes_out += bytes as u64;
    stats.poses.sent += u64::from(section.poses);
    let bits = &mut stats.bits;
    let (section_bits, content_bits) = (section.bytes as u64 * 8, section.content_x256 / 256);
    bits.stamps += stamp as u64;
    bits.records += records as u64;
    bits.pose_contents += content_bits;
    bits.pose_headers += section.header_bits as u64;
    bits.pose_places += section_bits.saturating_sub(content_bits + section.header_bits as u64);
    bits.link += (bytes as u64 * 8).saturating_sub(stamp as u64 + records as u64 + section_bits);
}
