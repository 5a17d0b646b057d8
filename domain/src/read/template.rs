//! The message template: the variable parts of an error message are masked, the words stay.
//!
//! One pass from left to right, without backtracking. A token's shape (identifier, hex, host, path, ...) and the
//! adjacent words decide, never its digits alone. Adjacent masks collapse, so a list of three ids and a list of one
//! give the same template. Names of the cause stay: status codes, errno, CamelCase names, code names in quotes.

mod out;
mod paths;
mod shapes;
mod words;

use crate::text::head;
use alloc::string::String;
use out::Out;
pub(crate) use paths::is_file as is_file_path;
use shapes::Shape;

/// The placeholder for variable parts.
pub const MASK: char = '*';

/// The part of a message that is scanned, bytes.
const MESSAGE_BYTES_MAX: usize = 8 * 1024;
/// The longest quoted or braced part that is treated as a unit, bytes; keeps the pass linear.
const SPAN_BYTES_MAX: usize = 2 * 1024;
/// The longest value in angle brackets, bytes: a mail address (RFC 5321) and some more.
const VALUE_BYTES_MAX: usize = 320;
/// The longest template, bytes. The limit applies to the template, not the message, so that long ids do not move the
/// cut.
const TEMPLATE_BYTES_MAX: usize = 2 * 1024;

/// A token with at least this many variable parts is an identifier as a whole: `task_2008_c_0003_m_17`.
const ID_PARTS_MIN: usize = 3;

/// Returns the template of a message. The error type decides the meaning of a lone quoted name (`KeyError: 'sku'`).
pub fn from_message(message: &str, error_type: &str) -> String {
    let text = head(message, MESSAGE_BYTES_MAX).trim();
    let mut scanner = Scanner::new(text, error_type);
    while scanner.at < text.len() && scanner.out.text.len() < TEMPLATE_BYTES_MAX {
        scanner.step();
    }
    let mut out = scanner.out.text;
    out.truncate(head(&out, TEMPLATE_BYTES_MAX).trim_end().len());
    out
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
    /// Bytes that were examined ahead of the cursor.
    #[cfg(test)]
    ahead_bytes: usize,
}

/// The number of characters that open a quote.
const QUOTES_MAX: usize = 6;

impl<'a> Scanner<'a> {
    fn new(text: &'a str, error_type: &str) -> Self {
        Self {
            text,
            at: 0,
            out: Out::default(),
            names_are_code: words::names_code(error_type),
            ends: [('\0', 0, false); QUOTES_MAX],
            bare_until: 0,
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

    fn step(&mut self) {
        let rest = self.rest();
        let Some(c) = rest.chars().next() else { return };
        if c.is_whitespace() || c.is_control() {
            self.at += c.len_utf8();
            self.out.blank();
        } else if shapes::opens_quote(c) && !self.after_letter() {
            self.quote(c);
        } else if let Some(length) = shapes::bracketed_v6(rest) {
            self.at += length;
            self.out.mask();
        } else if c == '{' {
            self.braces();
        } else if shapes::is_delimiter(c) {
            self.at += c.len_utf8();
            self.out.punctuation(c);
        } else {
            self.chunk();
        }
    }

    /// Whether the preceding character is a letter or digit: then an apostrophe is not a quote.
    fn after_letter(&self) -> bool {
        self.text[..self.at].chars().next_back().is_some_and(char::is_alphanumeric)
            && !self.rest().starts_with(['"', '`', '“'])
    }

    fn quote(&mut self, open: char) {
        let inside_at = self.at + open.len_utf8();
        let Some(length) = self.quoted(open) else {
            // The message was cut off inside the quote: the remaining text is partial data.
            let cut = self.text.ends_with('…') || self.text.ends_with("...");
            if cut && self.text.len() - inside_at < SPAN_BYTES_MAX {
                self.out.mask();
                self.at = self.text.len();
            } else {
                self.at = inside_at;
                self.out.punctuation('"');
            }
            return;
        };
        let inside = &self.text[inside_at..inside_at + length];
        let close = self.text[inside_at + length..].chars().next().map_or(0, char::len_utf8);
        let after = &self.text[inside_at + length + close..];
        if self.is_index() || self.names_something(inside, after) {
            self.at = inside_at + length + close;
            self.out.text.push('"');
            self.out.word(inside);
            self.out.text.push('"');
        } else if self.holds_text(inside) {
            // A sentence, an address or a path in quotes: its words count.
            self.at = inside_at;
            self.out.punctuation('"');
        } else {
            self.at = inside_at + length + close;
            self.out.mask();
        }
    }

    /// `Order["lines"]`: the quote is an index of something named.
    fn is_index(&self) -> bool {
        let before = &self.text[..self.at];
        before
            .strip_suffix('[')
            .is_some_and(|b| b.ends_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, ']' | '_')))
    }

    fn names_something(&self, inside: &str, after: &str) -> bool {
        let word = inside.trim_end_matches(['!', '?']);
        if word.is_empty() || !shapes::is_name(word) {
            return false;
        }
        shapes::is_code_name(word)
            || words::BEFORE_A_NAME.contains(&self.out.before[0].as_str())
            || words::BEFORE_A_STATE.contains(&self.out.before[0].as_str())
            || (self.out.before[0] == "key" && words::BEFORE_A_KEY.contains(&self.out.before[1].as_str()))
            || words::AFTER_A_NAME.iter().any(|end| after.starts_with(end))
            || self.names_are_code
            || words::names_code(&self.out.before[0])
    }

    fn holds_text(&self, inside: &str) -> bool {
        let one_word = !inside.contains(char::is_whitespace);
        (one_word && (inside.contains("://") || inside.starts_with('/')))
            || paths::is_request(inside)
            || words::BEFORE_A_SENTENCE.contains(&self.out.before[0].as_str()) && inside.contains(' ')
            || self.out.text.ends_with(", ")
                && self.out.text.trim_end_matches(", ").ends_with(|c: char| c.is_ascii_digit())
    }

    /// A JSON object, a dictionary or a record: data, except for the codes in it.
    fn braces(&mut self) {
        if self.at < self.bare_until {
            self.at += 1;
            return self.out.punctuation('{');
        }
        let rest = head(self.rest(), SPAN_BYTES_MAX);
        let length = shapes::brace_length(&rest[1..]).map(|length| length + 1);
        let inside = &rest[1..length.unwrap_or(rest.len())];
        #[cfg(test)]
        {
            self.ahead_bytes += inside.len();
        }
        let is_data = inside.contains([':', '=', '"', '\'', ',']) || inside.bytes().any(|b| b.is_ascii_digit());
        if !is_data {
            self.bare_until = self.at + inside.len();
            self.at += 1;
            return self.out.punctuation('{');
        }
        self.at += length.map_or(rest.len(), |l| l + 1);
        self.out.text.push('{');
        for (key, value) in
            shapes::pairs(inside).filter(|(key, value)| words::is_code_key(key) && shapes::is_name(value)).take(4)
        {
            self.out.text.push_str(key);
            self.out.text.push('=');
            self.out.word(value);
            self.out.text.push(' ');
        }
        self.out.mask();
        self.out.punctuation('}');
    }

    /// A run of characters without delimiters.
    fn chunk(&mut self) {
        let rest = self.rest();
        if rest.starts_with('%') && self.out.run.is_some() {
            // `91%` and `99.5 %`.
            self.at += 1;
            return self.out.mask();
        }
        let mut length = rest
            .find(|c: char| c.is_whitespace() || shapes::is_delimiter(c) || shapes::is_quote(c))
            .unwrap_or(rest.len());
        let scheme = rest[..length].find("://").filter(|at| rest[..*at].ends_with(|c: char| c.is_ascii_alphanumeric()));
        if let Some(scheme) = scheme {
            return self.url(scheme);
        }
        // An apostrophe between letters belongs to the word.
        while let Some(more) = apostrophe(&rest[length..]) {
            length += more;
        }
        let chunk = &rest[..length];
        self.at += length.max(1);
        let named = chunk.trim_start_matches(['#', '~']);
        let core = named.trim_end_matches(['.', ':', '!', '?', '…', '-', '=']);
        let tail = &named[core.len()..];
        if core.is_empty() {
            return chunk.chars().for_each(|c| self.out.punctuation(c));
        }
        self.core(core, tail);
        // The padding of base64 is part of the mask.
        let padded = self.out.run == Some(self.out.text.len());
        let shown = tail.chars().filter(|c| *c != '…' && !(padded && *c == '='));
        shown.for_each(|c| self.out.punctuation(c));
        if tail.ends_with('=') && self.rest().starts_with(shapes::is_quote) {
            self.assigned_quote(core);
        } else if tail.ends_with('=') && self.rest().starts_with('<') {
            self.assigned_angle(core);
        } else if tail == "=" && shapes::is_name(core) && self.rest().starts_with([' ', ',', ';', ')', ']']) {
            // An empty value is a value.
            self.out.mask();
        }
    }

    /// `account="Zoë Brandt"`: a quoted value is data unless its key marks it as a code.
    fn assigned_quote(&mut self, key: &str) {
        let Some(open) = self.rest().chars().next() else { return };
        let inside_at = self.at + open.len_utf8();
        let Some(length) = self.quoted(open) else { return };
        let inside = &self.text[inside_at..inside_at + length];
        if words::is_code_key(key) && shapes::is_name(inside) {
            self.out.word(inside);
        } else {
            self.out.mask();
        }
        self.at = inside_at + length + 1;
        self.at = self.text.len().min(self.text.ceil_char_boundary(self.at));
    }

    /// `to=<anna@mail.example>`
    fn assigned_angle(&mut self, key: &str) {
        let inside = &head(self.rest(), VALUE_BYTES_MAX)[1..];
        let Some(length) = inside.find(['>', ' ', '<']).filter(|end| inside[*end..].starts_with('>')) else { return };
        if !words::is_code_key(key) {
            self.at += length + 2;
            self.out.mask();
        }
    }

    fn core(&mut self, core: &str, tail: &str) {
        let after = self.rest();
        if let Some((key, value)) = shapes::assignment(core).filter(|_| !shapes::is_mail(core)) {
            self.out.word(key);
            self.out.punctuation('=');
            let is_code = words::is_code_key(key) && (shapes::is_name(value) || value.len() <= 5);
            if is_code {
                return self.out.word(value);
            }
            self.out.mask();
            return self.rest_of_value();
        }
        let is_code = || words::is_code(core, &self.out.before, self.out.text.as_str(), tail, after);
        match shapes::shape(core) {
            Shape::Word if words::joins_time(core, self.out.run.is_some(), after) => self.out.mask(),
            Shape::Word if self.out.run.is_some() && self.out.text.ends_with(' ') && words::is_unit(core) => {
                // `1.5 GiB` and `640 MiB` differ only in the size of the number.
                self.out.mask();
            }
            Shape::Word | Shape::Code => self.out.word(core),
            Shape::Mask if is_code() => self.out.word(core),
            Shape::Mask => self.out.mask(),
            Shape::Parts if words::precedes_id(&self.out.before[0]) && core.bytes().any(|b| b.is_ascii_digit()) => {
                self.out.mask();
            }
            // A server's log of a request: the method is the event, its target is data.
            Shape::Parts if paths::is_method(&self.out.before[0]) && after.starts_with(" HTTP/") => self.out.mask(),
            Shape::Parts => self.parts(core),
        }
    }

    /// `ws=Source{1, 2}`, `key=0|app|7`: text that directly follows a value belongs to it.
    fn rest_of_value(&mut self) {
        let rest = head(self.rest(), SPAN_BYTES_MAX);
        let more = match rest.chars().next() {
            Some('{') => shapes::brace_length(&rest[1..]).map(|length| length + 2),
            Some('|') => rest.find([' ', ',', ';', ')', ']', '}', '"', '\'']),
            _ => None,
        };
        self.at += more.unwrap_or(0);
    }

    /// A token with variable parts.
    fn parts(&mut self, core: &str) {
        let mut masked = shapes::mask_parts(core);
        if paths::is_file(core) {
            masked = paths::mask_file(core, &masked);
        }
        let is_route = masked.starts_with('/');
        if masked.chars().eq([MASK]) || (!is_route && masked.matches(MASK).count() >= ID_PARTS_MIN) {
            self.out.mask();
        } else {
            self.out.word(&masked);
        }
    }

    /// An address: scheme, host and the words of its path stay; variable parts are masked.
    fn url(&mut self, scheme: usize) {
        let rest = self.rest();
        let end = rest.find(|c: char| {
            c.is_whitespace() || shapes::is_quote(c) || matches!(c, '<' | '>' | '|' | ')' | '}' | ']') && c != '\''
        });
        let url = rest[..end.unwrap_or(rest.len())].trim_end_matches(['.', ',', ';', ':', '!', '…']);
        self.at += url.len();
        let whole = &url[scheme + 3..];
        let plain = whole.split(['?', '#']).next().unwrap_or(whole);
        let (authority, path) = plain.split_at(plain.find('/').unwrap_or(plain.len()));
        let host = authority.rsplit('@').next().unwrap_or(authority);
        // The scheme is a name even if it contains a digit: `s3`.
        let mut masked = String::from(&url[..scheme + 3]);
        masked.push_str(&shapes::mask_parts(host));
        let path = shapes::mask_parts(path);
        // The key of a stored object is a file's path, not a route.
        let is_key = paths::is_store(&url[..scheme]) && path.contains(MASK);
        masked.push_str(if is_key { "/*" } else { &path });
        self.out.word(&masked);
    }
}

/// Returns the length of an ending such as `'s` after an apostrophe between letters.
fn apostrophe(rest: &str) -> Option<usize> {
    let after = rest.strip_prefix(['\'', '’'])?;
    let quote = rest.len() - after.len();
    let letters = after.find(|c: char| !c.is_alphabetic()).unwrap_or(after.len());
    (letters > 0 && letters <= 3).then_some(quote + letters)
}

#[cfg(test)]
#[path = "template_tests.rs"]
mod tests;
