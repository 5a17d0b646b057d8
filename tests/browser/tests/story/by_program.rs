//! FEATURE: a transform changes wrong payloads before they are sent.

use crate::fixture::{A_REPLAY, BUG, Fixture};
use domain::role::Role;
use local::orders::{Kind, Version};
use thirtyfour::Key;

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
        otto.writes("jq program", " | nothing_like_it").await;
        otto.sees("Line 1, column 5: There is no filter `nothing_like_it`").await;
        otto.shows("transform-fault").await;
        otto.clicks("textbox", "jq program").await;
        for _ in 0.." | nothing_like_it".len() {
            otto.types(Key::Backspace).await;
        }
        otto.types(" | del(.gift_card.engraving)").await;
        otto.sees("/gift_card/engraving").await;
        otto.shows("transform-preview").await;
        otto.clicks("button", "Save as v1").await;
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
