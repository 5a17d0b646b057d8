//! The conformance suite of idempotency keys on SQLite, and its log of attempts.

use consumer::Failure;
use consumer::attempts::{Attempt, AttemptLog};
use consumer::sqlite::SqliteStore;
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
