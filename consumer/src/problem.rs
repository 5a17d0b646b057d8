//! What is wrong with a consumer before its first message fails.

use domain::id::QueueArn;

/// A mistake in a consumer's queues or strategies that would show at its first dead letter otherwise.
///
/// ```no_run
/// use consumer::{Consumer, Problem};
///
/// async fn start(consumer: Consumer) -> Result<Consumer, Box<dyn std::error::Error>> {
///     match consumer.check().await?.into_iter().find(|problem| !matches!(problem, Problem::NoDeadLetterQueue { .. })) {
///         Some(problem) => Err(problem.into()),
///         None => Ok(consumer),
///     }
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// A dead-letter queue does not exist.
    #[error(
        "the dead-letter queue {queue} does not exist, so messages that fail for good come back until SQS moves or deletes \
         them: create it, or name another one in the redrive policy or the strategy"
    )]
    MissingQueue {
        /// The queue.
        queue: QueueArn,
    },
    /// A dead-letter queue is FIFO and the main queue is not, or the other way round.
    #[error(
        "the dead-letter queue {queue} is not of the main queue's type, FIFO or standard, so it takes none of its messages: \
         name one that is"
    )]
    OtherType {
        /// The queue.
        queue: QueueArn,
    },
    /// Neither the redrive policy nor a strategy names a dead-letter queue.
    #[error(
        "messages of {queue} have no dead-letter queue, so one that fails for good comes back until SQS deletes it: give the \
         queue a redrive policy, or its strategies a dead-letter queue"
    )]
    NoDeadLetterQueue {
        /// The main queue.
        queue: QueueArn,
    },
    /// A strategy sends dead letters to the main queue.
    #[error(
        "a strategy names the main queue {queue} as its dead-letter queue, which is passed over, because its messages would \
         fail again without end: name another one"
    )]
    MainQueue {
        /// The main queue.
        queue: QueueArn,
    },
    /// A strategy is for no message.
    #[error(
        "the strategy for {message_type:?} is for no message: name a message type exactly, once, or make it the default of \
         `Strategies::new`"
    )]
    UnusedStrategy {
        /// The message type that it was given for.
        message_type: String,
    },
}
