//! Runs the test programs that cargo has built, several at a time, and prints which tests took
//! longest: `run-tests [--quick] MESSAGES RESULTS`, with what `cargo build --message-format=json`
//! printed. It writes two files into the folder `RESULTS`: `unsteady`, which tests have passed only
//! sometimes (`again`) and which of these are known (`known`), and `times`, the seconds of each
//! test. `run-tests --slower BEFORE NOW` compares two tables of times (`times`).
//!
//! Most tests with real processes wait more than they compute, so they run beside the others, more
//! at a time than there are cores. Browsers have the machine for themselves afterwards. What a
//! program prints is shown if one of its tests has failed.

mod again;
mod known;
mod times;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Mutex;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use again::{Beside, Unsteady};

/// Tests in a browser; names begin with the modules.
const BROWSERS: [&str; 2] = ["browsers::", "pages::"];
/// Tests that need Firefox and its driver: `tests/firefox` runs them.
const FIREFOX: &str = "firefox::";
/// Tests of what is compiled apart, with Godot and Bevy: `tests/engines` runs them.
const APART: &str = "engines::apart::";
/// Of the tests with real processes, what `--quick` runs.
const QUICK: [&str; 5] = ["clients::", "consoles::", "server::", "subcommands::", "usage::"];
/// The tests that `--quick` leaves out: together they take as long as all others.
const LONG: [&str; 8] = [
    "cubes::a_long_run_keeps_memory_bounded",
    "dense_crowd::in_one_spot",
    "host_faults::host_faults_lose",
    "interest::two_hundred_clients_are_simulated",
    "lobby::tests::random::leaders::a_new_leader_restores_all",
    "lobby::tests::random::the_invariants_hold",
    "loss::loss_revives_no_object",
    "room::tests::budgets::in_a_dense_crowd",
];
/// Waits more than it computes, as the tests with real processes do.
const SOCKETS: &str = "ambit-world-server sockets";
/// Runs a compiler, which must not see that times of tests are asked for.
const COMPILES: &str = "ambit-messages messages";
/// How many tests with real processes run at a time.
const REAL_AT_A_TIME: usize = 4;
/// How many of the slowest other tests are load for tests that run again.
const COMPUTING_AGAIN: usize = 4;
const SLOWEST_SHOWN: usize = 20;

/// A test program of the workspace.
#[derive(Clone, Debug, PartialEq)]
struct TestProgram {
    /// `ambit-tests real`
    name: String,
    path: PathBuf,
    /// The folder of its package, where cargo runs tests.
    folder: PathBuf,
}

/// One start of a test program.
struct Run<'a> {
    program: &'a TestProgram,
    arguments: Vec<String>,
}

/// What the tests of a run did.
#[derive(Debug, Default, PartialEq)]
struct Results {
    passed: usize,
    /// Which, of a run of one program.
    passed_names: Vec<String>,
    failed: Vec<String>,
    ignored: usize,
    /// Seconds and name of each test.
    times: Vec<(f64, String)>,
}

fn main() -> Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let read = |file: &str| std::fs::read_to_string(file).with_context(|| file.to_owned());
    let (quick, messages, folder) = match arguments[..] {
        ["--slower", before, now] => {
            for line in times::slower(&read(before)?, &read(now)?)? {
                println!("{line}");
            }
            return Ok(ExitCode::SUCCESS);
        }
        ["--quick", messages, folder] => (true, messages, Path::new(folder)),
        [messages, folder] => (false, messages, Path::new(folder)),
        _ => bail!(
            "usage: run-tests [--quick] MESSAGES RESULTS, the messages of `cargo build` in a file \
             and a folder for two files, or run-tests --slower BEFORE NOW"
        ),
    };
    let text = read(messages)?;
    let programs = test_programs(&text)?;
    let is_real = |program: &&TestProgram| program.name == "ambit-tests real";
    let real =
        programs.iter().find(is_real).context("the tests with real processes are missing")?;
    // In a whole run, the tests with real processes take longer than all others already.
    let is_waiting = |program: &&TestProgram| quick && program.name == SOCKETS;
    let skipped = LONG.iter().filter(|_| quick).flat_map(|prefix| ["--skip", prefix]);
    let skipped: Vec<&str> = skipped.collect();
    let others = programs.iter().filter(|program| !is_real(program));
    let (sockets, computing): (Vec<_>, Vec<_>) = others.partition(is_waiting);
    let computing: Vec<Run> =
        computing.into_iter().map(|program| Run::new(program, &skipped)).collect();
    let at_a_time = format!("--test-threads={REAL_AT_A_TIME}");
    let mut waiting: Vec<Run> =
        sockets.into_iter().map(|program| Run::new(program, &[&at_a_time])).collect();
    let mut arguments = vec![at_a_time.as_str()];
    if quick {
        arguments.extend(QUICK);
    } else {
        let elsewhere = BROWSERS.into_iter().chain([FIREFOX, APART]);
        arguments.extend(elsewhere.flat_map(|prefix| ["--skip", prefix]));
    }
    waiting.push(Run::new(real, &arguments));
    let in_browsers = [&BROWSERS[..], &["--skip", FIREFOX]].concat();
    let browsers = [Run::new(real, &in_browsers)];

    let results = Mutex::new(Results::default());
    std::thread::scope(|scope| {
        scope.spawn(|| run_all(&waiting, &results));
        run_all(&computing, &results);
    });
    if !quick {
        run_all(&browsers, &results);
    }
    let mut results = results.into_inner().expect("no thread has panicked");
    let known = std::fs::read_to_string(real.folder.join("known-unsteady"))?;
    let known = known::read(&known)?;
    let unsteady = run_again(real, &computing, &mut results);
    let lines = unsteady.iter().map(|unsteady| known::line(unsteady, &known) + "\n");
    let lines: String = lines.collect();
    std::fs::write(folder.join("unsteady"), &lines)?;
    std::fs::write(folder.join("times"), times::table(&results.times))?;
    results.times.sort_by(|a, b| b.0.total_cmp(&a.0));
    println!("\nseconds  the slowest tests");
    for (seconds, name) in results.times.iter().take(SLOWEST_SHOWN) {
        println!("{seconds:7.1}  {name}");
    }
    print!("{lines}");
    for name in &results.failed {
        println!("FAILED {name}");
    }
    println!(
        "\n{} passed, {} failed, {} skipped",
        results.passed,
        results.failed.len(),
        results.ignored
    );
    Ok(if results.failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The test programs in cargo's messages.
fn test_programs(messages: &str) -> Result<Vec<TestProgram>> {
    let mut programs = Vec::new();
    for line in messages.lines().filter(|line| line.starts_with('{')) {
        let message: Value = serde_json::from_str(line).context("a message of cargo")?;
        let is_benchmark = message["target"]["kind"][0] == "bench";
        let (Some(path), Some(true)) =
            (message["executable"].as_str(), message["profile"]["test"].as_bool())
        else {
            continue;
        };
        if is_benchmark {
            continue;
        }
        let manifest = Path::new(message["manifest_path"].as_str().context("a manifest")?);
        let folder = manifest.parent().context("a folder")?.to_path_buf();
        let package = message["package_id"].as_str().context("a package")?;
        let target = message["target"]["name"].as_str().context("a name")?;
        programs.push(TestProgram {
            name: format!("{} {target}", package_name(package)),
            path: path.into(),
            folder,
        });
    }
    Ok(programs)
}

/// `path+file:///ambit/tests#ambit-tests@0.1.0` or, where folder and package have one name,
/// `path+file:///ambit/world-server#0.1.0`.
fn package_name(id: &str) -> &str {
    let (folder, package) = id.rsplit_once('#').unwrap_or(("", id));
    match package.split_once('@') {
        Some((name, _)) => name,
        None => folder.rsplit('/').next().unwrap_or(package),
    }
}

fn run_all(runs: &[Run], results: &Mutex<Results>) {
    for run in runs {
        #[expect(clippy::disallowed_methods, reason = "shown, and nothing depends on it")]
        let began = Instant::now();
        let (done, output) = run.run();
        let seconds = began.elapsed().as_secs_f64();
        let name = &run.program.name;
        let count = done.passed + done.failed.len();
        let mut text = format!("{seconds:7.1} s  {name}: {count} tests\n");
        if !done.failed.is_empty() {
            let _ = writeln!(text, "{output}");
        }
        print!("{text}");
        let mut all = results.lock().expect("no thread has panicked");
        all.passed += done.passed;
        all.ignored += done.ignored;
        all.failed.extend(done.failed);
        all.times.extend(done.times);
    }
}

/// Runs tests of this program that have failed once more. Returns the tests that pass only
/// sometimes, which count as passed.
fn run_again(program: &TestProgram, computing: &[Run], results: &mut Results) -> Vec<Unsteady> {
    let prefix = format!("{}: ", program.name);
    let is_in_browser =
        |name: &str| BROWSERS.iter().any(|module| name[prefix.len()..].starts_with(module));
    let (own, others): (Vec<_>, Vec<_>) =
        results.times.iter().cloned().partition(|(_, name)| name.starts_with(&prefix));
    let failed = results.failed.iter().filter(|name| name.starts_with(&prefix));
    let failed: Vec<String> = failed.cloned().collect();
    if failed.len() > again::RUN_AGAIN {
        return Vec::new();
    }
    let passes_alone = |name: &str| {
        let (done, output) = Run::new(program, &["--exact", &name[prefix.len()..]]).run();
        let passes = done.has_passed(name);
        println!("{name}, alone: {}", if passes { "passed" } else { &output });
        passes
    };
    let slowest = again::load(&others, &[], COMPUTING_AGAIN);
    let computing = one_by_one(computing, &slowest);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    // Tests in browsers ran beside each other only, as many as there are cores.
    let kinds = [(false, REAL_AT_A_TIME, &computing[..]), (true, cores, &[])];
    let mut unsteady = Vec::new();
    for (in_browser, at_a_time, computing) in kinds {
        let is_of_kind = |name: &str| is_in_browser(name) == in_browser;
        let failed: Vec<String> = failed.iter().filter(|name| is_of_kind(name)).cloned().collect();
        let own: Vec<(f64, String)> =
            own.iter().filter(|(_, name)| is_of_kind(name)).cloned().collect();
        let beside = |failed: &[String]| {
            let places = at_a_time - 1;
            let load = again::load(&own, failed, places);
            run_beside(program, failed, (&load, places), computing)
        };
        unsteady.extend(again::run_again(&failed, beside, passes_alone));
    }
    let is_unsteady = |name: &String| unsteady.iter().any(|unsteady| unsteady.name == *name);
    let count = results.failed.len();
    results.failed.retain(|name| !is_unsteady(name));
    results.passed += count - results.failed.len();
    unsteady
}

/// A run for each of these tests of the programs of `runs`.
fn one_by_one<'a>(runs: &[Run<'a>], tests: &[String]) -> Vec<Run<'a>> {
    let one = |name: &String| {
        let (program, test) = name.split_once(": ")?;
        let run = runs.iter().find(|run| run.program.name == program)?;
        Some(Run::new(run.program, &["--exact", test]))
    };
    tests.iter().filter_map(one).collect()
}

/// Runs tests of a program again, one at a time, as they ran at first: beside `load`, other tests
/// of the same program at that number of places, and beside `computing`, repeated until the
/// failed ones have ended.
fn run_beside(
    program: &TestProgram,
    failed: &[String],
    (load, places): (&[String], usize),
    computing: &[Run],
) -> Beside {
    let start = |names: &[String], at_a_time: usize| {
        let at_a_time = format!("--test-threads={at_a_time}");
        let mut arguments = vec!["--exact", &at_a_time];
        arguments.extend(names.iter().filter_map(|name| Some(name.split_once(": ")?.1)));
        let (done, output) = Run::new(program, &arguments).run();
        if !done.failed.is_empty() {
            println!("{output}");
        }
        done
    };
    let (again, load) = std::thread::scope(|scope| {
        // Without names, a program would run all of its tests.
        let load = (!load.is_empty()).then(|| scope.spawn(|| start(load, places)));
        let again = scope.spawn(|| start(failed, 1));
        for run in computing.iter().cycle() {
            if again.is_finished() {
                break;
            }
            run.run();
        }
        let done = |thread: std::thread::ScopedJoinHandle<Results>| {
            thread.join().expect("no thread has panicked")
        };
        (done(again), load.map(done).unwrap_or_default())
    });
    let passed = failed.iter().filter(|name| again.has_passed(name)).cloned().collect();
    for name in failed {
        let outcome = if again.has_passed(name) { "passed" } else { "failed" };
        println!("{name}, again beside others: {outcome}");
    }
    Beside { passed, failed_others: load.failed }
}

impl Results {
    fn has_passed(&self, name: &str) -> bool {
        self.passed_names.iter().any(|passed| passed == name)
    }
}

impl<'a> Run<'a> {
    fn new(program: &'a TestProgram, arguments: &[&str]) -> Self {
        Self { program, arguments: arguments.iter().map(|&it| it.to_owned()).collect() }
    }

    /// Runs the tests, and returns what the program printed.
    fn run(&self) -> (Results, String) {
        let TestProgram { name, path, folder } = self.program;
        let mut command = Command::new(path);
        command.current_dir(folder).env("CARGO_MANIFEST_DIR", folder).args(&self.arguments);
        if name != COMPILES {
            // Not stable, but each build of the test library knows it.
            command.env("RUSTC_BOOTSTRAP", "1").args(["-Zunstable-options", "--report-time"]);
        }
        let output = match command.output() {
            Ok(output) => output,
            Err(error) => {
                let failed = vec![format!("{name}: {}: {error}", path.display())];
                return (Results { failed, ..Results::default() }, String::new());
            }
        };
        let printed = String::from_utf8_lossy(&output.stdout);
        let mut results = read_results(name, &printed);
        if !output.status.success() && results.failed.is_empty() {
            results.failed.push(format!("{name}: {}", output.status));
        }
        (results, format!("{printed}{}", String::from_utf8_lossy(&output.stderr)))
    }
}

/// Reads what a test program prints.
fn read_results(program: &str, printed: &str) -> Results {
    let mut results = Results::default();
    for line in printed.lines() {
        let Some((name, outcome)) =
            line.strip_prefix("test ").and_then(|line| line.rsplit_once(" ... "))
        else {
            continue;
        };
        let (outcome, time) = outcome.split_once(" <").unwrap_or((outcome, ""));
        let name = format!("{program}: {}", name.trim_end_matches(" - should panic"));
        if let Ok(seconds) = time.trim_end_matches("s>").parse() {
            results.times.push((seconds, name.clone()));
        }
        match outcome.split(',').next().unwrap_or_default() {
            "ok" => {
                results.passed += 1;
                results.passed_names.push(name);
            }
            "ignored" => results.ignored += 1,
            _ => results.failed.push(name),
        }
    }
    results
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_read_with_their_times() {
        let printed = "\nrunning 4 tests\n\
            test a::b ... ok <0.512s>\n\
            test c - should panic ... ok <1.000s>\n\
            test d ... ignored, too long\n\
            test e ... FAILED <2.250s>\n\
            test result: FAILED. 2 passed; 1 failed\n";
        let results = read_results("p", printed);
        assert_eq!((results.passed, results.ignored), (2, 1));
        assert!(results.has_passed("p: c") && !results.has_passed("p: d"));
        assert_eq!(results.failed, ["p: e"]);
        let expected = [(0.512, "p: a::b"), (1.0, "p: c"), (2.25, "p: e")];
        assert_eq!(results.times, expected.map(|(time, name)| (time, name.to_owned())));
    }

    #[test]
    fn test_programs_are_found_among_the_messages() {
        let message = |id: &str, kind: &str, test: bool| {
            serde_json::json!({
                "package_id": id, "manifest_path": "/ambit/tests/Cargo.toml",
                "target": { "name": "real", "kind": [kind] },
                "profile": { "test": test }, "executable": "/target/real",
            })
        };
        let id = "path+file:///ambit/tests#ambit-tests@0.1.0";
        let text =
            [message(id, "test", true), message(id, "bin", false), message(id, "bench", true)]
                .map(|message| message.to_string())
                .join("\n");
        let program = TestProgram {
            name: "ambit-tests real".to_owned(),
            path: "/target/real".into(),
            folder: "/ambit/tests".into(),
        };
        assert_eq!(test_programs(&text).unwrap(), [program]);
        assert_eq!(package_name("path+file:///ambit/world-server#0.1.0"), "world-server");
    }

    #[test]
    fn a_test_that_fails_again_alone_has_failed_and_many_are_not_run_again() {
        // This very program: the first two tests exist and pass, the third is none of its.
        let program = TestProgram {
            name: "p".to_owned(),
            path: std::env::current_exe().unwrap(),
            folder: ".".into(),
        };
        let passes = "p: tests::results_are_read_with_their_times".to_owned();
        let load = "p: tests::test_programs_are_found_among_the_messages".to_owned();
        let fails = "p: tests::there_is_no_such_test".to_owned();
        let other = "other: a".to_owned();
        let failed = vec![passes.clone(), fails.clone(), other.clone()];
        let times = vec![(1.0, passes.clone()), (1.0, load), (1.0, "q: a".to_owned())];
        let mut results = Results { failed, times, ..Results::default() };
        let unsteady = run_again(&program, &[], &mut results);
        let expected = Unsteady { name: passes.clone(), how: again::How::PassedBesideOthers };
        assert_eq!(unsteady, [expected]);
        assert_eq!((results.failed, results.passed), (vec![fails, other], 1));
        let many = vec![passes; again::RUN_AGAIN + 1];
        let mut results = Results { failed: many, ..Results::default() };
        assert!(run_again(&program, &[], &mut results).is_empty());
        assert_eq!(results.failed.len(), again::RUN_AGAIN + 1);
    }

    #[test]
    fn the_slowest_tests_of_other_programs_are_run_one_by_one() {
        let program = |name: &str| TestProgram {
            name: name.to_owned(),
            path: "/p".into(),
            folder: "/".into(),
        };
        let sim = program("sim");
        let lobby = program("lobby");
        let runs = [Run::new(&sim, &["--skip", "x"]), Run::new(&lobby, &[])];
        let tests = ["lobby: a::b", "sim: c", "gone: d"].map(str::to_owned);
        let found = one_by_one(&runs, &tests);
        let found: Vec<_> =
            found.iter().map(|run| (run.program.name.as_str(), &run.arguments[1..])).collect();
        let expected = [("lobby", ["a::b".to_owned()]), ("sim", ["c".to_owned()])];
        assert_eq!(found, expected.each_ref().map(|(name, test)| (*name, &test[..])));
    }

    #[test]
    fn a_program_that_cannot_be_started_has_failed() {
        let program =
            TestProgram { name: "p".to_owned(), path: "/nowhere".into(), folder: "/".into() };
        let (results, _) = Run::new(&program, &[]).run();
        assert!(results.failed[0].starts_with("p: /nowhere"), "{:?}", results.failed);
    }
}
