//! Contents of datagrams above the link: one target for each decoder.
//!
//! [`formats`] takes any entry of the list of formats. Formats that a peer sends also have a target
//! of their own, and so a corpus.

use std::sync::LazyLock;
use std::time::Duration;

use ambit_proto::axes::MAX_AXES;
use ambit_proto::examples::{self, Format};
use ambit_proto::map::StaticMap;
use ambit_proto::message::{BodyContext, DatagramBody, read_body, write_poses};
use ambit_proto::time::GameTime;
use ambit_proto::wire::{Reader, Writer};

use super::{Reached, schemas};

const ACCEPTED: &str = "accepted";

/// Any format: the first byte selects it. What is accepted can be written and read again.
pub fn formats(data: &[u8]) -> Reached {
    let Some((&which, bytes)) = data.split_first() else {
        return Reached::new();
    };
    let all = all_formats();
    check(&all[usize::from(which) % all.len()], bytes)
}

/// A player's command.
pub fn command(data: &[u8]) -> Reached {
    check(format_named("message.command"), data)
}

/// A notice to a client.
pub fn notice(data: &[u8]) -> Reached {
    check(format_named("message.notice"), data)
}

/// The body of a client's datagram.
pub fn uplink(data: &[u8]) -> Reached {
    for axes in 0..=MAX_AXES {
        let _ = ambit_proto::message::read_uplink(Reader::new(data), axes);
    }
    check(format_named("message.uplink_axes"), data);
    check(format_named("message.uplink"), data)
}

/// The body of a server's datagram; the first byte selects the schema.
pub fn body(data: &[u8]) -> Reached {
    let Some((&which, bytes)) = data.split_first() else {
        return Reached::new();
    };
    let schema = &schemas()[usize::from(which) % schemas().len()];
    let context = BodyContext {
        schema,
        delay: Duration::from_millis(150),
        approximate_now: GameTime::from_millis(100_000),
    };
    // The writer leaves out what is older than the stamp; writing the result again changes nothing.
    if let Ok(Some(mut body)) = read_body(Reader::new(bytes), &context) {
        let once = encode_body(&mut body, &context);
        let mut read = read_body(Reader::new(&once), &context)
            .expect("our own encoding can be read")
            .expect("a body");
        assert_eq!(encode_body(&mut read, &context), once, "{body:?}");
        return Reached::from([ACCEPTED]);
    }
    Reached::new()
}

fn encode_body(body: &mut DatagramBody, context: &BodyContext<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes);
    body.wire(context, &mut writer).expect("a valid body can be written");
    write_poses(&body.poses, &mut writer);
    writer.finish();
    bytes
}

/// The static world: what is accepted is encoded to the same bytes.
pub fn static_map(data: &[u8]) -> Reached {
    let map = StaticMap::decode(data);
    if let Ok(map) = &map {
        assert_eq!(map.encode(), data);
    }
    map.iter().map(|_| ACCEPTED).collect()
}

fn check(format: &Format, bytes: &[u8]) -> Reached {
    let is_accepted = format.check_bytes(bytes);
    is_accepted.then_some(ACCEPTED).into_iter().collect()
}

fn all_formats() -> &'static [Format] {
    static FORMATS: LazyLock<Vec<Format>> = LazyLock::new(examples::formats);
    &FORMATS
}

fn format_named(name: &str) -> &'static Format {
    all_formats().iter().find(|format| format.name == name).expect("the format is in the list")
}

const EXAMPLES: u64 = 6;

fn examples(name: &str) -> Vec<Vec<u8>> {
    (0..EXAMPLES).map(|seed| format_named(name).encode_example(seed)).collect()
}

pub(super) fn format_seeds() -> Vec<Vec<u8>> {
    let with_number = |(number, format): (usize, &Format)| {
        [vec![number as u8], format.encode_example(1)].concat()
    };
    all_formats().iter().enumerate().map(with_number).filter(|seed| seed.len() < 1_000).collect()
}

pub(super) fn command_seeds() -> Vec<Vec<u8>> {
    examples("message.command")
}

pub(super) fn notice_seeds() -> Vec<Vec<u8>> {
    examples("message.notice")
}

pub(super) fn uplink_seeds() -> Vec<Vec<u8>> {
    examples("message.uplink")
}

pub(super) fn body_seeds() -> Vec<Vec<u8>> {
    examples("message.body").into_iter().map(|bytes| [vec![0], bytes].concat()).collect()
}

pub(super) fn map_seeds() -> Vec<Vec<u8>> {
    examples("map.static_map").into_iter().filter(|map| map.len() < 2_000).collect()
}
