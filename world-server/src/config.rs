//! The WorldServer's knobs.
//!
//! Each is declared once, here: name, type, default, unit, what raising it costs. From this entry
//! come the flag, the `AMBIT_...` variable, the key in the TOML file and `--help`. A flag goes
//! before a variable, a variable before the file, the file before the default.

mod file;

use std::ffi::OsString;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use ambit_game_server::cli::Advertise;
use ambit_proto::host::HEARTBEAT_INTERVAL;
use clap::{CommandFactory as _, FromArgMatches as _, Parser};

use crate::lobby::{ChildPoolConfig, LobbyConfig, PlacementPolicy};

/// An MMO-style game server: lobby, rooms, chat, and the hosts that run the rooms.
#[derive(Parser, Clone, Debug)]
#[command(name = "world-server", version, max_term_width = 110, after_help = AFTER_HELP)]
pub struct Config {
    /// Where players connect (UDP, QUIC). StatusPort 0 takes a free one.
    #[arg(
        long,
        value_name = "ADDR",
        env = "AMBIT_LISTEN",
        default_value = "127.0.0.1:7777"
    )]
    pub listen: SocketAddr,

    /// Where `/healthz`, `/metrics` and a page for people are served (TCP, HTTP), or `off`. Not for
    /// the public.
    #[arg(
        long,
        value_name = "ADDR|off",
        env = "AMBIT_HTTP",
        default_value = "127.0.0.1:7780"
    )]
    pub http: HttpListen,

    /// Where rooms run: `embedded` (in this process), `process:N` (in N children; one that dies is
    /// replaced, and its rooms go on at the others), `process:MIN..MAX` (in as many as the rooms
    /// need) or `cluster` (in hosts that come by themselves; this server is one of several, which
    /// share all they know by way of --nats).
    #[arg(
        long,
        value_name = "WHERE",
        env = "AMBIT_HOSTS",
        default_value = "embedded"
    )]
    pub hosts: HostingMode,

    /// Rooms at most in each host. More cost memory at once and late ticks when all are busy.
    #[arg(long, value_name = "ROOMS", env = "AMBIT_HOST_CAPACITY", default_value_t = 64,
          value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub host_capacity: u32,

    /// Which host gets the next room: `measured` (the one that has the least to carry, by what its
    /// rooms and players are known to cost and by what it reports), `least-loaded` (by what they
    /// are known to cost alone) or `zones` (each map of a world has a home, and the maps are spread
    /// over all hosts evenly; as `measured` where the home is full).
    #[arg(long, value_name = "POLICY", env = "AMBIT_PLACEMENT", default_value_t)]
    pub placement: PlacementPolicy,

    /// Of `process:MIN..MAX`: idle children that are kept ready beside those with rooms, so that a
    /// room that needs one does not wait. Each costs about 15 MB.
    #[arg(long, value_name = "COUNT", env = "AMBIT_SPARE_HOSTS", default_value_t = ChildPoolConfig::default().spares)]
    pub spare_hosts: u32,

    /// Of a `cluster`: the NATS servers that keep the directory (JetStream, 2.9 or newer), with
    /// commas between them. With three or more everything is kept three times.
    #[arg(
        long,
        value_name = "URL[,URL]",
        env = "AMBIT_NATS",
        value_delimiter = ','
    )]
    pub nats: Vec<String>,

    /// Of a `cluster`: where the other servers and the hosts find this one, when that is not where
    /// players do: HOST:PORT.
    #[arg(long, value_name = "ADDR", env = "AMBIT_PEER_ADDRESS", value_parser = parse_peer_address)]
    pub peer_address: Option<String>,

    /// How long a host may be silent before it counts as hung: its rooms go on elsewhere, and a
    /// child is killed. Hosts are heard every 250 ms; what is not much longer takes a busy machine
    /// for a hung one.
    #[arg(long, value_name = "TIME", env = "AMBIT_HOST_SILENCE", default_value = "2s", value_parser = parse_silence)]
    pub host_silence: Duration,

    /// Lets hosts on other machines come by themselves (`game-server --world`) when they show this
    /// key, of 16 characters at least. Without it none is let in. The servers of a cluster show it
    /// to each other as well. Secret: rather set the environment variable.
    #[arg(long, value_name = "KEY", env = "AMBIT_HOST_KEY", hide_env_values = true, value_parser = parse_host_key)]
    pub host_key: Option<String>,

    /// Where players are told to connect for a game, when that is not the listen address: IP, or
    /// IP:PORT. Children listen on ports of their own, so that only the IP counts for them. In a
    /// cluster it is also where players find this server when another one is gone.
    #[arg(long, value_name = "IP[:PORT]", env = "AMBIT_ADVERTISE")]
    pub advertise: Option<Advertise>,

    /// Directory of what the server keeps: its certificate and key, made on the first run. By
    /// default `$XDG_DATA_HOME/ambit` or `~/.local/share/ambit`.
    #[arg(long, value_name = "DIR", env = "AMBIT_DATA_DIR")]
    pub data_dir: Option<PathBuf>,

    /// Certificate chain to show, instead of one of the server's own.
    #[arg(long, value_name = "PEM", env = "AMBIT_CERT")]
    pub cert: Option<PathBuf>,

    /// Private key of `--cert`.
    #[arg(long, value_name = "PEM", env = "AMBIT_KEY")]
    pub key: Option<PathBuf>,

    /// Lobby connections at most. Each costs about 40 KB.
    #[arg(long, value_name = "COUNT", env = "AMBIT_MAX_CONNECTIONS", default_value_t = LobbyConfig::default().max_connections)]
    pub max_connections: usize,

    /// Lobby connections at most from one IPv4 address or one IPv6 /64 network. Raising it lets one
    /// address keep others out.
    #[arg(long, value_name = "COUNT", env = "AMBIT_MAX_CONNECTIONS_PER_ADDRESS",
          default_value_t = LobbyConfig::default().max_per_address)]
    pub max_connections_per_address: usize,

    /// Rooms in the lobby at most, whether they run or not.
    #[arg(long, value_name = "ROOMS", env = "AMBIT_MAX_ROOMS", default_value_t = LobbyConfig::default().max_rooms)]
    pub max_rooms: usize,

    /// How long the seat and the avatar of a player whose connection broke are kept (`30s`,
    /// `500ms`, `2m`).
    #[arg(long, value_name = "TIME", env = "AMBIT_GRACE", default_value = "30s", value_parser = parse_duration)]
    pub grace: Duration,

    /// How long a player in no room may stay without a request, or `off`.
    #[arg(
        long,
        value_name = "TIME|off",
        env = "AMBIT_IDLE",
        default_value = "10m"
    )]
    pub idle: IdleTimeout,

    /// Writes the ground truth of each room to DIR/room-ID.jsonl: who is where at each tick.
    #[arg(long, value_name = "DIR", env = "AMBIT_TRACE")]
    pub trace: Option<PathBuf>,

    /// WrittenRecords the inputs of each room to DIR/room-ID.rec, for a replay.
    #[arg(long, value_name = "DIR", env = "AMBIT_RECORD")]
    pub record: Option<PathBuf>,

    /// Reads values from a TOML file; its keys are the flags without the dashes in front:
    /// `max-rooms = 100`.
    #[arg(long, value_name = "FILE", env = "AMBIT_CONFIG")]
    pub config: Option<PathBuf>,
}

const AFTER_HELP: &str = "Each flag can be given as the environment variable in brackets, or in the file of --config: a flag \
                     goes before a variable, a variable before the file. When the server is ready it prints one line to \
                     standard output that begins with `ready`. Logs go to standard error; AMBIT_LOG (or RUST_LOG) \
                     filters them: `info`, `debug`, `ambit_world_server=trace`. SIGTERM tells the players and ends the \
                     server.";

impl Config {
    /// Reads the command line (the first argument is the program's name), the environment and the
    /// file that they name.
    pub fn from_arguments<A: Into<OsString>>(
        arguments: impl IntoIterator<Item = A>,
    ) -> Result<Self, ConfigError> {
        let arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
        let mut command = Self::command();
        if let Some(path) = file::find_path(&command, &arguments) {
            command = file::apply_file(command, &path)?;
        }
        let matches = command.try_get_matches_from(arguments)?;
        Ok(Self::from_arg_matches(&matches)?)
    }

    /// What the lobby is set up with.
    pub fn lobby(&self, epoch_unix: Duration) -> LobbyConfig {
        LobbyConfig {
            epoch_unix,
            grace: self.grace,
            idle: self.idle.0,
            host_silence: self.host_silence,
            directory: self.hosts == HostingMode::Cluster,
            children: self.children(),
            placement: self.placement,
            max_connections: self.max_connections,
            max_per_address: self.max_connections_per_address,
            max_rooms: self.max_rooms,
            ..LobbyConfig::default()
        }
    }

    /// The children that the server keeps.
    pub fn children(&self) -> ChildPoolConfig {
        let (min, max) = match self.hosts {
            HostingMode::Embedded | HostingMode::Cluster => (0, 0),
            HostingMode::Process { min, max } => (min.into(), max.into()),
        };
        ChildPoolConfig {
            min,
            max,
            spares: self.spare_hosts,
            ..ChildPoolConfig::default()
        }
    }

    /// The directory of what the server keeps.
    pub fn data_dir(&self) -> PathBuf {
        let from_variable = |name: &str| {
            std::env::var_os(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        self.data_dir.clone().unwrap_or_else(|| {
            from_variable("XDG_DATA_HOME")
                .or_else(|| from_variable("HOME").map(|home| home.join(".local/share")))
                .map_or_else(|| PathBuf::from("ambit-data"), |base| base.join("ambit"))
        })
    }
}

/// The configuration can't be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// Of the command line or of the environment; or a request for help or the version, which is no
    /// error.
    #[error("{}", first_lines(.0))]
    Arguments(Box<clap::Error>),
    /// Of the file.
    #[error("{path}: {problem}")]
    File {
        /// Which file.
        path: String,
        /// What is wrong, and what is allowed.
        problem: String,
    },
}

/// By hand, so that clap's own text is not told again as the cause.
impl From<clap::Error> for ConfigError {
    fn from(error: clap::Error) -> Self {
        Self::Arguments(Box::new(error))
    }
}

/// The message of clap without its usage.
fn first_lines(error: &clap::Error) -> String {
    let text = error.to_string();
    let told = text
        .lines()
        .take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"));
    let words: Vec<&str> = told.flat_map(str::split_whitespace).collect();
    words.join(" ").trim_start_matches("error: ").to_owned()
}

/// Children at most.
const MAX_CHILDREN: u16 = 256;

/// Where rooms run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostingMode {
    /// In this process.
    Embedded,
    /// In so many children.
    Process {
        /// At least; not 0.
        min: u16,
        /// At most.
        max: u16,
    },
    /// In hosts that come by themselves; this server is one of several.
    Cluster,
}

impl FromStr for HostingMode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "embedded" => Ok(Self::Embedded),
            None if text == "cluster" => Ok(Self::Cluster),
            Some(("process", count)) => {
                let (min, max) = count.split_once("..").unwrap_or((count, count));
                match (min.parse(), max.parse()) {
                    (Ok(min @ 1..), Ok(max @ ..=MAX_CHILDREN)) if min <= max => {
                        Ok(Self::Process { min, max })
                    }
                    _ => Err(format!(
                        "`process:N` and `process:MIN..MAX` take 1 to {MAX_CHILDREN} children"
                    )),
                }
            }
            _ => Err("either `embedded`, `process:N`, `process:MIN..MAX` or `cluster`".to_owned()),
        }
    }
}

impl fmt::Display for HostingMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Embedded => f.write_str("embedded"),
            Self::Cluster => f.write_str("cluster"),
            Self::Process { min, max } if min == max => write!(f, "process:{min}"),
            Self::Process { min, max } => write!(f, "process:{min}..{max}"),
        }
    }
}

/// Where HTTP is served, if it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HttpListen(pub Option<SocketAddr>);

impl FromStr for HttpListen {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "off" {
            return Ok(Self(None));
        }
        text.parse()
            .map(|address| Self(Some(address)))
            .map_err(|_| "either `off` or an address such as 127.0.0.1:7780".into())
    }
}

/// How long one may be idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdleTimeout(pub Option<Duration>);

impl FromStr for IdleTimeout {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "off" {
            Ok(Self(None))
        } else {
            parse_duration(text).map(|time| Self(Some(time)))
        }
    }
}

/// A number with a unit: `500ms`, `30s`, `2m`, `1h`.
fn parse_duration(text: &str) -> Result<Duration, String> {
    let wrong = || "a number with a unit is expected: 500ms, 30s, 2m, 1h".to_owned();
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_lowercase());
    let number: f64 = digits.parse().map_err(|_| wrong())?;
    let unit_s = match &text[digits.len()..] {
        "ms" => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3_600.0,
        _ => return Err(wrong()),
    };
    let time = Duration::try_from_secs_f64(number * unit_s).map_err(|_| wrong())?;
    if time > Duration::from_hours(24) {
        Err("a day at most".to_owned())
    } else {
        Ok(time)
    }
}

/// At least four times as long as hosts take between two signs of life.
fn parse_silence(text: &str) -> Result<Duration, String> {
    let least = 4 * HEARTBEAT_INTERVAL;
    let silence = parse_duration(text)?;
    if silence < least {
        Err(format!("{} ms at least", least.as_millis()))
    } else {
        Ok(silence)
    }
}

fn parse_peer_address(text: &str) -> Result<String, String> {
    match text.parse() {
        Ok(ambit_game_server::cli::World::Addresses(addresses)) if addresses.len() == 1 => {
            Ok(text.into())
        }
        _ => Err("an address such as 192.0.2.7:7777 or world-1:7777 is expected".into()),
    }
}

fn parse_host_key(text: &str) -> Result<String, String> {
    if text.len() < 16 {
        Err("16 characters at least: whoever guesses it gets the players".into())
    } else {
        Ok(text.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Config::command().debug_assert();
    }

    #[test]
    fn every_knob_has_a_flag_a_variable_of_the_same_name_and_a_help_text() {
        for argument in Config::command().get_arguments() {
            let flag = argument.get_long().expect("a flag");
            let variable = format!("AMBIT_{}", flag.replace('-', "_").to_uppercase());
            assert_eq!(
                argument.get_env().and_then(|name| name.to_str()),
                Some(variable.as_str())
            );
            assert!(argument.get_help().is_some(), "{flag}");
        }
    }

    #[test]
    fn defaults_are_the_documented_ones() {
        let config = Config::from_arguments(["world-server"]).unwrap();
        assert_eq!(config.listen.to_string(), "127.0.0.1:7777");
        assert_eq!(
            config.http,
            HttpListen(Some("127.0.0.1:7780".parse().unwrap()))
        );
        assert_eq!(config.hosts, HostingMode::Embedded);
        assert_eq!(config.lobby(Duration::ZERO), LobbyConfig::default());
    }

    #[test]
    fn durations_have_a_unit() {
        assert_eq!(parse_duration("30s"), Ok(Duration::from_secs(30)));
        assert_eq!(parse_duration("1.5s"), Ok(Duration::from_millis(1_500)));
        assert_eq!(parse_duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(parse_duration("2m"), Ok(Duration::from_mins(2)));
        for text in ["", "30", "s", "-1s", "1e99s", "25h", "1 s", "nans", "ä"] {
            assert!(parse_duration(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn hosts_are_embedded_or_a_number_of_processes() {
        assert_eq!("embedded".parse(), Ok(HostingMode::Embedded));
        assert_eq!(
            "process:2".parse(),
            Ok(HostingMode::Process { min: 2, max: 2 })
        );
        assert_eq!(
            "process:2..5".parse(),
            Ok(HostingMode::Process { min: 2, max: 5 })
        );
        assert_eq!(
            HostingMode::Process { min: 2, max: 5 }.to_string(),
            "process:2..5"
        );
        assert_eq!(
            HostingMode::Process { min: 2, max: 2 }.to_string(),
            "process:2"
        );
        assert_eq!("cluster".parse(), Ok(HostingMode::Cluster));
        for text in [
            "",
            "process",
            "process:0",
            "process:257",
            "process:x",
            "process:3..2",
            "process:0..2",
            "process:2..",
            "thread:1",
        ] {
            assert!(text.parse::<HostingMode>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_bad_value_is_told_in_one_line_with_its_key() {
        let error = Config::from_arguments(["world-server", "--hosts", "many"])
            .unwrap_err()
            .to_string();
        assert_eq!(
            error,
            "invalid value 'many' for '--hosts <WHERE>': either `embedded`, `process:N`, `process:MIN..MAX` or `cluster`"
        );
    }
}
