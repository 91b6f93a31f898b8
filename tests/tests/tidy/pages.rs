//! The parts of the pages that are made from something else: lists of flags, tables of parameters,
//! and code that is compiled elsewhere.
//!
//! Such a part stands between `<!-- made from SOURCE -->` and `<!-- end -->`. The sources:
//! - `NAME --help`: the flags of a program;
//! - `parameters of rooms`, `parameters of GAME`: what `create` takes;
//! - a path: the file, without the comment at its top.
//!
//! `AMBIT_RENEW_PAGES=1 cargo test -p ambit-tests --test tidy pages` writes the parts again.

use std::fmt::Write as _;
use std::process::Command;

use ambit_room::config::{Allowed, Parameter, ROOM_PARAMETERS};

use crate::source::{files, read, root};
use crate::words::WIDTH;

const BEGIN: &str = "<!-- made from ";
const END: &str = "<!-- end -->";

#[test]
fn made_parts_of_the_pages_are_up_to_date() {
    let renew = std::env::var_os("AMBIT_RENEW_PAGES").is_some();
    let mut parts = 0;
    for page in files(&[".md"]) {
        let renewed = renewed(&page.text, &mut parts);
        if renewed == page.text {
            continue;
        }
        assert!(
            renew,
            "{}: a part that is made from something else is out of date; renew it with \
             AMBIT_RENEW_PAGES=1 cargo test -p ambit-tests --test tidy pages\n{}",
            page.path,
            first_difference(&page.text, &renewed)
        );
        std::fs::write(root().join(&page.path), renewed).expect("the page can be written");
    }
    assert!(parts > 4, "{parts} parts of the pages are made");
}

#[test]
fn the_readme_is_short() {
    let readme = read(&root().join("README.md"));
    let (lines, widest) =
        (readme.lines().count(), readme.lines().map(|line| line.chars().count()).max());
    assert!(lines <= 150, "README.md has {lines} lines, at most 150");
    assert!(widest <= Some(100), "README.md has a line of {widest:?}");
}

#[test]
fn pictures_of_the_pages_are_small() {
    const MAX_BYTES: u64 = 80_000;
    let folder = std::fs::read_dir(root().join("docs/pictures")).expect("the pictures");
    for picture in folder.flatten() {
        let bytes = picture.metadata().expect("the size of a picture").len();
        assert!(bytes <= MAX_BYTES, "{}: {bytes} bytes", picture.path().display());
    }
}

/// The page with all made parts as their sources are now.
fn renewed(page: &str, parts: &mut usize) -> String {
    let mut out = String::new();
    let mut rest = page;
    while let Some((before, part)) = rest.split_once(BEGIN) {
        let (source, part) = part.split_once(" -->\n").expect("the name of a source");
        let (_, after) = part.split_once(END).expect("the end of a made part");
        let made = made(source);
        write!(out, "{before}{BEGIN}{source} -->\n{made}{END}").expect("a String takes all");
        *parts += 1;
        rest = after;
    }
    out + rest
}

fn made(source: &str) -> String {
    if let Some(program) = source.strip_suffix(" --help") {
        flags_list(&help(program))
    } else if source == "parameters of rooms" {
        parameters_table(ROOM_PARAMETERS)
    } else if let Some(game) = source.strip_prefix("parameters of ") {
        let registry = ambit_game_server::standard();
        let info = registry.info(game).unwrap_or_else(|| panic!("no game {game}"));
        parameters_table(info.parameters)
    } else {
        code_block(source)
    }
}

fn first_difference(old: &str, new: &str) -> String {
    let differs = old.lines().zip(new.lines()).find(|(old, new)| old != new);
    differs.map_or_else(
        || "one of them ends earlier".to_owned(),
        |(old, new)| format!("has:     {old}\nexpects: {new}"),
    )
}

/// The file in a code block, without the `//!` comment at its top.
fn code_block(path: &str) -> String {
    let text = read(&root().join(path));
    let code = text.trim_start_matches('\n');
    let header: usize =
        code.split_inclusive('\n').take_while(|line| line.starts_with("//!")).map(str::len).sum();
    let language = match path.rsplit('.').next() {
        Some("rs") => "rust,ignore",
        Some(other) => other,
        None => "",
    };
    format!("```{language}\n{}```\n", code[header..].trim_start())
}

fn help(program: &str) -> String {
    let output =
        ambit_tests::real::run(Command::new(ambit_tests::real::binary(program)).arg("--help"))
            .expect("--help succeeds");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A flag as `--help` prints it.
#[derive(Default)]
struct Flag {
    /// With the name of its value.
    name: String,
    text: String,
}

/// The flags in the text of `--help`, each with its description, default and variable.
fn flags_list(help: &str) -> String {
    let mut flags: Vec<Flag> = Vec::new();
    let mut within = false;
    for line in help.lines() {
        let text = line.trim();
        if text.starts_with("--") || text.starts_with("-h, ") || text.starts_with("-V, ") {
            let (name, text) = text.split_once("  ").unwrap_or((text, ""));
            flags.push(Flag { name: name.replace(['<', '>'], ""), text: text.trim().to_owned() });
            within = true;
        } else if !text.is_empty() && !line.starts_with("        ") {
            within = false;
        } else if let Some(flag) = flags.last_mut().filter(|_| within && !text.is_empty()) {
            let value = text.strip_prefix("- ").and_then(|item| item.split_once(": "));
            let item = value.map_or(text.to_owned(), |(value, meaning)| {
                format!("`{value}`: {};", meaning.trim())
            });
            if !flag.text.is_empty() {
                flag.text.push(' ');
            }
            flag.text.push_str(&item);
        }
    }
    let mut list = String::new();
    for Flag { name, mut text } in flags {
        if name.contains("--help") || name.contains("--version") {
            continue;
        }
        let default = take_bracket(&mut text, "default: ");
        let variable = take_bracket(&mut text, "env: ");
        let default = default.map_or(String::new(), |default| format!(", by default `{default}`"));
        let variable = variable.map_or(String::new(), |variable| {
            format!(" (`{}`)", variable.split('=').next().unwrap_or_default())
        });
        let text = text.trim().trim_end_matches([';', '.']);
        push_list_item(&mut list, &format!("`{name}`{default}: {text}{variable}."));
    }
    list
}

/// Appends an item of a list, with lines of at most [`WIDTH`] columns.
fn push_list_item(list: &mut String, text: &str) {
    let mut line = "-".to_owned();
    for word in text.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > WIDTH {
            list.push_str(&line);
            list.push('\n');
            " ".clone_into(&mut line);
        }
        line.push(' ');
        line.push_str(word);
    }
    list.push_str(&line);
    list.push('\n');
}

/// Takes `[KEY...]` out of a text; the rest after the key.
fn take_bracket(text: &mut String, key: &str) -> Option<String> {
    let start = text.find(&format!("[{key}"))?;
    let length = text[start..].find(']')?;
    let value = text[start + 1 + key.len()..start + length].to_owned();
    text.replace_range(start..=start + length, "");
    Some(value)
}

fn parameters_table(parameters: &[Parameter]) -> String {
    let mut table = "| key | default | values | |\n| --- | --- | --- | --- |\n".to_owned();
    for parameter in parameters.iter().filter(|parameter| parameter.key != "map") {
        let default = match parameter.default {
            "" => String::new(),
            default => format!("`{default}`"),
        };
        let allowed = match parameter.allowed {
            Allowed::Whole { min, max: u64::MAX } => format!("{min} or more"),
            Allowed::Whole { min, max } => format!("{min} to {max}"),
            Allowed::Decimal { min, max } => format!("{min} to {max}, with a fraction"),
            Allowed::Size { min, max } => format!("WIDTHxHEIGHT, {min} to {max} each"),
            Allowed::Word(words) => {
                let quoted: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
                quoted.join(", ")
            }
        };
        writeln!(table, "| `{}` | {default} | {allowed} | {} |", parameter.key, parameter.about)
            .expect("a String takes all");
    }
    table
}
