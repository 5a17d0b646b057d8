//! FEATURE: replaying letters by mouse, by touch on a phone, and by Tab and Enter.

use crate::fixture::{A_REPLAY, BUG, Fixture, QUIET};
use browser::look::By;
use browser::person::Person;
use domain::role::Role;
use local::orders::{Kind, Version};

mod rule_a_wrong_fix_pauses_its_replay_and_the_right_one_resumes_it {
    use super::*;

    /// The walk through the demo (docs/demo.md) with the defaults, while new orders arrive. Of the first 30 gift cards, 22 are
    /// engraved. Version 2 fixes new orders and the other 8, so more than half of any wave after the canary return.
    #[tokio::test]
    async fn example_thirty_gift_cards() {
        story(By::Mouse).await;
    }

    #[tokio::test]
    async fn example_thirty_gift_cards_on_a_phone() {
        story(By::Touch).await;
    }

    #[tokio::test]
    async fn example_thirty_gift_cards_by_keyboard() {
        story(By::Keyboard).await;
    }

    async fn story(by: By) {
        let fixture = Fixture::open().await;
        let otto = fixture.enters(Role::Operator, "otto").await;
        otto.works(by).await;
        letters_arrive(&fixture, &otto).await;
        the_cause_is_found(&otto).await;
        the_wrong_fix_is_planned(&fixture, &otto).await;
        let anna = fixture.enters(Role::Approver, "anna").await;
        anna.works(by).await;
        it_is_approved(&anna).await;
        the_replay_pauses(&otto, &anna).await;
        the_right_fix_resumes_it(&fixture, &otto, &anna).await;
        returned_letters_are_replayed(&otto, &anna).await;
        a_regression_reopens_the_group(&fixture, &otto).await;
        otto.leaves(&[]).await;
        anna.leaves(&[]).await;
    }
}

async fn letters_arrive(fixture: &Fixture, otto: &Person) {
    otto.sees("No dead letters.").await;
    fixture.panel().place(30, Kind::GiftCard).await;
    for kind in [Kind::Malformed, Kind::UnknownProduct, Kind::Expired, Kind::DeletedTenant] {
        fixture.panel().place(3, kind).await;
    }
    otto.find("link", BUG).await;
    otto.sees("42 open letters").await;
    // New groups are not shown until the person asks for them.
    if otto.has("button", "4 new — show").await {
        otto.clicks("button", "4 new — show").await;
    }
    let rows = otto.names("row").await;
    assert_eq!(rows.len(), 6, "a header and five groups: {rows:?}");
    let links = otto.names("link").await;
    let position = |name: &str| links.iter().position(|link| link.contains(name)).expect("a link");
    assert!(position("index out of bounds") < position("TenantDeleted"), "most money first: {links:?}");
    otto.shows("list").await;
}

async fn the_cause_is_found(otto: &Person) {
    otto.clicks("link", BUG).await;
    otto.find("heading", BUG).await;
    if otto.by() != By::Touch {
        otto.sees("matched: error type panic; the consumer's stamp claims the same").await;
    }
    otto.sees("orders::pricing").await;
    otto.sees("No fix is declared.").await;
    otto.clicks("link", "Payload").await;
    otto.sees("gift_card").await;
    otto.sees("Attributes").await;
    otto.shows("group-payload").await;
    otto.clicks("link", "Trace").await;
}

async fn the_wrong_fix_is_planned(fixture: &Fixture, otto: &Person) {
    otto.shows("group").await;
    fixture.panel().deploy(Version::V2).await;
    // New orders go through: no failure closes the gate.
    fixture.panel().place(6, Kind::GiftCard).await;
    otto.clicks("button", "Declare a fix…").await;
    otto.find("dialog", "Declare a fix").await;
    otto.writes("Version, exactly as the deployment reports it", "v2").await;
    otto.writes("Note (optional)", "Gift cards have no weight: shipping is free for them now.").await;
    otto.clicks("button", "Declare fix").await;
    otto.sees("clears in").await;
    otto.shows("group-gate-closed").await;
    otto.clicks("button", "Plan replay").await;
    otto.find("image", "3 waves of 2, 10, 18").await;
    otto.shows("group-plan").await;
}

async fn it_is_approved(anna: &Person) {
    anna.clicks("link", BUG).await;
    anna.sees(QUIET).await;
    approves(anna, 30, Some("group-approve-dialog")).await;
    anna.clicks("link", "Waves, ledger and letters →").await;
    anna.find("heading", "Ledger").await;
}

/// Approves in the dialog. The money at risk decides whether the count must be typed.
async fn approves(anna: &Person, letters: u64, shot: Option<&str>) {
    anna.clicks("button", "Approve and replay…").await;
    // As few as one: only those of a canary may have returned.
    let noun = if letters == 1 { "letter" } else { "letters" };
    anna.find("dialog", &format!("Replay {letters} {noun} to orders?")).await;
    anna.sees("anna is a demo identity.").await;
    anna.writes("Why is it safe to replay now?", "Ten of them went through on staging.").await;
    let count = format!("Type {letters} to confirm");
    if anna.has("textbox", &count).await {
        anna.writes(&count, &letters.to_string()).await;
    }
    if let Some(shot) = shot {
        anna.shows(shot).await;
    }
    anna.clicks("button", "Approve and replay").await;
    anna.sees("Approved. Wave 1 is starting.").await;
}

async fn the_replay_pauses(otto: &Person, anna: &Person) {
    anna.sees_within("Paused automatically", A_REPLAY).await;
    anna.sees("returned. ").await;
    anna.sees("Same cause").await;
    anna.shows("replay-paused").await;
    otto.sees("Paused automatically").await;
    otto.shows("group-paused").await;
}

async fn the_right_fix_resumes_it(fixture: &Fixture, otto: &Person, anna: &Person) {
    fixture.panel().deploy(Version::V3).await;
    otto.clicks("button", "Declare a new fix…").await;
    otto.sees("orders v3 went live").await;
    otto.clicks("button", "Use this version").await;
    otto.shows("group-declare-dialog").await;
    otto.clicks("button", "Declare fix").await;
    otto.sees(QUIET).await;
    anna.clicks("button", "Resume replay…").await;
    anna.finds_beginning("dialog", "Resume replay of ").await;
    anna.writes("Why will it work now?", "v3 was tested with a returned letter.").await;
    anna.shows("replay-resume-dialog").await;
    // The page of the group may have shown the quiet time of the fix before; until this one's has passed, the button is off.
    anna.sees(QUIET).await;
    anna.clicks("button", "Resume replay").await;
    // Its duration depends on the consumer's receipts.
    anna.shows("replay-running").await;
    otto.shows("group-running").await;
    anna.sees_within("Finished", A_REPLAY).await;
    anna.sees("letters remaining, starting with a canary of").await;
    // The head's state, not only the event.
    anna.sees("✓ Finished").await;
    anna.shows("replay-finished").await;
}

async fn returned_letters_are_replayed(otto: &Person, anna: &Person) {
    otto.sees("Last replay").await;
    let words = otto.reads().await;
    let (before, _) = words.split_once(" returned, 0 skipped or expired").expect("the last replay's outcomes");
    let back = before.rsplit(' ').next().and_then(|n| n.parse().ok()).expect("a number");
    assert!((1..=12).contains(&back), "{back} letters of the canary, or of the wave after it, returned");
    otto.clicks("button", "Plan replay").await;
    otto.find("button", "Plan again").await;
    goes_home(anna).await;
    anna.clicks("link", BUG).await;
    anna.find("heading", "Before you replay").await;
    anna.sees(QUIET).await;
    approves(anna, back, None).await;
    otto.sees_within("No open letters since", A_REPLAY).await;
    otto.shows("group-resolved").await;
    otto.clicks("link", "Timeline").await;
    otto.sees("resumed the replay").await;
    otto.shows("group-timeline").await;
    otto.clicks("link", "Trace").await;
    anna.clicks("link", "Replays").await;
    anna.sees("1 earlier replay").await;
    anna.shows("replays").await;
}

async fn a_regression_reopens_the_group(fixture: &Fixture, otto: &Person) {
    fixture.panel().deploy(Version::V1).await;
    fixture.panel().place(1, Kind::GiftCard).await;
    otto.sees("Regressed").await;
    otto.sees("Previous fix failed").await;
    otto.shows("group-regressed").await;
    goes_home(otto).await;
    // On a phone the first row says it.
    if otto.by() != By::Touch {
        otto.sees("Worst now").await;
    }
    otto.shows("list-regressed").await;
}

/// Opens the list of groups. A phone has no room for the mark, and a group's page has two links to the list.
async fn goes_home(person: &Person) {
    if person.by() != By::Touch {
        return person.clicks("link", "Dead Letter Office, home").await;
    }
    if person.names("link").await.iter().filter(|name| *name == "Groups").count() > 1 {
        person.clicks("link", "Replays").await;
    }
    person.clicks("link", "Groups").await;
}
