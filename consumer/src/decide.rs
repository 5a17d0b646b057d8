//! What becomes of a message that failed: pure.

use crate::backoff::backoff;
use domain::reading::Class;
use domain::time::Span;

/// What is known of a failed message and its queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failed {
    pub class: Class,
    /// How often the message was received, this time included.
    pub receive_count: u32,
    /// The redrive policy's maxReceiveCount; none without a dead-letter queue.
    pub receives_max: Option<u32>,
    /// What is left of the visibility timeout.
    pub visibility_left: Span,
    /// Whether the stamp finds room on the message.
    pub room: bool,
}

/// What to do with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Send a stamped copy to the dead-letter queue, then delete.
    DeadLetter,
    /// Make it visible again after so long.
    Retry(Span),
}

/// A retry never comes later than the visibility timeout would have brought it: the office derives how long to
/// observe a replayed letter from visibility timeout x maxReceiveCount, and a longer pause here would make it call a
/// letter delivered that is still to come back.
pub(crate) fn decide(failed: &Failed, base: Span, cap: Span, entropy: u64) -> Verdict {
    let retry = || Verdict::Retry(backoff(failed.receive_count, base, cap.min(failed.visibility_left), entropy));
    let Some(receives_max) = failed.receives_max else { return retry() };
    match (failed.class, failed.room) {
        // Without room the queue's own redrive takes it after its last receive. Handling it again is of no use, so
        // the receives that are left are spent at once.
        (Class::Permanent, false) => Verdict::Retry(Span::ZERO),
        (_, false) => retry(),
        (Class::Permanent, true) => Verdict::DeadLetter,
        (Class::Transient | Class::Unknown, true) if failed.receive_count >= receives_max => Verdict::DeadLetter,
        (Class::Transient | Class::Unknown, true) => retry(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Class::{Permanent, Transient, Unknown};
    use Verdict::{DeadLetter, Retry};

    fn check(class: Class, receives: (u32, Option<u32>), left_s: i64, room: bool, expected: Verdict) {
        let (receive_count, receives_max) = receives;
        let failed = Failed { class, receive_count, receives_max, visibility_left: Span::from_secs(left_s), room };
        let verdict = decide(&failed, Span::from_secs(2), Span::from_secs(60), u64::MAX);
        assert_eq!(verdict, expected, "{failed:?}");
    }

    #[test]
    fn class_receives_and_room_decide() {
        let after = |s| Retry(Span::from_secs(s));
        //    class      receives      left  room   verdict
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
