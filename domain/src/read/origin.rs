//! Where a dead message came from: its main queue and its id there, as far as that can be believed.
//!
//! SQS's word counts first. What the message says about itself is a claim that anyone who may send to the dead-letter
//! queue can make: it never chooses a queue that the deployment does not name.

use crate::id::{MessageId, QueueArn};
use crate::message::DeadMessage;
use crate::policy::QueuePolicy;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The origin of a message.
pub(super) struct Origin {
    /// The main queue, if known.
    pub main_queue: Option<QueueArn>,
    /// The message's id on the main queue: authentic if SQS moved the message, which keeps the id; a claim otherwise.
    pub message_id: MessageId,
}

/// What a message's envelope says about its origin.
pub(super) struct Claim {
    pub main_queue: Option<QueueArn>,
    pub message_id: Option<String>,
}

/// Returns the origin of a message, with a remark about each claim that does not count.
pub(super) fn origin(message: &DeadMessage, claim: Claim, queues: &QueuePolicy, remarks: &mut Vec<String>) -> Origin {
    let own_id = || message.message_id.clone();
    if let Some(source) = &message.system.source_queue {
        if let Some(other) = claim.main_queue.filter(|claimed| claimed != source) {
            remarks.push(format!(
                "It names {} as its main queue. That was ignored: SQS moved it from {}.",
                other.as_str(),
                source.as_str()
            ));
        }
        return Origin { main_queue: Some(source.clone()), message_id: own_id() };
    }
    let claimed_id = claim.message_id.as_deref().map(MessageId::from);
    let main_queue = match claim.main_queue {
        Some(queue) if queues.names(&queue) && queue != message.dlq => Some(queue),
        Some(queue) => {
            remarks.push(format!(
                "It names {} as its main queue. That was ignored: the queue is not one of this office's main queues.",
                queue.as_str()
            ));
            queues.default_of(&message.dlq).cloned()
        }
        None => queues.default_of(&message.dlq).cloned(),
    };
    Origin { main_queue, message_id: claimed_id.unwrap_or_else(own_id) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Content, SystemAttributes};
    use alloc::string::ToString;

    fn arn(name: &str) -> QueueArn {
        QueueArn::new(format!("arn:aws:sqs:eu-west-1:111122223333:{name}"))
    }

    #[test]
    fn a_claim_counts_only_where_sqs_says_nothing_and_the_deployment_names_the_queue() {
        let main = Vec::from([arn("orders"), arn("orders-dlq")]);
        let queues = QueuePolicy { main, default_main: Some(arn("rest")), default_dlq: None };
        // SQS's source queue, the claimed queue, the claimed id; the queue, the id, the number of remarks.
        let rows = [
            (Some("orders"), None, None, Some("orders"), "m", 0),
            (Some("orders"), Some("orders"), Some("claimed"), Some("orders"), "m", 0),
            (Some("other"), Some("orders"), Some("claimed"), Some("other"), "m", 1),
            (None, Some("orders"), Some("claimed"), Some("orders"), "claimed", 0),
            (None, Some("rest"), None, Some("rest"), "m", 0),
            (None, Some("dlo-steps"), Some("claimed"), Some("rest"), "claimed", 1),
            (None, Some("orders-dlq"), None, Some("rest"), "m", 1),
            (None, None, Some("claimed"), Some("rest"), "claimed", 0),
            (None, None, None, Some("rest"), "m", 0),
        ];
        for (source, claimed, id, queue, expected_id, remark_count) in rows {
            let message = DeadMessage {
                dlq: arn("orders-dlq"),
                message_id: "m".into(),
                content: Content::default(),
                system: SystemAttributes { source_queue: source.map(arn), ..SystemAttributes::default() },
            };
            let claim = Claim { main_queue: claimed.map(arn), message_id: id.map(|id: &str| id.to_string()) };
            let mut remarks = Vec::new();
            let found = origin(&message, claim, &queues, &mut remarks);
            assert_eq!(
                (found.main_queue, found.message_id.as_str(), remarks.len()),
                (queue.map(arn), expected_id, remark_count),
                "source {source:?}, claims {claimed:?} {id:?}"
            );
        }
    }

    #[test]
    fn the_default_is_for_letters_of_its_own_dead_letter_queue() {
        let main = Vec::from([arn("orders"), arn("refunds")]);
        let only = |default_dlq: Option<&str>| QueuePolicy {
            main: main.clone(),
            default_main: Some(arn("orders")),
            default_dlq: default_dlq.map(arn),
        };
        // The default's dead-letter queue; the letter's; SQS's source queue, the claimed queue; the queue.
        let rows = [
            (Some("orders-dlq"), "orders-dlq", None, None, Some("orders")),
            (Some("orders-dlq"), "orders-dlq", None, Some("unnamed"), Some("orders")),
            (Some("orders-dlq"), "refunds-dlq", None, None, None),
            (Some("orders-dlq"), "refunds-dlq", None, Some("unnamed"), None),
            (Some("orders-dlq"), "refunds-dlq", None, Some("refunds"), Some("refunds")),
            (Some("orders-dlq"), "refunds-dlq", Some("refunds"), None, Some("refunds")),
            (None, "refunds-dlq", None, None, Some("orders")),
        ];
        for (default_dlq, dlq, source, claimed, queue) in rows {
            let message = DeadMessage {
                dlq: arn(dlq),
                message_id: "m".into(),
                content: Content::default(),
                system: SystemAttributes { source_queue: source.map(arn), ..SystemAttributes::default() },
            };
            let claim = Claim { main_queue: claimed.map(arn), message_id: None };
            let found = origin(&message, claim, &only(default_dlq), &mut Vec::new());
            assert_eq!(found.main_queue, queue.map(arn), "{dlq}, source {source:?}, claims {claimed:?}");
        }
    }
}
