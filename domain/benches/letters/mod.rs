//! The measured letters: an order, in each form in which it may die.

use domain::message::{Attribute, Content, DeadMessage, SystemAttributes};
use domain::read::{STAMP_VERSION, Stamp};
use domain::time::Timestamp;
use std::fmt::Write as _;

/// The size of a typical letter, the anchor of the performance goal, bytes.
pub const LETTER_BYTES: usize = 2_400;

const STACK: &str = "shop.payments.GatewayTimeout: payment 8812 of order 7f3c2d1e-0a9b-4c8d-8e7f-6a5b4c3d2e1f timed out after 30 s\n\tat shop.payments.Gateway.charge(Gateway.java:88)\n\tat shop.orders.OrderHandler.lambda$handle$3(OrderHandler.java:41)\n\tat shop.orders.OrderHandler.handle(OrderHandler.java:37)\n\tat software.amazon.awssdk.services.sqs.Poller.poll(Poller.java:101)\n\tat java.base/java.util.concurrent.ThreadPoolExecutor.runWorker(ThreadPoolExecutor.java:1136)\n\tat java.base/java.lang.Thread.run(Thread.java:840)\nCaused by: java.net.SocketTimeoutException: Read timed out\n\tat java.base/sun.nio.ch.NioSocketImpl.timedRead(NioSocketImpl.java:278)\n\tat java.base/java.net.Socket$SocketInputStream.read(Socket.java:966)\n\t... 12 more";

/// One of each form.
pub fn forms(bytes: usize) -> [(&'static str, DeadMessage); 4] {
    [
        ("SQS redrive", redrive(bytes)),
        ("redrive, not JSON", not_json(bytes)),
        ("consumer's stamp", stamped(bytes)),
        ("envelope in the body", enveloped(bytes)),
    ]
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

pub fn redrive(bytes: usize) -> DeadMessage {
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
