//! Names that people give to things: data without a digit, known by the noun before it or by its place.

use super::{SPAN_BYTES_MAX, Scanner, head, labels, paths, shapes, words};
use crate::read::vocabulary;

/// The longest free text that is looked at, bytes: a short answer, not a sentence.
pub const FREE_BYTES_MAX: usize = 80;
/// The most words of a name that follow its first.
const MORE_WORDS_MAX: usize = 3;

/// Other nouns whose codes are data: `postal code 'X1'`. Codes of an outcome are causes.
#[rustfmt::skip]
const CODED: &[&str] =
    &["language", "postal", "zip", "bank", "promo", "discount", "tax", "area", "airport", "routing", "sort", "unit"];

/// Nouns of texts that somebody wrote: what is quoted after them is that text.
#[rustfmt::skip]
pub const TEXTS: &[&str] = &[
    "string", "text", "input", "literal", "postcode", "email", "iban", "bic", "isbn", "ean", "barcode", "phone", "amount",
    "address", "sku", "value", "price", "date", "quantity", "user", "username", "login", "member", "owner", "author",
    "recipient", "sender",
];

/// What is done to a file, after its noun.
#[rustfmt::skip]
const DONE_TO_FILES: [&str; 11] = [
    "upload", "download", "import", "export", "transfer", "copy", "read", "write", "parse", "named", "called",
];

/// Words before `id` if an id follows.
const BEFORE_AN_ID: [&str; 5] = ["with", "by", "for", "of", "having"];

/// Nouns of files, whose names may have blanks.
const FILES: [&str; 8] = ["file", "filename", "document", "attachment", "image", "picture", "photo", "upload"];

/// Words after the noun of a thing that name a part of it, which is the subject.
#[rustfmt::skip]
const PARTS: &[&str] = &[
    "id", "ids", "name", "names", "code", "codes", "number", "type", "kind", "address", "email", "mail", "phone", "status",
    "state", "key", "group", "account", "data", "record", "records", "object", "file", "list", "profile", "settings",
    "table", "field", "value", "price", "city", "country", "date", "time", "service", "model", "class", "api", "token",
    "password", "title", "description", "total", "language", "currency", "reference", "details", "info", "role", "tax",
    "url", "image", "version", "limit", "size", "count", "line", "lines", "item", "items",
];

/// What says that a thing is missing or exists.
#[rustfmt::skip]
const SOUGHT: &[&str] = &[
    " not found", " was not found", " could not be found", " cannot be found", " does not exist", " doesn't exist",
    " already exists",
];

/// What else is said of a thing that was named.
const SAID: &[&str] = &[" is not ", " is already ", " found"];

/// Words of answers and errors, which a value has none of.
#[rustfmt::skip]
const OF_ERRORS: &[&str] = &[
    "http", "status", "error", "code", "exception", "bad", "request", "found", "denied", "failed", "failure", "refused",
    "timeout", "gateway", "unavailable", "unauthorized", "expected", "unexpected", "invalid", "unable", "end", "line",
    "connection", "server", "and", "or", "got", "eof", "reset", "retry", "later", "aborted", "cancelled", "canceled",
    "closed", "busy", "locked", "offline", "throttled", "overloaded",
];

/// Whether a quoted text after these two words is data, whatever it looks like.
pub fn precede_data(before: &str, [last, second]: [&str; 2], inside: &str, after: &str) -> bool {
    let by_id = matches!(last, "id" | "identifier") && BEFORE_AN_ID.contains(&second);
    let is_thing = by_id || labels::is_thing(last) || labels::announces_name(last, before);
    if !(is_thing || TEXTS.contains(&last) || (last == "code" && is_coded(second))) {
        return false;
    }
    // What is missing is a name.
    let is_missing =
        [" is required", " is missing", " was not provided", " is a required"].iter().any(|end| after.starts_with(end));
    let is_known = words::TYPE_NAMES.contains(&inside) || words::is_truth(inside) || labels::is_reason(inside);
    // `project 'garden-hose'`: users name things as programs name their parts, but not like their classes.
    let is_code = shapes::is_code_name(inside) && !(is_thing && is_slug(inside) && is_sought(after));
    // `account 'frozen' cannot be debited`
    let is_state = !by_id
        && labels::MADE.contains(&last)
        && inside.bytes().all(|b| b.is_ascii_lowercase() || b == b'-' || b == b'_')
        && !is_sought(after);
    !(is_state || is_missing || is_known || is_part(inside) || is_code)
}

/// Whether a quoted text between these words is what a customer wrote, and the message finds it too long: `review text "…" exceeds
/// the limit`. Notes of programs are not judged by their length: of `note "…" was rejected`, the words count.
pub fn is_judged_note([last, second]: [&str; 2], after: &str) -> bool {
    #[rustfmt::skip]
    const NOTES: [&str; 14] = [
        "note", "comment", "remark", "review", "feedback", "memo", "greeting", "notiz", "kommentar", "bemerkung", "bewertung", "commentaire", "remarque",
        "comentario",
    ];
    const JUDGED: [&str; 5] = [" is too ", " is longer ", " exceeds ", " ist zu ", " est trop "];
    (NOTES.contains(&last) || last == "text" && NOTES.contains(&second))
        && JUDGED.iter().any(|said| after.starts_with(said))
}

/// Whether a name has the form of a class or of a member of one: `OrderSaga`, `shop.Order`, `Order::new`.
pub fn is_class_name(name: &str) -> bool {
    shapes::is_code_name(name) && (name.contains(['.', ':', '(']) || name.bytes().any(|b| b.is_ascii_uppercase()))
}

/// Whether a word may be the name that somebody gave to a thing: no word of errors, and no name of a class.
pub fn is_own_name(word: &str) -> bool {
    // States and reasons: `region-locked`, `same-iban`. Capitals are systems.
    const OF_STATES: [&str; 8] = ["same", "wrong", "other", "down", "off", "out", "max", "fail"];
    let is_said = |part: &str| {
        is_of_sentences(part)
            || vocabulary::holds(part)
            || is_part(part)
            || part.ends_with("ed")
            || OF_STATES.contains(&part)
    };
    let is_capitals = word.len() <= 4 && word.bytes().all(|b| b.is_ascii_uppercase());
    let lower = word.to_lowercase();
    !(is_capitals || is_class_name(word) || lower.split(['-', '_']).any(is_said))
}

/// Whether a word without capitals has the form of a name: `garden-hose`. `unit_price` is a field.
pub fn is_slug(word: &str) -> bool {
    word.bytes().any(|b| b == b'-')
        && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')
        && word.trim_matches('-').contains('-')
}

/// Whether a text after a name says that nobody has it, or that somebody has, or ends.
fn is_sought(after: &str) -> bool {
    let after = after.trim_start_matches(['"', '\'', '”', '»']);
    SOUGHT.iter().any(|said| after.starts_with(said)) || after.trim_matches(['.', '!']).is_empty()
}

/// Whether a word names a part of a thing rather than the thing.
pub fn is_part(word: &str) -> bool {
    PARTS.iter().any(|part| word.eq_ignore_ascii_case(part))
}

/// Whether a word has a letter that English lacks.
pub fn has_foreign(word: &str) -> bool {
    !word.is_ascii() && word.chars().any(|c| c.is_alphabetic() && !c.is_ascii())
}

/// Whether a word may begin a name.
pub fn begins_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit()) || has_foreign(word)
}

fn is_coded(noun: &str) -> bool {
    CODED.contains(&noun) || labels::is_thing(noun)
}

/// Whether a word is a currency's code of ISO 4217 (those of the most used currencies).
pub fn is_currency(word: &str) -> bool {
    #[rustfmt::skip]
    const CODES: &[&str] = &[
        "AED", "ARS", "AUD", "BGN", "BRL", "CAD", "CHF", "CLP", "CNY", "COP", "CZK", "DKK", "EGP", "EUR", "GBP", "HKD",
        "HUF", "IDR", "ILS", "INR", "ISK", "JPY", "KES", "KRW", "MAD", "MXN", "MYR", "NGN", "NOK", "NZD", "PEN", "PHP",
        "PKR", "PLN", "QAR", "RON", "RSD", "RUB", "SAR", "SEK", "SGD", "THB", "TRY", "TWD", "UAH", "USD", "VND", "ZAR",
    ];
    word.len() == 3 && word.as_bytes()[0].is_ascii_uppercase() && CODES.contains(&word)
}

/// Whether a word is one of sentences, of errors, or says why there is no value.
pub fn is_of_sentences(word: &str) -> bool {
    is_joint(&word.to_lowercase())
        || labels::is_reason(word)
        || OF_ERRORS.iter().any(|known| word.eq_ignore_ascii_case(known))
}

/// Whether a word, in lower case, is a part of a sentence rather than of a name.
fn is_joint(word: &str) -> bool {
    words::OF_SENTENCES.contains(&word) || words::joins_sentence(word)
}

/// Whether a text after the announcement of a wrong value is that value, although it has several words: none of them
/// is a word of sentences or errors, and its letters are those of names or of other languages.
pub fn is_free_text(text: &str) -> bool {
    let words = || text.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    let named = |word: &str| {
        word.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit())
            || word.contains(|c: char| matches!(c, '/' | '@' | '.' | '_') || c.is_ascii_digit())
    };
    (words().all(named) || has_foreign(text))
        && (2..=2 + MORE_WORDS_MAX).contains(&words().count())
        && !words().any(is_of_sentences)
}

impl Scanner<'_> {
    /// `got: :later`, `got: %{a: 7}`: an atom or a map of Elixir where something else was expected.
    pub(super) fn term(&mut self) -> bool {
        if self.out.before[0] != "got" {
            return false;
        }
        let rest = head(self.rest(), SPAN_BYTES_MAX);
        let length = if let Some(inside) = rest.strip_prefix("%{") {
            let length = shapes::brace_length(inside).map(|length| length + 3);
            #[cfg(test)]
            {
                self.ahead_bytes += length.unwrap_or(rest.len());
            }
            length
        } else if rest == "nil" {
            Some(rest.len())
        } else {
            let atom = rest.strip_prefix(':').filter(|atom| atom.starts_with(|c: char| c.is_ascii_lowercase()));
            atom.map(|atom| 1 + atom.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(atom.len()))
        };
        let Some(length) = length else { return false };
        self.at += length;
        self.out.mask();
        true
    }

    /// Returns how many bytes after this word belong to the name of a file that it begins: `file Rechnung März.pdf`.
    pub(super) fn file_name(&self, core: &str) -> Option<usize> {
        // What somebody sent is data, whatever its kind.
        if matches!(self.out.before[0].as_str(), "attachment" | "upload" | "photo")
            && paths::has_ending(core)
            && !paths::is_of_program(core)
        {
            return Some(0);
        }
        if !FILES.contains(&self.out.before[0].as_str())
            || DONE_TO_FILES.contains(&core)
            || is_part(core)
            || is_of_sentences(core)
        {
            return None;
        }
        let after = self.rest();
        let mut at = 0;
        for _ in 0..MORE_WORDS_MAX {
            let word = after[at..].strip_prefix(' ')?;
            let length = word.find(|c: char| c.is_whitespace() || shapes::is_delimiter(c)).unwrap_or(word.len());
            let word = word[..length].trim_end_matches([':', '.', '!', '?']);
            if is_part(word) || is_of_sentences(word) {
                return None;
            }
            at += 1 + word.len();
            if paths::is_document(word) {
                return Some(at);
            }
            if word.len() < length {
                return None;
            }
        }
        None
    }

    /// Returns how many bytes after this word belong to the name of a thing that it begins: `Product Gartenschlauch
    /// Grün is not available`, `with id Anna Müller not found`.
    pub(super) fn thing_name(&self, core: &str) -> Option<usize> {
        let [last, second] = [self.out.before[0].as_str(), self.out.before[1].as_str()];
        // Without marks, programs name the sheets of their own templates: `Worksheet Prices does not exist`.
        if matches!(last, "sheet" | "worksheet") {
            return None;
        }
        let is_named = labels::announces_name(last, self.out.near());
        let is_word = !begins_name(core);
        let is_marked = is_slug(core) || core.bytes().any(|b| b.is_ascii_digit());
        if is_word && !(is_marked && labels::is_thing(last) || is_named && is_own_name(core)) {
            return None;
        }
        let by_id = matches!(last, "id" | "identifier") && BEFORE_AN_ID.contains(&second);
        let is_thing = labels::THINGS.contains(&last) || is_named || is_marked && labels::is_thing(last);
        if !(is_thing || by_id) || is_part(core) || labels::is_reason(core) {
            return None;
        }
        if shapes::is_code_name(core) && !(is_thing && is_slug(core)) {
            return None;
        }
        let after = self.rest();
        let mut at = 0;
        for more in 0..=MORE_WORDS_MAX {
            // What a name with a hyphen is not may be a part: `auto-renewal is not enabled`.
            let is_state = is_word && after[at..].starts_with(" is ");
            if !is_state && SOUGHT.iter().chain(SAID).any(|said| after[at..].starts_with(said)) {
                // One word after an id may be the name of a piece of code.
                return (is_thing || more > 0 || has_foreign(core)).then_some(at);
            }
            if is_word {
                return None;
            }
            let word = after[at..].strip_prefix(' ')?;
            let length = word.find(|c: char| c.is_whitespace() || shapes::is_delimiter(c)).unwrap_or(word.len());
            let word = &word[..length];
            if word.is_empty() || word.len() > FREE_BYTES_MAX || is_joint(word) || is_part(word) {
                return None;
            }
            at += 1 + length;
        }
        None
    }
}
