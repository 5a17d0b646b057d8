//! The contract of `dlo classify`: each record and message has an output line, in order, whatever the input is.

use super::*;
use serde_json::Value;

fn answers(input: &str) -> (Vec<serde_json::Value>, bool) {
    let (answers, good, _) = answers_and_notices(input);
    (answers, good)
}

fn answers_and_notices(input: &str) -> (Vec<serde_json::Value>, bool, String) {
    let (mut output, mut notices) = (Vec::new(), Vec::new());
    // A tiny buffer, so that each line arrives in many chunks.
    let input = io::BufReader::with_capacity(7, input.as_bytes());
    let good = run(input, &mut output, &mut notices, Mode::Stream).unwrap();
    let lines = output.split(|b| *b == b'\n').filter(|l| !l.is_empty());
    (lines.map(|l| serde_json::from_slice(l).unwrap()).collect(), good, String::from_utf8(notices).unwrap())
}

#[test]
fn records_are_answered_in_order() {
    let (got, good) = answers(
        "{\"id\":\"1\",\"error_message\":\"order 7 is closed\"}\n\n{\"id\":2,\"error_message\":\"order 8 is closed\",\"stack_trace\":null,\"body\":\"\"}",
    );
    assert!(good);
    assert_eq!((&got[0]["id"], &got[1]["id"]), (&"1".into(), &2.into()));
    assert_eq!(got[0]["fingerprint"], got[1]["fingerprint"]);
    assert_eq!(got[0]["title"], "order * is closed");
    assert_eq!(got[0]["class"], "unknown");
}

#[test]
fn an_invalid_line_is_reported_and_the_next_one_is_classified() {
    let (got, good) = answers("{\n[1]\n{\"id\":\"x\",\"error_type\":{}}\n{\"id\":\"y\"}\n");
    assert!(!good);
    assert_eq!(got.len(), 4);
    assert_eq!(got[0]["line"], 1);
    assert!(got[1]["error"].is_string());
    assert_eq!((&got[2]["id"], &got[2]["line"]), (&"x".into(), &3.into()));
    assert_eq!(got[3]["id"], "y");
}

#[test]
fn messages_are_parsed_as_the_aws_command_prints_them() {
    let one = r#"{"MessageId":"m-1","Body":"{\"type\":\"order.placed\"}","Attributes":{"SentTimestamp":"1763600000000","DeadLetterQueueSourceArn":"arn:q"},"MessageAttributes":{"dlo.failure":{"DataType":"String","StringValue":"{\"v\":1,\"message\":\"boom\",\"class\":\"permanent\"}"},"raw":{"DataType":"Binary","BinaryValue":"AAE="}}}"#;
    let (got, good) = answers(&format!("{one}\n{{\"Messages\":[{one},{{\"MessageId\":\"m-2\"}}]}}\n"));
    assert!(!good);
    assert_eq!(got.len(), 3);
    assert_eq!(
        (&got[0]["id"], &got[0]["class"], &got[0]["title"]),
        (&"m-1".into(), &"permanent".into(), &"boom".into())
    );
    assert_eq!(got[0], got[1]);
    assert_eq!((&got[2]["id"], &got[2]["line"]), (&"m-2".into(), &2.into()));
}

#[test]
fn a_line_that_is_too_long_is_skipped_entirely() {
    let long = format!("{{\"id\":\"{}\"}}\n{{\"id\":\"z\"}}\n", "x".repeat(LINE_BYTES_MAX));
    let mut output = Vec::new();
    assert!(!run(long.as_bytes(), &mut output, io::sink(), Mode::Stream).unwrap());
    let text = String::from_utf8(output).unwrap();
    assert!(text.contains("longer than") && text.contains("\"id\":\"z\""));
}

#[test]
fn lone_surrogates_and_invalid_utf8_do_not_end_the_run() {
    let mut input = b"\xff\xfe\n".to_vec();
    input.extend(br#"{"id":"s","error_message":"cut \ud83d"}"#);
    let mut output = Vec::new();
    assert!(!run(&input[..], &mut output, io::sink(), Mode::Stream).unwrap());
    let text = String::from_utf8(output).unwrap();
    assert!(text.contains("not UTF-8") && text.contains("\"id\":\"s\""));
}

#[test]
fn an_id_is_repeated_as_it_is_written() {
    let ids = [
        "9007199254740993",
        "123456789012345678901234567890",
        "1e21",
        "1.10",
        "-0",
        "1E400",
        r#""7""#,
        r#""a\u00e9\/b""#,
        r#"{"shard": 1, "offset":18446744073709551616}"#,
        "[1.0, 2]",
        "null",
        "true",
    ];
    let raw = |mode, input: &str| {
        let mut output = Vec::new();
        run(input.as_bytes(), &mut output, io::sink(), mode).unwrap();
        String::from_utf8(output).unwrap()
    };
    for id in ids {
        for rest in [r#""error_message":"timed out""#, r#""error_type":{}"#, r#""Body":"{}""#] {
            let name = if rest.contains("Body") { "MessageId" } else { "id" };
            for mode in [Mode::Stream, Mode::Merge] {
                let output = raw(mode, &format!("{{\"{name}\": {id} ,{rest}}}"));
                assert!(output.contains(&format!("\"id\":{id},")), "{id} {rest}: {output}");
            }
        }
    }
    assert_eq!(answers(r#"{"id":"half \ud83d","error_message":"x"}"#).0[0]["id"], "half \u{fffd}");
}

#[test]
fn utf_16_is_refused_once() {
    let text = "{\"error_message\":\"timed out\"}\r\n{\"error_message\":\"é\"}\r\n";
    let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    for input in [[&b"\xff\xfe"[..], &little].concat(), [&b"\xfe\xff"[..], &big].concat(), little, big] {
        for mode in [Mode::Stream, Mode::Merge] {
            let mut output = Vec::new();
            let input = io::BufReader::with_capacity(7, &input[..]);
            assert!(!run(input, &mut output, io::sink(), mode).unwrap());
            let text = String::from_utf8(output).unwrap();
            assert_eq!(text.lines().count(), 1, "{text}");
            assert!(text.contains("\"line\":1") && text.contains("UTF-16"), "{text}");
        }
    }
}

#[test]
fn the_error_about_a_line_names_one_line() {
    for line in ["{", "x", "{\"a\":}", "{\"a\":1} {\"b\":2}", "{\"a\":1,}", "[1", "\u{1}", "{\"a\":\"\t\"}"] {
        let (got, _) = answers(&format!("\n\n{line}\n"));
        assert_eq!(got[0]["line"], 3, "{line}");
        let error = got[0]["error"].as_str().unwrap();
        assert!(!error.contains("line 1") && !error.contains(": ."), "{line}: {error}");
        assert!(error.starts_with("not JSON: ") && error.contains(" at column "), "{line}: {error}");
    }
}

#[test]
fn merging_does_not_depend_on_the_order_of_the_input() {
    let lines: Vec<String> = ["/srv/a", "/srv/b", "/srv/c"]
        .iter()
        .map(|path| format!("{{\"id\":\"{path}\",\"error_message\":\"volume {path} lost its index\"}}\n"))
        .collect();
    let answers = |input: String| {
        let mut output = Vec::new();
        let good = run(input.as_bytes(), &mut output, io::sink(), Mode::Merge).unwrap();
        let lines = output.split(|b| *b == b'\n').filter(|l| !l.is_empty());
        (lines.map(|l| serde_json::from_slice::<Value>(l).unwrap()).collect::<Vec<_>>(), good)
    };
    let (forth, good) = answers(format!("{}[]\n", lines.concat()));
    assert!(!good);
    let fingerprint = forth[0]["fingerprint"].as_str().unwrap().to_owned();
    assert!(forth[..3].iter().all(|answer| answer["fingerprint"] == fingerprint.as_str()));
    assert_ne!(forth[0]["own_fingerprint"], forth[1]["own_fingerprint"]);
    assert_eq!((&forth[1]["id"], &forth[3]["line"]), (&"/srv/b".into(), &4.into()));
    let back: String = lines.iter().rev().cloned().collect();
    assert_eq!(answers(back).0[0]["fingerprint"], fingerprint.as_str());
    // Two similar messages are not enough evidence for a merge.
    let (two, _) = answers(lines[..2].concat());
    assert_ne!(two[0]["fingerprint"], two[1]["fingerprint"]);
}

#[test]
fn messages_are_merged_within_their_queue_under_the_oldest_fingerprint() {
    let message = |id: u32, queue: &str, path: &str| {
        let stamp = format!("{{\\\"v\\\":1,\\\"message\\\":\\\"volume {path} lost its index\\\"}}");
        format!(
            "{{\"MessageId\":\"{id}\",\"Body\":\"{{}}\",\"Attributes\":{{\"SentTimestamp\":\"{}\",\"DeadLetterQueueSourceArn\":\"{queue}\"}},\"MessageAttributes\":{{\"dlo.failure\":{{\"DataType\":\"String\",\"StringValue\":\"{stamp}\"}}}}}}\n",
            1_000 - id
        )
    };
    let input: String =
        [message(1, "q", "/srv/a"), message(2, "q", "/srv/b"), message(3, "q", "/srv/c"), message(4, "r", "/srv/d")]
            .concat();
    let mut output = Vec::new();
    assert!(run(input.as_bytes(), &mut output, io::sink(), Mode::Merge).unwrap());
    let got: Vec<Value> =
        output.split(|b| *b == b'\n').filter(|l| !l.is_empty()).map(|l| serde_json::from_slice(l).unwrap()).collect();
    assert_eq!(got[0]["fingerprint"], got[2]["own_fingerprint"], "the third was sent first");
    assert_eq!(got[3]["fingerprint"], got[3]["own_fingerprint"], "another queue");
}

#[test]
fn the_spellings_of_a_record_mean_the_same() {
    let lines = [
        r#"{"id":7,"error_type":"KeyError","error_message":"no sku","stack_trace":"a\nb","body":"{\"sku\":1}"}"#,
        r#"{"id":7,"errorType":"KeyError","errorMessage":"no sku","stackTrace":["a","b"],"body":{"sku":1}}"#,
        r#"{"messageId":7,"exceptionType":"KeyError","message":"no sku","stack":["a","b"],"body":null}"#,
        r#"{"messageId":7,"errorType":"KeyError","errorMessage":"no sku","stackTrace":["a","b"],"body":"order 7"}"#,
        r#"{"id":7,"error_code":null,"ErrorType":"KeyError","ERROR_MESSAGE":"no sku","Stack-Trace":"a\nb"}"#,
        r#"{"id":7,"error":{"name":"KeyError","message":"no sku","stack":"a\nb","cause":{}}}"#,
        r#"{"id":7,"error":"no sku","errorType":"KeyError","stack":"a\nb"}"#,
        r#"{"id":7,"message":"second","error_message":"no sku","errorClass":"KeyError","stack_trace":"a\nb"}"#,
    ];
    let (got, good, notices) = answers_and_notices(&lines.join("\n"));
    assert!(good && notices.is_empty(), "{notices}");
    assert_eq!((got.len(), &got[0]["title"]), (lines.len(), &"KeyError: no sku".into()));
    for (answer, line) in got.iter().zip(lines) {
        assert_eq!(answer, &got[0], "{line}");
    }
}

#[test]
fn the_most_telling_member_of_an_error_object_is_its_type() {
    let lines = [
        (r#"{"error":{"message":"m","type":"requests","code":"rate_limit_exceeded"}}"#, "rate_limit_exceeded: m"),
        (r#"{"error":{"message":"m","name":"AxiosError","code":"ERR_BAD_RESPONSE","status":503}}"#, "503: m"),
        (r#"{"error":{"code":429,"message":"m","status":"RESOURCE_EXHAUSTED"}}"#, "429: m"),
        (r#"{"err":{"name":"PriceError","message":"m"}}"#, "PriceError: m"),
        (r#"{"error":{"errno":-104,"code":"ECONNRESET","syscall":"read"}}"#, "ECONNRESET"),
        (r#"{"error":{"type":"KeyError","errorType":"Mine","message":"m"}}"#, "Mine: m"),
    ];
    for (line, title) in lines {
        assert_eq!(answers(line).0[0]["title"], title, "{line}");
    }
}

#[test]
fn ignored_fields_are_named_once_with_their_line() {
    let (got, good, notices) = answers_and_notices(
        "{\"id\":1,\"error_message\":\"timed out\",\"level\":\"error\",\"pod\":{}}\n{\"error_message\":\"x\"}\n{\"error_message\":\"y\",\"level\":1,\"pod\":2}\n{\"message\":\"y\",\"host\":1}",
    );
    assert!(good && got.len() == 4);
    let said: Vec<&str> = notices.lines().collect();
    assert_eq!(said.len(), 2, "{notices}");
    assert!(said[0].starts_with("dlo classify: line 1: ignored `level`, `pod` (known: id, error_type,"), "{notices}");
    assert!(said[1].starts_with("dlo classify: line 4: ignored `host` "), "{notices}");
}

#[test]
fn a_line_with_nothing_to_classify_says_so_and_the_next_one_is_classified() {
    let lines =
        "{}\n{\"id\":\"a\"}\n{\"id\":\"b\",\"level\":\"error\",\"msg\":7}\n{\"id\":\"c\",\"error_message\":\"\"}\n";
    let (got, good) = answers(lines);
    assert!(!good);
    let known = "Known fields: id, error_type, error_message, stack_trace, body";
    assert_eq!(got[0], serde_json::json!({"line": 1, "error": format!("nothing to classify. {known}")}));
    assert_eq!((&got[1]["id"], &got[1]["line"]), (&"a".into(), &2.into()));
    assert_eq!(got[2]["error"], format!("nothing to classify in `level`, `msg`. {known}"));
    assert_eq!((&got[3]["id"], &got[3]["class"]), (&"c".into(), &"unknown".into()));
}

#[test]
fn byte_order_mark_and_line_ends_of_windows_are_skipped() {
    let (got, good) = answers(
        "\u{feff}{\"id\":1,\"error_message\":\"timed out\"}\r\n\r\n{\"id\":2,\"error_message\":\"timed out\"}\r\n",
    );
    assert!(good);
    assert_eq!((got.len(), &got[0]["class"], &got[1]["id"]), (2, &"transient".into(), &2.into()));
}

#[test]
fn dead_letters_are_read_as_aws_has_them() {
    let attribute = r#""messageAttributes":{"ErrorMessage":{"dataType":"String","stringValue":"connection refused"}}"#;
    let record = format!(r#"{{"messageId":"m-1","body":"no JSON",{attribute},"eventSource":"aws:sqs"}}"#);
    let destination = r#"{"version":"1.0","requestContext":{"requestId":"r-1","condition":"RetriesExhausted"},"requestPayload":{"invoice":7},"responsePayload":{"errorType":"Sandbox.Timedout","errorMessage":"2026-11-19 Task timed out after 3.00 seconds"}}"#;
    let without_type = r#"{"MessageId":"m-2","Body":{"a":1},"MessageAttributes":{"ErrorMessage":{"StringValue":"connection refused"}}}"#;
    let (got, good) =
        answers(&format!("{record}\n{{\"Records\":[{record},{record}]}}\n{destination}\n{without_type}\n"));
    assert!(good, "{got:?}");
    assert_eq!(got.len(), 5);
    assert!(got[..3].iter().all(|answer| answer == &got[0]));
    assert_eq!(
        (&got[0]["id"], &got[0]["category"], &got[0]["reason"]),
        (&"m-1".into(), &"dependency_unavailable".into(), &"wording: \"connection refused\"".into())
    );
    assert_eq!((&got[3]["class"], &got[3]["category"]), (&"transient".into(), &"timeout".into()));
    assert_eq!((&got[4]["id"], &got[4]["title"]), (&"m-2".into(), &"connection refused".into()));
}

#[test]
fn the_examples_of_the_help_are_true() {
    let examples: Vec<&str> = HELP.lines().map(str::trim).filter(|line| line.starts_with("{\"id\"")).collect();
    let [input, output] = examples[..] else { panic!("{examples:?}: an input and an output") };
    let (mut got, good) = answers(input);
    assert!(good);
    let mut shown: Value = serde_json::from_str(output).unwrap();
    // Each version of the fingerprint has another one.
    let taken = [&mut got[0], &mut shown].map(|answer| answer["fingerprint"].take().as_str().map(str::len));
    assert_eq!((taken[0], &got[0]), (taken[1], &shown));
    let categories = [
        Category::Timeout,
        Category::Throttled,
        Category::DependencyUnavailable,
        Category::MalformedPayload,
        Category::SchemaViolation,
        Category::BusinessRule,
        Category::MissingReference,
        Category::Auth,
        Category::Conflict,
        Category::Duplicate,
        Category::ResourceLimit,
        Category::ConsumerBug,
        Category::Configuration,
        Category::Expired,
        Category::InvalidTenant,
        Category::Bystander,
        Category::Unknown,
    ];
    for category in categories {
        let name = serde_json::to_value(category).unwrap();
        let line = format!("    {} ", name.as_str().unwrap());
        assert!(HELP.lines().any(|shown| shown.starts_with(&line)), "{name}");
    }
}
