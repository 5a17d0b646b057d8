//! FEATURE: pages with nothing to show. They say what would be here, or what went wrong, and what helps.

use crate::fixture::{BUG, Fixture};
use domain::role::Role;
use local::orders::Kind;

mod rule_an_empty_page_says_what_comes_here {
    use super::*;

    #[tokio::test]
    async fn example_lists_without_a_row() {
        let fixture = Fixture::open().await;
        let anna = fixture.enters(Role::Approver, "anna").await;
        anna.sees("Failed messages appear here automatically").await;
        anna.clicks("link", "Replays").await;
        anna.sees("No replays yet.").await;
        anna.shows("replays-empty").await;
        fixture.panel().place(3, Kind::GiftCard).await;
        anna.clicks("link", "Groups").await;
        anna.clicks("link", "For my approval 0").await;
        anna.sees("Plans that you may approve appear here.").await;
        anna.shows("view-empty").await;
        anna.clicks("link", "Open 1").await;
        anna.types("/").await;
        anna.types("queue:nowhere").await;
        anna.sees("No groups in Open match").await;
        anna.shows("filter-none").await;
        anna.clicks("button", "Clear filter").await;
        anna.clicks("link", BUG).await;
        anna.clicks("link", "Letters 3").await;
        anna.clicks("link", "Quarantined 0").await;
        anna.sees("Letters come here after returning").await;
        assert!(!anna.has("button", "Release from quarantine…").await, "there is nothing to release");
        anna.leaves(&[]).await;
    }
}

mod rule_an_error_says_what_to_do {
    use super::*;

    #[tokio::test]
    async fn example_a_link_that_leads_nowhere() {
        let fixture = Fixture::open().await;
        let otto = fixture.enters(Role::Operator, "otto").await;
        let nobody = "f".repeat(32);
        for (path, words, way) in [
            (format!("/groups/{nobody}"), "This group does not exist.", "Go to groups"),
            (format!("/replays/{nobody}"), "This replay does not exist.", "Go to replays"),
            ("/nowhere".to_string(), "No page at /nowhere.", "Go to groups"),
        ] {
            otto.open(&format!("{}{path}", fixture.demo.url)).await;
            otto.sees(words).await;
            otto.sees("The link may be incomplete").await;
            otto.find("link", way).await;
        }
        otto.shows("page-missing").await;
        otto.leaves(&["404"]).await;
    }

    #[tokio::test]
    async fn example_an_office_that_stops() {
        let fixture = Fixture::open().await;
        let otto = fixture.enters(Role::Operator, "otto").await;
        fixture.panel().place(3, Kind::GiftCard).await;
        otto.clicks("link", BUG).await;
        otto.sees("Before you replay").await;
        fixture.demo.kill();
        // What was loaded stays, with its time.
        otto.sees("Cannot reach the office.").await;
        otto.sees("Showing data from ").await;
        otto.sees("Before you replay").await;
        otto.sees("Retrying").await;
        otto.shows("office-stopped").await;
        // What was not loaded says so.
        otto.clicks("link", "Replays").await;
        otto.sees("Could not load the list.").await;
        otto.find("button", "Retry now").await;
        otto.shows("office-stopped-list").await;
        otto.leaves(&["ERR_CONNECTION_REFUSED"]).await;
    }
}
