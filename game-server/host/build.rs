//! Compiles the messages between WorldServer and hosts.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=proto");
    let descriptors = protox::compile(["ambit/host.proto"], ["proto", "../../proto/proto"])?;
    prost_build::Config::new()
        // Maps have an order that does not differ between runs: it reaches bytes and logs.
        .btree_map(["."])
        .extern_path(".ambit.world", "::ambit_proto::control::world")
        .compile_fds(descriptors)?;
    Ok(())
}
