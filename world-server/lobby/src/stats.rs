//! The lobby's counters, for metrics and dashboards.

use std::collections::BTreeMap;

use ambit_proto::codes::ErrorCode;
use ambit_proto::time::LocalTime;

use crate::report_limit::ReportLimit;

/// Totals since the start, and current numbers ("now").
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LobbyStats {
    /// Connections that are open now.
    pub connections: usize,
    /// All connections, refused ones included.
    pub connections_total: u64,
    /// Players now, those within the grace period included.
    pub players: usize,
    /// Players now that have no connection.
    pub players_away: usize,
    /// Sessions resumed.
    pub resumed: u64,
    /// Rooms now.
    pub rooms: usize,
    /// Rooms now whose game runs.
    pub rooms_running: usize,
    /// Rooms created.
    pub rooms_made: u64,
    /// Rooms started.
    pub rooms_started: u64,
    /// Rooms that lost their host, or were handed over, and had to resume elsewhere.
    pub rooms_moved: u64,
    /// Rooms that a host of another build could not read, and that went back to their own.
    pub rooms_misfit: u64,
    /// Rooms now that wait for a host of the build that saved them.
    pub rooms_waiting: usize,
    /// Rooms closed because they seemed to crash their hosts.
    pub rooms_condemned: u64,
    /// Rooms closed because they had no players.
    pub rooms_abandoned: u64,
    /// Attempts to join during a pause after wrong passwords.
    pub password_guesses_refused: u64,
    /// Players who have moved through a gate to another map.
    pub transfers_completed: u64,
    /// Hosts that are ready now.
    pub hosts: usize,
    /// Of these, hosts whose clock differs from this server's by seconds.
    pub hosts_with_wrong_clock: usize,
    /// Hosts refused.
    pub hosts_refused: u64,
    /// Tickets issued.
    pub tickets: u64,
    /// Chat messages.
    pub chats: u64,
    /// Requests and connections refused, by code.
    pub refused: BTreeMap<ErrorCode, u64>,
    /// Connections closed by the lobby, by code.
    pub closed: BTreeMap<ErrorCode, u64>,
}

/// What has become of rooms; see [`LobbyStats`].
#[derive(Debug, Default)]
pub(super) struct RoomCounters {
    pub(super) made: u64,
    pub(super) started: u64,
    pub(super) moved: u64,
    pub(super) misfit: u64,
    pub(super) condemned: u64,
    pub(super) abandoned: u64,
}

/// The counters: values that only grow.
#[derive(Debug, Default)]
pub(super) struct LobbyCounters {
    pub(super) rooms: RoomCounters,
    pub(super) resumed: u64,
    pub(super) hosts_refused: u64,
    pub(super) password_guesses_refused: u64,
    pub(super) transfers_completed: u64,
    pub(super) tickets: u64,
    pub(super) chats: u64,
    refused: BTreeMap<ErrorCode, u64>,
    closed: BTreeMap<ErrorCode, u64>,
    reported: BTreeMap<ErrorCode, ReportLimit>,
}

impl LobbyCounters {
    /// Returns how many refusals with this code there are to report now, if any.
    pub(super) fn refusals_to_report(&mut self, now: LocalTime, code: ErrorCode) -> Option<u64> {
        self.reported.entry(code).or_default().note(now)
    }

    pub(super) fn count_refused(&mut self, code: ErrorCode) {
        *self.refused.entry(code).or_default() += 1;
    }

    pub(super) fn count_closed(&mut self, code: ErrorCode) {
        *self.closed.entry(code).or_default() += 1;
    }

    /// The totals, without what there is now.
    pub(super) fn totals(&self) -> LobbyStats {
        LobbyStats {
            resumed: self.resumed,
            rooms_made: self.rooms.made,
            rooms_started: self.rooms.started,
            rooms_moved: self.rooms.moved,
            rooms_misfit: self.rooms.misfit,
            rooms_condemned: self.rooms.condemned,
            rooms_abandoned: self.rooms.abandoned,
            password_guesses_refused: self.password_guesses_refused,
            transfers_completed: self.transfers_completed,
            hosts_refused: self.hosts_refused,
            tickets: self.tickets,
            chats: self.chats,
            refused: self.refused.clone(),
            closed: self.closed.clone(),
            ..LobbyStats::default()
        }
    }
}
