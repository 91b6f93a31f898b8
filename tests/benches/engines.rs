//! What a frame costs through the C interface, beside one in Rust: clients of one room, with many
//! objects in sight, take turns. Two are in this process. Programs in C and C# (by Mono) load the
//! library for engines, if it is there: `cargo build --profile library -p ambit-client-library`.
//! Then, what memory such a client needs. Prints medians, the best and ratios; stays on loopback
//! and ends by itself.
//!
//! Usage: `cargo bench --bench engines -- [OBJECTS [FOLDER]]`; 1,000 by default, and the folder of
//! the library is `target/library`.

#[path = "../tests/real/engines/c_client.rs"]
#[expect(dead_code, reason = "tests call more")]
mod c_client;

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use ambit_client::Game;
use ambit_tests::real::{self, ScratchFolder, Server, process_family};
use anyhow::{Context, Result, ensure};

use c_client::CClient;

/// Frames of each.
const FRAMES: usize = 3_000;
/// Until all objects have come.
const SETTLE: Duration = Duration::from_secs(15);

/// Clients whose memory is measured.
const CLIENTS: u32 = 16;

fn main() -> Result<()> {
    let mut words = std::env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    let objects: u32 = words.next().map_or(Ok(1_000), |text| text.parse())?;
    let library = words.next().map_or_else(|| real::binary("../library"), PathBuf::from);
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
    let mut programs = Vec::new();
    if library.join("libambit_client.so").exists() {
        programs = Program::compile_all(&scratch, &library)?;
    } else {
        println!("no library in {}: programs in C and C# are left out", library.display());
    }
    let started =
        programs.iter_mut().map(|command| Program::start(command, &[&address, &id.to_string()]));
    measure(&mut game, &join()?, started.collect::<Result<_>>()?)?;
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

fn measure(game: &mut Game, other: &CClient, mut programs: Vec<Program>) -> Result<()> {
    let began = now();
    let mut series = vec![Series::new("Rust"), Series::new("Rust through C's functions")];
    series.extend(programs.iter().map(|program| Series::new(program.name)));
    while series[0].times.len() < FRAMES {
        std::thread::sleep(Duration::from_millis(5));
        game.events().for_each(drop);
        while other.next_event()?.is_some() {}
        let is_settled = began.elapsed() > SETTLE;
        let before = now();
        let in_sight = game.frame_now().objects().len();
        let between = now();
        let in_sight_too = other.frame()?.in_sight as usize;
        let after = now();
        let mut rows =
            vec![(in_sight, between - before, None), (in_sight_too, after - between, None)];
        for program in &mut programs {
            rows.push(program.frame()?);
        }
        if is_settled {
            series.iter_mut().zip(rows).for_each(|(series, row)| series.push(row));
        }
    }
    let rust = series[0].median_and_best_us();
    for one in &mut series {
        one.print(rust);
    }
    programs.into_iter().try_for_each(Program::end)
}

/// What is in sight, what a frame took, and its bytes of garbage, where they are counted.
type Row = (usize, Duration, Option<u64>);

/// What was measured of one client.
struct Series {
    name: &'static str,
    in_sight: usize,
    times: Vec<Duration>,
    /// Of runtimes that count it.
    garbage_bytes: Option<u64>,
}

impl Series {
    fn new(name: &'static str) -> Self {
        Series { name, in_sight: 0, times: Vec::new(), garbage_bytes: None }
    }

    fn push(&mut self, (in_sight, time, garbage_bytes): Row) {
        self.in_sight = in_sight;
        self.times.push(time);
        if let Some(bytes) = garbage_bytes {
            *self.garbage_bytes.get_or_insert(0) += bytes;
        }
    }

    fn median_and_best_us(&mut self) -> [f64; 2] {
        self.times.sort();
        [self.times[self.times.len() / 2], self.times[0]].map(|time| time.as_secs_f64() * 1e6)
    }

    /// Beside the median and the best of Rust.
    fn print(&mut self, rust: [f64; 2]) {
        let [median, best] = self.median_and_best_us();
        print!(
            "{}: {} in sight, median {median:.1} us (ratio {:.2}), best {best:.1} us (ratio {:.2})",
            self.name,
            self.in_sight,
            median / rust[0],
            best / rust[1],
        );
        match self.garbage_bytes {
            Some(bytes) => println!(", {bytes} bytes of garbage in {FRAMES} frames"),
            None => println!(),
        }
    }
}

/// A program that makes a frame when it is told to, and prints what that took.
struct Program {
    name: &'static str,
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    line: String,
}

impl Program {
    /// The commands that run the programs, with the library of a folder.
    fn compile_all(
        scratch: &ScratchFolder,
        library: &Path,
    ) -> Result<Vec<(&'static str, Command)>> {
        let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
        let sources = tests.join("benches/engines");
        let crates = tests.join("../client-core/ffi");
        let in_c = scratch.path().join("frames");
        let mut compiler = Command::new("cc");
        compiler.args(["-std=c11", "-O2", "-I"]).arg(crates.join("include"));
        compiler.arg(sources.join("frames.c")).arg("-L").arg(library).arg("-lambit_client");
        real::run(compiler.arg("-o").arg(&in_c))?;
        let in_csharp = scratch.path().join("Frames.exe");
        let mut compiler = Command::new("mcs");
        compiler.args(["-langversion:7.2", "-unsafe"]).arg(sources.join("Frames.cs"));
        let binding = crates.join("csharp/Runtime");
        compiler.arg(format!("-out:{}", in_csharp.display()));
        real::run(compiler.arg(binding.join("*.cs")))?;
        let mut mono = Command::new("mono");
        mono.arg(in_csharp);
        let mut commands = vec![("C", Command::new(in_c)), ("C#", mono)];
        for (_, command) in &mut commands {
            scratch.confine(command).env("LD_LIBRARY_PATH", library);
        }
        Ok(commands)
    }

    fn start((name, command): &mut (&'static str, Command), words: &[&str]) -> Result<Self> {
        let command = command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn()?;
        let input = process.stdin.take().context("it is a pipe")?;
        let output = BufReader::new(process.stdout.take().context("it is a pipe")?);
        Ok(Program { name, process, input, output, line: String::new() })
    }

    /// Makes one.
    fn frame(&mut self) -> Result<Row> {
        self.input.write_all(b"\n")?;
        self.line.clear();
        self.output.read_line(&mut self.line)?;
        let mut words = self.line.split_whitespace();
        let in_sight = words.next().context("the program has ended")?.parse()?;
        let time = Duration::from_nanos(words.next().context("a time")?.parse()?);
        Ok((in_sight, time, words.next().map(str::parse).transpose()?))
    }

    fn end(mut self) -> Result<()> {
        drop(self.input);
        let status = self.process.wait()?;
        ensure!(status.success(), "{}: {status}", self.name);
        Ok(())
    }
}
