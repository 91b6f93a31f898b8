//! What other languages read of a client beside frames: the map, the rules, counters.

use std::time::Duration;

use ambit_client_core::client::running_game::RunningGame;
use ambit_client_core::client::{Client, Rules};
use ambit_client_text::json::simulation;
use ambit_proto::map::ObstacleShape;
use ambit_proto::space::Position;
use ambit_proto::time::LocalTime;
use serde_json::json;

use ambit_client_text::schema_json::schema_json;

/// The schema of the game, as JSON ([`schema_json`]).
pub fn schema(client: &Client) -> Option<String> {
    client.schema().map(|schema| schema_json(schema).to_string())
}

/// The obstacles, once there are any: of the static map, and those that objects in sight have. 9
/// numbers for each: the centre (x, y, z), half of the extents, the turn in radians, 1 if it is
/// round, its look or -1.
pub fn map_obstacles(client: &Client) -> Option<Vec<f32>> {
    let map = client.map()?;
    let obstacles = map.obstacles.iter().flat_map(|obstacle| {
        let (Position { x, y, z }, [half_x, half_y, half_z]) =
            (obstacle.centre, obstacle.shape.half());
        let is_round = matches!(obstacle.shape, ObstacleShape::Cylinder { .. });
        let look = obstacle.look.map_or(-1.0, f32::from);
        let round = f32::from(u8::from(is_round));
        [x, y, z, half_x, half_y, half_z, obstacle.shape.yaw(), round, look]
    });
    Some(obstacles.collect())
}

/// What the host reported at the join, as JSON (`GameRules` in `ts/rules.ts`).
pub fn rules(client: &Client) -> Option<String> {
    let Rules { delay, tick_hz, map, schema, .. } = client.rules()?;
    let json = json!({
        "delay_ms": delay.as_millis() as u64, "tick_hz": tick_hz, "width": map.width_m,
        "height": map.height_m, "cell": map.cell_m, "inner": map.inner, "outer": map.outer,
        "gates": schema.presentation.gates,
    });
    Some(json.to_string())
}

/// Counters and present measurements, as JSON (`Stats` in `ts/stats.ts`).
pub fn stats(client: &Client, now: LocalTime) -> String {
    let stats = client.stats();
    let game = client.running_game();
    let shown_behind = game.map(|game| game.room_time(now).since(game.shown_time(now)));
    let ms = |time: Option<Duration>| time.map(|time| time.as_secs_f64() * 1_000.0);
    json!({
        "rtt_ms": ms(stats.rtt), "jitter_ms": ms(stats.jitter),
        "shown_behind_ms": ms(shown_behind),
        "buffer_ms": ms(game.map(|game| game.buffer_depth(now))),
        "datagrams_down": stats.datagrams_down, "datagrams_lost": stats.datagrams_lost,
        "bytes_down": stats.bytes_down,
        "datagrams_up": stats.datagrams_up, "bytes_up": stats.bytes_up,
        "enters": stats.enters, "leaves": stats.leaves, "events": stats.events,
        "late_events": stats.late_events, "updates": stats.updates,
        "late_updates": stats.late_updates, "late_share": stats.late_share(),
        "commands": stats.commands, "confirmed": stats.confirmed, "refused": stats.refused,
        "events_dropped": stats.events_dropped,
        "simulated": game.map_or(0, RunningGame::simulated_bodies),
        "simulation": simulation(&stats.simulation),
    })
    .to_string()
}
