//! A queue that never answers holds nothing up.

use super::*;
use crate::{Consumer, ConsumerConfig, Failure, Handler};
use std::future::pending;
use tokio::sync::watch;
use tokio::time::Instant;

/// A connection that takes everything and answers nothing.
struct Silent;

#[async_trait]
impl Queue for Silent {
    async fn receive(&self, _: &QueueArn, _: usize, _: Span, _: Option<Span>) -> Result<Vec<Received>, QueueError> {
        pending().await
    }

    async fn send_batch(
        &self,
        _: &QueueArn,
        _: &[Outgoing],
    ) -> Result<Vec<Result<MessageId, EntryFailure>>, QueueError> {
        pending().await
    }

    async fn delete_batch(&self, _: &QueueArn, _: &[String]) -> Result<Vec<Result<(), EntryFailure>>, QueueError> {
        pending().await
    }

    async fn change_visibility(&self, _: &QueueArn, _: &str, _: Span) -> Result<(), QueueError> {
        pending().await
    }

    async fn attributes(&self, _: &QueueArn) -> Result<QueueAttributes, QueueError> {
        pending().await
    }
}

struct Nothing;

#[async_trait]
impl Handler for Nothing {
    async fn handle(&self, _: &Received) -> Result<(), Failure> {
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_queue_is_an_error_and_the_wait_of_a_receive_is_added() {
    let (began, queue, arn) = (Instant::now(), Timely(Arc::new(Silent)), QueueArn::from("orders"));
    let error = queue.receive(&arn, 10, Span::from_secs(20), None).await.unwrap_err();
    assert!(matches!(error, QueueError::Unanswered { .. }));
    assert_eq!(began.elapsed(), ANSWER_MAX + Duration::from_secs(20));
    assert!(matches!(queue.attributes(&arn).await, Err(QueueError::Unanswered { .. })));
    let began = Instant::now();
    assert!(matches!(queue.delete_batch(&arn, &[]).await, Err(QueueError::Unanswered { .. })));
    assert!(matches!(queue.change_visibility(&arn, "", Span::ZERO).await, Err(QueueError::Unanswered { .. })));
    assert_eq!(began.elapsed(), 2 * SHORT_MAX);
}

#[tokio::test(start_paused = true)]
async fn a_consumer_of_a_silent_queue_ends_when_it_is_asked_to() {
    let config = ConsumerConfig::new("orders".into(), "orders", || "7".into());
    let consumer = Consumer::new(config, Arc::new(Silent), Arc::new(Nothing));
    let (close, shutdown) = watch::channel(false);
    let running = tokio::spawn(consumer.run(shutdown));
    tokio::time::sleep(Duration::from_secs(5)).await;
    let asked = Instant::now();
    close.send_replace(true);
    running.await.expect("it ends");
    assert!(asked.elapsed() <= ANSWER_MAX + Duration::from_secs(20), "{:?}", asked.elapsed());
}
