//! The numbers of the game, all in one file: `tables.json`.
//!
//! Units: metres, seconds, radians. Walls are shares of the map's width and height.

use std::sync::LazyLock;

use ambit::prelude::*;

/// What `tables.json` contains.
pub static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    serde_json::from_str(include_str!("tables.json")).expect("a test reads the tables")
});

#[derive(Debug, Deserialize)]
pub struct Tables {
    pub ship: ShipTable,
    pub missile: MissileTable,
    pub asteroid: AsteroidTable,
    pub points: PointsTable,
    pub round: RoundTable,
    pub pilot: PilotTable,
    pub walls: Vec<Wall>,
}

#[derive(Debug, Deserialize)]
pub struct ShipTable {
    pub radius_m: f32,
    pub turn_rad_per_s: f32,
    pub acceleration_m_per_s2: f32,
    pub braking_m_per_s2: f32,
    pub drag_m_per_s2: f32,
    pub top_speed_m_per_s: f32,
    /// How long a ship that was hit is a wreck, until it is elsewhere: its player sees by whom.
    pub back_after_s: f32,
    /// How long a ship that has come back cannot be hit, unless it fires.
    pub shield_s: f32,
    /// For this time its shots do not end that: a player who holds the key fires before seeing the
    /// place.
    pub keeps_shield_s: f32,
    /// How long a ship that has come cannot be hit, at least.
    pub first_shield_s: f32,
    /// The most time that it cannot be hit while its player has not pressed a key.
    pub waits_for_input_s: f32,
    /// The share of its speed that a ship keeps when it hits something.
    pub bump_keeps: f32,
}

#[derive(Debug, Deserialize)]
pub struct MissileTable {
    pub speed_m_per_s: f32,
    pub range_m: f32,
    pub reload_s: f32,
    /// How far before the ship's centre it begins.
    pub nose_m: f32,
    /// How far shots and hits are heard.
    pub heard_m: f32,
}

#[derive(Debug, Deserialize)]
pub struct AsteroidTable {
    pub least_radius_m: f32,
    pub greatest_radius_m: f32,
}

#[derive(Debug, Deserialize)]
pub struct PointsTable {
    pub hit: i64,
    pub got_hit: i64,
}

#[derive(Debug, Deserialize)]
pub struct RoundTable {
    /// Between two rounds.
    pub break_s: f32,
}

#[derive(Debug, Deserialize)]
pub struct PilotTable {
    pub aim_error_rad: f32,
    pub fires_within_rad: f32,
    pub fires_within_m: f32,
    /// At this distance it turns away from a wall.
    pub looks_ahead_m: f32,
    /// How long it flies to one place while it sees no ship.
    pub roams_for_s: f32,
}

#[derive(Debug, Deserialize)]
pub struct Wall {
    pub x: f32,
    pub y: f32,
    pub half_x: f32,
    pub half_y: f32,
    /// From x towards y.
    pub turn_rad: f32,
}
