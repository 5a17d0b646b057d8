//! The errors that led to another one, in forms that need more than their own line: PHP and Ruby print the chain as blocks,
//! Python and Node print several errors in one.

use super::{Cause, named};
use alloc::string::ToString;
use alloc::vec::Vec;

/// The length from which a message of several lines is not read on, bytes.
const MESSAGE_BYTES_MAX: usize = 512;

/// The errors of a stack's blocks, and of its group of errors.
#[derive(Default)]
pub struct Chains {
    /// PHP prints the root first: `Next T: m`.
    php: Vec<Cause>,
    ruby: Vec<Cause>,
    group: Vec<Cause>,
    in_group: bool,
    /// The last cause of anyhow's and eyre's list, which has no types.
    untyped: Option<Cause>,
    /// Whether the next message is the first of its list.
    is_first: bool,
    /// Symfony prints the root last.
    wrapped: Vec<Cause>,
    block: Block,
}

/// The block that a line belongs to.
#[derive(Default, PartialEq, Eq)]
enum Block {
    #[default]
    None,
    /// `Caused by:`, then indented messages: Rust.
    Messages,
    /// `Causes:`, then errors with their frames: Rails.
    Errors,
    /// `Previous:`, then the wrapped error on the next line: Symfony.
    Wrapped,
}

impl Chains {
    /// Looks at a line that is not the first. `head` is the error that the blocks so far belong to. Returns whether the line has
    /// nothing else.
    pub fn add(&mut self, line: &str, head: &mut Option<Cause>) -> bool {
        match line {
            "Caused by:" => {
                self.block = Block::Messages;
                self.is_first = true;
            }
            "Causes:" => self.block = Block::Errors,
            "Previous:" => self.block = Block::Wrapped,
            _ if self.block == Block::Wrapped => {
                self.block = Block::None;
                self.wrapped.extend(php(line));
            }
            _ if self.block == Block::Messages => return self.add_message(line),
            _ if self.block == Block::Errors => self.ruby.extend(rails(line)),
            _ => {}
        }
        if let Some(next) = line.strip_prefix("Next ").and_then(php) {
            self.php.extend(head.replace(next));
        } else if let Some(cause) = ruby(line) {
            self.ruby.push(cause);
        } else if line.trim_start().starts_with("[errors]: [") {
            self.in_group = true;
        } else if let Some(cause) = grouped(line).or_else(|| self.in_group.then(|| named(line.trim_start())).flatten())
        {
            self.group.push(cause);
        }
        false
    }

    /// `    1: connection refused`, or without a number if it is the only one; other lines continue the message before.
    fn add_message(&mut self, line: &str) -> bool {
        let text = line.trim_start();
        if text.is_empty() || text.len() == line.len() {
            self.block = Block::None;
            return false;
        }
        let numbered = text
            .split_once(": ")
            .filter(|(number, _)| (1..=2).contains(&number.len()) && number.bytes().all(|b| b.is_ascii_digit()));
        if numbered.is_some() || self.is_first {
            let message = numbered.map_or(text, |(_, message)| message).to_string();
            self.untyped = Some(Cause { message, ..Cause::default() });
        } else if let Some(cause) = self.untyped.as_mut().filter(|cause| cause.message.len() < MESSAGE_BYTES_MAX) {
            cause.message.extend(["\n", text]);
        }
        self.is_first = false;
        true
    }

    /// Adds what was found to the causes, the root last.
    pub fn finish(mut self, causes: &mut Vec<Cause>) {
        // Errors of a group have no order: whichever failed first is printed first.
        self.group.sort_by(|a, b| (&a.error_type, &a.message).cmp(&(&b.error_type, &b.message)));
        self.group.dedup();
        self.php.iter_mut().for_each(|cause| cause.message = without_place(&cause.message).to_string());
        causes.extend(self.php.into_iter().rev());
        causes.extend(self.ruby);
        causes.extend(self.group);
        causes.extend(self.untyped);
        causes.extend(self.wrapped);
    }
}

/// `T: m in /app/a.php:7`
fn php(text: &str) -> Option<Cause> {
    let (error_type, message) = text.split_once(": ")?;
    let is_name = error_type.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'\\' | b'_'));
    is_name.then(|| Cause { error_type: error_type.to_string(), message: without_place(message).to_string() })
}

fn without_place(message: &str) -> &str {
    match message.rsplit_once(" in ") {
        Some((before, place)) if place.starts_with('/') && place.contains(".php:") => before,
        _ => message,
    }
}

/// ``app/a.rb:7:in `m': message (T)``
fn ruby(line: &str) -> Option<Cause> {
    // Frames of all languages are indented.
    let said = line.strip_suffix(')').filter(|line| !line.starts_with(char::is_whitespace))?;
    let (before, error_type) = said.rsplit_once(" (")?;
    let (place, message) = before.split_once("': ")?;
    let is_block = place.contains(":in ");
    let is_class = error_type.starts_with(|c: char| c.is_ascii_uppercase())
        && error_type.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b':' | b'_'));
    (is_block && is_class).then(|| Cause { error_type: error_type.to_string(), message: message.to_string() })
}

/// `T (message)`, the line of an error in the list that Rails prints of the causes.
fn rails(line: &str) -> Option<Cause> {
    // A message of several lines ends on a later one.
    let (error_type, message) = line.split_once(" (")?;
    let message = message.strip_suffix(')').unwrap_or(message);
    let is_class = error_type.starts_with(|c: char| c.is_ascii_uppercase())
        && error_type.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b':' | b'_'));
    is_class.then(|| Cause { error_type: error_type.to_string(), message: message.to_string() })
}

/// `    | T: m`, an error of an exception group. The group itself says how many it has.
fn grouped(line: &str) -> Option<Cause> {
    let text = line.trim_start().strip_prefix("| ").filter(|text| !text.starts_with(' '))?;
    let cause = text.contains(": ").then(|| named(text)).flatten()?;
    (!cause.message.ends_with("sub-exception)") && !cause.message.ends_with("sub-exceptions)")).then_some(cause)
}
