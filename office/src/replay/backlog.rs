//! Checks of the main queue's backlog. A letter that no consumer has received yet cannot come back, so its window
//! starts only once the backlog is drained.

use super::Did;
use super::send::put;
use super::transition::pause;
use crate::error::OfficeError;
use crate::office::Office;
use crate::port::QueueError;
use domain::replay::{Backlog, PauseReason, Replay};
use domain::time::Span;

/// The shortest time between two checks of a backlog, milliseconds. SQS's own counts are up to a minute old.
const CHECK_MS_MIN: i64 = 1_000;
/// The longest time between two checks, milliseconds.
const CHECK_MS_MAX: i64 = 60_000;

/// Asks the main queue for its backlog and records the answer.
pub(super) async fn check(office: &Office, replay: &Replay) -> Result<Did, OfficeError> {
    let attributes = match office.queue.attributes(&replay.plan().main_queue).await {
        Ok(attributes) => attributes,
        Err(error @ (QueueError::Missing { .. } | QueueError::Denied { .. })) if !replay.is_paused() => {
            let why = PauseReason::QueueUnavailable { detail: error.to_string() };
            return pause(office, replay, why).await;
        }
        // The backlog is unknown; the letters stay in flight until it is known.
        Err(error) => {
            tracing::warn!(replay = %replay.id(), error = %crate::error::chain(&error), "the backlog of the main queue could not be read; trying again");
            return Ok(Did::AllUntil(office.now().plus(Span::from_ms(CHECK_MS_MAX))));
        }
    };
    let now = office.now();
    let backlog =
        Backlog { seen_at: now, visible_count: attributes.visible_count, in_flight_count: attributes.in_flight_count };
    let seen = replay.saw(backlog);
    if !put(office, &seen, replay.version()).await? {
        return Ok(Did::Lost);
    }
    if backlog.is_drained() {
        return Ok(Did::Something);
    }
    let pause_ms = (replay.window().as_ms() / 8).clamp(CHECK_MS_MIN, CHECK_MS_MAX);
    Ok(Did::AllUntil(now.plus(Span::from_ms(pause_ms))))
}
