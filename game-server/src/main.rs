//! The program `game-server`: a process that hosts rooms of the shipped games.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::ExitCode;

const CHECK_CONTENT: &str = "check-content";
const HELP: &str = "Reads a folder of content of the game `deus` as a room would.

Usage: game-server check-content DIR

It prints each mistake with file, line and field, and exits with 1; or what is in the folder, and
exits with 0. Rooms get the folders of AMBIT_CONTENT by their names (`content=NAME`).";

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    match arguments.split_first() {
        Some((first, rest)) if first == CHECK_CONTENT => check_content(rest),
        _ => {
            if let Some(problem) = ambit_game_server::invalid_variable() {
                let _ = writeln!(io::stderr(), "game-server: {problem}");
                return ExitCode::from(ambit_host::process::USAGE_EXIT_STATUS);
            }
            ambit_host::run(ambit_game_server::standard())
        }
    }
}

fn check_content(arguments: &[OsString]) -> ExitCode {
    match arguments {
        [help] if help == "--help" || help == "-h" => say(HELP),
        [folder] if !folder.to_string_lossy().starts_with('-') => {
            match ambit_deus::check_content(folder.as_ref()) {
                Ok(summary) => say(&summary),
                Err(mistakes) => {
                    for mistake in mistakes {
                        say(&mistake);
                    }
                    return ExitCode::FAILURE;
                }
            }
        }
        _ => {
            let _ = writeln!(io::stderr(), "{HELP}");
            return ExitCode::from(ambit_host::process::USAGE_EXIT_STATUS);
        }
    }
    ExitCode::SUCCESS
}

/// The exit status says the most important, also where no one can read this.
fn say(text: &str) {
    let _ = writeln!(io::stdout(), "{text}");
}
