//! Makes the constants of the pose coder again, and writes them into their files:
//! `cargo run --release -p ambit-pose-training -- walker`: the shared level's tables, from a
//! simulated walk;
//! `cargo run --release -p ambit-pose-training -- fine FILE`: the fine level's weights, from a
//! recording of 901 cubes (`.bin` or `.bin.xz`).
//!
//! A change of these constants is a new version of the protocol. See `docs/pose-coding.md`.

use std::path::Path;
use std::process::ExitCode;

use ambit_pose_training::{Trained, cubes, path, retrain};
use ambit_proto::pose::trained::{FineWeights, WalkerTables};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["walker"] => train_and_write::<WalkerTables>(&()),
        ["fine", file] => cubes::read(Path::new(file))
            .and_then(|recording| train_and_write::<FineWeights>(&recording)),
        _ => {
            eprintln!("pose-training: say what to train, `walker` or `fine FILE`");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("pose-training: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn train_and_write<T: Trained>(examples: &T::Examples) -> anyhow::Result<()> {
    retrain::<T>(examples, &mut |line| println!("{line}"))?;
    println!("written: {}", path::<T>().display());
    Ok(())
}
