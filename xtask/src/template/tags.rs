//! Every resource that can have tags says whose it is: the tag `dlo-office` is the name of the office's stack, so that a bill
//! can be split by it, and a clean-up finds what a deleted stack has left.
//!
//! It is not the tag `dead-letter-office`, which gives rights on queues.

use super::{ATTACH, RETRIES, TEMPLATE, translated};
use crate::failure::{Failure, Outcome, fail};
use crate::paths::Paths;
use crate::run;
use crate::tools::aws;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

const TAG: &str = "dlo-office";
/// The templates of an office, and what names its stack there. The others belong to teams: queues, a demo, a layer.
const TEMPLATES: [(&str, &str); 6] = [
    (TEMPLATE, "AWS::StackName"),
    ("infra/people.yaml", "Office"),
    ("infra/function-url.yaml", "Office"),
    ("infra/front.yaml", "Office"),
    (ATTACH, "Office"),
    (RETRIES, "Office"),
];

/// Types of resources, each with the property that holds its tags, or `None` if it cannot have any.
type Taggable = BTreeMap<String, Option<String>>;

pub fn check(paths: &Paths) -> Outcome<()> {
    for (file, office) in TEMPLATES {
        let template = translated(paths, file, &[])?;
        let resources = template["Resources"].as_object().into_iter().flatten();
        let types: BTreeSet<&str> = resources.filter_map(|(_, resource)| resource["Type"].as_str()).collect();
        let untagged = untagged(&template, office, &taggable(paths, &types)?);
        if !untagged.is_empty() {
            let what = format!("Without the tag {TAG} in {file}: {}.", untagged.join(", "));
            return Err(Failure::new(what).remedy(format!("Give each the tag {TAG} with the value !Ref {office}.")));
        }
    }
    Ok(())
}

/// Returns the resources that can have tags and do not name their office, by name.
fn untagged<'a>(template: &'a Value, office: &str, taggable: &Taggable) -> Vec<&'a str> {
    let owner = json!({ "Ref": office });
    let is_tagged = |resource: &Value| {
        let kind = resource["Type"].as_str().unwrap_or_default();
        let Some(Some(property)) = taggable.get(kind) else { return true };
        match &resource["Properties"][property] {
            Value::Array(tags) => tags.contains(&json!({ "Key": TAG, "Value": owner })),
            tags => tags[TAG] == owner,
        }
    };
    let resources = template["Resources"].as_object().into_iter().flatten();
    let mut found: Vec<&str> =
        resources.filter(|(_, resource)| !is_tagged(resource)).map(|(id, _)| id.as_str()).collect();
    // JSON keeps the template's order only where another crate of the build asks for it.
    found.sort_unstable();
    found
}

/// Asks cfn-lint, which has the schemas of all types.
fn taggable(paths: &Paths, types: &BTreeSet<&str>) -> Outcome<Taggable> {
    let mut python = run::cleaned(Command::new(aws::ensure_sam(paths)?.join("python")), paths);
    let text = run::stdout_of(python.arg(paths.root.join("xtask/src/template/taggable.py")).args(types))?;
    match serde_json::from_str(&text) {
        Ok(taggable) => Ok(taggable),
        Err(cause) => fail(format!("cfn-lint's schemas do not say what can have tags: {cause}.")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_have_tags_and_does_not_name_its_office_is_found() {
        let tags = |office: &str| json!([{ "Key": "team", "Value": "a" }, { "Key": TAG, "Value": { "Ref": office } }]);
        let template = json!({ "Resources": {
            "Tagged": { "Type": "Queue", "Properties": { "Tags": tags("Office") } },
            "Anothers": { "Type": "Queue", "Properties": { "Tags": tags("Other") } },
            "Untagged": { "Type": "Queue" },
            "Map": { "Type": "Pool", "Properties": { "PoolTags": { TAG: { "Ref": "Office" } } } },
            "EmptyMap": { "Type": "Pool", "Properties": { "PoolTags": {} } },
            "WithoutTags": { "Type": "Permission" },
        } });
        let property = |name: &str| Some(name.to_owned());
        let taggable = [("Queue", property("Tags")), ("Pool", property("PoolTags")), ("Permission", None)];
        let taggable: Taggable = taggable.into_iter().map(|(kind, property)| (kind.to_owned(), property)).collect();
        assert_eq!(untagged(&template, "Office", &taggable), ["Anothers", "EmptyMap", "Untagged"]);
    }
}
