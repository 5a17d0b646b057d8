//! Values that the words around them announce: a wrong value, an id, a character, the value of a key, the parameters of
//! a statement.

use super::{
    SPAN_BYTES_MAX, Scanner, VALUE_BEFORE_BYTES, VALUE_BYTES_MAX, codes, head, hosts, labels, lists, missing, outcomes,
    parts, paths, shapes, things, words,
};

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
        ends && !labels::is_reason(core)
            && (self.announces_wrong_value() || self.announces_missing() && things::is_own_name(core))
    }

    /// Whether the text so far ends by saying that a thing is missing or exists already, with a colon: `Player not found: `.
    pub(super) fn announces_missing(&self) -> bool {
        self.out.text.ends_with(": ") && missing::announces_missing(&self.out.near().to_lowercase())
    }

    /// Whether the text so far ends by announcing a wrong value or an id.
    pub(super) fn announces_wrong_value(&self) -> bool {
        let text = self.out.text.as_str();
        let Some(before) = text.strip_suffix(": ").or_else(|| text.strip_suffix(" value of ")) else { return false };
        let from = before.floor_char_boundary(before.len().saturating_sub(VALUE_BEFORE_BYTES));
        let before = before[from..].to_lowercase();
        !labels::announces_choice(&before) && (labels::announces_value(&before) || labels::announces_id(&before))
    }

    /// `coupon welcome-10`: a name with digits after the noun of a record is data as a whole.
    pub(super) fn names_record(&self, core: &str) -> bool {
        const RECORD_DIGITS_MIN: usize = 3;
        const RECORDS: [&str; 5] = ["order", "item", "picking", "shipment", "document"];
        let last = self.out.before[0].as_str();
        let is_record = || lists::is_named(last) || RECORDS.contains(&last);
        let is_number = || {
            !core.starts_with('/')
                && core.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b"/-".contains(&b))
        };
        let is_plain = || !core.contains(['/', '\\', ':', '=', '@', '.', '(']) || is_number();
        let digits = core.bytes().filter(u8::is_ascii_digit).count();
        // `address2` is a field.
        let is_id = || digits >= RECORD_DIGITS_MIN || core.contains(['-', '_']);
        // `shipment iso6346 check failed`: another noun follows.
        let rest = self.rest();
        let ends = || {
            #[rustfmt::skip]
            const SAID: [&str; 12] = [
                " is ", " was ", " has ", " have ", " not ", " does ", " could ", " cannot ", " can't ", " already ", " in ", " for ",
            ];
            !rest.starts_with(' ') || SAID.iter().any(|said| rest.starts_with(said))
        };
        digits > 0 && (words::precedes_id(last) || is_plain() && is_id() && is_record() && ends())
    }

    /// `locked by orders-7d9f8c6b5-x2x9z`: what holds a lock is data if it has digits.
    pub(super) fn names_holder(&self) -> bool {
        let [last, second] = &self.out.before;
        last == "by" && matches!(second.as_str(), "locked" | "held" | "owned" | "claimed" | "leased")
    }

    /// `Column not found: ADR2`: the name of a part may have digits.
    pub(super) fn names_missing_part(&self, core: &str) -> bool {
        const NAME_BYTES_MAX: usize = 24;
        // `PID.F11` is the place of a field, `item42` an id.
        const DIGITS_MAX: usize = 1;
        const PLACE_DIGITS_MAX: usize = 2;
        let most = if core.contains('.') { PLACE_DIGITS_MAX } else { DIGITS_MAX };
        let is_name = core.len() <= NAME_BYTES_MAX
            && core.starts_with(|c: char| c.is_ascii_alphabetic())
            && core.bytes().filter(u8::is_ascii_digit).count() <= most
            && core.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'));
        let before = || self.out.near().trim_end().to_lowercase();
        is_name
            && (self.out.text.ends_with(": ") && missing::announces_missing_part(&before())
                || self.out.text.ends_with(' ') && missing::announces_missing_part(&(before() + ":")))
    }

    /// `Invalid value: ['12,50', 'EURO']`: a structure after the words that reject it.
    pub(super) fn rejected_structure(&mut self) -> bool {
        let text = self.out.text.as_str();
        // After a value that was read already, the brackets say what is wrong with it.
        let is_first = || text.strip_suffix(": ").is_some_and(|before| before.ends_with(char::is_alphabetic));
        if !self.rest().starts_with(['[', '(']) || !is_first() || !self.announces_wrong_value() {
            return false;
        }
        let rest = head(self.rest(), SPAN_BYTES_MAX);
        let inside = &rest[1..];
        let length = if rest.starts_with('[') { shapes::square_length(inside) } else { shapes::bracket_length(inside) };
        #[cfg(test)]
        {
            self.ahead_bytes += length.unwrap_or(inside.len());
        }
        // `Invalid phone: [too short]` says why.
        let holds_value = |inside: &str| inside.contains(['\'', '"']) || inside.bytes().any(|b| b.is_ascii_digit());
        let Some(length) = length.filter(|length| holds_value(&inside[..*length])) else { return false };
        self.at += length + 2;
        self.out.mask();
        true
    }

    /// `found b'<html>'`: the bytes that a program of Python met are a quoted text.
    pub(super) fn bytes_literal(&mut self) -> bool {
        let Some(rest) = self.rest().strip_prefix('b') else { return false };
        let Some(open) = rest.chars().next().filter(|c| matches!(c, '\'' | '"')) else { return false };
        let is_raw = || matches!(rest.as_bytes().get(1), Some(b'\\' | b'{' | b'<'));
        let is_met = || matches!(self.out.before[0].as_str(), "found" | "got" | "byte" | "bytes" | "input");
        if self.after_letter() || !(is_met() || is_raw()) {
            return false;
        }
        self.at += 1;
        self.quote(open);
        true
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

    /// `status=7`: the value of a key is data unless the key marks it as a code.
    pub(super) fn assigned(&mut self, core: &str) -> bool {
        let Some((key, value)) = shapes::assignment(core).filter(|_| !shapes::is_mail(core)) else { return false };
        self.out.word(key);
        self.out.punctuation('=');
        let is_code =
            words::is_code_key(key) && (shapes::is_name(value) || value.len() <= 5 || outcomes::is_outcome_code(value));
        let is_reply = matches!(key, "response" | "reply" | "responseCode") && codes::is_reply(value);
        if is_code || is_reply || words::is_truth(value) || (key == "port" && codes::is_service_port(value)) {
            self.out.name(value, value);
            return true;
        }
        self.out.mask();
        self.rest_of_value();
        true
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
        let is_reason = key.ends_with("eason") && shapes::is_phrase(inside);
        let kept = is_reason || (words::is_code_key(key) && shapes::is_name(inside)) || words::is_truth(inside);
        if kept || (words::is_host_key(key) && hosts::is_host(inside)) {
            self.out.quote(Some(open));
            let host = parts::mask_parts(inside);
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
    pub(super) fn rest_of_name(&self, of_data: bool) -> Option<usize> {
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
