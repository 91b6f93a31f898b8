//! Releases: hosts of a new build come, and rooms move there under players who send numbers.

use std::time::Duration;

use ambit_lobby::{ChildPoolConfig, LobbyConfig};
use ambit_proto::time::LocalTime;
use ambit_tests::counting_game::{CountingGame, count};
use ambit_tests::sim::System;

/// The pause between two commands of a player.
const PAUSE: Duration = Duration::from_millis(100);
const RELEASES: u32 = 5;

#[test]
fn through_releases_each_command_is_executed_once() {
    let mut longest = Duration::ZERO;
    for seed in 1..=4 {
        let gap = release_again_and_again(seed);
        longest = longest.max(gap);
    }
    println!("the longest time without a running room: {} ms", longest.as_millis());
}

/// Returns the longest time for which a room did not run.
fn release_again_and_again(seed: u64) -> Duration {
    let registry = ambit_game_server::standard().with(CountingGame::INFO, CountingGame::create);
    let children = ChildPoolConfig { min: 0, max: 0, ..ChildPoolConfig::default() };
    let config = LobbyConfig { children, ..LobbyConfig::default() };
    let mut system = System::with_children(seed, &registry, &config);
    system.set_build("0");
    system.add_remote("10.0.0.0:7000");
    let network = "loss=5,delay=30ms,jitter=10ms".parse().expect("a valid impairment");
    let users = [system.add_user("ann", &network), system.add_user("bob", &network)];
    system.run_for(Duration::from_secs(2));
    let room = system.start_room(&users, "counting", &[]);
    system.run_for(Duration::from_secs(2));
    let mut sent = 0;
    let mut longest = Duration::ZERO;
    for release in 1..=RELEASES {
        let (old, _) = system.running(room).expect("the room runs");
        system.set_build(&release.to_string());
        system.add_remote(&format!("10.0.0.{release}:7000"));
        let until = system.now() + Duration::from_secs(8);
        let mut last_run: Option<LocalTime> = None;
        while system.now() < until {
            for user in users {
                system.act(user, &count(sent));
            }
            sent += 1;
            system.run_for(PAUSE);
            if system.running(room).is_some() {
                let gap = last_run.map(|at| system.now().since(at)).unwrap_or_default();
                (longest, last_run) = (longest.max(gap), Some(system.now()));
            }
        }
        let (new, _) = system.running(room).expect("the room runs");
        assert_ne!(old, new, "seed {seed}: the room has moved");
    }
    system.run_until("the last commands", |system| {
        let received = system.room(room).map(CountingGame::received_in).unwrap_or_default();
        let has_all = received.values().all(|numbers| (0..sent).all(|number| numbers.has(number)));
        received.len() == users.len() && has_all
    });
    let received = CountingGame::received_in(system.room(room).expect("the room runs"));
    assert!(received.values().all(|numbers| numbers.duplicates == 0), "seed {seed}");
    let stats = system.lobby().stats();
    assert_eq!((stats.rooms_moved, stats.rooms_misfit), (u64::from(RELEASES), 0), "seed {seed}");
    longest
}
