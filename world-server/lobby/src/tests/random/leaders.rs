//! Leaders die at random times, and new leaders restore their records.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use ambit_host_protocol::generated::{
    Heartbeat, HostReady, RoomHere, host_to_world, world_to_host,
};
use ambit_proto::ids::RoomId;

use super::super::harness::hello;
use super::RandomRun;
use crate::rooms::room::RoomPhase;
use crate::{HostId, Origin, RecordKey};

/// Time in which hosts may reconnect.
const RECONNECT_TIME: Duration = Duration::from_secs(4);
/// Maximum number of records that are lost with a leader.
const MAX_LOST_RECORDS: u64 = 12;

#[test]
fn a_new_leader_restores_all_written_records_after_any_crash() {
    let mut seen = EventCounts::default();
    for seed in 0..60 {
        let mut run = RandomRun::recorded(seed);
        for step in 0..1_500 {
            run.step();
            run.check(&format!("seed {seed}, step {step}"));
        }
        let directory = run.directory.as_ref().expect("a directory");
        seen.add(&directory.seen);
        run.settle(&format!("seed {seed}"));
    }
    // The runs have reached these cases.
    println!("{seen:?}");
    assert!(seen.deaths > 500 && seen.lost_records > 100, "{seen:?}");
    assert!(seen.resumed > 500 && seen.in_rooms > 200 && seen.adopted > 100, "{seen:?}");
    assert!(seen.on_further_maps > 20 && seen.in_transfer > 10 && seen.closed > 50, "{seen:?}");
}

/// The rooms that a host runs, with their incarnations, and the id of its process.
#[derive(Clone, Debug)]
pub(super) struct HostRooms {
    instance: u64,
    runs: BTreeMap<u64, u32>,
}

/// The directory: all records in order of writing.
#[derive(Debug, Default)]
pub(super) struct DirectoryLog {
    log: Vec<(RecordKey, Option<Vec<u8>>)>,
    /// Hosts that are alive and have no link.
    away: Vec<HostRooms>,
    leaders: u64,
    seen: EventCounts,
}

/// How often each case occurred.
#[derive(Debug, Default)]
struct EventCounts {
    deaths: u64,
    /// Deaths that lost records.
    lost_records: u64,
    resumed: u64,
    in_rooms: u64,
    adopted: u64,
    /// Players on further maps.
    on_further_maps: u64,
    in_transfer: u64,
    /// Rooms that reconnecting hosts were ordered to close.
    closed: u64,
}

impl EventCounts {
    fn add(&mut self, more: &Self) {
        self.deaths += more.deaths;
        self.lost_records += more.lost_records;
        self.resumed += more.resumed;
        self.in_rooms += more.in_rooms;
        self.adopted += more.adopted;
        self.on_further_maps += more.on_further_maps;
        self.in_transfer += more.in_transfer;
        self.closed += more.closed;
    }
}

impl DirectoryLog {
    pub(super) fn put(&mut self, key: RecordKey, value: Option<Vec<u8>>) {
        self.log.push((key, value));
    }

    /// The newest value of each record, without removed ones.
    fn compact(&mut self) -> BTreeMap<RecordKey, Vec<u8>> {
        let mut newest = BTreeMap::new();
        for (key, value) in self.log.drain(..) {
            match value {
                Some(value) => drop(newest.insert(key, value)),
                None => drop(newest.remove(&key)),
            }
        }
        self.log = newest.iter().map(|(key, value)| (*key, Some(value.clone()))).collect();
        newest
    }
}

impl RandomRun {
    fn recorded(seed: u64) -> Self {
        let mut run = Self::new(seed);
        (run.lobby, run.directory) = (Self::lobby(seed, true), Some(DirectoryLog::default()));
        run
    }

    /// The leader dies with its unwritten records, and a new one takes over; most hosts reconnect,
    /// and all clients do.
    pub(super) fn replace_leader(&mut self) {
        let mut directory = self.directory.take().expect("a directory");
        directory.leaders += 1;
        directory.seen.deaths += 1;
        let lost = if self.random.chance(40) {
            self.random.below(MAX_LOST_RECORDS).min(directory.log.len() as u64)
        } else {
            0
        };
        directory.seen.lost_records += u64::from(lost > 0);
        directory.log.truncate(directory.log.len() - lost as usize);

        let clients: Vec<_> = std::mem::take(&mut self.open)
            .into_values()
            .filter(|known| known.player.is_some())
            .collect();
        let hosts: Vec<_> = std::mem::take(&mut self.hosts).into_values().collect();
        self.waiting.clear();
        self.opening.clear();
        self.gates.clear();
        // Players who must be in their rooms again if all records were written and all hosts
        // reconnect.
        let mut settled: BTreeMap<u64, u64> = BTreeMap::new();
        for room in self.lobby.rooms.iter().filter(|room| room.map_identity.is_none()) {
            let stays = room.run.phase == RoomPhase::Waiting
                || matches!(room.run.phase, RoomPhase::Running { .. });
            settled
                .extend(room.seats.players().filter(|_| stays).map(|player| (player.0, room.id.0)));
            let world = room.world.to_record().unwrap_or_default();
            directory.seen.on_further_maps += world.places.len() as u64;
            directory.seen.in_transfer += world.transfers.len() as u64;
        }
        let moving =
            self.lobby.rooms.iter().any(|room| matches!(room.run.phase, RoomPhase::Moving { .. }));

        let records = directory.compact();
        self.lobby = Self::lobby(directory.leaders << 32 | self.conns, true);
        self.lobby.restore(
            self.now,
            records.iter().map(|(key, value)| (*key, &value[..])),
            RECONNECT_TIME,
            &BTreeSet::new(),
        );
        self.host_count = self.host_count.max(self.lobby.last_host().0);
        self.directory = Some(directory);
        self.lobby.handle_timeout(self.now);
        self.handle_outputs();
        self.check("restored");

        let all_return = lost == 0 && !moving && self.random.chance(60);
        for rooms in hosts {
            if all_return || self.random.chance(70) {
                self.connect_host(Some(rooms));
                self.handle_outputs();
                self.check("a host has reconnected");
            }
        }
        self.check_owners();
        for (number, known) in clients.into_iter().enumerate() {
            self.conns += 1;
            let conn = crate::ConnId(self.conns);
            self.open.insert(conn, super::ClientModel::default());
            let address = std::net::Ipv4Addr::new(10, 0, 0, (number % 3) as u8);
            self.lobby.handle_connect(self.now, conn, address.into());
            self.request(conn, hello("back", &known.token));
            self.handle_outputs();
            let (Some(again), Some(player)) = (self.open.get(&conn), known.player) else {
                continue;
            };
            let seen = &mut self.directory.as_mut().expect("a directory").seen;
            if again.player == Some(player) {
                seen.resumed += 1;
                seen.in_rooms += u64::from(again.room.is_some());
            }
            if all_return {
                assert_eq!(again.player, Some(player), "a session with a record continues");
                let room = settled.get(&player).copied();
                assert!(
                    room.is_none() || again.room == room,
                    "{player} was in {room:?}, and is in {:?}",
                    again.room
                );
            }
        }
    }

    /// No room runs on a host that the lobby does not know, and none on two hosts.
    fn check_owners(&self) {
        let mut owners = BTreeMap::new();
        for (host, rooms) in &self.hosts {
            for (&room, &incarnation) in &rooms.runs {
                assert_eq!(owners.insert(room, *host), None, "room {room} runs twice");
                let known = self
                    .lobby
                    .rooms
                    .get(RoomId(room))
                    .expect("a host closes rooms that the lobby does not know");
                assert_eq!(
                    (known.game_host(), known.run.incarnation),
                    (Some(*host), incarnation),
                    "room {room}"
                );
            }
        }
    }

    /// Adds a new host, or one that reconnects with its rooms.
    pub(super) fn connect_host(&mut self, known: Option<HostRooms>) {
        self.host_count += 1;
        let host = HostId(self.host_count);
        let again = |directory: &mut DirectoryLog| directory.away.pop();
        let known = known.or_else(|| self.directory.as_mut().and_then(again));
        let rooms = known.unwrap_or_else(|| HostRooms { instance: host.0, runs: BTreeMap::new() });
        let can_reconnect = self.directory.is_some();
        if can_reconnect {
            self.lobby.handle_host_start(self.now, host, Origin::Remote);
        }
        let here = rooms.runs.iter().map(|(&room, &incarnation)| RoomHere { room, incarnation });
        let ready = HostReady {
            version: ambit_host_protocol::VERSION,
            address: format!("127.0.0.1:{}", 8_000 + rooms.instance),
            certificate_sha256: vec![0; 32],
            capacity: 2,
            instance: if can_reconnect {
                u128::from(rooms.instance).to_be_bytes().to_vec()
            } else {
                Vec::new()
            },
            rooms: here.collect(),
            build: ["blue", "green"][rooms.instance as usize % 2].into(),
            ..HostReady::default()
        };
        let before = rooms.runs.len() as u64;
        self.hosts.insert(host, rooms);
        self.send_from_host(host, host_to_world::Body::Ready(ready));
        self.handle_outputs();
        let Some(directory) = &mut self.directory else {
            return;
        };
        let after = self.hosts.get(&host).map_or(0, |rooms| rooms.runs.len() as u64);
        directory.seen.adopted += after;
        directory.seen.closed += before - after;
    }

    /// Cuts a host's link; the host is alive and may reconnect.
    pub(super) fn cut_link(&mut self, host: HostId) {
        // A host that has not reconnected has no link.
        let Some(rooms) = self.hosts.remove(&host) else {
            return;
        };
        self.opening.retain(|(at, _)| *at != host);
        self.gates.retain(|(at, _)| *at != host);
        self.directory
            .as_mut()
            .expect("only hosts that can reconnect must send heartbeats")
            .away
            .push(rooms);
    }

    /// Most hosts send heartbeats in time.
    pub(super) fn send_heartbeats(&mut self) {
        if self.directory.is_none() {
            return;
        }
        for host in self.hosts.keys().copied().collect::<Vec<_>>() {
            if self.random.chance(95) {
                self.send_from_host(host, host_to_world::Body::Heartbeat(Heartbeat { number: 1 }));
            }
        }
        self.handle_outputs();
    }

    /// Lets a host execute an order.
    pub(super) fn note_order(&mut self, host: HostId, order: &world_to_host::Body) {
        match order {
            world_to_host::Body::OpenRoom(open) => {
                self.opening
                    .push((host, RoomHere { room: open.room, incarnation: open.incarnation }));
            }
            world_to_host::Body::RoomTaken(taken) => {
                if let Some(rooms) = self.hosts.get_mut(&host) {
                    rooms.runs.remove(&taken.room);
                }
            }
            world_to_host::Body::CloseRoom(close) => {
                self.opening.retain(|(at, here)| (*at, here.room) != (host, close.room));
                if let Some(rooms) = self.hosts.get_mut(&host) {
                    rooms.runs.remove(&close.room);
                }
            }
            _ => {}
        }
    }

    /// Applies a host's message to its rooms, so that hosts report the truth.
    pub(super) fn note_host_message(&mut self, host: HostId, message: &host_to_world::Body) {
        let Some(rooms) = self.hosts.get_mut(&host) else {
            return;
        };
        match message {
            host_to_world::Body::RoomOpened(opened) => {
                let ordered =
                    |(at, here): &(HostId, RoomHere)| (*at, here.room) == (host, opened.room);
                let Some(index) = self.opening.iter().position(ordered) else {
                    return;
                };
                let (_, here) = self.opening.remove(index);
                if opened.error.is_none() {
                    rooms.runs.insert(here.room, here.incarnation);
                }
            }
            host_to_world::Body::RoomClosed(closed) => drop(rooms.runs.remove(&closed.room)),
            _ => {}
        }
    }
}
