//! Hostile letters: nothing panics, allocations are bounded by the letter's size, and the body stays unchanged.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use domain::message::{Attribute, AttributeValue, Content, DeadMessage, SystemAttributes};
use domain::policy::{MessageTypeRule, Policy};
use domain::read::read;
use domain::time::Timestamp;
use miniz_oxide::deflate::compress_to_vec;

/// The maximum total allocation of a reading, most of it freed at once. Per byte of the letter: its copy, and one for
/// each unpacked layer. Besides: the MiB that packed bytes may unpack to, in a buffer that doubles.
const ALLOCATED_PER_BYTE_MAX: usize = 6;
const ALLOCATED_BESIDES_MAX: usize = 5 << 20;

const MIB: usize = 1 << 20;

fn gzip(bytes: &[u8]) -> String {
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    out.extend(compress_to_vec(bytes, 6));
    out.extend([0; 8]);
    STANDARD.encode(out)
}

fn json(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

fn sns(message: &str) -> String {
    format!(r#"{{"Type":"Notification","TopicArn":"t","Message":{}}}"#, json(message))
}

fn team(original: &str, reason: &str) -> String {
    format!(r#"{{"originalMessage":{original},"failureReason":{reason}}}"#)
}

fn times(n: usize, start: &str, around: impl Fn(&str) -> String) -> String {
    (0..n).fold(start.to_string(), |inner, _| around(&inner))
}

/// Bodies that an attacker might send to break the reader.
fn bodies() -> Vec<(&'static str, String)> {
    let bomb = gzip(&vec![b' '; 16 * MIB]);
    let many = |n: usize, part: &str| vec![part; n].join(",");
    vec![
        ("empty", String::new()),
        ("blanks", " \n\t".repeat(1000)),
        ("100,000 arrays deep", "[".repeat(100_000) + &"]".repeat(100_000)),
        ("100,000 arrays deep, open", "[".repeat(100_000)),
        ("100,000 objects deep", "{\"a\":".repeat(100_000)),
        ("100,000 objects deep, closed", "{\"total\":".repeat(100_000) + "1" + &"}".repeat(100_000)),
        ("a token of 1 MiB", format!("{{\"type\":\"{}\"}}", "x".repeat(MIB))),
        ("a bare token of 1 MiB", "a".repeat(MIB)),
        ("a key of 1 MiB", format!("{{\"{}\":1}}", "k".repeat(MIB))),
        ("1 MiB of backslashes", format!("\"{}\"", "\\".repeat(MIB))),
        ("1 MiB of quotes", "\"".repeat(MIB)),
        ("1 MiB of escapes", format!("\"{}\"", "\\u0041".repeat(MIB / 6))),
        ("NUL", "\0".into()),
        ("NUL inside", "{\"type\":\"a\0b\",\"\0\":\"\0\"}".into()),
        ("lone surrogates", r#"{"type":"\ud800","tenant":"\udc00\ud83d","customer":"\ud83dx"}"#.into()),
        ("a key twice", r#"{"type":"a","type":"b","amount":1,"amount":2}"#.into()),
        ("a key 100,000 times", format!("{{{}}}", many(100_000, "\"type\":1"))),
        ("a number of 1 MiB", format!("{{\"amount\":{},\"currency\":\"EUR\"}}", "9".repeat(MIB))),
        ("a huge exponent", r#"{"amount":1e999999999,"currency":"EUR","deadline":-1e999}"#.into()),
        ("a tiny exponent", r#"{"amount":"1E-999999999","currency":"EUR","deadline":"99999999999999999999"}"#.into()),
        ("far moments", r#"{"deadline":"9999-12-31T23:59:60+99:99","expires":"0000-01-01T00:00:00Z"}"#.into()),
        ("a byte order mark", "\u{feff}{}".into()),
        ("cut off", "{\"originalMessage\":".into()),
        ("a zip bomb", bomb.clone()),
        ("a zip bomb in SNS", sns(&bomb)),
        ("zip bombs in eight layers", times(8, &bomb, sns)),
        ("a zip bomb of a zip bomb", gzip(gzip(&vec![b'x'; 16 * MIB]).repeat(1000).as_bytes())),
        ("base64 in base64", times(12, "{\"a\":\"bbbbbbbbbbbbbbbbbbbb\"}", |inner| STANDARD.encode(json(inner)))),
        ("1 MiB of base64 that begins well", "eyJh".repeat(MIB / 4)),
        ("JSON in strings, 14 times", times(14, "{}", json)),
        ("envelopes 1,000 deep", times(1_000, "{}", |inner| team(inner, "{\"message\":\"m\"}"))),
        ("reasons 1,000 deep", team("{}", &times(1_000, "\"m\"", |inner| format!("{{\"message\":{inner}}}")))),
        ("causes in strings, 12 times", team("{}", &times(12, "m", |inner| format!("{{\"message\":{}}}", json(inner))))),
        ("a reason of 1 MiB", team("{}", &json(&"at x (y.js:1:1)\n".repeat(MIB / 16)))),
        ("100,000 records", format!("{{\"Records\":[{}]}}", many(100_000, "{\"eventSource\":\"aws:sqs\"}"))),
        ("100,000 deaths", format!("{{\"headers\":{{\"x-death\":[{}]}}}}", many(100_000, "{\"reason\":\"expired\"}"))),
        ("100,000 members", format!("{{{}}}", (0..100_000).map(|n| format!("\"k{n}\":{{}}")).collect::<Vec<_>>().join(","))),
        ("a batch's figures of 1 MiB", format!(
            r#"{{"requestContext":{{"condition":"x"}},"KinesisBatchInfo":{{"shardId":"{}"}}}}"#, "s".repeat(MIB))),
        ("a pointer's key of 1 MiB", format!(
            r#"["software.amazon.payloadoffloading.PayloadS3Pointer",{{"s3BucketName":"b","s3Key":"{}"}}]"#, "k".repeat(MIB))),
        ("a path of 1 MiB", format!("{{\"{}\":{{\"amount\":1,\"currency\":\"EUR\"}}}}", "k".repeat(MIB))),
        ("a dotnet span of a billion years", r#"{"Headers":{"NServiceBus.EnclosedMessageTypes":"a","NServiceBus.TimeSent":"2026-11-19 07:59:00:000000 Z","NServiceBus.TimeToBeReceived":"9223372036854775807.00:00:00"},"Body":""}"#.into()),
    ]
}

fn message(body: &str, attributes: &[(String, Attribute)], redriven: bool) -> DeadMessage {
    DeadMessage {
        dlq: "arn:aws:sqs:eu-west-1:111122223333:orders-dlq".into(),
        message_id: "m-1".into(),
        content: Content { body: body.into(), attributes: attributes.iter().cloned().collect(), ..Content::default() },
        system: SystemAttributes {
            source_queue: redriven.then(|| "arn:aws:sqs:eu-west-1:111122223333:orders".into()),
            sent_at: Some(Timestamp::from_ms(i64::MAX)),
            ..SystemAttributes::default()
        },
    }
}

/// Attributes that make every carrier examine the body, and each other.
fn attributes() -> Vec<(String, Attribute)> {
    let names = [
        "dlo.failure",
        "dlo.replay",
        "RequestID",
        "ErrorCode",
        "ErrorMessage",
        "RULE_ARN",
        "SCHEDULE_ARN",
        "x-death",
        "kafka_dlt-original-topic",
        "MT-Fault-Message",
    ];
    let hostile = ["[".repeat(10_000), "\0\u{ffff}".into(), "{\"message\":".repeat(10_000), "=".repeat(1000)];
    let text = |n: usize| Attribute::text(hostile[n % hostile.len()].clone());
    let mut all: Vec<_> = names.iter().enumerate().map(|(n, name)| (name.to_string(), text(n))).collect();
    let garbled = Attribute { data_type: "Binary".into(), value: AttributeValue::Binary("not base64!".into()) };
    all.push(("kafka_dlt-original-offset".into(), garbled));
    all
}

#[test]
fn hostile_letters_are_read_like_any_other() {
    let everything = MessageTypeRule {
        message_type: "*".into(),
        amount_minor: Some("/total/total/total/0/~1~0".into()),
        currency: Some("/".into()),
        customer: Some("/customer".into()),
        deadline: Some("/deadline".into()),
        ..MessageTypeRule::default()
    };
    let pointers = Policy { message_types: vec![everything], ..Policy::default() };
    for (name, body) in bodies() {
        for (redriven, attributes, policy) in [
            (true, Vec::new(), Policy::default()),
            (false, Vec::new(), Policy::default()),
            (false, attributes(), pointers.clone()),
        ] {
            let message = message(&body, &attributes, redriven);
            let size = message.content.size_bytes();
            let mut reading = None;
            let counted = allocation_counter::measure(|| reading = Some(read(&message, &policy)));
            let (reading, allocated) = (reading.unwrap(), counted.bytes_total as usize);
            let most = size * ALLOCATED_PER_BYTE_MAX + ALLOCATED_BESIDES_MAX;
            assert!(allocated <= most, "{name}: {allocated} bytes allocated for {size}, at most {most}");
            let kept = message.content.body == reading.original.body;
            assert!(kept || !redriven, "{name}: the body has changed");
            assert!(reading.original.size_bytes() <= size, "{name}: the content for the replay has grown");
            assert!(
                reading.diagnosis.remarks.iter().all(|remark| remark.len() < 1_000),
                "{name}: a remark is a sentence"
            );
        }
    }
}
