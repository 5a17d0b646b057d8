//! Class, category and the reason in words: policy first, then what the consumer says, then tables, then wording.

use super::{Case, json};
use crate::policy::Policy;
use crate::reading::{Category, Class, Classification, Confidence};
use alloc::format;
use alloc::string::{String, ToString};

/// Classifies one failure. `Unknown` is better than wrong: a permanent failure called transient is a loop.
pub fn classify(case: Case<'_>, policy: &Policy) -> Classification {
    by_policy(case, policy)
        .or_else(|| by_consumer(case))
        .or_else(|| case.expired.then(|| finding(Class::Permanent, Category::Expired, 95, "its deadline had passed when the consumer failed on it")))
        .or_else(|| by_tables(case))
        .or_else(|| by_payload(case))
        .unwrap_or_else(|| finding(Class::Unknown, Category::Unknown, 0, "nothing that we know was matched"))
}

fn finding(class: Class, category: Category, pct: u8, reason: impl Into<String>) -> Classification {
    Classification { class, category, confidence: Confidence::from_pct(pct), reason: reason.into() }
}

/// The team's own rules: the first whose given parts all match.
fn by_policy(case: Case<'_>, policy: &Policy) -> Option<Classification> {
    let error_type = case.failure.error_type.as_deref().unwrap_or_default();
    let message = case.failure.message.as_deref().unwrap_or_default();
    let rule = policy.class_rules.iter().find(|rule| {
        (rule.error_type.is_some() || rule.message_contains.is_some())
            && rule.error_type.as_deref().is_none_or(|end| error_type.ends_with(end))
            && rule.message_contains.as_deref().is_none_or(|part| message.contains(part))
    })?;
    Some(finding(rule.class, rule.category, 100, format!("policy rule: {}", rule.name)))
}

/// The consumer's own word gives the class; tables only add the category.
fn by_consumer(case: Case<'_>) -> Option<Classification> {
    let class = case.failure.stated_class?;
    let word = if class == Class::Transient { "transient" } else { "permanent" };
    let found = by_tables(case).or_else(|| by_payload(case));
    Some(match found {
        Some(found) if found.class == class => {
            finding(class, found.category, 99, format!("the consumer says {word}; {}", found.reason))
        }
        Some(found) => finding(class, found.category, 85, format!("the consumer says {word}; by itself it reads otherwise ({})", found.reason)),
        None => finding(class, Category::Unknown, 90, format!("the consumer says {word}")),
    })
}

fn by_tables(_case: Case<'_>) -> Option<Classification> {
    None
}

/// Where no error is carried, the body may still show why.
fn by_payload(case: Case<'_>) -> Option<Classification> {
    if !case.failure.is_empty() {
        return None;
    }
    let problem = payload_problem(case.body)?;
    Some(finding(Class::Permanent, Category::MalformedPayload, 40, problem.to_string()))
}

/// What is wrong with the body as such.
pub fn payload_problem(body: Option<&str>) -> Option<&'static str> {
    let text = body?.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Some("Empty body");
    }
    // XML is a format of its own, and we do not judge it.
    (!text.starts_with('<') && !json::is_valid(text)).then_some("Body is not valid JSON")
}
