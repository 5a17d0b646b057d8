//! Reports of the consumer on why it failed. In most runs it sends some; they come late, twice, about batches and about
//! messages that never die, and a stranger forges others. In half of these runs the platform says which function consumes
//! the main queue, and a stranger's reports do not count.

use super::fixture::Fixture;
use domain::deployment::AttachedConsumer;
use domain::id::MessageId;
use domain::message::Content;
use domain::report::clues::Clue;
use domain::report::{Report, ReportKind, ReportedError, ReportedMessage};
use domain::time::Span;
use harness::samples::Chance;
use office::consumers::saw_queue;
use queue::{Outgoing, Queue as _, Received};
use std::collections::BTreeSet;

/// The longest delay of a late report in seconds: longer than a message is left for it.
const LATE_S_MAX: usize = 120;
/// The consumer's function, and SQS's `SenderId` of what it sends.
const FUNCTION: &str = "orders-fn";
const SENDER: &str = "AROAGOOD:orders-fn";
/// The same of a stranger who may send to the receipts queue.
const STRANGER: &str = "AROAEVIL:stranger-fn";
/// The error of a deployment that cannot start.
const CANNOT_START: &str = "Runtime.ImportModuleError";
/// The error that a stranger invents.
const INVENTED: &str = "stranger::Invented";

/// Who reports, and what was sent.
pub(super) struct Reporter {
    /// Whether the consumer reports.
    is_on: bool,
    /// Whether the platform says which function consumes the main queue.
    pub is_attached: bool,
    /// Numbers the invocations.
    count: u64,
    /// Messages on the receipts queue that a stranger sent.
    strangers: BTreeSet<MessageId>,
}

impl Reporter {
    pub fn new(chance: &mut Chance) -> Self {
        let (is_on, is_attached) = (chance.below(3) > 0, chance.below(2) == 0);
        Self { is_on, is_attached, count: 0, strangers: BTreeSet::new() }
    }

    /// Returns SQS's `SenderId` of a message on the receipts queue.
    pub fn sender(&self, message: &MessageId) -> &'static str {
        if self.is_strange(message) { STRANGER } else { SENDER }
    }

    pub fn is_strange(&self, message: &MessageId) -> bool {
        self.strangers.contains(message)
    }
}

/// A report of one invocation, without its messages.
fn report(fixture: &mut Fixture, kind: ReportKind, error_type: &str) -> Report {
    fixture.reporter.count += 1;
    let error = ReportedError {
        error_type: Some(error_type.into()),
        message: Some(format!("{error_type} in {FUNCTION}")),
        stack: None,
    };
    Report {
        version: Some(format!("v{}", fixture.version)),
        queue: Some(fixture.main.clone()),
        error: Some(error),
        instance: Some(format!("instance-{}", fixture.chance.below(4))),
        ..Report::new(kind, FUNCTION, format!("request-{}", fixture.reporter.count), fixture.now())
    }
}

/// Reports a message that the consumer failed on, sometimes with others of its batch, which may have succeeded.
pub(super) async fn failed(fixture: &mut Fixture, message: &Received, batch: &[MessageId], error: &str) {
    if !fixture.reporter.is_on || fixture.chance.below(6) == 0 {
        return;
    }
    let kinds = [ReportKind::Error, ReportKind::Error, ReportKind::Partial, ReportKind::Crash];
    let kind = kinds[fixture.chance.below(kinds.len())];
    let mut truth = report(fixture, kind, error);
    let is_whole = fixture.chance.below(4) == 0;
    let named = batch.iter().filter(|id| is_whole || **id == message.message_id);
    truth.messages = named.map(|id| ReportedMessage::new(id.clone())).collect();
    if fixture.chance.below(3) == 0 {
        let at = fixture.chance.below(truth.messages.len());
        truth.messages[at].clue = Some(if fixture.chance.below(2) == 0 { Clue::Named } else { Clue::Value });
    }
    truth.batch_size = u32::try_from(batch.len()).ok();
    let delay_s = match fixture.chance.below(4) {
        0 => fixture.chance.below(LATE_S_MAX) as i64,
        _ => 0,
    };
    send(fixture, &truth, delay_s, false).await;
    if fixture.chance.below(5) == 0 {
        send(fixture, &truth, delay_s, false).await;
    }
    if fixture.chance.below(6) == 0 {
        forge(fixture, &message.message_id).await;
    }
}

/// Reports a message as timed out although it succeeds, and withdraws that in half of the cases.
pub(super) async fn succeeded(fixture: &mut Fixture, message: &Received) {
    if !fixture.reporter.is_on || fixture.chance.below(12) > 0 {
        return;
    }
    let mut early = report(fixture, ReportKind::Timeout, "Sandbox.Timedout");
    early.messages = vec![ReportedMessage::new(message.message_id.clone())];
    send(fixture, &early, 0, false).await;
    if fixture.chance.below(2) == 0 {
        let withdrawn = Report { kind: ReportKind::Withdrawn, error: None, ..early };
        let delay_s = fixture.chance.below(3) as i64;
        send(fixture, &withdrawn, delay_s, false).await;
    }
}

/// Reports that the consumer cannot start, as often as Lambda tries.
pub(super) async fn could_not_start(fixture: &mut Fixture) {
    if !fixture.reporter.is_on || fixture.chance.below(2) == 0 {
        return;
    }
    for _ in 0..=fixture.chance.below(3) {
        let mut start = report(fixture, ReportKind::Init, CANNOT_START);
        // Before its first event a function does not know its queue.
        if fixture.reporter.is_attached {
            start.queue = None;
        }
        let delay_s = fixture.chance.below(10) as i64;
        send(fixture, &start, delay_s, false).await;
    }
}

/// A stranger invents an error for a message, and a main queue for it in some cases.
async fn forge(fixture: &mut Fixture, message: &MessageId) {
    let mut lie = report(fixture, ReportKind::Error, INVENTED);
    lie.messages = vec![ReportedMessage::new(message.clone())];
    if fixture.chance.below(4) == 0 {
        lie.queue = Some(fixture.steps.clone());
    }
    send(fixture, &lie, 0, true).await;
}

async fn send(fixture: &mut Fixture, report: &Report, delay_s: i64, is_strange: bool) {
    fixture.checker.reported(report, is_strange);
    for body in report.parts() {
        let content = Content { body, ..Content::default() };
        let outgoing = Outgoing { content, delay: Span::from_secs(delay_s), ..Outgoing::default() };
        let sent = fixture.queue.send_batch(&fixture.receipts, &[outgoing]).await.expect("the receipts queue");
        let ids = sent.into_iter().map(|sent| sent.expect("a report is sent"));
        if is_strange {
            fixture.reporter.strangers.extend(ids);
        } else {
            ids.for_each(drop);
        }
    }
}

/// The sweep asks the platform which functions consume the main queue.
pub(super) async fn look(fixture: &mut Fixture) {
    if !fixture.reporter.is_attached {
        return;
    }
    let process = fixture.process();
    let consumer = AttachedConsumer {
        service: super::orders::SERVICE.into(),
        function: Some(FUNCTION.into()),
        enabled: true,
        state: "Enabled".into(),
        ..AttachedConsumer::default()
    };
    // The next look makes up for a failed one.
    let _ = saw_queue(&process.office, &fixture.main, vec![consumer]).await;
}
