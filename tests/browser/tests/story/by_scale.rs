//! FEATURE: very many groups. The document holds the rows near the viewport, however long the list is.

use crate::fixture::Fixture;
use browser::person::{PATIENCE, Person};
use domain::limits::GROUPS_SHOWN_MAX;
use domain::role::Role;
use harness::running::within;
use serde_json::{Value, json};
use thirtyfour::Key;

/// More than one answer holds, so that the office filters and sorts.
const GROUPS: usize = 10_000;
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
