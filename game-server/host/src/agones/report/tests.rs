//! The reporter against a sidecar that answers, fails, is slow or is missing.

use super::*;

const IDLE: HostLoad = HostLoad { in_service: true, rooms: 0, capacity: 8, players: 0, seats: 0 };
const GAME_SERVER: SidecarAnswer =
    SidecarAnswer::GameServer { has_address: true, health_period: Some(Duration::from_secs(5)) };

#[test]
fn a_host_reports_ready_once_after_a_world_server_accepted_it() {
    let mut scene = Scene::new();
    scene.load(HostLoad { in_service: false, ..IDLE });
    assert!(!scene.run_until(5_000).contains(&SidecarCall::Ready));
    scene.load(IDLE);
    scene.load(IDLE);
    let calls = scene.run_until(60_000);
    assert_eq!(calls.iter().filter(|call| **call == SidecarCall::Ready).count(), 1);
}

#[test]
fn health_is_reported_twice_in_each_period() {
    let mut scene = Scene::new();
    scene.game_server = SidecarAnswer::GameServer {
        has_address: true,
        health_period: Some(Duration::from_secs(10)),
    };
    let calls = scene.run_until(59_000);
    // The first call is sent before the period is known.
    assert_eq!(calls.iter().filter(|call| **call == SidecarCall::Health).count(), 13);
}

#[test]
fn disabled_health_checks_are_not_sent() {
    let mut scene = Scene::new();
    scene.game_server = SidecarAnswer::GameServer { has_address: true, health_period: None };
    let calls = scene.run_until(60_000);
    assert!(calls.iter().filter(|call| **call == SidecarCall::Health).count() <= 2, "{calls:?}");
}

#[test]
fn counters_are_sent_first_and_then_at_most_once_a_second_on_change() {
    let mut scene = Scene::new();
    scene.load(IDLE);
    assert_eq!(scene.counter_calls_until(10_000), [rooms(0, 8), players(0, 0)]);
    for count in 1..=5 {
        scene.load(HostLoad { rooms: count, seats: 10 * count, ..IDLE });
        scene.now += Duration::from_millis(10);
    }
    assert_eq!(scene.counter_calls_until(20_000), [rooms(5, 8), players(0, 50)]);
    scene.load(HostLoad { rooms: 4, seats: 50, ..IDLE });
    assert_eq!(scene.counter_calls_until(20_001), [rooms(4, 8)]);
    scene.load(HostLoad { rooms: 3, seats: 50, ..IDLE });
    scene.load(HostLoad { rooms: 2, seats: 50, ..IDLE });
    assert_eq!(scene.counter_calls_until(20_900), []);
    assert_eq!(scene.counter_calls_until(21_100), [rooms(2, 8)]);
    scene.load(HostLoad { rooms: 1, seats: 50, ..IDLE });
    scene.load(HostLoad { rooms: 2, seats: 50, ..IDLE });
    assert_eq!(scene.counter_calls_until(60_000), [], "an unchanged counter needs no call");
}

#[test]
fn a_change_while_a_counter_call_is_in_flight_is_sent_after_it() {
    let mut report = AgonesReporter::new(LocalTime::ZERO, false);
    report.handle_load(LocalTime::ZERO, IDLE);
    let calls = poll_all(&mut report, LocalTime::ZERO);
    assert!(calls.contains(&rooms(0, 8)), "{calls:?}");
    report.handle_load(at(10), HostLoad { rooms: 1, ..IDLE });
    assert_eq!(poll_all(&mut report, at(500)), [], "only one call may be in flight");
    report.handle_answer(at(700), rooms(0, 8), Ok(SidecarAnswer::Done));
    assert_eq!(poll_all(&mut report, at(1_600)), []);
    assert_eq!(poll_all(&mut report, at(1_700)), [rooms(1, 8)]);
}

#[test]
fn a_count_never_exceeds_the_capacity_sent_with_it() {
    let mut scene = Scene::new();
    scene.load(HostLoad { players: 12, seats: 10, rooms: 9, ..IDLE });
    assert_eq!(scene.counter_calls_until(1_000), [rooms(9, 9), players(12, 12)]);
}

#[test]
fn a_slow_answer_delays_no_other_call() {
    let mut report = AgonesReporter::new(LocalTime::ZERO, false);
    report.handle_load(LocalTime::ZERO, IDLE);
    let first = poll_all(&mut report, LocalTime::ZERO);
    assert_eq!(
        first,
        [
            SidecarCall::Health,
            SidecarCall::GetGameServer,
            SidecarCall::Ready,
            rooms(0, 8),
            players(0, 0)
        ]
    );
    // Only health calls are answered.
    for second in 1..=10 {
        report.handle_answer(at(second * 2_500), SidecarCall::Health, Ok(SidecarAnswer::Done));
        assert_eq!(poll_all(&mut report, at((second + 1) * 2_500)), [SidecarCall::Health]);
    }
}

#[test]
fn a_missing_sidecar_is_logged_once_and_retried_with_backoff() {
    let mut scene = Scene::new();
    scene.failure = Some(CallError::Unreachable("refused".into()));
    scene.load(IDLE);
    let calls = scene.run_until(60_000);
    assert_eq!(scene.events, [ReportEvent::SidecarMissing("refused".into())]);
    let requests = calls.iter().filter(|call| **call == SidecarCall::GetGameServer).count();
    assert!((8..=12).contains(&requests), "{requests} requests in a minute");
    let pings = calls.iter().filter(|call| **call == SidecarCall::Health).count();
    assert!((20..=30).contains(&pings), "{pings}: health calls are retried most often");
    scene.failure = None;
    scene.events.clear();
    let calls = scene.run_until(75_000);
    assert_eq!(
        scene.events,
        [ReportEvent::SidecarFound, ReportEvent::CallSucceeded(CallKind::Ready)]
    );
    for call in [
        SidecarCall::GetGameServer,
        SidecarCall::Ready,
        SidecarCall::Health,
        rooms(0, 8),
        players(0, 0),
    ] {
        assert!(calls.contains(&call), "{call:?} is missing in {calls:?}");
    }
}

#[test]
fn a_refused_call_is_logged_once_and_again_when_it_succeeds() {
    let mut scene = Scene::new();
    scene.load(IDLE);
    scene.refused_call = Some(CallKind::Count(FleetCounter::Players));
    let calls = scene.run_until(60_000);
    let failed = ReportEvent::CallFailed(CallKind::Count(FleetCounter::Players), "no".into());
    assert_eq!(scene.events, [ReportEvent::CallSucceeded(CallKind::Ready), failed]);
    assert_eq!(
        calls.iter().filter(|call| **call == rooms(0, 8)).count(),
        1,
        "other calls are not repeated"
    );
    scene.refused_call = None;
    scene.run_until(75_000);
    assert_eq!(
        scene.events[2..],
        [ReportEvent::CallSucceeded(CallKind::Count(FleetCounter::Players))]
    );
}

#[test]
fn a_change_does_not_shorten_the_backoff_of_a_failing_call() {
    let mut scene = Scene::new();
    scene.refused_call = Some(CallKind::Count(FleetCounter::Rooms));
    let mut tries = 0;
    for step in 0..600 {
        scene.load(HostLoad { rooms: step % 2, ..IDLE });
        let calls = scene.run_until(u64::from(step) * 100);
        tries +=
            calls.iter().filter(|call| call.kind() == CallKind::Count(FleetCounter::Rooms)).count();
    }
    assert!(tries < 15, "{tries} tries in a minute");
}

#[test]
fn a_host_without_an_address_asks_until_it_is_known() {
    let mut scene = Scene::with_address_need(true);
    scene.game_server = SidecarAnswer::GameServer { has_address: false, health_period: None };
    assert!(
        scene.run_until(5_000).iter().filter(|call| **call == SidecarCall::GetGameServer).count()
            > 5
    );
    scene.game_server = GAME_SERVER;
    scene.run_until(6_000);
    assert!(!scene.run_until(60_000).contains(&SidecarCall::GetGameServer));
}

#[test]
fn after_shutdown_was_requested_no_other_call_is_sent() {
    let mut scene = Scene::new();
    scene.load(IDLE);
    scene.run_until(1_000);
    scene.refused_call = Some(CallKind::Shutdown);
    scene.report.handle_shutdown(scene.now);
    scene.load(HostLoad { rooms: 3, ..IDLE });
    let calls = scene.run_until(4_000);
    assert!(
        calls.len() > 1 && calls.iter().all(|call| *call == SidecarCall::Shutdown),
        "{calls:?}"
    );
    assert!(!scene.report.has_ended());
    scene.refused_call = None;
    scene.run_until(20_000);
    assert!(scene.report.has_ended());
    assert_eq!(scene.events.last(), Some(&ReportEvent::CallSucceeded(CallKind::Shutdown)));
}

#[test]
fn shutdown_ends_at_once_without_a_sidecar() {
    let mut scene = Scene::new();
    scene.failure = Some(CallError::Unreachable("refused".into()));
    scene.run_until(1_000);
    scene.report.handle_shutdown(scene.now);
    scene.run_until(1_001);
    assert!(scene.report.has_ended());
}

/// A reporter with a sidecar that answers at once.
struct Scene {
    report: AgonesReporter,
    now: LocalTime,
    game_server: SidecarAnswer,
    failure: Option<CallError>,
    refused_call: Option<CallKind>,
    events: Vec<ReportEvent>,
}

impl Scene {
    fn new() -> Self {
        Self::with_address_need(false)
    }

    fn with_address_need(needs_address: bool) -> Self {
        let report = AgonesReporter::new(LocalTime::ZERO, needs_address);
        Self {
            report,
            now: LocalTime::ZERO,
            game_server: GAME_SERVER,
            failure: None,
            refused_call: None,
            events: Vec::new(),
        }
    }

    fn load(&mut self, load: HostLoad) {
        self.report.handle_load(self.now, load);
    }

    fn run_until(&mut self, end_ms: u64) -> Vec<SidecarCall> {
        let mut calls = Vec::new();
        loop {
            while let Some(call) = self.report.poll_call(self.now) {
                calls.push(call);
                let result = self.answer(call);
                self.report.handle_answer(self.now, call, result);
                self.events.extend(std::iter::from_fn(|| self.report.poll_event()));
            }
            match self.report.next_deadline() {
                Some(due) if due <= at(end_ms) => self.now = self.now.max(due),
                _ => break,
            }
        }
        self.now = self.now.max(at(end_ms));
        calls
    }

    fn counter_calls_until(&mut self, end_ms: u64) -> Vec<SidecarCall> {
        let mut calls = self.run_until(end_ms);
        calls.retain(|call| matches!(call, SidecarCall::Count(..)));
        calls
    }

    fn answer(&self, call: SidecarCall) -> Result<SidecarAnswer, CallError> {
        match &self.failure {
            Some(failure) => Err(failure.clone()),
            None if self.refused_call == Some(call.kind()) => Err(CallError::Refused("no".into())),
            None if call == SidecarCall::GetGameServer => Ok(self.game_server.clone()),
            None => Ok(SidecarAnswer::Done),
        }
    }
}

fn poll_all(report: &mut AgonesReporter, now: LocalTime) -> Vec<SidecarCall> {
    std::iter::from_fn(|| report.poll_call(now)).collect()
}

fn at(ms: u64) -> LocalTime {
    LocalTime::from_millis(ms)
}

fn rooms(count: u32, capacity: u32) -> SidecarCall {
    SidecarCall::Count(FleetCounter::Rooms, CounterValue { count, capacity })
}

fn players(count: u32, capacity: u32) -> SidecarCall {
    SidecarCall::Count(FleetCounter::Players, CounterValue { count, capacity })
}
