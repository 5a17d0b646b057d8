//! Runs programs over bodies, in a worker and in this process, and expects the same result from both.

use domain::transform::FieldChange;
use std::path::PathBuf;
use transform::{Applied, Failure, Transforms};

fn workers() -> Transforms {
    Transforms::with_executable(PathBuf::from(env!("CARGO_BIN_EXE_transform-worker")))
}

/// Runs a program over a body in both ways.
async fn apply(workers: &Transforms, program: &str, body: &str) -> Result<Applied, Failure> {
    let there = workers
        .sending()
        .run(program, &[body], true)
        .await
        .expect("a worker")
        .unwrap_or_else(|f| panic!("{program}: {f:?}"));
    let here =
        Transforms::in_this_process().sending().run(program, &[body], true).await.expect("here").expect("a program");
    assert_eq!(there, here, "{program} over {body}");
    there.into_iter().next().expect("one outcome")
}

#[tokio::test]
async fn unchanged_values_keep_their_text() {
    let order = r#"{ "id":123456789012345678901234567890, "price": 0.1000,"huge":1e400,"zero":-0, "p":1.10, "e":"\u00e9\/", "n":null }"#;
    let rows = [
        // No value changes, so no byte changes.
        (".", order, None),
        (". as $x | $x", order, None),
        ("with_entries(.)", order, None),
        (".price = .price", order, None),
        // jaq's `del` moves the last member; the order of members does not count as a change.
        ("del(.missing)", order, None),
        ("to_entries | reverse | from_entries", order, None),
        (".p = 1.1", order, None),
        (".zero = 0", order, None),
        (".", "[1, 2 , 3]", None),
        (".", "  \"a\"  ", None),
        (".", r#"{"a":1,"a":2}"#, None),
        (".", r#""\ud83d""#, None),
        // Only the changed values get a new text.
        (
            ".price = 0.2",
            order,
            Some(
                r#"{"id":123456789012345678901234567890,"price":0.2,"huge":1e400,"zero":-0,"p":1.10,"e":"\u00e9\/","n":null}"#,
            ),
        ),
        ("del(.id)", order, Some(r#"{"price":0.1000,"huge":1e400,"zero":-0,"p":1.10,"e":"\u00e9\/","n":null}"#)),
        (".total = .p", r#"{"p":1.10}"#, Some(r#"{"p":1.10,"total":1.10}"#)),
        (
            ".b |= tostring",
            r#"{"a":1.0,"b":123456789012345678901234567890}"#,
            Some(r#"{"a":1.0,"b":"123456789012345678901234567890"}"#),
        ),
        (".n += 1", r#"{"n":9007199254740993}"#, Some(r#"{"n":9007199254740994}"#)),
        (".n += 1", r#"{"n":123456789012345678901234567890}"#, Some(r#"{"n":123456789012345678901234567891}"#)),
        ("map(.a = 1)", r#"[{"a": 1, "b": 1.50},{"a":2,"b":2.50}]"#, Some(r#"[{"a": 1, "b": 1.50},{"a":1,"b":2.50}]"#)),
        ("del(.[0])", "[1.10,2.20,3.30]", Some("[2.20,3.30]")),
        (".a.b = 1", r#"{"a":{}}"#, Some(r#"{"a":{"b":1}}"#)),
        (".a //= {} | .a.b = 1", "{}", Some(r#"{"a":{"b":1}}"#)),
        ("{new: .old}", r#"{"old":1e400}"#, Some(r#"{"new":1e400}"#)),
        (".a = \"\\u0000\\uffff\\\"\"", "{}", Some(r#"{"a":"\u0000\uffff\""}"#)),
        ("null", "{}", Some("null")),
        (".b = 1", r#"{"a":1,"a":2}"#, Some(r#"{"a":2,"b":1}"#)),
        (".a |= tonumber", r#"{"a":"+1.50"}"#, Some(r#"{"a":1.50}"#)),
        (".when |= (. / 1000 | todate)", r#"{"when":1763600000000}"#, Some(r#"{"when":"2025-11-20T00:53:20Z"}"#)),
        (".a |= gsub(\"-\"; \"\")", r#"{"a":"1-2-3"}"#, Some(r#"{"a":"123"}"#)),
        (".inner |= (fromjson | .x = 1 | tojson)", r#"{"inner":"{\"x\":0}"}"#, Some(r#"{"inner":"{\"x\":1}"}"#)),
        (".data |= (@base64d | ascii_upcase | @base64)", r#"{"data":"YWJj"}"#, Some(r#"{"data":"QUJD"}"#)),
    ];
    compare(&rows).await;
}

/// Checks what programs make of bodies; `None` if nothing changes.
async fn compare(rows: &[(&str, &str, Option<&str>)]) {
    let workers = workers();
    for &(program, body, changed) in rows {
        match (apply(&workers, program, body).await, changed) {
            (Ok(Applied::Unchanged), None) => {}
            (Ok(Applied::Changed { body: sent, .. }), Some(expected)) => {
                assert_eq!(sent, expected, "{program} over {body}")
            }
            (outcome, _) => panic!("{program} over {body}: {outcome:?}"),
        }
    }
}

#[tokio::test]
async fn a_text_or_a_member_of_the_body_is_sent_as_it_stands() {
    let rows = [
        // A text is the body, as by `jq -r`; in a body that is a JSON string it stays one.
        ("\"text\"", "{}", Some("text")),
        ("\"text\"", "\"a\"", Some("\"text\"")),
        ("tojson", "{}", Some("{}")),
        ("\"a\" | tojson", "{}", Some("\"a\"")),
        (".m", r#"{"m":"{\"id\": 1.10, \"a\":\"\\u00e9\\n\"}"}"#, Some(r#"{"id": 1.10, "a":"\u00e9\n"}"#)),
        (".m", r#"{"m":"line\n\ttwo \u00e9 \ud83d\ude00"}"#, Some("line\n\ttwo é 😀")),
        (".m? // .", "[1, 2]", None),
        (".\"the-m\"? // .", r#"{"the-m": "a b"}"#, Some("a b")),
        ("(.m | if type == \"string\" then fromjson else . end | .m)? // .", r#"{"m":"{\"m\":\"x\"}"}"#, Some("x")),
        ("(.m | if type == \"string\" then fromjson else . end | .m)? // .", r#"{"m": "x"}"#, None),
        // A member of the body keeps its text, blanks and all.
        (".m", r#"{"error":"no", "m": { "id": 1.10,  "e":"\u00e9" } }"#, Some(r#"{ "id": 1.10,  "e":"\u00e9" }"#)),
        (".m", r#"{"m":[1,  2.0]}"#, Some("[1,  2.0]")),
    ];
    compare(&rows).await;
}

#[tokio::test]
async fn each_failure_explains_itself() {
    let workers = workers();
    let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    let rows = [
        (".", "not json", "The body is not JSON (line 1, column 1), so a jq program cannot change it."),
        (".", "", "The body is not JSON (line 1, column 1), so a jq program cannot change it."),
        (".", "{\n \"a\": tru }", "The body is not JSON (line 2, column 7), so a jq program cannot change it."),
        (".", &deep, "The body is nested deeper than 128 levels."),
        ("empty", "{}", "produced no value"),
        ("select(.a)", "{}", "produced no value"),
        (".[]", "[1,2]", "produced several values"),
        ("repeat(1)", "{}", "produced several values"),
        ("nan", "{}", "a number that JSON cannot represent"),
        ("{a: infinite}", "{}", "a number that JSON cannot represent"),
        ("{(\"a\"|tobytes): 1}", "{}", "JSON cannot represent it"),
        ("{(1|tojson|fromjson): 1}", "{}", "JSON cannot represent it"),
        ("error(\"no customer\")", "{}", "The program failed: no customer."),
        (".a.b = 1", "{}", "Create it first: `.a //= {} | .a.b = 1`."),
        (".a + 1", r#"{"a":"x"}"#, "The program failed: cannot calculate \"x\" + 1."),
        ("reduce range(200) as $i (1; [.])", "{}", "The output is nested deeper than 128 levels."),
        (".a = \"x\" * 2000000", "{}", "The output is larger than 1048576 bytes"),
        ("\"x\" * 2000000", "{}", "The output is larger than 1048576 bytes"),
        ("\"\"", "{}", "The output is an empty text."),
        (".m", r#"{"m":"a\u0000b"}"#, "a control character, U+FFFE or U+FFFF"),
        (".m", r#"{"m":"a\uffff"}"#, "a control character, U+FFFE or U+FFFF"),
    ];
    for (program, body, text) in rows {
        match apply(&workers, program, body).await {
            Err(failure) => assert!(failure.to_string().contains(text), "{program} over {body}: {failure}"),
            Ok(applied) => panic!("{program} over {body}: {applied:?}"),
        }
    }
}

#[tokio::test]
async fn each_fault_has_a_message_and_a_location() {
    let workers = workers();
    let long = ".".repeat(5_000);
    let rows = [
        ("", 1, 1, "The program is empty"),
        ("  \n ", 1, 1, "The program is empty"),
        (&long, 1, 1, "longer than 4096 bytes"),
        (".a = (1", 1, 6, "This `(` has no closing `)`"),
        (".a = {x: 1", 1, 6, "This `{` has no closing `}`"),
        (".a = \"text", 1, 6, "This string has no closing quote"),
        (".a\n| .b = foo", 2, 8, "There is no filter `foo`. Write `.foo` for a field"),
        (".a |= bar(1; 2)", 1, 7, "There is no filter `bar` with 2 arguments"),
        (".a = $x", 1, 6, "There is no variable `$x`"),
        ("if .a then 1", 1, 13, "found the end of the program"),
        (".a = = 1", 1, 6, "found `=`"),
        (".é = 1", 1, 2, "Write `.\"name\"`"),
        ("\"\\x\"", 1, 3, "Unknown escape"),
        ("\"é\" | now", 1, 7, "`now` is not available"),
        (".a = env", 1, 6, "`env` is not available"),
        (".a = $ENV.PATH", 1, 6, "`$ENV` is not available"),
        ("input", 1, 1, "`input` is not available"),
        ("[inputs]", 1, 2, "`inputs` is not available"),
        ("debug", 1, 1, "`debug` is not available"),
        ("halt", 1, 1, "`halt` is not available"),
        ("halt_error", 1, 1, "`halt_error` is not available"),
        ("now | localtime", 1, 1, "`now` is not available"),
        ("include \"a\"; .", 1, 10, "Modules and files are not available"),
        ("import \"a\" as a; a::f", 1, 9, "Modules and files are not available"),
        ("import \"x\" as $x; $x", 1, 9, "Modules and files are not available"),
        ("import \"x\" as $x; .", 1, 9, "Modules and files are not available"),
    ];
    for (program, line, column, text) in rows {
        let faults = workers.sending().run(program, &["{}"], false).await.expect("a worker").expect_err(program);
        let first = &faults[0];
        assert_eq!((first.line, first.column), (line, column), "{program}: {faults:?}");
        assert!(first.message.contains(text), "{program}: {faults:?}");
    }
    // The worker still works after all of these.
    let good = workers.sending().run(".a = 1", &["{}"], false).await.unwrap().unwrap();
    assert_eq!(good, [Ok(Applied::Changed { body: r#"{"a":1}"#.into(), changes: vec![] })]);
}

#[tokio::test]
async fn changes_are_reported_by_field() {
    let workers = workers();
    let change = |pointer: &str, before: Option<&str>, after: Option<&str>| FieldChange {
        pointer: pointer.into(),
        before: before.map(Into::into),
        after: after.map(Into::into),
    };
    let long = format!("\"{}\"", "y".repeat(300));
    let cut = format!("\"{}…", "y".repeat(199));
    let rows: Vec<(&str, &str, Vec<FieldChange>)> = vec![
        (
            ".a = 2 | del(.b) | .c = 3",
            r#"{"a":1.0,"b":"x"}"#,
            vec![
                change("/a", Some("1.0"), Some("2")),
                change("/b", Some("\"x\""), None),
                change("/c", None, Some("3")),
            ],
        ),
        (".a.b[1] = null", r#"{"a":{"b":[1,2]}}"#, vec![change("/a/b/1", Some("2"), Some("null"))]),
        ("del(.[0])", "[1,2,3]", vec![change("/0", Some("1"), None)]),
        ("del(.[1])", "[1,2,3]", vec![change("/1", Some("2"), None)]),
        (". + [4]", "[1,2,3]", vec![change("/3", None, Some("4"))]),
        ("[0] + .", "[1,2,3]", vec![change("/0", None, Some("0"))]),
        (".[\"a/b~c\"] = 1", "{}", vec![change("/a~1b~0c", None, Some("1"))]),
        (".a = {b: 1}", r#"{"a":[1]}"#, vec![change("/a", Some("[1]"), Some(r#"{"b":1}"#))]),
        ("{}", "[]", vec![change("", Some("[]"), Some("{}"))]),
        (".a", r#"{"a":"x"}"#, vec![change("", Some(r#"{"a":"x"}"#), Some("x"))]),
        (".", r#"{"a":1}"#, vec![]),
    ];
    for (program, body, expected) in rows {
        match apply(&workers, program, body).await {
            Ok(Applied::Changed { changes, .. }) => assert_eq!(changes, expected, "{program} over {body}"),
            Ok(Applied::Unchanged) => assert!(expected.is_empty(), "{program} over {body}"),
            Err(failure) => assert!(expected.is_empty(), "{program} over {body}: {failure}"),
        }
    }
    let Ok(Applied::Changed { changes, .. }) = apply(&workers, ".a = 1", &format!("{{\"a\":{long}}}")).await else {
        panic!("a change");
    };
    assert_eq!(changes, [change("/a", Some(&cut), Some("1"))]);
    let many = format!("[{}]", vec!["0"; 100].join(","));
    let Ok(Applied::Changed { changes, .. }) = apply(&workers, "map(1)", &many).await else { panic!("a change") };
    assert_eq!(changes.len(), 50, "the number of reported changes is limited");
}
