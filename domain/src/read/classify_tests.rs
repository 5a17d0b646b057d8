//! The classifier's specification: one row for each kind of evidence, in the order of precedence.

use super::super::classify_failure;
use super::*;
use crate::policy::ClassRule;
use crate::reading::Failure;
use alloc::string::String;
use alloc::vec;

fn failure(error_type: &str, message: &str, stack: &str) -> Failure {
    let some = |text: &str| Some(String::from(text)).filter(|t| !t.is_empty());
    Failure { error_type: some(error_type), message: some(message), stack: some(stack), stated_class: None }
}

fn check(error_type: &str, message: &str, class: Class, category: Category) {
    let got = classify_failure(&failure(error_type, message, ""), None, &Policy::default()).classification;
    assert_eq!((got.class, got.category), (class, category), "{error_type}: {message}: {}", got.reason);
}

#[test]
fn evidence_decides_in_its_order() {
    use Category::*;
    use Class::{Permanent as P, Transient as T, Unknown as U};
    check("java.net.SocketTimeoutException", "Read timed out", T, Timeout);
    check("java.util.ConcurrentModificationException", "", P, ConsumerBug);
    check("com.amazonaws.ConcurrentModificationException", "", T, Conflict);
    check("ClientError", "An error occurred (ThrottlingException) when calling the Put operation: slow", T, Throttled);
    check("ClientError", "An error occurred (UnrecognizedClientException) when calling the Put operation", U, Auth);
    check("*pgconn.PgError", "ERROR: x (SQLSTATE 40001)", T, Conflict);
    check("*pgconn.PgError", "ERROR: x (SQLSTATE 23505)", P, Duplicate);
    check("PDOException", "SQLSTATE[HY000] [2002] Connection refused", T, DependencyUnavailable);
    check("Error", "(1213, 'Deadlock found')", T, Conflict);
    check("java.sql.SQLException", "ORA-00001: unique constraint (A.B) violated", P, Duplicate);
    check("StatusCode", "rpc error: code = Unavailable desc = down", T, DependencyUnavailable);
    check("io.grpc.StatusRuntimeException", "INTERNAL: oops", U, DependencyUnavailable);
    check("redis.ReplyError", "WRONGTYPE Operation", P, ConsumerBug);
    check("OSError", "[Errno 111] Connection refused", T, DependencyUnavailable);
    check("Error", "write EPIPE", T, DependencyUnavailable);
    check("Error", "getaddrinfo ENOTFOUND api.example", U, DependencyUnavailable);
    check("AxiosError", "Request failed with status code 503", T, DependencyUnavailable);
    check("AxiosError", "Request failed with status code 409", U, Conflict);
    check("HTTPError", "404 Client Error: Not Found for url: https://a.example", P, MissingReference);
    check("SMTPException", "451 try again", T, DependencyUnavailable);
    check("shop::PaymentError", "payments answered 402", P, BusinessRule);
    check("panic", "called `Option::unwrap()` on a `None` value", P, ConsumerBug);
    check("panic", "called `Result::unwrap()` on an `Err` value: TimedOut", T, Timeout);
    check("TypeError", "fetch failed", T, DependencyUnavailable);
    check("Error", "x509: certificate has expired", P, Configuration);
    check("Error", "Tenant acme was deleted", P, InvalidTenant);
    check("MessageExpired", "", P, Expired);
    check("", "insufficient funds", P, BusinessRule);
    check("", "permission denied, try again later", P, Auth);
    check("", "upstream unavailable", T, DependencyUnavailable);
    check("PriceServiceTimeoutException", "", T, Timeout);
    check("", "the parrot is resting", U, Unknown);
}

#[test]
fn a_sentence_outranks_a_type_that_only_says_where() {
    let class = |error_type: &str, message: &str| {
        let failure = failure(error_type, message, "");
        classify_failure(&failure, None, &Policy::default()).classification.class
    };
    for (error_type, message) in [
        ("shop.ServiceException", "no postal code found for the parcel"),
        ("shop.ConnectException", "label printing is disabled"),
        ("shop.ShelfInUseException", "can't remove the shelf because it holds boxes"),
        ("BadMethodCallException", "transport `van` is not available"),
        ("Error", "unknown option for unreachable_dock: \"skip\""),
        ("shop.StockException", "the pallet is no longer available"),
    ] {
        assert_eq!(class(error_type, message), Class::Permanent, "{error_type}: {message}");
    }
    for (error_type, message) in [
        ("redis.clients.jedis.exceptions.JedisConnectionException", "Unexpected end of stream."),
        ("ValidationError", "too many labels, try later"),
        ("System.ArgumentException", "another user has changed the shelf"),
        ("Error", "the shelf is being updated"),
        ("Error", "the node is no longer available"),
    ] {
        assert_eq!(class(error_type, message), Class::Transient, "{error_type}: {message}");
    }
}

#[test]
fn the_root_cause_decides() {
    let stack = "shop.OrderFailed: order failed\n\tat shop.A.b(A.java:1)\nCaused by: java.net.ConnectException: Connection refused";
    let got =
        classify_failure(&failure("shop.OrderFailed", "order failed", stack), None, &Policy::default()).classification;
    assert_eq!(got.class, Class::Transient);
    assert!(got.reason.contains("root cause"), "{}", got.reason);
}

#[test]
fn the_policy_comes_before_the_tables_and_the_claim() {
    let rule = ClassRule {
        name: "our gateway".into(),
        error_type: Some("TimeoutError".into()),
        message_contains: Some("ledger".into()),
        class: Class::Permanent,
        category: Category::BusinessRule,
    };
    let policy = Policy { class_rules: vec![rule], ..Policy::default() };
    let mut timeout = failure("TimeoutError", "ledger timed out", "");
    timeout.stated_class = Some(Class::Transient);
    let got = classify_failure(&timeout, None, &policy).classification;
    assert_eq!((got.class, got.reason.as_str()), (Class::Permanent, "policy rule: our gateway"));
    let got = classify_failure(&failure("TimeoutError", "other", ""), None, &policy).classification;
    assert_eq!(got.class, Class::Transient);
}

#[test]
fn a_claim_decides_only_what_nothing_else_decides() {
    let claimed = |error_type: &str, message: &str, claim: Class| {
        let failure = Failure { stated_class: Some(claim), ..failure(error_type, message, "") };
        classify_failure(&failure, None, &Policy::default()).classification
    };
    use Class::{Permanent as P, Transient as T, Unknown as U};
    let rows = [
        // Evidence, claim, class, confidence, a part of the reason.
        (("TimeoutError", "timed out"), P, T, None, "TimeoutError"),
        (("TimeoutError", "timed out"), T, T, None, "TimeoutError; the consumer's stamp claims the same"),
        (("TimeoutError", "timed out"), U, T, None, "TimeoutError"),
        (("JsonSyntaxError", "Unexpected token < in JSON at position 0"), T, P, None, ""),
        (
            ("io.grpc.StatusRuntimeException", "INTERNAL: oops"),
            T,
            T,
            Some(60),
            "claimed by the consumer's stamp; the error alone is unknown",
        ),
        (("", "the parrot is resting"), P, P, Some(60), "claimed by the consumer's stamp"),
        (("", ""), T, T, Some(60), "claimed by the consumer's stamp"),
    ];
    for ((error_type, message), claim, class, pct, reason) in rows {
        let got = claimed(error_type, message, claim);
        let alone = classify_failure(&failure(error_type, message, ""), None, &Policy::default()).classification;
        assert_eq!(got.class, class, "{error_type} {message}: {}", got.reason);
        assert_eq!(got.category, alone.category, "a claim does not change the category");
        assert_eq!(got.confidence.as_pct(), pct.unwrap_or(alone.confidence.as_pct()), "{error_type} {message}");
        assert!(got.reason.contains(reason), "{}", got.reason);
    }
}

#[test]
fn a_handshake_that_timed_out_is_sure_and_a_rule_for_its_length_is_not_transient() {
    let found = |message| classify_failure(&failure("error", message, ""), None, &Policy::default()).classification;
    for message in ["net/http: TLS handshake timeout", "TLS handshake timeout", "SSL handshake timed out."] {
        let found = found(message);
        assert_eq!((found.class, found.confidence.as_pct()), (Class::Transient, 80), "{message}");
    }
    for message in ["TLS handshake timeout must be positive", "invalid TLS handshake timeout"] {
        assert_ne!(found(message).firm_class(), Class::Transient, "{message}");
    }
}

#[test]
fn a_failed_call_that_a_match_has_no_clause_for_has_the_class_of_its_reason() {
    let rows = [
        ("MatchError", "no match of right hand side value: {:error, :timeout}", Class::Transient),
        ("Elixir.MatchError", "no match of right hand side value: {:error, :econnrefused}", Class::Transient),
        ("CaseClauseError", "no case clause matching: {:error, :closed}", Class::Transient),
        ("MatchError", "no match of right hand side value: {:error, :enoent}", Class::Permanent),
        ("MatchError", "no match of right hand side value: {:error, :timeout_option_missing}", Class::Permanent),
        ("MatchError", "no match of right hand side value: nil", Class::Permanent),
    ];
    for (error_type, message, class) in rows {
        let found = classify_failure(&failure(error_type, message, ""), None, &Policy::default()).classification;
        assert_eq!(found.class, class, "{error_type} {message}: {}", found.reason);
    }
}
