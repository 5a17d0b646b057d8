//! `dlo classify`: reads error records or SQS messages as lines of JSON, and writes classifications as lines of JSON.
//!
//! Output keeps the order of the input. Each record and each message has one output line; blank lines have none. An
//! invalid line is reported, and the next one is classified. Output is flushed with each chunk of input, so it works interactively in a pipe. With `--merge` all output
//! waits for the end of the input, because merging needs all fingerprints.

mod pending;

use domain::id::GroupId;
use domain::message::{Attribute, AttributeValue, Attributes, Content, DeadMessage, SystemAttributes};
use domain::policy::Policy;
use domain::read::json::{self, Raw};
use domain::read::{classify_failure, read, skeleton};
use domain::reading::{Category, Class, Classification, Failure};
use domain::time::Timestamp;
use pending::{Classified, Line, Pending};
use serde::Serialize;
use serde_json::Value;
use std::io::{self, BufRead, Write};

/// The longest line that is parsed. Fits an SQS message of 1 MiB several times, with all its JSON escapes.
const LINE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// The output for a classified letter.
#[derive(Serialize)]
struct Answer<'a> {
    id: Option<&'a Value>,
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
    id: Option<&'a Value>,
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

/// Classifies every line. Returns whether all lines were valid.
pub fn run(mut input: impl BufRead, mut output: impl Write, mode: Mode) -> io::Result<bool> {
    let pending = (mode == Mode::Merge).then(Pending::default);
    let mut classifier =
        Classifier { policy: Policy::default(), output: Vec::new(), pending, line: 0, all_valid: true };
    let mut buffer = LineBuffer::default();
    loop {
        let chunk = match input.fill_buf() {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            chunk => chunk?,
        };
        let length = chunk.len();
        let mut unread = chunk;
        while let Some(end) = unread.iter().position(|b| *b == b'\n') {
            buffer.add(&unread[..end]);
            classifier.line(&mut buffer);
            unread = &unread[end + 1..];
        }
        buffer.add(unread);
        if length == 0 && !buffer.is_empty() {
            classifier.line(&mut buffer);
        }
        if length == 0 {
            classifier.release();
        }
        input.consume(length);
        if !classifier.output.is_empty() {
            output.write_all(&classifier.output)?;
            output.flush()?;
            classifier.output.clear();
        }
        if length == 0 {
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

struct Classifier {
    policy: Policy,
    output: Vec<u8>,
    pending: Option<Pending>,
    line: u64,
    all_valid: bool,
}

impl Classifier {
    fn line(&mut self, buffer: &mut LineBuffer) {
        self.line += 1;
        let bytes = std::mem::take(&mut buffer.bytes);
        if std::mem::take(&mut buffer.too_long) {
            self.refuse(None, &format!("the line is longer than {LINE_BYTES_MAX} bytes"));
        } else {
            match std::str::from_utf8(&bytes) {
                Ok(text) if text.trim().is_empty() => {}
                Ok(text) => self.text(text),
                Err(e) => self.refuse(None, &format!("not UTF-8: {e}")),
            }
        }
        // Reuses the allocation for the next line.
        buffer.bytes = bytes;
        buffer.bytes.clear();
    }

    fn text(&mut self, text: &str) {
        if !json::is_valid(text) {
            let why = serde_json::from_str::<serde::de::IgnoredAny>(text).err().map(|e| e.to_string());
            return self.refuse(None, &format!("not JSON: {}", why.unwrap_or_default()));
        }
        let line = Raw::new(text);
        if !line.is_object() {
            self.refuse(None, "not a JSON object");
        } else if let Some(messages) = line.get("Messages") {
            messages.elements().for_each(|message| self.message(message));
        } else if line.get("Body").is_some() || line.get("MessageId").is_some() {
            self.message(line);
        } else {
            self.record(line);
        }
    }

    /// Classifies an error record.
    fn record(&mut self, line: Raw<'_>) {
        let id = line.get("id").map(original_id);
        let mut wrong = None;
        let mut text = |name: &'static str| {
            let raw = line.get(name).filter(|raw| raw.text() != "null")?;
            let text = raw.as_scalar();
            if text.is_none() {
                wrong = Some(name);
            }
            text.filter(|text| !text.is_empty())
        };
        let failure = Failure {
            error_type: text("error_type"),
            message: text("error_message"),
            stack: text("stack_trace"),
            stated_class: None,
        };
        let body = text("body");
        if let Some(name) = wrong {
            return self.refuse(id.as_ref(), &format!("`{name}` is not a string"));
        }
        let found = classify_failure(&failure, body.as_deref(), &self.policy);
        if let Some(pending) = &mut self.pending {
            pending.add_fingerprint(&found.group, None, || skeleton(&failure, None));
        }
        self.write_or_keep(Classified {
            id,
            group: found.group,
            classification: found.classification,
            title: found.title,
        });
    }

    /// Classifies a message as `aws sqs receive-message` prints it.
    fn message(&mut self, raw: Raw<'_>) {
        let id = raw.get("MessageId").map(original_id);
        match dead_message(raw) {
            Ok(message) => {
                let found = read(&message, &self.policy);
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
            Err(error) => self.refuse(id.as_ref(), &error),
        }
    }

    fn write_or_keep(&mut self, classified: Classified) {
        match &mut self.pending {
            Some(pending) => pending.lines.push(Line::Classified(classified)),
            None => self.write(&classified, &classified.group, None),
        }
    }

    fn refuse(&mut self, id: Option<&Value>, error: &str) {
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

/// Returns an id in its original JSON type: a number stays a number.
fn original_id(raw: Raw<'_>) -> Value {
    serde_json::from_str(raw.text()).ok().or_else(|| raw.as_string().map(Value::String)).unwrap_or_default()
}

fn dead_message(raw: Raw<'_>) -> Result<DeadMessage, String> {
    let body = raw.string("Body").ok_or("`Body` is missing or not a string")?;
    let system = raw.get("Attributes");
    let text = |name: &str| system.and_then(|s| s.get(name)).and_then(Raw::as_scalar);
    let moment = |name: &str| text(name).and_then(|ms| ms.parse().ok()).map(Timestamp::from_ms);
    let attributes = raw.get("MessageAttributes").map(attributes).transpose()?.unwrap_or_default();
    Ok(DeadMessage {
        dlq: "".into(),
        message_id: raw.string("MessageId").unwrap_or_default().as_str().into(),
        content: Content {
            body,
            attributes,
            message_group_id: text("MessageGroupId"),
            trace_header: text("AWSTraceHeader"),
        },
        system: SystemAttributes {
            sent_at: moment("SentTimestamp"),
            first_received_at: moment("ApproximateFirstReceiveTimestamp"),
            receive_count: text("ApproximateReceiveCount").and_then(|n| n.parse().ok()),
            source_queue: text("DeadLetterQueueSourceArn").as_deref().map(Into::into),
            deduplication_id: text("MessageDeduplicationId"),
            sequence_number: text("SequenceNumber"),
            sender_id: text("SenderId"),
        },
    })
}

fn attributes(raw: Raw<'_>) -> Result<Attributes, String> {
    raw.members().map(|(name, value)| Ok((name.to_string(), attribute(name, value)?))).collect()
}

fn attribute(name: &str, raw: Raw<'_>) -> Result<Attribute, String> {
    let data_type = raw.string("DataType").ok_or_else(|| format!("attribute `{name}` has no `DataType`"))?;
    let value = raw.string("StringValue").map(AttributeValue::Text);
    let value = value.or_else(|| raw.string("BinaryValue").map(AttributeValue::Binary));
    Ok(Attribute { data_type, value: value.ok_or_else(|| format!("attribute `{name}` has no value"))? })
}

#[cfg(test)]
#[path = "classify/tests.rs"]
mod tests;
