//! Which messages share a cause: pairs that differ only in data, pairs that do not, and properties of both.

use domain::message::{Content, DeadMessage, SystemAttributes};
use domain::policy::Policy;
use domain::read::{classify_failure, read, skeleton};
use domain::reading::Failure;
use proptest::prelude::*;

fn failure(message: &str) -> Failure {
    Failure { message: Some(message.to_owned()), ..Failure::default() }
}

fn group(message: &str) -> String {
    classify_failure(&failure(message), None, &Policy::default()).group.to_string()
}

fn template(message: &str) -> String {
    skeleton(&failure(message), None).map(|skeleton| skeleton.template).unwrap_or_default()
}

#[rustfmt::skip]
const ONE_CAUSE: &[(&str, &str)] = &[
    ("phone +49 170 1234567 is not reachable", "phone +1 (555) 010-9999 is not reachable"),
    ("geocoder found nothing at 52.5200,13.4050", "geocoder found nothing at -33.8688,151.2093"),
    ("client 4.12.3 is too old", "client 3.0.0-beta.2 is too old"),
    ("commit 3f2b8c1e7a404d559c1b0e6f12ab34cd55aa66bb not found in mirror", "commit deadbeefcafef00d1234567890abcdef12345678 not found in mirror"),
    ("cannot assume role arn:aws:iam::111122223333:role/orders", "cannot assume role arn:aws:iam::444455556666:role/orders"),
    ("object s3://orders-prod/2024/11/03/a.json is empty", "object s3://orders-prod/2025/01/17/b7.json is empty"),
    ("offset 8812 of orders-3 is out of range", "offset 77 of orders-11 is out of range"),
    ("device 00:1b:44:11:3a:b7 did not answer", "device de:ad:be:ef:00:01 did not answer"),
    ("lock held for PT5M", "lock held for PT1H30M"),
    ("lease ran 2 hours and 5 minutes", "lease ran 1 hour and 1 minute"),
    ("disk is 91% full", "disk is 99.5 % full"),
    ("uploaded 3/10 parts", "uploaded 7/120 parts"),
    ("rows 1-500 were rejected", "rows 501-1000 were rejected"),
    ("imported 1,234 of 56,789 rows", "imported 7 of 12 rows"),
    ("window closed at 10:15 AM", "window closed at 9:05 PM"),
    ("no slot on Tue, 3 Mar 2026", "no slot on Fri, 27 Nov 2026"),
    ("token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmN is not accepted", "token eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJhIn0.AAbbCCdd11 is not accepted"),
    ("event 01ARZ3NDEKTSV4RRFFQ69G5FAV came twice", "event 01BX5ZZKBKACTAV9WEVGEMMVRZ came twice"),
    ("document 507f1f77bcf86cd799439011 vanished", "document 65a1b2c3d4e5f60718293a4b vanished"),
    ("thread pool-3-thread-7 died", "thread pool-12-thread-101 died"),
    ("pod orders-7d9f8b6c5d-x2x4z was evicted", "pod orders-58c9cc8b4f-qq9wl was evicted"),
    ("container 4f2c8a1b3d5e exited", "container 99aa00bb11cc exited"),
    ("report_2024.pdf could not be rendered", "report_2025.pdf could not be rendered"),
    ("customer: 4711, order: 12: no stock", "customer: 9, order: 100001: no stock"),
    ("<order id=\"7\"><qty>3</qty></order> has no price", "<order id=\"1201\"><qty>11</qty></order> has no price"),
    ("consumer-7f3c2d1e of group billing left", "consumer-00aa11bb of group billing left"),
    ("request req_Gk3xY82aB failed upstream", "request req_9ZqLm001x failed upstream"),
    ("charge ch_3Nf8a2LkdIwHu7ix0Xy1ABcd was not captured", "charge ch_1Abc99LkdIwHu7ix9Zz8QWer was not captured"),
    ("retrying in 3.5s (attempt 2 of 5)", "retrying in 800ms (attempt 1 of 5)"),
    ("peer [2001:db8::1]:443 hung up", "peer [fe80::1%eth0]:8443 hung up"),
    ("session 'a8f5f167' of user 'anna' ended", "session '00c0ffee' of user 'zoë' ended"),
    ("SKU AB-1234-X has no price", "SKU ZZ-0001-Q has no price"),
    ("cart of anna@shop.example is empty", "cart of bo@mail.example is empty"),
    ("trace 1-67891233-abcdef012345678912345678 has no root", "trace 1-5759e988-bd862e3fe1be46a994272793 has no root"),
    ("Could not parse date '2024-13-01'", "Could not parse date 'tomorrow'"),
    ("Invalid IBAN: DE00123", "Invalid IBAN: XX99"),
    ("temperature -3.5 is below the limit", "temperature -12 is below the limit"),
    ("shard 3 of 12 is unassigned", "shard 11 of 16 is unassigned"),
    ("node ip-10-0-3-17.eu-west-1.compute.internal is not ready", "node ip-172-31-9-2.eu-west-1.compute.internal is not ready"),
    ("message 3f2b8c1e-7a40-4d55-9c1b-0e6f12ab34cd: body is 262145 bytes", "message 00b7c2aa-0000-4d55-9c1b-0e6f12ab34cd: body is 1048577 bytes"),
    ("waited 1 second for lock", "waited 30 seconds for lock"),
    ("tenant=acme region=eu plan=gold: over limit", "tenant=globex region=us plan=free: over limit"),
    ("C:\\Users\\anna\\orders\\in.csv is locked", "C:\\Users\\bo\\orders\\in.csv is locked"),
    ("error at line 7, column 12", "error at line 101, column 1"),
    ("expected 3 columns but found 7", "expected 12 columns but found 1"),
    ("balance is -12.50 EUR", "balance is -0.01 EUR"),
    ("hash mismatch: expected sha256:3f2b8c1e7a404d559c1b0e6f12ab34cd but was sha256:00b7c2aa11bb22cc33dd44ee55ff6677", "hash mismatch: expected sha256:aaaa8c1e7a404d559c1b0e6f12ab34cd but was sha256:bbbbc2aa11bb22cc33dd44ee55ff6677"),
    ("key user:4711:cart has expired", "key user:9:cart has expired"),
    ("partition orders_p202411 is missing", "partition orders_p202512 is missing"),
    ("version conflict: current 7, provided 6", "version conflict: current 1201, provided 1199"),
    ("warehouse WH-07 has no stock for 'Garden hose'", "warehouse WH-12 has no stock for 'Kettle'"),
    ("at 2024-11-03 10:15:30,123 the feed stopped", "at 2025-01-17 00:00:00,001 the feed stopped"),
    ("at 1700000000000 the feed stopped", "at 1795075262001 the feed stopped"),
    ("ids 7;8;9 are unknown", "ids 12 are unknown"),
];

#[rustfmt::skip]
const TWO_CAUSES: &[(&str, &str)] = &[
    ("response status 500 from ledger", "response status 404 from ledger"),
    ("cannot open order", "cannot close order"),
    ("column \"price\" is missing", "column \"amount\" is missing"),
    ("connect to payments.internal:8080 refused", "connect to stock.internal:8080 refused"),
    ("connect to 10.0.0.7:5432 refused", "connect to 10.0.0.7:6379 refused"),
    ("exit code 1 from renderer", "exit code 139 from renderer"),
    ("ORA-00001: violated", "ORA-02291: violated"),
    ("insert into orders failed", "insert into refunds failed"),
    ("Cart.total failed", "Cart.add failed"),
    ("order is valid but late", "order is not valid but late"),
    ("caught NullPointerException in handler", "caught IllegalStateException in handler"),
    ("topic orders.placed is unknown", "topic orders.cancelled is unknown"),
    ("service billing timed out", "service stock timed out"),
    ("GET /v1/orders/7 failed", "GET /v1/refunds/7 failed"),
    ("ENOENT while reading config", "EACCES while reading config"),
    ("grpc code = Unavailable", "grpc code = NotFound"),
    ("error code: insufficient_funds", "error code: expired_card"),
    ("reason=overdue order=7", "reason=blocked order=7"),
    ("field 'email' is required", "field 'phone' is required"),
    ("SQLSTATE 40001 on commit", "SQLSTATE 23505 on commit"),
    ("HTTP 429 from carrier", "HTTP 502 from carrier"),
    ("/etc/orders/mail.yml is not readable", "/etc/orders/tls.pem is not readable"),
    ("/srv/releases/20241103/config/mail.yml is not readable", "/srv/releases/20241103/config/tls.pem is not readable"),
    ("environment variable DB_URL is not set", "environment variable SMTP_HOST is not set"),
    ("missing module 'left-pad'", "missing module 'lodash'"),
    ("no handler for event OrderPlaced", "no handler for event OrderCancelled"),
    ("currency 'EUR' expected integer", "currency 'EUR' expected string"),
    ("lock on table orders timed out", "lock on table prices timed out"),
    ("timeout while reading from redis", "timeout while writing to redis"),
    ("unsupported operand type(s) for +: 'int' and 'str'", "unsupported operand type(s) for +: 'NoneType' and 'str'"),
    ("'NoneType' object has no attribute 'price'", "'NoneType' object has no attribute 'sku'"),
    ("Cannot read properties of undefined (reading 'price')", "Cannot read properties of undefined (reading 'sku')"),
    ("undefined method `total' for nil", "undefined method `price' for nil"),
    ("invalid type: string, expected u64 at line 1", "invalid type: map, expected u64 at line 1"),
    ("Stock service answered 503", "Stock service answered 400"),
    ("process killed by SIGKILL", "process killed by SIGSEGV"),
    ("curl: (28) timed out", "curl: (7) timed out"),
    ("Error 1062 on insert", "Error 1452 on insert"),
    ("TLS alert 40 from peer", "TLS alert 48 from peer"),
    ("AADSTS50034: sign-in failed", "AADSTS50076: sign-in failed"),
    ("SMTP 550 from relay", "SMTP 451 from relay"),
    ("ResultCode=2059 from MQ", "ResultCode=2035 from MQ"),
    ("error: card_declined (do_not_honor)", "error: card_declined (lost_card)"),
    ("amount must be positive", "amount must be an integer"),
    ("quota of uploads reached", "quota of mails reached"),
    ("[42] Kafka refused the request", "[29] Kafka refused the request"),
    ("Reason: 'expired'", "Reason: 'revoked'"),
    ("permission orders:write is missing", "permission orders:read is missing"),
    ("feature flag new-pricing is off", "feature flag fast-refunds is off"),
    ("state machine stuck in PAID", "state machine stuck in SHIPPED"),
    ("queue orders-dlq is full", "queue billing-dlq is full"),
];

/// All pairs.
pub fn pairs() -> impl Iterator<Item = (&'static str, &'static str)> {
    ONE_CAUSE.iter().chain(TWO_CAUSES).copied()
}

#[test]
fn different_data_is_the_same_cause() {
    for (a, b) in ONE_CAUSE {
        assert_eq!(template(a), template(b), "{a} | {b}");
        assert_eq!(group(a), group(b));
    }
}

#[test]
fn another_cause_is_another_group() {
    for (a, b) in TWO_CAUSES {
        assert_ne!(group(a), group(b), "{a} | {b}");
    }
}

/// Sentences with a slot for each kind of data; each sentence is a cause of its own.
#[rustfmt::skip]
const SENTENCES: &[&str] = &[
    "order {n} of customer {id} is closed", "order {n} of customer {id} is locked", "payment {id} timed out after {n} ms",
    "payment {id} was declined at {time}", "cannot read {path}", "cannot write {path}", "cannot reach {ip} in {n} ms",
    "no stock for {n} items in {n}", "job {id} of {mail} failed at {time}", "mail to {mail} bounced", "user={id} count={n} was refused",
    "body {{\"id\":\"{id}\",\"qty\":{n}}} has no price", "GET /v1/orders/{n} answered nothing", "DELETE /v1/orders/{n} answered nothing",
    "batch [{n}, {n}, {n}] is unknown", "name '{id}' is taken", "at {time} the feed ended", "hash {hex} is not known", "hash {hex} is too old",
];

/// One value for each slot.
#[derive(Clone, Debug)]
struct Data {
    n: u64,
    id: String,
    time: String,
    path: String,
    ip: String,
    mail: String,
    hex: String,
}

fn data() -> impl Strategy<Value = Data> {
    (
        any::<u64>(),
        "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}",
        "20[0-9]{2}-0[1-9]-[12][0-9]T[01][0-9]:[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,6})?(Z|\\+0[0-9]:00)",
        "/var/spool/20[0-9]{2}/[01][0-9]/[a-z]{1,8}-[0-9]{1,9}\\.eml",
        // Without a port, which would tell one service from another.
        "[1-9][0-9]?\\.[0-9]{1,2}\\.[0-9]{1,2}\\.[0-9]{1,2}",
        "[a-z]{1,9}(\\.[a-z]{1,9})?@[a-z]{1,9}\\.example",
        "[0-9][0-9a-f]{39}",
    )
        .prop_map(|(n, id, time, path, ip, mail, hex)| Data { n, id, time, path, ip, mail, hex })
}

fn filled(sentence: &str, data: &Data) -> String {
    let n = data.n.to_string();
    [
        ("n", &n),
        ("id", &data.id),
        ("time", &data.time),
        ("path", &data.path),
        ("ip", &data.ip),
        ("mail", &data.mail),
        ("hex", &data.hex),
    ]
    .iter()
    .fold(sentence.replace("{{", "{").replace("}}", "}"), |text, (slot, value)| {
        text.replace(&format!("{{{slot}}}"), value)
    })
}

fn letter(message: &str) -> DeadMessage {
    DeadMessage {
        dlq: "arn:aws:sqs:eu-west-1:111122223333:orders-dlq".into(),
        message_id: "m-1".into(),
        content: Content { body: serde_json::json!({ "errorMessage": message }).to_string(), ..Content::default() },
        system: SystemAttributes::default(),
    }
}

proptest! {
    // Every case reads each sentence, or each pair of them.
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn data_does_not_change_a_fingerprint(a in data(), b in data()) {
        for sentence in SENTENCES {
            let (a, b) = (filled(sentence, &a), filled(sentence, &b));
            prop_assert_eq!(template(&a), template(&b), "{} | {}", a, b);
        }
    }

    #[test]
    fn different_causes_differ_whatever_their_data(a in data(), b in data()) {
        for (at, one) in SENTENCES.iter().enumerate() {
            for other in &SENTENCES[at + 1..] {
                prop_assert_ne!(group(&filled(one, &a)), group(&filled(other, &b)));
            }
        }
    }

    #[test]
    fn neither_order_nor_repetition_changes_a_fingerprint(all in prop::collection::vec((0..SENTENCES.len(), data()), 1..12), turn in 0_usize..12) {
        let letters: Vec<DeadMessage> = all.iter().map(|(at, data)| letter(&filled(SENTENCES[*at], data))).collect();
        let read_all = |letters: &[DeadMessage]| -> Vec<String> {
            letters.iter().map(|letter| read(letter, &Policy::default()).group.to_string()).collect()
        };
        let forth = read_all(&letters);
        let (mut turned, mut expected) = (letters.clone(), forth.clone());
        let by = turn % letters.len();
        turned.rotate_left(by);
        expected.rotate_left(by);
        turned.extend(letters);
        expected.extend(forth);
        prop_assert_eq!(read_all(&turned), expected);
    }
}
