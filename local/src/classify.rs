//! `dlo classify`: reads error records or SQS messages as lines of JSON, and writes classifications as lines of JSON.
//!
//! Output keeps the order of the input. Each record and each message has one output line; blank lines have none. An
//! invalid line is reported, and the next one is classified. Output is flushed with each chunk of input, so it works
//! interactively in a pipe. With `--merge` all output waits for the end of the input, because merging needs all
//! fingerprints.

mod help;
mod id;
mod letter;
mod notices;
mod pending;
mod record;

pub use help::HELP;

use domain::id::GroupId;
use domain::policy::Policy;
use domain::read::json::{self, Raw};
use domain::read::{classify_failure, read, skeleton};
use domain::reading::{Category, Class, Classification, Reading};
use id::Id;
use notices::{Notices, listed};
use pending::{Classified, Line, Pending};
use record::Record;
use serde::Serialize;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, IsTerminal, Write};
use std::path::Path;

/// The longest line that is parsed. Fits an SQS message of 1 MiB several times, with all its JSON escapes.
const LINE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// The output for a classified letter.
#[derive(Serialize)]
struct Answer<'a> {
    id: Option<&'a Id>,
    fingerprint: &'a str,
    /// The letter's own fingerprint, if `fingerprint` is that of the group it was merged into.
    #[serde(skip_serializing_if = "Option::is_none")]
    own_fingerprint: Option<&'a str>,
    class: Class,
    category: Category,
    confidence: u8,
    reason: &'a str,
    title: &'a str,
}

/// The output for an invalid line.
#[derive(Serialize)]
struct Refusal<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a Id>,
    line: u64,
    error: &'a str,
}

/// When output is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// At once, from each letter by itself.
    Stream,
    /// After all input is read, with the fingerprint of the group that the letter was merged into. Keeps about 0.5 kB
    /// per line in memory.
    Merge,
}

/// Why nothing could be classified.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be opened.
    #[error("cannot open {0}")]
    File(String, #[source] io::Error),
    /// Reading or writing failed.
    #[error("cannot read the input or write the output")]
    Io(#[from] io::Error),
}

/// Classifies the lines of a file, or those of stdin without one or for `-`. Returns whether all lines were valid.
pub fn cli(file: Option<&Path>, mode: Mode) -> Result<bool, Error> {
    let output = BufWriter::new(io::stdout().lock());
    let stderr = io::stderr();
    match file.filter(|file| file.as_os_str() != "-") {
        Some(path) => {
            let file = File::open(path).map_err(|error| Error::File(path.display().to_string(), error))?;
            // Linux opens a directory, and refuses only to read it.
            if file.metadata()?.is_dir() {
                let error = io::Error::from(io::ErrorKind::IsADirectory);
                return Err(Error::File(path.display().to_string(), error));
            }
            until_closed(run(BufReader::new(file), output, stderr, mode))
        }
        None => {
            if io::stdin().is_terminal() {
                // Who sees no prompt waits for the program, which waits for them.
                let _ = writeln!(&stderr, "dlo classify: reading JSON lines from the terminal; Ctrl-D ends the input.");
            }
            until_closed(run(io::stdin().lock(), output, stderr, mode))
        }
    }
}

/// Takes a reader that has seen enough, such as `head`, for the end of the input.
fn until_closed(result: io::Result<bool>) -> Result<bool, Error> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(true),
        result => Ok(result?),
    }
}

/// Classifies every line, and says on `notices` which fields were ignored. Returns whether all lines were valid.
pub fn run(mut input: impl BufRead, mut output: impl Write, notices: impl Write, mode: Mode) -> io::Result<bool> {
    let pending = (mode == Mode::Merge).then(Pending::default);
    let mut classifier = Classifier {
        policy: Policy::default(),
        output: Vec::new(),
        notices: Notices::new(notices),
        pending,
        line: 0,
        all_valid: true,
        is_refused: false,
    };
    let mut buffer = LineBuffer::default();
    loop {
        let chunk = match input.fill_buf() {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            chunk => chunk?,
        };
        let length = chunk.len();
        let mut unread = chunk;
        while let Some(end) = unread.iter().position(|b| *b == b'\n').filter(|_| !classifier.is_refused) {
            buffer.add(&unread[..end]);
            classifier.line(&mut buffer);
            unread = &unread[end + 1..];
        }
        buffer.add(unread);
        if length == 0 && !buffer.is_empty() {
            classifier.line(&mut buffer);
        }
        let is_over = length == 0 || classifier.is_refused;
        if is_over {
            classifier.release();
        }
        input.consume(length);
        if !classifier.output.is_empty() {
            output.write_all(&classifier.output)?;
            output.flush()?;
            classifier.output.clear();
        }
        if is_over {
            return Ok(classifier.all_valid);
        }
    }
}

/// The current input line, dropped once it is longer than allowed.
#[derive(Default)]
struct LineBuffer {
    bytes: Vec<u8>,
    too_long: bool,
}

impl LineBuffer {
    fn add(&mut self, part: &[u8]) {
        self.too_long |= self.bytes.len() + part.len() > LINE_BYTES_MAX;
        if self.too_long {
            self.bytes = Vec::new();
        } else {
            self.bytes.extend_from_slice(part);
        }
    }

    fn is_empty(&self) -> bool {
        self.bytes.is_empty() && !self.too_long
    }
}

struct Classifier<N> {
    policy: Policy,
    output: Vec<u8>,
    notices: Notices<N>,
    pending: Option<Pending>,
    line: u64,
    all_valid: bool,
    /// Whether no further line can be read.
    is_refused: bool,
}

impl<N: Write> Classifier<N> {
    fn line(&mut self, buffer: &mut LineBuffer) {
        self.line += 1;
        let bytes = std::mem::take(&mut buffer.bytes);
        if std::mem::take(&mut buffer.too_long) {
            self.refuse(None, &format!("the line is longer than {LINE_BYTES_MAX} bytes"));
        } else if self.line == 1 && is_utf_16(&bytes) {
            self.refuse(None, "the input is UTF-16: save it as UTF-8. No line was classified");
            self.is_refused = true;
        } else {
            match std::str::from_utf8(&bytes) {
                Ok(text) => self.text(without_mark(text, self.line)),
                Err(e) => self.refuse(None, &format!("not UTF-8: {e}")),
            }
        }
        // Reuses the allocation for the next line.
        buffer.bytes = bytes;
        buffer.bytes.clear();
    }

    fn text(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        if !json::is_valid(text) {
            let why = why_not(text);
            return self.refuse(None, &format!("not JSON: {why}. A line is one whole object, as `jq -c .` prints it"));
        }
        let line = Raw::new(text);
        if !line.is_object() {
            self.refuse(None, "not a JSON object. `jq -c '.[]'` prints the objects of an array as lines");
        } else if let Some(messages) = letter::batch(line) {
            messages.elements().for_each(|message| self.message(message));
        } else {
            self.record(line);
        }
    }

    /// Classifies an error record, or a message that no error stands beside. A line with no field of either may be the
    /// body of a letter: what Lambda sends to a destination, or an error envelope.
    fn record(&mut self, line: Raw<'_>) {
        let record = match record::read(line) {
            Ok(record) => record,
            Err(refused) => return self.refuse(refused.id.as_ref(), &refused.error),
        };
        if record.failure.is_empty() && letter::is_letter(line) {
            return self.message(line);
        }
        if !record.has_field {
            let found = read(&letter::of_body(line.text().to_owned()), &self.policy);
            if !found.diagnosis.failure.is_empty() {
                return self.reading(record.id, found);
            }
            if !record.failure.is_empty() {
                return self.failure(record);
            }
            let what = match record.ignored.as_slice() {
                [] => "nothing to classify".to_owned(),
                ignored => format!("nothing to classify in {}", listed(ignored)),
            };
            return self.refuse(record.id.as_ref(), &format!("{what}. Known fields: {}", record::KNOWN));
        }
        self.failure(record);
    }

    fn failure(&mut self, record: Record) {
        self.notices.ignored(self.line, record.ignored);
        let found = classify_failure(&record.failure, record.body.as_deref(), &self.policy);
        if let Some(pending) = &mut self.pending {
            pending.add_fingerprint(&found.group, None, || skeleton(&record.failure, None));
        }
        self.write_or_keep(Classified {
            id: record.id,
            group: found.group,
            classification: found.classification,
            title: found.title,
        });
    }

    /// Classifies a message.
    fn message(&mut self, raw: Raw<'_>) {
        let id = letter::id(raw).map(Id::new);
        match letter::read(raw) {
            Ok(message) => {
                let found = read(&message, &self.policy);
                self.reading(id, found);
            }
            Err(error) => self.refuse(id.as_ref(), &error),
        }
    }

    fn reading(&mut self, id: Option<Id>, found: Reading) {
        if let Some(pending) = &mut self.pending {
            pending.add_fingerprint(&found.group, found.sent_at, || {
                skeleton(&found.diagnosis.failure, found.main_queue.as_ref())
            });
        }
        self.write_or_keep(Classified {
            id,
            group: found.group,
            classification: found.diagnosis.classification,
            title: found.diagnosis.title,
        });
    }

    fn write_or_keep(&mut self, classified: Classified) {
        match &mut self.pending {
            Some(pending) => pending.lines.push(Line::Classified(classified)),
            None => self.write(&classified, &classified.group, None),
        }
    }

    fn refuse(&mut self, id: Option<&Id>, error: &str) {
        self.all_valid = false;
        let line = self.line;
        match &mut self.pending {
            Some(pending) => pending.lines.push(Line::Refusal { id: id.cloned(), line, error: error.to_owned() }),
            None => self.write_line(&Refusal { id, line, error }),
        }
    }

    /// Writes the pending output, with the fingerprints of the groups.
    fn release(&mut self) {
        let Some(pending) = self.pending.take() else { return };
        let aliases = pending.aliases();
        for line in &pending.lines {
            match line {
                Line::Classified(classified) => {
                    let group = aliases.get(&classified.group).unwrap_or(&classified.group);
                    self.write(classified, group, Some(classified.group.as_str()));
                }
                Line::Refusal { id, line, error } => {
                    self.write_line(&Refusal { id: id.as_ref(), line: *line, error });
                }
            }
        }
    }

    fn write(&mut self, classified: &Classified, group: &GroupId, own_fingerprint: Option<&str>) {
        let Classification { class, category, confidence, reason } = &classified.classification;
        let (id, fingerprint, title) = (classified.id.as_ref(), group.as_str(), classified.title.as_str());
        let (class, category, confidence) = (*class, *category, confidence.as_pct());
        self.write_line(&Answer { id, fingerprint, own_fingerprint, class, category, confidence, reason, title });
    }

    fn write_line(&mut self, answer: &impl Serialize) {
        // Writing strings and numbers to memory cannot fail.
        let _ = serde_json::to_writer(&mut self.output, answer);
        self.output.push(b'\n');
    }
}

/// Returns why a line is no JSON, and where in it. The parser counts lines, too, but it is given only this one.
fn why_not(line: &str) -> String {
    let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(line) else { return "it ends early".to_owned() };
    let said = error.to_string();
    let what = said.rsplit_once(" at line ").map_or(said.as_str(), |(what, _)| what);
    format!("{what} at column {}", error.column())
}

/// Whether the first line is UTF-16, as PowerShell's `>` writes it. Half the bytes of ASCII are zero then.
fn is_utf_16(line: &[u8]) -> bool {
    let is_marked = line.starts_with(b"\xff\xfe") || line.starts_with(b"\xfe\xff");
    line.contains(&0) && (is_marked || line.iter().take(2).filter(|byte| **byte == 0).count() == 1)
}

/// Returns a line without the byte order mark that some programs write at the beginning of a file.
fn without_mark(text: &str, line: u64) -> &str {
    if line == 1 { text.trim_start_matches('\u{feff}') } else { text }
}

#[cfg(test)]
#[path = "classify/tests.rs"]
mod tests;
