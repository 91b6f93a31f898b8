//! How times, places and numbers of events are written as JSON.
//!
//! Values of the protocol go in; milliseconds, metres rounded to a millimetre, and radians come
//! out, for the `serialize_with` of serde.

#![expect(
    clippy::ref_option,
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes references"
)]

use std::sync::Arc;
use std::time::Duration;

use ambit_proto::ids::AccountId;
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use serde::{Serialize, Serializer};

/// Milliseconds of room time.
pub(super) fn ms<S: Serializer>(time: &GameTime, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_u64(time.millis())
}

/// Milliseconds.
pub(super) fn duration_ms<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_u64(time.as_millis() as u64)
}

pub(super) fn text<S: Serializer>(text: &Arc<str>, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(text)
}

/// An account as text, or null.
pub(super) fn account_text<S: Serializer>(
    account: &Option<AccountId>,
    to: S,
) -> Result<S::Ok, S::Error> {
    account.map(|account| account.to_string()).serialize(to)
}

/// A position, for a flattened field: no key without one.
pub(super) fn place<S: Serializer>(position: &Option<Position>, to: S) -> Result<S::Ok, S::Error> {
    position.map(Metres::from).serialize(to)
}

/// A position in metres.
#[derive(Clone, Copy, Serialize)]
pub(super) struct Metres {
    x: f64,
    y: f64,
    z: f64,
}

impl From<Position> for Metres {
    fn from(position: Position) -> Self {
        Metres { x: round(position.x), y: round(position.y), z: round(position.z) }
    }
}

/// Rounds to a thousandth: further digits exceed the precision of the float.
pub(super) fn round(value: f32) -> f64 {
    (f64::from(value) * 1_000.0).round() / 1_000.0
}
