//! How a simple viewer draws the objects of a kind.

use serde::{Deserialize, Serialize};

use super::hints;

/// How a simple viewer draws the objects of a kind: hints, which a viewer may ignore.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(default)]
pub struct Look {
    /// For displays of text.
    pub glyph: char,
    /// For displays of shapes.
    #[serde(deserialize_with = "hints::known_or_default")]
    pub shape: Shape,
    /// 0xRRGGBB, and `#rrggbb` in the block.
    #[serde(with = "hints::colour")]
    #[cfg_attr(test, ts(type = "string"))]
    pub colour: u32,
    /// What it is made of.
    #[serde(deserialize_with = "hints::known_or_default")]
    pub material: Material,
    /// Diameter or edge, in metres: 0.01 to 1,000.
    #[serde(rename = "size")]
    pub size_m: f32,
    /// Index of the component that is shown as a bar: a gauge.
    pub bar: Option<u8>,
    /// Index of the component that is shown as text beside the object: a text.
    pub label: Option<u8>,
    /// What it represents, if it is more than its shape.
    #[serde(deserialize_with = "hints::known_or_default")]
    pub figure: Option<Figure>,
    /// Index of the text, the number or the flag that says which variant of its kind an object is.
    pub by: Option<u8>,
}

/// What objects of a kind look like whose text has a value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(default)]
pub struct Variant {
    /// The value: a text, `3` for a number, `true` or `false` for a flag.
    pub of: String,
    /// What it represents instead of the kind's figure.
    #[serde(deserialize_with = "hints::known_or_default")]
    pub figure: Option<Figure>,
    /// How large it is, in sizes of its kind: 0.1 to 10.
    pub size: f32,
    /// Whether it is one of a few that all players watch: viewers show its gauge to all.
    pub boss: bool,
}

impl Default for Variant {
    fn default() -> Self {
        Self { of: String::new(), figure: None, size: 1.0, boss: false }
    }
}

/// What an object represents. A viewer that has no model for it draws its shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Figure {
    /// A figure in armour, with a sword.
    Knight,
    /// A figure with a staff and a hat.
    Mage,
    /// A figure with a bow.
    Archer,
    /// A figure in light robes.
    Healer,
    /// A figure with wares.
    Trader,
    /// A round creature that walks about.
    Round,
    /// A creature with horns.
    Horned,
    /// A creature on four legs.
    Beast,
    /// A creature in robes.
    Robed,
    /// A box that opens.
    Chest,
    /// A device that snaps.
    Trap,
    /// A box with a face: a player's.
    Toy,
}

/// The shape of an object, as seen from above.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// A circle.
    #[default]
    Disc,
    /// A square.
    Box,
    /// Points in the direction of movement.
    Arrow,
    /// The same size on the screen at any distance.
    Point,
}

/// What an object seems to be made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Material {
    /// Stone, cloth, wood.
    #[default]
    Matte,
    /// Shines where light falls on it.
    Metal,
    /// Gives light of its own.
    Glow,
}

impl Default for Look {
    fn default() -> Self {
        Self {
            glyph: 'o',
            shape: Shape::Disc,
            colour: 0xa0_a0a0,
            material: Material::Matte,
            size_m: 1.0,
            bar: None,
            label: None,
            figure: None,
            by: None,
        }
    }
}
