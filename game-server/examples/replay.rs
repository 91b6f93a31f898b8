//! Runs a recording (`--record`) again: the same room, bit by bit, as fast as it goes.
//!
//! `cargo run --release -p ambit-game-server --example replay -- DIR/room-1.rec` prints what the
//! room was, how long it ran and a hash of all that came out. A room that panicked panics again, at
//! the same tick, under a debugger if you like.
//!
//! With a number of seconds after the file name, the room then runs for so long without its
//! players, as at its next host. `DIR/room-1-condemned.rec`, the last state of a room that seems to
//! crash its hosts, ends before the tick that does: give it ten seconds.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::process::ExitCode;
use std::time::Duration;

use ambit_room::recording::{self, Recording};
use ambit_room::room::RoomOutput;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let path = args.next();
    let seconds = args.next().map_or(Ok(0), |text| text.parse());
    let (Some(path), Ok(seconds)) = (path, seconds) else {
        eprintln!("usage: replay FILE.rec [SECONDS]");
        return ExitCode::from(2);
    };
    match replay(&path, Duration::from_secs(seconds)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("replay: {path}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn replay(path: &str, and_then: Duration) -> Result<(), Box<dyn std::error::Error>> {
    let bytes = std::fs::read(path)?;
    println!("{:?}", Recording::read(&bytes)?.header);
    let (mut hash, mut last) = (DefaultHasher::new(), 0);
    let result = recording::replay(&bytes, &ambit_game_server::standard(), |now, outputs| {
        last = now.millis();
        for output in outputs {
            if let RoomOutput::Datagram { client, bytes } = output {
                (client, bytes).hash(&mut hash);
            }
        }
    });
    println!(
        "{last} ms of room time; the datagrams' hash is {:016x}",
        hash.finish()
    );
    let mut room = result?;
    if !and_then.is_zero() {
        recording::run_without_players(&mut room, and_then);
        println!("ran on until {:?}", room.last_tick().unwrap_or_default());
    }
    println!("{:?}", room.stats());
    Ok(())
}
