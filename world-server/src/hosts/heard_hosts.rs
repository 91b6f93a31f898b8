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
use std::sync::{Mutex, MutexGuard, PoisonError};

use ambit_proto::time::LocalTime;

use crate::lobby::HostId;

/// The table; see the module.
#[derive(Debug, Default)]
pub(crate) struct HeardHosts(Mutex<BTreeMap<HostId, LocalTime>>);

impl HeardHosts {
    /// Adds a host that has just been heard.
    pub(crate) fn add(&self, host: HostId, now: LocalTime) {
        self.hold().insert(host, now);
    }

    /// The host was given up or is gone: its heartbeats are not answered from now on.
    pub(crate) fn remove(&self, host: HostId) {
        self.hold().remove(&host);
    }

    /// Notes that a message of the host has arrived. Reads the clock once the table is held.
    /// Returns whether the host's heartbeats are answered.
    pub(crate) fn note(&self, host: HostId, clock: impl FnOnce() -> LocalTime) -> bool {
        let mut all = self.hold();
        let known = all.get_mut(&host);
        known.map(|heard_at| *heard_at = clock()).is_some()
    }

    /// The table, which nobody else can change meanwhile.
    pub(crate) fn hold(&self) -> MutexGuard<'_, BTreeMap<HostId, LocalTime>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
