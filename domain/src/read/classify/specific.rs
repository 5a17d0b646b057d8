//! What a message adds to a type that only says that some rule was broken.
//!
//! Drivers raise one type for every constraint of a database (`IntegrityError`), and clients one for every request that an
//! API refuses (`InvalidRequestError`). The class is the type's. The category is that of the vendor's code in the message,
//! or of its words.

use super::{SENTENCE_PCT, by_wording, codes, names};
use crate::reading::{Category, Class, Classification};
use alloc::format;

/// Words of types that name the constraint.
const CONSTRAINTS: [&str; 6] = ["unique", "duplicate", "foreign", "check", "null", "key"];

/// Names of types that drivers raise for whatever a statement met.
const OF_STATEMENTS: [&str; 2] = ["DataError", "ProgrammingError"];

/// What a type says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Broken {
    /// Some constraint or statement of a database.
    Constraint,
    /// Some rule of an API.
    Request,
}

/// Returns what a permanent type says, if it names no rule.
fn broken(error_type: &str) -> Option<Broken> {
    let name = names::last(error_type);
    let words = names::words(name);
    let has = |word: &str| words.iter().any(|own| own == word);
    match () {
        () if OF_STATEMENTS.contains(&name) => Some(Broken::Constraint),
        () if CONSTRAINTS.iter().any(|word| has(word)) => None,
        () if has("integrity") || has("constraint") && has("violation") => Some(Broken::Constraint),
        () if has("request") && (has("invalid") || has("bad")) => Some(Broken::Request),
        () => None,
    }
}

/// Returns a finding with the category that the message states.
pub fn found(found: Classification, error_type: &str, message: &str, lower: &str) -> Classification {
    let Some(broken) = (found.class == Class::Permanent).then(|| broken(error_type)).flatten() else { return found };
    // A deadlock has the type of the statement that met it.
    // What a constraint or a value says has names and data in it.
    let names_constraint = || {
        [
            "constraint",
            "duplicate",
            "violat",
            "invalid",
            "null value",
            "unknown",
            "does not exist",
            "syntax",
            "column",
            "incorrect",
            "too long",
            "out of range",
            "truncated",
        ]
        .iter()
        .any(|said| lower.contains(said))
    };
    let passing = || {
        by_wording(lower)
            .filter(|_| !names_constraint())
            .filter(|said| said.class == Class::Transient && said.confidence.as_pct() >= SENTENCE_PCT)
    };
    if let Some(passing) = (broken == Broken::Constraint).then(passing).flatten() {
        return passing;
    }
    let is_sure = |said: &Classification| {
        said.class == Class::Permanent && said.category != Category::Unknown && said.confidence.as_pct() >= SENTENCE_PCT
    };
    let code = codes::find(error_type, message, lower).filter(is_sure);
    let sentence = || by_wording(lower).filter(|said| broken == Broken::Constraint && is_sure(said));
    if let Some(said) = code.or_else(sentence) {
        return Classification { confidence: found.confidence, ..said };
    }
    let of_object = |said: &Classification| matches!(said.category, Category::MissingReference | Category::Duplicate);
    let words = (broken == Broken::Request).then(|| by_wording(lower).filter(of_object)).flatten();
    match words {
        Some(words) => {
            let reason = format!("{}; {}", found.reason, words.reason);
            Classification { category: words.category, reason, ..found }
        }
        None => found,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_that_names_its_rule_needs_no_message() {
        for name in
            ["IntegrityError", "java.sql.SQLIntegrityConstraintViolationException", "DataIntegrityViolationException"]
        {
            assert!(broken(name) == Some(Broken::Constraint), "{name}");
        }
        for name in ["stripe.InvalidRequestError", "BadRequestException", "BadRequest"] {
            assert!(broken(name) == Some(Broken::Request), "{name}");
        }
        for name in
            ["UniqueConstraintViolationException", "ForeignKeyViolation", "ValidationException", "RequestTimeout", ""]
        {
            assert!(broken(name).is_none(), "{name}");
        }
    }
}
