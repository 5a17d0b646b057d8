//! The handler, and how it runs on one message: time limit, heartbeat, panics, shutdown.

use crate::case::{Case, since};
use crate::clock::to_duration;
use crate::config::ConsumerConfig;
use crate::expiry::expired;
use crate::failure::Failure;
use crate::heartbeat::Rhythm;
use crate::panic::Caught;
use crate::settle::{FailedCase, Settler};
use async_trait::async_trait;
use domain::limits::VISIBILITY_S_MAX;
use domain::reading::Class;
use domain::time::Span;
use queue::{QueueAttributes, Received};
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
    /// consumer would soon receive the message. A handler that blocks its thread cannot be cancelled: its message's
    /// visibility is extended all the same, up to that time, and then another consumer receives it.
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

/// Why handlers must stop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Halt {
    /// They need not.
    #[default]
    No,
    /// The consumer shuts down: their messages are released.
    Shutdown,
    /// The batch's time is up: their messages have failed for want of time.
    Deadline,
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
    halt: watch::Receiver<Halt>,
) {
    let config = &settler.config;
    let message_type = (config.message_type)(&case.received.content);
    let message_type = message_type.as_deref();
    let strategy = config.strategies.select(message_type);
    settler.begin(&case);
    let started = Instant::now();
    let too_old = expired(config, &case, message_type, strategy, attributes.retention);
    let expired = too_old.is_some();
    let end = match too_old {
        Some(failure) => End::Failed(failure),
        None => run(settler, handler, &mut case, attributes, halt).await,
    };
    #[cfg(feature = "metrics")]
    crate::measure::handled(&config.consumer, since(started));
    match end {
        End::Succeeded => settler.succeeded(&case, message_type).await,
        End::Failed(failure) => {
            let failed =
                FailedCase { failure, strategy, message_type, attempt: since(started), expired, called: !expired };
            settler.failed(&case, failed, attributes).await;
        }
        // SQS would move it without a word.
        End::Cancelled if settler.is_last(&case, strategy, attributes) => {
            let text = format!("the consumer shut down after the handler had run for {} ms", since(started).as_ms());
            let failure = Failure::transient("consumer::Shutdown", text);
            let attempt = since(started);
            let failed = FailedCase { failure, strategy, message_type, attempt, expired, called: false };
            settler.failed(&case, failed, attributes).await;
        }
        End::Cancelled => settler.released(&case).await,
    }
}

/// Settles a message that nobody can handle in the batch's time: makes it visible at once, or dead-letters it with a stamp
/// if that was its last receive. On a FIFO queue an earlier message of its group may come again, and it must not be replayed
/// before that one, so it is only made visible.
pub(crate) async fn give_back(settler: &Settler, case: Case, attributes: &QueueAttributes) {
    let config = &settler.config;
    let message_type = (config.message_type)(&case.received.content);
    let strategy = config.strategies.select(message_type.as_deref());
    if attributes.fifo || !settler.is_last(&case, strategy, attributes) {
        return settler.released(&case).await;
    }
    let text = "the batch's time was up before this message's turn";
    let failure = Failure::transient("consumer::NoTimeLeft", text);
    let message_type = message_type.as_deref();
    let failed = FailedCase { failure, strategy, message_type, attempt: Span::ZERO, expired: false, called: false };
    settler.failed(&case, failed, attributes).await;
}

async fn run(
    settler: &Settler,
    handler: &dyn Handler,
    case: &mut Case,
    attributes: &QueueAttributes,
    mut halt: watch::Receiver<Halt>,
) -> End {
    let limits = limits(&settler.config, attributes.visibility_timeout);
    let beating = limits.beat.map(|every| {
        let rhythm = Rhythm { every, visibility: attributes.visibility_timeout, at_most: limits.handler_max };
        settler.load.heartbeat.begin(&case.received, &rhythm, case.invisible_since)
    });
    let handling = Caught::new(|| handler.handle(&case.received));
    let halted = async {
        let halted = halt.wait_for(|halt| *halt != Halt::No).await.map(|halt| *halt);
        match halted {
            Ok(halt) => halt,
            // A dropped sender means that nobody will halt it.
            Err(_) => std::future::pending().await,
        }
    };
    let timed_out = |error_type, why: String| End::Failed(Failure::transient(error_type, why));
    let end = tokio::select! {
        result = handling => match result {
            Ok(Ok(())) => End::Succeeded,
            Ok(Err(failure)) => End::Failed(failure),
            Err(panicked) => End::Failed(panicked.into_failure(Class::Unknown)),
        },
        () = tokio::time::sleep(to_duration(limits.handler_max)) => timed_out(
            "consumer::HandlerTimeout",
            format!("the handler did not finish within {} ms", limits.handler_max.as_ms()),
        ),
        halt = halted => match halt {
            Halt::Deadline => timed_out(
                "consumer::NoTimeLeft",
                format!("the handler did not finish in the batch's time: {} ms", since(case.received_at).as_ms()),
            ),
            Halt::Shutdown | Halt::No => End::Cancelled,
        },
    };
    match (beating, &end) {
        // The message is deleted next, whatever its visibility.
        (None, _) | (Some(_), End::Succeeded) => {}
        (Some(beating), _) => case.invisible_since = beating.stop().await,
    }
    end
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
