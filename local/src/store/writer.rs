//! The one thread that writes.
//!
//! Commits that wait together are done in one SQLite transaction, each in a savepoint of its own, so that one whose
//! conditions fail leaves nothing behind and does not undo another. Nobody is answered before the transaction is
//! committed: what was acknowledged survives `kill -9`.

use super::apply::{self, apply};
use super::fault::Fault;
use domain::time::Timestamp;
use office::port::{CommitError, StoreError, Write};
use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use tokio::sync::{mpsc, oneshot};

/// Commits that may wait; whoever brings one more waits before the door.
const WAITING_MAX: usize = 256;
/// Commits done in one transaction at most: bounds how long the first waits for the last.
const TOGETHER_MAX: usize = 32;

/// What the fault of forgetting is told as.
const FORGET: &str = "forget letters";

/// What is asked, and who waits for it.
pub(super) enum Job {
    /// A commit.
    Commit {
        /// Its writes.
        writes: Vec<Write>,
        /// Who waits.
        answer: oneshot::Sender<Result<(), CommitError>>,
    },
    /// Letters to forget.
    Forget {
        /// Those that were delivered before.
        delivered_before: Timestamp,
        /// So many at most.
        limit: usize,
        /// Who waits.
        answer: oneshot::Sender<Result<usize, StoreError>>,
    },
}

/// What became of one commit inside the transaction.
enum Done {
    Written,
    Conflict(Vec<usize>),
    Failed(Fault),
}

/// The way to who writes. Dropping it lets a thread finish what was asked, and waits for it.
pub(super) enum Writer {
    /// A thread of its own.
    Thread {
        /// Its inbox.
        jobs: Option<mpsc::Sender<Job>>,
        /// The thread.
        thread: Option<JoinHandle<()>>,
    },
    /// Whoever asks, at once.
    Asker(Arc<Mutex<Connection>>),
}

impl Writer {
    pub(super) fn start(db: Connection) -> std::io::Result<Self> {
        let (jobs, inbox) = mpsc::channel(WAITING_MAX);
        let thread = std::thread::Builder::new().name("store-writer".into()).spawn(move || run(db, inbox))?;
        Ok(Self::Thread { jobs: Some(jobs), thread: Some(thread) })
    }

    /// Does all writes or none.
    pub(super) async fn commit(&self, writes: Vec<Write>) -> Result<(), CommitError> {
        let stopped = || CommitError::Store(Fault::Stopped.of("commit"));
        let jobs = match self {
            Self::Thread { jobs, .. } => jobs.as_ref().ok_or_else(stopped)?,
            Self::Asker(db) => {
                let mut db = db.lock().unwrap_or_else(PoisonError::into_inner);
                return together(&mut db, vec![writes]).pop().ok_or_else(stopped)?;
            }
        };
        let (answer, answered) = oneshot::channel();
        jobs.send(Job::Commit { writes, answer }).await.map_err(|_| stopped())?;
        answered.await.map_err(|_| stopped())?
    }

    /// Forgets letters that were delivered before a moment.
    pub(super) async fn forget(&self, delivered_before: Timestamp, limit: usize) -> Result<usize, StoreError> {
        let stopped = || Fault::Stopped.of(FORGET);
        let jobs = match self {
            Self::Thread { jobs, .. } => jobs.as_ref().ok_or_else(stopped)?,
            Self::Asker(db) => {
                let mut db = db.lock().unwrap_or_else(PoisonError::into_inner);
                return forget(&mut db, delivered_before, limit);
            }
        };
        let (answer, answered) = oneshot::channel();
        jobs.send(Job::Forget { delivered_before, limit, answer }).await.map_err(|_| stopped())?;
        answered.await.map_err(|_| stopped())?
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

fn run(mut db: Connection, mut inbox: mpsc::Receiver<Job>) {
    while let Some(first) = inbox.blocking_recv() {
        let (mut writes, mut answers) = (Vec::new(), Vec::new());
        let mut next = Some(first);
        while let Some(job) = next {
            match job {
                Job::Commit { writes: one, answer } => {
                    writes.push(one);
                    answers.push(answer);
                }
                Job::Forget { delivered_before, limit, answer } => {
                    let _ = answer.send(forget(&mut db, delivered_before, limit));
                }
            }
            next = if writes.len() < TOGETHER_MAX { inbox.try_recv().ok() } else { None };
        }
        if writes.is_empty() {
            continue;
        }
        let outcomes = together(&mut db, writes);
        for (answer, outcome) in answers.into_iter().zip(outcomes) {
            // Whoever asked may have gone away; the commit stands.
            let _ = answer.send(outcome);
        }
    }
}

fn forget(db: &mut Connection, delivered_before: Timestamp, limit: usize) -> Result<usize, StoreError> {
    let mut forget = || {
        let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let count = apply::forget(&tx, delivered_before, limit)?;
        tx.commit()?;
        Ok::<_, Fault>(count)
    };
    forget().map_err(|fault| fault.of(FORGET))
}

/// One outcome per commit, in order.
fn together(db: &mut Connection, commits: Vec<Vec<Write>>) -> Vec<Result<(), CommitError>> {
    let count = commits.len();
    match in_one_transaction(db, commits) {
        Ok(done) => done.into_iter().map(told).collect(),
        Err(fault) => {
            // One fault, as many askers: each is told its words, the first one has the cause itself.
            let words = chain(&fault);
            let rest = (1..count).map(|_| Fault::Together(words.clone()));
            std::iter::once(fault).chain(rest).map(|fault| told(Done::Failed(fault))).collect()
        }
    }
}

fn in_one_transaction(db: &mut Connection, mut commits: Vec<Vec<Write>>) -> Result<Vec<Done>, Fault> {
    let mut tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // A savepoint keeps a copy of every page it touches; one commit alone has the transaction itself to go back to.
    if commits.len() == 1
        && let Some(writes) = commits.pop()
    {
        let failed = all_of(&tx, writes)?;
        if failed.is_empty() {
            tx.commit()?
        } else {
            tx.rollback()?
        }
        return Ok(vec![done(failed)]);
    }
    let mut outcomes = Vec::with_capacity(commits.len());
    for writes in commits {
        outcomes.push(match in_savepoint(&mut tx, writes) {
            Ok(failed) => done(failed),
            // SQLite ends the whole transaction by itself on some faults (a full disk): then what the others of it
            // wrote is gone too, and a further savepoint would begin a transaction of its own.
            Err(fault) if tx.is_autocommit() => return Err(fault),
            Err(fault) => Done::Failed(fault),
        });
    }
    tx.commit()?;
    Ok(outcomes)
}

fn in_savepoint(tx: &mut Transaction<'_>, writes: Vec<Write>) -> Result<Vec<usize>, Fault> {
    let savepoint = tx.savepoint()?;
    let failed = all_of(&savepoint, writes)?;
    // Finishing it without a commit takes everything back.
    if failed.is_empty() {
        savepoint.commit()?
    } else {
        savepoint.finish()?
    }
    Ok(failed)
}

/// Does all writes, and gives the indexes of those whose conditions do not hold: then the rest must be taken back.
fn all_of(db: &Connection, writes: Vec<Write>) -> Result<Vec<usize>, Fault> {
    let mut failed = Vec::new();
    for (index, write) in writes.into_iter().enumerate() {
        if !apply(db, write)? {
            failed.push(index);
        }
    }
    Ok(failed)
}

fn done(failed: Vec<usize>) -> Done {
    if failed.is_empty() { Done::Written } else { Done::Conflict(failed) }
}

fn told(done: Done) -> Result<(), CommitError> {
    match done {
        Done::Written => Ok(()),
        Done::Conflict(failed) => Err(CommitError::Conflict(failed)),
        Done::Failed(fault) => Err(CommitError::Store(fault.of("commit"))),
    }
}

fn chain(fault: &Fault) -> String {
    let mut words = fault.to_string();
    let mut cause = std::error::Error::source(fault);
    while let Some(error) = cause {
        words.push_str(": ");
        words.push_str(&error.to_string());
        cause = error.source();
    }
    words
}
