//! Limits of AWS that long lists in parameters could exceed: of a function's environment, and of a role's policies. A
//! deployment with more fails, so docs/operations.md says how long lists may be.

use super::resolve::Template;
use crate::failure::{Failure, Outcome};
use serde_json::Value;
use std::collections::BTreeMap;

/// What the environment variables of a function may have together, names and values (AWS Lambda's quotas).
const ENVIRONMENT_BYTES_MAX: usize = 4096;
/// How much longer names are on AWS than here: a longer stack's name, and a suffix that CloudFormation invents. Up to eight
/// variables of a function hold such a name.
const NAMES_BYTES: usize = 8 * 30;
/// What docs/operations.md promises: characters of `MainQueueArns` beside this many of `Policy`.
const QUEUES_BYTES: [(usize, usize); 2] = [(1_200, 1_500), (2_700, 0)];

/// What the policies within a role may have together, and a managed policy, without white space (IAM's quotas).
const ROLE_BYTES_MAX: usize = 10_240;
const MANAGED_BYTES_MAX: usize = 6_144;
/// As above; up to twenty resources of a role have such a name.
const RESOURCES_BYTES: usize = 20 * 30;
/// What docs/operations.md promises: characters of the lists whose resources are in policies. A parameter has at most 4,096.
const LISTS_BYTES: [(&str, usize); 5] = [
    ("MainQueueArns", 2_700),
    ("ConsumerFunctionArns", 4_096),
    ("ConsumerLogGroupArns", 4_096),
    ("PayloadBucketArns", 500),
    ("KmsKeyArns", 800),
];

pub fn check(translated: &Value) -> Outcome<()> {
    environments_fit(translated)?;
    policies_fit(translated)
}

/// The lists of queues and the policy travel in the functions' environments.
fn environments_fit(translated: &Value) -> Outcome<()> {
    for (mains, policy) in QUEUES_BYTES {
        let (mains, policy) = ("q".repeat(mains), "p".repeat(policy));
        let resources = created(translated, &[("MainQueueArns", &mains), ("Policy", &policy)])?;
        for (id, function) in resources.iter().filter(|(_, resource)| resource["Type"] == "AWS::Lambda::Function") {
            let variables = function["Properties"]["Environment"]["Variables"].as_object();
            let bytes = |(name, value): (&String, &Value)| name.len() + value.as_str().unwrap_or_default().len();
            let bytes = variables.into_iter().flatten().map(bytes).sum::<usize>() + NAMES_BYTES;
            if bytes > ENVIRONMENT_BYTES_MAX {
                let what = format!("{} characters of MainQueueArns beside {} of Policy", mains.len(), policy.len());
                return Err(Failure::new(format!("{what} make an environment of {bytes} bytes for {id}.")));
            }
        }
    }
    Ok(())
}

/// The lists of resources are in the functions' roles. Attached queues are not: their tags give the rights.
fn policies_fit(translated: &Value) -> Outcome<()> {
    let lists = LISTS_BYTES.map(|(name, bytes)| (name, list(bytes)));
    let lists: Vec<_> = lists.iter().map(|(name, list)| (*name, list.as_str())).collect();
    let more = [("AttachedQueues", "true"), ("Tracing", "Active"), ("AlertsKeyArn", "arn:aws:kms:r:1:key/k")];
    for (id, resource) in created(translated, &[&lists[..], &more].concat())? {
        let own = std::iter::once(&resource["Properties"]);
        let within = resource["Properties"]["Policies"].as_array().into_iter().flatten();
        let documents = own.chain(within).map(|policy| &policy["PolicyDocument"]);
        let bytes: usize = documents.filter(|document| document.is_object()).map(|text| text.to_string().len()).sum();
        let maximum = match resource["Type"].as_str() {
            Some("AWS::IAM::Role") => ROLE_BYTES_MAX - RESOURCES_BYTES,
            Some("AWS::IAM::ManagedPolicy") => MANAGED_BYTES_MAX,
            _ => continue,
        };
        if bytes > maximum {
            return Err(Failure::new(format!("{id} has {bytes} characters with long lists, above {maximum}.")));
        }
    }
    Ok(())
}

/// A list of as many characters, of resources with usual names.
fn list(bytes: usize) -> String {
    let resource = "arn:aws:service:ap-southeast-1:111122223333:kind:of-a-usual-length";
    let list = [resource].repeat(bytes / resource.len() + 1).join(",");
    list.chars().take(bytes).collect()
}

/// The resources of a stack with three queues, and what else is given.
fn created(translated: &Value, given: &[(&str, &str)]) -> Outcome<BTreeMap<String, Value>> {
    let queue = |name: &str| format!("arn:aws:sqs:ap-southeast-1:111122223333:{name}-of-a-usual-length-dlq");
    let (first, second, third) = (queue("first"), queue("second"), queue("third"));
    let queues = [
        ("DeadLetterQueueArn", first.as_str()),
        ("SecondDeadLetterQueueArn", &second),
        ("ThirdDeadLetterQueueArn", &third),
        ("DefaultMainQueueArn", &first),
    ];
    Template::new(translated.clone(), &[&queues, given].concat())?.resources()
}
