//! Bots with accounts in a system whose hosts, WorldServer and store die, and whose connections
//! break.

use std::time::Duration;

use ambit_client_core::client::config::{ClientConfig, SignIn};
use ambit_client_core::client::request::LobbyRequest;
use ambit_client_core::command_words;
use ambit_client_core::replica::PoseDecoding;
use ambit_lobby::{AccountWays, ChildPoolConfig, LobbyConfig, OperatedWorld};
use ambit_proto::space::Position;
use ambit_proto::time::LocalTime;
use ambit_room::logic::registry::Registry;
use ambit_tests::sim::System;
use ambit_tests::sim::store::SimulatedStore;
use ambit_transport::impair::Impairment;
use fastrand::Rng;

/// Virtual time of one step.
pub(super) const STEP: Duration = Duration::from_secs(1);
const CHILDREN: u32 = 3;
/// Two deaths are further apart than that, since a room that loses a second host right after it
/// resumed is closed.
const BETWEEN_DEATHS_S: u64 = 6;

/// See the module. Bot `n` has the account `n + 1`.
pub(super) struct Crowd {
    pub(super) system: System,
    pub(super) rng: Rng,
    pub(super) bots: usize,
    pub(super) deaths: Deaths,
    next_death: LocalTime,
    store_back: Option<LocalTime>,
}

/// How often something died or was away.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Deaths {
    pub(super) hosts: u32,
    pub(super) servers: u32,
    pub(super) stores: u32,
}

/// What a bot sees.
pub(super) struct Sighting {
    pub(super) id: u32,
    pub(super) kind: String,
    pub(super) is_own: bool,
    pub(super) position: Position,
}

impl Crowd {
    /// `store` gets what is stored before any bot comes.
    pub(super) fn new(
        seed: u64,
        registry: &Registry,
        worlds: &[&str],
        bots: usize,
        store: impl FnOnce(&mut SimulatedStore),
    ) -> Self {
        let world = |text: &&str| text.parse::<OperatedWorld>().expect("a world");
        let children =
            ChildPoolConfig { min: CHILDREN, max: CHILDREN, ..ChildPoolConfig::default() };
        let config = LobbyConfig {
            children,
            ways: AccountWays { token: true, ..AccountWays::default() },
            directory: true,
            keeps_rooms: true,
            worlds: worlds.iter().map(world).collect(),
            max_rooms_per_player: 1_000,
            ..LobbyConfig::default()
        };
        let mut system = System::with_children(seed, registry, &config);
        system.add_store();
        store(system.store());
        let network: Impairment = "loss=2,delay=30ms,jitter=10ms".parse().expect("a network");
        for bot in 0..bots {
            let config = ClientConfig {
                name: format!("bot{bot}"),
                sign_in: SignIn::Token((bot + 1).to_string()),
                pose_decoding: PoseDecoding::Light,
                ..ClientConfig::default()
            };
            system.add_user_with(config, &network);
        }
        system.run_for(Duration::from_secs(5));
        let next_death = system.now() + Duration::from_secs(BETWEEN_DEATHS_S);
        let rng = Rng::with_seed(seed);
        Self { system, rng, bots, deaths: Deaths::default(), next_death, store_back: None }
    }

    /// A bot says something to its game, if it can now. Returns the number of the command.
    pub(super) fn say(&mut self, bot: usize, words: &str) -> Option<u32> {
        let schema = self.system.user(bot).client.schema()?;
        let words: Vec<&str> = words.split_whitespace().collect();
        let command = command_words::parse(schema, &words).expect("a command of the game");
        let mut number = None;
        self.system.with_client(bot, |client, now| number = client.act(now, &command).ok());
        number
    }

    pub(super) fn ask(&mut self, bot: usize, request: LobbyRequest) {
        self.system.with_client(bot, |client, now| {
            // A client that connects again refuses requests, which bots do not mind.
            let _ = client.request(now, request);
        });
    }

    /// What a bot sees now, its own avatar among it.
    pub(super) fn sees(&self, bot: usize) -> Vec<Sighting> {
        let client = &self.system.user(bot).client;
        let Some(t) = client.room_time(self.system.local_time(bot)) else { return Vec::new() };
        let sighting = |object: ambit_client_core::replica::VisibleObject<'_, _>| {
            Some(Sighting {
                id: object.id.0,
                kind: object.kind().to_string(),
                is_own: object.is_own(),
                position: object.position(t)?,
            })
        };
        client.objects().filter_map(sighting).collect()
    }

    /// A step of time, in which something may die.
    pub(super) fn step(&mut self) {
        self.system.run_for(STEP);
        let now = self.system.now();
        if self.store_back.is_some_and(|back| back <= now) {
            (self.store_back, self.system.store().is_away) = (None, false);
        } else if self.store_back.is_none() && self.rng.u8(..20) == 0 {
            self.system.store().is_away = true;
            self.store_back = Some(now + Duration::from_secs(self.rng.u64(1..6)));
            self.deaths.stores += 1;
        }
        let bot = self.rng.usize(..self.bots);
        match self.rng.u8(..6) {
            0 => self.system.drop_connections(bot),
            1 => self.system.drop_game(bot),
            _ => {}
        }
        if now < self.next_death {
            return;
        }
        // Within a second, so that what dies is in the middle of something.
        self.system.run_for(Duration::from_millis(self.rng.u64(..900)));
        // The server is each third one.
        if self.deaths.hosts >= 2 * (self.deaths.servers + 1) {
            self.system.kill_server();
            self.deaths.servers += 1;
        } else if let Some((host, ..)) = self.rng.choice(self.system.hosts()) {
            self.system.kill_host(host);
            self.deaths.hosts += 1;
        }
        let pause = self.rng.u64(BETWEEN_DEATHS_S..2 * BETWEEN_DEATHS_S);
        self.next_death = self.system.now() + Duration::from_secs(pause);
    }

    /// Nothing dies any more, all bots leave, and what waits is stored.
    pub(super) fn settle(&mut self) {
        self.system.store().is_away = false;
        self.store_back = None;
        self.system.run_for(Duration::from_secs(20));
        for _ in 0..4 {
            for bot in 0..self.bots {
                if self.system.user(bot).client.room().is_some() {
                    self.ask(bot, LobbyRequest::LeaveRoom);
                }
            }
            self.system.run_for(Duration::from_secs(12));
        }
        let in_rooms = (0..self.bots).filter(|bot| self.system.user(*bot).client.room().is_some());
        assert_eq!(in_rooms.count(), 0, "all have left");
    }
}
