//! The Rust types of the protobuf messages are committed, so that users need no protobuf compiler.
//! The test compiles the `.proto` files again and compares.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use ambit_tests::real::ScratchFolder;

use crate::source::{read, root};

/// The crate's folder, its `.proto` files, and other crates' packages with their Rust paths.
type Schema = (&'static str, &'static [&'static str], &'static [(&'static str, &'static str)]);

const SCHEMAS: [Schema; 3] = [
    ("proto", &["ambit/world.proto", "ambit/game.proto"], &[]),
    (
        "game-server/host-protocol",
        &["ambit/host.proto"],
        &[(".ambit.world", "::ambit_proto::control::world")],
    ),
    ("world-server/lobby", &["ambit/directory.proto"], &[]),
];

#[test]
fn the_generated_messages_are_those_of_the_proto_files() {
    for (folder, files, packages) in SCHEMAS {
        let includes = [root().join(folder).join("proto"), root().join("proto/proto")];
        let descriptors = protox::compile(files, includes).expect("the .proto files compile");
        // The committed files are in `src/generated`; the new ones are written to a scratch folder.
        let scratch = ScratchFolder::new("generated");
        let mut config = prost_build::Config::new();
        // Maps need an order that does not differ between runs: it reaches bytes and logs.
        config.btree_map(["."]).out_dir(scratch.path());
        for (package, path) in packages {
            config.extern_path(*package, *path);
        }
        config.compile_fds(descriptors).expect("messages are generated");
        let generated = contents(scratch.path());
        let committed_folder = root().join(folder).join("src/generated");
        if std::env::var_os("AMBIT_RENEW_GENERATED").is_some() {
            for (name, text) in &generated {
                fs::write(committed_folder.join(name), text).expect("the file can be written");
            }
        }
        let committed = contents(&committed_folder);
        assert_eq!(
            committed.keys().collect::<Vec<_>>(),
            generated.keys().collect::<Vec<_>>(),
            "the files in {} are not those of the .proto files",
            committed_folder.display()
        );
        for (name, text) in &generated {
            assert!(
                committed[name] == *text,
                "{}/{name} differs from its .proto file; run the test with AMBIT_RENEW_GENERATED=1",
                committed_folder.display()
            );
        }
    }
}

/// The texts of the files in a folder, by name.
fn contents(folder: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder).expect("the folder can be read").flatten();
    entries
        .map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            (name, read(&entry.path()))
        })
        .collect()
}
