//! Programs in other languages play through the C interface of the client, `libambit_client`, on a
//! bad line: what they see agrees with the server's trace, they survive the death of their host,
//! and they end without an error.

mod apart;
mod c_client;
mod log;
mod one_handle;
mod own_ship;
mod rows;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use ambit_tests::real::{self, Console, ScratchFolder, Server, outage, server_signal, wait_until};
use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

/// How long a program plays.
const SECONDS: &str = "26";
/// When its host is killed.
const KILLED_AFTER: Duration = Duration::from_secs(5);
/// This near is right.
const NEAR_M: f64 = 0.5;
/// The same of ships: as far as one flies while a new host learns which keys are held.
const NEAR_SHIP_M: f64 = 5.0;
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

/// What the others are compared with.
#[test]
fn a_program_in_rust_sees_what_the_trace_has_and_survives_its_host() -> Result<()> {
    let scratch = ScratchFolder::new("engine-rust");
    play(&scratch, &[real::binary("examples/walk")])
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

/// Valgrind sees neither an error nor a leak, also if the host dies on the way.
#[test]
fn a_program_in_c_leaves_no_memory_behind() -> Result<()> {
    let scratch = ScratchFolder::new("engine-memory");
    let program = compile(&scratch, "cc", &["-std=c11"], "c/walk.c")?;
    let trace = scratch.path().join("trace");
    let server = traced_server(&scratch, &trace)?;
    let mut command = with_library(&scratch, Command::new("valgrind"));
    command.args(["--quiet", "--error-exitcode=9", "--leak-check=full"]);
    command
        .args(["--show-leak-kinds=definite,indirect", "--errors-for-leak-kinds=definite,indirect"]);
    command.arg(format!("--suppressions={}", example("valgrind.supp").display()));
    command.arg(program).args([&server.world.to_string(), "field", "8"]);
    let checked = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let files = ["room-1.jsonl", "room-1-2.jsonl"].map(|name| trace.join(name));
    wait_until("the game runs", || Ok(files[0].exists().then_some(())))?;
    kill_host(&server, Duration::from_secs(2))?;
    printed(checked)?;
    ensure!(files[1].exists(), "the game did not go on at another host");
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

/// Runs a program in a room of each game, kills their host on the way, and compares what they
/// printed. In `field` it makes its room; in `shooter` it joins one without pilots, so that nothing
/// shoots it, and a program in Rust plays there, too: the same is asked of both.
fn play(scratch: &ScratchFolder, words: &[PathBuf]) -> Result<()> {
    let trace = scratch.path().join("trace");
    let server = traced_server(scratch, &trace)?;
    let start = |words: &[PathBuf], rest: &[&str]| {
        let mut command = with_library(scratch, Command::new(&words[0]));
        command.args(&words[1..]).arg(server.world.to_string()).args(rest);
        command.env("AMBIT_PRINT", "json");
        command.env("AMBIT_IMPAIR", "loss=5,delay=20ms,jitter=5ms,seed=1");
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
    };
    let walks = start(words, &["field", SECONDS])?;
    let files = |room: u32| {
        [format!("room-{room}.jsonl"), format!("room-{room}-2.jsonl")].map(|name| trace.join(name))
    };
    wait_until("the game runs", || Ok(files(1)[0].exists().then_some(())))?;
    let mut host = Console::start(scratch, server.world, "host", &[])?;
    host.run_command("create arena game=shooter ships=0 size=300x300", "created")?;
    host.run_command("start", "started")?;
    let in_rust = [real::binary("examples/walk")];
    let flies =
        [start(words, &["shooter", SECONDS, "2"])?, start(&in_rust, &["shooter", SECONDS, "2"])?];
    kill_host(&server, KILLED_AFTER)?;
    let walked = printed(walks)?;
    let flown = flies.into_iter().map(printed).collect::<Result<Vec<_>>>()?;
    drop((host, server));
    check(&walked, &files(1), NEAR_M).context("field")?;
    for lines in flown {
        check(&lines, &files(2), NEAR_SHIP_M).context("shooter")?;
    }
    Ok(())
}

/// One host, which runs all rooms, and a file of each room's trace.
fn traced_server(scratch: &ScratchFolder, trace: &Path) -> Result<Server> {
    let flags = ["--hosts", "process:1", "--trace", trace.to_str().context("a plain path")?];
    Server::start(scratch, &flags)
}

fn kill_host(server: &Server, after: Duration) -> Result<()> {
    outage(after);
    server_signal(server.children()[0], "KILL")
}

/// What a program prints, once it has ended without an error.
fn printed(program: Child) -> Result<String> {
    let output = program.wait_with_output()?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{}: {errors}", output.status);
    Ok(String::from_utf8(output.stdout)?)
}

/// Each object was where some object of the trace was at that time, the own one where its way led
/// it. The own avatar moves, before and after the death of its host.
fn check(lines: &str, files: &[PathBuf; 2], near_m: f64) -> Result<()> {
    let seen = lines.lines().map(serde_json::from_str).collect::<Result<Vec<Seen>, _>>();
    let seen = seen.with_context(|| lines.to_owned())?;
    let [mut tracks, after] = [read_tracks(&files[0])?, read_tracks(&files[1])?];
    let times = |tracks: &Tracks| {
        let mut times: Vec<f64> = tracks.values().flatten().map(|(t, ..)| *t).collect();
        times.sort_by(f64::total_cmp);
        times
    };
    let last_before = times(&tracks).last().copied().context("a trace before")?;
    let first_after = times(&after).first().copied().context("a trace after")?;
    // The second host goes on with the objects of the first one, and says nothing of those that
    // stand.
    for track in tracks.values_mut() {
        track.retain(|(t, ..)| *t < first_after);
    }
    for (id, track) in after {
        tracks.entry(id).or_default().extend(track);
    }
    // With another host all ids are new: an object that was there before is what is left of the old
    // one.
    let mut old_ids = BTreeSet::new();
    let mut errors = Vec::new();
    let mut moved_m = [0.0, 0.0];
    let mut last: Option<[f64; 2]> = None;
    for Seen { time_us, own, objects } in &seen {
        let t = time_us / 1_000.0;
        let own = own.as_deref().unwrap_or_default();
        let is_after = t > first_after;
        for object in objects {
            let &[id, _, x, y] = &object[..] else { bail!("no object: {object:?}") };
            let ahead_ms = if own.first() == Some(&id) { AHEAD_MS } else { 0 };
            if !is_after {
                old_ids.insert(id as u64);
            }
            let is_between = t > last_before - f64::from(AHEAD_MS);
            if if is_after { old_ids.contains(&(id as u64)) } else { is_between } {
                continue;
            }
            let times = || (0..=ahead_ms).step_by(10).map(|ms| t + f64::from(ms));
            let places = tracks.values().flat_map(|track| times().filter_map(|t| at(track, t)));
            let error = places.map(|(at_x, at_y)| (x - at_x).hypot(y - at_y)).fold(99.0, f64::min);
            if error > near_m {
                println!("{object:?} at {t} ms is {error:.1} m off; the own one is {own:?}");
            }
            errors.push(error);
        }
        if let &[_, x, y] = own {
            if let Some([last_x, last_y]) = last {
                moved_m[usize::from(is_after)] += (x - last_x).hypot(y - last_y);
            }
            last = Some([x, y]);
        }
    }
    errors.sort_by(f64::total_cmp);
    let compared = errors.len();
    let near = errors.iter().filter(|error| **error < near_m).count();
    println!("{compared} positions, {near} within {near_m} m; moved {moved_m:?} m; {errors:.2?}");
    ensure!(compared >= FEW, "only {compared} positions in {} lines", seen.len());
    // A lost datagram is drawn late.
    ensure!(near * 100 >= compared * 95, "{near} of {compared} are right: {errors:?}");
    ensure!(moved_m.iter().all(|moved| *moved > 5.0), "it moved {moved_m:?} m");
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
