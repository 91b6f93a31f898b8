//! What operators are shown, as JSON.

use ambit_proto::standing::OperatorRole;
use ambit_store::ServerBan;
use serde_json::{Value as Json, json};

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

pub(super) fn host((id, host): &(HostId, Host)) -> Json {
    json!({
        "id": id.0, "label": host.label, "address": host.address, "build": host.build,
        "capacity": host.capacity, "rooms": host.stats.rooms, "players": host.stats.players,
        "leaving": host.leaving, "drained": host.is_drained,
    })
}

pub(super) fn ban(ban: &ServerBan) -> Json {
    let ServerBan { target, scope, term } = ban;
    json!({
        "target": target.to_string(), "from": scope.name(), "reason": term.reason,
        "ends_at": term.ends_at,
    })
}
