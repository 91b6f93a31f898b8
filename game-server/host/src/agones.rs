//! The host as a `GameServer` of Agones (`--agones`).
//!
//! A shell: it sends the calls that `report` decides on through `sidecar` and writes events to
//! the log. A slow or missing sidecar costs the rooms nothing: this is a task of its own. The host
//! waits for it only if it does not know its own address yet, and at shutdown.

mod report;
mod sidecar;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use ambit_proto::time::LocalTime;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio_util::sync::CancellationToken;

pub(crate) use self::report::HostLoad;
use self::report::{AgonesReporter, CallError, CallKind, ReportEvent, SidecarAnswer, SidecarCall};
pub use self::sidecar::GameServerResource;
use self::sidecar::Sidecar;
use crate::host::GameHost;

/// How often the host's load is read.
const LOAD_INTERVAL: Duration = Duration::from_millis(500);

/// How long a host at shutdown waits for the sidecar.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// The handle of the task that talks to the sidecar.
pub(crate) struct Agones {
    host: watch::Sender<Option<GameHost>>,
    address: watch::Receiver<Option<SocketAddr>>,
    shutdown: CancellationToken,
    task: JoinHandle<()>,
}

impl Agones {
    /// Starts the task for the sidecar that the environment names. With `needs_address` the task
    /// asks until the sidecar knows the public address of this server.
    pub(crate) fn start(needs_address: bool) -> anyhow::Result<Self> {
        let sidecar = Sidecar::from_environment()?;
        let (host, load) = watch::channel(None);
        let (placed, place) = watch::channel(None);
        let end = CancellationToken::new();
        let task_state = SidecarTask {
            clock: TaskClock::start(),
            sidecar,
            address: placed,
            calls: JoinSet::new(),
        };
        let task = tokio::spawn(task_state.run(needs_address, load, end.clone()));
        Ok(Self { host, address: place, shutdown: end, task })
    }

    /// The public address of this server, as soon as the sidecar knows it.
    pub(crate) async fn address(&mut self) -> SocketAddr {
        loop {
            if let Some(place) = *self.address.borrow_and_update() {
                return place;
            }
            if self.address.changed().await.is_err() {
                // The task ends only at shutdown.
                std::future::pending::<()>().await;
            }
        }
    }

    /// From now on the task reports the load of this host.
    pub(crate) fn report_load_of(&self, host: GameHost) {
        let _ = self.host.send(Some(host));
    }

    /// Reports the shutdown of this server to the sidecar.
    pub(crate) async fn shut_down(self) {
        self.shutdown.cancel();
        if tokio::time::timeout(SHUTDOWN_TIMEOUT, self.task).await.is_err() {
            tracing::warn!(
                "Agones did not confirm the shutdown of this server within {} s; it exits anyway",
                SHUTDOWN_TIMEOUT.as_secs()
            );
        }
    }
}

struct SidecarTask {
    clock: TaskClock,
    sidecar: Sidecar,
    address: watch::Sender<Option<SocketAddr>>,
    calls: JoinSet<(SidecarCall, Result<SidecarAnswer, CallError>)>,
}

impl SidecarTask {
    async fn run(
        mut self,
        needs_address: bool,
        host: watch::Receiver<Option<GameHost>>,
        end: CancellationToken,
    ) {
        let mut report = AgonesReporter::new(self.clock.now(), needs_address);
        let mut load_ticks = tokio::time::interval(LOAD_INTERVAL);
        load_ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
        let mut ending = false;
        while !report.has_ended() {
            while let Some(call) = report.poll_call(self.clock.now()) {
                self.start_call(call);
            }
            let wait =
                report.next_deadline().map_or(LOAD_INTERVAL, |due| due.since(self.clock.now()));
            tokio::select! {
                Some(done) = self.calls.join_next() => {
                    let (call, result) = done.expect("a call does not panic");
                    report.handle_answer(self.clock.now(), call, result);
                    while let Some(event) = report.poll_event() {
                        self.log_event(event);
                    }
                }
                _ = load_ticks.tick() => if let Some(host) = host.borrow().as_ref() {
                    report.handle_load(self.clock.now(), host.load());
                },
                () = end.cancelled(), if !ending => {
                    ending = true;
                    report.handle_shutdown(self.clock.now());
                }
                () = tokio::time::sleep(wait) => {}
            }
        }
    }

    fn start_call(&mut self, call: SidecarCall) {
        tracing::trace!(?call, "calling Agones");
        let sidecar = self.sidecar.clone();
        let placed = self.address.clone();
        self.calls.spawn(async move {
            let result = if call == SidecarCall::GetGameServer {
                fetch_address(&sidecar, &placed).await
            } else {
                sidecar.send(call).await
            };
            (call, result)
        });
    }

    fn log_event(&self, event: ReportEvent) {
        match event {
            ReportEvent::SidecarMissing(why) => tracing::warn!(
                "Agones' sidecar is not at localhost:{} ({why}); this host continues without it \
                 and retries. Is this pod a GameServer of Agones? Without Agones, leave out \
                 --agones",
                self.sidecar.port()
            ),
            ReportEvent::SidecarFound => {
                tracing::info!("Agones' sidecar is there; reporting continues");
            }
            ReportEvent::CallFailed(kind, why) => {
                tracing::warn!(
                    "Agones does not take {kind}; this host retries: {why}{}",
                    advice(kind)
                );
            }
            ReportEvent::CallSucceeded(CallKind::Ready) => {
                tracing::info!("Agones knows that this server is ready");
            }
            ReportEvent::CallSucceeded(CallKind::Shutdown) => {
                tracing::info!("Agones knows that this server ends");
            }
            ReportEvent::CallSucceeded(kind) => tracing::info!("Agones takes {kind}"),
        }
    }
}

fn advice(kind: CallKind) -> &'static str {
    match kind {
        CallKind::Count(_) => ". Does the Fleet declare it under `counters`?",
        _ => "",
    }
}

/// Asks for this server's address; resolves names.
async fn fetch_address(
    sidecar: &Sidecar,
    placed: &watch::Sender<Option<SocketAddr>>,
) -> Result<SidecarAnswer, CallError> {
    let server = sidecar.fetch_game_server().await?;
    let mut found = false;
    if let Some((name, port)) = server.address() {
        let refused = |why: String| {
            CallError::Refused(format!("its address '{name}' cannot be resolved: {why}"))
        };
        let mut addresses = tokio::net::lookup_host((name, port))
            .await
            .map_err(|error| refused(error.to_string()))?;
        let address = addresses.next().ok_or_else(|| refused("no such name".into()))?;
        placed.send_replace(Some(address));
        found = true;
    }
    Ok(SidecarAnswer::GameServer { has_address: found, health_period: server.health_period() })
}

/// Measures from its start.
#[derive(Clone, Copy)]
struct TaskClock(Instant);

impl TaskClock {
    #[expect(clippy::disallowed_methods, reason = "a shell's clock")]
    fn start() -> Self {
        Self(Instant::now())
    }

    fn now(self) -> LocalTime {
        LocalTime::from_micros(self.0.elapsed().as_micros() as u64)
    }
}
