//! A small budget and many cubes: 901 objects, 60 packets a second, 256 kbit/s for each client.
//!
//! Bytes are counted on the simulated network, independently of the link's budget
//! ([`ambit_tests::sim::wire`]); ages and errors come from the oracle of poses.

use std::time::Duration;

use ambit_tests::measured_room::{MeasuredRoom, ROOM_PARAMETERS, TOLERANCE_UNITS};
use ambit_tests::oracle::poses::ViewErrors;
use ambit_tests::sim::wire;
use ambit_transport::impair::Impairment;

/// 256 kbit/s, in bytes.
const BUDGET_BYTES: u64 = 32_000;
/// Objects are accurate when four fifths of them, including those at rest, are drawn within 2 mm,
/// and all but 2 % no farther off than before the outage. Moving objects change at every tick, and
/// there are more of them than the budget can carry.
const AT_REST: (f64, f32) = (0.2, 0.002);
const MOVING: f64 = 0.02;

#[test]
fn nine_hundred_cubes_stay_within_budget_and_every_age_is_bounded() {
    let mut room = MeasuredRoom::new(1, 2, &impairment(), "rolling_cubes", &ROOM_PARAMETERS);
    room.record_traffic();
    let ages =
        room.measure_ages(&[0, 1], Duration::from_secs(12), TOLERANCE_UNITS, |_, _, _| false);
    for user in 0..2 {
        let sent = room.system.user(user).sent_datagrams.as_ref().expect("recorded");
        let most = wire::most_in_a_second(sent);
        let all = wire::bytes(sent);
        println!("user {user}: {} bytes in the fullest second, {} on average", most, all / 12);
        assert!(most <= BUDGET_BYTES, "user {user}: {most} bytes within a second");
        assert!(sent.len() >= 12 * 55, "user {user}: {} datagrams in 12 s", sent.len());
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
fn a_client_is_accurate_one_second_after_a_two_second_outage() {
    let mut room = MeasuredRoom::new(2, 2, &impairment(), "rolling_cubes", &ROOM_PARAMETERS);
    room.system.run_for(Duration::from_secs(2));
    let mut usual_m = 0.0_f32;
    for _ in 0..50 {
        room.system.run_for(Duration::from_millis(20));
        usual_m = usual_m.max(room.view_errors(0).max_error_without(MOVING));
    }
    let is_accurate = |errors: &ViewErrors| is_accurate(errors, usual_m);
    let before = room.view_errors(0);
    println!("before the outage: {}, usually up to {usual_m} m", describe(&before));
    assert!(is_accurate(&before) && usual_m < 1.0, "{}", describe(&before));
    room.system.cut(0, Duration::from_secs(2));
    room.system.run_for(Duration::from_secs(2));
    let cut = room.view_errors(0);
    println!("at its end: {}", describe(&cut));
    assert!(
        cut.max_error_without(MOVING) > 4.0 * usual_m,
        "the outage had no effect: {}",
        describe(&cut)
    );
    let mut took = Duration::ZERO;
    while !is_accurate(&room.view_errors(0)) {
        room.system.run_for(Duration::from_millis(20));
        took += Duration::from_millis(20);
        assert!(
            took < Duration::from_secs(1),
            "a second later: {}",
            describe(&room.view_errors(0))
        );
    }
    println!(
        "accurate again {} ms after the outage: {}",
        took.as_millis(),
        describe(&room.view_errors(0))
    );
    assert!(room.system.user(0).client.is_playing());
}

fn is_accurate(errors: &ViewErrors, usual_m: f32) -> bool {
    let (share, most_m) = AT_REST;
    let near =
        errors.max_error_without(share) <= most_m && errors.max_error_without(MOVING) <= usual_m;
    near && errors.missing == 0 && errors.errors_m.len() > 900
}

fn describe(errors: &ViewErrors) -> String {
    let off = [0.2, 0.1, 0.02, 0.0].map(|share| errors.max_error_without(share));
    format!(
        "{} missing of {}; p80, p90, p98 and max are off by {off:?} m",
        errors.missing,
        errors.errors_m.len()
    )
}

fn impairment() -> Impairment {
    "delay=30ms,jitter=5ms".parse().expect("a valid impairment")
}
