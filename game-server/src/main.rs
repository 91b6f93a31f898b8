//! The program `game-server`: a process that hosts rooms of the shipped games.

use std::process::ExitCode;

use ambit_game_server::logic::registry::Registry;

fn main() -> ExitCode {
    ambit_game_server::run(Registry::standard())
}
