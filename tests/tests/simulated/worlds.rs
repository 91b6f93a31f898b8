//! Worlds of several maps: clients on bad networks pass gates at random, and hosts die during
//! transfers.

mod bazaar;
mod lobby_and_hosts;
mod wandering_game;

use std::collections::BTreeMap;
use std::time::Duration;

use ambit::Games;
use ambit_client_core::client::event::{GameEvent, LobbyEvent, ViewEvent};
use ambit_field::commands;
use ambit_proto::ids::{PlayerId, RoomId};
use ambit_tests::sim::store::SimulatedStore;
use ambit_transport::impair::Impairment;

use self::bazaar::{Bazaar, INITIAL_GOLD};
use self::lobby_and_hosts::LobbyAndHosts;
use crate::script::room_of;

#[test]
fn clients_on_bad_networks_pass_gates_and_each_is_in_one_room() {
    for seed in 1..=3 {
        let network: Impairment =
            "loss=10,delay=40ms,jitter=10ms".parse().expect("a valid impairment");
        let given = [("maps", "3"), ("size", "40x40"), ("obstacles", "0"), ("npcs", "3")];
        let (mut system, world) = room_of(seed, 6, &network, &given);
        let mut rng = fastrand::Rng::with_seed(seed);
        for _ in 0..90 {
            for user in 0..6 {
                if rng.u8(..) < 80 {
                    let (x, y) = rng
                        .choice([(0.5, 20.0), (39.5, 20.0), (20.0, 20.0)])
                        .expect("one of three");
                    system.act(user, &commands::walk(x, y));
                }
            }
            system.run_for(Duration::from_secs(1));
        }
        // All users walk to the middle, and transfers in flight complete.
        (0..6).for_each(|user| system.act(user, &commands::walk(20.0, 20.0)));
        system.run_for(Duration::from_secs(8));
        let transfers = system.lobby().stats().transfers_completed;
        println!("seed {seed}: {transfers} transfers, {} rooms", system.lobby().stats().rooms);
        assert!(transfers > 10, "seed {seed}: {transfers} transfers");
        for user in 0..6 {
            let player = system.user(user).client.player().expect("welcomed");
            let places =
                (world.0..world.0 + 3).filter_map(|id| system.room(RoomId(id))?.avatar(player));
            assert_eq!(places.count(), 1, "seed {seed}: {player} is in one room");
            assert!(
                system.user(user).client.avatar().is_some(),
                "seed {seed}: {player} sees its avatar"
            );
            let errors: Vec<_> =
                system.user(user).events.iter().filter(|event| is_bad(event)).collect();
            assert!(errors.is_empty(), "seed {seed}: {errors:?}");
        }
        let listed = system.lobby().rooms();
        assert_eq!((listed.len(), listed[0].players), (1, 6), "seed {seed}: one world in the list");
    }
}

#[test]
fn hosts_die_during_transfers_and_no_player_is_lost_or_duplicated() {
    let mut transfers = 0;
    for seed in 1..=20 {
        let mut servers = LobbyAndHosts::new(seed, 8);
        for second in 0..150 {
            servers.run_for(Duration::from_secs(1));
            if second > 5 && second < 80 && second % 6 == 0 {
                servers.kill_random_host();
            }
        }
        let belongings = servers.belongings_by_player();
        assert_eq!(belongings.len(), 8, "seed {seed}: {belongings:?}");
        let gates_passed: u64 = belongings.values().map(|owned| owned.gates_passed).sum();
        for (player, owned) in &belongings {
            assert_eq!(
                owned.gold,
                wandering_game::initial_gold(*player),
                "seed {seed}: {player} still has its initial gold"
            );
        }
        assert_eq!(
            gates_passed,
            servers.lobby.stats().transfers_completed,
            "seed {seed}: each transfer happened once"
        );
        assert_eq!(servers.seats_taken(), 8, "seed {seed}");
        transfers += gates_passed;
    }
    println!("{transfers} transfers");
    assert!(transfers > 500, "{transfers} transfers");
}

#[test]
fn no_gold_is_lost_or_doubled_though_hosts_die_and_the_store_is_away() {
    const PLAYERS: u64 = 12;
    for seed in 1..=10 {
        let registry = Games::new().with::<Bazaar>().into();
        let store = SimulatedStore::new(seed + 2_000);
        let mut servers = LobbyAndHosts::of_game(seed, registry, "bazaar", Some(store));
        let mut rng = fastrand::Rng::with_seed(seed + 3_000);
        (1..=PLAYERS).for_each(|player| servers.add_player(player));
        for world in [1, 2] {
            servers.create_room(world, "bazaar");
            servers.start_room(world);
        }
        servers.run_for(Duration::from_secs(2));
        // Two stay, so that their worlds do.
        let mut world_of: BTreeMap<u64, Option<u64>> =
            (3..=PLAYERS).map(|player| (player, None)).collect();
        let mut moves = 0;
        for second in 0..120 {
            for (&player, world) in &mut world_of {
                match *world {
                    _ if rng.u8(..) > 60 => continue,
                    None => {
                        *world = Some(rng.u64(1..=2));
                        servers.join_room(player, world.expect("one of two"));
                    }
                    Some(_) => {
                        *world = None;
                        servers.leave_room(player);
                    }
                }
                moves += 1;
            }
            servers.store.as_mut().expect("a store").is_away = second % 20 > 13;
            servers.run_for(Duration::from_secs(1));
            if second % 9 == 8 {
                servers.kill_random_host();
            }
        }
        servers.store.as_mut().expect("a store").is_away = false;
        for (player, _) in world_of.into_iter().filter(|(_, world)| world.is_some()) {
            servers.leave_room(player);
        }
        servers.run_for(Duration::from_secs(15));
        (1..=2).for_each(|player| servers.leave_room(player));
        servers.run_for(Duration::from_secs(15));
        let store = servers.store.as_ref().expect("a store");
        let gold: Vec<u64> =
            (1..=PLAYERS).filter_map(|player| store.profile(player)["gold"].as_u64()).collect();
        println!("seed {seed}: {moves} moves, {gold:?}");
        assert_eq!(gold.len() as u64, PLAYERS, "seed {seed}: {gold:?}");
        assert_eq!(gold.iter().sum::<u64>(), PLAYERS * INITIAL_GOLD, "seed {seed}: {gold:?}");
        assert!(gold.iter().any(|gold| gold.abs_diff(INITIAL_GOLD) > 20), "seed {seed}: no trade");
    }
}

fn is_bad(event: &ViewEvent) -> bool {
    match event {
        // A command that was under way when the player went through a gate.
        ViewEvent::Lobby(_, LobbyEvent::Error { code, .. })
        | ViewEvent::Game(GameEvent::Error { code, .. } | GameEvent::Refused { code, .. }) => {
            code != "try_again"
        }
        ViewEvent::Lobby(_, LobbyEvent::Left { .. }) => true,
        _ => false,
    }
}

type BelongingsByPlayer = BTreeMap<PlayerId, wandering_game::Belongings>;
