//! Quoted parts: a name of the cause stays, a sentence or an address is read like the rest, and other quotes are data.
//!
//! A quote that is read keeps the position of its closing mark, so that this mark never opens another quote.

use super::{Scanner, announced, codes, paths, shapes, things, words};

/// The words of a quote that are examined.
const WORDS_MAX: usize = 8;
/// The fewest words of a quoted sentence, and of one that is the argument of an error: `TimeoutError('timed out')`.
const WORDS_MIN: usize = 3;
const IN_CALLS_MIN: usize = 2;

/// Words after which a quoted phrase says what is limited, or how far a program has come.
const PHRASED: [&str; 11] =
    ["metric", "limit", "quota", "step", "phase", "stage", "during", "task", "job", "activity", "saga"];
/// The longest name of a package, bytes.
const PACKAGE_BYTES_MAX: usize = 80;

impl Scanner<'_> {
    /// Whether a closing mark of a quote that is being read is at the cursor; if so, it is added.
    pub(super) fn closes_quote(&mut self) -> bool {
        while let Some(at) = self.closings.last().copied() {
            if at > self.at {
                return false;
            }
            self.closings.pop();
            if at == self.at
                && let Some(close) = self.rest().chars().next()
            {
                self.at += close.len_utf8();
                self.out.quote(Some(close));
                return true;
            }
        }
        false
    }

    pub(super) fn quote(&mut self, open: char) {
        let inside_at = self.at + open.len_utf8();
        let is_value = self.out.text.ends_with(": ") && self.out.before[0] == "value";
        if let Some(end) = self.quoted_record(inside_at, open).filter(|_| !is_value) {
            self.at = inside_at;
            self.out.quote(Some(open));
            return self.closings.push(end);
        }
        let enclosing = self.closings.last().copied().unwrap_or(usize::MAX);
        let Some(length) = self.quoted(open).filter(|length| inside_at + length < enclosing) else {
            return self.unclosed_quote(inside_at);
        };
        let inside = &self.text[inside_at..inside_at + length];
        let close = self.text[inside_at + length..].chars().next().unwrap_or(open);
        let end = inside_at + length + close.len_utf8();
        let after = &self.text[end..];
        let word = inside.trim();
        if self.is_index() || self.names_column(open, word) || self.names_something(word, after) {
            self.at = end;
            self.out.quote(Some(open));
            self.out.name(word, inside);
            self.out.quote(Some(close));
        } else if let Some((columns, _)) = inside.starts_with('(').then(|| inside.split_once(")=(")).flatten() {
            // `Schlüssel »(id)=(7)« existiert bereits`
            self.at = end;
            self.out.quote(Some(open));
            self.out.name(columns, columns);
            self.out.both(")=*", ")=*");
            self.out.quote(Some(close));
        } else if self.holds_text(inside, after) {
            // A sentence, an address or a path in quotes: its words count.
            self.at = inside_at;
            self.out.quote(Some(open));
            self.closings.push(inside_at + length);
        } else {
            self.at = end;
            self.out.mask();
        }
    }

    /// `"{"error":"invalid sku"}"`: a record in quotes that it contains itself. Returns where the record ends.
    fn quoted_record(&mut self, inside_at: usize, open: char) -> Option<usize> {
        let inside = crate::text::head(&self.text[inside_at..], super::SPAN_BYTES_MAX).strip_prefix('{')?;
        // Each brace is searched for its end once more, by the record itself.
        if inside_at < self.bare_until {
            return None;
        }
        #[cfg(test)]
        {
            self.ahead_bytes += inside.len();
        }
        let end = inside_at + 1 + shapes::brace_length(inside)? + 1;
        self.text[end..].starts_with(open).then_some(end)
    }

    fn unclosed_quote(&mut self, inside_at: usize) {
        // The message was cut off inside the quote: the remaining text is partial data.
        let cut = self.text.ends_with('…') || self.text.ends_with("...");
        if cut && self.text.len() - inside_at < super::SPAN_BYTES_MAX {
            self.out.mask();
            self.at = self.text.len();
        } else {
            self.at = inside_at;
            self.out.quote(None);
        }
    }

    /// `Order["lines"]`: the quote is an index of something named.
    fn is_index(&self) -> bool {
        let before = &self.text[..self.at];
        before
            .strip_suffix('[')
            .is_some_and(|b| b.ends_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, ']' | '_')))
    }

    /// `from "orders"`: a name in a statement of SQL. Its values are in other marks.
    fn names_column(&self, open: char, word: &str) -> bool {
        self.out.of_statement && matches!(open, '"' | '`') && shapes::is_name(word)
    }

    fn names_something(&self, inside: &str, after: &str) -> bool {
        let word = inside.trim_end_matches(['!', '?']);
        let [last, second] = [self.out.before[0].as_str(), self.out.before[1].as_str()];
        if self.out.text.ends_with(' ')
            && !self.out.text.ends_with(", ")
            && things::precede_data(self.out.near(), [last, second], inside, after)
        {
            return false;
        }
        // Django: `“abc” value must be an integer.`
        if [" value must be ", " value has "].iter().any(|said| after.starts_with(said)) {
            return false;
        }
        if words::BEFORE_A_CONSTRAINT.contains(&last) && codes::is_identifier(word) {
            return true;
        }
        if matches!(last, "format" | "pattern" | "regex") && !word.contains(char::is_whitespace) && word.len() <= 80 {
            return true;
        }
        if codes::is_known_name(word)
            || paths::is_media_type(word)
            || (last == "template" && shapes::is_relative_path(word))
        {
            return true;
        }
        if shapes::is_phrase(word)
            && (PHRASED.contains(&last)
                || last == "at" && word.split(' ').next().is_some_and(|first| first.ends_with("ing")))
        {
            return true;
        }
        // `Cannot find module '@shop/pricing'`, `'java.lang.String com.shop.Order.getChannel()'`
        let is_package = || {
            let is_sought = matches!(second, "find" | "load" | "import" | "resolve" | "install" | "locate");
            is_sought
                && matches!(last, "module" | "package" | "crate" | "gem")
                && !word.contains(char::is_whitespace)
                && word.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '@' | '.' | '_'))
                && word.len() <= PACKAGE_BYTES_MAX
        };
        let is_signature = || word.ends_with(')') && word.contains('.') && word.contains('(');
        if is_package() || self.names_are_code && is_signature() {
            return true;
        }
        if word.is_empty() || !shapes::is_name(word) {
            return false;
        }
        shapes::is_code_name(word) && (!paths::is_document(word) || words::BEFORE_A_NAME.contains(&last))
            || words::BEFORE_A_NAME.contains(&last)
            || words::ENDS_BEFORE_A_NAME.iter().any(|end| last.ends_with(end))
            || words::BEFORE_A_NAME_ABROAD.contains(&last)
            || words::BEFORE_A_STATE.contains(&last)
            || (self.out.of_states && matches!(last, "from" | "to" | "in"))
            || (matches!(last, "key" | "keys") && words::BEFORE_A_KEY.contains(&second))
            || words::TYPE_NAMES.contains(&word)
            || (last == "name" && matches!(second, "with" | "unknown"))
            || (last == "on" && matches!(second, "server" | "host"))
            || words::AFTER_A_NAME.iter().any(|end| after.starts_with(end))
            || self.names_are_code
            || words::names_code(last)
    }

    fn holds_text(&self, inside: &str, after: &str) -> bool {
        if inside.ends_with(['…']) || inside.ends_with("...") {
            // A text that was cut off is data of its own.
            return false;
        }
        let one_word = !inside.contains(char::is_whitespace);
        if !one_word && things::is_judged_note([&self.out.before[0], &self.out.before[1]], after) {
            return false;
        }
        // `['EAPI:Rate limit exceeded']`: a message that is a list of texts.
        let is_list =
            || self.text.starts_with('[') && self.text.ends_with(']') && self.text[1..].starts_with(['\'', '"']);
        if !one_word && is_list() {
            return true;
        }
        if one_word && !inside.contains("://") && paths::is_document(inside) {
            // As with blanks in its name.
            return false;
        }
        (one_word && (inside.contains("://") || inside.starts_with('/')))
            || paths::is_request(inside)
            || codes::is_status_line(inside)
            || inside.contains(' ') && announced::is_sentence(&self.text[..self.at], after)
            || self.out.text.ends_with(", ")
                && self.out.text.trim_end_matches(", ").ends_with(|c: char| c.is_ascii_digit())
            || is_sentence(inside, if self.out.calls > 0 { IN_CALLS_MIN } else { WORDS_MIN })
    }
}

/// Whether a text has enough words, small ones among them, and, unless it is an error's own text, a word that only
/// sentences have: `Anna van Dam` and `Garden hose 20 m` are data.
fn is_sentence(text: &str, words_min: usize) -> bool {
    let words = || text.split_whitespace().take(WORDS_MAX);
    let small = |word: &&str| word.starts_with(char::is_lowercase);
    let joins = |word: &str| words::OF_SENTENCES.iter().any(|known| word.eq_ignore_ascii_case(known));
    words().filter(|word| word.contains(char::is_alphabetic)).count() >= words_min
        && words().skip(1).any(|word| small(&word))
        && (words_min == IN_CALLS_MIN || words().filter(small).count() >= 2 && words().any(joins))
}
