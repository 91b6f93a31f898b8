//! Makes the constants of the pose coder again, and writes their files:
//! `cargo bench --bench pose-training -- walker`: the shared level's tables, from a simulated walk;
//! `cargo bench --bench pose-training -- fine FILE`: the fine level's weights, from a recording of
//! 901 cubes (`.bin` or `.bin.xz`).
//!
//! A change of these constants is a new version of the protocol. See `docs/pose-coding.md`.

#[path = "cubes-trace/trace.rs"]
mod trace;

use std::path::Path;
use std::process::ExitCode;

use ambit_proto::pose::trained::training::{Trained, retrain};
use ambit_proto::pose::trained::{FineWeights, WalkerTables};

fn main() -> ExitCode {
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let done = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["walker"] => train_and_write::<WalkerTables>(&()),
        ["fine", file] => {
            trace::read(&trace::find(file)).and_then(|trace| train_and_write::<FineWeights>(&trace))
        }
        _ => {
            println!("pose-training: say what to train, `walker` or `fine FILE`");
            return ExitCode::SUCCESS;
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
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    retrain::<T>(examples, folder, &mut |line| println!("{line}"))?;
    println!("written: {}", folder.join(T::FILE).display());
    Ok(())
}
