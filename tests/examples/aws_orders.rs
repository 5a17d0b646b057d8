//! Places orders on the demo service's queue at the endpoint that `AWS_ENDPOINT_URL` names: 100 of the usual mix,
//! or the count and kind of the arguments. `cargo aws demo` calls it for the stack of `cargo aws up`.
//!
//! `cargo run -p dlo-tests --example aws_orders -- arn:aws:sqs:us-east-1:000000000000:orders 100 gift-card`

use domain::id::QueueArn;
use domain::time::Timestamp;
use lambda::connect;
use lambda::queue::SqsQueue;
use local::orders::{Kind, function};
use queue::Queue;
use std::time::{Instant, SystemTime};

/// The default count.
const COUNT: u64 = 100;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let main = QueueArn::new(args.first().ok_or("the first argument must be the ARN of the main queue")?);
    let count = args.get(1).map_or(Ok(COUNT), |count| count.parse())?;
    let kind = args.get(2).map(|kind| kind_of(kind)).transpose()?;
    let queue = SqsQueue::new(&connect::from_env().await);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.as_millis();
    let started = Instant::now();
    function::place(&queue, &main, count, kind, Timestamp::from_ms(i64::try_from(now)?)).await?;
    println!("{count} orders placed in {:.2} s", started.elapsed().as_secs_f64());
    let waiting = queue.attributes(&main).await?;
    println!("{} waiting, {} in flight", waiting.visible_count, waiting.in_flight_count);
    Ok(())
}

fn kind_of(word: &str) -> Result<Kind, String> {
    serde_json::from_value(word.replace('-', "_").into()).map_err(|_| format!("unknown kind of orders: {word:?}"))
}
