//! What one log line says: the error in it, and the invocation that it belongs to.
//!
//! The forms are those of Lambda's managed runtimes and of common loggers of Node, Python and Java, as text and as JSON.
//! A line in an unknown form is not read as an error: a log is full of words, and a wrong reading counts like a right one.

use crate::reading::Failure;
use crate::report::ReportKind;
use crate::report::powertools::of_traceback;
use crate::reported::of_kind;
use crate::text::truncate_on_char;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde_json::{Map, Value};

/// How a traceback of Python begins.
const TRACEBACK: &str = "Traceback (most recent call last):";
/// How Lambda says that an invocation took too long.
const TIMED_OUT: &str = "Task timed out after";
/// How far into a line its level stands, bytes: after a time, an id and a thread.
const LEVEL_WITHIN_BYTES: usize = 200;
/// Levels as text loggers write them, with what surrounds them.
const LEVELS: [(&str, Level); 26] = [
    ("[ERROR]", Level::Error),
    ("[CRITICAL]", Level::Error),
    ("[FATAL]", Level::Error),
    ("[SEVERE]", Level::Error),
    ("\tERROR\t", Level::Error),
    ("\tFATAL\t", Level::Error),
    (" ERROR ", Level::Error),
    (" FATAL ", Level::Error),
    (" SEVERE ", Level::Error),
    (" CRITICAL ", Level::Error),
    ("ERROR:", Level::Error),
    ("CRITICAL:", Level::Error),
    ("SEVERE:", Level::Error),
    ("[WARNING]", Level::Warning),
    ("[WARN]", Level::Warning),
    ("\tWARN\t", Level::Warning),
    (" WARN ", Level::Warning),
    (" WARNING ", Level::Warning),
    ("[INFO]", Level::Quiet),
    ("[DEBUG]", Level::Quiet),
    ("[TRACE]", Level::Quiet),
    ("\tINFO\t", Level::Quiet),
    ("\tDEBUG\t", Level::Quiet),
    ("\tTRACE\t", Level::Quiet),
    (" INFO ", Level::Quiet),
    (" DEBUG ", Level::Quiet),
];
/// The same at the beginning of a line only: further on they may be anything.
const LEVELS_AT_START: [(&str, Level); 6] = [
    ("WARN:", Level::Warning),
    ("WARNING:", Level::Warning),
    ("INFO:", Level::Quiet),
    ("DEBUG:", Level::Quiet),
    ("TRACE:", Level::Quiet),
    ("TRACE ", Level::Quiet),
];
/// Lines of the platform about an invocation, which name no error of the code.
const OF_PLATFORM: [&str; 5] =
    ["START RequestId:", "END RequestId:", "REPORT RequestId:", "INIT_START", "XRAY TraceId:"];
/// Names of an error's parts in JSON, best first.
const TYPES: [&str; 5] = ["errorType", "exception_name", "error_type", "exception_class", "exceptionClass"];
/// In an object that is itself an error, these name the type too. Elsewhere they name the logger or the program.
const TYPES_INSIDE: [&str; 3] = ["name", "type", "class"];
const MESSAGES: [&str; 4] = ["errorMessage", "exception_message", "message", "msg"];
const STACKS: [&str; 8] =
    ["stack", "stackTrace", "stack_trace", "exception", "exc_info", "trace", "stacktrace", "extendedStackTrace"];
/// Members that hold the error as an object of its own.
const ERRORS: [&str; 6] = ["error", "err", "exception", "thrown", "errorMessage", "message"];
const LEVEL_NAMES: [&str; 6] = ["level", "log_level", "levelname", "severity", "log.level", "logLevel"];
const REQUESTS: [&str; 6] =
    ["requestId", "AWSRequestId", "awsRequestId", "function_request_id", "aws_request_id", "request_id"];
/// What the last part of an error's name ends with, where nothing else shows that a word is one.
const ENDINGS: [&str; 7] = ["Error", "Exception", "Fault", "Failure", "Timeout", "Timedout", "Interrupt"];
/// The longest name of an error, bytes: those of generated Java classes are about half as long.
const NAME_BYTES_MAX: usize = 200;
/// How many lines above the first frame may belong to the error's message.
const MESSAGE_LINES_MAX: usize = 10;
/// The most bytes of a kept message, and of a kept stack. Each change of a group writes them.
const MESSAGE_BYTES_MAX: usize = 1_024;
const STACK_BYTES_MAX: usize = 4 * 1_024;
/// The lowest levels of a warning and of an error where levels are numbers, as pino and bunyan write them.
const WARNING_LEVEL: u64 = 40;
const ERROR_LEVEL: u64 = 50;

/// How much a line's level makes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Below a warning.
    Quiet,
    /// A warning.
    Warning,
    /// An error, or worse.
    Error,
}

/// What one log line says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineReading {
    /// The error; `None` if the line is not about one.
    pub failure: Option<Failure>,
    /// The invocation, if the line names it.
    pub request: Option<String>,
    /// Its level, if it has one.
    pub level: Option<Level>,
}

/// Reads a log line. Never fails, and takes time proportional to its length.
pub fn read(text: &str) -> LineReading {
    // Python's runtime keeps a traceback on one line with carriage returns, and indents it with no-break spaces.
    let text = text.replace("\r\n", "\n").replace('\r', "\n").replace('\u{a0}', " ");
    let text = text.trim();
    if let Some(object) = text.starts_with('{').then(|| json(text)).flatten() {
        let (failure, request) = (of_json(&object).map(bounded), request_of(&object));
        return LineReading { failure, request, level: level_of(&object) };
    }
    LineReading { failure: of_text(text).map(bounded), request: request_in(text), level: after_level(text).0 }
}

/// Cuts an error to what is kept of it.
fn bounded(mut failure: Failure) -> Failure {
    let texts = [
        (&mut failure.error_type, NAME_BYTES_MAX),
        (&mut failure.message, MESSAGE_BYTES_MAX),
        (&mut failure.stack, STACK_BYTES_MAX),
    ];
    for (text, bytes_max) in texts {
        if let Some(text) = text {
            truncate_on_char(text, bytes_max);
            text.shrink_to_fit();
        }
    }
    failure
}

fn json(text: &str) -> Option<Map<String, Value>> {
    match serde_json::from_str(text).ok()? {
        Value::Object(object) => Some(object),
        _ => None,
    }
}

fn of_json(object: &Map<String, Value>) -> Option<Failure> {
    if let Some(Value::String(kind)) = object.get("type")
        && kind.starts_with("platform.")
    {
        let timed_out = object.get("record").and_then(|record| record.get("status")).is_some_and(|s| s == "timeout");
        return (kind == "platform.report" && timed_out).then(|| ended(ReportKind::Timeout));
    }
    let level = level_of(object);
    if level.is_some_and(|level| level != Level::Error) {
        return None;
    }
    let inside = ERRORS.iter().find_map(|name| object.get(*name)?.as_object());
    let of = |place: &Map<String, Value>, names: &[&str]| names.iter().find_map(|name| words(place.get(*name)?));
    let find = |names: &[&str]| inside.and_then(|place| of(place, names)).or_else(|| of(object, names));
    let error_type = find(&TYPES).or_else(|| of(inside?, &TYPES_INSIDE));
    let (message, stack) = (find(&MESSAGES), find(&STACKS));
    let of_stack = stack.as_deref().and_then(of_text).unwrap_or_default();
    let is_named = error_type.is_some() || of_stack.error_type.is_some();
    let failure = Failure {
        error_type: error_type.or(of_stack.error_type),
        message: if inside.is_some() { message } else { of_stack.message.or(message) },
        stack,
        stated_class: None,
    };
    match (is_named, level) {
        (true, _) => Some(failure),
        // A logger's message may itself be an error with its stack.
        (false, Some(_)) => failure.message.as_deref().and_then(of_text).or(Some(failure)),
        (false, None) => failure.message.as_deref().and_then(of_text),
    }
    .filter(|failure| !failure.is_empty())
}

fn level_of(object: &Map<String, Value>) -> Option<Level> {
    match LEVEL_NAMES.iter().find_map(|name| object.get(*name))? {
        Value::Number(number) => Some(match number.as_u64()? {
            ERROR_LEVEL.. => Level::Error,
            WARNING_LEVEL.. => Level::Warning,
            _ => Level::Quiet,
        }),
        Value::String(word) => {
            let is = |known: &[&str]| known.iter().any(|known| word.eq_ignore_ascii_case(known));
            Some(match () {
                () if is(&["error", "fatal", "critical", "severe"]) => Level::Error,
                () if is(&["info", "debug", "trace", "verbose"]) => Level::Quiet,
                () => Level::Warning,
            })
        }
        _ => Some(Level::Warning),
    }
}

fn words(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.trim_end().to_string(),
        Value::Array(lines) => {
            let lines: Vec<&str> = lines.iter().filter_map(Value::as_str).map(str::trim_end).collect();
            lines.join("\n")
        }
        _ => return None,
    };
    (!text.is_empty()).then_some(text)
}

fn of_text(text: &str) -> Option<Failure> {
    if OF_PLATFORM.iter().any(|line| text.starts_with(line)) {
        return None;
    }
    if text.contains(TIMED_OUT) {
        return Some(ended(ReportKind::Timeout));
    }
    if text.contains("Runtime.OutOfMemory") || text.contains("signal: killed") {
        return Some(ended(ReportKind::OutOfMemory));
    }
    if text.contains("Runtime.ExitError") || text.contains("Runtime exited with") {
        return Some(ended(ReportKind::Crash));
    }
    let (level, rest) = after_level(text);
    if level.is_some_and(|level| level != Level::Error) {
        return None;
    }
    if let Some(at) = text.find(TRACEBACK) {
        return Some(traceback(text, at, rest));
    }
    // Node's runtime: `Invoke Error` and the error as JSON.
    if let Some(found) = rest.find("\t{").and_then(|at| json(rest[at..].trim())) {
        return of_json(&found);
    }
    if let Some(found) = framed(rest) {
        return Some(found);
    }
    let line = without_prefixes(rest.lines().next().unwrap_or_default());
    match (typed(line), level) {
        (Some(found), _) => Some(found),
        (None, Some(_)) if !line.is_empty() => Some(Failure { message: Some(line.to_string()), ..Failure::default() }),
        _ => None,
    }
}

fn ended(kind: ReportKind) -> Failure {
    let (error_type, message) = of_kind(kind);
    Failure { error_type: error_type.map(String::from), message: message.map(String::from), ..Failure::default() }
}

/// Returns the line's level and what follows it.
fn after_level(text: &str) -> (Option<Level>, &str) {
    let beginning = crate::text::head(text, LEVEL_WITHIN_BYTES);
    let beginning = beginning.lines().next().unwrap_or_default();
    let at_start = |word: &str| beginning.starts_with(word).then_some((0, word.len()));
    let anywhere =
        |word: &str| at_start(word.trim_start()).or_else(|| beginning.find(word).map(|at| (at, at + word.len())));
    let found = LEVELS.iter().filter_map(|(word, level)| Some((anywhere(word)?, *level)));
    let found = found.chain(LEVELS_AT_START.iter().filter_map(|(word, level)| Some((at_start(word)?, *level))));
    match found.min_by_key(|((at, end), _)| (*at, core::cmp::Reverse(*end))) {
        Some(((_, end), level)) => (Some(level), &text[end..]),
        None => (None, text),
    }
}

/// Python's runtime names the error first and ends with the last frame; its loggers end with the error.
fn traceback(text: &str, at: usize, rest: &str) -> Failure {
    let found = of_traceback(text[at..].trim_end());
    if found.error_type.is_some() {
        return Failure {
            error_type: found.error_type,
            message: found.message,
            stack: found.stack,
            ..Failure::default()
        };
    }
    let header = without_prefixes(rest.lines().next().unwrap_or_default());
    let (name, message) = header.split_once(": ").map_or((header, None), |(name, message)| (name, Some(message)));
    let is_name = is_word(name);
    Failure {
        error_type: is_name.then(|| name.to_string()),
        message: if is_name { message.map(ToString::to_string) } else { Some(header.to_string()) },
        stack: found.stack,
        stated_class: None,
    }
}

/// Reads an error that is followed by its frames, as Java, Node and .NET print it.
fn framed(text: &str) -> Option<Failure> {
    let lines: Vec<&str> = text.lines().collect();
    let is_frame = |line: &&str| line.starts_with([' ', '\t']) && line.trim_start().starts_with("at ");
    let first = lines.iter().position(is_frame)?;
    let above = first.saturating_sub(MESSAGE_LINES_MAX)..first;
    // The nearest line above the frames that begins with a name: a message may have lines of its own.
    let at = above.rev().find(|at| named(without_prefixes(lines[*at])).is_some())?;
    let header = without_prefixes(lines[at]);
    let (name, message) = named(header)?;
    let more = lines[at + 1..first].iter().fold(String::new(), |more, line| more + "\n" + line);
    let message = message.map(|message| message.to_string() + &more);
    let stack: Vec<&str> = core::iter::once(header).chain(lines[at + 1..].iter().copied()).collect();
    Some(Failure {
        error_type: Some(name.to_string()),
        message,
        stack: Some(stack.join("\n").trim_end().to_string()),
        stated_class: None,
    })
}

/// Splits `Name: message` where the name may be any word.
fn named(line: &str) -> Option<(&str, Option<&str>)> {
    let (name, message) = line.split_once(": ").map_or((line, None), |(name, message)| (name, Some(message)));
    // Node prints a code behind the name: `Error [ERR_X]: message`.
    let name = name.split_once(" [").map_or(name, |(name, _)| name);
    is_word(name.trim_end_matches(':')).then(|| (name.trim_end_matches(':'), message))
}

/// Finds an error's name between colons: `order 7 failed: ValueError: no price`, or Java's `no price: java.lang.Error`.
fn typed(line: &str) -> Option<Failure> {
    let parts: Vec<&str> = line.split(": ").collect();
    let at = parts.iter().position(|part| is_error_name(part.trim_end_matches(':')))?;
    let (before, after) = (parts[..at].join(": "), parts[at + 1..].join(": "));
    let message = if after.is_empty() { before } else { after };
    Some(Failure {
        error_type: Some(parts[at].trim_end_matches(':').to_string()),
        message: (!message.is_empty()).then_some(message),
        ..Failure::default()
    })
}

/// Removes what loggers and runtimes put before an error: time, invocation, thread, logger.
fn without_prefixes(line: &str) -> &str {
    let mut rest = line.trim();
    while let Some((field, after)) = rest.split_once('\t') {
        let is_prefix =
            is_uuid(field) || field.is_empty() || field.starts_with("20") || LEVELS.iter().any(|l| l.0.trim() == field);
        let is_kind = matches!(field.trim(), "Invoke Error" | "Uncaught Exception" | "Unhandled Promise Rejection");
        if !is_prefix && !is_kind {
            break;
        }
        rest = after.trim_start();
    }
    for prefix in ["Exception in thread \"main\" ", "Uncaught ", "Unhandled exception. ", "Caused by: "] {
        rest = rest.strip_prefix(prefix).unwrap_or(rest);
    }
    match rest.split_once(" - ") {
        Some((logger, after)) if !logger.contains(' ') => after.trim_start(),
        _ => rest,
    }
}

/// Whether a text can be the name of an error: one word of letters, digits and separators of namespaces.
fn is_word(text: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '$' | ':' | '/' | '`');
    !text.is_empty()
        && text.len() <= NAME_BYTES_MAX
        && text.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && text.chars().all(is_part)
}

/// Whether a word is the name of an error by itself.
fn is_error_name(text: &str) -> bool {
    is_word(text) && ENDINGS.iter().any(|ending| text.ends_with(ending))
}

fn request_of(object: &Map<String, Value>) -> Option<String> {
    let places = [Some(object), object.get("record").and_then(Value::as_object)];
    let found =
        |place: &Map<String, Value>| REQUESTS.iter().find_map(|name| place.get(*name)?.as_str().map(String::from));
    places.into_iter().flatten().find_map(found)
}

fn request_in(text: &str) -> Option<String> {
    if let Some((_, after)) = text.split_once("RequestId: ") {
        return after.split_whitespace().next().filter(|word| is_uuid(word)).map(String::from);
    }
    // Runtimes put it into a field of its own, after the time or the level.
    text.lines().next()?.split('\t').take(4).find(|field| is_uuid(field)).map(String::from)
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
#[path = "line_tests.rs"]
mod tests;
