//! A deployed stack, as its people and its platform use it: the API behind the function URL, Lambda's own API, CloudWatch.

use reqwest::{Client, Method, RequestBuilder, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::time::{Duration, Instant, SystemTime};

/// How long anything may take, on two busy cores.
const PATIENCE: Duration = Duration::from_secs(180);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(200);

/// The stack that `cargo aws test` names.
pub struct Deployed {
    client: Client,
    pub endpoint: String,
    host: String,
}

/// A variable that `cargo aws test` sets.
pub fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set: run `cargo aws up`, then `cargo aws test`"))
}

/// The first answer that is something.
pub async fn until<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(started.elapsed() < PATIENCE, "did not come true: {what}");
        tokio::time::sleep(PAUSE).await;
    }
}

impl Deployed {
    pub fn find() -> Self {
        lambda::connect::provide_tls();
        let client = Client::builder().no_proxy().build().expect("a client");
        Self { client, endpoint: variable("DLO_STACK_ENDPOINT"), host: variable("DLO_STACK_HOST") }
    }

    /// Asks the API as the bearer of a token.
    pub async fn ask(&self, token: &str, method: Method, path: &str, body: Option<Value>) -> (StatusCode, Value) {
        let url = format!("{}/api/v1{path}", self.endpoint);
        let mut asked = self.client.request(method, url).header("host", &self.host).bearer_auth(token);
        if let Some(body) = &body {
            asked = asked.json(body);
        }
        let answer = asked.send().await.expect("the function URL answers");
        let status = answer.status();
        (status, answer.json().await.unwrap_or_default())
    }

    pub async fn get<T: DeserializeOwned>(&self, token: &str, path: &str) -> T {
        let (status, answer) = self.ask(token, Method::GET, path, None).await;
        assert_eq!(status, StatusCode::OK, "{path}: {answer}");
        serde_json::from_value(answer).expect(path)
    }

    pub async fn post(&self, token: &str, path: &str, body: Value) -> (StatusCode, Value) {
        self.ask(token, Method::POST, path, Some(body)).await
    }

    /// A post that must succeed.
    pub async fn done(&self, token: &str, path: &str, body: Value) -> Value {
        let (status, answer) = self.post(token, path, body).await;
        assert_eq!(status, StatusCode::OK, "{path}: {answer}");
        answer
    }

    /// Calls a function by a part of its name, and gives its answer and whether it failed.
    pub async fn invoke(&self, name: &str, event: &Value) -> (bool, Value) {
        let url = format!("{}/2015-03-31/functions/{}/invocations", self.endpoint, self.function(name).await);
        let answer = self.client.post(url).json(event).send().await.expect("Lambda answers");
        let failed = answer.headers().contains_key("x-amz-function-error");
        (failed, answer.json().await.unwrap_or_default())
    }

    /// The full name of a function of the stack.
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

    /// The environment of a function.
    pub async fn variables(&self, function: &str) -> Value {
        let path = format!("functions/{function}/configuration");
        self.lambda(Method::GET, &path, None).await["Environment"]["Variables"].take()
    }

    /// Changes it, which starts the function anew.
    pub async fn set_variables(&self, function: &str, variables: &Value) {
        let (path, asked) =
            (format!("functions/{function}/configuration"), json!({ "Environment": { "Variables": variables } }));
        let changed = self.lambda(Method::PUT, &path, Some(&asked)).await;
        assert_eq!(changed["Environment"]["Variables"], *variables, "{changed}");
    }

    /// Lambda's own API.
    pub async fn lambda(&self, method: Method, path: &str, body: Option<&Value>) -> Value {
        let asked = self.client.request(method, format!("{}/2015-03-31/{path}", self.endpoint));
        self.json(body.into_iter().fold(asked, RequestBuilder::json)).await
    }

    /// The sum of a statistic of one of our metrics that has no dimensions, over the last hour.
    pub async fn metric(&self, name: &str, statistic: &str) -> f64 {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("a clock").as_secs();
        let asked = json!({
            "Namespace": domain::metric::NAMESPACE, "MetricName": name, "Period": 60, "Statistics": [statistic],
            "StartTime": now - 3_600, "EndTime": now + 60,
        });
        let answer = self.cloudwatch("GetMetricStatistics", &asked).await;
        let points = answer["Datapoints"].as_array().expect("points").iter();
        points.filter_map(|point| point[statistic].as_f64()).sum()
    }

    /// The state of an alarm, by a part of its name.
    pub async fn alarm(&self, part: &str) -> String {
        let answer = self.cloudwatch("DescribeAlarms", &json!({})).await;
        let mut alarms = answer["MetricAlarms"].as_array().expect("alarms").iter();
        let alarm = alarms.find(|alarm| alarm["AlarmName"].as_str().is_some_and(|name| name.contains(part)));
        alarm.and_then(|alarm| alarm["StateValue"].as_str()).unwrap_or_else(|| panic!("no {part}: {answer}")).to_owned()
    }

    async fn cloudwatch(&self, operation: &str, asked: &Value) -> Value {
        self.call("monitoring", &format!("GraniteServiceVersion20100801.{operation}"), asked).await
    }

    /// Calls a service that speaks JSON, for what our own adapters never ask.
    pub async fn call(&self, service: &str, operation: &str, asked: &Value) -> Value {
        let request = self.client.post(&self.endpoint).header("content-type", "application/x-amz-json-1.0");
        let request = request.header("x-amz-target", operation);
        // What routes a request at an endpoint that checks no signature.
        let scope = format!("AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/{service}/aws4_request, Signature=0");
        self.json(request.header("authorization", scope).body(asked.to_string())).await
    }

    async fn json(&self, request: RequestBuilder) -> Value {
        let answer = request.send().await.expect("the endpoint answers");
        let status = answer.status();
        let text = answer.text().await.unwrap_or_default();
        assert!(status.is_success(), "{status}: {text}");
        // Some calls answer with nothing.
        if text.is_empty() {
            return Value::Null;
        }
        serde_json::from_str(&text).unwrap_or_else(|_| panic!("not JSON: {text}"))
    }
}
