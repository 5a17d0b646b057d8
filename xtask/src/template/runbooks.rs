//! Every alarm names a runbook that exists, and every runbook is named: by an alarm, or as the runbook of a category of
//! failure.

use super::resolve::Template;
use super::rights::ALL_PARAMETERS;
use crate::failure::{Failure, Outcome, at, fail};
use crate::paths::Paths;
use serde_json::Value;
use std::collections::BTreeSet;

const FOLDER: &str = "docs/runbooks";
/// Runbooks of categories are named after the category, below this folder.
const CATEGORIES: &str = "categories";
/// Queues with which every alarm of the template is created.
const SECOND: &str = "arn:aws:sqs:eu-west-1:111122223333:invoices-dlq";
const THIRD: &str = "arn:aws:sqs:eu-west-1:111122223333:refunds-dlq";
/// What every runbook answers, as headings.
const HEADINGS: &[&str] = &["## What happens to the letters", "## Do this"];

/// Queues and functions of the stacks beside the office's, which have some of these parameters.
const OTHERS: &[(&str, &str)] = &[
    ("DeadLetterQueueArn", SECOND),
    ("IntakeFunctionArn", "f"),
    ("MainQueueArn", "arn:aws:sqs:eu-west-1:111122223333:x"),
];

/// Checks the alarms of the office's stack, and of the templates that are deployed beside it.
pub fn check(paths: &Paths, translated: &Value, others: &[&Value]) -> Outcome<()> {
    let queues = [("SecondDeadLetterQueueArn", SECOND), ("ThirdDeadLetterQueueArn", THIRD)];
    let alarms = [("ArrivingLettersAlarm", "1"), ("ReplaySuccessAlarm", "95")];
    let parameters = [ALL_PARAMETERS, &queues, &alarms].concat();
    let mut resources: Vec<_> = Template::new(translated.clone(), &parameters)?.resources()?.into_iter().collect();
    for other in others {
        let given: Vec<_> = OTHERS.iter().copied().filter(|(name, _)| !other["Parameters"][*name].is_null()).collect();
        resources.extend(Template::new((*other).clone(), &given)?.resources()?);
    }
    let mut named = BTreeSet::new();
    for (id, alarm) in resources.iter().filter(|(_, resource)| resource["Type"] == "AWS::CloudWatch::Alarm") {
        let text = alarm["Properties"]["AlarmDescription"].as_str().unwrap_or_default();
        let link = text.split_once("Runbook: docs/runbooks/").map(|(_, link)| link.trim());
        let Some(link) = link.filter(|link| link.ends_with(".md")) else {
            return fail(format!("The description of the alarm {id} names no runbook: {text}"));
        };
        named.insert(link.to_owned());
    }
    let files = files(paths, "")?;
    let differing: Vec<_> = named.symmetric_difference(&files).collect();
    if !differing.is_empty() {
        let what = format!("Alarms and the files of {FOLDER} differ: {differing:?}.");
        return Err(
            Failure::new(what).remedy("Write the runbook that an alarm names, and remove one that no alarm names.")
        );
    }
    let categories: BTreeSet<String> = categories(paths)?.into_iter().map(|name| format!("{name}.md")).collect();
    let written = files_of_categories(paths)?;
    let differing: Vec<_> = categories.symmetric_difference(&written).collect();
    if !differing.is_empty() {
        return fail(format!(
            "The categories of failure and the files of {FOLDER}/{CATEGORIES} differ: {differing:?}."
        ));
    }
    let all = files.iter().cloned().chain(written.iter().map(|name| format!("{CATEGORIES}/{name}")));
    all.into_iter().try_for_each(|name| has_its_parts(paths, &name))
}

fn files_of_categories(paths: &Paths) -> Outcome<BTreeSet<String>> {
    files(paths, CATEGORIES)
}

fn files(paths: &Paths, below: &str) -> Outcome<BTreeSet<String>> {
    let folder = paths.root.join(FOLDER).join(below);
    let entries = at("list", &folder, std::fs::read_dir(&folder))?;
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    Ok(names.filter(|name| name.ends_with(".md") && name != "README.md").collect())
}

/// The names of the categories, as they are stored and shown: the variants of `Category` in snake case.
fn categories(paths: &Paths) -> Outcome<Vec<String>> {
    let file = paths.root.join("domain/src/reading.rs");
    let text = at("read", &file, std::fs::read_to_string(&file))?;
    let (_, body) = text.split_once("pub enum Category {").ok_or_else(|| Failure::new("There is no Category."))?;
    let (body, _) = body.split_once("\n}").ok_or_else(|| Failure::new("Category has no end."))?;
    let variants = body.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(['/', '#']));
    Ok(variants.map(|line| snake_case(line.trim_end_matches(','))).collect())
}

fn snake_case(name: &str) -> String {
    let mut text = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.push(c.to_ascii_lowercase());
    }
    text
}

fn has_its_parts(paths: &Paths, name: &str) -> Outcome<()> {
    let file = paths.root.join(FOLDER).join(name);
    let text = at("read", &file, std::fs::read_to_string(&file))?;
    match HEADINGS.iter().find(|heading| !text.lines().any(|line| line == **heading)) {
        Some(heading) => fail(format!("{FOLDER}/{name} lacks the heading `{heading}`.")),
        None => Ok(()),
    }
}
