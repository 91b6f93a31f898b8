//! The Rust types of the protobuf messages are committed, so that users need no protobuf compiler.
//! The test compiles the `.proto` files again and compares.

use std::fs;

use ambit_tests::real::ScratchFolder;

use crate::source::{read, root};

/// The crate's folder, its `.proto` files, and other crates' packages with their Rust paths.
type Schema = (
    &'static str,
    &'static [&'static str],
    &'static [(&'static str, &'static str)],
);

const SCHEMAS: [Schema; 3] = [
    ("proto", &["ambit/world.proto", "ambit/game.proto"], &[]),
    (
        "game-server/host",
        &["ambit/host.proto"],
        &[(".ambit.world", "::ambit_proto::control::world")],
    ),
    ("world-server", &["ambit/directory.proto"], &[]),
];

#[test]
fn the_generated_messages_are_those_of_the_proto_files() {
    for (folder, files, packages) in SCHEMAS {
        let includes = [
            root().join(folder).join("proto"),
            root().join("proto/proto"),
        ];
        let descriptors = protox::compile(files, includes).expect("the .proto files compile");
        // `include!` finds the files below `src`; a scratch folder takes what is compiled now.
        let scratch = ScratchFolder::new("generated");
        let mut config = prost_build::Config::new();
        // Maps need an order that does not differ between runs: it reaches bytes and logs.
        config.btree_map(["."]).out_dir(scratch.path());
        for (package, path) in packages {
            config.extern_path(*package, *path);
        }
        config
            .compile_fds(descriptors)
            .expect("messages are generated");
        for entry in fs::read_dir(scratch.path()).expect("readable").flatten() {
            let generated = read(&entry.path());
            let path = root()
                .join(folder)
                .join("src/generated")
                .join(entry.file_name());
            if std::env::var_os("AMBIT_RENEW_GENERATED").is_some() {
                fs::write(&path, &generated).expect("the file can be written");
            }
            assert!(
                fs::read_to_string(&path).is_ok_and(|committed| committed == generated),
                "{} differs from its .proto file; run the test with AMBIT_RENEW_GENERATED=1",
                path.display()
            );
        }
    }
}
