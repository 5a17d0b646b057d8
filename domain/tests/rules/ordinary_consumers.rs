//! Errors as ordinary consumers leave them, who move a message to a dead-letter queue by hand: in attributes with names of
//! their own, or next to the message in its body. And business data with the same names, which are no errors.

use domain::message::{Attribute, Content, DeadMessage, SystemAttributes};
use domain::policy::Policy;
use domain::read::read;
use domain::reading::{EnvelopeKind, Reading};

const TRACE: &str = "Traceback (most recent call last):\n  File \"/srv/app/worker.py\", line 41, in handle\n    customer = order['customer_id']\nKeyError: 'customer_id'\n";
const OWN: &str = "Traceback (most recent call last):\n  File \"/srv/app/worker.py\", line 41, in handle\n    raise OutOfStock(sku)\n__main__.OutOfStock: sku 7\n";
const ORDER: &str = r#"{"type":"order.placed","order":7}"#;
const JAVA: &str = "java.lang.IllegalStateException: no price\n\tat shop.Prices.of(Prices.java:41)\n";

fn letter(body: &str, attributes: &[(&str, &str)], redriven: bool) -> DeadMessage {
    let attributes = attributes.iter().map(|(name, value)| ((*name).to_owned(), Attribute::text(*value)));
    DeadMessage {
        dlq: "arn:aws:sqs:eu-west-1:111122223333:orders-dlq".into(),
        message_id: "m-1".into(),
        content: Content { body: body.into(), attributes: attributes.collect(), ..Content::default() },
        system: SystemAttributes {
            source_queue: redriven.then(|| "arn:aws:sqs:eu-west-1:111122223333:orders".into()),
            ..SystemAttributes::default()
        },
    }
}

/// Type, message, and whether there is a stack.
type Error<'a> = (&'a str, &'a str, bool);

fn error(reading: &Reading) -> Error<'_> {
    let failure = &reading.diagnosis.failure;
    (
        failure.error_type.as_deref().unwrap_or_default(),
        failure.message.as_deref().unwrap_or_default(),
        failure.stack.is_some(),
    )
}

/// Attributes of a message, and the error that they are.
#[rustfmt::skip]
const ATTRIBUTES: &[(&[(&str, &str)], Error<'static>)] = &[
    // What only an error has: any text.
    (&[("error", "'customer_id'")], ("", "'customer_id'", false)),
    (&[("Error", "no price for sku 7")], ("", "no price for sku 7", false)),
    (&[("exception", "KeyError: 'customer_id'")], ("KeyError", "'customer_id'", false)),
    (&[("last_error", "no price")], ("", "no price", false)),
    (&[("LastError", "TimeoutError: no answer")], ("TimeoutError", "no answer", false)),
    (&[("dlq_reason", "invalid payload")], ("", "invalid payload", false)),
    (&[("dead_letter_reason", "invalid payload")], ("", "invalid payload", false)),
    (&[("error_msg", "no price")], ("", "no price", false)),
    (&[("error_details", "no price")], ("", "no price", false)),
    (&[("errorInfo", "no price")], ("", "no price", false)),
    (&[("x-error", "no price")], ("", "no price", false)),
    (&[("x-exception-message", "no price")], ("", "no price", false)),
    (&[("X-Error-Type", "PriceError"), ("X-Error-Message", "no price")], ("PriceError", "no price", false)),
    (&[("error", "503")], ("", "503", false)),
    (&[("error", r#"{"type":"KeyError","message":"no sku"}"#)], ("KeyError", "no sku", false)),
    // What business data have, too: an error by its form.
    (&[("reason", "KeyError('customer_id')")], ("KeyError", "'customer_id'", false)),
    (&[("reason", "KeyError: 'customer_id'")], ("KeyError", "'customer_id'", false)),
    (&[("cause", "requests.exceptions.ConnectionError: refused")], ("requests.exceptions.ConnectionError", "refused", false)),
    (&[("err", "dial tcp 10.0.3.7:5432: connect: connection refused")], ("", "dial tcp 10.0.3.7:5432: connect: connection refused", false)),
    (&[("failure", TRACE)], ("KeyError", "'customer_id'", true)),
    (&[("reason", "ValueError(\"bad value\")")], ("ValueError", "bad value", false)),
    (&[("failure_reason", "KeyError('customer_id')")], ("KeyError", "'customer_id'", false)),
    (&[("reason", "ConnectionResetError(104, 'Connection reset by peer')")], ("ConnectionResetError", "104, 'Connection reset by peer'", false)),
    (&[("reason", "TimeoutError()")], ("TimeoutError", "", false)),
    // Stacks.
    (&[("error", TRACE)], ("KeyError", "'customer_id'", true)),
    (&[("error_message", TRACE)], ("KeyError", "'customer_id'", true)),
    (&[("error", "'customer_id'"), ("traceback", TRACE)], ("KeyError", "'customer_id'", true)),
    (&[("error", "order 7 failed"), ("stack_trace", TRACE)], ("KeyError", "order 7 failed", true)),
    (&[("traceback", TRACE)], ("KeyError", "'customer_id'", true)),
    (&[("stack", TRACE)], ("KeyError", "'customer_id'", true)),
    (&[("err_msg", "no price"), ("trace", TRACE)], ("KeyError", "no price", true)),
    (&[("failedReason", "no price")], ("", "no price", false)),
    (&[("exc_info", TRACE)], ("KeyError", "'customer_id'", true)),
    (&[("traceback", OWN)], ("__main__.OutOfStock", "sku 7", true)),
    (&[("exception", JAVA)], ("java.lang.IllegalStateException", "no price", true)),
    // The type alone, next to what was said, or with both.
    (&[("exception", "KeyError")], ("KeyError", "", false)),
    (&[("exception", "KeyError"), ("error_message", "'customer_id'")], ("KeyError", "'customer_id'", false)),
    (&[("exception", "KeyError"), ("traceback", TRACE)], ("KeyError", "'customer_id'", true)),
    (&[("error_type", "KeyError"), ("error", "KeyError('customer_id')")], ("KeyError", "'customer_id'", false)),
    // What was read before takes precedence.
    (&[("error_message", "gave up"), ("error", "no price")], ("", "gave up", false)),
];

/// Attributes of business data.
#[rustfmt::skip]
const NO_ATTRIBUTES: &[&[(&str, &str)]] = &[
    &[("reason", "gift")],
    &[("reason", "out of stock")],
    &[("reason", "customer changed mind")],
    &[("reason", "PricingError")],
    &[("reason", "card declined")],
    &[("reason", "expired")],
    &[("reason", "404")],
    &[("reason", "Warning: fragile")],
    &[("reason", "store.Berlin: closed")],
    &[("reason", "delivery delayed, try again later")],
    &[("x-reason", "gift")],
    &[("cause", "World Wildlife Fund")],
    &[("cause", "water damage (kitchen)")],
    &[("failure", "pump 3")],
    &[("failure", "false")],
    &[("err", "0")],
    &[("err", "0.05")],
    &[("error", "false")],
    &[("error", "None")],
    &[("error", "0.05")],
    &[("error", "0")],
    &[("error", "null")],
    &[("Error", " ")],
    &[("exception", "none")],
    &[("last_error", "-")],
    &[("error_details", "{}")],
    &[("exc_info", "True")],
    &[("traceback", "NoneType: None\n")],
    &[("traceback", "on")],
    &[("stack", "prod")],
    &[("stack", "blue plates (7)")],
    &[("trace", "Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=1")],
    &[("backtrace", "lot 7, farm 3")],
    &[("error_rate", "KeyError: 'sku'")],
    &[("reasons", "KeyError: 'sku'")],
    &[("no-error", "KeyError: 'sku'")],
    &[("x-", "KeyError: 'sku'")],
];

/// Compares all rows, and fails with those that are read wrongly.
fn compare<'a>(what: &str, rows: impl Iterator<Item = (String, String, Error<'a>)>) {
    let (mut wrong, mut all) = (Vec::new(), 0);
    for (row, found, expected) in rows {
        all += 1;
        let expected = format!("{expected:?}");
        if found != expected {
            wrong.push(format!("{row}\n  found {found}\n  not   {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{what}: {} of {all} right\n{}", all - wrong.len(), wrong.join("\n"));
}

fn found(letter: &DeadMessage) -> String {
    format!("{:?}", error(&read(letter, &Policy::default())))
}

#[test]
fn attributes_with_the_names_of_errors_are_errors() {
    let of_row = |attributes| letter(ORDER, attributes, false);
    compare("attributes", ATTRIBUTES.iter().map(|(row, error)| (format!("{row:?}"), found(&of_row(row)), *error)));
    for (attributes, _) in ATTRIBUTES {
        let letter = of_row(attributes);
        let reading = read(&letter, &Policy::default());
        assert_eq!(reading.original, letter.content, "{attributes:?}: it is sent back as it is");
        assert!(reading.diagnosis.remarks.iter().any(|remark| remark.contains("message's attributes")));
    }
}

#[test]
fn attributes_of_business_data_are_no_errors() {
    let of_row = |attributes| letter(ORDER, attributes, false);
    compare("data", NO_ATTRIBUTES.iter().map(|row| (format!("{row:?}"), found(&of_row(row)), ("", "", false))));
}

/// SQS adds no attributes: whoever sent a redriven message wrote them.
#[test]
fn of_a_redriven_message_only_names_of_errors_count() {
    for (attributes, counts) in [
        (&[("error", "no price")][..], true),
        (&[("last_error", "KeyError: 'sku'")], true),
        (&[("traceback", TRACE)], true),
        (&[("reason", "KeyError: 'sku'")], false),
        (&[("cause", TRACE)], false),
        (&[("exception", "KeyError")], false),
        (&[("error", "false")], false),
    ] {
        let reading = read(&letter(ORDER, attributes, true), &Policy::default());
        assert_eq!(!reading.diagnosis.failure.is_empty(), counts, "{attributes:?}");
        let before = reading.diagnosis.remarks.iter().any(|remark| remark.starts_with("It already carried"));
        assert_eq!(before, counts, "{attributes:?}");
    }
}

#[test]
fn a_title_names_the_type_and_what_it_says() {
    let attributes: [&[(&str, &str)]; 5] = [
        &[("error", "'customer_id'"), ("traceback", TRACE)],
        &[("error", TRACE)],
        &[("reason", "KeyError('customer_id')")],
        &[("error_type", "KeyError"), ("error_message", "'customer_id'")],
        &[("exception", "KeyError"), ("traceback", TRACE)],
    ];
    for attributes in attributes {
        let reading = read(&letter(ORDER, attributes, false), &Policy::default());
        assert_eq!(reading.diagnosis.title, "KeyError: 'customer_id'", "{attributes:?}");
    }
}

/// The members of a body, with `TRACE` for a traceback, and the error.
#[rustfmt::skip]
const WRAPPERS: &[(&str, Error<'static>)] = &[
    (r#"{"message":ORDER,"exception":"KeyError","traceback":TRACE}"#, ("KeyError", "'customer_id'", true)),
    (r#"{"message":"{\"order\":7}","exception":"'customer_id'","traceback":TRACE}"#, ("KeyError", "'customer_id'", true)),
    (r#"{"message":ORDER,"error":"no price","traceback":TRACE}"#, ("KeyError", "no price", true)),
    (r#"{"payload":ORDER,"reason":"KeyError('customer_id')"}"#, ("KeyError", "'customer_id'", false)),
    (r#"{"payload":ORDER,"reason":TRACE}"#, ("KeyError", "'customer_id'", true)),
    (r#"{"original_message":ORDER,"traceback":TRACE}"#, ("KeyError", "'customer_id'", true)),
    (r#"{"originalMessage":"hello","stack_trace":TRACE}"#, ("KeyError", "'customer_id'", true)),
    (r#"{"original_message":ORDER,"error":"'customer_id'","traceback":TRACE}"#, ("KeyError", "'customer_id'", true)),
    (r#"{"original_message":ORDER,"error":TRACE}"#, ("KeyError", "'customer_id'", true)),
    (r#"{"original_message":ORDER,"error":{"message":"'customer_id'","traceback":TRACE}}"#, ("KeyError", "'customer_id'", true)),
    (r#"{"body":"{\"order\":7}","error_message":"'customer_id'","exception_type":"KeyError"}"#, ("KeyError", "'customer_id'", false)),
    (r#"{"body":"plain text","error_message":"no price","exception_type":"PriceError"}"#, ("PriceError", "no price", false)),
    (r#"{"body":ORDER,"error_message":"dial tcp: connection refused","id":"m-1"}"#, ("", "dial tcp: connection refused", false)),
    (r#"{"payload":ORDER,"error":"no price","failed_at":"2026-11-19T08:01:02Z","attempts":3}"#, ("", "no price", false)),
    (r#"{"body":ORDER,"attributes":{"tenant":"a"},"error":"no price"}"#, ("", "no price", false)),
    (r#"{"event":ORDER,"error":{"type":"KeyError","message":"no sku"},"id":7}"#, ("KeyError", "no sku", false)),
    (r#"{"record":ORDER,"exc_info":["Traceback (most recent call last):\n","  File \"w.py\", line 3, in handle\n","KeyError: 'sku'\n"]}"#, ("KeyError", "'sku'", true)),
    (r#"{"job":ORDER,"err":"TypeError: no price"}"#, ("TypeError", "no price", false)),
    (r#"{"data":ORDER,"lastError":"KeyError('sku')","queue":"orders"}"#, ("KeyError", "'sku'", false)),
    (r#"{"payload":ORDER,"error_type":"KeyError","reason":"no sku"}"#, ("KeyError", "no sku", false)),
];

/// Bodies of applications.
#[rustfmt::skip]
const NO_WRAPPERS: &[&str] = &[
    r#"{"message":"please ring","reason":"gift"}"#,
    r#"{"order":7,"message":"please ring","reason":"KeyError: 'sku'"}"#,
    r#"{"payload":ORDER,"reason":"gift"}"#,
    r#"{"payload":ORDER,"reason":"out of stock"}"#,
    r#"{"payload":ORDER,"reason":"PricingError"}"#,
    r#"{"payload":ORDER,"cause":"water damage"}"#,
    r#"{"body":"Dear Anna","subject":"Your order","error":"no"}"#,
    r#"{"body":"Dear Anna","subject":"Your order","reason":"payment failed"}"#,
    r#"{"body":"Dear Anna","to":"a@b.example","failure":"card declined"}"#,
    r#"{"message":"hello","user":7,"error":"card declined"}"#,
    r#"{"data":ORDER,"error":null}"#,
    r#"{"data":ORDER,"error":false,"errors":[]}"#,
    r#"{"data":ORDER,"error":"invalid coupon"}"#,
    r#"{"data":ORDER,"error":{"code":550,"message":"mailbox full"}}"#,
    r#"{"payload":ORDER,"error":""}"#,
    r#"{"payload":ORDER,"error":"none"}"#,
    r#"{"payload":ORDER,"error":0.05}"#,
    r#"{"payload":ORDER,"traceback":"on"}"#,
    r#"{"payload":ORDER,"exc_info":true}"#,
    r#"{"payload":ORDER,"exception":"holiday","shop":7}"#,
    r#"{"type":"payment.failed","payload":ORDER,"exception":"CardError: declined"}"#,
    r#"{"eventType":"PaymentFailed","payload":ORDER,"error_type":"CardError","error_message":"declined"}"#,
    r#"{"level":"error","message":"{\"order\":7}","exception":"KeyError: 'sku'","traceback":TRACE}"#,
    r#"{"levelname":"ERROR","message":ORDER,"exc_info":TRACE}"#,
    r#"{"message":"order failed","exception":"KeyError","traceback":TRACE}"#,
    r#"{"order":7,"exception":"KeyError: 'sku'"}"#,
    r#"{"exception":"KeyError: 'sku'"}"#,
    r#"{"originalMessage":"hello","stack":"blue plates"}"#,
    r#"{"originalMessage":"hello","traceback":"none"}"#,
    r#"{"payload":null,"exception":"KeyError: 'sku'"}"#,
];

fn filled(body: &str) -> String {
    body.replace("TRACE", &serde_json::to_string(TRACE).unwrap()).replace("ORDER", r#"{"order":7}"#)
}

#[test]
fn an_error_next_to_a_message_is_read_and_the_body_stays() {
    let of_row = |body| letter(&filled(body), &[], false);
    compare("wrappers", WRAPPERS.iter().map(|(row, error)| (row.to_string(), found(&of_row(row)), *error)));
    for (body, _) in WRAPPERS {
        let letter = of_row(body);
        let reading = read(&letter, &Policy::default());
        assert_eq!(reading.diagnosis.envelope, EnvelopeKind::BodyEnvelope, "{body}");
        // `team_envelopes` and `unwrapping` tell which envelopes are removed.
        let is_removed = body.contains(r#"ORDER,"error":TRACE"#) || body.contains(r#"ORDER,"error":{"message""#);
        assert_eq!(reading.original == letter.content, !is_removed, "{body}");
        let doubted =
            reading.diagnosis.remarks.iter().any(|remark| remark.starts_with("It looks like an error envelope"));
        assert_eq!(doubted, !is_removed, "{body}");
    }
}

#[test]
fn a_body_of_an_application_is_no_error() {
    let of_row = |body| letter(&filled(body), &[], false);
    compare("bodies", NO_WRAPPERS.iter().map(|row| (row.to_string(), found(&of_row(row)), ("", "", false))));
    for body in NO_WRAPPERS {
        let reading = read(&of_row(body), &Policy::default());
        assert_eq!(reading.diagnosis.envelope, EnvelopeKind::Plain, "{body}");
    }
}

/// A redrive policy moved what the consumer received: a report of errors, perhaps.
#[test]
fn a_redriven_body_with_an_error_next_to_a_message_is_no_error() {
    for (body, _) in WRAPPERS.iter().filter(|(body, _)| !body.contains("riginal")) {
        let reading = read(&letter(&filled(body), &[], true), &Policy::default());
        assert!(reading.diagnosis.failure.is_empty(), "{body}: {:?}", reading.diagnosis.failure);
    }
}

#[test]
fn what_else_says_why_a_message_failed_takes_precedence() {
    let body = filled(r#"{"payload":ORDER,"exception":"KeyError('sku')"}"#);
    let reading = read(&letter(&body, &[("error", "no price")], false), &Policy::default());
    assert_eq!(error(&reading), ("", "no price", false));
}
