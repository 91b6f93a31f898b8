//! A short text.

use ambit_proto::message::FrameValue;
use ambit_proto::schema::Codec;

use super::{Attribute, Label, Telling};

#[cfg(feature = "rules")]
pub(super) mod access;

/// A text of at most `BYTES` bytes of UTF-8 (1 to 200); a longer one is cut. It has no history, and
/// a change sends all of it. `"ann".into()` is one. Also the type of a field of a command or an
/// event.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Text<const BYTES: u32>(String);

impl<const BYTES: u32> Text<BYTES> {
    /// A text, cut to `BYTES`.
    pub fn new(text: impl Into<String>) -> Self {
        let mut text = text.into();
        text.truncate(text.floor_char_boundary(BYTES as usize));
        Self(text)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text.
    pub fn into_string(self) -> String {
        self.0
    }
}

impl<const BYTES: u32> From<&str> for Text<BYTES> {
    fn from(text: &str) -> Self {
        Self::new(&text[..text.floor_char_boundary(BYTES as usize)])
    }
}

impl<const BYTES: u32> From<String> for Text<BYTES> {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl<const BYTES: u32> AsRef<str> for Text<BYTES> {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl<const BYTES: u32> Attribute for Text<BYTES> {
    type Shown<'f> = &'f str;

    fn codec() -> Codec {
        const { assert!(BYTES >= 1 && BYTES <= 200, "a `Text<BYTES>` has 1 to 200 bytes") };
        Codec::Text { max_bytes: BYTES }
    }

    fn shown(value: FrameValue<'_>) -> Option<&str> {
        value.as_text().copied()
    }

    access_by!();
}

impl<const BYTES: u32> Label for Text<BYTES> {}

impl<const BYTES: u32> Telling for Text<BYTES> {}
