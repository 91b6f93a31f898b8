//! All bots of a run: gathers them in one room, lets them play, collects their reports.
//!
//! The first bot finds or creates the room; the others follow, [`MAX_JOINING`] at a time. The
//! measured time begins when each of them is in the game or has given up; both happen within a
//! bounded time.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use ambit_client_core::client::event::{LobbyEvent, Welcome};
use ambit_client_core::client::model::RoomListing;
use ambit_client_core::client::request::{LobbyRequest, NewRoom};
use ambit_client_core::shell::ClientHandle;
use ambit_proto::ids::RoomId;
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use crate::bot::{Bot, BotSettings, RunPhase};
use crate::profiles;
use crate::progress::ProgressDisplay;
use crate::summary::{BotReport, RunSummary};

/// Maximum number of bots that join at the same time: each costs the server two handshakes.
const MAX_JOINING: usize = 50;
/// How long a bot in a room may take to get into the game.
const ARRIVAL_TIMEOUT: Duration = Duration::from_secs(30);
/// How long to wait until a room of another player starts.
const START_TIMEOUT: Duration = Duration::from_mins(1);
/// Minimum number of seats of a created room, so that people can join and watch.
const MIN_SEATS: usize = 64;

/// The parameters of a run.
#[derive(Debug)]
pub(crate) struct RunPlan {
    pub(crate) count: usize,
    pub(crate) time: Duration,
    /// Time from the last arrival to the measured time.
    pub(crate) settle: Duration,
    pub(crate) room: String,
    /// Of a created room; `None` for the default.
    pub(crate) game: Option<String>,
    /// Seats of a created room; `None` for enough.
    pub(crate) capacity: Option<u32>,
    pub(crate) parameters: BTreeMap<String, String>,
    /// Makes a repeated creation of the room harmless.
    pub(crate) key: [u8; 16],
}

/// The result of a run.
#[derive(Debug)]
pub(crate) struct RunOutcome {
    pub(crate) summary: RunSummary,
    /// Why the run failed, if it did.
    pub(crate) failure: Option<RunFailure>,
}

/// Why a run failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunFailure {
    pub(crate) message: String,
    /// Whether the flags do not fit the game.
    pub(crate) is_usage: bool,
}

impl RunFailure {
    fn usage(message: String) -> Self {
        Self { message, is_usage: true }
    }
}

impl From<String> for RunFailure {
    fn from(message: String) -> Self {
        Self { message, is_usage: false }
    }
}

/// The room that the first bot found or created.
struct JoinedRoom {
    room: RoomId,
    /// Whether the bots created it, and so must start it.
    is_own: bool,
    /// Whether players can join the running game.
    join_running: bool,
}

/// Progress of a bot that joins.
enum GatherEvent {
    Joined,
    Arrived,
    Failed,
}

struct BotGroup {
    plan: Arc<RunPlan>,
    settings: Arc<BotSettings>,
    phase: watch::Sender<RunPhase>,
    progress: ProgressDisplay,
    bots: JoinSet<BotReport>,
    sender: mpsc::Sender<GatherEvent>,
    gather_events: mpsc::Receiver<GatherEvent>,
}

/// Executes the plan. Ends early on a signal.
pub(crate) async fn run(
    plan: RunPlan,
    settings: BotSettings,
    progress: ProgressDisplay,
) -> RunOutcome {
    let (sender, events) = mpsc::channel(2 * plan.count);
    let plan = Arc::new(plan);
    let settings = Arc::new(settings);
    let phase = watch::Sender::new(RunPhase::Gathering);
    let bots = JoinSet::new();
    let mut group =
        BotGroup { plan, settings, phase, progress, bots, sender, gather_events: events };
    match group.gather().await {
        Ok(()) => group.measure().await,
        Err(failure) => {
            let mut report = BotReport::default();
            report.faults.add("could not run", 1, &failure.message);
            RunOutcome {
                summary: RunSummary::new(group.plan.count, Duration::ZERO, &[report]),
                failure: Some(failure),
            }
        }
    }
}

impl BotGroup {
    /// The error means that there is no room.
    async fn gather(&mut self) -> Result<(), RunFailure> {
        let (mut leader, welcome) = Bot::connect(&self.settings, 0).await?;
        let joined_room = self.find_or_create_room(&mut leader, &welcome).await?;
        if joined_room.is_own && joined_room.join_running {
            leader.ask(LobbyRequest::StartRoom).await?;
        }
        let handle = leader.handle();
        self.progress.gathering(self.plan.count);
        self.spawn_leader(leader);
        self.spawn_others(&joined_room);
        self.await_arrivals(&joined_room, &handle).await;
        if !self.plan.settle.is_zero() {
            sleep(self.plan.settle).await;
            let _ = writeln!(std::io::stdout(), "measuring");
        }
        Ok(())
    }

    async fn find_or_create_room(
        &self,
        leader: &mut Bot,
        welcome: &Welcome,
    ) -> Result<JoinedRoom, RunFailure> {
        let LobbyEvent::Rooms { rooms } =
            leader.ask(LobbyRequest::ListRooms { subscribe: false }).await?
        else {
            return Err("the lobby did not list its rooms".to_owned().into());
        };
        let join_running =
            |game: &str| welcome.games.iter().any(|known| known.name == game && known.join_running);
        let room = rooms.iter().find(|room| room.name == self.plan.room);
        let offered: Vec<_> = welcome.games.iter().map(|game| &*game.name).collect();
        let given = self.plan.game.as_deref();
        let profile = self.settings.profile;
        let game = match room {
            Some(room) => Ok(&*room.game),
            None => profiles::game_to_create(given, profile, &offered),
        };
        let game = game.map_err(RunFailure::usage)?;
        let misfit = profiles::misfit(profile, Some(game));
        misfit.map_or(Ok(()), |misfit| Err(RunFailure::usage(misfit)))?;
        match room {
            Some(RoomListing { id, game, .. }) => {
                leader.ask(LobbyRequest::JoinRoom { room: *id, password: String::new() }).await?;
                Ok(JoinedRoom { room: *id, is_own: false, join_running: join_running(game) })
            }
            None => match leader.ask(LobbyRequest::CreateRoom(self.new_room(game))).await? {
                LobbyEvent::Created { room } => Ok(JoinedRoom {
                    room: room.id,
                    is_own: true,
                    join_running: join_running(&room.game),
                }),
                _ => Err("the lobby did not make the room".to_owned().into()),
            },
        }
    }

    fn new_room(&self, game: &str) -> NewRoom {
        let plan = &self.plan;
        NewRoom {
            name: plan.room.clone(),
            game: game.to_owned(),
            capacity: plan.capacity.unwrap_or(plan.count.max(MIN_SEATS) as u32),
            parameters: plan.parameters.clone(),
            password: String::new(),
            key: plan.key,
        }
    }

    fn spawn_leader(&mut self, mut leader: Bot) {
        let sender = self.sender.clone();
        let phase = self.phase.subscribe();
        self.bots.spawn(async move {
            let _ = sender.send(GatherEvent::Joined).await;
            match leader.wait_for_avatar(arrival_timeout(&leader)).await {
                Ok(()) => {
                    let _ = sender.send(GatherEvent::Arrived).await;
                    leader.play(phase).await
                }
                Err(failure) => give_up(Some(leader), &failure, &sender).await,
            }
        });
    }

    fn spawn_others(&mut self, joined_room: &JoinedRoom) {
        let room = joined_room.room;
        let permits = Arc::new(Semaphore::new(MAX_JOINING));
        for index in 1..self.plan.count {
            let (settings, permits, sender) =
                (self.settings.clone(), permits.clone(), self.sender.clone());
            let phase = self.phase.subscribe();
            self.bots.spawn(async move {
                let permit = permits.acquire().await;
                let (mut bot, _) = match Bot::connect(&settings, index).await {
                    Ok(bot) => bot,
                    Err(failure) => return give_up(None, &failure, &sender).await,
                };
                if let Err(failure) =
                    bot.ask(LobbyRequest::JoinRoom { room, password: String::new() }).await
                {
                    return give_up(Some(bot), &failure, &sender).await;
                }
                drop(permit);
                let _ = sender.send(GatherEvent::Joined).await;
                if let Err(failure) = bot.wait_for_avatar(arrival_timeout(&bot)).await {
                    return give_up(Some(bot), &failure, &sender).await;
                }
                let _ = sender.send(GatherEvent::Arrived).await;
                bot.play(phase).await
            });
        }
    }

    /// Waits until each bot is in the game or has given up; starts a room that must be complete
    /// first.
    async fn await_arrivals(&mut self, joined_room: &JoinedRoom, leader: &ClientHandle) {
        let mut joined = 0;
        let mut settled = 0;
        let mut failed = 0;
        let mut to_start = joined_room.is_own && !joined_room.join_running;
        while settled < self.plan.count {
            match self.gather_events.recv().await.expect("self holds a sender") {
                GatherEvent::Joined => joined += 1,
                GatherEvent::Arrived => settled += 1,
                GatherEvent::Failed => (settled, failed) = (settled + 1, failed + 1),
            }
            self.progress.gathered(settled);
            if to_start && joined + failed >= self.plan.count {
                to_start = false;
                // A refusal is an event of the first bot, and so one of its faults.
                let _ = leader.request(LobbyRequest::StartRoom);
            }
        }
    }

    async fn measure(mut self) -> RunOutcome {
        let began = clock();
        self.phase.send_replace(RunPhase::Measuring);
        self.progress.measuring(self.plan.time);
        let mut reports = Vec::new();
        let mut wait_for_signal = std::pin::pin!(tokio::signal::ctrl_c());
        while began.elapsed() < self.plan.time && !self.bots.is_empty() {
            let rest = self.plan.time.saturating_sub(began.elapsed());
            tokio::select! {
                () = sleep(rest.min(Duration::from_secs(1))) => {
                    self.progress.measured(began.elapsed());
                }
                report = self.bots.join_next() => reports.extend(report.and_then(Result::ok)),
                _ = &mut wait_for_signal => break,
            }
        }
        let measured = began.elapsed();
        self.phase.send_replace(RunPhase::Over);
        self.progress.finish();
        while let Some(report) = self.bots.join_next().await {
            reports.push(report.expect("a bot does not panic"));
        }
        RunOutcome {
            summary: RunSummary::new(self.plan.count, measured, &reports),
            failure: run_failure(&reports).map(RunFailure::from),
        }
    }
}

/// Why the run failed, if it did.
fn run_failure(reports: &[BotReport]) -> Option<String> {
    // Also one whose game ended before the measured time.
    let was_in_game = |report: &&BotReport| report.measured.is_some() || report.lost.is_some();
    let mut played = reports.iter().filter(was_in_game).peekable();
    if played.peek().is_none() {
        return Some("no bot got into the game".to_owned());
    }
    let lost: Option<Vec<&String>> = played.map(|report| report.lost.as_ref()).collect();
    lost.map(|reasons| {
        format!("no bot was left in the game at the end; the first one: {}", reasons[0])
    })
}

/// Allows for a room that does not run yet.
fn arrival_timeout(bot: &Bot) -> Duration {
    if bot.fault_detector().room.as_ref().is_some_and(|room| room.running) {
        ARRIVAL_TIMEOUT
    } else {
        ARRIVAL_TIMEOUT + START_TIMEOUT
    }
}

/// Ends a bot that did not get into the game.
async fn give_up(bot: Option<Bot>, failure: &str, events: &mpsc::Sender<GatherEvent>) -> BotReport {
    let _ = events.send(GatherEvent::Failed).await;
    let mut report = BotReport::default();
    report.faults.add("could not get into the game", 1, failure);
    if let Some(bot) = bot {
        bot.leave().await;
    }
    report
}

#[expect(clippy::disallowed_methods, reason = "the clock of the run")]
fn clock() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::ClientSnapshot;

    #[test]
    fn a_run_failed_if_no_bot_joined_or_none_was_left() {
        let stayed = BotReport {
            measured: Some((ClientSnapshot::default(), ClientSnapshot::default())),
            ..BotReport::default()
        };
        let lost = BotReport { lost: Some("timed out".to_owned()), ..stayed.clone() };
        let outside = BotReport::default();
        assert_eq!(run_failure(&[outside.clone(), stayed.clone(), lost.clone()]), None);
        assert!(
            run_failure(std::slice::from_ref(&outside))
                .is_some_and(|why| why.contains("got into the game"))
        );
        let ended = BotReport { lost: Some("game_over".to_owned()), ..outside.clone() };
        assert!(
            run_failure(&[outside.clone(), ended]).is_some_and(|why| why.contains("game_over"))
        );
        assert!(
            run_failure(&[outside, lost.clone(), lost])
                .is_some_and(|why| why.contains("timed out"))
        );
    }
}
