//! The lobby's configuration: limits, times, games.
//!
//! Values only; the shell parses them from flags, variables and files before it creates a lobby.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::str::FromStr;
use std::time::Duration;

use ambit_proto::control::world;
use ambit_proto::time::LocalTime;
use ambit_transport::address::AddressRange;

use crate::fleet::policy::PlacementPolicy;
use crate::fleet::pool::ChildPoolConfig;
use crate::request::CreateRoomRequest;
use crate::server_secret::ServerSecret;
use crate::sessions::account_job::AccountWays;

/// How many sessions, connected or not, an address may have for each of its connections. If all
/// players behind one router lose their connections, and come back without their tokens (a page
/// that is loaded again), no session has to end before its grace period does.
const SESSIONS_PER_CONNECTION: usize = 2;

/// Limits and times. Each limit has an error code for the peer that exceeds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LobbyConfig {
    /// Time since 1970 at the origin of the lobby's clock; the expiry of tickets is computed from
    /// it.
    pub epoch_unix: Duration,
    /// How long the seat and the name of a player whose connection broke are kept.
    pub grace: Duration,
    /// How long a new connection may take to send its hello.
    pub hello_timeout: Duration,
    /// How long a player who is in no room may stay without a request; `None` for no limit.
    pub idle: Option<Duration>,
    /// How long a running room may be without a player who is connected to its game; `None` for no
    /// limit. Never less than `grace`.
    pub abandoned: Option<Duration>,
    /// The same for a room that stays without players.
    pub unplayed: Option<Duration>,
    /// Worlds that are opened at the start, and stay open.
    pub worlds: Vec<OperatedWorld>,
    /// How long a host may take to open a room.
    pub open_timeout: Duration,
    /// How long a host may be silent before it counts as hung. Hosts send a heartbeat every 250 ms.
    pub host_silence: Duration,
    /// Whether the lobby puts out records, so that another WorldServer can restore it.
    pub directory: bool,
    /// Whether orders to hosts, and answers to clients, wait until the shell has reported that the
    /// records of their call are stored
    /// ([`Lobby::handle_write_progress`](crate::Lobby::handle_write_progress)).
    pub waits_for_directory: bool,
    /// Whether rooms survive the end of this process, so that the embedded host's are saved, too.
    pub keeps_rooms: bool,
    /// Whether the shell stores rooms at intervals, and reports it
    /// ([`Lobby::handle_rooms_stored`](crate::Lobby::handle_rooms_stored)).
    pub stores_rooms: bool,
    /// How players may prove who they are.
    pub ways: AccountWays,
    /// The limits for child processes; 0 of them where rooms run elsewhere.
    pub children: ChildPoolConfig,
    /// Which host gets the next room.
    pub placement: PlacementPolicy,
    /// Maximum number of connections. Each costs about 40 KB.
    pub max_connections: usize,
    /// Maximum number of connections from one IPv4 address or one IPv6 /64 network.
    pub max_per_address: usize,
    /// Addresses without that limit and that of sessions, and which no ban of a room bars.
    pub trusted: Vec<AddressRange>,
    pub max_rooms: usize,
    /// Maximum number of rooms that one player has made.
    pub max_rooms_per_player: usize,
    /// Maximum number of rooms that players from one IPv4 address or one IPv6 /64 network have
    /// made.
    pub max_rooms_per_address: usize,
    /// Maximum number of these rooms that run.
    pub max_running_rooms_per_address: usize,
    /// Rooms that one player may create within any minute.
    pub rooms_per_minute: usize,
    /// Requests a second that a connection may send in the long run; not 0.
    pub requests_per_s: u32,
    /// Requests that a connection may send at once; not 0.
    pub request_burst: u32,
    /// Requests over the limit, one after the other, that close the connection.
    pub refused_in_a_row: u32,
    /// Chat messages a second that a player may send in the long run; not 0. One may go to all
    /// players, so it costs more than other requests.
    pub chat_per_s: u32,
    /// Chat messages that a player may send at once; not 0.
    pub chat_burst: u32,
    /// Whether operators read what players say. Players are told so.
    pub logs_chat: bool,
    /// Makes the seeds that players name this server's own, and protects passwords in the
    /// directory. Without it seeds are used as they are, for tests and simulations.
    pub server_secret: Option<ServerSecret>,
    /// Chat messages a second that are delivered, counted once for each receiver; twice as many
    /// after a pause. So are the messages about new names.
    pub chat_deliveries: CostLimit,
    /// KiB a second of lists that clients ask for; twice as many after a pause.
    pub list_kib: CostLimit,
    /// KiB a second of lists that a connection may get in the long run; not 0.
    pub list_kib_per_s: u32,
    /// KiB of lists that a connection may get at once; not 0.
    pub list_kib_burst: u32,
}

/// How much of something is allowed; see `budgets`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CostLimit {
    /// In a second, for all together; not 0.
    pub per_s: u32,
    /// In a second, for players from one IPv4 address or one IPv6 /64 network; not 0.
    pub per_s_of_address: u32,
}

impl LobbyConfig {
    /// Whether the address is one of the operator's.
    pub(crate) fn trusts(&self, address: IpAddr) -> bool {
        self.trusted.iter().any(|range| range.contains(address))
    }

    /// The time since 1970 by this server's clock, which was read when the server started.
    pub(crate) fn unix_time(&self, now: LocalTime) -> Duration {
        self.epoch_unix + now.since(LocalTime::ZERO)
    }

    /// The same in whole seconds.
    pub(crate) fn unix_seconds(&self, now: LocalTime) -> i64 {
        self.unix_time(now).as_secs() as i64
    }

    /// The grace period as hosts and clients read it.
    pub(crate) fn grace_ms(&self) -> u32 {
        u32::try_from(self.grace.as_millis()).unwrap_or(u32::MAX)
    }

    /// Maximum number of sessions, connected or not, that were opened from one address.
    pub(crate) fn max_sessions_per_address(&self) -> usize {
        self.max_per_address.saturating_mul(SESSIONS_PER_CONNECTION)
    }
}

impl Default for LobbyConfig {
    fn default() -> Self {
        Self {
            epoch_unix: Duration::ZERO,
            grace: Duration::from_secs(30),
            hello_timeout: Duration::from_secs(5),
            idle: Some(Duration::from_mins(10)),
            abandoned: Some(Duration::from_mins(2)),
            unplayed: Some(DEFAULT_UNPLAYED),
            worlds: Vec::new(),
            open_timeout: Duration::from_secs(10),
            host_silence: Duration::from_secs(2),
            directory: false,
            waits_for_directory: false,
            keeps_rooms: false,
            stores_rooms: false,
            ways: AccountWays::default(),
            children: ChildPoolConfig::default(),
            placement: PlacementPolicy::default(),
            max_connections: 10_000,
            // A classroom, or an internet cafe behind one router.
            max_per_address: 64,
            trusted: loopback(),
            max_rooms: 10_000,
            // A player is in one room at a time; the others are those that it made and has left to
            // others.
            max_rooms_per_player: 4,
            // A room for each connection of an address.
            max_rooms_per_address: 64,
            // Three quarters of one host's rooms (`--host-capacity`): all players behind one router
            // may play, and an address leaves places to others.
            max_running_rooms_per_address: 48,
            rooms_per_minute: 4,
            requests_per_s: 20,
            request_burst: 40,
            refused_in_a_row: 200,
            chat_per_s: 5,
            chat_burst: 20,
            logs_chat: false,
            server_secret: None,
            // A delivery takes about 10 us of a core, so all together take a fifth of one. With a
            // thousand players that is 20 lines a second, more than anybody reads. An address takes
            // a quarter at most.
            chat_deliveries: CostLimit { per_s: 20_000, per_s_of_address: 5_000 },
            // To write 16 MiB takes about a tenth of a core. A list of all players has some 60 KiB
            // where there are two thousand.
            list_kib: CostLimit { per_s: 16_384, per_s_of_address: 2_048 },
            list_kib_per_s: 64,
            // The longest list, twice.
            list_kib_burst: 2_048,
        }
    }
}

/// How long a room that stays without players may be unplayed.
pub(crate) const DEFAULT_UNPLAYED: Duration = Duration::from_hours(30 * 24);

/// A world of the operator's list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatedWorld {
    pub(crate) create: CreateRoomRequest,
}

/// Why a text names no world.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}; expected as in `--world \"village game=hamlet capacity=100 size=300x300\"`")]
pub struct BadWorld(String);

impl OperatedWorld {
    /// The name of its game.
    pub fn game(&self) -> &str {
        &self.create.game
    }

    /// Its parameters.
    pub fn parameters(&self) -> &BTreeMap<String, String> {
        &self.create.parameters
    }
}

/// As a player creates a room at the console: the name, then `key=value`.
impl FromStr for OperatedWorld {
    type Err = BadWorld;

    fn from_str(text: &str) -> Result<Self, BadWorld> {
        let mut words = text.split_whitespace();
        let name = words.next().unwrap_or_default().to_owned();
        let mut parameters = BTreeMap::new();
        for word in words {
            let Some((key, value)) = word.split_once('=') else {
                return Err(BadWorld(format!("{word:?} is no key=value")));
            };
            if parameters.insert(key.to_owned(), value.to_owned()).is_some() {
                return Err(BadWorld(format!("{key}= is there twice")));
            }
        }
        let game = parameters.remove("game");
        let game = game.ok_or_else(|| BadWorld("game= is missing".to_owned()))?;
        let capacity = parameters.remove("capacity").map(|seats| {
            seats.parse().map_err(|_| BadWorld(format!("capacity={seats} is no number")))
        });
        let capacity = capacity.transpose()?.unwrap_or_default();
        let asked = world::CreateRoom { name, game, capacity, parameters, ..Default::default() };
        let create = CreateRoomRequest::try_from(asked);
        Ok(Self { create: create.map_err(|refusal| BadWorld(refusal.message))? })
    }
}

/// The addresses of this machine, where operators and their bots are.
fn loopback() -> Vec<AddressRange> {
    ["127.0.0.0/8", "::1"].map(|range| range.parse().expect("a range")).into()
}

/// A game that rooms may play: all that the lobby knows of it.
#[derive(Clone, Debug, PartialEq)]
pub struct LobbyGame {
    /// The name in `CreateRoom.game`.
    pub name: String,
    /// One line for people.
    pub description: String,
    /// Players that are needed for a start.
    pub min_players: u32,
    /// Whether a running room may be joined.
    pub join_running: bool,
    /// Whether its rooms stay without players.
    pub is_lasting: bool,
    /// The parameters of a room in which a player begins at once; empty if there is no such room.
    pub quick_start: BTreeMap<String, String>,
    /// With what a room can be created.
    pub parameters: Vec<world::Parameter>,
    /// The most seats of a room that the operator allows.
    pub max_capacity: u32,
    /// The block of its presentation.
    pub presentation: String,
    /// The encoded schema.
    pub schema: Vec<u8>,
}

/// Checks the seats and the parameters of a room of a game of the list; the error says what is
/// wrong and what is allowed.
pub type CheckParameters =
    Box<dyn Fn(&str, u32, &BTreeMap<String, String>) -> Result<(), String> + Send>;

/// 16 unpredictable bytes a call: resume tokens, nonces, seeds.
pub type Entropy = Box<dyn FnMut() -> [u8; 16] + Send>;
