//! The recent datagrams to one client, as baselines of poses.
//!
//! The link keeps the table of datagrams with their outcomes and their [`SentContents`]
//! ([`SentPackets`]); this is a view of it. Out comes the **window**: the newest datagram that the
//! client is known to have, and which of the 32 before it. Both ends derive the baselines of poses
//! from it, so no baseline is named object by object.
//!
//! Invariants:
//! 1. A datagram in the window was acknowledged, and was sent after the client last missed a
//!    baseline (`baseline_floor`); or it carried neither pose nor record, so that it is no baseline
//!    whatever its outcome: a window without holes takes fewer bits.
//! 2. Numbers ascend by one with each datagram, whatever it carries, as the client counts them too.
//!
//! Cost: a view looks at 33 datagrams, whatever the number of objects; a client needs one a tick
//! and one for each datagram with poses.

use ambit_proto::link::{DeliveryOutcome, SentPackets};
use ambit_proto::pose::AckedSet;
use ambit_proto::time::GameTime;

/// Older datagrams count as lost: more than a window, so that those in flight are covered too.
pub const REMEMBERED_DATAGRAMS: u64 = 64;
/// How far the window reaches back from its newest datagram.
const WINDOW_REACH: u64 = 32;

/// What a datagram carried, apart from what the link itself sends: the payload of the link.
#[derive(Clone, Copy, Debug, Default)]
pub struct SentContents {
    /// Whether it carried a pose or a record: only then can it be a baseline.
    pub may_be_baseline: bool,
    /// Whether it reported when inputs take effect.
    pub has_effects: bool,
    /// Index of the list of its records, if it carried any.
    pub record_list: Option<u16>,
}

/// The recent datagrams to one client; see the module.
#[derive(Clone, Copy, Debug)]
pub struct SentDatagrams<'l> {
    packets: &'l SentPackets<SentContents>,
    baseline_floor: u64,
    window: Option<DatagramWindow>,
}

/// The datagrams that a client is known to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatagramWindow {
    /// Number of the newest one.
    pub newest: u64,
    /// Bit `i` is datagram `newest - i`; bit 0 is set.
    pub mask: u64,
}

impl<'l> SentDatagrams<'l> {
    /// The datagrams of a link; those before number `baseline_floor` are no baselines.
    pub fn new(packets: &'l SentPackets<SentContents>, baseline_floor: u64) -> Self {
        SentDatagrams { packets, baseline_floor, window: window(packets, baseline_floor) }
    }

    /// The number of the next datagram.
    pub fn next(&self) -> u64 {
        self.packets.next()
    }

    /// Number of the first datagram that may be a baseline.
    pub fn baseline_floor(&self) -> u64 {
        self.baseline_floor
    }

    /// The datagrams that the client is known to have; `None` if none of them can be a baseline.
    pub fn window(&self) -> Option<DatagramWindow> {
        self.window
    }

    /// The outcome of a datagram.
    pub fn outcome(&self, number: u64) -> DeliveryOutcome {
        if number + REMEMBERED_DATAGRAMS < self.next() {
            return DeliveryOutcome::Lost;
        }
        self.packets.outcome(number)
    }

    /// The stamp of a datagram that is still remembered.
    pub fn stamp(&self, number: u64) -> GameTime {
        GameTime::from_micros(self.packets.sent_at(number).micros()).whole_millis()
    }
}

fn window(packets: &SentPackets<SentContents>, baseline_floor: u64) -> Option<DatagramWindow> {
    let newest = packets.newest_acked()?;
    let age = packets.next() - newest;
    if newest < baseline_floor || age >= REMEMBERED_DATAGRAMS {
        return None;
    }
    // Neither before the floor, nor what is not remembered.
    let reach = (newest - baseline_floor).min(WINDOW_REACH).min(REMEMBERED_DATAGRAMS - age);
    let counts = |back: &u64| {
        let number = newest - back;
        !packets.payload(number).may_be_baseline
            || packets.outcome(number) == DeliveryOutcome::Acked
    };
    let mask = (0..=reach).filter(counts).fold(0, |mask, back| mask | 1 << back);
    Some(DatagramWindow { newest, mask })
}

impl DatagramWindow {
    /// The window in the form in which it is sent to the client.
    pub fn acked_set(&self) -> AckedSet {
        AckedSet { newest: self.newest, mask: (self.mask >> 1) as u32 }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use ambit_proto::link::{PacketContents, SentPacket};
    use ambit_proto::time::LocalTime;

    use super::*;

    /// The table of sent datagrams of a link, filled by the test.
    pub(crate) struct TestDatagrams {
        packets: SentPackets<SentContents>,
        baseline_floor: u64,
    }

    impl Default for TestDatagrams {
        fn default() -> Self {
            TestDatagrams { packets: SentPackets::new(0), baseline_floor: 0 }
        }
    }

    impl TestDatagrams {
        pub(crate) fn view(&self) -> SentDatagrams<'_> {
            SentDatagrams::new(&self.packets, self.baseline_floor)
        }

        pub(crate) fn next(&self) -> u64 {
            self.packets.next()
        }

        pub(crate) fn note_sent(&mut self, stamp: GameTime, may_be_baseline: bool) {
            let contents = SentContents { may_be_baseline, ..SentContents::default() };
            let now = LocalTime::from(stamp);
            self.packets.push(now, PacketContents::default(), contents, 0);
        }

        pub(crate) fn note_acked(&mut self, number: u64) {
            self.packets.acknowledge(number);
        }

        pub(crate) fn note_lost(&mut self, number: u64) {
            self.packets.mark_lost(number);
        }

        pub(crate) fn revoke_baselines(&mut self) {
            self.baseline_floor = self.packets.next();
        }
    }

    #[test]
    fn a_sent_packet_with_its_contents_takes_24_bytes() {
        assert_eq!(size_of::<SentPacket<SentContents>>(), 24);
    }

    #[test]
    fn the_window_matches_a_plain_list() {
        for seed in 0..30 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let mut datagrams = TestDatagrams::default();
            let mut acked = Vec::new();
            let mut floor = 0;
            let mut bare = Vec::new();
            for _ in 0..500 {
                if rng.u8(0..4) == 0 {
                    bare.push(datagrams.next());
                }
                datagrams.note_sent(
                    GameTime::from_millis(datagrams.next() * 50),
                    bare.last() != Some(&datagrams.next()),
                );
                let number = datagrams.next().saturating_sub(rng.u64(1..40));
                if datagrams.view().outcome(number) == DeliveryOutcome::InFlight {
                    if rng.bool() {
                        datagrams.note_acked(number);
                        acked.push(number);
                    } else {
                        datagrams.note_lost(number);
                    }
                }
                if rng.u8(0..100) == 0 {
                    datagrams.revoke_baselines();
                    floor = datagrams.next();
                }
                let next = datagrams.next();
                let newest = acked
                    .iter()
                    .copied()
                    .max()
                    .filter(|&newest| newest >= floor && newest + 64 > next);
                let expected = newest.map(|newest| {
                    let lowest = floor.max(newest.saturating_sub(32)).max(next.saturating_sub(64));
                    let known = acked
                        .iter()
                        .chain(&bare)
                        .filter(|&&number| (lowest..=newest).contains(&number));
                    DatagramWindow {
                        newest,
                        mask: known.fold(0, |mask, number| mask | 1 << (newest - number)),
                    }
                });
                assert_eq!(datagrams.view().window(), expected, "seed {seed}, next {next}");
            }
        }
    }

    #[test]
    fn an_outcome_is_known_until_its_entry_is_reused() {
        let mut datagrams = TestDatagrams::default();
        assert_eq!(datagrams.view().outcome(0), DeliveryOutcome::Lost, "datagram 0 was never sent");
        (0..3).for_each(|n| datagrams.note_sent(GameTime::from_millis(n), true));
        datagrams.note_acked(0);
        datagrams.note_lost(1);
        assert_eq!(
            [0, 1, 2].map(|number| datagrams.view().outcome(number)),
            [DeliveryOutcome::Acked, DeliveryOutcome::Lost, DeliveryOutcome::InFlight]
        );
        assert_eq!(datagrams.view().stamp(2), GameTime::from_millis(2));
        (0..64).for_each(|n| datagrams.note_sent(GameTime::from_millis(n), true));
        assert_eq!(
            [0, 1, 2].map(|number| datagrams.view().outcome(number)),
            [DeliveryOutcome::Lost; 3]
        );
        assert_eq!(datagrams.view().window(), None);
    }
}
