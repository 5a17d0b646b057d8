//! Transforms that people save, and the result that each must give for an order, computed without running it.

use domain::letter::Letter;
use domain::limits::ATTRIBUTES_MAX;
use domain::message::Content;
use harness::samples::Chance;
use std::collections::BTreeSet;

/// The kind of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Sets a field.
    Sets,
    /// Sets a field except on orders with numbers that are hard to preserve.
    Spares,
    /// Fails on those orders.
    Fails,
}

const KINDS: [Kind; 3] = [Kind::Sets, Kind::Spares, Kind::Fails];
/// The number of field values: few, so that compiled programs are reused.
const VALUES: usize = 3;

fn text(kind: Kind, value: usize) -> String {
    match kind {
        Kind::Sets => format!(".changed = {value}"),
        Kind::Spares => format!("if .a then . else .changed = {value} end"),
        Kind::Fails => format!("if .a then error(\"a\") else .changed = {value} end"),
    }
}

/// Returns a random program.
pub(super) fn any(chance: &mut Chance) -> String {
    text(KINDS[chance.below(KINDS.len())], chance.below(VALUES))
}

/// Returns the body that a program must make from an order's, byte for byte: unchanged parts keep their digits and their
/// place. `None` if the program must fail.
pub(super) fn transformed(program: &str, body: &str) -> Option<String> {
    let all = KINDS.into_iter().flat_map(|kind| (0..VALUES).map(move |value| (kind, value)));
    let (kind, value) = all.into_iter().find(|(kind, value)| text(*kind, *value) == program)?;
    let is_hard = body.contains("1e400");
    let field = format!(",\"changed\":{value}}}");
    match kind {
        _ if !body.starts_with('{') => None,
        Kind::Fails if is_hard => None,
        Kind::Spares if is_hard => Some(body.into()),
        // An earlier send that the office could not attribute already set the field.
        _ if body.ends_with(&field) => Some(body.into()),
        _ => {
            let bare = body.replace(' ', "").replace("\"a\":1,", "");
            let bare = bare.split(",\"changed\":").next().unwrap_or_default().trim_end_matches('}').to_string();
            // An order's total is an object.
            let closing = if is_hard { "" } else { "}" };
            Some(format!("{bare}{closing}{field}"))
        }
    }
}

/// Returns whether a letter may be a transformed send of an order without room for a marker. If the answer to such a send
/// was lost, the office cannot recognise the returned message.
pub(super) fn may_be_transformed<'a>(
    original: &Content,
    letter: &Letter,
    programs: impl Iterator<Item = &'a String> + Clone,
) -> bool {
    let mut bodies = BTreeSet::from([original.body.clone()]);
    // Programs may have changed the body one after the other.
    for _ in 0..3 {
        let next: Vec<_> =
            bodies.iter().flat_map(|body| programs.clone().filter_map(|text| transformed(text, body))).collect();
        bodies.extend(next);
    }
    let bare = |content: &Content| Content { body: String::new(), ..content.clone() };
    original.attributes.len() >= ATTRIBUTES_MAX
        && bare(&letter.content) == bare(original)
        && bodies.contains(&letter.content.body)
}
