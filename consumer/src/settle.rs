//! Carries out the decision: dead-letter, retry or delete.
//!
//! Calls to a failing queue are repeated within limits. If they all fail, the message returns when its visibility
//! timeout ends.

use crate::attempts::{ATTEMPTS_KEPT, Attempt, LogError, is_poison};
use crate::budget::Budget;
use crate::call::chain;
use crate::case::{Case, since};
use crate::concurrency::Aimd;
use crate::config::{ConsumerConfig, Outcome};
use crate::decide::{Decision, Failed, Reason, decide, is_last};
use crate::delete::Delete;
use crate::dlqs::{self, DeadLetterQueues, Sent};
use crate::failure::Failure;
use crate::heartbeat::Heartbeat;
use crate::notice::Notices;
use crate::receipt::{self, Said};
use crate::stamp::{Copies, Stamping};
use crate::stop::Stop;
use crate::strategy::Strategy;
use domain::impact::Severity;
use domain::reading::{self, Class, Classification};
use domain::replay::Receipt;
use domain::time::{Span, Timestamp};
use queue::{Queue, QueueAttributes, Received};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// The confidence of a rule of the policy file, which decides before the handler's own class.
const RULE_PCT: u8 = 100;
/// How long a message waits for the log of attempts, each time that it is asked.
const LOG_MAX: Duration = Duration::from_secs(1);
/// How much of a failure's message is logged. The stamp has the rest.
const LOGGED_BYTES_MAX: usize = 500;

/// Settles messages of one queue.
pub(crate) struct Settler {
    pub config: Arc<ConsumerConfig>,
    pub queue: Arc<dyn Queue>,
    pub deletes: mpsc::Sender<Delete>,
    pub said: mpsc::Sender<Said>,
    pub load: Arc<Load>,
}

/// What the messages of a consumer share.
pub(crate) struct Load {
    pub limit: Option<Mutex<Aimd>>,
    pub budget: Option<Mutex<Budget>>,
    pub notices: Notices,
    pub dlqs: DeadLetterQueues,
    pub heartbeat: Heartbeat,
    /// Those of the main queue, and when they were read.
    pub attributes: Mutex<Option<(QueueAttributes, Instant)>>,
}

impl Load {
    pub(crate) fn new(config: &ConsumerConfig, queue: Arc<dyn Queue>) -> Self {
        let limit = config.adaptive.map(|policy| Mutex::new(Aimd::new(policy, config.concurrency)));
        let budget = config.retry_budget.map(|policy| Mutex::new(Budget::new(policy)));
        // A connection that a blocked runtime drives would hang.
        let heartbeat = Heartbeat::new(config.queue.clone(), queue.separate().unwrap_or(queue));
        let (notices, dlqs) = (Notices::default(), DeadLetterQueues::default());
        Self { limit, budget, notices, dlqs, heartbeat, attributes: Mutex::default() }
    }

    /// Returns how many messages may be handled at once.
    pub(crate) fn concurrency(&self, config: &ConsumerConfig) -> usize {
        let adapted = self.limit.as_ref().map(|limit| locked(limit).current());
        adapted.unwrap_or(config.concurrency.max(1))
    }

    fn learn(&self, class: Option<Class>) {
        let Some(limit) = &self.limit else { return };
        match class {
            None | Some(Class::Permanent) => locked(limit).succeeded(),
            Some(Class::Transient) => locked(limit).overloaded(),
            Some(Class::Unknown) => {}
        }
    }
}

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Settler {
    /// Counts a message for the retry budget, unless it was received before.
    pub(crate) fn begin(&self, case: &Case) {
        if let Some(budget) = self.load.budget.as_ref().filter(|_| case.receive_count() <= 1) {
            locked(budget).deposit((self.config.now)());
        }
    }

    pub(crate) async fn succeeded(&self, case: &Case, message_type: Option<&str>) {
        self.load.learn(None);
        self.notice(message_type);
        self.delete(&case.received, receipt::for_case(&self.config, case, message_type)).await;
        if case.receive_count() > 1 {
            self.forget(&case.received).await;
        }
        self.tell(case, &Outcome::Handled);
    }

    /// Whether a message that fails now is not received again.
    pub(crate) fn is_last(&self, case: &Case, strategy: &Strategy, attributes: &QueueAttributes) -> bool {
        let untried = Failure::transient("consumer::NoTimeLeft", "");
        is_last(&facts(case, &untried, attributes, (self.config.now)()), strategy)
    }

    /// Makes a message visible at once that was not handled to the end, because of a shutdown or for want of time.
    pub(crate) async fn released(&self, case: &Case) {
        let received = &case.received;
        if let Err(error) = self.queue.change_visibility(&self.config.queue, &received.receipt_handle, Span::ZERO).await
        {
            tracing::warn!(queue = %self.config.queue, message_id = %received.message_id, error = chain(&error), "releasing the message failed");
        }
        self.tell(case, &Outcome::Released);
    }

    pub(crate) async fn failed(&self, case: &Case, failed: FailedCase<'_>, attributes: &QueueAttributes) {
        let FailedCase { mut failure, strategy, message_type, attempt, expired, called } = failed;
        let config = &self.config;
        let found = self.classify(&mut failure);
        // Nobody called anything for a message that was not handled.
        if called {
            self.load.learn(Some(failure.class));
        }
        self.notice(message_type);
        let failed_at = (config.now)();
        let mut history = self.history(&case.received).await;
        history.push(Attempt::new(&failure, failed_at, &config.instance.instance));
        let dlqs = dlqs::queues(&config.queue, strategy, attributes);
        let mut facts = facts(case, &failure, attributes, failed_at);
        facts.room = !dlqs.is_empty();
        facts.expired = expired;
        facts.poison = is_poison(&history);
        let entropy = config.random();
        let mut decision = decide(&facts, strategy, entropy);
        if matches!(decision, Decision::Retry(_)) && !self.may_retry() {
            facts.budget_exhausted = true;
            decision = decide(&facts, strategy, entropy);
        }
        // It fails for reasons of the dependency, so a later try may work, whatever the error says.
        let is_held_back = matches!(decision, Decision::DeadLetter(Reason::BudgetExhausted | Reason::CircuitOpen));
        if is_held_back && failure.class == Class::Unknown {
            failure.class = Class::Transient;
        }
        let outcome = match decision {
            Decision::Retry(after) => self.retry(case, after, failure, history.pop()).await,
            Decision::DeadLetter(reason) => {
                let stamping = Stamping {
                    case,
                    failure: &failure,
                    message_type: message_type.map(String::from),
                    severity: strategy.severity,
                    failed_at,
                    attempt,
                    category: Some(found.category),
                    classified_by: Some(found.reason.clone()),
                    history: &history,
                    reason,
                };
                match self.dead_letter(&Copies::new(config, &stamping), &dlqs, facts.receives_max.is_some()).await {
                    Sent::Yes => Outcome::DeadLettered { failure, reason },
                    Sent::NotNow | Sent::Closed => Outcome::Unsettled { failure },
                    Sent::Never => {
                        facts.room = false;
                        let Decision::Retry(after) = decide(&facts, strategy, entropy) else { return };
                        self.retry(case, after, failure, history.pop()).await
                    }
                }
            }
        };
        self.report(case, facts.class, strategy.severity, &outcome);
    }

    /// Sets the class by the office's own reader: a rule of the policy decides before the handler, the handler before
    /// the reader's tables. The reader's guesses decide nothing.
    fn classify(&self, failure: &mut Failure) -> Classification {
        let read = reading::Failure {
            error_type: Some(failure.error_type.clone()),
            message: Some(failure.message.clone()),
            stack: failure.stack(),
            stated_class: Some(failure.class),
        };
        let found = domain::read::classify_failure(&read, None, &self.config.policy).classification;
        if failure.class == Class::Unknown || found.confidence.as_pct() >= RULE_PCT {
            failure.class = found.firm_class();
        }
        found
    }

    /// Tells the office what it does not know yet, if there is room to.
    fn notice(&self, message_type: Option<&str>) {
        let send = |notice| self.said.try_send(Said::Notice(notice)).is_ok();
        self.load.notices.tell(&self.config, message_type, send);
    }

    /// Takes a token of the retry budget, if there is one.
    fn may_retry(&self) -> bool {
        self.load.budget.as_ref().is_none_or(|budget| locked(budget).withdraw((self.config.now)()))
    }

    fn report(&self, case: &Case, class: Class, severity: Severity, outcome: &Outcome) {
        let failure = outcome.failure();
        tracing::info!(
            queue = %self.config.queue,
            message_id = %case.received.message_id,
            receive_count = case.receive_count(),
            ?class,
            ?severity,
            outcome = outcome.name(),
            after_ms = outcome.after().map(Span::as_ms),
            reason = outcome.reason().map(tracing::field::debug),
            error_type = failure.map(|failure| failure.error_type.as_str()),
            error = failure.map(|failure| domain::text::head(&failure.message, LOGGED_BYTES_MAX)),
            "message failed"
        );
        #[cfg(feature = "metrics")]
        if let Outcome::DeadLettered { reason, .. } = outcome {
            crate::measure::dead_lettered(&self.config.consumer, *reason, severity);
        }
        self.tell(case, outcome);
    }

    fn tell(&self, case: &Case, outcome: &Outcome) {
        #[cfg(feature = "metrics")]
        crate::measure::settled(&self.config.consumer, outcome.name(), self.load.concurrency(&self.config));
        (self.config.on_outcome)(&case.received, outcome);
    }

    async fn retry(&self, case: &Case, after: Span, failure: Failure, attempt: Option<Attempt>) -> Outcome {
        let received = &case.received;
        if let Some(attempt) = attempt {
            let attempt = Attempt { delay: Some(after), ..attempt };
            let appended = in_time(self.config.attempt_log.append(&received.message_id, attempt)).await;
            warn_unless(received, appended);
        }
        // A single attempt: if it fails, the visibility timeout makes the message visible too.
        match self.queue.change_visibility(&self.config.queue, &received.receipt_handle, after).await {
            Ok(()) => Outcome::Retried { failure, after },
            Err(error) => {
                tracing::warn!(queue = %self.config.queue, message_id = %received.message_id, error = chain(&error), "changing the visibility failed");
                Outcome::Unsettled { failure }
            }
        }
    }

    async fn history(&self, received: &Received) -> Vec<Attempt> {
        let loaded = in_time(self.config.attempt_log.load(&received.message_id)).await;
        let mut history = warn_unless(received, loaded).unwrap_or_default();
        history.truncate(ATTEMPTS_KEPT);
        history
    }

    pub(crate) async fn forget(&self, received: &Received) {
        warn_unless(received, in_time(self.config.attempt_log.forget(&received.message_id)).await);
    }

    pub(crate) async fn delete(&self, received: &Received, receipt: Option<Receipt>) {
        // The receiver is gone only after a shutdown, on a queue that takes no deletes: the message is received again.
        let (id, handle) = (received.message_id.clone(), received.receipt_handle.clone());
        let _ = self.deletes.send(Delete { id, handle, receipt }).await;
    }
}

/// Calls the log of attempts, which is best effort: a message does not wait for one that is slow.
async fn in_time<T>(call: impl Future<Output = Result<T, LogError>>) -> Result<T, LogError> {
    let late = |_| Err(LogError::new(format!("no answer within {} ms", LOG_MAX.as_millis())));
    tokio::time::timeout(LOG_MAX, call).await.unwrap_or_else(late)
}

fn warn_unless<T>(received: &Received, answer: Result<T, LogError>) -> Option<T> {
    let warn = |error: &LogError| tracing::warn!(message_id = %received.message_id, cause = ?std::error::Error::source(error), "{error}");
    answer.inspect_err(warn).ok()
}

/// A failure of a handler, or of a message that was not handled.
pub(crate) struct FailedCase<'a> {
    pub failure: Failure,
    pub strategy: &'a Strategy,
    pub message_type: Option<&'a str>,
    /// How long the handler ran.
    pub attempt: Span,
    pub expired: bool,
    /// Whether the handler was called.
    pub called: bool,
}

fn facts(case: &Case, failure: &Failure, attributes: &QueueAttributes, now: Timestamp) -> Failed {
    let timeout = attributes.visibility_timeout.as_ms();
    Failed {
        class: failure.class,
        receive_count: case.receive_count(),
        receives_max: attributes.redrive.as_ref().map(|redrive| redrive.receives_max),
        visibility_left: Span::from_ms(timeout.saturating_sub(since(case.invisible_since).as_ms())),
        held_for: since(case.received_at),
        // Less what one more try takes.
        time_left: case
            .age(attributes.retention, now)
            .map(|age| attributes.retention.plus(age.times(-1)).plus(attributes.visibility_timeout.times(-1))),
        room: true,
        replayed: case.is_replayed(),
        expired: false,
        poison: false,
        circuit_open: failure.context.stop == Some(Stop::CircuitOpen),
        budget_exhausted: failure.context.stop == Some(Stop::BudgetExhausted),
        retry_after: failure.context.retry_after,
    }
}
