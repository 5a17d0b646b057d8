//! The facts that envelopes tell besides the failure, and the names under which teams write them.

use crate::group::truncate_on_char;
use crate::id::QueueArn;
use crate::read::json::{Index, Raw};
use crate::read::when;
use crate::reading::{Failure, Replayability};
use crate::time::Timestamp;
use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// What one layer of a letter tells. Every part may be missing.
#[derive(Debug, Default)]
pub struct Facts {
    /// Why it died.
    pub failure: Failure,
    /// What kind of message it is.
    pub message_type: Option<String>,
    /// Whose it is.
    pub tenant: Option<String>,
    /// The service that sent it first.
    pub producer: Option<String>,
    /// Its version.
    pub producer_version: Option<String>,
    /// The service that failed.
    pub consumer: Option<String>,
    /// Its version.
    pub consumer_version: Option<String>,
    /// The message's id on the main queue.
    pub original_message_id: Option<String>,
    /// The main queue.
    pub main_queue: Option<QueueArn>,
    /// How often it was tried.
    pub attempts: Option<u32>,
    /// When it was tried first.
    pub first_tried_at: Option<Timestamp>,
    /// When it was tried last.
    pub failed_at: Option<Timestamp>,
    /// When it was sent first.
    pub sent_at: Option<Timestamp>,
    /// When it becomes worthless, by the carrier's own word.
    pub deadline: Option<Timestamp>,
    /// Why it cannot be sent back, where it cannot.
    pub not_replayable: Option<Replayability>,
    /// What a person should know about it.
    pub remarks: Vec<String>,
}

impl Facts {
    /// Only a remark.
    pub fn remark(text: impl Into<String>) -> Self {
        Self { remarks: Vec::from([text.into()]), ..Self::default() }
    }

    /// Takes what is still missing: the outer layer was written last and knows best.
    pub fn fill_all(&mut self, mut inner: Self) {
        // A version belongs to the service beside which it stands.
        if self.consumer.is_none() {
            self.consumer = inner.consumer.take();
            take(&mut self.consumer_version, inner.consumer_version.take());
        }
        take(&mut self.original_message_id, inner.original_message_id.take());
        take(&mut self.main_queue, inner.main_queue.take());
        take(&mut self.attempts, inner.attempts);
        take(&mut self.first_tried_at, inner.first_tried_at);
        take(&mut self.failed_at, inner.failed_at);
        self.fill(inner);
    }

    /// Takes what is still missing of what does not depend on which death is told: an older envelope further in must
    /// not lend its queue, its id or its times to this one.
    pub fn fill(&mut self, inner: Self) {
        if self.failure.is_empty() {
            self.failure = inner.failure;
        }
        take(&mut self.message_type, inner.message_type);
        take(&mut self.tenant, inner.tenant);
        take(&mut self.producer, inner.producer);
        take(&mut self.producer_version, inner.producer_version);
        take(&mut self.sent_at, inner.sent_at);
        take(&mut self.deadline, inner.deadline);
        take(&mut self.not_replayable, inner.not_replayable);
        self.remarks.extend(inner.remarks);
    }

    /// Drops names that are too long to be any: a letter's and a group's record hold them beside the body.
    pub fn bound_names(&mut self) {
        let names = [
            &mut self.message_type,
            &mut self.tenant,
            &mut self.producer,
            &mut self.producer_version,
            &mut self.consumer,
            &mut self.consumer_version,
            &mut self.original_message_id,
        ];
        for name in names {
            name.take_if(|text| text.is_empty() || text.len() > NAME_BYTES_MAX);
        }
        self.main_queue.take_if(|arn| arn.as_str().len() > NAME_BYTES_MAX);
    }

    /// Cuts what quotes the letter to the length of a remark.
    pub fn bound_remarks(&mut self) {
        let reason = self.not_replayable.as_mut().and_then(Replayability::reason_mut);
        for text in self.remarks.iter_mut().chain(reason) {
            truncate_on_char(text, REMARK_BYTES_MAX);
        }
    }

    /// What teams write beside an error: `processingContext`, `environmentContext` and their like.
    pub fn in_context(context: &Index<'_>) -> Self {
        Self {
            consumer: context.scalar(CONSUMERS),
            consumer_version: context.scalar(CONSUMER_VERSIONS),
            message_type: context.scalar(MESSAGE_TYPES),
            tenant: context.scalar(TENANTS),
            producer: context.scalar(PRODUCERS),
            producer_version: context.scalar(PRODUCER_VERSIONS),
            attempts: context.scalar(ATTEMPTS).and_then(|n| n.parse().ok()),
            first_tried_at: moment(context.first(FIRST_TRIED)),
            failed_at: moment(context.first(LAST_TRIED)),
            sent_at: moment(context.first(SENT)),
            main_queue: context.scalar(QUEUES).as_deref().and_then(queue_arn),
            original_message_id: context.scalar(MESSAGE_IDS),
            ..Self::default()
        }
    }
}

fn take<T>(mine: &mut Option<T>, theirs: Option<T>) {
    if mine.is_none() {
        *mine = theirs;
    }
}

/// The longest text that is taken as a name, an id or a type, bytes: twice the longest ARN of a queue.
pub const NAME_BYTES_MAX: usize = 256;
/// The longest remark: a sentence with two ARNs in it.
const REMARK_BYTES_MAX: usize = 800;

/// Names of whose a message is.
pub const TENANTS: &[&str] = &[
    "tenant_id",
    "tenantId",
    "tenant",
    "TenantId",
    "tenant-id",
    "x-tenant-id",
    "organization_id",
    "organizationId",
    "org_id",
    "orgId",
];
/// Names of who sent it.
pub const PRODUCERS: &[&str] =
    &["producer", "producerName", "producer_name", "sourceService", "source_service", "publisher"];
/// Names of that one's version.
pub const PRODUCER_VERSIONS: &[&str] =
    &["producer_version", "producerVersion", "sourceVersion", "source_version", "publisherVersion"];
const CONSUMERS: &[&str] = &[
    "consumer",
    "service",
    "serviceName",
    "service_name",
    "consumerName",
    "functionName",
    "function_name",
    "handler",
    "application",
    "processor",
];
const CONSUMER_VERSIONS: &[&str] = &[
    "version",
    "consumerVersion",
    "consumer_version",
    "serviceVersion",
    "service_version",
    "functionVersion",
    "applicationVersion",
    "release",
];
const MESSAGE_TYPES: &[&str] = &["messageType", "eventType", "message_type", "event_type"];
const ATTEMPTS: &[&str] = &[
    "attempts",
    "attemptCount",
    "attempt_count",
    "attemptNumber",
    "retryCount",
    "retry_count",
    "receiveCount",
    "deliveryCount",
];
const FIRST_TRIED: &[&str] =
    &["firstAttemptAt", "first_attempt_at", "firstFailedAt", "firstReceivedAt", "firstAttemptTimestamp"];
const LAST_TRIED: &[&str] = &[
    "failedAt",
    "failed_at",
    "failureTimestamp",
    "lastAttemptAt",
    "last_attempt_at",
    "lastAttemptTimestamp",
    "timestamp",
    "processedAt",
];
const SENT: &[&str] = &["sentAt", "sent_at", "publishedAt", "enqueuedAt", "originalTimestamp"];
const QUEUES: &[&str] = &[
    "queueArn",
    "queue_arn",
    "sourceQueueArn",
    "eventSourceARN",
    "queueUrl",
    "queue_url",
    "sourceQueueUrl",
    "sourceQueue",
];
const MESSAGE_IDS: &[&str] = &["originalMessageId", "original_message_id"];

/// The moment that a field tells.
pub fn moment(raw: Option<Raw<'_>>) -> Option<Timestamp> {
    let raw = raw?;
    let text = raw.as_text().or_else(|| raw.as_number().map(Cow::Borrowed))?;
    when::parse(&text)
}

/// The queue that an ARN or a queue's URL names; none for a bare name, which leaves Region and account open.
pub fn queue_arn(text: &str) -> Option<QueueArn> {
    if text.starts_with("arn:") {
        return (text.split(':').nth(2) == Some("sqs")).then(|| text.into());
    }
    let (host, path) = text.strip_prefix("https://sqs.")?.split_once('/')?;
    let region = host.strip_suffix(".amazonaws.com").or_else(|| host.strip_suffix(".amazonaws.com.cn"))?;
    let (account, name) = path.split_once('/')?;
    let partition = if host.ends_with(".cn") { "aws-cn" } else { "aws" };
    queue_name(name).then(|| alloc::format!("arn:{partition}:sqs:{region}:{account}:{name}").as_str().into())
}

/// The queue of this name beside the dead-letter queue: SQS wants both in one account and Region.
pub fn sibling(dlq: &QueueArn, name: &str) -> Option<QueueArn> {
    let (place, _) = dlq.as_str().rsplit_once(':')?;
    queue_name(name).then(|| alloc::format!("{place}:{name}").as_str().into())
}

/// What SQS allows as a queue's name: 80 letters, digits, `-` and `_`, and `.fifo` at the end.
fn queue_name(name: &str) -> bool {
    let stem = name.strip_suffix(".fifo").unwrap_or(name);
    !stem.is_empty() && name.len() <= 80 && stem.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
}

/// A body inside JSON: a string stands for its text, anything else for itself, byte for byte.
pub fn carried(raw: Raw<'_>) -> Cow<'_, str> {
    raw.as_text().unwrap_or_else(|| Cow::Borrowed(raw.text().trim_end()))
}

/// The last part of an ARN or a path: what people call the thing.
pub fn last_part(text: &str) -> String {
    text.rsplit([':', '/']).next().unwrap_or(text).to_string()
}
