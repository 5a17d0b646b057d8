//! The errors of one failure, from the one that was reported down to its root.

use crate::read::Case;
use crate::read::frames::Cause;
use alloc::vec::Vec;

/// The most causes of one failure that are read: half of them from outside, half from the root. Real chains have few.
const CAUSES_MAX: usize = 32;

/// One error: its type and message.
#[derive(Clone, Copy)]
pub struct Link<'a> {
    pub error_type: &'a str,
    pub message: &'a str,
}

impl<'a> From<&'a Cause> for Link<'a> {
    fn from(cause: &'a Cause) -> Self {
        Self { error_type: &cause.error_type, message: &cause.message }
    }
}

/// The error itself, then its causes down to the root.
pub fn from_case(case: Case<'_>) -> Vec<Link<'_>> {
    let head = case.stack.head.as_ref().map_or(Link { error_type: "", message: "" }, Link::from);
    let own = Link {
        error_type: case.failure.error_type.as_deref().unwrap_or(head.error_type),
        message: case.failure.message.as_deref().unwrap_or(head.message),
    };
    let mut chain = Vec::new();
    if !own.error_type.is_empty() || !own.message.is_empty() {
        chain.push(own);
    }
    // A panic of Rust's `unwrap` contains the actual error: that error is the cause, not the panic.
    // Data may contain the words, but do not begin a message.
    let unwrapped = own.message.split_once("`Err` value: ").filter(|(before, _)| before.contains("called `Result::"));
    chain.extend(unwrapped.map(|(_, error)| {
        let name = error.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
        Link { error_type: name, message: error }
    }));
    // The outermost ones and the root: a hostile stack has thousands.
    let causes = &case.stack.causes;
    let skipped = causes.len().saturating_sub(CAUSES_MAX);
    chain.extend(causes.iter().take(CAUSES_MAX / 2).map(Link::from));
    chain.extend(causes.iter().skip(CAUSES_MAX / 2 + skipped).map(Link::from));
    chain
}
