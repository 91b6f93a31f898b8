//! Limits for wrong passwords.
//!
//! Some wrong passwords are free. Each further one is followed by a pause, which doubles each time:
//! 1 s, 2 s, and so on up to 60 s. During a pause the right password is refused as well, otherwise
//! guesses would go on. Ten minutes without a wrong password end it all.
//!
//! Both a session and, for each room, a network have such a limit, since an attacker can open many
//! sessions.

use std::collections::BTreeMap;
use std::time::Duration;

use ambit_proto::time::LocalTime;
use ambit_transport::address::SourceNetwork;

/// Wrong passwords of a session without a pause.
pub(crate) const FREE_OF_SESSION: u32 = 5;
/// Wrong passwords for one room from one network without a pause: people may share it.
const FREE_OF_NETWORK: u32 = 20;
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_mins(1);
/// How long wrong passwords are remembered.
const MEMORY: Duration = Duration::from_mins(10);
/// Maximum number of networks that a room remembers.
const MAX_NETWORKS: usize = 256;

/// The wrong passwords of one peer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PasswordGuesses {
    wrong: u32,
    last: LocalTime,
}

impl PasswordGuesses {
    /// The rest of the pause, if there is one.
    pub(crate) fn pause_left(self, now: LocalTime, free: u32) -> Option<Duration> {
        let doublings = self.wrong.checked_sub(free)?.min(31);
        let pause = (FIRST_PAUSE * (1 << doublings)).min(LONGEST_PAUSE);
        let end = self.last + pause;
        (now < end).then(|| end.since(now))
    }

    pub(crate) fn note_wrong(&mut self, now: LocalTime) {
        if now > self.last + MEMORY {
            self.wrong = 0;
        }
        self.wrong = self.wrong.saturating_add(1);
        self.last = now;
    }
}

/// Wrong passwords by what they have in common, `FREE` without a pause. Beyond `MAX` entries, the
/// one that was longest without a wrong password is forgotten.
#[derive(Debug)]
pub struct GuessesBy<K, const FREE: u32, const MAX: usize>(BTreeMap<K, PasswordGuesses>);

/// The wrong passwords for one room, by the network that they came from.
pub type GuessesByNetwork = GuessesBy<SourceNetwork, FREE_OF_NETWORK, MAX_NETWORKS>;

impl<K, const FREE: u32, const MAX: usize> Default for GuessesBy<K, FREE, MAX> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<K: Ord + Clone, const FREE: u32, const MAX: usize> GuessesBy<K, FREE, MAX> {
    /// How long further guesses are refused, if they are.
    pub fn pause_left(&self, now: LocalTime, key: &K) -> Option<Duration> {
        self.0.get(key)?.pause_left(now, FREE)
    }

    /// Wrong passwords that are remembered.
    pub(crate) fn count(&self, now: LocalTime, key: &K) -> u32 {
        let known = self.0.get(key).filter(|guesses| now <= guesses.last + MEMORY);
        known.map_or(0, |guesses| guesses.wrong)
    }

    /// A password was wrong.
    pub fn note_wrong(&mut self, now: LocalTime, key: K) {
        if !self.0.contains_key(&key) && self.0.len() >= MAX {
            let oldest = self.0.iter().min_by_key(|(_, guesses)| guesses.last);
            let oldest = oldest.expect("it is full").0.clone();
            self.0.remove(&oldest);
        }
        self.0.entry(key).or_default().note_wrong(now);
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn five_wrong_passwords_are_free_then_pauses_double_to_a_minute() {
        let mut guesses = PasswordGuesses::default();
        let mut now = LocalTime::from_millis(1_000);
        let mut pauses = Vec::new();
        for _ in 0..13 {
            guesses.note_wrong(now);
            let pause = guesses.pause_left(now, FREE_OF_SESSION);
            pauses.push(pause.map_or(0, |pause| pause.as_secs()));
            now += pause.unwrap_or_default();
            assert_eq!(guesses.pause_left(now, FREE_OF_SESSION), None);
        }
        assert_eq!(pauses, [0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60]);
        guesses.note_wrong(now + MEMORY + Duration::from_secs(1));
        assert_eq!(guesses.wrong, 1);
    }

    #[test]
    fn a_room_remembers_a_bounded_number_of_networks() {
        let mut guesses = GuessesByNetwork::default();
        for number in 0..=MAX_NETWORKS as u32 {
            let network = SourceNetwork::of(Ipv4Addr::from_bits(number).into());
            guesses.note_wrong(LocalTime::from_millis(u64::from(number)), network);
        }
        assert_eq!(guesses.0.len(), MAX_NETWORKS);
        let first = SourceNetwork::of(Ipv4Addr::from_bits(0).into());
        assert!(!guesses.0.contains_key(&first), "the oldest is forgotten");
    }
}
