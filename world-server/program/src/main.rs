//! The program `world-server`: serves the games of this repository.

use std::io::Write as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(problem) = ambit_game_server::invalid_variable() {
        let _ = writeln!(std::io::stderr(), "world-server: {problem}");
        return ExitCode::from(2);
    }
    ambit::serve_shipped(ambit_game_server::standard())
}
