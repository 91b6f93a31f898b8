//! What is said when there is little to say, and to whom.

use super::super::*;
use super::herd::{Herd, YAW};
use super::mirror::{CLEAR, herd_of, near};
use crate::stats::RoomStats;

#[test]
fn an_idle_room_sends_no_state_and_hardly_anything_else() {
    let mut scene = herd_of(
        10,
        CLEAR,
        1,
        near(),
        Herd {
            rest_from: 0,
            counts: false,
            ..Herd::new(YAW)
        },
    );
    scene.ticks(200);
    let before = scene.room.stats().clone();
    scene.ticks(600);
    let after = scene.room.stats();
    let of = |of: fn(&RoomStats) -> u64| of(after) - of(&before);
    assert_eq!(of(|stats| stats.poses.sent), 0);
    let datagrams_a_client = of(|stats| stats.datagrams_out) / 10;
    assert!(
        datagrams_a_client <= 30 * 2,
        "{datagrams_a_client} datagrams in 30 s"
    );
}

#[test]
fn private_components_reach_only_their_audience_with_shared_encodings() {
    let team = |player: PlayerId| (player.0 < 6).then_some((player.0 / 3) as u8);
    let mut scene = herd_of(
        12,
        CLEAR,
        1,
        near(),
        Herd {
            team,
            ..Herd::new(YAW)
        },
    );
    scene.ticks(120);
    for client in 0..12_u32 {
        for other in 0..12_u32 {
            let told = &scene.mirrors[&ClientId(client)].told;
            let is_told = |index| told.contains(&(scene.avatar(other), index));
            let (mine, ours) = (PlayerId(client.into()), PlayerId(other.into()));
            let same_team = team(mine).is_some() && team(mine) == team(ours);
            let own = client == other;
            assert_eq!(
                [0, 1, 2, 3].map(is_told),
                [true, true, own || same_team, own],
                "{client} of {other}"
            );
        }
    }
    assert!(
        scene.room.stats().records.uses_per_encoding() > 2.0,
        "{:?}",
        scene.room.stats().records
    );
}

#[test]
fn keys_reach_the_game_the_newest_datagram_s_first() {
    let mut scene = herd_of(2, CLEAR, 1, near(), Herd::new(YAW));
    scene.ticks(20);
    assert!(
        (36..=40).contains(&scene.room.stats().inputs),
        "{}",
        scene.room.stats().inputs
    );
}

#[test]
fn the_static_world_follows_the_avatar_while_the_game_continues() {
    let mut scene = herd_of(
        4,
        CLEAR,
        1,
        near(),
        Herd {
            boxes: 2_000,
            ..Herd::new(YAW)
        },
    );
    let whole = |scene: &super::mirror::Scene| {
        scene
            .mirrors
            .values()
            .filter(|mirror| mirror.map.is_some())
            .count()
    };
    scene.ticks(10);
    assert!(
        scene.known(0, scene.avatar(0)).is_some() && whole(&scene) == 0,
        "the avatar comes first"
    );
    let mut stalest = Duration::ZERO;
    for _ in 0..100 {
        scene.tick();
        let (stamp, _) = scene.known(1, scene.avatar(2)).expect("in sight");
        stalest = stalest.max(scene.now.since(stamp));
    }
    assert_eq!(whole(&scene), 4);
    let map = scene.mirrors[&ClientId(2)]
        .map
        .clone()
        .expect("it is whole");
    assert_eq!(map, scene.room.world().static_map());
    assert!(stalest <= Duration::from_millis(150), "{stalest:?}");
}
