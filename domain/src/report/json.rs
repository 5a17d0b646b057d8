//! Reading JSON that runtimes post though no parser has to take it.

use alloc::borrow::Cow;
use alloc::string::String;
use serde::de::DeserializeOwned;

/// The characters of an escape, `\ud83d`.
const ESCAPE_BYTES: usize = 6;
/// What stands in place of half a character, as JSON.
const REPLACED: &str = "\\ufffd";

/// Parses JSON. If that fails, tries once more without bytes that are no UTF-8 and without halves of characters: Node
/// writes `\ud83d` where a text was cut in the middle of an emoji. Returns `None` if the result is still not JSON.
pub fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    serde_json::from_slice(bytes).ok().or_else(|| serde_json::from_str(&repaired(bytes)).ok())
}

fn repaired(bytes: &[u8]) -> String {
    let text: Cow<'_, str> = String::from_utf8_lossy(bytes);
    let mut whole = String::with_capacity(text.len());
    let mut rest = &*text;
    while let Some(at) = rest.find('\\') {
        whole.push_str(&rest[..at]);
        rest = &rest[at..];
        let (written, read) = match (surrogate(rest), surrogate(rest.get(ESCAPE_BYTES..).unwrap_or_default())) {
            (None, _) => {
                // The backslash and the character that it escapes, so that `\\ud83d` stays.
                let read = rest.char_indices().nth(2).map_or(rest.len(), |(at, _)| at);
                (&rest[..read], read)
            }
            (Some(Half::First), Some(Half::Second)) => (&rest[..2 * ESCAPE_BYTES], 2 * ESCAPE_BYTES),
            (Some(_), _) => (REPLACED, ESCAPE_BYTES),
        };
        whole.push_str(written);
        rest = &rest[read..];
    }
    whole.push_str(rest);
    whole
}

enum Half {
    First,
    Second,
}

/// Reads an escape that stands for half a character.
fn surrogate(text: &str) -> Option<Half> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    match u16::from_str_radix(digits, 16).ok()? {
        0xd800..=0xdbff => Some(Half::First),
        0xdc00..=0xdfff => Some(Half::Second),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    #[test]
    fn halves_of_characters_are_replaced() {
        let rows = [
            (r#""order \ud83d""#, Some("order \u{fffd}")),
            (r#""\ude00 order""#, Some("\u{fffd} order")),
            (r#""\ud83d\ud83d\ude00""#, Some("\u{fffd}\u{1f600}")),
            (r#""\ud83d\n\\ud83d\\\ud83d""#, Some("\u{fffd}\n\\ud83d\\\u{fffd}")),
            (r#""\ud83d é""#, Some("\u{fffd} é")),
            (r#""\u12""#, None),
            ("\"\\", None),
            ("{\"a\":NaN}", None),
            ("", None),
        ];
        for (json, wanted) in rows {
            assert_eq!(parse::<String>(json.as_bytes()).as_deref(), wanted, "{json}");
        }
        assert_eq!(parse::<String>(b"\"\xff\"").as_deref(), Some("\u{fffd}"));
    }

    proptest! {
        #[test]
        fn what_is_json_already_is_read_as_it_is(text in "(\\PC|\\\\|\\n|\u{1f600}){0,40}") {
            let json = serde_json::to_string(&text).unwrap_or_default();
            prop_assert_eq!(repaired(json.as_bytes()), json.clone());
            prop_assert_eq!(parse::<Value>(json.as_bytes()), Some(Value::String(text)));
        }
    }
}
