//! Heartbeats of hosts: the acknowledgement that renews a host's serving lease, and the detection
//! of hosts that fall silent.

use std::time::Duration;

use ambit_proto::time::LocalTime;

use crate::lobby::fleet::hosts::Origin;
use crate::lobby::fleet::silence::HostSilence;
use crate::lobby::output::HostId;
use crate::lobby::timers::Timer;
use crate::lobby::{Lobby, LobbyAction};

impl Lobby {
    /// What is known of the silence of a host that has just connected. `instance` identifies the
    /// process, if it may have been connected before.
    pub fn new_silence(&self, now: LocalTime, origin: Origin, instance: &[u8]) -> HostSilence {
        let most = self.config.host_silence;
        match (origin, self.hosts.silence_of(instance)) {
            (Origin::Remote, Some(known)) => known.resume(now, most),
            (Origin::Remote, None) => HostSilence::adaptive(now, most),
            (Origin::Child | Origin::Embedded, _) => HostSilence::fixed(now, most),
        }
    }

    /// Starts the silence timer of a host.
    pub(in crate::lobby) fn watch_host(&mut self, now: LocalTime, id: HostId) {
        if self.hosts.origin(id) != Origin::Embedded {
            self.timers.set(Timer::HostSilence(id), now + self.config.host_silence);
        }
    }

    /// A message of the host has arrived.
    pub(in crate::lobby) fn note_host_message(&mut self, now: LocalTime, id: HostId) {
        if let Some(silence) = self.hosts.silence_mut(id) {
            silence.note_heard(now);
        }
    }

    /// The silence timer that was due at `due` has expired. If the host has sent nothing since, it
    /// hangs or its connection does: moves its rooms, closes the link, and kills a child, so that
    /// players cannot use the old rooms.
    pub(in crate::lobby) fn check_silence(&mut self, now: LocalTime, id: HostId, due: LocalTime) {
        let Some(silence) = self.hosts.silence(id) else {
            return;
        };
        let again_at = if now.since(due) > STALL_THRESHOLD {
            // This process was stopped or starved itself, and messages of hosts wait in its queues.
            now + now.since(due).min(self.config.host_silence)
        } else if self.hosts.are_all_silent(now, ALL_SILENT) {
            silence.ends_at().max(silence.heard_at() + self.config.host_silence)
        } else {
            silence.ends_at()
        };
        if again_at > now {
            return self.timers.set(Timer::HostSilence(id), again_at);
        }
        let reason =
            format!("it has sent nothing for {} ms", now.since(silence.heard_at()).as_millis());
        tracing::warn!(host = id.0, "host given up; its rooms resume on other hosts: {reason}");
        self.hosts.retire(id);
        self.outbox.push(LobbyAction::DisconnectHost { host: id });
        let build = self.hosts.build_of(id);
        self.move_rooms_of(now, id, &build, &reason);
        if self.hosts.is_absent(id) {
            self.hosts.remove(id);
        }
    }

    /// Acknowledges a heartbeat: the host's serving lease starts again.
    pub(in crate::lobby) fn acknowledge_heartbeat(&mut self, id: HostId, number: u64) {
        if self.hosts.origin(id) != Origin::Remote {
            return;
        }
        if let Some(silence) = self.hosts.silence_mut(id) {
            let answer = silence.acknowledge(number);
            self.outbox.send_to_host(id, answer);
        }
    }
}

/// The clocks of hosts.
impl Lobby {
    /// The time since 1970 by this server's clock, which was read when the server started.
    pub(in crate::lobby) fn unix_time(&self, now: LocalTime) -> Duration {
        self.config.epoch_unix + now.since(LocalTime::ZERO)
    }

    /// Warns of a host whose clock differs from this server's, once.
    pub(in crate::lobby) fn check_clock(&mut self, now: LocalTime, id: HostId) {
        let own = self.unix_time(now);
        let Some(host) = self.hosts.ready_mut(id) else {
            return;
        };
        let skew = host.ticket_time.and_then(|time| time.skew_s(now, own));
        if let Some(ahead_s) = skew
            && !host.has_wrong_clock
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
        host.has_wrong_clock = skew.is_some();
    }
}

/// If all hosts have sent nothing for this long, the line of this server is dark.
const ALL_SILENT: Duration = Duration::from_millis(500);

/// A timer this late means that this process was stopped or starved.
const STALL_THRESHOLD: Duration = Duration::from_millis(500);
