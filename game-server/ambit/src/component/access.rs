//! Reading and editing components in a room: what all types of components have.

use ambit_proto::space::Position;

use crate::object::Named;

/// `None`, with an error in the log, for a number that is not finite.
pub(super) fn finite(of: &impl Named, value: f32, what: &str) -> Option<f32> {
    if value.is_finite() {
        Some(value)
    } else {
        tracing::error!("a game sets the {what} of {} to {value}: ignored", of.name());
        None
    }
}

/// `None`, with an error in the log, for numbers that are not all finite.
pub(super) fn all_finite<const N: usize>(
    of: &impl Named,
    values: [f32; N],
    what: &str,
) -> Option<[f32; N]> {
    if values.iter().all(|value| value.is_finite()) {
        Some(values)
    } else {
        tracing::error!("a game sets the {what} of {} to {values:?}: ignored", of.name());
        None
    }
}

/// `None`, with an error in the log, for a position that is not finite.
pub(super) fn finite_position(of: &impl Named, position: Position) -> Option<Position> {
    if position.is_finite() {
        Some(position)
    } else {
        tracing::error!("a game moves {} to {position:?}: ignored", of.name());
        None
    }
}
