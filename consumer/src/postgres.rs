//! Idempotency keys and the log of attempts in PostgreSQL (feature `postgres`).
//!
//! Two ways to use it. [`PostgresStore`] has a connection of its own, for work that is elsewhere. [`insert_once`] writes
//! the key in the caller's own transaction, for work that is in the same database: a crash leaves both or neither.
//!
//! Both use the tables of [`create_tables`], so a key taken by one is taken for the other.

mod attempts;
mod connection;

pub use connection::{DatabaseError, PostgresStore};

use crate::once::{Lease, Leasing, OnceStore, StoreError};
use async_trait::async_trait;
use domain::time::Timestamp;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, GenericClient, Row};

/// The lock makes concurrent starts create the tables one after the other: `CREATE TABLE IF NOT EXISTS` alone fails in
/// one of them. Its number is this crate's own, and arbitrary.
const SCHEMA: &str = "
    SELECT pg_advisory_xact_lock(7305809215436029);
    CREATE TABLE IF NOT EXISTS consumer_once (
        key text COLLATE \"C\" PRIMARY KEY, token text NOT NULL, until_ms bigint NOT NULL, expires_at_ms bigint NOT NULL,
        result text
    );
    CREATE INDEX IF NOT EXISTS consumer_once_by_expiry ON consumer_once (expires_at_ms);
    CREATE TABLE IF NOT EXISTS consumer_attempt (
        n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, message_id text COLLATE \"C\" NOT NULL, at_ms bigint NOT NULL,
        attempt text NOT NULL
    );
    CREATE INDEX IF NOT EXISTS consumer_attempt_by_message ON consumer_attempt (message_id, n);
    CREATE INDEX IF NOT EXISTS consumer_attempt_by_age ON consumer_attempt (at_ms);
";

/// Takes a key that is unknown, has expired, or whose lease has ended without a result. A concurrent transaction that
/// took it is waited for, so of any number one gets a row.
const TAKE: &str = "
    INSERT INTO consumer_once AS known (key, token, until_ms, expires_at_ms, result) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (key) DO UPDATE SET token = excluded.token, until_ms = excluded.until_ms,
        expires_at_ms = excluded.expires_at_ms, result = excluded.result
    WHERE known.expires_at_ms <= $6 OR (known.result IS NULL AND known.until_ms <= $6)
";
const FIND: &str = "SELECT token, until_ms, result FROM consumer_once WHERE key = $1";
const COMPLETE: &str = "UPDATE consumer_once SET result = $3, expires_at_ms = $4 WHERE key = $1 AND token = $2";
const RELEASE: &str = "DELETE FROM consumer_once WHERE key = $1 AND token = $2 AND result IS NULL";
/// Rows that another transaction uses are left for the next time, so this never waits and never deadlocks.
const FORGET_EXPIRED: &str = "
    DELETE FROM consumer_once WHERE key IN (
        SELECT key FROM consumer_once WHERE expires_at_ms <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)
";
/// Expired records that one lease deletes at most, so that none is slow.
const EXPIRED_MAX: i64 = 10;

/// Creates the tables `consumer_once` and `consumer_attempt` in the connection's first schema, if they are missing.
/// A deployed database may get them by a migration instead; [`schema`] returns the statements.
///
/// ```no_run
/// # async fn example(client: tokio_postgres::Client) -> Result<(), tokio_postgres::Error> {
/// consumer::postgres::create_tables(&client).await
/// # }
/// ```
pub async fn create_tables(client: &Client) -> Result<(), Error> {
    client.batch_execute(SCHEMA).await
}

/// Returns the statements of [`create_tables`], for a migration.
///
/// ```
/// assert!(consumer::postgres::schema().contains("CREATE TABLE IF NOT EXISTS consumer_once"));
/// ```
pub const fn schema() -> &'static str {
    SCHEMA
}

/// Records a key in the caller's own transaction, or says who has it. Work and record become durable together, so a crash
/// at any point leaves both or neither.
///
/// * [`Lease::Granted`]: the key is recorded as done with this transaction. Do the work in it, and commit.
/// * [`Lease::Done`]: the work was done. Roll back. The result is `null` where a transaction did it, and what
///   [`Once`](crate::once::Once) kept otherwise.
/// * [`Lease::InProgress`]: `Once` is at work on the key through a [`PostgresStore`], and may still fail. Roll back, and
///   return [`in_progress`](crate::once::in_progress), so that the message comes back.
///
/// Roll back soon: until then the key's record is locked. Where another transaction has recorded the key and has not ended, this waits for its end. Keys are kept until they are
/// recorded anew after `expires_at`, or [`forget_expired`] deletes them.
///
/// At the isolation levels *repeatable read* and *serializable* a concurrent insert is a serialization failure (SQLSTATE
/// 40001): repeat the transaction.
///
/// ```no_run
/// use consumer::once::{Lease, in_progress};
/// use consumer::{Failure, Span, Timestamp, postgres::insert_once};
///
/// async fn pay(client: &mut tokio_postgres::Client, now: Timestamp) -> Result<(), Failure> {
///     let transaction = client.transaction().await?;
///     match insert_once(&transaction, "charge-7", now, now.plus(Span::from_days(400))).await? {
///         Lease::Granted => {
///             transaction.execute("INSERT INTO payment VALUES (7)", &[]).await?;
///             transaction.commit().await?;
///             Ok(())
///         }
///         Lease::Done { .. } => Ok(()),
///         Lease::InProgress { until } => Err(in_progress("charge-7", until.since(now))),
///     }
/// }
/// ```
pub async fn insert_once(
    transaction: &tokio_postgres::Transaction<'_>,
    key: &str,
    now: Timestamp,
    expires_at: Timestamp,
) -> Result<Lease, Error> {
    // No lease has an empty token, so no record of another is found as this one's.
    let leasing = Leasing { key, token: "", now, until: now, expires_at };
    lease(transaction, leasing, Some("null")).await
}

/// Deletes keys that have expired, at most `max`; returns how many it deleted. [`PostgresStore`] does so by itself; call
/// it now and then where only [`insert_once`] is used.
///
/// ```no_run
/// # use consumer::Timestamp;
/// # async fn example(client: tokio_postgres::Client, now: Timestamp) -> Result<(), tokio_postgres::Error> {
/// while consumer::postgres::forget_expired(&client, now, 1_000).await? == 1_000 {}
/// # Ok(()) }
/// ```
pub async fn forget_expired(client: &impl GenericClient, now: Timestamp, max: u32) -> Result<u64, Error> {
    client.execute(FORGET_EXPIRED, &[&now.as_ms(), &i64::from(max)]).await
}

/// A value of a statement.
type Parameter<'a> = &'a (dyn ToSql + Sync);

async fn take(client: &impl GenericClient, leasing: &Leasing<'_>, result: Option<&str>) -> Result<bool, Error> {
    let Leasing { key, token, now, until, expires_at } = leasing;
    let taken = client.execute(TAKE, &[key, token, &until.as_ms(), &expires_at.as_ms(), &result, &now.as_ms()]).await?;
    Ok(taken == 1)
}

/// Reads the record that refused a lease.
fn refused(row: &Row, token: &str) -> Result<Lease, Error> {
    if let Some(result) = row.try_get(2)? {
        return Ok(Lease::Done { result });
    }
    // The lease had taken effect, and its answer was lost with the connection.
    if row.try_get::<_, &str>(0)? == token {
        return Ok(Lease::Granted);
    }
    Ok(Lease::InProgress { until: Timestamp::from_ms(row.try_get(1)?) })
}

async fn lease(client: &impl GenericClient, leasing: Leasing<'_>, result: Option<&str>) -> Result<Lease, Error> {
    if take(client, &leasing, result).await? {
        return Ok(Lease::Granted);
    }
    match client.query_opt(FIND, &[&leasing.key]).await? {
        Some(row) => refused(&row, leasing.token),
        // It was released or deleted meanwhile, so the key is about to be free.
        None => Ok(Lease::InProgress { until: leasing.now }),
    }
}

#[async_trait]
impl OnceStore for PostgresStore {
    async fn lease(&self, leasing: &Leasing<'_>) -> Result<Lease, StoreError> {
        let leasing = *leasing;
        let lease = self.on_connection(|client| async move {
            let now = leasing.now.as_ms();
            let parameters: [Parameter<'_>; 2] = [&now, &EXPIRED_MAX];
            // Sent together, so the second costs no round trip.
            let (lease, expired) =
                tokio::join!(lease(&*client, leasing, None), client.execute(FORGET_EXPIRED, &parameters));
            if let (Ok(_), Err(error)) = (&lease, expired) {
                tracing::warn!(%error, "expired idempotency keys could not be deleted");
            }
            lease
        });
        lease.await.map_err(StoreError::new)
    }

    async fn complete(&self, key: &str, token: &str, result: &str, expires_at: Timestamp) -> Result<bool, StoreError> {
        let expires_at = expires_at.as_ms();
        let changed = self.on_connection(|client| async move {
            client.execute(COMPLETE, &[&key, &token, &result, &expires_at]).await
        });
        Ok(changed.await.map_err(StoreError::new)? == 1)
    }

    async fn release(&self, key: &str, token: &str) -> Result<(), StoreError> {
        let deleted = self.on_connection(|client| async move { client.execute(RELEASE, &[&key, &token]).await });
        deleted.await.map(|_| ()).map_err(StoreError::new)
    }
}
