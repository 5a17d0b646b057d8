//! Where an error was made and which way it took: frames that name function, file and line.
//!
//! Not a backtrace: those need debug symbols, which releases strip, and they change with the optimiser. These frames
//! are written where [`here!`](crate::here) stands, so one cause gives one stack in every build of the same source.

use std::fmt;
use std::panic::Location;

/// One frame of a failure's stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The function, with its module path; `<unknown>` where only the place is known.
    pub function: String,
    /// The source file.
    pub file: String,
    /// The line, counted from 1.
    pub line: u32,
    /// The column, counted from 1.
    pub column: u32,
}

impl Frame {
    /// The frame that [`here!`](crate::here) makes. `marker` is the type name of a function declared inside the
    /// function meant: the only way to learn the name of the latter.
    pub fn of_marker(marker: &str, file: &str, line: u32, column: u32) -> Self {
        let function = marker.strip_suffix("::marker").unwrap_or(marker);
        Self { function: plain_name(function), file: file.into(), line, column }
    }

    /// The place of a caller whose function's name is not known.
    pub fn of_location(location: &Location<'_>) -> Self {
        Self {
            function: "<unknown>".into(),
            file: location.file().into(),
            line: location.line(),
            column: location.column(),
        }
    }
}

impl fmt::Display for Frame {
    /// As Rust's own backtraces print a frame, without its number.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n             at {}:{}:{}", self.function, self.file, self.line, self.column)
    }
}

/// A function's name without the closures that `async` adds.
pub(crate) fn plain_name(name: &str) -> String {
    name.replace("::{{closure}}", "")
}

/// Frames as Rust's own backtraces print them, innermost first.
pub(crate) fn print(frames: &[Frame]) -> String {
    let lines: Vec<String> = frames.iter().enumerate().map(|(n, frame)| format!("{n:4}: {frame}")).collect();
    lines.join("\n")
}

/// The [`Frame`] of the line it stands on.
#[macro_export]
macro_rules! here {
    () => {{
        fn marker() {}
        $crate::Frame::of_marker(::core::any::type_name_of_val(&marker), file!(), line!(), column!())
    }};
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_names_its_function_and_place() {
        let frame = crate::here!();
        assert_eq!(frame.function, "consumer::frame::tests::a_frame_names_its_function_and_place");
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
    fn closures_of_async_functions_are_not_named() {
        assert_eq!(plain_name("orders::handle::{{closure}}::{{closure}}"), "orders::handle");
    }
}
