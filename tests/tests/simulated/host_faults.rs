//! Hosts that die, hang, wake up and end at random, under players who join, leave, disconnect and
//! send numbers. No confirmed command is lost or executed twice, no player has two rooms, no room
//! has two hosts, and at the end all rooms and sessions are removed.
//!
//! `AMBIT_SOAK_MINUTES` sets the number of virtual minutes in all; `AMBIT_SOAK_SEED` runs one seed
//! alone.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use ambit_client_core::client::Client;
use ambit_client_core::client::event::{LobbyEvent, ViewEvent};
use ambit_client_core::client::request::{LobbyRequest, NewRoom};
use ambit_lobby::{ChildPoolConfig, HostId, LobbyConfig, Origin};
use ambit_proto::control::world::Room;
use ambit_proto::ids::RoomId;
use ambit_proto::time::LocalTime;
use ambit_tests::counting_game::{CountingGame, ReceivedNumbers, count};
use ambit_tests::short_or_long;
use ambit_tests::sim::System;
use ambit_tests::sim::fleet::ProcessState;
use ambit_transport::impair::Impairment;
use fastrand::Rng;

/// Virtual minutes of one run.
const RUN_MINUTES: u64 = 10;
/// Virtual minutes of all runs, in short and in long, unless the environment sets another number.
const TOTAL_MINUTES: (u64, u64) = (200, 2_000);
/// Virtual time of one step.
const STEP: Duration = Duration::from_millis(100);
/// Players at the same time.
const PLAYERS: usize = 6;
const SEATS: u32 = 4;
/// A player with a seat at the lobby and none at the host gets one within this time, or loses the
/// seat at the lobby.
const MAX_SEATLESS_TIME: Duration = Duration::from_secs(6);

#[test]
fn host_faults_lose_no_confirmed_command_and_execute_none_twice() {
    let number =
        |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
    if let Some(seed) = number("AMBIT_SOAK_SEED") {
        println!("{:#?}", run_seed(seed));
        return;
    }
    let (short, long) = TOTAL_MINUTES;
    let minutes = number("AMBIT_SOAK_MINUTES").unwrap_or_else(|| short_or_long(short, long));
    let runs = minutes.div_ceil(RUN_MINUTES);
    let mut all = Outcome::default();
    for seed in 1..=runs {
        let run = std::panic::catch_unwind(|| run_seed(seed));
        let outcome = run.unwrap_or_else(|_| {
            panic!(
                "seed {seed}; to run it alone: \
                 AMBIT_SOAK_SEED={seed} cargo test -p ambit-tests --test simulated host_faults"
            )
        });
        all.add(&outcome);
    }
    println!("{all:#?}");
    // The runs have enough commands and faults.
    assert!(all.confirmed > 100 * runs && all.moved > 10 * runs, "{all:?}");
    assert!(
        [all.killed, all.hung, all.woken, all.ended].iter().all(|count| *count > runs),
        "{all:?}"
    );
    let Outcome { confirmed, killed, hung, moved, .. } = all;
    println!(
        "{} virtual minutes: {confirmed} commands confirmed, {killed} hosts killed, {hung} hung, \
         {moved} rooms moved; no confirmed command lost or executed twice",
        runs * RUN_MINUTES
    );
}

#[test]
fn the_same_seed_gives_the_same_traffic() {
    assert_eq!(run_seed(7).traffic, run_seed(7).traffic);
    assert_ne!(run_seed(7).traffic, run_seed(8).traffic);
}

/// The simulator checks that each message fits. The game compares the state that it is restored
/// from with what it was.
#[test]
fn a_room_larger_than_a_message_goes_on_at_the_next_host() {
    let registry = ambit_game_server::standard().with(CountingGame::INFO, CountingGame::create);
    let children = ChildPoolConfig { min: 2, max: 2, ..ChildPoolConfig::default() };
    let config = LobbyConfig { children, ..LobbyConfig::default() };
    let mut system = System::with_children(3, &registry, &config);
    let ann = system.add_user("ann", &"delay=20ms".parse().expect("a valid impairment"));
    system.run_for(Duration::from_secs(5)); // The children have started.
    let given = [("ballast", "17"), ("tick", "10")];
    let room = system.start_room(&[ann], "counting", &given);
    let received = |system: &System| {
        let received = CountingGame::received_in(system.room(room)?);
        let (_, numbers) = received.first_key_value()?;
        Some((0..3).filter(|number| numbers.has(*number)).count())
    };
    for number in 0..2 {
        system.act(ann, &count(number));
        // The command is executed, and two lost hosts are not close to each other.
        system.run_for(Duration::from_secs(4));
        system.run_until("the command", |system| received(system) == Some(number as usize + 1));
        let (host, _) = system.running(room).expect("the room runs");
        system.kill_host(host);
        system.run_until("another host", |system| {
            system.running(room).is_some_and(|(next, _)| next != host)
                && system.user(ann).client.avatar().is_some()
        });
        assert_eq!(received(&system), Some(number as usize + 1));
    }
}

/// Counts of one run, or of several.
#[derive(Debug, Default)]
struct Outcome {
    confirmed: u64,
    sent: u64,
    killed: u64,
    hung: u64,
    woken: u64,
    ended: u64,
    moved: u64,
    /// How often players had to leave a room, by code.
    left: BTreeMap<String, u64>,
    traffic: u64,
}

impl Outcome {
    fn add(&mut self, other: &Outcome) {
        self.confirmed += other.confirmed;
        self.sent += other.sent;
        self.killed += other.killed;
        self.hung += other.hung;
        self.woken += other.woken;
        self.ended += other.ended;
        self.moved += other.moved;
        for (code, count) in &other.left {
            *self.left.entry(code.clone()).or_default() += count;
        }
    }
}

fn run_seed(seed: u64) -> Outcome {
    let mut run = HostFaults::new(seed);
    for minute in 0..RUN_MINUTES {
        run.inject_faults(Duration::from_secs(55));
        run.run_without_faults(Duration::from_secs(4), minute);
    }
    run.finish()
}

/// A player, with its current client.
struct TestPlayer {
    user: usize,
    next: u32,
    /// Sent numbers by command.
    sent: BTreeMap<u32, u32>,
    /// Numbers that were confirmed since the player joined its room.
    confirmed: Vec<u32>,
    /// Time since which the player has a seat at the lobby and none at the host.
    seatless_since: Option<LocalTime>,
}

struct HostFaults {
    system: System,
    rng: Rng,
    players: Vec<TestPlayer>,
    /// Hosts that will wake up, with the time.
    hung_hosts: Vec<(LocalTime, HostId)>,
    remotes: u32,
    steps: u64,
    outcome: Outcome,
}

impl HostFaults {
    fn new(seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed);
        let registry = ambit_game_server::standard().with(CountingGame::INFO, CountingGame::create);
        let min = rng.u32(1..=3);
        let children = ChildPoolConfig {
            min,
            max: min + rng.u32(0..=2),
            spares: 1,
            ..ChildPoolConfig::default()
        };
        let config = LobbyConfig { children, idle: None, ..LobbyConfig::default() };
        let mut system = System::with_children(seed, &registry, &config);
        for number in 0..rng.u32(0..=2) {
            system.add_remote(&format!("10.0.0.{number}:7000"));
        }
        let mut run = HostFaults {
            system,
            rng,
            players: Vec::new(),
            hung_hosts: Vec::new(),
            remotes: 10,
            steps: 0,
            outcome: Outcome::default(),
        };
        for _ in 0..PLAYERS {
            let player = run.new_player();
            run.players.push(player);
        }
        run
    }

    fn new_player(&mut self) -> TestPlayer {
        let network: Impairment =
            if self.rng.bool() { "delay=10ms" } else { "loss=10,delay=30ms,jitter=20ms,reorder=3" }
                .parse()
                .expect("a valid impairment");
        let user = self.system.add_user("player", &network);
        self.system.user_mut(user).is_checked = false;
        TestPlayer {
            user,
            next: 0,
            sent: BTreeMap::new(),
            confirmed: Vec::new(),
            seatless_since: None,
        }
    }

    fn inject_faults(&mut self, how_long: Duration) {
        let until = self.system.now() + how_long;
        while self.system.now() < until {
            let listed = self.system.lobby().rooms();
            for index in 0..self.players.len() {
                self.act_randomly(index, &listed);
            }
            if self.rng.u8(..60) == 0 {
                self.fail_random_host();
            }
            self.step();
        }
    }

    /// Runs without faults; players only send numbers. Then the players at each host are those that
    /// the lobby has seated.
    fn run_without_faults(&mut self, how_long: Duration, minute: u64) {
        let until = self.system.now() + how_long;
        while self.system.now() < until {
            for index in 0..self.players.len() {
                self.send_number(index);
            }
            self.step();
        }
        // The notice of a leave may be in flight; a second later it must have arrived.
        let before = self.surplus_avatars();
        for _ in 0..10 {
            self.step();
        }
        let after = self.surplus_avatars();
        let lasting: Vec<_> = before.iter().filter(|(room, _)| after.contains_key(room)).collect();
        assert!(
            lasting.is_empty(),
            "minute {minute}: hosts have more players than the lobby has seated, by room: \
             {lasting:?}"
        );
    }

    /// Avatars at hosts beyond the seats that the lobby counts, by room.
    fn surplus_avatars(&self) -> BTreeMap<u64, usize> {
        let rooms = self.system.lobby().rooms().into_iter();
        let too_many = rooms.filter_map(|room| {
            let seated = CountingGame::received_in(self.system.room(RoomId(room.id))?).len();
            seated.checked_sub(room.players as usize + 1).map(|more| (room.id, more + 1))
        });
        too_many.collect()
    }

    /// All players leave; then no room and no session may be left.
    fn finish(mut self) -> Outcome {
        for (_, host) in std::mem::take(&mut self.hung_hosts) {
            self.system.wake_host(host);
        }
        let until = self.system.now() + Duration::from_secs(45);
        while self.system.now() < until {
            self.step();
        }
        let mut seats: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
        for player in &self.players {
            let client = &self.system.user(player.user).client;
            if let (true, Some(room), Some(player)) =
                (client.is_connected(), client.room(), client.player())
            {
                seats.entry(room.0).or_default().insert(player.0);
            }
        }
        for room in self.system.lobby().rooms() {
            let members = &seats[&room.id];
            assert_eq!(room.players as usize, members.len(), "room {}", room.id);
            if room.running {
                let running = self.system.room(RoomId(room.id)).expect("a running room has a host");
                let seated: BTreeSet<u64> =
                    CountingGame::received_in(running).into_keys().map(|player| player.0).collect();
                assert_eq!(&seated, members, "room {}", room.id);
            }
        }
        for player in &self.players {
            self.system.with_client(player.user, Client::quit);
        }
        self.system.run_for(Duration::from_mins(1));
        let stats = self.system.lobby().stats();
        assert_eq!(
            (stats.connections, stats.players, stats.rooms, stats.rooms_running),
            (0, 0, 0, 0),
            "{stats:?}"
        );
        assert_eq!(self.system.rooms_left(), (0, 0), "rooms left at the shell, and at hosts");
        self.outcome.moved = stats.rooms_moved;
        self.outcome.traffic = self.system.traffic();
        self.outcome
    }

    fn step(&mut self) {
        let now = self.system.now();
        let (due, still_hung) =
            std::mem::take(&mut self.hung_hosts).into_iter().partition(|(at, _)| *at <= now);
        self.hung_hosts = still_hung;
        let due: Vec<(LocalTime, HostId)> = due;
        for (_, host) in due {
            self.outcome.woken += u64::from(self.system.hosts().iter().any(|(id, ..)| *id == host));
            self.system.wake_host(host);
        }
        self.system.run_for(STEP);
        self.read_events();
        self.steps += 1;
        // A check costs more than a step.
        if self.steps.is_multiple_of(3) {
            self.check();
        }
    }

    /// Reads confirmations and events of the clients.
    fn read_events(&mut self) {
        for player in &mut self.players {
            let user = self.system.user_mut(player.user);
            for number in std::mem::take(&mut user.confirmed) {
                player.confirmed.extend(player.sent.remove(&number));
                self.outcome.confirmed += 1;
            }
            let events = std::mem::take(&mut user.events);
            for event in events {
                if let ViewEvent::Lobby(_, LobbyEvent::Left { room, code, message, .. }) = event {
                    // A player in a game leaves because of a lost host only if it was the room's
                    // second one in a row.
                    let is_second = message.contains("the second one in a row")
                        && self.system.placements_of(room) >= 2;
                    let is_joining = player.confirmed.is_empty();
                    assert!(
                        code != "host_died" || is_second || is_joining,
                        "removed from {room:?}: {message}"
                    );
                    player.sent.clear();
                    player.confirmed.clear();
                    // `idle`: the client gave up connecting to the host, after its connection broke
                    // again and again.
                    let known = ["left", "kicked", "host_died", "session_expired", "idle"];
                    // No other host was there for too long.
                    let is_homeless =
                        code == "server_error" && message.contains("could resume room");
                    assert!(known.contains(&code.as_str()) || is_homeless, "{code}: {message}");
                    *self.outcome.left.entry(code).or_default() += 1;
                }
            }
        }
    }

    fn check(&mut self) {
        let now = self.system.now();
        let rooms = self.system.lobby().rooms();
        let mut numbers_by_player: BTreeMap<u64, BTreeMap<_, ReceivedNumbers>> = BTreeMap::new();
        for room in &rooms {
            assert!(room.players <= room.capacity, "room {} has more players than seats", room.id);
            if let Some((_, running)) = self.system.running(RoomId(room.id)) {
                assert!(
                    running.seats_taken() <= running.capacity(),
                    "room {} has more players than seats at its host",
                    room.id
                );
                numbers_by_player.insert(room.id, CountingGame::received_in(running.room()));
            }
        }
        for (index, player) in self.players.iter_mut().enumerate() {
            let client = &self.system.user(player.user).client;
            let place =
                client.room().and_then(|room| Some((room, numbers_by_player.get(&room.0)?)));
            let Some((room, numbers_by_player)) = place else {
                player.seatless_since = None;
                continue;
            };
            let numbers = client.player().and_then(|player| numbers_by_player.get(&player));
            let Some(numbers) = numbers else {
                // A player without confirmed commands may still be joining or leaving.
                if client.is_playing() && !player.confirmed.is_empty() {
                    let since = *player.seatless_since.get_or_insert(now);
                    assert!(
                        now.since(since) < MAX_SEATLESS_TIME,
                        "player {index} has had no seat in {room:?} since {since:?}"
                    );
                }
                continue;
            };
            player.seatless_since = None;
            assert_eq!(
                numbers.duplicates, 0,
                "player {index} in {room:?}: a command was executed twice by {now:?}"
            );
            let lost: Vec<_> =
                player.confirmed.iter().filter(|number| !numbers.has(**number)).collect();
            assert!(
                lost.is_empty(),
                "player {index} in {room:?}: confirmed numbers {lost:?} are missing at {now:?}"
            );
        }
    }

    fn send_number(&mut self, index: usize) {
        if self.rng.u8(..8) > 0 {
            return;
        }
        let TestPlayer { user, next, sent, .. } = &mut self.players[index];
        self.system.with_client(*user, |client, now| {
            if let Ok(number) = client.act(now, &count(*next)) {
                sent.insert(number, *next);
                *next += 1;
                self.outcome.sent += 1;
            }
        });
    }

    fn act_randomly(&mut self, index: usize, listed: &[Room]) {
        self.send_number(index);
        let user = self.players[index].user;
        let client = &self.system.user(user).client;
        if client.is_closed() {
            // The session ended, or another client took it over.
            self.players[index] = self.new_player();
            return;
        }
        if !client.is_connected() {
            return;
        }
        let room = client.room();
        let player = client.player();
        let Some(own) = room.and_then(|room| listed.iter().find(|listed| listed.id == room.0))
        else {
            if self.rng.u8(..10) == 0 {
                self.find_room(user, listed);
            }
            return;
        };
        let is_host = player.is_some_and(|player| player.0 == own.host);
        if is_host && !own.running && self.rng.u8(..5) == 0 {
            return self.request(user, LobbyRequest::StartRoom);
        }
        match self.rng.u32(..2_000) {
            0..12 => self.request(user, LobbyRequest::LeaveRoom),
            12..20 if is_host => {
                let other = self.players[self.rng.usize(..self.players.len())].user;
                if let Some(other) = self.system.user(other).client.player() {
                    self.request(user, LobbyRequest::Kick(other));
                }
            }
            20..30 => {
                let name = format!("name{}", self.rng.u32(..1_000));
                self.request(user, LobbyRequest::SetName(name));
            }
            30..35 => self.request(user, LobbyRequest::SetReady(true)),
            35..45 => self.system.drop_connections(user),
            45..55 => self.system.drop_game(user),
            55..60 => self.system.cut(user, Duration::from_millis(self.rng.u64(500..4_000))),
            60..62 => {
                // The client process dies; its seat is kept for the grace period, and a new player
                // joins the test.
                self.system.kill(user);
                self.players[index] = self.new_player();
            }
            62..64 => {
                self.system.with_client(user, Client::quit);
                self.players[index] = self.new_player();
            }
            _ => {}
        }
    }

    fn find_room(&mut self, user: usize, listed: &[Room]) {
        let any = (!listed.is_empty() && self.rng.u8(..4) > 0)
            .then(|| listed[self.rng.usize(..listed.len())].id);
        let request = match any {
            Some(room) => LobbyRequest::JoinRoom { room: RoomId(room), password: String::new() },
            None => LobbyRequest::CreateRoom(NewRoom {
                name: "room".into(),
                game: "counting".into(),
                capacity: SEATS,
                key: self.rng.u128(..).to_le_bytes(),
                parameters: [("size", "40x40"), ("tick", "10")]
                    .map(|(key, value)| (key.into(), value.into()))
                    .into(),
                ..NewRoom::default()
            }),
        };
        self.request(user, request);
    }

    fn request(&mut self, user: usize, request: LobbyRequest) {
        self.system.with_client(user, |client, now| _ = client.request(now, request));
    }

    /// Kills, hangs or ends a random host.
    fn fail_random_host(&mut self) {
        let hosts: Vec<_> = self
            .system
            .hosts()
            .into_iter()
            .filter(|(.., state)| *state == ProcessState::Awake)
            .collect();
        if hosts.is_empty() {
            return;
        }
        let (host, origin, _) = hosts[self.rng.usize(..hosts.len())];
        match self.rng.u8(..4) {
            0 | 1 => {
                self.outcome.killed += 1;
                self.system.kill_host(host);
            }
            2 => {
                self.outcome.hung += 1;
                self.system.hang_host(host);
                // About the time at which the WorldServer disconnects a silent host, or any time.
                let ms = if self.rng.bool() {
                    self.rng.u64(1_700..2_500)
                } else {
                    self.rng.u64(50..6_000)
                };
                self.hung_hosts.push((self.system.now() + Duration::from_millis(ms), host));
                return;
            }
            _ => {
                self.outcome.ended += 1;
                self.system.end_host(host);
            }
        }
        if origin == Origin::Remote {
            self.remotes += 1;
            let address = format!("10.0.0.{}:7000", self.remotes);
            self.system.add_remote(&address);
        }
    }
}
