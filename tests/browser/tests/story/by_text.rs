//! FEATURE: texts of letters. Whatever they hold, the page around them stays as it is.

use crate::fixture::{BUG, Fixture};
use domain::role::Role;
use local::orders::Kind;

/// Puts a text that turns the direction round, and does not end that, into the name of a row's queue. Returns where the
/// queue's name ends, and where the text after it begins, in pixels from the left.
const TURNED: &str = "const name = document.querySelector('main .row-sub b');\
    name.textContent = 'a\\u202Eb';\
    const after = document.createRange(); after.selectNodeContents(name.parentElement); after.setStartAfter(name);\
    return [name.getBoundingClientRect().right, after.getBoundingClientRect().left]";

mod rule_text_of_a_letter_stays_in_its_place {
    use super::*;

    #[tokio::test]
    async fn example_a_name_that_turns_the_direction_round_turns_nothing_after_it() {
        let fixture = Fixture::open().await;
        fixture.panel().place(3, Kind::GiftCard).await;
        let vera = fixture.enters(Role::Viewer, "vera").await;
        vera.find("link", BUG).await;
        let places = vera.script(TURNED, Vec::new()).await;
        let (name, after) = (places[0].as_f64().expect("pixels"), places[1].as_f64().expect("pixels"));
        assert!(after >= name - 1.0, "the text after the name begins at {after}, the name ends at {name}");
        vera.leaves(&[]).await;
    }
}

/// Doubles the size of all text, as a browser's setting does. Returns the width of the error's column, in pixels.
const DOUBLED: &str = "document.documentElement.style.fontSize = '32px';\
    return document.querySelector('.row .cell-error').getBoundingClientRect().width";

mod rule_large_text_keeps_what_matters {
    use super::*;

    #[tokio::test]
    async fn example_the_error_has_a_column_at_twice_the_text_size() {
        let fixture = Fixture::open().await;
        fixture.panel().place(3, Kind::GiftCard).await;
        let vera = fixture.enters(Role::Viewer, "vera").await;
        vera.find("link", BUG).await;
        let width = vera.script(DOUBLED, Vec::new()).await.as_f64().expect("pixels");
        assert!(width > 250.0, "the error's column is {width} pixels wide");
        vera.leaves(&[]).await;
    }
}
