//! Where rooms can run, and which of the places gets the next one.
//!
//! The load is counted from the lobby's own books, not from what hosts report: a report is up to a second old, and rooms
//! started within it would all go to the same host.

use std::collections::BTreeMap;

use ambit_proto::control::host::{HostReady, HostStats};
use ambit_proto::host::VERSION;

use super::output::HostId;
use super::room::Rooms;

/// Host name and port, with room to spare; it travels in each ticket.
const MAX_ADDRESS_BYTES: usize = 255;
const SHA256_BYTES: usize = 32;

/// A host that said it is ready.
#[derive(Clone, Debug, PartialEq)]
pub struct Host {
    /// Where players connect.
    pub address: String,
    /// SHA-256 of the certificate that it shows.
    pub certificate_sha256: Vec<u8>,
    /// Rooms that it takes.
    pub capacity: u32,
    /// For people.
    pub label: String,
    /// Its latest counters.
    pub stats: HostStats,
}

impl TryFrom<HostReady> for Host {
    type Error = String;

    fn try_from(ready: HostReady) -> Result<Self, String> {
        if ready.version != VERSION {
            return Err(format!("speaks version {} of the host protocol, this server {VERSION}", ready.version));
        }
        if ready.address.is_empty() || ready.address.len() > MAX_ADDRESS_BYTES {
            return Err(format!("an address has 1 to {MAX_ADDRESS_BYTES} bytes, not {}", ready.address.len()));
        }
        if ready.certificate_sha256.len() != SHA256_BYTES {
            return Err(format!("a SHA-256 has {SHA256_BYTES} bytes, not {}", ready.certificate_sha256.len()));
        }
        Ok(Self {
            address: ready.address,
            certificate_sha256: ready.certificate_sha256,
            capacity: ready.capacity,
            label: ready.label,
            stats: HostStats::default(),
        })
    }
}

#[derive(Debug, Default)]
pub(super) struct Hosts {
    ready: BTreeMap<HostId, Host>,
}

impl Hosts {
    /// A host is ready, or says something else about itself than before.
    pub(super) fn add(&mut self, id: HostId, host: Host) {
        self.ready.insert(id, host);
    }

    pub(super) fn remove(&mut self, id: HostId) {
        self.ready.remove(&id);
    }

    pub(super) fn get(&self, id: HostId) -> Option<&Host> {
        self.ready.get(&id)
    }

    pub(super) fn note_stats(&mut self, id: HostId, stats: HostStats) {
        if let Some(host) = self.ready.get_mut(&id) {
            host.stats = stats;
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (HostId, &Host)> {
        self.ready.iter().map(|(id, host)| (*id, host))
    }

    pub(super) fn len(&self) -> usize {
        self.ready.len()
    }

    /// The host with the fewest players, then rooms, of those that take another room; the first one of several.
    pub(super) fn least_loaded(&self, rooms: &Rooms) -> Option<HostId> {
        let loads = loads(rooms);
        self.iter()
            .map(|(id, host)| (loads.get(&id).copied().unwrap_or_default(), id, host.capacity))
            .filter(|(load, _, capacity)| load.rooms < *capacity)
            .min_by_key(|(load, id, _)| (*load, *id))
            .map(|(_, id, _)| id)
    }
}

/// In the order in which loads compare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Load {
    players: u32,
    rooms: u32,
}

fn loads(rooms: &Rooms) -> BTreeMap<HostId, Load> {
    let mut loads: BTreeMap<HostId, Load> = BTreeMap::new();
    for room in rooms.iter() {
        if let Some(host) = room.hosted_by() {
            let load = loads.entry(host).or_default();
            load.players += room.seats.taken();
            load.rooms += 1;
        }
    }
    loads
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_has_to_speak_the_same_version() {
        let error = Host::try_from(HostReady { version: 2, ..ready() }).expect_err("a refusal");
        assert!(error.contains("version 2"), "{error}");
    }

    #[test]
    fn a_host_has_to_say_where_it_is_and_what_it_shows() {
        assert!(Host::try_from(ready()).is_ok());
        assert!(Host::try_from(HostReady { address: String::new(), ..ready() }).is_err());
        assert!(Host::try_from(HostReady { address: "x".repeat(256), ..ready() }).is_err());
        assert!(Host::try_from(HostReady { certificate_sha256: vec![0; 31], ..ready() }).is_err());
    }

    fn ready() -> HostReady {
        HostReady {
            version: VERSION,
            address: "127.0.0.1:7777".into(),
            certificate_sha256: vec![0; 32],
            capacity: 1,
            ..HostReady::default()
        }
    }
}
