//! The contract of `dlo classify`: each record and message has an output line, in order, whatever the input is.

use super::*;

fn answers(input: &str) -> (Vec<serde_json::Value>, bool) {
    let mut output = Vec::new();
    // A tiny buffer, so that each line arrives in many chunks.
    let good = run(io::BufReader::with_capacity(7, input.as_bytes()), &mut output, Mode::Stream).unwrap();
    (
        output.split(|b| *b == b'\n').filter(|l| !l.is_empty()).map(|l| serde_json::from_slice(l).unwrap()).collect(),
        good,
    )
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
    assert!(!run(long.as_bytes(), &mut output, Mode::Stream).unwrap());
    let text = String::from_utf8(output).unwrap();
    assert!(text.contains("longer than") && text.contains("\"id\":\"z\""));
}

#[test]
fn lone_surrogates_and_invalid_utf8_do_not_end_the_run() {
    let mut input = b"\xff\xfe\n".to_vec();
    input.extend(br#"{"id":"s","error_message":"cut \ud83d"}"#);
    let mut output = Vec::new();
    assert!(!run(&input[..], &mut output, Mode::Stream).unwrap());
    let text = String::from_utf8(output).unwrap();
    assert!(text.contains("not UTF-8") && text.contains("\"id\":\"s\""));
}

#[test]
fn merging_does_not_depend_on_the_order_of_the_input() {
    let lines: Vec<String> = ["/srv/a", "/srv/b", "/srv/c"]
        .iter()
        .map(|path| format!("{{\"id\":\"{path}\",\"error_message\":\"volume {path} lost its index\"}}\n"))
        .collect();
    let answers = |input: String| {
        let mut output = Vec::new();
        let good = run(input.as_bytes(), &mut output, Mode::Merge).unwrap();
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
    assert!(run(input.as_bytes(), &mut output, Mode::Merge).unwrap());
    let got: Vec<Value> =
        output.split(|b| *b == b'\n').filter(|l| !l.is_empty()).map(|l| serde_json::from_slice(l).unwrap()).collect();
    assert_eq!(got[0]["fingerprint"], got[2]["own_fingerprint"], "the third was sent first");
    assert_eq!(got[3]["fingerprint"], got[3]["own_fingerprint"], "another queue");
}
