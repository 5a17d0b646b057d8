//! What programs print whole: the source that a parser read, a browser's name, the placeholders of a statement.

use super::{SPAN_BYTES_MAX, Scanner, head, shapes};

impl Scanner<'_> {
    /// A text that a program printed as it was.
    pub(super) fn printed(&mut self) -> bool {
        let rest = self.rest();
        // Most texts begin otherwise.
        if rest.starts_with("W/\"") && !self.after_letter() {
            // A weak tag of HTTP is a tag.
            self.at += "W/".len();
            return true;
        }
        let length = match rest.as_bytes().first() {
            Some(b'[') => source(head(rest, SPAN_BYTES_MAX)),
            Some(b'M') if !self.after_letter() => browser(head(rest, SPAN_BYTES_MAX)),
            // Of an error of syntax, the statement is the cause.
            Some(b'L') if self.begins_line() && !self.out.near().contains("syntax error") => {
                marked_statement(head(rest, SPAN_BYTES_MAX))
            }
            Some(b' ' | b'|' | b'>' | b'0'..=b'9') if self.begins_line() => line_of_source(head(rest, SPAN_BYTES_MAX)),
            Some(b'C' | b'O' | b'U' | b'D') if !self.after_letter() => directory_name(head(rest, SPAN_BYTES_MAX)),
            Some(b'?' | b'%' | b'$' | b':' | b'@') if self.out.of_statement => self.placeholder(),
            _ => return false,
        };
        #[cfg(test)]
        {
            self.ahead_bytes += length.unwrap_or(1);
        }
        let Some(length) = length else { return false };
        let of_source = |c: char| matches!(c, 'L' | ' ' | '|' | '>') || c.is_ascii_digit();
        if rest.starts_with(of_source) {
            // What stands there says nothing more of the cause.
            self.at += length;
            self.out.blank();
            return true;
        }
        if rest.starts_with('[') {
            self.out.punctuation('[');
        }
        self.at += length;
        self.out.mask();
        true
    }

    fn begins_line(&self) -> bool {
        self.text[..self.at].ends_with('\n')
    }

    /// `?`, `%s`, `%(id)s`, `$1`, `:id`, `@p0`: the place of a value in a statement.
    fn placeholder(&self) -> Option<usize> {
        let before = self.text[..self.at].trim_end_matches(' ');
        let rest = self.rest();
        let is_operand = before.ends_with(['(', '=', ',', '<', '>'])
            || ["limit", "offset", "like", "and", "between"].contains(&self.out.before[0].as_str());
        if !is_operand {
            return None;
        }
        let (sign, after) = rest.split_at(1);
        let word = after.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(after.len());
        let is_number = word > 0 && after[..word].bytes().all(|b| b.is_ascii_digit());
        let length = match sign {
            "?" => 1 + if is_number { word } else { 0 },
            "%" => match after.strip_prefix('(') {
                Some(named) => {
                    let end = named.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))?;
                    named[end..].starts_with(")s").then_some("%(".len() + end + ")s".len())?
                }
                None if after.starts_with('s') => 2,
                None => return None,
            },
            "$" if !is_number => return None,
            _ if word == 0 => return None,
            _ => 1 + word,
        };
        let ends = |c: char| c.is_whitespace() || shapes::is_delimiter(c);
        rest[length..].chars().next().is_none_or(ends).then_some(length)
    }
}

/// `[Source: (byte[])"{"id":1,"tot"[truncated 12 bytes]; line: 1, column: 26]`: Jackson prints the text that it read.
fn source(text: &str) -> Option<usize> {
    const BEGIN: &str = "[Source: ";
    // Up to the next one, so that no text is searched twice.
    let rest = text.strip_prefix(BEGIN)?;
    let rest = rest.split(BEGIN).next().unwrap_or(rest);
    rest.find("; line: ").map(|at| BEGIN.len() + at)
}

/// `LINE 1: SELECT … ` and a line with a caret below: PostgreSQL prints the statement's line. The error is named before it.
fn marked_statement(text: &str) -> Option<usize> {
    let number = text.strip_prefix("LINE ")?;
    let after = number.trim_start_matches(|c: char| c.is_ascii_digit());
    after.strip_prefix(": ").filter(|_| after.len() < number.len())?;
    let line = text.find('\n')?;
    let caret = text[line + 1..].trim_start_matches(' ');
    caret.starts_with('^').then(|| text.len() - caret.len() + 1)
}

/// How many lines below a line of source its caret may be.
const LINES_BELOW: usize = 3;

/// `3 | price = 12,50`, `  |         ^`: a line of the source that a parser read, with its number, or the caret below it.
fn line_of_source(text: &str) -> Option<usize> {
    let line = text.lines().next().unwrap_or(text);
    let marked = line.trim_start_matches([' ', '>']);
    let digits = marked.bytes().take_while(u8::is_ascii_digit).count();
    let source = marked[digits..].trim_start_matches(' ').strip_prefix('|')?;
    // The first and last lines of such a frame are bare.
    let is_caret = |source: &str| source.trim_matches([' ', '^', '~', '-']).is_empty();
    let is_marked = || {
        let mut below = text.lines().skip(1).take(LINES_BELOW);
        below.any(|line| line.trim_start().strip_prefix('|').is_some_and(|rest| rest.contains('^') && is_caret(rest)))
    };
    (is_caret(source) || digits > 0 && is_marked()).then_some(line.len())
}

/// `CN=Kowalska\\, Anna,OU=Legal,DC=shop`: a name in a directory (RFC 4514), of two parts and more.
fn directory_name(text: &str) -> Option<usize> {
    /// The longest common name (X.520, ub-common-name).
    const PART_BYTES_MAX: usize = 64;
    const KEYS: [&str; 8] = ["CN=", "UID=", "OU=", "DC=", "O=", "C=", "L=", "ST="];
    let starts = |text: &str| KEYS.iter().find(|key| text.starts_with(**key)).map(|key| key.len());
    let (mut end, mut parts) = (0, 0);
    while let Some(key) = starts(&text[end..]) {
        let value = &text[end + key..];
        let mut is_escaped = false;
        let length = value.find(|c: char| {
            let ends = !is_escaped && (c == ',' || shapes::is_delimiter(c) || c.is_control());
            is_escaped = c == '\\' && !is_escaped;
            ends
        });
        let length = length.unwrap_or(value.len());
        // `C=a rejected: disk full, O=b` is no name.
        if length > PART_BYTES_MAX || value[..length].contains(": ") {
            return None;
        }
        let after = &value[length..];
        let next = after.strip_prefix(',').map(|next| next.strip_prefix(' ').unwrap_or(next));
        parts += 1;
        match next.filter(|next| starts(next).is_some()) {
            Some(next) => end = text.len() - next.len(),
            // The last value ends with its word.
            None => {
                let word = value[..length].find(' ').unwrap_or(length);
                return (parts > 1).then_some(end + key + word);
            }
        }
    }
    None
}

/// `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/119.0 Safari/537.36`: the name of a browser
/// (RFC 9110, User-Agent).
fn browser(text: &str) -> Option<usize> {
    const BEGIN: &str = "Mozilla/";
    let rest = text.strip_prefix(BEGIN)?;
    let text = &text[..BEGIN.len() + rest.find(BEGIN).unwrap_or(rest.len())];
    let mut end = text.find(' ').unwrap_or(text.len());
    loop {
        let Some(next) = text[end..].strip_prefix(' ') else { return Some(end) };
        let length = if let Some(comment) = next.strip_prefix('(').filter(|comment| !comment.starts_with(' ')) {
            shapes::bracket_length(comment)? + 2
        } else {
            let word =
                &next[..next.find(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | ')')).unwrap_or(next.len())];
            let is_product = word.contains('/') && word.ends_with(|c: char| c.is_ascii_alphanumeric());
            if !(is_product || matches!(word, "like" | "Gecko" | "Mobile")) {
                return Some(end);
            }
            word.len()
        };
        end += 1 + length;
    }
}

/// Joins the items of a list that say the same of other data: `/* (E: timed out), /* (E: timed out)`. Returns nothing if no item does.
pub fn joined_items(text: &str) -> Option<alloc::string::String> {
    // Counting bytes is far cheaper than looking for the separators.
    if text.bytes().filter(|byte| *byte == b'*').count() < 2 {
        return None;
    }
    let joined = joined_at(text, ", ");
    joined_at(joined.as_deref().unwrap_or(text), "; ").or(joined)
}

/// Whether an item may begin after a text. What semicolons separate are sentences: `parent order * is open; order * is open` are two.
fn begins_item(before: &str, separator: &str) -> bool {
    let marked = before.is_empty() || before.trim_end().ends_with([':', ';', ',', '(', '[', '.']);
    !before.ends_with(char::is_alphanumeric) && (separator == ", " || marked)
}

fn joined_at(text: &str, separator: &str) -> Option<alloc::string::String> {
    const ITEM_BYTES_MIN: usize = 8;
    const ENDS: [char; 3] = [')', ']', '.'];
    if !text.contains(separator) {
        return None;
    }
    let mut out = alloc::string::String::with_capacity(text.len());
    let mut is_joined = false;
    for (number, item) in text.split(separator).enumerate() {
        let bare = item.trim_end_matches(ENDS);
        let before = out.trim_end_matches(ENDS);
        let repeats = number > 0
            && bare.len() >= ITEM_BYTES_MIN
            && bare.contains(super::MASK)
            && before.ends_with(bare)
            && begins_item(&before[..before.len() - bare.len()], separator);
        if repeats {
            let end = before.len();
            out.truncate(end);
            out.push_str(&item[bare.len()..]);
            is_joined = true;
        } else {
            if number > 0 {
                out.push_str(separator);
            }
            out.push_str(item);
        }
    }
    is_joined.then_some(out)
}
