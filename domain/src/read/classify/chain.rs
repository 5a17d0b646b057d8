//! The errors of one failure, from the one that was reported down to its root.

use crate::read::Case;
use crate::read::frames::Cause;
use alloc::string::ToString;
use alloc::vec::Vec;

/// The most causes of one failure that are read: half of them from outside, half from the root. Real chains have few.
const CAUSES_MAX: usize = 32;

/// The error itself, then its causes down to the root.
pub fn from_case(case: Case<'_>) -> Vec<Cause> {
    let head = case.stack.head.clone().unwrap_or_default();
    let own = Cause {
        error_type: case.failure.error_type.clone().unwrap_or(head.error_type),
        message: case.failure.message.clone().unwrap_or(head.message),
    };
    let mut chain = Vec::new();
    // A panic of Rust's `unwrap` contains the actual error: that error is the cause, not the panic.
    let unwrapped = own.message.split_once("`Err` value: ").map(|(_, error)| {
        let name = error.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
        Cause { error_type: name.to_string(), message: error.to_string() }
    });
    if !own.error_type.is_empty() || !own.message.is_empty() {
        chain.push(own);
    }
    chain.extend(unwrapped);
    // The outermost ones and the root: a hostile stack has thousands.
    let causes = &case.stack.causes;
    let skipped = causes.len().saturating_sub(CAUSES_MAX);
    chain.extend(causes.iter().take(CAUSES_MAX / 2).cloned());
    chain.extend(causes.iter().skip(CAUSES_MAX / 2 + skipped).cloned());
    chain
}
