//! The result of reading a dead message.

mod replayability;

pub use self::replayability::Replayability;
use crate::id::{GroupId, MessageId, QueueArn};
use crate::impact::Impact;
use crate::message::Content;
use crate::report::ReportKind;
use crate::report::judge::{Verdict, Why};
use crate::time::Timestamp;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// Whether a retry without a change is worthwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// The environment failed: the same message may succeed later.
    Transient,
    /// The same message will fail again until something changes.
    Permanent,
    /// Unknown. Never replaced by a guess.
    Unknown,
}

/// What went wrong, as a closed set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// A dependency did not respond in time.
    Timeout,
    /// A rate limit was exceeded.
    Throttled,
    /// A service, database or broker is down or unreachable, including broken connections.
    DependencyUnavailable,
    /// The body cannot be parsed.
    MalformedPayload,
    /// The body can be parsed but does not match the consumer's expectations.
    SchemaViolation,
    /// A business rule forbids it.
    BusinessRule,
    /// A referenced object does not exist.
    MissingReference,
    /// Not authenticated or not authorised.
    Auth,
    /// A concurrent change, lock or version conflict.
    Conflict,
    /// The object exists already.
    Duplicate,
    /// A quota, size, memory or disk limit.
    ResourceLimit,
    /// A bug in the consumer's own code.
    ConsumerBug,
    /// The consumer is misconfigured.
    Configuration,
    /// The message was too late: its deadline or time to live had passed.
    Expired,
    /// The message's tenant or account does not exist or is closed.
    InvalidTenant,
    /// Another message of its batch failed, and the whole batch with it.
    Bystander,
    /// Unknown.
    Unknown,
}

/// The confidence of a classification in percent. A ranking, not a probability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Confidence(u8);

impl Confidence {
    /// Creates a confidence of `pct` percent; values above 100 count as 100.
    pub const fn from_pct(pct: u8) -> Self {
        Self(if pct > 100 { 100 } else { pct })
    }

    /// Returns percent, 0 to 100.
    pub const fn as_pct(self) -> u8 {
        self.0
    }
}

/// The highest confidence of a guess, percent.
pub const GUESS_PCT_MAX: u8 = 25;

/// Class, category, confidence and reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Classification {
    /// Transient, permanent or unknown.
    pub class: Class,
    /// What went wrong.
    pub category: Category,
    /// The confidence.
    pub confidence: Confidence,
    /// The reason in words, for example `matched: PostgreSQL 40001, serialization failure`.
    pub reason: String,
}

impl Classification {
    /// Returns the class, or unknown if it is only a guess: at most [`GUESS_PCT_MAX`] percent sure.
    ///
    /// People see a guess. Nothing is decided by it: no rule of the policy approves because of it, no consumer
    /// dead-letters because of it, and what the logs say is shown instead.
    pub fn firm_class(&self) -> Class {
        if self.confidence.as_pct() <= GUESS_PCT_MAX { Class::Unknown } else { self.class }
    }
}

/// The failure that a letter carries. Every part may be missing: a plain redrive carries no failure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Failure {
    /// The error's type or code, for example `java.net.SocketTimeoutException`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_type: Option<String>,
    /// The error's message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The stack trace, unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
    /// The class that the consumer claims: transient or permanent. It decides only where nothing else is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stated_class: Option<Class>,
}

impl Failure {
    /// Whether nothing is known about the failure.
    pub fn is_empty(&self) -> bool {
        self.error_type.is_none() && self.message.is_none() && self.stack.is_none()
    }
}

/// The form in which a letter carries its failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EnvelopeKind {
    /// Stamped by the consumer crate.
    Consumer,
    /// SQS's own redrive, which records no reason.
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
    /// An error envelope in the body, written by the team's own code.
    BodyEnvelope,
    /// The failed batch of a Kinesis or DynamoDB stream: its position without its records.
    Stream,
    /// The failed batch of an EventBridge pipe.
    Pipes,
    /// An EventBridge event.
    EventBridgeEvent,
    /// An event of another AWS service, for example an S3 notification.
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
    /// None of the known forms.
    Plain,
}

/// The description of a death: the failure, its classification, its impact, and the parties involved. A reading
/// creates it, a letter stores it, the letter's page shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Diagnosis {
    /// A title for people: error type and message template.
    pub title: String,
    /// How the message carried its failure.
    pub envelope: EnvelopeKind,
    /// The failure.
    pub failure: Failure,
    /// Class, category, confidence and reason.
    pub classification: Classification,
    /// The letter's impact.
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
    /// The report that the failure comes from, where the message itself carries none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported: Option<Reported>,
}

/// Who reported a failure, and how sure it is that the failure is this message's. See [`crate::report`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reported {
    /// The function or service.
    pub by: String,
    /// The program that wrote the report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reporter: Option<String>,
    /// The function's version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The invocation.
    pub request_id: String,
    /// How it ended.
    pub kind: ReportKind,
    /// How sure it is that the error is this message's.
    pub verdict: Verdict,
    /// Why.
    pub why: Why,
    /// On how many instances the message failed with this error, if on several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instances: Option<u32>,
    /// When it failed, by the reporter's clock.
    pub failed_at: Timestamp,
    /// The execution environment or process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
    /// The log group that the invocation wrote to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_group: Option<String>,
    /// Whether it was the first invocation of its instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cold: Option<bool>,
    /// How long it ran, milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// The memory that the function may use, MB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_mb: Option<u32>,
    /// The memory that it used at most, MB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_used_mb: Option<u32>,
    /// The last lines that it logged, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub logs: Vec<String>,
}

/// Everything that was read from one dead message. The same message gives the same reading on every machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    /// The diagnosis of the death.
    #[serde(flatten)]
    pub diagnosis: Diagnosis,
    /// The queue that it died on, if known.
    pub main_queue: Option<QueueArn>,
    /// The message's id on the main queue.
    pub original_message_id: MessageId,
    /// The content on the main queue, byte for byte, without the envelope.
    pub original: Content,
    /// See [`crate::letter::Letter::original_at`].
    pub original_at: Option<String>,
    /// The fingerprint.
    pub group: GroupId,
    /// Where the error was thrown, for example `orders::invoice::total (invoice.rs)`.
    pub culprit: Option<String>,
    /// When it was first sent, if known.
    pub sent_at: Option<Timestamp>,
    /// When the consumer last failed on it, if known.
    pub failed_at: Option<Timestamp>,
    /// The time after which it failed, if that is all that is known: see [`crate::read::date`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub died_after: Option<Timestamp>,
    /// The marker of one of our earlier replays, if present.
    pub marker: Option<crate::marker::Marker>,
}

impl Diagnosis {
    /// Returns the diagnosis after another death. Impact, message type, producer, tenant and first attempt stay those
    /// of the first death: a replayed message may have lost them, and its amount must not change.
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
