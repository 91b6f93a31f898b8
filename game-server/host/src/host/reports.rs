//! What a host reports once a second: its rooms, and what they cost.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use ambit_host_protocol::stats::{HostStats, RoomCallbacks, RoomLoad};
use ambit_proto::ids::RoomId;
use ambit_room::network::load_level::LoadLevel;
use ambit_room::network::loads::{CellLoad, RegionLoads};

use super::cpu::CpuMeter;
use super::inlet::{RoomFigures, RoomInlet};
use super::late_rooms::{LateRooms, TickLosses};
use super::shared::Shared;

/// Rooms of which a report has the cost of their regions: those that a cut would be for.
const MOST_LOADS: usize = 16;

/// Rooms of which a report has the times of their games.
const MOST_CALLBACKS: usize = 16;

/// Makes the reports for one WorldServer.
pub(super) struct HostReports {
    cpu: CpuMeter,
    late_rooms: LateRooms,
}

impl HostReports {
    pub(super) fn begin(shared: &Shared) -> Self {
        Self { cpu: CpuMeter::start(&shared.threads), late_rooms: LateRooms::default() }
    }

    /// The report of now; `tickets_refused` by reason.
    pub(super) fn make(
        &mut self,
        shared: &Shared,
        tickets_refused: BTreeMap<String, u64>,
    ) -> HostStats {
        let rooms = &shared.rooms;
        let lateness = rooms.iter().map(|inlet| {
            let RoomFigures { ticks_skipped, load_level, .. } = *inlet.figures.lock();
            TickLosses { room: *inlet.key(), ticks_skipped, load_level: load_level.number() }
        });
        let now = shared.clock.now();
        let late_rooms = self.late_rooms.list(now, lateness);
        HostStats {
            rooms: rooms.len() as u32,
            players: rooms.iter().map(|inlet| inlet.figures.lock().players).sum(),
            tickets_refused,
            rooms_late: rooms.iter().filter(|inlet| is_late(inlet)).count() as u32,
            late_rooms,
            cpu_permille: self.cpu.permille(&shared.threads),
            room_loads: room_loads(shared),
            room_callbacks: room_callbacks(shared),
            unplayed_rooms: unplayed_rooms(shared),
            ticket_time_unix_s: shared.time().ticket_unix_s,
            web_certificates_sha256: shared.config.web_certificates.to_message(),
            game_counts: shared.game_counts.lock().clone(),
            kind_bits: shared.kind_bits.lock().clone(),
            ..shared.counters.read()
        }
    }
}

/// The rooms whose games have taken the most time.
fn room_callbacks(shared: &Shared) -> Vec<RoomCallbacks> {
    let rooms = shared.rooms.iter();
    let mut rooms: Vec<_> = rooms
        .map(|inlet| RoomCallbacks { room: *inlet.key(), callbacks: inlet.callbacks.read() })
        .collect();
    rooms.sort_by_cached_key(|room| {
        Reverse(room.callbacks.iter().map(|time| time.nanos).sum::<u64>())
    });
    rooms.truncate(MOST_CALLBACKS);
    rooms
}

/// The rooms to which no client is connected.
fn unplayed_rooms(shared: &Shared) -> Vec<RoomId> {
    let rooms = shared.rooms.iter();
    let unplayed = rooms.filter(|inlet| inlet.figures.lock().clients == 0);
    unplayed.map(|inlet| *inlet.key()).collect()
}

/// The loads of the rooms with the most changes.
fn room_loads(shared: &Shared) -> Vec<RoomLoad> {
    let loads = shared.rooms.iter().map(|inlet| (*inlet.key(), inlet.figures.lock().load.clone()));
    let mut loads: Vec<_> = loads.filter(|(_, regions)| !regions.loads.is_empty()).collect();
    loads.sort_by_key(|(room, regions)| {
        let total = regions.total();
        (Reverse((total.changes, total.objects)), *room)
    });
    loads.truncate(MOST_LOADS);
    let figures =
        |regions: &RegionLoads, of: fn(&CellLoad) -> u32| regions.loads.iter().map(of).collect();
    let reported = loads.iter().map(|(room, regions)| RoomLoad {
        room: *room,
        columns: regions.columns.into(),
        rows: regions.rows.into(),
        edge_cells: regions.edge_cells.into(),
        objects: figures(regions, |load| load.objects),
        players: figures(regions, |load| load.players),
        changes: figures(regions, |load| load.changes),
    });
    reported.collect()
}

fn is_late(inlet: &RoomInlet) -> bool {
    inlet.figures.lock().load_level > LoadLevel::NONE
}
