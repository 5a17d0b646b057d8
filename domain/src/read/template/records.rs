//! Records inside a message: JSON, dictionaries, printed structures, rows and objects.
//!
//! A record is data, except for its codes and for the message that it carries: the message is read like any other.

use super::{SPAN_BYTES_MAX, Scanner, codes, members, outcomes, shapes, words};
use alloc::string::String;
use alloc::vec::Vec;

/// The codes of a record that count.
const CODES_MAX: usize = 4;
/// How deep the members of a record are looked at: the record itself, and two levels below, as GraphQL has its codes in
/// `errors[].extensions.code`.
const DEPTH_MAX: usize = 3;
/// The longest name of a struct that is looked for before its braces, bytes.
const STRUCT_BYTES_MAX: usize = 80;
/// The longest code that is a number, digits: an HTTP status, an errno, a driver's number.
const CODE_DIGITS_MAX: usize = 5;

/// Whether these are atoms of Elixir: `:error, :no_stock` is what happened, and no data.
fn is_atoms(inside: &str) -> bool {
    let part = |c: char| c.is_ascii_lowercase() || matches!(c, ':' | '_' | ',' | ' ' | '{' | '}' | '?' | '!');
    inside.starts_with(':') && inside.chars().all(part)
}

/// Whether these are quoted names, a set of Python: `'retries', 'timeout'`. They are read like other quoted texts.
fn is_names(inside: &str) -> bool {
    let quoted = |name: &str| name.len() > 2 && name.starts_with('\'') && name.ends_with('\'');
    inside.starts_with('\'') && !inside.contains([':', '=']) && inside.split(", ").all(quoted)
}

/// Returns where a record that was cut off ends, and where the text goes on: at an ellipsis, or at the end of a line whose
/// next one is no part of a record.
fn cut_off(inside: &str) -> Option<(usize, usize)> {
    let ellipsis = ["...", "…"].iter().filter_map(|mark| Some((inside.find(mark)?, mark.len()))).min();
    let goes_on = |line: &str| {
        let line = line.trim_start();
        line.is_empty()
            || line.starts_with(['"', '\'', '{', '}', '[', ']'])
            || line.split([' ', '(']).next().is_some_and(|key| key.ends_with(':'))
    };
    let mut lines = inside.match_indices('\n').map(|(at, _)| at);
    let line = lines.find(|at| !goes_on(&inside[at + 1..])).map(|at| (at, 0));
    let (end, mark) = ellipsis.into_iter().chain(line).min()?;
    Some((end, end + mark))
}

impl Scanner<'_> {
    /// A JSON object, a dictionary or a record.
    pub(super) fn braces(&mut self) {
        if self.at < self.bare_until {
            self.at += 1;
            return self.out.punctuation('{');
        }
        let rest = super::head(self.rest(), SPAN_BYTES_MAX);
        let length = shapes::brace_length(&rest[1..]).map(|length| length + 1);
        let cut = if length.is_none() { cut_off(&rest[1..]) } else { None };
        let inside = &rest[1..length.or(cut.map(|(end, _)| end + 1)).unwrap_or(rest.len())];
        let is_printed = self.follows_struct();
        #[cfg(test)]
        {
            self.ahead_bytes += inside.len();
        }
        let has_marks = || inside.contains([':', '=', '"', '\'', ',']) || inside.bytes().any(|b| b.is_ascii_digit());
        let is_data = !is_atoms(inside) && !is_names(inside) && has_marks();
        if !is_data {
            self.bare_until = self.at + inside.len();
            self.at += 1;
            return self.out.punctuation('{');
        }
        let whole = length.or(cut.map(|(_, next)| next)).map_or(rest.len(), |l| l + 1);
        self.at += whole;
        if is_printed {
            self.out.punctuation('{');
            self.out.mask();
            return self.out.punctuation('}');
        }
        if inside.starts_with("\\\"") {
            // A record in a text of a record.
            return self.record(&inside.replace("\\\"", "\""));
        }
        self.record(inside);
    }

    /// `%Shop.Order{id: 7}`: a printed struct of Elixir, all of which is data.
    fn follows_struct(&self) -> bool {
        let before = &self.text[..self.at];
        let near = &before[before.floor_char_boundary(before.len().saturating_sub(STRUCT_BYTES_MAX))..];
        let word = near.rsplit(char::is_whitespace).next().unwrap_or_default();
        word.rsplit_once('%').is_some_and(|(_, name)| name.starts_with(|c: char| c.is_ascii_uppercase()))
    }

    fn record(&mut self, inside: &str) {
        let mut found = Record { is_whole: self.out.text.is_empty() && !self.is_nested, ..Record::default() };
        members::members(inside, DEPTH_MAX, &mut |key, value, in_list| found.add(key, value, in_list));
        found.add_wrong_fields();
        found.prefer_added();
        self.out.text.push('{');
        self.out.text.push_str(&found.codes);
        let message = found.message.filter(|_| !self.is_nested).map(|message| {
            let mut nested = Scanner::new(message, "");
            nested.is_nested = true;
            nested.run();
            nested.out
        });
        match message {
            Some(message) => {
                self.out.text.push_str(&message.text);
                self.out.text.push(' ');
                // The brackets of the record are not shown: its message is.
                self.out.separate();
                self.out.both("", message.shown.trim_end());
                let codes = found.codes.trim_end().replace(' ', ", ").replace('=', " ");
                if !codes.is_empty() {
                    self.out.both("", " (");
                    self.out.both("", &codes);
                    self.out.both("", ")");
                }
                self.out.both("*}", "");
                if self.rest().starts_with(char::is_alphanumeric) {
                    self.out.separate();
                }
                self.out.run = None;
            }
            None => {
                self.out.both("", "{");
                self.out.both("", &found.codes);
                self.out.mask();
                self.out.punctuation('}');
            }
        }
    }

    /// `Key (name)=(Anna (Berlin)) already exists`, `Failing row contains (7, Anna)`: values of a row, in brackets that
    /// the values may contain themselves.
    pub(super) fn row_values(&mut self) -> bool {
        if !self.rest().starts_with('(') {
            return false;
        }
        let [last, second] = [self.out.before[0].as_str(), self.out.before[1].as_str()];
        let of_key = self.out.text.ends_with(")=");
        let of_row = matches!((second, last), ("row", "contains") | ("value", "is"));
        if !(of_key || of_row) {
            return false;
        }
        let rest = super::head(self.rest(), SPAN_BYTES_MAX);
        let line = rest.lines().next().unwrap_or(rest);
        #[cfg(test)]
        {
            self.ahead_bytes += line.len();
        }
        let ended = words::AFTER_A_KEY.iter().filter_map(|end| line.find(end)).min().filter(|_| of_key);
        let end = ended.or_else(|| shapes::bracket_length(&line[1..]).map(|length| length + 1));
        // Without its end, the rest is data only where a text was cut off.
        let is_cut =
            self.text.ends_with("...") || self.text.ends_with('…') || line.len() == self.rest().len() && of_row;
        if end.is_none() && !is_cut {
            return false;
        }
        self.at += end.map_or(line.len(), |end| end + 1);
        self.out.mask();
        true
    }

    /// `#<Order id: 7, name: "Anna">`: the class of a printed object stays.
    pub(super) fn inspection(&mut self) -> bool {
        let Some(inside) = self.rest().strip_prefix("#<") else { return false };
        let inside = super::head(inside, SPAN_BYTES_MAX);
        let name = inside.find(|c: char| !(c.is_alphanumeric() || matches!(c, ':' | '_'))).unwrap_or(0);
        // `#<Thread:0x00007f9a10b2c4d0 worker-3 sleep>`
        let class = inside[..name].find(":0x").unwrap_or(name);
        if class == 0 || !inside[name..].starts_with(' ') || !inside.starts_with(|c: char| c.is_uppercase()) {
            return false;
        }
        let end = shapes::angle_length(inside);
        // Without its end, only a text that was cut off is an object to its end.
        if end.is_none() && !self.text.ends_with("...") && !self.text.ends_with('…') {
            return false;
        }
        #[cfg(test)]
        {
            self.ahead_bytes += end.unwrap_or(inside.len());
        }
        self.at += 2 + end.map_or(inside.len(), |end| end + 1);
        self.out.name("#<", "#<");
        self.out.name(&inside[..class], &inside[..class]);
        self.out.blank();
        self.out.mask();
        self.out.punctuation('>');
        true
    }
}

/// Whether a text has a word that sentences have, or ends like one.
fn is_sentence(text: &str) -> bool {
    let ends = text.ends_with('.') && text.contains(' ');
    ends || text.split_whitespace().take(CODES_MAX * 2).any(|word| words::OF_SENTENCES.contains(&word))
}

/// Names of texts that somebody wrote.
const NOTES: [&str; 8] = ["note", "notes", "comment", "remark", "text", "instructions", "hint", "memo"];

/// What counts of a record.
#[derive(Default)]
struct Record<'a> {
    /// `code=E_X kind=NotFound `
    codes: String,
    count: usize,
    message: Option<&'a str>,
    /// Whether the record is the whole message.
    is_whole: bool,
    /// What python-ldap prints of a directory's answer: the name of its result, and what the directory added to it.
    described: Option<&'a str>,
    added: Option<&'a str>,
    /// Whether the record has the number of such a result.
    is_of_directory: bool,
    /// Of a whole record: the names of members whose values are sentences, and the first of these.
    wrong: Vec<String>,
    first_wrong: Option<&'a str>,
    /// Whether the record has any other member.
    has_others: bool,
}

impl<'a> Record<'a> {
    /// `{'qty': '"abc" is not a number'}`: a record of nothing but sentences says of each field what is wrong with it.
    fn add_wrong_fields(&mut self) {
        if let Some(first) = self.first_wrong.filter(|_| self.is_whole && !self.has_others && self.message.is_none()) {
            self.message = Some(first);
            self.wrong.sort();
            for field in self.wrong.iter().take(CODES_MAX) {
                self.codes.push_str(field);
                self.codes.push(' ');
            }
        }
    }

    /// `{'result': 19, 'desc': 'Constraint violation', 'info': 'Password is in history'}`: what was added says more.
    fn prefer_added(&mut self) {
        if self.is_of_directory && self.described.is_some() && self.message == self.described {
            self.message = self.added.or(self.message);
        }
    }

    fn add(&mut self, key: &str, value: &'a str, in_list: bool) {
        // `message: Some("…")`, `source: Throttled(Throttled { … })`: printed by Rust.
        let value = value.strip_prefix("Some(").map_or(value, |value| value.trim_end_matches(')').trim_matches('"'));
        let (name, _) = value.split_once('(').unwrap_or((value, ""));
        let is_variant = key == "source" && shapes::is_name(name) && shapes::is_code_name(name);
        let value = if is_variant { name } else { value };
        let is_text = value.contains(' ');
        if self.is_whole {
            let is_field =
                shapes::is_name(key) && !key.contains('-') && !words::is_message_key(key) && !NOTES.contains(&key);
            let is_wrong = is_text && is_field && is_sentence(value);
            self.has_others |= !is_wrong;
            if is_wrong {
                if self.wrong.iter().all(|known| key < known.as_str()) {
                    self.first_wrong = Some(value);
                }
                self.wrong.push(key.into());
            }
        }
        // `{"errors": {"email": ["has already been taken"]}}`: the key is the field, the list what is wrong with it.
        if in_list && is_text && self.message.is_none() && shapes::is_name(key) && is_sentence(value) {
            self.message = Some(value);
            if !words::is_message_key(key) && key != "errors" {
                self.codes.push_str(key);
                self.codes.push(' ');
            }
            return;
        }
        // `{"refusalReason": "Expired Card"}`
        if key.ends_with("eason") && key.len() > "reason".len() && shapes::is_phrase(value) {
            return self.add_code(key, value);
        }
        if is_text || words::is_message_key(key) && !words::is_code_key(key) {
            // `'info': '80090308: LdapErr: … error, data 52e, v2580'`: the reason of Active Directory, whatever the message is.
            if let Some(reason) = outcomes::reason_of_directory(value) {
                return self.add_code("data", reason);
            }
            match key {
                "desc" => self.described = Some(value),
                "info" => self.added = Some(value),
                _ => {}
            }
            let better = words::is_message_key(key) && self.message.is_none_or(|known| !known.contains(' '));
            if better && value.contains(char::is_alphabetic) {
                self.message = Some(value);
            }
            return;
        }
        let number = value.len() <= CODE_DIGITS_MAX && value.bytes().all(|b| b.is_ascii_digit()) && !value.is_empty();
        self.is_of_directory |= key == "result" && number;
        if let Some(reply) = value.strip_prefix('(').filter(|reply| codes::is_reply(reply)) {
            // `{'anna@mail.example': (550, b'User unknown')}`: what smtplib says of each recipient.
            if !self.codes.contains(reply) && self.count < CODES_MAX {
                self.count += 1;
                self.codes.push_str(reply);
                self.codes.push(' ');
            }
            return;
        }
        let counts = (words::is_code_key(key) && (shapes::is_name(value) || number))
            || (words::is_place_key(key) && shapes::is_name(value))
            || (words::is_status_key(key) && number)
            || is_variant;
        if counts {
            self.add_code(key, value);
        }
    }

    fn add_code(&mut self, key: &str, value: &str) {
        if self.count < CODES_MAX {
            self.count += 1;
            self.codes.push_str(key);
            self.codes.push('=');
            self.codes.push_str(value);
            self.codes.push(' ');
        }
    }
}
