//! FEATURE: very many groups and letters. The document holds the rows near the viewport, however long the list is.

use crate::fixture::Fixture;
use browser::person::{PATIENCE, Person};
use domain::limits::GROUPS_SHOWN_MAX;
use domain::role::Role;
use harness::running::within;
use serde_json::{Value, json};
use thirtyfour::Key;

/// More than one answer holds, so that the office filters and sorts.
const GROUPS: usize = 10_000;
/// As many as the page sorts.
const LETTERS: u64 = 5_000;
/// A screen of rows, and those beyond its edges, twice: a list in motion may hold two windows for a moment.
const ROWS_MAX: u64 = 120;
/// The document of a page with one window of rows. The list of groups has about 1,000 elements.
const ELEMENTS_MAX: u64 = 3_000;

/// Watches how many rows that match a selector are in the document at once: the most so far is `window.rowsMax`.
const WATCH: &str = "
    const rows = arguments[0];
    window.watch?.disconnect();
    const look = () => { window.rowsMax = Math.max(window.rowsMax, document.querySelectorAll(rows).length); };
    window.rowsMax = 0;
    look();
    window.watch = new MutationObserver(look);
    window.watch.observe(document.body, { childList: true, subtree: true });
";
/// Returns the most rows so far, all elements, and the indexes of the first and the last row in the document.
const SEEN: &str = "
    const indexes = [...document.querySelectorAll(arguments[0])].map(row => Number(row.getAttribute('aria-rowindex')));
    return [window.rowsMax, document.querySelectorAll('*').length, Math.min(...indexes), Math.max(...indexes)];
";
const GROUP_ROWS: &str = ".rows > .row";
const LETTER_ROWS: &str = "table.rows tbody tr:not(.gap)";
/// Returns the cells of the first letter, from its link on.
const FIRST_LETTER: &str = "const row = document.querySelector('table.rows tbody tr:not(.gap)');\
    return [...row.cells].slice(1).map(cell => cell.innerText).join(' | ')";
/// Scrolls the page to a share of its height.
const SCROLL_PAGE: &str = "const page = document.documentElement;\
    window.scrollTo(0, arguments[0] * (page.scrollHeight - page.clientHeight))";
/// Scrolls the list of groups to a share of its height.
const SCROLL_LIST: &str = "const list = document.querySelector('.list-frame');\
    list.scrollTop = arguments[0] * (list.scrollHeight - list.clientHeight)";

mod rule_the_document_does_not_grow_with_the_list {
    use super::*;

    #[tokio::test]
    async fn example_ten_thousand_groups() {
        let fixture = Fixture::over(async |store| harness::many::groups(store, GROUPS).await).await;
        let otto = fixture.enters(Role::Operator, "otto").await;
        otto.sees("Showing the first 2,000 of 10,000 groups in this order.").await;
        otto.find("link", "Open 10,000").await;
        otto.script(WATCH, vec![json!(GROUP_ROWS)]).await;
        // The heading is row 1.
        let last = GROUPS_SHOWN_MAX as u64 + 1;
        for (share, index) in [(1.0, last), (0.5, last / 2), (0.0, 2), (0.9, last * 9 / 10)] {
            otto.script(SCROLL_LIST, vec![json!(share)]).await;
            shows_row(&otto, GROUP_ROWS, index).await;
        }
        otto.types(Key::Home).await;
        shows_row(&otto, GROUP_ROWS, 2).await;
        otto.types(Key::End).await;
        shows_row(&otto, GROUP_ROWS, last).await;
        // The office finds what the page does not have.
        otto.types("/").await;
        otto.types("9876").await;
        otto.find("link", "Error 9876: the price list is out of date").await;
        otto.find("link", "Open 1").await;
        is_bounded(&otto, GROUP_ROWS).await;
        otto.leaves(&[]).await;
    }

    #[tokio::test]
    async fn example_five_thousand_letters() {
        let fixture = Fixture::over(async |store| {
            harness::many::letters(store, LETTERS).await;
        })
        .await;
        let otto = fixture.enters(Role::Operator, "otto").await;
        otto.clicks("link", "A large group").await;
        otto.clicks("link", "Letters 5,000").await;
        otto.find("region", "Table of letters").await;
        // The letter with the most money is the last of the API's list, and the one that was sent last.
        otto.clicks("button", "Money").await;
        begins_with(&otto, "€62.49").await;
        otto.clicks("button", "Sent").await;
        begins_with(&otto, "€12.50").await;
        otto.clicks("button", "Sent").await;
        begins_with(&otto, "€62.49").await;
        otto.clicks("button", "Money").await;
        otto.clicks("button", "Money").await;
        begins_with(&otto, "€12.50").await;
        the_rows_near_the_viewport_are_there(&otto).await;
        all_letters_are_selected(&otto).await;
        letters_are_filtered(&otto).await;
        otto.leaves(&[]).await;
    }
}

mod rule_a_plan_of_many_letters_appears_when_it_is_complete {
    use super::*;

    #[tokio::test]
    async fn example_more_letters_than_one_request_reads() {
        let fixture = Fixture::over(async |store| {
            harness::many::letters(store, 10_001).await;
        })
        .await;
        let otto = fixture.enters(Role::Operator, "otto").await;
        otto.clicks("link", "A large group").await;
        all_letters_are_planned(&otto).await;
        otto.leaves(&[]).await;
    }
}

/// Declares a fix and plans the replay of every letter. The page shows the plan without being loaded again.
async fn all_letters_are_planned(otto: &Person) {
    otto.clicks("button", "Declare a fix…").await;
    otto.writes("Version, exactly as the deployment reports it", "v2").await;
    otto.clicks("button", "Declare fix").await;
    otto.clicks("button", "Plan replay").await;
    otto.find("button", "Plan again").await;
    otto.sees("10,001, €625,062.50").await;
}

/// Waits until the first letter has an amount.
async fn begins_with(who: &Person, amount: &str) {
    let mut first = Value::Null;
    let shown = within(PATIENCE, async || {
        first = who.script(FIRST_LETTER, Vec::new()).await;
        first.as_str()?.contains(amount).then_some(())
    });
    if shown.await.is_none() {
        panic!("the first letter is {first}, not the one of {amount}");
    }
}

async fn the_rows_near_the_viewport_are_there(otto: &Person) {
    for _ in 0..4 {
        otto.clicks("button", "Show more letters").await;
    }
    otto.script(SCROLL_PAGE, vec![json!(0)]).await;
    shows_row(otto, LETTER_ROWS, 2).await;
    otto.script(WATCH, vec![json!(LETTER_ROWS)]).await;
    // 200 at first, and by each click; the heading is row 1.
    let last = 1_001;
    for (share, index) in [(0.5, last / 2), (0.9, last * 9 / 10), (0.0, 2), (0.99, last)] {
        otto.script(SCROLL_PAGE, vec![json!(share)]).await;
        shows_row(otto, LETTER_ROWS, index).await;
    }
    is_bounded(otto, LETTER_ROWS).await;
    otto.script(SCROLL_PAGE, vec![json!(0)]).await;
}

async fn all_letters_are_selected(otto: &Person) {
    otto.clicks("checkbox", "Select all listed letters").await;
    otto.sees("1,000 letters selected").await;
    otto.clicks("button", "Select all letters of the group").await;
    otto.sees("All letters selected").await;
    otto.clicks("button", "Clear selection").await;
}

async fn letters_are_filtered(otto: &Person) {
    otto.clicks("button", "Filter letters…").await;
    otto.writes("Replays at most", "0").await;
    otto.clicks("button", "Apply filter").await;
    // Sorted: the filter and the order hold together.
    otto.sees("5,000 of 5,000 letters match").await;
    begins_with(otto, "€12.50").await;
}

/// Waits until a row is in the document, or rows on both sides of it.
async fn shows_row(who: &Person, rows: &str, index: u64) {
    let mut last = Value::Null;
    let shown = within(PATIENCE, async || {
        last = who.script(SEEN, vec![json!(rows)]).await;
        (last[2].as_u64()? <= index && index <= last[3].as_u64()?).then_some(())
    });
    if shown.await.is_none() {
        panic!("row {index} is not shown: {last}");
    }
}

/// Checks how much was in the document since it is watched.
async fn is_bounded(who: &Person, rows: &str) {
    let seen = who.script(SEEN, vec![json!(rows)]).await;
    let (rows, elements) = (seen[0].as_u64().expect("a number"), seen[1].as_u64().expect("a number"));
    assert!(rows > 0 && rows <= ROWS_MAX, "{rows} rows were in the document at once");
    assert!(elements <= ELEMENTS_MAX, "{elements} elements are in the document");
}
