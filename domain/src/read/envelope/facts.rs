//! The facts that envelopes record besides the failure, and the names that teams use for them.

use crate::id::QueueArn;
use crate::read::json::Raw;
use crate::read::when;
use crate::reading::{Failure, Replayability};
use crate::text::truncate_on_char;
use crate::time::Timestamp;
use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The facts of one layer. Every part may be missing.
#[derive(Debug, Default)]
pub struct Facts {
    /// Why the message died.
    pub failure: Failure,
    /// The message's type.
    pub message_type: Option<String>,
    /// The tenant of the message.
    pub tenant: Option<String>,
    /// The service that first sent it.
    pub producer: Option<String>,
    /// The producer's version.
    pub producer_version: Option<String>,
    /// The service that failed.
    pub consumer: Option<String>,
    /// The consumer's version.
    pub consumer_version: Option<String>,
    /// The message's id on the main queue.
    pub original_message_id: Option<String>,
    /// The main queue.
    pub main_queue: Option<QueueArn>,
    /// The number of attempts.
    pub attempts: Option<u32>,
    /// Time of the first attempt.
    pub first_tried_at: Option<Timestamp>,
    /// Time of the last attempt.
    pub failed_at: Option<Timestamp>,
    /// Time of the first send.
    pub sent_at: Option<Timestamp>,
    /// The deadline that the envelope states.
    pub deadline: Option<Timestamp>,
    /// Where the original is in a body that looks like an error envelope and stays; see `Letter::original_at`.
    pub original_at: Option<String>,
    /// Why it cannot be sent back, if it cannot.
    pub not_replayable: Option<Replayability>,
    /// Remarks for people.
    pub remarks: Vec<String>,
}

impl Facts {
    /// Facts that consist of one remark.
    pub fn remark(text: impl Into<String>) -> Self {
        Self { remarks: Vec::from([text.into()]), ..Self::default() }
    }

    /// Fills in missing facts. The outer layer was written last and takes precedence.
    pub fn fill_all(&mut self, mut inner: Self) {
        // A version belongs to the service next to it.
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

    /// Fills in missing facts that are the same for every death of the message. An older envelope further inside must
    /// not contribute its queue, id or times.
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
        take(&mut self.original_at, inner.original_at);
        take(&mut self.not_replayable, inner.not_replayable);
        self.remarks.extend(inner.remarks);
    }

    /// Drops implausibly long names: the records of letters and groups store names next to the body.
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

    /// Cuts remarks and reasons, which quote the letter, to their maximum length.
    pub fn bound_remarks(&mut self) {
        let reason = self.not_replayable.as_mut().and_then(Replayability::reason_mut);
        for text in self.remarks.iter_mut().chain(reason) {
            truncate_on_char(text, REMARK_BYTES_MAX);
        }
    }
}

fn take<T>(mine: &mut Option<T>, theirs: Option<T>) {
    if mine.is_none() {
        *mine = theirs;
    }
}

/// The longest accepted name, id or type, bytes: more than twice the longest ARN of a queue.
pub const NAME_BYTES_MAX: usize = 256;
/// The longest remark, bytes: a sentence with two ARNs.
const REMARK_BYTES_MAX: usize = 800;

/// Names of the tenant.
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
/// Names of the producer.
pub const PRODUCERS: &[&str] =
    &["producer", "producerName", "producer_name", "sourceService", "source_service", "publisher"];
/// Names of the producer's version.
pub const PRODUCER_VERSIONS: &[&str] =
    &["producer_version", "producerVersion", "sourceVersion", "source_version", "publisherVersion"];

/// Parses a field as a moment.
pub fn moment(raw: Option<Raw<'_>>) -> Option<Timestamp> {
    let raw = raw?;
    let text = raw.as_text().or_else(|| raw.as_number().map(Cow::Borrowed))?;
    when::parse(&text)
}

/// Returns the queue of an ARN or a queue URL; `None` for a bare name, which lacks Region and account.
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

/// Returns the ARN of a queue with this name next to the dead-letter queue: SQS requires both in one account and
/// Region.
pub fn sibling(dlq: &QueueArn, name: &str) -> Option<QueueArn> {
    let (place, _) = dlq.as_str().rsplit_once(':')?;
    queue_name(name).then(|| alloc::format!("{place}:{name}").as_str().into())
}

/// Whether SQS allows this queue name: at most 80 letters, digits, `-` and `_`, with an optional suffix `.fifo`.
fn queue_name(name: &str) -> bool {
    let stem = name.strip_suffix(".fifo").unwrap_or(name);
    !stem.is_empty() && name.len() <= 80 && stem.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
}

/// Returns a body inside JSON: the text of a string, or the JSON of any other value byte for byte.
pub fn carried(raw: Raw<'_>) -> Cow<'_, str> {
    raw.as_text().unwrap_or_else(|| Cow::Borrowed(raw.text().trim_end()))
}

/// Returns the last part of an ARN or a path: the name that people use.
pub fn last_part(text: &str) -> String {
    text.rsplit([':', '/']).next().unwrap_or(text).to_string()
}
