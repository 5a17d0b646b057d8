//! The handler, and how it runs on one message: time limit, heartbeat, panics, shutdown.

use crate::call::chain;
use crate::case::{Case, since};
use crate::clock::to_duration;
use crate::config::ConsumerConfig;
use crate::expiry::expired;
use crate::failure::Failure;
use crate::panic::Caught;
use crate::settle::{FailedCase, Settler};
use async_trait::async_trait;
use domain::limits::VISIBILITY_S_MAX;
use domain::reading::Class;
use domain::time::Span;
use queue::{QueueAttributes, Received};
use std::convert::Infallible;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use tokio::sync::watch;

/// Processes one message. Must tolerate duplicates: SQS may deliver the same message more than once.
///
/// ```
/// use consumer::{Classify, Failure, Handler, here};
/// use queue::Received;
///
/// struct Shipping;
///
/// #[async_trait::async_trait]
/// impl Handler for Shipping {
///     async fn handle(&self, received: &Received) -> Result<(), Failure> {
///         let order_id: u64 = received.content.body.parse().permanent(here!())?;
///         tracing::info!(order_id, "shipped");
///         Ok(())
///     }
/// }
/// ```
#[async_trait]
pub trait Handler: Send + Sync {
    /// Handles a message, or returns why it failed. The consumer cancels a handler after nine tenths of the queue's
    /// visibility timeout, or after [`ConsumerConfig::handler_max`], and records a transient failure, because another
    /// consumer would soon receive the message.
    async fn handle(&self, received: &Received) -> Result<(), Failure>;
}

/// Beats within one visibility timeout: two may fail before another consumer receives the message.
const BEATS: i64 = 3;
/// The share of a time limit that a handler may use, in tenths. The rest is for settling.
const HANDLER_TENTHS: i64 = 9;

/// How long a handler may run, and how often its message's visibility is extended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Limits {
    handler_max: Span,
    beat: Option<Span>,
}

fn limits(config: &ConsumerConfig, visibility_timeout: Span) -> Limits {
    let tenths = |span: Span| Span::from_ms(span.as_ms() / 10 * HANDLER_TENTHS);
    let longest = tenths(Span::from_secs(VISIBILITY_S_MAX));
    match (config.handler_max, visibility_timeout) {
        // A visibility timeout of zero sets no limit for the handler, and cannot be extended.
        (handler_max, Span::ZERO) => Limits { handler_max: handler_max.unwrap_or(longest).min(longest), beat: None },
        (None, timeout) => Limits { handler_max: tenths(timeout), beat: None },
        (Some(handler_max), timeout) => Limits {
            handler_max: handler_max.min(longest),
            beat: Some(Span::from_ms((timeout.as_ms() / BEATS).max(1))),
        },
    }
}

/// How a handler ended.
enum End {
    Succeeded,
    Failed(Failure),
    Cancelled,
}

/// Handles a message and settles it.
pub(crate) async fn handle(
    settler: &Settler,
    handler: &dyn Handler,
    mut case: Case,
    attributes: &QueueAttributes,
    cancel: watch::Receiver<bool>,
) {
    let config = &settler.config;
    let message_type = (config.message_type)(&case.received.content);
    let message_type = message_type.as_deref();
    let strategy = config.strategies.select(message_type);
    settler.begin(&case);
    let started = Instant::now();
    let too_old = expired(config, &case, message_type, strategy);
    let expired = too_old.is_some();
    let end = match too_old {
        Some(failure) => End::Failed(failure),
        None => run(settler, handler, &mut case, attributes, cancel).await,
    };
    #[cfg(feature = "metrics")]
    crate::measure::handled(&config.consumer, since(started));
    match end {
        End::Succeeded => settler.succeeded(&case, message_type).await,
        End::Failed(failure) => {
            let failed = FailedCase { failure, strategy, message_type, attempt: since(started), expired };
            settler.failed(&case, failed, attributes).await;
        }
        End::Cancelled => settler.released(&case).await,
    }
}

async fn run(
    settler: &Settler,
    handler: &dyn Handler,
    case: &mut Case,
    attributes: &QueueAttributes,
    mut cancel: watch::Receiver<bool>,
) -> End {
    let limits = limits(&settler.config, attributes.visibility_timeout);
    let handling = Caught(handler.handle(&case.received));
    let extended = Mutex::new(case.invisible_since);
    let cancelled = async { cancel.wait_for(|cancel| *cancel).await.is_ok() };
    let end = tokio::select! {
        result = handling => match result {
            Ok(Ok(())) => End::Succeeded,
            Ok(Err(failure)) => End::Failed(failure),
            Err(panicked) => End::Failed(panicked.into_failure(Class::Unknown)),
        },
        () = tokio::time::sleep(to_duration(limits.handler_max)) => End::Failed(Failure::transient(
            "consumer::HandlerTimeout",
            format!("the handler did not finish within {} ms", limits.handler_max.as_ms()),
        )),
        // A dropped sender means that nobody will cancel.
        true = cancelled => End::Cancelled,
        never = heartbeat(settler, case, limits.beat, attributes.visibility_timeout, &extended) => match never {},
    };
    case.invisible_since = extended.into_inner().unwrap_or_else(PoisonError::into_inner);
    end
}

/// Restarts the visibility timeout with every beat. A failed extension is repeated with the next one.
async fn heartbeat(
    settler: &Settler,
    case: &Case,
    beat: Option<Span>,
    visibility_timeout: Span,
    extended: &Mutex<Instant>,
) -> Infallible {
    let Some(beat) = beat else { return std::future::pending().await };
    let (queue, received) = (&settler.config.queue, &case.received);
    loop {
        tokio::time::sleep(to_duration(beat)).await;
        let now = Instant::now();
        match settler.queue.change_visibility(queue, &received.receipt_handle, visibility_timeout).await {
            Ok(()) => *extended.lock().unwrap_or_else(PoisonError::into_inner) = now,
            Err(error) => {
                tracing::warn!(%queue, message_id = %received.message_id, error = chain(&error), "extending the visibility failed");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_handler_with_a_limit_of_its_own_has_a_heartbeat() {
        let check = |handler_max: Option<i64>, timeout_s, expected_max, beat: Option<i64>| {
            let handler_max = handler_max.map(Span::from_secs);
            let config = ConsumerConfig { handler_max, ..ConsumerConfig::new("q".into(), "c", String::new) };
            let expected = Limits { handler_max: Span::from_secs(expected_max), beat: beat.map(Span::from_secs) };
            assert_eq!(limits(&config, Span::from_secs(timeout_s)), expected, "{handler_max:?} {timeout_s}");
        };
        //    handler_max  timeout  limit   beat
        check(None, 30, 27, None);
        check(None, 0, 38_880, None);
        check(Some(600), 30, 600, Some(10));
        check(Some(5), 30, 5, Some(10));
        check(Some(600), 0, 600, None);
        check(Some(100_000), 30, 38_880, Some(10));
    }
}
