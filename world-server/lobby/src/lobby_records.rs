//! The lobby as records, so that another WorldServer of the cluster can restore it.
//!
//! After each call, changes come out as [`LobbyAction::Record`]s: whole records by their
//! [`RecordKey`]s, never differences, so the newest value of each is sufficient. [`Lobby::restore`]
//! rebuilds the lobby from them with all players away. Players come back with their tokens, hosts
//! with their rooms (`HostReady.rooms`).
//!
//! Not recorded: connections, chat, subscriptions to the list of rooms, rooms that were just being
//! opened (they wait for a start again; players ask for further maps of worlds again by
//! themselves). Rooms that had just lost their host, and rooms of hosts that ended with the server,
//! go on at another host if the shell has kept their checkpoints.
//!
//! What was put out, and when a record is put out again: `records`. Cost: encodes what a call has
//! changed; nothing without a directory. Source of the formats: `proto/ambit/directory.proto`.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::directory as pb;
use ambit_host_protocol::messages::{RoomHere, RoomOrder, WorldOrder};
use ambit_proto::codes::ErrorCode;
use ambit_proto::ids::{AccountId, PlayerId, RoomId};
use ambit_proto::time::LocalTime;
use ambit_room::recording::Header;
use prost::Message as _;

use crate::Lobby;
use crate::fleet::hosts::Host;
use crate::output::{HostId, LobbyAction, RecordKey};
use crate::refusal::LobbyRefusal;
use crate::request::{CreateRoomRequest, parse_capacity};
use crate::rooms::bans::Ban;
use crate::rooms::parameters::{MAP, parameters_of_game};
use crate::rooms::room::{LobbyRoom, RoomLife, RoomMaker, RoomPhase};
use crate::rooms::seed::SEED;
use crate::rooms::stored_password::StoredPassword;
use crate::sessions::records::{network_from_record, network_record};
use crate::text::{LobbyRoomName, PlayerName};
use crate::timers::Timer;
use crate::worlds::state::WorldState;

/// Marks a room that has just lost its host.
const NO_HOST: u64 = u64::MAX;

/// Output of records.
impl Lobby {
    /// Puts out all records that have changed since the last call.
    pub(crate) fn emit_changed_records(&mut self) {
        let players = self.sessions.take_changed_players();
        let rooms = self.rooms.take_changed();
        if !self.config.directory {
            return;
        }
        self.reserve_ids();
        let mut removed = Vec::new();
        for id in self.fleet.take_changed_hosts() {
            let host = self.fleet.host_that_can_come_back(id);
            match host.map(|(host, since)| host_record(host, since).encode_to_vec()) {
                None => removed.push(id),
                record => self.emit_record(RecordKey::Host(id), record),
            }
        }
        for id in players {
            let player = self.sessions.players().get(id);
            let record = player.map(|player| self.sessions.record_of(player).encode_to_vec());
            self.emit_record(RecordKey::Player(id), record);
        }
        for id in rooms {
            let record = self.rooms.get(id).map(|room| Self::room_record(room).encode_to_vec());
            self.emit_record(RecordKey::Room(id), record);
        }
        // Last: by then the records say that the host's rooms run elsewhere.
        for id in removed {
            self.emit_record(RecordKey::Host(id), None);
        }
    }

    fn emit_record(&mut self, key: RecordKey, value: Option<Vec<u8>>) {
        self.records.put(key, value, &mut self.effects.outbox);
    }

    /// What the ids of rooms are unique in: these records, and all that follow from them.
    pub(crate) fn lineage(&mut self) -> [u8; 16] {
        self.records.lineage().unwrap_or_else(|| {
            let new = self.sessions.random_bytes();
            self.records.set_lineage(new.to_vec());
            new
        })
    }

    /// Reserves ids in the directory before they are used.
    fn reserve_ids(&mut self) {
        let lineage = self.lineage().to_vec();
        let used = pb::Ids {
            players: self.sessions.players().last_id(),
            rooms: self.rooms.all().last_id(),
            tickets: self.effects.counters.tickets,
            hosts: self.fleet.last_id(),
            transfers: self.rooms.last_transfer(),
            lineage,
        };
        self.records.reserve(used, &mut self.effects.outbox);
    }

    fn room_record(room: &LobbyRoom) -> pb::Room {
        let runs_on = match room.run.phase {
            RoomPhase::Waiting | RoomPhase::Opening { .. } => None,
            RoomPhase::Running { host } => Some(host.0),
            RoomPhase::Moving { host } => Some(host.map_or(NO_HOST, |host| host.0)),
        };
        if let Some(identity) = &room.map_identity {
            return pb::Room {
                incarnation: room.run.incarnation,
                runs_on,
                build: room.run.build.clone(),
                map_identity: Some(identity.to_record()),
                ..pb::Room::default()
            };
        }
        pb::Room {
            name: room.name().as_str().to_owned(),
            game: room.game.clone(),
            parameters: room.settings.parameters.clone(),
            password: room
                .door
                .password
                .as_ref()
                .map(StoredPassword::to_record)
                .unwrap_or_default(),
            host: room.host.0,
            capacity: room.seats.capacity(),
            seats: room
                .seats
                .iter()
                .map(|seat| pb::Seat { player: seat.player.0, ready: seat.ready })
                .collect(),
            bans: room.door.bans.iter().map(ban_record).collect(),
            seed: room.run.seed,
            incarnation: room.run.incarnation,
            runs_on,
            map_identity: None,
            world: room.world.to_record(),
            build: room.run.build.clone(),
            made_by: room.settings.maker.map_or(0, |maker| maker.player.0),
            made_from: network_record(room.settings.maker.and_then(|maker| maker.network)),
            is_lasting: room.is_lasting(),
            is_operated: room.settings.life == RoomLife::Operated,
            starts_itself: room.settings.starts_itself,
            is_locked: room.door.is_locked,
        }
    }
}

fn ban_record(ban: &Ban) -> pb::Ban {
    pb::Ban {
        player: ban.player.0,
        name: ban.name.as_str().to_owned(),
        network: network_record(ban.network),
        newest_session: ban.newest_session.0,
        bars_network: ban.bars_network,
        account: AccountId::to_bytes(ban.account),
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
        is_drained: host.is_drained,
        process: host.process.clone(),
    }
}

/// Restoring a lobby from records.
impl Lobby {
    /// Restores the lobby that put out these records; this one must be new. Rooms whose hosts do
    /// not reconnect within `reconnect_time` go on at other hosts if they are among
    /// `checkpointed`, those of which the shell has a checkpoint; otherwise they are lost. Records
    /// that do not decode are skipped and logged. The checkpoint of a room whose record cannot be
    /// restored is set aside, if it had players; that of a room without a record is forgotten.
    pub fn restore<'a>(
        &mut self,
        now: LocalTime,
        records: impl IntoIterator<Item = (RecordKey, &'a [u8])>,
        reconnect_time: Duration,
        checkpointed: &BTreeSet<RoomId>,
    ) {
        let records: BTreeMap<RecordKey, &[u8]> = records.into_iter().collect();
        // Ids that are in use may not be given again, whatever became of the record of ids.
        for key in records.keys() {
            match *key {
                RecordKey::Ids => {}
                RecordKey::Host(id) => self.fleet.skip_to(id.0),
                RecordKey::Player(id) => self.sessions.skip_to(id.0),
                RecordKey::Room(id) => self.rooms.skip_to(id.0),
            }
        }
        for (&key, &bytes) in &records {
            let taken = match key {
                RecordKey::Ids => pb::Ids::decode(bytes).ok().map(|ids| self.skip_to(ids)),
                RecordKey::Host(id) => pb::Host::decode(bytes)
                    .ok()
                    .and_then(|host| self.restore_host(now, id, host, reconnect_time)),
                RecordKey::Player(id) => pb::Player::decode(bytes).ok().and_then(|player| {
                    let timers = &mut self.effects.timers;
                    self.sessions.restore(now, id, &player, &self.config, timers)
                }),
                RecordKey::Room(_) => Some(()),
            };
            if taken.is_none() {
                tracing::error!(%key, "skipped an invalid record of the directory");
                // Marks it as changed, so that its record is removed.
                match key {
                    RecordKey::Host(id) => self.fleet.forget_host(id),
                    RecordKey::Player(id) => self.sessions.remove(id),
                    RecordKey::Ids | RecordKey::Room(_) => {}
                }
            }
            self.records.note_restored(key, bytes);
        }
        // Rooms after players, since seats belong to players.
        for (&key, &bytes) in &records {
            if let RecordKey::Room(id) = key
                && pb::Room::decode(bytes)
                    .ok()
                    .and_then(|room| self.restore_room(now, id, room, checkpointed))
                    .is_none()
            {
                tracing::error!(%key, "cannot restore a room of the directory: it has no players, \
                    or its host is unknown");
                if checkpointed.contains(&id)
                    && let Some((header, build)) = self.header_of_record(&records, id)
                {
                    let why = "its record cannot be restored".to_owned();
                    self.effects.outbox.push(LobbyAction::SetAsideRoom { header, build, why });
                }
                // Marks it as changed, so that its record is removed.
                drop(self.rooms.remove(id));
            }
        }
        for &room in checkpointed {
            if !self.is_running(room) {
                self.effects.outbox.push(LobbyAction::ForgetRoom { room });
                self.forget_stored(room);
            }
        }
        self.watch_restored_rooms();
        // Hosts need some time to come, too.
        let hostless =
            self.rooms.iter().filter(|room| room.run.phase == RoomPhase::Moving { host: None });
        for id in hostless.map(|room| room.id).collect::<Vec<_>>() {
            let until = now + reconnect_time + self.config.open_timeout;
            self.effects.timers.set(Timer::Opening(id), until);
        }
        self.repair_worlds(now);
        self.emit_changed_records();
    }

    /// What a recording of the room begins with, and the build that saved it, by its record alone;
    /// `None` if its players had left.
    fn header_of_record(
        &self,
        records: &BTreeMap<RecordKey, &[u8]>,
        id: RoomId,
    ) -> Option<(Header, String)> {
        let record_of = |id| pb::Room::decode(*records.get(&RecordKey::Room(id))?).ok();
        let mut world = record_of(id)?;
        let build = world.build.clone();
        let map = world.map_identity;
        if let Some(identity) = map {
            world = record_of(RoomId(identity.world))?;
        }
        let mut seats = world.seats.iter();
        if !seats.any(|seat| records.contains_key(&RecordKey::Player(PlayerId(seat.player)))) {
            return None;
        }
        let mut parameters = parameters_of_game(&world.parameters);
        if let Some(seed) = parameters.get_mut(SEED) {
            *seed = world.seed.to_string();
        }
        parameters.extend(map.map(|identity| (MAP.to_owned(), identity.map.to_string())));
        let header = Header {
            game: world.game,
            room: id.0,
            seed: world.seed,
            capacity: world.capacity,
            grace_ms: self.config.grace_ms(),
            parameters,
        };
        Some((header, build))
    }

    /// Whether the room runs, or waits for a host to go on.
    pub fn is_running(&self, room: RoomId) -> bool {
        self.rooms.get(room).is_some_and(LobbyRoom::is_running)
    }

    /// What a room does that ran on this host.
    pub(crate) fn restored_phase(&self, host: HostId, has_checkpoint: bool) -> Option<RoomPhase> {
        if self.fleet.host(host).is_some() {
            Some(RoomPhase::Running { host })
        } else {
            has_checkpoint.then_some(RoomPhase::Moving { host: None })
        }
    }

    fn skip_to(&mut self, ids: pb::Ids) {
        self.sessions.skip_to(ids.players);
        self.rooms.skip_to(ids.rooms);
        self.fleet.skip_to(ids.hosts);
        self.effects.counters.tickets = self.effects.counters.tickets.max(ids.tickets);
        self.rooms.skip_transfers_to(ids.transfers);
        self.records.set_lineage(ids.lineage);
    }

    fn restore_host(
        &mut self,
        now: LocalTime,
        id: HostId,
        host: pb::Host,
        reconnect_time: Duration,
    ) -> Option<()> {
        let host_since = host.build_since;
        let host = Host {
            address: host.address,
            certificate_sha256: host.certificate_sha256,
            capacity: host.capacity,
            label: host.label,
            build: host.build,
            cores: host.cores.max(1),
            instance: host.instance,
            process: host.process,
            is_drained: host.is_drained,
            ..Host::default()
        };
        host.check().ok()?;
        self.fleet.expect_back(now, id, host, host_since, reconnect_time);
        self.effects.timers.set(Timer::HostSilence(id), now + reconnect_time);
        Some(())
    }

    fn restore_room(
        &mut self,
        now: LocalTime,
        id: RoomId,
        record: pb::Room,
        checkpointed: &BTreeSet<RoomId>,
    ) -> Option<()> {
        let has_checkpoint = checkpointed.contains(&id);
        if let Some(identity) = &record.map_identity {
            let phase = self.restored_phase(record.runs_on.map(HostId)?, has_checkpoint)?;
            return self.rooms.restore_map(id, identity, &record, phase, has_checkpoint);
        }
        let members = || record.seats.iter().map(|seat| (PlayerId(seat.player), seat.ready));
        let free = |player: &PlayerId| {
            self.sessions.players().get(*player).is_some_and(|player| player.room.is_none())
        };
        let seated: Vec<(PlayerId, bool)> = members().filter(|(player, _)| free(player)).collect();
        let first = match seated.first() {
            Some(&(first, _)) => Some(first),
            None if record.is_lasting && record.runs_on.is_some() => None,
            None => return None,
        };
        let create = CreateRoomRequest {
            name: LobbyRoomName::parse(&record.name).ok()?,
            game: record.game,
            capacity: parse_capacity(record.capacity).ok()?,
            parameters: record.parameters,
            password: None,
            key: None,
        };
        let maker = RoomMaker {
            player: PlayerId(record.made_by),
            network: network_from_record(&record.made_from),
        };
        let is_listed = || self.config.worlds.iter().any(|world| world.create.name == create.name);
        let life = match (record.is_lasting, record.is_operated) {
            (_, true) if is_listed() => RoomLife::Operated,
            (true, _) => RoomLife::Lasting,
            _ => RoomLife::WhilePlayed,
        };
        let mut room = match first {
            Some(first) if life != RoomLife::Operated => LobbyRoom::new(id, maker, first, create),
            _ => LobbyRoom::of_operator(id, create),
        };
        room.settings.life = life;
        (room.settings.starts_itself, room.door.is_locked) =
            (record.starts_itself, record.is_locked);
        room.settings.maker = Some(maker).filter(|_| life != RoomLife::Operated);
        for &(player, ready) in &seated {
            room.seats.take(player).ok()?;
            room.seats.set_ready(player, ready);
            room.seats.set_waiting(player, true);
        }
        if room.seats.contains(PlayerId(record.host)) {
            room.host = PlayerId(record.host);
        }
        for ban in record.bans {
            room.door.bans.restore(Ban {
                player: PlayerId(ban.player),
                name: PlayerName::parse(&ban.name).ok()?,
                network: network_from_record(&ban.network),
                newest_session: PlayerId(ban.newest_session),
                bars_network: ban.bars_network,
                account: AccountId::from_bytes(&ban.account),
            });
        }
        if !record.password.is_empty() {
            room.door.password = Some(StoredPassword::from_record(&record.password)?);
        }
        (room.run.seed, room.run.incarnation, room.run.build) =
            (record.seed, record.incarnation, record.build);
        room.world = WorldState::from_record(record.world.unwrap_or_default(), &room.seats);
        if let Some(host) = record.runs_on.map(HostId) {
            room.run.phase = self.restored_phase(host, has_checkpoint)?;
            room.run.has_checkpoint = has_checkpoint;
        }
        for (player, _) in seated {
            self.sessions.player_mut(player).room = Some(id);
        }
        self.rooms.restore(room);
        self.rooms.mark_changed(now, id, &mut self.effects.timers);
        Some(())
    }
}

/// Hosts that reconnect.
impl Lobby {
    /// Moves everything from earlier ids of the same host to `id`: another lobby knew the host,
    /// or its link broke and it has reconnected. Returns the rooms that it was about to open; it
    /// need not have received those orders.
    pub(crate) fn reattach_host(&mut self, id: HostId, instance: &[u8]) -> Vec<RoomId> {
        let mut unopened = Vec::new();
        let known = self.fleet.ids_of_host(instance);
        for before in known.into_iter().filter(|before| *before != id) {
            if !self.fleet.is_absent(before) {
                self.effects.outbox.push(LobbyAction::DisconnectHost { host: before });
            }
            self.effects.timers.cancel(Timer::HostSilence(before));
            self.fleet.forget_host(before);
            for room in self.rooms.ids() {
                if self.rooms.at(room).game_host() != Some(before) {
                    continue;
                }
                let known = self.rooms.at_mut(room);
                match known.run.phase {
                    RoomPhase::Opening { starter, .. } => {
                        known.run.phase = RoomPhase::Opening { host: id, starter };
                        unopened.push(room);
                    }
                    RoomPhase::Moving { .. } => known.run.phase = RoomPhase::Moving { host: None },
                    RoomPhase::Running { .. } | RoomPhase::Waiting => {
                        known.run.phase = RoomPhase::Running { host: id };
                    }
                }
            }
        }
        unopened
    }

    /// Compares the rooms that a host runs with the lobby's: the host closes rooms that it should
    /// not run, and rooms that it does not run are lost. But those that were kept go on: an earlier
    /// leader gave them to this host, and its order was lost.
    pub(crate) fn reconcile_rooms(&mut self, now: LocalTime, host: HostId, here: &[RoomHere]) {
        for reported in here {
            let id = reported.room;
            let known =
                self.rooms.get(id).filter(|room| room.run.phase == (RoomPhase::Running { host }));
            if known.is_some_and(|room| room.run.incarnation == reported.incarnation) {
                // Ticks may be missing in the checkpoint.
                let build = self.fleet.build_of(host);
                let room = self.rooms.at_mut(id);
                (room.run.has_checkpoint, room.run.build) = (false, build);
                room.run.release.note_running();
                self.effects.outbox.push(LobbyAction::AdoptRoom { room: id, host });
                self.begin_trial_time(now, id);
                let roster = RoomOrder::SyncMembers {
                    members: self.members_on_map(id),
                    revoked_until: self.effects.counters.tickets,
                };
                self.effects.outbox.send_to_room(host, id, roster);
                self.resend_transfer_orders(id);
            } else {
                let close = WorldOrder::CloseRoom { room: id, reason: ErrorCode::RoomClosed };
                self.effects.outbox.send_to_host(host, close);
            }
        }
        let runs = |room: &LobbyRoom| {
            here.iter().any(|reported| {
                (reported.room, reported.incarnation) == (room.id, room.run.incarnation)
            })
        };
        let lost = self
            .rooms
            .iter()
            .filter(|room| room.run.phase == (RoomPhase::Running { host }) && !runs(room));
        for id in lost.map(|room| room.id).collect::<Vec<_>>() {
            // The end of a world removes its other maps.
            let Some(room) = self.rooms.get_mut(id) else {
                continue;
            };
            if room.run.has_checkpoint && self.fleet.waits_for_members(id) {
                room.run.phase = RoomPhase::Moving { host: None };
                let until = now + self.config.open_timeout;
                self.effects.timers.set(Timer::Opening(id), until);
                continue;
            }
            let message = format!("the game server that ran room {id} does not run it any more");
            self.close_room_by_host(now, id, LobbyRefusal::new(ErrorCode::HostDied, message));
        }
    }
}
