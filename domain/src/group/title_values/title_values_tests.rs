//! When a title shows a value, and when it stops.

use super::*;
use crate::group::merging::tests::variant;
use crate::group::{GroupCounts, Tally, Variant};
use crate::id::{GroupId, QueueArn};
use crate::letter::{Letter, LetterStateKind};
use crate::message::{Content, DeadMessage};
use crate::policy::Policy;
use crate::read::{classify_failure, read};
use crate::reading::{Failure, Reading};
use crate::time::Timestamp;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::ToString;

/// Returns a letter of a consumer that failed with this message.
fn died(message: &str) -> (Letter, Reading) {
    let dead = DeadMessage {
        dlq: QueueArn::from("arn:aws:sqs:eu-central-1:1:orders-dlq"),
        message_id: "m-1".into(),
        content: Content { body: "{}".into(), ..Content::default() },
        system: Default::default(),
    };
    let mut reading = read(&dead, &Policy::default());
    let failure =
        Failure { error_type: Some("E".to_string()), message: Some(message.to_string()), ..Failure::default() };
    reading.diagnosis.title = classify_failure(&failure, None, &Policy::default()).title;
    reading.diagnosis.failure = failure;
    (Letter::first(&dead, reading.clone(), None, Timestamp::from_ms(0)), reading)
}

fn opened(message: &str) -> Variant {
    let (letter, reading) = died(message);
    Variant::opened_by(&letter, &reading)
}

fn counts(letters: i64, customers: u64) -> GroupCounts {
    // Closed letters have died of the cause, too.
    let tally = |letters| Tally { letters, ..Tally::default() };
    let by_state =
        BTreeMap::from([(LetterStateKind::Waiting, tally(letters - 1)), (LetterStateKind::Delivered, tally(1))]);
    GroupCounts { by_state, customers, ..GroupCounts::default() }
}

#[test]
fn a_value_is_shown_until_a_letter_differs() {
    #[rustfmt::skip]
    let rows: [(&str, &[&str], &str); 7] = [
        ("the len is 3 but the index is 99", &[], "E: the len is 3 but the index is 99"),
        ("the len is 3 but the index is 99", &["the len is 3 but the index is 99"], "E: the len is 3 but the index is 99"),
        ("the len is 3 but the index is 99", &["the len is 3 but the index is 7"], "E: the len is 3 but the index is *"),
        ("the len is 3 but the index is 99", &["the len is 3 but the index is 7", "the len is 3 but the index is 99"], "E: the len is 3 but the index is *"),
        ("the len is 3 but the index is 99", &["the len is 4 but the index is 7"], "E: the len is * but the index is *"),
        ("no stock for sku_2187", &["no stock for sku_550e8400e29b41d4a716446655440000"], "E: no stock for sku_*"),
        // The frames may be the same where the words differ.
        ("no stock for sku_2187", &["out of stock"], "E: no stock for sku_*"),
    ];
    for (first, others, expected) in rows {
        let group = opened(first);
        let later =
            others.iter().fold(group, |group, message| group.contradicted_by([&died(message).0]).unwrap_or(group));
        assert_eq!(later.shown_title(&counts(9, 9)), expected, "{first} {others:?}");
        // The order within a batch does not matter.
        let letters: Vec<Letter> = others.iter().map(|message| died(message).0).collect();
        let at_once = opened(first).after_letters(letters.iter().rev()).unwrap_or_else(|| opened(first));
        assert_eq!(at_once.title_values, later.title_values);
    }
}

#[test]
fn a_variant_is_written_once_for_each_value_that_ends() {
    let mut group = opened("the len is 3 but the index is 99");
    let mut writes = Vec::new();
    for n in 0..100 {
        let (len, index) = (if n < 50 { 3 } else { 4 }, if n < 10 { 99 } else { n });
        let (letter, _) = died(&format!("the len is {len} but the index is {index}"));
        if let Some(after) = group.contradicted_by([&letter]) {
            assert_eq!(after.version, group.version + 1);
            writes.push(n);
            group = after;
        }
    }
    assert_eq!(writes, [10, 50]);
    assert!(group.title_values.is_empty(), "nothing is left to store or to compare");
}

#[test]
fn values_of_few_letters_or_few_customers_or_merged_variants_are_masked() {
    let group = opened("the index is 99");
    let (masked, shown) = ("E: the index is *", "E: the index is 99");
    for (letters, customers, expected) in
        [(1, 0, masked), (4, 4, masked), (5, 0, shown), (5, 5, shown), (90, 1, masked), (90, 4, masked), (90, 5, shown)]
    {
        assert_eq!(group.shown_title(&counts(letters, customers)), expected, "{letters} {customers}");
    }
    let other = Variant { main_queue: group.main_queue.clone(), ..variant("E: the size is *", 9) };
    let (merged, representative) = other.merged_into(&group).unwrap();
    assert_eq!(representative.shown_title(&counts(9, 9)), masked);
    let (_, alone) = merged.unmerged_from(&representative).unwrap();
    assert_eq!(alone.shown_title(&counts(9, 9)), shown, "no letter of its own differs");
    let (merged, _) = group.merged_into(&other).unwrap();
    assert_eq!(merged.shown_title(&counts(9, 9)), masked);
}

#[test]
fn a_variant_that_was_stored_without_values_keeps_its_title() {
    let group = Variant { id: GroupId::from("g"), ..opened("the index is 99") };
    let mut stored = serde_json::to_value(&group).unwrap();
    assert_eq!(stored["title_values"], serde_json::json!(["99"]));
    stored.as_object_mut().unwrap().remove("title_values");
    let old: Variant = serde_json::from_value(stored).unwrap();
    assert_eq!(old.shown_title(&counts(9, 9)), "E: the index is *");
    assert_eq!(old.contradicted_by([&died("the index is 99").0]), None);
    let plain = serde_json::to_value(opened("it is full")).unwrap();
    assert!(plain.get("title_values").is_none(), "a title without masks stores none");
}
