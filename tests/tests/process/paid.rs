//! `kill -9` of the demo service at random moments, also while its payment service is down and the circuit opens: each
//! order is paid exactly once.

use harness::samples::Chance;
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The orders of a run.
const ORDERS: u64 = 1_000;
/// The kills of a run. Each leaves up to ten orders that were handled and not deleted, or half handled.
const KILLS: u64 = 6;
/// The most orders that a life handles before it is killed: half of what would leave nothing for the last one.
const HANDLED_MAX: usize = 80;
/// The most orders that a life sends back in an outage before it is killed: less than what ends the outage.
const RETRIED_MAX: usize = 25;
/// The deadline for one life of the service.
const DEADLINE: Duration = Duration::from_secs(60);

/// One life of the service.
#[derive(Clone, Copy)]
enum Life {
    /// Ends after so many handled orders.
    Handles(u64),
    /// Begins with an outage of the payment service, and ends in it after so many retried orders.
    InOutage(u64),
    /// Begins with an outage, and is not ended.
    Last,
}

fn start(folder: &Path, life: Life) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_test-helper"));
    command.arg("orders").arg(folder).arg(ORDERS.to_string());
    if !matches!(life, Life::Handles(_)) {
        command.arg("outage");
    }
    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the helper starts")
}

/// Runs the service until the end of its life, by its own counts, and kills it. Returns whether it was done.
fn run(folder: &Path, life: Life) -> bool {
    let mut child = start(folder, life);
    let (counted, count_max) = match life {
        Life::Handles(max) => ("handled ", max),
        Life::InOutage(max) => ("retried ", max),
        Life::Last => ("handled ", u64::MAX),
    };
    let lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    let (mut from, mut is_done) = (None, false);
    for line in lines.map_while(Result::ok) {
        is_done |= line == "done";
        let Some(count) = line.strip_prefix(counted).and_then(|n| n.parse::<u64>().ok()) else { continue };
        if count - *from.get_or_insert(count) >= count_max {
            child.kill().expect("a running process");
        }
    }
    child.wait().expect("a process that has ended");
    is_done
}

/// Returns how often each order was paid.
fn payments(folder: &Path) -> BTreeMap<String, u64> {
    let ledger = Connection::open(folder.join(local::orders::LEDGER)).expect("the ledger");
    let mut rows = ledger.prepare("SELECT key, count(*) FROM payment GROUP BY key").expect("a statement");
    let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get::<_, i64>(1)?.cast_unsigned()));
    rows.query_map([], row).expect("rows").map(|row| row.expect("a row")).collect()
}

#[tokio::test]
async fn a_killed_service_pays_each_order_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let seed = std::env::var("DLO_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(20_261_123);
    println!("repeat this run with DLO_SEED={seed}");
    let mut chance = Chance(seed);
    let mut lives = Vec::new();
    for n in 0..=KILLS {
        let life = match n {
            KILLS => Life::Last,
            _ if n % 2 == 0 => Life::Handles(1 + chance.below(HANDLED_MAX) as u64),
            _ => Life::InOutage(chance.below(RETRIED_MAX) as u64),
        };
        let path = folder.path().to_owned();
        let life = tokio::task::spawn_blocking(move || run(&path, life));
        lives.push(tokio::time::timeout(DEADLINE, life).await.expect("a life within its deadline").expect("no panic"));
    }
    assert_eq!(lives.iter().filter(|is_done| !**is_done).count() as u64, KILLS, "each was killed at work: {lives:?}");
    let paid = payments(folder.path());
    let wrong: Vec<_> = paid.iter().filter(|(_, times)| **times != 1).collect();
    assert_eq!((paid.len() as u64, wrong), (ORDERS, vec![]), "each order is paid, and once");
}
