//! Free texts, lists of things that people name, of any length, and values in brackets.

use super::persons::{is_ordinary, is_person};
use super::{Scanner, head, labels, shapes, things, words};

/// The longest label that announces a value, bytes.
const LABEL_BYTES_MAX: usize = 32;
/// The longest list that is read as a unit, bytes.
const LIST_BYTES_MAX: usize = 160;
/// The end of the text that may say that a list is rejected, bytes.
const CLAUSE_BYTES_MAX: usize = 48;
/// The most words of one item.
const ITEM_WORDS_MAX: usize = 3;

/// What is said of a value in brackets: `Age (x) must be a number`.
#[rustfmt::skip]
const AFTER_A_VALUE: &[&str] = &[
    " must ", " should ", " is not ", " is beyond ", " is out of ", " is too ", " is invalid", " exceeds ", " does not match",
    " is larger ", " is greater ", " is less ", " is smaller ", " cannot be converted", " cannot be parsed",
];

/// Whether each part of a text between commas is a short name, without a word of sentences or errors.
fn is_list(text: &str) -> bool {
    let fits = |item: &str| {
        let count = item.split_whitespace().count();
        (1..=ITEM_WORDS_MAX).contains(&count)
            && !item.split_whitespace().any(|word| things::is_of_sentences(word) || things::is_class_name(word))
    };
    let last = text.rsplit(", ").next().unwrap_or(text);
    let (last, more) = last.split_once(" and ").map_or((last, None), |(last, more)| (last, Some(more)));
    let but_last = text.rsplit_once(", ").map(|(items, _)| items);
    but_last.into_iter().flat_map(|items| items.split(", ")).chain([last]).chain(more).all(fits)
}

/// Whether the end of a text says that what is named next was not accepted.
fn rejects(text: &str) -> bool {
    const REJECTED: [&str; 8] =
        ["unknown", "invalid", "duplicate", "duplicated", "illegal", "unrecognized", "unsupported", "following"];
    let near = &text[text.floor_char_boundary(text.len().saturating_sub(CLAUSE_BYTES_MAX))..];
    near.split(|c: char| !c.is_alphabetic()).any(|word| REJECTED.iter().any(|known| word.eq_ignore_ascii_case(known)))
}

/// Whether a word, in lower case, is the noun of a thing or person that is named wherever it is mentioned, or of a text
/// that somebody wrote.
fn is_listed(word: &str) -> bool {
    labels::THINGS.contains(&word)
        || is_person(word)
        || (things::TEXTS.contains(&word) && !matches!(word, "value" | "input"))
}

/// Whether a word, in lower case, is the noun of a thing or person that has a name.
pub fn is_named(word: &str) -> bool {
    labels::is_thing(word) || is_person(word) || matches!(word, "user" | "username" | "login")
}

impl Scanner<'_> {
    /// `Unable to parse date: nächsten Freitag`: several words that end the message, after the announcement of a wrong
    /// value.
    pub(super) fn free_text(&mut self) -> bool {
        if !self.closings.is_empty() || !self.out.text.ends_with(": ") {
            return false;
        }
        let rest = head(self.rest(), things::FREE_BYTES_MAX);
        let end = rest.find([',', ';', ')', '\n']);
        #[cfg(test)]
        {
            self.ahead_bytes += end.unwrap_or(rest.len());
        }
        let ends_text = rest.len() == self.rest().len();
        let Some(end) = end.or(ends_text.then_some(rest.len())) else { return false };
        if !things::is_free_text(&rest[..end]) {
            return false;
        }
        let before = self.out.text.trim_end_matches([':', ' ']);
        let label = &before[before.floor_char_boundary(before.len().saturating_sub(LABEL_BYTES_MAX))..];
        // `Recipient: Mailbox Full` says what is wrong.
        let is_said = || rest[..end].split_whitespace().all(is_ordinary);
        let is_value = self.announces_wrong_value()
            || self.announces_missing() && !is_said()
            || labels::labels_value(&label.to_lowercase()) && !is_said();
        if is_value {
            self.at += end;
            self.out.mask();
        }
        is_value
    }

    /// `Unknown products: Harke, Besen`, `articles [Spaten]`: a list after the plural of a thing's noun, and a name in
    /// brackets after its singular.
    pub(super) fn list_of_things(&mut self) -> bool {
        let text = self.out.text.as_str();
        let bracketed = text.ends_with(" [") || text.ends_with(": [");
        if !(bracketed || text.ends_with(": ")) || !self.closings.is_empty() {
            return false;
        }
        let plural = self.out.before[0].as_str();
        let is_thing = bracketed && self.names_in_brackets(plural)
            || plural.strip_suffix('s').is_some_and(|one| one.len() > 2 && is_listed(one))
            || plural.strip_suffix("ies").is_some_and(|stem| matches!(stem, "countr" | "cit" | "currenc" | "compan"));
        if !is_thing {
            return false;
        }
        let rest = head(self.rest(), LIST_BYTES_MAX);
        let end = if bracketed { rest.find(']') } else { rest.find([';', '\n', '(', '.', ':']) };
        #[cfg(test)]
        {
            self.ahead_bytes += end.unwrap_or(rest.len());
        }
        let ends_text = !bracketed && rest.len() == self.rest().len();
        let Some(end) = end.or(ends_text.then_some(rest.len())) else { return false };
        let list = &rest[..end];
        // `Cannot load users: overloaded` gives a reason, `Unknown users: anna` names some.
        let items = list.split([',', ' ']).filter(|word| !word.is_empty() && *word != "and");
        let is_sure = bracketed || rejects(text) || (list.contains(", ") && items.clone().all(things::begins_name));
        let is_list = is_sure && !rest[end..].starts_with(':') && is_list(list);
        if is_list {
            self.at += end;
            self.out.mask();
        }
        is_list
    }

    /// `project [garden-club]`: a name in brackets after the noun of a thing. Small words say why: `[legal hold]`.
    fn names_in_brackets(&self, noun: &str) -> bool {
        let inside = head(self.rest(), LIST_BYTES_MAX).split(']').next().unwrap_or_default();
        labels::is_thing(noun)
            && (things::is_slug(inside) || inside.split(' ').all(things::begins_name))
            && !inside.split(' ').all(is_ordinary)
    }

    /// `Age (x) must be a number`: what is in the brackets is the value of what is named before them. After the noun of
    /// a piece of code it is its name.
    pub(super) fn value_in_brackets(&mut self) -> bool {
        let Some(inside) = self.rest().strip_prefix('(').filter(|_| self.out.text.ends_with(' ')) else { return false };
        let last = self.out.before[0].as_str();
        if last.is_empty()
            || words::BEFORE_A_NAME.contains(&last)
            || words::BEFORE_A_NAME.contains(&last.trim_end_matches('s'))
        {
            return false;
        }
        let inside = head(inside, LIST_BYTES_MAX);
        let end = inside.find(['(', ')', '\n', '"', '\'', '=', ':']);
        #[cfg(test)]
        {
            self.ahead_bytes += end.unwrap_or(inside.len());
        }
        let Some(end) = end.filter(|end| inside[*end..].starts_with(')')) else { return false };
        let (value, after) = (&inside[..end], &self.rest()[end + 2..]);
        let is_value = AFTER_A_VALUE.iter().any(|said| after.starts_with(said))
            && (1..=ITEM_WORDS_MAX).contains(&value.split_whitespace().count())
            && !value.split_whitespace().any(|word| things::is_of_sentences(word) || labels::is_reason(word))
            && !shapes::is_code_name(value)
            && !words::TYPE_NAMES.contains(&value);
        if is_value {
            self.at += 1;
            self.out.punctuation('(');
            self.at += end;
            self.out.mask();
        }
        is_value
    }
}
