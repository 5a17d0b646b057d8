//! Transforms that people save, and what each must make of an order, told without running it.

use domain::letter::Letter;
use domain::limits::ATTRIBUTES_MAX;
use domain::message::Content;
use harness::samples::Chance;
use std::collections::BTreeSet;

/// A program, by what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Sets a field.
    Sets,
    /// Leaves the orders alone whose digits are hard to keep.
    Spares,
    /// Fails on them.
    Fails,
}

const KINDS: [Kind; 3] = [Kind::Sets, Kind::Spares, Kind::Fails];
/// Values of the field: few, so that compiled programs are used again.
const VALUES: usize = 3;

fn text(kind: Kind, value: usize) -> String {
    match kind {
        Kind::Sets => format!(".changed = {value}"),
        Kind::Spares => format!("if .a then . else .changed = {value} end"),
        Kind::Fails => format!("if .a then error(\"a\") else .changed = {value} end"),
    }
}

/// Some program.
pub(super) fn any(chance: &mut Chance) -> String {
    text(KINDS[chance.below(KINDS.len())], chance.below(VALUES))
}

/// The body that a program makes of an order's; none where it must fail. Byte for byte: what does not change keeps its
/// digits and its place.
pub(super) fn made(program: &str, body: &str) -> Option<String> {
    let all = KINDS.into_iter().flat_map(|kind| (0..VALUES).map(move |value| (kind, value)));
    let (kind, value) = all.into_iter().find(|(kind, value)| text(*kind, *value) == program)?;
    let is_hard = body.contains("1e400");
    let field = format!(",\"changed\":{value}}}");
    match kind {
        _ if !body.starts_with('{') => None,
        Kind::Fails if is_hard => None,
        Kind::Spares if is_hard => Some(body.into()),
        // It has the field, from a sending before of which nobody can tell.
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

/// Whether a letter may be a changed sending of an order that had no room for a marker: when its answer is lost, nobody
/// can tell that it came back.
pub(super) fn may_be_a_changed_sending<'a>(
    original: &Content,
    letter: &Letter,
    programs: impl Iterator<Item = &'a String> + Clone,
) -> bool {
    let mut bodies = BTreeSet::from([original.body.clone()]);
    // A program may have changed what another had changed.
    for _ in 0..3 {
        let made: Vec<_> =
            bodies.iter().flat_map(|body| programs.clone().filter_map(|text| made(text, body))).collect();
        bodies.extend(made);
    }
    let bare = |content: &Content| Content { body: String::new(), ..content.clone() };
    original.attributes.len() >= ATTRIBUTES_MAX
        && bare(&letter.content) == bare(original)
        && bodies.contains(&letter.content.body)
}
