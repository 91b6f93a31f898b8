//! The program `game-server`: a process that hosts rooms of the shipped games.

use std::process::ExitCode;

fn main() -> ExitCode {
    ambit_host::run(ambit_game_server::standard())
}
