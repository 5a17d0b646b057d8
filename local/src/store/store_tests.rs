//! Tests specific to the embedded store: query plans, the file, and a full disk.

use super::*;
use rusqlite::Connection;
use std::error::Error;
use std::path::PathBuf;
use tempfile::TempDir;

fn new_path() -> (PathBuf, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    (folder.path().join("office.db"), folder)
}

/// Returns a write that depends on no other record: a deployment with a version of this size.
fn deployment(service: &str, bytes: usize) -> Write {
    let version = "v".repeat(bytes);
    let at = domain::time::Timestamp::from_ms(1);
    Write::Deployment {
        deployment: Deployment { service: service.into(), version, commit: None, at },
        believed_until: at,
    }
}

fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

#[test]
fn every_read_uses_an_index_that_has_its_order() {
    let (path, _folder) = new_path();
    let db = schema::open_writer(&path, &Opening::default()).unwrap().db;
    for (text, index) in sql::ALL {
        let mut statement = db.prepare(&format!("EXPLAIN QUERY PLAN {text}")).unwrap();
        let values = vec![rusqlite::types::Null; statement.parameter_count()];
        let steps = statement.query_map(rusqlite::params_from_iter(values), |row| row.get::<_, String>(3)).unwrap();
        let steps: Vec<_> = steps.map(Result::unwrap).collect();
        assert!(steps[0].ends_with(index), "{text}\n{}", steps.join("\n"));
        for step in &steps {
            // The list of unfinished replays is a full scan of a partial index that contains nothing else.
            let whole_list = step.starts_with("SCAN replay USING ") && step.ends_with("INDEX replay_unfinished");
            let searched = step.starts_with("SEARCH ") || step.starts_with("SCALAR SUBQUERY") || whole_list;
            assert!(searched, "{text}\n{}", steps.join("\n"));
        }
    }
}

#[test]
fn newer_and_foreign_files_are_refused_and_not_changed() {
    let (path, folder) = new_path();
    schema::open_writer(&path, &Opening::default()).unwrap().close();
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let error = SqliteStore::open(&path).err().unwrap();
    assert!(matches!(error, OpenError::Newer { found: 99, newest: 12, .. }), "{error:?}");
    assert!(error.to_string().contains("use the newer program"), "{error}");

    let text = folder.path().join("letters.txt");
    std::fs::write(&text, "Dear Sir or Madam, ".repeat(500)).unwrap();
    let foreign = folder.path().join("foreign.db");
    Connection::open(&foreign).unwrap().execute_batch("CREATE TABLE letter (id TEXT)").unwrap();
    for path in [text, foreign] {
        let before = std::fs::read(&path).unwrap();
        let error = SqliteStore::open(&path).err().unwrap();
        assert!(matches!(error, OpenError::NotAStore { .. }), "{error:?}");
        assert_eq!(std::fs::read(&path).unwrap(), before, "{}", path.display());
    }
    let nowhere = folder.path().join("no such folder").join("office.db");
    let error = SqliteStore::open(&nowhere).err().unwrap();
    assert!(matches!(error, OpenError::File { .. }), "{error:?}");
    assert!(chain(&error).contains("unable to open"), "{}", chain(&error));
}

#[tokio::test]
async fn letters_delivered_under_an_older_version_are_deleted_too() {
    let (path, _folder) = new_path();
    let old = "
        DROP TABLE draft;
        DROP TABLE block;
        CREATE TABLE entry (book INTEGER);
        DROP TABLE policy;
        DROP TABLE reports;
        DROP TABLE notices;
        DROP TABLE change;
        DROP TABLE snapshot;
        DROP TABLE clock;
        DROP INDEX letter_by_closing;
        ALTER TABLE letter DROP COLUMN closed_at;
        ALTER TABLE letter DROP COLUMN checksum;
        ALTER TABLE content DROP COLUMN checksum;
        ALTER TABLE group_count DROP COLUMN checksum;
        PRAGMA user_version = 3;
        INSERT INTO letter (id, version, group_id, state, open, sent_at, loss_at, record) VALUES
            ('a', 3, 'g', 'delivered', 0, 0, 0, '{\"state\":\"delivered\",\"replay\":\"r\",\"at\":5}'),
            ('b', 3, 'g', 'delivered', 0, 0, 0, '{\"state\":\"delivered\",\"replay\":\"r\",\"at\":7}'),
            ('c', 1, 'g', 'quarantined', 1, 0, 0, '{\"state\":\"quarantined\",\"at\":5}');";
    schema::open_writer(&path, &Opening::default()).unwrap().db.execute_batch(old).unwrap();
    let store = SqliteStore::open(&path).unwrap();
    assert_eq!(store.forget(Closed::Delivered, Timestamp::from_ms(6), 10).await.unwrap(), 1);
    drop(store);
    let left: String = Connection::open(&path)
        .unwrap()
        .query_row("SELECT group_concat(id ORDER BY id) FROM letter", [], |row| row.get(0))
        .unwrap();
    assert_eq!(left, "b,c");
}

#[tokio::test]
async fn empty_file_becomes_a_store() {
    let (path, _folder) = new_path();
    std::fs::write(&path, "").unwrap();
    let store = SqliteStore::open(&path).unwrap();
    store.commit(vec![deployment("orders", 5)]).await.unwrap();
    assert!(store.deployment("orders").await.unwrap().is_some());
}

#[tokio::test]
async fn full_disk_fails_the_commit_and_changes_nothing() {
    let (path, _folder) = new_path();
    let file = schema::open_writer(&path, &Opening::default()).unwrap();
    // SQLite reports this limit in the same way as a full disk.
    file.db.pragma_update(None, "max_page_count", 200).unwrap();
    let store = SqliteStore::with_file(&path, &Opening::default(), file).unwrap();
    store.commit(vec![deployment("before", 10_000)]).await.unwrap();
    let big = vec![deployment("small", 10), deployment("big", 2_000_000)];
    let Err(CommitError::Store(error)) = store.commit(big).await else { panic!("expected a fault") };
    assert!(chain(&error).contains("full"), "{}", chain(&error));
    assert!(store.deployment("small").await.unwrap().is_none(), "all or nothing");
    assert!(store.deployment("before").await.unwrap().is_some());
    store.commit(vec![deployment("after", 10_000)]).await.unwrap();
    assert!(store.deployment("after").await.unwrap().is_some(), "commits succeed again once there is room");
}

#[tokio::test]
async fn full_disk_fails_every_commit_of_its_transaction() {
    let (path, _folder) = new_path();
    let file = schema::open_writer(&path, &Opening::default()).unwrap();
    file.db.pragma_update(None, "max_page_count", 200).unwrap();
    let store = SqliteStore::with_file(&path, &Opening::default(), file).unwrap();
    for round in 0..20 {
        // Chance decides which commits share a transaction. Acknowledged commits are stored, all others are not.
        let small = [format!("a{round}"), format!("b{round}")];
        let done = tokio::join!(
            store.commit(vec![deployment(&small[0], 10)]),
            store.commit(vec![deployment("big", 2_000_000)]),
            store.commit(vec![deployment(&small[1], 10)]),
        );
        assert!(done.1.is_err());
        for (service, outcome) in small.iter().zip([done.0, done.2]) {
            assert_eq!(store.deployment(service).await.unwrap().is_some(), outcome.is_ok(), "{service}");
        }
    }
}

#[tokio::test]
async fn unreadable_record_is_an_error_that_names_it() {
    let (path, _folder) = new_path();
    let store = SqliteStore::open(&path).unwrap();
    let db = Connection::open(&path).unwrap();
    db.execute("INSERT INTO error_group VALUES ('g1', 1, '{\"id\":7}')", []).unwrap();
    let error = store.group(&GroupId::from("g1")).await.unwrap_err();
    assert!(
        chain(&error).starts_with("the store failed to read group g1: a stored group could not be read"),
        "{error}"
    );
    assert!(store.group(&GroupId::from("g2")).await.unwrap().is_none(), "other records stay readable");
}

#[tokio::test]
async fn changed_body_is_refused_wherever_it_is_read() {
    let (path, _folder) = new_path();
    let store = SqliteStore::open(&path).unwrap();
    let db = Connection::open(&path).unwrap();
    db.execute_batch(&letter_with_content("{\"body\":\"10 EUR\"}")).unwrap();
    db.execute("UPDATE content SET record = '{\"body\":\"90 EUR\"}'", []).unwrap();
    let error = store.letter(&LetterId::from("a")).await.unwrap_err();
    assert!(chain(&error).contains("a stored content has changed since it was written"), "{}", chain(&error));
    drop((store, db));

    let error = SqliteStore::open(&path).err().unwrap();
    assert!(chain(&error).contains("has changed since it was written (letter a)"), "{}", chain(&error));
    let accepted = Opening { accept_damage: true, ..Opening::default() };
    assert!(SqliteStore::open_as(&path, &accepted).is_ok());
}

/// Returns statements that write a letter with this content, and the checksums of both.
pub(crate) fn letter_with_content(content: &str) -> String {
    let (of_letter, of_content) = (read::checksum("{}"), read::checksum(content));
    format!(
        "INSERT INTO letter (key, id, version, group_id, state, open, sent_at, loss_at, record, checksum)
            VALUES (1, 'a', 1, 'g', 'waiting', 1, 0, 0, '{{}}', {of_letter});
        INSERT INTO content (letter, record, checksum) VALUES (1, '{content}', {of_content});"
    )
}

#[tokio::test]
async fn many_concurrent_readers_and_writers_all_get_their_result() {
    let (path, _folder) = new_path();
    let store = std::sync::Arc::new(SqliteStore::open(&path).unwrap());
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..300 {
        let store = store.clone();
        tasks.spawn(async move {
            let service = format!("service {n}");
            store.commit(vec![deployment(&service, 100)]).await.unwrap();
            assert!(store.deployment(&service).await.unwrap().is_some(), "reads its own commit");
        });
    }
    while let Some(task) = tasks.join_next().await {
        task.unwrap();
    }
}

#[tokio::test]
async fn commit_of_a_caller_that_has_gone_is_still_done() {
    let (path, _folder) = new_path();
    let store = SqliteStore::open(&path).unwrap();
    {
        let mut commit = Box::pin(store.commit(vec![deployment("orders", 5)]));
        // Polled once, the commit is in the writer's queue; then its caller is dropped.
        assert!(polled_once(&mut commit).is_none());
    }
    drop(store);
    let store = SqliteStore::open(&path).unwrap();
    assert!(store.deployment("orders").await.unwrap().is_some(), "closing finishes pending commits");
    let missing = Write::ReplayIs { replay: "none".into(), version: 1 };
    assert!(matches!(store.commit(vec![missing]).await, Err(CommitError::Conflict(at)) if at == [0]));
}

fn polled_once<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match std::pin::Pin::new(future).poll(&mut context) {
        std::task::Poll::Ready(output) => Some(output),
        std::task::Poll::Pending => None,
    }
}
