//! Generates the Rust types of the control messages from `proto/ambit/*.proto`, without a system
//! `protoc`.

use std::error::Error;

const FILES: [&str; 2] = ["ambit/world.proto", "ambit/game.proto"];
const ROOT: &str = "proto";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={ROOT}");
    let descriptors = protox::compile(FILES, [ROOT])?;
    prost_build::Config::new()
        // Maps need an order that does not differ between runs, because it reaches bytes and logs.
        .btree_map(["."])
        .compile_fds(descriptors)?;
    Ok(())
}
