//! Rooms in child processes: how they are distributed, and what happens when a child dies.

use std::process::{Command, Stdio};

use ambit_tests::real::{self, BotCrowd, Console, ScratchFolder, Server};
use ambit_tests::short_or_long;
use anyhow::Result;
use serde_json::Value;

#[test]
fn rooms_of_a_dead_host_continue_elsewhere_and_keep_their_players() -> Result<()> {
    let scratch = ScratchFolder::new("hosts");
    // By booked load: what a busy machine measures would decide otherwise.
    let server = Server::start(&scratch, &["--hosts", "process:2", "--placement", "least-loaded"])?;
    assert_eq!(server.children().len(), 2, "{}", server.ready);
    let mut consoles = Vec::new();
    let mut addresses = Vec::new();
    for (index, name) in ["ann", "bob", "cat", "dan"].into_iter().enumerate() {
        let mut console = Console::start(&scratch, server.world, name, &[])?;
        console.run_command(&format!("create room{index} game=field npcs=5"), "created")?;
        let started = console.run_command("start", "started")?;
        console.wait_until("the avatar", |event| event["ev"] == "enter" && event["own"] == true)?;
        consoles.push(console);
        let address = started["address"].as_str().unwrap_or_default();
        addresses.push(address.to_owned());
    }
    addresses.sort_unstable();
    assert!(
        addresses[0] == addresses[1]
            && addresses[2] == addresses[3]
            && addresses[1] != addresses[2],
        "{addresses:?}"
    );
    // The avatars move, so that their positions identify them after the failover.
    for console in &mut consoles {
        console.type_in("move 20 20")?;
    }
    let bots: Vec<_> =
        (0..4).map(|room| bots(&scratch, &server, room, 10)).collect::<Result<_>>()?;
    for console in &mut consoles {
        console.wait_until("a bot", |event| {
            event["ev"] == "enter" && event["kind"] == "avatar" && event["own"] != true
        })?;
    }

    let children = server.children();
    real::server_signal(children[0], "KILL")?;
    server.wait_for_metrics("the rooms that move", |metrics| {
        metrics["ambit_rooms_moved_total"] == 2.0
    })?;
    wait_until_moved(&mut consoles, 2)?;
    // Each console has its avatar in sight again.
    for console in &mut consoles {
        let seen = wait_until_in_sight(console)?;
        assert!(
            !console.events.iter().any(|event| event["ev"] == "left" || event["ev"] == "error"),
            "{seen}"
        );
    }
    // The dead host is replaced.
    server.wait_for_metrics("another host", |metrics| metrics["ambit_hosts"] == 2.0)?;
    let replaced = server.children();
    assert!(
        replaced.len() == 2 && replaced.contains(&children[1]),
        "{children:?}, then {replaced:?}"
    );
    for bots in bots {
        let summary = summary(bots)?;
        println!("{summary}");
        assert_eq!(
            (&summary["connected"], &summary["errors"]),
            (&10.into(), &0.into()),
            "{summary}"
        );
    }
    Ok(())
}

#[test]
fn a_hung_host_is_killed_and_replaced_and_its_rooms_continue() -> Result<()> {
    let scratch = ScratchFolder::new("hung");
    // By booked load, so that each host has one room: what a busy machine measures would decide
    // otherwise.
    let flags = ["--hosts", "process:2", "--host-silence", "3s", "--placement", "least-loaded"];
    let server = Server::start(&scratch, &flags)?;
    let mut consoles = Vec::new();
    for name in ["ann", "bob"] {
        let mut console = Console::start(&scratch, server.world, name, &[])?;
        console.run_command(&format!("create {name}'s game=field npcs=5"), "created")?;
        console.run_command("start", "started")?;
        console.wait_until("the avatar", |event| event["ev"] == "enter" && event["own"] == true)?;
        consoles.push(console);
    }
    let children = server.children();
    real::server_signal(children[0], "STOP")?;
    // The hung process is killed and another one starts.
    while real::is_alive(children[0]) || server.children().len() < 2 {
        std::thread::yield_now();
    }
    server.wait_for_metrics("a room that moves", |metrics| {
        metrics["ambit_rooms_moved_total"] == 1.0
    })?;
    server.wait_for_metrics("another host", |metrics| metrics["ambit_hosts"] == 2.0)?;
    wait_until_moved(&mut consoles, 1)?;
    for console in &mut consoles {
        let seen = wait_until_in_sight(console)?;
        assert!(!console.events.iter().any(|event| event["ev"] == "left"), "{seen}");
    }
    Ok(())
}

#[test]
fn child_hosts_start_on_demand_up_to_the_maximum() -> Result<()> {
    let scratch = ScratchFolder::new("elastic");
    let server = Server::start(&scratch, &["--hosts", "process:1..3", "--host-capacity", "1"])?;
    assert!(server.ready.contains("hosts=process:1..3"), "{}", server.ready);
    let mut consoles = Vec::new();
    for (name, hosts) in [("ann", 2.0), ("bob", 3.0), ("cat", 3.0)] {
        let mut console = Console::start(&scratch, server.world, name, &[])?;
        console.run_command("create den game=field npcs=5", "created")?;
        console.run_command("start", "started")?;
        server.wait_for_metrics("the hosts that are wanted", |metrics| {
            metrics["ambit_hosts"] == hosts
        })?;
        consoles.push(console);
    }
    let mut dan = Console::start(&scratch, server.world, "dan", &[])?;
    dan.run_command("create den game=field", "created")?;
    let refused = dan.run_command("start", "error")?;
    assert_eq!(refused["code"], "no_host_available", "{refused}");
    // A room that ends frees its place.
    consoles[0].run_command("leave", "left")?;
    dan.run_command("start", "started")?;
    assert_eq!(server.children().len(), 3);
    Ok(())
}

#[test]
fn rooms_of_ten_bots_spread_evenly_over_four_hosts() -> Result<()> {
    const HOSTS: u32 = 4;
    const BOTS_PER_ROOM: usize = 10;
    /// Of each room: five seconds.
    const MEASURED_TICKS: usize = 100;
    let rooms: usize = short_or_long(16, 40);
    let scratch = ScratchFolder::new("evenly");
    let hosts = format!("process:{HOSTS}");
    // By booked load: what a busy machine measures would decide otherwise.
    let placement = ["--hosts", &hosts, "--placement", "least-loaded"];
    let server = Server::start(&scratch, &placement)?;
    let hosts = server.children();
    // The bots join in four waves, because joining costs most; it is not measured here.
    let mut crowds = Vec::new();
    for wave in 0..4 {
        for room in rooms / 4 * wave..rooms / 4 * (wave + 1) {
            // Light bots that stand still; for the server they cost the same, except for their
            // commands.
            let light = ["--full", "1", "--profile", "idle"];
            let flags = [&light[..], &["--param", "npcs=10", "--param", "size=60x60"]].concat();
            let name = format!("room{room}");
            let crowd = BotCrowd::start(&scratch, server.world, &name, BOTS_PER_ROOM, &flags)?;
            crowds.push(crowd);
        }
        let in_by_now = (rooms / 4 * (wave + 1) * BOTS_PER_ROOM) as f64;
        server.wait_for_metrics("a wave of bots", |metrics| {
            metrics["ambit_host_players"] == in_by_now
        })?;
    }
    crowds.iter_mut().try_for_each(BotCrowd::wait_until_measuring)?;
    let metrics = server.metrics()?;
    let by_host: Vec<f64> = metrics
        .iter()
        .filter(|(name, _)| name.starts_with("ambit_rooms_by_host{"))
        .map(|(_, rooms)| *rooms)
        .collect();
    assert_eq!(by_host, vec![rooms as f64 / f64::from(HOSTS); HOSTS as usize], "rooms by host");
    let before =
        (cpu_seconds(&hosts)?, cpu_seconds(&[server.id()])?, metrics["ambit_tick_seconds_count"]);
    let began = now();
    let ticks = before.2 + (MEASURED_TICKS * rooms) as f64;
    let metrics =
        server.wait_for_metrics("ticks", |metrics| metrics["ambit_tick_seconds_count"] >= ticks)?;
    let seconds = began.elapsed().as_secs_f64();
    let cores = |now: f64, before: f64| (now - before) / seconds;
    println!(
        "{HOSTS} hosts, {rooms} rooms, {} bots: hosts {:.2} cores and {} MiB, \
         lobby {:.3} cores and {} MiB, {:.0} ticks/s of {}",
        rooms * BOTS_PER_ROOM,
        cores(cpu_seconds(&hosts)?, before.0),
        hosts.iter().map(|host| resident_kib(*host)).sum::<Result<u64>>()? / 1_024,
        cores(cpu_seconds(&[server.id()])?, before.1),
        server.resident_kib()? / 1_024,
        (metrics["ambit_tick_seconds_count"] - before.2) / seconds,
        20 * rooms
    );
    let mut ages = Vec::new();
    for bots in crowds {
        let summary = bots.finish()?;
        ages.push((summary["age_ms_p50"].as_u64(), summary["age_ms_p99"].as_u64()));
    }
    ages.sort_unstable();
    println!(
        "age of what is seen, p50 and p99 in ms, of the median room {:?}, of the worst {:?}",
        ages[rooms / 2],
        ages[rooms - 1]
    );
    Ok(())
}

#[test]
fn child_hosts_end_with_their_parent() -> Result<()> {
    let scratch = ScratchFolder::new("orphans");
    let server = Server::start(&scratch, &["--hosts", "process:2"])?;
    let children = server.children();
    assert_eq!(children.len(), 2);
    real::server_signal(server.id(), "KILL")?;
    while children.iter().any(|&id| real::is_alive(id)) {
        std::thread::yield_now();
    }
    Ok(())
}

/// Waits until the players of the dead host are at the other host.
fn wait_until_moved(consoles: &mut [Console], expected: usize) -> Result<()> {
    const ATTEMPTS: usize = 50;
    let mut moved = 0;
    for _ in 0..ATTEMPTS {
        for console in &mut *consoles {
            wait_until_in_sight(console)?;
        }
        moved = consoles.iter().filter(|console| has_moved(console)).count();
        if moved == expected {
            return Ok(());
        }
    }
    anyhow::bail!("{moved} consoles have changed hosts instead of {expected}")
}

/// Repeats `objects` until the own avatar is listed; the room may be moving to another host.
fn wait_until_in_sight(console: &mut Console) -> Result<Value> {
    loop {
        // Each iteration waits for an answer, so the console's time limit ends the loop.
        console.type_in("wait 100ms")?;
        let seen = console.run_command("objects", "objects")?;
        if seen["objects"].as_array().into_iter().flatten().any(|object| object["own"] == true) {
            return Ok(seen);
        }
    }
}

/// Whether the console's room has changed hosts.
fn has_moved(console: &Console) -> bool {
    console.events.iter().any(|event| event["ev"] == "started" && event["again"] == true)
}

/// Starts bots in a room for as long as a test takes.
fn bots(
    scratch: &ScratchFolder,
    server: &Server,
    room: usize,
    count: usize,
) -> Result<std::process::Child> {
    let mut command = Command::new(real::binary("bots"));
    scratch.confine(&mut command);
    let (count, room, server) =
        (count.to_string(), format!("room{room}"), server.world.to_string());
    command.args([
        "--count",
        &count,
        "--seconds",
        "8",
        "--json",
        "--room",
        &room,
        "--server",
        &server,
    ]);
    Ok(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?)
}

fn summary(bots: std::process::Child) -> Result<Value> {
    let output = bots.wait_with_output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(serde_json::from_str(text.lines().last().unwrap_or_default())?)
}

/// User and system time of these processes since their start.
fn cpu_seconds(ids: &[u32]) -> Result<f64> {
    let ticks = ids.iter().map(|id| {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat"))?;
        let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
        let times = fields.split_whitespace().skip(11).take(2).map(str::parse::<u64>);
        times.sum::<Result<u64, _>>().map_err(anyhow::Error::from)
    });
    Ok(ticks.sum::<Result<u64>>()? as f64 / 100.0)
}

fn resident_kib(id: u32) -> Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}

#[expect(clippy::disallowed_methods, reason = "for figures that are printed")]
fn now() -> std::time::Instant {
    std::time::Instant::now()
}
