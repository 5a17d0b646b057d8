//! The code tables, and how a name is looked up in them. Every row has its source beside its table.

mod aws;
mod database;
mod exceptions;
pub mod kafka;
pub mod sql;
pub mod status;
pub mod wording;

use crate::read::sorted::Sought;
use crate::reading::{Category, Class};

/// Transient, permanent, unknown: short, for the tables.
pub const T: Class = Class::Transient;
/// See [`T`].
pub const P: Class = Class::Permanent;
/// See [`T`]. In a table: the sources disagree, or the name does not tell.
pub const U: Class = Class::Unknown;

/// A name, and what it means.
pub type Row = (&'static str, Class, Category);

/// What a name was found to mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meaning {
    pub class: Class,
    pub category: Category,
    /// Which table says so.
    pub table: &'static str,
    /// Whether the answer stands even where the wording would say more.
    pub settled: bool,
}

fn row(table: &[Row], name: &str) -> Option<(Class, Category)> {
    let sought = Sought::new(name);
    table.binary_search_by(|row| sought.order_of(row.0)).ok().map(|at| (table[at].1, table[at].2))
}

fn meaning(found: Option<(Class, Category)>, table: &'static str, settled: bool) -> Option<Meaning> {
    found.map(|(class, category)| Meaning { class, category, table, settled: settled || class != U })
}

/// What an error's type or code means: its whole path first, then shorter ends of it, then the bare name.
pub fn of_type(error_type: &str) -> Option<Meaning> {
    let path = error_type.trim().trim_start_matches(['*', '&', '\\', '<', '_']).trim_end_matches(['>', ':', ')']);
    let mut rest = path;
    loop {
        let qualified = meaning(row(exceptions::QUALIFIED, rest), "error type", true);
        if let Some(found) = qualified.or_else(|| meaning(row(aws::AWS, rest), "AWS error code", true)) {
            return Some(found);
        }
        match rest.split_once(['.', ':', '\\', '$', '/', '#']) {
            Some((_, shorter)) if !shorter.is_empty() => rest = shorter.trim_start_matches(':'),
            _ => break,
        }
    }
    of_name(rest)
}

/// What a bare name means.
pub fn of_name(name: &str) -> Option<Meaning> {
    of_code(name).or_else(|| {
        let exception = || meaning(row(exceptions::EXCEPTIONS, name), "error type", false);
        meaning(row(kafka::KAFKA, name), "Kafka error", true).or_else(exception)
    })
}

/// What a code means, where it is no class name.
pub fn of_code(name: &str) -> Option<Meaning> {
    meaning(row(aws::AWS, name), "AWS error code", true)
        .or_else(|| meaning(row(database::SYSTEM, name), "system error", true))
        .or_else(|| meaning(row(database::DATABASE, name), "database error", true))
}

/// What the word means with which a Redis error begins.
pub fn of_redis(word: &str) -> Option<Meaning> {
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
    fn tables_are_sorted_and_name_nothing_twice() {
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
