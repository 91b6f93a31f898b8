//! Through the C interface a key turns the own ship before its host can have answered.

use std::time::Duration;

use ambit_client_ffi::{AMBIT_CALLER_DRIVEN, AMBIT_CONTROL};
use ambit_tests::real::{ScratchFolder, Server, outage, wait_until};
use anyhow::{Context, Result, ensure};

use super::c_client::CClient;

/// The time from one picture to the next one.
const FRAME: Duration = Duration::from_millis(17);
/// An answer takes 300 ms: some 18 pictures.
const SETTINGS: &str = r#"{"impair": "delay=150ms"}"#;
/// Pictures before the key: 3 s.
const SETTLE: usize = 180;
const ROOM: &str =
    r#"{"create_room": {"name": "a", "game": "shooter", "parameters": {"ships": 0}}}"#;

#[test]
fn a_key_turns_the_own_ship_before_the_host_can_have_answered() -> Result<()> {
    let scratch = ScratchFolder::new("own-ship");
    let server = Server::start(&scratch, &[])?;
    let address = server.world.to_string();
    let known_hosts = scratch.path().join("known_hosts").display().to_string();
    for flags in [0, AMBIT_CALLER_DRIVEN] {
        let client = CClient::start(&address, &known_hosts, flags, SETTINGS)?;
        turn(&client)?;
        client.close()?;
    }
    Ok(())
}

fn turn(client: &CClient) -> Result<()> {
    let before = wait_until("the own ship", || {
        client.enter(ROOM)?;
        client.own_rotation()
    })?;
    // Until the line is known, and with it how far ahead the ship is drawn.
    let mut rests = before;
    for _ in 0..SETTLE {
        outage(FRAME);
        rests = client.own_rotation()?.unwrap_or(rests);
    }
    let before = rests;
    client.hold(1 << client.find(AMBIT_CONTROL, 0, "turn-left")?)?;
    let mut pictures = 0;
    loop {
        outage(FRAME);
        pictures += 1;
        let now = client.own_rotation()?.context("the own ship is in sight")?;
        if (now[2] - before[2]).abs() > 1e-4 {
            break;
        }
        ensure!(pictures < 3, "after {pictures} pictures the ship has not turned");
    }
    println!("turned in picture {pictures} after the key");
    Ok(())
}
