//! The schema of notices in `docs/schema` is that of the type. Run it with `UPDATE=1` to write it.
#![cfg(feature = "schema")]

use domain::notice::Notice;
use serde_json::{Value, json};

#[test]
fn the_schema_is_that_of_the_type() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/schema/notice.json");
    let mut schema = schemars::schema_for!(Notice).to_value();
    schema["title"] = json!("Notice of a consumer");
    if std::env::var_os("UPDATE").is_some() {
        let text = serde_json::to_string_pretty(&schema).expect("JSON");
        std::fs::write(file, format!("{text}\n")).expect("it can be written");
    }
    let kept = std::fs::read_to_string(file).unwrap_or_default();
    // Not as texts: whether keys keep their order depends on what else is built.
    let kept: Value = serde_json::from_str(&kept).unwrap_or_default();
    assert_eq!(kept, schema, "run this test with UPDATE=1, and look at the difference");
}
