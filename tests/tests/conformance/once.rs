//! The conformance suite of idempotency keys on SQLite, and its log of attempts.

use consumer::Failure;
use consumer::attempts::{Attempt, AttemptLog};
use consumer::once::{Lease, Leasing, OnceStore};
use consumer::sqlite::{SqliteStore, insert_once};
use domain::time::Timestamp;

async fn fresh() -> SqliteStore {
    SqliteStore::open_in_memory().expect("a database")
}

dlo_tests::once_conformance!(fresh);

#[tokio::test]
async fn two_processes_share_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let open = || SqliteStore::open(folder.path().join("keys.db")).unwrap();
    let (one, other) = (open(), open());
    for n in 0..20 {
        let attempt = Attempt::new(&Failure::unknown("E", n.to_string()), Timestamp::from_ms(n), "i-1");
        one.append(&"m-1".into(), attempt.clone()).await.unwrap();
        one.append(&"m-2".into(), attempt).await.unwrap();
    }
    let seen = other.load(&"m-1".into()).await.unwrap();
    let errors: Vec<&str> = seen.iter().map(|attempt| attempt.error.as_str()).collect();
    assert_eq!((errors.len(), errors[0], errors[15]), (16, "E: 4", "E: 19"));
    other.forget(&"m-1".into()).await.unwrap();
    assert_eq!(one.load(&"m-1".into()).await.unwrap(), []);
    assert_eq!(one.load(&"m-2".into()).await.unwrap().len(), 16);
}

/// Or a message would be acknowledged whose work then fails.
#[tokio::test]
async fn work_in_progress_is_not_taken_for_work_done() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("keys.db");
    let (store, at) = (SqliteStore::open(&file).unwrap(), |s: i64| Timestamp::from_ms(s * 1_000));
    let mut connection = rusqlite::Connection::open(&file).unwrap();
    let mut insert = |key: &str, s: i64| {
        let transaction = connection.transaction().unwrap();
        let lease = insert_once(&transaction, key, at(s), at(86_400)).unwrap();
        transaction.commit().unwrap();
        lease
    };
    let leasing = Leasing { key: "a", token: "t", now: at(0), until: at(30), expires_at: at(86_400) };
    assert_eq!(store.lease(&leasing).await.unwrap(), Lease::Granted);
    assert_eq!(insert("a", 29), Lease::InProgress { until: at(30) });
    assert!(store.complete("a", "t", "7", at(86_400)).await.unwrap());
    assert_eq!(insert("a", 31), Lease::Done { result: "7".into() });
    assert_eq!(insert("b", 31), Lease::Granted);
    assert_eq!(insert("b", 32), Lease::Done { result: "null".into() });
    assert_eq!(store.lease(&Leasing { key: "b", ..leasing }).await.unwrap(), Lease::Done { result: "null".into() });
}

/// Nobody forgets a message that SQS itself dead-lettered or deleted.
#[tokio::test]
async fn old_attempts_go_with_new_ones() {
    let (store, day_ms) = (fresh().await, 86_400_000);
    let attempt = |ms| Attempt::new(&Failure::unknown("E", "e"), Timestamp::from_ms(ms), "i-1");
    let kept = async |message: &str| store.load(&message.into()).await.unwrap().len();
    store.append(&"m-1".into(), attempt(0)).await.unwrap();
    store.append(&"m-2".into(), attempt(15 * day_ms)).await.unwrap();
    assert_eq!((kept("m-1").await, kept("m-2").await), (1, 1));
    store.append(&"m-3".into(), attempt(15 * day_ms + 1)).await.unwrap();
    assert_eq!((kept("m-1").await, kept("m-2").await, kept("m-3").await), (0, 1, 1));
}
