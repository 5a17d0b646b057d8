//! The times that a letter claims. One that cannot be true is ignored, with a remark.

use super::envelope::Facts;
use crate::limits::{CLOCK_SKEW_MAX, TIME_MS_MAX};
use crate::message::DeadMessage;
use crate::reading::EnvelopeKind;
use crate::time::Timestamp;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Drops the claimed times that lie outside of the years 1970 to 9999. Corrects a time of failure that is too early: a
/// letter whose consumer has a slow clock, or lies, would count as a failure from before a fix, and the gate would open
/// while the consumer still fails.
pub(super) fn check(message: &DeadMessage, kind: EnvelopeKind, facts: &mut Facts, deadline: &mut Option<Timestamp>) {
    let Facts { sent_at, failed_at, first_tried_at, remarks, .. } = facts;
    bound(sent_at, "send", remarks);
    bound(failed_at, "failure", remarks);
    bound(first_tried_at, "first attempt", remarks);
    bound(deadline, "deadline", remarks);
    let Some(failed) = *failed_at else { return };
    let system = &message.system;
    match (system.source_queue.is_some(), kind) {
        // What SQS moves, it moves as it was sent: a claim in it is older than the failure. A FIFO queue resets the send
        // time when it moves a message, so there a failure lies before it.
        (true, _) if !message.is_fifo() && system.first_received_at.max(system.sent_at) > Some(failed) => {
            *failed_at = None;
            remarks.push("The claimed time of failure is before SQS delivered the message: ignored.".to_string());
        }
        // A consumer sends a message to the dead-letter queue right after it has stamped it.
        (false, EnvelopeKind::Consumer) => {
            if let Some(sent) = system.sent_at.filter(|sent| failed.plus(CLOCK_SKEW_MAX) < *sent) {
                *failed_at = Some(sent);
                remarks.push(
                    "The claimed time of failure is long before the message came to the dead-letter queue: that time counts."
                        .to_string(),
                );
            }
        }
        _ => {}
    }
}

fn bound(at: &mut Option<Timestamp>, what: &str, remarks: &mut Vec<String>) {
    if at.is_some_and(|at| !(0..=TIME_MS_MAX).contains(&at.as_ms())) {
        *at = None;
        remarks.push(alloc::format!("The claimed time of {what} is before 1970 or after 9999: ignored."));
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
        check(message, kind, &mut facts, &mut None);
        (facts.failed_at, facts.remarks.len())
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
            // Moved by hand, days after the failure.
            (false, false, None, LambdaDestination, -day, Some(-day)),
        ];
        for (redriven, fifo, first, kind, claimed, believed) in rows {
            let found = failed_at(&message(redriven, fifo, first), kind, after(claimed));
            let remarks = usize::from(believed != Some(claimed));
            assert_eq!(found, (believed.map(after), remarks), "{redriven} {fifo} {first:?} {kind:?} {claimed}");
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
        assert_eq!(failed_at(&none, EnvelopeKind::LambdaDestination, last), (Some(last), 0));
    }
}
