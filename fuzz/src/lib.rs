//! What is fuzzed, and what must hold of it. The corpus is replayed by the same functions on any compiler, in
//! domain/tests/corpus.rs.

use domain::message::{Attribute, Attributes, Content, DeadMessage, SystemAttributes};
use domain::policy::Policy;
use domain::read::{classify_failure, frames, read};
use domain::reading::Failure;

/// A target: its name, which is its corpus' folder, and the function.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 3] = [("envelope", envelope), ("template", template), ("frames", frames)];

/// The longest name, id or type that a reading may hold beside the body, and the longest remark: what the records of
/// letters and groups are small by.
const NAME_BYTES_MAX: usize = 256;
const REMARK_BYTES_MAX: usize = 1000;

/// The envelope reader. The input is a message as text: lines `name: value` of attributes and the lines `redriven` and
/// `fifo`, an empty line, the body.
pub fn envelope(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (head, body) = text.split_once("\n\n").unwrap_or(("", &text));
    let flag = |name: &str| head.lines().any(|line| line == name);
    let attributes = head.lines().filter_map(|line| line.split_once(": "));
    let attributes: Attributes = attributes.map(|(name, value)| (name.into(), Attribute::text(value))).collect();
    let end = if flag("fifo") { ".fifo" } else { "" };
    let arn = |name: &str| format!("arn:aws:sqs:eu-west-1:111122223333:{name}{end}").as_str().into();
    let message = DeadMessage {
        dlq: arn("orders-dlq"),
        message_id: "m-1".into(),
        content: Content { body: body.into(), attributes, ..Content::default() },
        system: SystemAttributes {
            source_queue: flag("redriven").then(|| arn("orders")),
            ..SystemAttributes::default()
        },
    };
    let reading = read(&message, &Policy::default());
    assert_eq!(reading, read(&message, &Policy::default()), "the same message reads the same");
    if flag("redriven") && !message.content.attributes.keys().any(|name| name.starts_with("dlo.")) {
        assert_eq!(reading.original, message.content, "what was redriven goes back as it was");
    }
    let names = [
        &reading.diagnosis.message_type,
        &reading.diagnosis.tenant,
        &reading.diagnosis.producer,
        &reading.diagnosis.consumer,
    ];
    assert!(names.into_iter().flatten().all(|name| name.len() <= NAME_BYTES_MAX));
    assert!(reading.diagnosis.remarks.iter().all(|remark| remark.len() <= REMARK_BYTES_MAX));
    assert!(reading.original.body.len() <= message.content.body.len());
}

/// The template scanner, reached by a type that says nothing, so that the message decides.
pub fn template(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let failure = Failure { error_type: Some("Error".into()), message: Some(text.into_owned()), ..Failure::default() };
    let verdict = classify_failure(&failure, None, &Policy::default());
    assert_eq!(verdict, classify_failure(&failure, None, &Policy::default()), "the same failure is judged the same");
    assert!(!verdict.title.is_empty() && verdict.title.len() <= REMARK_BYTES_MAX);
}

/// The frame parser, alone and as a part of a failure.
pub fn frames(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let stack = frames::parse(&text);
    // A line may look like a frame of one language and like the first half of another's.
    assert!(stack.frames.len() <= 2 * text.lines().count());
    let failure = Failure { stack: Some(text.into_owned()), ..Failure::default() };
    let verdict = classify_failure(&failure, None, &Policy::default());
    assert_eq!(verdict, classify_failure(&failure, None, &Policy::default()), "the same stack is judged the same");
}
