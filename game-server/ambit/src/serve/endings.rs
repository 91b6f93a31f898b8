//! How the subcommands for authors end.

use std::io::{self, Write as _};
use std::process::ExitCode;

/// Ends a subcommand: what it has done, or why it could not.
pub(super) fn tell(name: &str, done: Result<String, String>) -> ExitCode {
    match done {
        Ok(said) => {
            let _ = io::stdout().write_all(said.as_bytes());
            ExitCode::SUCCESS
        }
        Err(problem) => {
            let _ = writeln!(io::stderr(), "{name}: {problem}");
            ExitCode::FAILURE
        }
    }
}

/// Ends a subcommand that was called in another way than it can be.
pub(super) fn misused(usage: &str) -> ExitCode {
    let _ = io::stderr().write_all(usage.as_bytes());
    ExitCode::from(2)
}
