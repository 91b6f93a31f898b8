//! Hosts as child processes.
//!
//! A child is this very program, started with the hidden subcommand `game-server`, so it has the
//! same games. Both sides communicate over the child's standard input and output. When a child
//! dies, its pipe ends at once: the lobby is notified, its rooms resume on other hosts, and a new
//! child replaces it. When this process dies, the children's input ends, and they exit. The lobby
//! decides how many children there are.

use std::ffi::OsString;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use actix::Addr;
use ambit_host::hindrance::{Hindrance, ProcessorUse};
use ambit_host::host_link::{WorldEnd, world_end_over};
use ambit_host::processor_time;
use ambit_lobby::Origin;
use anyhow::Context as _;
use backon::{BackoffBuilder, ExponentialBuilder};
use tokio::process::{Child, Command};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::{DisconnectCause, HostSession, READY_TIMEOUT};
use crate::actor::WorldServer;

/// The hidden subcommand that makes this program a host.
pub(crate) const SUBCOMMAND: &str = "game-server";
/// What children read of the environment themselves: the filter of the log, and content of games.
const FOR_CHILDREN: [&str; 2] = ["AMBIT_LOG", "AMBIT_CONTENT"];

/// Pauses before a new child is started, each twice the last one while children live shorter than
/// `STABLE_AFTER`. The first one leaves the processor to the rooms that other hosts resume.
const BACKOFFS: ExponentialBuilder = ExponentialBuilder::new()
    .with_min_delay(Duration::from_millis(200))
    .with_max_delay(Duration::from_secs(10))
    .without_max_times();
const STABLE_AFTER: Duration = Duration::from_secs(10);

/// A child whose pipe has ended is usually dead. One that has only closed its output is killed
/// after this time.
const EXIT_STATUS_TIMEOUT: Duration = Duration::from_millis(200);

/// How long a child may take to exit when the server ends; then it is killed. Shorter than
/// `HOSTS_TIMEOUT` in `server/components.rs`, so no hung child survives the server.
const EXIT_TIMEOUT: Duration = Duration::from_millis(1_500);

/// Starts the children and replaces those that end.
#[derive(Clone)]
pub(crate) struct ChildSupervisor {
    /// The command line of each child.
    pub(crate) arguments: Vec<OsString>,
    pub(crate) world: Addr<WorldServer>,
    /// Gets the result of each start: ready, or the reason why not.
    pub(crate) ready: mpsc::Sender<Result<(), String>>,
    /// The number of children that the lobby wants.
    pub(crate) wanted: watch::Receiver<u32>,
    /// After this is cancelled, children that end are not replaced.
    pub(crate) stop: CancellationToken,
}

impl ChildSupervisor {
    /// Keeps the wanted number of children running until `stop`.
    pub(crate) async fn supervise(mut self) {
        let running = Arc::new(AtomicU32::new(0));
        let mut places = JoinSet::new();
        while !self.stop.is_cancelled() {
            while running.load(Ordering::Relaxed) < *self.wanted.borrow_and_update() {
                running.fetch_add(1, Ordering::Relaxed);
                places.spawn(self.clone().supervise_one(Arc::clone(&running)));
            }
            tokio::select! {
                // The lobby has ended, so the server ends.
                changed = self.wanted.changed() => if changed.is_err() { break },
                Some(_) = places.join_next() => {}
                () = self.stop.cancelled() => {}
            }
        }
        while places.join_next().await.is_some() {}
    }

    /// Keeps one child running until `stop`, or until one ends while there are too many.
    async fn supervise_one(self, running: Arc<AtomicU32>) {
        let mut backoffs = BACKOFFS.build();
        while !self.stop.is_cancelled() {
            let started = now();
            if let Err(error) = self.run_child().await {
                tracing::warn!("a host process failed; another one is started: {error:#}");
                // The receiver is dropped once the server has started.
                let _ = self.ready.try_send(Err(format!("{error:#}")));
            }
            let wanted = *self.wanted.borrow();
            let one_less = |running: u32| (running > wanted).then(|| running - 1);
            if running.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_ok() {
                return;
            }
            if started.elapsed() >= STABLE_AFTER {
                backoffs = BACKOFFS.build();
            }
            let backoff = backoffs.next().expect("backoffs have no end");
            let _ = tokio::time::timeout(backoff, self.stop.cancelled()).await;
        }
    }

    /// Runs one child from its start to its end.
    async fn run_child(&self) -> anyhow::Result<()> {
        let mut child = spawn(&self.arguments)?;
        let started = now();
        let link = connect(&mut child, self.stop.clone())?;
        let session = match HostSession::register(link, self.world.clone(), Origin::Child, |_| {
            Ok(())
        })
        .await
        {
            Ok(session) => session,
            Err(mut reason) => {
                let took = started.elapsed();
                if took >= READY_TIMEOUT {
                    let used = child.id().and_then(processor_time::of_process);
                    let why = Hindrance::of(took, Some(ProcessorUse::default()), used);
                    reason = format!("{reason}: it {why}");
                }
                let exit = wait_for_exit(&mut child, Duration::ZERO).await;
                anyhow::bail!("{reason} ({})", exit_text(&exit))
            }
        };
        let _ = self.ready.try_send(Ok(()));
        session
            .run(async || {
                let exit = wait_for_exit(&mut child, EXIT_STATUS_TIMEOUT).await;
                let has_failed = !exit.as_ref().is_ok_and(ExitStatus::success);
                DisconnectCause {
                    reason: exit_text(&exit),
                    consequence: (has_failed && !self.stop.is_cancelled()).then_some(
                        "its rooms resume on other hosts, and another child replaces it",
                    ),
                }
            })
            .await;
        Ok(())
    }
}

fn spawn(arguments: &[OsString]) -> anyhow::Result<Child> {
    let program = std::env::current_exe().context("cannot find the path of this program")?;
    let mut command = Command::new(&program);
    command
        .arg(SUBCOMMAND)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true);
    // The arguments are complete; the other variables are for this process.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("AMBIT_") && !FOR_CHILDREN.contains(&&*text) {
            command.env_remove(&name);
        }
    }
    command.spawn().with_context(|| format!("cannot start {}", program.display()))
}

fn connect(child: &mut Child, stop: CancellationToken) -> anyhow::Result<WorldEnd> {
    let output = child.stdin.take().context("a child process has a standard input")?;
    let input = child.stdout.take().context("a child process has a standard output")?;
    let (link, carrying) = world_end_over(input, output);
    tokio::spawn(async move {
        tokio::select! {
            ended = carrying => if let Err(error) = ended {
                tracing::warn!("the pipe of a host process failed; its rooms resume elsewhere: \
                    {error}");
            },
            // The pipe of a hung child does not end by itself.
            () = wait_until_overdue(&stop) => tracing::warn!("a host process did not exit in \
                time; it is killed"),
        }
    });
    Ok(link)
}

/// Waits until children should have exited after a stop.
async fn wait_until_overdue(stop: &CancellationToken) {
    stop.cancelled().await;
    tokio::time::sleep(EXIT_TIMEOUT).await;
}

/// Returns the exit status of a child whose pipe has ended. Kills it if it does not exit in time.
async fn wait_for_exit(child: &mut Child, within: Duration) -> Result<ExitStatus, String> {
    if let Ok(Ok(status)) = tokio::time::timeout(within, child.wait()).await {
        return Ok(status);
    }
    let killed = child.start_kill();
    let exit = child.wait().await;
    exit.map_err(|error| format!("{error}, {killed:?}"))
}

fn exit_text(exit: &Result<ExitStatus, String>) -> String {
    match exit {
        Ok(status) => status.to_string(),
        Err(error) => error.clone(),
    }
}

#[expect(clippy::disallowed_methods, reason = "a shell's clock")]
fn now() -> Instant {
    Instant::now()
}
