//! Each rule that is left out is caught.

use super::scopes::SMALL;
use super::{Kind, Mutation, Scope, caught, check, promise};

/// One letter is enough for most rules, and takes less time.
const ONE: Scope = SMALL;
const TWO: Scope = Scope { letters: 2, expires: false, ..SMALL };
const LATE: Scope = Scope { late: 1, ..SMALL };
const LATE_PUT: Scope = Scope { only: Some(Kind::Put), ..LATE };
const VERSIONS: Scope = Scope { groups: 2, ..SMALL };
const MOVES: Scope = Scope { moves: true, ..SMALL };

#[test]
fn every_rule_that_is_left_out_is_caught() {
    use Mutation::*;
    let table = [
        (AdoptWithoutVoid, ONE, promise::COUNTED),
        (SealWithoutCondition, ONE, promise::COUNTED),
        (DeleteBeforeSeal, ONE, promise::DELETED),
        (AdoptWithoutCondition, ONE, promise::COUNTED),
        (PutWithoutCondition, ONE, promise::COUNTED),
        (VoidWithoutCondition, ONE, promise::COUNTED),
        (SealWithoutBits, Scope { letters: 2, late: 1, expires: false, ..SMALL }, promise::COUNTED),
        (AdoptKeepsTheLetter, VERSIONS, promise::GROUP),
        (UnsealedIsADuplicate, ONE, promise::DELETED),
        (SealIsForgotten, ONE, promise::COUNTED),
        (NoSweep, ONE, promise::REST),
        (NoteAfterTheLetters, ONE, promise::REST),
        (NoteEndsWithLetters, LATE_PUT, promise::REST),
        (NoteEndsWithoutAnAnswer, LATE, promise::REST),
        (NoteEndsBeforeTheHour, LATE_PUT, promise::REST),
        (CustomerBeforeSeal, ONE, promise::CUSTOMER),
        (CustomerWithoutCondition, TWO, promise::CUSTOMER),
        (ListInAWriteOfItsOwn, ONE, promise::LISTED),
        (BitWithoutVersion, MOVES, promise::LISTED),
        (MarkerReadsTheLetterFirst, MOVES, promise::LISTED),
        (ReturnLeavesTheBlock, MOVES, promise::LISTED),
    ];
    let found = table.map(|(mutation, scope, _)| (mutation, scope, caught(scope, mutation)));
    for (mutation, _, caught) in &found {
        println!("{mutation:?}: {caught:?}");
    }
    let found =
        found.map(|(mutation, scope, caught)| (mutation, scope, caught.map_or("nothing", |(promise, _)| promise)));
    assert_eq!(found, table);
}

#[test]
fn nothing_breaks_where_no_rule_is_left_out() {
    assert!(check(Scope { groups: 2, few: true, moves: true, ..SMALL }, 1).states > 100);
}
