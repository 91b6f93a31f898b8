//! A narrow line and many cubes: 901 objects, 60 packets a second, 256 kbit/s a client.
//!
//! The bytes are counted on the simulated wire by somebody who knows nothing of the link's budget
//! ([`ambit_tests::sim::wire`]); ages and pictures are those of the oracle of poses.

use std::time::Duration;

use ambit_proto::impair::Impairment;
use ambit_tests::measured_room::{MeasuredRoom, ROOM_PARAMETERS, TOLERANCE_UNITS};
use ambit_tests::oracle::poses::ViewErrors;
use ambit_tests::sim::wire;

/// What 256 kbit/s are, in bytes.
const BUDGET_BYTES: u64 = 32_000;
/// A picture is right when four fifths of its objects, those at rest among them, are where they
/// are, to 2 mm, and all but 2 % of them no farther off than they were before the cut: what moves
/// is new at every tick, and there is more of it than the line carries.
const AT_REST: (f64, f32) = (0.2, 0.002);
const MOVING: f64 = 0.02;

#[test]
fn nine_hundred_cubes_stay_within_budget_and_every_age_is_bounded() {
    let mut cubes = MeasuredRoom::new(1, 2, &impairment(), "tumble", &ROOM_PARAMETERS);
    cubes.record_traffic();
    let ages = cubes.measure_ages(
        &[0, 1],
        Duration::from_secs(12),
        TOLERANCE_UNITS,
        |_, _, _| false,
    );
    for guest in 0..2 {
        let sent = cubes.system.guest(guest).sent_to.as_ref().expect("tapped");
        let (most, all) = (wire::most_in_a_second(sent), wire::bytes(sent));
        println!(
            "guest {guest}: {} bytes in the fullest second, {} on average",
            most,
            all / 12
        );
        assert!(
            most <= BUDGET_BYTES,
            "guest {guest}: {most} bytes within a second"
        );
        assert!(
            sent.len() >= 12 * 55,
            "guest {guest}: {} datagrams in 12 s",
            sent.len()
        );
    }
    for (class, ages, p99_ms, max_ms) in [
        ("engaged", &ages.shown.engaged, 100, 300),
        ("near", &ages.shown.near, 200, 1_000),
        ("far", &ages.shown.far, 1_000, 2_000),
    ] {
        let quantile = |share| ages.quantile_ms(share).unwrap_or(0);
        let max = ages.max().as_millis();
        println!(
            "{class}: age p50 {} ms, p99 {} ms, max {max} ms of {}",
            quantile(0.5),
            quantile(0.99),
            ages.count()
        );
        assert!(ages.count() > 100, "{class}: {} ages", ages.count());
        assert!(quantile(0.99) <= p99_ms && max <= max_ms, "{class}");
    }
}

#[test]
fn a_client_is_right_again_one_second_after_two_seconds_of_silence() {
    let mut cubes = MeasuredRoom::new(2, 2, &impairment(), "tumble", &ROOM_PARAMETERS);
    cubes.system.run_for(Duration::from_secs(2));
    let mut usual_m = 0.0_f32;
    for _ in 0..50 {
        cubes.system.run_for(Duration::from_millis(20));
        usual_m = usual_m.max(cubes.view_errors(0).max_error_without(MOVING));
    }
    let is_accurate = |picture: &ViewErrors| is_accurate(picture, usual_m);
    let before = cubes.view_errors(0);
    println!(
        "before the cut: {}, usually up to {usual_m} m",
        describe(&before)
    );
    assert!(
        is_accurate(&before) && usual_m < 1.0,
        "{}",
        describe(&before)
    );
    cubes.system.cut(0, Duration::from_secs(2));
    cubes.system.run_for(Duration::from_secs(2));
    let cut = cubes.view_errors(0);
    println!("at its end: {}", describe(&cut));
    assert!(
        cut.max_error_without(MOVING) > 4.0 * usual_m,
        "the cut was felt: {}",
        describe(&cut)
    );
    let mut took = Duration::ZERO;
    while !is_accurate(&cubes.view_errors(0)) {
        cubes.system.run_for(Duration::from_millis(20));
        took += Duration::from_millis(20);
        assert!(
            took < Duration::from_secs(1),
            "a second later: {}",
            describe(&cubes.view_errors(0))
        );
    }
    println!(
        "right again {} ms after the cut: {}",
        took.as_millis(),
        describe(&cubes.view_errors(0))
    );
    assert!(cubes.system.guest(0).client.is_playing());
}

fn is_accurate(picture: &ViewErrors, usual_m: f32) -> bool {
    let (share, most_m) = AT_REST;
    let near =
        picture.max_error_without(share) <= most_m && picture.max_error_without(MOVING) <= usual_m;
    near && picture.missing == 0 && picture.errors_m.len() > 900
}

fn describe(picture: &ViewErrors) -> String {
    let off = [0.2, 0.1, 0.02, 0.0].map(|share| picture.max_error_without(share));
    format!(
        "{} missing of {}; p80, p90, p98 and max are off by {off:?} m",
        picture.missing,
        picture.errors_m.len()
    )
}

fn impairment() -> Impairment {
    "delay=30ms,jitter=5ms".parse().expect("a valid line")
}
