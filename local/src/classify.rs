//! `dlo classify`: error records or SQS messages on lines of JSON in, verdicts on lines of JSON out.
//!
//! Order is kept, every line gets an answer, and a bad line never stops the rest. Answers are flushed with each
//! chunk of input, so it works in a pipe that a person types into.

use domain::message::{Attribute, AttributeValue, Attributes, Content, DeadMessage, SystemAttributes};
use domain::policy::Policy;
use domain::read::json::{self, Raw};
use domain::read::{classify_failure, read};
use domain::reading::{Category, Class, Classification, Failure};
use domain::time::Timestamp;
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

/// Answers every line. True when all of them could be read.
pub fn run(mut input: impl BufRead, mut output: impl Write) -> io::Result<bool> {
    let mut office = Office { policy: Policy::default(), answers: Vec::new(), line: 0, all_good: true };
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
        let verdict = classify_failure(&failure, body.as_deref(), &self.policy);
        self.write(id.as_ref(), verdict.group.as_str(), &verdict.classification, &verdict.title);
    }

    /// A message as `aws sqs receive-message` prints it.
    fn message(&mut self, raw: Raw<'_>) {
        let id = raw.get("MessageId").map(as_it_came);
        match dead_message(raw) {
            Ok(message) => {
                let reading = read(&message, &self.policy);
                self.write(id.as_ref(), reading.group.as_str(), &reading.classification, &reading.title);
            }
            Err(error) => self.refuse(id.as_ref(), &error),
        }
    }

    fn write(&mut self, id: Option<&Value>, fingerprint: &str, classification: &Classification, title: &str) {
        let Classification { class, category, confidence, reason } = classification;
        let (class, category, confidence) = (*class, *category, confidence.as_pct());
        self.write_line(&Answer { id, fingerprint, class, category, confidence, reason, title });
    }

    fn refuse(&mut self, id: Option<&Value>, error: &str) {
        self.all_good = false;
        self.write_line(&Refusal { id, line: self.line, error });
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
mod tests {
    use super::*;

    fn answers(input: &str) -> (Vec<serde_json::Value>, bool) {
        let mut output = Vec::new();
        // A tiny buffer, so that lines are put together from many chunks.
        let good = run(io::BufReader::with_capacity(7, input.as_bytes()), &mut output).unwrap();
        (
            output
                .split(|b| *b == b'\n')
                .filter(|l| !l.is_empty())
                .map(|l| serde_json::from_slice(l).unwrap())
                .collect(),
            good,
        )
    }

    #[test]
    fn records_are_answered_in_order() {
        let (got, good) = answers(
            "{\"id\":\"1\",\"error_message\":\"order 7 is closed\"}\n\n{\"id\":2,\"error_message\":\"order 8 is closed\",\"stack_trace\":null,\"body\":\"\"}",
        );
        assert!(good);
        assert_eq!((&got[0]["id"], &got[1]["id"]), (&"1".into(), &2.into()));
        assert_eq!(got[0]["fingerprint"], got[1]["fingerprint"]);
        assert_eq!(got[0]["title"], "order * is closed");
        assert_eq!(got[0]["class"], "unknown");
    }

    #[test]
    fn a_bad_line_is_answered_and_the_next_one_too() {
        let (got, good) = answers("{\n[1]\n{\"id\":\"x\",\"error_type\":{}}\n{\"id\":\"y\"}\n");
        assert!(!good);
        assert_eq!(got.len(), 4);
        assert_eq!(got[0]["line"], 1);
        assert!(got[1]["error"].is_string());
        assert_eq!((&got[2]["id"], &got[2]["line"]), (&"x".into(), &3.into()));
        assert_eq!(got[3]["id"], "y");
    }

    #[test]
    fn messages_are_read_as_the_aws_command_prints_them() {
        let one = r#"{"MessageId":"m-1","Body":"{\"type\":\"order.placed\"}","Attributes":{"SentTimestamp":"1763600000000","DeadLetterQueueSourceArn":"arn:q"},"MessageAttributes":{"dlo.failure":{"DataType":"String","StringValue":"{\"v\":1,\"message\":\"boom\",\"class\":\"permanent\"}"},"raw":{"DataType":"Binary","BinaryValue":"AAE="}}}"#;
        let (got, good) = answers(&format!("{one}\n{{\"Messages\":[{one},{{\"MessageId\":\"m-2\"}}]}}\n"));
        assert!(!good);
        assert_eq!(got.len(), 3);
        assert_eq!(
            (&got[0]["id"], &got[0]["class"], &got[0]["title"]),
            (&"m-1".into(), &"permanent".into(), &"boom".into())
        );
        assert_eq!(got[0], got[1]);
        assert_eq!((&got[2]["id"], &got[2]["line"]), (&"m-2".into(), &2.into()));
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped_whole() {
        let long = format!("{{\"id\":\"{}\"}}\n{{\"id\":\"z\"}}\n", "x".repeat(LINE_BYTES_MAX));
        let mut output = Vec::new();
        assert!(!run(long.as_bytes(), &mut output).unwrap());
        let text = String::from_utf8(output).unwrap();
        assert!(text.contains("longer than") && text.contains("\"id\":\"z\""));
    }

    #[test]
    fn lone_surrogates_and_bytes_that_are_no_text_do_not_stop_it() {
        let mut input = b"\xff\xfe\n".to_vec();
        input.extend(br#"{"id":"s","error_message":"cut \ud83d"}"#);
        let mut output = Vec::new();
        assert!(!run(&input[..], &mut output).unwrap());
        let text = String::from_utf8(output).unwrap();
        assert!(text.contains("not UTF-8") && text.contains("\"id\":\"s\""));
    }
}
