//! Decides what becomes of tests with real processes that have failed beside others.
//!
//! A shared machine may stall for seconds, and real processes then miss their time; but a test that
//! fails only under load may also show a fault of the product. So each is run once more under the
//! same load, and only if it fails again, alone. One that passes then does not count as failed, but
//! it is named, and so is a test of the load that fails now.

use std::collections::BTreeSet;

/// More are not run again: that is no stall.
pub(crate) const RUN_AGAIN: usize = 3;
/// Seconds of other tests for each second of one that runs again, at each place beside it.
const LOAD: f64 = 1.5;

/// A test that passes only sometimes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Unsteady {
    /// `ambit-tests real: heroes::a_journey`
    pub name: String,
    pub how: How,
}

/// When a test has failed and when it has passed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum How {
    PassedBesideOthers,
    PassedAlone,
    /// It has passed at first, and failed as load for others.
    FailedLater,
}

impl How {
    pub(crate) fn words(self) -> &'static str {
        match self {
            How::PassedBesideOthers => "failed beside others, passed beside others when run again",
            How::PassedAlone => "failed twice beside others, passed only alone",
            How::FailedLater => "passed beside others, failed beside others when run again",
        }
    }
}

/// What a run beside others had as its result.
#[derive(Debug, Default)]
pub(crate) struct Beside {
    pub passed: BTreeSet<String>,
    /// Tests of the load that have failed.
    pub failed_others: Vec<String>,
}

/// The tests that run beside those that have failed: the slowest, enough of them that one runs at
/// each of `places` until the failed ones have ended. `times` has seconds and name of each test.
pub(crate) fn load(times: &[(f64, String)], failed: &[String], places: usize) -> Vec<String> {
    let (again, mut others): (Vec<_>, Vec<_>) =
        times.iter().partition(|(_, name)| failed.contains(name));
    others.sort_by(|a, b| b.0.total_cmp(&a.0));
    let seconds: f64 = again.iter().map(|(seconds, _)| seconds).sum();
    if places == 0 {
        return Vec::new();
    }
    let wanted = LOAD * seconds * places as f64;
    let mut taken = 0.0;
    let mut load = Vec::new();
    for (seconds, name) in others {
        if taken >= wanted && load.len() >= places {
            break;
        }
        taken += seconds;
        load.push(name.clone());
    }
    load
}

/// Runs failed tests again. Returns those that pass only sometimes; the others have failed.
pub(crate) fn run_again(
    failed: &[String],
    beside: impl FnOnce(&[String]) -> Beside,
    mut passes_alone: impl FnMut(&str) -> bool,
) -> Vec<Unsteady> {
    if failed.is_empty() || failed.len() > RUN_AGAIN {
        return Vec::new();
    }
    let beside = beside(failed);
    let mut unsteady = Vec::new();
    for name in failed {
        let how = if beside.passed.contains(name) {
            How::PassedBesideOthers
        } else if passes_alone(name) {
            How::PassedAlone
        } else {
            continue;
        };
        unsteady.push(Unsteady { name: name.clone(), how });
    }
    let others = beside.failed_others.into_iter();
    unsteady.extend(others.map(|name| Unsteady { name, how: How::FailedLater }));
    unsteady
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn what_fails_twice_beside_others_is_run_alone_and_nothing_else_is() {
        let mut alone = Vec::new();
        let unsteady = run_again(
            &names(&["a", "b", "c"]),
            |failed| {
                assert_eq!(failed, ["a", "b", "c"]);
                Beside { passed: ["a".to_owned()].into(), failed_others: names(&["slow"]) }
            },
            |name| {
                alone.push(name.to_owned());
                name == "b"
            },
        );
        assert_eq!(alone, ["b", "c"]);
        let expected =
            [("a", How::PassedBesideOthers), ("b", How::PassedAlone), ("slow", How::FailedLater)];
        let expected = expected.map(|(name, how)| Unsteady { name: name.to_owned(), how });
        assert_eq!(unsteady, expected);
    }

    #[test]
    fn many_failed_tests_and_none_are_not_run_again() {
        let not = |failed: &[String]| {
            let unsteady = run_again(failed, |_| unreachable!(), |_| unreachable!());
            assert!(unsteady.is_empty());
        };
        not(&[]);
        not(&names(&["a"; RUN_AGAIN + 1]));
    }

    #[test]
    fn the_load_is_the_slowest_others_and_lasts_longer_than_the_failed_ones() {
        let times =
            [(1.0, "fast"), (8.0, "failed"), (9.0, "slow"), (7.0, "slower"), (20.0, "slowest")];
        let times = times.map(|(seconds, name)| (seconds, name.to_owned()));
        let failed = names(&["failed"]);
        // 1.5 x 8 s at each place.
        assert_eq!(load(&times, &failed, 1), ["slowest"]);
        assert_eq!(load(&times, &failed, 2), ["slowest", "slow"]);
        assert_eq!(load(&times, &failed, 3), ["slowest", "slow", "slower"]);
        // What failed at once has no other at its side by time, but one at each place.
        assert_eq!(load(&times, &names(&["fast"]), 2), ["slowest", "slow"]);
        assert!(load(&[], &failed, 2).is_empty());
    }
}
