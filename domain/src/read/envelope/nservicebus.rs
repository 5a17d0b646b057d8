//! NServiceBus on SQS (docs.particular.net: "Message headers", "Recoverability headers", SQS transport "Headers and
//! body"): headers as an attribute next to a raw body, or a `TransportMessage` with its body in base64.

use super::facts::{Facts, sibling};
use super::layer::{Headers, Layer};
use super::{Opening, pointer};
use crate::reading::Failure;
use crate::time::Span;
use alloc::string::{String, ToString};

/// A message in the error queue.
pub fn failed<'a>(layer: &Layer<'a>) -> Option<Opening<'a>> {
    let headers = &layer.headers;
    let exception = |name: &str| headers.string(&alloc::format!("NServiceBus.ExceptionInfo.{name}"));
    let mut facts = Facts {
        failure: Failure {
            // The inner exception is the cause.
            error_type: exception("InnerExceptionType").or_else(|| exception("ExceptionType")),
            message: exception("Message"),
            stack: exception("StackTrace"),
            stated_class: None,
        },
        failed_at: headers.moment("NServiceBus.TimeOfFailure"),
        consumer: headers.string("NServiceBus.ProcessingEndpoint"),
        original_message_id: headers.string("NServiceBus.MessageId"),
        ..common_facts(headers)
    };
    if let Some(queue) = headers.get("NServiceBus.FailedQ").and_then(|name| sibling(layer.dlq, &name)) {
        facts.main_queue = Some(queue);
        facts.remarks.push("The main queue comes from the header NServiceBus.FailedQ.".into());
    }
    Some(Opening::facts(facts))
}

/// A message on its way: the body of a `TransportMessage` is in base64, or in S3.
pub fn message<'a>(layer: &Layer<'a>) -> Option<Opening<'a>> {
    let mut facts = common_facts(&layer.headers);
    let body = layer.body.text("Body").filter(|body| !body.is_empty());
    if let Some(key) = layer.body.text("S3BodyKey") {
        facts.not_replayable = Some(pointer::pointing_to("the transport's bucket", &key));
    }
    let known = layer.headers.has("NServiceBus.EnclosedMessageTypes") || layer.headers.has("NServiceBus.MessageId");
    known.then(|| Opening::payload(facts, body, None))
}

fn common_facts(headers: &Headers<'_>) -> Facts {
    let sent_at = headers.moment("NServiceBus.TimeSent");
    let life = headers.get("NServiceBus.TimeToBeReceived").and_then(|text| span(&text));
    Facts {
        message_type: headers.get("NServiceBus.EnclosedMessageTypes").map(|types| first_type(&types)),
        producer: headers.string("NServiceBus.OriginatingEndpoint"),
        sent_at,
        deadline: sent_at.zip(life).map(|(sent, life)| sent.plus(life)),
        ..Facts::default()
    }
}

/// Returns the first type of `Shop.OrderPlaced, Shop.Messages, Version=1.0.0.0, ...; Shop.IEvent, ...`: the most
/// specific one.
fn first_type(types: &str) -> String {
    types.split([',', ';']).next().unwrap_or_default().trim().to_string()
}

/// Parses a .NET time span, `[days.]hh:mm:ss`.
fn span(text: &str) -> Option<Span> {
    let (days, clock) = match text.split_once('.') {
        Some((days, clock)) if !days.contains(':') => (days.parse().ok()?, clock),
        _ => (0_i64, text),
    };
    let mut parts = clock.split(['.', ':']).map(|part| part.parse::<i64>().ok());
    let (hours, minutes, seconds) = (parts.next()??, parts.next()??, parts.next()??);
    let (hours, minutes) = (days.checked_mul(24)?.checked_add(hours)?, minutes);
    Some(Span::from_mins(hours.checked_mul(60)?.checked_add(minutes)?).plus(Span::from_secs(seconds)))
}
