//! What can be proven about infra/template.yaml without an account: rights, idle costs, what parameters change.

mod alarms;
mod costs;
mod discovery;
mod resolve;
mod rights;
mod rules;
mod runbooks;
mod sizes;
mod tags;

use crate::failure::{Failure, Outcome};
use crate::paths::Paths;
use crate::run;
use crate::tools::aws;
use resolve::Template;
use serde_json::{Value, json};
use std::process::{Command, ExitCode};

const TEMPLATE: &str = "infra/template.yaml";
/// The stack that attaches one more dead-letter queue.
const ATTACH: &str = "infra/attach.yaml";
/// The alarm on the retries of one main queue.
const RETRIES: &str = "infra/retries.yaml";

/// `cargo xtask costs`.
pub fn print_costs(paths: &Paths) -> Outcome<ExitCode> {
    print!("{}", costs::table(&translated(paths, TEMPLATE, &[])?, &translated(paths, ATTACH, &[])?)?);
    Ok(ExitCode::SUCCESS)
}

/// Checks what no linter knows.
pub fn check(paths: &Paths) -> Outcome<()> {
    functions_are_traced_if_asked(&translated(paths, TEMPLATE, &["Tracing=Active"])?)?;
    tags::check(paths)?;
    discovery::check(paths)?;
    let (attach, retries) = (translated(paths, ATTACH, &[])?, translated(paths, RETRIES, &[])?);
    let translated = translated(paths, TEMPLATE, &[])?;
    rights::check(paths, &translated)?;
    costs::check(paths, &translated, &attach)?;
    rules::check(&translated)?;
    runbooks::check(paths, &translated, &[&attach, &retries])?;
    alarms::check(&translated, &[&attach, &retries])?;
    mappings_fit_their_queues(&translated, &attach)?;
    an_attached_queue_has_no_maximum_if_asked(&attach)?;
    an_existing_store_is_used_and_none_created(&translated)?;
    letters_outlive_the_stack(&translated)?;
    people_need_an_authenticator_app(&translated)?;
    intake_has_one_maximum_if_asked(&translated)?;
    numbers_are_not_compared_as_texts(&translated)?;
    lists_name_resources_one_by_one(&translated)?;
    sizes::check(&translated)?;
    stacks_do_not_collide(&translated)
}

/// A template after SAM's transform, which sees the parameters' defaults and those that are given (`Name=value`).
fn translated(paths: &Paths, template: &str, given: &[&str]) -> Outcome<Value> {
    let programs = aws::ensure_sam(paths)?;
    let mut python = run::cleaned(Command::new(programs.join("python")), paths);
    python.arg(paths.root.join("xtask/src/template/translate.py")).arg(paths.root.join(template)).args(given);
    // SAM asks for a region and sends nothing there.
    let text = run::stdout_of(python.env("AWS_DEFAULT_REGION", resolve::REGION))?;
    serde_json::from_str(&text).map_err(|cause| Failure::new(format!("SAM's transform wrote no JSON: {cause}.")))
}

/// Lambda refuses a batch of more than 10 messages, and a window, for a FIFO queue; and it refuses a batch of more than 10
/// without a window for any other.
fn mappings_fit_their_queues(translated: &Value, attach: &Value) -> Outcome<()> {
    let queue = |name: &str| format!("arn:aws:sqs:eu-west-1:111122223333:{name}");
    let (first, second, third) = (queue("orders-dlq.fifo"), queue("invoices-dlq"), queue("fifo-dlq"));
    let parameters = [
        ("DeadLetterQueueArn", first.as_str()),
        ("SecondDeadLetterQueueArn", &second),
        ("ThirdDeadLetterQueueArn", &third),
        ("MainQueueArns", "q"),
    ];
    let resources = Template::new(translated.clone(), &parameters)?.resources()?;
    let attached = |queue: &str| -> Outcome<Value> {
        let given = [("DeadLetterQueueArn", queue), ("IntakeFunctionArn", "f")];
        Ok(Template::new(attach.clone(), &given)?.resources()?["Intake"].clone())
    };
    let mappings = [
        (resources["IntakeOfFirst"].clone(), 10, 0),
        (resources["IntakeOfSecond"].clone(), 100, 2),
        (resources["IntakeOfThird"].clone(), 100, 2),
        (attached(&first)?, 10, 0),
        (attached(&second)?, 100, 2),
    ];
    for (mapping, size, window) in &mappings {
        let mapping = &mapping["Properties"];
        // A parameter's value is a string, which CloudFormation turns into a number.
        let number =
            |name: &str| mapping[name].as_str().and_then(|n| n.parse().ok()).or_else(|| mapping[name].as_i64());
        let found = (number("BatchSize"), number("MaximumBatchingWindowInSeconds"));
        if found != (Some(*size), Some(*window)) {
            return Err(Failure::new(format!("The mapping of {} has the batch {found:?}.", mapping["EventSourceArn"])));
        }
    }
    let without = |mapping: &&Value| mapping["Properties"]["ScalingConfig"]["MaximumConcurrency"].is_null();
    let of_stack = resources.values().filter(|resource| resource["Type"] == "AWS::Lambda::EventSourceMapping");
    match of_stack.chain(mappings.iter().map(|(mapping, ..)| mapping)).find(without) {
        Some(mapping) => Err(Failure::new(format!("A mapping may take all of the account's concurrency: {mapping}."))),
        None => Ok(()),
    }
}

/// `MaximumConcurrency=0` leaves an empty `ScalingConfig`, because Lambda keeps the maximum of an updated mapping without one.
fn an_attached_queue_has_no_maximum_if_asked(attach: &Value) -> Outcome<()> {
    let queue = ("DeadLetterQueueArn", "arn:aws:sqs:eu-west-1:111122223333:orders-dlq");
    for (given, expected) in [("0", json!({})), ("12", json!({ "MaximumConcurrency": 12 }))] {
        let parameters = [queue, ("IntakeFunctionArn", "f"), ("MaximumConcurrency", given)];
        let scaling =
            &Template::new(attach.clone(), &parameters)?.resources()?["Intake"]["Properties"]["ScalingConfig"];
        if *scaling != expected {
            return Err(Failure::new(format!("MaximumConcurrency={given} attaches a queue with {scaling}.")));
        }
    }
    Ok(())
}

/// CloudFormation keeps the text of a number: `0.0` and `00` pass as numbers, and equal no `0` of a condition.
fn numbers_are_not_compared_as_texts(translated: &Value) -> Outcome<()> {
    let parameters = &translated["Parameters"];
    let is_number = |value: &&Value| value["Ref"].as_str().is_some_and(|name| parameters[name]["Type"] == "Number");
    let mut values = vec![&translated["Conditions"], &translated["Rules"]];
    while let Some(value) = values.pop() {
        if let Some(number) = value["Fn::Equals"].as_array().and_then(|compared| compared.iter().find(is_number)) {
            let what = format!("A condition compares {} of the type Number.", number["Ref"]);
            return Err(Failure::new(what).remedy("Make the parameter a String with an AllowedPattern."));
        }
        values.extend(value.as_object().into_iter().flat_map(|object| object.values()));
        values.extend(value.as_array().into_iter().flatten());
    }
    Ok(())
}

/// The items of a list become resources of policies, where `*` would be a right on everything. CloudFormation matches each
/// item with the pattern of its parameter.
fn lists_name_resources_one_by_one(translated: &Value) -> Outcome<()> {
    let parameters = translated["Parameters"].as_object().into_iter().flatten();
    for (name, parameter) in parameters.filter(|(_, parameter)| parameter["Type"] == "CommaDelimitedList") {
        let pattern = parameter["AllowedPattern"].as_str().unwrap_or_default();
        // A dot or an asterisk is meant literally in a class or behind a backslash.
        let literal = ["\\.", "[*]", "[a-z0-9.-]", "[A-Za-z0-9_/.#-]"];
        let rest = literal.iter().fold(pattern.to_owned(), |rest, part| rest.replace(part, ""));
        if !rest.trim_start_matches('(').starts_with("arn:") || rest.contains(['.', '*']) {
            return Err(Failure::new(format!("The parameter {name} accepts wildcards: `{pattern}`.")));
        }
    }
    Ok(())
}

/// With `Tracing=Active` each function is traced and may write traces; otherwise it may not.
fn functions_are_traced_if_asked(active: &Value) -> Outcome<()> {
    let queue = ("DeadLetterQueueArn", "arn:aws:sqs:eu-west-1:111122223333:orders-dlq");
    for tracing in ["Active", "Disabled"] {
        let given = [queue, ("MainQueueArns", "q"), ("Tracing", tracing)];
        let resources = Template::new(active.clone(), &given)?.resources()?;
        for function in rights::FUNCTIONS {
            let mode = &resources[function]["Properties"]["TracingConfig"]["Mode"];
            let may = resources[&format!("{function}Role")]["Properties"]["Policies"].to_string().contains("\"xray:");
            if *mode != tracing || may != (tracing == "Active") {
                return Err(Failure::new(format!(
                    "Tracing={tracing}: {function} has {mode}, may write traces: {may}."
                )));
            }
        }
    }
    Ok(())
}

/// With `ExistingTable` the stack has no table and no bucket of its own, and every function uses those that are named.
fn an_existing_store_is_used_and_none_created(translated: &Value) -> Outcome<()> {
    let queue = ("DeadLetterQueueArn", "arn:aws:sqs:eu-west-1:111122223333:orders-dlq");
    let existing = [queue, ("MainQueueArns", "q"), ("ExistingTable", "kept-table"), ("ExistingBucket", "kept-bucket")];
    let resources = Template::new(translated.clone(), &existing)?.resources()?;
    let own = ["Table", "Contents", "ContentsPolicy"];
    if let Some(id) = own.iter().find(|id| resources.contains_key(**id)) {
        return Err(Failure::new(format!(
            "The template creates {id} although the stack is given a table and a bucket."
        )));
    }
    for (id, resource) in resources.iter().filter(|(_, resource)| resource["Type"] == "AWS::Lambda::Function") {
        let variables = &resource["Properties"]["Environment"]["Variables"];
        let used = (&variables["DLO_TABLE"], &variables["DLO_BUCKET"]);
        if used != (&Value::from("kept-table"), &Value::from("kept-bucket")) {
            return Err(Failure::new(format!("The function {id} uses {used:?} instead of the table that is given.")));
        }
        // The rights go to the same table. Every role's policies name it.
        let role = &resources[&format!("{id}Role")]["Properties"]["Policies"].to_string();
        let both = ["dynamodb:eu-west-1:111122223333:table/kept-table\"", "s3:::kept-bucket/content/*\""];
        if let Some(missing) = both.iter().find(|arn| !role.contains(**arn)) {
            return Err(Failure::new(format!("The role of {id} names nothing that ends in {missing}")));
        }
    }
    Ok(())
}

/// Intake takes letters before a deployment has succeeded, so not even a first one that fails may delete their store.
fn letters_outlive_the_stack(translated: &Value) -> Outcome<()> {
    for id in ["Table", "Contents", "ContentsPolicy"] {
        let resource = &translated["Resources"][id];
        let policies = (&resource["DeletionPolicy"], &resource["UpdateReplacePolicy"]);
        if policies != (&Value::from("Retain"), &Value::from("Retain")) {
            return Err(Failure::new(format!("{id} can be deleted with its letters: {policies:?}.")));
        }
    }
    Ok(())
}

/// The stack's own user pool asks for a second factor unless somebody decides otherwise.
fn people_need_an_authenticator_app(translated: &Value) -> Outcome<()> {
    let queue = ("DeadLetterQueueArn", "arn:aws:sqs:eu-west-1:111122223333:orders-dlq");
    let parameters = [queue, ("MainQueueArns", "q")];
    let people = Template::new(translated.clone(), &parameters)?.resources()?.remove("People").unwrap_or_default();
    match people["Properties"]["Parameters"]["Mfa"].as_str() {
        Some("ON") => Ok(()),
        other => Err(Failure::new(format!("The user pool's Mfa is {other:?} by default."))),
    }
}

/// Each queue may have twelve invocations; `IntakeConcurrency` bounds all of them together.
fn intake_has_one_maximum_if_asked(translated: &Value) -> Outcome<()> {
    let queue = ("DeadLetterQueueArn", "arn:aws:sqs:eu-west-1:111122223333:orders-dlq");
    for (given, expected) in [("0", None), ("50", Some("50"))] {
        let parameters = [queue, ("MainQueueArns", "q"), ("IntakeConcurrency", given)];
        let resources = Template::new(translated.clone(), &parameters)?.resources()?;
        let reserved = resources["Intake"]["Properties"]["ReservedConcurrentExecutions"].as_str();
        if reserved != expected {
            return Err(Failure::new(format!("IntakeConcurrency={given} reserves {reserved:?} for intake.")));
        }
    }
    Ok(())
}

/// A name that the template chooses itself must contain the stack's name, or a second stack cannot be created.
fn stacks_do_not_collide(translated: &Value) -> Outcome<()> {
    const NAMES: &[&str] =
        &["Name", "FunctionName", "QueueName", "TopicName", "TableName", "BucketName", "AlarmName", "RoleName"];
    for (id, resource) in translated["Resources"].as_object().into_iter().flatten() {
        let kind = resource["Type"].as_str().unwrap_or_default();
        let names = NAMES.iter().map(|name| &resource["Properties"][*name]).filter(|name| !name.is_null());
        // These refer to a function by its name, and give none.
        let refers = ["AWS::Lambda::EventSourceMapping", "AWS::Lambda::Permission", "AWS::Lambda::EventInvokeConfig"];
        for name in names.filter(|_| !refers.contains(&kind)) {
            if !name.to_string().contains("AWS::StackName") {
                return Err(Failure::new(format!("{id} has the same name in every stack: {name}.")));
            }
        }
    }
    Ok(())
}
