//! Programs in other languages play through the C interface of the client, `libambit_client`, on a
//! bad line: what they see agrees with the server's trace, they survive the death of their host,
//! and they end without an error.

mod c_client;
mod own_ship;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use ambit_tests::real::{self, ScratchFolder, Server, outage, server_signal, wait_until};
use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

/// How long a program plays.
const SECONDS: u64 = 12;
/// When its host is killed.
const KILLED_AFTER: Duration = Duration::from_secs(5);
/// This near is right.
const NEAR_M: f64 = 0.5;
/// A program prints a line a second, with itself and others.
const FEW: usize = 10;
/// The own avatar is drawn ahead of room time by at most this.
const AHEAD_MS: u32 = 500;
/// A row of numbers for an object, or for the own avatar.
type Row = Vec<f64>;

/// One line of a program: what it saw at a time.
#[derive(serde::Deserialize)]
struct Seen {
    time_us: f64,
    /// Id, x, y; none while it is not in sight.
    own: Option<Row>,
    /// Id, kind, x, y each.
    objects: Vec<Row>,
}

#[test]
fn a_program_in_c_sees_what_the_trace_has_and_survives_its_host() -> Result<()> {
    let scratch = ScratchFolder::new("engine-c");
    let program = compile(&scratch, "cc", &["-std=c11"], "c/walk.c")?;
    play(&scratch, &[program])
}

#[test]
fn a_program_in_cpp_sees_what_the_trace_has_and_survives_its_host() -> Result<()> {
    let scratch = ScratchFolder::new("engine-cpp");
    play(&scratch, &[compile_cpp(&scratch, example("cpp/walk.cpp"))?])
}

#[test]
fn a_program_in_python_sees_what_the_trace_has_and_survives_its_host() -> Result<()> {
    let scratch = ScratchFolder::new("engine-python");
    play(&scratch, &["python3".into(), example("python/walk.py")])
}

/// The binding for C#, by Mono: structures as the library has them, no garbage from frames, rules
/// of IL2CPP, wrong calls; then the program.
#[test]
fn a_program_in_csharp_sees_what_the_trace_has_and_survives_its_host() -> Result<()> {
    let scratch = ScratchFolder::new("engine-csharp");
    let server = Server::start(&scratch, &[])?;
    let mut checks = with_library(&scratch, Command::new(example("../csharp/Tests/run")));
    checks.arg(library_folder()).arg(server.world.to_string()).env("OUT", scratch.path());
    real::run(&mut checks)?;
    drop(server);
    play(&scratch, &["mono".into(), scratch.path().join("Walk.exe")])
}

/// They need no server.
#[test]
fn the_bindings_check_themselves() -> Result<()> {
    let scratch = ScratchFolder::new("engine-checks");
    let in_cpp = compile_cpp(&scratch, example("../cpp/tests/checks.cpp"))?;
    real::run(&mut with_library(&scratch, Command::new(in_cpp)))?;
    let mut in_python = Command::new("python3");
    in_python.arg(example("../python/tests/checks.py"));
    real::run(&mut with_library(&scratch, in_python))?;
    Ok(())
}

/// Valgrind sees neither an error nor a leak.
#[test]
fn a_program_in_c_leaves_no_memory_behind() -> Result<()> {
    let scratch = ScratchFolder::new("engine-memory");
    let program = compile(&scratch, "cc", &["-std=c11"], "c/walk.c")?;
    let server = Server::start(&scratch, &[])?;
    let mut command = with_library(&scratch, Command::new("valgrind"));
    command.args(["--quiet", "--error-exitcode=9", "--leak-check=full"]);
    command
        .args(["--show-leak-kinds=definite,indirect", "--errors-for-leak-kinds=definite,indirect"]);
    command.arg(format!("--suppressions={}", example("valgrind.supp").display()));
    command.arg(program).args([&server.world.to_string(), "field", "3"]);
    real::run(&mut command)?;
    Ok(())
}

/// Each language finds the library in its own way.
fn with_library(scratch: &ScratchFolder, mut command: Command) -> Command {
    scratch.confine(&mut command);
    command.env("LD_LIBRARY_PATH", library_folder());
    command.env("AMBIT_CLIENT_LIBRARY", library_folder().join("libambit_client.so"));
    command.env("PYTHONPATH", example("../python")).env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

fn example(name: impl AsRef<Path>) -> PathBuf {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../client-core/ffi");
    crates.join("examples").join(name)
}

fn library_folder() -> PathBuf {
    let library = real::binary("libambit_client.so");
    library.parent().expect("it is in a folder").to_owned()
}

fn compile(
    scratch: &ScratchFolder,
    compiler: &str,
    flags: &[&str],
    source: impl AsRef<Path>,
) -> Result<PathBuf> {
    let program = scratch.path().join("program");
    let mut command = Command::new(compiler);
    command.args(flags).args(["-Wall", "-Wextra", "-Werror", "-O1"]);
    command.arg("-I").arg(example("../include")).arg(example(source));
    command.arg("-L").arg(library_folder()).arg("-lambit_client").arg("-o").arg(&program);
    real::run(&mut command)?;
    Ok(program)
}

fn compile_cpp(scratch: &ScratchFolder, source: PathBuf) -> Result<PathBuf> {
    let headers = example("../cpp/include");
    let headers = headers.to_str().context("a plain path")?;
    compile(scratch, "c++", &["-std=c++17", "-Wpedantic", "-I", headers], source)
}

/// Runs a program in a room of `field`, kills its host on the way, and compares what it printed.
fn play(scratch: &ScratchFolder, words: &[PathBuf]) -> Result<()> {
    let trace = scratch.path().join("trace");
    let flags = ["--hosts", "process:1", "--trace", trace.to_str().context("a plain path")?];
    let server = Server::start(scratch, &flags)?;
    let mut command = with_library(scratch, Command::new(&words[0]));
    command.args(&words[1..]).args([&server.world.to_string(), "field", &SECONDS.to_string()]);
    command.env("AMBIT_PRINT", "json");
    command.env("AMBIT_IMPAIR", "loss=5,delay=20ms,jitter=5ms,seed=1");
    let program = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let files = ["room-1.jsonl", "room-1-2.jsonl"].map(|name| trace.join(name));
    wait_until("the game runs", || Ok(files[0].exists().then_some(())))?;
    outage(KILLED_AFTER);
    server_signal(server.children()[0], "KILL")?;
    let output = program.wait_with_output()?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{}: {errors}", output.status);
    let lines = String::from_utf8(output.stdout)?;
    drop(server);
    let seen = lines.lines().map(serde_json::from_str).collect::<Result<Vec<Seen>, _>>();
    check(&seen.with_context(|| lines.clone())?, &files)
}

/// Each object was where some object of the trace was at that time, the own one where its way led
/// it. The own avatar walks, before and after the death of its host.
fn check(seen: &[Seen], files: &[PathBuf; 2]) -> Result<()> {
    let [before, after] = [read_tracks(&files[0])?, read_tracks(&files[1])?];
    let ended = |tracks: &Tracks| {
        let ends = tracks.values().filter_map(|track| track.last());
        ends.map(|(t, ..)| *t).fold(0.0, f64::max)
    };
    let last_before = ended(&before);
    let began = |tracks: &Tracks| {
        let begins = tracks.values().filter_map(|track| track.first());
        begins.map(|(t, ..)| *t).fold(f64::INFINITY, f64::min)
    };
    // Between two hosts there is nothing to compare with.
    let gap = last_before - f64::from(AHEAD_MS)..began(&after) + f64::from(AHEAD_MS);
    let mut compared = 0;
    let mut errors = Vec::new();
    let mut walked_m = [0.0, 0.0];
    let mut last: Option<[f64; 2]> = None;
    for Seen { time_us, own, objects } in seen {
        let t = time_us / 1_000.0;
        let own = own.as_deref().unwrap_or_default();
        let is_after = t > last_before;
        let tracks = if is_after { &after } else { &before };
        for object in objects.iter().filter(|_| !gap.contains(&t)) {
            let &[id, _, x, y] = &object[..] else { bail!("no object: {object:?}") };
            let ahead_ms = if own.first() == Some(&id) { AHEAD_MS } else { 0 };
            let times = || (0..=ahead_ms).step_by(10).map(|ms| t + f64::from(ms));
            let places = tracks.values().flat_map(|track| times().filter_map(|t| at(track, t)));
            let error = places.map(|(at_x, at_y)| (x - at_x).hypot(y - at_y)).fold(99.0, f64::min);
            compared += 1;
            errors.push(error);
        }
        if let &[_, x, y] = own {
            if let Some([last_x, last_y]) = last {
                walked_m[usize::from(is_after)] += (x - last_x).hypot(y - last_y);
            }
            last = Some([x, y]);
        }
    }
    errors.sort_by(f64::total_cmp);
    let near = errors.iter().filter(|error| **error < NEAR_M).count();
    println!("{compared} positions, {near} within {NEAR_M} m; walked {walked_m:?} m");
    ensure!(compared >= FEW, "only {compared} positions in {} lines", seen.len());
    // A lost datagram is drawn late.
    ensure!(near * 100 >= compared * 95, "{near} of {compared} are right: {errors:?}");
    ensure!(walked_m.iter().all(|walked| *walked > 5.0), "it walked {walked_m:?} m");
    Ok(())
}

/// Of each object of the trace: room time in milliseconds, x, y.
type Tracks = BTreeMap<u64, Vec<(f64, f64, f64)>>;

fn read_tracks(path: &Path) -> Result<Tracks> {
    let mut tracks = Tracks::new();
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    // The last line of a host that was killed may be cut.
    for line in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        if let ("spawn" | "move", Some(id)) =
            (line["ev"].as_str().unwrap_or_default(), line["id"].as_u64())
        {
            let number = |key: &str| line[key].as_f64();
            if let (Some(t), Some(x), Some(y)) = (number("t"), number("x"), number("y")) {
                tracks.entry(id).or_default().push((t, x, y));
            }
        }
    }
    Ok(tracks)
}

/// Where it was, on a straight line between two ticks; where it stood, if it did not move.
fn at(track: &[(f64, f64, f64)], t: f64) -> Option<(f64, f64)> {
    let next = track.partition_point(|(at, ..)| *at <= t);
    let &(from, x, y) = track.get(next.checked_sub(1)?)?;
    let Some(&(to, next_x, next_y)) = track.get(next).filter(|(to, ..)| to - from < 60.0) else {
        return Some((x, y));
    };
    let share = (t - from) / (to - from);
    Some((x + (next_x - x) * share, y + (next_y - y) * share))
}
