//! The consumers of a main queue at Lambda, as MiniStack emulates it: event source mappings and versions of functions.

use axum::Router;
use axum::extract::Query;
use axum::routing::get;
use dlo_tests::endpoint::Endpoint;
use domain::deployment::AttachedConsumer;
use domain::id::QueueArn;
use domain::policy::{Policy, QueuePolicy};
use domain::time::{Span, Timestamp};
use harness::world::World;
use lambda::connect;
use lambda::consumers::Lambda;
use lambda::queue::SqsQueue;
use office::office::Office;
use reqwest::{Client, Method};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::net::TcpListener;

static ENDPOINT: LazyLock<Endpoint> = LazyLock::new(Endpoint::ministack);
/// An empty archive.
const EMPTY_ZIP: &str = "UEsFBgAAAAAAAAAAAAAAAAAAAAAAAA==";

/// A main queue, and a function of its own.
struct Fixture {
    world: World,
    client: Client,
    main: QueueArn,
    function: String,
}

impl Fixture {
    async fn new() -> Self {
        static FIXTURES: AtomicU64 = AtomicU64::new(0);
        let number = FIXTURES.fetch_add(1, Ordering::Relaxed);
        connect::provide_tls();
        let queue = SqsQueue::new(&connect::to_endpoint(&ENDPOINT.url).await);
        let main = queue.create(&format!("consumed-{number}"), &[]).await.expect("a queue");
        let client = local::http::client().no_proxy().build().expect("a client");
        let world = World::new().await;
        // The world's clock must be ahead of the endpoint's, which sets the times of changes.
        let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock");
        let now = Timestamp::from_ms(i64::try_from(since.as_millis()).expect("a time in range"));
        world.advance(now.since(world.office.now()).plus(Span::from_mins(60)));
        let fixture = Self { world, client, main, function: format!("consumer-{number}") };
        let created = json!({
            "FunctionName": fixture.function, "Runtime": "provided.al2023", "Handler": "bootstrap",
            "Role": "arn:aws:iam::000000000000:role/consumer", "Code": { "ZipFile": EMPTY_ZIP },
            "Environment": { "Variables": { "SERVICE_VERSION": "v1" } },
        });
        fixture.ask(Method::POST, "functions", &created).await;
        fixture
    }

    async fn ask(&self, method: Method, path: &str, body: &Value) -> Value {
        let url = format!("{}/2015-03-31/{path}", ENDPOINT.url);
        let answer = self.client.request(method, url).json(body).send().await.expect("the endpoint answers");
        let status = answer.status();
        let text = answer.text().await.unwrap_or_default();
        assert!(status.is_success(), "{path}: {status}: {text}");
        serde_json::from_str(&text).expect("JSON")
    }

    /// Attaches the function to the queue. Returns the id of the mapping.
    async fn attach(&self, enabled: bool) -> String {
        let body = json!({ "EventSourceArn": self.main, "FunctionName": self.function, "Enabled": enabled,
                           "BatchSize": 10 });
        let mapping = self.ask(Method::POST, "event-source-mappings", &body).await;
        mapping["UUID"].as_str().expect("an id").to_owned()
    }

    async fn deploy(&self, version: &str) {
        let body = json!({ "Environment": { "Variables": { "SERVICE_VERSION": version } } });
        self.ask(Method::PUT, &format!("functions/{}/configuration", self.function), &body).await;
    }

    async fn look(&self, functions: bool) {
        let config = connect::to_endpoint(&ENDPOINT.url).await;
        Lambda::new(&config, vec![self.main.clone()], functions).expect("a client").look(&self.world.office).await;
    }

    async fn attached(&self) -> Option<Vec<AttachedConsumer>> {
        let attached = self.world.store.attached(&self.main).await.expect("the store");
        attached.map(|attached| attached.consumers)
    }

    async fn version(&self) -> Option<String> {
        let known = self.world.store.deployment(&self.function).await.expect("the store");
        known.map(|deployment| deployment.version)
    }

    fn consumer(&self, state: &str) -> Vec<AttachedConsumer> {
        let service = self.function.clone();
        vec![AttachedConsumer {
            function: Some(service.clone()),
            service,
            enabled: state == "Enabled",
            state: state.into(),
            log_group: Some(format!("/aws/lambda/{}", self.function)),
            timeout: None,
            batch_size: Some(10),
            reports_failures: Some(false),
            filters: Some(false),
        }]
    }
}

#[tokio::test]
async fn a_mapping_is_seen_disabled_and_enabled() {
    let fixture = Fixture::new().await;
    fixture.look(false).await;
    assert_eq!(fixture.attached().await, None, "nothing is attached yet");
    let mapping = fixture.attach(false).await;
    fixture.look(false).await;
    assert_eq!(fixture.attached().await, Some(fixture.consumer("Disabled")));
    fixture.ask(Method::PUT, &format!("event-source-mappings/{mapping}"), &json!({ "Enabled": true })).await;
    fixture.look(false).await;
    assert_eq!(fixture.attached().await, Some(fixture.consumer("Enabled")));
    assert_eq!(fixture.version().await, None, "functions are ignored unless that is allowed");
}

#[tokio::test]
async fn a_deployed_version_is_seen_and_reported_once() {
    let fixture = Fixture::new().await;
    fixture.attach(true).await;
    fixture.look(true).await;
    assert_eq!(fixture.version().await.as_deref(), Some("v1"));
    let first = fixture.world.store.deployment(&fixture.function).await.unwrap();
    fixture.look(true).await;
    assert_eq!(fixture.world.store.deployment(&fixture.function).await.unwrap(), first);
    // The endpoint may round times to seconds, so the change is repeated until its time differs.
    for _ in 0..1_000 {
        fixture.deploy("v2").await;
        fixture.look(true).await;
        if fixture.version().await.as_deref() == Some("v2") {
            break;
        }
    }
    let second = fixture.world.store.deployment(&fixture.function).await.unwrap().expect("a deployment");
    assert_eq!(second.version, "v2");
    assert!(first.is_some_and(|first| first.at < second.at));
}

#[tokio::test]
async fn an_endpoint_that_does_not_answer_fails_nothing() {
    let world = World::new().await;
    // It accepts every connection and closes it at once.
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    tokio::spawn(async move { while listener.accept().await.is_ok() {} });
    let config = connect::to_endpoint(&url).await;
    let main = world.main.clone();
    Lambda::new(&config, vec![main.clone()], true).expect("a client").look(&world.office).await;
    assert_eq!(world.store.attached(&main).await.unwrap(), None);
}

/// Serves an answer without mappings. Returns its URL, and the queues that it was asked about.
async fn empty_lambda() -> (String, Arc<Mutex<Vec<QueueArn>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let asked = Arc::<Mutex<Vec<QueueArn>>>::default();
    let noted = asked.clone();
    let answer = move |Query(query): Query<HashMap<String, String>>| async move {
        noted.lock().unwrap().push(query["EventSourceArn"].as_str().into());
        r#"{"EventSourceMappings":[]}"#
    };
    let router = Router::new().route("/2015-03-31/event-source-mappings", get(answer));
    tokio::spawn(async move { axum::serve(listener, router).await });
    (url, asked)
}

#[tokio::test]
async fn queues_of_the_stack_of_the_policy_and_of_letters_all_have_their_turn() {
    connect::provide_tls();
    let world = World::new().await;
    let named: Vec<QueueArn> = (0..30).map(|n| QueueArn::from(format!("named-{n}").as_str())).collect();
    let of_policy: Vec<QueueArn> = (0..3).map(|n| QueueArn::from(format!("policy-{n}").as_str())).collect();
    let queues = QueuePolicy { main: of_policy.clone(), ..QueuePolicy::default() };
    let policy = Arc::new(Policy { queues, ..(*world.office.policy).clone() });
    let office = Office { policy, ..world.office.clone() };
    world.one_group(1).await;
    let mut all: Vec<QueueArn> = named.iter().chain(&of_policy).chain([&world.main]).cloned().collect();
    all.sort();
    let (url, asked) = empty_lambda().await;
    let lambda = Lambda::new(&connect::to_endpoint(&url).await, named, false).expect("a client");
    for minute in 1..=2 {
        lambda.look(&office).await;
        assert_eq!(asked.lock().unwrap().len(), minute * 20, "a run has a limit");
        world.advance(Span::from_mins(1));
    }
    let mut asked = std::mem::take(&mut *asked.lock().unwrap());
    asked.sort();
    asked.dedup();
    assert_eq!(asked, all);
}
