//! EventBridge: dead-letter queues of rules and of Scheduler, and the event itself (EventBridge user guide, "Using
//! dead-letter queues"; Scheduler user guide, "Configuring a dead-letter queue").

use super::Opening;
use super::facts::{Facts, moment, queue_arn};
use super::layer::Layer;
use crate::reading::Replayability;
use alloc::format;

/// The attributes of a rule; the body is the event for the target.
pub fn rule<'a>(layer: &Layer<'a>) -> Option<Opening<'a>> {
    let mut facts = delivery(layer);
    let rule = layer.headers.get("RULE_ARN")?;
    facts.remarks.push(format!("Rule: {rule}."));
    Some(Opening::facts(facts))
}

/// The attributes of a schedule; the body is the target's input, truncated if the letter says so.
pub fn scheduler<'a>(layer: &Layer<'a>) -> Option<Opening<'a>> {
    let mut facts = delivery(layer);
    let schedule = layer.headers.get("SCHEDULE_ARN")?;
    facts.remarks.push(format!("Schedule: {schedule}."));
    facts.sent_at = layer.headers.moment("SCHEDULED_TIME");
    if layer.headers.get("IS_PAYLOAD_TRUNCATED").is_some_and(|cut| cut.eq_ignore_ascii_case("true")) {
        let reason = "EventBridge Scheduler truncated the payload, so the message is incomplete.".into();
        facts.not_replayable = Some(Replayability::Truncated { reason });
    }
    Some(Opening::facts(facts))
}

/// The facts that rules and schedules record about a failed delivery.
fn delivery(layer: &Layer<'_>) -> Facts {
    let headers = &layer.headers;
    let target = headers.string("TARGET_ARN");
    let mut facts = Facts {
        // If the target was a queue, it is the main queue.
        main_queue: target.as_deref().and_then(queue_arn),
        consumer: target,
        attempts: headers.count("RETRY_ATTEMPTS"),
        ..Facts::default()
    };
    facts.failure.error_type = headers.string("ERROR_CODE");
    facts.failure.message = headers.string("ERROR_MESSAGE");
    if let Some(condition) = headers.get("EXHAUSTED_RETRY_CONDITION") {
        facts.remarks.push(format!("Retries ended: {condition}."));
    }
    facts
}

/// The event. Policy pointers reach its detail, so nothing is unwrapped.
pub fn event<'a>(layer: &Layer<'a>) -> Option<Opening<'a>> {
    Some(Opening::facts(Facts {
        message_type: layer.body.scalar(&["detail-type"]),
        producer: layer.body.scalar(&["source"]),
        sent_at: moment(layer.body.get("time")),
        ..Facts::default()
    }))
}
