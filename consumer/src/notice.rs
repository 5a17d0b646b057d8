//! Notices: tell the office the states of the circuits, and which messages may be handled twice.
//!
//! They go where receipts go, and like them they never delay or fail a message. A notice that is lost is repeated.

use crate::breaker::CircuitState;
use crate::config::ConsumerConfig;
use domain::notice::{CIRCUITS_MAX, CircuitNotice, NOTICE_TYPES_MAX, NOTICE_VERSION, Notice};
use domain::time::{Span, Timestamp};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// How often a circuit that was named is named again, in case the notice was lost.
const CIRCUIT_REPEATED_EVERY: Span = Span::from_mins(10);
/// How often it is repeated that messages of a type may be handled twice.
const TYPE_REPEATED_EVERY: Span = Span::from_mins(60);
/// The shortest time between two notices of one circuit: a circuit that opens and closes all the time sends six a minute.
const CIRCUIT_SENT_AFTER: Span = Span::from_secs(10);

/// What a consumer has told the office.
#[derive(Default)]
pub(crate) struct Notices {
    sent: Mutex<Sent>,
}

#[derive(Clone, Default)]
struct Sent {
    circuits: BTreeMap<String, (CircuitState, Timestamp)>,
    types: BTreeMap<String, Timestamp>,
}

impl Notices {
    /// Passes what is not known yet to `send`, after a message of this type. If `send` returns false, it is passed again
    /// after the next message.
    pub(crate) fn tell(&self, config: &ConsumerConfig, message_type: Option<&str>, send: impl FnOnce(Notice) -> bool) {
        if config.receipts.is_none() {
            return;
        }
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        let mut after = sent.clone();
        let now = (config.now)();
        let circuits = after.circuits(config, now);
        let idempotent = message_type.filter(|name| after.takes_type(config, name, now)).map(String::from);
        if circuits.is_empty() && idempotent.is_none() {
            return;
        }
        let notice = Notice {
            v: NOTICE_VERSION,
            queue: config.queue.clone(),
            consumer: config.consumer.clone(),
            consumer_version: config.running_version(),
            noticed_at: now,
            circuits,
            idempotent: idempotent.into_iter().collect(),
        };
        if send(notice) {
            *sent = after;
        }
    }
}

impl Sent {
    /// Returns the circuits to name. One that was never open is not worth a word.
    fn circuits(&mut self, config: &ConsumerConfig, now: Timestamp) -> Vec<CircuitNotice> {
        let mut found = Vec::new();
        for dependency in config.dependencies.iter().take(CIRCUITS_MAX) {
            let state = dependency.state();
            let is_due = match self.circuits.get(dependency.name()) {
                None => state != CircuitState::Closed,
                Some((sent, at)) if *sent == state => now.since(*at) >= CIRCUIT_REPEATED_EVERY,
                Some((_, at)) => now.since(*at) >= CIRCUIT_SENT_AFTER,
            };
            if is_due {
                self.circuits.insert(dependency.name().into(), (state, now));
                found.push(CircuitNotice { dependency: dependency.name().into(), state });
            }
        }
        found
    }

    fn takes_type(&mut self, config: &ConsumerConfig, message_type: &str, now: Timestamp) -> bool {
        let at = self.types.get(message_type);
        let has_room = at.is_some() || self.types.len() < NOTICE_TYPES_MAX;
        let is_due = has_room && at.is_none_or(|at| now.since(*at) >= TYPE_REPEATED_EVERY);
        let is_sent = is_due && (config.idempotent)(Some(message_type));
        if is_sent {
            self.types.insert(message_type.into(), now);
        }
        is_sent
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::breaker::BreakerPolicy;
    use crate::dependency::Dependency;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicI64, Ordering::SeqCst};

    /// The circuits and the types.
    type Passed = (Vec<CircuitNotice>, Vec<String>);

    struct World {
        clock: Arc<AtomicI64>,
        payments: Dependency,
        config: ConsumerConfig,
        notices: Notices,
    }

    impl World {
        fn new() -> Self {
            let clock = Arc::new(AtomicI64::new(0));
            let (own, theirs) = (clock.clone(), clock.clone());
            let policy = BreakerPolicy { failures_max: 1, ..BreakerPolicy::default() };
            let payments = Dependency::with_clock("payments", move || Timestamp::from_ms(own.load(SeqCst)));
            let payments = payments.with_breaker(policy);
            let config = ConsumerConfig {
                receipts: Some("receipts".into()),
                dependencies: vec![payments.clone(), Dependency::new("mail")],
                idempotent: |message_type| message_type == Some("order"),
                now: Arc::new(move || Timestamp::from_ms(theirs.load(SeqCst))),
                ..ConsumerConfig::new("orders".into(), "orders", || "v1".into())
            };
            Self { clock, payments, config, notices: Notices::default() }
        }

        /// What is sent after a message of this type, `s` seconds later.
        fn sent(&self, s: i64, message_type: &str) -> Option<Passed> {
            self.clock.fetch_add(s * 1_000, SeqCst);
            let mut sent = None;
            self.notices.tell(&self.config, Some(message_type), |notice| {
                assert_eq!(Notice::parse(&notice.print()), Some(notice.clone()));
                sent = Some((notice.circuits, notice.idempotent));
                true
            });
            sent
        }
    }

    #[test]
    fn a_circuit_is_named_when_it_changes_and_repeated() {
        let world = World::new();
        let is = |state| Some((vec![CircuitNotice { dependency: "payments".into(), state }], vec![]));
        assert_eq!(world.sent(0, "mail"), None, "it was never open");
        world.payments.begin().unwrap().finish(false);
        assert_eq!(world.sent(0, "mail"), is(CircuitState::Open));
        assert_eq!(world.sent(9, "mail"), None);
        assert_eq!(world.sent(21, "mail"), is(CircuitState::HalfOpen));
        world.payments.begin().unwrap().finish(true);
        assert_eq!(world.sent(9, "mail"), None, "not twice within 10 s");
        assert_eq!(world.sent(1, "mail"), is(CircuitState::Closed));
        assert_eq!(world.sent(599, "mail"), None);
        assert_eq!(world.sent(1, "mail"), is(CircuitState::Closed));
    }

    #[test]
    fn a_type_that_may_be_handled_twice_is_named_once_an_hour() {
        let world = World::new();
        let sent = Some((vec![], vec!["order".to_owned()]));
        assert_eq!(world.sent(0, "refund"), None, "it does harm");
        assert_eq!(world.sent(0, "order"), sent);
        assert_eq!(world.sent(3_599, "order"), None);
        assert_eq!(world.sent(1, "order"), sent);
    }

    #[test]
    fn what_could_not_be_sent_is_sent_again() {
        let world = World::new();
        world.notices.tell(&world.config, Some("order"), |_| false);
        assert!(world.sent(0, "order").is_some());
        let silent = ConsumerConfig { receipts: None, ..world.config.clone() };
        Notices::default().tell(&silent, Some("order"), |_| panic!("nobody listens"));
    }
}
