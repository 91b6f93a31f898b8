//! The records of a cluster's directory (`proto/ambit/directory.proto`).
#![allow(
    unreachable_pub,
    unused_qualifications,
    clippy::pedantic,
    reason = "generated"
)]

include!("generated/ambit.directory.rs");
