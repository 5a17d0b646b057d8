//! What reading a letter costs, beside `serde_json::from_slice::<Value>` of the same bytes in the same run.
//!
//! `cargo bench -p dlo-domain` prints, for letters of 2.4 kB in each form, both times (the least of many batches, on
//! one core), their ratio and the allocations of each; then the time for each byte from 2 kB to 1 MiB. No clock is in
//! a test: `tests/linear.rs` counts work instead.

use domain::message::{Attribute, Content, DeadMessage, SystemAttributes};
use domain::policy::Policy;
use domain::read::{STAMP_VERSION, Stamp, read};
use domain::time::Timestamp;
use serde_json::Value;
use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// The size of a usual letter (the anchor of the goal), bytes.
const LETTER_BYTES: usize = 2_400;
/// How long each figure is measured.
const MEASURED: Duration = Duration::from_millis(400);

const STACK: &str = "shop.payments.GatewayTimeout: payment 8812 of order 7f3c2d1e-0a9b-4c8d-8e7f-6a5b4c3d2e1f timed out after 30 s\n\tat shop.payments.Gateway.charge(Gateway.java:88)\n\tat shop.orders.OrderHandler.lambda$handle$3(OrderHandler.java:41)\n\tat shop.orders.OrderHandler.handle(OrderHandler.java:37)\n\tat software.amazon.awssdk.services.sqs.Poller.poll(Poller.java:101)\n\tat java.base/java.util.concurrent.ThreadPoolExecutor.runWorker(ThreadPoolExecutor.java:1136)\n\tat java.base/java.lang.Thread.run(Thread.java:840)\nCaused by: java.net.SocketTimeoutException: Read timed out\n\tat java.base/sun.nio.ch.NioSocketImpl.timedRead(NioSocketImpl.java:278)\n\tat java.base/java.net.Socket$SocketInputStream.read(Socket.java:966)\n\t... 12 more";

fn main() {
    // `cargo test --all-targets` runs benches too, without this.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    println!(
        "{:22} {:>7} {:>10} {:>10} {:>6} {:>7} {:>7}",
        "letter", "bytes", "Value ns", "read ns", "ratio", "allocs", "Value's"
    );
    for (name, message) in [
        ("SQS redrive", redrive(LETTER_BYTES)),
        ("redrive, not JSON", not_json(LETTER_BYTES)),
        ("consumer's stamp", stamped(LETTER_BYTES)),
        ("envelope in the body", enveloped(LETTER_BYTES)),
    ] {
        row(name, &message);
    }
    println!("\n{:22} {:>9} {:>10} {:>8}", "linear: SQS redrive", "bytes", "read ns", "ns/byte");
    for shift in 11..=20 {
        let message = redrive(1 << shift);
        let nanos = measure(|| read(&message, &Policy::default()));
        println!(
            "{:22} {:>9} {:>10} {:>8.2}",
            "",
            message.content.body.len(),
            nanos,
            nanos as f64 / message.content.body.len() as f64
        );
    }
}

fn row(name: &str, message: &DeadMessage) {
    let policy = Policy::default();
    let texts: Vec<&str> = message.content.attributes.values().filter_map(Attribute::as_text).collect();
    let bytes = message.content.body.len() + texts.iter().map(|text| text.len()).sum::<usize>();
    let parse = || {
        let body = serde_json::from_slice::<Value>(message.content.body.as_bytes());
        let rest: Vec<_> = texts.iter().map(|text| serde_json::from_slice::<Value>(text.as_bytes())).collect();
        (body.is_ok(), rest)
    };
    let (value, reading) = (measure(parse), measure(|| read(message, &policy)));
    let count = |work: &dyn Fn()| allocation_counter::measure(work).count_total;
    let allocations = count(&|| drop(black_box(read(message, &policy))));
    let values = count(&|| drop(black_box(parse())));
    let ratio = reading as f64 / value as f64;
    println!("{name:22} {bytes:>7} {value:>10} {reading:>10} {ratio:>6.2} {allocations:>7} {values:>7}");
}

/// The least time of one call, ns, over batches: the time without what else the machine did.
fn measure<T>(work: impl Fn() -> T) -> u128 {
    let began = Instant::now();
    let mut calls = 1_u32;
    while began.elapsed() < MEASURED / 10 {
        black_box(work());
        calls += 1;
    }
    let batch = (calls / 20).max(1);
    let mut least = u128::MAX;
    let began = Instant::now();
    while began.elapsed() < MEASURED {
        let start = Instant::now();
        for _ in 0..batch {
            black_box(work());
        }
        least = least.min(start.elapsed().as_nanos() / u128::from(batch));
    }
    least
}

/// An order with as many lines as fit.
fn order(bytes: usize) -> String {
    let mut body = String::from(
        r#"{"type":"order.placed","orderId":"7f3c2d1e-0a9b-4c8d-8e7f-6a5b4c3d2e1f","customer":{"id":"c-4711","name":"Zoë Brandt","tier":"gold"},"amount":"129.90","currency":"EUR","deadline":"2026-11-20T12:00:00Z","lines":["#,
    );
    let mut line = 0_u32;
    while body.len() + 100 < bytes {
        let comma = if line == 0 { "" } else { "," };
        let _ = write!(
            body,
            r#"{comma}{{"sku":"TSH-{line:05}-M","quantity":{},"price":19.95,"note":"gift \"wrap\"","tags":["a","b"]}}"#,
            line % 7
        );
        line += 1;
    }
    body.push_str(r#"],"trace":"1-67891233-abcdef012345678912345678"}"#);
    body
}

fn message(body: String) -> DeadMessage {
    DeadMessage {
        dlq: "arn:aws:sqs:eu-west-1:111122223333:orders-dlq".into(),
        message_id: "3f2b8c1e-7a40-4d55-9c1b-0e6f12ab34cd".into(),
        content: Content { body, ..Content::default() },
        system: SystemAttributes {
            source_queue: Some("arn:aws:sqs:eu-west-1:111122223333:orders".into()),
            sent_at: Some(Timestamp::from_ms(1_795_075_262_001)),
            receive_count: Some(5),
            ..SystemAttributes::default()
        },
    }
}

fn redrive(bytes: usize) -> DeadMessage {
    message(order(bytes))
}

fn not_json(bytes: usize) -> DeadMessage {
    let mut body = order(bytes);
    body.pop();
    message(body)
}

fn stamped(bytes: usize) -> DeadMessage {
    let some = |text: &str| Some(text.to_owned());
    let (head, _) = STACK.split_once('\n').unwrap_or((STACK, ""));
    let stamp = Stamp {
        v: STAMP_VERSION,
        error_type: some("shop.payments.GatewayTimeout"),
        message: head.split_once(": ").map(|(_, message)| message.to_owned()),
        stack: some(STACK),
        consumer: some("orders"),
        consumer_version: some("1.4.2"),
        message_type: some("order.placed"),
        attempts: Some(5),
        ..Stamp::default()
    };
    let printed = stamp.print();
    let mut message = redrive(bytes - printed.len());
    message.content.attributes.insert("dlo.failure".into(), Attribute::text(printed));
    message
}

fn enveloped(bytes: usize) -> DeadMessage {
    let order = order(bytes - STACK.len() - 300);
    let envelope = serde_json::json!({
        "originalMessage": order,
        "failureReason": { "errorType": "GatewayTimeout", "errorMessage": "payment 8812 timed out after 30 s", "errorStack": STACK },
        "processingContext": { "consumer": "orders", "attempts": 5 },
    });
    message(envelope.to_string())
}
