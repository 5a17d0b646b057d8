//! FEATURE: discarding letters that nobody will replay.

use crate::fixture::{BUG, Fixture};
use browser::person::Person;
use domain::role::Role;
use local::orders::Kind;

mod rule_a_discard_shows_its_effect_first_and_can_be_undone {
    use super::*;

    #[tokio::test]
    async fn example_two_letters_then_the_whole_group() {
        let fixture = Fixture::open().await;
        let anna = fixture.enters(Role::Approver, "anna").await;
        fixture.panel().place(6, Kind::GiftCard).await;
        anna.clicks("link", BUG).await;
        anna.clicks("link", "Letters 6").await;
        anna.find("region", "Table of letters").await;
        two_letters_are_discarded(&anna).await;
        the_group_is_discarded(&anna).await;
        all_letters_are_taken_back(&anna).await;
        anna.leaves(&[]).await;
    }
}

async fn two_letters_are_discarded(anna: &Person) {
    let names = anna.names("checkbox").await;
    assert_eq!(names.len(), 7, "one for each letter, and one for all: {names:?}");
    for name in &names[1..3] {
        anna.clicks("checkbox", name).await;
    }
    anna.sees("2 letters selected").await;
    anna.shows("discard-selected").await;
    anna.clicks("button", "Discard 2 letters…").await;
    anna.find("dialog", "Discard 2 letters?").await;
    anna.sees("This gives up").await;
    anna.sees("Choose a reason.").await;
    anna.clicks("radio", "Other").await;
    anna.sees("Describe the reason.").await;
    anna.writes("Note", "Orders of a closed shop.").await;
    anna.shows("discard-dialog").await;
    anna.clicks("button", "Discard letters").await;
    anna.find("link", "Discarded 2").await;
    anna.find("link", "Waiting 4").await;
    anna.sees("Other (").await;
    anna.shows("discard-some").await;
}

async fn the_group_is_discarded(anna: &Person) {
    anna.clicks("button", "Discard all open letters…").await;
    anna.find("dialog", "Discard 4 letters?").await;
    anna.clicks("radio", "Test data").await;
    anna.clicks("button", "Discard letters").await;
    anna.sees("This group is closed: its open letters were discarded.").await;
    anna.find("link", "Discarded 6").await;
    anna.sees("Nothing to replay").await;
    anna.shows("discard-closed").await;
}

async fn all_letters_are_taken_back(anna: &Person) {
    anna.clicks("link", "Take letters back").await;
    anna.clicks("button", "Take all letters back…").await;
    anna.find("dialog", "Take discarded letters back?").await;
    anna.writes("Reason", "The shop opens again.").await;
    anna.shows("discard-undo-dialog").await;
    anna.clicks("button", "Take letters back").await;
    anna.find("link", "Waiting 6").await;
    anna.sees("No discarded letters.").await;
    anna.shows("discard-undone").await;
}
