//! Command-line flags that the console and the bots share.
//!
//! Each flag is declared here once, with its environment variable, its default and its help.

use std::io;

use ambit_proto::pose::PoseCoding;
use ambit_transport::impair::Impairment;
use tracing_subscriber::filter::{ParseError, Targets};
use tracing_subscriber::prelude::*;

use ambit_client_core::client::config::InputRate;
use ambit_client_core::replica::jitter_buffer::RenderTiming;
use ambit_client_core::shell::ServerTrust;
use ambit_client_core::trust::{KnownHosts, TrustError};

const SERVER_HELP: &str = "The server, host:port.

Its certificate is stored at the first contact, as in ssh: in the file that AMBIT_KNOWN_HOSTS \
names, else in $XDG_CONFIG_HOME/ambit/known_hosts, else in ~/.config/ambit/known_hosts.";

/// An invalid environment; the text says what was expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct EnvironmentError(String);

/// The server and the network conditions.
#[derive(Clone, Debug, clap::Args)]
pub struct ConnectionFlags {
    /// The server, host:port; of a cluster several, with commas between them.
    #[arg(long, value_name = "ADDR", env = "AMBIT_SERVER", value_parser = address)]
    #[arg(default_value = "127.0.0.1:7777", long_help = SERVER_HELP)]
    pub server: String,

    /// Impair the client's own sockets, in both directions.
    ///
    /// For example loss=13,delay=50ms,jitter=20ms,duplicate=1,reorder=2,rate=256kbit,seed=7: loss,
    /// duplicate and reorder in per cent, delay in one direction. Every part may be left out.
    /// Further parts: burst=200ms, the mean length of the bursts in which loss occurs; tail=50ms,
    /// the mean of a further delay with a long tail; throttle=300ms, for how long the line stops
    /// now and then, to send all at once afterwards, and every=2s, the mean time between two stops;
    /// queue=100ms, the length of the queue before rate, which drops more the fuller it is.
    #[arg(long, value_name = "SPEC", env = "AMBIT_IMPAIR")]
    pub impair: Option<Impairment>,

    /// How often held keys are sent, per second: 20 or 60.
    ///
    /// A change of keys is sent at once in any case, and repeated until the server has confirmed
    /// it. 60 repeats it sooner on a path with much loss, for three times as many datagrams.
    #[arg(long, value_name = "20|60", env = "AMBIT_INPUT_HZ", default_value = "20")]
    pub input_hz: InputRate,

    /// How the host is asked to code poses: auto, plain, shared or fine.
    ///
    /// auto leaves it to the room. plain sends whole poses, which take several times the bytes;
    /// shared and fine send differences, fine with more prediction.
    #[arg(long, value_name = "CODING", env = "AMBIT_CODING")]
    #[arg(default_value_t = PoseCoding::Auto)]
    pub coding: PoseCoding,
}

/// How objects with poses are drawn.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct DrawingFlags {
    /// When a pose is shown: room, adaptive, interpolated or a delay like 100ms.
    ///
    /// 100ms: this long after it arrives over the fastest path, but not before its room time;
    /// interpolated is the same as 100ms. room: at its room time, with the local lag as the only
    /// buffer against jitter. adaptive: as early as possible while 99 % of the recent ones come in
    /// time.
    #[arg(long, value_name = "WHEN", env = "AMBIT_RENDER")]
    #[arg(default_value_t = RenderTiming::default())]
    pub render: RenderTiming,

    /// Predict the player's own avatar from its inputs, also in a game with physics. Avatars that
    /// are steered, or walk by commands, are always predicted.
    #[arg(long, env = "AMBIT_PREDICT", conflicts_with = "no_predict")]
    predict: bool,

    /// Show the player's own avatar as the others see it.
    #[arg(long, env = "AMBIT_NO_PREDICT")]
    no_predict: bool,
}

impl DrawingFlags {
    /// Whether the player's own avatar is predicted; `None` for the game's way.
    pub fn predict(&self) -> Option<bool> {
        match (self.predict, self.no_predict) {
            (false, false) => None,
            (predict, _) => Some(predict),
        }
    }
}

/// Trust on first use, with the user's known-hosts file.
pub fn trust() -> Result<ServerTrust, TrustError> {
    KnownHosts::for_user(|name| std::env::var_os(name)).map(ServerTrust::FirstUse)
}

/// Logs to standard error if `AMBIT_LOG` is set (`debug`, `ambit_client_core=trace`). An invalid
/// filter is a usage error, which says what is expected.
pub fn start_log() -> Result<(), EnvironmentError> {
    let Ok(text) = std::env::var("AMBIT_LOG") else {
        return Ok(());
    };
    let filter = log_filter(&text)?;
    let lines = tracing_subscriber::fmt::layer().with_writer(io::stderr);
    // Those would go to standard error as well, and panic if it is full or closed.
    let lines = lines.log_internal_errors(false);
    tracing_subscriber::registry().with(lines.with_filter(filter)).init();
    Ok(())
}

fn log_filter(text: &str) -> Result<Targets, EnvironmentError> {
    text.parse().map_err(|error: ParseError| {
        EnvironmentError(format!(
            "invalid value '{text}' of AMBIT_LOG: {error}; expected a filter of logs, such as \
             `debug` or `ambit_client_core=trace`"
        ))
    })
}

/// Checks the form of an address; whether the host exists shows when it is dialled.
fn address(text: &str) -> Result<String, String> {
    let is_one = |text: &str| {
        let parts = text.trim().rsplit_once(':');
        parts.is_some_and(|(host, port)| {
            !host.is_empty() && port.parse::<u16>().is_ok_and(|port| port != 0)
        })
    };
    if text.split(',').all(is_one) {
        Ok(text.to_owned())
    } else {
        Err("expected host:port, like 127.0.0.1:7777".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invalid_log_filter_is_reported() {
        assert!(log_filter("ambit_client_core=trace,debug").is_ok());
        let error = log_filter("x=y=z").unwrap_err().to_string();
        assert!(
            error.contains("AMBIT_LOG") && error.contains("x=y=z") && error.contains("`debug`"),
            "{error}"
        );
    }

    #[test]
    fn the_input_rate_is_20_or_60() {
        assert_eq!(("20".parse(), "60".parse()), (Ok(InputRate::Hz20), Ok(InputRate::Hz60)));
        for bad in ["", "30", "60 ", "x"] {
            assert!(bad.parse::<InputRate>().is_err(), "{bad}");
        }
    }

    #[test]
    fn an_address_has_a_host_and_a_port() {
        for good in ["127.0.0.1:7777", "[::1]:7777", "example.org:1"] {
            assert_eq!(address(good), Ok(good.to_owned()));
        }
        for bad in ["", "example.org", ":7777", "a:0", "a:70000", "a:b"] {
            assert!(address(bad).is_err(), "{bad}");
        }
    }
}
