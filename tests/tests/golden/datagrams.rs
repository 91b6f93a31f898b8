//! Whole datagrams of a link, in both directions: messages, acknowledgements, a slice of a block,
//! bodies.
//!
//! Two links exchange three datagrams, which are stored in the file. Other links must be able to
//! read them.

use ambit_proto::ids::{Alias, Seq};
use ambit_proto::keymap::{KeySample, Keymap};
use ambit_proto::link::{Link, LinkConfig, LinkEvent};
use ambit_proto::map::{StaticBox, StaticMap};
use ambit_proto::message::{
    Command, DatagramBody, FieldValue, KeyInput, LatenessReport, Notice, RefusalReason, Uplink,
    read_body, read_uplink,
};
use ambit_proto::pose::Level;
use ambit_proto::schema::Schema;
use ambit_proto::space::Position;
use ambit_proto::time::{GameTime, LocalTime};
use ambit_proto::wire::{Wire, encode};

use super::bodies;

pub(super) fn samples() -> Vec<(String, Vec<u8>)> {
    let (mut server, mut client) = (server(), client());
    let (mut down, mut up, mut slice) = (Vec::new(), Vec::new(), Vec::new());
    write_server_datagram(&mut server, &mut down);
    client.handle_datagram(ms(40), &down).expect("the encoding is valid");
    write_client_datagram(&mut client, &mut up);
    server.handle_datagram(ms(1_090), &up).expect("the encoding is valid");
    server.send_block(ms(1_100), map().encode().into()).expect("the queue is not full");
    server.write_datagram(ms(1_100), &mut slice, |_, _| ());
    [("down", down), ("up", up), ("slice", slice)].map(|(name, bytes)| (name.into(), bytes)).into()
}

/// Checks that new links can read the datagrams `down`, `up` and `slice`.
pub(super) fn check(datagram: impl Fn(&str) -> Vec<u8>) {
    let (mut server, mut client) = (server(), client());
    let (down, up, slice) = (datagram("down"), datagram("up"), datagram("slice"));
    let schema = Schema::example_with_poses();
    let reader = client.handle_datagram(ms(40), &down).expect("a datagram").expect("no duplicate");
    assert_eq!(read_body(reader, &bodies::context(&schema)), Ok(Some(body())));
    write_client_datagram(&mut client, &mut Vec::new());
    client.handle_datagram(ms(90), &slice).expect("a datagram");
    let events: Vec<_> = std::iter::from_fn(|| client.poll_event()).collect();
    assert!(events.contains(&LinkEvent::Message(encode(&mut notice()).into())), "{events:?}");
    assert!(events.contains(&LinkEvent::Block(map().encode().into())), "{events:?}");

    write_server_datagram(&mut server, &mut Vec::new());
    let reader = server.handle_datagram(ms(1_090), &up).expect("a datagram").expect("no duplicate");
    assert_eq!(read_uplink(reader), Ok(Some(uplink())));
    let events: Vec<_> = std::iter::from_fn(|| server.poll_event()).collect();
    assert!(events.contains(&LinkEvent::Message(encode(&mut command()).into())), "{events:?}");
    assert!(events.contains(&LinkEvent::Acked(Seq(0x1234), ())), "{events:?}");
}

/// The server's first datagram.
fn write_server_datagram(server: &mut Link, out: &mut Vec<u8>) {
    server
        .send_reliable(ms(1_000), encode(&mut notice()).into(), None)
        .expect("the queue is not full");
    server.write_datagram(ms(1_000), out, |writer, _| {
        bodies::write_into(&mut body(), writer);
    });
}

/// The client's first datagram.
fn write_client_datagram(client: &mut Link, out: &mut Vec<u8>) {
    client
        .send_reliable(ms(50), encode(&mut command()).into(), None)
        .expect("the queue is not full");
    client.write_datagram(ms(50), out, |writer, _| {
        uplink().wire(writer).expect("writing cannot fail");
    });
}

fn server() -> Link {
    Link::new(LinkConfig { first_seq: Seq(0x1234), first_message: 77, ..LinkConfig::default() })
}

fn client() -> Link {
    Link::new(LinkConfig { first_seq: Seq(0xfffe), ..LinkConfig::client() })
}

fn body() -> DatagramBody {
    let poses = bodies::section(Level::Shared, &bodies::poses());
    DatagramBody { stamp: GameTime::from_millis(20_000_000), records: bodies::records(), poses }
}

fn notice() -> Notice {
    Notice::Refused { command: 7, reason: RefusalReason::Code(64) }
}

fn command() -> Command {
    Command {
        number: 8,
        kind: 2,
        fields: vec![
            FieldValue::Choice(1),
            FieldValue::Position(Position::new(12.5, 3.0, 0.0)),
            FieldValue::Object(Alias { slot: 3, epoch: 9 }),
            FieldValue::Number(-12),
            FieldValue::Text("caf\u{e9}".into()),
            FieldValue::None,
        ],
    }
}

fn uplink() -> Uplink {
    let at = |millis: u64| GameTime::from_millis(20_000_000 + millis);
    let samples = [(20, 0x8000_0000), (70, 0x8000_0014), (123, 0x8000_0001)];
    let samples = samples.map(|(millis, keys)| KeySample { at: at(millis), keys: Keymap(keys) });
    let input = KeyInput::with_changes(at(123), Keymap(0), samples);
    Uplink {
        report: Some(LatenessReport { received: 300, late: 2 }),
        input: Some(input),
        lost_track: Some(0x1233),
    }
}

fn map() -> StaticMap {
    let each = |n: u16| StaticBox {
        centre: Position::on_ground(f32::from(n), 2.0),
        half: [1.0, 0.5, 2.25],
    };
    StaticMap { boxes: (0..20).map(each).collect() }
}

fn ms(millis: u64) -> LocalTime {
    LocalTime::from_millis(millis)
}
