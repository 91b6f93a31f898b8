//! The processor time of threads and processes, as Linux tells it in `/proc`. Elsewhere nothing is
//! known.

use std::fs;
use std::path::{Path, PathBuf};

use crate::hindrance::ProcessorUse;

/// Where the figures of a thread are.
#[derive(Debug)]
pub(crate) struct ThreadMeter(PathBuf);

impl ThreadMeter {
    /// Of the thread that calls this.
    pub(crate) fn of_this_thread() -> Option<Self> {
        let thread = fs::read_link("/proc/thread-self").ok()?;
        Some(Self(Path::new("/proc").join(thread).join("stat")))
    }

    pub(crate) fn read(&self) -> Option<ProcessorUse> {
        read(&self.0)
    }
}

/// Of this process.
pub(crate) fn of_this_process() -> Option<ProcessorUse> {
    read(Path::new("/proc/self/stat"))
}

/// Of another process, which is runnable if one of its threads is.
pub fn of_process(process: u32) -> Option<ProcessorUse> {
    let folder = Path::new("/proc").join(process.to_string());
    let whole = read(&folder.join("stat"))?;
    let threads = fs::read_dir(folder.join("task")).ok()?.filter_map(Result::ok);
    let mut threads = threads.filter_map(|thread| read(&thread.path().join("stat")));
    Some(ProcessorUse { is_runnable: threads.any(|thread| thread.is_runnable), ..whole })
}

fn read(stat: &Path) -> Option<ProcessorUse> {
    ProcessorUse::parse(&fs::read_to_string(stat).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_tells_of_threads_and_processes() {
        if cfg!(not(target_os = "linux")) {
            return;
        }
        let meter = ThreadMeter::of_this_thread().expect("Linux has it");
        // The thread that asks runs.
        assert!(meter.read().expect("it is there").is_runnable);
        assert!(of_process(std::process::id()).expect("this one").is_runnable);
        assert!(of_this_process().is_some());
        assert_eq!(of_process(u32::MAX), None);
    }
}
