//! A queue for unit tests: it takes what its attributes allow, and notes its calls.

use crate::config::ConsumerConfig;
use async_trait::async_trait;
use domain::id::{MessageId, QueueArn};
use domain::limits::MESSAGE_BYTES_MAX;
use domain::message::{Content, SystemAttributes};
use domain::time::{Span, Timestamp};
use queue::{EntryFailure, Outgoing, Queue, QueueAttributes, QueueError, Received, Redrive};
use std::collections::BTreeMap;
use std::future::pending;
use std::sync::{Arc, Mutex};

#[derive(Default)]
pub(crate) struct Fake {
    queues: Mutex<BTreeMap<QueueArn, QueueAttributes>>,
    /// Queues of whose attributes the consumer may know nothing.
    denied: Mutex<Vec<QueueArn>>,
    /// Queues to which the consumer may not send.
    closed: Mutex<Vec<QueueArn>>,
    /// Whether calls other than those for attributes never answer.
    hangs: Mutex<bool>,
    /// Whether calls that read attributes never answer.
    attributes_hang: Mutex<bool>,
    separate: Mutex<Option<Arc<Self>>>,
    calls: Mutex<Vec<String>>,
    sent: Mutex<Vec<(QueueArn, Content)>>,
}

pub(crate) fn arn(name: &str) -> QueueArn {
    QueueArn::new(format!("arn:aws:sqs:eu-west-1:111122223333:{name}"))
}

/// A message that was received so often, of which the handle is its id.
pub(crate) fn received(id: &str, receive_count: u32) -> Received {
    Received {
        message_id: id.into(),
        receipt_handle: id.into(),
        content: Content { body: id.into(), ..Content::default() },
        system: SystemAttributes { receive_count: Some(receive_count), ..SystemAttributes::default() },
    }
}

/// Settings with a clock that stands at the epoch, and the longest waits.
pub(crate) fn config() -> ConsumerConfig {
    ConsumerConfig {
        now: Arc::new(|| Timestamp::from_ms(0)),
        entropy: Arc::new(|| u64::MAX),
        ..ConsumerConfig::new(arn("orders"), "orders", || "v1".into())
    }
}

impl Fake {
    /// Has the main queue `orders`, of which a message dies with its third receive if there is a dead-letter queue.
    pub(crate) fn new(dlq: Option<&str>) -> Self {
        let redrive = dlq.map(|dlq| Redrive { dlq: arn(dlq), receives_max: 3 });
        Self::default().with("orders", MESSAGE_BYTES_MAX, redrive)
    }

    pub(crate) fn with(self, name: &str, message_bytes_max: usize, redrive: Option<Redrive>) -> Self {
        let attributes = QueueAttributes {
            fifo: name.ends_with(".fifo"),
            visibility_timeout: Span::from_mins(10),
            retention: Span::from_days(14),
            message_bytes_max,
            redrive,
            visible_count: 0,
            in_flight_count: 0,
            delayed_count: 0,
        };
        self.queues.lock().expect("no panic").insert(arn(name), attributes);
        self
    }

    pub(crate) fn with_visibility(self, name: &str, visibility_timeout: Span) -> Self {
        let this = self.with(name, MESSAGE_BYTES_MAX, None);
        if let Some(attributes) = this.queues.lock().expect("no panic").get_mut(&arn(name)) {
            attributes.visibility_timeout = visibility_timeout;
        }
        this
    }

    pub(crate) fn denying(self, name: &str) -> Self {
        self.deny(name);
        self
    }

    pub(crate) fn closing(self, name: &str) -> Self {
        self.closed.lock().expect("no panic").push(arn(name));
        self
    }

    /// Has another queue for threads of their own.
    pub(crate) fn with_separate(self, separate: Arc<Self>) -> Self {
        *self.separate.lock().expect("no panic") = Some(separate);
        self
    }

    pub(crate) fn deny(&self, name: &str) {
        self.denied.lock().expect("no panic").push(arn(name));
    }

    pub(crate) fn allow_all(&self) {
        self.denied.lock().expect("no panic").clear();
    }

    pub(crate) fn hang_attributes(&self) {
        *self.attributes_hang.lock().expect("no panic") = true;
    }

    pub(crate) fn hang(&self, hangs: bool) {
        *self.hangs.lock().expect("no panic") = hangs;
    }

    /// The calls since it was asked last.
    pub(crate) fn calls(&self) -> Vec<String> {
        std::mem::take(&mut self.calls.lock().expect("no panic"))
    }

    /// What it took.
    pub(crate) fn sent(&self) -> Vec<(QueueArn, Content)> {
        self.sent.lock().expect("no panic").clone()
    }

    fn hangs(&self) -> bool {
        *self.hangs.lock().expect("no panic")
    }

    fn note(&self, what: String) {
        self.calls.lock().expect("no panic").push(what);
    }

    fn find(&self, queue: &QueueArn) -> Result<QueueAttributes, QueueError> {
        let found = self.queues.lock().expect("no panic").get(queue).cloned();
        found.ok_or_else(|| QueueError::Missing { queue: queue.clone() })
    }
}

#[async_trait]
impl Queue for Fake {
    async fn receive(&self, _: &QueueArn, _: usize, wait: Span, _: Option<Span>) -> Result<Vec<Received>, QueueError> {
        self.note(format!("receives for {} s", wait.as_ms() / 1_000));
        pending().await
    }

    async fn send_batch(
        &self,
        queue: &QueueArn,
        messages: &[Outgoing],
    ) -> Result<Vec<Result<MessageId, EntryFailure>>, QueueError> {
        if self.hangs() {
            self.note(format!("hangs {}", queue.name()));
            return pending().await;
        }
        if self.closed.lock().expect("no panic").contains(queue) {
            return Err(QueueError::Denied { queue: queue.clone(), source: "no right".into() });
        }
        let bytes_max = self.find(queue)?.message_bytes_max;
        let send = |outgoing: &Outgoing| {
            let bytes = outgoing.content.size_bytes();
            let is_taken = bytes <= bytes_max;
            self.note(format!("{} {}", if is_taken { "takes" } else { "refuses" }, queue.name()));
            if is_taken {
                self.sent.lock().expect("no panic").push((queue.clone(), outgoing.content.clone()));
                return Ok("sent".into());
            }
            let (code, reason) = ("InvalidParameterValue".into(), format!("{bytes} bytes are more than {bytes_max}"));
            Err(EntryFailure { code, reason, sender_fault: true })
        };
        Ok(messages.iter().map(send).collect())
    }

    async fn delete_batch(
        &self,
        queue: &QueueArn,
        handles: &[String],
    ) -> Result<Vec<Result<(), EntryFailure>>, QueueError> {
        self.note(format!("deletes {} of {}", handles.join(" "), queue.name()));
        if self.hangs() {
            return pending().await;
        }
        Ok(handles.iter().map(|_| Ok(())).collect())
    }

    async fn change_visibility(&self, _: &QueueArn, handle: &str, visibility: Span) -> Result<(), QueueError> {
        self.note(format!("hides {handle} for {} s", visibility.as_secs_up()));
        if self.hangs() { pending().await } else { Ok(()) }
    }

    async fn attributes(&self, queue: &QueueArn) -> Result<QueueAttributes, QueueError> {
        let hangs = *self.attributes_hang.lock().expect("no panic");
        if hangs {
            return pending().await;
        }
        if self.denied.lock().expect("no panic").contains(queue) {
            return Err(QueueError::Denied { queue: queue.clone(), source: "no right".into() });
        }
        self.find(queue)
    }

    fn separate(&self) -> Option<Arc<dyn Queue>> {
        let separate = self.separate.lock().expect("no panic").clone()?;
        Some(separate)
    }
}
