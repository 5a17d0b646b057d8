//! The panel over HTTP, as seen by a browser, a foreign page and the command line.

use super::{CliError, PanelCommand, Switch, cli, mounted};
use crate::orders::{Kind, Orders, OrdersConfig, OrdersHandle, Version};
use crate::queue::{EmbeddedQueue, QueueSettings};
use domain::id::QueueArn;
use domain::time::{Span, Timestamp};
use reqwest::{Client, RequestBuilder, StatusCode};
use serde_json::{Value, json};
use std::sync::Arc;
use tempfile::TempDir;
use tokio::net::TcpListener;

struct Demo {
    orders: OrdersHandle,
    queue: Arc<EmbeddedQueue>,
    base_url: String,
    http: Client,
    _folder: TempDir,
}

impl Demo {
    async fn start() -> Self {
        let queue =
            Arc::new(EmbeddedQueue::open_in_memory(Arc::new(|| Timestamp::from_ms(1_763_600_000_000))).unwrap());
        let arn = |name: &str| QueueArn::new(format!("arn:aws:sqs:eu-west-1:111122223333:{name}"));
        let (main, dlq) = (arn("orders"), arn("orders-dlq"));
        queue.create_queue(&dlq, QueueSettings::default()).await.unwrap();
        queue.create_queue(&main, QueueSettings::default().dead_letters_to(&dlq, 3)).await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let config = OrdersConfig {
            orders_per_s: 0,
            payments_patience: Span::from_ms(50),
            ..OrdersConfig::new(main, dlq, folder.path().join("orders.json"))
        };
        let orders = Orders::start(queue.clone(), config).await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}", listener.local_addr().unwrap());
        let app = mounted(orders.clone());
        tokio::spawn(async move { axum::serve(listener, app).await });
        let http = crate::http::client().no_proxy().build().unwrap();
        Self { orders, queue, base_url, http, _folder: folder }
    }

    fn get(&self, path: &str) -> RequestBuilder {
        self.http.get(format!("{}{path}", self.base_url))
    }

    fn post(&self, path: &str, body: &Value) -> RequestBuilder {
        self.http.post(format!("{}{path}", self.base_url)).json(body)
    }
}

async fn status_of(request: RequestBuilder) -> StatusCode {
    request.send().await.unwrap().status()
}

async fn json_of(request: RequestBuilder) -> Value {
    serde_json::from_slice(&request.send().await.unwrap().bytes().await.unwrap()).unwrap()
}

#[tokio::test]
async fn the_page_and_its_files_come_under_a_strict_policy() {
    let demo = Demo::start().await;
    for (path, content_type) in [
        ("/panel", "text/html; charset=utf-8"),
        ("/panel/", "text/html; charset=utf-8"),
        ("/panel/panel.css", "text/css; charset=utf-8"),
        ("/panel/panel.js", "text/javascript; charset=utf-8"),
        ("/panel/icon.svg", "image/svg+xml"),
        ("/panel/state", "application/json"),
    ] {
        let answer = demo.get(path).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK, "{path}");
        assert_eq!(answer.headers()["content-type"], content_type, "{path}");
        let policy = answer.headers()["content-security-policy"].to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src 'self';") && !policy.contains("unsafe"), "{policy}");
    }
    demo.orders.shut_down().await;
}

#[test]
fn the_page_needs_nothing_that_its_policy_forbids() {
    for forbidden in [" style=", "<style", "onclick", "javascript:", "https://", "//cdn"] {
        assert!(!super::PAGE.contains(forbidden), "{forbidden}");
    }
    assert!(!super::SCRIPT.contains("innerHTML") && !super::SCRIPT.contains("eval("));
}

#[tokio::test]
async fn each_button_does_what_it_says() {
    let demo = Demo::start().await;
    let before = json_of(demo.get("/panel/state")).await;
    assert_eq!(
        (&before["version"], &before["payments_up"], &before["product_added"]),
        (&json!("v1"), &json!(true), &json!(false))
    );
    assert_eq!(before["main"], json!({"visible_count": 0, "in_flight_count": 0}));
    assert_eq!(json_of(demo.post("/panel/deploy", &json!({"version": "v2"}))).await["version"], "v2");
    assert_eq!(json_of(demo.post("/panel/payments", &json!({"up": false}))).await["payments_up"], false);
    assert_eq!(json_of(demo.post("/panel/product", &json!({"added": true}))).await["product_added"], true);
    assert_eq!(json_of(demo.post("/panel/producer", &json!({"running": false}))).await["producing"], false);
    let placed = json_of(demo.post("/panel/place", &json!({"count": 20, "kind": "gift_card"}))).await;
    assert_eq!(placed["placed_count"], 20);
    demo.orders.shut_down().await;
    assert_eq!(demo.orders.status().await.state.version, Version::V2);
    assert_eq!(demo.queue.queues().await.unwrap().len(), 2);
}

#[tokio::test]
async fn foreign_and_invalid_requests_change_nothing() {
    let demo = Demo::start().await;
    let deploy = || demo.post("/panel/deploy", &json!({"version": "v3"}));
    let form = demo
        .http
        .post(format!("{}/panel/deploy", demo.base_url))
        .header("content-type", "text/plain")
        .body("{\"version\":\"v3\"}");
    for (request, expected) in [
        (deploy().header("sec-fetch-site", "cross-site"), StatusCode::FORBIDDEN),
        (deploy().header("origin", "https://evil.example"), StatusCode::FORBIDDEN),
        (deploy().header("host", "evil.example"), StatusCode::FORBIDDEN),
        (demo.get("/panel/state").header("host", "evil.example"), StatusCode::FORBIDDEN),
        (form, StatusCode::UNSUPPORTED_MEDIA_TYPE),
        (demo.get("/panel/deploy"), StatusCode::METHOD_NOT_ALLOWED),
        (demo.post("/panel/deploy", &json!({"version": "v9"})), StatusCode::UNPROCESSABLE_ENTITY),
        (demo.post("/panel/place", &json!({"count": 0})), StatusCode::UNPROCESSABLE_ENTITY),
        (demo.post("/panel/place", &json!({"count": 1_000_000})), StatusCode::UNPROCESSABLE_ENTITY),
    ] {
        assert_eq!(status_of(request).await, expected);
    }
    let state = demo.orders.status().await.state;
    assert_eq!((state.version, state.placed_count), (Version::V1, 0));
    demo.orders.shut_down().await;
}

#[tokio::test]
async fn the_command_line_controls_the_demo_too() {
    let demo = Demo::start().await;
    let run = |command| cli(&demo.base_url, command);
    let answer = run(PanelCommand::Deploy { version: Version::V3 }).await.unwrap();
    assert!(answer.contains("version           v3 (the right fix)"), "{answer}");
    run(PanelCommand::Payments { state: Switch::Down }).await.unwrap();
    run(PanelCommand::AddProduct).await.unwrap();
    run(PanelCommand::Pause).await.unwrap();
    run(PanelCommand::Place { count: 3, kind: Some(Kind::Expired) }).await.unwrap();
    let answer = run(PanelCommand::Status).await.unwrap();
    for line in
        ["payments          down", "catalogue         complete", "producer          off (started with", "3 placed"]
    {
        assert!(answer.contains(line), "{line}: {answer}");
    }
    let refused = run(PanelCommand::Place { count: 0, kind: None }).await.unwrap_err();
    assert!(matches!(refused, CliError::Refused { .. }), "{refused:?}");
    demo.orders.shut_down().await;
}

#[tokio::test]
async fn without_a_demo_the_command_line_reports_it() {
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}", free.local_addr().unwrap());
    drop(free);
    let error = cli(&base_url, PanelCommand::Status).await.unwrap_err();
    assert!(error.to_string().starts_with("no demo answers at http://127.0.0.1:"), "{error}");
}
