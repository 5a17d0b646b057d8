//! A queue's settings, and the values that SQS accepts.

use domain::id::QueueArn;
use domain::limits::{DELAY_S_MAX, MESSAGE_BYTES_MAX, VISIBILITY_S_MAX};
use domain::time::Span;
use queue::{QueueError, Redrive};

/// The shortest and the longest retention, in seconds (SQS quotas).
const RETENTION_S: (i64, i64) = (60, 14 * 24 * 3600);
/// The smallest and the largest `MaximumMessageSize` of a queue (botocore, SetQueueAttributes).
const MESSAGE_BYTES: (usize, usize) = (1024, MESSAGE_BYTES_MAX);
/// The largest `maxReceiveCount` (botocore, SetQueueAttributes).
const RECEIVES_MAX: u32 = 1000;
/// The longest name of a queue, `.fifo` included (SQS quotas).
const NAME_CHARS_MAX: usize = 80;

/// The attributes of a queue that its owner sets. Its name determines whether it is FIFO.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueSettings {
    /// How long a received message stays invisible: 0 s to 12 h.
    pub visibility_timeout: Span,
    /// How long a message is kept, counted from its first enqueue: 60 s to 14 days.
    pub retention: Span,
    /// The initial delay of messages that set none: 0 to 15 minutes.
    pub delay: Span,
    /// The dead-letter queue, which must exist and have the same type, and `maxReceiveCount`.
    pub redrive: Option<Redrive>,
    /// Whether the SHA-256 of the body replaces a missing deduplication id; FIFO queues only.
    pub content_based_deduplication: bool,
    /// `MaximumMessageSize`: the largest message in bytes, body and attributes together.
    pub message_bytes_max: usize,
}

impl Default for QueueSettings {
    /// Returns the defaults of SQS: 30 s visibility, 4 days retention, no delay, no redrive policy, 1 MiB.
    fn default() -> Self {
        Self {
            visibility_timeout: Span::from_secs(30),
            retention: Span::from_days(4),
            delay: Span::ZERO,
            redrive: None,
            content_based_deduplication: false,
            message_bytes_max: MESSAGE_BYTES_MAX,
        }
    }
}

impl QueueSettings {
    /// Returns the settings with this redrive policy.
    pub fn dead_letters_to(self, dlq: &QueueArn, receives_max: u32) -> Self {
        Self { redrive: Some(Redrive { dlq: dlq.clone(), receives_max }), ..self }
    }

    /// Refuses the values that SQS refuses. The caller checks that the dead-letter queue exists.
    pub(super) fn check(&self, queue: &QueueArn) -> Result<(), QueueError> {
        let refuse = |reason: String| Err(QueueError::Invalid { queue: queue.clone(), reason });
        if !is_name(queue.name()) {
            return refuse("a queue's name must have 1 to 80 letters, digits, hyphens and underscores".into());
        }
        let spans = [
            ("VisibilityTimeout", self.visibility_timeout, (0, VISIBILITY_S_MAX)),
            ("MessageRetentionPeriod", self.retention, RETENTION_S),
            ("DelaySeconds", self.delay, (0, DELAY_S_MAX)),
        ];
        for (name, span, (least, most)) in spans {
            if !within(span, least, most) {
                return refuse(format!("{name} must be {least} to {most} seconds"));
            }
        }
        if !(MESSAGE_BYTES.0..=MESSAGE_BYTES.1).contains(&self.message_bytes_max) {
            return refuse(format!("MaximumMessageSize must be {} to {} bytes", MESSAGE_BYTES.0, MESSAGE_BYTES.1));
        }
        if self.content_based_deduplication && !queue.is_fifo() {
            return refuse("ContentBasedDeduplication is for FIFO queues".into());
        }
        match &self.redrive {
            Some(redrive) if !(1..=RECEIVES_MAX).contains(&redrive.receives_max) => {
                refuse(format!("maxReceiveCount must be 1 to {RECEIVES_MAX}"))
            }
            Some(redrive) if redrive.dlq == *queue => refuse("a queue cannot be its own dead-letter queue".into()),
            Some(redrive) if redrive.dlq.is_fifo() != queue.is_fifo() => {
                refuse(format!("the dead-letter queue {} is not of the same type", redrive.dlq))
            }
            _ => Ok(()),
        }
    }
}

/// Returns whether a span lies between two numbers of seconds, both included.
pub(super) fn within(span: Span, least_s: i64, most_s: i64) -> bool {
    (Span::from_secs(least_s)..=Span::from_secs(most_s)).contains(&span)
}

fn is_name(name: &str) -> bool {
    let stem = name.strip_suffix(".fifo").unwrap_or(name);
    !stem.is_empty()
        && name.len() <= NAME_CHARS_MAX
        && stem.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}
