//! The codes of SQL databases and of MongoDB: SQLSTATE, and the vendors' own numbers, which are more specific.

use super::super::tables::sql;
use super::super::{SENTENCE_PCT, by_wording};
use super::matched;
use crate::reading::{Category, Class, Classification};
use alloc::format;

/// Returns the meaning of the first code that is known. `kind` is the error's type in lower case.
pub fn find(kind: &str, message: &str, lower: &str) -> Option<Classification> {
    if lower.contains("ora-") {
        return oracle(lower);
    }
    let mongo =
        after(lower, "command failed with error ").and_then(|n| matched(sql::mongo(n), 95, format!("MongoDB {n}")));
    mongo
        .or_else(|| mysql(kind, message, lower))
        .or_else(|| server(kind, lower))
        .or_else(|| state(kind, message, lower))
}

/// Returns the number at the beginning of a text.
fn number(text: &str) -> Option<u32> {
    let digits = text.trim_start_matches([' ', ':', '#', '=', '(', '-', '[']);
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse().ok()
}

/// Returns the number after a mark.
fn after(lower: &str, mark: &str) -> Option<u32> {
    lower.find(mark).and_then(|at| number(&lower[at + mark.len()..]))
}

/// Oracle prints the errors of one failure one below the other, with where they happened.
fn oracle(lower: &str) -> Option<Classification> {
    /// "at line", "error occurred at recursive SQL level", "preceding line from", "error during execution of trigger",
    /// "error signaled in parallel query server".
    const PLACES: [u32; 5] = [6512, 604, 2063, 4088, 12801];
    let numbers = || lower.split("ora-").skip(1).filter_map(number);
    let meaning = |n: u32| matched(sql::oracle(n), 95, format!("Oracle {n}"));
    numbers().filter(|n| !PLACES.contains(n)).find_map(meaning).or_else(|| numbers().find_map(meaning))
}

fn mysql(kind: &str, message: &str, lower: &str) -> Option<Classification> {
    const MARKS: [&str; 5] = ["error ", "errno ", "errno: ", "errno=", "error code: "];
    let is_mysql = kind.contains("mysql") || ["sqlstate", "mysql", "mariadb"].iter().any(|name| lower.contains(name));
    let is_mysql = is_mysql || lower.starts_with("error ");
    // Python: `(1062, "Duplicate entry ...")`.
    let in_tuple = message.contains(", \"") || message.contains(", '");
    let leading = message.strip_prefix('(').and_then(number).filter(|_| in_tuple);
    let marked = || MARKS.iter().find_map(|mark| after(lower, mark)).filter(|_| is_mysql);
    let n = leading.or_else(|| pdo(lower)).or_else(marked)?;
    matched(sql::mysql(n), 95, format!("MySQL {n}"))
}

/// PDO prints the server's number after the state and its name: `SQLSTATE[23000]: Integrity constraint violation: 1062`.
fn pdo(lower: &str) -> Option<u32> {
    let (_, rest) = lower.split_once("sqlstate[")?.1.split_once("]: ")?;
    let (name, rest) = rest.split_once(": ")?;
    // Numbers of other databases' drivers are smaller.
    let is_name = name.bytes().all(|b| b.is_ascii_alphabetic() || matches!(b, b' ' | b',' | b'<' | b'>'));
    number(rest).filter(|n| is_name && *n >= 1000)
}

fn server(kind: &str, lower: &str) -> Option<Classification> {
    // The ODBC driver prints it before the name of its function: `(2627) (SQLExecDirectW)`.
    let odbc = || number(lower.rsplit_once(") (sql")?.0.rsplit_once('(')?.1).filter(|_| lower.contains("[sql server]"));
    let is_named = kind.contains("sqlclient") || kind.contains("sqlserver") || lower.contains("error number:");
    let is_printed = lower.starts_with("msg ") && lower.contains("level ");
    let marked = || after(lower, "error number").or_else(|| after(lower, "msg ")).filter(|_| is_named || is_printed);
    let n = marked().or_else(odbc)?;
    let meaning = sql::server(i64::from(n));
    // 547 is any constraint but a key.
    let is_check = n == 547 && lower.contains("check constraint");
    let meaning = if is_check { Some((Class::Permanent, Category::SchemaViolation)) } else { meaning };
    matched(meaning, 95, format!("SQL Server {n}"))
}

/// The word that clients of PostgreSQL and other databases print before the code, in lower case.
const SQLSTATE: &str = "sqlstate";

fn state(kind: &str, message: &str, lower: &str) -> Option<Classification> {
    let state = sqlstate(kind, message, lower)?;
    let found = matched(sql::state(state), 95, format!("SQLSTATE {state}"))?;
    // A state that ends with zeros names only its class; a sentence of the same class names the error.
    let said =
        || by_wording(lower).filter(|said| said.class == found.class && said.confidence.as_pct() >= SENTENCE_PCT);
    let category = state.ends_with("000").then(said).flatten().map_or(found.category, |said| said.category);
    Some(Classification { category, ..found })
}

fn sqlstate<'a>(kind: &str, message: &'a str, lower: &str) -> Option<&'a str> {
    // An offset in the lower-cased text is not valid in the message: lower-casing can change a letter's length.
    let mark = |text: &&str| text.eq_ignore_ascii_case(SQLSTATE);
    let from = |at| message.get(at..).filter(|rest| rest.get(..SQLSTATE.len()).as_ref().is_some_and(mark));
    let found = lower.contains(SQLSTATE).then(|| (0..message.len()).find_map(from)).flatten();
    let marked = found.map(|rest| rest[SQLSTATE.len()..].trim_start_matches([' ', '[', ':', '=', '(', '"', '\'']));
    let is_pg = ["postgres", "npgsql", "psql", "pg.", "pgerror", "pgconn", "sqlx", "tokio_postgres", "databaseerror"]
        .iter()
        .any(|name| kind.contains(name));
    let leading = message.get(..6).filter(|m| m.ends_with(':') && is_pg).map(|_| message);
    let code = marked.or(leading)?.get(..5)?;
    code.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_uppercase()).then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_counts_and_not_where_it_happened() {
        let reason = |kind: &str, message: &str| {
            find(kind, message, &message.to_lowercase()).map_or_else(Default::default, |found| found.reason)
        };
        for (kind, message, expected) in [
            ("", "ORA-06512: at \"SHOP.PAY\", line 7\nORA-00060: deadlock detected", "matched: Oracle 60"),
            ("", "ORA-06512: at \"SHOP.PAY\", line 7", "matched: Oracle 6512"),
            ("", "ORA-99999: no message", ""),
            ("", "SQLSTATE[23000]: Integrity constraint violation: 1062 Duplicate entry", "matched: MySQL 1062"),
            ("", "SQLSTATE[23503]: Foreign key violation: 7 ERROR:  insert", "matched: SQLSTATE 23503"),
            ("", "MySQL error 1062", "matched: MySQL 1062"),
            ("", "1062 orders were sent without an error 7 times", ""),
            (
                "pyodbc.error",
                "('23000', '[Microsoft][SQL Server]Violation. (2627) (SQLExecDirectW)')",
                "matched: SQL Server 2627",
            ),
        ] {
            assert_eq!(reason(kind, message), expected, "{message}");
        }
    }
}
