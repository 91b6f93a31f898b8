//! The summary of a run.
//!
//! Each bot's report goes in; the results come out, as a JSON object with fixed keys for scripts
//! and in words for people. Counts of enters, leaves and events are since the bots joined; shares,
//! rates, ages and gaps are of the measured time. Rates are per client. Bytes and datagrams are UDP
//! payload, including QUIC's own packets and the lobby connection.

use std::time::Duration;

use ambit_client_core::client::stats::{AgeByClass, ClientStats, Distribution};
use ambit_client_core::shell::Traffic;
use ambit_client_text::json;
use serde_json::{Value as Json, json};

use crate::fault_detector::{Faults, Refusals};

/// A client's counters at one time.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClientSnapshot {
    pub(crate) stats: ClientStats,
    pub(crate) traffic: Traffic,
    /// How long no new data has arrived.
    pub(crate) silence: Option<Duration>,
}

/// The results of one bot.
#[derive(Clone, Debug, Default)]
pub(crate) struct BotReport {
    /// Whether it was in the game for all of the measured time.
    pub(crate) steady: bool,
    /// Whether it is a light client: it has no updates and no ages.
    pub(crate) light: bool,
    /// At the start and at the end of the measured time; `None` for a bot that was not in the game
    /// at the start.
    pub(crate) measured: Option<(ClientSnapshot, ClientSnapshot)>,
    /// Sampled within the measured time.
    pub(crate) ages: Distribution,
    /// How often the lobby connection broke and the session was resumed.
    pub(crate) resumes: u64,
    pub(crate) refusals: Refusals,
    pub(crate) faults: Faults,
    /// Why it was out of the game at the end, if it was.
    pub(crate) lost: Option<String>,
    /// Commands that were confirmed.
    pub(crate) confirmed: u64,
}

/// The results of all bots.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunSummary {
    asked: usize,
    seconds: f64,
    /// Clients that were in the game for all of the measured time; the JSON key is `connected`.
    steady: usize,
    measured: usize,
    /// Measured clients that decode poses; the JSON key is `whole`.
    full_clients: usize,
    enters: u64,
    leaves: u64,
    events: u64,
    /// Events and updates, late ones included.
    received: u64,
    late: u64,
    updates: u64,
    /// Objects that full clients had in sight at the end, including their own avatars.
    in_sight: u64,
    traffic: Traffic,
    rtts_ms: Vec<f64>,
    ages: Distribution,
    age_by_class: AgeByClass,
    gaps: Distribution,
    /// How often a client's room moved to another host.
    moves: u64,
    move_gaps: Distribution,
    /// The JSON key is `acknowledged`.
    confirmed: u64,
    silence_max: Duration,
    resumes: u64,
    refusals: Refusals,
    faults: Faults,
}

impl RunSummary {
    /// Of a run of `asked` bots that were measured for `time`.
    pub(crate) fn new(asked: usize, time: Duration, reports: &[BotReport]) -> Self {
        let mut summary =
            RunSummary { asked, seconds: time.as_secs_f64(), ..RunSummary::default() };
        for report in reports {
            summary.add(report);
        }
        summary.rtts_ms.sort_by(f64::total_cmp);
        summary
    }

    /// Exactly the keys that scripts rely on. A value that could not be measured is null.
    pub(crate) fn json(&self) -> Json {
        json!({
            "connected": self.steady, "whole": self.full_clients, "errors": self.faults.count(),
            "enters": self.enters, "leaves": self.leaves, "events": self.events,
            "late_share": round(self.late_share(), 6),
            "updates_per_s": round(self.update_rate(), 3),
            "in_sight": round(self.in_sight_per_client(), 2),
            "bytes_down_per_s": round(self.rate(self.traffic.bytes_down), 1),
            "bytes_up_per_s": round(self.rate(self.traffic.bytes_up), 1),
            "datagrams_down_per_s": round(self.rate(self.traffic.datagrams_down), 3),
            "datagrams_up_per_s": round(self.rate(self.traffic.datagrams_up), 3),
            "rtt_ms_p50": self.rtt_ms(),
            "age_ms_p50": self.ages.quantile_ms(0.5), "age_ms_p99": self.ages.quantile_ms(0.99),
            "age_by_class": json::age_by_class(&self.age_by_class),
            "gap_ms_p99": self.gaps.quantile_ms(0.99), "gap_ms_max": self.gap_max_ms(),
            "moves": self.moves,
            "move_gap_ms_p50": self.move_gaps.quantile_ms(0.5),
            "move_gap_ms_p99": self.move_gaps.quantile_ms(0.99),
            "move_gap_ms_max": (self.move_gaps.count() > 0)
                .then(|| self.move_gaps.max().as_millis() as u64),
            "acknowledged": self.confirmed,
            "resumes": self.resumes,
        })
    }

    /// Several lines for people.
    pub(crate) fn text(&self) -> String {
        let lines = [
            format!(
                "clients    {} of {} in the room for all of {:.1} s",
                self.steady, self.asked, self.seconds
            ),
            format!("enters     {}, leaves {}, events {}", self.enters, self.leaves, self.events),
            format!("late       {:.3} % of events and updates", 100.0 * self.late_share()),
            format!(
                "a client   {:.1} updates/s, {:.1} datagrams/s and {:.0} bytes/s down, \
                 {:.0} bytes/s up (UDP payload)",
                self.update_rate(),
                self.rate(self.traffic.datagrams_down),
                self.rate(self.traffic.bytes_down),
                self.rate(self.traffic.bytes_up)
            ),
            format!("round trip {} ms (median)", or_dash(self.rtt_ms())),
        ];
        let more_lines = [
            format!("confirmed  {} commands", self.confirmed),
            format!("resumed    {} broken lobby connections", self.resumes),
            format!(
                "refused    {} commands for reasons of the game, {} for general ones (malformed, \
                 too late)",
                self.refusals.of_game, self.refusals.general
            ),
            format!("errors     {}", self.faults.count()),
        ];
        lines
            .into_iter()
            .chain(self.age_and_gap_lines())
            .chain(more_lines)
            .chain(self.fault_lines())
            .collect::<Vec<_>>()
            .join("\n")
    }

    fn age_and_gap_lines(&self) -> [String; 4] {
        let p50 = |distribution: &Distribution| or_dash(distribution.quantile_ms(0.5));
        let p99 = |distribution: &Distribution| or_dash(distribution.quantile_ms(0.99));
        let both = |ages: &Distribution| format!("{}/{}", p50(ages), p99(ages));
        [
            format!(
                "age        {} ms median, {} ms p99, of moving objects",
                p50(&self.ages),
                p99(&self.ages)
            ),
            format!(
                "  by class {} ms engaged, {} ms near, {} ms far (median/p99)",
                both(&self.age_by_class.engaged),
                both(&self.age_by_class.near),
                both(&self.age_by_class.far)
            ),
            format!(
                "gap        {} ms p99, {} ms longest without new data",
                p99(&self.gaps),
                self.gap_max_ms()
            ),
            format!(
                "moves      {} to another host; {} ms median, {} ms p99 without new data",
                self.moves,
                p50(&self.move_gaps),
                p99(&self.move_gaps)
            ),
        ]
    }

    /// The faults, one line a kind.
    pub(crate) fn fault_lines(&self) -> impl Iterator<Item = String> {
        self.faults
            .iter()
            .map(|(kind, count, example)| format!("  {count:>6} {kind}, such as: {example}"))
    }

    fn add(&mut self, report: &BotReport) {
        self.resumes += report.resumes;
        self.refusals.of_game += report.refusals.of_game;
        self.refusals.general += report.refusals.general;
        self.faults.merge(&report.faults);
        self.confirmed += report.confirmed;
        let Some((first, last)) = &report.measured else {
            return;
        };
        self.measured += 1;
        self.steady += usize::from(report.steady);
        self.enters += last.stats.enters;
        self.leaves += last.stats.leaves;
        self.events += last.stats.events;
        let late = |stats: &ClientStats| stats.late_events + stats.late_updates;
        let all = |stats: &ClientStats| stats.events + stats.updates;
        self.late += late(&last.stats).saturating_sub(late(&first.stats));
        self.received += all(&last.stats).saturating_sub(all(&first.stats));
        if !report.light {
            self.full_clients += 1;
            self.updates += last.stats.updates.saturating_sub(first.stats.updates);
            self.in_sight += last.stats.enters.saturating_sub(last.stats.leaves);
            self.ages.merge(&report.ages);
            self.age_by_class.merge(&last.stats.ages.since(&first.stats.ages));
        }
        let sent = &last.traffic;
        let before = &first.traffic;
        self.traffic.bytes_down += sent.bytes_down.saturating_sub(before.bytes_down);
        self.traffic.bytes_up += sent.bytes_up.saturating_sub(before.bytes_up);
        self.traffic.datagrams_down += sent.datagrams_down.saturating_sub(before.datagrams_down);
        self.traffic.datagrams_up += sent.datagrams_up.saturating_sub(before.datagrams_up);
        self.rtts_ms.extend(last.stats.rtt.map(|rtt| rtt.as_secs_f64() * 1_000.0));
        self.gaps.merge(&last.stats.gaps.since(&first.stats.gaps));
        self.moves += last.stats.moves.saturating_sub(first.stats.moves);
        self.move_gaps.merge(&last.stats.move_gaps.since(&first.stats.move_gaps));
        self.silence_max = self.silence_max.max(last.silence.unwrap_or_default());
    }

    fn late_share(&self) -> f64 {
        if self.received == 0 { 0.0 } else { self.late as f64 / self.received as f64 }
    }

    /// A count per second and client.
    fn rate(&self, count: u64) -> f64 {
        if self.measured == 0 || self.seconds <= 0.0 {
            0.0
        } else {
            count as f64 / self.seconds / self.measured as f64
        }
    }

    /// Updates per second and full client.
    fn update_rate(&self) -> f64 {
        if self.full_clients == 0 || self.seconds <= 0.0 {
            0.0
        } else {
            self.updates as f64 / self.seconds / self.full_clients as f64
        }
    }

    /// Objects in sight per full client.
    fn in_sight_per_client(&self) -> f64 {
        if self.full_clients == 0 { 0.0 } else { self.in_sight as f64 / self.full_clients as f64 }
    }

    fn rtt_ms(&self) -> Option<f64> {
        let middle = self.rtts_ms.len().checked_sub(1)? / 2;
        Some(round(self.rtts_ms[middle], 3))
    }

    /// A gap that lasts to the end counts.
    fn gap_max_ms(&self) -> u64 {
        self.gaps.max().max(self.silence_max).as_millis() as u64
    }
}

fn or_dash(value: Option<impl ToString>) -> String {
    value.map_or("-".to_owned(), |value| value.to_string())
}

fn round(value: f64, digits: i32) -> f64 {
    let scale = 10_f64.powi(digits);
    (value * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_object_has_exactly_the_documented_keys() {
        let json = RunSummary::new(1, Duration::from_secs(1), &[]).json();
        let mut expected = [
            "connected",
            "whole",
            "errors",
            "enters",
            "leaves",
            "events",
            "late_share",
            "updates_per_s",
            "in_sight",
            "bytes_down_per_s",
            "bytes_up_per_s",
            "datagrams_down_per_s",
            "datagrams_up_per_s",
            "rtt_ms_p50",
            "age_ms_p50",
            "age_ms_p99",
            "age_by_class",
            "gap_ms_p99",
            "gap_ms_max",
            "moves",
            "move_gap_ms_p50",
            "move_gap_ms_p99",
            "move_gap_ms_max",
            "acknowledged",
            "resumes",
        ];
        expected.sort_unstable();
        let mut keys: Vec<&str> =
            json.as_object().expect("an object").keys().map(String::as_str).collect();
        keys.sort_unstable();
        assert_eq!(keys, expected);
        let page = include_str!("../../../docs/console-and-bots.md");
        let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| `")).collect();
        for key in keys {
            let name = format!("`{key}`");
            assert!(rows.iter().any(|row| row.contains(&name)), "{name} is in no table");
        }
    }

    #[test]
    fn rates_are_per_second_and_client_within_the_measured_time() {
        let report = |updates: u64| {
            let snapshot = |updates, bytes_down| ClientSnapshot {
                stats: ClientStats { updates, events: 10, enters: 3, ..ClientStats::default() },
                traffic: Traffic { bytes_down, ..Traffic::default() },
                silence: None,
            };
            let measured = Some((snapshot(1_000, 500), snapshot(1_000 + updates, 2_500)));
            BotReport { steady: true, measured, ..BotReport::default() }
        };
        let json = RunSummary::new(
            3,
            Duration::from_secs(10),
            &[report(100), report(300), BotReport::default()],
        )
        .json();
        assert_eq!(
            (&json["updates_per_s"], &json["bytes_down_per_s"]),
            (&json!(20.0), &json!(200.0))
        );
        assert_eq!(
            (&json["connected"], &json["enters"], &json["events"]),
            (&json!(2), &json!(6), &json!(20))
        );
    }

    #[test]
    fn lateness_before_the_measured_time_does_not_count() {
        let snapshot = |events, late_events| ClientSnapshot {
            stats: ClientStats { events, late_events, ..ClientStats::default() },
            ..ClientSnapshot::default()
        };
        let report = BotReport {
            measured: Some((snapshot(10, 10), snapshot(110, 11))),
            ..BotReport::default()
        };
        assert_eq!(
            RunSummary::new(1, Duration::from_secs(1), &[report]).json()["late_share"],
            json!(0.01)
        );
    }

    #[test]
    fn a_gap_at_the_end_counts_and_one_before_the_start_does_not() {
        let snapshot = |gaps: &[u64], silence| {
            let mut stats = ClientStats::default();
            for &ms in gaps {
                stats.gaps.add(Duration::from_millis(ms));
            }
            ClientSnapshot { stats, silence, ..ClientSnapshot::default() }
        };
        let measured = |last| Some((snapshot(&[900], None), last));
        let report = |last| BotReport { measured: measured(last), ..BotReport::default() };
        let of = |last| RunSummary::new(1, Duration::from_secs(1), &[report(last)]).json();
        let json = of(snapshot(&[900, 50, 60], None));
        assert_eq!((&json["gap_ms_p99"], &json["gap_ms_max"]), (&json!(60), &json!(60)));
        assert_eq!(
            of(snapshot(&[900, 50, 60], Some(Duration::from_secs(3))))["gap_ms_max"],
            json!(3_000)
        );
    }

    #[test]
    fn ages_by_class_are_those_of_the_measured_time() {
        let snapshot = |near: &[u64]| {
            let mut stats = ClientStats::default();
            for &ms in near {
                stats.ages.near.add(Duration::from_millis(ms));
            }
            ClientSnapshot { stats, ..ClientSnapshot::default() }
        };
        let report = BotReport {
            measured: Some((snapshot(&[900]), snapshot(&[900, 50, 70]))),
            ..BotReport::default()
        };
        let ages = &RunSummary::new(1, Duration::from_secs(1), &[report]).json()["age_by_class"];
        assert_eq!(
            (&ages["near"], &ages["far"]["p50"]),
            (&json!({ "p50": 50, "p99": 70 }), &Json::Null)
        );
    }

    #[test]
    fn the_median_round_trip_is_one_that_was_measured() {
        let report = |us| {
            let stats =
                ClientStats { rtt: Some(Duration::from_micros(us)), ..ClientStats::default() };
            let last = ClientSnapshot { stats, ..ClientSnapshot::default() };
            BotReport { measured: Some((ClientSnapshot::default(), last)), ..BotReport::default() }
        };
        let reports = [report(9_000), report(1_250), report(3_000)];
        assert_eq!(
            RunSummary::new(3, Duration::from_secs(1), &reports).json()["rtt_ms_p50"],
            json!(3.0)
        );
    }

    #[test]
    fn gaps_around_host_changes_are_counted_separately() {
        let moved = |gaps: &[u64]| {
            let mut stats = ClientStats { moves: gaps.len() as u64, ..ClientStats::default() };
            for &ms in gaps {
                stats.move_gaps.add(Duration::from_millis(ms));
            }
            ClientSnapshot { stats, ..ClientSnapshot::default() }
        };
        let measured = Some((moved(&[900]), moved(&[900, 70, 80])));
        let report = BotReport { measured, confirmed: 7, ..BotReport::default() };
        let json = RunSummary::new(1, Duration::from_secs(1), &[report]).json();
        assert_eq!(
            (&json["moves"], &json["move_gap_ms_p50"], &json["move_gap_ms_p99"]),
            (&json!(2), &json!(70), &json!(80))
        );
        assert_eq!(json["acknowledged"], 7);
    }

    #[test]
    fn faults_are_printed_with_an_example() {
        let mut report = BotReport::default();
        report.faults.add("room_full", 2, "no seat left");
        let summary = RunSummary::new(2, Duration::from_secs(1), &[report]);
        assert_eq!(summary.json()["errors"], json!(2));
        assert!(summary.text().contains("2 room_full, such as: no seat left"));
    }
}
