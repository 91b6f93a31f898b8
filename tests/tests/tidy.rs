//! House rules that no compiler checks: dependencies between crates, a header on each module, the
//! files at the top level.

use std::fs;
use std::path::{Path, PathBuf};

/// The workspace crates that each crate may depend on.
const ALLOWED_DEPENDENCIES: [(&str, &[&str]); 5] = [
    ("proto", &[]),
    ("client-core", &["ambit-proto"]),
    ("game-server", &["ambit-proto"]),
    ("world-server", &["ambit-proto", "ambit-game-server"]),
    (
        "tests",
        &[
            "ambit-proto",
            "ambit-client-core",
            "ambit-game-server",
            "ambit-world-server",
        ],
    ),
];

#[test]
fn dependencies_between_crates_point_one_way() {
    for (folder, allowed) in ALLOWED_DEPENDENCIES {
        let manifest = read(&root().join(folder).join("Cargo.toml"));
        let ours = manifest.lines().filter_map(|line| {
            let name = line.split(['.', ' ', '=']).next()?;
            (name.starts_with("ambit-") && line.contains("workspace")).then_some(name)
        });
        for name in ours {
            assert!(
                allowed.contains(&name),
                "{folder} must not depend on {name}; allowed: {allowed:?}"
            );
        }
    }
}

#[test]
fn each_module_has_a_header() {
    for file in sources() {
        let text = read(&file);
        assert!(
            text.starts_with("//! ") || text.starts_with("#!"),
            "{} has no header",
            file.display()
        );
    }
}

#[test]
fn only_the_listed_files_are_at_the_top() {
    let known = [
        "Cargo.toml",
        "Cargo.lock",
        "README.md",
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "LICENSE-MIT",
        "LICENSE-APACHE",
        "clippy.toml",
        "rustfmt.toml",
        "proto",
        "game-server",
        "world-server",
        "client-core",
        "tests",
        "deploy",
        "docs",
        "target",
    ];
    for entry in fs::read_dir(root())
        .expect("the project's folder can be read")
        .flatten()
    {
        let name = entry.file_name().to_string_lossy().into_owned();
        assert!(
            name.starts_with('.') || known.contains(&name.as_str()),
            "{name} is not in the list of top-level files"
        );
    }
}

#[test]
fn cores_use_no_network_library_and_no_runtime() {
    let cores = [
        "proto/src/link",
        "proto/src/wire",
        "proto/src/message",
        "game-server/src/logic",
        "game-server/src/games",
        "game-server/src/network",
        "game-server/src/room.rs",
        "game-server/src/agones/report",
        "world-server/src/lobby",
        "client-core/src/client",
        "client-core/src/replica",
        "client-core/src/simulation",
    ];
    for file in sources() {
        let path = file
            .strip_prefix(root())
            .expect("below the root")
            .to_string_lossy()
            .into_owned();
        if !cores.iter().any(|core| path.starts_with(core)) {
            continue;
        }
        for word in [
            "quinn::",
            "tokio::",
            "actix::",
            "axum::",
            "std::net::UdpSocket",
            "std::thread::spawn",
            "SystemTime",
            "Instant::now",
        ] {
            let used = read(&file)
                .lines()
                .any(|line| line.contains(word) && !line.trim_start().starts_with("//"));
            assert!(!used, "{path} is a core and must not use {word}");
        }
    }
}

#[test]
fn the_architecture_page_names_files_that_exist() {
    for place in [
        "proto/src/wire",
        "proto/src/link",
        "game-server/src/network/interest",
        "world-server/src/lobby",
        "client-core/src/replica",
    ] {
        assert!(
            root().join(place).exists(),
            "ARCHITECTURE.md names {place}, which does not exist"
        );
    }
}

#[test]
fn each_invariant_names_tests_that_exist() {
    let architecture = read(&root().join("ARCHITECTURE.md"));
    let (_, rest) = architecture
        .split_once("## Invariants")
        .expect("a chapter of that name");
    let (invariants, _) = rest.split_once("\n## ").expect("another chapter follows");
    let tests: Vec<String> = sources().iter().map(|file| read(file)).collect();
    let mut named = 0;
    for word in invariants.split('`').filter(|word| word.contains('_')) {
        assert!(
            tests
                .iter()
                .any(|text| text.contains(&format!("fn {word}()"))),
            "there is no test {word}"
        );
        named += 1;
    }
    let numbered = invariants
        .lines()
        .filter(|line| {
            line.chars()
                .next()
                .is_some_and(|first| first.is_ascii_digit())
        })
        .count();
    assert!(named >= numbered, "{named} tests for {numbered} invariants");
}

#[test]
fn the_readme_lists_every_flag_of_the_server() {
    let readme = read(&root().join("README.md"));
    let output = ambit_tests::real::run(
        std::process::Command::new(ambit_tests::real::binary("world-server")).arg("--help"),
    )
    .expect("--help succeeds");
    let help = String::from_utf8_lossy(&output.stdout).into_owned();
    let flags = help
        .split_whitespace()
        .filter(|word| word.starts_with("--"))
        .map(|word| word.trim_end_matches(|c: char| !c.is_alphanumeric()));
    for flag in flags.filter(|flag| !["--help", "--version"].contains(flag) && flag.len() > 2) {
        assert!(readme.contains(flag), "the README does not mention {flag}");
    }
}

#[test]
fn the_game_in_the_readme_is_the_example_that_is_compiled() {
    let example = read(&root().join("world-server/examples/stroll.rs"));
    let (_, code) = example.split_once("\n\n").expect("a header, then the code");
    assert!(
        read(&root().join("README.md")).contains(code),
        "README.md and world-server/examples/stroll.rs differ"
    );
}

#[test]
fn the_readme_lists_every_parameter_of_a_room() {
    let readme = read(&root().join("README.md"));
    let registry = ambit_game_server::standard();
    let games = registry.games().flat_map(|game| game.parameters);
    for parameter in ambit_room::config::ROOM_PARAMETERS.iter().chain(games) {
        assert!(
            readme.contains(&format!("`{}`", parameter.key)),
            "the README does not mention the parameter {}",
            parameter.key
        );
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the workspace")
        .to_path_buf()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All Rust files of the workspace.
fn sources() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders: Vec<PathBuf> = ALLOWED_DEPENDENCIES
        .iter()
        .map(|(folder, _)| root().join(folder))
        .collect();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)
            .expect("a folder of the project can be read")
            .flatten()
        {
            let path = entry.path();
            if path.is_dir() && entry.file_name() != "target" {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files
}
