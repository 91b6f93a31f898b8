//! The process `game-server`: an endpoint, a host and its link to the WorldServer.
//!
//! As a child (`--world stdio`) it ends when standard input does: so it never outlives its parent. On its own
//! (`--world ADDR`) it dials again whenever the link is lost. SIGTERM hands its rooms over, and ends it.

use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::net::SocketAddr;
use std::os::fd::AsFd as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use ambit_proto::codes::ErrorCode;
use ambit_proto::quic::{self, ALPN_GAME, ALPN_HOST, Fingerprint, FingerprintVerifier, Shown};
use anyhow::{Context as _, bail};
use clap::Parser as _;
use quinn::{Connection, ConnectionError, Endpoint, VarInt};
use tokio::net::unix::pipe;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::accept::accept;
use crate::carrier::host_end_over;
use crate::cli::{Advertise, Options, World};
use crate::endpoint;
use crate::host::{Ended, GameHost, HostConfig, HostControl};
use crate::identity::Identity;
use crate::logic::registry::Registry;

/// How long the clients may take to read their last messages.
const PART_WITHIN: Duration = Duration::from_secs(1);

/// Waits between two attempts to reach the WorldServer: doubled from the first to the last.
const FIRST_BACKOFF: Duration = Duration::from_millis(500);
const LAST_BACKOFF: Duration = Duration::from_secs(15);

/// The whole program, with the games of `registry`: a user's own server is one line around this.
pub fn run(registry: Registry) -> ExitCode {
    run_with(registry, std::env::args_os())
}

/// As [`run`], with the arguments (the first one is the program's name).
pub fn run_with(registry: Registry, arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let options = Options::parse_from(arguments);
    start_logging();
    match host_rooms(options, registry) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("game-server: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Logs to standard error; `AMBIT_LOG` or `RUST_LOG` filters them. A second call changes nothing.
pub fn start_logging() {
    let filter = ["AMBIT_LOG", "RUST_LOG"].iter().find_map(|name| std::env::var(name).ok());
    let filter = tracing_subscriber::EnvFilter::new(filter.unwrap_or_else(|| "info".to_owned()));
    let colours = std::io::stderr().is_terminal();
    let logs = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(colours);
    let _ = logs.try_init();
}

/// Runs an actix system with a multi-thread tokio runtime on a thread of its own, and waits for `main`.
///
/// A room that never returns from a tick holds its thread for ever; only the end of the process gets rid of it. So nobody
/// waits for that thread after `main` has come back.
fn host_rooms(options: Options, registry: Registry) -> anyhow::Result<()> {
    let (done, result) = sync_channel(1);
    std::thread::Builder::new().name("ambit-host".into()).spawn(move || {
        let system = actix::System::with_tokio_rt(multi_thread_runtime);
        let result = system.block_on(serve(options, registry));
        let _ = done.send(result);
    })?;
    result.recv().context("the host's main task panicked")?
}

/// The runtime of the network.
pub fn multi_thread_runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_name("ambit-net")
        .build()
        .expect("the system gives threads to a runtime")
}

async fn serve(options: Options, registry: Registry) -> anyhow::Result<()> {
    let world = Link::prepare(&options)?;
    let identity = Identity::generate()?;
    let endpoint = endpoint::listen(options.listen, &identity, &[ALPN_GAME])?;
    let config = HostConfig {
        address: Advertise::address(options.advertise, endpoint.local_addr()?).to_string(),
        fingerprint: identity.fingerprint(),
        capacity: options.capacity,
        label: format!("process {}", std::process::id()),
        key: options.host_key.unwrap_or_default().into_bytes(),
        trace: options.trace,
        record: options.record,
    };
    tracing::info!(address = config.address, capacity = config.capacity, "hosting rooms");
    let (host, mut control) = GameHost::new(config, registry)?;
    tokio::spawn(accept(endpoint.clone(), host.door(), move |connection, _| {
        let host = host.clone();
        async move { host.serve(connection).await }
    }));
    let served = match world {
        Link::Pipes(input, output) => serve_parent(&mut control, input, output).await,
        Link::Dial(address, fingerprint) => dial(&mut control, address, fingerprint).await,
    };
    let _ = tokio::time::timeout(PART_WITHIN, endpoint.wait_idle()).await;
    served
}

/// The way to the WorldServer.
enum Link {
    Pipes(pipe::Receiver, pipe::Sender),
    Dial(SocketAddr, Fingerprint),
}

impl Link {
    fn prepare(options: &Options) -> anyhow::Result<Self> {
        match (options.world, options.world_cert) {
            (World::Stdio, _) => {
                pipes().context("`--world stdio` is for children that a WorldServer starts with pipes")
            }
            (World::Address(address), Some(fingerprint)) => Ok(Self::Dial(address, fingerprint)),
            (World::Address(address), None) => bail!(
                "`--world {address}` needs `--world-cert`: the SHA-256 that the WorldServer prints when it is ready, so \
                 that the host key is shown to nobody else"
            ),
        }
    }
}

fn pipes() -> anyhow::Result<Link> {
    let input = pipe::Receiver::from_owned_fd(std::io::stdin().as_fd().try_clone_to_owned()?)?;
    let output = pipe::Sender::from_owned_fd(std::io::stdout().as_fd().try_clone_to_owned()?)?;
    Ok(Link::Pipes(input, output))
}

/// Serves the WorldServer at the other end of standard input and output.
async fn serve_parent(control: &mut HostControl, input: pipe::Receiver, output: pipe::Sender) -> anyhow::Result<()> {
    // A terminal interrupts children too. The parent drains; its end is ours. Who terminates this process alone wants its rooms elsewhere.
    let (_interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let stop = CancellationToken::new();
    let stopping = stop.clone();
    tokio::spawn(async move {
        terminate.recv().await;
        stopping.cancel();
    });
    let (link, carrying) = host_end_over(input, output);
    let carrying = tokio::spawn(carrying);
    let ended = control.run(link, &stop).await;
    if ended == Ended::Stalled {
        vanish(&ended);
    }
    // What the host said last is still written, unless nobody reads.
    let _ = tokio::time::timeout(PART_WITHIN, carrying).await;
    match ended {
        Ended::Refused(why) => bail!(why),
        Ended::HandedOver | Ended::Stalled => vanish(&ended),
        Ended::Drained | Ended::LinkLost => Ok(()),
    }
}

/// Ends the process without a word to the clients: the WorldServer calls them elsewhere.
fn vanish(ended: &Ended) -> ! {
    if *ended == Ended::Stalled {
        tracing::error!("this process was stopped for so long that its rooms go on elsewhere; it ends");
        std::process::exit(1)
    }
    std::process::exit(0)
}

/// Serves the WorldServer at `address`, again after each loss, until a signal or its `Drain`.
async fn dial(control: &mut HostControl, address: SocketAddr, fingerprint: Fingerprint) -> anyhow::Result<()> {
    let stop = stop_at_signal()?;
    let local: SocketAddr = if address.is_ipv4() { ([0; 4], 0).into() } else { ([0; 16], 0).into() };
    let mut endpoint = Endpoint::client(local)?;
    let verifier = FingerprintVerifier::pinned(fingerprint);
    endpoint.set_default_client_config(quic::client_config(ALPN_HOST, Arc::clone(&verifier)));
    let mut backoff = FIRST_BACKOFF;
    while !stop.is_cancelled() {
        match serve_once(control, &endpoint, address, &stop).await {
            Ok(Ended::Drained) => break,
            Ok(ended @ (Ended::HandedOver | Ended::Stalled)) => vanish(&ended),
            Ok(Ended::Refused(why)) => bail!(why),
            Ok(Ended::LinkLost) if stop.is_cancelled() => break,
            Ok(Ended::LinkLost) => {
                tracing::warn!(%address, "the link to the WorldServer has ended; all rooms are closed");
                backoff = FIRST_BACKOFF;
            }
            Err(error) => {
                if let Some(Shown { fingerprint, trusted: false }) = verifier.shown() {
                    bail!(
                        "{address} shows the certificate sha256:{fingerprint}, which is not the one of `--world-cert`"
                    );
                }
                tracing::warn!(%address, "cannot reach the WorldServer: {error:#}");
            }
        }
        let _ = tokio::time::timeout(backoff, stop.cancelled()).await;
        backoff = (backoff * 2).min(LAST_BACKOFF);
    }
    endpoint.close(0_u8.into(), b"the host ends");
    endpoint.wait_idle().await;
    Ok(())
}

async fn serve_once(
    control: &mut HostControl,
    endpoint: &Endpoint,
    address: SocketAddr,
    stop: &CancellationToken,
) -> anyhow::Result<Ended> {
    let connection = endpoint.connect(address, "ambit")?.await?;
    let (output, input) = connection.open_bi().await?;
    tracing::info!(%address, "connected to the WorldServer");
    let (link, carrying) = host_end_over(input, output);
    let carrying = tokio::spawn(carrying);
    let ended = control.run(link, stop).await;
    if ended == Ended::Stalled {
        return Ok(ended);
    }
    let _ = tokio::time::timeout(PART_WITHIN, carrying).await;
    if ended == Ended::HandedOver {
        // The WorldServer closes the connection when it has read all.
        let _ = tokio::time::timeout(PART_WITHIN, connection.closed()).await;
    }
    if was_refused(&connection) {
        return Ok(Ended::Refused(format!("the WorldServer at {address} does not take the key of `--host-key`")));
    }
    Ok(ended)
}

fn was_refused(connection: &Connection) -> bool {
    matches!(
        connection.close_reason(),
        Some(ConnectionError::ApplicationClosed(close)) if close.error_code == VarInt::from_u32(ErrorCode::BadTicket as u32)
    )
}

/// Cancelled by SIGINT and SIGTERM.
fn stop_at_signal() -> anyhow::Result<CancellationToken> {
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let stop = CancellationToken::new();
    let stopping = stop.clone();
    tokio::spawn(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        stopping.cancel();
    });
    Ok(stop)
}
