//! `libambit_client`: what `ambit_client_ffi` exports, as one file to link or to load.

pub use ambit_client_ffi::*;
// Named for its feature alone: see `packaged`.
use tracing as _;
