//! Catalogues: the names of errors that vendors, standards and languages publish.
//!
//! One error is written `SERIALIZATION_FAILURE`, `serialization_failure` and `SerializationFailureError`. So a name is
//! looked up by its letters and digits in lower case. What a name itself says (`…TimeoutException`, `Invalid…`) is read
//! by [`names`](super::super::names); a catalogue has what somebody has to know.

mod cloud;
mod protocols;
mod runtimes;
mod stores;

use super::super::names;
use super::{Meaning, Row, meaning, row};
use crate::reading::{Category, Class};
use alloc::string::String;

/// What the table of the languages' own names is called.
const LANGUAGE: &str = "error name";

/// The tables, with what each is called in a reason.
static TABLES: [(&str, &[Row]); 4] = [
    ("database or broker code", stores::STORES),
    ("protocol code", protocols::PROTOCOLS),
    ("service code", cloud::CLOUD),
    (LANGUAGE, runtimes::RUNTIMES),
];

/// The longest name that is looked up, bytes: the longest key has 60.
const NAME_BYTES_MAX: usize = 80;

/// Returns the key of a name: its letters and digits, in lower case. librdkafka's own errors begin with a `_`.
pub fn key(name: &str) -> String {
    let own = name.starts_with('_').then_some('_');
    own.into_iter().chain(name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase())).collect()
}

/// Looks up the name of an error type. A vendor's code has two words and more, because one word (`ApiError`,
/// `Deadlock`) is a name that many libraries have.
pub fn by_type(error_type: &str) -> Option<Meaning> {
    let name = if error_type.starts_with("Neo.") { error_type } else { names::last(error_type) };
    let found = find(name)?;
    let bare = ["Exception", "Error", "Result"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
    (found.table == LANGUAGE || names::words(bare).len() > 1).then_some(found)
}

/// Looks up a name, with and without the words that say that it is an error.
pub fn find(name: &str) -> Option<Meaning> {
    if name.len() > NAME_BYTES_MAX {
        return None;
    }
    if let Some(found) = neo4j(name) {
        return meaning(Some(found), "Neo4j code", true);
    }
    let key = key(name);
    let bare = ["exception", "error", "result"].iter().find_map(|end| key.strip_suffix(end));
    let of = |key: &str| TABLES.iter().find_map(|(table, rows)| meaning(row(rows, key), table, true));
    of(&key).or_else(|| bare.and_then(of)).or_else(|| of(key.strip_prefix("err")?))
}

/// Neo4j's codes begin with their class (Neo4j status codes, "Classification").
fn neo4j(name: &str) -> Option<(Class, Category)> {
    let class = name.strip_prefix("Neo.")?.split('.').next()?;
    match class {
        "TransientError" => Some((Class::Transient, Category::DependencyUnavailable)),
        "ClientError" => Some((Class::Permanent, Category::ConsumerBug)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_its_own_key_and_in_order() {
        for (table, rows) in TABLES {
            for pair in rows.windows(2) {
                assert!(pair[0].0 < pair[1].0, "{table}: {} before {}", pair[0].0, pair[1].0);
            }
            for (name, ..) in rows {
                assert_eq!(key(name), *name, "{table}");
                assert!(name.len() <= NAME_BYTES_MAX, "{table}: {name}");
            }
        }
    }

    #[test]
    fn no_name_has_two_classes() {
        for (table, rows) in TABLES {
            for (name, class, _) in rows {
                let found = find(name).map(|found| found.class);
                assert_eq!(found, Some(*class), "{table}: {name}");
            }
        }
    }

    #[test]
    fn a_name_is_found_however_it_is_written() {
        for name in ["SERIALIZATION_FAILURE", "serialization_failure", "SerializationFailureError", "ErrNoRows"] {
            assert!(find(name).is_some(), "{name}");
        }
        assert_eq!(
            find("Neo.TransientError.Transaction.DeadlockDetected").map(|found| found.class),
            Some(Class::Transient)
        );
        assert_eq!(find("order"), None);
    }
}
