//! Which data reach which clients: in an idle room, private components, inputs, the static world.

use std::time::Duration;

use super::super::*;
use super::moving_avatars::{MovingAvatars, YAW};
use super::simulation::{PERFECT_PATH, all_in_sight, simulation_of};
use crate::stats::RoomStats;

#[test]
fn an_idle_room_sends_no_poses_and_few_datagrams() {
    let mut simulation = simulation_of(
        10,
        PERFECT_PATH,
        1,
        all_in_sight(),
        MovingAvatars { rest_from: 0, numbers_change: false, ..MovingAvatars::new(YAW) },
    );
    simulation.ticks(200);
    let before = simulation.room.stats().clone();
    simulation.ticks(600);
    let after = simulation.room.stats();
    let difference = |value: fn(&RoomStats) -> u64| value(after) - value(&before);
    assert_eq!(difference(|stats| stats.poses.sent), 0);
    let datagrams_per_client = difference(|stats| stats.datagrams_out) / 10;
    assert!(datagrams_per_client <= 30 * 2, "{datagrams_per_client} datagrams in 30 s");
}

#[test]
fn private_components_reach_only_their_audience_with_shared_encodings() {
    let team = |player: PlayerId| (player.0 < 6).then_some((player.0 / 3) as u8);
    let mut simulation = simulation_of(
        12,
        PERFECT_PATH,
        1,
        all_in_sight(),
        MovingAvatars { team, ..MovingAvatars::new(YAW) },
    );
    simulation.ticks(120);
    for client in 0..12_u32 {
        for other in 0..12_u32 {
            let received = &simulation.test_clients[&ClientId(client)].received_components;
            let has_received = |index| received.contains(&(simulation.avatar(other), index));
            let viewer = PlayerId(client.into());
            let owner = PlayerId(other.into());
            let same_team = team(viewer).is_some() && team(viewer) == team(owner);
            let own = client == other;
            assert_eq!(
                [0, 1, 2, 3].map(has_received),
                [true, true, own || same_team, own],
                "client {client}, avatar of {other}"
            );
        }
    }
    assert!(
        simulation.room.stats().records.uses_per_encoding() > 2.0,
        "{:?}",
        simulation.room.stats().records
    );
}

#[test]
fn the_keys_of_each_datagram_reach_the_game() {
    let mut simulation = simulation_of(2, PERFECT_PATH, 1, all_in_sight(), MovingAvatars::new(YAW));
    simulation.ticks(20);
    assert!(
        (36..=40).contains(&simulation.room.stats().inputs),
        "{}",
        simulation.room.stats().inputs
    );
}

#[test]
fn the_static_world_arrives_after_the_avatar_while_poses_stay_fresh() {
    let mut simulation = simulation_of(
        4,
        PERFECT_PATH,
        1,
        all_in_sight(),
        MovingAvatars { boxes: 2_000, ..MovingAvatars::new(YAW) },
    );
    let complete_maps = |simulation: &super::simulation::RoomSimulation| {
        simulation.test_clients.values().filter(|test_client| test_client.map.is_some()).count()
    };
    simulation.ticks(10);
    assert!(
        simulation.newest_pose(0, simulation.avatar(0)).is_some()
            && complete_maps(&simulation) == 0,
        "the avatar must arrive before the static world"
    );
    let mut stalest = Duration::ZERO;
    for _ in 0..100 {
        simulation.tick();
        let (stamp, _) = simulation.newest_pose(1, simulation.avatar(2)).expect("in sight");
        stalest = stalest.max(simulation.now.since(stamp));
    }
    assert_eq!(complete_maps(&simulation), 4);
    let map = simulation.test_clients[&ClientId(2)].map.clone().expect("the map is complete");
    assert_eq!(map, simulation.room.world().static_map());
    assert!(stalest <= Duration::from_millis(150), "{stalest:?}");
}
