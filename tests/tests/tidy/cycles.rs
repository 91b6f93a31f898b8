//! Computes which file imports names from which other file, and finds import cycles: among the
//! modules of a crate, and among the files of the TypeScript folders.
//!
//! An import from a parent counts like any other, and so does one of types only. A name counts for
//! the file that defines it, not for one that exports it again. The cycles that exist are listed
//! with their sizes. The list may only shrink: no cycle may appear or grow, and one that has become
//! smaller or is gone must be corrected in the list.

use std::collections::{BTreeMap, BTreeSet};

use super::source::{Source, VISIBILITIES, files, members, product, without_visibility};

/// The known cycles of Rust files: the first file of each, and how many files it has.
const KNOWN: &[(&str, usize)] = &[
    ("proto/src/entropy.rs", 3),
    ("proto/src/link.rs", 17),
    ("proto/src/message.rs", 6),
    ("proto/src/pose.rs", 19),
    ("proto/src/schema.rs", 7),
    ("proto/src/wire.rs", 4),
    ("proto/steering/src/statics.rs", 2),
    ("proto/training/src/fine.rs", 2),
    ("proto/transport/src/impair/mod.rs", 2),
    ("game-server/ambit/src/component.rs", 18),
    ("game-server/ambit/macros/src/lib.rs", 12),
    ("game-server/room/src/config.rs", 2),
    ("game-server/room/src/logic/world.rs", 8),
    ("game-server/room/src/network/mod.rs", 3),
    ("game-server/room/src/network/viewer.rs", 2),
    ("game-server/games/field/src/lib.rs", 6),
    ("game-server/games/deus/src/lib.rs", 18),
    ("game-server/games/cubes/src/lib.rs", 4),
    ("game-server/games/cubes/physics/src/lib.rs", 5),
    ("game-server/games/shooter/src/lib.rs", 3),
    ("world-server/src/cluster.rs", 4),
    ("world-server/src/config.rs", 2),
    ("world-server/src/server.rs", 3),
    ("client-core/src/replica.rs", 4),
    ("client-core/src/shell.rs", 3),
    ("client-core/src/simulation.rs", 2),
];

#[test]
fn the_files_of_a_crate_form_no_import_cycle_but_the_known_ones() {
    let product = product();
    let mut found = Vec::new();
    for folder in members() {
        found.extend(Modules::of(&format!("{folder}/src/"), &product).cycles());
    }
    let wrong = differences(KNOWN, &found);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_typescript_files_form_no_import_cycle() {
    let mut sources = files(&[".ts"]);
    sources.retain(|source| {
        ["client-core/web/ts/", "client-core/web/page/src/"]
            .iter()
            .any(|folder| source.path.starts_with(folder))
    });
    let imports = typescript_imports(&sources);
    let count: usize = imports.values().map(BTreeSet::len).sum();
    assert!(count > 400, "{count} imports were found");
    let wrong = differences(&[], &cycles(&imports));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What is wrong with the list of known cycles, as `found` shows.
fn differences(known: &[(&str, usize)], found: &[Vec<String>]) -> Vec<String> {
    let mut wrong = Vec::new();
    for cycle in found {
        let size = cycle.len();
        let listed = known.iter().find(|(first, _)| *first == cycle[0]).map_or(0, |known| known.1);
        if size > listed {
            let files = cycle.join("\n  ");
            wrong.push(format!(
                "{size} files import from each other, known are {listed}:\n  {files}"
            ));
        } else if size < listed {
            wrong.push(format!("{}: {size} files now, not {listed}; correct the list", cycle[0]));
        }
    }
    for (first, _) in known.iter().filter(|(first, _)| !found.iter().any(|it| it[0] == *first)) {
        wrong.push(format!("{first}: is in no cycle now; remove it from the list"));
    }
    wrong
}

/// The sets of items that are reached from each other, each sorted.
fn cycles<T: Clone + Ord>(imports: &BTreeMap<T, BTreeSet<T>>) -> Vec<Vec<T>> {
    let reach = |from: &T| {
        let mut seen = BTreeSet::new();
        let mut open = vec![from];
        while let Some(file) = open.pop() {
            open.extend(imports[file].iter().filter(|next| seen.insert((*next).clone())));
        }
        seen
    };
    let reached: BTreeMap<&T, BTreeSet<T>> =
        imports.keys().map(|file| (file, reach(file))).collect();
    let mut cycles = BTreeSet::new();
    for (file, seen) in &reached {
        if seen.contains(*file) {
            let members = seen.iter().filter(|other| reached[other].contains(*file));
            cycles.insert(members.cloned().collect());
        }
    }
    cycles.into_iter().collect()
}

/// The files among `sources` that each of them imports from.
fn typescript_imports(sources: &[Source]) -> BTreeMap<String, BTreeSet<String>> {
    let paths: BTreeSet<&str> = sources.iter().map(|source| source.path.as_str()).collect();
    let imports = |source: &Source| {
        let named = relative_imports(&source.text).into_iter();
        let named = named.map(|name| joined(&source.path, &name));
        // Others are generated, and import nothing of these.
        named.filter(|path| paths.contains(path.as_str())).collect()
    };
    sources.iter().map(|source| (source.path.clone(), imports(source))).collect()
}

/// `./name.js` in `import ... from "./name.js"`, `export ... from`, `import` without names, and
/// `import("./name.js")`.
fn relative_imports(text: &str) -> Vec<String> {
    let code = text.lines().map(str::trim).filter(|line| !line.starts_with(['*', '/']));
    let code: String = code.collect::<Vec<_>>().join("\n");
    let parts: Vec<&str> = code.split('"').collect();
    let quoted = parts.windows(2);
    let is_import = |before: &str| {
        let before = before.trim_end_matches('(').trim_end();
        before.ends_with("from") || before.ends_with("import")
    };
    quoted
        .filter(|pair| is_import(pair[0]) && pair[1].starts_with('.'))
        .map(|pair| pair[1].to_owned())
        .collect()
}

/// The TypeScript file that `name` means in the file at `path`.
fn joined(path: &str, name: &str) -> String {
    let mut parts: Vec<&str> = path.split('/').collect();
    parts.pop();
    for part in name.split('/') {
        match part {
            "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let path = parts.join("/");
    path.strip_suffix(".js").map_or_else(|| path.clone(), |stem| format!("{stem}.ts"))
}

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

    /// The import cycles: the files of each, parents first.
    fn cycles(&self) -> Vec<Vec<String>> {
        let imports = self
            .files
            .iter()
            .map(|(module, source)| (module.clone(), self.imports(module, source)));
        let path = |module: &Vec<String>| self.files[module].path.clone();
        let cycles = cycles(&imports.collect());
        cycles.iter().map(|cycle| cycle.iter().map(path).collect()).collect()
    }

    /// The modules from which `module` imports a name.
    pub(crate) fn imports(&self, module: &[String], source: &Source) -> BTreeSet<Vec<String>> {
        let mut found = BTreeSet::new();
        for path in paths(&source.text) {
            if let Some(target) = self.resolve(module, &path, 0)
                && module != target
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
    let mut parts = Vec::new();
    let mut depth = 0;
    let mut part = String::new();
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
fn a_parent_that_imports_from_its_child_and_back_is_a_cycle() {
    let files = [
        ("lobby", "pub(crate) mod rooms;\nuse rooms::Room;\npub(crate) struct Lobby;\n".to_owned()),
        ("lobby/rooms", "use super::Lobby;\npub(in crate) struct Room;\n".to_owned()),
    ];
    assert_eq!(cycles_of(&files), [["core/src/lobby.rs", "core/src/lobby/rooms.rs"]]);
}

#[test]
fn names_of_a_parent_that_imports_none_or_of_another_crate_are_no_cycle() {
    let files = [
        ("lobby", "pub(crate) mod rooms;\npub(crate) struct Lobby;\n".to_owned()),
        (
            "lobby/rooms",
            "use super::Lobby;\nuse std::fmt;\npub(in crate) struct Room;\n".to_owned(),
        ),
        // What is only exported again is defined elsewhere.
        ("hosts", "mod host;\npub(crate) use host::Host;\n".to_owned()),
        ("hosts/host", "use super::Host as This;\npub(crate) struct Host;\n".to_owned()),
    ];
    assert!(cycles_of(&files).is_empty());
}

#[test]
fn the_list_of_known_cycles_may_only_shrink() {
    let cycle = |files: &[&str]| files.iter().map(|&file| file.to_owned()).collect::<Vec<_>>();
    let found = [cycle(&["lobby.rs", "lobby/rooms.rs"])];
    let wrong = |known: &[(&str, usize)], expected: &str| {
        let wrong = differences(known, &found);
        assert!(wrong.len() == 1 && wrong[0].starts_with(expected), "{wrong:?}");
    };
    assert!(differences(&[("lobby.rs", 2)], &found).is_empty());
    wrong(&[], "2 files import from each other, known are 0");
    wrong(&[("lobby.rs", 3)], "lobby.rs: 2 files now, not 3");
    wrong(&[("lobby.rs", 2), ("link.rs", 2)], "link.rs: is in no cycle now");
}

#[test]
fn typescript_files_that_import_from_each_other_are_found() {
    let a = "import { b } from \"./b.js\";\n";
    let forms = [
        "import type {\n  A,\n} from \"../ts/a.js\";\n",
        "export { a } from \"./a.js\";\n",
        "import \"./a.js\";\n",
        "const a = await import(\"./a.js\");\n",
    ];
    let source = |name: &str, text: &str| Source {
        path: format!("web/ts/{name}.ts"),
        text: text.to_owned(),
    };
    for form in forms {
        let found = cycles(&typescript_imports(&[source("a", a), source("b", form)]));
        assert_eq!(found, [["web/ts/a.ts", "web/ts/b.ts"]], "{form}");
    }
    let example =
        source("b", "/**\n * import { a } from \"./a.js\";\n */\nconst a = \"./a.js\";\n");
    assert!(cycles(&typescript_imports(&[source("a", a), example])).is_empty());
}
