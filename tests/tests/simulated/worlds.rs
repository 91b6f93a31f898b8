//! Worlds of several maps: clients on bad lines go through gates at random, and hosts die while
//! players are on the way.

mod lobby_and_hosts;
mod wandering_game;

use std::collections::BTreeMap;
use std::time::Duration;

use ambit_client_core::client::event::ViewEvent;
use ambit_proto::ids::{PlayerId, RoomId};
use ambit_proto::impair::Impairment;
use ambit_proto::message::Action;

use self::lobby_and_hosts::LobbyAndHosts;
use crate::script::room_of;

#[test]
fn clients_on_bad_networks_pass_gates_and_each_is_in_one_room() {
    for seed in 1..=3 {
        let line: Impairment = "loss=10,delay=40ms,jitter=10ms"
            .parse()
            .expect("a valid line");
        let given = [
            ("maps", "3"),
            ("size", "40x40"),
            ("obstacles", "0"),
            ("npcs", "3"),
        ];
        let (mut system, world) = room_of(seed, 6, &line, &given);
        let mut rng = fastrand::Rng::with_seed(seed);
        for _ in 0..90 {
            for guest in 0..6 {
                if rng.u8(..) < 80 {
                    let (x, y) = rng
                        .choice([(0.5, 20.0), (39.5, 20.0), (20.0, 20.0)])
                        .expect("one of three");
                    system.act(guest, Action::Move { x, y });
                }
            }
            system.run_for(Duration::from_secs(1));
        }
        // Towards the middle, and what is under way comes to an end.
        (0..6).for_each(|guest| system.act(guest, Action::Move { x: 20.0, y: 20.0 }));
        system.run_for(Duration::from_secs(8));
        let crossings = system.lobby().stats().transfers_completed;
        println!(
            "seed {seed}: {crossings} crossings, {} rooms",
            system.lobby().stats().rooms
        );
        assert!(crossings > 10, "seed {seed}: {crossings} crossings");
        for guest in 0..6 {
            let player = system.guest(guest).client.player().expect("welcomed");
            let places =
                (world.0..world.0 + 3).filter_map(|id| system.room(RoomId(id))?.avatar(player));
            assert_eq!(places.count(), 1, "seed {seed}: {player} is in one place");
            assert!(
                system.guest(guest).client.avatar().is_some(),
                "seed {seed}: {player} sees its avatar"
            );
            let errors: Vec<_> = system
                .guest(guest)
                .events
                .iter()
                .filter(|event| is_bad(event))
                .collect();
            assert!(errors.is_empty(), "seed {seed}: {errors:?}");
        }
        let listed = system.lobby().rooms();
        assert_eq!(
            (listed.len(), listed[0].players),
            (1, 6),
            "seed {seed}: one world in the list"
        );
    }
}

#[test]
fn hosts_die_during_transfers_and_no_player_is_lost_or_duplicated() {
    let mut crossings = 0;
    for seed in 1..=20 {
        let mut universe = LobbyAndHosts::new(seed, 8);
        for second in 0..150 {
            universe.run_for(Duration::from_secs(1));
            if second > 5 && second < 80 && second % 6 == 0 {
                universe.kill_random_host();
            }
        }
        let places = universe.belongings_by_player();
        assert_eq!(places.len(), 8, "seed {seed}: {places:?}");
        let hops: u64 = places.values().map(|purse| purse.gates_passed).sum();
        for (player, purse) in &places {
            assert_eq!(
                purse.gold,
                wandering_game::initial_gold(*player),
                "seed {seed}: {player} has what it set out with"
            );
        }
        assert_eq!(
            hops,
            universe.lobby.stats().transfers_completed,
            "seed {seed}: each way was gone once"
        );
        assert_eq!(universe.seats_taken(), 8, "seed {seed}");
        crossings += hops;
    }
    println!("{crossings} crossings");
    assert!(crossings > 500, "{crossings} crossings");
}

fn is_bad(event: &ViewEvent) -> bool {
    matches!(event, ViewEvent::Error(_) | ViewEvent::OmittedPoses { .. })
}

/// By player: what it has.
type BelongingsByPlayer = BTreeMap<PlayerId, wandering_game::Belongings>;
