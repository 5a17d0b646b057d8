//! What the words of a message say together, with sentences that no table lists.

use super::*;

fn class(message: &str) -> Option<Class> {
    find(message).map(|found| found.class)
}

#[test]
fn a_thing_that_is_away_is_transient() {
    let messages = [
        "no broker is reachable",
        "none of the nodes is available",
        "the coordinator for the group is not ready",
        "the socket was closed by the other end",
        "missed too many heartbeats",
        "the work queue is full",
        "still loading the index",
        "failed to read the header from the stream",
        "this replica is not the leader of the shard",
    ];
    for message in messages {
        assert_eq!(class(message), Some(Class::Transient), "{message}: {:?}", find(message));
    }
}

#[test]
fn what_somebody_wrote_wrong_is_permanent() {
    let messages = [
        "cannot use the option in this mode",
        "failed to convert the amount",
        "7 is greater than the maximum for a quantity",
        "expected a list, got a string",
        "unknown encoding of the file",
        "could not load the driver class: cannot find it",
        "the listener was already registered",
    ];
    for message in messages {
        assert_eq!(class(message), Some(Class::Permanent), "{message}: {:?}", find(message));
    }
}

#[test]
fn other_words_say_nothing() {
    for message in ["", "order 7 is late", "the server answered", "a connection was made", "expected to be quick"] {
        assert_eq!(class(message), None, "{message}: {:?}", find(message));
    }
}

#[test]
fn an_invalid_connection_is_broken_and_an_invalid_connection_string_is_wrong() {
    assert_eq!(broken_link("invalid connection").map(|found| found.class), Some(Class::Transient));
    assert_eq!(broken_link("invalid connection string"), None);
}
