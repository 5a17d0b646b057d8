//! What each function may do, compared with what it does.
//!
//! `tests/golden/calls.txt` lists the calls that the functions make in the tests of the deployed stack, which record them.
//! Calls that no such test can cause are listed here, each with its reason. A policy simulator then answers for every
//! action that any policy names, on every kind of resource: what a function calls must be allowed, and nothing else.
//! `tests/golden/rights.txt` is the resulting matrix.

use super::resolve::{ACCOUNT, REGION, STACK, Template, physical};
use crate::failure::{Failure, Outcome, at, fail};
use crate::paths::Paths;
use crate::run;
use crate::tools::simulator;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::process::{Command, Stdio};

pub const FUNCTIONS: [&str; 4] = ["Intake", "Replay", "Sweep", "Api"];
const CALLS: &str = "tests/golden/calls.txt";
const MATRIX: &str = "tests/golden/rights.txt";
/// Writes the matrix anew instead of comparing it.
const UPDATE: &str = "UPDATE";
/// Calls that the tests of the stack do not record: functions, action, kind of resource, reason.
const ARGUED: &[(&[&str], &str, &str, &str)] = &[
    (&["Intake"], "logs:CreateLogStream", "intake-log", "Lambda writes a function's log with its role"),
    (&["Intake"], "logs:PutLogEvents", "intake-log", "as above"),
    (&["Replay"], "logs:CreateLogStream", "replay-log", "as above"),
    (&["Replay"], "logs:PutLogEvents", "replay-log", "as above"),
    (&["Sweep"], "logs:CreateLogStream", "sweep-log", "as above"),
    (&["Sweep"], "logs:PutLogEvents", "sweep-log", "as above"),
    (&["Api"], "logs:CreateLogStream", "api-log", "as above"),
    (&["Api"], "logs:PutLogEvents", "api-log", "as above"),
    (
        &FUNCTIONS,
        "xray:PutTraceSegments",
        "any",
        "with Tracing=Active, Lambda writes a function's traces with its role",
    ),
    (&FUNCTIONS, "xray:PutTelemetryRecords", "any", "as above"),
    (&["Intake"], "sqs:ReceiveMessage", "dlq", "Lambda's pollers receive with the function's role"),
    (&["Intake"], "sqs:DeleteMessage", "dlq", "Lambda's pollers delete what the answer does not name"),
    (&["Intake"], "sqs:ReceiveMessage", "receipts", "as above"),
    (&["Intake"], "sqs:DeleteMessage", "receipts", "as above"),
    (&["Intake"], "sqs:GetQueueAttributes", "receipts", "Lambda checks the queue of a mapping"),
    (&["Replay"], "sqs:ReceiveMessage", "steps", "as above"),
    (&["Replay"], "sqs:DeleteMessage", "steps", "as above"),
    (&["Replay"], "sqs:GetQueueAttributes", "steps", "Lambda checks the queue of a mapping"),
    (&["Intake"], "sqs:GetQueueAttributes", "dlq", "as above"),
    (
        &["Replay", "Sweep", "Api"],
        "s3:PutObject",
        "contents",
        "a letter whose state changes is written with its metadata, which may have 300 KB: `aws::store`",
    ),
    (&["Intake", "Sweep"], "s3:GetObject", "contents", "letters that return, and those of plans that a rule approves"),
    (&["Sweep"], "s3:DeleteObject", "contents", "letters that were delivered 90 days ago are forgotten"),
    (&["Sweep"], "dynamodb:DeleteItem", "table", "as above; and an approved plan is taken from its group"),
    (
        &["Sweep"],
        "dynamodb:UpdateItem",
        "table",
        "a rule of the policy approves: `api` makes the same calls for a person",
    ),
    (&["Sweep"], "sqs:GetQueueAttributes", "main", "as above: the gate looks at the main queue"),
    (&["Sweep"], "sqs:GetQueueUrl", "main", "as above"),
    (
        &["Replay", "Sweep", "Api"],
        "s3:GetObject",
        "payload",
        "payloads of the SQS extended client are looked for (HeadObject)",
    ),
    (
        &["Replay", "Sweep", "Api"],
        "s3:ListBucket",
        "payload-bucket",
        "without it, S3 answers 403 for a missing payload",
    ),
    (&["Sweep"], "logs:FilterLogEvents", "consumer-log", "`aws::logs`: only letters that say nothing cause it"),
    (&["Intake"], "sqs:ReceiveMessage", "attached-dlq", "a queue of infra/attach.yaml: the same calls as on `dlq`"),
    (&["Intake"], "sqs:DeleteMessage", "attached-dlq", "as above"),
    (&["Intake", "Api"], "sqs:GetQueueAttributes", "attached-dlq", "as above"),
    (&["Api"], "sqs:GetQueueUrl", "attached-dlq", "as above"),
    (&["Replay"], "sqs:SendMessage", "attached-main", "the main queue of such a queue: the same calls as on `main`"),
    (&["Replay", "Sweep", "Api"], "sqs:GetQueueAttributes", "attached-main", "as above"),
    (&["Replay", "Sweep", "Api"], "sqs:GetQueueUrl", "attached-main", "as above"),
    (&["Intake"], "kms:Decrypt", "key", "SQS decrypts for who receives from an encrypted queue"),
    (&["Replay"], "kms:Decrypt", "key", "SQS decrypts the data key for who sends to an encrypted queue"),
    (&["Replay"], "kms:GenerateDataKey", "key", "SQS makes the data key for who sends to an encrypted queue"),
    (&["Intake", "Replay", "Sweep"], "kms:GenerateDataKey", "alerts-key", "as above, of SNS and an encrypted topic"),
    (&["Intake", "Replay", "Sweep"], "kms:Decrypt", "alerts-key", "as above"),
];

/// The source of the office's events (`lambda::events::SOURCE`).
const SOURCE: &str = "dead-letter-office";

/// Actions for which IAM knows no resource (Service Authorization Reference).
const WITHOUT_RESOURCE: &[&str] = &[
    "cloudwatch:DescribeAlarmsForMetric",
    "cloudwatch:GetMetricData",
    "lambda:ListEventSourceMappings",
    "xray:PutTelemetryRecords",
    "xray:PutTraceSegments",
];

/// A kind of resource: its name here, its ARN, and the condition keys of a call.
struct ResourceKind {
    name: &'static str,
    arn: String,
    context: Value,
}

impl ResourceKind {
    /// Whether a resource of this kind belongs to the action's service. Few actions have no resource; of them, only
    /// `PutMetricData` looks at the namespace of metrics.
    fn is_for(&self, action: &str) -> bool {
        let is_metrics = self.name.ends_with("metrics");
        match self.arn.as_str() {
            "*" if is_metrics => action == "cloudwatch:PutMetricData",
            "*" => WITHOUT_RESOURCE.contains(&action),
            arn => arn.split(':').nth(2) == action.split(':').next(),
        }
    }
}

fn resource_kinds() -> Vec<ResourceKind> {
    let local = |service: &str, name: &str| format!("arn:aws:{service}:{REGION}:{ACCOUNT}:{name}");
    let table = local("dynamodb", &format!("table/{}", physical("Table")));
    let bucket = format!("arn:aws:s3:::{}", physical("Contents").to_lowercase());
    let contents = format!("{bucket}/content/0");
    let key = |id: &str| local("kms", &format!("key/{id}"));
    let log = |name: &str| local("logs", &format!("log-group:{name}:*"));
    let plain = [
        ("index", format!("{table}/index/list")),
        ("table", table),
        ("steps", local("sqs", &physical("Steps"))),
        ("receipts", local("sqs", &physical("Receipts"))),
        ("failed", local("sqs", &physical("Failed"))),
        ("dlq", local("sqs", "orders-dlq")),
        ("main", local("sqs", "orders")),
        ("other-queue", local("sqs", "invoices")),
        ("contents", contents.clone()),
        ("bucket-elsewhere", format!("{bucket}/other/0")),
        ("bucket", bucket),
        ("payload", "arn:aws:s3:::payloads/0".into()),
        ("payload-bucket", "arn:aws:s3:::payloads".into()),
        ("other-bucket", "arn:aws:s3:::invoices".into()),
        ("other-object", "arn:aws:s3:::invoices/0".into()),
        ("topic", local("sns", &physical("Alerts"))),
        ("other-topic", local("sns", "invoices")),
        ("consumer", local("lambda", "function:orders")),
        ("other-function", local("lambda", "function:invoices")),
        ("consumer-log", local("logs", "log-group:/aws/lambda/orders:*")),
        ("other-log", log("/aws/lambda/invoices")),
        ("intake-log", log(&physical("IntakeLog"))),
        ("replay-log", log(&physical("ReplayLog"))),
        ("sweep-log", log(&physical("SweepLog"))),
        ("api-log", log(&physical("ApiLog"))),
        ("sign-in", local("ssm", &format!("parameter/dead-letter-office/{STACK}/sign-in"))),
        ("other-parameter", local("ssm", "parameter/invoices")),
        ("other-key", key("invoices")),
        ("any", "*".into()),
    ];
    let plain = plain
        .into_iter()
        .map(|(name, arn)| (name, arn, json!({ "kms:ViaService": via("sqs"), "aws:ResourceAccount": ACCOUNT })));
    let with = [
        // A bucket's ARN names no account, and a name that is free again can be anybody's.
        ("contents-elsewhere", contents.clone(), json!({ "aws:ResourceAccount": "444455556666" })),
        ("key", key("orders"), json!({ "kms:ViaService": via("sqs") })),
        ("key-through-s3", key("orders"), json!({ "kms:ViaService": via("s3") })),
        ("alerts-key", key("alerts"), json!({ "kms:ViaService": via("sns") })),
        ("alerts-key-through-sqs", key("alerts"), json!({ "kms:ViaService": via("sqs") })),
        ("attached-dlq", local("sqs", "refunds-dlq"), tagged(&format!("{STACK}:watch"))),
        ("attached-main", local("sqs", "refunds"), tagged(&format!("{STACK}:replay"))),
        ("tagged-otherwise", local("sqs", "refunds-old"), tagged(&format!("{STACK}:no"))),
        // Queues of another office in the same account, and tags that name none.
        ("dlq-elsewhere", local("sqs", "returns-dlq"), tagged("other:watch")),
        ("main-elsewhere", local("sqs", "returns"), tagged("other:replay")),
        ("dlq-of-nobody", local("sqs", "returns-dlq"), tagged("watch")),
        ("main-of-nobody", local("sqs", "returns"), tagged("replay")),
        ("bus", local("events", "event-bus/default"), json!({ "events:source": [SOURCE] })),
        ("bus-as-another", local("events", "event-bus/default"), json!({ "events:source": ["invoices"] })),
        ("bus-as-two", local("events", "event-bus/default"), json!({ "events:source": [SOURCE, "invoices"] })),
        ("bus-as-nobody", local("events", "event-bus/default"), json!({})),
        ("other-bus", local("events", "event-bus/invoices"), json!({ "events:source": [SOURCE] })),
        ("metrics", "*".into(), json!({ "cloudwatch:namespace": "DeadLetterOffice" })),
        ("other-metrics", "*".into(), json!({ "cloudwatch:namespace": "Invoices" })),
    ];
    plain.chain(with).map(|(name, arn, context)| ResourceKind { name, arn, context }).collect()
}

/// The context of a call on a queue with the office's tag.
fn tagged(value: &str) -> Value {
    json!({ "aws:ResourceTag/dead-letter-office": value })
}

fn via(service: &str) -> String {
    format!("{service}.{REGION}.amazonaws.com")
}

/// The parameters with which a stack has all rights that it can have.
pub const ALL_PARAMETERS: &[(&str, &str)] = &[
    ("DeadLetterQueueArn", "arn:aws:sqs:eu-west-1:111122223333:orders-dlq"),
    ("MainQueueArns", "arn:aws:sqs:eu-west-1:111122223333:orders"),
    ("ConsumerFunctionArns", "arn:aws:lambda:eu-west-1:111122223333:function:orders"),
    ("ConsumerLogGroupArns", "arn:aws:logs:eu-west-1:111122223333:log-group:/aws/lambda/orders:*"),
    ("PayloadBucketArns", "arn:aws:s3:::payloads"),
    ("KmsKeyArns", "arn:aws:kms:eu-west-1:111122223333:key/orders"),
    ("AlertsKeyArn", "arn:aws:kms:eu-west-1:111122223333:key/alerts"),
    ("AttachedQueues", "true"),
    ("Tracing", "Active"),
];

/// Compares the rights of the template's roles with the calls of the functions, and the matrix with its golden file.
pub fn check(paths: &Paths, translated: &Value) -> Outcome<()> {
    let template = Template::new(translated.clone(), ALL_PARAMETERS)?;
    let policies = policies(&template.resources()?)?;
    let file = paths.root.join(CALLS);
    let recorded = recorded(&at("read", &file, std::fs::read_to_string(&file))?)?;
    let argued = |function: &str, action: &str, kind: &str| {
        ARGUED.iter().any(|(functions, a, p, _)| functions.contains(&function) && (*a, *p) == (action, kind))
    };
    let mut actions: BTreeSet<String> = policies.values().flatten().flat_map(actions).collect();
    actions.extend(recorded.iter().map(|(_, action, _)| action.clone()));
    let kinds = resource_kinds();
    let asked = actions.iter().flat_map(|action| kinds.iter().map(move |kind| (action, kind)));
    let asked: Vec<(&String, &ResourceKind)> = asked.filter(|(action, kind)| kind.is_for(action)).collect();
    let answers = simulate(paths, &policies, &asked)?;
    let mut wrong = Vec::new();
    let mut matrix =
        String::from("# What each function may call: `called` in the tests of the stack, or for a reason that\n");
    matrix.push_str("# xtask/src/template/rights.rs gives. Everything else is denied. `UPDATE=1 cargo ci --only template` writes it.\n");
    matrix.push_str(&format!("{:<35} {:<15}", "action", "on"));
    matrix.push_str(&format!("{:<8} {:<8} {:<8} Api\n", FUNCTIONS[0], FUNCTIONS[1], FUNCTIONS[2]));
    for (index, (action, kind)) in asked.iter().enumerate() {
        let mut cells = Vec::new();
        for function in FUNCTIONS {
            let is_called = recorded.contains(&(function.into(), (*action).clone(), kind.name.into()));
            let is_argued = argued(function, action, kind.name);
            let is_allowed = answers[function][index] == true;
            let call = format!("{function}: {action} on {}", kind.name);
            match (is_allowed, is_called || is_argued) {
                (true, false) => {
                    wrong.push(format!("{call} is allowed, but no test records it and no reason is given"))
                }
                (false, true) => wrong.push(format!("{call} is denied, but the function does it")),
                _ => {}
            }
            if is_called && is_argued {
                wrong.push(format!("{call} is recorded: it needs no reason any more"));
            }
            cells.push(if is_called {
                "called"
            } else if is_argued {
                "reason"
            } else {
                "-"
            });
        }
        if cells.iter().any(|cell| *cell != "-") {
            let row =
                format!("{action:<35} {:<15}{:<8} {:<8} {:<8} {}", kind.name, cells[0], cells[1], cells[2], cells[3]);
            matrix.push_str(&format!("{row}\n"));
        }
    }
    if !wrong.is_empty() {
        let remedy = "Mend infra/template.yaml, or say in xtask/src/template/rights.rs why a call is not recorded.";
        return Err(Failure::new("Rights and calls differ.").remedy(remedy).log(wrong.join("\n")));
    }
    compare(paths, MATRIX, &matrix)
}

/// Compares a text with its golden file, or writes the file if the variable `UPDATE` is set.
pub fn compare(paths: &Paths, golden: &str, text: &str) -> Outcome<()> {
    let file = paths.root.join(golden);
    if std::env::var_os(UPDATE).is_some() {
        return at("write", &file, std::fs::write(&file, text));
    }
    if at("read", &file, std::fs::read_to_string(&file))? == text {
        return Ok(());
    }
    let remedy = format!("If the change is intended: {UPDATE}=1 cargo ci --only template, and review the difference.");
    Err(Failure::new(format!("{golden} is not up to date.")).remedy(remedy).log(text))
}

/// The policies of the functions' roles, and those of the template that are attached to them. Another managed policy would
/// be rights that nobody here has read: SAM's may write every log of the account.
fn policies(resources: &BTreeMap<String, Value>) -> Outcome<BTreeMap<&'static str, Vec<Value>>> {
    let mut roles = resources.iter().filter(|(_, resource)| resource["Type"] == "AWS::IAM::Role");
    if let Some((id, role)) = roles.find(|(_, role)| !role["Properties"]["ManagedPolicyArns"].is_null()) {
        return fail(format!("{id} has managed policies: {}.", role["Properties"]["ManagedPolicyArns"]));
    }
    let mut all = BTreeMap::new();
    for function in FUNCTIONS {
        let role = &resources
            .get(&format!("{function}Role"))
            .ok_or_else(|| Failure::new(format!("{function} has no role.")))?["Properties"];
        let own = role["Policies"].as_array().into_iter().flatten();
        let is_attached = |policy: &&Value| {
            let mut roles = policy["Roles"].as_array().into_iter().flatten();
            roles.any(|name| *name == physical(&format!("{function}Role")))
        };
        let managed = resources.values().filter(|resource| resource["Type"] == "AWS::IAM::ManagedPolicy");
        let attached = managed.map(|resource| &resource["Properties"]).filter(is_attached);
        all.insert(function, own.chain(attached).map(|policy| policy["PolicyDocument"].clone()).collect());
    }
    Ok(all)
}

fn actions(policy: &Value) -> Vec<String> {
    let statements = policy["Statement"].as_array().into_iter().flatten();
    let actions = statements.flat_map(|statement| match &statement["Action"] {
        Value::Array(actions) => actions.clone(),
        action => vec![action.clone()],
    });
    actions.filter_map(|action| action.as_str().map(str::to_owned)).collect()
}

/// Reads lines such as `Intake dynamodb:GetItem table`.
fn recorded(text: &str) -> Outcome<BTreeSet<(String, String, String)>> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let read = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [function, action, kind] => Ok(((*function).into(), (*action).into(), (*kind).into())),
            _ => fail(format!("{CALLS}: `{line}` is not a function, an action and a kind of resource.")),
        }
    };
    lines.map(read).collect()
}

/// Asks the simulator. `null` means that the action has no such resource.
fn simulate(
    paths: &Paths,
    policies: &BTreeMap<&'static str, Vec<Value>>,
    asked: &[(&String, &ResourceKind)],
) -> Outcome<BTreeMap<String, Vec<Value>>> {
    let module = simulator::ensure(paths)?;
    let calls: Vec<Value> = asked
        .iter()
        .map(|(action, kind)| json!({ "action": action, "resource": kind.arn, "context": kind.context }))
        .collect();
    let question = json!({ "account": ACCOUNT, "policies": policies, "calls": calls }).to_string();
    let mut node = run::cleaned(Command::new("node"), paths);
    node.arg(paths.root.join("xtask/src/template/simulate.mjs")).arg(module);
    let failed = |cause: std::io::Error| Failure::new(format!("The policy simulator does not run: {cause}."));
    let mut child = node.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(question.as_bytes()).map_err(failed)?;
    }
    let output = child.wait_with_output().map_err(failed)?;
    let answer = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&answer).map_err(|cause| {
        let log = String::from_utf8_lossy(&output.stderr).into_owned();
        Failure::new(format!("The policy simulator's answer is not JSON: {cause}.")).log(log)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_names_functions_and_a_place_that_exist() {
        let kinds: Vec<_> = resource_kinds().into_iter().map(|kind| kind.name).collect();
        for (functions, action, kind, why) in ARGUED {
            assert!(functions.iter().all(|function| FUNCTIONS.contains(function)), "{functions:?}");
            assert!(kinds.contains(kind), "{action} {kind}");
            assert!(!why.is_empty());
        }
    }

    #[test]
    fn a_line_that_is_not_a_call_is_refused() {
        assert_eq!(recorded("# x\nIntake a:B table\n").map(|calls| calls.len()).ok(), Some(1));
        assert!(recorded("Intake a:B\n").is_err());
    }
}
