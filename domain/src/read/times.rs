//! The times that a letter claims. One that cannot be true is ignored, with a remark.

use super::envelope::Facts;
use crate::limits::{CLOCK_SKEW_MAX, TIME_MS_MAX};
use crate::message::DeadMessage;
use crate::reading::EnvelopeKind;
use crate::time::Timestamp;
use crate::watch::rounded;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Drops the claimed times that lie outside of the years 1970 to 9999. Corrects a time of failure that SQS contradicts: a
/// letter whose consumer has a slow clock, or lies, would count as a failure from before a fix, and the gate would open
/// while the consumer still fails. Returns when the letter died.
///
/// Of a message that somebody sent to the dead-letter queue, SQS proves nothing but when it came there. One that came long
/// after its failure may have been moved by hand. So the claim says whether its deadline had passed, and the arrival when
/// it died: a gate that stays closed for too long does less harm than one that opens too early.
pub(super) fn check(
    message: &DeadMessage,
    kind: EnvelopeKind,
    facts: &mut Facts,
    deadline: &mut Option<Timestamp>,
) -> Option<Timestamp> {
    let Facts { sent_at, failed_at, first_tried_at, remarks, .. } = facts;
    bound(sent_at, "send", remarks);
    bound(failed_at, "failure", remarks);
    bound(first_tried_at, "first attempt", remarks);
    bound(deadline, "deadline", remarks);
    let failed = (*failed_at)?;
    let system = &message.system;
    let redriven = system.source_queue.is_some();
    // What SQS moves, it moves as it was sent: a claim in it is older than the failure. A FIFO queue resets the send time
    // when it moves a message, so there a failure lies before it.
    if redriven && !message.is_fifo() {
        if system.first_received_at.max(system.sent_at) > Some(failed) {
            *failed_at = None;
            remarks.push("The claimed time of failure is before SQS delivered the message: ignored.".to_string());
        }
        return *failed_at;
    }
    let Some(came) = system.sent_at else { return *failed_at };
    if failed > came.plus(CLOCK_SKEW_MAX) {
        *failed_at = Some(came);
        remarks.push(
            "The claimed time of failure is after the message's arrival on the dead-letter queue. The arrival time is used."
                .to_string(),
        );
    } else if !redriven && failed.plus(CLOCK_SKEW_MAX) < came {
        // A consumer sends a message to the dead-letter queue right after it has stamped it.
        if kind == EnvelopeKind::Consumer {
            *failed_at = Some(came);
        }
        remarks.push(format!(
            "The claimed time of failure is {} before the message's arrival on the dead-letter queue. The arrival time is used.",
            rounded(came.since(failed))
        ));
        return Some(came);
    }
    *failed_at
}

/// Returns a claimed time of the first send, unless SQS proves that the message was sent before.
pub(super) fn sent(message: &DeadMessage, claimed: Timestamp, remarks: &mut Vec<String>) -> Timestamp {
    match message.system.sent_at {
        Some(came) if claimed > came.plus(CLOCK_SKEW_MAX) => {
            remarks.push(
                "The claimed send time is after the message's arrival on the dead-letter queue: ignored.".to_string(),
            );
            came
        }
        _ => claimed,
    }
}

fn bound(at: &mut Option<Timestamp>, what: &str, remarks: &mut Vec<String>) {
    if at.is_some_and(|at| !(0..=TIME_MS_MAX).contains(&at.as_ms())) {
        *at = None;
        remarks.push(format!("The claimed time of {what} is before 1970 or after 9999: ignored."));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Content, SystemAttributes};

    const SENT: Timestamp = Timestamp::from_ms(1_800_000_000_000);

    fn message(redriven: bool, fifo: bool, first_received_s: Option<i64>) -> DeadMessage {
        let queue = |name: &str| {
            let suffix = if fifo { ".fifo" } else { "" };
            alloc::format!("arn:aws:sqs:eu-west-1:111122223333:{name}{suffix}").as_str().into()
        };
        DeadMessage {
            dlq: queue("orders-dlq"),
            message_id: "m-1".into(),
            content: Content::default(),
            system: SystemAttributes {
                sent_at: Some(SENT),
                first_received_at: first_received_s.map(after),
                source_queue: redriven.then(|| queue("orders")),
                ..SystemAttributes::default()
            },
        }
    }

    fn after(s: i64) -> Timestamp {
        SENT.plus(crate::time::Span::from_secs(s))
    }

    fn failed_at(message: &DeadMessage, kind: EnvelopeKind, claimed: Timestamp) -> (Option<Timestamp>, usize) {
        let mut facts = Facts { failed_at: Some(claimed), ..Facts::default() };
        let died_at = check(message, kind, &mut facts, &mut None);
        (died_at, facts.remarks.len())
    }

    #[test]
    fn a_failure_is_not_before_what_sqs_says() {
        use EnvelopeKind::{Consumer, LambdaDestination};
        let day = 24 * 60 * 60;
        let rows = [
            // redriven, FIFO, first received, envelope, claimed, believed
            (true, false, None, Consumer, -1, None),
            (true, false, None, Consumer, 1, Some(1)),
            (true, false, Some(9), Consumer, 8, None),
            (true, false, Some(9), LambdaDestination, 9, Some(9)),
            (true, true, None, Consumer, -day, Some(-day)),
            (false, false, None, Consumer, -60, Some(-60)),
            (false, false, None, Consumer, -day, Some(0)),
            (false, false, Some(9), Consumer, -day, Some(0)),
            // Moved by hand a day after the failure, or by a consumer whose clock is slow: nobody can tell.
            (false, false, None, LambdaDestination, -day, Some(0)),
            (false, true, None, LambdaDestination, -day, Some(0)),
            (false, false, None, LambdaDestination, -60, Some(-60)),
            // After it came to the dead-letter queue.
            (false, false, None, LambdaDestination, 60, Some(60)),
            (false, false, None, LambdaDestination, day, Some(0)),
            (false, false, None, Consumer, day, Some(0)),
            (true, true, None, Consumer, day, Some(0)),
            // On a standard queue, SQS names only the first send of what it has moved.
            (true, false, None, Consumer, day, Some(day)),
        ];
        for (redriven, fifo, first, kind, claimed, believed) in rows {
            let found = failed_at(&message(redriven, fifo, first), kind, after(claimed));
            let remarks = usize::from(believed != Some(claimed));
            assert_eq!(found, (believed.map(after), remarks), "{redriven} {fifo} {first:?} {kind:?} {claimed}");
        }
    }

    #[test]
    fn a_deadline_is_compared_with_the_claimed_failure() {
        let claimed = after(-24 * 60 * 60);
        let mut facts = Facts { failed_at: Some(claimed), ..Facts::default() };
        let died_at = check(&message(false, false, None), EnvelopeKind::LambdaDestination, &mut facts, &mut None);
        assert_eq!((facts.failed_at, died_at), (Some(claimed), Some(SENT)), "{:?}", facts.remarks);
        assert!(facts.remarks[0].contains("is 24 h before the message's arrival"), "{:?}", facts.remarks);
    }

    #[test]
    fn a_first_send_is_not_after_what_sqs_says() {
        let mut remarks = Vec::new();
        for (claimed, believed, remarked) in [(-3_600, -3_600, 0), (60, 60, 0), (61, 0, 1), (400 * 86_400, 0, 2)] {
            let found = sent(&message(false, false, None), after(claimed), &mut remarks);
            assert_eq!((found, remarks.len()), (after(believed), remarked), "{claimed}");
        }
    }

    #[test]
    fn a_time_that_no_calendar_has_is_ignored() {
        let none = message(false, false, None);
        for ms in [i64::MIN, -1, TIME_MS_MAX + 1, i64::MAX] {
            let claim = Some(Timestamp::from_ms(ms));
            let mut facts = Facts { sent_at: claim, failed_at: claim, first_tried_at: claim, ..Facts::default() };
            let mut deadline = claim;
            check(&none, EnvelopeKind::Consumer, &mut facts, &mut deadline);
            assert_eq!((facts.sent_at, facts.failed_at, facts.first_tried_at, deadline), (None, None, None, None));
            assert_eq!(facts.remarks.len(), 4);
        }
        let last = Timestamp::from_ms(TIME_MS_MAX);
        let unknown = DeadMessage { system: SystemAttributes::default(), ..none };
        assert_eq!(failed_at(&unknown, EnvelopeKind::LambdaDestination, last), (Some(last), 0));
    }
}
