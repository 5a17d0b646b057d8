//! The policy in words, and the positions of errors in its text.
//!
//! The text is read by path. Typed, the policy alone would add a tenth to this part of the download.

mod position;

pub use position::{TextPosition, position_of, syntax_error};

use crate::money::{amount, count};
use crate::when;
use domain::money::{Currency, Decimal, Money};
use domain::policy::PolicyChange;
use domain::read::json::Raw;
use domain::time::Span;

/// A part of the policy: its heading, and a sentence for each rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// The heading.
    pub title: &'static str,
    /// The rules.
    pub lines: Vec<String>,
}

/// Returns the rules of a policy in words. `text` is the policy as JSON, every setting with its value.
pub fn sections(text: &str) -> Vec<Section> {
    let policy = Raw::new(text);
    let section = |title, lines| Section { title, lines };
    vec![
        section("Before a replay", gate(policy)),
        section("Replays", replay(policy)),
        section("Approvals without a person", auto_approvals(policy)),
        section("Message types", message_types(policy)),
        section("Classes and groups", own_rules(policy)),
        section("Alert when", alerts(policy)),
        section("Money", rates(policy)),
        section("Links", links(policy)),
        section("Queues", queues(policy)),
        section("Sign-in", sign_in(policy)),
        section("Retention", retention(policy)),
    ]
}

fn number(policy: Raw<'_>, pointer: &str) -> i64 {
    policy.pointer(pointer).and_then(Raw::as_number).and_then(|digits| digits.parse().ok()).unwrap_or_default()
}

fn is_on(policy: Raw<'_>, pointer: &str) -> bool {
    policy.pointer(pointer).is_some_and(|value| value.text() == "true")
}

/// Returns a duration; `None` for `null`.
fn duration(policy: Raw<'_>, pointer: &str) -> Option<String> {
    let ms = policy.pointer(pointer).and_then(Raw::as_number)?.parse().ok()?;
    Some(when::countdown(Span::from_ms(ms)))
}

fn time(policy: Raw<'_>, pointer: &str) -> String {
    duration(policy, pointer).unwrap_or_else(|| "no limit".to_string())
}

fn list<'a>(policy: Raw<'a>, pointer: &str) -> Vec<Raw<'a>> {
    policy.pointer(pointer).map(|all| all.elements().collect()).unwrap_or_default()
}

/// Returns sums in words: `€10,000.00 or $5,000.00`.
fn sums(policy: Raw<'_>, pointer: &str) -> String {
    let sums = list(policy, pointer).into_iter().map(|sum| {
        let digits = sum.string("amount").and_then(|digits| Decimal::from_str_exact(&digits).ok());
        let currency = sum.string("currency").and_then(|code| Currency::parse(&code));
        let money = digits.zip(currency).map(|(sum, currency)| amount(&Money { amount: sum, currency }).text());
        money.unwrap_or_else(|| sum.text().to_string())
    });
    sums.collect::<Vec<_>>().join(" or ")
}

fn n(policy: Raw<'_>, pointer: &str) -> String {
    count(number(policy, pointer).max(0).unsigned_abs())
}

fn gate(policy: Raw<'_>) -> Vec<String> {
    let mut lines = vec![
        format!("No new failure for {} after the fix.", time(policy, "/gate/quiet_ms")),
        match is_on(policy, "/gate/four_eyes") {
            true => "A second person approves: not the one who declared the fix.".to_string(),
            false => "The person who declared the fix may approve.".to_string(),
        },
    ];
    let from = sums(policy, "/gate/four_eyes_from");
    if !from.is_empty() {
        lines.push(format!("A second person always approves from {from}."));
    }
    let max = n(policy, "/gate/replays_max");
    lines.push(format!("A letter that fails again after {max} replays goes into quarantine."));
    lines
}

fn replay(policy: Raw<'_>) -> Vec<String> {
    let n = |pointer| n(policy, pointer);
    let time = |pointer| time(policy, pointer);
    let canary_pause = match number(policy, "/replay/canary_pause_share_pct") {
        0 => "any letter of it returns".to_string(),
        pct => format!("more than {pct}% of it return"),
    };
    vec![
        format!(
            "The canary is {}% of the letters, at most {}.",
            n("/replay/canary_pct"),
            n("/replay/canary_letters_max")
        ),
        format!(
            "Each wave is up to {} times as large as the one before, at most {} letters.",
            n("/replay/growth_factor"),
            n("/replay/wave_letters_max")
        ),
        format!("At most {} letters are sent per second.", n("/replay/pace_per_s")),
        format!("A replay pauses after its canary if {canary_pause}."),
        format!(
            "It pauses if more than {}% of a wave returns, once {} of its letters are sent.",
            n("/replay/pause_share_pct"),
            n("/replay/sample_letters_min")
        ),
        format!(
            "Between waves it waits {} on average, at most {}.",
            time("/replay/wave_delay_ms"),
            time("/replay/wave_delay_ms_max")
        ),
        format!("It waits up to {} for the main queue to drain.", time("/replay/backlog_ms_max")),
        match is_on(policy, "/replay/send_pointers") {
            true => "Letters that only point to a payload are sent, unless the payload is gone.".to_string(),
            false => "Letters that only point to a payload are not sent.".to_string(),
        },
    ]
}

/// Returns one line for each rule of a list, or a single line if there is none.
fn each(policy: Raw<'_>, pointer: &str, none: &str, line: impl Fn(Raw<'_>) -> String) -> Vec<String> {
    let rules: Vec<String> = list(policy, pointer).into_iter().map(line).collect();
    if rules.is_empty() { vec![none.to_string()] } else { rules }
}

fn words(all: Option<Raw<'_>>) -> String {
    all.map(|all| all.elements().filter_map(Raw::as_scalar).collect::<Vec<_>>().join(", ")).unwrap_or_default()
}

fn auto_approvals(policy: Raw<'_>) -> Vec<String> {
    each(policy, "/auto_approvals", "None: a person approves every plan.", |rule| {
        let name = rule.string("name").unwrap_or_default();
        let max = n(rule, "/letters_max");
        format!("{name}: up to {max} letters of class {}.", words(rule.get("classes")))
    })
}

fn message_types(policy: Raw<'_>) -> Vec<String> {
    const POINTERS: [&str; 5] = ["amount", "amount_minor", "currency", "customer", "deadline"];
    each(policy, "/message_types", "No rules: amounts and deadlines are guessed from the names of fields.", |rule| {
        let name = match rule.string("message_type").unwrap_or_default().as_str() {
            "*" => "Every type".to_string(),
            name => name.to_string(),
        };
        let read =
            POINTERS.iter().filter_map(|field| Some(format!("{} {}", field.replace('_', " "), rule.string(field)?)));
        let severity = rule.string("severity");
        let eyes = rule.get("four_eyes").and_then(|value| match value.text() {
            "true" => Some("second approver required".to_string()),
            "false" => Some("no second approver".to_string()),
            _ => None,
        });
        let repeat = rule.get("idempotent").and_then(|value| match value.text() {
            "true" => Some("safe to handle twice".to_string()),
            "false" => Some("must not be handled twice".to_string()),
            _ => None,
        });
        let facts: Vec<String> = read.chain(severity).chain(eyes).chain(repeat).collect();
        format!("{name}: {}.", facts.join(", "))
    })
}

fn own_rules(policy: Raw<'_>) -> Vec<String> {
    let class = |rule: Raw<'_>| {
        let class = rule.string("class").unwrap_or_default();
        format!("{} is of class {class}.", rule.string("name").unwrap_or_default())
    };
    let mut lines: Vec<String> = list(policy, "/class_rules").into_iter().map(class).collect();
    let groups = list(policy, "/groups").into_iter();
    lines.extend(
        groups.map(|rule| format!("{} names, merges or splits groups.", rule.string("name").unwrap_or_default())),
    );
    if lines.is_empty() {
        lines.push("No rules of your own. The built-in tables apply.".to_string());
    }
    lines
}

fn alerts(policy: Raw<'_>) -> Vec<String> {
    let ages: Vec<String> = list(policy, "/alerts/ages_ms")
        .into_iter()
        .filter_map(|ms| Some(when::span(Span::from_ms(ms.as_number()?.parse().ok()?))))
        .collect();
    let mut lines = Vec::new();
    if number(policy, "/alerts/letters_from") > 0 {
        let from = n(policy, "/alerts/letters_from");
        lines.push(format!("A group reaches {from} open letters, then ten times as many, and so on."));
    }
    if !ages.is_empty() {
        lines.push(format!("A letter has waited for {}.", ages.join(" or ")));
    }
    let from = sums(policy, "/alerts/money_from");
    if !from.is_empty() {
        lines.push(format!("A group holds {from}."));
    }
    if number(policy, "/alerts/deadline_within_ms") > 0 {
        lines.push(format!("A deadline is less than {} away.", time(policy, "/alerts/deadline_within_ms")));
    }
    lines.push(match duration(policy, "/alerts/reminder_ms") {
        Some(every) => format!("Reminders are sent every {every}."),
        None => "No reminders.".to_string(),
    });
    lines
}

fn rates(policy: Raw<'_>) -> Vec<String> {
    let rates = policy.get("rates").filter(|rates| rates.is_object());
    vec![match rates {
        Some(rates) => {
            let base = rates.string("base").unwrap_or_default();
            let codes: Vec<String> = rates
                .get("values")
                .map(|values| values.members().map(|(code, _)| code.to_string()).collect())
                .unwrap_or_default();
            let date = rates.string("date").unwrap_or_default();
            format!("Groups are ranked in {base}, with rates of {date} for {}.", codes.join(", "))
        }
        None => "No exchange rates: each currency is ranked by itself.".to_string(),
    }]
}

fn links(policy: Raw<'_>) -> Vec<String> {
    let pattern = policy.pointer("/links/trace").and_then(Raw::as_scalar);
    vec![match pattern {
        Some(pattern) => format!("The trace header of a letter links to {pattern}."),
        None => "Trace headers are not linked.".to_string(),
    }]
}

fn queues(policy: Raw<'_>) -> Vec<String> {
    each(policy, "/queues/main", "No main queues besides the deployment's.", |queue| {
        format!("Letters may name {}.", queue.as_scalar().unwrap_or_default())
    })
}

fn sign_in(policy: Raw<'_>) -> Vec<String> {
    let idle = match duration(policy, "/sign_in/idle_ms") {
        Some(limit) => format!("A session ends after {limit} without input."),
        None => "Sessions never end for inactivity.".to_string(),
    };
    let revoked = list(policy, "/sign_in/revoked").len() as u64;
    let revoked =
        (revoked > 0).then(|| format!("Access is revoked by {}.", crate::money::counted(revoked, "entry", "entries")));
    std::iter::once(idle).chain(revoked).collect()
}

fn retention(policy: Raw<'_>) -> Vec<String> {
    let kept =
        |pointer, what: &str| match policy.pointer(pointer).and_then(Raw::as_number).and_then(|ms| ms.parse().ok()) {
            Some(ms) => format!("{what} letters are kept for {}.", when::span(Span::from_ms(ms))),
            None => format!("{what} letters are kept for ever."),
        };
    vec![
        kept("/delivered_kept_ms", "Delivered"),
        kept("/discarded_kept_ms", "Discarded"),
        format!("Dead-letter queues whose retention cannot be read are assumed to keep messages for {}.", days(policy)),
    ]
}

fn days(policy: Raw<'_>) -> String {
    when::span(Span::from_ms(number(policy, "/retention_ms")))
}

/// Describes the change of a setting: its value before and after.
pub fn change(change: &PolicyChange) -> (String, String) {
    let words = match (&change.before, &change.after) {
        (Some(before), Some(after)) => format!("{before} → {after}"),
        (None, Some(after)) => format!("added: {after}"),
        (Some(before), None) => format!("removed: {before}"),
        (None, None) => String::new(),
    };
    (change.setting.clone(), words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::policy::Policy;

    fn lines(policy: &str) -> Vec<String> {
        let policy = Policy::parse(policy).unwrap();
        let text = serde_json::to_string(&policy).unwrap();
        sections(&text).into_iter().flat_map(|section| section.lines).collect()
    }

    #[test]
    fn the_default_policy_is_described() {
        let expected = "No new failure for 5 min after the fix.
A second person approves: not the one who declared the fix.
A letter that fails again after 3 replays goes into quarantine.
The canary is 5% of the letters, at most 10.
Each wave is up to 5 times as large as the one before, at most 5,000 letters.
At most 50 letters are sent per second.
A replay pauses after its canary if any letter of it returns.
It pauses if more than 50% of a wave returns, once 5 of its letters are sent.
Between waves it waits 10 s on average, at most 5 min.
It waits up to 1 h for the main queue to drain.
Letters that only point to a payload are not sent.
None: a person approves every plan.
No rules: amounts and deadlines are guessed from the names of fields.
No rules of your own. The built-in tables apply.
A group reaches 10 open letters, then ten times as many, and so on.
A letter has waited for 1 h or 1 d.
A group holds €10,000.00 or £10,000.00 or $10,000.00.
A deadline is less than 1 d away.
Reminders are sent every 1 d.
No exchange rates: each currency is ranked by itself.
Trace headers are not linked.
No main queues besides the deployment's.
A session ends after 30 min without input.
Delivered letters are kept for 90 d.
Discarded letters are kept for 30 d.
Dead-letter queues whose retention cannot be read are assumed to keep messages for 14 d.";
        assert_eq!(lines("{}").join("\n"), expected);
    }

    #[test]
    fn a_teams_rules_are_described() {
        let lines = lines(
            r#"{ "gate": { "four_eyes": false, "four_eyes_from": [{ "amount": "500", "currency": "EUR" }] },
                 "replay": { "canary_pause_share_pct": 20, "send_pointers": true },
                 "message_types": [{ "message_type": "*", "amount": "/total", "currency": "=EUR", "four_eyes": true }],
                 "auto_approvals": [{ "name": "small", "classes": ["transient"], "letters_max": 50 }],
                 "rates": { "base": "EUR", "date": "2026-11-20", "values": { "USD": "0.9" } },
                 "sign_in": { "idle_ms": null, "revoked": [{ "name": "bo" }] },
                 "alerts": { "letters_from": 0, "ages_ms": [], "reminder_ms": null, "money_from": [], "deadline_within_ms": 0 },
                 "links": { "trace": "https://a.example/{trace_id}" },
                 "delivered_kept_ms": null }"#,
        );
        for line in [
            "The person who declared the fix may approve.",
            "A second person always approves from €500.00.",
            "A replay pauses after its canary if more than 20% of it return.",
            "Every type: amount /total, currency =EUR, second approver required.",
            "small: up to 50 letters of class transient.",
            "Groups are ranked in EUR, with rates of 2026-11-20 for USD.",
            "The trace header of a letter links to https://a.example/{trace_id}.",
            "Sessions never end for inactivity.",
            "Access is revoked by 1 entry.",
            "No reminders.",
            "Delivered letters are kept for ever.",
        ] {
            assert!(lines.iter().any(|found| found == line), "{line} is not in {lines:#?}");
        }
    }

    #[test]
    fn a_change_shows_both_values() {
        let row = |before: Option<&str>, after: Option<&str>| {
            let text = |value: Option<&str>| value.map(ToString::to_string);
            change(&PolicyChange { setting: "a.b".into(), before: text(before), after: text(after) }).1
        };
        assert_eq!(row(Some("1"), Some("2")), "1 → 2");
        assert_eq!(row(None, Some("2")), "added: 2");
        assert_eq!(row(Some("1"), None), "removed: 1");
    }
}
