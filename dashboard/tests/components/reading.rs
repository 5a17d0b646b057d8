//! The JSON reader accepts and rejects the same texts as serde_json.

use dashboard::json::{read, text};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use wasm_bindgen_test::wasm_bindgen_test;

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Word {
    One,
    InFlight,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Carries {
    Text(String),
    Pair { left: u8, right: i64 },
    Nothing,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state")]
enum Tagged {
    Open,
    Waits { until: i64, word: Option<Word>, list: Vec<u32> },
}

#[derive(Debug, PartialEq, Deserialize)]
struct Whole {
    name: String,
    #[serde(default)]
    known: Option<u64>,
    words: BTreeMap<Word, bool>,
    #[serde(flatten)]
    state: Tagged,
}

impl PartialOrd for Word {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Eq for Word {}

impl Ord for Word {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self == &Self::InFlight).cmp(&(other == &Self::InFlight))
    }
}

/// Checks that both readers return the same value, or that both fail.
fn same<T: DeserializeOwned + PartialEq + std::fmt::Debug>(text: &str) {
    assert_eq!(read::<T>(text).ok(), serde_json::from_str::<T>(text).ok(), "{text}");
}

#[wasm_bindgen_test]
fn every_shape_is_read_as_serde_json_reads_it() {
    for text in [
        r#"{"name":"a \"b\" \u00e9 \\","words":{"one":true,"in_flight":false},"state":"open"}"#,
        r#" { "until" : -5 , "state" : "waits", "name" : "" , "words" : { } , "list" : [ ] } "#,
        r#"{"name":"x","extra":{"a":["}",{"b":"\\\""}]},"known":7,"words":{},"state":"waits","until":9,"word":"one","list":[1,2,3]}"#,
        r#"{"name":"x","known":null,"words":{},"state":"waits","until":1,"word":null,"list":[4294967295]}"#,
        r#"{"name":"x","words":{},"state":"waits","until":1,"list":[4294967296]}"#,
        r#"{"name":"x","words":{"three":true},"state":"open"}"#,
        r#"{"name":"x","words":{},"state":"closed"}"#,
        r#"{"name":"x","words":{}}"#,
        r#"{"words":{},"state":"open"}"#,
        r#"{"name":1,"words":{},"state":"open"}"#,
        r#"{"name":"x","words":[],"state":"open"}"#,
        r#"{"name":"x","words":{},"state":"open""#,
        "",
    ] {
        same::<Whole>(text);
    }
}

#[wasm_bindgen_test]
fn variants_and_numbers_are_read_as_serde_json_reads_them() {
    for text in [
        r#""nothing""#,
        r#"{"text":"a"}"#,
        r#"{"pair":{"left":255,"right":-1}}"#,
        r#"{"pair":{"left":256,"right":-1}}"#,
        r#"{"other":1}"#,
        r#""text""#,
        r#"{"text":"a","pair":1}"#,
    ] {
        same::<Carries>(text);
        same::<Vec<Carries>>(&format!("[{text}, {text}]"));
    }
    for text in ["9007199254740991", "-1", "1.5", "true", "null", "[]", "\"1\""] {
        same::<u64>(text);
        same::<i64>(text);
        same::<bool>(text);
        same::<Option<u64>>(text);
        same::<String>(text);
        same::<Vec<u8>>(text);
    }
}

#[wasm_bindgen_test]
fn arrays_of_a_fixed_length_have_that_length() {
    for text in [r#"[["a",1],["b",2]]"#, r#"[["a"]]"#, r#"[["a",1,2]]"#, "[[]]", "[]", r#"[ [ "a" , 1 ] ]"#] {
        same::<Vec<(String, u64)>>(text);
    }
    same::<Vec<[u8; 2]>>("[[1,2],[3,4]]");
}

#[wasm_bindgen_test]
fn integers_that_javascript_rounds_are_rejected() {
    for text in ["9007199254740992", "-9007199254740993", "18446744073709551615"] {
        assert_eq!((read::<i64>(text).is_err(), read::<u64>(text).is_err()), (true, true), "{text}");
    }
}

#[wasm_bindgen_test]
fn a_missing_field_is_named() {
    let wrong = read::<Whole>(r#"{"words":{},"state":"open"}"#).unwrap_err();
    assert_eq!(wrong.to_string(), "unexpected JSON: name");
}

#[wasm_bindgen_test]
fn one_string_is_read_without_a_type() {
    let json = r#"{"issuer":"https://a.example","n":1}"#;
    assert_eq!(text(json, "issuer").as_deref(), Some("https://a.example"));
    assert_eq!((text(json, "n"), text(json, "other"), text("no", "n")), (None, None, None));
}
