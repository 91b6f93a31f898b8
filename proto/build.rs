//! The control messages: Rust types out of `proto/ambit/*.proto`, without a system `protoc`.

use std::error::Error;

const FILES: [&str; 4] = [
    "ambit/world.proto",
    "ambit/game.proto",
    "ambit/host.proto",
    "ambit/directory.proto",
];
const ROOT: &str = "proto";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={ROOT}");
    let descriptors = protox::compile(FILES, [ROOT])?;
    prost_build::Config::new()
        // Maps have an order that does not differ between runs: it reaches bytes and logs.
        .btree_map(["."])
        .compile_fds(descriptors)?;
    Ok(())
}
