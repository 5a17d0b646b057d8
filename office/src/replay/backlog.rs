//! Looking at the main queue's backlog: a letter that nobody has received yet cannot come back, so its window has not
//! begun.

use super::Did;
use super::send::put;
use super::transition::pause;
use crate::error::OfficeError;
use crate::office::Office;
use crate::port::QueueError;
use domain::replay::{Backlog, PauseReason, Replay};
use domain::time::Span;

/// The shortest time between two looks at a backlog, milliseconds. SQS's own counts are up to a minute old.
const LOOK_MS_MIN: i64 = 1_000;
/// The longest, milliseconds.
const LOOK_MS_MAX: i64 = 60_000;

/// Asks the main queue whether its backlog is drained, and keeps what it says.
pub(super) async fn look(office: &Office, replay: &Replay) -> Result<Did, OfficeError> {
    let attributes = match office.queue.attributes(&replay.plan().main_queue).await {
        Ok(attributes) => attributes,
        Err(error @ (QueueError::Missing { .. } | QueueError::Denied { .. })) if !replay.is_paused() => {
            let why = PauseReason::QueueUnavailable { detail: error.to_string() };
            return pause(office, replay, why).await;
        }
        // Nothing is known; the letters stay in flight until something is.
        Err(error) => {
            tracing::warn!(replay = %replay.id(), error = %crate::error::chain(&error), "a backlog cannot be seen");
            return Ok(Did::AllUntil(office.now().plus(Span::from_ms(LOOK_MS_MAX))));
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
    let pause_ms = (replay.window().as_ms() / 8).clamp(LOOK_MS_MIN, LOOK_MS_MAX);
    Ok(Did::AllUntil(now.plus(Span::from_ms(pause_ms))))
}
