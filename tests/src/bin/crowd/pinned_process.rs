//! Processes on cores of their own, and what they cost.
//!
//! A program and a core go in, a running process comes out; dropping it ends it. Processor time is
//! user and system time of the whole process as `/proc` tells it (hundredths of a second), over a
//! window of wall time.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

/// Where servers run, and where their clients do.
pub(crate) const SERVER_CORE: u32 = 0;
pub(crate) const CLIENT_CORE: u32 = 1;

/// How long anything may take that is not measured.
pub(crate) const WAIT_LIMIT: Duration = Duration::from_secs(90);

/// Lines that wait to be read; then the process waits.
const MAX_QUEUED_LINES: usize = 1_024;

/// Times in `/proc` are in hundredths of a second, whatever the kernel counts in.
const CLOCK_TICKS_PER_S: f64 = 100.0;

/// A process that ends with this.
pub(crate) struct PinnedProcess {
    child: Child,
    lines: Receiver<String>,
}

/// What a process used over a window.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cpu {
    pub(crate) cores: f64,
}

impl PinnedProcess {
    /// Starts `program` on `core`. What it prints is read line by line; `scratch` stands for its
    /// home.
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

    /// Waits for a line that begins with `start`, and gives the whole line.
    pub(crate) fn wait_for_line(&self, start: &str, within: Duration) -> anyhow::Result<String> {
        let until = clock() + within;
        loop {
            let rest = until.saturating_duration_since(clock());
            let line = self
                .lines
                .recv_timeout(rest)
                .with_context(|| format!("it did not say \"{start}\""))?;
            if line.starts_with(start) {
                return Ok(line);
            }
        }
    }

    /// Processor time so far.
    fn used_s(&self) -> anyhow::Result<f64> {
        // taskset has become the program: it is the same process.
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))
            .context("the process is gone")?;
        let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
        let mut fields = after_name
            .split_ascii_whitespace()
            .skip(11)
            .map(str::parse::<f64>);
        match (fields.next(), fields.next()) {
            (Some(Ok(user)), Some(Ok(system))) => Ok((user + system) / CLOCK_TICKS_PER_S),
            _ => bail!("/proc/PID/stat is not what it was"),
        }
    }

    /// Memory that it has in use.
    pub(crate) fn rss_mib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))
            .unwrap_or_default();
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .unwrap_or_default();
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

/// Lets `window` pass and gives what both used of it.
pub(crate) fn measure_cpu(
    server: &PinnedProcess,
    clients: &PinnedProcess,
    window: Duration,
) -> anyhow::Result<(Cpu, Cpu)> {
    let (began, before) = (clock(), (server.used_s()?, clients.used_s()?));
    std::thread::sleep(window);
    let (took_s, after) = (
        began.elapsed().as_secs_f64(),
        (server.used_s()?, clients.used_s()?),
    );
    Ok((
        Cpu {
            cores: (after.0 - before.0) / took_s,
        },
        Cpu {
            cores: (after.1 - before.1) / took_s,
        },
    ))
}

/// A program that was built with this one.
pub(crate) fn binary(name: &str) -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe().context("this program has no place")?;
    let path = own.with_file_name(name);
    if path.exists() {
        Ok(path)
    } else {
        bail!("{} is not built: use tests/bench", path.display())
    }
}

/// A folder that is gone with this.
pub(crate) struct ScratchFolder(pub(crate) PathBuf);

impl ScratchFolder {
    pub(crate) fn new() -> anyhow::Result<Self> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let path =
            std::env::temp_dir().join(format!("ambit-crowd-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).context("no folder for scratch files")?;
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
