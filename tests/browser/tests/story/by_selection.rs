//! FEATURE: replaying letters that a person selects one by one.

use crate::fixture::{BUG, Fixture};
use browser::person::Person;
use domain::role::Role;
use local::orders::{Kind, Version};
use serde_json::json;

/// Clicks a row's tick with Shift held.
const SHIFT_CLICK: &str = "[...document.querySelectorAll('td.tick input')][arguments[0]]\
    .dispatchEvent(new MouseEvent('click', { bubbles: true, shiftKey: true }))";
/// Returns the amounts of the listed letters.
const AMOUNTS: &str = "return [...document.querySelectorAll('table.rows tbody tr')]\
    .map(row => Number(row.querySelector('td.num').innerText.replace(/[^0-9.]/g, '')))";

mod rule_a_plan_sends_exactly_the_selected_letters {
    use super::*;

    #[tokio::test]
    async fn example_a_range_of_the_most_expensive_letters() {
        let fixture = Fixture::open().await;
        let otto = fixture.enters(Role::Operator, "otto").await;
        fixture.panel().place(9, Kind::GiftCard).await;
        otto.clicks("link", BUG).await;
        fixture.panel().deploy(Version::V3).await;
        otto.clicks("button", "Declare a fix…").await;
        otto.writes("Version, exactly as the deployment reports it", "v3").await;
        otto.clicks("button", "Declare fix").await;
        otto.clicks("link", "Letters 9").await;
        the_list_is_sorted(&otto).await;
        three_letters_are_planned(&otto).await;
        otto.leaves(&[]).await;
    }
}

async fn the_list_is_sorted(otto: &Person) {
    otto.find("region", "Table of letters").await;
    otto.clicks("button", "Money").await;
    otto.sees("Money ↓").await;
    let amounts: Vec<f64> = serde_json::from_value(otto.script(AMOUNTS, Vec::new()).await).expect("amounts");
    assert_eq!(amounts.len(), 9);
    let url = otto.script("return location.search", Vec::new()).await;
    assert_eq!(url, "?tab=letters&order=money", "the order is part of the link");
    otto.shows("letters-sorted").await;
}

async fn three_letters_are_planned(otto: &Person) {
    let names = otto.names("checkbox").await;
    otto.clicks("checkbox", &names[1]).await;
    otto.sees("1 letter selected").await;
    otto.script(SHIFT_CLICK, vec![json!(2)]).await;
    otto.sees("3 letters selected").await;
    otto.shows("letters-selected").await;
    otto.clicks("button", "Plan replay of 3 letters").await;
    otto.sees("Planned 3 letters.").await;
    otto.sees("Only letters that were selected one by one.").await;
    otto.sees("6 not selected").await;
    // A changed plan keeps its letters.
    otto.clicks("button", "Change plan…").await;
    otto.writes("Canary size", "2").await;
    otto.clicks("button", "Change plan").await;
    otto.sees("2, starting with a canary of 2 letters").await;
    otto.sees("6 not selected").await;
    otto.shows("letters-planned").await;
}
