//! What the server did in the last hour, for the charts of operators: a sample each [`STEP`].
//!
//! Snapshots of the server go in, and their time; lists by what they measure come out. Rates are
//! differences of counters. A snapshot that was not taken leaves a gap between two times, and a
//! counter that has fallen (another server leads, say) counts as one that stands still.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::{Map, Value as Json, json};

use super::snapshot::Snapshot;

/// Time between two samples.
pub(super) const STEP: Duration = Duration::from_secs(10);
/// An hour of samples.
const KEPT: usize = 360;
/// What a sample measures, in the order of its values: `at` in seconds since 1970, processors in
/// use, milliseconds, bytes of datagrams a second, requests a second.
const MEASURES: [&str; 9] =
    ["at", "players", "rooms", "hosts", "cores", "lateness_ms", "in", "out", "refused"];

/// The samples of the last hour, oldest first.
#[derive(Debug, Default)]
pub(super) struct History {
    samples: VecDeque<[f64; MEASURES.len()]>,
    last: Option<HistoryCounters>,
}

/// Counters as of the newest sample.
#[derive(Clone, Copy, Debug)]
struct HistoryCounters {
    at: u64,
    bytes_in: u64,
    bytes_out: u64,
    refused: u64,
}

impl History {
    /// Adds a sample, at this time in seconds since 1970.
    pub(super) fn note(&mut self, at: u64, snapshot: &Snapshot) {
        let lobby = &snapshot.lobby;
        let hosts = snapshot.all_hosts();
        let newest = HistoryCounters {
            at,
            bytes_in: hosts.bytes_in,
            bytes_out: hosts.bytes_out,
            refused: lobby.refused.values().sum(),
        };
        let before = self.last.replace(newest).unwrap_or(newest);
        let seconds = at.saturating_sub(before.at).max(1);
        let rate = |count: fn(&HistoryCounters) -> u64| {
            let tenths = 10 * count(&newest).saturating_sub(count(&before)) / seconds;
            tenths as f64 / 10.0
        };
        let lateness_us = hosts.recent_lateness.unwrap_or_default().p99_us;
        if self.samples.len() == KEPT {
            self.samples.pop_front();
        }
        self.samples.push_back([
            at as f64,
            lobby.players as f64,
            lobby.rooms as f64,
            snapshot.hosts.len() as f64,
            f64::from(hosts.cpu_permille) / 1_000.0,
            f64::from(lateness_us) / 1_000.0,
            rate(|counters| counters.bytes_in),
            rate(|counters| counters.bytes_out),
            rate(|counters| counters.refused),
        ]);
    }

    /// A list for each measure, all of the same length.
    pub(super) fn to_json(&self) -> Json {
        let list = |(index, name): (usize, &&str)| {
            let values: Vec<f64> = self.samples.iter().map(|sample| sample[index]).collect();
            ((*name).to_owned(), json!(values))
        };
        MEASURES.iter().enumerate().map(list).collect::<Map<String, Json>>().into()
    }
}

#[cfg(test)]
mod tests {
    use ambit_host_protocol::stats::{HostStats, TickFigures};
    use ambit_proto::codes::ErrorCode;

    use super::*;

    fn snapshot(bytes_out: u64, refused: u64) -> Snapshot {
        let mut snapshot = Snapshot::default();
        snapshot.lobby.players = 7;
        snapshot.lobby.refused = [(ErrorCode::Draining, refused)].into();
        snapshot.lost_host_stats = HostStats {
            bytes_out,
            cpu_permille: 1_250,
            recent_lateness: Some(TickFigures { p99_us: 2_500, ..TickFigures::default() }),
            ..HostStats::default()
        };
        snapshot
    }

    #[test]
    fn rates_are_differences_a_second_and_never_below_zero() {
        let mut history = History::default();
        for (at, bytes, refused) in [(100, 5_000, 3), (110, 25_000, 8), (130, 100, 8)] {
            history.note(at, &snapshot(bytes, refused));
        }
        let shown = history.to_json();
        assert_eq!(shown["at"], json!([100.0, 110.0, 130.0]));
        assert_eq!(shown["out"], json!([0.0, 2_000.0, 0.0]));
        assert_eq!(shown["refused"], json!([0.0, 0.5, 0.0]));
        assert_eq!(shown["players"], json!([7.0, 7.0, 7.0]));
        assert_eq!((&shown["cores"][0], &shown["lateness_ms"][0]), (&json!(1.25), &json!(2.5)));
    }

    #[test]
    fn an_hour_is_kept_and_no_more() {
        let mut history = History::default();
        for at in 0..1_000 {
            history.note(10 * at, &Snapshot::default());
        }
        let shown = history.to_json();
        let lists = shown.as_object().expect("an object");
        assert_eq!(lists.len(), MEASURES.len());
        let is_whole = |list: &Json| list.as_array().is_some_and(|list| list.len() == KEPT);
        assert!(lists.values().all(is_whole), "{shown}");
        assert_eq!((&shown["at"][0], &shown["at"][359]), (&json!(6_400.0), &json!(9_990.0)));
    }
}
