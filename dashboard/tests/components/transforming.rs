//! The editor of a payload transform in a real browser: the program, its errors, and its preview.

use crate::fixture::{frame, show};
use dashboard::component::{PreviewList, ProgramField};
use dashboard::reactive::prelude::*;
use serde_json::json;
use wasm_bindgen::JsCast;
use wasm_bindgen_test::wasm_bindgen_test;
use web_sys::{Event, EventInit, HtmlTextAreaElement};
use wire::TransformPreviewAnswer;

fn preview(value: serde_json::Value) -> Option<TransformPreviewAnswer> {
    let mut whole = json!({
        "faults": [], "letters": [], "counts": {"changed": 0, "unchanged": 0, "failed": 0}, "cut": false
    });
    whole.as_object_mut().unwrap().extend(value.as_object().unwrap().clone());
    Some(serde_json::from_value(whole).unwrap())
}

#[wasm_bindgen_test]
async fn a_programs_errors_are_shown_at_the_field() {
    let program = RwSignal::new(".".to_string());
    let faults = RwSignal::new(Vec::new());
    let fixture = show(move || view! { <ProgramField program faults /> });
    frame().await;
    let area: HtmlTextAreaElement = fixture.get("textarea").unchecked_into();
    assert_eq!((area.value().as_str(), fixture.attribute("textarea", "aria-invalid")), (".", None));
    area.set_value(".a = foo");
    let bubbles = EventInit::new();
    bubbles.set_bubbles(true);
    area.dispatch_event(&Event::new_with_event_init_dict("input", &bubbles).unwrap()).unwrap();
    assert_eq!(program.get_untracked(), ".a = foo");
    faults.set(
        serde_json::from_value(json!([{ "line": 1, "column": 6, "message": "There is no filter `foo`." }])).unwrap(),
    );
    frame().await;
    assert!(fixture.text().contains("Line 1, column 6: There is no filter `foo`."), "{}", fixture.text());
    assert_eq!(fixture.attribute("textarea", "aria-invalid").as_deref(), Some("true"));
    let note = fixture.attribute("textarea", "aria-describedby").unwrap();
    assert!(fixture.get(&format!("#{note}")).text_content().unwrap().contains("column 6"));
}

#[wasm_bindgen_test]
async fn a_preview_shows_changed_fields_as_text() {
    let shown = RwSignal::new(None);
    let busy = RwSignal::new(true);
    let fixture = show(move || view! { <PreviewList preview=shown busy examples=true /> });
    frame().await;
    assert!(fixture.text().contains("Trying it on waiting letters"), "{}", fixture.text());
    assert_eq!(fixture.attribute("section", "aria-busy").as_deref(), Some("true"));
    busy.set(false);
    let change = |pointer: &str, before, after| json!({ "pointer": pointer, "before": before, "after": after });
    shown.set(preview(json!({
        "counts": { "changed": 1, "unchanged": 1, "failed": 1 }, "cut": true,
        "letters": [
            { "letter": "aaaaaaaabbbb", "failure": "The program gives no value." },
            { "letter": "ccccccccdddd", "changes": [
                change("/total", Some("<b>1.10</b>"), Some("2")), change("/gone", Some("1"), None), change("/new", None, Some("3")),
            ] },
            { "letter": "eeeeeeeeffff" },
        ],
    })));
    frame().await;
    let text = fixture.text();
    for words in [
        "Tried on 3 letters: 1 changed, 1 unchanged, 1 failed",
        "sample is incomplete",
        "aaaaaaaa",
        "gives no value",
        "/gone",
    ] {
        assert!(text.contains(words), "{words} in {text}");
    }
    assert!(fixture.find(".was b").is_none(), "payloads are text");
    assert_eq!(fixture.get(".was").text_content().as_deref(), Some("<b>1.10</b>"));
    for words in ["<b>1.10</b> → 2", "/gone removed 1", "/new added 3"] {
        assert!(text.contains(words), "{words} in {text}");
    }
    shown.set(preview(json!({})));
    frame().await;
    assert!(fixture.text().contains("No waiting letters"), "{}", fixture.text());
    assert!(fixture.get("details").text_content().unwrap().contains(".customer //= {}"), "examples");
    assert_eq!(fixture.attribute("details", "open"), None);
    shown.set(preview(json!({ "faults": [{ "line": 1, "column": 1, "message": "x" }] })));
    frame().await;
    assert!(fixture.text().contains("Not tried"), "{}", fixture.text());
    assert!(fixture.attribute("details", "open").is_some(), "examples in the place of the preview");
}
