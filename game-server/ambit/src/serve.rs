//! Whole programs.

mod endings;
mod new_project;
mod own_page;

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::ExitCode;

use ambit_client_text::schema_json::schema_json;
use ambit_room::logic::registry::Registry;
use ambit_world_server::Subcommand;

use crate::{Game, Games};

/// What a program of an author's can do beside serving. Its consoles and bots share with its games
/// what clients share.
fn subcommands(games: &Games) -> Vec<Subcommand> {
    let for_console = games.motions().to_vec();
    let for_bots = games.motions().to_vec();
    let for_clients = [
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
    ];
    for_clients.into_iter().chain(author_tools(games.clone().into())).collect()
}

/// What helps to write a game.
fn author_tools(registry: Registry) -> [Subcommand; 3] {
    [
        Subcommand {
            name: "schema",
            about: "prints what a game declares, as JSON",
            run: Box::new(move |arguments| print_schema(&registry, &arguments)),
        },
        Subcommand {
            name: "new",
            about: "makes the folder of a new game",
            run: Box::new(|arguments| new_project::run(&arguments)),
        },
        Subcommand {
            name: "page",
            about: "makes a page that steers the avatars of a game of yours",
            run: Box::new(|arguments| own_page::run(&arguments)),
        },
    ]
}

/// Prints the schema of the named game, or of the only one.
fn print_schema(registry: &Registry, arguments: &[OsString]) -> ExitCode {
    let names: Vec<&str> = registry.games().map(|info| info.name).collect();
    let asked = arguments.get(1).map(|word| word.to_string_lossy());
    let asked = asked.as_deref().or((names.len() == 1).then(|| names[0]));
    let schema = asked.and_then(|asked| registry.schema(asked)).filter(|_| arguments.len() <= 2);
    let Some(schema) = schema else {
        let games = names.join("|");
        let _ = writeln!(
            io::stderr(),
            "usage: schema {games}\n\nPrints what a game declares, as the package for browsers \
             and libambit_client give it to clients."
        );
        return ExitCode::from(2);
    };
    match writeln!(io::stdout(), "{:#}", schema_json(&schema.for_clients())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Runs a server for one game: the lobby, and the hosts of its rooms.
///
/// It takes the command line of `world-server` (`--help` lists it), prints a line that begins with
/// `ready`, and returns after SIGTERM, SIGINT or SIGHUP. With `--hosts process:N` the program
/// starts itself as the hosts.
///
/// With a subcommand it does something else, as the programs of that name do: `console` plays in a
/// terminal, `bots --game NAME --count 20 --seconds 10` with many clients, `replay FILE` runs a
/// recording (`--record`) again, `schema` prints what the game declares, `new FOLDER` makes another
/// game, and `page CRATE FOLDER` a page that steers its avatars.
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
    let subcommands = subcommands(&games);
    ambit_world_server::run_with(games.into(), &subcommands)
}

/// The program with the games that come with Ambit: its console and bots are programs of their own.
#[doc(hidden)]
pub fn serve_shipped(registry: Registry) -> ExitCode {
    ambit_world_server::run_with(registry.clone(), &author_tools(registry))
}

/// Runs a host for the rooms of these games, on a machine other than the server's.
///
/// It takes the command line of `game-server`: `--world` names the server.
pub fn host_all(games: Games) -> ExitCode {
    ambit_host::run(games.into())
}
