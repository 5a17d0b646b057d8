//! The values at the masks of a title: what one letter's error says there.
//!
//! A part of a title is looked up in the error as it stands, so a title with its values reads like a passage of the
//! error. A part that is not found there, such as one whose names were shortened, has no values.

mod shown;

use super::{LED_TO, marks};
use crate::read::template::MASK;
use crate::reading::Diagnosis;
use crate::text::head;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::cell::OnceCell;

/// The part of a message or of a stack that is searched, bytes: the part of a message that the template reads.
const TEXT_BYTES_MAX: usize = 8 * 1024;
/// The longest data that a mask stands for in a search, bytes. Longer data is not shown.
const DATA_BYTES_MAX: usize = 512;
/// The most places at which a part of a title is looked for.
const PLACES_MAX: usize = 8;
/// The shortest beginning of a part that is looked for within a text, bytes. A shorter one counts at its start only.
const BEGINNING_BYTES_MIN: usize = 3;

/// Returns the value at each mask of the letter's title; `None` where it is not found, or must not be shown.
pub fn values(diagnosis: &Diagnosis) -> Vec<Option<String>> {
    let title = diagnosis.title.as_str();
    let masks = title.match_indices(MASK);
    if !title.contains(MASK) {
        return Vec::new();
    }
    let failure = &diagnosis.failure;
    let text = |text: &String| Text::new(head(text, TEXT_BYTES_MAX));
    let (message, stack) = (failure.message.as_ref().map(text), OnceCell::new());
    // Most parts are in the message, and a stack is long.
    let in_stack = |part| stack.get_or_init(|| failure.stack.as_ref().map(text)).as_ref()?.values(part);
    let found = title.split(LED_TO).flat_map(|part| {
        let values = message.as_ref().and_then(|message| message.values(part)).or_else(|| in_stack(part));
        values.unwrap_or_else(|| vec![None; part.matches(MASK).count()])
    });
    let may_show = |at: usize, value: &&str| {
        let (before, after) = (&title[..at], &title[at + MASK.len_utf8()..]);
        shown::may_show((before, after), value) && !shown::is_of(diagnosis, before, value)
    };
    masks
        .zip(found)
        .map(|((at, _), value)| value.filter(|value| may_show(at, value)).map(ToString::to_string))
        .collect()
}

/// An error's text with single blanks, as titles have them.
struct Text {
    flat: String,
    /// The same with line breaks, at the same positions.
    lines: String,
}

impl Text {
    fn new(text: &str) -> Self {
        let (mut flat, mut lines) = (String::with_capacity(text.len()), String::with_capacity(text.len()));
        for c in text.trim().chars() {
            if !c.is_whitespace() && !c.is_control() {
                flat.push(c);
                lines.push(c);
                continue;
            }
            if !flat.ends_with(' ') {
                flat.push(' ');
                lines.push(' ');
            }
            if c == '\n' {
                lines.pop();
                lines.push('\n');
            }
        }
        Self { flat, lines }
    }

    /// Returns the data at each mask of a title's part; `None` if the text does not have the part. Data with blanks, or
    /// with more after it that the mask may cover, is `None`.
    fn values(&self, part: &str) -> Option<Vec<Option<&str>>> {
        let mut fixed = marks::before_cut(part).split(MASK);
        let beginning = fixed.next()?;
        let fixed: Vec<&str> = fixed.collect();
        // The type of an error is often not in its message.
        let without_type = beginning.split_once(": ").map(|(_, rest)| rest);
        [Some(beginning), without_type].into_iter().flatten().find_map(|beginning| {
            let within = self.flat.match_indices(beginning).map(|(at, _)| at).take(PLACES_MAX);
            let is_short = beginning.trim().len() < BEGINNING_BYTES_MIN;
            within.take_while(|at| !is_short || *at == 0).find_map(|at| self.values_at(at + beginning.len(), &fixed))
        })
    }

    fn values_at(&self, mut at: usize, fixed: &[&str]) -> Option<Vec<Option<&str>>> {
        let mut values = Vec::with_capacity(fixed.len());
        for (nth, after) in fixed.iter().enumerate() {
            let near = head(&self.flat[at..], DATA_BYTES_MAX);
            let is_last = nth + 1 == fixed.len();
            if is_last && after.is_empty() {
                values.push(self.last_value(at));
                break;
            }
            let mut places = near.match_indices(after).map(|(length, _)| length).filter(|length| *length > 0);
            let is_end = |length: &usize| !is_last || ends(after, &self.flat[at + length + after.len()..]);
            let length = places.find(is_end)?;
            values.push(Some(&near[..length]).filter(|value| !value.contains(' ')));
            at += length + after.len();
        }
        Some(values)
    }

    /// Returns the data at the end of a title. What follows on its line may be more data under the same mask.
    fn last_value(&self, at: usize) -> Option<&str> {
        let line = self.lines[at..].lines().next()?.trim_end();
        let length = line.find(' ').unwrap_or(line.len());
        let value = line[..length].trim_end_matches(['.', ';', ':', ')']);
        (length == line.len() || line[value.len()..length].ends_with(['.', ';', ':'])).then_some(value)
    }
}

/// Whether the words after a mask end where the title's part ends, and not within a word or a number.
fn ends(fixed: &str, rest: &str) -> bool {
    let is_within = if fixed.ends_with(char::is_alphanumeric) { char::is_alphanumeric } else { is_dense };
    !rest.starts_with(is_within)
}

fn is_dense(c: char) -> bool {
    !c.is_whitespace() && !matches!(c, '.' | ',' | ';' | ':' | ')' | ']')
}

#[cfg(test)]
#[path = "values/values_tests.rs"]
mod tests;
