//! A core of a process that hosts rooms: a host with an endpoint and a link to the WorldServer, and
//! one thread for the network's tasks.
//!
//! What comes out is how it has ended. Nothing here waits for another core of the process.

use std::os::fd::AsFd as _;
use std::time::Duration;

use ambit_proto::codes::ErrorCode;
use ambit_room::logic::registry::Registry;
use ambit_transport::quic::ALPN_GAME;
use anyhow::{Context as _, bail};
use tokio::net::unix::pipe;
use tokio::runtime;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::cli::{Options, WorldAddress};
use crate::dial::{WorldAddresses, dial};
use crate::endpoint::Listener;
use crate::host::{GameHost, HostConfig, HostControl, HostEnding};
use crate::host_link::host_end_over;

/// How long the clients may take to read their last messages.
const CLOSE_WITHIN: Duration = Duration::from_secs(1);

/// A core whose thread runs.
pub(crate) struct HostingCore {
    pub(crate) host: GameHost,
    begin: oneshot::Sender<()>,
    ended: oneshot::Receiver<anyhow::Result<HostingEnd>>,
}

/// How a core ends regularly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HostingEnd {
    /// Its rooms go on elsewhere: its clients get no message, so the process has to end before its
    /// endpoint does.
    Vanish,
    /// Its clients have received the end.
    Close,
}

/// How the WorldServer is reached: by the pipes of a child, or by dialling.
#[derive(Clone)]
pub(crate) enum WorldConnection {
    Pipes,
    Dial(WorldAddresses),
}

impl HostingCore {
    /// Makes a host, which serves players, and serves the WorldServer once it is told to begin.
    pub(crate) async fn start(
        config: HostConfig,
        registry: Registry,
        listener: Listener,
        world: WorldConnection,
        stop: CancellationToken,
    ) -> anyhow::Result<Self> {
        let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
        let (made, is_made) = oneshot::channel();
        let (begin, begins) = oneshot::channel();
        let (ends, ended) = oneshot::channel();
        std::thread::Builder::new().name("ambit-net".into()).spawn(move || {
            runtime.block_on(async {
                let prepared = prepare(config, registry, &world);
                let (host, mut control, link) = match prepared {
                    Ok(prepared) => prepared,
                    Err(error) => return drop(made.send(Err(error))),
                };
                let _ = made.send(Ok(host.clone()));
                if begins.await.is_err() {
                    return;
                }
                let ended = serve(&host, &mut control, listener, link, &stop).await;
                let vanishes = matches!(ended, Ok(HostingEnd::Vanish));
                let _ = ends.send(ended);
                if vanishes {
                    // Without this task the connections would be closed.
                    std::future::pending::<()>().await;
                }
            });
            // A room that is being made may never end.
            runtime.shutdown_background();
        })?;
        let host = is_made.await.context("the thread of a core has ended")??;
        Ok(Self { host, begin, ended })
    }

    /// Serves the WorldServer. Returns how that has ended.
    pub(crate) async fn serve(self) -> anyhow::Result<HostingEnd> {
        let _ = self.begin.send(());
        self.ended.await.context("the host's main task panicked")?
    }
}

/// A way to the WorldServer, of this thread.
enum OpenedWay {
    Pipes(pipe::Receiver, pipe::Sender),
    Dial(WorldAddresses),
}

fn prepare(
    config: HostConfig,
    registry: Registry,
    world: &WorldConnection,
) -> anyhow::Result<(GameHost, HostControl, OpenedWay)> {
    let link = match world {
        WorldConnection::Pipes => pipes()
            .context("`--world stdio` is for children that a WorldServer starts with pipes")?,
        WorldConnection::Dial(worlds) => OpenedWay::Dial(worlds.clone()),
    };
    let (host, control) = GameHost::new(config, registry)?;
    Ok((host, control, link))
}

fn pipes() -> anyhow::Result<OpenedWay> {
    let input = pipe::Receiver::from_owned_fd(std::io::stdin().as_fd().try_clone_to_owned()?)?;
    let output = pipe::Sender::from_owned_fd(std::io::stdout().as_fd().try_clone_to_owned()?)?;
    Ok(OpenedWay::Pipes(input, output))
}

async fn serve(
    host: &GameHost,
    control: &mut HostControl,
    listener: Listener,
    link: OpenedWay,
    stop: &CancellationToken,
) -> anyhow::Result<HostingEnd> {
    let threads = host.threads().clone();
    let (counters, serving) = (host.acceptance_counters(), host.clone());
    let begin = move || threads.add_this_thread();
    let endpoint = listener.serve(counters, begin, move |connection, protocol| {
        let host = serving.clone();
        async move {
            if protocol == ALPN_GAME {
                host.serve(connection).await;
            } else {
                connection.close(ErrorCode::OutOfState, "this is a host, without a lobby");
            }
        }
    })?;
    let serving = async {
        match link {
            OpenedWay::Pipes(input, output) => serve_parent(control, input, output, stop).await,
            OpenedWay::Dial(worlds) => serve_worlds(control, &worlds, stop).await,
        }
    };
    let served = tokio::select! {
        served = serving => served,
        () = endpoint.ended() => bail!(
            "the thread of the network has crashed; this is a bug in the server, please report it"
        ),
    };
    control.wait_for_files().await;
    if !matches!(served, Ok(HostingEnd::Vanish)) {
        let _ = tokio::time::timeout(CLOSE_WITHIN, endpoint.wait_idle()).await;
    }
    served
}

/// Serves the WorldServer at the other end of standard input and output.
async fn serve_parent(
    control: &mut HostControl,
    input: pipe::Receiver,
    output: pipe::Sender,
    stop: &CancellationToken,
) -> anyhow::Result<HostingEnd> {
    let (link, carrying) = host_end_over(input, output, Some(control.journal_written()));
    let carrying = tokio::spawn(carrying);
    let ended = control.run(link, stop).await;
    if ended == HostEnding::Stalled {
        // Nothing may be sent any more: the rooms are another host's by now.
        tracing::error!(
            "this process was stopped until its rooms were given to other hosts; it ends"
        );
        std::process::exit(1);
    }
    // The last messages are still written, if the other end reads.
    let _ = tokio::time::timeout(CLOSE_WITHIN, carrying).await;
    end_of(ended)
}

/// Serves WorldServers that are dialled, until a signal or a `Drain`.
async fn serve_worlds(
    control: &mut HostControl,
    worlds: &WorldAddresses,
    stop: &CancellationToken,
) -> anyhow::Result<HostingEnd> {
    control.journal_written();
    let ended = dial(control, worlds, stop).await?;
    if ended == HostEnding::Stalled {
        // What has stopped this core has stopped the process: the others hand over what they have.
        stop.cancel();
    }
    end_of(ended)
}

fn end_of(ended: HostEnding) -> anyhow::Result<HostingEnd> {
    match ended {
        HostEnding::Refused(why) => bail!(why),
        HostEnding::HandedOver | HostEnding::Stalled => Ok(HostingEnd::Vanish),
        HostEnding::Drained | HostEnding::LinkLost | HostEnding::Unserved => Ok(HostingEnd::Close),
    }
}

impl WorldConnection {
    pub(crate) fn new(options: &Options) -> Self {
        match &options.world {
            WorldAddress::Stdio => Self::Pipes,
            WorldAddress::Addresses(addresses) => Self::Dial(WorldAddresses {
                addresses: addresses.clone(),
                fingerprints: options.world_cert.clone(),
                key: options.host_key.clone().unwrap_or_default().into_bytes(),
            }),
        }
    }
}
