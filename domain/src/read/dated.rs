//! When a letter died that says nothing of it: usually when it was read, because the office reads its queues all the time.
//!
//! Letters that lay in a queue before the office read it died at some time before. SQS does not say when: what it moves to
//! a dead-letter queue keeps the time of its first send. Counted as failures of now, they would make every group of a
//! newly opened office grow (docs/decisions/0171).

use crate::limits::DATED_WITHIN;
use crate::message::DeadMessage;
use crate::reading::{EnvelopeKind, Reading};
use crate::time::Timestamp;

/// Whether it matters since when the office reads the message's queue: the message says nothing of its failure, and was
/// sent more than [`DATED_WITHIN`] ago.
pub fn may_be_undated(reading: &Reading, message: &DeadMessage, now: Timestamp) -> bool {
    let sent_long_ago = |sent_at: Timestamp| now.since(sent_at) > DATED_WITHIN;
    reading.failed_at.is_none() && message.system.sent_at.is_some_and(sent_long_ago)
}

/// Dates a message that was sent before the office read its queue. Where its send is its arrival in the dead-letter queue,
/// it died then. Of others only that send is known, after which they died.
pub fn date(reading: &mut Reading, message: &DeadMessage, reads_since: Timestamp, now: Timestamp) {
    let Some(sent_at) = message.system.sent_at.filter(|sent_at| *sent_at < reads_since) else { return };
    if !may_be_undated(reading, message, now) {
        return;
    }
    // A FIFO queue sets the send time anew when it moves a message.
    if message.is_fifo() || (message.system.source_queue.is_none() && is_sent_at_death(reading.diagnosis.envelope)) {
        reading.failed_at = Some(sent_at);
    } else {
        reading.died_after = Some(sent_at);
    }
}

/// Whether such an envelope is made when its message dies. A message without one may have been redriven, even if it does not
/// name its main queue: not every endpoint says so.
fn is_sent_at_death(envelope: EnvelopeKind) -> bool {
    use EnvelopeKind::*;
    matches!(
        envelope,
        Consumer | LambdaAsync | LambdaDestination | EventBridgeRule | Scheduler | BodyEnvelope | Stream | Pipes
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Content, SystemAttributes};
    use crate::policy::Policy;
    use crate::time::Span;
    use alloc::format;

    const OPENED: Timestamp = Timestamp::from_ms(1_800_000_000_000);

    fn at(minute: i64) -> Timestamp {
        OPENED.plus(Span::from_mins(minute))
    }

    fn message(queue: &str, source: Option<&str>, sent: Option<i64>) -> DeadMessage {
        DeadMessage {
            dlq: format!("arn:aws:sqs:eu-west-1:111122223333:{queue}").as_str().into(),
            message_id: "m-1".into(),
            content: Content { body: "{}".into(), ..Content::default() },
            system: SystemAttributes {
                sent_at: sent.map(at),
                source_queue: source.map(|name| format!("arn:aws:sqs:eu-west-1:111122223333:{name}").as_str().into()),
                ..SystemAttributes::default()
            },
        }
    }

    #[test]
    fn only_what_lay_in_the_queue_before_it_was_read_died_at_an_unknown_time() {
        let rows = [
            // sent, read (minutes after the office began to read the queue), died after
            (Some(-600), 0, Some(-600)),
            (Some(-600), 60, Some(-600)),
            (Some(-16), 0, Some(-16)),
            // It died in the last quarter of an hour, whenever that was.
            (Some(-15), 0, None),
            (Some(-1), 14, None),
            (Some(-1), 15, Some(-1)),
            // The office read the queue when it died.
            (Some(0), 600, None),
            (Some(60), 600, None),
            // A clock of SQS that is ahead.
            (Some(9), 0, None),
            (None, 0, None),
        ];
        for (sent, read_at, expected) in rows {
            for source in [Some("orders"), None] {
                let message = message("orders-dlq", source, sent);
                let mut reading = crate::read::read(&message, &Policy::default());
                date(&mut reading, &message, OPENED, at(read_at));
                assert_eq!((reading.died_after, reading.failed_at), (expected.map(at), None), "{sent:?} {read_at}");
            }
        }
    }

    #[test]
    fn a_send_to_the_dead_letter_queue_is_the_time_of_death() {
        use EnvelopeKind::{LambdaAsync, Plain, Sns, SqsRedrive};
        let rows = [
            ("orders-dlq", None, LambdaAsync, true),
            ("orders-dlq", None, Plain, false),
            // Such messages lie in main queues, too.
            ("orders-dlq", None, Sns, false),
            ("orders-dlq", Some("orders"), LambdaAsync, false),
            ("orders-dlq.fifo", Some("orders.fifo"), SqsRedrive, true),
            ("orders-dlq.fifo", None, Plain, true),
        ];
        for (queue, source, envelope, is_known) in rows {
            let message = message(queue, source, Some(-600));
            let mut reading = crate::read::read(&message, &Policy::default());
            reading.diagnosis.envelope = envelope;
            date(&mut reading, &message, OPENED, at(1));
            let (failed_at, died_after) = if is_known { (Some(-600), None) } else { (None, Some(-600)) };
            let found = (reading.failed_at, reading.died_after);
            assert_eq!(found, (failed_at.map(at), died_after.map(at)), "{queue} {source:?} {envelope:?}");
        }
    }

    #[test]
    fn a_time_of_failure_that_the_message_names_stays() {
        let message = message("orders-dlq", None, Some(-600));
        let mut reading = crate::read::read(&message, &Policy::default());
        reading.failed_at = Some(at(-599));
        date(&mut reading, &message, OPENED, at(1));
        assert_eq!((reading.failed_at, reading.died_after), (Some(at(-599)), None));
    }
}
