//! FEATURE: replaying some letters of a group.

use crate::fixture::{A_REPLAY, BUG, Fixture};
use browser::person::{PATIENCE, Person};
use domain::role::Role;
use harness::running::within;
use local::orders::{Kind, Version};
use std::collections::BTreeSet;
use thirtyfour::Key;

/// Returns each row's letter and tenant.
const ROWS: &str = "return [...document.querySelectorAll('table.rows tbody tr')]
    .map(row => [row.querySelector('th').innerText, row.querySelector('.cell-more').innerText])";
const URL: &str = "return location.pathname + location.search";

mod rule_a_plan_sends_exactly_the_filtered_letters {
    use super::*;

    #[tokio::test]
    async fn example_the_gift_cards_of_one_tenant() {
        let fixture = Fixture::open().await;
        let otto = fixture.enters(Role::Operator, "otto").await;
        fixture.panel().place(24, Kind::GiftCard).await;
        otto.clicks("link", BUG).await;
        otto.sees("24").await;
        fixture.panel().deploy(Version::V3).await;
        let tenant = letters_are_filtered(&otto).await;
        let chosen = the_filter_is_in_the_url(&otto, &tenant).await;
        the_filtered_letters_are_planned(&otto, &tenant, chosen.len()).await;
        let anna = fixture.enters(Role::Approver, "anna").await;
        the_filtered_letters_are_replayed(&anna, &tenant, chosen.len()).await;
        the_other_letters_wait(&otto, &tenant, &chosen).await;
        otto.leaves(&[]).await;
        anna.leaves(&[]).await;
    }
}

/// Returns the listed letters with their tenants.
async fn rows(who: &Person) -> Vec<(String, String)> {
    serde_json::from_value(who.script(ROWS, Vec::new()).await).expect("names and tenants")
}

/// Waits until the list contains exactly these letters.
async fn lists(who: &Person, letters: &BTreeSet<String>) {
    let seen = within(PATIENCE, async || {
        let names: BTreeSet<String> = rows(who).await.into_iter().map(|(name, _)| name).collect();
        (names == *letters).then_some(())
    });
    assert!(seen.await.is_some(), "expected {letters:?}, but listed are {:?}", rows(who).await);
}

/// Types into the tenant field, which suggests values.
async fn writes_tenant(who: &Person, tenant: &str) {
    who.clicks("combobox", "Tenant").await;
    who.types(tenant).await;
}

async fn url(who: &Person) -> String {
    who.script(URL, Vec::new()).await.as_str().unwrap_or_default().to_string()
}

async fn letters_are_filtered(otto: &Person) -> String {
    otto.clicks("link", "Letters 24").await;
    otto.clicks("link", "Waiting 24").await;
    otto.find("region", "Table of letters").await;
    let tenant = rows(otto).await.swap_remove(0).1;
    otto.types("/").await;
    otto.is_at("combobox", "Type").await;
    otto.writes("Replays at most", "x").await;
    otto.sees("Enter a whole number of replays. Use 0 for letters never replayed.").await;
    otto.shows("filter-form").await;
    otto.clicks("textbox", "Replays at most").await;
    otto.types(Key::Backspace + "0").await;
    writes_tenant(otto, "nobody").await;
    otto.clicks("button", "Apply filter").await;
    otto.sees("No match among 24 letters.").await;
    otto.shows("filter-empty").await;
    otto.clicks("button", "Clear filter").await;
    otto.find("region", "Table of letters").await;
    tenant
}

async fn the_filter_is_in_the_url(otto: &Person, tenant: &str) -> BTreeSet<String> {
    let all = rows(otto).await;
    let of_tenant = all.iter().filter(|(_, of)| of == tenant).map(|(name, _)| name.clone());
    let chosen: BTreeSet<String> = of_tenant.collect();
    assert!(chosen.len() > 1 && chosen.len() < 24, "{tenant}: {all:?}");
    let unfiltered = url(otto).await;
    otto.types("/").await;
    writes_tenant(otto, tenant).await;
    otto.types(Key::Enter).await;
    let count = format!("{} of 24 letters match", chosen.len());
    otto.sees(&count).await;
    lists(otto, &chosen).await;
    otto.sees("Declare a fix first.").await;
    otto.shows("filter-list").await;

    // The URL shows the same letters, and the browser's history works.
    let filtered = url(otto).await;
    assert_eq!(filtered, format!("{unfiltered}&tenant={tenant}"));
    let names = all.iter().map(|(name, _)| name.clone()).collect();
    otto.script("history.back()", Vec::new()).await;
    lists(otto, &names).await;
    assert_eq!(url(otto).await, unfiltered);
    otto.script("history.forward()", Vec::new()).await;
    lists(otto, &chosen).await;
    otto.script("location.reload()", Vec::new()).await;
    otto.sees(&count).await;
    lists(otto, &chosen).await;
    assert_eq!(url(otto).await, filtered);
    chosen
}

async fn the_filtered_letters_are_planned(otto: &Person, tenant: &str, letters: usize) {
    otto.clicks("button", "Declare a fix…").await;
    otto.writes("Version, exactly as the deployment reports it", "v3").await;
    otto.clicks("button", "Declare fix").await;
    otto.sees(&format!("Filter: tenant {tenant}.")).await;
    otto.clicks("button", "Plan replay of these letters").await;
    otto.sees(&format!("The plan includes {letters} letters that match this filter.")).await;
    otto.sees(&format!("{} outside the filter", 24 - letters)).await;
    otto.shows("filter-plan").await;
    // The plan keeps its filter until someone removes it.
    otto.clicks("button", "Clear filter").await;
    otto.clicks("button", "Change plan…").await;
    otto.find("button", &format!("Remove tenant {tenant}")).await;
    otto.shows("filter-change-dialog").await;
    otto.clicks("button", "Cancel").await;
    otto.clicks("button", "Plan without filter").await;
    otto.sees("Planned 24 letters.").await;
    otto.types("/").await;
    writes_tenant(otto, tenant).await;
    otto.types(Key::Enter).await;
    otto.find("button", "Plan replay of these letters").await;
    otto.types("r").await;
    otto.sees(&format!("The plan includes {letters} letters that match this filter.")).await;
}

async fn the_filtered_letters_are_replayed(anna: &Person, tenant: &str, letters: usize) {
    anna.clicks("link", BUG).await;
    anna.clicks("button", "Approve and replay…").await;
    anna.find("dialog", &format!("Replay {letters} letters to orders?")).await;
    anna.sees(&format!("tenant {tenant}")).await;
    anna.writes("Why is it safe to replay now?", "This tenant asked for it.").await;
    let count = format!("Type {letters} to confirm");
    if anna.has("textbox", &count).await {
        anna.writes(&count, &letters.to_string()).await;
    }
    anna.shows("filter-approve-dialog").await;
    anna.clicks("button", "Approve and replay").await;
    // Six letters may be delivered before she looks: then only the group's list of replays names this one.
    anna.follows("Replay ").await;
    anna.sees(&format!("tenant {tenant}")).await;
    anna.sees_within("Finished", A_REPLAY).await;
    anna.shows("filter-replay").await;
}

async fn the_other_letters_wait(otto: &Person, tenant: &str, chosen: &BTreeSet<String>) {
    otto.sees("No match among ").await;
    otto.clicks("button", "Clear filter").await;
    otto.find("link", &format!("Waiting {}", 24 - chosen.len())).await;
    otto.find("region", "Table of letters").await;
    let waiting = rows(otto).await;
    assert!(waiting.iter().all(|(name, of)| of != tenant && !chosen.contains(name)), "{waiting:?}");
    assert_eq!(waiting.len(), 24 - chosen.len());
    otto.clicks("link", &format!("Delivered {}", chosen.len())).await;
    lists(otto, chosen).await;
}
