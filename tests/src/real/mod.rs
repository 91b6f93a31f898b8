//! Real processes on loopback: servers, consoles, bots. The binaries are taken from the folder of
//! the test binary, and built if they are missing. A process ends when the value that owns it is
//! dropped.
//!
//! Functions wait for output lines, not for a fixed time; a test fails if a line does not come
//! within [`WAIT_LIMIT`].

mod bot_crowd;
mod browser;
mod cluster;
mod console;
pub mod counting_players;
mod host;
pub mod page;
mod postgres;
pub mod raw_client;
pub mod relay;
mod server;
mod shifted_clock;
mod short_course;

pub use bot_crowd::BotCrowd;
pub use browser::{Browser, BrowserEngine, BrowserKind};
pub use cluster::{Cluster, Nats, SecuredNats};
pub use console::Console;
pub use host::Host;
pub use postgres::Postgres;
pub use server::{HttpAnswer, Metrics, Server, is_alive, signal as server_signal};
pub use shifted_clock::ShiftedClock;
pub use short_course::write_short_course;

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Once;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use anyhow::{Context, Result, bail};

/// Longest wait for any event. Far longer than usual, because machines may be busy.
pub const WAIT_LIMIT: Duration = Duration::from_mins(1);

/// Interval of polling. No result depends on it.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// A room that loses a second host within three seconds is suspected to be the cause.
const SUSPICION: Duration = Duration::from_millis(3_100);

/// Polls until there is a value; that value.
pub fn wait_until<T>(what: &str, mut poll: impl FnMut() -> Result<Option<T>>) -> Result<T> {
    for _ in 0..WAIT_LIMIT.as_millis() / POLL_INTERVAL.as_millis() {
        if let Some(found) = poll()? {
            return Ok(found);
        }
        std::thread::sleep(POLL_INTERVAL);
    }
    bail!("{what}: not within the time limit")
}

/// Lets time pass. Only for faults of a given length, and for rules that count time.
pub fn outage(length: Duration) {
    std::thread::sleep(length);
}

/// Waits until no room is suspect that has lost its host and runs again: that rule counts time.
pub fn outlast_suspicion() {
    outage(SUSPICION);
}

/// The programs that tests start.
const PROGRAMS: [&str; 5] = ["world-server", "game-server", "console", "bots", "test-server"];

/// Path of what cargo has made beside the test; the programs are built if it is a missing one.
pub fn binary(name: &str) -> PathBuf {
    static BUILT: Once = Once::new();
    let own = std::env::current_exe().expect("a test knows its own path");
    let folder = own.parent().and_then(Path::parent).expect("target/PROFILE/deps/test");
    let path = folder.join(name);
    if PROGRAMS.contains(&name) && !path.exists() {
        BUILT.call_once(|| build(folder));
    }
    path
}

/// A process and its descendants, with the pages of memory that each has in use.
pub fn process_family(root: u32) -> Result<Vec<(u32, u64)>> {
    let processes: Vec<(u32, u32, u64)> = std::fs::read_dir("/proc")?
        .filter_map(|entry| {
            let id: u32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
            let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
            // After the name, which may have blanks: state, parent; the 22nd is the resident set.
            let rest: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
            Some((id, rest.get(1)?.parse().ok()?, rest.get(21)?.parse().ok()?))
        })
        .collect();
    let mut family: Vec<(u32, u64)> = Vec::new();
    let mut parents = vec![root];
    family.extend(processes.iter().filter(|it| it.0 == root).map(|it| (it.0, it.2)));
    while let Some(parent) = parents.pop() {
        for (id, _, pages) in processes.iter().filter(|it| it.1 == parent) {
            parents.push(*id);
            family.push((*id, *pages));
        }
    }
    Ok(family)
}

/// A temporary folder for one test, removed when dropped.
pub struct ScratchFolder(PathBuf);

impl ScratchFolder {
    /// Creates an empty folder; `name` must be unique among the tests.
    pub fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("ambit-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("the folder for temporary files can be written");
        ScratchFolder(folder)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Makes a process store its files (pins, tokens, certificates) in here.
    pub fn confine<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command
            .env("AMBIT_KNOWN_HOSTS", self.0.join("known_hosts"))
            .env("XDG_STATE_HOME", self.0.join("state"))
            .env("XDG_DATA_HOME", self.0.join("data"))
            .env("XDG_CONFIG_HOME", self.0.join("config"))
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The lines that a process prints.
pub struct OutputLines {
    lines: Receiver<String>,
    seen: Vec<String>,
}

impl OutputLines {
    /// Reads `source` to its end on a thread of its own. Bound: 65,536 unread lines; after that the
    /// process blocks.
    pub fn read_from(source: impl Read + Send + 'static) -> Self {
        let (sender, lines) = sync_channel(65_536);
        std::thread::spawn(move || {
            for line in BufReader::new(source).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        OutputLines { lines, seen: Vec::new() }
    }

    /// The next line for which `wanted` returns a value; that value.
    pub fn find<T>(&mut self, what: &str, mut wanted: impl FnMut(&str) -> Option<T>) -> Result<T> {
        loop {
            match self.lines.recv_timeout(WAIT_LIMIT) {
                Ok(line) => {
                    let found = wanted(&line);
                    self.seen.push(line);
                    if let Some(found) = found {
                        return Ok(found);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    bail!(
                        "{what}: not found within the time limit; the last lines:\n{}",
                        self.tail()
                    )
                }
                Err(RecvTimeoutError::Disconnected) => {
                    bail!("the output ended before {what}; the last lines:\n{}", self.tail())
                }
            }
        }
    }

    /// All lines that are left, to the end of the output.
    pub fn read_to_end(&mut self) -> Vec<String> {
        let mut rest = Vec::new();
        while let Ok(line) = self.lines.recv_timeout(WAIT_LIMIT) {
            rest.push(line);
        }
        rest
    }

    /// The lines that have been read, without waiting.
    pub fn take_available(&mut self) -> Vec<String> {
        self.lines.try_iter().collect()
    }

    fn tail(&self) -> String {
        let start = self.seen.len().saturating_sub(30);
        self.seen[start..].join("\n")
    }
}

/// Runs a command that ends by itself. One that goes on is killed, and is an error.
pub fn output(command: &mut Command) -> Result<Output> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().with_context(|| format!("{command:?} can't be started"))?;
    let (id, (sender, ended)) = (child.id(), sync_channel(1));
    std::thread::spawn(move || sender.send(child.wait_with_output()));
    let Ok(output) = ended.recv_timeout(WAIT_LIMIT) else {
        server_signal(id, "KILL")?;
        bail!("{command:?} does not end");
    };
    Ok(output?)
}

/// Runs a command to its end; an error if it fails.
pub fn run(command: &mut Command) -> Result<Output> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("{command:?} can't be started"))?;
    if !output.status.success() {
        bail!(
            "{command:?} ended with {}\n{}\n{}",
            output.status,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(output)
}

fn build(folder: &Path) {
    let profile = match folder.file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => "dev",
        Some(profile) => profile,
    };
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .args(["build", "--workspace", "--bins", "--profile", profile])
        .current_dir(env!("CARGO_MANIFEST_DIR"));
    command
        .arg("--target-dir")
        .arg(folder.parent().expect("the profile's folder is in the target folder"));
    run(&mut command).expect("the project's binaries can be built");
}
