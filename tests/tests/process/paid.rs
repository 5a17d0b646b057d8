//! `kill -9` of the demo service at random moments: each order is paid exactly once.

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
/// The deadline for one life of the service.
const DEADLINE: Duration = Duration::from_secs(60);

fn start(folder: &Path) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_test-helper"));
    command.arg("orders").arg(folder).arg(ORDERS.to_string());
    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the helper starts")
}

/// Runs the service until it has handled so many orders, by its own count, and kills it. Returns whether it was done.
fn run(folder: &Path, handled_max: u64) -> bool {
    let mut child = start(folder);
    let lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    let (mut from, mut is_done) = (None, false);
    for line in lines.map_while(Result::ok) {
        is_done |= line == "done";
        let Some(handled) = line.strip_prefix("handled ").and_then(|n| n.parse::<u64>().ok()) else { continue };
        if handled - *from.get_or_insert(handled) >= handled_max {
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
        // The last life is not ended.
        let handled_max = if n < KILLS { 1 + chance.below(HANDLED_MAX) as u64 } else { u64::MAX };
        let path = folder.path().to_owned();
        let life = tokio::task::spawn_blocking(move || run(&path, handled_max));
        lives.push(tokio::time::timeout(DEADLINE, life).await.expect("a life within its deadline").expect("no panic"));
    }
    assert_eq!(lives.iter().filter(|is_done| !**is_done).count() as u64, KILLS, "each was killed at work: {lives:?}");
    let paid = payments(folder.path());
    let wrong: Vec<_> = paid.iter().filter(|(_, times)| **times != 1).collect();
    assert_eq!((paid.len() as u64, wrong), (ORDERS, vec![]), "each order is paid, and once");
}
