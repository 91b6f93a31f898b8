//! The records of a cluster's directory, as prost generates them from
//! `proto/ambit/directory.proto`.
//!
//! After a change of that file, run the test `the_generated_messages_are_those_of_the_proto_files`
//! with `AMBIT_RENEW_GENERATED=1`: it renews `generated/`.
#![allow(unreachable_pub, unused_qualifications, clippy::pedantic, reason = "generated")]

include!("generated/ambit.directory.rs");
