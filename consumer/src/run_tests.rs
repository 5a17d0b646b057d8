//! Settings of the loop that no queue takes as they are.

use super::*;
use crate::fake::{Fake, config, received};
use crate::{Failure, Handler};
use async_trait::async_trait;
use queue::Received;

struct Nothing;

#[async_trait]
impl Handler for Nothing {
    async fn handle(&self, _: &Received) -> Result<(), Failure> {
        Ok(())
    }
}

/// Runs a consumer until it receives; returns its calls.
async fn calls(change: impl FnOnce(&mut ConsumerConfig)) -> Vec<String> {
    let queue = Arc::new(Fake::new(None));
    let mut config = ConsumerConfig { cancel_receive: true, ..config() };
    change(&mut config);
    let (close, shutdown) = watch::channel(false);
    let running = tokio::spawn(Consumer::new(config, queue.clone(), Arc::new(Nothing)).run(shutdown));
    tokio::time::sleep(Duration::from_secs(1)).await;
    close.send_replace(true);
    running.await.expect("it ends");
    queue.calls()
}

#[tokio::test(start_paused = true)]
async fn a_consumer_without_a_limit_of_concurrency_receives() {
    assert_eq!(calls(|config| config.concurrency = usize::MAX).await, ["receives for 20 s"]);
}

#[tokio::test(start_paused = true)]
async fn a_receive_waits_for_as_long_as_sqs_allows() {
    for (wait_s, expected) in
        [(60, "receives for 20 s"), (20, "receives for 20 s"), (3, "receives for 3 s"), (-1, "receives for 0 s")]
    {
        assert_eq!(calls(|config| config.wait = Span::from_secs(wait_s)).await, [expected], "{wait_s}");
    }
}

#[tokio::test(start_paused = true)]
async fn known_attributes_stay_in_use_where_they_cannot_be_read() {
    let queue = Arc::new(Fake::new(None));
    let consumer = Consumer::new(config(), queue.clone(), Arc::new(Nothing));
    let handle = async || consumer.handle_batch(vec![received("m-1", 1)]).await;
    queue.deny("orders");
    assert!(handle().await.is_err(), "unknown");
    queue.allow_all();
    assert!(handle().await.is_ok());
    queue.deny("orders");
    assert!(handle().await.is_ok(), "known");
    tokio::time::advance(ATTRIBUTES_AGE_MAX).await;
    assert!(handle().await.is_ok(), "old, and not read anew");
    tokio::time::advance(ATTRIBUTES_AGE_MAX).await;
    queue.hang_attributes();
    let began = Instant::now();
    assert!(handle().await.is_ok(), "old, and no answer");
    assert_eq!(began.elapsed(), REREAD_MAX);
}
