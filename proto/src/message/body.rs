//! The body of a datagram from a server: a stamp, then records until a zero bit.
//!
//! The bits stand in [`super`]. A server writes a body piece by piece, as far as its budget goes; a client reads it
//! whole. Memory, when read: a record of some 20 bits takes some 70 bytes, one of a path (of 80 bits or more) some 600.

use super::Record;
use crate::schema::Schema;
use crate::time::GameTime;
use crate::wire::{Coder, Reader, WireError};

/// Width of a stamp: milliseconds for 34 years.
pub const STAMP_BITS: u32 = 40;
/// What a body takes without any record.
pub const BODY_OVERHEAD_BITS: usize = STAMP_BITS as usize + 1;

/// What a client reads of a datagram.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Body {
    /// Room time of the tick that wrote it: whole milliseconds.
    pub stamp: GameTime,
    /// In the order in which they were written.
    pub records: Vec<Record>,
}

/// Begins a body. Returns the base of all times behind it: the stamp as the client reads it.
pub fn write_stamp(now: GameTime, coder: &mut impl Coder) -> GameTime {
    coder.bits(&mut now.millis(), STAMP_BITS).expect(WRITES);
    now.whole_millis()
}

/// Adds a record, which takes [`Record::bits`].
pub fn write_record(record: &mut Record, schema: &Schema, base: GameTime, coder: &mut impl Coder) {
    coder.flag(&mut true).and_then(|()| record.wire(schema, base, coder)).expect(WRITES);
}

/// Ends a body.
pub fn end_records(coder: &mut impl Coder) {
    coder.flag(&mut false).expect(WRITES);
}

const WRITES: &str = "a writer refuses nothing";

/// Reads what follows the link's part of a datagram; `None` if there is no body. An error spoils the whole body.
pub fn read_body(mut reader: Reader<'_>, schema: &Schema) -> Result<Option<Body>, WireError> {
    if reader.remaining_bits() < 8 {
        return Ok(None); // The padding of the datagram.
    }
    let mut body = Body::default();
    body.wire(schema, &mut reader)?;
    reader.finish()?;
    Ok(Some(body))
}

impl Body {
    /// Reads, writes or measures.
    pub fn wire<C: Coder>(&mut self, schema: &Schema, coder: &mut C) -> Result<(), WireError> {
        let mut millis = self.stamp.millis();
        coder.bits(&mut millis, STAMP_BITS)?;
        self.stamp = GameTime::from_millis(millis);
        if C::READS {
            self.records = read_records(self.stamp, schema, coder)?;
            return Ok(());
        }
        for record in &mut self.records {
            write_record(record, schema, self.stamp, coder);
        }
        end_records(coder);
        Ok(())
    }
}

fn read_records(base: GameTime, schema: &Schema, coder: &mut impl Coder) -> Result<Vec<Record>, WireError> {
    let mut records = Vec::new();
    loop {
        let mut more = false;
        coder.flag(&mut more)?;
        if !more {
            return Ok(records);
        }
        let mut record = Record::default();
        record.wire(schema, base, coder)?;
        records.push(record);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::Alias;
    use crate::schema::Component;
    use crate::space::Position;
    use crate::wire::{Measure, Writer};

    #[test]
    fn the_documented_example_is_what_is_written() {
        let stamp = GameTime::from_millis(10_000);
        let path = Component::at_rest(GameTime::from_millis(10_150), Position::on_ground(5.0, 6.0));
        let (alias, at) = (Alias { slot: 1, epoch: 2 }, GameTime::from_millis(10_150));
        let enter = Record::Enter { alias, kind: 1, at, own: false, components: vec![(0, path)] };
        let bytes = bytes_of(&mut Body { stamp, records: vec![enter.clone()] });
        let printed = bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ");
        let documented = include_str!("../message.rs").split('`').find(|text| text.starts_with("10 27 00"));
        assert_eq!(Some(printed.as_str()), documented);
        assert_eq!(read(&bytes), Ok(Some(Body { stamp, records: vec![enter] })));
    }

    #[test]
    fn a_body_written_in_pieces_is_the_same_and_takes_what_was_said() {
        let schema = Schema::example();
        let now = GameTime::from_micros(5_016_667);
        let mut records = [leave(3), leave(40_000), leave(7)];
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes);
        let base = write_stamp(now, &mut writer);
        let said = records.iter_mut().map(|record| record.bits(&schema, base)).sum::<usize>();
        for record in &mut records {
            write_record(record, &schema, base, &mut writer);
        }
        end_records(&mut writer);
        assert_eq!(writer.bits_written(), said + BODY_OVERHEAD_BITS);
        writer.finish();
        let body = Body { stamp: GameTime::from_millis(5_016), records: records.into() };
        assert_eq!(bytes, bytes_of(&mut body.clone()));
        assert_eq!(read(&bytes), Ok(Some(body)));
    }

    #[test]
    fn padding_is_no_body_and_an_empty_body_is_one() {
        assert_eq!(read(&[]), Ok(None));
        let mut reader = Reader::new(&[0]);
        reader.skip(1).expect("a bit");
        assert_eq!(read_body(reader, &Schema::example()), Ok(None));
        let bytes = bytes_of(&mut Body::default());
        assert_eq!(bytes.len(), 6);
        assert_eq!(read(&bytes), Ok(Some(Body::default())));
        assert_eq!(read(&bytes[..5]), Err(WireError::Truncated));
    }

    #[test]
    fn a_kind_that_the_schema_does_not_have_spoils_the_body() {
        let mut larger = Schema::example();
        larger.kinds.push(larger.kinds[1].clone());
        let update = |kind| Record::Update { alias: Alias::default(), kind, at: GameTime::ZERO, components: vec![] };
        let mut body = Body { stamp: GameTime::ZERO, records: vec![leave(1), update(2)] };
        let mut bytes = Vec::new();
        body.wire(&larger, &mut Writer::new(&mut bytes)).expect(WRITES);
        assert_eq!(read(&bytes), Err(WireError::Unknown { what: "kind", value: 2 }));
    }

    #[test]
    fn what_stands_behind_the_end_spoils_the_body() {
        let mut bytes = bytes_of(&mut Body { stamp: GameTime::ZERO, records: vec![leave(1)] });
        bytes.push(0);
        assert_eq!(read(&bytes), Err(WireError::Trailing));
    }

    #[test]
    fn the_stamp_holds_for_decades() {
        let (mut measure, year) = (Measure::new(), GameTime::from_millis(365 * 24 * 3_600_000));
        assert_eq!(write_stamp(GameTime::from_millis(34 * year.millis()), &mut measure).millis(), 34 * year.millis());
    }

    fn leave(slot: u16) -> Record {
        Record::Leave { alias: Alias { slot, epoch: 200 }, at: GameTime::from_millis(5_150) }
    }

    fn bytes_of(body: &mut Body) -> Vec<u8> {
        let mut bytes = Vec::new();
        body.wire(&Schema::example(), &mut Writer::new(&mut bytes)).expect(WRITES);
        bytes
    }

    fn read(bytes: &[u8]) -> Result<Option<Body>, WireError> {
        read_body(Reader::new(bytes), &Schema::example())
    }
}
