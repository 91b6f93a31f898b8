//! The controls of a game: what a player holds down, presses, or moves.

use super::{AxisKind, MAX_AXES};
use super::{SchemaError, SchemaPath, SchemaProblem};

/// The highest number of default keys of a control.
pub const MAX_KEYS: usize = 4;

/// A control, as clients offer it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ControlSpec {
    /// Unique in the schema: what users type and programs name.
    pub name: String,
    /// What players read instead of the name; may be empty.
    pub label: String,
    /// One line for users; may be empty.
    pub help: String,
    /// The default keys of a keyboard, at most [`MAX_KEYS`], each of one control only: the `key` of
    /// a browser's `KeyboardEvent` in lower case, with `space` for the space bar. Those of a linear
    /// axis come in pairs: the first moves it to 1, the second to -1. An angle has none: a client
    /// with a pointer takes the direction from the own avatar to it.
    pub keys: Vec<String>,
    /// Only the press counts, not how long it is held.
    pub is_tapped: bool,
    /// The way on the map that it stands for. A client whose picture is turned gives players the
    /// ways that they see.
    pub direction: Option<Direction>,
    /// Whether it is an axis, and which; `None` for what is held down or pressed. An axis is not
    /// tapped and stands for no direction.
    pub axis: Option<AxisKind>,
}

/// A way on the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Towards larger x.
    East,
    /// Towards larger y.
    North,
    /// Towards smaller x.
    West,
    /// Towards smaller y.
    South,
}

impl ControlSpec {
    /// Whether it has nothing that is only for other controls.
    fn is_proper_axis(&self) -> bool {
        match self.axis {
            None => true,
            Some(_) if self.is_tapped || self.direction.is_some() => false,
            Some(AxisKind::Linear) => self.keys.len().is_multiple_of(2),
            Some(AxisKind::Angle | AxisKind::ShownBehind) => self.keys.is_empty(),
        }
    }
}

/// The controls of a game as an enum, for the game and for clients that know it
/// (`#[derive(Controls)]` of the crate `ambit`).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an enum of controls",
    label = "not controls",
    note = "add `#[derive(Controls)]` to the enum `{Self}`"
)]
pub trait Controls: Sized {
    /// The names, in the order of their bits.
    const NAMES: &'static [&'static str];
    /// Which of them are axes, in the same order.
    const AXES: &'static [Option<AxisKind>];

    /// How clients offer them, in the same order.
    fn declarations() -> Vec<ControlSpec>;

    /// The place in these lists.
    fn index(self) -> u8;

    /// The name of this control.
    fn name(self) -> &'static str {
        Self::NAMES[usize::from(self.index())]
    }
}

pub(super) fn check_controls(
    controls: &[ControlSpec],
    place: &SchemaPath,
) -> Result<(), SchemaError> {
    place.check_words("control", controls.iter().map(|control| &control.name))?;
    place.check_words("key", controls.iter().flat_map(|control| &control.keys))?;
    let axes = controls.iter().filter(|control| control.axis.is_some()).count();
    place.check_count("axes", axes, MAX_AXES)?;
    controls.iter().try_for_each(|control| {
        let place = place.child("control", &control.name);
        place.check_count("keys", control.keys.len(), MAX_KEYS)?;
        place.check_label(&control.label)?;
        place.check_user_text(&control.help)?;
        let mut same = controls.iter().filter(|other| other.direction == control.direction);
        let is_unique = control.direction.is_none() || same.nth(1).is_none();
        place.ensure(is_unique, || SchemaProblem::DirectionTaken)?;
        place.ensure(control.is_proper_axis(), || SchemaProblem::BadAxis)
    })
}
