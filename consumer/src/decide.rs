//! Decides what to do with a failed message. Pure: no clock, no queue.

use crate::backoff::backoff;
use domain::reading::Class;
use domain::time::Span;

/// A failed message and the settings of its queue, as far as the decision needs them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failed {
    pub class: Class,
    /// How often the message has been received, including this time.
    pub receive_count: u32,
    /// The redrive policy's `maxReceiveCount`; `None` without a dead-letter queue.
    pub receives_max: Option<u32>,
    /// The remaining visibility timeout.
    pub visibility_left: Span,
    /// Whether the message has room for the stamp.
    pub room: bool,
}

/// What to do with a failed message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Send a stamped copy to the dead-letter queue, then delete the message.
    DeadLetter,
    /// Make the message visible again after this wait.
    Retry(Span),
}

/// Chooses between retry and dead-letter.
///
/// A retry is never later than the visibility timeout would have made it. The office observes a replayed letter for
/// visibility timeout x `maxReceiveCount`; a longer wait here would make it count a letter as delivered that is still
/// going to return.
pub(crate) fn decide(failed: &Failed, base: Span, cap: Span, entropy: u64) -> Decision {
    let retry = || Decision::Retry(backoff(failed.receive_count, base, cap.min(failed.visibility_left), entropy));
    let Some(receives_max) = failed.receives_max else { return retry() };
    match (failed.class, failed.room) {
        // Without room for a stamp, the queue's own redrive policy dead-letters the message after its last receive.
        // Handling it again cannot succeed, so use up the remaining receives at once.
        (Class::Permanent, false) => Decision::Retry(Span::ZERO),
        (_, false) => retry(),
        (Class::Permanent, true) => Decision::DeadLetter,
        (Class::Transient | Class::Unknown, true) if failed.receive_count >= receives_max => Decision::DeadLetter,
        (Class::Transient | Class::Unknown, true) => retry(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Class::{Permanent, Transient, Unknown};
    use Decision::{DeadLetter, Retry};

    fn check(class: Class, receives: (u32, Option<u32>), left_s: i64, room: bool, expected: Decision) {
        let (receive_count, receives_max) = receives;
        let failed = Failed { class, receive_count, receives_max, visibility_left: Span::from_secs(left_s), room };
        let decision = decide(&failed, Span::from_secs(2), Span::from_secs(60), u64::MAX);
        assert_eq!(decision, expected, "{failed:?}");
    }

    #[test]
    fn class_receives_and_room_decide() {
        let after = |s| Retry(Span::from_secs(s));
        //    class      receives      left  room   decision
        check(Permanent, (1, Some(5)), 30, true, DeadLetter);
        check(Permanent, (5, Some(5)), 30, true, DeadLetter);
        check(Permanent, (1, Some(5)), 30, false, after(0));
        check(Permanent, (1, None), 30, true, after(2));
        check(Transient, (1, Some(5)), 30, true, after(2));
        check(Transient, (2, Some(5)), 30, true, after(4));
        check(Transient, (4, Some(5)), 30, true, after(16));
        check(Transient, (4, Some(5)), 9, true, after(9));
        check(Transient, (5, Some(5)), 30, true, DeadLetter);
        check(Transient, (9, Some(5)), 30, true, DeadLetter);
        check(Transient, (1, Some(1)), 30, true, DeadLetter);
        check(Transient, (5, Some(5)), 30, false, after(30));
        check(Transient, (40, None), 30, true, after(30));
        check(Transient, (1, Some(5)), -1, true, after(0));
        check(Unknown, (1, Some(5)), 30, true, after(2));
        check(Unknown, (5, Some(5)), 30, true, DeadLetter);
    }
}
