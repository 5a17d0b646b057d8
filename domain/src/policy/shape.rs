//! The form of a policy file: what must be an object. serde reads a list of values as settings, too, by their order, so
//! that `[]` would be a policy that says nothing.

use super::error::PolicyError;
use alloc::format;
use alloc::string::{String, ToString};
use serde_json::Value;

/// The settings that are objects.
const OBJECTS: [&str; 7] = ["queues", "gate", "replay", "alerts", "rates", "links", "sign_in"];
/// The settings that are lists of objects.
const LISTS: [&str; 5] = ["message_types", "strategies", "class_rules", "groups", "auto_approvals"];

/// Refuses a policy that has a list in the place of an object.
pub(super) fn check(policy: &Value) -> Result<(), PolicyError> {
    let wrong = |setting: String| Err(PolicyError::NotAnObject { setting });
    if !policy.is_object() {
        return wrong("the policy".to_string());
    }
    if let Some(name) = OBJECTS.into_iter().find(|name| policy[*name].is_array()) {
        return wrong(name.to_string());
    }
    for name in LISTS {
        let rules = policy[name].as_array().into_iter().flatten();
        if let Some(at) = rules.into_iter().position(Value::is_array) {
            return wrong(format!("{name}[{at}]"));
        }
    }
    Ok(())
}

/// Refuses a rule whose message type no message can have.
pub(super) fn message_type(setting: &str, name: &str) -> Result<(), PolicyError> {
    let setting = || format!("{setting}.message_type");
    if name.trim().is_empty() {
        return Err(PolicyError::NoMessageType { setting: setting() });
    }
    if name != "*" && name.contains('*') {
        return Err(PolicyError::Pattern { setting: setting(), value: name.to_string() });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Policy;
    use alloc::borrow::ToOwned;

    #[test]
    fn what_would_never_match_is_refused_with_its_place_and_what_to_do() {
        let missing = "is missing, so the rule would match no message. Name a message type exactly, or * for all types";
        for (text, expected) in [
            ("[]", "the policy must be an object of named settings, { … }".to_owned()),
            (" \n[[],[]]", "the policy must be an object of named settings, { … }".to_owned()),
            (r#"{"gate":[]}"#, "gate must be an object of named settings, { … }".to_owned()),
            (r#"{"strategies":[{"message_type":"a"},[]]}"#, "strategies[1] must be an object of named settings, { … }".to_owned()),
            (r#"{"message_types":[["order"]]}"#, "message_types[0] must be an object of named settings, { … }".to_owned()),
            (r#"{"strategies":[{"attempts_max":3}]}"#, format!("strategies[0].message_type {missing}")),
            (r#"{"strategies":[{"message_type":" "}]}"#, format!("strategies[0].message_type {missing}")),
            (r#"{"message_types":[{"message_type":"*"},{"severity":"info"}]}"#, format!("message_types[1].message_type {missing}")),
            (
                r#"{"strategies":[{"message_type":"order.*"}]}"#,
                "strategies[0].message_type is order.*, and patterns match nothing. Give each message type a rule, or use * \
                 for all types"
                    .to_owned(),
            ),
            (
                r#"{"message_types":[{"message_type":"**"}]}"#,
                "message_types[0].message_type is **, and patterns match nothing. Give each message type a rule, or use * \
                 for all types"
                    .to_owned(),
            ),
        ] {
            assert_eq!(Policy::parse(text).expect_err(text).to_string(), expected);
        }
        for text in [
            r#"{"strategies":[{"message_type":"*"}],"message_types":[{"message_type":"order placed"}]}"#,
            r#"{"rates":null}"#,
        ] {
            assert!(Policy::parse(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn a_setting_is_named_also_where_the_policy_was_parsed_before() {
        let value = serde_json::json!({ "strategies": [{ "message_type": "order.*" }] });
        let error = Policy::from_value(&value).expect_err("a pattern").to_string();
        assert!(error.starts_with("strategies[0].message_type is order.*"), "{error}");
        let error = Policy::from_value(&serde_json::json!([])).expect_err("a list").to_string();
        assert_eq!(error, "the policy must be an object of named settings, { … }");
    }
}
