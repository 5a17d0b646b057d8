//! A process that tests start. It is a worker for payload transforms if it is started as one. Otherwise it works until it
//! is killed, and prints what it has done:
//!
//! * `test-helper <store>` commits letters to a store, one after the other, and prints each acknowledged commit;
//! * `test-helper orders <folder> <count>` handles so many orders of the demo service, and prints the number of handled
//!   ones again and again. It ends when the main queue is empty. With a last word `outage` its payment service is down
//!   at first, until the circuit has opened; meanwhile it prints the number of retried orders.

use domain::id::QueueArn;
use domain::time::Span;
use harness::samples::{group, group_id, keep, letter, open};
use local::machine;
use local::orders::{Kind, Mix, Orders, OrdersConfig};
use local::queue::{EmbeddedQueue, QueueSettings};
use local::store::SqliteStore;
use office::port::Store;
use queue::Queue;
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Receives of one order before it is dead-lettered: more than a test kills.
const RECEIVES_MAX: u32 = 1_000;
/// Orders that go back to their queue before an outage ends: more than the failures that open the circuit.
const OUTAGE_RETRIES: u64 = 30;
/// The main queue may be empty once nothing was handled for this long.
const LOOKED_EVERY: Duration = Duration::from_millis(50);

fn main() {
    transform::work_if_asked();
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    match args.as_slice() {
        [store] => runtime.block_on(commit_until_killed(Path::new(store))),
        [orders, folder, count, outage @ ..] if orders == "orders" => {
            let count = count.to_str().and_then(|count| count.parse().ok()).expect("a number of orders");
            runtime.block_on(handle_until_killed(Path::new(folder), count, outage == ["outage"]));
        }
        _ => panic!("usage: test-helper <store> | test-helper orders <folder> <count> [outage]"),
    }
}

/// Prints a line. Returns false once the test has ended.
fn prints(line: &str) -> bool {
    let mut out = std::io::stdout();
    writeln!(out, "{line}").and_then(|()| out.flush()).is_ok()
}

async fn commit_until_killed(path: &Path) {
    let store = SqliteStore::open(path).expect("the store opens");
    let id = group_id("killed");
    let from = store.group_facts(&id, 0).await.expect("the facts").map_or(0, |facts| facts.counts.deaths);
    if from == 0 {
        store.commit(vec![open(&group(&id))]).await.expect("the group is stored");
    }
    for n in from.. {
        store.commit(keep(&[letter(&id, n)])).await.expect("the letter is stored");
        if !prints(&format!("committed {n}")) {
            return;
        }
    }
}

async fn handle_until_killed(folder: &Path, count: u32, outage: bool) {
    let queue = EmbeddedQueue::open(&folder.join("queues.db"), Arc::new(machine::now)).expect("the queues open");
    let named = |name: &str| QueueArn::new(format!("arn:aws:sqs:local:000000000000:{name}"));
    let (main, dlq) = (named("orders"), named("orders-dlq"));
    queue.create_queue(&dlq, QueueSettings::default()).await.expect("a queue");
    let settings = QueueSettings { visibility_timeout: Span::from_secs(1), ..QueueSettings::default() };
    queue.create_queue(&main, settings.dead_letters_to(&dlq, RECEIVES_MAX)).await.expect("a queue");
    let queue = Arc::new(queue);
    let config = OrdersConfig { orders_per_s: 0, ..OrdersConfig::new(main.clone(), dlq, folder.join("orders.json")) };
    let orders = Orders::start(queue.clone(), config).await.expect("the service starts");
    orders.set_payments(!outage);
    if orders.status().await.state.placed_count == 0 {
        orders.place(count, Mix::Only(Kind::Good)).await.expect("orders are placed");
    }
    if outage {
        let first = orders.status().await.state.retried_count;
        let mut retried = first;
        while retried < first + OUTAGE_RETRIES {
            orders.wait_for(|state| state.retried_count > retried).await;
            retried = orders.status().await.state.retried_count;
            if !prints(&format!("retried {retried}")) {
                return;
            }
        }
        orders.set_payments(true);
    }
    loop {
        let handled = orders.status().await.state.handled_count;
        if !prints(&format!("handled {handled}")) {
            return;
        }
        let more = orders.wait_for(|state| state.handled_count > handled);
        if tokio::time::timeout(LOOKED_EVERY, more).await.is_ok() {
            continue;
        }
        let depth = queue.attributes(&main).await.expect("the queue's depth");
        if depth.visible_count + depth.in_flight_count == 0 {
            break;
        }
    }
    orders.shut_down().await;
    prints("done");
}
