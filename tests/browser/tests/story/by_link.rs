//! FEATURE: links into the dashboard. A page loads the part of the program that it needs, and says so if that part is gone.

use crate::fixture::{BUG, Fixture};
use browser::person::Person;
use domain::role::Role;
use local::orders::Kind;
use serde_json::json;

/// How each file of the part was first asked for: by a link in the page (`link`), or by the program (`fetch`).
const ASKED_FOR: &str = "return performance.getEntriesByType('resource')\
    .filter(entry => entry.name.includes(arguments[0])).map(entry => entry.initiatorType)";
/// What an office does that has another version since the page was opened: it does not know the file.
const ANOTHER_VERSION: &str = "const real = window.fetch; window.fetch = (url, options) => \
    real(String(url).includes('/work-') ? '/work-0000000000000000.wasm' : url, options)";

/// Opens an office with a group, and a page for somebody who is signed in.
async fn with_a_group() -> (Fixture, Person) {
    let fixture = Fixture::open().await;
    fixture.panel().place(3, Kind::GiftCard).await;
    let otto = fixture.enters(Role::Operator, "otto").await;
    otto.find("link", BUG).await;
    (fixture, otto)
}

mod rule_a_page_loads_its_part {
    use super::*;

    #[tokio::test]
    async fn example_a_link_to_a_group_asks_for_its_part_while_the_program_loads() {
        let (_fixture, otto) = with_a_group().await;
        otto.clicks("link", BUG).await;
        otto.find("heading", BUG).await;
        // The same page as a link that somebody sent.
        otto.driver.refresh().await.expect("a reload");
        otto.find("heading", BUG).await;
        assert_eq!(otto.script(ASKED_FOR, vec![json!("/work-")]).await, json!(["link"]));
        assert_eq!(otto.script(ASKED_FOR, vec![json!("/sign_in-")]).await, json!([]));
        otto.leaves(&[]).await;
    }
}

mod rule_a_part_that_is_gone_offers_a_reload {
    use super::*;

    #[tokio::test]
    async fn example_a_tab_from_before_a_deployment_opens_a_group() {
        let (fixture, otto) = with_a_group().await;
        // A page that fetches nothing ahead.
        let (office, _) = fixture.demo.link(Role::Operator).split_once("/signin").expect("the link's path");
        otto.open(&format!("{office}/nowhere")).await;
        otto.find("heading", "Page not found").await;
        otto.script(ANOTHER_VERSION, Vec::new()).await;
        otto.clicks("link", "Go to groups").await;
        otto.clicks("link", BUG).await;
        otto.sees("This page could not be loaded.").await;
        otto.shows("part-gone").await;
        otto.clicks("button", "Reload").await;
        otto.find("heading", BUG).await;
        otto.leaves(&["404", "WebAssembly"]).await;
    }
}
