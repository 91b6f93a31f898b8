//! When each host was heard last, beside the lobby's mailbox.
//!
//! The task that reads a host's messages notes their arrival here and answers heartbeats by itself.
//! So neither the host's serving lease nor the detection of silent hosts depends on how many
//! requests of players wait for the lobby.
//!
//! A lease must not be renewed for a host that the lobby has given up. The lobby gives silent hosts
//! up only in a call in which one of its timers is due. For such a call the lobby's actor holds
//! this table: it tells the lobby when each host was heard, and removes those that were given up
//! before it lets go. So a heartbeat is answered either before, and the lobby knows of it, or not
//! at all.

use std::collections::BTreeMap;

use ambit_host_protocol::messages::WorldOrder;
use ambit_lobby::{HostId, HostSilence};
use ambit_proto::time::LocalTime;
use parking_lot::{Mutex, MutexGuard};

/// The table; see the module.
#[derive(Debug, Default)]
pub(crate) struct HeardHosts(Mutex<BTreeMap<HostId, HostSilence>>);

impl HeardHosts {
    /// Adds a host that has just been heard.
    pub(crate) fn add(&self, host: HostId, silence: HostSilence) {
        self.hold().insert(host, silence);
    }

    /// The host was given up or is gone: its heartbeats are not answered from now on.
    pub(crate) fn remove(&self, host: HostId) {
        self.hold().remove(&host);
    }

    /// Notes that a message of the host has arrived. Reads the clock once the table is held.
    pub(crate) fn note(&self, host: HostId, clock: impl FnOnce() -> LocalTime) {
        if let Some(silence) = self.hold().get_mut(&host) {
            silence.note_heard(clock());
        }
    }

    /// The answer to a heartbeat of the host, unless it was given up.
    pub(crate) fn acknowledge(&self, host: HostId, number: u64) -> Option<WorldOrder> {
        let mut all = self.hold();
        all.get_mut(&host).map(|silence| silence.acknowledge(number))
    }

    /// The table. Other threads cannot change it while the guard lives.
    pub(crate) fn hold(&self) -> MutexGuard<'_, BTreeMap<HostId, HostSilence>> {
        self.0.lock()
    }
}
