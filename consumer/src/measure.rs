//! What a consumer counts, through the facade [`metrics`] (feature `metrics`).
//!
//! The facade and not OpenTelemetry: without a recorder it costs one atomic load, it adds three small crates, and its
//! recorders reach Prometheus, CloudWatch and OpenTelemetry itself. Labels come from small fixed sets.
//!
//! | name | kind | labels | meaning |
//! |---|---|---|---|
//! | `consumer_messages_total` | counter | `consumer`, `outcome` | settled messages: `handled`, `retried`, `dead-lettered`, `unsettled`, `released` |
//! | `consumer_dead_letters_total` | counter | `consumer`, `reason` | dead letters, by [`Reason`](crate::Reason) |
//! | `consumer_handler_seconds` | histogram | `consumer` | how long a handler ran |
//! | `consumer_concurrency_limit` | gauge | `consumer` | how many messages may be handled at once |
//! | `dependency_requests` | gauge | `dependency` | requests of the budget's window, without retries |
//! | `dependency_retry_share` | gauge | `dependency` | retries for each request of the window |
//! | `dependency_budget_left` | gauge | `dependency` | retries that the window still allows |
//! | `dependency_circuit` | gauge | `dependency` | 0 closed, 1 half-open, 2 open |

use crate::breaker::CircuitState;
use crate::budget::BudgetUsage;
use crate::config::Outcome;
use domain::time::Span;

const MESSAGES: &str = "consumer_messages_total";
const DEAD_LETTERS: &str = "consumer_dead_letters_total";
const HANDLER_SECONDS: &str = "consumer_handler_seconds";
const CONCURRENCY: &str = "consumer_concurrency_limit";

/// Counts a settled message.
pub(crate) fn settled(consumer: &str, outcome: &Outcome, concurrency: usize) {
    let consumer = consumer.to_owned();
    metrics::counter!(MESSAGES, "consumer" => consumer.clone(), "outcome" => outcome.name()).increment(1);
    if let Outcome::DeadLettered { reason, .. } = outcome {
        metrics::counter!(DEAD_LETTERS, "consumer" => consumer.clone(), "reason" => reason.name()).increment(1);
    }
    metrics::gauge!(CONCURRENCY, "consumer" => consumer).set(concurrency as f64);
}

/// Records how long a handler ran.
pub(crate) fn handled(consumer: &str, took: Span) {
    metrics::histogram!(HANDLER_SECONDS, "consumer" => consumer.to_owned()).record(took.as_ms() as f64 / 1_000.0);
}

/// Records a dependency's circuit and budget.
pub(crate) fn dependency(name: &str, state: CircuitState, usage: &BudgetUsage) {
    let name = name.to_owned();
    let circuit = match state {
        CircuitState::Closed => 0.0,
        CircuitState::HalfOpen => 1.0,
        CircuitState::Open => 2.0,
    };
    metrics::gauge!("dependency_requests", "dependency" => name.clone()).set(usage.requests as f64);
    let share = usage.retries as f64 / usage.requests.max(1) as f64;
    metrics::gauge!("dependency_retry_share", "dependency" => name.clone()).set(share);
    metrics::gauge!("dependency_budget_left", "dependency" => name.clone()).set(usage.retries_left as f64);
    metrics::gauge!("dependency_circuit", "dependency" => name).set(circuit);
}
