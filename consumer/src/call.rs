//! Calls to a queue: how long to wait between attempts, and how an error looks in the log.

use crate::backoff::Backoff;
use crate::clock::to_duration;
use crate::config::ConsumerConfig;
use domain::id::QueueArn;
use domain::time::Span;
use queue::QueueError;
use tokio::task::JoinError;

const BACKOFF: Backoff = Backoff::new(Span::from_ms(100), Span::from_secs(2));

/// Attempts at one call before giving up. With the waits of [`pause`] about four seconds in all, less than any sensible
/// visibility timeout.
pub(crate) const ATTEMPTS_MAX: u32 = 6;

/// Waits before the next attempt, after attempt number `attempt` (1 is the first) failed.
pub(crate) async fn pause(config: &ConsumerConfig, attempt: u32) {
    let wait = BACKOFF.wait(attempt, Span::ZERO, config.random());
    tokio::time::sleep(to_duration(wait)).await;
}

/// Logs the panic of a task that settled a message: one of the hooks of the configuration, the queue or a store panicked.
/// Nothing was decided about its message, which returns when its visibility timeout ends.
pub(crate) fn log_panic(queue: &QueueArn, ended: Result<(), JoinError>) {
    if let Err(error) = ended.map_err(JoinError::try_into_panic)
        && let Ok(panicked) = error
    {
        let text = crate::panic::text(&*panicked);
        tracing::error!(%queue, panic = text, "settling a message panicked; it returns when its visibility timeout ends");
    }
}

/// Formats an error with its causes on one log line.
pub(crate) fn chain(error: &QueueError) -> String {
    let mut line = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        line.push_str(": ");
        line.push_str(&error.to_string());
        cause = error.source();
    }
    line
}
