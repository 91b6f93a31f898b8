//! How a simple viewer draws the map: where it looks from, the ground and the obstacles.

use serde::{Deserialize, Serialize};

use super::hints;

/// The highest number of looks of obstacles: 4 bits on the wire, with 0 for none.
pub const MAX_OBSTACLE_LOOKS: usize = 15;

/// How a simple viewer draws the map: hints, which a viewer may ignore.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(default)]
pub struct ScenerySpec {
    /// Where it looks from.
    #[serde(deserialize_with = "hints::known_or_default")]
    pub camera: Camera,
    /// What kind of ground it is.
    #[serde(deserialize_with = "hints::known_or_default")]
    pub place: Ground,
    /// The colour of the ground, as 0xRRGGBB, and `#rrggbb` in the block; without it the viewer's
    /// own.
    #[serde(with = "hints::optional_colour")]
    #[cfg_attr(test, ts(type = "string | null"))]
    pub ground: Option<u32>,
    /// Whether the ground is without lines.
    #[serde(rename = "no_grid")]
    pub is_without_grid: bool,
    /// Whether players are on one side: those of the avatar's kind in sight are listed with bar and
    /// name.
    #[serde(rename = "party")]
    pub has_party: bool,
    /// Looks that obstacles name by their index: at most [`MAX_OBSTACLE_LOOKS`].
    pub obstacles: Vec<ObstacleLook>,
}

/// Where a simple viewer looks from. It always follows the player's avatar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Camera {
    /// Players turn and tilt it around the avatar: for what moves freely.
    #[default]
    Around,
    /// From above, at a fixed angle: for what happens on the ground.
    Above,
}

/// What kind of ground a map is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Ground {
    /// Land with plants.
    #[default]
    Open,
    /// A smooth court.
    Court,
    /// A floor of stone, inside.
    Halls,
    /// Nothing is below.
    Space,
}

/// How a simple viewer draws an obstacle. The map has its shape and its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ObstacleLook {
    /// For displays of text.
    pub glyph: char,
    /// 0xRRGGBB, and `#rrggbb` in the block.
    #[serde(with = "hints::colour")]
    #[cfg_attr(test, ts(type = "string"))]
    pub colour: u32,
}

impl ObstacleLook {
    /// A look with a visible glyph and a colour, as 0xRRGGBB.
    pub const fn new(glyph: char, colour: u32) -> Self {
        Self { glyph, colour }
    }
}
