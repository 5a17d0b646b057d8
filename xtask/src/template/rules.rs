//! What the template's rules refuse before anything is created: CloudFormation evaluates them with the parameters and the
//! region of a deployment.

use crate::failure::{Failure, Outcome, fail};
use serde_json::{Value, json};

const QUEUE: &str = "arn:aws:sqs:eu-west-1:111122223333:orders-dlq";
const ISSUER: [(&str, &str); 2] = [("IssuerUrl", "https://issuer.example"), ("ClientId", "office")];
/// Where AWS Lambda's Developer Guide says that there are no function URLs, and the regions in China, for which it says
/// nothing and CloudFormation's types differ.
const WITHOUT_FUNCTION_URLS: [&str; 13] = [
    "ap-east-2",
    "ap-south-2",
    "ap-southeast-4",
    "ap-southeast-5",
    "ap-southeast-6",
    "ap-southeast-7",
    "ca-west-1",
    "cn-north-1",
    "cn-northwest-1",
    "eu-central-2",
    "eu-south-2",
    "il-central-1",
    "me-central-1",
];

/// Regions, parameters beside the queue's, and the beginning of the refusal.
type Row = (Vec<&'static str>, Vec<(&'static str, &'static str)>, Option<&'static str>);

fn rows() -> Vec<Row> {
    let http_api = ("Front", "HttpApi");
    let [issuer, client] = ISSUER;
    let front = ("DistributionArn", "arn:aws:cloudfront::111122223333:distribution/E1");
    let address = ("DashboardUrl", "https://office.example");
    let anywhere = || vec!["eu-west-1"];
    vec![
        (vec!["us-east-1", "eu-west-1", "sa-east-1", "af-south-1"], vec![], None),
        (
            WITHOUT_FUNCTION_URLS.into(),
            vec![issuer, client],
            Some("This region has no Lambda function URLs. Set Front=HttpApi"),
        ),
        (WITHOUT_FUNCTION_URLS.into(), vec![issuer, client, http_api], None),
        (vec!["cn-north-1", "cn-northwest-1"], vec![http_api], Some("Regions in China have no Cognito")),
        (anywhere(), vec![issuer], Some("Set both IssuerUrl and ClientId")),
        (anywhere(), vec![("ThirdDeadLetterQueueArn", "q")], Some("Set SecondDeadLetterQueueArn before")),
        (anywhere(), vec![("SecondDeadLetterQueueArn", QUEUE)], Some("SecondDeadLetterQueueArn must be another")),
        (anywhere(), vec![("ExistingTable", "kept")], Some("Set both ExistingTable and ExistingBucket")),
        (anywhere(), vec![("MainQueueArns", QUEUE)], Some("MainQueueArns must not name DeadLetterQueueArn")),
        (anywhere(), vec![front], Some("Set DashboardUrl to the distribution's address")),
        (anywhere(), vec![front, address, http_api], Some("DistributionArn needs Front=FunctionUrl")),
        (anywhere(), vec![front, address], None),
    ]
}

/// Checks each row in each of its regions.
pub fn check(translated: &Value) -> Outcome<()> {
    for (regions, given, wanted) in rows() {
        for region in regions {
            let deployment = Deployment { template: translated, region, given: &given };
            let refusals = deployment.refusals()?;
            let fits = match wanted {
                Some(start) => matches!(refusals.as_slice(), [only] if only.starts_with(start)),
                None => refusals.is_empty(),
            };
            if !fits {
                let what = format!("In {region} with {given:?} the template's rules say {refusals:?}.");
                return Err(Failure::new(what).remedy(format!("Expected: {wanted:?}.")));
            }
        }
    }
    Ok(())
}

struct Deployment<'a> {
    template: &'a Value,
    region: &'a str,
    given: &'a [(&'a str, &'a str)],
}

impl Deployment<'_> {
    /// Returns the sentences of the assertions that fail.
    fn refusals(&self) -> Outcome<Vec<String>> {
        let mut refusals = Vec::new();
        for (_, rule) in self.template["Rules"].as_object().into_iter().flatten() {
            if rule.get("RuleCondition").map_or(Ok(true), |condition| self.holds(condition))? {
                for assertion in rule["Assertions"].as_array().into_iter().flatten() {
                    if !self.holds(&assertion["Assert"])? {
                        refusals.push(assertion["AssertDescription"].as_str().unwrap_or_default().to_owned());
                    }
                }
            }
        }
        Ok(refusals)
    }

    fn holds(&self, expression: &Value) -> Outcome<bool> {
        let named = expression.as_object().and_then(|fields| fields.iter().next());
        let Some((name, parts)) = named.and_then(|(name, parts)| Some((name.as_str(), parts.as_array()?))) else {
            return fail(format!("A rule has an unknown condition: {expression}."));
        };
        match (name, parts.as_slice()) {
            ("Fn::Not", [part]) => Ok(!self.holds(part)?),
            ("Fn::And", parts) => parts.iter().try_fold(true, |all, part| Ok(all & self.holds(part)?)),
            ("Fn::Or", parts) => parts.iter().try_fold(false, |any, part| Ok(any | self.holds(part)?)),
            ("Fn::Equals", [left, right]) => Ok(self.value(left)? == self.value(right)?),
            ("Fn::Contains", [list, item]) => {
                let (list, item) = (self.value(list)?, self.value(item)?);
                Ok(list.as_array().is_some_and(|list| list.contains(&item)))
            }
            _ => fail(format!("A rule has an unknown condition: {expression}.")),
        }
    }

    fn value(&self, value: &Value) -> Outcome<Value> {
        let Some(name) = value["Ref"].as_str() else { return Ok(value.clone()) };
        if name == "AWS::Region" {
            return Ok(json!(self.region));
        }
        let parameter = &self.template["Parameters"][name];
        let given = self.given.iter().find(|(given, _)| *given == name).map(|(_, value)| *value);
        let required = match name {
            "DeadLetterQueueArn" => Some(QUEUE),
            "MainQueueArns" => Some("arn:aws:sqs:eu-west-1:111122223333:orders"),
            _ => None,
        };
        let text = given.or(required).or_else(|| parameter["Default"].as_str());
        let text = text.ok_or_else(|| Failure::new(format!("The parameter {name} has no value.")))?;
        let is_list = parameter["Type"] == "CommaDelimitedList";
        Ok(if is_list { text.split(',').collect() } else { json!(text) })
    }
}
