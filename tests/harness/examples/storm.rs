//! A storm: every message of a queue fails at once, of a hundred causes, while people look at the list of groups.
//!
//! Measures letters per second through intake (four at a time, batches of 100, the real store on disk with a sync for
//! each commit), how long an answer of the API takes meanwhile and afterwards, how long sweep takes then, and the
//! memory. Fails if a letter is missing, counted twice, or in a wrong group.
//!
//! `cargo run --release -p dlo-harness --example storm -- 20000`; 20,000 letters are the default, and
//! `cargo xtask storm` runs it.

use domain::marker::FAILURE_ATTRIBUTE;
use domain::message::{Attribute, Content};
use domain::read::Stamp;
use domain::role::Role;
use domain::time::{Span, Timestamp};
use harness::rates;
use harness::world::{World, order};
use local::sqlite::Opening;
use office::api::{self, Api, Caller, Identify};
use queue::Outgoing;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use wire::GroupsAnswer;

const LETTERS: u64 = 20_000;
/// Causes of the letters: each service fails in each way.
const SERVICES: [&str; 10] =
    ["pricing", "billing", "stock", "shipping", "fraud", "loyalty", "search", "export", "mailing", "archive"];
const WAYS: [(&str, &str); 10] = [
    ("Timeout", "no answer within 30 s"),
    ("Refused", "connection refused by the peer"),
    ("Malformed", "the payload is not valid JSON at line 3"),
    ("Missing", "the record does not exist"),
    ("Duplicate", "the record exists already"),
    ("Forbidden", "the caller lacks the permission to write"),
    ("Throttled", "the rate is exceeded"),
    ("Overflow", "the total does not fit into the column"),
    ("Locked", "deadlock detected while writing"),
    ("Unsupported", "the currency is not supported"),
];
/// Functions that take letters at the same time.
const INTAKES: usize = 4;
/// A person's page asks this often.
const POLL: Duration = Duration::from_millis(250);

/// The only caller.
struct Admin;

#[async_trait::async_trait]
impl Identify for Admin {
    async fn who(&self, _: &str, _: Timestamp) -> Option<Caller> {
        Some(Caller::new("admin", Role::Admin))
    }

    fn delay_max(&self) -> Duration {
        Duration::ZERO
    }
}

#[tokio::main]
async fn main() {
    let letters = std::env::args().nth(1).map_or(LETTERS, |count| count.parse().expect("a count"));
    let world = World::with(&Opening { synced: true, ..Opening::default() }).await;
    let messages: Vec<Outgoing> = (0..letters).map(|n| dead(&world, n)).collect();
    rates::fill(&*world.queue, &world.dlq, &messages).await;
    let address = serve(&world).await;
    let is_over = AtomicBool::new(false);
    let storm = async {
        let started = Instant::now();
        let intakes = (0..INTAKES).map(|_| rates::intake(&world));
        futures_util::future::join_all(intakes).await;
        is_over.store(true, Ordering::SeqCst);
        letters as f64 / started.elapsed().as_secs_f64()
    };
    let (per_s, during) = tokio::join!(storm, look(&address, &is_over, usize::MAX));
    println!("{letters} letters of {} causes: {per_s:.0} letters/s", SERVICES.len() * WAYS.len());
    println!("  list of groups during the storm: {}", shown(during));
    println!("  list of groups afterwards:       {}", shown(look(&address, &AtomicBool::new(false), 40).await));
    world.advance(Span::from_secs(60));
    let started = Instant::now();
    office::sweep::run(&world.office).await.expect("a sweep");
    println!("  first sweep: {:.0} ms", started.elapsed().as_secs_f64() * 1e3);
    println!("  memory: {:.0} MB", resident_mb());
    check(&address, letters).await;
}

/// Serves the API of the world's office.
async fn serve(world: &World) -> String {
    let api = Api {
        office: world.office.clone(),
        identify: Arc::new(Admin),
        name: "storm".into(),
        watching: [world.dlq.clone()].into(),
    };
    let router = api::router(api, &api::endpoints());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move { axum::serve(listener, router).await });
    format!("http://{address}/api/v1/groups")
}

/// Returns how long each answer took, until the storm is over.
async fn look(address: &str, is_over: &AtomicBool, times: usize) -> Vec<Duration> {
    let client = reqwest::Client::new();
    let mut took = Vec::new();
    while !is_over.load(Ordering::SeqCst) && took.len() < times {
        let started = Instant::now();
        let answer = client.get(address).bearer_auth("x").send().await.expect("an answer");
        assert!(answer.status().is_success(), "{}", answer.status());
        answer.bytes().await.expect("a body");
        took.push(started.elapsed());
        tokio::time::sleep(POLL.saturating_sub(started.elapsed())).await;
    }
    took
}

fn shown(mut took: Vec<Duration>) -> String {
    took.sort();
    let at = |percent: usize| took.get((took.len() * percent / 100).min(took.len().saturating_sub(1)));
    let ms = |percent| at(percent).map_or(0.0, |time| time.as_secs_f64() * 1e3);
    format!("{} answers, p50 {:.1} ms, p99 {:.1} ms, longest {:.1} ms", took.len(), ms(50), ms(99), ms(100))
}

/// Fails unless each cause is one group with its share of the letters.
async fn check(address: &str, letters: u64) {
    let client = reqwest::Client::new();
    let answer = client.get(address).bearer_auth("x").send().await.expect("an answer");
    let answer: GroupsAnswer = answer.json().await.expect("groups");
    let causes = (SERVICES.len() * WAYS.len()) as i64;
    let letters = i64::try_from(letters).expect("a count of letters");
    assert_eq!(answer.groups.len() as i64, causes.min(letters), "groups");
    let counted: i64 = answer.groups.iter().map(|group| group.open.letters).sum();
    assert_eq!(counted, letters, "letters");
    for group in &answer.groups {
        assert!(group.open.letters.abs_diff(letters / causes) <= 1, "{}: {}", group.title, group.open.letters);
    }
}

/// Returns a letter of the cause `n` modulo their number.
fn dead(world: &World, n: u64) -> Outgoing {
    let cause = n as usize % (SERVICES.len() * WAYS.len());
    let (service, (way, text)) = (SERVICES[cause / WAYS.len()], WAYS[cause % WAYS.len()]);
    let stamp = Stamp {
        error_type: Some(format!("{service}::{way}")),
        message: Some(format!("{service} of order {n}: {text}")),
        consumer: Some(service.into()),
        consumer_version: Some("v1".into()),
        original_message_id: Some(format!("m-{n}").as_str().into()),
        main_queue: Some(world.main.clone()),
        first_sent_at: Some(world.office.now().plus(Span::from_ms(n as i64))),
        failed_at: Some(world.office.now()),
        ..Stamp::default()
    };
    let attributes = [(FAILURE_ATTRIBUTE.to_string(), Attribute::text(stamp.print()))].into();
    Outgoing { content: Content { body: order(n), attributes, ..Content::default() }, ..Outgoing::default() }
}

/// The memory of this process.
fn resident_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kb = line.and_then(|line| line.split_whitespace().next()).and_then(|kb| kb.parse::<f64>().ok());
    kb.unwrap_or_default() / 1e3
}
