//! Rates over many packets, bounds for each packet. All runs are deterministic: the tolerances are
//! for the size of the samples.

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

/// Measurements are compared with earlier ones of the same seed, so these deliveries stay the same
/// to the microsecond: 40 packets, 100 to 803 bytes long; the delay of each copy, or `-`.
#[test]
fn without_bursts_tail_and_queue_the_recorded_deliveries_come_out() {
    for (text, gap_micros, recorded) in [
        (
            "loss=20,delay=50ms,jitter=20ms,duplicate=10,reorder=10,rate=256kbit,seed=7",
            7_300,
            "52370 52050+52619 55155 69886 - 73923 - 59323 90671 - 83705 111726 - - 128565 133175 \
             243761 151087+157364 193964 204701 214550 212132 204832 197532 - 182932 202908 - \
             212984 - 210889 224948 242686 267285+279909 264123 - 283615 - - -",
        ),
        (
            "loss=5,jitter=1.5ms,rate=80kbit,seed=3",
            9_100,
            "11418 14600 23836 34900 50600 70332 93100 119900 150761 184600 223349 - - 253814 - - \
             - - - 279636 - - - - - - - - 236700 - - - - 249300 - - - - - 275975",
        ),
        (
            "loss=13,delay=10ms,jitter=30ms,duplicate=20",
            16_667,
            "0+6058 22876 32927 16260+23817 23534 38916 22249 16722 9972 27767 11100 0+2997 0 - \
             28798+31767 12131 0+12362 12217 22486 29027+30568 39137 22470 13293 33326 16659 - \
             34463 23818 7151 0 5461+6161 - - 1004 14135 20735+31734 4068 - 2489 18130",
        ),
    ] {
        let mut impairer = Impairer::new(text.parse().expect("valid"));
        let deliveries: Vec<String> = (0..40)
            .map(|number: u64| {
                let now = LocalTime::from_micros(number * gap_micros);
                let delays = impairer.send(now, 100 + 37 * (number as usize % 20));
                let copies: Vec<_> = delays.map(|it| it.as_micros().to_string()).collect();
                if copies.is_empty() { "-".into() } else { copies.join("+") }
            })
            .collect();
        assert_eq!(deliveries.join(" "), recorded, "{text}");
    }
}

#[test]
fn bursts_have_the_asked_for_loss_and_mean_length() {
    for (loss, burst_ms, seed) in [(5.0, 200, 1), (20.0, 100, 2), (1.0, 50, 3)] {
        let bursty = Impairment { loss, burst: millis(burst_ms), seed, ..Impairment::default() };
        let mut impairer = Impairer::new(bursty);
        // A packet each 2 ms for more than an hour: 1,000 bursts or more.
        let gap_ms = 2;
        let mut lost = 0_u64;
        let mut bursts = 0_u64;
        let mut before = false;
        let packets = 2_000_000;
        for number in 0..packets {
            let now = LocalTime::from_millis(gap_ms * number);
            let is_lost = impairer.send(now, 100).next().is_none();
            lost += u64::from(is_lost);
            bursts += u64::from(is_lost && !before);
            before = is_lost;
        }
        let share = lost as f64 / packets as f64 * 100.0 / f64::from(loss);
        assert!((0.9..1.1).contains(&share), "loss={loss}: {share} times as much is lost");
        let length = (gap_ms * lost) as f64 / bursts as f64 / burst_ms as f64;
        assert!((0.9..1.1).contains(&length), "burst={burst_ms}ms: {length} times as long");
    }
}

#[test]
fn bursts_come_at_the_same_times_whatever_is_sent() {
    let bursty = Impairment { loss: 30.0, burst: millis(100), seed: 4, ..Impairment::default() };
    let often = arrivals(bursty, 1);
    let seldom = arrivals(bursty, 40);
    let lost_often: Vec<bool> = often.iter().step_by(40).map(Vec::is_empty).collect();
    let lost_seldom: Vec<bool> = seldom.iter().map(Vec::is_empty).take(lost_often.len()).collect();
    assert_eq!(lost_often, lost_seldom);
    assert!(lost_often.contains(&true) && lost_often.contains(&false));
}

#[test]
fn bursts_of_no_loss_lose_nothing_and_of_all_loss_all() {
    for (loss, expected) in [(0.0, 0.0), (100.0, 100.0)] {
        let bursty = Impairment { loss, burst: millis(100), ..Impairment::default() };
        assert_eq!(per_cent_of(&arrivals(bursty, 5), Vec::is_empty), expected);
    }
}

#[test]
fn a_tail_has_its_mean_and_its_bound_and_is_exponential() {
    let slow = Impairment { delay: millis(20), tail: millis(50), seed: 6, ..Impairment::default() };
    // No packet waits for the one before it: the gap is longer than the bound.
    let packets = arrivals(slow, 1_000);
    let tails: Vec<f64> = packets
        .iter()
        .zip(0..)
        .map(|(packet, number)| packet[0] - f64::from(number) * 1_000.0 - 20.0)
        .collect();
    assert!(tails.iter().all(|tail| (0.0..=500.0).contains(tail)));
    let mean = tails.iter().sum::<f64>() / tails.len() as f64;
    assert!((48.5..51.5).contains(&mean), "{mean} ms");
    for (longer_than, expected) in [(50.0, 36.8), (150.0, 4.98), (250.0, 0.67)] {
        let longer = tails.iter().filter(|tail| **tail > longer_than).count();
        let share = longer as f64 * 100.0 / tails.len() as f64;
        assert!((share - expected).abs() < 0.1 * expected + 0.1, "{share} % > {longer_than} ms");
    }
}

#[test]
fn no_seed_exceeds_the_bound_of_a_tail() {
    let mut longest = Duration::ZERO;
    for seed in 0..100_000 {
        let slow = Impairment { tail: millis(50), seed, ..Impairment::default() };
        longest = longest.max(Impairer::new(slow).send(LocalTime::ZERO, 100).next().expect("one"));
    }
    assert_eq!(longest, millis(500), "one in 22,000 is cut to the bound");
}

#[test]
fn a_tail_keeps_the_order() {
    let slow = Impairment { jitter: millis(5), tail: millis(50), ..Impairment::default() };
    assert!(arrivals(slow, 5).is_sorted_by(|a, b| a[0] <= b[0]));
}

/// Sends packets of 10 ms at random times through a queue of 100 ms. Returns, for each tenth of the
/// queue's length, how many came when it was that full, and how many of these were dropped.
fn drops_by_fill(seed: u64) -> [(u32, u32); 11] {
    let narrow =
        Impairment { rate: Some(80_000), queue: Some(millis(100)), seed, ..Impairment::default() };
    let mut impairer = Impairer::new(narrow);
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut now = LocalTime::ZERO;
    let mut free_at = LocalTime::ZERO;
    let mut tenths = [(0, 0); 11];
    for number in 0..200_000 {
        // From a load of 5 to one of 0.6, so that the queue has each length.
        let most_micros = [4_000, 8_000, 16_000, 32_000][number / 100 % 4];
        now += Duration::from_micros(rng.u64(0..most_micros));
        let (sent, dropped) = &mut tenths[free_at.since(now).as_micros() as usize / 10_000];
        *sent += 1;
        match impairer.send(now, 100).next() {
            Some(delay) => free_at = now + delay,
            None => *dropped += 1,
        }
    }
    tenths
}

#[test]
fn a_queue_drops_nothing_up_to_half_and_then_linearly_more() {
    let tenths = drops_by_fill(8);
    for ((sent, dropped), tenth) in tenths.into_iter().zip(0..) {
        // In the middle of the tenth: 10 % for 50 to 60 ms, 30 % for 60 to 70 ms.
        let expected = (f64::from(tenth) * 0.2 - 0.9).clamp(0.0, 1.0);
        let share = f64::from(dropped) / f64::from(sent.max(1));
        assert!((share - expected).abs() < 0.03, "{tenth}: {dropped} of {sent} dropped");
        assert!(tenth >= 5 || dropped == 0, "{tenth}: {dropped} of {sent} dropped");
        assert!(tenth == 10 || sent > 1_000, "{tenth}: only {sent} sent");
    }
    assert_eq!(tenths, drops_by_fill(8));
}

#[test]
fn a_full_queue_drops_all_and_none_is_full_when_idle() {
    let narrow =
        Impairment { rate: Some(1_000), queue: Some(millis(100)), ..Impairment::default() };
    let mut impairer = Impairer::new(narrow);
    assert_eq!(impairer.send(LocalTime::ZERO, 100).next(), Some(millis(800)));
    for now in 0..=700 {
        assert_eq!(impairer.send(LocalTime::from_millis(now), 100).next(), None, "{now} ms");
    }
    assert_eq!(impairer.send(LocalTime::from_millis(750), 100).next(), Some(millis(850)));
}

#[test]
fn the_same_seed_gives_the_same_bursts_tails_and_drops() {
    let text = "loss=20,burst=50ms,delay=20ms,jitter=5ms,tail=30ms,rate=256kbit,queue=100ms,seed=9";
    let bad: Impairment = text.parse().expect("valid");
    assert_eq!(arrivals(bad, 3), arrivals(bad, 3));
    for other in [
        Impairment { seed: 1, ..bad },
        Impairment { burst: millis(60), ..bad },
        Impairment { tail: millis(31), ..bad },
        Impairment { queue: None, ..bad },
    ] {
        assert_ne!(arrivals(bad, 3), arrivals(other, 3), "{other}");
    }
}

#[test]
fn bursts_tails_and_queues_change_no_other_decision() {
    let old =
        Impairment { loss: 20.0, duplicate: 20.0, delay: millis(20), ..Impairment::default() };
    let copies = |impairment| arrivals(impairment, 5).iter().map(Vec::len).collect::<Vec<_>>();
    let expected = copies(old);
    assert_eq!(copies(Impairment { tail: millis(30), ..old }), expected);
    let wide = Impairment { rate: Some(10_000_000), queue: Some(millis(100)), ..old };
    assert_eq!(copies(wide), expected);
    let bursty = copies(Impairment { burst: millis(50), ..old });
    let arrived_in_both = expected.iter().zip(&bursty).filter(|(a, b)| **a > 0 && **b > 0);
    assert!(arrived_in_both.clone().count() > 10_000);
    assert!(arrived_in_both.clone().all(|(a, b)| a == b));
}

#[test]
fn a_throttled_path_stops_and_then_delivers_all_at_once_in_order() {
    let throttled =
        Impairment { throttle: millis(300), every: Some(millis(1_000)), ..Impairment::default() };
    let packets = arrivals(throttled, 10);
    let mut late = 0;
    let mut together = 0;
    let mut last: f64 = 0.0;
    for (packet, number) in packets.iter().zip(0..) {
        let sent = f64::from(number) * 10.0;
        let [at] = packet[..] else { panic!("{number} arrives {} times", packet.len()) };
        assert!(at >= last && at >= sent && at - sent <= 300.0, "{number}: {at}");
        late += u32::from(at > sent);
        together += u32::from(at == last);
        last = at;
    }
    // It is stopped for 300 of 1,300 ms, and 30 packets leave together.
    let share = f64::from(late) / packets.len() as f64;
    assert!((0.19..0.27).contains(&share), "{share}");
    assert!(f64::from(together) > 0.9 * f64::from(late), "{together} of {late}");
    let never = Impairment { throttle: Duration::ZERO, ..throttled };
    assert!(arrivals(never, 10).iter().zip(0..).all(|(it, n)| it[..] == [f64::from(n) * 10.0]));
}
