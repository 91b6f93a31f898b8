//! The server's own behaviour: start, HTTP, drain, options.

use ambit_tests::real::{Console, Scratch, Server, binary};
use anyhow::Result;

#[test]
fn sigterm_drains_and_ends_with_0() -> Result<()> {
    let scratch = Scratch::new("drain");
    let server = Server::start(&scratch, &[])?;
    let mut ann = Console::start(&scratch, server.world, "ann", &[])?;
    ann.ask("create meadow game=field", "created")?;
    ann.ask("start", "started")?;
    assert_eq!(server.terminate()?, Some(0));
    let told =
        ann.wait_until("the reason", |event| ["left", "error"].contains(&event["ev"].as_str().unwrap_or_default()))?;
    let text = told.to_string();
    assert!(text.contains("drain") || text.contains("room_closed"), "{text}");
    Ok(())
}

#[test]
fn health_and_metrics_answer() -> Result<()> {
    let scratch = Scratch::new("metrics");
    let server = Server::start(&scratch, &[])?;
    assert_eq!(server.get("/healthz")?.0, 200);
    let mut ann = Console::start(&scratch, server.world, "ann", &[])?;
    ann.ask("create meadow game=field", "created")?;
    ann.ask("start", "started")?;
    ann.wait_until("her avatar", |event| event["ev"] == "enter" && event["own"] == true)?;
    let wanted = [
        "connections",
        "rooms",
        "players",
        "tick_seconds_bucket",
        "datagrams",
        "bytes",
        "late",
        "enters",
        "leaves",
        "drop",
    ];
    // Hosts report once a second.
    let metrics = loop {
        let metrics = server.metrics()?;
        if metrics.iter().any(|(name, &value)| name.contains("enters") && value > 0.0) {
            break metrics;
        }
        std::thread::yield_now();
    };
    for name in wanted {
        assert!(metrics.keys().any(|series| series.contains(name)), "no series with '{name}' in {:?}", metrics.keys());
    }
    Ok(())
}

#[test]
fn a_flag_wins_over_a_variable_and_a_variable_over_the_file() -> Result<()> {
    let scratch = Scratch::new("options");
    let file = scratch.path().join("ambit.toml");
    std::fs::write(&file, "grace = \"7s\"\nmax-connections = 1\n")?;
    let server = Server::start(&scratch, &["--config", file.to_str().expect("a plain path")])?;
    let _ann = Console::start(&scratch, server.world, "ann", &[])?;
    assert!(Console::start(&scratch, server.world, "bob", &[]).is_err(), "the file allows one connection");
    drop(server);
    let server =
        Server::start(&scratch, &["--config", file.to_str().expect("a plain path"), "--max-connections", "10"])?;
    let _ann = Console::start(&scratch, server.world, "ann", &[])?;
    Console::start(&scratch, server.world, "bob", &[])?;
    Ok(())
}

#[test]
fn what_is_wrong_with_an_option_is_said_in_a_line() -> Result<()> {
    let scratch = Scratch::new("wrong");
    let taken = std::net::UdpSocket::bind("127.0.0.1:0")?;
    let port = taken.local_addr()?.to_string();
    for (arguments, expected) in [
        (vec!["--hosts", "moon"], "process:N"),
        (vec!["--listen", port.as_str()], port.as_str()),
        (vec!["--config", "/nowhere.toml"], "/nowhere.toml"),
    ] {
        let mut command = std::process::Command::new(binary("world-server"));
        scratch.confine(&mut command);
        let output = command.args(["--http", "127.0.0.1:0"]).args(&arguments).output()?;
        assert!(!output.status.success());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains(expected), "{arguments:?}: {said}");
    }
    Ok(())
}
