//! Stack frames of an error: function, file and line of its origin and of the callers that passed it on.
//!
//! These are not backtraces. A backtrace needs debug symbols, which releases strip, and changes with the optimiser.
//! [`here!`](crate::here) records a frame at its own source position, so the same cause yields the same stack in every
//! build of the same source.

use std::fmt;
use std::panic::Location;

/// One frame of a failure's stack.
///
/// ```
/// let frame = consumer::here!();
/// assert!(frame.line > 0 && frame.to_string().contains(&frame.file));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The function with its module path; `<unknown>` if only the location is known.
    pub function: String,
    /// The source file.
    pub file: String,
    /// The line, counted from 1.
    pub line: u32,
    /// The column, counted from 1.
    pub column: u32,
}

impl Frame {
    /// Returns the frame that [`here!`](crate::here) records. `marker` is the type name of a function declared inside
    /// the function that the frame is for: a macro cannot learn that function's name in another way.
    ///
    /// ```
    /// # use consumer::Frame;
    /// assert_eq!(Frame::from_marker("orders::pay::marker", "pay.rs", 7, 5).function, "orders::pay");
    /// ```
    pub fn from_marker(marker: &str, file: &str, line: u32, column: u32) -> Self {
        let function = marker.strip_suffix("::marker").unwrap_or(marker);
        Self { function: plain_name(function), file: file.into(), line, column }
    }

    /// Returns a frame with a known location and an unknown function.
    ///
    /// ```
    /// # use consumer::Frame;
    /// assert_eq!(Frame::from_location(std::panic::Location::caller()).function, "<unknown>");
    /// ```
    pub fn from_location(location: &Location<'_>) -> Self {
        Self {
            function: "<unknown>".into(),
            file: location.file().into(),
            line: location.line(),
            column: location.column(),
        }
    }
}

impl fmt::Display for Frame {
    /// Formats like a frame of a Rust backtrace, without the number.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n             at {}:{}:{}", self.function, self.file, self.line, self.column)
    }
}

/// Removes the closures that `async` adds to a function's name.
pub(crate) fn plain_name(name: &str) -> String {
    name.replace("::{{closure}}", "")
}

/// Formats frames like a Rust backtrace, innermost first.
pub(crate) fn print(frames: &[Frame]) -> String {
    let lines: Vec<String> = frames.iter().enumerate().map(|(n, frame)| format!("{n:4}: {frame}")).collect();
    lines.join("\n")
}

/// Returns the [`Frame`] of its own source line.
///
/// ```
/// fn price() -> consumer::Frame {
///     consumer::here!()
/// }
/// assert!(price().function.ends_with("price"));
/// ```
#[macro_export]
macro_rules! here {
    () => {{
        fn marker() {}
        $crate::Frame::from_marker(::core::any::type_name_of_val(&marker), file!(), line!(), column!())
    }};
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_names_its_function_and_location() {
        let frame = crate::here!();
        assert_eq!(frame.function, "consumer::frame::tests::a_frame_names_its_function_and_location");
        assert!(frame.file.ends_with("frame.rs") && frame.line > 1);
    }

    #[test]
    fn frames_print_as_a_rust_backtrace() {
        let frame = |function: &str, line| Frame { function: function.into(), file: "a.rs".into(), line, column: 5 };
        assert_eq!(
            print(&[frame("orders::price", 7), frame("orders::handle", 9)]),
            "   0: orders::price\n             at a.rs:7:5\n   1: orders::handle\n             at a.rs:9:5"
        );
    }

    #[test]
    fn async_closures_are_removed_from_function_names() {
        assert_eq!(plain_name("orders::handle::{{closure}}::{{closure}}"), "orders::handle");
    }
}
