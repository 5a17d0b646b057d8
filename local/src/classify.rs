//! `dlo classify`: error records or SQS messages on lines of JSON in, verdicts on lines of JSON out.
//!
//! Order is kept, every line gets an answer, and a bad line never stops the rest. Answers are flushed with each
//! chunk of input, so it works in a pipe that a person types into. With `--merge` they wait for the end of the input,
//! because only all fingerprints together tell which of them are one group.

mod held;

use domain::id::GroupId;
use domain::message::{Attribute, AttributeValue, Attributes, Content, DeadMessage, SystemAttributes};
use domain::policy::Policy;
use domain::read::json::{self, Raw};
use domain::read::{classify_failure, read, skeleton};
use domain::reading::{Category, Class, Classification, Failure};
use domain::time::Timestamp;
use held::{Held, Line, Verdict};
use serde::Serialize;
use serde_json::Value;
use std::io::{self, BufRead, Write};

/// The longest line that is read: an SQS message of 1 MiB fits several times, with all its JSON escapes.
const LINE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// An answer that has a verdict.
#[derive(Serialize)]
struct Answer<'a> {
    id: Option<&'a Value>,
    fingerprint: &'a str,
    /// The letter's own fingerprint, where `fingerprint` is that of the group it was merged into.
    #[serde(skip_serializing_if = "Option::is_none")]
    own_fingerprint: Option<&'a str>,
    class: Class,
    category: Category,
    confidence: u8,
    reason: &'a str,
    title: &'a str,
}

/// An answer to a line that could not be read.
#[derive(Serialize)]
struct Refusal<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a Value>,
    line: u64,
    error: &'a str,
}

/// When an answer is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// At once, by the letter alone.
    Stream,
    /// When all is read, with the fingerprint of the group that it was merged into. About 0.5 kB a line is kept.
    Merge,
}

/// Answers every line. True when all of them could be read.
pub fn run(mut input: impl BufRead, mut output: impl Write, mode: Mode) -> io::Result<bool> {
    let held = (mode == Mode::Merge).then(Held::default);
    let mut office = Office { policy: Policy::default(), answers: Vec::new(), held, line: 0, all_good: true };
    let mut pending = Pending::default();
    loop {
        let chunk = match input.fill_buf() {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            chunk => chunk?,
        };
        let length = chunk.len();
        let mut rest = chunk;
        while let Some(end) = rest.iter().position(|b| *b == b'\n') {
            pending.add(&rest[..end]);
            office.answer(&mut pending);
            rest = &rest[end + 1..];
        }
        pending.add(rest);
        if length == 0 && !pending.is_empty() {
            office.answer(&mut pending);
        }
        if length == 0 {
            office.release();
        }
        input.consume(length);
        if !office.answers.is_empty() {
            output.write_all(&office.answers)?;
            output.flush()?;
            office.answers.clear();
        }
        if length == 0 {
            return Ok(office.all_good);
        }
    }
}

/// The line that is being put together, never longer than it may be.
#[derive(Default)]
struct Pending {
    bytes: Vec<u8>,
    too_long: bool,
}

impl Pending {
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

struct Office {
    policy: Policy,
    answers: Vec<u8>,
    held: Option<Held>,
    line: u64,
    all_good: bool,
}

impl Office {
    fn answer(&mut self, pending: &mut Pending) {
        self.line += 1;
        let bytes = std::mem::take(&mut pending.bytes);
        if std::mem::take(&mut pending.too_long) {
            self.refuse(None, &format!("the line is longer than {LINE_BYTES_MAX} bytes"));
        } else {
            match std::str::from_utf8(&bytes) {
                Ok(text) if text.trim().is_empty() => {}
                Ok(text) => self.answer_text(text),
                Err(e) => self.refuse(None, &format!("not UTF-8: {e}")),
            }
        }
        // The buffer is kept for the next line.
        pending.bytes = bytes;
        pending.bytes.clear();
    }

    fn answer_text(&mut self, text: &str) {
        if !json::is_valid(text) {
            let why = serde_json::from_str::<serde::de::IgnoredAny>(text).err().map(|e| e.to_string());
            return self.refuse(None, &format!("not JSON: {}", why.unwrap_or_default()));
        }
        let line = Raw::of(text);
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

    /// An error record.
    fn record(&mut self, line: Raw<'_>) {
        let id = line.get("id").map(as_it_came);
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
            return self.refuse(id.as_ref(), &format!("`{name}` is not a text"));
        }
        let found = classify_failure(&failure, body.as_deref(), &self.policy);
        if let Some(held) = &mut self.held {
            held.meet(&found.group, None, || skeleton(&failure, None));
        }
        self.give(Verdict { id, group: found.group, classification: found.classification, title: found.title });
    }

    /// A message as `aws sqs receive-message` prints it.
    fn message(&mut self, raw: Raw<'_>) {
        let id = raw.get("MessageId").map(as_it_came);
        match dead_message(raw) {
            Ok(message) => {
                let found = read(&message, &self.policy);
                if let Some(held) = &mut self.held {
                    held.meet(&found.group, found.sent_at, || {
                        skeleton(&found.diagnosis.failure, found.main_queue.as_ref())
                    });
                }
                self.give(Verdict {
                    id,
                    group: found.group,
                    classification: found.diagnosis.classification,
                    title: found.diagnosis.title,
                });
            }
            Err(error) => self.refuse(id.as_ref(), &error),
        }
    }

    fn give(&mut self, verdict: Verdict) {
        match &mut self.held {
            Some(held) => held.lines.push(Line::Verdict(verdict)),
            None => self.write(&verdict, &verdict.group, None),
        }
    }

    fn refuse(&mut self, id: Option<&Value>, error: &str) {
        self.all_good = false;
        let line = self.line;
        match &mut self.held {
            Some(held) => held.lines.push(Line::Refusal { id: id.cloned(), line, error: error.to_owned() }),
            None => self.write_line(&Refusal { id, line, error }),
        }
    }

    /// Writes what was held, with the fingerprints of the groups.
    fn release(&mut self) {
        let Some(held) = self.held.take() else { return };
        let aliases = held.aliases();
        for line in &held.lines {
            match line {
                Line::Verdict(verdict) => {
                    let group = aliases.get(&verdict.group).unwrap_or(&verdict.group);
                    self.write(verdict, group, Some(verdict.group.as_str()));
                }
                Line::Refusal { id, line, error } => {
                    self.write_line(&Refusal { id: id.as_ref(), line: *line, error });
                }
            }
        }
    }

    fn write(&mut self, verdict: &Verdict, group: &GroupId, own_fingerprint: Option<&str>) {
        let Classification { class, category, confidence, reason } = &verdict.classification;
        let (id, fingerprint, title) = (verdict.id.as_ref(), group.as_str(), verdict.title.as_str());
        let (class, category, confidence) = (*class, *category, confidence.as_pct());
        self.write_line(&Answer { id, fingerprint, own_fingerprint, class, category, confidence, reason, title });
    }

    fn write_line(&mut self, answer: &impl Serialize) {
        // Texts and numbers into memory: there is nothing that could fail.
        let _ = serde_json::to_writer(&mut self.answers, answer);
        self.answers.push(b'\n');
    }
}

/// An id goes back as it came: a number stays a number.
fn as_it_came(raw: Raw<'_>) -> Value {
    serde_json::from_str(raw.text()).ok().or_else(|| raw.as_string().map(Value::String)).unwrap_or_default()
}

fn dead_message(raw: Raw<'_>) -> Result<DeadMessage, String> {
    let body = raw.string("Body").ok_or("`Body` is missing or not a text")?;
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
