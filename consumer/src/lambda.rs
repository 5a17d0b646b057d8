//! Consumers on AWS Lambda (feature `lambda`): the event of an event source mapping in, its answer out.

use crate::run::Consumer;
use queue::QueueError;
pub use queue::batch::{Answer, Batch};

impl Consumer {
    /// Handles the event of an event source mapping, as [`Consumer::handle_batch`] does its messages. The mapping must
    /// have the function response type `ReportBatchItemFailures`; without it, Lambda deletes messages that failed.
    ///
    /// ```no_run
    /// use consumer::Consumer;
    /// use consumer::lambda::Batch;
    /// use lambda_runtime::{Error, LambdaEvent, run, service_fn};
    ///
    /// async fn serve(consumer: Consumer) -> Result<(), Error> {
    ///     let answer = async |event: LambdaEvent<Batch>| Ok::<_, Error>(consumer.handle_event(event.payload).await?);
    ///     run(service_fn(answer)).await
    /// }
    /// ```
    pub async fn handle_event(&self, event: Batch) -> Result<Answer, QueueError> {
        self.handle_batch(event.received()).await.map(Answer::failing)
    }
}
