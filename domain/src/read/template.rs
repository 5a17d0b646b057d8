//! The message template: the variable parts of an error message are masked, the words stay.
//!
//! One pass from left to right, without backtracking. A token's shape (identifier, hex, host, path, ...) and the
//! adjacent words decide, never its digits alone. Adjacent masks collapse, so a list of three ids and a list of one
//! give the same template. Names of the cause stay: status codes, errno, CamelCase names, code names in quotes.
//!
//! The pass writes two texts: the normal form, which is compared, and the shown form, which keeps the message's words.

mod announced;
mod around;
mod beside;
mod codes;
mod cuts;
mod given_names;
mod hosts;
mod labels;
mod lists;
mod markup;
mod members;
mod missing;
mod numbers;
mod out;
mod outcomes;
mod parts;
mod paths;
mod persons;
mod printed;
mod quotes;
mod records;
mod secrets;
mod shapes;
mod things;
mod tokens;
mod values;
mod words;

use crate::text::head;
use alloc::string::String;
use alloc::vec::Vec;
pub use announced::{announces, is_answer};
pub use codes::is_known_name as is_code_name;
pub use given_names::is_given_name;
use out::Out;
pub use outcomes::is_outcome_code;
pub(crate) use paths::{is_file as is_file_path, is_media_type};
pub use persons::{is_person, is_titled};
pub use shapes::{brace_length, is_unspaced, opens_quote, quote_length};
pub use words::{names_code, singular};

/// The placeholder for variable parts.
pub const MASK: char = '*';

/// The part of a message that is scanned, bytes.
const MESSAGE_BYTES_MAX: usize = 8 * 1024;
/// The longest quoted or braced part that is treated as a unit, bytes; keeps the pass linear.
const SPAN_BYTES_MAX: usize = 2 * 1024;
/// The longest value in angle brackets, bytes: a mail address (RFC 5321) and some more.
const VALUE_BYTES_MAX: usize = 320;
/// The text before a colon that may say that a wrong value follows, bytes: a short clause.
const VALUE_BEFORE_BYTES: usize = 64;
/// The longest template, bytes. The limit applies to the template, not the message, so that long ids do not move the
/// cut.
const TEMPLATE_BYTES_MAX: usize = 2 * 1024;

/// A token with at least this many variable parts is an identifier as a whole: `task_2008_c_0003_m_17`.
const ID_PARTS_MIN: usize = 3;

/// A message in its normal form, and as people read it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Template {
    /// What is compared: equal for the same error with other data.
    pub normal: String,
    /// The end of the normal form that names the cause, as [`Self::shown_end`].
    pub normal_end: usize,
    /// The message's own words, with masks. Shown up to a length that a title never has.
    pub shown: String,
    /// The end of the shown text that names the cause, before details, statements and help.
    pub shown_end: usize,
    /// Where the shown text names the error beneath, and where that error begins.
    pub beneath: Option<(usize, usize)>,
}

/// Returns the template of a message. The error type decides the meaning of a lone quoted name (`KeyError: 'sku'`).
pub fn from_message(message: &str, error_type: &str) -> Template {
    let decoded = markup::decoded(head(message, MESSAGE_BYTES_MAX));
    let bound = around::without_bindings(&decoded);
    let text = around::without_tracking(around::without_log_prefix(bound.trim()));
    let mut scanner = Scanner::new(text, error_type);
    let cut = cuts::end_of_cause(text);
    let beneath = cuts::beneath(&text[..cut]);
    let (mut ends, mut outer_end, mut inner_at) = (None, None, None);
    while scanner.at < text.len() && scanner.out.text.len() < TEMPLATE_BYTES_MAX {
        let shown = scanner.out.shown.len();
        if let Some((outer, inner)) = beneath {
            outer_end = outer_end.or_else(|| (scanner.at >= outer).then_some(shown));
            inner_at = inner_at.or_else(|| (scanner.at >= inner).then_some(shown));
        }
        ends = ends.or_else(|| (scanner.at >= cut).then(|| scanner.out.mark()));
        scanner.step();
    }
    let Out { text: mut normal, shown, .. } = scanner.out;
    normal.truncate(head(&normal, TEMPLATE_BYTES_MAX).trim_end().len());
    // A mask may have removed what stood at a position that was noted.
    let at = |noted: usize| shown.floor_char_boundary(noted);
    let shown_end = at(ends.map_or(shown.len(), |end| end.shown));
    let mut normal_end = normal.floor_char_boundary(ends.map_or(normal.len(), |end| end.text));
    if let Some(joined) = printed::joined_items(&normal) {
        normal_end =
            printed::joined_items(&normal[..normal_end]).map_or(normal_end, |cause| cause.len()).min(joined.len());
        normal_end = joined.floor_char_boundary(normal_end);
        normal = joined;
    }
    let beneath = outer_end.map(at).zip(inner_at.map(at));
    Template { normal, normal_end, shown, shown_end, beneath }
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    out: Out,
    names_are_code: bool,
    /// For each kind of quote: how far the search for its end has come, and whether it was found there. No text is
    /// searched twice.
    ends: [(char, usize, bool); QUOTES_MAX],
    /// Up to here, braces are known to contain no data.
    bare_until: usize,
    /// The positions of the closing marks of the quotes that are being read, outermost first.
    closings: Vec<usize>,
    /// The elements of HTML whose tags are skipped.
    elements: u32,
    /// Whether the first element of XML is the answer of somebody else, or the whole message.
    is_answer: bool,
    /// Whether this text is the message of a record, whose own records are data.
    is_nested: bool,
    /// Bytes that were examined ahead of the cursor.
    #[cfg(test)]
    ahead_bytes: usize,
}

/// The number of characters that open a quote.
const QUOTES_MAX: usize = 9;

impl<'a> Scanner<'a> {
    fn new(text: &'a str, error_type: &str) -> Self {
        let mut out = Out::for_text(text.len());
        out.of_sql = ["PSQLException", "PgError", "PostgresError", "PostgresException"]
            .iter()
            .any(|end| error_type.ends_with(end));
        out.of_replies = ["smtplib.", "ftplib.", "smtp::", "Net::SMTP", "Net::FTP"]
            .iter()
            .any(|start| error_type.starts_with(start));
        Self {
            text,
            at: 0,
            out,
            names_are_code: words::names_code(error_type),
            ends: [('\0', 0, false); QUOTES_MAX],
            bare_until: 0,
            closings: Vec::new(),
            elements: markup::elements(text),
            is_answer: markup::is_answer(text),
            is_nested: false,
            #[cfg(test)]
            ahead_bytes: 0,
        }
    }

    /// Returns the length of the quoted text if the closing quote is near. Remembers the searched range: the next
    /// quote of the kind ends at the same place or is searched only from there on, which keeps the pass linear.
    fn quoted(&mut self, open: char) -> Option<usize> {
        let inside_at = self.at + open.len_utf8();
        let known = self.ends.iter_mut().find(|(quote, ..)| *quote == open || *quote == '\0')?;
        let (_, until, closed) = *known;
        if closed && inside_at <= until {
            return Some(until - inside_at);
        }
        let end = inside_at + head(&self.text[inside_at..], SPAN_BYTES_MAX).len();
        let from = until.clamp(inside_at, end);
        let found = shapes::quote_length(&self.text[from..end], open).map(|length| from + length);
        *known = (open, found.unwrap_or(end), found.is_some());
        #[cfg(test)]
        {
            self.ahead_bytes += found.unwrap_or(end) - from;
        }
        found.map(|at| at - inside_at)
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Reads the text to its end, as far as a template goes.
    fn run(&mut self) {
        while self.at < self.text.len() && self.out.text.len() < TEMPLATE_BYTES_MAX {
            self.step();
        }
    }

    fn step(&mut self) {
        if self.closes_quote() || self.lone_character() || self.term() || self.unit() {
            return;
        }
        let rest = self.rest();
        let Some(c) = rest.chars().next() else { return };
        if let Some(length) = shapes::terminal_code(rest) {
            self.at += length;
        } else if c.is_whitespace() || c.is_control() {
            self.at += c.len_utf8();
            self.out.blank();
        } else if shapes::compares_number(rest) && self.begins_word() {
            // `<1 s` is a duration like `3 s`.
            self.at += c.len_utf8();
        } else if shapes::opens_quote(c) && !self.after_letter() {
            self.quote(c);
        } else if let Some(length) = shapes::bracketed_v6(rest) {
            self.at += length;
            self.out.mask();
        } else if c == '{' {
            self.braces();
        } else if shapes::is_delimiter(c) {
            self.at += c.len_utf8();
            // The mark that ends a segment of EDIFACT belongs to its data: `NAD+BY+4012345000009::9'`.
            if c != '\'' || self.out.run.is_none_or(|end| end.text != self.out.text.len()) {
                self.out.punctuation(c);
            }
        } else {
            self.chunk();
        }
    }

    /// Reads what is data or a name as a whole, known by how it begins.
    fn unit(&mut self) -> bool {
        let Some(first) = self.rest().as_bytes().first() else { return false };
        match first {
            b'(' => {
                self.row_values()
                    || self.rejected_structure()
                    || self.value_in_brackets()
                    || self.grouped_number()
                    || self.name_in_brackets()
            }
            b'<' => self.tag() || self.element() || self.name_in_angles(),
            b'[' => self.printed() || self.rejected_structure(),
            b'#' => self.inspection() || self.grouped_number(),
            b'b' => self.bytes_literal(),
            b'*' | b'x' | b'X' | 0x80.. => self.grouped_number(),
            b'A'..=b'Z' => self.printed() || self.grouped_number(),
            b' ' | b'|' | b'>' | b'0'..=b'9' | b'?' | b'%' | b'$' | b':' | b'@' => self.printed(),
            _ => false,
        }
    }

    /// Whether a word may begin here.
    fn begins_word(&self) -> bool {
        self.text[..self.at].chars().next_back().is_none_or(|c| c.is_whitespace() || matches!(c, '(' | '['))
    }

    /// Whether the preceding character is a letter or digit: then an apostrophe is not a quote.
    fn after_letter(&self) -> bool {
        self.text[..self.at].chars().next_back().is_some_and(char::is_alphanumeric)
            && !self.rest().starts_with(['"', '`', '“', '«', '»', '„', '「'])
    }

    /// A run of characters without delimiters.
    fn chunk(&mut self) {
        let rest = self.rest();
        if rest.starts_with('=') && self.out.text.ends_with('"') {
            // `'id'=7`
            self.at += 1;
            return self.out.punctuation('=');
        }
        if rest.starts_with('%') && self.out.run.is_some() {
            // `91%` and `99.5 %`.
            self.at += 1;
            return self.out.mask();
        }
        let mut length = rest
            .find(|c: char| c.is_whitespace() || c.is_control() || shapes::is_delimiter(c) || shapes::is_quote(c))
            .unwrap_or(rest.len());
        let scheme = rest.as_bytes()[..length].windows(3).position(|three| three == b"://");
        let scheme = scheme.filter(|at| rest[..*at].ends_with(|c: char| c.is_ascii_alphanumeric()));
        if let Some(scheme) = scheme {
            return self.url(scheme);
        }
        // An apostrophe between letters belongs to the word.
        while rest[..length].ends_with(char::is_alphabetic)
            && let Some(more) = shapes::apostrophe(&rest[length..], length == 1)
        {
            length += more;
        }
        length += numbers::thousands(&rest[..length], &rest[length..]);
        length += numbers::copy_number(&rest[length..]).unwrap_or(0);
        if numbers::hides(&rest[..length], &self.text[..self.at]) {
            self.at += length;
            return self.out.mask();
        }
        let chunk = &rest[..length];
        if chunk == "/" && self.out.run.is_some() {
            // `0151 / 123 45-678`
            self.at += 1;
            return self.out.punctuation('/');
        }
        let begin = self.at;
        if self.free_text() || self.sought_address() || self.list_of_things() {
            return;
        }
        self.at += length.max(1);
        if self.marked(chunk) {
            return;
        }
        let named = chunk.trim_start_matches(['#', '~']);
        let core = named.trim_end_matches(['.', ':', '!', '?', '…', '-', '=']);
        let tail = &named[core.len()..];
        if core.is_empty() {
            if let Some(more) = self.rest_of_list(chunk) {
                self.at += more;
                return self.out.mask();
            }
            return chunk.chars().for_each(|c| self.out.punctuation(c));
        }
        if let Some(more) = self.persons_name(core, tail) {
            self.at += more;
            self.out.mask();
            // The stop after an initial or a title is part of the name.
            let tail = if more > 0 { "" } else { tail };
            return tail.chars().for_each(|c| self.out.punctuation(c));
        }
        self.core(core, tail);
        self.after_core(core, tail, begin);
    }

    /// `(#100) refused`, `#777777`, `@carol_w`: what a sign before it makes of a token.
    fn marked(&mut self, chunk: &str) -> bool {
        if let Some(number) = chunk.strip_prefix('#').filter(|_| self.out.text == "(")
            && outcomes::is_number_of_api(number, self.rest())
        {
            self.out.name(number, number);
            return true;
        }
        let is_data = chunk.strip_prefix('#').is_some_and(shapes::is_colour) || self.is_handle(chunk);
        if is_data {
            self.out.mask();
        }
        is_data
    }

    /// Reads the marks at the end of a token, and the value that they announce. `begin` is where the token began.
    fn after_core(&mut self, core: &str, tail: &str, begin: usize) {
        // The padding of base64 is part of the mask.
        let padded = self.out.run.is_some_and(|end| end.text == self.out.text.len());
        if padded && numbers::is_decimal_point(tail, self.rest()) {
            return;
        }
        let ends_word = self.rest().is_empty() || self.rest().starts_with(char::is_whitespace);
        let is_padding = |c: char| padded && (c == '=' || c == '-' && ends_word);
        let shown = tail.chars().filter(|c| *c != '…' && !is_padding(*c));
        shown.for_each(|c| self.out.punctuation(c));
        if tail.is_empty() && self.rest().starts_with(" = ") {
            self.spaced_value(core);
        } else if tail == ":" && labels::labels_parameters(core) {
            self.parameters(begin);
        } else if tail.ends_with('=') && self.rest().starts_with(shapes::is_quote) {
            self.assigned_quote(core);
        } else if tail.ends_with('=') && self.rest().starts_with('<') {
            self.assigned_angle(core);
        } else if tail == "=" && shapes::is_name(core) && self.rest().starts_with([' ', ',', ';', ')', ']']) {
            // An empty value is a value.
            self.out.mask();
        }
    }
}

#[cfg(test)]
#[path = "template_tests.rs"]
mod tests;
