//! A calendar for some processes that a test moves while they run.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use super::ScratchFolder;

/// What the library is made from; it says how it works.
const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/real/shifted_clock.c");
const DAY_S: i64 = 24 * 60 * 60;

/// The calendar of all processes that are started with its [`ShiftedClock::variables`].
pub struct ShiftedClock {
    offset: File,
    library: String,
    path: String,
}

impl ShiftedClock {
    /// A calendar that is that many days ahead.
    pub fn new(scratch: &ScratchFolder, days: i64) -> Result<Self> {
        let path = |name: &str| scratch.path().join(name).display().to_string();
        let clock = Self {
            offset: OpenOptions::new()
                .write(true)
                .create_new(true)
                .open(Path::new(&path("shifted-clock")))?,
            library: path("libshifted_clock.so"),
            path: path("shifted-clock"),
        };
        clock.set_days(days)?;
        let made = Command::new("cc")
            .args(["-shared", "-fPIC", "-O2", "-o", &clock.library, SOURCE])
            .status()
            .context("the C compiler `cc` can't be started; `tests/run` installs it")?;
        ensure!(made.success(), "{SOURCE} can't be compiled");
        Ok(clock)
    }

    /// Moves the calendar.
    pub fn set_days(&self, days: i64) -> Result<()> {
        let offset_s = days * DAY_S;
        // The file keeps its length, since processes have mapped it.
        Ok(self.offset.write_all_at(&offset_s.to_ne_bytes(), 0)?)
    }

    /// Environment variables for a process that follows it.
    pub fn variables(&self) -> [(&str, &str); 2] {
        [("LD_PRELOAD", &self.library), ("SHIFTED_CLOCK", &self.path)]
    }
}
