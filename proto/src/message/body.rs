//! The body of a datagram from a server: a stamp, records until a zero bit, and an optional pose
//! section.
//!
//! [`super`] describes the bits. A server writes a body piece by piece, as far as its budget
//! allows; a client reads it whole. Memory, when read: a record of some 20 bits takes some 70
//! bytes, one of a path (of 80 bits or more) some 600.

use super::body_context::BodyContext;
use super::record::Record;
use crate::time::GameTime;
use crate::wire::{Coder, Reader, WRITE_CANNOT_FAIL, WireError, Writer};

/// Width of a stamp: the low bits of the room's milliseconds, which wrap after 4.6 hours.
pub const STAMP_BITS: u32 = 24;
/// Length of a body without any record or pose.
pub const BODY_OVERHEAD_BITS: usize = STAMP_BITS as usize + 1;

/// The body of a server's datagram, as a client reads it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DatagramBody {
    /// Room time of the tick that wrote it: whole milliseconds.
    pub stamp: GameTime,
    /// In the order in which they were written.
    pub records: Vec<Record>,
    /// The pose section, for [`crate::pose::read_section`]; empty if there is none.
    pub poses: Vec<u8>,
}

/// Begins a body. Returns the stamp as the client reads it, which times after it are relative to.
pub fn write_stamp(now: GameTime, coder: &mut impl Coder) -> GameTime {
    coder.bits(&mut low_time_bits(now, STAMP_BITS), STAMP_BITS).expect(WRITE_CANNOT_FAIL);
    now.whole_millis()
}

/// Adds a record, which takes [`Record::bits`].
pub fn write_record(
    record: &mut Record,
    context: &BodyContext<'_>,
    stamp: GameTime,
    coder: &mut impl Coder,
) {
    coder
        .flag(&mut true)
        .and_then(|()| record.wire(context, stamp, coder))
        .expect(WRITE_CANNOT_FAIL);
}

/// Writes that no further record follows.
pub fn end_records(coder: &mut impl Coder) {
    coder.flag(&mut false).expect(WRITE_CANNOT_FAIL);
}

/// Adds the pose section after the end of the records: it is the last part of a datagram.
pub fn write_poses(section: &[u8], writer: &mut Writer<'_>) {
    if !section.is_empty() {
        writer.align();
        writer.append_bytes(section);
    }
}

/// Reads the bits after the link's part of a datagram; `None` if there is no body. An error makes
/// the whole body invalid.
pub fn read_body(
    mut reader: Reader<'_>,
    context: &BodyContext<'_>,
) -> Result<Option<DatagramBody>, WireError> {
    if reader.remaining_bits() < 8 {
        return Ok(None); // The padding of the datagram.
    }
    let mut body = DatagramBody::default();
    body.wire(context, &mut reader)?;
    body.poses.extend_from_slice(reader.rest()?);
    Ok(Some(body))
}

impl DatagramBody {
    /// Reads, writes or measures stamp and records, but not the pose section.
    pub fn wire<C: Coder>(
        &mut self,
        context: &BodyContext<'_>,
        coder: &mut C,
    ) -> Result<(), WireError> {
        let mut low = low_time_bits(self.stamp, STAMP_BITS);
        coder.bits(&mut low, STAMP_BITS)?;
        if C::READS {
            self.stamp = nearest_time(low, STAMP_BITS, context.approximate_now);
            self.records = read_records(self.stamp, context, coder)?;
            return Ok(());
        }
        for record in &mut self.records {
            write_record(record, context, self.stamp, coder);
        }
        end_records(coder);
        Ok(())
    }
}

fn read_records(
    stamp: GameTime,
    context: &BodyContext<'_>,
    coder: &mut impl Coder,
) -> Result<Vec<Record>, WireError> {
    let mut records = Vec::new();
    loop {
        let mut more = false;
        coder.flag(&mut more)?;
        if !more {
            return Ok(records);
        }
        let mut record = Record::default();
        record.wire(context, stamp, coder)?;
        records.push(record);
    }
}

/// The low `bits` bits of a moment's milliseconds.
pub fn low_time_bits(time: GameTime, bits: u32) -> u64 {
    time.millis() & mask_of(bits)
}

const fn mask_of(bits: u32) -> u64 {
    (1 << bits) - 1
}

/// Of the moments whose milliseconds have these low `bits` bits, the one nearest to `near`.
pub fn nearest_time(low: u64, bits: u32, near: GameTime) -> GameTime {
    let period = 1 << bits;
    let half = 1 << (bits - 1);
    let ahead = low.wrapping_sub(near.millis()) & mask_of(bits);
    let millis = near.millis() + ahead;
    GameTime::from_millis(if ahead >= half && millis >= period { millis - period } else { millis })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::messages::context;
    use crate::ids::Alias;
    use crate::schema::Component;
    use crate::schema::Schema;
    use crate::space::Position;

    const NEAR: GameTime = GameTime::from_millis(5_000_000);

    #[test]
    fn the_writer_produces_the_documented_example() {
        let stamp = GameTime::from_millis(10_000);
        let at = context(&Schema::example(), stamp).horizon(stamp);
        assert_eq!(at, GameTime::from_millis(10_150));
        let path = Component::at_rest(at, Position::on_ground(5.0, 6.0));
        let enter = Record::Enter {
            alias: Alias { slot: 1, epoch: 2 },
            kind: 1,
            at,
            own: false,
            components: vec![(0, path)],
        };
        let body = DatagramBody { stamp, records: vec![enter], poses: Vec::new() };
        let bytes = bytes_of(&mut body.clone());
        let printed = bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ");
        let documented =
            include_str!("../message.rs").split('`').find(|text| text.starts_with("10 27 00"));
        assert_eq!(Some(printed.as_str()), documented);
        assert_eq!(read(&bytes, stamp), Ok(Some(body)));
    }

    #[test]
    fn a_body_written_in_pieces_has_the_same_bits_and_measured_size() {
        let schema = Schema::example();
        let now = GameTime::from_micros(5_000_016_667);
        let context = context(&schema, now);
        let mut records = [leave(3), leave(40_000), leave(7)];
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes);
        let stamp = write_stamp(now, &mut writer);
        let record_bits =
            records.iter_mut().map(|record| record.bits(&context, stamp)).sum::<usize>();
        for record in &mut records {
            write_record(record, &context, stamp, &mut writer);
        }
        end_records(&mut writer);
        assert_eq!(writer.bits_written(), record_bits + BODY_OVERHEAD_BITS);
        write_poses(&[7, 0, 9], &mut writer);
        writer.finish();
        let body = DatagramBody {
            stamp: now.whole_millis(),
            records: records.into(),
            poses: vec![7, 0, 9],
        };
        assert_eq!(bytes, bytes_of(&mut body.clone()));
        assert_eq!(read(&bytes, NEAR), Ok(Some(body)));
    }

    #[test]
    fn padding_is_not_read_as_a_body_but_an_empty_body_is() {
        assert_eq!(read(&[], NEAR), Ok(None));
        let mut reader = Reader::new(&[0]);
        reader.skip(1).expect("a bit");
        assert_eq!(read_body(reader, &context(&Schema::example(), NEAR)), Ok(None));
        let empty = DatagramBody { stamp: NEAR, ..DatagramBody::default() };
        let bytes = bytes_of(&mut empty.clone());
        assert_eq!(bytes.len(), 4);
        assert_eq!(read(&bytes, NEAR), Ok(Some(empty)));
        assert_eq!(read(&bytes[..3], NEAR), Err(WireError::Truncated));
    }

    #[test]
    fn a_kind_unknown_to_the_schema_fails_the_body() {
        let mut larger = Schema::example();
        larger.kinds.push(larger.kinds[1].clone());
        let update =
            |kind| Record::Update { alias: Alias::default(), kind, at: NEAR, components: vec![] };
        let mut body =
            DatagramBody { stamp: NEAR, records: vec![leave(1), update(2)], poses: Vec::new() };
        let mut bytes = Vec::new();
        body.wire(&context(&larger, NEAR), &mut Writer::new(&mut bytes)).expect(WRITE_CANNOT_FAIL);
        assert_eq!(read(&bytes, NEAR), Err(WireError::Unknown { what: "kind", value: 2 }));
    }

    #[test]
    fn nonzero_padding_before_the_poses_fails_the_body() {
        let mut body = DatagramBody { stamp: NEAR, records: vec![], poses: vec![1] };
        let mut bytes = bytes_of(&mut body);
        assert_eq!(bytes.len(), 5);
        bytes[3] |= 0x80;
        assert_eq!(read(&bytes, NEAR), Err(WireError::TrailingBits));
    }

    #[test]
    fn a_stamp_resolves_to_the_time_nearest_to_the_reader_s() {
        let hour = 3_600_000;
        for near in [0, 1, hour, (1 << 23) - 1, 1 << 24, 400 * 24 * hour] {
            let back = u64::min(near, (1 << 23) - 1);
            for millis in [near - back, near - back / 2, near, near + 50, near + (1 << 23) - 1] {
                let stamp = GameTime::from_millis(millis);
                let near = GameTime::from_millis(near);
                assert_eq!(
                    nearest_time(low_time_bits(stamp, STAMP_BITS), STAMP_BITS, near),
                    stamp,
                    "near {near:?}"
                );
            }
        }
        // There is no time before 0.
        assert_eq!(
            nearest_time(mask_of(STAMP_BITS), STAMP_BITS, GameTime::ZERO).millis(),
            mask_of(STAMP_BITS)
        );
    }

    fn leave(slot: u16) -> Record {
        Record::Leave { alias: Alias { slot, epoch: 200 }, at: GameTime::from_millis(5_000_150) }
    }

    fn bytes_of(body: &mut DatagramBody) -> Vec<u8> {
        let mut bytes = Vec::new();
        let schema = Schema::example();
        let mut writer = Writer::new(&mut bytes);
        body.wire(&context(&schema, body.stamp), &mut writer).expect(WRITE_CANNOT_FAIL);
        write_poses(&body.poses, &mut writer);
        writer.finish();
        bytes
    }

    fn read(bytes: &[u8], near: GameTime) -> Result<Option<DatagramBody>, WireError> {
        read_body(Reader::new(bytes), &context(&Schema::example(), near))
    }
}
