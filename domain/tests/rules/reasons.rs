//! What a reason quotes of an error: the words of the rules, and of the message no word that its template masks.

use crate::reader::{all_errors, assess};
use domain::policy::Policy;
use domain::read::{classify_failure, frames, skeleton};
use domain::reading::Failure;
use std::collections::BTreeSet;

/// The words of a text in lower case, with blanks between the words inside names.
fn words(text: &str) -> BTreeSet<String> {
    let mut spaced = String::new();
    let mut before = ' ';
    for c in text.chars() {
        if c.is_uppercase() && before.is_lowercase() {
            spaced.push(' ');
        }
        spaced.extend(c.to_lowercase());
        before = c;
    }
    spaced.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// The types and messages of an error and of its causes.
fn links(error: &Failure) -> Vec<(String, String)> {
    let stack = frames::parse(error.stack.as_deref().unwrap_or_default());
    let head = stack.head.unwrap_or_default();
    let own = (error.error_type.clone().unwrap_or(head.error_type), error.message.clone().unwrap_or(head.message));
    let causes = stack.causes.into_iter().map(|cause| (cause.error_type, cause.message));
    [own].into_iter().chain(causes).collect()
}

/// The words that stand only where the templates of an error have masks.
fn masked(error: &Failure, title: &str) -> BTreeSet<String> {
    let (mut all, mut shown) = (BTreeSet::new(), words(title));
    for (error_type, message) in links(error) {
        all.extend(words(&message));
        shown.extend(words(&error_type));
        let link = Failure { error_type: Some(error_type), message: Some(message), ..Failure::default() };
        shown.extend(skeleton(&link, None).map(|skeleton| words(&skeleton.template)).unwrap_or_default());
    }
    // Normal forms have no plurals.
    let singular = |word: &str| match word {
        "have" => "has".to_owned(),
        _ => word.strip_suffix("ies").map_or_else(|| word.trim_end_matches('s').to_owned(), |stem| format!("{stem}y")),
    };
    all.into_iter().filter(|word| !shown.contains(word) && !shown.contains(&singular(word))).collect()
}

/// Words of tables and rules that some errors of the exam have in their data, too.
#[rustfmt::skip]
const OF_RULES: [&str; 23] = [
    "already", "busy", "compatible", "database", "error", "failure", "permanent", "retryable", "transient", "no", "of", "out", "calls", "header", "insufficient", "invalid", "loading", "network", "per", "second", "timeout", "unavailable", "unsupported",
];

#[test]
fn no_reason_quotes_a_word_that_the_template_masks() {
    let mut quoting = Vec::new();
    for error in all_errors() {
        let found = classify_failure(&error, None, &Policy::default());
        let reason = found.classification.reason;
        let masked = masked(&error, &found.title);
        let quoted: BTreeSet<String> = reason.split('"').skip(1).step_by(2).flat_map(words).collect();
        let data: Vec<_> = quoted.intersection(&masked).filter(|word| !OF_RULES.contains(&word.as_str())).collect();
        if !data.is_empty() {
            quoting.push(format!("{data:?} | {reason} | {:?}: {:?}", error.error_type, error.message));
        }
    }
    assert!(quoting.is_empty(), "{} reasons:\n{}", quoting.len(), quoting.join("\n"));
}

/// Error type, message, reason.
#[rustfmt::skip]
const ROWS: &[(&str, &str, &str)] = &[
    // Mail addresses.
    ("Error", "value must anna@example.com have", "the sentence says \"must *\""),
    ("", "the address cannot anna@example.com", "the sentence says \"cannot *\""),
    ("", "the mail address must not be anna@example.com", "wording: \"must not\""),
    ("", "temporarily anna@example.com", "the sentence says \"temporarily *\""),
    ("", "login of anna@example.com was rejected by bank DE89370400440532013000", "the sentence says \"rejected by\""),
    // Numbers of cards, accounts and telephones.
    ("", "no customer Anna Kowalski with card 4111 1111 1111 1111", "the sentence says \"no customer\""),
    ("", "card 4111111111111111 is not 4111111111111112", "the sentence says \"not *\""),
    ("", "IBAN requires DE89370400440532013000", "the sentence says \"requires *\""),
    ("", "phone requires +49 170 1234567", "the sentence says \"requires *\""),
    ("", "the amount is below 12.50 EUR", "the sentence says \"below *\""),
    // Names of persons and tenants, some of which the weights know.
    ("", "the name is not \"Kowalski\"", "the sentence says \"not *\""),
    ("", "customer Anna Kowalski does not pay", "the sentence says \"does not\""),
    ("", "user 'anna' of tenant 'gold' ended session 7", "the word \"user\" suggests permanent"),
    ("", "C:\\Users\\anna\\orders\\in.csv is locked", "the words \"is locked\" suggest permanent"),
    ("Swoosh.DeliveryError", "delivery error: Response: {422, %{\"to\" => \"anna@mail.example\"}}", "the word \"error\" suggests permanent"),
    // Tokens and addresses.
    ("", "Bearer must eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc", "the sentence says \"must *\""),
    ("", "until 7c9e6679-7425-40de-944b-e07fc1f90ae7", "the sentence says \"until *\""),
    ("", "cannot https://shop.example/cart?token=sk_live_51Habcdef0123456789&user=anna", "the sentence says \"cannot https\""),
    // What is under way.
    ("", "cannot stop while it is \"invoicing\"", "the sentence says \"cannot stop\""),
    // A cause, and the error that a panic names.
    ("shop.OrderFailed", "order failed ¦¦ shop.OrderFailed: order failed\n\tat shop.A.b(A.java:1)\nCaused by: shop.Card: card must 4111111111111111", "the sentence says \"must *\" (the root cause)"),
    ("panic", "called `Result::unwrap()` on an `Err` value: \"must anna@example.com\"", "matched: error type panic"),
    // The words of rules and tables stay, also those of an error's type, and those that are data elsewhere.
    ("shop.CardNotMetException", "anna@example.com", "the error type says \"not met\""),
    ("OSError", "[Errno 111] 'Connection refused': anna@example.com", "matched: system error ECONNREFUSED"),
    ("", "'permission denied' for anna@example.com", "wording: \"permission denied\""),
    ("", "value 'must' be", "wording: \"must … be\""),
];

#[test]
fn a_reason_masks_what_names_a_person_or_opens_a_door() {
    for (error_type, message, reason) in ROWS {
        assert_eq!(assess(error_type, message).classification.reason, *reason, "{error_type}: {message}");
    }
}
