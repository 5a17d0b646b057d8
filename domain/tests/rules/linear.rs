//! Work grows at most linearly with a letter's size, measured in allocations: a count is the same on every machine.
//!
//! The tests of `read::template` count the scanner's look-ahead.

use domain::message::{Attribute, Content, DeadMessage, SystemAttributes};
use domain::policy::Policy;
use domain::read::{STAMP_VERSION, Stamp, read};

fn message(body: String) -> DeadMessage {
    DeadMessage {
        dlq: "arn:aws:sqs:eu-west-1:111122223333:orders-dlq".into(),
        message_id: "m-1".into(),
        content: Content { body, ..Content::default() },
        system: SystemAttributes::default(),
    }
}

fn stamped(text: &str, as_stack: bool) -> DeadMessage {
    let some = Some(text.to_owned());
    let (message_text, stack) = if as_stack { (None, some) } else { (some, None) };
    let stamp = Stamp { v: STAMP_VERSION, message: message_text, stack, ..Stamp::default() };
    let mut message = message("{}".to_owned());
    let json = serde_json::to_string(&stamp).expect("a stamp is JSON");
    message.content.attributes.insert("dlo.failure".into(), Attribute::text(json));
    message
}

/// Allocated bytes and allocations of one reading.
fn cost(message: &DeadMessage) -> (u64, u64) {
    let policy = Policy::default();
    let counted = allocation_counter::measure(|| drop(read(message, &policy)));
    (counted.bytes_total, counted.count_total)
}

#[test]
fn sixteen_times_the_letter_is_at_most_sixteen_times_the_work() {
    #[rustfmt::skip]
    let pieces = [
        "{\"a\":", "[", "[[],", "\"\\u0041", "{\"type\":\"x\",\"message\":{", "1", "e", "\\", "'a ", "{", "a=", "http://a/", "at a.b(C.java:1)\n",
        "at a.b.C.d() in c.cs:line 1\n", "Caused by: a.B: c\n", "  File \"a.py\", line 1, in f\n", "a.b()\n\t/a/b.go:1\n", "1: a::{closure#0}::b\n", "#0 a(1): b()\n", "a.rb:1:in `b'\n",
        "{\"error\":", "{\"error\":{\"code\":429}} ", "{\"id\":1,\"name\":\"b\"} ", "{ {\"a\":1} ", " ---> A.B: c\n", "timeout ", "x_y_", "aB", "SQLSTATE ", "error ", "€",
    ];
    let of_size = |piece: &str, bytes: usize| piece.repeat(bytes / piece.len());
    for piece in pieces {
        for (form, make) in [
            ("body", (|text: &str| message(text.to_owned())) as fn(&str) -> DeadMessage),
            ("message", |text| stamped(text, false)),
            ("stack", |text| stamped(text, true)),
            ("attribute", |text| {
                let mut message = message("{}".to_owned());
                message.content.attributes.insert("ErrorMessage".into(), Attribute::text(text));
                message
            }),
        ] {
            let (small, small_count) = cost(&make(&of_size(piece, 1 << 16)));
            let (large, large_count) = cost(&make(&of_size(piece, 1 << 20)));
            let (most, count_most) = (small * 17 + 4_096, small_count * 17 + 64);
            assert!(
                large <= most && large_count <= count_most,
                "{form} of {piece:?}: {small} to {large} bytes, {small_count} to {large_count} allocations"
            );
            assert!(large <= 16 << 20, "{form} of {piece:?}: {large} bytes for 1 MiB");
        }
    }
}
