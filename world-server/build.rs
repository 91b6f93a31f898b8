//! Compiles the records of a cluster's directory.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=proto");
    let descriptors = protox::compile(["ambit/directory.proto"], ["proto"])?;
    prost_build::Config::new()
        // Maps have an order that does not differ between runs: it reaches bytes and logs.
        .btree_map(["."])
        .compile_fds(descriptors)?;
    Ok(())
}
