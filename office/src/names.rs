//! Names of values.

/// Returns the name of an enum value, as in JSON.
pub fn json_name(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|v| v.as_str().map(String::from)).unwrap_or_default()
}
