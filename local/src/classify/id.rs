//! Ids of letters: any JSON value, repeated in the answer as it is written.

use domain::read::json::Raw;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// An id. A number keeps all its digits, whichever number type could hold it.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct Id(Box<RawValue>);

impl Id {
    /// The id that is written so. Half a character, which the answer's reader might refuse, becomes U+FFFD.
    pub fn new(raw: Raw<'_>) -> Self {
        let text = raw.text().trim_end();
        let is_sound = !text.contains("\\u") || serde_json::from_str::<Value>(text).is_ok();
        let written = if is_sound { RawValue::from_string(text.to_owned()).ok() } else { None };
        let replaced = || serde_json::value::to_raw_value(&raw.as_string()).ok();
        Self(written.or_else(replaced).unwrap_or_else(|| RawValue::NULL.to_owned()))
    }
}
