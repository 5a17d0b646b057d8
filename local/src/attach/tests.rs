//! The script as a shell runs it, with an `aws` that writes down what it is asked for.

use super::*;
use domain::doctor::QueueSettings;
use domain::time::Span;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

const URL: &str = "https://sqs.eu-west-1.amazonaws.com/111122223333/orders-dlq.fifo";

/// An `aws` that answers as a stack does, and keeps the template that it is to deploy.
const AWS: &str = r#"#!/bin/sh
case "$*" in
    *describe-stacks*AttachedQueues*) echo "$ATTACHES" ;;
    *describe-stacks*IntakeFunctionArn*) echo arn:intake ;;
    *describe-stacks*AlertsTopic*) echo arn:topic ;;
    *get-queue-url*) echo https://main ;;
    *cloudformation*deploy*)
        echo "deploy ${*##*--parameter-overrides }" >> "$CALLS"
        while [ "$1" != --template-file ]; do shift; done
        cp "$2" "$CALLS.template"
        ;;
    *) echo "$@" >> "$CALLS" ;;
esac
"#;

fn queue(name: &str) -> QueueArn {
    QueueArn::new(format!("arn:aws:sqs:eu-west-1:111122223333:{name}"))
}

fn candidate() -> Candidate {
    let (queue, mains) = (queue("orders-dlq.fifo"), vec![queue("orders.fifo")]);
    Candidate { queue, mains, findings: Vec::new(), remarks: Vec::new() }
}

#[test]
fn the_script_sets_two_tags_and_deploys_the_template() {
    for (attaches, wanted) in [
        (
            "true",
            "sqs tag-queue --region eu-west-1 --queue-url https://sqs.eu-west-1.amazonaws.com/111122223333/orders-dlq.fifo --tags dead-letter-office=watch\n\
             sqs tag-queue --region eu-west-1 --queue-url https://main --tags dead-letter-office=replay\n\
             deploy DeadLetterQueueArn=arn:aws:sqs:eu-west-1:111122223333:orders-dlq.fifo IntakeFunctionArn=arn:intake AlarmTopicArn=arn:topic\n",
        ),
        ("false", ""),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let aws = folder.path().join("aws");
        std::fs::write(&aws, AWS).expect("it can be written");
        std::fs::set_permissions(&aws, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
        let calls = folder.path().join("calls");
        let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap_or_default());
        let script = candidate().script(URL, "office").expect("plain names");
        let mut sh = Command::new("sh");
        sh.args(["-c", &script]).env("PATH", path).env("CALLS", &calls).env("ATTACHES", attaches);
        let output = sh.output().expect("a shell");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.success(), attaches == "true", "{said}");
        assert_eq!(std::fs::read_to_string(&calls).unwrap_or_default(), wanted, "{said}");
        if attaches == "true" {
            let deployed = std::fs::read_to_string(folder.path().join("calls.template")).expect("a template");
            assert_eq!(deployed, include_str!("../../../infra/attach.yaml"));
        } else {
            assert!(said.contains("AttachedQueues=true"), "{said}");
        }
    }
}

#[test]
fn only_names_become_part_of_the_script() {
    for (url, stack, main) in
        [("https://x/'; rm", "office", "orders"), (URL, "office;", "orders"), (URL, "office", "a$(b)"), (URL, "", "a")]
    {
        let candidate = Candidate { mains: vec![queue(main)], ..candidate() };
        assert!(matches!(candidate.script(url, stack), Err(AttachError::NotPlain { .. })), "{url} {stack} {main}");
    }
    let script = candidate().script(URL, "office").expect("plain names");
    for place in ["QUEUE_URL", "QUEUE_ARN", "QUEUE_NAME", "QUEUE_REGION", "OFFICE_STACK", "STACK_SUFFIX", "MAIN_TAGS"] {
        assert!(!script.contains(place), "{place}");
    }
    assert!(script.contains("'dlo-attach-orders-dlq-fifo'"));
}

fn settings(visibility_s: i64, days: i64, redrive: Option<(QueueArn, u32)>) -> Fact<QueueSettings> {
    let (visibility_timeout, retention) = (Span::from_secs(visibility_s), Span::from_days(days));
    Fact::Known(QueueSettings { visibility_timeout, retention, redrive })
}

#[test]
fn a_queue_is_refused_if_its_letters_would_not_arrive_or_be_lost() {
    let rows = [
        // visibility, retention, main's retention: the findings, and whether it is refused
        (180, 14, 4, vec![], false),
        (29, 14, 4, vec![Check::IntakeVisibility], true),
        (180, 7, 4, vec![Check::Retention], false),
        (180, 4, 4, vec![Check::RetentionOrder, Check::Retention], true),
    ];
    for (visibility_s, days, main_days, checks, is_refused) in rows {
        let (main, dlq) = (queue("orders"), queue("orders-dlq"));
        let of_dlq = settings(visibility_s, days, None);
        let facts = DlqFacts { queue: dlq.clone(), settings: of_dlq, alarms: Fact::Known(0), watched: None };
        let checkup = judged(&main, settings(30, main_days, Some((dlq, 5))), Some(facts));
        // Two main queues with the same dead-letter queue: a finding about it is reported once.
        let findings = findings(&[checkup.clone(), checkup]);
        assert_eq!(findings.iter().map(|finding| finding.check).collect::<Vec<_>>(), checks);
        assert_eq!(Candidate { findings, ..candidate() }.is_refused(), is_refused, "{checks:?}");
    }
}

#[test]
fn keys_other_readers_and_missing_main_queues_are_remarked() {
    let (dlq, mains) = (queue("orders-dlq"), [queue("orders")]);
    let count = |mains: &[QueueArn], key, readers: &[String]| remarks(&dlq, mains, key, readers).len();
    assert_eq!(count(&mains, None, &[]), 0);
    for own in ["alias/aws/sqs", "arn:aws:kms:eu-west-1:111122223333:alias/aws/sqs"] {
        assert_eq!(count(&mains, Some(own), &[]), 0);
    }
    assert_eq!(count(&mains, Some("alias/orders"), &["other".into()]), 2);
    let report = Candidate { remarks: remarks(&dlq, &[], Some("key/1"), &[]), ..candidate() }.report();
    assert!(report.starts_with("NOTE: No queue names orders-dlq") && report.contains("KmsKeyArns"), "{report}");
}
