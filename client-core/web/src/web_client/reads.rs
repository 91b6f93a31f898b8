//! What JavaScript reads of a client beside frames: the schema, the map, the player, counters.

use std::time::Duration;

use ambit_client_core::client::Rules;
use ambit_client_text::json::simulation;
use ambit_proto::map::ObstacleShape;
use ambit_proto::space::Position;
use serde_json::json;
use wasm_bindgen::prelude::wasm_bindgen;

use super::{WebClient, time};
use crate::schema_json::schema_json;

#[wasm_bindgen]
impl WebClient {
    /// The texts of frames with higher numbers than `number`, as JSON: `[[number, text]]`; none
    /// if there are no others.
    pub fn texts_after(&self, number: u32) -> Option<String> {
        let texts: Vec<_> = self.buffers.texts.after(number).collect();
        (!texts.is_empty()).then(|| json!(texts).to_string())
    }

    /// How often texts that are out of sight were dropped: whoever keeps texts drops all then, and
    /// reads those after 0.
    pub fn texts_dropped(&self) -> u32 {
        self.buffers.texts.dropped()
    }

    /// The schema as JSON.
    pub fn schema(&self) -> Option<String> {
        self.client.schema().map(|schema| schema_json(schema).to_string())
    }

    /// The static map, once it has arrived. 9 numbers for each obstacle: the centre (x, y, z), half
    /// of the extents, the turn in radians, 1 if it is round, its look or -1.
    pub fn map_obstacles(&self) -> Option<Vec<f32>> {
        let map = self.client.map()?;
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

    /// The player's number.
    pub fn player(&self) -> Option<f64> {
        self.client.player().map(|player| player.0 as f64)
    }

    /// The player's name.
    pub fn name(&self) -> String {
        self.client.name().to_owned()
    }

    /// The room that the player is in.
    pub fn room(&self) -> Option<f64> {
        self.client.room().map(|room| room.0 as f64)
    }

    /// Secret: it resumes the session.
    pub fn resume_token(&self) -> Vec<u8> {
        self.client.resume_token().to_vec()
    }

    /// Whether the lobby answers now.
    pub fn is_connected(&self) -> bool {
        self.client.is_connected()
    }

    /// Whether the client has ended.
    pub fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// What the host reported at the join, as JSON (`GameRules` in `ts/rules.ts`).
    pub fn rules(&self) -> Option<String> {
        let Rules { delay, tick_hz, map, schema, .. } = self.client.rules()?;
        let json = json!({
            "delay_ms": delay.as_millis() as u64, "tick_hz": tick_hz, "width": map.width_m,
            "height": map.height_m, "cell": map.cell_m, "inner": map.inner, "outer": map.outer,
            "gates": schema.presentation.gates,
        });
        Some(json.to_string())
    }

    /// Counters and present measurements, as JSON (`Stats` in `ts/stats.ts`).
    pub fn stats(&self, now: f64) -> String {
        let stats = self.client.stats();
        let now = time(now);
        let game = self.client.running_game();
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
            "simulated": self.simulated_bodies(),
            "simulation": simulation(&stats.simulation),
        })
        .to_string()
    }
}
