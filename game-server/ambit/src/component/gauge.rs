//! A value that changes by itself.

use ambit_proto::message::FrameValue;
use ambit_proto::schema::Codec;
use ambit_proto::timeline::Gauge as GaugeValue;

use super::{Attribute, Bar};

#[cfg(feature = "rules")]
pub(super) mod access;

/// A value from 0 to `MAX` that changes at a rate: health and mana that regenerate need no
/// messages. Clients show it as a bar. `100.0.into()` and `100.into()` are one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gauge<const MAX: u32> {
    value: f32,
    rate: f32,
}

impl<const MAX: u32> Gauge<MAX> {
    /// At `MAX`.
    pub const fn full() -> Self {
        Self::of(MAX as f32)
    }

    /// At zero.
    pub const fn empty() -> Self {
        Self::of(0.0)
    }

    /// At a value, limited to 0 and `MAX`. If it is not finite: full, with an error in the log.
    pub const fn of(value: f32) -> Self {
        Self { value, rate: 0.0 }
    }

    /// The same value, changing by so much a second, up or down by less than 512. If it is not
    /// finite: constant, with an error in the log.
    #[must_use]
    pub const fn changing(self, rate_per_s: f32) -> Self {
        Self { rate: rate_per_s, ..self }
    }
}

impl<const MAX: u32> From<f32> for Gauge<MAX> {
    fn from(value: f32) -> Self {
        Self::of(value)
    }
}

impl<const MAX: u32> From<u32> for Gauge<MAX> {
    fn from(value: u32) -> Self {
        Self::of(value as f32)
    }
}

/// Full.
impl<const MAX: u32> Default for Gauge<MAX> {
    fn default() -> Self {
        Self::full()
    }
}

impl<const MAX: u32> Attribute for Gauge<MAX> {
    type Shown<'f> = GaugeValue;

    fn codec() -> Codec {
        Codec::Gauge { max: MAX as f32 }
    }

    fn shown(value: FrameValue<'_>) -> Option<GaugeValue> {
        value.as_gauge().copied()
    }

    access_by!();
}

impl<const MAX: u32> Bar for Gauge<MAX> {}
