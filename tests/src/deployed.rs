//! A deployed stack as people and the platform use it: the API behind the function URL, Lambda's own API, CloudWatch.

use domain::id::GroupId;
use reqwest::{Client, Method, RequestBuilder, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::time::{Duration, SystemTime};
use wire::GroupAnswer;

/// The deadline for every condition, on two busy cores.
const DEADLINE: Duration = Duration::from_secs(180);

/// The stack at the endpoint that `cargo aws test` names.
pub struct Deployed {
    client: Client,
    /// The URL of the endpoint.
    pub endpoint: String,
    host: String,
}

/// Returns a variable that `cargo aws test` sets.
pub fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set: run `cargo aws up`, then `cargo aws test`"))
}

/// Checks a condition until it holds, and returns its value. Panics after three minutes.
pub async fn until<T>(what: &str, check: impl AsyncFnMut() -> Option<T>) -> T {
    harness::running::until(what, DEADLINE, check).await
}

/// How often a request meets a change by sweep, at most.
const CONFLICTS_MAX: usize = 5;

impl Deployed {
    /// Finds the stack by the environment variables of `cargo aws test`.
    pub fn find() -> Self {
        lambda::connect::provide_tls();
        let client = local::http::client().no_proxy().build().expect("a client");
        Self { client, endpoint: variable("DLO_STACK_ENDPOINT"), host: variable("DLO_STACK_HOST") }
    }

    /// Returns another office at the same endpoint, by the host of its function URL.
    pub fn at(&self, host: &str) -> Self {
        Self { client: self.client.clone(), endpoint: self.endpoint.clone(), host: host.to_owned() }
    }

    /// Calls the API with a token.
    pub async fn ask(&self, token: &str, method: Method, path: &str, body: Option<Value>) -> (StatusCode, Value) {
        let url = format!("{}/api/v1{path}", self.endpoint);
        let mut request = self.client.request(method, url).header("host", &self.host).bearer_auth(token);
        if let Some(body) = &body {
            request = request.json(body);
        }
        let answer = request.send().await.expect("the function URL answers");
        let status = answer.status();
        (status, answer.json().await.unwrap_or_default())
    }

    /// Gets a resource that must exist.
    pub async fn get<T: DeserializeOwned>(&self, token: &str, path: &str) -> T {
        let (status, answer) = self.ask(token, Method::GET, path, None).await;
        assert_eq!(status, StatusCode::OK, "{path}: {answer}");
        serde_json::from_value(answer).expect(path)
    }

    /// Posts a request that may fail.
    pub async fn post(&self, token: &str, path: &str, body: Value) -> (StatusCode, Value) {
        self.ask(token, Method::POST, path, Some(body)).await
    }

    /// Posts a request that must succeed. Where sweep changes the same group at that moment, it is posted again, as the
    /// answer says.
    pub async fn done(&self, token: &str, path: &str, body: Value) -> Value {
        let (mut status, mut answer) = self.post(token, path, body.clone()).await;
        for _ in 0..CONFLICTS_MAX {
            if status != StatusCode::CONFLICT || answer["code"] != "conflict" {
                break;
            }
            (status, answer) = self.post(token, path, body.clone()).await;
        }
        assert_eq!(status, StatusCode::OK, "{path}: {answer}");
        answer
    }

    /// Invokes a function by a part of its name. Returns whether it failed, and its answer.
    pub async fn invoke(&self, name: &str, event: &Value) -> (bool, Value) {
        let url = format!("{}/2015-03-31/functions/{}/invocations", self.endpoint, self.function(name).await);
        let answer = self.client.post(url).json(event).send().await.expect("Lambda answers");
        let failed = answer.headers().contains_key("x-amz-function-error");
        (failed, answer.json().await.unwrap_or_default())
    }

    /// Returns the full name of a function of the stack.
    pub async fn function(&self, part: &str) -> String {
        let all = self.lambda(Method::GET, "functions/", None).await;
        let names = all["Functions"].as_array().expect("functions").iter();
        let name = names.filter_map(|function| function["FunctionName"].as_str()).find(|name| name.contains(part));
        name.unwrap_or_else(|| panic!("no function {part}: {all}")).to_owned()
    }

    /// Deploys a version of the demo's consumer.
    pub async fn deploy(&self, version: &str) {
        let mut variables = self.variables("orders").await;
        variables["SERVICE_VERSION"] = version.into();
        self.set_variables("orders", &variables).await;
    }

    /// Runs Sweep until the office knows which version of the consumer runs. Sweep alone runs once a minute and would miss
    /// a version that is replaced within it; on a busy machine one run may not get an answer about the function in time.
    pub async fn sees_version(&self, token: &str, group: &GroupId, version: &str) {
        until(&format!("the office knows that {version} runs"), async || {
            let (failed, answer) = self.invoke("Sweep", &json!({})).await;
            assert!(!failed, "{answer}");
            let view: GroupAnswer = self.get(token, &format!("/groups/{group}")).await;
            view.deployment.filter(|deployment| deployment.version == version).map(drop)
        })
        .await;
    }

    /// Returns the environment variables of a function.
    pub async fn variables(&self, function: &str) -> Value {
        let path = format!("functions/{function}/configuration");
        self.lambda(Method::GET, &path, None).await["Environment"]["Variables"].take()
    }

    /// Replaces the environment variables of a function, which restarts it.
    pub async fn set_variables(&self, function: &str, variables: &Value) {
        let (path, change) =
            (format!("functions/{function}/configuration"), json!({ "Environment": { "Variables": variables } }));
        let changed = self.lambda(Method::PUT, &path, Some(&change)).await;
        assert_eq!(changed["Environment"]["Variables"], *variables, "{changed}");
    }

    /// Calls Lambda's own API.
    pub async fn lambda(&self, method: Method, path: &str, body: Option<&Value>) -> Value {
        let request = self.client.request(method, format!("{}/2015-03-31/{path}", self.endpoint));
        self.json(body.into_iter().fold(request, RequestBuilder::json)).await
    }

    /// Returns the sum of a statistic of one of the office's metrics that have no dimension but the office, over the last
    /// hour.
    pub async fn metric(&self, name: &str, statistic: &str) -> f64 {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("a clock").as_secs();
        let office = self.variables(&self.function("Intake").await).await["DLO_OFFICE"].take();
        let request = json!({
            "Namespace": domain::metric::NAMESPACE, "MetricName": name, "Period": 60, "Statistics": [statistic],
            "Dimensions": [{ "Name": lambda::metrics::OFFICE, "Value": office }],
            "StartTime": now - 3_600, "EndTime": now + 60,
        });
        let answer = self.cloudwatch("GetMetricStatistics", &request).await;
        let points = answer["Datapoints"].as_array().expect("points").iter();
        points.filter_map(|point| point[statistic].as_f64()).sum()
    }

    /// Returns the state of an alarm, by a part of its name.
    pub async fn alarm(&self, part: &str) -> String {
        let answer = self.cloudwatch("DescribeAlarms", &json!({})).await;
        let mut alarms = answer["MetricAlarms"].as_array().expect("alarms").iter();
        let alarm = alarms.find(|alarm| alarm["AlarmName"].as_str().is_some_and(|name| name.contains(part)));
        alarm.and_then(|alarm| alarm["StateValue"].as_str()).unwrap_or_else(|| panic!("no {part}: {answer}")).to_owned()
    }

    async fn cloudwatch(&self, operation: &str, body: &Value) -> Value {
        self.call("monitoring", &format!("GraniteServiceVersion20100801.{operation}"), body).await
    }

    /// Calls a service that speaks JSON, for operations that the adapters lack.
    pub async fn call(&self, service: &str, operation: &str, body: &Value) -> Value {
        let request = self.client.post(&self.endpoint).header("content-type", "application/x-amz-json-1.0");
        let request = request.header("x-amz-target", operation);
        // An endpoint that checks no signature uses this only for routing.
        let scope = format!("AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/{service}/aws4_request, Signature=0");
        self.json(request.header("authorization", scope).body(body.to_string())).await
    }

    async fn json(&self, request: RequestBuilder) -> Value {
        let answer = request.send().await.expect("the endpoint answers");
        let status = answer.status();
        let text = answer.text().await.unwrap_or_default();
        assert!(status.is_success(), "{status}: {text}");
        // Some calls have an empty answer.
        if text.is_empty() {
            return Value::Null;
        }
        serde_json::from_str(&text).unwrap_or_else(|_| panic!("not JSON: {text}"))
    }
}
