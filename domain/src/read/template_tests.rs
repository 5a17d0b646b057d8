//! One row per token class: the same error with other data gives the same template, another error does not.

use super::*;
use alloc::format;
use proptest::prelude::*;

fn normal(message: &str) -> String {
    from_message(message, "").normal
}

fn check(message: &str, expected: &str) {
    assert_eq!(normal(message), expected, "{message}");
}

#[test]
fn variable_parts_are_masked() {
    check("", "");
    check("invoice 4711 is paid", "invoice * is paid");
    check("job 7f3c2d1e-0a9b-4c8d-8e7f-6a5b4c3d2e1f lost", "job * lost");
    check("user bob@mail.example unknown", "user * unknown");
    check("waited 30 s", "waited *");
    check("waited 1m30s", "waited *");
    check("ids: [1, 2, 3]", "ids: [*]");
    check("ids: [7]", "ids: [*]");
    check("name 'Anna Kowalska' is taken", "name * is taken");
    check("cannot reach worker-3.pool.internal:8080", "cannot reach worker-*.pool.internal:8080");
    check("at Mon, 03 Nov 2024 10:15:30 GMT", "at *");
    // If one part of a path varies, the path leads to data, including its directories.
    check("read /var/spool/2024/11/msg-7.eml", "read *");
    check("read /srv/releases/20241103/config/mail.yml", "read */mail.yml");
    check("read C:\\jobs\\17\\out.csv", "read *");
    check("task_2008_c_0003_m_17 lost", "* lost");
    check("lost blk_1, blk_2 and blk_3", "lost blk_* and blk_*");
    check("lost blk_1, blk_2", "lost blk_*");
    check("volume vol-ffeeddccbb99 is detached", "volume vol-* is detached");
    check("10.0.0.1 \"GET /v1/orders/7 HTTP/1.1\" refused", "* \"GET * HTTP/1.1\" refused");
    check("lock=7, source=Source{10, 11}, key=0|app|7, uid=8", "lock=*, source=*, key=*, uid=*");
    check("GET https://u:p@api.example/v1/orders/17?sig=x failed", "GET https://api.example/v1/orders/*?sig failed");
    check("bad body: {\"a\":1,\"code\":\"E_X\"}", "bad body: {code=E_X *}");
    check("done user=bob tenant=acme", "done user=* tenant=*");
    check("sent to=<bob@mail.example>, dsn=7", "sent to=*, dsn=*");
    check("bob@10.1.2.3 left", "* left");
    check("user= host=db is gone", "user=* host=* is gone");
    check("18446 bytes (18.0 KB) came", "* came");
    check("disk is 99.5 % full", "disk is * full");
    check("lost s3://orders/2024/a.json", "lost s3://orders/*");
}

#[test]
fn names_of_the_cause_stay() {
    check("status code 404", "status code 404");
    check("resultCode=2059, countryCode=49", "resultCode=2059, countryCode=*");
    check("TLS alert 40", "TLS alert 40");
    check("HTTP/1.1 404 from stock after 7 ms", "HTTP/1.1 404 from stock after *");
    check("now in state 'Active'", "now in state \"Active\"");
    check("read /etc/orders/mail.yml", "read /etc/orders/mail.yml");
    check("POST /v1/orders/8 failed", "POST /v1/orders/* failed");
    check("/billing/0/zip must be text", "/billing/*/zip must be text");
    check("503 Service Unavailable", "503 Service Unavailable");
    check("(os error 28)", "(os error 28)");
    check("ORA-00060: deadlock", "ORA-00060: deadlock");
    check("missing field `amount` at line 3", "missing field \"amount\" at line *");
    check("no column 'o.coupon_id'", "no column \"o.coupon_id\"");
    check("expected u64, got f32", "expected u64, got f32");
    check("state=closed reason=overdue", "state=closed reason=overdue");
    assert_eq!(from_message("'sku'", "KeyError").normal, "\"sku\"");
    assert_eq!(from_message("'sku'", "ValueError").normal, "*");
}

#[test]
fn hostile_messages_are_bounded() {
    for text in [
        "'".repeat(9_000),
        "{".repeat(9_000),
        "a=".repeat(9_000),
        "1".repeat(1 << 20),
        "€'".repeat(4_000),
        "'a ".repeat(4_000),
    ] {
        assert!(normal(&text).len() <= TEMPLATE_BYTES_MAX);
    }
}

proptest! {
    #[test]
    fn ids_numbers_and_times_do_not_matter(a in 0_u64.., b in 0_u64.., id in "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}") {
        let first = normal(&format!("order {a} of {id} failed at 2026-11-19T08:01:02Z after {a} ms"));
        let second = normal(&format!("order {b} of 7f3c2d1e-0a9b-4c8d-8e7f-6a5b4c3d2e1f failed at 2025-01-01T00:00:00.5Z after {b} ms"));
        prop_assert_eq!(first, second);
    }

    #[test]
    fn nothing_panics_and_all_is_bounded(text in "(\\PC|['\"`{}()=:/.,*\n ]){0,200}") {
        prop_assert!(normal(&text).len() <= TEMPLATE_BYTES_MAX);
    }
}

/// Bytes that the scanner examined ahead of its cursor.
fn ahead_bytes(text: &str) -> usize {
    let mut scanner = Scanner::new(text, "");
    while scanner.at < text.len() {
        scanner.step();
    }
    scanner.ahead_bytes
}

#[test]
fn every_text_is_scanned_a_constant_number_of_times() {
    #[rustfmt::skip]
    let pieces = [
        "'", "\"a ", "'a \"b `c “d ‘e «f ", "{", "{}", "{{}", "{a", "a=b{", "a='", "a=b{'", "{\"", "{1", "[", "[::", "x'a", "\\'a ", "((", "a/", "1.", "http://", "Jan ", "error \"x ",
        "[Source: ", "Mozilla/5 (", "Mozilla/5 (a) b/1 ", "* ", "x ", "**** ", "AB12 ", "AB12 CDEF ", "(12", "(12)3 ", "7 (A", "7 (Ab Cd ", "customer <",
        "<a>b", "<a>b</a>", "<a", "insert into %(", "insert into ?, ", "no match for: 1 A", "1'000", "a(1).", "created by: Anna Meier, ",
    ];
    for piece in pieces {
        let text = piece.repeat((1 << 18) / piece.len());
        let looked = ahead_bytes(&text);
        // Once for the braces, and once for each kind of quote.
        assert!(looked <= (QUOTES_MAX + 1) * text.len(), "{piece}: {} times", looked / text.len());
    }
    // Nested, and closed only far away.
    let nested = format!("{}{}", "{".repeat(1 << 17), "}".repeat(1 << 17));
    assert!(ahead_bytes(&nested) <= 4 * nested.len());
}
