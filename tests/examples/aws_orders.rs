//! Orders that fail: sent to a main queue, and taken by a consumer that lets go of each until SQS's own redrive moves
//! it. `cargo run -p dlo-tests --features aws --example aws_orders -- <main queue arn> <count>`, at the endpoint that
//! `AWS_ENDPOINT_URL` names.

use consumer::queue::{Outgoing, Queue};
use dlo_tests::world::order;
use domain::id::QueueArn;
use domain::limits::BATCH_ENTRIES_MAX;
use domain::message::Content;
use domain::time::Span;
use lambda::aws::connect;
use lambda::aws::queue::SqsQueue;
use std::time::Instant;

#[tokio::main]
async fn main() {
    let mut args = std::env::args().skip(1);
    let main = QueueArn::new(args.next().expect("the ARN of the main queue"));
    let count: u64 = args.next().and_then(|count| count.parse().ok()).expect("how many orders");
    let queue = SqsQueue::new(&connect::from_env().await);
    let started = Instant::now();
    let numbers: Vec<u64> = (0..count).collect();
    for chunk in numbers.chunks(BATCH_ENTRIES_MAX) {
        let batch: Vec<Outgoing> = chunk.iter().map(|n| outgoing(*n)).collect();
        for sent in queue.send_batch(&main, &batch).await.expect("the main queue") {
            sent.expect("an order is sent");
        }
    }
    println!("{count} orders sent in {:.2} s", started.elapsed().as_secs_f64());
    let receives = queue.attributes(&main).await.expect("the main queue").redrive.map_or(1, |to| to.receives_max);
    let mut quiet = 0;
    while quiet < 2 {
        // Visible again at once: the next receive but `receives` moves it.
        let taken = queue.receive(&main, BATCH_ENTRIES_MAX, Span::ZERO, Some(Span::ZERO)).await.expect("a receive");
        quiet = if taken.is_empty() { quiet + 1 } else { 0 };
    }
    println!(
        "failed {receives} times each and moved, {:.2} s after the first was sent",
        started.elapsed().as_secs_f64()
    );
}

fn outgoing(n: u64) -> Outgoing {
    Outgoing { content: Content { body: order(n), ..Content::default() }, ..Outgoing::default() }
}
