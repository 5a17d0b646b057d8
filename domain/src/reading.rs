//! What the office reads from a dead message.

use crate::id::{GroupId, MessageId, QueueArn};
use crate::impact::Impact;
use crate::message::Content;
use crate::time::Timestamp;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// Is a retry without a change worth it?
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// The world was in the way: the same message may pass later.
    Transient,
    /// The same message will fail again until something changes.
    Permanent,
    /// Not known. Never a guess dressed as knowledge.
    Unknown,
}

/// What went wrong: a closed set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// Somebody did not answer in time.
    Timeout,
    /// Told to slow down.
    Throttled,
    /// A service, database or broker that is down or unreachable (including broken connections).
    DependencyUnavailable,
    /// The body cannot be parsed at all.
    MalformedPayload,
    /// The body parses but is not what the consumer expects.
    SchemaViolation,
    /// A rule of the business says no.
    BusinessRule,
    /// Something that the message names does not exist.
    MissingReference,
    /// Not authenticated or not allowed.
    Auth,
    /// A concurrent change, lock or version conflict.
    Conflict,
    /// It exists already.
    Duplicate,
    /// A quota, size, memory or disk limit.
    ResourceLimit,
    /// A fault in the consumer's own code.
    ConsumerBug,
    /// The consumer is configured wrongly.
    Configuration,
    /// The message was too late: its deadline or time to live had passed.
    Expired,
    /// The tenant or account that the message belongs to does not exist or is closed.
    InvalidTenant,
    /// Not known.
    Unknown,
}

/// How sure the classification is, in percent. A figure of rank, not a probability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Confidence(u8);

impl Confidence {
    /// A confidence of `pct` percent; above 100 counts as 100.
    pub const fn from_pct(pct: u8) -> Self {
        Self(if pct > 100 { 100 } else { pct })
    }

    /// Percent, 0 to 100.
    pub const fn as_pct(self) -> u8 {
        self.0
    }
}

/// Class, category and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Classification {
    /// Transient, permanent or unknown.
    pub class: Class,
    /// What went wrong.
    pub category: Category,
    /// How sure.
    pub confidence: Confidence,
    /// The reason in words, for example `matched: PostgreSQL 40001, serialization failure`.
    pub reason: String,
}

/// The failure that a letter carries. Every part may be missing: a plain redrive carries none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Failure {
    /// The error's type or code, for example `java.net.SocketTimeoutException`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_type: Option<String>,
    /// The error's message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The stack trace, as it came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
    /// What the consumer itself says: transient or permanent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stated_class: Option<Class>,
}

impl Failure {
    /// Whether nothing at all is known of the failure.
    pub fn is_empty(&self) -> bool {
        self.error_type.is_none() && self.message.is_none() && self.stack.is_none()
    }
}

/// The form in which a letter carries its failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EnvelopeKind {
    /// Stamped by our consumer crate.
    Consumer,
    /// SQS's own redrive: no word of why.
    SqsRedrive,
    /// A Lambda function's asynchronous dead-letter queue.
    LambdaAsync,
    /// A Lambda on-failure destination.
    LambdaDestination,
    /// An EventBridge rule's dead-letter queue.
    EventBridgeRule,
    /// EventBridge Scheduler.
    Scheduler,
    /// An SNS subscription's dead-letter queue.
    Sns,
    /// An error envelope in the body, as teams write it.
    BodyEnvelope,
    /// The failed batch of a Kinesis or DynamoDB stream: where it lay, not what was in it.
    Stream,
    /// The failed batch of an EventBridge pipe.
    Pipes,
    /// An event of EventBridge.
    EventBridgeEvent,
    /// An event of another AWS service, S3's notifications among them.
    AwsEvent,
    /// A pointer to a payload in S3.
    S3Pointer,
    /// An error of an AWS Step Functions state machine.
    StepFunctions,
    /// NServiceBus.
    #[serde(rename = "nservicebus")]
    NServiceBus,
    /// MassTransit.
    #[serde(rename = "masstransit")]
    MassTransit,
    /// Spring Kafka's dead-letter publisher.
    SpringKafka,
    /// Kafka Connect's dead-letter reporter.
    KafkaConnect,
    /// RabbitMQ's dead-letter exchange.
    #[serde(rename = "rabbitmq")]
    RabbitMq,
    /// A Celery task.
    Celery,
    /// A Sidekiq or Shoryuken job.
    Sidekiq,
    /// A CloudEvent.
    #[serde(rename = "cloudevents")]
    CloudEvents,
    /// Azure Service Bus.
    ServiceBus,
    /// Google Cloud Pub/Sub.
    #[serde(rename = "pubsub")]
    PubSub,
    /// None of the forms we know.
    Plain,
}

/// Whether the letter can be sent back as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Replayability {
    /// It can.
    Replayable,
    /// It cannot: part of it was cut off on the way.
    Truncated {
        /// The reason, a sentence.
        reason: String,
    },
    /// It cannot: only where the message lay was kept, not the message.
    MetadataOnly {
        /// The reason, a sentence.
        reason: String,
    },
    /// It only points to its payload, which may be gone: sent back if the policy says so.
    Pointer {
        /// The reason, a sentence.
        reason: String,
    },
    /// It cannot, for another reason.
    NotReplayable {
        /// The reason, a sentence.
        reason: String,
    },
}

impl Replayability {
    /// Why it should not be sent back as it is, where there is such a reason.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Replayable => None,
            Self::Truncated { reason }
            | Self::MetadataOnly { reason }
            | Self::Pointer { reason }
            | Self::NotReplayable { reason } => Some(reason),
        }
    }

    /// The reason, to be cut where it is too long.
    pub(crate) fn reason_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::Replayable => None,
            Self::Truncated { reason }
            | Self::MetadataOnly { reason }
            | Self::Pointer { reason }
            | Self::NotReplayable { reason } => Some(reason),
        }
    }

    /// The same for many letters, after their number: what a plan says of those that it leaves out. It names the kind
    /// only, as a plan must not grow with the letters' own words.
    pub fn left_out(&self) -> Option<&'static str> {
        match self {
            Self::Replayable => None,
            Self::Truncated { .. } => Some("cut off on the way"),
            Self::MetadataOnly { .. } => {
                Some("without the message itself, only where it lay or why it failed was kept")
            }
            Self::Pointer { .. } => Some("whose payload lies in S3, where it may have expired"),
            Self::NotReplayable { .. } => Some("that cannot be sent back as they are"),
        }
    }
}

/// What a death says: the failure, how it was classified, what it costs, who was involved. A reading makes it, a letter
/// keeps it, the letter's page shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Diagnosis {
    /// A title that a person understands: error type and message template.
    pub title: String,
    /// How the message carried its failure.
    pub envelope: EnvelopeKind,
    /// The failure.
    pub failure: Failure,
    /// Class, category, confidence and reason.
    pub classification: Classification,
    /// What the letter costs.
    pub impact: Impact,
    /// The message's type (`order.placed`), if it names one.
    pub message_type: Option<String>,
    /// The service that failed on it.
    pub consumer: Option<String>,
    /// That service's version.
    pub consumer_version: Option<String>,
    /// The service that sent it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub producer: Option<String>,
    /// That service's version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub producer_version: Option<String>,
    /// The tenant that the message belongs to, if it names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// How often the consumer tried the message before it died, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u32>,
    /// When the consumer tried it for the first time, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_tried_at: Option<Timestamp>,
    /// Whether it can be sent back.
    pub replayability: Replayability,
    /// Notes on guesses and unreadable parts, for the letter's page.
    pub remarks: Vec<String>,
}

/// Everything that was read from one dead message. The same message gives the same reading, on any machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    /// What the death says.
    #[serde(flatten)]
    pub diagnosis: Diagnosis,
    /// The queue it died on, where that can be told.
    pub main_queue: Option<QueueArn>,
    /// The message's id on the main queue.
    pub original_message_id: MessageId,
    /// What was on the main queue, byte for byte: the envelope taken off.
    pub original: Content,
    /// The group it belongs to.
    pub group: GroupId,
    /// Where it was thrown, for example `orders::invoice::total (invoice.rs)`.
    pub culprit: Option<String>,
    /// When it was first sent, where that is known.
    pub sent_at: Option<Timestamp>,
    /// When the consumer failed on it for the last time, where that is known.
    pub failed_at: Option<Timestamp>,
    /// The marker of an earlier replay of ours, where it carries one.
    pub marker: Option<crate::marker::Marker>,
}

impl Diagnosis {
    /// The diagnosis after another death. Impact, message type, producer, tenant and first attempt stay as the first
    /// death said: a replayed message may have lost them, and money must not change with it.
    pub fn renewed_by(&self, later: Self) -> Self {
        Self {
            consumer: later.consumer.or_else(|| self.consumer.clone()),
            impact: self.impact.clone(),
            message_type: self.message_type.clone(),
            producer: self.producer.clone(),
            producer_version: self.producer_version.clone(),
            tenant: self.tenant.clone(),
            first_tried_at: self.first_tried_at,
            replayability: self.replayability.clone(),
            ..later
        }
    }
}
