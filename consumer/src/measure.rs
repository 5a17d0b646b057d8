//! What a consumer counts, through the facade [`metrics`] (feature `metrics`).
//!
//! The facade and not OpenTelemetry: without a recorder it costs one atomic load, it adds three small crates, and its
//! recorders reach Prometheus, CloudWatch and OpenTelemetry itself. Labels come from small fixed sets.
//!
//! | name | kind | labels | meaning |
//! |---|---|---|---|
//! | `consumer_messages_total` | counter | `consumer`, `outcome` | settled messages: `handled`, `retried`, `dead-lettered`, `unsettled`, `released` |
//! | `consumer_dead_letters_total` | counter | `consumer`, `reason`, `severity` | dead letters, by [`Reason`](crate::Reason) and by the severity of their type's [`Strategy`](crate::strategy::Strategy) |
//! | `consumer_handler_seconds` | histogram | `consumer` | how long a handler ran |
//! | `consumer_concurrency_limit` | gauge | `consumer` | how many messages may be handled at once |
//! | `dependency_requests` | gauge | `dependency` | first attempts in the budget's window |
//! | `dependency_retry_share` | gauge | `dependency` | retries for each request of the window |
//! | `dependency_budget_left` | gauge | `dependency` | retries that the window still allows |
//! | `dependency_circuit` | gauge | `dependency` | 0 closed, 1 half-open, 2 open |
//!
//! There is nothing to call. Install a recorder before the consumer starts:
//!
//! ```
//! fn start(recorder: impl metrics::Recorder + Sync + 'static) {
//!     if metrics::set_global_recorder(recorder).is_err() {
//!         eprintln!("this process has a recorder of metrics already");
//!     }
//! }
//! ```

use crate::breaker::CircuitState;
use crate::budget::BudgetUsage;
use crate::decide::Reason;
use domain::impact::Severity;
use domain::time::Span;

const MESSAGES: &str = "consumer_messages_total";
const DEAD_LETTERS: &str = "consumer_dead_letters_total";
const HANDLER_SECONDS: &str = "consumer_handler_seconds";
const CONCURRENCY: &str = "consumer_concurrency_limit";

/// Counts a settled message by the name of its outcome.
pub(crate) fn settled(consumer: &str, outcome: &'static str, concurrency: usize) {
    let consumer = consumer.to_owned();
    metrics::counter!(MESSAGES, "consumer" => consumer.clone(), "outcome" => outcome).increment(1);
    metrics::gauge!(CONCURRENCY, "consumer" => consumer).set(concurrency as f64);
}

/// Counts a dead letter by its reason and severity.
pub(crate) fn dead_lettered(consumer: &str, reason: Reason, severity: Severity) {
    let severity = match severity {
        Severity::Info => "info",
        Severity::Warning => "warning",
        Severity::Critical => "critical",
    };
    let labels = [("consumer", consumer.to_owned()), ("reason", reason.name().into()), ("severity", severity.into())];
    metrics::counter!(DEAD_LETTERS, &labels).increment(1);
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

#[cfg(test)]
mod tests {
    use super::*;
    use metrics::{
        Counter, CounterFn, Gauge, GaugeFn, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit,
    };
    use std::sync::{Arc, Mutex};

    /// Writes down what is recorded, one line each.
    #[derive(Clone, Default)]
    struct Noting(Arc<Mutex<Vec<String>>>);

    struct Line(Noting, String);

    impl Line {
        fn for_key(noting: &Noting, key: &Key) -> Arc<Self> {
            let labels = key.labels().map(|label| format!("{}={}", label.key(), label.value()));
            Arc::new(Self(noting.clone(), format!("{} {}", key.name(), labels.collect::<Vec<_>>().join(" "))))
        }

        fn note(&self, value: f64) {
            self.0.0.lock().unwrap().push(format!("{} {value}", self.1));
        }
    }

    impl CounterFn for Line {
        fn increment(&self, value: u64) {
            self.note(value as f64);
        }

        fn absolute(&self, value: u64) {
            self.note(value as f64);
        }
    }

    impl GaugeFn for Line {
        fn increment(&self, value: f64) {
            self.note(value);
        }

        fn decrement(&self, value: f64) {
            self.note(-value);
        }

        fn set(&self, value: f64) {
            self.note(value);
        }
    }

    impl Recorder for Noting {
        fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
        fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
        fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

        fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
            Counter::from_arc(Line::for_key(self, key))
        }

        fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
            Gauge::from_arc(Line::for_key(self, key))
        }

        fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
            Histogram::noop()
        }
    }

    #[test]
    fn names_and_labels_are_those_of_the_table() {
        let noting = Noting::default();
        metrics::with_local_recorder(&noting, || {
            settled("orders", "dead-lettered", 4);
            dead_lettered("orders", Reason::BudgetExhausted, Severity::Critical);
            let usage = BudgetUsage { requests: 40, retries: 4, retries_left: 0 };
            dependency("payments", CircuitState::Open, &usage);
        });
        assert_eq!(
            *noting.0.lock().unwrap(),
            [
                "consumer_messages_total consumer=orders outcome=dead-lettered 1",
                "consumer_concurrency_limit consumer=orders 4",
                "consumer_dead_letters_total consumer=orders reason=budget_exhausted severity=critical 1",
                "dependency_requests dependency=payments 40",
                "dependency_retry_share dependency=payments 0.1",
                "dependency_budget_left dependency=payments 0",
                "dependency_circuit dependency=payments 2",
            ]
        );
    }
}
