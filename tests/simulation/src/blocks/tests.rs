//! Each rule that is left out is caught.

use super::{Blocks, Mutation, SMALL, Scope, caught, check, promise};
use crate::graph::Graph;

#[test]
fn every_rule_that_is_left_out_is_caught() {
    use Mutation::*;
    // One letter is enough for what happens to a letter, and takes less time.
    const ONE: Scope = Scope { letters: 1, changes: true, ..SMALL };
    let table = [
        (IntentWithoutFence, SMALL, promise::PAUSE),
        (IntentWithoutVersion, SMALL, promise::COUNTED),
        (SendBeforeIntent, SMALL, promise::COUNTED),
        (AnswersOfAStaleBlock, SMALL, promise::LEDGER),
        (AnswersMoveWhatIsNotSending, SMALL, promise::LEDGER),
        (AnswersMoveAnotherIntent, SMALL, promise::SENT),
        (SettlingWithoutVersion, SMALL, promise::LEDGER),
        (LedgerInAWriteOfItsOwn, SMALL, promise::LEDGER),
        (ReturnInTwoWrites, ONE, promise::LETTER),
        (ReturnKeepsTheVersion, ONE, promise::LETTER),
        (ProjectionWithoutCondition, ONE, promise::LETTER),
        (ProjectorReadsTheBlockFirst, ONE, promise::LETTER),
        (RefusedProjectionIsDropped, ONE, promise::REST),
        (FinishBeforeProjection, ONE, promise::FINISHED),
    ];
    let found = table.map(|(mutation, scope, _)| (mutation, scope, caught(scope, mutation)));
    let found =
        found.map(|(mutation, scope, caught)| (mutation, scope, caught.map_or("nothing", |(promise, _)| promise)));
    assert_eq!(found, table);
}

#[test]
fn nothing_breaks_where_no_rule_is_left_out() {
    let one_letter = Scope { letters: 1, changes: true, aborts: true, ..SMALL };
    assert!(check(one_letter, 1).states > 100);
}

#[test]
fn a_broken_promise_shows_in_the_graph_of_all_states() {
    let scope = Scope { letters: 1, changes: true, ..SMALL };
    let graph = |mutation| Graph::from_model(&Blocks { scope, mutation });
    assert!(graph(None).is_right);
    assert!(!graph(Some(Mutation::ProjectionWithoutCondition)).is_right);
}
