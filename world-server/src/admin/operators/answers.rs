//! What operators are shown, as JSON.

use ambit_proto::standing::OperatorRole;
use ambit_store::ServerBan;
use serde_json::{Value as Json, json};

use crate::lobby::{Host, HostId, OperatedPlayer, OperatedRoom};

pub(super) fn player(player: &OperatedPlayer) -> Json {
    let mute = player.mute.as_ref();
    json!({
        "id": player.id.0,
        "name": player.name,
        "account": player.account.map(|account| account.to_string()),
        "address": player.address.map(|address| address.to_string()),
        "room": player.room.map(|room| room.0),
        "role": player.role.map(OperatorRole::name),
        "mute": mute.map(|term| json!({ "reason": term.reason, "ends_at": term.ends_at })),
    })
}

pub(super) fn room(room: &OperatedRoom) -> Json {
    let OperatedRoom { shown, is_locked } = room;
    json!({
        "id": shown.id, "name": shown.name, "game": shown.game, "players": shown.players,
        "capacity": shown.capacity, "running": shown.running,
        "has_password": shown.has_password, "locked": is_locked,
    })
}

pub(super) fn host((id, host): &(HostId, Host)) -> Json {
    json!({
        "id": id.0, "label": host.label, "address": host.address, "build": host.build,
        "capacity": host.capacity, "rooms": host.stats.rooms, "players": host.stats.players,
    })
}

pub(super) fn ban(ban: &ServerBan) -> Json {
    let ServerBan { target, scope, term } = ban;
    json!({
        "target": target.to_string(), "from": scope.name(), "reason": term.reason,
        "ends_at": term.ends_at,
    })
}
