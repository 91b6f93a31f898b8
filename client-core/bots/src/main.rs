//! The program `bots`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ambit_bots::run(std::env::args_os())
}
