//! Reads the office's JSON with the browser's own reader: it is there already, and a quarter of serde_json's size.

use serde::de::DeserializeOwned;

/// Reads a value, or says what is wrong with it.
///
/// Numbers are JavaScript's: an integer beyond 2^53 is refused, not rounded. The wire has counts and times; amounts of
/// money are texts.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let value = js_sys::JSON::parse(text).map_err(|_| "no JSON".to_string())?;
    serde_wasm_bindgen::from_value(value).map_err(|error| error.to_string())
}

/// A text that stands in JSON under a name, where nothing else of it is wanted: a reader for a type costs more.
pub fn text(json: &str, name: &str) -> Option<String> {
    js_sys::Reflect::get(&js_sys::JSON::parse(json).ok()?, &name.into()).ok()?.as_string()
}
