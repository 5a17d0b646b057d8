//! Dead-letter queues: which ones a strategy has, what they take, and what is wrong with them.

use crate::call::chain;
use crate::config::ConsumerConfig;
use crate::problem::Problem;
use crate::strategy::Strategy;
use domain::id::QueueArn;
use domain::limits::MESSAGE_BYTES_MAX;
use queue::{Queue, QueueAttributes, QueueError};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Returns the queues for dead letters of a strategy: its own first, then the one of the redrive policy. Never the main
/// queue: its dead letters would be new messages, which fail again at once, without end.
pub(crate) fn queues<'a>(
    main: &QueueArn,
    strategy: &'a Strategy,
    attributes: &'a QueueAttributes,
) -> Vec<&'a QueueArn> {
    let redrive = attributes.redrive.as_ref().map(|redrive| &redrive.dlq);
    let mut queues: Vec<_> = strategy.dlq.iter().chain(redrive).filter(|dlq| *dlq != main).collect();
    queues.dedup();
    queues
}

/// What is known of the dead-letter queues.
#[derive(Default)]
pub(crate) struct DeadLetterQueues {
    /// The largest message that each takes, bytes.
    bytes_max: Mutex<BTreeMap<QueueArn, usize>>,
    looked_at: Mutex<Option<Instant>>,
}

impl DeadLetterQueues {
    /// Looks at every dead-letter queue of a consumer; returns what is wrong with them.
    pub(crate) async fn look(
        &self,
        queue: &dyn Queue,
        config: &ConsumerConfig,
        main: &QueueAttributes,
    ) -> Vec<Problem> {
        let all = || config.strategies.all();
        let mut queues: Vec<&QueueArn> = all().flat_map(|strategy| queues(&config.queue, strategy, main)).collect();
        queues.sort_unstable();
        queues.dedup();
        let mut problems = Vec::new();
        if all().any(|strategy| strategy.dlq.is_none()) && main.redrive.is_none() {
            problems.push(Problem::NoDeadLetterQueue { queue: config.queue.clone() });
        }
        if all().any(|strategy| strategy.dlq.as_ref() == Some(&config.queue)) {
            problems.push(Problem::MainQueue { queue: config.queue.clone() });
        }
        for dlq in queues {
            match queue.attributes(dlq).await {
                Ok(found) if found.fifo != main.fifo => problems.push(Problem::OtherType { queue: dlq.clone() }),
                Ok(found) => self.learn(dlq, found.message_bytes_max),
                Err(QueueError::Missing { .. }) => problems.push(Problem::MissingQueue { queue: dlq.clone() }),
                // It may exist, and nothing else depends on the answer: a copy that is too large is sent again smaller.
                Err(error) => {
                    tracing::warn!(queue = %dlq, error = chain(&error), "the dead-letter queue's largest message is not known");
                }
            }
        }
        problems
    }

    /// Whether nobody has looked at them for so long. The caller does so now.
    pub(crate) fn is_due(&self, age_max: Duration) -> bool {
        let mut looked_at = self.looked_at.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = looked_at.is_none_or(|at| at.elapsed() >= age_max);
        if is_due {
            *looked_at = Some(Instant::now());
        }
        is_due
    }

    fn learn(&self, dlq: &QueueArn, bytes_max: usize) {
        self.bytes_max.lock().unwrap_or_else(PoisonError::into_inner).insert(dlq.clone(), bytes_max);
    }

    pub(crate) fn bytes_max(&self, dlq: &QueueArn) -> usize {
        let known = self.bytes_max.lock().unwrap_or_else(PoisonError::into_inner).get(dlq).copied();
        known.unwrap_or(MESSAGE_BYTES_MAX)
    }
}

/// Whether a dead letter was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    Yes,
    /// A queue did not answer, so it may have taken the copy: no other one is asked.
    NotNow,
    /// The queue is missing, or this consumer may not send to it.
    Closed,
    /// No queue takes it, whatever the stamp.
    Never,
}
