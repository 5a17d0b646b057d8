//! FEATURE: a transform changes wrong payloads before they are sent.

use crate::fixture::{A_REPLAY, BUG, Fixture};
use browser::look::{Screen, Theme};
use browser::person::Person;
use domain::role::Role;
use local::orders::{Kind, Version};
use thirtyfour::Key;

/// Returns where the program and the confirming button are, in pixels from the top.
const PLACES: &str = "return ['.program textarea', '.dialog[open] .button-primary']\
    .map(at => Math.round(document.querySelector(at).getBoundingClientRect().top))";
/// Returns whether the note can be pressed without scrolling.
const NOTE_IS_IN_SIGHT: &str = "const note = document.querySelector('.program ~ .field textarea');
    document.querySelector('.dialog[open] .dialog-body').scrollTop = 0;
    const box = note.getBoundingClientRect();
    return document.elementFromPoint(box.x + box.width / 2, box.bottom - 2) === note";

async fn places(who: &Person) -> Vec<i64> {
    serde_json::from_value(who.script(PLACES, Vec::new()).await).expect("pixels")
}

async fn the_note_is_in_sight_on_a_phone(who: &Person) {
    who.sees_as(Screen::Phone, Theme::Light).await;
    assert_eq!(who.script(NOTE_IS_IN_SIGHT, Vec::new()).await, true);
    who.sees_as(Screen::Wide, Theme::Light).await;
}

mod rule_only_sent_letters_are_changed {
    use super::*;

    /// Version 2 accepts gift cards without an engraving. A program that removes the engraving fixes the others.
    #[tokio::test]
    async fn example_engraved_gift_cards() {
        let fixture = Fixture::open().await;
        let otto = fixture.enters(Role::Operator, "otto").await;
        fixture.panel().place(12, Kind::GiftCard).await;
        otto.clicks("link", BUG).await;
        otto.sees("12").await;
        fixture.panel().deploy(Version::V2).await;

        otto.clicks("button", "Declare a fix…").await;
        otto.clicks("radio", "Payload transform").await;
        otto.sees("Tried on 12 letters: 0 changed").await;
        let before = places(&otto).await;
        otto.writes("jq program", " | nothing_like_it").await;
        otto.sees("Line 3, column 5: There is no filter `nothing_like_it`").await;
        assert_eq!(places(&otto).await, before, "field and buttons do not move while somebody types");
        otto.shows("transform-fault").await;
        otto.clicks("textbox", "jq program").await;
        for _ in 0.." | nothing_like_it".len() {
            otto.types(Key::Backspace).await;
        }
        otto.types(" | del(.gift_card.engraving)").await;
        otto.sees("/gift_card/engraving").await;
        otto.shows("transform-preview").await;
        the_note_is_in_sight_on_a_phone(&otto).await;
        otto.sees("Not saved. A dry run saves it as v1.").await;
        otto.clicks("button", "Dry run over 12 letters").await;
        otto.sees("Dry run over 12 letters: ").await;
        otto.shows("transform-dry-run").await;
        otto.clicks("button", "Declare fix").await;
        otto.sees("Payload transform").await;
        otto.clicks("button", "Plan replay").await;
        otto.sees("changed by transform v1 before sending; originals are kept").await;
        otto.shows("transform-plan").await;

        let anna = fixture.enters(Role::Approver, "anna").await;
        anna.clicks("link", BUG).await;
        anna.clicks("button", "Approve and replay…").await;
        anna.sees("Sent as changed by the program, version 1").await;
        anna.sees("/gift_card/engraving").await;
        anna.shows("transform-approve").await;
        anna.writes("Why is it safe to replay now?", "The engraving is printed elsewhere.").await;
        if anna.has("textbox", "Type 12 to confirm").await {
            anna.writes("Type 12 to confirm", "12").await;
        }
        anna.clicks("button", "Approve and replay").await;
        anna.sees_within("No open letters since", A_REPLAY).await;
        otto.leaves(&[]).await;
        anna.leaves(&[]).await;
    }
}
