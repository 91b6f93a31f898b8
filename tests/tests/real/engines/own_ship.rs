//! Through the C interface a key turns the own ship in the picture after it, long before its host
//! can have answered.

use std::time::Duration;

use ambit_client_ffi::{AMBIT_CALLER_DRIVEN, AMBIT_CONTROL};
use ambit_tests::real::{ScratchFolder, Server, outage, wait_until};
use anyhow::{Context, Result, ensure};

use super::c_client::CClient;

/// The time from one picture to the next one: a bit more than a frame of the steering.
const FRAME: Duration = Duration::from_millis(17);
/// An answer takes 300 ms: some 18 pictures.
const SETTINGS: &str = r#"{"impair": "delay=150ms"}"#;
/// Pictures until the line is known, and with it how far ahead the ship is drawn: 3 s.
const SETTLE: usize = 180;
/// Pictures with the same rotation, after which the ship rests: longer than an answer takes.
const REST: usize = 30;
const PRESSES: usize = 10;
const ROOM: &str =
    r#"{"create_room": {"name": "a", "game": "shooter", "parameters": {"ships": 0}}}"#;

#[test]
fn a_key_turns_the_own_ship_in_the_next_picture() -> Result<()> {
    let scratch = ScratchFolder::new("own-ship");
    let server = Server::start(&scratch, &[])?;
    let address = server.world.to_string();
    let known_hosts = scratch.path().join("known_hosts").display().to_string();
    for flags in [0, AMBIT_CALLER_DRIVEN] {
        let client = CClient::start(&address, &known_hosts, flags, SETTINGS)?;
        wait_until("the own ship", || {
            client.enter(ROOM)?;
            client.own()
        })?;
        for _ in 0..SETTLE {
            picture(&client)?;
        }
        let key = 1 << client.find(AMBIT_CONTROL, 0, "turn-left")?;
        for press in 0..PRESSES {
            let before = rest(&client)?;
            client.hold(key)?;
            let after = picture(&client)?;
            ensure!(before != after, "press {press}, flags {flags}: the ship has not turned");
            client.hold(0)?;
        }
        client.close()?;
    }
    Ok(())
}

/// The rotation of the own ship in the next picture.
fn picture(client: &CClient) -> Result<[f32; 4]> {
    outage(FRAME);
    Ok(client.own()?.context("the own ship is in sight")?.rotation)
}

/// Waits until the ship rests. Its rotation.
fn rest(client: &CClient) -> Result<[f32; 4]> {
    let mut rotation = picture(client)?;
    let mut same = 0;
    while same < REST {
        let next = picture(client)?;
        same = if next == rotation { same + 1 } else { 0 };
        rotation = next;
    }
    Ok(rotation)
}
