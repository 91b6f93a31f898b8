//! What people install: packages of Rust, npm, Unity, Python and Unreal, and images of containers.
//! All have one version, and a package of Rust has what a registry and its licence ask for.
//! `deploy/make-packages` makes them.

use std::collections::BTreeMap;

use super::dependencies;
use super::source::{members, read, root};

/// Files that name the version, and what stands before it there.
const VERSIONED: [(&str, &str); 20] = [
    ("CHANGELOG.md", "\n## "),
    ("Cargo.toml", ", version = \"="),
    ("client-core/bevy/Cargo.toml", "\nversion = \""),
    ("client-core/draw/Cargo.toml", "\nversion = \""),
    ("client-core/ffi/csharp/package.json", "\"version\": \""),
    ("client-core/ffi/python/pyproject.toml", "\nversion = \""),
    ("client-core/ffi/unreal/AmbitClient/AmbitClient.uplugin", "\"VersionName\": \""),
    ("client-core/godot/Cargo.toml", "\nversion = \""),
    ("client-core/web/bindgen/Cargo.toml", "\nversion = \""),
    ("client-core/web/package-lock.json", "\n  \"version\": \""),
    ("client-core/web/package.json", "\"version\": \""),
    ("client-core/web/page/package-lock.json", "\n  \"version\": \""),
    ("client-core/web/page/package.json", "\"version\": \""),
    ("deploy/Dockerfile", "-t ambit/game-server:"),
    ("deploy/Dockerfile", "-t ambit/world-server:"),
    ("deploy/README.md", "-t ambit/game-server:"),
    ("deploy/README.md", "-t ambit/world-server:"),
    ("deploy/compose/compose.yaml", "image: ambit/world-server:"),
    ("deploy/kubernetes/fleet.yaml", "image: ambit/game-server:"),
    ("deploy/kubernetes/world-server.yaml", "image: ambit/world-server:"),
];

#[test]
fn all_packages_have_the_version_of_the_workspace() {
    let manifest = read(&root().join("Cargo.toml"));
    let (_, own) = manifest.split_once("\n[workspace.package]\nversion = \"").expect("a version");
    let own = version_at_the_start(own);
    for (path, before) in VERSIONED {
        let text = read(&root().join(path));
        let named: Vec<&str> = text.split(before).skip(1).map(version_at_the_start).collect();
        assert!(!named.is_empty(), "{path} has no {before:?}");
        // The page begins with the newest version; older ones follow.
        let named = if path == "CHANGELOG.md" { &named[..1] } else { &named[..] };
        assert!(named.iter().all(|it| *it == own), "{path}: {named:?}, the workspace: {own}");
    }
}

fn version_at_the_start(text: &str) -> &str {
    let is_part = |c: char| c.is_ascii_alphanumeric() || ".-+".contains(c);
    text.split(|c| !is_part(c)).next().unwrap_or_default()
}

#[test]
fn each_crate_is_published_with_all_that_belongs_to_it_or_not_at_all() {
    let manifest_of = |folder: &str| read(&root().join(folder).join("Cargo.toml"));
    let manifests: BTreeMap<String, String> =
        members().into_iter().map(|folder| (folder.clone(), manifest_of(&folder))).collect();
    let is_private = |manifest: &str| manifest.contains("\npublish = false\n");
    let private: Vec<&str> = manifests
        .values()
        .filter(|manifest| is_private(manifest))
        .filter_map(|manifest| manifest.split('"').nth(1))
        .collect();
    assert!(private.contains(&"ambit-tests"), "{private:?}");
    for (folder, manifest) in manifests.iter().filter(|(_, manifest)| !is_private(manifest)) {
        for key in ["version", "rust-version", "license", "keywords", "categories", "readme"] {
            let line = format!("\n{key}.workspace = true\n");
            assert!(manifest.contains(&line), "{folder} has no {key}, and no `publish = false`");
        }
        for key in ["description = ", "include"] {
            assert!(manifest.contains(&format!("\n{key}")), "{folder} has no {key}");
        }
        for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
            let copy = read(&root().join(folder).join(licence));
            assert_eq!(copy, read(&root().join(licence)), "{folder}/{licence}");
        }
        for name in dependencies(folder) {
            assert!(!private.contains(&&*name), "{folder} needs {name}, which is not published");
        }
    }
}
