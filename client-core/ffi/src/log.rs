//! The log of the library, for the caller to read. Nothing is logged unless the caller asks for it.
//!
//! Bound: [`MAX_LINES`]; then the oldest line is dropped and counted.

use std::collections::VecDeque;
use std::io;

use parking_lot::{Mutex, const_mutex};
use tracing::Level;
use tracing_subscriber::fmt::MakeWriter;

use crate::status::{Failure, Status};

/// At most as many lines wait.
const MAX_LINES: usize = 1_024;
/// Longer lines are cut.
const MAX_LINE: usize = 4_096;

static LINES: Mutex<Lines> = const_mutex(Lines { lines: VecDeque::new(), dropped: 0 });

struct Lines {
    lines: VecDeque<String>,
    dropped: u64,
}

struct Drain;

impl io::Write for Drain {
    /// One call a line: `tracing_subscriber` formats it first.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut lines = LINES.lock();
        if lines.lines.len() >= MAX_LINES {
            lines.lines.pop_front();
            lines.dropped += 1;
        }
        let line = &bytes[..bytes.len().min(MAX_LINE)];
        lines.lines.push_back(String::from_utf8_lossy(line).trim_end().to_owned());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Drain {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        Drain
    }
}

/// Logs from now on: 1 errors, 2 warnings, 3 what happens, 4 details, 5 everything.
pub(crate) fn start(level: u32) -> Result<(), Failure> {
    static STARTED: Mutex<Option<u32>> = const_mutex(None);
    let mut started = STARTED.lock();
    if *started == Some(level) {
        return Ok(());
    }
    let max = match level {
        1 => Level::ERROR,
        2 => Level::WARN,
        3 => Level::INFO,
        4 => Level::DEBUG,
        5 => Level::TRACE,
        _ => return Err(Failure::new(Status::BadOption, "a level is 1 to 5")),
    };
    let subscriber =
        tracing_subscriber::fmt().with_max_level(max).with_ansi(false).with_writer(Drain);
    subscriber.try_init().map_err(|_| {
        Failure::new(Status::Failed, "the log was started already; its level cannot be changed")
    })?;
    *started = Some(level);
    Ok(())
}

/// The oldest line, and how many were dropped before it.
pub(crate) fn next() -> Option<(String, u64)> {
    let mut lines = LINES.lock();
    let line = lines.lines.pop_front()?;
    Some((line, std::mem::take(&mut lines.dropped)))
}
