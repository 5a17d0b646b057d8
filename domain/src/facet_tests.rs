//! What is a facet and what is not: tables, bounds, and counts that add up.

use super::*;
use crate::message::{Attribute, Content, DeadMessage, SystemAttributes};
use crate::policy::Policy;
use crate::time::Timestamp;
use alloc::format;
use alloc::string::ToString;
use alloc::vec;
use proptest::prelude::*;

fn letter(number: usize, body: &str, attributes: &[(&str, &str)]) -> Letter {
    let attributes = attributes.iter().map(|(name, value)| ((*name).to_string(), Attribute::text(*value))).collect();
    let message = DeadMessage {
        dlq: "arn:aws:sqs:eu-west-1:111122223333:orders-dlq".into(),
        message_id: format!("m-{number}").as_str().into(),
        content: Content { body: body.to_string(), attributes, ..Content::default() },
        system: SystemAttributes::default(),
    };
    let reading = crate::read::read(&message, &Policy::default());
    Letter::first(&message, reading, None, Timestamp::from_ms(1_800_000_000_000))
}

fn letters(bodies: impl IntoIterator<Item = String>) -> Vec<Letter> {
    bodies.into_iter().enumerate().map(|(number, body)| letter(number, &body, &[])).collect()
}

/// The facets as a person would note them down.
fn noted(found: &Facets) -> Vec<String> {
    let note = |facet: &Facet| {
        let fact = match &facet.kind {
            FacetKind::Value(value) => format!("= {value}"),
            FacetKind::Present => "is present".to_string(),
            FacetKind::Absent => "is missing".to_string(),
        };
        format!("{} {fact}: {}/{} {}/{}", facet.field, facet.inside, found.letters, facet.outside, found.others)
    };
    found.facets.iter().map(note).collect()
}

#[test]
fn a_value_that_others_do_not_have_is_a_facet() {
    let inside = letters((0..40).map(|n| format!(r#"{{"order":{n},"product_id":999,"currency":"EUR"}}"#)));
    let outside = letters((0..60).map(|n| format!(r#"{{"order":{n},"product_id":{n},"currency":"EUR"}}"#)));
    assert_eq!(noted(&facets(&inside, &outside)), ["product_id = 999: 40/40 0/60"]);
}

#[test]
fn a_field_that_is_missing_is_a_facet() {
    let inside = letters((0..20).map(|n| format!(r#"{{"order":{n}}}"#)));
    let outside = letters((0..20).map(|n| format!(r#"{{"order":{n},"price":{{"amount":{n}.5,"currency":"EUR"}}}}"#)));
    assert_eq!(noted(&facets(&inside, &outside)), ["price is missing: 20/20 0/20"], "and not each field below it");
}

#[test]
fn letters_whose_payload_cannot_be_read_are_not_compared() {
    let broken = |n: usize| letters((0..n).map(|n| format!(r#"{{"order":{n},"currency":"EUR","to"#)));
    let euros = || letters((0..20).map(|n| format!(r#"{{"order":{n},"currency":"EUR"}}"#)));
    let found = facets(&euros(), &broken(6));
    assert_eq!((noted(&found), found.others), (vec![], 0), "nothing is known about the others");
    assert_eq!(facets(&broken(6), &euros()).others, 0, "what is cut off is not missing");
    let mut others = broken(6);
    others.extend(letters((0..9).map(|n| format!(r#"{{"order":{n},"currency":"CHF"}}"#))));
    assert_eq!(noted(&facets(&euros(), &others)), ["currency = EUR: 20/20 0/9"]);
    let from =
        |source: &str| -> Vec<Letter> { (0..9).map(|n| letter(n, "plain text", &[("source", source)])).collect() };
    assert_eq!(noted(&facets(&from("shop"), &from("till"))), ["source = shop: 9/9 0/9"], "attributes are readable");
}

#[test]
fn a_field_that_others_lack_is_a_facet() {
    let inside = letters((0..20).map(|n| format!(r#"{{"order":{n},"gift":{{"card":"g-{n}"}}}}"#)));
    let outside = letters((0..20).map(|n| format!(r#"{{"order":{n}}}"#)));
    assert_eq!(noted(&facets(&inside, &outside)), ["gift is present: 20/20 0/20"]);
}

#[test]
fn letters_of_another_kind_do_not_fill_the_list_with_missing_fields() {
    let inside = letters((0..20).map(|n| format!(r#"{{"ping":{n}}}"#)));
    let outside = letters((0..20).map(|n| format!(r#"{{"a":{n},"b":{n},"c":{n},"d":{n},"e":{n}}}"#)));
    let fields = ["a is missing", "b is missing", "c is missing"].map(|fact| format!("{fact}: 20/20 0/20"));
    let there = ["ping is present: 20/20 0/20".to_string()];
    assert_eq!(noted(&facets(&inside, &outside)), [&fields[..], &there[..]].concat());
}

#[test]
fn attributes_elements_of_arrays_and_inner_json_count() {
    let body = |n: usize, sku: &str| format!(r#"{{"items":[{{"sku":"a-{n}"}},{{"sku":"{sku}"}}]}}"#);
    let inner = |n: usize, region: &str| format!(r#"{{"Message":"{{\"region\":\"{region}\",\"n\":{n}}}"}}"#);
    let with = |n, version: &str, body: String| letter(n, &body, &[("producer", version)]);
    let inside: Vec<_> = (0..20).map(|n| with(n, "4.2.1", body(n, "x-1"))).collect();
    let outside: Vec<_> = (0..20).map(|n| with(n, "4.2.0", body(n, "x-2"))).collect();
    assert_eq!(noted(&facets(&inside, &outside)), ["producer = 4.2.1: 20/20 0/20", "items[].sku = x-1: 20/20 0/20"]);
    let inside = letters((0..20).map(|n| inner(n, "south")));
    let outside = letters((0..20).map(|n| inner(n, "north")));
    assert_eq!(noted(&facets(&inside, &outside)), ["Message.region = south: 20/20 0/20"]);
}

#[test]
fn the_least_that_is_a_facet() {
    // (letters of the group, of these with the value, other letters, of these with the value, whether it is a facet)
    for (letters_count, with, others_count, others_with, is_facet) in [
        (40, 40, 40, 0, true),
        (40, 32, 40, 0, true),
        (40, 31, 40, 0, false),
        (40, 40, 40, 18, true),
        (40, 40, 40, 20, false),
        (2, 2, 40, 0, true),
        (2, 2, 2, 0, true),
        (2, 2, 1, 0, false),
        (1, 1, 200, 0, false),
        (40, 40, 0, 0, false),
        (0, 0, 40, 0, false),
    ] {
        let of = |count: usize, with: usize| {
            letters((0..count).map(|n| format!(r#"{{"v":{}}}"#, if n < with { "7".into() } else { format!("1{n}") })))
        };
        let found = facets(&of(letters_count, with), &of(others_count, others_with));
        let row = (letters_count, with, others_count, others_with);
        let is_there = found.facets.iter().any(|facet| facet.kind == FacetKind::Value("7".into()));
        assert_eq!(is_there, is_facet, "{row:?}: {:?}", noted(&found));
    }
}

#[test]
fn the_offices_own_attributes_and_long_texts_are_left_out() {
    let text = "x".repeat(101);
    let body = format!(r#"{{"text":"{text}"}}"#);
    let inside: Vec<_> =
        (0..20).map(|n| letter(n, &body, &[("dlo.failure", "{}"), ("dlo.replay", "1.a.b.1")])).collect();
    let outside = letters((0..20).map(|_| r#"{"text":"short"}"#.to_string()));
    assert_eq!(noted(&facets(&inside, &outside)), Vec::<String>::new());
}

#[test]
fn bodies_without_bounds_are_bounded() {
    let deep = format!("{}1{}", r#"{"a":"#.repeat(5_000), "}".repeat(5_000));
    let wide = format!("{{{}}}", (0..5_000).map(|n| format!(r#""k{n}":{n}"#)).collect::<Vec<_>>().join(","));
    let long = format!(r#"{{"a":[{}1]}}"#, "1,".repeat(10_000));
    let none = ["", "not JSON", "{", "null", "7", "[]", "\"text\""].map(ToString::to_string);
    let bodies = [deep, wide, long].into_iter().chain(none);
    for body in bodies {
        let content = Content { body, ..Content::default() };
        let carried = collect::carried(&content);
        assert!(carried.len() <= 301, "{} fields", carried.len());
        assert!(carried.values().all(|values| values.len() <= 20));
    }
    let many = letters((0..250).map(|n| format!(r#"{{"n":{n}}}"#)));
    assert_eq!((facets(&many, &many).letters, facets(&many, &many).others), (200, 200));
}

proptest! {
    /// What is told can be counted again, and a group is never distinguished from itself.
    #[test]
    fn every_facet_can_be_counted_again(values in prop::collection::vec((0..4u8, 0..4u8, any::<bool>()), 0..40)) {
        let one = |(a, b, _): &(u8, u8, bool)| format!(r#"{{"a":{a},"b":{{"c":"{b}"}}}}"#);
        let inside = letters(values.iter().filter(|value| value.2).map(one));
        let outside = letters(values.iter().filter(|value| !value.2).map(one));
        let found = facets(&inside, &outside);
        prop_assert_eq!(found.letters as usize, inside.len());
        for facet in &found.facets {
            let FacetKind::Value(value) = &facet.kind else { continue };
            let text = if facet.field == "a" { format!(r#""a":{value},"#) } else { format!(r#""c":"{value}""#) };
            let count = |of: &[Letter]| of.iter().filter(|letter| letter.content.body.contains(&text)).count();
            prop_assert_eq!((facet.inside as usize, facet.outside as usize), (count(&inside), count(&outside)));
        }
        prop_assert_eq!(facets(&inside, &inside).facets, vec![]);
    }
}
