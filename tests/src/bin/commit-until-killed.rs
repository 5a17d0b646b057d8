//! Commits letters to the store at a path, one after the other, and prints the number of each acknowledged commit.
//!
//! A helper of the test `killed_process_loses_nothing_that_was_committed`, which starts and kills it.

use harness::samples::{group, group_id, keep, letter, open};
use local::store::SqliteStore;
use office::port::Store;
use std::io::Write;
use std::path::Path;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let path = std::env::args_os().nth(1).expect("usage: commit-until-killed <store>");
    let store = SqliteStore::open(Path::new(&path)).expect("the store opens");
    let id = group_id("killed");
    let from = store.group_facts(&id, 0).await.expect("the facts").map_or(0, |facts| facts.counts.deaths);
    if from == 0 {
        store.commit(vec![open(&group(&id))]).await.expect("the group is stored");
    }
    let mut out = std::io::stdout();
    for n in from.. {
        store.commit(keep(&[letter(&id, n)])).await.expect("the letter is stored");
        if writeln!(out, "committed {n}").and_then(|()| out.flush()).is_err() {
            // The test has ended.
            return;
        }
    }
}
