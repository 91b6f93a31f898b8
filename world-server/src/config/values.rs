//! The types of settings, and how their values are read.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use ambit_host_protocol::HEARTBEAT_INTERVAL;
use ambit_lobby::AccountWays;

/// Maximum number of child processes.
const MAX_CHILDREN: u16 = 256;

/// Where rooms run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostingMode {
    Embedded,
    /// In child processes.
    Process {
        /// Minimum; not 0.
        min: u16,
        max: u16,
    },
    /// On hosts that connect by themselves; this server is one of several.
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
                        "`process:N` and `process:MIN..MAX` take 1 to {MAX_CHILDREN} children, and \
                         MIN is not above MAX"
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

/// Where rooms and sessions are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeepPlace {
    /// In files of this folder.
    Folder(PathBuf),
    /// In JetStream, where the directory of the cluster is.
    Nats,
}

impl FromStr for KeepPlace {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "" => Err("the name of a folder, or `nats`".to_owned()),
            "nats" => Ok(Self::Nats),
            folder => Ok(Self::Folder(folder.into())),
        }
    }
}

/// How players may prove who they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AllowedAccounts(pub AccountWays);

impl FromStr for AllowedAccounts {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut ways = AccountWays { guest: false, device: false, password: false, token: false };
        for way in text.split(',') {
            let allowed = match way.trim() {
                "guest" => &mut ways.guest,
                "device" => &mut ways.device,
                "password" => &mut ways.password,
                "token" => &mut ways.token,
                _ => return Err("one or several of `guest,device,password,token`".to_owned()),
            };
            *allowed = true;
        }
        Ok(Self(ways))
    }
}

impl fmt::Display for AllowedAccounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.names().collect::<Vec<_>>().join(","))
    }
}

/// The address for HTTP; `None` for `off`.
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

/// A name of a machine, in lower case and without a dot at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostName(String);

impl HostName {
    /// Whether it is a name that each machine has for itself.
    pub(crate) fn is_localhost(&self) -> bool {
        self.0 == "localhost"
    }
}

impl FromStr for HostName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let name = text.strip_suffix('.').unwrap_or(text);
        let may_be_in_a_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
        if name.is_empty() || !name.chars().all(may_be_in_a_name) {
            return Err("expected a name without a port, such as world-1 or play.example".into());
        }
        Ok(Self(name.to_ascii_lowercase()))
    }
}

/// Parses the address of a listener.
pub(super) fn parse_listen(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "expected IP:PORT, such as 127.0.0.1:7777 or [::]:7777".to_owned())
}

/// A time limit; `None` for `off`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeLimit(pub Option<Duration>);

impl FromStr for TimeLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "off" {
            Ok(Self(None))
        } else {
            parse_duration(text).map(|time| Self(Some(time)))
        }
    }
}

/// Parses a number with a unit: `500ms`, `30s`, `2m`, `1h`.
pub(super) fn parse_duration(text: &str) -> Result<Duration, String> {
    let time = parse_any_duration(text)?;
    if time > Duration::from_hours(24) {
        Err("expected a day at most".to_owned())
    } else {
        Ok(time)
    }
}

/// The same, also of days.
fn parse_any_duration(text: &str) -> Result<Duration, String> {
    let wrong = || "a number with a unit is expected: 500ms, 30s, 2m, 1h".to_owned();
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_lowercase());
    let number: f64 = digits.parse().map_err(|_| wrong())?;
    let unit_s = match &text[digits.len()..] {
        "ms" => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3_600.0,
        "d" => 86_400.0,
        _ => return Err(wrong()),
    };
    Duration::try_from_secs_f64(number * unit_s).map_err(|_| wrong())
}

/// Parses a time of up to ten years, or `off`.
pub(super) fn parse_long_limit(text: &str) -> Result<TimeLimit, String> {
    if text == "off" {
        return Ok(TimeLimit(None));
    }
    let time = parse_any_duration(text)
        .map_err(|_| "a number with a unit is expected, 12h or 30d, or off".to_owned())?;
    if time > Duration::from_hours(10 * 366 * 24) {
        return Err("expected ten years at most, or off".to_owned());
    }
    Ok(TimeLimit(Some(time)))
}

/// Parses a time of 10 ms to an hour.
pub(super) fn parse_sync_interval(text: &str) -> Result<Duration, String> {
    let interval = parse_duration(text)?;
    if (Duration::from_millis(10)..=Duration::from_hours(1)).contains(&interval) {
        Ok(interval)
    } else {
        Err("expected 10ms to 1h".to_owned())
    }
}

/// Parses a silence of at least four heartbeat intervals of a host.
pub(super) fn parse_silence(text: &str) -> Result<Duration, String> {
    let least = 4 * HEARTBEAT_INTERVAL;
    let silence = parse_duration(text)?;
    if silence < least {
        Err(format!("expected {} ms at least", least.as_millis()))
    } else {
        Ok(silence)
    }
}

/// A maximum that must not be 0.
pub(super) fn parse_limit(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(limit @ 1..) => Ok(limit),
        _ => Err("expected a whole number from 1 up; with 0, all of them would be refused".into()),
    }
}

/// Parses `nats://[USER:PASSWORD@]HOST[:PORT]`. The client library would take `htp:/x` for the host
/// `htp` and try to reach it for ever.
pub(super) fn parse_nats_url(text: &str) -> Result<String, String> {
    let address = text.split_once("://").map_or(text, |(_, rest)| rest);
    let address = address.strip_suffix('/').unwrap_or(address);
    let server = address.rsplit_once('@').map_or(address, |(_, host)| host);
    let after_host = server.rsplit_once(']').map_or(server, |(_, rest)| rest);
    let has_good_port = after_host
        .split_once(':')
        .is_none_or(|(_, port)| port.parse().is_ok_and(|port: u16| port > 0));
    let is_server = !server.contains(['/', '?', '#', ' ']) && has_good_port;
    let parsed = text.parse::<async_nats::ServerAddr>();
    if is_server && parsed.is_ok_and(|url| !url.host().is_empty()) {
        Ok(text.into())
    } else {
        Err("expected the URL of a NATS server, such as nats://192.0.2.11:4222".into())
    }
}

pub(super) fn parse_peer_address(text: &str) -> Result<String, String> {
    match text.parse() {
        Ok(ambit_host::cli::WorldAddress::Addresses(addresses)) if addresses.len() == 1 => {
            Ok(text.into())
        }
        _ => Err("an address such as 192.0.2.7:7777 or world-1:7777 is expected".into()),
    }
}

pub(super) fn parse_host_key(text: &str) -> Result<String, String> {
    if text.len() < 16 {
        Err("expected 16 characters at least: a host with this key gets the players".into())
    } else {
        Ok(text.into())
    }
}
