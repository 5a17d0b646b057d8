//! The writer thread.
//!
//! Commits that wait at the same time share one SQLite transaction. Each has its own savepoint, so a commit with an unmet
//! condition leaves no changes and does not undo another. Callers get their result after the transaction is committed and
//! synced to the disk: acknowledged commits survive `kill -9` and a power cut.

use super::apply::{self, apply};
use super::fault::Fault;
use crate::sqlite::{self, DatabaseFile, Mark, Moment};
use domain::discard::Closed;
use domain::time::Timestamp;
use office::error::chain;
use office::port::{CommitError, StoreError, Write};
use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use tokio::sync::{mpsc, oneshot};

/// The most commits in the queue; further callers wait until there is room.
const WAITING_MAX: usize = 256;
/// The most commits in one transaction; limits how long the first waits for the last.
const BATCH_MAX: usize = 32;

/// The operations' names in errors.
const FORGET: &str = "forget letters";
const CHECKPOINT: &str = "copy the log into the file";

/// A request, with the channel for its result.
pub(super) enum Job {
    /// A commit.
    Commit {
        /// The commit's writes.
        writes: Vec<Write>,
        /// The channel for the result.
        reply: oneshot::Sender<Result<(), CommitError>>,
    },
    /// A request to delete closed letters.
    Forget {
        /// How they were closed.
        closed: Closed,
        /// Deletes letters closed before this time.
        before: Timestamp,
        /// The most letters to delete.
        limit: usize,
        /// The channel for the result.
        reply: oneshot::Sender<Result<usize, StoreError>>,
    },
    /// A request to copy the log into the file.
    Checkpoint {
        /// What tells this minute from others; `None` outside of an office.
        moment: Option<Moment>,
        /// The channel for the result.
        reply: oneshot::Sender<Result<(), StoreError>>,
    },
}

/// The result of one commit inside the transaction.
enum Done {
    Written,
    Conflict(Vec<usize>),
    Failed(Fault),
}

/// Access to the writer. Dropping it waits until all requests are finished.
pub(super) enum Writer {
    /// A separate thread, for a file.
    Thread {
        /// The thread's inbox.
        jobs: Option<mpsc::Sender<Job>>,
        /// The thread.
        thread: Option<JoinHandle<()>>,
    },
    /// The caller's thread, for a database in memory.
    Inline(Arc<Mutex<Connection>>),
}

impl Writer {
    pub(super) fn start(file: DatabaseFile) -> std::io::Result<Self> {
        let (jobs, inbox) = mpsc::channel(WAITING_MAX);
        let thread = std::thread::Builder::new().name("store-writer".into()).spawn(move || run(file, inbox))?;
        Ok(Self::Thread { jobs: Some(jobs), thread: Some(thread) })
    }

    /// Commits all writes or none.
    pub(super) async fn commit(&self, writes: Vec<Write>) -> Result<(), CommitError> {
        let shut_down = || CommitError::Store(Fault::ShutDown.during("commit"));
        let jobs = match self {
            Self::Thread { jobs, .. } => jobs.as_ref().ok_or_else(shut_down)?,
            Self::Inline(db) => {
                let mut db = db.lock().unwrap_or_else(PoisonError::into_inner);
                return commit_batch(&mut db, None, vec![writes]).pop().ok_or_else(shut_down)?;
            }
        };
        let (reply, replied) = oneshot::channel();
        jobs.send(Job::Commit { writes, reply }).await.map_err(|_| shut_down())?;
        replied.await.map_err(|_| shut_down())?
    }

    /// Deletes up to `limit` letters that were closed in this way before a moment. Returns their number.
    pub(super) async fn forget(&self, closed: Closed, before: Timestamp, limit: usize) -> Result<usize, StoreError> {
        let shut_down = || Fault::ShutDown.during(FORGET);
        let jobs = match self {
            Self::Thread { jobs, .. } => jobs.as_ref().ok_or_else(shut_down)?,
            Self::Inline(db) => {
                let mut db = db.lock().unwrap_or_else(PoisonError::into_inner);
                return forget(&mut db, None, (closed, before), limit);
            }
        };
        let (reply, replied) = oneshot::channel();
        jobs.send(Job::Forget { closed, before, limit, reply }).await.map_err(|_| shut_down())?;
        replied.await.map_err(|_| shut_down())?
    }

    /// Writes what tells this minute from others, and copies the log into the file.
    pub(super) async fn checkpoint(&self, moment: Option<Moment>) -> Result<(), StoreError> {
        let shut_down = || Fault::ShutDown.during(CHECKPOINT);
        let Self::Thread { jobs, .. } = self else { return Ok(()) };
        let (reply, replied) = oneshot::channel();
        let jobs = jobs.as_ref().ok_or_else(shut_down)?;
        jobs.send(Job::Checkpoint { moment, reply }).await.map_err(|_| shut_down())?;
        replied.await.map_err(|_| shut_down())?
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

fn run(mut file: DatabaseFile, mut inbox: mpsc::Receiver<Job>) {
    while let Some(first) = inbox.blocking_recv() {
        let (mut commits, mut replies) = (Vec::new(), Vec::new());
        let mut next = Some(first);
        while let Some(job) = next {
            match job {
                Job::Commit { writes, reply } => {
                    commits.push(writes);
                    replies.push(reply);
                }
                Job::Forget { closed, before, limit, reply } => {
                    let DatabaseFile { db, mark, .. } = &mut file;
                    let _ = reply.send(forget(db, mark.as_mut(), (closed, before), limit));
                }
                Job::Checkpoint { moment, reply } => {
                    let marked = moment.map_or(Ok(()), |moment| file.set_moment(moment));
                    let copied = marked.and_then(|()| file.checkpoint());
                    let _ = reply.send(copied.map_err(|error| Fault::from(error).during(CHECKPOINT)));
                }
            }
            next = if commits.len() < BATCH_MAX { inbox.try_recv().ok() } else { None };
        }
        if commits.is_empty() {
            continue;
        }
        let DatabaseFile { db, mark, .. } = &mut file;
        let outcomes = commit_batch(db, mark.as_mut(), commits);
        for (reply, outcome) in replies.into_iter().zip(outcomes) {
            // The caller may be gone; the commit is valid anyway.
            let _ = reply.send(outcome);
        }
    }
    file.close();
}

fn forget(
    db: &mut Connection,
    mark: Option<&mut Mark>,
    (closed, before): (Closed, Timestamp),
    limit: usize,
) -> Result<usize, StoreError> {
    let forget = || {
        let changes = db.total_changes();
        let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let count = apply::forget(&tx, closed, before, limit)?;
        sqlite::commit(tx, mark, changes)?;
        Ok::<_, Fault>(count)
    };
    forget().map_err(|fault| fault.during(FORGET))
}

/// Commits a batch. Returns one result per commit, in order.
fn commit_batch(
    db: &mut Connection,
    mark: Option<&mut Mark>,
    commits: Vec<Vec<Write>>,
) -> Vec<Result<(), CommitError>> {
    let count = commits.len();
    match in_one_transaction(db, mark, commits) {
        Ok(done) => done.into_iter().map(into_result).collect(),
        Err(fault) => {
            // The first caller gets the fault itself, all others its text.
            let text = chain(&fault);
            let others = (1..count).map(|_| Fault::Transaction(text.clone()));
            std::iter::once(fault).chain(others).map(|fault| into_result(Done::Failed(fault))).collect()
        }
    }
}

fn in_one_transaction(
    db: &mut Connection,
    mark: Option<&mut Mark>,
    mut commits: Vec<Vec<Write>>,
) -> Result<Vec<Done>, Fault> {
    let changes = db.total_changes();
    let mut tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // A savepoint copies every page that it touches. A single commit needs none: it rolls back the transaction.
    if commits.len() == 1
        && let Some(writes) = commits.pop()
    {
        let failed = apply_all(&tx, writes)?;
        if failed.is_empty() {
            sqlite::commit(tx, mark, changes)?
        } else {
            tx.rollback()?
        }
        return Ok(vec![done(failed)]);
    }
    let mut outcomes = Vec::with_capacity(commits.len());
    for writes in commits {
        outcomes.push(match in_savepoint(&mut tx, writes) {
            Ok(failed) => done(failed),
            // On some faults, such as a full disk, SQLite rolls back the whole transaction, with the writes of all its
            // commits. A further savepoint would then begin a new transaction.
            Err(fault) if tx.is_autocommit() => return Err(fault),
            Err(fault) => Done::Failed(fault),
        });
    }
    sqlite::commit(tx, mark, changes)?;
    Ok(outcomes)
}

fn in_savepoint(tx: &mut Transaction<'_>, writes: Vec<Write>) -> Result<Vec<usize>, Fault> {
    let savepoint = tx.savepoint()?;
    let failed = apply_all(&savepoint, writes)?;
    // Finishing a savepoint without a commit rolls it back.
    if failed.is_empty() {
        savepoint.commit()?
    } else {
        savepoint.finish()?
    }
    Ok(failed)
}

/// Applies all writes. Returns the indexes of those with unmet conditions; if there are any, the caller must roll back.
fn apply_all(db: &Connection, writes: Vec<Write>) -> Result<Vec<usize>, Fault> {
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

fn into_result(done: Done) -> Result<(), CommitError> {
    match done {
        Done::Written => Ok(()),
        Done::Conflict(failed) => Err(CommitError::Conflict(failed)),
        Done::Failed(fault) => Err(CommitError::Store(fault.during("commit"))),
    }
}
