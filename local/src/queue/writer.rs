//! Who touches the database, one at a time, and how requests get there.
//!
//! Requests that wait together are done in one transaction, each inside a savepoint of its own, so that a refused one
//! leaves nothing behind. Nobody gets an answer before the commit: what was acknowledged survives `kill -9`.

use super::Clock;
use super::bells::Bells;
use super::request::{Fault, Request};
use domain::id::QueueArn;
use rusqlite::Connection;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;
use tokio::sync::oneshot;

/// Requests done in one transaction at most: bounds how long the first waits for the last.
const TOGETHER_MAX: usize = 64;

pub(super) type Answer = Box<dyn FnOnce(&Result<(), Arc<rusqlite::Error>>) + Send>;
pub(super) type Job = Box<dyn FnOnce(&mut Bench<'_>) -> Answer + Send>;

/// What is lent to a job.
pub(super) struct Bench<'a> {
    db: &'a mut Connection,
    clock: &'a Clock,
    wake: &'a mut Vec<QueueArn>,
    in_flight: &'a mut HashMap<i64, i64>,
}

/// The way to who touches the database. Dropping it lets a thread finish what was asked and waits for it.
pub(super) enum Writer {
    /// A thread of its own.
    Thread {
        /// Its inbox.
        jobs: Option<mpsc::Sender<Job>>,
        /// The thread.
        thread: Option<JoinHandle<()>>,
    },
    /// Whoever asks, at once.
    Asker(Mutex<Workshop>),
}

impl Writer {
    pub(super) fn start(workshop: Workshop) -> std::io::Result<Self> {
        let (jobs, inbox) = mpsc::channel();
        let thread = std::thread::Builder::new().name("queue-writer".into()).spawn(move || run(workshop, inbox))?;
        Ok(Self::Thread { jobs: Some(jobs), thread: Some(thread) })
    }

    /// Does a piece of work on the database, all of it or nothing.
    pub(super) async fn call<T, W>(&self, work: W) -> Result<T, Fault>
    where
        T: Send + 'static,
        W: FnOnce(&mut Request<'_>) -> Result<T, Fault> + Send + 'static,
    {
        let (tell, told) = oneshot::channel();
        let job: Job = Box::new(move |bench| {
            // A caller that has gone away before we began should not take messages with it.
            if tell.is_closed() {
                return Box::new(|_| ());
            }
            let outcome = atomically(bench, work);
            Box::new(move |committed| {
                let answer = match (outcome, committed) {
                    (Ok(_), Err(error)) => Err(Fault::Database(error.clone())),
                    (outcome, _) => outcome,
                };
                // Whoever asked may have gone: then the work is done and its answer lost, as with SQS.
                let _ = tell.send(answer);
            })
        });
        match self {
            Self::Thread { jobs, .. } => {
                jobs.as_ref().ok_or(Fault::Stopped)?.send(job).map_err(|_| Fault::Stopped)?;
            }
            Self::Asker(workshop) => {
                workshop.lock().unwrap_or_else(PoisonError::into_inner).round(std::iter::once(job));
            }
        }
        told.await.map_err(|_| Fault::Stopped)?
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let Self::Thread { jobs, thread } = self else { return };
        drop(jobs.take());
        if let Some(thread) = thread.take() {
            // A panic of the thread has been printed; there is nobody to hand it to.
            let _ = thread.join();
        }
    }
}

fn atomically<T>(bench: &mut Bench<'_>, work: impl FnOnce(&mut Request<'_>) -> Result<T, Fault>) -> Result<T, Fault> {
    let savepoint = bench.db.savepoint()?;
    let mut request =
        Request { db: &savepoint, now: (bench.clock)(), wake: &mut *bench.wake, in_flight: &mut *bench.in_flight };
    let value = work(&mut request)?;
    savepoint.commit()?;
    Ok(value)
}

fn run(mut workshop: Workshop, inbox: mpsc::Receiver<Job>) {
    while let Ok(first) = inbox.recv() {
        workshop.round(std::iter::once(first).chain(inbox.try_iter()).take(TOGETHER_MAX));
    }
}

/// The database and what is kept beside it in memory.
pub(super) struct Workshop {
    db: Connection,
    clock: Clock,
    bells: Arc<Bells>,
    in_flight: HashMap<i64, i64>,
}

impl Workshop {
    pub(super) fn new(db: Connection, clock: Clock, bells: Arc<Bells>) -> Self {
        Self { db, clock, bells, in_flight: HashMap::new() }
    }

    /// Does some jobs in one transaction, then tells whoever asked.
    fn round(&mut self, jobs: impl Iterator<Item = Job>) {
        let Self { db, clock, bells, in_flight } = self;
        let mut wake = Vec::new();
        let mut answers = Vec::new();
        // Without the outer transaction each savepoint is one of its own, and reports its own failure.
        let begun = db.execute_batch("BEGIN IMMEDIATE").is_ok();
        for job in jobs {
            answers.push(job(&mut Bench { db: &mut *db, clock: &*clock, wake: &mut wake, in_flight: &mut *in_flight }));
        }
        let committed = if begun { commit(db) } else { Ok(()) };
        for answer in answers {
            answer(&committed);
        }
        for queue in wake {
            bells.ring(&queue);
        }
    }
}

fn commit(db: &Connection) -> Result<(), Arc<rusqlite::Error>> {
    db.execute_batch("COMMIT").map_err(|error| {
        // Some failures (a full disk) have already rolled back; then this one has nothing to do.
        let _ = db.execute_batch("ROLLBACK");
        Arc::new(error)
    })
}
