//! The cost of reading a letter, compared with `serde_json::from_slice::<Value>` of the same bytes in the same run.
//!
//! `cargo bench -p dlo-domain` measures letters of 2.4 kB in each form. It prints both times (the minimum of many
//! batches, on one core), their ratio, and the ratio to `Value` of all contained JSON: if the message is a string in
//! an envelope, `Value` of the envelope does not parse it. Then it prints the time per byte from 2 kB to 1 MiB. The
//! bench `allocations` counts allocations with an allocator that would disturb the clock. Tests measure no time:
//! `tests/rules/linear.rs` counts work.

mod letters;

use domain::message::{Attribute, DeadMessage};
use domain::policy::Policy;
use domain::read::read;
use letters::LETTER_BYTES;
use serde_json::Value;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// How long each figure is measured.
const MEASURED: Duration = Duration::from_millis(400);

fn main() {
    // `cargo test --all-targets` also runs benches, but without this argument.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let head = ["bytes", "Value ns", "read ns", "ratio", "all JSON"];
    println!("{:22} {:>7} {:>10} {:>10} {:>6} {:>9}", "letter", head[0], head[1], head[2], head[3], head[4]);
    for (name, message) in letters::forms(LETTER_BYTES) {
        row(name, &message);
    }
    println!("\n{:22} {:>9} {:>10} {:>8}", "linear: SQS redrive", "bytes", "read ns", "ns/byte");
    for shift in 11..=20 {
        let message = letters::redrive(1 << shift);
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
        let body = serde_json::from_slice::<Value>(message.content.body.as_bytes()).unwrap_or_default();
        let rest: Vec<_> = texts.iter().map(|text| serde_json::from_slice::<Value>(text.as_bytes())).collect();
        (body, rest)
    };
    let parse_all = || {
        let (body, rest) = parse();
        let inside = body.get("originalMessage").and_then(Value::as_str).map(serde_json::from_str::<Value>);
        (inside.is_some_and(|inside| inside.is_ok()), body, rest)
    };
    let (value, all, reading) = (measure(parse), measure(parse_all), measure(|| read(message, &policy)));
    let ratio = |to: u128| reading as f64 / to as f64;
    println!("{name:22} {bytes:>7} {value:>10} {reading:>10} {:>6.2} {:>9.2}", ratio(value), ratio(all));
}

/// The minimum time of one call over batches, ns: the time without interference from other processes.
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
