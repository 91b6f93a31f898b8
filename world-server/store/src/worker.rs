//! The thread of a store, and how others reach it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tokio::sync::{mpsc, oneshot};

use crate::copies::{Backup, RestoreError};
use crate::database::{Database, StoreError};
use crate::opened::open_database;
use crate::place::StorePlace;
use crate::tables::{Names, StoreTables};

/// Jobs that may wait; more are refused.
const MAX_WAITING: usize = 1_024;
/// Jobs in one transaction.
const MAX_TOGETHER: usize = 256;

/// A store; clones share it. The thread ends with the last one.
#[derive(Clone, Debug)]
pub struct Store {
    jobs: mpsc::Sender<Box<dyn Job>>,
    counters: Arc<StoreCounters>,
}

/// What the store has done since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreStats {
    /// Jobs that were done.
    pub done: u64,
    /// Jobs that were not: the store did not work, or had too much to do.
    pub failed: u64,
    /// Commits, each of one job or more.
    pub commits: u64,
    /// Whether the newest commit has failed.
    pub is_failing: bool,
}

#[derive(Debug, Default)]
struct StoreCounters {
    done: AtomicU64,
    failed: AtomicU64,
    commits: AtomicU64,
    is_failing: AtomicBool,
}

/// Something to do in a transaction, and who waits for it.
trait Job: Send {
    /// Runs it. What it has changed is undone if it fails.
    fn run(&mut self, tables: &mut StoreTables<'_>) -> Result<(), StoreError>;

    /// Counts it, and gives its outcome to those who wait.
    fn answer(self: Box<Self>, committed: Result<(), StoreError>, counters: &StoreCounters);
}

struct WaitedJob<F, T> {
    /// `None` once it has run.
    work: Option<F>,
    outcome: Option<Result<T, StoreError>>,
    answer: oneshot::Sender<Result<T, StoreError>>,
}

impl<F, T> Job for WaitedJob<F, T>
where
    F: FnOnce(&mut StoreTables<'_>) -> Result<T, StoreError> + Send,
    T: Send,
{
    fn run(&mut self, tables: &mut StoreTables<'_>) -> Result<(), StoreError> {
        let outcome = self.work.take().map(|work| work(tables));
        let failed = outcome.as_ref().and_then(|outcome| outcome.as_ref().err().cloned());
        self.outcome = outcome;
        failed.map_or(Ok(()), Err)
    }

    fn answer(self: Box<Self>, committed: Result<(), StoreError>, counters: &StoreCounters) {
        let outcome = match (self.outcome, committed) {
            (Some(Ok(value)), Ok(())) => Ok(value),
            (Some(Err(problem)), _) | (_, Err(problem)) => Err(problem),
            (None, Ok(())) => Err(StoreError::Unavailable("the job has not run".to_owned())),
        };
        let counter = if outcome.is_ok() { &counters.done } else { &counters.failed };
        counter.fetch_add(1, Ordering::Relaxed);
        // The receiver is gone if its future was dropped.
        let _ = self.answer.send(outcome);
    }
}

impl Store {
    /// Opens the store, brings its tables to this build's version, and starts its thread. Waits
    /// for the disk, or for the network.
    pub fn open(place: &StorePlace) -> Result<Self, StoreError> {
        let database = open_database(place)?;
        let (jobs, waiting) = mpsc::channel(MAX_WAITING);
        let counters = Arc::new(StoreCounters::default());
        let worker = Worker { database, counters: Arc::clone(&counters) };
        std::thread::Builder::new()
            .name("ambit-store".into())
            .spawn(move || worker.run(waiting))
            .map_err(|error| StoreError::Unavailable(error.to_string()))?;
        Ok(Self { jobs, counters })
    }

    /// Runs a job, and waits until the disk has what it wrote. A job that returns an error has
    /// changed nothing.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut StoreTables<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (answer, answered) = oneshot::channel();
        let job = Box::new(WaitedJob { work: Some(work), outcome: None, answer });
        if self.jobs.try_send(job).is_err() {
            self.counters.failed.fetch_add(1, Ordering::Relaxed);
            return Err(StoreError::Unavailable(format!("{MAX_WAITING} jobs wait already")));
        }
        answered.await.unwrap_or_else(|_| {
            Err(StoreError::Unavailable("the thread of the store has ended".to_owned()))
        })
    }

    /// All reserved names and bans.
    pub async fn names(&self) -> Result<Names, StoreError> {
        #[expect(clippy::redundant_closure_for_method_calls, reason = "a method has one lifetime")]
        self.run(|tables| tables.names()).await
    }

    /// What the store has done.
    pub fn stats(&self) -> StoreStats {
        let StoreCounters { done, failed, commits, is_failing } = &*self.counters;
        StoreStats {
            done: done.load(Ordering::Relaxed),
            failed: failed.load(Ordering::Relaxed),
            commits: commits.load(Ordering::Relaxed),
            is_failing: is_failing.load(Ordering::Relaxed),
        }
    }

    /// Copies a store into a new file of SQLite, as it is at one moment. Servers may go on to use
    /// the store.
    pub fn back_up(place: &StorePlace, to: &std::path::Path) -> Result<Backup, StoreError> {
        let mut from = open_database(place)?;
        Backup::write(&mut *from, to)
    }

    /// Fills an empty store with a copy. A store with anything in it is refused.
    pub fn restore(place: &StorePlace, from: &std::path::Path) -> Result<Backup, RestoreError> {
        let mut to = open_database(place)?;
        Backup::read(from, &mut *to)
    }
}

struct Worker {
    database: Box<dyn Database>,
    counters: Arc<StoreCounters>,
}

impl Worker {
    fn run(mut self, mut waiting: mpsc::Receiver<Box<dyn Job>>) {
        let mut batch = Vec::new();
        while waiting.blocking_recv_many(&mut batch, MAX_TOGETHER) > 0 {
            let committed = self.carry_out(&mut batch);
            let was_failing = self.counters.is_failing.swap(committed.is_err(), Ordering::Relaxed);
            match (&committed, was_failing) {
                (Err(error), false) => tracing::error!("{error}"),
                (Ok(()), true) => tracing::warn!("the store works again"),
                _ => {}
            }
            self.counters.commits.fetch_add(u64::from(committed.is_ok()), Ordering::Relaxed);
            for job in batch.drain(..) {
                job.answer(committed.clone(), &self.counters);
            }
        }
    }

    /// Runs jobs in one transaction.
    fn carry_out(&mut self, jobs: &mut [Box<dyn Job>]) -> Result<(), StoreError> {
        let database = &mut *self.database;
        database.recover()?;
        database.begin()?;
        for job in jobs {
            database.execute("SAVEPOINT job", &[])?;
            let end = match job.run(&mut StoreTables::new(database)) {
                Ok(()) => "RELEASE SAVEPOINT job",
                Err(_) => "ROLLBACK TO SAVEPOINT job",
            };
            database.execute(end, &[])?;
        }
        database.execute("COMMIT", &[]).map(drop)
    }
}

#[cfg(test)]
mod tests;
