//! What a reason quotes of an error: the words of the rules, and only such words of the message as its title shows.
//!
//! Reasons go to the dashboard, exports and logs. A word that the template masks may be a customer's name or a token.

use super::chain::Link;
use super::{conditions, spaced};
use crate::read::template::{self, MASK};
use crate::read::title;
use crate::reading::Classification;
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// What begins a quotation whose first word is one of a rule, and whose further words may be the message's own.
const SENTENCE: &str = "the sentence says \"";
/// See [`SENTENCE`].
const TYPE: &str = "the error type says \"";
/// Between words that have others between them in the message.
const GAP: &str = "…";

/// Says which words of a sentence decide. The first one is a word of the rule.
pub fn sentence(words: &[&str]) -> String {
    format!("{SENTENCE}{}\"", words.join(" "))
}

/// The same, of words that have others between them in the message.
pub fn sentence_with_gaps(words: &[&str]) -> String {
    format!("{SENTENCE}{}\"", words.join(" … "))
}

/// Says which words of an error's name decide. The first one is a word of the rule.
pub fn error_type(words: &str) -> String {
    format!("{TYPE}{words}\"")
}

/// The words that a title may show of an error.
pub struct Shown {
    /// In lower case, as they are written.
    plain: String,
    /// The same, with blanks between the words inside names.
    spaced: String,
}

impl Shown {
    pub fn new(error_type: &str, message: &str) -> Self {
        let template = template::from_message(message, error_type);
        // Only the shown form keeps plurals, and only the normal form is long.
        let both = [template.shown.as_str(), &template.normal, title::short_type(error_type)].join(" ");
        Self { plain: both.to_lowercase(), spaced: spaced(&both) }
    }

    /// Whether a word in lower case stands where the template has no mask.
    pub fn has(&self, word: &str) -> bool {
        [&self.plain, &self.spaced].into_iter().any(|text| conditions::all_words(text).any(|shown| shown == word))
    }
}

/// Masks the words of the message that a reason quotes and a title would not show.
pub fn masked(found: Classification, link: &Link<'_>) -> Classification {
    let begun = [SENTENCE, TYPE].into_iter().find(|begin| found.reason.starts_with(begin));
    let Some((from, length)) = begun.and_then(|begin| Some((begin.len(), found.reason[begin.len()..].find('"')?)))
    else {
        return found;
    };
    let (quoted, after) = found.reason[from..].split_at(length);
    let Some((rule, own)) = quoted.split_once(' ') else { return found };
    let shown = Shown::new(link.error_type, link.message);
    let word = |word| if word == GAP || shown.has(word) { Cow::Borrowed(word) } else { MASK.to_string().into() };
    let own: Vec<Cow<'_, str>> = own.split(' ').map(word).collect();
    let reason = format!("{}{rule} {}{after}", &found.reason[..from], own.join(" "));
    Classification { reason, ..found }
}
