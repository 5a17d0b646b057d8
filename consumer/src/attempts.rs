//! The attempts that failed on a message, across receives and instances.
//!
//! SQS keeps no note on a message between two receives, so the attempts are in a log beside the queue. Each process has
//! one in memory; a shared one, such as `SqliteStore` of the feature `sqlite`, sees all. The log is evidence, not truth: without
//! it, or with gaps in it, messages are handled as before.

use async_trait::async_trait;
use domain::id::MessageId;
use domain::reading::Class;
use domain::time::{Span, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

/// The most attempts that are kept of a message; the oldest go first. More than any sensible `maxReceiveCount`.
pub const ATTEMPTS_KEPT: usize = 16;
/// The number of different instances that must have failed on a message before it is poison: one instance may be broken,
/// two may share a host or a deployment.
pub const POISON_INSTANCES: usize = 3;
/// The age at which an attempt is of no use: SQS keeps no message longer than 14 days. Nobody forgets a message that SQS
/// itself dead-lettered or deleted.
#[cfg(any(feature = "dynamodb", feature = "postgres", feature = "sqlite"))]
pub(crate) const AGE_MAX: Span = Span::from_days(15);
/// The longest error text of one attempt, bytes: enough for the head of a message.
const ERROR_BYTES_MAX: usize = 200;
/// The most messages whose attempts one process keeps in memory; the oldest go first. About 2 KiB each, so 20 MiB.
const MESSAGES_MAX: usize = 10_000;

/// One failed attempt.
///
/// ```
/// use consumer::attempts::Attempt;
/// use consumer::Failure;
/// use domain::time::Timestamp;
///
/// let attempt = Attempt::new(&Failure::transient("Timeout", "no answer"), Timestamp::from_ms(7), "i-1");
/// assert_eq!(attempt.error, "Timeout: no answer");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// When it failed, milliseconds.
    pub at: Timestamp,
    /// Type and message of the error, at most 200 bytes.
    pub error: String,
    /// The class that decided about it.
    pub class: Class,
    /// The wait after it, milliseconds; absent after the last.
    #[serde(default, rename = "delay_ms", skip_serializing_if = "Option::is_none")]
    pub delay: Option<Span>,
    /// The instance that failed.
    pub instance: String,
}

impl Attempt {
    /// Returns the attempt that ended with this failure on this instance.
    ///
    /// ```
    /// # use consumer::attempts::Attempt;
    /// # use consumer::{Class, Failure};
    /// # use domain::time::Timestamp;
    /// let attempt = Attempt::new(&Failure::unknown("E", "m"), Timestamp::from_ms(7), "i-1");
    /// assert_eq!((attempt.class, attempt.delay), (Class::Unknown, None));
    /// ```
    pub fn new(failure: &crate::Failure, at: Timestamp, instance: &str) -> Self {
        let error = format!("{}: {}", failure.error_type, failure.message);
        let error = domain::text::head(&error, ERROR_BYTES_MAX).to_owned();
        Self { at, error, class: failure.class, delay: None, instance: instance.into() }
    }
}

/// Whether a message fails on every instance: at least three failures of unknown class on at least three different
/// instances. Failures of a known class do not count: an outage meets every instance, too.
///
/// ```
/// use consumer::attempts::{Attempt, is_poison};
/// use consumer::Failure;
/// use domain::time::Timestamp;
///
/// let on = |instance| Attempt::new(&Failure::unknown("E", "m"), Timestamp::from_ms(7), instance);
/// assert!(!is_poison(&[on("a"), on("a"), on("a"), on("b")]));
/// assert!(is_poison(&[on("a"), on("b"), on("c")]));
/// let down = |instance| Attempt::new(&Failure::transient("E", "m"), Timestamp::from_ms(7), instance);
/// assert!(!is_poison(&[down("a"), down("b"), on("c")]));
/// ```
pub fn is_poison(attempts: &[Attempt]) -> bool {
    let unknown = attempts.iter().filter(|attempt| attempt.class == Class::Unknown);
    let mut instances: Vec<&str> = unknown.map(|attempt| attempt.instance.as_str()).collect();
    instances.sort_unstable();
    instances.dedup();
    instances.len() >= POISON_INSTANCES
}

/// The attempts on a message cannot be read or written.
///
/// ```
/// use consumer::attempts::LogError;
///
/// assert_eq!(LogError::new("disk full").to_string(), "the log of attempts did not answer");
/// ```
#[derive(Debug, thiserror::Error)]
#[error("the log of attempts did not answer")]
pub struct LogError {
    #[source]
    source: Box<dyn std::error::Error + Send + Sync>,
}

impl LogError {
    /// Returns the error with its cause.
    ///
    /// ```
    /// # use consumer::attempts::LogError;
    /// let error = LogError::new("the table is missing");
    /// # let _ = error;
    /// ```
    pub fn new(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self { source: source.into() }
    }
}

/// A log of failed attempts. Best effort: an error is logged and changes nothing for the message.
///
/// ```
/// use consumer::attempts::{Attempt, AttemptLog, InMemory};
/// use consumer::Failure;
/// use domain::time::Timestamp;
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let log = InMemory::default();
/// let attempt = Attempt::new(&Failure::transient("Timeout", "no answer"), Timestamp::from_ms(7), "i-1");
/// log.append(&"m-1".into(), attempt.clone()).await.unwrap();
/// assert_eq!(log.load(&"m-1".into()).await.unwrap(), [attempt]);
/// # });
/// ```
#[async_trait]
pub trait AttemptLog: Send + Sync {
    /// Returns the attempts on a message, oldest first, at most [`ATTEMPTS_KEPT`].
    ///
    /// ```
    /// use consumer::attempts::{AttemptLog, InMemory};
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// assert!(InMemory::default().load(&"never-failed".into()).await.unwrap().is_empty());
    /// # });
    /// ```
    async fn load(&self, message: &MessageId) -> Result<Vec<Attempt>, LogError>;

    /// Adds an attempt.
    ///
    /// ```
    /// # use consumer::attempts::{Attempt, AttemptLog, LogError};
    /// # use consumer::{Failure, Timestamp};
    /// async fn note(log: &dyn AttemptLog, failure: &Failure, now: Timestamp) -> Result<(), LogError> {
    ///     log.append(&"m-1".into(), Attempt::new(failure, now, "i-1")).await
    /// }
    /// ```
    async fn append(&self, message: &MessageId, attempt: Attempt) -> Result<(), LogError>;

    /// Forgets a message that was handled or dead-lettered.
    ///
    /// ```
    /// # use consumer::attempts::{Attempt, AttemptLog, InMemory};
    /// # use consumer::{Failure, Timestamp};
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let (log, message) = (InMemory::default(), "m-1".into());
    /// let attempt = Attempt::new(&Failure::unknown("E", "m"), Timestamp::from_ms(7), "i-1");
    /// log.append(&message, attempt).await.unwrap();
    /// log.forget(&message).await.unwrap();
    /// assert!(log.load(&message).await.unwrap().is_empty());
    /// # });
    /// ```
    async fn forget(&self, message: &MessageId) -> Result<(), LogError>;
}

/// The attempts of this process. Other instances do not see them, so no message is poison by this log alone.
///
/// ```
/// use consumer::attempts::InMemory;
///
/// let log = InMemory::default();
/// # let _ = log;
/// ```
#[derive(Debug, Default)]
pub struct InMemory {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    attempts: HashMap<MessageId, VecDeque<Attempt>>,
    /// In the order of their first failure.
    messages: VecDeque<MessageId>,
}

#[async_trait]
impl AttemptLog for InMemory {
    async fn load(&self, message: &MessageId) -> Result<Vec<Attempt>, LogError> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(kept.attempts.get(message).map(|attempts| attempts.iter().cloned().collect()).unwrap_or_default())
    }

    async fn append(&self, message: &MessageId, attempt: Attempt) -> Result<(), LogError> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if !kept.attempts.contains_key(message) {
            kept.messages.push_back(message.clone());
        }
        let attempts = kept.attempts.entry(message.clone()).or_default();
        attempts.push_back(attempt);
        if attempts.len() > ATTEMPTS_KEPT {
            attempts.pop_front();
        }
        if kept.messages.len() > MESSAGES_MAX
            && let Some(oldest) = kept.messages.pop_front()
        {
            kept.attempts.remove(&oldest);
        }
        Ok(())
    }

    async fn forget(&self, message: &MessageId) -> Result<(), LogError> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.attempts.remove(message).is_some() {
            kept.messages.retain(|kept| kept != message);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Failure;

    fn attempt(n: usize) -> Attempt {
        Attempt::new(&Failure::unknown("E", n.to_string()), Timestamp::from_ms(7), "i-1")
    }

    #[tokio::test]
    async fn the_newest_attempts_and_messages_are_kept() {
        let log = InMemory::default();
        for n in 0..20 {
            log.append(&"m".into(), attempt(n)).await.unwrap();
        }
        let kept: Vec<String> = log.load(&"m".into()).await.unwrap().into_iter().map(|attempt| attempt.error).collect();
        assert_eq!((kept.len(), kept[0].as_str(), kept[15].as_str()), (16, "E: 4", "E: 19"));
        for n in 0..MESSAGES_MAX {
            log.append(&MessageId::new(n.to_string()), attempt(n)).await.unwrap();
        }
        assert_eq!(log.load(&"m".into()).await.unwrap(), []);
        log.forget(&"1".into()).await.unwrap();
        assert_eq!(log.load(&"1".into()).await.unwrap(), []);
        assert_eq!(log.kept.lock().unwrap().messages.len(), MESSAGES_MAX - 1);
    }

    #[test]
    fn a_long_error_is_cut_between_characters() {
        let attempt = Attempt::new(&Failure::unknown("E", "€".repeat(200)), Timestamp::from_ms(7), "i-1");
        assert!(attempt.error.len() <= ERROR_BYTES_MAX && attempt.error.ends_with('€'));
    }
}
