//! The consumer crate under load and failure: heartbeat, circuit, budget, poison, expiry, shutdown.

use super::world::{World, content, soon, stamp};
use async_trait::async_trait;
use consumer::attempts::InMemory;
use consumer::breaker::{BreakerPolicy, CircuitState};
use consumer::budget::BudgetPolicy;
use consumer::concurrency::AimdPolicy;
use consumer::dependency::Dependency;
use consumer::strategy::{Dlqs, Overload, Strategies, Strategy, Wait};
use consumer::{Class, Failure, Handler, Instance, Outcome, Reason, StampContext};
use domain::impact::Severity;
use domain::marker::FAILURE_ATTRIBUTE;
use domain::message::Content;
use domain::policy::{ClassRule, MessageTypeRule, Policy};
use domain::reading::Category;
use domain::time::Span;
use local::queue::Peeked;
use queue::{Queue, Received};
use std::future::pending;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;

/// A handler that returns what a function returns.
struct By(fn(&str) -> Result<(), Failure>);

#[async_trait]
impl Handler for By {
    async fn handle(&self, received: &Received) -> Result<(), Failure> {
        (self.0)(&received.content.body)
    }
}

fn context(dead: &Peeked) -> StampContext {
    serde_json::from_str(dead.content.attributes[FAILURE_ATTRIBUTE].as_text().unwrap()).unwrap()
}

fn reason(outcome: &Outcome) -> Option<Reason> {
    match outcome {
        Outcome::DeadLettered { reason, .. } => Some(*reason),
        _ => None,
    }
}

/// Waits until it is told, then succeeds.
struct Waiting {
    begun: Arc<Notify>,
    go: Arc<Notify>,
}

#[async_trait]
impl Handler for Waiting {
    async fn handle(&self, _: &Received) -> Result<(), Failure> {
        self.begun.notify_one();
        self.go.notified().await;
        Ok(())
    }
}

#[tokio::test]
async fn a_heartbeat_keeps_the_message_of_a_slow_handler() {
    // The queue's clock is the test's; only the beats are real, every 100 ms.
    let world = World::with(3, "", Span::from_ms(300)).await;
    world.send(content("slow")).await;
    let (begun, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let handler = Waiting { begun: begun.clone(), go: go.clone() };
    let mut running = world.run_on(world.queue.clone(), handler, |config| {
        config.handler_max = Some(Span::from_mins(10));
    });
    soon(begun.notified()).await;
    let invisible_until = async || world.queue.peek(&world.main, 1).await.unwrap()[0].visible_at;
    for _ in 0..3 {
        let before = invisible_until().await;
        world.advance(Span::from_ms(200));
        while invisible_until().await <= before {
            tokio::task::yield_now().await;
        }
    }
    go.notify_one();
    assert_eq!(running.next().await.1, Outcome::Handled);
    running.shut_down().await;
    assert!(world.main_is_empty().await);
}

#[tokio::test]
async fn shutdown_releases_the_messages_of_handlers_that_take_too_long() {
    let world = World::new(3).await;
    world.send(content("slow")).await;
    let begun = Arc::new(Notify::new());
    let handler = Waiting { begun: begun.clone(), go: Arc::new(Notify::new()) };
    let mut running = world.run_on(world.queue.clone(), handler, |config| {
        config.drain_max = Some(Span::ZERO);
        config.cancel_receive = true;
        config.wait = Span::from_secs(20);
    });
    soon(begun.notified()).await;
    running.shutdown.send_replace(true);
    assert_eq!(running.next().await.1, Outcome::Released);
    soon(running.task).await.unwrap();
    let mut again = world.run(By(|_| Ok(())));
    assert_eq!(again.next().await.1, Outcome::Handled, "visible at once, without waiting for the timeout");
    again.shut_down().await;
}

#[tokio::test]
async fn three_instances_make_a_message_poison() {
    let world = World::new(9).await;
    world.send(content("odd")).await;
    let log = Arc::new(InMemory::default());
    let mut outcomes = Vec::new();
    for instance in ["i-1", "i-1", "i-2", "i-3"] {
        let mut running =
            world.run_on(world.queue.clone(), By(|_| Err(Failure::unknown("orders::Odd", "hm"))), |config| {
                config.attempt_log = log.clone();
                config.instance = Instance { instance: instance.into(), ..Instance::default() };
            });
        world.advance(Span::from_secs(30));
        outcomes.push(running.next().await.1);
        running.shut_down().await;
    }
    assert_eq!(outcomes.iter().map(reason).collect::<Vec<_>>(), [None, None, None, Some(Reason::Poison)]);
    let dead = world.dead().await;
    let history = context(&dead[0]).history;
    let instances: Vec<&str> = history.iter().map(|attempt| attempt.instance.as_str()).collect();
    assert_eq!(instances, ["i-1", "i-1", "i-2", "i-3"]);
    assert_eq!(history.iter().filter(|attempt| attempt.delay.is_some()).count(), 3);
}

#[tokio::test]
async fn an_expired_message_is_not_handled() {
    let world = World::new(3).await;
    let order = r#"{"deliver_by":1763600010000}"#;
    world.send(content(order)).await;
    world.send(content("old")).await;
    world.advance(Span::from_secs(11));
    let rule = MessageTypeRule {
        message_type: "*".into(),
        deadline: Some("/deliver_by".into()),
        ..MessageTypeRule::default()
    };
    let policy = Arc::new(Policy { message_types: vec![rule], ..Policy::default() });
    let untouched = By(|body| panic!("{body} was handled"));
    let mut running = world.run_on(world.queue.clone(), untouched, |config| {
        config.policy = policy;
        config.message_type = |content| Some(content.body.clone()).filter(|body| body == "old");
        let strategy = Strategy { ttl: Some(Span::from_secs(10)), ..Strategy::default() };
        config.strategies = Strategies::default().with("old", strategy);
    });
    let outcomes = [running.next().await.1, running.next().await.1];
    running.shut_down().await;
    assert!(outcomes.iter().all(|outcome| reason(outcome) == Some(Reason::Expired)), "{outcomes:?}");
    let mut messages: Vec<String> = world.dead().await.iter().filter_map(|dead| stamp(dead).message).collect();
    messages.sort();
    assert_eq!(
        messages,
        ["the message is 11000 ms old; its time to live is 10000 ms", "the message's deadline passed 1000 ms ago"]
    );
}

#[tokio::test]
async fn the_offices_reader_and_policy_classify_before_a_retry() {
    let world = World::new(3).await;
    for body in ["by the reader", "by the policy", "by the handler"] {
        world.send(content(body)).await;
    }
    let handler = By(|body| match body {
        "by the reader" => Err(Failure::unknown("java.sql.SQLException", "SQLSTATE 23505: duplicate key")),
        "by the policy" => Err(Failure::transient("orders::Gone", "this tenant was closed")),
        _ => Err(Failure::transient("orders::Timeout", "no answer")),
    });
    let rule = ClassRule {
        name: "closed tenants".into(),
        error_type: None,
        message_contains: Some("tenant was closed".into()),
        class: Class::Permanent,
        category: Category::InvalidTenant,
    };
    let policy = Arc::new(Policy { class_rules: vec![rule], ..Policy::default() });
    let mut running = world.run_on(world.queue.clone(), handler, |config| config.policy = policy);
    let mut permanent = Vec::new();
    for _ in 0..3 {
        let (body, outcome) = running.next().await;
        permanent.extend(reason(&outcome).map(|reason| (body, reason)));
    }
    running.shut_down().await;
    permanent.sort_by(|one: &(String, Reason), other| one.0.cmp(&other.0));
    assert_eq!(
        permanent,
        [("by the policy", Reason::Permanent), ("by the reader", Reason::Permanent)]
            .map(|(body, reason)| (body.into(), reason))
    );
    let categories: Vec<_> = world.dead().await.iter().map(|dead| context(dead).category).collect();
    assert!(categories.contains(&Some(Category::InvalidTenant)), "{categories:?}");
}

/// Calls a dependency that never answers.
struct Calling(Dependency);

#[async_trait]
impl Handler for Calling {
    async fn handle(&self, _: &Received) -> Result<(), Failure> {
        self.0.call(pending()).await
    }
}

fn touchy() -> Dependency {
    let policy = BreakerPolicy { failures_max: 1, call_max: Span::from_ms(1), ..BreakerPolicy::default() };
    Dependency::new("payments").with_breaker(policy)
}

#[tokio::test]
async fn behind_an_open_circuit_messages_wait_for_the_probe() {
    let world = World::with(5, "", Span::from_mins(10)).await;
    let payments = touchy();
    payments.begin().unwrap().finish(false);
    world.send(content("order")).await;
    let mut running = world.run_on(world.queue.clone(), Calling(payments), |config| config.entropy = Arc::new(|| 0));
    let (_, outcome) = running.next().await;
    running.shut_down().await;
    let Outcome::Retried { after, .. } = outcome else { panic!("{outcome:?}") };
    // 30 s at first, less what the test took so far.
    assert!(after > Span::ZERO && after <= Span::from_secs(30), "{after:?}");
}

#[tokio::test]
async fn an_open_circuit_may_dead_letter_with_its_state() {
    let world = World::new(5).await;
    let payments = touchy();
    payments.begin().unwrap().finish(false);
    world.send(content("order")).await;
    let mut running = world.run_on(world.queue.clone(), Calling(payments), |config| {
        config.strategies = Strategies::new(Strategy { circuit_open: Overload::DeadLetter, ..Strategy::default() });
    });
    assert_eq!(reason(&running.next().await.1), Some(Reason::CircuitOpen));
    running.shut_down().await;
    let dead = world.dead().await;
    let circuit = context(&dead[0]).circuit.unwrap();
    assert_eq!((circuit.dependency.as_str(), circuit.state), ("payments", CircuitState::Open));
    assert_eq!(stamp(&dead[0]).class, Some(Class::Transient));
}

#[tokio::test]
async fn the_policy_file_says_per_type_what_an_open_circuit_means_and_how_severe_a_dead_letter_is() {
    let world = World::new(5).await;
    let payments = touchy();
    payments.begin().unwrap().finish(false);
    world.send(content("quote")).await;
    world.send(content("refund")).await;
    let policy = r#"{
        "strategies": [{ "message_type": "quote", "circuit_open": "dead_letter" }, { "message_type": "refund" }],
        "message_types": [{ "message_type": "quote", "severity": "critical" }]
    }"#;
    let policy = Policy::parse(policy).unwrap();
    let mut running = world.run_on(world.queue.clone(), Calling(payments), |config| {
        config.message_type = |content| Some(content.body.clone());
        config.strategies = Strategies::of_policy(&policy, &Strategy::default(), &Dlqs::default()).unwrap();
        config.policy = Arc::new(policy);
    });
    let mut outcomes = [running.next().await, running.next().await];
    running.shut_down().await;
    outcomes.sort_by(|one, other| one.0.cmp(&other.0));
    assert_eq!(reason(&outcomes[0].1), Some(Reason::CircuitOpen), "{outcomes:?}");
    assert!(matches!(outcomes[1].1, Outcome::Retried { .. }), "{outcomes:?}");
    let dead = world.dead().await;
    assert_eq!((dead.len(), dead[0].content.body.as_str()), (1, "quote"));
    assert_eq!(context(&dead[0]).circuit.map(|circuit| circuit.state), Some(CircuitState::Open));
    assert_eq!(context(&dead[0]).impact.map(|impact| impact.severity), Some(Severity::Critical));
}

#[tokio::test]
async fn beyond_the_retry_budget_messages_are_dead_lettered_as_transient() {
    let world = World::new(9).await;
    for n in 0..20 {
        world.send(content(&n.to_string())).await;
    }
    let handler = By(|body| match body.parse::<u32>().unwrap() % 2 {
        0 => Err(Failure::transient("orders::Timeout", "no answer")),
        _ => Err(Failure::unknown("orders::Odd", "it went odd")),
    });
    let mut running = world.run_on(world.queue.clone(), handler, |config| {
        config.retry_budget = Some(BudgetPolicy { retries_min: 0, ..BudgetPolicy::default() });
        config.concurrency = 1;
    });
    let mut reasons = Vec::new();
    for _ in 0..20 {
        reasons.push(reason(&running.next().await.1));
    }
    running.shut_down().await;
    let retried = reasons.iter().filter(|reason| reason.is_none()).count();
    // The tenth and the twentieth message may be retried.
    assert_eq!(retried, 2, "{reasons:?}");
    assert!(reasons.iter().flatten().all(|reason| *reason == Reason::BudgetExhausted));
    let stamps: Vec<_> = world.dead().await.iter().map(|dead| stamp(dead).class).collect();
    assert!(stamps.iter().all(|class| *class == Some(Class::Transient)), "{stamps:?}");
}

#[tokio::test]
async fn a_strategy_names_attempts_waits_and_queue_of_its_type() {
    let world = World::new(9).await;
    let other = domain::id::QueueArn::new(format!("{}-critical", world.dlq.as_str()));
    world.queue.create_queue(&other, local::queue::QueueSettings::default()).await.unwrap();
    world.send(content("refund")).await;
    world.send(content("order")).await;
    let strategy = Strategy { attempts_max: Some(1), dlq: Some(other.clone()), ..Strategy::default() };
    let handler = By(|_| Err(Failure::transient("orders::Timeout", "no answer")));
    let mut running = world.run_on(world.queue.clone(), handler, |config| {
        config.message_type = |content| Some(content.body.clone());
        let slow = Strategy { wait: Wait::stages(), ..Strategy::default() };
        config.strategies = Strategies::new(slow).with("refund", strategy);
        config.entropy = Arc::new(|| 0);
    });
    let mut outcomes = [running.next().await, running.next().await];
    running.shut_down().await;
    outcomes.sort_by(|one, other| one.0.cmp(&other.0));
    assert!(matches!(outcomes[0].1, Outcome::Retried { after, .. } if after == Span::from_secs(10)), "{outcomes:?}");
    assert_eq!(reason(&outcomes[1].1), Some(Reason::AttemptsExhausted));
    assert_eq!(world.queue.peek(&other, 9).await.unwrap().len(), 1);
    assert!(world.dead().await.is_empty());
}

#[tokio::test]
async fn adaptive_concurrency_falls_with_transient_failures() {
    let world = World::new(9).await;
    for _ in 0..40 {
        world.send(content("order")).await;
    }
    let counting = Counting::default();
    let seen = counting.seen.clone();
    let mut running = world.run_on(world.queue.clone(), counting, |config| {
        config.adaptive = Some(AimdPolicy::default());
        config.concurrency = 10;
    });
    for _ in 0..40 {
        assert!(matches!(running.next().await.1, Outcome::Retried { .. }));
    }
    running.shut_down().await;
    let seen = seen.lock().unwrap().clone();
    assert!(seen[..10].iter().any(|at_work| *at_work > 1), "several at once at first: {seen:?}");
    assert!(seen[30..].iter().all(|at_work| *at_work == 1), "one at a time in the end: {seen:?}");
}

/// Fails, and notes how many handlers were at work at once.
#[derive(Default)]
struct Counting {
    at_work: AtomicUsize,
    seen: Arc<Mutex<Vec<usize>>>,
}

#[async_trait]
impl Handler for Counting {
    async fn handle(&self, _: &Received) -> Result<(), Failure> {
        let at_work = self.at_work.fetch_add(1, SeqCst) + 1;
        self.seen.lock().unwrap().push(at_work);
        // Others get their turn meanwhile.
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        self.at_work.fetch_sub(1, SeqCst);
        Err(Failure::transient("orders::Timeout", "no answer"))
    }
}

#[tokio::test]
async fn on_lambda_a_fifo_group_stops_at_its_first_failure_and_others_go_on() {
    let world = World::with(3, ".fifo", Span::from_secs(30)).await;
    for (body, group) in [("1-bad", "a"), ("2", "b"), ("3", "a"), ("4", "b")] {
        world.send(Content { message_group_id: Some(group.into()), ..content(body) }).await;
    }
    let mut received = world.queue.receive(&world.main, 10, Span::ZERO, None).await.unwrap();
    received.sort_by(|one, other| one.content.body.cmp(&other.content.body));
    let handler = By(|body| match body {
        "1-bad" => Err(Failure::transient("orders::Timeout", "no answer")),
        "3" => panic!("handled after the failure of its group"),
        _ => Ok(()),
    });
    let config = world.config();
    let consumer = consumer::Consumer::new(config, world.queue.clone(), Arc::new(handler));
    let ids: Vec<_> = received.iter().map(|one| one.message_id.clone()).collect();
    let failed = consumer.handle_batch(received).await.unwrap();
    assert_eq!(failed, [ids[0].clone(), ids[2].clone()]);
}
