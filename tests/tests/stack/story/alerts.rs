//! The alerts that the stack raises, as a rule of EventBridge delivers them to a queue.

use dlo_tests::deployed::{Deployed, until};
use domain::id::{QueueArn, ReplayId};
use domain::time::Span;
use lambda::events::SOURCE;
use lambda::queue::SqsQueue;
use queue::Queue;
use serde_json::{Value, json};

/// The bus that the template uses by default.
const BUS: &str = "default";

/// A rule on the stack's bus, and the queue that it delivers alerts on paused replays to.
pub struct AlertListener {
    queue: QueueArn,
    rule: String,
}

impl AlertListener {
    /// Creates the rule and its queue. `run` makes their name unique.
    pub async fn start(stack: &Deployed, sqs: &SqsQueue, run: i64) -> Self {
        let rule = format!("alerts-{run}");
        let queue = sqs.create(&rule, &[]).await.expect("a queue");
        let pattern = json!({ "source": [SOURCE], "detail-type": ["Replay paused"] }).to_string();
        let request = json!({ "Name": rule, "EventBusName": BUS, "EventPattern": pattern });
        stack.call("events", "AWSEvents.PutRule", &request).await;
        let target = json!([{ "Id": "alerts", "Arn": queue.as_str() }]);
        let request = json!({ "Rule": rule, "EventBusName": BUS, "Targets": target });
        stack.call("events", "AWSEvents.PutTargets", &request).await;
        Self { queue, rule }
    }

    /// Waits for the alert on a replay, and returns the event's detail.
    pub async fn alert_on(&self, sqs: &SqsQueue, replay: &ReplayId) -> Value {
        until("an event reports the paused replay", async || {
            let received = sqs.receive(&self.queue, 10, Span::from_secs(1), None).await.expect("a receive");
            let events = received.iter().filter_map(|m| serde_json::from_str::<Value>(&m.content.body).ok());
            let mut details = events.map(|mut event| event["detail"].take());
            details.find(|detail| detail["replay"] == replay.as_str())
        })
        .await
    }

    /// Deletes the rule and its queue.
    pub async fn delete(self, stack: &Deployed) {
        let request = json!({ "Rule": self.rule, "EventBusName": BUS, "Ids": ["alerts"] });
        stack.call("events", "AWSEvents.RemoveTargets", &request).await;
        let request = json!({ "Name": self.rule, "EventBusName": BUS });
        stack.call("events", "AWSEvents.DeleteRule", &request).await;
        let url = stack.call("sqs", "AmazonSQS.GetQueueUrl", &json!({ "QueueName": self.rule })).await;
        stack.call("sqs", "AmazonSQS.DeleteQueue", &json!({ "QueueUrl": url["QueueUrl"] })).await;
    }
}
