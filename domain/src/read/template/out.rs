//! The template under construction: collapses masks and lists, and remembers the preceding words.

use super::{MASK, head, words};
use alloc::string::String;

/// The template under construction.
#[derive(Default)]
pub struct Out {
    pub text: String,
    /// The last two words, in lower case.
    pub before: [String; 2],
    /// Words since the last mask; the first words after a number lose their plural.
    since_mask: Option<u8>,
    /// The end of the last mask, as long as only separators follow it.
    pub run: Option<usize>,
    /// The start of the last partly masked word, as long as only separators follow it.
    partly: Option<(usize, usize)>,
}

impl Out {
    pub fn blank(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with(' ') {
            self.text.push(' ');
        }
    }

    pub fn punctuation(&mut self, c: char) {
        // `18446 bytes (18.0 KB)`, `+1 (555) 010`: adjacent data is one piece of data.
        if let Some(before) = (c == ')').then(|| self.text.strip_suffix("* (*")).flatten() {
            let end = before.len() + MASK.len_utf8();
            self.cut(end);
            self.run = Some(end);
            return;
        }
        self.text.push(c);
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
                self.run = Some(self.text.len());
                self.partly = None;
            }
        }
        self.since_mask = Some(0);
        self.remember("");
    }

    pub fn word(&mut self, word: &str) {
        let singular = match &mut self.since_mask {
            Some(count) if *count < 3 => {
                *count += 1;
                words::singular(word)
            }
            _ => word,
        };
        // A list of numbered names reads like one of them: `blk_*, blk_*`.
        match self.partly {
            Some((start, end)) if self.text[start..end] == *singular => self.cut(end),
            _ => {
                let start = self.text.len();
                self.text.push_str(singular);
                self.partly = singular.contains(MASK).then_some((start, self.text.len()));
            }
        }
        self.run = None;
        self.remember(word);
    }

    /// Removes the output after a position, and what is known about it.
    fn cut(&mut self, end: usize) {
        self.text.truncate(end);
        // A star may be part of the message itself rather than a mask: `int * (*) fn`.
        self.partly.take_if(|(_, partly_end)| *partly_end > end);
    }

    fn remember(&mut self, word: &str) {
        self.before.swap(0, 1);
        self.before[0].clear();
        self.before[0].push_str(head(word, 64));
        self.before[0].make_ascii_lowercase();
    }
}
