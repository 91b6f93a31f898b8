//! What runs a client's connections: a thread of the library, or the caller's.

use std::io;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::oneshot;
use tokio::task::yield_now;
use tokio::time::timeout;

/// How often the runtime looks at sockets and timers in one poll: what arrives wakes a task, which
/// wakes another one.
const TURNS: usize = 8;

/// See the module.
pub(crate) enum Driver {
    Thread { runtime: Handle, stop: Option<oneshot::Sender<()>>, thread: Option<JoinHandle<()>> },
    Caller(Runtime),
}

impl Driver {
    pub(crate) fn start(is_driven_by_caller: bool) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        if is_driven_by_caller {
            return Ok(Driver::Caller(runtime));
        }
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel::<()>();
        let run = move || {
            // An error stands for a dropped sender, which ends it, too.
            let _ = runtime.block_on(stopped);
        };
        let thread = thread::Builder::new().name("ambit-client".to_owned()).spawn(run)?;
        Ok(Driver::Thread { runtime: handle, stop: Some(stop), thread: Some(thread) })
    }

    pub(crate) fn is_callers(&self) -> bool {
        matches!(self, Driver::Caller(_))
    }

    /// Runs `call` where tasks can be started.
    pub(crate) fn enter<R>(&self, call: impl FnOnce() -> R) -> R {
        let handle = match self {
            Driver::Thread { runtime, .. } => runtime,
            Driver::Caller(runtime) => runtime.handle(),
        };
        let _entered = handle.enter();
        call()
    }

    /// Handles what has come, without waiting; in a thread of the library nothing is to be done.
    pub(crate) fn turn(&self) {
        if let Driver::Caller(runtime) = self {
            runtime.block_on(async {
                for _ in 0..TURNS {
                    yield_now().await;
                }
            });
        }
    }

    /// Waits for `done`, at most as long as this. `None` if it took longer.
    pub(crate) fn wait<R>(&self, most: Duration, done: impl Future<Output = R>) -> Option<R> {
        let done = async { timeout(most, done).await.ok() };
        match self {
            Driver::Thread { runtime, .. } => runtime.block_on(done),
            Driver::Caller(runtime) => runtime.block_on(done),
        }
    }
}

/// Ends all tasks, and the thread.
impl Drop for Driver {
    fn drop(&mut self) {
        if let Driver::Thread { stop, thread, .. } = self {
            drop(stop.take());
            if let Some(thread) = thread.take() {
                // A thread that has panicked has said so.
                let _ = thread.join();
            }
        }
    }
}
