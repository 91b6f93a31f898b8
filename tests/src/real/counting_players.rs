//! Players of the game `counting`, for tests that end hosts.
//!
//! Each player has a room of its own and sends numbers. At the end, the commands that the client
//! reported as confirmed are compared with the avatar's later state: the game counts every command
//! that it executes, so a lost one is missing there, and one that was executed twice is one too
//! many.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread::JoinHandle;
use std::time::Duration;

use ambit_client_core::client::config::ClientConfig;
use ambit_client_core::client::event::{ComponentValue, GameEvent, LobbyEvent, ViewEvent};
use ambit_client_core::client::request::{LobbyRequest, NewRoom};
use ambit_client_core::shell::{self, ClientEvents, ClientHandle, ClientOptions, ServerTrust};
use ambit_client_core::trust::KnownHosts;
use ambit_proto::codes::{self, ErrorCode};
use ambit_proto::time::GameTime;
use anyhow::{Context, Result, bail, ensure};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use super::{ScratchFolder, WAIT_LIMIT, wait_until};
use crate::counting_game::{CountingGame, count};

const COMMAND_INTERVAL: Duration = Duration::from_millis(50);
/// Half of what a player may give at once.
const MOST_UNCONFIRMED: u64 = 32;
/// Room time after the last command has been confirmed: longer than the local lag, so that a second
/// execution would show, too.
const SETTLE_TIME: Duration = Duration::from_secs(1);

/// Players in a thread of their own, until [`CountingPlayers::finish`].
pub struct CountingPlayers {
    thread: JoinHandle<Result<Vec<u64>>>,
    phase: watch::Sender<PlayPhase>,
    progress: Vec<Arc<PlayerProgress>>,
}

/// What other threads see of a player.
#[derive(Default)]
struct PlayerProgress {
    confirmed: AtomicU64,
    /// Whether it pauses, and all that it has sent is confirmed.
    is_idle: AtomicBool,
}

/// What the players do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PlayPhase {
    Sending,
    Pausing,
    Ending,
}

impl CountingPlayers {
    /// Starts `count` players at a server that offers the game.
    pub fn start(scratch: &ScratchFolder, server: SocketAddr, count: usize) -> Self {
        Self::start_with_ballast(scratch, &server.to_string(), count, 0)
    }

    /// The same, at the servers of a cluster, with commas between them; the state of each room is
    /// `ballast_mib` MiB larger.
    pub fn start_with_ballast(
        scratch: &ScratchFolder,
        servers: &str,
        count: usize,
        ballast_mib: u32,
    ) -> Self {
        let (phase, phases) = watch::channel(PlayPhase::Sending);
        let known_hosts = scratch.path().join("counting_known_hosts");
        let servers = servers.to_owned();
        let progress: Vec<Arc<PlayerProgress>> = (0..count).map(|_| Arc::default()).collect();
        let of_players = progress.clone();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(async {
                let mut players = Vec::new();
                for (index, progress) in of_players.into_iter().enumerate() {
                    let trust = ServerTrust::FirstUse(KnownHosts::from_path(&known_hosts));
                    let player = CountingPlayer::join(&servers, trust, index, ballast_mib).await?;
                    players.push(tokio::spawn(player.play(phases.clone(), progress)));
                }
                let mut counts = Vec::new();
                for player in players {
                    counts.push(player.await??);
                }
                Ok(counts)
            })
        });
        Self { thread, phase, progress }
    }

    /// Waits until `more` further commands of each player were confirmed.
    pub fn wait_for_commands(&self, more: u64) -> Result<()> {
        let confirmed = |player: &Arc<PlayerProgress>| player.confirmed.load(Relaxed);
        let wanted: Vec<u64> = self.progress.iter().map(|it| confirmed(it) + more).collect();
        wait_until("confirmed commands", || {
            let mut players = self.progress.iter().zip(&wanted);
            Ok(players.all(|(player, wanted)| confirmed(player) >= *wanted).then_some(()))
        })
    }

    /// The players send nothing until [`CountingPlayers::resume`]. Waits until what they have sent
    /// is confirmed.
    pub fn pause(&self) -> Result<()> {
        self.phase.send_replace(PlayPhase::Pausing);
        wait_until("the last commands' confirmations", || {
            Ok(self.progress.iter().all(|player| player.is_idle.load(Relaxed)).then_some(()))
        })
    }

    pub fn resume(&self) {
        self.phase.send_replace(PlayPhase::Sending);
    }

    /// Ends the game and returns how many commands of each player were confirmed. An error if the
    /// game has executed any other number of them.
    pub fn finish(self) -> Result<Vec<u64>> {
        self.phase.send_replace(PlayPhase::Ending);
        self.thread.join().expect("the players do not panic")
    }
}

struct CountingPlayer {
    handle: ClientHandle,
    events: ClientEvents,
    sent: u32,
    confirmed: u64,
    /// Confirmed and not executed: after an interruption, what has waited arrives at once, and a
    /// room limits the commands of a second.
    refused: u32,
}

impl CountingPlayer {
    /// Connects, creates a room and starts it.
    async fn join(
        servers: &str,
        trust: ServerTrust,
        index: usize,
        ballast_mib: u32,
    ) -> Result<Self> {
        let options = ClientOptions {
            server: servers.to_owned(),
            trust,
            impairment: None,
            number: index as u64,
            account: None,
            client: ClientConfig {
                name: format!("counter-{index}"),
                seed: index as u64,
                ..ClientConfig::default()
            },
        };
        let (handle, events) = shell::start(options, ());
        let mut player = Self { handle, events, sent: 0, confirmed: 0, refused: 0 };
        player
            .wait_for(|event| matches!(event, ViewEvent::Lobby(_, LobbyEvent::Welcome(_))))
            .await?;
        let room = NewRoom {
            name: format!("counting-{index}"),
            game: CountingGame::INFO.name.to_owned(),
            key: [index as u8 + 1; 16],
            parameters: [("ballast".to_owned(), ballast_mib.to_string())].into(),
            ..NewRoom::default()
        };
        player.handle.request(LobbyRequest::CreateRoom(room))?;
        player
            .wait_for(|event| matches!(event, ViewEvent::Lobby(_, LobbyEvent::Created { .. })))
            .await?;
        player.handle.request(LobbyRequest::StartRoom)?;
        let begins = async {
            while player.count().is_none() {
                player.pause().await;
            }
            player
        };
        timeout(WAIT_LIMIT, begins).await.context("the game did not begin")
    }

    async fn wait_for(&mut self, is_wanted: impl Fn(&ViewEvent) -> bool) -> Result<()> {
        let wanted = async {
            while let Some(event) = self.events.next().await {
                if is_wanted(&event) {
                    return Ok(());
                }
            }
            bail!("the client ended")
        };
        timeout(WAIT_LIMIT, wanted).await?
    }

    /// Sends numbers until the end, then compares.
    async fn play(
        mut self,
        phases: watch::Receiver<PlayPhase>,
        progress: Arc<PlayerProgress>,
    ) -> Result<u64> {
        loop {
            let phase = *phases.borrow();
            if phase == PlayPhase::Ending {
                break;
            }
            let command = count(self.sent);
            // The client refuses a command while too many wait for the next host; then it was not
            // sent. Of a burst after a stall, the room refuses what is above the player's
            // allowance, and tells of one refusal a second only: so few may wait.
            let may_send = u64::from(self.sent) < self.confirmed + MOST_UNCONFIRMED;
            if phase == PlayPhase::Sending && may_send && self.handle.act(&command).is_ok() {
                self.sent += 1;
            }
            self.read_confirmed();
            progress.confirmed.store(self.confirmed, Relaxed);
            let is_idle = phase == PlayPhase::Pausing && self.confirmed >= u64::from(self.sent);
            progress.is_idle.store(is_idle, Relaxed);
            self.pause().await;
        }
        let rest = async {
            while self.confirmed < u64::from(self.sent) {
                self.read_confirmed();
                self.pause().await;
            }
        };
        timeout(WAIT_LIMIT, rest).await.context("not all commands were confirmed")?;
        // A host that is busy shows it late. A command that was executed twice shows later.
        let shows_all = async {
            while self.count().is_none_or(|count| count < self.expected()) {
                self.pause().await;
            }
        };
        if timeout(WAIT_LIMIT, shows_all).await.is_ok() {
            let settled = self.shown_time().context("the player has left its game")? + SETTLE_TIME;
            let shows_it = async {
                while self.shown_time().is_none_or(|shown| shown < settled) {
                    self.pause().await;
                }
            };
            timeout(WAIT_LIMIT, shows_it).await.context("the room's time does not pass")?;
        }
        let executed = self.count();
        ensure!(
            executed == Some(self.expected()),
            "{} commands were confirmed, {} of them refused; the game has executed {executed:?}",
            self.sent,
            self.refused
        );
        self.handle.quit();
        Ok(self.confirmed)
    }

    /// How many commands the game must have executed.
    fn expected(&self) -> i64 {
        i64::from(self.sent - self.refused)
    }

    fn read_confirmed(&mut self) {
        self.confirmed = self.handle.run(|client, _| client.stats().confirmed);
    }

    fn shown_time(&self) -> Option<GameTime> {
        self.handle.run(|client, now| client.shown_time(now))
    }

    /// How many commands the game has executed, as the avatar shows it.
    fn count(&self) -> Option<i64> {
        self.handle.run(|client, now| {
            let t = client.shown_time(now)?;
            match client.avatar()?.value("count", t)? {
                ComponentValue::Number(count) => Some(count),
                _ => None,
            }
        })
    }

    async fn pause(&mut self) {
        sleep(COMMAND_INTERVAL).await;
        while let Some(event) = self.events.try_next() {
            let ViewEvent::Game(GameEvent::Refused { code, .. }) = event else {
                continue;
            };
            self.refused += u32::from(code == codes::name(ErrorCode::RateLimited));
        }
    }
}
