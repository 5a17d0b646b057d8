//! Why a handler could not handle a message: what goes onto the stamp.

use crate::frame::{self, Frame};
use domain::reading::Class;
use std::error::Error;

/// A handler's failure on one message.
///
/// It is no `std::error::Error`, so that every error can become one by `?` (class unknown, type, message with its
/// causes, and the place of the `?`). [`Judge`] says the class as well: `parse(body).permanent(here!())?`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Is a retry worth it?
    pub class: Class,
    /// The error's type, for example `serde_json::error::Error`.
    pub error_type: String,
    /// The error's message, its causes after colons.
    pub message: String,
    /// Where it was made, innermost first, and which way it took.
    pub frames: Vec<Frame>,
    /// A stack trace in the words of another language or tool; printed instead of the frames.
    pub foreign_stack: Option<String>,
}

impl Failure {
    /// A failure of this class.
    pub fn new(class: Class, error_type: impl Into<String>, message: impl Into<String>) -> Self {
        Self { class, error_type: error_type.into(), message: message.into(), frames: Vec::new(), foreign_stack: None }
    }

    /// The same message may pass later.
    pub fn transient(error_type: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(Class::Transient, error_type, message)
    }

    /// The same message will fail again until something changes: dead-letter it now.
    pub fn permanent(error_type: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(Class::Permanent, error_type, message)
    }

    /// Not known; retried like a transient one.
    pub fn unknown(error_type: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(Class::Unknown, error_type, message)
    }

    /// What an error says of itself: its type's name, and its message with all its causes.
    pub fn capture<E: Error>(class: Class, error: &E) -> Self {
        Self::new(class, std::any::type_name::<E>(), message_with_causes(error))
    }

    /// This failure with one frame more, further out.
    #[must_use]
    pub fn at(mut self, frame: Frame) -> Self {
        self.frames.push(frame);
        self
    }

    /// This failure with a stack trace that was captured otherwise.
    #[must_use]
    pub fn with_stack(mut self, stack: impl Into<String>) -> Self {
        self.foreign_stack = Some(stack.into());
        self
    }

    /// The stack as the stamp carries it; none when nothing is known of it.
    pub fn stack(&self) -> Option<String> {
        match &self.foreign_stack {
            Some(stack) => Some(stack.clone()),
            None => (!self.frames.is_empty()).then(|| frame::print(&self.frames)),
        }
    }
}

impl<E: Error> From<E> for Failure {
    #[track_caller]
    fn from(error: E) -> Self {
        Self::capture(Class::Unknown, &error).at(Frame::of_location(std::panic::Location::caller()))
    }
}

/// Says of an error whether a retry is worth it, and where it was made.
pub trait Judge<T> {
    /// The same message may pass later.
    fn transient(self, frame: Frame) -> Result<T, Failure>;
    /// The same message will fail again until something changes.
    fn permanent(self, frame: Frame) -> Result<T, Failure>;
}

impl<T, E: Error> Judge<T> for Result<T, E> {
    fn transient(self, frame: Frame) -> Result<T, Failure> {
        self.map_err(|error| Failure::capture(Class::Transient, &error).at(frame))
    }

    fn permanent(self, frame: Frame) -> Result<T, Failure> {
        self.map_err(|error| Failure::capture(Class::Permanent, &error).at(frame))
    }
}

/// Notes the way that a failure takes outwards: `price(order).at(here!())?`.
pub trait At {
    /// The same, with one frame more on a failure.
    #[must_use]
    fn at(self, frame: Frame) -> Self;
}

impl<T> At for Result<T, Failure> {
    fn at(self, frame: Frame) -> Self {
        self.map_err(|failure| failure.at(frame))
    }
}

/// An error's message and its causes'. A cause whose words already stand there is not said twice: many libraries
/// print their cause themselves.
fn message_with_causes(error: &dyn Error) -> String {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let words = error.to_string();
        if !message.contains(&words) {
            message.push_str(": ");
            message.push_str(&words);
        }
        cause = error.source();
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::here;

    #[derive(Debug, thiserror::Error)]
    #[error("the order could not be read")]
    struct Unreadable {
        #[source]
        source: std::num::ParseIntError,
    }

    fn number(text: &str) -> Result<u8, std::num::ParseIntError> {
        text.parse()
    }

    #[test]
    fn question_mark_keeps_type_message_causes_and_place() {
        fn handle() -> Result<(), Failure> {
            number("x").map_err(|source| Unreadable { source })?;
            Ok(())
        }
        let failure = handle().unwrap_err();
        assert_eq!(failure.class, Class::Unknown);
        assert!(failure.error_type.ends_with("Unreadable"), "{}", failure.error_type);
        assert_eq!(failure.message, "the order could not be read: invalid digit found in string");
        assert!(failure.frames[0].file.ends_with("failure.rs"), "{:?}", failure.frames);
    }

    #[test]
    fn judged_errors_carry_class_and_frames_outwards() {
        fn inner() -> Result<u8, Failure> {
            number("x").permanent(here!())
        }
        let failure = inner().at(here!()).unwrap_err();
        assert_eq!(failure.class, Class::Permanent);
        assert_eq!(failure.error_type, "core::num::error::ParseIntError");
        let names: Vec<_> = failure.frames.iter().map(|f| f.function.rsplit("::").next().unwrap()).collect();
        assert_eq!(names, ["inner", "judged_errors_carry_class_and_frames_outwards"]);
        assert_eq!(number("x").transient(here!()).unwrap_err().class, Class::Transient);
    }

    #[test]
    fn a_cause_is_not_said_twice() {
        #[derive(Debug, thiserror::Error)]
        #[error("while reading: {source}")]
        struct Chatty {
            source: std::num::ParseIntError,
        }
        let error = Chatty { source: number("").unwrap_err() };
        assert_eq!(message_with_causes(&error), "while reading: cannot parse integer from empty string");
    }

    #[test]
    fn a_foreign_stack_replaces_the_frames() {
        let failure = Failure::unknown("T", "m").at(here!()).with_stack("at x.js:1:2");
        assert_eq!(failure.stack().as_deref(), Some("at x.js:1:2"));
        assert_eq!(Failure::unknown("T", "m").stack(), None);
    }
}
