//! The client that its task and its handles share.
//!
//! Calls go in from any thread. Each runs between two others, under one lock that is never held
//! over an `await`, with a time that is not before that of the call before. The task is woken when
//! a call has left it something to do: outputs, events or an earlier deadline.

use ambit_proto::time::LocalTime;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;

use super::clock::ShellClock;
use crate::client::Client;
use crate::replica::factory::ViewFactory;

/// A client, its clock, and what wakes its task.
pub(super) struct SharedClient<F: ViewFactory> {
    state: Mutex<SharedState<F>>,
    clock: ShellClock,
    /// A handle's call has left something to do.
    work: Notify,
}

pub(super) struct SharedState<F: ViewFactory> {
    pub(super) client: Client<F>,
    /// When the task wakes up by itself.
    pub(super) alarm: Option<LocalTime>,
}

impl<F: ViewFactory> SharedClient<F> {
    pub(super) fn new(client: Client<F>) -> Self {
        SharedClient {
            state: Mutex::new(SharedState { client, alarm: None }),
            clock: ShellClock::start(),
            work: Notify::new(),
        }
    }

    pub(super) fn clock(&self) -> ShellClock {
        self.clock
    }

    /// For the task. A call that panicked under the lock has had its chance to report that.
    pub(super) fn lock(&self) -> MutexGuard<'_, SharedState<F>> {
        self.state.lock()
    }

    /// For handles: calls the client, and wakes the task if need be.
    pub(super) fn run<R>(&self, call: impl FnOnce(&mut Client<F>, LocalTime) -> R) -> R {
        let mut state = self.lock();
        // Under the lock, so that times ascend from call to call.
        let result = call(&mut state.client, self.clock.now());
        let has_work = state.has_work();
        drop(state);
        if has_work {
            self.work.notify_one();
        }
        result
    }

    /// Waits for a call that has left something to do. It is cancel-safe.
    pub(super) async fn wait_for_work(&self) {
        self.work.notified().await;
    }
}

impl<F: ViewFactory> SharedState<F> {
    fn has_work(&self) -> bool {
        let Self { client, alarm } = self;
        client.has_outputs()
            || client.has_events()
            || client.is_closed()
            || client
                .next_deadline()
                .is_some_and(|deadline| alarm.is_none_or(|alarm| deadline < alarm))
    }
}
