//! Consumers on AWS Lambda (feature `lambda`): the event of an event source mapping in, its answer out.

use crate::run::Consumer;
use queue::QueueError;
pub use queue::batch::{Answer, Batch};
use std::time::SystemTime;

impl Consumer {
    /// Handles the event of an event source mapping, as [`Consumer::handle_batch_until`] does its messages. The mapping must
    /// have the function response type `ReportBatchItemFailures`; without it, Lambda deletes messages that failed.
    ///
    /// `deadline` is when Lambda ends the invocation. The answer comes before it, with what could not be finished among the
    /// failures; without an answer in time, the whole batch would be handled again, also what was done.
    ///
    /// ```no_run
    /// use consumer::Consumer;
    /// use consumer::lambda::Batch;
    /// use lambda_runtime::{Error, LambdaEvent, run, service_fn};
    ///
    /// async fn serve(consumer: Consumer) -> Result<(), Error> {
    ///     let answer = async |event: LambdaEvent<Batch>| {
    ///         let deadline = event.context.deadline();
    ///         Ok::<_, Error>(consumer.handle_event(event.payload, deadline).await?)
    ///     };
    ///     run(service_fn(answer)).await
    /// }
    /// ```
    pub async fn handle_event(&self, event: Batch, deadline: SystemTime) -> Result<Answer, QueueError> {
        self.handle_batch_until(event.received(), deadline).await.map(Answer::failing)
    }
}
