//! The hosts that rooms can run on.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use ambit_host_protocol::VERSION;
use ambit_host_protocol::messages::{HostMessage, HostReady};
use ambit_host_protocol::stats::HostStats;
use ambit_proto::ids::RoomId;
use ambit_proto::time::LocalTime;

use crate::fleet::host_ticket_time::HostTicketTime;
use crate::fleet::placement::{BookedLoad, HostCandidate, ReportedLoad};
use crate::fleet::silence::HostSilence;
use crate::output::HostId;
use crate::rooms::room::LobbyRooms;

/// Enough for a host name and a port; the address is part of each ticket.
const MAX_ADDRESS_BYTES: usize = 255;
const SHA256_BYTES: usize = 32;
/// The one that a host shows to browsers, and the next one.
const MAX_WEB_CERTIFICATES: usize = 2;
const MAX_INSTANCE_BYTES: usize = 16;
const MAX_BUILD_BYTES: usize = 64;
/// Hosts that are remembered for a while after they are gone.
const MAX_GONE: usize = 256;

/// What the lobby learns from a host.
#[derive(Clone, Debug, PartialEq)]
pub enum HostReport {
    Message(HostMessage),
    /// The shell has received the first checkpoint of this room from the host.
    Checkpointed(RoomId),
}

/// A host that has sent its `Ready`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Host {
    /// The address for players.
    pub address: String,
    pub certificate_sha256: Vec<u8>,
    /// Maximum number of rooms.
    pub capacity: u32,
    /// A name for people.
    pub label: String,
    /// The build of its game code, which saves its rooms.
    pub build: String,
    /// Number of threads that run rooms.
    pub cores: u32,
    /// Identifies the host; empty if it cannot reconnect.
    pub instance: Vec<u8>,
    /// Of a process that is several hosts, the instance of its first one; else empty.
    pub process: Vec<u8>,
    pub stats: HostStats,
    pub measured: ReportedLoad,
    pub(crate) clock: KnownHostClock,
    /// Whether it gets no more rooms, since it is about to end or has fallen silent.
    pub leaving: bool,
    /// Whether it gets no more rooms, since an operator wants it empty; its rooms move elsewhere.
    pub is_drained: bool,
}

/// The time by which a host judges tickets.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct KnownHostClock {
    /// `None` if it has not said it.
    pub(crate) ticket_time: Option<HostTicketTime>,
    /// Whether it differs from this server's by seconds, which was logged.
    pub(crate) is_wrong: bool,
}

/// How a host is connected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// A part of this process; it lives as long as the lobby.
    Embedded,
    /// A child process of this server, which restarts it.
    Child,
    /// A process that connected by itself.
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
        let host = Self {
            address: ready.address,
            certificate_sha256: ready.certificate_sha256,
            capacity: ready.capacity,
            label: ready.label,
            build: ready.build,
            cores: ready.cores.max(1),
            instance: ready.instance,
            process: ready.process,
            ..Self::default()
        };
        host.check()?;
        Ok(host)
    }
}

impl Host {
    /// The host has said by which time it judges tickets; 0 if it has not.
    pub(super) fn note_ticket_time(&mut self, now: LocalTime, unix_s: u64) {
        match &mut self.clock.ticket_time {
            _ if unix_s == 0 => {}
            Some(known) => known.update(now, unix_s),
            unknown => *unknown = Some(HostTicketTime::new(now, unix_s)),
        }
    }

    /// Identifies its process, which may be several hosts; empty if it cannot reconnect.
    pub fn process(&self) -> &[u8] {
        if self.process.is_empty() { &self.instance } else { &self.process }
    }

    fn takes_rooms(&self) -> bool {
        !self.leaving && !self.is_drained
    }

    /// SHA-256 of each certificate for browsers; none if what the host has sent are none.
    pub(crate) fn web_certificates(&self) -> &[Vec<u8>] {
        let sent = &self.stats.web_certificates_sha256;
        let are_hashes = sent.iter().all(|hash| hash.len() == SHA256_BYTES);
        if are_hashes && sent.len() <= MAX_WEB_CERTIFICATES { sent } else { &[] }
    }

    /// Checks the sizes of what a host has sent or a record holds.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.address.is_empty() || self.address.len() > MAX_ADDRESS_BYTES {
            return Err(format!(
                "an address has 1 to {MAX_ADDRESS_BYTES} bytes, not {}",
                self.address.len()
            ));
        }
        for instance in [&self.instance, &self.process] {
            if instance.len() > MAX_INSTANCE_BYTES {
                return Err(format!(
                    "an instance has at most {MAX_INSTANCE_BYTES} bytes, not {}",
                    instance.len()
                ));
            }
        }
        if self.build.len() > MAX_BUILD_BYTES {
            return Err(format!(
                "a build has a name of at most {MAX_BUILD_BYTES} bytes, not {}",
                self.build.len()
            ));
        }
        if self.certificate_sha256.len() != SHA256_BYTES {
            return Err(format!(
                "a SHA-256 has {SHA256_BYTES} bytes, not {}",
                self.certificate_sha256.len()
            ));
        }
        Ok(())
    }
}

#[derive(Debug, Default)]
pub(super) struct Hosts {
    ready: BTreeMap<HostId, Host>,
    /// Contacts of hosts that are ready or about to be.
    contacts: BTreeMap<HostId, HostContact>,
    /// What was known of remote hosts that are gone, by instance, and whether they were drained; at
    /// most [`MAX_GONE`].
    gone: BTreeMap<Vec<u8>, (HostSilence, bool)>,
    /// The id of the first host of each build that has hosts.
    builds: BTreeMap<String, u64>,
    last_id: u64,
    /// Hosts that may have changed since [`Self::take_changed`].
    changed: BTreeSet<HostId>,
}

/// What the lobby knows of a host in addition to the host's own messages.
#[derive(Clone, Copy, Debug)]
struct HostContact {
    origin: Origin,
    silence: HostSilence,
    /// It was connected to another lobby, and has not reconnected to this one yet.
    is_absent: bool,
    /// When another host of its process was given up, and this one had fallen silent, too.
    doubted_at: Option<LocalTime>,
}

impl HostContact {
    /// Whether it has probably ended with its process: it was not heard since.
    fn is_doubted(&self) -> bool {
        self.doubted_at.is_some_and(|at| self.silence.heard_at() <= at)
    }
}

impl Hosts {
    /// Registers a host before its `Ready`.
    pub(super) fn expect(&mut self, id: HostId, origin: Origin, silence: HostSilence) {
        self.last_id = self.last_id.max(id.0);
        let contact = HostContact { origin, silence, is_absent: false, doubted_at: None };
        self.contacts.insert(id, contact);
    }

    /// Registers a host of another lobby, which may reconnect to this one. Until then it gets no
    /// rooms.
    pub(super) fn expect_back(&mut self, id: HostId, host: Host, silence: HostSilence) {
        let origin = Origin::Remote;
        let contact = HostContact { origin, silence, is_absent: true, doubted_at: None };
        self.contacts.insert(id, contact);
        self.ready.insert(id, Host { leaving: true, ..host });
    }

    /// The hosts that a process is.
    pub(super) fn of_process(&self, process: &[u8]) -> impl Iterator<Item = HostId> {
        self.iter()
            .filter(move |(_, host)| !process.is_empty() && host.process() == process)
            .map(|(id, _)| id)
    }

    /// The ids under which a host is known.
    pub(super) fn with_instance(&self, instance: &[u8]) -> impl Iterator<Item = HostId> {
        self.iter()
            .filter(move |(_, host)| !instance.is_empty() && host.instance == instance)
            .map(|(id, _)| id)
    }

    pub(super) fn is_absent(&self, id: HostId) -> bool {
        self.contacts.get(&id).is_some_and(|known| known.is_absent)
    }

    /// Whether the host could reconnect to another lobby with its rooms.
    pub(super) fn can_come_back(&self, id: HostId) -> bool {
        self.origin(id) == Origin::Remote
            && self.get(id).is_some_and(|host| !host.instance.is_empty())
    }

    /// The highest id that a host may have had.
    pub(super) fn last_id(&self) -> u64 {
        self.last_id
    }

    pub(super) fn skip_to(&mut self, last_id: u64) {
        self.last_id = self.last_id.max(last_id);
    }

    /// The hosts that may have changed since the last call, removed ones included.
    pub(super) fn take_changed(&mut self) -> BTreeSet<HostId> {
        std::mem::take(&mut self.changed)
    }

    /// Adds a host that is ready, or replaces what it reported before.
    pub(super) fn add(&mut self, id: HostId, host: Host) {
        self.changed.insert(id);
        self.ready.insert(id, host);
    }

    pub(super) fn remove(&mut self, id: HostId) {
        self.changed.insert(id);
        let removed = self.ready.remove(&id);
        let contact = self.contacts.remove(&id);
        if let (Some(host), Some(contact)) = (&removed, contact)
            && contact.origin == Origin::Remote
            && !host.instance.is_empty()
        {
            self.gone.insert(host.instance.clone(), (contact.silence, host.is_drained));
            if self.gone.len() > MAX_GONE {
                let oldest = self.gone.iter().min_by_key(|(_, (known, _))| known.heard_at());
                let oldest = oldest.map(|(instance, _)| instance.clone());
                oldest.map(|instance| self.gone.remove(&instance));
            }
        }
        if let Some(host) = removed
            && self.ready.values().all(|other| other.build != host.build)
        {
            self.builds.remove(&host.build);
        }
    }

    pub(super) fn get(&self, id: HostId) -> Option<&Host> {
        self.ready.get(&id)
    }

    pub(super) fn origin(&self, id: HostId) -> Origin {
        self.contacts.get(&id).map(|known| known.origin).unwrap_or_default()
    }

    /// Sets the certificate of the host that is a part of this process.
    pub(super) fn set_embedded_certificate(&mut self, sha256: &[u8; SHA256_BYTES]) {
        let Self { ready, contacts, .. } = self;
        let is_embedded =
            |id: &HostId| contacts.get(id).is_some_and(|known| known.origin == Origin::Embedded);
        for (_, host) in ready.iter_mut().filter(|(id, _)| is_embedded(id)) {
            host.certificate_sha256 = sha256.to_vec();
        }
    }

    /// When the host was heard; `None` if there is no such host.
    pub(super) fn silence(&self, id: HostId) -> Option<HostSilence> {
        self.contacts.get(&id).map(|known| known.silence)
    }

    /// What is known of the silence of this host, which is or was connected.
    pub(super) fn silence_of(&self, instance: &[u8]) -> Option<HostSilence> {
        let connected = self.with_instance(instance).filter_map(|id| self.silence(id));
        let gone = self.gone.get(instance).map(|(silence, _)| *silence);
        connected.chain(gone).max_by_key(HostSilence::heard_at)
    }

    /// Whether all hosts on other machines, of two processes at least, are silent: then it is
    /// rather the line of this server.
    pub(super) fn are_all_silent(&self, now: LocalTime, silence: Duration) -> bool {
        let remote = self.contacts.iter();
        let remote = remote.filter(|(_, known)| known.origin == Origin::Remote && !known.is_absent);
        let mut first = None;
        let mut are_several = false;
        for (id, known) in remote {
            if now.since(known.silence.heard_at()) <= silence {
                return false;
            }
            // One that has not said yet what it is may be of any process.
            let process = self.get(*id).map(Host::process).filter(|process| !process.is_empty());
            let process = process.unwrap_or_default();
            are_several |=
                process.is_empty() && first.is_some() || *first.get_or_insert(process) != process;
        }
        are_several
    }

    /// A host of this process was given up: those of the others that have been silent for this
    /// long, too, get no rooms until they are heard again.
    pub(super) fn doubt_others(&mut self, now: LocalTime, given_up: HostId, silence: Duration) {
        let process = self.get(given_up).map(|host| host.process().to_vec()).unwrap_or_default();
        let others: Vec<HostId> = self.of_process(&process).collect();
        for other in others {
            if let Some(known) = self.contacts.get_mut(&other)
                && now.since(known.silence.heard_at()) > silence
            {
                known.doubted_at = Some(now);
            }
        }
    }

    pub(super) fn silence_mut(&mut self, id: HostId) -> Option<&mut HostSilence> {
        self.contacts.get_mut(&id).map(|known| &mut known.silence)
    }

    /// Excludes the host from further placements.
    pub(super) fn retire(&mut self, id: HostId) {
        if let Some(host) = self.ready.get_mut(&id) {
            host.leaving = true;
        }
    }

    /// Sets whether an operator wants the host empty. Returns whether there is such a host.
    pub(super) fn set_drained(&mut self, id: HostId, is_drained: bool) -> bool {
        let Some(host) = self.ready.get_mut(&id) else { return false };
        host.is_drained = is_drained;
        self.changed.insert(id);
        true
    }

    pub(super) fn is_drained(&self, id: HostId) -> bool {
        self.get(id).is_some_and(|host| host.is_drained)
    }

    /// Whether an operator wanted this host empty when it was known last.
    pub(super) fn was_drained(&self, instance: &[u8]) -> bool {
        self.with_instance(instance).any(|id| self.is_drained(id))
            || self.gone.get(instance).is_some_and(|(_, is_drained)| *is_drained)
    }

    pub(super) fn is_any_drained(&self) -> bool {
        self.ready.values().any(|host| host.is_drained)
    }

    /// The build of a host; empty if there is no such host.
    pub(super) fn build_of(&self, id: HostId) -> String {
        self.get(id).map(|host| host.build.clone()).unwrap_or_default()
    }

    /// Whether the host gets no more rooms.
    pub(super) fn is_leaving(&self, id: HostId) -> bool {
        self.get(id).is_some_and(|host| host.leaving)
    }

    /// Whether hosts of several builds are there.
    pub(super) fn has_several_builds(&self) -> bool {
        let mut builds = self.ready.values().map(|host| &host.build);
        builds.next().is_some_and(|first| builds.any(|other| other != first))
    }

    pub(super) fn note_stats(&mut self, now: LocalTime, id: HostId, stats: HostStats) {
        if let Some(host) = self.ready.get_mut(&id) {
            host.measured.add_report(now, &stats, host.cores);
            host.note_ticket_time(now, stats.ticket_time_unix_s);
            host.stats = stats;
        }
    }

    pub(super) fn ready_mut(&mut self, id: HostId) -> Option<&mut Host> {
        self.ready.get_mut(&id)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (HostId, &Host)> {
        self.ready.iter().map(|(id, host)| (*id, host))
    }

    /// The newest build among the hosts that stay.
    pub(super) fn newest_build(&self) -> Option<&str> {
        let staying = self.ready.values().filter(|host| host.takes_rooms());
        staying.max_by_key(|host| self.build_since(host)).map(|host| &host.build[..])
    }

    /// Records that a host of that build has had this id.
    pub(super) fn note_build(&mut self, build: &str, number: u64) {
        let since = self.builds.entry(build.to_owned()).or_insert(number);
        *since = number.min(*since);
    }

    /// The id of the first host of the same build.
    pub(super) fn build_since(&self, host: &Host) -> u64 {
        self.builds.get(&host.build).copied().unwrap_or_default()
    }

    pub(super) fn has_build(&self, id: HostId, build: &str) -> bool {
        self.get(id).is_some_and(|host| host.build == build)
    }

    /// The hosts that may get rooms, in the order in which they connected. Cost: visits each room.
    pub(super) fn candidates(&self, rooms: &LobbyRooms) -> Vec<HostCandidate> {
        let booked = count_bookings(rooms);
        let is_doubted = |id: &HostId| self.contacts.get(id).is_some_and(HostContact::is_doubted);
        let staying = self.iter().filter(|(id, host)| host.takes_rooms() && !is_doubted(id));
        staying
            .map(|(id, host)| {
                let booked = booked.get(&id).copied().unwrap_or_default();
                HostCandidate::new(id, host.capacity, host.cores, booked, &host.measured)
            })
            .collect()
    }
}

/// Counts rooms and players by host.
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
    fn a_host_needs_the_same_protocol_version() {
        let error =
            Host::try_from(HostReady { version: VERSION + 1, ..ready() }).expect_err("a refusal");
        assert!(error.contains(&format!("version {}", VERSION + 1)), "{error}");
    }

    #[test]
    fn a_host_needs_an_address_and_a_certificate() {
        assert!(Host::try_from(ready()).is_ok());
        assert!(Host::try_from(HostReady { address: String::new(), ..ready() }).is_err());
        assert!(Host::try_from(HostReady { address: "x".repeat(256), ..ready() }).is_err());
        assert!(Host::try_from(HostReady { certificate_sha256: vec![0; 31], ..ready() }).is_err());
    }

    #[test]
    fn what_a_host_calls_itself_has_a_limit() {
        let address = |length| HostReady { address: "x".repeat(length), ..ready() };
        let instance = |length| HostReady { instance: vec![1; length], ..ready() };
        let build = |length| HostReady { build: "x".repeat(length), ..ready() };
        let is_accepted = |ready| Host::try_from(ready).is_ok();
        let (most_of_address, most_of_instance, most_of_build) =
            (MAX_ADDRESS_BYTES, MAX_INSTANCE_BYTES, MAX_BUILD_BYTES);
        assert!(is_accepted(address(most_of_address)));
        assert!(!is_accepted(address(most_of_address + 1)));
        assert!(is_accepted(instance(most_of_instance)));
        assert!(!is_accepted(instance(most_of_instance + 1)));
        assert!(is_accepted(build(most_of_build)));
        assert!(!is_accepted(build(most_of_build + 1)));
    }

    #[test]
    fn the_silence_of_a_remote_host_that_is_gone_is_remembered() {
        let mut hosts = Hosts::default();
        let known = [
            (1, Origin::Remote, &[1; 16][..]),
            (2, Origin::Child, &[2; 16]),
            (3, Origin::Remote, &[]),
        ];
        for (number, origin, instance) in known {
            add_and_remove(&mut hosts, number, origin, instance);
        }
        let heard_at = |instance| hosts.silence_of(instance).map(|known| known.heard_at());
        assert_eq!(heard_at(&[1; 16]), Some(LocalTime::from_millis(1)));
        assert_eq!((heard_at(&[2; 16]), heard_at(&[])), (None, None));
    }

    #[test]
    fn of_too_many_hosts_that_are_gone_the_oldest_is_forgotten() {
        let mut hosts = Hosts::default();
        let numbers = 1..=MAX_GONE as u64 + 1;
        for number in numbers.clone() {
            add_and_remove(&mut hosts, number, Origin::Remote, &number.to_le_bytes());
        }
        let is_forgotten = |number: &u64| hosts.silence_of(&number.to_le_bytes()).is_none();
        assert_eq!(numbers.filter(is_forgotten).collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn a_build_is_as_old_as_its_first_host_until_it_has_none() {
        let host = Host { build: "a".into(), ..Host::default() };
        let mut hosts = Hosts::default();
        for number in [5, 3, 9] {
            hosts.add(HostId(number), host.clone());
            hosts.note_build("a", number);
        }
        for number in [3, 5] {
            hosts.remove(HostId(number));
            assert_eq!(hosts.build_since(&host), 3);
        }
        hosts.remove(HostId(9));
        assert_eq!(hosts.build_since(&host), 0);
    }

    /// A host that was heard at its number of milliseconds comes and goes.
    fn add_and_remove(hosts: &mut Hosts, number: u64, origin: Origin, instance: &[u8]) {
        let host = Host { instance: instance.to_vec(), ..Host::default() };
        let heard_at = LocalTime::from_millis(number);
        let silence = HostSilence::fixed(heard_at, Duration::from_secs(2));
        hosts.expect(HostId(number), origin, silence);
        hosts.add(HostId(number), host);
        hosts.remove(HostId(number));
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
