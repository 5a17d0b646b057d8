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
