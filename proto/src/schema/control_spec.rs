//! The controls of a game: what a player holds down, presses, or moves.

use super::{AxisKind, MAX_AXES, SchemaError, SchemaPath, SchemaProblem};
use crate::presentation::ControlPresentation;

/// A control, as clients offer it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ControlSpec {
    /// Unique in the schema: what users type and programs name.
    pub name: String,
    /// Only the press counts, not how long it is held.
    pub is_tapped: bool,
    /// Whether it is an axis, and which; `None` for what is held down or pressed. An axis is not
    /// tapped.
    pub axis: Option<AxisKind>,
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

    /// What they are and how clients offer them, in the same order.
    fn declarations() -> Vec<(ControlSpec, ControlPresentation)>;

    /// The place in these lists.
    fn index(self) -> u8;

    /// The name of this control.
    fn name(self) -> &'static str {
        Self::NAMES[usize::from(self.index())]
    }
}

/// The controls of a game that declares none. For controls, write an enum, derive `Controls` for
/// it, and name it above the game: `#[declare(controls = Key)]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoControls {}

impl Controls for NoControls {
    const NAMES: &'static [&'static str] = &[];
    const AXES: &'static [Option<AxisKind>] = &[];

    fn declarations() -> Vec<(ControlSpec, ControlPresentation)> {
        Vec::new()
    }

    fn index(self) -> u8 {
        match self {}
    }
}

pub(super) fn check_controls(
    controls: &[ControlSpec],
    place: &SchemaPath,
) -> Result<(), SchemaError> {
    place.check_words("control", controls.iter().map(|control| &control.name))?;
    let axes = controls.iter().filter(|control| control.axis.is_some()).count();
    place.check_count("axes", axes, MAX_AXES)?;
    controls.iter().try_for_each(|control| {
        let place = place.child("control", &control.name);
        let is_tapped_axis = control.axis.is_some() && control.is_tapped;
        place.ensure(!is_tapped_axis, || SchemaProblem::BadAxis)
    })
}
