//! The line between a host on another machine and the WorldServer is dark, and then the host dies.
//! What it has confirmed to players meanwhile must be in the room at the next host.

use std::collections::BTreeMap;
use std::time::Duration;

use ambit_lobby::{ChildPoolConfig, HostId, LobbyConfig};
use ambit_proto::ids::RoomId;
use ambit_tests::counting_game::{CountingGame, count};
use ambit_tests::sim::System;
use fastrand::Rng;

const PLAYERS: usize = 3;
/// Virtual time between two commands of a player.
const STEP: Duration = Duration::from_millis(40);
/// How long the line is dark before the host dies.
const DARK: Duration = Duration::from_millis(500);

#[test]
fn a_host_that_dies_behind_a_dark_line_loses_no_confirmed_command() {
    let mut all = Outcome::default();
    for seed in 0..50 {
        let mut trial = Trial::new(seed, "0");
        let at = Duration::from_millis(trial.rng.u64(1_000..2_500));
        trial.play_for(at);
        trial.run_into_the_dark();
        all.add(&trial.finish());
    }
    all.check(50);
}

#[test]
fn large_snapshots_on_a_dark_line_cost_no_confirmed_command() {
    let mut all = Outcome::default();
    for seed in 100..110 {
        let mut trial = Trial::new(seed, "5");
        // A snapshot takes 0.4 s, so all entries behind it are late.
        trial.system.limit_lines(12_500_000);
        let at = Duration::from_millis(trial.rng.u64(2_500..4_000));
        trial.play_for(at);
        assert!(trial.confirmed() > 0, "late entries confirm what they carry");
        trial.run_into_the_dark();
        all.add(&trial.finish());
    }
    all.check(10);
}

#[test]
fn after_a_dark_line_everything_is_confirmed_to_the_players() {
    for seed in 200..210 {
        let mut trial = Trial::new(seed, "0");
        trial.play_for(Duration::from_secs(1));
        let before = trial.confirmed();
        trial.system.darken_line(trial.host(), DARK);
        trial.play_for(DARK);
        let meanwhile = trial.confirmed();
        assert!(meanwhile - before < 40, "seed {seed}: {before}, {meanwhile}");
        trial.play_for(Duration::from_secs(1));
        trial.pause_for(Duration::from_secs(1));
        assert_eq!(trial.confirmed(), trial.sent(), "seed {seed}");
        assert_eq!(trial.system.placements(), 1, "the room has not moved");
        trial.check_confirmed();
    }
}

#[derive(Debug, Default)]
struct Outcome {
    confirmed: usize,
    /// Commands that were sent while the line was dark.
    in_the_dark: usize,
    /// Datagrams to clients while the line was dark, from the first late entry on.
    datagrams: usize,
}

impl Outcome {
    fn add(&mut self, other: &Outcome) {
        self.confirmed += other.confirmed;
        self.in_the_dark += other.in_the_dark;
        self.datagrams += other.datagrams;
    }

    /// The trials had enough of everything.
    fn check(&self, trials: usize) {
        println!("{trials} trials: {self:?}");
        assert!(self.confirmed > 100 * trials, "{self:?}");
        assert!(self.in_the_dark > 20 * trials, "{self:?}");
        assert!(self.datagrams > 10 * trials, "state goes on: {self:?}");
    }
}

/// Two remote hosts, and a room at one of them.
struct Trial {
    system: System,
    rng: Rng,
    seed: u64,
    room: RoomId,
    /// By player: numbers that are not confirmed, by command; and the confirmed ones.
    players: Vec<(BTreeMap<u32, u32>, Vec<u32>)>,
    next: u32,
    outcome: Outcome,
}

impl Trial {
    /// `ballast_mib`: by how much the room's snapshots are larger.
    fn new(seed: u64, ballast_mib: &str) -> Self {
        let registry = ambit_game_server::standard().with(CountingGame::INFO, CountingGame::create);
        let config = LobbyConfig {
            children: ChildPoolConfig { min: 0, max: 0, spares: 0, ..ChildPoolConfig::default() },
            ..LobbyConfig::default()
        };
        let mut system = System::with_children(seed, &registry, &config);
        for number in 0..2 {
            system.add_remote(&format!("10.0.0.{number}:7000"));
        }
        let paths = ["delay=1ms", "delay=10ms", "loss=5,delay=30ms,jitter=10ms"];
        let users: Vec<usize> = (0..PLAYERS)
            .map(|user| system.add_user("player", &paths[user].parse().expect("an impairment")))
            .collect();
        for &user in &users {
            system.user_mut(user).is_checked = false;
        }
        system.run_for(Duration::from_millis(500));
        let room =
            system.start_room(&users, "counting", &[("tick", "20"), ("ballast", ballast_mib)]);
        Trial {
            system,
            rng: Rng::with_seed(seed),
            seed,
            room,
            players: vec![(BTreeMap::new(), Vec::new()); PLAYERS],
            next: 0,
            outcome: Outcome::default(),
        }
    }

    fn host(&self) -> HostId {
        self.system.running(self.room).expect("it runs").0
    }

    fn sent(&self) -> usize {
        self.next as usize * PLAYERS
    }

    fn confirmed(&self) -> usize {
        self.players.iter().map(|(_, confirmed)| confirmed.len()).sum()
    }

    /// Each player sends a number at each step.
    fn play_for(&mut self, how_long: Duration) {
        let until = self.system.now() + how_long;
        while self.system.now() < until {
            for (user, (sent, _)) in self.players.iter_mut().enumerate() {
                self.system.with_client(user, |client, now| {
                    let number = client.act(now, &count(self.next));
                    sent.insert(number.expect("a place in the queue"), self.next);
                });
            }
            self.next += 1;
            self.pause_for(STEP);
        }
    }

    fn pause_for(&mut self, how_long: Duration) {
        self.system.run_for(how_long);
        for (user, (sent, confirmed)) in self.players.iter_mut().enumerate() {
            let numbers = std::mem::take(&mut self.system.user_mut(user).confirmed);
            confirmed.extend(numbers.iter().map(|number| sent[number]));
        }
    }

    /// The line is dark for 500 ms; then the host dies.
    fn run_into_the_dark(&mut self) {
        let host = self.host();
        let sent = self.sent();
        self.system.darken_line(host, Duration::from_secs(5));
        // The entries before it may still be confirmed.
        let late = Duration::from_millis(200);
        self.play_for(late);
        for user in 0..PLAYERS {
            self.system.user_mut(user).sent_datagrams = Some(Vec::new());
        }
        self.play_for(DARK.saturating_sub(late));
        self.outcome.in_the_dark = self.sent() - sent;
        for user in 0..PLAYERS {
            let datagrams = self.system.user_mut(user).sent_datagrams.take();
            self.outcome.datagrams += datagrams.map_or(0, |datagrams| datagrams.len());
        }
        self.system.kill_host(host);
    }

    /// The room goes on at the other host, with all confirmed commands, and confirms the rest.
    fn finish(mut self) -> Outcome {
        let dead = self.system.placements();
        let seed = self.seed;
        self.system.run_until("a new host", |system| system.placements() > dead);
        self.pause_for(Duration::from_secs(5));
        self.check_confirmed();
        assert_eq!(self.confirmed(), self.sent(), "seed {seed}: all are confirmed");
        self.outcome.confirmed = self.confirmed();
        self.outcome
    }

    fn check_confirmed(&self) {
        let seed = self.seed;
        let room = self.system.room(self.room).expect("the room runs");
        let received = CountingGame::received_in(room);
        for (user, (_, confirmed)) in self.players.iter().enumerate() {
            let player = self.system.user(user).client.player().expect("a player");
            let numbers = &received[&player];
            assert_eq!(numbers.duplicates, 0, "seed {seed}, player {user}");
            let lost = confirmed.iter().filter(|number| !numbers.has(**number));
            let lost: Vec<&u32> = lost.collect();
            assert!(lost.is_empty(), "seed {seed}, player {user}: {lost:?} are lost");
        }
    }
}
