//! House rules that no compiler checks: dependencies between crates and files, words and names, a
//! header on each module, the files at the top level, what the documentation names.

mod bundle;
mod cores;
mod cycles;
mod generated;
mod packages;
mod pages;
mod sleeps;
mod source;
mod third_party;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use source::{APART, files, members, read, root};

/// The workspace crates that each crate may depend on; `tests` may depend on all.
const ALLOWED_DEPENDENCIES: &[(&str, &[&str])] = &[
    ("proto", &[]),
    ("proto/training", &["ambit-proto"]),
    ("proto/steering", &["ambit-proto"]),
    ("proto/endpoint", &["ambit-proto", "ambit-transport"]),
    ("proto/transport", &["ambit-proto"]),
    ("game-server/room", &["ambit-proto", "ambit-steering"]),
    (
        "game-server/host",
        &[
            "ambit-endpoint",
            "ambit-host-core",
            "ambit-host-protocol",
            "ambit-proto",
            "ambit-room",
            "ambit-transport",
        ],
    ),
    (
        "game-server/host-core",
        &["ambit-host-protocol", "ambit-proto", "ambit-room", "ambit-transport"],
    ),
    ("game-server/host-protocol", &["ambit-proto", "ambit-room"]),
    (
        "game-server/ambit",
        &[
            "ambit-bots-lib",
            "ambit-client-core",
            "ambit-client-text",
            "ambit-console-lib",
            "ambit-game-macros",
            "ambit-host",
            "ambit-proto",
            "ambit-room",
            "ambit-steering",
            "ambit-transport",
            "ambit-world-server",
        ],
    ),
    ("game-server/ambit/macros", &[]),
    ("game-server/ambit/messages", &[]),
    ("game-server/games/field", &["ambit-game", "ambit-ways"]),
    ("game-server/games/deus", &["ambit-game", "ambit-ways"]),
    ("game-server/games/hamlet", &["ambit-game"]),
    ("game-server/games/ways", &["ambit-game"]),
    ("game-server/games/cubes", &["ambit-cubes-physics", "ambit-game"]),
    ("game-server/games/cubes/physics", &["ambit-proto"]),
    ("game-server/games/shooter", &["ambit-game", "ambit-shooter-kinds"]),
    ("game-server/games/shooter/kinds", &["ambit-game"]),
    (
        "game-server",
        &[
            "ambit-cubes",
            "ambit-deus",
            "ambit-field",
            "ambit-game",
            "ambit-hamlet",
            "ambit-host",
            "ambit-room",
            "ambit-shooter",
        ],
    ),
    ("world-server/store", &["ambit-proto"]),
    (
        "world-server",
        &[
            "ambit-endpoint",
            "ambit-host",
            "ambit-host-protocol",
            "ambit-lobby",
            "ambit-proto",
            "ambit-room",
            "ambit-store",
            "ambit-transport",
        ],
    ),
    (
        "world-server/lobby",
        &["ambit-host-protocol", "ambit-proto", "ambit-room", "ambit-store", "ambit-transport"],
    ),
    ("world-server/program", &["ambit-game", "ambit-game-server"]),
    ("client-core", &["ambit-proto", "ambit-steering", "ambit-transport"]),
    (
        "client-core/client",
        &["ambit-client-core", "ambit-proto", "ambit-steering", "ambit-transport"],
    ),
    ("client-core/text", &["ambit-client-core", "ambit-proto", "ambit-transport"]),
    (
        "client-core/console",
        &[
            "ambit-client-core",
            "ambit-client-text",
            "ambit-proto",
            "ambit-steering",
            "ambit-transport",
        ],
    ),
    (
        "client-core/console/program",
        &["ambit-console-lib", "ambit-cubes-physics", "ambit-shooter-kinds"],
    ),
    (
        "client-core/bots",
        &[
            "ambit-client-core",
            "ambit-client-text",
            "ambit-cubes-physics",
            "ambit-proto",
            "ambit-steering",
            "ambit-transport",
        ],
    ),
    ("client-core/bots/program", &["ambit-bots-lib", "ambit-cubes-physics", "ambit-shooter-kinds"]),
    (
        "client-core/boundary",
        &[
            "ambit-client-core",
            "ambit-client-text",
            "ambit-proto",
            "ambit-shooter-kinds",
            "ambit-steering",
        ],
    ),
    (
        "client-core/ffi",
        &[
            "ambit-client-boundary",
            "ambit-client-core",
            "ambit-proto",
            "ambit-steering",
            "ambit-transport",
        ],
    ),
    ("client-core/ffi/library", &["ambit-client-ffi"]),
    ("client-core/bevy", &["ambit-client"]),
    ("client-core/draw", &["ambit-client", "ambit-shooter-kinds"]),
    (
        "client-core/godot",
        &["ambit-client-boundary", "ambit-client-core", "ambit-client-ffi", "ambit-proto"],
    ),
    (
        "client-core/web",
        &["ambit-client-boundary", "ambit-client-core", "ambit-proto", "ambit-web-physics"],
    ),
    ("client-core/web/physics", &["ambit-proto"]),
    ("client-core/web/physics/cubes", &["ambit-cubes-physics", "ambit-proto", "ambit-web-physics"]),
];

/// The dependencies of a manifest, without those of tests.
fn dependencies(folder: &str) -> Vec<String> {
    let manifest = read(&root().join(folder).join("Cargo.toml"));
    // Those of one kind of system, too.
    let is_list = |section: &&str| {
        let name = section.split(']').next().unwrap_or_default();
        name == "dependencies" || name.starts_with("target.") && name.ends_with(".dependencies")
    };
    let lists = manifest.split("\n[").filter(is_list);
    lists
        .flat_map(|list| list.lines().skip(1))
        .filter_map(|line| line.split(['.', ' ', '=']).next())
        .filter(|name| !name.is_empty() && !name.starts_with('#'))
        .map(str::to_owned)
        .collect()
}

#[test]
fn dependencies_between_crates_point_one_way() {
    for (folder, allowed) in ALLOWED_DEPENDENCIES {
        for name in dependencies(folder).iter().filter(|name| name.starts_with("ambit-")) {
            assert!(
                allowed.contains(&name.as_str()),
                "{folder} must not depend on {name}; allowed: {allowed:?}"
            );
        }
    }
    let listed: BTreeSet<&str> = ALLOWED_DEPENDENCIES.iter().map(|(folder, _)| *folder).collect();
    let members = members();
    let members = members.iter().map(String::as_str).filter(|folder| *folder != "tests");
    assert_eq!(listed, members.chain(APART).collect(), "the crates of the project");
}

/// The fuzz targets and the crates apart have lock files of their own.
#[test]
fn the_other_lock_files_have_the_crates_dependencies() {
    for apart in APART.iter().chain(&["tests/fuzz"]) {
        check_lock_file(apart);
    }
}

fn check_lock_file(apart: &str) {
    let lock = read(&root().join(apart).join("Cargo.lock"));
    for (folder, _) in ALLOWED_DEPENDENCIES.iter().chain(&[("tests", &[][..])]) {
        // Of a crate apart, its lock file has the dependencies of its tests, too.
        if *folder == apart {
            continue;
        }
        let manifest = read(&root().join(folder).join("Cargo.toml"));
        let name = manifest.lines().find(|line| line.starts_with("name = "));
        let name = name.expect("a name");
        // Not all crates are part of it; optional dependencies need not be.
        if let Some(locked) = locked_dependencies(&lock, name) {
            let given: BTreeSet<String> = dependencies(folder).into_iter().collect();
            let optional: BTreeSet<String> = optional_dependencies(&manifest).collect();
            assert_eq!(
                &locked - &optional,
                &given - &optional,
                "{name} in {apart}/Cargo.lock; `cargo metadata` in {apart} renews it"
            );
        }
    }
}

fn optional_dependencies(manifest: &str) -> impl Iterator<Item = String> {
    let optional = manifest.lines().filter(|line| line.contains("optional = true"));
    optional.filter_map(|line| Some(line.split([' ', '.', '=']).next()?.to_owned()))
}

/// The direct dependencies of a package in a Cargo.lock, if it has the package. `name` is the
/// package's line in its manifest.
fn locked_dependencies(lock: &str, name: &str) -> Option<BTreeSet<String>> {
    let entry = lock.split("[[package]]\n").find(|entry| entry.lines().next() == Some(name))?;
    let list = entry.split_once("dependencies = [").map_or("", |(_, list)| list);
    // A line is ` "name",`, or ` "name version",` if there are several versions.
    let names =
        list.lines().filter_map(|line| line.trim().strip_prefix('"')?.split(['"', ' ']).next());
    Some(names.map(str::to_owned).collect())
}

#[test]
fn only_games_depend_on_a_physics_engine() {
    let crates = ALLOWED_DEPENDENCIES.iter().map(|(folder, _)| folder);
    for folder in crates.filter(|folder| !folder.starts_with("game-server/games/")) {
        let rapier = dependencies(folder).into_iter().find(|name| name.starts_with("rapier"));
        assert_eq!(rapier, None, "{folder} must not depend on a physics engine");
    }
}

#[test]
fn each_module_has_a_header() {
    for source::Source { path, text } in files(&[".rs"]) {
        assert!(text.starts_with("//! ") || text.starts_with("#!"), "{path} has no header");
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
    for entry in fs::read_dir(root()).expect("the project's folder can be read").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        assert!(
            name.starts_with('.') || known.contains(&name.as_str()),
            "{name} is not in the list of top-level files"
        );
    }
}

/// The simulator's TLS protects nothing, so that its runs can be repeated.
#[test]
fn the_simulator_s_tls_is_in_no_package_that_is_shipped() {
    let shipped = ALLOWED_DEPENDENCIES.iter().map(|(folder, _)| folder);
    for folder in shipped {
        let needs_tests = dependencies(folder).iter().any(|name| name == "ambit-tests");
        assert!(!needs_tests, "{folder} must not depend on the tests");
    }
    // What a random source or a key exchange of one's own goes through.
    let names = [concat!("kx_", "groups"), concat!("secure_", "random:")];
    let sources = files(&[".rs"]);
    let found = sources.iter().filter(|source| names.iter().any(|name| source.text.contains(name)));
    let found: Vec<&str> = found.map(|source| source.path.as_str()).collect();
    assert_eq!(found, ["tests/src/sim/quic/seeded_tls.rs"]);
}

#[test]
fn the_client_s_core_needs_no_more_than_these_libraries() {
    const LIBRARIES: [&str; 12] = [
        "ambit-proto",
        "ambit-steering",
        "backon",
        "bytes",
        // Four that write code, and are not in the program.
        "delegate",
        "derive-where",
        "derive_more",
        "enum-as-inner",
        "fastrand",
        "prost",
        "serde",
        "thiserror",
    ];
    let manifest = read(&root().join("client-core/Cargo.toml"));
    let optional: Vec<&str> = manifest
        .lines()
        .filter(|line| line.contains("optional = true"))
        .filter_map(|line| line.split(['.', ' ', '=']).next())
        .collect();
    for name in dependencies("client-core") {
        assert!(
            LIBRARIES.contains(&&*name) || optional.contains(&&*name),
            "client-core needs {name} without its shell"
        );
    }
}

/// The words in `backquotes` of a text.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[test]
fn the_architecture_page_is_short() {
    let architecture = read(&root().join("ARCHITECTURE.md"));
    assert!(architecture.lines().count() <= 200, "ARCHITECTURE.md has at most 200 lines");
}

#[test]
fn files_that_a_page_names_exist() {
    let folders =
        ["proto/", "game-server/", "world-server/", "client-core/", "tests/", "docs/", "deploy/"];
    let mut named = BTreeMap::new();
    for page in files(&[".md"]) {
        // What was removed since is named in the changes.
        if page.path.ends_with("CHANGELOG.md") {
            continue;
        }
        for quoted in quoted(&page.text) {
            // Of a command, the program; of a pattern, the folder.
            let place = quoted.split([' ', '{', '*', '<']).next().unwrap_or_default();
            // Made on the spot, and not part of the repository.
            let is_made = place.starts_with("deploy/secrets/");
            if !is_made && folders.iter().any(|folder| place.starts_with(folder)) {
                // Of this project, or of the one that authors of games copy.
                let exists = ["", "game-server/ambit/starter"]
                    .iter()
                    .any(|folder| root().join(folder).join(place).exists());
                assert!(exists, "{}: {quoted}", page.path);
                *named.entry(page.path.clone()).or_insert(0) += 1;
            }
        }
    }
    assert!(named.contains_key("ARCHITECTURE.md"), "{named:?}");
    assert!(named.values().sum::<i32>() > 50, "{named:?}");
}

#[test]
fn each_invariant_names_tests_that_exist() {
    let mut tests = Vec::new();
    for source in files(&[".rs"]) {
        let mut is_test = false;
        for line in source.text.lines().map(str::trim) {
            if line.starts_with("#[") {
                is_test |= line.contains("test]") || line.contains("test(");
            } else {
                let code = line.trim_start_matches("async ");
                if let Some(name) = code.strip_prefix("fn ").filter(|_| is_test) {
                    tests.push(name.split('(').next().unwrap_or_default().to_owned());
                }
                is_test = line.starts_with("//") && is_test;
            }
        }
    }
    for page in files(&[".md"]) {
        let Some((_, rest)) =
            page.text.split_once("## Invariants").or_else(|| page.text.split_once("## Promises"))
        else {
            continue;
        };
        let invariants = rest.split("\n## ").next().unwrap_or_default();
        let mut named = 0;
        for word in quoted(invariants) {
            let is_name = word.len() > 20
                && word.chars().all(|c| c.is_lowercase() || "_0123456789".contains(c));
            if is_name {
                assert!(
                    tests.iter().any(|test| test == word),
                    "{}: there is no test {word}",
                    page.path
                );
                named += 1;
            }
        }
        assert!(named > 0, "the invariants of {} name no test", page.path);
    }
}
