//! Loss from 0 to 50 %, with reordering and duplicates: no object is revived, and no pose is read
//! against a wrong baseline.
//!
//! The oracles panic at the first error; this test checks what still gets through.
//! `docs/data/loss.tsv` has the table of the long runs.

use ambit_tests::measured_room::run_under_loss;

#[test]
fn loss_revives_no_object_and_leaves_no_wrong_baseline() {
    for (loss, p99_ms) in [(0.0, 250), (5.0, 250), (20.0, 400), (50.0, 2_000)] {
        let row = run_under_loss(7, loss, 4);
        let ages = &row.ages.shown.near;
        println!(
            "{loss} %: {} bytes/s, {} poses/s, {} compared, {} lost tracks; \
             near: age p50 {:?} ms, p99 {:?} ms; not shown: {}, p50 {:?}, p99 {:?}",
            row.bytes_per_s,
            row.poses_per_s,
            row.compared,
            row.lost_tracks,
            ages.quantile_ms(0.5),
            ages.quantile_ms(0.99),
            row.ages.not_shown.count(),
            row.ages.not_shown.quantile_ms(0.5),
            row.ages.not_shown.quantile_ms(0.99),
        );
        assert!(row.compared > 5_000, "{loss} %: {} poses compared", row.compared);
        assert!(
            row.max_bytes_in_a_second <= 32_000,
            "{loss} %: {} bytes within a second",
            row.max_bytes_in_a_second
        );
        assert!(
            ages.quantile_ms(0.99).is_some_and(|p99| p99 <= p99_ms),
            "{loss} %: {:?} ms",
            ages.quantile_ms(0.99)
        );
    }
}
