//! FEATURE: signing in. A link works once, and a role shows what it allows.

mod rule_a_link_works_once {
    use crate::fixture::Fixture;
    use browser::person::Person;
    use domain::role::Role;

    #[tokio::test]
    async fn example_a_second_person_with_the_same_link_is_refused() {
        let fixture = Fixture::open().await;
        let otto = fixture.enters(Role::Operator, "otto").await;
        otto.sees("No dead letters.").await;
        otto.sees("Watching orders-dlq").await;
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

mod rule_a_link_does_not_switch_people_unasked {
    use crate::fixture::Fixture;
    use domain::role::Role;

    #[tokio::test]
    async fn example_a_person_who_is_signed_in_is_asked_before_another_link_is_used() {
        let fixture = Fixture::open().await;
        let otto = fixture.enters(Role::Operator, "otto").await;
        otto.open(fixture.demo.link(Role::Approver)).await;
        otto.find("heading", "Use the sign-in link?").await;
        otto.sees("You are signed in as otto (operator)").await;
        let hash = otto.script("return location.hash", Vec::new()).await;
        assert_eq!(hash, "", "the code is not in the history");
        otto.shows("switch-sign-in").await;
        otto.clicks("button", "Stay signed in").await;
        otto.find("heading", "Groups").await;
        otto.find("summary", "otto operator").await;

        otto.open(fixture.demo.link(Role::Approver)).await;
        otto.clicks("button", "Use link").await;
        otto.find("heading", "Groups").await;
        otto.find("summary", "anna approver").await;
        otto.leaves(&[]).await;
    }
}

mod rule_a_role_shows_what_it_allows {
    use crate::fixture::{BUG, Fixture};
    use domain::role::Role;
    use local::orders::Kind;

    #[tokio::test]
    async fn example_a_viewer_sees_everything_and_why_they_cannot_act() {
        let fixture = Fixture::open().await;
        fixture.panel().place(3, Kind::GiftCard).await;
        let vera = fixture.enters(Role::Viewer, "vera").await;
        vera.clicks("link", BUG).await;
        vera.find("heading", BUG).await;
        vera.sees("Viewers cannot declare fixes or write notes. Ask an operator.").await;
        vera.tries("button", "Declare a fix…").await;
        assert!(!vera.has("dialog", "Declare a fix").await);
        vera.leaves(&[]).await;
    }
}

mod rule_a_new_tab_goes_on_as_the_person_of_an_open_one {
    use crate::fixture::{BUG, Fixture};
    use domain::role::Role;
    use local::orders::Kind;

    #[tokio::test]
    async fn example_a_group_is_opened_in_a_new_tab() {
        let fixture = Fixture::open().await;
        fixture.panel().place(3, Kind::GiftCard).await;
        let otto = fixture.enters(Role::Operator, "otto").await;
        otto.find("link", BUG).await;
        let first = otto.driver.window().await.expect("a tab");
        let page = otto.driver.current_url().await.expect("a page");
        // As by a pasted link: the new tab has no opener.
        let second = otto.driver.new_tab().await.expect("a new tab");
        otto.driver.switch_to_window(second.clone()).await.expect("the new tab");
        otto.open(page.as_str()).await;
        otto.find("link", BUG).await;
        otto.find("summary", "otto operator").await;

        // Somebody else in a third tab, as in a demo that shows two people.
        let third = otto.driver.new_tab().await.expect("a new tab");
        otto.driver.switch_to_window(third.clone()).await.expect("the third tab");
        otto.open(fixture.demo.link(Role::Approver)).await;
        otto.find("summary", "anna approver").await;

        // Who signs out is signed out in every tab, and stays so although somebody else is signed in.
        otto.driver.switch_to_window(second).await.expect("the second tab");
        otto.clicks("summary", "otto operator").await;
        otto.clicks("button", "Sign out").await;
        otto.find("heading", "Sign in").await;
        otto.driver.refresh().await.expect("a reload");
        otto.find("heading", "Sign in").await;
        otto.driver.switch_to_window(first).await.expect("the first tab");
        otto.find("heading", "Sign in").await;
        assert!(!otto.has("link", BUG).await, "nothing of the office is shown");
        otto.driver.switch_to_window(third).await.expect("the third tab");
        otto.find("summary", "anna approver").await;
        otto.leaves(&["401"]).await;
    }
}
