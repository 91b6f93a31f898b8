//! The numbers of the game, all in one file: `tables.json`.
//!
//! Units: metres, seconds, radians. Walls are shares of the map's width and height.

use std::sync::LazyLock;

use ambit::prelude::*;

/// What `tables.json` contains.
pub(crate) static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    serde_json::from_str(include_str!("tables.json")).expect("a test reads the tables")
});

#[derive(Debug, Deserialize)]
pub(crate) struct Tables {
    pub(crate) ship: ShipTable,
    pub(crate) missile: MissileTable,
    pub(crate) asteroid: AsteroidTable,
    pub(crate) points: PointsTable,
    pub(crate) round: RoundTable,
    pub(crate) pilot: PilotTable,
    pub(crate) walls: Vec<Wall>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ShipTable {
    pub(crate) radius_m: f32,
    pub(crate) turn_rad_per_s: f32,
    pub(crate) acceleration_m_per_s2: f32,
    pub(crate) braking_m_per_s2: f32,
    pub(crate) drag_m_per_s2: f32,
    pub(crate) top_speed_m_per_s: f32,
    /// How long a ship that was hit cannot be hit again.
    pub(crate) shield_s: f32,
    /// The share of its speed that a ship keeps when it hits something.
    pub(crate) bump_keeps: f32,
}

#[derive(Debug, Deserialize)]
pub(crate) struct MissileTable {
    pub(crate) speed_m_per_s: f32,
    pub(crate) range_m: f32,
    pub(crate) reload_s: f32,
    /// How far before the ship's centre it begins.
    pub(crate) nose_m: f32,
    /// How far shots and hits are heard.
    pub(crate) heard_m: f32,
}

#[derive(Debug, Deserialize)]
pub(crate) struct AsteroidTable {
    pub(crate) least_radius_m: f32,
    pub(crate) greatest_radius_m: f32,
}

#[derive(Debug, Deserialize)]
pub(crate) struct PointsTable {
    pub(crate) hit: i64,
    pub(crate) got_hit: i64,
}

#[derive(Debug, Deserialize)]
pub(crate) struct RoundTable {
    /// Between two rounds.
    pub(crate) break_s: f32,
}

#[derive(Debug, Deserialize)]
pub(crate) struct PilotTable {
    pub(crate) aim_error_rad: f32,
    pub(crate) fires_within_rad: f32,
    pub(crate) fires_within_m: f32,
    /// From so far on it turns away from a wall.
    pub(crate) looks_ahead_m: f32,
    /// How long it flies to one place while it sees nobody.
    pub(crate) roams_for_s: f32,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Wall {
    pub(crate) x: f32,
    pub(crate) y: f32,
    pub(crate) half_x: f32,
    pub(crate) half_y: f32,
    /// From x towards y.
    pub(crate) turn_rad: f32,
}
