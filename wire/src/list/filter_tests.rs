//! The filter language, by examples.

use super::filter::*;
use super::sample;
use crate::{GroupRow, NextStep};
use alloc::borrow::ToOwned;
use alloc::string::ToString;
use alloc::vec::Vec;
use domain::money::{Currency, Money};

fn check(text: &str, matches: bool) {
    let row = sample::row("PaymentDeclined: issuer timeout", 120, Some(1500), 7, Some(3), Some(20), 9);
    assert_eq!(Filter::parse(text).matches(&row, sample::NOW), matches, "{text}");
}

#[test]
fn filters_match_rows() {
    for text in [
        "",
        "  ",
        "declined",
        "\"issuer timeout\"",
        "ISSUER",
        "charge.rs",
        "queue:pay",
        "queue:PAY class:transient",
        "class:trans",
        "category:timeout",
        "consumer:orders",
        "step:find",
        "step:find-the",
        "letters:>100",
        "letters:120",
        "at-risk:>1000",
        "at-risk:>=1,500",
        "risk:<2000",
        "customers:<10",
        "age:>1h",
        "age:<4h",
        "expires:<24h",
        "loss:<1d",
        "age:>170min",
        "id:id-pay",
        "-queue:orders",
        "nonsense:x",
        "at-risk:>1000EUR",
        "at-risk:1500eur",
        "\"issuer",
        "age:>soon",
    ] {
        check(text, true);
    }
    for text in [
        "absent",
        "\"timeout issuer\"",
        "queue:orders",
        "class:permanent",
        "letters:>121",
        "letters:119",
        "at-risk:>1501",
        "age:>4h",
        "expires:>24h",
        "-queue:pay",
        "-declined",
        "id:zz",
        "owner:ana",
        "at-risk:>1USD",
    ] {
        check(text, false);
    }
}

#[test]
fn converted_money_is_compared_if_there_are_rates() {
    let mut row = sample::row("x", 1, Some(1_200_000), 1, None, None, 0);
    row.owner = Some("Ana Lima".to_owned());
    row.about = Some(Money { amount: 900.into(), currency: Currency::parse("GBP").unwrap() });
    let rows = [
        ("at-risk:>1000", false),
        ("at-risk:>=900", true),
        ("at-risk:>1000EUR", true),
        ("at-risk:>1000 EUR", false),
        ("owner:ana", true),
        ("owner:\"ana lima\"", true),
        ("-owner:ana", false),
    ];
    for (text, matches) in rows {
        assert_eq!(Filter::parse(text).matches(&row, sample::NOW), matches, "{text}");
    }
}

#[test]
fn unrecognized_terms_are_kept() {
    let filter = Filter::parse("queue:pay foo:bar age:soon \"a b\" -");
    let recognized: Vec<(&str, bool)> = filter.terms.iter().map(|t| (t.text.as_str(), t.test.is_some())).collect();
    let expected = [("queue:pay", true), ("foo:bar", false), ("age:soon", false), ("\"a b\"", true), ("-", true)];
    assert_eq!(recognized, expected);
    assert_eq!(filter.without(1), "queue:pay age:soon \"a b\" -");
    assert!(Filter::parse("foo:bar").is_empty());
}

#[test]
fn file_and_line_are_plain_text() {
    assert_eq!(Filter::parse("db.rs:130").terms[0].test, Some(Test::Anywhere("db.rs:130".to_string())));
}

#[test]
fn every_example_is_recognized() {
    for (_, example) in KEYS {
        assert!(Filter::parse(example).terms[0].test.is_some(), "{example}");
    }
}

#[test]
fn closed_groups_are_those_that_are_not_open() {
    let mut row = sample::row("x", 1, None, 1, None, None, 0);
    let is = |row: &GroupRow, text: &str| Filter::parse(text).matches(row, sample::NOW);
    assert!(is(&row, "is:open") && !is(&row, "is:closed"));
    row.state = domain::group::GroupState::Discarded { at: sample::NOW };
    row.next = NextStep::Discarded;
    assert!(!is(&row, "is:open") && is(&row, "is:closed") && is(&row, "is:discarded"));
}
