//! The header is that of the functions.

use std::path::Path;

use cbindgen::{Builder, Config};

const FILE: &str = "include/ambit_client.h";

/// `AMBIT_RENEW_HEADER=1` writes the file.
#[test]
fn the_header_is_that_of_the_functions() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = Config::from_file(folder.join("cbindgen.toml")).expect("a configuration");
    let sources =
        ["exports.rs", "status.rs", "structs.rs"].map(|name| folder.join("src").join(name));
    let rows = folder.join("../boundary/src/frame_arrays.rs");
    let mut builder = Builder::new().with_config(config).with_src(rows);
    for source in sources {
        builder = builder.with_src(source);
    }
    let mut header = Vec::new();
    builder.generate().expect("sources that can be read").write(&mut header);
    let header = String::from_utf8(header).expect("a text");
    let path = folder.join(FILE);
    if std::env::var_os("AMBIT_RENEW_HEADER").is_some() {
        std::fs::write(&path, &header).expect("the file can be written");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == header, "{FILE} is stale; run this test with AMBIT_RENEW_HEADER=1");
}
