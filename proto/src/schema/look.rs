//! How a simple viewer draws the objects of a kind.

use super::scenery::{is_colour, is_visible};
use super::{Codec, ComponentSpec};

/// How a simple viewer draws the objects of a kind: hints, which a viewer may ignore.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// For displays of text.
    pub glyph: char,
    /// For displays of shapes.
    pub shape: Shape,
    /// 0xRRGGBB.
    pub colour: u32,
    /// What it is made of.
    pub material: Material,
    /// Diameter or edge, in metres: 0.01 to 1,000.
    pub size_m: f32,
    /// Index of the component that is shown as a bar: a gauge.
    pub bar: Option<u8>,
    /// Index of the component that is shown as text beside the object: a text.
    pub label: Option<u8>,
}

/// The shape of an object, as seen from above.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
        }
    }
}

impl Look {
    pub(super) fn is_valid(&self, components: &[ComponentSpec]) -> bool {
        let codec_of = |index: u8| components.get(usize::from(index)).map(|spec| spec.codec);
        is_visible(self.glyph)
            && is_colour(self.colour)
            && (0.01..=1_000.0).contains(&self.size_m)
            && self.bar.is_none_or(|bar| matches!(codec_of(bar), Some(Codec::Gauge { .. })))
            && self.label.is_none_or(|label| matches!(codec_of(label), Some(Codec::Text { .. })))
    }
}
