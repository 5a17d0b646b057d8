//! Whether a filling looks like data in its place, by learned weights.
//!
//! The words before and after a hole, the forms of a filling's tokens, its words and pairs of these have a weight each.
//! The weights are learned from formats of errors whose placeholders were labelled by people: letters that differ there
//! have one cause, or two (`rules::fillings`, `tests/reader/formats.txt`). A positive sum suggests data.
//!
//! A sum proves nothing by itself: some fillings that name a cause have a sum like data. Three different ones in one place
//! hardly ever have.

use super::nouns::Named;
use super::tokens::{self, is_of_system, is_punctuation};
use crate::read::{is_file_path, is_media_type, is_word_of_failure};
use crate::weights::{Weights, hash};
use alloc::string::String;
use alloc::vec::Vec;

static WEIGHTS: Weights = Weights::new(include_bytes!("weights.bin"));
/// The least sum of data. With it, none of 464 places that name causes was merged after three letters in formats that taught
/// nothing.
const DATA_MIN: i32 = 30;
/// Below this sum, a filling is taken for a cause unless there are twelve.
const CAUSE_MAX: i32 = -260;
/// The same after the noun of a record, whose names are data more often.
const CAUSE_OF_RECORD_MAX: i32 = -330;
/// Nouns of files, whose names may have a slash.
const FILES: [&str; 8] = ["file", "filename", "path", "directory", "folder", "document", "attachment", "upload"];
/// The words of a token that are weighed.
const WORDS_MAX: usize = 6;
/// A token of at most so many bytes is an initial or a mark.
const SHORT_MAX: usize = 2;
/// A token of at least so many bytes is longer than ordinary words.
const LONG_MIN: usize = 24;
/// What stands for the text before the first token.
const BEGIN: &str = "^";
/// What stands for the text after the last token.
const END: &str = "$";

/// The text around a hole.
pub struct Place {
    before: String,
    after: String,
    named: &'static str,
    /// Whether the noun before is one of files.
    is_of_files: bool,
    sum: i32,
}

impl Place {
    /// Weighs the tokens before and after a hole.
    pub fn new(left: &[&str], right: &[&str]) -> Self {
        let (before, after) = (nth_before(left, 0), nth_after(right, 0));
        let sum = hashes_of_place(left, right).into_iter().map(|hash| WEIGHTS.weight(hash)).sum();
        let is_of_files = FILES.contains(&before.as_str());
        Self { before, after, named: named(left), is_of_files, sum }
    }

    /// Whether a filling of the hole looks like data.
    pub fn holds_data(&self, filling: &[&str]) -> bool {
        filling.iter().all(|token| self.may_hold(token, filling.len())) && self.weigh(filling) >= DATA_MIN
    }

    /// Whether a filling of the hole looks like the name of a cause.
    pub fn holds_cause(&self, filling: &[&str]) -> bool {
        let most = if self.named == Named::Record.label() { CAUSE_OF_RECORD_MAX } else { CAUSE_MAX };
        self.weigh(filling) < most
    }

    /// Whether a token may be data or a part of it, whatever its weight. A colon begins another statement, and words beside
    /// a mask say something of it. Addresses, routes and media types are mostly parts of a program.
    fn may_hold(&self, token: &str, tokens: usize) -> bool {
        let is_path = || is_file_path(token) || self.is_of_files || !token.starts_with('/') && !is_media_type(token);
        let is_name = !token.contains('/') || !token.contains("//") && !is_of_system(token) && is_path();
        is_name && (tokens == 1 || !matches!(token, ":" | "-" | "*"))
    }

    fn weigh(&self, filling: &[&str]) -> i32 {
        let weights = hashes_of_filling(&self.before, self.named, filling, &self.after).into_iter();
        self.sum + weights.map(|hash| WEIGHTS.weight(hash)).sum::<i32>()
    }
}

/// Returns what is weighed for each of these templates: the hashes of the stretch in which they differ, each once. Returns
/// `None` for a template that has nothing there. Tests learn the weights from it.
pub fn weighed_hashes(templates: &[&str]) -> Vec<Option<Vec<u32>>> {
    let all: Vec<Vec<&str>> = templates.iter().map(|template| tokens::split(template)).collect();
    let Some(first) = all.first() else { return Vec::new() };
    let shortest = all.iter().map(Vec::len).min().unwrap_or(0);
    let left = (0..shortest).take_while(|at| all.iter().all(|tokens| tokens[*at] == first[*at])).count();
    let from_end = |tokens: &Vec<&str>, at: usize| String::from(tokens[tokens.len() - 1 - at]);
    let is_same = |at: &usize| all.iter().all(|tokens| from_end(tokens, *at) == from_end(first, *at));
    let right = (0..shortest - left).take_while(is_same).count();
    let one = |tokens: &Vec<&str>| {
        let (before, rest) = tokens.split_at(left);
        let (filling, after) = rest.split_at(rest.len() - right);
        let is_learned = (1..=tokens::HOLE_TOKENS_MAX).contains(&filling.len()) && filling != ["*"];
        is_learned.then(|| {
            let mut hashes = hashes_of_place(before, after);
            hashes.extend(hashes_of_filling(&nth_before(before, 0), named(before), filling, &nth_after(after, 0)));
            hashes.sort_unstable();
            hashes
        })
    };
    all.iter().map(one).collect()
}

fn nth_before(left: &[&str], n: usize) -> String {
    left.iter().rev().nth(n).map_or_else(|| BEGIN.into(), |token| token.to_lowercase())
}

fn nth_after(right: &[&str], n: usize) -> String {
    right.get(n).map_or_else(|| END.into(), |token| token.to_lowercase())
}

/// Returns what the noun before a hole says of its filling, if there is one: `project`, `project with name`.
fn named(left: &[&str]) -> &'static str {
    const BETWEEN: &[&str] = &["name", "named", "called", "id", "with", "title", "titled", "labelled", "code", "the"];
    let mut before = left.iter().rev().filter(|token| !is_punctuation(token)).map(|token| token.to_lowercase());
    let noun = before.find(|word| !BETWEEN.contains(&word.as_str()));
    noun.and_then(|word| Named::by(&word)).map_or("", Named::label)
}

fn hashes_of_place(left: &[&str], right: &[&str]) -> Vec<u32> {
    let [b1, b2, b3] = [0, 1, 2].map(|n| nth_before(left, n));
    let [a1, a2] = [0, 1].map(|n| nth_after(right, n));
    let near = [
        &[][..],
        &["b1", &b1],
        &["b12", &b2, &b1],
        &["b2", &b2],
        &["b3", &b3],
        &["a1", &a1],
        &["a12", &a1, &a2],
        &["ba", &b1, &a1],
        &["n", named(left)],
        &["na", named(left), &a1],
        &["an", Named::by(&a1).map_or("", Named::label)],
    ]
    .map(hash);
    let said = left.iter().chain(right).filter(|token| !is_punctuation(token));
    let mut hashes: Vec<u32> = said.map(|token| hash(&["s", &token.to_lowercase()])).chain(near).collect();
    hashes.sort_unstable();
    hashes.dedup();
    hashes
}

/// The hashes of a filling between two tokens, each once.
fn hashes_of_filling(before: &str, named: &str, filling: &[&str], after: &str) -> Vec<u32> {
    let forms: Vec<String> = filling.iter().map(|token| form(token)).collect();
    let whole = forms.join(" ");
    let mut hashes = Vec::from(
        [&["f", whole.as_str()][..], &["fb", &whole, before], &["fa", &whole, after], &["fn", &whole, named]].map(hash),
    );
    for (token, form) in filling.iter().zip(&forms) {
        hashes.extend([&["t", form.as_str()][..], &["tb", form, before], &["ta", form, after]].map(hash));
        hashes.extend(words(token).map(|word| hash(&["w", &word])));
        if token.len() <= SHORT_MAX {
            hashes.push(hash(&["short"]));
        }
        if token.len() >= LONG_MIN {
            hashes.push(hash(&["long"]));
        }
    }
    hashes.sort_unstable();
    hashes.dedup();
    hashes
}

/// The words of a token in lower case, without digits.
fn words(token: &str) -> impl Iterator<Item = String> {
    token.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()).take(WORDS_MAX).map(str::to_lowercase)
}

/// Returns the form of a token: what kind of name it may be, whether parts of it are masked or numbers, and whether its
/// words are those of failures.
fn form(token: &str) -> String {
    let mut form = String::from(kind(token));
    if token.contains('*') {
        form.push('*');
    }
    if token.contains(|c: char| c.is_numeric()) {
        form.push('0');
    }
    let (mut known, mut all) = (0, 0);
    for word in words(token) {
        all += 1;
        known += usize::from(is_word_of_failure(&word) || word.strip_suffix('s').is_some_and(is_word_of_failure));
    }
    form.push(match (known, all) {
        (_, 0) => 'n',
        (0, _) => 'u',
        _ if known == all => 'k',
        _ => 'p',
    });
    form
}

fn kind(token: &str) -> &'static str {
    let inner = token.trim_matches('.');
    if token.contains("://") {
        "url"
    } else if token.contains('/') {
        "path"
    } else if token.contains('\\') {
        "back"
    } else if token.contains('@') {
        "at"
    } else if !token.contains(char::is_alphabetic) {
        "mark"
    } else if has_hump(token) {
        if token.starts_with(char::is_uppercase) { "Hump" } else { "hump" }
    } else if token.chars().all(|c| !c.is_lowercase()) && token.len() > SHORT_MAX {
        "shout"
    } else if inner.contains('.') {
        if inner.contains(['-', '_']) { "dots-" } else { "dots" }
    } else if inner.contains('-') {
        if inner.contains('_') { "mixed" } else { "kebab" }
    } else if inner.contains('_') {
        "snake"
    } else if inner.contains([':', '+', '#', '$', '~', '&', '%']) {
        "joined"
    } else if token.starts_with(char::is_uppercase) {
        "Cap"
    } else {
        "low"
    }
}

/// Whether a capital follows a small letter.
fn has_hump(token: &str) -> bool {
    let mut was_small = false;
    token.chars().any(|c| {
        let is_hump = was_small && c.is_uppercase();
        was_small = c.is_lowercase();
        is_hump
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_has_a_form() {
        for (token, expected) in [
            ("garden", "lowu"),
            ("timeout", "lowk"),
            ("Berlin", "Capu"),
            ("garden_hose", "snakeu"),
            ("connection_pool", "snakek"),
            ("connection_hose", "snakep"),
            ("job-*", "kebab*k"),
            ("v2", "low0u"),
            ("OrderList", "Humpu"),
            ("/srv/a", "pathu"),
            ("**", "mark*n"),
        ] {
            assert_eq!(form(token), expected, "{token}");
        }
    }

    #[test]
    fn what_differs_is_weighed_in_each_template() {
        let found = weighed_hashes(&["project garden is gone", "project * is gone", "project is gone"]);
        assert_eq!(found.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false, false]);
        let found = weighed_hashes(&["a b c", "a d c"]);
        assert_ne!(found[0], found[1]);
        assert!(weighed_hashes(&[]).is_empty() && weighed_hashes(&["a", "a"])[0].is_none());
    }

    #[test]
    fn the_table_is_sorted_and_small() {
        let (is_sorted, bytes) = WEIGHTS.checked();
        assert!(is_sorted && (1_000..=80_000).contains(&bytes), "{bytes} bytes");
    }
}
