//! The demo's second service, `orders-py`: a Python function that reports nothing and stamps nothing, as most consumers
//! do. It really runs, and really throws; why it did stands in its log only. Without Python the demo goes without it.

use crate::private;
use domain::deployment::AttachedConsumer;
use domain::id::QueueArn;
use domain::message::Content;
use domain::time::Span;
use queue::{Outgoing, Queue, Received};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// The service's name.
pub const SERVICE: &str = "orders-py";
/// The name of its log, also that of the file in the demo's folder.
pub const LOG: &str = "orders-py.log";
const APP: &str = include_str!("orders_py/app.py");
/// The time between two orders: slow, so that the demo stays about `orders`.
const ORDER_EVERY: Duration = Duration::from_secs(4);
/// Orders until the producer ends, so that the log does not grow without limit: half an hour, and 200 kB.
const ORDERS_MAX: u64 = 450;
/// One in so many orders lacks its price.
const PRICELESS_EVERY: u64 = 3;
/// How long the function may take for an order.
const ANSWER_MAX: Duration = Duration::from_secs(10);
/// How long a receive waits, which is also the longest that a shutdown takes.
const RECEIVE_WAIT: Span = Span::from_secs(1);
/// How long the consumer waits after its queue has failed.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// The running service.
pub struct OrdersPy {
    close: watch::Sender<bool>,
    workers: Vec<JoinHandle<()>>,
}

/// The function's process.
struct Function {
    child: Child,
    stdin: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

impl OrdersPy {
    /// Starts the function, its consumer and its producer. Returns `None` if there is no Python to run it.
    pub fn start(queue: Arc<dyn Queue>, main: QueueArn, log: PathBuf, produces: bool) -> Option<Self> {
        let function = Function::start(&log)?;
        let (close, shutdown) = watch::channel(false);
        let mut workers = vec![tokio::spawn(consume(queue.clone(), main.clone(), function, shutdown.clone()))];
        if produces {
            workers.push(tokio::spawn(produce(queue, main, shutdown)));
        }
        Some(Self { close, workers })
    }

    /// Returns what a platform would say about the service.
    pub fn consumer() -> AttachedConsumer {
        AttachedConsumer {
            service: SERVICE.into(),
            log_group: Some(LOG.into()),
            enabled: true,
            state: "Enabled".into(),
            batch_size: Some(1),
            ..AttachedConsumer::default()
        }
    }

    /// Ends consumer, producer and function.
    pub async fn shut_down(self) {
        self.close.send_replace(true);
        for worker in self.workers {
            let _ = worker.await;
        }
    }
}

impl Function {
    fn start(log: &std::path::Path) -> Option<Self> {
        // Python would create it readable for everybody.
        private::create(log).ok()?;
        let mut python = Command::new("python3");
        // Isolated: no module of the current folder, and no variable of the environment, takes part.
        python.args(["-I", "-c", APP]).arg(log).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = python.kill_on_drop(true).spawn().ok()?;
        let (stdin, stdout) = (child.stdin.take()?, child.stdout.take()?);
        Some(Self { child, stdin, answers: BufReader::new(stdout).lines() })
    }

    /// Handles a batch of one. Returns whether the function succeeded; `None` if it is gone.
    async fn handle(&mut self, message: &Received) -> Option<bool> {
        let record = json!({ "messageId": message.message_id, "body": message.content.body });
        let event = json!({ "Records": [record] }).to_string() + "\n";
        self.stdin.write_all(event.as_bytes()).await.ok()?;
        self.stdin.flush().await.ok()?;
        let answer = timeout(ANSWER_MAX, self.answers.next_line()).await.ok()?.ok()??;
        let answer: Value = serde_json::from_str(&answer).ok()?;
        Some(answer["ok"] == true)
    }

    /// Ends the process: it ends itself when its input ends.
    async fn end(mut self) {
        drop(self.stdin);
        if timeout(ANSWER_MAX, self.child.wait()).await.is_err() {
            // It is killed when it is dropped, too.
            let _ = self.child.kill().await;
        }
    }
}

/// Hands messages to the function until shutdown, and deletes those on which it succeeds. The queue dead-letters the
/// others without a word.
async fn consume(queue: Arc<dyn Queue>, main: QueueArn, mut function: Function, mut shutdown: watch::Receiver<bool>) {
    loop {
        let received = tokio::select! {
            received = queue.receive(&main, 1, RECEIVE_WAIT, None) => received,
            _ = shutdown.wait_for(|shutdown| *shutdown) => break,
        };
        let messages = match received {
            Ok(messages) => messages,
            Err(error) => {
                tracing::warn!(%error, "orders-py received nothing");
                tokio::time::sleep(RETRY_AFTER).await;
                continue;
            }
        };
        for message in messages {
            match function.handle(&message).await {
                Some(true) => {
                    if let Err(error) = queue.delete_batch(&main, &[message.receipt_handle]).await {
                        tracing::warn!(%error, "orders-py did not delete an order; it will be redelivered");
                    }
                }
                Some(false) => {}
                None => return tracing::error!("the Python process of orders-py is gone; its queue has no consumer"),
            }
        }
    }
    function.end().await;
}

async fn produce(queue: Arc<dyn Queue>, main: QueueArn, mut shutdown: watch::Receiver<bool>) {
    let mut tick = tokio::time::interval(ORDER_EVERY);
    for number in 1..=ORDERS_MAX {
        tokio::select! {
            _ = tick.tick() => {}
            _ = shutdown.wait_for(|shutdown| *shutdown) => return,
        }
        match queue.send_batch(&main, &[order(number)]).await {
            Ok(sent) if sent.iter().all(Result::is_ok) => {}
            other => tracing::warn!(?other, "placing a partner order failed"),
        }
    }
}

/// Returns a partner's order. Some lack their price: a partner's mistake, for which a payload transform is the fix.
fn order(number: u64) -> Outgoing {
    let mut order =
        json!({ "type": "partner.order", "order_id": format!("par_{number:05}"), "quantity": 1 + number % 4 });
    if !number.is_multiple_of(PRICELESS_EVERY) {
        order["price"] = json!(10 + number % 90);
    }
    Outgoing { content: Content { body: order.to_string(), ..Content::default() }, ..Outgoing::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::{EmbeddedQueue, QueueSettings};

    /// Ends a test whose condition never comes true.
    const TEST_MAX: Duration = Duration::from_secs(120);

    #[tokio::test]
    async fn an_order_without_a_price_dies_without_a_word_and_the_log_says_why() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join(LOG);
        let queue = Arc::new(EmbeddedQueue::open_in_memory(Arc::new(crate::machine::now)).unwrap());
        let named = |name: &str| QueueArn::new(format!("arn:aws:sqs:local:000000000000:{name}"));
        let (main, dlq) = (named("orders-py"), named("orders-py-dlq"));
        queue.create_queue(&dlq, QueueSettings::default()).await.unwrap();
        let short = QueueSettings { visibility_timeout: Span::from_secs(1), ..QueueSettings::default() };
        queue.create_queue(&main, short.dead_letters_to(&dlq, 1)).await.unwrap();
        let Some(service) = OrdersPy::start(queue.clone(), main.clone(), log.clone(), false) else {
            // Without Python there is nothing to test.
            return;
        };
        for number in 1..=3 {
            queue.send_batch(&main, &[order(number)]).await.unwrap().remove(0).unwrap();
        }
        let dead = timeout(TEST_MAX, async {
            loop {
                let received = queue.receive(&dlq, 10, RECEIVE_WAIT, None).await.unwrap();
                if let Some(message) = received.into_iter().next() {
                    return message;
                }
            }
        });
        let dead = dead.await.expect("one order is dead-lettered");
        assert!(dead.content.body.contains("par_00003") && dead.content.attributes.is_empty());
        service.shut_down().await;
        let lines = domain::logs::lines(&std::fs::read_to_string(&log).unwrap());
        let errors: Vec<_> = lines.iter().filter_map(|(_, text)| domain::logs::read(text).failure).collect();
        assert_eq!(errors.len(), 1, "{lines:?}");
        assert_eq!(
            (errors[0].error_type.as_deref(), errors[0].message.as_deref()),
            (Some("KeyError"), Some("'price'"))
        );
        assert_eq!(lines.iter().filter(|(_, text)| text.contains("costs")).count(), 2);
        #[cfg(unix)]
        {
            let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&log).unwrap().permissions());
            assert_eq!(mode & 0o777, 0o600, "nobody else reads the log");
        }
    }
}
