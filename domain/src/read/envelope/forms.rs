//! The tables of forms: the signs of each form, in order of priority.

use super::layer::Layer;
use super::{
    Opening, aws_events, brokers, celery, cloudevents, consumer, eventbridge, kafka, lambda, masstransit, nservicebus,
    pointer, pubsub, sidekiq, sns, step_functions, team,
};
use crate::marker::FAILURE_ATTRIBUTE;
use crate::read::json::Sketch;
use crate::reading::EnvelopeKind;

/// One form: its signs and its reader.
pub struct Form {
    /// The form.
    pub kind: EnvelopeKind,
    /// The form's name for people.
    pub name: &'static str,
    /// The form is tried if all parts of any one sign are present.
    signs: &'static [Sign],
    /// Reads the form; returns `None` if the layer is not of this form after all.
    pub open: for<'a> fn(&Layer<'a>) -> Option<Opening<'a>>,
    /// Name prefixes of the attributes that the form adds to a message. Replays do not send them back.
    pub adds: &'static [&'static str],
}

/// Features that must all be present.
struct Sign {
    headers: &'static [&'static str],
    members: &'static [&'static str],
    /// The beginning of the text.
    text: &'static str,
    /// The sets of the names. A letter has few names, so these rule out most signs.
    sketches: [Sketch; 2],
}

const fn sign(headers: &'static [&'static str], members: &'static [&'static str], text: &'static str) -> Sign {
    Sign { headers, members, text, sketches: [Sketch::from_names(headers), Sketch::from_names(members)] }
}

const fn headers(headers: &'static [&'static str]) -> Sign {
    sign(headers, &[], "")
}

const fn members(members: &'static [&'static str]) -> Sign {
    sign(&[], members, "")
}

const fn text(text: &'static str) -> Sign {
    sign(&[], &[], text)
}

impl Sign {
    fn shows(&self, layer: &Layer<'_>) -> bool {
        let [headers, members] = self.sketches;
        if !layer.headers.sketch().may_have_all(headers) || !layer.body.sketch().may_have_all(members) {
            return false;
        }
        // Most signs have no text, and comparing zero bytes is not free: an empty text's address is not on a mapped
        // page, and a masked load from there costs the processor more than all other signs.
        (self.text.is_empty() || layer.text.starts_with(self.text))
            && self.headers.iter().all(|name| layer.headers.has(name))
            && self.members.iter().all(|name| layer.body.get(name).is_some())
    }
}

impl Form {
    /// Whether the layer has the form's signs.
    pub fn shows(&self, layer: &Layer<'_>) -> bool {
        self.signs.iter().any(|sign| sign.shows(layer))
    }
}

const LAMBDA_ASYNC: &[&str] = &["RequestID", "ErrorCode", "ErrorMessage"];
const EVENTBRIDGE: &[&str] =
    &["RULE_ARN", "TARGET_ARN", "ERROR_CODE", "ERROR_MESSAGE", "EXHAUSTED_RETRY_CONDITION", "RETRY_ATTEMPTS"];
const SCHEDULER: &[&str] = &[
    "SCHEDULE_ARN",
    "TARGET_ARN",
    "ERROR_CODE",
    "ERROR_MESSAGE",
    "EXHAUSTED_RETRY_CONDITION",
    "RETRY_ATTEMPTS",
    "EXECUTION_ID",
    "IS_PAYLOAD_TRUNCATED",
    "SCHEDULED_TIME",
];

/// Forms that carry a failure.
pub const CARRIERS: &[Form] = &[
    Form {
        kind: EnvelopeKind::Consumer,
        name: "the consumer's stamp",
        signs: &[headers(&[FAILURE_ATTRIBUTE])],
        open: consumer::open,
        adds: &[FAILURE_ATTRIBUTE],
    },
    Form {
        // The same three attributes as Lambda, around a bare notification.
        kind: EnvelopeKind::Sns,
        name: "an SNS delivery failure",
        signs: &[sign(LAMBDA_ASYNC, &["Type", "TopicArn"], "")],
        open: lambda::refused,
        adds: LAMBDA_ASYNC,
    },
    Form {
        kind: EnvelopeKind::LambdaAsync,
        name: "an asynchronous Lambda failure",
        signs: &[headers(LAMBDA_ASYNC)],
        open: lambda::asynchronous,
        adds: LAMBDA_ASYNC,
    },
    Form {
        // Before the rule: both have TARGET_ARN and ERROR_CODE, but only this form has a schedule.
        kind: EnvelopeKind::Scheduler,
        name: "an EventBridge Scheduler failure",
        signs: &[headers(&["SCHEDULE_ARN"])],
        open: eventbridge::scheduler,
        adds: SCHEDULER,
    },
    Form {
        kind: EnvelopeKind::EventBridgeRule,
        name: "an EventBridge rule's failure",
        signs: &[headers(&["RULE_ARN"])],
        open: eventbridge::rule,
        adds: EVENTBRIDGE,
    },
    Form {
        kind: EnvelopeKind::MassTransit,
        name: "a MassTransit fault",
        signs: &[headers(&["MT-Fault-Message"]), headers(&["MT-Fault-ExceptionType"]), headers(&["MT-Reason"])],
        open: masstransit::fault,
        adds: &["MT-Fault-", "MT-Reason", "MT-Host-"],
    },
    Form {
        kind: EnvelopeKind::NServiceBus,
        name: "an NServiceBus failure",
        signs: &[headers(&["NServiceBus.FailedQ"]), headers(&["NServiceBus.ExceptionInfo.ExceptionType"])],
        open: nservicebus::failed,
        adds: &["NServiceBus.ExceptionInfo.", "NServiceBus.FailedQ", "NServiceBus.TimeOfFailure"],
    },
    Form {
        kind: EnvelopeKind::SpringKafka,
        name: "a Spring Kafka failure",
        signs: &[headers(&["kafka_dlt-exception-fqcn"]), headers(&["kafka_dlt-original-topic"])],
        open: kafka::spring,
        adds: &["kafka_dlt-"],
    },
    Form {
        kind: EnvelopeKind::KafkaConnect,
        name: "a Kafka Connect failure",
        signs: &[headers(&["__connect.errors.topic"]), headers(&["__connect.errors.exception.class.name"])],
        open: kafka::connect,
        adds: &["__connect.errors."],
    },
    Form {
        kind: EnvelopeKind::ServiceBus,
        name: "an Azure Service Bus dead letter",
        signs: &[headers(&["DeadLetterReason"]), members(&["DeadLetterReason"])],
        open: brokers::service_bus,
        adds: &["DeadLetterReason", "DeadLetterErrorDescription", "DeadLetterSource"],
    },
    Form {
        kind: EnvelopeKind::PubSub,
        name: "a Pub/Sub dead letter",
        signs: &[
            headers(&["CloudPubSubDeadLetterSourceSubscription"]),
            headers(&["CloudPubSubDeadLetterSourceDeliveryCount"]),
        ],
        open: pubsub::dead,
        adds: &["CloudPubSubDeadLetter"],
    },
    Form {
        kind: EnvelopeKind::RabbitMq,
        name: "a RabbitMQ death",
        signs: &[headers(&["x-death"]), headers(&["x-first-death-reason"]), headers(&["x-last-death-reason"])],
        open: brokers::rabbitmq,
        adds: &["x-death", "x-first-death-", "x-last-death-"],
    },
    Form {
        kind: EnvelopeKind::Stream,
        name: "a stream's failed batch",
        signs: &[members(&["requestContext", "KinesisBatchInfo"]), members(&["requestContext", "DDBStreamBatchInfo"])],
        open: lambda::stream,
        adds: &[],
    },
    Form {
        kind: EnvelopeKind::Pipes,
        name: "an EventBridge pipe's failed batch",
        signs: &[members(&["context", "KinesisBatchInfo"]), members(&["context", "DDBStreamBatchInfo"])],
        open: lambda::stream,
        adds: &[],
    },
    Form {
        kind: EnvelopeKind::LambdaDestination,
        name: "a Lambda on-failure destination",
        signs: &[members(&["requestContext"])],
        open: lambda::destination,
        adds: &[],
    },
    Form {
        kind: EnvelopeKind::Sidekiq,
        name: "a Sidekiq job",
        signs: &[members(&["jid", "class", "error_class"]), members(&["jid", "class", "error_message"])],
        open: sidekiq::failed,
        adds: &[],
    },
    Form {
        kind: EnvelopeKind::BodyEnvelope,
        name: "an error envelope",
        signs: &[
            members(&["originalMessage"]),
            members(&["original_message"]),
            members(&["originalPayload"]),
            members(&["original_payload"]),
            members(&["originalBody"]),
            members(&["original_body"]),
            members(&["originalEvent"]),
            members(&["original_event"]),
            members(&["OriginalMessage"]),
            members(&["OriginalPayload"]),
            members(&["OriginalBody"]),
            members(&["OriginalEvent"]),
        ],
        open: team::open,
        adds: &[],
    },
    Form {
        kind: EnvelopeKind::StepFunctions,
        name: "a Step Functions error",
        signs: &[members(&["Cause"]), members(&["Error"]), members(&["error"]), members(&["errorInfo"])],
        open: step_functions::open,
        adds: &[],
    },
];

/// Forms that wrap a message and carry no failure.
pub const WRAPPINGS: &[Form] = &[
    Form {
        kind: EnvelopeKind::Sns,
        name: "an SNS notification",
        signs: &[members(&["Type", "TopicArn", "Message"])],
        open: sns::notification,
        adds: &[],
    },
    Form {
        kind: EnvelopeKind::AwsEvent,
        name: "an AWS event",
        signs: &[members(&["Records"]), members(&["Event", "Service", "Bucket"])],
        open: aws_events::open,
        adds: &[],
    },
    Form {
        kind: EnvelopeKind::EventBridgeEvent,
        name: "an EventBridge event",
        signs: &[members(&["detail-type", "source", "detail"])],
        open: eventbridge::event,
        adds: &[],
    },
    Form {
        kind: EnvelopeKind::S3Pointer,
        name: "a pointer into S3",
        signs: &[text("[")],
        open: pointer::open,
        adds: &[],
    },
    Form {
        kind: EnvelopeKind::CloudEvents,
        name: "a CloudEvent",
        signs: &[
            members(&["specversion", "type", "source"]),
            headers(&["ce-specversion"]),
            headers(&["ce_specversion"]),
            headers(&["cloudEvents_specversion"]),
        ],
        open: cloudevents::open,
        adds: &[],
    },
    Form {
        kind: EnvelopeKind::NServiceBus,
        name: "an NServiceBus message",
        signs: &[members(&["Headers", "Body"]), headers(&["NServiceBus.EnclosedMessageTypes"])],
        open: nservicebus::message,
        adds: &[],
    },
    Form {
        kind: EnvelopeKind::MassTransit,
        name: "a MassTransit message",
        signs: &[members(&["messageId", "messageType", "message"])],
        open: masstransit::message,
        adds: &[],
    },
    Form {
        kind: EnvelopeKind::Celery,
        name: "a Celery task",
        signs: &[members(&["body", "headers", "properties"]), members(&["task", "id", "args"])],
        open: celery::open,
        adds: &[],
    },
    Form {
        kind: EnvelopeKind::Sidekiq,
        name: "a Sidekiq job",
        signs: &[members(&["jid", "class", "args"])],
        open: sidekiq::job,
        adds: &[],
    },
    Form {
        kind: EnvelopeKind::PubSub,
        name: "a Pub/Sub push",
        signs: &[members(&["message", "subscription"]), members(&["message", "ackId"])],
        open: pubsub::push,
        adds: &[],
    },
];
