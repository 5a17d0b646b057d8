//! What the name of an error's type looks like.

/// Whether a text is the name of an error type: one word with a typical ending, or a dotted path to a class.
pub fn looks_like_type(name: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '$' | ':' | '\\');
    if name.len() > 200 || !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !name.chars().all(is_name) {
        return false;
    }
    let last = name.rsplit(['.', ':', '\\', '$']).next().unwrap_or(name);
    let ends = ["Error", "Exception", "Fault", "Failure", "Timeout", "Interrupt", "Warning"];
    ends.iter().any(|end| last.ends_with(end)) && last.starts_with(|c: char| c.is_ascii_uppercase())
        || (name.contains('.') && last.starts_with(|c: char| c.is_ascii_uppercase()) && last.len() > 3)
}
