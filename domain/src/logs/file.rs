//! The lines of a log file: lines with a time, and the lines that belong to them.

use crate::read::moment;
use crate::time::Timestamp;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde_json::Value;

/// The names under which JSON loggers write the time.
const TIMES: [&str; 5] = ["timestamp", "time", "@timestamp", "ts", "asctime"];
/// How far into a line its time stands, bytes: after a level at most.
const TIME_WITHIN_BYTES: usize = 48;

/// Splits a log file into log lines, with their times. A log line begins with a line of text that has a time, and takes
/// the lines up to the next one: a stack trace, or a message of several lines. Text before the first time is left out.
pub fn lines(text: &str) -> Vec<(Timestamp, String)> {
    let mut lines: Vec<(Timestamp, String)> = Vec::new();
    for line in text.lines() {
        match (time_of(line), lines.last_mut()) {
            (Some(at), _) => lines.push((at, line.to_string())),
            (None, Some((_, text))) => {
                text.push('\n');
                text.push_str(line);
            }
            (None, None) => {}
        }
    }
    lines
}

fn time_of(line: &str) -> Option<Timestamp> {
    if line.starts_with('{') {
        let Ok(Value::Object(object)) = serde_json::from_str(line) else { return None };
        return TIMES.iter().find_map(|name| match object.get(*name)? {
            Value::String(text) => moment(text),
            Value::Number(number) => moment(&number.to_string()),
            _ => None,
        });
    }
    // A frame begins with a blank, and names files and lines that may look like times.
    if line.starts_with([' ', '\t']) {
        return None;
    }
    let beginning = crate::text::head(line, TIME_WITHIN_BYTES);
    let at = beginning.find("20")?;
    let rest = &line[at..];
    // Python's loggers put a comma before the milliseconds, and most loggers a blank after the day.
    let end = rest.char_indices().skip(11).find(|(_, c)| !matches!(c, '0'..='9' | ':' | '.' | ',' | 'Z' | '+' | '-'));
    let stamp: String = rest[..end.map_or(rest.len(), |(end, _)| end)].replace(',', ".");
    moment(stamp.trim_end_matches(['.', ':']))
}
