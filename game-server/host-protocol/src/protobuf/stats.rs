//! What a host has counted.

use ambit_proto::ids::RoomId;

use crate::generated as pb;
use crate::stats::{CallbackTime, HostStats, LateRoom, RoomCallbacks, RoomLoad, TickFigures};

/// What is in a message.
pub(super) fn stats(stats: pb::HostStats) -> HostStats {
    HostStats {
        rooms: stats.rooms,
        players: stats.players,
        datagrams_in: stats.datagrams_in,
        datagrams_out: stats.datagrams_out,
        bytes_in: stats.bytes_in,
        bytes_out: stats.bytes_out,
        enters: stats.enters,
        leaves: stats.leaves,
        events: stats.events,
        commands: stats.commands,
        commands_refused: stats.commands_refused,
        tick_buckets: stats.tick_buckets,
        tick_seconds_sum: stats.tick_seconds_sum,
        drops: stats.drops,
        tickets_refused: stats.tickets_refused,
        late_events: stats.late_events,
        ticks_skipped: stats.ticks_skipped,
        cpu_permille: stats.cpu_permille,
        amplification_permille: stats.amplification_permille,
        clients: stats.clients,
        recent_work: stats.recent_work.map(figures),
        recent_lateness: stats.recent_lateness.map(figures),
        bits: stats.bits,
        kind_bits: stats.kind_bits,
        wire: stats.wire,
        encodings: stats.encodings,
        poses: stats.poses,
        room_loads: all(stats.room_loads, room_load),
        rooms_late: stats.rooms_late,
        unplayed_rooms: all(stats.unplayed_rooms, RoomId),
        ticket_time_unix_s: stats.ticket_time_unix_s,
        late_rooms: all(stats.late_rooms, late_room),
        web_certificates_sha256: stats.web_certificates_sha256,
        room_callbacks: all(stats.room_callbacks, callbacks),
        game_counts: stats.game_counts,
    }
}

/// The message.
pub(super) fn stats_message(stats: HostStats) -> pb::HostStats {
    pb::HostStats {
        rooms: stats.rooms,
        players: stats.players,
        datagrams_in: stats.datagrams_in,
        datagrams_out: stats.datagrams_out,
        bytes_in: stats.bytes_in,
        bytes_out: stats.bytes_out,
        enters: stats.enters,
        leaves: stats.leaves,
        events: stats.events,
        commands: stats.commands,
        commands_refused: stats.commands_refused,
        tick_buckets: stats.tick_buckets,
        tick_seconds_sum: stats.tick_seconds_sum,
        drops: stats.drops,
        tickets_refused: stats.tickets_refused,
        late_events: stats.late_events,
        ticks_skipped: stats.ticks_skipped,
        cpu_permille: stats.cpu_permille,
        amplification_permille: stats.amplification_permille,
        clients: stats.clients,
        recent_work: stats.recent_work.map(figures_message),
        recent_lateness: stats.recent_lateness.map(figures_message),
        bits: stats.bits,
        kind_bits: stats.kind_bits,
        wire: stats.wire,
        encodings: stats.encodings,
        poses: stats.poses,
        room_loads: all(stats.room_loads, room_load_message),
        rooms_late: stats.rooms_late,
        unplayed_rooms: all(stats.unplayed_rooms, |room| room.0),
        ticket_time_unix_s: stats.ticket_time_unix_s,
        late_rooms: all(stats.late_rooms, late_room_message),
        web_certificates_sha256: stats.web_certificates_sha256,
        room_callbacks: all(stats.room_callbacks, callbacks_message),
        game_counts: stats.game_counts,
    }
}

fn all<A, B>(items: Vec<A>, convert: impl FnMut(A) -> B) -> Vec<B> {
    items.into_iter().map(convert).collect()
}

fn figures(figures: pb::TickFigures) -> TickFigures {
    let pb::TickFigures { p50_us, p99_us, max_us } = figures;
    TickFigures { p50_us, p99_us, max_us }
}

fn figures_message(figures: TickFigures) -> pb::TickFigures {
    let TickFigures { p50_us, p99_us, max_us } = figures;
    pb::TickFigures { p50_us, p99_us, max_us }
}

fn room_load(load: pb::RoomLoad) -> RoomLoad {
    let pb::RoomLoad { room, columns, rows, edge_cells, objects, players, changes } = load;
    RoomLoad { room: RoomId(room), columns, rows, edge_cells, objects, players, changes }
}

fn room_load_message(load: RoomLoad) -> pb::RoomLoad {
    let RoomLoad { room, columns, rows, edge_cells, objects, players, changes } = load;
    pb::RoomLoad { room: room.0, columns, rows, edge_cells, objects, players, changes }
}

fn late_room(late: pb::LateRoom) -> LateRoom {
    let pb::LateRoom { room, ticks_skipped, load_level, recent_ticks_skipped } = late;
    LateRoom { room: RoomId(room), ticks_skipped, load_level, recent_ticks_skipped }
}

fn late_room_message(late: LateRoom) -> pb::LateRoom {
    let LateRoom { room, ticks_skipped, load_level, recent_ticks_skipped } = late;
    pb::LateRoom { room: room.0, ticks_skipped, load_level, recent_ticks_skipped }
}

fn callbacks(of_room: pb::RoomCallbacks) -> RoomCallbacks {
    let time = |time: pb::CallbackTime| {
        let pb::CallbackTime { callback, calls, nanos } = time;
        CallbackTime { callback, calls, nanos }
    };
    RoomCallbacks { room: RoomId(of_room.room), callbacks: all(of_room.callbacks, time) }
}

fn callbacks_message(of_room: RoomCallbacks) -> pb::RoomCallbacks {
    let time = |time: CallbackTime| {
        let CallbackTime { callback, calls, nanos } = time;
        pb::CallbackTime { callback, calls, nanos }
    };
    pb::RoomCallbacks { room: of_room.room.0, callbacks: all(of_room.callbacks, time) }
}
