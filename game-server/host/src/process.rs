//! The process `game-server`: for each of its cores an endpoint, a host and its link to the
//! WorldServer.
//!
//! As a child (`--world stdio`) it ends when standard input does, so it never outlives its parent.
//! On its own (`--world ADDR`) it dials again whenever the link is lost, and has a second process
//! that reports its end (`process_watcher`). On SIGTERM, or SIGHUP from its terminal, it hands its
//! rooms over and ends. Another SIGHUP changes nothing: it has no files to read again.

use std::ffi::OsString;
use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use ambit_host_protocol::messages::HostMessage;
use ambit_transport::quic::{ALPN_GAME, ALPN_WEB, ResetSecret};
use anyhow::Context as _;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use nix::sys::resource::{Resource, setrlimit};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::agones::Agones;
use crate::build_name::build_name;
use crate::cli::{Advertise, MemoryLimit, Options, WorldAddress};
use crate::endpoint::{self, Listener};
use crate::host::HostConfig;
use crate::hosting_core::{HostingCore, HostingEnd, WorldConnection};
use crate::identity::ServerIdentity;
use crate::logging::start_logging;
use crate::process_part::ProcessPart;
use crate::process_watcher::{ProcessWatcher, run_if_watcher};
use crate::replay;
use crate::web_certificates::{self, WebCertificates};
use ambit_room::logic::registry::Registry;

/// The exit status for an invalid command line or variable.
pub const USAGE_EXIT_STATUS: u8 = 2;
/// How long the network's threads have for the last datagrams. No room ticks meanwhile.
const LAST_DATAGRAMS: Duration = Duration::from_millis(3);

/// The whole program, with the games of `registry`: a user's own server is one line around this.
pub fn run(registry: Registry) -> ExitCode {
    run_with(registry, std::env::args_os())
}

/// As [`run`], with the arguments (the first one is the program's name).
pub fn run_with(registry: Registry, arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    if let Some(status) = run_if_watcher() {
        return status;
    }
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    if arguments.get(1).is_some_and(|first| first == replay::SUBCOMMAND) {
        return replay::run(&registry, arguments.drain(2..), None);
    }
    let options = Options::from_arguments(arguments).unwrap_or_else(|error| error.exit());
    if let Err(problem) = start_logging(options.log_format) {
        complain(&problem);
        return ExitCode::from(USAGE_EXIT_STATUS);
    }
    if let Err(error) = limit_memory(options.memory) {
        complain(&format!("{error:#}"));
        return ExitCode::FAILURE;
    }
    match host_rooms(options, registry) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Standard error may be closed or full: there is no other place to say it.
fn complain(problem: &str) {
    let _ = writeln!(std::io::stderr(), "game-server: {problem}");
}

/// Limits what the process may reserve to write to (`RLIMIT_DATA`). An allocation beyond it fails,
/// which ends the process; so the other processes keep their memory.
fn limit_memory(limit: MemoryLimit) -> anyhow::Result<()> {
    let Some(mib) = limit.0 else {
        return Ok(());
    };
    let bytes = u64::from(mib) << 20;
    setrlimit(Resource::RLIMIT_DATA, bytes, bytes)
        .with_context(|| format!("cannot limit the memory to {mib} MiB (`--memory`)"))
}

/// Runs the process's own tasks on a thread of their own, and waits for `main`.
///
/// A room that never returns from a tick holds its thread for ever; only the end of the process
/// ends it. So nothing waits for that thread after `main` has returned.
fn host_rooms(options: Options, registry: Registry) -> anyhow::Result<()> {
    let (done, result) = sync_channel(1);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    std::thread::Builder::new().name("ambit-host".into()).spawn(move || {
        let result = runtime.block_on(serve(options, registry));
        let _ = done.send(result);
    })?;
    result.recv().context("the host's main task panicked")?
}

/// The runtime of a WorldServer's network.
pub fn multi_thread_runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_name("ambit-net")
        .build()
        .expect("the system gives threads to a runtime")
}

async fn serve(options: Options, registry: Registry) -> anyhow::Result<()> {
    let stop = stop_at_signal(&options.world)?;
    let identity = ServerIdentity::generate()?;
    let certificates = Arc::new(WebCertificates::new(&identity)?);
    tokio::spawn(web_certificates::keep_renewed(Arc::clone(&certificates)));
    let listeners = listen(&options, &certificates)?;
    let needs_address = options.advertise.is_none();
    let mut agones = options.agones.then(|| Agones::start(needs_address)).transpose()?;
    let mut given = None;
    if let Some(agones) = agones.as_mut().filter(|_| needs_address) {
        tracing::info!(
            "waiting for the address that Agones gives to this server; --advertise sets it"
        );
        tokio::select! {
            address = agones.address() => given = Some(address),
            () = stop.cancelled() => return Ok(()),
        }
    }
    let parts = ProcessPart::several(listeners.len())?;
    let process = HostMessage::ProcessEnded(parts[0].process.to_vec());
    let world = WorldConnection::new(&options);
    let capacity = options.room_capacity();
    if options.cores.is_some_and(|cores| cores as usize > parts.len()) {
        tracing::warn!("{} cores are used, since `--capacity` has no more rooms", parts.len());
    }
    let build = options.build.clone().unwrap_or_else(|| build_name(&registry));
    let mut cores = Vec::new();
    for (number, (part, listener)) in (0..).zip(parts.into_iter().zip(listeners)) {
        let advertised = || Advertise::address(options.advertise_at(number), listener.local_addr());
        let config = HostConfig {
            address: given.unwrap_or_else(advertised).to_string(),
            fingerprint: identity.fingerprint(),
            web_certificates: Arc::clone(&certificates),
            capacity: part.share_of(capacity),
            label: part.label(),
            build: build.clone(),
            trace: options.trace.clone(),
            record: options.recordings.folder(),
            part,
        };
        tracing::info!(address = config.address, capacity = config.capacity, "hosting rooms");
        let (registry, world, stop) = (registry.clone(), world.clone(), stop.clone());
        cores.push(HostingCore::start(config, registry, listener, world, stop).await?);
    }
    if let (Some(agones), [core]) = (&agones, &cores[..]) {
        agones.report_load_of(core.host.clone());
    }
    let watcher = match &world {
        WorldConnection::Dial(worlds) => Some(ProcessWatcher::start(process, worlds)),
        WorldConnection::Pipes => None,
    };
    let ended = serve_all(cores, &stop).await;
    if let Some(watcher) = watcher {
        watcher.dismiss();
    }
    // A server that fails is restarted in place; Agones receives only a regular end.
    if let (Some(agones), Ok(_)) = (agones, &ended) {
        agones.shut_down().await;
    }
    if let Ok(HostingEnd::Vanish) = ended {
        // The clients get no message: the WorldServer sends them to other hosts. The last datagrams
        // leave before.
        tokio::time::sleep(LAST_DATAGRAMS).await;
        std::process::exit(0);
    }
    ended.map(drop)
}

/// A socket for each core.
fn listen(options: &Options, certificates: &Arc<WebCertificates>) -> anyhow::Result<Vec<Listener>> {
    // The certificate is new as well: its clients get tickets for other hosts.
    let resets = ResetSecret::random()?;
    let protocols = [ALPN_GAME, ALPN_WEB];
    let listen = |core| {
        let address = options.listen_at(core);
        endpoint::listen(address, certificates, &resets, &protocols).with_context(|| match core {
            0 => "`--listen`".to_owned(),
            core => format!("`--listen`, the port of core {} (see `--cores`)", core + 1),
        })
    };
    (0..options.core_count() as u16).map(listen).collect()
}

/// Serves the WorldServer with all cores until all have ended. If one fails, the others hand their
/// rooms over.
async fn serve_all(
    cores: Vec<HostingCore>,
    stop: &CancellationToken,
) -> anyhow::Result<HostingEnd> {
    let mut serving: FuturesUnordered<_> = cores.into_iter().map(HostingCore::serve).collect();
    let mut ended = Ok(HostingEnd::Close);
    while let Some(end) = serving.next().await {
        match end {
            Ok(HostingEnd::Close) => {}
            Ok(HostingEnd::Vanish) => ended = ended.map(|_| HostingEnd::Vanish),
            Err(error) => {
                stop.cancel();
                ended = ended.and(Err(error));
            }
        }
    }
    ended
}

/// Cancelled by SIGTERM, and by SIGINT and the end of the terminal unless this is a child: a
/// terminal sends these to children too, but the parent drains and ends them. A child that is
/// terminated alone hands its rooms over.
fn stop_at_signal(world: &WorldAddress) -> anyhow::Result<CancellationToken> {
    let (mut interrupt, mut terminate) =
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let mut hangups = Hangups::new()?;
    let stop = CancellationToken::new();
    let stopping = stop.clone();
    let is_child = *world == WorldAddress::Stdio;
    tokio::spawn(async move {
        tokio::select! {
            () = async { while interrupt.recv().await.is_some() && is_child {} } => {}
            () = async { while hangups.next().await == Hangup::Asked || is_child {} } => {}
            _ = terminate.recv() => {}
        }
        stopping.cancel();
    });
    Ok(stop)
}

/// SIGHUP: it comes when the terminal of a process is closed, and asks a process otherwise to read
/// its files again.
pub struct Hangups {
    signal: Option<Signal>,
    had_terminal: bool,
}

/// What a SIGHUP means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hangup {
    /// The process had a terminal, which is closed.
    TerminalClosed,
    /// Someone has sent it.
    Asked,
}

impl Hangups {
    /// To be called before one comes: until then it would end the process. A process that was
    /// started so that it ignores them (`nohup`) goes on to do so.
    pub fn new() -> std::io::Result<Self> {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let signal = (!ignores_hangups(&status)).then(|| signal(SignalKind::hangup()));
        Ok(Self { signal: signal.transpose()?, had_terminal: has_terminal() })
    }

    /// The next one; never, if they are ignored.
    pub async fn next(&mut self) -> Hangup {
        let next = match &mut self.signal {
            Some(signal) => signal.recv().await,
            None => None,
        };
        match next {
            Some(()) if self.had_terminal && !has_terminal() => Hangup::TerminalClosed,
            Some(()) => Hangup::Asked,
            None => std::future::pending().await,
        }
    }
}

/// A terminal that is closed is none any more.
fn has_terminal() -> bool {
    let [input, output] = [std::io::stdin().is_terminal(), std::io::stdout().is_terminal()];
    input || output || std::io::stderr().is_terminal()
}

/// Whether the process ignores SIGHUP, by what Linux says of it; elsewhere that is not known.
fn ignores_hangups(status: &str) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // Signal 1 is the lowest bit.
    mask.is_some_and(|mask| mask & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_linux_says_of_ignored_signals_is_read() {
        let status = "Name:\tgame-server\nSigBlk:\t0000000000000001\nSigIgn:\t";
        for (mask, is_ignored) in
            [("0000000000001000", false), ("0000000000001001", true), ("x", false), ("", false)]
        {
            assert_eq!(ignores_hangups(&format!("{status}{mask}\n")), is_ignored, "{mask}");
        }
        assert!(!ignores_hangups(""));
    }
}
