//! How a simple viewer draws the map: where it looks from, the ground and the obstacles.

/// The highest number of looks of obstacles: 4 bits on the wire, with 0 for none.
pub const MAX_OBSTACLE_LOOKS: usize = 15;

/// How a simple viewer draws the map: hints, which a viewer may ignore.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenerySpec {
    /// Where it looks from.
    pub camera: Camera,
    /// The colour of the ground, as 0xRRGGBB; `None` for the viewer's own.
    pub ground: Option<u32>,
    /// Whether there are lines on the ground.
    pub has_grid: bool,
    /// Whether players are on one side: whoever of the avatar's kind is in sight is listed with bar
    /// and name.
    pub has_party: bool,
    /// Looks that obstacles name by their index: at most [`MAX_OBSTACLE_LOOKS`].
    pub obstacles: Vec<ObstacleLook>,
}

impl Default for ScenerySpec {
    fn default() -> Self {
        let (camera, obstacles) = (Camera::Around, Vec::new());
        Self { camera, ground: None, has_grid: true, has_party: false, obstacles }
    }
}

/// Where a simple viewer looks from. It always follows the player's avatar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Camera {
    /// Players turn and tilt it around the avatar: for what moves freely.
    #[default]
    Around,
    /// From above, at a fixed angle: for what happens on the ground.
    Above,
}

/// How a simple viewer draws an obstacle. The map has its shape and its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObstacleLook {
    /// For displays of text.
    pub glyph: char,
    /// 0xRRGGBB.
    pub colour: u32,
}

impl ObstacleLook {
    /// A look with a visible glyph and a colour, as 0xRRGGBB.
    pub const fn new(glyph: char, colour: u32) -> Self {
        Self { glyph, colour }
    }
}

impl ScenerySpec {
    pub(super) fn is_valid(&self) -> bool {
        self.obstacles.len() <= MAX_OBSTACLE_LOOKS
            && self.ground.is_none_or(is_colour)
            && self.obstacles.iter().all(|look| is_visible(look.glyph) && is_colour(look.colour))
    }
}

/// Whether a display of text shows something.
pub(super) fn is_visible(glyph: char) -> bool {
    !(glyph.is_control() || glyph.is_whitespace())
}

pub(super) fn is_colour(colour: u32) -> bool {
    colour <= 0xff_ffff
}
