//! The reading connections. Each serves one reader at a time; the log allows reads during writes.

use super::fault::Fault;
use super::schema::{OpenError, open_reader};
use crate::sqlite::Opening;
use office::port::StoreError;
use rusqlite::Connection;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Semaphore;

/// Idle connections.
type Idle = Arc<Mutex<Vec<Connection>>>;

/// Access to the readers.
pub(super) enum Readers {
    /// A pool of connections, used on threads for blocking work.
    Pool {
        /// The pool.
        idle: Idle,
        /// One permit per connection.
        permits: Arc<Semaphore>,
    },
    /// The caller's thread and the writer's connection, for a database in memory.
    Inline(Arc<Mutex<Connection>>),
}

/// A connection that returns to the pool when dropped, even after a panic.
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
    pub(super) fn open(path: &Path, opening: &Opening, count: usize) -> Result<Self, OpenError> {
        let idle = (0..count).map(|_| open_reader(path, opening)).collect::<Result<Vec<_>, _>>()?;
        Ok(Self::Pool { idle: Arc::new(Mutex::new(idle)), permits: Arc::new(Semaphore::new(count)) })
    }

    /// Reads inside one snapshot. `operation` describes the read in errors.
    pub(super) async fn read<T, F>(&self, operation: impl FnOnce() -> String, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    {
        let (idle, permits) = match self {
            Self::Pool { idle, permits } => (idle.clone(), permits.clone()),
            Self::Inline(db) => {
                // Nobody else has the connection meanwhile, so it needs no transaction to be a snapshot.
                let db = db.lock().unwrap_or_else(PoisonError::into_inner);
                return work(&db).map_err(|fault| fault.during(operation()));
            }
        };
        let permit = permits.acquire_owned().await.map_err(|_| Fault::ShutDown.during("read"))?;
        let read = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            let db = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut lent = Lent { db, idle };
            let db = lent.db.as_mut().ok_or(Fault::ShutDown)?;
            let snapshot = db.transaction()?;
            work(&snapshot)
        });
        let outcome = match read.await {
            Ok(outcome) => outcome,
            // The runtime is shutting down, or the work panicked, which was printed already.
            Err(_) => Err(Fault::ShutDown),
        };
        outcome.map_err(|fault| fault.during(operation()))
    }
}
