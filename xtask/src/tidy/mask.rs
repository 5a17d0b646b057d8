//! Blanks what is not code in Rust source: comments, the insides of literals, and test modules.
//!
//! Newlines stay, so that line numbers hold. This is a scanner, not a parser: it knows what starts and
//! ends comments and literals, and nothing else.

/// The source with comments and the insides of string and character literals blanked.
pub fn code(text: &str) -> String {
    let mut scanner = Scanner { rest: text, out: String::with_capacity(text.len()), after_name: false };
    while let Some(next) = scanner.rest.chars().next() {
        scanner.step(next);
    }
    scanner.out
}

struct Scanner<'a> {
    rest: &'a str,
    out: String,
    /// The last character belonged to a name: so `r` in `bar"` starts no raw string.
    after_name: bool,
}

impl Scanner<'_> {
    fn step(&mut self, next: char) {
        if self.rest.starts_with("//") {
            return self.blank(self.rest.find('\n').unwrap_or(self.rest.len()));
        }
        if self.rest.starts_with("/*") {
            return self.blank(comment_end(self.rest));
        }
        if !self.after_name
            && let Some(end) = raw_string_end(self.rest)
        {
            return self.blank(end);
        }
        match next {
            '"' => self.blank(string_end(self.rest)),
            '\'' => match char_end(self.rest) {
                Some(end) => self.blank(end),
                None => self.keep(next),
            },
            _ => self.keep(next),
        }
    }

    fn keep(&mut self, next: char) {
        self.out.push(next);
        self.rest = &self.rest[next.len_utf8()..];
        self.after_name = next.is_alphanumeric() || next == '_';
    }

    fn blank(&mut self, end: usize) {
        let (gone, rest) = self.rest.split_at(end);
        self.out.extend(gone.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        self.rest = rest;
        self.after_name = false;
    }
}

fn comment_end(text: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// `r"…"`, `r#"…"#`, `br#"…"#`, `cr"…"`.
fn raw_string_end(text: &str) -> Option<usize> {
    let prefix = ["r", "br", "cr"].into_iter().find(|prefix| {
        let rest = text.strip_prefix(prefix).unwrap_or_default();
        rest.trim_start_matches('#').starts_with('"')
    })?;
    let hashes = text[prefix.len()..].bytes().take_while(|b| *b == b'#').count();
    let start = prefix.len() + hashes + 1;
    let close = format!("\"{}", "#".repeat(hashes));
    Some(text[start..].find(&close).map_or(text.len(), |at| start + at + close.len()))
}

fn string_end(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The end of `'x'` or `'\n'`; `None` for a lifetime.
fn char_end(text: &str) -> Option<usize> {
    let mut chars = text.char_indices().skip(1);
    let (_, first) = chars.next()?;
    if first == '\\' {
        let (_, escaped) = chars.next()?;
        let at = if escaped == 'u' { text.find('}')? + 1 } else { 2 + escaped.len_utf8() };
        return text[at..].find('\'').map(|close| at + close + 1);
    }
    let (at, close) = chars.next()?;
    (close == '\'').then_some(at + 1)
}

/// Blanks each item that is marked `#[cfg(test)]`, in text that `code` has been through.
pub fn without_tests(code: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let mut out = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(start) = rest.find(MARK) {
        let (before, marked) = rest.split_at(start);
        let (item, after) = marked.split_at(item_end(marked));
        out.push_str(before);
        out.extend(item.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        rest = after;
    }
    out.push_str(rest);
    out
}

/// An item ends with its `;`, or with the brace that closes its first one.
fn item_end(code: &str) -> usize {
    let mut depth = 0_usize;
    let mut inside = 0_usize;
    for (at, c) in code.char_indices() {
        match c {
            '(' | '[' => inside += 1,
            ')' | ']' => inside = inside.saturating_sub(1),
            ';' if depth == 0 && inside == 0 => return at + 1,
            '{' => depth += 1,
            '}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    code.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_is_left() {
        for (text, kept) in [
            ("a // b\nc", "a     \nc"),
            ("a /* b /* c */ d */ e", "a                   e"),
            ("f(\"x \\\" {\") + 1", "f(        ) + 1"),
            ("r#\"a \" b\"# + x", "           + x"),
            ("bar\"x\"", "bar   "),
            ("br\"x\" y", "      y"),
            ("'{' + '\\'' + '\\u{7d}' + b", "    +      +          + b"),
            ("fn f<'a>(x: &'a str) {}", "fn f<'a>(x: &'a str) {}"),
            ("'é' x", "    x"),
            ("'a: loop { break 'a }", "'a: loop { break 'a }"),
        ] {
            assert_eq!(code(text), kept, "{text}");
        }
    }

    #[test]
    fn test_items_are_blanked_whole() {
        for (text, kept) in [
            ("a;\n#[cfg(test)]\nmod tests {\n fn f() { }\n}\nb;", "a;\n            \n           \n           \n \nb;"),
            ("#[cfg(test)] mod tests; b", "                        b"),
            ("#[cfg(test)] use a::{b, c}; d", "                          ; d"),
        ] {
            assert_eq!(without_tests(text), kept, "{text}");
        }
    }
}
