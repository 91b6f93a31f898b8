//! What a call of the lobby causes beside its own state: outputs, timers, and counts.
//!
//! The parts of the lobby get it as an argument.

use std::net::IpAddr;

use ambit_proto::codes::{self, ErrorCode};
use ambit_proto::ids::PlayerId;
use ambit_proto::time::LocalTime;

use crate::operator_event::OperatorEvent;
use crate::output::{LobbyAction, OutputQueue};
use crate::refusal::LobbyRefusal;
use crate::stats::LobbyCounters;
use crate::timers::LobbyTimers;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct LobbyEffects {
    pub(super) outbox: OutputQueue,
    pub(super) timers: LobbyTimers,
    pub(super) counters: LobbyCounters,
}

impl LobbyEffects {
    /// Tells operators.
    pub(super) fn report(&mut self, event: OperatorEvent) {
        self.outbox.push(LobbyAction::Report(event));
    }

    /// Counts a refusal; of those for a limit, and of wrong proofs, one a second is reported.
    pub(super) fn note_refused(
        &mut self,
        now: LocalTime,
        address: Option<IpAddr>,
        refusal: &LobbyRefusal,
    ) {
        self.counters.count_refused(refusal.code);
        if !is_of_interest(refusal.code) {
            return;
        }
        if let Some(times) = self.counters.refusals_to_report(now, refusal.code) {
            self.report(OperatorEvent::Refused {
                code: codes::name(refusal.code),
                times,
                address: address.map(|address| address.to_string()),
                message: refusal.message.clone(),
            });
        }
    }

    /// The lobby closes a connection with this code.
    pub(super) fn report_fault(
        &mut self,
        code: ErrorCode,
        player: Option<PlayerId>,
        address: IpAddr,
    ) {
        let is_fault = matches!(
            code,
            ErrorCode::Malformed
                | ErrorCode::MessageTooLarge
                | ErrorCode::SlowReader
                | ErrorCode::RateLimited
        );
        if is_fault {
            let (code, player) = (codes::name(code), player.map(|player| player.0));
            let address = address.to_string();
            self.report(OperatorEvent::ClientFault { code, player, address });
        }
    }
}

/// Whether an operator wants to know of refusals with this code: of limits, and of attempts.
fn is_of_interest(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::RateLimited
            | ErrorCode::TooManyConnections
            | ErrorCode::TooManyFromAddress
            | ErrorCode::TooManyRooms
            | ErrorCode::NoHostAvailable
            | ErrorCode::WrongPassword
            | ErrorCode::BadAccount
            | ErrorCode::Banned
            | ErrorCode::VersionMismatch
    )
}
