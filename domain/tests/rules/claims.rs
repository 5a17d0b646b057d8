//! A class that a letter claims is a claim: it decides only where nothing else is known, and never against a table.

use domain::marker::FAILURE_ATTRIBUTE;
use domain::message::{Attribute, Content, DeadMessage, SystemAttributes};
use domain::policy::{ClassRule, Policy};
use domain::read::{Stamp, read};
use domain::reading::{Category, Class, Diagnosis};

const T: Class = Class::Transient;
const P: Class = Class::Permanent;
const U: Class = Class::Unknown;

const THROTTLED: (&str, &str) =
    ("ClientError", "An error occurred (ThrottlingException) when calling the Put operation");
const MALFORMED: (&str, &str) = ("SyntaxError", "Unexpected token < in JSON at position 0");
const DISPUTED: (&str, &str) = ("io.grpc.StatusRuntimeException", "INTERNAL: oops");
/// A class follows from a word of the type only.
const SUGGESTED: (&str, &str) = ("orders::answer_is_lost", "later");
const STRANGE: (&str, &str) = ("", "the parrot is resting");
/// A class is guessed from single words.
const GUESSED: (&str, &str) = ("WarehouseError", "exceeded max retries to acquire the breaker");
const NOTHING: (&str, &str) = ("", "");

fn some(text: &str) -> Option<String> {
    Some(text.to_owned()).filter(|text| !text.is_empty())
}

fn stamped((error_type, message): (&str, &str), claim: Option<Class>, body: &str) -> DeadMessage {
    let stamp = Stamp { error_type: some(error_type), message: some(message), class: claim, ..Stamp::default() };
    let attributes = [(FAILURE_ATTRIBUTE.to_string(), Attribute::text(stamp.print()))].into();
    DeadMessage {
        dlq: "arn:aws:sqs:eu-west-1:111122223333:orders-dlq".into(),
        message_id: "m-1".into(),
        content: Content { body: body.into(), attributes, ..Content::default() },
        system: SystemAttributes::default(),
    }
}

fn diagnosis(error: (&str, &str), claim: Option<Class>, body: &str) -> Diagnosis {
    read(&stamped(error, claim, body), &Policy::default()).diagnosis
}

fn overruled(diagnosis: &Diagnosis) -> bool {
    diagnosis.remarks.iter().any(|remark| remark.starts_with("Overruled: the consumer's stamp claims "))
}

#[test]
fn a_claim_never_overrules_a_table_that_contradicts_it() {
    // Error, body, claim, class, whether the claim is overruled, the reason's end.
    type Row<'a> = ((&'a str, &'a str), &'a str, Option<Class>, Class, bool, &'a str);
    let rows: &[Row<'_>] = &[
        (THROTTLED, "{}", None, T, false, ""),
        (THROTTLED, "{}", Some(T), T, false, "; the consumer's stamp claims the same"),
        (THROTTLED, "{}", Some(U), T, false, ""),
        (THROTTLED, "{}", Some(P), T, true, ""),
        (MALFORMED, "{}", None, P, false, ""),
        (MALFORMED, "{}", Some(P), P, false, "; the consumer's stamp claims the same"),
        (MALFORMED, "{}", Some(T), P, true, ""),
        // The payload is evidence, too.
        (NOTHING, "{\"a\":", None, P, false, "Body is not valid JSON"),
        (NOTHING, "{\"a\":", Some(P), P, false, "Body is not valid JSON; the consumer's stamp claims the same"),
        (NOTHING, "{\"a\":", Some(T), P, true, "Body is not valid JSON"),
        // Words that merely suggest a class do not overrule who wrote the consumer.
        (SUGGESTED, "{}", None, T, false, "the error type says \"lost\""),
        (SUGGESTED, "{}", Some(P), P, false, "the words alone suggest transient (the error type says \"lost\")"),
        (SUGGESTED, "{}", Some(T), T, false, "; the consumer's stamp claims the same"),
        (GUESSED, "{}", None, T, false, "suggest transient"),
        (GUESSED, "{}", Some(P), P, false, "suggest transient)"),
        (GUESSED, "{}", Some(T), T, false, "; the consumer's stamp claims the same"),
        // Only here does the claim decide.
        (DISPUTED, "{}", None, U, false, ""),
        (DISPUTED, "{}", Some(T), T, false, ""),
        (DISPUTED, "{}", Some(P), P, false, ""),
        (STRANGE, "{}", None, U, false, "no known pattern matched"),
        (STRANGE, "{}", Some(T), T, false, "claimed by the consumer's stamp"),
        (STRANGE, "{}", Some(P), P, false, "claimed by the consumer's stamp"),
        (NOTHING, "{}", Some(P), P, false, "claimed by the consumer's stamp"),
    ];
    for (error, body, claim, class, is_overruled, reason) in rows {
        let got = diagnosis(*error, *claim, body);
        let found = &got.classification;
        assert_eq!(found.class, *class, "{error:?} {claim:?}: {}", found.reason);
        assert_eq!(overruled(&got), *is_overruled, "{error:?} {claim:?}: {:?}", got.remarks);
        assert!(found.reason.ends_with(reason), "{error:?} {claim:?}: {}", found.reason);
        let known = claim.filter(|claim| *claim != U);
        assert_eq!(got.failure.stated_class, known, "the claim stays visible");
        let alone = diagnosis(*error, None, body).classification;
        let expected = if alone.firm_class() == U && known.is_some() { 60 } else { alone.confidence.as_pct() };
        assert_eq!(found.confidence.as_pct(), expected, "{error:?} {claim:?}");
        // A category that belongs to the other class says nothing.
        let fits = alone.class == U || found.class == alone.class;
        assert_eq!(found.category, if fits { alone.category } else { Category::Unknown }, "{error:?} {claim:?}");
    }
}

#[test]
fn a_claim_in_an_error_envelope_is_no_better() {
    let body = r#"{"originalMessage":{"a":1},"failureReason":{"message":"the parrot is resting","retryable":false}}"#;
    let letter = |body: &str| DeadMessage {
        content: Content { body: body.into(), ..Content::default() },
        ..stamped(NOTHING, None, "")
    };
    let got = read(&letter(body), &Policy::default()).diagnosis.classification;
    assert_eq!((got.class, got.reason.as_str()), (P, "claimed by the letter's envelope"));
    let throttled = body.replace("the parrot is resting", "rate limit exceeded");
    let got = read(&letter(&throttled), &Policy::default()).diagnosis;
    assert_eq!(got.classification.class, T);
    assert!(got.remarks.iter().any(|remark| remark.starts_with("Overruled: the letter's envelope claims permanent")));
}

#[test]
fn a_rule_of_the_policy_overrules_table_and_claim() {
    let rule = ClassRule {
        name: "sold out".into(),
        error_type: None,
        message_contains: Some("parrot".into()),
        class: P,
        category: Category::BusinessRule,
    };
    let policy = Policy { class_rules: vec![rule], ..Policy::default() };
    let got = read(&stamped(STRANGE, Some(T), "{}"), &policy).diagnosis;
    assert_eq!((got.classification.class, got.classification.confidence.as_pct()), (P, 100));
    assert!(overruled(&got), "{:?}", got.remarks);
}
