//! Idempotency keys and the log of attempts in SQLite, for consumers on one machine (feature `sqlite`).

use crate::attempts::{AGE_MAX, ATTEMPTS_KEPT, Attempt, AttemptLog, LogError};
use crate::once::{Lease, Leasing, OnceStore, StoreError};
use async_trait::async_trait;
use domain::id::MessageId;
use domain::time::Timestamp;
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long a connection waits for another one that has locked the file.
const BUSY: Duration = Duration::from_secs(5);

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS once (
        key TEXT PRIMARY KEY, token TEXT NOT NULL, until_ms INTEGER NOT NULL, expires_at_ms INTEGER NOT NULL, result TEXT
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS once_by_expiry ON once (expires_at_ms);
    CREATE TABLE IF NOT EXISTS attempt (message_id TEXT NOT NULL, n INTEGER PRIMARY KEY, attempt TEXT NOT NULL) STRICT;
    CREATE INDEX IF NOT EXISTS attempt_by_message ON attempt (message_id);
";
/// Expired records that one request for a lease deletes at most, so that none is slow.
const EXPIRED_MAX: u32 = 10;
/// The oldest attempts that a new one looks at, to delete those of no use.
const OLDEST_MAX: u32 = 10;
const FORGET_OLD: &str = "
    DELETE FROM attempt WHERE n IN (SELECT n FROM (SELECT n, attempt FROM attempt ORDER BY n LIMIT ?1)
        WHERE json_extract(attempt, '$.at') < ?2)
";

/// A file with idempotency keys and attempts. Clones share the connection.
///
/// ```
/// use consumer::once::Once;
/// use consumer::sqlite::SqliteStore;
/// use consumer::{Failure, Span};
/// use std::sync::Arc;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let once = Once::new(Arc::new(SqliteStore::open_in_memory().unwrap()), Span::from_secs(30));
/// let work = async || once.run("order-7", Span::from_days(400), async { Ok::<_, Failure>(7) }).await;
/// assert!(!work().await?.repeated);
/// assert!(work().await?.repeated);
/// # Ok::<(), Failure>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct SqliteStore {
    connection: Arc<Mutex<Connection>>,
}

impl SqliteStore {
    /// Opens or creates the file.
    ///
    /// ```
    /// # use consumer::sqlite::SqliteStore;
    /// assert!(SqliteStore::open("no/such/folder/keys.db").is_err());
    /// ```
    pub fn open(file: impl AsRef<Path>) -> rusqlite::Result<Self> {
        Self::prepared(Connection::open(file)?)
    }

    /// Keeps everything in memory, for tests.
    ///
    /// ```
    /// # use consumer::sqlite::SqliteStore;
    /// assert!(SqliteStore::open_in_memory().is_ok());
    /// ```
    pub fn open_in_memory() -> rusqlite::Result<Self> {
        Self::prepared(Connection::open_in_memory()?)
    }

    fn prepared(connection: Connection) -> rusqlite::Result<Self> {
        connection.busy_timeout(BUSY)?;
        // A record that a power cut takes back would let the work be done twice.
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.execute_batch(SCHEMA)?;
        Ok(Self { connection: Arc::new(Mutex::new(connection)) })
    }

    /// Runs a transaction where it may block.
    async fn transact<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, Box<dyn std::error::Error + Send + Sync>> {
        let connection = self.connection.clone();
        let done = tokio::task::spawn_blocking(move || {
            let mut connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let value = work(&transaction)?;
            transaction.commit()?;
            Ok::<T, rusqlite::Error>(value)
        });
        Ok(done.await??)
    }
}

/// Creates the table for [`insert_once`] in the caller's own database, if it is missing.
///
/// ```
/// let database = rusqlite::Connection::open_in_memory()?;
/// consumer::sqlite::create_table(&database)?;
/// # Ok::<(), rusqlite::Error>(())
/// ```
pub fn create_table(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(SCHEMA)
}

/// Records a key in the caller's own transaction, or says who has it. Work and record become durable together, so a crash
/// at any point leaves both or neither.
///
/// * [`Lease::Granted`]: the key is recorded as done with this transaction. Do the work in it, and commit.
/// * [`Lease::Done`]: the work was done. Roll back. The result is `null` where a transaction did it, and what
///   [`Once`](crate::once::Once) kept otherwise.
/// * [`Lease::InProgress`]: `Once` is at work on the key through a [`SqliteStore`], and may still fail. Roll back, and
///   return [`in_progress`](crate::once::in_progress), so that the message comes back.
///
/// ```
/// use consumer::once::Lease;
/// use consumer::sqlite::{create_table, insert_once};
/// use consumer::Timestamp;
///
/// let mut database = rusqlite::Connection::open_in_memory()?;
/// create_table(&database)?;
/// database.execute_batch("CREATE TABLE payment (order_id INTEGER)")?;
/// let (now, expires_at) = (Timestamp::from_ms(0), Timestamp::from_ms(86_400_000));
/// for _ in 0..2 {
///     let transaction = database.transaction()?;
///     if insert_once(&transaction, "charge-7", now, expires_at)? == Lease::Granted {
///         transaction.execute("INSERT INTO payment VALUES (7)", [])?;
///         transaction.commit()?;
///     }
/// }
/// let payments: u32 = database.query_row("SELECT count(*) FROM payment", [], |row| row.get(0))?;
/// assert_eq!(payments, 1);
/// # Ok::<(), rusqlite::Error>(())
/// ```
pub fn insert_once(
    transaction: &Transaction<'_>,
    key: &str,
    now: Timestamp,
    expires_at: Timestamp,
) -> rusqlite::Result<Lease> {
    take(transaction, &Leasing { key, token: "", now, until: now, expires_at }, Some("null"))
}

/// Takes a key, or reads the record that refuses it.
fn take(transaction: &Transaction<'_>, leasing: &Leasing<'_>, result: Option<&str>) -> rusqlite::Result<Lease> {
    let Leasing { key, token, now, until, expires_at } = *leasing;
    forget_expired(transaction, key, now)?;
    let inserted = transaction.execute(
        "INSERT INTO once (key, token, until_ms, expires_at_ms, result) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (key) DO NOTHING",
        params![key, token, until.as_ms(), expires_at.as_ms(), result],
    )?;
    if inserted == 1 {
        return Ok(Lease::Granted);
    }
    transaction.query_row("SELECT until_ms, result FROM once WHERE key = ?1", [key], |row| {
        let until = Timestamp::from_ms(row.get(0)?);
        let result = row.get::<_, Option<String>>(1)?;
        Ok(result.map_or(Lease::InProgress { until }, |result| Lease::Done { result }))
    })
}

fn forget_expired(transaction: &Transaction<'_>, key: &str, now: Timestamp) -> rusqlite::Result<()> {
    transaction.execute(
        "DELETE FROM once WHERE key IN (SELECT key FROM once WHERE expires_at_ms <= ?1 LIMIT ?2)",
        params![now.as_ms(), EXPIRED_MAX],
    )?;
    transaction.execute(
        "DELETE FROM once WHERE key = ?1 AND (expires_at_ms <= ?2 OR (result IS NULL AND until_ms <= ?2))",
        params![key, now.as_ms()],
    )?;
    Ok(())
}

#[async_trait]
impl OnceStore for SqliteStore {
    async fn lease(&self, leasing: &Leasing<'_>) -> Result<Lease, StoreError> {
        let (key, token) = (leasing.key.to_owned(), leasing.token.to_owned());
        let Leasing { now, until, expires_at, .. } = *leasing;
        let lease = self.transact(move |transaction| {
            take(transaction, &Leasing { key: &key, token: &token, now, until, expires_at }, None)
        });
        lease.await.map_err(StoreError::new)
    }

    async fn complete(&self, key: &str, token: &str, result: &str, expires_at: Timestamp) -> Result<bool, StoreError> {
        let (key, token, result) = (key.to_owned(), token.to_owned(), result.to_owned());
        let changed = self.transact(move |transaction| {
            transaction.execute(
                "UPDATE once SET result = ?3, expires_at_ms = ?4 WHERE key = ?1 AND token = ?2",
                params![key, token, result, expires_at.as_ms()],
            )
        });
        Ok(changed.await.map_err(StoreError::new)? == 1)
    }

    async fn release(&self, key: &str, token: &str) -> Result<(), StoreError> {
        let (key, token) = (key.to_owned(), token.to_owned());
        let deleted = self.transact(move |transaction| {
            transaction.execute("DELETE FROM once WHERE key = ?1 AND token = ?2 AND result IS NULL", [key, token])
        });
        deleted.await.map(|_| ()).map_err(StoreError::new)
    }
}

#[async_trait]
impl AttemptLog for SqliteStore {
    async fn load(&self, message: &MessageId) -> Result<Vec<Attempt>, LogError> {
        let id = message.as_str().to_owned();
        let found = self.transact(move |transaction| {
            let mut newest = transaction
                .prepare_cached("SELECT attempt FROM attempt WHERE message_id = ?1 ORDER BY n DESC LIMIT ?2")?;
            let rows = newest.query_map(params![id, ATTEMPTS_KEPT as u32], |row| row.get::<_, String>(0))?;
            rows.collect::<rusqlite::Result<Vec<String>>>()
        });
        let rows = found.await.map_err(LogError::new)?;
        rows.iter().rev().map(|json| serde_json::from_str(json).map_err(LogError::new)).collect()
    }

    async fn append(&self, message: &MessageId, attempt: Attempt) -> Result<(), LogError> {
        let id = message.as_str().to_owned();
        let json = serde_json::to_string(&attempt).map_err(LogError::new)?;
        let old = attempt.at.minus(AGE_MAX).as_ms();
        let written = self.transact(move |transaction| {
            transaction.execute("INSERT INTO attempt (message_id, attempt) VALUES (?1, ?2)", [&id, &json])?;
            transaction.execute(FORGET_OLD, params![OLDEST_MAX, old])?;
            let oldest: Option<i64> = transaction
                .query_row(
                    "SELECT n FROM attempt WHERE message_id = ?1 ORDER BY n DESC LIMIT 1 OFFSET ?2",
                    params![id, ATTEMPTS_KEPT as u32],
                    |row| row.get(0),
                )
                .optional()?;
            transaction.execute("DELETE FROM attempt WHERE message_id = ?1 AND n <= ?2", params![id, oldest])
        });
        written.await.map(|_| ()).map_err(LogError::new)
    }

    async fn forget(&self, message: &MessageId) -> Result<(), LogError> {
        let id = message.as_str().to_owned();
        let deleted =
            self.transact(move |transaction| transaction.execute("DELETE FROM attempt WHERE message_id = ?1", [id]));
        deleted.await.map(|_| ()).map_err(LogError::new)
    }
}
