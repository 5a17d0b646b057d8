//! Runs requests on the database, one at a time.
//!
//! Requests that wait at the same time share one transaction. Each has its own savepoint, so a refused request leaves no
//! changes. Callers get their result after the commit: acknowledged calls survive `kill -9`.

use super::Clock;
use super::request::{Fault, Request};
use super::wakers::Wakers;
use domain::id::QueueArn;
use rusqlite::Connection;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;
use tokio::sync::oneshot;

/// The most requests in one transaction; limits how long the first waits for the last.
const BATCH_MAX: usize = 64;

pub(super) type Reply = Box<dyn FnOnce(&Result<(), Arc<rusqlite::Error>>) + Send>;
pub(super) type Job = Box<dyn FnOnce(&mut JobContext<'_>) -> Reply + Send>;

/// The state that a job may use.
pub(super) struct JobContext<'a> {
    db: &'a mut Connection,
    clock: &'a Clock,
    wake: &'a mut Vec<QueueArn>,
    in_flight: &'a mut HashMap<i64, i64>,
}

/// Access to the database. Dropping it waits until all requests are finished.
pub(super) enum Writer {
    /// A separate thread, for a file.
    Thread {
        /// The thread's inbox.
        jobs: Option<mpsc::Sender<Job>>,
        /// The thread.
        thread: Option<JoinHandle<()>>,
    },
    /// The caller's thread, for a database in memory.
    Inline(Mutex<Database>),
}

impl Writer {
    pub(super) fn start(database: Database) -> std::io::Result<Self> {
        let (jobs, inbox) = mpsc::channel();
        let thread = std::thread::Builder::new().name("queue-writer".into()).spawn(move || run(database, inbox))?;
        Ok(Self::Thread { jobs: Some(jobs), thread: Some(thread) })
    }

    /// Runs `work` on the database; either all its changes are committed or none.
    pub(super) async fn call<T, W>(&self, work: W) -> Result<T, Fault>
    where
        T: Send + 'static,
        W: FnOnce(&mut Request<'_>) -> Result<T, Fault> + Send + 'static,
    {
        let (reply, replied) = oneshot::channel();
        let job: Job = Box::new(move |context| {
            // If the caller is gone already, it must not receive messages.
            if reply.is_closed() {
                return Box::new(|_| ());
            }
            let outcome = atomically(context, work);
            Box::new(move |committed| {
                let result = match (outcome, committed) {
                    (Ok(_), Err(error)) => Err(Fault::Database(error.clone())),
                    (outcome, _) => outcome,
                };
                // If the caller is gone, the work is done and its result is lost, as with SQS.
                let _ = reply.send(result);
            })
        });
        match self {
            Self::Thread { jobs, .. } => {
                jobs.as_ref().ok_or(Fault::ShutDown)?.send(job).map_err(|_| Fault::ShutDown)?;
            }
            Self::Inline(database) => {
                database.lock().unwrap_or_else(PoisonError::into_inner).run_batch(std::iter::once(job));
            }
        }
        replied.await.map_err(|_| Fault::ShutDown)?
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let Self::Thread { jobs, thread } = self else { return };
        drop(jobs.take());
        if let Some(thread) = thread.take() {
            // A panic of the thread was printed already.
            let _ = thread.join();
        }
    }
}

fn atomically<T>(
    context: &mut JobContext<'_>,
    work: impl FnOnce(&mut Request<'_>) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let savepoint = context.db.savepoint()?;
    let mut request = Request {
        db: &savepoint,
        now: (context.clock)(),
        wake: &mut *context.wake,
        in_flight: &mut *context.in_flight,
    };
    let value = work(&mut request)?;
    savepoint.commit()?;
    Ok(value)
}

fn run(mut database: Database, inbox: mpsc::Receiver<Job>) {
    while let Ok(first) = inbox.recv() {
        database.run_batch(std::iter::once(first).chain(inbox.try_iter()).take(BATCH_MAX));
    }
}

/// The database, and the state kept in memory.
pub(super) struct Database {
    db: Connection,
    clock: Clock,
    wakers: Arc<Wakers>,
    in_flight: HashMap<i64, i64>,
}

impl Database {
    pub(super) fn new(db: Connection, clock: Clock, wakers: Arc<Wakers>) -> Self {
        Self { db, clock, wakers, in_flight: HashMap::new() }
    }

    /// Runs jobs in one transaction, then replies to their callers.
    fn run_batch(&mut self, jobs: impl Iterator<Item = Job>) {
        let Self { db, clock, wakers, in_flight } = self;
        let mut wake = Vec::new();
        let mut replies = Vec::new();
        // If this fails, each savepoint becomes its own transaction and reports its own failure.
        let begun = db.execute_batch("BEGIN IMMEDIATE").is_ok();
        for job in jobs {
            replies.push(job(&mut JobContext {
                db: &mut *db,
                clock: &*clock,
                wake: &mut wake,
                in_flight: &mut *in_flight,
            }));
        }
        let committed = if begun { commit(db) } else { Ok(()) };
        for reply in replies {
            reply(&committed);
        }
        for queue in wake {
            wakers.wake(&queue);
        }
    }
}

fn commit(db: &Connection) -> Result<(), Arc<rusqlite::Error>> {
    db.execute_batch("COMMIT").map_err(|error| {
        // Some failures, such as a full disk, have already rolled back; then this does nothing.
        let _ = db.execute_batch("ROLLBACK");
        Arc::new(error)
    })
}
