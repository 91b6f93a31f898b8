//! Replays a recording (`--record`): the same room, bit by bit, as fast as possible.
//!
//! `cargo run --release -p ambit-game-server --example replay -- DIR/room-1.rec` prints the room's
//! parameters, how long it ran and a hash of all its datagrams. A room that panicked panics again,
//! at the same tick, under a debugger if you like.
//!
//! `DIR/room-1.kept` is the saved state of a room that crashed its hosts: the example continues it
//! as the next host would, for ten seconds.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use ambit_game_server::keeper;
use ambit_game_server::logic::registry::Registry;
use ambit_game_server::record::{self, Header, Recording};
use ambit_game_server::room::Output;
use ambit_proto::control::host::OpenRoom;
use ambit_proto::time::GameTime;
use prost::Message as _;

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: replay FILE.rec|FILE.kept");
        return ExitCode::from(2);
    };
    let replayed = if Path::new(&path)
        .extension()
        .is_some_and(|extension| extension == "kept")
    {
        resume(&path)
    } else {
        replay(&path)
    };
    match replayed {
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
    println!(
        "{last} ms of room time; the hash of the datagrams is {:016x}",
        hash.finish()
    );
    let room = result?;
    println!("{:?}", room.stats());
    Ok(())
}

/// Does what the next host would have done.
fn resume(path: &str) -> Result<(), Box<dyn std::error::Error>> {
    let order = OpenRoom::decode(&std::fs::read(path)?[..])?;
    let resume = order
        .resume
        .ok_or("the file has no saved state of the room")?;
    let header = Header {
        game: order.game,
        room: order.room,
        seed: order.seed,
        capacity: order.capacity,
        grace_ms: 30_000,
        parameters: order.parameters.into_iter().collect(),
    };
    println!("{header:?}");
    let (config, game) = Registry::standard().prepare(&header)?;
    let until = GameTime::from_micros(resume.now_us) + Duration::from_secs(10);
    let room = keeper::take_up(config, game, || until, &resume)?;
    println!(
        "continued until {:?}, with {} objects",
        room.last_tick(),
        room.world().len()
    );
    Ok(())
}
