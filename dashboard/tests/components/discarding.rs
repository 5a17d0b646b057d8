//! The form of a discard in a real browser.

use crate::fixture::{frame, show};
use dashboard::component::DiscardForm;
use dashboard::reactive::prelude::*;
use dashboard_model::discard::Form;
use domain::discard::DiscardReason;
use domain::group::Tally;
use domain::money::{Currency, Money, Purse};
use domain::replay::LeftOut;
use domain::time::Timestamp;
use wasm_bindgen_test::wasm_bindgen_test;
use wire::DiscardPreviewAnswer;

fn preview(letters: i64) -> DiscardPreviewAnswer {
    let money = Money { amount: 1_234.into(), currency: Currency::parse("EUR").unwrap() };
    DiscardPreviewAnswer {
        letters: Tally { letters, priced: letters, money: Purse::from(Some(money)) },
        left_out: vec![LeftOut { reason: "in replay r-1, which is under way".into(), letters: 2 }],
        seen_at: Timestamp::from_ms(1_795_000_000_000),
        kept_until: Some(Timestamp::from_ms(1_797_592_000_000)),
    }
}

#[wasm_bindgen_test]
async fn a_discard_shows_its_effect_before_it_asks_for_a_reason() {
    let (seen, form) = (RwSignal::new(None), RwSignal::new(Form::default()));
    let fixture = show(move || view! { <DiscardForm seen form /> });
    assert!(fixture.text().contains("Counting the letters…"), "{}", fixture.text());
    seen.set(Some(preview(3)));
    frame().await;
    for words in ["This gives up €1,234.00.", "2 letters in replay r-1, which is under way", "You can undo this until"]
    {
        assert!(fixture.text().contains(words), "{words} in {}", fixture.text());
    }
    assert!(fixture.text().contains("Optional."), "{}", fixture.text());
    fixture.get("input[value=other]").click();
    frame().await;
    assert_eq!(form.get_untracked().reason, Some(DiscardReason::Other));
    assert!(fixture.text().contains("Required."), "{}", fixture.text());
    assert!(!fixture.text().contains("to confirm"), "a small discard needs no typed count");
    seen.set(Some(preview(200_000)));
    frame().await;
    assert!(fixture.text().contains("Type 200000 to confirm"), "{}", fixture.text());
}
