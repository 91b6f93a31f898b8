//! The server itself: start, HTTP, drain, options.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt as _;
use std::process::{Command, Stdio};

use ambit_tests::real::{self, Console, Host, Metrics, ScratchFolder, Server, binary};
use anyhow::{Context as _, Result};
use nix::fcntl::OFlag;
use nix::pty::{PtyMaster, grantpt, posix_openpt, ptsname_r, unlockpt};
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};

#[test]
fn sigterm_drains_and_ends_with_0() -> Result<()> {
    let scratch = ScratchFolder::new("drain");
    let server = Server::start(&scratch, &[])?;
    let mut ann = Console::start(&scratch, server.world, "ann", &[])?;
    ann.run_command("create meadow game=field", "created")?;
    ann.run_command("start", "started")?;
    assert_eq!(server.terminate()?, Some(0));
    expect_server_closed(&mut ann)
}

#[test]
fn a_drain_ends_the_hosts_and_their_players_sessions() -> Result<()> {
    let scratch = ScratchFolder::new("drain-hosts");
    let server = Server::start(&scratch, &["--hosts", "process:2"])?;
    let children = server.children();
    let mut consoles = Vec::new();
    for name in ["ann", "bob"] {
        let mut console = Console::start(&scratch, server.world, name, &[])?;
        console.run_command(&format!("create {name} game=field"), "created")?;
        console.run_command("start", "started")?;
        console.wait_until("the avatar", |event| event["ev"] == "enter" && event["own"] == true)?;
        consoles.push(console);
    }
    assert_eq!(server.terminate()?, Some(0));
    expect_ended(&children);
    consoles.iter_mut().try_for_each(expect_server_closed)
}

/// A terminal, which is closed with the first of the two: no process that is started has it, too.
fn open_terminal() -> Result<(PtyMaster, OwnedFd)> {
    let terminal = posix_openpt(OFlag::O_RDWR | OFlag::O_NOCTTY | OFlag::O_CLOEXEC)?;
    grantpt(&terminal)?;
    unlockpt(&terminal)?;
    let name = ptsname_r(&terminal)?;
    let its_end =
        File::options().read(true).write(true).custom_flags(OFlag::O_NOCTTY.bits()).open(name)?;
    Ok((terminal, its_end.into()))
}

/// As SIGTERM does. A process that is started with `nohup` ignores the end of its terminal.
#[test]
fn the_end_of_a_terminal_drains_servers_and_hosts() -> Result<()> {
    let scratch = ScratchFolder::new("hangup");
    // What handles the signal leaves no process that it starts to ignore it: `nohup tests/run`.
    let runtime = Runtime::new()?;
    let _entered = runtime.enter();
    let _hangups = signal(SignalKind::hangup())?;
    for hosts in ["embedded", "process:2"] {
        let (terminal, its_end) = open_terminal()?;
        let server = Server::start_at(&scratch, &["--hosts", hosts], its_end)?;
        let children = server.children();
        let mut ann = Console::start(&scratch, server.world, "ann", &[])?;
        ann.run_command("create meadow game=field", "created")?;
        ann.run_command("start", "started")?;
        drop(terminal);
        // A terminal sends it to the children, too, and a shell sends it once more.
        for id in children.iter().copied().chain([server.id()]) {
            real::server_signal(id, "HUP")?;
        }
        assert_eq!(server.end_by("HUP")?, Some(0), "{hosts}");
        expect_ended(&children);
        expect_server_closed(&mut ann)?;
    }
    Ok(())
}

#[test]
fn a_hangup_without_the_end_of_a_terminal_reads_files_again() -> Result<()> {
    let scratch = ScratchFolder::new("reload");
    let runtime = Runtime::new()?;
    let _entered = runtime.enter();
    let _hangups = signal(SignalKind::hangup())?;
    let file = scratch.path().join("keys");
    let first = "operate ann first-key-0123456789";
    std::fs::write(&file, first)?;
    let flags = ["--admin-key-file", file.to_str().context("a plain path")?];
    let more = ["--host-key", Host::KEY, "--hosts", "process:1"];
    let mut server = Server::start(&scratch, &[&flags[..], &more[..]].concat())?;
    let status = |server: &Server, key: &str, method: &str| -> Result<u16> {
        let header = format!("Authorization: Bearer {key}\r\n");
        let path = if method == "POST" { "reload" } else { "rooms" };
        Ok(server.request_with(method, &format!("/admin/v1/{path}"), &header, "")?.status)
    };
    let mut host = Host::start(&scratch, &server, &[], &[])?;
    host.wait_for_log("connected to the WorldServer")?;
    real::server_signal(host.id(), "HUP")?;
    std::fs::write(&file, "operate bob second-key-0123456789")?;
    assert_eq!(status(&server, "second-key-0123456789", "GET")?, 401);
    real::server_signal(server.id(), "HUP")?;
    real::wait_until("the new key", || {
        Ok((status(&server, "second-key-0123456789", "GET")? == 200).then_some(()))
    })?;
    assert_eq!(status(&server, "first-key-0123456789", "GET")?, 401);
    // A bad file changes nothing, and the answer says so.
    std::fs::write(&file, "operate")?;
    assert_eq!(status(&server, "second-key-0123456789", "POST")?, 400);
    std::fs::write(&file, first)?;
    assert_eq!(status(&server, "second-key-0123456789", "POST")?, 200);
    assert_eq!(status(&server, "first-key-0123456789", "GET")?, 200);
    let log = server.take_log();
    let problem = "keys of operators: nothing is changed";
    assert!(log.iter().any(|line| line.contains(problem)), "{log:#?}");
    let (ended, log) = host.end_by("TERM")?;
    assert_eq!(ended, Some(0), "{log:?}");
    Ok(())
}

#[test]
fn a_server_whose_output_is_full_or_closed_goes_on() -> Result<()> {
    let scratch = ScratchFolder::new("full");
    let full = || File::options().write(true).open("/dev/full");
    for is_closed in [false, true] {
        let free = std::net::UdpSocket::bind("127.0.0.1:0")?.local_addr()?;
        let mut command = Command::new(binary("world-server"));
        scratch.confine(&mut command);
        command.args(["--http", "off", "--listen", &free.to_string()]);
        let mut server = if is_closed {
            let mut server = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
            // Nothing reads them.
            drop((server.stdout.take(), server.stderr.take()));
            server
        } else {
            command.stdout(full()?).stderr(full()?).spawn()?
        };
        let mut ann = Console::start(&scratch, free, "ann", &[])?;
        ann.run_command("create meadow game=field", "created")?;
        ann.run_command("start", "started")?;
        real::server_signal(server.id(), "TERM")?;
        assert_eq!(server.wait()?.code(), Some(0));
        expect_server_closed(&mut ann)?;
    }
    Ok(())
}

#[test]
fn a_draining_server_is_not_healthy() -> Result<()> {
    let scratch = ScratchFolder::new("unhealthy");
    let server = Server::start(&scratch, &["--hosts", "process:1"])?;
    let children = server.children();
    // A stopped host keeps the draining server from ending until it continues.
    real::server_signal(children[0], "STOP")?;
    real::server_signal(server.id(), "TERM")?;
    let (status, body) = loop {
        match server.get("/healthz")? {
            (200, _) => std::thread::yield_now(),
            other => break other,
        }
    };
    assert_eq!((status, body.as_str()), (503, "draining\n"));
    real::server_signal(children[0], "CONT")?;
    assert_eq!(server.wait()?, Some(0));
    expect_ended(&children);
    Ok(())
}

#[test]
fn health_and_metrics_answer() -> Result<()> {
    let scratch = ScratchFolder::new("metrics");
    let server = Server::start(&scratch, &[])?;
    assert_eq!(server.get("/healthz")?.0, 200);
    let mut ann = Console::start(&scratch, server.world, "ann", &[])?;
    ann.run_command("create meadow game=field", "created")?;
    ann.run_command("start", "started")?;
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
    let seen = |metrics: &Metrics| {
        metrics.iter().any(|(name, &value)| name.contains("enters") && value > 0.0)
    };
    let metrics = server.wait_for_metrics("her avatar", seen)?;
    for name in wanted {
        assert!(
            metrics.keys().any(|series| series.contains(name)),
            "no series with '{name}' in {:?}",
            metrics.keys()
        );
    }
    Ok(())
}

#[test]
fn metrics_count_what_happened() -> Result<()> {
    let scratch = ScratchFolder::new("figures");
    let server = Server::start(&scratch, &[])?;
    let mut ann = Console::start(&scratch, server.world, "ann", &[])?;
    let created = ann.run_command("create meadow game=field npcs=0", "created")?;
    ann.run_command("start", "started")?;
    let mut consoles = vec![ann];
    for name in ["bob", "cat"] {
        let mut console = Console::start(&scratch, server.world, name, &[])?;
        console.run_command(&format!("join {}", created["room"]), "joined")?;
        consoles.push(console);
    }
    for console in &mut consoles {
        console.wait_until("the avatar", |event| event["ev"] == "enter" && event["own"] == true)?;
    }
    let metrics = server.wait_for_metrics("three avatars", |metrics| {
        metrics["ambit_host_players"] == 3.0 && metrics["ambit_enters_total"] >= 3.0
    })?;
    for (series, expected) in
        [("connections", 3.0), ("players", 3.0), ("rooms", 1.0), ("rooms_running", 1.0)]
    {
        assert_eq!(metrics[&format!("ambit_{series}")], expected, "{series}");
    }
    for direction in ["in", "out"] {
        let datagrams = metrics[&format!("ambit_datagrams_total{{direction=\"{direction}\"}}")];
        let bytes = metrics[&format!("ambit_datagram_bytes_total{{direction=\"{direction}\"}}")];
        assert!(
            datagrams > 0.0 && bytes > datagrams,
            "{direction}: {datagrams} datagrams, {bytes} bytes"
        );
    }
    Ok(())
}

#[test]
fn a_data_directory_in_use_is_refused_until_its_server_has_ended() -> Result<()> {
    let scratch = ScratchFolder::new("data-dir");
    let first = Server::start(&scratch, &["--hosts", "process:1"])?;
    let run_second = || -> Result<(Option<i32>, String)> {
        let mut command = Command::new(binary("world-server"));
        scratch.confine(&mut command);
        let output = real::output(command.args(["--listen", "127.0.0.1:0", "--http", "off"]))?;
        Ok((output.status.code(), String::from_utf8(output.stderr)?))
    };
    let (status, said) = run_second()?;
    assert_eq!(status, Some(1), "{said}");
    for part in [scratch.path().to_str().context("plain")?, "another server uses", "--data-dir"] {
        assert!(said.contains(part), "{said}");
    }
    let elsewhere = scratch.path().join("elsewhere").display().to_string();
    let _other = Server::start(&scratch, &["--data-dir", &elsewhere])?;
    // Another one may follow at once, however the first one ends.
    let mut last = first;
    for signal in ["KILL", "TERM"] {
        real::server_signal(last.id(), signal)?;
        last.wait()?;
        last = Server::start(&scratch, &["--hosts", "process:1"])?;
    }
    Ok(())
}

#[test]
fn a_flag_overrides_a_variable_and_a_variable_the_file() -> Result<()> {
    let scratch = ScratchFolder::new("options");
    let file = scratch.path().join("ambit.toml");
    std::fs::write(&file, "grace = \"7s\"\nmax-connections = 1\n")?;
    let file = ["--config", file.to_str().expect("a plain path")];
    let variable = [("AMBIT_MAX_CONNECTIONS", "2")];
    let check = |server: Server, allowed: usize| -> Result<()> {
        let start = |name: &&str| Console::start(&scratch, server.world, name, &[]);
        let _allowed =
            ["ann", "bob", "cat"][..allowed].iter().map(start).collect::<Result<Vec<_>>>()?;
        let one_more = start(&"dan").err().expect("there are as many as allowed");
        assert!(format!("{one_more:#}").contains("too_many_connections"), "{one_more:#}");
        Ok(())
    };
    check(Server::start(&scratch, &file)?, 1)?;
    check(Server::start_with(&scratch, &file, &variable)?, 2)?;
    check(
        Server::start_with(
            &scratch,
            &[&file[..], &["--max-connections", "3"]].concat(),
            &variable,
        )?,
        3,
    )
}

#[test]
fn a_wrong_option_is_explained_in_one_line() -> Result<()> {
    let scratch = ScratchFolder::new("wrong");
    let taken = std::net::UdpSocket::bind("127.0.0.1:0")?;
    let port = taken.local_addr()?.to_string();
    for (arguments, expected) in [
        (vec!["--hosts", "moon"], "process:N"),
        (vec!["--listen", port.as_str()], port.as_str()),
        (vec!["--config", "/nowhere.toml"], "/nowhere.toml"),
    ] {
        let mut command = Command::new(binary("world-server"));
        scratch.confine(&mut command);
        let output = real::output(command.args(["--http", "127.0.0.1:0"]).args(&arguments))?;
        assert!(!output.status.success());
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(errors.contains(expected), "{arguments:?}: {errors}");
    }
    Ok(())
}

/// The player is notified why the game ended.
fn expect_server_closed(console: &mut Console) -> Result<()> {
    let reason = console.wait_until("the reason", |event| {
        ["left", "error"].contains(&event["ev"].as_str().unwrap_or_default())
    })?;
    let text = reason.to_string();
    assert!(text.contains("drain") || text.contains("room_closed"), "{text}");
    Ok(())
}

/// Waits until none of these processes runs.
fn expect_ended(processes: &[u32]) {
    while processes.iter().any(|&id| real::is_alive(id)) {
        std::thread::yield_now();
    }
}
