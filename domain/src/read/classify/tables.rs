//! The code tables and the lookup of names in them. Each table names its sources.

pub mod abroad;
mod aws;
pub mod catalogue;
mod database;
mod exceptions;
pub mod kafka;
pub mod sql;
pub mod status;
pub mod wording;

use crate::read::sorted::Sought;
use crate::reading::{Category, Class};

/// Transient, permanent, unknown: short names for the tables.
pub const T: Class = Class::Transient;
/// See [`T`].
pub const P: Class = Class::Permanent;
/// See [`T`]. In a table: the sources disagree, or the name is ambiguous.
pub const U: Class = Class::Unknown;

/// A name and its meaning.
pub type Row = (&'static str, Class, Category);

/// The meaning that was found for a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meaning {
    pub class: Class,
    pub category: Category,
    /// The table that contains it.
    pub table: &'static str,
    /// Whether the meaning is final, even if the wording would be more specific.
    pub settled: bool,
}

fn row(table: &[Row], name: &str) -> Option<(Class, Category)> {
    let sought = Sought::new(name);
    table.binary_search_by(|row| sought.order_of(row.0)).ok().map(|at| (table[at].1, table[at].2))
}

fn meaning(found: Option<(Class, Category)>, table: &'static str, settled: bool) -> Option<Meaning> {
    found.map(|(class, category)| Meaning { class, category, table, settled: settled || class != U })
}

/// Looks up an error's type or code: its whole path, then ever shorter ends of it, then the bare name.
pub fn by_type(error_type: &str) -> Option<Meaning> {
    let path = error_type.trim().trim_start_matches(['*', '&', '\\', '<', '_']).trim_end_matches(['>', ':', ')']);
    let mut rest = path;
    // Others have types of the same names: `javax.persistence.EntityNotFoundException`.
    let is_aws = |rest: &str| {
        let lower = path.to_lowercase();
        rest.len() == path.len() || ["aws", "amazon", "botocore", "smithy"].iter().any(|name| lower.contains(name))
    };
    let label = |rest: &str| if is_aws(rest) { "AWS error code" } else { "error type" };
    loop {
        let qualified = meaning(row(exceptions::QUALIFIED, rest), "error type", true);
        let of_aws = || row(aws::AWS, rest).and_then(|found| meaning(Some(found), label(rest), true));
        if let Some(found) = qualified.or_else(of_aws) {
            return Some(found);
        }
        match rest.split_once(['.', ':', '\\', '$', '/', '#']) {
            Some((_, shorter)) if !shorter.is_empty() => rest = shorter.trim_start_matches(':'),
            _ => break,
        }
    }
    by_name(rest)
}

/// Looks up a bare name.
pub fn by_name(name: &str) -> Option<Meaning> {
    by_code(name).or_else(|| {
        let exception = || meaning(row(exceptions::EXCEPTIONS, name), "error type", false);
        meaning(row(kafka::KAFKA, name), "Kafka error", true).or_else(exception)
    })
}

/// Looks up a code that is not a class name.
pub fn by_code(name: &str) -> Option<Meaning> {
    meaning(row(aws::AWS, name), "AWS error code", true)
        .or_else(|| meaning(row(database::SYSTEM, name), "system error", true))
        .or_else(|| meaning(row(database::DATABASE, name), "database error", true))
}

/// Looks up the word at the beginning of a Redis error.
pub fn by_redis_word(word: &str) -> Option<Meaning> {
    meaning(row(database::REDIS, word), "Redis error", true)
}

/// Whether a type only wraps another error.
pub fn is_wrapper(error_type: &str) -> bool {
    let name = error_type.rsplit(['.', '$', ':']).next().unwrap_or(error_type);
    row(exceptions::WRAPPERS, name).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted_without_duplicates() {
        let tables = [
            aws::AWS,
            database::DATABASE,
            database::SYSTEM,
            database::REDIS,
            exceptions::QUALIFIED,
            exceptions::EXCEPTIONS,
            exceptions::WRAPPERS,
            kafka::KAFKA,
        ];
        for table in tables {
            for pair in table.windows(2) {
                assert!(pair[0].0 < pair[1].0, "{} before {}", pair[0].0, pair[1].0);
            }
        }
    }
}
