//! Checks of the main queue. A letter that no consumer has received yet cannot come back, so its window starts only once
//! the backlog is drained; and it ends only once every letter sent has left the queue, because a consumer may take a
//! letter and die with it.

use super::Did;
use super::transition::{pause, put};
use crate::error::OfficeError;
use crate::office::Office;
use crate::port::QueueError;
use domain::id::QueueArn;
use domain::replay::{Backlog, Ledger, PauseReason, QueueCounts, Replay, Step, next_step};
use domain::time::{Span, Timestamp};
use queue::QueueAttributes;

/// The shortest time between two checks of a backlog, milliseconds. SQS's own counts are up to a minute old.
const CHECK_MS_MIN: i64 = 1_000;
/// The longest time between two checks, milliseconds.
const CHECK_MS_MAX: i64 = 60_000;

/// Checks the main queue and records what it shows.
pub(super) async fn check(office: &Office, replay: &Replay, ledger: &Ledger) -> Result<Did, OfficeError> {
    let queue = &replay.plan().main_queue;
    let attributes = match office.queue.attributes(queue).await {
        Ok(attributes) => attributes,
        Err(error @ (QueueError::Missing { .. } | QueueError::Denied { .. })) if !replay.is_paused() => {
            let why = PauseReason::QueueUnavailable { detail: error.to_string() };
            return pause(office, replay, why).await;
        }
        // The backlog is unknown; the letters stay in flight until it is known.
        Err(error) => {
            tracing::warn!(replay = %replay.id(), error = %crate::error::chain(&error), "the backlog of the main queue could not be read; trying again");
            return Ok(Did::Waits(office.now().plus(Span::from_ms(CHECK_MS_MAX))));
        }
    };
    let measured = measured(office, queue, &attributes).await;
    let seen = replay.saw(measured);
    if !put(office, &seen, replay.version()).await? {
        return Ok(Did::Lost);
    }
    let now = office.now();
    if next_step(&seen, ledger, now, 0) != Step::LookAtQueue {
        return Ok(Did::Something);
    }
    let pause_ms = (replay.window().as_ms() / 8).clamp(CHECK_MS_MIN, CHECK_MS_MAX);
    Ok(Did::Waits(now.plus(Span::from_ms(pause_ms))))
}

/// Returns what the queue shows now. The age of its oldest message is asked for only while it is not empty.
async fn measured(office: &Office, queue: &QueueArn, attributes: &QueueAttributes) -> Backlog {
    let counts = QueueCounts {
        visible: attributes.visible_count,
        in_flight: attributes.in_flight_count,
        delayed: attributes.delayed_count,
    };
    let cleared_before = if counts == QueueCounts::default() { None } else { cleared_before(office, queue).await };
    Backlog::measured(office.now(), counts, cleared_before, Some(attributes.retention))
}

/// Further evidence, so its absence fails nothing.
async fn cleared_before(office: &Office, queue: &QueueArn) -> Option<Timestamp> {
    office.queue.cleared_before(queue).await.unwrap_or_else(|error| {
        tracing::warn!(%queue, error = %crate::error::chain(&error), "the age of the oldest message could not be read; using the message counts instead");
        None
    })
}
