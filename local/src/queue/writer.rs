//! Runs requests on the database, one at a time.
//!
//! Requests that wait at the same time share one transaction. Each has its own savepoint, so a refused request leaves no
//! changes. Callers get their result after the commit is synced to the disk: acknowledged calls survive `kill -9` and a
//! power cut.

use super::Clock;
use super::request::{Fault, Request};
use super::wakers::Wakers;
use crate::sqlite::{self, DatabaseFile};
use domain::id::QueueArn;
use rusqlite::Connection;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;
use tokio::sync::oneshot;

/// The most requests in one transaction; limits how long the first waits for the last.
const BATCH_MAX: usize = 64;

pub(super) type Reply = Box<dyn FnOnce(&Result<(), Arc<rusqlite::Error>>) + Send>;
pub(super) type Call = Box<dyn FnOnce(&mut JobContext<'_>) -> Reply + Send>;

/// What the thread does next.
pub(super) enum Job {
    /// A request, which may share a transaction with others.
    Request(Call),
    /// Work on the whole file, outside of any transaction.
    Alone(Box<dyn FnOnce(&mut DatabaseFile) + Send>),
}

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
    Inline(Box<Mutex<Database>>),
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
        let job: Call = Box::new(move |context| {
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
                jobs.as_ref().ok_or(Fault::ShutDown)?.send(Job::Request(job)).map_err(|_| Fault::ShutDown)?;
            }
            Self::Inline(database) => {
                database.lock().unwrap_or_else(PoisonError::into_inner).run_batch(std::iter::once(job));
            }
        }
        replied.await.map_err(|_| Fault::ShutDown)?
    }

    /// Runs `work` on the whole file, while no request runs.
    pub(super) async fn alone<T, W>(&self, work: W) -> Result<T, Fault>
    where
        T: Send + 'static,
        W: FnOnce(&mut DatabaseFile) -> T + Send + 'static,
    {
        match self {
            Self::Thread { jobs, .. } => {
                let (reply, replied) = oneshot::channel();
                let job = Job::Alone(Box::new(move |file| {
                    // The caller may be gone; the work is done anyway.
                    let _ = reply.send(work(file));
                }));
                jobs.as_ref().ok_or(Fault::ShutDown)?.send(job).map_err(|_| Fault::ShutDown)?;
                replied.await.map_err(|_| Fault::ShutDown)
            }
            Self::Inline(database) => Ok(work(&mut database.lock().unwrap_or_else(PoisonError::into_inner).file)),
        }
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
    let mut next = None;
    while let Some(job) = next.take().or_else(|| inbox.recv().ok()) {
        match job {
            Job::Alone(work) => work(&mut database.file),
            Job::Request(first) => {
                let more = std::iter::from_fn(|| match inbox.try_recv().ok()? {
                    Job::Request(call) => Some(call),
                    alone => {
                        next = Some(alone);
                        None
                    }
                });
                database.run_batch(std::iter::once(first).chain(more).take(BATCH_MAX));
            }
        }
    }
    database.file.close();
}

/// The database, and the state kept in memory.
pub(super) struct Database {
    file: DatabaseFile,
    clock: Clock,
    wakers: Arc<Wakers>,
    in_flight: HashMap<i64, i64>,
}

impl Database {
    pub(super) fn new(file: DatabaseFile, clock: Clock, wakers: Arc<Wakers>) -> Self {
        Self { file, clock, wakers, in_flight: HashMap::new() }
    }

    /// Runs calls in one transaction, then replies to their callers.
    fn run_batch(&mut self, calls: impl Iterator<Item = Call>) {
        let Self { file: DatabaseFile { db, mark, .. }, clock, wakers, in_flight } = self;
        let mut wake = Vec::new();
        let mut replies = Vec::new();
        let changes = db.total_changes();
        // If this fails, each savepoint becomes its own transaction and reports its own failure.
        let begun = db.execute_batch("BEGIN IMMEDIATE").is_ok();
        for call in calls {
            replies.push(call(&mut JobContext {
                db: &mut *db,
                clock: &*clock,
                wake: &mut wake,
                in_flight: &mut *in_flight,
            }));
        }
        let committed = if begun { sqlite::commit_begun(db, mark.as_mut(), changes).map_err(Arc::new) } else { Ok(()) };
        for reply in replies {
            reply(&committed);
        }
        for queue in wake {
            wakers.wake(&queue);
        }
    }
}
