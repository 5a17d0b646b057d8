//! Names beside numbers and nouns: `customer 17 (Anna Kowalska)`, `supplier <Garden World Ltd.>`, and addresses that were
//! looked for.

use super::given_names::is_given_name;
use super::persons::{FIRMS, MORE_WORDS_MAX, PARTICLES, is_ordinary, is_person};
use super::{Scanner, head, missing, shapes, things};

/// The longest name in brackets, bytes, and the shortest name that is no parameter of a type, characters.
const BRACKETS_BYTES_MAX: usize = 80;
const TYPE_CHARS_MIN: usize = 3;

/// The longest postal address, bytes, and the fewest of its words.
const ADDRESS_BYTES_MAX: usize = 160;
const ADDRESS_WORDS_MIN: usize = 3;

/// Whether a text is the name of a person or firm and nothing else: several capitalised words that are no words of errors.
fn is_full_name(text: &str, is_announced: bool) -> bool {
    let words = || {
        let words = text.split([' ', ',']).map(|word| word.trim_end_matches('.'));
        words.filter(|word| !word.is_empty() && !PARTICLES.contains(word))
    };
    let is_name = |word: &str| {
        // `A. Kowalska`
        if word.chars().count() == 1 {
            return word.starts_with(char::is_uppercase);
        }
        let is_one = word.chars().all(|c| c.is_alphabetic() || matches!(c, '-' | '\'' | '’' | '.'));
        FIRMS.contains(&word)
            || word.starts_with(char::is_uppercase) && is_one && (is_given_name(word) || !is_ordinary(word))
    };
    let is_sure = || words().next().is_some_and(is_given_name) || words().any(|word| FIRMS.contains(&word));
    (2..=1 + MORE_WORDS_MAX).contains(&words().count()) && words().all(is_name) && (is_announced || is_sure())
}

/// Whether a text is a postal address: words with capitals and numbers, a number among them, and no word of errors.
fn is_address(text: &str) -> bool {
    let words = || text.split([' ', ',']).filter(|word| !word.is_empty());
    let is_part = |word: &str| {
        word.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit()) && !things::is_of_sentences(word)
            || PARTICLES.contains(&word)
    };
    words().count() >= ADDRESS_WORDS_MIN
        && text.contains(", ")
        && words().all(is_part)
        && words().any(|word| word.starts_with(|c: char| c.is_ascii_digit()))
}

impl Scanner<'_> {
    /// `no match for: Hauptstraße 5, 10115 Berlin`: an address that ends the message.
    pub(super) fn sought_address(&mut self) -> bool {
        if !self.out.text.ends_with(": ")
            || !self.closings.is_empty()
            || !missing::announces_nothing_found(&self.out.near().to_lowercase())
        {
            return false;
        }
        let rest = head(self.rest(), ADDRESS_BYTES_MAX);
        #[cfg(test)]
        {
            self.ahead_bytes += rest.len();
        }
        let is_whole = rest.len() == self.rest().len();
        if !is_whole || !is_address(rest) {
            return false;
        }
        self.at += rest.len();
        self.out.mask();
        true
    }

    /// `customer 17 (Anna Kowalska)`: the name beside a number. After the number of anything else than a person or thing, it
    /// must look like a name.
    pub(super) fn name_in_brackets(&mut self) -> bool {
        let Some(inside) = self.rest().strip_prefix('(').filter(|_| self.out.run.is_some()) else { return false };
        let inside = head(inside, BRACKETS_BYTES_MAX);
        let end = inside.find(['(', ')']);
        #[cfg(test)]
        {
            self.ahead_bytes += end.unwrap_or(inside.len());
        }
        let Some(length) = end.filter(|at| inside[*at..].starts_with(')')) else { return false };
        if !is_full_name(&inside[..length], is_person(&self.out.before[1])) {
            return false;
        }
        self.at += length + 2;
        self.out.mask();
        true
    }

    /// `supplier <Garden World Ltd.>`: a name in angles after the noun of a person or thing.
    pub(super) fn name_in_angles(&mut self) -> bool {
        if !self.rest().starts_with('<') || !self.out.text.ends_with(' ') || !is_person(&self.out.before[0]) {
            return false;
        }
        let inside = &head(self.rest(), BRACKETS_BYTES_MAX)[1..];
        let end = inside.find(['<', '>']);
        #[cfg(test)]
        {
            self.ahead_bytes += end.unwrap_or(inside.len());
        }
        let Some(length) = end.filter(|at| inside[*at..].starts_with('>')) else { return false };
        // `<K, V>` are types, `<Phone>` and `<email>` fields.
        let is_name = |word: &str| {
            word.chars().count() >= TYPE_CHARS_MIN
                && things::begins_name(word)
                && !shapes::is_code_name(word)
                && !is_ordinary(word)
        };
        if inside.starts_with(char::is_whitespace) || !inside[..length].split([' ', ',']).any(is_name) {
            return false;
        }
        self.at += length + 2;
        self.out.mask();
        true
    }
}
