//! The whole WorldServer: one endpoint, the lobby, the hosts and HTTP, from the configuration to
//! the drain.
//!
//! quinn, axum, and the tasks of sessions and hosts run on a multi-thread tokio runtime. The actors
//! run on arbiter threads beside it: one for the lobby, and one for each core for the rooms of an
//! embedded host. So no room can delay the lobby.

#![warn(missing_docs, reason = "authors of games start the server with it")]

mod components;
mod connection_router;
mod hosts_start;
mod lobby_start;

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use actix::System;
use ambit_host::logging::start_logging;
use ambit_host::process::{Hangup, Hangups, USAGE_EXIT_STATUS, multi_thread_runtime};
use ambit_host::replay;
use ambit_room::logic::registry::Registry;
use ambit_transport::quic::Fingerprint;
use anyhow::{Context as _, bail};
use clap::error::ErrorKind;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use self::components::ServerComponents;
use crate::accounts::command;
use crate::admin::operators::command as admin_command;
use crate::admin::{page_code, replay_page};
use crate::config::{Config, ConfigError, HostingMode};
use crate::hosts::process;

/// A running server.
///
/// Dropping it leaves it running; [`Server::shutdown`] and [`Server::wait`] end it.
#[derive(Debug)]
pub struct Server {
    addresses: Addresses,
    stop: CancellationToken,
    ended: Receiver<anyhow::Result<()>>,
}

/// The addresses of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addresses {
    /// The address for players.
    pub world: SocketAddr,
    /// For hosts and other servers; `None` if they use the address for players.
    pub peers: Option<SocketAddr>,
    /// For operators, and for browsers of players on this machine; `None` if HTTP is off.
    pub http: Option<SocketAddr>,
    /// For browsers of players, with TLS; `None` without `--https`.
    pub https: Option<SocketAddr>,
    /// Where players reach this machine, if that was configured.
    advertised: Option<IpAddr>,
    /// The fingerprint of its certificate.
    pub fingerprint: Fingerprint,
    hosts: HostingMode,
}

impl std::fmt::Display for Addresses {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "world={} http=", self.world)?;
        match self.http {
            Some(address) => write!(f, "{address}")?,
            None => f.write_str("off")?,
        }
        if let Some(https) = self.https {
            write!(f, " https={https}")?;
        }
        if let Some(peers) = self.peers {
            write!(f, " peers={peers}")?;
        }
        write!(f, " hosts={} certificate=sha256:{}", self.hosts, self.fingerprint)?;
        match self.page() {
            Some(page) => write!(f, " page={page}"),
            None => Ok(()),
        }
    }
}

impl Addresses {
    /// The address of the page for players on other machines.
    pub(crate) fn page_with_tls(&self) -> Option<String> {
        self.https.and_then(|_| self.page())
    }

    /// The address of the page for players: with TLS if there is `--https`. Without it browsers
    /// take it from this machine alone.
    fn page(&self) -> Option<String> {
        let (scheme, mut address) = match (self.https, self.http) {
            (Some(https), _) => ("https", https),
            (None, http) => ("http", http?),
        };
        if address.ip().is_unspecified() {
            let known = self.advertised.filter(|_| scheme == "https");
            address.set_ip(known.unwrap_or(Ipv4Addr::LOCALHOST.into()));
        }
        Some(format!("{scheme}://{address}/"))
    }
}

impl Server {
    /// Starts a server with the games of `registry` on threads of its own, and waits until it is
    /// ready.
    pub fn start(config: Config, registry: Registry) -> anyhow::Result<Self> {
        Self::spawn(config, registry, false)?.context("the server ended before it was ready")
    }

    /// The addresses of the server.
    pub fn addresses(&self) -> Addresses {
        self.addresses
    }

    /// Begins a graceful shutdown: no new connections and rooms, players are notified. Returns at
    /// once.
    pub fn begin_shutdown(&self) {
        self.stop.cancel();
    }

    /// Shuts down as after a SIGTERM, and waits for the end; at most 5 s.
    pub fn shutdown(self) -> anyhow::Result<()> {
        self.begin_shutdown();
        self.wait()
    }

    /// Waits until the server has ended.
    pub fn wait(self) -> anyhow::Result<()> {
        self.ended.recv().context("the server's main task panicked")?
    }

    /// Returns `None` if a signal ended the server before it was ready.
    fn spawn(config: Config, registry: Registry, signals: bool) -> anyhow::Result<Option<Self>> {
        let stop = CancellationToken::new();
        let (ready, started) = sync_channel(1);
        let (done, ended) = sync_channel(1);
        let stopping = stop.clone();
        std::thread::Builder::new().name("ambit-server".into()).spawn(move || {
            let system = System::with_tokio_rt(multi_thread_runtime);
            let result = system.block_on(serve(config, registry, stopping, signals, ready));
            let _ = done.send(result);
            // A room that never returns from a tick blocks its thread; this thread is not
            // joined either.
            System::current().stop();
            let _ = system.run();
        })?;
        match started.recv() {
            Ok(addresses) => Ok(Some(Self { addresses, stop, ended })),
            Err(_) => ended.recv().context("the server's main task panicked")?.map(|()| None),
        }
    }
}

/// Something else that a program can do: its first argument is the name.
pub struct Subcommand {
    /// The first argument.
    pub name: &'static str,
    /// For `--help`.
    pub about: &'static str,
    /// The whole program; of its arguments, the first is the program's name.
    pub run: Box<dyn Fn(Vec<OsString>) -> ExitCode>,
}

/// Runs the whole program with the games of `registry`: a server with games of your own is one line
/// around this function.
///
/// The hidden subcommand `game-server` turns the program into a host; `--hosts process:N` starts
/// its children with it. `replay` runs a recording again ([`ambit_host::replay`]).
pub fn run(registry: Registry) -> ExitCode {
    run_with(registry, &[])
}

/// As [`run`], with subcommands of the program's own.
pub fn run_with(registry: Registry, subcommands: &[Subcommand]) -> ExitCode {
    let mut arguments: Vec<OsString> = std::env::args_os().collect();
    let first = arguments.get(1);
    if first.is_some_and(|first| first == process::SUBCOMMAND) {
        arguments.remove(0);
        return ambit_host::process::run_with(registry, arguments);
    }
    if first.is_some_and(|first| first == replay::SUBCOMMAND) {
        return replay::run(&registry, arguments.drain(2..), Some(&replay_page::show));
    }
    if first.is_some_and(|first| first == admin_command::SUBCOMMAND) {
        return admin_command::run(arguments);
    }
    if first.is_some_and(|first| command::SUBCOMMANDS.iter().any(|known| first == known)) {
        return command::run(arguments);
    }
    let subcommand =
        subcommands.iter().find(|known| first.is_some_and(|first| first == known.name));
    if let Some(Subcommand { run, .. }) = subcommand {
        arguments.remove(0);
        return run(arguments);
    }
    let config = match Config::from_arguments(arguments) {
        Ok(config) => config,
        Err(ConfigError::Arguments(help)) if !help.use_stderr() => {
            let _ = help.print();
            if help.kind() == ErrorKind::DisplayHelp && !subcommands.is_empty() {
                let mut text = "\nSubcommands, each with a --help of its own:\n".to_owned();
                for Subcommand { name, about, .. } in subcommands {
                    let _ = writeln!(text, "  {name:<8} {about}");
                }
                let _ = std::io::stdout().write_all(text.as_bytes());
            }
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            fail(&error.into());
            return ExitCode::from(USAGE_EXIT_STATUS);
        }
    };
    if let Err(problem) = config.check_games(&registry) {
        complain(&problem);
        return ExitCode::from(USAGE_EXIT_STATUS);
    }
    if let Err(problem) = start_logging(config.log_format) {
        complain(&problem);
        return ExitCode::from(USAGE_EXIT_STATUS);
    }
    let server = match Server::spawn(config, registry, true) {
        Ok(Some(server)) => server,
        Ok(None) => return ExitCode::SUCCESS,
        Err(error) => return fail(&error),
    };
    // A disk that is full, or a reader that is gone, ends no server.
    if let Err(error) = writeln!(std::io::stdout(), "ready {}", server.addresses()) {
        tracing::warn!(
            addresses = %server.addresses(),
            "the server is ready, and standard output does not take that: {error}"
        );
    }
    if std::io::stderr().is_terminal()
        && let Some(page) = server.addresses().page_with_tls()
        && let Some(code) = page_code::for_terminal(&page)
    {
        let _ = writeln!(std::io::stderr(), "{code}\nPlayers on other devices open {page}");
    }
    match server.wait() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error),
    }
}

fn fail(error: &anyhow::Error) -> ExitCode {
    complain(&format!("{error:#}"));
    ExitCode::FAILURE
}

/// Standard error may be closed or full: there is no other place to say it.
fn complain(problem: &str) {
    let _ = writeln!(std::io::stderr(), "world-server: {problem}");
}

/// Runs the server from the first socket to the last.
async fn serve(
    config: Config,
    registry: Registry,
    stop: CancellationToken,
    signals: bool,
    ready: SyncSender<Addresses>,
) -> anyhow::Result<()> {
    // Before anything else, so that no signal is lost.
    let mut signals = signals.then(ServerSignals::new).transpose()?;
    let mut parts = tokio::select! {
        parts = ServerComponents::start(&config, registry, &stop) => parts?,
        () = ServerSignals::until_end(signals.as_mut()) => return Ok(()),
    };
    let _ = ready.send(parts.addresses);
    loop {
        tokio::select! {
            () = stop.cancelled() => break,
            signal = ServerSignals::next(signals.as_mut()) => match signal {
                ServerSignal::Reload => parts.reload().await,
                ServerSignal::End => {
                    tracing::info!("signal received; the server shuts down");
                    break;
                }
            },
            error = parts.wait_for_failure() => return Err(error),
        }
    }
    tokio::select! {
        () = parts.drain() => Ok(()),
        () = ServerSignals::until_end(signals.as_mut()) => {
            bail!("second signal: the server ended before all players were notified")
        }
    }
}

/// What a signal asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ServerSignal {
    End,
    /// Read files again.
    Reload,
}

struct ServerSignals {
    interrupt: Signal,
    terminate: Signal,
    hangups: Hangups,
    /// Whether the terminal is closed: shells send another SIGHUP after that of the terminal, which
    /// is no second request.
    has_hung_up: bool,
}

impl ServerSignals {
    fn new() -> anyhow::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangups: Hangups::new()?,
            has_hung_up: false,
        })
    }

    async fn next(this: Option<&mut Self>) -> ServerSignal {
        let Some(Self { interrupt, terminate, hangups, has_hung_up }) = this else {
            return std::future::pending().await;
        };
        tokio::select! {
            _ = interrupt.recv() => ServerSignal::End,
            _ = terminate.recv() => ServerSignal::End,
            hangup = hangups.next(), if !*has_hung_up => match hangup {
                Hangup::Asked => ServerSignal::Reload,
                Hangup::TerminalClosed => {
                    *has_hung_up = true;
                    ServerSignal::End
                }
            },
        }
    }

    async fn until_end(mut this: Option<&mut Self>) {
        while Self::next(this.as_deref_mut()).await != ServerSignal::End {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ready_line_ends_with_the_address_of_the_page() {
        let check =
            |http: Option<&str>, https: Option<&str>, advertised: Option<&str>, page: &str| {
                let address = |text: &str| text.parse().expect("an address");
                let addresses = Addresses {
                    world: address("0.0.0.0:7777"),
                    peers: None,
                    http: http.map(address),
                    https: https.map(address),
                    advertised: advertised.map(|ip| ip.parse().expect("an IP address")),
                    fingerprint: Fingerprint([0; 32]),
                    hosts: HostingMode::Embedded,
                };
                let line = addresses.to_string();
                let (_, last) = line.rsplit_once(' ').expect("words");
                assert_eq!(last, page);
            };
        let no_page = format!("certificate=sha256:{}", "00".repeat(32));
        check(None, None, None, &no_page);
        let local = Some("127.0.0.1:7780");
        check(local, None, None, "page=http://127.0.0.1:7780/");
        let all = Some("0.0.0.0:7780");
        check(all, None, Some("192.0.2.1"), "page=http://127.0.0.1:7780/");
        let tls = Some("0.0.0.0:7443");
        check(local, tls, None, "page=https://127.0.0.1:7443/");
        check(local, tls, Some("192.0.2.1"), "page=https://192.0.2.1:7443/");
        check(None, Some("[2001:db8::1]:7443"), None, "page=https://[2001:db8::1]:7443/");
    }
}
