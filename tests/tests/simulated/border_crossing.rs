//! Invariant 4 (crossing): no client can make the server send much more than it receives.
//!
//! A viewer steps back and forth over the border between cells 0 and 1, and an object over the one
//! between 3 and 2: their distance in cells goes 3, 2, 1, 2, 3. Without hysteresis each round costs
//! centimetres of walking and causes an enter and a leave; with a margin each round costs metres.

use std::time::Duration;

use ambit_proto::message::Action;

use crate::script::{avatar_position, good_network, room_of, walk_to};

#[test]
fn a_pair_that_paces_along_borders_causes_few_crossings() {
    let (loose, loose_m) = pace_along_border(&[("margin", "0")], 0.2);
    assert!(
        loose >= 20,
        "without a margin the attack works: {loose} crossings"
    );
    assert!(
        loose_m / f64::from(loose) < 1.5,
        "and is cheap: {loose_m:.1} m for {loose}"
    );

    let (tight, tight_m) = pace_along_border(&[("margin", "1")], 0.2);
    assert!(
        tight <= 1,
        "with a margin small steps cause no crossing: {tight}"
    );
    println!(
        "0.2 m steps: margin 0: {loose} crossings for {loose_m:.1} m; \
         margin 1: {tight} for {tight_m:.1} m"
    );

    // Steps that are long enough to exceed the margin cost the stated distance.
    let (paid, paid_m) = pace_along_border(&[("margin", "1")], 2.2);
    assert!(paid > 3, "long steps do cause crossings: {paid}");
    assert!(
        paid_m / f64::from(paid) >= 4.0,
        "{paid_m:.1} m for {paid} crossings"
    );
    println!("2.2 m steps, margin 1: {paid} crossings for {paid_m:.1} m");
}

#[test]
fn one_walker_at_a_corner_of_four_cells_causes_no_flicker() {
    for margin in ["0", "1"] {
        let parameters = [
            ("size", "60x60"),
            ("npcs", "0"),
            ("obstacles", "0"),
            ("margin", margin),
        ];
        let (mut system, room) = room_of(3, 4, &good_network(), &parameters);
        for (guest, (x, y)) in [(10.1, 10.1), (25.0, 5.0), (5.0, 25.0), (28.0, 28.0)]
            .into_iter()
            .enumerate()
        {
            walk_to(&mut system, room, guest, x, y);
        }
        let corners = [(9.9, 9.9), (10.1, 9.9), (10.1, 10.1), (9.9, 10.1)];
        let mut round_the_corner = |rounds: usize| {
            for (x, y) in corners.into_iter().cycle().take(4 * rounds) {
                walk_to(&mut system, room, 0, x, y);
            }
            let stats = system.room(room).expect("the room runs").stats();
            (stats.enters, stats.leaves)
        };
        // Objects that come near for the first time may enter; the outer zone keeps them from then
        // on.
        let before = round_the_corner(1);
        assert_eq!(round_the_corner(15), before, "margin {margin}");
    }
}

#[test]
fn bytes_to_a_client_are_proportional_to_the_bytes_it_sends() {
    let (system, room) = {
        let (mut system, room) = room_of(
            9,
            2,
            &good_network(),
            &[("size", "60x60"), ("npcs", "0"), ("obstacles", "0")],
        );
        step_about(&mut system, room, 0.2, 60);
        (system, room)
    };
    let (down, up) = system.guest(0).bytes;
    println!(
        "the pacing client gets {:.2} bytes for each byte that it sends",
        down as f64 / up as f64
    );
    assert!(down < 12 * up, "{down} bytes down, {up} up");
    assert!(system.room(room).is_some());
}

/// How many crossings the pair caused, and how far both have walked for them.
fn pace_along_border(parameters: &[(&str, &str)], step_m: f32) -> (u32, f64) {
    let parameters = [
        &[("size", "60x60"), ("npcs", "0"), ("obstacles", "0")],
        parameters,
    ]
    .concat();
    let (mut system, room) = room_of(2, 2, &good_network(), &parameters);
    walk_to(&mut system, room, 0, 10.0 - step_m / 2.0, 25.0);
    walk_to(&mut system, room, 1, 30.0 + 0.1, 25.0);
    system.run_for(Duration::from_secs(1));
    let before = system.room(room).expect("the room runs").stats().enters;
    let travelled = step_about(&mut system, room, step_m, 60);
    let enters = system.room(room).expect("the room runs").stats().enters - before;
    // Both are viewers; each crossing is an enter for one or for both.
    (enters as u32, travelled)
}

/// Viewer and object step over their borders in turn; returns the metres that both have walked.
fn step_about(
    system: &mut ambit_tests::sim::System,
    room: ambit_proto::ids::RoomId,
    step_m: f32,
    rounds: usize,
) -> f64 {
    let mut travelled = 0.0;
    let mut last = [
        avatar_position(system, room, 0),
        avatar_position(system, room, 1),
    ];
    for round in 0..rounds {
        let inwards = round % 2 == 0;
        let (viewer_x, object_x) = if inwards {
            (10.0 + step_m / 2.0, 29.9)
        } else {
            (10.0 - step_m / 2.0, 30.1)
        };
        system.act(
            0,
            Action::Move {
                x: viewer_x,
                y: 25.0,
            },
        );
        system.act(
            1,
            Action::Move {
                x: object_x,
                y: 25.0,
            },
        );
        for _ in 0..(step_m / 0.2).ceil() as usize + 4 {
            system.run_for(Duration::from_millis(50));
            for (guest, last) in last.iter_mut().enumerate() {
                let here = avatar_position(system, room, guest);
                travelled += f64::from(here.ground_distance(*last));
                *last = here;
            }
        }
    }
    travelled
}
