//! Tests of all formats together.

pub(crate) mod vectors;
