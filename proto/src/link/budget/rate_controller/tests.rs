//! The rate on simulated paths of limited capacity, with losses and jitter.

use super::*;

#[test]
fn another_limit_keeps_the_rate_s_share_of_it() {
    let mut controller = RateController::new(100_000);
    controller.set_limit(40_000);
    assert_eq!(controller.rate(), 40_000);
    controller.rate = 10_000;
    controller.set_limit(80_000);
    assert_eq!(controller.rate(), 20_000);
}

/// A path that carries `capacity` bytes a second through a queue of 200 ms and loses `loss` of
/// the rest. The sender always uses its whole rate.
struct SimulatedPath {
    capacity: f64,
    loss: f64,
    one_way_delay: Duration,
    queue_bytes: f64,
    rng: fastrand::Rng,
    bytes: usize,
    jitter: Duration,
    /// The earliest time after sending at which a loss is known.
    lost_after: Duration,
    outcomes: std::collections::VecDeque<(LocalTime, LocalTime, Option<Duration>)>,
    now: LocalTime,
    earned: f64,
}

impl SimulatedPath {
    fn new(capacity: f64, loss: f64, seed: u64) -> Self {
        let rng = fastrand::Rng::with_seed(seed);
        let now = LocalTime::from_millis(10_000);
        let (one_way_delay, outcomes) =
            (Duration::from_millis(100), std::collections::VecDeque::new());
        let lost_after = one_way_delay + Duration::from_millis(60);
        Self {
            capacity,
            loss,
            one_way_delay,
            queue_bytes: 0.0,
            rng,
            bytes: 500,
            jitter: Duration::from_millis(25),
            lost_after,
            outcomes,
            now,
            earned: 0.0,
        }
    }

    /// The mean rate of that time, and the longest queue.
    fn run(&mut self, controller: &mut RateController, millis: u64) -> (f64, Duration) {
        let mut rates = 0.0;
        let mut longest = 0.0_f64;
        for _ in 0..millis {
            self.now += Duration::from_millis(1);
            self.queue_bytes = (self.queue_bytes - self.capacity / 1_000.0).max(0.0);
            self.earned += f64::from(controller.rate()) / 1_000.0;
            while self.earned >= self.bytes as f64 {
                self.earned -= self.bytes as f64;
                self.send();
                controller.handle_sent(self.now);
            }
            while self.outcomes.front().is_some_and(|&(known_at, ..)| known_at <= self.now) {
                let (_, sent, round_trip) = self.outcomes.pop_front().expect("just seen");
                match round_trip {
                    Some(round_trip) => {
                        controller.handle_acked(self.now, sent, self.bytes, false);
                        controller.handle_round_trip(sent, round_trip);
                    }
                    None => controller.handle_lost(sent),
                }
            }
            controller.handle_timeout(self.now);
            rates += f64::from(controller.rate()) / millis as f64;
            longest = longest.max(self.queue_bytes / self.capacity);
        }
        (rates, Duration::from_secs_f64(longest))
    }

    fn send(&mut self) {
        let wait = self.queue_bytes / self.capacity;
        let lost = wait > 0.2 || self.rng.f64() < self.loss;
        if wait <= 0.2 {
            self.queue_bytes += self.bytes as f64;
        }
        let round_trip = self.one_way_delay
            + Duration::from_secs_f64(wait)
            + Duration::from_micros(self.rng.u64(..self.jitter.as_micros() as u64));
        let least =
            if lost { self.lost_after } else { self.one_way_delay + Duration::from_millis(60) };
        let known_at = self.now + round_trip.max(least);
        let index = self.outcomes.partition_point(|(before, ..)| *before <= known_at);
        self.outcomes.insert(index, (known_at, self.now, (!lost).then_some(round_trip)));
    }
}

#[test]
fn steady_random_loss_does_not_reduce_the_rate() {
    for (loss, least) in
        [(0.0, 31_999.0), (0.1, 31_000.0), (0.2, 30_000.0), (0.37, 25_000.0), (0.5, 24_000.0)]
    {
        for seed in 0..10 {
            let (mut controller, mut path) =
                (RateController::new(32_000), SimulatedPath::new(1e9, loss, seed));
            let (mean, _) = path.run(&mut controller, 20_000);
            assert!(mean >= least, "loss {loss}, seed {seed}: {mean}");
            let (mean, _) = path.run(&mut controller, 60_000);
            assert!(mean >= 31_000.0, "later, loss {loss}, seed {seed}: {mean}");
        }
    }
}

#[test]
fn a_trial_waits_for_late_losses_when_few_datagrams_are_sent() {
    for seed in 0..20 {
        let (mut controller, mut path) =
            (RateController::new(32_000), SimulatedPath::new(1e9, 0.6, seed));
        path.lost_after = Duration::from_millis(900);
        path.bytes = 1_200;
        path.run(&mut controller, 12_000);
        let (mean, _) = path.run(&mut controller, 30_000);
        assert!(mean >= 31_000.0, "seed {seed}: {mean}");
    }
}

#[test]
fn loss_that_begins_later_costs_one_short_trial() {
    for seed in 0..10 {
        let (mut controller, mut path) =
            (RateController::new(32_000), SimulatedPath::new(1e9, 0.0, seed));
        path.run(&mut controller, 20_000);
        path.loss = 0.2;
        let (mean, _) = path.run(&mut controller, 10_000);
        assert!(mean > 27_000.0, "seed {seed}: {mean}");
        let (mean, _) = path.run(&mut controller, 30_000);
        assert!(mean > 31_000.0, "seed {seed}: {mean}");
    }
}

#[test]
fn a_bottleneck_is_found_within_seconds_and_its_queue_drains() {
    for (capacity, loss) in [(16_000.0, 0.0), (16_000.0, 0.1), (8_000.0, 0.0), (24_000.0, 0.0)] {
        for seed in 0..10 {
            let (mut controller, mut path) =
                (RateController::new(32_000), SimulatedPath::new(capacity, loss, seed));
            path.run(&mut controller, 4_000);
            let (mean, _) = path.run(&mut controller, 30_000);
            let summary = format!("{capacity} bytes/s, loss {loss}, seed {seed}: {mean}");
            assert!(mean < capacity * 1.05 && mean > capacity * 0.7, "{summary}");
            let mut mean_queue = Duration::ZERO;
            let steps = 300;
            for _ in 0..steps {
                path.run(&mut controller, 100);
                mean_queue += Duration::from_secs_f64(path.queue_bytes / capacity) / steps;
            }
            assert!(
                mean_queue < Duration::from_millis(120),
                "{summary}: a queue of {mean_queue:?}"
            );
            path.capacity = 1e9;
            path.run(&mut controller, 30_000);
            assert_eq!(controller.state().0, 32_000, "{summary}");
            assert_eq!(controller.state().1, Pressure::None);
        }
    }
}

#[test]
fn a_policer_without_a_queue_is_detected_by_its_losses() {
    // Half of the traffic exceeds the limit and is dropped at once.
    let mut controller = RateController::new(32_000);
    let mut path = SimulatedPath::new(1e9, 0.0, 1);
    let mut mean = 0.0;
    for step in 0..300 {
        path.loss = (1.0 - 16_000.0 / f64::from(controller.rate())).max(0.0);
        path.run(&mut controller, 100);
        mean += if step >= 50 { f64::from(controller.rate()) / 250.0 } else { 0.0 };
    }
    assert!((10_000.0..20_000.0).contains(&mean), "{mean}");
}

#[test]
fn jitter_is_not_taken_for_a_queue() {
    for seed in 0..20 {
        let (mut controller, mut path) =
            (RateController::new(32_000), SimulatedPath::new(1e9, 0.13, seed));
        (path.bytes, path.jitter) = (1_600, Duration::from_millis(85));
        let (mean, _) = path.run(&mut controller, 120_000);
        assert!(mean >= 31_000.0, "seed {seed}: {mean}");
    }
}

#[test]
fn a_longer_path_is_taken_for_a_queue_only_briefly() {
    let mut controller = RateController::new(32_000);
    let mut path = SimulatedPath::new(1e9, 0.0, 1);
    path.run(&mut controller, 20_000);
    path.one_way_delay = Duration::from_millis(220);
    path.run(&mut controller, 5_000);
    assert_eq!(path.run(&mut controller, 30_000).0.round(), 32_000.0);
}

#[test]
fn a_disconnected_path_is_not_taken_for_a_bottleneck() {
    let mut controller = RateController::new(32_000);
    let mut path = SimulatedPath::new(1e9, 0.0, 1);
    path.run(&mut controller, 20_000);
    path.loss = 1.0;
    path.run(&mut controller, 3_000);
    path.loss = 0.0;
    assert!(path.run(&mut controller, 2_000).0 >= 31_999.0);
}

#[test]
fn the_rate_always_stays_between_floor_and_limit() {
    for seed in 0..50 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut now = LocalTime::ZERO;
        let mut controller = RateController::new(64_000);
        for _ in 0..5_000 {
            now += Duration::from_millis(rng.u64(..40));
            let sent = now.saturating_sub(Duration::from_millis(rng.u64(..3_000)));
            match rng.u32(..4) {
                0 => controller.handle_acked(now, sent, rng.usize(..1_200), rng.bool()),
                1 => {
                    controller.handle_round_trip(sent, Duration::from_micros(rng.u64(..5_000_000)));
                }
                2 => controller.handle_lost(sent),
                _ => controller.handle_timeout(now),
            }
            assert!((8_000..=64_000).contains(&controller.rate()));
        }
    }
}
