//! The program `console`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ambit_console::run(std::env::args_os())
}
