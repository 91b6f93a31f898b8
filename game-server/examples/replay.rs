//! Runs a recording (`--record`) again: the same room, bit by bit, as fast as it goes.
//!
//! `cargo run --release -p ambit-game-server --example replay -- DIR/room-1.rec` prints what the room was, how long it ran and a
//! hash of all that came out. A room that panicked panics again, at the same tick, under a debugger if you like.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::process::ExitCode;

use ambit_game_server::logic::registry::Registry;
use ambit_game_server::record::{self, Recording};
use ambit_game_server::room::Output;

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: replay FILE.rec");
        return ExitCode::from(2);
    };
    match replay(&path) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("replay: {path}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn replay(path: &str) -> Result<(), Box<dyn std::error::Error>> {
    let bytes = std::fs::read(path)?;
    println!("{:?}", Recording::read(&bytes)?.header);
    let (mut hash, mut last) = (DefaultHasher::new(), 0);
    let result = record::replay(&bytes, &Registry::standard(), |now, outputs| {
        last = now.millis();
        for output in outputs {
            if let Output::Datagram { client, bytes } = output {
                (client, bytes).hash(&mut hash);
            }
        }
    });
    println!("{last} ms of room time; the datagrams' hash is {:016x}", hash.finish());
    let room = result?;
    println!("{:?}", room.stats());
    Ok(())
}
