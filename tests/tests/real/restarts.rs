//! A server that is killed and started again at the same address. Times are only printed.

use std::time::Instant;

use ambit_tests::real::{Console, ScratchFolder, Server, server_signal};
use anyhow::Result;
use serde_json::Value;

/// In the message about a connection that was reset; one that timed out "went silent".
const RESET: &str = "it was started again";

#[test]
fn clients_of_a_killed_server_learn_from_the_next_one_that_it_is_gone() -> Result<()> {
    let scratch = ScratchFolder::new("killed-server");
    // A server at port 0 does not expect to be at the same address again.
    let port = std::net::UdpSocket::bind("127.0.0.1:0")?.local_addr()?;
    let address = port.to_string();
    let server = Server::start(&scratch, &["--listen", &address])?;
    let mut idle = Console::start(&scratch, server.world, "ann", &[])?;
    let mut playing = Console::start(&scratch, server.world, "bob", &[])?;
    playing.run_command("create meadow game=cubes", "created")?;
    playing.run_command("start", "started")?;
    playing.wait_until("the avatar", |event| event["ev"] == "enter" && event["own"] == true)?;
    // What the client sends all the time is what a restarted server answers.
    playing.type_in("keys up")?;

    server_signal(server.id(), "KILL")?;
    server.wait()?;
    let killed = now();
    let _again = Server::start(&scratch, &["--listen", &address])?;
    println!("{} ms: the server is back", killed.elapsed().as_millis());

    let is_lost = |code: &str, event: &Value| event["ev"] == "error" && event["code"] == code;
    let lost =
        playing.wait_until("the lost game", |event| is_lost("game_connection_lost", event))?;
    println!("{} ms: bob: {lost}", killed.elapsed().as_millis());
    assert!(lost["message"].as_str().unwrap_or_default().contains(RESET), "{lost}");
    for (name, console) in [("bob", &mut playing), ("ann", &mut idle)] {
        let lost =
            console.wait_until("the lost lobby", |event| is_lost("connection_lost", event))?;
        println!("{} ms: {name}: {lost}", killed.elapsed().as_millis());
        assert!(lost["message"].as_str().unwrap_or_default().contains(RESET), "{lost}");
        console.wait_for("welcome")?;
        println!("{} ms: {name} is back", killed.elapsed().as_millis());
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "the times are only printed")]
fn now() -> Instant {
    Instant::now()
}
