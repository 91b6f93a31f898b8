//! The server: a lobby with the game `gather`. `--help` lists its flags.

use std::process::ExitCode;

fn main() -> ExitCode {
    ambit::serve::<gather::Gather>()
}
