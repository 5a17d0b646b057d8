//! The template with values in place of CloudFormation's functions: what a deployment with certain parameters creates.
//!
//! Names of resources are invented from their logical ids. Only functions that the template uses are known; another one
//! is an error, so that nothing is checked against half a value.

use crate::failure::{Failure, Outcome, fail};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The stack that is imagined.
pub const STACK: &str = "office";
pub const REGION: &str = "eu-west-1";
pub const ACCOUNT: &str = "111122223333";

/// A template after SAM's transform, with the values of its parameters.
pub struct Template {
    whole: Value,
    parameters: BTreeMap<String, Value>,
}

impl Template {
    /// Takes parameters from `given`, and the others from their defaults.
    pub fn new(whole: Value, given: &[(&str, &str)]) -> Outcome<Self> {
        let declared = whole["Parameters"].as_object().cloned().unwrap_or_default();
        if let Some((name, _)) = given.iter().find(|(name, _)| !declared.contains_key(*name)) {
            return fail(format!("The template has no parameter {name}."));
        }
        let mut parameters = BTreeMap::new();
        for (name, parameter) in declared {
            let value = given.iter().find(|(given, _)| *given == name).map(|(_, value)| json!(value));
            let Some(value) = value.or_else(|| parameter.get("Default").cloned()) else {
                return fail(format!("The parameter {name} has no value."));
            };
            let text = text(&value)?;
            let is_list = parameter["Type"] == "CommaDelimitedList";
            parameters.insert(name, if is_list { text.split(',').collect() } else { Value::String(text) });
        }
        Ok(Self { whole, parameters })
    }

    /// Returns the resources that the deployment creates, by logical id.
    pub fn resources(&self) -> Outcome<BTreeMap<String, Value>> {
        let all = self.whole["Resources"].as_object().ok_or_else(|| Failure::new("The template has no resources."))?;
        let mut created = BTreeMap::new();
        for (id, resource) in all {
            if resource.get("Condition").map_or(Ok(true), |name| self.holds(name))? {
                let of_resource = |failure: Failure| Failure { what: format!("{id}: {}", failure.what), ..failure };
                created.insert(id.clone(), self.value(resource).map_err(of_resource)?.unwrap_or_default());
            }
        }
        Ok(created)
    }

    fn holds(&self, condition: &Value) -> Outcome<bool> {
        let name = text(condition)?;
        self.test(&self.whole["Conditions"][&name])
    }

    fn test(&self, expression: &Value) -> Outcome<bool> {
        let (function, argument) = function(expression).ok_or_else(|| unknown(expression))?;
        let parts = argument.as_array().map(Vec::as_slice).unwrap_or_default();
        match (function, parts) {
            ("Condition", _) => self.holds(argument),
            ("Fn::Not", [part]) => Ok(!self.test(part)?),
            ("Fn::And", parts) => parts.iter().try_fold(true, |all, part| Ok(all & self.test(part)?)),
            ("Fn::Or", parts) => parts.iter().try_fold(false, |any, part| Ok(any | self.test(part)?)),
            ("Fn::Equals", [left, right]) => Ok(self.text_of(left)? == self.text_of(right)?),
            _ => Err(unknown(expression)),
        }
    }

    /// Returns a value without functions, or `None` for what the template leaves out (`AWS::NoValue`).
    fn value(&self, value: &Value) -> Outcome<Option<Value>> {
        if let Some((name, argument)) = function(value) {
            return self.call(name, argument);
        }
        Ok(Some(match value {
            Value::Array(items) => {
                let items = items.iter().map(|item| self.value(item)).collect::<Outcome<Vec<_>>>()?;
                items.into_iter().flatten().collect()
            }
            Value::Object(fields) => {
                let mut all = Map::new();
                for (name, field) in fields {
                    if let Some(field) = self.value(field)? {
                        all.insert(name.clone(), field);
                    }
                }
                Value::Object(all)
            }
            plain => plain.clone(),
        }))
    }

    fn call(&self, name: &str, argument: &Value) -> Outcome<Option<Value>> {
        let parts = argument.as_array().map(Vec::as_slice).unwrap_or_default();
        Ok(Some(match (name, parts) {
            ("Ref", _) => return self.reference(&text(argument)?),
            ("Fn::If", [condition, yes, no]) => return self.value(if self.holds(condition)? { yes } else { no }),
            ("Fn::GetAtt", [id, attribute]) => self.attribute(&text(id)?, &text(attribute)?)?,
            ("Fn::Sub", [pattern, names]) => self.substituted(&text(pattern)?, names)?,
            ("Fn::Sub", _) => self.substituted(&text(argument)?, &Value::Null)?,
            ("Fn::Join", [separator, items]) => {
                let items = self.list(items)?;
                json!(items.join(&text(separator)?))
            }
            ("Fn::Split", [separator, whole]) => {
                self.text_of(whole)?.split(&text(separator)?).map(str::to_owned).collect()
            }
            ("Fn::Select", [index, items]) => {
                let index: usize = text(index)?.parse().map_err(|_| unknown(argument))?;
                let items = self.list(items)?;
                json!(items.get(index).ok_or_else(|| unknown(argument))?)
            }
            _ => return fail(format!("This program does not know {name} of {argument}.")),
        }))
    }

    fn text_of(&self, value: &Value) -> Outcome<String> {
        text(&self.value(value)?.unwrap_or_default())
    }

    fn list(&self, value: &Value) -> Outcome<Vec<String>> {
        let list = self.value(value)?.unwrap_or_default();
        list.as_array().ok_or_else(|| unknown(value))?.iter().map(text).collect()
    }

    fn reference(&self, name: &str) -> Outcome<Option<Value>> {
        if name == "AWS::NoValue" {
            return Ok(None);
        }
        let pseudo = match name {
            "AWS::Region" => REGION,
            "AWS::AccountId" => ACCOUNT,
            "AWS::Partition" => "aws",
            "AWS::URLSuffix" => "amazonaws.com",
            "AWS::StackName" => STACK,
            _ => "",
        };
        if !pseudo.is_empty() {
            return Ok(Some(json!(pseudo)));
        }
        if let Some(value) = self.parameters.get(name) {
            return Ok(Some(value.clone()));
        }
        Ok(Some(match self.kind(name)? {
            "AWS::SNS::Topic" => json!(self.arn(name)?),
            "AWS::SQS::Queue" => json!(format!("https://sqs.{REGION}.amazonaws.com/{ACCOUNT}/{}", physical(name))),
            // Names of buckets have no capital letters.
            "AWS::S3::Bucket" => json!(physical(name).to_lowercase()),
            _ => json!(physical(name)),
        }))
    }

    fn attribute(&self, id: &str, attribute: &str) -> Outcome<Value> {
        Ok(match attribute {
            "Arn" => json!(self.arn(id)?),
            "QueueName" => json!(physical(id)),
            "ApiEndpoint" | "Outputs.Url" | "Outputs.Pool" | "Outputs.Client" => json!(format!("https://{id}.example")),
            _ => return fail(format!("This program does not know the attribute {attribute} of {id}.")),
        })
    }

    fn kind(&self, id: &str) -> Outcome<&str> {
        let kind = self.whole["Resources"][id]["Type"].as_str();
        kind.ok_or_else(|| Failure::new(format!("The template has neither a parameter nor a resource {id}.")))
    }

    fn arn(&self, id: &str) -> Outcome<String> {
        let name = physical(id);
        let local = |service: &str, name: &str| format!("arn:aws:{service}:{REGION}:{ACCOUNT}:{name}");
        Ok(match self.kind(id)? {
            "AWS::DynamoDB::Table" => local("dynamodb", &format!("table/{name}")),
            "AWS::S3::Bucket" => format!("arn:aws:s3:::{}", name.to_lowercase()),
            "AWS::SQS::Queue" => local("sqs", &name),
            "AWS::SNS::Topic" => local("sns", &name),
            "AWS::Lambda::Function" => local("lambda", &format!("function:{name}")),
            "AWS::IAM::Role" => format!("arn:aws:iam::{ACCOUNT}:role/{name}"),
            "AWS::Logs::LogGroup" => local("logs", &format!("log-group:{name}:*")),
            kind => return fail(format!("This program knows no ARN for {kind}.")),
        })
    }

    fn substituted(&self, pattern: &str, names: &Value) -> Outcome<Value> {
        let mut whole = String::new();
        let mut parts = pattern.split("${");
        whole.push_str(parts.next().unwrap_or_default());
        for part in parts {
            let (name, rest) = part.split_once('}').ok_or_else(|| Failure::new(format!("No end in {pattern}.")))?;
            let value = match (names.get(name), name.split_once('.')) {
                (Some(value), _) => self.value(value)?,
                (None, Some((id, attribute))) => Some(self.attribute(id, attribute)?),
                (None, None) => self.reference(name)?,
            };
            whole.push_str(&text(&value.unwrap_or_default())?);
            whole.push_str(rest);
        }
        Ok(Value::String(whole))
    }
}

/// The name of a resource.
pub fn physical(id: &str) -> String {
    format!("{STACK}-{id}")
}

fn function(value: &Value) -> Option<(&str, &Value)> {
    let (name, argument) = value.as_object().filter(|fields| fields.len() == 1)?.iter().next()?;
    (name == "Ref" || name == "Condition" || name.starts_with("Fn::")).then_some((name.as_str(), argument))
}

fn text(value: &Value) -> Outcome<String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(is) => Ok(is.to_string()),
        other => Err(unknown(other)),
    }
}

fn unknown(value: &Value) -> Failure {
    Failure::new(format!("This program does not understand {value}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template(given: &[(&str, &str)]) -> Outcome<BTreeMap<String, Value>> {
        let whole = json!({
            "Parameters": { "Queue": { "Type": "String" }, "Keys": { "Type": "CommaDelimitedList", "Default": "" } },
            "Conditions": {
                "IsFifo": { "Fn::Not": [{ "Fn::Equals": [
                    { "Fn::Join": ["", { "Fn::Split": [".fifo", { "Ref": "Queue" }] }] }, { "Ref": "Queue" },
                ] }] },
                "HasKeys": { "Fn::Not": [{ "Fn::Equals": [{ "Fn::Select": [0, { "Ref": "Keys" }] }, ""] }] },
            },
            "Resources": {
                "Steps": { "Type": "AWS::SQS::Queue", "Properties": {
                    "Size": { "Fn::If": ["IsFifo", 10, { "Ref": "AWS::NoValue" }] },
                    "Name": { "Fn::Sub": ["${AWS::Region}/${Steps.Arn}/${More}", { "More": "x" }] },
                } },
                "Key": { "Type": "AWS::SNS::Topic", "Condition": "HasKeys", "Properties": { "Keys": { "Ref": "Keys" } } },
            },
        });
        Template::new(whole, given)?.resources()
    }

    #[test]
    fn functions_are_replaced_by_their_values() {
        let fifo = template(&[("Queue", "arn:q.fifo"), ("Keys", "a,b")]).expect("resolved");
        let properties = |all: &BTreeMap<String, Value>, id: &str| all[id]["Properties"].clone();
        let name = "eu-west-1/arn:aws:sqs:eu-west-1:111122223333:office-Steps/x";
        assert_eq!(properties(&fifo, "Steps"), json!({ "Size": 10, "Name": name }));
        assert_eq!(properties(&fifo, "Key"), json!({ "Keys": ["a", "b"] }));
        let standard = template(&[("Queue", "arn:q")]).expect("resolved");
        assert_eq!(properties(&standard, "Steps"), json!({ "Name": name }));
        assert!(!standard.contains_key("Key"));
    }

    #[test]
    fn a_parameter_without_a_value_or_that_is_not_there_is_an_error() {
        assert!(template(&[]).is_err());
        assert!(template(&[("Queue", "q"), ("Other", "x")]).is_err());
    }
}
