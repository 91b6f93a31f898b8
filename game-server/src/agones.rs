//! The host as a `GameServer` of Agones (`--agones`).
//!
//! A shell: it asks the [`report`] what to tell, has the [`sidecar`] told, and puts the news in the
//! log. Whatever the sidecar does costs the rooms nothing: this is a task of its own, which nobody
//! waits for but a host that has no address yet, and at the end.

mod report;
mod sidecar;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use ambit_proto::time::LocalTime;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio_util::sync::CancellationToken;

pub(crate) use self::report::Load;
use self::report::{Answer, Call, Kind, News, Report, Trouble};
use self::sidecar::Sidecar;
use crate::host::GameHost;

/// How often the host's load is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// How long a host that ends waits for the sidecar to take note of that.
const END_WITHIN: Duration = Duration::from_secs(2);

/// The way to the task that talks to the sidecar.
pub(crate) struct Agones {
    host: watch::Sender<Option<GameHost>>,
    place: watch::Receiver<Option<SocketAddr>>,
    end: CancellationToken,
    task: JoinHandle<()>,
}

impl Agones {
    /// Begins to talk to the sidecar that the environment names. With `needs_place` it is asked
    /// until it knows where players reach this server.
    pub(crate) fn start(needs_place: bool) -> anyhow::Result<Self> {
        let sidecar = Sidecar::from_environment()?;
        let (host, load) = watch::channel(None);
        let (placed, place) = watch::channel(None);
        let end = CancellationToken::new();
        let talk = Talk {
            clock: Clock::start(),
            sidecar,
            placed,
            calls: JoinSet::new(),
        };
        let task = tokio::spawn(talk.run(needs_place, load, end.clone()));
        Ok(Self {
            host,
            place,
            end,
            task,
        })
    }

    /// Where players reach this server, as soon as the sidecar knows.
    pub(crate) async fn place(&mut self) -> SocketAddr {
        loop {
            if let Some(place) = *self.place.borrow_and_update() {
                return place;
            }
            if self.place.changed().await.is_err() {
                // The task has ended, which happens at the end alone.
                std::future::pending::<()>().await;
            }
        }
    }

    /// From now on the sidecar is told what this host carries.
    pub(crate) fn watch(&self, host: GameHost) {
        let _ = self.host.send(Some(host));
    }

    /// Tells the sidecar that this server ends.
    pub(crate) async fn end(self) {
        self.end.cancel();
        if tokio::time::timeout(END_WITHIN, self.task).await.is_err() {
            tracing::warn!(
                "Agones did not take note of this server's end within {} s",
                END_WITHIN.as_secs()
            );
        }
    }
}

struct Talk {
    clock: Clock,
    sidecar: Sidecar,
    placed: watch::Sender<Option<SocketAddr>>,
    calls: JoinSet<(Call, Result<Answer, Trouble>)>,
}

impl Talk {
    async fn run(
        mut self,
        needs_place: bool,
        host: watch::Receiver<Option<GameHost>>,
        end: CancellationToken,
    ) {
        let mut report = Report::new(self.clock.now(), needs_place);
        let mut looks = tokio::time::interval(LOOK_EVERY);
        looks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
        let mut ending = false;
        while !report.has_ended() {
            while let Some(call) = report.poll_call(self.clock.now()) {
                self.make(call);
            }
            let wait = report
                .next_deadline()
                .map_or(LOOK_EVERY, |due| due.since(self.clock.now()));
            tokio::select! {
                Some(done) = self.calls.join_next() => {
                    let (call, result) = done.expect("a call does not panic");
                    report.handle_answer(self.clock.now(), call, result);
                    while let Some(news) = report.poll_news() {
                        self.tell(news);
                    }
                }
                _ = looks.tick() => if let Some(host) = host.borrow().as_ref() {
                    report.handle_load(self.clock.now(), host.load());
                },
                () = end.cancelled(), if !ending => {
                    ending = true;
                    report.handle_end(self.clock.now());
                }
                () = tokio::time::sleep(wait) => {}
            }
        }
    }

    fn make(&mut self, call: Call) {
        tracing::trace!(?call, "to Agones");
        let (sidecar, placed) = (self.sidecar.clone(), self.placed.clone());
        self.calls.spawn(async move {
            let result = if call == Call::Look {
                look(&sidecar, &placed).await
            } else {
                sidecar.tell(call).await
            };
            (call, result)
        });
    }

    fn tell(&self, news: News) {
        match news {
            News::Missing(why) => tracing::warn!(
                "Agones' sidecar is not at localhost:{} ({why}); this host goes on without it and looks again. Is this pod a \
                 GameServer of Agones? Without Agones, leave out --agones",
                self.sidecar.port()
            ),
            News::Found => tracing::info!("Agones' sidecar is there"),
            News::Fails(kind, why) => {
                tracing::warn!("Agones does not take {kind}: {why}{}", advice(kind))
            }
            News::Works(Kind::Ready) => tracing::info!("Agones knows that this server is ready"),
            News::Works(Kind::Shutdown) => tracing::info!("Agones knows that this server ends"),
            News::Works(kind) => tracing::info!("Agones takes {kind}"),
        }
    }
}

fn advice(kind: Kind) -> &'static str {
    match kind {
        Kind::Count(_) => ". Does the Fleet declare it under `counters`?",
        _ => "",
    }
}

/// Asks for this server's place; names are looked up.
async fn look(
    sidecar: &Sidecar,
    placed: &watch::Sender<Option<SocketAddr>>,
) -> Result<Answer, Trouble> {
    let server = sidecar.look().await?;
    let mut found = false;
    if let Some((name, port)) = server.place() {
        let refused =
            |why: String| Trouble::Refused(format!("its address '{name}' leads nowhere: {why}"));
        let mut addresses = tokio::net::lookup_host((name, port))
            .await
            .map_err(|error| refused(error.to_string()))?;
        let address = addresses
            .next()
            .ok_or_else(|| refused("no such name".into()))?;
        placed.send_replace(Some(address));
        found = true;
    }
    Ok(Answer::GameServer {
        placed: found,
        health_period: server.health_period(),
    })
}

/// Counts from its start.
#[derive(Clone, Copy)]
struct Clock(Instant);

impl Clock {
    #[expect(clippy::disallowed_methods, reason = "a shell's clock")]
    fn start() -> Self {
        Self(Instant::now())
    }

    fn now(self) -> LocalTime {
        LocalTime::from_micros(self.0.elapsed().as_micros() as u64)
    }
}
