//! Describes transforms, their errors and their dry runs.

use crate::money::{count, counted};
use domain::fix::Fix;
use domain::read::json::{Raw, is_valid};
use domain::replay::Plan;
use domain::transform::{DryCounts, DryRun, ProgramFault};

/// Describes a program's effect on some letters in one line.
pub fn counts(counts: DryCounts) -> String {
    let parts = [
        (counts.changed, "changed", true),
        (counts.unchanged, "unchanged", false),
        (counts.failed, "failed and would be skipped", false),
    ];
    let parts = parts.into_iter().filter(|(n, _, always)| *n > 0 || *always);
    parts.map(|(n, word, _)| format!("{} {word}", count(n))).collect::<Vec<_>>().join(", ")
}

/// Describes a program's error with its position.
pub fn fault(fault: &ProgramFault) -> String {
    format!("Line {}, column {}: {}", fault.line, fault.column, fault.message)
}

/// Describes a dry run's progress in one line. `waiting` is the number of letters that wait now.
pub fn dry_run(run: &DryRun, waiting: i64) -> String {
    let tried = run.counts.total();
    if run.is_whole() {
        let (one, many) =
            if run.filter.is_none() { ("letter", "letters") } else { ("filtered letter", "filtered letters") };
        return format!("Dry run over {}: {}.", counted(tried, one, many), counts(run.counts));
    }
    format!("{} of {} tried: {}.", count(tried), count(waiting.max(0).unsigned_abs().max(tried)), counts(run.counts))
}

/// Describes how a fix changes letters before they are sent. Returns `None` without a transform.
pub fn sent_as(fix: &Fix) -> Option<String> {
    fix.transform.as_ref().map(|named| format!("changed by {} before sending; originals are kept", named.label()))
}

/// Says how many letters of a plan look like error envelopes, and whether they go back so. Returns `None` if none do.
pub fn wrapped(plan: &Plan) -> Option<String> {
    let (wrapped, is_changed) = (&plan.wrapped, plan.fix.transform.is_some());
    (!wrapped.is_none()).then(|| {
        let words = wrapped.words(plan.letters.letters, is_changed);
        let differ = !is_changed && wrapped.original_at.is_none();
        if differ { format!("{words}. The wrappers differ, so no one program is right for all") } else { words }
    })
}

/// The most members of an object in which a field for an example is looked for.
const EXAMPLE_MEMBERS_MAX: usize = 50;

/// Returns a program to start with: it changes nothing, and has an example for a field of this body as a comment. Fields
/// that are null or empty come first, because they are what most transforms mend.
pub fn starter(body: &str) -> String {
    let root = Raw::new(body);
    let is_empty = |value: Raw<'_>| matches!(value.text(), "null" | "\"\"");
    let all = if is_valid(body) { fields(root) } else { Vec::new() };
    let example = match all.iter().find(|(_, value)| is_empty(*value)).or(all.first()) {
        Some((path, value)) if value.text() == "null" => format!("{path} //= \"a value\" |"),
        Some((path, value)) if is_empty(*value) => {
            format!("(if {path} == \"\" then {path} = \"a value\" else . end) |")
        }
        Some((path, _)) => format!("{path} = \"another value\" |"),
        None => return ".".to_string(),
    };
    format!("# An example for these letters. Remove the # to try it:\n# {example}\n.")
}

/// Returns the fields of an object and of the objects in it, with paths that jq reads.
fn fields(root: Raw<'_>) -> Vec<(String, Raw<'_>)> {
    let mut found = Vec::new();
    for (name, value) in root.members().take(EXAMPLE_MEMBERS_MAX).filter(|(name, _)| is_plain(name)) {
        if value.is_object() {
            let inner =
                value.members().take(EXAMPLE_MEMBERS_MAX).filter(|(name, value)| is_plain(name) && is_leaf(*value));
            found.extend(inner.map(|(inner, value)| (format!(".{name}.{inner}"), value)));
        } else if is_leaf(value) {
            found.push((format!(".{name}"), value));
        }
    }
    found
}

fn is_leaf(value: Raw<'_>) -> bool {
    !value.is_object() && !value.is_array()
}

/// Whether jq reads a name after a point without quotes.
fn is_plain(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::replay::Wrapped;

    #[test]
    fn counts_of_zero_are_left_out() {
        for (changed, unchanged, failed, words) in [
            (1, 0, 0, "1 changed"),
            (1_200, 1, 1, "1,200 changed, 1 unchanged, 1 failed and would be skipped"),
            (0, 3, 2, "0 changed, 3 unchanged, 2 failed and would be skipped"),
        ] {
            assert_eq!(counts(DryCounts { changed, unchanged, failed }), words);
        }
    }

    #[test]
    fn a_dry_run_never_claims_more_than_all_letters() {
        let mut run = DryRun {
            group: "g".into(),
            transform: domain::transform::TransformRef { version: 1, program_hash: "00".into() },
            filter: domain::filter::LetterFilter::default(),
            revision: 1,
            by: "otto".into(),
            began_at: domain::time::Timestamp::from_ms(0),
            at: domain::time::Timestamp::from_ms(0),
            counts: DryCounts { changed: 200, unchanged: 0, failed: 0 },
            failures: Vec::new(),
            next: Some("letters:1:a".into()),
        };
        assert_eq!(dry_run(&run, 1_000), "200 of 1,000 tried: 200 changed.");
        assert_eq!(dry_run(&run, 7), "200 of 200 tried: 200 changed.");
        run.next = None;
        assert_eq!(dry_run(&run, 7), "Dry run over 200 letters: 200 changed.");
        run.filter.replays_max = Some(0);
        assert_eq!(dry_run(&run, 7), "Dry run over 200 filtered letters: 200 changed.");
    }

    #[test]
    fn a_plan_says_how_many_letters_go_back_with_their_wrapper() {
        let state = domain::replay::ReplayState::Running { wave: 0, phase: domain::replay::Phase::Sending };
        let mut plan = crate::sample::replay(state, &[]).replay.plan;
        plan.letters.letters = 1_200;
        let named = domain::transform::TransformRef { version: 1, program_hash: "00".into() };
        let at = Some(".payload".to_string());
        for (n, original_at, transform, words) in [
            (0, None, None, None),
            (
                1,
                at.clone(),
                None,
                Some("1 of 1,200 letters looks like an error envelope and goes back with its wrapper"),
            ),
            (
                1_200,
                at.clone(),
                None,
                Some("1,200 of 1,200 letters look like error envelopes and go back with their wrapper"),
            ),
            (
                2,
                None,
                None,
                Some(
                    "2 of 1,200 letters look like error envelopes and go back with their wrapper. The wrappers differ, so no one program is right for all",
                ),
            ),
            (2, at, Some(named), Some("2 of 1,200 letters look like error envelopes")),
        ] {
            (plan.wrapped, plan.fix.transform) = (Wrapped { letters: n, original_at }, transform);
            assert_eq!(wrapped(&plan).as_deref(), words);
        }
    }

    #[test]
    fn an_editor_starts_with_an_example_that_fits_the_letters() {
        let line = |body: &str| starter(body).lines().nth(1).map(ToString::to_string);
        for (body, example) in [
            (r#"{"id": 1, "country": null}"#, r##"# .country //= "a value" |"##),
            (
                r#"{"id": 1, "total": {"amount": ""}}"#,
                r##"# (if .total.amount == "" then .total.amount = "a value" else . end) |"##,
            ),
            (r#"{"items": [1], "odd name": 1, "id": "o-1"}"#, r##"# .id = "another value" |"##),
        ] {
            assert_eq!(line(body).as_deref(), Some(example), "{body}");
        }
        for body in ["not json", "[1]", "{}", "\"a\"", "{\"a-b\": 1}"] {
            assert_eq!(starter(body), ".", "{body}");
        }
        assert!(starter(r#"{"a": 1}"#).ends_with("\n."), "the example is a comment: nothing is changed");
    }
}
