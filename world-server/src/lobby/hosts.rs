//! Where rooms can run.

use std::collections::{BTreeMap, BTreeSet};

use ambit_proto::control::host::{HostReady, HostStats};
use ambit_proto::host::VERSION;
use ambit_proto::time::LocalTime;

use super::output::HostId;
use super::placement::{BookedLoad, HostCandidate, ReportedLoad};
use super::room::LobbyRooms;

/// Host name and port, with room to spare; it travels in each ticket.
const MAX_ADDRESS_BYTES: usize = 255;
const SHA256_BYTES: usize = 32;
const MAX_INSTANCE_BYTES: usize = 16;
const MAX_BUILD_BYTES: usize = 64;

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
    /// What its rooms are made of: they go on at hosts of the same build only.
    pub build: String,
    /// Threads that run rooms at the same time.
    pub cores: u32,
    /// The process, in bytes of its own choosing; empty if it can't come back.
    pub instance: Vec<u8>,
    /// Its latest counters.
    pub stats: HostStats,
    /// What its reports say of its load.
    pub measured: ReportedLoad,
    /// Whether it gets no more rooms, since it ends or has fallen silent.
    pub leaving: bool,
}

/// How a host came to be here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// A part of this process: it is as alive as the lobby is.
    Embedded,
    /// A child that this server started, and starts again.
    Child,
    /// A process that came by itself.
    #[default]
    Remote,
}

impl TryFrom<HostReady> for Host {
    type Error = String;

    fn try_from(ready: HostReady) -> Result<Self, String> {
        if ready.version != VERSION {
            return Err(format!(
                "speaks version {} of the host protocol, this server {VERSION}",
                ready.version
            ));
        }
        if ready.address.is_empty() || ready.address.len() > MAX_ADDRESS_BYTES {
            return Err(format!(
                "an address has 1 to {MAX_ADDRESS_BYTES} bytes, not {}",
                ready.address.len()
            ));
        }
        if ready.instance.len() > MAX_INSTANCE_BYTES {
            return Err(format!(
                "an instance has at most {MAX_INSTANCE_BYTES} bytes, not {}",
                ready.instance.len()
            ));
        }
        if ready.build.len() > MAX_BUILD_BYTES {
            return Err(format!(
                "a build has a name of at most {MAX_BUILD_BYTES} bytes, not {}",
                ready.build.len()
            ));
        }
        if ready.certificate_sha256.len() != SHA256_BYTES {
            return Err(format!(
                "a SHA-256 has {SHA256_BYTES} bytes, not {}",
                ready.certificate_sha256.len()
            ));
        }
        Ok(Self {
            address: ready.address,
            certificate_sha256: ready.certificate_sha256,
            capacity: ready.capacity,
            label: ready.label,
            build: ready.build,
            cores: ready.cores.max(1),
            instance: ready.instance,
            stats: HostStats::default(),
            measured: ReportedLoad::default(),
            leaving: false,
        })
    }
}

#[derive(Debug, Default)]
pub(super) struct Hosts {
    ready: BTreeMap<HostId, Host>,
    /// Of those that are ready or about to be.
    contacts: BTreeMap<HostId, HostContact>,
    /// When builds came: the number of the first host of each. Of those that hosts are of.
    builds: BTreeMap<String, u64>,
    last_id: u64,
    /// Those that may have changed since [`Self::take_changed`].
    changed: BTreeSet<HostId>,
}

/// What is known of a host beside what it says.
#[derive(Clone, Copy, Debug)]
struct HostContact {
    origin: Origin,
    received_at: LocalTime,
    /// It was another lobby's, and has not come to this one yet.
    is_absent: bool,
}

impl Hosts {
    /// A host will soon be ready.
    pub(super) fn expect(&mut self, now: LocalTime, id: HostId, origin: Origin) {
        self.last_id = self.last_id.max(id.0);
        self.contacts.insert(
            id,
            HostContact {
                origin,
                received_at: now,
                is_absent: false,
            },
        );
    }

    /// A host of another lobby may come to this one. Until then it gets no rooms.
    pub(super) fn expect_back(&mut self, now: LocalTime, id: HostId, host: Host) {
        self.contacts.insert(
            id,
            HostContact {
                origin: Origin::Remote,
                received_at: now,
                is_absent: true,
            },
        );
        self.ready.insert(
            id,
            Host {
                leaving: true,
                ..host
            },
        );
    }

    /// What the process of that name is known as.
    pub(super) fn with_instance(&self, instance: &[u8]) -> impl Iterator<Item = HostId> {
        self.iter()
            .filter(move |(_, host)| !instance.is_empty() && host.instance == instance)
            .map(|(id, _)| id)
    }

    pub(super) fn is_absent(&self, id: HostId) -> bool {
        self.contacts.get(&id).is_some_and(|known| known.is_absent)
    }

    /// Whether another lobby could go on with what runs there.
    pub(super) fn can_come_back(&self, id: HostId) -> bool {
        self.origin(id) == Origin::Remote
            && self.get(id).is_some_and(|host| !host.instance.is_empty())
    }

    /// The highest number that a host may have had.
    pub(super) fn last_id(&self) -> u64 {
        self.last_id
    }

    pub(super) fn skip_to(&mut self, last_id: u64) {
        self.last_id = self.last_id.max(last_id);
    }

    /// Those that may have changed since the last call, those that are gone among them.
    pub(super) fn take_changed(&mut self) -> BTreeSet<HostId> {
        std::mem::take(&mut self.changed)
    }

    /// A host is ready, or says something else about itself than before.
    pub(super) fn add(&mut self, id: HostId, host: Host) {
        self.changed.insert(id);
        self.ready.insert(id, host);
    }

    pub(super) fn remove(&mut self, id: HostId) {
        self.changed.insert(id);
        let gone = self.ready.remove(&id);
        self.contacts.remove(&id);
        if let Some(host) = gone
            && self.ready.values().all(|other| other.build != host.build)
        {
            self.builds.remove(&host.build);
        }
    }

    pub(super) fn get(&self, id: HostId) -> Option<&Host> {
        self.ready.get(&id)
    }

    pub(super) fn origin(&self, id: HostId) -> Origin {
        self.contacts
            .get(&id)
            .map(|known| known.origin)
            .unwrap_or_default()
    }

    /// A host has said something.
    pub(super) fn note_received(&mut self, now: LocalTime, id: HostId) {
        if let Some(known) = self.contacts.get_mut(&id) {
            known.received_at = now;
        }
    }

    pub(super) fn received_at(&self, id: HostId) -> Option<LocalTime> {
        self.contacts.get(&id).map(|known| known.received_at)
    }

    /// The host gets no more rooms.
    pub(super) fn retire(&mut self, id: HostId) {
        if let Some(host) = self.ready.get_mut(&id) {
            host.leaving = true;
        }
    }

    pub(super) fn note_stats(&mut self, now: LocalTime, id: HostId, stats: HostStats) {
        if let Some(host) = self.ready.get_mut(&id) {
            host.measured.add_report(now, &stats, host.cores);
            host.stats = stats;
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (HostId, &Host)> {
        self.ready.iter().map(|(id, host)| (*id, host))
    }

    /// Those that are there.
    pub(super) fn len(&self) -> usize {
        self.ready.keys().filter(|id| !self.is_absent(**id)).count()
    }

    /// The build that came last, of hosts that stay.
    pub(super) fn newest_build(&self) -> Option<&str> {
        let staying = self.ready.values().filter(|host| !host.leaving);
        staying
            .max_by_key(|host| self.build_since(host))
            .map(|host| &host.build[..])
    }

    /// A host of that build has come, as this number or before.
    pub(super) fn note_build(&mut self, build: &str, number: u64) {
        let since = self.builds.entry(build.to_owned()).or_insert(number);
        *since = number.min(*since);
    }

    /// The number of the first host of its build.
    pub(super) fn build_since(&self, host: &Host) -> u64 {
        self.builds.get(&host.build).copied().unwrap_or_default()
    }

    pub(super) fn has_build(&self, id: HostId, build: &str) -> bool {
        self.get(id).is_some_and(|host| host.build == build)
    }

    /// The hosts that rooms may be given to, in the order in which they came. Cost: a look at each
    /// room.
    pub(super) fn candidates(&self, rooms: &LobbyRooms) -> Vec<HostCandidate> {
        let booked = count_bookings(rooms);
        let staying = self.iter().filter(|(_, host)| !host.leaving);
        staying
            .map(|(id, host)| {
                HostCandidate::new(id, host, booked.get(&id).copied().unwrap_or_default())
            })
            .collect()
    }
}

/// Rooms and players by host, as the lobby has them.
fn count_bookings(rooms: &LobbyRooms) -> BTreeMap<HostId, BookedLoad> {
    let mut booked: BTreeMap<HostId, BookedLoad> = BTreeMap::new();
    for room in rooms.iter() {
        if let Some(host) = room.game_host() {
            booked.entry(host).or_default().add(room.player_count());
        }
    }
    booked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_has_to_speak_the_same_version() {
        let error = Host::try_from(HostReady {
            version: VERSION + 1,
            ..ready()
        })
        .expect_err("a refusal");
        assert!(
            error.contains(&format!("version {}", VERSION + 1)),
            "{error}"
        );
    }

    #[test]
    fn a_host_has_to_say_where_it_is_and_what_it_shows() {
        assert!(Host::try_from(ready()).is_ok());
        assert!(
            Host::try_from(HostReady {
                address: String::new(),
                ..ready()
            })
            .is_err()
        );
        assert!(
            Host::try_from(HostReady {
                address: "x".repeat(256),
                ..ready()
            })
            .is_err()
        );
        assert!(
            Host::try_from(HostReady {
                certificate_sha256: vec![0; 31],
                ..ready()
            })
            .is_err()
        );
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
