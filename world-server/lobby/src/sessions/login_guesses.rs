//! Limits for wrong passwords by login, beside those by network: an attacker has many addresses.
//!
//! A check of a password begins and ends here. From all networks together, [`FREE_OF_LOGIN`] wrong
//! passwords for a login are free, and pauses of a minute at most follow, as of a network. During a
//! pause the right password is refused as well. So after the last guess its player waits for a
//! minute at most; and not at all on a network from which the account has signed in before, whose
//! guesses have the limit of that network alone.
//!
//! A login counts as it was given, and whether it exists is not known here: so nothing tells.
//!
//! Bounds: [`MAX_LOGINS`], [`MAX_PLACES`]; beyond them the oldest is forgotten. Checks that are
//! under way count as wrong ones, so no burst of them gets past the limit.

use std::collections::BTreeMap;
use std::time::Duration;

use ambit_proto::time::LocalTime;
use ambit_transport::address::SourceNetwork;

use crate::rooms::password_guesses::GuessesBy;

/// Wrong passwords for a login without a pause: more than a single network has.
const FREE_OF_LOGIN: u32 = 50;
/// Maximum number of logins with wrong passwords that are remembered.
const MAX_LOGINS: usize = 4_096;
/// Maximum number of networks from which accounts have signed in that are remembered.
const MAX_PLACES: usize = 16_384;
/// How long a check waits at least for one that is under way.
const UNDER_WAY: Duration = Duration::from_secs(1);

/// A login, the same for all that sign in to one account, and a network.
type LoginPlace = (String, SourceNetwork);

#[derive(Debug, Default)]
pub(super) struct LoginGuesses {
    wrong: GuessesBy<String, FREE_OF_LOGIN, MAX_LOGINS>,
    /// Checks by login that count.
    under_way: BTreeMap<String, u32>,
    places: KnownPlaces,
}

/// A check that has begun, and must end.
#[derive(Debug)]
pub(super) struct LoginCheck {
    place: LoginPlace,
    is_known_place: bool,
}

/// What came of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CheckResult {
    Right,
    Wrong,
    /// The password was not compared.
    None,
}

impl LoginGuesses {
    /// Begins a check, or says how long it has to wait.
    pub(super) fn begin(
        &mut self,
        now: LocalTime,
        login: &str,
        network: SourceNetwork,
    ) -> Result<LoginCheck, Duration> {
        // As the store compares them.
        let place = (login.to_lowercase(), network);
        if self.places.contains(&place) {
            return Ok(LoginCheck { place, is_known_place: true });
        }
        let login = &place.0;
        if let Some(pause) = self.wrong.pause_left(now, login) {
            return Err(pause);
        }
        let under_way = self.under_way.get(login).copied().unwrap_or_default();
        if under_way > 0 && self.wrong.count(now, login) + under_way >= FREE_OF_LOGIN {
            return Err(UNDER_WAY);
        }
        self.under_way.insert(login.clone(), under_way + 1);
        Ok(LoginCheck { place, is_known_place: false })
    }

    pub(super) fn end(&mut self, now: LocalTime, check: LoginCheck, result: CheckResult) {
        let LoginCheck { place, is_known_place } = check;
        if !is_known_place && let Some(count) = self.under_way.get_mut(&place.0) {
            *count -= 1;
            if *count == 0 {
                self.under_way.remove(&place.0);
            }
        }
        match result {
            CheckResult::Right => self.places.add(place),
            CheckResult::Wrong if !is_known_place => self.wrong.note_wrong(now, place.0),
            CheckResult::Wrong | CheckResult::None => {}
        }
    }
}

/// From where accounts have signed in, the newest last.
#[derive(Debug, Default)]
struct KnownPlaces {
    numbers: BTreeMap<LoginPlace, u64>,
    by_number: BTreeMap<u64, LoginPlace>,
    last: u64,
}

impl KnownPlaces {
    fn contains(&self, place: &LoginPlace) -> bool {
        self.numbers.contains_key(place)
    }

    fn add(&mut self, place: LoginPlace) {
        self.last += 1;
        if let Some(before) = self.numbers.insert(place.clone(), self.last) {
            self.by_number.remove(&before);
        }
        self.by_number.insert(self.last, place);
        if self.by_number.len() > MAX_PLACES
            && let Some((_, oldest)) = self.by_number.pop_first()
        {
            self.numbers.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn guesses_from_many_networks_wait_and_the_player_s_own_network_does_not() {
        let mut guesses = LoginGuesses::default();
        let mut now = LocalTime::from_millis(1_000);
        check(&mut guesses, now, "ann#1", 0, CheckResult::Right).expect("no pause");
        let mut pauses = Vec::new();
        for number in 1..=58 {
            check(&mut guesses, now, "ANN#1", number, CheckResult::Wrong).expect("no pause");
            let pause = match guesses.begin(now, "ann#1", network(9_999)) {
                Err(pause) => pause,
                Ok(check) => {
                    guesses.end(now, check, CheckResult::None);
                    Duration::ZERO
                }
            };
            pauses.push(pause.as_secs());
            let at_home = check(&mut guesses, now, "Ann#1", 0, CheckResult::Wrong);
            assert_eq!(at_home, Ok(()), "known, and not counted");
            now += pause;
        }
        let expected = [0; 49].into_iter().chain([1, 2, 4, 8, 16, 32, 60, 60, 60]);
        assert_eq!(pauses, expected.collect::<Vec<_>>());
        check(&mut guesses, now, "bob#1", 5, CheckResult::Wrong).expect("another login");
        assert_eq!(guesses.under_way.len(), 0);
    }

    #[test]
    fn checks_under_way_count_as_wrong_ones() {
        let mut guesses = LoginGuesses::default();
        let now = LocalTime::from_millis(1_000);
        let begun: Vec<_> =
            (0..100).filter_map(|at| guesses.begin(now, "ann#1", network(at)).ok()).collect();
        assert_eq!(begun.len(), FREE_OF_LOGIN as usize);
        for check in begun {
            guesses.end(now, check, CheckResult::Wrong);
        }
        let pause = guesses.begin(now, "ann#1", network(100)).expect_err("a pause");
        assert_eq!(pause, Duration::from_secs(1));
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut guesses = LoginGuesses::default();
        let now = LocalTime::from_millis(1_000);
        for number in 0..=MAX_PLACES as u32 {
            check(&mut guesses, now, "ann#1", number, CheckResult::Right).expect("no pause");
        }
        assert_eq!(guesses.places.numbers.len(), MAX_PLACES);
        assert_eq!(guesses.places.by_number.len(), MAX_PLACES);
        assert!(!guesses.places.contains(&("ann#1".to_owned(), network(0))), "the oldest");
        for number in 0..=MAX_LOGINS {
            let login = format!("bob#{number}");
            check(&mut guesses, now, &login, 0, CheckResult::Wrong).expect("no pause");
        }
        assert_eq!(guesses.wrong.len(), MAX_LOGINS);
    }

    fn check(
        guesses: &mut LoginGuesses,
        now: LocalTime,
        login: &str,
        from: u32,
        result: CheckResult,
    ) -> Result<(), Duration> {
        let check = guesses.begin(now, login, network(from))?;
        guesses.end(now, check, result);
        Ok(())
    }

    fn network(number: u32) -> SourceNetwork {
        SourceNetwork::of(Ipv4Addr::from_bits(number).into())
    }
}
