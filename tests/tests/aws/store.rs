//! The store conformance suite on DynamoDB, as Amazon's own DynamoDB Local and MiniStack emulate it.
//!
//! The newest DynamoDB Local in a package registry allows ten actions in a transaction; DynamoDB allows 100. Cases with
//! larger commits are skipped there.

mod dynamodb_local {
    use dlo_tests::endpoint::Endpoint;
    use lambda::store::DynamoStore;
    use std::sync::LazyLock;

    static ENDPOINT: LazyLock<Endpoint> = LazyLock::new(Endpoint::dynamodb_local);

    async fn fresh() -> (DynamoStore, ()) {
        (ENDPOINT.store().await, ())
    }

    dlo_tests::store_conformance!(fresh, skip_large: "DynamoDB Local allows ten actions in a transaction");
}

mod ministack {
    use dlo_tests::conformance::store::{commit, stored};
    use dlo_tests::endpoint::Endpoint;
    use domain::discard::Closed;
    use domain::letter::{Letter, LetterState};
    use domain::message::Content;
    use domain::time::Timestamp;
    use harness::samples::{group_id, keep, letter, move_letters, put, replay_id};
    use lambda::connect;
    use lambda::store::DynamoStore;
    use office::port::Store;
    use serde_json::{Value, json};
    use std::sync::LazyLock;

    static ENDPOINT: LazyLock<Endpoint> = LazyLock::new(Endpoint::ministack);

    async fn fresh() -> (DynamoStore, ()) {
        (ENDPOINT.store().await, ())
    }

    dlo_tests::store_conformance!(fresh);

    /// Returns all records of a table in DynamoDB's own JSON.
    async fn records(table: &str) -> Vec<Value> {
        connect::provide_tls();
        let request = local::http::client()
            .build()
            .expect("a client")
            .post(&ENDPOINT.url)
            .header("x-amz-target", "DynamoDB_20120810.Scan");
        let request = request.header("content-type", "application/x-amz-json-1.0");
        // MiniStack checks no signature.
        let request =
            request.header("authorization", "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/dynamodb/aws4");
        let answer = request.body(json!({ "TableName": table }).to_string()).send().await.expect("an answer");
        let answer: Value = answer.json().await.expect("records");
        answer["Items"].as_array().unwrap_or_else(|| panic!("{answer}")).clone()
    }

    #[tokio::test]
    async fn only_delivered_letters_expire_with_their_separate_content() {
        let store = ENDPOINT.store().await;
        let id = group_id("expiring");
        let long = |n: u64| {
            let body = (0..400).map(|word| format!("word{} ", word * n)).collect();
            Letter { content: Content { body, ..Content::default() }, ..letter(&id, n) }
        };
        let at = Timestamp::from_ms(1_700_000_000_001);
        let delivered = LetterState::Delivered { replay: replay_id("expiring"), at };
        let (short, beside, twin) = (letter(&id, 1), long(2), Letter { content: long(2).content, ..letter(&id, 3) });
        for letter in [&short, &beside, &twin] {
            commit(&store, keep(std::slice::from_ref(letter))).await;
        }
        let expiries = async || {
            let all = records(store.table_name()).await;
            let expiry = |record: &Value| Some((record["pk"]["S"].clone(), record.get("ttl")?["N"].clone()));
            // Notes of changed groups expire anyway.
            let is_note = |pk: &Value| pk.as_str().is_some_and(|pk| pk.starts_with("X#"));
            all.iter().filter_map(expiry).filter(|(pk, _)| !is_note(pk)).collect::<Vec<_>>()
        };
        assert_eq!(expiries().await, [], "no waiting letter expires");
        for letter in [&short, &beside] {
            commit(&store, move_letters(&[(letter.clone(), letter.moved(delivered.clone()))])).await;
        }
        let pk = Value::from(format!("L#{}", short.id));
        // Ninety days after the delivery, in seconds, rounded up.
        assert_eq!(expiries().await, [(pk, Value::from("1707776001"))], "the letter without separate content");
        assert_eq!(
            store.forget(Closed::Delivered, Timestamp::from_ms(i64::MAX / 2), 10).await.unwrap(),
            1,
            "the letter with separate content"
        );
        assert_eq!(stored(&store, &twin).await, twin, "equal content of another letter stays");
        let remaining: Vec<_> = records(store.table_name()).await;
        let names = |prefix: &str| {
            remaining.iter().filter(|record| record["pk"]["S"].as_str().unwrap().starts_with(prefix)).count()
        };
        assert_eq!((names("L#"), names("B#"), names("F#")), (2, 1, 0), "the separate content and the expiry are gone");
        // The letter returns before it expires.
        let waits = short.moved(delivered).moved(LetterState::Waiting);
        commit(&store, vec![put(&waits)]).await;
        assert_eq!(expiries().await, []);
    }
}

mod ministack_with_bucket {
    use dlo_tests::conformance::store::{commit, stored};
    use dlo_tests::endpoint::{Endpoint, new_name};
    use domain::discard::Closed;
    use domain::letter::{Letter, LetterState};
    use domain::message::Content;
    use domain::policy::Policy;
    use domain::time::Timestamp;
    use harness::samples::{group_id, keep, letter, put, replay_id};
    use lambda::connect;
    use lambda::store::DynamoStore;
    use office::port::Store;
    use std::sync::LazyLock;

    static ENDPOINT: LazyLock<Endpoint> = LazyLock::new(Endpoint::ministack);

    async fn fresh() -> (DynamoStore, ()) {
        (ENDPOINT.store_with_bucket().await, ())
    }

    dlo_tests::store_conformance!(fresh);

    /// Creates a store without a bucket, and a store with a bucket over the same table.
    async fn without_and_with() -> (DynamoStore, DynamoStore, String) {
        let config = connect::to_endpoint(&ENDPOINT.url).await;
        let (table, bucket) = (new_name("office"), new_name("contents"));
        let without = DynamoStore::new(&config, &table);
        without.create_table().await.expect("a new table");
        let with = DynamoStore::new(&config, &table).with_bucket(&config, &bucket, 1);
        with.create_bucket().await.expect("a new bucket");
        (without, with, bucket)
    }

    fn long(n: u64) -> Letter {
        let body = (0..400).map(|word| format!("word{} ", word * n)).collect();
        Letter { content: Content { body, ..Content::default() }, ..letter(&group_id("large"), n) }
    }

    #[tokio::test]
    async fn content_stored_in_parts_stays_readable_and_moves_to_the_bucket_with_its_letter() {
        let (without, with, _) = without_and_with().await;
        let before = long(3);
        commit(&without, keep(std::slice::from_ref(&before))).await;
        assert_eq!(stored(&with, &before).await, before);
        let moved = before.moved(LetterState::InReplay { replay: replay_id("large") });
        commit(&with, vec![put(&moved)]).await;
        assert_eq!(stored(&with, &before).await, moved);
        let error = without.letter(&before.id).await.expect_err("the content is in the bucket");
        assert!(office::error::chain(&error).contains("no bucket is configured"), "{error}");
    }

    #[tokio::test]
    async fn objects_of_forgotten_letters_are_deleted() {
        let (_, with, bucket) = without_and_with().await;
        let with = with.keeping_closed(&Policy::default());
        let objects = async || {
            connect::provide_tls();
            let list = reqwest::get(format!("{}/{bucket}?list-type=2", ENDPOINT.url)).await.expect("a list");
            list.text().await.expect("a list").matches("<Key>").count()
        };
        let (gone, stays) = (long(5), long(7));
        for letter in [&gone, &stays] {
            commit(&with, keep(std::slice::from_ref(letter))).await;
        }
        assert_eq!(objects().await, 2);
        let delivered = LetterState::Delivered { replay: replay_id("large"), at: Timestamp::from_ms(1_000) };
        commit(&with, vec![put(&gone.moved(delivered))]).await;
        assert_eq!(with.forget(Closed::Delivered, Timestamp::from_ms(2_000), 10).await.unwrap(), 1);
        assert_eq!((objects().await, stored(&with, &stays).await), (1, stays.clone()));
    }

    #[tokio::test]
    async fn changed_object_is_refused() {
        let (_, with, bucket) = without_and_with().await;
        let kept = long(5);
        commit(&with, keep(std::slice::from_ref(&kept))).await;
        connect::provide_tls();
        let http = local::http::client().build().expect("a client");
        let list = http.get(format!("{}/{bucket}?list-type=2", ENDPOINT.url)).send().await.expect("a list");
        let list = list.text().await.expect("a list");
        let key = list.split_once("<Key>").and_then(|(_, tail)| tail.split_once("</Key>")).expect("one object").0;
        let url = format!("{}/{bucket}/{key}", ENDPOINT.url);
        http.put(&url)
            .body("other bytes")
            .send()
            .await
            .expect("an answer")
            .error_for_status()
            .expect("a written object");
        let error = with.letter(&kept.id).await.expect_err("the object was changed");
        assert!(office::error::chain(&error).contains("do not match its hash"), "{error}");
        http.delete(&url).send().await.expect("an answer").error_for_status().expect("a deleted object");
        with.letter(&kept.id).await.expect_err("the content is missing");
    }
}
