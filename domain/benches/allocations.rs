//! How often reading a letter allocates, compared with `serde_json::from_slice::<Value>` of its body.

mod letters;

use domain::message::DeadMessage;
use domain::policy::Policy;
use domain::read::read;
use letters::LETTER_BYTES;
use serde_json::Value;
use std::hint::black_box;

fn main() {
    println!("{:22} {:>8} {:>8} {:>8} {:>8}", "letter", "allocs", "bytes", "Value's", "bytes");
    for (name, message) in letters::forms(LETTER_BYTES) {
        let (allocations, bytes) = counted(|| read(&message, &Policy::default()));
        let (values, value_bytes) = counted(|| serde_json::from_str::<Value>(&message.content.body).is_ok());
        println!("{name:22} {allocations:>8} {bytes:>8} {values:>8} {value_bytes:>8}");
    }
    let whole: DeadMessage = letters::redrive(1 << 20);
    let (allocations, bytes) = counted(|| read(&whole, &Policy::default()));
    println!("{:22} {allocations:>8} {bytes:>8}", "SQS redrive, 1 MiB");
}

/// The number of allocations, and their bytes.
fn counted<T>(work: impl Fn() -> T) -> (u64, u64) {
    let counted = allocation_counter::measure(|| drop(black_box(work())));
    (counted.count_total, counted.bytes_total)
}
