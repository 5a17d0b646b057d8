//! The template as it grows: masks and lists collapse, the words before the cursor are kept in mind.

use super::{MASK, head, words};
use alloc::string::String;

/// The template as it grows.
#[derive(Default)]
pub struct Out {
    pub text: String,
    /// The last two words, in lower case.
    pub before: [String; 2],
    /// Words since the last mask; a few words after a number lose their plural.
    since_mask: Option<u8>,
    /// Where the last mask ends, and whether only separators came since.
    pub run: Option<usize>,
    /// Where the last word that is masked in part stands, while only separators came since.
    partly: Option<(usize, usize)>,
}

impl Out {
    pub fn blank(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with(' ') {
            self.text.push(' ');
        }
    }

    pub fn punctuation(&mut self, c: char) {
        // `18446 bytes (18.0 KB)`, `+1 (555) 010`: data beside data is the same data.
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
        // A list of names with numbers reads like one of them: `blk_*, blk_*`.
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

    /// Takes back what was written beyond a place, and what is known of it.
    fn cut(&mut self, end: usize) {
        self.text.truncate(end);
        // What looks like a mask may be a star of the message itself, a word: `int * (*) fn`.
        self.partly.take_if(|(_, partly_end)| *partly_end > end);
    }

    fn remember(&mut self, word: &str) {
        self.before.swap(0, 1);
        self.before[0].clear();
        self.before[0].push_str(head(word, 64));
        self.before[0].make_ascii_lowercase();
    }
}
