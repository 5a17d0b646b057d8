//! Why the letters of a group died, as the log of their consumer says it.
//!
//! SQS moves a message without a word, and most consumers report nothing. They do log. So the office looks once, for the
//! whole group, at what the consumer logged while it had the letters: by their message ids where those are logged, else
//! by what it logged most in that time. Logs are evidence for people. They decide no fingerprint, no gate and no rule
//! that approves: whoever can make a consumer log a line can write anything there.

mod file;
mod judge;
mod line;
#[cfg(test)]
#[path = "logs/logs_tests.rs"]
mod tests;

pub use file::lines;
pub use judge::{classification, judge};
pub use line::{Level, LineReading, read};

use crate::clock::is_recent;
use crate::id::MessageId;
use crate::letter::Letter;
use crate::reading::{Class, Classification, Failure};
use crate::text::{is_hidden, truncate_on_char};
use crate::time::{Span, Timestamp};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// The most searches of one office in an hour. Each makes a few calls, and CloudWatch allows five per second and account,
/// which other programs want too.
pub const SEARCHES_PER_HOUR_MAX: usize = 30;
/// The most searches of one sweep, which has other work to do within its minute.
pub const SEARCHES_PER_SWEEP_MAX: usize = 3;
/// How many of the searches of an hour are kept for those that people ask for: many new groups must not use them up.
pub const SEARCHES_FOR_PEOPLE: usize = 10;
/// The most letters whose ids are looked for. With them a filter of CloudWatch, which may have 1,024 characters, is 0.7 kB.
pub const IDS_MAX: usize = 15;
/// The most time ranges of one search: each is a call of its own.
pub const RANGES_MAX: usize = 5;
/// The longest time range: the longest time that Lambda lets an attempt run.
pub const RANGE_MAX: Span = Span::from_mins(15);
/// The most log lines of one search.
pub const LINES_MAX: usize = 2_000;
/// The most bytes of a log line that are read: the longest event that CloudWatch takes. Truncated JSON cannot be parsed.
pub const LINE_READ_BYTES_MAX: usize = 1_024 * 1_024;
/// The most bytes of a log line that are kept once it is read. A stack trace's first frames and its error are among them.
pub const LINE_BYTES_MAX: usize = 4 * 1_024;
/// How long after a group's first death its log is read: lines reach CloudWatch within seconds, and by then the group has
/// more than one letter.
const SETTLE: Span = Span::from_secs(30);
/// How long after a search without a result the office searches again by itself.
const AGAIN_AFTER: Span = Span::from_mins(10);
/// How often the office searches by itself for a group.
const TRIES_MAX: u32 = 3;
/// The length of a message id that a queue gives, bytes: a UUID has 36, one without hyphens 32. Some emulators of SQS give
/// half of one; a shorter word could stand in a log by chance.
const ID_BYTES_MIN: usize = 16;
const ID_BYTES_MAX: usize = 36;
/// How far the clocks of queue and log may differ, and how long a message may wait for the receive that dead-letters it.
const SLACK_MIN: Span = Span::from_secs(2);
const SLACK_MAX: Span = Span::from_secs(30);
/// The time within which searches are counted.
const HOUR: Span = Span::from_mins(60);

/// A log line, with the lines of text that belong to it: a stack trace, or a message of several lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// When it was logged.
    pub at: Timestamp,
    /// The beginning of its text, at most [`LINE_BYTES_MAX`].
    pub text: String,
    /// What the whole line says.
    pub reading: LineReading,
    /// Those of the ids that are looked for that the whole line contains.
    pub ids: Vec<MessageId>,
}

impl LogLine {
    /// Reads a line, and keeps its beginning. Returns `None` if it is about no error and contains none of these ids.
    pub fn find(at: Timestamp, mut text: String, ids: &[MessageId]) -> Option<Self> {
        truncate_on_char(&mut text, LINE_READ_BYTES_MAX);
        let reading = read(&text);
        let ids: Vec<_> =
            ids.iter().filter(|id| !id.as_str().is_empty() && text.contains(id.as_str())).cloned().collect();
        if reading.failure.is_none() && ids.is_empty() {
            return None;
        }
        truncate_on_char(&mut text, LINE_BYTES_MAX);
        text.shrink_to_fit();
        Some(Self { at, text, reading, ids })
    }
}

/// A time range in which letters were with their consumer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimeRange {
    /// Its beginning.
    pub from: Timestamp,
    /// Its end.
    pub to: Timestamp,
}

/// What connects an error in the log with letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Link {
    /// The log line about the error contains the letter's message id.
    #[serde(alias = "entry")]
    Line,
    /// Another log line of the same invocation contains it. With batches of several messages, the error may be another
    /// message's.
    Invocation,
}

/// What a search found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "finding")]
pub enum Finding {
    /// The log names letters.
    Named {
        /// The error that most of them have.
        error: Failure,
        /// What connects it with them.
        link: Link,
        /// The letters with this error.
        letters: u32,
        /// The letters that the log names beside any error.
        named: u32,
        /// The letters that were looked for.
        of: u32,
    },
    /// The log names no letter. This is the most frequent error of the time in which the consumer had them.
    Frequent {
        /// The error.
        error: Failure,
        /// How often it was logged.
        count: u32,
        /// How many errors were logged.
        errors: u32,
    },
    /// No error was logged in that time.
    NoErrors {
        /// How many log lines were read.
        #[serde(alias = "entries")]
        lines: u32,
    },
    /// The log could not be read.
    Unread {
        /// Why, and what to do: a sentence.
        why: String,
    },
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LogEvidence {
    /// When the log was read.
    pub at: Timestamp,
    /// The log: the name of a log group or of a file. `None` if none is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The time ranges that were read, newest first.
    #[serde(alias = "windows")]
    pub ranges: Vec<TimeRange>,
    /// Whether there was more to read than a search reads. The counts are then those of a part.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub cut: bool,
    /// What was found.
    #[serde(flatten)]
    pub finding: Finding,
    /// The class that follows from it, where one error dominates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classification: Option<Classification>,
}

/// The searches for one group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LogSearch {
    /// When a person asked for a search that has not begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wanted_at: Option<Timestamp>,
    /// When searches of the last hour began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub begun: Vec<Timestamp>,
    /// How many searches have begun.
    #[serde(default)]
    pub tries: u32,
    /// The result of the latest one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<LogEvidence>,
}

impl LogSearch {
    /// Returns how many searches began within the last hour.
    pub fn recent(&self, now: Timestamp) -> usize {
        self.begun.iter().filter(|begun| is_recent(**begun, HOUR, now)).count()
    }

    /// Returns the record of a person's wish for a search.
    #[must_use]
    pub fn wanted(&self, now: Timestamp) -> Self {
        Self { wanted_at: Some(now), ..self.clone() }
    }

    /// Returns the record of a search that begins. It is stored before the log is read, so that searches which fail count
    /// too.
    #[must_use]
    pub fn begun(&self, now: Timestamp) -> Self {
        let mut begun = self.begun.clone();
        begun.retain(|begun| is_recent(*begun, HOUR, now));
        begun.push(now);
        Self { wanted_at: None, begun, tries: self.tries.saturating_add(1), evidence: self.evidence.clone() }
    }

    /// Returns the record without the error, which may be long. Its class stays.
    #[must_use]
    pub fn slim(mut self) -> Self {
        if let Some(Finding::Named { error, .. } | Finding::Frequent { error, .. }) =
            self.evidence.as_mut().map(|evidence| &mut evidence.finding)
        {
            *error = Failure::default();
        }
        self
    }

    /// Whether the office searches by itself: soon after the first death of a group whose letters say nothing, and a few
    /// times more if that found nothing.
    pub fn is_due(search: Option<&Self>, first_died_at: Timestamp, now: Timestamp) -> bool {
        let Some(search) = search.filter(|search| search.tries > 0) else {
            return !is_recent(first_died_at, SETTLE, now);
        };
        let is_fruitless = match search.evidence.as_ref().map(|evidence| &evidence.finding) {
            Some(Finding::NoErrors { .. } | Finding::Unread { .. }) | None => true,
            Some(Finding::Named { .. } | Finding::Frequent { .. }) => false,
        };
        let waited = !search.begun.iter().any(|begun| is_recent(*begun, AGAIN_AFTER, now));
        is_fruitless && waited && search.tries < TRIES_MAX
    }
}

/// Returns the times in which the consumer had letters, newest first, and the letters whose attempts lie in them.
///
/// A letter's last attempt began a visibility timeout before it arrived in the dead-letter queue; its first one is known
/// where SQS says when it was first received. `attempt` is how long an attempt can take: the function's timeout, or the
/// visibility timeout.
pub fn ranges(letters: &[Letter], visibility: Span, attempt: Option<Span>) -> (Vec<TimeRange>, Vec<MessageId>) {
    let slack = Span::from_ms(visibility.as_ms() / 4).clamp(SLACK_MIN, SLACK_MAX);
    let attempt = attempt.unwrap_or(visibility).min(visibility).min(RANGE_MAX);
    let mut newest: Vec<&Letter> = letters.iter().collect();
    newest.sort_by(|a, b| (b.died_at, &b.id).cmp(&(a.died_at, &a.id)));
    let (mut ranges, mut ids) = (Vec::new(), Vec::new());
    for letter in newest.into_iter().take(IDS_MAX) {
        let began = letter.died_at.minus(visibility);
        let mut own = Vec::from([TimeRange {
            from: began.minus(slack),
            to: began.plus(attempt).plus(slack).min(letter.died_at),
        }]);
        // After a replay, the first attempt was another life of the message.
        if letter.replays == 0
            && let Some(first) = letter.diagnosis.first_tried_at.filter(|first| *first < began)
        {
            own.push(TimeRange { from: first.minus(SLACK_MIN), to: first.plus(attempt).plus(slack) });
        }
        let joined = own.into_iter().fold(ranges.clone(), joined);
        if joined.len() > RANGES_MAX {
            break;
        }
        ranges = joined;
        // A letter may claim its id. One that no queue gives could be any word of the log.
        if is_given_by_a_queue(&letter.original_message_id) {
            ids.push(letter.original_message_id.clone());
        }
    }
    ranges.sort_by(|a, b| b.cmp(a));
    (ranges, ids)
}

/// Whether an id looks like those of SQS, which are UUIDs: hexadecimal digits and hyphens.
fn is_given_by_a_queue(id: &MessageId) -> bool {
    let id = id.as_str();
    (ID_BYTES_MIN..=ID_BYTES_MAX).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
}

/// Adds a time range, and joins it with those that it overlaps, unless the result would be too long.
fn joined(ranges: Vec<TimeRange>, mut added: TimeRange) -> Vec<TimeRange> {
    let mut kept = Vec::new();
    for range in ranges {
        let both = TimeRange { from: range.from.min(added.from), to: range.to.max(added.to) };
        let overlaps = range.from <= added.to && added.from <= range.to;
        if overlaps && both.to.since(both.from) <= RANGE_MAX {
            added = both;
        } else {
            kept.push(range);
        }
    }
    kept.push(added);
    kept
}

/// Returns the classification for people: what the log says where the letters say nothing. Rules and the gate never use it,
/// because a log can be made to say anything.
pub fn shown<'a>(search: Option<&'a LogSearch>, own: &'a Classification) -> &'a Classification {
    let found = search.and_then(|search| search.evidence.as_ref()?.classification.as_ref());
    found.filter(|_| own.firm_class() == Class::Unknown).unwrap_or(own)
}

impl Finding {
    /// Returns the error, if one was found.
    pub fn error(&self) -> Option<&Failure> {
        match self {
            Self::Named { error, .. } | Self::Frequent { error, .. } => Some(error),
            Self::NoErrors { .. } | Self::Unread { .. } => None,
        }
    }

    /// Says what was found, and how sure it is.
    pub fn said(&self) -> String {
        match self {
            Self::Named { error, link, letters, named, of } => {
                let naming = match link {
                    Link::Line => format!("The log names {named} of {of} letters next to an error"),
                    Link::Invocation => format!("The log names the invocation of {named} of {of} letters"),
                };
                let sure = match link {
                    Link::Line => "Certain, if the log can be trusted.",
                    Link::Invocation => "Likely: with several messages in a batch, another one may have caused it.",
                };
                format!("{naming}; {letters} failed with {}. {sure}", quoted(error))
            }
            Self::Frequent { error, count, errors } => {
                let sure = match (*errors < 3, *count >= 3 && count * 100 >= errors * 80) {
                    (true, _) => "Unsure: only the time connects them, and fewer than three errors were logged.",
                    (_, true) => "Likely, not certain: only the time connects them.",
                    (_, false) => "Unsure: only the time connects them, and no error dominates.",
                };
                let share = count * 100 / (*errors).max(1);
                let (errors, were) =
                    if *errors == 1 { ("1 error".into(), "was") } else { (format!("{errors} errors"), "were") };
                format!(
                    "The log names none of the letters. {share}% of {errors} logged while the consumer had them {were} {}. {sure}",
                    quoted(error)
                )
            }
            Self::NoErrors { .. } => {
                "No error was logged while the consumer had the letters. It may log elsewhere, or not at all.".into()
            }
            Self::Unread { why } => why.clone(),
        }
    }
}

/// Returns a part of a log as one text between backticks, which it can neither leave nor turn around.
fn plain(text: &str) -> String {
    text.replace('`', "'").chars().map(|c| if is_hidden(c) { ' ' } else { c }).collect()
}

/// Returns an error's type and the first line of its message.
fn quoted(error: &Failure) -> String {
    let message = error.message.as_deref().and_then(|message| message.lines().next()).unwrap_or_default();
    let message = plain(crate::text::head(message, 200));
    let error_type = error.error_type.as_deref().map(plain);
    match (error_type, message.is_empty()) {
        (Some(name), true) => format!("`{name}`"),
        (Some(name), false) => format!("`{name}: {message}`"),
        (None, _) => format!("`{message}`"),
    }
}
