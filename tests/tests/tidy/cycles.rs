//! Computes which file imports names from which other file, and finds import cycles in a crate.
//!
//! An import from an ancestor module does not count: a submodule may use the names of its parents.

use std::collections::{BTreeMap, BTreeSet};

use super::source::{Source, VISIBILITIES, without_visibility};

/// One crate's modules: the path of each (`["link", "budget"]`) and its file.
pub(crate) struct Modules<'a> {
    files: BTreeMap<Vec<String>, &'a Source>,
}

impl<'a> Modules<'a> {
    /// Collects the modules of a crate. `folder` is its `src/`, with a slash at the end.
    pub(crate) fn of(folder: &str, sources: &'a [Source]) -> Modules<'a> {
        let mut files = BTreeMap::new();
        for source in sources {
            let Some(relative) = source.path.strip_prefix(folder) else {
                continue;
            };
            let stem = relative.trim_end_matches(".rs").trim_end_matches("/mod");
            let mut path: Vec<String> = stem.split('/').map(str::to_owned).collect();
            if matches!(stem, "lib" | "main") {
                path.clear();
            }
            files.insert(path, source);
        }
        Modules { files }
    }

    /// The import cycles: each a sorted list of files that import from each other.
    pub(crate) fn cycles(&self) -> Vec<Vec<String>> {
        let imports: BTreeMap<&Vec<String>, BTreeSet<Vec<String>>> = self
            .files
            .iter()
            .map(|(module, source)| (module, self.imports(module, source)))
            .collect();
        let reach = |from: &Vec<String>| {
            let mut seen: BTreeSet<&Vec<String>> = BTreeSet::new();
            let mut open = vec![from];
            while let Some(module) = open.pop() {
                for next in &imports[module] {
                    let (next, _) = self
                        .files
                        .get_key_value(next)
                        .expect("an import refers to a file of the crate");
                    if seen.insert(next) {
                        open.push(next);
                    }
                }
            }
            seen
        };
        let reached: BTreeMap<&Vec<String>, BTreeSet<&Vec<String>>> =
            self.files.keys().map(|module| (module, reach(module))).collect();
        let mut cycles = BTreeSet::new();
        for (module, seen) in &reached {
            if seen.contains(module) {
                let members = seen.iter().filter(|other| reached[**other].contains(*module));
                cycles.insert(members.map(|other| self.files[*other].path.clone()).collect());
            }
        }
        cycles.into_iter().collect()
    }

    /// The modules from which `module` imports a name.
    pub(crate) fn imports(&self, module: &[String], source: &Source) -> BTreeSet<Vec<String>> {
        let mut found = BTreeSet::new();
        for path in paths(&source.text) {
            if let Some(target) = self.resolve(module, &path, 0)
                && !module.starts_with(&target)
            {
                found.insert(target);
            }
        }
        found
    }

    /// The module that defines the item at `path`, as seen from `module`; none if it is in another
    /// crate.
    fn resolve(&self, module: &[String], path: &[String], depth: usize) -> Option<Vec<String>> {
        let mut at: Vec<String> = module.to_vec();
        let mut rest = path;
        match rest.first()?.as_str() {
            "crate" => at.clear(),
            "self" => {}
            "super" => {
                at.pop()?;
            }
            child => {
                at.push(child.to_owned());
                if !self.files.contains_key(&at) {
                    return None; // Another crate, or something in scope.
                }
            }
        }
        rest = &rest[1..];
        while let Some(word) = rest.first() {
            if word == "super" {
                at.pop()?;
            } else {
                at.push(word.clone());
                if !self.files.contains_key(&at) {
                    at.pop();
                    break;
                }
            }
            rest = &rest[1..];
        }
        let source = self.files.get(&at)?;
        let item = rest.first()?; // The path names only a module.
        if item == "*" || defines(&source.text, item) || depth > 8 {
            return Some(at);
        }
        // Follow a re-export to the module with the definition.
        for used in uses(&source.text) {
            if used.last() == Some(item) || used.last().is_some_and(|last| last == "*") {
                let mut full = used.clone();
                if used.last().is_some_and(|last| last == "*") {
                    full.pop();
                    full.push(item.clone());
                }
                if full != path
                    && let Some(target) = self.resolve(&at, &full, depth + 1)
                {
                    return Some(target);
                }
            }
        }
        None
    }
}

fn defines(text: &str, item: &str) -> bool {
    const WORDS: [&str; 9] =
        ["struct", "enum", "trait", "type", "fn", "const", "static", "union", "macro_rules!"];
    text.lines().map(without_visibility).any(|code| {
        WORDS.iter().any(|word| {
            code.split_once(&format!("{word} ")).is_some_and(|(before, after)| {
                let name: String =
                    after.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                name == item && before.chars().all(|c| c.is_alphanumeric() || " _\"".contains(c))
            })
        })
    })
}

/// The paths of all `use` items, with groups expanded and without `as` names.
fn uses(text: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if let Some(tree) = without_visibility(line).strip_prefix("use ") {
            let item = &text[start + (line.len() - tree.len())..];
            let end = item.find(';').unwrap_or(item.len());
            let tree: String = item[..end].split_whitespace().collect::<Vec<_>>().join(" ");
            flatten(&tree, &mut Vec::new(), &mut found);
        }
        start += line.len();
    }
    found
}

fn flatten(tree: &str, prefix: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
    let tree = tree.trim();
    if let Some(open) = tree.find('{') {
        let head = tree[..open].trim().trim_end_matches("::");
        let before = prefix.len();
        prefix.extend(head.split("::").filter(|word| !word.is_empty()).map(str::to_owned));
        let inner = &tree[open + 1..tree.rfind('}').unwrap_or(tree.len())];
        for part in split_top(inner) {
            flatten(&part, prefix, found);
        }
        prefix.truncate(before);
    } else {
        let name = tree.split(" as ").next().unwrap_or_default().trim();
        if name.is_empty() {
            return;
        }
        let mut path = prefix.clone();
        path.extend(name.split("::").map(|word| word.trim().to_owned()));
        if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        found.push(path);
    }
}

fn split_top(text: &str) -> Vec<String> {
    let (mut parts, mut depth, mut part) = (Vec::new(), 0, String::new());
    for c in text.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(std::mem::take(&mut part));
                continue;
            }
            _ => {}
        }
        part.push(c);
    }
    parts.push(part);
    parts
}

/// All paths of a file: those of its `use` items, and those written out in its code. A name that
/// was imported as a module (`use super::format;`) is resolved to its full path.
fn paths(text: &str) -> Vec<Vec<String>> {
    let imported = uses(text);
    let mut found = imported.clone();
    let mut word = String::new();
    let mut path: Vec<String> = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
        } else if c == ':' && chars.peek() == Some(&':') && !word.is_empty() {
            chars.next();
            path.push(std::mem::take(&mut word));
        } else {
            if !word.is_empty() && !path.is_empty() {
                path.push(std::mem::take(&mut word));
                let whole = imported
                    .iter()
                    .find(|used| used.last() == path.first())
                    .map(|used| used.iter().chain(&path[1..]).cloned().collect());
                found.push(whole.unwrap_or_else(|| path.clone()));
            }
            word.clear();
            path.clear();
        }
    }
    found
}

fn cycles_of(files: &[(&str, String)]) -> Vec<Vec<String>> {
    let sources: Vec<Source> = files
        .iter()
        .map(|(name, text)| Source { path: format!("core/src/{name}.rs"), text: text.clone() })
        .collect();
    Modules::of("core/src/", &sources).cycles()
}

#[test]
fn files_that_import_from_each_other_are_found() {
    for visibility in VISIBILITIES {
        for item in ["struct Room {", "enum Room {", "type Room = u8;", "const Room: u8 = 0;"] {
            let files = [
                ("lobby", String::new()),
                ("lobby/rooms", format!("use crate::lobby::hosts::place;\n\n{visibility}{item}\n")),
                (
                    "lobby/hosts",
                    format!(
                        "use crate::lobby::rooms::Room;\n\n{visibility}async fn place() {{}}\n"
                    ),
                ),
            ];
            let expected = ["core/src/lobby/hosts.rs", "core/src/lobby/rooms.rs"];
            assert_eq!(cycles_of(&files), [expected], "{files:?}");
        }
    }
}

#[test]
fn an_import_through_a_re_export_counts_for_the_file_with_the_item() {
    for visibility in VISIBILITIES {
        let files = [
            ("lobby", format!("{visibility}use rooms::{{\n    Room,\n    Seat,\n}};\n")),
            ("lobby/rooms", "use super::hosts::Host;\npub struct Room;\n".to_owned()),
            ("lobby/hosts", "use super::Room;\npub struct Host(Room);\n".to_owned()),
        ];
        let expected = ["core/src/lobby/hosts.rs", "core/src/lobby/rooms.rs"];
        assert_eq!(cycles_of(&files), [expected], "{files:?}");
    }
}

#[test]
fn names_of_a_parent_or_of_another_crate_are_no_cycle() {
    let files = [
        ("lobby", "pub(crate) mod rooms;\nuse rooms::Room;\npub(crate) struct Lobby;\n".to_owned()),
        (
            "lobby/rooms",
            "use super::Lobby;\nuse std::fmt;\npub(in crate) struct Room;\n".to_owned(),
        ),
    ];
    assert!(cycles_of(&files).is_empty());
}
