//! The thread that runs a client's connections and requests.

use std::io;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;
use tokio::time::timeout;

/// How long the end of a program waits until the server knows of it.
const FAREWELL: Duration = Duration::from_secs(1);

/// See the module. Dropping it ends all of its tasks.
pub(crate) struct NetworkThread {
    runtime: Handle,
    stop: Option<oneshot::Sender<Option<ambit_client::Client>>>,
    thread: Option<JoinHandle<()>>,
}

impl NetworkThread {
    pub(crate) fn start() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel::<Option<ambit_client::Client>>();
        let run = move || {
            runtime.block_on(async {
                if let Ok(Some(client)) = stopped.await {
                    // A server that does not answer learns of it by the silence.
                    let _ = timeout(FAREWELL, client.quit()).await;
                }
            });
        };
        let thread = thread::Builder::new().name("ambit-client".to_owned()).spawn(run)?;
        Ok(NetworkThread { runtime: handle, stop: Some(stop), thread: Some(thread) })
    }

    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.runtime.spawn(task);
    }

    /// Leaves as `client`, which takes at most [`FAREWELL`], and ends the thread.
    pub(crate) fn end(&mut self, client: Option<ambit_client::Client>) {
        if let Some(stop) = self.stop.take() {
            // The thread waits for this and nothing else.
            let _ = stop.send(client);
        }
        if let Some(thread) = self.thread.take() {
            // A thread that has panicked has said so.
            let _ = thread.join();
        }
    }
}
