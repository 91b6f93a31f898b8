//! Budgets: no client gets more bytes than allowed, and poses of higher classes stay fresher.

use std::collections::VecDeque;
use std::time::Duration;

use super::super::*;
use super::moving_avatars::{MovingAvatars, YAW, ms};
use super::simulation::{PERFECT_PATH, RoomSimulation, simulation_of};

/// The bytes that a budget counts for each datagram beside its own.
const OVERHEAD_BYTES: usize = 53;

/// A crowd on 21 x 21 m. Each one is engaged with its two neighbours in the list and is in a
/// team of four.
fn dense_crowd(budget_bytes_per_s: u32, coding: PoseCoding) -> RoomSimulation {
    let game = MovingAvatars {
        extent: (89.5, 110.5),
        team: |player| u8::try_from(player.0 / 4).ok(),
        engaged: |a, b| a.0.abs_diff(b.0) == 1,
        numbers_change: false,
        ..MovingAvatars::new(YAW)
    };
    let config =
        RoomConfig { budget_bytes_per_s, coding, inner: 4, outer: 5, ..RoomConfig::default() };
    let mut simulation = simulation_of(AVATARS, PERFECT_PATH, 1, config, game);
    (simulation.records_sent, simulation.observed_every) = (true, OBSERVED_EVERY);
    simulation
}

/// The simulation observes one client of this many.
const OBSERVED_EVERY: u32 = 60;
const AVATARS: u32 = 300;

#[test]
fn a_late_room_thins_out_far_objects_then_near_ones_never_engaged_ones() {
    let poses_at = |level: u8| {
        let config = RoomConfig { inner: 7, outer: 8, ..RoomConfig::default() };
        let game = MovingAvatars::new(YAW);
        let mut simulation = simulation_of(12, PERFECT_PATH, 1, config, game);
        simulation.ticks(40);
        simulation.inputs.push(RoomInput::SetLoadLevel(level.into()));
        let counts = |simulation: &RoomSimulation| {
            let stats = simulation.room.stats();
            [stats.poses.sent, stats.pose_codes.uses]
        };
        let before = counts(&simulation);
        simulation.ticks(64);
        let after = counts(&simulation);
        [after[0] - before[0], after[1] - before[1]]
    };
    let poses = [0, 1, 2, 3, 4, 5, 6, 7].map(poses_at);
    let sent = poses.map(|[sent, _]| sent);
    assert!(sent.is_sorted_by(|more, less| more > less), "{sent:?}");
    // The own avatar of each client at each tick.
    assert!(sent[7] >= 64 * 12, "{sent:?}");
    assert!(sent[7] < sent[0] / 4, "{sent:?}");
    // What is not sent costs no look either.
    let looked_at = poses.map(|[_, looked_at]| looked_at);
    assert!(looked_at.is_sorted_by(|more, less| more > less), "{looked_at:?}");
    assert!(looked_at[7] < looked_at[0] / 4, "{looked_at:?}");
}

#[test]
fn a_late_room_codes_no_pose_for_one_client_alone() {
    let bytes_out = |level: u8, coding| {
        let config = RoomConfig { coding, inner: 7, outer: 8, ..RoomConfig::default() };
        let mut simulation = simulation_of(12, PERFECT_PATH, 1, config, MovingAvatars::new(YAW));
        simulation.inputs.push(RoomInput::SetLoadLevel(level.into()));
        simulation.ticks(100);
        simulation.room.stats().bytes_out
    };
    let fine_and_shared =
        |level| [PoseCoding::Fine, PoseCoding::Shared].map(|it| bytes_out(level, it));
    let [fine, shared] = fine_and_shared(1);
    assert_ne!(fine, shared);
    let [fine, shared] = fine_and_shared(2);
    assert_eq!(fine, shared);
}

#[test]
fn in_a_dense_crowd_budgets_hold_and_engaged_objects_stay_fresh() {
    // A client with plain poses is sent fewer of them.
    for (budget, coding) in
        [(32_000, PoseCoding::Auto), (6_000, PoseCoding::Auto), (32_000, PoseCoding::Plain)]
    {
        let mut simulation = dense_crowd(budget, coding);
        simulation.ticks(130); // All clients have joined; engagements begin at the hundredth tick.
        let mut ages = [(); 3].map(|()| Vec::new());
        for _ in 0..40 {
            simulation.tick();
            record_ages(&simulation, &mut ages);
        }
        let least_used = check_budgets(&simulation, budget as usize);
        assert!(
            budget > 6_000 || least_used * 10 > budget as usize * 7,
            "{least_used} of {budget} bytes were used"
        );
        let quantile = |share: usize| {
            ages.each_ref().map(|ages| {
                let mut sorted = ages.clone();
                sorted.sort_unstable();
                sorted[sorted.len() * share / 100]
            })
        };
        let p50 = quantile(50);
        let p99 = quantile(99);
        // A pose is one tick old when it arrives.
        assert!(p99[0] < 100, "budget {budget}: engaged, near, far: p99 {p99:?}, p50 {p50:?}");
        assert!(p50[0] <= p50[1] && p50[1] <= p50[2], "budget {budget}: p50 {p50:?}, p99 {p99:?}");
        assert!(p99[2] <= 4_000, "budget {budget}: a pose waited too long: {p99:?}, p50 {p50:?}");
    }
}

/// Adds the ages of the poses that the observed clients have of all avatars, by class: engaged,
/// near, far.
fn record_ages(simulation: &RoomSimulation, ages: &mut [Vec<u64>; 3]) {
    let world = simulation.room.world();
    for client in (0..AVATARS).step_by(OBSERVED_EVERY as usize) {
        let own = world.position(simulation.avatar(client));
        for other in 0..AVATARS {
            let object = simulation.avatar(other);
            let (stamp, _) =
                simulation.newest_pose(client, object).expect("every avatar is in sight");
            let is_engaged = other.abs_diff(client) <= 1 || other / 4 == client / 4;
            let near = world.position(object).ground_distance(own) <= 8.0;
            let class = if is_engaged { 0 } else { usize::from(!near) + 1 };
            ages[class].push(ms(stamp, simulation.now));
        }
    }
}

/// Checks that no observed client got more than its budget in any second. Returns the lowest number
/// of bytes that one of them got in its last second.
fn check_budgets(simulation: &RoomSimulation, bytes_per_s: usize) -> usize {
    let mut least = usize::MAX;
    for observed in (0..AVATARS).step_by(OBSERVED_EVERY as usize).map(ClientId) {
        let mut second = VecDeque::new();
        let mut sum = 0;
        for (at, _, bytes) in simulation.sent.iter().filter(|(_, client, _)| *client == observed) {
            while second
                .front()
                .is_some_and(|&(before, _)| at.since(before) >= Duration::from_secs(1))
            {
                sum -= second.pop_front().map_or(0, |(_, cost): (GameTime, usize)| cost);
            }
            let cost = bytes.len() + OVERHEAD_BYTES;
            sum += cost;
            second.push_back((*at, cost));
            assert!(sum <= bytes_per_s, "{observed:?} got {sum} bytes in the second before {at:?}");
        }
        least = least.min(sum);
    }
    least
}

#[test]
fn a_budget_can_be_changed_while_the_room_runs() {
    let mut simulation = simulation_of(
        200,
        PERFECT_PATH,
        2,
        super::simulation::all_in_sight(),
        MovingAvatars::new(YAW),
    );
    (simulation.records_sent, simulation.observed_every) = (true, 50);
    simulation.ticks(60);
    let bytes_in_a_second = |simulation: &mut RoomSimulation, client: u32| -> usize {
        simulation.sent.clear();
        simulation.ticks(20);
        let sent = simulation.sent.iter().filter(|(_, to, _)| to.0 == client);
        sent.map(|(_, _, bytes)| bytes.len() + OVERHEAD_BYTES).sum()
    };
    let unlimited = bytes_in_a_second(&mut simulation, 50);
    assert!(unlimited > 4_000, "{unlimited}");
    let now = simulation.now;
    simulation.room.network.set_budget(now, Some(PlayerId(50)), 4_000);
    simulation.ticks(20);
    assert!(bytes_in_a_second(&mut simulation, 50) <= 4_000);
    assert!(bytes_in_a_second(&mut simulation, 100) > 4_000);
    let now = simulation.now;
    simulation.room.network.set_budget(now, None, 4_000);
    simulation.ticks(20);
    assert!(bytes_in_a_second(&mut simulation, 100) <= 4_000);
}
