//! The template under construction, in two forms: the normal form, which is compared, and the form that people read.
//!
//! The normal form cuts plurals and drops the kind of quotation marks, so that the same error gives the same text. The
//! shown form keeps the words and marks of the message. Both collapse masks and lists, and both are written together.

use super::{MASK, head, words};
use alloc::string::String;

/// The longest shown form, bytes: a title is shorter, and the rest is not read by anyone.
const SHOWN_BYTES_MAX: usize = 640;

/// How much of the normal form may announce what follows, bytes.
const NEAR_BYTES: usize = 48;

/// The room for a word, bytes. Few are longer.
const WORD_BYTES: usize = 16;

/// A position in both forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    pub text: usize,
    pub shown: usize,
}

/// The template under construction.
#[derive(Default)]
pub struct Out {
    pub text: String,
    pub shown: String,
    /// The last two words, in lower case.
    pub before: [String; 2],
    /// Words since the last mask; the first words after a number lose their plural.
    since_mask: Option<u8>,
    /// The end of the last mask, as long as only separators follow it.
    pub run: Option<Mark>,
    /// The start and end of the last partly masked word, as long as only separators follow it.
    partly: Option<(usize, Mark)>,
    /// Whether a word so far announced states and the moves between them.
    pub of_states: bool,
    /// Whether a SQLSTATE came, which a driver's own number follows.
    pub of_sql: bool,
    /// Whether the error's type is of a protocol whose replies begin with a number of three digits: SMTP, FTP.
    pub of_replies: bool,
    /// Whether an SQL statement has begun. Quoted names in one are tables and columns.
    pub of_statement: bool,
    /// The open brackets since the one of an error's call or of a leading tuple; 0 outside.
    pub calls: u8,
}

impl Out {
    /// Begins a template of a text of this many bytes.
    pub fn for_text(bytes: usize) -> Self {
        let bytes = bytes.min(SHOWN_BYTES_MAX);
        let before = || String::with_capacity(WORD_BYTES);
        Self {
            text: String::with_capacity(bytes),
            shown: String::with_capacity(bytes),
            before: [before(), before()],
            ..Self::default()
        }
    }

    /// The last words of the normal form.
    pub fn near(&self) -> &str {
        &self.text[self.text.floor_char_boundary(self.text.len().saturating_sub(NEAR_BYTES))..]
    }

    pub fn mark(&self) -> Mark {
        Mark { text: self.text.len(), shown: self.shown.len() }
    }

    pub fn blank(&mut self) {
        for text in [&mut self.text, &mut self.shown] {
            if !text.is_empty() && !text.ends_with(' ') {
                text.push(' ');
            }
        }
    }

    /// Adds text to each form.
    pub fn both(&mut self, text: &str, shown: &str) {
        self.text.push_str(text);
        self.show(shown);
    }

    fn show(&mut self, shown: &str) {
        if self.shown.len() < SHOWN_BYTES_MAX {
            self.shown.push_str(shown);
        }
    }

    /// Adds a quotation mark, which is shown as it was written; `None` shows none.
    pub fn quote(&mut self, shown: Option<char>) {
        self.run = None;
        self.partly = None;
        self.text.push('"');
        match shown {
            Some(c) => self.show(c.encode_utf8(&mut [0; 4])),
            None => self.separate(),
        }
    }

    /// Ends a shown word, so that what follows is not a part of it.
    pub fn separate(&mut self) {
        if self.shown.ends_with(char::is_alphanumeric) {
            self.show(" ");
        }
    }

    pub fn punctuation(&mut self, c: char) {
        match c {
            '(' if self.calls > 0 || words::calls_error(&self.text) => self.calls = self.calls.saturating_add(1),
            ')' => self.calls = self.calls.saturating_sub(1),
            _ => {}
        }
        // `18446 bytes (18.0 KB)`, `+1 (555) 010`: adjacent data is one piece of data.
        const NESTED: &str = " (*";
        // `shape (11534336,)`: Python's tuple of one value.
        if c == ')' && self.text.ends_with("(*,") && self.shown.ends_with("(*,") {
            self.cut(Mark { text: self.text.len() - 1, shown: self.shown.len() - 1 });
        }
        if c == ')' && self.text.ends_with("* (*") && self.shown.ends_with("* (*") {
            let end = Mark { text: self.text.len() - NESTED.len(), shown: self.shown.len() - NESTED.len() };
            self.cut(end);
            self.run = Some(end);
            return;
        }
        // `VALUES (?, ?), (?, ?)`: a row is like many.
        const ROW: &str = ", (*";
        const ROWS: &str = "(*), (*";
        if c == ')' && self.text.ends_with(ROWS) && self.shown.ends_with(ROWS) {
            self.cut(Mark { text: self.text.len() - ROW.len(), shown: self.shown.len() - ROW.len() });
            self.run = None;
            return;
        }
        self.text.push(c);
        self.show(c.encode_utf8(&mut [0; 4]));
        if !matches!(c, ',' | ';' | '/' | '|' | '&' | '+' | '-') {
            self.run = None;
            self.partly = None;
        }
    }

    pub fn mask(&mut self) {
        match self.run {
            Some(end) => self.cut(end),
            None => {
                self.text.push(MASK);
                self.show("*");
                self.run = Some(self.mark());
                self.partly = None;
            }
        }
        self.since_mask = Some(0);
        self.remember("");
    }

    /// Adds a word, which loses its plural in the normal form if it follows a number.
    pub fn word(&mut self, word: &str) {
        let singular = match &mut self.since_mask {
            Some(count) if *count < 3 => {
                *count += 1;
                words::singular(word)
            }
            _ => word.into(),
        };
        // A list of numbered names reads like one of them: `blk_*, blk_*`.
        match self.partly {
            Some((start, end)) if self.text[start..end.text] == *singular => self.cut(end),
            _ => {
                let start = self.text.len();
                self.both(&singular, words::without_package(word));
                self.partly = singular.contains(MASK).then(|| (start, self.mark()));
            }
        }
        self.run = None;
        self.remember(word);
    }

    /// Adds a name as it is.
    pub fn name(&mut self, name: &str, shown: &str) {
        self.both(name, shown);
        self.run = None;
        self.partly = None;
        self.remember(name);
    }

    /// Joins an address at a port with an address at the same port before it: a list is like one of them.
    pub fn join_addresses(&mut self, port: &str) {
        let address = ["*:", port].concat();
        for between in [" ", ", ", ","] {
            let more = between.len() + address.len();
            let is_list = |text: &str| {
                let before = text.strip_suffix(&*address).and_then(|text| text.strip_suffix(between));
                before.is_some_and(|text| text.ends_with(&*address))
            };
            if is_list(&self.text) && is_list(&self.shown) {
                let end = Mark { text: self.text.len() - more, shown: self.shown.len() - more };
                return self.cut(end);
            }
        }
    }

    /// Removes the output after a position, and what is known about it.
    fn cut(&mut self, end: Mark) {
        self.text.truncate(end.text);
        self.shown.truncate(end.shown);
        // A star may be part of the message itself rather than a mask: `int * (*) fn`.
        self.partly.take_if(|(_, partly_end)| partly_end.text > end.text);
    }

    fn remember(&mut self, word: &str) {
        self.before.swap(0, 1);
        self.before[0].clear();
        self.before[0].push_str(head(word, 64));
        self.before[0].make_ascii_lowercase();
        let last = self.before[0].as_str();
        self.of_states |= words::announces_states(last);
        self.of_sql |= last == "sqlstate";
        self.of_statement |= words::begins_statement(&self.before[1], last);
    }
}
