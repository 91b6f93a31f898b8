//! Yes or no, over time.

use ambit_proto::message::FrameValue;
use ambit_proto::schema::Codec;

use super::{Attribute, Telling};

#[cfg(feature = "rules")]
pub(super) mod access;

/// Yes or no, over time: a change can be planned. `true.into()` is one.
#[derive(Clone, Copy, Debug, Default, derive_more::From, PartialEq, Eq)]
pub struct Flag(bool);

impl Flag {
    /// Yes.
    pub const fn on() -> Self {
        Self(true)
    }

    /// No.
    pub const fn off() -> Self {
        Self(false)
    }
}

impl Attribute for Flag {
    type Shown<'f> = bool;

    fn codec() -> Codec {
        Codec::Flag
    }

    fn shown(value: FrameValue<'_>) -> Option<bool> {
        value.as_flag().copied()
    }

    access_by!();
}

impl Telling for Flag {}
