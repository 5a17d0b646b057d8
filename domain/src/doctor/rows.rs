//! One row per check: what is wrong, what it does to messages, and what mends it.

use super::{Check, DlqFacts, Fact, Judged, QueueFacts, QueueSettings};
use crate::deployment::AttachedConsumer;
use crate::id::QueueArn;
use crate::impact::Severity;
use crate::limits::RETENTION_MAX;
use crate::policy::Policy;
use crate::read::classify_failure;
use crate::reading::Failure;
use crate::report::ReportedError;
use crate::reported::FailedStarts;
use crate::time::Span;
use Judged::{Fine, Unchecked, Wrong};
use alloc::format;
use alloc::string::String;

/// The highest `maxReceiveCount` that raises no finding: with SQS's default visibility timeout of 30 s, a message that
/// always fails then blocks its consumer for five minutes.
const RECEIVES_HIGH: u32 = 10;
/// The value to recommend: AWS Lambda's documentation asks for at least five ("Creating and configuring an Amazon SQS
/// event source mapping").
const RECEIVES_ADVISED: u32 = 5;
/// A queue's visibility timeout, as a multiple of the function's timeout (the same page).
const VISIBILITY_PER_TIMEOUT: i64 = 6;
/// The timeout of the function `intake` in the template. Lambda refuses a mapping to a queue whose visibility timeout
/// is shorter.
const INTAKE_TIMEOUT: Span = Span::from_secs(30);
/// The retention to recommend for a main queue: SQS's default, far below [`RETENTION_MAX`].
const MAIN_RETENTION_ADVISED: Span = Span::from_days(4);

/// Lambda's name of a version that is not published.
const UNPUBLISHED: &str = "$LATEST";

pub(super) fn judge(check: Check, facts: &QueueFacts) -> Judged {
    match check {
        Check::MainQueue => main_queue(facts),
        Check::DeadLetterQueue => of_main(facts, dead_letter_queue),
        Check::DeadLetterChain => of_dlq(facts, chain),
        Check::Watched => facts.dlq.as_ref().map_or(Fine, watched),
        Check::Retention => of_dlq(facts, retention),
        Check::RetentionOrder => {
            of_dlq(facts, |dlq, settings| of_main(facts, |facts, main| retention_order(facts, main, dlq, settings)))
        }
        Check::IntakeVisibility => of_dlq(facts, intake_visibility),
        Check::Visibility => {
            of_main(facts, |facts, main| of_consumers(facts, |consumer| visibility(facts, main, consumer)))
        }
        Check::ReceivesMin => of_main(facts, receives_min),
        Check::ReceivesMax => of_main(facts, receives_max),
        Check::Alarm => facts.dlq.as_ref().map_or(Fine, alarm),
        Check::Consumer => consumer(facts),
        Check::Start => start(facts),
        Check::Failures => of_consumers(facts, |consumer| failures(facts, consumer)),
        Check::Filter => of_consumers(facts, filter),
        Check::Reasons => reasons(facts),
    }
}

/// Judges by the main queue's settings. The row [`Check::MainQueue`] says if they are missing or could not be read.
fn of_main<'a>(facts: &'a QueueFacts, row: impl FnOnce(&'a QueueFacts, &'a QueueSettings) -> Judged) -> Judged {
    facts.settings.known().map_or(Fine, |settings| row(facts, settings))
}

/// Judges by the dead-letter queue's settings. The row [`Check::DeadLetterQueue`] says if it does not exist.
fn of_dlq<'a>(facts: &'a QueueFacts, row: impl FnOnce(&'a DlqFacts, &'a QueueSettings) -> Judged) -> Judged {
    let Some(dlq) = &facts.dlq else { return Fine };
    match &dlq.settings {
        Fact::Known(settings) => row(dlq, settings),
        Fact::Missing => Fine,
        Fact::Unknown(reason) => Unchecked(reason.clone()),
    }
}

/// Judges by each consumer, and returns the first that is not fine.
fn of_consumers<'a>(facts: &'a QueueFacts, row: impl Fn(&'a AttachedConsumer) -> Judged) -> Judged {
    match &facts.consumers {
        Fact::Known(consumers) => consumers.iter().map(row).find(|judged| !matches!(judged, Fine)).unwrap_or(Fine),
        Fact::Missing => Fine,
        Fact::Unknown(reason) => Unchecked(reason.clone()),
    }
}

fn main_queue(facts: &QueueFacts) -> Judged {
    let name = facts.queue.name();
    match &facts.settings {
        Fact::Known(_) => Fine,
        Fact::Missing => Wrong(
            Severity::Critical,
            format!("The main queue {name} does not exist, so its letters cannot be replayed."),
            "Create the queue again under the same name, or remove it from MainQueueArns.".into(),
        ),
        Fact::Unknown(reason) => Unchecked(reason.clone()),
    }
}

fn dead_letter_queue(facts: &QueueFacts, main: &QueueSettings) -> Judged {
    let name = facts.queue.name();
    if main.redrive.is_none() {
        return Wrong(
            Severity::Critical,
            format!(
                "{name} has no dead-letter queue: a message that always fails is tried until its retention ends after {}, and is then lost.",
                words(main.retention)
            ),
            format!(
                "Create a dead-letter queue with a retention of 14 days, and give {name} a redrive policy with maxReceiveCount {RECEIVES_ADVISED}."
            ),
        );
    }
    match &facts.dlq {
        Some(DlqFacts { queue, settings: Fact::Missing, .. }) => Wrong(
            Severity::Critical,
            format!(
                "The redrive policy of {name} names {}, which does not exist: failed messages are lost.",
                queue.name()
            ),
            format!("Create {} again with a retention of 14 days, or change the redrive policy.", queue.name()),
        ),
        _ => Fine,
    }
}

fn chain(dlq: &DlqFacts, settings: &QueueSettings) -> Judged {
    let Some((next, receives)) = &settings.redrive else { return Fine };
    let (name, next) = (dlq.queue.name(), next.name());
    Wrong(
        Severity::Warning,
        format!(
            "{name} has a dead-letter queue itself: after {receives} receives, letters move to {next}, where the office does not see them."
        ),
        format!("Remove the redrive policy of {name}."),
    )
}

fn watched(dlq: &DlqFacts) -> Judged {
    if dlq.watched != Some(false) {
        return Fine;
    }
    let name = dlq.queue.name();
    Wrong(
        Severity::Info,
        format!("No office watches {name}: its letters are lost when its retention ends, unless somebody looks."),
        "Add the queue to the stack (SecondDeadLetterQueueArn, ThirdDeadLetterQueueArn), or attach it with `dlo attach`.".into(),
    )
}

fn retention(dlq: &DlqFacts, settings: &QueueSettings) -> Judged {
    if settings.retention >= RETENTION_MAX {
        return Fine;
    }
    let name = dlq.queue.name();
    Wrong(
        Severity::Warning,
        format!(
            "{name} keeps messages for only {}. Messages that nothing receives in that time are lost.",
            words(settings.retention)
        ),
        format!("Set the retention (MessageRetentionPeriod) of {name} to 1209600, which is 14 days."),
    )
}

fn retention_order(facts: &QueueFacts, main: &QueueSettings, dlq: &DlqFacts, settings: &QueueSettings) -> Judged {
    // A move between FIFO queues starts the retention anew.
    if facts.queue.is_fifo() || settings.retention > main.retention {
        return Fine;
    }
    let (name, dlq) = (facts.queue.name(), dlq.queue.name());
    Wrong(
        Severity::Critical,
        format!(
            "{dlq} keeps messages for {}, and {name} for {}. On a standard queue both count from the first send, so a message can be lost as soon as it is dead-lettered.",
            words(settings.retention),
            words(main.retention)
        ),
        format!(
            "Set the retention of {dlq} to 14 days, and that of {name} to less, for example {}.",
            words(MAIN_RETENTION_ADVISED)
        ),
    )
}

fn intake_visibility(dlq: &DlqFacts, settings: &QueueSettings) -> Judged {
    let (name, timeout) = (dlq.queue.name(), settings.visibility_timeout);
    if timeout < INTAKE_TIMEOUT {
        return Wrong(
            Severity::Critical,
            format!(
                "The visibility timeout of {name} is {}. Lambda refuses to let the office receive from it, because the function intake may run for {}.",
                words(timeout),
                words(INTAKE_TIMEOUT)
            ),
            format!("Set the visibility timeout of {name} to {}.", words(INTAKE_TIMEOUT.times(VISIBILITY_PER_TIMEOUT))),
        );
    }
    Fine
}

fn visibility(facts: &QueueFacts, main: &QueueSettings, consumer: &AttachedConsumer) -> Judged {
    let Some(timeout) = consumer.timeout else {
        return Unchecked(format!("The timeout of {} is unknown: see ConsumerFunctionArns.", consumer.service));
    };
    let advised = timeout.times(VISIBILITY_PER_TIMEOUT);
    if main.visibility_timeout >= advised {
        return Fine;
    }
    let (name, service) = (facts.queue.name(), &consumer.service);
    Wrong(
        Severity::Warning,
        format!(
            "The visibility timeout of {name} is {}, less than six times the timeout of {service} ({}). Messages come back while they wait for the function, and are dead-lettered without a failure.",
            words(main.visibility_timeout),
            words(timeout)
        ),
        format!("Set the visibility timeout of {name} to at least {}.", words(advised)),
    )
}

fn receives_min(facts: &QueueFacts, main: &QueueSettings) -> Judged {
    match &main.redrive {
        Some((_, 1)) => Wrong(
            Severity::Warning,
            format!(
                "maxReceiveCount of {} is 1: one timeout, throttle or deployment dead-letters a message.",
                facts.queue.name()
            ),
            format!("Set maxReceiveCount to {RECEIVES_ADVISED}."),
        ),
        _ => Fine,
    }
}

fn receives_max(facts: &QueueFacts, main: &QueueSettings) -> Judged {
    match &main.redrive {
        Some((_, receives)) if *receives > RECEIVES_HIGH => Wrong(
            Severity::Warning,
            format!(
                "maxReceiveCount of {} is {receives}: a message that always fails is tried for up to {} before anybody sees it.",
                facts.queue.name(),
                words(main.visibility_timeout.times(i64::from(*receives)))
            ),
            format!("Set maxReceiveCount to {RECEIVES_ADVISED}."),
        ),
        _ => Fine,
    }
}

fn alarm(dlq: &DlqFacts) -> Judged {
    let name = dlq.queue.name();
    match &dlq.alarms {
        Fact::Known(0) => Wrong(
            Severity::Warning,
            format!("No CloudWatch alarm watches {name}, so nobody is told when messages arrive there."),
            format!(
                "Add an alarm on NumberOfMessagesReceived of {name} if the office watches it, and on ApproximateNumberOfMessagesVisible otherwise. Alarms on expressions are not seen here."
            ),
        ),
        Fact::Unknown(reason) => Unchecked(reason.clone()),
        Fact::Known(_) | Fact::Missing => Fine,
    }
}

fn consumer(facts: &QueueFacts) -> Judged {
    let name = facts.queue.name();
    match &facts.consumers {
        Fact::Unknown(reason) => Unchecked(reason.clone()),
        Fact::Missing => Fine,
        Fact::Known(consumers) => match consumers.first() {
            None => Unchecked(format!("No function consumes {name}. This check cannot see consumers elsewhere.")),
            Some(first) if consumers.iter().all(|consumer| !consumer.enabled) => Wrong(
                Severity::Critical,
                format!(
                    "No consumer receives messages from {name}: its consumer {} is {}.",
                    first.service,
                    first.state.to_lowercase()
                ),
                format!("Enable the event source mapping of {}.", first.service),
            ),
            Some(_) => Fine,
        },
    }
}

/// Says that a deployment cannot start, and why, in one line. This leaves the office as an alert, so the error is its title
/// as a group's: what varies in its message, which may be a secret or a customer's, is masked.
pub fn cannot_start(starts: &FailedStarts) -> String {
    let report = &starts.report;
    let named = |version: &&String| version.as_str() != UNPUBLISHED;
    let version = report.version.as_ref().filter(named).map(|version| format!(" {version}")).unwrap_or_default();
    let ReportedError { error_type, message, .. } = report.error.clone().unwrap_or_default();
    let failure = Failure { error_type, message, ..Failure::default() };
    let title = || format!(": {}", classify_failure(&failure, None, &Policy::default()).title);
    let cause = if failure.is_empty() { String::new() } else { title() };
    format!("{}{version} cannot start{cause}", report.function_name())
}

/// Says what to do about it.
pub fn make_it_start(starts: &FailedStarts, queue: &QueueArn) -> String {
    format!(
        "Roll back the last deployment of {}, or repair it. Until it starts, messages of {} are dead-lettered untouched; replay them afterwards.",
        starts.report.function_name(),
        queue.name()
    )
}

fn start(facts: &QueueFacts) -> Judged {
    match &facts.failed_starts {
        Fact::Known(Some(starts)) => {
            Wrong(Severity::Critical, format!("{}.", cannot_start(starts)), make_it_start(starts, &facts.queue))
        }
        Fact::Unknown(reason) => Unchecked(reason.clone()),
        Fact::Known(None) | Fact::Missing => Fine,
    }
}

/// Says that a mapping ignores the failed messages which its function returns.
pub fn ignored_failures(service: &str) -> String {
    format!(
        "Messages are lost: {service} returns the messages that failed, and its event source mapping ignores that, so Lambda deletes them."
    )
}

/// Says what to do about it.
pub fn heed_failures(service: &str) -> String {
    format!("Add ReportBatchItemFailures to FunctionResponseTypes of the event source mapping of {service}.")
}

fn failures(facts: &QueueFacts, consumer: &AttachedConsumer) -> Judged {
    let service = &consumer.service;
    let remedy = heed_failures(service);
    match (consumer.reports_failures, consumer.batch_size) {
        (Some(false), _) if facts.returns_failures => Wrong(Severity::Critical, ignored_failures(service), remedy),
        (Some(false), Some(size)) if size > 1 => Wrong(
            Severity::Warning,
            format!(
                "{service} receives up to {size} messages at once, and if one fails, all of them fail. If it returns a list of failed messages, Lambda ignores it and deletes them."
            ),
            remedy,
        ),
        (None, _) => Unchecked(format!("The event source mapping of {service} was not read.")),
        _ => Fine,
    }
}

fn filter(consumer: &AttachedConsumer) -> Judged {
    let service = &consumer.service;
    match consumer.filters {
        Some(true) => Wrong(
            Severity::Warning,
            format!(
                "The event source mapping of {service} has filter criteria: Lambda deletes every message that does not match."
            ),
            "Remove the filter criteria, unless messages that do not match may be lost.".into(),
        ),
        Some(false) => Fine,
        None => Unchecked(format!("The event source mapping of {service} was not read.")),
    }
}

fn reasons(facts: &QueueFacts) -> Judged {
    match &facts.letters {
        Fact::Known(seen) if seen.without_reason > 0 => Wrong(
            Severity::Info,
            format!(
                "{} of {} open letters of {} do not say why they failed.",
                seen.without_reason,
                seen.open,
                facts.queue.name()
            ),
            "Add the layer witness to the consumer (`dlo witness add`), or use the crate consumer.".into(),
        ),
        Fact::Unknown(reason) => Unchecked(reason.clone()),
        Fact::Known(_) | Fact::Missing => Fine,
    }
}

/// Returns a length of time in its largest whole unit.
fn words(span: Span) -> String {
    let s = span.as_secs_up();
    let (n, unit) = match s {
        s if s >= 172_800 && s % 86_400 == 0 => (s / 86_400, "days"),
        s if s >= 7_200 && s % 3_600 == 0 => (s / 3_600, "hours"),
        s if s >= 120 && s % 60 == 0 => (s / 60, "minutes"),
        1 => (1, "second"),
        s => (s, "seconds"),
    };
    format!("{n} {unit}")
}
