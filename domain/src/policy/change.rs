//! What differs between two policies, and which of the differences remove a protection.

use super::Policy;
use crate::time::Span;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A setting that differs between two policies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PolicyChange {
    /// The setting's path: `gate.quiet_ms`, or `message_types[refund.requested].four_eyes` for a rule that has a name.
    pub setting: String,
    /// Its value before, as JSON; `None` if it was not there.
    pub before: Option<String>,
    /// Its value after, as JSON; `None` if it is no longer there.
    pub after: Option<String>,
}

/// Returns the settings that differ, in the order of their paths. Rules are compared by their name or message type; if
/// only their order differs, which decides where several match, the setting `….order` says so.
///
/// ```
/// use domain::policy::{Policy, changes};
///
/// let after = Policy::parse(r#"{ "gate": { "quiet_ms": 60000 } }"#)?;
/// let found = changes(&Policy::default(), &after);
/// assert_eq!(found[0].setting, "gate.quiet_ms");
/// assert_eq!((found[0].before.as_deref(), found[0].after.as_deref()), (Some("300000"), Some("60000")));
/// # Ok::<(), domain::policy::PolicyError>(())
/// ```
pub fn changes(before: &Policy, after: &Policy) -> Vec<PolicyChange> {
    let mut found = Vec::new();
    // A policy always has a JSON form: its keys are texts, and it has no floating-point numbers.
    let json = |policy: &Policy| serde_json::to_value(policy).unwrap_or_default();
    compare("", Some(&json(before)), Some(&json(after)), &mut found);
    found
}

fn compare(path: &str, before: Option<&Value>, after: Option<&Value>, found: &mut Vec<PolicyChange>) {
    match (before, after) {
        (before, after) if before == after => {}
        (Some(Value::Object(a)), Some(Value::Object(b))) => members(path, a, b, found),
        (Some(Value::Array(a)), Some(Value::Array(b))) => match (names(a), names(b)) {
            (Some(a_names), Some(b_names)) => rules(path, (a, &a_names), (b, &b_names), found),
            _ => found.push(change(path, before, after)),
        },
        _ => found.push(change(path, before, after)),
    }
}

fn members(path: &str, a: &Map<String, Value>, b: &Map<String, Value>, found: &mut Vec<PolicyChange>) {
    let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    for key in keys {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        compare(&path, a.get(key), b.get(key), found);
    }
}

/// Rules with their names.
type Named<'a> = (&'a [Value], &'a [String]);

fn rules(path: &str, (a, a_names): Named<'_>, (b, b_names): Named<'_>, found: &mut Vec<PolicyChange>) {
    let of = |rules: &'_ [Value], names: &[String], name: &String| {
        names.iter().position(|other| other == name).and_then(|at| rules.get(at).cloned())
    };
    let all: BTreeSet<&String> = a_names.iter().chain(b_names).collect();
    for name in all {
        let (before, after) = (of(a, a_names, name), of(b, b_names, name));
        compare(&format!("{path}[{name}]"), before.as_ref(), after.as_ref(), found);
    }
    let kept = |names: &[String], others: &[String]| -> Vec<Value> {
        names.iter().filter(|name| others.contains(name)).map(|name| Value::from(name.as_str())).collect()
    };
    let (before, after) = (Value::Array(kept(a_names, b_names)), Value::Array(kept(b_names, a_names)));
    if before != after {
        found.push(change(&format!("{path}.order"), Some(&before), Some(&after)));
    }
}

/// Returns the names of rules; `None` if they are not rules with different names.
fn names(rules: &[Value]) -> Option<Vec<String>> {
    let name = |rule: &Value| rule.get("message_type").or_else(|| rule.get("name"))?.as_str().map(ToString::to_string);
    let names: Vec<String> = rules.iter().map(name).collect::<Option<_>>()?;
    let distinct: BTreeSet<&String> = names.iter().collect();
    (distinct.len() == names.len()).then_some(names)
}

/// Returns a value with the members of its objects in order. Whether serde_json sorts them depends on the features that
/// other crates of a build enable.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(sorted).collect(),
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(name, _)| *name);
            members.into_iter().map(|(name, member)| (name.clone(), sorted(member))).collect()
        }
        other => other.clone(),
    }
}

fn change(path: &str, before: Option<&Value>, after: Option<&Value>) -> PolicyChange {
    let text = |value: Option<&Value>| value.map(|value| sorted(value).to_string());
    PolicyChange { setting: path.into(), before: text(before), after: text(after) }
}

/// Returns the differences that remove a protection or delete letters earlier, each in a sentence. Whoever changes the
/// policy should read them first.
pub fn warnings(before: &Policy, after: &Policy) -> Vec<String> {
    let mut found = second_people(before, after);
    found.extend(repeats(before, after));
    for rule in after.auto_approvals.iter().filter(|rule| !before.auto_approvals.contains(rule)) {
        found.push(format!(
            "The rule \"{}\" approves replays of up to {} letters without a person.",
            rule.name, rule.letters_max
        ));
    }
    if after.replay.send_pointers && !before.replay.send_pointers {
        found.push("Letters are sent even if their payload in S3 may be gone.".into());
    }
    let kept = [
        ("Delivered", before.delivered_kept(), after.delivered_kept()),
        ("Discarded", before.discarded_kept(), after.discarded_kept()),
    ];
    for (which, before, after) in kept {
        if let Some(after) = after.filter(|after| before.is_none_or(|before| *after < before)) {
            let days = after.as_ms() / Span::from_days(1).as_ms();
            found.push(format!(
                "{which} letters are deleted after {days} days, earlier than before. Nothing brings them back."
            ));
        }
    }
    found.extend(changes(before, after).iter().filter_map(weakened));
    let readmitted = before.sign_in.revoked.iter().filter(|revoked| !after.sign_in.revoked.contains(revoked)).count();
    if readmitted > 0 {
        found.push(format!("Entries removed from sign_in.revoked: {readmitted}. These people may sign in again."));
    }
    found
}

/// Settings of which a lower value protects less, and what then happens.
const WEAKER_IF_LOWER: [(&str, &str); 3] = [
    ("replay.wave_delay_ms", "waves follow each other sooner"),
    ("gate.quiet_ms", "a replay may start sooner after a fix"),
    ("replay.window_slack_ms", "letters are observed for a shorter time"),
];
/// Settings of which a higher value protects less, and what then happens.
const WEAKER_IF_HIGHER: [(&str, &str); 9] = [
    ("replay.pace_per_s", "more letters go out before a pause takes effect"),
    ("gate.replays_max", "a letter is replayed more often before it is quarantined"),
    ("replay.canary_pct", "canaries are larger"),
    ("replay.canary_letters_max", "canaries are larger"),
    ("replay.growth_factor", "waves grow faster"),
    ("replay.wave_letters_max", "waves are larger"),
    ("replay.pause_share_pct", "more letters may return before a replay pauses"),
    ("replay.canary_pause_share_pct", "more letters of a canary may return before its replay pauses"),
    ("replay.sample_letters_min", "a replay does not pause before more letters are sent"),
];
/// Members of a message type's rule that say where sums and deadlines are, which protections depend on.
const READ_FROM: [&str; 3] = [".amount", ".currency", ".deadline"];

/// Says what protection a change of a setting weakens, if it does.
fn weakened(change: &PolicyChange) -> Option<String> {
    let PolicyChange { setting, before, after } = change;
    let number = |value: &Option<String>| value.as_deref().and_then(|text| text.parse::<i64>().ok());
    let (was, is) = (number(before), number(after));
    let of = |table: &[(&str, &'static str)]| table.iter().find(|(name, _)| name == setting).map(|(_, what)| *what);
    let what = if was > is { of(&WEAKER_IF_LOWER) } else { of(&WEAKER_IF_HIGHER) };
    let shown = |value: &Option<String>| value.clone().unwrap_or_else(|| "not set".into());
    let from_to = || format!("{setting} changes from {} to {}", shown(before), shown(after));
    if let Some(what) = what {
        return Some(format!("{}: {what}.", from_to()));
    }
    match setting.as_str() {
        "sign_in.idle_ms" if is.is_none() || was.is_some_and(|was| is > Some(was)) => {
            Some(format!("{}: sessions without input last longer.", from_to()))
        }
        "queues.main" | "queues.default_main" | "queues.default_dlq" => {
            Some(format!("{}: letters may be sent to other queues.", from_to()))
        }
        alert if alert.starts_with("alerts.") => {
            Some(format!("{}: people may be alerted later, or not at all.", from_to()))
        }
        rule if rule.starts_with("message_types[") && READ_FROM.iter().any(|end| rule.ends_with(end)) => {
            Some(format!("{}: sums and deadlines may no longer be found in letters.", from_to()))
        }
        // The first rule of a type decides, so another order is another rule.
        "message_types" => Some(
            "Rules of message types are added, removed or reordered: sums, deadlines and second approvers may be \
             found differently."
                .into(),
        ),
        _ => None,
    }
}

/// Returns the message types that either policy names, and before them `None`: a type that no rule names follows the rule
/// `*`, or the gate.
fn named_types(before: &Policy, after: &Policy) -> Vec<Option<String>> {
    let rules = before.message_types.iter().chain(&after.message_types);
    let types: BTreeSet<Option<String>> = rules.map(|rule| Some(rule.message_type.clone())).chain([None]).collect();
    types.into_iter().collect()
}

/// Where letters with money may be sent on less than before.
fn repeats(before: &Policy, after: &Policy) -> Vec<String> {
    let said = |kind: &Option<String>| match kind.as_deref() {
        Some("*") | None => "messages of every type without a rule of its own".into(),
        Some(kind) => kind.to_string(),
    };
    let rank = |policy: &Policy, kind: &Option<String>| match policy.may_repeat(kind.as_deref()) {
        Some(false) => 0,
        None => 1,
        Some(true) => 2,
    };
    let lost = |kind: &&Option<String>| rank(after, kind) > rank(before, kind);
    let mut found: Vec<String> = named_types(before, after)
        .iter()
        .filter(lost)
        .map(|kind| match rank(after, kind) {
            1 => format!("Consumers may declare that handling {} twice does no harm.", said(kind)),
            _ => format!("Handling {} twice counts as harmless, whatever consumers say.", said(kind)),
        })
        .collect();
    found.dedup();
    found
}

/// Where a second person no longer approves.
fn second_people(before: &Policy, after: &Policy) -> Vec<String> {
    let types = named_types(before, after);
    let lost = |kind: &&Option<String>| {
        let asks = |policy: &Policy| policy.four_eyes(core::slice::from_ref(*kind));
        asks(before) && !asks(after)
    };
    let mut found: Vec<String> = types
        .iter()
        .filter(lost)
        .map(|kind| match kind.as_deref() {
            Some("*") | None => "Replays no longer need a second person, unless a rule of their type says so.".into(),
            Some(kind) => format!("Replays of {kind} no longer need a second person."),
        })
        .collect();
    found.dedup();
    for sum in &before.gate.four_eyes_from {
        let limit = after.gate.four_eyes_from.iter().find(|other| other.currency == sum.currency);
        if limit.is_none_or(|limit| limit.amount > sum.amount) {
            let currency = sum.currency.as_str();
            found.push(format!("Sums from {} {currency} no longer need a second person.", sum.amount));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(text: &str) -> Policy {
        Policy::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn lines(before: &str, after: &str) -> Vec<String> {
        let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".into());
        let found = changes(&policy(before), &policy(after));
        found.iter().map(|c| format!("{}: {} > {}", c.setting, text(&c.before), text(&c.after))).collect()
    }

    #[test]
    fn every_setting_that_differs_is_named() {
        let rows: [(&str, &str, &[&str]); 8] = [
            ("{}", "{}", &[]),
            // What is not given has its default value, so that giving it changes nothing.
            ("{}", r#"{"replay":{"pace_per_s":50}}"#, &[]),
            ("{}", r#"{"replay":{"pace_per_s":10}}"#, &["replay.pace_per_s: 50 > 10"]),
            ("{}", r#"{"delivered_kept_ms":null}"#, &["delivered_kept_ms: 7776000000 > null"]),
            ("{}", r#"{"alerts":{"ages_ms":[60000]}}"#, &["alerts.ages_ms: [3600000,86400000] > [60000]"]),
            (
                r#"{"message_types":[{"message_type":"a","four_eyes":true},{"message_type":"b"}]}"#,
                r#"{"message_types":[{"message_type":"b"},{"message_type":"a"}]}"#,
                &["message_types[a].four_eyes: true > null", r#"message_types.order: ["a","b"] > ["b","a"]"#],
            ),
            (
                r#"{"auto_approvals":[{"name":"a","classes":[],"letters_max":1}]}"#,
                "{}",
                &[r#"auto_approvals[a]: {"categories":[],"classes":[],"letters_max":1,"name":"a"} > -"#],
            ),
            // Two rules of one type cannot be told apart, so the lists are shown as a whole.
            (
                r#"{"strategies":[{"message_type":"a"}]}"#,
                r#"{"strategies":[{"message_type":"a"},{"message_type":"a"}]}"#,
                &["strategies: "],
            ),
        ];
        for (before, after, expected) in rows {
            let found = lines(before, after);
            assert_eq!(found.len(), expected.len(), "{found:?}");
            for (found, expected) in found.iter().zip(expected) {
                assert!(found.starts_with(expected), "{found}");
            }
        }
    }

    #[test]
    fn what_removes_a_protection_is_said() {
        let rows: [(&str, &str, &[&str]); 14] = [
            ("{}", "{}", &[]),
            (r#"{"gate":{"four_eyes":false}}"#, "{}", &[]),
            ("{}", r#"{"gate":{"four_eyes":false}}"#, &["Replays no longer need a second person"]),
            (
                r#"{"message_types":[{"message_type":"refund","four_eyes":true}]}"#,
                r#"{"message_types":[{"message_type":"refund","four_eyes":false}]}"#,
                &["Replays of refund no longer need"],
            ),
            (
                r#"{"gate":{"four_eyes_from":[{"amount":"100","currency":"EUR"},{"amount":"5","currency":"USD"}]}}"#,
                r#"{"gate":{"four_eyes_from":[{"amount":"100.01","currency":"EUR"},{"amount":"4","currency":"USD"}]}}"#,
                &["Sums from 100 EUR no longer need"],
            ),
            (
                "{}",
                r#"{"auto_approvals":[{"name":"small","classes":[],"letters_max":9}],"replay":{"send_pointers":true}}"#,
                &["The rule \"small\" approves replays of up to 9 letters", "Letters are sent even if"],
            ),
            (
                r#"{"delivered_kept_ms":null}"#,
                r#"{"delivered_kept_ms":8640000000,"discarded_kept_ms":259200000}"#,
                &["Delivered letters are deleted after 100 days", "Discarded letters are deleted after 3 days"],
            ),
            (
                r#"{"sign_in":{"revoked":[{"name":"otto"},{"name":"eva"}]}}"#,
                r#"{"sign_in":{"revoked":[{"name":"eva"}]}}"#,
                &["Entries removed from sign_in.revoked: 1."],
            ),
            (
                r#"{"gate":{"quiet_ms":60000,"replays_max":3},"replay":{"canary_pct":5}}"#,
                r#"{"gate":{"quiet_ms":0,"replays_max":100},"replay":{"canary_pct":100}}"#,
                &[
                    "gate.quiet_ms changes from 60000 to 0: a replay may start sooner",
                    "gate.replays_max changes from 3 to 100: ",
                    "replay.canary_pct changes from 5 to 100: canaries are larger.",
                ],
            ),
            // The other way round, the same settings protect more.
            (
                r#"{"gate":{"quiet_ms":0,"replays_max":100},"replay":{"canary_pct":100}}"#,
                r#"{"gate":{"quiet_ms":60000,"replays_max":3},"replay":{"canary_pct":5}}"#,
                &[],
            ),
            ("{}", r#"{"sign_in":{"idle_ms":null}}"#, &["sign_in.idle_ms changes from 1800000 to null: "]),
            ("{}", r#"{"alerts":{"letters_from":0}}"#, &["alerts.letters_from changes from 10 to 0: people may"]),
            (
                r#"{"message_types":[{"message_type":"refund","amount":"/total"}]}"#,
                r#"{"message_types":[{"message_type":"refund","amount":"/nothing"}]}"#,
                &["message_types[refund].amount changes from \"/total\" to \"/nothing\": sums"],
            ),
            (
                "{}",
                r#"{"queues":{"main":["arn:aws:sqs:eu-west-1:111122223333:elsewhere"]}}"#,
                &["queues.main changes from [] to"],
            ),
        ];
        for (before, after, expected) in rows {
            let found = warnings(&policy(before), &policy(after));
            assert_eq!(found.len(), expected.len(), "{found:?}");
            for (found, expected) in found.iter().zip(expected) {
                assert!(found.starts_with(expected), "{found}");
            }
        }
    }

    #[test]
    fn what_lets_money_be_sent_on_less_is_said() {
        let rule = |more: &str| format!(r#"{{"message_types":[{{"message_type":"refund"{more}}}]}}"#);
        let (yes, no) = (rule(r#","idempotent":true"#), rule(r#","idempotent":false"#));
        let all = r#"{"message_types":[{"message_type":"*","idempotent":false}]}"#.to_string();
        let harmless = "Handling refund twice counts as harmless, whatever consumers say.";
        let rows: [(&str, &str, &[&str]); 7] = [
            (&rule(""), &yes, &[harmless]),
            (&no, &yes, &[harmless]),
            ("{}", &yes, &[harmless]),
            (&no, &rule(""), &["Consumers may declare that handling refund twice does no harm."]),
            (&all, "{}", &["Consumers may declare that handling messages of every type without a rule"]),
            (&yes, &no, &[]),
            (&rule(""), &no, &[]),
        ];
        for (before, after, expected) in rows {
            let found = warnings(&policy(before), &policy(after));
            assert_eq!(found.len(), expected.len(), "{before} {after}: {found:?}");
            assert!(found.iter().zip(expected).all(|(found, expected)| found.starts_with(expected)), "{found:?}");
        }
    }
}
