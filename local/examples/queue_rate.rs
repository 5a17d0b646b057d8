//! Measures how many messages per second the embedded queue handles (send, receive and delete in batches of ten), at
//! several numbers of stored messages. Run it with `cargo run --release -p dlo-local --example queue_rate`.

use domain::id::QueueArn;
use domain::message::{Attribute, Content};
use domain::time::{Span, Timestamp};
use local::queue::{EmbeddedQueue, QueueSettings};
use queue::{Outgoing, Queue, QueueError};
use std::error::Error;
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

const MEASURED_COUNT: usize = 20_000;
const BODY_BYTES: usize = 1_000;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let clock = Arc::new(|| {
        let ms = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
        Timestamp::from_ms(i64::try_from(ms).unwrap_or(i64::MAX))
    });
    let queues = EmbeddedQueue::open(&folder.path().join("queues.db"), clock)?;
    println!("{:>10} {:>10} {:>10} {:>16} {:>12}", "stored", "in flight", "type", "messages/s", "attributes");
    for name in ["orders", "orders.fifo"] {
        let mut stored = 0;
        for target in [0, 1_000, 10_000, 100_000] {
            let queue = QueueArn::new(format!("arn:aws:sqs:eu-west-1:111122223333:{target}-{name}"));
            queues.create_queue(&queue, QueueSettings::default()).await?;
            for first in (0..target).step_by(10) {
                send(&queues, &queue, first).await?;
            }
            stored += target;
            measure(&queues, &queue, stored, 0).await?;
        }
    }
    let held = QueueArn::from("arn:aws:sqs:eu-west-1:111122223333:held");
    queues.create_queue(&held, QueueSettings::default()).await?;
    for first in (0..100_000).step_by(10) {
        send(&queues, &held, first).await?;
        queues.receive(&held, 10, Span::ZERO, Some(Span::from_mins(60))).await?;
    }
    measure(&queues, &held, 0, 100_000).await?;
    Ok(())
}

async fn measure(queues: &EmbeddedQueue, queue: &QueueArn, stored: usize, held: usize) -> Result<(), QueueError> {
    let began = Instant::now();
    for first in (0..MEASURED_COUNT).step_by(10) {
        send(queues, queue, first + 1_000_000).await?;
        let received = queues.receive(queue, 10, Span::ZERO, None).await?;
        assert_eq!(received.len(), 10, "all sent messages are received");
        let handles: Vec<String> = received.into_iter().map(|message| message.receipt_handle).collect();
        queues.delete_batch(queue, &handles).await?;
    }
    let rate = MEASURED_COUNT as f64 / began.elapsed().as_secs_f64();
    let began = Instant::now();
    queues.attributes(queue).await?;
    let kind = if queue.is_fifo() { "fifo" } else { "standard" };
    println!("{stored:>10} {held:>10} {kind:>10} {rate:>16.0} {:>9} us", began.elapsed().as_micros());
    Ok(())
}

async fn send(queues: &EmbeddedQueue, queue: &QueueArn, first: usize) -> Result<(), QueueError> {
    let message = |number: usize| Outgoing {
        content: Content {
            body: "x".repeat(BODY_BYTES),
            attributes: [("source".to_owned(), Attribute::text("bench"))].into(),
            message_group_id: queue.is_fifo().then(|| format!("customer-{}", number % 997)),
            trace_header: None,
        },
        deduplication_id: queue.is_fifo().then(|| number.to_string()),
        delay: Span::ZERO,
    };
    let batch: Vec<Outgoing> = (first..first + 10).map(message).collect();
    for sent in queues.send_batch(queue, &batch).await? {
        sent.expect("the queue accepts the messages");
    }
    Ok(())
}
