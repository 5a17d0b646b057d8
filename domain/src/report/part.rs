//! Cutting a report to its limits, and into parts.

use super::{ERRORS_MAX, LOG_LINES_MAX, REPORT_BYTES_MAX, Report, ReportedError, ReportedMessage};
use crate::id::{MessageId, QueueArn};
use crate::text::{head, is_hidden, tail};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The longest name, type, version or id, bytes: generous for every real one.
const NAME_BYTES_MAX: usize = 512;
/// The longest request id, bytes. Lambda's have 36.
const REQUEST_BYTES_MAX: usize = 200;
/// The longest message of an error, bytes.
const MESSAGE_BYTES_MAX: usize = 8 * 1024;
/// The longest stack trace, bytes: some hundred frames.
const STACK_BYTES_MAX: usize = 16 * 1024;
/// The longest log line, bytes.
const LINE_BYTES_MAX: usize = 2 * 1024;
/// The most that everything but the messages may take, so that each part has room for some hundred messages.
const HEAD_BYTES_MAX: usize = REPORT_BYTES_MAX / 2;
/// The bytes between two messages, and the closing bracket: what one message adds besides itself.
const SEPARATOR_BYTES: usize = 1;
/// The key of the list, the brackets, and the numbers of the parts.
const FRAME_BYTES: usize = 64;

const _: () = assert!(HEAD_BYTES_MAX + FRAME_BYTES + 8 * NAME_BYTES_MAX < REPORT_BYTES_MAX);

impl Report {
    /// Returns the report as JSON texts of at most [`REPORT_BYTES_MAX`] bytes each, in characters that SQS accepts. One
    /// text has room for about a thousand messages; a larger batch makes several texts that differ in their messages.
    ///
    /// Texts that are too long are shortened, all by the same factor: a message keeps its beginning, a stack its
    /// beginning and its end.
    pub fn parts(&self) -> Vec<String> {
        let mut head = Self { messages: Vec::new(), part: None, parts: None, ..self.clone() }.shortened();
        head.batch_size = Some(u32::try_from(self.batch_size()).unwrap_or(u32::MAX));
        let room = REPORT_BYTES_MAX - to_json(&head).len() - FRAME_BYTES;
        let mut lists: Vec<Vec<ReportedMessage>> = Vec::new();
        let mut left = 0;
        for message in &self.messages {
            let message = message.bounded();
            let bytes = to_json(&message).len() + SEPARATOR_BYTES;
            if lists.is_empty() || bytes > left {
                lists.push(Vec::new());
                left = room;
            }
            left = left.saturating_sub(bytes);
            if let Some(list) = lists.last_mut() {
                list.push(message);
            }
        }
        if lists.len() <= 1 {
            head.messages = lists.pop().unwrap_or_default();
            return Vec::from([to_json(&head)]);
        }
        let parts = u16::try_from(lists.len()).ok();
        let numbered = lists.into_iter().zip(1_u16..);
        numbered.map(|(messages, n)| to_json(&Self { messages, part: Some(n), parts, ..head.clone() })).collect()
    }

    /// Returns the report with every text and list cut to its limit.
    pub(super) fn bounded(mut self) -> Self {
        self.cut(1);
        self.messages.truncate(super::BATCH_MESSAGES_MAX);
        self.messages = self.messages.iter().map(ReportedMessage::bounded).collect();
        self
    }

    /// Cuts texts until they fit into [`HEAD_BYTES_MAX`] as JSON.
    fn shortened(self) -> Self {
        // A byte takes at most six as JSON: the last divisor fits whatever the texts are.
        for divisor in [1, 2, 4, 8, 16, 32] {
            let mut cut = self.clone();
            cut.cut(divisor);
            if to_json(&cut).len() <= HEAD_BYTES_MAX {
                return cut;
            }
        }
        let mut least = self;
        least.errors.clear();
        least.cut(64);
        least
    }

    /// Cuts the names of the function and of where it ran.
    pub(super) fn cut_names(&mut self, bytes: usize) {
        cut_name(&mut self.function, bytes);
        let names = [&mut self.version, &mut self.instance, &mut self.log_group, &mut self.reporter];
        names.into_iter().flatten().for_each(|name| cut_name(name, bytes));
    }

    fn cut(&mut self, divisor: usize) {
        cut_name(&mut self.request_id, REQUEST_BYTES_MAX);
        self.cut_names(NAME_BYTES_MAX);
        self.queue = self.queue.take().map(|arn| QueueArn::new(head(arn.as_str(), NAME_BYTES_MAX)));
        self.errors.truncate(ERRORS_MAX);
        // The errors of single messages share what one error may take.
        let share = divisor * self.errors.len().clamp(1, ERRORS_MAX);
        self.error = self.error.take().map(|error| error.cut(divisor));
        self.errors = core::mem::take(&mut self.errors).into_iter().map(|error| error.cut(share)).collect();
        let surplus = self.logs.len().saturating_sub(LOG_LINES_MAX);
        self.logs.drain(..surplus);
        for line in &mut self.logs {
            *line = middle_cut(line, LINE_BYTES_MAX / divisor);
        }
    }
}

impl ReportedError {
    fn cut(self, divisor: usize) -> Self {
        Self {
            error_type: self.error_type.map(|mut text| {
                cut_name(&mut text, NAME_BYTES_MAX / divisor.min(4));
                text
            }),
            message: self.message.map(|text| head(&text, MESSAGE_BYTES_MAX / divisor).to_string()),
            stack: self.stack.map(|text| middle_cut(&text, STACK_BYTES_MAX / divisor)),
        }
    }
}

impl ReportedMessage {
    fn bounded(&self) -> Self {
        Self {
            id: MessageId::new(head(self.id.as_str(), REQUEST_BYTES_MAX)),
            group: self.group.as_deref().map(|group| head(group, NAME_BYTES_MAX).to_string()),
            ..self.clone()
        }
    }
}

/// A name stands in titles, alerts and logs: it has one line, and nothing that changes what stands around it.
fn cut_name(text: &mut String, bytes: usize) {
    crate::text::truncate_on_char(text, bytes);
    if text.contains(is_hidden) {
        *text = text.replace(is_hidden, " ");
    }
}

/// Returns the beginning and the end of a text that is too long: both ends of a stack name the cause and the caller.
fn middle_cut(text: &str, bytes: usize) -> String {
    const GAP: &str = "\n…\n";
    if text.len() <= bytes {
        return text.to_string();
    }
    let half = bytes.saturating_sub(GAP.len()) / 2;
    format!("{}{GAP}{}", head(text, half), tail(text, half))
}

fn to_json(value: &impl serde::Serialize) -> String {
    let json = serde_json::to_string(value).unwrap_or_default();
    // JSON leaves these as they are, and SQS rejects a message that contains them.
    if json.contains(['\u{fffe}', '\u{ffff}']) { json.replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}") } else { json }
}

#[cfg(test)]
#[path = "part_tests.rs"]
mod tests;
