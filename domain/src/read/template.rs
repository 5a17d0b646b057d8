//! The message template: what varies between two occurrences of one error is masked, the words stay.

use alloc::string::String;

/// What stands for whatever varies.
pub const MASK: &str = "*";

/// The most of a message that is looked at, bytes.
const MESSAGE_BYTES_MAX: usize = 8 * 1024;

/// The template of a message.
pub fn of(message: &str, _error_type: &str) -> String {
    let mut out = String::new();
    for word in super::stamp::head(message, MESSAGE_BYTES_MAX).split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(if word.bytes().any(|b| b.is_ascii_digit()) { MASK } else { word });
    }
    out
}
