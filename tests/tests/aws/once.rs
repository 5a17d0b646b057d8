//! The conformance suite of idempotency keys on DynamoDB, as Amazon's own DynamoDB Local and MiniStack emulate it, and
//! its log of attempts.

use consumer::attempts::{Attempt, AttemptLog};
use consumer::dynamodb::{DynamoAttempts, DynamoStore};
use consumer::{Failure, Timestamp};
use dlo_tests::endpoint::{Endpoint, new_name};
use lambda::connect;

async fn on(endpoint: &Endpoint) -> DynamoStore {
    let store = DynamoStore::with_config(&connect::to_endpoint(&endpoint.url).await, new_name("once"));
    store.create_table().await.expect("a new table");
    store
}

/// Three instances see one log: the newest attempts in order, trimmed, also when they write at once.
async fn attempts_are_kept_in_order_and_forgotten(endpoint: &Endpoint) {
    let config = connect::to_endpoint(&endpoint.url).await;
    let table = new_name("once");
    DynamoStore::with_config(&config, &table).create_table().await.expect("a new table");
    let open = || DynamoAttempts::with_config(&config, &table);
    let (one, other) = (open(), open());
    let attempt = |n: i64| Attempt::new(&Failure::unknown("E", n.to_string()), Timestamp::from_ms(n), "i-1");
    assert_eq!(one.load(&"m-1".into()).await.unwrap(), []);
    for n in 0..40 {
        one.append(&"m-1".into(), attempt(n)).await.unwrap();
    }
    one.append(&"m-2".into(), attempt(7)).await.unwrap();
    let seen = other.load(&"m-1".into()).await.unwrap();
    let errors: Vec<&str> = seen.iter().map(|attempt| attempt.error.as_str()).collect();
    assert_eq!((errors.len(), errors[0], errors[15]), (16, "E: 24", "E: 39"));
    other.forget(&"m-1".into()).await.unwrap();
    assert_eq!(one.load(&"m-1".into()).await.unwrap(), []);
    assert_eq!(one.load(&"m-2".into()).await.unwrap(), [attempt(7)]);
    let at_once = (0..40).map(|n| {
        let log = open();
        let attempt = attempt(n);
        tokio::spawn(async move { log.append(&"m-3".into(), attempt).await })
    });
    for written in at_once.collect::<Vec<_>>() {
        written.await.unwrap().unwrap();
    }
    assert_eq!(one.load(&"m-3".into()).await.unwrap().len(), 16);
}

mod ministack {
    use super::on;
    use consumer::dynamodb::DynamoStore;
    use dlo_tests::endpoint::Endpoint;
    use std::sync::LazyLock;

    static ENDPOINT: LazyLock<Endpoint> = LazyLock::new(Endpoint::ministack);

    async fn fresh() -> DynamoStore {
        on(&ENDPOINT).await
    }

    dlo_tests::once_conformance!(fresh);

    #[tokio::test]
    async fn attempts_are_kept_in_order_and_forgotten() {
        super::attempts_are_kept_in_order_and_forgotten(&ENDPOINT).await;
    }
}

mod dynamodb_local {
    use super::on;
    use consumer::dynamodb::DynamoStore;
    use dlo_tests::endpoint::Endpoint;
    use std::sync::LazyLock;

    static ENDPOINT: LazyLock<Endpoint> = LazyLock::new(Endpoint::dynamodb_local);

    async fn fresh() -> DynamoStore {
        on(&ENDPOINT).await
    }

    // Its version, of 2020, returns no item with a refused condition, so the store reads it: the same results.
    dlo_tests::once_conformance!(fresh);

    #[tokio::test]
    async fn attempts_are_kept_in_order_and_forgotten() {
        super::attempts_are_kept_in_order_and_forgotten(&ENDPOINT).await;
    }
}
