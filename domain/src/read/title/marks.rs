//! The marks of a title: those that a cut left open are closed, and none is left alone at an end.

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The most marks that are closed.
const OPEN_MAX: usize = 8;

/// The marks that a text leaves open, and the brackets that it closes without having opened them.
#[derive(Default)]
struct Marks {
    open: Vec<char>,
    strays: Vec<usize>,
}

impl Marks {
    fn read(text: &str) -> Self {
        let mut marks = Self::default();
        let mut before = ' ';
        for (at, c) in text.char_indices() {
            let next = text[at + c.len_utf8()..].chars().next();
            marks.add(at, c, before, next);
            before = c;
        }
        marks
    }

    fn add(&mut self, at: usize, c: char, before: char, next: Option<char>) {
        let opener: &[char] = match c {
            '(' | '[' | '{' | '„' | '「' => return self.open.push(c),
            ')' => &['('],
            ']' => &['['],
            '}' => &['{'],
            '」' => &['「'],
            '"' => &['"'],
            '”' => &['“', '„'],
            '“' => &['„'],
            '«' => &['»'],
            '»' => &['«'],
            '`' => &['`'],
            '\'' => &['\'', '`'],
            _ => return,
        };
        let is_quote = !matches!(c, ')' | ']' | '}');
        // An apostrophe, or the plural of an owner.
        if c == '\'' && next.is_some_and(char::is_alphanumeric) && before.is_alphanumeric() {
            return;
        }
        match self.open.iter().rposition(|open| opener.contains(open)) {
            // A lone bracket in quotation marks is no bracket of the title.
            Some(from) => self.open.truncate(from),
            None if !is_quote => self.strays.push(at),
            None if c == '\'' && before.is_alphanumeric() || matches!(c, '」' | '”') => {}
            None => self.open.push(c),
        }
    }
}

fn closing(open: char) -> char {
    match open {
        '(' => ')',
        '[' => ']',
        '{' => '}',
        '「' => '」',
        '„' => '“',
        '“' => '”',
        '«' => '»',
        '»' => '«',
        quote => quote,
    }
}

/// The brackets that a message closes as often as it opens them.
fn even(message: &str) -> Vec<char> {
    let mut even = Vec::from(['(', '[', '{']);
    even.retain(|open| message.matches(*open).count() == message.matches(closing(*open)).count());
    even
}

/// Returns the part of a title without a mark that separates or opens at its end, and with its marks closed: all of them
/// if it was cut, and else the brackets that its message closes.
pub fn closed<'a>(part: &'a str, message: &str, is_cut: bool) -> Cow<'a, str> {
    let part = without_lone_end(part);
    let Marks { mut open, mut strays } = Marks::read(part);
    if open.is_empty() && strays.is_empty() {
        return part.into();
    }
    let even = even(message);
    open.retain(|mark| is_cut || even.contains(mark));
    strays.retain(|at| even.iter().any(|open| part[*at..].starts_with(closing(*open))));
    let mut text = String::with_capacity(part.len());
    for (at, c) in part.char_indices() {
        if strays.binary_search(&at).is_err() {
            text.push(c);
        } else if text.ends_with(char::is_alphanumeric) && part[at + 1..].starts_with(char::is_alphanumeric) {
            // The words on both sides stay two.
            text.push(' ');
        }
    }
    text.truncate(text.trim_end().len());
    text.extend(open.iter().rev().take(OPEN_MAX).map(|open| closing(*open)));
    text.into()
}

/// Closes what is open in a title that was cut, after its ellipsis.
pub fn close_cut(title: &mut String) {
    let open = Marks::read(title).open;
    title.extend(open.iter().rev().take(OPEN_MAX).map(|open| closing(*open)));
}

/// Returns a text without marks that separate or open at its end. The colon of a scheme is part of its name.
fn without_lone_end(text: &str) -> &str {
    const SCHEMES: [&str; 4] = ["http:", "https:", "file:", "data:"];
    let mut text = text.trim_end();
    if SCHEMES.iter().any(|scheme| text.ends_with(scheme)) {
        return text;
    }
    loop {
        let without = text.trim_end_matches([' ', ',', ';', ':']);
        let before = without.trim_end_matches(['-', '=', '|', '/', '\\', '&', '+', '<']);
        let is_lone = before.len() < without.len() && before.ends_with(' ');
        let next = if is_lone { before } else { without };
        if next.len() == text.len() || next.is_empty() {
            return text;
        }
        text = next;
    }
}

/// Returns the part of a title before the ellipsis and the marks that [`close_cut`] added.
pub fn before_cut(part: &str) -> &str {
    let Some((before, after)) = part.rsplit_once('…') else { return part };
    let is_closing = |c: char| matches!(c, ')' | ']' | '}' | '"' | '\'' | '`' | '”' | '“' | '»' | '«' | '」');
    if after.chars().all(is_closing) { before.trim_end() } else { part }
}

/// Replaces the last quotation mark if it has no partner.
pub fn without_lone_quote(mut title: String) -> String {
    if !title.matches('"').count().is_multiple_of(2)
        && let Some(at) = title.rfind('"')
    {
        let is_beside_blank = title[..at].ends_with(' ') || title[at + 1..].starts_with(' ');
        title.replace_range(at..=at, if is_beside_blank { "" } else { " " });
    }
    title.trim().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_closed_in_their_order_and_apostrophes_are_none() {
        for (part, is_cut, expected) in [
            ("f(409, 'a [b", true, "f(409, 'a [b]')"),
            ("f(409, 'a", true, "f(409, 'a')"),
            ("the customers' address isn't known", true, "the customers' address isn't known"),
            ("expected '(' here", true, "expected '(' here"),
            ("undefined method `total' for [nil", true, "undefined method `total' for [nil]"),
            ("unexpected (", false, "unexpected ("),
            ("closed:", false, "closed"),
            ("a - ", false, "a"),
            ("said »a", true, "said »a«"),
            ("http://shop.example/", false, "http://shop.example/"),
        ] {
            let message = "unexpected (";
            assert_eq!(closed(part, message, is_cut), expected);
        }
        assert_eq!(closed("Total(*}) *", "Total(0, {0}) *", false), "Total(*) *");
        assert_eq!(before_cut("row * at (…)"), "row * at (");
    }
}
