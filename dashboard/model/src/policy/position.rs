//! Where an error is in the policy's text.

/// A position in a text; lines and columns count from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPosition {
    /// The line.
    pub line: usize,
    /// The column, characters.
    pub column: usize,
    /// The start of the position, UTF-16 units from the start of the text, as a browser's selection counts.
    pub start: u32,
    /// The error in words.
    pub words: String,
}

impl TextPosition {
    fn new(text: &str, at: usize, words: String) -> Self {
        let before = text.get(..at).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        let start = u32::try_from(before.encode_utf16().count()).unwrap_or(u32::MAX);
        Self { line, column, start, words }
    }
}

/// Returns the first syntax error of a JSON text, or `None` if it is JSON.
pub fn syntax_error(text: &str) -> Option<TextPosition> {
    let mut scan = Scan { text, at: 0 };
    let end = scan.value(0).and_then(|()| {
        scan.blanks();
        if scan.at < text.len() { Err("Nothing may follow the policy's last bracket.") } else { Ok(()) }
    });
    end.err().map(|words| TextPosition::new(text, scan.at, words.to_string()))
}

/// Returns the position of the setting that an error names in backticks: `` unknown field `x` ``. `None` if the text has no
/// such setting.
pub fn position_of(text: &str, problem: &str) -> Option<TextPosition> {
    let mut quoted = problem.split('`').skip(1).step_by(2);
    let found = quoted.find_map(|name| {
        let last = name.rsplit('.').next()?;
        let at = text.find(&format!("\"{last}\""))?;
        Some((at, last))
    });
    let (at, _) = found?;
    Some(TextPosition::new(text, at, problem.to_string()))
}

/// Arrays and objects in each other, before a text is refused: no policy has more.
const DEPTH_MAX: usize = 64;

struct Scan<'a> {
    text: &'a str,
    at: usize,
}

type Scanned = Result<(), &'static str>;

impl Scan<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    fn value(&mut self, depth: usize) -> Scanned {
        self.blanks();
        match self.peek() {
            _ if depth > DEPTH_MAX => Err("Brackets are nested too deeply."),
            Some(b'{') => self.all(b'}', "Expected a comma or }.", |scan| {
                scan.blanks();
                if scan.peek() != Some(b'"') {
                    return Err("Expected a name in double quotes.");
                }
                scan.string()?;
                scan.blanks();
                if scan.peek() != Some(b':') {
                    return Err("Expected a colon after the name.");
                }
                scan.at += 1;
                scan.value(depth + 1)
            }),
            Some(b'[') => self.all(b']', "Expected a comma or ].", |scan| scan.value(depth + 1)),
            Some(b'"') => self.string(),
            Some(b'-' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z') => self.word(),
            Some(b',' | b'}' | b']') => Err("Expected a value. Is there a comma too many?"),
            Some(_) => Err("Expected a value."),
            None => Err("A closing bracket is missing."),
        }
    }

    /// Scans the items between brackets.
    fn all(&mut self, close: u8, expected: &'static str, mut item: impl FnMut(&mut Self) -> Scanned) -> Scanned {
        self.at += 1;
        self.blanks();
        if self.peek() == Some(close) {
            self.at += 1;
            return Ok(());
        }
        loop {
            item(self)?;
            self.blanks();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(byte) if byte == close => {
                    self.at += 1;
                    return Ok(());
                }
                Some(_) => return Err(expected),
                None => return Err("A closing bracket is missing."),
            }
        }
    }

    fn string(&mut self) -> Scanned {
        let start = self.at;
        self.at += 1;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => {
                    self.at += 1;
                    return Ok(());
                }
                b'\\' => self.at += 2,
                0..0x20 => return Err("Close this text with a double quote on the same line."),
                _ => self.at += 1,
            }
        }
        self.at = start;
        Err("This text has no closing double quote.")
    }

    fn word(&mut self) -> Scanned {
        let rest = &self.text[self.at..];
        let length = rest.find(|c: char| !matches!(c, '-' | '+' | '.' | '0'..='9' | 'a'..='z' | 'A'..='Z'));
        let word = &rest[..length.unwrap_or(rest.len())];
        let is_number = || domain::read::json::is_valid(word);
        if matches!(word, "true" | "false" | "null") || is_number() {
            self.at += word.len();
            return Ok(());
        }
        Err("Expected a number, true, false, null, or a text in double quotes.")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_syntax_error_has_its_position() {
        // (text, line, column, words)
        for (text, line, column, words) in [
            ("{\n  \"gate\": {\n    \"quiet_ms\": 1\n    \"four_eyes\": true\n  }\n}", 4, 5, "Expected a comma or }."),
            ("{\n  \"a\": 1,\n}", 3, 1, "Expected a name in double quotes."),
            ("{\"a\" 1}", 1, 6, "Expected a colon after the name."),
            ("{\"a\": [1, 2}", 1, 12, "Expected a comma or ]."),
            ("{\"a\": }", 1, 7, "Expected a value. Is there a comma too many?"),
            ("{\"a\": yes}", 1, 7, "Expected a number, true, false, null, or a text in double quotes."),
            ("{\"a\": 01}", 1, 7, "Expected a number, true, false, null, or a text in double quotes."),
            ("{\"ä\": \"€\" 1}", 1, 11, "Expected a comma or }."),
            ("{\"a\": \"b", 1, 7, "This text has no closing double quote."),
            ("{\"a\": 1", 1, 8, "A closing bracket is missing."),
            ("{} {}", 1, 4, "Nothing may follow the policy's last bracket."),
            ("", 1, 1, "A closing bracket is missing."),
        ] {
            let position = syntax_error(text).unwrap_or_else(|| panic!("{text} is refused"));
            assert_eq!((position.line, position.column, position.words.as_str()), (line, column, words), "{text}");
        }
        assert_eq!(syntax_error(&"[".repeat(10_000)).unwrap().words, "Brackets are nested too deeply.");
    }

    #[test]
    fn json_has_no_syntax_error() {
        for text in
            ["{}", " { \"a\" : [ ] , \"b\": [1, -2.5e3, \"\\\"\\\\\", null, true, {\"c\": {}}] }\n", "12", "\"€\""]
        {
            assert_eq!(syntax_error(text), None, "{text}");
            assert!(serde_json::from_str::<serde_json::Value>(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn an_error_of_the_office_has_the_position_of_its_setting() {
        let text = "{\n  \"gate\": {\n    \"quiet\": 1\n  }\n}";
        let problem = "The policy is not valid: unknown field `quiet`, expected one of `quiet_ms`, `four_eyes`.";
        let position = position_of(text, problem).unwrap();
        assert_eq!((position.line, position.column, position.start), (3, 5, 18));
        assert_eq!(position_of(text, "`replay.pace_per_s` must be at most 10000"), None);
        assert_eq!(position_of(text, "`gate.quiet` is wrong").map(|position| position.line), Some(3));
        assert_eq!(position_of(text, "no name at all"), None);
    }
}
