//! What connects one message of a batch with the error of the whole batch. Only the writer of a report sees all bodies
//! of a batch, so it looks for these clues and reports them; the bodies stay where they are.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// The most bytes of bodies that are searched. Beyond it no clue of kind [`Clue::Value`] is given: a value is a clue
/// only if no other body contains it, and a sample cannot show that.
pub const SEARCHED_BYTES_MAX: usize = 1024 * 1024;
/// The most values of an error's message that are looked for. Messages with more are lists or whole payloads.
const VALUES_MAX: usize = 16;
/// The shortest value in quotation marks, bytes. Shorter ones occur in any body.
const QUOTED_BYTES_MIN: usize = 3;
/// The shortest value without quotation marks, bytes. Shorter numbers are counts and status codes.
const BARE_BYTES_MIN: usize = 4;
/// The longest value, bytes. Longer ones are sentences.
const VALUE_BYTES_MAX: usize = 200;
/// The most bytes of an error's message in which values are looked for.
const MESSAGE_BYTES_MAX: usize = 8 * 1024;

/// What connects a message with an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Clue {
    /// The error, or a logged line that reports an error, contains its message id and no other's of the batch.
    Named,
    /// The error's message contains a value that its body contains and no other's of the batch.
    Value,
}

/// A message of the batch, as the writer of a report sees it.
#[derive(Clone, Copy, Debug)]
pub struct Suspect<'a> {
    /// Its id.
    pub id: &'a str,
    /// Its body. Escaped as in JSON or not: values are compared as they are written.
    pub body: &'a str,
}

/// The messages of a batch, among whom a culprit is looked for.
pub struct Suspects<'a> {
    all: &'a [Suspect<'a>],
    by_id: BTreeMap<&'a str, usize>,
    bodies_bytes: usize,
}

impl<'a> Suspects<'a> {
    /// Prepares the search. Takes time in proportion to the number of messages.
    pub fn new(all: &'a [Suspect<'a>]) -> Self {
        Self {
            all,
            by_id: all.iter().enumerate().map(|(at, suspect)| (suspect.id, at)).collect(),
            bodies_bytes: all.iter().map(|suspect| suspect.body.len()).sum(),
        }
    }

    /// Returns what connects each suspect with the error; in their order.
    ///
    /// `message` is the error's message, and `lines` are those lines of the invocation that report an error.
    pub fn clues(&self, message: &str, lines: &[&str]) -> Vec<Option<Clue>> {
        let mut clues: Vec<Option<Clue>> = self.all.iter().map(|_| None).collect();
        for at in self.quoted(message) {
            clues[at] = Some(Clue::Value);
        }
        for at in lines.iter().copied().chain([message]).filter_map(|text| self.named(text)) {
            clues[at] = Some(Clue::Named);
        }
        clues
    }

    /// Returns the position of the only suspect whose id is in a text.
    pub fn named(&self, text: &str) -> Option<usize> {
        only(self.ids_in(text))
    }

    /// Whether the id of any suspect is in a text.
    pub fn names_any(&self, text: &str) -> bool {
        self.ids_in(text).next().is_some()
    }

    fn ids_in(&self, text: &str) -> impl Iterator<Item = usize> {
        let words = text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_')));
        words.filter_map(|word| self.by_id.get(word).copied())
    }

    /// Returns the positions of the suspects whose body contains a value of a text that no other body contains.
    pub fn quoted(&self, text: &str) -> Vec<usize> {
        if self.bodies_bytes > SEARCHED_BYTES_MAX {
            return Vec::new();
        }
        let found = values(crate::text::head(text, MESSAGE_BYTES_MAX)).filter_map(|value| {
            let matching = self.all.iter().enumerate().filter(|(_, suspect)| contains_value(suspect.body, value));
            only(matching.map(|(at, _)| at))
        });
        found.collect()
    }
}

/// Returns the only position that occurs, however often it does.
fn only(mut positions: impl Iterator<Item = usize>) -> Option<usize> {
    let first = positions.next()?;
    positions.all(|other| other == first).then_some(first)
}

/// Whether a logged line is about an error. Many consumers log each id before they work on it: such a line says nothing.
pub fn reports_an_error(line: &str) -> bool {
    const SIGNS: [&str; 6] = ["error", "exception", "traceback", "fail", "fatal", "panic"];
    let line = line.as_bytes();
    SIGNS.iter().any(|sign| line.windows(sign.len()).any(|window| window.eq_ignore_ascii_case(sign.as_bytes())))
}

/// Returns what an error's message seems to quote: texts in quotation marks, and words with a digit.
fn values(message: &str) -> impl Iterator<Item = &str> {
    let quoted = ['"', '\'', '`'].into_iter().flat_map(move |mark| message.split(mark).skip(1).step_by(2));
    let quoted = quoted.filter(|value| value.len() >= QUOTED_BYTES_MIN && value.len() <= VALUE_BYTES_MAX);
    let words = message.split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '@' | ':' | '/')));
    let words = words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    let bare = words.filter(|word| {
        let length = word.len();
        (BARE_BYTES_MIN..=VALUE_BYTES_MAX).contains(&length) && word.bytes().any(|byte| byte.is_ascii_digit())
    });
    quoted.chain(bare).take(VALUES_MAX)
}

/// Whether a body contains a value, as a whole, and not as the name of a field: an error that names a field is about
/// the body that lacks it.
fn contains_value(body: &str, value: &str) -> bool {
    body.match_indices(value).any(|(at, _)| {
        let before = body[..at].chars().next_back();
        let after = &body[at + value.len()..];
        let is_whole = !before.is_some_and(is_inside) && !after.chars().next().is_some_and(is_inside);
        let is_tag = matches!(before, Some('<' | '/'));
        // A name ends with its quotation mark, which is escaped where JSON is inside of JSON.
        let next = after.trim_start_matches(['\\', '"', '\'', ' ']).chars().next();
        is_whole && !is_tag && !matches!(next, Some(':' | '='))
    })
}

/// Whether a character belongs to the value next to it.
fn is_inside(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: [Option<Clue>; 2] = [None, None];
    const FIRST_NAMED: [Option<Clue>; 2] = [Some(Clue::Named), None];
    const SECOND_NAMED: [Option<Clue>; 2] = [None, Some(Clue::Named)];
    const FIRST_VALUE: [Option<Clue>; 2] = [Some(Clue::Value), None];
    const SECOND_VALUE: [Option<Clue>; 2] = [None, Some(Clue::Value)];

    /// The error's message, a logged line, two bodies, and the clues of the messages `id-one` and `id-two`.
    fn check(message: &str, line: &str, bodies: [&str; 2], wanted: [Option<Clue>; 2]) {
        let suspects = [Suspect { id: "id-one", body: bodies[0] }, Suspect { id: "id-two", body: bodies[1] }];
        assert_eq!(Suspects::new(&suspects).clues(message, &[line]), wanted, "{message} | {line} | {bodies:?}");
    }

    #[test]
    fn a_message_is_named_by_the_error_or_by_a_line_about_an_error() {
        let bodies = ["{}", "{}"];
        check("record id-one has no price", "", bodies, FIRST_NAMED);
        check("", "ERROR id-two: KeyError", bodies, SECOND_NAMED);
        check("", "Failed to process id-one", bodies, FIRST_NAMED);
        check("id-one and id-two", "", bodies, NONE);
        check("", "ERROR id-one, id-two", bodies, NONE);
    }

    #[test]
    fn a_value_of_one_body_only_is_a_clue() {
        let orders = [r#"{"order": "A-1001", "qty": 3}"#, r#"{"order": "A-1002", "qty": 3}"#];
        check("order A-1002 is unknown", "", orders, SECOND_VALUE);
        check("no stock for 'A-1001'", "", orders, FIRST_VALUE);
        check("no stock for 'A-10'", "", orders, NONE);
        check("no stock for 'A-100'", "", orders, NONE);
        check("qty 3 is too much", "", orders, NONE);
        check("Orders A-1001 and A-1002", "", orders, [Some(Clue::Value), Some(Clue::Value)]);
        check("user anna@example.com", "", ["anna@example.com", "max@example.com"], NONE);
        check("user \"anna@example.com\"", "", ["anna@example.com", "max@example.com"], FIRST_VALUE);
    }

    #[test]
    fn the_name_of_a_field_is_no_value() {
        check("KeyError: 'price'", "", [r#"{"price": 1}"#, r#"{"qty": 1}"#], NONE);
        check("KeyError: 'price'", "", [r#"{\"price\" : 1}"#, r#"{}"#], NONE);
        check("no 'price'", "", ["<price>1</price>", "<qty>1</qty>"], NONE);
        check("no 'price'", "", ["price=1&qty=2", "qty=2"], NONE);
        check("no 'price'", "", [r#"{"missing": "price"}"#, r#"{"price": 1}"#], FIRST_VALUE);
    }

    #[test]
    fn an_id_in_the_log_beats_a_value() {
        check("order A-1001", "ERROR id-one", ["A-1001", "A-1002"], FIRST_NAMED);
    }

    #[test]
    fn bodies_that_are_too_large_to_search_give_no_clue() {
        let large = alloc::format!("\"A-1001\"{}", " ".repeat(SEARCHED_BYTES_MAX));
        check("order 'A-1001'", "", [&large, "{}"], NONE);
        check("order 'A-1001'", "", [&large[..SEARCHED_BYTES_MAX - 10], "{}"], FIRST_VALUE);
    }

    #[test]
    fn an_id_is_a_whole_word() {
        check("ERROR id-one-more", "", ["{}", "{}"], NONE);
        check("ERROR [id-one]: (id-one)", "", ["{}", "{}"], FIRST_NAMED);
    }
}
