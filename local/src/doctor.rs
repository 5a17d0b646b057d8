//! `dlo doctor`: examines real queues and their consumers, without deploying anything. It only reads.

use domain::deployment::AttachedConsumer;
use domain::doctor::{Check, Checkup, Fact, QueueFacts, Unchecked, examine};
use domain::id::QueueArn;
use domain::impact::Severity;
use lambda::connect::SdkConfig;
use lambda::consumers::Lambda;
use lambda::queue::SqsQueue;
use office::doctor::{QUEUES_MAX, look};
use office::error::chain;
use queue::QueueError;
use std::fmt::Write;

/// The checks that only a main queue can fail: it needs a dead-letter queue and a consumer that keeps up.
const OF_MAIN_QUEUES: [Check; 3] = [Check::DeadLetterQueue, Check::Visibility, Check::Consumer];

/// Examines the queue with this URL. If other queues name it as their dead-letter queue, those are examined instead, up
/// to [`QUEUES_MAX`].
pub async fn run(aws: &SdkConfig, url: &str) -> Result<Vec<Checkup>, QueueError> {
    let sqs = SqsQueue::new(aws);
    let queue = sqs.at(url).await?;
    let sqs = sqs.with_ages(aws, queue.clone());
    let (sources, unread) = match sqs.sources(&queue).await {
        Ok(sources) => (sources, None),
        Err(error) => (Vec::new(), Some(format!("Cannot tell {}.", unread_sources(&queue, &error)))),
    };
    let mains = if sources.is_empty() { vec![queue] } else { sources };
    let mut checkups = Vec::with_capacity(mains.len());
    for main in mains.into_iter().take(QUEUES_MAX) {
        let (settings, dlq) = look(&sqs, &main).await;
        let checkup = examine(&QueueFacts {
            consumers: consumers(aws, &main).await,
            queue: main,
            settings,
            dlq,
            returns_failures: false,
            failed_starts: Fact::Unknown(
                "Cannot tell whether its consumer can start: only an office receives reports.".into(),
            ),
            letters: Fact::Unknown("Letters were not read. `dlo open` shows why they failed.".into()),
        });
        checkups.push(match &unread {
            Some(reason) => of_unknown_kind(checkup, reason),
            None => checkup,
        });
    }
    Ok(checkups)
}

/// Says that it is unknown whether a queue is a dead-letter queue, why, and which permission the answer needs.
pub(crate) fn unread_sources(queue: &QueueArn, error: &QueueError) -> String {
    let name = queue.name();
    match error {
        QueueError::Denied { .. } => format!(
            "whether {name} is a dead-letter queue: no permission to read which queues name it (sqs:ListDeadLetterSourceQueues)"
        ),
        error => format!(
            "whether {name} is a dead-letter queue, because sqs:ListDeadLetterSourceQueues failed: {}",
            chain(error)
        ),
    }
}

/// Returns the result for a queue that may be a main queue or a dead-letter queue. Without a redrive policy, what is wrong
/// with a main queue may be right here.
fn of_unknown_kind(mut checkup: Checkup, reason: &str) -> Checkup {
    let mut unknown = vec![Check::MainQueue];
    if checkup.dlq.is_none() {
        unknown.extend(OF_MAIN_QUEUES);
        checkup.findings.retain(|finding| !OF_MAIN_QUEUES.contains(&finding.check));
    }
    for check in unknown {
        if !checkup.unchecked.iter().any(|unchecked| unchecked.check == check) {
            checkup.unchecked.push(Unchecked { check, reason: reason.into() });
        }
    }
    checkup.unchecked.sort_by_key(|unchecked| unchecked.check);
    checkup
}

/// Reads which functions consume a queue.
pub(crate) async fn consumers(aws: &SdkConfig, main: &QueueArn) -> Fact<Vec<AttachedConsumer>> {
    let found = match Lambda::new(aws, Vec::new(), true) {
        Ok(lambda) => lambda.consumers(main).await.map_err(|error| chain(&error)),
        Err(error) => Err(chain(&error)),
    };
    found.map_or_else(
        |error| Fact::Unknown(format!("The functions that consume {} could not be read: {error}.", main.name())),
        Fact::Known,
    )
}

/// Returns the word for a level.
pub(crate) fn level(level: Severity) -> &'static str {
    match level {
        Severity::Critical => "CRITICAL",
        Severity::Warning => "WARNING",
        Severity::Info => "INFO",
    }
}

/// Returns the report as text, most severe findings first.
pub fn report(checkups: &[Checkup]) -> String {
    let mut text = String::new();
    for Checkup { queue, dlq, findings, unchecked } in checkups {
        let is_unknown =
            |Unchecked { check, .. }: &Unchecked| matches!(check, Check::MainQueue | Check::DeadLetterQueue);
        let is_unknown = dlq.is_none() && unchecked.iter().any(is_unknown);
        let none = if is_unknown { "dead-letter queue not checked" } else { "no dead-letter queue" };
        let dlq = dlq.as_ref().map_or(none, QueueArn::name);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{} -> {dlq}", queue.name());
        for finding in findings {
            let _ = writeln!(text, "  {}: {}\n    {}", level(finding.level), finding.problem, finding.remedy);
        }
        if findings.is_empty() {
            let where_checked = if is_unknown { " in what was checked" } else { "" };
            let _ = writeln!(text, "  Nothing is wrong{where_checked}.");
        }
        // Several checks may lack the same fact.
        let mut said: Vec<&str> = Vec::new();
        for Unchecked { reason, .. } in unchecked {
            if !said.contains(&reason.as_str()) {
                said.push(reason);
                let _ = writeln!(text, "  Not checked: {reason}");
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::doctor::{Check, Finding, Unchecked};

    #[test]
    fn without_a_redrive_policy_a_queue_of_unknown_kind_is_not_judged_as_a_main_queue() {
        let of_dlq = |dlq: Option<&str>| {
            let finding =
                |check| Finding { check, level: Severity::Warning, problem: String::new(), remedy: String::new() };
            let findings = [Check::DeadLetterQueue, Check::Consumer, Check::Filter].map(finding).into();
            let checkup = Checkup { queue: "orders".into(), dlq: dlq.map(Into::into), findings, unchecked: Vec::new() };
            of_unknown_kind(checkup, "No right.")
        };
        // The dead-letter queue that the redrive policy names; which checks fail, and which are not made.
        let rows = [
            (
                None,
                vec![Check::Filter],
                vec![Check::MainQueue, Check::DeadLetterQueue, Check::Visibility, Check::Consumer],
            ),
            (Some("orders-dlq"), vec![Check::DeadLetterQueue, Check::Consumer, Check::Filter], vec![Check::MainQueue]),
        ];
        for (dlq, failed, unchecked) in rows {
            let checkup = of_dlq(dlq);
            assert_eq!(checkup.findings.iter().map(|finding| finding.check).collect::<Vec<_>>(), failed);
            assert_eq!(checkup.unchecked.iter().map(|unchecked| unchecked.check).collect::<Vec<_>>(), unchecked);
        }
    }

    #[test]
    fn the_report_names_each_queue_its_findings_and_what_was_not_checked() {
        let unchecked = |check, reason: &str| Unchecked { check, reason: reason.into() };
        let ill = Checkup {
            queue: "arn:aws:sqs:eu-west-1:111122223333:orders".into(),
            dlq: None,
            findings: vec![Finding {
                check: Check::DeadLetterQueue,
                level: Severity::Critical,
                problem: "orders has no dead-letter queue.".into(),
                remedy: "Create one.".into(),
            }],
            unchecked: vec![
                unchecked(Check::Visibility, "Lambda did not answer."),
                unchecked(Check::Consumer, "Lambda did not answer."),
                unchecked(Check::Reasons, "Letters were not read."),
            ],
        };
        let well = Checkup {
            queue: "arn:aws:sqs:eu-west-1:111122223333:refunds".into(),
            dlq: Some("arn:aws:sqs:eu-west-1:111122223333:refunds-dlq".into()),
            findings: Vec::new(),
            unchecked: Vec::new(),
        };
        let expected = "\
orders -> no dead-letter queue
  CRITICAL: orders has no dead-letter queue.
    Create one.
  Not checked: Lambda did not answer.
  Not checked: Letters were not read.
refunds -> refunds-dlq
  Nothing is wrong.
";
        assert_eq!(report(&[ill, well]), expected);
    }
}
