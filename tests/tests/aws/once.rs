//! The conformance suite of idempotency keys on DynamoDB, as Amazon's own DynamoDB Local and MiniStack emulate it.

use consumer::dynamodb::DynamoStore;
use dlo_tests::endpoint::{Endpoint, new_name};
use lambda::connect;

async fn on(endpoint: &Endpoint) -> DynamoStore {
    let store = DynamoStore::with_config(&connect::to_endpoint(&endpoint.url).await, new_name("once"));
    store.create_table().await.expect("a new table");
    store
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
}
