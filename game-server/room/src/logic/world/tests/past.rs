//! Where objects were a short while ago.

use std::time::Duration;

use ambit_proto::axes::{Axes, AxisKind};
use ambit_proto::keymap::{KeySample, Keymap};
use ambit_proto::schema::ControlSpec;

use super::poses::{POST, car, garage, schema, tick};
use super::*;
use crate::logic::contact::ObjectMotion;

/// The local lag of the rooms of these tests.
const LAG_MS: u64 = 150;

#[test]
fn an_object_was_between_the_ticks_around_a_time() {
    let mut world = garage();
    world.keep_past(Duration::from_millis(500));
    let car = car(&mut world, at(5.0, 5.0));
    for number in 1..=20 {
        tick(&mut world, number);
        // It rests from tick 8 to tick 12.
        if !(8..12).contains(&number) {
            world.set_pose(car, at(5.0 + number as f32, 5.0), 0.0, 0.0);
        }
        world.finish_tick();
    }
    let x = |t: u64| world.past_position(car, ms(t)).x;
    assert_eq!([x(1_000), x(950), x(975), x(2_000)], [25.0, 24.0, 24.5, 25.0]);
    // From 7 to 12 in one tick, after a rest.
    assert_eq!([x(550), x(575), x(600), x(400)], [12.0, 14.5, 17.0, 12.0]);
    // As far back as it is kept: half a second and the local lag.
    assert_eq!((x(0), x(1_000 - 500 - LAG_MS)), (x(350), x(350)));
}

#[test]
fn an_object_that_jumped_was_nowhere_between() {
    let mut world = garage();
    world.keep_past(Duration::from_millis(500));
    let car = car(&mut world, at(5.0, 5.0));
    let post = world.spawn(POST, vec![Component::at_rest(ms(0), at(5.0, 9.0))]);
    for number in 1..=10 {
        tick(&mut world, number);
        match number {
            6 => {
                world.put_at(car, at(85.0, 5.0));
                world.teleport(post, at(85.0, 9.0));
            }
            _ => world.set_pose(car, at(world.position(car).x + 1.0, 5.0), 0.0, 0.0),
        }
        world.finish_tick();
    }
    let x = |t: u64| world.past_position(car, ms(t)).x;
    assert_eq!([x(250), x(275), x(299), x(300), x(325)], [10.0, 10.0, 10.0, 85.0, 85.5]);
    for t in 250..=350 {
        for object in [car, post] {
            let ObjectMotion::Straight { from, to } = world.past_motion(object, ms(t)) else {
                panic!("the past is straight")
            };
            assert!(from.1.distance(to.1) <= 1.0, "{object} at {t} ms: {from:?} to {to:?}");
        }
    }
}

#[test]
fn at_the_bound_of_the_past_an_object_moves_as_it_did() {
    let mut world = garage();
    world.keep_past(Duration::from_millis(200));
    let car = car(&mut world, at(5.0, 5.0));
    for number in 1..=40 {
        tick(&mut world, number);
        world.set_pose(car, at(5.0 + number as f32, 5.0), 0.0, 0.0);
        world.finish_tick();
    }
    for t in [1_700, 2_000 - 200 - LAG_MS, 1_000] {
        let ObjectMotion::Straight { from, to } = world.past_motion(car, ms(t)) else {
            panic!("it has a pose")
        };
        assert_eq!(to.1.x - from.1.x, 1.0, "at {t} ms");
    }
}

#[test]
fn the_past_is_bounded_saved_and_belongs_to_one_object() {
    let mut world = garage();
    world.keep_past(Duration::from_mins(1));
    let first = car(&mut world, at(5.0, 5.0));
    for number in 1..=200 {
        tick(&mut world, number);
        world.set_pose(first, at(5.0 + 0.1 * number as f32, 5.0), 0.0, 0.0);
        world.finish_tick();
    }
    let mut saved = Vec::new();
    world.save(&mut saved);
    // Two seconds and the longest tick, of 50 ms, and where it was before.
    let entries = world.past.to_saved().iter().map(Vec::len).sum::<usize>();
    assert_eq!(entries, 43);
    let mut restored = garage();
    restored.keep_past(Duration::from_mins(1));
    restored.restore(&mut &saved[..], None).expect("it was just saved");
    for t in (7_000..10_000).step_by(7) {
        assert_eq!(restored.past_position(first, ms(t)), world.past_position(first, ms(t)));
    }
    tick(&mut world, 201);
    world.despawn_at(first, ms(201 * 50));
    let second = car(&mut world, at(70.0, 5.0));
    world.finish_tick();
    assert_eq!(world.past_position(second, ms(9_500)), at(70.0, 5.0));
}

#[test]
fn without_lag_compensation_nothing_is_kept() {
    let mut world = garage();
    let car = car(&mut world, at(5.0, 5.0));
    for number in 1..=5 {
        tick(&mut world, number);
        world.set_pose(car, at(5.0 + number as f32, 5.0), 0.0, 0.0);
        world.finish_tick();
    }
    assert!(world.past.to_saved().is_empty());
    assert_eq!(world.past_position(car, ms(100)), world.position(car));
}

/// What a client may say of the time that it showed, and of the time of its input.
#[test]
fn no_lie_about_the_time_shown_reaches_beyond_the_bound() {
    let shown_behind = ControlSpec {
        name: "shown-behind".into(),
        axis: Some(AxisKind::ShownBehind),
        ..ControlSpec::default()
    };
    let schema = Schema { controls: vec![shown_behind], ..schema() };
    // The players' clock shows 1.85 s, and the world is a local lag ahead of it.
    let now = 2_000;
    let present = 2_000 - LAG_MS;
    // Of a sample taken at a time that shows so much before it, in milliseconds.
    let shown = |at: u64, behind_ms: u64| {
        let mut world = World::new(&config(), schema.clone());
        world.keep_past(Duration::from_millis(200));
        world.begin_tick(ms(now));
        let step = AxisKind::ShownBehind.step_of(behind_ms as f32 / 1_000.0);
        let sample = KeySample { at: ms(at), keys: Keymap(1), axes: Some(Axes([step, 0, 0, 0])) };
        world.receive_sample(ms(present), PlayerId(1), sample);
        world.apply_inputs(&mut Vec::new());
        world.shown_to(PlayerId(1)).millis()
    };
    assert_eq!(shown(present - 60, 40), present - 100, "the truth counts");
    let earliest = present - 200;
    assert_eq!(shown(present - 60, 1_000), earliest, "an older picture");
    assert_eq!(shown(5, 0), earliest, "an older input");
    assert_eq!(shown(5, 1_000), earliest, "both");
    assert_eq!(shown(present + 900, 0), present, "an input of the future");
    assert_eq!(shown(present + 90_000, 0), present, "of a far one");
    let mut silent = World::new(&config(), schema.clone());
    silent.begin_tick(ms(now));
    assert_eq!(silent.shown_to(PlayerId(7)).millis(), present, "nothing");
}
