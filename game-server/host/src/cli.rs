//! The command line of `game-server`, the process that hosts rooms.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use ambit_transport::quic::Fingerprint;
use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser};

use crate::identity::parse_fingerprint;
use crate::logging::LogFormat;
use crate::process_part::machine_cores;
use crate::record_bound::RecordBound;
use crate::record_folder::RecordFolder;

/// Rooms of a core by default: at 20 ticks a second it carries some dozens of busy ones.
const CAPACITY: u32 = 64;

/// Cores that a process can be told to use.
const MOST_CORES: i64 = 256;

/// Longest name of a build, in bytes.
const MAX_BUILD_BYTES: usize = 64;

/// Hosts rooms for a WorldServer.
#[derive(Parser, Clone, Debug)]
#[command(name = "game-server", version, max_term_width = 110, after_help = AFTER)]
pub struct Options {
    /// The WorldServer (HOST:PORT; of a cluster several, separated by commas), or `stdio` for a
    /// child that is connected to a WorldServer by pipes.
    #[arg(long, value_name = "ADDR[,ADDR]|stdio", env = "AMBIT_WORLD")]
    pub world: WorldAddress,

    /// Certificate of the WorldServer, as it prints it when it is ready (SHA-256); of several
    /// WorldServers all of them. Required with `--world ADDR`: the host obeys these servers and no
    /// other.
    #[arg(
        long,
        value_name = "SHA256[,SHA256]",
        env = "AMBIT_WORLD_CERT",
        value_parser = parse_fingerprint,
        value_delimiter = ','
    )]
    pub world_cert: Vec<Fingerprint>,

    /// The key that the WorldServer's `--host-key` names. Secret: rather set the environment
    /// variable.
    #[arg(long, value_name = "KEY", env = "AMBIT_HOST_KEY", hide_env_values = true)]
    pub host_key: Option<String>,

    /// Where players connect (UDP). Port 0 takes a free one for each core. Another port is that of
    /// the first core, and the others have the next ones.
    #[arg(long, value_name = "ADDR", env = "AMBIT_LISTEN", default_value = "127.0.0.1:0")]
    pub listen: SocketAddr,

    /// The address that players get, if it is not the listen address: IP, or IP:PORT. With several
    /// cores the port is that of the first one; the others have the next ones.
    #[arg(long, value_name = "IP[:PORT]", env = "AMBIT_ADVERTISE")]
    pub advertise: Option<Advertise>,

    /// Cores to host rooms on, 1 to 256. Each has threads, a port and rooms of its own, and is a
    /// host for the WorldServer. By default as many as the machine or the container's quota has;
    /// one with `--world stdio` and `--agones`, which have one port.
    #[arg(long, value_name = "N", env = "AMBIT_CORES",
          value_parser = clap::value_parser!(u32).range(1..=MOST_CORES),
          allow_negative_numbers = true)]
    pub cores: Option<u32>,

    /// Rooms at most, by default 64 for each core. The cores share them; with fewer rooms than
    /// cores, as many cores are used. More cost memory at once and late ticks when all are busy.
    #[arg(long, value_name = "ROOMS", env = "AMBIT_CAPACITY",
          value_parser = clap::value_parser!(u32).range(1..=65_536),
          allow_negative_numbers = true)]
    pub capacity: Option<u32>,

    /// Memory of this process, in MiB, or `off`. If it needs more it ends, and its rooms resume on
    /// other hosts. It counts what it reserves to write to, about 2 MiB for each room more than it
    /// uses.
    #[arg(
        long,
        value_name = "MIB|off",
        env = "AMBIT_MEMORY",
        default_value = "off",
        allow_hyphen_values = true
    )]
    pub memory: MemoryLimit,

    /// The name of this build of the games. Rooms move to the build that came last, as soon as
    /// their games allow it, and rooms of a lost host go on at hosts of the same build. By default
    /// it is made of the versions and schemas of the games.
    #[arg(long, value_name = "NAME", env = "AMBIT_BUILD", value_parser = parse_build)]
    pub build: Option<String>,

    /// Tells Agones of this host, by the sidecar at `localhost:$AGONES_SDK_HTTP_PORT` (9358): when
    /// it is ready, its health, its rooms and players (as counters), its end. Without --advertise,
    /// players get the address and port that Agones has given to it, and the host waits for them.
    #[arg(long, env = "AMBIT_AGONES", value_parser = clap::builder::BoolishValueParser::new())]
    pub agones: bool,

    /// Whether the log has lines for people, or an object a line for programs.
    #[arg(
        long,
        value_name = "text|json",
        env = "AMBIT_LOG_FORMAT",
        default_value = "text",
        hide_possible_values = true
    )]
    pub log_format: LogFormat,

    /// Writes the ground truth of each room to DIR/room-ID.jsonl.
    #[arg(long, value_name = "DIR", env = "AMBIT_TRACE")]
    pub trace: Option<PathBuf>,

    #[command(flatten)]
    pub recordings: RecordOptions,
}

/// Whether and where rooms are recorded; the same for hosts and for servers.
#[derive(clap::Args, Clone, Debug)]
pub struct RecordOptions {
    /// Records the inputs of each room to DIR/room-ID.rec, for a replay.
    #[arg(long, value_name = "DIR", env = "AMBIT_RECORD")]
    pub record: Option<PathBuf>,

    /// For `--record`: the most that the recordings of the folder take, in MB; 0 for no limit. The
    /// oldest are deleted for new ones. One that can't grow any more ends, and the log says so.
    #[arg(
        long,
        value_name = "MB",
        env = "AMBIT_RECORD_MB",
        default_value_t = 1_000,
        allow_negative_numbers = true
    )]
    pub record_mb: u32,

    /// For `--record`: older recordings are deleted when another one begins or grows; 0 for no
    /// limit.
    #[arg(
        long,
        value_name = "DAYS",
        env = "AMBIT_RECORD_DAYS",
        default_value_t = 7,
        allow_negative_numbers = true
    )]
    pub record_days: u32,
}

impl RecordOptions {
    /// Where recordings are made, if they are.
    pub fn folder(&self) -> Option<RecordFolder> {
        let bytes = (self.record_mb > 0).then(|| u64::from(self.record_mb) * 1_000_000);
        let age = (self.record_days > 0).then(|| Duration::from_hours(24) * self.record_days);
        let bound = RecordBound { bytes, age };
        self.record.clone().map(|directory| RecordFolder { directory, bound })
    }

    /// The flags that say the same to another process.
    pub fn arguments(&self) -> Vec<OsString> {
        let Some(directory) = &self.record else { return Vec::new() };
        vec![
            "--record".into(),
            directory.into(),
            "--record-mb".into(),
            self.record_mb.to_string().into(),
            "--record-days".into(),
            self.record_days.to_string().into(),
        ]
    }
}

impl Options {
    /// Reads the command line (the first argument is the program's name) and the environment. The
    /// error may also be a request for help or the version.
    pub fn from_arguments<A: Into<OsString> + Clone>(
        arguments: impl IntoIterator<Item = A>,
    ) -> Result<Self, clap::Error> {
        let options = Self::try_parse_from(arguments)?;
        options.check_cores()?;
        match &options.world {
            WorldAddress::Addresses(addresses) if options.world_cert.is_empty() => {
                let message = format!(
                    "`--world {}` needs `--world-cert`: the SHA-256 that the WorldServer prints \
                     when it is ready, so that the host obeys no other server",
                    addresses.join(",")
                );
                Err(Self::command().error(ErrorKind::MissingRequiredArgument, message))
            }
            _ => Ok(options),
        }
    }

    /// One port is there for one core, and ports end at 65535.
    fn check_cores(&self) -> Result<(), clap::Error> {
        let conflict =
            |message: String| Self::command().error(ErrorKind::ArgumentConflict, message);
        match self.cores {
            Some(cores @ 2..) if self.world == WorldAddress::Stdio => Err(conflict(format!(
                "`--cores {cores}` is for hosts that connect to a WorldServer by its address; a \
                 child has one port: `world-server --hosts process:{cores}` starts {cores} children"
            ))),
            Some(cores @ 2..) if self.agones => Err(conflict(format!(
                "`--cores {cores}` needs {cores} ports, and Agones gives a game server one: leave \
                 `--cores` out, and let the fleet have more replicas"
            ))),
            _ => {
                let last = |port: u16| u32::from(port) + self.core_count() - 1;
                let ports =
                    [self.listen.port(), self.advertise.and_then(|to| to.port).unwrap_or(0)];
                match ports.into_iter().find(|port| *port > 0 && last(*port) > 65_535) {
                    Some(port) => Err(conflict(format!(
                        "{} cores need as many ports, and from {port} on there are {}: choose a \
                         lower port, or fewer `--cores`",
                        self.core_count(),
                        65_536 - u32::from(port)
                    ))),
                    None => Ok(()),
                }
            }
        }
    }

    /// How many hosts this process is.
    pub(crate) fn core_count(&self) -> u32 {
        let has_one_port = self.world == WorldAddress::Stdio || self.agones;
        let wanted = self.cores.unwrap_or_else(|| {
            if has_one_port { 1 } else { (machine_cores() as u32).min(MOST_CORES as u32) }
        });
        // Each takes a room at least.
        self.capacity.map_or(wanted, |capacity| wanted.min(capacity))
    }

    /// Rooms at most, of all cores together.
    pub(crate) fn room_capacity(&self) -> u32 {
        self.capacity.unwrap_or(CAPACITY * self.core_count())
    }

    /// Where the players of this core connect, from 0.
    pub(crate) fn listen_at(&self, core: u16) -> SocketAddr {
        SocketAddr::new(self.listen.ip(), port_of_core(self.listen.port(), core))
    }

    /// The address that players of this core get, if it is not the one on which it listens.
    pub(crate) fn advertise_at(&self, core: u16) -> Option<Advertise> {
        let port = |port| port_of_core(port, core);
        self.advertise.map(|to| Advertise { port: to.port.map(port), ..to })
    }
}

/// The ports of cores follow each other, unless the system chooses them.
fn port_of_core(first: u16, core: u16) -> u16 {
    if first == 0 { 0 } else { first + core }
}

/// A limit of memory in MiB; `None` for `off`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryLimit(pub Option<u32>);

/// A host without rooms needs less.
const LEAST_MEMORY_MIB: u32 = 128;

impl std::str::FromStr for MemoryLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "off" {
            return Ok(Self(None));
        }
        match text.parse() {
            Ok(mib @ LEAST_MEMORY_MIB..) => Ok(Self(Some(mib))),
            _ => Err(format!("either `off`, or MiB from {LEAST_MEMORY_MIB} up")),
        }
    }
}

/// The name of a build, as the command lines of hosts and servers take it.
pub fn parse_build(text: &str) -> Result<String, String> {
    if text.is_empty() || text.len() > MAX_BUILD_BYTES || text.chars().any(char::is_control) {
        return Err(format!("a name of 1 to {MAX_BUILD_BYTES} bytes, without control characters"));
    }
    Ok(text.to_owned())
}

const AFTER: &str = "`game-server replay FILE` runs a recording (`--record`) again; `game-server \
                     replay --help` says more.\n\nLogs go to standard error; AMBIT_LOG (or \
                     RUST_LOG) filters them: `info`, `debug`, `ambit_host=trace`.";

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorldAddress {
    /// At the other ends of standard input and output.
    Stdio,
    /// At one of these (HOST:PORT, QUIC).
    Addresses(Vec<String>),
}

impl std::str::FromStr for WorldAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "stdio" {
            return Ok(Self::Stdio);
        }
        let addresses: Vec<String> =
            text.split(',').map(|address| address.trim().to_owned()).collect();
        match addresses.iter().find(|address| !names_a_port(address)) {
            None => Ok(Self::Addresses(addresses)),
            Some(wrong) => Err(format!(
                "`{wrong}` is neither `stdio` nor an address with a port such as 192.0.2.7:7777 \
                 or world-1:7777"
            )),
        }
    }
}

/// HOST:PORT; an IPv6 address stands in brackets.
fn names_a_port(address: &str) -> bool {
    let named = |(host, port): (&str, &str)| {
        !host.is_empty() && !host.contains(':') && port.parse().is_ok_and(|port: u16| port > 0)
    };
    match address.parse::<SocketAddr>() {
        Ok(address) => address.port() > 0,
        Err(_) => address.rsplit_once(':').is_some_and(named),
    }
}

/// An address for players.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Advertise {
    pub ip: std::net::IpAddr,
    /// The port, when it is another than the one that the server listens on.
    pub port: Option<u16>,
}

impl Advertise {
    /// The address for players of a server that listens on `listening`.
    pub fn address(this: Option<Self>, listening: SocketAddr) -> SocketAddr {
        this.map_or(listening, |this| {
            SocketAddr::new(this.ip, this.port.unwrap_or(listening.port()))
        })
    }
}

impl std::str::FromStr for Advertise {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(ip) = text.parse() {
            return Ok(Self { ip, port: None });
        }
        let address: SocketAddr =
            text.parse().map_err(|_| "not an IP address, with or without :PORT".to_owned())?;
        if address.port() == 0 {
            return Err("no player can connect to port 0: leave it out, or name another".to_owned());
        }
        Ok(Self { ip: address.ip(), port: Some(address.port()) })
    }
}

impl std::fmt::Display for Advertise {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.port {
            None => self.ip.fmt(f),
            Some(port) => SocketAddr::new(self.ip, port).fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Options::command().debug_assert();
    }

    #[test]
    fn a_memory_limit_leaves_space_for_a_host() {
        assert_eq!("off".parse(), Ok(MemoryLimit(None)));
        assert_eq!("128".parse(), Ok(MemoryLimit(Some(128))));
        for text in ["", "127", "-1", "1g", "none"] {
            assert!(text.parse::<MemoryLimit>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn cores_have_ports_that_follow_each_other_and_share_the_rooms() {
        let parse = |flags: &str| {
            let flags = format!("game-server --world a:1 --world-cert {} {flags}", "0".repeat(64));
            Options::from_arguments(flags.split_whitespace())
        };
        let options = parse("--cores 3 --listen 0.0.0.0:7800 --advertise 192.0.2.1:9").unwrap();
        let advertised = options.advertise_at(2).expect("it is given").to_string();
        assert_eq!((options.listen_at(2).port(), &advertised[..]), (7_802, "192.0.2.1:11"));
        assert_eq!((options.core_count(), options.room_capacity()), (3, 192));
        let few = parse("--cores 3 --capacity 2").unwrap();
        assert_eq!((few.core_count(), few.room_capacity(), few.listen_at(1).port()), (2, 2, 0));
        let error = parse("--cores 3 --listen 0.0.0.0:65534").unwrap_err().to_string();
        assert!(error.contains("there are 2"), "{error}");
        let all = parse("").unwrap().core_count();
        assert_eq!(all as usize, machine_cores());
        assert_eq!(parse("--agones").unwrap().core_count(), 1);
        assert!(parse("--agones --cores 2").unwrap_err().to_string().contains("replicas"));
        let child = ["game-server", "--world", "stdio", "--cores", "2"];
        let error = Options::from_arguments(child).unwrap_err().to_string();
        assert!(error.contains("process:2"), "{error}");
    }

    #[test]
    fn an_advertised_address_takes_the_real_port_unless_it_names_one() {
        let listening: SocketAddr = "0.0.0.0:7777".parse().unwrap();
        let advertised =
            |text: &str| Advertise::address(Some(text.parse().unwrap()), listening).to_string();
        assert_eq!(advertised("192.0.2.1"), "192.0.2.1:7777");
        assert_eq!(advertised("192.0.2.1:9"), "192.0.2.1:9");
        assert_eq!(advertised("2001:db8::1"), "[2001:db8::1]:7777");
        assert_eq!(Advertise::address(None, listening), listening);
        for wrong in ["example", "192.0.2.1:0"] {
            assert!(wrong.parse::<Advertise>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_world_address_is_a_list_of_addresses_or_stdio() {
        assert_eq!("stdio".parse(), Ok(WorldAddress::Stdio));
        let addresses = |list: &[&str]| {
            Ok(WorldAddress::Addresses(list.iter().map(|&text| text.to_owned()).collect()))
        };
        assert_eq!("127.0.0.1:1".parse(), addresses(&["127.0.0.1:1"]));
        assert_eq!("world-1:7777, [::1]:7".parse(), addresses(&["world-1:7777", "[::1]:7"]));
        for wrong in ["here", ":1", "a:b", "::1", "a:1,b", "", "127.0.0.1:0", "[::1]:0", "a:0"] {
            assert!(wrong.parse::<WorldAddress>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn recordings_are_bounded_unless_a_bound_is_0() {
        let folder = |flags: &[&str]| {
            let flags = ["game-server", "--world", "stdio"].iter().chain(flags);
            Options::from_arguments(flags).expect("good flags").recordings.folder()
        };
        assert!(folder(&[]).is_none());
        let bound = |flags: &[&str]| {
            let flags = [&["--record", "here"], flags].concat();
            let folder = folder(&flags).expect("a folder");
            assert_eq!(folder.directory, PathBuf::from("here"));
            (folder.bound.bytes, folder.bound.age.map(|age| age.as_secs() / 3_600))
        };
        assert_eq!(bound(&[]), (Some(1_000_000_000), Some(7 * 24)));
        assert_eq!(
            bound(&["--record-mb", "20", "--record-days", "1"]),
            (Some(20_000_000), Some(24))
        );
        assert_eq!(bound(&["--record-mb", "0", "--record-days", "0"]), (None, None));
    }

    #[test]
    fn an_address_needs_the_certificate_of_its_server() {
        let parse = |world: &str| Options::from_arguments(["game-server", "--world", world]);
        assert!(parse("stdio").is_ok());
        let error = parse("127.0.0.1:1").unwrap_err();
        assert!(error.use_stderr() && error.exit_code() == 2);
        assert!(error.to_string().contains("`--world-cert`"), "{error}");
        let error = parse("127.0.0.1:0").unwrap_err().to_string();
        assert!(error.contains("--world") && error.contains("with a port"), "{error}");
    }
}
