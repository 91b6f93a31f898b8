//! What a frame costs through the C interface, beside one in Rust: two clients of one room, with
//! many objects in sight, take turns. Then, what memory such a client needs. Prints medians, the
//! best and ratios; stays on loopback and ends by itself.
//!
//! Usage: `cargo bench --bench engines -- [OBJECTS]`; 1,000 by default.

#[path = "../tests/real/engines/c_client.rs"]
#[expect(dead_code, reason = "tests call more")]
mod c_client;

use std::time::{Duration, Instant};

use ambit_client::Game;
use ambit_tests::real::{ScratchFolder, Server, process_family};
use anyhow::{Context, Result};

use c_client::CClient;

/// Frames of each.
const FRAMES: usize = 3_000;
/// Until all objects have come.
const SETTLE: Duration = Duration::from_secs(15);

/// Clients whose memory is measured.
const CLIENTS: u32 = 16;

fn main() -> Result<()> {
    let objects = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let objects: u32 = objects.map_or(Ok(1_000), |text| text.parse())?;
    let scratch = ScratchFolder::new("engines");
    let server = Server::start(&scratch, &[])?;
    let address = server.world.to_string();
    let known_hosts = scratch.path().join("known_hosts");
    let runtime = tokio::runtime::Runtime::new()?;
    let client = ambit_client::connect(address.clone()).known_hosts(&known_hosts);
    let client = runtime.block_on(async { client.await })?;
    let room = client.create_room("crowd", "field").parameter("npcs", objects);
    let room = room.parameter("size", "40x40").parameter("obstacles", 0);
    let mut game = runtime.block_on(async { anyhow::Ok(room.await?.start().await?) })?;
    let id = client.room().context("a room")?.id();
    let join = || {
        let client = CClient::start(&address, &known_hosts.display().to_string(), 0, "")?;
        client.request(&format!(r#"{{"join_room": {{"room": {id}}}}}"#))?;
        anyhow::Ok(client)
    };
    measure(&mut game, &join()?)?;
    let before = resident_bytes()?;
    let more = (0..CLIENTS).map(|_| join()).collect::<Result<Vec<_>>>()?;
    let began = now();
    while began.elapsed() < SETTLE {
        std::thread::sleep(Duration::from_millis(50));
        for client in &more {
            while client.next_event()?.is_some() {}
            client.frame()?;
        }
    }
    let in_sight = more[0].frame()?.in_sight;
    let grown = resident_bytes()?.saturating_sub(before) / u64::from(CLIENTS);
    println!("a client with {in_sight} objects in sight: {} kB", grown / 1_000);
    Ok(())
}

/// The memory of this process.
fn resident_bytes() -> Result<u64> {
    let own = std::process::id();
    let family = process_family(own)?;
    let pages = family.iter().find(|(id, _)| *id == own).context("this process")?.1;
    Ok(pages * 4_096)
}

#[expect(clippy::disallowed_methods, reason = "a bench measures time")]
fn now() -> Instant {
    Instant::now()
}

fn measure(game: &mut Game, other: &CClient) -> Result<()> {
    let began = now();
    let mut times = [Vec::new(), Vec::new()];
    let mut in_sight = [0, 0];
    while times[0].len() < FRAMES {
        std::thread::sleep(Duration::from_millis(5));
        game.events().for_each(drop);
        while other.next_event()?.is_some() {}
        let before = now();
        in_sight[0] = game.frame_now().objects().len();
        let between = now();
        in_sight[1] = other.frame()?.in_sight as usize;
        let after = now();
        if began.elapsed() > SETTLE {
            times[0].push(between - before);
            times[1].push(after - between);
        }
    }
    let [rust, c] = times.map(|mut times| {
        times.sort();
        [times[times.len() / 2], times[0]].map(|time| time.as_secs_f64() * 1e6)
    });
    println!(
        "{in_sight:?} objects in sight: a frame in Rust {:.1} us (best {:.1}), through C {:.1} us \
         (best {:.1})",
        rust[0], rust[1], c[0], c[1]
    );
    println!("ratio {:.2} (best {:.2})", c[0] / rust[0], c[1] / rust[1]);
    Ok(())
}
