//! A progress bar on a terminal; nothing anywhere else.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// How far a run is.
#[derive(Debug)]
pub(crate) struct ProgressDisplay {
    bar: ProgressBar,
}

impl ProgressDisplay {
    /// Draws on the standard error, if that is a terminal.
    pub(crate) fn new() -> Self {
        let bar = ProgressBar::new(0);
        if let Ok(style) = ProgressStyle::with_template("{msg:<12} {wide_bar} {pos}/{len}") {
            bar.set_style(style);
        }
        ProgressDisplay { bar }
    }

    /// `count` bots are on their way.
    pub(crate) fn gathering(&self, count: usize) {
        self.bar.set_message("bots");
        self.bar.set_length(count as u64);
    }

    /// So many are in, or never will be.
    pub(crate) fn gathered(&self, count: usize) {
        self.bar.set_position(count as u64);
    }

    /// The measured time begins.
    pub(crate) fn measuring(&self, time: Duration) {
        self.bar.set_message("seconds");
        self.bar.set_length(time.as_secs());
        self.bar.set_position(0);
    }

    /// So much of it has passed.
    pub(crate) fn measured(&self, time: Duration) {
        self.bar.set_position(time.as_secs());
    }

    /// Makes room for the summary.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
