//! The program `bots`, with what clients share with the shipped games.

use std::process::ExitCode;

fn main() -> ExitCode {
    let motions = [ambit_cubes_physics::PHYSICS.into(), ambit_shooter_kinds::STEERING.into()];
    ambit_bots_lib::run(std::env::args_os(), motions.to_vec())
}
