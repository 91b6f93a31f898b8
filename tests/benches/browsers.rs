//! What players in a browser cost the server, beside native ones that do the same; and whether a
//! page with many clients stays healthy. Prints a table; stays on loopback and ends by itself.
//!
//! In each row, that many clients are in a room of `field` and walk to a random point every two
//! seconds: native ones as consoles, browser ones all in one page. The server's processor time and
//! its datagrams are counted from the first second after all have arrived to the last one.
//!
//! Then one client in a page has 1,000 walking objects in sight. What it needs for a frame is
//! measured in the page: to decode what has come since the frame before, and to sample all objects.
//!
//! Usage: `cargo bench --bench browsers -- [CLIENTS [SECONDS]]`; 30 and 60 by default.

use std::fs::File;
use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use ambit_tests::real::{self, Browser, Console, Metrics, ScratchFolder, Server};
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value as Json, json};
use tokio::runtime::Runtime;

/// Extent of the map, in metres.
const SIZE_M: u32 = 100;
const NPCS: u32 = 20;
const WALK_INTERVAL_S: u32 = 2;
/// How often the memory of the browser is read.
const SAMPLES: u32 = 6;

/// Connects `args.count` clients, which join the room and walk until `stop` is called.
const PLAY: &str = r#"
    const { connect } = globalThis.ambit;
    const faults = [];
    const bad = new Set(["error", "closed", "ended", "interrupted", "missed", "refused"]);
    const clients = [];
    const figures = { frames: 0, frame_ms: 0, slowest_ms: 0 };
    for (let index = 0; index < args.count; index += 1) {
      const client = await connect({ name: `page-${index}`, wasm: "ambit.wasm" });
      const room = await client.joinRoom(args.room);
      clients.push({ client, game: await room.play() });
    }
    const point = () => 1 + Math.random() * (args.size - 2);
    const walks = clients.map(({ game }) =>
      setInterval(() => game.send("move", [point(), point()]), args.interval * 1000));
    let isOver = false;
    const draw = time => {
      if (isOver) return;
      const before = performance.now();
      for (const { client, game } of clients) {
        game.frame(time);
        for (const event of [...client.events(), ...game.events()]) {
          if (bad.has(event.ev) && faults.length < 20) faults.push(event);
        }
      }
      const took = performance.now() - before;
      figures.frames += 1;
      figures.frame_ms += took;
      figures.slowest_ms = Math.max(figures.slowest_ms, took);
      requestAnimationFrame(draw);
    };
    requestAnimationFrame(draw);
    globalThis.stopBench = async () => {
      isOver = true;
      walks.forEach(clearInterval);
      const shown = clients.map(({ game }) => game.frame(performance.now()).count);
      const stats = await Promise.all(clients.map(({ client }) => client.stats()));
      for (const { client } of clients) await client.quit();
      return { faults, shown, stats, ...figures };
    };
    return clients.length;
"#;

/// Extent of the map on which one client sees all objects. Their number: some are dead or hidden,
/// and 1,000 are to be in sight.
const CROWDED_SIZE_M: u32 = 45;
const CROWD: u32 = 1_250;
/// How long their frames are measured, after the time in which they have all come.
const CROWD_S: u32 = 20;
const CROWD_WARM_UP_S: u32 = 10;

/// Connects one client, which joins the room `args.room`, and measures its frames.
const WATCH: &str = r#"
    const { connect } = globalThis.ambit;
    const client = await connect({ name: "page", wasm: "ambit.wasm" });
    const game = await (await client.joinRoom(args.room)).play();
    const center = args.size / 2;
    game.send("move", [center, center]);
    const nextFrame = () => new Promise(resolve => requestAnimationFrame(resolve));
    const frames = [];
    let objects = Infinity;
    let before;
    const begin = performance.now() + args.warm_up * 1000;
    for (;;) {
      const time = await nextFrame();
      const beganAt = performance.now();
      const frame = game.frame(time);
      const sampling = performance.now() - beganAt;
      client.events();
      game.events();
      if (time > begin) {
        before ??= (await client.stats()).worker;
        frames.push(sampling);
        objects = Math.min(objects, frame.count);
      }
      if (time > begin + args.seconds * 1000) break;
    }
    const { worker } = await client.stats();
    await client.quit();
    const took = key => (worker[key] - before[key]) / frames.length;
    return { frames, objects, decoding: took("decoding_ms"), drawing: took("drawing_ms") };
"#;

/// What a row has measured.
struct Measured {
    cores: f64,
    datagrams: f64,
    bytes: f64,
}

fn main() -> Result<()> {
    let mut numbers = std::env::args().skip(1).filter_map(|argument| argument.parse().ok());
    let clients: u32 = numbers.next().unwrap_or(30);
    let seconds: u32 = numbers.next().unwrap_or(60);
    println!(
        "| clients | cores of the server | datagrams/s to them | kB/s to them | browser MiB, by \
         time |\n| --- | --- | --- | --- | --- |"
    );
    let native = measure_native(clients, seconds)?;
    print_row("native", clients, &native, "-");
    let (browser, memory, report) = measure_browser(clients, seconds)?;
    let memory: Vec<String> = memory.iter().map(u64::to_string).collect();
    print_row("in a page", clients, &browser, &memory.join(", "));
    println!(
        "\nprocessor time: {:.2} times that of native clients\n{report}",
        browser.cores / native.cores
    );
    println!("\n{}", measure_crowd()?);
    Ok(())
}

/// One client in a page, and many objects.
fn measure_crowd() -> Result<String> {
    let scratch = ScratchFolder::new("bench-browsers-crowd");
    let (server, _host, room) = start_room(&scratch, CROWDED_SIZE_M, CROWD)?;
    let end = Runtime::new()?.block_on(async {
        let browser = open_page(&scratch, &server).await?;
        let args = json!({
            "room": room,
            "size": CROWDED_SIZE_M,
            "seconds": CROWD_S,
            "warm_up": CROWD_WARM_UP_S,
        });
        let end = browser.run(WATCH, args).await?;
        browser.close().await?;
        anyhow::Ok(end)
    })?;
    let mut frames: Vec<f64> = serde_json::from_value(end["frames"].clone())?;
    ensure!(!frames.is_empty(), "the page has drawn no frame");
    frames.sort_by(f64::total_cmp);
    let at = |percent: usize| frames[(frames.len() * percent / 100).min(frames.len() - 1)];
    let worker = |key: &str| end[key].as_f64().unwrap_or(f64::NAN);
    Ok(format!(
        "{} objects in sight at least, {} frames in {CROWD_S} s: in the worker decoding {:.2} ms \
         and drawing {:.2} ms a frame (mean); in the page {:.1} ms (p50), {:.1} ms (p99), {:.1} ms \
         (max)",
        end["objects"],
        frames.len(),
        worker("decoding"),
        worker("drawing"),
        at(50),
        at(99),
        at(100)
    ))
}

/// The lobby of the page, in a browser of its own.
async fn open_page(scratch: &ScratchFolder, server: &Server) -> Result<Browser> {
    let browser = Browser::start(scratch).await?;
    browser.open(&format!("http://{}/", server.http)).await?;
    let ready = "while (!globalThis.ambit?.client) await new Promise(requestAnimationFrame);";
    browser.run(ready, json!({})).await?;
    Ok(browser)
}

fn print_row(kind: &str, clients: u32, row: &Measured, memory: &str) {
    println!(
        "| {clients} {kind} | {:.3} | {:.0} | {:.1} | {memory} |",
        row.cores,
        row.datagrams,
        row.bytes / 1e3
    );
}

/// A server with a room that runs; the console that made it walks nowhere.
fn start_room(scratch: &ScratchFolder, size: u32, npcs: u32) -> Result<(Server, Console, u64)> {
    let server = Server::start(scratch, &[])?;
    let mut host = Console::start(scratch, server.world, "host", &[])?;
    let create =
        format!("create den game=field size={size}x{size} capacity=100 npcs={npcs} obstacles=0");
    let created = host.run_command(&create, "created")?;
    host.run_command("start", "started")?;
    let room = created["id"].as_u64().context("the room's number")?;
    Ok((server, host, room))
}

fn measure_native(clients: u32, seconds: u32) -> Result<Measured> {
    let scratch = ScratchFolder::new("bench-browsers-native");
    let (server, _host, _) = start_room(&scratch, SIZE_M, NPCS)?;
    let mut players = (0..clients)
        .map(|number| start_walker(&scratch, &server, number, seconds + 30))
        .collect::<Result<Vec<_>>>()?;
    server.wait_for_metrics("all players", |metrics| {
        metrics["ambit_host_players"] == f64::from(clients + 1)
    })?;
    std::thread::sleep(Duration::from_secs(1));
    let measured = measure(&server, seconds, || Ok(()))?;
    for player in &mut players {
        player.kill()?;
        player.wait()?;
    }
    Ok(measured)
}

/// A console whose script walks to random points.
fn start_walker(scratch: &ScratchFolder, server: &Server, number: u32, s: u32) -> Result<Child> {
    let path = scratch.path().join(format!("walk-{number}"));
    let mut script = File::create(&path)?;
    let mut random = fastrand::Rng::with_seed(u64::from(number));
    writeln!(script, "join den\nwait-for started 30s")?;
    for _ in 0..s / WALK_INTERVAL_S {
        let [x, y] = [(); 2].map(|()| random.u32(1..SIZE_M));
        writeln!(script, "move {x} {y}\nwait {WALK_INTERVAL_S}s")?;
    }
    let mut command = Command::new(real::binary("console"));
    scratch.confine(&mut command);
    command.args(["--server", &server.world.to_string()]);
    command.args(["--name", &format!("native-{number}"), "--script"]);
    command.arg(path).stdout(Stdio::null()).stderr(Stdio::null());
    Ok(command.spawn()?)
}

fn measure_browser(clients: u32, seconds: u32) -> Result<(Measured, Vec<u64>, String)> {
    let scratch = ScratchFolder::new("bench-browsers-page");
    let (server, _host, room) = start_room(&scratch, SIZE_M, NPCS)?;
    let runtime = Runtime::new()?;
    let browser = runtime.block_on(async {
        let browser = open_page(&scratch, &server).await?;
        let args = json!({
            "count": clients,
            "room": room,
            "size": SIZE_M,
            "interval": WALK_INTERVAL_S,
        });
        browser.run(PLAY, args).await?;
        anyhow::Ok(browser)
    })?;
    let mut memory = Vec::new();
    let measured = measure(&server, seconds, || {
        memory.push(resident_mib(browser.driver_id())?);
        Ok(())
    })?;
    let end = runtime.block_on(browser.run("return stopBench();", json!({})))?;
    runtime.block_on(browser.close())?;
    ensure!(end["faults"] == json!([]), "clients of the page report {}", end["faults"]);
    Ok((measured, memory, describe(&end)))
}

fn describe(end: &Json) -> String {
    let number = |key: &str| end[key].as_f64().unwrap_or_default();
    let shown: Vec<u64> =
        end["shown"].as_array().into_iter().flatten().filter_map(Json::as_u64).collect();
    format!(
        "{} frames of all clients: {:.2} ms each, the slowest {:.1} ms; a client shows {} to {} \
         objects; no client has reported an error",
        number("frames"),
        number("frame_ms") / number("frames").max(1.0),
        number("slowest_ms"),
        shown.iter().min().unwrap_or(&0),
        shown.iter().max().unwrap_or(&0),
    )
}

/// Lets the server run for that long; calls `sample` several times meanwhile.
fn measure(
    server: &Server,
    seconds: u32,
    mut sample: impl FnMut() -> Result<()>,
) -> Result<Measured> {
    let cpu = server.cpu_time()?;
    let before = server.metrics()?;
    for _ in 0..SAMPLES {
        std::thread::sleep(Duration::from_secs(u64::from(seconds)) / SAMPLES);
        sample()?;
    }
    let cpu = server.cpu_time()?.saturating_sub(cpu);
    let after = server.metrics()?;
    let seconds = f64::from(seconds);
    let rate = |name: &str| {
        let sum = |metrics: &Metrics| -> f64 {
            let series = metrics.iter().filter(|(series, _)| series.starts_with(name));
            series.map(|(_, value)| value).sum()
        };
        (sum(&after) - sum(&before)) / seconds
    };
    Ok(Measured {
        cores: cpu.as_secs_f64() / seconds,
        datagrams: rate("ambit_datagrams_total{direction=\"out\"}"),
        bytes: rate("ambit_datagram_bytes_total{direction=\"out\"}"),
    })
}

/// Resident memory of a process and its descendants.
fn resident_mib(root: u32) -> Result<u64> {
    let family = real::process_family(root)?;
    let pages: u64 = family.iter().map(|(_, pages)| pages).sum();
    Ok(pages * 4_096 / 1_048_576)
}
