//! The store on DynamoDB does what every store must do: on Amazon's own DynamoDB Local, and on MiniStack.
//! The newest DynamoDB Local that a package registry carries takes ten actions in a transaction, where DynamoDB takes 100:
//! it runs the cases that fit.
#![cfg(feature = "aws")]

mod dynamodb_local {
    use dlo_tests::endpoint::Endpoint;
    use lambda::aws::store::DynamoStore;
    use std::sync::LazyLock;

    static ENDPOINT: LazyLock<Endpoint> = LazyLock::new(Endpoint::dynamodb_local);

    async fn fresh() -> (DynamoStore, ()) {
        (ENDPOINT.store().await, ())
    }

    dlo_tests::store_conformance_in_small_commits!(fresh);
}

mod ministack {
    use dlo_tests::endpoint::Endpoint;
    use lambda::aws::store::DynamoStore;
    use std::sync::LazyLock;

    static ENDPOINT: LazyLock<Endpoint> = LazyLock::new(Endpoint::ministack);

    async fn fresh() -> (DynamoStore, ()) {
        (ENDPOINT.store().await, ())
    }

    dlo_tests::store_conformance!(fresh);
}

mod ministack_with_bucket {
    use dlo_tests::conformance::store::{commit, stored};
    use dlo_tests::endpoint::{Endpoint, new_name};
    use dlo_tests::office::{group_id, keep, letter, put, replay_id};
    use domain::letter::{Letter, LetterState};
    use domain::message::Content;
    use lambda::aws::connect;
    use lambda::aws::store::DynamoStore;
    use lambda::port::Store;
    use std::sync::LazyLock;

    static ENDPOINT: LazyLock<Endpoint> = LazyLock::new(Endpoint::ministack);

    async fn fresh() -> (DynamoStore, ()) {
        (ENDPOINT.store_with_bucket().await, ())
    }

    dlo_tests::store_conformance!(fresh);

    /// A store without a bucket, and another over its table with one.
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
    async fn what_lies_in_parts_is_read_for_ever_and_follows_into_the_bucket_when_its_letter_moves() {
        let (without, with, _) = without_and_with().await;
        let before = long(3);
        commit(&without, keep(std::slice::from_ref(&before))).await;
        assert_eq!(stored(&with, &before).await, before);
        let moved = before.moved(LetterState::InReplay { replay: replay_id("large") });
        commit(&with, vec![put(&moved)]).await;
        assert_eq!(stored(&with, &before).await, moved);
        let error = without.letter(&before.id).await.expect_err("its content is in the bucket");
        assert!(lambda::error::chain(&error).contains("this store has none"), "{error}");
    }

    #[tokio::test]
    async fn object_whose_bytes_are_not_those_that_were_written_is_not_a_letter() {
        let (_, with, bucket) = without_and_with().await;
        let kept = long(5);
        commit(&with, keep(std::slice::from_ref(&kept))).await;
        connect::provide_tls();
        let http = reqwest::Client::new();
        let list = http.get(format!("{}/{bucket}?list-type=2", ENDPOINT.url)).send().await.expect("a list");
        let list = list.text().await.expect("a list");
        let key = list.split_once("<Key>").and_then(|(_, rest)| rest.split_once("</Key>")).expect("one object").0;
        let url = format!("{}/{bucket}/{key}", ENDPOINT.url);
        http.put(&url).body("other bytes").send().await.expect("an answer").error_for_status().expect("it is written");
        let error = with.letter(&kept.id).await.expect_err("the bytes are others");
        assert!(lambda::error::chain(&error).contains("have another hash"), "{error}");
        http.delete(&url).send().await.expect("an answer").error_for_status().expect("it is gone");
        with.letter(&kept.id).await.expect_err("a letter without its content is none");
    }
}
