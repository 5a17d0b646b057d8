//! `cargo xtask costs`: what the stack costs in a month in which nothing fails, from the resources that the template
//! creates. `tests/golden/costs.txt` is the result.
//!
//! The prices are AWS's list prices of us-east-1 in November 2026, without any free tier: an account has only one of
//! those, and the business's own services have used it up. The first three dashboards of an account are the exception.

use super::resolve::Template;
use super::rights::compare;
use crate::failure::Outcome;
use crate::paths::Paths;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;

const GOLDEN: &str = "tests/golden/costs.txt";
/// What an idle stack for one queue may cost, in dollars per month.
const ONE_QUEUE_MAX: f64 = 3.0;
/// What an attached queue may cost at rest, in dollars per month.
const ATTACHED_QUEUE_MAX: f64 = 0.50;
/// The attached queues of the last table: with the stack's own, a company's fifty.
const ATTACHED_QUEUES: usize = 49;

/// Dollars per month, or per unit.
const ALARM: f64 = 0.10;
const CUSTOM_METRIC: f64 = 0.30;
const METRIC_CALL: f64 = 0.01 / 1e3;
const SQS_REQUEST: f64 = 0.40 / 1e6;
const SQS_FIFO_REQUEST: f64 = 0.50 / 1e6;
const GB_SECOND_ARM64: f64 = 0.000_013_333_4;
const GB_SECOND_X86_64: f64 = 0.000_016_666_7;
const INVOCATION: f64 = 0.20 / 1e6;
const SCHEDULED: f64 = 1.00 / 1e6;
const READ_UNIT: f64 = 0.125 / 1e6;
const WRITE_UNIT: f64 = 0.625 / 1e6;
const LOG_GB: f64 = 0.50;

const MINUTES: f64 = 30.0 * 24.0 * 60.0;
/// An idle mapping polls with two long polls of 20 s at a time, or with five if it has a maximum concurrency (AWS's
/// documentation of the scaling of SQS event source mappings).
const POLLS_PER_MINUTE: f64 = 3.0;
const POLLERS: f64 = 2.0;
const POLLERS_WITH_MAXIMUM: f64 = 5.0;
/// What a sweep of an empty office does: six reads, one transaction of one write, one call to CloudWatch, 300 bytes of
/// log. `OpenLetters` is the only metric that it always sends.
const SWEEP_READS: f64 = 6.0;
const SWEEP_WRITES: f64 = 2.0;
const SWEEP_LOG_GB: f64 = 300e-9;
/// How long such a sweep takes; an estimate, until a real account has measured it.
const SWEEP_S: f64 = 0.2;

const QUEUE: &str = "arn:aws:sqs:us-east-1:111122223333:orders-dlq";
const MORE: &[(&str, &str)] = &[
    ("SecondDeadLetterQueueArn", "arn:aws:sqs:us-east-1:111122223333:invoices-dlq"),
    ("ThirdDeadLetterQueueArn", "arn:aws:sqs:us-east-1:111122223333:refunds-dlq.fifo"),
];

/// What a team may choose for its attached queue to make it cheaper.
const CHEAPER: &[&[(&str, &str)]] = &[
    &[("ArrivingLettersAlarm", "0")],
    &[("MaximumConcurrency", "0")],
    &[("MaximumConcurrency", "0"), ("ArrivingLettersAlarm", "0")],
];

/// What an office for fifty queues was to cost at most, in dollars per month.
const OFFICE_MAX: f64 = 10.0;

/// The lines of a bill: what, how many, dollars.
type Bill = Vec<(&'static str, usize, f64)>;

/// Returns the table for one, two and three queues, and for fifty, of which infra/attach.yaml attaches all but one.
pub fn table(translated: &Value, attach: &Value) -> Outcome<String> {
    let mut text =
        String::from("# Dollars per month of an idle stack, us-east-1, without free tiers. `cargo xtask costs`\n");
    for queues in 1..=MORE.len() + 1 {
        let mut parameters =
            vec![("DeadLetterQueueArn", QUEUE), ("MainQueueArns", "arn:aws:sqs:us-east-1:111122223333:q")];
        parameters.extend(&MORE[..queues - 1]);
        let bill = bill(&Template::new(translated.clone(), &parameters)?.resources()?);
        let _ = writeln!(text, "\n{queues} dead-letter queue{}", if queues == 1 { "" } else { "s" });
        write(&mut text, &bill);
    }
    let all = ATTACHED_QUEUES + 1;
    let _ = writeln!(text, "\n{all} dead-letter queues: one of the stack, the others attached");
    write_attached(&mut text, translated, attach, &[])?;
    for given in CHEAPER {
        let names: Vec<_> = given.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let _ = writeln!(text, "\nThe same with {}", names.join(" and "));
        write_attached(&mut text, translated, attach, given)?;
    }
    text.push_str(
        "\nThe CloudWatch dashboard is free among the first three of an account; each further one costs 3.00.\n",
    );
    Ok(text)
}

fn write(text: &mut String, bill: &[(&str, usize, f64)]) {
    for (what, count, dollars) in bill {
        let _ = writeln!(text, "  {what:<44} {count:>3}  {dollars:>5.2}");
    }
    let _ = writeln!(text, "  {:<49} {:>5.2}", "sum", sum(bill));
}

fn bill_of_one(translated: &Value) -> Outcome<Bill> {
    let parameters = [("DeadLetterQueueArn", QUEUE), ("MainQueueArns", QUEUE)];
    Ok(bill(&Template::new(translated.clone(), &parameters)?.resources()?))
}

/// What each stack of infra/attach.yaml adds, with the given parameters.
fn bill_of_attached(attach: &Value, queues: usize, given: &[(&str, &str)]) -> Outcome<Bill> {
    let parameters = [&[("DeadLetterQueueArn", QUEUE), ("IntakeFunctionArn", "f")], given].concat();
    let resources = Template::new(attach.clone(), &parameters)?.resources()?;
    let alarms = alarms(&resources) * queues;
    let mappings = of_type(&resources, MAPPINGS).count() * queues;
    let polls: f64 = of_type(&resources, MAPPINGS).map(|mapping| polls(&mapping["Properties"])).sum();
    Ok(vec![
        ("alarms of attached queues", alarms, alarms as f64 * ALARM),
        ("their event source mappings that poll", mappings, polls * queues as f64),
    ])
}

/// Writes the bill of fifty queues, and how many would cost less than the aim.
fn write_attached(text: &mut String, translated: &Value, attach: &Value, given: &[(&str, &str)]) -> Outcome<()> {
    let one = sum(&bill_of_one(translated)?);
    let stack = ("the stack for one queue, as above", 1, one);
    write(text, &[vec![stack], bill_of_attached(attach, ATTACHED_QUEUES, given)?].concat());
    let attached = ((OFFICE_MAX - one) / sum(&bill_of_attached(attach, 1, given)?)) as usize;
    let _ = writeln!(text, "  {:<44} {:>3}", format!("queues for less than {OFFICE_MAX:.2}"), attached + 1);
    Ok(())
}

const ALARMS: &str = "AWS::CloudWatch::Alarm";
const MAPPINGS: &str = "AWS::Lambda::EventSourceMapping";

fn of_type<'a>(resources: &'a BTreeMap<String, Value>, kind: &'static str) -> impl Iterator<Item = &'a Value> {
    resources.values().filter(move |resource| resource["Type"] == kind)
}

/// Counts alarms as CloudWatch bills them: an alarm on an expression costs as much as one for each of its metrics.
fn alarms(resources: &BTreeMap<String, Value>) -> usize {
    let metrics = |alarm: &Value| {
        let parts = alarm["Properties"]["Metrics"].as_array();
        parts.map_or(1, |parts| parts.iter().filter(|part| !part["MetricStat"].is_null()).count())
    };
    of_type(resources, ALARMS).map(metrics).sum()
}

fn sum(bill: &[(&str, usize, f64)]) -> f64 {
    bill.iter().map(|(_, _, dollars)| dollars).sum()
}

fn bill(resources: &BTreeMap<String, Value>) -> Bill {
    let alarms = alarms(resources);
    let mappings: Vec<f64> = of_type(resources, MAPPINGS).map(|mapping| polls(&mapping["Properties"])).collect();
    let sweep = &resources["Sweep"]["Properties"];
    let arm64 = sweep["Architectures"][0] == "arm64";
    let gb = sweep["MemorySize"].as_f64().unwrap_or_default() / 1024.0;
    let gb_second = if arm64 { GB_SECOND_ARM64 } else { GB_SECOND_X86_64 };
    vec![
        ("alarms", alarms, alarms as f64 * ALARM),
        ("custom metrics", 1, CUSTOM_METRIC),
        ("calls to CloudWatch (thousands)", (MINUTES / 1e3) as usize, MINUTES * METRIC_CALL),
        ("event source mappings that poll", mappings.len(), mappings.iter().sum()),
        (
            "runs of the function sweep (thousands)",
            (MINUTES / 1e3) as usize,
            MINUTES * (INVOCATION + SWEEP_S * gb * gb_second),
        ),
        ("invocations by the schedule (thousands)", (MINUTES / 1e3) as usize, MINUTES * SCHEDULED),
        ("table: reads and writes of sweep", 1, MINUTES * (SWEEP_READS * READ_UNIT + SWEEP_WRITES * WRITE_UNIT)),
        ("logs", 1, MINUTES * SWEEP_LOG_GB * LOG_GB),
    ]
}

/// What an idle mapping's polls cost in a month.
fn polls(mapping: &Value) -> f64 {
    let has_maximum = mapping["ScalingConfig"]["MaximumConcurrency"].as_f64().is_some()
        || mapping["ScalingConfig"]["MaximumConcurrency"].is_string();
    let pollers = if has_maximum { POLLERS_WITH_MAXIMUM } else { POLLERS };
    let is_fifo = mapping["EventSourceArn"].as_str().is_some_and(|arn| arn.ends_with(".fifo"));
    MINUTES * POLLS_PER_MINUTE * pollers * if is_fifo { SQS_FIFO_REQUEST } else { SQS_REQUEST }
}

/// Compares the table with its golden file, and the sums for one queue and for an attached one with their maxima.
pub fn check(paths: &Paths, translated: &Value, attach: &Value) -> Outcome<()> {
    let one = ("An idle stack for one queue", sum(&bill_of_one(translated)?), ONE_QUEUE_MAX);
    let attached = ("An attached queue at rest", sum(&bill_of_attached(attach, 1, &[])?), ATTACHED_QUEUE_MAX);
    for (what, dollars, maximum) in [one, attached] {
        if dollars >= maximum {
            let text = format!("{what} costs ${dollars:.2} per month, not less than ${maximum:.2}.");
            return crate::failure::fail(text);
        }
    }
    compare(paths, GOLDEN, &table(translated, attach)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_alarm_on_an_expression_costs_one_alarm_for_each_metric() {
        let on_one = json!({ "Type": ALARMS, "Properties": { "MetricName": "OpenLetters" } });
        let of_two = json!([{ "Expression": "a / b" }, { "MetricStat": {} }, { "MetricStat": {} }]);
        let on_expression = json!({ "Type": ALARMS, "Properties": { "Metrics": of_two } });
        let resources = [("One", on_one), ("Share", on_expression), ("Queue", json!({ "Type": "AWS::SQS::Queue" }))];
        assert_eq!(alarms(&resources.map(|(id, resource)| (id.to_owned(), resource)).into()), 3);
    }

    #[test]
    fn a_mapping_without_a_maximum_polls_less_often() {
        let at = |scaling: Value| polls(&json!({ "EventSourceArn": QUEUE, "ScalingConfig": scaling }));
        assert!(at(json!({})) < at(json!({ "MaximumConcurrency": "12" })));
    }
}
