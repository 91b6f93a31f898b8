//! What `maps.toml` contains: rooms, and the traps in them.
//!
//! Units: metres, from the middle of a room.

use ambit::prelude::*;

/// What maps are made of.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MapsTable {
    pub(crate) door_m: f32,
    /// The share of doors that are closed when a wave begins.
    pub(crate) closed: f32,
    pub(crate) trap: TrapTable,
    pub(crate) merchant: RoomTable,
    pub(crate) room: Vec<RoomTable>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TrapTable {
    pub(crate) damage: f32,
    pub(crate) radius_m: f32,
    pub(crate) seen_m: f32,
    pub(crate) windup_s: f32,
}

/// A room of a map; places are relative to its middle.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RoomTable {
    pub(crate) size_m: [f32; 2],
    /// Places, and half the extents.
    #[serde(default)]
    pub(crate) walls: Vec<[f32; 4]>,
    /// Places, and radii.
    #[serde(default)]
    pub(crate) pillars: Vec<[f32; 3]>,
    /// Where the chest is, after a wave whose last monster fell in this room.
    #[serde(default)]
    pub(crate) chest: [f32; 2],
    #[serde(default)]
    pub(crate) spawns: Vec<[f32; 2]>,
    #[serde(default)]
    pub(crate) traps: Vec<[f32; 2]>,
}

/// Obstacles are not thinner, in metres.
const THINNEST_M: f32 = 0.1;

impl RoomTable {
    /// What the room of this name lacks, if its obstacles do not fit.
    pub(super) fn lacks(&self, name: &str) -> Option<String> {
        let half = self.size_m.map(|size| size / 2.0);
        let walls = self.walls.iter().map(|[x, y, dx, dy]| ("walls", *x, *y, *dx, *dy));
        let pillars =
            self.pillars.iter().map(|[x, y, radius]| ("pillars", *x, *y, *radius, *radius));
        walls.chain(pillars).find_map(|(what, x, y, dx, dy)| {
            if dx.min(dy) < THINNEST_M {
                return Some(format!("`{what}` in {name} whose extents are {THINNEST_M} or more"));
            }
            let is_inside = x.abs() + dx <= half[0] && y.abs() + dy <= half[1];
            (!is_inside)
                .then(|| format!("`{what}` in {name} that are inside of it, not ({x}, {y})"))
        })
    }
}
