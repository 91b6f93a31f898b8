//! What comes from others: licences, duplicate versions and sources of dependencies.
//!
//! `cargo deny` checks the same and the advisories, where it is installed (`tests/run`). These
//! tests need neither that tool nor the network. What is accepted stands in `.deny.toml`.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

use super::source::{read, root};

/// The only place where dependencies come from.
const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

#[test]
fn every_dependency_has_an_accepted_licence() {
    let allowed = quoted_in_list("allow");
    assert!(allowed.contains("MIT"), "{allowed:?}");
    let mut problems = Vec::new();
    let packages = packages_of_this_platform();
    for package in &packages {
        let name = package["name"].as_str().expect("a name");
        let licence = package["license"].as_str().unwrap_or("none");
        if !is_accepted(licence, &allowed) {
            problems.push(format!("{name}: {licence}"));
        }
    }
    assert!(packages.len() > 100, "{} packages", packages.len());
    assert!(
        problems.is_empty(),
        "licences that `allow` in .deny.toml does not have: {problems:#?}"
    );
}

#[test]
fn a_licence_is_accepted_if_one_of_its_alternatives_is() {
    let allowed = ["MIT", "Zlib"].map(str::to_owned).into();
    for (licence, expected) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("none", false),
        ("MIT OR GPL-3.0", true),
        ("GPL-3.0/MIT", true),
        ("MIT AND GPL-3.0", false),
        ("MIT AND Zlib", true),
        ("(GPL-3.0 OR MIT) AND Zlib", true),
        ("(GPL-3.0 OR MIT) AND ISC", false),
        ("GPL-3.0 AND MIT OR Zlib", true),
        ("MIT WITH LLVM-exception", true),
    ] {
        assert_eq!(is_accepted(licence, &allowed), expected, "{licence}");
    }
}

#[test]
fn each_duplicate_version_is_accepted_with_a_reason() {
    let accepted: BTreeSet<(String, String)> = quoted_in_list("skip")
        .iter()
        .filter_map(|entry| entry.split_once('@'))
        .map(|(name, version)| (name.to_owned(), version.to_owned()))
        .collect();
    let mut versions: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, version) in locked_packages() {
        versions.entry(name).or_default().push(version);
    }
    let mut unused = accepted.clone();
    let mut problems = Vec::new();
    for (name, versions) in versions.iter().filter(|(_, versions)| versions.len() > 1) {
        let mut left = versions.clone();
        for entry in accepted.iter().filter(|(accepted, _)| accepted == name) {
            let before = left.len();
            left.retain(|version| !version.starts_with(&format!("{}.", entry.1)));
            if left.len() < before {
                unused.remove(entry);
            }
        }
        if left.len() > 1 {
            problems.push(format!("{name}: {left:?}"));
        }
    }
    assert!(
        problems.is_empty(),
        "several versions; `cargo tree -i NAME@VERSION` says who needs which. Update one, or add \
         the older one to `skip` in .deny.toml, with a reason: {problems:#?}"
    );
    assert!(
        unused.is_empty(),
        "`skip` in .deny.toml names versions that are not duplicates: {unused:?}"
    );
}

#[test]
fn all_dependencies_come_from_crates_io() {
    let lock = read(&root().join("Cargo.lock"));
    let sources: BTreeSet<&str> = lock
        .lines()
        .filter_map(|line| line.strip_prefix("source = \"")?.strip_suffix('"'))
        .collect();
    assert_eq!(sources, [CRATES_IO].into());
}

/// The packages that a build on this machine uses, which it has downloaded.
fn packages_of_this_platform() -> Vec<Value> {
    let run = |program: &str, arguments: &[&str]| {
        let output = Command::new(program)
            .args(arguments)
            .current_dir(root())
            .output()
            .expect("Rust is installed");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{arguments:?}: {errors}");
        output.stdout
    };
    let rustc = String::from_utf8(run("rustc", &["-vV"])).expect("text");
    let host = rustc.lines().find_map(|line| line.strip_prefix("host: "));
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let metadata = run(
        &cargo,
        &[
            "metadata",
            "--locked",
            "--offline",
            "--format-version=1",
            "--filter-platform",
            host.expect("the platform"),
        ],
    );
    let metadata: Value = serde_json::from_slice(&metadata).expect("JSON");
    metadata["packages"].as_array().expect("packages").clone()
}

/// Whether a licence expression (SPDX; or with `/` for `OR`, as older crates write it) can be
/// satisfied with these licences. An exception (`WITH`) only allows more.
fn is_accepted(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ");
    let spaced = spaced.replace('/', " OR ");
    let mut words = spaced.split_whitespace().peekable();
    let is_accepted = alternatives(&mut words, allowed);
    is_accepted && words.next().is_none()
}

type Words<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

fn alternatives(words: &mut Words<'_>, allowed: &BTreeSet<String>) -> bool {
    let mut is_accepted = all_of(words, allowed);
    while words.next_if_eq(&"OR").is_some() {
        is_accepted |= all_of(words, allowed);
    }
    is_accepted
}

fn all_of(words: &mut Words<'_>, allowed: &BTreeSet<String>) -> bool {
    let mut is_accepted = one(words, allowed);
    while words.next_if_eq(&"AND").is_some() {
        is_accepted &= one(words, allowed);
    }
    is_accepted
}

fn one(words: &mut Words<'_>, allowed: &BTreeSet<String>) -> bool {
    match words.next() {
        Some("(") => {
            let is_accepted = alternatives(words, allowed);
            is_accepted && words.next() == Some(")")
        }
        Some(licence) => {
            if words.next_if_eq(&"WITH").is_some() {
                words.next();
            }
            allowed.contains(licence)
        }
        None => false,
    }
}

/// The first quoted text of each line in a list of `.deny.toml`.
fn quoted_in_list(key: &str) -> BTreeSet<String> {
    let file = read(&root().join(".deny.toml"));
    let start = format!("\n{key} = [\n");
    let (_, rest) = file.split_once(&start).expect("the list");
    let (list, _) = rest.split_once("\n]").expect("the end of the list");
    list.lines().filter_map(|line| line.split('"').nth(1)).map(str::to_owned).collect()
}

/// Name and version of each package in the lock file.
fn locked_packages() -> Vec<(String, String)> {
    let lock = read(&root().join("Cargo.lock"));
    let value = |entry: &str, key: &str| {
        let mut lines = entry.lines();
        let found = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "));
        Some(found?.trim_matches('"').to_owned())
    };
    lock.split("[[package]]")
        .filter_map(|entry| Some((value(entry, "name")?, value(entry, "version")?)))
        .collect()
}
