//! The calls that the functions make, as the policies of IAM name them. `tests/golden/calls.txt` lists them, and `cargo ci
//! --only template` compares them with the functions' rights.

use super::proxy::Call;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper::{HeaderMap, Method};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The setting by which the SDK names its application in every call.
pub const APP: &str = "AWS_SDK_UA_APP_ID";
/// Names the file for the requests; `cargo ci` checks them against AWS's service models.
const KEPT: &str = "DLO_REQUESTS_FILE";
const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/golden/calls.txt");
const RIGHTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/golden/rights.txt");
const HEAD: &str = "\
# Calls of the deployed functions, recorded by the tests of the stack: function, action of IAM, kind of resource.
# A call that is missing here, and in rights.txt, fails the tests; `UPDATE=1` adds it.
";

/// Returns the function that the headers of a call name.
pub fn function(headers: &HeaderMap) -> Option<String> {
    let agents = ["user-agent", "x-amz-user-agent"].into_iter().filter_map(|name| headers.get(name)?.to_str().ok());
    let mut words = agents.flat_map(str::split_whitespace);
    words.find_map(|word| word.strip_prefix("app/")).map(str::to_owned)
}

/// Returns the service that the signature of a call is for: `dynamodb` for
/// `… Credential=test/20260101/us-east-1/dynamodb/aws4_request, …`.
pub fn service(headers: &HeaderMap) -> String {
    let signature = headers.get("authorization").and_then(|value| value.to_str().ok()).unwrap_or_default();
    signature.split('/').nth(3).unwrap_or_default().to_owned()
}

/// Checks that every call is in the golden file, or adds it if the variable `UPDATE` is set.
pub fn check(calls: impl Iterator<Item = Call>) {
    let made: BTreeSet<String> = calls.flat_map(|call| lines(&call)).collect();
    assert!(!made.is_empty(), "the functions made no call through the proxies");
    let text = std::fs::read_to_string(GOLDEN).unwrap_or_default();
    let known = text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect::<BTreeSet<_>>();
    if std::env::var_os("UPDATE").is_some() {
        let all: Vec<_> = known.union(&made).map(String::as_str).collect();
        return std::fs::write(GOLDEN, format!("{HEAD}{}\n", all.join("\n"))).expect("the golden file is written");
    }
    let argued = argued();
    let (rare, new): (Vec<_>, Vec<_>) = made.difference(&known).partition(|line| argued.contains(*line));
    assert!(new.is_empty(), "calls that {GOLDEN} lacks: {new:#?}");
    // Not errors: whether a rare call occurs may depend on the order of events.
    for line in rare {
        println!("called this time, and so far only argued: {line}");
    }
    for line in known.difference(&made) {
        println!("not called this time: {line}");
    }
}

/// Writes the requests to the file that [`KEPT`] names, if it names one, a line for each.
pub fn keep(calls: impl Iterator<Item = Call>) {
    let Some(file) = std::env::var_os(KEPT) else { return };
    let lines = calls.map(|call| {
        let raw = STANDARD.encode(&call.raw);
        json!({ "service": call.service, "operation": call.operation, "raw": raw }).to_string()
    });
    std::fs::write(file, lines.collect::<Vec<_>>().join("\n")).expect("the requests are written");
}

/// Returns the rights that functions have for a reason, as lines of calls.
fn argued() -> BTreeSet<String> {
    let text = std::fs::read_to_string(RIGHTS).expect("the golden file of rights");
    let mut rows = text.lines().filter(|line| !line.starts_with('#')).map(str::split_whitespace);
    let functions: Vec<&str> = rows.next().expect("a head").skip(2).collect();
    let mut argued = BTreeSet::new();
    for mut row in rows {
        let (Some(action), Some(place)) = (row.next(), row.next()) else { continue };
        let cells = functions.iter().zip(row).filter(|(_, cell)| *cell == "reason");
        argued.extend(cells.map(|(function, _)| format!("{function} {action} {place}")));
    }
    argued
}

/// Returns a line for each right that a call needs.
fn lines(call: &Call) -> Vec<String> {
    // Calls of the tests themselves go around the proxies.
    let function = call.function.as_deref().unwrap_or("unknown");
    let line = |(action, place): (String, &str)| format!("{function} {action} {place}");
    rights(call).into_iter().map(line).collect()
}

fn rights(call: &Call) -> Vec<(String, &'static str)> {
    let body: Value = serde_json::from_str(&call.body).unwrap_or_default();
    let operation = call.operation.as_str();
    match call.service.as_str() {
        "dynamodb" => match operation {
            "TransactWriteItems" => {
                let items = body["TransactItems"].as_array().into_iter().flatten();
                let kinds = items.filter_map(|item| item.as_object()?.keys().next());
                let action = |kind: &String| match kind.as_str() {
                    "ConditionCheck" => "dynamodb:ConditionCheckItem".to_owned(),
                    kind => format!("dynamodb:{kind}Item"),
                };
                kinds.map(|kind| (action(kind), "table")).collect()
            }
            _ => {
                let place = if body["IndexName"].is_null() { "table" } else { "index" };
                vec![(format!("dynamodb:{operation}"), place)]
            }
        },
        "sqs" => vec![(format!("sqs:{}", operation.trim_end_matches("Batch")), queue(&body))],
        "monitoring" => vec![match operation {
            "PutMetricData" => ("cloudwatch:PutMetricData".into(), "metrics"),
            _ => (format!("cloudwatch:{operation}"), "any"),
        }],
        "s3" => {
            let action = match call.method {
                Method::PUT => "s3:PutObject",
                Method::DELETE => "s3:DeleteObject",
                _ => "s3:GetObject",
            };
            vec![(action.into(), if call.uri.path().contains("/content/") { "contents" } else { "payload" })]
        }
        "sns" => vec![(format!("sns:{}", form(&call.body, "Action")), "topic")],
        "events" => vec![(format!("events:{operation}"), "bus")],
        "lambda" => vec![match operation {
            "event-source-mappings" => ("lambda:ListEventSourceMappings".into(), "any"),
            "configuration" => ("lambda:GetFunctionConfiguration".into(), "consumer"),
            other => (format!("lambda:{other}"), "unknown"),
        }],
        "ssm" => vec![(format!("ssm:{operation}"), "sign-in")],
        other => vec![(format!("{other}:{operation}"), "unknown")],
    }
}

/// Returns the kind of the queue that a call to SQS names.
fn queue(body: &Value) -> &'static str {
    let url = body["QueueUrl"].as_str().or_else(|| body["QueueName"].as_str()).unwrap_or_default();
    let name = url.rsplit('/').next().unwrap_or_default().trim_end_matches(".fifo");
    match name {
        // Names that CloudFormation made of the stack's name and the logical id.
        _ if name.contains("-Steps-") => "steps",
        _ if name.contains("-Receipts-") => "receipts",
        _ if name.ends_with("-dlq") => "dlq",
        _ => "main",
    }
}

/// Returns a field of a form.
fn form<'a>(body: &'a str, field: &str) -> &'a str {
    let fields = body.split('&').filter_map(|pair| pair.split_once('='));
    fields.into_iter().find(|(name, _)| *name == field).map_or("unknown", |(_, value)| value)
}
