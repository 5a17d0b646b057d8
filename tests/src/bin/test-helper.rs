//! A process that tests start. It is a worker for payload transforms if it is started as one; otherwise
//! `test-helper <store>` commits letters to a store, one after the other, and prints the number of each acknowledged
//! commit until it is killed.

use harness::samples::{group, group_id, keep, letter, open};
use local::store::SqliteStore;
use office::port::Store;
use std::io::Write;
use std::path::Path;

fn main() {
    transform::work_if_asked();
    let path = std::env::args_os().nth(1).expect("usage: test-helper <store>");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(commit_until_killed(Path::new(&path)));
}

async fn commit_until_killed(path: &Path) {
    let store = SqliteStore::open(path).expect("the store opens");
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
