//! The form of every title of the exam: marks in pairs, single blanks, no mark without a word at the end, few masks.

use crate::reader::all_errors;
use domain::policy::Policy;
use domain::read::classify_failure;
use domain::reading::Failure;

/// The parts of a title are joined by this.
const LED_TO: &str = " ← ";

/// Brackets.
const BRACKETS: [(char, char); 3] = [('(', ')'), ('[', ']'), ('{', '}')];

/// Quotation marks of other languages, which count in pairs.
const QUOTES: [&[char]; 2] = [&['„', '“', '”'], &['«', '»']];

/// What no part of a title ends with.
const ENDS: [char; 4] = [' ', ',', ';', ':'];

/// The colon of a scheme is part of its name.
const SCHEME: &str = "http:";

/// What no part of a title ends with after a blank.
const LONE_ENDS: [char; 11] = ['(', '[', '{', '<', '=', '-', '|', '/', '\\', '&', '+'];

/// Whether each mark that a text opens is closed, and none is closed that it did not open.
fn is_paired(text: &str, (open, close): (char, char)) -> bool {
    let mut depth = 0_u32;
    for c in text.chars() {
        if c == open {
            depth += 1;
        } else if c == close {
            let Some(less) = depth.checked_sub(1) else { return false };
            depth = less;
        }
    }
    depth == 0
}

/// The single quotation marks and backticks of a text, without the apostrophes within and after words.
fn quotes(text: &str) -> usize {
    let chars: Vec<char> = text.chars().collect();
    let is_letter = |at: Option<usize>| at.and_then(|at| chars.get(at)).is_some_and(|c| c.is_alphanumeric());
    let mut open = false;
    let mut count = 0;
    for (at, c) in chars.iter().enumerate() {
        let is_apostrophe = is_letter(at.checked_sub(1)) && (is_letter(Some(at + 1)) || !open);
        if matches!(c, '\'' | '`') && !is_apostrophe {
            open = !open;
            count += 1;
        }
    }
    count
}

/// Returns the rules that a title breaks.
fn broken(error: &Failure, title: &str) -> Vec<&'static str> {
    let texts = [&error.error_type, &error.message, &error.stack].into_iter().flatten();
    let text = texts.map(String::as_str).collect::<Vec<_>>().join("\n");
    let parts = || title.split(LED_TO);
    let mut broken = Vec::new();
    if parts().any(|part| BRACKETS.into_iter().any(|pair| is_paired(&text, pair) && !is_paired(part, pair))) {
        broken.push("brackets");
    }
    if parts().any(|part| !part.matches('"').count().is_multiple_of(2)) {
        broken.push("double quotes");
    }
    if quotes(&text).is_multiple_of(2) && parts().any(|part| !quotes(part).is_multiple_of(2)) {
        broken.push("single quotes");
    }
    if title.contains("  ") {
        broken.push("blanks");
    }
    let is_uneven = |text: &str, marks: &[char]| !text.matches(marks).count().is_multiple_of(2);
    if parts().any(|part| QUOTES.iter().any(|marks| is_uneven(part, marks) && !is_uneven(&text, marks))) {
        broken.push("other quotes");
    }
    let is_lone = |part: &str| part.strip_suffix(LONE_ENDS).is_some_and(|before| before.ends_with(' '));
    if parts().any(|part| part.ends_with(ENDS) && !part.ends_with(SCHEME) || is_lone(part)) {
        broken.push("end");
    }
    if title.matches('*').count() > 3 {
        broken.push("masks");
    }
    broken
}

#[test]
fn every_title_of_the_exam_is_well_formed() {
    let mut lines = Vec::new();
    for error in all_errors() {
        let title = classify_failure(&error, None, &Policy::default()).title;
        let rules = broken(&error, &title);
        if !rules.is_empty() {
            lines.push(format!("{} | {title} | {:?}: {:?}", rules.join(", "), error.error_type, error.message));
        }
    }
    assert!(lines.is_empty(), "{} titles:\n{}", lines.len(), lines.join("\n"));
}
