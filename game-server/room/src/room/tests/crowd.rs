//! Budgets: what they keep, and what gives way first.

use std::collections::VecDeque;

use super::super::*;
use super::herd::{Herd, YAW, ms};
use super::mirror::{CLEAR, Scene, herd_of};

/// What a datagram costs beside its own bytes, as budgets count.
const OVERHEAD_BYTES: usize = 53;

/// 600 avatars in a spot of 30 x 30 m, each of which fights its two neighbours in the list and has
/// a party of four.
fn spot(budget_bytes_per_s: u32) -> Scene {
    let herd = Herd {
        extent: (85.0, 115.0),
        team: |player| u8::try_from(player.0 / 4).ok(),
        engaged: |a, b| a.0.abs_diff(b.0) == 1,
        counts: false,
        ..Herd::new(YAW)
    };
    let config = RoomConfig {
        budget_bytes_per_s,
        inner: 4,
        outer: 5,
        ..RoomConfig::default()
    };
    let mut scene = herd_of(600, CLEAR, 1, config, herd);
    (scene.keeps, scene.every) = (true, WATCHED);
    scene
}

/// One client in so many is looked at.
const WATCHED: u32 = 120;

#[test]
fn in_a_dense_crowd_budgets_hold_and_engaged_objects_stay_fresh() {
    for budget in [32_000, 6_000] {
        let mut scene = spot(budget);
        scene.ticks(130); // All have come, and engage at the hundredth tick.
        let mut ages = [(); 3].map(|()| Vec::new());
        for _ in 0..40 {
            scene.tick();
            look(&scene, &mut ages);
        }
        let least_used = within_budget(&scene, budget as usize);
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
        let (p50, p99) = (quantile(50), quantile(99));
        // News are one tick old when they come.
        assert!(
            p99[0] < 100,
            "budget {budget}: engaged, near, far: p99 {p99:?}, p50 {p50:?}"
        );
        assert!(
            p50[0] <= p50[1] && p50[1] <= p50[2],
            "budget {budget}: p50 {p50:?}, p99 {p99:?}"
        );
        assert!(
            p99[2] <= 4_000,
            "budget {budget}: nothing waits for ever: {p99:?}, p50 {p50:?}"
        );
    }
}

/// Ages of what some clients see of all others, by class: engaged, near, far.
fn look(scene: &Scene, ages: &mut [Vec<u64>; 3]) {
    let world = scene.room.world();
    for client in (0..600).step_by(WATCHED as usize) {
        let own = world.position(scene.avatar(client));
        for other in 0..600 {
            let object = scene.avatar(other);
            let (stamp, _) = scene
                .known(client, object)
                .expect("all are in sight of all");
            let is_engaged = other.abs_diff(client) <= 1 || other / 4 == client / 4;
            let near = world.position(object).ground_distance(own) <= 8.0;
            let class = if is_engaged {
                0
            } else {
                usize::from(!near) + 1
            };
            ages[class].push(ms(stamp, scene.now));
        }
    }
}

/// What the least of the clients that are looked at got in its last second.
fn within_budget(scene: &Scene, bytes_per_s: usize) -> usize {
    let mut least = usize::MAX;
    for watched in (0..600).step_by(WATCHED as usize).map(ClientId) {
        let mut second = VecDeque::new();
        let mut sum = 0;
        for (at, _, bytes) in scene
            .sent
            .iter()
            .filter(|(_, client, _)| *client == watched)
        {
            while second
                .front()
                .is_some_and(|&(before, _)| at.since(before) >= Duration::from_secs(1))
            {
                sum -= second
                    .pop_front()
                    .map_or(0, |(_, cost): (GameTime, usize)| cost);
            }
            let cost = bytes.len() + OVERHEAD_BYTES;
            sum += cost;
            second.push_back((*at, cost));
            assert!(
                sum <= bytes_per_s,
                "{watched:?} got {sum} bytes in the second before {at:?}"
            );
        }
        least = least.min(sum);
    }
    least
}

#[test]
fn a_budget_can_be_changed_while_the_room_runs() {
    let mut scene = herd_of(200, CLEAR, 2, super::mirror::near(), Herd::new(YAW));
    (scene.keeps, scene.every) = (true, 50);
    scene.ticks(60);
    let a_second_of = |scene: &mut Scene, client: u32| -> usize {
        scene.sent.clear();
        scene.ticks(20);
        let sent = scene.sent.iter().filter(|(_, to, _)| to.0 == client);
        sent.map(|(_, _, bytes)| bytes.len() + OVERHEAD_BYTES).sum()
    };
    let wanted = a_second_of(&mut scene, 50);
    assert!(wanted > 4_000, "{wanted}");
    let now = scene.now;
    scene
        .room
        .network
        .set_budget(now, Some(PlayerId(50)), 4_000);
    scene.ticks(20);
    assert!(a_second_of(&mut scene, 50) <= 4_000);
    assert!(a_second_of(&mut scene, 100) > 4_000);
    let now = scene.now;
    scene.room.network.set_budget(now, None, 4_000);
    scene.ticks(20);
    assert!(a_second_of(&mut scene, 100) <= 4_000);
}
