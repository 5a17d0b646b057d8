//! The title of merged variants: what their titles have in common, so that a group is not named after the data of one.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Stands for words that differ.
const STAR: &str = "*";

/// The share of the shorter title's words that must be common, percent. Variants that a rule or a person merged may
/// have nothing in common; then the representative's title stays.
const COMMON_PCT: usize = 50;

/// Returns the common title, or `None` if the titles have too little in common.
pub fn title(a: &str, b: &str) -> Option<String> {
    let (a, b): (Vec<&str>, Vec<&str>) = (a.split(' ').collect(), b.split(' ').collect());
    let shorter = a.len().min(b.len());
    let words: Vec<String> = if a.len() == b.len() {
        a.iter().zip(&b).map(|(a, b)| common_word(a, b)).collect()
    } else {
        let before = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
        let after = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count().min(shorter - before);
        let ends = a[..before].iter().chain([&STAR]).chain(&a[a.len() - after..]);
        ends.map(ToString::to_string).collect()
    };
    let same = words.iter().filter(|word| !word.contains(STAR)).count();
    if same * 100 < shorter * COMMON_PCT {
        return None;
    }
    let mut title = String::new();
    for word in words.iter().filter(|word| !word.is_empty()) {
        // Two stars in a row say no more than one.
        if word == STAR && title.ends_with(" *") {
            continue;
        }
        if !title.is_empty() {
            title.push(' ');
        }
        title.push_str(word);
    }
    Some(title)
}

/// Returns the word, or a star with the marks around it.
fn common_word(a: &str, b: &str) -> String {
    if a == b {
        return a.to_string();
    }
    let is_mark = |c: char| !c.is_alphanumeric() && !matches!(c, '*' | '/' | '\\');
    let from = |text: &str| text.len() - text.trim_start_matches(is_mark).len();
    let to = |text: &str| text.trim_end_matches(is_mark).len();
    let before = if a[..from(a)] == b[..from(b)] { &a[..from(a)] } else { "" };
    let after = if a[to(a)..] == b[to(b)..] { &a[to(a)..] } else { "" };
    [before, STAR, after].concat()
}

#[cfg(test)]
mod tests {
    use super::title;

    #[test]
    fn data_of_one_variant_is_not_in_the_title() {
        let rows = [
            ("Error: volume alpha is full", "Error: volume beta is full", Some("Error: volume * is full")),
            ("Error: volume * is full", "Error: volume gamma is full", Some("Error: volume * is full")),
            ("no key 'a', retry", "no key 'b', retry", Some("no key '*', retry")),
            ("mailbox of Bo is full", "mailbox of Anna Lee is full", Some("mailbox of * is full")),
            ("one two three four", "one two three four", Some("one two three four")),
            ("a 1 2 z is lost now", "a 3 4 z is lost now", Some("a * z is lost now")),
            ("timeout", "connection refused by the peer", None),
            ("a b", "a b a b", Some("a b *")),
        ];
        for (a, b, common) in rows {
            assert_eq!(title(a, b).as_deref(), common, "{a} | {b}");
        }
    }
}
