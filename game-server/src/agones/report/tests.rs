//! The report against an Agones that answers, errs, is slow or is not there.

use super::*;

const IDLE: Load = Load {
    in_service: true,
    rooms: 0,
    capacity: 8,
    players: 0,
    seats: 0,
};
const LOOKED: Answer = Answer::GameServer {
    placed: true,
    health_period: Some(Duration::from_secs(5)),
};

#[test]
fn a_host_is_ready_once_and_only_when_a_world_server_has_taken_it() {
    let mut scene = Scene::new();
    scene.load(Load {
        in_service: false,
        ..IDLE
    });
    assert!(!scene.run_until(5_000).contains(&Call::Ready));
    scene.load(IDLE);
    scene.load(IDLE);
    let calls = scene.run_until(60_000);
    assert_eq!(calls.iter().filter(|call| **call == Call::Ready).count(), 1);
}

#[test]
fn health_is_told_twice_in_each_period() {
    let mut scene = Scene::new();
    scene.looked = Answer::GameServer {
        placed: true,
        health_period: Some(Duration::from_secs(10)),
    };
    let calls = scene.run_until(59_000);
    // The first one leaves before the period is known.
    assert_eq!(
        calls.iter().filter(|call| **call == Call::Health).count(),
        13
    );
}

#[test]
fn health_that_nobody_wants_is_not_told() {
    let mut scene = Scene::new();
    scene.looked = Answer::GameServer {
        placed: true,
        health_period: None,
    };
    let calls = scene.run_until(60_000);
    assert!(
        calls.iter().filter(|call| **call == Call::Health).count() <= 2,
        "{calls:?}"
    );
}

#[test]
fn counters_are_told_at_first_and_then_when_they_change_the_newest_value_once_a_second() {
    let mut scene = Scene::new();
    scene.load(IDLE);
    assert_eq!(scene.counts_until(10_000), [rooms(0, 8), players(0, 0)]);
    for count in 1..=5 {
        scene.load(Load {
            rooms: count,
            seats: 10 * count,
            ..IDLE
        });
        scene.now += Duration::from_millis(10);
    }
    assert_eq!(scene.counts_until(20_000), [rooms(5, 8), players(0, 50)]);
    scene.load(Load {
        rooms: 4,
        seats: 50,
        ..IDLE
    });
    assert_eq!(scene.counts_until(20_001), [rooms(4, 8)]);
    scene.load(Load {
        rooms: 3,
        seats: 50,
        ..IDLE
    });
    scene.load(Load {
        rooms: 2,
        seats: 50,
        ..IDLE
    });
    assert_eq!(scene.counts_until(20_900), []);
    assert_eq!(scene.counts_until(21_100), [rooms(2, 8)]);
    scene.load(Load {
        rooms: 1,
        seats: 50,
        ..IDLE
    });
    scene.load(Load {
        rooms: 2,
        seats: 50,
        ..IDLE
    });
    assert_eq!(
        scene.counts_until(60_000),
        [],
        "what is as it was told needs no call"
    );
}

#[test]
fn a_change_while_a_counter_is_under_way_is_told_after_it() {
    let mut report = Report::new(LocalTime::ZERO, false);
    report.handle_load(LocalTime::ZERO, IDLE);
    let calls = all(&mut report, LocalTime::ZERO);
    assert!(calls.contains(&rooms(0, 8)), "{calls:?}");
    report.handle_load(at(10), Load { rooms: 1, ..IDLE });
    assert_eq!(all(&mut report, at(500)), [], "one at a time");
    report.handle_answer(at(700), rooms(0, 8), Ok(Answer::Done));
    assert_eq!(all(&mut report, at(1_600)), []);
    assert_eq!(all(&mut report, at(1_700)), [rooms(1, 8)]);
}

#[test]
fn a_count_never_exceeds_the_capacity_that_is_told_with_it() {
    let mut scene = Scene::new();
    scene.load(Load {
        players: 12,
        seats: 10,
        rooms: 9,
        ..IDLE
    });
    assert_eq!(scene.counts_until(1_000), [rooms(9, 9), players(12, 12)]);
}

#[test]
fn a_slow_answer_holds_up_no_other_call() {
    let mut report = Report::new(LocalTime::ZERO, false);
    report.handle_load(LocalTime::ZERO, IDLE);
    let first = all(&mut report, LocalTime::ZERO);
    assert_eq!(
        first,
        [
            Call::Health,
            Call::Look,
            Call::Ready,
            rooms(0, 8),
            players(0, 0)
        ]
    );
    // Nothing but health is answered.
    for second in 1..=10 {
        report.handle_answer(at(second * 2_500), Call::Health, Ok(Answer::Done));
        assert_eq!(all(&mut report, at((second + 1) * 2_500)), [Call::Health]);
    }
}

#[test]
fn one_that_is_not_there_is_told_of_once_looked_for_ever_more_rarely_and_found_when_it_comes() {
    let mut scene = Scene::new();
    scene.trouble = Some(Trouble::Unreachable("refused".into()));
    scene.load(IDLE);
    let calls = scene.run_until(60_000);
    assert_eq!(scene.news, [News::Missing("refused".into())]);
    let looks = calls.iter().filter(|call| **call == Call::Look).count();
    assert!((8..=12).contains(&looks), "{looks} looks in a minute");
    let pings = calls.iter().filter(|call| **call == Call::Health).count();
    assert!(
        (20..=30).contains(&pings),
        "{pings}: health comes back soonest"
    );
    scene.trouble = None;
    scene.news.clear();
    let calls = scene.run_until(75_000);
    assert_eq!(scene.news, [News::Found, News::Works(Kind::Ready)]);
    for call in [
        Call::Look,
        Call::Ready,
        Call::Health,
        rooms(0, 8),
        players(0, 0),
    ] {
        assert!(calls.contains(&call), "{call:?} is missing in {calls:?}");
    }
}

#[test]
fn what_is_refused_is_told_of_once_and_again_when_it_works() {
    let mut scene = Scene::new();
    scene.load(IDLE);
    scene.refused = Some(Kind::Count(Counter::Players));
    let calls = scene.run_until(60_000);
    let fails = News::Fails(Kind::Count(Counter::Players), "no".into());
    assert_eq!(scene.news, [News::Works(Kind::Ready), fails]);
    assert_eq!(
        calls.iter().filter(|call| **call == rooms(0, 8)).count(),
        1,
        "the others go on"
    );
    scene.refused = None;
    scene.run_until(75_000);
    assert_eq!(
        scene.news[2..],
        [News::Works(Kind::Count(Counter::Players))]
    );
}

#[test]
fn a_change_does_not_hurry_a_call_that_fails() {
    let mut scene = Scene::new();
    scene.refused = Some(Kind::Count(Counter::Rooms));
    let mut tries = 0;
    for step in 0..600 {
        scene.load(Load {
            rooms: step % 2,
            ..IDLE
        });
        let calls = scene.run_until(u64::from(step) * 100);
        tries += calls
            .iter()
            .filter(|call| call.kind() == Kind::Count(Counter::Rooms))
            .count();
    }
    assert!(tries < 15, "{tries} tries in a minute");
}

#[test]
fn who_needs_the_place_asks_until_it_is_known() {
    let mut scene = Scene::of(true);
    scene.looked = Answer::GameServer {
        placed: false,
        health_period: None,
    };
    assert!(
        scene
            .run_until(5_000)
            .iter()
            .filter(|call| **call == Call::Look)
            .count()
            > 5
    );
    scene.looked = LOOKED;
    scene.run_until(6_000);
    assert!(!scene.run_until(60_000).contains(&Call::Look));
}

#[test]
fn at_the_end_nothing_but_shutdown_leaves() {
    let mut scene = Scene::new();
    scene.load(IDLE);
    scene.run_until(1_000);
    scene.refused = Some(Kind::Shutdown);
    scene.report.handle_end(scene.now);
    scene.load(Load { rooms: 3, ..IDLE });
    let calls = scene.run_until(4_000);
    assert!(
        calls.len() > 1 && calls.iter().all(|call| *call == Call::Shutdown),
        "{calls:?}"
    );
    assert!(!scene.report.has_ended());
    scene.refused = None;
    scene.run_until(20_000);
    assert!(scene.report.has_ended());
    assert_eq!(scene.news.last(), Some(&News::Works(Kind::Shutdown)));
}

#[test]
fn who_is_not_there_need_not_hear_of_the_end() {
    let mut scene = Scene::new();
    scene.trouble = Some(Trouble::Unreachable("refused".into()));
    scene.run_until(1_000);
    scene.report.handle_end(scene.now);
    scene.run_until(1_001);
    assert!(scene.report.has_ended());
}

/// An Agones that answers at once.
struct Scene {
    report: Report,
    now: LocalTime,
    looked: Answer,
    trouble: Option<Trouble>,
    refused: Option<Kind>,
    news: Vec<News>,
}

impl Scene {
    fn new() -> Self {
        Self::of(false)
    }

    fn of(needs_place: bool) -> Self {
        let report = Report::new(LocalTime::ZERO, needs_place);
        Self {
            report,
            now: LocalTime::ZERO,
            looked: LOOKED,
            trouble: None,
            refused: None,
            news: Vec::new(),
        }
    }

    fn load(&mut self, load: Load) {
        self.report.handle_load(self.now, load);
    }

    fn run_until(&mut self, end_ms: u64) -> Vec<Call> {
        let mut calls = Vec::new();
        loop {
            while let Some(call) = self.report.poll_call(self.now) {
                calls.push(call);
                let result = self.answer(call);
                self.report.handle_answer(self.now, call, result);
                self.news
                    .extend(std::iter::from_fn(|| self.report.poll_news()));
            }
            match self.report.next_deadline() {
                Some(due) if due <= at(end_ms) => self.now = self.now.max(due),
                _ => break,
            }
        }
        self.now = self.now.max(at(end_ms));
        calls
    }

    fn counts_until(&mut self, end_ms: u64) -> Vec<Call> {
        let mut calls = self.run_until(end_ms);
        calls.retain(|call| matches!(call, Call::Count(..)));
        calls
    }

    fn answer(&self, call: Call) -> Result<Answer, Trouble> {
        match &self.trouble {
            Some(trouble) => Err(trouble.clone()),
            None if self.refused == Some(call.kind()) => Err(Trouble::Refused("no".into())),
            None if call == Call::Look => Ok(self.looked.clone()),
            None => Ok(Answer::Done),
        }
    }
}

fn all(report: &mut Report, now: LocalTime) -> Vec<Call> {
    std::iter::from_fn(|| report.poll_call(now)).collect()
}

fn at(ms: u64) -> LocalTime {
    LocalTime::from_millis(ms)
}

fn rooms(count: u32, capacity: u32) -> Call {
    Call::Count(Counter::Rooms, Figures { count, capacity })
}

fn players(count: u32, capacity: u32) -> Call {
    Call::Count(Counter::Players, Figures { count, capacity })
}
