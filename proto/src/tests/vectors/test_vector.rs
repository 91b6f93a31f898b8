//! One vector: bytes and what they mean.

use std::fmt::Write;

use super::json::{Json, object};

/// Bytes, and their meaning in the words of the format pages.
#[derive(Clone, Debug)]
pub(crate) struct TestVector {
    /// Short, and unique in its file.
    pub(crate) name: &'static str,
    /// What is special about it.
    pub(crate) about: &'static str,
    /// What a reader knows before it reads the bytes.
    pub(crate) context: Json,
    pub(crate) bytes: Vec<u8>,
    pub(crate) value: Json,
}

impl TestVector {
    /// As it stands in its file.
    pub(crate) fn to_json(&self) -> Json {
        object! {
            name: self.name,
            about: self.about,
            context: self.context.clone(),
            bytes: hex(&self.bytes),
            value: self.value.clone(),
        }
    }
}

/// Two lower-case digits for each byte.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut digits = String::new();
    for byte in bytes {
        write!(digits, "{byte:02x}").expect("a String takes everything");
    }
    digits
}
