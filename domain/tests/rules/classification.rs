//! Errors as vendors document them, with their expected class. None of these rows was known when the tables were first
//! written.

use domain::policy::Policy;
use domain::read::classify_failure;
use domain::reading::{Class, Failure};

mod apis;
mod languages;
mod more;
mod stores;
mod third;

const T: Class = Class::Transient;
const P: Class = Class::Permanent;
const U: Class = Class::Unknown;

/// Error type, message, class.
pub type Row = (&'static str, &'static str, Class);
/// The source of the rows, and the rows.
type Sourced = (&'static str, &'static [Row]);

/// The maximum share of rows classified as unknown, percent: `unknown` is better than wrong, but it does not help.
const OPEN_PCT_MAX: usize = 3;

/// All rows.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    [apis::ROWS, stores::ROWS, languages::ROWS, more::ROWS, third::ROWS]
        .into_iter()
        .flatten()
        .flat_map(|(_, rows)| *rows)
}

#[test]
fn documented_errors_are_classified() {
    let (mut wrong, mut open, mut count) = (Vec::new(), Vec::new(), 0);
    for (error_type, message, expected) in rows() {
        let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let failure = Failure { error_type: some(error_type), message: some(message), ..Failure::default() };
        let got = classify_failure(&failure, None, &Policy::default()).classification;
        count += 1;
        // A guess decides nothing, so it may be made where the sources disagree.
        let class = if *expected == U { got.firm_class() } else { got.class };
        if class != *expected {
            let list = if got.class == U { &mut open } else { &mut wrong };
            list.push(format!("{expected:?} read as {:?} ({}): {error_type} | {message}", got.class, got.reason));
        }
    }
    assert!(wrong.is_empty(), "{} of {count} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(open.len() * 100 <= count * OPEN_PCT_MAX, "{} of {count} open:\n{}", open.len(), open.join("\n"));
}
