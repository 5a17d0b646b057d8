//! The connections that read. Each is lent to one reader at a time; the log lets them read while the writer writes.

use super::fault::Fault;
use super::schema::{OpenError, open_reader};
use office::port::StoreError;
use rusqlite::{Connection, Transaction};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Semaphore;

/// Connections that are not lent.
type Idle = Arc<Mutex<Vec<Connection>>>;

/// Who reads.
pub(super) enum Readers {
    /// Threads that are made for blocking work, each with a connection of the pool.
    Pool {
        /// The pool.
        idle: Idle,
        /// One for each of its connections.
        turns: Arc<Semaphore>,
    },
    /// Whoever asks, at once, on the one connection there is.
    Asker(Arc<Mutex<Connection>>),
}

/// A connection that returns to the pool when it goes out of scope, even by a panic.
struct Lent {
    db: Option<Connection>,
    idle: Idle,
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let Some(db) = self.db.take() {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(db);
        }
    }
}

impl Readers {
    pub(super) fn open(path: &Path, count: usize) -> Result<Self, OpenError> {
        let idle = (0..count).map(|_| open_reader(path)).collect::<Result<Vec<_>, _>>()?;
        Ok(Self::Pool { idle: Arc::new(Mutex::new(idle)), turns: Arc::new(Semaphore::new(count)) })
    }

    /// Reads inside one snapshot. `operation` says what, for the error.
    pub(super) async fn read<T, F>(&self, operation: impl FnOnce() -> String, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Transaction<'_>) -> Result<T, Fault> + Send + 'static,
    {
        let (idle, turns) = match self {
            Self::Pool { idle, turns } => (idle.clone(), turns.clone()),
            Self::Asker(db) => {
                let mut db = db.lock().unwrap_or_else(PoisonError::into_inner);
                let read = db.transaction().map_err(Fault::from).and_then(|snapshot| work(&snapshot));
                return read.map_err(|fault| fault.of(operation()));
            }
        };
        let turn = turns.acquire_owned().await.map_err(|_| Fault::Stopped.of("read"))?;
        let read = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            let db = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut lent = Lent { db, idle };
            let db = lent.db.as_mut().ok_or(Fault::Stopped)?;
            work(&db.transaction()?)
        });
        let outcome = match read.await {
            Ok(outcome) => outcome,
            // The runtime is going down, or the work panicked (which has been printed).
            Err(_) => Err(Fault::Stopped),
        };
        outcome.map_err(|fault| fault.of(operation()))
    }
}
