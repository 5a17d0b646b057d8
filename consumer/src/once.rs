//! Idempotency: does the work of a message once, however often the message is delivered.
//!
//! [`Once::run`] leases a key, does the work, and keeps its result. A second delivery gets the result; a delivery while
//! the first is still at work fails as transient and comes back later. A lease has a time limit, so that a crash does not
//! block the key for ever; work that takes longer than nine tenths of it is cut off, before somebody else may begin.
//!
//! **What it cannot do**: if the process dies between the work and the record of it, the work is done again after the
//! lease's time limit. Work that blocks its thread, or that goes on elsewhere after its future was dropped, is not cut off.
//! The clocks of all processes must agree to within a tenth of the lease. Where the work is in the same database, let both be one transaction instead:
//! `insert_once` of the features `sqlite` and `postgres`. Where it is a call to another service, pass the key on to it.

use crate::clock::{system_now, to_duration};
use crate::failure::{Failure, IN_PROGRESS};
use async_trait::async_trait;
use domain::time::{Span, Timestamp};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The longest key, bytes: DynamoDB allows 2,048 for a partition key; half of it leaves room for a prefix.
pub const KEY_BYTES_MAX: usize = 1_024;
/// The longest kept result as JSON, bytes. DynamoDB's items have at most 400 KB; a result is an answer, not a payload.
pub const RESULT_BYTES_MAX: usize = 64 * 1024;
/// What is kept for a result that is too large or cannot be written as JSON. It is no JSON itself.
const NOT_KEPT: &str = "not kept";
/// The first and the longest pause before a store that did not answer is asked again to keep a result.
const COMPLETE_PAUSE: Duration = Duration::from_millis(200);
const COMPLETE_PAUSE_MAX: Duration = Duration::from_secs(5);
/// How long a store may take for one call: longer than the stores' own limits of 5 s, whose errors say more. A connection
/// that is dead in silence would never answer.
const CALL_MAX: Duration = Duration::from_secs(6);
/// The share of a lease that work may use, in tenths. The rest is for keeping its result, and for clocks that differ.
const WORK_TENTHS: u32 = 9;

/// Whose the work of a key is: the answer to a request for a lease, and of `insert_once`.
///
/// Only `Done` says that the work was done. Work that is in progress may still fail, so a message must not be taken for
/// handled because of it: return [`in_progress`], and the message comes back.
///
/// ```
/// use consumer::once::{Lease, in_progress};
/// use consumer::{Failure, Timestamp};
///
/// /// Whether to do the work.
/// fn is_mine(lease: Lease, key: &str, now: Timestamp) -> Result<bool, Failure> {
///     match lease {
///         Lease::Granted => Ok(true),
///         Lease::Done { .. } => Ok(false),
///         Lease::InProgress { until } => Err(in_progress(key, until.since(now))),
///     }
/// }
/// let taken = Lease::InProgress { until: Timestamp::from_ms(30_000) };
/// assert!(is_mine(taken, "order-7", Timestamp::from_ms(0)).is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lease {
    /// The key was free: do the work.
    Granted,
    /// Another process holds the key, until this time at the latest. Whether the work will be done is not known.
    InProgress {
        /// The end of its lease.
        until: Timestamp,
    },
    /// The work was done.
    Done {
        /// Its result as JSON.
        result: String,
    },
}

/// The store of keys did not answer.
///
/// ```
/// use consumer::once::StoreError;
///
/// assert_eq!(StoreError::new("disk full").to_string(), "the store of idempotency keys did not answer");
/// ```
#[derive(Debug, thiserror::Error)]
#[error("the store of idempotency keys did not answer")]
pub struct StoreError {
    #[source]
    source: Box<dyn std::error::Error + Send + Sync>,
}

impl StoreError {
    /// Returns the error with its cause.
    ///
    /// ```
    /// # use consumer::once::StoreError;
    /// let error = StoreError::new("the table is missing");
    /// # let _ = error;
    /// ```
    pub fn new(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self { source: source.into() }
    }
}

/// A request for a lease.
///
/// ```
/// use consumer::once::Leasing;
/// use domain::time::Timestamp;
///
/// let at = Timestamp::from_ms;
/// let leasing = Leasing { key: "order-7", token: "a1", now: at(0), until: at(30_000), expires_at: at(86_400_000) };
/// assert_eq!(leasing.key, "order-7");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Leasing<'a> {
    /// The key, at most [`KEY_BYTES_MAX`] bytes.
    pub key: &'a str,
    /// Tells this lease from every other one on the same key.
    pub token: &'a str,
    /// The current time.
    pub now: Timestamp,
    /// When others may lease the key again, if the work was not recorded as done.
    pub until: Timestamp,
    /// When the record may be deleted.
    pub expires_at: Timestamp,
}

/// A store of keys. `SqliteStore`, `PostgresStore` and `DynamoStore` pass one conformance suite.
///
/// A lease is granted if the key is unknown, if its record has expired, or if the lease on it has ended without a result.
///
/// ```
/// use consumer::once::{Lease, Leasing, OnceStore, StoreError};
///
/// async fn is_free(store: &dyn OnceStore, leasing: &Leasing<'_>) -> Result<bool, StoreError> {
///     Ok(store.lease(leasing).await? == Lease::Granted)
/// }
/// ```
#[async_trait]
pub trait OnceStore: Send + Sync {
    /// Leases a key, or tells who has it. Atomic: of any number of concurrent leases one is granted.
    ///
    /// ```
    /// # use consumer::once::{Lease, Leasing, OnceStore, StoreError};
    /// /// The result of work that was done before, as JSON.
    /// async fn earlier(store: &dyn OnceStore, leasing: &Leasing<'_>) -> Result<Option<String>, StoreError> {
    ///     Ok(match store.lease(leasing).await? {
    ///         Lease::Done { result } => Some(result),
    ///         Lease::Granted | Lease::InProgress { .. } => None,
    ///     })
    /// }
    /// ```
    async fn lease(&self, leasing: &Leasing<'_>) -> Result<Lease, StoreError>;

    /// Records the result. Returns false if the lease has ended and another one has taken the key.
    ///
    /// ```
    /// # use consumer::once::{Leasing, OnceStore, StoreError};
    /// async fn paid(store: &dyn OnceStore, lease: &Leasing<'_>) -> Result<bool, StoreError> {
    ///     store.complete(lease.key, lease.token, r#"{"payment":7}"#, lease.expires_at).await
    /// }
    /// ```
    async fn complete(&self, key: &str, token: &str, result: &str, expires_at: Timestamp) -> Result<bool, StoreError>;

    /// Gives the key back after failed work. Does nothing if another lease has taken it.
    ///
    /// ```
    /// # use consumer::once::{Leasing, OnceStore, StoreError};
    /// async fn failed(store: &dyn OnceStore, lease: &Leasing<'_>) -> Result<(), StoreError> {
    ///     store.release(lease.key, lease.token).await
    /// }
    /// ```
    async fn release(&self, key: &str, token: &str) -> Result<(), StoreError>;
}

/// The result of work, and whether it was done now.
///
/// ```
/// use consumer::once::Done;
///
/// let repeated = Done { value: 7, repeated: true };
/// assert_eq!(repeated.value, 7);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done<T> {
    /// The result.
    pub value: T,
    /// Whether an earlier delivery did the work.
    pub repeated: bool,
}

/// Does work once per key.
///
/// ```no_run
/// use consumer::once::{Once, OnceStore};
/// use consumer::{Failure, Span};
/// use std::sync::Arc;
///
/// # async fn charge(order: u64) -> Result<String, Failure> { Ok(order.to_string()) }
/// async fn handle(store: Arc<dyn OnceStore>, order: u64) -> Result<(), Failure> {
///     let once = Once::new(store, Span::from_secs(30));
///     let paid = once.run(&format!("charge-{order}"), Span::from_days(400), charge(order)).await?;
///     tracing::info!(payment = paid.value, repeated = paid.repeated, "paid");
///     Ok(())
/// }
/// ```
#[derive(Clone)]
pub struct Once {
    store: Arc<dyn OnceStore>,
    lease_max: Span,
    now: Arc<dyn Fn() -> Timestamp + Send + Sync>,
}

impl Once {
    /// Returns a runner whose leases last `lease_max`: longer than the work ever takes, for example the handler's time
    /// limit. Work gets nine tenths of it, and is then cut off.
    ///
    /// ```
    /// # use consumer::once::{Once, OnceStore};
    /// # use consumer::Span;
    /// # fn example(store: std::sync::Arc<dyn OnceStore>) {
    /// let once = Once::new(store, Span::from_secs(30));
    /// # let _ = once; }
    /// ```
    pub fn new(store: Arc<dyn OnceStore>, lease_max: Span) -> Self {
        Self { store, lease_max, now: Arc::new(system_now) }
    }

    /// Reads another clock, for tests.
    ///
    /// ```
    /// # use consumer::once::{Once, OnceStore};
    /// # use consumer::{Span, Timestamp};
    /// # fn example(store: std::sync::Arc<dyn OnceStore>) {
    /// let once = Once::new(store, Span::from_secs(30)).with_clock(|| Timestamp::from_ms(7));
    /// # let _ = once; }
    /// ```
    #[must_use]
    pub fn with_clock(mut self, now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        self.now = Arc::new(now);
        self
    }

    /// Does the work unless it was done before; keeps its result for `ttl`, which must be longer than a message can
    /// come back: the queue's retention plus that of its dead-letter queue.
    ///
    /// While another process is at work on the key, the failure is transient with its end as `retry_after`. A result above
    /// [`RESULT_BYTES_MAX`] is returned and not kept: later calls fail as permanent, and do no work. Work that fails gives
    /// the key back. Work that is cut off, or whose future is dropped, may have had its effect, so its key stays leased
    /// until the lease ends; the failure of work that was cut off is transient, with the rest of the lease as
    /// `retry_after`.
    ///
    /// ```no_run
    /// # use consumer::once::{Done, Once};
    /// # use consumer::{Failure, Span};
    /// # async fn example(once: Once) -> Result<(), Failure> {
    /// let Done { value, .. } = once.run("order-7", Span::from_days(400), async { Ok::<_, Failure>(7) }).await?;
    /// assert_eq!(value, 7);
    /// # Ok(()) }
    /// ```
    pub async fn run<T: Serialize + DeserializeOwned>(
        &self,
        key: &str,
        ttl: Span,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<Done<T>, Failure> {
        if key.is_empty() || key.len() > KEY_BYTES_MAX {
            let text = format!("an idempotency key has 1 to {KEY_BYTES_MAX} bytes, not {}", key.len());
            return Err(Failure::permanent("consumer::once::KeyLength", text));
        }
        // PostgreSQL's texts cannot contain it, and no store shall differ.
        if key.contains('\0') {
            return Err(Failure::permanent("consumer::once::KeyText", "an idempotency key contains no NUL character"));
        }
        let token = format!("{:016x}", crate::clock::system_entropy());
        let began = Instant::now();
        let now = (self.now)();
        let (until, expires_at) = (now.plus(self.lease_max), now.plus(ttl.max(self.lease_max)));
        let leasing = Leasing { key, token: &token, now, until, expires_at };
        match in_time(self.store.lease(&leasing)).await.map_err(unanswered)? {
            Lease::Done { result } => return Ok(Done { value: parse(&result)?, repeated: true }),
            Lease::InProgress { until } => return Err(in_progress(key, until.since(now))),
            Lease::Granted => {}
        }
        // A lease whose answer took long has less left.
        let limit = to_duration(self.lease_max) / 10 * WORK_TENTHS;
        let ends_at = began + limit;
        if Instant::now() >= ends_at {
            let left = until.since((self.now)()).max(Span::ZERO);
            let text = format!(
                "the store took {} ms to lease key {key}, which leaves no time for the work",
                began.elapsed().as_millis()
            );
            return Err(Failure::transient("consumer::once::LeasedTooLate", text).with_retry_after(left));
        }
        let value = match tokio::time::timeout_at(ends_at, work).await {
            Ok(Ok(value)) => value,
            Err(_) => return Err(self.cut_off(key, &leasing, limit)),
            Ok(Err(failure)) => {
                self.release(key, &token).await;
                return Err(failure);
            }
        };
        // The work is done, whatever becomes of its result: the key must never be free again.
        let result = print(&value).unwrap_or_else(|why| {
            tracing::error!(
                key,
                "the work is done, but its result is not kept: {why}. A repeat of this key will fail."
            );
            NOT_KEPT.to_owned()
        });
        if !self.complete(&leasing, &result, ttl, began + to_duration(self.lease_max)).await? {
            tracing::error!(
                key,
                "the work took longer than its lease, and was taken over: it may have been done twice"
            );
        }
        Ok(Done { value, repeated: false })
    }

    /// Gives the key back. If that fails, it is free when the lease ends.
    async fn release(&self, key: &str, token: &str) {
        if let Err(error) = in_time(self.store.release(key, token)).await {
            tracing::warn!(key, cause = ?std::error::Error::source(&error), "the key stays leased: {error}");
        }
    }

    /// The failure of work that would have outlasted its lease.
    fn cut_off(&self, key: &str, leasing: &Leasing<'_>, limit: Duration) -> Failure {
        let text = format!(
            "the work for key {key} did not end within {} ms, nine tenths of its lease, and was cut off: it may have had its \
             effect",
            limit.as_millis()
        );
        let left = leasing.until.since((self.now)()).max(Span::ZERO);
        Failure::transient("consumer::once::CutOff", text).with_retry_after(left)
    }

    /// Keeps a result. Asks a store that does not answer again, until the lease ends: without a record the work would be
    /// repeated.
    async fn complete(&self, leasing: &Leasing<'_>, result: &str, ttl: Span, until: Instant) -> Result<bool, Failure> {
        let mut pause = COMPLETE_PAUSE;
        loop {
            let expires_at = (self.now)().plus(ttl).max(leasing.expires_at);
            match in_time(self.store.complete(leasing.key, leasing.token, result, expires_at)).await {
                Ok(kept) => return Ok(kept),
                Err(error) if Instant::now() >= until => return Err(unanswered(error)),
                Err(error) => {
                    let key = leasing.key;
                    tracing::warn!(key, cause = ?std::error::Error::source(&error), "the result is not kept yet: {error}");
                }
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(COMPLETE_PAUSE_MAX);
        }
    }
}

/// Returns the failure of a message whose work is in progress elsewhere, for at most another `left`: transient, so that the
/// message comes back, and an answer for the circuit of a [`Dependency`](crate::dependency::Dependency). [`Once::run`]
/// returns it by itself.
///
/// ```
/// use consumer::once::in_progress;
/// use consumer::{Class, Span};
///
/// let waiting = in_progress("order-7", Span::from_secs(20));
/// assert_eq!((waiting.class, waiting.context.retry_after), (Class::Transient, Some(Span::from_secs(20))));
/// ```
pub fn in_progress(key: &str, left: Span) -> Failure {
    let left = left.max(Span::ZERO);
    let text = format!("the work for key {key} is in progress elsewhere for at most another {} ms", left.as_ms());
    Failure::transient(IN_PROGRESS, text).with_retry_after(left)
}

/// Calls a store, and does not wait for one that is silent.
async fn in_time<T>(call: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
    let late = |_| Err(StoreError::new(format!("no answer within {} ms", CALL_MAX.as_millis())));
    tokio::time::timeout(CALL_MAX, call).await.unwrap_or_else(late)
}

fn unanswered(error: StoreError) -> Failure {
    Failure::capture(domain::reading::Class::Transient, &error)
}

fn parse<T: DeserializeOwned>(result: &str) -> Result<T, Failure> {
    if result == NOT_KEPT {
        let text = "the work was done before, and its result was too large to be kept";
        return Err(Failure::permanent("consumer::once::ResultNotKept", text));
    }
    serde_json::from_str(result).map_err(|error| Failure::capture(domain::reading::Class::Permanent, &error))
}

fn print<T: Serialize>(value: &T) -> Result<String, String> {
    let json = serde_json::to_string(value).map_err(|error| error.to_string())?;
    if json.len() > RESULT_BYTES_MAX {
        return Err(format!("it has {} bytes; at most {RESULT_BYTES_MAX} are kept", json.len()));
    }
    Ok(json)
}

#[cfg(test)]
#[path = "once_tests.rs"]
mod tests;
