//! The tokens of a template: words, and punctuation by itself.

use alloc::vec::Vec;

/// The maximum number of tokens that may be data; all tokens after them form one ending.
pub const TOKENS_MAX: usize = 64;
/// The longest hole, tokens.
pub const HOLE_TOKENS_MAX: usize = 4;

/// Splits a template into tokens. The text after the last counted token is one token, so that no text is lost.
pub fn split(template: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = template.trim();
    while let Some(c) = rest.chars().next() {
        let end = if tokens.len() + 1 >= TOKENS_MAX {
            rest.len()
        } else if is_mark(c) {
            c.len_utf8()
        } else {
            rest.find(|c: char| c == ' ' || is_mark(c)).unwrap_or(rest.len())
        };
        tokens.push(rest[..end].trim_end());
        rest = rest[end..].trim_start();
    }
    tokens
}

fn is_mark(c: char) -> bool {
    matches!(c, ',' | ';' | ':' | '(' | ')' | '[' | ']' | '{' | '}' | '<' | '>' | '"' | '\'' | '=' | '|' | '!' | '?')
}

/// Whether a token is a mark of punctuation.
pub fn is_punctuation(token: &str) -> bool {
    token.chars().all(|c| is_mark(c) || matches!(c, '-' | '.' | '/' | '&' | '+'))
}

/// Directories of a system and its programs (Filesystem Hierarchy Standard 3.0): what is there is a part of a program.
const SYSTEM: [&str; 10] = ["/bin/", "/boot/", "/dev/", "/etc/", "/lib", "/proc/", "/run/", "/sbin/", "/sys/", "/usr/"];

/// Whether a token is a path to a part of a system or a program, without data in it.
pub fn is_of_system(token: &str) -> bool {
    SYSTEM.iter().any(|root| token.starts_with(root)) && !token.contains('*')
}
