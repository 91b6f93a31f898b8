//! The client's own data in the datagrams that it sends: the share of late data, the held keys, and
//! whether it has lost track of poses.
//!
//! Events, acknowledgements and the time go in; whether a datagram is due, and its content, come
//! out. None of this is a reliable message: each datagram repeats what the host may not know.
//!
//! - The report is sent once a second if it has changed; no datagram leaves for it alone.
//! - Keys: see [`super::input_sender`].
//! - Lost track: a datagram leaves for it at once, and again if the link considers that datagram
//!   lost. All later datagrams repeat it until the host has acknowledged one of them, or its poses
//!   show that it knows.
//!
//! The wire format is described in [`ambit_proto::message`].

use std::time::Duration;

use ambit_proto::ids::Seq;
use ambit_proto::message::{LatenessReport, Uplink};
use ambit_proto::pose::AckedSet;
use ambit_proto::time::{GameTime, LocalTime};

use super::config::InputRate;
use super::input_sender::{InputSender, LinkActivity};

/// How often the share of late data is reported to the host.
const REPORT_INTERVAL: Duration = Duration::from_secs(1);

/// Builds the uplink of each datagram.
#[derive(Debug)]
pub(crate) struct UplinkBuilder {
    /// The held keys.
    pub(crate) inputs: InputSender,
    report: LatenessReport,
    last_sent_report: SentReport,
    lost_track: Option<LostTrack>,
}

/// The last report that was sent; at first an empty one at the time of the join.
#[derive(Clone, Copy, Debug)]
struct SentReport {
    report: LatenessReport,
    sent_at: LocalTime,
}

/// The state after poses could not be read.
#[derive(Clone, Copy, Debug)]
struct LostTrack {
    /// The newest datagram whose poses could not be read.
    number: u64,
    /// Whether a datagram should leave for it.
    due: bool,
    /// The first and the newest datagram that carried it.
    sent_in: Option<(Seq, Seq)>,
}

impl UplinkBuilder {
    /// Nothing to send yet, to a host of `tick_hz` ticks a second, in a game joined at `now`.
    pub(crate) fn new(now: LocalTime, tick_hz: u32, rate: InputRate) -> Self {
        UplinkBuilder {
            inputs: InputSender::new(tick_hz, rate),
            report: LatenessReport::default(),
            last_sent_report: SentReport { report: LatenessReport::default(), sent_at: now },
            lost_track: None,
        }
    }

    /// Counts received events and updates, and how many of them were late.
    pub(crate) fn count_received(&mut self, received: u64, late: u64) {
        self.report.received += received;
        self.report.late += late;
    }

    /// The poses of datagram `number` could not be read.
    pub(crate) fn note_lost_track(&mut self, number: u64) {
        let before = self.lost_track.map_or(0, |lost| lost.number);
        self.lost_track = Some(LostTrack { number: before.max(number), due: true, sent_in: None });
    }

    /// The poses of datagram `number` were read; the host takes `acked` as known to the client. If
    /// these are all newer than the failed datagram, or there are none, the host knows of the
    /// failure.
    pub(crate) fn handle_poses(&mut self, number: u64, acked: Option<AckedSet>) {
        // `after` returns the same set if all of it is newer.
        let all_newer = |number| acked.is_none_or(|acked| acked.after(number) == Some(acked));
        let host_knows = |lost: &LostTrack| number > lost.number && all_newer(lost.number);
        if self.lost_track.as_ref().is_some_and(host_knows) {
            self.lost_track = None;
        }
    }

    /// The host has received that datagram.
    pub(crate) fn handle_acked(&mut self, seq: Seq) {
        self.inputs.handle_acked(seq);
        if self
            .lost_track
            .and_then(|lost| lost.sent_in)
            .is_some_and(|(first, _)| !first.newer_than(seq))
        {
            self.lost_track = None;
        }
    }

    /// The link considers that datagram lost.
    pub(crate) fn handle_lost(&mut self, seq: Seq) {
        if let Some(lost) = self
            .lost_track
            .as_mut()
            .filter(|lost| lost.sent_in.is_some_and(|(_, newest)| newest == seq))
        {
            lost.due = true;
        }
    }

    /// Whether a datagram is due.
    pub(crate) fn is_due(&self, now: LocalTime, activity: LinkActivity) -> bool {
        self.lost_track.is_some_and(|lost| lost.due) || self.inputs.is_due(now, activity)
    }

    /// When a datagram is due; in the past if at once.
    pub(crate) fn next_deadline(&self, activity: LinkActivity) -> Option<LocalTime> {
        let lost = self.lost_track.filter(|lost| lost.due).map(|_| LocalTime::ZERO);
        lost.or_else(|| self.inputs.next_deadline(activity))
    }

    /// The content of a datagram that leaves now; [`UplinkBuilder::note_sent`] must follow.
    pub(crate) fn next_uplink(&mut self, now: LocalTime, room_now: GameTime) -> Uplink {
        let last = self.last_sent_report;
        let report_due = now.since(last.sent_at) >= REPORT_INTERVAL && self.report != last.report;
        Uplink {
            report: report_due.then_some(self.report),
            input: self.inputs.next_input(room_now),
            lost_track: self.lost_track.map(|lost| lost.number as u16),
        }
    }

    /// A datagram has left with this content; `activity` is the state before.
    pub(crate) fn note_sent(
        &mut self,
        now: LocalTime,
        seq: Seq,
        uplink: &Uplink,
        activity: LinkActivity,
    ) {
        if let Some(report) = uplink.report {
            self.last_sent_report = SentReport { report, sent_at: now };
        }
        if uplink.input.is_some() {
            self.inputs.note_sent(now, seq, activity);
        }
        if let Some(lost) = &mut self.lost_track {
            let first = lost.sent_in.map_or(seq, |(first, _)| first);
            (lost.due, lost.sent_in) = (false, Some((first, seq)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_track_is_sent_in_each_datagram_until_acknowledged() {
        let mut uplinks = uplinks();
        uplinks.note_lost_track(70);
        assert!(uplinks.is_due(ms(5), ACTIVITY));
        assert_eq!((send(&mut uplinks, 5, 1), send(&mut uplinks, 20, 2)), (Some(70), Some(70)));
        assert!(!uplinks.is_due(ms(30), ACTIVITY));
        uplinks.handle_lost(Seq(1));
        assert!(!uplinks.is_due(ms(30), ACTIVITY));
        uplinks.handle_lost(Seq(2));
        assert!(uplinks.is_due(ms(30), ACTIVITY));
        assert_eq!(send(&mut uplinks, 30, 3), Some(70));
        uplinks.handle_acked(Seq(0));
        assert_eq!(send(&mut uplinks, 35, 4), Some(70));
        uplinks.handle_acked(Seq(2));
        assert_eq!(send(&mut uplinks, 40, 5), None);
    }

    #[test]
    fn poses_without_the_failed_baseline_end_the_lost_track() {
        for (number, acked, host_knows) in [
            (69, None, false),
            (71, Some((65, 0)), false),
            (71, Some((70, 0)), false),
            (75, Some((72, 0b10)), false),
            (75, Some((72, 0b1)), true),
            (71, None, true),
        ] {
            let mut uplinks = uplinks();
            uplinks.note_lost_track(70);
            uplinks.handle_poses(number, acked.map(|(newest, mask)| AckedSet { newest, mask }));
            assert_eq!(send(&mut uplinks, 0, 1).is_none(), host_knows, "{number}, {acked:?}");
        }
    }

    #[test]
    fn of_two_failures_the_newer_one_is_sent() {
        let mut uplinks = uplinks();
        uplinks.note_lost_track(70);
        uplinks.note_lost_track(68);
        assert_eq!(send(&mut uplinks, 0, 1), Some(70));
        uplinks.note_lost_track(71);
        uplinks.handle_acked(Seq(1));
        assert_eq!(send(&mut uplinks, 20, 2), Some(71));
    }

    #[test]
    fn a_report_is_sent_once_a_second_if_it_changed() {
        let mut uplinks = uplinks();
        uplinks.count_received(3, 1);
        assert_eq!(uplinks.next_uplink(ms(999), GameTime::ZERO).report, None);
        let uplink = uplinks.next_uplink(ms(1_000), GameTime::ZERO);
        assert_eq!(uplink.report, Some(LatenessReport { received: 3, late: 1 }));
        uplinks.note_sent(ms(1_000), Seq(1), &uplink, ACTIVITY);
        assert_eq!(uplinks.next_uplink(ms(5_000), GameTime::ZERO).report, None);
        assert!(!uplinks.is_due(ms(5_000), ACTIVITY));
    }

    const ACTIVITY: LinkActivity =
        LinkActivity { owes_ack: false, last_received_at: LocalTime::ZERO, is_lossy: false };

    fn uplinks() -> UplinkBuilder {
        UplinkBuilder::new(ms(0), 20, InputRate::Hz20)
    }

    /// The lost track in the datagram.
    fn send(uplinks: &mut UplinkBuilder, now: u64, seq: u16) -> Option<u16> {
        let uplink = uplinks.next_uplink(ms(now), GameTime::ZERO);
        uplinks.note_sent(ms(now), Seq(seq), &uplink, ACTIVITY);
        uplink.lost_track
    }

    fn ms(ms: u64) -> LocalTime {
        LocalTime::from_millis(ms)
    }
}
