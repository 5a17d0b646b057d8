//! `dlo doctor`: examines real queues and their consumers, without deploying anything. It only reads.

use domain::deployment::AttachedConsumer;
use domain::doctor::{Checkup, Fact, QueueFacts, examine};
use domain::id::QueueArn;
use domain::impact::Severity;
use lambda::connect::SdkConfig;
use lambda::consumers::Lambda;
use lambda::queue::SqsQueue;
use office::doctor::{QUEUES_MAX, look};
use office::error::chain;
use queue::QueueError;
use std::fmt::Write;

/// Examines the queue with this URL. If other queues name it as their dead-letter queue, those are examined instead, up
/// to [`QUEUES_MAX`].
pub async fn run(aws: &SdkConfig, url: &str) -> Result<Vec<Checkup>, QueueError> {
    let sqs = SqsQueue::new(aws);
    let queue = sqs.at(url).await?;
    let sqs = sqs.with_ages(aws, queue.clone());
    let sources = sqs.sources(&queue).await.unwrap_or_else(|error| {
        tracing::warn!(%queue, error = chain(&error), "cannot tell whether this is a dead-letter queue; examining it as a main queue");
        Vec::new()
    });
    let mains = if sources.is_empty() { vec![queue] } else { sources };
    let mut checkups = Vec::with_capacity(mains.len());
    for main in mains.into_iter().take(QUEUES_MAX) {
        let (settings, dlq) = look(&sqs, &main).await;
        checkups.push(examine(&QueueFacts {
            consumers: consumers(aws, &main).await,
            queue: main,
            settings,
            dlq,
            returns_failures: false,
            failed_starts: Fact::Unknown(
                "Cannot tell whether its consumer can start: only an office receives reports.".into(),
            ),
            letters: Fact::Unknown("Letters were not read. `dlo open` shows why they failed.".into()),
        }));
    }
    Ok(checkups)
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
        let dlq = dlq.as_ref().map_or("no dead-letter queue", QueueArn::name);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{} -> {dlq}", queue.name());
        for finding in findings {
            let _ = writeln!(text, "  {}: {}\n    {}", level(finding.level), finding.problem, finding.remedy);
        }
        if findings.is_empty() {
            let _ = writeln!(text, "  Nothing is wrong.");
        }
        // Several checks may lack the same fact.
        let mut reasons: Vec<&str> = unchecked.iter().map(|unchecked| unchecked.reason.as_str()).collect();
        reasons.dedup();
        for reason in reasons {
            let _ = writeln!(text, "  Not checked: {reason}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::doctor::{Check, Finding, Unchecked};

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
