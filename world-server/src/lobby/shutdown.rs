//! The end of the server at a time that an operator has set: players read how much is left, and at
//! the end the shell shuts down.
//!
//! Within the last minutes no room is made, since its game would be cut off; rooms that are there
//! can be joined until the end. Nothing of it is recorded: another server knows nothing of it.

use std::time::Duration;

use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world::{Channel, world_to_client::Body};
use ambit_proto::time::LocalTime;

use crate::lobby::Lobby;
use crate::lobby::operator_orders::{OperatorProblem, read_reason, server_line};
use crate::lobby::output::ConnId;
use crate::lobby::planned_end::PlannedEnd;
use crate::lobby::refusal::LobbyRefusal;
use crate::lobby::timers::Timer;

/// When players read how much is left: seconds before the end.
const ANNOUNCED_S: [u64; 10] = [3_600, 1_800, 900, 600, 300, 120, 60, 30, 10, 5];
/// How long before the end the last room is made.
const LAST_ROOM: Duration = Duration::from_mins(5);
/// A longer time is a mistake.
const MAX_MINUTES: u32 = 24 * 60;

impl Lobby {
    /// Plans the end, instead of one that was planned before. Returns how many players read it.
    pub(in crate::lobby) fn plan_end(
        &mut self,
        now: LocalTime,
        minutes: u32,
        reason: &str,
    ) -> Result<usize, OperatorProblem> {
        if minutes > MAX_MINUTES {
            let problem = format!("at most {MAX_MINUTES} minutes are allowed");
            return Err(OperatorProblem::BadText(problem));
        }
        let reason = read_reason(reason)?;
        let at = now + Duration::from_mins(minutes.into());
        self.planned_end = Some(PlannedEnd { at, reason });
        Ok(self.announce_end(now))
    }

    /// The server stays. Returns how many players read it.
    pub(in crate::lobby) fn call_off_end(&mut self) -> Result<usize, OperatorProblem> {
        self.planned_end.take().ok_or(OperatorProblem::NoEndPlanned)?;
        self.effects.timers.cancel(Timer::PlannedEnd);
        let all = self.sessions.players().connected();
        let reached = all.len();
        self.say_as_server(all, "the server does not shut down now".to_owned());
        Ok(reached)
    }

    /// How long until the planned end, and why.
    pub(crate) fn planned_end(&self, now: LocalTime) -> Option<(Duration, String)> {
        self.planned_end.as_ref().map(|end| (end.at.since(now), end.reason.clone()))
    }

    /// Whether the planned time has come: the shell shuts down.
    pub fn is_end_due(&self, now: LocalTime) -> bool {
        self.planned_end.as_ref().is_some_and(|end| end.at <= now)
    }

    /// Tells all players how much is left, and sets when they are told next.
    pub(in crate::lobby) fn announce_end(&mut self, now: LocalTime) -> usize {
        let Some(end) = &self.planned_end else { return 0 };
        let left = end.at.since(now);
        if !left.is_zero() {
            let next = ANNOUNCED_S.into_iter().map(Duration::from_secs).find(|next| *next < left);
            let pause = left.saturating_sub(next.unwrap_or_default());
            self.effects.timers.set(Timer::PlannedEnd, now + pause);
        }
        let text = end.text(now);
        let all = self.sessions.players().connected();
        let reached = all.len();
        self.say_as_server(all, text);
        reached
    }

    /// The same to a player who has just come.
    pub(in crate::lobby) fn announce_end_to(&mut self, now: LocalTime, conn: ConnId) {
        if let Some(end) = &self.planned_end {
            let text = end.text(now);
            self.say_as_server(vec![conn], text);
        }
    }

    /// Refuses to make a room that would end soon.
    pub(in crate::lobby) fn check_end_is_far(&self, now: LocalTime) -> Result<(), LobbyRefusal> {
        match &self.planned_end {
            Some(end) if end.at.since(now) <= LAST_ROOM => {
                let message = format!("{}; no room is made any more", end.text(now));
                Err(LobbyRefusal::new(ErrorCode::Draining, message))
            }
            _ => Ok(()),
        }
    }

    fn say_as_server(&mut self, conns: Vec<ConnId>, text: String) {
        let chat = server_line(Channel::Lobby, 0, text);
        self.effects.outbox.broadcast(conns, Body::Chat(chat));
    }
}
