//! Where objects were a short while ago.

use std::time::Duration;

use super::poses::{car, garage, tick};
use super::*;

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
    // Two seconds of 50 ms, and where it was before.
    let entries = world.past.to_saved().iter().map(Vec::len).sum::<usize>();
    assert_eq!(entries, 41);
    let mut restored = garage();
    restored.keep_past(Duration::from_mins(1));
    restored.restore(&mut &saved[..]).expect("it was just saved");
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
