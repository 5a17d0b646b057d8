//! The members of a record: JSON, dictionaries of Python and Ruby, printed structures of Rust and Java.

use super::words;

/// Calls back with each key and scalar value of a record, without quotes, down to a depth, and with whether the value is
/// in a list. Of a list, the first element counts; of one that says where something is, all do.
pub fn members<'a>(inside: &'a str, depth_max: usize, each: &mut dyn FnMut(&'a str, &'a str, bool)) {
    let (mut at, mut depth, mut key, mut in_list) = (0, 1_usize, None, false);
    while let Some(c) = inside[at..].chars().next() {
        let start = at;
        at += c.len_utf8();
        let token = match c {
            '{' => {
                depth += 1;
                key = None;
                continue;
            }
            '}' => {
                depth = depth.saturating_sub(1);
                continue;
            }
            '"' | '\'' => {
                let mut escaped = false;
                let end = inside[at..].find(|c| {
                    let ends = c == inside[start..].chars().next().unwrap_or(c) && !escaped;
                    escaped = c == '\\' && !escaped;
                    ends
                });
                let token = &inside[at..end.map_or(inside.len(), |end| at + end)];
                at = end.map_or(inside.len(), |end| at + end + 1);
                token
            }
            '[' | ']' => {
                in_list = c == '[';
                key = key.filter(|_| in_list);
                continue;
            }
            ',' | ';' | ':' | '=' | '>' => continue,
            c if c.is_whitespace() => continue,
            _ => {
                // A bare value may have blanks, a bare key has none.
                let ends = |c: char| matches!(c, ',' | ';' | '{' | '}' | '[' | ']');
                let ends_key = |c: char| ends(c) || matches!(c, ':' | '=') || c.is_whitespace();
                let end = if key.is_some() { inside[at..].find(ends) } else { inside[at..].find(ends_key) };
                at = end.map_or(inside.len(), |end| at + end);
                inside[start..at].trim_end()
            }
        };
        let is_key = inside[at..].trim_start().starts_with([':', '=']) && !inside[at..].starts_with("::");
        if is_key && (key.is_none() || c == '"' || c == '\'') {
            key = Some(token);
        } else if let Some(name) = key.take().filter(|_| depth <= depth_max) {
            each(name, token, in_list);
            // `"path": ["customer", "vatId"]`
            key = Some(name).filter(|name| in_list && words::is_place_key(name));
        }
    }
}
