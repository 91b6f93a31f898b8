//! What operators are shown, as JSON.

use std::time::Duration;

use ambit_proto::ids::RoomId;
use ambit_proto::standing::OperatorRole;
use ambit_store::ServerBan;
use serde_json::{Map, Value as Json, json};

use crate::admin::snapshot::Snapshot;
use ambit_endpoint::driver::LineFigures;
use ambit_lobby::{Host, HostId, OperatedMap, OperatedPlayer, OperatedRoom};

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

/// Why the client of a player is not on `map`, as far as the lobby knows.
pub(super) fn why_no_view(map: RoomId, player: &OperatedPlayer, maps: &[OperatedMap]) -> String {
    let OperatedPlayer { name, room, map: number, conn, .. } = player;
    let is_there = |known: &&OperatedMap| {
        Some(known.room) == *room && number.is_none_or(|number| known.map == number)
    };
    match maps.iter().find(is_there) {
        None => format!("{name} is in no room"),
        Some(other) if other.id != map => format!("{name} is on map {}, not on this one", other.id),
        Some(_) if conn.is_none() => format!("{name} has a seat here, but has lost its connection"),
        Some(_) => format!("{name} has a seat here, but its client has not joined the game yet"),
    }
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

#[cfg(test)]
mod tests {
    use ambit_lobby::ConnId;
    use ambit_proto::ids::PlayerId;

    use super::*;

    #[test]
    fn a_player_without_a_view_is_elsewhere_or_on_the_way() {
        let ann = OperatedPlayer {
            id: PlayerId(7),
            name: "ann".to_owned(),
            account: None,
            address: None,
            conn: Some(ConnId(1)),
            agent: String::new(),
            since: 0,
            room: Some(RoomId(3)),
            map: Some(1),
            host: None,
            role: None,
            mute: None,
        };
        let map = |id, map| OperatedMap {
            id: RoomId(id),
            room: RoomId(3),
            map,
            host: None,
            players: 1,
            is_running: true,
        };
        let maps = [map(3, 0), map(8, 1)];
        let why = |player: &OperatedPlayer, map| why_no_view(RoomId(map), player, &maps);
        assert_eq!(why(&ann, 3), "ann is on map 8, not on this one");
        assert_eq!(why(&ann, 8), "ann has a seat here, but its client has not joined the game yet");
        let away = OperatedPlayer { conn: None, ..ann.clone() };
        assert_eq!(why(&away, 8), "ann has a seat here, but has lost its connection");
        let outside = OperatedPlayer { room: None, map: None, ..ann };
        assert_eq!(why(&outside, 3), "ann is in no room");
    }
}
