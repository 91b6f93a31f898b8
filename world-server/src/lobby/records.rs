//! The lobby as records, so that another WorldServer of the cluster can go on with it.
//!
//! After each call, what has changed comes out as [`Output::Record`]s: whole things by their
//! [`Key`]s, never differences, so that the newest of each is all there is to know.
//! [`Lobby::restore`] makes of them the lobby that they were written by, with everybody away:
//! players come back with their tokens, hosts with their rooms (`HostReady.rooms`).
//!
//! What is not recorded: connections, chat, who watches the list, rooms that were just being opened
//! (they wait for a start again; players ask for further maps of worlds again by themselves), and
//! rooms that had just lost their host (their state was in the memory of the server that is gone).
//!
//! Invariants:
//! 1. A record is put out exactly when its bytes differ from those put out before.
//! 2. No number is given twice: `Ids` is ahead of what is used by at least half of [`AHEAD`].
//!
//! Cost: what a call has touched is encoded; without a directory nothing is. Memory: the records.
//! Source of the formats: `proto/ambit/directory.proto`.

use std::collections::BTreeMap;
use std::time::Duration;

use ambit_proto::codes::ErrorCode;
use ambit_proto::control::directory as pb;
use ambit_proto::control::host::{CloseRoom, HostReady, RoomHere, Roster, world_to_host};
use ambit_proto::ids::{PlayerId, RoomId};
use ambit_proto::time::LocalTime;
use prost::Message as _;

use super::hosts::Host;
use super::limits::{CreationKey, Creations};
use super::output::HostId;
use super::players::{Kept, Player, ResumeToken};
use super::refusal::Refusal;
use super::request::CreateRoom;
use super::room::{Phase, Room};
use super::text::{Password, PlayerName, RoomName};
use super::timers::Timer;
use super::worlds::World;
use super::{Lobby, Output};

/// Numbers that are reserved at a time.
const AHEAD: u64 = 10_000;
/// Stands for a host that is not known: the room has just lost its own.
const NOWHERE: u64 = u64::MAX;

/// What a record is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    /// Numbers that may have been given.
    Ids,
    /// A process that runs rooms.
    Host(HostId),
    /// A session.
    Player(PlayerId),
    /// A room. After those who sit in it, so that they are known first.
    Room(RoomId),
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Ids => f.write_str("ids"),
            Self::Host(HostId(number)) => write!(f, "host.{number}"),
            Self::Room(RoomId(number)) => write!(f, "room.{number}"),
            Self::Player(PlayerId(number)) => write!(f, "player.{number}"),
        }
    }
}

impl std::str::FromStr for Key {
    type Err = UnknownKey;

    fn from_str(text: &str) -> Result<Self, UnknownKey> {
        if text == "ids" {
            return Ok(Self::Ids);
        }
        let (kind, number) = text.split_once('.').ok_or(UnknownKey)?;
        let number = number.parse().map_err(|_| UnknownKey)?;
        match kind {
            "host" => Ok(Self::Host(HostId(number))),
            "room" => Ok(Self::Room(RoomId(number))),
            "player" => Ok(Self::Player(PlayerId(number))),
            _ => Err(UnknownKey),
        }
    }
}

/// Not a key that this build knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a key of the directory")]
pub struct UnknownKey;

/// What was put out, by key.
#[derive(Debug, Default)]
pub(super) struct Records {
    written: BTreeMap<Key, Vec<u8>>,
    reserved: pb::Ids,
}

/// Putting out.
impl Lobby {
    /// Puts out what has changed since the last call.
    pub(super) fn note_changes(&mut self) {
        let (players, rooms) = (self.players.take_touched(), self.rooms.take_touched());
        if !self.config.directory {
            return;
        }
        self.reserve();
        let mut gone = Vec::new();
        for id in self.hosts.take_touched() {
            let host = self.hosts.get(id).filter(|_| self.hosts.can_come_back(id));
            match host.map(|host| host_record(host, self.hosts.build_since(host)).encode_to_vec()) {
                None => gone.push(id),
                record => self.record(Key::Host(id), record),
            }
        }
        for id in players {
            let record = self
                .players
                .get(id)
                .map(|player| self.player_record(player).encode_to_vec());
            self.record(Key::Player(id), record);
        }
        for id in rooms {
            let record = self
                .rooms
                .get(id)
                .map(|room| room_record(room).encode_to_vec());
            self.record(Key::Room(id), record);
        }
        // Last: what ran there is known by then to run elsewhere.
        for id in gone {
            self.record(Key::Host(id), None);
        }
    }

    fn record(&mut self, key: Key, value: Option<Vec<u8>>) {
        let same = self.records.written.get(&key) == value.as_ref();
        if same {
            return;
        }
        match &value {
            Some(value) => drop(self.records.written.insert(key, value.clone())),
            None => drop(self.records.written.remove(&key)),
        }
        self.outbox.push(Output::Record { key, value });
    }

    /// Sees to it that the numbers to come are known to be taken before they are.
    fn reserve(&mut self) {
        let used = pb::Ids {
            players: self.players.last_id(),
            rooms: self.rooms.last_id(),
            tickets: self.counters.tickets,
            hosts: self.hosts.last_id(),
            transfers: self.counters.transfers,
        };
        let reserved = &self.records.reserved;
        let is_short = |used: u64, reserved: u64| reserved < used + AHEAD / 2;
        if is_short(used.players, reserved.players)
            || is_short(used.rooms, reserved.rooms)
            || is_short(used.tickets, reserved.tickets)
            || is_short(used.hosts, reserved.hosts)
            || is_short(used.transfers, reserved.transfers)
        {
            let ids = pb::Ids {
                players: used.players + AHEAD,
                rooms: used.rooms + AHEAD,
                tickets: used.tickets + AHEAD,
                hosts: used.hosts + AHEAD,
                transfers: used.transfers + AHEAD,
            };
            self.record(Key::Ids, Some(ids.encode_to_vec()));
            self.records.reserved = ids;
        }
    }

    fn player_record(&self, player: &Player) -> pb::Player {
        let creations = player
            .creations
            .remembered()
            .map(|(key, room)| pb::Creation {
                key: key.map(Vec::from).unwrap_or_default(),
                room: room.0,
            });
        pb::Player {
            name: player.name().as_str().to_owned(),
            token: self.players.token(player.id).to_vec(),
            previous_token: self
                .players
                .previous_token(player.id)
                .map(Vec::from)
                .unwrap_or_default(),
            creations: creations.collect(),
        }
    }
}

fn host_record(host: &Host, build_since: u64) -> pb::Host {
    pb::Host {
        instance: host.instance.clone(),
        address: host.address.clone(),
        certificate_sha256: host.certificate_sha256.clone(),
        capacity: host.capacity,
        cores: host.cores,
        label: host.label.clone(),
        build: host.build.clone(),
        build_since,
    }
}

fn room_record(room: &Room) -> pb::Room {
    let runs_on = match room.phase {
        Phase::Waiting | Phase::Opening { .. } => None,
        Phase::Running { host } => Some(host.0),
        Phase::Moving { host } => Some(host.map_or(NOWHERE, |host| host.0)),
    };
    if let Some(zone) = &room.zone {
        let zone = Some(zone.record());
        return pb::Room {
            incarnation: room.incarnation,
            runs_on,
            zone,
            ..pb::Room::default()
        };
    }
    pb::Room {
        name: room.name().as_str().to_owned(),
        game: room.game.clone(),
        parameters: room.parameters.clone(),
        password: room
            .password
            .as_ref()
            .map(|password| password.as_str().to_owned())
            .unwrap_or_default(),
        host: room.host.0,
        capacity: room.seats.capacity(),
        seats: room
            .seats
            .iter()
            .map(|seat| pb::Seat {
                player: seat.player.0,
                ready: seat.ready,
            })
            .collect(),
        kicked: room.barred().map(|player| player.0).collect(),
        seed: room.seed,
        incarnation: room.incarnation,
        runs_on,
        zone: None,
        world: room.world.record(),
        build: room.build.clone(),
    }
}

/// Going on.
impl Lobby {
    /// Goes on with what another lobby has put out; this one is new. Rooms whose hosts don't come
    /// back within `patience` are lost. What does not decode is left out, and named in the log.
    pub fn restore<'a>(
        &mut self,
        now: LocalTime,
        records: impl IntoIterator<Item = (Key, &'a [u8])>,
        patience: Duration,
    ) {
        let records: BTreeMap<Key, &[u8]> = records.into_iter().collect();
        for (&key, &bytes) in &records {
            let taken = match key {
                Key::Ids => pb::Ids::decode(bytes).ok().map(|ids| self.skip_to(ids)),
                Key::Host(id) => pb::Host::decode(bytes)
                    .ok()
                    .and_then(|host| self.restore_host(now, id, host, patience)),
                Key::Player(id) => pb::Player::decode(bytes)
                    .ok()
                    .and_then(|player| self.restore_player(now, id, &player)),
                Key::Room(_) => Some(()),
            };
            if taken.is_none() {
                tracing::error!(%key, "a record of the directory makes no sense, and is left out");
                // So that it goes from there too.
                match key {
                    Key::Host(id) => self.hosts.remove(id),
                    Key::Player(id) => self.players.remove(id),
                    Key::Ids | Key::Room(_) => {}
                }
            }
            self.records.written.insert(key, bytes.to_vec());
        }
        // Seats belong to players.
        for (&key, &bytes) in &records {
            if let Key::Room(id) = key
                && pb::Room::decode(bytes)
                    .ok()
                    .and_then(|room| self.restore_room(now, id, room))
                    .is_none()
            {
                tracing::error!(%key, "a room of the directory can't go on: nobody is in it, or its host is not known");
                // So that it goes from there too.
                drop(self.rooms.remove(id));
            }
        }
        self.mend_worlds(now);
        self.note_changes();
    }

    fn skip_to(&mut self, ids: pb::Ids) {
        self.players.skip_to(ids.players);
        self.rooms.skip_to(ids.rooms);
        self.hosts.skip_to(ids.hosts);
        self.counters.tickets = self.counters.tickets.max(ids.tickets);
        self.counters.transfers = self.counters.transfers.max(ids.transfers);
    }

    fn restore_host(
        &mut self,
        now: LocalTime,
        id: HostId,
        host: pb::Host,
        patience: Duration,
    ) -> Option<()> {
        let host_since = host.build_since;
        let ready = HostReady {
            version: ambit_proto::host::VERSION,
            address: host.address,
            certificate_sha256: host.certificate_sha256,
            capacity: host.capacity,
            label: host.label,
            build: host.build,
            cores: host.cores,
            instance: host.instance,
            ..HostReady::default()
        };
        let host = Host::try_from(ready).ok()?;
        self.hosts.know_build(&host.build, host_since);
        self.hosts.expect_back(now, id, host);
        self.timers.set(Timer::Silent(id), now + patience);
        Some(())
    }

    fn restore_player(&mut self, now: LocalTime, id: PlayerId, player: &pb::Player) -> Option<()> {
        let token = |bytes: &[u8]| ResumeToken::try_from(bytes).ok();
        let mut creations = Creations::default();
        for creation in &player.creations {
            creations.remember(
                now,
                CreationKey::try_from(&creation.key[..]).ok(),
                RoomId(creation.room),
            );
        }
        let kept = Kept {
            name: PlayerName::parse(&player.name).ok()?,
            token: token(&player.token)?,
            previous_token: token(&player.previous_token),
            creations,
        };
        self.players.put(id, kept, &self.config)?;
        self.timers.set(Timer::Grace(id), now + self.config.grace);
        Some(())
    }

    fn restore_room(&mut self, now: LocalTime, id: RoomId, record: pb::Room) -> Option<()> {
        if let Some(zone) = &record.zone {
            return self.restore_map(id, zone, record.incarnation, record.runs_on.map(HostId)?);
        }
        let members = || {
            record
                .seats
                .iter()
                .map(|seat| (PlayerId(seat.player), seat.ready))
        };
        let free = |player: &PlayerId| {
            self.players
                .get(*player)
                .is_some_and(|player| player.room.is_none())
        };
        let seated: Vec<(PlayerId, bool)> = members().filter(|(player, _)| free(player)).collect();
        let &(first, _) = seated.first()?;
        let create = CreateRoom {
            name: RoomName::parse(&record.name).ok()?,
            game: record.game,
            capacity: record.capacity,
            parameters: record.parameters,
            password: Password::parse(&record.password).ok()?,
            key: None,
        };
        let mut room = Room::new(id, first, create);
        for &(player, ready) in &seated {
            room.seats.take(player).ok()?;
            room.seats.set_ready(player, ready);
        }
        if room.seats.contains(PlayerId(record.host)) {
            room.host = PlayerId(record.host);
        }
        for player in record.kicked {
            room.bar(PlayerId(player));
        }
        (room.seed, room.incarnation, room.build) = (record.seed, record.incarnation, record.build);
        room.world = World::recorded(record.world.unwrap_or_default(), &room.seats);
        if let Some(host) = record.runs_on.map(HostId) {
            self.hosts.get(host)?;
            room.phase = Phase::Running { host };
        }
        for (player, _) in seated {
            self.players.at_mut(player).room = Some(id);
        }
        self.rooms.put(room);
        self.mark_listing(now, id);
        Some(())
    }
}

/// Hosts that come back.
impl Lobby {
    /// The host that is now `id` may be known by another number: another lobby knew it, or its link
    /// broke and it has dialled again. What ran there runs here. The rooms that were about to be
    /// opened there, of which it need not have heard.
    pub(super) fn recognise(&mut self, id: HostId, instance: &[u8]) -> Vec<RoomId> {
        let mut unheard = Vec::new();
        for before in self
            .hosts
            .called(instance)
            .filter(|before| *before != id)
            .collect::<Vec<_>>()
        {
            if !self.hosts.is_absent(before) {
                self.outbox.push(Output::Forsake { host: before });
            }
            self.timers.cancel(Timer::Silent(before));
            self.hosts.remove(before);
            for room in self.rooms.ids() {
                if self.rooms.at(room).hosted_by() != Some(before) {
                    continue;
                }
                let known = self.rooms.at_mut(room);
                match known.phase {
                    Phase::Opening { starter, .. } => {
                        known.phase = Phase::Opening { host: id, starter };
                        unheard.push(room);
                    }
                    Phase::Moving { .. } => known.phase = Phase::Moving { host: None },
                    Phase::Running { .. } | Phase::Waiting => {
                        (known.phase, known.kept) = (Phase::Running { host: id }, false);
                    }
                }
            }
        }
        unheard
    }

    /// Compares what a host says that it runs with what is known: what is not its to run it closes,
    /// and what it does not run is lost.
    pub(super) fn compare_rooms(&mut self, now: LocalTime, host: HostId, here: &[RoomHere]) {
        for said in here {
            let id = RoomId(said.room);
            let known = self
                .rooms
                .get(id)
                .filter(|room| room.phase == (Phase::Running { host }));
            if known.is_some_and(|room| room.incarnation == said.incarnation) {
                self.outbox.push(Output::Adopt { room: id, host });
                let (members, void_tickets_until) =
                    (Some(self.members_on(id)), self.counters.tickets);
                let roster = Roster {
                    room: id.0,
                    members,
                    void_tickets_until,
                };
                self.outbox.host(host, world_to_host::Body::Roster(roster));
                self.go_on_with_transfers(id);
            } else {
                let close = CloseRoom {
                    room: id.0,
                    reason: ErrorCode::RoomClosed.into(),
                };
                self.outbox
                    .host(host, world_to_host::Body::CloseRoom(close));
            }
        }
        let runs = |room: &Room| {
            here.iter()
                .any(|said| (RoomId(said.room), said.incarnation) == (room.id, room.incarnation))
        };
        let lost = self
            .rooms
            .iter()
            .filter(|room| room.phase == (Phase::Running { host }) && !runs(room));
        for id in lost.map(|room| room.id).collect::<Vec<_>>() {
            let message = format!("the game server that ran room {id} does not run it any more");
            self.dissolve_by_host(now, id, Refusal::new(ErrorCode::HostDied, message));
        }
    }
}
