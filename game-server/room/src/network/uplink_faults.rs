//! Tells a client that what it sends is of no use.
//!
//! What the client's link and the decoders refuse goes in; an error for the client comes out, at
//! most one of each kind for a connection, so a flood costs no more than its counting. A correct
//! client causes none: QUIC delivers what was sent, and duplicates and late datagrams come between
//! fresh ones.

use std::time::Duration;

use ambit_proto::codes::{self, Error, ErrorCode};
use ambit_proto::time::GameTime;
use ambit_proto::wire::WireError;

/// The number of datagrams or commands that cannot be decoded before the client gets a report.
const UNREADABLE: u32 = 4;
/// The number of stale datagrams, without a fresh one between them, before the client gets a
/// report...
const STALE: u32 = 4;
/// ...if they came over at least this time. A path that changes delivers many late ones at once.
const STALE_FOR: Duration = Duration::from_secs(2);

/// What a client has sent in vain; see the module.
#[derive(Debug, Default)]
pub(super) struct UplinkFaults {
    /// Since the client joined.
    unreadable: u32,
    /// How many came after the last fresh one, and when the first of them came.
    stale: Option<(u32, GameTime)>,
    is_stale_reported: bool,
}

impl UplinkFaults {
    /// A datagram was new and could be decoded.
    pub(super) fn note_fresh(&mut self) {
        self.stale = None;
    }

    /// A datagram or a command cannot be decoded.
    pub(super) fn note_unreadable(&mut self, error: &WireError) -> Option<Error> {
        self.unreadable = self.unreadable.saturating_add(1);
        (self.unreadable == UNREADABLE).then(|| {
            let message = format!(
                "{UNREADABLE} datagrams or commands of this client could not be decoded and were \
                 dropped; the last: {error}"
            );
            codes::error(ErrorCode::Malformed, message)
        })
    }

    /// A datagram has the number of one that was received before, or of one too old to be known.
    pub(super) fn note_stale(&mut self, now: GameTime) -> Option<Error> {
        let (count, since) = self.stale.get_or_insert((0, now));
        *count = count.saturating_add(1);
        let is_due = *count >= STALE && now.since(*since) >= STALE_FOR && !self.is_stale_reported;
        is_due.then(|| {
            self.is_stale_reported = true;
            let message = format!(
                "the last {count} datagrams of this client were dropped: their numbers were \
                 received before, or are too old; each datagram's number is one higher than that \
                 of the one before"
            );
            codes::error(ErrorCode::Outdated, message)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fourth_unreadable_message_is_reported_and_no_other() {
        let mut faults = UplinkFaults::default();
        let reported: Vec<_> = (1..1_000)
            .filter_map(|count| Some((count, faults.note_unreadable(&WireError::BadText)?)))
            .collect();
        let [(4, error)] = &reported[..] else { panic!("{reported:?}") };
        assert_eq!(error.code(), ErrorCode::Malformed);
        assert!(error.message.contains("not UTF-8"), "{}", error.message);
    }

    #[test]
    fn stale_datagrams_without_fresh_ones_are_reported_once() {
        let mut faults = UplinkFaults::default();
        let at = GameTime::from_millis;
        // A burst of late ones.
        assert!((0..100).all(|_| faults.note_stale(at(50)).is_none()));
        faults.note_fresh();
        // A duplicate of each.
        for number in 0..100 {
            assert_eq!(faults.note_stale(at(100 * number)), None);
            faults.note_fresh();
        }
        assert!((0..3).all(|number| faults.note_stale(at(20_000 + 500 * number)).is_none()));
        assert_eq!(faults.note_stale(at(21_999)), None);
        let error = faults.note_stale(at(22_000)).expect("it is due");
        assert_eq!(error.code(), ErrorCode::Outdated);
        assert!(error.message.contains("last 5 datagrams"), "{}", error.message);
        assert!((0..100).all(|number| faults.note_stale(at(30_000 * number)).is_none()));
    }
}
