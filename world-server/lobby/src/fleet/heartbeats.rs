//! Heartbeats of hosts: the acknowledgement that renews a host's serving lease, and the detection
//! of hosts that fall silent, or whose clocks are wrong.

use std::time::Duration;

use ambit_host_protocol::messages::WorldOrder;
use ambit_host_protocol::stats::HostStats;
use ambit_proto::time::LocalTime;

use crate::fleet::Fleet;
use crate::fleet::hosts::Origin;
use crate::fleet::silence::{HostSilence, serving_lease};
use crate::output::HostId;

/// If all hosts have sent nothing for this long, the line of this server is dark; if all hosts of
/// a process have, it has probably ended.
const ALL_SILENT: Duration = Duration::from_millis(500);

/// A timer this late means that this process was stopped or starved.
const STALL_THRESHOLD: Duration = Duration::from_millis(500);

/// What follows when the silence timer of a host has expired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SilenceCheck {
    /// The host may be silent until then.
    Again(LocalTime),
    /// The host is given up and gets no more rooms: its link is closed, a child is killed, and its
    /// rooms move.
    GivenUp {
        /// The host's build.
        build: String,
        /// For people.
        reason: String,
    },
}

impl Fleet {
    /// What is known of the silence of a host that has just connected. `instance` identifies it, if
    /// it may have been connected before.
    pub(crate) fn new_silence(
        &self,
        now: LocalTime,
        origin: Origin,
        instance: &[u8],
    ) -> HostSilence {
        let most = self.host_silence;
        match (origin, self.hosts.silence_of(instance)) {
            (Origin::Remote, Some(known)) => known.resume(now, most),
            (Origin::Remote, None) => HostSilence::adaptive(now, most),
            (Origin::Child | Origin::Embedded, _) => HostSilence::fixed(now, most),
        }
    }

    /// How long the first lease of a host is; zero for one without a lease.
    pub(crate) fn first_lease(&self, origin: Origin) -> Duration {
        match origin {
            Origin::Remote => serving_lease(self.host_silence),
            Origin::Child | Origin::Embedded => Duration::ZERO,
        }
    }

    /// After how much silence a host without a lease is given up; zero for never.
    pub(crate) fn silence_without_lease(&self, origin: Origin) -> Duration {
        match origin {
            Origin::Child => self.host_silence,
            Origin::Embedded | Origin::Remote => Duration::ZERO,
        }
    }

    /// When the silence of a host that is ready has to be checked; never that of one that is a part
    /// of this process.
    pub(crate) fn first_silence_check(&self, now: LocalTime, id: HostId) -> Option<LocalTime> {
        (self.hosts.origin(id) != Origin::Embedded).then(|| now + self.host_silence)
    }

    /// A message of the host has arrived.
    pub(crate) fn note_heard(&mut self, now: LocalTime, id: HostId) {
        if let Some(silence) = self.hosts.silence_mut(id) {
            silence.note_heard(now);
        }
    }

    /// Sets when the messages of a host arrived, as far as the shell knows.
    pub(crate) fn set_silence(&mut self, id: HostId, silence: HostSilence) {
        if let Some(known) = self.hosts.silence_mut(id) {
            *known = silence;
        }
    }

    /// The silence timer that was due at `due` has expired. If the host has sent nothing since, it
    /// hangs or its connection does, and it is given up, so that players cannot use its rooms.
    /// `None` if there is no such host.
    pub(crate) fn check_silence(
        &mut self,
        now: LocalTime,
        id: HostId,
        due: LocalTime,
    ) -> Option<SilenceCheck> {
        let silence = self.hosts.silence(id)?;
        let again_at = if now.since(due) > STALL_THRESHOLD {
            // This process was stopped or starved itself, and messages of hosts wait in its queues.
            now + now.since(due).min(self.host_silence)
        } else if self.hosts.are_all_silent(now, ALL_SILENT) {
            silence.ends_at().max(silence.heard_at() + self.host_silence)
        } else {
            silence.ends_at()
        };
        if again_at > now {
            return Some(SilenceCheck::Again(again_at));
        }
        let reason =
            format!("it has sent nothing for {} ms", now.since(silence.heard_at()).as_millis());
        tracing::warn!(host = id.0, "host given up; its rooms resume on other hosts: {reason}");
        self.hosts.retire(id);
        self.hosts.doubt_others(now, id, ALL_SILENT);
        Some(SilenceCheck::GivenUp { build: self.hosts.build_of(id), reason })
    }

    /// Acknowledges a heartbeat of a host on another machine: its serving lease starts again.
    pub(crate) fn acknowledge_heartbeat(&mut self, id: HostId, number: u64) -> Option<WorldOrder> {
        if self.hosts.origin(id) != Origin::Remote {
            return None;
        }
        self.hosts.silence_mut(id).map(|silence| silence.acknowledge(number))
    }

    /// A host reports its figures. `own` is this server's time since 1970. Returns the number of
    /// rooms whose ticks take too long, if there were none before, or there are none now.
    pub(crate) fn note_stats(
        &mut self,
        now: LocalTime,
        id: HostId,
        stats: HostStats,
        own: Duration,
    ) -> Option<u32> {
        let late = stats.rooms_late;
        let before = self.hosts.get(id)?.stats.rooms_late;
        self.hosts.note_stats(now, id, stats);
        self.check_clock(now, id, own);
        ((before == 0) != (late == 0)).then_some(late)
    }

    /// Warns of a host whose clock differs from this server's, once.
    pub(super) fn check_clock(&mut self, now: LocalTime, id: HostId, own: Duration) {
        let Some(host) = self.hosts.ready_mut(id) else {
            return;
        };
        let skew = host.clock.ticket_time.and_then(|time| time.skew_s(now, own));
        if let Some(ahead_s) = skew
            && !host.clock.is_wrong
        {
            tracing::warn!(
                host = id.0,
                label = host.label,
                address = host.address,
                ahead_s,
                "the clock of this host differed from the clock of this server when they started; \
                 tickets allow for it, but logs and certificates do not: set the clocks"
            );
        }
        host.clock.is_wrong = skew.is_some();
    }

    /// The number of hosts whose clocks differ from this server's.
    pub(crate) fn wrong_clock_count(&self) -> usize {
        self.hosts.iter().filter(|(_, host)| host.clock.is_wrong).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::LobbyConfig;
    use crate::fleet::hosts::Host;
    use crate::rooms::room::LobbyRooms;

    const HOST: HostId = HostId(1);

    #[test]
    fn a_host_that_has_sent_nothing_is_given_up_and_gets_no_more_rooms() {
        let mut fleet = fleet_with(Origin::Remote);
        assert_eq!(fleet.check_silence(at(1_999), HOST, at(1_999)), Some(again(2_000)));
        fleet.note_heard(at(1_000), HOST);
        assert_eq!(fleet.check_silence(at(2_000), HOST, at(2_000)), Some(again(3_000)));
        let reason = "it has sent nothing for 2000 ms".to_owned();
        let given_up = SilenceCheck::GivenUp { build: "one".to_owned(), reason };
        assert_eq!(fleet.check_silence(at(3_000), HOST, at(3_000)), Some(given_up));
        assert!(fleet.host(HOST).is_some_and(|host| host.leaving));
    }

    #[test]
    fn the_other_hosts_of_a_silent_process_get_no_rooms_until_they_are_heard() {
        let mut fleet = Fleet::new(&LobbyConfig::default());
        for (id, process) in [(1, 1), (2, 1), (3, 3)] {
            fleet.expect_host(at(0), HostId(id), Origin::Remote);
            let (instance, process) = (vec![id as u8; 16], vec![process; 16]);
            let host = Host { instance, process, ..Host::default() };
            fleet.add_host(at(0), HostId(id), host, 0, Duration::ZERO);
        }
        let candidates = |fleet: &Fleet| {
            let hosts = fleet.hosts.candidates(&LobbyRooms::default());
            hosts.iter().map(|host| host.host.0).collect::<Vec<_>>()
        };
        fleet.note_heard(at(200), HostId(2));
        fleet.note_heard(at(1_900), HostId(3));
        let given_up = fleet.check_silence(at(2_000), HOST, at(2_000));
        assert!(matches!(given_up, Some(SilenceCheck::GivenUp { .. })));
        assert_eq!(candidates(&fleet), [3]);
        fleet.note_heard(at(2_100), HostId(2));
        assert_eq!(candidates(&fleet), [2, 3]);
    }

    #[test]
    fn one_silent_process_does_not_mean_that_the_own_line_is_dark() {
        for (process_of_other, are_all_silent) in [(1, false), (2, true)] {
            let mut fleet = fleet_with(Origin::Remote);
            for (id, process) in [(1, 1), (2, process_of_other)] {
                fleet.expect_host(at(0), HostId(id), Origin::Remote);
                let host = Host { process: vec![process; 16], ..Host::default() };
                fleet.add_host(at(0), HostId(id), host, 0, Duration::ZERO);
            }
            assert_eq!(fleet.hosts.are_all_silent(at(501), ALL_SILENT), are_all_silent);
        }
    }

    #[test]
    fn a_timer_that_comes_late_gives_hosts_as_much_more_time() {
        let mut fleet = fleet_with(Origin::Child);
        assert_eq!(fleet.check_silence(at(2_700), HOST, at(2_000)), Some(again(3_400)));
        assert_eq!(fleet.check_silence(at(2_700), HostId(2), at(2_000)), None);
    }

    #[test]
    fn only_hosts_on_other_machines_have_leases() {
        for origin in [Origin::Embedded, Origin::Child, Origin::Remote] {
            let mut fleet = fleet_with(origin);
            let has_lease = origin == Origin::Remote;
            assert_eq!(!fleet.first_lease(origin).is_zero(), has_lease);
            assert_eq!(fleet.acknowledge_heartbeat(HOST, 7).is_some(), has_lease);
            let is_watched = fleet.first_silence_check(at(1), HOST).is_some();
            assert_eq!(is_watched, origin != Origin::Embedded);
        }
    }

    #[test]
    fn late_rooms_are_reported_when_the_first_one_is_late_and_when_none_is() {
        let mut fleet = fleet_with(Origin::Child);
        let report = |rooms_late| {
            let stats = HostStats { rooms_late, ..HostStats::default() };
            fleet.note_stats(at(1), HOST, stats, Duration::ZERO)
        };
        let reported = [0, 2, 3, 0, 0].map(report);
        assert_eq!(reported, [None, Some(2), None, Some(0), None]);
        let stats = HostStats { rooms_late: 1, ..HostStats::default() };
        assert_eq!(fleet.note_stats(at(1), HostId(2), stats, Duration::ZERO), None);
    }

    /// A fleet with one host, heard at the beginning.
    fn fleet_with(origin: Origin) -> Fleet {
        let mut fleet = Fleet::new(&LobbyConfig::default());
        fleet.expect_host(at(0), HOST, origin);
        let host = Host { build: "one".to_owned(), ..Host::default() };
        fleet.add_host(at(0), HOST, host, 0, Duration::ZERO);
        fleet
    }

    fn again(ms: u64) -> SilenceCheck {
        SilenceCheck::Again(at(ms))
    }

    fn at(ms: u64) -> LocalTime {
        LocalTime::from_millis(ms)
    }
}
