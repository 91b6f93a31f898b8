//! Processes pinned to a core, and their processor time.
//!
//! Input: a program and a core. Output: a running process, which ends when the value is dropped.
//! Processor time is user and system time of the whole process from `/proc` (hundredths of a
//! second), over a window of wall time.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

pub(crate) const SERVER_CORE: u32 = 0;
pub(crate) const CLIENT_CORE: u32 = 1;

/// Longest wait for anything that is not measured.
pub(crate) const WAIT_LIMIT: Duration = Duration::from_secs(90);

/// Lines that may wait to be read; after that the process blocks.
const MAX_QUEUED_LINES: usize = 1_024;

/// Times in `/proc` are in hundredths of a second, whatever the kernel's tick rate.
const CLOCK_TICKS_PER_S: f64 = 100.0;

/// A process that is killed when dropped.
pub(crate) struct PinnedProcess {
    child: Child,
    lines: Receiver<String>,
}

/// Processor time used over a window, in cores.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cpu {
    pub(crate) cores: f64,
}

impl PinnedProcess {
    /// Starts `program` on `core`. Its output is read line by line; `scratch` is its home folder.
    pub(crate) fn start(
        core: u32,
        program: &Path,
        arguments: &[String],
        scratch: &Path,
    ) -> anyhow::Result<Self> {
        let mut child = Command::new("taskset")
            .args(["-c", &core.to_string()])
            .arg(program)
            .args(arguments)
            .env("AMBIT_KNOWN_HOSTS", scratch.join("known_hosts"))
            .env("XDG_STATE_HOME", scratch)
            .env("XDG_DATA_HOME", scratch)
            .env("RUST_LOG", "error")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .context("taskset (of util-linux) can't be started")?;
        let lines = lines_of(child.stdout.take().expect("piped"));
        Ok(Self { child, lines })
    }

    /// Waits for a line that begins with `start`, and returns the whole line.
    pub(crate) fn wait_for_line(&self, start: &str, within: Duration) -> anyhow::Result<String> {
        let until = clock() + within;
        loop {
            let rest = until.saturating_duration_since(clock());
            let line = self.lines.recv_timeout(rest).with_context(|| {
                format!("the process did not print a line that starts with \"{start}\"")
            })?;
            if line.starts_with(start) {
                return Ok(line);
            }
        }
    }

    /// User and system time since the start.
    fn used_s(&self) -> anyhow::Result<f64> {
        // taskset has replaced itself with the program: the process id is the same.
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))
            .context("the process has ended")?;
        let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
        let mut fields = after_name.split_ascii_whitespace().skip(11).map(str::parse::<f64>);
        match (fields.next(), fields.next()) {
            (Some(Ok(user)), Some(Ok(system))) => Ok((user + system) / CLOCK_TICKS_PER_S),
            _ => bail!("/proc/PID/stat has an unknown format"),
        }
    }

    /// Resident memory.
    pub(crate) fn rss_mib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))
            .unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
        line.split_ascii_whitespace()
            .next()
            .and_then(|kib| kib.parse::<u64>().ok())
            .unwrap_or_default()
            / 1_024
    }
}

impl Drop for PinnedProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits for `window` and returns what both processes used in it.
pub(crate) fn measure_cpu(
    server: &PinnedProcess,
    clients: &PinnedProcess,
    window: Duration,
) -> anyhow::Result<(Cpu, Cpu)> {
    let began = clock();
    let before = (server.used_s()?, clients.used_s()?);
    std::thread::sleep(window);
    let took_s = began.elapsed().as_secs_f64();
    let after = (server.used_s()?, clients.used_s()?);
    Ok((Cpu { cores: (after.0 - before.0) / took_s }, Cpu { cores: (after.1 - before.1) / took_s }))
}

/// Path of a program that was built beside this one.
pub(crate) fn binary(name: &str) -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe().context("the path of this program is unknown")?;
    let path = own.with_file_name(name);
    if path.exists() { Ok(path) } else { bail!("{} is not built: use tests/bench", path.display()) }
}

/// A temporary folder, removed when dropped.
pub(crate) struct ScratchFolder(pub(crate) PathBuf);

impl ScratchFolder {
    pub(crate) fn new() -> anyhow::Result<Self> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let path =
            std::env::temp_dir().join(format!("ambit-crowd-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).context("the temporary folder can't be created")?;
        Ok(Self(path))
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn lines_of(output: ChildStdout) -> Receiver<String> {
    let (sender, lines) = sync_channel(MAX_QUEUED_LINES);
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

#[expect(clippy::disallowed_methods, reason = "the clock of a measurement")]
pub(crate) fn clock() -> Instant {
    Instant::now()
}
