//! Values that the words around them announce: a wrong value, an id, a character, the value of a key, the parameters of
//! a statement.

use super::{SPAN_BYTES_MAX, Scanner, VALUE_BEFORE_BYTES, VALUE_BYTES_MAX, head, hosts, labels, paths, shapes, words};

/// The most blanks in the name of a file: `Foto von Zoë.jpg`.
const NAME_BLANKS_MAX: usize = 3;

impl Scanner<'_> {
    /// `Bad value for type int : seven`, `Invalid datetime: tomorrow. Path ...`: one word after a colon that ends the
    /// clause is the value, if the words before the colon speak of a wrong one or of an id.
    pub(super) fn is_wrong_value(&self, core: &str, tail: &str) -> bool {
        let rest = self.rest();
        let ends = rest.is_empty()
            || (tail == "." && rest.starts_with(' '))
            || (tail.is_empty() && (rest.starts_with([',', ';']) || rest.starts_with(" (")));
        ends && !labels::is_reason(core) && self.announces_wrong_value()
    }

    /// Whether the text so far ends by announcing a wrong value or an id.
    pub(super) fn announces_wrong_value(&self) -> bool {
        let text = self.out.text.as_str();
        let Some(before) = text.strip_suffix(": ").or_else(|| text.strip_suffix(" value of ")) else { return false };
        let from = before.floor_char_boundary(before.len().saturating_sub(VALUE_BEFORE_BYTES));
        let before = before[from..].to_lowercase();
        !labels::announces_choice(&before) && (labels::announces_value(&before) || labels::announces_id(&before))
    }

    /// Whether a currency's code stands next to its number: `12.50 EUR`, `CHF 7`.
    pub(super) fn joins_amount(&self, after: &str) -> bool {
        let after_number = self.out.run.is_some() && self.out.text.ends_with(' ');
        // `12.50 EUR to USD`
        let after_amount = ["* to ", "* and ", "* into ", "* or "].iter().any(|end| self.out.text.ends_with(end));
        after_number
            || after_amount
            || after.strip_prefix(' ').is_some_and(|next| next.starts_with(|c: char| c.is_ascii_digit()))
    }

    /// `ws=Source{1, 2}`, `key=0|app|7`, `payload=Order(id=7)`, `body=byte[7]`: text that directly follows a value belongs to it.
    pub(super) fn rest_of_value(&mut self) {
        let rest = head(self.rest(), SPAN_BYTES_MAX);
        let more = match rest.chars().next() {
            Some('{') => shapes::brace_length(&rest[1..]).map(|length| length + 2),
            Some('(') => shapes::bracket_length(&rest[1..]).map(|length| length + 2),
            Some('[') => shapes::square_length(&rest[1..]).map(|length| length + 2),
            Some('|') => rest.find([' ', ',', ';', ')', ']', '}', '"', '\'']),
            _ => None,
        };
        #[cfg(test)]
        {
            self.ahead_bytes += more.unwrap_or(0);
        }
        self.at += more.unwrap_or(0);
    }

    /// `account="Zoë Brandt"`: a quoted value is data unless its key marks it as a code.
    pub(super) fn assigned_quote(&mut self, key: &str) {
        let Some(open) = self.rest().chars().next() else { return };
        let inside_at = self.at + open.len_utf8();
        let Some(length) = self.quoted(open) else { return };
        let inside = &self.text[inside_at..inside_at + length];
        if words::is_message_key(key) && inside.contains(' ') {
            self.at = inside_at;
            self.out.quote(Some(open));
            return self.closings.push(inside_at + length);
        }
        let kept = (words::is_code_key(key) && shapes::is_name(inside)) || words::is_truth(inside);
        if kept || (words::is_host_key(key) && hosts::is_host(inside)) {
            self.out.quote(Some(open));
            let host = shapes::mask_parts(inside);
            self.out.name(&host, &host);
            self.out.quote(Some(open));
        } else {
            self.out.mask();
        }
        self.at = inside_at + length + 1;
        self.at = self.text.len().min(self.text.ceil_char_boundary(self.at));
    }

    /// `to=<anna@mail.example>`
    pub(super) fn assigned_angle(&mut self, key: &str) {
        let inside = &head(self.rest(), VALUE_BYTES_MAX)[1..];
        let Some(length) = inside.find(['>', ' ', '<']).filter(|end| inside[*end..].starts_with('>')) else { return };
        if !words::is_code_key(key) {
            self.at += length + 2;
            self.out.mask();
        }
    }

    /// `objectName = berlin`: the value of a key that names a thing, with blanks around the sign.
    pub(super) fn spaced_value(&mut self, key: &str) {
        let Some(value) = self.rest().strip_prefix(" = ").filter(|_| labels::names_thing(key)) else { return };
        let ends = |c: char| c.is_whitespace() || shapes::is_delimiter(c);
        let length = value.find(ends).unwrap_or(value.len());
        if length > 0 && !labels::is_reason(&value[..length]) {
            self.at += " = ".len() + length;
            self.out.blank();
            self.out.punctuation('=');
            self.out.blank();
            self.out.mask();
        }
    }

    /// A line `params: 7,anna` after a statement: its values are data.
    pub(super) fn parameters(&mut self, label_at: usize) {
        if self.text[..label_at].trim_end_matches([' ', '\t', '[']).ends_with('\n') {
            let rest = self.rest();
            self.at += rest.find('\n').unwrap_or(rest.len());
            self.out.blank();
            self.out.mask();
        }
    }

    /// `Unexpected character |`, `Invalid char (?)`, `Invalid digit a found`: a character that a parser met.
    pub(super) fn lone_character(&mut self) -> bool {
        let last = self.out.before[0].as_str();
        if !matches!(last, "character" | "char" | "symbol" | "digit") {
            return false;
        }
        let Some(c) = self.rest().chars().next().filter(|c| !c.is_whitespace()) else { return false };
        let after = self.rest()[c.len_utf8()..].chars().next();
        let bracketed = self.text[..self.at].ends_with('(') && after == Some(')');
        let spaced = self.text[..self.at].ends_with(' ') && after.is_none_or(char::is_whitespace);
        if !(bracketed || (spaced && (last == "digit" || !c.is_alphanumeric()))) {
            return false;
        }
        self.at += c.len_utf8();
        self.out.mask();
        true
    }

    /// The rest of a file's name that contains blanks, after a path: `/srv/in/Foto von Zoë.jpg`.
    pub(super) fn rest_of_name(&self, path: &str) -> Option<usize> {
        let of_data = paths::begins_data(path);
        let rest = self.rest();
        let mut at = 0;
        for _ in 0..NAME_BLANKS_MAX {
            let word = rest[at..].strip_prefix(' ')?;
            let ends = |c: char| c.is_whitespace() || (shapes::is_delimiter(c) && !matches!(c, '(' | ')'));
            let word = &word[..word.find(ends).unwrap_or(word.len())];
            let name = word.trim_end_matches(['.', ':', '!', '?']);
            if name.is_empty() || name.contains('/') || words::joins_sentence(name) {
                return None;
            }
            let name = name.split_once(':').map_or(name, |(name, _line)| name);
            if paths::is_document(name) || (of_data && paths::has_ending(name)) {
                return Some(at + 1 + name.len());
            }
            at += 1 + word.len();
        }
        None
    }
}
