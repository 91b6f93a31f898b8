//! What operators are shown, as JSON.

use std::time::Duration;

use ambit_proto::standing::OperatorRole;
use ambit_store::ServerBan;
use serde_json::{Map, Value as Json, json};

use crate::admin::snapshot::Snapshot;
use crate::client_connection::LineFigures;
use crate::lobby::{Host, HostId, OperatedMap, OperatedPlayer, OperatedRoom};

pub(super) fn player((player, line): &(OperatedPlayer, Option<LineFigures>)) -> Json {
    let mute = player.mute.as_ref();
    let round_trip = line.map(|line| line.round_trip.as_micros() as f64 / 1_000.0);
    json!({
        "id": player.id.0,
        "name": player.name,
        "account": player.account.map(|account| account.to_string()),
        "address": player.address.map(|address| address.to_string()),
        "round_trip_ms": round_trip,
        "loss": line.map(|line| line.loss),
        "client": player.agent,
        "since": player.since,
        "room": player.room.map(|room| room.0),
        "map": player.map,
        "host": player.host.map(|host| host.0),
        "role": player.role.map(OperatorRole::name),
        "mute": mute.map(|term| json!({ "reason": term.reason, "ends_at": term.ends_at })),
    })
}

pub(super) fn room(room: &OperatedRoom) -> Json {
    let OperatedRoom { shown, is_locked, host, maps } = room;
    json!({
        "id": shown.id, "name": shown.name, "game": shown.game, "players": shown.players,
        "capacity": shown.capacity, "running": shown.running,
        "has_password": shown.has_password, "locked": is_locked,
        "host": host.map(|host| host.0), "maps": maps,
    })
}

pub(super) fn map(map: &OperatedMap) -> Json {
    json!({
        "id": map.id.0, "room": map.room.0, "map": map.map, "players": map.players,
        "host": map.host.map(|host| host.0), "running": map.is_running,
    })
}

pub(super) fn server(snapshot: &Snapshot, uptime: Duration) -> Json {
    let lobby = &snapshot.lobby;
    let shutdown = snapshot.planned_end.as_ref();
    let waiting = snapshot.waiting_rooms.iter();
    let waiting = waiting.map(|(room, build)| (room.0.to_string(), json!(build)));
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "uptime_s": uptime.as_secs(),
        "draining": snapshot.draining,
        "connections": lobby.connections,
        "players": lobby.players,
        "players_away": lobby.players_away,
        "rooms": lobby.rooms,
        "rooms_running": lobby.rooms_running,
        "shutdown": shutdown.map(|(left, reason)| json!({
            "in_s": left.as_secs(), "reason": reason,
        })),
        "waiting_rooms": waiting.collect::<Map<String, Json>>(),
    })
}

pub(super) fn host((id, host): &(HostId, Host)) -> Json {
    let stats = &host.stats;
    let lateness = stats.recent_lateness.map(|figures| f64::from(figures.p99_us) / 1_000.0);
    json!({
        "id": id.0, "label": host.label, "address": host.address, "build": host.build,
        "capacity": host.capacity, "rooms": stats.rooms, "players": stats.players,
        "leaving": host.leaving, "drained": host.is_drained,
        "cores": f64::from(stats.cpu_permille) / 1_000.0, "lateness_ms": lateness,
        "late_rooms": stats.rooms_late,
    })
}

pub(super) fn ban(ban: &ServerBan) -> Json {
    let ServerBan { target, scope, term, note } = ban;
    json!({
        "target": target.to_string(), "from": scope.name(), "reason": term.reason,
        "ends_at": term.ends_at, "made_at": note.made_at, "made_by": note.made_by,
        "player": note.player,
    })
}
