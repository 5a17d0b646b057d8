//! Programs and bodies, and what becomes of them: the same through a worker and in this process.

use domain::transform::FieldChange;
use std::path::PathBuf;
use transform::{Applied, Failure, Transforms};

fn workers() -> Transforms {
    Transforms::by(PathBuf::from(env!("CARGO_BIN_EXE_transform-worker")))
}

/// What a program makes of a body, in both ways.
async fn apply(workers: &Transforms, program: &str, body: &str) -> Result<Applied, Failure> {
    let there =
        workers.run(program, &[body], true).await.expect("a worker").unwrap_or_else(|f| panic!("{program}: {f:?}"));
    let here = Transforms::unbounded().run(program, &[body], true).await.expect("here").expect("a program");
    assert_eq!(there, here, "{program} over {body}");
    there.into_iter().next().expect("one outcome")
}

#[tokio::test]
async fn what_a_program_leaves_alone_keeps_its_text() {
    let workers = workers();
    let order = r#"{ "id":123456789012345678901234567890, "price": 0.1000,"huge":1e400,"zero":-0, "p":1.10, "e":"\u00e9\/", "n":null }"#;
    let rows = [
        // Nothing changes: not a byte.
        (".", order, None),
        (". as $x | $x", order, None),
        ("with_entries(.)", order, None),
        (".price = .price", order, None),
        // jaq's `del` moves the last member: the same members are the same body.
        ("del(.missing)", order, None),
        ("to_entries | reverse | from_entries", order, None),
        (".p = 1.1", order, None),
        (".zero = 0", order, None),
        (".", "[1, 2 , 3]", None),
        (".", "  \"a\"  ", None),
        (".", r#"{"a":1,"a":2}"#, None),
        (".", r#""\ud83d""#, None),
        // What changes, changes alone.
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
        ("\"text\"", "{}", Some("\"text\"")),
        ("null", "{}", Some("null")),
        (".b = 1", r#"{"a":1,"a":2}"#, Some(r#"{"a":2,"b":1}"#)),
        (".a |= tonumber", r#"{"a":"+1.50"}"#, Some(r#"{"a":1.50}"#)),
        (".when |= (. / 1000 | todate)", r#"{"when":1763600000000}"#, Some(r#"{"when":"2025-11-20T00:53:20Z"}"#)),
        (".a |= gsub(\"-\"; \"\")", r#"{"a":"1-2-3"}"#, Some(r#"{"a":"123"}"#)),
        (".inner |= (fromjson | .x = 1 | tojson)", r#"{"inner":"{\"x\":0}"}"#, Some(r#"{"inner":"{\"x\":1}"}"#)),
        (".data |= (@base64d | ascii_upcase | @base64)", r#"{"data":"YWJj"}"#, Some(r#"{"data":"QUJD"}"#)),
    ];
    for (program, body, changed) in rows {
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
async fn a_program_that_cannot_change_a_letter_says_why() {
    let workers = workers();
    let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    let rows = [
        (".", "not json", "The body is not JSON (line 1, column 1): a jq program cannot change it."),
        (".", "", "The body is not JSON (line 1, column 1): a jq program cannot change it."),
        (".", "{\n \"a\": tru }", "The body is not JSON (line 2, column 7): a jq program cannot change it."),
        (".", &deep, "The body is nested deeper than 128 levels."),
        ("empty", "{}", "gives no value"),
        ("select(.a)", "{}", "gives no value"),
        (".[]", "[1,2]", "gives several values"),
        ("repeat(1)", "{}", "gives several values"),
        ("nan", "{}", "a number that JSON cannot say"),
        ("{a: infinite}", "{}", "a number that JSON cannot say"),
        ("{(\"a\"|tobytes): 1}", "{}", "JSON cannot say that"),
        ("{(1|tojson|fromjson): 1}", "{}", "JSON cannot say that"),
        ("error(\"no customer\")", "{}", "The program fails: no customer."),
        (".a.b = 1", "{}", "create it first: `.a //= {} | .a.b = 1`."),
        (".a + 1", r#"{"a":"x"}"#, "The program fails: cannot calculate \"x\" + 1."),
        ("reduce range(200) as $i (1; [.])", "{}", "The answer is nested deeper than 128 levels."),
        (".a = \"x\" * 2000000", "{}", "The answer is larger than 1048576 bytes"),
    ];
    for (program, body, words) in rows {
        match apply(&workers, program, body).await {
            Err(failure) => assert!(failure.to_string().contains(words), "{program} over {body}: {failure}"),
            Ok(applied) => panic!("{program} over {body}: {applied:?}"),
        }
    }
}

#[tokio::test]
async fn what_is_wrong_with_a_program_is_said_with_its_place() {
    let workers = workers();
    let long = ".".repeat(5_000);
    let rows = [
        ("", 1, 1, "The program is empty"),
        ("  \n ", 1, 1, "The program is empty"),
        (&long, 1, 1, "longer than 4096 bytes"),
        (".a = (1", 1, 6, "The closing `)` of this"),
        (".a = {x: 1", 1, 6, "The closing `}` of this"),
        (".a = \"text", 1, 6, "The closing quote of this"),
        (".a\n| .b = foo", 2, 8, "There is no filter `foo`. A field is written `.foo`"),
        (".a |= bar(1; 2)", 1, 7, "There is no filter `bar` with 2 arguments"),
        (".a = $x", 1, 6, "There is no variable `$x`"),
        ("if .a then 1", 1, 13, "the program ends"),
        (".a = = 1", 1, 6, "stands, where"),
        (".é = 1", 1, 2, "written `.\"name\"`"),
        ("\"\\x\"", 1, 3, "This is no escape"),
        ("\"é\" | now", 1, 7, "`now` cannot be used here"),
        (".a = env", 1, 6, "`env` cannot be used here"),
        (".a = $ENV.PATH", 1, 6, "`$ENV` cannot be used here"),
        ("input", 1, 1, "`input` cannot be used here"),
        ("[inputs]", 1, 2, "`inputs` cannot be used here"),
        ("debug", 1, 1, "`debug` cannot be used here"),
        ("halt", 1, 1, "`halt` cannot be used here"),
        ("halt_error", 1, 1, "`halt_error` cannot be used here"),
        ("now | localtime", 1, 1, "`now` cannot be used here"),
        ("include \"a\"; .", 1, 10, "Other files cannot be included"),
    ];
    for (program, line, column, words) in rows {
        let faults = workers.run(program, &["{}"], false).await.expect("a worker").expect_err(program);
        let first = &faults[0];
        assert_eq!((first.line, first.column), (line, column), "{program}: {faults:?}");
        assert!(first.message.contains(words), "{program}: {faults:?}");
    }
    // The worker is none the worse for it.
    let good = workers.run(".a = 1", &["{}"], false).await.unwrap().unwrap();
    assert_eq!(good, [Ok(Applied::Changed { body: r#"{"a":1}"#.into(), changes: vec![] })]);
}

#[tokio::test]
async fn changes_are_told_by_field() {
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
    assert_eq!(changes.len(), 50, "no page is made of one letter");
}
