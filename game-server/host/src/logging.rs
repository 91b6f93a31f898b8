//! The log of a server's process.

use std::io::IsTerminal as _;
use std::sync::OnceLock;

use tracing_subscriber::filter::{ParseError, Targets};
use tracing_subscriber::prelude::*;
use tracing_subscriber::{Registry, reload};

/// The log filter, unless the environment sets another one. (`cluster` logs the events of the NATS
/// client itself.)
const DEFAULT_FILTER: &str = "info,async_nats=warn";

/// Of the process's log, once that has started.
static LOG_FILTER: OnceLock<reload::Handle<Targets, Registry>> = OnceLock::new();

/// How lines of the log look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// An object a line, with the fields of an event beside its time, level and target.
    Json,
}

/// Logs to standard error; `AMBIT_LOG` or `RUST_LOG` filters them. A second call changes nothing.
/// The error says which variable is invalid, and what is expected.
pub fn start_logging(format: LogFormat) -> Result<(), String> {
    let filter = ["AMBIT_LOG", "RUST_LOG"]
        .into_iter()
        .find_map(|name| Some((name, std::env::var(name).ok()?)));
    let filter = match filter {
        Some((name, text)) => parse_filter(name, &text)?,
        None => DEFAULT_FILTER.parse().expect("the default is a filter"),
    };
    let colours = std::io::stderr().is_terminal();
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(colours);
    // Those would go to standard error as well, and panic if it is full or closed.
    let lines = lines.log_internal_errors(false);
    let registry = tracing_subscriber::registry();
    let (filter, handle) = reload::Layer::new(filter);
    let started = match format {
        LogFormat::Text => registry.with(lines.with_filter(filter)).try_init(),
        LogFormat::Json => {
            let objects = lines.json().flatten_event(true).with_span_list(false);
            registry.with(objects.with_filter(filter)).try_init()
        }
    };
    if started.is_ok() {
        let _ = LOG_FILTER.set(handle);
    }
    Ok(())
}

/// Filters the log of [`start_logging`] by another text from now on. The error says what is
/// expected.
pub fn set_log_filter(text: &str) -> Result<(), String> {
    let filter = parse_filter("the log filter", text)?;
    let handle = LOG_FILTER.get().ok_or("another program has started the log")?;
    handle.reload(filter).map_err(|error| error.to_string())
}

/// `Targets` and not `EnvFilter`, whose filters of spans' fields are not needed here.
fn parse_filter(variable: &str, text: &str) -> Result<Targets, String> {
    text.parse().map_err(|error: ParseError| {
        format!(
            "invalid value '{text}' of {variable}: {error}; expected a filter of logs, such as \
             `info`, `debug` or `info,ambit_host=trace`"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invalid_log_filter_is_reported_with_its_variable() {
        for good in ["info", "off", "info,ambit_host=trace", "ambit_host"] {
            assert!(parse_filter("AMBIT_LOG", good).is_ok(), "{good}");
        }
        for bad in ["x=y=z", "ambit_host=loud", "info,,a=b=c"] {
            let problem = parse_filter("AMBIT_LOG", bad).unwrap_err();
            assert!(
                problem.contains("AMBIT_LOG") && problem.contains(bad) && problem.contains("info"),
                "{problem}"
            );
        }
    }
}
