//! The script as a shell runs it, with an `aws` that writes down what it is asked for.

use super::*;
use domain::doctor::QueueSettings;
use domain::time::Span;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

const URL: &str = "https://sqs.eu-west-1.amazonaws.com/111122223333/orders-dlq.fifo";

/// An `aws` that answers as a stack does, and keeps the template that it is to deploy. The file `calls.tags` has the tags
/// that queues have already, each line a URL and a value. As many deployments fail as the file
/// `calls.failing` has lines, and leave the stack in the status `LEFT`.
const AWS: &str = r#"#!/bin/sh
case "$*" in
    *describe-stacks*AttachedQueues*) [ "$ATTACHES" != none ] && echo "$ATTACHES" ;;
    *describe-stacks*RunbooksUrl*) echo https://runbooks ;;
    *describe-stacks*IntakeFunctionArn*) echo arn:intake ;;
    *describe-stacks*AlertsTopic*) echo arn:topic ;;
    *get-queue-url*) echo https://main ;;
    *list-queue-tags*)
        while [ "$1" != --queue-url ]; do shift; done
        [ ! -e "$CALLS.tags" ] || sed -n "s|^$2 ||p" "$CALLS.tags"
        ;;
    *describe-stacks*StackStatus*) cat "$CALLS.status" 2> /dev/null ;;
    *delete-stack*) echo delete >> "$CALLS" && rm "$CALLS.status" ;;
    *wait*stack-delete-complete*) echo deleted >> "$CALLS" ;;
    *cloudformation*deploy*)
        if [ -s "$CALLS.failing" ]; then
            sed -i 1d "$CALLS.failing"
            echo "fails" >> "$CALLS"
            echo "$LEFT" > "$CALLS.status"
            exit 255
        fi
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

/// A folder with the programs that the script calls.
struct Shell(TempDir);

impl Shell {
    fn new() -> Self {
        let shell = Self(tempfile::tempdir().expect("a folder"));
        for (name, text) in [("aws", AWS), ("sleep", "#!/bin/sh\necho sleep $1 >> \"$CALLS\"\n")] {
            let program = shell.write(name, text);
            std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
        }
        shell
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).expect("it can be written");
        path
    }

    /// Runs the script. Returns whether it succeeded, and what it said.
    fn run(&self, attaches: &str, left: &str) -> (bool, String) {
        let path = format!("{}:{}", self.0.path().display(), std::env::var("PATH").unwrap_or_default());
        let script = candidate().script(URL, "office").expect("plain names");
        let mut sh = Command::new("sh");
        sh.args(["-c", &script, "sh", "IntakeEnabled=false"])
            .env("PATH", path)
            .env("CALLS", self.0.path().join("calls"));
        let output = sh.env("ATTACHES", attaches).env("LEFT", left).output().expect("a shell");
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    }

    fn calls(&self) -> String {
        std::fs::read_to_string(self.0.path().join("calls")).unwrap_or_default()
    }
}

#[test]
fn a_deployment_that_the_tags_have_not_reached_is_repeated_over_a_deleted_stack() {
    let rolled_back = "ROLLBACK_COMPLETE";
    // The status of the stack before, that after a deployment that fails, and how many fail; what the script does.
    let rows = [
        ("", "", 0, "deploy"),
        (rolled_back, "", 0, "delete deleted deploy"),
        ("UPDATE_COMPLETE", "", 0, "deploy"),
        ("", rolled_back, 1, "fails sleep delete deleted deploy"),
        ("", rolled_back, 2, "fails sleep delete deleted fails sleep delete deleted deploy"),
        ("", rolled_back, 9, "fails sleep delete deleted fails sleep delete deleted fails"),
        ("UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE", 1, "fails"),
    ];
    for (before, left, failing, wanted) in rows {
        let shell = Shell::new();
        if !before.is_empty() {
            shell.write("calls.status", before);
        }
        shell.write("calls.failing", &"x\n".repeat(failing));
        let (succeeded, said) = shell.run("true", left);
        let calls = shell.calls();
        let first_words = calls.lines().filter_map(|line| line.split(' ').next());
        let done: Vec<_> = first_words.filter(|word| *word != "sqs").collect();
        assert_eq!(done.join(" "), wanted, "{said}");
        assert_eq!(succeeded, wanted.ends_with("deploy"), "{said}");
        assert_eq!(said.contains("was not deployed"), !succeeded, "{said}");
    }
}

#[test]
fn the_script_sets_two_tags_and_deploys_the_template() {
    for (attaches, wanted) in [
        (
            "true",
            "sqs tag-queue --region eu-west-1 --queue-url https://sqs.eu-west-1.amazonaws.com/111122223333/orders-dlq.fifo --tags dead-letter-office=office:watch\n\
             sqs tag-queue --region eu-west-1 --queue-url https://main --tags dead-letter-office=office:replay\n\
             deploy DeadLetterQueueArn=arn:aws:sqs:eu-west-1:111122223333:orders-dlq.fifo IntakeFunctionArn=arn:intake Office=office AlarmTopicArn=arn:topic RunbooksUrl=https://runbooks IntakeEnabled=false\n",
        ),
        ("false", ""),
        ("none", ""),
    ] {
        let shell = Shell::new();
        let (succeeded, said) = shell.run(attaches, "");
        assert_eq!(succeeded, attaches == "true", "{said}");
        assert_eq!(shell.calls(), wanted, "{said}");
        if attaches == "true" {
            let deployed = std::fs::read_to_string(shell.0.path().join("calls.template")).expect("a template");
            assert_eq!(deployed, include_str!("../../../infra/attach.yaml"));
        } else {
            let remedy = if attaches == "none" { "--office <STACK>" } else { "AttachedQueues=true" };
            assert!(said.contains(remedy), "{said}");
        }
    }
}

#[test]
fn a_queue_of_another_office_is_left_as_it_is() {
    // The tags of the dead-letter queue and of the main queue; whether the queue is attached.
    let rows = [
        ("office:watch", "office:replay", true),
        ("None", "None", true),
        ("other:watch", "None", false),
        ("None", "other:replay", false),
        // A tag that names no office, and one that would send letters to a queue that an office empties.
        ("watch", "None", false),
        ("None", "office:watch", false),
        ("office:replay", "None", false),
        ("office:watch:watch", "None", false),
    ];
    for (of_dlq, of_main, is_attached) in rows {
        let shell = Shell::new();
        shell.write("calls.tags", &format!("{URL} {of_dlq}\nhttps://main {of_main}\n"));
        let (succeeded, said) = shell.run("true", "");
        assert_eq!(succeeded, is_attached, "{of_dlq} {of_main}: {said}");
        let calls = shell.calls();
        assert_eq!(calls.is_empty(), !is_attached, "{of_dlq} {of_main}: {calls}");
        let (tag, url) = if of_dlq == "None" { (of_main, "https://main") } else { (of_dlq, URL) };
        let wanted =
            [format!("dead-letter-office={tag},"), format!("untag-queue --region eu-west-1 --queue-url {url} ")];
        assert!(is_attached || wanted.iter().all(|wanted| said.contains(wanted)), "{said}");
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
    for place in ["QUEUE_URL", "QUEUE_ARN", "QUEUE_NAME", "QUEUE_REGION", "OFFICE_STACK", "ATTACH_STACK", "MAIN_NAMES"]
    {
        assert!(!script.contains(place), "{place}");
    }
    assert!(script.contains("'dlo-attach-orders-dlq-fifo-"), "{script}");
}

#[test]
fn every_queue_has_a_stack_of_its_own() {
    let long = ["a", "b"].map(|end| "q".repeat(79) + end);
    let names = ["my-dlq", "my_dlq", "x.fifo", "x-fifo", "x_fifo", &long[0], &long[1]];
    let stacks: std::collections::BTreeSet<_> = names.iter().map(|name| stack_name(&queue(name))).collect();
    assert_eq!(stacks.len(), names.len(), "{stacks:?}");
    assert!(stacks.contains("dlo-attach-my-dlq"));
    let is_valid = |name: &String| name.len() <= 128 && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    assert!(stacks.iter().all(is_valid), "{stacks:?}");
}

#[test]
fn a_queue_with_a_dead_letter_queue_of_its_own_is_refused() {
    let (main, dlq) = (queue("orders"), queue("orders-dlq"));
    let of_main = settings(180, 14, Some((dlq, 5)));
    let facts = DlqFacts { queue: main.clone(), settings: of_main, alarms: Fact::Known(0), watched: None };
    let unread = Fact::Unknown("No queue names this one as its dead-letter queue.".into());
    let findings = findings(&[judged(&main, unread, Some(facts))]);
    let candidate = Candidate { findings, ..candidate() };
    assert!(candidate.is_refused());
    let report = candidate.report();
    assert!(report.contains("orders-dlq") && report.contains("Attach the queue that it names."), "{report}");
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
    let keys = |of_dlq: &str, of_main: &str| {
        let key = |key: &str| Some(Some(key.to_owned()).filter(|key| !key.is_empty()));
        [(dlq.clone(), key(of_dlq)), (mains[0].clone(), key(of_main))]
    };
    let said = |keys: &[Key], readers: &[String]| remarks(&dlq, &mains, keys, (readers, "office")).join("\n");
    for own in ["", "alias/aws/sqs", "arn:aws:kms:eu-west-1:111122223333:alias/aws/sqs"] {
        assert_eq!(said(&keys(own, own), &[]), "");
    }
    let both = said(&keys("alias/dead", "alias/orders"), &["other".into()]);
    let lines: Vec<_> = both.lines().collect();
    assert!(lines[0].starts_with("orders-dlq is encrypted with the key alias/dead") && lines[0].contains("KmsKeyArns"));
    assert!(
        lines[0].ends_with("or nothing arrives.") && lines[1].ends_with("or no letter can be sent back."),
        "{both}"
    );
    assert!(lines[1].starts_with("orders is encrypted with the key alias/orders"), "{both}");
    assert!(lines.len() == 3 && lines[2].contains("other"), "{both}");
    let own = said(&[], &["office-Intake-A1".into()]);
    assert!(
        own.starts_with("The office office reads orders-dlq already.") && own.contains("dlo-attach-orders-dlq"),
        "{own}"
    );
    let unread = said(&[(mains[0].clone(), None)], &[]);
    assert!(unread.starts_with("Could not check which key encrypts orders."), "{unread}");
    let report = Candidate { remarks: remarks(&dlq, &[], &[], (&[], "office")), ..candidate() }.report();
    assert!(
        report.starts_with("NOTE: No queue names orders-dlq") && report.contains("dead-letter-office=office:replay"),
        "{report}"
    );
}
