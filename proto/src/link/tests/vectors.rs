//! Test vectors of whole datagrams: headers in each form, messages, and blocks.
//!
//! The numbers in the values are whole, as a receiver resolves them: a context says what it has
//! received and sent.

mod blocks;

pub(crate) use self::blocks::blocks;
use crate::ids::Seq;
use crate::link::chunk::SliceSet;
use crate::link::format::{Ack, HeaderExtras, Message, Pong, ShortNumber};
use crate::link::transmit::{DatagramPrefix, write_body};
use crate::link::{DatagramHeader, Link, LinkConfig, MIN_BODY_BITS, Messages, ReceivedSet, Slice};
use crate::message::{Uplink, end_records, write_poses, write_stamp};
use crate::tests::vectors::json::{Json, object};
use crate::tests::vectors::test_vector::{TestVector, hex};
use crate::time::{GameTime, LocalTime};
use crate::wire::{Coder, Reader, WRITE_CANNOT_FAIL, Wire, Writer};

/// The number of the datagrams, unless it matters.
const NUMBER: u64 = 40_001;
/// The newest datagram that the reader has received before.
const NEWEST_RECEIVED: u64 = 40_000;
/// The newest datagram that the reader has sent, and the newest that was acknowledged.
const NEWEST_SENT: u64 = 20_003;
const LATEST: u64 = 20_000;

/// A datagram before it is written.
#[derive(Clone, Debug, Default, PartialEq)]
struct VectorDatagram {
    header: DatagramHeader,
    messages: Messages,
    set: Option<ReceivedSet>,
    slice: Option<Slice>,
    body: VectorBody,
}

/// Bodies; what they mean stands in other files.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum VectorBody {
    #[default]
    None,
    /// Of a client: three flags, shorter than any body.
    EmptyUplink,
    /// Of a server: a stamp, and a pose section, which begins at a whole byte.
    Poses,
}

pub(crate) fn datagrams() -> Vec<TestVector> {
    let mut all = acknowledgements();
    all.extend(numbers());
    all.extend(extras());
    all.extend(messages());
    all
}

fn acknowledgements() -> Vec<TestVector> {
    let first = VectorDatagram {
        header: DatagramHeader { number: ShortNumber::from_number(0), ack: None, ..header() },
        body: VectorBody::EmptyUplink,
        ..VectorDatagram::default()
    };
    let acking = |earlier, body| VectorDatagram {
        header: DatagramHeader { ack: Some(ack(LATEST, earlier)), ..header() },
        body,
        ..VectorDatagram::default()
    };
    let young = VectorDatagram {
        header: DatagramHeader {
            number: ShortNumber::from_number(3),
            ack: Some(ack(2, 0b11)),
            ..header()
        },
        body: VectorBody::EmptyUplink,
        ..VectorDatagram::default()
    };
    let mut silent = acking(u32::MAX, VectorBody::None);
    silent.header.asks_for_ack = false;
    vec![
        KnownNumbers::nothing().vector(
            "no-acknowledgement",
            "000: nothing was received yet. The body has three bits and is padded to eight.",
            &first,
        ),
        KnownNumbers::default().vector(
            "body-only",
            "1: all 32 were received. The shortest header of a body: 31 bits.",
            &acking(u32::MAX, VectorBody::EmptyUplink),
        ),
        KnownNumbers::default().vector(
            "acknowledgement-only",
            "The same without a body: one bit of padding follows. It asks for nothing.",
            &silent,
        ),
        KnownNumbers::default().vector(
            "one-missing",
            "01: all but the fifth one before the latest were received. The pose section in the \
             body begins at the next whole byte of the datagram.",
            &acking(!(1 << 4), VectorBody::Poses),
        ),
        KnownNumbers::default().vector(
            "one-missing-highest",
            "01: the oldest of the 32 is missing.",
            &acking(!(1 << 31), VectorBody::EmptyUplink),
        ),
        KnownNumbers::default().vector(
            "mask",
            "001: 32 bits.",
            &acking(0xfff0_fff6, VectorBody::EmptyUplink),
        ),
        KnownNumbers::default().vector(
            "mask-of-none",
            "001: none of the 32 was received.",
            &acking(0, VectorBody::EmptyUplink),
        ),
        KnownNumbers { newest_received: Some(2), newest_sent: Some(2) }.vector(
            "mask-at-the-beginning",
            "001: datagrams before the first, 0, count as missing.",
            &young,
        ),
    ]
}

fn numbers() -> Vec<TestVector> {
    let of = |number, latest| VectorDatagram {
        header: DatagramHeader {
            number: ShortNumber::from_number(number),
            ack: Some(ack(latest, u32::MAX)),
            ..header()
        },
        body: VectorBody::EmptyUplink,
        ..VectorDatagram::default()
    };
    vec![
        KnownNumbers { newest_received: Some(16_380), newest_sent: Some(32_770) }.vector(
            "numbers-wrap",
            "The bits are 5 and 16,383. The number is ahead of the newest received, and the \
             acknowledged one is not after the newest sent.",
            &of(16_389, 32_767),
        ),
        KnownNumbers { newest_received: Some(16_400), newest_sent: Some(16_384) }.vector(
            "number-of-a-late-datagram",
            "The bits are 16,380 and 0: a datagram that others have overtaken.",
            &of(16_380, 16_384),
        ),
    ]
}

fn extras() -> Vec<TestVector> {
    let pong = Some(Pong {
        pinged: ShortNumber::from_number(LATEST - 1),
        received_us: 20_000_012_345,
        held_us: 4_321,
    });
    let of = |ping, pong| VectorDatagram {
        header: DatagramHeader { extras: Some(HeaderExtras { ping, pong }), ..header() },
        ..VectorDatagram::default()
    };
    let mut slices = SliceSet::default();
    (0..3).for_each(|index| slices.insert(index));
    let everything = VectorDatagram {
        messages: Messages(vec![message(77, b"\x01")]),
        set: Some(ReceivedSet { chunk: 4, last_index: 2, slices }),
        slice: Some(Slice {
            chunk: 9,
            index: 1,
            last_index: 1,
            slices_after_chunk: 0,
            bytes: b"end".into(),
        }),
        body: VectorBody::EmptyUplink,
        ..of(true, pong)
    };
    let mut answer = of(false, pong);
    answer.header.asks_for_ack = false;
    vec![
        KnownNumbers::default().vector("ping", "It asks for a pong.", &of(true, None)),
        KnownNumbers::default().vector("pong", "The answer to a ping.", &answer),
        KnownNumbers::default().vector(
            "everything",
            "Ping, pong, a message, a set of slices, a slice and a body.",
            &everything,
        ),
    ]
}

fn messages() -> Vec<TestVector> {
    let of = |messages, body| VectorDatagram {
        header: DatagramHeader { extras: Some(HeaderExtras::default()), ..header() },
        messages: Messages(messages),
        body,
        ..VectorDatagram::default()
    };
    vec![
        KnownNumbers::default().vector(
            "message",
            "The id of the first takes 32 bits.",
            &of(vec![message(77, b"\x07\0\0\0\x11")], VectorBody::None),
        ),
        KnownNumbers::default().vector(
            "messages-with-skipped-ids",
            "77, 78, 84 and 101: none, 5 and 16 ids are skipped. A message may be empty. A body \
             follows.",
            &of(
                vec![
                    message(77, b"first"),
                    message(78, b""),
                    message(84, b"\xff"),
                    message(101, b"last"),
                ],
                VectorBody::EmptyUplink,
            ),
        ),
        KnownNumbers::default().vector(
            "messages-whose-ids-wrap",
            "The highest id, 0, and the farthest that one datagram may skip to.",
            &of(
                vec![message(u32::MAX, b"a"), message(0, b"b"), message(1_024, b"c")],
                VectorBody::None,
            ),
        ),
    ]
}

fn header() -> DatagramHeader {
    DatagramHeader {
        number: ShortNumber::from_number(NUMBER),
        asks_for_ack: true,
        ack: Some(ack(LATEST, u32::MAX)),
        extras: None,
    }
}

fn ack(latest: u64, earlier: u32) -> Ack {
    Ack { latest: ShortNumber::from_number(latest), earlier }
}

fn message(id: u32, bytes: &'static [u8]) -> Message {
    Message { id, bytes: bytes.into() }
}

/// What the reader of a datagram knows: the newest number that it has received and sent.
#[derive(Clone, Copy)]
struct KnownNumbers {
    newest_received: Option<u64>,
    newest_sent: Option<u64>,
}

impl Default for KnownNumbers {
    fn default() -> Self {
        Self { newest_received: Some(NEWEST_RECEIVED), newest_sent: Some(NEWEST_SENT) }
    }
}

impl KnownNumbers {
    const fn nothing() -> Self {
        Self { newest_received: None, newest_sent: None }
    }

    fn vector(
        &self,
        name: &'static str,
        about: &'static str,
        parts: &VectorDatagram,
    ) -> TestVector {
        let bytes = parts.write();
        let mut reader = Reader::new(&bytes);
        let (read, set_form) = VectorDatagram::read(&mut reader, parts.body);
        assert_eq!(read, *parts, "{name}");
        // A link accepts slices and sets of its own blocks only.
        if parts.slice.is_none() && parts.set.is_none() {
            let mut link = self.reader();
            let accepted = link.handle_datagram(LocalTime::ZERO, &bytes);
            let body_at = accepted.expect("the encoding is valid").map(|reader| reader.position());
            assert_eq!(body_at, Some(reader.position()), "{name}");
        }
        TestVector {
            name,
            about,
            context: object! {
                part: "datagram",
                newest_received: self.newest_received,
                newest_sent: self.newest_sent,
            },
            value: self.value(&read, set_form, body_value(reader)),
            bytes,
        }
    }

    /// A link that has sent and received datagrams up to these numbers.
    fn reader(&self) -> Link {
        let now = LocalTime::ZERO;
        let next = self.newest_sent.map_or(0, |newest| newest + 1);
        let first = next.saturating_sub(40);
        let mut link =
            Link::new(LinkConfig { first_seq: Seq(first as u16), ..LinkConfig::default() });
        for number in first..next {
            let written = link.write_datagram(now, &mut Vec::new(), |writer, _| {
                Uplink::default().wire(writer).expect(WRITE_CANNOT_FAIL);
            });
            assert_eq!(u64::from(written.seq.0), number);
        }
        // The first number that it receives counts as one of the first.
        let newest = self.newest_received;
        for number in newest.map(|newest| newest.saturating_sub(1_000)).into_iter().chain(newest) {
            let received = VectorDatagram {
                header: DatagramHeader {
                    number: ShortNumber::from_number(number),
                    ..DatagramHeader::default()
                },
                ..VectorDatagram::default()
            };
            link.handle_datagram(now, &received.write()).expect("the encoding is valid");
        }
        link
    }

    fn value(&self, parts: &VectorDatagram, set_form: Option<&str>, body: Json) -> Json {
        let DatagramHeader { number, asks_for_ack, ack, extras } = parts.header;
        let number =
            self.newest_received.map_or(Some(number.first()), |newest| number.near(newest));
        let extras = extras.map(|extras| {
            let messages = parts.messages.0.iter();
            let messages =
                messages.map(|message| object! { id: message.id, bytes: hex(&message.bytes) });
            object! {
                ping: extras.ping,
                pong: extras.pong.map(|pong| self.pong_value(&pong)),
                messages: messages.collect::<Json>(),
                set: parts.set.as_ref().map(|set| set_value(set, set_form)),
                slice: parts.slice.as_ref().map(slice_value),
            }
        });
        object! {
            number: number.expect("a number from the first on"),
            asks: asks_for_ack,
            acknowledged: ack.map(|ack| self.ack_value(ack)),
            extras: extras,
            body: body,
        }
    }

    /// The whole number of a datagram that the reader has sent.
    fn sent_number(&self, short_number: ShortNumber) -> u64 {
        let newest = self.newest_sent.expect("the reader has sent datagrams");
        short_number.before(newest + 1).expect("one of them")
    }

    fn ack_value(&self, ack: Ack) -> Json {
        let latest = self.sent_number(ack.latest);
        let missing = (0..32)
            .filter(|bit| ack.earlier >> bit & 1 == 0)
            .filter_map(|bit| latest.checked_sub(bit + 1));
        object! {
            latest: latest,
            earlier: match ack.earlier.count_zeros() {
                0 => "1",
                1 => "01",
                _ => "001",
            },
            mask: ack.earlier,
            missing: missing.collect::<Json>(),
        }
    }

    fn pong_value(&self, pong: &Pong) -> Json {
        object! {
            pinged: self.sent_number(pong.pinged),
            received: pong.received_us,
            held: pong.held_us,
        }
    }
}

fn slice_value(slice: &Slice) -> Json {
    object! {
        chunk: slice.chunk,
        index: slice.index,
        last: slice.last_index,
        left: slice.slices_after_chunk,
        bytes: hex(&slice.bytes),
    }
}

/// The received slices as ranges: the first and the last index of each.
fn set_value(set: &ReceivedSet, form: Option<&str>) -> Json {
    let mut received: Vec<[usize; 2]> = Vec::new();
    for index in (0..=usize::from(set.last_index)).filter(|index| set.slices.contains(*index)) {
        match received.last_mut() {
            Some(range) if range[1] + 1 == index => range[1] = index,
            _ => received.push([index, index]),
        }
    }
    object! { chunk: set.chunk, last: set.last_index, form: form, received: received }
}

/// The rest of a datagram, moved to the beginning of a byte, if it is a body.
fn body_value(mut reader: Reader<'_>) -> Json {
    let at_bit = reader.position();
    let bits = reader.remaining_bits();
    if bits < MIN_BODY_BITS {
        assert_eq!(reader.rest(), Ok(&[][..]), "the padding");
        return Json::Null;
    }
    let bytes: Vec<u8> = (0..bits.div_ceil(8))
        .map(|_| {
            let mut byte = 0;
            let width = reader.remaining_bits().min(8) as u32;
            reader.bits(&mut byte, width).expect("they are left");
            byte as u8
        })
        .collect();
    object! { at_bit: at_bit, bits: bits, bytes: hex(&bytes) }
}

impl VectorDatagram {
    fn write(&self) -> Vec<u8> {
        let mut parts = self.clone();
        let mut bytes = Vec::new();
        let mut prefix = DatagramPrefix { header: parts.header, set: parts.set };
        let mut writer = Writer::new(&mut bytes);
        prefix.write(&mut parts.messages, parts.slice.as_mut(), &mut writer);
        write_body(&mut writer, |writer| match self.body {
            VectorBody::None => {}
            VectorBody::EmptyUplink => {
                Uplink::default().wire(writer).expect(WRITE_CANNOT_FAIL);
            }
            VectorBody::Poses => {
                write_stamp(GameTime::from_millis(20_000_000), writer);
                end_records(writer);
                write_poses(b"poses", writer);
            }
        });
        writer.finish();
        bytes
    }

    /// Everything before the body, which is not read, and the form of the set.
    fn read(reader: &mut Reader<'_>, body: VectorBody) -> (Self, Option<&'static str>) {
        const VALID: &str = "the encoding is valid";
        let mut parts = Self::default();
        let mut form = None;
        parts.body = body;
        parts.header.wire(reader).expect(VALID);
        if parts.header.extras.is_none() {
            return (parts, form);
        }
        parts.messages.wire(reader).expect(VALID);
        let mut set = *reader;
        let mut bits = 0;
        reader.option(&mut parts.set).expect(VALID);
        if parts.set.is_some() {
            set.skip(1 + 8 + 8).expect(VALID);
            set.bits(&mut bits, 2).expect(VALID);
            form = Some(["all", "runs", "bits"][bits as usize]);
        }
        let mut has_slice = false;
        reader.flag(&mut has_slice).expect(VALID);
        if has_slice {
            let mut slice = Slice::default();
            slice.wire(reader).expect(VALID);
            parts.slice = Some(slice);
        }
        (parts, form)
    }
}
