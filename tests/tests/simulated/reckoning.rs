//! Dead reckoning of ships: as good a picture for fewer bytes.

use ambit_tests::others_ships::ShipsSeen;

const OTHERS: usize = 36;
const ROOM: [(&str, &str); 4] =
    [("ships", "0"), ("asteroids", "0"), ("size", "300x300"), ("tick", "60")];

fn watch(line: &str, more: &[(&str, &str)]) -> ShipsSeen {
    let seen = ShipsSeen::watch(3, line, (OTHERS, &[&ROOM[..], more].concat()), 20);
    println!(
        "{line} {more:?}: {:.1} ships at {:.1} m/s, {} B/s, {} datagrams/s, {} \
         poses/s; off p50 {:.3} p99 {:.3} m; jumps p99 \
         {:.3}, most {:.3} m; age p50 {:?} p99 {:?} ms",
        seen.in_sight,
        seen.metres_per_s,
        seen.bytes_per_s,
        seen.datagrams_per_s,
        seen.poses_per_s,
        seen.error_m(0.5),
        seen.error_m(0.99),
        seen.jump_m(0.99),
        seen.jump_m(1.0),
        seen.ages.quantile_ms(0.5),
        seen.ages.quantile_ms(0.99)
    );
    seen
}

#[test]
fn by_the_second_order_ships_take_fewer_poses_and_are_as_near() {
    let orders = ["first", "second", "automatic"];
    let line = "delay=50ms,loss=5,jitter=5ms";
    let [first, second, automatic] = orders.map(|order| watch(line, &[("order", order)]));
    let per_ship = |seen: &ShipsSeen| seen.poses_per_s as f64 / seen.in_sight;
    for seen in [&second, &automatic] {
        let poses = per_ship(seen);
        let of_first = per_ship(&first);
        assert!(poses * 10.0 < of_first * 8.0, "{poses} poses a ship, {of_first} by the first");
        assert!(seen.error_m(0.5) < 0.1 && seen.error_m(0.99) < 1.0, "{}", seen.error_m(0.99));
        assert!(seen.ages.quantile_ms(0.99) < Some(120), "{:?}", seen.ages.quantile_ms(0.99));
    }
}
