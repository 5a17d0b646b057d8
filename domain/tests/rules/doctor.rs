//! Each row is a queue with one fault, and what the doctor says about it.

use domain::deployment::AttachedConsumer;
use domain::doctor::{Check, Checkup, DlqFacts, Fact, LettersSeen, QueueFacts, QueueSettings, cannot_start, examine};
use domain::impact::Severity::{self, Critical, Info, Warning};
use domain::report::{Report, ReportKind, ReportedError};
use domain::reported::FailedStarts;
use domain::time::{Span, Timestamp};
use std::collections::BTreeSet;

/// Changes healthy facts.
type Fault = fn(&mut QueueFacts);

/// A queue with which nothing is wrong, and about which everything is known.
fn healthy() -> QueueFacts {
    let settings = |visibility_s, days, redrive| QueueSettings {
        visibility_timeout: Span::from_secs(visibility_s),
        retention: Span::from_days(days),
        redrive,
    };
    let dlq = || "arn:aws:sqs:eu-west-1:111122223333:orders-dlq".into();
    QueueFacts {
        queue: "arn:aws:sqs:eu-west-1:111122223333:orders".into(),
        settings: Fact::Known(settings(180, 4, Some((dlq(), 5)))),
        dlq: Some(DlqFacts {
            queue: dlq(),
            settings: Fact::Known(settings(180, 14, None)),
            alarms: Fact::Known(1),
            watched: Some(true),
        }),
        consumers: Fact::Known(vec![AttachedConsumer {
            service: "orders-fn".into(),
            function: Some("orders-fn".into()),
            log_group: None,
            enabled: true,
            state: "Enabled".into(),
            timeout: Some(Span::from_secs(30)),
            batch_size: Some(10),
            reports_failures: Some(true),
            filters: Some(false),
        }]),
        returns_failures: false,
        failed_starts: Fact::Known(None),
        letters: Fact::Known(LettersSeen { open: 7, without_reason: 0 }),
    }
}

fn main(facts: &mut QueueFacts) -> &mut QueueSettings {
    let Fact::Known(settings) = &mut facts.settings else { panic!("healthy queues have settings") };
    settings
}

fn dlq(facts: &mut QueueFacts) -> &mut DlqFacts {
    facts.dlq.as_mut().expect("healthy queues have a dead-letter queue")
}

fn dlq_settings(facts: &mut QueueFacts) -> &mut QueueSettings {
    let Fact::Known(settings) = &mut dlq(facts).settings else { panic!("healthy queues have settings") };
    settings
}

fn consumer(facts: &mut QueueFacts) -> &mut AttachedConsumer {
    let Fact::Known(consumers) = &mut facts.consumers else { panic!("healthy queues have consumers") };
    &mut consumers[0]
}

fn failed_starts() -> FailedStarts {
    let error = ReportedError {
        error_type: Some("Runtime.ImportModuleError".into()),
        message: Some("No module named 'prices'\nTraceback".into()),
        stack: None,
    };
    let at = Timestamp::from_ms(0);
    let arn = "arn:aws:lambda:eu-west-1:111122223333:function:orders-fn";
    let report =
        Report { version: Some("8".into()), error: Some(error), ..Report::new(ReportKind::Init, arn, "init", at) };
    FailedStarts { report, first_at: at, last_at: at, repeated: true, is_over: false, alerted_at: None }
}

#[test]
fn what_is_said_of_a_start_that_fails_masks_what_varies() {
    let said = |error: Option<(&str, &str)>| {
        let mut starts = failed_starts();
        starts.report.error = error.map(|(error_type, message)| ReportedError {
            error_type: Some(error_type.into()),
            message: Some(message.into()),
            stack: None,
        });
        cannot_start(&starts)
    };
    assert_eq!(said(None), "orders-fn 8 cannot start");
    let secret = "connection to postgres://admin:s3cr3t-9f8e7d@10.4.2.17:5432/orders failed for tenant 48151623";
    let line = said(Some(("OperationalError", secret)));
    assert!(line.starts_with("orders-fn 8 cannot start: OperationalError: connection to "), "{line}");
    assert!(["s3cr3t", "10.4.2.17", "48151623"].iter().all(|part| !line.contains(part)), "{line}");
    let long = format!("the setting is wrong: {}", "word ".repeat(200));
    assert!(said(Some(("ConfigError", &long))).len() < 300);
}

/// The fault, the check that finds it, its level, a part of the problem, a part of the remedy.
const FAULTS: &[(Fault, Check, Severity, &str, &str)] = &[
    (|f| f.settings = Fact::Missing, Check::MainQueue, Critical, "orders does not exist", "MainQueueArns"),
    (
        |f| {
            main(f).redrive = None;
            f.dlq = None;
        },
        Check::DeadLetterQueue,
        Critical,
        "orders has no dead-letter queue: a message that always fails is tried until its retention ends after 4 days",
        "maxReceiveCount 5",
    ),
    (
        |f| dlq(f).settings = Fact::Missing,
        Check::DeadLetterQueue,
        Critical,
        "orders-dlq, which does not exist",
        "Create orders-dlq again",
    ),
    (
        |f| dlq_settings(f).redrive = Some(("arn:aws:sqs:eu-west-1:111122223333:attic".into(), 3)),
        Check::DeadLetterChain,
        Warning,
        "after 3 receives, letters move to attic",
        "Remove the redrive policy of orders-dlq",
    ),
    (
        |f| dlq(f).watched = Some(false),
        Check::Watched,
        Info,
        "No office watches orders-dlq",
        "SecondDeadLetterQueueArn",
    ),
    (|f| dlq_settings(f).retention = Span::from_days(13), Check::Retention, Warning, "13 days", "1209600"),
    (
        |f| main(f).retention = Span::from_days(14),
        Check::RetentionOrder,
        Critical,
        "orders-dlq keeps messages for 14 days, and orders for 14 days",
        "for example 4 days",
    ),
    (
        |f| dlq_settings(f).visibility_timeout = Span::from_secs(29),
        Check::IntakeVisibility,
        Critical,
        "orders-dlq is 29 seconds",
        "to 3 minutes",
    ),
    (
        |f| consumer(f).timeout = Some(Span::from_secs(31)),
        Check::Visibility,
        Warning,
        "orders is 3 minutes, less than six times the timeout of orders-fn (31 seconds)",
        "at least 186 seconds",
    ),
    (|f| main(f).redrive.as_mut().unwrap().1 = 1, Check::ReceivesMin, Warning, "is 1", "maxReceiveCount to 5"),
    (
        |f| main(f).redrive.as_mut().unwrap().1 = 11,
        Check::ReceivesMax,
        Warning,
        "is 11: a message that always fails is tried for up to 33 minutes",
        "maxReceiveCount to 5",
    ),
    (|f| dlq(f).alarms = Fact::Known(0), Check::Alarm, Warning, "No CloudWatch alarm", "NumberOfMessagesReceived"),
    (
        |f| {
            consumer(f).enabled = false;
            consumer(f).state = "Disabled".into();
        },
        Check::Consumer,
        Critical,
        "its consumer orders-fn is disabled",
        "Enable the event source mapping",
    ),
    (
        |f| f.failed_starts = Fact::Known(Some(failed_starts())),
        Check::Start,
        Critical,
        "orders-fn 8 cannot start: ImportModuleError: No module named 'prices'",
        "Roll back the last deployment of orders-fn",
    ),
    (
        |f| consumer(f).reports_failures = Some(false),
        Check::Failures,
        Warning,
        "up to 10 messages at once",
        "ReportBatchItemFailures",
    ),
    (
        |f| {
            f.returns_failures = true;
            consumer(f).reports_failures = Some(false);
            consumer(f).batch_size = Some(1);
        },
        Check::Failures,
        Critical,
        "Messages are lost",
        "ReportBatchItemFailures",
    ),
    (|f| consumer(f).filters = Some(true), Check::Filter, Warning, "filter criteria", "Remove the filter"),
    (
        |f| f.letters = Fact::Known(LettersSeen { open: 7, without_reason: 3 }),
        Check::Reasons,
        Info,
        "3 of 7 open letters of orders",
        "dlo witness add",
    ),
];

fn examined(fault: Fault) -> Checkup {
    let mut facts = healthy();
    fault(&mut facts);
    examine(&facts)
}

#[test]
fn each_fault_is_found_alone_and_named_with_its_remedy() {
    for (fault, check, level, problem, remedy) in FAULTS {
        let checkup = examined(*fault);
        let [finding] = checkup.findings.as_slice() else { panic!("{check:?}: {:#?}", checkup.findings) };
        assert_eq!((finding.check, finding.level), (*check, *level), "{}", finding.problem);
        assert!(finding.problem.contains(problem), "{check:?}: {}", finding.problem);
        assert!(finding.remedy.contains(remedy), "{check:?}: {}", finding.remedy);
        assert_eq!(checkup.unchecked, [], "{check:?}");
    }
}

#[test]
fn every_check_has_a_fault_that_it_finds() {
    let found: BTreeSet<Check> = FAULTS.iter().map(|(_, check, ..)| *check).collect();
    assert_eq!(found, BTreeSet::from(Check::ALL));
    assert_eq!(Check::ALL.iter().collect::<BTreeSet<_>>().len(), Check::ALL.len());
}

#[test]
fn nothing_is_wrong_at_the_edge_of_each_rule() {
    let fine: &[Fault] = &[
        |_| {},
        |f| dlq_settings(f).visibility_timeout = Span::from_secs(30),
        |f| main(f).redrive.as_mut().unwrap().1 = 2,
        |f| main(f).redrive.as_mut().unwrap().1 = 10,
        |f| main(f).retention = Span::from_secs(14 * 86_400 - 1),
        // One message at a time cannot fail others.
        |f| {
            consumer(f).reports_failures = Some(false);
            consumer(f).batch_size = Some(1);
        },
        // A move between FIFO queues starts the retention anew.
        |f| {
            f.queue = "arn:aws:sqs:eu-west-1:111122223333:orders.fifo".into();
            main(f).retention = Span::from_days(14);
        },
        // No office was asked.
        |f| dlq(f).watched = None,
        // A second consumer works.
        |f| {
            let second = consumer(f).clone();
            consumer(f).enabled = false;
            let Fact::Known(consumers) = &mut f.consumers else { unreachable!() };
            consumers.push(second);
        },
    ];
    for (row, fault) in fine.iter().enumerate() {
        let checkup = examined(*fault);
        assert_eq!((checkup.findings, checkup.unchecked), (vec![], vec![]), "row {row}");
    }
}

#[test]
fn what_could_not_be_read_is_unchecked_and_never_fine() {
    let why = || Fact::Unknown("It may not be read.".into());
    let unknown = QueueFacts {
        consumers: why(),
        failed_starts: Fact::Unknown("It may not be read.".into()),
        letters: Fact::Unknown("It may not be read.".into()),
        dlq: healthy().dlq.map(|dlq| DlqFacts {
            settings: Fact::Unknown("It may not be read.".into()),
            alarms: Fact::Unknown("It may not be read.".into()),
            ..dlq
        }),
        ..healthy()
    };
    let checkup = examine(&unknown);
    assert_eq!(checkup.findings, []);
    let unchecked: Vec<Check> = checkup.unchecked.iter().map(|unchecked| unchecked.check).collect();
    // All but those that the main queue's settings answer.
    let known = [Check::MainQueue, Check::DeadLetterQueue, Check::Watched, Check::ReceivesMin, Check::ReceivesMax];
    let expected: Vec<Check> = Check::ALL.into_iter().filter(|check| !known.contains(check)).collect();
    assert_eq!(unchecked, expected);
    assert!(checkup.unchecked.iter().all(|unchecked| unchecked.reason == "It may not be read."));

    let unreadable = examine(&QueueFacts { settings: Fact::Unknown("No answer.".into()), dlq: None, ..healthy() });
    assert_eq!(unreadable.unchecked.iter().map(|u| u.check).collect::<Vec<_>>(), [Check::MainQueue]);

    let nobody = examined(|f| f.consumers = Fact::Known(Vec::new()));
    assert_eq!(nobody.unchecked.iter().map(|u| u.check).collect::<Vec<_>>(), [Check::Consumer]);
}

#[test]
fn the_most_severe_finding_comes_first() {
    let checkup = examined(|f| {
        dlq(f).watched = Some(false);
        dlq(f).alarms = Fact::Known(0);
        dlq_settings(f).retention = Span::from_days(4);
    });
    let levels: Vec<Severity> = checkup.findings.iter().map(|finding| finding.level).collect();
    assert_eq!(levels, [Critical, Warning, Warning, Info]);
}
