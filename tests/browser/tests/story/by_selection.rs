//! FEATURE: replaying letters that a person selects one by one.

use crate::fixture::{BUG, Fixture};
use browser::look::{Screen, Theme};
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
/// Returns whether the first letter can be pressed where it is.
const FIRST_LETTER_IS_IN_SIGHT: &str = "const link = document.querySelector('table.rows tbody th a');
    const box = link.getBoundingClientRect();
    return scrollY === 0 && document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2) === link";
/// Returns the states of letters that are not wholly in sight.
const CUT_STATES: &str = "return [...document.querySelectorAll('.letters-bar .tab')].filter(tab => {
    const box = tab.getBoundingClientRect();
    return document.elementFromPoint(box.left + 2, box.y + 9) !== tab || document.elementFromPoint(box.right - 2, box.y + 9) !== tab;
    }).map(tab => tab.innerText)";
/// Returns what a toast of two lines would cover of the title and the next step.
const COVERED: &str = "const toast = document.createElement('div');
    toast.className = 'toast';
    toast.style.minHeight = '60px';
    document.querySelector('.toasts > [role=status]').append(toast);
    const a = toast.getBoundingClientRect();
    toast.remove();
    const bars = ['h1', '.group-side .next', '.acts-chosen'].map(name => document.querySelector(name));
    return bars.filter(bar => bar && bar.checkVisibility()).filter(bar => {
        const b = bar.getBoundingClientRect();
        return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
    }).map(bar => bar.className || bar.localName)";

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
        a_phone_shows_the_letters_first(&otto).await;
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

async fn a_phone_shows_the_letters_first(otto: &Person) {
    otto.sees_as(Screen::Phone, Theme::Light).await;
    otto.script("scrollTo(0, 0)", Vec::new()).await;
    assert_eq!(otto.script(FIRST_LETTER_IS_IN_SIGHT, Vec::new()).await, true);
    assert_eq!(otto.script(CUT_STATES, Vec::new()).await, json!([]), "states that are cut off");
    assert_eq!(otto.script(COVERED, Vec::new()).await, json!([]), "covered by a toast");
    otto.clicks("button", "Filter and sort").await;
    otto.find("combobox", "Sort by").await;
    otto.shows("letters-tools").await;
    otto.sees_as(Screen::Phone, Theme::Light).await;
    otto.clicks("button", "Filter and sort").await;
    otto.sees_as(Screen::Wide, Theme::Light).await;
}

async fn three_letters_are_planned(otto: &Person) {
    let names = otto.names("checkbox").await;
    otto.clicks("checkbox", &names[1]).await;
    otto.sees("1 letter selected").await;
    otto.script(SHIFT_CLICK, vec![json!(2)]).await;
    otto.sees("3 letters selected").await;
    otto.shows("letters-selected").await;
    for screen in [Screen::Phone, Screen::Wide] {
        otto.sees_as(screen, Theme::Light).await;
        assert_eq!(otto.script(COVERED, Vec::new()).await, json!([]), "{screen:?}: covered by a toast");
    }
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
