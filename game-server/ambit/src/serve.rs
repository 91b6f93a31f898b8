//! Whole programs.

use std::process::ExitCode;

use ambit_steering::SharedMotion;
use ambit_world_server::Subcommand;

use crate::{Game, Games};

/// What a program of an author's can do beside serving, for clients that share this with its games.
fn subcommands(motions: &[SharedMotion]) -> [Subcommand; 2] {
    let for_console = motions.to_vec();
    let for_bots = motions.to_vec();
    [
        Subcommand {
            name: "console",
            about: "plays in a terminal or a script",
            run: Box::new(move |arguments| ambit_console_lib::run(arguments, for_console.clone())),
        },
        Subcommand {
            name: "bots",
            about: "plays with many clients at once",
            run: Box::new(move |arguments| ambit_bots_lib::run(arguments, for_bots.clone())),
        },
    ]
}

/// Runs a server for one game: the lobby, and the hosts of its rooms.
///
/// It takes the command line of `world-server` (`--help` lists it), prints a line that begins with
/// `ready`, and returns after SIGTERM, SIGINT or SIGHUP. With `--hosts process:N` the program
/// starts itself as the hosts.
///
/// With a subcommand it does something else, as the programs of that name do: `console` plays in a
/// terminal, `bots --game NAME --count 20 --seconds 10` with many clients, and `replay FILE` runs a
/// recording (`--record`) again.
///
/// # Panics
/// If the game cannot be offered ([`Games::with`]), or has the name of one that comes with Ambit.
pub fn serve<G: Game>() -> ExitCode {
    serve_all(Games::new().with::<G>())
}

/// As [`serve`], for several games.
///
/// # Panics
/// If a game has the name of one that comes with Ambit.
pub fn serve_all(games: Games) -> ExitCode {
    games.check_names(&ambit_bots_lib::GAMES);
    let subcommands = subcommands(games.motions());
    ambit_world_server::run_with(games.into(), &subcommands)
}

/// Runs a host for the rooms of these games, on a machine other than the server's.
///
/// It takes the command line of `game-server`: `--world` names the server.
pub fn host_all(games: Games) -> ExitCode {
    ambit_host::run(games.into())
}
