//! Checks the language of the project: line width, unique type names, retired words, and words
//! that do not say who or how much.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

use super::source::{self, read, root};

/// Columns of a line.
pub(crate) const WIDTH: usize = 100;
/// Characters of a row of a table: more than facts take, since that belongs into a paragraph.
const ROW: usize = 300;

#[test]
fn lines_of_code_and_prose_end_at_100_columns() {
    let mut wide = Vec::new();
    for source in source::files(&[".rs", ".md", ".proto"]) {
        let markdown = source.is_markdown();
        let mut fenced = false;
        for (number, line) in source.text.lines().enumerate() {
            if markdown && line.trim_start().starts_with("```") {
                fenced = !fenced;
            }
            // A row of a table can't be wrapped.
            let table = line.trim_start().trim_start_matches("//!").trim_start().starts_with('|')
                || line.trim_start().trim_start_matches("///").trim_start().starts_with('|');
            if line.chars().count() > WIDTH && !(table || markdown && fenced) {
                wide.push(format!("{}:{}", source.path, number + 1));
            }
        }
    }
    assert!(wide.is_empty(), "lines of more than {WIDTH} columns:\n{}", wide.join("\n"));
}

#[test]
fn rows_of_tables_hold_facts() {
    let mut long = Vec::new();
    for source in source::files(&[".md"]) {
        for (number, line) in source.text.lines().enumerate() {
            if line.starts_with('|') && line.chars().count() > ROW {
                long.push(format!("{}:{}", source.path, number + 1));
            }
        }
    }
    assert!(long.is_empty(), "rows of more than {ROW} characters:\n{}", long.join("\n"));
}

#[test]
fn names_of_tests_end_at_70_characters() {
    for source in source::files(&[".rs"]) {
        let mut is_test = false;
        for line in source.text.lines().map(str::trim) {
            if line.starts_with("#[") {
                is_test |= line.contains("test]") || line.contains("test(");
            } else {
                let code = line.trim_start_matches("pub ").trim_start_matches("async ");
                if let Some(name) = code.strip_prefix("fn ").filter(|_| is_test) {
                    let name = name.split('(').next().unwrap_or_default();
                    assert!(
                        name.len() <= 70,
                        "{}: {name} has {} characters",
                        source.path,
                        name.len()
                    );
                }
                is_test = false;
            }
        }
    }
}

/// The facades for authors of games and of clients, and what is written with them. Their users see
/// only them: the types are the typed forms of those below, and have the same names.
fn is_facade(source: &source::Source) -> bool {
    ["game-server/ambit/", "client-core/client/"]
        .iter()
        .any(|facade| source.path.starts_with(facade))
}

#[test]
fn no_two_types_have_the_same_name() {
    // Conventional in each program.
    const REPEATED: [&str; 1] = ["Args"];
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for source in source::product() {
        if is_facade(&source) {
            continue;
        }
        let mut names = source::types(&source.text);
        names.sort();
        names.dedup();
        for name in names {
            places.entry(name).or_default().push(source.path.clone());
        }
    }
    let repeated: Vec<String> = places
        .iter()
        .filter(|(name, files)| files.len() > 1 && !REPEATED.contains(&name.as_str()))
        .map(|(name, files)| format!("{name}: {}", files.join(", ")))
        .collect();
    assert!(repeated.is_empty(), "one name, one idea:\n{}", repeated.join("\n"));
}

#[test]
fn no_type_shadows_one_of_the_standard_library() {
    const STANDARD: [&str; 40] = [
        "Any", "Arc", "Box", "Cell", "Clone", "Context", "Copy", "Debug", "Default", "Display",
        "Drop", "Duration", "Eq", "Error", "Fn", "From", "Future", "Hash", "HashMap", "Instant",
        "Into", "Iterator", "Layout", "Mutex", "Option", "Ord", "Ordering", "Path", "PathBuf",
        "Pin", "Range", "Rc", "Result", "Send", "String", "Sync", "System", "ToString", "Vec",
        "Waker",
    ];
    // `Cell` is the field's term for a square of the map.
    const KEPT: [&str; 1] = ["Cell"];
    for source in source::product().into_iter().filter(|source| !is_facade(source)) {
        for name in source::types(&source.text) {
            let shadows = STANDARD.contains(&name.as_str()) && !KEPT.contains(&name.as_str());
            assert!(!shadows, "{}: {name} shadows a name of the standard library", source.path);
        }
    }
}

/// The retired words: those in backticks in the glossary's last column.
fn retired() -> Vec<String> {
    let glossary = read(&root().join("docs/glossary.md"));
    let mut words = Vec::new();
    for row in glossary.lines().filter(|line| line.starts_with("| ")) {
        let old = row.trim_end_matches('|').rsplit('|').next().unwrap_or_default();
        words.extend(old.split('`').skip(1).step_by(2).map(str::to_owned));
    }
    words
}

#[test]
fn no_old_word_of_the_glossary_comes_back() {
    let retired = retired();
    assert!(retired.len() > 10, "the glossary names old words: {retired:?}");
    let mut found = Vec::new();
    for source in source::files(&[".rs", ".md", ".proto"]) {
        if matches!(source.path.as_str(), "docs/glossary.md" | "CHANGELOG.md") {
            continue;
        }
        for (number, line) in source.text.lines().enumerate() {
            let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
            if let Some(word) = words.find(|word| retired.iter().any(|old| old == word)) {
                found.push(format!("{}:{}: {word}", source.path, number + 1));
            }
        }
    }
    assert!(found.is_empty(), "words that docs/glossary.md retires:\n{}", found.join("\n"));
}

#[test]
fn headers_cite_only_what_a_reader_can_find() {
    const HIDDEN: [&str; 6] = [
        "design, section",
        "feasibility",
        "reference 000",
        "reference 003",
        "reference 004",
        "seeds/",
    ];
    for source in source::files(&[".rs", ".proto", ".md"]) {
        if source.path.starts_with("tests/tests/tidy") || source.path == "CHANGELOG.md" {
            continue;
        }
        for hidden in HIDDEN {
            let cites = source.text.to_lowercase().contains(hidden);
            assert!(!cites, "{} cites '{hidden}', which is not in the repository", source.path);
        }
    }
}

/// Words and phrases that do not say who or how much, each with what to write.
const VAGUE: [(&str, &str); 10] = [
    ("anew", "again"),
    ("everybody", "all players, all members"),
    ("is there", "exists, has arrived, is connected"),
    ("nobody", "no player, no client"),
    ("so far", "the distance by its name; since the start"),
    ("so long", "the time by its name"),
    ("so many", "the number by its name"),
    ("somebody", "a player, an operator"),
    ("told", "receives, reads, sent"),
    ("whoever", "the player who, a client that"),
];
/// A bound and not a ban, since each of them has a plain use, too.
const MOST_VAGUE_PER_THOUSAND: f64 = 1.5;
/// Files that a failure names.
const MOST_NAMED: usize = 10;

#[test]
fn texts_and_comments_say_who_and_how_much() {
    let mut sources = source::files(&[".md", ".rs", ".ts"]);
    // The examples of the next test.
    sources.retain(|source| source.path != "tests/tests/tidy/words.rs");
    let vagueness = Vagueness::of(&sources);
    assert!(vagueness.words > 250_000, "only {} words were found", vagueness.words);
    assert!(vagueness.per_thousand() <= MOST_VAGUE_PER_THOUSAND, "{vagueness}");
}

/// The vague words of all texts.
#[derive(Default)]
struct Vagueness {
    words: usize,
    /// How often each occurs, in the order of [`VAGUE`].
    of_each: [usize; VAGUE.len()],
    of_file: BTreeMap<String, usize>,
}

impl Vagueness {
    fn of(sources: &[source::Source]) -> Self {
        let mut all = Self::default();
        for source in sources {
            let prose = if source.is_markdown() {
                source.text.clone()
            } else {
                source::comments(&source.text)
            };
            for line in prose.lines() {
                let line = line.to_lowercase();
                let words = line.split(|c: char| !c.is_ascii_alphabetic());
                let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
                all.words += words.len();
                for (index, (vague, _)) in VAGUE.iter().enumerate() {
                    let parts: Vec<&str> = vague.split(' ').collect();
                    let found = words.windows(parts.len()).filter(|part| *part == parts).count();
                    all.of_each[index] += found;
                    if found > 0 {
                        *all.of_file.entry(source.path.clone()).or_default() += found;
                    }
                }
            }
        }
        all
    }

    fn per_thousand(&self) -> f64 {
        1_000.0 * self.of_each.iter().sum::<usize>() as f64 / self.words as f64
    }
}

impl Display for Vagueness {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        writeln!(
            out,
            "{:.2} of a thousand words do not say who or how much, more than {:.2}. Write the \
             sentence again, with what stands beside the word here:",
            self.per_thousand(),
            MOST_VAGUE_PER_THOUSAND
        )?;
        for ((word, instead), count) in VAGUE.iter().zip(self.of_each) {
            writeln!(out, "  {count:>4} {word}: {instead}")?;
        }
        writeln!(out, "The files with the most:")?;
        let mut files: Vec<_> = self.of_file.iter().collect();
        files.sort_by_key(|(_, count)| Reverse(**count));
        for (path, count) in files.into_iter().take(MOST_NAMED) {
            writeln!(out, "  {count:>4} {path}")?;
        }
        Ok(())
    }
}

#[test]
fn vague_words_are_counted_in_prose_and_in_comments_alone() {
    let file =
        |path: &str, text: &str| source::Source { path: path.to_owned(), text: text.to_owned() };
    let vagueness = Vagueness::of(&[
        file("a.md", "Whoever joins is told so.\n"),
        file("b.rs", "/// Nobody waits so\n/// long.\nlet told = \"somebody\"; // Anew, so far.\n"),
        file("c.ts", "/**\n * Is there, everybody's.\n */\nconst told = 1; /* told */ f(told);\n"),
        file("d.ts", "const anew = `so many`;\n"),
    ]);
    assert_eq!(vagueness.of_each, [1, 1, 1, 1, 1, 0, 0, 0, 2, 1]);
    assert_eq!(vagueness.words, 5 + 4 + 3 + 5);
    let message = vagueness.to_string();
    let most = "The files with the most:\n     3 b.rs\n     3 c.ts\n     2 a.md\n";
    assert!(message.ends_with(most), "{message}");
    assert!(message.contains("     1 whoever: the player who, a client that\n"), "{message}");
}
