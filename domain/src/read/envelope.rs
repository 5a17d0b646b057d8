//! Envelopes: the forms in which a letter carries its failure, recognised in the order of what says most.

use super::json::Raw;
use super::stamp::Stamp;
use super::when;
use crate::marker::FAILURE_ATTRIBUTE;
use crate::message::DeadMessage;
use crate::reading::{Class, EnvelopeKind, Failure, Replayability};
use crate::time::Timestamp;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// What was found by opening the envelope.
pub struct Opened {
    /// The form.
    pub kind: EnvelopeKind,
    /// The failure it carries.
    pub failure: Failure,
    /// The consumer crate's stamp.
    pub stamp: Option<Stamp>,
    /// The body of the original message, where the envelope carries it inside.
    pub original_body: Option<String>,
    /// The body to read message type and impact from, where it is wrapped further; never what is sent.
    pub inner_body: Option<String>,
    /// The message's type.
    pub message_type: Option<String>,
    /// The message's id on the main queue.
    pub original_message_id: Option<String>,
    /// The service that failed.
    pub consumer: Option<String>,
    /// Its version.
    pub consumer_version: Option<String>,
    /// How often it was tried.
    pub attempts: Option<u32>,
    /// When it failed for the last time.
    pub failed_at: Option<Timestamp>,
    /// Why it cannot be sent back as it is.
    pub not_replayable: Option<&'static str>,
    /// What could not be read.
    pub remarks: Vec<String>,
}

impl Opened {
    fn new(kind: EnvelopeKind) -> Self {
        Self {
            kind,
            failure: Failure::default(),
            stamp: None,
            original_body: None,
            inner_body: None,
            message_type: None,
            original_message_id: None,
            consumer: None,
            consumer_version: None,
            attempts: None,
            failed_at: None,
            not_replayable: None,
            remarks: Vec::new(),
        }
    }

    /// Whether it can be sent back.
    pub fn replayability(&self) -> Replayability {
        match self.not_replayable {
            None => Replayability::Replayable,
            Some(reason) => Replayability::NotReplayable { reason: reason.to_string() },
        }
    }
}

/// Opens the envelope of a message. Every message has one: at worst the plain one.
pub fn open(message: &DeadMessage) -> Opened {
    let mut remarks = Vec::new();
    let body = Raw::of(&message.content.body);
    let redriven = message.system.source_queue.is_some();
    let mut opened = stamped(message, &mut remarks)
        .or_else(|| lambda_async(message))
        .or_else(|| event_bridge(message))
        .or_else(|| lambda_destination(body))
        .or_else(|| body_envelope(body))
        .or_else(|| sns(body, redriven))
        .unwrap_or_else(|| Opened::new(if redriven { EnvelopeKind::SqsRedrive } else { EnvelopeKind::Plain }));
    if redriven && opened.stamp.is_none() && opened.original_body.is_some() {
        // A redrive policy moves a message untouched: the envelope was on the main queue too, so it stays on.
        opened.inner_body = opened.original_body.take();
        opened.original_message_id = None;
    }
    if body.text().starts_with("[\"software.amazon.payloadoffloading")
        || body.text().starts_with("[\"com.amazon.sqs.javamessaging")
    {
        opened.remarks.push("The payload lies in S3; this message is a pointer to it.".to_string());
    }
    opened.remarks.append(&mut remarks);
    opened
}

/// The consumer crate's own attribute.
fn stamped(message: &DeadMessage, remarks: &mut Vec<String>) -> Option<Opened> {
    let text = message.content.attributes.get(FAILURE_ATTRIBUTE)?.as_text()?;
    let Some(stamp) = Stamp::parse(text) else {
        remarks.push(format!("The attribute {FAILURE_ATTRIBUTE} is not a stamp that can be read."));
        return None;
    };
    let mut opened = Opened::new(EnvelopeKind::Consumer);
    opened.failure = stamp.failure();
    opened.message_type = stamp.message_type.clone();
    opened.original_message_id = stamp.original_message_id.as_ref().map(|id| id.as_str().to_string());
    opened.consumer = stamp.consumer.clone();
    opened.consumer_version = stamp.consumer_version.clone();
    opened.attempts = stamp.attempts;
    opened.failed_at = stamp.failed_at;
    opened.stamp = Some(stamp);
    Some(opened)
}

fn attribute<'m>(message: &'m DeadMessage, name: &str) -> Option<&'m str> {
    message.content.attributes.get(name)?.as_text()
}

/// A Lambda function's asynchronous dead-letter queue (Lambda developer guide, "Dead-letter queues").
fn lambda_async(message: &DeadMessage) -> Option<Opened> {
    let (Some(_), Some(code), Some(text)) =
        (attribute(message, "RequestID"), attribute(message, "ErrorCode"), attribute(message, "ErrorMessage"))
    else {
        return None;
    };
    let mut opened = Opened::new(EnvelopeKind::LambdaAsync);
    opened.failure = typed(text);
    if code != "200" {
        opened.remarks.push(format!("Lambda's error code was {code}."));
    }
    Some(opened)
}

/// An EventBridge rule's or Scheduler's dead-letter queue (EventBridge user guides).
fn event_bridge(message: &DeadMessage) -> Option<Opened> {
    let scheduler = attribute(message, "SCHEDULE_ARN").is_some();
    if !scheduler {
        attribute(message, "RULE_ARN")?;
    }
    let mut opened = Opened::new(if scheduler { EnvelopeKind::Scheduler } else { EnvelopeKind::EventBridgeRule });
    opened.failure.error_type = attribute(message, "ERROR_CODE").map(String::from);
    opened.failure.message = attribute(message, "ERROR_MESSAGE").map(String::from);
    opened.attempts = attribute(message, "RETRY_ATTEMPTS").and_then(|n| n.parse().ok());
    opened.consumer = attribute(message, "TARGET_ARN").map(String::from);
    if attribute(message, "IS_PAYLOAD_TRUNCATED").is_some_and(|t| t.eq_ignore_ascii_case("true")) {
        opened.not_replayable = Some("The scheduler cut the payload off; what is left is not the message.");
    }
    Some(opened)
}

/// A Lambda on-failure destination, of an asynchronous call or of a stream.
fn lambda_destination(body: Raw<'_>) -> Option<Opened> {
    let request = body.get("requestContext")?;
    let condition = request.string("condition")?;
    let mut opened = Opened::new(EnvelopeKind::LambdaDestination);
    opened.attempts = request.get("approximateInvokeCount").and_then(Raw::as_number).and_then(|n| n.parse().ok());
    opened.failed_at = body.string("timestamp").and_then(|t| when::parse(&t));
    opened.consumer = request.string("functionArn");
    if let Some(response) = body.get("responsePayload") {
        opened.failure = failure_of(response);
    }
    if opened.failure.is_empty() {
        opened.failure.error_type = Some(condition);
    }
    if body.get("KinesisBatchInfo").or_else(|| body.get("DDBStreamBatchInfo")).is_some() {
        opened.not_replayable = Some("Only the position in the stream was kept, not the records.");
    } else {
        opened.original_body = body.get("requestPayload").map(carried);
    }
    Some(opened)
}

/// An error envelope in the body, as teams write it: the message beside the reason of its failure.
fn body_envelope(body: Raw<'_>) -> Option<Opened> {
    const ORIGINALS: [&str; 5] =
        ["originalMessage", "original_message", "originalPayload", "originalBody", "originalEvent"];
    const REASONS: [&str; 6] = ["failureReason", "failure_reason", "failure", "error", "errorInfo", "exception"];
    let first = |names: &[&str]| body.first(names);
    let original = first(&ORIGINALS)?;
    let reason = first(&REASONS)?;
    let mut opened = Opened::new(EnvelopeKind::BodyEnvelope);
    opened.failure = failure_of(reason);
    take_original(&mut opened, original);
    if let Some(context) = first(&["processingContext", "processing_context"]) {
        let text = |names: &[&str]| names.iter().find_map(|name| context.string(name));
        let number = |names: &[&str]| names.iter().find_map(|name| context.get(name)?.as_scalar()?.parse().ok());
        opened.consumer =
            text(&["consumer", "service", "serviceName", "consumerName", "functionName", "handler", "application"]);
        opened.consumer_version =
            text(&["version", "consumerVersion", "serviceVersion", "functionVersion", "applicationVersion"]);
        opened.message_type = text(&["messageType", "eventType", "message_type", "event_type"]);
        opened.attempts =
            number(&["attempts", "attemptCount", "attemptNumber", "retryCount", "receiveCount", "deliveryCount"]);
        let failed = ["failedAt", "failureTimestamp", "lastAttemptAt", "timestamp", "processedAt"];
        opened.failed_at = failed.iter().find_map(|name| when::parse(&context.get(name)?.as_scalar()?));
    }
    if let Some(environment) = first(&["environmentContext", "environment_context"]) {
        let text = |names: &[&str]| names.iter().find_map(|name| environment.string(name));
        opened.consumer =
            opened.consumer.take().or_else(|| text(&["service", "serviceName", "consumer", "functionName"]));
        opened.consumer_version = opened
            .consumer_version
            .take()
            .or_else(|| text(&["version", "serviceVersion", "release", "functionVersion"]));
    }
    // A bare `messageId` may be anybody's; two letters that claim one id would be taken for one.
    let outer_id = first(&["originalMessageId", "original_message_id"]).and_then(Raw::as_string);
    opened.original_message_id = opened.original_message_id.take().or(outer_id);
    Some(opened)
}

/// The original inside an envelope: a body, or a whole SQS record with its id.
fn take_original(opened: &mut Opened, original: Raw<'_>) {
    let record_body = original.get("body").or_else(|| original.get("Body"));
    let record_id = original.string("messageId").or_else(|| original.string("MessageId"));
    match (record_body, record_id) {
        (Some(body), Some(id)) => {
            opened.original_body = Some(carried(body));
            opened.original_message_id = Some(id);
        }
        _ => opened.original_body = Some(carried(original)),
    }
}

/// A body inside JSON: a string stands for its text, anything else for itself, byte for byte.
fn carried(raw: Raw<'_>) -> String {
    raw.as_string().unwrap_or_else(|| raw.text().to_string())
}

/// An SNS notification: its message is what is read; what is sent stays as it is.
fn sns(body: Raw<'_>, redriven: bool) -> Option<Opened> {
    (body.string("Type")? == "Notification").then_some(())?;
    body.get("TopicArn")?;
    let mut opened = Opened::new(if redriven { EnvelopeKind::SqsRedrive } else { EnvelopeKind::Sns });
    opened.inner_body = body.string("Message");
    let attributes = body.get("MessageAttributes");
    let named = |name: &str| attributes.and_then(|a| a.get(name)).and_then(|a| a.string("Value"));
    opened.message_type = super::MESSAGE_TYPE_NAMES.iter().find_map(|name| named(name));
    Some(opened)
}

/// A failure written as an object (`errorType`, `message`, `stackTrace`, ...) or as a text.
pub fn failure_of(raw: Raw<'_>) -> Failure {
    if !raw.is_object() {
        return raw.as_string().map(|text| typed(&text)).unwrap_or_default();
    }
    let text = |names: &[&str]| raw.first(names).and_then(text_of);
    let mut failure = Failure {
        error_type: text(&[
            "errorType",
            "error_type",
            "type",
            "exceptionType",
            "exception",
            "errorClass",
            "name",
            "errorCode",
            "code",
            "Error",
        ]),
        message: text(&[
            "errorMessage",
            "error_message",
            "message",
            "exceptionMessage",
            "description",
            "reason",
            "Cause",
        ]),
        stack: text(&[
            "errorStack",
            "error_stack",
            "stackTrace",
            "stack_trace",
            "stacktrace",
            "stack",
            "trace",
            "backtrace",
        ]),
        stated_class: None,
    };
    let stated =
        text(&["class", "errorClassification", "failureClass", "classification"]).map(|t| t.to_ascii_lowercase());
    let retryable = ["retryable", "isRetryable", "retriable", "transient"]
        .iter()
        .find_map(|name| raw.get(name))
        .map(|r| r.text().trim());
    failure.stated_class = match (stated.as_deref(), retryable) {
        (Some("transient" | "retryable" | "retriable" | "temporary"), _) | (_, Some("true")) => Some(Class::Transient),
        (Some("permanent" | "non_retryable" | "non-retryable" | "fatal"), _) | (_, Some("false")) => {
            Some(Class::Permanent)
        }
        _ => None,
    };
    if failure.error_type.is_none() {
        let split = failure.message.as_deref().map(typed).unwrap_or_default();
        failure.error_type = split.error_type;
        failure.message = split.message;
    }
    failure
}

/// A scalar's text, or the lines of an array of texts (how Lambda writes a stack).
fn text_of(raw: Raw<'_>) -> Option<String> {
    if !raw.is_array() {
        return raw.as_scalar().filter(|text| !text.is_empty());
    }
    let lines: Vec<String> = raw.elements().filter_map(Raw::as_string).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// A text `Type: message`, taken apart where the part before the colon is surely a type.
pub fn typed(text: &str) -> Failure {
    let split = text.split_once(": ").filter(|(name, _)| looks_like_type(name));
    match split {
        Some((name, message)) => {
            Failure { error_type: Some(name.to_string()), message: Some(message.to_string()), ..Failure::default() }
        }
        None => Failure { message: Some(text.to_string()).filter(|t| !t.is_empty()), ..Failure::default() },
    }
}

/// Whether a text is the name of an error type: one word that ends as such names do, or a dotted path to a class.
pub fn looks_like_type(name: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '$' | ':' | '\\');
    if name.len() > 200 || !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !name.chars().all(is_name) {
        return false;
    }
    let last = name.rsplit(['.', ':', '\\', '$']).next().unwrap_or(name);
    let ends = ["Error", "Exception", "Fault", "Failure", "Timeout", "Interrupt", "Warning"];
    ends.iter().any(|end| last.ends_with(end)) && last.starts_with(|c: char| c.is_ascii_uppercase())
        || (name.contains('.') && last.starts_with(|c: char| c.is_ascii_uppercase()) && last.len() > 3)
}

#[cfg(test)]
#[path = "envelope_tests.rs"]
mod tests;
