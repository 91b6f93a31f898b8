//! The program `world-server`: serves the games of this repository.

use std::process::ExitCode;

use ambit_game_server::logic::registry::Registry;

fn main() -> ExitCode {
    ambit_world_server::run(Registry::standard())
}
