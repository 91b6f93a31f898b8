//! One host: the WorldServer's orders, the rooms that it has given to this host, tickets,
//! heartbeats, and how the host ends.
//!
//! Orders, messages of rooms and the time go in; [`HostOutput`]s come out, from [`HostCore::poll`].
//! [`HostCore::next_deadline`] says when to call again.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use ambit_host_protocol::{HEARTBEAT_INTERVAL, STATS_INTERVAL};
use ambit_proto::codes::{self, ErrorCode};
use ambit_proto::control::game::Join;
use ambit_proto::control::world::Error;
use ambit_proto::ids::RoomId;
use ambit_proto::pose::PoseCoding;
use ambit_proto::time::LocalTime;
use ambit_transport::quic::Fingerprint;

use crate::clock::RoomClock;
use crate::lease::{ServingLease, ServingPermit};
use crate::making::RoomPlan;
use crate::room_host::AdmittedClient;
use crate::room_pieces::RoomPieces;
use crate::room_task::RoomTask;
use ambit_host_protocol::messages::{
    HostMessage, HostReady, HostSettings, RoomAssignment, RoomHere, RoomOrder, RoomResume,
    WorldOrder,
};
use ambit_room::journal::RoomSnapshot;
use ambit_transport::ticket::{TicketError, TicketVerifier};

/// A WorldServer that acknowledges heartbeats is lost if it has sent none for this time.
const SILENCE_LIMIT: Duration = Duration::from_secs(1);

/// A host with a lease closes rooms that no WorldServer has asked for within this time.
const ABANDONED_AFTER: Duration = Duration::from_mins(1);

#[derive(Clone, Debug)]
pub struct HostProfile {
    /// Where players connect.
    pub address: String,
    /// The certificate that players are shown.
    pub fingerprint: Fingerprint,
    /// Rooms at most.
    pub capacity: u32,
    /// A name for people.
    pub label: String,
    /// What its rooms are made of: only hosts of the same build go on with them.
    pub build: String,
    /// Threads that run rooms at the same time.
    pub cores: u32,
    /// Random bytes of this host.
    pub instance: [u8; 16],
    /// Of a process that is several hosts, the instance of its first one.
    pub process: Option<[u8; 16]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostTime {
    /// By its own clock.
    pub local: LocalTime,
    /// The time by which tickets expire, in seconds since 1970. It may be wrong, but it only runs
    /// forward, as `local` does: the WorldServer learns it from the host and signs tickets for it.
    pub ticket_unix_s: u64,
}

/// What the shell is to do, in this order.
#[derive(Clone, Debug, PartialEq)]
pub enum HostOutput {
    /// Send this to the WorldServer. If there is no room in the queue the link is as good as lost
    /// ([`HostCore::handle_link_lost`]), unless the message is expendable.
    World(HostMessage),
    /// Collect figures and send them to the WorldServer.
    SendStats,
    /// Make this room on a thread of its own, then call [`HostCore::handle_made`].
    MakeRoom(Box<RoomPlan>),
    /// The room that was made starts.
    StartRoom {
        room: RoomId,
        /// How often it was given to a host.
        incarnation: u32,
        clock: RoomClock,
    },
    /// The room that was made is not wanted any more.
    DiscardRoom(RoomId),
    /// An order for a running room. After `Close` and `HandOver` it takes no clients any more.
    Room(RoomId, RoomTask),
    /// The WorldServer has all journal entries up to this number.
    JournalAcknowledged(u64),
    /// From now on a journal entry of this running room that was acknowledged can't be lost with
    /// this process if its number is not below this. Zero when a room starts.
    SavedFrom(RoomId, u64),
    /// The host serves this WorldServer no more. To be carried out when the rooms have carried out
    /// their orders.
    End(HostEnding),
}

/// Why a host does not serve its WorldServer any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostEnding {
    /// By order of the WorldServer.
    Drained,
    /// This process was asked to end: the WorldServer has all that the rooms are, and goes on with
    /// them at other hosts.
    HandedOver,
    /// This process was stopped until its lease ended: its rooms are another host's. Nothing may be
    /// sent any more.
    Stalled,
    /// The link broke, or the WorldServer is lost.
    LinkLost,
    /// The same, before the WorldServer has sent its settings.
    Unserved,
    /// The two don't understand each other; to try again is of no use.
    Refused(String),
}

pub struct HostCore {
    profile: HostProfile,
    link: WorldLink,
    lease: ServingLease,
    leaving: Leaving,
    settings: HostSettings,
    /// `None` until the WorldServer has sent the key.
    tickets: Option<TicketVerifier>,
    rooms: BTreeMap<RoomId, HostedRoom>,
    pieces: RoomPieces,
    /// Since when there is no link.
    unlinked_since: LocalTime,
    heartbeat_at: LocalTime,
    stats_at: LocalTime,
    outputs: VecDeque<HostOutput>,
}

/// The link to the WorldServer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WorldLink {
    Down,
    /// The WorldServer has sent no settings yet.
    Greeting,
    Configured,
    /// It is about to be closed; what rooms send still counts.
    Ending,
}

/// How far the end of the process has got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leaving {
    No,
    /// It was asked to end.
    Asked,
    /// Rooms are handed over once this heartbeat is acknowledged: a WorldServer on another machine
    /// that has just died takes nothing over.
    AfterHeartbeat(u64),
}

#[derive(PartialEq)]
enum HostedRoom {
    /// It is being made.
    Pending {
        incarnation: u32,
        clock: Option<RoomClock>,
        orders: Vec<RoomOrder>,
        /// Whether it was closed meanwhile.
        is_closed: bool,
    },
    Running {
        incarnation: u32,
        saved_from: SavedFrom,
    },
}

/// From which journal entry on the WorldServer can restore a room. One that is new to the host
/// acknowledges entries of rooms whose snapshots it does not have yet; these prove nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SavedFrom {
    /// The room's snapshot has not left yet.
    Snapshot,
    /// The room's next entry follows its snapshot.
    NextEntry,
    /// An entry that has left.
    Entry,
}

impl HostedRoom {
    fn is_running(&self) -> bool {
        matches!(self, Self::Running { .. })
    }
}

impl HostCore {
    /// A host without rooms and without a link.
    pub fn new(profile: HostProfile) -> Self {
        Self {
            profile,
            link: WorldLink::Down,
            lease: ServingLease::default(),
            leaving: Leaving::No,
            settings: HostSettings::default(),
            tickets: None,
            rooms: BTreeMap::new(),
            pieces: RoomPieces::default(),
            unlinked_since: LocalTime::ZERO,
            heartbeat_at: LocalTime::ZERO,
            stats_at: LocalTime::ZERO,
            outputs: VecDeque::new(),
        }
    }

    /// The next thing to do.
    pub fn poll(&mut self) -> Option<HostOutput> {
        self.outputs.pop_front()
    }

    /// When [`HostCore::handle_timeout`] has to be called.
    pub fn next_deadline(&self) -> Option<LocalTime> {
        match self.link {
            WorldLink::Greeting | WorldLink::Configured => {
                Some(self.heartbeat_at.min(self.stats_at))
            }
            WorldLink::Down if self.has_rooms() => Some(self.unlinked_since + ABANDONED_AFTER),
            WorldLink::Down | WorldLink::Ending => None,
        }
    }

    /// A link to a WorldServer is open.
    pub fn connect(&mut self, now: HostTime) {
        self.lease.connect(now.local);
        self.link = WorldLink::Greeting;
        self.pieces.clear();
        if let Leaving::AfterHeartbeat(_) = self.leaving {
            self.leaving = Leaving::Asked;
        }
        (self.heartbeat_at, self.stats_at) = (now.local, now.local);
        self.send(HostMessage::Ready(self.ready(now)));
        self.consider_leaving(now);
    }

    /// The link broke, or the WorldServer does not read.
    pub fn handle_link_lost(&mut self, now: HostTime) {
        let ending = self.lost();
        self.end(now, ending);
    }

    /// An order of the WorldServer.
    pub fn handle_order(&mut self, now: HostTime, order: WorldOrder) {
        if !self.is_linked() {
            return;
        }
        match order {
            WorldOrder::Configure(settings) => self.configure(now, settings),
            WorldOrder::RoomPiece { room, incarnation, piece } => {
                self.pieces.add(room, incarnation, piece);
            }
            WorldOrder::OpenRoom(order, resume) => self.make_room(now, order, resume),
            WorldOrder::CloseRoom { room, reason } => self.close_room(room, reason),
            WorldOrder::RoomTaken(room) => self.part_with(room),
            WorldOrder::Room(room, order) => {
                self.revoke_tickets(now, room, &order);
                self.order(room, order);
            }
            WorldOrder::AcknowledgeHeartbeat { number, lease } => {
                self.lease.acknowledge(now.local, number, lease);
                if matches!(self.leaving, Leaving::AfterHeartbeat(last) if number >= last) {
                    self.end(now, HostEnding::HandedOver);
                }
            }
            WorldOrder::AcknowledgeJournal(number) => {
                self.outputs.push_back(HostOutput::JournalAcknowledged(number));
            }
            WorldOrder::Drain => self.end(now, HostEnding::Drained),
            WorldOrder::HandOver => self.handle_stop(now),
        }
    }

    /// A room was made, or could not be. Its first snapshot is `None` if the WorldServer does not
    /// save it.
    pub fn handle_made(
        &mut self,
        now: HostTime,
        room: RoomId,
        incarnation: u32,
        made: Result<Option<RoomSnapshot>, Error>,
    ) {
        let is_pending = matches!(self.rooms.get(&room),
            Some(HostedRoom::Pending { incarnation: pending, .. }) if *pending == incarnation);
        if !is_pending {
            // It was given up meanwhile, with its link.
            self.outputs.push_back(HostOutput::DiscardRoom(room));
            return;
        }
        let Some(HostedRoom::Pending { clock, orders, is_closed, .. }) = self.rooms.remove(&room)
        else {
            unreachable!("just looked");
        };
        match made {
            Err(error) => self.send_opened(room, Some(error)),
            Ok(_) if is_closed => self.outputs.push_back(HostOutput::DiscardRoom(room)),
            Ok(snapshot) => {
                let running = HostedRoom::Running { incarnation, saved_from: SavedFrom::Entry };
                self.rooms.insert(room, running);
                let clock = clock.unwrap_or_else(|| RoomClock::start(now.local));
                self.outputs.push_back(HostOutput::StartRoom { room, incarnation, clock });
                self.send_opened(room, None);
                if let Some(snapshot) = snapshot {
                    self.send(HostMessage::Snapshot(room, snapshot));
                }
                let orders = orders.into_iter();
                self.outputs.extend(orders.map(|order| HostOutput::Room(room, order.into())));
            }
        }
    }

    /// A room has a message for the WorldServer. Without a link it is dropped: the next link begins
    /// with a snapshot of all rooms. (A player who leaves meanwhile is in the lobby's room until
    /// the grace period is over.)
    pub fn handle_room_message(&mut self, message: HostMessage) {
        if let HostMessage::RoomClosed { room, .. } = message {
            // The WorldServer may open it again as soon as it knows that.
            self.rooms.retain(|id, hosted| *id != room || !hosted.is_running());
        }
        if self.link == WorldLink::Down {
            return;
        }
        self.note_saved(&message);
        self.send(message);
    }

    /// A room has ended. One of this number that was opened since then is another incarnation.
    pub fn handle_room_ended(&mut self, room: RoomId, incarnation: u32) {
        if self.running().any(|running| running == (room, incarnation)) {
            self.rooms.remove(&room);
        }
    }

    /// This process is asked to end.
    pub fn handle_stop(&mut self, now: HostTime) {
        if self.leaving == Leaving::No {
            self.leaving = Leaving::Asked;
            self.consider_leaving(now);
        }
    }

    /// Does what is due at `now`.
    pub fn handle_timeout(&mut self, now: HostTime) {
        if self.link == WorldLink::Down {
            if self.has_rooms() && now.local >= self.unlinked_since + ABANDONED_AFTER {
                tracing::error!(
                    "no WorldServer has asked for the rooms of this host for {} s: they are closed",
                    ABANDONED_AFTER.as_secs()
                );
                self.close_all(ErrorCode::HostDied);
            }
            return;
        }
        if self.is_linked() && now.local >= self.heartbeat_at {
            self.heartbeat_at = next_after(self.heartbeat_at, HEARTBEAT_INTERVAL, now.local);
            self.send_heartbeat(now);
        }
        if self.is_linked() && now.local >= self.stats_at {
            self.stats_at = next_after(self.stats_at, STATS_INTERVAL, now.local);
            self.outputs.push_back(HostOutput::SendStats);
        }
    }

    /// Checks a client's first message, and uses its ticket up.
    pub fn admit(&mut self, now: HostTime, join: &Join) -> Result<AdmittedClient, Error> {
        if join.version != ambit_proto::message::VERSION {
            let message = format!(
                "this server speaks version {} of the game protocol, the client {}",
                ambit_proto::message::VERSION,
                join.version
            );
            return Err(codes::error(ErrorCode::VersionMismatch, message));
        }
        let Some(tickets) = &mut self.tickets else {
            return Err(codes::error(ErrorCode::RoomNotRunning, "this host is not in service yet"));
        };
        // Before the ticket is used up: it is still good for a coding that there is.
        let Some(coding) = PoseCoding::from_number(join.coding) else {
            let message = format!("this server does not know the pose coding {}", join.coding);
            return Err(codes::error(ErrorCode::Unsupported, message));
        };
        let runs = |room| self.rooms.get(&room).is_some_and(HostedRoom::is_running);
        let ticket = tickets
            .verify(now.ticket_unix_s, &join.ticket, &self.profile.address, runs)
            .map_err(|refused| codes::error(refused.code(), refused.to_string()))?;
        Ok(AdmittedClient { ticket, coding })
    }

    /// Closes all rooms: no WorldServer will ask for them.
    pub fn close_all(&mut self, reason: ErrorCode) {
        for room in self.take_running() {
            self.outputs.push_back(HostOutput::Room(room, RoomTask::Close(reason)));
        }
    }

    /// Where players connect.
    pub fn address(&self) -> &str {
        &self.profile.address
    }

    pub fn profile(&self) -> &HostProfile {
        &self.profile
    }

    pub fn has_rooms(&self) -> bool {
        self.running().next().is_some()
    }

    /// Whether this room runs here, or is being made.
    pub fn has_room(&self, room: RoomId) -> bool {
        self.rooms.contains_key(&room)
    }

    /// The rooms that run or are being made.
    pub fn room_count(&self) -> usize {
        self.rooms.len()
    }

    /// Whether players may be served now.
    pub fn permit(&self) -> &Arc<ServingPermit> {
        self.lease.permit()
    }

    /// The end of the lease; `None` for a host without one.
    pub fn lease_until(&self) -> Option<LocalTime> {
        self.lease.until()
    }

    /// Whether a WorldServer has asked for this host.
    pub fn is_in_service(&self) -> bool {
        self.tickets.is_some()
    }

    /// The tickets that were refused, by reason.
    pub fn refused_tickets(&self) -> impl Iterator<Item = (TicketError, u64)> + '_ {
        self.tickets.iter().flat_map(TicketVerifier::refusals)
    }

    fn is_linked(&self) -> bool {
        matches!(self.link, WorldLink::Greeting | WorldLink::Configured)
    }

    fn lost(&self) -> HostEnding {
        if self.link == WorldLink::Configured { HostEnding::LinkLost } else { HostEnding::Unserved }
    }

    fn configure(&mut self, now: HostTime, settings: HostSettings) {
        if settings.version != ambit_host_protocol::VERSION {
            let refusal = format!(
                "the WorldServer speaks version {} of the host protocol, this host version {}: \
                 build both from the same source",
                settings.version,
                ambit_host_protocol::VERSION,
            );
            return self.end(now, HostEnding::Refused(refusal));
        }
        let Some(verifier) = TicketVerifier::new(&settings.ticket_key) else {
            let refusal = "the WorldServer's ticket key is not an Ed25519 public key".to_owned();
            return self.end(now, HostEnding::Refused(refusal));
        };
        // One with the same key knows which tickets were used and which are revoked.
        if !self.tickets.as_ref().is_some_and(|known| known.has_same_key(&verifier)) {
            self.tickets = Some(verifier);
        }
        self.lease.configure(now.local, settings.lease, settings.silence);
        self.settings = settings;
        self.link = WorldLink::Configured;
        for (&room, hosted) in &mut self.rooms {
            if let HostedRoom::Running { saved_from, .. } = hosted {
                *saved_from = SavedFrom::Snapshot;
                self.outputs.push_back(HostOutput::SavedFrom(room, u64::MAX));
                self.outputs.push_back(HostOutput::Room(room, RoomTask::SendSnapshot));
            }
        }
        self.consider_leaving(now);
    }

    fn make_room(&mut self, now: HostTime, order: RoomAssignment, resume: Option<RoomResume>) {
        let RoomAssignment { room, incarnation, .. } = order;
        let resume = resume.map(|resume| self.pieces.complete(room, incarnation, resume));
        if let Err(error) = self.check_free(room) {
            return self.send_opened(room, Some(error));
        }
        let resume = resume.map(|resume| (RoomClock::showing(now.local, resume.now), resume));
        self.rooms.insert(
            room,
            HostedRoom::Pending {
                incarnation,
                clock: resume.as_ref().map(|(clock, _)| *clock),
                orders: Vec::new(),
                is_closed: false,
            },
        );
        let plan = RoomPlan {
            header: order.into_header(self.settings.grace_ms),
            incarnation,
            resume,
            is_saved: self.settings.saves_rooms,
        };
        self.outputs.push_back(HostOutput::MakeRoom(Box::new(plan)));
    }

    fn check_free(&self, room: RoomId) -> Result<(), Error> {
        let capacity = self.profile.capacity;
        if self.rooms.contains_key(&room) {
            return Err(codes::error(ErrorCode::AlreadyRunning, "the room runs already"));
        }
        if self.rooms.len() >= capacity as usize {
            return Err(codes::error(
                ErrorCode::NoHostAvailable,
                format!("this host holds {capacity} rooms at most"),
            ));
        }
        Ok(())
    }

    fn close_room(&mut self, room: RoomId, reason: ErrorCode) {
        match self.rooms.get_mut(&room) {
            Some(HostedRoom::Pending { is_closed, .. }) => *is_closed = true,
            Some(HostedRoom::Running { .. }) => {
                self.rooms.remove(&room);
                tracing::info!(room = room.0, reason = codes::name(reason), "room closed");
                self.outputs.push_back(HostOutput::Room(room, RoomTask::Close(reason)));
            }
            None => {}
        }
    }

    /// The room goes on at another host.
    fn part_with(&mut self, room: RoomId) {
        if let Some(HostedRoom::Running { .. }) = self.rooms.get(&room) {
            self.rooms.remove(&room);
            tracing::info!(room = room.0, "the room goes on at another host");
            self.outputs.push_back(HostOutput::Room(room, RoomTask::HandOver));
        }
    }

    fn order(&mut self, room: RoomId, order: RoomOrder) {
        match self.rooms.get_mut(&room) {
            Some(HostedRoom::Pending { orders, .. }) => orders.push(order),
            Some(HostedRoom::Running { .. }) => {
                self.outputs.push_back(HostOutput::Room(room, order.into()));
            }
            None => {}
        }
    }

    fn revoke_tickets(&mut self, now: HostTime, room: RoomId, order: &RoomOrder) {
        let Some(tickets) = &mut self.tickets else {
            return;
        };
        match order {
            RoomOrder::RemovePlayer { player, revoked_until, .. } => {
                tickets.revoke(now.ticket_unix_s, room, *player, *revoked_until);
            }
            RoomOrder::SyncMembers { members, revoked_until } => {
                let members = members.iter().map(|member| member.player).collect();
                tickets.revoke_all_but(now.ticket_unix_s, room, members, *revoked_until);
            }
            _ => {}
        }
    }

    fn send_heartbeat(&mut self, now: HostTime) {
        if !self.lease.permit().check(now.local) {
            return self.end(now, HostEnding::Stalled);
        }
        let silence = self.lease.silence(now.local);
        if silence > SILENCE_LIMIT {
            tracing::warn!(
                "the WorldServer has acknowledged nothing for {} ms",
                silence.as_millis()
            );
            return self.handle_link_lost(now);
        }
        let number = self.lease.next_heartbeat(now.local);
        self.send(HostMessage::Heartbeat(number));
    }

    /// Leaves if this process was asked to end and the WorldServer is ready for it: one that has
    /// just been found has to know first that these rooms are its own.
    fn consider_leaving(&mut self, now: HostTime) {
        let is_ready = match self.link {
            WorldLink::Configured => true,
            WorldLink::Greeting => !self.has_rooms(),
            WorldLink::Down | WorldLink::Ending => false,
        };
        if self.leaving != Leaving::Asked || !is_ready {
            return;
        }
        if !self.settings.saves_rooms {
            self.handle_link_lost(now);
        } else if self.lease.has_lease() {
            let number = self.lease.next_heartbeat(now.local);
            self.leaving = Leaving::AfterHeartbeat(number);
            self.send(HostMessage::Heartbeat(number));
        } else {
            self.end(now, HostEnding::HandedOver);
        }
    }

    fn end(&mut self, now: HostTime, ending: HostEnding) {
        if !self.is_linked() {
            return;
        }
        self.rooms.retain(|_, room| room.is_running());
        if self.link == WorldLink::Configured {
            self.unlinked_since = now.local;
            if ending == HostEnding::HandedOver {
                self.send(HostMessage::HandingOver);
            }
        }
        self.link = WorldLink::Ending;
        match &ending {
            HostEnding::HandedOver => {
                for room in self.take_running() {
                    self.outputs.push_back(HostOutput::Room(room, RoomTask::HandOver));
                }
            }
            HostEnding::Drained => self.close_all(ErrorCode::Draining),
            // Nothing is sent any more.
            HostEnding::Stalled => {}
            // The rooms stay this host's for a while, and another WorldServer may go on with them.
            HostEnding::LinkLost | HostEnding::Unserved if self.lease.has_lease() => {
                self.link = WorldLink::Down;
            }
            HostEnding::LinkLost | HostEnding::Unserved | HostEnding::Refused(_) => {
                self.close_all(ErrorCode::HostDied);
            }
        }
        self.outputs.push_back(HostOutput::End(ending));
    }

    /// The link is closed, after its [`HostOutput::End`].
    pub fn disconnect(&mut self) {
        self.link = WorldLink::Down;
    }

    fn running(&self) -> impl Iterator<Item = (RoomId, u32)> + '_ {
        self.rooms.iter().filter_map(|(&id, room)| match room {
            HostedRoom::Running { incarnation, .. } => Some((id, *incarnation)),
            HostedRoom::Pending { .. } => None,
        })
    }

    fn note_saved(&mut self, message: &HostMessage) {
        let (&room, number) = match message {
            HostMessage::Snapshot(room, _) => (room, None),
            HostMessage::Journal { room, number, .. } => (room, Some(*number)),
            _ => return,
        };
        if let Some(HostedRoom::Running { saved_from, .. }) = self.rooms.get_mut(&room) {
            match (*saved_from, number) {
                (SavedFrom::Snapshot, None) => *saved_from = SavedFrom::NextEntry,
                (SavedFrom::NextEntry, Some(number)) => {
                    *saved_from = SavedFrom::Entry;
                    self.outputs.push_back(HostOutput::SavedFrom(room, number));
                }
                _ => {}
            }
        }
    }

    fn take_running(&mut self) -> Vec<RoomId> {
        let running: Vec<RoomId> = self.running().map(|(room, _)| room).collect();
        for room in &running {
            self.rooms.remove(room);
        }
        running
    }

    fn send_opened(&mut self, room: RoomId, error: Option<Error>) {
        match &error {
            None => tracing::info!(room = room.0, "room opened"),
            Some(error) => tracing::warn!(
                room = room.0,
                code = error.name,
                "room not opened: {}",
                error.message
            ),
        }
        self.send(HostMessage::RoomOpened { room, error });
    }

    fn send(&mut self, message: HostMessage) {
        self.outputs.push_back(HostOutput::World(message));
    }

    fn ready(&self, now: HostTime) -> HostReady {
        let HostProfile { address, fingerprint, capacity, label, build, cores, instance, process } =
            self.profile.clone();
        let room_here = |(room, incarnation): (RoomId, u32)| RoomHere { room, incarnation };
        HostReady {
            version: ambit_host_protocol::VERSION,
            address,
            certificate_sha256: fingerprint.0.to_vec(),
            capacity,
            label,
            cores,
            instance: instance.to_vec(),
            rooms: self.running().map(room_here).collect(),
            build,
            ticket_time_unix_s: now.ticket_unix_s,
            process: process.map(|first| first.to_vec()).unwrap_or_default(),
        }
    }
}

/// The next time after `now` in the schedule of `due`.
fn next_after(due: LocalTime, interval: Duration, now: LocalTime) -> LocalTime {
    let missed = now.since(due).as_micros() / interval.as_micros();
    due + interval * (missed as u32 + 1)
}

#[cfg(test)]
mod tests;
