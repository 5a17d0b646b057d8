//! A handler's failure: class, error and frames, as the stamp records them.

use crate::breaker::CircuitState;
use crate::budget::BudgetUsage;
use crate::frame::{self, Frame};
use crate::stop::Stop;
use domain::reading::Class;
use domain::time::Span;
use serde::{Deserialize, Serialize};
use std::error::Error;

/// A handler's failure to process one message.
///
/// `?` converts every `std::error::Error` into a failure of class unknown. It records the error's type, its message
/// with its causes, and the location of the `?`. Use [`Classify`] to set the class: `parse(body).permanent(here!())?`.
/// (`Failure` itself does not implement `std::error::Error`, because that would rule out this conversion.)
///
/// ```
/// use consumer::{At, Class, Classify, Failure, here};
///
/// fn quantity(body: &str) -> Result<u32, Failure> {
///     body.parse::<u32>().permanent(here!())
/// }
///
/// let failure = quantity("two").at(here!()).unwrap_err();
/// assert_eq!(failure.class, Class::Permanent);
/// assert_eq!(failure.message, "invalid digit found in string");
/// assert_eq!(failure.frames.len(), 2);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Whether a retry can help.
    pub class: Class,
    /// The error's type, for example `serde_json::error::Error`.
    pub error_type: String,
    /// The error's message and its causes, separated by colons.
    pub message: String,
    /// The error's origin and the callers that passed it on, innermost first.
    pub frames: Vec<Frame>,
    /// A stack trace in the format of another language or tool; replaces the frames on the stamp.
    pub foreign_stack: Option<String>,
    /// What else is known, for the stamp and for the next attempt. Boxed, because failures travel in every `Result`.
    pub context: Box<FailureContext>,
}

/// What a failure tells beyond its error.
///
/// ```
/// use consumer::{Failure, FailureContext};
///
/// assert_eq!(*Failure::transient("Timeout", "no answer").context, FailureContext::default());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FailureContext {
    /// The messages of the error's causes, outermost first.
    pub causes: Vec<String>,
    /// The wait that the other side asked for.
    pub retry_after: Option<Span>,
    /// The dependency that failed, with its circuit and budget.
    pub circuit: Option<CircuitNote>,
    /// Why retries in process ended.
    pub stop: Option<Stop>,
}

/// A dependency's circuit and budget at the time of a failure.
///
/// ```
/// use consumer::{CircuitNote, breaker::CircuitState};
///
/// let text = r#"{ "dependency": "payments", "state": "open", "budget": { "requests": 40, "retries": 4, "retries_left": 0 } }"#;
/// let note: CircuitNote = serde_json::from_str(text).unwrap();
/// assert_eq!((note.state, note.budget.retries), (CircuitState::Open, 4));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CircuitNote {
    /// The dependency's name.
    pub dependency: String,
    /// The circuit's state.
    pub state: CircuitState,
    /// If the call was refused: the time until the next probe, milliseconds.
    #[serde(default, rename = "retry_after_ms", skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<Span>,
    /// Requests and retries of the budget's window.
    pub budget: BudgetUsage,
}

/// The type of the failure of work that is in progress elsewhere under the same key.
pub(crate) const IN_PROGRESS: &str = "consumer::once::InProgress";

impl Failure {
    /// Returns a failure of this class, without frames.
    ///
    /// ```
    /// # use consumer::{Class, Failure};
    /// assert_eq!(Failure::new(Class::Unknown, "orders::Odd", "odd order").stack(), None);
    /// ```
    pub fn new(class: Class, error_type: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            class,
            error_type: error_type.into(),
            message: message.into(),
            frames: Vec::new(),
            foreign_stack: None,
            context: Box::default(),
        }
    }

    /// Returns a transient failure: the same message may succeed later.
    ///
    /// ```
    /// # use consumer::{Class, Failure};
    /// assert_eq!(Failure::transient("orders::Timeout", "no answer").class, Class::Transient);
    /// ```
    pub fn transient(error_type: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(Class::Transient, error_type, message)
    }

    /// Returns a permanent failure: the same message fails again until something changes, so dead-letter it now.
    ///
    /// ```
    /// # use consumer::{Class, Failure};
    /// assert_eq!(Failure::permanent("orders::NotFound", "no such product").class, Class::Permanent);
    /// ```
    pub fn permanent(error_type: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(Class::Permanent, error_type, message)
    }

    /// Returns a failure of class unknown, which is retried like a transient one.
    ///
    /// ```
    /// # use consumer::{Class, Failure};
    /// assert_eq!(Failure::unknown("orders::Odd", "odd order").class, Class::Unknown);
    /// ```
    pub fn unknown(error_type: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(Class::Unknown, error_type, message)
    }

    /// Converts an error: its type's name, and its message with all its causes.
    ///
    /// ```
    /// # use consumer::{Class, Failure};
    /// let error = "two".parse::<u8>().unwrap_err();
    /// assert_eq!(Failure::capture(Class::Permanent, &error).error_type, "core::num::error::ParseIntError");
    /// ```
    pub fn capture<E: Error>(class: Class, error: &E) -> Self {
        let mut failure = Self::new(class, std::any::type_name::<E>(), message_with_causes(error));
        failure.context.causes = causes(error).map(ToString::to_string).collect();
        failure
    }

    /// Sets the wait that the other side asked for, for example in HTTP's `Retry-After`.
    ///
    /// ```
    /// # use consumer::Failure;
    /// # use domain::time::Span;
    /// let busy = Failure::transient("TooManyRequests", "429").with_retry_after(Span::from_secs(3));
    /// assert_eq!(busy.context.retry_after, Some(Span::from_secs(3)));
    /// ```
    #[must_use]
    pub fn with_retry_after(mut self, wait: Span) -> Self {
        self.context.retry_after = Some(wait);
        self
    }

    /// Adds the frame of the next caller.
    ///
    /// ```
    /// # use consumer::{Failure, here};
    /// assert_eq!(Failure::unknown("orders::Odd", "odd order").at(here!()).frames.len(), 1);
    /// ```
    #[must_use]
    pub fn at(mut self, frame: Frame) -> Self {
        self.frames.push(frame);
        self
    }

    /// Sets a stack trace that another tool captured.
    ///
    /// ```
    /// # use consumer::Failure;
    /// let failure = Failure::unknown("TypeError", "x is undefined").with_stack("at total (cart.js:7:9)");
    /// assert_eq!(failure.stack().as_deref(), Some("at total (cart.js:7:9)"));
    /// ```
    #[must_use]
    pub fn with_stack(mut self, stack: impl Into<String>) -> Self {
        self.foreign_stack = Some(stack.into());
        self
    }

    /// Returns the stack as the stamp carries it; `None` without frames and foreign stack.
    ///
    /// ```
    /// # use consumer::{Failure, here};
    /// assert!(Failure::unknown("orders::Odd", "odd order").at(here!()).stack().is_some());
    /// ```
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
        Self::capture(Class::Unknown, &error).at(Frame::from_location(std::panic::Location::caller()))
    }
}

/// Converts an error into a [`Failure`] with a class and a frame.
///
/// ```
/// use consumer::{Class, Classify, here};
///
/// let failure = "two".parse::<u8>().permanent(here!()).unwrap_err();
/// assert_eq!((failure.class, failure.frames.len()), (Class::Permanent, 1));
/// ```
pub trait Classify<T> {
    /// Marks the error as transient: the same message may succeed later.
    fn transient(self, frame: Frame) -> Result<T, Failure>;
    /// Marks the error as permanent: the same message fails again until something changes.
    fn permanent(self, frame: Frame) -> Result<T, Failure>;
}

impl<T, E: Error> Classify<T> for Result<T, E> {
    fn transient(self, frame: Frame) -> Result<T, Failure> {
        self.map_err(|error| Failure::capture(Class::Transient, &error).at(frame))
    }

    fn permanent(self, frame: Frame) -> Result<T, Failure> {
        self.map_err(|error| Failure::capture(Class::Permanent, &error).at(frame))
    }
}

/// Adds the caller's frame to a failure: `price(order).at(here!())?`.
///
/// ```
/// use consumer::{At, Failure, here};
///
/// let failed = Err::<(), _>(Failure::unknown("orders::Odd", "odd order"));
/// assert_eq!(failed.at(here!()).unwrap_err().frames.len(), 1);
/// ```
pub trait At {
    /// Adds `frame` to the failure; leaves a success as it is.
    #[must_use]
    fn at(self, frame: Frame) -> Self;
}

impl<T> At for Result<T, Failure> {
    fn at(self, frame: Frame) -> Self {
        self.map_err(|failure| failure.at(frame))
    }
}

/// Joins an error's message and its causes'. Leaves out a cause that the message already contains, because many
/// libraries print their cause themselves.
fn message_with_causes(error: &dyn Error) -> String {
    let mut message = error.to_string();
    for cause in causes(error) {
        let text = cause.to_string();
        if !message.contains(&text) {
            message.push_str(": ");
            message.push_str(&text);
        }
    }
    message
}

/// The most causes that are followed. A chain that long is a circle, or says nothing at its end.
const CAUSES_MAX: usize = 16;

fn causes(error: &dyn Error) -> impl Iterator<Item = &dyn Error> {
    std::iter::successors(error.source(), |cause| Error::source(*cause)).take(CAUSES_MAX)
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
    fn question_mark_keeps_type_message_causes_and_location() {
        fn handle() -> Result<(), Failure> {
            number("x").map_err(|source| Unreadable { source })?;
            Ok(())
        }
        let failure = handle().unwrap_err();
        assert_eq!(failure.class, Class::Unknown);
        assert!(failure.error_type.ends_with("Unreadable"), "{}", failure.error_type);
        assert_eq!(failure.message, "the order could not be read: invalid digit found in string");
        assert_eq!(failure.context.causes, ["invalid digit found in string"]);
        assert!(failure.frames[0].file.ends_with("failure.rs"), "{:?}", failure.frames);
    }

    #[test]
    fn classified_errors_collect_the_frames_of_their_callers() {
        fn inner() -> Result<u8, Failure> {
            number("x").permanent(here!())
        }
        let failure = inner().at(here!()).unwrap_err();
        assert_eq!(failure.class, Class::Permanent);
        assert_eq!(failure.error_type, "core::num::error::ParseIntError");
        let names: Vec<_> = failure.frames.iter().map(|f| f.function.rsplit("::").next().unwrap()).collect();
        assert_eq!(names, ["inner", "classified_errors_collect_the_frames_of_their_callers"]);
        assert_eq!(number("x").transient(here!()).unwrap_err().class, Class::Transient);
    }

    #[test]
    fn a_cause_is_not_repeated() {
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
