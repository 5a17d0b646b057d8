//! Writes a program's output, reusing the original's text wherever the values are equal.
//!
//! An unchanged value keeps its text (digits, escapes, blanks). A remaining key keeps its position, and new keys come
//! last. jaq's `del` moves the last member into the gap; this module restores the original order. An output that is one
//! member of the body keeps that member's text. A text is sent without quotes, as by `jq -r`, unless the body is a JSON
//! string itself.

use crate::json::{Kind, Member, Node};
use crate::limits::{BODY_BYTES_MAX, DEPTH_MAX};
use crate::number;
use crate::outcome::Failure;
use domain::limits::{FIELD_CHANGES_MAX, SHOWN_CHARS_MAX};
use domain::transform::FieldChange;
use jaq_json::{Map, Val};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write;

/// The output's text, compared with the original.
#[derive(Debug, Default)]
pub struct Spliced {
    /// Whether any value differs from the original.
    pub changed: bool,
    /// The text.
    pub text: String,
    /// The changed fields, if requested.
    pub changes: Vec<FieldChange>,
}

/// Writes an output over its original. `with_changes` requests the changed fields.
pub fn splice(before: &Node<'_>, after: &Val, with_changes: bool) -> Result<Spliced, Failure> {
    let mut writer = Writer { out: String::with_capacity(before.text.len()), ..Writer::default() };
    writer.with_changes = with_changes;
    let changed = match whole(before, after)? {
        Some(text) => {
            writer.push(&text)?;
            writer.record(Some(before.text), Some(0));
            true
        }
        None => writer.over(before, after, 0)?,
    };
    Ok(Spliced { changed, text: writer.out, changes: writer.changes })
}

/// Returns the whole body to send, if it is a text or a member of the original.
fn whole<'a>(before: &Node<'a>, after: &'a Val) -> Result<Option<Cow<'a, str>>, Failure> {
    match (&before.kind, after) {
        (Kind::Text(_), _) => Ok(None),
        (_, Val::TStr(text)) => {
            let text = String::from_utf8_lossy(text);
            match text.chars().all(is_sent) {
                _ if text.is_empty() => Err(Failure::NoBody),
                true => Ok(Some(text)),
                false => Err(Failure::NotSent),
            }
        }
        (Kind::Object(members), Val::Obj(_) | Val::Arr(_)) if !is_same(before, after) => {
            let found = members.iter().rfind(|member| is_same(&member.value, after));
            Ok(found.map(|member| Cow::Borrowed(member.value.text)))
        }
        _ => Ok(None),
    }
}

/// Whether SQS takes a character in a body.
fn is_sent(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r') || c >= ' ' && !matches!(c, '\u{FFFE}' | '\u{FFFF}')
}

#[derive(Default)]
struct Writer {
    out: String,
    /// The JSON pointer of the value being written.
    pointer: String,
    with_changes: bool,
    changes: Vec<FieldChange>,
}

impl Writer {
    fn push(&mut self, text: &str) -> Result<(), Failure> {
        if self.out.len() + text.len() > BODY_BYTES_MAX {
            return Err(Failure::AnswerTooLarge);
        }
        self.out.push_str(text);
        Ok(())
    }

    /// Writes a value in place of its original; returns whether they differ.
    fn over(&mut self, before: &Node<'_>, after: &Val, depth: usize) -> Result<bool, Failure> {
        let start = self.out.len();
        let changed = match (&before.kind, after) {
            (Kind::Array(elements), Val::Arr(values)) => self.array(elements, values, depth)?,
            (Kind::Object(members), Val::Obj(map)) => self.object(members, map, depth)?,
            _ if is_same(before, after) => false,
            _ => {
                self.write(after, depth)?;
                self.record(Some(before.text), Some(start));
                true
            }
        };
        if !changed {
            self.out.truncate(start);
            self.push(before.text)?;
        }
        Ok(changed)
    }

    fn array(&mut self, before: &[Node<'_>], after: &[Val], depth: usize) -> Result<bool, Failure> {
        let pairs = || before.iter().zip(after);
        let differs = before.len() != after.len();
        // Elements were removed or inserted: equal elements at either end do not count as changed.
        let prefix = if differs { pairs().take_while(|(b, a)| is_same(b, a)).count() } else { 0 };
        let from_the_end = || before[prefix..].iter().rev().zip(after[prefix..].iter().rev());
        let suffix = if differs { from_the_end().take_while(|(b, a)| is_same(b, a)).count() } else { 0 };
        let mut changed = differs;
        self.push("[")?;
        for (at, value) in after.iter().enumerate() {
            if at > 0 {
                self.push(",")?;
            }
            let original = if at >= after.len() - suffix {
                before.get(before.len() + at - after.len())
            } else {
                before[..before.len() - suffix].get(at)
            };
            let length = self.pointer.len();
            // Writing to a string cannot fail.
            let _ = write!(self.pointer, "/{at}");
            changed |= self.put(original, value, depth)?;
            self.pointer.truncate(length);
        }
        self.push("]")?;
        let removed = before.iter().enumerate().take(before.len() - suffix).skip(after.len() - suffix);
        for (at, node) in removed {
            let length = self.pointer.len();
            let _ = write!(self.pointer, "/{at}");
            self.record(Some(node.text), None);
            self.pointer.truncate(length);
        }
        Ok(changed)
    }

    fn object(&mut self, before: &[Member<'_>], after: &Map, depth: usize) -> Result<bool, Failure> {
        let last: HashMap<&str, usize> = before.iter().enumerate().map(|(at, member)| (&*member.key, at)).collect();
        let (mut changed, mut first) = (false, true);
        self.push("{")?;
        for (_, member) in before.iter().enumerate().filter(|(at, member)| last.get(&*member.key) == Some(at)) {
            let length = self.pointer.len();
            self.push_key(&member.key);
            match after.get(&Val::utf8_str(member.key.as_bytes().to_vec())) {
                Some(value) => {
                    self.push(if std::mem::take(&mut first) { "" } else { "," })?;
                    self.push(member.key_text)?;
                    self.push(":")?;
                    changed |= self.put(Some(&member.value), value, depth)?;
                }
                None => {
                    changed = true;
                    self.record(Some(member.value.text), None);
                }
            }
            self.pointer.truncate(length);
        }
        for (key, value) in after {
            let key = key_text(key)?;
            if last.contains_key(&*key) {
                continue;
            }
            changed = true;
            self.push(if std::mem::take(&mut first) { "" } else { "," })?;
            self.quoted(&key)?;
            self.push(":")?;
            let length = self.pointer.len();
            self.push_key(&key);
            self.put(None, value, depth)?;
            self.pointer.truncate(length);
        }
        self.push("}")?;
        Ok(changed)
    }

    /// Writes a value one level deeper, over its original if it has one.
    fn put(&mut self, before: Option<&Node<'_>>, after: &Val, depth: usize) -> Result<bool, Failure> {
        let Some(before) = before else {
            let start = self.out.len();
            self.write(after, depth + 1)?;
            self.record(None, Some(start));
            return Ok(true);
        };
        self.over(before, after, depth + 1)
    }

    /// Writes a value without an original.
    fn write(&mut self, value: &Val, depth: usize) -> Result<(), Failure> {
        if depth > DEPTH_MAX {
            return Err(Failure::AnswerTooDeep);
        }
        match value {
            Val::Null => self.push("null"),
            Val::Bool(bool) => self.push(if *bool { "true" } else { "false" }),
            Val::Num(number) => {
                let text = number::write(number).ok_or(Failure::NotANumber)?;
                self.push(&text)
            }
            Val::BStr(_) => Err(Failure::NotText),
            Val::TStr(text) => self.quoted(&String::from_utf8_lossy(text)),
            Val::Arr(values) => {
                self.push("[")?;
                for (at, value) in values.iter().enumerate() {
                    self.push(if at > 0 { "," } else { "" })?;
                    self.write(value, depth + 1)?;
                }
                self.push("]")
            }
            Val::Obj(map) => {
                self.push("{")?;
                for (at, (key, value)) in map.iter().enumerate() {
                    self.push(if at > 0 { "," } else { "" })?;
                    self.quoted(&key_text(key)?)?;
                    self.push(":")?;
                    self.write(value, depth + 1)?;
                }
                self.push("}")
            }
        }
    }

    fn quoted(&mut self, text: &str) -> Result<(), Failure> {
        // SQS rejects U+FFFE and U+FFFF in a message, so they are escaped like control characters.
        let needs_escape = |c: char| c < ' ' || matches!(c, '"' | '\\' | '\u{FFFE}' | '\u{FFFF}');
        self.push("\"")?;
        let mut remaining = text;
        while let Some(at) = remaining.find(needs_escape) {
            self.push(&remaining[..at])?;
            let mut chars = remaining[at..].chars();
            match chars.next() {
                Some('"') => self.push("\\\"")?,
                Some('\\') => self.push("\\\\")?,
                Some('\n') => self.push("\\n")?,
                Some('\r') => self.push("\\r")?,
                Some('\t') => self.push("\\t")?,
                Some(other) => self.push(&format!("\\u{:04x}", u32::from(other)))?,
                None => {}
            }
            remaining = chars.as_str();
        }
        self.push(remaining)?;
        self.push("\"")
    }

    fn push_key(&mut self, key: &str) {
        self.pointer.push('/');
        self.pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
    }

    /// Records a change at the current pointer. The new value is the text written since `start`.
    fn record(&mut self, before: Option<&str>, start: Option<usize>) {
        if self.with_changes && self.changes.len() < FIELD_CHANGES_MAX {
            let after = start.map(|start| shown(&self.out[start..]));
            self.changes.push(FieldChange { pointer: self.pointer.clone(), before: before.map(shown), after });
        }
    }
}

fn key_text(key: &Val) -> Result<Cow<'_, str>, Failure> {
    match key {
        Val::TStr(text) => Ok(String::from_utf8_lossy(text)),
        _ => Err(Failure::NotText),
    }
}

/// Shortens a text for display.
pub fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.into(),
    }
}

/// Returns whether a value equals its original.
fn is_same(before: &Node<'_>, after: &Val) -> bool {
    match (&before.kind, after) {
        (Kind::Null, Val::Null) => true,
        (Kind::Bool(before), Val::Bool(after)) => before == after,
        (Kind::Number, Val::Num(after)) => number::write(after).is_some_and(|after| number::same(before.text, &after)),
        (Kind::Text(before), Val::TStr(after)) => before.as_bytes() == &after[..],
        (Kind::Array(before), Val::Arr(after)) => {
            before.len() == after.len() && before.iter().zip(after.iter()).all(|(before, after)| is_same(before, after))
        }
        (Kind::Object(before), Val::Obj(after)) => {
            let last: HashMap<&str, &Node<'_>> = before.iter().map(|member| (&*member.key, &member.value)).collect();
            let same = |key: &str, node: &Node<'_>| {
                after.get(&Val::utf8_str(key.as_bytes().to_vec())).is_some_and(|value| is_same(node, value))
            };
            last.len() == after.len() && last.into_iter().all(|(key, node)| same(key, node))
        }
        _ => false,
    }
}
