//! What the form of a sentence says, with words that no library owns.

use super::*;

fn class(message: &str) -> Option<Class> {
    find(&message.to_lowercase()).map(|found| found.class)
}

#[test]
fn a_rule_is_permanent() {
    let messages = [
        "the depth should not be called on a leaf",
        "requires a colour",
        "leaves can only be shared by trees",
        "the bark does not live on the same tree",
        "leaf is not a pointer",
        "roots are not countable",
        "did you forget the branch?",
        "the twig has been renamed",
        "unable to determine the season",
        "found undefined leaf",
        "no gardener supplied but needed",
        "polled after completion",
        "cannot bend a trunk",
    ];
    for message in messages {
        assert_eq!(class(message), Some(Class::Permanent), "{message}: {:?}", find(message));
    }
}

#[test]
fn a_moment_is_transient() {
    let messages = [
        "the tree must be retried",
        "garden busy",
        "leaf undetermined",
        "awaiting the spring",
        "growth did not finish",
        "insufficient storage in the barn",
        "the harvest is in progress",
        "gate is up to the limit",
    ];
    for message in messages {
        assert_ne!(class(message), Some(Class::Permanent), "{message}: {:?}", find(message));
    }
    for message in &messages[1..7] {
        assert_eq!(class(message), Some(Class::Transient), "{message}: {:?}", find(message));
    }
}

#[test]
fn a_sentence_without_such_words_says_nothing() {
    for message in
        ["", "order 7 is late", "the server answered", "shipped", "cannot send the leaf", "the tree lost its leaf"]
    {
        assert_eq!(class(message), None, "{message}: {:?}", find(message));
    }
}
