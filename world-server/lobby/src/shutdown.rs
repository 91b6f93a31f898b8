//! The end of the server at a time that an operator has set: players read how much is left, and at
//! the end the shell shuts down.
//!
//! Within the last minutes no room is made, since its game would be cut off; rooms that are there
//! can be joined until the end. Nothing of it is recorded: another server knows nothing of it.

use std::time::Duration;

use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world::{Channel, world_to_client::Body};
use ambit_proto::time::LocalTime;

use crate::effects::LobbyEffects;
use crate::operator_orders::{OperatorProblem, read_reason, server_line};
use crate::output::{ConnId, OutputQueue};
use crate::planned_end::PlannedEnd;
use crate::refusal::LobbyRefusal;
use crate::sessions::Sessions;
use crate::timers::Timer;

/// When players read how much is left: seconds before the end.
const ANNOUNCED_S: [u64; 10] = [3_600, 1_800, 900, 600, 300, 120, 60, 30, 10, 5];
/// How long before the end the last room is made.
const LAST_ROOM: Duration = Duration::from_mins(5);
/// A longer time is a mistake.
const MAX_MINUTES: u32 = 24 * 60;

/// Whether and when the server ends; see the module.
#[derive(Debug, Default)]
pub(super) struct ServerEnd {
    planned: Option<PlannedEnd>,
    /// Whether it has begun: there are no new connections and rooms.
    is_draining: bool,
}

impl ServerEnd {
    /// The end has begun.
    pub(super) fn begin(&mut self) {
        self.is_draining = true;
    }

    /// Whether the end has begun.
    pub(super) fn is_draining(&self) -> bool {
        self.is_draining
    }

    /// Plans the end, instead of one that was planned before. Returns how many players read it.
    pub(super) fn plan(
        &mut self,
        now: LocalTime,
        minutes: u32,
        reason: &str,
        sessions: &Sessions,
        effects: &mut LobbyEffects,
    ) -> Result<usize, OperatorProblem> {
        if minutes > MAX_MINUTES {
            let problem = format!("at most {MAX_MINUTES} minutes are allowed");
            return Err(OperatorProblem::BadText(problem));
        }
        let reason = read_reason(reason)?;
        let at = now + Duration::from_mins(minutes.into());
        self.planned = Some(PlannedEnd { at, reason });
        Ok(self.announce(now, sessions, effects))
    }

    /// The server stays. Returns how many players read it.
    pub(super) fn call_off(
        &mut self,
        sessions: &Sessions,
        effects: &mut LobbyEffects,
    ) -> Result<usize, OperatorProblem> {
        self.planned.take().ok_or(OperatorProblem::NoEndPlanned)?;
        effects.timers.cancel(Timer::PlannedEnd);
        let all = sessions.players().connected();
        let reached = all.len();
        let text = "the server does not shut down now".to_owned();
        say_as_server(all, text, &mut effects.outbox);
        Ok(reached)
    }

    /// How long until the planned end, and why.
    pub(super) fn planned(&self, now: LocalTime) -> Option<(Duration, String)> {
        self.planned.as_ref().map(|end| (end.at.since(now), end.reason.clone()))
    }

    /// Whether the planned time has come.
    pub(super) fn is_due(&self, now: LocalTime) -> bool {
        self.planned.as_ref().is_some_and(|end| end.at <= now)
    }

    /// Tells all players how much is left, and sets when they are told next. Returns how many they
    /// are.
    pub(super) fn announce(
        &self,
        now: LocalTime,
        sessions: &Sessions,
        effects: &mut LobbyEffects,
    ) -> usize {
        let Some(end) = &self.planned else { return 0 };
        let left = end.at.since(now);
        if !left.is_zero() {
            let next = ANNOUNCED_S.into_iter().map(Duration::from_secs).find(|next| *next < left);
            let pause = left.saturating_sub(next.unwrap_or_default());
            effects.timers.set(Timer::PlannedEnd, now + pause);
        }
        let all = sessions.players().connected();
        let reached = all.len();
        say_as_server(all, end.text(now), &mut effects.outbox);
        reached
    }

    /// The same to a player who has just come.
    pub(super) fn announce_to(&self, now: LocalTime, conn: ConnId, outbox: &mut OutputQueue) {
        if let Some(end) = &self.planned {
            say_as_server(vec![conn], end.text(now), outbox);
        }
    }

    /// Refuses to make a room that would end soon.
    pub(super) fn check_is_far(&self, now: LocalTime) -> Result<(), LobbyRefusal> {
        match &self.planned {
            Some(end) if end.at.since(now) <= LAST_ROOM => {
                let message = format!("{}; no room is made any more", end.text(now));
                Err(LobbyRefusal::new(ErrorCode::Draining, message))
            }
            _ => Ok(()),
        }
    }
}

fn say_as_server(conns: Vec<ConnId>, text: String, outbox: &mut OutputQueue) {
    outbox.broadcast(conns, Body::Chat(server_line(Channel::Lobby, 0, text)));
}
