//! FEATURE: the door. Links work once, and whoever came in sees what they may do.

mod rule_a_link_works_once {
    use crate::fixture::Fixture;
    use browser::person::Person;
    use domain::role::Role;

    #[tokio::test]
    async fn example_a_second_person_with_the_same_link_stays_outside() {
        let fixture = Fixture::open().await;
        let otto = fixture.enters(Role::Operator, "otto").await;
        otto.sees("No dead letters.").await;
        otto.sees("Watching orders-dlq.").await;
        otto.shows("empty-office").await;

        let thief = Person::new(&fixture.driver, "a thief").await;
        thief.open(fixture.demo.link(Role::Operator)).await;
        thief.find("heading", "This link no longer works").await;
        thief.shows("used-link").await;

        otto.clicks("summary", "otto operator").await;
        otto.clicks("button", "Sign out").await;
        otto.find("heading", "Sign in").await;
        otto.leaves(&[]).await;
        thief.leaves(&["401"]).await;
    }
}

mod rule_a_role_shows_what_it_may_do {
    use crate::fixture::{BUG, Fixture};
    use domain::role::Role;
    use local::orders::Kind;

    #[tokio::test]
    async fn example_a_viewer_reads_everything_and_is_told_why_they_may_not_act() {
        let fixture = Fixture::open().await;
        fixture.panel().place(3, Kind::GiftCard).await;
        let vera = fixture.enters(Role::Viewer, "vera").await;
        vera.clicks("link", BUG).await;
        vera.find("heading", BUG).await;
        vera.sees("A viewer may not declare fixes or write notes; an operator can.").await;
        vera.clicks("button", "Declare a fix…").await;
        assert!(!vera.has("dialog", "What has made the cause go away?").await);
        vera.leaves(&[]).await;
    }
}
