//! Cutting texts to a length without splitting a character.

use alloc::string::String;

/// Returns the longest beginning of at most `bytes` bytes that ends between two characters.
pub fn head(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

/// Returns the longest end of at most `bytes` bytes that begins between two characters.
pub fn tail(text: &str, bytes: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(bytes))..]
}

/// Cuts a text to at most `bytes` bytes, between two characters.
pub fn truncate_on_char(text: &mut String, bytes: usize) {
    text.truncate(text.floor_char_boundary(bytes));
}
