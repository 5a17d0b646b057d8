//! The store conformance suite on the embedded store, and what only an embedded store promises: it survives `kill -9`.

use harness::samples::{group, group_id, keep, letter, open};
use local::store::SqliteStore;
use office::port::{CommitError, Store, Write};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

async fn fresh() -> (SqliteStore, TempDir) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = SqliteStore::open(&folder.path().join("office.db")).expect("a new store");
    (store, folder)
}

dlo_tests::store_conformance!(fresh);

#[tokio::test]
async fn every_write_whose_condition_failed_is_named() {
    let (store, _folder) = fresh().await;
    let id = group_id("named");
    let known: Vec<_> = (0..3).map(|n| letter(&id, n)).collect();
    store.commit(keep(&known)).await.unwrap();
    let mut writes = keep(&[letter(&id, 9), known[0].clone(), letter(&id, 10), known[2].clone()]);
    writes.push(Write::ReplayIs { replay: harness::samples::replay_id("none"), version: 1 });
    let Err(CommitError::Conflict(named)) = store.commit(writes).await else { panic!("expected a conflict") };
    assert_eq!(named, [1, 3, 5]);
}

#[tokio::test]
async fn reopened_store_has_everything() {
    let (store, folder) = fresh().await;
    let id = group_id("reopened");
    let letters: Vec<_> = (0..10).map(|n| letter(&id, n)).collect();
    let mut writes = keep(&letters);
    writes.push(open(&group(&id)));
    store.commit(writes).await.unwrap();
    let facts = store.group_facts(&id, i64::MIN).await.unwrap();
    drop(store);
    let path = folder.path().join("office.db");
    let mut files: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
    files.sort();
    assert_eq!(files, ["office.db", "office.mark"], "a store that was closed has no log");
    let store = SqliteStore::open(&path).unwrap();
    assert_eq!(store.group_facts(&id, i64::MIN).await.unwrap(), facts);
    assert_eq!(store.letters_of(&id, None, None, 200).await.unwrap().items, letters);
}

#[tokio::test]
async fn killed_process_loses_nothing_that_was_committed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("office.db");
    let id = group_id("killed");
    for round in 1..=5_u64 {
        let mut child = Command::new(env!("CARGO_BIN_EXE_test-helper"))
            .arg(&path)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut last = None;
        for line in lines.map_while(Result::ok) {
            if let Some(n) = line.strip_prefix("committed ") {
                last = n.parse::<u64>().ok();
            }
            // Early rounds kill it just after the file was created, later ones in the middle of a stream of commits.
            if last.is_some_and(|n| n + 1 >= round * round * 10) {
                // SIGKILL. A commit made before the signal takes effect may or may not be stored.
                child.kill().unwrap();
            }
        }
        tokio::time::timeout(Duration::from_secs(10), tokio::task::spawn_blocking(move || child.wait()))
            .await
            .expect("a killed process ends")
            .unwrap()
            .unwrap();
        let acknowledged = last.expect("the child committed something") + 1;
        let store = SqliteStore::open(&path).unwrap();
        let facts = store.group_facts(&id, i64::MIN).await.unwrap().unwrap();
        let stored = facts.counts.deaths;
        assert!(stored >= acknowledged, "round {round}: {stored} stored, {acknowledged} acknowledged");
        assert!(stored <= acknowledged + 1, "round {round}: {stored} stored, {acknowledged} acknowledged");
        assert_eq!(facts.counts.open().letters, stored as i64);
        assert_eq!(facts.arrivals.iter().map(|(_, deaths)| deaths).sum::<u64>(), stored);
        for n in 0..stored {
            assert_eq!(store.letter(&letter(&id, n).id).await.unwrap(), Some(letter(&id, n)), "letter {n}");
        }
        assert_eq!(store.letter(&letter(&id, stored).id).await.unwrap(), None, "and no letter that is not counted");
    }
}

#[tokio::test]
async fn a_change_is_listed_once() {
    let (store, _folder) = fresh().await;
    store.commit(keep(&[letter(&group_id("a"), 1), letter(&group_id("b"), 2)])).await.unwrap();
    let start = store.changed(None).await.unwrap().unwrap().next;
    assert!(store.changed(Some(start)).await.unwrap().unwrap().groups.is_empty());
    store.commit(keep(&[letter(&group_id("a"), 3)])).await.unwrap();
    let changed = store.changed(Some(start)).await.unwrap().unwrap();
    assert_eq!(changed.groups, [group_id("a")].into());
    assert!(store.changed(Some(changed.next)).await.unwrap().unwrap().groups.is_empty());
}
