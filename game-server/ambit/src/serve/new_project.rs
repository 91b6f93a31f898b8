//! `new`: makes the folder of a game that can be played at once, and changed from there.
//!
//! The files are in `starter`, and the tutorial explains them. Where they say `gather`, the new
//! project has its own name.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::serve::endings::{misused, tell};

/// The files of a project, with what they are called there.
const FILES: [(&str, &str); 9] = [
    ("Cargo.toml", include_str!("../../starter/manifest.toml")),
    ("README.md", include_str!("../../starter/README.md")),
    ("src/lib.rs", include_str!("../../starter/src/lib.rs")),
    ("src/main.rs", include_str!("../../starter/src/main.rs")),
    ("src/bin/client.rs", include_str!("../../starter/src/bin/client.rs")),
    ("tests/play.rs", include_str!("../../starter/tests/play.rs")),
    ("tests/client.rs", include_str!("../../starter/tests/client.rs")),
    ("Containerfile", include_str!("../../starter/Containerfile")),
    ("gather.service", include_str!("../../starter/game.service")),
];
const IGNORED: &str = "/target\n";

const USAGE: &str = "\
usage: new FOLDER [--ambit PLACE]

Makes a game in a new folder, which gives it its name: lower case, digits and hyphens.

  --ambit PLACE  where the crates of Ambit are: a folder with a copy of its repository, or an
                 address of it for git; otherwise this version from the registry\n";

/// Runs the subcommand.
pub(super) fn run(arguments: &[OsString]) -> ExitCode {
    let words: Option<Vec<&str>> = arguments.iter().skip(1).map(|word| word.to_str()).collect();
    let made = match words.as_deref() {
        Some(["-h" | "--help"]) => Ok(USAGE.to_owned()),
        Some([folder]) => make(Path::new(folder), &AmbitPlace::Registry),
        Some([folder, "--ambit", place] | ["--ambit", place, folder]) => {
            AmbitPlace::parse(place).and_then(|place| make(Path::new(folder), &place))
        }
        _ => return misused(USAGE),
    };
    tell("new", made)
}

/// Where the crates of Ambit are.
#[derive(Debug, PartialEq)]
enum AmbitPlace {
    Registry,
    Folder(PathBuf),
    Git(String),
}

impl AmbitPlace {
    fn parse(text: &str) -> Result<Self, String> {
        if text.contains("://") || text.starts_with("git@") {
            return Ok(Self::Git(text.to_owned()));
        }
        let folder = fs::canonicalize(text);
        let folder = folder.map_err(|error| format!("--ambit {text}: {error}"))?;
        if folder.join("game-server/ambit/Cargo.toml").is_file() {
            Ok(Self::Folder(folder))
        } else {
            Err(format!("--ambit {text}: there is no copy of Ambit's repository in this folder"))
        }
    }

    /// The manifest with its dependencies.
    fn fill_in(&self, manifest: &str) -> String {
        let mut filled = String::new();
        for line in manifest.lines() {
            let Some((before, rest)) = line.split_once("AMBIT/") else {
                let _ = writeln!(filled, "{line}");
                continue;
            };
            let end = rest.find([',', ' ']).unwrap_or(rest.len());
            let (package, after) = rest.split_at(end);
            let place = match self {
                Self::Registry => format!("version = \"{}\"", env!("CARGO_PKG_VERSION")),
                Self::Folder(folder) => {
                    format!("path = {:?}", folder.join(package).display().to_string())
                }
                Self::Git(address) => format!("git = {address:?}"),
            };
            let _ = writeln!(filled, "{before}{place}{after}");
        }
        filled
    }
}

/// A file of the project with its own name in place of `gather`.
fn named(text: &str, name: &str) -> String {
    let code = name.replace('-', "_");
    // The game is called so in quotes and in commands; its crate as code has no hyphens.
    text.replace("gather::", &format!("{code}::"))
        .replace("\"gather\"", &format!("{name:?}"))
        .replace("`gather`", &format!("`{name}`"))
        .replace("game=gather", &format!("game={name}"))
        .replace("gather.service", &format!("{name}.service"))
        .replace("gather.env", &format!("{name}.env"))
        .replace("/gather", &format!("/{name}"))
        .replace("=gather\n", &format!("={name}\n"))
        .replace("# gather\n", &format!("# {name}\n"))
        .replace("--now gather", &format!("--now {name}"))
        .replace("--bin gather", &format!("--bin {name}"))
        .replace("-t gather", &format!("-t {name}"))
        .replace("The game gather\n", &format!("The game {name}\n"))
}

fn make(folder: &Path, ambit: &AmbitPlace) -> Result<String, String> {
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    check_name(name)?;
    let in_context = |path: &Path, error: io::Error| format!("{}: {error}", path.display());
    if folder.exists() {
        return Err(format!("{} exists already: name a new folder", folder.display()));
    }
    let ignored = (".gitignore", IGNORED);
    for (path, text) in FILES.into_iter().chain([ignored]) {
        let text = named(text, name);
        let text = if path == "Cargo.toml" { ambit.fill_in(&text) } else { text };
        let path = folder.join(path.replace("gather", name));
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(|error| in_context(parent, error))?;
        }
        fs::write(&path, text).map_err(|error| in_context(&path, error))?;
    }
    let shown = folder.display();
    let mut said = format!("made the game {name} in {shown}; next:\n");
    if let AmbitPlace::Folder(ambit) = ambit {
        // Then cargo takes the versions that Ambit is tested with.
        let lock = ambit.join("Cargo.lock");
        let to = folder.join("Cargo.lock");
        fs::copy(&lock, &to).map_err(|error| in_context(&lock, error))?;
    }
    let _ = write!(
        said,
        "  cd {shown}\n  cargo test             plays it in virtual time\n  cargo run --release    \
         serves it, with a page for players\n"
    );
    Ok(said)
}

/// The name is that of a package, of a crate in code, and of the game.
fn check_name(name: &str) -> Result<(), String> {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let starts = name.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase());
    if !starts || !name.bytes().all(is_letter) || name.len() > 24 || name.ends_with('-') {
        return Err(format!(
            "the folder gives the game its name, and {name:?} cannot be one: up to 24 lower-case \
             letters, digits and hyphens, a letter first"
        ));
    }
    // Crates that the project uses, and what Rust keeps for itself.
    let taken = ["ambit", "client", "core", "std", "test", "tokio", "crate", "self", "super"];
    if taken.contains(&name) {
        return Err(format!("{name:?} is the name of something else in Rust: take another one"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_file_of_a_new_project_has_the_starters_name_as_a_name() {
        for (path, text) in FILES {
            let text = named(text, "deep-wood");
            let prose = ["gathers by itself", "gather strength"];
            let left = prose.iter().fold(text, |text, prose| text.replace(prose, ""));
            let at = left.find("gather").map(|at| &left[at.saturating_sub(40)..at + 6]);
            assert_eq!(at, None, "{path}");
        }
        assert!(named(FILES[3].1, "deep-wood").contains("serve::<deep_wood::Gather>"));
    }

    #[test]
    fn dependencies_are_versions_folders_or_addresses() {
        let line = "a = { AMBIT/game-server/ambit, features = [] }\nb = { AMBIT/x }\nc = 1\n";
        let version = env!("CARGO_PKG_VERSION");
        let registry = format!(
            "a = {{ version = \"{version}\", features = [] }}\nb = {{ version = \"{version}\" \
             }}\nc = 1\n"
        );
        assert_eq!(AmbitPlace::Registry.fill_in(line), registry);
        let folder = AmbitPlace::Folder(PathBuf::from("/a b"));
        assert!(folder.fill_in(line).contains("{ path = \"/a b/game-server/ambit\", features"));
        let git = AmbitPlace::parse("https://example.org/ambit").expect("an address");
        assert!(git.fill_in(line).contains("{ git = \"https://example.org/ambit\" }"));
        assert!(AmbitPlace::parse("/nowhere").is_err());
    }

    #[test]
    fn a_name_is_that_of_a_package_and_of_a_game() {
        for name in ["wood", "deep-wood-2"] {
            assert_eq!(check_name(name), Ok(()));
        }
        for wrong in ["", "Wood", "2wood", "wood-", "a b", "client", "..", &"x".repeat(25)] {
            assert!(check_name(wrong).is_err(), "{wrong}");
        }
    }
}
