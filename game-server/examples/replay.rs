//! Runs a recording (`--record`) again: the same room, bit by bit, as fast as it goes.
//!
//! `cargo run --release -p ambit-game-server --example replay -- DIR/room-1.rec` prints what the
//! room was, how long it ran and a hash of all that came out. A room that panicked panics again, at
//! the same tick, under a debugger if you like.
//!
//! `DIR/room-1.kept` is what is left of a room that killed its hosts: it goes on from there as at
//! the next host, for ten seconds.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use ambit_host::host_core::checkpoints::restore_room;
use ambit_host::host_core::messages::WorldOrder;
use ambit_host::host_core::protobuf::order_of;
use ambit_host::protocol::messages::{OpenRoom, WorldToHost, world_to_host};
use ambit_room::recording::{self, Header, Recording};
use ambit_room::room::RoomOutput;
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
    let room = result?;
    println!("{:?}", room.stats());
    Ok(())
}

/// Does what the next host would have done.
fn resume(path: &str) -> Result<(), Box<dyn std::error::Error>> {
    let order = OpenRoom::decode(&std::fs::read(path)?[..])?;
    let Some(WorldOrder::OpenRoom(assignment)) = order_of(WorldToHost {
        body: Some(world_to_host::Body::OpenRoom(order)),
    }) else {
        unreachable!("an order to open a room is one")
    };
    let resume = assignment
        .resume
        .ok_or("the file has no saved state of the room")?;
    let header = Header {
        game: assignment.game,
        room: assignment.room.0,
        seed: assignment.seed,
        capacity: assignment.capacity,
        grace_ms: 30_000,
        parameters: assignment.parameters.into_iter().collect(),
    };
    println!("{header:?}");
    let (config, game) = ambit_game_server::standard().prepare(&header)?;
    let until = resume.now + Duration::from_secs(10);
    let room = restore_room(config, game, || until, &resume)?;
    println!(
        "continued until {:?}, with {} objects",
        room.last_tick(),
        room.world().len()
    );
    Ok(())
}
