//! Hosts as children of this process.
//!
//! A child is this very program, started with the hidden subcommand `game-server`; so a user's own
//! server brings its own games along. The two talk by the child's standard input and output. When a
//! child dies, its pipe ends at once: the lobby is told, and its rooms go on at others, and a new
//! child takes its place. When this process dies, the children's input ends, and so do they. How
//! many there are to be is the lobby's decision.

use std::ffi::OsString;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use actix::Addr;
use ambit_game_server::carrier::{WorldEnd, world_end_over};
use anyhow::Context as _;
use tokio::process::{Child, Command};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::HostSession;
use crate::actor::WorldServer;
use crate::lobby::Origin;

/// The hidden subcommand.
pub(crate) const SUBCOMMAND: &str = "game-server";

/// Waits before a new child: doubled from the first to the last for a child that does not live
/// `STABLE_AFTER`.
const FIRST_BACKOFF: Duration = Duration::from_millis(100);
const LAST_BACKOFF: Duration = Duration::from_secs(10);
const STABLE_AFTER: Duration = Duration::from_secs(10);

/// A child whose pipe has ended is dead as a rule; one that has only closed its output is killed
/// after this.
const EXIT_STATUS_TIMEOUT: Duration = Duration::from_millis(200);

/// How long a child may take to end itself when the server does; then it is killed. Less than the
/// server waits for its hosts (`HOSTS_TIMEOUT` in `server/parts.rs`), so that no child that hangs
/// survives it.
const EXIT_TIMEOUT: Duration = Duration::from_millis(1_500);

/// What all children have in common.
#[derive(Clone)]
pub(crate) struct ChildSupervisor {
    /// What a child is told.
    pub(crate) arguments: Vec<OsString>,
    pub(crate) world: Addr<WorldServer>,
    /// Hears of each start: a child that is ready, or why there is none.
    pub(crate) ready: mpsc::Sender<Result<(), String>>,
    /// How many children are to be kept.
    pub(crate) wanted: watch::Receiver<u32>,
    /// Children that end are not replaced any more.
    pub(crate) stop: CancellationToken,
}

impl ChildSupervisor {
    /// Keeps as many children running as are wanted, until the end of all.
    pub(crate) async fn supervise(mut self) {
        let kept = Arc::new(AtomicU32::new(0));
        let mut places = JoinSet::new();
        while !self.stop.is_cancelled() {
            while kept.load(Ordering::Relaxed) < *self.wanted.borrow_and_update() {
                kept.fetch_add(1, Ordering::Relaxed);
                places.spawn(self.clone().supervise_one(Arc::clone(&kept)));
            }
            tokio::select! {
                // The lobby's end is the server's.
                changed = self.wanted.changed() => if changed.is_err() { break },
                Some(_) = places.join_next() => {}
                () = self.stop.cancelled() => {}
            }
        }
        while places.join_next().await.is_some() {}
    }

    /// Keeps one child running until the end of all, or until one ends when there are too many.
    async fn supervise_one(self, kept: Arc<AtomicU32>) {
        let mut backoff = FIRST_BACKOFF;
        while !self.stop.is_cancelled() {
            let started = now();
            if let Err(error) = self.run_child().await {
                tracing::warn!("a host process failed: {error:#}");
                // Nobody listens once the server has started.
                let _ = self.ready.try_send(Err(format!("{error:#}")));
            }
            let wanted = *self.wanted.borrow();
            let one_less = |kept: u32| (kept > wanted).then(|| kept - 1);
            if kept
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less)
                .is_ok()
            {
                return;
            }
            backoff = if started.elapsed() >= STABLE_AFTER {
                FIRST_BACKOFF
            } else {
                (backoff * 2).min(LAST_BACKOFF)
            };
            let _ = tokio::time::timeout(backoff, self.stop.cancelled()).await;
        }
    }

    /// One child, from its start to its end.
    async fn run_child(&self) -> anyhow::Result<()> {
        let mut child = spawn(&self.arguments)?;
        let link = connect(&mut child, self.stop.clone())?;
        let attended = match HostSession::register(link, self.world.clone(), Origin::Child, |_| {
            Ok(())
        })
        .await
        {
            Ok(attended) => attended,
            Err(reason) => {
                anyhow::bail!(
                    "{reason} ({})",
                    wait_for_exit(&mut child, Duration::ZERO).await
                )
            }
        };
        let _ = self.ready.try_send(Ok(()));
        attended
            .run(|| wait_for_exit(&mut child, EXIT_STATUS_TIMEOUT))
            .await;
        Ok(())
    }
}

fn spawn(arguments: &[OsString]) -> anyhow::Result<Child> {
    let program = std::env::current_exe().context("cannot tell which program this is")?;
    let mut command = Command::new(&program);
    command
        .arg(SUBCOMMAND)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true);
    // Its arguments say all that it has to know; the variables are meant for this process.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("AMBIT_") && text != "AMBIT_LOG" {
            command.env_remove(&name);
        }
    }
    command
        .spawn()
        .with_context(|| format!("cannot start {}", program.display()))
}

fn connect(child: &mut Child, stop: CancellationToken) -> anyhow::Result<WorldEnd> {
    let output = child.stdin.take().context("a child has an input")?;
    let input = child.stdout.take().context("a child has an output")?;
    let (link, carrying) = world_end_over(input, output);
    tokio::spawn(async move {
        tokio::select! {
            ended = carrying => if let Err(error) = ended {
                tracing::warn!("a host process's pipe: {error}");
            },
            // The pipe of a child that hangs does not end by itself.
            () = wait_until_overdue(&stop) => tracing::warn!("a host process did not end in time"),
        }
    });
    Ok(link)
}

/// Waits until a child would have had to end.
async fn wait_until_overdue(stop: &CancellationToken) {
    stop.cancelled().await;
    tokio::time::sleep(EXIT_TIMEOUT).await;
}

/// What became of a child whose pipe has ended. One that does not end itself in time is killed.
async fn wait_for_exit(child: &mut Child, within: Duration) -> String {
    if let Ok(Ok(status)) = tokio::time::timeout(within, child.wait()).await {
        return status.to_string();
    }
    let killed = child.start_kill();
    match child.wait().await {
        Ok(status) => status.to_string(),
        Err(error) => format!("{error}, {killed:?}"),
    }
}

#[expect(clippy::disallowed_methods, reason = "a shell's clock")]
fn now() -> Instant {
    Instant::now()
}
