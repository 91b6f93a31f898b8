//! Random traffic, checked against a plain list of departures.

use super::*;

const FULL: usize = MAX_DATAGRAM + 53;

fn at(micros: u64) -> LocalTime {
    LocalTime::from_micros(micros)
}

fn budget(bytes_per_s: u32) -> Budget {
    Budget::new(BudgetConfig { bytes_per_s, ..BudgetConfig::default() })
}

/// All departures: time in microseconds and bytes.
#[derive(Default)]
struct Departures(Vec<(u64, usize)>);

impl Departures {
    fn spend(&mut self, budget: &mut Budget, now: u64, class: TrafficClass, bytes: usize) {
        assert!(budget.spend(at(now), &[(class, bytes)]));
        self.0.push((now, bytes));
        let window = self.0.iter().rev().take_while(|&&(left, _)| left + 1_000_000 > now);
        let sum: u64 = window.map(|&(_, bytes)| bytes as u64).sum();
        assert!(
            sum <= budget.rate(),
            "{sum} bytes in the second before {now}, {} are allowed",
            budget.rate()
        );
    }

    fn between(&self, from: u64, to: u64) -> usize {
        self.0.iter().filter(|(left, _)| (from..to).contains(left)).map(|&(_, bytes)| bytes).sum()
    }
}

#[test]
fn no_second_exceeds_the_rate_even_when_the_rate_changes() {
    for seed in 0..200 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let (mut budget, mut departures, mut now) =
            (budget(32_000), Departures::default(), rng.u64(..3_000_000));
        for _ in 0..2_000 {
            now += rng.u64(..) % [1, 1_000, 20_000, 60_000, 2_000_000][rng.usize(..5)].max(1);
            match rng.u32(..40) {
                0 => budget.set_limit(at(now), rng.u32(2_000..200_000)),
                1 => budget.set_shares_with_slices(at(now), true),
                2 => budget.set_shares_with_slices(at(now), false),
                3 => budget.credit_slices(at(now), rng.usize(..100_000)),
                4 => budget.rate_controller.handle_lost(at(now)),
                5 => budget.handle_timeout(at(now)),
                _ => {
                    let class = [TrafficClass::Control, TrafficClass::Game, TrafficClass::Slices]
                        [rng.usize(..3)];
                    let most = budget.available(class, at(now));
                    let bytes = if rng.bool() { most } else { rng.usize(..=most) };
                    if bytes > 0 {
                        departures.spend(&mut budget, now, class, bytes);
                    }
                }
            }
        }
    }
}

#[test]
fn affordable_at_is_exact_to_the_microsecond() {
    for seed in 0..200 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut budget = budget(rng.u32(4_000..130_000));
        let mut now = 1_000_000;
        budget.set_shares_with_slices(at(now), rng.bool());
        for _ in 0..100 {
            let class = [TrafficClass::Control, TrafficClass::Game][rng.usize(..2)];
            let class =
                if budget.shares_with_slices && rng.bool() { TrafficClass::Slices } else { class };
            let bytes = rng.usize(1..FULL);
            let due = budget.affordable_at(class, bytes);
            assert!(budget.available(class, due) >= bytes, "seed {seed}");
            if due > budget.settled_at {
                assert!(budget.available(class, at(due.micros() - 1)) < bytes, "seed {seed}");
            }
            now = due.micros().max(now) + rng.u64(..3_000);
            budget.spend(at(now), &[(class, bytes)]);
        }
    }
}

#[test]
fn a_game_alone_gets_the_whole_rate_in_even_portions() {
    let mut budget = budget(32_000);
    let mut departures = Departures::default();
    for tick in 20..420 {
        let now = tick * 50_000;
        let bytes = budget.available(TrafficClass::Game, at(now));
        departures.spend(&mut budget, now, TrafficClass::Game, bytes);
    }
    let seconds: Vec<_> = (3..20)
        .map(|second| departures.between(second * 1_000_000, (second + 1) * 1_000_000))
        .collect();
    assert!(seconds.iter().all(|&bytes| bytes > 29_500), "{seconds:?}");
    let ticks: Vec<_> =
        (60..400).map(|tick| departures.between(tick * 50_000, (tick + 1) * 50_000)).collect();
    assert!(ticks.iter().all(|&bytes| bytes <= 3_300), "{ticks:?}");
    assert!(ticks.iter().filter(|&&bytes| bytes < 1_000).count() <= ticks.len() / 10, "{ticks:?}");
}

/// The rates, in bytes a second, that a game of `per_tick` bytes and unlimited slices get in ten
/// seconds.
fn shared(per_tick: usize, bytes_per_s: u32) -> (usize, usize) {
    let mut budget = budget(bytes_per_s);
    let mut departures = Departures::default();
    let mut game = 0;
    budget.set_shares_with_slices(at(1_000_000), true);
    for tick in 20..260 {
        let now = tick * 50_000;
        let bytes = per_tick.min(budget.available(TrafficClass::Game, at(now)));
        if tick >= 60 {
            game += bytes;
        }
        if bytes > 0 {
            departures.spend(&mut budget, now, TrafficClass::Game, bytes);
        }
        while budget.available(TrafficClass::Slices, at(now)) >= 1_087 {
            departures.spend(&mut budget, now, TrafficClass::Slices, 1_087);
        }
    }
    (game / 10, (departures.between(3_000_000, 13_000_000) - game) / 10)
}

#[test]
fn slices_get_at_least_their_share_and_what_the_game_leaves() {
    let (game, slices) = shared(0, 32_000);
    assert!(game == 0 && slices > 28_500, "{game} {slices}");
    let (game, slices) = shared(400, 32_000);
    assert!(game == 8_000 && slices > 19_500, "{game} {slices}");
    let (game, slices) = shared(usize::MAX, 32_000);
    assert!(game > 15_500 && slices > 13_000, "{game} {slices}");
    let (game, slices) = shared(usize::MAX, 125_000);
    assert!(game > 60_000 && slices > 52_000, "{game} {slices}");
}

#[test]
fn an_acknowledgement_is_always_affordable() {
    let mut budget = budget(32_000);
    budget.set_shares_with_slices(at(1_000_000), true);
    for step in 0..5_000 {
        let now = 1_000_000 + step * 2_000;
        for class in [TrafficClass::Game, TrafficClass::Slices] {
            let bytes = budget.available(class, at(now));
            assert!(budget.spend(at(now), &[(class, bytes)]));
        }
        assert!(budget.affordable_at(TrafficClass::Control, 73) <= at(now + 3_000));
    }
}

#[test]
fn a_credited_burst_does_not_exceed_the_rate_of_a_second() {
    let mut budget = budget(32_000);
    let mut departures = Departures::default();
    budget.set_shares_with_slices(at(1_000_000), true);
    budget.credit_slices(at(1_000_000), 20_000);
    while budget.available(TrafficClass::Slices, at(1_000_000)) >= 1_087 {
        departures.spend(&mut budget, 1_000_000, TrafficClass::Slices, 1_087);
    }
    assert!(departures.between(0, 2_000_000) > 20_000);
    assert!(budget.available(TrafficClass::Game, at(1_000_000)) >= 200);
}

/// The number of 400 senders, each with 20 datagrams a second, that take the path's random loss for
/// congestion within a minute.
fn misled_senders(loss: f64) -> usize {
    let is_misled = |seed: u64| {
        let (mut controller, mut rng) =
            (RateController::new(32_000), fastrand::Rng::with_seed(seed));
        (20..1_220_u64).any(|tick| {
            let sent = at(tick * 50_000);
            let now = at(tick * 50_000 + 130_000);
            controller.handle_sent(sent);
            if rng.f64() < loss {
                controller.handle_lost(sent);
            } else {
                controller.handle_acked(now, sent, 400, false);
                controller.handle_round_trip(sent, Duration::from_millis(130));
            }
            controller.handle_timeout(now);
            controller.state().1 != Pressure::None
        })
    };
    (0..400).filter(|&seed| is_misled(seed)).count()
}

#[test]
fn random_loss_is_rarely_taken_for_a_bottleneck() {
    let misled = [0.05, 0.2, 0.3, 0.37].map(misled_senders);
    assert!(misled.iter().all(|&count| count <= 20), "of 400: {misled:?}");
}
