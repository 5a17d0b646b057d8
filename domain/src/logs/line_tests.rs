//! Entries of real runtimes and loggers.

use super::*;
use alloc::format;

const REQUEST: &str = "8286a188-ba32-4475-8077-530cd35c09a9";

/// Checks type and message of the error in an entry, and whether it has a stack; and the invocation that it names.
#[track_caller]
fn check(text: &str, error: Option<(&str, &str, bool)>, request: Option<&str>) {
    let said = read(text);
    let found = said.failure.as_ref().map(|failure| {
        let words = |part: &Option<String>| part.clone().unwrap_or_default();
        (words(&failure.error_type), words(&failure.message), failure.stack.is_some())
    });
    let found = found.as_ref().map(|(name, message, stack)| (name.as_str(), message.as_str(), *stack));
    assert_eq!(found, error, "{text}");
    assert_eq!(said.request.as_deref(), request, "{text}");
}

#[test]
fn entries_of_python() {
    // The runtime's own line for a thrown error: carriage returns, and no-break spaces before frames.
    check(
        "[ERROR] KeyError: 'price'\rTraceback (most recent call last):\r\u{a0}\u{a0}File \"/var/task/app.py\", line 18, in handler\r\u{a0}\u{a0}\u{a0}\u{a0}total += order[\"price\"]",
        Some(("KeyError", "'price'", true)),
        None,
    );
    // `logger.exception` in the runtime's text format.
    check(
        &format!(
            "[ERROR]\t2026-11-22T10:00:00.000Z\t{REQUEST}\torder failed\nTraceback (most recent call last):\n  File \"/var/task/app.py\", line 3, in f\n    x\nValueError: no price"
        ),
        Some(("ValueError", "no price", true)),
        Some(REQUEST),
    );
    check(
        &format!("[ERROR]\t2026-11-22T10:00:00.000Z\t{REQUEST}\tno price"),
        Some(("", "no price", false)),
        Some(REQUEST),
    );
    check(
        "ERROR:root:order 7 failed: app.Declined: no",
        Some(("", "root:order 7 failed: app.Declined: no", false)),
        None,
    );
    check("ERROR:app: ValueError: no price", Some(("ValueError", "no price", false)), None);
    check("ERROR order 7: no price", Some(("", "order 7: no price", false)), None);
    check("WARNING: failed to load the optional cache: OSError: no file", None, None);
    check("WARNING order 7: ValueError: tried again", None, None);
    check("ValueError: bad DEBUG: flag", Some(("ValueError", "bad DEBUG: flag", false)), None);
    // JSON of the runtime and of Powertools.
    check(
        &format!(
            r#"{{"timestamp":"2026-11-22T10:00:00Z","log_level":"ERROR","errorMessage":"'price'","errorType":"KeyError","requestId":"{REQUEST}","stackTrace":["  File \"/var/task/app.py\", line 18, in handler\n    x\n"]}}"#
        ),
        Some(("KeyError", "'price'", true)),
        Some(REQUEST),
    );
    check(
        &format!(
            r#"{{"level":"ERROR","location":"f:3","message":"order failed","timestamp":"2026-11-22 10:00:00,000+0000","service":"orders","function_request_id":"{REQUEST}","exception":"Traceback (most recent call last):\n  File \"app.py\", line 3, in f\n    x\nKeyError: 'price'","exception_name":"KeyError"}}"#
        ),
        Some(("KeyError", "'price'", true)),
        Some(REQUEST),
    );
}

#[test]
fn entries_of_node() {
    check(
        &format!(
            "2026-11-22T10:00:00.000Z\t{REQUEST}\tERROR\tInvoke Error \t{{\"errorType\":\"PaymentDeclined\",\"errorMessage\":\"no\",\"code\":\"E1\",\"stack\":[\"PaymentDeclined: no\",\"    at charge (/var/task/index.js:2:51)\"]}}"
        ),
        Some(("PaymentDeclined", "no", true)),
        Some(REQUEST),
    );
    check(
        &format!(
            "2026-11-22T10:00:00.000Z\t{REQUEST}\tERROR\tTypeError: Cannot read properties of undefined (reading 'price')\n    at handler (/var/task/index.js:7:19)\n    at Runtime.handleOnceNonStreaming (file:///var/runtime/index.mjs:1173:29)"
        ),
        Some(("TypeError", "Cannot read properties of undefined (reading 'price')", true)),
        Some(REQUEST),
    );
    check(
        &format!("2026-11-22T10:00:00.000Z\t{REQUEST}\tERROR\torder 7 failed: no price"),
        Some(("", "order 7 failed: no price", false)),
        Some(REQUEST),
    );
    check(
        &format!(
            r#"{{"timestamp":"2026-11-22T10:00:00.000Z","level":"ERROR","requestId":"{REQUEST}","message":{{"errorType":"TypeError","errorMessage":"no price","stackTrace":["TypeError: no price","    at f (/var/task/index.js:1:2)"]}}}}"#
        ),
        Some(("TypeError", "no price", true)),
        Some(REQUEST),
    );
    // pino, and Powertools for TypeScript.
    check(
        r#"{"level":50,"time":1800000000000,"name":"orders","err":{"type":"Declined","message":"no","stack":"Declined: no\n    at f (a.js:1:2)"},"msg":"order failed"}"#,
        Some(("Declined", "no", true)),
        None,
    );
    check(
        &format!(
            r#"{{"level":"ERROR","message":"failed","timestamp":"2026-11-22T10:00:00.000Z","function_request_id":"{REQUEST}","error":{{"name":"Declined","location":"index.js:2","message":"no","stack":"Declined: no\n    at f (a.js:1:2)"}}}}"#
        ),
        Some(("Declined", "no", true)),
        Some(REQUEST),
    );
}

#[test]
fn entries_of_java() {
    // The runtime's own lines for a thrown exception.
    check(
        "no price: java.lang.IllegalStateException\njava.lang.IllegalStateException: no price\n\tat example.Handler.handleRequest(Handler.java:20)\n\tat java.base/jdk.internal.reflect.DirectMethodHandleAccessor.invoke(Unknown Source)\nCaused by: java.sql.SQLException: gone\n\t... 2 more",
        Some(("java.lang.IllegalStateException", "no price", true)),
        None,
    );
    check(
        "no price: java.lang.IllegalStateException",
        Some(("java.lang.IllegalStateException", "no price", false)),
        None,
    );
    // Logback and log4j.
    check(
        &format!(
            "2026-11-22 10:00:00.000 [main] ERROR example.Handler - order 7 failed {REQUEST}\njava.net.SocketTimeoutException: Read timed out\n\tat example.Client.call(Client.java:33)"
        ),
        Some(("java.net.SocketTimeoutException", "Read timed out", true)),
        None,
    );
    check(
        &format!(
            r#"{{"@timestamp":"2026-11-22T10:00:00.000Z","level":"ERROR","logger_name":"example.Handler","message":"order failed","AWSRequestId":"{REQUEST}","stack_trace":"java.lang.IllegalStateException: no price\n\tat example.Handler.handleRequest(Handler.java:20)\n"}}"#
        ),
        Some(("java.lang.IllegalStateException", "no price", true)),
        Some(REQUEST),
    );
    check(
        r#"{"timestamp":"2026-11-22T10:00:00.000Z","level":"ERROR","message":"failed","thrown":{"name":"java.lang.IllegalStateException","message":"no price","extendedStackTrace":"java.lang.IllegalStateException: no price\n\tat a.B.c(B.java:1)"}}"#,
        Some(("java.lang.IllegalStateException", "no price", true)),
        None,
    );
}

#[test]
fn what_the_platform_says_and_what_is_no_error() {
    check(
        &format!("2026-11-22T10:00:03.000Z {REQUEST} Task timed out after 3.00 seconds"),
        Some(("Sandbox.Timedout", "Task timed out", false)),
        None,
    );
    check(
        &format!("RequestId: {REQUEST} Error: Runtime exited with error: exit status 1\nRuntime.ExitError"),
        Some(("Runtime.ExitError", "Runtime exited before it answered", false)),
        Some(REQUEST),
    );
    check(
        &format!("RequestId: {REQUEST} Error: Runtime exited with error: signal: killed\nRuntime.ExitError"),
        Some(("Runtime.OutOfMemory", "Runtime ran out of memory", false)),
        Some(REQUEST),
    );
    let report = format!(
        r#"{{"time":"2026-11-22T10:00:00.000Z","type":"platform.report","record":{{"requestId":"{REQUEST}","status":"timeout"}}}}"#
    );
    check(&report, Some(("Sandbox.Timedout", "Task timed out", false)), Some(REQUEST));
    check(&report.replace("timeout", "error"), None, Some(REQUEST));
    for quiet in [
        "",
        "order 7 placed",
        "an ERROR-free day",
        "[INFO] retrying after ERROR code 7",
        "2026-11-22 10:00:00 INFO example.Handler - ValueError: is handled",
        r#"{"level":"INFO","message":"ok","errorType":"None"}"#,
        r#"{"level":30,"msg":"TypeError: was handled"}"#,
        r#"{"order":7,"type":"KeyError"}"#,
        "START RequestId: x Version: $LATEST",
        "REPORT RequestId: x Duration: 3.1 ms Error Type: KeyError",
        "{",
    ] {
        assert_eq!(read(quiet).failure, None, "{quiet}");
    }
}

#[test]
fn levels_as_words_and_numbers() {
    use Level::{Error, Quiet, Warning};
    for (text, wanted) in [
        ("[ERROR] a", Some(Error)),
        ("2026-11-22 10:00:00 WARNING a", Some(Warning)),
        ("INFO:root:a", Some(Quiet)),
        ("DEBUG a", Some(Quiet)),
        ("a", None),
        (r#"{"level":50,"msg":"a"}"#, Some(Error)),
        (r#"{"level":40,"msg":"a"}"#, Some(Warning)),
        (r#"{"level":30,"msg":"a"}"#, Some(Quiet)),
        (r#"{"level":"Info","msg":"a"}"#, Some(Quiet)),
        (r#"{"level":"notice","msg":"a"}"#, Some(Warning)),
        (r#"{"msg":"a"}"#, None),
    ] {
        assert_eq!(read(text).level, wanted, "{text}");
    }
}
