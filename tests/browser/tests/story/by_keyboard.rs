//! FEATURE: replaying letters by keyboard.

mod rule_every_step_has_a_key {
    use crate::fixture::{A_REPLAY, BUG, Fixture, QUIET};
    use domain::role::Role;
    use local::orders::{Kind, Version};
    use thirtyfour::Key;

    #[tokio::test]
    async fn example_from_the_list_to_resolved_by_tab_enter_and_letters() {
        let fixture = Fixture::open().await;
        fixture.panel().place(2, Kind::Malformed).await;
        fixture.panel().place(6, Kind::GiftCard).await;
        let otto = fixture.enters(Role::Operator, "otto").await;
        otto.find("link", BUG).await;

        // The help lists the shortcuts.
        otto.types("?").await;
        otto.find("dialog", "Keyboard shortcuts and help").await;
        otto.types(Key::Escape).await;

        // The filter shows one group. Enter focuses it, and Enter opens it.
        otto.types("/").await;
        otto.is_at("searchbox", "Filter").await;
        otto.types("bounds").await;
        otto.types(Key::Enter).await;
        otto.is_at("link", BUG).await;
        otto.types(Key::Enter).await;
        otto.find("heading", BUG).await;

        fixture.panel().deploy(Version::V3).await;
        otto.types("f").await;
        otto.is_at("textbox", "Version, exactly as the deployment reports it").await;
        otto.types("v3").await;
        otto.tabs_to("button", "Declare fix").await;
        otto.types(Key::Enter).await;
        otto.sees("Fix declared.").await;
        otto.types("r").await;
        otto.find("button", "Plan again").await;

        let anna = fixture.enters(Role::Approver, "anna").await;
        anna.find("link", BUG).await;
        anna.types("j").await;
        anna.is_at("link", BUG).await;
        anna.types(Key::Enter).await;
        anna.sees(QUIET).await;
        anna.types("v").await;
        anna.find("dialog", "Replay 6 letters to orders?").await;
        anna.is_at("button", "Cancel").await;
        anna.tabs_to("textbox", "Why is it safe to replay now?").await;
        anna.types("v3 handles all of them on staging").await;
        anna.tabs_to("button", "Approve and replay").await;
        anna.types(Key::Enter).await;
        anna.sees("Approved. Wave 1 is starting.").await;

        otto.sees_within("No open letters since", A_REPLAY).await;
        anna.sees("No open letters since").await;
        otto.types("4").await;
        otto.sees("resolved the group").await;
        otto.leaves(&[]).await;
        anna.leaves(&[]).await;
    }
}
