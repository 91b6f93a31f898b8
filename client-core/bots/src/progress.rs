//! A progress bar on a terminal; nothing elsewhere.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// The progress of a run.
#[derive(Debug)]
pub(crate) struct ProgressDisplay {
    bar: ProgressBar,
}

impl ProgressDisplay {
    /// Draws on standard error if it is a terminal.
    pub(crate) fn new() -> Self {
        let bar = ProgressBar::new(0);
        if let Ok(style) = ProgressStyle::with_template("{msg:<12} {wide_bar} {pos}/{len}") {
            bar.set_style(style);
        }
        ProgressDisplay { bar }
    }

    /// `count` bots are joining.
    pub(crate) fn gathering(&self, count: usize) {
        self.bar.set_message("bots");
        self.bar.set_length(count as u64);
    }

    /// `count` bots have joined or given up.
    pub(crate) fn gathered(&self, count: usize) {
        self.bar.set_position(count as u64);
    }

    /// The measured time begins.
    pub(crate) fn measuring(&self, time: Duration) {
        self.bar.set_message("seconds");
        self.bar.set_length(time.as_secs());
        self.bar.set_position(0);
    }

    /// `time` of the measured time has passed.
    pub(crate) fn measured(&self, time: Duration) {
        self.bar.set_position(time.as_secs());
    }

    /// Clears the line for the summary.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
