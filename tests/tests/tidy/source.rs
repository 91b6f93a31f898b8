//! Reads the project's files for the house rules: product code without its tests, names, uses.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A Rust file of the project.
pub(crate) struct Source {
    /// Relative to the project's folder, with `/`.
    pub path: String,
    pub text: String,
}

impl Source {
    pub(crate) fn is_markdown(&self) -> bool {
        Path::new(&self.path).extension().is_some_and(|extension| extension == "md")
    }
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").to_path_buf()
}

pub(crate) fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All files of the project whose names end in one of `endings`, sorted, without generated ones.
pub(crate) fn files(endings: &[&str]) -> Vec<Source> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the project can be read").flatten() {
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            if path.is_dir() {
                if !["target", "node_modules", "generated"].contains(&name.as_str())
                    && !name.starts_with('.')
                {
                    folders.push(path);
                }
            } else if endings.iter().any(|ending| name.ends_with(ending)) {
                let relative = path.strip_prefix(root()).expect("below the root");
                let relative = relative.to_string_lossy().replace('\\', "/");
                found.insert(relative, read(&path));
            }
        }
    }
    found.into_iter().map(|(path, text)| Source { path, text }).collect()
}

/// Crates with a workspace of their own, so that the others build without what they need.
pub(crate) const APART: [&str; 3] = ["client-core/bevy", "client-core/draw", "client-core/godot"];

/// The folders of the workspace's crates.
pub(crate) fn members() -> Vec<String> {
    let manifest = read(&root().join("Cargo.toml"));
    let (_, rest) = manifest.split_once("members = [").expect("a list of members");
    let list = rest.split(']').next().unwrap_or_default();
    list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Whether the whole file is test code, which may repeat type names and is not checked for cycles.
pub(crate) fn is_test(path: &str) -> bool {
    path.split('/').any(|part| {
        matches!(part, "tests" | "benches" | "examples" | "fuzz_targets")
            || part == "tests.rs"
            || part.ends_with("_tests.rs")
    })
}

/// All files with product code.
pub(crate) fn product() -> Vec<Source> {
    files(&[".rs"])
        .into_iter()
        .filter(|source| !is_test(&source.path))
        .map(|source| Source { text: without_tests(&source.text), path: source.path })
        .collect()
}

/// The comments of Rust or TypeScript, without code. Takes `//` in a text for a comment, too.
pub(crate) fn comments(text: &str) -> String {
    let mut found = String::new();
    let mut in_block = false;
    for mut line in text.lines() {
        loop {
            if in_block {
                let Some((comment, code)) = line.split_once("*/") else {
                    found.push_str(line);
                    break;
                };
                found.push_str(comment);
                found.push('\n');
                in_block = false;
                line = code;
            }
            let begin = line.find("//").into_iter().chain(line.find("/*")).min();
            let Some(begin) = begin else { break };
            in_block = line[begin..].starts_with("/*");
            line = &line[begin + 2..];
            if !in_block {
                found.push_str(line);
                break;
            }
        }
        found.push('\n');
    }
    found
}

/// Removes comments and items with `#[cfg(test)]`. Relies on rustfmt's indentation.
pub(crate) fn without_tests(text: &str) -> String {
    let mut kept = String::new();
    let mut skip_until: Option<String> = None;
    let mut next_is_test = false;
    for line in text.lines() {
        let indent = &line[..line.len() - line.trim_start().len()];
        let code = line.trim();
        if let Some(end) = &skip_until {
            if line.starts_with(end.as_str())
                && line[end.len()..].trim_end_matches([';', ',']).is_empty()
            {
                skip_until = None;
            }
            continue;
        }
        if code.starts_with("//") {
            continue;
        }
        if code.starts_with("#[cfg(test)]") || code.starts_with("#[cfg(any(test") {
            next_is_test = true;
            continue;
        }
        if next_is_test {
            if code.starts_with("#[") {
                continue;
            }
            next_is_test = false;
            if code.ends_with('{') || code.ends_with('(') {
                let close = if code.ends_with('{') { "}" } else { ")" };
                skip_until = Some(format!("{indent}{close}"));
            }
            continue;
        }
        kept.push_str(line);
        kept.push('\n');
    }
    kept
}

/// A line of code without its indentation and its `pub` or `pub(...)`.
pub(crate) fn without_visibility(line: &str) -> &str {
    let code = line.trim_start();
    let Some(rest) = code.strip_prefix("pub") else {
        return code;
    };
    match rest.strip_prefix('(') {
        Some(scope) => scope.split_once(')').map_or(code, |(_, item)| item.trim_start()),
        None if rest.starts_with(char::is_whitespace) => rest.trim_start(),
        None => code,
    }
}

/// The names of the types that `text` defines.
pub(crate) fn types(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut in_impl = None;
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        if let Some(depth) = in_impl {
            if indent == depth && line.trim_start().starts_with('}') {
                in_impl = None;
            }
            continue; // Associated types of traits belong to the trait.
        }
        let code = line.trim_start();
        if code.starts_with("impl") || code.starts_with("unsafe impl") {
            if !code.ends_with("{}") {
                in_impl = Some(indent);
            }
            continue;
        }
        let code = without_visibility(code);
        for word in ["struct ", "enum ", "trait ", "union ", "type "] {
            if let Some(rest) = code.strip_prefix(word) {
                let is_part = |c: &char| c.is_alphanumeric() || *c == '_';
                names.push(rest.chars().take_while(is_part).collect::<String>());
            }
        }
    }
    names.retain(|name| !name.is_empty()); // Defined by a macro.
    names
}

/// All ways to say who sees an item.
pub(crate) const VISIBILITIES: [&str; 6] =
    ["", "pub ", "pub(crate) ", "pub(super) ", "pub(in crate) ", "pub(in crate::lobby::rooms) "];

#[test]
fn types_of_any_visibility_are_found() {
    for visibility in VISIBILITIES {
        for word in ["struct", "enum", "trait", "union", "type"] {
            let text = format!("{visibility}{word} Seat {{\n    taken: bool,\n}}\n");
            assert_eq!(types(&text), ["Seat"], "{text}");
        }
    }
}

#[test]
fn a_name_that_begins_with_pub_is_no_visibility() {
    assert_eq!(without_visibility("    public_parameters(room)"), "public_parameters(room)");
    assert_eq!(without_visibility("pub(crate) fn open()"), "fn open()");
}
