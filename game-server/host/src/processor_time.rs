//! The processor time of threads and processes, as Linux tells it in `/proc`. Elsewhere nothing is
//! known.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rustix::process::{Pid, setpriority_process};

use crate::hindrance::ProcessorUse;
use crate::process_part::ProcessPart;

/// As `nice` counts.
const LOWEST_PRIORITY: i32 = 19;

/// A thread, and where its figures are.
#[derive(Debug)]
pub(crate) struct ThreadMeter {
    /// Its number in the system.
    id: i32,
    stat: PathBuf,
}

impl ThreadMeter {
    /// Of the thread that calls this.
    pub(crate) fn of_this_thread() -> Option<Self> {
        let thread = fs::read_link("/proc/thread-self").ok()?;
        let id = thread.file_name()?.to_str()?.parse().ok()?;
        Some(Self { id, stat: Path::new("/proc").join(thread).join("stat") })
    }

    pub(crate) fn read(&self) -> Option<ProcessorUse> {
        read(&self.stat)
    }

    /// The thread gets what others leave of the processors, where the system can do that.
    pub(crate) fn lower_priority(&self) {
        let lowered = setpriority_process(Pid::from_raw(self.id), LOWEST_PRIORITY);
        if let Err(error) = lowered {
            tracing::warn!("the priority of a thread cannot be lowered: {error}");
        }
    }
}

/// The threads of a host.
#[derive(Clone, Debug)]
pub(crate) struct HostThreads {
    known: Arc<Mutex<KnownThreads>>,
    /// Whether all threads of the process are its own.
    are_all: bool,
}

#[derive(Debug, Default)]
struct KnownThreads {
    /// Each with what it had used at the last reading.
    running: Vec<(ThreadMeter, Duration)>,
    /// What those have used that have ended since.
    ended: Duration,
    /// Those that never end: what they use is no load of the host.
    given_up: Vec<i32>,
}

impl HostThreads {
    pub(crate) fn of(part: &ProcessPart) -> Self {
        Self { known: Arc::default(), are_all: part.is_whole() }
    }

    /// The thread that calls this is one of them, until it ends.
    pub(crate) fn add_this_thread(&self) {
        if let Some(meter) = ThreadMeter::of_this_thread().filter(|_| !self.are_all) {
            self.known.lock().running.push((meter, Duration::ZERO));
        }
    }

    /// What this thread of a room uses is no load of the host any more.
    pub(crate) fn give_up(&self, thread: &ThreadMeter) {
        self.known.lock().given_up.push(thread.id);
    }

    /// What they have used together. Zero where the system does not tell.
    pub(crate) fn used(&self) -> Duration {
        let mut known = self.known.lock();
        if self.are_all {
            let of_process = of_this_process().unwrap_or_default().used;
            return of_process.saturating_sub(known.of_given_up());
        }
        known.read()
    }
}

impl KnownThreads {
    fn of_given_up(&self) -> Duration {
        let stat = |id: &i32| read(&Path::new("/proc/self/task").join(id.to_string()).join("stat"));
        self.given_up.iter().filter_map(stat).map(|thread| thread.used).sum()
    }

    fn read(&mut self) -> Duration {
        let Self { running, ended, given_up } = self;
        running.retain_mut(|(meter, used)| {
            let now = meter.read().filter(|_| !given_up.contains(&meter.id));
            match now {
                Some(now) => *used = now.used,
                None => *ended += *used,
            }
            now.is_some()
        });
        *ended + running.iter().map(|(_, used)| *used).sum::<Duration>()
    }
}

/// Of this process.
fn of_this_process() -> Option<ProcessorUse> {
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

    #[test]
    fn what_a_thread_has_used_stays_counted_when_it_has_ended() {
        if cfg!(not(target_os = "linux")) {
            return;
        }
        let parts = ProcessPart::several(2).expect("random bytes");
        let threads = HostThreads::of(&parts[1]);
        let worker = threads.clone();
        let least = Duration::from_millis(20);
        let looping = std::thread::spawn(move || {
            worker.add_this_thread();
            let meter = ThreadMeter::of_this_thread().expect("Linux has it");
            while meter.read().expect("it runs").used < least {
                std::hint::black_box(0);
            }
            worker.used()
        });
        let used = looping.join().expect("it ends");
        assert!(used >= least);
        assert!(threads.used() >= used);
        assert_eq!(threads.known.lock().running.len(), 0);
    }
}
