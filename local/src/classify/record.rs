//! The fields of an error record, in the spellings that people have them in.

use super::id::Id;
use domain::read::{error_type, json::Raw};
use domain::reading::Failure;

/// The names of the fields, as the documentation has them.
pub const KNOWN: &str = "id, error_type, error_message, stack_trace, body";

/// A field, and the names that mean it, best first. Case, `_`, `-` and blanks do not count, so Lambda's `errorType` is
/// `error_type`.
type Names = &'static [&'static str];
const ID: Names = &["id", "messageid"];
const ERROR_TYPE: Names = &["errortype", "exceptiontype", "errorclass", "exceptionclass", "errorname", "errorcode"];
const ERROR_MESSAGE: Names = &["errormessage", "exceptionmessage", "message", "error", "err"];
const STACK_TRACE: Names = &["stacktrace", "stack", "errorstack", "backtrace", "errorbacktrace"];
const BODY: Names = &["body"];

/// Objects that hold the error, as loggers and services write them.
const INSIDE: [&str; 3] = ["error", "err", "exception"];

/// An error record.
#[derive(Default)]
pub struct Record {
    pub id: Option<Id>,
    pub failure: Failure,
    pub body: Option<String>,
    /// Names of the fields that say nothing to the classifier, in their order.
    pub ignored: Vec<String>,
    /// Whether a field other than the id is known.
    pub has_field: bool,
}

/// Why a record cannot be read.
pub struct Refused {
    pub id: Option<Id>,
    pub error: String,
}

/// Reads a record.
pub fn read(line: Raw<'_>) -> Result<Record, Refused> {
    let is_inside = |(name, value): &(&str, Raw<'_>)| INSIDE.contains(name) && value.is_object();
    let record = fields(line.members().filter(|member| !is_inside(member)))?;
    match line.members().find(is_inside) {
        Some((_, inside)) => match with(record.failure, inside) {
            Ok(failure) => Ok(Record { failure, ..record }),
            Err(refused) => Err(Refused { id: record.id, ..refused }),
        },
        None => Ok(record),
    }
}

/// Reads the fields among these members.
fn fields<'a>(members: impl Iterator<Item = (&'a str, Raw<'a>)>) -> Result<Record, Refused> {
    let mut ignored = Vec::new();
    let mut found: [Vec<(usize, &str, Raw<'_>)>; 5] = Default::default();
    for (name, value) in members {
        match place(name) {
            Some((field, rank)) => found[field].push((rank, name, value)),
            None => ignored.push(name.to_owned()),
        }
    }
    let has_field = found[1..].iter().any(|named| !named.is_empty());
    // Of several with one name the first wins.
    found.iter_mut().for_each(|named| named.sort_by_key(|(rank, ..)| *rank));
    let [id, error_type, error_message, stack_trace, body] = found;
    let id = id.first().map(|(.., raw)| Id::new(*raw));
    let failure = error_type.iter().try_fold(None, |kept: Option<String>, (_, name, raw)| {
        if kept.is_some() || is_null(*raw) {
            return Ok(kept);
        }
        let text =
            raw.as_scalar().ok_or_else(|| Refused { id: id.clone(), error: format!("`{name}` is not a string") })?;
        Ok(Some(text).filter(|text| !text.is_empty()))
    });
    let first = |named: &[(usize, &str, Raw<'_>)], text: fn(Raw<'_>) -> Option<String>| {
        named.iter().filter(|(.., raw)| !is_null(*raw)).find_map(|(.., raw)| text(*raw))
    };
    let failure = Failure {
        error_type: failure?,
        message: first(&error_message, text),
        stack: first(&stack_trace, lines),
        stated_class: None,
    };
    Ok(Record { id, failure, body: first(&body, text), ignored, has_field })
}

/// Fills in what an object inside the record says of the error.
fn with(failure: Failure, inside: Raw<'_>) -> Result<Failure, Refused> {
    // Its own objects are causes, which are not read.
    let flat = inside.members().filter(|(name, _)| !INSIDE.contains(name));
    let inner = fields(flat)?;
    let error_type = inner.failure.error_type.or_else(|| error_type(inside));
    Ok(Failure {
        error_type: failure.error_type.or(error_type),
        message: failure.message.or(inner.failure.message),
        stack: failure.stack.or(inner.failure.stack),
        stated_class: None,
    })
}

fn is_null(raw: Raw<'_>) -> bool {
    raw.text().trim_end() == "null"
}

/// Returns the field that a name means, and its rank among the field's names.
fn place(name: &str) -> Option<(usize, usize)> {
    let letters: String =
        name.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).map(|c| c.to_ascii_lowercase()).collect();
    [ID, ERROR_TYPE, ERROR_MESSAGE, STACK_TRACE, BODY]
        .iter()
        .enumerate()
        .find_map(|(field, names)| Some((field, names.iter().position(|known| *known == letters)?)))
}

/// Returns a text or a number; of any other value its JSON.
pub fn text(raw: Raw<'_>) -> Option<String> {
    raw.as_scalar().or_else(|| Some(raw.text().trim_end().to_owned())).filter(|text| !text.is_empty())
}

/// Returns a text, or the lines of an array: Lambda's form of a stack.
fn lines(raw: Raw<'_>) -> Option<String> {
    if !raw.is_array() {
        return text(raw);
    }
    let lines: Vec<String> = raw.elements().filter_map(text).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}
