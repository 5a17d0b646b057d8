//! Class, category and a reason in words. Evidence in order: policy, tables, wording, the payload. A class that the
//! letter claims decides only where nothing else is known, because a letter proves nothing about itself.
//!
//! `Unknown` is better than wrong: a permanent failure that is called transient loops. So a name that the sources
//! disagree on is unknown, permanent wordings are tried before transient ones, and in a chain of errors the root cause
//! decides.

mod advice;
mod attempts;
mod bare;
mod chain;
mod codes;
mod conditions;
mod grammar;
mod grams;
mod kafka;
mod names;
mod network;
pub mod objects;
mod order;
mod parts;
mod quoted;
mod said;
mod specific;
mod stated;
mod tables;
mod unfinished;
mod weights;

use super::{Case, json};
use crate::policy::Policy;
use crate::reading::{Category, Class, Classification, Confidence};
use crate::text;
use alloc::format;
use alloc::string::{String, ToString};
pub use attempts::{after_replays, as_reported};
use chain::Link;
use grams::{Grams, Slots};
use tables::wording::{self, Wording};
use tables::{Meaning, abroad, catalogue};
pub use weights::hashes as weighed_hashes;

/// The part of a message that is searched for wordings, bytes.
const WORDING_BYTES_MAX: usize = 4 * 1024;

/// The confidence in a sentence of a database, percent. Plain words have less.
const SENTENCE_PCT: u8 = 85;

/// The confidence in a class that only the letter claims, percent. What the words of an error merely suggest is no surer,
/// and does not overrule who wrote the consumer; a table or a known sentence does.
const CLAIM_PCT: u8 = 60;

/// The confidence in a word of a table, percent: a sentence or a code is surer.
const WORD_PCT: u8 = 65;

/// Classifies one failure.
pub fn classify(case: Case<'_>, policy: &Policy) -> Classification {
    by_policy(case, policy).unwrap_or_else(|| with_claim(case, by_evidence(case)))
}

fn by_evidence(case: Case<'_>) -> Option<Classification> {
    case.expired.then(expired).or_else(|| by_tables(case)).or_else(|| by_payload(case))
}

/// Adds the class that the letter claims. It decides only if the evidence does not.
fn with_claim(case: Case<'_>, found: Option<Classification>) -> Classification {
    let known = |found: &Classification| found.class != Class::Unknown;
    let suggested =
        |found: &Classification| !case.failure.is_empty() && found.confidence <= Confidence::from_pct(CLAIM_PCT);
    match (claim(case), found) {
        (None, Some(found)) => found,
        (None, None) => finding(Class::Unknown, Category::Unknown, 0, "no known pattern matched"),
        (Some(claim), Some(found)) if found.class == claim => {
            let is_guess = found.firm_class() == Class::Unknown;
            let confidence = if is_guess { Confidence::from_pct(CLAIM_PCT) } else { found.confidence };
            let reason = format!("{}; {} claims the same", found.reason, case.claimant);
            Classification { reason, confidence, ..found }
        }
        // The claim is wrong: `contradiction` says so.
        (Some(_), Some(found)) if known(&found) && !suggested(&found) => found,
        (Some(claim), Some(found)) if known(&found) => {
            let reason =
                format!("claimed by {}; the words alone suggest {} ({})", case.claimant, word_of(&found), found.reason);
            finding(claim, Category::Unknown, CLAIM_PCT, reason)
        }
        (Some(claim), Some(found)) => finding(
            claim,
            found.category,
            CLAIM_PCT,
            format!("claimed by {}; the error alone is unknown ({})", case.claimant, found.reason),
        ),
        (Some(claim), None) => finding(claim, Category::Unknown, CLAIM_PCT, format!("claimed by {}", case.claimant)),
    }
}

/// Returns the class that the letter claims, if it claims to know it.
fn claim(case: Case<'_>) -> Option<Class> {
    case.failure.stated_class.filter(|class| *class != Class::Unknown)
}

/// Returns the remark on a claimed class that the policy or the tables contradict.
pub fn contradiction(case: Case<'_>, found: &Classification) -> Option<String> {
    let claim = claim(case).filter(|claim| *claim != found.class)?;
    let (claimed, class) = (word(claim), word_of(found));
    Some(format!("Overruled: {} claims {claimed}, but this failure is {class} ({}).", case.claimant, found.reason))
}

fn finding(class: Class, category: Category, pct: u8, reason: impl Into<String>) -> Classification {
    Classification { class, category, confidence: Confidence::from_pct(pct), reason: reason.into() }
}

fn expired() -> Classification {
    finding(Class::Permanent, Category::Expired, 95, "its deadline had passed before the consumer failed")
}

/// Applies the team's own rules: the first rule with all its conditions met wins.
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

fn word_of(found: &Classification) -> &'static str {
    word(found.class)
}

fn word(class: Class) -> &'static str {
    match class {
        Class::Transient => "transient",
        Class::Permanent => "permanent",
        Class::Unknown => "unknown",
    }
}

/// Returns what the chain of errors says, with no word of the messages that a title would mask.
fn by_tables(case: Case<'_>) -> Option<Classification> {
    let chain = chain::from_case(case);
    let (found, link) = by_chain(&chain)?;
    Some(quoted::masked(found, link))
}

/// Walks the chain from the root outwards: the first link that is transient or permanent decides. A link of which only
/// the form of its sentence is known decides where no other does, and weighed words only if nothing at all is known. A
/// weak answer that the words of its link speak against is a guess. Returns the link that decided, too.
fn by_chain<'a>(chain: &'a [Link<'a>]) -> Option<(Classification, &'a Link<'a>)> {
    let last = chain.len().checked_sub(1)?;
    let (mut guessed, mut undecided) = (None, None);
    for (at, link) in chain.iter().enumerate().rev() {
        let Some(found) = by_link(link) else { continue };
        let reason = if at == 0 || at < last { found.reason } else { format!("{} (the root cause)", found.reason) };
        let found = Classification { reason, ..found };
        match found.class {
            Class::Unknown => undecided.get_or_insert((found, link)),
            _ => {
                let is_form = found.confidence <= Confidence::from_pct(grammar::GRAMMAR_PCT);
                let found = weights::doubted(found, link.error_type, link.message);
                if is_form { guessed.get_or_insert((found, link)) } else { return Some((found, link)) }
            }
        };
    }
    let weigh = |link: &'a Link<'a>| Some((weights::find(link.error_type, link.message)?, link));
    guessed.or(undecided).or_else(|| chain.iter().rev().find_map(weigh))
}

/// Classifies one link by what its message says beside its data. If that says nothing, the data may be the reason; that
/// they say "transient" is a guess.
fn by_link(link: &Link<'_>) -> Option<Classification> {
    let message = text::head(link.message, WORDING_BYTES_MAX);
    let said = said::without_data(link.error_type, message);
    let found = said.as_deref().and_then(|said| by_message(link.error_type, said));
    let found = found.filter(|found| found.firm_class() != Class::Unknown).or_else(|| {
        let found = by_message(link.error_type, message)?;
        Some(if said.is_some() { said::guessed(found) } else { found })
    })?;
    Some(order::contested(found, link.error_type, message))
}

/// Classifies a message: what overrules its type, its type, the codes in its message, then its words.
fn by_message(error_type: &str, message: &str) -> Option<Classification> {
    let lower = message.to_lowercase();
    let found = order::first(error_type, message, &lower).or_else(|| by_type_and_words(error_type, message, &lower));
    let found = stated::decides(order::distrusted(found, &lower), &lower);
    advice::advised(found, &lower)
}

fn by_type_and_words(error_type: &str, message: &str, lower: &str) -> Option<Classification> {
    // Browsers and Node report a broken connection as a `TypeError`, Go as a bare `EOF` of the URL.
    if wording::DISGUISED.iter().any(|(kind, end)| error_type.ends_with(kind) && lower.ends_with(end)) {
        return Some(finding(
            Class::Transient,
            Category::DependencyUnavailable,
            80,
            "matched: a broken connection reported as another error",
        ));
    }
    let typed = tables::by_type(error_type).filter(|_| !tables::is_wrapper(error_type));
    if let Some(meaning) = typed.filter(|m| m.settled) {
        let found = or_wording(by_meaning(meaning, error_type, 95), lower);
        let found = if order::is_named_after_status(error_type) { network::after_type(found, lower) } else { found };
        if let Some(found) = network::of_issuer(&found, lower).or_else(|| under_way(&found, lower)) {
            return Some(found);
        }
        let doubted = order::is_doubted(&found, error_type).then(|| mistake_in(error_type, message, lower)).flatten();
        return Some(doubted.unwrap_or_else(|| specific::found(found, error_type, message, lower)));
    }
    let is_kafka = error_type.to_lowercase().contains("kafka") || lower.starts_with("kafka");
    // A broker's answer is a sentence of the Kafka table; a Kafka client's own errors are not.
    let of_broker = error_type.ends_with("ProtocolError") || error_type.contains("kafka.common.errors");
    let kafka = || is_kafka.then(|| kafka::by_kafka(message, lower, of_broker)).flatten();
    kafka()
        .or_else(|| {
            let found = or_wording(by_code(error_type, message, lower)?, lower);
            // Under a bare status the words may be about anything.
            let of_status = codes::http(&error_type.to_lowercase(), lower).is_some_and(|status| status == found);
            if of_status { Some(found) } else { under_way(&found, lower).or(Some(found)) }
        })
        .or_else(|| by_words(message, lower))
        .map(|found| order::ruled(found, error_type, lower))
        .or_else(|| parts::missing(lower))
        .or_else(|| unfinished::find(lower))
        .or_else(|| {
            let named = || names::find(error_type).filter(|_| typed.is_none());
            let kind =
                catalogue::by_type(error_type).map(|meaning| by_meaning(meaning, error_type, 80)).or_else(named)?;
            // What a rule was broken for is a sentence; that something was unavailable is a name.
            // What was not found may not be there yet.
            let later = kind.category == Category::MissingReference && lower.contains(" yet");
            let doubted = later || order::is_doubted(&kind, error_type);
            let sentence = doubted.then(|| by_grammar(message, lower)).flatten();
            Some(sentence.filter(|sentence| ![kind.class, Class::Unknown].contains(&sentence.class)).unwrap_or(kind))
        })
        .or_else(|| by_grammar(message, lower))
        .or_else(|| by_atom(message))
        .or_else(|| names::of_part(error_type))
        .or_else(|| typed.map(|meaning| by_meaning(meaning, error_type, 30)))
        .or_else(|| by_names(error_type, ""))
}

/// A conflict with what is under way ends, whatever its author called it.
fn under_way(found: &Classification, lower: &str) -> Option<Classification> {
    let is_open = found.class != Class::Transient && found.category != Category::Auth;
    is_open.then(|| unfinished::find(lower)).flatten()
}

/// Tries the codes in a message. The name of a setting may look like one: `request_timeout too short`.
fn by_code(error_type: &str, message: &str, lower: &str) -> Option<Classification> {
    let found = codes::find(error_type, message, lower)?;
    parts::said(found, message, |rest| codes::find(error_type, rest, &rest.to_lowercase()))
}

/// Tries the words of a message.
fn by_words(message: &str, lower: &str) -> Option<Classification> {
    let find = |message: &str, lower: &str| {
        let worded = by_wording(lower).map(|found| network::why_declined(&found, lower).unwrap_or(found));
        worded.or_else(|| by_names(message, lower)).or_else(|| conditions::find(lower))
    };
    parts::said(find(message, lower)?, message, |rest| find(rest, &rest.to_lowercase()))
}

/// Tries the wordings on the words inside names, if splitting the names yields anything new.
fn by_names(text: &str, lower: &str) -> Option<Classification> {
    let spaced = spaced(text);
    (spaced != lower).then(|| by_wording(&spaced)).flatten()
}

/// Tries what the form of the message says, then that of the words inside its names.
fn by_grammar(message: &str, lower: &str) -> Option<Classification> {
    grammar::find(lower).or_else(|| {
        let spaced = spaced(message);
        (spaced != lower).then(|| conditions::find(&spaced).or_else(|| grammar::find(&spaced))).flatten()
    })
}

/// What a message says of a mistake, whatever type its author gave it.
fn mistake_in(error_type: &str, message: &str, lower: &str) -> Option<Classification> {
    let found = codes::find(error_type, message, lower).or_else(|| by_words(message, lower));
    let found = found.or_else(|| parts::missing(lower)).or_else(|| by_grammar(message, lower));
    found.filter(|found| found.class == Class::Permanent)
}

/// The reason in an answer of Erlang or Elixir: `{:error, :not_authenticated}`.
fn by_atom(message: &str) -> Option<Classification> {
    let reason = message.strip_suffix('}')?.rsplit_once("{:error, :")?.1;
    names::find(reason)
}

/// A conflict between two writers is worth a retry; a conflict with existing data is not. The wording decides, as it does
/// where a code says only that something is unknown. Of a limit, it decides if it is about the rate: a quota may be used
/// up for good.
fn or_wording(found: Classification, lower: &str) -> Classification {
    let is_limit = found.category == Category::Throttled;
    let is_open =
        found.class == Class::Unknown && (is_limit || matches!(found.category, Category::Conflict | Category::Unknown));
    let worded = is_open.then(|| by_wording(lower).or_else(|| conditions::find(lower))).flatten();
    let decides = |worded: &Classification| {
        worded.class != Class::Unknown && (!is_limit || worded.category == Category::Throttled)
    };
    worded.filter(decides).unwrap_or(found)
}

/// Splits the words inside names such as `INVALID_SESSION_ID`, `rateLimitExceeded` and `server-unavailable`, in lower
/// case.
fn spaced(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut before = ' ';
    for c in text.chars() {
        if c.is_uppercase() && before.is_lowercase() {
            out.push(' ');
        }
        out.extend(if matches!(c, '_' | '-' | '/' | '.') { ' ' } else { c }.to_lowercase());
        before = c;
    }
    out
}

fn by_meaning(meaning: Meaning, name: &str, pct: u8) -> Classification {
    let name = names::last(name);
    let pct = if meaning.class == Class::Unknown { 50 } else { pct };
    finding(meaning.class, meaning.category, pct, format!("matched: {} {name}", meaning.table))
}

/// Tries the wordings of the message, the most specific ones first.
fn by_wording(lower: &str) -> Option<Classification> {
    if lower.is_empty() {
        return None;
    }
    if let Some(found) = network::refused(lower) {
        return Some(found);
    }
    let grams = Grams::new(lower);
    let in_groups = |groups: &[Wording], slots: &[Slots], pct: u8| {
        let mut slots = slots.iter();
        groups.iter().find_map(|(class, category, words)| {
            // Always takes the wording's slots, so that the slot iterator stays aligned with the table.
            let mut possible =
                words.iter().zip(slots.by_ref().take(words.len())).filter(|(_, slots)| grams.may_hold(slots));
            let (found, _) = possible.find(|(word, _)| lower.contains(**word))?;
            Some(finding(*class, *category, pct, format!("wording: \"{found}\"")))
        })
    };
    in_groups(wording::SENTENCES, &wording::SENTENCE_SLOTS, SENTENCE_PCT)
        .or_else(|| in_groups(abroad::SENTENCES, &abroad::SLOTS, 80))
        .or_else(|| in_groups(wording::CERTIFICATES, &wording::CERTIFICATE_SLOTS, 85))
        .or_else(|| tenant_gone(lower))
        .or_else(|| conditions::broken_link(lower))
        .or_else(|| network::handshake_timeout(lower))
        .or_else(|| parts::states_timeout(lower))
        .or_else(|| in_groups(wording::WORDS, &wording::WORD_SLOTS, 65))
}

/// A tenant or account, followed closely by a statement that it is gone.
fn tenant_gone(lower: &str) -> Option<Classification> {
    let found = wording::TENANTS.iter().find_map(|tenant| {
        let after = text::head(&lower[lower.find(tenant)? + tenant.len()..], 60);
        let gone = wording::GONE.iter().find(|gone| after.contains(**gone))?;
        // A connection or a limit may be gone while the account mentioned next to it is fine.
        (!after.contains("connection") && !after.contains("limit")).then_some((tenant, gone))
    });
    found.map(|(tenant, gone)| {
        finding(Class::Permanent, Category::InvalidTenant, 65, format!("wording: \"{tenant} ... {gone}\""))
    })
}

/// If there is no error, the body may still show what is wrong.
fn by_payload(case: Case<'_>) -> Option<Classification> {
    if !case.failure.is_empty() {
        return None;
    }
    let problem = case.payload_problem?;
    Some(finding(Class::Permanent, Category::MalformedPayload, 40, problem.to_string()))
}

/// Returns what is wrong with the body itself.
pub fn payload_problem(body: Option<&str>) -> Option<&'static str> {
    let text = body?.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Some("Empty body");
    }
    // XML is a format of its own; its validity is not checked.
    (!text.starts_with('<') && !json::is_valid(text)).then_some("Body is not valid JSON")
}

#[cfg(test)]
#[path = "classify_tests.rs"]
mod tests;
