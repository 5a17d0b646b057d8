//! Validation of JSON without recursion.

use alloc::vec::Vec;

/// Whether the whole text is one JSON value (RFC 8259). Each level of depth costs one byte of heap, and no stack.
pub fn is_valid(text: &str) -> bool {
    Validator { bytes: text.as_bytes(), at: 0, objects: Vec::new() }.run().is_some()
}

struct Validator<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The kind of each open bracket, true for an object.
    objects: Vec<bool>,
}

impl Validator<'_> {
    fn run(&mut self) -> Option<()> {
        loop {
            if !self.value()? {
                continue;
            }
            // After a value: close open brackets, then a comma leads to the next value.
            loop {
                self.blanks();
                let Some(&object) = self.objects.last() else {
                    return (self.at == self.bytes.len()).then_some(());
                };
                match self.next()? {
                    b',' => {
                        self.blanks();
                        if object {
                            self.key()?;
                        }
                        break;
                    }
                    b'}' if object => drop(self.objects.pop()),
                    b']' if !object => drop(self.objects.pop()),
                    _ => return None,
                }
            }
        }
    }

    /// Reads a scalar or an empty container (true), or enters a container up to its first value (false).
    fn value(&mut self) -> Option<bool> {
        self.blanks();
        match self.next()? {
            b'{' => {
                self.blanks();
                if self.peek() == Some(b'}') {
                    self.at += 1;
                    return Some(true);
                }
                self.objects.push(true);
                self.key()?;
                Some(false)
            }
            b'[' => {
                self.blanks();
                if self.peek() == Some(b']') {
                    self.at += 1;
                    return Some(true);
                }
                self.objects.push(false);
                Some(false)
            }
            b'"' => self.string().map(|()| true),
            b't' => self.word(b"rue"),
            b'f' => self.word(b"alse"),
            b'n' => self.word(b"ull"),
            b'-' => self.next().and_then(|first| self.number(first)),
            first => self.number(first),
        }
    }

    fn key(&mut self) -> Option<()> {
        (self.next()? == b'"').then_some(())?;
        self.string()?;
        self.blanks();
        (self.next()? == b':').then_some(())
    }

    fn string(&mut self) -> Option<()> {
        loop {
            match self.next()? {
                b'"' => return Some(()),
                b'\\' => match self.next()? {
                    b'u' => {
                        for _ in 0..4 {
                            self.next()?.is_ascii_hexdigit().then_some(())?;
                        }
                    }
                    b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {}
                    _ => return None,
                },
                0..=0x1f => return None,
                _ => {}
            }
        }
    }

    fn number(&mut self, first: u8) -> Option<bool> {
        match first {
            b'0' => {}
            b'1'..=b'9' => self.digits(),
            _ => return None,
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.next()?.is_ascii_digit().then_some(())?;
            self.digits();
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.next()?.is_ascii_digit().then_some(())?;
            self.digits();
        }
        Some(true)
    }

    fn digits(&mut self) {
        while self.peek().is_some_and(|b| b.is_ascii_digit()) {
            self.at += 1;
        }
    }

    fn word(&mut self, rest: &[u8]) -> Option<bool> {
        self.bytes[self.at..].starts_with(rest).then(|| {
            self.at += rest.len();
            true
        })
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }
}
