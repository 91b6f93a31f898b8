//! The program `world-server`: serves the games of this repository.

use std::process::ExitCode;

fn main() -> ExitCode {
    ambit_world_server::run(ambit_game_server::standard())
}
