//! What a rule of EventBridge brings to its queue of the alerts that the stack raises.

use dlo_tests::deployed::{Deployed, until};
use domain::id::{QueueArn, ReplayId};
use domain::time::Span;
use lambda::events::SOURCE;
use lambda::queue::SqsQueue;
use queue::Queue;
use serde_json::{Value, json};

/// The bus that the template names where nobody names one.
const BUS: &str = "default";

/// A rule on the stack's bus, and the queue that it brings stopped replays to.
pub struct Told {
    queue: QueueArn,
    rule: String,
}

impl Told {
    /// Makes the rule. `run` names it.
    pub async fn listen(stack: &Deployed, sqs: &SqsQueue, run: i64) -> Self {
        let rule = format!("told-{run}");
        let queue = sqs.create(&rule, &[]).await.expect("a queue");
        let pattern = json!({ "source": [SOURCE], "detail-type": ["Replay paused"] }).to_string();
        let asked = json!({ "Name": rule, "EventBusName": BUS, "EventPattern": pattern });
        stack.call("events", "AWSEvents.PutRule", &asked).await;
        let target = json!([{ "Id": "told", "Arn": queue.as_str() }]);
        let asked = json!({ "Rule": rule, "EventBusName": BUS, "Targets": target });
        stack.call("events", "AWSEvents.PutTargets", &asked).await;
        Self { queue, rule }
    }

    /// The alert on a replay, as the event's detail.
    pub async fn of(&self, sqs: &SqsQueue, replay: &ReplayId) -> Value {
        until("an event says that the replay stopped", async || {
            let received = sqs.receive(&self.queue, 10, Span::from_secs(1), None).await.expect("a receive");
            let events = received.iter().filter_map(|m| serde_json::from_str::<Value>(&m.content.body).ok());
            let mut details = events.map(|mut event| event["detail"].take());
            details.find(|detail| detail["replay"] == replay.as_str())
        })
        .await
    }

    /// Takes away what was made.
    pub async fn end(self, stack: &Deployed) {
        let asked = json!({ "Rule": self.rule, "EventBusName": BUS, "Ids": ["told"] });
        stack.call("events", "AWSEvents.RemoveTargets", &asked).await;
        let asked = json!({ "Name": self.rule, "EventBusName": BUS });
        stack.call("events", "AWSEvents.DeleteRule", &asked).await;
        let url = stack.call("sqs", "AmazonSQS.GetQueueUrl", &json!({ "QueueName": self.rule })).await;
        stack.call("sqs", "AmazonSQS.DeleteQueue", &json!({ "QueueUrl": url["QueueUrl"] })).await;
    }
}
