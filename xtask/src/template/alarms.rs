//! What people read of alarms before they deploy, and which main queues have one.

use super::resolve::Template;
use crate::failure::{Failure, Outcome};
use serde_json::Value;

const ALARM: &str = "AWS::CloudWatch::Alarm";
/// The main queues of the office's stack that can have an alarm on their retries, by the names of their parts.
const RETRIES: [&str; 5] = ["RetriesOfFirst", "RetriesOfSecond", "RetriesOfThird", "RetriesOfFourth", "RetriesOfFifth"];

/// Checks the alarms of the office's stack, and of the templates that are deployed beside it.
pub fn check(translated: &Value, others: &[&Value]) -> Outcome<()> {
    for template in others.iter().copied().chain([translated]) {
        thresholds_are_explained(template)?;
    }
    each_main_queue_has_its_alarm(translated)
}

/// A parameter that is a threshold names the alarm, and says what its default is good for.
fn thresholds_are_explained(template: &Value) -> Outcome<()> {
    let resources = template["Resources"].as_object().into_iter().flatten();
    for (id, alarm) in resources.filter(|(_, resource)| resource["Type"] == ALARM) {
        for parameter in references(&alarm["Properties"]["Threshold"]) {
            let description = template["Parameters"][parameter]["Description"].as_str().unwrap_or_default();
            // Of alarms for several queues, the first is named.
            let name = id.replace("Second", "First").replace("Third", "First");
            if !description.contains(&name) || !description.contains("default") {
                let what = format!("The parameter {parameter}, a threshold of {name}, does not explain its default.");
                return Err(Failure::new(what).remedy("Name the alarm, and say why the default is what it is."));
            }
        }
    }
    Ok(())
}

/// Returns the parameters that a value refers to.
fn references(value: &Value) -> Vec<&str> {
    if let Some(name) = value["Ref"].as_str() {
        return vec![name];
    }
    let parts = value["Fn::If"].as_array();
    parts.into_iter().flatten().flat_map(references).collect()
}

/// With `RetryShareAlarm`, each of the first main queues has an alarm of its own, and none without.
fn each_main_queue_has_its_alarm(translated: &Value) -> Outcome<()> {
    let queues: Vec<String> = (0..7).map(|n| format!("arn:aws:sqs:eu-west-1:111122223333:orders-{n}.fifo")).collect();
    for (count, share) in [(1, "5"), (2, "5"), (RETRIES.len(), "5"), (queues.len(), "5"), (queues.len(), "0")] {
        let mains = queues[..count].join(",");
        let dlq = ("DeadLetterQueueArn", "arn:aws:sqs:eu-west-1:111122223333:orders-dlq");
        let given = [dlq, ("MainQueueArns", mains.as_str()), ("RetryShareAlarm", share)];
        let resources = Template::new(translated.clone(), &given)?.resources()?;
        let watched = RETRIES.iter().filter_map(|id| resources.get(*id));
        let watched: Vec<_> = watched.map(|part| &part["Properties"]["Parameters"]["MainQueueArn"]).collect();
        let expected = if share == "0" { 0 } else { count.min(RETRIES.len()) };
        if watched != queues[..expected].iter().collect::<Vec<_>>() {
            let what = format!("With RetryShareAlarm={share} and {count} main queues, the alarms watch {watched:?}.");
            return Err(Failure::new(what));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_default_without_a_reason_is_refused() {
        let template = |description: &str| {
            json!({
                "Parameters": { "Age": { "Description": description } },
                "Resources": { "SecondIsOld": { "Type": ALARM, "Properties": {
                    "Threshold": { "Fn::If": ["IsOn", 600, { "Ref": "Age" }] },
                } } },
            })
        };
        for (description, is_explained) in [
            ("FirstIsOld fires after this. The default is a day.", true),
            ("FirstIsOld fires after this.", false),
            ("An alarm fires after this. The default is a day.", false),
        ] {
            assert_eq!(thresholds_are_explained(&template(description)).is_ok(), is_explained, "{description}");
        }
    }
}
