//! A plan that is being made in steps, in a real browser: its progress, its end, and what a person can do.

use crate::fixture::{frame, show};
use dashboard::component::DraftProgress;
use dashboard::reactive::prelude::*;
use serde_json::json;
use wasm_bindgen_test::wasm_bindgen_test;
use wire::DraftView;

fn draft(read: u64, failed: Option<&str>) -> Option<DraftView> {
    let mut draft = json!({
        "id": "r", "made_by": "otto", "made_at": 0, "read": read, "waiting": 1_000_000, "letters": read - 1,
    });
    if let Some(why) = failed {
        draft["failed"] = json!(why);
    }
    Some(serde_json::from_value(draft).unwrap())
}

#[wasm_bindgen_test]
async fn a_plan_in_steps_shows_its_progress_until_it_is_cancelled_or_fails() {
    let (shown, presses, why_not) = (RwSignal::new(draft(20_000, None)), RwSignal::new(0), RwSignal::new(None));
    let fixture = show(move || {
        view! { <DraftProgress draft=shown on_cancel=move |()| presses.update(|n| *n += 1) why_not /> }
    });
    frame().await;
    let bar = fixture.get("[role=progressbar]");
    assert_eq!(bar.get_attribute("aria-valuenow").as_deref(), Some("20000"));
    assert_eq!(bar.get_attribute("aria-valuemax").as_deref(), Some("1000000"));
    let text = fixture.text();
    assert!(
        text.contains("otto is making a plan: 20,000 of 1,000,000 letters read, 19,999 letters in the plan"),
        "{text}"
    );
    shown.set(draft(40_000, None));
    frame().await;
    assert_eq!(fixture.get("[role=progressbar]").get_attribute("aria-valuenow").as_deref(), Some("40000"));
    assert!(fixture.text().contains("Cancel plan"), "{}", fixture.text());
    fixture.get("button").click();
    frame().await;
    assert_eq!(presses.get_untracked(), 1);

    shown.set(draft(40_000, Some("no letter of this group can be replayed now")));
    frame().await;
    let alert = fixture.get("[role=alert]").text_content().unwrap_or_default();
    assert_eq!(alert, "No plan was made. No letter of this group can be replayed now.");
    assert!(fixture.find("[role=progressbar]").is_none() && fixture.text().contains("Dismiss"), "{}", fixture.text());

    why_not.set(Some("Your role may not plan.".to_string()));
    frame().await;
    assert!(fixture.text().contains("Your role may not plan."), "{}", fixture.text());
    fixture.get("button").click();
    frame().await;
    assert_eq!(presses.get_untracked(), 1, "it does nothing");
}
