//! Whole programs.

use std::process::ExitCode;

use crate::{Game, Games};

/// Runs a server for one game: the lobby, and the hosts of its rooms.
///
/// It takes the command line of `world-server` (`--help` lists it), prints a line that begins with
/// `ready`, and returns after SIGTERM. With `--hosts process:N` the program starts itself as the
/// hosts.
pub fn serve<G: Game>() -> ExitCode {
    serve_all(Games::new().with::<G>())
}

/// As [`serve`], for several games.
pub fn serve_all(games: Games) -> ExitCode {
    ambit_world_server::run(games.into())
}

/// Runs a host for the rooms of these games, on a machine other than the server's.
///
/// It takes the command line of `game-server`: `--world` names the server.
pub fn host_all(games: Games) -> ExitCode {
    ambit_host::run(games.into())
}
