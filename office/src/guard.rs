//! What happens where our own code breaks. A panic is a defect; what it costs is kept to the work that broke.

use domain::message::DeadMessage;
use domain::policy::Policy;
use domain::read::unread;
use domain::reading::Reading;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};

/// What some work gives; nothing where it breaks. For work that owns nothing: whatever it was doing is dropped.
pub(crate) fn unbroken<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}

/// Reads a message. One on which the reader breaks is a letter all the same, of which nothing is read: a message that
/// broke the batch would hold up all that came with it, time and again, until it expires in its queue.
pub(crate) fn reading(
    message: &DeadMessage,
    policy: &Policy,
    read: impl FnOnce(&DeadMessage, &Policy) -> Reading,
) -> Reading {
    unbroken(|| read(message, policy)).unwrap_or_else(|| {
        tracing::error!(
            message_id = %message.message_id, dlq = %message.dlq,
            "a dead message could not be read, which is a defect of the office: it is kept unread"
        );
        unread(message)
    })
}

/// Has a panic say in the log where it was, and no more: its text may hold a part of a body.
pub fn log_places_of_panics() {
    set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(place, "the code broke, which is a defect of the office");
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::message::{Content, SystemAttributes};
    use domain::read::read;

    #[test]
    fn a_message_that_breaks_the_reader_is_kept_unread() {
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
