//! Hysteresis: no client can make the server send much more than it receives.
//!
//! A viewer steps back and forth over the border between cells 0 and 1, and an object over the one
//! between 3 and 2: their distance in cells goes 3, 2, 1, 2, 3. Without hysteresis each round costs
//! centimetres of walking and causes an enter and a leave; with a margin each round costs metres.

use std::time::Duration;

use ambit_field::commands;

use crate::script::{avatar_position, good_network, room_of, walk_to};

#[test]
fn a_pair_that_paces_along_borders_causes_few_crossings() {
    let (without_margin, without_margin_m) = pace_along_border(&[("margin", "0")], 0.2);
    assert!(without_margin >= 20, "without a margin small steps cause crossings: {without_margin}");
    assert!(
        without_margin_m / f64::from(without_margin) < 1.5,
        "without a margin crossings cost little walking: {without_margin_m:.1} m for \
         {without_margin}"
    );

    let (with_margin, with_margin_m) = pace_along_border(&[("margin", "1")], 0.2);
    assert!(with_margin <= 1, "with a margin small steps cause no crossing: {with_margin}");
    println!(
        "0.2 m steps: margin 0: {without_margin} crossings for {without_margin_m:.1} m; \
         margin 1: {with_margin} for {with_margin_m:.1} m"
    );

    // Steps that exceed the margin cause crossings, which cost at least 4 m of walking each.
    let (long_steps, long_steps_m) = pace_along_border(&[("margin", "1")], 2.2);
    assert!(long_steps > 3, "long steps do cause crossings: {long_steps}");
    assert!(
        long_steps_m / f64::from(long_steps) >= 4.0,
        "{long_steps_m:.1} m for {long_steps} crossings"
    );
    println!("2.2 m steps, margin 1: {long_steps} crossings for {long_steps_m:.1} m");
}

#[test]
fn one_walker_at_a_corner_of_four_cells_causes_no_flicker() {
    for margin in ["0", "1"] {
        let parameters = [("size", "60x60"), ("npcs", "0"), ("obstacles", "0"), ("margin", margin)];
        let (mut system, room) = room_of(3, 4, &good_network(), &parameters);
        for (user, (x, y)) in
            [(10.1, 10.1), (25.0, 5.0), (5.0, 25.0), (28.0, 28.0)].into_iter().enumerate()
        {
            walk_to(&mut system, room, user, x, y);
        }
        let corners = [(9.9, 9.9), (10.1, 9.9), (10.1, 10.1), (9.9, 10.1)];
        let mut walk_around_corner = |rounds: usize| {
            for (x, y) in corners.into_iter().cycle().take(4 * rounds) {
                walk_to(&mut system, room, 0, x, y);
            }
            let stats = system.room(room).expect("the room runs").stats();
            (stats.enters, stats.leaves)
        };
        // In the first round objects may enter. From then on they stay within the outer zone.
        let before = walk_around_corner(1);
        assert_eq!(walk_around_corner(15), before, "margin {margin}");
    }
}

#[test]
fn bytes_to_a_client_are_proportional_to_the_bytes_it_sends() {
    let (system, room) = {
        let (mut system, room) =
            room_of(9, 2, &good_network(), &[("size", "60x60"), ("npcs", "0"), ("obstacles", "0")]);
        step_to_and_fro(&mut system, room, 0.2, 60);
        (system, room)
    };
    let (down, up) = system.user(0).bytes;
    println!(
        "the pacing client gets {:.2} bytes for each byte that it sends",
        down as f64 / up as f64
    );
    assert!(down < 12 * up, "{down} bytes down, {up} up");
    assert!(system.room(room).is_some());
}

/// Returns the number of crossings that the pair caused, and the metres that both have walked.
fn pace_along_border(parameters: &[(&str, &str)], step_m: f32) -> (u32, f64) {
    let parameters = [&[("size", "60x60"), ("npcs", "0"), ("obstacles", "0")], parameters].concat();
    let (mut system, room) = room_of(2, 2, &good_network(), &parameters);
    walk_to(&mut system, room, 0, 10.0 - step_m / 2.0, 25.0);
    walk_to(&mut system, room, 1, 30.0 + 0.1, 25.0);
    system.run_for(Duration::from_secs(1));
    let before = system.room(room).expect("the room runs").stats().enters;
    let travelled = step_to_and_fro(&mut system, room, step_m, 60);
    let enters = system.room(room).expect("the room runs").stats().enters - before;
    // Both are viewers; each crossing is an enter for one or for both.
    (enters as u32, travelled)
}

/// Viewer and object step over their borders in turn; returns the metres that both have walked.
fn step_to_and_fro(
    system: &mut ambit_tests::sim::System,
    room: ambit_proto::ids::RoomId,
    step_m: f32,
    rounds: usize,
) -> f64 {
    let mut travelled = 0.0;
    let mut last = [avatar_position(system, room, 0), avatar_position(system, room, 1)];
    for round in 0..rounds {
        let inwards = round % 2 == 0;
        let (viewer_x, object_x) =
            if inwards { (10.0 + step_m / 2.0, 29.9) } else { (10.0 - step_m / 2.0, 30.1) };
        system.act(0, &commands::walk(viewer_x, 25.0));
        system.act(1, &commands::walk(object_x, 25.0));
        for _ in 0..(step_m / 0.2).ceil() as usize + 4 {
            system.run_for(Duration::from_millis(50));
            for (user, last) in last.iter_mut().enumerate() {
                let here = avatar_position(system, room, user);
                travelled += f64::from(here.ground_distance(*last));
                *last = here;
            }
        }
    }
    travelled
}
