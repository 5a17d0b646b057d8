//! Panics. A panic is a defect of the office; these guards limit its cost to the work that panicked.

use domain::message::DeadMessage;
use domain::policy::Policy;
use domain::read::unread;
use domain::reading::Reading;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};

/// Returns the result of some work, or `None` if it panics. Use it for work without side effects: its unfinished state
/// is dropped.
pub(crate) fn unbroken<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}

/// Reads a message. If the reader panics, the message still becomes a letter, with nothing read from it. Otherwise it
/// would fail its whole batch again and again, until the messages expire in their queue.
pub(crate) fn reading(
    message: &DeadMessage,
    policy: &Policy,
    read: impl FnOnce(&DeadMessage, &Policy) -> Reading,
) -> Reading {
    unbroken(|| read(message, policy)).unwrap_or_else(|| {
        tracing::error!(
            message_id = %message.message_id, dlq = %message.dlq,
            "a defect of the office: reading a dead message panicked; the message is stored unread"
        );
        unread(message)
    })
}

/// Logs the location of each panic, and nothing else: the text of a panic may contain part of a message body.
pub fn log_locations_of_panics() {
    set_hook(Box::new(|panic| {
        let location = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(location, "a defect of the office: the code panicked");
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::message::{Content, SystemAttributes};
    use domain::read::read;

    #[test]
    fn a_message_that_panics_the_reader_is_stored_unread() {
        let message = DeadMessage {
            dlq: "arn:aws:sqs:eu-west-1:111122223333:orders-dlq".into(),
            message_id: "m-1".into(),
            content: Content { body: "{\"order\":7}".into(), ..Content::default() },
            system: SystemAttributes::default(),
        };
        let policy = Policy::default();
        let broken = reading(&message, &policy, |message, _| panic!("in {}", message.content.body));
        assert_eq!(broken, unread(&message));
        assert_eq!(broken.original, message.content);
        assert_eq!(reading(&message, &policy, read), read(&message, &policy));
    }
}
