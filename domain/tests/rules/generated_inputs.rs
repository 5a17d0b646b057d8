//! Signs that the reader reacts to, in random order: whatever is read, nothing breaks.
//!
//! The fuzzers' bytes rarely produce such signs. `int * (*) fn`, a C type in a message, was such an order: it broke
//! the template.

use domain::id::GroupId;
use domain::merge::{Skeleton, find_groups};
use domain::message::{Attribute, Content, DeadMessage, SystemAttributes};
use domain::policy::Policy;
use domain::read::{classify_failure, frames, read, skeleton};
use domain::reading::Failure;
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The longest template, bytes.
const TEMPLATE_BYTES_MAX: usize = 2 * 1024;

/// The parts of a message.
#[rustfmt::skip]
const SIGNS: &[&str] = &[
    " ", " ", " ", "\n", "\t", "\0", "*", "**", "(", ")", "[", "]", "{", "}", "<", ">", "|", ",", ";", ":", "::", "=",
    "==", "/", "//", "\\", "\"", "'", "`", "“", "”", "‘", "’", "«", "»", "…", "...", "-", "_", "_-", ":-", "/-", "+",
    "#", "~", "%", "&", "@", "$", "!", "?", "'s", "’s", "://", " HTTP/1.1", "GET ", "/home/", "Users/", "/var/a/",
    "C:\\", "\\\\", "a", "A", "ß", "İ", "é", "日", "\u{301}", "\u{200b}", "👩‍💻", "fn", "field", "code", "status",
    "errno", "reason", "message", "id", "key", "Nov", "UTC", "am", "MiB", "seconds", "retries", "error", "KeyError",
    "0", "7", "12", "404", "1.5", "v2", "kafka2", "abc123", "0x1f", "deadbeef99", "ORA-00060", "S3", "utf-8",
    "[::1]", "127.0.0.1", "a@b.example", "https://", "s3://", "2024-11-03T10:15:00Z", "550e8400-",
    "550e8400-e29b-41d4-a716-446655440000", "eyJhbGciOiJIUzI1NiJ9", "camelCase", "snake_case", "a.b.c", "call()",
];

/// The few signs that change a template's state. Long inputs of so few signs contain most orders of five.
#[rustfmt::skip]
const STATE_SIGNS: &[&str] = &[" ", "*", "(", ")", ",", "/", "12", "a", "kafka2", "\"", "{", "}", "=", "%"];

/// The parts of a stack.
#[rustfmt::skip]
const FRAMES: &[&str] = &[
    "\n", "\n", "\n", "\r\n", "    at ", "\tat ", "at async ", "  File \"", "\", line ", ", in ", "Caused by: ",
    "... 12 more", "... 3 common frames omitted", "Traceback (most recent call last):",
    "During handling of the above exception, another exception occurred:", "goroutine 1 [running]:", "panic: ",
    "thread 'main' panicked at ", "stack backtrace:", "   0: ", "created by ", "   --- End of inner exception ---",
    "System.Exception", "java.lang.IllegalStateException", "com.acme.Order", "$$Lambda$12/0x1", ".lambda$pay$0",
    "(Order.java:12)", "(Native Method)", "(Unknown Source)", "(<anonymous>)", "(/app/a.js:1:2)", " in /app/A.cs:line 3",
    "from /app/a.rb:12:in `", "'", "`", "/app/a.py", "/usr/lib/python3/a.py", "node:internal/process", "main.go:12 +0x1f",
    "#0 ", "#12 /app/a.php(7): ", "{main}", "ß", "日", "::", ".", ":", "(", ")", "[", "]", "<", ">", "{{closure}}", "::h0123456789abcdef",
    "Error", "Error: ", "a", " ", "12", "~[app.jar:1.0]", "[as b]", "new ", "_", "-",
];

/// The insertions that break the bodies of envelopes.
#[rustfmt::skip]
const BREAKS: &[&str] = &[
    "", "\"", "\\", "{", "}", "[", "]", ",", ":", "null", "true", "-1", "1e999", "\"\"", "{}", "[]", "[[]]", "\\ud800",
    "\"\\u0000\"", "\"{\\\"Message\\\":\\\"{}\\\"}\"", "\u{feff}", "日", "9999-12-31T23:59:60+99:99", " ", "\0",
];

fn generated(signs: &'static [&'static str], most: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(select(signs), 1..most).prop_map(|signs| signs.concat())
}

fn error_type() -> impl Strategy<Value = Option<String>> {
    const TYPES: &[&str] = &["Error", "KeyError", "com.acme.OrderException", "", "*", "日.日"];
    prop::option::of(select(TYPES).prop_map(String::from))
}

/// The bodies of the envelope fixtures, broken in a few places.
fn broken_body() -> impl Strategy<Value = String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/envelopes");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut bodies: Vec<String> = files.map(|path| std::fs::read_to_string(path).unwrap()).map(body).collect();
    bodies.sort();
    let breaks = prop::collection::vec((any::<prop::sample::Index>(), 0..40_usize, select(BREAKS)), 1..4);
    (select(bodies), breaks).prop_map(|(mut body, breaks)| {
        for (at, length, sign) in breaks {
            let from = body.floor_char_boundary(at.index(body.len() + 1));
            let to = body.floor_char_boundary((from + length).min(body.len()));
            body.replace_range(from..to, sign);
        }
        body
    })
}

/// The body of a fixture. A body that is not a string stands for its own text.
fn body(fixture: String) -> String {
    let fixture: serde_json::Value = serde_json::from_str(&fixture).unwrap();
    fixture["body"].as_str().map_or_else(|| fixture["body"].to_string(), String::from)
}

proptest! {
    // This many cases usually find an order of five signs that breaks something.
    #![proptest_config(ProptestConfig::with_cases(24_000))]

    #[test]
    fn of_a_message(text in prop_oneof![generated(SIGNS, 40), generated(STATE_SIGNS, 400)], error_type in error_type()) {
        let failure = Failure { error_type, message: Some(text), ..Failure::default() };
        let assessment = classify_failure(&failure, None, &Policy::default());
        prop_assert!(!assessment.title.is_empty());
        let template = skeleton(&failure, None).map(|skeleton| skeleton.template).unwrap_or_default();
        prop_assert!(template.len() <= TEMPLATE_BYTES_MAX);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn of_a_stack(stack in generated(FRAMES, 60), message in prop::option::of(generated(SIGNS, 10))) {
        prop_assert!(frames::parse(&stack).frames.len() <= 2 * stack.lines().count());
        let failure = Failure { stack: Some(stack), message, ..Failure::default() };
        let assessment = classify_failure(&failure, None, &Policy::default());
        prop_assert_eq!(assessment, classify_failure(&failure, None, &Policy::default()));
    }

    #[test]
    fn of_an_envelope(body in broken_body(), stamp in prop::option::of(generated(SIGNS, 20)), redriven: bool) {
        let message = DeadMessage {
            dlq: "arn:aws:sqs:eu-west-1:111122223333:orders-dlq".into(),
            message_id: "m-1".into(),
            content: Content {
                body,
                attributes: stamp.map(|text| ("dlo.failure".to_owned(), Attribute::text(text))).into_iter().collect(),
                ..Content::default()
            },
            system: SystemAttributes {
                source_queue: redriven.then(|| "arn:aws:sqs:eu-west-1:111122223333:orders".into()),
                ..SystemAttributes::default()
            },
        };
        let reading = read(&message, &Policy::default());
        prop_assert!(reading.original.body.len() <= message.content.body.len());
        prop_assert_eq!(reading, read(&message, &Policy::default()));
    }

    #[test]
    fn of_causes_that_are_compared(words in generated(SIGNS, 20), others in prop::collection::vec((0..60_usize, select(SIGNS)), 1..8)) {
        // Nearly equal templates, which merging examines closely.
        let template = |text: &str| {
            let failure = Failure { message: Some(text.to_owned()), ..Failure::default() };
            skeleton(&failure, None).map(|skeleton| skeleton.template).unwrap_or_default()
        };
        let mut templates = BTreeSet::from([template(&words)]);
        for (at, sign) in others {
            let mut text = words.clone();
            let at = text.floor_char_boundary(at.min(text.len()));
            text.insert_str(at, sign);
            templates.insert(template(&text));
        }
        let family = || "f".to_owned();
        let skeletons: BTreeMap<_, _> = templates
            .into_iter()
            .enumerate()
            .map(|(n, template)| (GroupId::new(n.to_string()), Skeleton { family: family(), template }))
            .collect();
        let groups = find_groups(&skeletons, &BTreeSet::new());
        prop_assert!(groups.iter().all(|group| group.len() > 1));
    }
}
