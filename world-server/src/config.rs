//! The WorldServer's settings.
//!
//! Each is declared once, here: name, type, default, unit, and what raising it costs. This
//! declaration gives the flag, the `AMBIT_...` variable, the key in the TOML file and the text of
//! `--help`. A flag overrides a variable, a variable overrides the file, the file overrides the
//! default.

mod file;
mod trusted;
mod values;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ambit_host::cli::{Advertise, MemoryLimit, RecordOptions, parse_build};
use ambit_host::logging::LogFormat;
use ambit_lobby::{ChildPoolConfig, CostLimit, LobbyConfig, OperatedWorld, PlacementPolicy};
use ambit_room::logic::registry::Registry;
use ambit_room::room_limits::{RoomLimit, RoomLimits};
use ambit_store::StorePlace;
use clap::builder::BoolishValueParser;
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _, Parser};

pub use trusted::TrustedAddresses;
pub use values::{AllowedAccounts, HostName, HostingMode, HttpListen, KeepPlace, TimeLimit};
use values::{
    parse_duration, parse_host_key, parse_limit, parse_listen, parse_long_limit, parse_nats_url,
    parse_peer_address, parse_silence, parse_sync_interval,
};

/// An MMO-style game server: lobby, rooms, chat, and the hosts that run the rooms.
#[derive(Parser, Clone, Debug)]
#[command(name = "world-server", version, max_term_width = 110, after_help = AFTER_HELP)]
pub struct Config {
    /// The address for players (UDP, QUIC). Port 0 takes a free port.
    #[arg(
        long,
        value_name = "ADDR",
        env = "AMBIT_LISTEN",
        value_parser = parse_listen,
        default_value = "127.0.0.1:7777"
    )]
    pub listen: SocketAddr,

    /// Where the page for players is served (TCP, HTTP), and for operators `/status`, `/metrics`
    /// and `/healthz`; or `off`. The port is for a private network only: players on other machines
    /// need `--https`.
    #[arg(long, value_name = "ADDR|off", env = "AMBIT_HTTP", default_value = "127.0.0.1:7780")]
    pub http: HttpListen,

    /// Names by which clients may ask for `--http`, separated by commas, beside `localhost` and all
    /// IP addresses: those that a monitor uses, for example. Requests for other names are refused,
    /// so that no page from elsewhere can read what operators see (DNS rebinding).
    #[arg(long, value_name = "NAME[,NAME]", env = "AMBIT_HTTP_HOST", value_delimiter = ',')]
    pub http_host: Vec<HostName>,

    /// A file with the keys of those who operate the server by `/admin/v1` at `--http`: a line for
    /// each, with a role (`look`, `moderate` or `operate`), a name for the log, and the key.
    /// Without it there is one key, which is made in `--data-dir` at the first start and shown in
    /// the log.
    #[arg(long, value_name = "FILE", env = "AMBIT_ADMIN_KEY_FILE")]
    pub admin_key_file: Option<PathBuf>,

    /// The page `/watch` at `--http`, and what it reads of `/admin/v1`, need no key to be looked
    /// at: guests see all but addresses, accounts, bans and what operators do, and can change
    /// nothing.
    #[arg(long, env = "AMBIT_WATCH_GUESTS", value_parser = BoolishValueParser::new())]
    pub watch_guests: bool,

    /// Where the page for players is served with TLS (TCP, HTTPS). This port may be public: it
    /// serves nothing else. It has the certificate of `--cert`, or the server's own one, of which
    /// browsers warn. Port 0 takes a free port.
    #[arg(long, value_name = "ADDR", env = "AMBIT_HTTPS")]
    pub https: Option<SocketAddr>,

    /// A folder with a page to serve instead of the one that the server contains: the files that
    /// `client-core/web/build` makes in `bundle`.
    #[arg(long, value_name = "DIR", env = "AMBIT_PAGE")]
    pub page: Option<PathBuf>,

    /// A folder with texts in other languages for the page: files such as `de.json`, with texts of
    /// the page and of games by their keys. A browser shows the first of its languages that there
    /// is a file for, and in English what the file does not have.
    #[arg(long, value_name = "DIR", env = "AMBIT_TEXTS")]
    pub texts: Option<PathBuf>,

    /// Where rooms run: `embedded` (in this process), `process:N` (in N child processes; one that
    /// dies is replaced, and its rooms resume on the others), `process:MIN..MAX` (in as many as the
    /// rooms need) or `cluster` (on hosts that connect by themselves; this server is one of
    /// several, which share their state through --nats).
    #[arg(long, value_name = "WHERE", env = "AMBIT_HOSTS", default_value = "embedded")]
    pub hosts: HostingMode,

    /// Maximum number of rooms on each host. More cost memory at once, and late ticks when all are
    /// busy.
    #[arg(long, value_name = "ROOMS", env = "AMBIT_HOST_CAPACITY", default_value_t = 64,
          value_parser = clap::value_parser!(u32).range(1..=65_536),
          allow_negative_numbers = true)]
    pub host_capacity: u32,

    /// Which host gets the next room: `measured` (the least loaded, by what rooms and players are
    /// known to cost and by the hosts' reports), `least-loaded` (by what rooms and players are
    /// known to cost alone) or `zones` (each map of a world has a home host, and the maps are
    /// spread evenly over all hosts; as `measured` where the home is full).
    #[arg(long, value_name = "POLICY", env = "AMBIT_PLACEMENT", default_value_t)]
    pub placement: PlacementPolicy,

    /// For `process:MIN..MAX`: idle children that are kept ready beside those with rooms, so that a
    /// new room does not wait. Each costs about 15 MB.
    #[arg(
        long,
        value_name = "COUNT",
        env = "AMBIT_SPARE_HOSTS",
        default_value_t = ChildPoolConfig::default().spares,
        allow_negative_numbers = true,
    )]
    pub spare_hosts: u32,

    /// For `cluster`: the NATS servers that store the directory (JetStream, 2.9 or newer),
    /// separated by commas. With three or more, everything is stored three times.
    #[arg(
        long,
        value_name = "URL[,URL]",
        env = "AMBIT_NATS",
        value_delimiter = ',',
        value_parser = parse_nats_url,
    )]
    pub nats: Vec<String>,

    /// For `cluster`: the certificate of the authority that has signed those of the NATS servers
    /// (PEM). With it there is no connection without TLS. Without it, TLS is used if NATS asks for
    /// it or a URL begins with `tls://`, with the authorities that the system trusts.
    #[arg(long, value_name = "PEM", env = "AMBIT_NATS_CA")]
    pub nats_ca: Option<PathBuf>,

    /// For `cluster`: a certificate of this server for NATS, if NATS wants one.
    #[arg(long, value_name = "PEM", env = "AMBIT_NATS_CERT")]
    pub nats_cert: Option<PathBuf>,

    /// Private key of `--nats-cert`.
    #[arg(long, value_name = "PEM", env = "AMBIT_NATS_KEY")]
    pub nats_key: Option<PathBuf>,

    /// For `cluster`: a file with the credentials for NATS in one line: USER:PASSWORD, or a token
    /// without a colon.
    #[arg(long, value_name = "FILE", env = "AMBIT_NATS_CREDENTIALS")]
    pub nats_credentials: Option<PathBuf>,

    /// For `cluster`: where the other servers and the hosts reach this server, if not at the
    /// address for players or that of `--peer-listen`: HOST:PORT.
    #[arg(long, value_name = "ADDR", env = "AMBIT_PEER_ADDRESS", value_parser = parse_peer_address)]
    pub peer_address: Option<String>,

    /// Where hosts on other machines and the other servers of a cluster connect, if not at the
    /// address for players, which then accepts players alone. For a private network. Port 0 takes
    /// a free port.
    #[arg(long, value_name = "ADDR", env = "AMBIT_PEER_LISTEN", value_parser = parse_listen)]
    pub peer_listen: Option<SocketAddr>,

    /// How long a host may be silent before it counts as hung: its rooms resume elsewhere, and a
    /// child is killed. A host on another machine only for half of it, if it had no such pauses in
    /// the last minutes. Hosts send a heartbeat every 250 ms; with a value not much longer, a busy
    /// machine is taken for a hung one.
    #[arg(
        long,
        value_name = "TIME",
        env = "AMBIT_HOST_SILENCE",
        default_value = "2s",
        value_parser = parse_silence,
        allow_hyphen_values = true,
    )]
    pub host_silence: Duration,

    /// Lets hosts on other machines connect (`game-server --world`) if they prove that they have
    /// this key of at least 16 characters. Without it none is accepted. The servers of a cluster
    /// prove it to each other as well. Secret: prefer the environment variable.
    #[arg(
        long,
        value_name = "KEY",
        env = "AMBIT_HOST_KEY",
        hide_env_values = true,
        value_parser = parse_host_key,
    )]
    pub host_key: Option<String>,

    /// The address that players are given for game connections, if not the listen address: IP, or
    /// IP:PORT. Children listen on ports of their own, so only the IP applies to them. In a cluster
    /// it is also the address of this server for players whose server was lost.
    #[arg(long, value_name = "IP[:PORT]", env = "AMBIT_ADVERTISE")]
    pub advertise: Option<Advertise>,

    /// Directory for the server's files: its certificates, keys and secrets, created on the first
    /// run. For one server at a time, unless all that use it are of clusters. By default
    /// `$XDG_DATA_HOME/ambit` or `~/.local/share/ambit`.
    #[arg(long, value_name = "DIR", env = "AMBIT_DATA_DIR")]
    pub data_dir: Option<PathBuf>,

    /// Where accounts, reserved names, bans and what games store are: a file, the URL of a
    /// PostgreSQL database (`postgresql://USER:PASSWORD@HOST/DATABASE`), which servers of a cluster
    /// share, or `memory`. By default the file `ambit.db` in the data directory, and in a cluster
    /// `memory`.
    #[arg(long, value_name = "FILE|URL|memory", env = "AMBIT_STORE", hide_env_values = true)]
    pub store: Option<StorePlace>,

    /// How players may prove who they are, separated by commas: `guest` (not at all), `device` (a
    /// key that the client makes and keeps), `password` (accounts that players make here), `token`
    /// (of a service of yours, with `--token-keys`).
    #[arg(long, value_name = "WAY[,WAY]", env = "AMBIT_ACCOUNTS", default_value_t)]
    pub accounts: AllowedAccounts,

    /// For `--accounts token`: a file with the keys of your service, a JSON Web Key Set. It is read
    /// again when it changes.
    #[arg(long, value_name = "FILE", env = "AMBIT_TOKEN_KEYS")]
    pub token_keys: Option<PathBuf>,

    /// For `--accounts token`: the name of this server in the tokens (`aud`). Tokens for another
    /// one are refused.
    #[arg(long, value_name = "NAME", env = "AMBIT_TOKEN_AUDIENCE")]
    pub token_audience: Option<String>,

    /// For `--accounts token`: the name of your service in the tokens (`iss`), if tokens of others
    /// are signed with the same keys.
    #[arg(long, value_name = "NAME", env = "AMBIT_TOKEN_ISSUER")]
    pub token_issuer: Option<String>,

    /// Certificate chain to use instead of the server's own.
    #[arg(long, value_name = "PEM", env = "AMBIT_CERT")]
    pub cert: Option<PathBuf>,

    /// Private key of `--cert`.
    #[arg(long, value_name = "PEM", env = "AMBIT_KEY")]
    pub key: Option<PathBuf>,

    /// Maximum number of lobby connections. Each costs about 40 KB.
    #[arg(
        long,
        value_name = "COUNT",
        env = "AMBIT_MAX_CONNECTIONS",
        default_value_t = LobbyConfig::default().max_connections,
        value_parser = parse_limit,
        allow_negative_numbers = true,
    )]
    pub max_connections: usize,

    /// Maximum number of lobby connections from one IPv4 address or one IPv6 /64 network, unless it
    /// is one of `--trusted`. There are twice as many sessions at most, connected or not. Raising
    /// it lets one address keep others out. Where all players seem to come from a few addresses (a
    /// proxy, or a network that translates addresses), all limits per address have to be raised.
    #[arg(long, value_name = "COUNT", env = "AMBIT_MAX_CONNECTIONS_PER_ADDRESS",
          default_value_t = LobbyConfig::default().max_per_address,
          value_parser = parse_limit, allow_negative_numbers = true)]
    pub max_connections_per_address: usize,

    /// Addresses without limits per address on connections, sessions, chat and lists, for bots and
    /// load tests: addresses and ranges such as 192.0.2.0/24, separated by commas, or `off`. Limits
    /// on rooms apply to them too. A proxy on one of them would exempt all its clients.
    #[arg(long, value_name = "ADDR[,ADDR]|off", env = "AMBIT_TRUSTED", default_value_t)]
    pub trusted: TrustedAddresses,

    /// Maximum number of rooms in the lobby, running or not.
    #[arg(
        long,
        value_name = "ROOMS",
        env = "AMBIT_MAX_ROOMS",
        default_value_t = LobbyConfig::default().max_rooms,
        value_parser = parse_limit,
        allow_negative_numbers = true,
    )]
    pub max_rooms: usize,

    /// Maximum number of rooms that exist and that one player has made.
    #[arg(long, value_name = "ROOMS", env = "AMBIT_MAX_ROOMS_PER_PLAYER",
          default_value_t = LobbyConfig::default().max_rooms_per_player)]
    pub max_rooms_per_player: usize,

    /// Maximum number of rooms that exist and that players from one IPv4 address or one IPv6 /64
    /// network have made. A room counts where its maker's session was opened, until it is closed.
    #[arg(long, value_name = "ROOMS", env = "AMBIT_MAX_ROOMS_PER_ADDRESS",
          default_value_t = LobbyConfig::default().max_rooms_per_address)]
    pub max_rooms_per_address: usize,

    /// Maximum number of these rooms that run. Raising it to `--host-capacity` lets one address
    /// take a whole host.
    #[arg(long, value_name = "ROOMS", env = "AMBIT_MAX_RUNNING_ROOMS_PER_ADDRESS",
          default_value_t = LobbyConfig::default().max_running_rooms_per_address)]
    pub max_running_rooms_per_address: usize,

    /// The most that a room may ask for, of each parameter: KEY=NUMBER for all games,
    /// GAME.KEY=NUMBER for one, KEY=off for no limit; separated by commas, or in several flags
    /// (`tick=30`, `field.npcs=500`). Limits that are not named keep their defaults. Beside
    /// parameters: `capacity` (seats), `objects` (that a game creates by its parameters), `pairs`
    /// (of players and objects in their sight, if the seats are taken and all are spread evenly).
    /// A room that asks for more is refused with `bad_parameter`.
    #[arg(long, value_name = "KEY=MAX[,KEY=MAX]", env = "AMBIT_ROOM_LIMIT",
          value_delimiter = ',', default_value = RoomLimits::default().to_string())]
    pub room_limit: Vec<RoomLimit>,

    /// For `embedded` and `process`: the name of the build of the games of this server's own hosts.
    /// Rooms of a host that is lost, and those that `--keep` has kept, go on at hosts of the same
    /// build. By default it is made of the versions and schemas of the games.
    #[arg(long, value_name = "NAME", env = "AMBIT_BUILD", value_parser = parse_build)]
    pub build: Option<String>,

    /// For `process`: memory of each child process, in MiB, or `off`. A child that needs more ends;
    /// its rooms resume on others, and a room that ends two hosts so within three seconds is
    /// closed. Each child counts what it reserves to write to, about 2 MiB for each room more than
    /// it uses.
    #[arg(
        long,
        value_name = "MIB|off",
        env = "AMBIT_CHILD_MEMORY",
        default_value = "4096",
        allow_hyphen_values = true
    )]
    pub child_memory: MemoryLimit,

    /// Chat messages that the server delivers in a second, counted once for each receiver; twice as
    /// many after a pause. More are refused with `try_again`. Ten thousand cost about a tenth of a
    /// core.
    #[arg(long, value_name = "MESSAGES", env = "AMBIT_MAX_CHAT_DELIVERIES",
          default_value_t = LobbyConfig::default().chat_deliveries.per_s,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000),
          allow_negative_numbers = true)]
    pub max_chat_deliveries: u32,

    /// The same for what players from one IPv4 address or one IPv6 /64 network send, unless it is
    /// one of `--trusted`. More are refused with `rate_limited`. Raising it to
    /// `--max-chat-deliveries` lets one address silence all others.
    #[arg(long, value_name = "MESSAGES", env = "AMBIT_MAX_CHAT_DELIVERIES_PER_ADDRESS",
          default_value_t = LobbyConfig::default().chat_deliveries.per_s_of_address,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000),
          allow_negative_numbers = true)]
    pub max_chat_deliveries_per_address: u32,

    /// KiB of lists of rooms and players that the server sends in a second on request; twice as
    /// many after a pause. More requests are refused with `try_again`.
    #[arg(long, value_name = "KIB", env = "AMBIT_MAX_LIST_KIB",
          default_value_t = LobbyConfig::default().list_kib.per_s,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000),
          allow_negative_numbers = true)]
    pub max_list_kib: u32,

    /// The same for clients at one IPv4 address or one IPv6 /64 network, unless it is one of
    /// `--trusted`. More requests are refused with `rate_limited`.
    #[arg(long, value_name = "KIB", env = "AMBIT_MAX_LIST_KIB_PER_ADDRESS",
          default_value_t = LobbyConfig::default().list_kib.per_s_of_address,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000),
          allow_negative_numbers = true)]
    pub max_list_kib_per_address: u32,

    /// How long the seat and the avatar of a player whose connection broke are kept (`30s`,
    /// `500ms`, `2m`).
    #[arg(
        long,
        value_name = "TIME",
        env = "AMBIT_GRACE",
        default_value = "30s",
        value_parser = parse_duration,
        allow_hyphen_values = true,
    )]
    pub grace: Duration,

    /// How long a player who is in no room may stay without a request, or `off`.
    #[arg(
        long,
        value_name = "TIME|off",
        env = "AMBIT_IDLE",
        default_value = "10m",
        allow_hyphen_values = true
    )]
    pub idle: TimeLimit,

    /// How long a room may run while no player is connected to its game, or `off`; then it is
    /// closed, and its players are in the lobby. Never less than `--grace`.
    #[arg(long, value_name = "TIME|off", env = "AMBIT_ABANDONED", default_value = "2m")]
    pub abandoned: TimeLimit,

    /// The same for a room that stays without players, and sleeps meanwhile (such as `30d`).
    #[arg(
        long,
        value_name = "TIME|off",
        env = "AMBIT_UNPLAYED",
        default_value = "30d",
        value_parser = parse_long_limit,
        allow_hyphen_values = true
    )]
    pub unplayed: TimeLimit,

    /// A world that is opened at the start and stays open without players, as a player creates a
    /// room: `--world "village game=hamlet capacity=100 size=300x300"`. It sleeps while no player
    /// is in. May be given several times; in a file, `world = ["..", ".."]`.
    #[arg(
        long = "world",
        value_name = "NAME game=GAME ..",
        env = "AMBIT_WORLD",
        value_delimiter = ';'
    )]
    pub worlds: Vec<OperatedWorld>,

    /// Whether the log has lines for people, or an object a line for programs.
    #[arg(
        long,
        value_name = "text|json",
        env = "AMBIT_LOG_FORMAT",
        default_value = "text",
        hide_possible_values = true
    )]
    pub log_format: LogFormat,

    /// What players say is an event for operators, in the log and by HTTP. Players are told so when
    /// they connect.
    #[arg(long, env = "AMBIT_LOG_CHAT", value_parser = BoolishValueParser::new())]
    pub log_chat: bool,

    /// Writes the ground truth of each room to DIR/room-ID.jsonl: all positions at each tick.
    #[arg(long, value_name = "DIR", env = "AMBIT_TRACE")]
    pub trace: Option<PathBuf>,

    #[command(flatten)]
    pub recordings: RecordOptions,

    /// Keeps rooms and sessions beyond the end of this process, in files of this folder: a
    /// server that starts with it goes on where the last one was, whether that was killed or got
    /// SIGTERM. The files have secrets. With `cluster`: `nats`, so that rooms survive if their host
    /// is lost together with the server that leads.
    #[arg(long, value_name = "DIR|nats", env = "AMBIT_KEEP")]
    pub keep: Option<KeepPlace>,

    /// For `--keep`: how often what is kept is synced to the disk. A killed process loses some
    /// milliseconds, a machine that fails this time: what was confirmed then is gone. In a cluster
    /// it is how often each room is stored. Shorter times cost more writes.
    #[arg(
        long,
        value_name = "TIME",
        env = "AMBIT_KEEP_SYNC",
        default_value = "1s",
        value_parser = parse_sync_interval,
        allow_hyphen_values = true,
    )]
    pub keep_sync: Duration,

    /// Reads values from a TOML file; its keys are the flags without the dashes in front:
    /// `max-rooms = 100`.
    #[arg(long, value_name = "FILE", env = "AMBIT_CONFIG")]
    pub config: Option<PathBuf>,
}

const AFTER_HELP: &str = "Each flag can also be given as the environment variable in brackets, or \
    in the file of --config: a flag overrides a variable, a variable overrides the file. When the \
    server is ready it prints one line to standard output that begins with `ready`. Logs go to \
    standard error; AMBIT_LOG (or RUST_LOG) filters them: `info`, `debug`, \
    `ambit_world_server=trace`. SIGTERM notifies the players and ends the server; so do SIGINT and \
    SIGHUP. `replay FILE` instead of flags runs a recording (`--record`) again; `replay --help` \
    says more.";

impl Config {
    /// Reads the command line (the first argument is the program's name), the environment, and the
    /// file that they name.
    pub fn from_arguments<A: Into<OsString>>(
        arguments: impl IntoIterator<Item = A>,
    ) -> Result<Self, ConfigError> {
        let arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
        let mut command = Self::command();
        let mut from_file = FileKeys::new();
        if let Some(path) = file::find_path(&command, &arguments) {
            (command, from_file) = file::apply_file(command, &path)?;
        }
        Self::from_matches(&command.try_get_matches_from(arguments)?, &from_file)
    }

    /// `from_file` has the keys of the file: to clap, their values are defaults.
    fn from_matches(matches: &ArgMatches, from_file: &FileKeys) -> Result<Self, ConfigError> {
        let config = Self::from_arg_matches(matches)?;
        config.check_hosting(matches, from_file)?;
        config.check_complete().map_err(ConfigError::Conflict)?;
        Ok(config)
    }

    /// Refuses settings that the selected way of hosting does not use, whatever they come from. Who
    /// names a NATS server wants a cluster: a server that runs alone instead would look healthy,
    /// and divide the players.
    fn check_hosting(&self, matches: &ArgMatches, from_file: &FileKeys) -> Result<(), ConfigError> {
        let hosting = self.hosts;
        let has_pool = matches!(hosting, HostingMode::Process { min, max } if min < max);
        let has_children = matches!(hosting, HostingMode::Process { .. });
        let is_cluster = hosting == HostingMode::Cluster;
        let records = self.recordings.record.is_some();
        for (flag, applies, used_by) in [
            ("keep-sync", self.keep.is_some(), "--keep"),
            ("record-mb", records, "--record"),
            ("record-days", records, "--record"),
        ] {
            if !applies && let Some(origin) = origin(matches, from_file, flag) {
                return Err(ConfigError::Conflict(format!(
                    "{origin} is for `{used_by}` only: set `{used_by} DIR`, or remove {origin}"
                )));
            }
        }
        for (flag, applies, used_by) in [
            ("spare-hosts", has_pool, "process:MIN..MAX"),
            ("child-memory", has_children, "process:N"),
            ("build", !is_cluster, "embedded` or `--hosts process:N"),
            ("nats", is_cluster, "cluster"),
            ("nats-ca", is_cluster, "cluster"),
            ("nats-cert", is_cluster, "cluster"),
            ("nats-key", is_cluster, "cluster"),
            ("nats-credentials", is_cluster, "cluster"),
            ("peer-address", is_cluster, "cluster"),
        ] {
            if !applies && let Some(origin) = origin(matches, from_file, flag) {
                return Err(ConfigError::Conflict(format!(
                    "{origin} is for `--hosts {used_by}` only, but this server runs with `--hosts \
                     {hosting}`: set `--hosts {used_by}`, or remove {origin}"
                )));
            }
        }
        Ok(())
    }

    /// Checks that settings which need others have them.
    pub(crate) fn check_complete(&self) -> Result<(), String> {
        let problem = if self.cert.is_some() != self.key.is_some() {
            "`--cert` and `--key` go together: give both PEM files, or none for a certificate of \
             the server's own"
        } else if self.hosts == HostingMode::Cluster && self.nats.is_empty() {
            "`--hosts cluster` needs `--nats`: the NATS servers that store the directory \
             (nats://HOST:4222)"
        } else if self.hosts == HostingMode::Cluster && self.host_key.is_none() {
            "`--hosts cluster` needs `--host-key`: the key that the servers and hosts of the \
             cluster share"
        } else if self.hosts == HostingMode::Cluster
            && matches!(self.keep, Some(KeepPlace::Folder(_)))
        {
            "`--keep DIR` is for a server without a cluster, since a directory of one server is of \
             no use to the next leader: with `--hosts cluster`, set `--keep nats`"
        } else if self.hosts != HostingMode::Cluster && self.keep == Some(KeepPlace::Nats) {
            "`--keep nats` is for `--hosts cluster`: set `--keep DIR` (a directory of that name is \
             `./nats`)"
        } else if let Some(KeepPlace::Folder(place)) = &self.keep
            && place.exists()
            && !place.is_dir()
        {
            "`--keep` names a file; expected a directory, which is made if it is not there"
        } else if self.http.0.is_none() && !self.http_host.is_empty() {
            "`--http-host` names the server at `--http`, which is off: remove one of them"
        } else if self.accounts.0.token
            != (self.token_keys.is_some() && self.token_audience.is_some())
        {
            "`--accounts token`, `--token-keys` and `--token-audience` go together: give all \
             three, or none"
        } else if self.token_issuer.is_some() && !self.accounts.0.token {
            "`--token-issuer` is for `--accounts token`: remove it, or allow tokens"
        } else if self.hosts == HostingMode::Cluster
            && matches!(self.store, Some(StorePlace::File(_)))
        {
            "`--store FILE` is for a server without a cluster, since the next leader cannot read \
             it: with `--hosts cluster`, set `--store postgresql://..`"
        } else if self.accounts.0.password && self.store_place() == StorePlace::Memory {
            "`--accounts password` needs a store that lasts: set `--store` to a file or to the URL \
             of a PostgreSQL database"
        } else if self.nats_cert.is_some() != self.nats_key.is_some() {
            "`--nats-cert` and `--nats-key` go together: give both PEM files, or none"
        } else if self.peer_listen.is_some() && self.host_key.is_none() {
            "`--peer-listen` needs `--host-key`: the key that the hosts have, which connect there"
        } else {
            return Ok(());
        };
        Err(problem.to_owned())
    }

    /// The lobby's part of the configuration.
    pub fn lobby(&self, epoch_unix: Duration) -> LobbyConfig {
        LobbyConfig {
            epoch_unix,
            grace: self.grace,
            idle: self.idle.0,
            abandoned: self.abandoned.0,
            unplayed: self.unplayed.0,
            worlds: self.worlds.clone(),
            logs_chat: self.log_chat,
            host_silence: self.host_silence,
            directory: self.hosts == HostingMode::Cluster || self.keep.is_some(),
            keeps_rooms: matches!(self.keep, Some(KeepPlace::Folder(_))),
            stores_rooms: self.keep == Some(KeepPlace::Nats),
            ways: self.accounts.0,
            children: self.children(),
            placement: self.placement,
            max_connections: self.max_connections,
            max_per_address: self.max_connections_per_address,
            trusted: self.trusted.0.clone(),
            max_rooms: self.max_rooms,
            max_rooms_per_player: self.max_rooms_per_player,
            max_rooms_per_address: self.max_rooms_per_address,
            max_running_rooms_per_address: self.max_running_rooms_per_address,
            chat_deliveries: CostLimit {
                per_s: self.max_chat_deliveries,
                per_s_of_address: self.max_chat_deliveries_per_address,
            },
            list_kib: CostLimit {
                per_s: self.max_list_kib,
                per_s_of_address: self.max_list_kib_per_address,
            },
            ..LobbyConfig::default()
        }
    }

    /// What a room may ask for.
    pub fn room_limits(&self) -> RoomLimits {
        RoomLimits::with(&self.room_limit)
    }

    /// Checks the settings that name parameters of games.
    pub(crate) fn check_games(&self, registry: &Registry) -> Result<(), String> {
        let problem = registry.check_limit_names(&self.room_limits());
        problem.map_err(|problem| format!("`--room-limit`: {problem}"))?;
        for world in &self.worlds {
            check_world(registry, world).map_err(|problem| format!("`--world`: {problem}"))?;
        }
        Ok(())
    }

    /// The limits for child processes.
    pub fn children(&self) -> ChildPoolConfig {
        let (min, max) = match self.hosts {
            HostingMode::Embedded | HostingMode::Cluster => (0, 0),
            HostingMode::Process { min, max } => (min.into(), max.into()),
        };
        ChildPoolConfig { min, max, spares: self.spare_hosts, ..ChildPoolConfig::default() }
    }

    /// The directory for the server's files.
    pub fn data_dir(&self) -> PathBuf {
        data_dir_or_default(self.data_dir.clone())
    }

    /// Where the store is.
    pub(crate) fn store_place(&self) -> StorePlace {
        match &self.store {
            Some(place) => place.clone(),
            None if self.hosts == HostingMode::Cluster => StorePlace::Memory,
            None => store_in(&self.data_dir()),
        }
    }
}

/// Whether there is such a room. The operator's limits are for players.
fn check_world(registry: &Registry, world: &OperatedWorld) -> Result<(), String> {
    let checked = registry.check(world.game(), world.parameters());
    checked.map_err(|problem| problem.to_string())
}

pub(crate) fn data_dir_or_default(given: Option<PathBuf>) -> PathBuf {
    let from_variable =
        |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    given.unwrap_or_else(|| {
        from_variable("XDG_DATA_HOME")
            .or_else(|| from_variable("HOME").map(|home| home.join(".local/share")))
            .map_or_else(|| PathBuf::from("ambit-data"), |base| base.join("ambit"))
    })
}

/// The store in the server's directory.
pub(crate) fn store_in(data_dir: &Path) -> StorePlace {
    StorePlace::File(data_dir.join("ambit.db"))
}

/// The keys of the configuration file.
type FileKeys = BTreeSet<String>;

/// Where a setting was made, in words; `None` if it has its default.
fn origin(matches: &ArgMatches, from_file: &FileKeys, flag: &str) -> Option<String> {
    let id = flag.replace('-', "_");
    match matches.value_source(&id) {
        Some(ValueSource::CommandLine) => Some(format!("`--{flag}`")),
        Some(ValueSource::EnvVariable) => {
            Some(format!("the environment variable `AMBIT_{}`", id.to_uppercase()))
        }
        _ => {
            from_file.contains(flag).then(|| format!("the key `{flag}` of the configuration file"))
        }
    }
}

/// Why a configuration is invalid.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// An error in the command line or in the environment; or a request for help or the version,
    /// which is not an error.
    #[error("{}", first_lines(.0))]
    Arguments(Box<clap::Error>),
    /// An error in the configuration file.
    #[error("{path}: {problem}")]
    File {
        path: String,
        /// What is wrong, and what is allowed.
        problem: String,
    },
    /// Settings that do not go together: what is wrong, and what to do.
    #[error("{0}")]
    Conflict(String),
}

/// Written by hand, so that clap's text is not repeated as the cause.
impl From<clap::Error> for ConfigError {
    fn from(error: clap::Error) -> Self {
        Self::Arguments(Box::new(error))
    }
}

/// clap's message without the usage text.
fn first_lines(error: &clap::Error) -> String {
    let text = error.to_string();
    let message_lines = text
        .lines()
        .take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"));
    let words: Vec<&str> = message_lines.flat_map(str::split_whitespace).collect();
    words.join(" ").trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests;
