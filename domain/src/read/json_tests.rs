//! The scanner agrees with `serde_json` on validity, and finds members in hostile text.

use super::*;
use alloc::string::ToString;
use proptest::prelude::*;

fn check(body: &str, pointer: &str, expected: Option<&str>) {
    let found = Raw::new(body).pointer(pointer).map(|raw| raw.text().trim_end().to_string());
    assert_eq!(found.as_deref(), expected, "{pointer} in {body}");
}

#[test]
fn pointers_find_values_as_they_stand() {
    check(r#"{"a":{"b":[1,2.50,"x"]}}"#, "/a/b/1", Some("2.50"));
    check(r#"{"a":{"b":[1,2.50,"x"]}}"#, "/a/b/2", Some("\"x\""));
    check(r#" { "a" : 1.10 , "b" : {} } "#, "/a", Some("1.10"));
    check(r#"{"a/b":1,"m~n":2}"#, "/a~1b", Some("1"));
    check(r#"{"a/b":1,"m~n":2}"#, "/m~0n", Some("2"));
    check(r#"{"a":1,"a":2}"#, "/a", Some("1"));
    check(r#"{"a":"}{\"]","b":3}"#, "/b", Some("3"));
    check(r#"{"a":1}"#, "/b", None);
    check(r#"{"a":1}"#, "", Some(r#"{"a":1}"#));
    check(r#"{"a""#, "/a", None);
    check(r#"[1"#, "/0", Some("1"));
    check(r#"{"a":]"#, "/a", None);
    check("", "/a", None);
}

#[test]
fn escapes_are_resolved_and_lone_surrogates_replaced() {
    let text = |body: &str| Raw::new(body).as_string();
    assert_eq!(text(r#""a\n\"\u00e9\ud83d\ude00""#).as_deref(), Some("a\n\"é😀"));
    assert_eq!(text(r#""\ud83d""#).as_deref(), Some("\u{fffd}"));
    assert_eq!(text(r#""\ude00x""#).as_deref(), Some("\u{fffd}x"));
    assert_eq!(text(r#""\ud83d\u0041""#).as_deref(), Some("\u{fffd}A"));
    assert_eq!(text(r#""\u12""#).as_deref(), Some("\u{fffd}12"));
    assert_eq!(text("\"open").as_deref(), None);
}

#[test]
fn depth_costs_no_stack() {
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    assert!(is_valid(&deep));
    assert!(!is_valid(&deep[1..]));
    assert_eq!(Raw::new(&deep).elements().count(), 1);
}

proptest! {
    #[test]
    fn validity_agrees_with_serde_json(text in "[\\[\\]{}\":, 0-9eE.+\\-tfnuabcrls\\\\]{0,24}") {
        let serde = serde_json::from_str::<serde_json::Value>(&text);
        // serde_json rejects lone surrogates and numbers beyond f64; both are valid grammar.
        let refused_by_range = serde.as_ref().is_err_and(|e| {
            let says = e.to_string();
            says.contains("out of range") || says.contains("surrogate") || says.contains("hex escape")
        });
        prop_assert!(refused_by_range || is_valid(&text) == serde.is_ok(), "{text}");
    }

    #[test]
    fn nothing_panics(text in "\\PC{0,64}", pointer in "(/[a0-2~]{0,2}){0,3}") {
        let raw = Raw::new(&text);
        let _ = (raw.pointer(&pointer), raw.as_scalar(), raw.members().count(), is_valid(&text));
    }
}

#[test]
fn a_string_says_something_if_its_text_is_more_than_blanks() {
    let literals = [
        r#""""#,
        r#""  ""#,
        r#""\n\t\r""#,
        r#""\u0020""#,
        "\"\u{a0}\"",
        r#""\f""#,
        r#""a""#,
        r#"" \"x""#,
        r#""\u0041""#,
        r#""é""#,
        "7",
        "null",
        "{}",
    ];
    for literal in literals {
        let raw = Raw::new(literal);
        let says = raw.as_text().is_some_and(|text| !text.trim().is_empty());
        assert_eq!(raw.says_something(), says, "{literal}");
    }
}
