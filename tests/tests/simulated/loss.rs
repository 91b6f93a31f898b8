//! Loss from nothing to a half, with reordering and duplicates: nothing is revived, no pose is read
//! against a wrong base.
//!
//! The oracles panic at the first; here is what the lines must still carry. `docs/loss.md` has the
//! long runs' table.

use ambit_tests::cubes::under_loss;

#[test]
fn no_object_is_revived_and_no_base_is_wrong_whatever_is_lost() {
    for (loss, p99_ms) in [(0.0, 250), (5.0, 250), (20.0, 400), (50.0, 2_000)] {
        let row = under_loss(7, loss, 4);
        let ages = &row.ages.shown.near;
        println!(
            "{loss} %: {} bytes/s, {} poses/s, {} compared, lost track {} times, near: age p50 {:?} ms, p99 {:?} ms; not shown: {}, p50 {:?}, p99 {:?}",
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
        assert!(
            row.compared > 5_000,
            "{loss} %: {} poses compared",
            row.compared
        );
        assert!(
            row.most_bytes <= 32_000,
            "{loss} %: {} bytes within a second",
            row.most_bytes
        );
        assert!(
            ages.quantile_ms(0.99).is_some_and(|p99| p99 <= p99_ms),
            "{loss} %: {:?} ms",
            ages.quantile_ms(0.99)
        );
    }
}
