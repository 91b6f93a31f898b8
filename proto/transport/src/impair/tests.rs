//! Rates over many packets, bounds for each packet.

use super::*;

const PACKETS: u64 = 20_000;

/// Sends a packet of 100 bytes each `gap_ms`, and returns the arrivals of each in milliseconds.
fn arrivals(impairment: Impairment, gap_ms: u64) -> Vec<Vec<f64>> {
    let mut impairer = Impairer::new(impairment);
    let sent = (0..PACKETS).map(|number| LocalTime::from_millis(number * gap_ms));
    sent.map(|now| {
        impairer.send(now, 100).map(|delay| (now + delay).micros() as f64 / 1e3).collect()
    })
    .collect()
}

fn per_cent_of(packets: &[Vec<f64>], what: impl Fn(&Vec<f64>) -> bool) -> f64 {
    packets.iter().filter(|packet| what(packet)).count() as f64 * 100.0 / packets.len() as f64
}

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[test]
fn a_perfect_path_delivers_at_once() {
    assert!(
        arrivals(Impairment::default(), 5)
            .iter()
            .zip(0..)
            .all(|(packet, number)| *packet == [f64::from(number) * 5.0])
    );
}

#[test]
fn the_same_seed_gives_the_same_deliveries() {
    let bad = Impairment {
        loss: 20.0,
        duplicate: 5.0,
        reorder: 5.0,
        delay: millis(50),
        jitter: millis(20),
        ..Impairment::default()
    };
    assert_eq!(arrivals(bad, 7), arrivals(bad, 7));
    assert_ne!(arrivals(bad, 7), arrivals(Impairment { seed: 1, ..bad }, 7));
}

#[test]
fn loss_and_duplicates_occur_at_their_rates() {
    let packets =
        arrivals(Impairment { loss: 13.0, duplicate: 10.0, seed: 3, ..Impairment::default() }, 5);
    let lost = per_cent_of(&packets, Vec::is_empty);
    let doubled = per_cent_of(&packets, |packet| packet.len() == 2);
    assert!((12.0..14.0).contains(&lost), "{lost} % lost");
    assert!((8.0..9.5).contains(&doubled), "{doubled} % doubled");
    let lost_packets = arrivals(Impairment { loss: 100.0, ..Impairment::default() }, 5);
    assert!(lost_packets.iter().all(Vec::is_empty));
}

#[test]
fn jitter_stays_within_its_bounds_and_keeps_the_order() {
    let packets = arrivals(
        Impairment { delay: millis(50), jitter: millis(20), seed: 5, ..Impairment::default() },
        10,
    );
    let mut last = 0.0;
    for (packet, number) in packets.iter().zip(0..) {
        let delay = packet[0] - f64::from(number) * 10.0;
        assert!((30.0..=70.0).contains(&delay), "{delay} ms");
        assert!(packet[0] >= last);
        last = packet[0];
    }
    let early = Impairment { delay: millis(1), jitter: millis(20), ..Impairment::default() };
    assert!(
        arrivals(early, 50)
            .iter()
            .zip(0..)
            .all(|(packet, number)| packet[0] >= f64::from(number) * 50.0)
    );
}

#[test]
fn a_reordered_packet_is_overtaken_and_delays_no_other() {
    let packets = arrivals(
        Impairment { delay: millis(50), reorder: 5.0, seed: 7, ..Impairment::default() },
        10,
    );
    let late: Vec<f64> = packets
        .iter()
        .zip(0..)
        .map(|(packet, number)| packet[0] - f64::from(number) * 10.0 - 50.0)
        .collect();
    let share = late.iter().filter(|&&late| late > 0.0).count() as f64 * 100.0 / late.len() as f64;
    assert!((4.0..6.0).contains(&share), "{share} %");
    assert!(late.iter().all(|&late| late == 0.0 || (20.0..=120.0).contains(&late)));
}

#[test]
fn a_narrow_link_queues_packets_and_drops_those_that_wait_too_long() {
    // 100 bytes at 80 kbit/s take 10 ms.
    let narrow = Impairment { rate: Some(80_000), ..Impairment::default() };
    let mut impairer = Impairer::new(narrow);
    let now = LocalTime::from_millis(1_000);
    let burst: Vec<_> = (0..30).map(|_| impairer.send(now, 100).next()).collect();
    for (delay, number) in burst.iter().zip(1..) {
        let expected = (number <= 21).then(|| millis(10 * number));
        assert_eq!(*delay, expected, "packet {number}");
    }
    let later = now + millis(100);
    assert_eq!(impairer.send(later, 100).next(), Some(millis(120)));
    let at_rest = now + millis(5_000);
    assert_eq!(impairer.send(at_rest, 100).next(), Some(millis(10)));
}

#[test]
fn an_idle_link_takes_a_packet_at_any_rate() {
    let mut impairer = Impairer::new(Impairment { rate: Some(1_000), ..Impairment::default() });
    assert_eq!(impairer.send(LocalTime::ZERO, 1_200).next(), Some(millis(9_600)));
    assert_eq!(impairer.send(LocalTime::from_millis(1), 1_200).next(), None);
}
