//! Frames: what a view draws of everything in sight.

use ambit_proto::message::Record;
use ambit_proto::schema::Component;

use super::super::*;
use super::harness::*;
use crate::frame::{Frame, FrameValue};

#[test]
fn a_frame_shows_all_objects_at_one_time() {
    let (mut harness, mut frame) = walking();
    for step in 0..10 {
        harness.advance(ms(7));
        frame.update(&mut harness.client, harness.now, harness.now);
        let t = harness.client.room_time(harness.now).expect("in a game");
        assert_eq!(frame.time(), Some(t));
        let shown: Vec<_> =
            frame.objects().map(|object| (object.id(), Some(object.position()))).collect();
        let read = |object: VisibleObject<'_, ()>| (object.id, object.position(t));
        assert_eq!(shown, harness.client.objects().map(read).collect::<Vec<_>>());
        let walker = frame.object(ClientObjectId(2)).expect("in sight");
        let walked = walker.position().x - 5.0;
        assert!((walked - 0.07 - step as f32 * 0.007 * 10.0).abs() < 0.05, "{walked}");
        assert!(walker.moves() && !walker.is_own());
    }
}

#[test]
fn a_frame_has_the_components_by_name() {
    let (mut harness, mut frame) = walking();
    frame.update(&mut harness.client, harness.now, harness.now);
    let avatar = frame.avatar().expect("in sight");
    assert_eq!((avatar.kind(), avatar.text("name")), ("avatar", Some("Zoë")));
    assert_eq!(avatar.number("level"), Some(7));
    assert_eq!((avatar.number("name"), avatar.value("no-such")), (None, None));
    assert!(avatar.gauge("health").is_some_and(|health| health.value >= 50.0));
    let names: Vec<_> = avatar.values().map(|(name, _)| name).collect();
    assert_eq!(names, ["health", "level", "name"]);
    assert_eq!(avatar.component(5), Some(FrameValue::Text("Zoë")));
    // The values of the next object do not belong to this one.
    assert_eq!(avatar.component(6), None);
    let walker = frame.object(ClientObjectId(2)).expect("in sight");
    assert_eq!((walker.text("name"), walker.gauge("mana")), (None, None));
}

#[test]
fn an_object_that_has_stopped_faces_where_it_walked() {
    let (mut harness, mut frame) = walking();
    let heading =
        |frame: &Frame| frame.object(ClientObjectId(2)).expect("in sight").transform().heading();
    frame.update(&mut harness.client, harness.now, harness.now);
    assert!(heading(&frame).abs() < 0.01);
    let velocity = frame.object(ClientObjectId(2)).expect("in sight").transform().velocity;
    assert!((velocity[0] - 10.0).abs() < 0.1, "{velocity:?}");
    let now = harness.room_time();
    let back = path(&[(now, 5.0), (now + ms(500), 0.0)]);
    harness.send(&[Record::Update {
        alias: alias(1),
        kind: 0,
        at: now,
        components: vec![(0, back)],
    }]);
    for _ in 0..20 {
        harness.advance(ms(50));
        frame.update(&mut harness.client, harness.now, harness.now);
        assert!((heading(&frame).abs() - std::f32::consts::PI).abs() < 0.01);
    }
    assert!(!frame.object(ClientObjectId(2)).expect("in sight").moves());
}

#[test]
fn times_of_frames_ascend_and_stay_near_the_present() {
    let (mut harness, mut frame) = walking();
    let mut last = GameTime::ZERO;
    for offset in [0_i64, 50, 20, -30, 5_000, 0, -5_000] {
        harness.advance(ms(10));
        let shown = harness.now.micros().cast_signed() + 1_000 * offset;
        let shown = LocalTime::from_micros(shown.max(0).cast_unsigned());
        frame.update(&mut harness.client, harness.now, shown);
        let time = frame.time().expect("in a game");
        let now = harness.client.room_time(harness.now).expect("in a game");
        assert!(time >= last && time <= now + ms(100), "{offset}: {time:?}");
        last = time;
    }
}

#[test]
fn without_a_game_a_frame_is_empty() {
    let (mut harness, mut frame) = walking();
    frame.update(&mut harness.client, harness.now, harness.now);
    assert_eq!(frame.objects().len(), 2);
    harness.client.quit(harness.now);
    frame.update(&mut harness.client, harness.now, harness.now);
    assert_eq!((frame.objects().len(), frame.time()), (0, None));
    assert!(frame.avatar().is_none());
}

#[test]
fn frames_allocate_nothing_in_the_steady_state() {
    let (mut harness, mut frame) = walking();
    // The buffers grow to their sizes.
    for _ in 0..3 {
        frame.update(&mut harness.client, harness.now, harness.now);
    }
    for _ in 0..1_000 {
        // Sends what is due, which allocates a datagram now and then.
        harness.advance(ms(7));
        let counted = allocation_counter::measure(|| {
            frame.update(&mut harness.client, harness.now, harness.now);
        });
        assert_eq!((counted.count_total, frame.objects().len()), (0, 2));
    }
}

/// A client with two objects in sight: its avatar, which stands, and 2, which walks at 10 m/s.
fn walking() -> (ClientHarness, Frame) {
    let mut harness = ClientHarness::playing();
    let at = harness.room_time();
    let avatar = Record::Enter {
        alias: alias(0),
        kind: 0,
        at,
        own: true,
        components: vec![
            (0, path(&[(at, 1.0)])),
            (1, Component::gauge(at, 50.0, 2.0, 100.0)),
            (4, Component::Number(7)),
            (5, Component::Text("Zoë".to_owned())),
        ],
    };
    harness.send(&[avatar, enter(1, at, 5.0)]);
    harness.send(&[Record::Update {
        alias: alias(1),
        kind: 0,
        at,
        components: vec![(0, path(&[(at, 5.0), (at + ms(10_000), 105.0)]))],
    }]);
    harness.discard_outputs();
    (harness, Frame::default())
}
