//! What messages say of a thing or of a value: that it is missing, that it exists already, or that it is rejected.

use super::{head, lists, persons, things};
use crate::text::find_rare;

/// The longest value of several words that begins a message, bytes.
const REJECTED_BYTES_MAX: usize = 64;

/// The most words of such a value after its first.
const WORDS_MAX: usize = 3;

/// Whether a text in lower case ends by saying that a thing is missing or exists already, and a colon: `player not found:`,
/// `cannot find station:`, `category already exists with name:`.
pub fn announces_missing(before: &str) -> bool {
    // An unknown currency is a gap of the program rather than a wrong name.
    is_missing(before, |noun| lists::is_named(noun) && !matches!(noun, "currency" | "country" | "city"))
}

/// Whether a text in lower case ends by saying the same of a part of a program or of a document: `column not found:`.
pub fn announces_missing_part(before: &str) -> bool {
    #[rustfmt::skip]
    const PARTS: [&str; 12] = [
        "field", "column", "attribute", "property", "parameter", "argument", "header", "variable", "setting",
        "flag", "element", "segment",
    ];
    is_missing(before, |noun| PARTS.contains(&noun))
}

/// Whether a text in lower case ends by saying that a search found nothing, and a colon: `no match for:`, `no results for address:`.
pub fn announces_nothing_found(before: &str) -> bool {
    const FOUND: [&str; 8] = ["match", "matches", "result", "results", "hit", "hits", "candidate", "candidates"];
    const SOUGHT: [&str; 6] = [" address", " location", " place", " query", " the address", " the location"];
    let Some(clause) = before.trim_end().strip_suffix(':') else { return false };
    const MISSING: [&str; 4] =
        ["address not found", "address was not found", "could not be geocoded", "location not found"];
    if MISSING.iter().any(|said| clause.ends_with(said)) {
        return true;
    }
    let clause = SOUGHT.iter().find_map(|noun| clause.strip_suffix(noun)).unwrap_or(clause);
    let mut words = clause.rsplit(' ');
    words.next() == Some("for") && words.next().is_some_and(|word| FOUND.contains(&word)) && words.next() == Some("no")
}

fn is_missing(before: &str, is_noun: impl Fn(&str) -> bool) -> bool {
    #[rustfmt::skip]
    const SAID: [&str; 11] = [
        " was not found", " not found", " could not be found", " cannot be found", " does not exist", " doesn't exist",
        " not exist", " already exists", " already exist", " is unknown", " not present",
    ];
    #[rustfmt::skip]
    const SOUGHT: [&str; 10] = [
        "cannot find", "can't find", "could not find", "couldn't find", "unable to find", "failed to find", "no such",
        "unknown", "nonexistent", "not find",
    ];
    const LABELS: [&str; 8] =
        [" with name", " with the name", " with id", " by name", " by id", " named", " name", " id"];
    let Some(clause) = before.trim_end().strip_suffix(':') else { return false };
    let clause = LABELS.iter().find_map(|label| clause.strip_suffix(label)).unwrap_or(clause);
    let is_thing = |text: &str| text.rsplit(' ').next().is_some_and(&is_noun);
    let sought = || {
        let (rest, noun) = clause.rsplit_once(' ')?;
        is_noun(noun).then(|| SOUGHT.iter().any(|words| ends_with_words(rest, words)))
    };
    SAID.iter().any(|said| clause.strip_suffix(said).is_some_and(is_thing)) || sought().unwrap_or(false)
}

fn ends_with_words(text: &str, words: &str) -> bool {
    text.strip_suffix(words).is_some_and(|before| !before.ends_with(char::is_alphanumeric))
}

/// Returns how many bytes after the first word of a message belong to a value that the message rejects: `zwölf is not a
/// valid number`, `Tabelle 1 is not a valid range`. Plain words are the name of a field, and so is a number after a noun.
pub fn rejected(core: &str, after: &str) -> Option<usize> {
    let is_sure = |text: &str| things::has_foreign(text) || text.bytes().any(|b| b.is_ascii_digit());
    let near = head(after, REJECTED_BYTES_MAX);
    let said = [" is not a ", " is not an "];
    if said.iter().any(|said| after.starts_with(said)) {
        return is_sure(core).then_some(0);
    }
    let end = said.iter().filter_map(|said| find_rare(near, said)).min()?;
    let more = &after[..end];
    let words = || more.split_whitespace();
    let is_name = more.starts_with(' ')
        && more.chars().all(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.'))
        && words().count() <= WORDS_MAX
        && !persons::is_ordinary(core)
        && !words().any(|word| things::is_of_sentences(word) || persons::is_ordinary(word));
    (is_name && is_sure(more)).then_some(end)
}
